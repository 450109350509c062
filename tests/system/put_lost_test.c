/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* put_lost_test.c - values that were put and committed, and for which the server has no room: the
 * process that has lost them is told by its fence or its next commit, and by an event how many.
 *
 * The server's process may write files of LIMIT bytes at most, its store included; the ranks raise
 * that limit again. */
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <shmix.h>

#include "received.h"

#define LIMIT ((size_t)3 << 20)
#define VALUES 500
#define VALUE_BYTES 10000 /* a message in a lane; all of them are more than LIMIT */
#define LARGE_BYTES (LIMIT + (1 << 20))
#define CODE_COUNTED (-3100)

static pmix_proc_t me;
static _Atomic uint64_t outcome; /* by events */

static void limit_set(rlim_t bytes)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void begin(void)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit_set(limit.rlim_max);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
}

static pmix_status_t fence(void)
{
    pmix_info_t info;

    info = info_flag(PMIX_COLLECT_DATA);
    return PMIx_Fence(NULL, 0, &info, 1);
}

static void put(const char *key, size_t size)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { calloc(1, size), size } };

    CHECK(value.data.bo.bytes != NULL);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
    free(value.data.bo.bytes);
}

static bool is_there(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;
    pmix_info_t info;

    proc.rank = rank;
    info = info_flag(PMIX_OPTIONAL);
    const pmix_status_t rc = PMIx_Get(&proc, key, &info, 1, &value);

    if (rc == PMIX_SUCCESS) {
        PMIx_Value_destruct(value);
        free(value);
    }
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND);
    return rc == PMIX_SUCCESS;
}

static const char *key_of(unsigned i)
{
    static char key[16];

    snprintf(key, sizeof(key), "key.%u", i);
    return key;
}

static void on_loss(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, SHMIX_VALUES_LOST_COUNT)) {
            CHECK(info[i].value.type == PMIX_SIZE);
            atomic_fetch_add(&outcome, info[i].value.data.size);
        }
    }
    receive(id, code, source, info, ninfo, results, nresults, done, cbdata);
}

/* What is lost of many small values: the fence says so, or the commit if it was seen that early;
 * the count is what another rank misses. */
static int rank_of_small(int rank)
{
    pmix_status_t codes[] = { SHMIX_ERR_VALUES_LOST, CODE_COUNTED };
    pmix_status_t commit = PMIX_SUCCESS;
    uint32_t missed = 0;

    begin();
    CHECK(PMIx_Register_event_handler(codes, 2, NULL, 0, on_loss, NULL, NULL) > 0);
    for (unsigned i = 0; i < VALUES && rank == 0; i++) {
        put(key_of(i), VALUE_BYTES);
    }
    if (rank == 0) {
        commit = PMIx_Commit();
    }
    const pmix_status_t status = fence();
    if (rank == 1) {
        CHECK_STATUS(status, PMIX_SUCCESS);
        for (unsigned i = 0; i < VALUES; i++) {
            missed += !is_there(0, key_of(i));
        }
        CHECK(missed > 0 && missed < VALUES);
        publish_with(CODE_COUNTED, PMIX_RANGE_NAMESPACE, missed, NULL, NULL, PMIX_UNDEF);
        received_wait(CODE_COUNTED, 1);
        CHECK(atomic_load(&outcome) == 0);
    } else {
        CHECK(status == PMIX_ERR_OUT_OF_RESOURCE || status == PMIX_SUCCESS);
        CHECK(commit == PMIX_ERR_OUT_OF_RESOURCE || commit == PMIX_SUCCESS);
        CHECK(status != PMIX_SUCCESS || commit != PMIX_SUCCESS);
        received_wait(CODE_COUNTED, 1);
        pthread_mutex_lock(&received_lock);
        CHECK(received_of_locked(SHMIX_ERR_VALUES_LOST) == 1);
        CHECK(received[1].code == CODE_COUNTED && received[1].number == atomic_load(&outcome));
        pthread_mutex_unlock(&received_lock);
    }
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS); /* told once */
    CHECK_STATUS(fence(), PMIX_SUCCESS);
    return rank_end();
}

/* A rank that does not fence: its next commit says so. */
static int rank_of_commit(int rank)
{
    pmix_status_t code = SHMIX_ERR_VALUES_LOST;

    begin();
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_loss, NULL, NULL) > 0);
    for (unsigned i = 0; i < VALUES; i++) {
        put(key_of(i), VALUE_BYTES);
    }
    const pmix_status_t first = PMIx_Commit();
    (void)is_there(1, key_of(0)); /* the server is woken */
    received_wait(SHMIX_ERR_VALUES_LOST, 1);
    const pmix_status_t next = PMIx_Commit();
    CHECK(first == PMIX_ERR_OUT_OF_RESOURCE || first == PMIX_SUCCESS);
    CHECK(next == PMIX_ERR_OUT_OF_RESOURCE || next == PMIX_SUCCESS);
    CHECK(first != PMIX_SUCCESS || next != PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    return rank_end();
}

