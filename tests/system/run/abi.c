/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* abi.c - a rank that asks which ABI it has before PMIx_Init, and what else it is told then.
 *
 * Written after the Standard alone: it knows nothing of this library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

static void never(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                  pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    printf("an answer to a call that has failed\n");
    exit(1);
}

/* A version is MAJOR.MINOR; there may be several, with commas. */
static const char *judge(const pmix_info_t *info)
{
    int major, minor;

    return info->value.type != PMIX_STRING                                 ? "no string"
           : sscanf(info->value.data.string, "%d.%d", &major, &minor) == 2 ? "a version"
                                                                           : "no version";
}

static void ask(const char *when, const char *key)
{
    pmix_info_t *info = NULL;
    pmix_query_t *query;
    size_t ninfo = 0;
    pmix_status_t rc;

    PMIX_QUERY_CREATE(query, 1);
    PMIX_ARGV_APPEND(rc, query->keys, key);
    rc = PMIx_Query_info(query, 1, &info, &ninfo);
    printf("%s: %s: %s%s%s\n", when, key, PMIx_Error_string(rc), ninfo == 1 ? ", " : "",
           ninfo == 1 ? judge(info) : "");
    if (rc == PMIX_ERR_INIT) {
        rc = PMIx_Query_info_nb(query, 1, never, NULL);
        printf("%s: %s without waiting: %s\n", when, key, PMIx_Error_string(rc));
    }
    PMIX_INFO_FREE(info, ninfo);
    PMIX_QUERY_FREE(query, 1);
}

static void ask_versions(const char *when)
{
    ask(when, PMIX_QUERY_STABLE_ABI_VERSION);
    ask(when, PMIX_QUERY_PROVISIONAL_ABI_VERSION);
}

static void ask_others(const char *when)
{
    ask(when, PMIX_QUERY_NAMESPACES);
    ask(when, PMIX_QUERY_PROC_TABLE);
    ask(when, PMIX_JOB_SIZE);
    ask(when, "no.such.key");
}

int main(void)
{
    pmix_proc_t me;

    ask_versions("before");
    ask_others("before");
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    ask_versions("between");
    if (PMIx_Finalize(NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    ask_versions("after");
    ask_others("after");
    return 0;
}
