/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_upcall.h - what several processes do together, asked of the host: fence, connect,
 * disconnect, and the operations on a group. */
#ifndef SX_SERVER_COLLECTIVE_COLLECTIVE_UPCALL_H
#define SX_SERVER_COLLECTIVE_COLLECTIVE_UPCALL_H

#include "server/collective/merged_infos.h"
#include "server/port/upcall.h"

struct sx_joint {
    sx_told_fn told;
    struct sx_asker *asker;
    pmix_proc_t *procs; /* in order */
    size_t proc_count;
    const char *name;               /* of a group */
    int operation;                  /* on it */
    struct sx_merged_infos *wishes; /* taken; NULL: none */
    bool is_partial;                /* somebody here is missing */
    pmix_proc_t *here; /* those of this node that take part, for the host; NULL: not told */
    size_t here_count;
    struct sx_blob blob; /* of a fence: never empty; taken in any case */
};

/* Return: as sx_upcall; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_joint_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                              struct sx_joint *joint);

#endif
