/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* eventlog.c - two lists a log, one list of bytes for all of them. */
#include "server/eventlog.h"

#include <stdlib.h>

#include "base/status.h"

static size_t block_cost(const struct sx_event_block *block)
{
    return sizeof(*block) + block->size;
}

static struct sx_event_entry *entry_of(struct sx_list *link)
{
    return SX_LIST_ENTRY(link, struct sx_event_entry, link);
}

static size_t bucket_of(pmix_status_t code)
{
    return (uint32_t)code % SX_EVENTLOG_BUCKETS;
}

/* ---- bytes --------------------------------------------------------------------------------- */

/* The history refers to @block from now on, if it did not before. */
static void block_hold(struct sx_event_history *history, struct sx_event_block *block)
{
    if (sx_list_empty(&block->link)) {
        sx_event_block_retain(block);
        sx_list_append(&history->blocks, &block->link);
        history->bytes += block_cost(block);
    }
}

/* Nobody may refer to @block any more. */
static void block_let_go(struct sx_event_history *history, struct sx_event_block *block)
{
    if (sx_list_empty(&block->entries) && sx_list_empty(&block->cache) &&
        !sx_list_empty(&block->link)) {
        sx_list_remove(&block->link);
        history->bytes -= block_cost(block);
        sx_event_block_release(block);
    }
}

static void cache_drop(struct sx_event_history *history, struct sx_event_block *block)
{
    if (!sx_list_empty(&block->cache)) {
        sx_list_remove(&block->cache);
        history->cache_count--;
    }
}

static void entry_drop(struct sx_event_history *history, struct sx_event_entry *entry)
{
    sx_list_remove(&entry->link);
    sx_list_remove(&entry->block_link);
    sx_list_remove(&entry->code_link);
    *(entry->is_held ? &entry->log->held_count : &entry->log->loose_count) -= 1;
    history->bytes -= sizeof(*entry);
    free(entry);
}

/* The oldest goes, from every log. */
static void history_shrink(struct sx_event_history *history)
{
    while (history->bytes > history->bytes_max && !sx_list_empty(&history->blocks)) {
        struct sx_event_block *block = SX_LIST_ENTRY(history->blocks.next, struct sx_event_block,
                                                     link);

        cache_drop(history, block);
        SX_LIST_EACH(it, &block->entries) {
            entry_drop(history, SX_LIST_ENTRY(it, struct sx_event_entry, block_link));
        }
        history->crowded_out++;
        block_let_go(history, block);
    }
}

void sx_event_history_init(struct sx_event_history *history, size_t cache_max, uint64_t bytes_max)
{
    *history = (struct sx_event_history){ .cache_max = cache_max, .bytes_max = bytes_max };
    sx_list_init(&history->blocks);
    sx_list_init(&history->cache);
}

void sx_event_history_deinit(struct sx_event_history *history)
{
    SX_LIST_EACH(it, &history->cache) {
        struct sx_event_block *block = SX_LIST_ENTRY(it, struct sx_event_block, cache);

        cache_drop(history, block);
        block_let_go(history, block);
    }
    sx_assert(sx_list_empty(&history->blocks));
}

void sx_event_history_keep(struct sx_event_history *history, struct sx_event_block *block)
{
    block_hold(history, block);
    sx_list_append(&history->cache, &block->cache);
    if (++history->cache_count > history->cache_max) {
        struct sx_event_block *oldest = SX_LIST_ENTRY(history->cache.next, struct sx_event_block,
                                                      cache);

        cache_drop(history, oldest);
        block_let_go(history, oldest);
    }
    history_shrink(history);
}

/* ---- one log ------------------------------------------------------------------------------- */

void sx_eventlog_init(struct sx_eventlog *log)
{
    *log = (struct sx_eventlog){ .newest = 0 };
    sx_list_init(&log->held);
    sx_list_init(&log->loose);
    for (size_t i = 0; i < SX_EVENTLOG_BUCKETS; i++) {
        sx_list_init(&log->by_code[i]);
    }
}

void sx_eventlog_remove(struct sx_event_history *history, struct sx_event_entry *entry)
{
    struct sx_event_block *block = entry->block;

    entry_drop(history, entry);
    block_let_go(history, block);
}

void sx_eventlog_clear(struct sx_event_history *history, struct sx_eventlog *log)
{
    SX_LIST_EACH(it, &log->held) {
        sx_eventlog_remove(history, entry_of(it));
    }
    SX_LIST_EACH(it, &log->loose) {
        sx_eventlog_remove(history, entry_of(it));
    }
}

