/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc.h - /proc, where this command finds itself and the memory of servers. */
#ifndef SX_CLI_PROC_H
#define SX_CLI_PROC_H

#include <stdbool.h>

/* Whether /proc can be read; if not, that has been said. */
bool sx_proc_check(void);

/* The path of this command's own file.  Return: malloc'ed, or NULL when that has been said. */
char *sx_proc_exe(void);

#endif
