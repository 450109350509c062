/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* read.c - the files of traced processes; a process may still write to its own.
 *
 * A header is copied and judged before anything is done with it.  A record counts if its state says
 * so; its texts are cut at their ends. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "cli/trace/trace.h"
#include "launch/common/say.h"
#include "trace/names.h"

#define NAME_OF(name) [SX_TRACE_##name] = #name,
static const char *const names[SX_TRACE_FUNCTIONS] = { SX_TRACE_NAMES_EACH(NAME_OF) };

const char *sx_trace_name(uint32_t function)
{
    return function < SX_TRACE_FUNCTIONS ? names[function] : NULL;
}

uint64_t sx_trace_duration_ns(const struct sx_trace_item *item)
{
    const uint64_t end_ns = item->calls_back && item->back_ns > item->begin_ns ? item->back_ns
                                                                               : item->end_ns;

    return end_ns > item->begin_ns ? end_ns - item->begin_ns : 0;
}

/* ---- one file -------------------------------------------------------------------------------- */

#define TEXT_COPY(ret, from)                \
    do {                                    \
        memcpy((ret), (from), sizeof(ret)); \
        (ret)[sizeof(ret) - 1] = '\0';      \
    } while (0)

static void process_take(const struct sx_trace_header *header, uint64_t calls, uint32_t records,
                         struct sx_trace_process *ret)
{
    *ret = (struct sx_trace_process){ .pid = header->pid,
                                      .left_out = calls > records ? calls - records : 0 };

    /* A3 <- R3 (recorder.c): the name is whole. */
    ret->named = atomic_load_explicit(&header->named, memory_order_acquire) == 1;
    if (ret->named) {
        ret->rank = header->rank;
        ret->size = header->size;
        TEXT_COPY(ret->nspace, header->nspace);
    }
    /* relaxed: only shown. */
    ret->error = atomic_load_explicit(&header->error, memory_order_relaxed);
    TEXT_COPY(ret->library, header->library);
    TEXT_COPY(ret->program, header->program);
}

/* Return: false when the record is empty, or not one. */
static bool item_take(const struct sx_trace_record *record, uint32_t process,
                      struct sx_trace_item *ret)
{
    /* A1 <- R1, R2 (recorder.c): the fields that the state covers. */
    const uint32_t state = atomic_load_explicit(&record->state, memory_order_acquire);

    if ((state != SX_TRACE_BEGUN && state != SX_TRACE_ENDED) ||
        record->function >= SX_TRACE_FUNCTIONS) {
        return false;
    }
    *ret = (struct sx_trace_item){
        .process = process,
        .function = record->function,
        .ended = state == SX_TRACE_ENDED,
        .begin_ns = record->begin_ns,
        .end_ns = state == SX_TRACE_ENDED ? record->end_ns : 0,
        .status = record->status,
        .tid = record->tid,
        .proc_count = record->proc_count,
        .rank = record->rank,
        .procs_hash = record->procs_hash,
        .calls_back = (record->flags & SX_TRACE_CALLS_BACK) != 0,
        /* A4 <- R4 (recorder.c): the status is there. */
        .back_ns = atomic_load_explicit(&record->back_ns, memory_order_acquire),
    };
    ret->back_status = record->back_status;
    TEXT_COPY(ret->nspace, record->nspace);
    TEXT_COPY(ret->key, record->key);
    return true;
}

static void items_take(struct sx_trace_set *set, const struct sx_trace_record *records,
                       uint64_t count, uint32_t process)
{
    set->items = sx_cli_realloc(set->items, set->item_count + count + 1, sizeof(*set->items));
    for (uint64_t i = 0; i < count; i++) {
        set->item_count += item_take(&records[i], process, &set->items[set->item_count]);
    }
}

static bool header_is_good(const struct sx_trace_header *header, uint64_t size_bytes)
{
    /* A0 <- R0 (recorder.c): the fields before it are there. */
    return size_bytes >= sizeof(*header) &&
           atomic_load_explicit(&header->magic, memory_order_acquire) == SX_TRACE_MAGIC &&
           header->record_size_bytes == sizeof(struct sx_trace_record) &&
           header->function_count == SX_TRACE_FUNCTIONS;
}

static void mapping_take(struct sx_trace_set *set, const struct sx_trace_header *header,
                         uint64_t size_bytes)
{
    const uint64_t fit = (size_bytes - sizeof(*header)) / sizeof(struct sx_trace_record);
    /* relaxed: records have states of their own. */
    const uint64_t calls = atomic_load_explicit(&header->next, memory_order_relaxed);
    const uint64_t room = atomic_load_explicit(&header->room, memory_order_relaxed);
    const uint64_t most = room < fit ? room : fit, count = calls < most ? calls : most;

    set->processes = sx_cli_realloc(set->processes, set->process_count + 1,
                                    sizeof(*set->processes));
    process_take(header, calls, (uint32_t)count, &set->processes[set->process_count]);
    items_take(set, (const struct sx_trace_record *)(const void *)(header + 1), count,
               (uint32_t)set->process_count++);
}

static void file_take(struct sx_trace_set *set, int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    void *at = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    }
    if (at != MAP_FAILED && header_is_good(at, (uint64_t)st.st_size)) {
        mapping_take(set, at, (uint64_t)st.st_size);
    } else {
        set->damaged++;
    }
    if (at != MAP_FAILED) {
        munmap(at, (size_t)st.st_size);
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static int item_order(const void *left, const void *right)
{
    const struct sx_trace_item *const a = left, *const b = right;

    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Calls that have not returned last until the end of all. */
static void ends_set(struct sx_trace_set *set)
{
    set->begin_ns = set->item_count > 0 ? set->items[0].begin_ns : 0;
    set->end_ns = set->begin_ns;
    for (size_t i = 0; i < set->item_count; i++) {
        const struct sx_trace_item *const item = &set->items[i];
        const uint64_t last_ns = item->back_ns > item->end_ns ? item->back_ns : item->end_ns;
        const uint64_t end_ns = last_ns > item->begin_ns ? last_ns : item->begin_ns;

        set->end_ns = end_ns > set->end_ns ? end_ns : set->end_ns;
    }
    for (size_t i = 0; i < set->item_count; i++) {
        if (!set->items[i].ended) {
            set->items[i].end_ns = set->end_ns;
        }
    }
}

bool sx_trace_read(const char *dir, struct sx_trace_set *ret)
{
    DIR *const folder = opendir(dir);
    const struct dirent *entry;

    *ret = (struct sx_trace_set){ .items = NULL };
    if (folder == NULL) {
        sx_say("cannot read '%.255s' (%s)", dir, strerror(errno));
        return false;
    }
    while ((entry = readdir(folder)) != NULL) {
        const char *const dot = strrchr(entry->d_name, '.');

        if (dot != NULL && strcmp(dot, ".trace") == 0) {
            file_take(ret, dirfd(folder), entry->d_name);
        }
    }
    closedir(folder);
    if (ret->item_count > 1) {
        qsort(ret->items, ret->item_count, sizeof(*ret->items), item_order);
    }
    ends_set(ret);
    return true;
}

void sx_trace_free(struct sx_trace_set *set)
{
    free(set->processes);
    free(set->items);
    *set = (struct sx_trace_set){ .items = NULL };
}
