/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.h - events: from their publisher, through the server, to their receivers.
 *
 *     a client's lane, EVENT_BULK --\            /--> the rings of namespaces: their clients
 *     PMIx_Notify_event of the host -> published --> the host's own handlers
 *     the server itself ------------/            \--> the host's notify_event: other nodes
 *
 * An event gets a number in each namespace that it concerns, and is kept (model/event_log.h): for
 * handlers that are registered later, and for readers that their ring has lapped.  Loop thread,
 * except where "any thread" is written. */
#ifndef SX_SERVER_EVENT_EVENT_H
#define SX_SERVER_EVENT_EVENT_H

#include "server/model/event_log.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"

/* ---- the life of the server ------------------------------------------------------------------ */

/* Set how many events, and how many bytes of them, are kept, as the host or the environment says.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a value that is not a number. */
pmix_status_t sx_events_init(struct sx_server *server, const struct sx_server_options *options);
/* No client is connected any more: stop informing the host about codes. */
void sx_events_stop(struct sx_server *server);
/* All namespaces have been removed. */
void sx_events_deinit(struct sx_server *server);
/* Jobs were registered or removed: set on the board whether events would have to leave the node and
 * cannot. */
void sx_event_confine(struct sx_server *server);

/* ---- sources ------------------------------------------------------------------------------- */

/* Take an event from a client's lane.  Return: PMIX_SUCCESS, or PMIX_ERR_BAD_PARAM for bytes that
 * no client writes. */
pmix_status_t sx_event_on_notify(struct sx_server *server, struct sx_client *client,
                                 const struct sx_opened *body);
/* Handle EVENT_BULK.  Return: false for a breach of protocol. */
bool sx_event_on_bulk(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);
/* Publish an event of the host; any thread (struct sx_role_server). */
pmix_status_t sx_event_notify(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo);

enum sx_event_origin {
    SX_EVENT_FROM_CLIENT,
    SX_EVENT_FROM_HOST,
    SX_EVENT_FROM_LIBRARY,
};
/* Publish any block; the maker keeps its reference.  @client: the publisher; NULL: not a client of
 * this server.  Return: PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if the event was also for other
 * nodes and reaches none of them; PMIX_ERR_NO_PERMISSIONS when some of the processes that it names
 * are of another user. */
pmix_status_t sx_event_publish(struct sx_server *server, struct sx_event_block *block,
                               enum sx_event_origin origin, struct sx_client *client);
/* Return: whether some processes of @nspace may receive the event (event_route.h). */
bool sx_event_concerns(const struct sx_event_block *block, const struct sx_nspace *nspace);

/* ---- the life of namespaces and clients ----------------------------------------------------- */

void sx_event_nspace_added(struct sx_server *server, struct sx_nspace *nspace);
/* The namespace has a ring now. */
void sx_event_nspace_opened(struct sx_server *server, struct sx_nspace *nspace);
void sx_event_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

void sx_event_client_connected(struct sx_server *server, struct sx_client *client);
/* The client has finalized, died or was removed: it wants no events and waits for nothing. */
void sx_event_client_left(struct sx_server *server, struct sx_client *client);
/* The client is gone: it wants no codes any more. */
void sx_event_codes_client_left(struct sx_server *server, struct sx_client *client);

/* A client has read the records of its ring up to @seq. */
void sx_event_client_read(struct sx_server *server, struct sx_client *client, uint64_t seq);

/* Wake the sleeping readers of all rings that were written since the last call; once per turn. */
void sx_event_wake(struct sx_server *server);
/* Wake them after everything that has been posted to the host so far. */
void sx_event_wake_behind_host(struct sx_server *server);
/* Wake all clients of @nspace that have handlers, even if there is no new event. */
void sx_event_wake_handlers(struct sx_server *server, struct sx_nspace *nspace);

/* ---- handlers that are registered late, readers that were lapped ----------------------------- */

/* Handle EVENT_REGISTER, EVENT_DEREGISTER.  Return: false for a breach of protocol. */
bool sx_event_on_register(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns);
bool sx_event_on_deregister(struct sx_server *server, struct sx_client *client,
                            struct sx_frame *frame, uint64_t now_ns);
/* Handle EVENT_REPLAY.  A lost event may have been a request to @client: see struct sx_family's
 * events_missed.  Return: false for a breach of protocol. */
bool sx_event_on_replay(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns);

/* ---- events that the server makes ------------------------------------------------------------ */

/* The events that the server makes: ends of processes, connects, process sets.
 *
 * None of them reaches a handler without codes in a client: there, programs end themselves.  They
 * would do so before their host has acted, or without need. */

/* The client's process died without finalizing.  First its namespace receives an event, then the
 * host. */
