/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* periodic_test.c - what is prepared runs when it is let go, and is freed once: where it is ended,
 * or after its run. */
#include <criterion/criterion.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "client/manage/manage.h"

struct counted {
    struct sx_periodic periodic;
    int run_count; /* the thread's, until it is freed */
    sem_t ran, may_return, freed;
};

static void run_once_let(struct sx_periodic *periodic)
{
    struct counted *const counted = SX_CONTAINER(periodic, struct counted, periodic);

    counted->run_count++;
    sem_post(&counted->ran);
    sem_wait(&counted->may_return);
}

static void note_free(struct sx_periodic *periodic)
{
    sem_post(&SX_CONTAINER(periodic, struct counted, periodic)->freed);
}

static uint64_t prepare(struct counted *counted, const char *id, uint64_t period_ns,
                        uint32_t *ret_place)
{
    uint64_t number = 0;

    *counted = (struct counted){
        .periodic = { .period_ns = period_ns, .id = id, .run = run_once_let, .free = note_free }
    };
    sem_init(&counted->ran, 0, 0);
    sem_init(&counted->may_return, 0, 0);
    sem_init(&counted->freed, 0, 0);
    cr_assert_eq(sx_periodic_prepare(&counted->periodic, ret_place, &number), PMIX_SUCCESS);
    return number;
}

static bool is_freed(struct counted *counted)
{
    return sem_trywait(&counted->freed) == 0;
}

Test(periodic, runs_again_and_again_once_it_is_let_go)
{
    struct counted counted;
    uint32_t place;
    const uint64_t number = prepare(&counted, "", 1, &place);

    sx_periodic_go(number);
    for (int i = 0; i < 3; i++) {
        sem_wait(&counted.ran);
        sem_post(&counted.may_return);
    }
    sem_wait(&counted.ran);
    sx_periodic_end(number);
    cr_expect(!is_freed(&counted)); /* it runs */
    sem_post(&counted.may_return);
    sem_wait(&counted.freed);
    cr_expect_eq(counted.run_count, 4);
    sx_periodic_end(number); /* safe */
    sx_periodics_stop();
    cr_expect(!is_freed(&counted), "freed twice");
}

Test(periodic, what_is_only_prepared_never_runs)
{
    struct counted counted;
    uint32_t place;
    const uint64_t number = prepare(&counted, "", 1, &place);

    sx_periodic_end(number);
    cr_expect(is_freed(&counted));
    sx_periodic_go(number);
    sx_periodics_stop();
    cr_expect_eq(counted.run_count, 0);
    cr_expect(!is_freed(&counted), "freed twice");
}

Test(periodic, each_has_a_place_of_its_own)
{
    struct counted counted[SX_PERIODICS_MAX + 1];
    uint64_t numbers[SX_PERIODICS_MAX];
    uint32_t place;

    for (uint32_t i = 0; i < SX_PERIODICS_MAX; i++) {
        numbers[i] = prepare(&counted[i], "", 1, &place);
        cr_expect_eq(place, i);
    }
    counted[SX_PERIODICS_MAX] = (struct counted){ .periodic = { .id = "" } };
    cr_expect_eq(sx_periodic_prepare(&counted[SX_PERIODICS_MAX].periodic, &place, numbers),
                 PMIX_ERR_OUT_OF_RESOURCE);
    sx_periodic_end(numbers[5]);
    (void)prepare(&counted[5], "", 1, &place);
    cr_expect_eq(place, 5);
    sx_periodics_stop();
    for (uint32_t i = 0; i < SX_PERIODICS_MAX; i++) {
        cr_expect(is_freed(&counted[i]), "place %u", i);
    }
}

Test(periodic, ends_by_its_name)
{
    struct counted a, b, nameless, again;
    uint64_t number;
    uint32_t place;

    (void)prepare(&a, "a", 1, &place);
    (void)prepare(&b, "b", 1, &place);
    (void)prepare(&nameless, "", 1, &place);
    again = (struct counted){ .periodic = { .id = "a" } };
    cr_expect_eq(sx_periodic_prepare(&again.periodic, &place, &number), PMIX_ERR_EXISTS);
    cr_expect(sx_periodics_end_called("a"));
    cr_expect(!sx_periodics_end_called("a"));
    cr_expect(is_freed(&a) && !is_freed(&b) && !is_freed(&nameless));
    cr_expect(sx_periodics_end_called(""));
    cr_expect(is_freed(&b) && is_freed(&nameless));
    cr_expect(!sx_periodics_end_called(""));
    sx_periodics_stop();
}

/* What the parent has begun is not run there, and takes no place. */
Test(periodic, a_forked_child_begins_anew)
{
    struct counted parents, childs;
    uint32_t place;
    uint64_t number;
    int status;

#ifdef __SANITIZE_THREAD__
    cr_skip_test("ThreadSanitizer takes the child's thread for the parent's");
#endif
    sx_periodic_go(prepare(&parents, "mine", 1, &place));
    sem_wait(&parents.ran);
    const pid_t child = fork();

    if (child == 0) {
        sx_periodics_forked();
        number = prepare(&childs, "mine", 1, &place);
        sx_periodic_go(number);
        sem_wait(&childs.ran);
        sem_post(&childs.may_return);
        sx_periodic_end(number);
        sem_post(&childs.may_return); /* if it has begun again meanwhile */
        sem_wait(&childs.freed);
        sx_periodics_stop();
        _exit(place == 0 && !is_freed(&parents) ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    sem_post(&parents.may_return);
    (void)sx_periodics_end_called("mine");
    sem_post(&parents.may_return);
    sx_periodics_stop();
    cr_expect(is_freed(&parents));
}
