/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* put_take_test.c - puts that take a key away, PMIX_DEL_*: who sees it before, after the put, after
 * the commit, and what other nodes are told.
 *
 * Rank 0 puts and takes away, rank 1 looks.  Rank 2 lives elsewhere: the host makes it say what rank 0
 * says, by giving rank 0's part of a fence another rank. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "job.h"

#define FAR 2

static pmix_proc_t me;

static void begin(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(me.rank == (pmix_rank_t)rank);
}

static void fence(bool collect)
{
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, 1), PMIX_SUCCESS);
}

/* A byte object of @size bytes, all of them @fill. */
static void put(pmix_scope_t scope, const char *key, size_t size, char fill)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

    value.data.bo.bytes = malloc(size);
    value.data.bo.size = size;
    CHECK(value.data.bo.bytes != NULL);
    memset(value.data.bo.bytes, fill, size);
    CHECK_STATUS(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
    free(value.data.bo.bytes);
}

static void take(pmix_scope_t scope, const char *key)
{
    CHECK_STATUS(PMIx_Put(scope, key, NULL), PMIX_SUCCESS);
}

/* In what is there already.  Return: how it is filled, 0: it is not there. */
static char look(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;
    pmix_info_t info;

    proc.rank = rank;
    info = info_flag(PMIX_OPTIONAL);
    const pmix_status_t rc = PMIx_Get(&proc, key, &info, 1, &value);
    if (rc == PMIX_ERR_NOT_FOUND) {
        return 0;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    const char fill = value->data.bo.bytes[value->data.bo.size - 1];
    PMIx_Value_destruct(value);
    free(value);
    return fill;
}

/* ---- who sees what -------------------------------------------------------------------------- */

static const struct {
    pmix_scope_t put, take;
    bool own, peer, far; /* who sees it afterwards */
} rows[] = {
    { PMIX_LOCAL, PMIX_DEL_LOCAL, false, false },
    { PMIX_LOCAL, PMIX_DEL_REMOTE, true, true },
    { PMIX_LOCAL, PMIX_DEL_GLOBAL, false, false },
    { PMIX_LOCAL, PMIX_DEL_INTERNAL, true, true },
    { PMIX_REMOTE, PMIX_DEL_LOCAL, true, false, true },
    { PMIX_REMOTE, PMIX_DEL_REMOTE, false, false },
    { PMIX_REMOTE, PMIX_DEL_GLOBAL, false, false },
    { PMIX_REMOTE, PMIX_DEL_INTERNAL, true, false, true },
    { PMIX_GLOBAL, PMIX_DEL_LOCAL, true, false, true },
    { PMIX_GLOBAL, PMIX_DEL_REMOTE, true, true },
    { PMIX_GLOBAL, PMIX_DEL_GLOBAL, false, false },
    { PMIX_GLOBAL, PMIX_DEL_INTERNAL, true, true, true },
    { PMIX_INTERNAL, PMIX_DEL_LOCAL, true, false },
    { PMIX_INTERNAL, PMIX_DEL_REMOTE, true, false },
    { PMIX_INTERNAL, PMIX_DEL_GLOBAL, true, false },
    { PMIX_INTERNAL, PMIX_DEL_INTERNAL, false, false },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Through the lane, and around it. */
static const size_t sizes[] = { 8, 100000 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const char *key_of(size_t row, size_t size)
{
    static char key[32];

    snprintf(key, sizeof(key), "key.%zu.%zu.", row, size);
    return key;
}

#define EACH_KEY(row, size)                 \
    for (size_t row = 0; row < ROWS; row++) \
        for (size_t size = 0; size < SIZES; size++)

static void expect(pmix_rank_t rank, size_t row, size_t size, bool seen)
{
    if ((look(rank, key_of(row, size)) != 0) != seen) {
        fprintf(stderr, "rank %u: key of rank %u, row %zu, size %zu: %s\n", me.rank, rank, row,
                sizes[size], seen ? "not there" : "there");
        exit(99);
    }
}

static void rank_that_takes(void)
{
    EACH_KEY(row, size)
    {
        put(rows[row].put, key_of(row, size), sizes[size], 'a');
    }
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    fence(true);
    EACH_KEY(row, size)
    {
        take(rows[row].take, key_of(row, size));
        expect(0, row, size, rows[row].own);
    }
    fence(true);
    fence(true); /* rank 1 has looked */
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    fence(true);
    EACH_KEY(row, size)
    {
        expect(0, row, size, rows[row].own);
    }
}

/* Until the commit everybody else sees it. */
static void rank_that_looks(void)
{
    fence(true);
    fence(true);
    EACH_KEY(row, size)
    {
        expect(0, row, size, (rows[row].put & PMIX_LOCAL) != 0);
        expect(FAR, row, size, (rows[row].put & PMIX_REMOTE) != 0);
    }
    fence(true);
    fence(true);
    EACH_KEY(row, size)
    {
        expect(0, row, size, rows[row].peer);
        expect(FAR, row, size, rows[row].far);
    }
}

static int rank_of_the_table(int rank)
{
    begin(rank);
    if (rank == 0) {
        rank_that_takes();
    } else {
        rank_that_looks();
    }
    fence(false);
    job_token_put(0);
    job_token_get(1); /* the host has asked */
    return rank_end();
}

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    pmix_status_t status;
    char *data;
    size_t size;
    bool done;
};

static void on_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    struct answer *const answer = cbdata;

    pthread_mutex_lock(&answer->lock);
    answer->status = status;
    answer->data = malloc(size);
    answer->size = size;
    CHECK(answer->data != NULL);
    memcpy(answer->data, data, size);
    answer->done = true;
    pthread_cond_signal(&answer->cond);
    pthread_mutex_unlock(&answer->lock);
}

static struct answer ask_for_rank_0(void)
{
    struct answer answer = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
    const pmix_proc_t proc = { .nspace = JOB_NSPACE, .rank = 0 };

    CHECK_STATUS(PMIx_server_dmodex_request(&proc, on_data, &answer), PMIX_SUCCESS);
    pthread_mutex_lock(&answer.lock);
    while (!answer.done) {
        pthread_cond_wait(&answer.cond, &answer.lock);
    }
    pthread_mutex_unlock(&answer.lock);
    CHECK_STATUS(answer.status, PMIX_SUCCESS);
    return answer;
}

static void ranks_wait_for(void (*asks)(void))
{
    job_token_get(0);
    job_token_get(0);
    asks();
    job_token_put(1);
    job_token_put(1);
}

static void ask_for_the_table(void)
{
    const struct answer answer = ask_for_rank_0();

    EACH_KEY(row, size)
    {
        const char *const key = key_of(row, size);
        const bool there = memmem(answer.data, answer.size, key, strlen(key)) != NULL;

        if (there != rows[row].far) {
            fprintf(stderr, "a direct modex: row %zu, size %zu: %d\n", row, sizes[size], there);
            exit(99);
        }
    }
    free(answer.data);
}

static int host_of_the_table(struct job *job)
{
    ranks_wait_for(ask_for_the_table);
    return 0;
}

/* ---- again and again ------------------------------------------------------------------------ */

/* What comes last counts, in one commit or in several, by the process that had put it or one that
 * takes its place. */
static void rank_that_changes_its_mind(void)
{
    put(PMIX_GLOBAL, "put.take", 8, 'a');
    take(PMIX_DEL_GLOBAL, "put.take");
    take(PMIX_DEL_GLOBAL, "take.put");
    put(PMIX_GLOBAL, "take.put", 8, 'a');
    put(PMIX_GLOBAL, "rounds", 8, 'a');
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    for (char round = 'a'; round <= 'z'; round++) {
        take(PMIX_DEL_GLOBAL, "rounds");
        CHECK(look(0, "rounds") == 0);
        put(PMIX_LOCAL, "rounds", round % 2 != 0 ? 8 : 100000, round);
        CHECK(look(0, "rounds") == round);
        put(PMIX_GLOBAL, "scopes", 8, 'A');
        take(PMIX_DEL_LOCAL, "scopes");
        put(PMIX_REMOTE, "scopes", 8, round);
        put(PMIX_REMOTE, "remote", 8, 'R');
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        put(PMIX_GLOBAL, "remote", 8, round);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    }
    put(PMIX_GLOBAL, "earlier", 8, 'a');
    put(PMIX_GLOBAL, "former", 8, 'a');
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    rank_end();
    begin(0);
    CHECK(look(0, "earlier") == 'a');
    take(PMIX_DEL_GLOBAL, "earlier");
    take(PMIX_DEL_LOCAL, "former");
    CHECK(look(0, "earlier") == 0);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

static int rank_of_again(int rank)
{
    begin(rank);
    if (rank == 0) {
        rank_that_changes_its_mind();
    }
    fence(true);
    if (rank != 0) {
        for (pmix_rank_t of = 0; of <= FAR; of += FAR) {
            CHECK(look(of, "put.take") == 0);
            CHECK(look(of, "take.put") == 'a');
            CHECK(look(of, "rounds") == (of == 0 ? 'z' : 0));
            CHECK(look(of, "scopes") == (of == 0 ? 0 : 'z'));
            CHECK(look(of, "remote") == 'z');
            CHECK(look(of, "earlier") == 0);
            CHECK(look(of, "former") == (of == 0 ? 0 : 'a'));
        }
    }
    fence(false);
    job_token_put(0);
    job_token_get(1);
    return rank_end();
}

static void ask_for_the_newest(void)
{
    const struct answer answer = ask_for_rank_0();

    CHECK(memmem(answer.data, answer.size, "RRRRRRRR", 8) == NULL);
    CHECK(memmem(answer.data, answer.size, "zzzzzzzz", 8) != NULL);
    CHECK(memmem(answer.data, answer.size, "earlier", 7) == NULL);
    CHECK(memmem(answer.data, answer.size, "former", 6) != NULL);
    free(answer.data);
}

static int host_of_again(struct job *job)
{
    ranks_wait_for(ask_for_the_newest);
    return 0;
}

/* ---- what stays ----------------------------------------------------------------------------- */

static uint16_t local_rank_of_0(void)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;

    proc.rank = 0;
    CHECK_STATUS(PMIx_Get(&proc, PMIX_LOCAL_RANK, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_UINT16);
    const uint16_t number = value->data.uint16;
    free(value);
    return number;
}

static int rank_of_the_hosts(int rank)
{
    pmix_value_t number = { .type = PMIX_UINT16, .data.uint16 = 7 };

    begin(rank);
    if (rank == 0) {
        for (pmix_scope_t scope = PMIX_DEL_LOCAL; scope <= PMIX_DEL_GLOBAL; scope++) {
            CHECK_STATUS(PMIx_Put(scope, PMIX_LOCAL_RANK, NULL), PMIX_ERR_NOT_SUPPORTED);
            CHECK_STATUS(PMIx_Put(scope, PMIX_QUALIFIED_VALUE, NULL), PMIX_ERR_NOT_SUPPORTED);
        }
        take(PMIX_DEL_INTERNAL, PMIX_LOCAL_RANK);
        CHECK(local_rank_of_0() == 0);
        CHECK_STATUS(PMIx_Put(PMIX_INTERNAL, PMIX_LOCAL_RANK, &number), PMIX_SUCCESS);
        CHECK(local_rank_of_0() == 7);
        take(PMIX_DEL_INTERNAL, PMIX_LOCAL_RANK);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Put(PMIX_DEL_INTERNAL, PMIX_QUALIFIED_VALUE, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
        CHECK_STATUS(PMIx_Put(PMIX_DEL_INTERNAL + 1, "key", &number), PMIX_ERR_BAD_PARAM);
    }
    fence(true);
    CHECK(local_rank_of_0() == 0);
    fence(false);
    return rank_end();
}

/* ---- the other node ------------------------------------------------------------------------- */

/* A blob is a header of 16 bytes and one section per rank: rank, length of the name, size of what
 * follows the name, which is padded to 8. */
static void rank_0_becomes_the_far_one(char *data, size_t size)
{
    for (size_t off = 16; off + 16 <= size;) {
        uint32_t head[2];
        uint64_t bytes;

        memcpy(head, data + off, sizeof(head));
        memcpy(&bytes, data + off + 8, sizeof(bytes));
        if (head[0] == 0) {
            head[0] = FAR;
            memcpy(data + off, head, sizeof(head));
        }
        off += 16 + (head[1] + 7) / 8 * 8 + bytes;
    }
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    char *const copy = malloc(ndata);

    CHECK(copy != NULL);
    memcpy(copy, data, ndata);
    rank_0_becomes_the_far_one(copy, ndata);
    free(data);
    cbfunc(PMIX_SUCCESS, copy, ndata, cbdata, free, copy);
    return PMIX_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "who_sees_what", 2, rank_of_the_table, host_of_the_table },
        { "again_and_again", 2, rank_of_again, host_of_again },
        { "what_the_host_gave", 2, rank_of_the_hosts },
    };

    job_elsewhere = 1;
    job_module.fence_nb = on_fence;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
