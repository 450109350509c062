/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish_test.c - what ranks publish, look up and take back, in the table of a server whose host
 * has no entries for it: ranges, persistence, access, lookups that wait. */
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

static pmix_proc_t me;

static void barrier(void)
{
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

/* ---- calls in short ---------------------------------------------------------------------------- */

#define NOTHING 0xffu

static pmix_status_t publish(const char *key, const char *value, unsigned range, unsigned persist)
{
    pmix_info_t info[3];
    size_t n = 0;

    PMIx_Info_load(&info[n++], key, value, PMIX_STRING);
    if (range != NOTHING) {
        const pmix_data_range_t it = (pmix_data_range_t)range;

        PMIx_Info_load(&info[n++], PMIX_RANGE, &it, PMIX_DATA_RANGE);
    }
    if (persist != NOTHING) {
        const pmix_persistence_t it = (pmix_persistence_t)persist;

        PMIx_Info_load(&info[n++], PMIX_PERSISTENCE, &it, PMIX_PERSIST);
    }
    return PMIx_Publish(info, n);
}

/* What is found has to be @value of @rank in @nspace. */
static pmix_status_t lookup_with(const char *key, const char *value, const char *nspace,
                                 pmix_rank_t rank, const pmix_info_t *info, size_t ninfo)
{
    pmix_pdata_t data;

    PMIx_Pdata_construct(&data);
    PMIx_Load_key(data.key, key);
    const pmix_status_t rc = PMIx_Lookup(&data, 1, info, ninfo);

    if (rc == PMIX_SUCCESS) {
        CHECK(data.value.type == PMIX_STRING && strcmp(data.value.data.string, value) == 0);
        CHECK(strcmp(data.proc.nspace, nspace) == 0 && data.proc.rank == rank);
    } else {
        CHECK(data.value.type == PMIX_UNDEF);
    }
    PMIx_Pdata_destruct(&data);
    return rc;
}

static pmix_status_t lookup(const char *key, const char *value, pmix_rank_t rank)
{
    return lookup_with(key, value, JOB_NSPACE, rank, NULL, 0);
}

static pmix_status_t lookup_in(const char *key, const char *value, pmix_rank_t rank,
                               pmix_data_range_t range)
{
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_RANGE, &range, PMIX_DATA_RANGE);
    return lookup_with(key, value, JOB_NSPACE, rank, &info, 1);
}

static pmix_status_t unpublish(const char *key, unsigned range)
{
    char *keys[] = { (char *)(uintptr_t)key, NULL };
    pmix_info_t info;
    const pmix_data_range_t it = (pmix_data_range_t)range;

    PMIx_Info_load(&info, PMIX_RANGE, &it, PMIX_DATA_RANGE);
    return PMIx_Unpublish(key != NULL ? keys : NULL, &info, range != NOTHING);
}

/* ---- one rank publishes, the others look ---------------------------------------------------------- */

