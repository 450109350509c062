/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* memory_test.c - memory handed out is the caller's, and living again and again costs nothing.
 *
 * usage: memory_test [CASE]     the cases below, each with a host and its ranks (job.h)
 *        memory_test client     one rank's cycles, below any host
 *        memory_test server     a host's cycles, in one process
 *
 * `given`: values of every type, own ones and a peer's, and every other thing that becomes the
 * caller's, are kept together and freed in an order that has nothing to do with how they came.
 * It is meant to run under valgrind, which finds what is lost, used after or freed twice.
 *
 * The cycles: after WARM_UP of them descriptors, mappings, threads and data memory must stay what
 * they are (memory within SLACK_KIB, the C library's own give and take). */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "support/sanitized.h"
#include "system/job.h"
#include "unit/base/samples.h"

#define WARM_UP 100
#define CYCLES_FULL 10000
#define SLACK_KIB 64
#define SETTLE_SECONDS 10
#define SEEDS 3
#define GIVEN_MAX 4096

/* 1000 take ThreadSanitizer minutes when others compute too. */
#define CYCLES_SMOKE (SANITIZED ? 250 : 1000)

/* ---- what was given, and how it goes back ---------------------------------------------------- */

enum back {
    BACK_VALUE,       /* PMIX_VALUE_RELEASE */
    BACK_VALUE_PARTS, /* what it holds, then the block by free */
    BACK_BLOCK,       /* free */
    BACK_INFOS,       /* PMIX_INFO_FREE */
    BACK_ARRAY,       /* PMIX_DATA_ARRAY_FREE */
    BACK_VECTOR,      /* PMIX_ARGV_FREE */
    BACK_BUFFER,      /* PMIX_DATA_BUFFER_RELEASE */
};

static struct given {
    void *pointer;
    size_t count;
    enum back back;
} given[GIVEN_MAX];
static size_t given_count;

static void keep(void *pointer, size_t count, enum back back)
{
    CHECK(given_count < GIVEN_MAX);
    given[given_count++] = (struct given){ pointer, count, back };
}

static void give_back(const struct given *it)
{
    switch (it->back) {
    case BACK_VALUE: {
        pmix_value_t *value = it->pointer;
        PMIX_VALUE_RELEASE(value);
        CHECK(value == NULL);
        break;
    }
    case BACK_VALUE_PARTS:
        PMIX_VALUE_DESTRUCT((pmix_value_t *)it->pointer);
        free(it->pointer);
        break;
    case BACK_BLOCK:
        free(it->pointer);
        break;
    case BACK_INFOS: {
        pmix_info_t *infos = it->pointer;
        PMIX_INFO_FREE(infos, it->count);
        break;
    }
    case BACK_ARRAY: {
        pmix_data_array_t *array = it->pointer;
        PMIX_DATA_ARRAY_FREE(array);
        break;
    }
    case BACK_VECTOR: {
        char **vector = it->pointer;
        PMIX_ARGV_FREE(vector);
        break;
    }
    case BACK_BUFFER: {
        pmix_data_buffer_t *buffer = it->pointer;
        PMIX_DATA_BUFFER_RELEASE(buffer);
        break;
    }
    }
}

/* In an order of no meaning, the same in each run. */
static void give_all_back(unsigned seed)
{
    srand(seed);
    while (given_count > 0) {
        const size_t pick = (size_t)rand() % given_count;

        give_back(&given[pick]);
        given[pick] = given[--given_count];
    }
}

/* ---- given: by PMIx_Get ---------------------------------------------------------------------- */

/* Calls @visit for every type that a value or an array in a value can have. */
static void each_sample(void (*visit)(const char *key, pmix_value_t *value, void *arg), void *arg)
{
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_value_t value;

    for (unsigned type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            if (sample_is_value_type((pmix_data_type_t)type)) {
                snprintf(key, sizeof(key), "value.%u.%u", type, seed);
                sample_value(&value, (pmix_data_type_t)type, 5 * type + seed, SAMPLE_DEPTH);
                visit(key, &value, arg);
                PMIX_VALUE_DESTRUCT(&value);
            }
            if (sample_is_element_type((pmix_data_type_t)type)) {
                snprintf(key, sizeof(key), "array.%u.%u", type, seed);
                sample_array_value(&value, (pmix_data_type_t)type, seed, 7 * type + seed);
                visit(key, &value, arg);
                PMIX_VALUE_DESTRUCT(&value);
            }
        }
    }
}

