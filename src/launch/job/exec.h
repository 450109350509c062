/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* exec.h - start one rank.
 *
 * Everything that needs memory or a lock is prepared before.  The launcher has a second thread by
 * then, so its child may only make system calls until it executes the program.  A rank leads a
 * process group of its own and dies with the launcher.  It has the standard descriptors, its
 * connection for PMI-1, and those that the launcher's own parent meant for it.  A failure before
 * exec is reported through a pipe that exec closes. */
#ifndef SX_LAUNCH_JOB_EXEC_H
#define SX_LAUNCH_JOB_EXEC_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "launch/job/janitor.h"
#include "launch/place/place.h"
#include "launch/place/program.h"

/* The settings that all ranks have in common. */
struct sx_run_spawn {
    struct rlimit files; /* the limit that the user had */
    sigset_t ignored;    /* signals that ranks are not to ignore as the launcher does */
    int report_fd;       /* close-on-exec; receives struct sx_run_spawn_failure */
    pid_t launcher;
    const struct sx_janitor *janitor;
};

enum sx_run_spawn_stage {
    SX_RUN_SPAWN_PREPARE = 0,
    SX_RUN_SPAWN_BIND,
    SX_RUN_SPAWN_WDIR,
    SX_RUN_SPAWN_EXEC,
    SX_RUN_SPAWN_STOP,
};

struct sx_run_spawn_failure {
    uint32_t job, rank;
    uint32_t stage;
    int32_t error;
};

/* The settings of one rank; all pointers are borrowed. */
struct sx_run_spawn_rank {
    uint32_t job, rank; /* in reports of failure */
    const struct sx_run_program *program;
    char **argv; /* the rank's own words */
    const struct sx_run_place *place;
    char **env;
    const int *fds;   /* its three standard descriptors */
    int pmi1_fd;      /* the rank inherits this descriptor under its number */
    bool at_terminal; /* its input is a terminal, which becomes its controlling one */
    bool is_traced;   /* by any process of its user, even where the system forbids it (Yama) */
    bool stops;       /* before the first instruction of its program, until SIGCONT or a debugger */
};

/* The signals that this process ignores; without SIGHUP if SIGHUP is to stay ignored (nohup). */
void sx_run_spawn_ignored(sigset_t *ret_ignored, bool keep_hup_ignored);

/* Start a rank.  Return: its pid, or -1 and errno. */
pid_t sx_run_spawn_rank(const struct sx_run_spawn *spawn, const struct sx_run_spawn_rank *rank);

#endif
