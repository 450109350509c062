/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_event.c - the readers of <shmix.h>: a cursor in the job's ring, and a copy of one event.
 *
 *     reader: OPEN --PMIx_Finalize--> DEAD (returns PMIX_ERR_INIT) --close--> gone
 *
 * A reader reads the records of all events, so that it sees each number; a missing number is one
 * that the ring has overwritten.  The server is asked for such events, a frame of them at a time;
 * events that it does not have either are reported as lost.  The event behind them is held back in
 * the copy meanwhile.  Memory is bounded: one record per reader, and one frame, or one large event,
 * that the server sent. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/flat_layout.h"
#include "client/event/event.h"
#include "client/link/link.h"
#include "client/link/wait.h"
#include "client/native/native.h"
#include "ring/record.h"

struct shmix_events {
    struct sx_link *link; /* whose ring it reads */
    struct sx_list node;  /* in the list of open readers, under lock; in none when dead */
    atomic_bool dead;     /* PMIx_Finalize was called */
    struct sx_ring_cursor cursor;
    uint64_t expected;          /* the number of the next event */
    bool oldest_kept;           /* nothing was shown yet; older events do not count as lost */
    bool lapped;                /* missing numbers may be unknown until the next event */
    bool held;                  /* the copy has an event that was not shown yet */
    uint32_t classes;           /* classes that can wake it */
    _Atomic uint64_t read_to;   /* position of the end when last found; for behind_locked */
    struct sx_event_batch kept; /* from the server, to be shown first; empty: nothing is */
    uint64_t kept_last;         /* last number that the server was asked for */
    size_t code_count;
    pmix_status_t *codes; /* sorted; behind the struct */
    _Alignas(8) uint8_t record[SX_RING_RECORD_MAX];
};

/* The open readers, under sx_process.lock. */
static struct sx_list readers = SX_LIST_INIT(readers);

/* ---- open and close ------------------------------------------------------------------------- */

static int codes_order(const void *a, const void *b)
{
    const pmix_status_t left = *(const pmix_status_t *)a;
    const pmix_status_t right = *(const pmix_status_t *)b;

    return left < right ? -1 : left > right;
}

static shmix_events_t *reader_new(const pmix_status_t *codes, size_t ncodes)
{
    shmix_events_t *const reader = ncodes > SIZE_MAX / 2 / sizeof(*codes)
                                       ? NULL
                                       : calloc(1, sizeof(*reader) + ncodes * sizeof(*codes));

    if (reader == NULL) {
        return NULL;
    }
    sx_list_init(&reader->node);
    reader->link = sx_primary();
    reader->classes = (ncodes == 0 ? SX_CLASSES_OF_CODES : 0) |
                      1u << SX_CLASS_OF_RANK(reader->link->self.rank);
    reader->code_count = ncodes;
    if (ncodes != 0) {
        reader->codes = (pmix_status_t *)(void *)(reader + 1);
        memcpy(reader->codes, codes, ncodes * sizeof(*codes));
        qsort(reader->codes, ncodes, sizeof(*codes), codes_order);
    }
    for (size_t i = 0; i < ncodes; i++) {
        reader->classes |= 1u << SX_CLASS_OF_CODE(codes[i]);
    }
    return reader;
}

static void reader_seek(shmix_events_t *reader, uint64_t from)
{
    const struct sx_ring *const ring = &reader->link->ring;

    if (from == SHMIX_EVENTS_NOW) {
        sx_ring_seek_now(&reader->cursor, ring);
        /* Start behind the skipped events; events published between these two lines are still
         * read. */
        reader->expected = sx_event_published(reader->link) + 1;
    } else {
        sx_ring_seek_oldest(&reader->cursor, ring);
        reader->expected = from == SHMIX_EVENTS_OLDEST ? 1 : from;
        reader->oldest_kept = from == SHMIX_EVENTS_OLDEST;
        reader->lapped = true;
    }
}

