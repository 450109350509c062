/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof_test.c - the standard input is pushed piece by piece, whole and in its order, and no faster
 * than it is taken; who stops it waits for nobody. */
#include "client/iof/iof.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define BIG 300001u

static const pmix_proc_t target = { .nspace = "job", .rank = 3 };
static int to_input = -1;     /* writing end of the standard input */
static _Atomic int pusher;    /* the thread that pushes */
static atomic_int unanswered; /* pushes */
static sem_t asked;           /* one push more */
static sem_t begun;           /* the server knows the targets */
static pmix_status_t begun_status;
static char *taken; /* all of them */
static _Atomic size_t taken_size;
static bool ended; /* the last one has said so */
static pmix_op_cbfunc_t answer_fn;
static void *answer_arg;

static bool says(const pmix_info_t info[], size_t ninfo, const char *key)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, key)) {
            return info[i].value.type == PMIX_BOOL && info[i].value.data.flag;
        }
    }
    return false;
}

/* Of the thread of the input. */
static pmix_status_t on_push(const pmix_proc_t targets[], size_t ntargets,
                             const pmix_byte_object_t *bo, const pmix_info_t info[], size_t ninfo,
                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_assert(ntargets == 1 && PMIx_Check_procid(&targets[0], &target));
    cr_assert_eq(atomic_fetch_add(&unanswered, 1), 0, "the one before has not been taken");
    cr_assert(says(info, ninfo, PMIX_IOF_PUSH_STDIN));
    cr_assert_leq(taken_size + bo->size, BIG);
    memcpy(taken + taken_size, bo->bytes, bo->size);
    taken_size += bo->size;
    ended = says(info, ninfo, PMIX_IOF_COMPLETE);
    cr_assert(bo->size == 0 || !ended);
    answer_fn = cbfunc;
    answer_arg = cbdata;
    atomic_store(&pusher, (int)syscall(SYS_gettid));
    sem_post(&asked);
    return PMIX_SUCCESS;
}

static void on_begun(void *arg, pmix_status_t status)
{
    cr_expect_eq(arg, &begun);
    begun_status = status;
    sem_post(&begun);
}

/* The input is a pipe: @to_input is its other end. */
static void input_open(void)
{
    int pair[2];

    cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
    cr_assert_eq(dup2(pair[0], STDIN_FILENO), STDIN_FILENO);
    close(pair[0]);
    if (to_input >= 0) {
        close(to_input);
    }
    to_input = pair[1];
}

static void begin(void)
{
    sem_init(&asked, 0, 0);
    sem_init(&begun, 0, 0);
    taken = calloc(BIG, 1);
    input_open();
}

static void end(void)
{
    sx_input_stop();
    close(to_input);
    free(taken);
}

TestSuite(input, .init = begin, .fini = end, .timeout = 60);

static pmix_status_t try_start(void)
{
    return sx_input_start(&target, 1, on_push, on_begun, &begun);
}

static void feed(const char *text)
{
    cr_assert_eq(write(to_input, text, strlen(text)), (ssize_t)strlen(text));
}

static void asked_await(void)
{
    while (sem_wait(&asked) != 0) {
    }
}

static void answer(pmix_status_t status)
{
    const pmix_op_cbfunc_t fn = answer_fn;

    atomic_fetch_sub(&unanswered, 1);
    fn(status, answer_arg);
}

static void begun_await(pmix_status_t status)
{
    while (sem_wait(&begun) != 0) {
    }
    cr_expect_eq(begun_status, status);
}

/* First the server is told whom it will go to. */
static void targets_take(void)
{
    const size_t had = taken_size; /* while the thread may push nothing yet */

    asked_await();
    cr_expect(!ended && taken_size == had);
    cr_expect_neq(sem_trywait(&begun), 0, "the server has not answered");
    answer(PMIX_SUCCESS);
    begun_await(PMIX_SUCCESS);
}

static void start(void)
{
    cr_assert_eq(try_start(), PMIX_SUCCESS);
    targets_take();
}

/* Until the thread does nothing but wait. */
static void sleep_await(int tid)
{
    char path[64], text[256] = "";

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    while (strstr(text, ") S ") == NULL) {
        FILE *const file = fopen(path, "re");

        cr_assert_not_null(file);
        cr_assert_not_null(fgets(text, sizeof(text), file));
        fclose(file);
    }
}

/* Return: any thread that is neither this one nor known, or 0. */
static int thread_other(const int known[], size_t count)
{
    DIR *const dir = opendir("/proc/self/task");
    const struct dirent *entry;
    int found = 0;

    cr_assert_not_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        const int tid = atoi(entry->d_name);
        bool is_known = tid == 0;

        for (size_t i = 0; i < count; i++) {
            is_known = is_known || known[i] == tid;
        }
        found = is_known ? found : tid;
    }
    closedir(dir);
    return found;
}

