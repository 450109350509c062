/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mem.h - `shmix mem`: list the segments of running servers, and print what is in them. */
#ifndef SX_CLI_MEM_MEM_H
#define SX_CLI_MEM_MEM_H

/* @argv[0] is "mem".  Asks no server for anything, so it works on a hung or stopped one; what can
 * be opened is what the kernel grants to the caller.  Return: the exit code of the command. */
int sx_cli_mem(int argc, char **argv);

#endif
