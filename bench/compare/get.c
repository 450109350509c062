/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get.c - a Get of a value that is there, by kind of value and by way of reading it.
 *
 * Question:  what does PMIx_Get cost once the value is there: a number of the job, a number and a string
 *            of a peer, a string of 4 KiB, into the caller's own value (PMIX_GET_STATIC_VALUES), as
 *            a pointer (PMIX_GET_POINTER_VALUES); and a read by <shmix.h>, where the library has that?
 * Predict:   a scalar 100 ns, of which a malloc and a free are 20 and are not there when static; a string
 *            another malloc; 4 KiB a copy more unless it is a pointer; native 10 to 30 ns.
 * Method:    every rank puts its values, collecting fence; then batches of 16 Gets, the peer another one
 *            each time, all ways in turns; a tenth is warm-up.  A sample is the time of a batch by 16.
 * Varies:    ranks.  Fixed: nothing else runs.  Control: the same loop with no Get (control).
 * Rank 0 prints a line of JSON for each way; the others Get at the same time. */
#include <dlfcn.h>

#include "compare.h"

#include "../hist.h"

#define BATCH 16u
#define LARGE_BYTES 4096u

struct shmix_job;
struct shmix_key;

enum way { CONTROL, SCALAR, PEER, STRING, LARGE, STATIC, POINTER, NATIVE, WAYS };

static const char *const names[WAYS] = { "control", "scalar", "peer",    "string",
                                         "large",   "static", "pointer", "native" };
static struct hist hists[WAYS];
static bool refused[WAYS];
static uint64_t checksum;

static struct {
    pmix_proc_t me, peer, job;
    uint32_t size;
    pmix_info_t is_static, is_pointer;
    const struct shmix_key *key;
    pmix_status_t (*read_u64)(const struct shmix_key *key, pmix_rank_t rank, uint64_t *ret_number);
} env;

static void put_text(const char *key, size_t size)
{
    char *const text = malloc(size);
    pmix_value_t value;

    memset(text, 'x', size - 1);
    text[size - 1] = '\0';
    PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
    must(PMIx_Put(PMIX_GLOBAL, key, &value), key);
    free(value.data.string);
    free(text);
}

static void put_all(void)
{
    uint64_t number = env.me.rank;
    pmix_value_t value;

    PMIX_VALUE_LOAD(&value, &number, PMIX_UINT64);
    must(PMIx_Put(PMIX_GLOBAL, "get.number", &value), "put");
    put_text("get.string", 32);
    put_text("get.large", LARGE_BYTES);
    must(PMIx_Commit(), "commit");
}

/* What one library alone has is looked up, so that this runs on any. */
static void native_open(void)
{
    void *job_open, *key_find, *read_u64;
    struct shmix_job *job;

    job_open = dlsym(RTLD_DEFAULT, "shmix_job_open");
    key_find = dlsym(RTLD_DEFAULT, "shmix_key_find");
    read_u64 = dlsym(RTLD_DEFAULT, "shmix_read_u64");
    refused[NATIVE] = job_open == NULL || key_find == NULL || read_u64 == NULL;
    if (!refused[NATIVE]) {
        pmix_status_t (*open_fn)(const char *, struct shmix_job **);
        pmix_status_t (*find_fn)(struct shmix_job *, int, const char *, const struct shmix_key **);

        memcpy(&open_fn, &job_open, sizeof(open_fn));
        memcpy(&find_fn, &key_find, sizeof(find_fn));
        memcpy(&env.read_u64, &read_u64, sizeof(env.read_u64));
        must(open_fn(NULL, &job), "shmix_job_open");
        must(find_fn(job, 0, "get.number", &env.key), "shmix_key_find");
    }
}

static pmix_status_t get_one(enum way way)
{
    static const char *const keys[WAYS] = { NULL,        PMIX_JOB_SIZE, "get.number", "get.string",
                                            "get.large", "get.number",  "get.large",  NULL };
    pmix_value_t stored, *value = way == STATIC ? &stored : NULL;
    const pmix_info_t *const info = way == STATIC    ? &env.is_static
                                    : way == POINTER ? &env.is_pointer
                                                     : NULL;
    uint64_t number = 0;
    pmix_status_t rc;

    if (way == CONTROL) {
        return PMIX_SUCCESS;
    }
    if (way == NATIVE) {
        rc = env.read_u64(env.key, env.peer.rank, &number);
        checksum += number;
        return rc;
    }
    rc = PMIx_Get(way == SCALAR ? &env.job : &env.peer, keys[way], info, info != NULL, &value);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (way == STRING || way == LARGE || way == POINTER) {
        checksum += (unsigned char)value->data.string[0];
    } else {
        checksum += way == SCALAR ? value->data.uint32 : value->data.uint64;
    }
    if (way == STRING || way == LARGE) {
        free(value->data.string);
    }
    if (way != STATIC && way != POINTER) {
        free(value);
    }
    return PMIX_SUCCESS;
}

static void batch(enum way way, bool counts)
{
    const uint64_t begin_ns = hist_now_ns();

    for (unsigned i = 0; i < BATCH && !refused[way]; i++) {
        env.peer.rank = env.peer.rank + 1 < env.size ? env.peer.rank + 1 : 0;
        refused[way] = get_one(way) != PMIX_SUCCESS;
    }
    if (counts) {
        hist_add(&hists[way], hist_now_ns() - begin_ns);
    }
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 1024);
    const bool yes = true;

    must(PMIx_Init(&env.me, NULL, 0), "init");
    env.size = job_size(&env.me);
    env.peer = env.job = env.me;
    env.job.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&env.is_static, PMIX_GET_STATIC_VALUES, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&env.is_pointer, PMIX_GET_POINTER_VALUES, &yes, PMIX_BOOL);
    put_all();
    fence_collect();
    native_open();
    for (size_t i = 0; i < rounds + rounds / 10; i++) {
        for (int way = 0; way < WAYS; way++) {
            batch((enum way)way, i >= rounds / 10);
        }
    }
    for (int way = 0; way < WAYS && env.me.rank == 0; way++) {
        if (refused[way]) {
            printf("{\"what\": \"%s\", \"skipped\": \"this library has no such way\"}\n",
                   names[way]);
        } else {
            hist_print_batch(&hists[way], names[way], BATCH, "");
        }
    }
    if (env.me.rank == 0) {
        printf("{\"what\": \"checksum\", \"value\": %llu}\n", (unsigned long long)checksum);
        fflush(stdout);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
