/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* answer.h - large answers, which a thread writes while the loop goes on.
 *
 *     WAITING --the thread takes it--> WRITTEN --the loop--> done
 *         \-------the server ends------/--> done, without it
 *
 * One thread writes one answer after the other, and ends with the last.  An answer's owner keeps
 * its contents unchanged until it is done, also when no client waits for it any more. */
#ifndef SX_SERVER_PORT_ANSWER_H
#define SX_SERVER_PORT_ANSWER_H

#include "server/model/state.h"

#define SX_ANSWER_LARGE_BYTES (UINT64_C(1) << 20) /* from here on it is worth a thread */

/* The end of an answer: called once, on the loop thread.  @status: PMIX_SUCCESS, and @fd, of a body
 * of @size bytes for sx_reply_made, is the callee's; PMIX_ERR_OUT_OF_RESOURCE; the status of infos
 * that cannot be encoded; PMIX_ERR_NOT_AVAILABLE when the server ends. */
typedef void (*sx_answer_fn)(void *arg, pmix_status_t status, int fd, size_t size);

/* Write an answer with status @reply and @info, of at most @size_max bytes.  Return: false when
 * there is no thread or memory for it; then @done is not called. */
bool sx_answer_write(struct sx_server *server, pmix_status_t reply, const pmix_info_t info[],
                     size_t ninfo, size_t size_max, sx_answer_fn done, void *arg);

/* Stop writing answers. */
void sx_answers_stop(struct sx_server *server);

#endif
