/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* quota.h - the share of each user, and each of its processes, in a table that a whole node shares.
 *
 *     take --a row is made--> counted --resize--> counted --give back--> not counted
 *
 * Each row of such a table has an owner: a process, and through it a user.  One rule holds on both
 * levels: an owner has at most SX_QUOTA_TIMES the room that it leaves.  A user leaves room to other
 * users, so one that is alone has nine tenths of the table; a process leaves room to the others of
 * its user.  An owner with little (SX_QUOTA_LITTLE_PART) may have a row as long as there is a free
 * one.  Rows that outlive their process have a smaller table inside of the table
 * (SX_QUOTA_LASTING_PART), with the same rule.
 *
 * Root leaves nothing to other users.  The host's rows are counted as rows, and have no bound but
 * the table's own.
 *
 * Memory: an account for each process and user that has a row.  Loop thread. */
#ifndef SX_SERVER_MODEL_QUOTA_H
#define SX_SERVER_MODEL_QUOTA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "base/table.h"

#define SX_QUOTA_TIMES 9u          /* an owner may have so many times what it leaves */
#define SX_QUOTA_LASTING_PART 2u   /* of a table, for what outlives its process */
#define SX_QUOTA_LITTLE_PART 1024u /* of a table: an owner with no more need not leave room */

/* Return: how much more an owner that has @has may have, so that it leaves enough of @free. */
static inline uint64_t sx_quota_more(uint64_t has, uint64_t free, uint64_t little)
{
    const uint64_t most = SX_QUOTA_TIMES * (has + free) / (SX_QUOTA_TIMES + 1);
    uint64_t more = most > has ? most - has : 0;

    if (has + more < little) {
        more = little - has;
    }
    return more < free ? more : free;
}

struct sx_client;

enum sx_quota_measure { SX_QUOTA_ROWS, SX_QUOTA_BYTES, SX_QUOTA_MEASURES };

struct sx_quota_counts {
    uint64_t all[SX_QUOTA_MEASURES];
    uint64_t lasting[SX_QUOTA_MEASURES]; /* among them */
};

/* Of a user (rank PMIX_RANK_INVALID), or of a process. */
struct sx_quota_account {
    struct sx_table_node node;     /* quota.accounts */
    struct sx_quota_account *user; /* a process's; NULL: it is one */
    uid_t uid;
    pmix_proc_t proc;
    struct sx_quota_counts has;
    bool logged; /* that it gets no more */
};

/* Of one table. */
struct sx_quota {
    const char *what; /* its rows, in the plural */
    uint64_t max[SX_QUOTA_MEASURES];
    uint64_t seed;
    struct sx_quota_counts has;
    struct sx_table accounts;
    bool logged; /* that there is room for no more */
};

/* The owner that a new row gets. */
struct sx_quota_owner {
    uid_t uid;
    pmix_proc_t proc;
};

/* A row's line in the books; zeroed it has none. */
struct sx_quota_row {
    struct sx_quota_account *process; /* NULL: the host's */
    uint64_t bytes;
    bool is_taken, is_lasting;
};

void sx_quota_init(struct sx_quota *quota, const char *what, uint64_t rows, uint64_t bytes,
                   uint64_t seed);
/* All rows have been given back, or are forgotten. */
void sx_quota_deinit(struct sx_quota *quota);

struct sx_quota_owner sx_quota_owner_of(const struct sx_client *client);

/* Count a row of @bytes for @owner, NULL: the host.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE, logged, when @owner may have no more or memory is out. */
pmix_status_t sx_quota_take(struct sx_quota *quota, const struct sx_quota_owner *owner,
                            bool is_lasting, uint64_t bytes, struct sx_quota_row *ret);
/* The row takes @bytes from now on.  Return: as sx_quota_take; after an error the row is
 * unchanged. */
pmix_status_t sx_quota_resize(struct sx_quota *quota, struct sx_quota_row *row, uint64_t bytes);
/* Safe twice. */
void sx_quota_give_back(struct sx_quota *quota, struct sx_quota_row *row);

/* The user of a row that is taken.  Return: false when it is the host's. */
bool sx_quota_uid(const struct sx_quota_row *row, uid_t *ret);

#endif
