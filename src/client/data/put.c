/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* put.c - PMIx_Put, PMIx_Commit, PMIx_Store_internal.
 *
 *     put --> private store (own Gets see it) and list of messages --commit--> lane --> server
 *
 * The list has the message of a value, or the box of its newest value: so it is bounded by the
 * number of keys, however often they are put.  A put that takes a key away leaves it a box, perhaps
 * an empty one.  The commit of that box sends first which scope loses the key.
 *
 * A commit makes no system call unless a process waits for this rank's data, the lane is full, or a
 * value is too large for the lane.  A large value is sent over control, and the next one only after
 * its answer, so that the server sees all values in the order of the puts.  For the same reason the
 * commits of several threads are serialised; other records may be appended to the lane
 * meanwhile. */
#include "client/data/data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "client/data/view.h"
#include "client/link/op.h"
#include "client/link/wait.h"

#define SX_PUTS_FIRST_BYTES 4096u
#define SX_PUTS_BOX UINT64_MAX /* instead of a message's length: a struct sx_box * follows */
#define SX_PUTS_KEEP_BYTES (64u << 10) /* a larger list is freed once it is committed */

/* ---- the list ----------------------------------------------------------------------------- */

static pmix_status_t puts_reserve(struct sx_puts *puts, size_t more)
{
    size_t want, size = puts->size_bytes != 0 ? puts->size_bytes : SX_PUTS_FIRST_BYTES;

    if (!sx_add_size(puts->used_bytes, more, &want)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    while (size < want && size <= SIZE_MAX / 2) {
        size *= 2;
    }
    if (size < want) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (size > puts->size_bytes) {
        uint8_t *const bytes = realloc(puts->bytes, size);

        if (bytes == NULL) {
            return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                            "no memory for %zu bytes of values put and not committed", size);
        }
        puts->bytes = bytes;
        puts->size_bytes = size;
    }
    return PMIX_SUCCESS;
}

/* A message must fit in one request. */
static pmix_status_t put_size_judge(const char *key, size_t key_len, uint64_t body_bytes)
{
    const uint64_t head = sizeof(struct sx_lane_put) + sx_align_up(key_len, 8);

    if (body_bytes > SX_VALUE_BYTES_MAX - head) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a value of %" PRIu64 " bytes for \"%s\": the largest is %" PRIu64
                        "; put it in parts",
                        body_bytes, key, SX_VALUE_BYTES_MAX - head);
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_puts_append(struct sx_puts *puts, pmix_scope_t scope, const char *key,
                             size_t key_len, const pmix_value_t *value, struct sx_cell *ret_cell,
                             const void **ret_body)
{
    const size_t key_bytes = sx_align_up(key_len, 8);
    struct sx_lane_put put = { .key_len = (uint16_t)key_len, .scope = scope };
    size_t body_bytes;
    pmix_status_t rc = sx_flat_size(value, &body_bytes);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const uint64_t len = sizeof(put) + key_bytes + body_bytes;
    rc = put_size_judge(key, key_len, body_bytes);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = puts_reserve(puts, sizeof(len) + len);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    uint8_t *const at = puts->bytes + puts->used_bytes;
    uint8_t *const key_at = at + sizeof(len) + sizeof(put);
    rc = sx_flat_encode(value, &put.cell, key_at + key_bytes, body_bytes);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    memcpy(at, &len, sizeof(len));
    memcpy(at + sizeof(len), &put, sizeof(put));
    memset(key_at, 0, key_bytes);
    memcpy(key_at, key, key_len);
    puts->used_bytes += sizeof(len) + len;
    *ret_cell = put.cell;
    *ret_body = put.cell.len != 0 ? key_at + key_bytes : NULL;
    return PMIX_SUCCESS;
}

void sx_puts_deinit(struct sx_puts *puts)
{
    free(puts->bytes);
    *puts = (struct sx_puts){ 0 };
}

