/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.c - one loop for the ranks' deaths, output and input, and for the user's signals.
 *
 * A death is seen without reaping (WNOWAIT): while the dead rank holds its number, what is left of
 * its process group can be killed without the risk of meeting another group, and the janitor
 * forgets it.  Ranks are started a few a turn, so that signals and deaths are heard meanwhile. */
#include "cli/run/job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/run/display.h"
#include "cli/run/end.h"
#include "cli/run/env.h"
#include "cli/run/failure.h"
#include "cli/run/state.h"
#include "cli/say.h"

#define SPAWNS_A_TURN 8
#define DRAIN_BYTES_MAX (2u << 20) /* more than any pipe holds by default limits */

void sx_run_job_signals(sigset_t *ret_set)
{
    static const int numbers[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
                                   SIGCONT, SIGUSR1, SIGUSR2, SIGCHLD };

    sigemptyset(ret_set);
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        sigaddset(ret_set, numbers[i]);
    }
}

uint64_t sx_run_job_files(const struct sx_run_options *options)
{
    /* A rank: two pipes here, a third while it starts or when all read the input; in the server a
     * socket, its process, its lane and its bell, which a connection may hold twice a moment.  All
     * that is not a rank's are 27; the rest is for tools and for what stores grow by. */
    const uint64_t a_rank = 6 + (options->stdin_mode == SX_RUN_STDIN_ALL);

    return 40 + a_rank * options->rank_count;
}

/* ---- starting -------------------------------------------------------------------------------- */

static uint32_t *pid_slot(struct sx_run_state *job, pid_t pid)
{
    uint32_t at = (uint32_t)pid * UINT32_C(2654435761);

    for (;; at++) {
        uint32_t *slot = &job->rank_of_pid[at & job->rank_of_pid_mask];

        /* A number may come again after its first bearer was reaped. */
        if (*slot == 0 || (job->ranks[*slot - 1].pid == pid && job->ranks[*slot - 1].alive)) {
            return slot;
        }
    }
}

static bool input_goes_to(const struct sx_run_options *options, uint32_t rank)
{
    return options->stdin_mode == SX_RUN_STDIN_ALL ||
           (options->stdin_mode == SX_RUN_STDIN_RANK && options->stdin_rank == rank);
}

static char *tag_for(const struct sx_run_state *job, uint32_t rank, int which)
{
    if (!job->setup->options->tag_output) {
        return NULL;
    }
    return sx_cli_printf("[%s,%u]<%s>: ", job->setup->nspace, rank,
                         which == 0 ? "stdout" : "stderr");
}

/* The launcher's end does not block, the rank's does.  Return: 0 or errno. */
static int pipe_make(int pair[2], int own)
{
    if (pipe2(pair, O_CLOEXEC) != 0) {
        return errno;
    }
    fcntl(pair[own], F_SETFL, O_NONBLOCK);
    return 0;
}

/* Make the three descriptors of @rank in @fds and keep the other ends.  Return: 0 or errno. */
static int connect_rank(struct sx_run_state *job, uint32_t rank, int fds[3])
{
    const struct sx_run_options *options = job->setup->options;
    int why = 0, pair[2];

    fds[0] = fds[1] = fds[2] = -1;
    if (input_goes_to(options, rank)) {
        why = pipe_make(pair, 1);
        if (why == 0) {
            fds[0] = pair[0];
            sx_run_input_add(&job->input, pair[1]);
        }
    } else {
        fds[0] = fcntl(job->null_fd, F_DUPFD_CLOEXEC, 3);
        why = fds[0] < 0 ? errno : 0;
    }
    for (int i = 0; i < 2 && why == 0; i++) {
        why = pipe_make(pair, 0);
        if (why == 0) {
            fds[i + 1] = pair[1];
            why = sx_run_stream_init(&job->ranks[rank].streams[i], job->sink_of[i], pair[0],
                                     tag_for(job, rank, i), options->rank_count == 1);
        }
    }
    return why;
}

static const struct sx_run_program *program_of(const struct sx_run_state *job, uint32_t rank)
{
    const struct sx_run_options *options = job->setup->options;

    return &job->setup->programs[sx_run_options_app(options, rank) - options->apps];
}

static void say_binding(struct sx_run_state *job, uint32_t rank)
{
    const struct sx_run_job_setup *setup = job->setup;
    char *line;

    if (setup->options->display_bindings) {
        line = sx_run_display_binding(setup->options, setup->machine, rank, job->ranks[rank].pid);
        sx_run_say(job, "%s", line);
        free(line);
    }
}

