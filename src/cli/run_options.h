/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_options.h - what the user asked of `shmix run`.
 *
 * Options end at the first word that is none, or at "--"; the rest is the program and its
 * arguments.  A value may follow as "--name value" or "--name=value", and "-n4" is "-n 4". */
#ifndef SX_CLI_RUN_OPTIONS_H
#define SX_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SX_RUN_RANKS_MAX 16384u
#define SX_RUN_TIMEOUT_SEC_MAX 100000000u /* three years */
#define SX_RUN_MESSAGE_MAX 512

enum sx_run_bind {
    SX_RUN_BIND_NONE = 0,
    SX_RUN_BIND_CORE,
    SX_RUN_BIND_NUMA,
};

enum sx_run_stdin {
    SX_RUN_STDIN_RANK = 0, /* stdin_rank reads it, the others read nothing */
    SX_RUN_STDIN_ALL,
    SX_RUN_STDIN_NONE,
};

struct sx_run_options {
    uint32_t rank_count;
    enum sx_run_bind bind;
    enum sx_run_stdin stdin_mode;
    uint32_t stdin_rank;
    bool tag_output;
    uint64_t timeout_ns;  /* 0: none */
    const char *wdir;     /* NULL: the launcher's; borrowed from argv */
    const char **env;     /* NAME=VALUE or NAME, in the order given; the words are borrowed */
    size_t env_count;
    char **program;       /* argv of the ranks, NULL-terminated, borrowed */
    bool help, version;   /* asked for: nothing else is checked */
};

/* Parse @argv (NULL-terminated, the words after "run").  Return: true; or false with one line in
 * @message that names the word, what is allowed and what to do.  Deinit in either case. */
bool sx_run_options_init(struct sx_run_options *options, char **argv,
                         char message[SX_RUN_MESSAGE_MAX]);
void sx_run_options_deinit(struct sx_run_options *options);

/* The word of a policy, as the user writes it: "none", "core", "numa". */
const char *sx_run_bind_name(enum sx_run_bind bind);

/* Of the @count words of @list the one that @word is most likely to be, or NULL. */
const char *sx_run_suggest(const char *word, const char *const *list, size_t count);

#endif
