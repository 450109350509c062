/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collectives.c - the rows of servers' tables (ring/open_ops.h), with /proc's data about missing
 * processes.
 *
 *     find the tables --> copy their rows --> by server and age --> text, or JSON
 *
 * A table counts only for the process that has made it, and nothing in it is trusted.  Another
 * process can give a memfd the name that servers use.  Bounded by the descriptors of the processes
 * that the kernel lets the caller read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "cli/ls/ls.h"
#include "cli/value.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/open_ops.h"

struct item {
    pid_t server;
    struct sx_open_op op;
};

struct list {
    const struct sx_ls_wish *wish;
    struct item *items;
    size_t count;
    unsigned tables;
};

/* ---- finding --------------------------------------------------------------------------------- */

static bool names(const struct sx_open_op *op, const char *nspace)
{
    bool found = false;

    for (size_t i = 0; !found && i < op->procs_listed; i++) {
        found = strcmp(op->text + op->procs[i].nspace_off, nspace) == 0;
    }
    for (size_t i = 0; !found && i < op->missing_listed; i++) {
        found = strcmp(op->text + op->missing[i].nspace_off, nspace) == 0;
    }
    return found;
}

static void row_take(struct list *list, pid_t server, const struct sx_open_ops *table,
                     uint32_t index)
{
    const char *const nspace = list->wish->whose.nspace;
    struct item item = { .server = server };
    const pmix_status_t rc = sx_open_ops_read(table, index, &item.op);

    if (rc == PMIX_SUCCESS && (nspace == NULL || names(&item.op, nspace))) {
        list->items = sx_cli_realloc(list->items, list->count + 1, sizeof(item));
        list->items[list->count++] = item;
    } else if (rc == PMIX_ERR_NOT_AVAILABLE) {
        sx_say("server %d is in the middle of writing row %" PRIu32 ", which is not shown",
               (int)server, index);
    } else if (rc == PMIX_ERR_BAD_PARAM) {
        sx_say("row %" PRIu32 " of server %d contradicts itself", index, (int)server);
    }
}

