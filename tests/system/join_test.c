/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* join_test.c - a process that nobody has started joins a server later, by PMIX_SERVER_URI: under
 * the name that it has given itself, with what it has put, and with the handlers that it has.
 *
 * Rank 0 forgets that it has been started; rank 1 is an ordinary one. */
#include <stdint.h>
#include <unistd.h>

#include "received.h"

#define CODE (-3501)
#define CODE_LATER (-3502)
#define LARGE 100000u

static pmix_proc_t self;
static char uri[512];

/* Before anything of the library: what the host has said of itself. */
static void forget(void)
{
    const char *const address = getenv("SHMIX_SERVER_URI");

    if (address == NULL) {
        printf("skipped: the server is reached by a descriptor alone\n");
        exit(JOB_SKIPPED);
    }
    snprintf(uri, sizeof(uri), "any.0;%s", address);
    unsetenv("SHMIX_SERVER_URI");
    unsetenv("SHMIX_SERVER_FD");
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_RANK");
}

static pmix_status_t join(const char *to)
{
    pmix_proc_t again;
    pmix_info_t info;

    info = info_text(PMIX_SERVER_URI, to);
    const pmix_status_t rc = PMIx_Init(&again, &info, 1);

    PMIx_Info_destruct(&info);
    CHECK(rc != PMIX_SUCCESS || PMIx_Check_procid(&again, &self));
    return rc;
}

