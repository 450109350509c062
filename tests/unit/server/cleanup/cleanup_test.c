/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_test.c - what a client may have removed when it is gone: all of a call or nothing, each
 * path once, within bounds.  Nothing is removed here (broom_test). */
#include "server/cleanup/cleanup.h"
#include "server/manage/manage.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pmix.h>

#include "../answers.h"
#include "../bare.h"
#include "../opened.h"
#include "../proc_list.h"
#include "base/value/flat.h"
#include "server/cleanup/cleanup_queue.h"

static struct sx_server server;
static struct sx_client *client;
static struct answers answers;
static struct proc_list body;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    sx_cleanup_queues_init(&server.brooms);
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
    answers_begin(&answers, &server, client);
}

static void paths_drop(struct sx_client *of)
{
    while (!sx_list_empty(&of->cleanups)) {
        sx_cleanup_queue_path_free(
            SX_LIST_ENTRY(of->cleanups.next, struct sx_cleanup_queue_path, link));
    }
}

static void end(void)
{
    SX_LIST_EACH(it, &server.registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        for (size_t i = 0; i < nspace->client_count; i++) {
            paths_drop(nspace->by_rank[i]);
        }
    }
    cr_expect(sx_list_empty(&server.brooms.list), "no path, no broom");
    answers_end(&answers, client);
    bare_deinit(&server);
}

TestSuite(cleanup, .init = begin, .fini = end);

/* Return: false for a breach of protocol. */
static bool request(size_t size)
{
    struct sx_frame frame = opened_frame(SX_MSG_JOB_CONTROL, 5, body.bytes, size);

    return sx_control_on_job_control(&server, client, &frame, 0);
}

static void write_body(const pmix_proc_t targets[], size_t count, const pmix_info_t info[],
                       size_t ninfo)
{
    struct sx_job_control *const head = (void *)body.bytes;
    size_t size = 0;

    body = (struct proc_list){ .size = sizeof(*head) };
    for (size_t i = 0; i < count; i++) {
        proc_list_add(&body, targets[i].rank, targets[i].nspace);
    }
    cr_assert_eq(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
    cr_assert(body.size + size <= sizeof(body.bytes));
    cr_assert_eq(sx_flat_infos_encode(info, ninfo, body.bytes + body.size, size), PMIX_SUCCESS);
    *head = (struct sx_job_control){ .proc_count = (uint32_t)count, .info_size = size };
    body.size += size;
}

static pmix_status_t ask_for(const pmix_proc_t targets[], size_t count, const pmix_info_t *info)
{
    write_body(targets, count, info, 1);
    cr_assert(request(body.size));
    return answers_next(&answers, 5);
}

static pmix_status_t ask(const pmix_info_t info[], size_t ninfo)
{
    const pmix_proc_t self = { .nspace = "job", .rank = 0 };

    write_body(&self, 1, info, ninfo);
    cr_assert(request(body.size));
    return answers_next(&answers, 5);
}

static pmix_info_t text(const char *key, const char *value)
{
    pmix_info_t info = { .value = { .type = PMIX_STRING } };

    memcpy(info.key, key, strlen(key));
    info.value.data.string = (char *)(uintptr_t)value;
    return info;
}

static pmix_info_t flag(const char *key, bool required)
{
    pmix_info_t info = { .flags = required ? PMIX_INFO_REQD : 0,
                         .value = { .type = PMIX_BOOL, .data.flag = true } };

    memcpy(info.key, key, strlen(key));
    return info;
}

/* The paths of @of that are registered, with their flags: "/a:0 /b:1". */
static const char *registered_of(const struct sx_client *of)
{
    static char all[1024];
    size_t used = 0;

    all[0] = '\0';
    SX_LIST_EACH(it, &of->cleanups) {
        const struct sx_cleanup_queue_path *path = SX_LIST_ENTRY(it, struct sx_cleanup_queue_path,
                                                                 link);

        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%.*s:%u", used > 0 ? " " : "",
                                 (int)path->len, path->sweep.path, path->sweep.flags);
    }
    return all;
}

static const char *registered(void)
{
    return registered_of(client);
}

