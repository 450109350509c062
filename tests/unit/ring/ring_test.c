/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ring_test.c - the ring's promises: order, numbers without holes, exact losses, whole records. */
#include "support.h"

#include <pthread.h>
#include <sys/mman.h>

#include "ring/ring.h"

TestSuite(ring, .timeout = 60);

#define SMALL SX_RING_BYTES_MIN
#define BODY_MAX (SX_RING_RECORD_MAX - sizeof(struct sx_record_header))
#define ALL_CLASSES UINT32_MAX
#define STRESS_RECORDS UINT64_C(300000)
#define STRESS_READERS 3

/* Record @number as the tests publish it: everything follows from the number. */
static uint16_t class_of(uint64_t number)
{
    return (uint16_t)(number * 7 % SX_RING_CLASS_MAX);
}

static pmix_status_t publish_number(struct sx_ring *ring, uint64_t number, uint64_t *ret_seq)
{
    uint8_t body[BODY_MAX];
    const size_t len = test_body_len(number, BODY_MAX);
    const size_t cut = len / 3;
    struct iovec iov[2] = { { body, cut }, { body + cut, len - cut } };

    test_body_fill(number, body, len);
    return sx_ring_publish(ring, (uint16_t)(number % 100), class_of(number), iov, 2, ret_seq);
}

static bool record_is_number(const void *buf, uint64_t number)
{
    struct sx_record_header record;

    memcpy(&record, buf, sizeof(record));
    return record.seq == number && record.kind == number % 100 &&
           record.class_index == class_of(number) &&
           record.size_bytes == sizeof(record) + test_body_len(number, BODY_MAX) &&
           test_body_whole(number, (const uint8_t *)buf + sizeof(record),
                           record.size_bytes - sizeof(record));
}

static struct sx_ring ring_new(uint64_t data_bytes)
{
    struct sx_ring ring;

    cr_assert_eq(sx_ring_create(&ring, "test", data_bytes, NULL), PMIX_SUCCESS);
    return ring;
}

static void publish_up_to(struct sx_ring *ring, uint64_t last)
{
    for (uint64_t n = atomic_load(&ring->header->seq_last) + 1; n <= last; n++) {
        uint64_t seq = 0;

        cr_assert_eq(publish_number(ring, n, &seq), PMIX_SUCCESS);
        cr_assert_eq(seq, n);
    }
}

Test(ring, create_refuses_impossible_sizes)
{
    static const struct {
        const char *why;
        uint64_t bytes;
        pmix_status_t want;
    } rows[] = {
        { "the default", 0, PMIX_SUCCESS },
        { "the smallest", SMALL, PMIX_SUCCESS },
        { "too small", SMALL / 2, PMIX_ERR_BAD_PARAM },
        { "no power of two", SMALL + 4096, PMIX_ERR_BAD_PARAM },
        { "absurd", UINT64_C(1) << 62, PMIX_ERR_BAD_PARAM },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_ring ring;

        cr_expect_eq(sx_ring_create(&ring, "test", rows[i].bytes, NULL), rows[i].want, "%s",
                     rows[i].why);
        sx_ring_deinit(&ring);
        sx_ring_deinit(&ring);
    }
}

Test(ring, a_record_arrives_as_it_was_published_whatever_its_size)
{
    struct sx_ring ring = ring_new(0);
    struct sx_ring view;
    struct sx_ring_cursor cursor;
    uint8_t body[BODY_MAX], buf[SX_RING_RECORD_MAX];
    uint64_t lost = 0;
    const int fd = test_share(&ring.seg);

    cr_assert_eq(sx_ring_attach(&view, fd), PMIX_SUCCESS);
    sx_ring_seek_now(&cursor, &view);
    cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_ERR_NOT_FOUND);
    for (size_t len = 0; len <= BODY_MAX; len += len < 40 ? 1 : 169) {
        const size_t third = len / 3;
        struct iovec iov[4] = { { body, third },
                                { NULL, 0 },
                                { body + third, third },
                                { body + 2 * third, len - 2 * third } };
        struct sx_record_header record;

        test_body_fill(len, body, len);
        cr_assert_eq(sx_ring_publish(&ring, 7, 3, iov, 4, NULL), PMIX_SUCCESS);
        cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_SUCCESS);
        memcpy(&record, buf, sizeof(record));
        cr_assert_eq(record.size_bytes, sizeof(record) + len);
        cr_assert_eq(record.kind, 7);
        cr_assert_eq(record.class_index, 3);
        cr_assert_arr_eq(buf + sizeof(record), body, len);
        cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_ERR_NOT_FOUND);
    }
    sx_ring_deinit(&view);
    sx_ring_deinit(&ring);
    close(fd);
}

