/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* manage.h - spawn, abort, job control, monitors, credentials, allocation and fabric: what other
 * files need of them.
 *
 *     a call --the host's to answer--> ask.c: a request, or, in a server, the host's own entry
 *            --a monitor--> the server, and this process's own part, once a period (periodic.c)
 *            --a spawn of a tool without a server--> forkexec.c
 *
 * Entered by client/publish (sx_ask_own), client/query (sx_usage_report), and by client/life, which
 * ends the thread of periodic.c and the jobs of forkexec.c. */
#ifndef SX_CLIENT_MANAGE_MANAGE_H
#define SX_CLIENT_MANAGE_MANAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "base/call/query.h"
#include "base/call/role.h"
#include "base/list.h"
#include "client/link/op.h"

/* ---- calls in a server ----------------------------------------------------------------------- */

/* The same calls in a server that is not a client: its host's own entries
 * answer. */

/* Whether this process is such a server. */
bool sx_ask_is_own(void);

/* Check the infos by the directives of @function, and call the host.  Return: PMIX_SUCCESS when
 * @cbfunc will be called (NULL: the caller wants no result); PMIX_OPERATION_SUCCEEDED when all is
 * done; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED when the host has no such entry; any status of
 * the entry. */
pmix_status_t sx_ask_own_nb(enum sx_function function, const struct sx_role_ask *ask,
                            pmix_info_cbfunc_t cbfunc, void *cbdata);
/* The same, and wait.  The results are the caller's, which may not want them (NULL). */
pmix_status_t sx_ask_own(enum sx_function function, const struct sx_role_ask *ask,
                         pmix_info_t **ret_info, size_t *ret_ninfo);

/* ---- jobs of this process -------------------------------------------------------------------- */

/* PMIx_Spawn of a tool that has no server: this process starts the job here. */

/* Start all of @apps as one job, with their full environment; they were checked as any spawn's
 * (manage/spawn.c).  If this process is a server as well, the processes are its clients.  Its end,
 * and that of each process, is an event for this process.  Return: PMIX_SUCCESS, and all are
 * started; PMIX_ERR_JOB_EXE_NOT_FOUND, PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
 * PMIX_ERR_JOB_WDIR_NOT_FOUND, PMIX_ERR_JOB_SYS_OP_FAILED, PMIX_ERR_OUT_OF_RESOURCE,
 * PMIX_ERR_BAD_PARAM, PMIX_ERR_NOT_SUPPORTED (of a directive), each with a line, and then no
 * process of the job lives. */
pmix_status_t sx_forkexec_spawn(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t *apps,
                                size_t napps, pmix_nspace_t ret_nspace);

/* End running jobs, and wait for them.  No job is started any more. */
void sx_forkexec_end(void);

/* In the child of a fork: the jobs are the parent's. */
void sx_forkexec_forked(void);

/* ---- periodic tasks -------------------------------------------------------------------------- */

/* Tasks that this process runs once a period, for monitors that it has asked for.
 *
 *     PREPARED --sx_periodic_go--> run once a period --ended, or PMIx_Finalize--> freed
 *         \------------------------ended----------------------------------------^
 *
 * All tasks run on one thread, which the first task starts and PMIx_Finalize ends.  That thread
 * does not run callbacks.  A file system that hangs there delays the other monitors of this
 * process, and PMIx_Finalize, and nothing else.  Any thread may call these. */

#define SX_PERIODICS_MAX 16u

struct sx_periodic {
    struct sx_list link;
    uint64_t number; /* identifies the task, which may have ended */
    uint32_t place;  /* from 0; unique among living tasks */
    uint64_t period_ns, due_ns;
    bool at_once;   /* the first run is now */
    bool ended;     /* freed after the run that is under way */
    const char *id; /* chosen by its owner; empty: none */
    void (*run)(struct sx_periodic *periodic);
    void (*free)(struct sx_periodic *periodic); /* under a lock; calls no function of this file */
};

/* Take over @periodic, whose period, id and functions are set.  Return: PMIX_SUCCESS, and its place
 * and number; PMIX_ERR_EXISTS when another has its id; PMIX_ERR_OUT_OF_RESOURCE (logged) when there
 * are SX_PERIODICS_MAX or no thread can be made.  On an error it is still the caller's. */
pmix_status_t sx_periodic_prepare(struct sx_periodic *periodic, uint32_t *ret_place,
                                  uint64_t *ret_number);
/* The first run is a period from now, unless `at_once` is set. */
void sx_periodic_go(uint64_t number);
/* End a task; safe when it has ended. */
void sx_periodic_end(uint64_t number);
/* End all tasks with that id (empty: all).  Return: whether there were any. */
bool sx_periodics_end_called(const char *id);

/* End all tasks, and the thread. */
void sx_periodics_stop(void);
/* In a forked child, which lacks the thread: copies of tasks stay as they are, and are never
 * run. */
void sx_periodics_forked(void);

/* ---- monitors of files ----------------------------------------------------------------------- */

/* Check a file once a period, and count the signs of life in the lane.
 *
 * The server notices when they stop (server/manage/monitor.h).  The monitor follows the path: a
 * file that replaces the first one is checked from then on, and the replacement is a sign of life.
 * A file that was removed, or cannot be read any more, gives none. */

/* The state that a check reads, and which changes are signs of life. */
struct sx_file_look {
    uint64_t device, inode, size_bytes;
    struct timespec accessed, modified;
};
struct sx_file_signs {
    bool grows, accessed, modified;
};

/* Whether a sign of life has happened between two checks. */
bool sx_file_lives(const struct sx_file_signs *signs, const struct sx_file_look *before,
                   const struct sx_file_look *now);

/* ---- resource usage -------------------------------------------------------------------------- */

/* PMIx_Process_monitor for the resource usage of this node and its processes.
 *
 * The process reads /proc itself, with its own rights, and asks the server only for the process
 * ids.  A blocking call reads in its own thread.  A non-blocking one, and later reports, use the
 * thread of periodic.c. */

/* Answer @op, which is on the caller's stack, with the usage that @options ask for; with a period,
 * continue with events of @code.  @ask: PMIx_Query_info, which depends on this file.  Return: as
 * sx_op_answer; as sx_wire_procs_check; PMIX_ERR_NOT_FOUND when none of the processes is here; as
 * sx_periodic_prepare. */
pmix_status_t sx_usage_start(struct sx_op *op, const struct sx_monitor_options *options,
                             pmix_status_t code, sx_query_fn ask);

/* Measure once: *ret is an array of infos, one for the node, or for each process that @target
 * means.  @key: of PMIx_Process_monitor.  @ask: PMIx_Query_info, as above.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when none of the processes is here; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_usage_report(const char *key, const pmix_proc_t *target, sx_query_fn ask,
                              pmix_value_t *ret);

#endif
