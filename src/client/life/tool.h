/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.h - become a tool from inside of this library; or a command, which is not reported to any
 * host. */
#ifndef SX_CLIENT_LIFE_TOOL_H
#define SX_CLIENT_LIFE_TOOL_H

#include <stdint.h>

#include <pmix_common.h>

#include "client/life/tool_search.h"

/* PMIx_tool_init; PMIx_tool_finalize ends it.  Return: as PMIx_tool_init.  The reason why no server
 * was found is in @ret_why instead of the log; otherwise @ret_why is empty. */
pmix_status_t sx_tool_begin(const struct sx_tool_options *options, pmix_proc_t *ret_self,
                            char ret_why[SX_TOOL_WHY_MAX]);

/* Attach this process, which has not called PMIx_Init, to the server at the other end of @fd, which
 * is taken over, and read the ring of job @home.  PMIx_Finalize ends it.  Return: PMIX_SUCCESS; the
 * status of the server's refusal; PMIX_ERR_TIMEOUT; PMIX_ERR_LOST_CONNECTION; any other error on
 * the way. */
pmix_status_t sx_tool_attach(int fd, const char *home, uint64_t deadline_ns);

#endif
