/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_test.c - hosts that answer inside the call, later, twice, too late, never, or with an error.
 *
 * usage: host_test [CASE]
 *
 * A case is a host in a process of its own.  Its job has four ranks, two of which live here; the
 * other node is played by an earlier server of the same host, whose ranks 2 and 3 leave what a
 * fence and a direct modex carry (the harvest).  Like some hosts it holds a lock while it calls
 * back, and its release function takes that lock; it frees what it lent only then.
 *
 * What is judged: the status that ranks see, how often upcalls come, that what was lent is released
 * exactly once and never inside a callback of the host. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/job.h"

#define NSPACE "host.job"
#define NODE_RANKS 2
#define ANSWERS_MAX 64
#define ROUNDS 3
#define FAR_KEY "far.key"

enum mode {
    NEVER,
    INSIDE,
    LATER, /* by another thread */
    TWICE_INSIDE,
    TWICE_LATER,
    LATE,         /* when the ranks have given up, and ended */
    REFUSE,       /* return an error */
    REFUSE_TWICE, /* call back with an error and return one as well */
    DONE,         /* return that it is done, and call nobody */
};

struct test {
    const char *name;
    int (*rank)(const struct test *test, int rank);
    int (*judge)(const struct test *test);
    enum mode fence, modex, abort, finalized, event;
    pmix_status_t want; /* what the ranks get */
    bool clients_first; /* registered before their namespace */
    bool callbacks;     /* registrations answer by callback */
    bool harvest, garbage, no_commit;
};

/* ---- the host's answers ---------------------------------------------------------------------- */

/* One answer that was asked for; its bytes are the host's until they are released. */
struct answer {
    pmix_modex_cbfunc_t modex;
    pmix_op_cbfunc_t op;
    void *cbdata;
    pmix_status_t status;
    char *bytes;
    size_t size;
    atomic_int mode; /* stored when all above is there */
    atomic_int given, released;
    pthread_t thread;
    atomic_bool has_thread; /* stored after it */
};

static struct answer answers[ANSWERS_MAX];
static atomic_int answer_count;
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_calling_back;

static void on_release(void *cbdata)
{
    struct answer *const answer = cbdata;

    CHECK(!is_calling_back);
    pthread_mutex_lock(&host_lock);
    CHECK(atomic_fetch_add(&answer->released, 1) == 0);
    free(answer->bytes);
    answer->bytes = NULL;
    pthread_mutex_unlock(&host_lock);
}

static void answer_give(struct answer *answer)
{
    const int times = answer->mode == TWICE_INSIDE || answer->mode == TWICE_LATER ? 2 : 1;

    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&host_lock);
        is_calling_back = true;
        if (answer->modex != NULL) {
            answer->modex(answer->status, answer->bytes, answer->size, answer->cbdata, on_release,
                          answer);
        } else {
            answer->op(answer->status, answer->cbdata);
        }
        is_calling_back = false;
        pthread_mutex_unlock(&host_lock);
    }
    atomic_fetch_add(&answer->given, 1);
}

static void *answer_main(void *arg)
{
    answer_give(arg);
    return NULL;
}

/* Return: what the upcall returns. */
static pmix_status_t answer_by(enum mode mode, struct answer *answer)
{
    answer->mode = mode;
    switch (mode) {
    case INSIDE:
    case TWICE_INSIDE:
        answer_give(answer);
        return PMIX_SUCCESS;
    case LATER:
    case TWICE_LATER:
        CHECK(pthread_create(&answer->thread, NULL, answer_main, answer) == 0);
        answer->has_thread = true;
        return PMIX_SUCCESS;
    case REFUSE:
        return PMIX_ERR_NOT_AVAILABLE;
    case REFUSE_TWICE:
        answer->status = PMIX_ERR_NOT_AVAILABLE;
        answer_give(answer);
        return PMIX_ERR_NOT_AVAILABLE;
    case DONE:
        return PMIX_OPERATION_SUCCEEDED;
    default:
        return PMIX_SUCCESS;
    }
}