static pmix_status_t puts_append_box(struct sx_puts *puts, struct sx_box *box)
{
    const uint64_t mark = SX_PUTS_BOX, at = (uintptr_t)box;
    const pmix_status_t rc = puts_reserve(puts, sizeof(mark) + sizeof(at));

    if (rc == PMIX_SUCCESS) {
        memcpy(puts->bytes + puts->used_bytes, &mark, sizeof(mark));
        memcpy(puts->bytes + puts->used_bytes + sizeof(mark), &at, sizeof(at));
        puts->used_bytes += sizeof(mark) + sizeof(at);
        box->pending = true;
    }
    return rc;
}

/* ---- puts from before there was a server -------------------------------------------------- */

struct gathering {
    struct sx_process *p;
    pmix_status_t status;
};

static bool is_for_others(const struct sx_item *item)
{
    const pmix_scope_t scope = sx_item_scope(item);

    return item->cell.type != PMIX_UNDEF && scope >= PMIX_LOCAL && scope <= PMIX_GLOBAL;
}

/* A value of the private store as a message, or its box. */
static bool gather_value(void *arg, const char *key, const struct sx_item *found)
{
    struct gathering *const all = arg;
    struct sx_puts *const puts = &all->p->puts;
    struct sx_box *const box = sx_box_of(found);
    const size_t key_len = strlen(key), key_bytes = sx_align_up(key_len, 8);
    struct sx_item item = *found;

    sx_box_open(&item, false);
    if (!is_for_others(&item)) {
        return true;
    }
    if (box != NULL) {
        all->status = box->pending ? PMIX_SUCCESS : puts_append_box(puts, box);
        return all->status == PMIX_SUCCESS;
    }
    struct sx_lane_put put = { .cell = item.cell,
                               .key_len = (uint16_t)key_len,
                               .scope = sx_item_scope(&item) };
    const size_t body_bytes = sx_align_up(item.cell.len, 8);
    const uint64_t len = sizeof(put) + key_bytes + body_bytes;
    all->status = puts_reserve(puts, sizeof(len) + len);
    if (all->status != PMIX_SUCCESS) {
        return false;
    }
    uint8_t *const at = puts->bytes + puts->used_bytes;
    put.cell.flags &= (uint16_t)~SX_CELL_SCOPE_MASK;
    memset(at, 0, sizeof(len) + len);
    memcpy(at, &len, sizeof(len));
    memcpy(at + sizeof(len), &put, sizeof(put));
    memcpy(at + sizeof(len) + sizeof(put), key, key_len);
    if (item.cell.len != 0) {
        memcpy(at + sizeof(len) + sizeof(put) + key_bytes, item.body, item.cell.len);
    }
    puts->used_bytes += sizeof(len) + len;
    return true;
}

/* A qualified value as it was put. */
static bool gather_qualified(void *arg, const char *name, const struct sx_item *found)
{
    struct gathering *const all = arg;
    struct sx_item item = *found;
    struct sx_cell cell;
    const void *body;
    pmix_value_t value;

    sx_box_open(&item, false);
    if (!is_for_others(&item)) {
        return true;
    }
    all->status = sx_qualified_whole(&all->p->own->writer.view, name, &item, &value);
    if (all->status == PMIX_SUCCESS) {
        all->status = sx_puts_append(&all->p->puts, sx_item_scope(&item), PMIX_QUALIFIED_VALUE,
                                     strlen(PMIX_QUALIFIED_VALUE), &value, &cell, &body);
        sx_value_destruct(&value);
    }
    return all->status == PMIX_SUCCESS;
}

pmix_status_t sx_puts_gather_locked(struct sx_process *p)
{
    struct gathering all = { .p = p, .status = PMIX_SUCCESS };
    const struct sx_store *const store = &p->own->writer.view;

    if (p->own->has_writer) {
        sx_store_each(store, SX_REALM_JOB, p->self.rank, gather_value, &all);
        if (all.status == PMIX_SUCCESS) {
            sx_store_each(store, SX_REALM_QUALIFIED, p->self.rank, gather_qualified, &all);
        }
    }
    return all.status;
}

/* ---- put ----------------------------------------------------------------------------------- */

/* Whether a put is for others, and there are any.  data_lock is held: under it a singleton that
 * joins a server collects the puts that no server has received. */