/* A value that goes over control is answered: its own commit says so, and keeps what is behind. */
static int rank_of_large(int rank)
{
    begin();
    if (rank == 0) {
        put("large", LARGE_BYTES);
        put("small", 8);
        CHECK_STATUS(PMIx_Commit(), PMIX_ERR_OUT_OF_RESOURCE);
    }
    CHECK_STATUS(fence(), PMIX_SUCCESS);
    if (rank == 1) {
        CHECK(!is_there(0, "large") && is_there(0, "small"));
    }
    return rank_end();
}

/* Rank 0 commits values of which some are lost.  Return: what its commit returns. */
static pmix_status_t lose(int rank, const char *prefix)
{
    char key[32];

    for (unsigned i = 0; i < VALUES && rank == 0; i++) {
        snprintf(key, sizeof(key), "%s%s", prefix, key_of(i));
        put(key, VALUE_BYTES);
    }
    return rank == 0 ? PMIx_Commit() : PMIX_SUCCESS;
}

/* Rank 0 has the loss from one of the two; it is told by then. */
static void lost_by(int rank, pmix_status_t commit, pmix_status_t next)
{
    CHECK(commit == PMIX_ERR_OUT_OF_RESOURCE || commit == PMIX_SUCCESS);
    CHECK(next == PMIX_ERR_OUT_OF_RESOURCE || next == PMIX_SUCCESS);
    CHECK((commit != PMIX_SUCCESS || next != PMIX_SUCCESS) == (rank == 0));
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

/* A mere exchange returns the loss as a fence does. */
static int rank_of_exchange(int rank)
{
    pmix_proc_t all;
    pmix_info_t info;

    begin();
    all = me;
    all.rank = PMIX_RANK_WILDCARD;
    info = info_flag(PMIX_CONNECT_XCHG_ONLY);
    const pmix_status_t commit = lose(rank, "");
    lost_by(rank, commit, PMIx_Connect(&all, 1, &info, 1));
    return rank_end();
}

/* What makes something that all share succeeds; a commit behind it returns the loss. */
static int rank_of_membership(int rank)
{
    pmix_proc_t all;

    begin();
    all = me;
    all.rank = PMIX_RANK_WILDCARD;
    pmix_status_t commit = lose(rank, "c");
    CHECK_STATUS(PMIx_Connect(&all, 1, NULL, 0), PMIX_SUCCESS);
    lost_by(rank, commit, PMIx_Commit());
    commit = lose(rank, "g");
    CHECK_STATUS(PMIx_Group_construct("group", &all, 1, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    lost_by(rank, commit, PMIx_Commit());
    CHECK_STATUS(PMIx_Group_destruct("group", NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

static unsigned lines_of(FILE *file, const char *words)
{
    char line[1024];
    unsigned count = 0;

    rewind(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        count += strstr(line, words) != NULL;
    }
    return count;
}

/* Each loss is returned; a program that goes on all the same has few lines. */
static int rank_of_many(int rank)
{
    FILE *const log = tmpfile();
    const int before = dup(STDERR_FILENO);
    unsigned losses = 0;

    begin();
    CHECK(log != NULL && before >= 0 && dup2(fileno(log), STDERR_FILENO) >= 0);
    for (unsigned i = 0; i < VALUES; i++) {
        put(key_of(i), VALUE_BYTES);
        losses += PMIx_Commit() != PMIX_SUCCESS;
        losses += fence() != PMIX_SUCCESS;
    }
    CHECK(dup2(before, STDERR_FILENO) >= 0);
    const unsigned lines = lines_of(log, "values that were committed are lost");
    if (losses < 100 || lines < 1 || lines > 12) {
        fprintf(stderr, "%u losses, %u lines\n", losses, lines);
        return 1;
    }
    fclose(log);
    close(before);
    return rank_end();
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { .name = "small", .size = 2, .rank = rank_of_small },
        { .name = "commit", .size = 1, .rank = rank_of_commit },
        { .name = "large", .size = 2, .rank = rank_of_large },
        { .name = "exchange", .size = 2, .rank = rank_of_exchange },
        { .name = "membership", .size = 2, .rank = rank_of_membership },
        { .name = "many", .size = 1, .rank = rank_of_many },
    };

    if (argc == 1 || strcmp(argv[1], "--rank") != 0) {
        limit_set(LIMIT);
    }
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