static void sample_put(const char *key, pmix_value_t *value, void *arg)
{
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, value), PMIX_SUCCESS);
}

static void sample_get(const char *key, pmix_value_t *value, void *arg)
{
    const pmix_proc_t *const proc = arg;
    pmix_value_t *got = NULL;

    CHECK_STATUS(PMIx_Get(proc, key, NULL, 0, &got), PMIX_SUCCESS);
    CHECK(got != NULL && got->type == value->type);
    CHECK(PMIx_Value_compare(got, value) == PMIX_EQUAL);
    keep(got, 1, given_count % 2 == 0 ? BACK_VALUE : BACK_VALUE_PARTS);
}

/* ---- given: by everything else --------------------------------------------------------------- */

static void texts_keep(const pmix_proc_t *self)
{
    pmix_value_t value = { .type = PMIX_INT, .data.integer = 42 };
    pmix_info_t info = { .key = "a.key" };

    keep(PMIx_Value_string(&value), 1, BACK_BLOCK);
    keep(PMIx_Info_string(&info), 1, BACK_BLOCK);
    keep(PMIx_Proc_string(self), 1, BACK_BLOCK);
    keep(PMIx_Info_directives_string(PMIX_INFO_REQD), 1, BACK_BLOCK);
    keep(PMIx_Argv_split("a,b,,c", ','), 1, BACK_VECTOR);
    char **const vector = PMIx_Argv_split_with_empty("a,b,,c", ',');
    keep(vector, 1, BACK_VECTOR);
    keep(PMIx_Argv_join(vector, ':'), 1, BACK_BLOCK);
    keep(PMIx_Argv_copy(vector), 1, BACK_VECTOR);
}

