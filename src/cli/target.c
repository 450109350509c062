/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* target.c - a name is searched in all servers: several may have a job, group or set of that
 * name. */
#include "cli/target.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/contact.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/board.h"
#include "shmem/membership.h"

static const char *const kind_names[] = {
    [SX_WHOSE_JOB] = "job",
    [SX_WHOSE_GROUP] = "group",
    [SX_WHOSE_SET] = "process set",
    [SX_WHOSE_SERVER] = "server",
};

/* ---- users ----------------------------------------------------------------------------------- */

static void user_text(char *ret, size_t size, uid_t uid)
{
    const struct passwd *const user = getpwuid(uid);

    snprintf(ret, size, "user %.64s%s(uid %u)", user != NULL ? user->pw_name : "",
             user != NULL ? " " : "", (unsigned)uid);
}

const char *sx_whose_users(pid_t pid)
{
    static char text[SX_WHOSE_USERS_MAX];
    char theirs[96], ours[96];
    uid_t uid;

    if (!sx_proc_user(pid, &uid)) {
        return "";
    }
    user_text(theirs, sizeof(theirs), uid);
    user_text(ours, sizeof(ours), geteuid());
    snprintf(text, sizeof(text), "; it belongs to %s, and you are %s", theirs, ours);
    return text;
}

/* ---- setters --------------------------------------------------------------------------------- */

bool sx_whose_pid_set(void *at, const char *value)
{
    int64_t number = 0;
    const bool good = sx_cli_number(value, 1, INT32_MAX, &number);

    *(pid_t *)at = good ? sx_proc_launcher((pid_t)number) : 0;
    return good;
}

bool sx_whose_nspace_set(void *at, const char *value)
{
    return sx_option_text(at, value) && strlen(value) <= PMIX_MAX_NSLEN;
}

bool sx_whose_set(void *at, const char *value)
{
    struct sx_whose *const whose = at;

    if (value[strspn(value, "0123456789")] != '\0') {
        return value[0] != '-' && sx_whose_nspace_set(&whose->nspace, value);
    }
    return sx_whose_pid_set(&whose->pid, value);
}

/* ---- boards and node stores ------------------------------------------------------------------ */

/* Another process can give a memfd the name that servers use. */

struct walk {
    bool (*board)(void *arg, pid_t server, struct sx_board *board);
    bool (*store)(void *arg, pid_t server, struct sx_store *store);
    void *arg;
    pid_t last; /* the process whose board was found last: a server has one */
};

