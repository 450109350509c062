/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.c - the life of a job: its state, the verbs that change it, and its deadlines.
 *
 *                 all ranks have been started               no process is left
 *     STARTING ------------------------------> RUNNING -------------------------> OVER --> removed
 *        |  \                                     |                               ^
 *        |   +--- a cause ------> ENDING <--------+ a cause                       |
 *        |                           |            no process is left              |
 *        |                           +--------------------------------------------+
 *        +--- the job is not to be started, or cannot be registered --------------+
 *
 * A cause is a rank that failed, an abort, a request of job control, a time limit, a start that
 * failed, the end of its parent or of a job that it depends on, or a signal of the user.  The first
 * one decides the exit code and has the only line; it signals the ranks, and a grace later kills
 * them.  If an event reports it, the handlers run before (term).  A second signal of the user ends
 * both waits.  A rank that is to be started again keeps its job in its state.  The files that call
 * the verbs:
 *
 *     start      launch/job/start.c (sx_run_job_started); launch/job/life.c gives start_rank
 *     end        sx_run_end, sx_run_end_notified, sx_run_end_all, sx_run_end_hurry
 *     restart    launch/job/failure.c (sx_run_again_note), then timers
 *     over       launch/job/life.c (sx_run_job_over), once launch/job/orphans.c has left no process
 *     removal    launch/job/orphans.c (sx_run_past_remove) */
#include "launch/job/state.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/util.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/diagnose.h"
#include "launch/job/record.h"
#include "launch/pmi/host.h"
#include "launch/pmi/pmi1.h"

/* ---- its state ------------------------------------------------------------------------------- */

static void become(struct sx_run_job *job, enum sx_run_job_state state)
{
    sx_assert(state > job->state);
    job->state = state;
    job->run->job_is_ending = job->run->job_is_ending || state >= SX_RUN_ENDING;
}

void sx_run_job_started(struct sx_run_job *job)
{
    if (job->state == SX_RUN_STARTING && job->spawned == job->rank_count) {
        become(job, SX_RUN_RUNNING);
    }
}

void sx_run_job_stop(struct sx_run_job *job)
{
    struct sx_timer *const timers[] = { &job->timeout,   &job->term,     &job->kill, &job->stuck,
                                        &job->reaction,  &job->unwanted, &job->lost, &job->restart,
                                        &job->hunt.look, &job->kept };

    for (size_t i = 0; i < SX_COUNT(timers); i++) {
        sx_timer_remove(timers[i]);
    }
}

/* Report how many restarts have had no line since. */
static void restarts_over(struct sx_run_job *job)
{
    if (job->restarts_unnotified > 0) {
        sx_run_say_of(job, "%s: %u more restarts have had no line, %u have been in all", job->name,
                      job->restarts_unnotified, job->restarts);
        job->restarts_unnotified = 0;
    }
}

void sx_run_job_over(struct sx_run_job *job)
{
    become(job, SX_RUN_OVER);
    sx_run_job_stop(job);
    restarts_over(job);
}

void sx_run_job_fail(struct sx_run_job *job, pmix_status_t fate)
{
    job->caused = true;
    job->fate = fate;
    sx_run_job_over(job);
}

void sx_run_code(const struct sx_run_job *job, int code)
{
    if (job->run->code == 0 && !sx_run_child_ends_apart(job)) {
        job->run->code = code;
        sx_run_record_reason(job->run->setup->record);
    }
}

void sx_run_end_fate(struct sx_run_job *job, pmix_status_t fate)
{
    if (job->fate == PMIX_SUCCESS) {
        job->fate = fate;
    }
}

/* ---- ranks that SIGKILL does not end --------------------------------------------------------- */

/* A process ends when it leaves the kernel, and a file system or a device may keep it there; and
 * the processes of some programs are another user's.  Such a rank is left, so that its job and the
 * launcher end.  A process that works in the kernel has more time: it may have much memory to
 * free. */
#define STUCK_NS (5 * SX_NS_PER_SEC)
#define STUCK_WORKING_NS (60 * SX_NS_PER_SEC)
#define STUCK_LOOK_NS SX_NS_PER_SEC

