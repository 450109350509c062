/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* life.c - one loop for the ranks' deaths, output and input, and for the user's signals.
 *
 * A death is noticed without reaping (WNOWAIT).  While the dead rank holds its number, no other
 * group can have it.  So the rest of its process group can be killed safely, and the janitor
 * forgets the group. */
#include "launch/job/state.h"

#include <errno.h>
#include <limits.h>
#include <pmix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/system/process.h"
#include "base/util.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/diagnose.h"
#include "launch/job/record.h"
#include "launch/place/device_probe.h"
#include "launch/pmi/pmi1.h"
#include "launch/serve/serve.h"
#include "launch/stdio/forward.h"
#include "launch/stdio/log.h"
#include "launch/stdio/pty.h"

#define DRAIN_BYTES_MAX (2u << 20) /* more than any pipe holds by default limits */

/* ---- events of the loop ---------------------------------------------------------------------- */

static void connected_say(struct sx_run_state *run)
{
    if (run->awaited > 0 && sx_run_upcall_connected() >= run->awaited) {
        sx_run_step(run, "all ranks have connected");
        run->awaited = 0;
    }
}

static void news_read(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_state *const run = arg;

    (void)revents;
    (void)now_ns;
    sx_run_failure_news(run);
    connected_say(run);
}

/* The rank's last output comes before the message about its death. */
static void streams_drain(struct sx_run_rank *rank)
{
    for (int i = 0; i < 2; i++) {
        struct sx_run_stream *stream = &rank->streams[i];
        size_t total = 0, got = 1;

        while (stream->watch.fd >= 0 && !stream->sink->paused && !stream->held && got > 0 &&
               total < DRAIN_BYTES_MAX) {
            got = sx_run_stream_read(stream);
            total += got;
        }
    }
}

/* @usage: NULL if it was not reaped. */
static void rank_ended(struct sx_run_rank *its, const siginfo_t *info, const struct rusage *usage)
{
    static const struct rusage unknown;
    struct sx_run_job *const job = its->job;
    const uint32_t rank = (uint32_t)(its - job->ranks);
    const bool good = info->si_code == CLD_EXITED && info->si_status == 0 &&
                      !sx_run_host_is_client(job, rank) && !sx_run_pmi1_is_client(job, rank);

    its->past.has_come = sx_run_upcall_has_come(job, rank);
    its->past.has_left = !sx_run_host_is_client(job, rank) && !sx_run_pmi1_is_client(job, rank);
    sx_run_record_ended(its, info, usage == NULL ? &unknown : usage);
    sx_run_bearer_remove(job->run, its);
    sx_run_traced_end(its);
    its->alive = false;
    job->alive--;
    if (its->stops) {
        its->stops = false;
        job->stops--;
        sx_run_start_stops(job);
    }
    if (its->at_terminal) {
        its->at_terminal = false;
        job->run->at_terminal--;
        if (job->run->at_terminal == 0) {
            sx_run_pty_give_back(); /* before any message is written */
        }
    }
    if (!good && !job->caused) {
        streams_drain(its);
    }
    sx_run_failure_rank_ended(job, rank, info, good);
}

static void rank_reap(struct sx_run_rank *its, const siginfo_t *info)
{
    struct rusage usage = { 0 };

    sx_run_pmi1_receive_last(its->job, (uint32_t)(its - its->job->ranks));
    kill(-info->si_pid, SIGKILL);
    sx_janitor_group_remove(its->job->run->setup->janitor, info->si_pid);
    wait4(info->si_pid, NULL, 0, &usage);
    rank_ended(its, info, &usage);
}

/* To all who ask @its rank was killed. */
static void rank_leave(struct sx_run_rank *its, const struct sx_proc_hang *hang)
{
    struct sx_run_job *const job = its->job;
    struct sx_run_state *const run = job->run;
    siginfo_t info = { .si_code = CLD_KILLED };
    const uint32_t rank = (uint32_t)(its - job->ranks);
    const bool is_placed = hang->where[0] != '\0';

    sx_run_say_of(job,
                  "SIGKILL does not end %srank %u (pid %ld), which is in state %c%s%s%s: nobody "
                  "waits for it any more",
                  job->prefix, rank, (long)its->pid, hang->state == '\0' ? '?' : hang->state,
                  is_placed ? " (" : "", hang->where, is_placed ? ")" : "");
    sx_janitor_group_remove(run->setup->janitor, its->pid);
    sx_run_left_add(run, its->pid);
    info.si_pid = its->pid; /* it shares a union with the status */
    info.si_status = SIGKILL;
    rank_ended(its, &info, NULL);
    sx_run_host_rank_left(job, rank);
}

