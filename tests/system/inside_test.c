/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* inside_test.c - blocking calls inside a callback: each one works, or is refused where it would
 * wait for itself.  None hangs.  X29, CN50, GR68.
 *
 * A table of calls, made by both ranks in its order: in an event handler and in the callback of a
 * non-blocking call; on the progress thread and in PMIx_Progress.  A call that hangs is ended by the
 * rank's alarm, and the line before says which one it was.  The same for a host, whose upcalls and
 * handlers run on its server's thread. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"

#define CODE (-3701)
#define CODE_OTHER (-3702)
#define LARGE (1u << 20)

static pmix_proc_t me, peer;

/* ---- the calls ------------------------------------------------------------------------------ */

static void ignore_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t init_again(void)
{
    const pmix_status_t rc = PMIx_Init(NULL, NULL, 0);

    return rc == PMIX_SUCCESS ? PMIx_Finalize(NULL, 0) : rc;
}

static pmix_status_t put(const char *key, size_t size)
{
    pmix_value_t value = { .type = PMIX_STRING };

    value.data.string = calloc(1, size + 1);
    CHECK(value.data.string != NULL);
    memset(value.data.string, 'v', size);
    pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, key, &value);
    free(value.data.string);
    return rc == PMIX_SUCCESS ? PMIx_Commit() : rc;
}

static pmix_status_t put_small(void)
{
    return put("small", 5);
}

static pmix_status_t put_large(void)
{
    return put("large", LARGE);
}

static pmix_status_t get(const pmix_proc_t *proc, const char *key)
{
    pmix_value_t *value = NULL;
    const pmix_status_t rc = PMIx_Get(proc, key, NULL, 0, &value);

    if (rc == PMIX_SUCCESS) {
        PMIx_Value_destruct(value);
        free(value);
    }
    return rc;
}

static pmix_status_t get_own(void)
{
    return get(&me, "small");
}

/* The peer puts it inside its callback: one of the two waits for the other. */
static pmix_status_t get_peers(void)
{
    const pmix_status_t rc = put("later", 5);

    return rc == PMIX_SUCCESS ? get(&peer, "later") : rc;
}

static pmix_status_t get_of_nobody(void)
{
    const pmix_proc_t nobody = { .nspace = "test.nobody", .rank = 0 };

    return get(&nobody, PMIX_JOB_SIZE);
}

static pmix_status_t fence(void)
{
    return PMIx_Fence(NULL, 0, NULL, 0);
}

static pmix_status_t fence_that_collects(void)
{
    const bool yes = true;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL), PMIX_SUCCESS);
    return PMIx_Fence(NULL, 0, &info, 1);
}

static pmix_status_t connect_and_disconnect(void)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_proc_t all = me;
    pmix_rank_t rank;

    all.rank = PMIX_RANK_WILDCARD;
    pmix_status_t rc = shmix_connect(&all, 1, NULL, 0, nspace, &rank);
    if (rc == PMIX_SUCCESS) {
        rc = shmix_disconnect(nspace, NULL, 0);
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Connect(&all, 1, NULL, 0);
    }
    return rc == PMIX_SUCCESS ? PMIx_Disconnect(&all, 1, NULL, 0) : rc;
}

/* Rank 0 invites, rank 1 joins as soon as it is invited: both wait for the group. */
static pmix_status_t invite_or_join(void)
{
    pmix_status_t rc;

    if (me.rank == 0) {
        rc = PMIx_Group_invite("invited", &peer, 1, NULL, 0, NULL, NULL);
    } else {
        do {
            sched_yield();
            rc = PMIx_Group_join("invited", &peer, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL);
        } while (rc == PMIX_ERR_NOT_FOUND);
    }
    return rc == PMIX_SUCCESS ? PMIx_Group_destruct("invited", NULL, 0) : rc;
}

static pmix_status_t store(void)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 1 };

    return PMIx_Store_internal(&me, "stored", &value);
}

