/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_spawn.h - a spawn over PMI-1: its lines are gathered, and become a request.
 *
 *   mcmd=spawn --lines--> endcmd --it was the last of totspawns--> launch/ask/spawn_request.h
 *       ^--------------------/ others follow
 *
 * A rank cannot make this cost more than its bounds.  What passes one is dropped, with all that was
 * gathered and all that follows, and the spawn is refused at its end. */
#ifndef SX_LAUNCH_PMI_PMI1_SPAWN_H
#define SX_LAUNCH_PMI_PMI1_SPAWN_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stdint.h>

#include "launch/job/job.h"
#include "launch/pmi/pmi1_words.h"

#define SX_RUN_PMI1_SPAWN_LINE_MAX 131072u     /* without its end: as long as one argument can be */
#define SX_RUN_PMI1_SPAWN_BYTES_MAX (1u << 20) /* of one spawn, with what its words cost */
#define SX_RUN_PMI1_SPAWN_COMMANDS_MAX 1024u

struct sx_run_pmi1_spawn {
    pmix_app_t *apps;
    size_t app_count, arg_count;      /* arg_count: of the last one */
    struct sx_run_pmi1_words preputs; /* what the new job's ranks find, from the beginning */
    char *key, *path;                 /* whose value comes next; where the program is looked for */
    size_t bytes;
    int64_t total, so_far;            /* commands */
    const char *wrong;                /* why it is refused, as the rank is told; NULL: it is not */
    char message[SX_RUN_MESSAGE_MAX]; /* the same for the user */
};

/* A spawn, and a command of it that begins.  @folder: where its program stands unless the command
 * names another folder; NULL: in the launcher's. */
struct sx_run_pmi1_spawn *sx_run_pmi1_spawn_new(void);
struct sx_run_pmi1_spawn *sx_run_pmi1_spawn_free(struct sx_run_pmi1_spawn *spawn); /* or NULL */
void sx_run_pmi1_spawn_begin(struct sx_run_pmi1_spawn *spawn, const char *folder);

/* Take a line of a command, which is changed.  Return: true when it ends the command. */
bool sx_run_pmi1_spawn_line(struct sx_run_pmi1_spawn *spawn, char *text);
/* There was a line that is too long. */
void sx_run_pmi1_spawn_long(struct sx_run_pmi1_spawn *spawn);
/* After the end of a command: none follows. */
bool sx_run_pmi1_spawn_is_whole(const struct sx_run_pmi1_spawn *spawn);

/* Start a job of it for @rank of @job.  Return: NULL, and @fn is called once, now or later; or why
 * not, in one word; the user has been told. */
const char *sx_run_pmi1_spawn_start(struct sx_run_pmi1_spawn *spawn, struct sx_run_job *job,
                                    uint32_t rank, pmix_spawn_cbfunc_t fn, void *arg);

#endif
