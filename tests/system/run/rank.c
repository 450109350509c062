/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rank.c - a rank for the scripts of this folder: the first argument says what it does.
 *
 *   apps    say what it knows of its application and of all others, a line each */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t me;

static void must(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS) {
        printf("rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
        exit(1);
    }
}

static pmix_proc_t job(void)
{
    pmix_proc_t all = me;

    all.rank = PMIX_RANK_WILDCARD;
    return all;
}

/* ---- apps ------------------------------------------------------------------------------------ */

static unsigned long number_of(const pmix_value_t *value)
{
    return value->type == PMIX_PROC_RANK ? value->data.rank
           : value->type == PMIX_UINT32  ? value->data.uint32
                                         : 999999;
}

static void say_number(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                       const char *key, const char *label)
{
    pmix_value_t *value = NULL;

    must(PMIx_Get(proc, key, info, ninfo, &value), key);
    printf(" %s %lu", label, number_of(value));
    PMIX_VALUE_RELEASE(value);
}

static void say_string(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                       const char *key, const char *label)
{
    pmix_value_t *value = NULL;

    must(PMIx_Get(proc, key, info, ninfo, &value), key);
    printf(" %s '%s'", label, value->type == PMIX_STRING ? value->data.string : "?");
    PMIX_VALUE_RELEASE(value);
}

static void say_sets(void)
{
    pmix_value_t *value = NULL;

    if (PMIx_Get(&me, PMIX_PSET_NAMES, NULL, 0, &value) != PMIX_SUCCESS) {
        printf(" no sets");
        return;
    }
    const pmix_data_array_t *array = value->data.darray;

    for (size_t i = 0; i < array->size; i++) {
        printf(" set %s", ((char **)array->array)[i]);
    }
    PMIX_VALUE_RELEASE(value);
}

static int apps(void)
{
    const pmix_proc_t all = job();
    pmix_value_t *value = NULL;
    pmix_info_t info[2];
    bool yes = true;

    printf("rank %u:", me.rank);
    say_number(&me, NULL, 0, PMIX_APPNUM, "app");
    say_number(&me, NULL, 0, PMIX_APPLDR, "leader");
    say_number(&me, NULL, 0, PMIX_APP_RANK, "app rank");
    PMIX_INFO_LOAD(&info[0], PMIX_APP_INFO, &yes, PMIX_BOOL);
    say_number(&me, info, 1, PMIX_APP_SIZE, "of");
    say_sets();
    printf("\n");
    must(PMIx_Get(&all, PMIX_JOB_NUM_APPS, NULL, 0, &value), PMIX_JOB_NUM_APPS);
    for (uint32_t app = 0; app < number_of(value); app++) {
        PMIX_INFO_LOAD(&info[1], PMIX_APPNUM, &app, PMIX_UINT32);
        printf("rank %u: app %u:", me.rank, app);
        say_number(&all, info, 2, PMIX_APP_SIZE, "size");
        say_number(&all, info, 2, PMIX_APPLDR, "leader");
        say_string(&all, info, 2, PMIX_WDIR, "wdir");
        say_string(&all, info, 2, PMIX_APP_ARGV, "argv");
        printf("\n");
    }
    PMIX_VALUE_RELEASE(value);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int code = 2;

    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    if (strcmp(what, "apps") == 0) {
        code = apps();
    }
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return code;
}
