/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attach.h - for verbs that ask a server: find the server, and become its tool.
 *
 *     SX_ATTACH_ROWS among the verb's options --> sx_attach_begin --> PMIx_* --> sx_attach_end
 *
 *   a server is named                  that one
 *   a job, a group or a set is named   the server that has it, by the servers' memory
 *   nothing is named                   as PMIx_tool_init finds one */
#ifndef SX_CLI_ATTACH_H
#define SX_CLI_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/target.h"
#include "launch/common/options.h"

/* At most one of these names a server. */
struct sx_attach {
    struct sx_whose whose;   /* its namespace is a job's namespace */
    const char *group, *set; /* NULL: not given */
    bool to_system;
    bool has_to_have;    /* a server that does not have the named target is not used */
    uint64_t wait_ns;    /* how long to wait for such a server */
    uint64_t timeout_ns; /* for the server's answer; 0: the library's own */
};

#define SX_ATTACH_OF(type, member, part) offsetof(type, member) + offsetof(struct sx_attach, part)

/* The rows (options.h) of a verb whose struct @type has a struct sx_attach @member. */
#define SX_ATTACH_ROWS(type, member)                                                              \
    { .help = "which server (not named: the one that has what is named, else the system server, " \
              "else the only one of yours):" },                                                   \
        SX_WHOSE_SERVER_ROWS(type, member.whose),                                                 \
        { .name = "--system",                                                                     \
          .help = "the system server of this node, and no other",                                 \
          .set = sx_option_flag,                                                                  \
          .off = SX_ATTACH_OF(type, member, to_system) },                                         \
        { .name = "--wait",                                                                       \
          .value = "SECONDS",                                                                     \
          .example = "10",                                                                        \
          .wants = "a number of seconds",                                                         \
          .help = "look again for so long while there is no such server",                         \
          .set = sx_cli_seconds,                                                                  \
          .off = SX_ATTACH_OF(type, member, wait_ns) },                                           \
    {                                                                                             \
        .name = "--timeout", .value = "SECONDS", .example = "10", .wants = "a number of seconds", \
        .help = "give up when the server has not let this command in after so long (30)",         \
        .set = sx_cli_seconds, .off = SX_ATTACH_OF(type, member, timeout_ns)                      \
    }

/* Become a tool of the server.  Return: 0; or the exit code, with a message, when there is no such
 * server or it refuses this process. */
int sx_attach_begin(const struct sx_attach *attach);
void sx_attach_end(void);

#endif
