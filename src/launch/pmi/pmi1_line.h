/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_line.h - the parts of launch/pmi/pmi1.c: lines, the pairs and the names that ranks put, and
 * spawns.
 *
 * One line of PMI-1, as a rank writes it:
 *
 *     cmd=put kvsname=JOB key=NAME value=WORD      a command and its words
 *     mcmd=spawn                                   a command whose words have a line each ...
 *     nprocs=2
 *     endcmd                                       ... up to here
 *
 * One blank or more separates words.  A value ends at a blank, unless a backslash stands before it;
 * the value of "message" takes the rest of the line. */
#ifndef SX_LAUNCH_PMI_PMI1_LINE_H
#define SX_LAUNCH_PMI_PMI1_LINE_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "launch/job/job.h"

#define SX_RUN_PMI1_LINE_MAX 4096u /* without its end */
#define SX_RUN_PMI1_WORDS_MAX 16u

struct sx_run_pmi1_word {
    const char *key, *value;
};

struct sx_run_pmi1_line {
    struct sx_run_pmi1_word words[SX_RUN_PMI1_WORDS_MAX];
    size_t count;
};

/* Cut @text, one line without its end, into words that point into it.  Return: false when the line
 * is empty, has too many words, a word that is not KEY=VALUE, or a character that is not printable
 * outside of its message. */
bool sx_run_pmi1_line_parse(struct sx_run_pmi1_line *line, char *text);

/* Return: the value of the first word with @key, or NULL. */
const char *sx_run_pmi1_line_get(const struct sx_run_pmi1_line *line, const char *key);

/* ---- pmi1 words ------------------------------------------------------------------------------ */

/* Pairs of texts that the ranks of a job have put for each other.
 *
 * A pair belongs to the rank that put it last, and the bytes of each rank are bounded. */

#define SX_RUN_PMI1_KEY_MAX_BYTES 64 /* with the end; MPICH's own launcher has the same limits */
#define SX_RUN_PMI1_VALUE_MAX_BYTES 1024
#define SX_RUN_PMI1_RANK_BYTES_MAX (1u << 20) /* of pairs of one rank, with their cost */

/* A zeroed table is empty, and for no rank. */
struct sx_run_pmi1_words {
    struct sx_table table;
    uint64_t seed;
    size_t *used; /* bytes of each rank */
};

void sx_run_pmi1_words_init(struct sx_run_pmi1_words *words, uint32_t rank_count);
void sx_run_pmi1_words_deinit(
    struct sx_run_pmi1_words *words); /* safe on a zeroed one, and twice */

/* Store a pair, in place of a former value.  Return: false when @rank has no room for it. */
bool sx_run_pmi1_words_put(struct sx_run_pmi1_words *words, uint32_t rank, const char *key,
                           const char *value);
/* Return: the value, valid until the next call that changes one; or NULL. */
const char *sx_run_pmi1_words_get(const struct sx_run_pmi1_words *words, const char *key);

/* ---- pmi1 names ------------------------------------------------------------------------------ */

/* Names of services that ranks publish over PMI-1: the server's published data.
 *
 * Within a session, PMIx_Lookup finds the names that ranks publish here, and the other way round.
 * Each function returns NULL, or the error in one word. */

const char *sx_run_pmi1_name_publish(const struct sx_run_job *job, uint32_t rank,
                                     const char *service, const char *port);
/* Withdraw a name that the rank itself has published. */
const char *sx_run_pmi1_name_withdraw(const struct sx_run_job *job, uint32_t rank,
                                      const char *service);
/* A name whose port does not fit into an answer counts as not found. */
const char *sx_run_pmi1_name_find(const struct sx_run_job *job, uint32_t rank, const char *service,
                                  char *ret_port, size_t size);

/* ---- pmi1 spawn ------------------------------------------------------------------------------ */

/* A spawn over PMI-1: its lines are collected, and become a request.
 *
 *   mcmd=spawn --lines--> endcmd --it was the last of totspawns--> launch/ask/spawn_request.h
 *       ^--------------------/ others follow
 *
 * A rank cannot make a spawn cost more than these bounds.  If a line exceeds one, all lines of the
 * spawn are dropped, earlier and later ones, and the spawn is refused at its end. */

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
