/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.c - the words of other launchers. */
#include "cli/run/words.h"

#include <stddef.h>

#define NODES                                                                                      \
    "is about several nodes, and 'shmix run' starts all ranks on this one: leave it out (-n N is " \
    "the number of ranks), or use mpirun or srun, which can run over this library as well "        \
    "(LD_LIBRARY_PATH)"
#define DEBUG                                                                                  \
    "is no option here: with SHMIX_LOG=debug in the environment the library says more, and a " \
    "debugger is a program like any other (shmix run -n 2 xterm -e gdb PROGRAM)"
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

const struct sx_habit sx_run_habits[] = {
    { "-c --n --ntasks", "-n" },
    { "--export -genv -env --genv", "--env" },
    { "-wd -cwd --chdir -D", "--wdir" },
    { "-t --time --time-limit", "--timeout" },
    { "-l --label -prepend-rank", "--tag-output" },
    { "--timestamp-output", "--output timestamp" },
    { "--merge-stderr-to-stdout", "--output merge" },
    { "--xml -xml", "--output xml" },
    { "--input -i", "--stdin" },
    { "--cpu-bind --bind-to-core --bind-to-socket --bind-to-none", "--bind-to" },
    { "--distribution -m --bynode --byslot --bycore --bysocket --bynuma", "--map-by" },
    { "--rank-by", "--map-by" },
    { "--report-bindings", "--display bindings" },
    { "--display-map --display-devel-map", "--display map" },
    { "--do-not-launch --donotlaunch --test-only", "--dry-run" },
    { "--gmca --omca --prtemca --pmixmca", "--mca" },
    { "--kill-on-bad-exit -K", "--on-failure" },
    { "--enable-recovery --continuous", "--on-failure notify" },
    { "--ompi-server --report-pid", "--report-uri" },
    { "-configfile --configfile --multi-prog", "--app" },
    { "-w --nodelist --hosts --default-hostfile --add-host --add-hostfile", "--host" },
    { "-N --nodes --npernode --ntasks-per-node -ppn --pernode --npersocket", NODES },
    { "-rf --rankfile --cpu-set --cpu-list --cpus-per-proc --cpus-per-rank --cpus-per-task",
      PLACES },
    { "--use-hwthread-cpus --slot-list -nooversubscribe --nooversubscribe --no-oversubscribe",
      PLACES },
    { "--output-filename", "--output" },
    { "--preload-binary", FILES },
    { "--preload-files -s --set-cwd-to-session-dir --prefix --path --xterm", FILES },
    { "--launch-agent --noprefix --no-prefix --dvm --novm --hnp --launcher -launcher", DAEMONS },
    { "--leave-session-attached --debug-daemons --debug-daemons-file --personality", DAEMONS },
    { "--use-regexp --max-restarts --tmpdir", DAEMONS },
    { "--tune --am", SETTINGS },
    { "-d --debug --debug-devel --get-stack-traces --tv --debugger", DEBUG },
    { NULL, NULL },
};
