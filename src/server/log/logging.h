/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* logging.h - PMIx_Log, of clients and of the host.
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

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_client;
struct sx_frame;
struct sx_server;
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

#endif