static struct answer *answer_new(pmix_modex_cbfunc_t modex, pmix_op_cbfunc_t op, void *cbdata)
{
    const int index = atomic_fetch_add(&answer_count, 1);

    CHECK(index < ANSWERS_MAX);
    struct answer *const answer = &answers[index];
    answer->modex = modex;
    answer->op = op;
    answer->cbdata = cbdata;
    return answer;
}

/* Those that the host has kept to itself so far. */
static void answers_give_late(void)
{
    for (int i = 0; i < answer_count; i++) {
        if (answers[i].mode == LATE) {
            answer_give(&answers[i]);
        }
    }
}

static void answers_join(void)
{
    for (int i = 0; i < answer_count; i++) {
        if (answers[i].has_thread) {
            CHECK(pthread_join(answers[i].thread, NULL) == 0);
            answers[i].has_thread = false;
        }
    }
}

/* ---- the host's upcalls ---------------------------------------------------------------------- */

static const struct test *current;
static atomic_int connected, finalized, fences, modexes, aborts, lost, registered;
static int objects[2 * NODE_RANKS]; /* server objects, by rank */

/* What the other node has left. */
static char *harvest_fence, *harvest_rank[2 * NODE_RANKS];
static size_t harvest_fence_size, harvest_rank_size[2 * NODE_RANKS];
static bool harvesting;

static void proc_check(const pmix_proc_t *proc, void *object)
{
    CHECK(strcmp(proc->nspace, NSPACE) == 0 && proc->rank < 2 * NODE_RANKS);
    CHECK(object == &objects[proc->rank]);
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    proc_check(proc, object);
    atomic_fetch_add(&connected, 1);
    return PMIX_SUCCESS;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    proc_check(proc, object);
    atomic_fetch_add(&finalized, 1);
    return cbfunc == NULL ? PMIX_SUCCESS
                          : answer_by(harvesting ? INSIDE : current->finalized,
                                      answer_new(NULL, cbfunc, cbdata));
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *msg,
                              pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    proc_check(proc, object);
    CHECK(status == 7 && strcmp(msg, "the text") == 0 && nprocs == 0);
    atomic_fetch_add(&aborts, 1);
    return answer_by(current->abort, answer_new(NULL, cbfunc, cbdata));
}

/* Everybody's contribution: ours and the other node's. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    struct answer *const answer = answer_new(cbfunc, NULL, cbdata);
    (void)atomic_fetch_add(&fences, 1);
    const size_t more = harvesting ? 0 : harvest_fence_size; /* of the other node, in each fence */

    CHECK(nprocs == 1 && strcmp(procs[0].nspace, NSPACE) == 0 &&
          procs[0].rank == PMIX_RANK_WILDCARD);
    CHECK(ndata > 0 && data != NULL && (info != NULL || ninfo == 0));
    if (harvesting) {
        harvest_fence = malloc(ndata);
        CHECK(harvest_fence != NULL);
        memcpy(harvest_fence, data, ndata);
        harvest_fence_size = ndata;
    }
    answer->bytes = malloc(ndata + more);
    CHECK(answer->bytes != NULL);
    if (more != 0) {
        memcpy(answer->bytes, harvest_fence, more);
    }
    memcpy(answer->bytes + more, data, ndata);
    answer->size = ndata + more;
    if (current->garbage && !harvesting) {
        memset(answer->bytes, 'x', answer->size);
    }
    free(data);
    return answer_by(harvesting ? INSIDE : current->fence, answer);
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    struct answer *const answer = answer_new(cbfunc, NULL, cbdata);

    CHECK(strcmp(proc->nspace, NSPACE) == 0 && proc->rank >= NODE_RANKS &&
          proc->rank < 2 * NODE_RANKS);
    CHECK(info != NULL || ninfo == 0);
    atomic_fetch_add(&modexes, 1);
    answer->size = harvest_rank_size[proc->rank];
    answer->bytes = malloc(answer->size);
    CHECK(answer->bytes != NULL);
    memcpy(answer->bytes, harvest_rank[proc->rank], answer->size);
    if (current->garbage) {
        memset(answer->bytes, 0xff, answer->size);
    }
    return answer_by(current->modex, answer);
}

