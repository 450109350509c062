/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* model.c - the ring and the doors, every interleaving of them, on a small scale.
 *
 * The sources themselves run here (ring.c, bell.c, words.h), with small constants put in by
 * CMakeLists.txt: records of at most 32 bytes, a ring of 128, a fan-out above 1 sleeper that wakes 2
 * and passes on to 1.  One reader stands for any number: readers store nothing that others read.
 *
 * What has to hold: what is delivered is what was published, whole, in order and once; what is lost
 * is counted exactly, and was about to be overwritten; whoever sleeps is woken for what it has not
 * had yet; a ring that contradicts itself is never met.
 *
 * sleeper.c has more of them.
 *
 * usage: model [ring|bell|sleeper [--must-fail]]  (--must-fail: some scenario has to be violated) */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "sleeper.h"

/* A failed assertion of the code's own is a violation as well. */
#define sx_assert_failed(fact, file, line) model_violated(fact, line)

#include "ring/bell.c"
#include "ring/ring.c"

#define RING_BYTES 128u
#define RECORDS_MAX 12u
static_assert(RING_BYTES >= SX_RING_BYTES_MIN, "room for four maximal records");

static struct {
    struct sx_ring_header header;
    _Alignas(64) uint8_t data[RING_BYTES];
} arena;
static struct sx_segment_header segment_header = { .nspace = "model" };
static struct sx_ring ring;

/* ---- what is published ---------------------------------------------------------------------- */

static uint64_t record_count;
static uint32_t class_count; /* records take turns among these, from class 1 on */
static uint64_t positions[RECORDS_MAX + 2];

static uint32_t size_of_record(uint64_t seq)
{
    return (uint32_t)sizeof(struct sx_record_header) + (seq % 3 != 2 ? SX_WORD_BYTES : 0);
}

static uint16_t class_of_record(uint64_t seq)
{
    return (uint16_t)(1 + seq % class_count);
}

static uint64_t body_of_record(uint64_t seq)
{
    return seq * UINT64_C(0x0101010101);
}

/* Where the records have to lie, worked out anew. */
static void positions_find(void)
{
    uint64_t at = 0;

    for (uint64_t seq = 1; seq <= record_count; seq++) {
        const uint64_t room = RING_BYTES - at % RING_BYTES;

        at += size_of_record(seq) > room ? room : 0;
        positions[seq] = at;
        at += size_of_record(seq);
    }
}

static void ring_begin(uint64_t records, uint32_t classes)
{
    memset(&arena, 0, sizeof(arena));
    arena.header.data_bytes = RING_BYTES;
    ring = (struct sx_ring){
        .seg = SX_SEGMENT_NULL, .header = &arena.header, .data = arena.data, .mask = RING_BYTES - 1
    };
    ring.seg.base = (uint8_t *)&segment_header; /* for messages */
    record_count = records;
    class_count = classes;
    positions_find();
    model_reset();
    model_location(&arena.header.tail, 8, "tail", 0);
    model_location(&arena.header.seq_last, 8, "seq_last", 0);
    model_location(&arena.header.oldest, 8, "oldest", 0);
    model_location(&arena.header.last, 8, "last", 0);
    for (uint32_t i = 1; i <= classes; i++) {
        model_location(&arena.header.class_count[i], 8, "class_count", 0);
    }
    for (uint32_t i = 0; i < RING_BYTES; i += SX_WORD_BYTES) {
        static char names[RING_BYTES / SX_WORD_BYTES][12];
        char *const name = names[i / SX_WORD_BYTES];

        snprintf(name, sizeof(names[0]), "word[%u]", (unsigned)i);
        model_location(arena.data + i, 8, name, 0);
    }
}

static void door_begin(struct sx_door *door)
{
    model_location(&door->turn[0], 4, "turn[0]", 0);
    model_location(&door->turn[1], 4, "turn[1]", 0);
    model_location(&door->pass_on[0], 4, "pass_on[0]", 0);
    model_location(&door->pass_on[1], 4, "pass_on[1]", 0);
}

