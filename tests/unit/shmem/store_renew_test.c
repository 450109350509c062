/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_renew_test.c - readers go on while a writer updates, renews, starves and is killed. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store_util.h"
#include "support/descriptors.h"

#define TEST_ROWS 6u
#define TEST_EDITIONS 64u
#define TEST_DEADLINE_NS (120 * SX_NS_PER_SEC)

/* ---- threads ------------------------------------------------------------------------------ */

struct test_race {
    struct sx_store_writer writer;
    pthread_mutex_t lock; /* of shared_fd: how a reader gets the next generation */
    int shared_fd;
    struct sx_store editions[TEST_EDITIONS]; /* of a private store, named by newest */
    _Atomic(const struct sx_store *) newest;
    atomic_uint finished; /* readers that have seen enough */
    atomic_bool failed;
    uint64_t deadline_ns;
};

struct test_reader {
    struct test_race *race;
    struct sx_store store;
    uint64_t generations;
    uint64_t last[TEST_ROWS + 1];
};

static bool test_look(struct test_reader *reader, const struct sx_store *store)
{
    struct sx_item item;

    for (uint32_t r = 0; r <= TEST_ROWS; r++) {
        const uint32_t row = r == TEST_ROWS ? SX_ROW_JOB : r;
        const uint64_t n = test_text_at(store, row, "text");
        /* One writer counts up: going back would be a value that was never current. */
        if (n == UINT64_MAX || n < reader->last[r]) {
            return false;
        }
        reader->last[r] = n;
    }
    const pmix_status_t rc = sx_store_find(store, SX_REALM_JOB, 1, "flicker", &item);
    return rc == PMIX_ERR_NOT_FOUND ||
           (rc == PMIX_SUCCESS && test_text_number(&item) != UINT64_MAX);
}

static void test_follow(struct test_reader *reader)
{
    struct test_race *const race = reader->race;
    const uint64_t generation = sx_segment_header(&reader->store.seg)->generation;

    if (sx_store_successor(&reader->store) == 0) {
        return;
    }
    struct sx_store next = SX_STORE_NULL;
    pthread_mutex_lock(&race->lock);
    const pmix_status_t rc = sx_store_attach(&next, race->shared_fd);
    pthread_mutex_unlock(&race->lock);
    if (rc != PMIX_SUCCESS) {
        atomic_store(&race->failed, true);
        return;
    }
    if (sx_segment_header(&next.seg)->generation == generation) {
        sx_store_detach(&next); /* not handed over yet */
        return;
    }
    sx_store_detach(&reader->store);
    reader->store = next;
    reader->generations++;
}

static void *test_reader_run(void *arg)
{
    struct test_reader *const reader = arg;
    struct test_race *const race = reader->race;
    uint64_t looks = 0;

    while (looks < 2000 || reader->generations < 4) {
        struct sx_store view = reader->store;
        if (race->writer.private_memory) {
            view = *atomic_load(&race->newest);
            reader->generations = sx_segment_header(&view.seg)->generation;
        }
        if (!test_look(reader, &view) || sx_now_ns() > race->deadline_ns) {
            atomic_store(&race->failed, true);
            break;
        }
        if (!race->writer.private_memory) {
            test_follow(reader);
        }
        looks++;
    }
    atomic_fetch_add(&race->finished, 1);
    return NULL;
}

static void test_write(struct sx_store_writer *writer, uint64_t n)
{
    const uint32_t r = (uint32_t)(n % (TEST_ROWS + 1));

    cr_assert_eq(test_put_text(writer, r == TEST_ROWS ? SX_ROW_JOB : r, "text", 24 + n % 300, n),
                 PMIX_SUCCESS);
    if (n % 3 == 0) {
        cr_assert_eq(test_put_text(writer, 1, "flicker", 40, n), PMIX_SUCCESS);
        cr_assert_eq(sx_store_unset(writer, SX_REALM_JOB, 1, "flicker"), PMIX_SUCCESS);
    }
}

