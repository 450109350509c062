/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* put.c - PMIx_Put, PMIx_Commit, PMIx_Store_internal.
 *
 *     put --> private store (own Gets see it) and list of messages --commit--> lane --> server
 *
 * A commit makes no system call unless somebody waits for this rank's data, the lane is full, or a
 * value is too large for the lane: that one goes over control, and the next only after its answer,
 * so that the server sees all values in the order of the puts. */
#include "client/put.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/flat.h"
#include "base/role.h"
#include "base/status.h"
#include "client/progress.h"
#include "ring/record.h"

#define SX_PUTS_FIRST_BYTES 4096u
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
    if (len > SX_BULK_MAX - sizeof(len)) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a value of %zu bytes for \"%s\"; the largest is 1 GiB", body_bytes, key);
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

pmix_status_t PMIx_Put(pmix_scope_t scope, const char *key, pmix_value_t *val)
{
    struct sx_process *const p = &sx_process;
    struct sx_cell cell;
    const void *body;
    size_t key_len;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (!sx_key_is_valid(key, &key_len) || val == NULL || scope < PMIX_LOCAL ||
        scope > PMIX_INTERNAL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pthread_mutex_lock(&p->data_lock);
    const size_t before = p->puts.used_bytes;
    pmix_status_t rc = sx_puts_append(&p->puts, scope, key, key_len, val, &cell, &body);
    if (rc == PMIX_SUCCESS) {
        rc = sx_view_store_flat_locked(p->own, p->self.rank, key, scope, &cell, body);
    }
    /* relaxed: a link lost meanwhile makes the commit fail instead. */
    if (rc != PMIX_SUCCESS || scope == PMIX_INTERNAL ||
        atomic_load_explicit(&p->link, memory_order_relaxed) != SX_LINK_LIVE) {
        p->puts.used_bytes = before; /* nobody to tell */
    }
    pthread_mutex_unlock(&p->data_lock);
    return rc;
}

/* ---- commit ------------------------------------------------------------------------------- */

struct lane_room {
    const _Atomic uint64_t *head;
    uint64_t seen;
};

static bool lane_has_moved(void *arg)
{
    const struct lane_room *room = arg;

    /* relaxed: whether there is room is decided by the next append. */
    return atomic_load_explicit(room->head, memory_order_relaxed) != room->seen;
}

pmix_status_t sx_lane_submit(uint32_t kind, const struct iovec *iov, int iov_count)
{
    struct sx_process *const p = &sx_process;

    for (;;) {
        pmix_status_t rc = sx_link_status();
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        struct lane_room room = { .head = &p->slot->lane_head };
        /* relaxed: a head read before the append can only be too old. */
        room.seen = atomic_load_explicit(room.head, memory_order_relaxed);
        rc = sx_lane_append(&p->lane, kind, iov, iov_count);
        if (rc != PMIX_ERR_WOULD_BLOCK) {
            return rc;
        }
        sx_lane_doorbell(&p->lane);
        rc = sx_wait_until(lane_has_moved, &room, 0, SX_DEADLINE_NEVER);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

/* One value that is too large for the lane, as a PUT_BULK body. */
static pmix_status_t commit_bulk(const uint8_t *bytes, size_t size)
{
    struct sx_call call = SX_CALL_INIT(NULL);
    /* sendmsg reads only; its iovec has no const. */
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };

    return sx_request(&call, SX_MSG_PUT_BULK, &iov, 1,
                      sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
}

static pmix_status_t commit_send(const struct sx_puts *puts)
{
    size_t off = 0;

    while (off < puts->used_bytes) {
        pmix_status_t rc;
        uint64_t len;

        memcpy(&len, puts->bytes + off, sizeof(len));
        if (len <= SX_LANE_MESSAGE_MAX) {
            const struct iovec iov = { puts->bytes + off + sizeof(len), len };

            rc = sx_lane_submit(SX_LANE_PUT, &iov, 1);
        } else {
            rc = commit_bulk(puts->bytes + off, sizeof(len) + len);
        }
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        off += sizeof(len) + len;
    }
    return sx_lane_submit(SX_LANE_COMMIT_END, NULL, 0);
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

pmix_status_t PMIx_Commit(void)
{
    struct sx_process *const p = &sx_process;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_link_status();
    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_UNREACH ? PMIX_SUCCESS : rc; /* a singleton tells nobody */
    }
    pthread_mutex_lock(&p->lane_lock);
    pthread_mutex_lock(&p->data_lock);
    struct sx_puts puts = { 0 };
    if (p->puts.used_bytes != 0) {
        puts = p->puts;
        p->puts = (struct sx_puts){ 0 };
    }
    pthread_mutex_unlock(&p->data_lock);
    if (puts.used_bytes != 0) {
        rc = commit_send(&puts);
        /* Pairs with modex.c: either we see that somebody waits, or the server, which says so
         * before it looks at our lane, sees what we appended. */
        if (sx_lane_data_wanted(&p->lane)) {
            sx_lane_doorbell(&p->lane);
        }
        puts_give_back(p, &puts);
    }
    pthread_mutex_unlock(&p->lane_lock);
    return rc;
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
