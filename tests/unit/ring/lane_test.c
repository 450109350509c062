/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lane_test.c - messages in order, room given back, one doorbell a sleep, nothing believed. */
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "../base/bodies.h"
#include "ring/lane.h"
#include "ring/record.h"
#include "support.h"

TestSuite(lane, .timeout = 60);

/* A server's side and its client's, each with its own mapping. */
struct pair {
    struct sx_board board, view;
    struct sx_lane_reader reader;
    struct sx_lane lane;
    uint32_t slot;
    int lane_fd, doorbell;
    uint8_t *buf;
};

static void pair_open(struct pair *p, uint32_t slot_wanted)
{
    int fd;

    cr_assert_eq(sx_board_create(&p->board, "test", NULL), PMIX_SUCCESS);
    do {
        cr_assert_eq(sx_board_slot_claim(&p->board, &p->slot), PMIX_SUCCESS);
    } while (p->slot < slot_wanted);
    fd = test_share(&p->board.seg);
    cr_assert_eq(sx_board_attach(&p->view, fd), PMIX_SUCCESS);
    close(fd);
    cr_assert_eq(sx_lane_create(&p->reader, "test.0", &p->board, p->slot, NULL), PMIX_SUCCESS);
    p->doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->lane_fd = test_share(&p->reader.seg);
    cr_assert_eq(sx_lane_attach(&p->lane, p->lane_fd, &p->view, p->slot, dup(p->doorbell)),
                 PMIX_SUCCESS);
    p->buf = malloc(SX_LANE_MESSAGE_MAX); /* exactly, so that a sanitizer sees one byte more */
    cr_assert_not_null(p->buf);
}

static void pair_close(struct pair *p)
{
    sx_lane_detach(&p->lane);
    sx_lane_detach(&p->lane);
    sx_lane_destroy(&p->reader);
    sx_lane_destroy(&p->reader);
    sx_board_deinit(&p->view);
    sx_board_deinit(&p->board);
    close(p->lane_fd);
    close(p->doorbell);
    free(p->buf);
}

static uint32_t kind_of(uint64_t number)
{
    return (uint32_t)(number * 2654435761u);
}

static pmix_status_t append_number(struct sx_lane *lane, uint64_t number)
{
    static _Thread_local uint8_t body[SX_LANE_MESSAGE_MAX];
    const size_t len = test_body_len(number, SX_LANE_MESSAGE_MAX);
    struct iovec iov[3] = { { body, len / 3 }, { NULL, 0 }, { body + len / 3, len - len / 3 } };

    test_body_fill(number, body, len);
    return sx_lane_append(lane, kind_of(number), iov, 3);
}

static bool message_is_number(uint64_t number, const void *buf, uint32_t kind, uint32_t len)
{
    return kind == kind_of(number) && len == test_body_len(number, SX_LANE_MESSAGE_MAX) &&
           test_body_whole(number, buf, len);
}

