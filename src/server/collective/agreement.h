/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* agreement.h - how the members on several nodes reach one result; for connects and groups.
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
#ifndef SX_SERVER_COLLECTIVE_AGREEMENT_H
#define SX_SERVER_COLLECTIVE_AGREEMENT_H

#include "base/message/signature.h"
#include "server/model/blob.h"
#include "server/port/port.h"

struct sx_collective;
struct sx_members;

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

/* Return: PMIX_SUCCESS when @answered will be called; as sx_joint_upcall and sx_rounds_join. */
pmix_status_t sx_agree_ask(struct sx_collective *collective, const struct sx_agree_entry *entry,
                           sx_answered_fn answered);
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

/* ---- as bytes -------------------------------------------------------------------------------- */

/* The contribution of a server to a connect, or a group, over several nodes, as bytes.
 *
 *   agreement: struct sx_agreement, its members here, a name, namespaces, what else its kind says
 *   namespace: struct sx_agreement_nspace, its name, what the host has said of the job
 *
 * All servers read the same agreements, in any order.  The members are those of all agreements.
 * The name is that of the server which has the first of the members, in the order of
 * sx_proc_order. */

#define SX_AGREEMENT_HEAP_MAX (UINT64_C(64) << 20) /* of one namespace, once unpacked */

struct sx_agreement {
    uint32_t member_count, name_len;
    uint64_t nspaces_size;
    uint32_t said_size;
    uint32_t is_partial; /* some of the processes that were named may be missing */
};
static_assert(sizeof(struct sx_agreement) == 24, "fixed by blob version 1");
enum { SX_AGREEMENT_MEMBERS, SX_AGREEMENT_NAME, SX_AGREEMENT_NSPACES, SX_AGREEMENT_SAID };
extern const struct sx_signature sx_agreement_body;

struct sx_agreement_nspace {
    uint32_t name_len, job_size;
    uint64_t info_size;
};
static_assert(sizeof(struct sx_agreement_nspace) == 16, "fixed by blob version 1");
enum { SX_AGREEMENT_NSPACE_NAME, SX_AGREEMENT_NSPACE_INFOS };
extern const struct sx_signature sx_agreement_nspace_body;

/* Append the body of @draft.  Return: PMIX_SUCCESS; as sx_body_measure and sx_body_write. */
pmix_status_t sx_agreement_add(struct sx_blob *blob, struct sx_draft *draft);

/* The agreements of all servers, merged. */
struct sx_agreed {
    struct sx_alias_list members;  /* in order, each once; none: not agreed */
    char name[PMIX_MAX_NSLEN + 1]; /* "": no server has proposed one */
    bool is_partial;               /* a server has set it */
};
void sx_agreed_clear(struct sx_agreed *agreed);

/* Functions for the other contents: one gets each namespace, opened, and one gets the kind's
 * contribution of each server.  Return: PMIX_SUCCESS; another status ends the reading. */
struct sx_agreement_reader {
    pmix_status_t (*nspace)(const struct sx_opened *nspace, void *arg);
    pmix_status_t (*said)(const struct sx_opened_part *said, void *arg);
    void *arg;
};
/* Read agreements that are concatenated (at a multiple of 8).  Return: PMIX_SUCCESS;
 * PMIX_ERR_UNPACK_FAILURE for bytes that are not agreements; PMIX_ERR_OUT_OF_RESOURCE; the status
 * of @reader. */
pmix_status_t sx_agreements_read(const char *bytes, size_t size,
                                 const struct sx_agreement_reader *reader, struct sx_agreed *ret);

#endif