/* ---- the writer ----------------------------------------------------------------------------- */

struct writer {
    uint64_t seq;
};

static bool writer_wakes, writer_wakes_bitset;
static uint64_t batch; /* records a wake */

static void publish(uint64_t seq)
{
    uint64_t body = body_of_record(seq), got = 0;
    const struct iovec iov = { &body, size_of_record(seq) - sizeof(struct sx_record_header) };

    model_need(sx_ring_publish(&ring, 1, class_of_record(seq), &iov, 1, &got) == PMIX_SUCCESS);
    model_need(got == seq);
}

static bool writer_turn(void *locals)
{
    struct writer *const writer = locals;
    uint32_t bits = 0;

#ifdef MODEL_WAKE_FIRST
    if (writer_wakes) {
        sx_ring_wake(&ring, 1u << class_of_record(writer->seq + 1), 1, writer_wakes_bitset);
        publish(++writer->seq);
        return writer->seq == record_count;
    }
#endif
    for (uint64_t i = 0; i < batch && writer->seq < record_count; i++) {
        publish(++writer->seq);
        bits |= 1u << class_of_record(writer->seq);
    }
    if (writer_wakes) {
        sx_ring_wake(&ring, bits, 1, writer_wakes_bitset);
    }
    return writer->seq == record_count;
}

/* ---- the reader ----------------------------------------------------------------------------- */

enum seek_wish { SEEK_NOT, SEEK_TO_NOW, SEEK_TO_OLDEST };

struct reader {
    struct sx_ring_cursor cursor;
    enum seek_wish seek;
    bool sleeps;
    uint32_t class_bits;
};
static_assert(sizeof(struct reader) <= MODEL_LOCALS_MAX, "locals of a thread");

/* None of the records from @from up to @to was for this reader. */
static bool nothing_of_ours(const struct reader *reader, uint64_t from, uint64_t to)
{
    for (uint64_t seq = from; seq < to; seq++) {
        if ((reader->class_bits >> class_of_record(seq) & 1u) != 0) {
            return false;
        }
    }
    return from <= to;
}

/* The cursor stands where the record of its number begins, or behind the one before. */
static void cursor_judge(const struct sx_ring_cursor *cursor)
{
    const uint64_t seq = cursor->seq_next;

    model_need(seq >= 1 && seq <= record_count + 1);
    model_need((seq <= record_count && cursor->position == positions[seq]) ||
               (seq == 1 && cursor->position == 0) ||
               (seq > 1 && cursor->position == positions[seq - 1] + size_of_record(seq - 1)));
}

static void record_judge(const struct reader *reader, uint64_t expected, const void *buf)
{
    struct sx_record_header record;
    uint64_t body = 0;

    memcpy(&record, buf, sizeof(record));
    model_need(record.seq >= expected && record.seq <= record_count);
    model_need(nothing_of_ours(reader, expected, record.seq));
    model_need(record.size_bytes == size_of_record(record.seq));
    model_need(record.kind == 1);
    model_need(record.class_index == class_of_record(record.seq));
    model_need((reader->class_bits >> record.class_index & 1u) != 0);
    model_need(record.position == positions[record.seq]);
    if (record.size_bytes > sizeof(record)) {
        memcpy(&body, (const uint8_t *)buf + sizeof(record), sizeof(body));
        model_need(body == body_of_record(record.seq));
    }
    model_need(reader->cursor.seq_next == record.seq + 1);
}

static void loss_judge(const struct reader *reader, uint64_t expected, uint64_t lost)
{
    const uint64_t seq = reader->cursor.seq_next;

    model_need(lost > 0 && seq > lost);
    model_need(nothing_of_ours(reader, expected, seq - lost));
    model_need(seq <= record_count && reader->cursor.position == positions[seq]);
    /* Not one of them without need: the writer has given them up. */
    model_need(positions[seq - 1] < model_newest(&arena.header.oldest));
}

