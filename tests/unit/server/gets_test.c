/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gets_test.c - how long a server waits for what a rank has not committed. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include <pmix.h>
#include <pmix_server.h>

#include "server/model/state.h"
#include "shmix.h"

#define SECOND UINT64_C(1000000000)

static const struct {
    const char *environment; /* NULL: nothing */
    int info;                /* -2: none */
    pmix_status_t want;
    uint64_t patience_ns;
} rows[] = {
    { NULL, -2, PMIX_SUCCESS, 2 * SECOND },
    { "", -2, PMIX_SUCCESS, 2 * SECOND },
    { "7", -2, PMIX_SUCCESS, 7 * SECOND },
    { "0", -2, PMIX_SUCCESS, 0 },
    { "0.25", -2, PMIX_SUCCESS, SECOND / 4 },
    { ".0000000019", -2, PMIX_SUCCESS, 1 },
    { "1.", -2, PMIX_SUCCESS, SECOND },
    { ".", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "-1", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "2s", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "1.2.3", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "99999999999999999999999999", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "7", 3, PMIX_SUCCESS, 3 * SECOND },
    { "2s", 0, PMIX_SUCCESS, 0 },
    { NULL, -1, PMIX_ERR_BAD_PARAM, 0 },
};

Test(gets, patience_is_the_infos_or_the_environments_or_two_seconds, .timeout = 60)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_info_t info;

        if (rows[i].environment != NULL) {
            setenv("SHMIX_GET_TIMEOUT", rows[i].environment, 1);
        } else {
            unsetenv("SHMIX_GET_TIMEOUT");
        }
        cr_assert_eq(PMIx_Info_load(&info, SHMIX_SERVER_GET_TIMEOUT, &rows[i].info, PMIX_INT), 0);
        PMIx_Info_required(&info);
        cr_assert_eq(PMIx_server_init(NULL, &info, rows[i].info != -2), rows[i].want, "row %zu", i);
        if (rows[i].want == PMIX_SUCCESS) {
            cr_expect_eq(sx_server_get()->get_patience_ns, rows[i].patience_ns, "row %zu", i);
            cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
        }
    }
}