static uint64_t doorbell_count(int fd)
{
    uint64_t count = 0;

    return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

Test(lane, a_message_arrives_as_it_was_appended_wherever_it_wraps)
{
    struct pair p;
    uint32_t kind, len;

    pair_open(&p, 0);
    cr_assert_eq(sx_lane_take(&p.reader, p.buf, &kind, &len), PMIX_ERR_NOT_FOUND);
    for (uint64_t n = 0; n < 30000; n++) {
        cr_assert_not(sx_lane_pending(&p.reader));
        cr_assert_eq(append_number(&p.lane, n), PMIX_SUCCESS);
        cr_assert(sx_lane_pending(&p.reader));
        cr_assert_eq(sx_lane_take(&p.reader, p.buf, &kind, &len), PMIX_SUCCESS);
        cr_assert(message_is_number(n, p.buf, kind, len), "message %llu", (unsigned long long)n);
        cr_assert_eq(sx_lane_take(&p.reader, p.buf, &kind, &len), PMIX_ERR_NOT_FOUND);
    }
    cr_assert_gt(p.reader.head, 20 * (uint64_t)SX_LANE_BYTES);
    pair_close(&p);
}

Test(lane, every_stagger_works)
{
    for (uint32_t slot = 0; slot < 66; slot++) {
        struct pair p;
        uint32_t kind, len;

        pair_open(&p, slot);
        cr_assert_eq((uint64_t)((uint8_t *)p.reader.line - p.reader.seg.base),
                     448 + slot % 64 * 64);
        cr_assert_eq(sx_lane_live(&p.lane), PMIX_SUCCESS);
        cr_assert_eq(append_number(&p.lane, slot), PMIX_SUCCESS);
        cr_assert_eq(sx_lane_take(&p.reader, p.buf, &kind, &len), PMIX_SUCCESS);
        cr_assert(message_is_number(slot, p.buf, kind, len));
        pair_close(&p);
    }
}

Test(lane, append_refuses_what_is_longer_than_a_message)
{
    struct pair p;
    static uint8_t body[SX_LANE_MESSAGE_MAX + 1];
    struct iovec fits = { body, SX_LANE_MESSAGE_MAX }, large = { body, sizeof(body) };
    struct iovec overflow[2] = { { body, 9 }, { body, SIZE_MAX - 4 } };
    uint32_t kind, len;

    pair_open(&p, 0);
    cr_expect_eq(sx_lane_append(&p.lane, 1, &large, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_lane_append(&p.lane, 1, overflow, 2), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_lane_append(&p.lane, 1, &fits, -1), PMIX_ERR_BAD_PARAM);
    cr_expect_not(sx_lane_pending(&p.reader));
    cr_expect_eq(sx_lane_append(&p.lane, 1, &fits, 1), PMIX_SUCCESS);
    cr_expect_eq(sx_lane_take(&p.reader, p.buf, &kind, &len), PMIX_SUCCESS);
    cr_expect_eq(len, SX_LANE_MESSAGE_MAX);
    pair_close(&p);
}

Test(lane, attach_refuses_what_is_not_its_lane)
{
    struct pair p;
    struct sx_lane lane;
    struct sx_lane_geometry *geometry, good;
    const int bell = eventfd(0, EFD_CLOEXEC);
    int board_fd;

    pair_open(&p, 3);
    board_fd = test_share(&p.board.seg);
    cr_expect_eq(sx_lane_attach(&lane, p.lane_fd, &p.view, 2, bell), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_lane_attach(&lane, p.lane_fd, &p.view, 3 + 64, bell), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_lane_attach(&lane, p.lane_fd, &p.view, SX_BOARD_SLOT_MAX, bell),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_neq(sx_lane_attach(&lane, board_fd, &p.view, 3, bell), PMIX_SUCCESS);
    geometry = (void *)(p.reader.seg.base + SX_LANE_GEOMETRY_OFF);
    good = *geometry;
    geometry->data_off += 64;
    cr_expect_eq(sx_lane_attach(&lane, p.lane_fd, &p.view, 3, bell), PMIX_ERR_BAD_PARAM);
    *geometry = good;
    geometry->data_bytes *= 2;
    cr_expect_eq(sx_lane_attach(&lane, p.lane_fd, &p.view, 3, bell), PMIX_ERR_BAD_PARAM);
    *geometry = good;
    cr_expect_eq(fcntl(bell, F_GETFD), FD_CLOEXEC, "taken over on success only");
    cr_expect_eq(sx_lane_attach(&lane, p.lane_fd, &p.view, 3, bell), PMIX_SUCCESS);
    sx_lane_detach(&lane);
    cr_expect_eq(fcntl(bell, F_GETFD), -1);
    close(board_fd);
    pair_close(&p);
}

Test(lane, a_full_lane_refuses_and_the_emptied_one_rings_once)
{
    struct pair p;
    uint32_t kind, len;
    uint64_t appended = 0, taken = 0;

    pair_open(&p, 0);
    for (unsigned round = 1; round <= 5; round++) {
        while (append_number(&p.lane, appended) == PMIX_SUCCESS) {
            appended++;
        }
        cr_assert_eq(append_number(&p.lane, appended), PMIX_ERR_WOULD_BLOCK);
        cr_assert_eq(sx_door_epoch(&p.view.slots[0].bell), round - 1);
        while (sx_lane_take(&p.reader, p.buf, &kind, &len) == PMIX_SUCCESS) {
            cr_assert(message_is_number(taken, p.buf, kind, len));
            taken++;
        }
        cr_assert_eq(taken, appended);
        cr_assert_eq(sx_door_epoch(&p.view.slots[0].bell), round, "rung for the room");
        cr_assert_eq(append_number(&p.lane, appended++), PMIX_SUCCESS);
        cr_assert_eq(sx_lane_take(&p.reader, p.buf, &kind, &len), PMIX_SUCCESS);
        taken++;
        cr_assert_eq(sx_door_epoch(&p.view.slots[0].bell), round, "and for nothing else");
    }
    pair_close(&p);
}

Test(lane, the_doorbell_rings_once_a_sleep)
{
    struct pair p;
    uint32_t kind, len;

    pair_open(&p, 0);
    for (unsigned sleep = 1; sleep <= 10; sleep++) {
        for (unsigned i = 0; i < 5; i++) {
            cr_assert_eq(append_number(&p.lane, i), PMIX_SUCCESS);
            sx_lane_doorbell(&p.lane);
        }
        cr_assert_eq(doorbell_count(p.doorbell), 0, "the server is awake");
        sx_board_sleep(&p.board);
        for (unsigned i = 0; i < 5; i++) {
            cr_assert_eq(append_number(&p.lane, i), PMIX_SUCCESS);
            sx_lane_doorbell(&p.lane);
        }
        cr_assert_eq(doorbell_count(p.doorbell), 1);
        sx_board_wake(&p.board);
        while (sx_lane_take(&p.reader, p.buf, &kind, &len) == PMIX_SUCCESS) {
        }
    }
    pair_close(&p);
}

Test(lane, a_doorbell_whose_counter_is_full_does_not_block, .timeout = 60)
{
    struct pair p;
    const uint64_t full = UINT64_MAX - 1;

    pair_open(&p, 0);
    cr_assert_eq(write(p.doorbell, &full, sizeof(full)), (ssize_t)sizeof(full));
    sx_board_sleep(&p.board);
    sx_lane_doorbell(&p.lane);
    cr_expect_eq(doorbell_count(p.doorbell), full);
    pair_close(&p);
}

Test(lane, the_client_learns_that_its_data_is_wanted)
{
    struct pair p;

    pair_open(&p, 0);
    cr_expect_not(sx_lane_data_wanted(&p.lane));
    sx_board_slot_want_data(&p.board, 0, true);
    cr_expect(sx_lane_data_wanted(&p.lane));
    sx_board_slot_want_data(&p.board, 0, false);
    cr_expect_not(sx_lane_data_wanted(&p.lane));
    pair_close(&p);
}

/* Both are in one word. */
Test(lane, the_client_learns_how_many_of_its_values_are_lost)
{
    struct pair p;

    pair_open(&p, 0);
    cr_expect_eq(sx_lane_values_lost(&p.lane), 0);
    sx_board_slot_lose_value(&p.board, 0);
    cr_expect_not(sx_lane_data_wanted(&p.lane));
    sx_board_slot_want_data(&p.board, 0, true);
    sx_board_slot_lose_value(&p.board, 0);
    cr_expect(sx_lane_data_wanted(&p.lane));
    cr_expect_eq(sx_lane_values_lost(&p.lane), 2);
    sx_board_slot_want_data(&p.board, 0, false);
    cr_expect_not(sx_lane_data_wanted(&p.lane));
    cr_expect_eq(sx_lane_values_lost(&p.lane), 2);
    atomic_store(&p.board.slots[0].data_wanted, UINT32_MAX);
    sx_board_slot_lose_value(&p.board, 0);
    cr_expect_eq(atomic_load(&p.board.slots[0].data_wanted), UINT32_MAX, "it stays there");
    pair_close(&p);
}

Test(lane, impossible_words_are_refused)
{
    static const struct {
        const char *why;
        uint64_t head;
        int64_t fill; /* tail - head */
        uint32_t len;
        pmix_status_t want;
    } rows[] = {
        { "a message without body", 0, 8, 0, PMIX_SUCCESS },
        { "a message of one byte", 8, 16, 1, PMIX_SUCCESS },
        { "the largest", 0, 8 + SX_LANE_MESSAGE_MAX, SX_LANE_MESSAGE_MAX, PMIX_SUCCESS },
        { "the largest, wrapped", SX_LANE_BYTES - 8, SX_LANE_BYTES, SX_LANE_MESSAGE_MAX,
          PMIX_SUCCESS },
        { "nothing", 64, 0, 0, PMIX_ERR_NOT_FOUND },
        { "tail below head", 64, -8, 0, PMIX_ERR_BAD_PARAM },
        { "tail far below head", 640, -640, 0, PMIX_ERR_BAD_PARAM },
        { "more than the lane holds", 0, SX_LANE_BYTES + 8, 0, PMIX_ERR_BAD_PARAM },
        { "half the number space", 0, INT64_MIN, 0, PMIX_ERR_BAD_PARAM },
        { "no whole words", 0, 12, 0, PMIX_ERR_BAD_PARAM },
        { "one byte", 0, 1, 0, PMIX_ERR_BAD_PARAM },
        { "longer than a message", 0, SX_LANE_BYTES, SX_LANE_MESSAGE_MAX + 1, PMIX_ERR_BAD_PARAM },
        { "longest length", 0, SX_LANE_BYTES, UINT32_MAX, PMIX_ERR_BAD_PARAM },
        { "past the tail by one byte", 0, 16, 9, PMIX_ERR_BAD_PARAM },
        { "past the tail", 0, 8, 8, PMIX_ERR_BAD_PARAM },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct pair p;
        uint32_t kind = 5, len = 5;

        pair_open(&p, 0);
        p.reader.head = rows[i].head;
        memcpy(p.lane.data + (rows[i].head & (SX_LANE_BYTES - 1)), &rows[i].len, 4);
        atomic_store(&p.lane.line->tail, rows[i].head + (uint64_t)rows[i].fill);
        cr_expect_eq(sx_lane_take(&p.reader, p.buf, &kind, &len), rows[i].want, "%s", rows[i].why);
        if (rows[i].want == PMIX_SUCCESS) {
            cr_expect_eq(len, rows[i].len, "%s", rows[i].why);
        } else {
            cr_expect_eq(p.reader.head, rows[i].head, "%s", rows[i].why);
            cr_expect_eq(len, 5, "%s: written on success only", rows[i].why);
        }
        pair_close(&p);
    }
}

Test(lane, no_bytes_in_a_lane_crash_the_server_or_hold_it_or_lead_it_outside, .timeout = 240)
{
    /* A lane in plain memory of exactly its size, so that a sanitizer sees a read outside. */
    const size_t size = SX_LANE_DATA_OFF + SX_LANE_BYTES;
    uint8_t *const memory = aligned_alloc(SX_CACHELINE_BYTES, size);
    struct sx_board_slot slot = { .state = SX_SLOT_LIVE };
    uint8_t *const buf = malloc(SX_LANE_MESSAGE_MAX);
    uint64_t state = TEST_SEED, taken = 0, refused = 0;

    setenv("SHMIX_LOG", "none", 1);
    cr_assert(memory != NULL && buf != NULL);
    for (unsigned round = 0; round < 10000; round++) {
        struct sx_lane_reader reader = SX_LANE_READER_NULL;
        unsigned messages = 0;
        uint32_t kind, len;
        pmix_status_t rc;

        for (size_t at = 0; at < size; at += 8) {
            const uint64_t word = test_random(&state);

            memcpy(memory + at, &word, 8);
        }
        reader.line = (void *)(memory + SX_LANE_LINE_OFF(round));
        reader.life_word = &reader.line->life_word;
        reader.data = memory + SX_LANE_DATA_OFF;
        reader.slot = &slot;
        reader.head = test_random(&state) / 8 * 8;
        if (round % 2 == 0) { /* plausible: small lengths, a tail in reach */
            for (size_t at = 0; at < SX_LANE_BYTES; at += 8) {
                const uint32_t small = (uint32_t)(test_random(&state) % (1 + round % 300));

                memcpy(memory + SX_LANE_DATA_OFF + at, &small, sizeof(small));
            }
            atomic_store(&reader.line->tail,
                         reader.head + test_random(&state) % (SX_LANE_BYTES + 8) / 8 * 8);
        }
        while ((rc = sx_lane_take(&reader, buf, &kind, &len)) == PMIX_SUCCESS) {
            cr_assert_leq(len, SX_LANE_MESSAGE_MAX);
            cr_assert_leq(++messages, SX_LANE_BYTES / 8, "does not end");
        }
        taken += messages;
        refused += rc == PMIX_ERR_BAD_PARAM;
        cr_assert(rc == PMIX_ERR_BAD_PARAM || rc == PMIX_ERR_NOT_FOUND);
    }
    cr_assert_gt(taken, 10000);
    cr_assert_gt(refused, 4000);
    free(memory);
    free(buf);
}

/* ---- both sides at once -------------------------------------------------------------------- */

#define STRESS_MESSAGES UINT64_C(100000)

/* Append all, asleep on the slot's bell whenever the lane is full. */
static bool produce(struct sx_lane *lane, uint64_t count)
{
    const struct sx_door *const bell = &lane->board->slots[lane->slot].bell;

    for (uint64_t n = 0; n < count;) {
        const struct sx_bell_watch watch = sx_door_watch(bell);
        const pmix_status_t rc = append_number(lane, n);

        sx_lane_doorbell(lane);
        if (rc == PMIX_SUCCESS) {
            n++;
        } else if (rc != PMIX_ERR_WOULD_BLOCK ||
                   sx_bell_wait(&watch, 1, SX_BELL_ALL,
                                sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS)) != PMIX_SUCCESS) {
            return false;
        }
    }
    return true;
}

struct consumed {
    uint64_t taken, sleeps, rings;
    bool right;
};

/* The server's loop: take what is there, announce the sleep, look once more, sleep. */
static struct consumed consume(struct pair *p, uint64_t count)
{
    struct consumed done = { .right = true };
    uint32_t kind, len;

    while (done.taken < count && done.right) {
        struct pollfd wait = { .fd = p->doorbell, .events = POLLIN };

        while (sx_lane_take(&p->reader, p->buf, &kind, &len) == PMIX_SUCCESS) {
            done.right &= message_is_number(done.taken++, p->buf, kind, len);
        }
        sx_board_sleep(&p->board);
        done.sleeps++;
        if (!sx_lane_pending(&p->reader) && done.taken < count) {
            done.right &= poll(&wait, 1, (int)(TEST_PATIENCE_NS / SX_NS_PER_MS)) == 1;
        }
        sx_board_wake(&p->board);
        done.rings += doorbell_count(p->doorbell);
        done.right &= done.rings <= done.sleeps;
    }
    return done;
}

static void *produce_thread(void *arg)
{
    return produce(arg, STRESS_MESSAGES) ? arg : NULL;
}

Test(lane, a_producer_that_sleeps_when_full_and_a_server_that_sleeps_when_empty_meet,
     .timeout = 240)
{
    struct pair p;
    struct consumed done;
    pthread_t thread;
    void *result;

    pair_open(&p, 0);
    /* One mapping and one board for both, so that a race detector sees both sides. */
    p.lane.line = p.reader.line;
    p.lane.data = p.reader.seg.base + SX_LANE_DATA_OFF;
    p.lane.board = &p.board;
    cr_assert_eq(pthread_create(&thread, NULL, produce_thread, &p.lane), 0);
    done = consume(&p, STRESS_MESSAGES);
    cr_expect(done.right);
    cr_expect_eq(done.taken, STRESS_MESSAGES);
    cr_assert_eq(pthread_join(thread, &result), 0);
    cr_expect_not_null(result);
    cr_expect_leq(done.rings, done.sleeps);
    cr_log_info("%llu sleeps, %llu rings", (unsigned long long)done.sleeps,
                (unsigned long long)done.rings);
    pair_close(&p);
}

#define SINGLE_MESSAGES 200000u

static void pause_for(uint32_t turns)
{
    for (uint32_t i = 0; i < turns; i++) {
        __asm__ volatile("" : : : "memory");
    }
}

/* One message at a time, each appended at about the moment the server is going to sleep: both
 * sides vary theirs by a few nanoseconds.  The client spins before it gives up its CPU. */
static void *append_singly(void *arg)
{
    struct sx_lane *const lane = arg;
    const _Atomic uint64_t *const head = &lane->board->slots[lane->slot].lane_head;

    for (uint32_t n = 0; n < SINGLE_MESSAGES; n++) {
        if (sx_lane_append(lane, n, NULL, 0) != PMIX_SUCCESS) {
            return NULL;
        }
        sx_lane_doorbell(lane);
        for (unsigned i = 0; i < 2000; i++) {
            if (atomic_load_explicit(head, memory_order_acquire) == lane->tail_private) {
                break;
            }
        }
        TEST_UNTIL(atomic_load_explicit(head, memory_order_acquire) == lane->tail_private);
    }
    return lane;
}

Test(lane, no_single_message_is_slept_through, .timeout = 240)
{
    struct pair p;
    pthread_t thread;
    void *result;
    uint32_t next = 0, kind, len;
    uint64_t rings = 0, sleeps = 0;

    pair_open(&p, 0);
    cr_assert_eq(pthread_create(&thread, NULL, append_singly, &p.lane), 0);
    while (next < SINGLE_MESSAGES) {
        struct pollfd wait = { .fd = p.doorbell, .events = POLLIN };

        pause_for(next % 499);
        sx_board_sleep(&p.board);
        sleeps++;
        if (!sx_lane_pending(&p.reader)) {
            cr_assert_eq(poll(&wait, 1, (int)(TEST_PATIENCE_NS / 2 / SX_NS_PER_MS)), 1,
                         "message %u was slept through", next);
        }
        sx_board_wake(&p.board);
        rings += doorbell_count(p.doorbell);
        while (sx_lane_take(&p.reader, p.buf, &kind, &len) == PMIX_SUCCESS) {
            cr_assert_eq(kind, next++);
        }
    }
    cr_assert_eq(pthread_join(thread, &result), 0);
    cr_expect_not_null(result);
    cr_expect_leq(rings, sleeps);
    pair_close(&p);
}

static pid_t client_start(struct pair *p, uint64_t count)
{
    const int board_fd = test_share(&p->board.seg);
    const pid_t pid = fork();

    if (pid == 0) {
        struct sx_board view;
        struct sx_lane lane;

        TEST_CHILD_NEEDS(sx_board_attach(&view, board_fd) == PMIX_SUCCESS);
        TEST_CHILD_NEEDS(sx_lane_attach(&lane, p->lane_fd, &view, p->slot, p->doorbell) ==
                         PMIX_SUCCESS);
        TEST_CHILD_NEEDS(sx_lane_live(&lane) == PMIX_SUCCESS);
        TEST_CHILD_NEEDS(produce(&lane, count));
        sx_lane_detach(&lane);
        _exit(0);
    }
    cr_assert_gt(pid, 0);
    close(board_fd);
    return pid;
}

static void processes_meet(bool waitv)
{
    struct pair p;
    struct consumed done;
    pid_t pid;

    setenv("SHMIX_WAITV", waitv ? "1" : "0", 1);
    pair_open(&p, 0);
    pid = client_start(&p, STRESS_MESSAGES);
    done = consume(&p, STRESS_MESSAGES);
    cr_expect(done.right);
    cr_expect_eq(done.taken, STRESS_MESSAGES);
    cr_expect_eq(test_wait(pid), 0);
    cr_expect_not(sx_life_word_lives(atomic_load(p.reader.life_word)), "an orderly end");
    cr_expect_eq(atomic_load(p.reader.life_word) & SX_LIFE_OWNER_DIED, 0);
    pair_close(&p);
}

Test(lane, a_client_process_and_the_server_meet_waitv, .timeout = 240)
{
    processes_meet(true);
}

Test(lane, a_client_process_and_the_server_meet_bitset, .timeout = 240)
{
    processes_meet(false);
}

/* Sleep on the client's life word until it says that the holder is gone. */
static void receive_death(const struct sx_lane_reader *reader)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS);
    uint32_t word;

    while (sx_life_word_lives(word = atomic_load(reader->life_word))) {
        const struct sx_bell_watch watch = { reader->life_word, word };

        cr_assert_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, deadline_ns), PMIX_SUCCESS);
    }
    cr_expect_neq(word & SX_LIFE_OWNER_DIED, 0);
}

