/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* open_ops.c - one list of the rows that are due, in the order of their times, since all delays are
 * equal.
 *
 * A turn of the loop writes few rows, so that many operations at once delay no other work.  There
 * is a timer only while the loop sleeps and a row is due.  A row costs a walk over the operation's
 * members. */
#include "server/collective/collective.h"

#include <string.h>

#include "base/value/value.h"
#include "control/channel.h"

#define ROWS_A_TURN 4u

/* ---- the contents of a row ------------------------------------------------------------------- */

/* Return: the offset of @string in the text; 0: there is no room for it. */
static uint16_t text_add(struct sx_open_op *op, const char *string)
{
    const size_t size = strlen(string) + 1;
    const uint16_t off = op->text_bytes;

    for (uint16_t at = 1; at < op->text_bytes; at += (uint16_t)(strlen(op->text + at) + 1)) {
        if (strcmp(op->text + at, string) == 0) {
            return at;
        }
    }
    if (size > sizeof(op->text) - off) {
        return 0;
    }
    memcpy(op->text + off, string, size);
    op->text_bytes = (uint16_t)(off + size);
    return off;
}

static void procs_list(struct sx_open_op *op, const struct sx_members *members)
{
    op->proc_count = (uint32_t)members->proc_count;
    while (op->procs_listed < SX_OPEN_PROCS && op->procs_listed < members->proc_count) {
        const pmix_proc_t *const proc = &members->procs[op->procs_listed];
        const uint16_t off = text_add(op, proc->nspace);

        if (off == 0) {
            break;
        }
        op->procs[op->procs_listed++] = (struct sx_open_proc){ .rank = proc->rank,
                                                               .nspace_off = off };
    }
}

static bool comes_before(const struct sx_client *client, const struct sx_client *other)
{
    const int order = client->nspace == other->nspace
                          ? 0
                          : strcmp(client->nspace->name, other->nspace->name);

    return order < 0 || (order == 0 && client->rank < other->rank);
}

/* Find the first members, by namespace and rank, that have not arrived.  A member whose end a
 * builder of a group has still to judge may have no namespace any more, and so no name.  Return:
 * how many. */
static size_t missing_find(const struct sx_members *members,
                           const struct sx_client *ret[SX_OPEN_MISSING])
{
    size_t count = 0;

    for (size_t i = 0; i < members->count; i++) {
        const struct sx_client *const client = members->all[i].client;
        size_t at = count;

        if (members->all[i].arrived || client->nspace == NULL) {
            continue;
        }
        while (at > 0 && comes_before(client, ret[at - 1])) {
            at--;
        }
        if (at == SX_OPEN_MISSING) {
            continue;
        }
        count += count < SX_OPEN_MISSING;
        memmove(&ret[at + 1], &ret[at], (count - at - 1) * sizeof(ret[0]));
        ret[at] = client;
    }
    return count;
}

static struct sx_open_missing missing_of(const struct sx_client *client, uint16_t nspace_off)
{
    const bool is_there = client->state == SX_CLIENT_CONNECTED && client->channel != NULL;

    return (struct sx_open_missing){
        .rank = client->rank,
        .pid = is_there ? (uint32_t)client->channel->peer.pid : 0,
        .nspace_off = nspace_off,
        .presence = is_there       ? SX_OPEN_CONNECTED
                    : client->left ? SX_OPEN_LEFT
                                   : SX_OPEN_NEVER_CAME,
    };
}

static void missing_list(struct sx_open_op *op, const struct sx_members *members)
{
    const struct sx_client *first[SX_OPEN_MISSING];
    const size_t count = missing_find(members, first);

    for (size_t i = 0; i < count; i++) {
        const uint16_t off = text_add(op, first[i]->nspace->name);

        if (off == 0) {
            break;
        }
        op->missing[op->missing_listed++] = missing_of(first[i], off);
    }
}

static struct sx_open_op op_of(const struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;
    const bool has_deadline = collective->deadline.source.loop != NULL;
    struct sx_open_op op = {
        .since_ns = collective->shown.since_ns,
        .deadline_ns = has_deadline ? collective->deadline.deadline_ns : 0,
        .kind = (uint16_t)collective->kind->number,
        .flags = (uint16_t)((collective->with_host ? SX_OPEN_WITH_HOST : 0) |
                            (collective->is_over ? SX_OPEN_NOTIFIED : 0)),
        .expected = (uint32_t)members->count,
        .arrived = (uint32_t)members->arrived_count,
        .text_bytes = 1,
    };

    if (members->arrived_count == members->count) {
        const struct sx_absent absent = sx_members_absent(members);

        op.expected += (uint32_t)absent.announced;
        op.flags |= absent.unknown ? SX_OPEN_UNREGISTERED : 0;
    }
    op.id_off = collective->id == NULL ? 0 : text_add(&op, collective->id);
    procs_list(&op, members);
    missing_list(&op, members);
    return op;
}

