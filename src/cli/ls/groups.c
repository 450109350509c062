/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups.c - the named lists in servers' node stores (shmem/membership.h).
 *
 *     find the nodes' stores --> list after list, those that are sets last --> text, or JSON
 *
 * A store counts only for the process that has made it, and each list is checked before it is
 * shown.  Another process can give a memfd the name that servers use.  A list is shown as it was at
 * one moment.  Bounded by the descriptors of the processes that the kernel lets the caller read. */
#include "cli/ls/groups.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/ls/groups_print.h"
#include "cli/ls/groups_watch.h"
#include "cli/ls/nobody.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "shmem/membership.h"

struct list {
    const struct sx_ls_wish *wish;
    pid_t server;
    uint64_t now_ns;
    uint64_t count; /* of lists that were printed */
    unsigned servers;
};

static void realm_print(struct list *list, const struct sx_store *store, enum sx_realm realm)
{
    const char *const nspace = list->wish->whose.nspace;
    struct sx_membership membership;
    const struct sx_groups_line line = { .server = list->server,
                                         .now_ns = list->now_ns,
                                         .list = &membership };
    uint32_t row = 0;
    pmix_status_t rc;

    while ((rc = sx_membership_next(store, realm, &row, &membership)) == PMIX_SUCCESS) {
        if (nspace != NULL && sx_membership_count_of(&membership, nspace) == 0) {
            continue;
        }
        if (list->count++ == 0 && !list->wish->json) {
            sx_groups_heading_print(false);
        }
        sx_groups_line_print(&line, list->wish->json);
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
    if (sx_cli_store_is_of_node(pid, &store)) {
        list->server = pid;
        if (!list->wish->sets_only) {
            realm_print(list, &store, SX_REALM_MEMBERS);
        }
        realm_print(list, &store, SX_REALM_SETS);
    }
    sx_store_detach(&store);
    return true;
}

/* A server without lists has no node store, but it has a board. */
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

    if (wish->watch_ns != 0 && !wish->pages) {
        return sx_groups_watch(wish, wish->server);
    }
    const bool denied = !sx_cli_outside_each(wish->server, "store:", store_take, &list);

    if (list.count == 0) {
        (void)sx_cli_outside_each(wish->server, "board:", board_take, &list);
    }
    if (list.count == 0 && list.servers == 0) {
        return sx_ls_nobody(wish, denied);
    }
    if (list.count == 0) {
        sx_say("no %s%s",
               wish->sets_only ? "process set" : "connected namespace, group or process set",
               denied ? " in your servers (root sees all)" : "");
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

int sx_ls_sets(const struct sx_ls_wish *wish)
{
    struct sx_ls_wish sets = *wish;

    sets.sets_only = true;
    return sx_ls_groups(&sets);
}