static void test_race(bool private_memory)
{
    static struct test_race race;
    struct test_reader readers[2] = { { .race = &race, .store = SX_STORE_NULL },
                                      { .race = &race, .store = SX_STORE_NULL } };
    pthread_t threads[SX_COUNT(readers)];
    uint64_t n = 0, generation = 1;

    pthread_mutex_init(&race.lock, NULL);
    race.deadline_ns = sx_now_ns() + TEST_DEADLINE_NS;
    race.shared_fd = -1;
    test_store_create(&race.writer, TEST_ROWS, 128 << 10, private_memory);
    race.editions[0] = race.writer.view;
    atomic_store(&race.newest, &race.editions[0]);
    if (!private_memory) {
        cr_assert_eq(sx_segment_share(&race.writer.view.seg, &race.shared_fd), PMIX_SUCCESS);
    }
    while (n < 20) {
        test_write(&race.writer, n++);
    }
    for (size_t i = 0; i < SX_COUNT(readers); i++) {
        if (!private_memory) {
            test_attach(&readers[i].store, &race.writer);
        }
        cr_assert_eq(pthread_create(&threads[i], NULL, test_reader_run, &readers[i]), 0);
    }
    /* Private generations are all kept, so that store is not renewed without end. */
    while (atomic_load(&race.finished) < SX_COUNT(readers)) {
        if (private_memory && generation == TEST_EDITIONS) {
            sched_yield();
            continue;
        }
        test_write(&race.writer, n++);
        if (race.writer.generation == generation) {
            continue;
        }
        generation = race.writer.generation;
        if (private_memory) {
            race.editions[generation - 1] = race.writer.view;
            atomic_store(&race.newest, &race.editions[generation - 1]);
        } else {
            pthread_mutex_lock(&race.lock);
            close(race.shared_fd);
            cr_assert_eq(sx_segment_share(&race.writer.view.seg, &race.shared_fd), PMIX_SUCCESS);
            pthread_mutex_unlock(&race.lock);
        }
    }
    for (size_t i = 0; i < SX_COUNT(readers); i++) {
        pthread_join(threads[i], NULL);
        sx_store_detach(&readers[i].store);
    }
    cr_expect_not(atomic_load(&race.failed));
    sx_store_destroy(&race.writer);
    close(race.shared_fd);
}

Test(store_renew, readers_of_a_shared_store_see_valid_values_only)
{
    test_race(false);
}

Test(store_renew, readers_of_a_private_store_see_valid_values_only)
{
    test_race(true);
}

/* ---- a writer that is killed --------------------------------------------------------------- */

/* Write for ever; the parent kills. */
static void test_writer_process(int sock)
{
    static struct sx_store_writer writer;
    const struct sx_store_options options = { .nspace = "killed",
                                              .row_count = 3,
                                              .reserve_bytes = 256 << 10 };
    uint64_t generation = 0;

    alarm(120);
    if (sx_store_create(&writer, &options) != PMIX_SUCCESS) {
        _exit(1);
    }
    for (uint64_t n = 0;; n++) {
        char key[16];
        snprintf(key, sizeof(key), "key.%u", (unsigned)(n % 40));
        if (test_put_text(&writer, (uint32_t)(n % 11), key, 24 + n % 200, n) != PMIX_SUCCESS ||
            (n % 5 == 0 &&
             sx_store_unset(&writer, SX_REALM_JOB, (uint32_t)(n % 11), key) != PMIX_SUCCESS)) {
            _exit(2);
        }
        if (writer.generation != generation) {
            int fd;
            if (sx_segment_share(&writer.view.seg, &fd) != PMIX_SUCCESS) {
                _exit(3);
            }
            if (descriptors_send(sock, "", 1, fd, 1) != 1) {
                _exit(1);
            }
            close(fd);
            generation = writer.generation;
        }
    }
}