static void lists_keep(void)
{
    void *const list = PMIx_Info_list_start();
    pmix_data_array_t *const array = PMIx_Data_array_create(1, PMIX_UNDEF);
    pmix_info_t *infos;

    CHECK(list != NULL);
    CHECK_STATUS(PMIx_Info_list_add(list, "text", "text", PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_list_add(list, "zero", NULL, PMIX_INT), PMIX_SUCCESS);
    pmix_data_array_t converted = PMIX_DATA_ARRAY_STATIC_INIT;
    CHECK_STATUS(PMIx_Info_list_convert(list, &converted), PMIX_SUCCESS);
    PMIx_Info_list_release(list);
    keep(converted.array, converted.size, BACK_INFOS);
    keep(array, 1, BACK_ARRAY);
    PMIX_INFO_CREATE(infos, 3);
    PMIX_INFO_LOAD(&infos[1], "text", "text", PMIX_STRING);
    keep(infos, 3, BACK_INFOS);
}

/* What the packing functions make; a library without them has nothing to give. */
static void sample_pack(const char *key, pmix_value_t *value, void *arg)
{
    pmix_data_buffer_t *const packed = PMIx_Data_buffer_create();
    pmix_byte_object_t bytes = PMIX_BYTE_OBJECT_STATIC_INIT;
    char prefix[] = "  ", *text = NULL;
    void *data = NULL;
    size_t size;

    CHECK(packed != NULL);
    CHECK_STATUS(PMIx_Data_pack(NULL, packed, value, 1, PMIX_VALUE), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Data_unload(packed, &bytes), PMIX_SUCCESS);
    keep(packed, 1, BACK_BUFFER);
    pmix_data_buffer_t *const buffer = PMIx_Data_buffer_create();
    CHECK_STATUS(PMIx_Data_load(buffer, &bytes), PMIX_SUCCESS);
    keep(buffer, 1, BACK_BUFFER);
    pmix_value_t *const unpacked = PMIx_Value_create(1);
    int32_t count = 1;
    CHECK_STATUS(PMIx_Data_unpack(NULL, buffer, unpacked, &count, PMIX_VALUE), PMIX_SUCCESS);
    keep(unpacked, 1, BACK_VALUE);
    CHECK_STATUS(PMIx_Data_copy(&data, value, PMIX_VALUE), PMIX_SUCCESS);
    keep(data, 1, BACK_VALUE_PARTS);
    CHECK_STATUS(PMIx_Data_print(&text, prefix, value, PMIX_VALUE), PMIX_SUCCESS);
    keep(text, 1, BACK_BLOCK);
    pmix_value_t *const copy = PMIx_Value_create(1);
    CHECK_STATUS(PMIx_Value_xfer(copy, value), PMIX_SUCCESS);
    if (copy->type == PMIX_STRING) {
        data = NULL;
        CHECK_STATUS(PMIx_Value_unload(copy, &data, &size), PMIX_SUCCESS);
        keep(data, 1, BACK_BLOCK);
    }
    keep(copy, 1, BACK_VALUE);
}

static void names_keep(const pmix_proc_t *self)
{
    pmix_proc_t *procs = NULL;
    char *nodes = NULL;
    size_t count = 0;

    if (PMIx_Resolve_peers(NULL, self->nspace, &procs, &count) == PMIX_SUCCESS) {
        keep(procs, count, BACK_BLOCK);
    }
    if (PMIx_Resolve_nodes(self->nspace, &nodes) == PMIX_SUCCESS) {
        keep(nodes, 1, BACK_BLOCK);
    }
}

static int rank_given(int rank)
{
    pmix_proc_t self, peer;
    pmix_value_t *all = NULL;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK((int)self.rank == rank);
    PMIX_LOAD_PROCID(&peer, self.nspace, 1 - self.rank);
    each_sample(sample_put, NULL);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    each_sample(sample_get, &self);
    each_sample(sample_get, &peer);
    if (PMIx_Get(&peer, NULL, NULL, 0, &all) == PMIX_SUCCESS) {
        keep(all, 1, BACK_VALUE);
    }
    names_keep(&self);
    give_all_back(1);
    each_sample(sample_get, &peer);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    give_all_back(2); /* it outlives the library's use */
    texts_keep(&self);
    lists_keep();
    give_all_back(3);
    each_sample(sample_pack, NULL);
    give_all_back(4);
    return 0;
}

/* ---- cycles ---------------------------------------------------------------------------------- */

struct usage {
    long descriptors, mappings, threads, data_kib;
};

static long entries(const char *folder)
{
    DIR *const dir = opendir(folder);
    long count = 0;

    CHECK(dir != NULL);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static struct usage usage_now(void)
{
    struct usage usage = { .descriptors = entries("/proc/self/fd"),
                           .threads = entries("/proc/self/task") };
    char line[4096];
    FILE *file = fopen("/proc/self/maps", "r");

    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        usage.mappings++;
    }
    fclose(file);
    file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "VmData: %ld", &usage.data_kib);
    }
    fclose(file);
    return usage;
}

static bool usage_within(const struct usage *now, const struct usage *limit)
{
    return now->descriptors <= limit->descriptors && now->threads <= limit->threads &&
           (SANITIZED ||
            (now->mappings <= limit->mappings && now->data_kib <= limit->data_kib + SLACK_KIB));
}

/* What has ended a moment ago may still be there: a thread that was joined until the kernel has
 * buried it, a client's socket until the server has looked.  Return: whether it becomes again what
 * it was @before. */
