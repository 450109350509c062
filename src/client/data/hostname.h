/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostname.h - the name of this node. */
#ifndef SX_CLIENT_DATA_HOSTNAME_H
#define SX_CLIENT_DATA_HOSTNAME_H

#include <stddef.h>

/* As the host calls it, in whatever role this process is: PMIX_HOSTNAME; else as the machine calls
 * itself.  A longer name is cut. */
void sx_hostname(char *ret, size_t size);

#endif