/* The tracer keeps the process, a zombie, which holds the number of its group. */
static void rank_kept(struct sx_run_rank *its, const siginfo_t *info)
{
    sx_run_pmi1_receive_last(its->job, (uint32_t)(its - its->job->ranks));
    kill(-its->pid, SIGKILL);
    sx_janitor_group_remove(its->job->run->setup->janitor, its->pid);
    sx_run_left_add(its->job->run, its->pid);
    rank_ended(its, info, NULL);
}

/* The janitor was killed.  Without another one, the leftovers of a killed launcher would stay. */
static void janitor_again(struct sx_run_state *run, pid_t pid)
{
    const int why = sx_janitor_replace(run->setup->janitor);

    if (why == 0) {
        sx_run_say(run, "the janitor (pid %d) has been killed; another one takes its place",
                   (int)pid);
    } else if (why == SX_JANITOR_WORN) {
        sx_run_say(run,
                   "the janitor (pid %d) has been killed, and %u have been before it, which is the "
                   "limit: there is no other one; if this launcher is killed as well, what it has "
                   "made stays. Find what kills processes named " SX_PROC_JANITOR
                   ", or end the job and start it again",
                   (int)pid, SX_JANITOR_LIVES_MAX);
    } else {
        sx_run_say(run,
                   "the janitor (pid %d) has been killed, and there is no other one: %s; if this "
                   "launcher is killed as well, what it has made stays",
                   (int)pid, strerror(why));
    }
}

static void reap(struct sx_run_state *run)
{
    struct sx_janitor *janitor = run->setup->janitor;

    /* These reports may have the reason why a rank ended; then its death is a consequence. */
    sx_run_start_reports(run);
    sx_run_failure_news(run);
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        sx_run_start_stops(run->jobs->at[i]);
    }
    for (;;) {
        siginfo_t info = { 0 };
        struct sx_run_rank *rank;

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
            break;
        }
        rank = sx_run_bearer(run, info.si_pid);
        if (rank != NULL) {
            rank_reap(rank, &info);
            continue;
        }
        waitpid(info.si_pid, NULL, 0);
        sx_run_debugger_ended(run, info.si_pid);
        sx_run_foreign_ended(&run->foreign, info.si_pid);
        sx_run_lookup_ended(run, info.si_pid);
        sx_run_left_ended(run, info.si_pid);
        if (info.si_pid == run->setup->look->pid) {
            run->setup->look->pid = 0; /* the probe's text is in the pipe */
        }
        if (info.si_pid == janitor->pid) {
            janitor_again(run, info.si_pid);
        }
    }
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        sx_run_host_notify_ends(run->jobs->at[i]);
    }
}

/* Stop with the ranks.  The clock of all deadlines stops meanwhile (launch/job/loop.h). */
static void stop(struct sx_run_state *run)
{
    const uint64_t begin_ns = sx_now_ns();
    const bool typed = sx_run_pty_give_back();

    sx_run_signal(run, SIGTSTP);
    if (!sx_handed_pause()) {
        raise(SIGSTOP);
    }
    if (typed) {
        sx_run_pty_take();
    }
    run->loop.stopped_ns += sx_now_ns() - begin_ns;
    sx_run_signal(run, SIGCONT);
    sx_run_input_start(&run->input);
}

static bool any_alive(const struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        if (run->jobs->at[i]->alive > 0) {
            return true;
        }
    }
    return false;
}

static void drain_due(void *arg, uint64_t now_ns)
{
    struct sx_run_state *const run = arg;

    (void)now_ns;
    run->drain_over = true;
}

