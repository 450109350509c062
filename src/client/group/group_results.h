/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_results.h - the results of a call that ends with a group.
 *
 * The end of the operation identifies the group (op.subject); its members in order, and its context
 * id, are read from the node's store. */
#ifndef SX_CLIENT_GROUP_GROUP_RESULTS_H
#define SX_CLIENT_GROUP_GROUP_RESULTS_H

#include <stdbool.h>

#include "client/link/op.h"

struct sx_group_op {
    struct sx_op op; /* its infos are the results */
    bool wants_results;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_INIT; PMIX_ERR_BAD_PARAM, logged. */
pmix_status_t sx_group_name_check(const char *name);

/* Functions for the row of such a call. */
bool sx_group_op_finish(struct sx_op *op);
void sx_group_op_told(struct sx_op *op);

/* Give the results of a blocking call to a caller that wants them. */
void sx_group_op_give(const struct sx_group_op *group, pmix_info_t **ret_results,
                      size_t *ret_nresults);

#endif
