/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostname.h - the name of this node. */
#ifndef SX_CLIENT_DATA_HOSTNAME_H
#define SX_CLIENT_DATA_HOSTNAME_H

#include <stddef.h>

/* The name of this node, in any role of this process: the host's (PMIX_HOSTNAME), else the
 * machine's own.  A longer name is cut. */
void sx_hostname(char *ret, size_t size);

#endif
