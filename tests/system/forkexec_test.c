/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* forkexec_test.c - a tool without a server spawns: it starts the processes itself, hears of their
 * ends, and leaves none. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "job.h"

#define SECONDS 100

static char self_path[1024], dir[256];
static pmix_proc_t self;

/* ---- what the tool is told ------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
    unsigned procs, codes; /* how many have ended, and the sum of their codes */
    unsigned jobs;
    int code;
    pmix_status_t status;
    pmix_nspace_t nspace;
    bool is_late; /* a process ended after its job */
} outcome;

static void on_end(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_EXIT_CODE)) {
            outcome.code = info[i].value.data.integer;
        } else if (PMIx_Check_key(info[i].key, PMIX_JOB_TERM_STATUS)) {
            outcome.status = info[i].value.data.status;
        } else if (PMIx_Check_key(info[i].key, PMIX_EVENT_AFFECTED_PROC)) {
            PMIx_Load_nspace(outcome.nspace, info[i].value.data.proc->nspace);
        }
    }
    if (status == PMIX_EVENT_PROC_TERMINATED) {
        outcome.procs++;
        outcome.codes += (unsigned)outcome.code;
        outcome.is_late |= outcome.jobs > 0;
    } else {
        outcome.jobs++;
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void expect_end(const char *nspace, unsigned procs, unsigned codes, pmix_status_t status)
{
    pthread_mutex_lock(&lock);
    while (outcome.jobs == 0) {
        pthread_cond_wait(&changed, &lock);
    }
    CHECK(PMIx_Check_nspace(outcome.nspace, nspace) && !outcome.is_late);
    CHECK(outcome.procs == procs && outcome.codes == codes && outcome.status == status);
    memset(&outcome, 0, sizeof(outcome));
    pthread_mutex_unlock(&lock);
}

/* ---- a tool ---------------------------------------------------------------------------------- */

static void tool_begin(bool launches)
{
    pmix_status_t codes[] = { PMIX_EVENT_PROC_TERMINATED, PMIX_EVENT_JOB_END };
    const bool yes = true;
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_TOOL_DO_NOT_CONNECT, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_LAUNCHER, &yes, PMIX_BOOL);
    CHECK_STATUS(PMIx_tool_init(&self, info, launches ? 2 : 1), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(codes, 2, NULL, 0, on_end, NULL, NULL) >= 0);
}

static pmix_status_t shell(const char *script, int count, const pmix_info_t info[], size_t ninfo,
                           pmix_nspace_t nspace)
{
    char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, dir, NULL };
    char *env[] = { "SPAWNED=yes", NULL };
    pmix_app_t app = { .cmd = "sh", .argv = argv, .env = env, .maxprocs = count };

    return PMIx_Spawn(info, ninfo, &app, 1, nspace);
}

/* Whatever it is, all of it is so in each of them. */
static void expect_true(const char *script)
{
    pmix_nspace_t nspace;

    CHECK_STATUS(shell(script, 2, NULL, 0, nspace), PMIX_SUCCESS);
    expect_end(nspace, 2, 0, PMIX_SUCCESS);
}