struct event_done {
    pmix_event_notification_cbfunc_fn_t done;
    void *cbdata;
};

static void *event_main(void *arg)
{
    struct event_done *const it = arg;

    it->done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, it->cbdata);
    free(it);
    return NULL;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK_STATUS(status, PMIX_ERR_LOST_CONNECTION);
    CHECK(strcmp(source->nspace, NSPACE) == 0 && source->rank == 0);
    if (current->event == LATER) {
        struct event_done *const it = malloc(sizeof(*it));
        pthread_t thread;

        CHECK(it != NULL);
        *it = (struct event_done){ done, cbdata };
        CHECK(pthread_create(&thread, NULL, event_main, it) == 0 && pthread_detach(thread) == 0);
    } else if (current->event != NEVER) {
        done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
        if (current->event == TWICE_INSIDE) {
            done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
        }
    }
    atomic_fetch_add(&lost, 1);
}

/* ---- the host's job -------------------------------------------------------------------------- */

static char self_path[4096];

static void on_registered(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    atomic_fetch_add(&registered, 1);
}

/* With a callback a registration succeeds and calls back, and nothing else will do. */
static void registration_wait(pmix_status_t rc, int before)
{
    if (!current->callbacks) {
        CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
        return;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    while (atomic_load(&registered) == before) { /* bounded by the alarm of the case */
        sched_yield();
    }
    CHECK(registered == before + 1);
}

static void nspace_register(int first)
{
    char hostname[128] = "", nodes[300], peers[16], *node_map, *proc_map;
    uint32_t size = 2 * NODE_RANKS;
    pmix_nspace_t nspace = NSPACE;
    pmix_info_t infos[4];
    const int before = registered;

    CHECK(gethostname(hostname, sizeof(hostname) - 1) == 0);
    snprintf(nodes, sizeof(nodes), first == 0 ? "%s,elsewhere" : "elsewhere,%s", hostname);
    snprintf(peers, sizeof(peers), "%d,%d", first, first + 1);
    CHECK_STATUS(PMIx_generate_regex(nodes, &node_map), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_generate_ppn("0,1;2,3", &proc_map), PMIX_SUCCESS);
    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_NODE_MAP, node_map, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_PROC_MAP, proc_map, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[3], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    registration_wait(PMIx_server_register_nspace(nspace, NODE_RANKS, infos, 4,
                                                  current->callbacks ? on_registered : NULL, NULL),
                      before);
    for (int i = 0; i < 4; i++) {
        PMIX_INFO_DESTRUCT(&infos[i]);
    }
    free(node_map);
    free(proc_map);
}

static void clients_register(int first)
{
    for (int rank = first; rank < first + NODE_RANKS; rank++) {
        const int before = registered;
        pmix_proc_t proc;

        PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)rank);
        registration_wait(PMIx_server_register_client(&proc, geteuid(), getegid(), &objects[rank],
                                                      current->callbacks ? on_registered : NULL,
                                                      NULL),
                          before);
    }
}

static pid_t rank_start(int rank)
{
    pmix_proc_t proc;
    char number[16], **env = NULL;
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) { /* here, as some hosts do: no thread of the library is left */
        PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)rank);
        CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
        for (char **at = env; *at != NULL; at++) {
            putenv(*at);
        }
        snprintf(number, sizeof(number), "%d", rank);
        execl(self_path, self_path, "--rank", current->name, number, (char *)NULL);
        _exit(98);
    }
    return pid;
}

/* Return: 0 when both ranks of this node end as they should. */
static int ranks_run(int first)
{
    pid_t pids[NODE_RANKS];
    int failed = 0, status;

    for (int i = 0; i < NODE_RANKS; i++) {
        pids[i] = rank_start(first + i);
    }
    for (int i = 0; i < NODE_RANKS; i++) {
        CHECK(waitpid(pids[i], &status, 0) == pids[i]);
        if (status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) {
            fprintf(stderr, "%s: rank %d ends with %#x\n", current->name, first + i, status);
            failed++;
        }
    }
    return failed;
}

