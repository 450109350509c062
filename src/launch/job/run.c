/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run.c - make everything that jobs need, and release it in reverse order.
 *
 *   options, programs, library     a mistake in the command line is reported before anything
 *                                  exists
 *   signals, janitor               while there is one thread and nothing to lose
 *   limits, directory, machine     each may refuse with a reason
 *   server, ranks                  launch/pmi/host.c, launch/job/life.c
 *
 * A failure at any step releases what was made before it.  If the launcher is killed, the janitor
 * cleans up. */
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/system/pages.h"
#include "base/system/process.h"
#include "base/util.h"
#include "control/contact.h"
#include "launch/ask/options.h"
#include "launch/common/file.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/janitor.h"
#include "launch/job/job.h"
#include "launch/job/record.h"
#include "launch/job/session.h"
#include "launch/job/state.h"
#include "launch/place/device_probe.h"
#include "launch/place/display.h"
#include "launch/place/place.h"
#include "launch/place/program.h"
#include "launch/pmi/host.h"
#include "launch/serve/serve.h"
#include "launch/stdio/forward.h"
#include "launch/stdio/log.h"

extern char **environ;

struct sx_launch {
    struct sx_run_options options;
    struct sx_janitor janitor;
    struct sx_session session;
    struct sx_run_machine machine;
    struct sx_run_look look;
    struct sx_run_jobs jobs;
    struct sx_run_host host;
    struct sx_run_record record;
    struct rlimit files;
    struct sx_run_program *programs; /* one for each application */
    char *lib_dir;
    uint64_t begin_ns;
    char *uri_file; /* for --report-uri, written by the server; NULL: none */
    int signal_fd;
    bool hup_ignored;
    bool prepared; /* the janitor, the topology, the probe, and the name of the session are there */
    bool reported; /* the process id has been written to the file of --report-pid */
};

/* ---- the parts ------------------------------------------------------------------------------- */

/* Descriptors 0 to 2 are taken for the standard ones everywhere, so no other file may get their
 * numbers. */
static bool standard_fds_open(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static int find_programs(struct sx_launch *run)
{
    char message[SX_RUN_MESSAGE_MAX];

    run->programs = sx_cli_calloc(run->options.app_count, sizeof(*run->programs));
    for (uint32_t i = 0; i < run->options.app_count; i++) {
        const int code = sx_run_program_init(&run->programs[i], &run->options.apps[i], message);

        if (code != 0) {
            sx_say("%s", message);
            return code;
        }
    }
    for (uint32_t i = 0; i < run->jobs.count; i++) {
        struct sx_run_job *const job = run->jobs.at[i];

        job->programs = &run->programs[job->apps - run->options.apps];
    }
    return 0;
}

/* Ranks of Open MPI 4.1 need OMPI_MCA_ess=pmi; its mpirun ends at once with this variable, without
 * a message. */
static void warn_of_mpirun(const struct sx_launch *run)
{
    const char *ess = getenv("OMPI_MCA_ess");

    for (uint32_t i = 0; i < run->options.app_count; i++) {
        if (sx_run_program_is_mpirun(&run->programs[i])) {
            sx_say("warning: '%.80s' is a launcher itself, and as a rank of this job it ends with "
                   "status 1 and says nothing: give its program to 'shmix run'",
                   run->options.apps[i].program[0]);
        }
    }
    if (ess != NULL && strcmp(ess, "pmi") == 0 && getenv("OMPI_COMM_WORLD_RANK") == NULL) {
        sx_say("warning: OMPI_MCA_ess=pmi is set here; 'shmix run' sets it for its ranks, but "
               "mpirun ends with it at once and says nothing: unset OMPI_MCA_ess");
    }
}

static bool find_library(struct sx_launch *run)
{
    char message[SX_RUN_MESSAGE_MAX], *const exe = sx_proc_exe();

    if (exe == NULL) {
        return false;
    }
    run->lib_dir = sx_run_env_lib_dir(exe, message);
    free(exe);
    if (run->lib_dir == NULL) {
        sx_say("%s", message);
    }
    return run->lib_dir != NULL;
}

static bool open_signals(struct sx_launch *run)
{
    struct sigaction action;
    sigset_t handled, blocked;

    run->hup_ignored = sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    sx_run_signals(&handled);
    blocked = handled;
    /* With SIGTTOU ignored, a terminal that refuses us in the background returns an error. */
    sigaddset(&blocked, SIGTTIN);
    sigaddset(&blocked, SIGTTOU);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL); /* of a file of output: write(2) reports this too */
    /* With an ignored SIGCHLD, which a parent may leave us, the kernel would reap the ranks. */
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, NULL);
    run->signal_fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signal_fd < 0) {
        sx_say("signalfd4: %s: the launcher gets no signals%s", strerror(errno),
               sx_refused_advice(errno));
    }
    return run->signal_fd >= 0;
}