static void no_children(void)
{
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void ends(void)
{
    pmix_nspace_t nspace;
    const pid_t own = fork();

    if (own == 0) {
        _exit(7);
    }
    tool_begin(false);
    CHECK_STATUS(shell("exit 3", 1, NULL, 0, nspace), PMIX_SUCCESS);
    CHECK(strncmp(nspace, self.nspace, strlen(self.nspace)) == 0 && strcmp(nspace, self.nspace));
    expect_end(nspace, 1, 3, PMIX_ERR_JOB_NON_ZERO_TERM);
    CHECK_STATUS(shell("kill -9 $$", 2, NULL, 0, nspace), PMIX_SUCCESS);
    expect_end(nspace, 2, 2 * (128 + SIGKILL), PMIX_ERR_JOB_ABORTED_BY_SIG);
    int status;
    CHECK(waitpid(own, &status, 0) == own && WEXITSTATUS(status) == 7); /* it is not ours */
    no_children();
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static void inherits(void)
{
    const struct sigaction ignored = { .sa_handler = SIG_IGN };
    sigset_t some;

    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, NULL);
    sigaction(SIGUSR2, &ignored, NULL);
    setenv("TOOLS", "own", 1);
    setenv("PMIX_NAMESPACE", "tools", 1);
    tool_begin(false);
    expect_true("test $SPAWNED = yes && test $TOOLS = own && test -z \"$PMIX_NAMESPACE\"");
    expect_true("grep -q '^SigBlk:.0*$' /proc/self/status");
    expect_true("grep -q '^SigIgn:.*0000000$' /proc/self/status"); /* libc has some behind them */
    expect_true("! ls -l /proc/self/fd | grep -q -e memfd -e eventfd -e pidfd -e eventpoll");
    CHECK(chdir(dir) == 0);
    expect_true("test \"$(pwd -P)\" = \"$(realpath \"$0\")\"");
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static void directives(void)
{
    pmix_envar_t envar = { .envar = "DIRECTED", .value = "yes", .separator = ':' };
    pmix_nspace_t nspace;
    pmix_info_t info[2];

    tool_begin(false);
    PMIx_Info_load(&info[0], PMIX_WDIR, "/", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_SET_ENVAR, &envar, PMIX_ENVAR);
    CHECK_STATUS(shell("test $DIRECTED = yes && test $(pwd) = /", 1, info, 2, nspace),
                 PMIX_SUCCESS);
    expect_end(nspace, 1, 0, PMIX_SUCCESS);
    PMIx_Info_destruct(&info[1]);
    PMIx_Info_load(&info[1], PMIX_MAPBY, "core", PMIX_STRING);
    PMIX_INFO_REQUIRED(&info[1]);
    CHECK_STATUS(shell("true", 1, info, 2, nspace), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_load(&info[0], PMIX_WDIR, "/is/not/there", PMIX_STRING);
    CHECK_STATUS(shell("true", 1, info, 1, nspace), PMIX_ERR_JOB_WDIR_NOT_FOUND);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

/* Those that were started before one that cannot be do not stay. */
static void refusals(void)
{
    char *argv[] = { "sleep", "100", NULL };
    pmix_app_t apps[2] = { { .cmd = "sleep", .argv = argv, .maxprocs = 2 }, { .maxprocs = 1 } };
    pmix_nspace_t nspace;

    tool_begin(false);
    apps[1].cmd = "no-such-program-here";
    CHECK_STATUS(PMIx_Spawn(NULL, 0, apps, 2, nspace), PMIX_ERR_JOB_EXE_NOT_FOUND);
    CHECK(nspace[0] == '\0');
    no_children();
    apps[1].cmd = "/etc/passwd";
    CHECK_STATUS(PMIx_Spawn(NULL, 0, apps, 2, nspace), PMIX_ERR_JOB_APP_NOT_EXECUTABLE);
    no_children();
    apps[0].maxprocs = 0;
    CHECK_STATUS(PMIx_Spawn(NULL, 0, apps, 1, nspace), PMIX_ERR_BAD_PARAM);
    expect_true("true"); /* nothing is told of those before */
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static sem_t answered;

static void on_spawn(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    PMIx_Load_nspace(cbdata, nspace);
    sem_post(&answered);
}

/* The end of the tool's last init is theirs. */
static void finalize(void)
{
    char *argv[] = { "sh", "-c", "trap '' TERM; touch \"$0/deaf\"; while :; do sleep 1; done", dir,
                     NULL };
    pmix_app_t app = { .cmd = "sh", .argv = argv, .maxprocs = 1 };
    char deaf[300], path[1024] = "";
    pmix_nspace_t nspace = "";
    struct stat st;

    CHECK(sem_init(&answered, 0, 0) == 0);
    snprintf(deaf, sizeof(deaf), "%s/deaf", dir);
    tool_begin(false);
    CHECK_STATUS(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawn, path), PMIX_SUCCESS);
    job_sem_wait(&answered);
    CHECK(strncmp(path, self.nspace, strlen(self.nspace)) == 0);
    CHECK_STATUS(shell("exec sleep 1000", 3, NULL, 0, nspace), PMIX_SUCCESS);
    CHECK(!PMIx_Check_nspace(nspace, path));
    while (stat(deaf, &st) != 0) { /* it takes no SIGTERM from here on */
        usleep(10000);
    }
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    no_children();
    CHECK(unlink(deaf) == 0);
}

static int rank_run(void)
{
    pmix_value_t put = { .type = PMIX_UINT32 }, *got;
    pmix_proc_t me, other;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&other, me.nspace, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Get(&other, PMIX_JOB_SIZE, NULL, 0, &got), PMIX_SUCCESS);
    CHECK(got->data.uint32 == 2);
    PMIx_Value_free(got, 1);
    CHECK_STATUS(PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &got), PMIX_SUCCESS);
    CHECK(strcmp(got->data.proc->nspace, getenv("PARENT")) == 0);
    PMIx_Value_free(got, 1);
    put.data.uint32 = me.rank;
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "rank", &put), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&other, me.nspace, 1 - me.rank);
    CHECK_STATUS(PMIx_Get(&other, "rank", NULL, 0, &got), PMIX_SUCCESS);
    CHECK(got->data.uint32 == 1 - me.rank);
    PMIx_Value_free(got, 1);
    return rank_end();
}

