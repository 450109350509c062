/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobs.h - `shmix ls jobs`: the jobs that are registered with servers of this node. */
#ifndef SX_CLI_LS_JOBS_H
#define SX_CLI_LS_JOBS_H

#include "cli/ls/ls.h"

/* Return: the exit code of the command. */
int sx_ls_jobs(const struct sx_ls_wish *wish);

#endif