static pmix_status_t resolve(void)
{
    pmix_proc_t *procs = NULL;
    char *nodes = NULL;
    size_t count = 0;
    const pmix_status_t rc = PMIx_Resolve_peers(NULL, me.nspace, &procs, &count);

    free(procs);
    CHECK(rc != PMIX_SUCCESS || count == 2);
    (void)PMIx_Resolve_nodes(me.nspace, &nodes); /* this host has named none */
    free(nodes);
    return rc;
}

static pmix_status_t handler(void)
{
    pmix_status_t code = CODE_OTHER;
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, ignore_event, NULL,
                                                         NULL);

    return id >= 0 ? PMIx_Deregister_event_handler((size_t)id, NULL, NULL) : id;
}

static pmix_status_t notify(void)
{
    return PMIx_Notify_event(CODE_OTHER, NULL, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL);
}

/* It is a request, with an answer to wait for. */
static pmix_status_t notify_large(void)
{
    pmix_info_t info;
    char *const text = calloc(1, LARGE);

    CHECK(text != NULL);
    memset(text, 'e', LARGE - 1);
    info = info_text("test.text", text);
    const pmix_status_t rc = PMIx_Notify_event(CODE_OTHER, NULL, PMIX_RANGE_LOCAL, &info, 1, NULL,
                                               NULL);
    PMIx_Info_destruct(&info);
    free(text);
    return rc;
}

static pmix_status_t control(void)
{
    char path[] = "/tmp/shmix-no-such-file";
    pmix_info_t info;

    info = info_text(PMIX_REGISTER_CLEANUP, path);
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    const pmix_status_t rc = PMIx_Job_control(&me, 1, &info, 1, &results, &nresults);

    PMIx_Info_destruct(&info);
    return rc;
}

/* The host says that it has, and does nothing. */
static pmix_status_t abort_all(void)
{
    return PMIx_Abort(1, "not really", NULL, 0);
}

static pmix_status_t topology(void)
{
    pmix_topology_t topo = { .source = NULL };
    pmix_cpuset_t cpuset = { .source = NULL };
    pmix_device_distance_t *distances = NULL;
    size_t count = 0;
    pmix_status_t rc = PMIx_Load_topology(&topo);

    if (rc == PMIX_SUCCESS) {
        CHECK_STATUS(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
        rc = PMIx_Compute_distances(&topo, &cpuset, NULL, 0, &distances, &count);
        PMIx_Device_distance_free(distances, count);
        PMIx_Cpuset_destruct(&cpuset);
        PMIx_Topology_destruct(&topo);
    }
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc; /* a machine without devices */
}

static pmix_status_t job_open_own(void)
{
    shmix_job_t *job;
    const pmix_status_t rc = shmix_job_open(NULL, &job);

    if (rc == PMIX_SUCCESS) {
        CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
        shmix_job_close(job);
    }
    return rc;
}

static pmix_status_t job_open_of_nobody(void)
{
    shmix_job_t *job;

    return shmix_job_open("test.nobody", &job);
}

static pmix_status_t events_wait(void)
{
    shmix_events_t *events;
    shmix_event_t event;
    pmix_status_t code = CODE_OTHER;
    pmix_status_t rc = shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &events);

    if (rc == PMIX_SUCCESS) {
        CHECK_STATUS(notify(), PMIX_SUCCESS);
        rc = shmix_events_wait(events, SHMIX_FOREVER, &event);
        shmix_events_close(events);
    }
    return rc;
}

static pmix_status_t descriptor(void)
{
    int fd;

    return shmix_fd(&fd);
}

static pmix_status_t progress(void)
{
    PMIx_Progress();
    return PMIX_SUCCESS;
}

/* Refused, with a line only: callbacks go on. */
static pmix_status_t thread_stop(void)
{
    PMIx_Progress_thread_stop(NULL, 0);
    return PMIX_SUCCESS;
}

