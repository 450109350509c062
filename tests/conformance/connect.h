/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect.h - for the tests of connect: its calls in all forms, and what two jobs say to each
 * other.
 *
 * Written from the words of the Standard and of RFC0003.  Everything is static: each test program
 * is one file.  The first job is JOB_NSPACE, the second one is added by the host function
 * host_of_two. */
#ifndef SX_TESTS_CONFORMANCE_CONNECT_H
#define SX_TESTS_CONFORMANCE_CONNECT_H

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "../system/job.h"
#include "../system/received.h"

#define SECOND "second.job"
#define WILDCARD PMIX_RANK_WILDCARD

static pmix_proc_t me;

/* ---- directives ----------------------------------------------------------------------------- */

struct words {
    pmix_info_t infos[6];
    size_t count;
};
#define NO_WORDS ((struct words){ .count = 0 })

static inline struct words and_say(struct words words, const char *key, const void *value,
                                   pmix_data_type_t type)
{
    CHECK_STATUS(PMIx_Info_load(&words.infos[words.count++], key, value, type), PMIX_SUCCESS);
    return words;
}

static inline struct words and_flag(struct words words, const char *key)
{
    const bool yes = true;

    return and_say(words, key, &yes, PMIX_BOOL);
}

static inline struct words and_id(struct words words, const char *id)
{
    return and_say(words, PMIX_CONNECT_ID, id, PMIX_STRING);
}

static inline struct words and_limit(struct words words, int seconds)
{
    return and_say(words, PMIX_TIMEOUT, &seconds, PMIX_INT);
}

static inline void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        PMIx_Info_destruct(&words->infos[i]);
    }
    words->count = 0;
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* One connect of this process, or one disconnect. */
struct call {
    pmix_status_t status;
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t rank;
    unsigned answers; /* under heard_lock */
};

