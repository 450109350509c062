/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* client_basic_test.c - what a rank does with a server: attach, put, commit, fence, get, leave. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

static pmix_proc_t me;

static void init(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(strcmp(me.nspace, JOB_NSPACE) == 0 && me.rank == (pmix_rank_t)rank);
}

static pmix_proc_t peer(pmix_rank_t rank)
{
    pmix_proc_t proc = me;

    proc.rank = rank;
    return proc;
}

static void put_string(const char *key, const char *text, pmix_scope_t scope)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    CHECK_STATUS(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
}

static void check_string(pmix_rank_t rank, const char *key, const char *want)
{
    const pmix_proc_t proc = peer(rank);
    pmix_value_t *value = NULL;

    CHECK_STATUS(PMIx_Get(&proc, key, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_STRING && strcmp(value->data.string, want) == 0);
    PMIx_Value_destruct(value);
    free(value);
}

static void fence(bool collect)
{
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, 1), PMIX_SUCCESS);
}

/* ---- cases -------------------------------------------------------------------------------- */

static int init_is_counted(int rank)
{
    pmix_proc_t again;

    init(rank);
    CHECK(PMIx_Initialized() != 0);
    CHECK_STATUS(PMIx_Init(&again, NULL, 0), PMIX_SUCCESS);
    CHECK(again.rank == me.rank && strcmp(again.nspace, me.nspace) == 0);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    rank_end();
    rank_end();
    CHECK(PMIx_Initialized() != 0);
    rank_end();
    CHECK(PMIx_Initialized() == 0);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    return 0;
}

static int init_again_after_finalize(int rank)
{
    for (int i = 0; i < 5; i++) {
        init(rank);
        fence(false);
        rank_end();
    }
    return 0;
}

static int job_data_is_there(int rank)
{
    const pmix_proc_t job = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *value = NULL;

    init(rank);
    CHECK_STATUS(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_UINT32 && value->data.uint32 == 2);
    free(value);
    CHECK_STATUS(PMIx_Get(&me, PMIX_LOCAL_RANK, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_UINT16 && value->data.uint16 == rank);
    free(value);
    CHECK_STATUS(PMIx_Get(&me, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    free(value);
    CHECK_STATUS(PMIx_Get(&me, "pmix.no.such.key", NULL, 0, &value), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Get(&job, NULL, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_INFO &&
          value->data.darray->size >= 4);
    PMIx_Value_destruct(value);
    free(value);
    return rank_end();
}

static int put_fence_get(int rank)
{
    char text[64], key[64];

    init(rank);
    for (int round = 0; round < 20; round++) {
        snprintf(key, sizeof(key), "key.%d", round);
        snprintf(text, sizeof(text), "rank %d round %d", rank, round);
        put_string(key, text, PMIX_GLOBAL);
        check_string(me.rank, key, text); /* before the commit already */
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        fence(true);
        for (int other = 0; other < 4; other++) {
            snprintf(text, sizeof(text), "rank %d round %d", other, round);
            check_string((pmix_rank_t)other, key, text);
        }
    }
    return rank_end();
}

static int large_values_keep_their_order(int rank)
{
    static const size_t sizes[] = { 10, 4152, 16 << 10, 17 << 10, 100, 200000, 3000000, 5 };
    pmix_value_t *value;
    char key[32];

    init(rank);
    char *const bytes = malloc(3000000);
    CHECK(bytes != NULL);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        pmix_value_t put = { .type = PMIX_BYTE_OBJECT,
                             .data.bo = { .bytes = bytes, .size = sizes[i] } };

        memset(bytes, rank * 16 + (int)i, sizes[i]);
        snprintf(key, sizeof(key), "blob.%zu", i);
        CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &put), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "blob.last", &put), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    fence(true);
    const pmix_proc_t other = peer(1 - me.rank);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        snprintf(key, sizeof(key), "blob.%zu", i);
        CHECK_STATUS(PMIx_Get(&other, key, NULL, 0, &value), PMIX_SUCCESS);
        CHECK(value->type == PMIX_BYTE_OBJECT && value->data.bo.size == sizes[i]);
        for (size_t b = 0; b < sizes[i]; b++) {
            CHECK(value->data.bo.bytes[b] == (char)((1 - rank) * 16 + (int)i));
        }
        PMIx_Value_destruct(value);
        free(value);
    }
    CHECK_STATUS(PMIx_Get(&other, "blob.last", NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.bo.size == 5);
    PMIx_Value_destruct(value);
    free(value);
    free(bytes);
    return rank_end();
}

/* More than a lane holds in one commit: back-pressure, not loss. */
static int a_full_lane_waits(int rank)
{
    enum { VALUES = 600 };
    char text[1024], key[32];

    init(rank);
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; i < VALUES; i++) {
        snprintf(key, sizeof(key), "many.%d", i);
        text[0] = (char)('a' + i % 26);
        put_string(key, text, PMIX_GLOBAL);
    }
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    fence(true);
    for (int i = 0; i < VALUES; i++) {
        snprintf(key, sizeof(key), "many.%d", i);
        text[0] = (char)('a' + i % 26);
        check_string(1 - me.rank, key, text);
    }
    return rank_end();
}

/* A Get before the value is there waits for it, without any fence. */
static int get_waits_for_a_commit(int rank)
{
    init(rank);
    if (rank == 0) {
        job_token_get(0); /* rank 1 is about to ask */
        put_string("late", "here I am", PMIX_GLOBAL);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    } else {
        job_token_put(0);
        check_string(0, "late", "here I am");
    }
    fence(false);
    return rank_end();
}

static int get_ends_at_its_timeout(int rank)
{
    int seconds = 1;
    pmix_value_t *value = NULL;
    pmix_info_t info;

    init(rank);
    const pmix_proc_t target = peer(1 - me.rank);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&target, "never", &info, 1, &value), PMIX_ERR_TIMEOUT);
    CHECK(value == NULL);
    info = info_flag(PMIX_IMMEDIATE);
    CHECK_STATUS(PMIx_Get(&target, "never", &info, 1, &value), PMIX_ERR_NOT_FOUND);
    info = info_flag(PMIX_OPTIONAL);
    CHECK_STATUS(PMIx_Get(&target, "never", &info, 1, &value), PMIX_ERR_NOT_FOUND);
    fence(false);
    return rank_end();
}

