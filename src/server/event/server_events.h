/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* server_events.h - the events that the server makes: ends of processes, connects, process sets.
 *
 * None of them reaches a handler without codes in a client: there, programs end themselves.  They
 * would do so before their host has acted, or without need. */
#ifndef SX_SERVER_EVENT_SERVER_EVENTS_H
#define SX_SERVER_EVENT_SERVER_EVENTS_H

#include "server/model/proc_list.h"
#include "server/model/state.h"

/* The client's process died without finalizing.  First its namespace receives an event, then the
 * host. */
void sx_event_client_lost(struct sx_server *server, struct sx_client *client);
/* The client wants @procs (empty: all of its namespace) to be ended. */
void sx_event_client_aborts(struct sx_server *server, const struct sx_client *client,
                            const pmix_proc_t procs[], size_t nprocs);
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
 * happens), on other nodes too. */
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
 * removed.  Only processes of user *@owner do, unless it is NULL. */
void sx_event_pset(struct sx_server *server, bool defined, const char *name, const uid_t *owner,
                   const pmix_proc_t members[], size_t count);

#endif
