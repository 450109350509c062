/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign_options.c - options of other launchers.  Each is taken as an option of shmix, or with its
 * own values, or the answer names the option to write instead. */
#include "launch/ask/sources.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"
#include "launch/ask/options.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/place/program.h"

#define NODES                                                                                      \
    "is about several nodes, and 'shmix run' starts all ranks on this one: leave it out (-n N is " \
    "the number of ranks), or use mpirun of Open MPI 4 or srun: 'man shmix-hosts' "                \
    "(docs/hosts.md) has the lines with which they run over this library"
#define DEBUG                                                                                  \
    "is no option here: with SHMIX_LOG=debug in the environment the library says more, and a " \
    "debugger is started by --debugger 'gdb -p {pid}'"
#define FILES                                                                              \
    "is no option here: programs and their files are on this node already, and output is " \
    "redirected by the shell (shmix run --tag-output ... > out)"
#define DAEMONS                                                                            \
    "is about the daemons of other launchers, and 'shmix run' has none: leave it out; it " \
    "starts the ranks itself"
#define SETTINGS                                                                                \
    "is no option here: a setting of Open MPI is --mca KEY VALUE, a file of them is read with " \
    "--env OMPI_MCA_mca_base_param_files=FILE"

#define QUEUE \
    "is for the queue of a batch system: give it to sbatch, qsub or bsub, and leave it out here"
#define PRRTE                                                                              \
    "is a setting of another launcher, and 'shmix run' has none of them: leave it out (a " \
    "setting of Open MPI is --mca KEY VALUE)"

#define TAKEN(words_, meant_)                              \
    {                                                      \
        .words = (words_), .meant = (meant_), .same = true \
    }
#define NOTIFIED(words_, meant_)             \
    {                                        \
        .words = (words_), .meant = (meant_) \
    }