/* Namespaces as long as there may be, and a byte less. */
static int host_of_long_names(struct job *job)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";

    memset(nspace, 'n', PMIX_MAX_NSLEN);
    job_add(job, nspace, 1);
    nspace[PMIX_MAX_NSLEN - 1] = '\0';
    job_add(job, nspace, 1);
    return 0;
}

static int long_names(int rank)
{
    const uint64_t want = 5;
    pmix_value_t value = { .type = PMIX_UINT64, .data.uint64 = want }, *got;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    if (rank > 0) {
        CHECK(strlen(me.nspace) == (size_t)(PMIX_MAX_NSLEN + 1 - rank));
    }
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "key", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    me.rank = 0;
    CHECK_STATUS(PMIx_Get(&me, "key", NULL, 0, &got), PMIX_SUCCESS);
    CHECK(got->data.uint64 == want);
    PMIx_Value_free(got, 1);
    me.rank = PMIX_RANK_WILDCARD;
    CHECK_STATUS(PMIx_Get(&me, PMIX_JOB_SIZE, NULL, 0, &got), PMIX_SUCCESS);
    PMIx_Value_free(got, 1);
    return rank_end();
}

static int fence_of_some(int rank)
{
    init(rank);
    if (rank < 2) {
        const pmix_proc_t both[2] = { peer(0), peer(1) };
        const pmix_proc_t nameless[2] = { { .rank = 0 }, { .rank = 1 } };

        for (int i = 0; i < 50; i++) {
            const bool named = (i + rank) % 2 == 0; /* one of them names the job */

            CHECK_STATUS(PMIx_Fence(named ? both : nameless, 2, NULL, 0), PMIX_SUCCESS);
        }
    }
    fence(false);
    const pmix_proc_t stranger = peer((pmix_rank_t)(rank + 1) % 3);
    CHECK_STATUS(PMIx_Fence(&stranger, 1, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    return rank_end();
}

/* ---- non-blocking ------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int done;
    pmix_status_t status;
    pthread_t thread;
    char text[64];
} box = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void box_notify(pmix_status_t status, const char *text)
{
    pthread_mutex_lock(&box.lock);
    box.done++;
    box.status = status;
    box.thread = pthread_self();
    snprintf(box.text, sizeof(box.text), "%s", text);
    pthread_cond_broadcast(&box.cond);
    pthread_mutex_unlock(&box.lock);
}

static void box_wait(int done)
{
    pthread_mutex_lock(&box.lock);
    while (box.done < done) {
        pthread_cond_wait(&box.cond, &box.lock);
    }
    pthread_mutex_unlock(&box.lock);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    CHECK(cbdata == &box);
    box_notify(status, "");
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    CHECK(cbdata == &box);
    box_notify(status, value != NULL && value->type == PMIX_STRING ? value->data.string : "");
}

static int nonblocking(int rank)
{
    char text[64];

    init(rank);
    snprintf(text, sizeof(text), "from %d", rank);
    put_string("nb", text, PMIX_GLOBAL);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &box), PMIX_SUCCESS);
    box_wait(1);
    CHECK_STATUS(box.status, PMIX_SUCCESS);
    CHECK(!pthread_equal(box.thread, pthread_self()));
    const pmix_proc_t other = peer(1 - me.rank);
    snprintf(text, sizeof(text), "from %d", 1 - rank);
    CHECK_STATUS(PMIx_Get_nb(&other, "nb", NULL, 0, on_value, &box), PMIX_SUCCESS);
    box_wait(2);
    CHECK_STATUS(box.status, PMIX_SUCCESS);
    CHECK(strcmp(box.text, text) == 0);
    CHECK_STATUS(PMIx_Get_nb(&other, "later", NULL, 0, on_value, &box), PMIX_SUCCESS);
    put_string("later", "at last", PMIX_GLOBAL);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    box_wait(3);
    CHECK_STATUS(box.status, PMIX_SUCCESS);
    CHECK(strcmp(box.text, "at last") == 0);
    fence(false); /* with the progress thread beside it */
    return rank_end();
}

/* Each is refused; one that goes on all the same has a line for the first, second, fourth ... */
static void refused_with_few_lines(const pmix_proc_t both[2])
{
    FILE *const log = tmpfile();
    const int before = dup(STDERR_FILENO);
    char line[1024];
    unsigned lines = 0;

    CHECK(log != NULL && before >= 0 && dup2(fileno(log), STDERR_FILENO) >= 0);
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(PMIx_Fence_nb(both, 2, NULL, 0, on_op, &box), PMIX_ERR_OUT_OF_RESOURCE);
    }
    CHECK(dup2(before, STDERR_FILENO) >= 0);
    rewind(log);
    while (fgets(line, sizeof(line), log) != NULL) {
        lines += strstr(line, "fences and connects of this process are under way") != NULL;
    }
    CHECK(lines == 7);
    fclose(log);
    close(before);
}

