/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handed_out.c - values that the caller received as pointers, in one list: values are only
 * pushed, and all are freed together. */
#include "client/data/data.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/value/value.h"

struct kept {
    struct kept *next;
    bool owns; /* value's content */
    pmix_value_t value;
};

static _Atomic(struct kept *) kept_first;

static struct kept *keep(void)
{
    struct kept *const kept = calloc(1, sizeof(*kept));

    if (kept != NULL) {
        /* relaxed: the exchange below checks it; the list is walked at the end only. */
        kept->next = atomic_load_explicit(&kept_first, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(&kept_first, &kept->next, kept)) {
        }
    }
    return kept;
}

pmix_value_t *sx_keep_value(void)
{
    struct kept *const kept = keep();

    return kept != NULL ? &kept->value : NULL;
}

pmix_status_t sx_keep_content(pmix_value_t *value)
{
    struct kept *const kept = keep();

    if (kept == NULL) {
        sx_value_destruct(value);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    kept->value = *value;
    kept->owns = true;
    return PMIX_SUCCESS;
}

void sx_keep_deinit(void)
{
    struct kept *kept = atomic_exchange(&kept_first, NULL);

    while (kept != NULL) {
        struct kept *const next = kept->next;

        if (kept->owns) {
            sx_value_destruct(&kept->value);
        }
        free(kept);
        kept = next;
    }
}
