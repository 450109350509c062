/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_share.c - accounts by asker and process; one is there as long as it has bytes. */
#include "launch/ask/spawn_request.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/flat.h"
#include "launch/common/say.h"
#include "server/model/quota.h"

/* Of an asker (its asker is NULL), or of a process. */
struct sx_spawn_account {
    struct sx_spawn_account *next, *asker;
    char *name;
    pmix_rank_t rank;
    size_t bytes;
    uint32_t shares; /* and accounts of processes: who refers to this one */
};

static struct {
    pthread_mutex_t lock;
    struct sx_spawn_account *accounts; /* of those who have spawns */
    size_t bytes;
} books = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

static struct sx_spawn_account *obtain(struct sx_spawn_account *asker, const char *name,
                                       pmix_rank_t rank)
{
    struct sx_spawn_account *account = books.accounts;

    while (account != NULL &&
           (account->asker != asker || account->rank != rank || strcmp(account->name, name) != 0)) {
        account = account->next;
    }
    if (account == NULL) {
        account = sx_cli_calloc(1, sizeof(*account));
        *account = (struct sx_spawn_account){
            .next = books.accounts, .asker = asker, .name = sx_cli_strdup(name), .rank = rank
        };
        books.accounts = account;
        if (asker != NULL) {
            asker->shares++;
        }
    }
    return account;
}

static void free_unless_used(struct sx_spawn_account *account)
{
    while (account != NULL && account->shares == 0) {
        struct sx_spawn_account *const asker = account->asker, **at = &books.accounts;

        while (*at != account) {
            at = &(*at)->next;
        }
        *at = account->next;
        free(account->name);
        free(account);
        if (asker != NULL) {
            asker->shares--;
        }
        account = asker;
    }
}

static void book(struct sx_spawn_account *process, size_t bytes, bool more)
{
    size_t *const counts[] = { &books.bytes, &process->bytes, &process->asker->bytes };

    for (size_t i = 0; i < SX_COUNT(counts); i++) {
        *counts[i] = more ? *counts[i] + bytes : *counts[i] - bytes;
    }
}

bool sx_spawn_share_take(const char *asker, const pmix_proc_t *proc, size_t bytes,
                         struct sx_spawn_share *ret)
{
    const uint64_t little = SX_SPAWNS_BYTES_MAX / SX_QUOTA_LITTLE_PART;

    pthread_mutex_lock(&books.lock);
    struct sx_spawn_account *const of = obtain(NULL, asker, PMIX_RANK_INVALID);
    struct sx_spawn_account *const process = obtain(of, proc->nspace, proc->rank);
    const uint64_t room = sx_quota_more(of->bytes, SX_SPAWNS_BYTES_MAX - books.bytes, little);
    const bool fits = bytes <= sx_quota_more(process->bytes, room, little);

    if (fits) {
        *ret = (struct sx_spawn_share){ .process = process, .bytes = bytes };
        process->shares++;
        book(process, bytes, true);
    } else {
        free_unless_used(process);
    }
    pthread_mutex_unlock(&books.lock);
    return fits;
}

void sx_spawn_share_part(struct sx_spawn_share *share, size_t bytes, struct sx_spawn_share *ret)
{
    *ret = (struct sx_spawn_share){ .process = share->process };
    if (share->process != NULL) {
        ret->bytes = bytes < share->bytes ? bytes : share->bytes;
        share->bytes -= ret->bytes;
        pthread_mutex_lock(&books.lock);
        share->process->shares++;
        pthread_mutex_unlock(&books.lock);
    }
}

void sx_spawn_share_give_back(struct sx_spawn_share *share)
{
    struct sx_spawn_account *const process = share->process;

    if (process != NULL) {
        pthread_mutex_lock(&books.lock);
        book(process, share->bytes, false);
        process->shares--;
        free_unless_used(process);
        pthread_mutex_unlock(&books.lock);
    }
    *share = (struct sx_spawn_share){ .process = NULL };
}

/* ---- requests -------------------------------------------------------------------------------- */

#define WORD_BYTES 32u /* of a word's pointer and block */

/* The memory of the words @argv; NULL: none. */
static size_t words_bytes(char *const *argv)
{
    size_t bytes = 0;

    for (; argv != NULL && *argv != NULL; argv++) {
        bytes += strlen(*argv) + WORD_BYTES;
    }
    return bytes;
}

/* The memory of infos.  Their flat size stands for that of their values. */
static size_t infos_bytes(const pmix_info_t *info, size_t ninfo)
{
    size_t bytes = 0;

    return info == NULL || ninfo == 0 || sx_flat_infos_size(info, ninfo, &bytes) != PMIX_SUCCESS
               ? ninfo * sizeof(*info)
               : ninfo * sizeof(*info) + bytes;
}

size_t sx_spawn_bytes(const pmix_info_t *info, size_t ninfo, const pmix_app_t *apps, size_t napps)
{
    size_t bytes = sizeof(struct sx_run_request) + infos_bytes(info, ninfo);

    for (size_t i = 0; i < napps; i++) {
        bytes += sizeof(apps[i]) + sizeof(struct sx_launch_options) + sizeof(struct sx_run_app) +
                 (apps[i].cmd == NULL ? 0 : strlen(apps[i].cmd)) +
                 (apps[i].cwd == NULL ? 0 : strlen(apps[i].cwd)) + words_bytes(apps[i].argv) +
                 words_bytes(apps[i].env) + infos_bytes(apps[i].info, apps[i].ninfo);
    }
    return bytes;
}
