/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* forkexec.c - the processes that a tool without a server has spawned.
 *
 *     PMIx_Spawn --registered, if this tool is a server--> STARTED --the last ends--> OVER, event
 *         \--one cannot be started: the others are killed         /
 *              the last finalize --SIGTERM, a grace, SIGKILL-----/
 *                  one that now is another user's: left alone---/
 *
 * A thread per job waits for its processes, each by its own process id: the tool may have others.
 * Bounded: JOBS_MAX at once, PROCS_MAX processes each. */
#include "client/manage/manage.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_server.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/list.h"
#include "base/log.h"
#include "base/status.h"
#include "base/util.h"
#include "client/link/link.h"
#include "client/link/wait.h"

#define JOBS_MAX 256u
#define PROCS_MAX 4096u
#define GRACE_NS (500 * SX_NS_PER_MS) /* between SIGTERM and SIGKILL */
#define CODE_OF_SIGNAL 128            /* as in a shell */

struct job {
    struct sx_list link;
    pthread_t thread;
    pmix_nspace_t nspace;
    bool registered; /* registered with this process's server */
    bool over;       /* under lock: the thread is to be joined */
    pmix_status_t fate;
    int code; /* of the first process that has failed */
    size_t count;
    struct pollfd *fds; /* their pidfds; -1: none, or reaped; and leave_fd */
    pid_t pids[];       /* under lock once the thread runs; 0: reaped, or not started */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct sx_list jobs = { &jobs, &jobs }; /* under lock, as the next */
static uint32_t numbered;
static int leave_fd = -1; /* an eventfd: processes that may not be signalled are not waited for */

/* ---- their ends ------------------------------------------------------------------------------ */

static void job_free(struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        if (job->fds[i].fd >= 0) {
            close(job->fds[i].fd);
        }
    }
    free(job->fds);
    free(job);
}

