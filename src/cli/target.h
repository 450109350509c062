/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* target.h - the target of a verb: one grammar for all verbs that have one.
 *
 *     NAMESPACE | PID as a word, or --nspace, --pid, --server, --uri --> the process of a server
 *
 * Servers are found by the contents of their memory, in any session directory. */
#ifndef SX_CLI_TARGET_H
#define SX_CLI_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launch/common/options.h"
#include "ring/board.h"
#include "shmem/store.h"

struct sx_whose {
    pid_t pid;          /* of a server; 0: not given */
    const char *nspace; /* of a job; NULL: not given, as below */
    const char *server; /* the namespace of a server */
    const char *uri;
};

#define SX_WHOSE_USERS_MAX 256

/* Return: "; it belongs to user alice (uid 1000), and you are user bob (uid 1001)", until the next
 * call; "" when process @pid is gone. */
const char *sx_whose_users(pid_t pid);

/* The setters of the options and of the word, which is a process id if it is a number. */
bool sx_whose_set(void *at, const char *value);
bool sx_whose_pid_set(void *at, const char *value);
bool sx_whose_nspace_set(void *at, const char *value);

#define SX_WHOSE_OF(type, member, part) offsetof(type, member) + offsetof(struct sx_whose, part)

/* The rows (options.h) of a verb whose struct @type has a struct sx_whose @member. */
#define SX_WHOSE_WORD_ROW(type, member)                                         \
    {                                                                           \
        .name = "[NAMESPACE | PID]",                                            \
        .wants = "the name of a job, or the process id of a server, from 1 on", \
        .set = sx_whose_set, .off = offsetof(type, member)                      \
    }
#define SX_WHOSE_NSPACE_ROW(type, member)                                                 \
    {                                                                                     \
        .name = "--nspace", .value = "NAMESPACE", .example = "shmix-4711-a1b2c3",         \
        .wants = "the name of a job, at most 255 bytes", .help = "the same as NAMESPACE", \
        .set = sx_whose_nspace_set, .off = SX_WHOSE_OF(type, member, nspace)              \
    }
#define SX_WHOSE_SERVER_ROWS(type, member)                                                         \
    { .name = "--pid",                                                                             \
      .value = "PID",                                                                              \
      .example = "4711",                                                                           \
      .wants = "the process id of a server",                                                       \
      .help = "the server with this process id, which 'shmix ls servers' lists",                   \
      .set = sx_whose_pid_set,                                                                     \
      .off = SX_WHOSE_OF(type, member, pid) },                                                     \
        { .name = "--uri",                                                                         \
          .value = "URI",                                                                          \
          .example = "file:uri.txt",                                                               \
          .wants = "NSPACE.RANK;unix:..., or file:PATH of a file with that",                       \
          .set = sx_option_text,                                                                   \
          .off = SX_WHOSE_OF(type, member, uri) },                                                 \
    {                                                                                              \
        .name = "--server", .value = "NAMESPACE", .example = "prterun-4711",                       \
        .wants = "the namespace of a server", .help = "the server with this namespace of its own", \
        .set = sx_option_text, .off = SX_WHOSE_OF(type, member, server)                            \
    }
#define SX_WHOSE_ROWS(type, member) \
    SX_WHOSE_NSPACE_ROW(type, member), SX_WHOSE_SERVER_ROWS(type, member)

/* ---- finding --------------------------------------------------------------------------------- */

enum sx_whose_kind { SX_WHOSE_JOB, SX_WHOSE_GROUP, SX_WHOSE_SET, SX_WHOSE_SERVER };

#define SX_WHOSE_FOUND_MAX 8

struct sx_whose_found {
    pid_t at[SX_WHOSE_FOUND_MAX]; /* servers, the first ones */
    unsigned count;
};

/* Find the servers, among those that the caller may inspect, that have @name. */
void sx_whose_find(enum sx_whose_kind kind, const char *name, struct sx_whose_found *ret);

/* Report that several servers have @name, and how to choose. */
void sx_whose_say_many(enum sx_whose_kind kind, const char *name,
                       const struct sx_whose_found *found);

/* For a verb that reads memory: replace another name of the server by its process.  Return: false,
 * with a message, when there is no such server. */
bool sx_whose_settle(struct sx_whose *whose);

/* The same; @ret is the process of the server that is named, or has the job; 0: any server. */
bool sx_whose_server(struct sx_whose *whose, pid_t *ret);

/* Report that process @pid, which a search has found no server in, is not one.  @denied: the kernel
 * did not let the search examine it. */
void sx_whose_say_none(pid_t pid, bool denied);

/* ---- boards and node stores ------------------------------------------------------------------ */

/* Call @each for the board of the server @pid (0: of every server), until it returns false.  A
 * board counts only for the process that has made it.  An @each that keeps the board puts
 * SX_BOARD_NULL in its place.  Return: false when some process could not be examined. */
bool sx_cli_boards_each(pid_t pid, bool (*each)(void *arg, pid_t server, struct sx_board *board),
                        void *arg);

/* The same for the newest store of the node, of each server that has one.  SX_STORE_NULL keeps
 * it. */
bool sx_cli_node_stores_each(pid_t pid,
                             bool (*each)(void *arg, pid_t server, struct sx_store *store),
                             void *arg);

struct sx_cli_board {
    struct sx_board board; /* the first board that was found */
    pid_t server;
    unsigned count; /* of boards that exist */
    bool denied;    /* some process could not be examined */
};

/* Map the board of the server @pid; 0: of any server.  sx_board_deinit unmaps it. */
void sx_cli_board_find(pid_t pid, struct sx_cli_board *ret);

/* Report that several servers run, of which only one can be watched. */
void sx_cli_board_say_many(const struct sx_cli_board *found);

#endif
