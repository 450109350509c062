/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* debug.h - a rank that is to stop in PMIx_Init.
 *
 *   its data have PMIX_DEBUG_STOP_IN_INIT --PMIX_READY_FOR_DEBUG--> it waits
 *       --PMIX_DEBUGGER_RELEASE--> it continues
 *       \--the server is lost--> PMIx_Init fails */
#ifndef SX_CLIENT_LIFE_DEBUG_H
#define SX_CLIENT_LIFE_DEBUG_H

#include <pmix_common.h>

/* Stop @self, which has just become a client, if its data say so; costs a read of memory if not.
 * Return: PMIX_SUCCESS; PMIX_ERR_LOST_CONNECTION when no server can release it any more. */
pmix_status_t sx_debug_stop(const pmix_proc_t *self);

#endif