static bool test_each_valid(void *arg, const char *key, const struct sx_item *item)
{
    uint64_t *const count = arg;

    cr_assert_eq(strncmp(key, "key.", 4), 0);
    cr_assert_neq(test_text_number(item), UINT64_MAX, "a torn value at %s", key);
    (*count)++;
    return true;
}

static uint64_t test_all_valid(const struct sx_store *store)
{
    uint64_t count = 0;

    for (uint32_t row = 0; row < 11; row++) {
        sx_store_each(store, SX_REALM_JOB, row, test_each_valid, &count);
    }
    return count;
}

Test(store_renew, a_killed_writer_leaves_a_valid_store)
{
    srand(7);
    for (unsigned round = 0; round < 25; round++) {
        const uint64_t kill_after = (uint64_t)rand() % 60;
        struct sx_store store;
        int socks[2], fd, status;

        cr_assert_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, socks), 0);
        const pid_t pid = fork();
        cr_assert_geq(pid, 0);
        if (pid == 0) {
            test_writer_process(socks[1]);
        }
        close(socks[1]);
        fd = descriptor_receive(socks[0], 0);
        cr_assert_geq(fd, 0);
        cr_assert_eq(sx_store_attach(&store, fd), PMIX_SUCCESS);
        close(fd);
        for (uint64_t look = 0; look < kill_after; look++) {
            test_all_valid(&store);
            fd = descriptor_receive(socks[0], MSG_DONTWAIT);
            if (fd >= 0) {
                sx_store_detach(&store);
                cr_assert_eq(sx_store_attach(&store, fd), PMIX_SUCCESS);
                close(fd);
            }
        }
        kill(pid, SIGKILL);
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_assert(WIFSIGNALED(status), "the writer ended by itself: %d", status);
        test_all_valid(&store);
        cr_expect_eq(test_all_valid(&store), test_all_valid(&store));
        sx_store_detach(&store);
        close(socks[0]);
    }
}

/* ---- no memory for the next generation ------------------------------------------------------ */

/* Return: 0, or the step that went wrong. */
static int test_starve(void)
{
    struct sx_store_writer writer;
    const struct sx_store_options options = { .nspace = "hungry",
                                              .row_count = 4,
                                              .reserve_bytes = 128 << 10 };
    const struct rlimit limit = { 128 << 10, 128 << 10 };
    char key[32];
    uint64_t stored = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        sx_store_create(&writer, &options) != PMIX_SUCCESS ||
        test_put_number(&writer, SX_REALM_JOB, 1, "number", 1) != PMIX_SUCCESS ||
        test_put_number(&writer, SX_REALM_JOB, 2, "number", 2) != PMIX_SUCCESS) {
        return 1;
    }
    for (; stored < 10000 && rc == PMIX_SUCCESS; stored += rc == PMIX_SUCCESS) {
        snprintf(key, sizeof(key), "key.%" PRIu64, stored);
        rc = test_put_text(&writer, 1, key, 300, stored);
    }
    if (rc != PMIX_ERR_OUT_OF_RESOURCE || stored < 100 || writer.generation != 1) {
        return 2;
    }
    const uint64_t end = writer.heap.next_off, copied = writer.copied_bytes;
    if (test_put_text(&writer, 1, key, 300, 1) != PMIX_ERR_OUT_OF_RESOURCE ||
        test_put_text(&writer, 2, "key.0", 1500, 1) != PMIX_ERR_OUT_OF_RESOURCE ||
        test_put_text(&writer, 77, "key.0", 30, 1) != PMIX_ERR_OUT_OF_RESOURCE ||
        writer.heap.next_off != end || sx_store_successor(&writer.view) != 0) {
        return 3;
    }
    if (writer.copied_bytes - copied != 3 * SX_STORE_TRY_BYTES) { /* nobody looks through it */
        return 7;
    }
    for (uint64_t i = 0; i < stored; i++) {
        snprintf(key, sizeof(key), "key.%" PRIu64, i);
        if (test_text_at(&writer.view, 1, key) != i) {
            return 4;
        }
    }
    /* A value that is replaced, and one that goes, are a reason to look, once each. */
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t before = writer.copied_bytes, half = writer.live_bytes / 2;

        if ((i == 0 && test_put_text(&writer, 1, "key.0", 24, 0) != PMIX_SUCCESS) ||
            (i == 2 && sx_store_unset(&writer, SX_REALM_JOB, 2, "number") != PMIX_SUCCESS) ||
            test_put_text(&writer, 1, "large", 1500, 1) != PMIX_ERR_OUT_OF_RESOURCE ||
            (i % 2 == 0) != (writer.copied_bytes - before >= half)) {
            return 8 + (int)i;
        }
    }
    /* What is withdrawn makes room again: the next generation is smaller. */
    for (uint64_t i = 0; i < stored; i += 2) {
        snprintf(key, sizeof(key), "key.%" PRIu64, i);
        if (sx_store_unset(&writer, SX_REALM_JOB, 1, key) != PMIX_SUCCESS) {
            return 5;
        }
    }
    if (test_put_text(&writer, 1, "fresh", 1500, 3) != PMIX_SUCCESS ||
        test_text_at(&writer.view, 1, "fresh") != 3 || writer.generation < 2) {
        return 6;
    }
    sx_store_destroy(&writer);
    return 0;
}

