/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.c - the options of `shmix run`: each has a row and, for a value of its own kind, a
 * setter. */
#include "launch/ask/options.h"

#include <assert.h>
#include <pmix_common.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "launch/ask/sources.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/place/place.h"
#include "launch/place/program.h"
#include "launch/stdio/output.h"

#define EVENT_GRACE_NS (100 * SX_NS_PER_MS) /* for --event-grace */
#define TIMEOUT_WANTS "seconds, from 0.001 to 100000000, or 0 for no limit"
#define TIMEOUT_VARIABLE "MPIEXEC_TIMEOUT" /* the variable that mpirun and MPICH's mpiexec read */

/* ---- setters --------------------------------------------------------------------------------- */

static bool set_ranks(void *at, const char *value)
{
    int64_t number;
    const bool good = sx_cli_number(value, 1, SX_RUN_RANKS_MAX, &number);

    *(uint32_t *)at = good ? (uint32_t)number : 1;
    return good;
}

/* A program accepts one number only: srun's -c and mpirun's -c have different meanings. */
static bool set_count(void *at, const char *value)
{
    struct sx_run_app *const app = at;
    const uint32_t before = app->rank_count;

    if (!set_ranks(&app->rank_count, value)) {
        return false;
    }
    if (app->counted && app->rank_count != before) {
        sx_options_because_alone("this program has -n %u already; -c N and --cpus-per-rank N are "
                                 "the CPUs of each rank",
                                 before);
        return false;
    }
    app->counted = true;
    return true;
}

static bool set_restarts(void *at, const char *value)
{
    int64_t number;
    const bool good = sx_cli_number(value, 0, SX_RUN_RESTARTS_MAX, &number);

    *(uint32_t *)at = good ? (uint32_t)number : 0;
    return good;
}

#define ELSEWHERE                                                                               \
    "all ranks of 'shmix run' are on this node; for several use mpirun of Open MPI 4 or srun: " \
    "'man shmix-hosts' (docs/hosts.md) has the lines"

static bool set_nodes(void *at, const char *value,
                      enum sx_run_nodes (*add)(uint32_t *, const char *, uint32_t, char *))
{
    char message[SX_RUN_MESSAGE_MAX];

    switch (add(at, value, SX_RUN_RANKS_MAX, message)) {
    case SX_RUN_NODES_HERE:
        return true;
    case SX_RUN_NODES_ELSEWHERE:
        sx_options_because_alone("%s; " ELSEWHERE, message);
        return false;
    case SX_RUN_NODES_UNREADABLE:
        sx_options_because_alone("%s", message);
        return false;
    default:
        sx_options_because("%s", message);
        return false;
    }
}

static bool set_host(void *at, const char *value)
{
    return set_nodes(at, value, sx_run_nodes_list);
}

static bool set_hostfile(void *at, const char *value)
{
    return set_nodes(at, value, sx_run_nodes_file);
}

static bool set_policy(struct sx_run_options *options, const char *value,
                       bool (*take)(struct sx_run_options *, const char *, char *))
{
    char message[SX_RUN_MESSAGE_MAX];
    const bool good = take(options, value, message);

    if (!good && message[0] != '\0') {
        sx_options_because("%s", message);
    }
    return good;
}

static bool set_map(void *at, const char *value)
{
    return set_policy(at, value, sx_run_policy_map);
}

static bool set_bind(void *at, const char *value)
{
    return set_policy(at, value, sx_run_policy_bind);
}

static bool set_cpus(void *at, const char *value)
{
    struct sx_run_options *const options = at;

    free(options->cpus);
    options->cpus = sx_cli_strdup(value);
    return value[0] != '\0' && value[strspn(value, "0123456789,-")] == '\0';
}

static bool set_env(void *at, const char *value)
{
    if (value[0] == '\0' || value[0] == '=' || value[0] == '-') {
        return false; /* also when the NAME was left out and an option follows */
    }
    if (value[strlen(value) - 1] == '*' && strchr(value, '=') == NULL) {
        return true; /* a prefix: the whole environment is passed on */
    }
    if (strchr(value, '=') == NULL && getenv(value) == NULL) {
        sx_say("warning: --env %.80s: that variable is not set here, and the ranks do not get it",
               value);
        return true;
    }
    sx_run_app_env_add(at, sx_cli_strdup(value));
    return true;
}

/* "KEY VALUE".  Several values of one key become a list, as with mpirun. */
static bool set_mca(void *at, const char *value)
{
    struct sx_run_app *const app = at;
    const size_t key_len = strcspn(value, " =");
    char *head;

    if (key_len == 0 || value[key_len] != ' ') {
        return false;
    }
    head = sx_cli_printf("OMPI_MCA_%.*s=", (int)key_len, value);
    value += key_len + 1;
    for (size_t i = 0; i < app->env_count; i++) {
        if (strncmp(app->env[i], head, strlen(head)) == 0) {
            char *const both = sx_cli_printf("%s,%s", app->env[i], value);

            free(app->env[i]);
            app->env[i] = both;
            free(head);
            return true;
        }
    }
    sx_run_app_env_add(app, sx_cli_printf("%s%s", head, value));
    free(head);
    return true;
}

