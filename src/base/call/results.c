/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* results.c - drop deleted infos, append new ones, keep one wish about termination. */
#include "base/call/results.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/value/value.h"

void sx_results_deinit(struct sx_results *results)
{
    sx_elements_destruct(results->all, results->count, PMIX_INFO);
    free(results->all);
    free(results->keyed);
    *results = SX_RESULTS_NULL;
}

/* Return: whether @more elements fit now. */
static bool room_make(struct sx_results *results, size_t more)
{
    const size_t count = results->count + more;

    if (count <= results->capacity) {
        return true;
    }
    const size_t capacity = 2 * count; /* so that many handlers do not copy it many times */
    pmix_info_t *const all = realloc(results->all, capacity * sizeof(*all));

    if (all == NULL) {
        return false;
    }
    results->all = all;
    bool *const keyed = realloc(results->keyed, capacity * sizeof(*keyed));

    if (keyed == NULL) {
        return false;
    }
    results->keyed = keyed;
    results->capacity = capacity;
    return true;
}

/* Drop the elements for which @is says yes. */
static void drop(struct sx_results *results,
                 bool (*is)(const struct sx_results *results, size_t index, const void *arg),
                 const void *arg)
{
    size_t kept = 0;

    for (size_t i = 0; i < results->count; i++) {
        if (is(results, i, arg)) {
            sx_elements_destruct(&results->all[i], 1, PMIX_INFO);
            continue;
        }
        results->keyed[kept] = results->keyed[i];
        if (kept != i) {
            results->all[kept] = results->all[i];
        }
        kept++;
    }
    results->count = kept;
}

static bool was_deleted(const struct sx_results *results, size_t index, const void *arg)
{
    (void)arg;
    return results->keyed[index] && results->all[index].key[0] == '\0';
}

/* ---- termination --------------------------------------------------------------------------- */

static bool has_key(const pmix_info_t *info, const char *key)
{
    return sx_name_len(info->key, sizeof(info->key)) < sizeof(info->key) &&
           strcmp(info->key, key) == 0;
}

static bool is_wish(const pmix_info_t *info)
{
    return (has_key(info, PMIX_EVENT_NO_TERMINATION) ||
            has_key(info, PMIX_EVENT_WANT_TERMINATION)) &&
           sx_value_is_true(&info->value);
}

static bool is_order(const pmix_info_t *info)
{
    return is_wish(info) && has_key(info, PMIX_EVENT_WANT_TERMINATION) &&
           (info->flags & PMIX_INFO_REQD) != 0;
}

/* A wish, but not the one at *arg. */
static bool is_other_wish(const struct sx_results *results, size_t index, const void *arg)
{
    return is_wish(&results->all[index]) && index != *(const size_t *)arg;
}

/* The elements from @first on are new: the newest wish stands, a required one against all. */
static void wishes_settle(struct sx_results *results, size_t first)
{
    size_t stands = results->count; /* no index */

    for (size_t i = results->must_terminate ? 0 : first; i < results->count; i++) {
        if (is_order(&results->all[i])) {
            results->must_terminate = true;
            stands = i;
            break;
        }
        if (is_wish(&results->all[i])) {
            stands = i;
        }
    }
    if (stands < results->count) {
        drop(results, is_other_wish, &stands);
    }
}

/* A handler has edited the required wish away: here it is again.  There is room. */
static void order_restore(struct sx_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        if (is_order(&results->all[i])) {
            return;
        }
    }
    pmix_info_t *const info = &results->all[results->count];

    memset(info, 0, sizeof(*info));
    memcpy(info->key, PMIX_EVENT_WANT_TERMINATION, sizeof(PMIX_EVENT_WANT_TERMINATION));
    info->flags = PMIX_INFO_REQD;
    info->value.type = PMIX_BOOL;
    info->value.data.flag = true;
    results->keyed[results->count++] = true;
}

/* ---- adding -------------------------------------------------------------------------------- */

void sx_results_add(struct sx_results *results, const char *name, pmix_status_t status,
                    const pmix_info_t info[], size_t ninfo)
{
    if (!room_make(results, 2 + ninfo)) {
        sx_log(SX_LOG_ERROR, "memory is short: later event handlers hear less of earlier ones");
        return;
    }
    drop(results, was_deleted, NULL);
    if (results->must_terminate) {
        order_restore(results);
    }
    const size_t first = results->count;
    pmix_info_t *const own = &results->all[first];

    memset(own, 0, sizeof(*own));
    memcpy(own->key, name, sx_name_len(name, PMIX_MAX_KEYLEN));
    own->value.type = PMIX_STATUS;
    own->value.data.status = status;
    results->count++;
    if (ninfo > 0) {
        if (sx_elements_copy(own + 1, info, ninfo, PMIX_INFO) == PMIX_SUCCESS) {
            results->count += ninfo;
        } else {
            sx_log(SX_LOG_ERROR, "what event handler '%s' returned cannot be copied and is lost",
                   name);
        }
    }
    for (size_t i = first; i < results->count; i++) {
        results->keyed[i] = results->all[i].key[0] != '\0';
    }
    wishes_settle(results, first);
}
