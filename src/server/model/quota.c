/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* quota.c - the books of a table: accounts by user and process, and the rule for one row more. */
#include "server/model/quota.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/value/value.h"
#include "server/model/nspace.h"

void sx_quota_init(struct sx_quota *quota, const char *what, uint64_t rows, uint64_t bytes,
                   uint64_t seed)
{
    *quota = (struct sx_quota){ .what = what, .max = { rows, bytes }, .seed = seed };
}

/* ---- accounts -------------------------------------------------------------------------------- */

static uint64_t account_hash(const struct sx_quota *quota, uid_t uid, const pmix_proc_t *proc)
{
    return XXH3_64bits_withSeed(proc->nspace, strlen(proc->nspace),
                                quota->seed ^ ((uint64_t)uid << 32 | proc->rank));
}

/* Return: NULL when memory is out. */
static struct sx_quota_account *account_obtain(struct sx_quota *quota, uid_t uid,
                                               const pmix_proc_t *proc)
{
    const uint64_t hash = account_hash(quota, uid, proc);
    struct sx_table_node *node = sx_table_first(&quota->accounts, hash);
    struct sx_quota_account *account;

    for (; node != NULL; node = sx_table_next(&quota->accounts, node)) {
        account = SX_CONTAINER(node, struct sx_quota_account, node);
        if (account->uid == uid && sx_proc_order(&account->proc, proc) == 0) {
            return account;
        }
    }
    account = calloc(1, sizeof(*account));
    if (account == NULL || !sx_table_add(&quota->accounts, &account->node, hash)) {
        free(account);
        return NULL;
    }
    account->uid = uid;
    account->proc = *proc;
    return account;
}

static void account_free_unless_used(struct sx_quota *quota, struct sx_quota_account *account)
{
    if (account != NULL && account->has.all[SX_QUOTA_ROWS] == 0) {
        sx_table_remove(&quota->accounts, &account->node);
        free(account);
    }
}

static struct sx_quota_account *process_obtain(struct sx_quota *quota,
                                               const struct sx_quota_owner *owner)
{
    const pmix_proc_t nobody = { .rank = PMIX_RANK_INVALID };
    struct sx_quota_account *const user = account_obtain(quota, owner->uid, &nobody);
    struct sx_quota_account *const process = user != NULL
                                                 ? account_obtain(quota, owner->uid, &owner->proc)
                                                 : NULL;

    if (process == NULL) {
        account_free_unless_used(quota, user);
    } else {
        process->user = user;
    }
    return process;
}

static void process_free_unless_used(struct sx_quota *quota, struct sx_quota_account *process)
{
    struct sx_quota_account *const user = process->user;

    account_free_unless_used(quota, process);
    account_free_unless_used(quota, user);
}

void sx_quota_deinit(struct sx_quota *quota)
{
    struct sx_table_node *node;
    size_t bucket = 0;

    while ((node = sx_table_any(&quota->accounts, &bucket)) != NULL) {
        sx_table_remove(&quota->accounts, node);
        free(SX_CONTAINER(node, struct sx_quota_account, node));
    }
    sx_table_deinit(&quota->accounts);
    *quota = (struct sx_quota){ .what = NULL };
}

struct sx_quota_owner sx_quota_owner_of(const struct sx_client *client)
{
    return (struct sx_quota_owner){ .uid = client->uid,
                                    .proc = sx_nspace_proc(client->nspace, client->rank) };
}

/* ---- the rule -------------------------------------------------------------------------------- */

/* One measure of one pot: the whole table, or its part for what lasts. */
struct pot {
    uint64_t max, used, user, process; /* there is, and all, the user and the process have of it */
    uint64_t little;
};