Test(ring, publish_refuses_what_no_reader_could_take)
{
    struct sx_ring ring = ring_new(SMALL);
    uint8_t body[SX_RING_RECORD_MAX] = { 0 };
    struct iovec fits = { body, BODY_MAX }, large = { body, BODY_MAX + 1 };
    struct iovec overflow[2] = { { body, 100 }, { body, SIZE_MAX - 50 } };

    cr_expect_eq(sx_ring_publish(&ring, 1, 0, &large, 1, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_ring_publish(&ring, 1, 0, overflow, 2, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_ring_publish(&ring, 1, 0, &fits, -1, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_ring_publish(&ring, 1, SX_RING_CLASS_MAX, &fits, 1, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_ring_publish(&ring, SX_RING_FILLER, 0, &fits, 1, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(atomic_load(&ring.header->tail), 0);
    cr_expect_eq(atomic_load(&ring.header->seq_last), 0);
    cr_expect_eq(sx_ring_publish(&ring, 1, 0, &fits, 1, NULL), PMIX_SUCCESS);
    sx_ring_deinit(&ring);
}

Test(ring, attach_refuses_data_outside_the_segment)
{
    static const struct {
        const char *why;
        uint64_t data_off, data_bytes;
        pmix_status_t want;
    } rows[] = {
        { "as made", 4096, SMALL, PMIX_SUCCESS },
        { "data inside the header", 448, SMALL, PMIX_ERR_BAD_PARAM },
        { "not on a line", 4097, SMALL, PMIX_ERR_BAD_PARAM },
        { "ends past the segment", 8192, SMALL, PMIX_ERR_BAD_PARAM },
        { "no power of two", 4096, SMALL - 8, PMIX_ERR_BAD_PARAM },
        { "no bytes", 4096, 0, PMIX_ERR_BAD_PARAM },
        { "too few for the margin", 4096, SMALL / 2, PMIX_ERR_BAD_PARAM },
        { "sum overflows", UINT64_MAX - 63, SMALL, PMIX_ERR_BAD_PARAM },
        { "bytes overflow", 4096, UINT64_C(1) << 63, PMIX_ERR_BAD_PARAM },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_ring ring = ring_new(SMALL), view;
        const int fd = test_share(&ring.seg);

        ring.header->data_off = rows[i].data_off;
        ring.header->data_bytes = rows[i].data_bytes;
        cr_expect_eq(sx_ring_attach(&view, fd), rows[i].want, "%s", rows[i].why);
        sx_ring_deinit(&view);
        sx_ring_deinit(&ring);
        close(fd);
    }
}

Test(ring, a_reader_that_keeps_up_sees_every_number_across_many_laps)
{
    struct sx_ring ring = ring_new(SMALL);
    struct sx_ring_cursor cursor;
    uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t lost = 0;

    sx_ring_seek_oldest(&cursor, &ring);
    for (uint64_t n = 1; n <= 50000; n++) {
        publish_up_to(&ring, n);
        cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_SUCCESS);
        cr_assert(record_is_number(buf, n), "record %llu", (unsigned long long)n);
    }
    cr_assert_gt(atomic_load(&ring.header->tail), 100 * (uint64_t)SMALL);
    sx_ring_deinit(&ring);
}

Test(ring, classes_are_counted_and_others_are_passed_over)
{
    struct sx_ring ring = ring_new(0);
    struct sx_ring_cursor cursor;
    uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t want[SX_RING_CLASS_MAX] = { 0 }, got = 0, lost = 0;
    const uint32_t bits = 1u << 5 | 1u << 31;
    struct sx_record_header record;

    sx_ring_seek_oldest(&cursor, &ring);
    publish_up_to(&ring, 1000);
    for (uint64_t n = 1; n <= 1000; n++) {
        want[class_of(n)]++;
    }
    for (unsigned c = 0; c < SX_RING_CLASS_MAX; c++) {
        cr_expect_eq(atomic_load(&ring.header->class_count[c]), want[c]);
    }
    while (sx_ring_next(&cursor, bits, buf, &lost) == PMIX_SUCCESS) {
        memcpy(&record, buf, sizeof(record));
        cr_assert(bits >> record.class_index & 1u);
        cr_assert(record_is_number(buf, record.seq));
        got++;
    }
    cr_expect_eq(got, want[5] + want[31]);
    cr_expect_eq(cursor.seq_next, 1001);
    sx_ring_deinit(&ring);
}

Test(ring, a_lapped_reader_learns_the_exact_loss_and_goes_on_at_the_oldest)
{
    struct sx_ring ring = ring_new(SMALL);
    struct sx_ring_cursor cursor, oldest;
    uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t expect = 1, lost, losses = 0, state = TEST_SEED;

    sx_ring_seek_now(&cursor, &ring);
    for (unsigned round = 0; round < 3000; round++) {
        publish_up_to(&ring, expect + test_random(&state) % 300);
        for (;;) {
            const pmix_status_t rc = sx_ring_next(&cursor, ALL_CLASSES, buf, &lost);

            if (rc == PMIX_ERR_NOT_FOUND) {
                break;
            }
            if (rc == SX_RING_LOST) {
                sx_ring_seek_oldest(&oldest, &ring);
                cr_assert_gt(lost, 0);
                cr_assert_eq(cursor.seq_next, expect + lost);
                cr_assert_eq(cursor.position, oldest.position);
                cr_assert_eq(cursor.seq_next, oldest.seq_next);
                /* At most the margin and its rounding to whole records are given up. */
                cr_assert_leq(SMALL - (atomic_load(&ring.header->tail) - cursor.position),
                              4 * SX_RING_RECORD_MAX);
                expect += lost;
                losses++;
                continue;
            }
            cr_assert_eq(rc, PMIX_SUCCESS);
            cr_assert(record_is_number(buf, expect), "record %llu", (unsigned long long)expect);
            expect++;
        }
        cr_assert_eq(expect, atomic_load(&ring.header->seq_last) + 1);
    }
    cr_assert_gt(losses, 100);
    sx_ring_deinit(&ring);
}

Test(ring, the_last_record_can_always_be_read_and_most_of_the_history_too)
{
    struct sx_ring ring = ring_new(2 * SMALL);
    struct sx_ring_cursor cursor;
    uint8_t body[BODY_MAX] = { 0 }, buf[SX_RING_RECORD_MAX];
    uint64_t lost = 0, state = TEST_SEED;

    for (uint64_t n = 1; n <= 20000; n++) {
        const size_t len = test_random(&state) % 4 == 0 ? test_random(&state) % (BODY_MAX + 1)
                                                        : BODY_MAX;
        struct iovec iov = { body, len };
        struct sx_record_header record;

        cr_assert_eq(sx_ring_publish(&ring, 1, 1, &iov, 1, NULL), PMIX_SUCCESS);
        sx_ring_seek_oldest(&cursor, &ring);
        cr_assert_leq(cursor.seq_next, n);
        cr_assert(n < 8 || cursor.seq_next <= n - 3);
        do {
            cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_SUCCESS);
            memcpy(&record, buf, sizeof(record));
        } while (record.seq < n);
        cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_ERR_NOT_FOUND);
    }
    sx_ring_deinit(&ring);
}

Test(ring, seek_now_stands_behind_the_last_record)
{
    struct sx_ring ring = ring_new(SMALL);
    struct sx_ring_cursor cursor;
    uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t lost = 0;

    for (uint64_t n = 0; n < 2000; n++) {
        publish_up_to(&ring, n);
        sx_ring_seek_now(&cursor, &ring);
        cr_assert_eq(cursor.seq_next, n + 1);
        cr_assert_eq(cursor.position, atomic_load(&ring.header->tail));
        cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_ERR_NOT_FOUND);
    }
    sx_ring_deinit(&ring);
}

Test(ring, garbage_is_refused_without_a_crash_or_an_endless_loop)
{
    struct sx_ring ring = ring_new(SMALL);
    uint8_t *const buf = malloc(SX_RING_RECORD_MAX);
    uint64_t state = TEST_SEED, lost = 0, refused = 0;

    setenv("SHMIX_LOG", "none", 1);
    cr_assert_not_null(buf);
    /* Whoever reads behind the ring is to notice, unless there is something already. */
    (void)mmap(ring.data + SMALL, 4096, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    for (unsigned round = 0; round < 5000; round++) {
        struct sx_ring_cursor cursor = { .ring = &ring };
        unsigned steps = 0;

        for (uint64_t at = 0; at < SMALL; at += 8) {
            const uint64_t word = test_random(&state);

            memcpy(ring.data + at, &word, 8);
        }
        /* Plausible sizes in places, so that readers get past the first record. */
        for (uint64_t at = 0; round % 2 == 0 && at < SMALL;) {
            const uint32_t size = 24 + (uint32_t)(test_random(&state) % 300);
            const uint16_t class_index = (uint16_t)(test_random(&state) % 40);

            memcpy(ring.data + at, &size, sizeof(size));
            if (at + 8 <= SMALL) {
                memcpy(ring.data + at + 6, &class_index, sizeof(class_index));
            }
            at += sx_align_up(size, 8);
        }
        atomic_store(&ring.header->tail, test_random(&state) % (2 * SMALL));
        atomic_store(&ring.header->oldest, test_random(&state) % SMALL / 8 * 8 / (1 + round % 9));
        atomic_store(&ring.header->last, test_random(&state));
        cursor.position = test_random(&state) % SMALL / (1 + round % 5) / 8 * 8;
        while (sx_ring_next(&cursor, 0x0f0f0f0f, buf, &lost) == PMIX_SUCCESS ||
               (round % 3 == 0 && cursor.position < atomic_load(&ring.header->tail))) {
            cr_assert_lt(++steps, SMALL, "does not end");
            cursor.position += 8;
        }
        refused += sx_ring_next(&cursor, 0x0f0f0f0f, buf, &lost) == PMIX_ERR_UNPACK_FAILURE;
        for (uint64_t left = 1; left <= 24; left++) {
            atomic_store(&ring.header->last, SMALL - left);
            atomic_store(&ring.header->oldest, SMALL - left);
            sx_ring_seek_now(&cursor, &ring);
            sx_ring_seek_oldest(&cursor, &ring);
            cr_assert_eq(cursor.position % 8, 0);
        }
        atomic_store(&ring.header->last, 0);
        sx_ring_seek_now(&cursor, &ring);
    }
    cr_assert_gt(refused, 100);
    free(buf);
    sx_ring_deinit(&ring);
}

/* ---- one writer flat out, readers that verify --------------------------------------------- */

struct tally {
    uint64_t taken, lost, laps;
    bool whole;
};

/* Read until @count records are accounted for. */
static struct tally read_all(const struct sx_ring *ring, uint64_t count)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS);
    struct tally tally = { .whole = true };
    struct sx_ring_cursor cursor = { .ring = ring, .seq_next = 1 };
    uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t lost;

    while (tally.taken + tally.lost < count && tally.whole) {
        const pmix_status_t rc = sx_ring_next(&cursor, ALL_CLASSES, buf, &lost);

        if (rc == PMIX_SUCCESS) {
            tally.whole = record_is_number(buf, tally.taken + tally.lost + 1);
            tally.taken++;
        } else if (rc == SX_RING_LOST) {
            tally.lost += lost;
            tally.laps++;
            tally.whole = lost > 0;
        } else {
            tally.whole = rc == PMIX_ERR_NOT_FOUND && sx_now_ns() < deadline_ns;
            sched_yield();
        }
    }
    return tally;
}

static void *reader_thread(void *arg)
{
    struct tally *const tally = malloc(sizeof(*tally));

    *tally = read_all(arg, STRESS_RECORDS);
    return tally;
}

Test(ring, threads_verify_a_writer_that_is_flat_out, .timeout = 240)
{
    struct sx_ring ring = ring_new(SMALL * 2);
    pthread_t threads[STRESS_READERS];

    /* The readers use the writer's own mapping, so that a race detector sees both sides. */
    for (unsigned i = 0; i < STRESS_READERS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, reader_thread, &ring), 0);
    }
    publish_up_to(&ring, STRESS_RECORDS);
    for (unsigned i = 0; i < STRESS_READERS; i++) {
        void *result;
        struct tally *tally;

        cr_assert_eq(pthread_join(threads[i], &result), 0);
        tally = result;
        cr_expect(tally->whole);
        cr_expect_eq(tally->taken + tally->lost, STRESS_RECORDS);
        cr_log_info("reader %u: %llu taken, %llu lost in %llu laps", i,
                    (unsigned long long)tally->taken, (unsigned long long)tally->lost,
                    (unsigned long long)tally->laps);
        free(tally);
    }
    sx_ring_deinit(&ring);
}