static int rank_exchange(int rank)
{
    rank_begin(&me);
    if (rank == 0) {
        CHECK_STATUS(publish("color", "red", NOTHING, NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(publish("color", "blue", NOTHING, NOTHING), PMIX_ERR_DUPLICATE_KEY);
        CHECK_STATUS(publish("color", "grey", PMIX_RANGE_LOCAL, NOTHING), PMIX_SUCCESS);
    }
    barrier();
    if (rank == 1) {
        CHECK_STATUS(publish("color", "green", NOTHING, NOTHING), PMIX_ERR_DUPLICATE_KEY);
        CHECK_STATUS(unpublish("color", NOTHING), PMIX_ERR_NO_PERMISSIONS);
        CHECK_STATUS(unpublish("shape", NOTHING), PMIX_ERR_NOT_FOUND);
    }
    CHECK_STATUS(lookup("color", "red", 0), PMIX_SUCCESS);
    CHECK_STATUS(lookup("shape", "", 0), PMIX_ERR_NOT_FOUND);
    barrier();
    if (rank == 0) {
        CHECK_STATUS(unpublish("color", NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(lookup("color", "grey", 0), PMIX_SUCCESS);
        CHECK_STATUS(unpublish(NULL, NOTHING), PMIX_SUCCESS);
    }
    barrier();
    CHECK_STATUS(lookup("color", "", 0), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

/* ---- a lookup that asks nobody ---------------------------------------------------------------------- */

/* From the second lookup on rank 1 reads for itself; what it reads is what rank 0 has done last. */
static int rank_plain(int rank)
{
    char value[16];

    rank_begin(&me);
    for (int i = 0; i < 20; i++) {
        snprintf(value, sizeof(value), "value %d", i);
        if (rank == 0) {
            CHECK_STATUS(publish("plain", value, NOTHING, NOTHING), PMIX_SUCCESS);
        }
        barrier();
        for (int again = 0; again < 3; again++) {
            CHECK_STATUS(lookup("plain", value, 0), PMIX_SUCCESS);
            CHECK_STATUS(lookup_in("plain", value, 0, PMIX_RANGE_NAMESPACE), PMIX_SUCCESS);
        }
        barrier();
        if (rank == 0) {
            CHECK_STATUS(unpublish("plain", NOTHING), PMIX_SUCCESS);
        }
        barrier();
        CHECK_STATUS(lookup("plain", "", 0), PMIX_ERR_NOT_FOUND);
        barrier();
    }

    /* An older value for one process alone comes first, and only there. */
    if (rank == 0) {
        CHECK_STATUS(publish("mixed", "own", PMIX_RANGE_PROC_LOCAL, NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(publish("mixed", "all", NOTHING, NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(publish("once", "x", NOTHING, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS);
    }
    barrier();
    CHECK_STATUS(lookup("mixed", rank == 0 ? "own" : "all", 0), PMIX_SUCCESS);
    if (rank == 1) {
        CHECK_STATUS(lookup("once", "x", 0), PMIX_SUCCESS);
    }
    barrier();
    CHECK_STATUS(lookup("once", "", 0), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

#define TEXT_BYTES 60000u

/* So much is published and taken back that the store is written anew, several times. */
static int rank_renewed(int rank)
{
    char *const text = malloc(TEXT_BYTES);

    CHECK(text != NULL);
    rank_begin(&me);
    for (int i = 0; i < 200; i++) {
        memset(text, 'a' + i % 26, TEXT_BYTES - 1);
        text[TEXT_BYTES - 1] = '\0';
        if (rank == 0) {
            CHECK_STATUS(publish("text", text, NOTHING, NOTHING), PMIX_SUCCESS);
        }
        barrier();
        CHECK_STATUS(lookup("text", text, 0), PMIX_SUCCESS);
        barrier();
        if (rank == 0) {
            CHECK_STATUS(unpublish("text", NOTHING), PMIX_SUCCESS);
        }
    }
    free(text);
    return rank_end();
}

/* ---- several keys -------------------------------------------------------------------------------- */

static sem_t outcome;

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    CHECK(status == PMIX_ERR_PARTIAL_SUCCESS && ndata == 2);
    CHECK(strcmp(data[0].key, "one") == 0 && data[0].value.data.uint32 == 1);
    CHECK(strcmp(data[1].key, "two") == 0 && data[1].value.data.uint32 == 2);
    CHECK(data[1].proc.rank == 0 && strcmp(data[1].proc.nspace, JOB_NSPACE) == 0);
    sem_post(cbdata);
}

/* Each place of a key has its value, and the keys their order. */
static void on_lookup_again(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    static const char *const keys[] = { "one", "two", "one", "text", "one", "text" };

    CHECK(status == PMIX_ERR_PARTIAL_SUCCESS && ndata == sizeof(keys) / sizeof(keys[0]));
    for (size_t i = 0; i < ndata; i++) {
        CHECK(strcmp(data[i].key, keys[i]) == 0);
        CHECK(data[i].proc.rank == 0 && strcmp(data[i].proc.nspace, JOB_NSPACE) == 0);
        if (strcmp(keys[i], "text") == 0) {
            CHECK(data[i].value.type == PMIX_STRING);
            CHECK(strcmp(data[i].value.data.string, "a text") == 0);
        } else {
            CHECK(data[i].value.type == PMIX_UINT32);
            CHECK(data[i].value.data.uint32 == (strcmp(keys[i], "one") == 0 ? 1 : 2));
        }
    }
    sem_post(cbdata);
}

static void on_done(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    sem_post(cbdata);
}

static void wait_notified(void)
{
    job_sem_wait(&outcome);
}

#define AGAIN 7

/* Keys that are named several times in one call. */
static void look_again(void)
{
    char *keys[AGAIN + 1] = { (char *)"one",  (char *)"none", (char *)"two",  (char *)"one",
                              (char *)"text", (char *)"one",  (char *)"text", NULL };
    char *text[] = { (char *)"text", NULL };
    pmix_pdata_t data[AGAIN];

    CHECK_STATUS(publish("text", "a text", NOTHING, NOTHING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Lookup_nb(keys, NULL, 0, on_lookup_again, &outcome), PMIX_SUCCESS);
    wait_notified();
    for (size_t i = 0; i < AGAIN; i++) {
        PMIx_Pdata_construct(&data[i]);
        PMIx_Load_key(data[i].key, keys[i]);
    }
    CHECK_STATUS(PMIx_Lookup(data, AGAIN, NULL, 0), PMIX_ERR_PARTIAL_SUCCESS);
    for (size_t i = 0; i < AGAIN; i++) {
        CHECK(i == 1 ? data[i].value.type == PMIX_UNDEF
                     : strcmp(data[i].proc.nspace, me.nspace) == 0);
    }
    CHECK(data[3].value.data.uint32 == 1 && data[5].value.data.uint32 == 1);
    CHECK(strcmp(data[6].value.data.string, "a text") == 0);
    CHECK(data[4].value.data.string != data[6].value.data.string);
    for (size_t i = 0; i < AGAIN; i++) {
        PMIx_Pdata_destruct(&data[i]);
    }
    CHECK_STATUS(PMIx_Unpublish(text, NULL, 0), PMIX_SUCCESS);
}

static int rank_many(int rank)
{
    const uint32_t numbers[] = { 1, 2, 3 };
    char *keys[] = { (char *)"one", (char *)"none", (char *)"two", NULL };
    char *both[] = { (char *)"one", (char *)"two", NULL };
    pmix_info_t info[3];
    pmix_pdata_t data[3];

    rank_begin(&me);
    sem_init(&outcome, 0, 0);
    PMIx_Info_load(&info[0], "one", &numbers[0], PMIX_UINT32);
    PMIx_Info_load(&info[1], "two", &numbers[1], PMIX_UINT32);
    CHECK_STATUS(PMIx_Publish_nb(info, 2, on_done, &outcome), PMIX_SUCCESS);
    wait_notified();
    CHECK_STATUS(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &outcome), PMIX_SUCCESS);
    wait_notified();
    for (size_t i = 0; i < 3; i++) {
        PMIx_Pdata_construct(&data[i]);
        PMIx_Load_key(data[i].key, keys[i]);
    }
    CHECK_STATUS(PMIx_Lookup(data, 3, NULL, 0), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(data[0].value.data.uint32 == 1 && data[1].value.type == PMIX_UNDEF);
    CHECK(data[2].value.data.uint32 == 2);

    look_again();

    /* All of a call is published, or nothing. */
    PMIx_Info_load(&info[0], "three", &numbers[2], PMIX_UINT32);
    CHECK_STATUS(PMIx_Publish(info, 2), PMIX_ERR_DUPLICATE_KEY);
    CHECK_STATUS(lookup("three", "", 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Unpublish_nb(both, NULL, 0, on_done, &outcome), PMIX_SUCCESS);
    wait_notified();
    CHECK_STATUS(PMIx_Unpublish(both, NULL, 0), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

/* ---- persistence --------------------------------------------------------------------------------- */

static int rank_persistence(int rank)
{
    rank_begin(&me);
    if (rank == 0) {
        CHECK_STATUS(publish("once", "x", NOTHING, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS);
        CHECK_STATUS(publish("mine", "x", NOTHING, PMIX_PERSIST_PROC), PMIX_SUCCESS);
        CHECK_STATUS(publish("ours", "x", NOTHING, PMIX_PERSIST_APP), PMIX_SUCCESS);
        CHECK_STATUS(publish("ever", "x", NOTHING, PMIX_PERSIST_INDEF), PMIX_SUCCESS);
        CHECK_STATUS(lookup("once", "x", 0), PMIX_SUCCESS);
        CHECK_STATUS(lookup("once", "", 0), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(lookup("mine", "x", 0), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        job_token_put(0);
        return 0;
    }
    job_token_get(0);
    CHECK_STATUS(lookup("mine", "", 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(lookup("ours", "x", 0), PMIX_SUCCESS);
    CHECK_STATUS(lookup("ever", "x", 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- ranges -------------------------------------------------------------------------------------- */

static int rank_ranges(int rank)
{
    rank_begin(&me);
    if (rank == 0) {
        pmix_proc_t friend;
        const pmix_data_range_t custom = PMIX_RANGE_CUSTOM;
        pmix_info_t info[3];

        CHECK_STATUS(publish("own", "x", PMIX_RANGE_PROC_LOCAL, NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(publish("job", "x", PMIX_RANGE_NAMESPACE, NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(publish("all", "x", PMIX_RANGE_GLOBAL, NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(publish("rm", "x", PMIX_RANGE_RM, NOTHING), PMIX_ERR_NOT_SUPPORTED);
        PMIx_Load_procid(&friend, JOB_NSPACE, 1);
        PMIx_Info_load(&info[0], "few", "x", PMIX_STRING);
        PMIx_Info_load(&info[1], PMIX_RANGE, &custom, PMIX_DATA_RANGE);
        CHECK_STATUS(PMIx_Publish(info, 2), PMIX_ERR_BAD_PARAM); /* who? */
        PMIx_Info_load(&info[2], PMIX_EVENT_CUSTOM_RANGE, &friend, PMIX_PROC);
        CHECK_STATUS(PMIx_Publish(info, 3), PMIX_SUCCESS);
        CHECK_STATUS(lookup("own", "x", 0), PMIX_SUCCESS);
        CHECK_STATUS(lookup("few", "", 0), PMIX_ERR_NOT_FOUND);
    }
    if (rank < 2) {
        barrier();
    }
    if (rank == 1) {
        CHECK_STATUS(lookup("own", "", 0), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(lookup("job", "x", 0), PMIX_SUCCESS);
        CHECK_STATUS(lookup("few", "x", 0), PMIX_SUCCESS);
        CHECK_STATUS(lookup_in("job", "", 0, PMIX_RANGE_PROC_LOCAL), PMIX_ERR_NOT_FOUND);
        /* What is no range is the default, whether the server looks or this process. */
        for (pmix_data_range_t odd = PMIX_RANGE_PROC_LOCAL + 1; odd != 0; odd++) {
            CHECK_STATUS(lookup_in("job", "x", 0, odd), PMIX_SUCCESS);
        }
        job_token_put(0);
        job_token_get(1);
    } else if (rank == 2) { /* another job */
        job_token_get(0);
        CHECK_STATUS(lookup("own", "", 0), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(lookup("job", "", 0), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(lookup("few", "", 0), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(lookup("all", "x", 0), PMIX_SUCCESS);
        CHECK_STATUS(lookup_in("all", "", 0, PMIX_RANGE_NAMESPACE), PMIX_ERR_NOT_FOUND);
        job_token_put(1);
    }
    return rank_end();
}

static int host_two_jobs(struct job *job)
{
    job_add(job, "other.job", 1);
    return job_wait(job, 2);
}

/* ---- lookups that wait ---------------------------------------------------------------------------- */

static int rank_wait(int rank)
{
    const bool yes = true;
    const int seconds = 600, one = 1;
    pmix_info_t info[2];

    rank_begin(&me);
    PMIx_Info_load(&info[0], PMIX_WAIT, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (rank == 0) { /* as Open MPI does it: each waits for the other's */
        CHECK_STATUS(lookup_with("b", "y", JOB_NSPACE, 1, info, 2), PMIX_SUCCESS);
        CHECK_STATUS(publish("a", "x", NOTHING, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS);
    } else {
        CHECK_STATUS(publish("b", "y", NOTHING, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS);
        CHECK_STATUS(lookup_with("a", "x", JOB_NSPACE, 0, info, 2), PMIX_SUCCESS);
    }
    barrier();
    CHECK_STATUS(lookup("a", "", 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(lookup("b", "", 0), PMIX_ERR_NOT_FOUND);

    /* One of two is enough; its time is over. */
    if (rank == 0) {
        pmix_pdata_t data[2];

        PMIx_Info_load(&info[0], PMIX_WAIT, &one, PMIX_INT);
        PMIx_Pdata_construct(&data[0]);
        PMIx_Pdata_construct(&data[1]);
        PMIx_Load_key(data[0].key, "never");
        PMIx_Load_key(data[1].key, "later");
        CHECK_STATUS(PMIx_Lookup(data, 2, info, 1), PMIX_ERR_PARTIAL_SUCCESS);
        CHECK(data[0].value.type == PMIX_UNDEF && data[1].value.type == PMIX_STRING);
        PMIx_Info_load(&info[1], PMIX_TIMEOUT, &one, PMIX_INT);
        CHECK_STATUS(lookup_with("never", "", JOB_NSPACE, 1, info, 2), PMIX_ERR_TIMEOUT);
    } else {
        CHECK_STATUS(publish("later", "z", NOTHING, NOTHING), PMIX_SUCCESS);
    }
    return rank_end();
}

/* ---- who waits dies --------------------------------------------------------------------------------- */

static void on_death(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    CHECK_STATUS(status, PMIX_ERR_LOST_CONNECTION);
    sem_post(&outcome);
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_nothing(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    CHECK(status != PMIX_SUCCESS);
}

/* What a lookup of the dead would have taken is there for the living. */
static int rank_death(int rank)
{
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    char *keys[] = { (char *)"once", NULL };
    pmix_info_t wait;

    rank_begin(&me);
    sem_init(&outcome, 0, 0);
    PMIx_Info_load(&wait, PMIX_WAIT, NULL, PMIX_BOOL);
    if (rank == 1) {
        job_token_get(0);
        CHECK_STATUS(PMIx_Lookup_nb(keys, &wait, 1, on_nothing, NULL), PMIX_SUCCESS);
        CHECK_STATUS(lookup("none", "", 0), PMIX_ERR_NOT_FOUND); /* behind it, with the server */
        raise(SIGKILL);
    }
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_death, NULL, NULL) >= 0);
    job_token_put(0);
    wait_notified();
    CHECK_STATUS(publish("once", "x", NOTHING, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS);
    CHECK_STATUS(lookup("once", "x", 0), PMIX_SUCCESS);
    return rank_end();
}

static int host_death(struct job *job)
{
    const int status = job_wait(job, 1);

    return WIFSIGNALED(status) && job_wait(job, 0) == 0 ? 0 : 1;
}

/* ---- a name that is there already, as the process's library knows it ------------------------------ */

static int rank_library(int rank)
{
    pmix_info_t info[2];

    rank_begin(&me);
    CHECK_STATUS(publish("name", "x", NOTHING, NOTHING), PMIX_SUCCESS);
    CHECK_STATUS(publish("name", "x", NOTHING, NOTHING), PMIX_ERR_DUPLICATE_KEY);
    PMIx_Info_load(&info[0], PMIX_PROGRAMMING_MODEL, "MPI", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_MODEL_LIBRARY_NAME, "OpenMPI", PMIX_STRING);
    CHECK_STATUS(PMIx_Init(NULL, info, 2), PMIX_SUCCESS);
    CHECK_STATUS(publish("name", "x", NOTHING, NOTHING), PMIX_ERR_EXISTS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- more lookups that wait than anybody needs ----------------------------------------------------- */

#define CROWD 20000
static size_t crowd_refused;

static void on_crowd(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    CHECK(status == PMIX_ERR_OUT_OF_RESOURCE);
    if (__atomic_add_fetch(&crowd_refused, 1, __ATOMIC_RELAXED) == CROWD - 256) {
        sem_post(&outcome);
    }
}

/* Rank 1 asks for what is not there, again and again.  256 may wait, all others are refused, and
 * rank 0 is served meanwhile; what the waiting would have taken is there for it when they are gone. */
static int rank_crowd(int rank)
{
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    char *keys[] = { (char *)"once", NULL };
    pmix_info_t wait;

    rank_begin(&me);
    sem_init(&outcome, 0, 0);
    PMIx_Info_load(&wait, PMIX_WAIT, NULL, PMIX_BOOL);
    if (rank == 1) {
        for (int i = 0; i < CROWD; i++) {
            CHECK_STATUS(PMIx_Lookup_nb(keys, &wait, 1, on_crowd, NULL), PMIX_SUCCESS);
            if (i == CROWD / 2) {
                job_token_put(0);
                job_token_get(1); /* rank 0 has been served */
            }
        }
        wait_notified();
        raise(SIGKILL);
    }
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_death, NULL, NULL) >= 0);
    job_token_get(0);
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(publish("mine", "y", NOTHING, NOTHING), PMIX_SUCCESS);
        CHECK_STATUS(lookup("mine", "y", 0), PMIX_SUCCESS);
        CHECK_STATUS(unpublish("mine", NOTHING), PMIX_SUCCESS);
    }
    job_token_put(1);
    wait_notified();
    CHECK_STATUS(publish("once", "x", NOTHING, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS);
    CHECK_STATUS(lookup("once", "x", 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- one large value for many lookups --------------------------------------------------------------- */

#define LARGE 900000
#define MENTIONS 8 /* of a lookup; more than 64 MiB are found by all of these: */
#define LARGE_LOOKUPS 30
static size_t large_found, large_refused;

static void on_large(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    CHECK(status == PMIX_SUCCESS ? ndata == MENTIONS && data[0].value.data.bo.size == LARGE
                                 : status == PMIX_ERR_OUT_OF_RESOURCE);
    *(status == PMIX_SUCCESS ? &large_found : &large_refused) += 1;
    sem_post(&outcome);
}

/* What the server writes for a process is bounded: in one answer, and in those that wait, of which it
 * writes the next one when there is room. */
static int rank_large(int rank)
{
    char *keys[100 + 1] = { NULL }, *bytes = calloc(1, LARGE);
    pmix_byte_object_t object = { .bytes = bytes, .size = LARGE };
    pmix_pdata_t *data;
    pmix_info_t wait, info;

    rank_begin(&me);
    sem_init(&outcome, 0, 0);
    for (size_t i = 0; i < MENTIONS; i++) {
        keys[i] = (char *)"large";
    }
    PMIx_Info_load(&wait, PMIX_WAIT, NULL, PMIX_BOOL);
    for (size_t i = 0; i < LARGE_LOOKUPS; i++) {
        CHECK_STATUS(PMIx_Lookup_nb(keys, &wait, 1, on_large, NULL), PMIX_SUCCESS);
    }
    PMIx_Info_load(&info, "large", &object, PMIX_BYTE_OBJECT);
    CHECK_STATUS(PMIx_Publish(&info, 1), PMIX_SUCCESS);
    for (size_t i = 0; i < LARGE_LOOKUPS; i++) {
        wait_notified();
    }
    CHECK(large_found > 0 && large_found + large_refused == LARGE_LOOKUPS);
    data = PMIx_Pdata_create(100);
    for (size_t i = 0; i < 100; i++) {
        PMIx_Load_key(data[i].key, "large");
    }
    CHECK_STATUS(PMIx_Lookup(data, 100, NULL, 0), PMIX_ERR_OUT_OF_RESOURCE);
    CHECK_STATUS(PMIx_Lookup(data, MENTIONS, NULL, 0), PMIX_SUCCESS);
    PMIx_Pdata_free(data, 100);
    PMIx_Info_destruct(&info);
    free(bytes);
    return rank_end();
}

/* ---- the host itself ------------------------------------------------------------------------------- */

/* It is a server and no client. */
static int rank_of_host(int rank)
{
    pmix_info_t wait;
    pmix_pdata_t data;

    rank_begin(&me);
    PMIx_Info_load(&wait, PMIX_WAIT, NULL, PMIX_BOOL);
    PMIx_Pdata_construct(&data);
    PMIx_Load_key(data.key, "from.host");
    CHECK_STATUS(PMIx_Lookup(&data, 1, &wait, 1), PMIX_SUCCESS);
    CHECK(data.value.type == PMIX_STRING && strcmp(data.value.data.string, "h") == 0);
    CHECK(strcmp(data.proc.nspace, JOB_NSPACE) != 0);
    PMIx_Pdata_destruct(&data);
    CHECK_STATUS(unpublish("from.host", NOTHING), PMIX_ERR_NO_PERMISSIONS);
    CHECK_STATUS(publish("from.rank", "r", NOTHING, NOTHING), PMIX_SUCCESS);
    CHECK_STATUS(publish("job.only", "r", PMIX_RANGE_NAMESPACE, NOTHING), PMIX_SUCCESS);
    job_token_put(0);
    job_token_get(1);
    CHECK_STATUS(lookup("from.host", "", 0), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

static int host_publishes(struct job *job)
{
    char *keys[] = { (char *)"from.host", NULL };
    pmix_info_t wait;
    pmix_pdata_t data;

    PMIx_Info_load(&wait, PMIX_WAIT, NULL, PMIX_BOOL);
    CHECK_STATUS(publish("from.host", "h", NOTHING, NOTHING), PMIX_SUCCESS);
    CHECK_STATUS(publish("from.host", "h", NOTHING, NOTHING), PMIX_ERR_DUPLICATE_KEY);
    job_token_get(0);
    CHECK_STATUS(lookup("from.rank", "r", 0), PMIX_SUCCESS);
    CHECK_STATUS(lookup("job.only", "", 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(unpublish("from.rank", NOTHING), PMIX_ERR_NO_PERMISSIONS);
    CHECK_STATUS(PMIx_Publish(NULL, 1), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Lookup(NULL, 1, NULL, 0), PMIX_ERR_BAD_PARAM);
    PMIx_Pdata_construct(&data);
    PMIx_Load_key(data.key, "never");
    CHECK_STATUS(PMIx_Lookup(&data, 1, &wait, 1), PMIX_ERR_NOT_SUPPORTED); /* it cannot wait */
    CHECK_STATUS(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, NULL), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Unpublish_nb(keys, NULL, 0, on_done, NULL), PMIX_OPERATION_SUCCEEDED);
    CHECK_STATUS(PMIx_Unpublish(keys, NULL, 0), PMIX_ERR_NOT_FOUND);
    job_token_put(1);
    return job_wait(job, 0);
}

/* ---- calls that make no sense ----------------------------------------------------------------------- */

static int rank_wrong(int rank)
{
    char *none[] = { NULL }, *empty[] = { (char *)"", NULL };
    const uint32_t number = 7;
    pmix_info_t info[2];
    pmix_pdata_t data;

    PMIx_Info_load(&info[0], "key", "x", PMIX_STRING);
    CHECK_STATUS(PMIx_Publish(info, 1), PMIX_ERR_INIT);
    rank_begin(&me);
    CHECK_STATUS(PMIx_Publish(NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Publish(NULL, 3), PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info[1], PMIX_RANGE, &number, PMIX_UINT32);
    CHECK_STATUS(PMIx_Publish(info, 2), PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info[1], PMIX_PERSISTENCE, "x", PMIX_STRING);
    CHECK_STATUS(PMIx_Publish(info, 2), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Publish(&info[1], 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info[1], PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    PMIx_Info_required(&info[1]);
    CHECK_STATUS(PMIx_Publish(info, 2), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Publish_nb(info, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Pdata_construct(&data);
    CHECK_STATUS(PMIx_Lookup(NULL, 1, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Lookup(&data, 0, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Lookup(&data, 1, NULL, 0), PMIX_ERR_BAD_PARAM); /* no key */
    memset(data.key, 'k', sizeof(data.key));
    CHECK_STATUS(PMIx_Lookup(&data, 1, NULL, 0), PMIX_ERR_BAD_PARAM); /* without an end */
    CHECK_STATUS(PMIx_Lookup_nb(none, NULL, 0, on_lookup, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Lookup_nb(empty, NULL, 0, on_lookup, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Unpublish(none, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Unpublish(empty, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Unpublish(NULL, NULL, 0), PMIX_SUCCESS); /* there is nothing of it */
    return rank_end();
}

static const struct job_case cases[] = {
    { "exchange", 3, rank_exchange },
    { "plain", 2, rank_plain },
    { "renewed", 2, rank_renewed },
    { "many", 1, rank_many },
    { "persistence", 2, rank_persistence },
    { "ranges", 2, rank_ranges, host_two_jobs },
    { "wait", 2, rank_wait },
    { "death", 2, rank_death, host_death, true },
    { "library", 1, rank_library },
    { "crowd", 2, rank_crowd, host_death, true },
    { "large", 1, rank_large },
    { "host", 1, rank_of_host, host_publishes },
    { "wrong", 1, rank_wrong },
};

JOB_MAIN(cases)