static pid_t *left_find(const struct sx_run_state *run, pid_t pid)
{
    for (uint32_t i = 0; i < run->left_count; i++) {
        if (run->left[i] == pid) {
            return &run->left[i];
        }
    }
    return NULL;
}

bool sx_run_left_is(const struct sx_run_state *run, pid_t pid)
{
    return left_find(run, pid) != NULL;
}

void sx_run_left_add(struct sx_run_state *run, pid_t pid)
{
    run->left = sx_cli_realloc(run->left, run->left_count + 1, sizeof(*run->left));
    run->left[run->left_count++] = pid;
}

void sx_run_left_ended(struct sx_run_state *run, pid_t pid)
{
    pid_t *const at = left_find(run, pid);

    if (at != NULL) {
        *at = run->left[--run->left_count];
    }
}

void sx_run_left_deinit(struct sx_run_state *run)
{
    free(run->left);
    run->left = NULL;
    run->left_count = 0;
}

static void stuck_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;
    bool any = false;

    for (uint32_t i = 0; i < job->spawned; i++) {
        struct sx_run_rank *const its = &job->ranks[i];
        struct sx_proc_hang hang;

        if (!its->alive || its->killed_ns == 0) {
            continue;
        }
        if (now_ns - its->killed_ns >= STUCK_NS &&
            (!sx_proc_works(its->pid, &hang) || now_ns - its->killed_ns >= STUCK_WORKING_NS)) {
            job->run->acts->leave(its, &hang);
        } else {
            any = true;
        }
    }
    if (any) {
        sx_run_after(&job->run->loop, &job->stuck, STUCK_LOOK_NS, stuck_due, job);
    }
}

void sx_run_stuck_await(struct sx_run_job *job, bool unwanted)
{
    for (uint32_t i = 0; i < job->spawned; i++) {
        struct sx_run_rank *const its = &job->ranks[i];

        if (its->alive && its->killed_ns == 0 && (its->unwanted || !unwanted)) {
            its->killed_ns = sx_run_now_ns(&job->run->loop);
        }
    }
    if (!sx_run_is_awaited(&job->stuck)) {
        sx_run_after(&job->run->loop, &job->stuck, STUCK_NS, stuck_due, job);
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

static void job_signal(const struct sx_run_job *job, int number)
{
    for (uint32_t i = 0; i < job->spawned; i++) {
        if (job->ranks[i].alive) {
            job->run->acts->kill(-job->ranks[i].pid, number);
        }
    }
}

void sx_run_signal(struct sx_run_state *run, int number)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        job_signal(run->jobs->at[i], number);
    }
}

static void job_kill(struct sx_run_job *job)
{
    if (!job->killed) {
        job->killed = true;
        job_signal(job, SIGKILL);
        sx_run_stuck_await(job, false);
    }
}

/* Return: false when the job is ending already. */
static bool end_begin(struct sx_run_job *job, int code)
{
    if (job->caused) {
        return false;
    }
    job->caused = true;
    if (job->state != SX_RUN_OVER) {
        become(job, SX_RUN_ENDING);
    }
    job->end_code = code;
    sx_run_end_fate(job, PMIX_ERR_JOB_CANCELED);
    if (!sx_run_child_is_awaited(job)) { /* else the end is the caller's to deal with */
        sx_run_code(job, code);
    }
    return true;
}

/* ---- connected jobs -------------------------------------------------------------------------- */

/* Return: the exit code for which @job ends; 0: none.  The cause may be a failure of this job or of
 * another one, an abort, the time limit, or anything else. */
static int failure_code(const struct sx_run_job *job)
{
    return job->failed_rank != UINT32_MAX ? job->failed_code : job->end_code;
}

static bool depends_on(const struct sx_run_job *job, uint32_t number)
{
    for (uint32_t i = 0; i < job->bereft_count; i++) {
        if (job->bereft_by[i] == number) {
            return true;
        }
    }
    return false;
}

