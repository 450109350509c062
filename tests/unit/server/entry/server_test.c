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