/* Which is a server: they are its clients. */
static void launcher(void)
{
    char *argv[] = { self_path, "rank", NULL }, parent[300], *env[] = { parent, NULL };
    pmix_app_t app = { .cmd = self_path, .argv = argv, .env = env, .maxprocs = 2 };
    pmix_nspace_t nspace;

    tool_begin(true);
    snprintf(parent, sizeof(parent), "PARENT=%s", self.nspace);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_SUCCESS);
        expect_end(nspace, 2, 0, PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    no_children();
}

/* A process on its own that is no tool has nobody to start anything. */
static void singleton(void)
{
    pmix_nspace_t nspace;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_ERR_UNREACH);
    CHECK_STATUS(shell("true", 1, NULL, 0, nspace), PMIX_ERR_UNREACH);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

/* Nobody waits for a child that has become another user's, as below sudo(8). */
static void left(void)
{
    char script[1200], path[300];
    pmix_nspace_t nspace;
    int pid = 0, status;
    FILE *file = NULL;

    if (geteuid() != 0) {
        printf("left out: root alone can become another user\n");
        return;
    }
    snprintf(path, sizeof(path), "%s/pid", dir);
    snprintf(script, sizeof(script), "echo $$ >'%s.new'; mv '%s.new' '%s'; exec sleep 1000", path,
             path, path);
    tool_begin(false);
    CHECK_STATUS(shell(script, 1, NULL, 0, nspace), PMIX_SUCCESS);
    while ((file = fopen(path, "re")) == NULL) {
        usleep(10000);
    }
    CHECK(fscanf(file, "%d", &pid) == 1 && fclose(file) == 0);
    CHECK(setresuid(12345, 12345, 0) == 0);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    CHECK(setresuid(0, 0, 0) == 0);
    CHECK(waitpid(pid, &status, WNOHANG) == 0); /* it runs */
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    CHECK(unlink(path) == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    { "ends", ends },           { "inherits", inherits }, { "directives", directives },
    { "refusals", refusals },   { "finalize", finalize }, { "launcher", launcher },
    { "singleton", singleton }, { "left", left },
};

static void case_run(void (*run)(void), const char *name)
{
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        alarm(SECONDS);
        run();
        exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    printf("%s %s\n", status == 0 ? "ok" : "FAILED", name);
    CHECK(status == 0);
}

int main(int argc, char **argv)
{
    const char *const tmp = getenv("TMPDIR");

    if (argc > 1) {
        return rank_run();
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(realpath(argv[0], self_path) != NULL);
    snprintf(dir, sizeof(dir), "%s/sxforkexec-XXXXXX", tmp != NULL ? tmp : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        case_run(cases[i].run, cases[i].name);
    }
    CHECK(rmdir(dir) == 0);
    return 0;
}
