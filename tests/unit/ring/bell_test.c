/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bell_test.c - nobody sleeps through a change, and a wake costs what it says. */
#include "support.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "ring/bell.h"

TestSuite(bell, .timeout = 60);

static uint64_t patience(void)
{
    return sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS);
}

/* Each promise is kept in both modes; the mode is asked for before the first call. */
static bool want_waitv(bool waitv)
{
    if (waitv) {
        unsetenv("SHMIX_WAITV");
    } else {
        setenv("SHMIX_WAITV", "0", 1);
    }
    if (waitv && !sx_bell_has_waitv()) {
        cr_skip_test("this kernel has no futex_waitv");
    }
    cr_assert_eq(sx_bell_has_waitv(), waitv);
    return waitv;
}

static void returns_at_once_when_a_word_differs(void)
{
    static _Atomic uint32_t words[SX_BELL_WORDS_MAX];
    struct sx_bell_watch watch[SX_BELL_WORDS_MAX];

    for (size_t i = 0; i < SX_COUNT(words); i++) {
        watch[i] = (struct sx_bell_watch){ &words[i], 0 };
    }
    for (size_t i = 0; i < SX_COUNT(words); i++) {
        atomic_store(&words[i], 1);
        cr_expect_eq(sx_bell_wait(watch, i + 1, SX_BELL_ALL, SX_DEADLINE_NEVER), PMIX_SUCCESS);
        atomic_store(&words[i], 0);
    }
}

Test(bell, returns_at_once_when_a_word_differs_waitv, .timeout = 60)
{
    want_waitv(true);
    returns_at_once_when_a_word_differs();
}

Test(bell, returns_at_once_when_a_word_differs_bitset, .timeout = 60)
{
    want_waitv(false);
    returns_at_once_when_a_word_differs();
}

static void notifies_the_deadline(void)
{
    static _Atomic uint32_t word;
    const struct sx_bell_watch watch = { &word, 0 };
    const uint64_t begin_ns = sx_now_ns();
    pmix_status_t rc;

    cr_expect_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, 0), PMIX_ERR_TIMEOUT);
    cr_expect_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, begin_ns), PMIX_ERR_TIMEOUT);
    do {
        rc = sx_bell_wait(&watch, 1, SX_BELL_ALL, begin_ns + 5 * SX_NS_PER_MS);
    } while (rc == PMIX_SUCCESS);
    cr_expect_eq(rc, PMIX_ERR_TIMEOUT);
    cr_expect_geq(sx_now_ns(), begin_ns + 5 * SX_NS_PER_MS);
}

Test(bell, notifies_the_deadline_waitv, .timeout = 60)
{
    want_waitv(true);
    notifies_the_deadline();
}

Test(bell, notifies_the_deadline_bitset, .timeout = 60)
{
    want_waitv(false);
    notifies_the_deadline();
}

Test(bell, without_waitv_a_sleep_ends_by_itself_so_that_the_caller_looks_again, .timeout = 60)
{
    static _Atomic uint32_t word;
    const struct sx_bell_watch watch = { &word, 0 };

    want_waitv(false);
    cr_expect_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, SX_DEADLINE_NEVER), PMIX_SUCCESS);
}

/* From here on futex_waitv fails with @err, as in a container whose filter does not know it. */
static void forbid_waitv(int err)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 449, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { SX_COUNT(code), code };

    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        cr_skip_test("no seccomp filters here");
    }
}

static void falls_back_when_waitv_goes_away(int err)
{
    static _Atomic uint32_t word;
    const struct sx_bell_watch watch = { &word, 0 };

    want_waitv(true);
    forbid_waitv(err);
    cr_expect_eq(sx_bell_wait(&watch, 1, SX_BELL_ALL, sx_now_ns()), PMIX_ERR_TIMEOUT);
    cr_expect_not(sx_bell_has_waitv());
}

Test(bell, falls_back_when_a_filter_says_enosys, .timeout = 60)
{
    falls_back_when_waitv_goes_away(ENOSYS);
}

Test(bell, falls_back_when_a_filter_says_eperm, .timeout = 60)
{
    falls_back_when_waitv_goes_away(EPERM);
}

Test(bell, a_filter_from_the_start_means_no_waitv, .timeout = 60)
{
    unsetenv("SHMIX_WAITV");
    forbid_waitv(EPERM);
    cr_expect_not(sx_bell_has_waitv());
}

/* ---- sleepers ------------------------------------------------------------------------------ */

#define SLEEPERS 64

struct sleepers {
    struct sx_door *door;            /* the ringer's view */
    const struct sx_door *door_view; /* the sleepers' */
    uint32_t masks[SLEEPERS];
    _Atomic pid_t tids[SLEEPERS];
    _Atomic uint32_t rings_received[SLEEPERS];
    _Atomic bool over;
    _Atomic unsigned next;
};

