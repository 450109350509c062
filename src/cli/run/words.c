/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.c - the words of other launchers. */
#include "cli/run/words.h"

#include <stddef.h>

#define NODES                                                                                      \
    "is about several nodes, and 'shmix run' starts all ranks on this one: leave it out (-n N is " \
    "the number of ranks), or use mpirun of Open MPI 4 or srun: 'man shmix-hosts' "                \
    "(docs/hosts.md) has the lines with which they run over this library"
#define DEBUG                                                                                  \
    "is no option here: with SHMIX_LOG=debug in the environment the library says more, and a " \
    "debugger is started by --debugger 'gdb -p {pid}'"
#define PLACES                                                                                   \
    "is no option here: --map-by says how ranks are dealt out and --bind-to what each is bound " \
    "to, as --map-by core, --map-by numa --bind-to core; one rank's CPUs: taskset -c 0-3 PROGRAM"
#define FILES                                                                              \
    "is no option here: programs and their files are on this node already, and output is " \
    "redirected by the shell (shmix run --tag-output ... > out)"
#define DAEMONS                                                                            \
    "is about the daemons of other launchers, and 'shmix run' has none: leave it out; it " \
    "starts the ranks itself"
#define SETTINGS                                                                                \
    "is no option here: a setting of Open MPI is --mca KEY VALUE, a file of them is read with " \
    "--env OMPI_MCA_mca_base_param_files=FILE"

#define PRRTE                                                                              \
    "is a setting of another launcher, and 'shmix run' has none of them: leave it out (a " \
    "setting of Open MPI is --mca KEY VALUE)"

#define TAKEN(words_, meant_)                              \
    {                                                      \
        .words = (words_), .meant = (meant_), .same = true \
    }
#define TOLD(words_, meant_)                 \
    {                                        \
        .words = (words_), .meant = (meant_) \
    }

const struct sx_habit sx_run_habits[] = {
    TAKEN("--n --ntasks", "-n"),
    TAKEN("-wd -cwd --chdir -D", "--wdir"),
    TAKEN("-w --nodelist --hosts", "--host"),
    TAKEN("--gmca --omca", "--mca"),
    TAKEN("--timestamp-output", "--output timestamp"),
    TAKEN("--merge-stderr-to-stdout", "--output merge"),
    TAKEN("--xml", "--output xml"),
    TAKEN("--output-filename", "--output dir="),
    TAKEN("--report-bindings", "--display bindings"),
    TAKEN("--display-map", "--display map"),
    TAKEN("-c --cpus-per-task", "--cpus-per-rank"),
    TAKEN("--enable-recovery --continuous", "--on-failure notify"),
    TOLD("--export -genv -env --genv", "--env"),
    TOLD("-t --time --time-limit", "--timeout"),
    TOLD("-l --label -prepend-rank", "--tag-output"),
    TOLD("--input -i", "--stdin"),
    TOLD("--cpu-bind --bind-to-core --bind-to-socket --bind-to-none", "--bind-to"),
    TOLD("--distribution -m --bynode --byslot --bycore --bysocket --bynuma", "--map-by"),
    TOLD("--rank-by", "--map-by"),
    TOLD("--display-devel-map", "--display map"),
    TOLD("--do-not-launch --donotlaunch --test-only", "--dry-run"),
    TOLD("--kill-on-bad-exit -K", "--on-failure"),
    TOLD("--ompi-server --report-pid", "--report-uri"),
    TOLD("-configfile --configfile --multi-prog", "--app"),
    TOLD("--default-hostfile --add-host --add-hostfile", "--host"),
    TOLD("-N --nodes --npernode --ntasks-per-node -ppn --pernode --npersocket", NODES),
    TOLD("-rf --rankfile --cpu-set --cpu-list", PLACES),
    TOLD("--use-hwthread-cpus --slot-list -nooversubscribe --nooversubscribe --no-oversubscribe",
         PLACES),
    TOLD("--preload-binary", FILES),
    TOLD("--preload-files -s --set-cwd-to-session-dir --prefix --path --xterm", FILES),
    TOLD("--launch-agent --noprefix --no-prefix --dvm --novm --hnp --launcher -launcher", DAEMONS),
    TOLD("--leave-session-attached --debug-daemons --debug-daemons-file --personality", DAEMONS),
    TOLD("--use-regexp --tmpdir", DAEMONS),
    TOLD("--prtemca --pmixmca", PRRTE),
    TOLD("--tune --am", SETTINGS),
    TOLD("-d --debug --debug-devel --tv", DEBUG),
    TOLD(NULL, NULL),
};
