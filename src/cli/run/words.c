/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.c - the words of other launchers. */
#include "cli/run/words.h"

#include <stddef.h>

#define NODES                                                                                      \
    "is about several nodes, and 'shmix run' starts all ranks on this one: leave it out (-n N is " \
    "the number of ranks), or use mpirun or srun, which can run over this library as well "        \
    "(LD_LIBRARY_PATH)"
#define TALK                                                                                   \
    "is no option here: --display map,bindings shows where ranks go, and with SHMIX_LOG=info " \
    "(or debug) in the environment the library says more"
#define HUSH                                                                                      \
    "is no option here: 'shmix run' says only what is wrong; SHMIX_LOG=error in the environment " \
    "leaves out the library's warnings"
#define DEBUG                                                                                  \
    "is no option here: with SHMIX_LOG=debug in the environment the library says more, and a " \
    "debugger is a program like any other (shmix run -n 2 xterm -e gdb PROGRAM)"

const struct sx_habit sx_run_habits[] = {
    { "-c --n --ntasks", "-n" },
    { "--export", "--env" },
    { "-wd --chdir -D", "--wdir" },
    { "-t --time", "--timeout" },
    { "-l --label", "--tag-output" },
    { "--input -i", "--stdin" },
    { "--cpu-bind", "--bind-to" },
    { "--distribution -m", "--map-by" },
    { "--report-bindings", "--display bindings" },
    { "--display-map", "--display map" },
    { "--kill-on-bad-exit -K", "--on-failure" },
    { "--enable-recovery", "--on-failure notify" },
    { "-H --host --hostfile --machinefile -w --nodelist", NODES },
    { "-N --nodes --npernode --ntasks-per-node -ppn", NODES },
    { "-v --verbose", TALK },
    { "-q --quiet", HUSH },
    { "-d --debug --debug-devel", DEBUG },
    { NULL, NULL },
};