static const struct {
    const char *name;
    pmix_status_t (*make)(void);
    pmix_status_t want;
} calls[] = {
    { "PMIx_Init, PMIx_Finalize, counted", init_again, PMIX_SUCCESS },
    { "PMIx_Put, PMIx_Commit", put_small, PMIX_SUCCESS },
    { "PMIx_Commit of a large value", put_large, PMIX_SUCCESS },
    { "PMIx_Get of an own value", get_own, PMIX_SUCCESS },
    { "PMIx_Get that waits for the peer", get_peers, PMIX_SUCCESS },
    { "PMIx_Get of another namespace", get_of_nobody, PMIX_ERR_NOT_FOUND },
    { "PMIx_Fence", fence, PMIX_SUCCESS },
    { "PMIx_Fence that collects", fence_that_collects, PMIX_SUCCESS },
    { "PMIx_Connect, PMIx_Disconnect", connect_and_disconnect, PMIX_SUCCESS },
    { "PMIx_Group_invite, PMIx_Group_join", invite_or_join, PMIX_SUCCESS },
    { "PMIx_Store_internal", store, PMIX_SUCCESS },
    { "PMIx_Resolve_peers, PMIx_Resolve_nodes", resolve, PMIX_SUCCESS },
    { "PMIx_Register_event_handler, PMIx_Deregister_event_handler", handler, PMIX_SUCCESS },
    { "PMIx_Notify_event", notify, PMIX_SUCCESS },
    { "PMIx_Notify_event of a large event", notify_large, PMIX_SUCCESS },
    { "PMIx_Job_control", control, PMIX_SUCCESS },
    { "PMIx_Abort", abort_all, PMIX_SUCCESS },
    { "PMIx_Load_topology, PMIx_Compute_distances", topology, PMIX_SUCCESS },
    { "shmix_job_open, shmix_job_refresh", job_open_own, PMIX_SUCCESS },
    { "shmix_job_open of another namespace", job_open_of_nobody, PMIX_ERR_NOT_FOUND },
    { "shmix_events_open, shmix_events_wait", events_wait, PMIX_SUCCESS },
    { "shmix_fd", descriptor, PMIX_SUCCESS },
    { "PMIx_Progress", progress, PMIX_SUCCESS },
    { "PMIx_Progress_thread_stop", thread_stop, PMIX_SUCCESS },
    { "PMIx_Fence once more", fence, PMIX_SUCCESS },
};
#define CALL_COUNT (sizeof(calls) / sizeof(calls[0]))

/* ---- where they are made -------------------------------------------------------------------- */

static bool external;
static size_t turn; /* of the calls; constant while a callback runs */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static unsigned returned; /* callbacks; under lock */

static void (*inside)(void); /* what the next callback does */

static void callback_runs(void)
{
    inside();
    pthread_mutex_lock(&lock);
    returned++;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
}

