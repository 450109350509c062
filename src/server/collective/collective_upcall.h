/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_upcall.h - calls of the host for several processes: fence, connect, disconnect, and
 * the operations on a group. */
#ifndef SX_SERVER_COLLECTIVE_COLLECTIVE_UPCALL_H
#define SX_SERVER_COLLECTIVE_COLLECTIVE_UPCALL_H

#include "server/collective/merged_infos.h"
#include "server/port/upcall.h"

struct sx_joint {
    sx_told_fn told;
    struct sx_asker *asker;
    pmix_proc_t *procs; /* in order */
    size_t proc_count;
    const char *name;               /* of the group */
    int operation;                  /* on the group */
    struct sx_merged_infos *wishes; /* taken; NULL: none */
    bool is_partial;                /* a member here is missing */
    pmix_proc_t *here;              /* members of this node, for the host; NULL: not passed */
    size_t here_count;
    struct sx_blob blob; /* of a fence: never empty; owned by the call in any case */
};

/* Return: as sx_upcall; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_joint_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                              struct sx_joint *joint);

#endif