static void server_start(int first)
{
    static pmix_server_module_t module = {
        .client_connected = on_connected,
        .client_finalized = on_finalized,
        .abort = on_abort,
        .fence_nb = on_fence,
        .direct_modex = on_modex,
    };

    CHECK_STATUS(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0);
    if (current->clients_first) {
        clients_register(first);
        nspace_register(first);
    } else {
        nspace_register(first);
        clients_register(first);
    }
}

/* ---- the other node -------------------------------------------------------------------------- */

static atomic_int harvested;

static void on_rank_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    const int rank = (int)(intptr_t)cbdata;

    CHECK_STATUS(status, PMIX_SUCCESS);
    harvest_rank[rank] = malloc(size);
    CHECK(harvest_rank[rank] != NULL);
    memcpy(harvest_rank[rank], data, size);
    harvest_rank_size[rank] = size;
    atomic_fetch_add(&harvested, 1);
}

static void rank_data_ask(int rank)
{
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)rank);
    CHECK_STATUS(PMIx_server_dmodex_request(&proc, on_rank_data, (void *)(intptr_t)rank),
                 PMIX_SUCCESS);
}

/* One rank is asked for before it lives, the other one after its end. */
static int harvest(void)
{
    harvesting = true;
    server_start(NODE_RANKS);
    rank_data_ask(NODE_RANKS);
    CHECK(harvested == 0);
    const int failed = ranks_run(NODE_RANKS);
    rank_data_ask(NODE_RANKS + 1);
    while (failed == 0 && atomic_load(&harvested) < NODE_RANKS) {
        sched_yield(); /* bounded by the alarm of the case */
    }
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    harvesting = false;
    for (int i = 0; i < answer_count; i++) {
        CHECK(answers[i].modex == NULL || answers[i].released == 1);
    }
    memset(answers, 0, sizeof(answers));
    answer_count = fences = connected = finalized = registered = 0;
    return failed;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static pmix_proc_t self;

static void int_put(const char *key, int number)
{
    pmix_value_t value = { .type = PMIX_INT, .data.integer = number };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

static void far_get(int rank, const pmix_info_t *info, size_t ninfo, pmix_status_t want)
{
    pmix_value_t *value = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)rank);
    CHECK_STATUS(PMIx_Get(&proc, FAR_KEY, info, ninfo, &value), want);
    if (want == PMIX_SUCCESS) {
        CHECK(value->type == PMIX_INT && value->data.integer == 100 + rank);
        PMIX_VALUE_RELEASE(value);
    }
}

static void begin(int rank)
{
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK((int)self.rank == rank);
}

static int end(void)
{
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* On the other node, which gets no bytes of this one. */
static int rank_far(int rank)
{
    pmix_info_t collect;

    begin(rank);
    int_put(FAR_KEY, 100 + rank);
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &collect, 1), PMIX_ERR_PARTIAL_SUCCESS);
    return end();
}

static bool mode_is_silent(enum mode mode)
{
    return mode == NEVER || mode == LATE;
}

static int rank_fences(const struct test *test, int rank)
{
    const int rounds = test->want == PMIX_SUCCESS ? ROUNDS : 1, timeout = 1;
    pmix_info_t infos[2];

    begin(rank);
    PMIX_INFO_LOAD(&infos[0], PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_TIMEOUT, &timeout, PMIX_INT);
    for (int round = 0; round < rounds; round++) {
        int_put("near.key", round);
        CHECK_STATUS(PMIx_Fence(NULL, 0, infos, mode_is_silent(test->fence) ? 2 : 1), test->want);
        if (test->want == PMIX_SUCCESS) {
            far_get(2, NULL, 0, PMIX_SUCCESS);
            far_get(3, NULL, 0, PMIX_SUCCESS);
        }
    }
    return end();
}

static int rank_modex(const struct test *test, int rank)
{
    const int timeout = 1;
    pmix_info_t info;

    begin(rank);
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &timeout, PMIX_INT);
    far_get(2 + rank, &info, mode_is_silent(test->modex) ? 1 : 0, test->want);
    if (test->want == PMIX_SUCCESS) {
        far_get(3 - rank, NULL, 0, PMIX_SUCCESS);
        far_get(2, NULL, 0, PMIX_SUCCESS);
    }
    return end();
}