/* The end of a rank is read before the rank is reaped, which waitid alone can do.  A process that
 * is not reaped would be read again and again.  The second call has no child to reap. */
static bool can_wait(void)
{
    siginfo_t info;
    const char *call = NULL;

    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != ECHILD) {
        call = "waitid";
    } else if (waitpid(getpid(), NULL, WNOHANG) < 0 && errno != ECHILD) {
        call = "wait4";
    }
    if (call != NULL) {
        sx_say("%s: %s: the launcher cannot read how ranks end%s", call, strerror(errno),
               sx_refused_advice(errno));
    }
    return call == NULL;
}

static bool raise_limit(struct sx_launch *run)
{
    const uint64_t need = sx_run_files(&run->options, run->jobs.count);
    struct rlimit wanted;

    if (getrlimit(RLIMIT_NOFILE, &run->files) != 0) {
        sx_say("prlimit64: %s: the limit of open files cannot be read%s", strerror(errno),
               sx_refused_advice(errno));
        return false;
    }
    wanted = run->files;
    if (need <= wanted.rlim_cur) {
        return true;
    }
    wanted.rlim_cur = need + SX_RUN_FILES_MORE < wanted.rlim_max ? need + SX_RUN_FILES_MORE
                                                                 : wanted.rlim_max;
    setrlimit(RLIMIT_NOFILE, &wanted);
    if (need > wanted.rlim_cur) {
        sx_say("%u rank%s need%s about %llu open files, and the limit is %llu (ulimit -Hn, "
               "RLIMIT_NOFILE): raise it or use fewer ranks",
               run->options.rank_count, run->options.rank_count == 1 ? "" : "s",
               run->options.rank_count == 1 ? "s" : "", (unsigned long long)need,
               (unsigned long long)wanted.rlim_cur);
        return false;
    }
    return true;
}

/* Return: 0, or an errno that says why the file @path in @dir cannot be made; @dir may be NULL. */
static int report_fault(const char *dir, const char *path)
{
    struct stat st;

    if (dir == NULL || faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) != 0) {
        return errno;
    }
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    return S_ISDIR(st.st_mode) ? EISDIR : 0;
}

/* Return: the stream that "-" or "+" means; -1: @path is a file. */
static int stream_of(const char *path)
{
    return strcmp(path, "-") == 0 ? STDOUT_FILENO : strcmp(path, "+") == 0 ? STDERR_FILENO : -1;
}

/* Most contact files are in the server's own directory.  The janitor runs in another directory by
 * then. */
static bool report_announce(struct sx_launch *run, const char *path)
{
    const char *const slash = strrchr(path, '/');
    char *const parent = slash == NULL ? sx_cli_strdup(".")
                                       : sx_cli_printf("%.*s/", (int)(slash - path), path);
    char *const dir = realpath(parent, NULL);

    const int why = report_fault(dir, path);

    if (why == 0) {
        sx_janitor_contact_add(&run->janitor, dir, slash == NULL ? path : slash + 1);
    } else {
        sx_say("cannot make '%.300s' for --report-uri: %s; name a file that is not there yet, in a "
               "directory that you may write",
               path, strerror(why));
    }
    free(dir);
    free(parent);
    return why == 0;
}

