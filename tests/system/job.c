/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.c - start a server and ranks, collect what the ranks say. */
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

pmix_server_module_t job_module;
int job_session = -1;
int job_elsewhere = 0;
int job_life;
const pmix_info_t *job_notified;

static const char *self_path;
static int cases_run, cases_skipped;

static char **env_copy(void)
{
    size_t count = 0;

    while (environ[count] != NULL) {
        count++;
    }
    char **const env = calloc(count + 1, sizeof(*env));
    CHECK(env != NULL);
    for (size_t i = 0; i < count; i++) {
        env[i] = strdup(environ[i]);
        CHECK(env[i] != NULL);
    }
    return env;
}

/* Ranks with another library: JOB_THEIRS is its folder, a colon, and a file that is loaded first. */
static char **theirs_add(char **env)
{
    const char *const theirs = getenv("JOB_THEIRS");
    const char *const colon = theirs == NULL ? NULL : strchr(theirs, ':');
    size_t count = 0;

    if (colon == NULL) {
        return env;
    }
    while (env[count] != NULL) {
        count++;
    }
    env = realloc(env, (count + 3) * sizeof(*env));
    CHECK(env != NULL);
    CHECK(asprintf(&env[count], "LD_LIBRARY_PATH=%.*s", (int)(colon - theirs), theirs) > 0);
    CHECK(asprintf(&env[count + 1], "LD_PRELOAD=%s", colon + 1) > 0);
    env[count + 2] = NULL;
    return env;
}

/* A registration without a callback says in either way that it is done. */
static void check_done(pmix_status_t status)
{
    CHECK_STATUS(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status, PMIX_SUCCESS);
}

static void load_u32(pmix_info_t *info, const char *key, uint32_t number)
{
    CHECK_STATUS(PMIx_Info_load(info, key, &number, PMIX_UINT32), PMIX_SUCCESS);
}

/* What a host says of each rank. */
static void load_rank(pmix_info_t *info, int rank)
{
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 3 };
    pmix_rank_t number = (pmix_rank_t)rank;
    uint16_t local = (uint16_t)rank;
    pmix_info_t infos[3];

    CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_RANK, &number, PMIX_PROC_RANK), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_LOCAL_RANK, &local, PMIX_UINT16), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&infos[2], PMIX_NODE_RANK, &local, PMIX_UINT16), PMIX_SUCCESS);
    array.array = infos;
    CHECK_STATUS(PMIx_Info_load(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
}

static void register_job(const char *name, int size)
{
    char peers[JOB_RANKS_MAX * 4] = "";
    pmix_nspace_t nspace;
    pmix_info_t infos[10 + JOB_RANKS_MAX];
    size_t n = 0;

    snprintf(nspace, sizeof(nspace), "%s", name);
    for (int i = 0; i < size; i++) {
        snprintf(peers + strlen(peers), sizeof(peers) - strlen(peers), i == 0 ? "%d" : ",%d", i);
    }
    load_u32(&infos[n++], PMIX_JOB_SIZE, (uint32_t)(size + job_elsewhere));
    load_u32(&infos[n++], PMIX_MAX_PROCS, (uint32_t)(size + job_elsewhere));
    load_u32(&infos[n++], PMIX_UNIV_SIZE, (uint32_t)(size + job_elsewhere));
    load_u32(&infos[n++], PMIX_LOCAL_SIZE, (uint32_t)size);
    CHECK_STATUS(PMIx_Info_load(&infos[n++], PMIX_LOCAL_PEERS, peers, PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&infos[n++], PMIX_CLUSTER_ID, "cluster", PMIX_STRING),
                 PMIX_SUCCESS);
    if (job_session >= 0) {
        load_u32(&infos[n++], PMIX_SESSION_ID, (uint32_t)job_session);
    }
    if (job_notified != NULL) {
        CHECK_STATUS(PMIx_Info_xfer(&infos[n++], job_notified), PMIX_SUCCESS);
    }
    for (int i = 0; i < size; i++) {
        load_rank(&infos[n++], i);
    }
    check_done(PMIx_server_register_nspace(nspace, size, infos, n, NULL, NULL));
    for (size_t i = 0; i < n; i++) {
        PMIx_Info_destruct(&infos[i]);
    }
}

/* @number_in_case: what the case calls rank @rank of @nspace. */
static void start_process(struct job *job, const char *nspace, int rank, int number_in_case)
{
    pmix_proc_t proc = { .rank = (pmix_rank_t)rank };
    char number[16], life[16],
        *argv[] = {
            NULL, (char *)(uintptr_t) "--rank", (char *)(uintptr_t)job->it->name, number, life, NULL
        };
    char **env = env_copy();

    snprintf(proc.nspace, sizeof(proc.nspace), "%s", nspace);
    snprintf(number, sizeof(number), "%d", number_in_case);
    snprintf(life, sizeof(life), "%d", job->lives[number_in_case]++);
    CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    env = theirs_add(env);
    argv[0] = (char *)(uintptr_t)self_path;
    job->status[number_in_case] = -1;
    job->pids[number_in_case] = fork();
    CHECK(job->pids[number_in_case] >= 0);
    if (job->pids[number_in_case] == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execve(self_path, argv, env);
        _exit(98);
    }
    for (size_t i = 0; env[i] != NULL; i++) {
        free(env[i]);
    }
    free(env);
}

static void start_rank(struct job *job, const char *nspace, int rank, int number_in_case)
{
    pmix_proc_t proc = { .rank = (pmix_rank_t)rank };

    snprintf(proc.nspace, sizeof(proc.nspace), "%s", nspace);
    check_done(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL));
    start_process(job, nspace, rank, number_in_case);
}

