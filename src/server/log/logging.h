/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* logging.h - the chapter on PMIx_Log, of clients and of the host.
 *
 *     logging.c   one call, from its infos to its answer
 *     sink.c      where its texts are written: standard streams and the system log
 *
 *     call --a required channel is not served--> NOT_SUPPORTED, nothing is logged
 *       \--each info is passed to an outlet, or with the others to the host--> OPEN
 *            (with PMIX_LOG_ONCE: one after the other, until one has been logged)
 *          OPEN --all have ended--> answered: SUCCESS, PARTIAL_SUCCESS, or why nothing was logged
 *
 * The table of channels is in base/stream/log_channel.c.  A call continues when its client is gone:
 * its texts are written.  It counts against SX_PENDING_LOG of the client until then, so the memory
 * of all calls is bounded. */
#ifndef SX_SERVER_LOG_LOGGING_H
#define SX_SERVER_LOG_LOGGING_H

#include "server/model/state.h"

struct sx_server_options;

void sx_logging_init(struct sx_server *server, const struct sx_server_options *options);
/* No client is connected any more: write the remaining texts, and end all calls. */
void sx_logging_stop(struct sx_server *server);

/* Handle LOG.  Return: true, as this is not a breach of protocol. */
bool sx_logging_on_log(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* As role.h describes.  Any thread.  Texts that the host itself logs are not passed to the host. */
pmix_status_t sx_logging_by_host(const pmix_info_t data[], size_t ndata,
                                 const pmix_info_t directives[], size_t ndirs,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- sinks -----------------------------------------------------------------------------------
 *
 * Where the server writes what processes log: its standard streams and the system log.  This
 * section is for this chapter.
 *
 *     job: QUEUED --the first--> BEGUN --written, or it cannot be--> done, once
 *
 * The server waits for no reader: text that an outlet does not take now is written when there is
 * room.  The logging client waits instead, and its quota (SX_PENDING_LOG) bounds the queue.  One
 * job is written after the other, whole lines at a time.  Loop thread. */

struct sx_sink_job {
    struct sx_list link; /* outlet.jobs */
    /* Append the text to be written; it is borrowed until `done`. */
    void (*begin)(struct sx_sink_job *job, struct sx_log_text *ret);
    /* PMIX_SUCCESS: the kernel has all of it.  Not called inside sx_sink_put. */
    void (*done)(struct sx_sink_job *job, pmix_status_t status);
};

void sx_sinks_init(struct sx_server *server);

/* Whether the outlet accepts texts.  True for a stream, even if nothing reads it. */
bool sx_sink_can(struct sx_server *server, enum sx_sink_number number);

/* Queue @job. */
void sx_sink_put(struct sx_server *server, enum sx_sink_number number, struct sx_sink_job *job);
/* Write what is queued, as far as possible now. */
void sx_sink_go(struct sx_server *server, enum sx_sink_number number);

/* Write the rest, for SX_SINK_END_NS at most.  The jobs that remain end without success. */
#define SX_SINK_END_NS (2 * SX_NS_PER_SEC)
void sx_sinks_end(struct sx_server *server);

#endif
