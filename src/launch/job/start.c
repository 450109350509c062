/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* start.c - descriptors, an environment and a process for each rank.
 *
 * An error between fork and exec is reported through one pipe for all ranks.  When the last rank
 * has been started, the launcher closes its end, and the last exec ends the pipe. */
#include "launch/job/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/util.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"
#include "launch/job/record.h"
#include "launch/place/device_probe.h"
#include "launch/place/display.h"
#include "launch/place/program.h"
#include "launch/pmi/pmi1.h"
#include "launch/stdio/forward.h"
#include "launch/stdio/input.h"
#include "launch/stdio/pty.h"

#define STARTS_A_TURN 8
#define STARTS_NS (2 * SX_NS_PER_MS) /* further ones are for the next turn */
#define TERMINALS_MAX 1024           /* ranks; the kernel has 4096 for all users of the machine */
#define RANK_FDS 4                   /* the standard ones, and PMI_FD */

static const char *const stream_names[] = { "stdout", "stderr" };

/* ---- which process is a rank's --------------------------------------------------------------- */

void sx_run_bearer_add(struct sx_run_state *run, struct sx_run_rank *rank)
{
    if (!sx_table_add(&run->by_pid, &rank->node, (uint64_t)rank->pid)) {
        sx_cli_no_memory();
    }
}

void sx_run_bearer_remove(struct sx_run_state *run, struct sx_run_rank *rank)
{
    sx_table_remove(&run->by_pid, &rank->node);
}

struct sx_run_rank *sx_run_bearer(const struct sx_run_state *run, pid_t pid)
{
    struct sx_table_node *const node = sx_table_first(&run->by_pid, (uint64_t)pid);

    return node == NULL ? NULL : SX_LIST_ENTRY(node, struct sx_run_rank, node);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

uint64_t sx_run_files(const struct sx_run_options *options, uint32_t job_count)
{
    /* Descriptors.  A rank takes two pipes and a socket here.  It takes a further pipe while it
     * starts or when all ranks read the input, and two files for its output.  In the server it
     * takes a socket, its process, its lane and its bell, which a connection may hold twice for a
     * moment.  A job takes its store and its ring, both also for readers.  One job without its
     * ranks takes 23 with that; the rest is for tools and for the growth of stores. */
    const uint64_t a_rank = 7 + (options->stdin_mode == SX_RUN_STDIN_ALL) +
                            2 * sx_run_files_wanted(&options->output);

    return 36 + 4 * (uint64_t)job_count + a_rank * options->rank_count;
}

/* By all jobs that live. */
static uint64_t files_needed(const struct sx_run_state *run)
{
    const struct sx_run_options all = { .rank_count = sx_run_jobs_places(run->jobs),
                                        .stdin_mode = run->setup->options->stdin_mode,
                                        .output = run->setup->options->output };

    return sx_run_files(&all, run->jobs->count);
}

static bool input_goes_to(const struct sx_run_options *options, uint32_t place)
{
    return options->stdin_mode == SX_RUN_STDIN_ALL ||
           (options->stdin_mode == SX_RUN_STDIN_RANK && options->stdin_rank == place);
}

/* The launcher's end does not block, the rank's end does.  Return: 0 or errno. */
static int pipe_make(int pair[2], int own)
{
    if (pipe2(pair, O_CLOEXEC) != 0) {
        return errno;
    }
    fcntl(pair[own], F_SETFL, O_NONBLOCK);
    return 0;
}

/* With one process, its output need not be distinguished from any other. */
static bool run_is_alone(const struct sx_run_state *run)
{
    return run->jobs->count == 1 && run->jobs->at[0]->rank_count == 1;
}

/* The job continues.  That output was lost decides the exit code, unless a rank has failed. */
static void file_failed(void *arg, const struct sx_run_file *file)
{
    struct sx_run_state *const run = arg;

    run->output_lost = true;
    sx_run_say_caused(run, "cannot write to '%.300s': %s; what comes for it is lost", file->path,
                      strerror(file->error));
}

/* The file for stream @which, if files are wanted.  Return: false with one line in @message. */
static bool file_for(struct sx_run_job *job, uint32_t rank, int which, char *message,
                     struct sx_run_file **ret_file)
{
    const struct sx_output_options *const output = &job->options->output;
    const struct sx_run_file_of of = { .nspace = job->nspace,
                                       .host = job->run->host,
                                       .stream = stream_names[which],
                                       .rank = rank,
                                       .job = job->request == NULL ? job->number + 1 : 0,
                                       .goes_on = job->ranks[rank].restarts > 0 };
    struct sx_run_file *file = job->ranks[rank].streams[0].source.file;