static bool notified_locked(pmix_scope_t scope)
{
    /* relaxed: a link lost meanwhile makes the commit fail instead. */
    return scope != PMIX_INTERNAL && scope != PMIX_DEL_INTERNAL &&
           atomic_load_explicit(&sx_primary()->state, memory_order_relaxed) == SX_LINK_LIVE;
}

/* Put into the private store, and into the list if it is for others; data_lock is held. */
static pmix_status_t put_locked(struct sx_process *p, struct sx_view_put *put,
                                const pmix_value_t *value, bool notified)
{
    const size_t before = p->puts.used_bytes;
    struct sx_box *box = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (put->owned == NULL) {
        rc = sx_puts_append(&p->puts, put->scope, put->key, put->key_len, value, &put->cell,
                            &put->body);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_view_put_locked(p->own, put, &box);
    }
    if (rc != PMIX_SUCCESS || box != NULL || !notified) {
        p->puts.used_bytes = before;
    }
    return rc == PMIX_SUCCESS && box != NULL && notified && !box->pending
               ? puts_append_box(&p->puts, box)
               : rc;
}

/* The server splits the message into its parts. */
static pmix_status_t qualified_size_judge(const struct sx_cell *cell, const void *body)
{
    const pmix_status_t rc = sx_flat_check_within(cell, body, cell->len,
                                                  SX_QUALIFIED_HEAP_MAX(cell->len));
    struct sx_flat_first first;

    if (rc == PMIX_SUCCESS && cell->len > SX_QUALIFIERS_BYTES_MAX &&
        sx_flat_infos_first(&first, cell, body) &&
        sx_qualifiers_bytes(&first) > SX_QUALIFIERS_BYTES_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "qualifiers of %" PRIu64 " bytes for a long value: at most %" PRIu64
                        ", because they are part of a name",
                        sx_qualifiers_bytes(&first), SX_QUALIFIERS_BYTES_MAX);
    }

    return rc == PMIX_ERR_OUT_OF_RESOURCE
               ? SX_RAISE(rc,
                          "a value with so many qualifiers or parts that it unfolds from %" PRIu32
                          " bytes to more than %" PRIu64 ": give fewer",
                          cell->len, SX_QUALIFIED_HEAP_MAX(cell->len))
               : rc;
}

/* The message has the whole value; the private store has the parts.  data_lock is held. */
static pmix_status_t put_qualified_locked(struct sx_process *p, const struct sx_view_put *put,
                                          const struct sx_qualified *qualified,
                                          const pmix_value_t *value, bool notified)
{
    const size_t before = p->puts.used_bytes;
    struct sx_cell cell;
    const void *body;
    pmix_status_t rc = PMIX_SUCCESS;

    if (notified) {
        rc = sx_puts_append(&p->puts, put->scope, put->key, put->key_len, value, &cell, &body);
        rc = rc == PMIX_SUCCESS ? qualified_size_judge(&cell, body) : rc;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_view_put_qualified_locked(p->own, put->row, put->scope, qualified);
    }
    if (rc != PMIX_SUCCESS) {
        p->puts.used_bytes = before;
    }
    return rc;
}

/* A large value is flattened once, into the body that its box will have. */
static pmix_status_t put_flatten(struct sx_view_put *put, const pmix_value_t *value)
{
    size_t size;
    pmix_status_t rc = sx_flat_size(value, &size);

    if (rc != PMIX_SUCCESS || size < SX_BOX_LARGE_BYTES) {
        return rc;
    }
    rc = put_size_judge(put->key, put->key_len, size);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    put->owned = sx_body_new(size);
    if (put->owned == NULL) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no memory for a value of %zu bytes", size);
    }
    rc = sx_flat_encode(value, &put->cell, put->owned->bytes, size);
    if (rc != PMIX_SUCCESS) {
        sx_body_drop(put->owned);
    }
    return rc;
}

