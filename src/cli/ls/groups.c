/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups.c - the named lists in servers' node stores (shmem/membership.h).
 *
 *     find the nodes' stores --> list after list, those that are sets last --> text, or JSON
 *
 * A store counts only for the process that has made it, and each list is checked before it is
 * shown.  Another process can give a memfd the name that servers use.  A list is shown as it was at
 * one moment.  Bounded by the descriptors of the processes that the kernel lets the caller read. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/ls/ls.h"
#include "cli/target.h"
#include "cli/value.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/board.h"
#include "shmem/membership.h"

struct line {
    pid_t server;
    uint64_t now_ns;
    const struct sx_membership *list;
    const char *change;                 /* the change of the list; NULL: not shown */
    const struct sx_membership *before; /* an earlier generation; NULL: none */
};

/* ---- one line -------------------------------------------------------------------------------- */

/* Text has the first members only, JSON all of them. */

#define MEMBERS_SHOWN 16u /* in a line of text */

static const char *kind_name(const struct sx_membership *list)
{
    static const char *const names[] = { "unknown", "connected", "group", "set" };
    const uint32_t kind = list->head.kind;

    return names[kind < SX_COUNT(names) ? kind : 0];
}

static uint64_t age_ns(const struct line *line)
{
    const uint64_t since_ns = line->list->head.since_ns;

    return line->now_ns > since_ns ? line->now_ns - since_ns : 0;
}

static bool has_context_id(const struct sx_membership *list)
{
    return (list->head.flags & SX_MEMBERSHIP_CONTEXT) != 0;
}

/* Whether @rank was a member before, and is not any more. */
static bool has_left(const struct line *line, uint32_t rank, pmix_proc_t *ret_proc)
{
    pmix_proc_t other;

    return sx_membership_member(line->before, rank, ret_proc) == PMIX_SUCCESS &&
           sx_membership_member(line->list, rank, &other) != PMIX_SUCCESS;
}

/* ---- as text --------------------------------------------------------------------------------- */

/* Print the headings of the columns. */
static void heading_print(bool with_changes)
{
    printf("%s%-10s %-11s %10s %11s %12s %8s  %s\n", with_changes ? "CHANGE   " : "", "KIND",
           "MEMBERS", "GENERATION", "CONTEXT ID", "FOR", "SERVER", "NAME: PROCESSES");
}

static void member_print(const pmix_proc_t *proc)
{
    putchar(' ');
    sx_names_proc_print(proc->nspace, strlen(proc->nspace), proc->rank, false);
}

static void members_print(const struct sx_membership *list)
{
    uint32_t shown = 0;
    pmix_proc_t proc;

    for (uint32_t rank = 0; rank < sx_membership_size(list) && shown < MEMBERS_SHOWN; rank++) {
        if (sx_membership_member(list, rank, &proc) == PMIX_SUCCESS) {
            member_print(&proc);
            shown++;
        }
    }
    if (list->head.index_count > shown) {
        printf(" and %" PRIu32 " more", list->head.index_count - shown);
    }
}

static void left_print(const struct line *line)
{
    uint32_t count = 0;
    pmix_proc_t proc;

    for (uint32_t rank = 0; rank < sx_membership_size(line->before); rank++) {
        if (has_left(line, rank, &proc) && count++ < MEMBERS_SHOWN) {
            printf("%s", count == 1 ? "; left:" : "");
            member_print(&proc);
        }
    }
    if (count > MEMBERS_SHOWN) {
        printf(" and %" PRIu32 " more", count - MEMBERS_SHOWN);
    }
}

