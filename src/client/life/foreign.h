/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.h - why a process is a singleton although it was launched. */
#ifndef SX_CLIENT_LIFE_FOREIGN_H
#define SX_CLIENT_LIFE_FOREIGN_H

#include <pmix_common.h>

/* For a process with a name but without a server of this library in its environment.  Log which two
 * libraries are in use and what to set, or which function the host must call. */
void sx_foreign_server_tell(const pmix_proc_t *self);

/* For a process without a name: the same if its parent has a server. */
void sx_foreign_parent_tell(void);

#endif
