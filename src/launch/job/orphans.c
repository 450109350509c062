/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* orphans.c - children of the launcher that are not ranks are killed until there are none.
 *
 * A process that forks and ends, and whose child leaves the group, may be gone whenever it is to be
 * killed.  So each pass has many rounds without a pause, and kills groups: a child that was just
 * forked is in its parent's group.
 *
 * The environment of a process names its job.  To read that of one that hangs in the kernel may
 * take as long as it hangs, so a thread does it, and the loop goes on. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system/process.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/diagnose.h"
#include "launch/job/looker.h"
#include "launch/job/record.h"
#include "launch/job/session.h"
#include "launch/job/state.h"
#include "launch/place/device_probe.h"
#include "launch/pmi/pmi1.h"
#include "launch/stdio/input.h"

#define LOOK_NS (5 * SX_NS_PER_MS)  /* between two passes */
#define ROUNDS_MAX 64               /* of one pass */
#define LIST_BYTES_MAX 65536        /* of numbers in a round; the next round reads further ones */
#define TIME_NS (2 * SX_NS_PER_SEC) /* for all passes */
#define JANITOR_TIME_NS \
    (500 * SX_NS_PER_MS) /* part of TIME_NS, for the janitor of a launcher that was a rank: it has
                          * had the rest to clean up */

/* ---- the processes --------------------------------------------------------------------------- */

/* Our children, as a list of numbers with blanks.  Return: false when the list cannot be read. */
static bool children_read(const struct sx_run_survivors *survivors, char list[LIST_BYTES_MAX])
{
    size_t used = 0;
    ssize_t got;

    do {
        got = pread(survivors->children_fd, list + used, LIST_BYTES_MAX - 1 - used, (off_t)used);
        used += got > 0 ? (size_t)got : 0;
    } while (got > 0 && used < LIST_BYTES_MAX - 1);
    list[used] = '\0';
    if (used == LIST_BYTES_MAX - 1) { /* drop a number that may be cut */
        *(strrchr(list, ' ') + 1) = '\0';
    }
    return got >= 0;
}

/* A number of the list behind *at.  Return: 0 at its end. */
static pid_t child_next(const char **at)
{
    char *end;
    const long pid = strtol(*at, &end, 10);

    *at = end;
    return (pid_t)pid;
}

/* Our janitor, our ranks and their debuggers are not orphans. */
static bool is_survivor(struct sx_run_state *run, pid_t pid)
{
    return pid != run->setup->janitor->pid && pid != run->setup->look->pid &&
           sx_run_bearer(run, pid) == NULL && !sx_run_debugger_is(run, pid) &&
           !sx_run_lookup_is(run, pid) && !sx_run_left_is(run, pid);
}

enum whose { UNKNOWN, OURS, OTHERS, DYING };

/* Whether the environment of @pid names @nspace.  A process that is just ending has no environment
 * any more. */
static enum whose whose_by_name(pid_t pid, const char *nspace)
{
    bool known;

    if (sx_proc_has_variable(pid, "PMIX_NAMESPACE", nspace, false, &known)) {
        return OURS;
    }
    return known || !sx_proc_is_exiting(pid) ? OTHERS : DYING;
}

/* One environment is read by a thread, which may take for ever. */
struct reading {
    pid_t pid;
    char *nspace;
    _Atomic int whose; /* UNKNOWN: it is being read */
};
static struct reading *reading; /* of the launcher's thread; NULL: none */

static void *reading_run(void *arg)
{
    struct reading *const its = arg;

    /* R0 -> A0 (whose_by_thread): the last access of the thread. */
    atomic_store_explicit(&its->whose, (int)whose_by_name(its->pid, its->nspace),
                          memory_order_release);
    return NULL;
}

/* The same as whose_by_name without waiting.  Return: UNKNOWN also while the thread reads another
 * process, or there is no thread. */
static enum whose whose_by_thread(pid_t pid, const char *nspace)
{
    enum whose whose = UNKNOWN;

    /* A0 <- R0 (reading_run) */
    if (reading != NULL &&
        (whose = (enum whose)atomic_load_explicit(&reading->whose, memory_order_acquire)) !=
            UNKNOWN) {
        whose = reading->pid == pid && strcmp(reading->nspace, nspace) == 0 ? whose : UNKNOWN;
        free(reading->nspace);
        free(reading);
        reading = NULL;
    }
    if (reading == NULL && whose == UNKNOWN) {
        reading = sx_cli_calloc(1, sizeof(*reading));
        reading->pid = pid;
        reading->nspace = sx_cli_strdup(nspace);
        if (!sx_thread_detached(reading_run, reading)) {
            free(reading->nspace);
            free(reading);
            reading = NULL;
        }
    }
    return whose;
}

