/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* members.h - the members of a collective operation: expected, arrived, and released at its end.
 *
 * The expected members are the registered clients that the signature names.  Clients that the host
 * has announced and registers later are included.  A signature that has names of connected
 * namespaces or groups means the processes that these have when the operation begins. */
#ifndef SX_SERVER_COLLECTIVE_MEMBERS_H
#define SX_SERVER_COLLECTIVE_MEMBERS_H

#include "server/model/alias.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"

struct sx_member {
    struct sx_client *client; /* retained */
    uint32_t op;              /* the client's own number for the call */
    bool arrived;
    uint8_t hears;      /* SX_HEARS_* */
    size_t bytes;       /* size of what it has sent, for its client's quota */
    uint64_t news_sent; /* how many of all bytes of its news the host has received */
};

struct sx_members {
    struct sx_server *server;
    struct sx_client *opener; /* charged for finding them (sx_members_gather); NULL: none */
    pmix_proc_t *procs;       /* the signature: sorted, no duplicates; owned */
    size_t proc_count;
    struct sx_alias_list real; /* processes that the signature means */
    struct sx_member *all;     /* sorted by client address */
    size_t count, capacity, arrived_count;
    bool incomplete; /* the operation continues without some member */
    /* Namespaces that are not registered here belong to other nodes (admits), or the host will
     * register them (awaits); the signature has one (has). */
    bool admits_unknown, awaits_unknown, has_unknown;
};

/* How an operation ends when a member leaves, for each way of leaving.  PMIX_SUCCESS: no effect;
 * PMIX_ERR_PARTIAL_SUCCESS: it continues without the member; else it ends with this status. */
struct sx_member_ends {
    pmix_status_t died;     /* lost, or removed by the host */
    pmix_status_t left;     /* finalized; another process may take its place ... */
    pmix_status_t departed; /* ... or none will */
    pmix_status_t withdrew; /* left the list that is named, and still runs */
};
/* Return: the status of @ends that applies to @client; PMIX_SUCCESS for a client that is there. */
pmix_status_t sx_member_end(const struct sx_member_ends *ends, const struct sx_client *client);

/* Find the registered clients of the signature; @ends applies to those that have gone.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a namespace that has ended, for one that is not registered
 * where the members neither admit nor await it, or for a process that has left a connected
 * namespace; the status of @ends for a process that has gone; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_gather(struct sx_members *members, const struct sx_member_ends *ends);
/* The host has registered @nspace, whose clients are expected already (sx_members_expect).  Return:
 * whether the signature has waited for that. */
bool sx_members_nspace_added(struct sx_members *members, const struct sx_nspace *nspace);
/* The same when some of the registered clients may not be expected yet.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_catch_up(struct sx_members *members);
/* Return: whether the signature has processes of @nspace, by their own names. */
bool sx_members_mean_nspace(const struct sx_members *members, const char *nspace);
void sx_members_clear(struct sx_members *members);

/* Return: whether the signature has processes of that @name. */
bool sx_members_have_name(const struct sx_members *members, const char *name);
/* Replace the signature, which has no names of lists, by @procs, which are in order.  The members
 * own @procs from now on. */
void sx_members_rename(struct sx_members *members, struct sx_proc_list *procs);
/* A list in the signature has changed: resolve the signature again.  Return: as
 * sx_members_gather. */
pmix_status_t sx_members_mean_anew(struct sx_members *members);

/* Return: whether the signature names @client, as the lists in it are now. */
bool sx_members_name(const struct sx_members *members, const struct sx_client *client);

/* Return: NULL when @client is not a member. */
struct sx_member *sx_members_find(const struct sx_members *members, struct sx_client *client);

/* The host has registered @client: expect it if the signature names it and it is not a member yet.
 * Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_expect(struct sx_members *members, struct sx_client *client);

/* @member has arrived now, with its number @op; what it has sent takes @bytes. */
void sx_members_arrive(struct sx_members *members, struct sx_member *member, uint32_t op,
                       size_t bytes);

/* Mark @member as not arrived: it is awaited, even if it has ended. */
void sx_members_withdraw(struct sx_members *members, struct sx_member *member);

/* Continue without @member, which never arrives, or counts no more. */
void sx_members_leave(struct sx_members *members, struct sx_member *member);

/* Processes of the signature that are not among the members. */
struct sx_absent {
    size_t announced; /* local, but the host has not registered them yet */
    bool elsewhere;   /* some are on other nodes: only the host reaches them */
    bool unknown;     /* some are of a namespace that the host has not registered yet */
};
struct sx_absent sx_members_absent(const struct sx_members *members);

/* Return: whether any member that has arrived is still connected. */
bool sx_members_somebody_waits(const struct sx_members *members);

/* Release the members that have arrived, with @status and @subject (ring/record.h).  Each
 * namespace's ring gets one record (several for many members), and then there is one wake.  It is
 * that of the collective door when most sleepers are concerned, else of each member's bell. */
void sx_members_release(struct sx_members *members, pmix_status_t status, uint64_t subject);

/* Release one client alone, before there is an operation that it could join. */
void sx_members_refuse(struct sx_client *client, uint32_t op, pmix_status_t status);

#endif
