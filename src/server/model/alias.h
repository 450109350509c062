/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alias.h - the name of a connected namespace or group stands where a namespace's does.
 *
 *     {alias, rank}      the member of that rank
 *     {alias, WILDCARD}  all members
 *
 * A function that receives process names resolves them here, once, before it uses them.  Later code
 * handles real processes alone.  A process that is not named by an alias stays as it is. */
#ifndef SX_SERVER_MODEL_ALIAS_H
#define SX_SERVER_MODEL_ALIAS_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_common.h>

#define SX_ALIAS_PROCS_MAX 131072u /* that one list may stand for */

struct sx_client;
struct sx_membership;
struct sx_server;

/* Return: the list of that @name, NULL when the name is not an alias. */
const struct sx_membership *sx_alias_members(const struct sx_server *server, const char *name);

/* Call @each for each process that @proc means, or PMIX_RANK_WILDCARD for all of a namespace, until
 * it does not return PMIX_SUCCESS.  Return: that; PMIX_ERR_NOT_FOUND for an alias without such a
 * member, or whose member of that rank has left. */
pmix_status_t sx_alias_each(struct sx_server *server, const pmix_proc_t *proc,
                            pmix_status_t (*each)(void *arg, const pmix_proc_t *real), void *arg);

/* The same, but one by one: members in the order of their ranks in the alias, and the wildcard of a
 * namespace on this server as its single processes. */
pmix_status_t sx_alias_each_one(struct sx_server *server, const pmix_proc_t *proc,
                                pmix_status_t (*each)(void *arg, const pmix_proc_t *real),
                                void *arg);

/* The one process that @proc means.  Return: as sx_alias_each; the wildcard of an alias is not
 * found. */
pmix_status_t sx_alias_one(struct sx_server *server, const pmix_proc_t *proc, pmix_proc_t *ret);

/* Whether @proc means @client: as itself, as a member of an alias, or among others. */
bool sx_alias_means(const struct sx_server *server, const pmix_proc_t *proc,
                    const struct sx_client *client);

/* The processes that a list means. */
struct sx_alias_list {
    pmix_proc_t *all; /* in order and each once, or as they were given */
    size_t count;
    bool is_made; /* else there was no alias, and the caller owns them */
};

/* @payer, NULL for a host, pays for the work with its share.  Return: PMIX_SUCCESS, to be cleared;
 * PMIX_ERR_NOT_FOUND, as sx_alias_each; PMIX_ERR_OUT_OF_RESOURCE, logged when there are more than
 * SX_ALIAS_PROCS_MAX processes. */
pmix_status_t sx_alias_list(struct sx_server *server, struct sx_client *payer, pmix_proc_t *procs,
                            size_t count, struct sx_alias_list *ret);
/* The same, but a process that is not there (any more) stays in the list under its given name. */
pmix_status_t sx_alias_list_found(struct sx_server *server, struct sx_client *payer,
                                  pmix_proc_t *procs, size_t count, struct sx_alias_list *ret);
/* Safe on a zeroed one and twice. */
void sx_alias_list_clear(struct sx_alias_list *list);

#endif
