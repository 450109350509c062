/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.h - become a command of this library: a tool of which no host hears. */
#ifndef SX_CLIENT_LIFE_TOOL_H
#define SX_CLIENT_LIFE_TOOL_H

#include <stdint.h>

#include <pmix_common.h>

/* Attach this process, which has not called PMIx_Init, to the server at the other end of @fd, which
 * is taken over, and read the ring of job @home.  PMIx_Finalize ends it.  Return: PMIX_SUCCESS;
 * what the server refuses with; PMIX_ERR_TIMEOUT; PMIX_ERR_LOST_CONNECTION; what else fails. */
pmix_status_t sx_tool_attach(int fd, const char *home, uint64_t deadline_ns);

#endif