Test(cleanup, takes_files_and_directories_each_once)
{
    const pmix_info_t files = text(PMIX_REGISTER_CLEANUP, "/tmp/a,/tmp/b,/tmp/a");
    const pmix_info_t dirs[] = { text(PMIX_REGISTER_CLEANUP_DIR, "/tmp/a"),
                                 flag(PMIX_CLEANUP_RECURSIVE, true),
                                 flag(PMIX_CLEANUP_LEAVE_TOPDIR, true) };
    char want[128];

    cr_expect_eq(ask(&files, 1), PMIX_SUCCESS);
    cr_expect_str_eq(registered(), "/tmp/a:0 /tmp/b:0");
    cr_expect_eq(ask(&files, 1), PMIX_SUCCESS, "again");
    cr_expect_str_eq(registered(), "/tmp/a:0 /tmp/b:0");
    cr_expect_eq(ask(dirs, 3), PMIX_SUCCESS);
    snprintf(want, sizeof(want), "/tmp/a:0 /tmp/b:0 /tmp/a:%u",
             SX_CLEANUP_UNLINK_DIR | SX_CLEANUP_UNLINK_RECURSE | SX_CLEANUP_UNLINK_LEAVE_TOP);
    cr_expect_str_eq(registered(), want);
}

Test(cleanup, takes_all_of_a_call_or_nothing)
{
    const pmix_info_t good = text(PMIX_REGISTER_CLEANUP, "/tmp/a");
    const struct {
        const char *why;
        pmix_info_t second;
        pmix_status_t want;
    } rows[] = {
        { "no path", text(PMIX_REGISTER_CLEANUP_DIR, "relative"), PMIX_ERR_BAD_PARAM },
        { "no text", flag(PMIX_REGISTER_CLEANUP, false), PMIX_ERR_BAD_PARAM },
        { "required and unknown", flag("no.such.thing", true), PMIX_ERR_NOT_SUPPORTED },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const pmix_info_t both[] = { good, rows[i].second };

        cr_expect_eq(ask(both, 2), rows[i].want, "%s", rows[i].why);
        cr_expect_str_eq(registered(), "", "%s", rows[i].why);
    }
    cr_expect_eq(ask(NULL, 0), PMIX_ERR_NOT_SUPPORTED, "nothing that is done here");
    const pmix_info_t both[] = { good, flag("no.such.thing", false) };

    cr_expect_eq(ask(both, 2), PMIX_SUCCESS, "it may be ignored");
    cr_expect_str_eq(registered(), "/tmp/a:0");
}

static const struct {
    const char *why, *kept, *file, *dir;
    pmix_status_t want;
} kept_rows[] = {
    { "nothing of both", "/tmp/k,name", "/tmp/a", "/tmp/b", PMIX_SUCCESS },
    { "a path below is no conflict", "/tmp/b/c", "/tmp/a", "/tmp/b", PMIX_SUCCESS },
    { "a file", "/tmp/a", "/tmp/a", "/tmp/b", PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES },
    { "a directory", "/tmp/b", "/tmp/a", "/tmp/b", PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES },
    { "by name", "b", "/tmp/a", "/tmp/b", PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES },
    { "not by part of a name", "mp/b,/b,/tmp", "/tmp/a", "/tmp/b", PMIX_ERR_BAD_PARAM },
    { "nor by another one", "/b,/tmp,tmp", "/tmp/a", "/tmp/b", PMIX_SUCCESS },
    { "no name", "..", "/tmp/a", "/tmp/b", PMIX_ERR_BAD_PARAM },
};

/* In one call, whichever comes first, and nothing is left of one that is refused. */
Test(cleanup, what_is_to_stay_is_not_removed)
{
    for (size_t i = 0; i < SX_COUNT(kept_rows); i++) {
        const pmix_info_t info[] = { text(PMIX_REGISTER_CLEANUP, kept_rows[i].file),
                                     text(PMIX_REGISTER_CLEANUP_DIR, kept_rows[i].dir),
                                     text(PMIX_CLEANUP_IGNORE, kept_rows[i].kept) };
        const bool good = kept_rows[i].want == PMIX_SUCCESS;

        cr_expect_eq(ask(info, 3), kept_rows[i].want, "%s", kept_rows[i].why);
        cr_expect_eq(registered()[0] != '\0', good, "%s", kept_rows[i].why);
        cr_expect_eq(client->nspace->kept_bytes != 0, good, "%s", kept_rows[i].why);
        paths_drop(client);
        sx_cleanup_client_removed(&server, client);
        cr_expect_eq(client->nspace->kept_bytes, 0, "%s", kept_rows[i].why);
    }
}