Test(store_renew, a_store_that_cannot_be_renewed_refuses_and_goes_on)
{
    int status;
    const pid_t pid = fork();

    cr_assert_geq(pid, 0);
    if (pid == 0) {
        alarm(60);
        _exit(test_starve());
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect(WIFEXITED(status));
    cr_expect_eq(WEXITSTATUS(status), 0, "step %d", WEXITSTATUS(status));
}

/* Names are chosen by others, and each has a column: what is left of it counts as garbage, once. */
Test(store_renew, keys_that_come_and_go_leave_nothing)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 };
    struct sx_store_writer writer;
    uint64_t used_max = 0;
    char key[64];

    test_store_create(&writer, 4, 0, false);
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(key, sizeof(key), "a-key-that-is-used-once.%u", i);
        cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, SX_ROW_JOB, key, PMIX_GLOBAL, &value),
                     PMIX_SUCCESS);
        cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, SX_ROW_JOB, key), PMIX_SUCCESS);
        if (writer.heap.next_off > used_max) {
            used_max = writer.heap.next_off;
        }
    }
    cr_expect_lt(used_max, 4 * SX_STORE_GARBAGE_MIN_BYTES, "%" PRIu64 " bytes", used_max);
    for (unsigned i = 0; i < 100000; i++) { /* one and the same: no more than there is */
        cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, 1, "again", PMIX_GLOBAL, &value),
                     PMIX_SUCCESS);
        cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, 1, "again"), PMIX_SUCCESS);
        cr_assert_lt(writer.garbage_bytes, writer.heap.next_off);
    }
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    cr_expect_eq(writer.garbage_bytes, 0);
    cr_expect_lt(writer.heap.next_off, 4096);
    sx_store_destroy(&writer);
}

/* A renewal that gets exactly what it measured must not run out half way: the limit comes down
 * step by step until there is too little.  Return: 0, or the step that went wrong. */