static bool contacts_announce(struct sx_launch *run)
{
    char name[SX_CONTACT_NAME_MAX], host[HOST_NAME_MAX + 1];

    if (run->options.system_server) {
        sx_process_nodename(host);
        sx_contact_system_name(name, host);
        sx_janitor_contact_add(&run->janitor, sx_session_system_dir(&run->session), name);
    }
    return run->uri_file == NULL || stream_of(run->options.report_uri) >= 0 ||
           report_announce(run, run->uri_file);
}

/* For "-" and "+", which name streams, the server writes a file too: it is in the job's directory,
 * and is read from there. */
static void uri_file_choose(struct sx_launch *run)
{
    const char *const said = run->options.report_uri;

    if (said != NULL) {
        run->uri_file = stream_of(said) < 0 ? sx_cli_strdup(said)
                                            : sx_cli_printf("%s/report.uri", run->session.dir);
        run->options.report_uri_file = run->uri_file;
    }
}

static bool write_line(int fd, const char *line)
{
    char *const text = sx_cli_printf("%s\n", line);
    const size_t len = strlen(text);
    const bool good = write(fd, text, len) == (ssize_t)len;

    free(text);
    return good;
}

/* Write into the file @path, or to a stream.  Return: false with a message. */
static bool report_pid(const char *path)
{
    const int stream = stream_of(path);
    char line[24];
    const int fd = stream >= 0 ? stream : sx_file_open(path, O_WRONLY | O_CREAT | O_TRUNC, false);

    snprintf(line, sizeof(line), "%ld", (long)getpid());
    const bool good = fd >= 0 && write_line(fd, line);

    if (!good) {
        sx_say("cannot write '%.300s' for --report-pid: %s", path, sx_file_cause(errno));
    }
    if (fd >= 0 && stream < 0) {
        close(fd);
    }
    return good;
}

/* Write what --report-uri and --report-pid ask for, when the server runs. */
static bool reports_write(const struct sx_launch *run)
{
    const struct sx_run_options *const options = &run->options;
    const int stream = options->report_uri == NULL ? -1 : stream_of(options->report_uri);
    struct sx_contact contact;
    const char *why = "";

    if (stream >= 0 && (sx_contact_read(AT_FDCWD, run->uri_file, &contact, &why) != PMIX_SUCCESS ||
                        !write_line(stream, contact.uri))) {
        sx_say("cannot write the URI for --report-uri: %s", why[0] != '\0' ? why : strerror(errno));
        return false;
    }
    return options->report_pid == NULL || report_pid(options->report_pid);
}

static void pid_file_remove(const struct sx_launch *run)
{
    const char *const path = run->options.report_pid;

    struct sx_file_at at;

    if (run->reported && path != NULL && stream_of(path) < 0 &&
        sx_file_find(path, false, &at) == 0) {
        if (at.is_there && !at.is_magic && S_ISREG(at.st.st_mode)) {
            (void)unlinkat(at.dir_fd, at.name, 0);
        }
        close(at.dir_fd);
    }
}

/* Unless it was prepared. */
static bool name_session(struct sx_launch *run)
{
    char message[SX_RUN_MESSAGE_MAX];

    if (run->session.name == NULL && !sx_session_init(&run->session, getenv("TMPDIR"), message)) {
        sx_say("%s", message);
        return false;
    }
    return true;
}