/* The box of the key stands for its end in the list, too. */
static pmix_status_t put_taken(struct sx_process *p, struct sx_view_put *put)
{
    struct sx_box *box;

    put->scope = sx_scope_taken(put->scope);
    if (PMIx_Check_reserved_key(put->key) &&
        (put->scope != PMIX_INTERNAL || strcmp(put->key, PMIX_QUALIFIED_VALUE) == 0)) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "\"%s\" cannot be taken away: the host may have given it", put->key);
    }
    const pmix_scope_t scope = put->scope;
    pthread_mutex_lock(&p->data_lock);
    pmix_status_t rc = sx_view_withdraw_locked(p->own, put, &box);
    if (rc == PMIX_SUCCESS && box != NULL && notified_locked(scope) && !box->pending) {
        rc = puts_append_box(&p->puts, box);
    }
    pthread_mutex_unlock(&p->data_lock);
    return rc;
}

static pmix_status_t put_check(pmix_scope_t scope, const char *key, const pmix_value_t *val,
                               size_t *ret_key_len)
{
    if (!sx_key_is_valid(key, ret_key_len)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "PMIx_Put: the key is NULL, empty, or longer than %u bytes",
                        PMIX_MAX_KEYLEN);
    }
    if (scope < PMIX_LOCAL || scope > PMIX_DEL_INTERNAL) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIx_Put of \"%s\": %u is no scope", key, scope);
    }
    if (val == NULL && !sx_scope_takes(scope)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIx_Put of \"%s\": there is no value", key);
    }
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Put(pmix_scope_t scope, const char *key, pmix_value_t *val)
{
    struct sx_process *const p = &sx_process;
    struct sx_view_put put = { .realm = SX_REALM_JOB, .key = key, .scope = scope };
    struct sx_qualified qualified;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t refused = put_check(scope, key, val, &put.key_len);
    if (refused != PMIX_SUCCESS) {
        return refused;
    }
    put.row = p->self.rank;
    if (sx_scope_takes(scope)) {
        return put_taken(p, &put);
    }
    const bool is_qualified = strcmp(key, PMIX_QUALIFIED_VALUE) == 0;
    pmix_status_t rc = is_qualified ? sx_qualified_read(&qualified, val) : put_flatten(&put, val);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->data_lock);
    const bool notified = notified_locked(scope);
    rc = is_qualified ? put_qualified_locked(p, &put, &qualified, val, notified)
                      : put_locked(p, &put, val, notified);
    pthread_mutex_unlock(&p->data_lock);
    return rc;
}

/* ---- commit ------------------------------------------------------------------------------- */

/* One message in parts, through the lane or, if it is too large for that, as a PUT_BULK body. */
static pmix_status_t commit_message(struct sx_link *link, const struct iovec *iov, int iov_count)
{
    uint64_t len = 0;

    for (int i = 0; i < iov_count; i++) {
        len += iov[i].iov_len;
    }
    if (len <= SX_LANE_MESSAGE_MAX) {
        return sx_lane_submit(link, SX_LANE_PUT, iov, iov_count);
    }
    struct sx_op op = SX_OP_INIT(&sx_op_plain, link);

    pthread_mutex_unlock(&link->lane_lock);
    const pmix_status_t rc = sx_request(&op, SX_MSG_PUT_BULK, iov, iov_count,
                                        sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));

    pthread_mutex_lock(&link->lane_lock);
    return rc;
}

/* Send which scope loses the key. */
static pmix_status_t commit_taken(struct sx_link *link, const struct sx_box *box,
                                  pmix_scope_t taken)
{
    struct sx_lane_put put = { .key_len = (uint16_t)box->key_len, .scope = sx_scope_taking(taken) };
    const struct iovec iov[2] = { { &put, sizeof(put) },
                                  { (void *)(uintptr_t)box->key, sx_align_up(box->key_len, 8) } };

    return commit_message(link, iov, 2);
}

