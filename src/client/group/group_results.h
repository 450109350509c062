/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_results.h - a call that ends with a group: what its caller is told of it.
 *
 * The end of the operation says which group it is (op.subject); who is in it, in which order, and
 * its context id are read from the node's store. */
#ifndef SX_CLIENT_GROUP_GROUP_RESULTS_H
#define SX_CLIENT_GROUP_GROUP_RESULTS_H

#include <stdbool.h>

#include "client/link/op.h"

struct sx_group_op {
    struct sx_op op; /* its info are the results */
    bool wants_results;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_INIT; PMIX_ERR_BAD_PARAM, told. */
pmix_status_t sx_group_name_check(const char *name);

/* Of the row of such a call. */
bool sx_group_op_finish(struct sx_op *op);
void sx_group_op_told(struct sx_op *op);

/* What a blocking call gives to a caller who wants it. */
void sx_group_op_give(const struct sx_group_op *group, pmix_info_t **ret_results,
                      size_t *ret_nresults);

#endif
