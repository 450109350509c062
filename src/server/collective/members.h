/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* members.h - who is expected in a collective operation, who has come, and who is told of its end.
 *
 * The members expected here are the registered clients that the signature names, those that the
 * host has announced and registers later included.  A signature that has names of connected
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
    size_t bytes;       /* what it has brought, for its client's quota */
    uint64_t news_sent; /* of all bytes of its news, how many the host has been given */
};

struct sx_members {
    struct sx_server *server;
    struct sx_client *opener; /* pays for finding them (sx_members_gather); NULL: nobody */
    pmix_proc_t *procs;       /* the signature: sorted, no duplicates; owned */
    size_t proc_count;
    struct sx_alias_list real; /* the processes that it means */
    struct sx_member *all;     /* sorted by client address */
    size_t count, capacity, arrived_count;
    bool incomplete; /* it goes on without somebody */
    /* A namespace that is not registered here belongs to other nodes (admits), or the host will
     * register it (awaits); there is one. */
    bool admits_unknown, awaits_unknown, has_unknown;
};

/* What becomes of an operation when a member goes, by how it goes.  PMIX_SUCCESS: nothing;
 * PMIX_ERR_PARTIAL_SUCCESS: it goes on without the member; else it ends with this status. */
struct sx_member_ends {
    pmix_status_t died;     /* lost, or taken away by the host */
    pmix_status_t left;     /* it has said good-bye; another process may come in its place ... */
    pmix_status_t departed; /* ... or nobody will */
    pmix_status_t withdrew; /* it is none of those named any more, and goes on otherwise */
};
/* Return: the one that fits; PMIX_SUCCESS for a client that is there. */
pmix_status_t sx_member_end(const struct sx_member_ends *ends, const struct sx_client *client);

/* Find who of the signature is registered; who has gone is judged by @ends.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for a namespace that has ended, or that is not known where the members neither
 * admit nor await it, or for a process that has left a connected namespace; the status of @ends for
 * a process that has gone; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_gather(struct sx_members *members, const struct sx_member_ends *ends);
/* The host has registered @nspace, whose clients are expected already (sx_members_expect).  Return:
 * whether the signature has waited for that. */
bool sx_members_nspace_added(struct sx_members *members, const struct sx_nspace *nspace);
/* The same when clients may have been registered that nobody has expected.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_catch_up(struct sx_members *members);
/* Whether the signature has processes of @nspace, by their own names. */
bool sx_members_mean_nspace(const struct sx_members *members, const char *nspace);
void sx_members_clear(struct sx_members *members);

/* Whether the signature has processes of that @name. */
bool sx_members_have_name(const struct sx_members *members, const char *name);
/* The signature, without names of lists, becomes @procs, in order, which it owns from now on. */
void sx_members_rename(struct sx_members *members, struct sx_proc_list *procs);
/* A list in the signature has changed: it means the processes that this has now.  Return: as
 * sx_members_gather. */
pmix_status_t sx_members_mean_anew(struct sx_members *members);

/* Whether the signature names @client, as the lists in it are now. */
bool sx_members_name(const struct sx_members *members, const struct sx_client *client);

/* Return: NULL when @client is none of them. */
struct sx_member *sx_members_find(const struct sx_members *members, struct sx_client *client);

/* The host has registered @client: expect it if the signature names it and it is no member yet.
 * Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_expect(struct sx_members *members, struct sx_client *client);

/* @member, which had not arrived, has arrived with its number @op; what it brings takes @bytes. */
void sx_members_arrive(struct sx_members *members, struct sx_member *member, uint32_t op,
                       size_t bytes);

/* @member, which has arrived or not, has not: it is awaited, even if it has ended. */
void sx_members_withdraw(struct sx_members *members, struct sx_member *member);

/* It goes on without @member, which never arrives, or counts no more. */
void sx_members_leave(struct sx_members *members, struct sx_member *member);

/* What of the signature is not among the members. */
struct sx_absent {
    size_t announced; /* local, but the host has not registered them yet */
    bool elsewhere;   /* on other nodes: only the host reaches them */
    bool unknown;     /* of a namespace that the host has not registered yet */
};
struct sx_absent sx_members_absent(const struct sx_members *members);

/* Whether any of those who have arrived is still there to be told. */
bool sx_members_somebody_waits(const struct sx_members *members);

/* Tell those who have arrived how it ended, and of which @subject (ring/record.h): one record per
 * namespace's ring (several for many members), then one wake, of the collective door when most
 * sleepers are concerned, else of each member's bell. */
void sx_members_release(struct sx_members *members, pmix_status_t status, uint64_t subject);

/* The same for one client alone, before there is an operation it could be part of. */
void sx_members_refuse(struct sx_client *client, uint32_t op, pmix_status_t status);

#endif