static bool make_session(struct sx_launch *run)
{
    char message[SX_RUN_MESSAGE_MAX];

    if (!name_session(run)) {
        return false;
    }
    sx_run_jobs_name(&run->jobs, run->session.nspace, run->session.dir);
    uri_file_choose(run);
    /* Tell the janitor first: we may be killed between any two lines. */
    sx_janitor_tree_add(&run->janitor, run->session.parent, run->session.name);
    sx_janitor_nspace_add(&run->janitor, run->session.nspace);
    if (!contacts_announce(run)) {
        return false;
    }
    for (uint32_t i = 0; i < run->jobs.count; i++) {
        sx_run_leftovers_announce(&run->janitor, run->jobs.at[i]);
    }
    run->session.job_deserted = sx_run_leftovers_sweep;
    bool made = sx_session_make(&run->session, message);

    for (uint32_t i = 0; i < run->jobs.count && made; i++) {
        made = sx_session_make_inner(run->jobs.at[i]->dir, message);
    }
    if (made) {
        sx_run_step(NULL, "the directory is made: %s", run->session.dir);
    } else {
        sx_say("%s", message);
    }
    return made;
}

static void make_environments(const struct sx_launch *run, const struct sx_run_job *job)
{
    const uint32_t universe = run->options.rank_count;

    for (uint32_t i = 0; i < job->app_count; i++) {
        char ***const env = &job->programs[i].env;

        *env = sx_run_env_build(environ, &job->apps[i], run->lib_dir,
                                universe > run->machine.cpu_count);
        sx_run_env_put_job(env, job, &job->apps[i], universe);
    }
}

static bool open_log(const struct sx_launch *run)
{
    char message[SX_RUN_MESSAGE_MAX];
    const bool is_open = sx_run_log_init(&run->options, message);

    if (!is_open) {
        sx_say("%s", message);
    }
    return is_open;
}

static void give_places(struct sx_launch *run)
{
    for (uint32_t i = 0; i < run->jobs.count; i++) {
        run->jobs.at[i]->places = &run->machine.places[run->jobs.at[i]->first];
    }
}

static bool look_at_machine(struct sx_launch *run)
{
    char message[SX_RUN_MESSAGE_MAX];

    if ((run->machine.topology == NULL && !sx_run_machine_look(&run->machine, message)) ||
        !sx_run_machine_fit(&run->machine, &run->options, message)) {
        sx_say("%s", message);
        return false;
    }
    give_places(run);
    sx_run_step(NULL, "the machine is known: %u CPUs for us", run->machine.cpu_count);
    return true;
}

static bool start_server(struct sx_launch *run)
{
    char message[SX_RUN_MESSAGE_MAX];

    if (!sx_run_host_init(&run->host, &run->options, &run->jobs, &run->machine, &run->session,
                          message)) {
        sx_say("%s", message);
        return false;
    }
    sx_run_step(NULL, "the server has started and knows %u ranks, of namespace %s",
                run->options.rank_count, run->session.nspace);
    return true;
}

static int run_jobs(struct sx_launch *run)
{
    const struct sx_run_setup setup = {
        .options = &run->options,
        .jobs = &run->jobs,
        .machine = &run->machine,
        .look = &run->look,
        .janitor = &run->janitor,
        .host = &run->host,
        .record = &run->record,
        .session = &run->session,
        .lib_dir = run->lib_dir,
        .files = run->files,
        .keep_hup_ignored = run->hup_ignored,
        .begin_ns = run->begin_ns,
        .signal_fd = run->signal_fd,
    };

    const struct sx_run_display display = { &run->options, &run->machine, run->host.name };

    sx_run_display_say(&display, NULL, sx_run_display_node(&display));
    for (uint32_t i = 0; i < run->jobs.count; i++) {
        make_environments(run, run->jobs.at[i]);
        sx_run_display_job(&display, NULL, run->jobs.at[i]);
    }
    return sx_run_life(&setup);
}

static void print(char *text)
{
    fputs(text, stdout);
    free(text);
}

/* The dry run ends before everything that others can see: the janitor, the directory, the
 * server. */