static void wait_for(unsigned count)
{
    pthread_mutex_lock(&lock);
    while (returned < count) {
        if (external) {
            pthread_mutex_unlock(&lock);
            PMIx_Progress();
            sched_yield();
            pthread_mutex_lock(&lock);
        } else {
            pthread_cond_wait(&more, &lock);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void make_call(void)
{
    alarm(JOB_SECONDS); /* each has its own time */
    const pmix_status_t rc = calls[turn].make();

    if (rc != calls[turn].want) {
        fprintf(stderr, "%s: %s, not %s\n", calls[turn].name, PMIx_Error_string(rc),
                PMIx_Error_string(calls[turn].want));
        exit(99);
    }
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    callback_runs();
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    callback_runs();
}

static void to_handler(void)
{
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
}

static void to_callback(void)
{
    CHECK_STATUS(PMIx_Get_nb(&me, PMIX_LOCAL_RANK, NULL, 0, on_value, NULL), PMIX_SUCCESS);
}

static void begin(bool is_external)
{
    pmix_status_t code = CODE;
    pmix_info_t info;

    external = is_external;
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EXTERNAL_PROGRESS, &external, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Init(&me, &info, 1), PMIX_SUCCESS);
    peer = me;
    peer.rank = 1 - me.rank;
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
}

static int all_calls(bool is_external, void (*to)(void))
{
    begin(is_external);
    inside = make_call;
    for (turn = 0; turn < CALL_COUNT; turn++) {
        to();
        wait_for((unsigned)turn + 1);
    }
    return rank_end();
}

static int in_handler(int rank)
{
    return all_calls(false, to_handler);
}

static int in_callback(int rank)
{
    return all_calls(false, to_callback);
}

static int in_handler_of_progress(int rank)
{
    return all_calls(true, to_handler);
}

static int in_callback_of_progress(int rank)
{
    return all_calls(true, to_callback);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void end_here(void)
{
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(!PMIx_Initialized());
}

static int end_inside(bool is_external, void (*to)(void))
{
    begin(is_external);
    inside = end_here;
    to();
    wait_for(1);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

static int end_in_handler(int rank)
{
    return end_inside(rank == 0, to_handler);
}

static int end_in_callback(int rank)
{
    return end_inside(rank == 0, to_callback);
}

/* Another thread ends it, and waits for this callback. */
static void while_it_ends(void)
{
    while (PMIx_Initialized()) {
        sched_yield();
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_ERR_NOT_SUPPORTED);
}

static int ended_meanwhile(int rank)
{
    begin(rank == 0);
    inside = while_it_ends;
    to_callback(); /* with PMIX_EXTERNAL_PROGRESS, PMIx_Finalize runs it */
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(returned == 1);
    return 0;
}

/* ---- a process on its own that joins a server ----------------------------------------------- */

static char uri[512];
static unsigned acknowledged; /* on the thread of callbacks */

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    acknowledged++;
}

static void nothing(void)
{
}

/* Its acknowledgement waits for this callback to return. */
static void join_with_a_registration_under_way(void)
{
    pmix_status_t code = CODE_OTHER;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered, NULL),
                 PMIX_SUCCESS);
    info = info_text(PMIX_SERVER_URI, uri);
    CHECK_STATUS(PMIx_Init(NULL, &info, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS); /* that one */
    inside = nothing;
}

static int joins(int rank)
{
    const char *const address = getenv("SHMIX_SERVER_URI");
    pmix_status_t code = CODE;
    pmix_info_t info;

    if (address == NULL) {
        printf("skipped: the server is reached by a descriptor alone\n");
        return JOB_SKIPPED;
    }
    snprintf(uri, sizeof(uri), "any.0;%s", address);
    unsetenv("SHMIX_SERVER_URI");
    unsetenv("SHMIX_SERVER_FD");
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_RANK");
    external = rank == 0;
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EXTERNAL_PROGRESS, &external, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Init(&me, &info, 1), PMIX_ERR_UNREACH);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
    job_token_put(rank);
    job_token_get(2 + rank);
    inside = join_with_a_registration_under_way;
    to_handler();
    wait_for(1);
    /* It hears of what the server has kept, behind its acknowledgement, and once of what comes. */
    wait_for(2);
    CHECK(acknowledged == 1);
    CHECK_STATUS(notify(), PMIX_SUCCESS);
    wait_for(3);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK(returned == 3);
    return rank_end();
}

/* As a launcher does that a process starts for itself. */
static int host_of_joining(struct job *job)
{
    const uint32_t size = 1;
    char hostname[128] = "";

    for (int rank = 0; rank < 2; rank++) {
        job_token_get(rank);
    }
    (void)gethostname(hostname, sizeof(hostname) - 1);
    for (int rank = 0; rank < 2; rank++) {
        pmix_proc_t proc = { .rank = 0 };
        pmix_info_t info;

        snprintf(proc.nspace, sizeof(proc.nspace), "singleton.%s.%ld", hostname,
                 (long)job->pids[rank]);
        CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_server_register_nspace(proc.nspace, 1, &info, 1, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
        CHECK_STATUS(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    }
    const pmix_status_t rc = PMIx_Notify_event(CODE_OTHER, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL,
                                               NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < 2; rank++) {
        job_token_put(2 + rank);
    }
    return 0;
}

/* ---- a host, on its server's thread --------------------------------------------------------- */

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char msg[],
                              pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    pthread_mutex_lock(&lock);
    const bool is_asked = inside != NULL;
    pthread_mutex_unlock(&lock);
    if (is_asked) {
        callback_runs();
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static void done(pmix_status_t status)
{
    CHECK_STATUS(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status, PMIX_SUCCESS);
}

static void calls_of_a_host(void)
{
    pmix_proc_t proc = { .nspace = "test.inside", .rank = 0 };
    const uint32_t size = 1;
    pmix_status_t code = CODE_OTHER;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    done(PMIx_server_register_nspace(proc.nspace, 1, &info, 1, NULL, NULL));
    done(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL));
    proc.rank = PMIX_RANK_WILDCARD;
    CHECK_STATUS(get(&proc, PMIX_JOB_SIZE), PMIX_SUCCESS);
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, ignore_event, NULL,
                                                         NULL);
    CHECK(id >= 0);
    done(PMIx_Notify_event(CODE_OTHER, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL));
    CHECK_STATUS(PMIx_Deregister_event_handler((size_t)id, NULL, NULL), PMIX_SUCCESS);
    proc.rank = 0;
    PMIx_server_deregister_client(&proc, NULL, NULL);
    PMIx_server_deregister_nspace(proc.nspace, NULL, NULL);
    PMIx_Progress();
    /* Its end waits for this very thread; so does whoever waits for its end. */
    CHECK_STATUS(PMIx_server_init(&job_module, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Fence(&me, 1, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(control(), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_ERR_NOT_SUPPORTED);
}

static int asks_the_host(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        job_token_get(0); /* the host knows what to do */
        CHECK_STATUS(abort_all(), PMIX_SUCCESS);
    }
    return rank_end();
}

/* A host may be a client of its own server as well. */
static void host_joins_itself(void)
{
    const pmix_proc_t self = { .nspace = "test.itself", .rank = 0 };
    const uint32_t size = 1;
    pmix_info_t info;
    char **env = NULL;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    done(PMIx_server_register_nspace(self.nspace, 1, &info, 1, NULL, NULL));
    done(PMIx_server_register_client(&self, getuid(), getgid(), NULL, NULL, NULL));
    CHECK_STATUS(PMIx_server_setup_fork(&self, &env), PMIX_SUCCESS);
    for (size_t i = 0; env[i] != NULL; i++) {
        putenv(env[i]); /* which keeps it */
    }
    free(env);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Check_procid(&me, &self));
}

/* An upcall, and an event handler. */
static int host_is_asked(struct job *job)
{
    pmix_status_t code = CODE;

    alarm(2 * JOB_SECONDS);
    host_joins_itself();
    pthread_mutex_lock(&lock);
    inside = calls_of_a_host;
    pthread_mutex_unlock(&lock);
    job_token_put(0);
    wait_for(1);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
    done(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL));
    wait_for(2);
    pthread_mutex_lock(&lock);
    inside = NULL;
    pthread_mutex_unlock(&lock);
    CHECK_STATUS(PMIx_Fence(&me, 1, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

static const struct job_case cases[] = {
    { "in_handler", 2, in_handler },
    { "in_callback", 2, in_callback },
    { "in_handler_of_progress", 2, in_handler_of_progress },
    { "in_callback_of_progress", 2, in_callback_of_progress },
    { "end_in_handler", 2, end_in_handler },
    { "end_in_callback", 2, end_in_callback },
    { "ended_meanwhile", 2, ended_meanwhile },
    { "joins", 2, joins, host_of_joining },
    { "host_is_asked", 2, asks_the_host, host_is_asked },
};

int main(int argc, char **argv)
{
    job_module.abort = on_abort;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
