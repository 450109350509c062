/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get.c - PMIx_Get and PMIx_Get_nb: read what is mapped, ask the server for the rest.
 *
 *     hit  --> decode, return
 *     miss --another namespace, not mapped, and not optional or at hand--> map it, search again
 *       \--reserved, optional, or our own value--> not found, without a message
 *        |  \--not optional, of another node, and not asked for before--> GET, for the host
 *       \--> GET --the server has it now--> search again
 *             \--timeout, not there, link lost--> that status
 *
 * A hit takes no lock and makes no system call, and one allocation for a scalar.  A store that has
 * been replaced is fetched first.  If the fetch fails, so does the Get: an old value is not an
 * answer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/system/topology.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "client/data/data.h"
#include "client/data/epoch.h"
#include "client/data/lookup.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/link/wait.h"

/* ---- the answer --------------------------------------------------------------------------- */

/* A string or bytes inside the mapping, which is kept for it; every other value is decoded and
 * stays the library's. */
static pmix_status_t point_at(struct sx_lookup *lookup, pmix_value_t *ret,
                              const struct sx_item *item)
{
    const char *const bytes = item->body;
    const bool null = (item->cell.flags & SX_CELL_NULL) != 0;

    memset(ret, 0, sizeof(*ret));
    ret->type = item->cell.type;
    if (lookup->edition != NULL) {
        sx_mapped_store_hand_out(lookup->edition, bytes);
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

        return rc == PMIX_SUCCESS && lookup->wanted.options.is_pointers ? sx_keep_content(ret) : rc;
    }
    if (lookup->wanted.options.is_pointers) {
        return point_at(lookup, ret, item);
    }
    return sx_flat_decode(ret, &item->cell, item->body, item->cell.len);
}