static bool set_pset(void *at, const char *value)
{
    return sx_option_text(at, value) && strlen(value) <= PMIX_MAX_KEYLEN &&
           strchr(value, ',') == NULL;
}

static bool set_timeout(void *at, const char *value)
{
    uint64_t *const timeout_ns = at;

    if (!sx_cli_seconds(timeout_ns, value)) {
        return false;
    }
    if (*timeout_ns == 0 && strspn(value, "0.") == strlen(value)) {
        *timeout_ns = SX_DEADLINE_NEVER; /* overrides the environment variable */
    }
    return *timeout_ns >= SX_NS_PER_MS;
}

static bool set_stdin(void *at, const char *value)
{
    struct sx_run_options *const options = at;
    int64_t number = 0;

    if (strcmp(value, "all") == 0) {
        options->stdin_mode = SX_RUN_STDIN_ALL;
    } else if (strcmp(value, "none") == 0) {
        options->stdin_mode = SX_RUN_STDIN_NONE;
    } else if (sx_cli_number(value, 0, SX_RUN_RANKS_MAX - 1, &number)) {
        options->stdin_mode = SX_RUN_STDIN_RANK;
        options->stdin_rank = (uint32_t)number;
    } else {
        return false;
    }
    return true;
}

static bool set_unbuffered(void *at, const char *value)
{
    (void)value;
    *(enum sx_run_terminal *)at = SX_RUN_TERMINAL_YES;
    return true;
}

static bool set_pty(void *at, const char *value)
{
    (void)value;
    *(enum sx_run_terminal *)at = SX_RUN_TERMINAL_ALL;
    return true;
}

static bool set_no_pty(void *at, const char *value)
{
    (void)value;
    *(enum sx_run_terminal *)at = SX_RUN_TERMINAL_NO;
    return true;
}

static bool set_debugger(void *at, const char *value)
{
    return sx_option_text(at, value) && strstr(value, "{pid}") != NULL;
}

static bool set_debugger_rank(void *at, const char *value)
{
    struct sx_run_options *const options = at;
    int64_t number = 0;

    options->debugger_one = sx_cli_number(value, 0, SX_RUN_RANKS_MAX - 1, &number);
    options->debugger_rank = (uint32_t)number;
    return options->debugger_one;
}

static bool set_numa(void *at, const char *value)
{
    *(const char **)at = value;
    return strcmp(value, "auto") == 0 || strcmp(value, "local") == 0 ||
           strcmp(value, "interleave") == 0;
}

static bool set_on_failure(void *at, const char *value)
{
    const bool notify = strcmp(value, "notify") == 0;

    *(enum sx_run_on_failure *)at = notify ? SX_RUN_ON_FAILURE_NOTIFY : SX_RUN_ON_FAILURE_ABORT;
    return notify || strcmp(value, "abort") == 0;
}

/* The values of prterun; "none" is the default. */
static bool set_with_ft(void *at, const char *value)
{
    struct sx_run_options *const options = at;

    if (strcmp(value, "none") == 0) {
        return true;
    }
    options->with_ft = true;
    options->on_failure = SX_RUN_ON_FAILURE_NOTIFY;
    return strcmp(value, "ulfm") == 0 || strcmp(value, "mpi") == 0;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && strncmp(text, word, len) == 0;
}

/* A word of --display.  Return: false when no word matches. */
static bool display_word(struct sx_display_options *display, const char *word, size_t len)
{
    const struct {
        const char *word, *mpirun; /* the word of mpirun of Open MPI 5 */
        bool *at;
        const char **of; /* nodes: this one only */
    } words[] = {
        { "map", "map", &display->map, NULL },
        { "map-detailed", "map-devel", &display->detailed, NULL },
        { "bindings", "bind", &display->bindings, NULL },
        { "allocation", "alloc", &display->allocation, NULL },
        { "topology", "topo", NULL, &display->topology },
        { "processors", "cpus", NULL, &display->processors },
        { "parseable", "parsable", &display->parseable, NULL },
    };

    for (size_t i = 0; i < SX_COUNT(words); i++) {
        if (is_word(word, len, words[i].word) || is_word(word, len, words[i].mpirun)) {
            if (words[i].at != NULL) {
                *words[i].at = true;
            } else {
                *words[i].of = "";
            }
            return true;
        }
    }
    return false;
}

static bool set_display(void *at, const char *value)
{
    struct sx_run_options *const options = at;

    for (;; value++) {
        const size_t len = strcspn(value, ",");

        if (!display_word(&options->display, value, len)) {
            return false;
        }
        value += len;
        if (*value == '\0') {
            return true;
        }
    }
}

/* Find the option field for a word of --output. */
static bool *output_word(struct sx_output_options *output, const char *word, size_t len)
{
    const struct {
        const char *word;
        bool *at;
    } words[] = {
        { "tag", &output->marks.tag },
        { "tag-fullname", &output->marks.tag },
        { "tag-detailed", &output->marks.detailed },
        { "rank", &output->marks.rank },
        { "timestamp", &output->marks.stamp },
        { "xml", &output->marks.xml },
        { "merge", &output->merge },
        { "merge-stderr-to-stdout", &output->merge },
        { "raw", &output->raw },
        { "nocopy", &output->file_only },
        { "pattern", &output->pattern },
    };

    for (size_t i = 0; i < SX_COUNT(words); i++) {
        if (is_word(word, len, words[i].word)) {
            return words[i].at;
        }
    }
    return NULL;
}

