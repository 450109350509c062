/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* summary.c - figures of each function, the longest waits and for whom, and what is not in the
 * trace.
 *
 * Percentiles are of the sorted times (the nearest rank).  The time of a call with a callback ends
 * with the callback. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/trace/trace.h"
#include "launch/common/say.h"
#include "trace/names.h"

#include <pmix_common.h>

#define TIME_MAX 24

static const char *time_text(uint64_t ns, char ret[TIME_MAX])
{
    if (ns < 10000) {
        snprintf(ret, TIME_MAX, "%" PRIu64 " ns", ns);
    } else if (ns < 10 * SX_NS_PER_MS) {
        snprintf(ret, TIME_MAX, "%.1f us", (double)ns / 1e3);
    } else if (ns < 10 * SX_NS_PER_SEC) {
        snprintf(ret, TIME_MAX, "%.1f ms", (double)ns / 1e6);
    } else {
        snprintf(ret, TIME_MAX, "%.1f s", (double)ns / 1e9);
    }
    return ret;
}

/* ---- functions ------------------------------------------------------------------------------- */

static int number_order(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static void row_write(const char *name, const uint64_t *times, size_t count, FILE *out)
{
    char texts[4][TIME_MAX];
    uint64_t total = 0;

    for (size_t i = 0; i < count; i++) {
        total += times[i];
    }
    fprintf(out, "%-32s %9zu %11s %11s %11s %11s\n", name, count, time_text(total, texts[0]),
            time_text(times[(count - 1) / 2], texts[1]),
            time_text(times[(count * 99 + 99) / 100 - 1], texts[2]),
            time_text(times[count - 1], texts[3]));
}

static void functions_write(const struct sx_trace_set *set, FILE *out)
{
    uint64_t *const times = sx_cli_calloc(set->item_count + 1, sizeof(*times));

    fprintf(out, "\n%-32s %9s %11s %11s %11s %11s\n", "FUNCTION", "CALLS", "TOTAL", "P50", "P99",
            "MAX");
    for (uint32_t function = 0; function < SX_TRACE_FUNCTIONS; function++) {
        size_t count = 0;

        for (size_t i = 0; i < set->item_count; i++) {
            if (set->items[i].function == function) {
                times[count++] = sx_trace_duration_ns(&set->items[i]);
            }
        }
        if (count > 0) {
            qsort(times, count, sizeof(*times), number_order);
            row_write(sx_trace_name(function), times, count, out);
        }
    }
    free(times);
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Texts of other processes: nothing in them controls the reader's terminal. */
static void plain_write(const char *text, FILE *out)
{
    char *const plain = sx_cli_strdup(text);

    sx_say_plain(plain);
    fputs(plain, out);
    free(plain);
}

static void process_write(const struct sx_trace_process *process, FILE *out)
{
    if (process->named) {
        fprintf(out, "rank %" PRIu32, process->rank);
    } else {
        fprintf(out, "process %" PRIu32, process->pid);
    }
}

static void peer_write(const struct sx_trace_item *item, FILE *out)
{
    if (item->key[0] != '\0') {
        fputs(" of ", out);
        plain_write(item->key, out);
    }
    if (item->proc_count == 1 && item->rank <= PMIX_RANK_VALID) {
        fprintf(out, ", of rank %" PRIu32, item->rank);
    }
}

static void wait_write(const struct sx_trace_set *set, const struct sx_trace_item *item, FILE *out)
{
    char text[TIME_MAX];

    fprintf(out, "%11s  ", time_text(sx_trace_duration_ns(item), text));
    process_write(&set->processes[item->process], out);
    fprintf(out, " in %s", sx_trace_name(item->function));
    peer_write(item, out);
    if (item->ordinal > 0) {
        const struct sx_trace_item *const last = &set->items[item->last];

        fprintf(out, ", number %" PRIu32 " of these processes", item->ordinal);
        if (last != item) {
            fputs(", for ", out);
            process_write(&set->processes[last->process], out);
            fprintf(out, ", the last of %" PRIu32 ", %s later", item->members,
                    time_text(last->begin_ns - item->begin_ns, text));
        }
    }
    fputs(item->ended ? "\n" : "; it has not returned\n", out);
}

static const struct sx_trace_set *sorted; /* for the order below; main thread */

static int longest_order(const void *left, const void *right)
{
    const uint64_t a = sx_trace_duration_ns(&sorted->items[*(const uint32_t *)left]);
    const uint64_t b = sx_trace_duration_ns(&sorted->items[*(const uint32_t *)right]);

    return (a < b) - (a > b);
}

/* Of the members of an operation only the one that waited longest is listed. */
static void waits_write(const struct sx_trace_set *set, size_t longest, FILE *out)
{
    uint32_t *const indexes = sx_cli_calloc(set->item_count + 1, sizeof(*indexes));
    size_t count = 0;

    for (size_t i = 0; i < set->item_count; i++) {
        if (set->items[i].ordinal == 0 || set->items[i].is_longest) {
            indexes[count++] = (uint32_t)i;
        }
    }
    sorted = set;
    qsort(indexes, count, sizeof(*indexes), longest_order);
    fputs("\nlongest:\n", out);
    for (size_t i = 0; i < count && i < longest; i++) {
        wait_write(set, &set->items[indexes[i]], out);
    }
    free(indexes);
}

/* ---- what is missing ------------------------------------------------------------------------- */

static void process_notes_write(const struct sx_trace_process *process, FILE *out)
{
    if (process->left_out > 0) {
        process_write(process, out);
        fprintf(out, ": %" PRIu64 " calls are left out%s\n", process->left_out,
                process->error != 0 ? ": the disk was full" : ", --records holds more");
    }
    if (process->library[0] != '\0' && strncmp(process->library, "shmix ", 6) != 0) {
        process_write(process, out);
        fputs(" has another PMIx library, ", out);
        plain_write(process->library, out);
        fputs(": the times are those of that library\n", out);
    }
}

/* The ranks of a job that have left no file, if any. */
static void absent_write(const struct sx_trace_set *set, size_t first, FILE *out)
{
    const struct sx_trace_process *const process = &set->processes[first];
    uint32_t there = 0;

    for (size_t i = 0; i < set->process_count; i++) {
        if (set->processes[i].named && strcmp(set->processes[i].nspace, process->nspace) == 0) {
            if (i < first) {
                return; /* an earlier rank has reported */
            }
            there++;
        }
    }
    if (there < process->size) {
        fprintf(out, "%" PRIu32 " of %" PRIu32 " ranks of ", process->size - there, process->size);
        plain_write(process->nspace, out);
        fputs(" are not in the trace: is their program linked statically or set-uid, or on another "
              "node?\n",
              out);
    }
}

void sx_trace_summary(const struct sx_trace_set *set, size_t longest, FILE *out)
{
    char text[TIME_MAX];

    fprintf(out, "%zu calls of %zu process%s in %s\n", set->item_count, set->process_count,
            set->process_count == 1 ? "" : "es", time_text(set->end_ns - set->begin_ns, text));
    if (set->item_count > 0) {
        functions_write(set, out);
        waits_write(set, longest, out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < set->process_count; i++) {
        process_notes_write(&set->processes[i], out);
        if (set->processes[i].named) {
            absent_write(set, i, out);
        }
    }
    if (set->damaged > 0) {
        fprintf(out, "%u file%s no trace of this version\n", set->damaged,
                set->damaged == 1 ? " is" : "s are");
    }
}
