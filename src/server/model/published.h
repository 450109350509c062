/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published.h - the values that processes of this node have published, and access to them.
 *
 *     added --first read, taken back, publisher, job or session gone--> removed
 *
 * A row is one value.  It is found by its key.  A publisher is refused a second row with one key
 * and range: no process could choose between the two.  A lookup sees a row when the row's range
 * holds the asking process, the lookup's range holds the publisher, and the publisher has given
 * access to its user or group.  Of several rows a lookup sees the oldest.  Rows to which a user has
 * no access do not exist for its processes: no status reveals them.  A process of another user is
 * another publisher, under any name.
 *
 * Cost: each function counts in `walked` the rows that it visits, and the comparisons in their
 * lists, which are sorted; a user has at most SX_PUBLISHED_KEY_ROWS_MAX rows under one key.
 *
 * Memory: all rows together, and those of one publisher, are bounded; of the whole each user and
 * process has a share (quota.h), of what may outlive its job a smaller one.  Loop thread. */
#ifndef SX_SERVER_MODEL_PUBLISHED_H
#define SX_SERVER_MODEL_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "base/call/publish.h"
#include "base/list.h"
#include "base/table.h"
#include "server/model/quota.h"
#include "shmem/published.h"

struct sx_numa;
struct sx_published_row;

#define SX_PUBLISHED_ROWS_MAX 65536u
#define SX_PUBLISHED_BYTES_MAX (UINT64_C(64) << 20)
#define SX_PUBLISHER_ROWS_MAX 8192u
#define SX_PUBLISHER_BYTES_MAX (UINT64_C(16) << 20)
#define SX_PUBLISHED_KEY_ROWS_MAX 4096u /* of one user under one key */

#define SX_PARTY_APP_UNKNOWN UINT32_MAX

/* A process that publishes or looks up, as the server has it. */
struct sx_party {
    struct sx_publish_who who;
    uid_t uid;
    gid_t gid;
    bool is_tool; /* its application ends with it */
    bool is_host; /* it is the server's own host */
    uint32_t app; /* PMIX_APPNUM; SX_PARTY_APP_UNKNOWN: its job's only one, or not known */
};

/* Zeroed and initialised it is empty. */
struct sx_published {
    uint64_t seed;
    struct sx_table keys;    /* struct sx_published_row by key ... */
    struct sx_table serials; /* ... and by serial */
    uint64_t last_serial;
    uint64_t walked;           /* rows and elements of their lists, ever */
    struct sx_table names;     /* struct sx_publisher by its process ... */
    struct sx_list publishers; /* ... and all of them */
    struct sx_list ending;     /* those with rows that are over, and not removed yet */
    uint64_t bytes;
    struct sx_quota quota;
    /* Of published_store.c: the users whose processes may read for themselves, and the function
     * called after a row was added, changed or removed; NULL: none. */
    struct sx_list users;
    size_t user_count;
    void (*changed)(struct sx_published *all, const struct sx_published_row *row);
};

struct sx_publisher {
    struct sx_table_node node; /* names */
    struct sx_list link;       /* publishers */
    struct sx_list rows;       /* the oldest first; it goes with its last row */
    struct sx_party party;
    struct sx_list ending; /* published.ending */
    /* Its rows of each persistence up to this serial are over: no process sees them any more. */
    uint64_t over[PMIX_PERSIST_SESSION + 1];
    size_t row_count;
    uint64_t bytes;
    bool logged; /* the same of its own room */
};

/* The directives of a call, for all of its rows; counted by them, and in the books once. */
struct sx_published_terms {
    size_t reference_count;
    struct sx_publisher *publisher;
    struct sx_quota_row quota;
    uint64_t bytes;
    pmix_info_t *info;
    size_t ninfo;
    struct sx_some_procs targets;         /* these three point into them */
    const pmix_data_array_t *uids, *gids; /* of others with access, besides the user */
};

struct sx_published_row {
    struct sx_table_node node; /* keys */
    struct sx_table_node by_serial;
    struct sx_list link; /* publisher.rows */
    struct sx_publisher *publisher;
    uint64_t serial; /* a younger one has a higher */
    struct sx_quota_row quota;
    pmix_data_range_t range;
    pmix_persistence_t persistence;
    struct sx_published_terms *terms; /* NULL: its numbers are complete */
    uint64_t bytes;
    unsigned reader_count; /* answers that are written with its value, which stays for them */
    bool is_gone;          /* ... alone */
    bool is_read;          /* for the first time: no other process finds it any more */
    pmix_info_t info;      /* key and value */
};

/* Whether other users have access. */
static inline bool sx_published_is_open(const struct sx_published_row *row)
{
    return row->terms != NULL && (row->terms->uids != NULL || row->terms->gids != NULL);
}

/* ---- which process may look a row up: published_access.c ------------------------------------- */

/* Whether @asker sees @row with a lookup of @options, whose targets are sorted. */
bool sx_published_sees(struct sx_published *all, const struct sx_published_row *row,
                       const struct sx_party *asker, const struct sx_lookup_options *options);