static bool board_open(void *arg, pid_t pid, int fd)
{
    struct walk *const walk = arg;
    struct sx_board board;
    bool goes_on = true;

    if (walk->last == pid || sx_board_attach(&board, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (sx_proc_has_made(pid, &board.seg)) {
        walk->last = pid;
        goes_on = walk->board(walk->arg, pid, &board);
    }
    sx_board_deinit(&board);
    return goes_on;
}

bool sx_cli_boards_each(pid_t pid, bool (*each)(void *arg, pid_t server, struct sx_board *board),
                        void *arg)
{
    struct walk walk = { .board = each, .arg = arg };

    return sx_cli_outside_each(pid, "board:", board_open, &walk);
}

static bool store_open(void *arg, pid_t pid, int fd)
{
    const struct walk *const walk = arg;
    struct sx_store store;

    if (sx_store_attach(&store, fd) != PMIX_SUCCESS) {
        return true;
    }
    const bool goes_on = !sx_cli_store_is_of_node(pid, &store) ||
                         walk->store(walk->arg, pid, &store);

    sx_store_detach(&store);
    return goes_on;
}

bool sx_cli_node_stores_each(pid_t pid,
                             bool (*each)(void *arg, pid_t server, struct sx_store *store),
                             void *arg)
{
    struct walk walk = { .store = each, .arg = arg };

    return sx_cli_outside_each(pid, "store:", store_open, &walk);
}

/* ---- finding --------------------------------------------------------------------------------- */

struct search {
    enum sx_whose_kind kind;
    const char *name;
    struct sx_whose_found *found;
};

static void found_add(struct sx_whose_found *found, pid_t pid)
{
    for (unsigned i = 0; i < found->count && i < SX_WHOSE_FOUND_MAX; i++) {
        if (found->at[i] == pid) {
            return;
        }
    }
    if (found->count < SX_WHOSE_FOUND_MAX) {
        found->at[found->count] = pid;
    }
    found->count++;
}

static void job_take(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    const struct search *const search = arg;

    if (strcmp(nspace, search->name) == 0 && sx_cli_store_is_of_job(store)) {
        found_add(search->found, server);
    }
}

/* Match a group, a set, or a connected namespace, which counts as a job. */
static bool list_take(void *arg, pid_t server, struct sx_store *store)
{
    const struct search *const search = arg;
    const enum sx_realm realm = search->kind == SX_WHOSE_SET ? SX_REALM_SETS : SX_REALM_MEMBERS;
    struct sx_membership list;

    if (sx_membership_find(store, realm, search->name, strlen(search->name), &list) ==
        PMIX_SUCCESS) {
        found_add(search->found, server);
    }
    return true;
}

static bool name_take(void *arg, pid_t server, struct sx_board *board)
{
    const struct search *const search = arg;

    if (strcmp(sx_segment_header(&board->seg)->nspace, search->name) == 0) {
        found_add(search->found, server);
    }
    return true;
}

void sx_whose_find(enum sx_whose_kind kind, const char *name, struct sx_whose_found *ret)
{
    struct search search = { .kind = kind, .name = name, .found = ret };

    *ret = (struct sx_whose_found){ .count = 0 };
    if (kind == SX_WHOSE_SERVER) {
        (void)sx_cli_boards_each(0, name_take, &search);
        return;
    }
    if (kind == SX_WHOSE_JOB) {
        (void)sx_cli_stores_each(0, job_take, &search);
    }
    if (ret->count == 0) {
        (void)sx_cli_node_stores_each(0, list_take, &search);
    }
}

void sx_whose_say_many(enum sx_whose_kind kind, const char *name,
                       const struct sx_whose_found *found)
{
    char pids[SX_WHOSE_FOUND_MAX * 12 + 8] = "";
    size_t used = 0;

    for (unsigned i = 0; i < found->count && i < SX_WHOSE_FOUND_MAX; i++) {
        used += (size_t)snprintf(pids + used, sizeof(pids) - used, "%s%d", i > 0 ? ", " : "",
                                 (int)found->at[i]);
    }
    sx_say("%u servers have a %s '%.255s': %s%s; choose one, as with --pid %d", found->count,
           kind_names[kind], name, pids, found->count > SX_WHOSE_FOUND_MAX ? ", ..." : "",
           (int)found->at[0]);
}

void sx_whose_say_none(pid_t pid, bool denied)
{
    sx_say("process %d %s", (int)pid,
           sx_proc_has_ended(pid) ? "does not exist"
           : denied               ? "can be inspected by its user and root only"
                                  : "is no server of shmix");
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The one server with @name.  Return: false, with a message, when there is none, or several. */
static bool one_find(enum sx_whose_kind kind, const char *name, pid_t *ret)
{
    struct sx_whose_found found;

    sx_whose_find(kind, name, &found);
    if (found.count > 1) {
        sx_whose_say_many(kind, name, &found);
    } else if (found.count == 0 && !sx_cli_outside_say(0)) {
        sx_say("no %s '%.255s' runs here; 'shmix ls %ss' lists those that do", kind_names[kind],
               name, kind_names[kind]);
    }
    *ret = found.at[0];
    return found.count == 1;
}

static bool uri_settle(struct sx_whose *whose)
{
    static struct sx_contact contact; /* large */
    const bool is_file = strncmp(whose->uri, "file:", 5) == 0;
    const char *why = "does not name a server of shmix, as NSPACE.RANK;unix:... does";

    if (is_file && sx_contact_read(AT_FDCWD, whose->uri + 5, &contact, &why) == PMIX_SUCCESS) {
        whose->pid = contact.pid;
        return true;
    }
    if (is_file || sx_contact_address(whose->uri, &contact.server) == NULL) {
        sx_say("'%.255s' %s", whose->uri, why);
        return false;
    }
    return one_find(SX_WHOSE_SERVER, contact.server.nspace, &whose->pid);
}

bool sx_whose_settle(struct sx_whose *whose)
{
    if ((whose->pid != 0) + (whose->uri != NULL) + (whose->server != NULL) > 1) {
        sx_say("a process id, --uri and --server name a server each: give one of them");
        return false;
    }
    if (whose->uri != NULL) {
        return uri_settle(whose);
    }
    return whose->server == NULL || one_find(SX_WHOSE_SERVER, whose->server, &whose->pid);
}

bool sx_whose_server(struct sx_whose *whose, pid_t *ret)
{
    if (!sx_whose_settle(whose)) {
        return false;
    }
    *ret = whose->pid;
    return whose->pid != 0 || whose->nspace == NULL || one_find(SX_WHOSE_JOB, whose->nspace, ret);
}

/* ---- one board ------------------------------------------------------------------------------- */

static bool first_take(void *arg, pid_t server, struct sx_board *board)
{
    struct sx_cli_board *const found = arg;

    if (found->count++ == 0) {
        found->board = *board;
        found->server = server;
        *board = SX_BOARD_NULL;
    }
    return true;
}

void sx_cli_board_find(pid_t pid, struct sx_cli_board *ret)
{
    *ret = (struct sx_cli_board){ .board = SX_BOARD_NULL };
    ret->denied = !sx_cli_boards_each(pid, first_take, ret);
}

void sx_cli_board_say_many(const struct sx_cli_board *found)
{
    sx_say("%u servers run, and one can be watched; 'shmix ls servers' lists them", found->count);
}