static unsigned descriptors(void)
{
    DIR *const dir = opendir("/proc/self/fd");
    unsigned count = 0;

    cr_assert_not_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

Test(input, all_of_it_is_pushed_in_its_order_and_one_piece_at_a_time)
{
    char *const sent = malloc(BIG);

    for (size_t i = 0; i < BIG; i++) {
        sent[i] = (char)(i * 31 + i / 257);
    }
    start();
    for (size_t at = 0; at < BIG;) { /* what the pipe takes, and then what was asked */
        const size_t size = BIG - at < 20000 ? BIG - at : 20000;

        cr_assert_eq(write(to_input, sent + at, size), (ssize_t)size);
        at += size;
        for (size_t had = 0; had < at; answer(PMIX_SUCCESS)) {
            asked_await();
            had = taken_size; /* it is not written before the answer */
        }
    }
    close(to_input);
    to_input = -1;
    asked_await();
    cr_expect(ended);
    answer(PMIX_SUCCESS);
    cr_expect_eq(taken_size, BIG);
    cr_expect_eq(memcmp(sent, taken, BIG), 0);
    free(sent);
}

Test(input, what_is_refused_is_the_last_and_it_can_begin_again)
{
    start();
    cr_expect_eq(try_start(), PMIX_ERR_RESOURCE_BUSY);
    feed("a");
    asked_await();
    cr_expect_eq(try_start(), PMIX_ERR_RESOURCE_BUSY);
    feed("b");
    answer(PMIX_ERR_IOF_COMPLETE);
    for (pmix_status_t rc; (rc = try_start()) != PMIX_SUCCESS;) {
        cr_assert_eq(rc, PMIX_ERR_RESOURCE_BUSY); /* it is just ending */
    }
    targets_take();
    asked_await();
    cr_expect_eq(memcmp(taken, "ab", 2), 0, "what was not read is still there");
    answer(PMIX_SUCCESS);
}

Test(input, whom_nobody_knows_is_said_at_once_and_nothing_is_read)
{
    feed("a");
    cr_assert_eq(try_start(), PMIX_SUCCESS);
    asked_await();
    answer(PMIX_ERR_NOT_SUPPORTED);
    begun_await(PMIX_ERR_NOT_SUPPORTED);
    sx_input_stop();
    cr_expect_eq(taken_size, 0);

    cr_assert_eq(try_start(), PMIX_SUCCESS);
    asked_await();
    sx_input_stop();
    begun_await(PMIX_ERR_LOST_CONNECTION);
    atomic_store(&unanswered, 0);
}

Test(input, who_stops_it_waits_neither_for_input_nor_for_an_answer)
{
    const int me = (int)syscall(SYS_gettid);
    int thread = thread_other(&me, 1);

    start();
    thread = thread_other((const int[]){ me, thread }, 2);
    cr_assert_neq(thread, 0);
    sleep_await(thread);
    sx_input_stop();

    start();
    feed("a");
    asked_await();
    sleep_await(atomic_load(&pusher));
    sx_input_stop();
}

Test(input, an_answer_that_comes_late_is_none_to_the_next)
{
    start();
    feed("a");
    asked_await();
    const pmix_op_cbfunc_t late_fn = answer_fn;
    void *const late_arg = answer_arg;

    sx_input_stop();
    atomic_store(&unanswered, 0);
    start();
    feed("b");
    asked_await();
    late_fn(PMIX_ERR_IOF_COMPLETE, late_arg);
    sleep_await(atomic_load(&pusher));
    feed("c");
    answer(PMIX_SUCCESS);
    asked_await();
    cr_expect_eq(memcmp(taken, "abc", 3), 0);
    answer(PMIX_SUCCESS);
}

Test(input, without_a_standard_input_it_ends_and_nothing_is_read)
{
    feed("not for this");
    fcntl(STDIN_FILENO, F_SETFD, FD_CLOEXEC); /* as if the number had become something else's */
    start();
    asked_await();
    cr_expect(ended && taken_size == 0);
    answer(PMIX_SUCCESS);
    sx_input_stop();
    close(STDIN_FILENO);
    start();
    asked_await();
    cr_expect(ended && taken_size == 0);
    answer(PMIX_SUCCESS);
}

Test(input, nothing_is_left_of_it)
{
    const unsigned before = descriptors();

    for (int i = 0; i < 10; i++) {
        start();
        sx_input_stop();
    }
    cr_expect_eq(descriptors(), before);
}