static int test_tight(uint32_t row_count)
{
    struct sx_store_writer writer;
    const struct sx_store_options options = { .nspace = "tight",
                                              .row_count = row_count,
                                              .reserve_bytes = 2 << 20 };
    struct rlimit limit;
    uint64_t renewals = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        sx_store_create(&writer, &options) != PMIX_SUCCESS) {
        return 1;
    }
    srand(row_count);
    for (uint64_t n = 0; n < 3000; n++) {
        char key[32];
        const uint32_t row = n % 7 == 0 ? SX_ROW_JOB : (uint32_t)rand() % row_count;
        snprintf(key, sizeof(key), "key.%.*s%u", rand() % 20, "aaaaaaaaaaaaaaaaaaaaaa",
                 (unsigned)rand() % 30);
        if (test_put_text(&writer, row, key, 24 + (size_t)rand() % 100, n) != PMIX_SUCCESS) {
            return 2;
        }
        if (rand() % 3 == 0 && sx_store_unset(&writer, SX_REALM_JOB, row, key) != PMIX_SUCCESS) {
            return 3;
        }
    }
    const uint64_t step = sx_align_up(writer.view.seg.size_bytes / 64, SX_PAGE_BYTES);
    limit.rlim_cur = writer.view.seg.size_bytes;
    for (; rc == PMIX_SUCCESS && limit.rlim_cur > step; renewals++) {
        limit.rlim_cur -= step;
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
            return 4;
        }
        rc = sx_store_renew(&writer);
    }
    if (rc != PMIX_ERR_OUT_OF_RESOURCE || renewals < 10) {
        return 5;
    }
    uint64_t count = 0;
    for (uint32_t row = 0; row < row_count; row++) {
        sx_store_each(&writer.view, SX_REALM_JOB, row, test_each_valid, &count);
    }
    sx_store_destroy(&writer);
    return count > 100 ? 0 : 6;
}

Test(store_renew, what_was_measured_suffices)
{
    static const uint32_t row_counts[] = { 1, 2, 17, 300, 1000 };

    for (size_t i = 0; i < SX_COUNT(row_counts); i++) {
        int status;
        const pid_t pid = fork();
        cr_assert_geq(pid, 0);
        if (pid == 0) {
            alarm(100);
            _exit(test_tight(row_counts[i]));
        }
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%u rows: status %#x",
                  row_counts[i], (unsigned)status);
    }
}

/* ---- in steps ------------------------------------------------------------------------------- */

#define STEP_KEYS 64u
#define STEP_ROWS 1024u
#define STEP_CELLS (STEP_KEYS * STEP_ROWS)
#define STEP_LEN 1000u
#define STEP_SLACK_BYTES 8192u /* the last cell of a step, and what a put takes beside its value */

/* What the store is to have, by cell; 0: nothing. */
static uint32_t step_has[STEP_CELLS];

static const char *step_key(uint32_t cell)
{
    static char key[16];

    snprintf(key, sizeof(key), "key.%u", cell / STEP_ROWS);
    return key;
}

static void step_put(struct sx_store_writer *writer, uint32_t cell, uint32_t number)
{
    cr_assert_eq(test_put_text(writer, cell % STEP_ROWS, step_key(cell), STEP_LEN, number),
                 PMIX_SUCCESS);
    step_has[cell] = number;
}

static void step_expect_all(const struct sx_store *store)
{
    for (uint32_t cell = 0; cell < STEP_CELLS; cell++) {
        struct sx_item item;
        const pmix_status_t rc = sx_store_find(store, SX_REALM_JOB, cell % STEP_ROWS,
                                               step_key(cell), &item);

        cr_assert_eq(rc, step_has[cell] != 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, "cell %u", cell);
        cr_assert(rc != PMIX_SUCCESS || test_text_number(&item) == step_has[cell], "cell %u", cell);
    }
}

/* One put or unset is no longer than so much of a copy, whatever the store has. */
static void step_judge(const struct sx_store_writer *writer, uint64_t copied_before)
{
    const uint64_t copied = writer->copied_bytes - copied_before;

    cr_assert_leq(copied, SX_STORE_COPY_MIN_BYTES + STEP_SLACK_BYTES, "%" PRIu64 " bytes", copied);
}

