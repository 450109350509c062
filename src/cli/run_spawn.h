/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_spawn.h - start one rank.
 *
 * Everything that needs memory or a lock is prepared before: the launcher has a second thread by
 * then, and until it executes the program its child may only make system calls.  A rank leads a
 * process group of its own, dies with the launcher, and has no descriptors but the standard ones
 * and those that the launcher's own parent meant for it.  What goes wrong before exec is reported
 * through a pipe that exec closes. */
#ifndef SX_CLI_RUN_SPAWN_H
#define SX_CLI_RUN_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "cli/janitor.h"
#include "cli/run_place.h"

/* What all ranks have in common. */
struct sx_run_spawn {
    const char *path;       /* for execve, relative to wdir if not absolute */
    char **argv;
    char **sh_argv;         /* for a script without "#!" */
    const char *wdir;       /* NULL: the launcher's */
    struct rlimit files;    /* the limit that the user had */
    bool keep_hup_ignored;  /* nohup */
    int report_fd;          /* close-on-exec; gets struct sx_run_spawn_failure */
    pid_t launcher;
    const struct sx_janitor *janitor;
};

enum sx_run_spawn_stage {
    SX_RUN_SPAWN_PREPARE = 0,
    SX_RUN_SPAWN_BIND,
    SX_RUN_SPAWN_WDIR,
    SX_RUN_SPAWN_EXEC,
};

struct sx_run_spawn_failure {
    uint32_t rank;
    uint32_t stage;
    int32_t error;
};

/* Start @rank with @env and the standard descriptors @fds (borrowed).  Return: its pid, or -1 and
 * errno. */
pid_t sx_run_spawn_rank(const struct sx_run_spawn *spawn, uint32_t rank, char **env,
                        const struct sx_run_place *place, const int fds[3]);

#endif