/* Send the value that the box has now, which may be newer than the commit. */
static pmix_status_t commit_box(struct sx_link *link, struct sx_box *box)
{
    struct sx_lane_put put = { .key_len = (uint16_t)box->key_len };
    struct sx_body *body;
    struct iovec iov[3];

    pthread_mutex_lock(&sx_process.data_lock);
    const pmix_scope_t taken = box->taken;
    put.cell = box->cell;
    body = box->body;
    if (body != NULL) {
        body->references++;
    }
    pthread_mutex_unlock(&sx_process.data_lock);
    put.scope = (uint8_t)((put.cell.flags & SX_CELL_SCOPE_MASK) >> SX_CELL_SCOPE_SHIFT);
    put.cell.flags &= (uint16_t)~SX_CELL_SCOPE_MASK;
    iov[0] = (struct iovec){ &put, sizeof(put) };
    iov[1] = (struct iovec){ box->key, sx_align_up(box->key_len, 8) };
    iov[2] = (struct iovec){ body != NULL ? body->bytes : NULL, sx_align_up(put.cell.len, 8) };
    pmix_status_t rc = taken != PMIX_SCOPE_UNDEF ? commit_taken(link, box, taken) : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS && put.cell.type != PMIX_UNDEF && put.scope != PMIX_INTERNAL) {
        rc = commit_message(link, iov, body != NULL ? 3 : 2);
    }
    pthread_mutex_lock(&sx_process.data_lock);
    sx_body_drop(body);
    pthread_mutex_unlock(&sx_process.data_lock);
    return rc;
}

/* The box that an entry of the list stands for, NULL when it is a message; its length and the rest
 * of the entry. */
static struct sx_box *puts_next(const struct sx_puts *puts, size_t *off, uint64_t *ret_len,
                                uint8_t **ret_bytes)
{
    uint64_t word;

    memcpy(&word, puts->bytes + *off, sizeof(word));
    *ret_bytes = puts->bytes + *off + sizeof(word);
    *ret_len = word == SX_PUTS_BOX ? sizeof(word) : word;
    *off += sizeof(word) + *ret_len;
    if (word != SX_PUTS_BOX) {
        return NULL;
    }
    memcpy(&word, *ret_bytes, sizeof(word));
    return (struct sx_box *)(uintptr_t)word;
}

/* Take the list; puts from now on are for the next commit. */
static void puts_take(struct sx_process *p, struct sx_puts *ret_puts)
{
    uint8_t *bytes;
    uint64_t len;

    pthread_mutex_lock(&p->data_lock);
    if (p->puts.used_bytes != 0) {
        *ret_puts = p->puts;
        p->puts = (struct sx_puts){ 0 };
    }
    for (size_t off = 0; off < ret_puts->used_bytes;) {
        struct sx_box *const box = puts_next(ret_puts, &off, &len, &bytes);

        if (box != NULL) {
            box->pending = false;
        }
    }
    pthread_mutex_unlock(&p->data_lock);
}

static bool commit_has_ended(void *arg)
{
    const struct sx_link *const link = arg;

    /* relaxed: decided under lane_lock, by the first commit. */
    return !atomic_load_explicit(&link->committing, memory_order_relaxed);
}

/* Wait until the commit of another thread has ended: the server then has all puts before this
 * commit, no matter which commit sent them.  lane_lock is given back meanwhile. */
static pmix_status_t commit_begin(struct sx_link *link)
{
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && !commit_has_ended(link)) {
        link->commit_waiters++;
        pthread_mutex_unlock(&link->lane_lock);
        rc = sx_wait_until(link, commit_has_ended, link, 0, SX_DEADLINE_NEVER);
        pthread_mutex_lock(&link->lane_lock);
        link->commit_waiters--;
        if (rc == PMIX_SUCCESS && sx_link_status(link) != PMIX_SUCCESS) {
            rc = PMIX_ERR_LOST_CONNECTION; /* which may have ended the other commit, too */
        }
    }
    if (rc == PMIX_SUCCESS) {
        atomic_store_explicit(&link->committing, true, memory_order_relaxed);
    }
    return rc;
}

static void commit_end(struct sx_link *link)
{
    atomic_store_explicit(&link->committing, false, memory_order_relaxed);
    if (link->commit_waiters != 0) {
        pthread_cond_broadcast(&link->commit_over);
        pthread_mutex_lock(&sx_process.lock);
        sx_local_ring_locked();
        pthread_mutex_unlock(&sx_process.lock);
    }
}

/* The last value carries a mark that it is the last, unless it is in a box, which may send nothing
 * at all.  A refused value does not delay the others.  Return: PMIX_SUCCESS, the first error. */
