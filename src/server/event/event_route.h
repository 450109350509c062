/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_route.h - the receivers of an event: namespaces of this node, the host, other nodes.
 *
 *     range       namespaces here         the host's own handlers   the host's notify_event
 *     RM          none                    all, without codes too    yes
 *     LOCAL       all                     with the code             no
 *     NAMESPACE   the source's            made here, or its own     yes
 *     SESSION     the source's session's  with the code             yes
 *     GLOBAL      all                     with the code             yes
 *     CUSTOM      the targets'            when it is a target       unless all targets are here
 *     PROC_LOCAL  none                    its own                   no
 *
 * notify_event receives only clients' events, and only those without PMIX_EVENT_STAYS_LOCAL.  If an
 * event is for processes on other nodes and nothing can pass it on to them, its publisher gets an
 * error. */
#ifndef SX_SERVER_EVENT_EVENT_ROUTE_H
#define SX_SERVER_EVENT_EVENT_ROUTE_H

#include "server/event/event.h"
#include "server/model/membership.h"
#include "server/port/port.h"

enum sx_event_way {
    SX_EVENT_STAYS,
    SX_EVENT_GOES_UP, /* the host's notify_event is called */
    SX_EVENT_LEAVES,  /* some process on another node can receive it only through the host */
};

/* The route of one event, decided once, when it is published. */
struct sx_event_route {
    pmix_proc_t source;
    uint64_t targets_mark; /* that the namespaces of the targets have; 0: there are no targets */
    bool reaches_host; /* the host's handlers receive it if they are registered for its code ... */
    bool is_for_host;  /* ... and those without codes, too.  Events that the library raises are not
                        * for a client's default handler; a lost client concerns the host. */
    enum sx_event_way way; /* of a client's event; others stay.  A host without notify_event is
                            * assumed to have only the nodes that its jobs name. */
};

/* Decide the route, which holds until the next one is decided.  Fill into the block what follows
 * from the source: its session, and whether the manager itself addresses all. */
void sx_event_route(struct sx_server *server, struct sx_event_block *block,
                    enum sx_event_origin origin, struct sx_event_route *ret);

/* Return: as sx_event_concerns (event.h), for an event of that @route. */
bool sx_event_route_concerns(const struct sx_event_route *route, const struct sx_event_block *block,
                             const struct sx_nspace *nspace);
/* Whether the event concerns a job that is not registered here yet: the job may be registered
 * later. */
bool sx_event_awaits_job(struct sx_server *server, const struct sx_event_block *block);

/* ---- events of clients ----------------------------------------------------------------------- */

/* The block of the event that @client has sent.  Return: PMIX_SUCCESS and *ret; as
 * sx_event_block_judge; PMIX_ERR_NO_PERMISSIONS for a code that it may not raise. */
pmix_status_t sx_event_client_judge(const struct sx_client *client, const struct sx_opened *body,
                                    struct sx_event_block **ret);
/* Publish the block, which names real processes.  *ret_number: the event's number in the client's
 * home; 0: the event is not there.  Return: as sx_event_publish. */
pmix_status_t sx_event_client_publish(struct sx_server *server, struct sx_client *client,
                                      struct sx_event_block *block, uint64_t *ret_number);

/* ---- names that stand for processes ---------------------------------------------------------- */

/* Events from, for, or about members of connected namespaces and groups. */

/* Rewrite *block so that it names real processes where it named them through a connected namespace
 * or a group.  The infos stay unchanged, and other nodes read them.  *block may be replaced; its
 * reference moves to the new one.  @payer, NULL for a host, is charged for a long list.  Return:
 * PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and then *block is unchanged. */
pmix_status_t sx_event_unalias(struct sx_server *server, struct sx_client *payer,
                               struct sx_event_block **block);

/* Return: how many processes, or a few more, the names of lists in an event stand for; 0: it has no
 * such name. */
size_t sx_event_alias_count(struct sx_server *server, const struct sx_client *client,
                            const struct sx_event_block *block);
/* The same in steps, for an event of many processes that has such names. */
struct sx_event_naming {
    struct sx_event_block *block; /* the rest is zeroed before the first step */
    unsigned done;                /* steps */
    pmix_proc_t *given[2];        /* of targets and affected processes: as the block names them */
    size_t counts[2];
    struct sx_alias_list found[2]; /* ... and the processes that they stand for */
};
/* Return: PMIX_ERR_WOULD_BLOCK when another step is needed; otherwise as sx_event_unalias.  Then,
 * or when it is given up, clear it; the block stays the owner's. */
pmix_status_t sx_event_naming_step(struct sx_server *server, struct sx_client *payer,
                                   struct sx_event_naming *naming);
void sx_event_naming_clear(struct sx_event_naming *naming);

/* ---- through the host to other nodes --------------------------------------------------------- */

/* An event on its way through the host to the servers of other nodes.
 *
 *     client's event --infos + range, proxy, mark--> host --> other nodes: the event of the mark
 *                                                      \----> the node it left: dropped
 *
 * A host delivers an event to all its nodes, the origin included, and drops what it does not
 * support.  ORTE turns each range into SESSION, replaces processes whose names are not its jobs,
 * and empties arrays of processes.  So each relayed event carries a mark: a byte string, which
 * every host can carry.  The mark holds the relaying server, a random number that is unlikely to be
 * another server's, the publisher's user, and the original event.  The infos are for the host. */

#define SX_EVENT_RELAY_KEY "shmix.evrelay"

struct sx_event_relay {
    bool own;         /* this server has relayed it */
    uint64_t session; /* session of the range SESSION; SX_SESSION_* */
    bool has_user;    /* the publisher is a client, of this user */
    uid_t user;
    const char *bytes; /* the event; borrowed, at any address */
    size_t size;
};

/* Draw the random number of this server. */
void sx_event_relay_init(struct sx_server *server);

/* Build the infos of @block for the host; free them with PMIX_INFO_FREE.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_relay_infos(const struct sx_server *server,
                                   const struct sx_event_block *block, pmix_info_t **ret_info,
                                   size_t *ret_ninfo);

/* Pass to the host an event of @client (NULL: of a tool) from @source that concerns more than the
 * processes of this node.  The callback receives @id.  Return: as sx_upcall. */
pmix_status_t sx_event_relay(struct sx_server *server, struct sx_client *client,
                             const struct sx_event_block *block, pmix_proc_t *source, uint64_t id,
                             sx_answered_fn answered);

/* Return: whether @info belongs to an event that a server has relayed.  Any thread. */
bool sx_event_relay_read(const struct sx_server *server, const pmix_info_t info[], size_t ninfo,
                         struct sx_event_relay *ret);
/* Read the event of @relay, from @source.  Any thread.  Return: PMIX_SUCCESS;
 * PMIX_ERR_UNPACK_FAILURE, logged, when it was not sent by a server of this version;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_relay_open(const struct sx_event_relay *relay, const pmix_proc_t *source,
                                  struct sx_event_block **ret);

#endif
