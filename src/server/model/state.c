/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state.c - which server runs in this process, and how work of other threads gets into its loop. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/model/state.h"

#include "base/log.h"
#include "base/status.h"
#include "base/waiter.h"

static _Atomic(struct sx_server *) running;
static struct sx_server *parents; /* in a forked child of the host: the server as it was then */
static atomic_bool notified;

/* In the child of a fork: the thread that would answer does not exist there. */
static void forked(void)
{
    struct sx_server *const server = atomic_load_explicit(&running, memory_order_relaxed);

    if (server != NULL) {
        parents = server;
        atomic_store_explicit(&running, NULL, memory_order_relaxed);
    }
    atomic_store(&notified, false);
}

struct sx_server *sx_server_get(void)
{
    /* A0 <- R0 (sx_server_set): a reader that sees the pointer sees the server behind it. */
    struct sx_server *const server = atomic_load_explicit(&running, memory_order_acquire);

    if (server == NULL && parents != NULL && !atomic_exchange(&notified, true)) {
        sx_log(SX_LOG_ERROR,
               "this process is a forked child of a PMIx server's host: calls to the server are "
               "refused here. Make them in process %d, or execute a program here",
               (int)parents->pid);
    }
    return server;
}

struct sx_server *sx_server_or_parents(void)
{
    /* A0 <- R0 (sx_server_set): as above. */
    struct sx_server *const server = atomic_load_explicit(&running, memory_order_acquire);

    return server != NULL ? server : parents;
}

void sx_server_set(struct sx_server *server)
{
    static bool added; /* fork handlers cannot be removed */

    if (!added) {
        added = pthread_atfork(NULL, NULL, forked) == 0;
    }
    /* R0 -> A0 (sx_server_get) */
    atomic_store_explicit(&running, server, memory_order_release);
}

char *sx_server_uri(const struct sx_server *server)
{
    char *text;

    return asprintf(&text, "%s.%u;%s", server->self.nspace, server->self.rank,
                    server->rendezvous.uri) >= 0
               ? text
               : NULL;
}

/* ---- calls into the host --------------------------------------------------------------------- */

void sx_host_call_append(struct sx_server *server, struct sx_host_call *call,
                         void (*fn)(struct sx_host_call *call))
{
    call->fn = fn;
    call->cause = server->entry.log_bound.cause;
    sx_list_append(&server->port.host.calls, &call->link);
}

void sx_host_calls_make(struct sx_server *server)
{
    const struct sx_log_cause before = server->entry.log_bound.cause;
    struct sx_list *node;

    sx_assert(server->port.host.busy == 0);
    while ((node = sx_list_pop(&server->port.host.calls)) != NULL) {
        struct sx_host_call *const call = SX_LIST_ENTRY(node, struct sx_host_call, link);

        server->entry.log_bound.cause = call->cause;
        call->fn(call);
    }
    server->entry.log_bound.cause = before;
}

/* ---- work for the loop thread -------------------------------------------------------------- */

/* One call on its way into the loop: either a thread waits, or a callback gets the status. */
struct sx_server_call {
    struct sx_loop_post post;
    struct sx_list link; /* while it waits: sx_server_call_waits */
    struct sx_server *server;
    sx_server_fn fn;
    void *arg;
    void (*release)(void *arg);
    pmix_op_cbfunc_t cbfunc; /* NULL: a thread waits */
    void *cbdata;
    struct sx_waiter waiter;
    struct sx_host_call notice; /* of the end of one that has waited ... */
    pmix_status_t status;       /* ... which was this */
};

static pmix_status_t work(struct sx_server *server, sx_server_fn fn, void *arg)
{
    sx_engine_enter(server);
    const pmix_status_t status = fn(server, arg);

    sx_engine_leave(server);
    return status;
}

/* Return: whether it is done; else it waits. */
static bool call_do(struct sx_server_call *call)
{
    struct sx_server *const server = call->server;

    server->port.call = call;
    call->status = work(server, call->fn, call->arg);
    const bool is_done = server->port.call != NULL;

    server->port.call = NULL;
    return is_done;
}

static void call_notify(struct sx_server_call *call)
{
    if (call->release != NULL) {
        call->release(call->arg);
    }
    call->cbfunc(call->status, call->cbdata);
    free(call);
}

static void call_run(void *arg, uint64_t now_ns)
{
    struct sx_server_call *call = arg;

    (void)now_ns;
    sx_host_calls_make(call->server); /* the host gets what came before its own call */
    if (!call_do(call)) {
        return;
    }
    if (call->cbfunc != NULL) {
        call_notify(call);
    } else {
        sx_waiter_wake(&call->waiter, call->status);
    }
}

bool sx_server_call_waits(struct sx_server *server, struct sx_list *list)
{
    struct sx_server_call *const call = server->port.call;

    if (call == NULL) {
        return false;
    }
    server->port.call = NULL;
    sx_list_append(list, &call->link);
    return true;
}

static void again_notify(struct sx_host_call *notice)
{
    call_notify(SX_CONTAINER(notice, struct sx_server_call, notice));
}

void sx_server_calls_again(struct sx_server *server, struct sx_list *list)
{
    struct sx_server_call *const before = server->port.call;
    struct sx_list *node;

    while ((node = sx_list_pop(list)) != NULL) {
        struct sx_server_call *const call = SX_LIST_ENTRY(node, struct sx_server_call, link);

        if (!call_do(call)) {
            continue;
        }
        if (call->cbfunc != NULL) {
            sx_host_call_append(server, &call->notice, again_notify);
        } else {
            sx_waiter_wake(&call->waiter, call->status);
        }
    }
    server->port.call = before;
}

pmix_status_t sx_server_call(struct sx_server *server, sx_server_fn fn, void *arg)
{
    if (sx_loop_is_own_thread(server->loop)) {
        struct sx_server_call *const before = server->port.call;

        server->port.call = NULL;
        const pmix_status_t status = work(server, fn, arg);

        server->port.call = before;
        return status;
    }
    struct sx_server_call call = {
        .server = server, .fn = fn, .arg = arg, .waiter = SX_WAITER_INIT
    };

    call.post = (struct sx_loop_post){ .fn = call_run, .arg = &call };
    const pmix_status_t rc = sx_loop_post(server->loop, &call.post);

    return rc == PMIX_SUCCESS ? sx_waiter_wait(&call.waiter) : rc;
}

pmix_status_t sx_server_submit(struct sx_server *server, sx_server_fn fn, void *arg,
                               void (*release)(void *arg), pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (cbfunc == NULL) {
        const pmix_status_t rc = sx_server_call(server, fn, arg);

        if (release != NULL) {
            release(arg);
        }
        return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc; /* done, without a callback */
    }
    const bool is_over = sx_loop_is_own_thread(server->loop) && server->port.host.ending;
    struct sx_server_call *const call = is_over ? NULL : calloc(1, sizeof(*call));

    if (call == NULL) {
        if (release != NULL) {
            release(arg);
        }
        return is_over ? PMIX_ERR_NOT_AVAILABLE : PMIX_ERR_OUT_OF_RESOURCE;
    }
    *call = (struct sx_server_call){ .server = server,
                                     .fn = fn,
                                     .arg = arg,
                                     .release = release,
                                     .cbfunc = cbfunc,
                                     .cbdata = cbdata };
    call->post = (struct sx_loop_post){ .fn = call_run, .arg = call };
    const pmix_status_t rc = sx_loop_post(server->loop, &call->post);

    if (rc != PMIX_SUCCESS) {
        if (release != NULL) {
            release(arg);
        }
        free(call);
    }
    return rc;
}
