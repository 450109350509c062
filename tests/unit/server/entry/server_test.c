/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* server_test.c - a server begins once, ends with its last finalize, and may begin again. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>

#include <pmix.h>
#include <pmix_server.h>

#include "server/model/state.h"
#include "support/sanitized.h"

#include "../hosted.h"

static pmix_server_module_t module;

TestSuite(server, .timeout = 60);

Test(server, lives_until_it_was_finalized_as_often_as_begun)
{
    cr_expect_eq(PMIx_server_finalize(), PMIX_ERR_INIT);
    for (int life = 0; life < 3; life++) {
        cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
        const struct sx_server *const server = sx_server_get();

        cr_assert_not_null(server);
        cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
        cr_expect_eq(sx_server_get(), server, "the same one");
        cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
        cr_expect_eq(sx_server_get(), server);
        cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
        cr_expect_null(sx_server_get());
    }
    cr_expect_eq(PMIx_server_finalize(), PMIX_ERR_INIT);
}

static void handled(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void never(pmix_status_t status, void *data)
{
    (void)status, (void)data;
    _exit(97);
}

/* Return: 0, or the number of the first call that does not end as it should. */
static int child_calls(void)
{
    pmix_byte_object_t byte = { .bytes = (char[]){ 'x' }, .size = 1 };
    pmix_value_t number = { .type = PMIX_UINT32, .data.uint32 = 1 }, *value = NULL;
    pmix_info_t info, *answer = NULL;
    char *keys[] = { (char[]){ PMIX_QUERY_NAMESPACES }, NULL }, **env = NULL;
    pmix_query_t query = { .keys = keys };
    pmix_proc_t proc;
    size_t count;
    uint32_t size = 1;

    PMIx_Load_procid(&proc, "job", 0);
    PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIx_server_deregister_nspace("job", NULL, NULL);
    const pmix_status_t refused[] = {
        PMIx_server_register_nspace("more", 1, &info, 1, NULL, NULL),
        PMIx_server_register_nspace("more", 1, &info, 1, never, NULL),
        PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
        PMIx_Get(&proc, PMIX_JOB_SIZE, NULL, 0, &value),
        PMIx_Store_internal(&proc, "key", &number),
        PMIx_Query_info(&query, 1, &answer, &count),
        PMIx_Notify_event(-3001, &proc, PMIX_RANGE_SESSION, NULL, 0, NULL, NULL),
        PMIx_server_IOF_deliver(&proc, PMIX_FWD_STDOUT_CHANNEL, &byte, NULL, 0, NULL, NULL),
        PMIx_Register_event_handler(NULL, 0, NULL, 0, handled, NULL, NULL),
        PMIx_server_finalize(),
    };

    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        if (refused[i] != PMIX_ERR_INIT) {
            return (int)i + 1;
        }
    }
    return PMIx_server_setup_fork(&proc, &env) != PMIX_SUCCESS            ? 98
           : PMIx_server_init(&module, NULL, 0) != PMIX_ERR_NOT_SUPPORTED ? 99
                                                                          : 0;
}

/* In the child no thread would answer. */
Test(server, stays_with_its_process_when_that_forks)
{
    pmix_value_t *value = NULL;
    pmix_proc_t proc;
    int status = -1;

    cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
    hosted_job_of("job", 1, 1);
    const pid_t pid = fork();

    if (pid == 0) {
        alarm(10);
        _exit(child_calls());
    }
    cr_assert_gt(pid, 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect_eq(status, 0, "the child ends with %#x", (unsigned)status);
    PMIx_Load_procid(&proc, "job", 0);
    cr_assert_eq(PMIx_Get(&proc, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS, "it has the job");
    PMIx_Value_free(value, 1);
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}

#if !SANITIZED_THREADS
static unsigned found; /* a bit for each time: the last two are around the thread's beginning */

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    found = found << 1 | (sx_server_get() != NULL);
    return sigprocmask(how, set, before) == 0 ? 0 : errno;
}

/* What comes to its thread at once, as from a tool that has tried before, looks for it. */
Test(server, is_found_before_its_thread_begins)
{
    cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(found & 3u, 3u);
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}
#endif

#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* What a host says at the beginning, and whether it must be obeyed. */
static const struct {
    const char *key, *value;
    bool required;
    pmix_status_t want;
} rows[] = {
    { PMIX_SERVER_NSPACE, "host", true, PMIX_SUCCESS },
    { PMIX_SERVER_NSPACE, "", false, PMIX_ERR_BAD_PARAM },
    { PMIX_SERVER_NSPACE, X64 X64 X64 X64, false, PMIX_ERR_BAD_PARAM }, /* one byte too long */
    { "no.such.directive", "x", false, PMIX_SUCCESS },
    { "no.such.directive", "x", true, PMIX_ERR_NOT_SUPPORTED },
    { PMIX_SERVER_TMPDIR, "/no/such/directory", false, PMIX_ERR_NOT_FOUND },
};

Test(server, obeys_its_directives_or_does_not_begin)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_info_t info;

        PMIx_Info_load(&info, rows[i].key, rows[i].value, PMIX_STRING);
        if (rows[i].required) {
            PMIx_Info_required(&info);
        }
        const pmix_status_t rc = PMIx_server_init(&module, &info, 1);

        cr_expect_eq(rc, rows[i].want, "row %zu: %d", i, rc);
        if (rc == PMIX_SUCCESS && i == 0) {
            cr_expect_str_eq(sx_server_get()->self.nspace, "host");
        }
        cr_expect_eq(PMIx_server_finalize(), rc == PMIX_SUCCESS ? PMIX_SUCCESS : PMIX_ERR_INIT);
        PMIx_Info_destruct(&info);
    }
    cr_expect_eq(PMIx_server_init(&module, NULL, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_null(sx_server_get());
}