Test(lane, a_killed_producer_leaves_whole_messages_and_the_news, .timeout = 240)
{
    uint64_t state = TEST_SEED;

    for (unsigned round = 0; round < 100; round++) {
        const uint64_t kill_after = 1 + test_random(&state) % 2000;
        struct consumed done;
        struct pair p;
        uint32_t kind, len;
        pmix_status_t rc;
        pid_t pid;

        pair_open(&p, round % 64);
        pid = client_start(&p, UINT64_MAX);
        done = consume(&p, kill_after);
        cr_assert(done.right);
        cr_assert_eq(kill(pid, SIGKILL), 0);
        receive_death(&p.reader);
        cr_assert_eq(test_wait(pid), 128 + SIGKILL);
        while ((rc = sx_lane_take(&p.reader, p.buf, &kind, &len)) == PMIX_SUCCESS) {
            cr_assert(message_is_number(done.taken, p.buf, kind, len));
            done.taken++;
        }
        cr_assert_eq(rc, PMIX_ERR_NOT_FOUND);
        pair_close(&p);
    }
}

/* ---- the life word and whose it is --------------------------------------------------------- */

static void *detach_elsewhere(void *arg)
{
    sx_lane_detach(arg);
    return NULL;
}

Test(lane, detach_in_another_thread_leaves_the_word_and_its_memory)
{
    struct pair p;
    pthread_t thread;
    pthread_mutex_t other;
    uint8_t *base;

    pair_open(&p, 0);
    cr_assert_eq(sx_lane_live(&p.lane), PMIX_SUCCESS);
    base = p.lane.seg.base;
    cr_assert_eq(pthread_create(&thread, NULL, detach_elsewhere, &p.lane), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect_null(p.lane.seg.base);
    cr_expect(sx_life_word_lives(atomic_load(p.reader.life_word)));
    /* Another robust mutex of this thread goes through the list that the word is still in. */
    cr_assert_eq(sx_life_init(&other), PMIX_SUCCESS);
    cr_assert_eq(sx_life_hold(&other), PMIX_SUCCESS);
    cr_assert(sx_life_release(&other));
    cr_expect_eq(memcmp(base, p.reader.seg.base, 8), 0, "still mapped");
    pair_close(&p);
}

Test(lane, a_forked_child_neither_holds_nor_ends_the_life_of_its_parent)
{
    struct pair p;
    pid_t pid;

    pair_open(&p, 0);
    cr_assert_eq(sx_lane_live(&p.lane), PMIX_SUCCESS);
    pid = fork();
    if (pid == 0) {
        sx_lane_detach(&p.lane);
        _exit(0);
    }
    cr_assert_gt(pid, 0);
    cr_expect_eq(test_wait(pid), 0);
    cr_expect(sx_life_word_lives(atomic_load(p.reader.life_word)));
    cr_expect_eq(append_number(&p.lane, 1), PMIX_SUCCESS);
    pair_close(&p);
}

/* ---- record ----------------------------------------------------------------------------------
 *
 * Every lane message has its row, and is nothing but what its row says. */

Test(record, every_lane_kind_has_a_row_and_nothing_else_has)
{
    for (uint32_t kind = 0; kind <= UINT16_MAX; kind++) {
        const struct sx_lane_spec *const spec = sx_lane_spec(kind);

        cr_expect_eq(spec != NULL, kind >= SX_LANE_PUT && kind < SX_LANE_SPEC_MAX);
        cr_expect_gt(sx_lane_cost(kind, 0), 0);
        cr_expect(spec == NULL || sx_lane_cost(kind, 4096) >= sx_lane_cost(kind, 0) + 4);
    }
    cr_expect_null(sx_lane_spec(UINT32_MAX));
}

Test(record, every_lane_message_keeps_the_bounds_of_its_signature)
{
    for (uint32_t kind = SX_LANE_PUT; kind < SX_LANE_SPEC_MAX; kind++) {
        body_judge(sx_lane_spec(kind)->name, sx_lane_spec(kind)->body);
    }
}