static bool usage_same(const char *who, const struct usage *before)
{
    const time_t end = time(NULL) + SETTLE_SECONDS;
    struct usage now = usage_now();

    while (!usage_within(&now, before) && time(NULL) < end) {
        sched_yield();
        now = usage_now();
    }
    if (!usage_within(&now, before)) {
        fprintf(stderr,
                "%s: descriptors %ld to %ld, mappings %ld to %ld, threads %ld to %ld, "
                "data %ld to %ld KiB\n",
                who, before->descriptors, now.descriptors, before->mappings, now.mappings,
                before->threads, now.threads, before->data_kib, now.data_kib);
    }
    return usage_within(&now, before);
}

static int cycles_wanted(void)
{
    const char *const full = getenv("SHMIX_TEST_FULL");

    return full != NULL && strcmp(full, "1") == 0 ? CYCLES_FULL : CYCLES_SMOKE;
}

static int fence_done;

static void on_fence(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    __atomic_store_n(&fence_done, 1, __ATOMIC_RELEASE);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* A life with a value of its own, a job's value, a handler and the progress thread. */
static void client_cycle(void)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t) "text" };
    pmix_proc_t self, job;
    pmix_value_t *got;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_LOCAL, "cycle", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&self, "cycle", NULL, 0, &got), PMIX_SUCCESS);
    PMIX_VALUE_RELEASE(got);
    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &got), PMIX_SUCCESS);
    PMIX_VALUE_RELEASE(got);
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0);
    __atomic_store_n(&fence_done, 0, __ATOMIC_RELAXED);
    CHECK_STATUS(PMIx_Fence_nb(&self, 1, NULL, 0, on_fence, NULL), PMIX_SUCCESS);
    while (__atomic_load_n(&fence_done, __ATOMIC_ACQUIRE) == 0) {
        sched_yield(); /* bounded by the alarm of the rank */
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

static void cycles(void (*cycle)(void), const char *who)
{
    for (int i = 0; i < WARM_UP; i++) {
        cycle();
    }
    const struct usage before = usage_now();
    for (int i = 0; i < cycles_wanted(); i++) {
        cycle();
    }
    CHECK(usage_same(who, &before));
}

/* Its host measures itself too: after the warm-up, and when all is done. */
static int rank_cycles(int rank)
{
    for (int i = 0; i < WARM_UP; i++) {
        client_cycle();
    }
    job_token_put(rank);
    job_token_get(2 + rank);
    cycles(client_cycle, "a client");
    return 0;
}

static int host_cycles(struct job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        job_token_get(rank);
    }
    const struct usage before = usage_now();
    for (int rank = 0; rank < job->size; rank++) {
        job_token_put(2 + rank);
    }
    for (int rank = 0; rank < job->size; rank++) {
        (void)job_wait(job, rank);
    }
    return usage_same("the host of cycling clients", &before) ? 0 : 1;
}

static void server_cycle(void)
{
    static pmix_server_module_t module;
    const pmix_nspace_t nspace = "cycle.job";
    pmix_info_t infos[2];
    pmix_proc_t proc;
    uint32_t size = 2;
    char **env = NULL, *text;

    CHECK_STATUS(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_generate_regex("n1,n2,n3", &text), PMIX_SUCCESS);
    free(text);
    CHECK_STATUS(PMIx_generate_ppn("0,1;2;3", &text), PMIX_SUCCESS);
    free(text);
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    /* A text of the host's spares each cycle a look at the hardware. */
    PMIX_INFO_LOAD(&infos[1], PMIX_LOCAL_TOPO, "none", PMIX_STRING);
    CHECK(PMIx_server_register_nspace(nspace, 2, infos, 2, NULL, NULL) != PMIX_ERR_BAD_PARAM);
    PMIX_LOAD_PROCID(&proc, nspace, 1);
    CHECK(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL) !=
          PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    PMIX_ARGV_FREE(env);
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[1]);
}

static const struct job_case cases[] = {
    { "given", 2, rank_given },
    { "cycles", 2, rank_cycles, host_cycles },
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "client") == 0) {
        alarm(JOB_SECONDS);
        cycles(client_cycle, "a client of another host");
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "server") == 0) {
        alarm(JOB_SECONDS);
        cycles(server_cycle, "a server");
        return 0;
    }
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
