/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_relay.h - an event on its way through the host to the servers of other nodes.
 *
 *     client's event --infos + range, proxy, mark--> host --> other nodes: the event of the mark
 *                                                      \----> the node it left: dropped
 *
 * A host hands an event to all its nodes, the one it came from included, and loses on the way what
 * it does not know: ORTE makes each range a SESSION, processes of names that are not its jobs other
 * ones, and arrays of processes empty ones.  So each carries a mark, bytes, which every host can
 * carry: who relays it, a number that no draw of another server is likely to be, the user of its
 * publisher, and the event as it was.  The infos are for the host. */
#ifndef SX_SERVER_EVENT_EVENT_RELAY_H
#define SX_SERVER_EVENT_EVENT_RELAY_H

#include "server/model/event_block.h"
#include "server/port/upcall.h"

#define SX_EVENT_RELAY_KEY "shmix.evrelay"

struct sx_event_relay {
    bool own;         /* this server has sent it */
    uint64_t session; /* of the range SESSION; SX_SESSION_* */
    bool has_user;    /* it is a client's, of this user */
    uid_t user;
    const char *bytes; /* the event; borrowed, at any address */
    size_t size;
};

/* Draw the number of this server. */
void sx_event_relay_init(struct sx_server *server);

/* The infos of @block as they are given to the host, for PMIX_INFO_FREE.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_relay_infos(const struct sx_server *server,
                                   const struct sx_event_block *block, pmix_info_t **ret_info,
                                   size_t *ret_ninfo);

/* An event of @client (NULL: of a tool's) that concerns others than the processes of this node goes
 * to the host.  @told gets @id.  Return: as sx_upcall. */
pmix_status_t sx_event_relay(struct sx_server *server, struct sx_client *client,
                             const struct sx_event_block *block, uint64_t id, sx_told_fn told);

/* Any thread.  Return: whether @info is that of an event which a server has relayed. */
bool sx_event_relay_read(const struct sx_server *server, const pmix_info_t info[], size_t ninfo,
                         struct sx_event_relay *ret);
/* Any thread.  The event of @relay, from @source.  Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE,
 * told, when no server of this version has sent it; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_relay_open(const struct sx_event_relay *relay, const pmix_proc_t *source,
                                  struct sx_event_block **ret);

#endif
