/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof.h - the chapter on output of processes, from the host that delivers it to the processes that
 * pull it, and on input that they push.
 *
 *     iof.c        pulls: the calls that open them, and the output that is for them
 *     deliver.c    output arrives from the host, on any thread
 *     output.c     output: counted until it is released
 *     unclaimed.c  output without a pull: kept until a pull claims it
 *     pull.c       one pull: its queue, its socket, its slow reader; the index of pulls by process
 *     input.c      input that processes push
 *
 *     PMIx_IOF_pull: ASKED --the host agrees--> OPEN --its process wants no more, or ends--> ENDED
 *                      |                                  gone <--the host has confirmed----/
 *                       \--the host refuses----------------^
 *
 * Output that the host delivers for a pull after its end, but before the host confirms it, is
 * dropped.  Otherwise the next pull would receive it, and then a gap.  Bounds: SX_PULLS_MAX pulls
 * of a client (pending.c), SX_OUTPUTS_BYTES_MAX and SX_KEPT_BYTES (output.h).  The server splits
 * nothing into lines: the processes that print output do (client/iof, launch/stdio). */
#ifndef SX_SERVER_IOF_IOF_H
#define SX_SERVER_IOF_IOF_H

#include "server/model/state.h"

void sx_iof_init(struct sx_server *server);

/* The time that PMIx_server_finalize gives readers for output that is on its way to them. */
#define SX_IOF_END_NS (2 * SX_NS_PER_SEC)

/* Handle IOF_PULL.  Return: true, as this is not a breach of protocol. */
bool sx_iof_on_pull(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns);

/* Resolve the list of processes in a body, in the order of sx_proc_order, without duplicates.
 * *ret_procs is malloc'ed, also after a failure, or NULL.  @client is charged.  Return:
 * PMIX_ERR_NOT_FOUND; PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_OUT_OF_RESOURCE, also for more than
 * SX_IOF_PROCS_MAX names, or (logged) SX_IOF_MEANT_MAX processes. */
pmix_status_t sx_iof_procs_take(struct sx_server *server, struct sx_client *client,
                                const struct sx_opened_part *part, pmix_proc_t **ret_procs,
                                size_t *ret_count);

/* A namespace was added: drop the output kept of a removed one with that name. */
void sx_iof_nspace_added(struct sx_server *server, struct sx_nspace *nspace);
/* The client reads no more. */
void sx_iof_client_gone(struct sx_server *server, struct sx_client *client);
/* The server ends: output on its way to readers is still sent, within SX_IOF_END_NS. */
void sx_iof_finish(struct sx_server *server);
void sx_iof_stop(struct sx_server *server);

/* ---- input -----------------------------------------------------------------------------------
 *
 * Input that processes push to others through the host, which may stop them.
 *
 *     producer: GOES --the host stops it, or answers PMIX_ERR_IOF_XOFF--> STOPPED
 *                 ^--the host lets it continue-------------------------------/
 *     push: passed to the host --its answer--> answered;  STOPPED: parked until the producer GOES
 *
 * A stopped producer gets no answer, and so sends no more: unsent input stays in its process.  A
 * producer is a process that has pushed.  When a producer of its own standard input leaves, the
 * host receives that this input is complete.  Bounds: a client's unanswered requests
 * (pending.c). */

void sx_input_init(struct sx_server *server);
/* Pass parked pushes to the host, until it stops their producer again: up to *@left pieces, counted
 * down.  Return: whether none is left that the host wants. */
bool sx_input_go_on(struct sx_server *server, size_t *left);

/* Handle IOF_PUSH.  Return: true, as this is not a breach of protocol. */
bool sx_input_on_push(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);

void sx_input_client_gone(struct sx_server *server, struct sx_client *client);
void sx_input_clear(struct sx_server *server);

#endif
