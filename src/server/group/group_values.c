/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_values.c - a list per namespace, the oldest group first.
 *
 * If the oldest group still lives, its entry is moved to the end of the list.  After LIVING_MAX
 * moves, or DROPPED_MAX values, the next value that is added continues.  Memory: a name per value
 * that is in the store. */
#include "server/group/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/environment.h"
#include "shmem/qualified.h"

#define LIVING_MAX 16u
#define DROPPED_MAX 64u /* values, for each that is added */
#define VALUES_FIRST 4u

struct value {
    uint32_t rank;
    char name[SX_QUALIFIED_NAME_LEN + 1];
};

/* Values of one group. */
struct values {
    struct sx_list link;
    uint64_t subject;
    uint64_t bytes; /* taken in the store */
    struct value *all;
    size_t count, capacity;
};

pmix_status_t sx_group_values_init(struct sx_server *server)
{
    server->group.bytes_max = SX_GROUP_BYTES_DEFAULT;
    return sx_switch_number("SHMIX_SERVER_GROUP_BYTES", 0, UINT64_MAX, &server->group.bytes_max);
}

static void values_free(struct sx_nspace *nspace, struct values *values)
{
    nspace->group_bytes -= values->bytes;
    sx_list_remove(&values->link);
    free(values->all);
    free(values);
}

/* ---- values that are given ------------------------------------------------------------------- */

/* Return: the newest; NULL: there is none. */
static struct values *values_last(const struct sx_nspace *nspace)
{
    return sx_list_empty(&nspace->group_values)
               ? NULL
               : SX_LIST_ENTRY(nspace->group_values.prev, struct values, link);
}

/* Return: the entry of @subject, which is the newest; NULL when memory is out. */
static struct values *values_of(struct sx_nspace *nspace, uint64_t subject)
{
    struct values *values = values_last(nspace);

    if (values == NULL || values->subject != subject) {
        values = calloc(1, sizeof(*values));
        if (values == NULL) {
            return NULL;
        }
        values->subject = subject;
        sx_list_append(&nspace->group_values, &values->link);
    }
    return values;
}

pmix_status_t sx_group_values_expect(struct sx_nspace *nspace, uint64_t subject, uint32_t rank,
                                     const char *name)
{
    struct values *const values = values_of(nspace, subject);

    if (values == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (!SX_ARRAY_RESERVE(values->all, values->count, values->capacity, VALUES_FIRST)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct value *const value = &values->all[values->count++];

    value->rank = rank;
    memcpy(value->name, name, sizeof(value->name));
    return PMIX_SUCCESS;
}

/* ---- values that are removed ----------------------------------------------------------------- */

/* Remove the legend of @name with its last value. */
static void legend_drop(struct sx_store_writer *store, const char *name)
{
    const sx_column column = sx_store_column(&store->view, SX_REALM_QUALIFIED, name,
                                             SX_QUALIFIED_NAME_LEN);
    char key[SX_QUALIFIED_LEGEND_LEN + 1];
    uint32_t row;

    if (sx_store_row_next(&store->view, column, 0, &row) == PMIX_ERR_NOT_FOUND) {
        sx_qualified_legend_key(name, key);
        (void)sx_store_unset(store, SX_REALM_QUALIFIED, SX_ROW_JOB, key);
    }
}

/* Remove at most @max values, and the entry with the last of them.  Return: how many. */
static size_t values_drop(struct sx_nspace *nspace, struct values *values, size_t max)
{
    size_t dropped = 0;

    while (values->count > 0 && dropped < max) {
        const struct value *const value = &values->all[--values->count];

        (void)sx_store_unset(&nspace->store, SX_REALM_QUALIFIED, value->rank, value->name);
        if (values->count == 0 || strcmp(value->name, (value - 1)->name) != 0) {
            legend_drop(&nspace->store, value->name);
        }
        dropped++;
    }
    if (values->count == 0) {
        values_free(nspace, values);
    }
    return dropped;
}

void sx_group_values_add(struct sx_server *server, struct sx_nspace *nspace, uint64_t bytes)
{
    unsigned living = 0;
    size_t left = DROPPED_MAX;

    values_last(nspace)->bytes += bytes;
    nspace->group_bytes += bytes;
    while (nspace->group_bytes > server->group.bytes_max && living < LIVING_MAX && left > 0) {
        struct values *const oldest = SX_LIST_ENTRY(nspace->group_values.next, struct values, link);

        if (sx_memberships_of(server, oldest->subject) == NULL) {
            left -= values_drop(nspace, oldest, left);
        } else {
            sx_list_remove(&oldest->link);
            sx_list_append(&nspace->group_values, &oldest->link);
            living++;
        }
    }
}

void sx_group_values_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    (void)server;
    SX_LIST_EACH(it, &nspace->group_values) {
        values_free(nspace, SX_LIST_ENTRY(it, struct values, link));
    }
}