pmix_status_t shmix_events_open(uint64_t from, const pmix_status_t codes[], size_t ncodes,
                                shmix_events_t **ret_events)
{
    struct sx_process *const p = &sx_process;

    if (ret_events == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret_events = NULL;
    if (codes == NULL && ncodes != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    shmix_events_t *const reader = reader_new(codes, ncodes);
    if (reader == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pthread_mutex_lock(&p->lock);
    /* Checked under the lock: sx_native_events_deinit finds this reader or was called before. */
    const pmix_status_t rc = sx_process_ready() ? sx_link_status(reader->link) : PMIX_ERR_INIT;
    if (rc == PMIX_SUCCESS) {
        sx_list_append(&readers, &reader->node);
        sx_wakefd_reader_opened_locked(); /* events from here on wake the program */
        reader_seek(reader, from);
    }
    pthread_mutex_unlock(&p->lock);
    if (rc != PMIX_SUCCESS) {
        free(reader);
        return rc;
    }
    *ret_events = reader;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_events_close(shmix_events_t *events)
{
    if (events == NULL) {
        return PMIX_SUCCESS;
    }
    pthread_mutex_lock(&sx_process.lock);
    sx_list_remove(&events->node);
    pthread_mutex_unlock(&sx_process.lock);
    sx_event_batch_free(&events->kept);
    free(events);
    return PMIX_SUCCESS;
}

static uint32_t classes_locked(void)
{
    uint32_t classes = 0;

    SX_LIST_EACH(it, &readers) {
        classes |= SX_LIST_ENTRY(it, shmix_events_t, node)->classes;
    }
    return classes;
}

static bool behind_locked(void)
{
    SX_LIST_EACH(it, &readers) {
        const shmix_events_t *const reader = SX_LIST_ENTRY(it, shmix_events_t, node);
        const uint64_t tail = atomic_load_explicit(&reader->link->ring.header->tail,
                                                   memory_order_acquire);

        /* relaxed: a reader that reads on meanwhile arms, and calls this, itself. */
        if (atomic_load_explicit(&reader->read_to, memory_order_relaxed) < tail) {
            return true;
        }
    }
    return false;
}

const struct sx_intake sx_native_intake = {
    .poll_classes = classes_locked,
    .poll_waits = behind_locked,
};

void sx_native_events_deinit(void)
{
    struct sx_list *node;

    pthread_mutex_lock(&sx_process.lock);
    while ((node = sx_list_pop(&readers)) != NULL) {
        /* release: a thread that sees it does not read the ring, which is unmapped next. */
        atomic_store_explicit(&SX_LIST_ENTRY(node, shmix_events_t, node)->dead, true,
                              memory_order_release);
    }
    pthread_mutex_unlock(&sx_process.lock);
}

/* ---- processes ------------------------------------------------------------------------------ */

static void proc_write(pmix_proc_t *proc, const char *name, size_t name_len, uint32_t rank)
{
    memset(proc, 0, sizeof(*proc));
    memcpy(proc->nspace, name, name_len);
    proc->rank = rank;
}

static pmix_status_t proc_at(const shmix_event_t *event, size_t index, pmix_proc_t *ret_proc)
{
    struct sx_opened_part rest = { .at = event->procs,
                                   .size = event->procs_size,
                                   .count = (uint32_t)index + 1 };
    struct sx_proc_ref proc;

    while (sx_part_proc_next(&rest, &proc)) {
        if (rest.count == 0) {
            proc_write(ret_proc, proc.name, proc.name_len, proc.rank);
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_UNPACK_FAILURE;
}

pmix_status_t shmix_event_affected(const shmix_event_t *event, size_t index, pmix_proc_t *ret_proc)
{
    if (event == NULL || ret_proc == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    return index < event->affected_count ? proc_at(event, event->target_count + index, ret_proc)
                                         : PMIX_ERR_NOT_FOUND;
}

pmix_status_t shmix_event_target(const shmix_event_t *event, size_t index, pmix_proc_t *ret_proc)
{
    if (event == NULL || ret_proc == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    return index < event->target_count ? proc_at(event, index, ret_proc) : PMIX_ERR_NOT_FOUND;
}

/* ---- infos ---------------------------------------------------------------------------------- */

/* One info inside the record of an array: its members in the order of the type table. */
struct info_element {
    struct sx_cell key;
    uint64_t flags; /* pmix_info_directives_t, padded */
    struct sx_cell value;
};
static_assert(sizeof(struct info_element) == 40, "fixed by the flat format");

/* The array record of the infos, with @size bytes; NULL: no infos. */
static const struct sx_flat_record *infos_record(const void *infos, size_t size, size_t *ret_size)
{
    struct sx_cell cell;
    struct sx_flat_record record;

    if (size < sizeof(cell) + sizeof(record)) {
        return NULL;
    }
    memcpy(&cell, infos, sizeof(cell));
    memcpy(&record, (const uint8_t *)infos + sizeof(cell), sizeof(record));
    if (cell.type != PMIX_DATA_ARRAY || (cell.flags & SX_CELL_NULL) != 0 ||
        cell.len > size - sizeof(cell) || cell.len < sizeof(record) || record.type != PMIX_INFO ||
        record.count > (cell.len - sizeof(record)) / sizeof(struct info_element)) {
        return NULL;
    }
    *ret_size = cell.len;
    return (const void *)((const uint8_t *)infos + sizeof(cell));
}

/* The body of a cell among the elements.  Return: false when it lies outside of the record. */
static bool body_at(const struct sx_flat_record *record, size_t size, const struct sx_cell *cell,
                    const void **ret_body)
{
    *ret_body = record;
    if (cell->len == 0) {
        return true;
    }
    *ret_body = (const uint8_t *)record + cell->bits;
    return cell->bits % SX_FLAT_ALIGN == 0 && sx_range_fits(cell->bits, cell->len, size);
}

/* Return: PMIX_ERR_NOT_FOUND behind the last one. */
static pmix_status_t info_at(const shmix_event_t *event, size_t index, const char **ret_key,
                             struct sx_item *ret_value)
{
    size_t size = 0;
    const struct sx_flat_record *const record = infos_record(event->infos, event->infos_size,
                                                             &size);
    const void *key;

    if (record == NULL || index >= record->count) {
        return PMIX_ERR_NOT_FOUND;
    }
    const struct info_element *const element = (const struct info_element *)(record + 1) + index;

    ret_value->cell = element->value;
    if (!body_at(record, size, &element->key, &key) || element->key.len == 0 ||
        ((const char *)key)[element->key.len - 1] != '\0' ||
        !body_at(record, size, &element->value, &ret_value->body)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret_key = key;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_event_info(const shmix_event_t *event, size_t index, const char **ret_key,
                               shmix_value_t *ret_value)
{
    struct sx_item item;
    const char *key;

    if (event == NULL || ret_value == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = info_at(event, index, &key, &item);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (ret_key != NULL) {
        *ret_key = key;
    }
    return sx_native_value(&item, ret_value);
}

pmix_status_t shmix_event_find(const shmix_event_t *event, const char *key,
                               shmix_value_t *ret_value)
{
    if (event == NULL || key == NULL || ret_value == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0;; i++) {
        struct sx_item item;
        const char *name;
        const pmix_status_t rc = info_at(event, i, &name, &item);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        if (strcmp(name, key) == 0) {
            return sx_native_value(&item, ret_value);
        }
    }
}

/* ---- one event ------------------------------------------------------------------------------ */

/* Whether an event of a custom range is for this process; *@at and *@left advance past the
 * processes.  Return: false when the bytes contradict themselves. */
static bool procs_judge(const struct sx_event *event, const uint8_t **at, size_t *left,
                        bool *ret_for_us)
{
    const pmix_proc_t *const self = &sx_process.self;
    struct sx_proc_ref proc;

    *ret_for_us = event->range != PMIX_RANGE_CUSTOM;
    for (uint64_t i = 0; i < (uint64_t)event->target_count + event->affected_count; i++) {
        const size_t size = sx_proc_ref_read(*at, *left, &proc);

        if (size == 0) {
            return false;
        }
        *at += size;
        *left -= size;
        if (i < event->target_count && proc.name_len == sx_process.nspace_len &&
            memcmp(proc.name, self->nspace, proc.name_len) == 0 &&
            (proc.rank == self->rank || proc.rank == PMIX_RANK_WILDCARD)) {
            *ret_for_us = true;
        }
    }
    return true;
}

/* View the event in @bytes.  Return: PMIX_ERR_NOT_FOUND when it is not for this process. */
static pmix_status_t event_view(const uint8_t *bytes, size_t size, shmix_event_t *ret)
{
    struct sx_event event;
    size_t left = size - sizeof(event), infos_size = 0;
    const uint8_t *at = bytes + sizeof(event);
    bool for_us;

    memcpy(&event, bytes, sizeof(event));
    const size_t padded = sx_align_up(event.source_len, 8);

    if (event.source_len > PMIX_MAX_NSLEN || padded > left) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    proc_write(&ret->source, (const char *)at, event.source_len, event.source_rank);
    at += padded;
    left -= padded;
    ret->procs = at;
    ret->procs_size = left;
    if (!procs_judge(&event, &at, &left, &for_us) || event.info_size > left) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    ret->procs_size -= left;
    ret->number = event.number;
    ret->code = event.code;
    ret->range = event.range;
    ret->non_default = (event.flags & SX_EVENT_NON_DEFAULT) != 0;
    ret->environment = (event.flags & SX_EVENT_ENVIRONMENT) != 0;
    ret->target_count = event.target_count;
    ret->affected_count = event.affected_count;
    ret->lost_count = 0;
    ret->infos = at;
    ret->infos_size = event.info_size;
    const struct sx_flat_record *const record = infos_record(at, event.info_size, &infos_size);
    ret->info_count = record != NULL ? record->count : 0;
    return for_us ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* ---- the next one --------------------------------------------------------------------------- */

/* Report that @count of the events before @next are lost. */
static pmix_status_t gap_notify(shmix_events_t *reader, uint64_t next, uint64_t count,
                                shmix_event_t *ret_event)
{
    memset(ret_event, 0, sizeof(*ret_event));
    ret_event->code = SHMIX_ERR_EVENTS_LOST;
    ret_event->number = reader->expected;
    ret_event->lost_count = count;
    reader->expected = next;
    return SHMIX_ERR_EVENTS_LOST;
}

static bool code_is_wanted(const shmix_events_t *reader, pmix_status_t code)
{
    return reader->code_count == 0 ||
           bsearch(&code, reader->codes, reader->code_count, sizeof(code), codes_order) != NULL;
}

/* Ask for the events from the expected one to @last.  Return: PMIX_ERR_NOT_FOUND when the first of
 * them have arrived, to be shown next; as sx_event_batch_ask. */
static pmix_status_t kept_ask(shmix_events_t *reader, uint64_t last)
{
    const pmix_status_t rc = sx_event_batch_ask(reader->link, reader->expected, last,
                                                &reader->kept);

    reader->kept_last = last;
    return rc == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : rc;
}

/* The ring does not have the events from the expected one to @last.  Return: PMIX_ERR_NOT_FOUND
 * when some of them have arrived; PMIX_ERR_OUT_OF_RESOURCE (the next call asks again);
 * SHMIX_ERR_EVENTS_LOST: the server does not have them any more. */
static pmix_status_t gap_ask(shmix_events_t *reader, uint64_t last, shmix_event_t *ret_event)
{
    const pmix_status_t rc = kept_ask(reader, last);

    return rc == PMIX_ERR_NOT_FOUND || rc == PMIX_ERR_OUT_OF_RESOURCE
               ? rc
               : gap_notify(reader, last + 1, last + 1 - reader->expected, ret_event);
}

/* The list has no more events, or is invalid. */
static pmix_status_t kept_end(shmix_events_t *reader, bool good, shmix_event_t *ret_event)
{
    const uint64_t next = good ? reader->kept.rest.next : reader->kept_last + 1;
    const uint64_t lost = good ? reader->kept.rest.lost : next - reader->expected;

    sx_event_batch_free(&reader->kept);
    if (lost != 0 && !(good && reader->oldest_kept)) {
        return gap_notify(reader, next, lost, ret_event);
    }
    reader->expected = next;
    return PMIX_ERR_NOT_FOUND;
}

/* Show the next event that the server has sent.  Return: PMIX_ERR_NOT_FOUND when it is not to be
 * shown, or there are no more. */
static pmix_status_t kept_show(shmix_events_t *reader, shmix_event_t *ret_event)
{
    const struct sx_event_list_rest before = reader->kept.rest;
    struct sx_event_listed listed;
    struct sx_event event;
    const pmix_status_t rc = sx_event_list_next(&reader->kept.rest, &listed);

    if (rc != PMIX_SUCCESS || listed.number < reader->expected || listed.number >= before.next) {
        return kept_end(reader, rc == PMIX_ERR_NOT_FOUND, ret_event);
    }
    if (listed.lost != 0 && listed.number > reader->expected && !reader->oldest_kept) {
        reader->kept.rest = before; /* the event itself is shown by the next call */
        return gap_notify(reader, listed.number, listed.lost, ret_event);
    }
    reader->oldest_kept = false;
    reader->expected = listed.number + 1;
    memcpy(&event, listed.bytes, sizeof(event));
    return code_is_wanted(reader, event.code) ? event_view(listed.bytes, listed.size, ret_event)
                                              : PMIX_ERR_NOT_FOUND;
}

/* The ring has only the head of event @number.  Return: as kept_ask.  If memory is out, which it
 * would be the next time, too, the event is lost.  In any case the reader continues behind it. */
static pmix_status_t rest_ask(shmix_events_t *reader, uint64_t number, shmix_event_t *ret_event)
{
    const pmix_status_t rc = kept_ask(reader, number);

    if (rc == PMIX_ERR_OUT_OF_RESOURCE) {
        return gap_notify(reader, number + 1, 1, ret_event);
    }
    reader->expected = rc == PMIX_ERR_NOT_FOUND ? number : number + 1;
    return rc;
}

/* Show the event in the copy.  Return: PMIX_ERR_NOT_FOUND when it is not to be shown, or others are
 * first. */
static pmix_status_t record_show(shmix_events_t *reader, shmix_event_t *ret_event)
{
    const struct sx_record_header *const header = (const void *)reader->record;
    const uint8_t *const bytes = reader->record + sizeof(*header);
    struct sx_event event;

    memcpy(&event, bytes, sizeof(event));
    reader->lapped = false;
    reader->held = event.number > reader->expected;
    if (event.number < reader->expected) {
        return PMIX_ERR_NOT_FOUND; /* before the reader's first number */
    }
    if (reader->held) {
        return gap_ask(reader, event.number - 1, ret_event);
    }
    reader->oldest_kept = false;
    if (code_is_wanted(reader, event.code) && (event.flags & SX_EVENT_ASK) != 0) {
        return rest_ask(reader, event.number, ret_event);
    }
    reader->expected = event.number + 1;
    return code_is_wanted(reader, event.code)
               ? event_view(bytes, header->size_bytes - sizeof(*header), ret_event)
               : PMIX_ERR_NOT_FOUND;
}

/* The ring is read to its end; @newest was counted before.  Missing numbers up to there are not in
 * the ring. */
static pmix_status_t end_reached(shmix_events_t *reader, uint64_t newest, shmix_event_t *ret_event)
{
    if (newest >= reader->expected) {
        return gap_ask(reader, newest, ret_event);
    }
    reader->lapped = false;
    return PMIX_ERR_NOT_FOUND;
}

/* There is no event.  Return: true when the process has only now begun to sleep for poll(2). */
static bool look_again(shmix_events_t *reader)
{
    bool armed;

    if (!sx_wakefd_is_used()) {
        return false;
    }
    /* relaxed: read under lock, by the threads that arm. */
    atomic_store_explicit(&reader->read_to, reader->cursor.position, memory_order_relaxed);
    pthread_mutex_lock(&sx_process.lock);
    armed = sx_wakefd_arm_locked();
    pthread_mutex_unlock(&sx_process.lock);
    if (armed && sx_process.external) {
        sx_pump(); /* a silenced wake-up may have been for PMIx_Progress: then this rings again */
    }
    return armed;
}

pmix_status_t shmix_events_next(shmix_events_t *events, shmix_event_t *ret_event)
{
    const struct sx_record_header *header;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (events == NULL || ret_event == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    /* acquire: pairs with sx_native_events_deinit. */
    if (atomic_load_explicit(&events->dead, memory_order_acquire)) {
        return PMIX_ERR_INIT;
    }
    header = (const void *)events->record;
    while (rc == PMIX_ERR_NOT_FOUND) {
        if (events->kept.bytes != NULL || events->held) {
            rc = events->kept.bytes != NULL ? kept_show(events, ret_event)
                                            : record_show(events, ret_event);
            continue;
        }
        /* Counted before the ring is read: events counted here have been read at its end. */
        const uint64_t newest = events->lapped ? sx_event_published(events->link) : 0;
        uint64_t lost = 0;

        rc = sx_ring_next(&events->cursor, SX_CLASSES_OF_EVENTS, events->record, &lost);
        if (rc == PMIX_SUCCESS) {
            const bool is_event = header->kind == SX_RECORD_EVENT &&
                                  header->size_bytes >= sizeof(*header) + sizeof(struct sx_event);

            rc = is_event ? record_show(events, ret_event) : PMIX_ERR_NOT_FOUND;
        } else if (rc == SX_RING_LOST) {
            /* The next event shows which numbers are missing. */
            events->lapped = true;
            rc = PMIX_ERR_NOT_FOUND;
        } else if (rc == PMIX_ERR_NOT_FOUND && events->lapped) {
            rc = end_reached(events, newest, ret_event);
        } else if (rc == PMIX_ERR_NOT_FOUND && !look_again(events)) {
            return rc;
        }
    }
    return rc;
}

/* ---- sleeping ------------------------------------------------------------------------------- */

struct reader_sleep {
    struct sx_bell_watch watch[SX_RING_CLASS_MAX / 2 + 2];
    const struct sx_door *doors[SX_RING_CLASS_MAX / 2 + 2]; /* NULL: the server's life word */
    size_t count;
};

static void door_watch(struct reader_sleep *sleep, const struct sx_door *door)
{
    sleep->doors[sleep->count] = door;
    sleep->watch[sleep->count++] = sx_door_watch(door);
}

/* Read the words that change with news; the caller polls for news afterwards. */
static void reader_sleep_prepare(struct reader_sleep *sleep, const shmix_events_t *reader)
{
    const struct sx_link *const link = reader->link;

    sleep->count = 0;
    if (sx_link_sleeps_by_any(link)) {
        door_watch(sleep, &link->ring.header->any);
    }
    for (uint32_t i = 1; !sx_link_sleeps_by_any(link) && i < SX_RING_CLASS_MAX; i++) {
        if ((reader->classes >> i & 1) != 0) {
            door_watch(sleep, &link->ring.header->doors[i]);
        }
    }
    door_watch(sleep, &link->slot->bell); /* rung when the server drops us */
    sleep->doors[sleep->count] = NULL;
    sleep->watch[sleep->count++] = (struct sx_bell_watch){
        .word = link->board.life_word,
        .seen = sx_board_life_seen(&link->board),
    };
}

static pmix_status_t reader_sleep_until(const struct reader_sleep *sleep, uint64_t deadline_ns)
{
    const pmix_status_t rc = sx_bell_wait(sleep->watch, sleep->count, SX_BELL_ALL, deadline_ns);

    for (size_t i = 0; i < sleep->count; i++) {
        if (sleep->doors[i] != NULL) {
            sx_door_pass_on(sleep->doors[i], &sleep->watch[i], SX_BELL_ALL);
        }
    }
    return rc;
}

pmix_status_t shmix_events_wait(shmix_events_t *events, uint64_t timeout_ns,
                                shmix_event_t *ret_event)
{
    pmix_status_t rc = shmix_events_next(events, ret_event);
    uint64_t deadline_ns = SX_DEADLINE_NEVER;
    bool over = false;

    if (rc == PMIX_ERR_NOT_FOUND && timeout_ns != SHMIX_FOREVER) {
        deadline_ns = sx_deadline_ns(sx_now_ns(), timeout_ns);
    }
    while (rc == PMIX_ERR_NOT_FOUND) {
        struct reader_sleep sleep;
        bool lives;

        /* Checked before polling, so that messages which the server wrote before its end are still
         * read.  acquire: the same for messages from before it dropped this process. */
        const struct sx_link *const link = events->link;
        const pmix_status_t live = sx_link_status(link);
        lives = sx_board_server_lives(&link->board) &&
                sx_board_slot_lives(link->slot, link->slot_claims);
        reader_sleep_prepare(&sleep, events);
        rc = shmix_events_next(events, ret_event);
        if (rc == PMIX_ERR_NOT_FOUND && live != PMIX_SUCCESS) {
            return live;
        }
        if (rc == PMIX_ERR_NOT_FOUND && over) {
            return PMIX_ERR_TIMEOUT;
        }
        if (rc == PMIX_ERR_NOT_FOUND && lives) {
            over = reader_sleep_until(&sleep, deadline_ns) == PMIX_ERR_TIMEOUT;
        } else if (rc == PMIX_ERR_NOT_FOUND) {
            sx_pump(); /* logs the loss and ends the link for all threads */
        }
    }
    return rc;
}