/* The jobs are to end: their output does not get more time than this. */
static void drain_limit(struct sx_run_state *run, uint64_t limit_ns)
{
    run->drain_over = false;
    sx_run_after(&run->loop, &run->drain, limit_ns, drain_due, run);
}

/* The user wants to end all jobs; those that are ending already end at once. */
static void interrupted(struct sx_run_state *run, int number)
{
    sx_run_debuggers_end(run, false);
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        sx_run_end_hurry(run->jobs->at[i]);
    }
    drain_limit(run, SX_RUN_GRACE_NS + sx_run_end_grace_ns(run, SX_RUN_SIGNAL_GRACE_NS));
    if (!sx_run_end_all(run, SX_RUN_EXIT_SIGNAL + number, number, SX_RUN_SIGNAL_GRACE_NS,
                        "got signal %d (%s); ending %s (once more: at once)", number,
                        strsignal(number), run->all) &&
        !any_alive(run)) {
        run->give_up = true;
    }
}

static void terminals_resize(const struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        const struct sx_run_job *const job = run->jobs->at[i];

        for (uint32_t at = 0; at < 2 * job->spawned; at++) {
            const struct sx_run_stream *const stream = &job->ranks[at / 2].streams[at % 2];

            if (stream->watch.fd >= 0 && stream->source.terminal) {
                sx_run_pty_resize(stream->watch.fd);
            }
        }
    }
}

static void handle_signal(struct sx_run_state *run, int number)
{
    switch (number) {
    case SIGCHLD:
        reap(run);
        break;
    case SIGTSTP:
        stop(run);
        break;
    case SIGCONT:
        sx_run_signal(run, SIGCONT);
        sx_run_input_start(&run->input);
        break;
    case SIGWINCH:
        terminals_resize(run);
        break;
    case SIGUSR1:
    case SIGUSR2:
        sx_run_signal(run, number);
        break;
    case SIGHUP:
        if (run->setup->keep_hup_ignored) {
            break;
        }
        /* fall through */
    default:
        interrupted(run, number);
        break;
    }
}

