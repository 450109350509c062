/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published.c - plain reads of published values.
 *
 * Several keys must be read as of one moment: they are read twice, and the values of the first time
 * must still be there. */
#include "client/publish/published.h"

#include <string.h>

#include "base/value/value.h"
#include "client/data/view.h"
#include "client/link/process.h"
#include "shmem/published.h"

#define KEYS_MAX 16u /* of one call; for more, a message is cheaper */

void sx_published_was_found(struct sx_link *link)
{
    uint32_t unused = SX_PUBLISHED_UNUSED;

    atomic_compare_exchange_strong(&link->published, &unused, SX_PUBLISHED_WORTH_IT);
}

bool sx_published_is_used(const struct sx_link *link)
{
    /* relaxed: only this process uses the mark. */
    return atomic_load_explicit(&link->published, memory_order_relaxed) == SX_PUBLISHED_WORTH_IT &&
           sx_link_is_live(link);
}

/* Return: PMIX_SUCCESS; as sx_published_see. */
static pmix_status_t see_all(const struct sx_store *store, const pmix_pdata_t data[], size_t ndata,
                             const struct sx_publish_who *self,
                             const struct sx_lookup_options *options,
                             struct sx_published_seen seen[])
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ndata && rc == PMIX_SUCCESS; i++) {
        const size_t len = sx_name_len(data[i].key, sizeof(data[i].key));

        rc = len == 0 || len > PMIX_MAX_KEYLEN
                 ? PMIX_ERR_BAD_PARAM
                 : sx_published_see(store, data[i].key, len, self, options, &seen[i]);
    }
    return rc;
}

static pmix_status_t see_at_once(const struct sx_store *store, const pmix_pdata_t data[],
                                 size_t ndata, const struct sx_lookup_options *options,
                                 struct sx_published_seen seen[])
{
    struct sx_publish_who self = { .proc = sx_process.self };
    struct sx_published_seen again[KEYS_MAX];
    pmix_status_t rc = sx_published_session(store, &self);

    if (rc == PMIX_SUCCESS) {
        rc = see_all(store, data, ndata, &self, options, seen);
    }
    if (rc == PMIX_SUCCESS && ndata > 1) {
        rc = see_all(store, data, ndata, &self, options, again);
        for (size_t i = 0; i < ndata && rc == PMIX_SUCCESS; i++) {
            rc = again[i].serial == seen[i].serial ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
        }
    }
    return rc;
}

/* Return: PMIX_SUCCESS; as sx_flat_decode, and then there is nothing to free. */
static pmix_status_t data_fill(pmix_pdata_t data[], size_t ndata,
                               const struct sx_published_seen seen[])
{
    for (size_t i = 0; i < ndata; i++) {
        const pmix_status_t rc = sx_flat_decode(&data[i].value, &seen[i].cell, seen[i].body,
                                                seen[i].cell.len);

        if (rc != PMIX_SUCCESS) {
            while (i-- > 0) {
                PMIx_Value_destruct(&data[i].value);
                data[i].value = (pmix_value_t){ .type = PMIX_UNDEF };
            }
            return rc;
        }
        data[i].proc = seen[i].by.proc;
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_published_read(struct sx_link *link, pmix_pdata_t data[], size_t ndata,
                                const struct sx_lookup_options *options)
{
    struct sx_published_seen seen[KEYS_MAX];
    const struct sx_store *store;
    struct sx_grace grace;

    if (ndata > KEYS_MAX) {
        return PMIX_ERR_NOT_FOUND;
    }
    pmix_status_t rc = sx_view_enter(link, SX_WANT_PUBLISHED, &grace, &store);

    if (rc != PMIX_SUCCESS) {
        atomic_store_explicit(&link->published, SX_PUBLISHED_NEVER, memory_order_relaxed);
        return PMIX_ERR_NOT_FOUND;
    }
    rc = see_at_once(store, data, ndata, options, seen);
    if (rc == PMIX_SUCCESS) {
        rc = data_fill(data, ndata, seen);
    }
    sx_grace_exit(&grace);
    return rc == PMIX_SUCCESS ? rc : PMIX_ERR_NOT_FOUND;
}
