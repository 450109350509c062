/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence.h - the row of fences: the data that they carry between the servers of several nodes. */
#ifndef SX_SERVER_COLLECTIVE_FENCE_H
#define SX_SERVER_COLLECTIVE_FENCE_H

#include "server/collective/collective_kind.h"

bool sx_fence_host_reaches(const struct sx_server *server);
/* Contribute the values of the members here: the news when all nodes take part, else all values. */
pmix_status_t sx_fence_contribute(struct sx_collective *collective, struct sx_blob *blob);
pmix_status_t sx_fence_host_ask(struct sx_collective *collective, sx_told_fn told);
bool sx_fence_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                        pmix_status_t *ret_status);

#endif
