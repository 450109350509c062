/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.h - named lists of processes: connected namespaces, groups, process sets.
 *
 *   +------+------------+---------------+---------------+---------------------+
 *   | head | namespaces | members       | index         | names, each         |
 *   |      | by name    | in their rank | of members by | with its NUL        |
 *   |      |            | there         | namespace,rank|                     |
 *   +------+------------+---------------+---------------+---------------------+
 *
 * They lie in the node's store, which every client of the node may map, each as one record that
 * never changes.  A list that changes is a new record, a generation, reached through one release
 * store.  A member's rank in the list is its place, and stays: a member that leaves leaves a gap.
 *
 * The record lies under the list's name, in the realm of its kind: a set and a group may have the
 * same name.  A subject leads to the record too.  It has the row in which the name is found, and a
 * serial that is never used again, by which an old subject is recognised. */
#ifndef SX_SHMEM_MEMBERSHIP_H
#define SX_SHMEM_MEMBERSHIP_H

#include <pmix_common.h>

#include "shmem/store.h"

#define SX_MEMBERSHIP_NAME_MAX PMIX_MAX_KEYLEN /* of a set; sx_membership_name_max */
#define SX_MEMBERSHIP_ROWS "shmix.memberships" /* the column of names; no list is called that */
#define SX_MEMBERSHIP_ROW_BITS 24u             /* of a subject, the lowest; above them the serial */
#define SX_MEMBERSHIP_MEMBERS_MAX (1u << 24)
#define SX_MEMBERSHIP_GAP UINT32_MAX /* in place of a namespace: there is no member */

enum sx_membership_kind {
    SX_MEMBERSHIP_CONNECTED = 1, /* a namespace made by PMIx_Connect */
    SX_MEMBERSHIP_GROUP = 2,
    SX_MEMBERSHIP_PSET = 3,
    SX_MEMBERSHIP_KINDS /* one more than the last */
};

#define SX_MEMBERSHIP_EARLY_TERM 0x1u /* a member may end without leaving it */
#define SX_MEMBERSHIP_CONTEXT 0x2u    /* it has a context id */
#define SX_MEMBERSHIP_NOTIFY 0x4u     /* the others receive the end of a member */
#define SX_MEMBERSHIP_GOES_ON 0x8u    /* its members' operations continue without an ended one */

struct sx_membership_head {
    uint64_t subject;
    uint32_t kind;  /* enum sx_membership_kind */
    uint32_t flags; /* SX_MEMBERSHIP_* */
    uint64_t generation;
    uint64_t context_id;
    uint64_t since_ns; /* when it was made, CLOCK_MONOTONIC */
    uint32_t name_off; /* of this record, as all offsets here */
    uint32_t name_len;
    uint32_t nspace_count;
    uint32_t member_count; /* places, gaps included */
    uint32_t index_count;  /* members, without the gaps */
    uint8_t reserved[4];   /* zero */
};
struct sx_membership_nspace {
    uint32_t name_off;
    uint32_t name_len;
    uint32_t index_first; /* its members in the index, ascending by their rank in it */
    uint32_t index_count;
};
struct sx_membership_place {
    uint32_t nspace; /* SX_MEMBERSHIP_GAP: no process, and the rank is PMIX_RANK_INVALID */
    uint32_t rank;
};
static_assert(sizeof(struct sx_membership_head) == 64, "fixed by layout 2");
static_assert(sizeof(struct sx_membership_nspace) == 16, "fixed by layout 2");
static_assert(sizeof(struct sx_membership_place) == 8, "fixed by layout 2");

/* A record under inspection; its bytes are borrowed and stay as long as they are mapped. */
struct sx_membership {
    struct sx_membership_head head; /* a copy, judged */
    const uint8_t *bytes;
    size_t size_bytes;
};

/* ---- readers: no lock, no allocation, any thread ------------------------------------------- */

/* Judge @size_bytes at @bytes.  Each later read bounds the offset that it follows.  Return:
 * PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_membership_open(const void *bytes, size_t size_bytes, struct sx_membership *ret);

/* How long names of @kind may be: names of other lists than sets stand where a namespace's does. */
static inline uint32_t sx_membership_name_max(uint32_t kind)
{
    return kind == SX_MEMBERSHIP_PSET ? SX_MEMBERSHIP_NAME_MAX : PMIX_MAX_NSLEN;
}

/* In which realm lists of @kind are: sets in SX_REALM_SETS, the others in SX_REALM_MEMBERS. */
static inline enum sx_realm sx_membership_realm(uint32_t kind)
{
    return kind == SX_MEMBERSHIP_PSET ? SX_REALM_SETS : SX_REALM_MEMBERS;
}

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND; PMIX_ERR_UNPACK_FAILURE when the store contradicts
 * itself. */
pmix_status_t sx_membership_find(const struct sx_store *store, enum sx_realm realm,
                                 const char *name, size_t name_len, struct sx_membership *ret);
/* The same, for lists that are not sets; PMIX_ERR_NOT_FOUND for a removed one, even if another list
 * has its row or name now. */
pmix_status_t sx_membership_of(const struct sx_store *store, uint64_t subject,
                               struct sx_membership *ret);

/* The first one of @realm from row *row on, which moves behind its row.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND at the end; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_membership_next(const struct sx_store *store, enum sx_realm realm, uint32_t *row,
                                 struct sx_membership *ret);

const char *sx_membership_name(const struct sx_membership *membership);

/* How many ranks it has, those of members that have left included. */
static inline uint32_t sx_membership_size(const struct sx_membership *membership)
{
    return membership->head.member_count;
}