    if (!sx_run_files_wanted(output)) {
        return true;
    }
    if (which > 0 && (output->merge || output->rank_file != NULL)) {
        file->reference_count++;
    } else {
        file = sx_run_file_open(output, &of, message, SX_RUN_MESSAGE_MAX);
    }
    if (file == NULL) {
        return false;
    }
    file->failed = file_failed;
    file->arg = job->run;
    *ret_file = file;
    return true;
}

/* Take over @fd, the reading end of the stream's pipe.  Return: 0 or errno. */
static int connect_stream(struct sx_run_job *job, uint32_t rank, int which, int fd,
                          struct sx_run_file *file)
{
    struct sx_run_state *const run = job->run;
    const struct sx_output_options *const output = &job->options->output;
    const struct sx_run_source source = {
        .nspace = job->nspace,
        .host = run->host,
        .name = stream_names[which],
        .channel = which == 0 ? PMIX_FWD_STDOUT_CHANNEL : PMIX_FWD_STDERR_CHANNEL,
        .taker = &sx_run_forward_taker,
        .rank = rank,
        .pid = &job->ranks[rank].pid,
        .marks = &output->marks,
        .terminal = isatty(fd) == 1,
        .raw = output->raw || run_is_alone(run) || job->ranks[rank].at_terminal,
        .file = file,
        .file_shared = sx_run_files_shared(output),
        .file_only = output->file_only
    };

    struct sx_run_stream *const stream = &job->ranks[rank].streams[which];
    const int why = sx_run_stream_init(stream, run->sink_of[output->merge ? 0 : which], fd,
                                       &source);