/* Queue an event for the handlers of this process alone.  @code: NULL, if it is not known. */
static void notify(const struct job *job, pmix_rank_t rank, pmix_status_t status, const int *code)
{
    const bool yes = true;
    pmix_info_t infos[5];
    pmix_proc_t about;
    size_t count = 0;

    PMIx_Load_procid(&about, job->nspace, rank);
    PMIx_Info_load(&infos[count++], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIx_Info_load(&infos[count++], PMIX_NSPACE, job->nspace, PMIX_STRING);
    PMIx_Info_load(&infos[count++], PMIX_EVENT_AFFECTED_PROC, &about, PMIX_PROC);
    if (code != NULL) {
        PMIx_Info_load(&infos[count++], PMIX_EXIT_CODE, code, PMIX_INT);
    }
    if (status == PMIX_EVENT_JOB_END) {
        PMIx_Info_load(&infos[count++], PMIX_JOB_TERM_STATUS, &job->fate, PMIX_STATUS);
    }
    (void)PMIx_Notify_event(status, &sx_process.self, PMIX_RANGE_PROC_LOCAL, infos, count, NULL,
                            NULL);
    for (size_t i = 0; i < count; i++) {
        PMIx_Info_destruct(&infos[i]);
    }
}

/* Wait for one process, and then reap it under lock, so that no thread signals a process id that
 * was reused.  Return: its code; -1: unknown, since the tool has reaped it, or ignores SIGCHLD. */
static int child_reap(struct job *job, size_t index, bool *ret_by_signal)
{
    const id_t pid = (id_t)job->pids[index];
    siginfo_t info = { .si_pid = 0 };
    int rc;

    while ((rc = waitid(P_PID, pid, &info, WEXITED | WNOWAIT)) != 0 && errno == EINTR) {
    }
    pthread_mutex_lock(&lock);
    (void)waitid(P_PID, pid, &(siginfo_t){ .si_pid = 0 }, WEXITED | WNOHANG);
    job->pids[index] = 0;
    pthread_mutex_unlock(&lock);
    *ret_by_signal = rc == 0 && info.si_code != CLD_EXITED;
    return rc != 0 ? -1 : *ret_by_signal ? CODE_OF_SIGNAL + info.si_status : info.si_status;
}

static void child_ended(struct job *job, size_t index)
{
    bool by_signal;
    const int code = child_reap(job, index, &by_signal);

    if (job->fds[index].fd >= 0) {
        close(job->fds[index].fd);
        job->fds[index].fd = -1;
    }
    if (code > 0 && job->fate == PMIX_SUCCESS) {
        job->fate = by_signal ? PMIX_ERR_JOB_ABORTED_BY_SIG : PMIX_ERR_JOB_NON_ZERO_TERM;
        job->code = code;
    }
    notify(job, (pmix_rank_t)index, PMIX_EVENT_PROC_TERMINATED, code < 0 ? NULL : &code);
}

/* Return: whether the child, which runs, is another user's, and the thread need not wait for it any
 * more. */
static bool child_leave(struct job *job, size_t index)
{
    pthread_mutex_lock(&lock);
    const pid_t pid = job->pids[index];
    const bool left = kill(pid, 0) != 0 && errno == EPERM;

    job->pids[index] = left ? 0 : pid;
    pthread_mutex_unlock(&lock);
    if (left) {
        sx_log(SX_LOG_WARN, "process %ld of %s is another user's now, and goes on", (long)pid,
               job->nspace);
        close(job->fds[index].fd);
        job->fds[index].fd = -1;
    }
    return left;
}

static void *job_wait(void *arg)
{
    struct job *const job = arg;
    size_t left = job->count;

    for (size_t i = 0; i < job->count; i++) { /* first those without a pidfd, in order */
        if (job->fds[i].fd < 0) {
            child_ended(job, i);
            left--;
        }
    }
    while (left > 0) {
        const int ready = poll(job->fds, job->count + 1, -1);
        const bool leaves = ready > 0 && job->fds[job->count].revents != 0;

        for (size_t i = 0; ready > 0 && i < job->count; i++) {
            if (job->fds[i].fd >= 0 && job->fds[i].revents != 0) {
                child_ended(job, i);
                left--;
            } else if (leaves && job->fds[i].fd >= 0 && child_leave(job, i)) {
                left--;
            }
        }
        job->fds[job->count].fd = leaves ? -1 : job->fds[job->count].fd;
    }
    if (job->registered) {
        PMIx_server_deregister_nspace(job->nspace, NULL, NULL);
    }
    notify(job, PMIX_RANK_WILDCARD, PMIX_EVENT_JOB_END, &job->code);
    pthread_mutex_lock(&lock);
    job->over = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Under lock. */
static void job_signal_locked(const struct job *job, int number)
{
    for (size_t i = 0; i < job->count; i++) {
        if (job->pids[i] > 0) {
            kill(job->pids[i], number);
        }
    }
}

/* Drop the jobs that are over.  Return: how many are not.  Under lock. */
static size_t jobs_collect_locked(void)
{
    struct sx_list *it = jobs.next;
    size_t count = 0;

    while (it != &jobs) {
        struct job *const job = SX_LIST_ENTRY(it, struct job, link);

        it = it->next;
        count += !job->over;
        if (job->over) {
            sx_list_remove(&job->link);
            pthread_join(job->thread, NULL); /* it has released the lock */
            job_free(job);
        }
    }
    return count;
}

void sx_forkexec_end(void)
{
    uint64_t deadline_ns = sx_now_ns() + GRACE_NS;

    pthread_mutex_lock(&lock);
    SX_LIST_EACH(it, &jobs) {
        job_signal_locked(SX_LIST_ENTRY(it, struct job, link), SIGTERM);
        job_signal_locked(SX_LIST_ENTRY(it, struct job, link), SIGCONT);
    }
    while (jobs_collect_locked() > 0) {
        const struct timespec until = sx_timespec(deadline_ns);

        if (pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT) {
            SX_LIST_EACH(it, &jobs) {
                job_signal_locked(SX_LIST_ENTRY(it, struct job, link), SIGKILL);
            }
            deadline_ns = sx_now_ns() + GRACE_NS; /* wait even for one that hangs in the kernel */
            (void)eventfd_write(leave_fd, 1);
        }
    }
    pthread_mutex_unlock(&lock);
    if (leave_fd >= 0) {
        close(leave_fd);
        leave_fd = -1;
    }
}

void sx_forkexec_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
    leave_fd = -1;
    sx_list_init(&jobs); /* their pidfds are close-on-exec */
}

/* ---- their starts ---------------------------------------------------------------------------- */

static pmix_status_t judge(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t *apps,
                           size_t napps, size_t *ret_count)
{
    struct sx_forkexec_options options = { .wdir = NULL };
    pmix_status_t rc = sx_options_read(SX_OF_FORKEXEC, job_info, ninfo, &options);
    size_t count = 0;

    for (size_t i = 0; i < napps && rc == PMIX_SUCCESS; i++) {
        rc = sx_options_read(SX_OF_FORKEXEC, apps[i].info, apps[i].ninfo, &options);
        if (rc == PMIX_SUCCESS && apps[i].maxprocs < 1) {
            rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "'%s' is to have %d processes: it needs one at least",
                          apps[i].cmd, apps[i].maxprocs);
        }
        count += rc == PMIX_SUCCESS ? (size_t)apps[i].maxprocs : 0;
    }
    if (rc == PMIX_SUCCESS && count > PROCS_MAX) {
        rc = SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                      "a tool without a server starts up to %u processes in a call of PMIx_Spawn, "
                      "and this one names %zu: make several calls",
                      PROCS_MAX, count);
    }
    *ret_count = count;
    return rc;
}

