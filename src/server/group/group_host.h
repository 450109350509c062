/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_host.h - the rows of a group's construct and destruct that concern members on other nodes.
 *
 * If the host has the `group` entry, it is called when members are elsewhere.  It is also called
 * for a context id when all members are here, unless PMIX_GROUP_LOCAL_ONLY is given.  The host may
 * give the context id.  The further steps are in agree.h, and the servers' messages to each other
 * in group_agreement.h. */
#ifndef SX_SERVER_GROUP_GROUP_HOST_H
#define SX_SERVER_GROUP_GROUP_HOST_H

#include "server/collective/collective_kind.h"

bool sx_group_construct_host_hears(const struct sx_collective *collective);
pmix_status_t sx_group_construct_host_ask(struct sx_collective *collective, sx_told_fn told);
bool sx_group_construct_host_said(struct sx_collective *collective,
                                  const struct sx_host_answer *answer, pmix_status_t *ret_status);
/* The members have their answer, and the host still has the construct: it gets
 * PMIX_GROUP_CANCEL. */
void sx_group_construct_host_cancel(const struct sx_collective *collective);
pmix_status_t sx_group_construct_contribute(struct sx_collective *collective, struct sx_blob *blob);

/* The host's answer goes to sx_disconnect_host_said, the servers' blobs to
 * sx_disconnect_contribute. */
pmix_status_t sx_group_destruct_host_ask(struct sx_collective *collective, sx_told_fn told);
void sx_group_destruct_host_cancel(const struct sx_collective *collective);

#endif
