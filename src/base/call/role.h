/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* role.h - the role of this process, and a server's answers to the calls that both sides share.
 *
 * PMIx_Get, _Store_internal, _Register_event_handler ... are one symbol for clients, servers and
 * hosts that are both.  The public functions live in src/client; a server registers its own
 * answers here when it starts, so client and server never include each other. */
#ifndef SX_BASE_CALL_ROLE_H
#define SX_BASE_CALL_ROLE_H

#include <stdbool.h>

#include <pmix_server.h>

struct sx_membership;     /* shmem/membership.h */
struct sx_notify_options; /* base/call/directive_tables.h */
struct sx_queries;        /* base/call/query.h */
struct sx_store;          /* shmem/store.h */

/* Requests of a host to its own entries through the calls of a client. */
enum sx_role_ask_kind { SX_ROLE_ASK_CONTROL, SX_ROLE_ASK_ALLOCATION, SX_ROLE_ASKS };
struct sx_role_ask {
    enum sx_role_ask_kind kind;
    int detail; /* of an allocation */
    const pmix_proc_t *procs;
    size_t nprocs;
    const pmix_info_t *info;
    size_t ninfo;
};

/* Publications, lookups and withdrawals of a host by the same calls. */
enum sx_role_publish_kind { SX_ROLE_PUBLISH, SX_ROLE_LOOKUP, SX_ROLE_UNPUBLISH };
struct sx_role_publish {
    enum sx_role_publish_kind kind;
    const pmix_info_t *keys; /* without values; not of SX_ROLE_PUBLISH */
    size_t key_count;
    const pmix_info_t *info; /* copied */
    size_t ninfo;
};

struct sx_role_server {
    pmix_status_t (*get)(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                         size_t ninfo, pmix_value_t **ret_value);
    pmix_status_t (*store_internal)(const pmix_proc_t *proc, const char *key, pmix_value_t *value);
    /* No event reaches the handler yet.  Return: its id, 0 or more, or an error. */
    pmix_status_t (*register_handler)(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                      size_t ninfo, pmix_notification_fn_t handler);
    /* The registration has been acknowledged: from now on events reach the handler, those that are
     * kept first.  @waits: return after that; not on the server's own thread. */
    void (*activate_handler)(size_t id, bool waits);
    pmix_status_t (*deregister_handler)(size_t id);
    /* An event that the host makes; everything is copied.  @source NULL: the resource manager, as
     * is an empty namespace with PMIX_RANK_UNDEF.  Return: PMIX_SUCCESS once it is
     * on its way; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED (a value that cannot travel);
     * PMIX_ERR_OUT_OF_RESOURCE. */
    pmix_status_t (*notify)(pmix_status_t code, const pmix_proc_t *source,
                            const struct sx_notify_options *options, const pmix_info_t info[],
                            size_t ninfo);
    /* Log calls of the host itself; everything is copied, and checked before.  Without @cbfunc wait
     * for the end.  Return: PMIX_SUCCESS when @cbfunc will be called, or how it ended. */
    pmix_status_t (*log)(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                         size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);
    /* Everything is copied, and judged before.  Return: PMIX_SUCCESS when @cbfunc will be called;
     * PMIX_OPERATION_SUCCEEDED when all is done; PMIX_ERR_NOT_SUPPORTED without such an entry; what
     * the entry returns. */
    pmix_status_t (*ask)(const struct sx_role_ask *ask, pmix_info_cbfunc_t cbfunc, void *cbdata);
    /* Judged before.  *ret_info, of a lookup that has found something: two infos for each value,
     * who has published it and the value, malloc'ed.  Return: as the call of a client;
     * PMIX_ERR_NOT_SUPPORTED when the host has an entry for it, or for a lookup that waits. */
    pmix_status_t (*publish)(const struct sx_role_publish *call, pmix_info_t **ret_info,
                             size_t *ret_ninfo);
    /* The name of this node; a longer one is cut. */
    void (*hostname)(char *ret, size_t size);
    /* The directory in which it has its files; a longer one is cut. */
    void (*tmpdir)(char *ret, size_t size);
    /* Call @each for the store of @nspace ("": for every one), which does not change meanwhile;
     * @each returns false to stop.  The name of a connected namespace or group is that of the
     * namespaces of its @members, which alone are meant (NULL: all are).  Return: PMIX_SUCCESS,
     * also when there is none. */
    pmix_status_t (*each_store)(const char *nspace,
                                bool (*each)(void *arg, const char *nspace,
                                             const struct sx_store *store,
                                             const struct sx_membership *members),
                                void *arg);
    /* The server's host is this from now on; it is copied.  Return: PMIX_SUCCESS; PMIX_ERR_INIT. */
    pmix_status_t (*module_set)(const pmix_server_module_t *module);
    /* Validate the credential that @info begins with; *ret_info is the caller's.  Return: as
     * PMIx_Validate_credential. */
    pmix_status_t (*validate)(const pmix_info_t info[], size_t ninfo, pmix_info_t **ret_info,
                              size_t *ret_ninfo);
    /* Answer the keys whose values the server has.  Return: PMIX_SUCCESS; else the first error. */
    pmix_status_t (*query)(struct sx_queries *queries);
};

/* Publish or withdraw (NULL) the server's table, which stays valid until withdrawn.  Any thread. */
void sx_role_server_set(const struct sx_role_server *server);

/* Return: the table, or NULL when this process runs no server.  Lock-free, any thread. */
const struct sx_role_server *sx_role_server_get(void);

/* The calling thread is the server's, for good: it runs the host's upcalls and event handlers. */
void sx_role_thread_enter(void);

/* May the calling thread wait for a server's answer, or for its end?  The server's own thread would
 * wait for itself.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED. */
pmix_status_t sx_role_may_wait(void);

/* ---- callbacks ------------------------------------------------------------------------------- */

/* Callbacks of a host that run in threads of their own, as it has no progress thread.
 *
 * Counted, so that the end of the server can wait for them.  Any thread. */

/* One more, before its thread is started; and one less, in that thread or instead of it. */
void sx_callbacks_add(void);
void sx_callbacks_done(void);

/* The calling thread runs one, which sx_callbacks_wait does not wait for inside it. */
void sx_callbacks_enter(void);

/* Wait until no other thread has one left. */
void sx_callbacks_wait(void);

#endif