/* Return: errno's value. */
static int child_spawn(const pmix_app_t *app, const char *folder, char **env, pid_t *ret_pid)
{
    char *alone[] = { app->cmd, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int why;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    why = folder == NULL ? 0 : posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (why == 0) {
        why = posix_spawnp(ret_pid, app->cmd, &actions, &attributes,
                           app->argv != NULL && app->argv[0] != NULL ? app->argv : alone, env);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return why;
}

static pmix_status_t failure(int why, const pmix_app_t *app)
{
    const pmix_status_t rc = why == ENOENT                    ? PMIX_ERR_JOB_EXE_NOT_FOUND
                             : why == EAGAIN || why == ENOMEM ? PMIX_ERR_JOB_SYS_OP_FAILED
                                                              : PMIX_ERR_JOB_APP_NOT_EXECUTABLE;

    return SX_RAISE(rc, "'%.200s' cannot be started: %s%s", app->cmd, strerror(why),
                    why == EAGAIN ? "; the limit of processes is reached (ulimit -u)" : "");
}

static pmix_status_t folder_judge(const char *folder)
{
    char inside[PATH_MAX + 3];

    (void)snprintf(inside, sizeof(inside), "%s/.", folder == NULL ? "" : folder);
    return access(inside, X_OK) == 0
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_JOB_WDIR_NOT_FOUND, "the folder '%.200s' cannot be entered: %s",
                          inside, strerror(errno));
}

static pmix_status_t env_direct(char ***env, const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        rc = sx_envar_is_directive(info[i].key) ? sx_envar_apply(&info[i], env) : PMIX_SUCCESS;
    }
    return rc;
}

/* Start with @env, which includes the variables of the job and the application. */
static pmix_status_t rank_start(struct job *job, size_t rank, const pmix_app_t *app,
                                const char *folder, char *const *env)
{
    char *none[] = { NULL }, **own = env != NULL ? PMIx_Argv_copy((char **)(uintptr_t)env) : NULL;
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t proc;
    pid_t pid;

    PMIx_Load_procid(&proc, job->nspace, (pmix_rank_t)rank);
    if (job->registered) {
        rc = PMIx_server_setup_fork(&proc, &own);
    }
    const int why = rc != PMIX_SUCCESS ? 0
                                       : child_spawn(app, folder, own != NULL ? own : none, &pid);

    if (rc == PMIX_SUCCESS && why == 0) {
        job->pids[rank] = pid;
        job->fds[rank].fd = (int)syscall(SYS_pidfd_open, pid, 0);
    }
    PMIx_Argv_free(own);
    return why != 0 ? failure(why, app) : rc;
}

static pmix_status_t app_start(struct job *job, size_t *rank, const pmix_info_t job_info[],
                               size_t ninfo, const pmix_app_t *app)
{
    struct sx_forkexec_options options = { .wdir = NULL };
    char **env = PMIx_Argv_copy(app->env);

    (void)sx_options_read(SX_OF_FORKEXEC, job_info, ninfo, &options); /* they were checked */
    (void)sx_options_read(SX_OF_FORKEXEC, app->info, app->ninfo, &options);
    const char *const folder = app->cwd != NULL && app->cwd[0] != '\0' ? app->cwd : options.wdir;
    pmix_status_t rc = folder_judge(folder);

    rc = rc == PMIX_SUCCESS ? env_direct(&env, job_info, ninfo) : rc;
    rc = rc == PMIX_SUCCESS ? env_direct(&env, app->info, app->ninfo) : rc;
    for (int i = 0; i < app->maxprocs && rc == PMIX_SUCCESS; i++) {
        rc = rank_start(job, (*rank)++, app, folder, env);
    }
    PMIx_Argv_free(env);
    return rc;
}