Test(cleanup, so_much_is_to_stay_and_no_more)
{
    char name[64];

    for (unsigned i = 0; i < SX_CLEANUP_KEPT_MAX / sizeof(name); i++) {
        snprintf(name, sizeof(name), "%063u", i);
        const pmix_info_t info = text(PMIX_CLEANUP_IGNORE, name);

        cr_assert_eq(ask(&info, 1), PMIX_SUCCESS, "%u", i);
    }
    const pmix_info_t more = text(PMIX_CLEANUP_IGNORE, "x"),
                      known = text(PMIX_CLEANUP_IGNORE, name);

    cr_expect_eq(ask(&more, 1), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(ask(&known, 1), PMIX_SUCCESS);
    sx_cleanup_client_removed(&server, client);
}

Test(cleanup, has_so_many_paths_and_no_more)
{
    char path[32], list[4096];

    for (unsigned first = 0; first < SX_CLEANUP_PATHS_MAX; first += 64) {
        size_t used = 0;

        for (unsigned i = first; i < first + 64 && i < SX_CLEANUP_PATHS_MAX; i++) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s/tmp/%u",
                                     used > 0 ? "," : "", i);
        }
        const pmix_info_t info = text(PMIX_REGISTER_CLEANUP, list);

        cr_assert_eq(ask(&info, 1), PMIX_SUCCESS, "%u", first);
    }
    snprintf(path, sizeof(path), "/tmp/%u", SX_CLEANUP_PATHS_MAX);
    const pmix_info_t more = text(PMIX_REGISTER_CLEANUP, path);
    const pmix_info_t known = text(PMIX_REGISTER_CLEANUP, "/tmp/0");

    cr_expect_eq(ask(&more, 1), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(ask(&known, 1), PMIX_SUCCESS);
}

/* ---- for other processes --------------------------------------------------------------------- */

static struct sx_nspace *others_begin(void)
{
    struct sx_nspace *const other = bare_job(&server, "other", 8, 4);

    client->uid = 1000;
    for (uint32_t rank = 0; rank < 4; rank++) {
        other->by_rank[rank]->uid = 1000;
    }
    return other;
}

static size_t length(const struct sx_list *list)
{
    size_t count = 0;

    SX_LIST_EACH(it, list) {
        count++;
    }
    return count;
}

Test(cleanup, of_a_named_process_is_its_own)
{
    struct sx_nspace *const other = others_begin();
    const pmix_proc_t targets[] = { { "other", 1 }, { "other", 2 }, { "job", 0 } };
    const pmix_info_t file = text(PMIX_REGISTER_CLEANUP, "/tmp/a");

    cr_expect_eq(ask_for(targets, 2, &file), PMIX_SUCCESS);
    cr_expect_str_eq(registered(), "", "not the caller's");
    cr_expect_str_eq(registered_of(other->by_rank[0]), "");
    cr_expect_str_eq(registered_of(other->by_rank[1]), "/tmp/a:0");
    cr_expect_str_eq(registered_of(other->by_rank[2]), "/tmp/a:0");
    cr_expect_eq(ask_for(targets, 3, &file), PMIX_SUCCESS, "again, and for the caller");
    cr_expect_str_eq(registered(), "/tmp/a:0");
    cr_expect_str_eq(registered_of(other->by_rank[1]), "/tmp/a:0");
    cr_expect_eq(ask_for(NULL, 0, &file), PMIX_SUCCESS, "all of the caller's job");
    cr_expect_str_eq(registered(), "/tmp/a:0");
}

/* The first target could be served, and is not: all or nothing. */
Test(cleanup, of_processes_that_cannot_have_it_is_refused)
{
    struct sx_nspace *const other = others_begin();
    const pmix_info_t file = text(PMIX_REGISTER_CLEANUP, "/tmp/a");
    const struct {
        const char *why;
        pmix_proc_t target;
        pmix_status_t want;
    } rows[] = {
        { "dead", { "other", 1 }, PMIX_ERR_NOT_FOUND },
        { "on another node", { "other", 5 }, PMIX_ERR_NOT_FOUND },
        { "finalized, and its end is not awaited", { "other", 2 }, PMIX_ERR_NOT_FOUND },
        { "of another user", { "theirs", 0 }, PMIX_ERR_NO_PERMISSIONS },
    };

    other->by_rank[1]->state = SX_CLIENT_DEAD;
    other->by_rank[2]->left = true;
    bare_job(&server, "theirs", 1, 1)->by_rank[0]->uid = 1001;
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const pmix_proc_t targets[] = { { "other", 0 }, rows[i].target };

        cr_expect_eq(ask_for(targets, 2, &file), rows[i].want, "%s", rows[i].why);
        cr_expect_str_eq(registered_of(other->by_rank[0]), "", "%s", rows[i].why);
        cr_expect(sx_list_empty(&client->cleanups_given), "%s", rows[i].why);
    }
    client->uid = 0;
    const pmix_proc_t users = { "other", 0 };

    cr_expect_eq(ask_for(&users, 1, &file), PMIX_ERR_NO_PERMISSIONS, "root has another's rights");
}