static inline void call_answered(struct call *call, pmix_status_t status)
{
    pthread_mutex_lock(&received_lock);
    call->status = status;
    call->answers++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

static inline void on_connected(pmix_status_t status, char nspace[], pmix_rank_t rank, void *cbdata)
{
    struct call *const call = cbdata;

    snprintf(call->nspace, sizeof(call->nspace), "%s", nspace != NULL ? nspace : "");
    call->rank = rank;
    call_answered(call, status);
}

static inline void on_done(pmix_status_t status, void *cbdata)
{
    call_answered(cbdata, status);
}

/* Return: how it ended. */
static inline pmix_status_t call_wait(struct call *call)
{
    pthread_mutex_lock(&received_lock);
    while (call->answers == 0) {
        received_wait_locked("a callback", 0);
    }
    CHECK(call->answers == 1);
    pthread_mutex_unlock(&received_lock);
    return call->status;
}

/* The ranks have another library (job.h), which has no call that tells the namespace. */
static inline bool is_theirs(void)
{
    return getenv("JOB_THEIRS") != NULL;
}

static inline pmix_status_t connect_by(const pmix_proc_t procs[], size_t nprocs, struct words words,
                                       struct call *call)
{
    *call = (struct call){ .rank = PMIX_RANK_UNDEF };
    call->status = is_theirs() ? PMIx_Connect(procs, nprocs, words.infos, words.count)
                               : shmix_connect(procs, nprocs, words.infos, words.count,
                                               call->nspace, &call->rank);
    words_free(&words);
    return call->status;
}

static inline void connect_begin(const pmix_proc_t procs[], size_t nprocs, struct words words,
                                 struct call *call)
{
    *call = (struct call){ .rank = PMIX_RANK_UNDEF };
    const pmix_status_t rc = is_theirs() ? PMIx_Connect_nb(procs, nprocs, words.infos, words.count,
                                                           on_done, call)
                                         : shmix_connect_nb(procs, nprocs, words.infos, words.count,
                                                            on_connected, call);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    words_free(&words);
}

static inline pmix_status_t disconnect_by(const char *nspace, struct words words)
{
    const pmix_status_t rc = shmix_disconnect(nspace, words.infos, words.count);

    words_free(&words);
    return rc;
}

/* The newest of the connected namespaces that this process is in.  Return: as PMIx_Get. */
static inline pmix_status_t newest_get(struct call *ret)
{
    pmix_value_t *value;
    const pmix_status_t rc = PMIx_Get(&me, SHMIX_CONNECTED, NULL, 0, &value);

    if (rc == PMIX_SUCCESS) {
        const pmix_data_array_t *const array = value->data.darray;

        CHECK(value->type == PMIX_DATA_ARRAY && array->type == PMIX_PROC && array->size > 0);
        const pmix_proc_t *const newest = (const pmix_proc_t *)array->array + array->size - 1;
        memcpy(ret->nspace, newest->nspace, sizeof(ret->nspace));
        ret->rank = newest->rank;
        PMIx_Value_destruct(value);
        free(value);
    }
    return rc;
}

/* ---- what is put and read ------------------------------------------------------------------- */

static inline void put_text(const char *key, const char *text)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

/* *ret is empty unless it is a string.  Return: as PMIx_Get. */
static inline pmix_status_t get_text(const pmix_proc_t *proc, const char *key, char ret[512])
{
    pmix_value_t *value;
    const pmix_status_t rc = PMIx_Get(proc, key, NULL, 0, &value);

    ret[0] = '\0';
    if (rc == PMIX_SUCCESS) {
        snprintf(ret, 512, "%s", value->type == PMIX_STRING ? value->data.string : "");
        PMIx_Value_destruct(value);
        free(value);
    }
    return rc;
}

/* *ret is UINT32_MAX unless it is one.  Return: as PMIx_Get. */
static inline pmix_status_t get_u32(const pmix_proc_t *proc, const char *key, uint32_t *ret)
{
    pmix_value_t *value;
    const pmix_status_t rc = PMIx_Get(proc, key, NULL, 0, &value);

    *ret = UINT32_MAX;
    if (rc == PMIX_SUCCESS) {
        *ret = value->type == PMIX_UINT32 ? value->data.uint32 : UINT32_MAX;
        PMIx_Value_destruct(value);
        free(value);
    }
    return rc;
}

/* All of @procs, which are single ones, have called it and said the same namespace; each has a rank
 * of its own from 0 on.  @key is used once. */
static inline void agree(const pmix_proc_t procs[], size_t nprocs, const struct call *call,
                         const char *key)
{
    char said[512], nspace[512];
    uint64_t ranks = 0;
    unsigned rank;

    snprintf(said, sizeof(said), "%u %s", call->rank, call->nspace);
    put_text(key, said);
    for (size_t i = 0; i < nprocs; i++) {
        CHECK_STATUS(get_text(&procs[i], key, said), PMIX_SUCCESS);
        CHECK(sscanf(said, "%u %511s", &rank, nspace) == 2);
        CHECK(strcmp(nspace, call->nspace) == 0);
        CHECK(rank < nprocs && (ranks >> rank & 1) == 0);
        ranks |= UINT64_C(1) << rank;
    }
    CHECK(call->nspace[0] != '\0' && strlen(call->nspace) <= PMIX_MAX_NSLEN);
    CHECK(strcmp(call->nspace, JOB_NSPACE) != 0 && strcmp(call->nspace, SECOND) != 0);
}

/* ---- life ----------------------------------------------------------------------------------- */

#define PIPE_OF_HOST 3

static inline bool token_is_there(int pipe_index)
{
    struct pollfd poll_fd = { .fd = 100 + 2 * pipe_index, .events = POLLIN };

    return poll(&poll_fd, 1, 0) == 1;
}

/* In a rank where there are two jobs, and both are known. */
static inline void begin_of_two(void)
{
    rank_begin(&me);
    if (strcmp(me.nspace, JOB_NSPACE) == 0) {
        job_token_get(PIPE_OF_HOST);
    }
}

/* The second job has two ranks, which are 2 and 3 of a case whose first job has two. */
static inline int host_of_two(struct job *job)
{
    const int first = job->size;

    job_add(job, SECOND, 2);
    for (int rank = 0; rank < first; rank++) {
        job_token_put(PIPE_OF_HOST);
    }
    return 0;
}

#endif