/* Register with this process's server, if it is one. */
static pmix_status_t job_register(struct job *job)
{
    const uint32_t size = (uint32_t)job->count;
    pmix_info_t infos[2];
    pmix_proc_t proc;

    if (sx_role_server_get() == NULL) {
        return PMIX_SUCCESS;
    }
    PMIx_Info_load(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIx_Info_load(&infos[1], PMIX_PARENT_ID, &sx_process.self, PMIX_PROC);
    pmix_status_t rc = PMIx_server_register_nspace(job->nspace, (int)size, infos, 2, NULL, NULL);

    job->registered = rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED;
    rc = job->registered ? PMIX_SUCCESS : rc;
    for (uint32_t rank = 0; rank < size && rc == PMIX_SUCCESS; rank++) {
        PMIx_Load_procid(&proc, job->nspace, rank);
        rc = PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL);
        rc = rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
    }
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
    return rc;
}

static struct job *job_new(size_t count)
{
    struct job *const job = calloc(1, sizeof(*job) + count * sizeof(job->pids[0]));

    if (job == NULL || (job->fds = calloc(count + 1, sizeof(*job->fds))) == NULL) {
        free(job);
        return NULL;
    }
    job->count = count;
    for (size_t i = 0; i < count; i++) {
        job->fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
    }
    leave_fd = leave_fd >= 0 ? leave_fd : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    job->fds[count] = (struct pollfd){ .fd = leave_fd, .events = POLLIN };
    (void)snprintf(job->nspace, sizeof(job->nspace), "%.*s.%u", PMIX_MAX_NSLEN - 11,
                   sx_process.self.nspace, ++numbered);
    return job;
}

/* Kill the started processes and undo the registration. */
static void job_undo(struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        if (job->pids[i] > 0) {
            kill(job->pids[i], SIGKILL);
            while (waitpid(job->pids[i], NULL, 0) < 0 && errno == EINTR) {
            }
        }
    }
    if (job->registered) {
        PMIx_server_deregister_nspace(job->nspace, NULL, NULL);
    }
    job_free(job);
}

/* Under lock. */
static pmix_status_t spawn_locked(const pmix_info_t job_info[], size_t ninfo,
                                  const pmix_app_t *apps, size_t napps, size_t count,
                                  pmix_nspace_t ret_nspace)
{
    struct job *const job = job_new(count);

    if (job == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_status_t rc = job_register(job);
    size_t rank = 0;

    for (size_t i = 0; i < napps && rc == PMIX_SUCCESS; i++) {
        rc = app_start(job, &rank, job_info, ninfo, &apps[i]);
    }
    if (rc == PMIX_SUCCESS) {
        const int why = sx_thread_create(&job->thread, job_wait, job);

        rc = why == 0
                 ? PMIX_SUCCESS
                 : SX_RAISE(PMIX_ERR_JOB_SYS_OP_FAILED, "no thread for a job: %s", strerror(why));
    }
    if (rc != PMIX_SUCCESS) {
        job_undo(job);
        return rc;
    }
    sx_list_append(&jobs, &job->link);
    PMIx_Load_nspace(ret_nspace, job->nspace);
    return PMIX_SUCCESS;
}

pmix_status_t sx_forkexec_spawn(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t *apps,
                                size_t napps, pmix_nspace_t ret_nspace)
{
    size_t count;
    pmix_status_t rc = judge(job_info, ninfo, apps, napps, &count);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&lock);
    if (!sx_process_ready()) { /* the last finalize has been called meanwhile */
        rc = PMIX_ERR_INIT;
    } else if (jobs_collect_locked() >= JOBS_MAX) {
        rc = SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                      "a tool without a server runs up to %u spawned jobs at once: let one end",
                      JOBS_MAX);
    } else {
        rc = spawn_locked(job_info, ninfo, apps, napps, count, ret_nspace);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}
