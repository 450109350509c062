/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* data_pmix.c [ROUNDS [late]] - a plain PMIx client, no MPI: what passes between the ranks of a job.
 *
 * Every round: each rank puts a value for all, one for its node, one for other nodes; after a collecting
 * fence each finds what it may find.  Then values that no fence has carried, these put again, with "late"
 * one that its owner commits while the others wait for it, and keys that nobody has.  Exit status: 1 if
 * anything was wrong. */
#include <pmix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static int wrong;

static void expect(int holds, const char *what, pmix_rank_t rank, pmix_status_t rc)
{
    if (!holds) {
        printf("rank %u: %s of rank %u: %s (%d)\n", me.rank, what, rank, PMIx_Error_string(rc), rc);
        wrong = 1;
    }
}

static void put(pmix_scope_t scope, const char *key, unsigned round)
{
    char text[64];
    pmix_value_t value;

    snprintf(text, sizeof(text), "%s %u %u", key, me.rank, round);
    memset(&value, 0, sizeof(value));
    value.type = PMIX_STRING;
    value.data.string = text;
    expect(PMIx_Put(scope, key, &value) == PMIX_SUCCESS, key, me.rank, PMIX_ERROR);
}

static pmix_status_t get_with(pmix_rank_t rank, const char *key, const pmix_info_t *info,
                              pmix_value_t **ret)
{
    pmix_proc_t proc = me;

    proc.rank = rank;
    *ret = NULL;
    return PMIx_Get(&proc, key, info, info != NULL ? 1 : 0, ret);
}

/* @timeout: seconds, 0 for none. */
static pmix_status_t get(pmix_rank_t rank, const char *key, int timeout, pmix_value_t **ret)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_TIMEOUT);
    info.value.type = PMIX_INT;
    info.value.data.integer = timeout;
    return get_with(rank, key, timeout > 0 ? &info : NULL, ret);
}

static pmix_status_t get_fresh(pmix_rank_t rank, const char *key, pmix_value_t **ret)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_GET_REFRESH_CACHE);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    return get_with(rank, key, &info, ret);
}

static void get_text(pmix_rank_t rank, const char *key, unsigned round, int fresh)
{
    char text[64];
    pmix_value_t *value;
    const pmix_status_t rc = fresh ? get_fresh(rank, key, &value) : get(rank, key, 30, &value);

    snprintf(text, sizeof(text), "%s %u %u", key, rank, round);
    expect(rc == PMIX_SUCCESS && value->type == PMIX_STRING &&
               strcmp(value->data.string, text) == 0,
           key, rank, rc);
    if (rc == PMIX_SUCCESS) {
        PMIX_VALUE_RELEASE(value);
    }
}

static void fence(int collect)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_COLLECT_DATA);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    const pmix_status_t rc = PMIx_Fence(NULL, 0, &info, collect ? 1 : 0);
    expect(rc == PMIX_SUCCESS, "a fence", me.rank, rc);
}

static uint32_t job_number(const char *key)
{
    pmix_value_t *value;
    const pmix_status_t rc = get(PMIX_RANK_WILDCARD, key, 0, &value);
    uint32_t number = 0;

    expect(rc == PMIX_SUCCESS && value->type == PMIX_UINT32, key, PMIX_RANK_WILDCARD, rc);
    if (rc == PMIX_SUCCESS) {
        number = value->data.uint32;
        PMIX_VALUE_RELEASE(value);
    }
    return number;
}

static void round_run(unsigned round, uint32_t size)
{
    char key[64];

    snprintf(key, sizeof(key), "data.all.%u", round);
    put(PMIX_GLOBAL, key, round);
    put(PMIX_GLOBAL, "data.again", round);
    put(PMIX_LOCAL, "data.node", round);
    put(PMIX_REMOTE, "data.others", round);
    expect(PMIx_Commit() == PMIX_SUCCESS, "commit", me.rank, PMIX_ERROR);
    fence(1);
    for (uint32_t rank = 0; rank < size; rank++) {
        get_text(rank, key, round, 0);
    }
    get_text((me.rank + 1) % size, "data.again", round, 0);
    fence(0); /* nobody puts "again" anew before all have read it */
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    const int late = argc > 2 && strcmp(argv[2], "late") == 0;
    pmix_value_t *value;
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    if (rc != PMIX_SUCCESS) {
        printf("init: %s (%d)\n", PMIx_Error_string(rc), rc);
        return 1;
    }
    const uint32_t size = job_number(PMIX_JOB_SIZE);

    for (unsigned round = 0; round < rounds; round++) {
        round_run(round, size);
    }
    for (unsigned time = 0; time < 3; time++) {
        put(PMIX_GLOBAL, "data.direct", time);
        PMIx_Commit();
        fence(0);
        for (uint32_t rank = 0; rank < size; rank++) {
            get_text(rank, "data.direct", time, time > 0);
        }
        fence(0); /* nobody puts it again before all have read it */
    }
    if (late && me.rank == 0) {
        usleep(200000);
        put(PMIX_GLOBAL, "data.late", 0);
        PMIx_Commit();
    }
    if (late) {
        get_text(0, "data.late", 0, 0);
    }
    rc = get((me.rank + 1) % size, "data.never", 1, &value);
    expect(rc == PMIX_ERR_TIMEOUT || rc == PMIX_ERR_NOT_FOUND, "what nobody put", me.rank, rc);
    fence(0);
    rc = PMIx_Finalize(NULL, 0);
    expect(rc == PMIX_SUCCESS, "finalize", me.rank, rc);
    printf("rank %u of %u: %s\n", me.rank, size, wrong ? "WRONG" : "ok");
    return wrong;
}