const struct sx_habit sx_run_habits[] = {
    TAKEN("--n --ntasks", "-n"),
    TAKEN("--wd --cwd --chdir -D", "--wdir"),
    TAKEN("-w --nodelist --hosts", "--host"),
    TAKEN("-f", "--hostfile"),
    TAKEN("--gmca --omca", "--mca"),
    TAKEN("--timestamp-output", "--output timestamp"),
    TAKEN("--merge-stderr-to-stdout", "--output merge"),
    TAKEN("--xml", "--output xml"),
    TAKEN("-l --label --prepend-rank", "--output rank"),
    TAKEN("--output-filename", "--output dir="),
    TAKEN("--report-bindings", "--display bindings"),
    TAKEN("--display-map --print-rank-map", "--display map"),
    TAKEN("--display-devel-map", "--display map-detailed"),
    TAKEN("--display-allocation", "--display allocation"),
    TAKEN("--display-topo", "--display topology"),
    TAKEN("-c --cpus-per-task", "--cpus-per-rank"),
    TAKEN("--enable-recovery --continuous", "--on-failure notify"),
    TAKEN("--do-not-launch --donotlaunch --test-only", "--dry-run"),
    TAKEN("-O --overcommit", "--oversubscribe"),
    TAKEN("--mapby", "--map-by"),
    TAKEN("--bindto", "--bind-to"),
    TAKEN("--bynode --byslot", "--map-by slot"),
    TAKEN("--bycore", "--map-by core"),
    TAKEN("--bysocket", "--map-by package"),
    TAKEN("--bynuma", "--map-by numa"),
    TAKEN("--bind-to-core", "--bind-to core"),
    TAKEN("--bind-to-socket", "--bind-to package"),
    TAKEN("--bind-to-none", "--bind-to none"),
    TAKEN("--pernode", "--npernode 1"),
    TAKEN("--set-env --set-envar", "--env"),
    NOTIFIED("-t --time --time-limit",
             "counts minutes elsewhere: the limit here is --timeout SECONDS"),
    NOTIFIED("--spawn-timeout",
             "is a limit for the start alone: --timeout SECONDS is one for the whole job"),
    NOTIFIED("-W --wait",
             "is a time after the first rank's good end: --timeout SECONDS is one for the "
             "whole job, and a rank that fails ends it at once (--on-failure)"),
    NOTIFIED("--input -i", "is the shell's here: shmix run ... < FILE, which rank 0 reads, or with "
                           "--stdin all every rank"),
    NOTIFIED("-o",
             "is the shell's here: shmix run ... > FILE; a file for each rank: --output file=NAME"),
    NOTIFIED("-e --error",
             "is the shell's here: shmix run ... 2> FILE; a file for each rank: --output "
             "file=NAME"),
    NOTIFIED(
        "--mem --mem-per-cpu --mem-per-gpu",
        "is Slurm's: a limit of memory here is 'ulimit -v KIB' before, or 'systemd-run --scope -p "
        "MemoryMax=1G shmix run ...'"),
    NOTIFIED("--gpus-per-task --gpus -G --gres --gpus-per-node --gpu-bind --gpus-per-socket",
             "is Slurm's: a rank chooses by its number, as sh -c "
             "'CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_LOCAL_RANK exec PROGRAM'"),
    NOTIFIED("-J --job-name -A --account -p --partition --qos -q -C --constraint --exclusive",
             QUEUE),
    NOTIFIED("--nolocal",
             "keeps ranks off this node, and 'shmix run' has no other one: leave it out"),
    NOTIFIED("--forward-signals",
             "is not needed: SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP, SIGCONT, "
             "SIGUSR1 and SIGUSR2 are passed on in any case"),
    NOTIFIED("-genvnone -envnone", "is env(1)'s here: env -i PATH=\"$PATH\" shmix run ..."),
    NOTIFIED(
        "-rf --rankfile",
        "is a place for each rank: here each is a program, -n 1 taskset -c CPUS PROGRAM : -n 1 "
        "taskset -c CPUS PROGRAM; all ranks on some CPUs: --cpu-list CPUS"),
    NOTIFIED("--slot-list", "is --cpu-list CPUS here"),
    NOTIFIED("--npersocket", "is a number for each package: give that of all ranks, -n N --map-by "
                             "package, which deals them out in turn"),
    NOTIFIED(
        "--ompi-server",
        "names a server by which several mpiruns publish and look up: here programs that do that "
        "are jobs of one command, shmix run --separate-jobs -n 2 ONE : -n 2 OTHER"),
    NOTIFIED(
        "--stream-buffering",
        "is not needed: each line of the ranks is written when it is there; -u is for output that "
        "goes to a file"),
    NOTIFIED("-configfile --configfile --multi-prog", "--app"),
    NOTIFIED("--default-hostfile --add-host --add-hostfile", "--host"),
    NOTIFIED("--preload-binary", FILES),
    NOTIFIED("--preload-files -s --set-cwd-to-session-dir --prefix --path --xterm", FILES),
    NOTIFIED("--launch-agent --noprefix --no-prefix --dvm --novm --hnp --launcher -launcher",
             DAEMONS),
    NOTIFIED("--overlap --exact --no-kill -k --hint --threads-per-core --cpu-freq",
             "is for a step of Slurm, and 'shmix run' starts ranks itself: leave it out"),
    NOTIFIED("--leave-session-attached --debug-daemons --debug-daemons-file --personality",
             DAEMONS),
    NOTIFIED("--use-regexp --tmpdir", DAEMONS),
    NOTIFIED("--prtemca --pmixmca", PRRTE),
    NOTIFIED("--tune --am", SETTINGS),
    NOTIFIED("--background --bg --daemonize --daemon", "is the shell's here: shmix run ... &"),
    NOTIFIED("--valgrind --strace --perf",
             "is no option here: such a program comes before the program, as in 'shmix run -n 4 "
             "valgrind PROGRAM'"),
    NOTIFIED("--cpus --procs --processes --ranks --nprocs -j --jobs", "-n"),
    NOTIFIED("--output-file --outfile --logfile --log-file",
             "is --output file=NAME here, which writes a file for each rank"),
    NOTIFIED("-d --debug --debug-devel --tv --gdb", DEBUG),
    NOTIFIED(NULL, NULL),
};

/* ---- values of their own --------------------------------------------------------------------- */

/* The ranks have PMIx and PMI-1 with any value. */
static bool set_mpi(void *at, const char *value)
{
    (void)at;
    return strncmp(value, "pmi", 3) == 0 || strcmp(value, "none") == 0 ||
           strcmp(value, "openmpi") == 0;
}

/* srun's "ALL,A=1,B".  The whole environment is passed on. */
static bool set_export(void *at, const char *value)
{
    char *const copy = sx_cli_strdup(value), *rest = copy;
    const char *word;
    bool good = true;

    while (good && (word = strsep(&rest, ",")) != NULL) {
        good = word[0] != '\0' && word[0] != '=' && strcmp(word, "NONE") != 0 &&
               strcmp(word, "NIL") != 0;
        if (strchr(word, '=') != NULL && good) {
            sx_run_app_env_add(at, sx_cli_strdup(word));
        }
    }
    if (!good && (strcmp(value, "NONE") == 0 || strcmp(value, "NIL") == 0)) {
        sx_options_because_alone("an environment without those variables is env(1)'s: env -i "
                                 "PATH=\"$PATH\" shmix run ...");
    }
    free(copy);
    return good;
}

/* MPICH's "NAME VALUE". */
static bool set_genv(void *at, const char *value)
{
    const size_t len = strcspn(value, " =");

    if (len == 0 || value[len] != ' ') {
        return false;
    }
    sx_run_app_env_add(at, sx_cli_printf("%.*s=%s", (int)len, value, value + len + 1));
    return true;
}