    if (why == 0) {
        sx_run_forward_begin(stream, (output->forwards & source.channel) != 0);
    }
    return why;
}

/* Whether stream @which is to be a terminal when the job's own request says nothing. */
static bool terminal_suits(const struct sx_run_job *job, uint32_t rank, int which)
{
    const struct sx_run_state *const run = job->run;
    const enum sx_run_terminal said = run->setup->options->terminal;

    if (run->no_terminal != 0 || job->first + rank >= TERMINALS_MAX) {
        return false;
    }
    switch (said) {
    case SX_RUN_TERMINAL_ALL:
        return true;
    case SX_RUN_TERMINAL_YES:
        return which == 0;
    case SX_RUN_TERMINAL_BY_READER:
        return which == 0 && (run->terminals_suit || sx_marks_any(&job->options->output.marks));
    default:
        return false;
    }
}

static void no_terminal_say(struct sx_run_state *run, int why)
{
    const bool wanted = run->setup->options->terminal >= SX_RUN_TERMINAL_YES;

    run->no_terminal = why;
    if (wanted || sx_log_wants(SX_LOG_INFO)) {
        sx_run_say(run,
                   "no terminals (kernel.pty.max, /dev/ptmx): %s; the ranks' output goes through "
                   "pipes, in which programs keep it until they have some KiB",
                   strerror(why));
    }
}

/* Make the end that a rank writes to, and the end that is read here.  Return: 0 or errno. */
static int output_make(const struct sx_run_job *job, uint32_t rank, int which, int pair[2])
{
    static const struct sx_launch_options nothing;
    const struct sx_launch_options *const said = job->request == NULL ? &nothing
                                                                      : &job->request->said;

    if (said->pty == SX_SAID_YES) {
        return sx_run_pty_open(pair, said->pty_termio, said->pty_size);
    }
    if (said->pty == SX_SAID_NOTHING && terminal_suits(job, rank, which)) {
        const int why = sx_run_pty_open(pair, NULL, NULL);

        if (why == 0) {
            return 0;
        }
        no_terminal_say(job->run, why);
    }
    return pipe_make(pair, 0);
}

static bool no_pipes(int why, char *message)
{
    snprintf(message, SX_RUN_MESSAGE_MAX, "no pipes (pipe2): %s%s", strerror(why),
             why == EMFILE ? "; raise the limit of open files (ulimit -n)"
                           : sx_refused_advice(why));
    return false;
}

static bool connect_output(struct sx_run_job *job, uint32_t rank, int fds[3], char *message)
{
    int why = 0, pair[2];

    for (int i = 0; i < 2 && why == 0; i++) {
        struct sx_run_file *file = NULL;

        if (!file_for(job, rank, i, message, &file)) {
            return false;
        }
        why = output_make(job, rank, i, pair);
        if (why == 0) {
            fds[i + 1] = pair[1];
            why = connect_stream(job, rank, i, pair[0], file);
        } else {
            sx_run_file_release(file);
        }
    }
    return why == 0 || no_pipes(why, message);
}

/* Take @fd over.  The launcher's own input is for the command line's jobs. */
static void connect_input(struct sx_run_job *job, uint32_t rank, int fd)
{
    if (job->request == NULL) {
        sx_run_input_add(&job->run->input, fd);
    } else {
        job->ranks[rank].feed = sx_run_feed_new(&job->run->loop, fd);
    }
}

/* One terminal is all three of @fds.  Return: 0 or errno. */
static int terminal_open(int fds[3], int *ret_output, int *ret_input)
{
    int pair[2], why = sx_run_pty_open_whole(pair);

    if (why != 0) {
        return why;
    }
    fds[0] = pair[1];
    fds[1] = fcntl(pair[1], F_DUPFD_CLOEXEC, 0);
    fds[2] = fcntl(pair[1], F_DUPFD_CLOEXEC, 0);
    *ret_input = fcntl(pair[0], F_DUPFD_CLOEXEC, 0);
    *ret_output = pair[0];
    if (fds[1] < 0 || fds[2] < 0 || *ret_input < 0) {
        why = errno;
        close(pair[0]);
        if (*ret_input >= 0) {
            close(*ret_input);
        }
    }
    return why;
}

static bool connect_terminal(struct sx_run_job *job, uint32_t rank, int fds[3], char *message)
{
    struct sx_run_file *file = NULL;
    int why, output, input;

    if (!file_for(job, rank, 0, message, &file)) {
        return false;
    }
    why = terminal_open(fds, &output, &input);
    if (why != 0) {
        sx_run_file_release(file);
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "no terminal for --pty (kernel.pty.max, /dev/ptmx): %s", strerror(why));
        return false;
    }
    job->ranks[rank].at_terminal = true;
    job->run->at_terminal++;
    connect_input(job, rank, input);
    why = connect_stream(job, rank, 0, output, file);
    return why == 0 || no_pipes(why, message);
}

/* Make the three descriptors of @rank in @fds and keep the other ends; null_fd stays shared.
 * Return: false with one line in @message. */
static bool connect_rank(struct sx_run_job *job, uint32_t rank, int fds[3], char *message)
{
    struct sx_run_state *const run = job->run;
    const struct sx_run_options *const options = job->options;
    int why = 0, pair[2];

    if (job->ranks[rank].restarts == 0 &&
        input_goes_to(options, job->request == NULL ? job->first + rank : rank)) {
        if (job->request == NULL && options->terminal == SX_RUN_TERMINAL_ALL) {
            return connect_terminal(job, rank, fds, message);
        }
        why = pipe_make(pair, 1);
        if (why == 0) {
            fds[0] = pair[0];
            connect_input(job, rank, pair[1]);
        }
    } else {
        fds[0] = run->null_fd;
    }
    return why == 0 ? connect_output(job, rank, fds, message) : no_pipes(why, message);
}

static void reports_ready(void *arg, uint32_t revents, uint64_t now_ns);

/* ---- one rank -------------------------------------------------------------------------------- */

static struct sx_run_program *program_of(const struct sx_run_job *job, uint32_t rank)
{
    return &job->programs[sx_run_job_app(job, rank) - job->apps];
}

static void say_binding(struct sx_run_job *job, uint32_t rank)
{
    const struct sx_run_display display = { job->options, job->run->setup->machine,
                                            job->run->host };

    if (job->options->display.bindings) {
        sx_run_display_say(&display, job->run,
                           sx_run_display_binding(&display, job, rank, job->ranks[rank].pid));
    }
}