static int dry_run(struct sx_launch *run)
{
    const struct sx_run_display display = { &run->options, &run->machine, run->host.name };

    if (!name_session(run)) {
        return SX_EXIT_FAILURE;
    }
    sx_run_jobs_name(&run->jobs, run->session.nspace, run->session.dir);
    if (!look_at_machine(run)) {
        return SX_EXIT_FAILURE;
    }
    sx_run_host_name(&run->host);
    run->options.display.detailed = true;
    print(sx_run_display_node(&display));
    for (uint32_t i = 0; i < run->jobs.count; i++) {
        const struct sx_run_job *const job = run->jobs.at[i];

        make_environments(run, job);
        for (uint32_t rank = 0; rank < job->rank_count; rank++) {
            print(sx_run_display_map(&display, job, rank));
        }
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        sx_say("cannot write to stdout");
        return SX_EXIT_FAILURE;
    }
    return 0;
}

/* Unless it was prepared. */
static bool start_janitor(struct sx_launch *run)
{
    const int why = run->prepared ? 0 : sx_janitor_init(&run->janitor);

    if (why != 0) {
        sx_say("cannot start the janitor (socketpair, clone): %s%s", strerror(why),
               sx_refused_advice(why));
    }
    return why == 0;
}

/* ---- the whole run --------------------------------------------------------------------------- */