static int rank_abort(const struct test *test, int rank)
{
    begin(rank);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Abort(7, "the text", NULL, 0), test->want);
    }
    return end();
}

/* The two of this node need no other one. */
static pmix_status_t near_fence(void)
{
    pmix_proc_t procs[NODE_RANKS];

    for (int i = 0; i < NODE_RANKS; i++) {
        PMIX_LOAD_PROCID(&procs[i], NSPACE, (pmix_rank_t)i);
    }
    return PMIx_Fence(procs, NODE_RANKS, NULL, 0);
}

static int rank_plain(const struct test *test, int rank)
{
    begin(rank);
    CHECK_STATUS(near_fence(), PMIX_SUCCESS);
    return end();
}

/* Rank 0 dies between two fences; the second one fails for the other, which lives on. */
static int rank_lost(const struct test *test, int rank)
{
    begin(rank);
    CHECK_STATUS(near_fence(), PMIX_SUCCESS);
    if (rank == 0) {
        kill(getpid(), SIGKILL);
    }
    CHECK(near_fence() < 0);
    CHECK(near_fence() < 0);
    return end();
}

/* ---- what the host has seen ------------------------------------------------------------------ */

static bool counts(const char *what, int got, int least, int most)
{
    if (got < least || got > most) {
        fprintf(stderr, "%s: %d %s, not %d to %d\n", current->name, got, what, least, most);
        return false;
    }
    return true;
}

static int judge_fence(const struct test *test)
{
    const int rounds = test->want == PMIX_SUCCESS ? ROUNDS : 1;

    return !counts("fences", fences, rounds, rounds) +
           !counts("direct modexes", modexes, 0, test->want == PMIX_SUCCESS ? 0 : INT32_MAX);
}

static int judge_modex(const struct test *test)
{
    return !counts("fences", fences, 0, 0) + !counts("direct modexes", modexes, 2, 2 * NODE_RANKS);
}

static int judge_abort(const struct test *test)
{
    return !counts("aborts", aborts, 1, 1);
}

static int judge_plain(const struct test *test)
{
    return !counts("connected", connected, 2, 2) + !counts("finalized", finalized, 2, 2) +
           !counts("lost", lost, 0, 0);
}

static int judge_lost(const struct test *test)
{
    while (atomic_load(&lost) == 0) { /* bounded by the alarm of the case */
        sched_yield();
    }
    return !counts("connected", connected, 2, 2) + !counts("finalized", finalized, 1, 1) +
           !counts("lost", lost, 1, 1);
}