/* It grows to 64 MiB, changes and loses values on its way, and is at no time copied as a whole. */
Test(store_renew, a_store_that_grows_is_copied_in_steps)
{
    struct sx_store_writer writer;
    uint64_t generation = 1;

    memset(step_has, 0, sizeof(step_has));
    test_store_create(&writer, STEP_ROWS, 4 << 20, false);
    for (uint32_t cell = 0; cell < STEP_CELLS; cell++) {
        const uint32_t other = (uint32_t)(cell * UINT64_C(2654435761) % (cell + 1));
        const uint64_t before = writer.copied_bytes;

        step_put(&writer, cell, 1 + cell);
        step_judge(&writer, before);
        if (cell % 8 == 3) {
            step_put(&writer, other, STEP_CELLS + cell);
        } else if (cell % 8 == 5 && step_has[other] != 0) {
            cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, other % STEP_ROWS, step_key(other)),
                         PMIX_SUCCESS);
            step_has[other] = 0;
        }
        if (writer.generation != generation) {
            generation = writer.generation;
            step_expect_all(&writer.view);
        }
    }
    cr_expect_geq(writer.generation, 3);
    step_expect_all(&writer.view);
    while (sx_store_renew_step(&writer, 1 << 20)) {
    }
    step_expect_all(&writer.view);
    sx_store_destroy(&writer);
}

Test(store_renew, a_large_store_is_rid_of_its_garbage_in_steps)
{
    struct sx_store_writer writer;
    uint32_t number = 1;
    uint64_t generation;

    memset(step_has, 0, sizeof(step_has));
    test_store_create(&writer, STEP_ROWS, 256 << 20, false);
    for (uint32_t cell = 0; cell < STEP_CELLS / 4; cell++) {
        step_put(&writer, cell, number++);
    }
    generation = writer.generation;
    for (uint32_t cell = 0; writer.generation < generation + 2; cell = (cell + 1) % 1024) {
        const uint64_t before = writer.copied_bytes;

        step_put(&writer, cell, number++);
        step_judge(&writer, before);
        cr_assert_leq(number, STEP_CELLS * 4);
    }
    step_expect_all(&writer.view);
    sx_store_destroy(&writer);
}

#define LARGE_BYTES (UINT64_C(12) << 20)
#define LARGE_COUNT 3u

/* The memory of the newest store and of the next one has grown by no more than some steps. */
static void large_judge(const struct sx_store_writer *writer, uint64_t generation, uint64_t before)
{
    if (writer->generation == generation) {
        cr_expect_leq(writer->view.seg.backed_bytes - before, 4 * SX_STORE_COPY_MAX_BYTES);
    }
}

/* One step.  It copies no more than it may, and takes no more memory than some steps of it. */
static bool long_step(struct sx_store_writer *writer, struct sx_store_long *value,
                      uint64_t *ret_steps)
{
    const uint64_t step = UINT64_C(1) << 18;
    const uint64_t before = writer->copied_bytes, backed = writer->view.seg.backed_bytes;
    const uint64_t generation = writer->generation;
    pmix_status_t rc = PMIX_SUCCESS;
    const bool is_more = sx_store_put_step(writer, value, step, &rc);

    cr_assert_eq(rc, PMIX_SUCCESS);
    cr_expect_leq(writer->copied_bytes - before, step + SX_STORE_COPY_MIN_BYTES);
    if (writer->generation == generation) {
        large_judge(writer, generation, backed);
    }
    cr_assert_lt(++*ret_steps, 100000);
    return is_more;
}

static struct sx_store_long long_value(uint32_t row, const void *bytes)
{
    return (struct sx_store_long){ .row = row,
                                   .key = "long",
                                   .scope = PMIX_GLOBAL,
                                   .cell = { .type = PMIX_BYTE_OBJECT, .len = LARGE_BYTES },
                                   .body = bytes };
}

/* Into a store that has to be made larger for it, and that others fill meanwhile: readers see the
 * old value, then the whole new one. */