/* Ranks of @job depend on a rank of job @number.  Jobs that were removed are dropped: there are no
 * more numbers than jobs. */
static void depends_add(struct sx_run_job *job, uint32_t number)
{
    const struct sx_run_jobs *const jobs = job->run->jobs;
    uint32_t *const by = sx_cli_calloc(jobs->count + 1, sizeof(*by));
    uint32_t count = 0;

    for (uint32_t i = 0; i < jobs->count; i++) {
        if (jobs->at[i]->number == number || depends_on(job, jobs->at[i]->number)) {
            by[count++] = jobs->at[i]->number;
        }
    }
    free(job->bereft_by);
    job->bereft_by = by;
    job->bereft_count = count;
}

/* Whether @job ends with @other when @other ends before its time, for whatever reason.  It does if
 * it is connected with ranks of @other that have died. */
static bool is_bereft(const struct sx_run_job *job, const struct sx_run_job *other)
{
    const bool apart = (job->parent == other && sx_run_child_is_separate(job)) ||
                       (other->parent == job && sx_run_child_is_separate(other));

    return depends_on(job, other->number) && failure_code(other) != 0 && !apart &&
           job->options->on_failure != SX_RUN_ON_FAILURE_NOTIFY;
}

static void bereft_end(struct sx_run_job *job, const struct sx_run_job *other)
{
    sx_run_end_notified(job, failure_code(other), UINT32_MAX,
                        "%s goes with %s, with which it is connected", job->name, other->name);
}

/* End the jobs that @of has spawned, and those that depend on its dead ranks. */
static void others_end(struct sx_run_job *of, int code)
{
    for (uint32_t i = 0; i < of->run->jobs->count; i++) {
        struct sx_run_job *const job = of->run->jobs->at[i];

        if (job->state == SX_RUN_OVER) {
            continue;
        }
        if (job->parent == of && !sx_run_child_is_separate(job)) {
            sx_run_end(job, code, "%s goes with %s, which has spawned it", job->name, of->name);
        } else if (is_bereft(job, of)) {
            bereft_end(job, of);
        }
    }
}

void sx_run_end_bereft(struct sx_run_job *job, const struct sx_run_job *dead)
{
    depends_add(job, dead->number);
    if (dead->caused && job->state != SX_RUN_OVER && is_bereft(job, dead)) {
        bereft_end(job, dead);
    }
}

uint64_t sx_run_end_grace_ns(const struct sx_run_state *run, uint64_t grace_ns)
{
    const uint64_t said_ns = run->setup->options->kill_grace_ns;

    return said_ns == SX_RUN_GRACE_BY_CAUSE ? grace_ns : said_ns;
}

static void kill_due(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    job_kill(arg);
}

static void end_signal(struct sx_run_job *job, int number, uint64_t grace_ns)
{
    sx_timer_remove(&job->term);
    sx_run_after(&job->run->loop, &job->kill, sx_run_end_grace_ns(job->run, grace_ns), kill_due,
                 job);
    job_signal(job, number);
    job_signal(job, SIGCONT); /* a stopped rank receives no other signal */
}

void sx_run_end(struct sx_run_job *job, int code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (end_begin(job, code)) {
        sx_run_say_of_list(job, fmt, args);
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
        others_end(job, code);
    }
    va_end(args);
}

bool sx_run_end_all(struct sx_run_state *run, int code, int number, uint64_t grace_ns,
                    const char *fmt, ...)
{
    va_list args;
    bool any = false;

    run->closing = true;
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        struct sx_run_job *const job = run->jobs->at[i];

        sx_run_end_handled(job);
        if (end_begin(job, code)) {
            any = true;
            end_signal(job, number, grace_ns);
        }
    }
    va_start(args, fmt);
    if (any) {
        sx_run_say_list(run, fmt, args);
    }
    va_end(args);
    return any;
}

void sx_run_end_hurry(struct sx_run_job *job)
{
    if (sx_run_is_awaited(&job->term)) {
        sx_run_end_handled(job);
    } else if (job->caused) {
        job_kill(job);
    }
}

