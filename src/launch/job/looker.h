/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* looker.h - the processes that look up what spawns name, and the one that makes them.
 *
 *   launcher --executes itself, at the first spawn--> looker --fork, for each order--> look-up
 *       \--- order: a memfd with the request, a pipe for the answer ---^       |
 *        ^------------------------------ answer, the pipe's end ---------------/
 *
 * A fork of the launcher would copy the page tables of all that it holds for all of its jobs.  So
 * the looker is executed anew, and its forks cost the same however large the launcher is.  A
 * look-up has a copy of the request, and some facts about the launcher.  The pipe ends when the
 * look-up is gone, whatever has ended it.  Look-ups die with the looker, and it with the
 * launcher. */
#ifndef SX_LAUNCH_JOB_LOOKER_H
#define SX_LAUNCH_JOB_LOOKER_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/ask/spawn_request.h"
#include "launch/place/program.h"

/* The name under which the command is the looker (argv[0]). */
#define SX_LOOKER_NAME "shmix-lookup"
#define SX_LOOKER_CPU_SECONDS 10 /* of one look-up */

/* ---- the answer ------------------------------------------------------------------------------ */

/* One head, and one struct sx_look_app for each application, with the bytes of its path behind it.
 * Nothing follows the head of a request that is refused. */
struct sx_look_answer {
    int32_t status;
    uint32_t target_count, beside_count;
    char message[SX_RUN_MESSAGE_MAX];
};

struct sx_look_app {
    uint32_t path_bytes; /* with its NUL */
    uint32_t searched;   /* in the folders of the spawn's own */
    struct sx_run_image image;
};

/* ---- the launcher's side --------------------------------------------------------------------- */

struct sx_looker {
    int fd;    /* -1: it is not there */
    pid_t pid; /* 0: it has been reaped */
};

#define SX_LOOKER_NULL \
    (struct sx_looker) \
    {                  \
        .fd = -1       \
    }

/* The facts about the launcher that a look-up needs; all of them are borrowed. */
struct sx_look_scene {
    const char *lib_dir, *dir; /* dir: the session's */
    char **env;                /* that the spawn starts from */
    pmix_proc_t *jobs;         /* those that live; the rank is the number of their ranks */
    size_t job_count;
};

/* An order, as it is written: the scene and the request, but for its applications; then some of
 * these with each call, until all are there.  Return: 0 or errno. */
struct sx_look_order {
    int fd;      /* a memfd; -1: it is not begun */
    size_t apps; /* so many are in it */
    uint64_t number;
};
int sx_look_order_begin(struct sx_look_order *order, const struct sx_look_scene *scene,
                        const struct sx_run_request *request);
int sx_look_order_step(struct sx_look_order *order, const struct sx_run_request *request);
void sx_look_order_drop(struct sx_look_order *order);

/* Give the order, which is complete, to the looker, which is made if it is not there.  Return: 0,
 * and the end of the answer's pipe that is read, non-blocking; or errno. */
int sx_looker_give(struct sx_looker *looker, const struct sx_look_order *order, int *ret_fd);
/* End the look-up of the order @number. */
void sx_looker_end(struct sx_looker *looker, uint64_t number);
/* A look-up is overdue.  A looker that is stopped can neither make nor end it, and is killed: the
 * next order makes another one.  Return: whether it was stopped. */
bool sx_looker_check(struct sx_looker *looker);
/* One line that says why no process could be made: @why is errno. */
void sx_looker_fault(int why, char message[SX_RUN_MESSAGE_MAX]);
/* @pid has been reaped; any process. */
void sx_looker_ended(struct sx_looker *looker, pid_t pid);
/* Kill the looker, and with it all look-ups. */
void sx_looker_deinit(struct sx_looker *looker);

/* ---- the look-up ----------------------------------------------------------------------------- */

/* Find all that @request names.  Return: PMIX_SUCCESS, and its programs, which have no environment;
 * or why it is refused, with one line in @message. */
pmix_status_t sx_look_all(const struct sx_look_scene *scene, struct sx_run_request *request,
                          struct sx_run_program **ret_programs, char message[SX_RUN_MESSAGE_MAX]);

/* ---- the looker ------------------------------------------------------------------------------ */

/* Whether the words of a command are the looker's; run it. */
bool sx_looker_is(int argc, char **argv);
int sx_looker_main(char **argv);

#endif
