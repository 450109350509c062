/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_ask_test.c - what a tool asks reaches each entry of the host once, in the tool's name; and
 * requests that are cancelled all at once while the host answers them. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "job.h"

#define TOOL "the.tools"
#define TOOL_RANK 17
#define SET "a.set" /* a process set's name, as that of a job */
#define ROUNDS 200

enum { QUERY, LOG, CONTROL, MONITOR, ALLOCATE, FABRIC, CREDENTIAL, VALIDATE, NOTIFY, ENTRIES };
static const char *const names[ENTRIES] = { "query",          "log",
                                            "job_control",    "monitor",
                                            "allocate",       "fabric",
                                            "get_credential", "validate_credential",
                                            "notify_event" };

/* Between the host and the tool. */
static struct shared {
    atomic_uint asked[ENTRIES];
    sem_t outcome; /* the host has heard of the event */
    sem_t ended;   /* ... and of the end of a tool */
} * shared;

/* ---- the host -------------------------------------------------------------------------------- */

static void note(int entry, const pmix_proc_t *proc)
{
    CHECK(PMIx_Check_nspace(proc->nspace, TOOL) && proc->rank == TOOL_RANK);
    atomic_fetch_add(&shared->asked[entry], 1);
}

static void results_free(void *cbdata)
{
    PMIX_INFO_FREE(cbdata, 1);
}

static void answer(const char *key, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    pmix_info_t *const info = PMIx_Info_create(1);

    CHECK_STATUS(PMIx_Info_load(info, key, "host", PMIX_STRING), PMIX_SUCCESS);
    cbfunc(PMIX_SUCCESS, info, 1, cbdata, results_free, info);
}

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    pmix_proc_t named;

    PMIx_Load_procid(&named, TOOL, TOOL_RANK);
    cbfunc(PMIX_SUCCESS, &named, cbdata);
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    note(QUERY, proc);
    CHECK(nqueries == 1 && strcmp(queries[0].keys[0], "my.key") == 0);
    answer("my.key", cbfunc, cbdata);
    return PMIX_SUCCESS;
}

static void on_log(const pmix_proc_t *client, const pmix_info_t *data, size_t ndata,
                   const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
                   void *cbdata)
{
    note(LOG, client);
    CHECK(ndata == 1 && PMIx_Check_key(data[0].key, PMIX_LOG_GLOBAL_DATASTORE));
    cbfunc(PMIX_SUCCESS, cbdata);
}

/* One that is held until all are cancelled.  Then a thread answers it while the cancel is. */
static struct held {
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
} held;

static void *held_answer(void *arg)
{
    struct held *const it = arg;

    it->cbfunc(PMIX_SUCCESS, NULL, 0, it->cbdata, NULL, NULL);
    free(it);
    return NULL;
}

static void held_race(void)
{
    struct held *const it = malloc(sizeof(*it));
    pthread_t thread;

    CHECK(it != NULL && held.cbfunc != NULL);
    *it = held;
    held.cbfunc = NULL;
    CHECK(pthread_create(&thread, NULL, held_answer, it) == 0);
    pthread_detach(thread);
}