/* ---- handlers run before the end ------------------------------------------------------------- */

/* All that has to be published has been: wait for the handlers. */
static void end_ask(struct sx_run_job *job)
{
    job->loss_awaited = UINT32_MAX;
    if (!sx_run_host_await_handlers(job)) {
        sx_run_end_handled(job);
    }
}

/* Not all handlers have been called in their time. */
static void term_due(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    end_signal(arg, SIGTERM, SX_RUN_GRACE_NS);
}

void sx_run_end_notified(struct sx_run_job *job, int code, uint32_t rank, const char *fmt, ...)
{
    const uint64_t grace_ns = job->options->event_grace_ns;
    va_list args;

    if (job->caused) {
        return;
    }
    job->run->acts->acted(job);
    end_begin(job, code);
    va_start(args, fmt);
    sx_run_say_of_list(job, fmt, args);
    va_end(args);
    others_end(job, code);
    if (grace_ns == 0) {
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
        return;
    }
    sx_run_after(&job->run->loop, &job->term, grace_ns, term_due, job);
    if (rank != UINT32_MAX && !job->ranks[rank].loss_received && sx_run_host_is_client(job, rank)) {
        job->loss_awaited = rank; /* the server sees the end too, a moment before or after */
    } else {
        end_ask(job);
    }
}

void sx_run_end_loss_received(struct sx_run_job *job, uint32_t rank)
{
    job->ranks[rank].loss_received = true;
    sx_run_again_look(job, 0);
    if (sx_run_is_awaited(&job->term) && job->loss_awaited == rank) {
        end_ask(job);
    }
}

void sx_run_end_handled(struct sx_run_job *job)
{
    if (sx_run_is_awaited(&job->term)) {
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void limit_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;

    (void)now_ns;
    if (!sx_run_report_late(job)) {
        sx_run_end_fate(job, PMIX_ERR_TIMEOUT);
        sx_run_end(job, SX_RUN_EXIT_TIMEOUT, "%s has not ended in its time (PMIX_JOB_TIMEOUT)",
                   job->name);
    }
}

void sx_run_end_limit(struct sx_run_job *job, uint64_t limit_ns)
{
    if (limit_ns == 0 || job->state == SX_RUN_OVER) {
        sx_timer_remove(&job->timeout);
    } else {
        sx_run_after(&job->run->loop, &job->timeout, limit_ns, limit_due, job);
    }
}

/* ---- ranks that are started again ------------------------------------------------------------ */

#define STARTS_A_TURN 8
#define DRAIN_BYTES_MAX (2u << 20)        /* more than any pipe holds by default limits */
#define LOOK_NS (5 * SX_NS_PER_MS)        /* between checks of a rank that may come back */
#define LOSS_TIME_NS (10 * SX_NS_PER_SEC) /* for the server to notice an end */

bool sx_run_again_is_pending(const struct sx_run_job *job, uint32_t rank)
{
    return job->ranks[rank].again && !job->ranks[rank].unwanted && !job->caused;
}

uint64_t sx_run_again_pause_ns(uint32_t restarts, uint64_t pause_ns, uint64_t lived_ns)
{
    if (restarts == 0 || lived_ns >= SX_RUN_AGAIN_SHORT_NS) {
        return 0;
    }
    if (pause_ns == 0) {
        return SX_RUN_AGAIN_PAUSE_MIN_NS;
    }
    return pause_ns < SX_RUN_AGAIN_PAUSE_MAX_NS / 2 ? 2 * pause_ns : SX_RUN_AGAIN_PAUSE_MAX_NS;
}

bool sx_run_again_has_line(struct sx_run_job *job, uint32_t *ret_unnotified)
{
    const uint32_t count = ++job->restarts;
    const bool has = count <= SX_RUN_AGAIN_LINES || (count & (count - 1)) == 0;

    *ret_unnotified = job->restarts_unnotified;
    job->restarts_unnotified = has ? 0 : job->restarts_unnotified + 1;
    return has;
}

bool sx_run_again_note(struct sx_run_job *job, uint32_t rank)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    if (its->restarts >= sx_run_job_app(job, rank)->restarts_max) {
        return false;
    }
    const uint64_t now_ns = sx_run_now_ns(&job->run->loop);

    its->again = true;
    its->again_ns = sx_deadline_ns(now_ns, LOSS_TIME_NS);
    its->pause_ns = sx_run_again_pause_ns(its->restarts, its->pause_ns, now_ns - its->begun_ns);
    its->again_from_ns = sx_deadline_ns(now_ns, its->pause_ns);
    job->again++;
    sx_run_again_look(job, 0);
    return true;
}