/* Cut "file=NAME" or "dir=NAME", which ends before a ':' or ','.  Return: the name, and the field
 * for it. */
static char *output_name(struct sx_output_options *output, char *word, const char ***ret_at)
{
    static const char file[] = "file=", dir[] = "dir=";

    if (strncmp(word, file, sizeof(file) - 1) == 0) {
        *ret_at = &output->file;
        return word + sizeof(file) - 1;
    }
    *ret_at = &output->dir;
    return strncmp(word, dir, sizeof(dir) - 1) == 0 ? word + sizeof(dir) - 1 : NULL;
}

static bool set_output(void *at, const char *value)
{
    struct sx_run_options *const options = at;
    char *word = sx_cli_strdup(value);
    char end = ',';

    options->output_words = sx_cli_realloc(options->output_words, options->output_count + 1,
                                           sizeof(*options->output_words));
    options->output_words[options->output_count++] = word;
    for (; end != '\0'; word++) {
        const char **kept;
        char *const name = output_name(&options->output, word, &kept);
        char *const last = word + strcspn(word, name == NULL ? "," : ",:");
        bool *const said = output_word(&options->output, word, (size_t)(last - word));

        end = *last;
        *last = '\0';
        if (name != NULL && *name != '\0') {
            *kept = name;
        } else if (said != NULL) {
            *said = true;
        } else {
            return false;
        }
        word = last;
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static_assert(SX_RUN_RANKS_MAX == 16384 && SX_RUN_JOBS_MAX == 256 &&
                  SX_CLI_SECONDS_MAX == 100000000 && SX_RUN_RESTARTS_MAX == 1000000 &&
                  PMIX_MAX_KEYLEN == 511,
              "what is said below");

#define OF_APP(member) offsetof(struct sx_run_app, member), true
#define OF_JOB(member) offsetof(struct sx_run_options, member), false
#define APP 0, true /* the setter receives the whole struct */
#define JOB 0, false

static const struct sx_option rows[] = {
    { .help = "options of a program (each PROGRAM has its own):" },
    { "-n", "--np", "N", "4", "a number of ranks from 1 to 16384",
      "number of ranks, 1 to 16384, which is the job's limit (default: what a batch system has for "
      "this node, or 1)",
      set_count, APP },
    { "--env", "-x", "NAME[=VALUE]", "OMP_NUM_THREADS=2", "NAME=VALUE, or the NAME of a variable",
      "set NAME for the ranks, or pass on its value here; repeatable. (All of the environment is "
      "passed on anyway.) A NAME that is not set here is left out, with a warning",
      set_env, APP },
    { "--wdir", NULL, "DIR", "/tmp", "the directory in which the ranks start", NULL, sx_option_text,
      OF_APP(wdir) },
    { "--pset", NULL, "NAME", "ocean", "a name of 1 to 511 characters, none of them a comma",
      "put the ranks into the process set NAME (PMIX_PSET_NAMES)", set_pset, OF_APP(pset) },
    { "--max-restarts", NULL, "N", "3", "a number from 0 to 1000000",
      "start a rank that fails again, up to N times (default 0); its job goes on meanwhile",
      set_restarts, OF_APP(restarts_max) },
    { "--mca", NULL, "KEY VALUE", "btl self", "KEY VALUE (it is --env OMPI_MCA_KEY=VALUE)",
      "set OMPI_MCA_KEY for the ranks", set_mca, APP },
    { "--oversubscribe", NULL, NULL, NULL, NULL, "accepted, as more ranks than CPUs always are",
      NULL, APP },
    { "--host", "-H", "NODE[:SLOTS]", "localhost:4", "this node, by its name or as localhost",
      "this node, by its name or as localhost; without -n there are SLOTS ranks", set_host,
      OF_APP(slot_count) },
    { "--hostfile", "--machinefile", "FILE", "--host localhost:4",
      "a file with lines 'NODE [slots=N]' that name this node",
      "the same from a file, a line 'NODE [slots=N]' each", set_hostfile, OF_APP(slot_count) },
    { "--app", NULL, "FILE", "-n 2 hostname : -n 2", "a file of lines '[options] PROGRAM [ARGS]'",
      "in the place of a PROGRAM: those of FILE, one a line, with what its options here leave "
      "open; "
      "a line that begins with # is left out",
      sx_option_text, OF_APP(file) },
    { "--allow-run-as-root", NULL, NULL, NULL, NULL, "accepted, as root always is", NULL, APP },
    { .help = "options of the job, or of all jobs, before the first PROGRAM:" },
    { "--separate-jobs", NULL, NULL, NULL, NULL,
      "each PROGRAM is a job of its own, whose ranks begin at 0; at most 256", sx_option_flag,
      OF_JOB(separate_jobs) },
    { "--map-by", NULL, "POLICY", "numa",
      "slot, hwthread, core, l3cache, numa, package (or socket), node, ppr:N:node or "
      "ppr:N:package, and behind it "
      ":PE=N (--cpus-per-rank N), :PE-LIST=CPUS (--cpu-list CPUS), :HWTCPUS, :OVERSUBSCRIBE or "
      ":NOOVERSUBSCRIBE",
      "how ranks are dealt out: slot: they fill the machine in order, neighbours together "
      "(default; node is the same); hwthread, core, l3cache, numa or package (socket): in turn, "
      "one to each. Behind it as for mpirun: :PE=N, :NOOVERSUBSCRIBE and others",
      set_map, JOB },
    { "--bind-to", NULL, "POLICY", "core",
      "none, hwthread, core, l3cache, numa or package (or socket), and behind it "
      ":overload-allowed, :if-supported or :report",
      "none, hwthread, core, l3cache, numa or package (socket): the CPUs a rank may use. Default: "
      "what it is mapped by; with slot and node: none. A core or hwthread goes to one rank, "
      "unless :overload-allowed is behind it",
      set_bind, JOB },
    { "--cpu-list", "--cpu-set", "CPUS", "0", "a list of CPUs, as 0,2-3",
      "the ranks are on these CPUs alone, by the kernel's numbers", set_cpus, JOB },
    { "--cpus-per-rank", "--cpus-per-proc", "N", "1", "a number of CPUs from 1 to 16384",
      "bind each rank to N cores, or with --bind-to hwthread to N hardware threads, one after the "
      "other, each for one rank",
      set_ranks, OF_JOB(cpus_each) },
    { "--display", NULL, "WORDS", "map,bindings",
      "words with commas between: map, map-detailed, bindings, allocation, processors, topology, "
      "parseable",
      "show (stderr) where each rank goes (map), with its variables and its command "
      "(map-detailed), or its process and its CPUs (bindings); what there is of the node "
      "(allocation), its CPUs (processors) and its parts (topology); each as a line of JSON "
      "(parseable)",
      set_display, JOB },
    { "--numa", NULL, "POLICY", "local", "auto, local or interleave",
      "on which NUMA nodes the job's shared memory lies: near the ranks and the server that use "
      "it, "
      "and what ranks publish spread over the nodes (auto, the default); all but what one rank "
      "alone writes on the server's node (local), or spread (interleave)",
      set_numa, OF_JOB(numa) },
    { "--server", NULL, NULL, NULL, NULL,
      "hand the job to the server of 'shmix serve', and refuse to run it without one",
      sx_option_flag, OF_JOB(by_server) },
    { "--no-server", NULL, NULL, NULL, NULL,
      "do not hand the job to a server, also where there is one", sx_option_flag, OF_JOB(alone) },
    { "--dry-run", NULL, NULL, NULL, NULL,
      "show (stdout) where each rank would run, its variables and its command, and start nothing",
      sx_option_flag, OF_JOB(dry_run) },
    { "--verbose", "-v", NULL, NULL, NULL,
      "tell the steps of the launch (stderr), each with the time since its begin", sx_option_flag,
      OF_JOB(verbose) },
    { "--quiet", "-q", NULL, NULL, NULL,
      "no progress line for launches of more than a second (shown on a terminal only), and none "
      "about a batch system or the default of -n",
      sx_option_flag, OF_JOB(quiet) },
    { "--on-failure", NULL, "WHAT", "notify",
      "abort (end the job when a rank fails) or notify (tell the others, which go on)",
      "when a rank fails: abort: end the job (default); notify: tell the others by an event and go "
      "on without it",
      set_on_failure, OF_JOB(on_failure) },
    { "--with-ft", NULL, "WHAT", "ulfm", "ulfm (or mpi, the same), or none",
      "ulfm: the ranks' Open MPI recovers from failures (MPIX_Comm_shrink and others): "
      "--on-failure notify, and OMPI_MCA_mpi_ft_enable=1 for the ranks",
      set_with_ft, JOB },
    { "--kill-grace", NULL, "SECONDS", "30", "seconds, from 0 (SIGKILL at once) to 100000000",
      "time between SIGTERM and SIGKILL, whatever ends the ranks (default: 2 after a signal to "
      "shmix run, else 0.5; less if they end earlier)",
      sx_cli_seconds, OF_JOB(kill_grace_ns) },
    { "--event-grace", NULL, "SECONDS", "0.5",
      "seconds, from 0 (do not wait for handlers of events) to 100000000",
      "time for the other ranks' event handlers to run before SIGTERM (default 0.1; less if they "
      "finish earlier)",
      sx_cli_seconds, OF_JOB(event_grace_ns) },
    { "--timeout", NULL, "SECONDS", "60", TIMEOUT_WANTS,
      "end the job after this time; 0: never (default: what " TIMEOUT_VARIABLE " says, or never)",
      set_timeout, OF_JOB(timeout_ns) },
    { "--report-state-on-timeout", NULL, NULL, "--report-state-on-timeout --timeout 60", NULL,
      "at the end of --timeout, show (stderr) what each rank does, and which rank is missing in "
      "which collective operation",
      sx_option_flag, OF_JOB(report_state) },
    { "--get-stack-traces", NULL, NULL, "--get-stack-traces --timeout 60", NULL,
      "at the end of --timeout, show (stderr) in which functions the threads of all ranks are, as "
      "'shmix stack' does",
      sx_option_flag, OF_JOB(report_stacks) },
    { "--stop-on-exec", NULL, NULL, NULL, NULL,
      "stop each rank before the first instruction of its program; lines on stderr show how to "
      "attach a debugger, and how the ranks go on",
      sx_option_flag, OF_JOB(stop_on_exec) },
    { "--stop-in-init", NULL, NULL, NULL, NULL,
      "the same in PMIx_Init (MPI_Init), where the ranks wait for PMIX_DEBUGGER_RELEASE",
      sx_option_flag, OF_JOB(stop_in_init) },
    { "--stop-in-app", NULL, NULL, NULL, NULL,
      "the same where the program, or its MPI, has a breakpoint of its own for "
      "PMIX_DEBUG_STOP_IN_APP",
      sx_option_flag, OF_JOB(stop_in_app) },
    { "--debugger", NULL, "COMMAND", "'gdb -p {pid}'", "a command with {pid} in it",
      "stop each rank as --stop-on-exec does (or where --stop-in-init says) and run COMMAND for "
      "it, "
      "with its process for {pid}, its rank for {rank} and its job for {job}; the first one has "
      "the "
      "terminal, and the ranks no standard input",
      set_debugger, OF_JOB(debugger) },
    { "--debugger-rank", NULL, "RANK", "--debugger 'gdb -p {pid}' --debugger-rank 0", "a rank",
      "run the command of --debugger for this rank alone (counted through all jobs)",
      set_debugger_rank, JOB },
    { "--tag-output", NULL, NULL, NULL, NULL, "put [namespace,rank]<stream> before each line",
      sx_option_flag, OF_JOB(output.marks.tag) },
    { "--output", NULL, "WORDS", "tag,timestamp",
      "words with commas between: tag, tag-detailed, rank, timestamp, xml, merge, raw, dir=NAME, "
      "file=NAME, pattern, nocopy",
      "what becomes of the ranks' output. Before each line: tag (as --tag-output), tag-detailed "
      "(with the node and the process), rank (the rank alone), timestamp, xml (each line is an "
      "element). merge: stderr goes to stdout; raw: pass it on as it comes, not line by line. "
      "dir=NAME: also into NAME/1/rank.N/stdout and stderr (the second of --separate-jobs: "
      "NAME/2); file=NAME: into NAME.namespace.N.stdout and stderr, or with pattern into NAME with "
      "its %n (namespace), %r (rank) and %h (node); nocopy: into files alone",
      set_output, JOB },
    { "--unbuffered", "-u", NULL, NULL, NULL,
      "the ranks' output is a terminal, into which programs write line by line, also where it "
      "would be a pipe: where shmix run's own goes to a file that stderr does not go to, and no "
      "line is marked",
      set_unbuffered, OF_JOB(terminal) },
    { "--pty", NULL, NULL, NULL, NULL,
      "the ranks' output and errors are terminals, and the rank that reads the input (--stdin) has "
      "one for all three, with job control: for shells, debuggers and editors",
      set_pty, OF_JOB(terminal) },
    { "--no-pty", NULL, NULL, NULL, NULL,
      "the ranks' output is a pipe, never a terminal: ten times as fast, without colours, and "
      "programs keep it until they have some KiB",
      set_no_pty, OF_JOB(terminal) },
    { "--log", NULL, "FILE", "job.log", "a file",
      "add what ranks log for the job's record or the data store (PMIx_Log) to FILE, as lines of "
      "JSON",
      sx_option_text, OF_JOB(log) },
    { "--report", NULL, "FILE", "job.json", "a file, or - for stdout",
      "write a record of the run to FILE when it is over, as JSON: its jobs and their ranks, with "
      "times, exit codes, memory and CPU time; -: to stdout",
      sx_option_text, OF_JOB(report) },
    { "--report-uri", NULL, "FILE|-|+", "job.uri", "a file that is not there yet, - or +",
      "where tools find the server: a contact file, which goes with it; its first line is the URI. "
      "- and +: the URI alone, to stdout or stderr",
      sx_option_text, OF_JOB(report_uri) },
    { "--report-pid", NULL, "FILE|-|+", "+", "a file, - or +",
      "write the process id of shmix run into FILE, which goes with it, or to stdout (-) or stderr "
      "(+)",
      sx_option_text, OF_JOB(report_pid) },
    { "--system-server", NULL, NULL, NULL, NULL,
      "be the system server of this node, which tools find first; there is one at a time",
      sx_option_flag, OF_JOB(system_server) },
    { "--stdin", NULL, "RANK|all|none", "all", "a rank, 'all' or 'none'",
      "who reads the standard input (default 0; counted through all jobs)", set_stdin, JOB },
};

static const char about[] =
    "usage: shmix run [options] [--] PROGRAM [ARGS] [: [options] [--] PROGRAM [ARGS]]...\n"
    "\n"
    "Start PROGRAM as the ranks of one job on this node. The ranks find each other through\n"
    "PMIx; all of their PMIx data lies in shared memory. Open MPI programs run unmodified.\n"
    "A lone ':' parts several programs (applications) of one job; ranks count on through them.\n"
    "With --separate-jobs each program is a job of its own.\n"
    "\n"
    "examples:\n"
    "  shmix run -n 4 ./hello                     four ranks\n"
    "  shmix run -n 2 --tag-output hostname       show which rank wrote which line\n"
    "  shmix run -n 8 --bind-to core ./solver     one core for each rank\n"
    "  shmix run -n 8 --map-by numa --bind-to core --display bindings ./solver\n"
    "  shmix run --dry-run -n 8 --map-by numa ./solver    what would run where\n"
    "  shmix run -n 4 --env OMP_NUM_THREADS=2 ./hybrid\n"
    "  shmix run -n 4 --timeout 60 ./test < input rank 0 reads the input\n"
    "  shmix run -n 4 -u ./solver > log           the log grows line by line\n"
    "  shmix run --pty gdb ./solver               a program that wants a terminal\n"
    "  shmix run -n 4 --output file=out.%r:pattern ./test     out.0.stdout, out.0.stderr, ...\n"
    "  shmix run -n 2 ./ocean : -n 3 ./ice        ranks 0 and 1, and ranks 2 to 4\n"
    "  shmix run --app jobs.app                   programs from a file, one a line\n"
    "  shmix run --separate-jobs -n 2 ./ocean : -n 3 ./ice    two jobs, ranks from 0 in each\n";

static const char more[] =
    "\n"
    "exit codes:\n"
    "  0          every rank exited with 0\n"
    "  N          the first rank that failed exited with N, or abort was called with N\n"
    "  128+S      a rank was killed by signal S, or shmix run itself got S\n"
    "  124        a job took longer than --timeout\n"
    "  126, 127   PROGRAM is not executable; PROGRAM was not found\n"
    "  1, 2       shmix run could not start the job, or a rank left without PMIx_Finalize;\n"
    "             a wrong option\n"
    "\n"
    "A rank fails when it is killed, does not exit with 0, or leaves without PMIx_Finalize. That\n"
    "ends the job, unless --on-failure says otherwise, and so does PMIx_Abort (MPI_Abort): the\n"
    "others get SIGTERM, and SIGKILL half a second later (--kill-grace). PMIx_Abort of some ranks\n"
    "ends those alone. When a rank has ended, what is left of its process group is killed.\n"
    "SIGINT, SIGTERM, SIGQUIT and SIGHUP are passed on, and 2 seconds later (--kill-grace) the\n"
    "ranks are killed, at a second signal at once; SIGTSTP, SIGCONT, SIGUSR1 and SIGUSR2 are\n"
    "passed on. If shmix run itself is killed, the ranks are killed too, and nothing is left\n"
    "behind.\n"
    "\n"
    "With --separate-jobs a failure or an abort ends its job, and the other jobs go on. The first\n"
    "failure of any job decides the exit code. Signals, --timeout and an output that nobody takes\n"
    "any more end all jobs.\n"
    "\n"
    "environment:\n"
    "  TMPDIR       where the job's private directory is made (default /tmp)\n"
    "  " TIMEOUT_VARIABLE "\n"
    "               seconds: what --timeout is, where that is not given\n"
    "  SHMIX_LOG    none, error, warn (default), info or debug, for shmix run and the ranks\n"
    "  SHMIX_SERVER yes or no: what --server and --no-server are\n"
    "  SHMIX_LOOP   uring or epoll: force the server's way of waiting\n"
    "  OMPI_MCA_*   Open MPI's settings are passed on. Unless they are set, OMPI_MCA_ess=pmi and\n"
    "               OMPI_MCA_schizo=ompi are added (Open MPI 4.1 would not take us for a launcher\n"
    "               otherwise), and OMPI_MCA_mpi_oversubscribe=1 where ranks outnumber CPUs\n"
    "\n"
    "More in the manual: man shmix-run\n";

const struct sx_verb sx_run_verb = {
    .name = "shmix run",
    .try_begin = "shmix run",
    .try_end = " hostname",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
    .foreign = sx_run_foreign_options,
    .habits = sx_run_habits,
};

/* ---- applications ---------------------------------------------------------------------------- */

/* The source of words: the command line, or a line of an app file. */
struct source {
    const struct sx_verb *verb;      /* named in error messages */
    const struct sx_run_app *common; /* the app file's own options; NULL: the command line */
};

static void app_deinit(struct sx_run_app *app)
{
    for (size_t k = 0; k < app->env_count; k++) {
        free(app->env[k]);
    }
    free(app->env);
    *app = (struct sx_run_app){ .rank_count = 0 };
}

static struct sx_run_app *app_begin(struct sx_run_options *options, const struct sx_run_app *common)
{
    struct sx_run_app *app;

    options->apps = sx_cli_realloc(options->apps, options->app_count + 1, sizeof(*options->apps));
    app = &options->apps[options->app_count++];
    *app = (struct sx_run_app){ .rank_count = 0 };
    if (common != NULL) {
        *app = *common;
        app->env = NULL;
        app->env_count = 0;
        app->file = NULL;
        app->counted = false;
        for (size_t i = 0; i < common->env_count; i++) {
            sx_run_app_env_add(app, sx_cli_strdup(common->env[i]));
        }
    }
    return app;
}

/* Set the variable, unless the user has set it. */
static void app_with_ft(struct sx_run_app *app)
{
    static const char name[] = "OMPI_MCA_mpi_ft_enable=";

    for (size_t i = 0; i < app->env_count; i++) {
        if (strncmp(app->env[i], name, sizeof(name) - 1) == 0) {
            return;
        }
    }
    sx_run_app_env_add(app, sx_cli_printf("%s1", name));
}

static int refuse_no_program(const struct sx_run_options *options, const struct sx_verb *verb,
                             const char *word)
{
    if (options->app_count > 1 || (word != NULL && word[0] == ':')) {
        return sx_options_refuse(verb, NULL,
                                 "there is no program %s, where number %u should be; write "
                                 "'[options] PROGRAM [ARGS] : [options] PROGRAM [ARGS]'",
                                 word != NULL ? "before a ':'" : "behind the last ':'",
                                 options->app_count);
    }
    return sx_options_refuse(verb, "-n", "no program given");
}

/* Take the program at **words and its arguments.  *words advances to the ':' behind them, or to the
 * end. */
static int take_program(struct sx_run_options *options, const struct sx_verb *verb,
                        struct sx_run_app *app, char ***words)
{
    const char *const word = **words;

    if (word == NULL || word[0] == '\0' || strcmp(word, ":") == 0) {
        return refuse_no_program(options, verb, word);
    }
    if (options->per_node > 0 && app->rank_count > options->per_node) {
        return sx_options_refuse(
            verb, "--npernode",
            "-n %u with at most %u on a node (%s) wants more nodes than this one%s",
            app->rank_count, options->per_node,
            options->per_node_by_map ? "--map-by ppr" : "-N, --npernode",
            options->per_node_by_map ? "" : "; srun's -N, a number of nodes, has no place here");
    }
    if (app->rank_count == 0) {
        app->rank_count = options->per_node;
    }
    if (app->rank_count == 0 && options->per_part > 0) {
        return sx_options_refuse(
            verb, "-n",
            "--map-by ppr:%u:%s is at most %u ranks for each: -n N is missing, "
            "the number of all of them",
            options->per_part, sx_run_map_name(options->map), options->per_part);
    }
    app->by_default = app->rank_count == 0 && app->slot_count == 0;
    if (app->rank_count == 0) {
        app->rank_count = app->slot_count > 0 ? app->slot_count : 1;
    }
    if (app->rank_count > SX_RUN_RANKS_MAX - options->rank_count) {
        return sx_options_refuse(verb, "-n",
                                 "-n %u for program %u: with those before it there would be %u "
                                 "ranks, and at most %u are possible",
                                 app->rank_count, options->app_count,
                                 options->rank_count + app->rank_count, SX_RUN_RANKS_MAX);
    }
    options->rank_count += app->rank_count;
    app->program = *words;
    while (**words != NULL && strcmp(**words, ":") != 0) {
        (*words)++;
    }
    return SX_OPTIONS_TAKEN;
}

static int take_words(struct sx_run_options *options, const struct source *source, char **words);

/* Take one line of the app file that @common names. */
static int take_line(struct sx_run_options *options, const struct sx_run_app *common,
                     const struct sx_run_appline *line)
{
    struct sx_verb verb = sx_run_verb;
    const struct source source = { .verb = &verb, .common = common };
    char *const where = sx_cli_printf("%s, line %u: ", common->file, line->number);

    verb.where = where;
    const int code = take_words(options, &source, line->words);

    free(where);
    return code;
}

/* The last application is an app file: replace it by the applications of the file's lines. */
static int take_file(struct sx_run_options *options, const struct source *source, char **words)
{
    struct sx_run_app common = options->apps[--options->app_count];
    char message[SX_RUN_MESSAGE_MAX];
    int code = SX_OPTIONS_TAKEN;

    options->files = sx_cli_realloc(options->files, options->file_count + 1,
                                    sizeof(*options->files));
    struct sx_run_appfile *const file = &options->files[options->file_count];

    if (source->common != NULL) {
        code = sx_options_refuse(source->verb, NULL, "an app file cannot name another one");
    } else if (*words != NULL && strcmp(*words, ":") != 0) {
        code = sx_options_refuse(source->verb, NULL,
                                 "--app '%.80s' stands in the place of a program, and '%.80s' "
                                 "follows it: put it into the file, or behind a ':'",
                                 common.file, *words);
    } else if (!sx_run_appfile_init(file, common.file, message)) {
        code = sx_options_refuse(source->verb, NULL, "%s", message);
    } else {
        options->file_count++;
    }
    for (size_t i = 0; code == SX_OPTIONS_TAKEN && i < file->line_count; i++) {
        code = take_line(options, &common, &file->lines[i]);
    }
    app_deinit(&common);
    return code;
}

static int take_words(struct sx_run_options *options, const struct source *source, char **words)
{
    bool another = true;

    for (; another; words++) {
        struct sx_run_app *const app = app_begin(options, source->common);
        const bool first = source->common == NULL && options->app_count == 1;
        int code = sx_options_take(source->verb, first ? options : NULL, app, &words);

        if (code == SX_OPTIONS_TAKEN) {
            code = app->file != NULL ? take_file(options, source, words)
                                     : take_program(options, source->verb, app, &words);
        }
        if (code != SX_OPTIONS_TAKEN) {
            return code;
        }
        another = *words != NULL;
        *words = NULL;
    }
    return SX_OPTIONS_TAKEN;
}

/* Without an option for the time limit, take it from the environment, in the same format. */
static int take_environment(struct sx_run_options *options)
{
    const char *const value = getenv(TIMEOUT_VARIABLE);

    options->timeout_by = "--timeout";
    if (options->timeout_ns != 0 || value == NULL || value[0] == '\0') {
        return SX_OPTIONS_TAKEN;
    }
    if (!set_timeout(&options->timeout_ns, value)) {
        return sx_options_refuse(&sx_run_verb, "--timeout",
                                 TIMEOUT_VARIABLE
                                 "=%.80s in the environment: it wants " TIMEOUT_WANTS,
                                 value);
    }
    options->timeout_by = TIMEOUT_VARIABLE;
    return SX_OPTIONS_TAKEN;
}

static int judge_reports(const struct sx_run_options *options)
{
    const char *const said = options->report_stacks  ? "--get-stack-traces"
                             : options->report_state ? "--report-state-on-timeout"
                                                     : NULL;

    return said == NULL || (options->timeout_ns != 0 && options->timeout_ns != SX_DEADLINE_NEVER)
               ? SX_OPTIONS_TAKEN
               : sx_options_refuse(&sx_run_verb, "--timeout",
                                   "%s is for the end of a time limit, and there is none: add "
                                   "--timeout SECONDS",
                                   said);
}

/* The debugger has the terminal. */
static int judge_debugger(struct sx_run_options *options)
{
    if (options->debugger_one && options->debugger == NULL) {
        return sx_options_refuse(&sx_run_verb, "--debugger",
                                 "--debugger-rank %u is for the command of --debugger, and there "
                                 "is none",
                                 options->debugger_rank);
    }
    if (options->debugger_one && options->debugger_rank >= options->rank_count) {
        return sx_options_refuse(&sx_run_verb, "--debugger-rank",
                                 "--debugger-rank %u: there is no such rank; there are ranks 0 to "
                                 "%u",
                                 options->debugger_rank, options->rank_count - 1);
    }
    if (options->debugger != NULL) {
        options->stdin_mode = SX_RUN_STDIN_NONE;
    }
    return SX_OPTIONS_TAKEN;
}

int sx_run_options_init(struct sx_run_options *options, char **argv)
{
    const struct source command_line = { .verb = &sx_run_verb };
    char message[SX_RUN_MESSAGE_MAX];

    *options = (struct sx_run_options){ .kill_grace_ns = SX_RUN_GRACE_BY_CAUSE,
                                        .event_grace_ns = EVENT_GRACE_NS,
                                        .bind = SX_RUN_BIND_NOT_GIVEN };
    int code = take_words(options, &command_line, argv);

    if (code == SX_OPTIONS_TAKEN) {
        sx_run_batch_take(options);
        code = take_environment(options);
    }
    if (code == SX_OPTIONS_TAKEN) {
        code = judge_reports(options);
    }
    if (code == SX_OPTIONS_TAKEN) {
        code = judge_debugger(options);
    }
    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (options->separate_jobs && options->app_count > SX_RUN_JOBS_MAX) {
        return sx_options_refuse(&sx_run_verb, "--separate-jobs",
                                 "%u programs would be %u jobs, and at most %u are possible; leave "
                                 "out --separate-jobs to make them one job",
                                 options->app_count, options->app_count, SX_RUN_JOBS_MAX);
    }
    if (!sx_run_files_judge(&options->output, message, sizeof(message))) {
        return sx_options_refuse(&sx_run_verb, "--output", "--output: %s", message);
    }
    for (uint32_t i = 0; i < options->app_count && options->with_ft; i++) {
        app_with_ft(&options->apps[i]);
    }
    if (options->rank_by != NULL && !sx_run_policy_rank(options, options->rank_by, message)) {
        return sx_options_refuse(&sx_run_verb, "--map-by", "--rank-by %.80s: %s", options->rank_by,
                                 message[0] != '\0' ? message
                                                    : "it wants slot, or what --map-by has");
    }
    if (!sx_run_bind_default(options)) {
        return sx_options_refuse(
            &sx_run_verb, "--cpus-per-rank",
            "--cpus-per-rank counts cores, or with --bind-to hwthread hardware "
            "threads, and --bind-to %s binds to neither",
            sx_run_level_name(options->bind));
    }
    if (options->stdin_mode == SX_RUN_STDIN_RANK && options->stdin_rank >= options->rank_count) {
        return sx_options_refuse(&sx_run_verb, "--stdin",
                                 "--stdin %u: there is no such rank; there are ranks 0 to %u%s",
                                 options->stdin_rank, options->rank_count - 1,
                                 options->separate_jobs ? ", counted through all jobs" : "");
    }
    return SX_OPTIONS_TAKEN;
}

void sx_run_options_deinit(struct sx_run_options *options)
{
    for (uint32_t i = 0; i < options->app_count; i++) {
        app_deinit(&options->apps[i]);
    }
    for (size_t i = 0; i < options->file_count; i++) {
        sx_run_appfile_deinit(&options->files[i]);
    }
    free(options->files);
    for (size_t i = 0; i < options->output_count; i++) {
        free(options->output_words[i]);
    }
    free(options->output_words);
    free(options->cpus);
    free(options->apps);
    *options = (struct sx_run_options){ .app_count = 0 };
}