static void seeker_loop(const struct sx_ring *ring, bool now)
{
    struct sx_ring_cursor cursor;
    uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t before = 0, lost;

    while (before < STRESS_RECORDS) {
        pmix_status_t rc;

        if (now) {
            sx_ring_seek_now(&cursor, ring);
        } else {
            sx_ring_seek_oldest(&cursor, ring);
        }
        if (cursor.seq_next < before) {
            abort(); /* time went backwards */
        }
        before = cursor.seq_next;
        rc = sx_ring_next(&cursor, ALL_CLASSES, buf, &lost);
        if (rc == PMIX_SUCCESS && !record_is_number(buf, before)) {
            abort();
        }
        if (rc == PMIX_SUCCESS && before == STRESS_RECORDS) {
            return;
        }
        if (rc == PMIX_ERR_NOT_FOUND) {
            sched_yield();
        }
        if (!now && atomic_load(&ring->header->seq_last) == STRESS_RECORDS) {
            return;
        }
    }
}

static void *seek_now_thread(void *arg)
{
    seeker_loop(arg, true);
    return NULL;
}

static void *seek_oldest_thread(void *arg)
{
    seeker_loop(arg, false);
    return NULL;
}

Test(ring, seeking_beside_a_writer_yields_a_place_and_its_number, .timeout = 240)
{
    struct sx_ring ring = ring_new(SMALL);
    pthread_t threads[2];

    cr_assert_eq(pthread_create(&threads[0], NULL, seek_now_thread, &ring), 0);
    cr_assert_eq(pthread_create(&threads[1], NULL, seek_oldest_thread, &ring), 0);
    publish_up_to(&ring, STRESS_RECORDS);
    cr_assert_eq(pthread_join(threads[0], NULL), 0);
    cr_assert_eq(pthread_join(threads[1], NULL), 0);
    sx_ring_deinit(&ring);
}