static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    note(CONTROL, proc);
    if (PMIx_Check_key(directives[0].key, PMIX_JOB_CTRL_ID)) {
        CHECK(ndirs == 4 && PMIx_Check_key(directives[1].key, PMIX_JOB_CTRL_PAUSE));
        held = (struct held){ cbfunc, cbdata };
        return PMIX_SUCCESS;
    }
    if (PMIx_Check_key(directives[0].key, PMIX_JOB_CTRL_CANCEL)) {
        held_race();
        return PMIX_OPERATION_SUCCEEDED;
    }
    /* A set stands for nobody: who asks means a job that the host alone may know. */
    CHECK(ntargets == 1 && PMIx_Check_nspace(targets[0].nspace, SET) &&
          targets[0].rank == PMIX_RANK_WILDCARD);
    answer("my.result", cbfunc, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_monitor(const pmix_proc_t *proc, const pmix_info_t *monitor,
                                pmix_status_t error, const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    note(MONITOR, proc);
    CHECK(PMIx_Check_key(monitor->key, "my.monitor") && error == PMIX_ERR_LOST_CONNECTION);
    answer("my.result", cbfunc, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                 const pmix_info_t data[], size_t ndata, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    note(ALLOCATE, client);
    CHECK(directive == PMIX_ALLOC_RELEASE);
    answer("my.result", cbfunc, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_fabric(const pmix_proc_t *proc, pmix_fabric_operation_t op,
                               const pmix_info_t directives[], size_t ndirs,
                               pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    note(FABRIC, proc);
    answer(PMIX_FABRIC_VENDOR, cbfunc, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_credential(const pmix_proc_t *proc, const pmix_info_t directives[],
                                   size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    pmix_byte_object_t secret = { .bytes = (char[]){ "secret" }, .size = 7 };

    note(CREDENTIAL, proc);
    cbfunc(PMIX_SUCCESS, &secret, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_validate(const pmix_proc_t *proc, const pmix_byte_object_t *cred,
                                 const pmix_info_t directives[], size_t ndirs,
                                 pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    note(VALIDATE, proc);
    CHECK(cred->size == 7 && strcmp(cred->bytes, "secret") == 0);
    cbfunc(PMIX_SUCCESS, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    note(NOTIFY, source);
    CHECK(code == PMIX_EXTERNAL_ERR_BASE - 3 && range == PMIX_RANGE_RM);
    cbfunc(PMIX_SUCCESS, cbdata);
    sem_post(&shared->outcome);
    return PMIX_SUCCESS;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *server_object,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(PMIx_Check_nspace(proc->nspace, TOOL) && proc->rank == TOOL_RANK);
    CHECK(server_object == NULL);
    sem_post(&shared->ended);
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- the tool -------------------------------------------------------------------------------- */

static pmix_info_t *results;
static size_t nresults;

static void expect(pmix_status_t rc, const char *key)
{
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(nresults == 1 && PMIx_Check_key(results->key, key));
    CHECK(strcmp(results->value.data.string, "host") == 0);
    PMIx_Info_free(results, nresults);
}

static void entries_ask(const pmix_proc_t *self)
{
    pmix_byte_object_t cred = { .bytes = NULL };
    pmix_fabric_t fabric;
    pmix_query_t query;
    pmix_info_t info;
    pmix_proc_t set;

    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, "my.key");
    expect(PMIx_Query_info(&query, 1, &results, &nresults), "my.key");
    PMIx_Query_destruct(&query);
    info = info_text(PMIX_LOG_GLOBAL_DATASTORE, "text");
    CHECK_STATUS(PMIx_Log(&info, 1, NULL, 0), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    PMIx_Load_procid(&set, SET, PMIX_RANK_WILDCARD);
    info = info_flag(PMIX_JOB_CTRL_KILL);
    expect(PMIx_Job_control(&set, 1, &info, 1, &results, &nresults), "my.result");
    info = info_flag("my.monitor");
    expect(PMIx_Process_monitor(&info, PMIX_ERR_LOST_CONNECTION, NULL, 0, &results, &nresults),
           "my.result");
    info = info_text(PMIX_ALLOC_ID, "nodes");
    expect(PMIx_Allocation_request(PMIX_ALLOC_RELEASE, &info, 1, &results, &nresults), "my.result");
    PMIx_Info_destruct(&info);
    memset(&fabric, 0, sizeof(fabric));
    CHECK_STATUS(PMIx_Fabric_register(&fabric, NULL, 0), PMIX_SUCCESS);
    CHECK(fabric.ninfo == 1 && PMIx_Check_key(fabric.info->key, PMIX_FABRIC_VENDOR));
    CHECK_STATUS(PMIx_Fabric_deregister(&fabric), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get_credential(NULL, 0, &cred), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Validate_credential(&cred, NULL, 0, &results, &nresults), PMIX_SUCCESS);
    PMIx_Byte_object_destruct(&cred);
    CHECK_STATUS(PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 3, self, PMIX_RANGE_RM, NULL, 0, NULL,
                                   NULL),
                 PMIX_SUCCESS);
    job_sem_wait(&shared->outcome);
    for (int i = 0; i < ENTRIES; i++) {
        printf("%s: %u\n", names[i], atomic_load(&shared->asked[i]));
        CHECK(atomic_load(&shared->asked[i]) == 1);
    }
}

static sem_t answered;

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release, void *release_cbdata)
{
    CHECK(status == PMIX_SUCCESS && ninfo == 0 && cbdata == &answered);
    if (release != NULL) {
        release(release_cbdata);
    }
    sem_post(&answered);
}

/* Each request is answered once, in whichever order the two come. */
static void cancels_race(const pmix_proc_t *self)
{
    pmix_info_t request[2], cancel;

    CHECK(sem_init(&answered, 0, 0) == 0);
    request[0] = info_text(PMIX_JOB_CTRL_ID, "mine");
    request[1] = info_flag(PMIX_JOB_CTRL_PAUSE);
    cancel = info_flag(PMIX_JOB_CTRL_CANCEL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_STATUS(PMIx_Job_control_nb(self, 1, request, 2, on_answer, &answered), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Job_control(self, 1, &cancel, 1, NULL, NULL), PMIX_SUCCESS);
        job_sem_wait(&answered);
    }
    CHECK(sem_trywait(&answered) != 0);
    CHECK(atomic_load(&shared->asked[CONTROL]) == 1 + 2 * ROUNDS);
    PMIx_Info_destruct(&request[0]);
}

static void tool_begin(pmix_proc_t *self, int go)
{
    pmix_info_t info;
    char nspace[PMIX_MAX_NSLEN + 1];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CHECK(read(go, nspace, sizeof(nspace)) == sizeof(nspace));
    info = info_text(PMIX_SERVER_NSPACE, nspace);
    CHECK_STATUS(PMIx_tool_init(self, &info, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    CHECK(PMIx_Check_nspace(self->nspace, TOOL) && self->rank == TOOL_RANK);
}

static int tool_run(int go)
{
    pmix_proc_t self;

    tool_begin(&self, go);
    entries_ask(&self);
    cancels_race(&self);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    return 0;
}

static int tool_killed(int go)
{
    pmix_proc_t self;

    tool_begin(&self, go);
    return raise(SIGKILL);
}

/* Return: the process of @run, which goes on when it is written to *ret_go. */
static pid_t tool_fork(int (*run)(int go), int *ret_go)
{
    int go[2];

    CHECK(pipe2(go, O_CLOEXEC) == 0);
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        exit(run(go[0]));
    }
    close(go[0]);
    *ret_go = go[1];
    return pid;
}

/* The tools are forked before the server is here: they inherit nothing of it. */
int main(void)
{
    pmix_server_module_t module = { .client_finalized = on_finalized,
                                    .tool_connected = on_tool,
                                    .query = on_query,
                                    .log = on_log,
                                    .job_control = on_control,
                                    .monitor = on_monitor,
                                    .allocate = on_allocate,
                                    .fabric = on_fabric,
                                    .get_credential = on_credential,
                                    .validate_credential = on_validate,
                                    .notify_event = on_notify };
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    const bool yes = true;
    pmix_info_t infos[2];
    pmix_proc_t member;
    int go, go_on, status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(JOB_SECONDS);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED && sem_init(&shared->outcome, 1, 0) == 0);
    CHECK(sem_init(&shared->ended, 1, 0) == 0);
    const pid_t pid = tool_fork(tool_run, &go), second = tool_fork(tool_killed, &go_on);

    snprintf(nspace, sizeof(nspace), "tool.ask.%d", (int)getpid());
    infos[0] = info_text(PMIX_SERVER_NSPACE, nspace);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_init(&module, infos, 2), PMIX_SUCCESS);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Load_procid(&member, "some.job", 3);
    CHECK_STATUS(PMIx_server_define_process_set(&member, 1, SET), PMIX_SUCCESS);
    CHECK(write(go, nspace, sizeof(nspace)) == sizeof(nspace));
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    job_sem_wait(&shared->ended);
    CHECK(write(go_on, nspace, sizeof(nspace)) == sizeof(nspace));
    CHECK(waitpid(second, &status, 0) == second && WIFSIGNALED(status));
    job_sem_wait(&shared->ended);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    return 0;
}