static void signals_read(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_state *run = arg;
    struct signalfd_siginfo info;

    (void)revents;
    (void)now_ns;
    while (read(run->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        handle_signal(run, (int)info.ssi_signo);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static bool all_ending(const struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        if (!run->jobs->at[i]->caused) {
            return false;
        }
    }
    return true;
}

static void check_sinks(struct sx_run_state *run)
{
    for (int i = 0; i < 2; i++) {
        const int why = run->sink_of[i]->error;

        if (why == 0 || all_ending(run)) {
            continue;
        }
        sx_run_end_all(run, why == EPIPE ? SX_RUN_EXIT_SIGNAL + SIGPIPE : SX_EXIT_FAILURE, SIGTERM,
                       SX_RUN_GRACE_NS, "cannot write to %s: %s; ending %s",
                       i == 0 ? "stdout" : "stderr",
                       why == EPIPE ? "its reader has gone" : strerror(why), run->all);
    }
}

static void limit_due(void *arg, uint64_t now_ns)
{
    struct sx_run_state *const run = arg;

    (void)now_ns;
    if (sx_run_report_all_late(run)) {
        return;
    }
    sx_run_debuggers_end(run, true);
    sx_run_end_all(run, SX_RUN_EXIT_TIMEOUT, SIGTERM, SX_RUN_GRACE_NS,
                   "not ended within %.10g s (%s)%s; ending %s",
                   (double)run->setup->options->timeout_ns / 1e9, run->setup->options->timeout_by,
                   run->setup->options->report_stacks ? ""
                                                      : ", --get-stack-traces shows where it hangs",
                   run->all);
    drain_limit(run, SX_RUN_SIGNAL_GRACE_NS + sx_run_end_grace_ns(run, 0));
}

/* After each turn. */
static void check(struct sx_run_state *run)
{
    const uint64_t now_ns = sx_run_now_ns(&run->loop);

    check_sinks(run);
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        sx_run_child_progress(run->jobs->at[i], now_ns);
    }
    if (run->progress.on) {
        sx_run_progress_look(run, sx_run_upcall_connected(), now_ns);
        if (!run->progress.on) {
            sx_run_upcall_await(run->awaited, false);
        }
    }
}

static void over_log(const struct sx_run_job *job)
{
    sx_log(SX_LOG_INFO, "job %s has ended after %.3f s: %s, code %d", job->nspace,
           (double)(sx_now_ns() - job->begun_ns) / 1e9, PMIx_Error_string(job->fate),
           job->failed_rank != UINT32_MAX ? job->failed_code : job->run->code);
}

/* Return: false when no job is left. */
static bool jobs_live(struct sx_run_state *run)
{
    bool live = run->debuggers.count > 0;

    for (uint32_t i = 0; i < run->jobs->count; i++) {
        struct sx_run_job *const job = run->jobs->at[i];

        if (job->alive > 0 || sx_run_job_is_starting(job) || sx_run_again_any(job) ||
            (job->state != SX_RUN_OVER && !sx_run_survivors_end(job))) {
            live = true;
        } else if (job->state != SX_RUN_OVER) {
            sx_run_job_over(job);
            job->ended_ns = sx_now_ns();
            over_log(job);
            sx_run_foreign_over(&run->foreign, job);
            sx_run_child_over(job);
            sx_run_host_job_over(job);
        }
    }
    sx_run_past_remove(run);
    return sx_run_lookups_live(run, live);
}

static void run_loop(struct sx_run_state *run)
{
    while (jobs_live(run)) {
        sx_run_lookups_step(run);
        sx_run_start_some(run);
        sx_run_loop_turn(&run->loop, sx_run_is_starting(run) || sx_run_lookups_are_due(run));
        check(run);
    }
    run->closing = true;
    sx_run_lookups_end(run);
    while (!sx_run_survivors_end_all(run)) {
        sx_run_loop_turn(&run->loop, false);
    }
    sx_run_start_reports(run);
}

/* Wait for room in a sink, but no longer than the user allows, who may want to end the jobs. */
static void drain_turn(struct sx_run_state *run)
{
    sx_run_loop_turn(&run->loop, run->drain_over);
    check(run);
    run->give_up = run->give_up || run->drain_over;
}

static void drain_stream(struct sx_run_state *run, struct sx_run_stream *stream)
{
    size_t total = 0, got = 1;

    while (stream->watch.fd >= 0 && got > 0 && total < DRAIN_BYTES_MAX && !run->give_up) {
        if (stream->sink->paused || stream->held) {
            drain_turn(run);
        } else {
            got = sx_run_stream_read(stream);
            total += got;
        }
    }
    sx_run_stream_deinit(stream);
}

static void drain_job(struct sx_run_job *job)
{
    for (uint32_t rank = 0; rank < job->spawned; rank++) {
        drain_stream(job->run, &job->ranks[rank].streams[0]);
        drain_stream(job->run, &job->ranks[rank].streams[1]);
    }
}

/* The ranks have ended: read the rest of their pipes, and wait until our readers have taken it.  A
 * descendant that left its group may hold a pipe open; its further output is not waited for. */
static void drain(struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        drain_job(run->jobs->at[i]);
    }
    while (!run->give_up &&
           (run->sink_of[0]->armed || run->sink_of[1]->armed || sx_run_log_waits())) {
        drain_turn(run);
    }
    check_sinks(run);
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool same_file(int a, int b)
{
    struct stat first, second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Return: 0 or errno. */
static int watch(struct sx_run_state *run, struct sx_poll *at, int fd,
                 void (*fn)(void *, uint32_t, uint64_t))
{
    *at = (struct sx_poll){ .fd = fd, .fn = fn, .arg = run };
    return sx_run_watch(&run->loop, at, POLLIN);
}

/* Of the time limit, which counts from the begin of the launch. */
static uint64_t limit_left_ns(const struct sx_run_state *run)
{
    const uint64_t limit_ns = run->setup->options->timeout_ns;
    const uint64_t past_ns = sx_now_ns() - run->setup->begin_ns;

    return limit_ns == SX_DEADLINE_NEVER ? limit_ns : limit_ns > past_ns ? limit_ns - past_ns : 0;
}

static int run_open(struct sx_run_state *run)
{
    const bool one_sink = same_file(STDOUT_FILENO, STDERR_FILENO);
    int why;

    if ((why = sx_run_loop_init(&run->loop)) != 0 ||
        (why = sx_run_sink_init(&run->sinks[0], &run->loop, STDOUT_FILENO)) != 0 ||
        (!one_sink && (why = sx_run_sink_init(&run->sinks[1], &run->loop, STDERR_FILENO)) != 0)) {
        return why;
    }
    run->sink_of[0] = &run->sinks[0];
    run->sink_of[1] = one_sink ? &run->sinks[0] : &run->sinks[1];
    if (run->setup->options->timeout_ns != 0) {
        sx_run_after(&run->loop, &run->timeout, limit_left_ns(run), limit_due, run);
    }
    if ((why = sx_run_start_open(run)) == 0 &&
        (why = watch(run, &run->signals, run->setup->signal_fd, signals_read)) == 0 &&
        (why = sx_handed_open(&run->loop)) == 0 &&
        (why = watch(run, &run->news, run->setup->host->event_fd, news_read)) == 0 &&
        (why = sx_run_look_open(run->setup->look, run)) == 0 && (why = sx_run_log_open(run)) == 0) {
        sx_run_forward_open(run->jobs);
        sx_run_survivors_open(run);
        why = sx_run_foreign_init(&run->foreign, run);
    }
    return why;
}

static const struct sx_run_acts acts = {
    .kill = kill,
    .start_rank = sx_run_start_rank,
    .started = sx_run_child_started,
    .acted = sx_run_child_acts,
    .abort = sx_run_failure_abort,
    .lost = sx_run_failure_lost,
    .spawn = sx_run_lookup_spawn,
    .leave = rank_leave,
    .kept = rank_kept,
    .reap = reap,
};

static void run_init(struct sx_run_state *run, const struct sx_run_setup *setup)
{
    *run = (struct sx_run_state){
        .setup = setup,
        .acts = &acts,
        .jobs = setup->jobs,
        .all = setup->jobs->count == 1 ? setup->jobs->at[0]->name : "all jobs",
        .awaited = setup->options->verbose ? setup->options->rank_count : 0,
        .null_fd = -1,
        .xml_fd = -1,
        .spawn.report_fd = -1,
        .survivors.children_fd = -1,
        .looker = SX_LOOKER_NULL,
    };
    run->signals.fd = run->news.fd = -1;
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        run->jobs->at[i]->run = run;
    }
    sx_process_nodename(run->host);
}

static void run_deinit(struct sx_run_state *run)
{
    sx_handed_close();
    sx_run_lookups_end(run);
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        sx_run_past_close(run->jobs->at[i]);
    }
    sx_run_report_deinit(&run->late);
    sx_run_debuggers_deinit(run);
    sx_run_survivors_close(run);
    sx_run_start_close(run);
    if (run->xml_fd >= 0) {
        close(run->xml_fd);
    }
    sx_run_foreign_deinit(&run->foreign);
    sx_run_log_close();
    sx_run_sink_deinit(&run->sinks[0]);
    sx_run_sink_deinit(&run->sinks[1]);
    sx_run_loop_deinit(&run->loop);
}

int sx_run_life(const struct sx_run_setup *setup)
{
    struct sx_run_state run;
    int why;

    run_init(&run, setup);
    why = run_open(&run);
    if (why != 0) {
        sx_say("cannot start: no loop (epoll), pipe or thread for the launcher: %s%s",
               strerror(why), sx_refused_advice(why));
        run.code = SX_EXIT_FAILURE;
    } else {
        sx_run_progress_init(&run.progress,
                             !setup->options->quiet &&
                                 setup->options->terminal != SX_RUN_TERMINAL_ALL,
                             setup->begin_ns);
        sx_run_upcall_await(run.awaited, run.progress.on);
        run_loop(&run);
        connected_say(&run); /* the ranks' ends may have been noticed first */
        sx_run_step(&run, "all ranks have ended");
        sx_run_caused_end(&run);
        drain(&run);
    }
    run_deinit(&run);
    return run.code == 0 && run.output_lost ? SX_EXIT_FAILURE : run.code;
}
