/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_host.h - the rows of a group's construct and destruct: the way to members on other nodes.
 *
 * A host that has the `group` entry is asked when members are elsewhere, and for a context id even
 * if they are not, unless PMIX_GROUP_LOCAL_ONLY is said.  It may give the context id.  How the rest
 * goes: agree.h; what the servers say to each other: group_agreement.h. */
#ifndef SX_SERVER_GROUP_GROUP_HOST_H
#define SX_SERVER_GROUP_GROUP_HOST_H

#include "server/collective/collective_kind.h"

bool sx_group_construct_host_hears(const struct sx_collective *collective);
pmix_status_t sx_group_construct_host_ask(struct sx_collective *collective, sx_told_fn told);
bool sx_group_construct_host_said(struct sx_collective *collective,
                                  const struct sx_host_answer *answer, pmix_status_t *ret_status);
/* Its members have been told how it ends; the host, which has it still, gets PMIX_GROUP_CANCEL. */
void sx_group_construct_host_cancel(const struct sx_collective *collective);
pmix_status_t sx_group_construct_contribute(struct sx_collective *collective, struct sx_blob *blob);

/* What it answers: sx_disconnect_host_said; what the servers say: sx_disconnect_contribute. */
pmix_status_t sx_group_destruct_host_ask(struct sx_collective *collective, sx_told_fn told);
void sx_group_destruct_host_cancel(const struct sx_collective *collective);

#endif