void sx_event_client_lost(struct sx_server *server, struct sx_client *client);
/* The event about the end of some processes, which is long if they are many: to take its memory is
 * one step, to write and publish it another.  Processes that do not fit into one event are named in
 * several, a part of them in each. */
struct sx_event_end {
    const pmix_proc_t *affected; /* of all parts */
    size_t count, published, part_count;
    pmix_proc_t source, everyone;
    pmix_data_array_t array;
    pmix_info_t info[2];
    struct sx_event_building building;
    bool is_begun; /* false: nothing is to be published, or the log says why not */
};
/* The client wants @procs (empty: all of its namespace) to be ended.  They, and @end, stay where
 * they are until the event is published. */
void sx_event_abort_begin(struct sx_event_end *end, const struct sx_client *client,
                          const pmix_proc_t procs[], size_t nprocs);
/* Publish end->part_count processes.  Return: whether there is a further part, which has its memory
 * now and is to be published in the same way. */
bool sx_event_abort_publish(struct sx_server *server, struct sx_event_end *end);
/* Nothing will be published.  Safe when zeroed, and twice. */
void sx_event_abort_clear(struct sx_event_end *end);
/* Additional contents of an event: processes, a text, an error, infos as they are (with their own
 * keys), or (with none of these) a number. */
struct sx_event_note {
    const char *key;
    const pmix_info_t *infos;
    size_t info_count;
    const pmix_proc_t *procs;
    size_t count;
    bool is_one; /* @procs holds one process, sent as a single value: some hosts carry no arrays */
    const char *text;
    pmix_status_t status;
    size_t number;
};
#define SX_EVENT_NOTES_MAX 4u
/* Publish an action or a state change of @client to @count processes at @to (empty: nothing
 * happens), on other nodes too.  Receivers that do not fit into one event get it in several, each
 * of them once.  One that would be too long for its notes goes without the last ones, logged, as
 * long as these are data of members or their list. */
void sx_event_to(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                 const pmix_proc_t to[], size_t count, const struct sx_event_note notes[],
                 size_t note_count);
/* The same from @source, which is @client (NULL: no longer a client), to the remaining members of
 * the named list @list, which are @to.  The event names the list, and so it is one record for many
 * processes. */
void sx_event_to_list(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                      const pmix_proc_t *source, const char *list, const struct sx_proc_list *to,
                      const struct sx_event_note *note);
/* The same to the servers of other nodes alone; no process receives it. */
void sx_event_to_servers(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                         const pmix_proc_t *source, const struct sx_event_note *note);
/* The same from @proc, which may no longer be registered, on this node. */
void sx_event_of_proc(struct sx_server *server, pmix_status_t code, const pmix_proc_t *proc,
                      const struct sx_proc_list *to, const struct sx_event_note notes[],
                      size_t note_count);
/* All processes of this node receive the event that a set exists, or (@defined false) that it was
 * removed.  Only processes of user *@owner do, unless it is NULL.  If the members do not fit into
 * an event, it has the set's name alone. */
void sx_event_pset(struct sx_server *server, bool defined, const char *name, const uid_t *owner,
                   const pmix_proc_t members[], size_t count);

/* ---- the host's own handlers ----------------------------------------------------------------- */

/* The host's own event handlers: what the library reports to the host itself.
 *
 * Some hosts end the job at any event that reaches a handler without codes.  So such a handler
 * receives only lost processes and events that were addressed to the host. */

/* From now on handlers run on @server's loop thread. */
void sx_hostevent_serve(struct sx_server *server);

/* Any thread.  No event reaches the handler before it is activated.  Return: the handler's id, 0 or
 * more, or an error as of sx_handlers_add. */
pmix_status_t sx_hostevent_register(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                    size_t ninfo, pmix_notification_fn_t handler);
/* Activate the handler; any thread.  It receives the kept events, and all later ones.  If it asked
 * for the level of the environment, the host is asked for its codes as for a client's.  @waits:
 * return only after that, unless this is the loop thread. */
void sx_hostevent_activate(size_t id, bool waits);
/* Return: PMIX_SUCCESS, for an unknown id as well: hosts deregister what they never registered
 * (Slurm always the id 0). */
pmix_status_t sx_hostevent_deregister(size_t id);

/* Loop thread: have the matching handlers called, one after the other, in later turns.  Keep the
 * event for handlers that are registered later. */
void sx_hostevent_deliver(struct sx_server *server, struct sx_event_block *block);

/* The server has ended: forget all handlers. */
void sx_hostevent_clear(void);

/* ---- whether all have been handled ----------------------------------------------------------- */

/* Whether the processes of a namespace have handled all events published to it.
 *
 *     asked --each client with handlers is done, or leaves--> answered
 *
 * A client reports this in its own lane, and its report cannot be verified.  So the host that uses
 * this should have a time limit of its own. */

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
