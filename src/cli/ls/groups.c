/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups.c - the named lists in servers' node stores (shmem/membership.h).
 *
 *     find the nodes' stores --> list after list, those that are sets last --> text, or JSON
 *
 * A store counts as its maker's alone, and each list is judged before it is shown: another process
 * can name a memfd as servers do.  A list is shown as it was at one moment.  Bounded by the
 * descriptors of the processes that the kernel lets the caller look into. */
#include "cli/ls/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/json.h"
#include "cli/ls/nobody.h"
#include "cli/names.h"
#include "cli/proc.h"
#include "cli/say.h"
#include "shmem/membership.h"
#include "shmem/outside.h"

#define MEMBERS_SHOWN 16u /* in a line of text */

struct list {
    const struct sx_ls_wish *wish;
    pid_t server;
    uint64_t now_ns;
    uint64_t count; /* of what was printed */
    unsigned servers;
};

static const char *kind_name(const struct sx_membership *membership)
{
    static const char *const names[] = { "unknown", "connected", "group", "set" };
    const uint32_t kind = membership->head.kind;

    return names[kind < SX_COUNT(names) ? kind : 0];
}

static uint64_t age_ns(const struct list *list, const struct sx_membership *membership)
{
    const uint64_t since_ns = membership->head.since_ns;

    return list->now_ns > since_ns ? list->now_ns - since_ns : 0;
}

static bool has_context_id(const struct sx_membership *membership)
{
    return (membership->head.flags & SX_MEMBERSHIP_CONTEXT) != 0;
}

/* ---- as text --------------------------------------------------------------------------------- */

static void print_text(const struct list *list, const struct sx_membership *membership)
{
    const char *const name = sx_membership_name(membership);
    const uint32_t size = sx_membership_size(membership);
    uint32_t shown = 0;
    pmix_proc_t proc;

    if (list->count == 0) {
        printf("%-10s %-11s %10s %11s %12s %8s  %s\n", "KIND", "MEMBERS", "GENERATION",
               "CONTEXT ID", "FOR", "SERVER", "NAME: PROCESSES");
    }
    printf("%-10s %4" PRIu32 " of %-4" PRIu32 "%10" PRIu64, kind_name(membership),
           membership->head.index_count, size, membership->head.generation);
    if (has_context_id(membership)) {
        printf(" %11" PRIu64, membership->head.context_id);
    } else {
        printf(" %11s", "none");
    }
    printf(" %10.1f s %8d  ", (double)age_ns(list, membership) / (double)SX_NS_PER_SEC,
           (int)list->server);
    sx_names_text_print(name, strlen(name));
    putchar(':');
    for (uint32_t rank = 0; rank < size && shown < MEMBERS_SHOWN; rank++) {
        if (sx_membership_member(membership, rank, &proc) == PMIX_SUCCESS) {
            putchar(' ');
            sx_names_proc_print(proc.nspace, strlen(proc.nspace), proc.rank, false);
            shown++;
        }
    }
    if (membership->head.index_count > shown) {
        printf(" and %" PRIu32 " more", membership->head.index_count - shown);
    }
    putchar('\n');
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void print_json(const struct list *list, const struct sx_membership *membership)
{
    const char *const name = sx_membership_name(membership);
    const uint32_t size = sx_membership_size(membership);
    pmix_proc_t proc;

    printf("{\"kind\":\"%s\",\"name\":", kind_name(membership));
    sx_json_string(name, strlen(name));
    printf(",\"server\":%d,\"generation\":%" PRIu64, (int)list->server,
           membership->head.generation);
    if (has_context_id(membership)) {
        printf(",\"context_id\":%" PRIu64, membership->head.context_id);
    }
    printf(",\"age_ns\":%" PRIu64 ",\"size\":%" PRIu32 ",\"member_count\":%" PRIu32
           ",\"members\":[",
           age_ns(list, membership), size, membership->head.index_count);
    for (uint32_t rank = 0, shown = 0; rank < size; rank++) {
        if (sx_membership_member(membership, rank, &proc) == PMIX_SUCCESS) {
            printf("%s{\"rank\":%" PRIu32 ",\"proc\":", shown++ > 0 ? "," : "", rank);
            sx_names_proc_print(proc.nspace, strlen(proc.nspace), proc.rank, true);
            putchar('}');
        }
    }
    printf("]}\n");
}

/* ---- the thing ------------------------------------------------------------------------------- */

static void realm_print(struct list *list, const struct sx_store *store, enum sx_realm realm)
{
    const char *const nspace = list->wish->whose.nspace;
    struct sx_membership membership;
    uint32_t row = 0;
    pmix_status_t rc;

    while ((rc = sx_membership_next(store, realm, &row, &membership)) == PMIX_SUCCESS) {
        if (nspace != NULL && sx_membership_count_of(&membership, nspace) == 0) {
            continue;
        }
        (list->wish->json ? print_json : print_text)(list, &membership);
        list->count++;
    }
    if (rc != PMIX_ERR_NOT_FOUND) {
        sx_say("the lists of server %d contradict themselves; the rest is not shown",
               (int)list->server);
    }
}

static bool store_take(void *arg, pid_t pid, int fd)
{
    struct list *const list = arg;
    struct sx_store store;

    if (sx_store_attach(&store, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (sx_segment_header(&store.seg)->nspace[0] == '\0' && sx_store_successor(&store) == 0 &&
        sx_proc_has_made(pid, &store.seg)) {
        list->server = pid;
        realm_print(list, &store, SX_REALM_MEMBERS);
        realm_print(list, &store, SX_REALM_SETS);
    }
    sx_store_detach(&store);
    return true;
}

/* A server without any list has no store of the node, but it has a board. */
static bool board_take(void *arg, pid_t pid, int fd)
{
    struct list *const list = arg;

    (void)pid;
    (void)fd;
    list->servers++;
    return true;
}

int sx_ls_groups(const struct sx_ls_wish *wish)
{
    struct list list = { .wish = wish, .now_ns = sx_now_ns() };
    pid_t pid;

    if (!sx_ls_server_of(wish, &pid)) {
        return SX_EXIT_FAILURE;
    }
    const bool denied = !sx_outside_each(pid, "store:", store_take, &list);

    if (list.count == 0) {
        (void)sx_outside_each(pid, "board:", board_take, &list);
    }
    if (list.count == 0 && list.servers == 0) {
        return sx_ls_nobody(wish, denied);
    }
    if (list.count == 0) {
        sx_say("no connected namespace, group or process set%s",
               denied ? " in the servers that you may look into; root sees all" : "");
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}
