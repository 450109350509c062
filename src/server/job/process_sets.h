/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process_sets.h - process sets: names that a host, or one of its clients, gives to processes. */
#ifndef SX_SERVER_JOB_PROCESS_SETS_H
#define SX_SERVER_JOB_PROCESS_SETS_H

#include "server/model/proc_list.h"
#include "server/model/state.h"

#define SX_PSET_MEMBERS_MAX (1u << 20)

void sx_psets_init(struct sx_server *server);

/* A process set while it is defined.  The caller sets the first four members, and keeps what they
 * point to until the last step. */
struct sx_pset_definition {
    struct sx_client *client; /* NULL: the host */
    const char *name;
    const pmix_proc_t *members;
    size_t count;
    unsigned done;            /* steps */
    uint64_t subject;         /* set when the list exists */
    struct sx_proc_list told; /* the members as named; the set takes them, if it is to get more
                               * later */
};

/* Do one step of three: the client is charged for each.  Return: PMIX_ERR_WOULD_BLOCK when another
 * step is needed; otherwise the status as of sx_pset_define.  Then, or when it is given up, clear
 * the definition. */
pmix_status_t sx_pset_define_step(struct sx_server *server, struct sx_pset_definition *definition);
void sx_pset_definition_clear(struct sx_pset_definition *definition);

/* Do all steps: the processes are the set @name from now on; @client defines it, NULL: the host.
 * Loop thread.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; as sx_memberships_add. */
pmix_status_t sx_pset_define(struct sx_server *server, struct sx_client *client,
                             const pmix_proc_t members[], size_t count, const char *name);

/* The client has left.  The sets that it has defined are deleted, the first at once and the others
 * soon.  A tool's set is not: it is deleted with the job of its first process. */
void sx_pset_client_gone(struct sx_server *server, struct sx_client *client);
void sx_pset_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

/* A client was added.  If it is the first one of its namespace here, or has another user than the
 * others, the sets of clients are checked.  They have processes of their own user alone. */
void sx_pset_client_added(struct sx_server *server, struct sx_client *client);

/* The namespace has its data now: sets that name all of it, and may have its processes, get them.
 * Return: PMIX_SUCCESS; as sx_memberships_change. */
pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

#endif
