/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups_watch.c - follow the lists of one server's node store.
 *
 *     board --> read all lists --> print the changes --> sleep on the door of the lists --> ...
 *                      \-- the server has a new store: find it by /proc --/
 *
 * The command reads like a rank without being one: it sends the server no request, so the server
 * may be stopped.  Copies of the last lists are kept, ordered by their rows and subjects, so that
 * two snapshots are compared in one pass.  Lists that begin and end between two snapshots are
 * missed.  Bounded by the size of the store.  The command ends when the server does. */
#include "cli/ls/groups_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/board.h"
#include "cli/ls/groups_print.h"
#include "cli/ls/nobody.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/board.h"

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

static bool store_take(void *arg, pid_t pid, int fd)
{
    struct watch *const watch = arg;
    struct sx_store store;

    if (sx_store_attach(&store, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (sx_cli_store_is_of_node(pid, &store)) {
        watch->store = store;
        return false;
    }
    sx_store_detach(&store);
    return true;
}

/* Map the newest store of the node.  Return: false when there is none, not yet or just now.  The
 * server then rings when it has put something into one. */
static bool store_renew(struct watch *watch)
{
    if (watch->store.seg.base != NULL && sx_store_successor(&watch->store) == 0) {
        return true;
    }
    sx_store_detach(&watch->store);
    (void)sx_cli_outside_each(watch->server, "store:", store_take, watch);
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
    const struct sx_groups_line line = { .server = watch->server,
                                         .now_ns = sx_now_ns(),
                                         .list = list,
                                         .change = change,
                                         .before = before };

    if (!is_wanted(watch, list) && (before == NULL || !is_wanted(watch, before))) {
        return;
    }
    if (watch->wish->count == 0 || watch->printed < watch->wish->count) {
        sx_groups_line_print(&line, watch->wish->json);
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

/* ---- the thing ------------------------------------------------------------------------------- */

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
        sx_groups_heading_print(true);
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

int sx_groups_watch(const struct sx_ls_wish *wish, pid_t pid)
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
