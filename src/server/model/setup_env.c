/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* setup_env.c - slots that are found by a hash, so that a reader reads its own namespace's slot
 * alone. */
#include "server/model/setup_env.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/environment.h"
#include "base/status.h"
#include "base/value/value.h"
#include "server/model/nspace.h"
#include "server/model/state.h"

#define LISTS_MAX 64u /* of a namespace */

struct sx_setup_env_list {
    struct sx_setup_env_list *older;
    unsigned number; /* in its namespace, from 1 */
    size_t count;
    pmix_info_t all[];
};

static uint64_t hash_of(const char *nspace)
{
    return XXH3_64bits(nspace, sx_name_len(nspace, PMIX_MAX_NSLEN)) | 1;
}

static struct sx_setup_env_list *list_free(struct sx_setup_env_list *list)
{
    while (list != NULL) {
        struct sx_setup_env_list *const older = list->older;

        sx_elements_destruct(list->all, list->count, PMIX_INFO);
        free(list);
        list = older;
    }
    return NULL;
}

/* A trial with an empty environment shows whether the directive is valid. */
static pmix_status_t judge(const pmix_info_t *directive)
{
    char **env = NULL;
    const pmix_status_t rc = sx_envar_apply(directive, &env);

    PMIx_Argv_free(env);
    return rc;
}

static pmix_status_t list_new(const pmix_info_t info[], size_t ninfo,
                              struct sx_setup_env_list **ret)
{
    struct sx_setup_env_list *const list = calloc(1, sizeof(*list) + ninfo * sizeof(list->all[0]));
    pmix_status_t rc = list == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (sx_envar_is_directive(info[i].key)) {
            rc = judge(&info[i]);
            if (rc == PMIX_SUCCESS) {
                rc = PMIx_Info_xfer(&list->all[list->count], &info[i]);
                list->count += rc == PMIX_SUCCESS;
            }
        }
    }
    if (rc != PMIX_SUCCESS || list->count == 0) {
        *ret = list_free(list);
    } else {
        *ret = list;
    }
    return rc;
}

/* Return: the slot of @hash, which may be 0; SX_SETUP_ENV_MAX when there is none. */
static size_t slot_find(struct sx_setup_env *carried, uint64_t hash)
{
    size_t i = 0;

    /* A0 <- R0 (sx_setup_env_add): a reader that sees the hash sees the list. */
    while (i < SX_SETUP_ENV_MAX &&
           atomic_load_explicit(&carried->slots[i].hash, memory_order_acquire) != hash) {
        i++;
    }
    return i;
}

pmix_status_t sx_setup_env_add(struct sx_setup_env *carried, const char *nspace,
                               const pmix_info_t info[], size_t ninfo)
{
    const uint64_t hash = hash_of(nspace);
    struct sx_setup_env_list *list;
    const pmix_status_t rc = list_new(info, ninfo, &list);
    size_t slot;

    if (list == NULL) {
        return rc;
    }
    slot = slot_find(carried, hash);
    slot = slot == SX_SETUP_ENV_MAX ? slot_find(carried, 0) : slot;
    if (slot == SX_SETUP_ENV_MAX) {
        list_free(list);
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "variables are kept for %d namespaces already: deregister those that have "
                        "ended",
                        SX_SETUP_ENV_MAX);
    }
    /* relaxed: this thread alone writes it */
    list->older = atomic_load_explicit(&carried->slots[slot].newest, memory_order_relaxed);
    list->number = list->older == NULL ? 1 : list->older->number + 1;
    if (list->number > LISTS_MAX) {
        list->older = NULL;
        list_free(list);
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "variables for '%s' were given %u times already: give them in fewer calls",
                        nspace, LISTS_MAX);
    }
    atomic_store_explicit(&carried->slots[slot].newest, list, memory_order_release);
    atomic_store_explicit(&carried->slots[slot].hash, hash, memory_order_release); /* R0 -> A0 */
    return PMIX_SUCCESS;
}

static pmix_status_t apply(const struct sx_setup_env_list *list, char ***env)
{
    pmix_status_t rc = list->older == NULL ? PMIX_SUCCESS : apply(list->older, env);

    for (size_t i = 0; i < list->count && rc == PMIX_SUCCESS; i++) {
        rc = sx_envar_apply(&list->all[i], env);
    }
    return rc;
}

pmix_status_t sx_setup_env_apply(struct sx_setup_env *carried, const char *nspace, char ***env)
{
    const size_t slot = slot_find(carried, hash_of(nspace));

    return slot == SX_SETUP_ENV_MAX
               ? PMIX_SUCCESS
               : apply(atomic_load_explicit(&carried->slots[slot].newest, memory_order_acquire),
                       env);
}

static void slot_clear(struct sx_setup_env *carried, size_t slot)
{
    atomic_store_explicit(&carried->slots[slot].hash, 0, memory_order_release);
    list_free(atomic_exchange(&carried->slots[slot].newest, NULL));
}

void sx_setup_env_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    const size_t slot = slot_find(&server->carried, hash_of(nspace->name));

    if (slot < SX_SETUP_ENV_MAX) {
        slot_clear(&server->carried, slot);
    }
}

void sx_setup_env_end(struct sx_server *server)
{
    for (size_t i = 0; i < SX_SETUP_ENV_MAX; i++) {
        slot_clear(&server->carried, i);
    }
}
