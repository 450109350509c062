/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* results.h - a request whose answer is infos that another process has made: struct sx_reply, then
 * a flat array of infos or nothing. */
#ifndef SX_CLIENT_LINK_RESULTS_H
#define SX_CLIENT_LINK_RESULTS_H

#include "client/link/op.h"

struct sx_results_op {
    struct sx_op op; /* its infos are the results */
    void *bytes;     /* of the answer, until it is finished */
    size_t size;
};

/* Functions for the row of such a call. */
void sx_results_answered(struct sx_op *op, const struct sx_frame *frame);
bool sx_results_finish(struct sx_op *op);
void sx_results_told(struct sx_op *op);
#define SX_RESULTS_KIND(message)                                                              \
    {                                                                                         \
        .size = sizeof(struct sx_results_op), .request = (message),                           \
        .answered = sx_results_answered, .finish = sx_results_finish, .told = sx_results_told \
    }

/* The end of a blocking call: give the results to the caller, which may not want them (NULL). */
void sx_results_give(struct sx_results_op *results, pmix_info_t **ret_info, size_t *ret_ninfo);

#endif
