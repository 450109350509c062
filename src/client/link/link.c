/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* link.c - arrivals from a server, and the end of the link to it: the pump, under lock. */
#include "client/link/link.h"

#include <inttypes.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "client/link/wait.h"
#include "ring/record.h"

#define SX_RESULTS_SEND_NS (5 * SX_NS_PER_SEC)

pmix_status_t sx_link_fault(const struct sx_link *link)
{
    /* acquire: the mappings exist when the link does. */
    switch (atomic_load_explicit(&link->state, memory_order_acquire)) {
    case SX_LINK_LIVE:
        return PMIX_SUCCESS;
    case SX_LINK_LOST:
        return PMIX_ERR_LOST_CONNECTION;
    case SX_LINK_DETACHED:
        return PMIX_ERR_NOT_AVAILABLE;
    default:
        return PMIX_ERR_UNREACH;
    }
}

bool sx_link_pids_are_ours(const struct sx_link *link)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);

    /* 0: the process is in a pid namespace that this process does not see. */
    return getsockopt(link->socket_fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.pid > 0;
}

pmix_status_t sx_link_values_judge(struct sx_link *link)
{
    const uint32_t lost = sx_lane_values_lost(&link->lane);
    /* relaxed: a count; the exchange gives each loss to one caller. */
    uint32_t reported = atomic_load_explicit(&link->values_lost_reported, memory_order_relaxed);

    if (lost == reported) {
        return PMIX_SUCCESS;
    }
    reported = atomic_exchange_explicit(&link->values_lost_reported, lost, memory_order_relaxed);
    if (lost == reported) {
        return PMIX_SUCCESS;
    }
    /* A program that continues logs a line when the count has one more binary digit. */
    return (lost ^ reported) <= reported
               ? PMIX_ERR_OUT_OF_RESOURCE
               : SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "%" PRIu32 " values that were committed are lost by "
                          "now: the server has no room for them (ulimit -f, "
                          "memory); its log has more",
                          lost);
}

uint32_t sx_link_next_id_locked(struct sx_link *link)
{
    do { /* after 2^32 requests, an old one may still have the number */
        link->ids_again = link->ids_again || link->id_last == UINT32_MAX;
        link->id_last = link->id_last == UINT32_MAX ? 1 : link->id_last + 1;
    } while (link->ids_again && sx_op_find(&link->requests, link->id_last) != NULL);
    return link->id_last;
}

/* ---- its end ------------------------------------------------------------------------------ */

static void fail_all(struct sx_list *ops)
{
    struct sx_list *node;

    while ((node = ops->next) != ops) {
        sx_op_complete(SX_LIST_ENTRY(node, struct sx_op, task.node), PMIX_ERR_LOST_CONNECTION,
                       NULL);
    }
}

bool sx_link_end_locked(struct sx_link *link)
{
    uint32_t live = SX_LINK_LIVE;

    if (!atomic_compare_exchange_strong(&link->state, &live, SX_LINK_LOST)) {
        return false;
    }
    fail_all(&link->requests);
    fail_all(&link->collectives);
    link->collective_count = 0;
    sx_local_ring_locked();
    return true;
}

/* A server that lives has ended the connection by itself: in most cases its host has called for
 * that. */
static void loss_log(const struct sx_process *p, const struct sx_link *link, const char *why)
{
    if (why != NULL) {
        sx_log(SX_LOG_WARN, "the connection of %s.%" PRIu32 " to its server is lost: %s",
               p->self.nspace, p->self.rank, why);
    } else if (sx_board_server_lives(&link->board)) {
        sx_log(SX_LOG_WARN,
               "the server of %s.%" PRIu32 " has ended the connection: its host has removed the "
               "process or its job (PMIx_server_deregister_client, _nspace), or ends the server; "
               "else the server's log has the reason",
               p->self.nspace, p->self.rank);
    } else {
        sx_log(SX_LOG_WARN, "the server of %s.%" PRIu32 " is gone: it has ended", p->self.nspace,
               p->self.rank);
    }
}