void job_restart(struct job *job, int rank)
{
    (void)job_wait(job, rank);
    start_process(job, JOB_NSPACE, rank, rank);
}

void job_add(struct job *job, const char *nspace, int count)
{
    CHECK(job->size + count <= JOB_RANKS_MAX);
    register_job(nspace, count);
    for (int rank = 0; rank < count; rank++) {
        start_rank(job, nspace, rank, job->size++);
    }
}

int job_wait(struct job *job, int rank)
{
    if (job->status[rank] == -1) {
        CHECK(waitpid(job->pids[rank], &job->status[rank], 0) == job->pids[rank]);
    }
    return job->status[rank];
}

void rank_begin(pmix_proc_t *ret_me)
{
    CHECK_STATUS(PMIx_Init(ret_me, NULL, 0), PMIX_SUCCESS);
}

int rank_end(void)
{
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

void rank_fence(void)
{
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

pmix_proc_t proc_of(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    return proc;
}

void job_sem_wait(sem_t *sem)
{
    while (sem_wait(sem) != 0) {
        CHECK(errno == EINTR);
    }
}

static pmix_info_t info_of(const char *key, const void *value, pmix_data_type_t type)
{
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, key, value, type), PMIX_SUCCESS);
    return info;
}

pmix_info_t info_flag(const char *key)
{
    return info_of(key, NULL, PMIX_BOOL);
}

pmix_info_t info_text(const char *key, const char *text)
{
    return info_of(key, text, PMIX_STRING);
}

pmix_info_t info_u32(const char *key, uint32_t number)
{
    return info_of(key, &number, PMIX_UINT32);
}

static int describe(const struct job_case *it, int rank, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%s: rank %d ended by signal %d%s\n", it->name, rank, WTERMSIG(status),
                WTERMSIG(status) == SIGALRM ? ": it was not done in time" : "");
    } else {
        fprintf(stderr, "%s: rank %d exited with %d\n", it->name, rank, WEXITSTATUS(status));
    }
    return 1;
}

static void pipes_open(void)
{
    for (int i = 0; i < JOB_PIPES; i++) {
        int ends[2];

        CHECK(pipe(ends) == 0);
        const int high[2] = { fcntl(ends[0], F_DUPFD, 200), fcntl(ends[1], F_DUPFD, 200) };
        close(ends[0]);
        close(ends[1]);
        CHECK(dup2(high[0], 100 + 2 * i) >= 0 && dup2(high[1], 101 + 2 * i) >= 0);
        close(high[0]);
        close(high[1]);
    }
}

static void pipes_close(void)
{
    for (int i = 0; i < 2 * JOB_PIPES; i++) {
        close(100 + i);
    }
}

void job_token_put(int pipe_index)
{
    CHECK(write(101 + 2 * pipe_index, "t", 1) == 1);
}

void job_token_get(int pipe_index)
{
    char token;

    CHECK(read(100 + 2 * pipe_index, &token, 1) == 1);
}

static int run_case(const struct job_case *it)
{
    struct job job = { .it = it };
    int failed = 0;

    alarm(JOB_SECONDS + 20); /* a host may wait for a rank that was killed */
    pipes_open();
    const pmix_status_t rc = PMIx_server_init(&job_module, NULL, 0);
    const char *const engine = getenv("SHMIX_LOOP");
    if (rc == PMIX_ERR_NOT_SUPPORTED && engine != NULL && strcmp(engine, "uring") == 0) {
        printf("skipped: this machine refuses io_uring\n");
        exit(JOB_SKIPPED);
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    job_add(&job, JOB_NSPACE, it->size);
    if (it->host != NULL) {
        failed += it->host(&job);
    }
    bool skipped = false;
    for (int rank = 0; rank < job.size; rank++) {
        const int status = job_wait(&job, rank);

        if (WIFEXITED(status) && WEXITSTATUS(status) == JOB_SKIPPED) {
            skipped = true;
        } else if (!it->host_judges) {
            failed += describe(it, rank, status);
        }
    }
    if (PMIx_server_finalize() == PMIX_ERR_INIT && it->host == NULL) {
        failed++;
    }
    pipes_close();
    printf("%s %s\n", failed != 0 ? "FAIL" : skipped ? "SKIP" : "ok  ", it->name);
    fflush(stdout);
    cases_run++;
    cases_skipped += failed == 0 && skipped;
    return failed;
}

int job_main(int argc, char **argv, const struct job_case *cases, size_t count)
{
    static char path[4096];
    int failed = 0;
    bool found = false;

    const ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    CHECK(len > 0);
    self_path = path;
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < count; i++) {
        if (argc == 2 && strcmp(argv[1], "--list") == 0) {
            found = true;
            cases_run++;
            puts(cases[i].name);
        } else if (argc == 5 && strcmp(argv[1], "--rank") == 0) {
            if (strcmp(argv[2], cases[i].name) == 0) {
                alarm(JOB_SECONDS);
                job_life = atoi(argv[4]);
                exit(cases[i].rank(atoi(argv[3])));
            }
        } else if (argc == 1 || strcmp(argv[1], cases[i].name) == 0) {
            found = true;
            failed += run_case(&cases[i]);
        }
    }
    if (!found) {
        fprintf(stderr, "no such case\n");
        return 2;
    }
    if (failed != 0) {
        return 1;
    }
    return cases_skipped == cases_run ? JOB_SKIPPED : 0; /* none has tested anything */
}