Test(ring, processes_verify_a_writer_that_is_flat_out, .timeout = 240)
{
    struct sx_ring ring = ring_new(SMALL * 4);
    const int fd = test_share(&ring.seg);
    pid_t readers[STRESS_READERS];

    for (unsigned i = 0; i < STRESS_READERS; i++) {
        readers[i] = fork();
        if (readers[i] == 0) {
            struct sx_ring view;
            struct tally tally;

            TEST_CHILD_NEEDS(sx_ring_attach(&view, fd) == PMIX_SUCCESS);
            tally = read_all(&view, STRESS_RECORDS);
            TEST_CHILD_NEEDS(tally.whole);
            TEST_CHILD_NEEDS(tally.taken + tally.lost == STRESS_RECORDS);
            _exit(0);
        }
        cr_assert_gt(readers[i], 0);
    }
    publish_up_to(&ring, STRESS_RECORDS);
    for (unsigned i = 0; i < STRESS_READERS; i++) {
        cr_expect_eq(test_wait(readers[i]), 0);
    }
    sx_ring_deinit(&ring);
    close(fd);
}

static void writer_for_ever(int sock)
{
    struct sx_ring ring;

    TEST_CHILD_NEEDS(sx_ring_create(&ring, "killed", SMALL, NULL) == PMIX_SUCCESS);
    TEST_CHILD_NEEDS(descriptors_send(sock, "", 1, test_share(&ring.seg), 1) == 1);
    for (uint64_t n = 1;; n++) {
        TEST_CHILD_NEEDS(publish_number(&ring, n, NULL) == PMIX_SUCCESS);
    }
}

