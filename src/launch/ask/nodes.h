/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.h - lists of nodes (--host, --hostfile, and those of a spawn): they may name only this
 * node.
 *
 *   localhost and its like | the name of this node, whole or up to one of its dots | that name with
 *   a domain of resolv.conf | a name of /etc/hosts for an address of this machine | 127.x.y.z, ::1
 *   and any other address of this machine, in brackets or not
 *
 * Each mention is one slot, or as many as it says.  A program without -n has as many ranks as there
 * are slots. */
#ifndef SX_LAUNCH_ASK_NODES_H
#define SX_LAUNCH_ASK_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/ask/options.h"

/* Whether @name is this node; @own is the kernel's name for it. */
bool sx_run_nodes_is_this(const char *name, const char *own);
/* Parts of sx_run_nodes_is_this.  Whether the file @path, as /etc/hosts, gives @name to an address
 * of this machine; whether @name is @own with a domain of the file @path, as /etc/resolv.conf. */
bool sx_run_nodes_in_hosts(const char *path, const char *name);
bool sx_run_nodes_in_domain(const char *path, const char *name, const char *own);

/* Cut @word, "NODE[:SLOTS]" or "[ADDRESS][:SLOTS]".  Return: whether NODE is this node; then
 * *ret_slots is the text behind the colon, inside @word, or NULL. */
bool sx_run_nodes_word(char *word, const char *own, const char **ret_slots);

enum sx_run_nodes {
    SX_RUN_NODES_HERE = 0,
    SX_RUN_NODES_ELSEWHERE,  /* a word names another node */
    SX_RUN_NODES_WRONG,      /* a word is not a node, or its slots are not valid */
    SX_RUN_NODES_UNREADABLE, /* a file cannot be read */
};

/* Add the slots of @list, "NODE[:SLOTS],..."; "NODE:*" has one.  Return: SX_RUN_NODES_HERE, or the
 * error, with one line in @message: a part is another node, or its slots are not a number from 1 to
 * @max. */
enum sx_run_nodes sx_run_nodes_list(uint32_t *slots, const char *list, uint32_t max,
                                    char message[SX_RUN_MESSAGE_MAX]);

/* The same for the file @path, a file or a pipe of SX_RUN_NODES_BYTES_MAX at most.  Each line is
 * "NODE [slots=N] [max_slots=N]" or "NODE:N"; empty lines and comments behind '#' are skipped.
 * Return: also SX_RUN_NODES_UNREADABLE, and SX_RUN_NODES_WRONG for another kind of file, one that
 * is too large or names no node. */
#define SX_RUN_NODES_BYTES_MAX ((size_t)1 << 20)
enum sx_run_nodes sx_run_nodes_file(uint32_t *slots, const char *path, uint32_t max,
                                    char message[SX_RUN_MESSAGE_MAX]);

#endif
