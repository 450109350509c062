/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.c - memory of processes: average, smallest and largest. */
#include "client/query/query.h"

#include <float.h>
#include <string.h>

#include <pmix.h>

#include "base/system/usage.h"
#include "base/value/value.h"
#include "client/link/link.h"

struct memory {
    float average, min, max; /* MiB */
};

/* The processes that the server names.  Return: NULL when @value is something else. */
static const pmix_data_array_t *pids_of(const pmix_value_t *value)
{
    const pmix_data_array_t *const array = value->type == PMIX_DATA_ARRAY ? value->data.darray
                                                                          : NULL;

    return array != NULL && array->type == PMIX_PID ? array : NULL;
}

/* Return: false when none of @pids can be read. */
static bool look(const pmix_data_array_t *pids, struct memory *ret)
{
    const pid_t *const all = pids->array;
    const bool ours = !sx_process_ready() || sx_link_pids_are_ours(sx_primary());
    unsigned count = 0;
    float mib;

    *ret = (struct memory){ .min = FLT_MAX };
    for (size_t i = 0; ours && i < pids->size; i++) {
        if (sx_usage_resident(all[i], &mib)) {
            ret->average += mib;
            ret->min = mib < ret->min ? mib : ret->min;
            ret->max = mib > ret->max ? mib : ret->max;
            count++;
        }
    }
    ret->average /= (float)(count > 0 ? count : 1);
    return count > 0;
}

static void become(pmix_value_t *value, float mib)
{
    sx_value_destruct(value);
    *value = (pmix_value_t){ .type = PMIX_FLOAT, .data.fval = mib };
}

/* Return: NULL when @value has no such part. */
static pmix_info_t *answer_part(const pmix_value_t *value, const char *key)
{
    pmix_data_array_t *const array = value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;
    pmix_info_t *const all = array != NULL && array->type == PMIX_INFO ? array->array : NULL;

    for (size_t i = 0; all != NULL && i < array->size; i++) {
        if (PMIx_Check_key(all[i].key, key)) {
            return &all[i];
        }
    }
    return NULL;
}

/* Put the figures where the server has left room for them. */
static bool limits_load(const pmix_value_t *answer, const struct memory *memory)
{
    pmix_info_t *const info = answer_part(answer, PMIX_QUERY_REPORT_MINMAX);
    float values[] = { memory->min, memory->max };
    pmix_data_array_t array = { .type = PMIX_FLOAT, .size = 2, .array = values };
    const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    if (info == NULL) {
        return true;
    }
    sx_value_destruct(&info->value);
    return sx_value_copy(&info->value, &value) == PMIX_SUCCESS;
}

/* Copy the figures of the first key that asks the same, which has been measured. */
static pmix_status_t measure_again(const struct sx_queries *queries, struct sx_asked *asked)
{
    pmix_value_t copy;
    const pmix_status_t rc = sx_queries_again(queries, asked, &copy);

    if (rc == PMIX_SUCCESS) {
        sx_value_destruct(&asked->value);
        asked->value = copy;
    }
    return rc;
}

/* Return: false when there is nothing to answer. */
static bool measure(const struct sx_queries *queries, struct sx_asked *asked)
{
    pmix_value_t *const answer = &asked->value;
    pmix_info_t *const part = answer_part(answer, PMIX_CLIENT_AVG_MEMORY);
    pmix_value_t *const value = part != NULL ? &part->value : answer;
    const pmix_data_array_t *const pids = pids_of(value);
    struct memory memory;

    if (pids == NULL) {
        return true; /* a host's own answer */
    }
    if (sx_asked_again(queries, asked)) {
        return measure_again(queries, asked) == PMIX_SUCCESS;
    }
    if (!look(pids, &memory)) {
        return false;
    }
    become(value, memory.average);
    return limits_load(answer, &memory);
}

void sx_query_memory_measure(struct sx_queries *queries)
{
    for (size_t i = 0; i < queries->asked_count; i++) {
        struct sx_asked *const asked = &queries->asked[i];
        const bool is_memory = strcmp(asked->key, PMIX_CLIENT_AVG_MEMORY) == 0 ||
                               strcmp(asked->key, PMIX_QUERY_MEMORY_USAGE) == 0;

        if (asked->answered && is_memory && !measure(queries, asked)) {
            sx_queries_unanswer(queries, asked);
        }
    }
}
