/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* waits.c - the calls of several processes that are one collective operation.
 *
 *     kind, processes, name --the same--> in each process counted in the order of its calls
 *     --the same number--> one operation: the member that began last is the one the others wait for
 *
 * An operation of fewer members than processes is one all the same: ranks may have no record. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cli/trace/trace.h"
#include "launch/common/say.h"

/* The kind of a collective operation, with and without _nb.  Return: 0 for other functions. */
static unsigned kind_of(const struct sx_trace_item *item)
{
    static const char *const kinds[] = { "PMIx_Fence", "PMIx_Connect", "PMIx_Disconnect",
                                         "PMIx_Group_construct", "PMIx_Group_destruct" };
    const char *const name = sx_trace_name(item->function);

    for (unsigned i = 0; i < SX_COUNT(kinds); i++) {
        const size_t len = strlen(kinds[i]);

        if (strncmp(name, kinds[i], len) == 0 &&
            (name[len] == '\0' || strcmp(name + len, "_nb") == 0)) {
            return i + 1;
        }
    }
    return 0;
}

/* The fields that all calls of one operation have in common come first. */
struct entry {
    unsigned kind;
    uint32_t procs_hash, rank, proc_count, process, ordinal, item;
    const char *of, *key; /* the namespace of the processes, and the name of the group */
    uint64_t begin_ns;
};

static int alike_order(const struct entry *a, const struct entry *b)
{
    const int64_t parts[] = { (int64_t)a->kind - b->kind, (int64_t)a->procs_hash - b->procs_hash,
                              (int64_t)a->rank - b->rank, (int64_t)a->proc_count - b->proc_count };
    int order = 0;

    for (size_t i = 0; i < SX_COUNT(parts) && order == 0; i++) {
        order = (parts[i] > 0) - (parts[i] < 0);
    }
    order = order != 0 ? order : strcmp(a->of, b->of);
    return order != 0 ? order : strcmp(a->key, b->key);
}

/* By operation of the same processes, then by process, then by time. */
static int process_order(const void *left, const void *right)
{
    const struct entry *const a = left, *const b = right;
    const int order = alike_order(a, b);

    if (order != 0) {
        return order;
    }
    return a->process != b->process ? (a->process > b->process) - (a->process < b->process)
                                    : (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* By operation, then by time. */
static int ordinal_order(const void *left, const void *right)
{
    const struct entry *const a = left, *const b = right;
    const int order = alike_order(a, b);

    if (order != 0) {
        return order;
    }
    return a->ordinal != b->ordinal ? (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal)
                                    : (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Without processes, or with all of a namespace, the operation is one of that namespace. */
static void entry_make(const struct sx_trace_set *set, uint32_t index, unsigned kind,
                       struct entry *ret)
{
    const struct sx_trace_item *const item = &set->items[index];
    const bool of_job = item->proc_count == 0;

    *ret = (struct entry){ .kind = kind,
                           .procs_hash = item->procs_hash,
                           .rank = of_job ? UINT32_MAX - 1 : item->rank,
                           .proc_count = of_job ? 1 : item->proc_count,
                           .process = item->process,
                           .item = index,
                           .of = of_job ? set->processes[item->process].nspace : item->nspace,
                           .key = item->key,
                           .begin_ns = item->begin_ns };
    if (ret->proc_count > 1) { /* each member may begin the list with another one */
        ret->rank = 0;
        ret->of = "";
    }
}

/* The entries of one operation are @count, in the order of their beginnings. */
static void operation_end(struct sx_trace_set *set, const struct entry *entries, size_t count)
{
    struct sx_trace_item *longest = &set->items[entries[0].item];

    for (size_t i = 0; i < count; i++) {
        struct sx_trace_item *const item = &set->items[entries[i].item];

        item->ordinal = entries[i].ordinal;
        item->members = (uint32_t)count;
        item->last = entries[count - 1].item;
        longest = sx_trace_duration_ns(item) > sx_trace_duration_ns(longest) ? item : longest;
    }
    longest->is_longest = true;
}

void sx_trace_waits(struct sx_trace_set *set)
{
    struct entry *const entries = sx_cli_calloc(set->item_count + 1, sizeof(*entries));
    size_t count = 0;

    for (size_t i = 0; i < set->item_count; i++) {
        const unsigned kind = kind_of(&set->items[i]);

        if (kind != 0) {
            entry_make(set, (uint32_t)i, kind, &entries[count++]);
        }
    }
    qsort(entries, count, sizeof(*entries), process_order);
    for (size_t i = 0; i < count; i++) {
        const bool goes_on = i > 0 && entries[i].process == entries[i - 1].process &&
                             alike_order(&entries[i], &entries[i - 1]) == 0;

        entries[i].ordinal = goes_on ? entries[i - 1].ordinal + 1 : 1;
    }
    qsort(entries, count, sizeof(*entries), ordinal_order);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && entries[end].ordinal == entries[first].ordinal &&
                              alike_order(&entries[end], &entries[first]) == 0;
             end++) {
        }
        operation_end(set, entries + first, end - first);
    }
    free(entries);
}
