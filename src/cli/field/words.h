/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.h - the words of a verb, made from those of another command; and the options by which both
 * name a server. */
#ifndef SX_CLI_FIELD_WORDS_H
#define SX_CLI_FIELD_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "launch/common/options.h"

/* A growing list that ends with NULL and owns its words; a zeroed one is empty. */
struct sx_words {
    char **all;
    size_t count;
};

void sx_words_add(struct sx_words *words, const char *word);
/* Add an option and its value; nothing when there is no value. */
void sx_words_add_value(struct sx_words *words, const char *option, const char *value);
void sx_words_clear(struct sx_words *words);

/* The options by which tools of PMIx name a server. */
struct sx_field_server {
    const char *pid, *uri, *nspace, *wait, *tmpdir; /* NULL: not given */
    bool is_system, is_verbose;
};

#define SX_FIELD_OF(type, member, part) \
    offsetof(type, member) + offsetof(struct sx_field_server, part), false

#define SX_FIELD_SERVER_ROWS(type, member)                                                        \
    { .help = "which server (not named: the system server, else the only one of yours):" },       \
        { "--pid",                                                                                \
          NULL,                                                                                   \
          "PID",                                                                                  \
          "4711",                                                                                 \
          "the process id of a server",                                                           \
          "the server with this process id",                                                      \
          sx_option_text,                                                                         \
          SX_FIELD_OF(type, member, pid) },                                                       \
        { "--uri",                                                                                \
          NULL,                                                                                   \
          "URI",                                                                                  \
          "file:uri.txt",                                                                         \
          "NSPACE.RANK;unix:..., or file:PATH",                                                   \
          NULL,                                                                                   \
          sx_option_text,                                                                         \
          SX_FIELD_OF(type, member, uri) },                                                       \
        { "--namespace",                                                                          \
          "--nspace",                                                                             \
          "NAMESPACE",                                                                            \
          "prterun-4711",                                                                         \
          "the namespace of a server",                                                            \
          "the server with this namespace of its own",                                            \
          sx_option_text,                                                                         \
          SX_FIELD_OF(type, member, nspace) },                                                    \
        { "--system-server",                                                                      \
          "--system-server-only",                                                                 \
          NULL,                                                                                   \
          NULL,                                                                                   \
          NULL,                                                                                   \
          "the system server of this node, and no other",                                         \
          sx_option_flag,                                                                         \
          SX_FIELD_OF(type, member, is_system) },                                                 \
        { "--system-server-first", NULL, NULL, NULL, NULL, "is so in any case", NULL, 0, false }, \
        { "--wait-to-connect",                                                                    \
          NULL,                                                                                   \
          "SECONDS",                                                                              \
          "10",                                                                                   \
          "a number of seconds",                                                                  \
          "look again for so long while there is no such server",                                 \
          sx_option_text,                                                                         \
          SX_FIELD_OF(type, member, wait) },                                                      \
        { "--tmpdir",     NULL,                                                                   \
          "DIRECTORY",    "/tmp",                                                                 \
          "a directory",  "where servers have their files, TMPDIR",                               \
          sx_option_text, SX_FIELD_OF(type, member, tmpdir) },                                    \
        { .help = "and:" },                                                                       \
    {                                                                                             \
        "--verbose", "-v", NULL, NULL, NULL, "print what the library logs, SHMIX_LOG=info",       \
            sx_option_flag, SX_FIELD_OF(type, member, is_verbose)                                 \
    }

/* Add the server in the words of this command's verbs (cli/attach.h), and set the environment. */
void sx_field_server_add(struct sx_words *words, const struct sx_field_server *server);

#endif