static bool set_unset(void *at, const char *value)
{
    sx_run_app_env_add(at, sx_cli_printf("%c%s", SX_RUN_ENV_UNSET, value));
    return value[0] != '\0' && strchr(value, '=') == NULL;
}

/* prterun's "NAME[c] VALUE".  @kind: put VALUE before the present value, or behind it, with c
 * between them. */
static bool set_joined(void *at, const char *value, char kind)
{
    const size_t len = strcspn(value, " ");
    const bool good = len > 3 && value[len] == ' ' && value[len - 1] == ']' &&
                      value[len - 3] == '[';

    if (good) {
        sx_run_app_env_add(at, sx_cli_printf("%c%c%.*s=%s", kind, value[len - 2], (int)len - 3,
                                             value, value + len + 1));
    }
    return good;
}

static bool set_prepend(void *at, const char *value)
{
    return set_joined(at, value, SX_RUN_ENV_PREPEND);
}

static bool set_append(void *at, const char *value)
{
    return set_joined(at, value, SX_RUN_ENV_APPEND);
}

static bool set_nothing(void *at, const char *value)
{
    (void)at;
    return value == NULL || value[0] != '\0';
}

struct same {
    const char *word;
    enum sx_run_level level;
};

static bool same_find(const struct same *rows, size_t count, const char *word,
                      enum sx_run_level *ret_level)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].word, word) == 0) {
            *ret_level = rows[i].level;
            return true;
        }
    }
    return false;
}

/* srun's values, with commas between them. */
static bool set_cpu_bind(void *at, const char *value)
{
    static const struct same rows[] = {
        { "none", SX_RUN_LEVEL_NONE },        { "no", SX_RUN_LEVEL_NONE },
        { "threads", SX_RUN_LEVEL_HWTHREAD }, { "cores", SX_RUN_LEVEL_CORE },
        { "rank", SX_RUN_LEVEL_CORE },        { "sockets", SX_RUN_LEVEL_PACKAGE },
        { "ldoms", SX_RUN_LEVEL_NUMA },
    };
    struct sx_run_options *const options = at;
    char *const copy = sx_cli_strdup(value), *rest = copy;
    const char *word;
    bool good = true;

    while (good && (word = strsep(&rest, ",")) != NULL) {
        if (strcmp(word, "verbose") == 0 || strcmp(word, "v") == 0) {
            options->display.bindings = true;
        } else if (strcmp(word, "quiet") != 0 && strcmp(word, "q") != 0) {
            good = same_find(rows, SX_COUNT(rows), word, &options->bind);
        }
    }
    free(copy);
    return good;
}

/* srun's NODES[:CPUS[:...]]; there is one node. */
static bool set_distribution(void *at, const char *value)
{
    static const struct same nodes[] = { { "block", SX_RUN_LEVEL_NONE },
                                         { "cyclic", SX_RUN_LEVEL_NONE },
                                         { "*", SX_RUN_LEVEL_NONE } };
    static const struct same cpus[] = {
        { "block", SX_RUN_LEVEL_NONE },
        { "cyclic", SX_RUN_LEVEL_PACKAGE },
        { "fcyclic", SX_RUN_LEVEL_PACKAGE },
        { "*", SX_RUN_LEVEL_NONE },
    };
    char *const copy = sx_cli_strdup(value), *rest = copy;
    const char *const first = strsep(&rest, ":"), *const second = strsep(&rest, ":");
    const bool good = same_find(nodes, SX_COUNT(nodes), first, at) &&
                      (second == NULL || same_find(cpus, SX_COUNT(cpus), second, at));

    free(copy);
    return good;
}

static bool set_kill(void *at, const char *value)
{
    const bool goes_on = value != NULL && strcmp(value, "0") == 0;

    if (goes_on) {
        *(enum sx_run_on_failure *)at = SX_RUN_ON_FAILURE_NOTIFY;
    }
    return goes_on || value == NULL || strcmp(value, "1") == 0;
}

static bool set_per_node(void *at, const char *value)
{
    int64_t number = 0;
    const bool good = sx_cli_number(value, 1, SX_RUN_RANKS_MAX, &number);

    *(uint32_t *)at = (uint32_t)number;
    return good;
}

/* One node is all there is. */
static bool set_nodes_count(void *at, const char *value)
{
    (void)at;
    if (strcmp(value, "1") != 0 && strcmp(value, "1-1") != 0) {
        sx_options_because_alone(NODES);
        return false;
    }
    return true;
}

