/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* agree.h - how the members on several nodes reach one result: code that connect and groups share.
 *
 *     all here have called --host has the entry--> ASKED --all are here--> ended
 *             |                                      |  \--it refuses--> ended, with its status
 *             \------some are elsewhere, no entry--\ |
 *                                                   AGREEING, in rounds --> ended
 *
 * The host's entry is called once, with the infos of all callers here, and before the servers.  If
 * the host refuses, the operation fails.  The servers then agree among themselves in rounds
 * (rounds.h), through the host's fence.  They exchange the members, the name of the list, and their
 * data about the jobs.  The entry does not wait for rounds of the same processes, because another
 * node might be waiting for the entry. */
#ifndef SX_SERVER_COLLECTIVE_AGREE_H
#define SX_SERVER_COLLECTIVE_AGREE_H

#include "server/collective/agreement.h"
#include "server/collective/collective_kind.h"

/* The entry of the host that is called first. */
struct sx_agree_entry {
    enum sx_upcall_kind kind;
    bool is_asked;    /* false: the servers agree at once */
    const char *name; /* of the group */
    int operation;    /* on the group */
};

/* Return: whether the servers can reach each other. */
bool sx_agree_reaches(const struct sx_server *server);
/* Return: whether a process is on another node. */
bool sx_agree_is_elsewhere(const struct sx_collective *collective);

/* List the processes of @members that are here, without those whose job has gone meanwhile.
 * Return: the list, malloc'ed; NULL when memory is out. */
pmix_proc_t *sx_agree_members_here(const struct sx_members *members, size_t *ret_count);

/* Return: PMIX_SUCCESS when @told will be called; as sx_joint_upcall and sx_rounds_join. */
pmix_status_t sx_agree_ask(struct sx_collective *collective, const struct sx_agree_entry *entry,
                           sx_told_fn told);
/* @answer is from the entry, or from the rounds.  Return: true when the servers agree next.
 * Otherwise the operation ends with *ret_status, unless sx_agree_read finds an error. */
bool sx_agree_goes_on(struct sx_collective *collective, const struct sx_host_answer *answer,
                      pmix_status_t *ret_status);

/* Append the members here, the @name that this server proposes, its data about the jobs, and the
 * contribution @said of the kind (NULL: none). */
pmix_status_t sx_agree_contribute(const struct sx_collective *collective, const char *name,
                                  const struct sx_blob *said, struct sx_blob *blob);
/* Read the contributions of all servers.  @on_said gets the kind's contribution of each server,
 * with @collective; NULL: the kind has none.  Return: PMIX_SUCCESS, also when @answer is not the
 * rounds'; PMIX_ERR_WOULD_BLOCK when a namespace is missing that the host may register yet; as
 * sx_agreements_read and sx_connect_nodes_add, and then all effects are undone. */
pmix_status_t sx_agree_read(struct sx_collective *collective, const struct sx_host_answer *answer,
                            pmix_status_t (*on_said)(const struct sx_opened_part *said, void *arg));

#endif
