/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall.h - upcalls of the server, queued for the launcher's thread.
 *
 *   library's thread: upcall or event --> news, in order --> launcher's thread: take
 *
 * Upcalls are answered at once, except abort, job control and spawn.  These become news, and their
 * caller waits until the launcher answers.  Memory is bounded by the calls in which clients wait.
 * Each rank adds one loss and SX_RUN_BREAKPOINTS breakpoints at most, and there is one answer to
 * the launcher. */
#ifndef SX_LAUNCH_PMI_UPCALL_H
#define SX_LAUNCH_PMI_UPCALL_H

#include <pmix_server.h>
#include <stdbool.h>
#include <stdint.h>

#include "launch/job/job.h"
#include "launch/job/mailbox.h"

#define SX_RUN_BREAKPOINTS 2 /* in PMIx_Init, and one after it */

/* Upcalls carry no pointer to the host, so each process has one of these. */
/* Receive upcalls of @job from now on.  The job keeps its address until it is removed. */
void sx_run_upcall_add(struct sx_run_job *job);
/* Receive no more upcalls of @job.  Return: false while it is held, as by each of its news and by
 * each pending answer: try again later. */
bool sx_run_upcall_remove(struct sx_run_job *job);
/* Call it when the server has ended. */
void sx_run_upcall_deinit(void);

/* For PMIx_server_init, and the handler of PMIX_ERR_LOST_CONNECTION and PMIX_READY_FOR_DEBUG. */
extern pmix_server_module_t sx_run_upcall_module;
void sx_run_upcall_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *cbdata);

/* For sx_connect_watch. */
void sx_run_upcall_bereft(const pmix_proc_t *lost, const char *nspace);

/* For the deregistration of a namespace; @arg: the job, held. */
void sx_run_upcall_gone(pmix_status_t status, void *arg);

/* For sx_eventhandled_ask; @arg: the job, held. */
void sx_run_upcall_handled(pmix_status_t status, void *arg);

/* True while a process of @rank is a client: it has called PMIx_Init, and PMIx_Finalize not yet. */
bool sx_run_upcall_is_client(const struct sx_run_job *job, uint32_t rank);
/* True once @rank has connected, in any way. */
bool sx_run_upcall_has_come(const struct sx_run_job *job, uint32_t rank);
/* @rank has connected in another way than as a client: over PMI-1. */
void sx_run_upcall_count(const struct sx_run_job *job, uint32_t rank);
/* Whether any rank of @job has ever connected, in either way. */
bool sx_run_upcall_any_counted(const struct sx_run_job *job);
/* @rank's client has ended, and another process takes its place. */
void sx_run_upcall_forget(const struct sx_run_job *job, uint32_t rank);

/* Write @number to @fd, an eventfd, once: when @ranks ranks have connected, or a tool has. */
void sx_run_upcall_notify_come(int fd, uint64_t number, uint32_t ranks);

/* How many ranks have become clients.  Await: the mailbox wakes as well when they are @awaited,
 * or with @each for every rank. */
void sx_run_upcall_await(uint32_t awaited, bool each);
uint32_t sx_run_upcall_connected(void);

#endif
