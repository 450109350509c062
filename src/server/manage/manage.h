/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* manage.h - the chapter on processes and jobs: what clients request of the host, and monitors.
 *
 *     requests.c     requests that only the host answers: allocation, fabric, abort, spawn; and
 *                    those that the host makes itself through a client's functions
 *     credential.c   credentials of the server's own kind
 *     job_control.c  PMIx_Job_control: the parts of the server and of the host
 *     monitor.c      failure detector for heartbeats and for changes of a file
 *
 *     request --refused--> its status
 *        \--the host's entry is called--> ASKED --it calls back--> answered, once
 *
 * A process may control those of its own user, and root all of them.  The host gets the asker's
 * identity from the kernel with each request.  A handler of a message returns true, as nothing in
 * it is a breach of protocol.  Loop thread, unless a function says otherwise. */
#ifndef SX_SERVER_MANAGE_MANAGE_H
#define SX_SERVER_MANAGE_MANAGE_H

#include "base/call/role.h"
#include "server/model/state.h"

/* ---- requests of clients -------------------------------------------------------------------- */

/* Append the asker's identity, as given by the kernel, to the infos.  *info is another array then.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_ask_asker_add(const struct sx_client *client, pmix_info_t **info, size_t *ninfo);

/* Handle ASK_HOST: the host's answer is returned to the client. */
bool sx_ask_on_ask_host(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns);

/* Handle ABORT, which is handed to the host. */
bool sx_abort_on_abort(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* Handle SPAWN: the host starts another job, and gets the identity of its parent. */
bool sx_spawn_on_spawn(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* ---- requests of the host --------------------------------------------------------------------
 *
 *     sx_own_ask --refused, or all is done--> its status
 *         \--the host's entry is called--> ASKED --it calls back--> answered, once
 *                                            \--the server ends--> PMIX_ERR_NOT_AVAILABLE */

/* The `ask` of struct sx_role_server. */
pmix_status_t sx_own_ask(const struct sx_role_ask *ask, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* The server ends: the host is not asked any more. */
void sx_own_asks_stop(struct sx_server *server);

/* ---- job control -----------------------------------------------------------------------------
 *
 *     cleanup        this server (cleanup.h)
 *     a process set  this server (process_sets.c)
 *     the rest       the host's job_control entry, in one call, with the asker's identity
 *
 * Other requests than those to processes of the caller's own user are refused before anything is
 * done.  The host checks the owners of processes on other nodes. */

/* Handle JOB_CONTROL. */
bool sx_control_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns);

/* Whether @key is not passed to the host. */
bool sx_control_is_ours(const char *key);

/* Do this server's part of a request of the host.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for
 * cleanup; as PMIx_server_define_process_set. */
pmix_status_t sx_control_by_host(const struct sx_role_ask *ask);

/* ---- credentials -----------------------------------------------------------------------------
 *
 * Kind "sx": a process's identity from the kernel, for those it trusts.
 *
 *     "sx:" server ":" secret ":" rank ":" namespace      server, secret: hexadecimal
 *
 * Each process has one while it is connected, made at its first request.  Its server keeps and
 * compares it; no other server can validate it.  So there is no key, and nothing to sign.  Any
 * process that obtains it can present it, as its owner can. */

/* Answer request @id of @client, whose infos are @info. */
void sx_credential_give(struct sx_server *server, struct sx_client *client, uint32_t id,
                        const pmix_info_t info[], size_t ninfo);
/* Validate for @client.  The first of @info is the credential, with a value of that type. */
void sx_credential_validate(struct sx_server *server, struct sx_client *client, uint32_t id,
                            const pmix_info_t info[], size_t ninfo);

/* Validate for a host, which is not a client; *ret_info is PMIx_Info_create's.  Return:
 * PMIX_SUCCESS; PMIX_ERR_INVALID_CRED; PMIX_ERR_UNREACH for a credential of another server;
 * PMIX_ERR_NOT_SUPPORTED for another kind; PMIX_ERR_INIT; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_credential_by_host(const pmix_info_t info[], size_t ninfo, pmix_info_t **ret_info,
                                    size_t *ret_ninfo);

/* The credential of the client becomes invalid. */
void sx_credential_client_gone(struct sx_server *server, struct sx_client *client);

/* ---- monitors --------------------------------------------------------------------------------
 *
 * Failure detector for processes whose heartbeats, or changes of a file, stop.
 *
 *     WATCHED --no beat for a period, more often than is allowed---> event, SILENT
 *        ^------------------------------a beat---------------------------/
 *
 * A heartbeat is a count in the client's lane.  It needs no message: the server reads the count
 * once a period.  A client may be watched for several periods at once, each under a name of its own
 * or none, until it cancels them or leaves.  The host does other kinds of monitoring.
 *
 * The client checks a file itself, with its own rights, and counts the changes in its lane.  So the
 * server touches no file that a client names, and no file system makes it wait.  A client that
 * stops checking causes an event as well.  Client and server each have a clock.  So a file that
 * changes once a period may be counted zero times in one period of the server and twice in the
 * next.  Therefore one more period is allowed. */

#define SX_MONITORS_MAX 16u /* the maximum for one client */

struct sx_monitor {
    struct sx_list link; /* client.monitors */
    struct sx_server *server;
    struct sx_client *client; /* the owner: freed when the client leaves */
    struct sx_timer timer;
    pmix_status_t code; /* of the event */
    uint64_t period_ns;
    uint32_t pardoned; /* periods without a beat that are allowed */
    uint32_t sign;     /* the number of the sign in the lane, from 1; 0: its heartbeats */
    uint32_t beats;    /* at the last check */
    uint32_t missed;   /* periods since then, while WATCHED */
    bool is_silent;
    const char *file; /* stored after the id; empty: none */
    char id[];        /* empty: none */
};

/* A period is over, and the count is @beats.  Return: whether an event for its silence is due
 * now. */
bool sx_monitor_look(struct sx_monitor *monitor, uint32_t beats);

/* Handle MONITOR. */
bool sx_monitor_on_monitor(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns);

void sx_monitor_client_gone(struct sx_server *server, struct sx_client *client);

#endif
