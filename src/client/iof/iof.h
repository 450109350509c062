/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof.h - output of other processes that is sent to this one, and this process's own standard input
 * for other processes.
 *
 *     pull:  READING --sx_pull_end, or the server's end--> the rest --> gone
 *     input: IDLE --sx_input_start--> READING --its end, a refusal, sx_input_stop--> IDLE
 *
 * Both have a thread that moves one piece at a time, so a slow reader or target slows the sender
 * down (back-pressure).  PMIx_Finalize and forks enter through sx_pulls_stop, sx_input_stop and the
 * _forked functions; the rest serves this folder alone. */
#ifndef SX_CLIENT_IOF_IOF_H
#define SX_CLIENT_IOF_IOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix.h>
#include <pmix_tool.h>

#include "base/call/directive_tables.h"
#include "base/list.h"
#include "base/stream/log_text.h"
#include "client/link/op.h"
#include "control/message.h"

/* ---- pulls ----------------------------------------------------------------------------------- */

/* Output of other processes that is sent to this one: a socket and a thread for each pull.
 *
 *     READING --sx_pull_end, or the server's end--> the rest --> gone
 *
 * The thread reads a piece and hands it to the thread that runs callbacks, or writes it to a
 * standard stream of this process.  It reads no more before that is done: so a slow reader slows
 * the server down (back-pressure), and memory here is one piece a pull. */

/* Read from @fd, which it takes over in any case; @cbfunc NULL: for the standard streams.  Return:
 * PMIX_SUCCESS, and its number, from 1; PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_NOT_AVAILABLE behind
 * sx_pulls_stop. */
pmix_status_t sx_pull_start(const struct sx_iof_options *options, pmix_iof_cbfunc_t cbfunc, int fd,
                            size_t *ret_number);

/* Output that is under way still arrives, then @op is answered.  Return: PMIX_SUCCESS when @op will
 * be answered; PMIX_ERR_NOT_FOUND: no pull has that number, or it is ending already. */
pmix_status_t sx_pull_end(size_t number, struct sx_op *op);
/* The same, and wait for the end.  Return: PMIX_ERR_NOT_FOUND, as above; PMIX_ERR_NOT_SUPPORTED on
 * the thread that runs callbacks. */
pmix_status_t sx_pull_end_wait(size_t number);

/* PMIx_Finalize: end all pulls, within SX_PULLS_END_NS for output that is under way; none begins
 * before sx_pulls_allow. */
#define SX_PULLS_END_NS (2 * SX_NS_PER_SEC)
void sx_pulls_stop(void);
void sx_pulls_allow(void);
/* In a forked child, which lacks the threads. */
void sx_pulls_forked(void);

/* ---- the standard input ---------------------------------------------------------------------- */

/* Forward this process's own standard input to other processes.
 *
 *     IDLE --sx_input_start--> READING --its end, a refusal, sx_input_stop--> IDLE
 *
 * First the targets are sent to the server: from then on their input ends when this process ends,
 * even before it has read anything.  A thread reads a piece and pushes it, and reads no more before
 * the host has taken that piece.  So input that a slow target has not taken stays in the pipe
 * (back-pressure), and memory here is one piece. */

#define SX_INPUT_BYTES 32768u

/* As PMIx_IOF_push, with arguments that were checked. */
typedef pmix_status_t (*sx_input_push_fn)(const pmix_proc_t targets[], size_t ntargets,
                                          const pmix_byte_object_t *bo,
                                          const pmix_info_t directives[], size_t ndirs,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Called when the server has accepted or refused the targets; PMIX_ERR_LOST_CONNECTION: stopped
 * before its answer.  On the thread that reads. */
typedef void (*sx_input_begun_fn)(void *arg, pmix_status_t status);

/* Push the standard input to @targets, which are copied, by @push.  Return: PMIX_SUCCESS, and
 * @begun is called once; PMIX_ERR_RESOURCE_BUSY while the input is pushed already;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_input_start(const pmix_proc_t targets[], size_t ntargets, sx_input_push_fn push,
                             sx_input_begun_fn begun, void *arg);
/* Read no more.  No end of input is sent.  Not on the thread that runs callbacks. */
void sx_input_stop(void);
/* In a forked child, which lacks the thread. */
void sx_input_forked(void);

/* ---- held output ----------------------------------------------------------------------------- */

/* Output of other processes that is held back until there is enough of it.
 *
 *     put --> held --enough bytes, its time, its stream's end, sx_gather_end--> emit
 *
 * The output of each process and channel is held separately, at most SX_GATHER_HELD_MAX bytes in
 * total.  Beyond that, the output that was held longest is emitted first.  One thread uses a
 * gather. */

#define SX_GATHER_BYTES 65536u         /* of a stream, if only a time is given ... */
#define SX_GATHER_BYTES_MAX (1u << 20) /* ... and at most */
#define SX_GATHER_HELD_MAX (8u << 20)

struct sx_gather {
    size_t size;            /* bytes that are handed on at once */
    uint64_t time_ns;       /* the longest time that bytes are held; 0: for ever */
    struct sx_list streams; /* streams with held bytes, the oldest first */
    size_t held;
    /* Return: false when no more is wanted. */
    bool (*emit)(void *arg, const struct sx_iof_piece *piece, const char *bytes, size_t size);
    void *arg;
};

/* Add @size bytes, or the end of a stream.  Return: as emit. */
bool sx_gather_put(struct sx_gather *gather, const struct sx_iof_piece *piece, const char *bytes,
                   size_t size, uint64_t now_ns);

/* When sx_gather_check has work: hand on old bytes.  Return: as emit. */
uint64_t sx_gather_deadline_ns(const struct sx_gather *gather);
bool sx_gather_check(struct sx_gather *gather, uint64_t now_ns);

/* No more output arrives: hand on held bytes if @wanted, and free all. */
void sx_gather_end(struct sx_gather *gather, bool wanted);

/* ---- lines ----------------------------------------------------------------------------------- */

/* Output of other processes, line by line, each with its mark.
 *
 * An unfinished line waits for its end, the end of its stream, or SX_LOG_LINE_MAX bytes.  One
 * thread uses these lines. */

#define SX_LINES_TEXT_MAX 32768u

struct sx_lines {
    struct sx_marks marks;
    struct sx_list streams; /* streams with an unfinished line */
    /* Lines of the process and channel that @piece names.  Return: false when no more is wanted. */
    bool (*emit)(void *arg, const struct sx_iof_piece *piece, const char *text, size_t size);
    void *arg;
    size_t text_size;
    char text[SX_LINES_TEXT_MAX + SX_LOG_PIECE_MAX];
};

/* Add @size bytes, or the end of a stream.  Return: as emit. */
bool sx_lines_feed(struct sx_lines *lines, const struct sx_iof_piece *piece, const char *bytes,
                   size_t size);
/* No more output arrives: hand on unfinished lines if @wanted, and free all. */
void sx_lines_end(struct sx_lines *lines, bool wanted);

#endif