/* Whether the user of @asker, or its group, has access to @row. */
bool sx_published_has_access(const struct sx_published_row *row, const struct sx_party *asker);
/* Whether @range of @party, with these targets, which are sorted, holds @other. */
bool sx_published_range_holds(struct sx_published *all, pmix_data_range_t range,
                              const struct sx_some_procs *targets, const struct sx_party *party,
                              const struct sx_party *other);
/* The targets of the row's range; none without terms. */
const struct sx_some_procs *sx_published_targets(const struct sx_published_row *row);

/* Put @targets, which are the caller's own, in the order in which a row or a lookup has them. */
void sx_published_targets_sort(const struct sx_some_procs *targets);
/* The same for user or group ids; NULL: none. */
void sx_published_ids_sort(const pmix_data_array_t *ids);

/* ---- the table ------------------------------------------------------------------------------- */

void sx_published_init(struct sx_published *all, uint64_t seed);
void sx_published_deinit(struct sx_published *all);

/* Publish the data among @info for @by, whose targets are sorted; each is a row, and the last one
 * has `last_serial`.  All of it, or nothing; the values move.  Return: PMIX_SUCCESS;
 * PMIX_ERR_DUPLICATE_KEY; PMIX_ERR_OUT_OF_RESOURCE, logged when a bound is reached. */
pmix_status_t sx_published_add(struct sx_published *all, const struct sx_party *by,
                               const struct sx_publish_options *options, pmix_info_t info[],
                               size_t ninfo);

/* Return: the row that @asker sees under @key, or NULL; the targets of @options are sorted. */
struct sx_published_row *sx_published_find(struct sx_published *all, const char *key,
                                           const struct sx_party *asker,
                                           const struct sx_lookup_options *options);
/* Return: NULL when the row has been removed. */
struct sx_published_row *sx_published_of(const struct sx_published *all, uint64_t serial);
/* The row behind @row that has @key, the first for NULL, in no order.  Return: NULL at the end. */
struct sx_published_row *sx_published_next(struct sx_published *all, const char *key,
                                           const struct sx_published_row *row);
void sx_published_remove(struct sx_published *all, struct sx_published_row *row);
/* Its key and value stay where they are until as many releases, even if the row is removed. */
void sx_published_retain(struct sx_published_row *row);
void sx_published_release(struct sx_published_row *row);

/* Take back what @by has published under @key in @range.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND;
 * PMIX_ERR_NO_PERMISSIONS when another process owns the row, and @by sees it.  Of many rows of its
 * own user, and of many that other users have opened, only some are checked for that. */
pmix_status_t sx_published_withdraw(struct sx_published *all, const struct sx_party *by,
                                    const char *key, pmix_data_range_t range);
/* The same of all, in all ranges when @range is PMIX_RANGE_UNDEF, until @walk_max rows have been
 * walked.  Return: whether no such row is left. */
bool sx_published_withdraw_all(struct sx_published *all, const struct sx_party *by,
                               pmix_data_range_t range, uint64_t walk_max);

/* A process of user @uid has gone; all of an application of a job have; a job has, and
 * (@session_ended) its session with it.  The rows that end with it are found no more.
 * sx_published_over_step removes them. */
void sx_published_proc_gone(struct sx_published *all, const pmix_proc_t *proc, uid_t uid);
void sx_published_app_gone(struct sx_published *all, const char *nspace, uint32_t app);
void sx_published_nspace_gone(struct sx_published *all, const char *nspace, uint64_t session,
                              bool session_ended);
/* Remove rows that are over, one at least, until @walk_max rows have been walked.  Return: whether
 * none is left. */
bool sx_published_over_step(struct sx_published *all, uint64_t walk_max);

/* ---- the values that a user's processes read for themselves ---------------------------------- */

/* Published values that processes of a user may read for themselves.
 *
 *     (none) --a process of the user asks for it--> a store, kept up to date until the server ends
 *
 * A store has the values that processes of its user have published for processes of that user
 * (shmem/published.h).  The store has a key only with all values that its readers may see under
 * that key.  Some values keep their key out: a value that others may not see, that is read once, or
 * to which another user gives access.  For such a key the server has to be asked.
 *
 * Memory: at most what is published once more, and as much garbage, for each of at most
 * SX_PUBLISHED_USERS_MAX users.  Loop thread. */

#define SX_PUBLISHED_USERS_MAX 32u

/* The store of @uid, made when it is first wanted, for a process of @nspace of that user to map.
 * Return: PMIX_SUCCESS, and *ret_fd is the caller's; PMIX_ERR_OUT_OF_RESOURCE; as sx_store_create
 * and sx_segment_share. */
pmix_status_t sx_published_share(struct sx_published *all, const struct sx_numa *numa, uid_t uid,
                                 const struct sx_publish_who *asker, int *ret_fd);

/* @nspace belongs to @session now; there is no such namespace any more. */
void sx_published_session_notified(struct sx_published *all, const char *nspace, uint64_t session);
void sx_published_session_over(struct sx_published *all, const char *nspace);

/* All readers have gone.  Called before sx_published_deinit. */
void sx_published_shown_deinit(struct sx_published *all);

#endif