static void spawn_one(struct sx_run_state *job)
{
    const uint32_t rank = job->spawned;
    const struct sx_run_program *program = program_of(job, rank);
    char **env = sx_run_env_copy(program->env), message[SX_RUN_MESSAGE_MAX];
    pid_t pid = -1;
    int fds[3], why;

    job->spawned++;
    sx_run_env_put_rank(&env, rank);
    why = connect_rank(job, rank, fds);
    if (why != 0) {
        sx_run_end(job, SX_EXIT_FAILURE, SIGTERM, SX_RUN_GRACE_NS,
                   "cannot start rank %u: no pipes: %s", rank, strerror(why));
    } else if (!sx_run_host_setup_fork(job->setup->host, rank, &env, message)) {
        sx_run_end(job, SX_EXIT_FAILURE, SIGTERM, SX_RUN_GRACE_NS, "%s", message);
    } else {
        sx_run_foreign_env(&job->foreign, &env);
        const struct sx_run_spawn_rank start = {
            .rank = rank,
            .program = program,
            .place = &job->setup->machine->places[rank],
            .env = env,
            .fds = fds,
        };

        pid = sx_run_spawn_rank(&job->spawn, &start);
        if (pid < 0) {
            why = errno;
            sx_run_end(job, SX_EXIT_FAILURE, SIGTERM, SX_RUN_GRACE_NS,
                       "cannot start rank %u: fork: %s%s", rank, strerror(why),
                       why == EAGAIN ? "; the limit of processes is reached (see ulimit -u)" : "");
        }
    }
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    if (pid > 0) {
        job->ranks[rank].pid = pid;
        job->ranks[rank].alive = true;
        job->alive++;
        *pid_slot(job, pid) = rank + 1;
        say_binding(job, rank);
    }
    sx_run_env_free(env);
}

static void spawn_some(struct sx_run_state *job)
{
    for (int i = 0; i < SPAWNS_A_TURN && sx_run_starting(job); i++) {
        if (job->ranks[job->spawned].unwanted) {
            job->spawned++; /* an abort was faster */
        } else {
            spawn_one(job);
        }
    }
    if (!sx_run_starting(job) && job->spawn.report_fd >= 0) {
        close(job->spawn.report_fd); /* the last rank's exec ends the reports */
        job->spawn.report_fd = -1;
        sx_run_input_start(&job->input);
    }
}

/* ---- what the loop hears --------------------------------------------------------------------- */

static void report_read(void *arg, uint32_t events)
{
    static const char *const stages[] = { "redirect", "bind it to its CPUs", "enter --wdir",
                                          "execute" };
    struct sx_run_state *job = arg;
    struct sx_run_spawn_failure failure;
    const int fd = job->reports.fd;
    ssize_t got;

    (void)events;
    if (fd < 0) {
        return;
    }
    while ((got = read(fd, &failure, sizeof(failure))) == (ssize_t)sizeof(failure)) {
        const char *stage = failure.stage < SX_COUNT(stages) ? stages[failure.stage] : "start";
        const struct sx_run_program *program = program_of(job, failure.rank);

        sx_run_end(job,
                   failure.stage != SX_RUN_SPAWN_EXEC ? SX_EXIT_FAILURE
                   : failure.error == ENOENT          ? SX_EXIT_NOT_FOUND
                                                      : SX_EXIT_NOT_EXECUTABLE,
                   SIGTERM, SX_RUN_GRACE_NS, "cannot start rank %u: could not %s '%s': %s%s",
                   failure.rank, stage,
                   failure.stage == SX_RUN_SPAWN_WDIR ? program->wdir : program->path,
                   strerror(failure.error),
                   failure.stage == SX_RUN_SPAWN_EXEC && failure.error == ENOENT
                       ? " (is the interpreter that its first line names installed?)"
                       : "");
    }
    if (got == 0) {
        sx_run_loop_remove(&job->loop, &job->reports);
        close(fd);
    }
}

static void news_read(void *arg, uint32_t events)
{
    (void)events;
    sx_run_failure_news(arg);
}