static void reader_sleep(const struct reader *reader, const struct sx_bell_watch *watch)
{
    const bool waitv = sx_bell_has_waitv();
    const size_t count = waitv ? class_count : 1;

    model_need(sx_bell_wait(watch, count, waitv ? SX_BELL_ALL : reader->class_bits, UINT64_MAX) ==
               PMIX_SUCCESS);
    for (size_t i = 0; i < count; i++) {
        sx_door_pass_on(waitv ? &arena.header.doors[1 + i] : &arena.header.any, &watch[i],
                        SX_BELL_ALL);
    }
}

static void doors_watch(struct sx_bell_watch *watch)
{
    if (!sx_bell_has_waitv()) {
        watch[0] = sx_door_watch(&arena.header.any);
        return;
    }
    for (uint32_t i = 0; i < class_count; i++) {
        watch[i] = sx_door_watch(&arena.header.doors[1 + i]);
    }
}

static bool reader_turn(void *locals)
{
    struct reader *const reader = locals;
    _Alignas(8) uint8_t buf[SX_RING_RECORD_MAX];
    struct sx_bell_watch watch[SX_RING_CLASS_MAX];
    const uint64_t expected = reader->cursor.seq_next;
    uint64_t lost = 0;

    if (reader->seek != SEEK_NOT) {
        (reader->seek == SEEK_TO_NOW ? sx_ring_seek_now : sx_ring_seek_oldest)(&reader->cursor,
                                                                               &ring);
        cursor_judge(&reader->cursor);
        reader->seek = SEEK_NOT;
        return false;
    }
#ifndef MODEL_WATCH_LATE
    if (reader->sleeps) {
        doors_watch(watch);
    }
#endif
    const pmix_status_t rc = sx_ring_next(&reader->cursor, reader->class_bits, buf, &lost);
#ifdef MODEL_WATCH_LATE
    if (reader->sleeps) {
        doors_watch(watch);
    }
#endif
    if (rc == PMIX_SUCCESS) {
        record_judge(reader, expected, buf);
    } else if (rc == SX_RING_LOST) {
        loss_judge(reader, expected, lost);
    } else {
        model_need(rc == PMIX_ERR_NOT_FOUND);
        model_need(nothing_of_ours(reader, expected, reader->cursor.seq_next));
        if (reader->cursor.seq_next > record_count) {
            return true;
        }
        if (reader->sleeps) {
            reader_sleep(reader, watch);
        }
    }
    return false;
}

static bool read_scenario(const char *name, struct reader reader)
{
    const struct writer writer = { 0 };

    reader.cursor = (struct sx_ring_cursor){ .ring = &ring, .seq_next = 1 };
    return model_explore(&(struct model_options){
        .name = name,
        .thread_count = 2,
        .turn = { writer_turn, reader_turn },
        .locals = { &writer, &reader },
        .locals_size = { sizeof(writer), sizeof(reader) },
    });
}

static bool reading(void)
{
    bool good = true;

    writer_wakes = false;
    batch = 1;
    ring_begin(9, 2); /* twice around */
    good = read_scenario("a reader that is lapped, all classes",
                         (struct reader){ .class_bits = UINT32_MAX }) &&
           good;
    good = good && read_scenario("a reader of one class", (struct reader){ .class_bits = 1u << 2 });
    good = good &&
           read_scenario("a reader that begins with the oldest",
                         (struct reader){ .class_bits = UINT32_MAX, .seek = SEEK_TO_OLDEST });
    good = good && read_scenario("a reader that begins now",
                                 (struct reader){ .class_bits = UINT32_MAX, .seek = SEEK_TO_NOW });
    return good;
}

