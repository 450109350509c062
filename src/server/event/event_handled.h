/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_handled.h - whether the processes of a namespace have dealt with what was published to it.
 *
 *     asked --each client with handlers says so, or leaves--> answered
 *
 * A client says so in its lane's line, which nobody else may believe; so this is for a host that
 * has a clock beside it. */
#ifndef SX_SERVER_EVENT_EVENT_HANDLED_H
#define SX_SERVER_EVENT_EVENT_HANDLED_H

#include "server/model/state.h"

/* Have @cbfunc called once, on the loop thread, when every client of @nspace that has handlers of
 * events has called them for all that was published to the namespace so far.  A client that is
 * stopped, or lets nothing progress, may never be done.  Any thread.  Status: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the namespace goes before.  Return: PMIX_SUCCESS when @cbfunc will be or
 * has been called; PMIX_ERR_INIT without a server; PMIX_ERR_NOT_FOUND for a namespace that is not
 * there; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_eventhandled_ask(const char *nspace, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Answer who is to be answered; each turn. */
void sx_eventhandled_check(struct sx_server *server);
/* Nobody will say anything any more. */
void sx_eventhandled_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

#endif
