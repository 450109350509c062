/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* traced.c - ranks whose end another process keeps from the launcher.
 *
 *   lives --its pidfd is readable--> reaped, as most are (launch/job/life.c)
 *                     \--not reaped: a tracer has the end--> KEPT --5 s--> left, with a line
 *                                                              \--the tracer takes it--> reaped
 *
 * The kernel gives the end of a traced process to its tracer first.  Until the tracer waits for it,
 * or ends, the parent gets no SIGCHLD, and wait returns nothing.  A debugger waits at once.  The
 * pidfd of a rank is a descriptor that nothing else needs: it is opened only if the limit of open
 * files is far away, and closed when a spawn comes near that limit.  Without it the end of the
 * tracer is waited for. */
#include "launch/job/state.h"

#include <pmix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/record.h"

#define KEPT_NS (5 * SX_NS_PER_SEC) /* then the rank is left */
#define KEPT_LOOK_NS SX_NS_PER_SEC  /* between two checks of a job whose ranks are kept */

/* The end of @pid, a zombie, as wait would return it.  Return: false if it is not known. */
static bool end_read(pid_t pid, siginfo_t *ret_info)
{
    struct sx_proc_stat stat = { .state = '\0' };
    const int status = sx_proc_stat(pid, &stat) ? stat.wait_status : 0;
    /* /proc shows 0 also to those who may not see it. */
    const bool is_known = status != 0 || (stat.state == 'Z' && sx_proc_shows_end(pid));

    *ret_info = (siginfo_t){ .si_code = CLD_EXITED };
    ret_info->si_pid = pid; /* it shares a union with the status */
    ret_info->si_status = is_known ? WEXITSTATUS(status) : SX_EXIT_FAILURE;
    if (WIFSIGNALED(status)) {
        ret_info->si_code = WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED;
        ret_info->si_status = WTERMSIG(status);
    }
    return is_known;
}

static void rank_leave(struct sx_run_rank *its)
{
    struct sx_run_job *const job = its->job;
    const pid_t tracer = sx_proc_tracer(its->pid);
    char *const command = tracer > 0 ? sx_proc_command(tracer) : NULL;
    siginfo_t info;
    const bool is_known = end_read(its->pid, &info);

    sx_run_say_of(job,
                  "%srank %u (pid %ld) has ended%s, and process %ld (%.100s), which traces it, has "
                  "not taken its end for %d s: nobody waits for it any more; let that process "
                  "continue, or end it",
                  job->prefix, (uint32_t)(its - job->ranks), (long)its->pid,
                  is_known ? "" : " with an unknown status, which counts as 1", (long)tracer,
                  command == NULL ? "not seen here" : command, (int)(KEPT_NS / SX_NS_PER_SEC));
    free(command);
    job->run->acts->kept(its, &info);
}

static void kept_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;
    bool any = false;

    job->run->acts->reap(job->run); /* the launcher may have been stopped meanwhile */
    for (uint32_t i = 0; i < job->spawned; i++) {
        struct sx_run_rank *const its = &job->ranks[i];

        if (!its->alive || its->kept_ns == 0) {
            continue;
        }
        if (now_ns - its->kept_ns >= KEPT_NS) {
            rank_leave(its);
        } else {
            any = true;
        }
    }
    if (any) {
        sx_run_after(&job->run->loop, &job->kept, KEPT_LOOK_NS, kept_due, job);
    }
}

/* ---- the pidfd ------------------------------------------------------------------------------- */

static void watch_close(struct sx_run_rank *its)
{
    const int fd = its->end.fd;

    if (its->end.source.loop != NULL) {
        sx_run_unwatch(&its->end);
        close(fd);
        its->job->run->watched--;
    }
}

static void end_ready(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_rank *const its = arg;
    struct sx_run_job *const job = its->job;
    const pid_t pid = its->pid;

    (void)revents;
    job->run->acts->reap(job->run);
    if (!its->alive || its->pid != pid) {
        return;
    }
    watch_close(its);
    its->kept_ns = now_ns;
    if (!sx_run_is_awaited(&job->kept)) {
        sx_run_after(&job->run->loop, &job->kept, KEPT_NS, kept_due, job);
    }
}

/* Whether the limit of open files is, or can be, twice what is needed. */
static bool has_room(const struct sx_run_state *run, uint64_t files)
{
    const uint64_t need = files + SX_RUN_FILES_MORE;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || need > limit.rlim_max / 2) {
        return false;
    }
    if (need + run->watched >= limit.rlim_cur) {
        limit.rlim_cur = 2 * need;
        return setrlimit(RLIMIT_NOFILE, &limit) == 0;
    }
    return true;
}

void sx_run_traced_watch(struct sx_run_rank *its, uint64_t files)
{
    struct sx_run_state *const run = its->job->run;

    its->kept_ns = 0;
    if (!has_room(run, files)) {
        return;
    }
    its->end = (struct sx_poll){ .fd = (int)syscall(SYS_pidfd_open, its->pid, 0),
                                 .fn = end_ready,
                                 .arg = its };
    if (its->end.fd < 0) {
        return;
    }
    if (sx_run_watch(&run->loop, &its->end, POLLIN) == 0) {
        run->watched++;
    } else {
        close(its->end.fd);
    }
}

void sx_run_traced_end(struct sx_run_rank *its)
{
    watch_close(its);
    its->kept_ns = 0;
}

void sx_run_traced_drop(struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count && run->watched > 0; i++) {
        for (uint32_t rank = 0; rank < run->jobs->at[i]->spawned; rank++) {
            watch_close(&run->jobs->at[i]->ranks[rank]);
        }
    }
}