/* Rank 1 comes to none before rank 0 has as many under way as there may be. */
static int many_fences_at_once(int rank)
{
    enum { FENCES = 4096 };
    pmix_proc_t both[2];

    init(rank);
    both[0] = peer(0);
    both[1] = peer(1);
    if (rank == 1) {
        job_token_get(0);
    }
    for (int i = 0; i < FENCES; i++) {
        CHECK_STATUS(PMIx_Fence_nb(both, 2, NULL, 0, on_op, &box), PMIX_SUCCESS);
    }
    if (rank == 0) {
        refused_with_few_lines(both);
        job_token_put(0);
    }
    box_wait(FENCES);
    fence(false);
    return rank_end();
}

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    char text[32];

    CHECK(cbdata == &box);
    snprintf(text, sizeof(text), "%zu", id);
    box_notify(status, text);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    char text[64];

    snprintf(text, sizeof(text), "handler %zu code %d results %zu", id, status, nresults);
    box_notify(status, text);
    cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static int handlers(int rank)
{
    pmix_status_t code = PMIX_MODEL_DECLARED;

    init(rank);
    CHECK_STATUS(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, on_registered, &box),
                 PMIX_SUCCESS);
    box_wait(1);
    CHECK_STATUS(box.status, PMIX_SUCCESS);
    CHECK(strcmp(box.text, "1") == 0);
    CHECK_STATUS(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL), 2);
    CHECK_STATUS(PMIx_Deregister_event_handler(1, on_op, &box), PMIX_SUCCESS);
    box_wait(2);
    CHECK_STATUS(box.status, PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Deregister_event_handler(2, NULL, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Deregister_event_handler(2, NULL, NULL), PMIX_ERR_BAD_PARAM);
    return rank_end();
}

/* ---- generations -------------------------------------------------------------------------- */

/* How many stores this process has mapped. */
static int stores_mapped(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;

    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        count += strstr(line, "shmix:store") != NULL;
    }
    fclose(maps);
    return count;
}

