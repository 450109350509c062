/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_test.c - what a client may have removed when it is gone: all of a call or nothing, each
 * path once, within bounds.  Nothing is removed here (broom_test). */
#include "server/cleanup/cleanup.h"
#include "server/manage/manage.h"

#include <stdio.h>

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

static void end(void)
{
    while (!sx_list_empty(&client->cleanups)) {
        sx_cleanup_queue_path_free(
            SX_LIST_ENTRY(client->cleanups.next, struct sx_cleanup_queue_path, link));
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

static void write_body(const pmix_info_t info[], size_t ninfo)
{
    struct sx_job_control *const head = (void *)body.bytes;
    size_t size = 0;

    body = (struct proc_list){ .size = sizeof(*head) };
    proc_list_add(&body, 0, "job");
    cr_assert_eq(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
    cr_assert(body.size + size <= sizeof(body.bytes));
    cr_assert_eq(sx_flat_infos_encode(info, ninfo, body.bytes + body.size, size), PMIX_SUCCESS);
    *head = (struct sx_job_control){ .proc_count = 1, .info_size = size };
    body.size += size;
}

static pmix_status_t ask(const pmix_info_t info[], size_t ninfo)
{
    write_body(info, ninfo);
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

/* The paths that are registered, with their flags: "/a:0 /b:1". */
static const char *registered(void)
{
    static char all[1024];
    size_t used = 0;

    all[0] = '\0';
    SX_LIST_EACH(it, &client->cleanups) {
        const struct sx_cleanup_queue_path *path = SX_LIST_ENTRY(it, struct sx_cleanup_queue_path,
                                                                 link);

        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%.*s:%u", used > 0 ? " " : "",
                                 (int)path->len, path->sweep.path, path->sweep.flags);
    }
    return all;
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
        while (!sx_list_empty(&client->cleanups)) {
            sx_cleanup_queue_path_free(
                SX_LIST_ENTRY(client->cleanups.next, struct sx_cleanup_queue_path, link));
        }
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
