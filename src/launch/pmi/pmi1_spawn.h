/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_spawn.h - a spawn over PMI-1: its lines are collected, and become a request.
 *
 *   mcmd=spawn --lines--> endcmd --it was the last of totspawns--> launch/ask/spawn_request.h
 *       ^--------------------/ others follow
 *
 * A rank cannot make a spawn cost more than these bounds.  If a line exceeds one, all lines of the
 * spawn are dropped, earlier and later ones, and the spawn is refused at its end. */
#ifndef SX_LAUNCH_PMI_PMI1_SPAWN_H
#define SX_LAUNCH_PMI_PMI1_SPAWN_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stdint.h>

#include "launch/job/job.h"
#include "launch/pmi/pmi1_words.h"

#define SX_RUN_PMI1_SPAWN_LINE_MAX 131072u     /* without its end: as long as one argument can be */
#define SX_RUN_PMI1_SPAWN_BYTES_MAX (1u << 20) /* of one spawn, with the cost of its words */
#define SX_RUN_PMI1_SPAWN_COMMANDS_MAX 1024u

struct sx_run_pmi1_spawn {
    pmix_app_t *apps;
    size_t app_count, arg_count;      /* arg_count: of the last application */
    struct sx_run_pmi1_words preputs; /* pairs that the ranks of the new job have from the
                                       * beginning */
    char *key, *path;                 /* key: its value comes next; path: directories of programs */
    size_t bytes;
    int64_t total, so_far;            /* commands */
    const char *wrong;                /* the reason for refusing, for the rank; NULL: none */
    char message[SX_RUN_MESSAGE_MAX]; /* the same for the user */
};

/* A spawn, and the beginning of one of its commands.  @folder: the directory of the program unless
 * the command names another one; NULL: the launcher's. */
struct sx_run_pmi1_spawn *sx_run_pmi1_spawn_new(void);
struct sx_run_pmi1_spawn *sx_run_pmi1_spawn_free(struct sx_run_pmi1_spawn *spawn); /* or NULL */
void sx_run_pmi1_spawn_begin(struct sx_run_pmi1_spawn *spawn, const char *folder);

/* Take a line of a command; the text is changed.  Return: true when the line ends the command. */
bool sx_run_pmi1_spawn_line(struct sx_run_pmi1_spawn *spawn, char *text);
/* One line was too long. */
void sx_run_pmi1_spawn_long(struct sx_run_pmi1_spawn *spawn);
/* After the end of a command: whether it was the last one. */
bool sx_run_pmi1_spawn_is_whole(const struct sx_run_pmi1_spawn *spawn);

/* Start a job of the spawn for @rank of @job.  Return: NULL, and @fn is called once, now or later;
 * or the reason in one word, and the user has a message. */
const char *sx_run_pmi1_spawn_start(struct sx_run_pmi1_spawn *spawn, struct sx_run_job *job,
                                    uint32_t rank, pmix_spawn_cbfunc_t fn, void *arg);

#endif
