/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_log.c - two lists a log, one list of bytes for all of them.
 *
 * The places of a log are an array in the order of numbers, so that each is found by binary search.
 * A place whose entry is removed stays until a quarter of the places are empty; empty places at the
 * front are removed at once. */
#include "server/model/event_log.h"

#include <stdlib.h>

#include "base/status.h"

#define PLACES_MIN 64u
#define TRIMMED_PER_ADD 2u /* entries that nobody needs, for each that comes */

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

/* ---- places -------------------------------------------------------------------------------- */

static size_t kept_count(const struct sx_eventlog *log)
{
    return log->held_count + log->loose_count;
}

/* The first place from @begin on that is not before @number. */
static size_t place_find(const struct sx_eventlog *log, uint64_t number, size_t *visited)
{
    size_t low = log->place_begin, high = log->place_end;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        (*visited)++;
        if (log->places[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Return: false when memory is out. */
static bool places_resize(struct sx_eventlog *log, size_t capacity)
{
    struct sx_eventlog_place *const places = realloc(log->places, capacity * sizeof(*places));

    if (places == NULL) {
        return false;
    }
    log->places = places;
    log->place_capacity = capacity;
    return true;
}

/* The places that are there move to the front of the array. */
static void places_pack(struct sx_eventlog *log)
{
    size_t count = 0;

    for (size_t i = log->place_begin; i < log->place_end; i++) {
        if (log->places[i].entry != NULL) {
            log->places[count++] = log->places[i];
        }
    }
    log->place_begin = 0;
    log->place_end = count;
    if (count < log->place_capacity / 4 && log->place_capacity > PLACES_MIN) {
        (void)places_resize(log, log->place_capacity / 2);
    }
}

/* Return: false when memory is out. */
static bool place_append(struct sx_eventlog *log, struct sx_event_entry *entry)
{
    if (log->place_end == log->place_capacity && log->place_begin > log->place_capacity / 4) {
        places_pack(log);
    } else if (log->place_end == log->place_capacity) {
        if (!places_resize(log, log->place_capacity == 0 ? PLACES_MIN : 2 * log->place_capacity)) {
            return false;
        }
    }
    log->places[log->place_end++] = (struct sx_eventlog_place){ entry->number, entry };
    return true;
}

/* @entry is not counted any more. */
static void place_drop(struct sx_eventlog *log, const struct sx_event_entry *entry)
{
    size_t visited = 0;

    log->places[place_find(log, entry->number, &visited)].entry = NULL;
    while (log->place_begin < log->place_end && log->places[log->place_begin].entry == NULL) {
        log->place_begin++;
    }
    if (log->place_end - log->place_begin > kept_count(log) + kept_count(log) / 4 + PLACES_MIN) {
        places_pack(log);
    }
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

/* Free @block unless a log still refers to it. */
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
    struct sx_eventlog *const log = entry->owner->log;

    sx_list_remove(&entry->link);
    sx_list_remove(&entry->block_link);
    sx_list_remove(&entry->code_link);
    if (log != NULL) {
        *(entry->is_held ? &log->held_count : &log->loose_count) -= 1;
        place_drop(log, entry);
    }
    history->bytes -= SX_EVENTLOG_ENTRY_BYTES;
    free(entry);
}

/* Remove the oldest event, from every log. */
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
    sx_list_init(&history->ended);
}

void sx_event_history_deinit(struct sx_event_history *history)
{
    size_t all = SIZE_MAX;

    (void)sx_event_history_forget(history, &all);
    SX_LIST_EACH(it, &history->cache) {
        sx_event_history_drop(history, SX_LIST_ENTRY(it, struct sx_event_block, cache));
    }
    sx_assert(sx_list_empty(&history->blocks));
}

void sx_event_history_drop(struct sx_event_history *history, struct sx_event_block *block)
{
    cache_drop(history, block);
    block_let_go(history, block);
}

void sx_event_history_keep(struct sx_event_history *history, struct sx_event_block *block)
{
    block_hold(history, block);
    sx_list_append(&history->cache, &block->cache);
    if (++history->cache_count > history->cache_max) {
        sx_event_history_drop(history,
                              SX_LIST_ENTRY(history->cache.next, struct sx_event_block, cache));
    }
    history_shrink(history);
}

/* ---- one log ------------------------------------------------------------------------------- */

void sx_eventlog_init(struct sx_eventlog *log)
{
    *log = (struct sx_eventlog){ .newest = 0, .unread_from = UINT64_MAX };
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

/* The entries stay linked by their codes, without a list. */
void sx_eventlog_end(struct sx_event_history *history, struct sx_eventlog *log)
{
    if (log->owner != NULL) {
        log->owner->log = NULL;
        sx_list_splice(&log->owner->entries, &log->held);
        sx_list_splice(&log->owner->entries, &log->loose);
        sx_list_append(&history->ended, &log->owner->link);
    }
    for (size_t i = 0; i < SX_EVENTLOG_BUCKETS; i++) {
        sx_list_remove(&log->by_code[i]);
    }
    free(log->places);
    sx_eventlog_init(log);
}

bool sx_event_history_forget(struct sx_event_history *history, size_t *left)
{
    while (*left > 0 && !sx_list_empty(&history->ended)) {
        struct sx_eventlog_owner *const owner = SX_LIST_ENTRY(history->ended.next,
                                                              struct sx_eventlog_owner, link);

        (*left)--;
        if (sx_list_empty(&owner->entries)) {
            sx_list_remove(&owner->link);
            free(owner);
        } else {
            sx_eventlog_remove(history, entry_of(owner->entries.next));
        }
    }
    return sx_list_empty(&history->ended);
}

/* Remove up to *@left entries, and count it down.  Return: whether none is left to remove. */
static bool loose_trim(struct sx_event_history *history, struct sx_eventlog *log, size_t *left)
{
    while (log->loose_count > history->cache_max &&
           entry_of(log->loose.next)->seq < log->unread_from) {
        if (*left == 0) {
            return false;
        }
        --*left;
        sx_eventlog_remove(history, entry_of(log->loose.next));
    }
    return true;
}

/* Return: false when memory is out. */
static bool owner_obtain(struct sx_eventlog *log)
{
    if (log->owner == NULL && (log->owner = malloc(sizeof(*log->owner))) != NULL) {
        log->owner->log = log;
        sx_list_init(&log->owner->entries);
    }
    return log->owner != NULL;
}

void sx_eventlog_add(struct sx_event_history *history, struct sx_eventlog *log,
                     struct sx_event_block *block, uint64_t number, uint64_t seq)
{
    struct sx_event_entry *entry = owner_obtain(log) ? malloc(sizeof(*entry)) : NULL;
    size_t left = TRIMMED_PER_ADD;

    if (entry == NULL) {
        return;
    }
    *entry = (struct sx_event_entry){
        .owner = log->owner,
        .block = block,
        .number = number,
        .seq = seq,
        .is_held = block->is_job && !log->loose_only,
    };
    if (!place_append(log, entry)) {
        free(entry);
        return;
    }
    block_hold(history, block);
    sx_list_append(&block->entries, &entry->block_link);
    sx_list_append(&log->by_code[bucket_of(sx_event_block_head(block)->code)], &entry->code_link);
    sx_list_append(entry->is_held ? &log->held : &log->loose, &entry->link);
    *(entry->is_held ? &log->held_count : &log->loose_count) += 1;
    history->bytes += SX_EVENTLOG_ENTRY_BYTES;
    (void)loose_trim(history, log, &left);
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

void sx_eventlog_sift(struct sx_event_history *history, struct sx_eventlog *log,
                      bool (*wanted)(const struct sx_event_block *block, const void *arg),
                      const void *arg)
{
    struct sx_list *const lists[] = { &log->held, &log->loose };

    for (size_t i = 0; i < SX_COUNT(lists); i++) {
        SX_LIST_EACH(it, lists[i]) {
            if (!wanted(entry_of(it)->block, arg)) {
                sx_eventlog_remove(history, entry_of(it));
            }
        }
    }
    places_pack(log);
    log->newest = 0;
    for (size_t i = log->place_begin; i < log->place_end; i++) {
        log->places[i].number = log->places[i].entry->number = ++log->newest;
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

bool sx_eventlog_release(struct sx_event_history *history, struct sx_eventlog *log, uint64_t seq,
                         size_t *left)
{
    while (!sx_list_empty(&log->held)) {
        struct sx_event_entry *entry = entry_of(log->held.next);

        if (entry->seq == 0 || entry->seq > seq) {
            break;
        }
        if (*left == 0) {
            return false;
        }
        --*left;
        sx_list_remove(&entry->link);
        log->held_count--;
        entry->is_held = false;
        loose_insert(log, entry);
        (void)loose_trim(history, log, left);
    }
    return loose_trim(history, log, left);
}

bool sx_eventlog_read(struct sx_event_history *history, struct sx_eventlog *log,
                      uint64_t unread_from, size_t *left)
{
    log->unread_from = unread_from;
    return loose_trim(history, log, left);
}

size_t sx_eventlog_unread(const struct sx_event_history *history, const struct sx_eventlog *log)
{
    return log->loose_count > history->cache_max ? log->loose_count - history->cache_max : 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

void sx_eventlog_seek(struct sx_eventlog_cursor *cursor, const struct sx_eventlog *log,
                      uint64_t number)
{
    *cursor = (struct sx_eventlog_cursor){ .log = log };
    cursor->at = place_find(log, number, &cursor->visited);
}

struct sx_event_entry *sx_eventlog_next(struct sx_eventlog_cursor *cursor)
{
    const struct sx_eventlog *const log = cursor->log;

    while (cursor->at < log->place_end) {
        cursor->visited++;
        if (log->places[cursor->at++].entry != NULL) {
            return log->places[cursor->at - 1].entry;
        }
    }
    return NULL;
}

struct sx_event_entry *sx_eventlog_before(struct sx_eventlog_cursor *cursor)
{
    const struct sx_eventlog *const log = cursor->log;

    while (cursor->at > log->place_begin) {
        cursor->visited++;
        if (log->places[--cursor->at].entry != NULL) {
            return log->places[cursor->at].entry;
        }
    }
    return NULL;
}

struct sx_event_entry *sx_eventlog_before_of(const struct sx_eventlog *log, pmix_status_t code,
                                             const struct sx_event_entry *entry)
{
    const struct sx_list *const bucket = &log->by_code[bucket_of(code)];
    struct sx_list *const it = entry == NULL ? bucket->prev : entry->code_link.prev;

    return it == bucket ? NULL : SX_LIST_ENTRY(it, struct sx_event_entry, code_link);
}

struct sx_event_entry *sx_eventlog_find_of(const struct sx_eventlog *log, pmix_status_t code,
                                           uint64_t number)
{
    size_t visited = 0;
    const size_t at = place_find(log, number, &visited);
    struct sx_event_entry *const entry = at < log->place_end ? log->places[at].entry : NULL;

    return entry != NULL && entry->number == number &&
                   bucket_of(sx_event_block_head(entry->block)->code) == bucket_of(code)
               ? entry
               : NULL;
}
