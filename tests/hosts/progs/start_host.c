/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* start_host.c - a host that prepares its job as the Standard draws it: inventory first, maps by
 * PMIx_generate_regex and _ppn, the application, this node, the namespace, then each client.
 *
 * usage: start_host callbacks|blocking|bare     bare: blocking, with a module without entries
 *
 * It prints one line per step, for any library, so nothing here is a macro that stands for a newer
 * function.  Started again with PMIX_RANK in its environment it is a rank, whose line the host
 * prints. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#define RANKS 2u
#define NSPACE "start.job"

static int with_callbacks;
static char *self_path;

/* ---- waiting for a callback ------------------------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int done;
    pmix_status_t status;
    pmix_info_t infos[64]; /* what it brought */
    size_t ninfo;
} answer = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void answered(pmix_status_t status)
{
    pthread_mutex_lock(&answer.lock);
    answer.status = status;
    answer.done = 1;
    pthread_cond_signal(&answer.cond);
    pthread_mutex_unlock(&answer.lock);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    answered(status);
}

static void keep(pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo && answer.ninfo < 64; i++) {
        if (PMIx_Info_xfer(&answer.infos[answer.ninfo], &info[i]) == PMIX_SUCCESS) {
            answer.ninfo++;
        }
    }
}

static void on_inventory(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    (void)cbdata;
    keep(info, ninfo);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
    answered(status);
}

static void on_application(pmix_status_t status, pmix_info_t info[], size_t ninfo,
                           void *provided_cbdata, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)provided_cbdata;
    keep(info, ninfo);
    if (cbfunc != NULL) {
        cbfunc(PMIX_SUCCESS, cbdata);
    }
    answered(status);
}

/* @rc is what the call gave; @waits: its callback was given. */
static void step(const char *what, pmix_status_t rc, int waits)
{
    printf("%s: %d", what, rc);
    if (rc == PMIX_SUCCESS && waits) {
        pthread_mutex_lock(&answer.lock);
        while (!answer.done) {
            pthread_cond_wait(&answer.cond, &answer.lock);
        }
        answer.done = 0;
        printf(", then %d", answer.status);
        pthread_mutex_unlock(&answer.lock);
    }
    printf("\n");
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        exit(1);
    }
}

