/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_handled.h - whether the processes of a namespace have handled all events published to it.
 *
 *     asked --each client with handlers is done, or leaves--> answered
 *
 * A client reports this in its own lane, and its report cannot be verified.  So the host that uses
 * this should have a time limit of its own. */
#ifndef SX_SERVER_EVENT_EVENT_HANDLED_H
#define SX_SERVER_EVENT_EVENT_HANDLED_H

#include "server/model/state.h"

/* Have @cbfunc called once, on the loop thread, when all events published to @nspace so far have
 * been handled.  Handled means that every client with event handlers has called them.  A client
 * that is stopped, or makes no progress, may never be done.  Any thread.  Status: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the namespace is removed first.  Return: PMIX_SUCCESS when @cbfunc will
 * be or has been called; PMIX_ERR_INIT without a server; PMIX_ERR_NOT_FOUND for an unknown
 * namespace; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_eventhandled_ask(const char *nspace, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Answer the calls whose number has been reached; each turn. */
void sx_eventhandled_check(struct sx_server *server);
/* The server ends: no client will report any more. */
void sx_eventhandled_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

#endif