/* ---- when a row is written ------------------------------------------------------------------- */

static struct sx_shown *shown_of(struct sx_list *link)
{
    return SX_LIST_ENTRY(link, struct sx_shown, link);
}

static void wait_for_turn(struct sx_server *server, struct sx_shown *shown)
{
    shown->due_ns = server->turn.now_ns + SX_OPEN_DELAY_NS;
    sx_list_append(&server->collective.shown.due, &shown->link);
}

static void rowless_count(struct sx_shown_ops *ops, size_t count)
{
    ops->rowless_count = count;
    sx_open_ops_hide(&ops->table, count);
}

static void row_write(struct sx_server *server, struct sx_shown *shown)
{
    struct sx_shown_ops *const ops = &server->collective.shown;
    uint32_t index = shown->row - 1;

    if (shown->row == 0) {
        if (sx_open_ops_claim(&ops->table, &index) != PMIX_SUCCESS) {
            shown->is_rowless = true;
            sx_list_append(&ops->rowless, &shown->link);
            rowless_count(ops, ops->rowless_count + 1);
            return;
        }
        shown->row = index + 1;
    }
    const struct sx_open_op op = op_of(SX_CONTAINER(shown, struct sx_collective, shown));

    sx_open_ops_publish(&ops->table, index, &op);
}

void sx_shown_write(struct sx_server *server, uint64_t now_ns)
{
    struct sx_list *const due = &server->collective.shown.due;

    for (unsigned i = 0; i < ROWS_A_TURN && !sx_list_empty(due); i++) {
        struct sx_shown *const first = shown_of(due->next);

        if (first->due_ns > now_ns) {
            return;
        }
        sx_list_remove(&first->link);
        row_write(server, first);
    }
}

static void woken(void *arg, uint64_t now_ns)
{
    (void)arg; /* the timer only has to begin a turn */
    (void)now_ns;
}

void sx_shown_watch(struct sx_server *server)
{
    struct sx_shown_ops *const ops = &server->collective.shown;

    if (sx_list_empty(&ops->due)) {
        sx_timer_remove(&ops->timer);
    } else if (ops->timer.source.loop == NULL) {
        ops->timer.fn = woken;
        sx_timer_add(server->loop, &ops->timer, shown_of(ops->due.next)->due_ns);
    }
}

/* ---- changes of an operation ----------------------------------------------------------------- */

void sx_shown_add(struct sx_server *server, struct sx_shown *shown)
{
    shown->since_ns = server->turn.now_ns;
    wait_for_turn(server, shown);
}

void sx_shown_renew(struct sx_server *server, struct sx_shown *shown)
{
    if (sx_list_empty(&shown->link)) {
        wait_for_turn(server, shown);
    }
}

static void rowless_leave(struct sx_shown_ops *ops, struct sx_shown *shown)
{
    sx_list_remove(&shown->link);
    shown->is_rowless = false;
    rowless_count(ops, ops->rowless_count - 1);
}

/* Give the row of @shown to the oldest operation that has none. */
static void row_give(struct sx_server *server, struct sx_shown *shown)
{
    struct sx_shown_ops *const ops = &server->collective.shown;

    sx_open_ops_abandon(&ops->table, shown->row - 1);
    if (!sx_list_empty(&ops->rowless)) {
        struct sx_shown *const oldest = shown_of(ops->rowless.next);

        rowless_leave(ops, oldest);
        row_write(server, oldest);
    }
}

void sx_shown_remove(struct sx_server *server, struct sx_shown *shown)
{
    if (shown->is_rowless) {
        rowless_leave(&server->collective.shown, shown);
        return;
    }
    sx_list_remove(&shown->link);
    if (shown->row != 0) {
        row_give(server, shown);
    }
}

pmix_status_t sx_shown_init(struct sx_server *server)
{
    sx_list_init(&server->collective.shown.due);
    sx_list_init(&server->collective.shown.rowless);
    const struct sx_placement placement = sx_numa_place(&server->numa, SX_SEGMENT_OPS, 0);

    return sx_open_ops_create(&server->collective.shown.table, server->self.nspace, &placement);
}

void sx_shown_deinit(struct sx_server *server)
{
    sx_open_ops_deinit(&server->collective.shown.table);
}