static pmix_status_t commit_send(struct sx_link *link, const struct sx_puts *puts)
{
    pmix_status_t first = PMIX_SUCCESS, rc = PMIX_SUCCESS;
    bool said = false;

    for (size_t off = 0; off < puts->used_bytes && sx_link_is_live(link);) {
        uint8_t *bytes;
        uint64_t len;
        struct sx_box *const box = puts_next(puts, &off, &len, &bytes);
        const struct iovec iov = { bytes, len };

        if (box == NULL && off == puts->used_bytes) {
            ((struct sx_lane_put *)(void *)bytes)->flags = SX_PUT_LAST;
            said = true;
        }
        rc = box != NULL ? commit_box(link, box) : commit_message(link, &iov, 1);
        first = first == PMIX_SUCCESS ? rc : first;
    }
    if (!said || rc != PMIX_SUCCESS) { /* else the last one has been taken */
        rc = sx_lane_submit(link, SX_LANE_COMMIT_END, NULL, 0);
    }
    return first == PMIX_SUCCESS ? rc : first;
}

/* The list's memory serves the next puts unless it is large or they have begun already. */
static void puts_give_back(struct sx_process *p, struct sx_puts *puts)
{
    puts->used_bytes = 0;
    pthread_mutex_lock(&p->data_lock);
    if (p->puts.bytes == NULL && puts->size_bytes <= SX_PUTS_KEEP_BYTES) {
        p->puts = *puts;
        *puts = (struct sx_puts){ 0 };
    }
    pthread_mutex_unlock(&p->data_lock);
    sx_puts_deinit(puts);
}

static pmix_status_t commit_all(struct sx_link *link)
{
    struct sx_puts puts = { 0 };

    puts_take(&sx_process, &puts);
    /* The first commit is sent even if it is empty, so that processes that wait for this rank do
     * not wait for ever. */
    if (puts.used_bytes == 0 && link->committed) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = commit_send(link, &puts);
    link->committed = link->committed || rc == PMIX_SUCCESS;
    /* Pairs with waiting_gets.c: either this process sees that a Get waits, or the server sees what
     * was appended: it sets that mark before it reads the lane.  A gateway wakes the server in any
     * case: when the rank's next message comes, the values are in the store. */
    if (sx_link_is_live(link) && (sx_lane_data_wanted(&link->lane) || sx_process.is_gateway)) {
        sx_lane_doorbell(&link->lane);
    }
    puts_give_back(&sx_process, &puts);
    return rc;
}

pmix_status_t PMIx_Commit(void)
{
    struct sx_link *const link = sx_primary();

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_link_status(link);
    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_UNREACH ? PMIX_SUCCESS : rc; /* a singleton commits to no server */
    }
    pthread_mutex_lock(&link->lane_lock);
    rc = commit_begin(link);
    if (rc == PMIX_SUCCESS) {
        rc = commit_all(link);
        commit_end(link);
    }
    pthread_mutex_unlock(&link->lane_lock);
    /* Small values of this commit may still be lost: the next fence or commit returns that. */
    const pmix_status_t lost = sx_link_is_live(link) ? sx_link_values_judge(link) : PMIX_SUCCESS;
    return rc == PMIX_SUCCESS ? lost : rc;
}

/* ---- data of this process alone ----------------------------------------------------------- */

pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key, pmix_value_t *val)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct sx_view *view;
    size_t key_len;

    if (server == NULL && !sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (!sx_proc_is_valid(proc) || !sx_key_is_valid(key, &key_len) || val == NULL ||
        (proc->rank >= PMIX_RANK_VALID && proc->rank != PMIX_RANK_WILDCARD)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (server != NULL) {
        const pmix_status_t rc = server->store_internal(proc, key, val);

        if (rc != PMIX_SUCCESS || !sx_process_ready()) {
            return rc;
        }
    }
    const char *const nspace = proc->nspace[0] != '\0' ? proc->nspace : sx_process.self.nspace;
    const pmix_status_t rc = sx_view_obtain(nspace, &view);
    return rc == PMIX_SUCCESS ? sx_view_store(view, proc->rank, key, PMIX_INTERNAL, val) : rc;
}
