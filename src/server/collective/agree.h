/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* agree.h - how the members on several nodes come to one result: what connect and groups share.
 *
 *     all here have called --host has the entry--> ASKED --all are here--> ended
 *             |                                      |  \--it refuses--> ended, with its status
 *             \------some are elsewhere, no entry--\ |
 *                                                   AGREEING, in rounds --> ended
 *
 * The host's entry is asked once, with the infos of all callers here.  It has the first word: what
 * it refuses is refused.  The servers then agree among themselves in rounds (rounds.h), through its
 * fence: who takes part, under which name, and what is known of the jobs.  The entry is not held up
 * by the rounds of the same processes: it might be what another node waits for. */
#ifndef SX_SERVER_COLLECTIVE_AGREE_H
#define SX_SERVER_COLLECTIVE_AGREE_H

#include "server/collective/agreement.h"
#include "server/collective/collective_kind.h"

/* The entry of the host that is asked first. */
struct sx_agree_entry {
    enum sx_upcall_kind kind;
    bool is_asked;    /* else the servers agree at once */
    const char *name; /* of a group */
    int operation;    /* on it */
};

/* Whether the servers reach each other. */
bool sx_agree_reaches(const struct sx_server *server);
/* Whether somebody is on another node. */
bool sx_agree_is_elsewhere(const struct sx_collective *collective);

/* The processes of @members that are here, malloc'ed, without those whose job has gone meanwhile.
 * Return: NULL when memory is out. */
pmix_proc_t *sx_agree_members_here(const struct sx_members *members, size_t *ret_count);

/* Return: PMIX_SUCCESS when @told will be called; as sx_joint_upcall and sx_rounds_join. */
pmix_status_t sx_agree_ask(struct sx_collective *collective, const struct sx_agree_entry *entry,
                           sx_told_fn told);
/* @answer is the entry's, or the rounds'.  Return: true when the servers have the next word; else
 * *ret_status is how it ends, unless sx_agree_read has more to say. */
bool sx_agree_goes_on(struct sx_collective *collective, const struct sx_host_answer *answer,
                      pmix_status_t *ret_status);

/* Append who takes part here, the @name that this server proposes, what it knows of the jobs, and
 * what is @said besides (NULL: nothing). */
pmix_status_t sx_agree_contribute(const struct sx_collective *collective, const char *name,
                                  const struct sx_blob *said, struct sx_blob *blob);
/* Take in what all have contributed; @on_said gets what each has said besides, with @collective.
 * NULL: they say nothing.  Return: PMIX_SUCCESS, also when @answer is no such answer;
 * PMIX_ERR_WOULD_BLOCK when a namespace is missing that the host may register yet; as
 * sx_agreements_read and sx_connect_nodes_add, and then nothing of it is left. */
pmix_status_t sx_agree_read(struct sx_collective *collective, const struct sx_host_answer *answer,
                            pmix_status_t (*on_said)(const struct sx_opened_part *said, void *arg));

#endif