/* @made, which is taken over, is not a stored value. */
static pmix_status_t answer_made(const struct sx_lookup *lookup, pmix_value_t made,
                                 pmix_value_t **ret)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (lookup->wanted.options.is_static && *ret == NULL) {
        sx_value_destruct(&made);
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_value_t *const value = lookup->wanted.options.is_static     ? *ret
                                : lookup->wanted.options.is_pointers ? sx_keep_value()
                                                                     : malloc(sizeof(*value));
    if (value == NULL) {
        sx_value_destruct(&made);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (lookup->wanted.options.is_pointers) {
        rc = sx_keep_content(&made); /* it stays ours */
    }
    if (rc == PMIX_SUCCESS) {
        *value = made;
        *ret = value;
    }
    return rc;
}

/* A value that is not stored may follow from the question. */
static pmix_status_t answer_implied(const struct sx_lookup *lookup, pmix_value_t **ret)
{
    pmix_value_t made;
    const pmix_status_t rc = sx_implied_find(lookup, &made);

    return rc == PMIX_SUCCESS ? answer_made(lookup, made, ret) : rc;
}

static pmix_status_t answer(struct sx_lookup *lookup, const struct sx_item *item,
                            pmix_value_t **ret)
{
    if (lookup->wanted.options.is_static) {
        return *ret != NULL ? fill(lookup, item, *ret) : PMIX_ERR_BAD_PARAM;
    }
    pmix_value_t *const value = lookup->wanted.options.is_pointers ? sx_keep_value()
                                                                   : malloc(sizeof(*value));
    if (value == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = fill(lookup, item, value);
    if (rc == PMIX_SUCCESS) {
        *ret = value;
    } else if (!lookup->wanted.options.is_pointers) {
        free(value);
    }
    return rc;
}

/* The same with the newest value of a box, which must not be replaced meanwhile. */
static pmix_status_t answer_box(struct sx_lookup *lookup, struct sx_item *item, pmix_value_t **ret)
{
    pthread_mutex_lock(&sx_process.data_lock);
    sx_box_open(item, lookup->wanted.options.is_pointers);
    const pmix_status_t rc = item->cell.type != PMIX_UNDEF
                                 ? answer(lookup, item, ret)
                                 : PMIX_ERR_NOT_FOUND; /* its key was just taken away */
    pthread_mutex_unlock(&sx_process.data_lock);
    return rc;
}

/* Search and answer, from memory. */
static pmix_status_t look(struct sx_lookup *lookup, pmix_value_t **ret)
{
    struct sx_item item;

    if (lookup->wanted.key == NULL) {
        return answer(lookup, NULL, ret);
    }
    const pmix_status_t rc = sx_lookup_find(lookup, &item);
    if (rc == PMIX_ERR_NOT_FOUND && sx_lookup_is_coming(lookup)) {
        return rc; /* it cannot be derived yet */
    }
    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_NOT_FOUND ? answer_implied(lookup, ret) : rc;
    }
    return sx_box_of(&item) != NULL ? answer_box(lookup, &item, ret) : answer(lookup, &item, ret);
}

/* The same in the newest store: an old value is not an answer.  Of a namespace that has ended, the
 * values that this process keeps are found. */
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

/* ---- when the server can have more -------------------------------------------------------- */

/* Can the server have more than is mapped?  Return: PMIX_SUCCESS when it is worth asking. */
static pmix_status_t worth_asking(const struct sx_lookup *lookup)
{
    const struct sx_process *const p = &sx_process;
    const pmix_status_t rc = sx_link_status(sx_primary());

    const bool is_put = lookup->wanted.realm == SX_REALM_QUALIFIED ||
                        (lookup->wanted.realm == SX_REALM_JOB &&
                         (lookup->wanted.options.waits.given || !lookup->wanted.reserved));

    if (lookup->wanted.options.optional || !is_put || rc == PMIX_ERR_UNREACH ||
        lookup->wanted.rank == PMIX_RANK_INVALID) {
        return PMIX_ERR_NOT_FOUND;
    }
    /* This process sees its own puts at once, and no other process puts for it. */
    if (lookup->view == p->own && lookup->wanted.rank == p->self.rank) {
        return PMIX_ERR_NOT_FOUND;
    }
    return rc;
}

static bool is_mapped(const struct sx_lookup *lookup)
{
    return lookup->view != NULL && sx_view_shared(lookup->view) != NULL;
}

/* ---- when the host can have more ---------------------------------------------------------- */

/* The last questions that the host had no answer to, by hashes; 0: none. */
#define VAIN_COUNT 512u
static _Atomic uint64_t vain[VAIN_COUNT];

static uint64_t vain_hash(const struct sx_lookup *lookup)
{
    const struct sx_wanted *const wanted = &lookup->wanted;
    const uint64_t key = sx_store_hash(SX_REALM_JOB, wanted->key, wanted->key_len);
    const uint64_t nspace = sx_store_hash(SX_REALM_JOB, lookup->nspace, strlen(lookup->nspace));

    return (key + 3 * nspace + wanted->rank * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

/* Remember that the host had no answer. */
static void vain_add(const struct sx_lookup *lookup)
{
    const uint64_t hash = vain_hash(lookup);

    /* relaxed: a hash stands for itself. */
    atomic_store_explicit(&vain[(hash >> 1) % VAIN_COUNT], hash, memory_order_relaxed);
}

/* A key of the host's that was not found.  If its process is on another node, or its namespace has
 * no store here, the host may have it, and is asked once. */
static bool host_may_know(const struct sx_lookup *lookup)
{
    const struct sx_wanted *const wanted = &lookup->wanted;

    if (!wanted->reserved || wanted->realm != SX_REALM_JOB || wanted->names_row ||
        wanted->options.realm != SX_GET_ANY || wanted->options.optional ||
        sx_link_status(sx_primary()) != PMIX_SUCCESS || sx_implied_is_key(wanted->key) ||
        (is_mapped(lookup) && !sx_lookup_is_elsewhere(lookup))) {
        return false;
    }
    const uint64_t hash = vain_hash(lookup);

    /* relaxed: a hash stands for itself. */
    return atomic_load_explicit(&vain[(hash >> 1) % VAIN_COUNT], memory_order_relaxed) != hash;
}

/* ---- the server first --------------------------------------------------------------------- */

/* A value that this process has stored for another one counts as found. */
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

/* A value that must be fresh is requested from the server.  Only the server can find out which
 * ranks are on other nodes, and which commits it has not yet taken.  A value that no rank puts is
 * always fresh. */
static bool asks_first(const struct sx_lookup *lookup)
{
    if (lookup->wanted.key == NULL && sx_lookup_is_coming(lookup)) {
        return true; /* everything is not there yet */
    }
    return lookup->wanted.options.refreshes && lookup->wanted.rank < PMIX_RANK_VALID &&
           worth_asking(lookup) != PMIX_ERR_NOT_FOUND && !is_kept_here(lookup);
}

static pmix_status_t look_first(struct sx_lookup *lookup, pmix_value_t **ret)
{
    return __builtin_expect(asks_first(lookup), 0) ? PMIX_ERR_NOT_FOUND : look_fresh(lookup, ret);
}

/* A namespace whose store has not been fetched.  With PMIX_OPTIONAL only data that a call has
 * brought to this process is fetched.  Return: PMIX_ERR_NOT_FOUND when there is no need or no such
 * namespace. */
static pmix_status_t fetch_foreign(struct sx_lookup *lookup)
{
    if (is_mapped(lookup) ||
        (lookup->wanted.options.optional && !sx_at_hand(lookup->nspace, lookup->view))) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = sx_at_hand_fetch(lookup->nspace, &lookup->view);
    return rc == PMIX_ERR_UNREACH ? PMIX_ERR_NOT_FOUND : rc;
}

/* The server has answered that the value can be found. */
static pmix_status_t look_again(struct sx_lookup *lookup, pmix_value_t **ret)
{
    const pmix_status_t rc = fetch_foreign(lookup);

    return rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND ? look_fresh(lookup, ret) : rc;
}

#define GET_BYTES_MAX (sizeof(struct sx_get) + PMIX_MAX_KEYLEN + 1)

/* The request for @lookup's value, in @room.  If that value is announced for later (@is_early), the
 * request is for the data that includes it. */
static pmix_status_t get_write(const struct sx_lookup *lookup, bool is_early, bool is_hosts,
                               uint64_t room[GET_BYTES_MAX / sizeof(uint64_t)],
                               struct iovec *ret_body)
{
    const struct sx_wanted *const wanted = &lookup->wanted;
    const char *const key = is_early ? sx_topology_keys[0] : wanted->key;
    struct sx_get head = {
        .rank = is_early ? SX_ROW_JOB : wanted->rank,
        .flags = (wanted->options.immediate ? SX_GET_IMMEDIATE : 0) |
                 (wanted->options.refreshes ? SX_GET_REFRESH : 0) |
                 (wanted->realm == SX_REALM_QUALIFIED ? SX_GET_QUALIFIED : 0) |
                 (is_hosts ? SX_GET_HOSTS : 0),
        .timeout_ns = wanted->options.timeout_ns,
    };
    struct sx_draft draft = {
        .head = &head,
        .parts = { [SX_GET_KEY] = { key, key != NULL ? strlen(key) + 1 : 0 } },
    };

    memcpy(head.nspace, lookup->nspace, strlen(lookup->nspace));
    return sx_wire_write(SX_MSG_GET, &draft, room, GET_BYTES_MAX, ret_body);
}

static uint64_t deadline_of(const struct sx_lookup *lookup)
{
    return lookup->wanted.options.timeout_ns != 0
               ? sx_deadline_ns(sx_now_ns(), lookup->wanted.options.timeout_ns)
               : SX_DEADLINE_NEVER;
}

/* ---- Gets that are not answered at once --------------------------------------------------- */

struct get {
    struct sx_op op; /* `value` is what was found */
    struct sx_lookup lookup;
    enum { GET_LOOKED, GET_QUEUED, GET_ASKED } stage;
    bool is_early;      /* it wants data that the host has announced */
    bool is_hosts;      /* it asks for a value that only the host may have */
    bool is_member;     /* the name was that of a connected namespace, and the lookup is ... */
    pmix_proc_t member; /* ... about this member of it */
    char strings[];     /* of the lookup, when the caller does not wait */
};

/* The Get has a place of the throttle, which is given back with the answer.  Return: as
 * get_finish. */
static bool get_send(struct get *get)
{
    uint64_t room[GET_BYTES_MAX / sizeof(uint64_t)];
    struct iovec body;

    if (get->op.deadline_ns != SX_DEADLINE_NEVER) { /* the rest of the time limit */
        const uint64_t now_ns = sx_now_ns();

        get->lookup.wanted.options.timeout_ns = get->op.deadline_ns > now_ns
                                                    ? get->op.deadline_ns - now_ns
                                                    : 1;
    }
    get->stage = GET_ASKED;
    pmix_status_t rc = get_write(&get->lookup, get->is_early, get->is_hosts, room, &body);
    if (rc == PMIX_SUCCESS) {
        rc = sx_request_start(&get->op, SX_MSG_GET, &body, 1);
    }
    if (rc != PMIX_SUCCESS) {
        sx_gate_leave();
        get->op.status = rc;
    }
    return rc != PMIX_SUCCESS;
}

/* Return: as get_finish. */
static bool get_ask(struct get *get)
{
    get->op.deadline_ns = deadline_of(&get->lookup);
    get->stage = GET_QUEUED;
    if (sx_callback_is_given(&get->op.callback)) {
        return sx_gate_enter(&get->op) && get_send(get);
    }
    get->op.status = sx_gate_wait(get->op.deadline_ns);
    return get->op.status != PMIX_SUCCESS || get_send(get);
}

/* ---- under the name of a connected namespace ------------------------------------------------ */

/* From here on the lookup is about the member of rank @rank. */
static pmix_status_t member_take(struct get *get, const char *name, uint32_t rank)
{
    const pmix_status_t rc = sx_alias_member(name, rank, &get->member);

    if (rc == PMIX_SUCCESS) {
        get->is_member = true;
        get->lookup.nspace = get->member.nspace;
        get->lookup.view = sx_view_find(get->member.nspace, strlen(get->member.nspace));
        get->lookup.wanted.rank = get->member.rank;
    }
    return rc;
}

/* A value that any member has put is found, without waiting.  Return: as look_fresh. */
static pmix_status_t members_look(struct get *get, const char *name)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (uint32_t rank = 0, size = sx_alias_size(name); rank < size; rank++) {
        if (member_take(get, name, rank) == PMIX_SUCCESS) {
            (void)fetch_foreign(&get->lookup);
            rc = look_fresh(&get->lookup, &get->op.value);
            if (rc != PMIX_ERR_NOT_FOUND) {
                break;
            }
        }
    }
    get->is_member = false; /* the lookup is about no single process */
    return rc;
}

/* Return: false when the namespace is not a connected one.  Else the status is the Get's result, or
 * it is PMIX_ERR_NOT_FOUND and the lookup is about a member. */
static bool alias_look(struct get *get)
{
    const char *const name = get->lookup.nspace;
    const struct sx_wanted *const wanted = &get->lookup.wanted;
    const bool is_one = wanted->rank < PMIX_RANK_VALID;
    pmix_value_t made;

    get->op.status = is_one ? sx_alias_member(name, wanted->rank, &get->member)
                            : PMIX_ERR_NOT_FOUND;
    if (get->op.status != PMIX_SUCCESS && sx_alias_size(name) == 0) {
        return false;
    }
    if (get->op.status != PMIX_SUCCESS && is_one) {
        return true; /* it has no such member */
    }
    get->op.status = sx_alias_find(name, wanted, &made);
    if (get->op.status == PMIX_SUCCESS) {
        get->op.status = answer_made(&get->lookup, made, &get->op.value);
    } else if (get->op.status == PMIX_ERR_NOT_FOUND && is_one) {
        get->op.status = member_take(get, name, wanted->rank);
        if (get->op.status == PMIX_SUCCESS) {
            get->op.status = look_first(&get->lookup, &get->op.value);
        }
    } else if (get->op.status == PMIX_ERR_NOT_FOUND && wanted->key != NULL && !wanted->reserved) {
        get->op.status = members_look(get, name);
    }
    return true;
}

/* The same; true when the Get has ended with it. */
static bool alias_ends(struct get *get)
{
    return alias_look(get) && !(get->is_member && get->op.status == PMIX_ERR_NOT_FOUND);
}

/* Announced data belongs to the data that a process has from the start, although PMIx_Init did not
 * wait for it.  So the Get waits here, wherever it may search.  Return: as get_finish. */
static bool get_miss(struct get *get)
{
    get->is_early = sx_lookup_is_coming(&get->lookup);
    get->op.status = get->is_early ? sx_link_status(sx_primary()) : worth_asking(&get->lookup);
    if (get->op.status == PMIX_SUCCESS) {
        return get_ask(get);
    }
    if (get->op.status == PMIX_ERR_NOT_FOUND && host_may_know(&get->lookup)) {
        get->is_hosts = true;
        return get_ask(get);
    }
    if (get->op.status == PMIX_ERR_NOT_FOUND && sx_lookup_wants_topology(&get->lookup)) {
        get->op.status = look_fresh(&get->lookup, &get->op.value); /* it may just have arrived */
    }
    return true;
}

/* The Get waits for a store, on the progress thread too.  An unknown namespace may be a connected
 * one: the lists are searched first if that costs no message.  Return: as get_finish. */
static bool get_fetch(struct get *get)
{
    const bool is_met = is_mapped(&get->lookup), at_hand = !is_met && sx_members_are_at_hand();

    if (at_hand && alias_ends(get)) {
        return true;
    }
    get->op.status = fetch_foreign(&get->lookup);
    /* An optional Get has searched the lists by now, if its namespace was at hand. */
    if (get->op.status == PMIX_ERR_NOT_FOUND && !is_met && !at_hand &&
        (!get->lookup.wanted.options.optional || sx_members_are_at_hand())) {
        if (alias_ends(get)) {
            return true;
        }
        get->op.status = fetch_foreign(&get->lookup);
    }
    if (get->op.status == PMIX_SUCCESS) {
        get->op.status = look_first(&get->lookup, &get->op.value);
    }
    if (get->op.status == PMIX_ERR_NOT_FOUND) {
        return get_miss(get);
    }
    return true;
}

/* The Get has waited for a place, and its value may have arrived meanwhile.  Return: as
 * get_finish. */
static bool get_let_in(struct get *get)
{
    if (get->op.status == PMIX_ERR_TIMEOUT) {
        return true;
    }
    get->op.status = look_first(&get->lookup, &get->op.value);
    if (get->op.status == PMIX_ERR_NOT_FOUND) {
        return get_send(get);
    }
    sx_gate_leave();
    return true;
}

static bool get_finish(struct sx_op *op)
{
    struct get *const get = SX_CONTAINER(op, struct get, op);

    if (get->stage == GET_LOOKED) {
        return op->status != PMIX_ERR_NOT_FOUND || get_fetch(get);
    }
    if (get->stage == GET_QUEUED) {
        return get_let_in(get);
    }
    if (!op->done) { /* there will be no answer */
        sx_gate_leave();
    }
    if (op->status == PMIX_SUCCESS || (op->status == PMIX_ERR_NOT_FOUND && get->is_early)) {
        op->status = look_again(&get->lookup, &op->value);
    } else if (get->is_hosts) {
        op->status = PMIX_ERR_NOT_FOUND; /* for whatever reason the host has not given it */
    }
    if (get->is_hosts && op->status == PMIX_ERR_NOT_FOUND) {
        vain_add(&get->lookup);
    }
    return true;
}

static void get_answered(struct sx_op *op, const struct sx_frame *frame)
{
    (void)op;
    (void)frame;
    sx_gate_leave_locked();
}

static void value_free(struct sx_op *op)
{
    if (op->value != NULL) {
        sx_value_destruct(op->value);
        free(op->value);
    }
}

static void get_release(struct sx_op *op)
{
    if (!SX_CONTAINER(op, struct get, op)->lookup.wanted.options.is_pointers) {
        value_free(op);
    }
}

static const struct sx_op_kind get_kind = { .request = SX_MSG_GET,
                                            .cancel = SX_MSG_GET_CANCEL,
                                            .answered = get_answered,
                                            .finish = get_finish,
                                            .release = get_release };

/* ---- PMIx_Get ----------------------------------------------------------------------------- */

/* Not in what is mapped so far. */
static pmix_status_t get_missed(const struct sx_lookup *lookup, pmix_value_t **ret)
{
    struct get here = { .op = SX_OP_INIT(&get_kind, sx_primary(),
                                         .value = lookup->wanted.options.is_static ? *ret : NULL),
                        .lookup = *lookup };
    const pmix_status_t rc = sx_op_answer(&here.op, PMIX_ERR_NOT_FOUND);

    if (rc == PMIX_SUCCESS) {
        *ret = here.op.value;
    }
    return rc;
}

/* Answers that follow from the list itself: see alias_look. */
static pmix_status_t alias_ask(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                               size_t ninfo, pmix_value_t **val)
{
    struct sx_lookup lookup = { .nspace = proc->nspace };
    pmix_value_t made;
    pmix_status_t rc = sx_wanted_read(&lookup.wanted, SX_OF_GET_BY_HOST, proc->rank, key, info,
                                      ninfo);

    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_size(proc->nspace) != 0 ? sx_alias_find(proc->nspace, &lookup.wanted, &made)
                                              : PMIX_ERR_NOT_FOUND;
    }
    return rc == PMIX_SUCCESS ? answer_made(&lookup, made, val) : rc;
}

/* A server's answer, from its own data. */
static pmix_status_t server_ask(const struct sx_role_server *server, const pmix_proc_t *proc,
                                const char *key, const pmix_info_t info[], size_t ninfo,
                                pmix_value_t **val)
{
    const pmix_status_t rc = server->get(proc, key, info, ninfo, val);

    return rc == PMIX_ERR_NOT_FOUND && proc != NULL && proc->nspace[0] != '\0'
               ? alias_ask(proc, key, info, ninfo, val)
               : rc;
}

static pmix_status_t get(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                         size_t ninfo, pmix_value_t **val)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct sx_lookup lookup;

    if (__builtin_expect(server != NULL, 0)) {
        const pmix_status_t rc = server_ask(server, proc, key, info, ninfo, val);

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

static size_t size_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

/* Return: @text at *@at, which moves on; NULL for NULL. */
static const char *string_keep(char **at, const char *text)
{
    char *const kept = *at;

    if (text == NULL) {
        return NULL;
    }
    *at += size_of(text);
    return memcpy(kept, text, size_of(text));
}

/* In memory of its own, with its strings. */
static struct get *get_new(const struct sx_lookup *lookup, struct sx_callback callback)
{
    const struct sx_wanted *const wanted = &lookup->wanted;
    struct get *const get = malloc(sizeof(*get) + size_of(lookup->nspace) + size_of(wanted->key) +
                                   size_of(wanted->options.hostname));

    if (get != NULL) {
        char *at = get->strings;

        *get = (struct get){ .op = SX_OP_INIT(&get_kind, sx_primary(), .callback = callback),
                             .lookup = *lookup };
        get->lookup.nspace = string_keep(&at, lookup->nspace);
        get->lookup.wanted.key = string_keep(&at, wanted->key);
        get->lookup.wanted.options.hostname = string_keep(&at, wanted->options.hostname);
    }
    return get;
}

/* A process that is only a server: its own answer. */
static pmix_status_t get_nb_server(const struct sx_role_server *server, const pmix_proc_t *proc,
                                   const char *key, const pmix_info_t info[], size_t ninfo,
                                   struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op), .release = value_free };
    struct sx_op here = SX_OP_INIT(&kind, sx_primary(), .callback = callback), *op = &here;
    const pmix_status_t status = server_ask(server, proc, key, info, ninfo, &here.value);

    if (status == PMIX_ERR_BAD_PARAM) {
        return status;
    }
    const pmix_status_t rc = sx_op_open(&op);
    if (rc != PMIX_SUCCESS) {
        value_free(&here);
        return rc;
    }
    return sx_op_answer(op, status);
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                          size_t ninfo, pmix_value_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_VALUE, value, cbfunc, cbdata,
                                                    .alone = !sx_process_ready());
    struct sx_lookup lookup;

    if (cbfunc == NULL) {
        return sx_process_misused();
    }
    if (callback.alone) {
        return server == NULL ? PMIX_ERR_INIT
                              : get_nb_server(server, proc, key, info, ninfo, callback);
    }
    pmix_status_t rc = sx_lookup_init(&lookup, proc, key, info, ninfo);
    if (rc == PMIX_SUCCESS && lookup.wanted.options.is_static) {
        rc = PMIX_ERR_BAD_PARAM; /* there is no storage to fill */
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_progress_start();
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct get *const get = get_new(&lookup, callback);
    if (get == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t status = look_first(&get->lookup, &get->op.value);
    return sx_op_answer(&get->op, status);
}