/* Values replaced again and again make the server write the store anew; readers go along, and what
 * they point at in the old one stays. */
static int a_store_that_moves_is_followed(int rank)
{
    enum { BYTES = 300000, ROUNDS = 60 };
    pmix_value_t *value, *kept;
    pmix_info_t pointers;

    init(rank);
    char *const bytes = malloc(BYTES);
    CHECK(bytes != NULL);
    put_string("early", rank == 0 ? "from 0" : "from 1", PMIX_GLOBAL);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    fence(true);
    const pmix_proc_t other = peer(1 - me.rank);
    pointers = info_flag(PMIX_GET_POINTER_VALUES);
    CHECK_STATUS(PMIx_Get(&other, "early", &pointers, 1, &kept), PMIX_SUCCESS);
    for (int i = 0; i < ROUNDS; i++) {
        pmix_value_t put = { .type = PMIX_BYTE_OBJECT,
                             .data.bo = { .bytes = bytes, .size = BYTES } };

        memset(bytes, rank * 100 + i, BYTES);
        CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "blob", &put), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        fence(true);
        CHECK_STATUS(PMIx_Get(&other, "blob", NULL, 0, &value), PMIX_SUCCESS);
        CHECK(value->data.bo.size == BYTES);
        CHECK(value->data.bo.bytes[0] == (char)((1 - rank) * 100 + i));
        CHECK(value->data.bo.bytes[BYTES - 1] == (char)((1 - rank) * 100 + i));
        PMIx_Value_destruct(value);
        free(value);
        fence(false);
    }
    CHECK(stores_mapped() > 1);
    CHECK(strcmp(kept->data.string, rank == 0 ? "from 1" : "from 0") == 0);
    free(bytes);
    rank_end();
    CHECK(stores_mapped() == 0);
    return 0;
}

/* ---- several threads ---------------------------------------------------------------------- */

enum { THREADS = 4, TURNS = 50 };

/* Puts, commits, fences and Gets that wait, all beside each other. */
static void *thread_main(void *arg)
{
    const int number = (int)(intptr_t)arg;
    char key[32], text[32];

    for (int i = 0; i < TURNS; i++) {
        snprintf(key, sizeof(key), "t%d.%d", number, i);
        snprintf(text, sizeof(text), "%u says %d", me.rank, i);
        put_string(key, text, PMIX_GLOBAL);
        check_string(me.rank, key, text);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        snprintf(text, sizeof(text), "%u says %d", 1 - me.rank, i);
        check_string(1 - me.rank, key, text);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
    return NULL;
}

static int threads_do_not_disturb_each_other(int rank)
{
    pthread_t threads[THREADS];

    init(rank);
    CHECK_STATUS(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL), 1);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return rank_end();
}

static void *init_main(void *arg)
{
    pmix_proc_t proc;

    for (int i = 0; i < TURNS; i++) {
        CHECK_STATUS(PMIx_Init(&proc, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
    return NULL;
}

static int init_and_finalize_may_race(int rank)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, init_main, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(PMIx_Initialized() == 0);
    return 0;
}

/* ---- a process that missed its completion ------------------------------------------------- */

/* More than the ring holds, which is 1 MiB. */
enum { LAP = 400, LAP_BYTES = 3000 };

static void ring_goes_round(void)
{
    static char text[LAP_BYTES + 1];
    pmix_info_t info;

    memset(text, 'a', LAP_BYTES);
    info = info_text("test.text", text);
    for (int i = 0; i < LAP; i++) {
        CHECK_STATUS(PMIx_Notify_event(-2000, NULL, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
                     PMIX_SUCCESS);
    }
    PMIx_Info_destruct(&info);
}

static int host_of_the_lapped(struct job *job)
{
    int status;

    if (waitpid(job->pids[2], &status, WUNTRACED) != job->pids[2] || !WIFSTOPPED(status)) {
        job->status[2] = status;
        return 1;
    }
    job_token_put(0);
    job_token_get(1);
    kill(job->pids[2], SIGCONT);
    return 0;
}

/* Rank 2 stands still while its fences end and the ring goes round. */
static int a_lapped_rank_asks_what_it_missed(int rank)
{
    enum { FENCES = 1000 };
    pmix_proc_t both[2];

    init(rank);
    both[0] = peer(0);
    both[1] = peer(1);
    if (rank == 2) {
        for (int i = 0; i < FENCES; i++) {
            CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &box), PMIX_SUCCESS);
        }
        raise(SIGSTOP);
        box_wait(FENCES);
        CHECK_STATUS(box.status, PMIX_SUCCESS);
    } else {
        if (rank == 0) {
            job_token_get(0);
        }
        for (int i = 0; i < FENCES; i++) {
            fence(false);
        }
        if (rank == 0) {
            ring_goes_round();
        }
        CHECK_STATUS(PMIx_Fence(both, 2, NULL, 0), PMIX_SUCCESS); /* behind all of that */
        if (rank == 0) {
            job_token_put(1);
        }
    }
    fence(false);
    return rank_end();
}

/* ---- a forked child ----------------------------------------------------------------------- */

static int a_forked_child_reads_and_asks_nothing(int rank)
{
    int status;

    init(rank);
    put_string("kept", "by the parent", PMIX_GLOBAL);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    fence(true);
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const pmix_proc_t other = peer(1 - me.rank);
        pmix_value_t *value = NULL;

        check_string(1 - me.rank, "kept", "by the parent");
        CHECK_STATUS(PMIx_Get(&other, "never", NULL, 0, &value), PMIX_ERR_NOT_AVAILABLE);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_NOT_AVAILABLE);
        put_string("private", "to the child", PMIX_GLOBAL);
        CHECK_STATUS(PMIx_Commit(), PMIX_ERR_NOT_AVAILABLE);
        check_string(me.rank, "private", "to the child");
        rank_end();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fence(false); /* the parent's link has suffered nothing */
    return rank_end();
}