/* prterun's runtime options; each one is an option of shmix. */
static bool runtime_take(struct sx_run_options *options, const char *word)
{
    static const char *const so_anyway[] = { "abort-nonzero-status", "error-nonzero-status",
                                             "aggregate-help-messages", "fwd-environment",
                                             "show-progress" };
    static const char *const going_on[] = { "continuous", "recoverable", "notifyerrors" };

    for (size_t i = 0; i < SX_COUNT(so_anyway); i++) {
        if (strcasecmp(word, so_anyway[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < SX_COUNT(going_on); i++) {
        if (strcasecmp(word, going_on[i]) == 0) {
            options->on_failure = SX_RUN_ON_FAILURE_NOTIFY;
            return true;
        }
    }
    if (strcasecmp(word, "donotlaunch") == 0) {
        options->dry_run = true;
    } else if (strcasecmp(word, "report-state-on-timeout") == 0) {
        options->report_state = true;
    } else if (strcasecmp(word, "get-stack-traces") == 0) {
        options->report_stacks = true;
    } else if (strncasecmp(word, "timeout=", 8) == 0) {
        return sx_cli_seconds(&options->timeout_ns, word + 8);
    } else {
        return false;
    }
    return true;
}

static bool set_runtime(void *at, const char *value)
{
    char *const copy = sx_cli_strdup(value), *rest = copy;
    const char *word;
    bool good = true;

    while (good && (word = strsep(&rest, ",")) != NULL) {
        good = runtime_take(at, word);
    }
    free(copy);
    return good;
}

#define OF_APP 0, true
#define JOB 0, false
#define OF_JOB(member) offsetof(struct sx_run_options, member), false

const struct sx_option sx_run_foreign_options[] = {
    { "--mpi", NULL, "TYPE", "pmix", "pmix, pmi2, openmpi or none, which change nothing", NULL,
      set_mpi, JOB },
    { "--export", NULL, "LIST", "ALL,OMP_NUM_THREADS=2",
      "ALL, NAME and NAME=VALUE with commas between", NULL, set_export, OF_APP },
    { "-genv", "--genv -env", "NAME VALUE", "OMP_NUM_THREADS 2",
      "NAME VALUE (NAME=VALUE is --env's)", NULL, set_genv, OF_APP },
    { "-genvlist", "-envlist", "NAMES", "HOME", "names; all variables are passed on", NULL,
      set_nothing, OF_APP },
    { "-genvall", "-envall", NULL, NULL, NULL, NULL, NULL, OF_APP },
    { "--unset-env", "--unset-envar", "NAME", "OMP_NUM_THREADS", "the name of a variable", NULL,
      set_unset, OF_APP },
    { "--prepend-env", "--prepend-envar", "NAME VALUE", "LD_LIBRARY_PATH[:] /opt/lib",
      "NAME[c] VALUE, with the character c between it and what there is", NULL, set_prepend,
      OF_APP },
    { "--append-env", "--append-envar", "NAME VALUE", "LD_LIBRARY_PATH[:] /opt/lib",
      "NAME[c] VALUE, with the character c between what there is and it", NULL, set_append,
      OF_APP },
    { "--cpu-bind", "--cpu_bind", "TYPE", "cores",
      "none, threads, cores, rank, sockets or ldoms; CPUs of each rank: -n 1 taskset -c CPUS "
      "PROGRAM : ...",
      NULL, set_cpu_bind, JOB },
    { "--distribution", "-m", "NODES[:CPUS]", "block:cyclic",
      "block or cyclic, and block, cyclic or fcyclic behind a colon", NULL, set_distribution,
      OF_JOB(map) },
    { "--kill-on-bad-exit", "-K", "[0|1]", "--on-failure abort", "0 or 1, or nothing", NULL,
      set_kill, OF_JOB(on_failure) },
    { "--npernode", "-N --ntasks-per-node --tasks-per-node -ppn --ppn --perhost", "N", "4",
      "a number of ranks from 1 to 16384, as -n", NULL, set_per_node, OF_JOB(per_node) },
    { "--nodes", NULL, "N", "-n 4", "1", NULL, set_nodes_count, JOB },
    { "--rank-by", "--rankby", "POLICY", "slot", "slot, or what --map-by has", NULL, sx_option_text,
      OF_JOB(rank_by) },
    { "--use-hwthread-cpus", NULL, NULL, NULL, NULL, NULL, sx_option_flag, OF_JOB(hwthreads) },
    { "--nooversubscribe", "--no-oversubscribe", NULL, NULL, NULL, NULL, sx_option_flag,
      OF_JOB(not_over) },
    { "--rtos", "--runtime-options", "WORDS", "continuous",
      "words with commas between: continuous, recoverable, notifyerrors, donotlaunch, timeout=N, "
      "report-state-on-timeout, get-stack-traces, abort-nonzero-status, show-progress; a program's "
      "--max-restarts N is an option",
      NULL, set_runtime, JOB },
    { .name = NULL },
};
