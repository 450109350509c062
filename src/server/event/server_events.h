/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* server_events.h - the events that the server makes: ends of processes, connects, process sets.
 *
 * None of them reaches a handler without codes in a client: programs end themselves there, and
 * would do so before their host has acted, or for no reason at all. */
#ifndef SX_SERVER_EVENT_SERVER_EVENTS_H
#define SX_SERVER_EVENT_SERVER_EVENTS_H

#include "server/model/proc_list.h"
#include "server/model/state.h"

/* The client's process is gone without a word: its namespace, then the host hear of it. */
void sx_event_client_lost(struct sx_server *server, struct sx_client *client);
/* It wants @procs (none: all of its namespace) to be ended. */
void sx_event_client_aborts(struct sx_server *server, const struct sx_client *client,
                            const pmix_proc_t procs[], size_t nprocs);
/* What there is to say besides: processes, a text, an error, infos as they are (whose keys count),
 * or (with none of them) a number. */
struct sx_event_note {
    const char *key;
    const pmix_info_t *infos;
    size_t info_count;
    const pmix_proc_t *procs;
    size_t count;
    bool is_one; /* of @procs, and told as one: some hosts carry no arrays */
    const char *text;
    pmix_status_t status;
    size_t number;
};
#define SX_EVENT_NOTES_MAX 4u
/* What @client has done, or become, concerns @count processes at @to (none: nothing happens), on
 * other nodes too. */
void sx_event_to(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                 const pmix_proc_t to[], size_t count, const struct sx_event_note notes[],
                 size_t note_count);
/* The same of @source, which is @client (NULL: no client any more), to the members of the named
 * list @list that are left, which are @to.  What they hear says so by its name, and so it is one
 * record for many. */
void sx_event_to_list(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                      const pmix_proc_t *source, const char *list, const struct sx_proc_list *to,
                      const struct sx_event_note *note);
/* The same to the servers of other nodes alone; of the processes nobody hears it. */
void sx_event_to_servers(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                         const pmix_proc_t *source, const struct sx_event_note *note);
/* The same of @proc, which may be known no more, on this node. */
void sx_event_of_proc(struct sx_server *server, pmix_status_t code, const pmix_proc_t *proc,
                      const struct sx_proc_list *to, const struct sx_event_note notes[],
                      size_t note_count);
/* All processes of this node receive that there is a set, or (@defined false) that it is gone; only
 * those of user *@owner, unless it is NULL. */
void sx_event_pset(struct sx_server *server, bool defined, const char *name, const uid_t *owner,
                   const pmix_proc_t members[], size_t count);

#endif