static void forget(struct sx_run_job *job, struct sx_run_rank *its)
{
    its->again = false;
    job->again--;
}

/* Pass on the rank's output.  A process that it left may continue to write to its pipes, and is not
 * waited for.  Return: false while a sink of the output is not ready. */
static bool stream_end(struct sx_run_stream *stream)
{
    size_t total = 0, got = 1;

    while (stream->watch.fd >= 0 && got > 0 && total < DRAIN_BYTES_MAX) {
        if (!sx_run_stream_is_ready(stream)) {
            return false;
        }
        got = sx_run_stream_read(stream);
        total += got;
    }
    return true;
}

/* The server has ended all open operations of the rank, and is ready for another process. */
static bool is_known_to_be_gone(const struct sx_run_job *job, uint32_t rank)
{
    return job->ranks[rank].loss_received || !sx_run_host_is_client(job, rank);
}

static void begin(struct sx_run_job *job, uint32_t rank)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    sx_run_stream_deinit(&its->streams[0]);
    sx_run_stream_deinit(&its->streams[1]);
    job->unnotified -= its->unnotified;
    its->unnotified = its->lost = its->loss_received = false;
    its->restarts++;
    its->begun_ns = sx_run_now_ns(&job->run->loop);
    sx_run_host_rank_again(job, rank);
    job->run->acts->start_rank(job, rank);
}

/* Return: whether a process was started. */
static bool look(struct sx_run_job *job, uint32_t rank, uint64_t now_ns)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    if (its->unwanted) {
        forget(job, its);
        sx_run_host_rank_gone(job, rank);
    } else if (!is_known_to_be_gone(job, rank)) {
        if (now_ns >= its->again_ns) {
            sx_run_end(job, SX_EXIT_FAILURE,
                       "%srank %u cannot be started again: its PMIx client is another process, "
                       "which lives on; ending %s",
                       job->prefix, rank, job->name);
        }
    } else if (now_ns >= its->again_from_ns && sx_run_start_can(job) &&
               stream_end(&its->streams[0]) && stream_end(&its->streams[1])) {
        forget(job, its);
        begin(job, rank);
        return true;
    }
    return false;
}

/* The time until a rank may be restarted; a check is due before, or a short time after it. */
static uint64_t pause_left_ns(const struct sx_run_job *job, uint64_t now_ns)
{
    uint64_t until_ns = SX_DEADLINE_NEVER;

    for (uint32_t i = 0; i < job->spawned; i++) {
        const struct sx_run_rank *const its = &job->ranks[i];

        if (its->again && its->again_from_ns < until_ns) {
            until_ns = its->again_from_ns;
        }
    }
    return until_ns < now_ns + LOOK_NS ? LOOK_NS : until_ns - now_ns;
}

/* Restart those ranks that can be started by now, some each turn. */
static void look_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;
    uint32_t started = 0;

    for (uint32_t rank = 0; rank < job->spawned && sx_run_again_any(job); rank++) {
        if (job->ranks[rank].again && started < STARTS_A_TURN) {
            started += look(job, rank, now_ns);
        }
    }
    if (sx_run_again_any(job)) {
        sx_run_again_look(job, started < STARTS_A_TURN ? pause_left_ns(job, now_ns) : 0);
    }
}

void sx_run_again_look(struct sx_run_job *job, uint64_t delay_ns)
{
    if (sx_run_again_any(job)) {
        sx_run_after(&job->run->loop, &job->restart, delay_ns, look_due, job);
    }
}