Test(store_renew, a_long_value_is_put_in_steps)
{
    static char bytes[LARGE_BYTES];
    struct sx_store_writer writer;
    struct sx_item item;
    uint32_t cell = 0;

    memset(step_has, 0, sizeof(step_has));
    test_store_create(&writer, STEP_ROWS, 0, false);
    for (uint32_t i = 1; i <= 4 * LARGE_COUNT; i++) {
        struct sx_store_long value = long_value(i % LARGE_COUNT, bytes);
        uint64_t steps = 0;

        memset(bytes, (int)i, sizeof(bytes));
        while (long_step(&writer, &value, &steps)) {
            if (i > LARGE_COUNT) {
                cr_assert_eq(sx_store_find(&writer.view, SX_REALM_JOB, i % LARGE_COUNT, "long",
                                           &item),
                             PMIX_SUCCESS);
                cr_assert_eq(((const char *)item.body)[LARGE_BYTES - 1], (char)(i - LARGE_COUNT));
            }
            step_put(&writer, cell % STEP_CELLS, 1 + cell);
            cell++;
        }
        cr_expect_geq(steps, LARGE_BYTES >> 18);
    }
    while (sx_store_renew_step(&writer, 1 << 18)) {
    }
    cr_expect_geq(writer.generation, 2);
    for (uint32_t row = 0; row < LARGE_COUNT; row++) {
        memset(bytes, (int)(row == 0 ? 4 * LARGE_COUNT : 3 * LARGE_COUNT + row), sizeof(bytes));
        cr_assert_eq(sx_store_find(&writer.view, SX_REALM_JOB, row, "long", &item), PMIX_SUCCESS);
        cr_assert_eq(item.cell.len, LARGE_BYTES);
        cr_expect(memcmp(item.body, bytes, LARGE_BYTES) == 0, "row %u", row);
    }
    step_expect_all(&writer.view);
    sx_store_destroy(&writer);
}

/* An equal value is compared in steps, and changes nothing; one that is given up is garbage. */
Test(store_renew, a_long_value_that_is_equal_or_given_up_changes_nothing)
{
    static char bytes[LARGE_BYTES];
    struct sx_store_writer writer;
    struct sx_item item;
    uint64_t steps = 0;

    test_store_create(&writer, STEP_ROWS, 96 << 20, false);
    struct sx_store_long value = long_value(0, bytes);

    while (long_step(&writer, &value, &steps)) {
    }
    const uint64_t used = writer.heap.next_off;

    value = long_value(0, bytes);
    for (steps = 0; long_step(&writer, &value, &steps);) {
    }
    cr_expect_eq(steps, LARGE_BYTES >> 18);
    cr_expect_eq(writer.heap.next_off, used);
    value = long_value(1, bytes);
    for (steps = 0; value.copied == 0;) {
        cr_assert(long_step(&writer, &value, &steps));
    }
    sx_store_long_drop(&writer, &value);
    cr_expect_eq(writer.garbage_bytes, LARGE_BYTES);
    cr_expect_eq(writer.live_bytes, writer.heap.next_off - LARGE_BYTES);
    cr_expect_eq(sx_store_find(&writer.view, SX_REALM_JOB, 1, "long", &item), PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}

/* What the next generation cannot take, a row that its directories have no place for, is the end of
 * that one alone. */
Test(store_renew, a_generation_that_is_given_up_loses_nothing)
{
    struct sx_store_writer writer;
    uint32_t cell = 0;
    uint64_t generation;

    memset(step_has, 0, sizeof(step_has));
    test_store_create(&writer, STEP_ROWS, 0, false);
    while (writer.renewal == NULL) {
        step_put(&writer, cell, 1 + cell);
        cell++;
    }
    generation = writer.generation;
    cr_assert_eq(test_put_text(&writer, STEP_ROWS + 7, step_key(0), STEP_LEN, 7), PMIX_SUCCESS);
    cr_expect_null(writer.renewal);
    cr_expect_eq(writer.generation, generation + 1);
    step_expect_all(&writer.view);
    cr_expect_eq(test_text_at(&writer.view, STEP_ROWS + 7, step_key(0)), 7);
    while (writer.renewal == NULL) {
        step_put(&writer, cell, 1 + cell);
        cell++;
    }
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    cr_expect_null(writer.renewal);
    step_expect_all(&writer.view);
    sx_store_destroy(&writer);
}