/* Whether @pid is of @job (NULL: any job). */
static enum whose whose(pid_t pid, const struct sx_run_job *job)
{
    struct sx_proc_hang hang;

    if (job == NULL) {
        return OURS;
    }
    (void)sx_proc_works(pid, &hang);
    return hang.state == 'D' ? whose_by_thread(pid, job->nspace) : whose_by_name(pid, job->nspace);
}

/* ---- given up -------------------------------------------------------------------------------- */

/* Processes of which a job has not found out in its time whose they are.  The jobs that end later
 * do not wait for them: a file system may keep one for as long as it likes, or a tracer the end of
 * one. */
#define GIVEN_UP_MAX 16

static struct given_up {
    pid_t pid;
    uint64_t start_ticks;
} given_up[GIVEN_UP_MAX];
static size_t given_up_count; /* with those that later ones have replaced */

static bool is_given_up(pid_t pid)
{
    struct sx_proc_stat stat;

    for (size_t i = 0; i < GIVEN_UP_MAX && i < given_up_count; i++) {
        if (given_up[i].pid == pid) {
            return sx_proc_stat(pid, &stat) && stat.start_ticks == given_up[i].start_ticks;
        }
    }
    return false;
}

static void give_up(pid_t pid)
{
    struct sx_proc_stat stat;

    if (sx_proc_stat(pid, &stat)) {
        given_up[given_up_count++ % GIVEN_UP_MAX] = (struct given_up){ pid, stat.start_ticks };
    }
}

/* ---- ending the processes -------------------------------------------------------------------- */

/* Kill @pid, and its group if that is neither ours nor a rank's. */
static void survivor_kill(struct sx_run_state *run, pid_t pid)
{
    const pid_t group = getpgid(pid);

    if (group > 1 && group != getpgrp() && sx_run_bearer(run, group) == NULL) {
        kill(-group, SIGKILL);
    }
    kill(pid, SIGKILL);
}

/* One round; the last one gives up all of which it is not known whose they are.  Return: a process
 * that has not ended yet, or 0; less than 0: and it may be of another job. */
static pid_t survivors_kill(struct sx_run_state *run, const struct sx_run_job *job,
                            uint64_t until_ns, bool is_last)
{
    static char list[LIST_BYTES_MAX]; /* only one thread scans */
    const bool late = sx_run_now_ns(&run->loop) + JANITOR_TIME_NS >= until_ns;
    const char *at = list;
    pid_t left = 0;

    if (!children_read(&run->survivors, list)) {
        return 0;
    }
    for (pid_t pid = child_next(&at); pid > 0; pid = child_next(&at)) {
        enum whose of;

        if (!is_survivor(run, pid) || waitpid(pid, NULL, WNOHANG) == pid ||
            (of = whose(pid, job)) == OTHERS || (of != OURS && is_given_up(pid))) {
            continue;
        }
        if (is_last && of != OURS) {
            give_up(pid);
        }
        left = of != UNKNOWN ? pid : left != 0 ? left : -pid;
        if (of == OURS && (late || !sx_proc_is_janitor(pid))) {
            survivor_kill(run, pid);
        }
    }
    return left;
}

/* The turn of the loop that this makes calls sx_run_survivors_end. */
static void look_due(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
}

/* A process that looks up what spawns name is the launcher's own. */
static void left_say(struct sx_run_state *run, const struct sx_run_job *job, pid_t pid)
{
    struct sx_proc_hang hang;

    (void)sx_proc_works(pid, &hang);
    const bool is_placed = hang.where[0] != '\0';
    const char state = hang.state == '\0' ? '?' : hang.state;

    if (sx_proc_is_named(pid, SX_LOOKER_NAME)) {
        sx_run_say(
            run,
            "SIGKILL does not end process %ld of this launcher, which looks for the programs "
            "and folders of a spawn, and is in state %c%s%s%s: nobody waits for it any more",
            (long)pid, state, is_placed ? " (" : "", hang.where, is_placed ? ")" : "");
        return;
    }
    sx_run_say(run, "process %ld, which %s has left, cannot be killed: it is in state %c%s%s%s",
               (long)pid, job == NULL ? "a rank" : job->name, state, is_placed ? " (" : "",
               hang.where, is_placed ? ")" : "");
}