static void put(pmix_scope_t scope, const char *key, char fill, size_t size)
{
    pmix_value_t value = { .type = PMIX_STRING };

    value.data.string = calloc(1, size + 1);
    CHECK(value.data.string != NULL);
    memset(value.data.string, fill, size);
    CHECK_STATUS(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
    free(value.data.string);
}

static void expect(const pmix_proc_t *proc, const char *key, char fill, size_t size)
{
    pmix_value_t *value;

    CHECK_STATUS(PMIx_Get(proc, key, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_STRING && strlen(value->data.string) == size);
    CHECK(value->data.string[0] == fill && value->data.string[size - 1] == fill);
    PMIx_Value_destruct(value);
    free(value);
}

static void expect_own(void)
{
    pmix_proc_t job = self;
    pmix_value_t *value;

    expect(&self, "small", 'a', 5);
    expect(&self, "again", 'c', 5);
    expect(&self, "large", 'd', LARGE);
    expect(&self, "inside", 'e', 5);
    job.rank = PMIX_RANK_WILDCARD;
    CHECK_STATUS(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.uint32 == 1);
    free(value);
}

static void put_all(void)
{
    put(PMIX_GLOBAL, "small", 'a', 5);
    put(PMIX_LOCAL, "again", 'b', 5);
    put(PMIX_LOCAL, "again", 'c', 5);
    put(PMIX_GLOBAL, "large", 'd', LARGE);
    put(PMIX_INTERNAL, "inside", 'e', 5);
    put(PMIX_REMOTE, "far", 'f', 5);
    put(PMIX_GLOBAL, "taken", 'g', 5);
    CHECK_STATUS(PMIx_Put(PMIX_DEL_GLOBAL, "taken", NULL), PMIX_SUCCESS);
}

static void join_and_look(void)
{
    const pmix_proc_t other = { .nspace = JOB_NSPACE, .rank = 1 };
    pmix_info_t model;

    model = info_text(PMIX_PROGRAMMING_MODEL, "a model");
    CHECK_STATUS(PMIx_Init(&self, &model, 1), PMIX_ERR_UNREACH);
    PMIx_Info_destruct(&model);
    CHECK(strncmp(self.nspace, "singleton.", 10) == 0 && self.rank == 0);
    const size_t early = receive_one(CODE);
    (void)receive_one(PMIX_MODEL_DECLARED);
    received_wait(PMIX_MODEL_DECLARED, 1);
    put_all();
    CHECK_STATUS(join("any.0;unix:@shmix-0-1-1-nobody"), PMIX_ERR_UNREACH);
    CHECK_STATUS(join("any.0;tcp4://127.0.0.1:1"), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(join(uri), PMIX_ERR_NOT_FOUND); /* nobody has registered it there */
    expect_own();
    job_token_put(0);
    job_token_get(1);
    CHECK_STATUS(join(uri), PMIX_SUCCESS);
    CHECK_STATUS(join(uri), PMIX_SUCCESS);
    expect_own();
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    job_token_put(0);
    expect(&other, "peer", 'p', 5);
    received_wait(CODE, 2); /* what was kept, and what came */
    CHECK(received_by(early) == 2);
    (void)receive_one(CODE_LATER);
    received_wait(CODE_LATER, 1);
    CHECK(received_of(PMIX_MODEL_DECLARED) == 1);
    job_token_put(2);
}

static int rank_of_joining(int rank)
{
    if (rank == 0) {
        forget();
        join_and_look();
    } else {
        CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
        put(PMIX_GLOBAL, "peer", 'p', 5);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        job_token_get(2);
    }
    while (PMIx_Initialized()) {
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
    return 0;
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done, has[6];
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void on_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    static const char *const keys[] = { "small", "again", "large", "inside", "far", "taken" };

    CHECK_STATUS(status, PMIX_SUCCESS);
    pthread_mutex_lock(&seen.lock);
    for (size_t i = 0; i < 6; i++) {
        seen.has[i] = memmem(data, size, keys[i], strlen(keys[i])) != NULL;
    }
    seen.done = true;
    pthread_cond_signal(&seen.cond);
    pthread_mutex_unlock(&seen.lock);
}

static void publish(pmix_status_t code)
{
    const pmix_status_t rc = PMIx_Notify_event(code, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL);

    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
}

/* It registers whom it has been told of, as a launcher that a process starts for itself does. */
static int host_of_joining(struct job *job)
{
    static const bool want[] = { true, false, true, false, true, false };
    const uint32_t size = 1;
    char hostname[128] = "";
    pmix_proc_t proc = { .rank = 0 };
    pmix_info_t info;

    job_token_get(0);
    (void)gethostname(hostname, sizeof(hostname) - 1);
    snprintf(proc.nspace, sizeof(proc.nspace), "singleton.%s.%ld", hostname, (long)job->pids[0]);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace(proc.nspace, 1, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    CHECK_STATUS(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    publish(CODE);
    job_token_put(1);
    job_token_get(0);
    CHECK_STATUS(PMIx_server_dmodex_request(&proc, on_data, NULL), PMIX_SUCCESS);
    pthread_mutex_lock(&seen.lock);
    while (!seen.done) {
        pthread_cond_wait(&seen.cond, &seen.lock);
    }
    pthread_mutex_unlock(&seen.lock);
    CHECK(memcmp(seen.has, want, sizeof(want)) == 0);
    publish(CODE);
    publish(CODE_LATER);
    return 0;
}

/* ---- while other threads put and register --------------------------------------------------- */

#define PUTS 400u

static void *put_many(void *arg)
{
    char key[16];

    for (unsigned i = 0; i < PUTS; i++) {
        snprintf(key, sizeof(key), "key.%u.", i);
        put(PMIX_GLOBAL, key, 'x', i % 10 == 0 ? 3000 : 3);
        if (i % 20 == 0) {
            (void)receive_one(CODE);
        }
    }
    return arg;
}

static int rank_of_threads(int rank)
{
    pthread_t thread;
    char key[16];

    if (rank == 0) {
        forget();
        CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_ERR_UNREACH);
        job_token_put(0);
        job_token_get(1);
        CHECK(pthread_create(&thread, NULL, put_many, NULL) == 0);
        CHECK_STATUS(join(uri), PMIX_SUCCESS);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
        for (unsigned i = 0; i < PUTS; i++) {
            snprintf(key, sizeof(key), "key.%u.", i);
            expect(&self, key, 'x', i % 10 == 0 ? 3000 : 3);
        }
        received_wait(CODE, PUTS / 20); /* each of them what was kept */
        job_token_put(0);
        job_token_get(1);
        while (PMIx_Initialized()) {
            CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        }
        CHECK(received_of(CODE) == PUTS / 20);
    }
    return 0;
}

static unsigned missing;

static void on_all_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    char key[16];

    CHECK_STATUS(status, PMIX_SUCCESS);
    pthread_mutex_lock(&seen.lock);
    for (unsigned i = 0; i < PUTS; i++) {
        snprintf(key, sizeof(key), "key.%u.", i);
        missing += memmem(data, size, key, strlen(key)) == NULL;
    }
    seen.done = true;
    pthread_cond_signal(&seen.cond);
    pthread_mutex_unlock(&seen.lock);
}

static int host_of_threads(struct job *job)
{
    char hostname[128] = "";
    pmix_proc_t proc = { .rank = 0 };

    seen.done = false;
    job_token_get(0);
    (void)gethostname(hostname, sizeof(hostname) - 1);
    snprintf(proc.nspace, sizeof(proc.nspace), "singleton.%s.%ld", hostname, (long)job->pids[0]);
    CHECK_STATUS(PMIx_server_register_nspace(proc.nspace, 1, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    CHECK_STATUS(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    publish(CODE);
    job_token_put(1);
    job_token_get(0);
    CHECK_STATUS(PMIx_server_dmodex_request(&proc, on_all_data, NULL), PMIX_SUCCESS);
    pthread_mutex_lock(&seen.lock);
    while (!seen.done) {
        pthread_cond_wait(&seen.cond, &seen.lock);
    }
    pthread_mutex_unlock(&seen.lock);
    CHECK(missing == 0);
    job_token_put(1);
    return 0;
}

static const struct job_case cases[] = {
    { "later", 2, rank_of_joining, host_of_joining },
    { "while_others_put", 1, rank_of_threads, host_of_threads },
};

JOB_MAIN(cases)
