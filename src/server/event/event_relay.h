/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_relay.h - an event on its way through the host to the servers of other nodes.
 *
 *     client's event --infos + range, proxy, mark--> host --> other nodes: the event of the mark
 *                                                      \----> the node it left: dropped
 *
 * A host delivers an event to all its nodes, the origin included, and drops what it does not
 * support.  ORTE turns each range into SESSION, replaces processes whose names are not its jobs,
 * and empties arrays of processes.  So each relayed event carries a mark: a byte string, which
 * every host can carry.  The mark holds the relaying server, a random number that is unlikely to be
 * another server's, the publisher's user, and the original event.  The infos are for the host. */
#ifndef SX_SERVER_EVENT_EVENT_RELAY_H
#define SX_SERVER_EVENT_EVENT_RELAY_H

#include "server/model/event_block.h"
#include "server/port/upcall.h"

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

/* Pass to the host an event of @client (NULL: of a tool) that concerns more than the processes of
 * this node.  The callback receives @id.  Return: as sx_upcall. */
pmix_status_t sx_event_relay(struct sx_server *server, struct sx_client *client,
                             const struct sx_event_block *block, uint64_t id, sx_told_fn told);

/* Return: whether @info belongs to an event that a server has relayed.  Any thread. */
bool sx_event_relay_read(const struct sx_server *server, const pmix_info_t info[], size_t ninfo,
                         struct sx_event_relay *ret);
/* Read the event of @relay, from @source.  Any thread.  Return: PMIX_SUCCESS;
 * PMIX_ERR_UNPACK_FAILURE, logged, when it was not sent by a server of this version;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_relay_open(const struct sx_event_relay *relay, const pmix_proc_t *source,
                                  struct sx_event_block **ret);

#endif