static bool sleeping(bool waitv, uint64_t records, uint32_t classes, uint64_t records_a_wake,
                     const char *name)
{
    atomic_store_explicit(&waitv_state, waitv ? WAITV_YES : WAITV_NO, memory_order_relaxed);
    ring_begin(records, classes);
    for (uint32_t i = 1; i <= classes; i++) {
        door_begin(&arena.header.doors[i]);
    }
    door_begin(&arena.header.any);
    writer_wakes = true;
    writer_wakes_bitset = !waitv;
    batch = records_a_wake;
    return read_scenario(name, (struct reader){ .class_bits = UINT32_MAX, .sleeps = true });
}

/* ---- a door and its sleepers ------------------------------------------------------------------ */

static struct {
    struct sx_door door;
    _Atomic uint32_t announced;
} lobby;
static uint32_t ring_count;
static unsigned sleeper_count;

struct ringer {
    uint32_t rung;
};

static bool ringer_turn(void *locals)
{
    struct ringer *const ringer = locals;

    atomic_store_explicit(&lobby.announced, ++ringer->rung, memory_order_relaxed);
    sx_door_ring(&lobby.door, SX_BELL_ALL, sleeper_count);
    return ringer->rung == ring_count;
}

struct guest {
    bool may_stop;
};

static bool guest_turn(void *locals)
{
    const struct guest *const guest = locals;
    const struct sx_bell_watch watch = sx_door_watch(&lobby.door);

    if (atomic_load_explicit(&lobby.announced, memory_order_relaxed) == ring_count) {
        return true;
    }
    model_need(sx_bell_wait(&watch, 1, SX_BELL_ALL, UINT64_MAX) == PMIX_SUCCESS);
    if (guest->may_stop) {
        model_may_stop_here();
    }
    sx_door_pass_on(&lobby.door, &watch, SX_BELL_ALL);
    return false;
}

static bool crowd(unsigned guests, uint32_t rings, bool one_may_stop, const char *name)
{
    const struct ringer ringer = { 0 };
    const struct guest guest = { .may_stop = false }, frail = { .may_stop = one_may_stop };
    struct model_options options = { .name = name,
                                     .thread_count = guests + 1,
                                     .turn = { ringer_turn },
                                     .locals = { &ringer },
                                     .locals_size = { sizeof(ringer) } };

    for (unsigned i = 1; i <= guests; i++) {
        options.turn[i] = guest_turn;
        options.locals[i] = i == 1 ? &frail : &guest;
        options.locals_size[i] = sizeof(guest);
    }
    atomic_store_explicit(&waitv_state, WAITV_YES, memory_order_relaxed);
    memset(&lobby, 0, sizeof(lobby));
    ring_count = rings;
    sleeper_count = guests;
    model_reset();
    door_begin(&lobby.door);
    model_location(&lobby.announced, 4, "announced", 0);
    return model_explore(&options);
}

static bool waking(void)
{
    return sleeping(true, 3, 1, 1, "a sleeper on one door") &&
           sleeping(true, 3, 2, 1, "a sleeper on two doors") &&
           sleeping(true, 4, 1, 2, "a sleeper, two records a wake") &&
           sleeping(false, 3, 2, 1, "a sleeper without futex_waitv") &&
           crowd(1, 3, false, "one sleeper, three rings") &&
           crowd(1, 4, false, "one sleeper, four rings") &&
           crowd(3, 2, false, "three sleepers that pass on") &&
           crowd(4, 1, true, "four sleepers, of whom one stops") &&
           crowd(3, 2, true, "three sleepers, two rings, one stops");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*holds)(void);
    } parts[] = { { "ring", reading }, { "bell", waking }, { "sleeper", model_sleeping } };
    const char *const part = argc > 1 ? argv[1] : "";
    const bool must_fail = argc > 2 && strcmp(argv[2], "--must-fail") == 0;
    bool good = true;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        good = good && ((*part != '\0' && strcmp(part, parts[i].name) != 0) || parts[i].holds());
    }
    if (good == must_fail) {
        puts(must_fail ? "a broken step went unnoticed" : "violated");
        return 1;
    }
    return 0;
}
