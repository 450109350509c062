/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.h - lists of nodes (--host, --hostfile), which may name this one alone.
 *
 *   localhost | the name of this node, whole or up to its first dot | 127.x.y.z | ::1
 *
 * Each mention is one slot, or as many as it says; the slots are how many ranks a program has to
 * whom -n gives no number. */
#ifndef SX_CLI_RUN_NODES_H
#define SX_CLI_RUN_NODES_H

#include <stdbool.h>
#include <stdint.h>

/* Add the slots of @list, "NODE[:SLOTS],..."; "NODE:*" has one.  Return: false when a part is no
 * node, another one, or has slots that are no number from 1 to @max. */
bool sx_run_nodes_list(uint32_t *slots, const char *list, uint32_t max);

/* The same of the file @path, which is a file or a pipe of SX_RUN_NODES_BYTES_MAX at most: a line
 * each, "NODE [slots=N] [max_slots=N]" or "NODE:N"; empty lines and what follows '#' are left out.
 * Return: false also when it is another kind of file, too large, cannot be read or names none. */
#define SX_RUN_NODES_BYTES_MAX ((size_t)1 << 20)
bool sx_run_nodes_file(uint32_t *slots, const char *path, uint32_t max);

#endif