static struct pot pot_of(const struct sx_quota *quota, const struct sx_quota_account *process,
                         bool is_lasting, size_t measure)
{
    const struct sx_quota_counts *const user = &process->user->has;
    const uint64_t max = quota->max[measure];

    return is_lasting ? (struct pot){ .max = max / SX_QUOTA_LASTING_PART,
                                      .used = quota->has.lasting[measure],
                                      .user = user->lasting[measure],
                                      .process = process->has.lasting[measure],
                                      .little = max / SX_QUOTA_LITTLE_PART }
                      : (struct pot){ .max = max,
                                      .used = quota->has.all[measure],
                                      .user = user->all[measure],
                                      .process = process->has.all[measure],
                                      .little = max / SX_QUOTA_LITTLE_PART };
}

enum verdict { FITS, TABLE_IS_FULL, USER_HAS_MUCH, PROCESS_HAS_MUCH };

static enum verdict pot_judge(const struct pot *pot, bool is_root, uint64_t amount)
{
    const uint64_t free = pot->max > pot->used ? pot->max - pot->used : 0;
    const uint64_t of_user = is_root ? free : sx_quota_more(pot->user, free, pot->little);
    const uint64_t of_process = sx_quota_more(pot->process, of_user, pot->little);

    if (amount <= of_process || amount == 0) {
        return FITS;
    }
    return amount > free ? TABLE_IS_FULL : amount > of_user ? USER_HAS_MUCH : PROCESS_HAS_MUCH;
}

static enum verdict judge(const struct sx_quota *quota, const struct sx_quota_account *process,
                          bool is_lasting, const uint64_t amounts[SX_QUOTA_MEASURES])
{
    enum verdict verdict = FITS;

    for (size_t i = 0; i < 2 * SX_QUOTA_MEASURES && verdict == FITS; i++) {
        const bool lasts = i >= SX_QUOTA_MEASURES;
        const size_t measure = i % SX_QUOTA_MEASURES;

        if (is_lasting || !lasts) {
            const struct pot pot = pot_of(quota, process, lasts, measure);

            verdict = pot_judge(&pot, process->uid == 0, amounts[measure]);
        }
    }
    return verdict;
}

/* ---- log lines ------------------------------------------------------------------------------- */

/* @bytes: of the row that was refused. */
static void refusal_log(struct sx_quota *quota, struct sx_quota_account *process,
                        enum verdict verdict, uint64_t bytes)
{
    struct sx_quota_account *const account = verdict == USER_HAS_MUCH ? process->user : process;
    const struct sx_quota_counts *const has = verdict == TABLE_IS_FULL ? &quota->has
                                                                       : &account->has;
    bool *const logged = verdict == TABLE_IS_FULL ? &quota->logged : &account->logged;
    const enum sx_log_level level = *logged ? SX_LOG_INFO : SX_LOG_WARN;
    char who[PMIX_MAX_NSLEN + 32] = "all", lasting[80] = "";

    *logged = true;
    if (bytes > quota->max[SX_QUOTA_BYTES]) {
        sx_log(level,
               "%s: one of %" PRIu64 " bytes is larger than all may be together, %" PRIu64 " bytes",
               quota->what, bytes, quota->max[SX_QUOTA_BYTES]);
        return;
    }
    if (verdict == USER_HAS_MUCH) {
        snprintf(who, sizeof(who), "user %u", (unsigned)account->uid);
    } else if (verdict == PROCESS_HAS_MUCH) {
        snprintf(who, sizeof(who), "%s.%u", account->proc.nspace, account->proc.rank);
    }
    if (has->lasting[SX_QUOTA_ROWS] > 0) {
        snprintf(lasting, sizeof(lasting),
                 " (%" PRIu64 " outlive their processes, of at most %" PRIu64 ")",
                 has->lasting[SX_QUOTA_ROWS], quota->max[SX_QUOTA_ROWS] / SX_QUOTA_LASTING_PART);
    }
    sx_log(level,
           "%s: %s has %" PRIu64 " of %" PRIu64 ", with %" PRIu64 " of %" PRIu64
           " bytes%s, and gets no more; the rest is for others: let some of them go",
           quota->what, who, has->all[SX_QUOTA_ROWS], quota->max[SX_QUOTA_ROWS],
           has->all[SX_QUOTA_BYTES], quota->max[SX_QUOTA_BYTES], lasting);
}