/* The member of rank @rank in it.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is none or
 * it has left; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_membership_member(const struct sx_membership *membership, uint32_t rank,
                                   pmix_proc_t *ret);

/* The same, without a copy of the namespace's name. */
pmix_status_t sx_membership_named(const struct sx_membership *membership, uint32_t rank,
                                  const char **ret_nspace, uint32_t *ret_rank);

/* Return: the rank in it of a process, PMIX_RANK_INVALID when the process is not a member. */
uint32_t sx_membership_rank(const struct sx_membership *membership, const char *nspace,
                            uint32_t rank);

/* How many of its members are processes of @nspace. */
uint32_t sx_membership_count_of(const struct sx_membership *membership, const char *nspace);

/* Its members by namespace and rank: those of one namespace are @count from @first on. */
struct sx_membership_part {
    const char *nspace;
    uint32_t first, count;
};
/* The part at @index, by the namespaces' names.  Return: false when there is none. */
bool sx_membership_part(const struct sx_membership *membership, uint32_t index,
                        struct sx_membership_part *ret);
/* Return: the rank in its namespace of the member at @index in that order; PMIX_RANK_INVALID: there
 * is none. */
uint32_t sx_membership_sorted_rank(const struct sx_membership *membership, uint32_t index);

/* ---- the writer ----------------------------------------------------------------------------- */

/* Make the record of @name and these @procs, in the order of their ranks; a gap is a process of
 * rank PMIX_RANK_INVALID.  Of @template the fields above name_off count.  Return: PMIX_SUCCESS, and
 * *ret_bytes is malloc'ed; PMIX_ERR_BAD_PARAM for an invalid name or process, or a process that is
 * there twice; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_membership_encode(const struct sx_membership_head *template, const char *name,
                                   const pmix_proc_t *procs, size_t proc_count, void **ret_bytes,
                                   size_t *ret_size);

/* The same of members that are in order by namespace and rank, each once, without gaps: their ranks
 * in the list are in that order, and @ranks are those in the namespaces of @parts.  The time is
 * that of a few bytes for each. */
pmix_status_t sx_membership_encode_sorted(const struct sx_membership_head *template,
                                          const char *name, const struct sx_membership_part parts[],
                                          size_t part_count, const uint32_t ranks[],
                                          void **ret_bytes, size_t *ret_size);

/* Take the member of rank @rank, which is there, out of the record that was made of these bytes. */
void sx_membership_strike(void *bytes, uint32_t rank);

/* Publish a record under its name, in place of the one before.  Return: as sx_store_put_flat. */
pmix_status_t sx_membership_publish(struct sx_store_writer *writer, const void *bytes, size_t size);
/* Let the subject of a record that was published lead to it. */
pmix_status_t sx_membership_enter(struct sx_store_writer *writer, enum sx_realm realm,
                                  uint64_t subject, const char *name);
/* Remove the record of a list, under its name and by its subject. */
void sx_membership_withdraw(struct sx_store_writer *writer, enum sx_realm realm, uint64_t subject,
                            const char *name);

static inline uint32_t sx_membership_row(uint64_t subject)
{
    return (uint32_t)(subject & ((UINT64_C(1) << SX_MEMBERSHIP_ROW_BITS) - 1));
}

/* ---- all groups, or all process sets: membership_query.c -------------------------------------
 *
 * Their number, their names, and the members of one. */

/* The answer to the query of @key:
 *
 *     PMIX_QUERY_NUM_PSETS, _NUM_GROUPS               PMIX_SIZE
 *     PMIX_QUERY_PSET_NAMES                           PMIX_STRING, with commas
 *     PMIX_QUERY_GROUP_NAMES                          an array of PMIX_STRING
 *     PMIX_QUERY_PSET_MEMBERSHIP, _GROUP_MEMBERSHIP   an array of PMIX_PROC, in their ranks' order:
 *                                                     the members of the list @name
 *
 * Names come in an order that does not change while their lists are there.  @store NULL: there are
 * no lists.  Reads without a lock.  *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for another key, and when no list has the name; PMIX_ERR_OUT_OF_RESOURCE;
 * PMIX_ERR_UNPACK_FAILURE when the store contradicts itself. */
pmix_status_t sx_lists_find(const struct sx_store *store, const char *key, const char *name,
                            pmix_value_t *ret);

/* ---- the lists that contain a process: membership_query.c ------------------------------------
 *
 * They are found on request. */

/* The value of @key for the process @rank of @nspace, the oldest list first:
 *
 *     SHMIX_CONNECTED    the namespaces that connect has made, and its rank in each
 *     PMIX_GROUP_NAMES   the names of its groups
 *     PMIX_PSET_NAMES    the names of its process sets
 *
 * Reads each list of that kind, without a lock.  *ret (uninitialised) owns its content.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for another key, or when the process is in none;
 * PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_UNPACK_FAILURE when the store contradicts itself. */
pmix_status_t sx_places_find(const struct sx_store *store, const char *key, const char *nspace,
                             uint32_t rank, pmix_value_t *ret);

/* Whether the process @rank of @nspace is in a connected namespace or a group together with a
 * process of @other.  Reads each of them, without a lock. */
bool sx_places_join(const struct sx_store *store, const char *nspace, uint32_t rank,
                    const char *other);

#endif