static bool table_take(void *arg, pid_t pid, int fd)
{
    struct list *const list = arg;
    struct sx_open_ops table;

    if (sx_open_ops_attach(&table, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (sx_proc_has_made(pid, &table.seg)) {
        /* relaxed: the figure is only shown. */
        const uint64_t hidden = atomic_load_explicit(&table.header->hidden, memory_order_relaxed);

        list->tables++;
        for (uint32_t i = 0; i < table.row_count; i++) {
            row_take(list, pid, &table, i);
        }
        if (hidden > 0) {
            sx_say("%" PRIu64 " younger ones of server %d are not shown: its table is full", hidden,
                   (int)pid);
        }
    }
    sx_open_ops_deinit(&table);
    return true;
}

static int items_order(const void *a, const void *b)
{
    const struct item *const left = a, *const right = b;

    if (left->server != right->server) {
        return left->server < right->server ? -1 : 1;
    }
    return left->op.since_ns < right->op.since_ns ? -1 : left->op.since_ns > right->op.since_ns;
}

/* ---- the texts ------------------------------------------------------------------------------- */

static const char *kind_name(const struct sx_open_op *op)
{
    const char *const name = sx_collective_name(op->kind);

    return name != NULL ? name : "unknown";
}

/* The processes of @server that have been started and have not connected; for one server at a
 * time. */
static struct sx_ls_started started;

static pid_t pid_of(const struct item *item, const struct sx_open_missing *missing)
{
    const struct sx_site nothing = { .self = PMIX_RANK_INVALID };

    if (missing->presence != SX_OPEN_CONNECTED && missing->presence != SX_OPEN_LEFT) {
        return sx_ls_process_of(&started, item->server, item->op.text + missing->nspace_off,
                                &nothing, missing->rank);
    }
    return missing->pid <= INT32_MAX ? (pid_t)missing->pid : 0;
}

static const char *state_of_missing(const struct item *item, const struct sx_open_missing *missing)
{
    return missing->presence == SX_OPEN_CONNECTED ? sx_proc_state_name(pid_of(item, missing))
           : missing->presence == SX_OPEN_LEFT    ? "left"
                                                  : "not connected";
}

/* A wrong clock in a hostile table must not print a number without end. */
static uint64_t ns_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* ---- as text --------------------------------------------------------------------------------- */

static void proc_print(const struct sx_open_op *op, uint16_t nspace_off, uint32_t rank, bool json)
{
    const char *const nspace = op->text + nspace_off;

    sx_names_proc_print(nspace, strlen(nspace), rank, json);
}

static void seconds_print(uint64_t ns)
{
    printf(" %10.1f s", (double)ns / (double)SX_NS_PER_SEC);
}

static void missing_print(const struct item *item, const struct sx_open_missing *missing)
{
    const char *const state = state_of_missing(item, missing);
    const pid_t pid = pid_of(item, missing);

    printf("  missing: ");
    proc_print(&item->op, missing->nspace_off, missing->rank, false);
    if (missing->presence == SX_OPEN_LEFT) {
        printf(", which has called PMIx_Finalize");
    } else if (missing->presence != SX_OPEN_CONNECTED && pid != 0) {
        printf(", process %d, which has not called PMIx_Init", (int)pid);
    } else if (missing->presence != SX_OPEN_CONNECTED) {
        printf(", which has not called PMIx_Init");
    } else if (state == NULL) {
        printf(", process %d", (int)pid);
    } else {
        printf(", process %d, %s %s", (int)pid, strcmp(state, "ended") == 0 ? "has" : "is", state);
    }
    putchar('\n');
}

/* Print why the operation stays open although all local members have arrived. */
static void waiting_print(const struct sx_open_op *op)
{
    const bool with_host = (op->flags & SX_OPEN_WITH_HOST) != 0;

    if ((op->flags & SX_OPEN_NOTIFIED) != 0) {
        printf("  its callers have their answer; %s\n",
               with_host ? "the host has not given its own"
                         : "those missing get it when they call");
    } else if (op->arrived >= op->expected) {
        printf("  everybody here has arrived: %s\n",
               with_host ? "the host has not answered"
               : (op->flags & SX_OPEN_UNREGISTERED) != 0
                   ? "it waits until the host has registered a namespace that it names"
                   : "it waits for the one before it");
    }
}

static void item_print(const struct item *item, uint64_t now_ns)
{
    const struct sx_open_op *const op = &item->op;
    const uint32_t missing = op->expected > op->arrived ? op->expected - op->arrived : 0;

    printf("%-15s %5" PRIu32 " of %-5" PRIu32, kind_name(op), op->arrived, op->expected);
    seconds_print(ns_between(op->since_ns, now_ns));
    if (op->deadline_ns != 0) {
        seconds_print(ns_between(now_ns, op->deadline_ns));
    } else {
        printf(" %12s", "no limit");
    }
    printf(" %8d ", (int)item->server);
    for (size_t i = 0; i < op->procs_listed; i++) {
        putchar(' ');
        proc_print(op, op->procs[i].nspace_off, op->procs[i].rank, false);
    }
    if (op->proc_count > op->procs_listed) {
        printf(" and %" PRIu32 " more", op->proc_count - op->procs_listed);
    }
    if (op->id_off != 0) {
        printf(", id ");
        sx_names_text_print(op->text + op->id_off, strlen(op->text + op->id_off));
    }
    putchar('\n');
    for (size_t i = 0; i < op->missing_listed; i++) {
        missing_print(item, &op->missing[i]);
    }
    if (missing > op->missing_listed) {
        printf("  missing: %" PRIu32 " more\n", missing - op->missing_listed);
    }
    waiting_print(op);
}

static void print_text(const struct list *list, uint64_t now_ns)
{
    for (size_t i = 0; i < list->count; i++) {
        const pid_t server = list->items[i].server;
        const bool is_first = i == 0 || server != list->items[i - 1].server;
        const char *const state = is_first ? sx_proc_state_name(server) : NULL;

        if (i == 0) {
            printf("%-15s %-14s %12s %12s %8s  %s\n", "KIND", "ARRIVED", "OPEN FOR", "TIME LEFT",
                   "SERVER", "PROCESSES");
        }
        if (state != NULL) {
            printf("server %d is %s: it counts no arrivals, and nothing ends\n", (int)server,
                   state);
        }
        item_print(&list->items[i], now_ns);
    }
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void missing_json(const struct item *item, const struct sx_open_missing *missing)
{
    const char *const state = state_of_missing(item, missing);
    const pid_t pid = pid_of(item, missing);

    printf("{\"proc\":");
    proc_print(&item->op, missing->nspace_off, missing->rank, true);
    if (pid != 0) {
        printf(",\"pid\":%d", (int)pid);
    }
    printf(",\"state\":\"%s\"}", state != NULL ? state : "runs");
}

static void item_json(const struct item *item, uint64_t now_ns)
{
    const struct sx_open_op *const op = &item->op;
    const char *const server_state = sx_proc_state_name(item->server);

    printf("{\"kind\":\"%s\"", kind_name(op));
    if (op->id_off != 0) {
        printf(",\"id\":");
        sx_json_string(op->text + op->id_off, strlen(op->text + op->id_off));
    }
    printf(",\"server\":%d,\"server_state\":\"%s\",\"open_ns\":%" PRIu64, (int)item->server,
           server_state != NULL ? server_state : "runs", ns_between(op->since_ns, now_ns));
    if (op->deadline_ns != 0) {
        printf(",\"left_ns\":%" PRIu64, ns_between(now_ns, op->deadline_ns));
    }
    printf(",\"process_count\":%" PRIu32 ",\"processes\":[", op->proc_count);
    for (size_t i = 0; i < op->procs_listed; i++) {
        printf(i == 0 ? "" : ",");
        proc_print(op, op->procs[i].nspace_off, op->procs[i].rank, true);
    }
    printf("],\"expected\":%" PRIu32 ",\"arrived\":%" PRIu32 ",\"with_host\":%s,\"told\":%s,"
           "\"missing\":[",
           op->expected, op->arrived, (op->flags & SX_OPEN_WITH_HOST) != 0 ? "true" : "false",
           (op->flags & SX_OPEN_NOTIFIED) != 0 ? "true" : "false");
    for (size_t i = 0; i < op->missing_listed; i++) {
        printf(i == 0 ? "" : ",");
        missing_json(item, &op->missing[i]);
    }
    printf("]}\n");
}

/* ---- the thing ------------------------------------------------------------------------------- */

/* Return: the exit code. */
static int print_all(struct list *list, bool denied)
{
    const uint64_t now_ns = sx_now_ns();

    if (list->tables == 0) {
        return sx_ls_nobody(list->wish, denied);
    }
    if (list->count == 0) {
        sx_say("no collective operation has been open for longer than %d ms%s; ranks that hang may "
               "wait in MPI, where 'shmix stack' shows it",
               (int)(SX_OPEN_DELAY_NS / SX_NS_PER_MS),
               denied ? " in your servers (root sees all)" : "");
        return 0;
    }
    qsort(list->items, list->count, sizeof(list->items[0]), items_order);
    if (!list->wish->json) {
        print_text(list, now_ns);
    }
    for (size_t i = 0; list->wish->json && i < list->count; i++) {
        item_json(&list->items[i], now_ns);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

int sx_ls_collectives(const struct sx_ls_wish *wish)
{
    struct list list = { .wish = wish };

    const bool denied = !sx_cli_outside_each(wish->server, "ops:", table_take, &list);
    const int code = print_all(&list, denied);

    sx_ls_started_free(&started);
    free(list.items);
    return code;
}