Test(ring, a_killed_writer_leaves_whole_records, .timeout = 240)
{
    uint64_t state = TEST_SEED;

    for (unsigned round = 0; round < 100; round++) {
        const uint64_t kill_after = test_random(&state) % 3000;
        const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS);
        struct sx_ring view;
        struct sx_ring_cursor cursor;
        uint8_t buf[SX_RING_RECORD_MAX];
        uint64_t expect, lost, begin;
        bool killed = false;
        int socks[2], fd;
        pid_t pid;

        cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
        pid = fork();
        if (pid == 0) {
            writer_for_ever(socks[1]);
        }
        cr_assert_gt(pid, 0);
        fd = descriptor_receive(socks[0], 0);
        cr_assert_eq(sx_ring_attach(&view, fd), PMIX_SUCCESS);
        sx_ring_seek_oldest(&cursor, &view);
        begin = expect = cursor.seq_next;
        for (;;) {
            const pmix_status_t rc = sx_ring_next(&cursor, ALL_CLASSES, buf, &lost);

            if (rc == PMIX_SUCCESS) {
                cr_assert(record_is_number(buf, expect));
                expect++;
            } else if (rc == SX_RING_LOST) {
                expect += lost;
            } else {
                cr_assert_eq(rc, PMIX_ERR_NOT_FOUND);
                if (killed) {
                    break;
                }
            }
            cr_assert_lt(sx_now_ns(), deadline_ns);
            if (!killed && expect - begin >= kill_after) {
                cr_assert_eq(kill(pid, SIGKILL), 0);
                cr_assert_eq(test_wait(pid), 128 + SIGKILL);
                killed = true;
            }
        }
        cr_assert_eq(cursor.position, atomic_load(&view.header->tail));
        sx_ring_seek_oldest(&cursor, &view);
        while (cursor.seq_next < expect) {
            const uint64_t number = cursor.seq_next;

            cr_assert_eq(sx_ring_next(&cursor, ALL_CLASSES, buf, &lost), PMIX_SUCCESS);
            cr_assert(record_is_number(buf, number));
        }
        sx_ring_deinit(&view);
        close(fd);
        close(socks[0]);
        close(socks[1]);
    }
}