/* ---- the server goes ---------------------------------------------------------------------- */

static int host_ends(struct job *job)
{
    for (int i = 0; i < job->size; i++) {
        job_token_get(0); /* all ranks are in their waits, or about to be */
    }
    return PMIx_server_finalize() == PMIX_SUCCESS ? 0 : 1;
}

static int everything_ends_when_the_server_does(int rank)
{
    const pmix_proc_t job = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *value = NULL;

    init(rank);
    CHECK_STATUS(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL), 1);
    CHECK_STATUS(PMIx_Get_nb(&me, PMIX_LOCAL_RANK, NULL, 0, on_value, &box), PMIX_SUCCESS);
    box_wait(1);
    if (rank == 0) {
        const pmix_proc_t other = peer(1);

        job_token_put(0);
        const pmix_status_t rc = PMIx_Get(&other, "never", NULL, 0, &value);
        /* An orderly end gives up the waiting Gets before it closes. */
        CHECK(rc == PMIX_ERR_LOST_CONNECTION || rc == PMIX_ERR_NOT_FOUND);
    } else {
        job_token_put(0);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
    }
    box_wait(2); /* the handler has heard */
    CHECK_STATUS(box.status, PMIX_ERR_LOST_CONNECTION);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
    CHECK_STATUS(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    free(value);
    return rank_end();
}

static const struct job_case cases[] = {
    { "init_is_counted", 1, init_is_counted },
    { "init_again_after_finalize", 2, init_again_after_finalize },
    { "job_data_is_there", 2, job_data_is_there },
    { "put_fence_get", 4, put_fence_get },
    { "large_values_keep_their_order", 2, large_values_keep_their_order },
    { "a_full_lane_waits", 2, a_full_lane_waits },
    { "get_waits_for_a_commit", 2, get_waits_for_a_commit },
    { "get_ends_at_its_timeout", 2, get_ends_at_its_timeout },
    { "fence_of_some", 3, fence_of_some },
    { "long_names", 1, long_names, host_of_long_names },
    { "nonblocking", 2, nonblocking },
    { "many_fences_at_once", 2, many_fences_at_once },
    { "handlers", 1, handlers },
    { "a_store_that_moves_is_followed", 2, a_store_that_moves_is_followed },
    { "threads_do_not_disturb_each_other", 2, threads_do_not_disturb_each_other },
    { "init_and_finalize_may_race", 1, init_and_finalize_may_race },
    { "a_lapped_rank_asks_what_it_missed", 3, a_lapped_rank_asks_what_it_missed,
      host_of_the_lapped },
    { "a_forked_child_reads_and_asks_nothing", 2, a_forked_child_reads_and_asks_nothing },
    { "everything_ends_when_the_server_does", 2, everything_ends_when_the_server_does, host_ends },
};

JOB_MAIN(cases)
