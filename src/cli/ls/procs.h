/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.h - `shmix ls procs`: the processes of jobs, as far as the stores contain them. */
#ifndef SX_CLI_LS_PROCS_H
#define SX_CLI_LS_PROCS_H

#include "cli/ls/ls.h"

/* Return: the exit code of the command. */
int sx_ls_procs(const struct sx_ls_wish *wish);

#endif