static void loose_trim(struct sx_event_history *history, struct sx_eventlog *log)
{
    while (log->loose_count > history->cache_max) {
        sx_eventlog_remove(history, entry_of(log->loose.next));
    }
}

void sx_eventlog_add(struct sx_event_history *history, struct sx_eventlog *log,
                     struct sx_event_block *block, uint64_t number, uint64_t seq)
{
    struct sx_event_entry *entry = malloc(sizeof(*entry));

    if (entry == NULL) {
        return;
    }
    *entry = (struct sx_event_entry){
        .log = log,
        .block = block,
        .number = number,
        .seq = seq,
        .is_held = block->is_job && !log->loose_only,
    };
    block_hold(history, block);
    sx_list_append(&block->entries, &entry->block_link);
    sx_list_append(&log->by_code[bucket_of(sx_event_block_head(block)->code)], &entry->code_link);
    sx_list_append(entry->is_held ? &log->held : &log->loose, &entry->link);
    *(entry->is_held ? &log->held_count : &log->loose_count) += 1;
    history->bytes += sizeof(*entry);
    loose_trim(history, log);
    history_shrink(history);
}

void sx_eventlog_seed(struct sx_event_history *history, struct sx_eventlog *log)
{
    /* Adding may shrink the history from its old end, so each step begins with what is there. */
    for (struct sx_list *it = history->cache.next; it != &history->cache;) {
        struct sx_event_block *block = SX_LIST_ENTRY(it, struct sx_event_block, cache);

        sx_event_block_retain(block);
        sx_eventlog_add(history, log, block, ++log->newest, 0);
        it = sx_list_empty(&block->cache) ? history->cache.next : it->next;
        sx_event_block_release(block);
    }
}

/* Put a LOOSE entry where its number belongs, looking from the new end. */
static void loose_insert(struct sx_eventlog *log, struct sx_event_entry *entry)
{
    struct sx_list *before = log->loose.prev;

    while (before != &log->loose && entry_of(before)->number > entry->number) {
        before = before->prev;
    }
    sx_list_append(before->next, &entry->link);
    log->loose_count++;
}

void sx_eventlog_release(struct sx_event_history *history, struct sx_eventlog *log, uint64_t seq)
{
    while (!sx_list_empty(&log->held)) {
        struct sx_event_entry *entry = entry_of(log->held.next);

        if (entry->seq == 0 || entry->seq > seq) {
            break;
        }
        sx_list_remove(&entry->link);
        log->held_count--;
        entry->is_held = false;
        loose_insert(log, entry);
        loose_trim(history, log);
    }
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Step back from the new end while it is not older than @number; the first number is 1. */
static struct sx_list *list_seek(const struct sx_list *list, uint64_t number)
{
    struct sx_list *it = list->prev;

    if (number <= 1) {
        return list->next;
    }
    while (it != list && entry_of(it)->number >= number) {
        it = it->prev;
    }
    return it->next;
}

void sx_eventlog_seek(struct sx_eventlog_cursor *cursor, const struct sx_eventlog *log,
                      uint64_t number)
{
    *cursor = (struct sx_eventlog_cursor){
        .log = log,
        .held = list_seek(&log->held, number),
        .loose = list_seek(&log->loose, number),
    };
}

struct sx_event_entry *sx_eventlog_next(struct sx_eventlog_cursor *cursor)
{
    struct sx_event_entry *held = cursor->held == &cursor->log->held ? NULL
                                                                     : entry_of(cursor->held);
    struct sx_event_entry *loose = cursor->loose == &cursor->log->loose ? NULL
                                                                        : entry_of(cursor->loose);

    if (held != NULL && (loose == NULL || held->number < loose->number)) {
        cursor->held = cursor->held->next;
        return held;
    }
    if (loose != NULL) {
        cursor->loose = cursor->loose->next;
    }
    return loose;
}

struct sx_event_entry *sx_eventlog_next_of(const struct sx_eventlog *log, pmix_status_t code,
                                           const struct sx_event_entry *entry)
{
    const struct sx_list *const bucket = &log->by_code[bucket_of(code)];
    struct sx_list *it = entry == NULL ? bucket->next : entry->code_link.next;

    for (; it != bucket; it = it->next) {
        struct sx_event_entry *found = SX_LIST_ENTRY(it, struct sx_event_entry, code_link);

        if (sx_event_block_head(found->block)->code == code) {
            return found;
        }
    }
    return NULL;
}