/* Its last words come before the message about its death. */
static void streams_drain(struct sx_run_state *job, uint32_t rank)
{
    for (int i = 0; i < 2; i++) {
        struct sx_run_stream *stream = &job->ranks[rank].streams[i];
        size_t total = 0, got = 1;

        while (stream->watch.fd >= 0 && !stream->sink->paused && got > 0 &&
               total < DRAIN_BYTES_MAX) {
            got = sx_run_stream_read(stream);
            total += got;
        }
    }
}

static void rank_ended(struct sx_run_state *job, uint32_t rank, const siginfo_t *info)
{
    const bool good = info->si_code == CLD_EXITED && info->si_status == 0 &&
                      !sx_run_host_is_client(job->setup->host, rank);

    kill(-info->si_pid, SIGKILL);
    sx_janitor_group_remove(job->setup->janitor, info->si_pid);
    waitpid(info->si_pid, NULL, 0);
    job->ranks[rank].alive = false;
    job->alive--;
    if (!good && !job->ending) {
        streams_drain(job, rank);
    }
    sx_run_failure_rank_ended(job, rank, info, good);
}

static void reap(struct sx_run_state *job)
{
    struct sx_janitor *janitor = job->setup->janitor;

    /* Why a rank ended may lie in these; then its death is a consequence. */
    report_read(job, 0);
    sx_run_failure_news(job);
    for (;;) {
        siginfo_t info = { 0 };
        uint32_t *slot;

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
            return;
        }
        slot = pid_slot(job, info.si_pid);
        if (*slot != 0) {
            rank_ended(job, *slot - 1, &info);
            continue;
        }
        waitpid(info.si_pid, NULL, 0);
        if (info.si_pid == janitor->pid) {
            janitor->pid = 0; /* somebody killed it; the job goes on without */
        }
    }
}

/* Stop with the ranks; the clock of the job's deadlines stands meanwhile. */
static void stop(struct sx_run_state *job)
{
    const uint64_t begin_ns = sx_now_ns();
    uint64_t stopped_ns;

    sx_run_signal(job, SIGTSTP);
    raise(SIGSTOP);
    stopped_ns = sx_now_ns() - begin_ns;
    job->kill_ns = sx_deadline_ns(job->kill_ns, stopped_ns);
    job->term_ns = sx_deadline_ns(job->term_ns, stopped_ns);
    job->timeout_ns = sx_deadline_ns(job->timeout_ns, stopped_ns);
    job->unwanted_ns = sx_deadline_ns(job->unwanted_ns, stopped_ns);
    sx_run_signal(job, SIGCONT);
    sx_run_input_start(&job->input);
}

static void handle_signal(struct sx_run_state *job, int number)
{
    switch (number) {
    case SIGCHLD:
        reap(job);
        break;
    case SIGTSTP:
        stop(job);
        break;
    case SIGCONT:
        sx_run_signal(job, SIGCONT);
        sx_run_input_start(&job->input);
        break;
    case SIGUSR1:
    case SIGUSR2:
        sx_run_signal(job, number);
        break;
    case SIGHUP:
        if (job->setup->keep_hup_ignored) {
            break;
        }
        /* fall through */
    default:
        if (job->term_ns != SX_DEADLINE_NEVER) {
            sx_run_end_handled(job); /* the user does not wait for handlers */
        } else if (job->ending) {
            job->give_up = job->give_up || job->alive == 0;
            sx_run_kill(job);
        }
        job->drain_ns = sx_deadline_ns(sx_now_ns(), SX_RUN_SIGNAL_GRACE_NS + SX_RUN_GRACE_NS);
        sx_run_end(job, SX_RUN_EXIT_SIGNAL + number, number, SX_RUN_SIGNAL_GRACE_NS,
                   "got signal %d (%s); ending the job (once more: at once)", number,
                   strsignal(number));
        break;
    }
}

