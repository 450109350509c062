/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* traced.c - a rank whose calls are recorded; it knows the Standard alone.
 *
 *     gets N   N Gets of the job's size
 *     calls    puts, gets of the next rank, publishes and looks up, blocking and with callbacks; each
 *              callback has to get its own cbdata
 *     fork     a child of the rank makes a Get as well
 *
 * It exits with 0 when all went well. */
#include <pmix.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pmix_proc_t self;

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "rank %u: %s\n", self.rank, what);
        exit(1);
    }
}

/* What a callback has to get back. */
struct awaited {
    sem_t come;
    struct awaited *own;
    pmix_status_t status;
    uint32_t number;
};

static void awaited_init(struct awaited *awaited)
{
    memset(awaited, 0, sizeof(*awaited));
    awaited->own = awaited;
    sem_init(&awaited->come, 0, 0);
}

static void come(void *cbdata, pmix_status_t status, uint32_t number)
{
    struct awaited *const awaited = cbdata;

    check(awaited->own == awaited, "a callback has another's cbdata");
    awaited->status = status;
    awaited->number = number;
    sem_post(&awaited->come);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    come(cbdata, status, value != NULL && value->type == PMIX_UINT32 ? value->data.uint32 : 0);
}

static void on_lookup(pmix_status_t status, pmix_pdata_t *data, size_t ndata, void *cbdata)
{
    come(cbdata, status, ndata == 1 ? data[0].value.data.uint32 : 0);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    come(cbdata, status, 0);
}

static void get(uint32_t count)
{
    pmix_proc_t job = self;
    pmix_value_t *value;

    job.rank = PMIX_RANK_WILDCARD;
    for (uint32_t i = 0; i < count; i++) {
        check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) == PMIX_SUCCESS, "PMIx_Get");
        PMIX_VALUE_RELEASE(value);
    }
}

static void values_exchange(void)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data = { .uint32 = self.rank + 100 } }, *got;
    pmix_proc_t peer = self;
    struct awaited awaited;

    peer.rank = 1 - self.rank;
    awaited_init(&awaited);
    check(PMIx_Put(PMIX_GLOBAL, "traced.key", &value) == PMIX_SUCCESS, "PMIx_Put");
    check(PMIx_Commit() == PMIX_SUCCESS, "PMIx_Commit");
    check(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS, "PMIx_Fence");
    check(PMIx_Get(&peer, "traced.key", NULL, 0, &got) == PMIX_SUCCESS, "PMIx_Get of a peer");
    check(got->data.uint32 == peer.rank + 100, "the value of a peer");
    PMIX_VALUE_RELEASE(got);
    check(PMIx_Get_nb(&peer, "traced.key", NULL, 0, on_value, &awaited) == PMIX_SUCCESS,
          "PMIx_Get_nb");
    sem_wait(&awaited.come);
    check(awaited.status == PMIX_SUCCESS && awaited.number == peer.rank + 100,
          "PMIx_Get_nb's value");
    check(PMIx_Get_nb(&peer, NULL, NULL, 0, NULL, NULL) != PMIX_SUCCESS, "a Get without a key");
}

static void names_exchange(void)
{
    static char key[] = "traced.name", *keys[] = { key, NULL };
    uint32_t number = 7;
    struct awaited awaited;
    pmix_info_t info;

    awaited_init(&awaited);
    PMIX_INFO_LOAD(&info, key, &number, PMIX_UINT32);
    if (self.rank == 0) {
        check(PMIx_Publish(&info, 1) == PMIX_SUCCESS, "PMIx_Publish");
    }
    check(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &awaited) == PMIX_SUCCESS, "PMIx_Fence_nb");
    sem_wait(&awaited.come);
    check(awaited.status == PMIX_SUCCESS, "PMIx_Fence_nb's status");
    check(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &awaited) == PMIX_SUCCESS, "PMIx_Lookup_nb");
    sem_wait(&awaited.come);
    check(awaited.status == PMIX_SUCCESS && awaited.number == 7, "PMIx_Lookup_nb's value");
}

static void child_get(void)
{
    const pid_t child = fork();
    int status = 1;

    if (child == 0) {
        get(1);
        _exit(0);
    }
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child's Get");
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";

    check(PMIx_Init(&self, NULL, 0) == PMIX_SUCCESS, "PMIx_Init");
    if (strcmp(what, "gets") == 0 && argc > 2) {
        get((uint32_t)atoi(argv[2]));
    } else if (strcmp(what, "calls") == 0) {
        values_exchange();
        names_exchange();
    } else {
        check(strcmp(what, "fork") == 0, "which calls?");
        child_get();
    }
    check(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS, "PMIx_Finalize");
    return 0;
}
