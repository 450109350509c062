/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state.c - which server runs in this process, and how work of other threads gets into its loop. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/model/state.h"

static _Atomic(struct sx_server *) running;

struct sx_server *sx_server_get(void)
{
    /* A0 <- R0 (sx_server_set): a reader that sees the pointer sees the server behind it. */
    return atomic_load_explicit(&running, memory_order_acquire);
}

void sx_server_set(struct sx_server *server)
{
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

/* ---- work for the loop thread -------------------------------------------------------------- */

/* One call on its way into the loop: either a thread waits, or a callback gets the status. */
struct call {
    struct sx_loop_post post;
    struct sx_server *server;
    sx_server_fn fn;
    void *arg;
    void (*release)(void *arg);
    pmix_op_cbfunc_t cbfunc; /* NULL: a thread waits */
    void *cbdata;
    pthread_mutex_t lock;
    pthread_cond_t done_cond;
    bool done;
    pmix_status_t status;
};

static void call_run(void *arg, uint64_t now_ns)
{
    struct call *call = arg;
    const pmix_status_t status = call->fn(call->server, call->arg);

    (void)now_ns;
    if (call->cbfunc != NULL) {
        if (call->release != NULL) {
            call->release(call->arg);
        }
        call->cbfunc(status, call->cbdata);
        free(call);
        return;
    }
    pthread_mutex_lock(&call->lock);
    call->status = status;
    call->done = true;
    pthread_cond_signal(&call->done_cond);
    pthread_mutex_unlock(&call->lock);
}

pmix_status_t sx_server_call(struct sx_server *server, sx_server_fn fn, void *arg)
{
    if (sx_loop_is_own_thread(server->loop)) {
        return fn(server, arg);
    }
    struct call call = { .server = server, .fn = fn, .arg = arg };

    call.post = (struct sx_loop_post){ .fn = call_run, .arg = &call };
    pthread_mutex_init(&call.lock, NULL);
    pthread_cond_init(&call.done_cond, NULL);
    pmix_status_t rc = sx_loop_post(server->loop, &call.post);

    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&call.lock);
        while (!call.done) {
            pthread_cond_wait(&call.done_cond, &call.lock);
        }
        pthread_mutex_unlock(&call.lock);
        rc = call.status;
    }
    pthread_cond_destroy(&call.done_cond);
    pthread_mutex_destroy(&call.lock);
    return rc;
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
    struct call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        if (release != NULL) {
            release(arg);
        }
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *call = (struct call){ .server = server,
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