static void rank_started(struct sx_run_job *job, uint32_t rank, pid_t pid)
{
    job->ranks[rank].job = job;
    job->ranks[rank].pid = pid;
    job->ranks[rank].alive = true;
    job->ranks[rank].killed_ns = 0;
    sx_run_record_started(&job->ranks[rank]);
    job->alive++;
    sx_run_bearer_add(job->run, &job->ranks[rank]);
    sx_run_traced_watch(&job->ranks[rank], files_needed(job->run));
    sx_log(SX_LOG_DEBUG, "rank %u of %s starts: pid %ld, %s", rank, job->nspace, (long)pid,
           program_of(job, rank)->path);
    say_binding(job, rank);
    if (job->ranks[rank].restarts == 0 && sx_run_debugger_is_first(job, rank)) {
        sx_run_debugger_start(job, rank);
    } else if (job->ranks[rank].restarts == 0 && job->options->stop_on_exec) {
        sx_run_say_of(
            job,
            "%srank %u (pid %ld) is stopped before its first instruction: attach with 'gdb "
            "-p %ld', or let it go on with 'kill -CONT %ld' (all: shmix ctl resume %s)",
            job->prefix, rank, (long)pid, (long)pid, (long)pid, job->nspace);
    }
}

/* A process that is not an ancestor of the rank may want to read its stack. */
static bool is_traced(const struct sx_run_job *job, uint32_t rank)
{
    const struct sx_run_options *const options = job->options;

    return options->stop_on_exec || options->stop_in_init || options->stop_in_app ||
           options->report_stacks || sx_run_debugger_is_wanted(job, rank);
}

static bool stops_on_exec(const struct sx_run_job *job, uint32_t rank)
{
    return job->options->stop_on_exec || sx_run_debugger_is_first(job, rank) ||
           (job->request != NULL && sx_run_request_stops(job->request->said.stop_on_exec, rank));
}

/* The words of @rank's program, with the rank's number appended to the first one, which is
 * malloc'ed. */
static char **argv_indexed(const struct sx_run_job *job, uint32_t rank)
{
    char *const *const words = program_of(job, rank)->argv;
    size_t count = 1;

    while (words[count] != NULL) {
        count++;
    }
    char **const argv = sx_cli_calloc(count + 1, sizeof(*argv));

    memcpy(argv, words, count * sizeof(*argv));
    argv[0] = sx_cli_printf("%s-%u", words[0], rank);
    return argv;
}

static void rank_fork(struct sx_run_job *job, uint32_t rank, char **env, const int fds[RANK_FDS])
{
    char **const indexed = sx_run_job_app(job, rank)->index_argv ? argv_indexed(job, rank) : NULL;
    const struct sx_run_spawn_rank start = {
        .job = job->number,
        .rank = rank,
        .program = program_of(job, rank),
        .argv = indexed == NULL ? program_of(job, rank)->argv : indexed,
        .place = &job->places[rank],
        .env = env,
        .fds = fds,
        .pmi1_fd = fds[3],
        .at_terminal = job->ranks[rank].at_terminal,
        .is_traced = is_traced(job, rank),
        .apart = job->request != NULL,
        .stops = job->ranks[rank].restarts == 0 && stops_on_exec(job, rank),
    };
    struct sx_run_spawn spawn = job->run->spawn;

    spawn.report_fd = job->report_fd;
    const pid_t pid = sx_run_spawn_rank(&spawn, &start);
    const int why = errno;

    if (indexed != NULL) {
        free(indexed[0]);
        free(indexed);
    }
    if (pid < 0) {
        sx_run_end(job, SX_EXIT_FAILURE, "cannot start %srank %u: fork: %s%s", job->prefix, rank,
                   strerror(why),
                   why == EAGAIN ? "; the limit of processes is reached (see ulimit -u)" : "");
    } else {
        job->ranks[rank].stops = start.stops && start.apart;
        job->stops += job->ranks[rank].stops;
        rank_started(job, rank, pid);
    }
}

void sx_run_start_stops(struct sx_run_job *job)
{
    for (uint32_t i = 0; job->stops > 0 && i < job->spawned; i++) {
        struct sx_run_rank *const rank = &job->ranks[i];

        if (rank->stops && sx_run_spawn_has_stopped(rank->pid)) {
            rank->stops = false;
            job->stops--;
        }
    }
    if (job->stops == 0 && job->started_unnotified) {
        job->started_unnotified = false;
        job->run->acts->started(job);
    }
}