void sx_link_lost_locked(struct sx_link *link, const char *why)
{
    const struct sx_process *const p = &sx_process;

    if (!sx_link_end_locked(link)) {
        return;
    }
    if (atomic_load(&p->state) == SX_PROCESS_READY) {
        loss_log(p, link, why);
        SX_INTAKES_NOTIFY(link_lost, link);
    }
}

/* ---- the ring ----------------------------------------------------------------------------- */

static void collective_ended(struct sx_link *link, uint32_t id, pmix_status_t status,
                             uint64_t subject)
{
    struct sx_op *const op = sx_op_find(&link->collectives, id);

    if (op != NULL) {
        link->collective_count--;
        op->subject = subject;
        sx_op_complete(op, status, NULL);
    }
}

/* Return: the entry of our slot, or NULL. */
static const struct sx_record_done_entry *done_find(const struct sx_record_done_entry *entries,
                                                    uint32_t count, uint32_t slot)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;

        if (entries[mid].slot < slot) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < count && entries[low].slot == slot ? &entries[low] : NULL;
}

static void record_done(struct sx_link *link, const void *body, size_t size)
{
    const struct sx_record_done *const done = body;

    if (size < sizeof(*done) || done->count > SX_RECORD_DONE_ENTRIES ||
        size < sizeof(*done) + done->count * sizeof(struct sx_record_done_entry)) {
        SX_INTAKES_NOTIFY(garbled, link,
                          "the end of a collective operation, in a record that is none");
        return;
    }
    const struct sx_record_done_entry *const entry = done_find((const void *)(done + 1),
                                                               done->count, link->slot_index);
    if (entry != NULL) {
        collective_ended(link, entry->op, done->status, done->subject);
    }
}

static void results_ask(struct sx_link *link);

/* Read the newest ends of this process's collectives, which the lost records may have had. */
static void results_answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct sx_link *const link = op->link;
    const struct {
        struct sx_reply reply;
        uint32_t count, reserved;
        struct {
            uint32_t op;
            int32_t status;
            uint64_t subject;
        } ends[];
    } *const body = frame != NULL ? frame->body : NULL;

    link->results_asked = false;
    if (body == NULL || op->status != PMIX_SUCCESS) {
        return;
    }
    if (frame->body_size < sizeof(*body) ||
        body->count > (frame->body_size - sizeof(*body)) / sizeof(body->ends[0])) {
        SX_INTAKES_NOTIFY(garbled, link,
                          "a list of ended collective operations that contradicts itself");
        return;
    }
    for (uint32_t i = 0; i < body->count; i++) {
        collective_ended(link, body->ends[i].op, body->ends[i].status, body->ends[i].subject);
    }
    if (link->results_again) {
        results_ask(link);
    }
}

static const struct sx_op_kind results_kind = { .answered = results_answered };

static void results_ask(struct sx_link *link)
{
    link->results_again = link->results_asked;
    if (link->results_asked || sx_list_empty(&link->collectives)) {
        return;
    }
    link->results_asked = true;
    link->results = (struct sx_op)SX_OP_INIT(&results_kind, link);
    link->results.id = sx_link_next_id_locked(link);
    sx_list_append(&link->requests, &link->results.task.node);
    if (sx_frame_send(link->socket_fd, SX_MSG_RESULTS_GET, link->results.id, NULL, 0,
                      sx_deadline_ns(sx_now_ns(), SX_RESULTS_SEND_NS)) != PMIX_SUCCESS) {
        sx_link_lost_locked(link, "completions were missed and cannot be asked for");
    }
}

static void record_hand_out(struct sx_link *link, const struct sx_record_header *header)
{
    const struct sx_intake *const *const rows = sx_process.intakes;

    for (size_t i = 0; rows[i] != NULL; i++) {
        if (rows[i]->record_kind == header->kind) {
            rows[i]->record(link, header + 1, header->size_bytes - sizeof(*header));
        }
    }
}

