/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.h - some output of one process, from the host's thread to all pulls that match.
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

struct sx_output_job; /* the job, and its user as soon as the server has set it */

struct sx_output {
    unsigned reference_count;
    unsigned hold_count; /* pulls that have no room for it */
    struct sx_loop_post post;
    struct sx_list kept; /* unclaimed.c: while no pull has it */
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

#endif