/* The server's variables are the same for all ranks of a program, but for the rank itself. */
static bool program_serve(struct sx_run_job *job, uint32_t rank, char *message)
{
    struct sx_run_program *const program = program_of(job, rank);

    if (!program->is_served) {
        program->is_served = sx_run_host_setup_fork(job, rank, &program->env, message);
        sx_run_foreign_env(&job->run->foreign, &program->env);
    }
    return program->is_served;
}

/* The rank's own variables, before its connections are made. */
static char **own_env(const struct sx_run_job *job, uint32_t rank)
{
    char **env = sx_cli_calloc(1, sizeof(*env));

    sx_run_env_put_rank(&env, rank, job->first + rank);
    sx_run_env_put_number(&env, "PMIX_RANK", rank);
    return env;
}

/* Return: 0 or errno. */
static int reports_open(struct sx_run_job *job)
{
    int reports[2];

    if (pipe2(reports, O_CLOEXEC) != 0) {
        return errno;
    }
    fcntl(reports[0], F_SETFL, O_NONBLOCK);
    job->report_fd = reports[1];
    job->reports = (struct sx_poll){ .fd = reports[0], .fn = reports_ready, .arg = job };
    return sx_run_watch(&job->run->loop, &job->reports, POLLIN);
}

void sx_run_start_rank(struct sx_run_job *job, uint32_t rank)
{
    char **own = own_env(job, rank), message[SX_RUN_MESSAGE_MAX];
    int fds[RANK_FDS] = { -1, -1, -1, -1 }, why;

    why = job->report_fd < 0 ? reports_open(job) : 0;
    if (why == 0) {
        why = sx_run_pmi1_connect(job, rank, &own, &fds[3]);
    }
    if (why != 0) {
        no_pipes(why, message);
    }
    if (why != 0 || !connect_rank(job, rank, fds, message)) {
        sx_run_end_fate(job, PMIX_ERR_JOB_SYS_OP_FAILED);
        sx_run_end(job, SX_EXIT_FAILURE, "cannot start %srank %u: %s", job->prefix, rank, message);
    } else if (!program_serve(job, rank, message)) {
        sx_run_end(job, SX_EXIT_FAILURE, "%s", message);
    } else {
        char **const env = sx_run_env_join(program_of(job, rank)->env, own);

        rank_fork(job, rank, env, fds);
        free(env);
    }
    for (int i = 0; i < RANK_FDS; i++) {
        if (fds[i] >= 0 && fds[i] != job->run->null_fd) {
            close(fds[i]);
        }
    }
    sx_run_env_free(own);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Return: NULL when no job is starting. */
static struct sx_run_job *next_job(const struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        if (sx_run_job_is_starting(run->jobs->at[i]) && !run->jobs->at[i]->held) {
            return run->jobs->at[i];
        }
    }
    return NULL;
}

bool sx_run_is_starting(const struct sx_run_state *run)
{
    return next_job(run) != NULL;
}

/* The last exec ends the pipe, once no writing end is left here. */
static void reports_end(struct sx_run_job *job)
{
    if (job->report_fd >= 0 && !sx_run_job_is_starting(job)) {
        close(job->report_fd);
        job->report_fd = -1;
    }
}

void sx_run_start_some(struct sx_run_state *run)
{
    struct sx_run_job *job = next_job(run);
    const uint64_t until_ns = sx_now_ns() + STARTS_NS;

    for (int i = 0; i < STARTS_A_TURN && job != NULL && (i == 0 || sx_now_ns() < until_ns);
         i++, job = next_job(run)) {
        if (job->ranks[job->spawned].unwanted) {
            sx_run_pmi1_rank_gone(job, job->spawned++); /* an abort came first */
        } else {
            sx_run_start_rank(job, job->spawned++);
        }
    }
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        sx_run_job_started(run->jobs->at[i]);
        reports_end(run->jobs->at[i]);
        sx_run_host_notify_pids(run->jobs->at[i]);
        sx_run_host_notify_ends(run->jobs->at[i]); /* of ranks that it leaves out */
    }
    if (job == NULL && !run->input_begun) {
        run->input_begun = true;
        sx_run_step(run, "all ranks have been started");
        sx_run_look_started(run->setup->look);
        sx_run_input_start(&run->input);
    }
}

