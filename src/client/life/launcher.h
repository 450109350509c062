/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* launcher.h - a tool that is a server as well: PMIX_LAUNCHER. */
#ifndef SX_CLIENT_LIFE_LAUNCHER_H
#define SX_CLIENT_LIFE_LAUNCHER_H

#include "base/call/directive_tables.h"

/* Start the server of this tool, which has the tool's name: @self.  If the tool has one already,
 * nothing happens.  Return: as PMIx_server_init; PMIX_ERR_EXISTS when this process is a server of
 * its own. */
pmix_status_t sx_launcher_begin(const struct sx_tool_options *options, const pmix_proc_t *self);

/* End the server of this tool, if there is one. */
void sx_launcher_end(void);

/* In the child of a fork: the server is the parent's. */
void sx_launcher_forked(void);

#endif