static void print_text(const struct line *line)
{
    const struct sx_membership *const list = line->list;
    const char *const name = sx_membership_name(list);

    if (line->change != NULL) {
        printf("%-8s ", line->change);
    }
    printf("%-10s %4" PRIu32 " of %-4" PRIu32 "%10" PRIu64, kind_name(list), list->head.index_count,
           sx_membership_size(list), list->head.generation);
    if (has_context_id(list)) {
        printf(" %11" PRIu64, list->head.context_id);
    } else {
        printf(" %11s", "none");
    }
    printf(" %10.1f s %8d  ", (double)age_ns(line) / (double)SX_NS_PER_SEC, (int)line->server);
    sx_names_text_print(name, strlen(name));
    putchar(':');
    members_print(list);
    if (line->before != NULL) {
        left_print(line);
    }
    putchar('\n');
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void member_print_json(uint32_t rank, const pmix_proc_t *proc, bool is_first)
{
    printf("%s{\"rank\":%" PRIu32 ",\"proc\":", is_first ? "" : ",", rank);
    sx_names_proc_print(proc->nspace, strlen(proc->nspace), proc->rank, true);
    putchar('}');
}

static void members_print_json(const struct sx_membership *list)
{
    pmix_proc_t proc;

    for (uint32_t rank = 0, shown = 0; rank < sx_membership_size(list); rank++) {
        if (sx_membership_member(list, rank, &proc) == PMIX_SUCCESS) {
            member_print_json(rank, &proc, shown++ == 0);
        }
    }
}

static void left_print_json(const struct line *line)
{
    pmix_proc_t proc;

    printf(",\"left\":[");
    for (uint32_t rank = 0, shown = 0; rank < sx_membership_size(line->before); rank++) {
        if (has_left(line, rank, &proc)) {
            member_print_json(rank, &proc, shown++ == 0);
        }
    }
    putchar(']');
}

static void print_json(const struct line *line)
{
    const struct sx_membership *const list = line->list;
    const char *const name = sx_membership_name(list);

    putchar('{');
    if (line->change != NULL) {
        printf("\"change\":\"%s\",", line->change);
    }
    printf("\"kind\":\"%s\",\"name\":", kind_name(list));
    sx_json_string(name, strlen(name));
    printf(",\"server\":%d,\"generation\":%" PRIu64, (int)line->server, list->head.generation);
    if (has_context_id(list)) {
        printf(",\"context_id\":%" PRIu64, list->head.context_id);
    }
    printf(",\"age_ns\":%" PRIu64 ",\"size\":%" PRIu32 ",\"member_count\":%" PRIu32
           ",\"members\":[",
           age_ns(line), sx_membership_size(list), list->head.index_count);
    members_print_json(list);
    putchar(']');
    if (line->before != NULL) {
        left_print_json(line);
    }
    printf("}\n");
}

static void line_print(const struct line *line, bool json)
{
    (json ? print_json : print_text)(line);
}

/* ---- watching -------------------------------------------------------------------------------- */

/* Follow the lists of one server's node store.
 *
 *     board --> read all lists --> print the changes --> sleep on the door of the lists --> ...
 *                      \-- the server has a new store: find it by /proc --/
 *
 * The command reads like a rank without being one: it sends the server no request, so the server
 * may be stopped.  Copies of the last lists are kept, ordered by their rows and subjects, so that
 * two snapshots are compared in one pass.  Lists that begin and end between two snapshots are
 * missed.  Bounded by the size of the store.  The command ends when the server does. */

struct lists {
    struct sx_membership *at; /* in the order of a snapshot; the bytes are our copies */
    size_t count, capacity;
};

struct watch {
    const struct sx_ls_wish *wish;
    pid_t server;
    struct sx_board board;
    struct sx_store store; /* SX_STORE_NULL: none found */
    struct lists known;
    int64_t printed;
};

/* ---- finding --------------------------------------------------------------------------------- */

static bool store_take(void *arg, pid_t server, struct sx_store *store)
{
    struct watch *const watch = arg;

    (void)server;
    watch->store = *store;
    *store = SX_STORE_NULL;
    return false;
}

/* Map the newest store of the node.  Return: false when there is none, not yet or just now.  The
 * server then rings when it has put something into one. */
static bool store_renew(struct watch *watch)
{
    if (watch->store.seg.base != NULL && sx_store_successor(&watch->store) == 0) {
        return true;
    }
    sx_store_detach(&watch->store);
    (void)sx_cli_node_stores_each(watch->server, store_take, watch);
    return watch->store.seg.base != NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void list_copy(struct lists *lists, const struct sx_membership *list)
{
    if (lists->count == lists->capacity) {
        lists->capacity = 2 * lists->capacity + 16;
        lists->at = sx_cli_realloc(lists->at, lists->capacity, sizeof(lists->at[0]));
    }
    uint8_t *const bytes = sx_cli_calloc(1, list->size_bytes);

    memcpy(bytes, list->bytes, list->size_bytes);
    lists->at[lists->count] = *list;
    lists->at[lists->count++].bytes = bytes;
}

static void lists_free(struct lists *lists)
{
    for (size_t i = 0; i < lists->count; i++) {
        free((void *)(uintptr_t)lists->at[i].bytes);
    }
    free(lists->at);
    *lists = (struct lists){ .at = NULL };
}

/* Return: false when the store contradicts itself. */
static bool lists_read(const struct sx_store *store, struct lists *ret)
{
    static const enum sx_realm realms[] = { SX_REALM_MEMBERS, SX_REALM_SETS };
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; i < SX_COUNT(realms) && rc == PMIX_ERR_NOT_FOUND; i++) {
        struct sx_membership list;
        uint32_t row = 0;

        while ((rc = sx_membership_next(store, realms[i], &row, &list)) == PMIX_SUCCESS) {
            list_copy(ret, &list);
        }
    }
    return rc == PMIX_ERR_NOT_FOUND;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The order of a snapshot; of two lists in one row, the older one is first. */
static int lists_order(const struct sx_membership *a, const struct sx_membership *b)
{
    const uint64_t left[] = { sx_membership_realm(a->head.kind), sx_membership_row(a->head.subject),
                              a->head.subject };
    const uint64_t right[] = { sx_membership_realm(b->head.kind),
                               sx_membership_row(b->head.subject), b->head.subject };

    for (size_t i = 0; i < SX_COUNT(left); i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

static bool is_wanted(const struct watch *watch, const struct sx_membership *list)
{
    const char *const nspace = watch->wish->whose.nspace;

    if (watch->wish->sets_only && list->head.kind != SX_MEMBERSHIP_PSET) {
        return false;
    }
    return nspace == NULL || sx_membership_count_of(list, nspace) != 0;
}

static void say(struct watch *watch, const char *change, const struct sx_membership *list,
                const struct sx_membership *before)
{
    const struct line line = { .server = watch->server,
                               .now_ns = sx_now_ns(),
                               .list = list,
                               .change = change,
                               .before = before };

    if (!is_wanted(watch, list) && (before == NULL || !is_wanted(watch, before))) {
        return;
    }
    if (watch->wish->count == 0 || watch->printed < watch->wish->count) {
        line_print(&line, watch->wish->json);
        watch->printed++;
    }
}

/* @before and @now are the same list, or one of them is NULL. */
static void list_compare(struct watch *watch, const char *come, const struct sx_membership *before,
                         const struct sx_membership *now)
{
    if (now == NULL) {
        say(watch, "ended", before, NULL);
    } else if (before == NULL) {
        say(watch, come, now, NULL);
    } else if (before->head.generation != now->head.generation) {
        say(watch, now->head.index_count < before->head.index_count ? "left" : "changed", now,
            before);
    }
}

static void lists_compare(struct watch *watch, const char *come, const struct lists *now)
{
    const struct lists *const before = &watch->known;

    for (size_t i = 0, j = 0; i < before->count || j < now->count;) {
        const int order = i == before->count ? 1
                          : j == now->count  ? -1
                                             : lists_order(&before->at[i], &now->at[j]);

        list_compare(watch, come, order <= 0 ? &before->at[i] : NULL,
                     order >= 0 ? &now->at[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
}

/* Print the changes; @come: the word for lists that are new.  Return: false to stop. */
static bool look(struct watch *watch, const char *come)
{
    struct lists now = { .at = NULL };

    if (store_renew(watch)) {
        if (!lists_read(&watch->store, &now)) {
            sx_say("the lists of server %d contradict themselves", (int)watch->server);
            lists_free(&now);
            return false;
        }
        lists_compare(watch, come, &now);
        lists_free(&watch->known);
        watch->known = now;
    }
    return fflush(stdout) == 0;
}

/* ---- following ------------------------------------------------------------------------------- */

enum { WATCH_LISTS, WATCH_LIFE, WATCH_COUNT };

/* Return: false on failure, with a message. */
static bool follow(struct watch *watch)
{
    const struct sx_door *const door = &watch->board.header->lists;
    const uint64_t timeout_ns = watch->wish->timeout_ns;
    const uint64_t end_ns = timeout_ns == 0 ? SX_DEADLINE_NEVER
                                            : sx_deadline_ns(sx_now_ns(), timeout_ns);
    const char *come = "there";
    bool over = false;

    if (!watch->wish->json) {
        heading_print(true);
    }
    for (;;) {
        /* Checked before reading: changes made before the end are still printed. */
        const bool lives = sx_board_server_lives(&watch->board);
        const struct sx_bell_watch words[WATCH_COUNT] = {
            [WATCH_LISTS] = sx_door_watch(door),
            [WATCH_LIFE] = { .word = watch->board.life_word,
                             .seen = sx_board_life_seen(&watch->board) },
        };

        if (!look(watch, come)) {
            return false;
        }
        if (!lives || over || (watch->printed > 0 && watch->printed == watch->wish->count)) {
            return true;
        }
        come = "made";
        over = sx_bell_wait(words, WATCH_COUNT, SX_BELL_ALL, end_ns) == PMIX_ERR_TIMEOUT;
        sx_door_pass_on(door, &words[WATCH_LISTS], SX_BELL_ALL);
    }
}

/* Watch the lists of the server @pid; 0: of the only server.  It continues until that server ends.
 * Return: the exit code. */
static int groups_watch(const struct sx_ls_wish *wish, pid_t pid)
{
    struct watch watch = { .wish = wish, .store = SX_STORE_NULL };
    struct sx_cli_board found;
    int code = SX_EXIT_FAILURE;

    sx_cli_board_find(pid, &found);
    watch.board = found.board;
    watch.server = found.server;
    if (found.count == 0) {
        code = sx_ls_nobody(wish, found.denied);
    } else if (found.count > 1) {
        sx_cli_board_say_many(&found);
    } else if (follow(&watch)) {
        code = 0;
    }
    lists_free(&watch.known);
    sx_store_detach(&watch.store);
    sx_board_deinit(&watch.board);
    return code;
}

/* ---- the thing ------------------------------------------------------------------------------- */

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
    const struct line line = { .server = list->server,
                               .now_ns = list->now_ns,
                               .list = &membership };
    uint32_t row = 0;
    pmix_status_t rc;

    while ((rc = sx_membership_next(store, realm, &row, &membership)) == PMIX_SUCCESS) {
        if (nspace != NULL && sx_membership_count_of(&membership, nspace) == 0) {
            continue;
        }
        if (list->count++ == 0 && !list->wish->json) {
            heading_print(false);
        }
        line_print(&line, list->wish->json);
    }
    if (rc != PMIX_ERR_NOT_FOUND) {
        sx_say("the lists of server %d contradict themselves; the rest is not shown",
               (int)list->server);
    }
}

static bool node_take(void *arg, pid_t server, struct sx_store *store)
{
    struct list *const list = arg;

    list->server = server;
    if (!list->wish->sets_only) {
        realm_print(list, store, SX_REALM_MEMBERS);
    }
    realm_print(list, store, SX_REALM_SETS);
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
        return groups_watch(wish, wish->server);
    }
    const bool denied = !sx_cli_node_stores_each(wish->server, node_take, &list);

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