static void report_take(struct sx_run_job *job, const struct sx_run_spawn_failure *failure)
{
    static const char *const stages[] = { "redirect", "bind it to its CPUs", "enter --wdir",
                                          "execute", "stop" };
    const char *const stage = failure->stage < SX_COUNT(stages) ? stages[failure->stage] : "start";
    const struct sx_run_program *const program = program_of(job, failure->rank);
    const bool missing = failure->stage == SX_RUN_SPAWN_EXEC && failure->error == ENOENT;
    char fault[SX_RUN_FAULT_MAX];

    sx_run_program_fault(program, failure->stage == SX_RUN_SPAWN_EXEC ? failure->error : 0, fault);
    sx_run_end_fate(job, failure->stage == SX_RUN_SPAWN_WDIR   ? PMIX_ERR_JOB_WDIR_NOT_FOUND
                         : missing                             ? PMIX_ERR_JOB_EXE_NOT_FOUND
                         : failure->stage == SX_RUN_SPAWN_EXEC ? PMIX_ERR_JOB_APP_NOT_EXECUTABLE
                                                               : PMIX_ERR_JOB_FAILED_TO_LAUNCH);
    sx_run_end(job,
               missing                               ? SX_EXIT_NOT_FOUND
               : failure->stage == SX_RUN_SPAWN_EXEC ? SX_EXIT_NOT_EXECUTABLE
                                                     : SX_EXIT_FAILURE,
               "cannot start %srank %u: could not %s '%s': %s%s", job->prefix, failure->rank, stage,
               failure->stage == SX_RUN_SPAWN_WDIR ? program->wdir : program->path,
               strerror(failure->error), fault);
}

static void reports_read(struct sx_run_job *job)
{
    struct sx_run_spawn_failure failure;
    const int fd = job->reports.fd;
    ssize_t got;

    if (fd < 0) {
        return;
    }
    while ((got = read(fd, &failure, sizeof(failure))) == (ssize_t)sizeof(failure)) {
        report_take(job, &failure);
    }
    if (got == 0) {
        sx_run_unwatch(&job->reports);
        close(fd);
        job->started_unnotified = true;
        sx_run_start_stops(job);
    }
}

static void reports_ready(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)revents;
    (void)now_ns;
    reports_read(arg);
}

void sx_run_start_reports(struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        reports_read(run->jobs->at[i]);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Otherwise a rank is just about to execute its program, or to fail. */
bool sx_run_start_is_done(const struct sx_run_job *job)
{
    return job->reports.fd < 0 && job->report_fd < 0;
}

int sx_run_start_open(struct sx_run_state *run)
{
    const struct sx_run_setup *const setup = run->setup;

    run->spawn = (struct sx_run_spawn){
        .files = setup->files, .report_fd = -1, .launcher = getpid(), .janitor = setup->janitor
    };
    sx_run_spawn_ignored(&run->spawn.ignored, setup->keep_hup_ignored);
    run->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (run->null_fd < 0) {
        return errno;
    }
    if (setup->options->terminal == SX_RUN_TERMINAL_ALL &&
        setup->options->stdin_mode != SX_RUN_STDIN_NONE) {
        sx_run_pty_take();
    }
    run->terminals_suit = sx_run_pty_suits(STDOUT_FILENO, STDERR_FILENO);
    if (setup->options->stdin_mode != SX_RUN_STDIN_NONE) {
        sx_run_input_init(&run->input, &run->loop, STDIN_FILENO, setup->options->rank_count);
    }
    return 0;
}

static void job_close(struct sx_run_job *job)
{
    const int fds[] = { job->reports.fd, job->report_fd };

    sx_poll_remove(&job->reports);
    for (size_t i = 0; i < SX_COUNT(fds); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    job->reports.fd = job->report_fd = -1;
}

void sx_run_start_close(struct sx_run_state *run)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        job_close(run->jobs->at[i]);
    }
    if (run->null_fd >= 0) {
        close(run->null_fd);
    }
    sx_run_input_deinit(&run->input);
    sx_run_pty_give_back();
    sx_table_deinit(&run->by_pid);
}
