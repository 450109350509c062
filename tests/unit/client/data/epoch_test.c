/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* epoch_test.c - what readers may stand in is not ended, what they cannot is. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/data/epoch.h"

/* ---- one thing ------------------------------------------------------------------------------ */

static unsigned over_count;

static void test_over(struct sx_retired *retired)
{
    (void)retired;
    over_count++;
}

static struct sx_retired things[8];

static void test_retire(unsigned index)
{
    sx_grace_retire(&things[index], test_over);
    sx_grace_collect();
}

/* A thread that is inside until it is told to leave. */
struct test_guest {
    pthread_t thread;
    sem_t inside, leave;
};

static void *guest_run(void *arg)
{
    struct test_guest *const guest = arg;
    const struct sx_grace grace = sx_grace_enter();

    sem_post(&guest->inside);
    sem_wait(&guest->leave);
    sx_grace_exit(&grace);
    return NULL;
}

static void test_guest_enter(struct test_guest *guest)
{
    sem_init(&guest->inside, 0, 0);
    sem_init(&guest->leave, 0, 0);
    cr_assert_eq(pthread_create(&guest->thread, NULL, guest_run, guest), 0);
    sem_wait(&guest->inside);
}

static void test_guest_leave(struct test_guest *guest)
{
    sem_post(&guest->leave);
    pthread_join(guest->thread, NULL);
}

/* Both ways of making the barrier. */
static void test_init(bool membarrier)
{
    cr_assert_eq(setenv("SHMIX_MEMBARRIER", membarrier ? "1" : "0", 1), 0);
    sx_grace_init();
}

Test(grace, what_nobody_reads_is_over_at_once)
{
    test_init(true);
    test_retire(0);
    cr_expect_eq(over_count, 1);
    const struct sx_grace grace = sx_grace_enter();
    sx_grace_exit(&grace);
    test_retire(1);
    cr_expect_eq(over_count, 2);
}

static void test_reader_holds_what_it_may_stand_in(void)
{
    struct test_guest early, late;

    test_guest_enter(&early);
    test_retire(0);
    cr_expect_eq(over_count, 0);
    test_guest_enter(&late); /* it cannot know of the first thing */
    test_retire(1);
    cr_expect_eq(over_count, 0);
    test_guest_leave(&early);
    sx_grace_collect();
    cr_expect_eq(over_count, 1);
    test_guest_leave(&late);
    sx_grace_collect();
    cr_expect_eq(over_count, 2);
}

Test(grace, a_reader_holds_what_it_may_stand_in)
{
    test_init(true);
    test_reader_holds_what_it_may_stand_in();
}

Test(grace, a_reader_that_makes_the_barrier_does_so_too)
{
    test_init(false);
    test_reader_holds_what_it_may_stand_in();
}

Test(grace, who_enters_twice_is_inside_until_he_has_left_twice)
{
    test_init(true);
    const struct sx_grace outer = sx_grace_enter();
    const struct sx_grace inner = sx_grace_enter();
    test_retire(0);
    sx_grace_exit(&inner);
    sx_grace_collect();
    cr_expect_eq(over_count, 0);
    sx_grace_exit(&outer);
    sx_grace_collect();
    cr_expect_eq(over_count, 1);
}

Test(grace, what_is_cancelled_is_never_over)
{
    test_init(true);
    const struct sx_grace grace = sx_grace_enter();
    for (unsigned i = 0; i < 4; i++) {
        test_retire(i);
    }
    cr_expect(sx_grace_cancel(&things[1]));
    cr_expect(sx_grace_cancel(&things[3]));
    cr_expect_not(sx_grace_cancel(&things[3]));
    cr_expect_not(sx_grace_cancel(&things[5]), "was never retired");
    sx_grace_exit(&grace);
    sx_grace_collect();
    cr_expect_eq(over_count, 2);
    cr_expect_not(sx_grace_cancel(&things[0]));
    sx_grace_collect();
    cr_expect_eq(over_count, 2);
}

Test(grace, at_the_end_everything_is_over)
{
    test_init(true);
    const struct sx_grace grace = sx_grace_enter();
    test_retire(0);
    test_retire(1);
    sx_grace_deinit();
    cr_expect_eq(over_count, 2);
    sx_grace_exit(&grace);
}