/* All that was lent has come back, unless nobody was told of it. */
static int judge_releases(void)
{
    int failed = 0;

    for (int i = 0; i < answer_count; i++) {
        const struct answer *const it = &answers[i];

        if (it->modex != NULL && it->given != 0) {
            failed += !counts("releases", it->released, 1, 1);
        }
    }
    return failed;
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define FENCE .rank = rank_fences, .judge = judge_fence, .harvest = true
#define MODEX .rank = rank_modex, .judge = judge_modex, .harvest = true
#define ABORT .rank = rank_abort, .judge = judge_abort, .finalized = INSIDE
#define PLAIN .rank = rank_plain, .judge = judge_plain
#define LOST .rank = rank_lost, .judge = judge_lost

static const struct test tests[] = {
    { "fence_inside", FENCE, .fence = INSIDE },
    { "fence_later", FENCE, .fence = LATER },
    { "fence_twice_inside", FENCE, .fence = TWICE_INSIDE },
    { "fence_twice_later", FENCE, .fence = TWICE_LATER },
    { "fence_never", FENCE, .fence = NEVER, .want = PMIX_ERR_TIMEOUT },
    { "fence_late", FENCE, .fence = LATE, .want = PMIX_ERR_TIMEOUT },
    { "fence_refused", FENCE, .fence = REFUSE, .want = PMIX_ERR_NOT_AVAILABLE },
    { "fence_refused_twice", FENCE, .fence = REFUSE_TWICE, .want = PMIX_ERR_NOT_AVAILABLE },
    { "fence_garbage", FENCE, .fence = INSIDE, .want = PMIX_ERR_UNPACK_FAILURE, .garbage = true },
    { "modex_inside", MODEX, .modex = INSIDE },
    { "modex_later", MODEX, .modex = LATER },
    { "modex_twice_inside", MODEX, .modex = TWICE_INSIDE },
    { "modex_twice_later", MODEX, .modex = TWICE_LATER },
    { "modex_never", MODEX, .modex = NEVER, .want = PMIX_ERR_TIMEOUT },
    { "modex_late", MODEX, .modex = LATE, .want = PMIX_ERR_TIMEOUT },
    { "modex_refused", MODEX, .modex = REFUSE, .want = PMIX_ERR_NOT_AVAILABLE },
    { "modex_refused_twice", MODEX, .modex = REFUSE_TWICE, .want = PMIX_ERR_NOT_AVAILABLE },
    { "modex_garbage", MODEX, .modex = INSIDE, .want = PMIX_ERR_UNPACK_FAILURE, .garbage = true },
    { "abort_inside", ABORT, .abort = INSIDE },
    { "abort_later", ABORT, .abort = LATER },
    { "abort_twice_inside", ABORT, .abort = TWICE_INSIDE },
    { "abort_twice_later", ABORT, .abort = TWICE_LATER },
    { "abort_never", ABORT, .abort = NEVER, .want = PMIX_ERR_TIMEOUT },
    { "abort_done", ABORT, .abort = DONE },
    { "abort_refused", ABORT, .abort = REFUSE, .want = PMIX_ERR_NOT_AVAILABLE },
    { "abort_refused_twice", ABORT, .abort = REFUSE_TWICE, .want = PMIX_ERR_NOT_AVAILABLE },
    { "finalized_inside", PLAIN, .finalized = INSIDE, .callbacks = true },
    { "finalized_later", PLAIN, .finalized = LATER, .clients_first = true },
    { "finalized_twice", PLAIN, .finalized = TWICE_LATER, .clients_first = true,
      .callbacks = true },
    { "finalized_never", PLAIN, .finalized = NEVER },
    { "finalized_refused", PLAIN, .finalized = REFUSE },
    { "lost_inside", LOST, .event = INSIDE },
    { "lost_later", LOST, .event = LATER, .clients_first = true, .callbacks = true },
    { "lost_twice", LOST, .event = TWICE_INSIDE },
    { "lost_never", LOST, .event = NEVER },
};

static int host_main(void)
{
    alarm(JOB_SECONDS);
    int failed = current->harvest ? harvest() : 0;

    server_start(0);
    failed += ranks_run(0);
    answers_join();
    answers_give_late();
    failed += current->judge(current);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    failed += judge_releases();
    for (int i = 0; i < answer_count; i++) { /* somebody may still say something */
        if (answers[i].mode == NEVER) {
            answer_give(&answers[i]);
        }
    }
    return failed != 0;
}

static int test_run(const struct test *test)
{
    int status;

    fflush(NULL);
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        current = test;
        exit(host_main());
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%s: the host ended by signal %d\n", test->name, WTERMSIG(status));
    }
    printf("%s %s\n", status == 0 ? "ok  " : "FAIL", test->name);
    return status != 0;
}

int main(int argc, char **argv)
{
    int failed = 0, found = 0;

    CHECK(readlink("/proc/self/exe", self_path, sizeof(self_path) - 1) > 0);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        const struct test *const test = &tests[i];

        if (argc == 4 && strcmp(argv[1], "--rank") == 0) {
            if (strcmp(argv[2], test->name) == 0) {
                const int rank = atoi(argv[3]);

                alarm(JOB_SECONDS);
                return rank >= NODE_RANKS ? rank_far(rank) : test->rank(test, rank);
            }
        } else if (argc == 1 || strncmp(test->name, argv[1], strlen(argv[1])) == 0) {
            found++;
            failed += test_run(test);
        }
    }
    return found == 0 ? 2 : failed != 0;
}
