/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* policy.h - the words of --map-by, --bind-to and --rank-by, which spawns use too.
 *
 *     MAP[:MODIFIER[,MODIFIER]...]...    core:PE=2:NOOVERSUBSCRIBE
 *     ppr:N:node[:MODIFIER]...           N ranks on each node, of which there is one
 *     ppr:N:LEVEL[:MODIFIER]...          N neighbours on each part, as package or numa
 *     PE-LIST=CPUS[:MODIFIER]...         on these CPUs, a list as "0,2-3"
 *     BIND[:MODIFIER[,MODIFIER]...]      core:overload-allowed
 *
 * Large and small letters are the same.  Modifiers that ask for the default change nothing.  Each
 * function returns false for other words; then @message has the reason, or is empty. */
#ifndef SX_LAUNCH_PLACE_POLICY_H
#define SX_LAUNCH_PLACE_POLICY_H

#include <stdbool.h>

#include "launch/ask/options.h"

bool sx_run_policy_map(struct sx_run_options *options, const char *text,
                       char message[SX_RUN_MESSAGE_MAX]);
bool sx_run_policy_bind(struct sx_run_options *options, const char *text,
                        char message[SX_RUN_MESSAGE_MAX]);
/* Whether ranks that are mapped as @options requires are numbered as @word says. */
bool sx_run_policy_rank(const struct sx_run_options *options, const char *text,
                        char message[SX_RUN_MESSAGE_MAX]);

#endif