Test(grace, a_forked_child_has_no_other_readers)
{
    struct test_guest guest;
    int status;

    test_init(true);
    test_guest_enter(&guest);
    const pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        sx_grace_forked();
        test_retire(0);
        _exit(over_count == 1 ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    test_guest_leave(&guest);
}

/* ---- many threads --------------------------------------------------------------------------- */

static void *reader_run(void *arg)
{
    const struct sx_grace grace = sx_grace_enter();

    (void)arg;
    sx_grace_exit(&grace);
    return NULL;
}

Test(grace, threads_that_come_and_go_take_no_places)
{
    test_init(true);
    for (unsigned i = 0; i < 3 * SX_GRACE_READERS_MAX; i++) {
        pthread_t thread;

        cr_assert_eq(pthread_create(&thread, NULL, reader_run, NULL), 0);
        pthread_join(thread, NULL);
    }
    test_retire(0);
    cr_expect_eq(over_count, 1, "else there were too many");
}

Test(grace, beyond_the_last_place_nothing_is_over)
{
    static struct test_guest guests[SX_GRACE_READERS_MAX + 1];
    pthread_attr_t attr;
    unsigned count = 0;

    test_init(true);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    for (; count < SX_COUNT(guests); count++) {
        sem_init(&guests[count].inside, 0, 0);
        sem_init(&guests[count].leave, 0, 0);
        if (pthread_create(&guests[count].thread, &attr, guest_run, &guests[count]) != 0) {
            break;
        }
        sem_wait(&guests[count].inside);
    }
    const bool crowded = count == SX_COUNT(guests);
    test_retire(0);
    cr_expect_eq(over_count, 0);
    while (count > 0) {
        test_guest_leave(&guests[--count]);
    }
    sx_grace_collect();
    cr_expect_eq(over_count, crowded ? 0 : 1);
    sx_grace_deinit();
    cr_expect_eq(over_count, 1);
}

/* ---- at once
 * ---------------------------------------------------------------------------------- */

enum { READERS = 3, SWITCHES = 20000 };

/* A page that is given back to the kernel: whoever still stands in it is killed. */
struct test_page {
    struct sx_retired retired;
    _Atomic uint64_t *word;
};

static _Atomic(struct test_page *) shown;
static atomic_bool stop;
static atomic_uint reading;

static struct test_page *page_new(uint64_t number)
{
    struct test_page *const page = calloc(1, sizeof(*page));
    void *const at = mmap(NULL, SX_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          -1, 0);

    cr_assert(page != NULL && at != MAP_FAILED);
    page->word = at;
    atomic_init(page->word, number);
    return page;
}

static void page_over(struct sx_retired *retired)
{
    struct test_page *const page = SX_CONTAINER(retired, struct test_page, retired);

    munmap((void *)page->word, SX_PAGE_BYTES);
    free(page);
    over_count++;
}

static void *page_reader(void *arg)
{
    uint64_t last = 0;

    (void)arg;
    atomic_fetch_add(&reading, 1);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        const struct sx_grace grace = sx_grace_enter();
        struct test_page *const page = atomic_load_explicit(&shown, memory_order_acquire);
        uint64_t number = 0;

        for (unsigned i = 0; i < 20; i++) { /* stay a while */
            number = atomic_load_explicit(page->word, memory_order_relaxed);
        }
        sx_grace_exit(&grace);
        cr_assert_geq(number, last);
        last = number;
    }
    return NULL;
}

static void test_switches(void)
{
    pthread_t threads[READERS];

    atomic_store(&shown, page_new(0));
    for (unsigned i = 0; i < READERS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, page_reader, NULL), 0);
    }
    while (atomic_load(&reading) < READERS) {
        sched_yield();
    }
    for (unsigned i = 1; i <= SWITCHES; i++) {
        struct test_page *const old = atomic_exchange(&shown, page_new(i));

        sx_grace_retire(&old->retired, page_over);
        sx_grace_collect();
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    sx_grace_collect();
    cr_expect_eq(over_count, SWITCHES);
    page_over(&atomic_load(&shown)->retired);
}

Test(grace, pages_go_while_threads_read)
{
    test_init(true);
    test_switches();
}

Test(grace, pages_go_while_threads_make_the_barriers)
{
    test_init(false);
    test_switches();
}
