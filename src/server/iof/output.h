/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.h - some output of one process, from the host's thread to all pulls that match, or kept.
 *
 * This header is for the files of this chapter.
 *
 *     MADE --posted to the loop--> held by pulls --none is full--> the host's callback is called
 *
 * Reference-counted: it is freed with the last queue that has it. */
#ifndef SX_SERVER_IOF_OUTPUT_H
#define SX_SERVER_IOF_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "control/message.h"
#include "server/model/quota.h"
#include "server/model/state.h"

#define SX_OUTPUTS_BYTES_MAX (UINT64_C(64) << 20) /* of all outputs; users have shares */
#define SX_OUTPUTS_MAX (1u << 20)

#define SX_OUTPUT_CHANNELS (PMIX_FWD_ALL_CHANNELS & ~PMIX_FWD_STDIN_CHANNEL)

struct sx_output_job; /* the job, and its user as soon as the server has set it */

struct sx_output {
    unsigned reference_count;
    unsigned hold_count; /* pulls that have no room for it */
    struct sx_loop_post post;
    struct sx_list kept; /* while no pull has it */
    struct sx_server *server;
    pmix_proc_t source;
    pmix_iof_channel_t channel; /* one of them */
    uid_t user;                 /* its user, once its job is removed; the loop thread's */
    struct sx_output_job *job;  /* NULL: it is not counted */
    struct sx_quota_row quota;
    bool again; /* a repeated end, not for pulls that are open already */
    time_t when;
    uint32_t pid;                /* 0: unknown */
    char host[SX_IOF_HOST_SIZE]; /* truncated if longer; empty: unknown */
    pmix_op_cbfunc_t taken;      /* the host's; NULL: it has been called */
    void *cbdata;
    size_t size; /* 0: the channel has ended */
    char bytes[];
};

/* Copy @size bytes from @source.  Any thread.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE in
 * three cases: SX_OUTPUTS_BYTES_MAX are in use (logged once), the source or its user has used its
 * share (logged), or memory is out. */
pmix_status_t sx_output_new(struct sx_server *server, const pmix_proc_t *source, const void *bytes,
                            size_t size, struct sx_output **ret);
/* The job has the user @user, who is charged for its output from now on.  Loop thread. */
void sx_output_user_set(struct sx_output *output, uid_t user);
void sx_output_release(struct sx_output *output);

/* If no pull holds the output any more, have the host's callback called, after this returns. */
void sx_output_settle(struct sx_output *output);

/* iof.c: the loop passes @arg, a struct sx_output, on to the pulls that match, or keeps it. */
void sx_iof_hand_on(void *arg, uint64_t now_ns);

/* ---- output that no pull has claimed ---------------------------------------------------------
 *
 * Output without a pull so far, stored by the job that wrote it.
 *
 *     deliver --no pull matches--> KEPT --the first pull that matches it----> given
 *                                   \--there is too much, and its job has the most--> gone
 *
 * A job that writes much displaces its own output, and not the few lines of another job.  An end
 * takes no room, and is dropped only when there are too many ends.  Bounds: SX_KEPT_BYTES,
 * SX_KEPT_COUNT.  An output that is repeated for one pull is not counted: it is given, or dropped,
 * as soon as that pull has been answered.  Loop thread. */

#define SX_KEPT_BYTES (1u << 20) /* of all kept outputs ... */
#define SX_KEPT_COUNT 4096u      /* ... and their number */

void sx_kept_init(struct sx_server *server);

/* Keep @output, as long as there is room; without memory it is dropped at once. */
void sx_kept_add(struct sx_server *server, struct sx_output *output);

/* Call @takes for all kept outputs, those of one process in their order.  An output for which it
 * returns true is kept no more, and freed unless @takes has retained it. */
void sx_kept_each(struct sx_server *server, bool (*takes)(void *arg, struct sx_output *output),
                  void *arg);

/* Drop the output of the job of this name. */
void sx_kept_forget(struct sx_server *server, const char *nspace);
/* Drop all output. */
void sx_kept_clear(struct sx_server *server);

#endif