/* ---- sleepers ------------------------------------------------------------------------------ */

#define SLEEPER_RECORDS 2000

/* Takes all records of its class, asleep whenever there is none. */
static int sleeper(int fd, uint32_t class_index)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS);
    const uint32_t bit = 1u << class_index;
    struct sx_ring view;
    struct sx_ring_cursor cursor;
    uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t got = 0, lost = 0;

    TEST_CHILD_NEEDS(sx_ring_attach(&view, fd) == PMIX_SUCCESS);
    sx_ring_seek_oldest(&cursor, &view);
    for (;;) {
        const struct sx_door *const door = sx_bell_has_waitv() ? &view.header->doors[class_index]
                                                               : &view.header->any;
        const struct sx_bell_watch watch = sx_door_watch(door);
        pmix_status_t rc;

        while ((rc = sx_ring_next(&cursor, bit, buf, &lost)) == PMIX_SUCCESS) {
            got++;
        }
        TEST_CHILD_NEEDS(rc == PMIX_ERR_NOT_FOUND);
        if (got == SLEEPER_RECORDS) {
            return 0;
        }
        TEST_CHILD_NEEDS(sx_bell_wait(&watch, 1, bit, deadline_ns) == PMIX_SUCCESS);
        sx_door_pass_on(door, &watch, bit);
    }
}

static void sleepers_get_all(bool waitv)
{
    struct sx_ring ring = ring_new(0);
    const int fd = test_share(&ring.seg);
    pid_t pids[4];

    setenv("SHMIX_WAITV", waitv ? "1" : "0", 1);
    for (uint32_t i = 0; i < SX_COUNT(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(sleeper(fd, i));
        }
        cr_assert_gt(pids[i], 0);
    }
    for (unsigned n = 0; n < SLEEPER_RECORDS; n++) {
        for (uint16_t class_index = 0; class_index < SX_COUNT(pids); class_index++) {
            cr_assert_eq(sx_ring_publish(&ring, 1, class_index, NULL, 0, NULL), PMIX_SUCCESS);
            if (n % 3 == 0) {
                sx_ring_wake(&ring, 1u << class_index, 1, !waitv);
            }
        }
        if (n % 3 != 0) {
            sx_ring_wake(&ring, (1u << SX_COUNT(pids)) - 1, 1, !waitv);
        }
    }
    for (uint32_t i = 0; i < SX_COUNT(pids); i++) {
        cr_expect_eq(test_wait(pids[i]), 0);
    }
    sx_ring_deinit(&ring);
    close(fd);
}

Test(ring, sleepers_on_their_class_doors_get_every_record, .timeout = 120)
{
    sleepers_get_all(true);
}

Test(ring, sleepers_with_a_bitset_get_every_record, .timeout = 120)
{
    sleepers_get_all(false);
}