static void *sleep_and_count(void *arg)
{
    struct sleepers *const all = arg;
    const unsigned me = atomic_fetch_add(&all->next, 1);
    uint32_t seen = 0;

    atomic_store(&all->tids[me], test_tid());
    while (!atomic_load(&all->over)) {
        const struct sx_bell_watch watch = { &all->door_view->turn[seen % 2], seen / 2 };
        uint32_t epoch;

        if (sx_bell_wait(&watch, 1, all->masks[me], patience()) != PMIX_SUCCESS) {
            abort();
        }
        sx_door_pass_on(all->door_view, &watch, all->masks[me]);
        epoch = sx_door_epoch(all->door_view);
        if (epoch != seen) {
            seen = epoch;
            atomic_store(&all->rings_received[me], epoch);
        }
    }
    return NULL;
}

static bool all_asleep(struct sleepers *all, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const pid_t tid = atomic_load(&all->tids[i]);

        if (tid == 0 || !test_asleep(tid)) {
            return false;
        }
    }
    return true;
}

static bool all_received(struct sleepers *all, unsigned count, uint32_t ring)
{
    for (unsigned i = 0; i < count; i++) {
        if (atomic_load(&all->rings_received[i]) != ring) {
            return false;
        }
    }
    return true;
}

/* The sleepers look at the door through a mapping that they could not write. */
static void begin(struct sleepers *all, pthread_t *threads, unsigned count, uint32_t mask)
{
    const int fd = memfd_create("door", MFD_CLOEXEC);

    memset(all, 0, sizeof(*all));
    cr_assert_eq(ftruncate(fd, SX_PAGE_BYTES), 0);
    all->door = mmap(NULL, SX_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    all->door_view = mmap(NULL, SX_PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    cr_assert_neq((void *)all->door, MAP_FAILED);
    cr_assert_neq((const void *)all->door_view, MAP_FAILED);
    close(fd);
    for (unsigned i = 0; i < count; i++) {
        all->masks[i] = mask != 0 ? mask : 1u << (i % 2);
    }
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, sleep_and_count, all), 0);
    }
}

static void end(struct sleepers *all, pthread_t *threads, unsigned count)
{
    atomic_store(&all->over, true);
    sx_door_ring(all->door, SX_BELL_ALL, 0);
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
}

static void one_ring_wakes_all(unsigned count, unsigned woken_max)
{
    static struct sleepers all;
    pthread_t threads[SLEEPERS];
    unsigned woken_most = 0;

    begin(&all, threads, count, 4);
    for (uint32_t ring = 1; ring <= 20; ring++) {
        unsigned woken;

        TEST_UNTIL(all_asleep(&all, count));
        woken = sx_door_ring(all.door, SX_BELL_ALL, count);
        cr_expect_leq(woken, woken_max);
        woken_most = woken > woken_most ? woken : woken_most;
        TEST_UNTIL(all_received(&all, count, ring));
    }
    cr_expect_gt(woken_most, 0);
    end(&all, threads, count);
}

Test(bell, a_few_sleepers_are_woken_by_the_ringer_waitv, .timeout = 120)
{
    want_waitv(true);
    one_ring_wakes_all(8, 8);
}

Test(bell, a_few_sleepers_are_woken_by_the_ringer_bitset, .timeout = 120)
{
    want_waitv(false);
    one_ring_wakes_all(8, 8);
}

Test(bell, many_sleepers_pass_the_wake_on_waitv, .timeout = 120)
{
    want_waitv(true);
    one_ring_wakes_all(SLEEPERS, 4);
}

Test(bell, many_sleepers_pass_the_wake_on_bitset, .timeout = 120)
{
    want_waitv(false);
    one_ring_wakes_all(SLEEPERS, 4);
}

Test(bell, a_ring_wakes_only_sleepers_of_its_mask, .timeout = 120)
{
    static struct sleepers all;
    pthread_t threads[8];

    want_waitv(false);
    begin(&all, threads, SX_COUNT(threads), 0);
    TEST_UNTIL(all_asleep(&all, SX_COUNT(threads)));
    /* A second's sleep may just have ended for some, hence "at most". */
    cr_expect_leq(sx_door_ring(all.door, 2, 0), SX_COUNT(threads) / 2);
    cr_expect_eq(sx_door_ring(all.door, 1u << 31, 0), 0);
    end(&all, threads, SX_COUNT(threads));
}

Test(bell, passing_on_ends_once_everybody_has_received, .timeout = 60)
{
    static struct sx_door door;

    sx_door_ring(&door, SX_BELL_ALL, SX_BELL_FANOUT_MIN + 1);
    cr_expect_neq(atomic_load(&door.pass_on[0]), 0);
    sx_door_ring(&door, SX_BELL_ALL, SX_BELL_FANOUT_MIN);
    cr_expect_eq(atomic_load(&door.pass_on[1]), 0);
    cr_expect_eq(sx_door_epoch(&door), 2);
}

Test(bell, no_ring_is_slept_through, .timeout = 120)
{
    static struct sleepers all;
    pthread_t threads[4];

    want_waitv(true);
    begin(&all, threads, SX_COUNT(threads), 4);
    for (uint32_t ring = 1; ring <= 20000; ring++) {
        sx_door_ring(all.door, SX_BELL_ALL, 0);
        if (ring % 4 == 0) {
            TEST_UNTIL(all_received(&all, SX_COUNT(threads), ring));
        }
    }
    end(&all, threads, SX_COUNT(threads));
}
