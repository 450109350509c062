/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.h - some output of one process, from the host's thread to all who pull it.
 *
 *     MADE --posted to the loop--> held by pulls --none has too much--> the host is told
 *
 * Counted: it goes with the last queue that has it. */
#ifndef SX_SERVER_IOF_OUTPUT_H
#define SX_SERVER_IOF_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "control/message.h"
#include "server/model/quota.h"
#include "server/model/state.h"

#define SX_OUTPUTS_BYTES_MAX (UINT64_C(64) << 20) /* made, and not gone; users have shares */
#define SX_OUTPUTS_MAX (1u << 20)

struct sx_output_job; /* whose it is, as far as the server has seen */

struct sx_output {
    unsigned reference_count;
    unsigned hold_count; /* pulls that have no room for it */
    struct sx_loop_post post;
    struct sx_list kept; /* unclaimed.c: while nobody pulls it */
    struct sx_server *server;
    pmix_proc_t source;
    pmix_iof_channel_t channel; /* one of them */
    uid_t user;                 /* whose it is, when its job has gone; the loop thread's */
    struct sx_output_job *job;  /* NULL: it is not counted */
    struct sx_quota_row quota;
    bool again; /* not for the pulls that there are */
    time_t when;
    uint32_t pid;                /* 0: it is not known */
    char host[SX_IOF_HOST_SIZE]; /* cut off if it is longer; empty: the same */
    pmix_op_cbfunc_t taken;      /* the host's; NULL: it has been told */
    void *cbdata;
    size_t size; /* 0: the channel has ended */
    char bytes[];
};

/* A copy of @size bytes from @source.  Any thread.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE
 * when there are SX_OUTPUTS_BYTES_MAX already (told once), when the source or its user has its
 * share of them (told), or there is no memory. */
pmix_status_t sx_output_new(struct sx_server *server, const pmix_proc_t *source, const void *bytes,
                            size_t size, struct sx_output **ret);
/* Its job is of @user: what comes of it from now on is counted for that one.  Loop thread. */
void sx_output_user_set(struct sx_output *output, uid_t user);
void sx_output_release(struct sx_output *output);

/* If no pull holds it any more, tell the host, which is not called before this returns. */
void sx_output_settle(struct sx_output *output);

#endif
