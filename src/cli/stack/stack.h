/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stack.h - `shmix stack`: the functions in which the threads of ranks are.
 *
 *     words --targets.c--> processes --tool.c: gdb or eu-stack, a few at a time--> its output
 *     --frames.c--> threads --group.c: equal stacks are one group--> text, or JSON
 *
 * Bounded: SX_STACK_PROCESSES_MAX processes, for each a time and SX_STACK_OUTPUT_MAX bytes, and a
 * number of frames for each thread. */
#ifndef SX_CLI_STACK_STACK_H
#define SX_CLI_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shmem/segment.h"

#define SX_STACK_PROCESSES_MAX 1024u
#define SX_STACK_OUTPUT_MAX (4u << 20) /* bytes of the output of the tool for one process */
#define SX_STACK_FRAMES_MAX 1000u

/* ---- threads (frames.c) ---------------------------------------------------------------------- */

struct sx_stack_thread {
    pid_t tid;
    char name[16]; /* as the kernel has it; empty: not known */
    char *frames;  /* a line for each, innermost first: FUNCTION, a tab, its place; malloc'ed */
    uint32_t frame_count;
    bool more; /* there are frames further out */
};

struct sx_stack_threads {
    struct sx_stack_thread *at;
    size_t count;
    char complaint[160]; /* of the tool: its last line that shows no thread; empty: none */
};

/* Read @text, which is the output of gdb ("thread apply all bt") or of eu-stack and is changed.
 * Threads keep @frames_max frames at most.  sx_stack_threads_free releases the result. */
void sx_stack_parse(char *text, uint32_t frames_max, struct sx_stack_threads *ret);
/* Safe twice. */
void sx_stack_threads_free(struct sx_stack_threads *threads);

/* ---- processes (targets.c) ------------------------------------------------------------------- */

struct sx_stack_process {
    pid_t pid;
    pid_t server; /* of its job; 0: not known */
    uint32_t rank;
    char nspace[SX_SEGMENT_NSPACE_BYTES]; /* empty: the process is not known to be a rank */
    char *problem;                        /* why there is no stack, malloc'ed; NULL: there is one */
    struct sx_stack_threads threads;
};

struct sx_stack_list {
    struct sx_stack_process *at;
    size_t count, left_out; /* beyond SX_STACK_PROCESSES_MAX */
};

/* Whether @text is a list of ranks: "0-3,7", or "*" for all. */
bool sx_stack_ranks_are(const char *text);

/* Add the processes that @word means: of a job, of ranks of it (NAMESPACE.RANKS), of a server, or
 * one process; NULL: of all jobs.  @ranks: only these; NULL: all.  @servers: servers as well.
 * Return: false, with a message, when there is no such thing. */
bool sx_stack_list_add(struct sx_stack_list *list, const char *word, const char *ranks,
                       bool servers);
void sx_stack_list_free(struct sx_stack_list *list);

/* ---- the tool (tool.c) ----------------------------------------------------------------------- */

struct sx_stack_tool {
    char *path; /* malloc'ed; NULL: not found */
    bool is_gdb;
    uint32_t frames_max;
    uint64_t limit_ns;    /* for one process */
    uint64_t patience_ns; /* until then wait for processes that others trace */
    uint64_t deadline_ns; /* for all of them */
};

/* Find the tool @name; NULL: eu-stack, else gdb.  Return: false, with a message that says what to
 * install. */
bool sx_stack_tool_find(const char *name, struct sx_stack_tool *ret);

/* Fill in the threads, or the problem, of each process of @list. */
void sx_stack_tool_run(const struct sx_stack_tool *tool, struct sx_stack_list *list);

/* ---- groups (group.c) ------------------------------------------------------------------------ */

/* Print the stacks of @list, equal ones once, and as JSON the problems as well.  Return: the number
 * of processes without a stack. */
size_t sx_stack_print(const struct sx_stack_list *list, bool json);

/* "0-3,7" of @count numbers that rise, malloc'ed. */
char *sx_stack_ranges(const uint32_t *numbers, size_t count);

#endif