static bool survivors_end(struct sx_run_state *run, const struct sx_run_job *job,
                          struct sx_run_hunt *hunt)
{
    unsigned without = 0; /* rounds: a list may lack a child whose sibling is being reaped */
    pid_t left = 0;

    if (run->survivors.children_fd < 0) {
        return true;
    }
    if (!hunt->begun) {
        hunt->begun = true;
        hunt->until_ns = sx_deadline_ns(sx_run_now_ns(&run->loop), TIME_NS);
    }
    for (int i = 0; i < ROUNDS_MAX && without < 2; i++) {
        left = survivors_kill(run, job, hunt->until_ns, false);
        without = left == 0 ? without + 1 : 0;
    }
    if (without < 2 && sx_run_now_ns(&run->loop) < hunt->until_ns) {
        sx_run_after(&run->loop, &hunt->look, LOOK_NS, look_due, NULL);
        return false;
    }
    if (without < 2) {
        left = survivors_kill(run, job, hunt->until_ns, true);
    }
    if (without < 2 && left > 0) {
        left_say(run, job, left);
    }
    hunt->begun = false;
    sx_timer_remove(&hunt->look);
    return true;
}

bool sx_run_survivors_end(struct sx_run_job *job)
{
    return survivors_end(job->run, job, &job->hunt);
}

bool sx_run_survivors_end_all(struct sx_run_state *run)
{
    return run->survivors.guests || survivors_end(run, NULL, &run->survivors.hunt);
}

/* ---- life ------------------------------------------------------------------------------------ */

void sx_run_survivors_open(struct sx_run_state *run)
{
    struct sx_run_survivors *const survivors = &run->survivors;
    static char list[LIST_BYTES_MAX];
    const char *at = list;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    survivors->children_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (survivors->children_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
        !children_read(survivors, list)) {
        sx_run_survivors_close(run);
        return;
    }
    for (pid_t pid = child_next(&at); pid > 0; pid = child_next(&at)) {
        survivors->guests = survivors->guests || is_survivor(run, pid);
    }
}

void sx_run_survivors_close(struct sx_run_state *run)
{
    if (run->survivors.children_fd >= 0) {
        close(run->survivors.children_fd);
    }
    run->survivors.children_fd = -1;
    sx_run_left_deinit(run);
}

/* ---- remove ---------------------------------------------------------------------------------- */

/* Undo what launch/job/spawned.c has made. */

void sx_run_past_close(struct sx_run_job *job)
{
    sx_run_job_stop(job);
    if (job->request != NULL) {
        sx_run_report_deinit(&job->request->late);
    }
    sx_run_failure_deinit(job);
    sx_run_pmi1_deinit(job);
    for (uint32_t i = 0; i < job->rank_count; i++) {
        sx_run_traced_end(&job->ranks[i]);
        sx_run_stream_deinit(&job->ranks[i].streams[0]);
        sx_run_stream_deinit(&job->ranks[i].streams[1]);
        job->ranks[i].feed = sx_run_feed_free(job->ranks[i].feed);
    }
}

/* Whether a process that the ranks have left may still write to the streams. */
static bool is_received(const struct sx_run_job *job)
{
    for (uint32_t i = 0; i < job->spawned; i++) {
        if (job->ranks[i].streams[0].watch.fd >= 0 || job->ranks[i].streams[1].watch.fd >= 0) {
            return true;
        }
    }
    return false;
}

static bool can_go(struct sx_run_job *job)
{
    return job->state == SX_RUN_OVER && job->request != NULL && job->aborts == NULL &&
           !is_received(job) && sx_run_start_is_done(job) && sx_run_upcall_remove(job);
}

static void job_go(struct sx_run_state *run, struct sx_run_job *job)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        if (run->jobs->at[i]->parent == job) {
            run->jobs->at[i]->parent = NULL;
        }
    }
    sx_run_record_past(run->setup->record, job);
    sx_run_past_close(job);
    sx_run_leftovers_remove(run->setup->janitor, job);
    sx_session_remove_inner(job->dir);
    sx_run_child_deinit(job);
    sx_run_jobs_remove(run->jobs, job);
}

void sx_run_past_remove(struct sx_run_state *run)
{
    for (uint32_t i = run->jobs->count; i > 0; i--) {
        if (can_go(run->jobs->at[i - 1])) {
            job_go(run, run->jobs->at[i - 1]);
        }
    }
}
