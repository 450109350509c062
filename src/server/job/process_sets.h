/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process_sets.h - process sets: names that a host, or one of its clients, gives to processes. */
#ifndef SX_SERVER_JOB_PROCESS_SETS_H
#define SX_SERVER_JOB_PROCESS_SETS_H

#include "server/model/proc_list.h"
#include "server/model/state.h"

#define SX_PSET_MEMBERS_MAX (1u << 20)

void sx_psets_init(struct sx_server *server);

/* What is to be a set, while it becomes one.  The first four are its caller's, who keeps what they
 * point to until the last step. */
struct sx_pset_definition {
    struct sx_client *client; /* NULL: the host */
    const char *name;
    const pmix_proc_t *members;
    size_t count;
    unsigned done;            /* steps */
    uint64_t subject;         /* once it is there */
    struct sx_proc_list told; /* who is meant; the set's own, when it is to have others later */
};

/* One step of three: its client pays for each.  Return: PMIX_ERR_WOULD_BLOCK when there is another
 * one; or what sx_pset_define says.  Then clear it, and also when it is given up. */
pmix_status_t sx_pset_define_step(struct sx_server *server, struct sx_pset_definition *definition);
void sx_pset_definition_clear(struct sx_pset_definition *definition);

/* All steps: the processes are the set @name from now on; @client defines it, NULL: the host.  Loop
 * thread.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; as sx_memberships_add. */
pmix_status_t sx_pset_define(struct sx_server *server, struct sx_client *client,
                             const pmix_proc_t members[], size_t count, const char *name);

/* The client has gone. The sets that it has defined go, the first at once and the others soon.  A
 * tool's set does not: it goes with the job of its first process. */
void sx_pset_client_gone(struct sx_server *server, struct sx_client *client);
void sx_pset_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

/* It is the first of its namespace here, or of another user than the others: sets of clients have
 * processes of their own user alone. */
void sx_pset_client_added(struct sx_server *server, struct sx_client *client);

/* The namespace has its data now: sets that mean all of it, and may, have its processes.  Return:
 * PMIX_SUCCESS; as sx_memberships_change. */
pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

#endif