static void table_is_full_log(struct sx_quota *quota)
{
    const enum sx_log_level level = quota->logged ? SX_LOG_INFO : SX_LOG_WARN;

    quota->logged = true;
    sx_log(level, "%s: there are %" PRIu64 ", and there is room for no more: let some of them go",
           quota->what, quota->has.all[SX_QUOTA_ROWS]);
}

/* ---- the books ------------------------------------------------------------------------------- */

static void counts_add(struct sx_quota_counts *counts, bool is_lasting, int64_t rows, int64_t bytes)
{
    counts->all[SX_QUOTA_ROWS] += (uint64_t)rows;
    counts->all[SX_QUOTA_BYTES] += (uint64_t)bytes;
    if (is_lasting) {
        counts->lasting[SX_QUOTA_ROWS] += (uint64_t)rows;
        counts->lasting[SX_QUOTA_BYTES] += (uint64_t)bytes;
    }
}

/* The host's bytes are its own memory, which the host bounds itself. */
static void book(struct sx_quota *quota, const struct sx_quota_row *row, int64_t rows,
                 int64_t bytes)
{
    counts_add(&quota->has, row->is_lasting, rows, row->process != NULL ? bytes : 0);
    if (row->process != NULL) {
        counts_add(&row->process->has, row->is_lasting, rows, bytes);
        counts_add(&row->process->user->has, row->is_lasting, rows, bytes);
    }
}

static pmix_status_t host_take(struct sx_quota *quota, uint64_t bytes, struct sx_quota_row *ret)
{
    if (quota->has.all[SX_QUOTA_ROWS] >= quota->max[SX_QUOTA_ROWS]) {
        table_is_full_log(quota);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret = (struct sx_quota_row){ .bytes = bytes, .is_taken = true };
    book(quota, ret, 1, (int64_t)bytes);
    return PMIX_SUCCESS;
}

pmix_status_t sx_quota_take(struct sx_quota *quota, const struct sx_quota_owner *owner,
                            bool is_lasting, uint64_t bytes, struct sx_quota_row *ret)
{
    if (owner == NULL) {
        return host_take(quota, bytes, ret);
    }
    struct sx_quota_account *const process = process_obtain(quota, owner);

    if (process == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const enum verdict verdict = judge(quota, process, is_lasting,
                                       (const uint64_t[SX_QUOTA_MEASURES]){ 1, bytes });

    if (verdict != FITS) {
        refusal_log(quota, process, verdict, bytes);
        process_free_unless_used(quota, process);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret = (struct sx_quota_row){
        .process = process, .bytes = bytes, .is_taken = true, .is_lasting = is_lasting
    };
    book(quota, ret, 1, (int64_t)bytes);
    return PMIX_SUCCESS;
}

pmix_status_t sx_quota_resize(struct sx_quota *quota, struct sx_quota_row *row, uint64_t bytes)
{
    if (row->process != NULL && bytes > row->bytes) {
        const enum verdict verdict = judge(quota, row->process, row->is_lasting,
                                           (const uint64_t[SX_QUOTA_MEASURES]){
                                               0, bytes - row->bytes });

        if (verdict != FITS) {
            refusal_log(quota, row->process, verdict, bytes);
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    book(quota, row, 0, (int64_t)(bytes - row->bytes));
    row->bytes = bytes;
    return PMIX_SUCCESS;
}

void sx_quota_give_back(struct sx_quota *quota, struct sx_quota_row *row)
{
    struct sx_quota_account *const process = row->process;

    if (row->is_taken) {
        book(quota, row, -1, -(int64_t)row->bytes);
    }
    if (process != NULL) {
        process_free_unless_used(quota, process);
    }
    *row = (struct sx_quota_row){ .process = NULL };
}

bool sx_quota_uid(const struct sx_quota_row *row, uid_t *ret)
{
    if (row->process == NULL) {
        return false;
    }
    *ret = row->process->uid;
    return true;
}