static void signals_read(void *arg, uint32_t events)
{
    struct sx_run_state *job = arg;
    struct signalfd_siginfo info;

    (void)events;
    while (read(job->signals.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        handle_signal(job, (int)info.ssi_signo);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void check_sinks(struct sx_run_state *job)
{
    for (int i = 0; i < 2; i++) {
        const int why = job->sink_of[i]->error;

        if (why == 0 || job->ending) {
            continue;
        }
        sx_run_end(job, why == EPIPE ? SX_RUN_EXIT_SIGNAL + SIGPIPE : SX_EXIT_FAILURE, SIGTERM,
                   SX_RUN_GRACE_NS, "cannot write to %s: %s; ending the job",
                   i == 0 ? "stdout" : "stderr",
                   why == EPIPE ? "its reader has gone" : strerror(why));
    }
}

static void check_deadlines(struct sx_run_state *job)
{
    const uint64_t now_ns = sx_now_ns();

    if (now_ns >= job->term_ns || now_ns >= job->timeout_ns) {
        sx_run_end_handled(job); /* or not: they have had their time */
    }
    if (job->ending && now_ns >= job->kill_ns) {
        sx_run_kill(job);
    }
    sx_run_failure_check(job, now_ns);
    if (now_ns >= job->timeout_ns) {
        sx_run_end(job, SX_RUN_EXIT_TIMEOUT, SIGTERM, SX_RUN_GRACE_NS,
                   "the job has not ended within %.10g s (--timeout); ending it",
                   (double)job->setup->options->timeout_ns / 1e9);
        job->timeout_ns = SX_DEADLINE_NEVER;
        job->drain_ns = sx_deadline_ns(now_ns, SX_RUN_SIGNAL_GRACE_NS);
    }
}

/* Milliseconds to @deadline_ns, rounded up; -1: there is none. */
static int ms_until(uint64_t deadline_ns)
{
    const uint64_t now_ns = sx_now_ns();
    uint64_t ms;

    if (deadline_ns == SX_DEADLINE_NEVER) {
        return -1;
    }
    ms = deadline_ns <= now_ns ? 0 : (deadline_ns - now_ns + SX_NS_PER_MS - 1) / SX_NS_PER_MS;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static int wait_ms(const struct sx_run_state *job)
{
    if (sx_run_starting(job)) {
        return 0;
    }
    const uint64_t failure_ns = sx_run_failure_deadline_ns(job);
    uint64_t until_ns = job->timeout_ns < job->term_ns ? job->timeout_ns : job->term_ns;

    if (job->ending && !job->killed && job->kill_ns < until_ns) {
        until_ns = job->kill_ns;
    }
    return ms_until(failure_ns < until_ns ? failure_ns : until_ns);
}

static void run_loop(struct sx_run_state *job)
{
    while (job->alive > 0 || sx_run_starting(job)) {
        spawn_some(job);
        sx_run_loop_turn(&job->loop, wait_ms(job));
        check_sinks(job);
        check_deadlines(job);
    }
    report_read(job, 0);
}

/* Wait for room in a sink, but not longer than the user who wants to be rid of the job. */
static void drain_turn(struct sx_run_state *job)
{
    const uint64_t until_ns = job->drain_ns < job->timeout_ns ? job->drain_ns : job->timeout_ns;

    sx_run_loop_turn(&job->loop, ms_until(until_ns));
    check_sinks(job);
    check_deadlines(job);
    if (sx_now_ns() >= job->drain_ns) {
        job->give_up = true;
    }
}

static void drain_stream(struct sx_run_state *job, struct sx_run_stream *stream)
{
    size_t total = 0, got = 1;

    while (stream->watch.fd >= 0 && got > 0 && total < DRAIN_BYTES_MAX && !job->give_up) {
        if (stream->sink->paused) {
            drain_turn(job);
        } else {
            got = sx_run_stream_read(stream);
            total += got;
        }
    }
    sx_run_stream_deinit(stream);
}

/* The ranks are gone: take what their pipes hold, and wait until it has been taken from us.  A
 * descendant that left its group may hold a pipe open; its further output is not waited for. */
static void drain(struct sx_run_state *job)
{
    for (uint32_t rank = 0; rank < job->spawned; rank++) {
        drain_stream(job, &job->ranks[rank].streams[0]);
        drain_stream(job, &job->ranks[rank].streams[1]);
    }
    while (!job->give_up && (job->sink_of[0]->armed || job->sink_of[1]->armed)) {
        drain_turn(job);
    }
    check_sinks(job);
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool same_file(int a, int b)
{
    struct stat first, second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Return: 0 or errno. */
static int watch(struct sx_run_state *job, struct sx_run_watch *at, int fd,
                 void (*fn)(void *, uint32_t))
{
    *at = (struct sx_run_watch){ .fd = fd, .fn = fn, .arg = job };
    return sx_run_loop_add(&job->loop, at, EPOLLIN);
}

static int job_open(struct sx_run_state *job)
{
    const bool one_sink = same_file(STDOUT_FILENO, STDERR_FILENO);
    int reports[2], why;

    if ((why = sx_run_loop_init(&job->loop)) != 0 ||
        (why = sx_run_sink_init(&job->sinks[0], &job->loop, STDOUT_FILENO)) != 0 ||
        (!one_sink && (why = sx_run_sink_init(&job->sinks[1], &job->loop, STDERR_FILENO)) != 0)) {
        return why;
    }
    job->sink_of[0] = &job->sinks[0];
    job->sink_of[1] = one_sink ? &job->sinks[0] : &job->sinks[1];
    job->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (job->null_fd < 0 || pipe2(reports, O_CLOEXEC) != 0) {
        return errno;
    }
    job->spawn.report_fd = reports[1];
    fcntl(reports[0], F_SETFL, O_NONBLOCK);
    why = watch(job, &job->reports, reports[0], report_read);
    if (why != 0) {
        close(reports[0]);
        job->reports.fd = -1;
    }
    if (why == 0 && (why = watch(job, &job->signals, job->setup->signal_fd, signals_read)) == 0) {
        why = watch(job, &job->news, job->setup->host->event_fd, news_read);
    }
    if (why == 0) {
        why = sx_run_foreign_init(&job->foreign, &job->loop, job->setup->nspace,
                                  job->setup->lib_dir);
    }
    return why;
}

static void job_init(struct sx_run_state *job, const struct sx_run_job_setup *setup)
{
    const struct sx_run_options *options = setup->options;
    const uint32_t count = options->rank_count;

    *job = (struct sx_run_state){ .setup = setup, .loop = SX_RUN_LOOP_NULL, .null_fd = -1 };
    job->reports.fd = job->signals.fd = job->news.fd = -1;
    job->ranks = sx_cli_calloc(count, sizeof(*job->ranks));
    for (uint32_t i = 0; i < count; i++) {
        job->ranks[i].streams[0].watch.fd = job->ranks[i].streams[1].watch.fd = -1;
    }
    job->rank_of_pid_mask = 1;
    while (job->rank_of_pid_mask < 4 * count) {
        job->rank_of_pid_mask *= 2;
    }
    job->rank_of_pid = sx_cli_calloc(job->rank_of_pid_mask, sizeof(*job->rank_of_pid));
    job->rank_of_pid_mask--;
    job->spawn = (struct sx_run_spawn){ .files = setup->files,
                                        .keep_hup_ignored = setup->keep_hup_ignored,
                                        .report_fd = -1,
                                        .launcher = getpid(),
                                        .janitor = setup->janitor };
    job->timeout_ns = options->timeout_ns == 0 ? SX_DEADLINE_NEVER
                                               : sx_deadline_ns(sx_now_ns(), options->timeout_ns);
    job->drain_ns = job->term_ns = SX_DEADLINE_NEVER;
    job->loss_awaited = UINT32_MAX;
    sx_run_failure_init(job);
    if (gethostname(job->host, sizeof(job->host) - 1) != 0) {
        snprintf(job->host, sizeof(job->host), "localhost");
    }
}

static void job_deinit(struct sx_run_state *job)
{
    const uint32_t count = job->setup->options->rank_count;

    sx_run_failure_deinit(job);
    for (uint32_t i = 0; i < count; i++) {
        sx_run_stream_deinit(&job->ranks[i].streams[0]);
        sx_run_stream_deinit(&job->ranks[i].streams[1]);
    }
    sx_run_input_deinit(&job->input);
    sx_run_foreign_deinit(&job->foreign);
    sx_run_sink_deinit(&job->sinks[0]);
    sx_run_sink_deinit(&job->sinks[1]);
    if (job->reports.fd >= 0) {
        close(job->reports.fd);
    }
    if (job->null_fd >= 0) {
        close(job->null_fd);
    }
    if (job->spawn.report_fd >= 0) {
        close(job->spawn.report_fd);
    }
    sx_run_loop_deinit(&job->loop);
    free(job->rank_of_pid);
    free(job->ranks);
}

int sx_run_job(const struct sx_run_job_setup *setup)
{
    struct sx_run_state job;
    int why;

    job_init(&job, setup);
    why = job_open(&job);
    if (why != 0) {
        sx_say("cannot start: %s", strerror(why));
        job_deinit(&job);
        return SX_EXIT_FAILURE;
    }
    if (setup->options->stdin_mode != SX_RUN_STDIN_NONE) {
        sx_run_input_init(&job.input, &job.loop, STDIN_FILENO, setup->options->rank_count);
    }
    run_loop(&job);
    drain(&job);
    job_deinit(&job);
    return job.code;
}