/* The caller pays while it lives; a target's own room is its own. */
Test(cleanup, for_others_counts_as_the_callers)
{
    struct sx_nspace *const other = others_begin();
    char list[SX_CLEANUP_PATHS_MAX * 16];
    size_t used = 0;

    for (unsigned i = 0; i < SX_CLEANUP_PATHS_MAX; i++) {
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s/t/%u", i > 0 ? "," : "", i);
    }
    const pmix_proc_t first = { "other", 0 }, second = { "other", 1 };
    const pmix_info_t many = text(PMIX_REGISTER_CLEANUP, list),
                      more = text(PMIX_REGISTER_CLEANUP, "/tmp/more"),
                      another = text(PMIX_REGISTER_CLEANUP, "/tmp/another");

    cr_expect_eq(ask_for(&first, 1, &many), PMIX_SUCCESS);
    cr_expect_eq(ask_for(&second, 1, &more), PMIX_ERR_OUT_OF_RESOURCE, "its share is used up");
    cr_expect_eq(ask(&more, 1), PMIX_ERR_OUT_OF_RESOURCE, "also for itself");
    cr_expect_eq(length(&client->cleanups_given), SX_CLEANUP_PATHS_MAX);

    cr_expect_eq(sx_cleanup_take(&server, other->by_rank[0], NULL, 0, &more, 1), PMIX_SUCCESS,
                 "the target's own room is not taken");
    cr_expect_eq(sx_cleanup_take(&server, other->by_rank[1], &first, 1, &another, 1),
                 PMIX_ERR_OUT_OF_RESOURCE, "others have given it as many as they may");
    sx_cleanup_client_gone(&server, client);
    cr_expect_eq(ask_for(&first, 1, &another), PMIX_ERR_OUT_OF_RESOURCE, "they stay");
    cr_expect_eq(ask_for(&second, 1, &many), PMIX_SUCCESS, "a new process has a new share");
    paths_drop(other->by_rank[1]);
    cr_expect(sx_list_empty(&client->cleanups_given));
}

/* A process that has finalized may go on for long. */
Test(cleanup, of_a_finalized_process_waits_for_its_exit)
{
    struct sx_nspace *const other = others_begin();
    struct sx_client *const finalized = other->by_rank[1];
    const pmix_proc_t target = { "other", 1 };
    const pmix_info_t file = text(PMIX_REGISTER_CLEANUP, "/tmp/a"),
                      dir = text(PMIX_REGISTER_CLEANUP_DIR, "/tmp/d");

    finalized->left = true;
    finalized->exit_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    cr_assert(finalized->exit_fd >= 0);
    cr_expect_eq(ask_for(&target, 1, &file), PMIX_SUCCESS);
    cr_expect_eq(ask_for(&target, 1, &dir), PMIX_SUCCESS);
    sx_cleanup_client_gone(&server, finalized); /* its connection ends, and no client is left */
    cr_expect_eq(length(&finalized->cleanups), 2);
    close(finalized->exit_fd);
    finalized->exit_fd = -1;
}

/* The job ends with the last of its clients. */
Test(cleanup, of_another_job_waits_for_its_last_process)
{
    struct sx_nspace *const other = others_begin();
    const pmix_proc_t target = { "other", PMIX_RANK_WILDCARD };
    const pmix_info_t file = text(PMIX_REGISTER_CLEANUP, "/tmp/a");

    other->by_rank[0]->state = SX_CLIENT_DEAD;
    bare_connect(&server, other, 1);
    bare_connect(&server, other, 2);
    cr_expect_eq(ask_for(&target, 1, &file), PMIX_SUCCESS);
    cr_expect_str_eq(registered(), "");
    sx_cleanup_client_gone(&server, other->by_rank[1]);
    cr_expect_str_eq(registered_of(other->by_rank[1]), "/tmp/a:0", "one is left");
    for (size_t i = 0; i < other->client_count; i++) {
        other->by_rank[i]->state = SX_CLIENT_DEAD;
    }
    cr_expect_eq(ask_for(&target, 1, &file), PMIX_ERR_NOT_FOUND);
}