static int run_all(struct sx_launch *run)
{
    int code;

    sx_run_steps_begin(run->options.verbose);
    sx_run_jobs_init(&run->jobs, &run->options);
    if (!standard_fds_open()) {
        sx_say("cannot open /dev/null: %s%s", strerror(errno),
               errno == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
        return SX_EXIT_FAILURE;
    }
    code = find_programs(run);
    if (code != 0) {
        return code;
    }
    sx_run_step(NULL, "%u program%s found", run->options.app_count,
                run->options.app_count == 1 ? " is" : "s are");
    warn_of_mpirun(run);
    if (!find_library(run) || !raise_limit(run)) {
        return SX_EXIT_FAILURE;
    }
    if (run->options.dry_run) {
        return dry_run(run);
    }
    if (!start_janitor(run) || !can_wait() || !open_signals(run) || !make_session(run) ||
        !open_log(run) || !look_at_machine(run)) {
        return SX_EXIT_FAILURE;
    }
    if (!run->prepared) {
        sx_run_look_begin(&run->look, &run->machine, &run->session);
    }
    if (!start_server(run) || !reports_write(run)) {
        return SX_EXIT_FAILURE;
    }
    run->reported = true;
    return run_jobs(run);
}

/* Remove all that others can see of the run, but for its processes. */
static void run_leave(struct sx_launch *run)
{
    sx_run_look_end(&run->look);
    pid_file_remove(run);
    sx_run_log_end(); /* while the server can still answer */
    sx_run_host_deinit(&run->host);
    sx_run_log_deinit();
    sx_session_deinit(&run->session);
    for (uint32_t i = 0; i < run->jobs.count; i++) {
        sx_run_leftovers_remove(&run->janitor, run->jobs.at[i]);
    }
}

static void run_deinit(struct sx_launch *run)
{
    run_leave(run);
    sx_run_look_deinit(&run->look);
    sx_run_forward_deinit();
    sx_run_machine_deinit(&run->machine);
    for (uint32_t i = 0; i < run->jobs.count; i++) {
        sx_run_child_deinit(run->jobs.at[i]);
    }
    sx_janitor_deinit(&run->janitor);
    for (uint32_t i = 0; run->programs != NULL && i < run->options.app_count; i++) {
        sx_run_program_deinit(&run->programs[i]);
    }
    free(run->programs);
    sx_run_jobs_deinit(&run->jobs);
    free(run->lib_dir);
    free(run->uri_file);
    if (run->signal_fd >= 0) {
        close(run->signal_fd);
    }
    sx_run_options_deinit(&run->options);
    sx_run_record_deinit(&run->record);
}

static int run_recorded(struct sx_launch *run)
{
    const char *const path = run->options.report;
    const int why = path == NULL ? 0 : sx_run_record_judge(path);

    if (why != 0) {
        sx_say("cannot make '%.300s' for --report: %s%s", path, sx_file_cause(why),
               why == ELOOP ? "" : "; name a file in a directory that you may write");
        return SX_EXIT_FAILURE;
    }
    run->record.path = run->options.dry_run ? NULL : path;
    const int code = run_all(run);

    if (run->record.path != NULL) {
        sx_run_record_write(&run->record, &run->jobs, code);
    }
    return code;
}

#define LAUNCH_NULL                                  \
    ((struct sx_launch){ .janitor = SX_JANITOR_NULL, \
                         .look = SX_RUN_LOOK_NULL,   \
                         .host.event_fd = -1,        \
                         .signal_fd = -1 })

static int launch(struct sx_launch *run, char **words, uint64_t begin_ns)
{
    run->begin_ns = begin_ns;
    sx_heap_join_at_once();
    sx_run_record_init(&run->record, words);
    int code = sx_run_options_init(&run->options, words);

    if (code == SX_OPTIONS_TAKEN) {
        code = run_recorded(run);
    }
    run_leave(run);
    sx_handed_end(code);
    run_deinit(run);
    return code;
}

int sx_launch(char **words, uint64_t begin_ns)
{
    struct sx_launch run = LAUNCH_NULL;

    return launch(&run, words, begin_ns);
}

/* ---- prepared -------------------------------------------------------------------------------- */

/* Find the devices as well, for this launch and those that are forked from it. */
static bool know_devices(struct sx_launch *run, char *message)
{
    if (!sx_session_init(&run->session, getenv("TMPDIR"), message)) {
        return false;
    }
    sx_run_look_begin(&run->look, &run->machine, &run->session);
    sx_run_look_await(&run->look);
    sx_run_look_deinit(&run->look);
    sx_session_deinit(&run->session);
    return true;
}

struct sx_launch *sx_launch_new(char message[SX_RUN_MESSAGE_MAX])
{
    struct sx_launch *const run = sx_cli_calloc(1, sizeof(*run));
    struct sx_run_loop loop = { .loop = NULL };

    *run = LAUNCH_NULL;
    if (!sx_run_machine_look(&run->machine, message) || !know_devices(run, message)) {
        return sx_launch_free(run);
    }
    if (sx_run_loop_init(&loop) == 0) { /* it maps a library */
        sx_run_loop_deinit(&loop);
    }
    return run;
}

/* Whether the machine has the same devices as when they were found. */
static bool same_devices(const struct sx_launch *run)
{
    char *const sign = run->machine.sign == NULL ? NULL : sx_run_known_sign();
    const bool same = sign != NULL && strcmp(sign, run->machine.sign) == 0;

    free(sign);
    return same;
}

bool sx_launch_prepare(struct sx_launch *run, bool is_known)
{
    char message[SX_RUN_MESSAGE_MAX];

    is_known = is_known && same_devices(run);
    if (!is_known) {
        sx_run_machine_deinit(&run->machine);
    }
    if ((!is_known && !sx_run_machine_look(&run->machine, message)) ||
        sx_janitor_init(&run->janitor) != 0 ||
        !sx_session_init(&run->session, getenv("TMPDIR"), message)) {
        return false;
    }
    if (!is_known) {
        sx_run_look_begin(&run->look, &run->machine, &run->session);
    }
    run->prepared = true;
    return true;
}

int sx_launch_prepared(struct sx_launch *run, char **words, uint64_t begin_ns)
{
    return launch(run, words, begin_ns);
}

struct sx_launch *sx_launch_free(struct sx_launch *run)
{
    if (run != NULL) {
        run_deinit(run);
        free(run);
    }
    return NULL;
}
