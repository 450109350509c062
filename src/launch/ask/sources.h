/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sources.h - where options come from beside the command line: lists of nodes, files of programs,
 * batch systems, and the words of other launchers.  Only files of launch/ask use it.
 *
 * Lists of nodes (--host, --hostfile, and those of a spawn): they may name only this
 * node.
 *
 *   localhost and its like | the name of this node, whole or up to one of its dots | that name with
 *   a domain of resolv.conf | a name of /etc/hosts for an address of this machine | 127.x.y.z, ::1
 *   and any other address of this machine, in brackets or not
 *
 * Each mention is one slot, or as many as it says.  A program without -n has as many ranks as there
 * are slots. */
#ifndef SX_LAUNCH_ASK_SOURCES_H
#define SX_LAUNCH_ASK_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/ask/options.h"
#include "launch/common/options.h"

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

/* ---- appfile --------------------------------------------------------------------------------- */

/* Programs named by the lines of a file, as mpirun's --app has them.
 *
 *     # the model
 *     -n 2 --wdir run/ocean ./ocean "two words"
 *     -n 3 ./ice
 *
 * Blanks separate words.  '...' and "..."  keep all between them, also ends of lines; in "..."  a
 * backslash keeps " or itself.  Elsewhere it keeps any character, and at the end of a line it joins
 * the next line to it.  launch/ask/options.c defines the meaning of a line. */

#define SX_RUN_APPFILE_BYTES_MAX (16u << 20)

struct sx_run_appline {
    char **words;    /* at least one; ends with NULL */
    uint32_t number; /* in the file, from 1; the first one, if the entry has several lines */
};

struct sx_run_appfile {
    char *text;   /* cut into words */
    char **words; /* of all lines */
    struct sx_run_appline *lines;
    size_t line_count;
};

/* Read the file, or pipe, at @path.  Return: true; false with one line in @message, and nothing to
 * deinit.  It fails when it cannot be read, is too large, is not text, leaves a quote open, or
 * names no program. */
bool sx_run_appfile_init(struct sx_run_appfile *file, const char *path,
                         char message[SX_RUN_MESSAGE_MAX]);
void sx_run_appfile_deinit(struct sx_run_appfile *file);

/* ---- batch ----------------------------------------------------------------------------------- */

/* The batch system's allocation for this process: how many ranks it has on this node.
 *
 * Slurm, PBS, LSF, Flux and Grid Engine describe a job to its script in variables and files.
 * Without -n, there are as many ranks as the job has tasks on this node.  Tasks on other nodes
 * cannot be used from here, and one line says so.
 *
 * A task of a parallel step takes nothing from the allocation, or each task would start all ranks.
 * A rank of a launcher takes nothing either, and no line says so. */

struct sx_run_batch {
    const char *system;  /* "Slurm"; NULL: there is no allocation */
    const char *job;     /* the system's name for this job */
    const char *starter; /* the command that starts programs on all nodes: "srun" */
    uint32_t nodes;      /* 0: unknown */
    uint32_t tasks;      /* on all nodes; 0: unknown */
    uint32_t here;       /* tasks on this node; 0: none, or unknown */
    uint32_t cpus_each;  /* of a task, if the user has given a number; else 0 */
    uint32_t step_tasks; /* more than 1: this process is one of so many tasks */
};

/* Read the variables.  @own is the kernel's name for this node. */
void sx_run_batch_read(struct sx_run_batch *batch, const char *own);

/* If a single program has no number of ranks, take it from the allocation.  Report what was taken
 * and what was not, unless --quiet. */
void sx_run_batch_take(struct sx_run_options *options);

/* For tests.  The number of tasks on the node at @index, by "2(x3),1"; 0: none.  The place of @own
 * in the list "a[01-03,7],b"; UINT32_MAX: it is not in the list. */
uint32_t sx_run_batch_tasks_at(const char *text, uint32_t index);
uint32_t sx_run_batch_index_of(const char *list, const char *own);

/* ---- foreign options ------------------------------------------------------------------------- */

/* Options that users of mpirun and srun type out of habit. */

extern const struct sx_habit sx_run_habits[]; /* ends with NULL */
/* The options that are taken with values of their own; the list ends with NULL. */
extern const struct sx_option sx_run_foreign_options[];

#endif