static void pump_ring(struct sx_link *link)
{
    const struct sx_record_header *const header = (const void *)sx_process.record;
    const uint32_t classes = 1u << SX_CLASS_COLLECTIVE | link->classes;
    uint64_t lost_count;

    SX_INTAKES_NOTIFY(ring_begin, link);
    for (;;) {
        const pmix_status_t rc = sx_ring_next(&link->cursor, classes, sx_process.record,
                                              &lost_count);

        if (rc == PMIX_SUCCESS && header->kind == SX_RECORD_DONE) {
            record_done(link, header + 1, header->size_bytes - sizeof(*header));
        } else if (rc == PMIX_SUCCESS) {
            record_hand_out(link, header);
        } else if (rc == SX_RING_LOST) {
            SX_INTAKES_NOTIFY(ring_lapped, link);
            results_ask(link);
        } else if (rc == PMIX_ERR_NOT_FOUND) {
            SX_INTAKES_NOTIFY(ring_end, link);
            return;
        } else {
            SX_INTAKES_NOTIFY(garbled, link, "a ring that contradicts itself");
            sx_link_lost_locked(link, "its ring contradicts itself");
            return;
        }
    }
}

/* ---- the socket --------------------------------------------------------------------------- */

/* The answer to an abandoned operation ends here. */
static void frame_take(struct sx_link *link, struct sx_frame *frame)
{
    struct sx_op *const op = sx_op_find(&link->requests, frame->header.id);

    if (frame->header.kind != SX_MSG_REPLY) {
        SX_INTAKES_NOTIFY(garbled, link, "a message that a server does not send");
    } else if (op != NULL && (frame->header.flags & SX_FRAME_MORE) != 0) {
        if (op->windowed) { /* its body has been read */
            op->windowed = false;
            sx_window_free_locked(&link->window);
        }
        if (op->kind->part != NULL) {
            op->kind->part(op, frame);
        }
    } else if (op != NULL) {
        sx_op_complete(op, ((const struct sx_reply *)frame->body)->status, frame);
    }
}

/* The descriptor of the answer did not fit: one request fails, and nothing else. */
static void answer_is_lost(struct sx_link *link, uint32_t id)
{
    struct sx_op *const op = sx_op_find(&link->requests, id);

    if (op != NULL) {
        sx_op_complete(op, PMIX_ERR_OUT_OF_RESOURCE, NULL);
    }
}

static void pump_socket(struct sx_link *link)
{
    struct sx_frame frame;
    /* The server sends first and rings afterwards. */
    const uint32_t bell = sx_door_epoch(&link->slot->bell);

    if (bell == link->bell_seen) {
        return;
    }
    while (!sx_list_empty(&link->requests)) {
        const pmix_status_t rc = sx_frame_receive(link->socket_fd, sx_process.frame, &frame, 0);

        if (rc == PMIX_ERR_WOULD_BLOCK) {
            link->bell_seen = bell;
            return;
        }
        if (rc == PMIX_ERR_LOST_CONNECTION) {
            sx_link_lost_locked(link, NULL);
            return;
        }
        if (rc == PMIX_ERR_OUT_OF_RESOURCE) {
            answer_is_lost(link, frame.header.id);
            continue;
        }
        if (rc != PMIX_SUCCESS) {
            SX_INTAKES_NOTIFY(garbled, link, "a message that could not be received");
            sx_link_lost_locked(link, "its message could not be received");
            return;
        }
        frame_take(link, &frame);
        sx_frame_release(&frame);
    }
}

/* ---- both --------------------------------------------------------------------------------- */

void sx_link_pump_locked(struct sx_link *link)
{
    SX_INTAKES_NOTIFY(look);
    if (!sx_link_is_live(link)) {
        return;
    }
    /* Checked before polling, so that messages which a server wrote before its end are still
     * received. */
    const bool lives = sx_board_server_lives(&link->board);
    /* acquire: what the server sent before it dropped this process is found below. */
    const bool dropped = !sx_board_slot_lives(link->slot, link->slot_claims);

    pump_ring(link);
    pump_socket(link);
    if (!dropped) { /* relaxed: a count */
        SX_INTAKES_NOTIFY(server_lost, link,
                          atomic_load_explicit(&link->slot->events_lost, memory_order_relaxed));
    }
    if (!lives || dropped) {
        sx_link_lost_locked(link, NULL);
    }
    sx_wakefd_write_locked();
}

void sx_links_pump_locked(void)
{
    for (unsigned i = 0; i < sx_process.link_count; i++) {
        sx_link_pump_locked(sx_process.links[i]);
    }
}
