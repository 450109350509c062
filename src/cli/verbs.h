/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* verbs.h - the verbs of the command: for each its table of options, and the function that runs it.
 *
 * The words of a function follow the verb, and end with NULL.  It returns the exit code of the
 * command.  `ls`, `top`, `get`, `mem`, `stack` and `doctor` send no request to a server, so they
 * work on one that hangs or is stopped.  The kernel decides which memory the caller may read. */
#ifndef SX_CLI_VERBS_H
#define SX_CLI_VERBS_H

#include "launch/common/options.h"
#include <stddef.h>

/* `shmix ls THING`: list the things that servers have, from their memory. */
extern const struct sx_verb sx_ls_verb;
int sx_cli_ls(char **words);

/* `shmix get KEY`: print stored values of running jobs, from their servers' memory. */
extern const struct sx_verb sx_get_verb;
int sx_cli_get(char **words);

/* `shmix mem`: list the segments of running servers, and print their contents. */
extern const struct sx_verb sx_mem_verb;
int sx_cli_mem(char **words);

/* `shmix top`: watch servers, jobs and ranks. */
extern const struct sx_verb sx_top_verb;
int sx_cli_top(char **words);

/* `shmix doctor`: what is wrong here, why it matters, and what to do.  It returns 1 with warnings,
 * and 2 with problems. */
extern const struct sx_verb sx_doctor_verb;
int sx_cli_doctor(char **words);

/* `shmix stack`: the functions in which the threads of ranks are. */
extern const struct sx_verb sx_stack_verb;
int sx_cli_stack(char **words);

/* `shmix trace PROGRAM`: run a job, and write the PMIx calls of its ranks as a timeline. */
extern const struct sx_verb sx_trace_verb;
int sx_cli_trace(char **words);

/* `shmix events`: follow the events of a running job. */
extern const struct sx_verb sx_events_verb;
int sx_cli_events(char **words);

/* `shmix events inject`. */
extern const struct sx_verb sx_events_inject_verb;
int sx_cli_events_inject(char **words);

/* `shmix query KEY`: send a server a query, as PMIx_Query_info does. */
extern const struct sx_verb sx_query_verb;
int sx_cli_query(char **words);

/* `shmix ctl`: act on running processes, as PMIx_Job_control does. */
extern const struct sx_verb sx_ctl_verb;
int sx_cli_ctl(char **words);

/* `shmix log`: log a text from a shell, as a process does with PMIx_Log. */
extern const struct sx_verb sx_log_verb;
int sx_cli_log(char **words);

/* `shmix gateway -- PROGRAM`: become PROGRAM, a rank with another PMIx library, with a gateway.  It
 * returns only if the program could not be started. */
extern const struct sx_verb sx_gateway_verb;
int sx_cli_gateway(char **words);

/* `shmix wrap -- TOOL IMAGE PROGRAM`: become TOOL, which runs a program of an image with this
 * library.  It returns only if the command was printed, or could not be started. */
extern const struct sx_verb sx_wrap_verb;
int sx_cli_wrap(char **words);

/* `shmix bench`: find the instrument that was installed with this command, and run it.  It returns
 * only if the instrument could not be started; else this process becomes the instrument. */
extern const struct sx_verb sx_bench_verb;
int sx_cli_bench(char **words);

/* ---- by other names -------------------------------------------------------------------------- */

/* The command by the names that users of PMIx know, with the options that these have.
 *
 *     pquery KEY[QUALIFIER=VALUE;...]      shmix query KEY --qualifier QUALIFIER=VALUE
 *     pattrs --client-fns                  shmix query PMIX_QUERY_ATTRIBUTE_SUPPORT ...
 *     pps                                  shmix ls procs
 *     pctrl --pause --targets NSPACE:RANK  shmix ctl pause --nspace NSPACE --rank RANK
 *     pevent --range RANGE EVENT           shmix events inject EVENT --range RANGE
 *     pmix_info                            what this library is
 *     mpiexec, mpirun                      shmix run; in a separate folder, to be put into PATH
 *
 * Each name is a link to the command.  Its words are translated into the words of a verb, which
 * does the rest. */

/* Return: the function for the words behind @path, which ends with such a name; NULL: it is another
 * name. */
int (*sx_field_find(const char *path))(char **words);

/* pmix_info */
int sx_field_info(char **words);

/* ---- completion ------------------------------------------------------------------------------ */

/* `shmix completion`: scripts of shells, made of the tables of all verbs. */
extern const struct sx_verb sx_completion_verb;

/* A verb of the command, and the function that runs it. */
struct sx_cli_verb {
    const struct sx_verb *verb;
    int (*fn)(char **words);
};

/* Print the script for the shell in @words.  Return: the exit code. */
int sx_cli_completion(char **words, const struct sx_cli_verb *verbs, size_t count);

#endif
