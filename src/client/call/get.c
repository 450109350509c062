/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get.c - PMIx_Get and PMIx_Get_nb: read what is mapped, ask the server for the rest.
 *
 *     hit  --> decode, return
 *     miss --reserved, optional, or our own value--> not found, without a message
 *       \--> GET --the server has it now--> look again
 *             \--timeout, not there, link lost--> that status
 *
 * A hit takes no lock and makes no system call, and one allocation for a scalar.  A store that has
 * been replaced is fetched first; when that fails, so does the Get: an old value is no answer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/flat.h"
#include "base/role.h"
#include "base/status.h"
#include "base/value.h"
#include "client/call/gate.h"
#include "client/data/derived.h"
#include "client/data/grace.h"
#include "client/data/lookup.h"
#include "client/data/private_value.h"
#include "client/data/view.h"
#include "client/link/handed_out.h"
#include "client/link/process.h"
#include "client/link/progress.h"

/* ---- the answer --------------------------------------------------------------------------- */

/* A string or bytes inside the mapping, which stays for it; everything else is decoded and stays
 * ours. */
static pmix_status_t point_at(struct sx_lookup *lookup, pmix_value_t *ret,
                              const struct sx_item *item)
{
    const char *const bytes = item->body;
    const bool null = (item->cell.flags & SX_CELL_NULL) != 0;

    memset(ret, 0, sizeof(*ret));
    ret->type = item->cell.type;
    if (lookup->edition != NULL) {
        sx_edition_hand_out(lookup->edition, bytes);
    }
    /* The caller must not write there; the interface has no const for it. */
    if (item->cell.type == PMIX_STRING && !null) {
        if (item->cell.len == 0 || bytes[item->cell.len - 1] != '\0') {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        ret->data.string = (char *)(uintptr_t)bytes;
        return PMIX_SUCCESS;
    }
    if (item->cell.type == PMIX_BYTE_OBJECT && !null) {
        ret->data.bo.bytes = (char *)(uintptr_t)bytes;
        ret->data.bo.size = item->cell.len;
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_flat_decode(ret, &item->cell, bytes, item->cell.len);
    if (rc == PMIX_SUCCESS && item->cell.len != 0) {
        return sx_keep_content(ret);
    }
    return rc;
}

/* Decode @item into storage that already exists. */
static pmix_status_t fill(struct sx_lookup *lookup, const struct sx_item *item, pmix_value_t *ret)
{
    if (lookup->wanted.key == NULL) {
        const pmix_status_t rc = sx_lookup_collect(lookup, ret);

        return rc == PMIX_SUCCESS && lookup->wanted.is_pointers ? sx_keep_content(ret) : rc;
    }
    if (lookup->wanted.is_pointers) {
        return point_at(lookup, ret, item);
    }
    return sx_flat_decode(ret, &item->cell, item->body, item->cell.len);
}

/* What is not stored may follow from the question. */
static pmix_status_t answer_implied(const struct sx_lookup *lookup, pmix_value_t **ret)
{
    pmix_value_t made;
    pmix_status_t rc = sx_implied_find(lookup, &made);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (lookup->wanted.is_static && *ret == NULL) {
        sx_value_destruct(&made);
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_value_t *const value = lookup->wanted.is_static     ? *ret
                                : lookup->wanted.is_pointers ? sx_keep_value()
                                                             : malloc(sizeof(*value));
    if (value == NULL) {
        sx_value_destruct(&made);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (lookup->wanted.is_pointers) {
        rc = sx_keep_content(&made); /* it stays ours */
    }
    if (rc == PMIX_SUCCESS) {
        *value = made;
        *ret = value;
    }
    return rc;
}

static pmix_status_t answer(struct sx_lookup *lookup, const struct sx_item *item,
                            pmix_value_t **ret)
{
    if (lookup->wanted.is_static) {
        return *ret != NULL ? fill(lookup, item, *ret) : PMIX_ERR_BAD_PARAM;
    }
    pmix_value_t *const value = lookup->wanted.is_pointers ? sx_keep_value()
                                                           : malloc(sizeof(*value));
    if (value == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = fill(lookup, item, value);
    if (rc == PMIX_SUCCESS) {
        *ret = value;
    } else if (!lookup->wanted.is_pointers) {
        free(value);
    }
    return rc;
}

/* The same with the newest value of a box, which must not be replaced meanwhile. */
static pmix_status_t answer_box(struct sx_lookup *lookup, struct sx_item *item, pmix_value_t **ret)
{
    pthread_mutex_lock(&sx_process.data_lock);
    sx_box_open(item, lookup->wanted.is_pointers);
    const pmix_status_t rc = item->cell.type != PMIX_UNDEF
                                 ? answer(lookup, item, ret)
                                 : PMIX_ERR_NOT_FOUND; /* just taken away */
    pthread_mutex_unlock(&sx_process.data_lock);
    return rc;
}

/* Look and answer, from memory. */
static pmix_status_t look(struct sx_lookup *lookup, pmix_value_t **ret)
{
    struct sx_item item;

    if (lookup->wanted.key == NULL) {
        return answer(lookup, NULL, ret);
    }
    const pmix_status_t rc = sx_lookup_find(lookup, &item);
    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_NOT_FOUND ? answer_implied(lookup, ret) : rc;
    }
    return sx_box_of(&item) != NULL ? answer_box(lookup, &item, ret) : answer(lookup, &item, ret);
}

/* The same in what is newest: an old value is none.  A namespace that is gone has what this process
 * keeps of it. */
static pmix_status_t look_fresh(struct sx_lookup *lookup, pmix_value_t **ret)
{
    struct sx_grace grace = sx_grace_enter();

    if (sx_view_is_stale(lookup->view)) {
        sx_grace_exit(&grace);
        const pmix_status_t rc = sx_view_fetch(lookup->nspace, &lookup->view);

        if (rc != PMIX_SUCCESS && rc != PMIX_ERR_NOT_FOUND) {
            return rc;
        }
        grace = sx_grace_enter();
    }
    const pmix_status_t rc = look(lookup, ret);
    sx_grace_exit(&grace);
    return rc;
}

/* ---- what the server knows ---------------------------------------------------------------- */

/* Can the server know more than is mapped?  Return: PMIX_SUCCESS when it is worth asking. */
static pmix_status_t worth_asking(const struct sx_lookup *lookup)
{
    const struct sx_process *const p = &sx_process;
    const pmix_status_t rc = sx_link_status();

    const bool is_put = lookup->wanted.realm == SX_REALM_QUALIFIED ||
                        (lookup->wanted.realm == SX_REALM_JOB &&
                         (lookup->wanted.waits || !lookup->wanted.reserved));

    if (lookup->wanted.optional || !is_put || rc == PMIX_ERR_UNREACH ||
        lookup->wanted.rank == PMIX_RANK_INVALID) {
        return PMIX_ERR_NOT_FOUND;
    }
    /* What we put is seen at once, and nobody else puts for us. */
    if (lookup->view == p->own && lookup->wanted.rank == p->self.rank) {
        return PMIX_ERR_NOT_FOUND;
    }
    return rc;
}

/* What this process has stored of others is its own word, and counts. */
static bool is_kept_here(const struct sx_lookup *lookup)
{
    struct sx_grace grace = sx_grace_enter();
    const struct sx_site site = { .own = lookup->view != NULL ? sx_view_private(lookup->view)
                                                              : NULL,
                                  .self = PMIX_RANK_INVALID };
    struct sx_item item;
    const bool is_kept = lookup->wanted.key != NULL &&
                         sx_wanted_find(&lookup->wanted, &site, &item) == PMIX_SUCCESS;

    sx_grace_exit(&grace);
    return is_kept;
}

/* What is to be fresh is asked for, as only the server knows which ranks are of other nodes, and
 * what others have committed and it has not yet taken.  What no rank puts is fresh as it is. */
static bool asks_first(const struct sx_lookup *lookup)
{
    return lookup->wanted.refreshes && lookup->wanted.rank < PMIX_RANK_VALID &&
           worth_asking(lookup) != PMIX_ERR_NOT_FOUND && !is_kept_here(lookup);
}

static pmix_status_t look_first(struct sx_lookup *lookup, pmix_value_t **ret)
{
    return __builtin_expect(asks_first(lookup), 0) ? PMIX_ERR_NOT_FOUND : look_fresh(lookup, ret);
}

/* A namespace whose store has not been fetched.  Return: PMIX_ERR_NOT_FOUND when there is no
 * need or no such namespace. */
static pmix_status_t fetch_foreign(struct sx_lookup *lookup)
{
    if (lookup->wanted.optional || (lookup->view != NULL && sx_view_shared(lookup->view) != NULL)) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = sx_view_fetch(lookup->nspace, &lookup->view);
    return rc == PMIX_ERR_UNREACH ? PMIX_ERR_NOT_FOUND : rc;
}

/* The server says that there is something to be found. */
static pmix_status_t look_again(struct sx_lookup *lookup, pmix_value_t **ret)
{
    const pmix_status_t rc = fetch_foreign(lookup);

    return rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND ? look_fresh(lookup, ret) : rc;
}

static int get_request(const struct sx_lookup *lookup, struct sx_get *get, struct iovec iov[2])
{
    *get = (struct sx_get){
        .rank = lookup->wanted.rank,
        .flags = (lookup->wanted.immediate ? SX_GET_IMMEDIATE : 0) |
                 (lookup->wanted.refreshes ? SX_GET_REFRESH : 0) |
                 (lookup->wanted.realm == SX_REALM_QUALIFIED ? SX_GET_QUALIFIED : 0),
        .timeout_ns = lookup->wanted.timeout_ns,
        .key_size = lookup->wanted.key != NULL ? (uint32_t)lookup->wanted.key_len + 1 : 0
    };
    memcpy(get->nspace, lookup->nspace, strlen(lookup->nspace));
    iov[0] = (struct iovec){ get, sizeof(*get) };
    iov[1] = (struct iovec){ (void *)(uintptr_t)lookup->wanted.key, get->key_size };
    return get->key_size != 0 ? 2 : 1;
}

static uint64_t deadline_of(const struct sx_lookup *lookup)
{
    return lookup->wanted.timeout_ns != 0 ? sx_deadline_ns(sx_now_ns(), lookup->wanted.timeout_ns)
                                          : SX_DEADLINE_NEVER;
}

static pmix_status_t ask(const struct sx_lookup *lookup)
{
    struct sx_call call = SX_CALL_INIT(NULL);
    struct sx_get get;
    struct iovec iov[2];
    const int iov_count = get_request(lookup, &get, iov);
    const uint64_t deadline_ns = deadline_of(lookup);

    pmix_status_t rc = sx_gate_wait(deadline_ns);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_request(&call, SX_MSG_GET, iov, iov_count, deadline_ns);
    if (rc == PMIX_ERR_TIMEOUT && !call.done) {
        (void)sx_request_tell(SX_MSG_GET_CANCEL, call.id, NULL, 0);
    }
    sx_gate_leave();
    return rc;
}

static pmix_status_t get_missed(struct sx_lookup *lookup, pmix_value_t **ret)
{
    pmix_status_t rc = fetch_foreign(lookup);

    if (rc == PMIX_SUCCESS) {
        rc = look_first(lookup, ret);
    }
    if (rc != PMIX_ERR_NOT_FOUND) {
        return rc;
    }
    rc = worth_asking(lookup);
    if (rc == PMIX_SUCCESS) {
        rc = ask(lookup);
    }
    return rc == PMIX_SUCCESS ? look_again(lookup, ret) : rc;
}

/* ---- PMIx_Get ----------------------------------------------------------------------------- */

static pmix_status_t get(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                         size_t ninfo, pmix_value_t **val)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct sx_lookup lookup;

    if (__builtin_expect(server != NULL, 0)) {
        const pmix_status_t rc = server->get(proc, key, info, ninfo, val);

        if (rc == PMIX_SUCCESS || !sx_process_ready()) {
            return rc;
        }
    }
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_lookup_init(&lookup, proc, key, info, ninfo);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = look_first(&lookup, val);
    return rc == PMIX_ERR_NOT_FOUND ? get_missed(&lookup, val) : rc;
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                       size_t ninfo, pmix_value_t **val)
{
    if (val == NULL) {
        return sx_process_misused();
    }
    const pmix_status_t rc = get(proc, key, info, ninfo, val);
    /* Storage of the caller's stays the caller's. */
    if (rc != PMIX_SUCCESS && !sx_wanted_is_static(info, ninfo)) {
        *val = NULL;
    }
    return rc;
}

/* ---- PMIx_Get_nb -------------------------------------------------------------------------- */

struct get_nb {
    struct sx_gate_turn turn;
    struct sx_call call;
    struct sx_lookup lookup; /* its strings are the ones below */
    pmix_value_cbfunc_t cbfunc;
    void *cbdata;
    pmix_status_t status;
    pmix_value_t *value;
    char nspace[PMIX_MAX_NSLEN + 1];
    char key[PMIX_MAX_KEYLEN + 1];
    char hostname[]; /* only when one was given */
};

static void get_nb_deliver(struct get_nb *op)
{
    op->cbfunc(op->status, op->value, op->cbdata);
    if (op->value != NULL && !op->lookup.wanted.is_pointers) {
        sx_value_destruct(op->value);
        free(op->value);
    }
    free(op);
}

static struct get_nb *get_nb_of(struct sx_task *task)
{
    return SX_CONTAINER(task, struct get_nb, turn.task);
}

static void get_nb_found(struct sx_task *task)
{
    get_nb_deliver(get_nb_of(task));
}

static void get_nb_answered(struct sx_task *task)
{
    struct get_nb *const op = get_nb_of(task);

    op->status = op->call.status;
    if (op->status == PMIX_SUCCESS) {
        op->status = look_again(&op->lookup, &op->value);
    }
    get_nb_deliver(op);
}

static void get_nb_done(struct sx_call *call, const struct sx_frame *frame)
{
    struct get_nb *const op = SX_CONTAINER(call, struct get_nb, call);

    (void)frame;
    op->turn.task.run = get_nb_answered;
    sx_task_post_locked(&op->turn.task);
    sx_gate_leave_locked();
}

/* It has a place.  Return: an error when it was not sent; the place is given back then. */
static pmix_status_t get_nb_send(struct get_nb *op)
{
    struct sx_get get;
    struct iovec iov[2];

    if (op->turn.deadline_ns != SX_DEADLINE_NEVER) { /* what is left of it */
        const uint64_t now_ns = sx_now_ns();

        op->lookup.wanted.timeout_ns = op->turn.deadline_ns > now_ns ? op->turn.deadline_ns - now_ns
                                                                     : 1;
    }
    const int iov_count = get_request(&op->lookup, &get, iov);
    op->call = (struct sx_call)SX_CALL_INIT(get_nb_done);
    const pmix_status_t rc = sx_request_start(&op->call, SX_MSG_GET, iov, iov_count);
    if (rc != PMIX_SUCCESS) {
        sx_gate_leave();
    }
    return rc;
}

/* It has waited for a place, and its value may have come meanwhile. */
static void get_nb_let_in(struct sx_task *task)
{
    struct get_nb *const op = get_nb_of(task);

    op->status = op->turn.timed_out ? PMIX_ERR_TIMEOUT : look_first(&op->lookup, &op->value);
    if (op->status == PMIX_ERR_NOT_FOUND) {
        op->status = get_nb_send(op);
        if (op->status == PMIX_SUCCESS) {
            return;
        }
    } else if (!op->turn.timed_out) {
        sx_gate_leave();
    }
    get_nb_deliver(op);
}

/* On the progress thread, which may wait for a store but not for a value. */
static void get_nb_missed(struct sx_task *task)
{
    struct get_nb *const op = get_nb_of(task);

    op->status = fetch_foreign(&op->lookup);
    if (op->status == PMIX_SUCCESS) {
        op->status = look_first(&op->lookup, &op->value);
    }
    if (op->status == PMIX_ERR_NOT_FOUND) {
        op->status = worth_asking(&op->lookup);
        if (op->status == PMIX_SUCCESS) {
            op->turn.task.run = get_nb_let_in;
            op->turn.deadline_ns = deadline_of(&op->lookup);
            if (!sx_gate_enter(&op->turn)) {
                return;
            }
            op->status = get_nb_send(op);
            if (op->status == PMIX_SUCCESS) {
                return;
            }
        }
    }
    get_nb_deliver(op);
}

static struct get_nb *get_nb_new(const struct sx_lookup *lookup, pmix_value_cbfunc_t cbfunc,
                                 void *cbdata)
{
    const size_t hostname_size = lookup->wanted.hostname != NULL
                                     ? strlen(lookup->wanted.hostname) + 1
                                     : 0;
    struct get_nb *const op = malloc(sizeof(*op) + hostname_size);

    if (op == NULL) {
        return NULL;
    }
    memset(op, 0, sizeof(*op));
    op->lookup = *lookup;
    op->cbfunc = cbfunc;
    op->cbdata = cbdata;
    memcpy(op->nspace, lookup->nspace, strlen(lookup->nspace));
    op->lookup.nspace = op->nspace;
    if (lookup->wanted.key != NULL) {
        memcpy(op->key, lookup->wanted.key, lookup->wanted.key_len);
        op->lookup.wanted.key = op->key;
    }
    if (hostname_size != 0) {
        memcpy(op->hostname, lookup->wanted.hostname, hostname_size);
        op->lookup.wanted.hostname = op->hostname;
    }
    return op;
}

/* A process that is only a server: its own answer, from a thread that ends with it. */
static pmix_status_t get_nb_server(const struct sx_role_server *server, const pmix_proc_t *proc,
                                   const char *key, const pmix_info_t info[], size_t ninfo,
                                   pmix_value_cbfunc_t cbfunc, void *cbdata)
{
    struct get_nb *const op = calloc(1, sizeof(*op));

    if (op == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    op->turn.task.run = get_nb_found;
    op->cbfunc = cbfunc;
    op->cbdata = cbdata;
    op->status = server->get(proc, key, info, ninfo, &op->value);
    const pmix_status_t rc = op->status == PMIX_ERR_BAD_PARAM ? op->status
                                                              : sx_task_run_alone(&op->turn.task);
    if (rc != PMIX_SUCCESS) {
        if (op->value != NULL) {
            sx_value_destruct(op->value);
            free(op->value);
        }
        free(op);
    }
    return rc;
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                          size_t ninfo, pmix_value_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct sx_lookup lookup;

    if (cbfunc == NULL) {
        return sx_process_misused();
    }
    if (!sx_process_ready()) {
        return server == NULL ? PMIX_ERR_INIT
                              : get_nb_server(server, proc, key, info, ninfo, cbfunc, cbdata);
    }
    pmix_status_t rc = sx_lookup_init(&lookup, proc, key, info, ninfo);
    if (rc == PMIX_SUCCESS && lookup.wanted.is_static) {
        rc = PMIX_ERR_BAD_PARAM; /* there is no storage to fill */
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_progress_start();
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct get_nb *const op = get_nb_new(&lookup, cbfunc, cbdata);
    if (op == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    op->status = look_first(&op->lookup, &op->value);
    op->turn.task.run = op->status == PMIX_ERR_NOT_FOUND ? get_nb_missed : get_nb_found;
    sx_task_post(&op->turn.task);
    return PMIX_SUCCESS;
}
