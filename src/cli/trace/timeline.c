/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* timeline.c - JSON in the format of Chrome's trace events, which Perfetto opens.
 *
 * A rank is a process of the timeline, whose number is the rank in the first job; each further job
 * has the numbers from the next million on.  A call is an event "X"; a call with a callback has two
 * more, "b" and "e", from the call to the callback.  Times are microseconds since the first
 * call. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/names.h"
#include "cli/trace/trace.h"
#include "launch/common/say.h"

#define JOB_STEP 1000000u /* between the numbers of the ranks 0 of two jobs */

static void string_write(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\"%s\":", name);
    sx_json_string_to(out, text, strlen(text));
}

static void status_write(FILE *out, const char *name, int32_t status)
{
    const char *const known = sx_name_find(PMIX_STATUS, status);

    if (known != NULL) {
        string_write(out, name, known);
    } else {
        fprintf(out, ",\"%s\":%" PRId32, name, status);
    }
}

static void time_write(FILE *out, const char *name, uint64_t ns)
{
    fprintf(out, "\"%s\":%" PRIu64 ".%03" PRIu64, name, ns / 1000, ns % 1000);
}

static void rank_write(FILE *out, uint32_t rank)
{
    if (rank == PMIX_RANK_WILDCARD) {
        fputs(",\"peer\":\"*\"", out);
    } else if (rank <= PMIX_RANK_VALID) {
        fprintf(out, ",\"peer\":%" PRIu32, rank);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The number of each process in the timeline.  Processes that have no rank have their process id
 * behind those of all jobs. */
static uint32_t *numbers_make(const struct sx_trace_set *set)
{
    uint32_t *const numbers = sx_cli_calloc(set->process_count + 1, sizeof(*numbers));
    uint32_t jobs = 0;

    for (size_t i = 0; i < set->process_count; i++) {
        const struct sx_trace_process *const process = &set->processes[i];
        size_t k = 0;

        while (k < i && (!set->processes[k].named ||
                         strcmp(set->processes[k].nspace, process->nspace) != 0)) {
            k++;
        }
        if (!process->named) {
            numbers[i] = 2000000000u + process->pid % JOB_STEP;
        } else if (k < i) {
            numbers[i] = numbers[k] - set->processes[k].rank % JOB_STEP + process->rank % JOB_STEP;
        } else {
            numbers[i] = jobs++ % 1000 * JOB_STEP + process->rank % JOB_STEP;
        }
    }
    return numbers;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void process_write(const struct sx_trace_process *process, uint32_t number, FILE *out)
{
    char *const title = process->named
                            ? sx_cli_printf("rank %" PRIu32 " of %s (process %" PRIu32 ")",
                                            process->rank, process->nspace, process->pid)
                            : sx_cli_printf("process %" PRIu32, process->pid);

    fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu32 ",\"args\":{\"name\":",
            number);
    sx_json_string_to(out, title, strlen(title));
    fprintf(out,
            "}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%" PRIu32
            ",\"args\":{\"sort_index\":%" PRIu32 "}}",
            number, number);
    free(title);
}

static void arguments_write(const struct sx_trace_set *set, const struct sx_trace_item *item,
                            FILE *out)
{
    fprintf(out, ",\"args\":{\"pid\":%" PRIu32, set->processes[item->process].pid);
    if (item->ended) {
        status_write(out, "status", item->status);
    } else {
        fputs(",\"returned\":false", out);
    }
    if (item->key[0] != '\0') {
        string_write(out, "key", item->key);
    }
    if (item->proc_count > 0) {
        string_write(out, "nspace", item->nspace);
        rank_write(out, item->rank);
        fprintf(out, ",\"procs\":%" PRIu32, item->proc_count);
    }
    if (item->ordinal > 0) {
        const struct sx_trace_process *const last = &set->processes[set->items[item->last].process];

        fprintf(out, ",\"operation\":%" PRIu32 ",\"members\":%" PRIu32 ",\"last_rank\":%" PRIu32,
                item->ordinal, item->members, last->rank);
    }
    if (item->calls_back && item->back_ns != 0) {
        status_write(out, "callback_status", item->back_status);
    }
    fputs("}}", out);
}

static void head_write(const char *phase, const struct sx_trace_item *item, uint32_t number,
                       uint64_t at_ns, FILE *out)
{
    fprintf(out,
            ",\n{\"ph\":\"%s\",\"cat\":\"pmix\",\"name\":\"%s\",\"pid\":%" PRIu32
            ",\"tid\":%" PRIu32 ",",
            phase, sx_trace_name(item->function), number, item->tid);
    time_write(out, "ts", at_ns);
}

static void item_write(const struct sx_trace_set *set, size_t index, uint32_t number, FILE *out)
{
    const struct sx_trace_item *const item = &set->items[index];
    const uint64_t begin_ns = item->begin_ns - set->begin_ns;
    const bool sane = item->end_ns > item->begin_ns;

    head_write("X", item, number, begin_ns, out);
    fputc(',', out);
    time_write(out, "dur", sane ? item->end_ns - item->begin_ns : 0);
    arguments_write(set, item, out);
    if (item->calls_back && item->back_ns > item->begin_ns) {
        head_write("b", item, number, begin_ns, out);
        fprintf(out, ",\"id\":%zu}", index);
        head_write("e", item, number, item->back_ns - set->begin_ns, out);
        fprintf(out, ",\"id\":%zu}", index);
    }
}

void sx_trace_timeline(const struct sx_trace_set *set, FILE *out)
{
    uint32_t *const numbers = numbers_make(set);

    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"shmix " SHMIX_VERSION
          "\"},\"traceEvents\":[\n",
          out);
    for (size_t i = 0; i < set->process_count; i++) {
        fputs(i > 0 ? ",\n" : "", out);
        process_write(&set->processes[i], numbers[i], out);
    }
    for (size_t i = 0; i < set->item_count && !ferror(out); i++) {
        item_write(set, i, numbers[set->items[i].process], out);
    }
    fputs("\n]}\n", out);
    free(numbers);
}