/* ---- the upcalls ----------------------------------------------------------------------------- */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)object, (void)info, (void)ninfo;
    if (cbfunc != NULL) {
        cbfunc(PMIX_SUCCESS, cbdata);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    (void)proc, (void)object, (void)cbfunc, (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
    cbfunc(PMIX_SUCCESS, data, ndata, cbdata, free, data);
    return PMIX_SUCCESS;
}

/* ---- the job --------------------------------------------------------------------------------- */

static size_t load(pmix_info_t infos[], size_t count, const char *key, const void *data,
                   pmix_data_type_t type)
{
    if (PMIx_Info_load(&infos[count], key, data, type) != PMIX_SUCCESS) {
        exit(1);
    }
    return count + 1;
}

static void prepare(const char *nspace)
{
    step("collect_inventory", PMIx_server_collect_inventory(NULL, 0, on_inventory, NULL), 1);
    step("deliver_inventory",
         PMIx_server_deliver_inventory(answer.infos, answer.ninfo, NULL, 0, on_op, NULL), 1);
    answer.ninfo = 0;
    step("setup_application", PMIx_server_setup_application(nspace, NULL, 0, on_application, NULL),
         1);
    step("setup_local_support",
         PMIx_server_setup_local_support(nspace, answer.infos, answer.ninfo,
                                         with_callbacks ? on_op : NULL, NULL),
         with_callbacks);
}

static void job_register(const char *nspace)
{
    const uint32_t size = RANKS;
    char hostname[256] = "", *nodes, *ranks;
    pmix_info_t infos[8];
    size_t count = 0;

    gethostname(hostname, sizeof(hostname) - 1);
    step("generate_regex", PMIx_generate_regex(hostname, &nodes), 0);
    step("generate_ppn", PMIx_generate_ppn("0,1", &ranks), 0);
    count = load(infos, count, PMIX_UNIV_SIZE, &size, PMIX_UINT32);
    count = load(infos, count, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    count = load(infos, count, PMIX_LOCAL_SIZE, &size, PMIX_UINT32);
    count = load(infos, count, PMIX_LOCAL_PEERS, "0,1", PMIX_STRING);
    count = load(infos, count, PMIX_NODE_MAP, nodes, PMIX_REGEX);
    count = load(infos, count, PMIX_PROC_MAP, ranks, PMIX_REGEX);
    step("register_nspace",
         PMIx_server_register_nspace(nspace, (int)RANKS, infos, count,
                                     with_callbacks ? on_op : NULL, NULL),
         with_callbacks);
}

/* Return: where its line comes from. */
static int start(pmix_proc_t *proc, pid_t *ret_pid)
{
    char **env = NULL;
    int ends[2];

    step("register_client",
         PMIx_server_register_client(proc, getuid(), getgid(), NULL, with_callbacks ? on_op : NULL,
                                     NULL),
         with_callbacks);
    step("setup_fork", PMIx_server_setup_fork(proc, &env), 0);
    fflush(stdout);
    if (pipe(ends) != 0 || (*ret_pid = fork()) < 0) {
        exit(1);
    }
    if (*ret_pid == 0) {
        for (char **at = env; at != NULL && *at != NULL; at++) {
            char *const value = strchr(*at, '=');

            *value = '\0';
            setenv(*at, value + 1, 1);
        }
        dup2(ends[1], STDOUT_FILENO);
        execl(self_path, self_path, "rank", (char *)NULL);
        _exit(98);
    }
    close(ends[1]);
    return ends[0];
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    printf("event %d\n", status);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void host(int is_bare)
{
    static pmix_server_module_t module;
    pmix_nspace_t nspace = NSPACE;
    pmix_info_t tools;
    pmix_proc_t procs[RANKS];
    pid_t pids[RANKS];
    int ends[RANKS];

    if (!is_bare) {
        module.client_connected2 = on_connected;
        module.client_finalized = on_finalized;
        module.fence_nb = on_fence;
    }
    (void)load(&tools, 0, PMIX_SERVER_TOOL_SUPPORT, NULL, PMIX_BOOL);
    step("server_init", PMIx_server_init(&module, &tools, 1), 0);
    const pmix_status_t id = PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL);
    printf("a handler: %d\n", id >= 0);
    prepare(nspace);
    job_register(nspace);
    for (unsigned i = 0; i < RANKS; i++) {
        memset(&procs[i], 0, sizeof(procs[i]));
        strcpy(procs[i].nspace, NSPACE);
        procs[i].rank = i;
        ends[i] = start(&procs[i], &pids[i]);
    }
    for (unsigned i = 0; i < RANKS; i++) {
        char line[256] = "";
        int status = 0;

        FILE *const from = fdopen(ends[i], "r");
        printf("rank %u: %s", i, fgets(line, sizeof(line), from) != NULL ? line : "nothing\n");
        fclose(from);
        waitpid(pids[i], &status, 0);
        printf("exit status %d\n", status);
    }
    PMIx_server_deregister_client(&procs[0], with_callbacks ? on_op : NULL, NULL);
    step("deregister_client", PMIX_SUCCESS, with_callbacks);
    PMIx_server_deregister_nspace(nspace, with_callbacks ? on_op : NULL, NULL);
    step("deregister_nspace", PMIX_SUCCESS, with_callbacks);
    step("server_finalize", PMIx_server_finalize(), 0);
}

/* ---- the ranks ------------------------------------------------------------------------------- */

static long get(const pmix_proc_t *me, pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = NULL;
    pmix_proc_t proc = *me;

    proc.rank = rank;
    const pmix_status_t rc = PMIx_Get(&proc, key, NULL, 0, &value);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return value->type == PMIX_UINT32 ? (long)value->data.uint32 : -1000 - (long)value->type;
}

static int rank_main(void)
{
    pmix_value_t value;
    pmix_proc_t me;
    pmix_info_t collect;

    const pmix_status_t begun = PMIx_Init(&me, NULL, 0);
    if (begun != PMIX_SUCCESS) {
        printf("init %d\n", begun);
        return 1;
    }
    value.type = PMIX_UINT32;
    value.data.uint32 = 100 + me.rank;
    const pmix_status_t put = PMIx_Put(PMIX_GLOBAL, "key", &value);
    const pmix_status_t committed = PMIx_Commit();
    (void)load(&collect, 0, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    const pmix_status_t met = PMIx_Fence(NULL, 0, &collect, 1);
    printf("%s.%u, %ld of %ld; put %d, commit %d, fence %d; its peer has %ld; ", me.nspace, me.rank,
           get(&me, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE),
           get(&me, PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE), put, committed, met,
           get(&me, 1 - me.rank, "key"));
    printf("finalize %d\n", PMIx_Finalize(NULL, 0));
    return 0;
}

int main(int argc, char **argv)
{
    self_path = argv[0];
    alarm(60);
    if (argc != 2) {
        fprintf(stderr, "usage: start_host callbacks|blocking|bare\n");
        return 2;
    }
    if (strcmp(argv[1], "rank") == 0) {
        return rank_main();
    }
    with_callbacks = strcmp(argv[1], "callbacks") == 0;
    host(strcmp(argv[1], "bare") == 0);
    return 0;
}
