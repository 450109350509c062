/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_count_test.c - what a rank spends on a call of several processes, counted: system calls by
 * their numbers, and messages in its lane.
 *
 * The work of rank 0 runs in a process that its parent traces, and that looks at its own lane in the
 * memory that docs/layout.md describes.  Rank 1 comes once its parent has seen rank 0 go to sleep, so
 * the counts are the same on every machine. */
#include <stdint.h>
#include <string.h>

#include <shmix.h>

#include "job.h"
#include "support/sanitized.h"
#include "support/traced.h"

#define ROUNDS 100
#define CALL_MAX 512           /* numbers of system calls are smaller */
#define FUTEX_WAITV_CALL 449   /* which older headers do not name */
#define LANE_GEOMETRY_OFF 384u /* docs/layout.md, section 5 */

/* ---- the lane ----------------------------------------------------------------------------- */

struct lane_seen {
    const uint8_t *data;
    uint32_t data_bytes;
    const _Atomic uint64_t *tail;
};

/* Our own lane, as it is mapped. */
static struct lane_seen lane_find(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    const uint8_t *base = NULL;
    char line[512];
    uint32_t geometry[3]; /* data_off, data_bytes, line_off */

    CHECK(maps != NULL);
    while (base == NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (strstr(line, "shmix:lane:") != NULL) {
            base = (const uint8_t *)(uintptr_t)strtoull(line, NULL, 16);
        }
    }
    fclose(maps);
    CHECK(base != NULL);
    memcpy(geometry, base + LANE_GEOMETRY_OFF, sizeof(geometry));
    return (struct lane_seen){ .data = base + geometry[0],
                               .data_bytes = geometry[1],
                               .tail = (const void *)(base + geometry[2]) };
}

/* The messages from @from on; there are less bytes of them than the lane has. */
static unsigned messages_since(const struct lane_seen *lane, uint64_t from)
{
    const uint64_t tail = *lane->tail;
    unsigned count = 0;

    CHECK(tail - from < lane->data_bytes);
    for (; from < tail; count++) {
        uint32_t len;

        memcpy(&len, lane->data + from % lane->data_bytes, sizeof(len));
        from += 8 + (len + 7ull) / 8 * 8;
    }
    CHECK(from == tail);
    return count;
}

/* ---- the work ----------------------------------------------------------------------------- */

static struct work {
    void (*round)(unsigned number);
    unsigned calls, messages; /* in each round: that wait for the other rank, and all of them */
    bool collects, puts_data;
} work; /* what the traced process is to do */

static bool comes_late;

static void wait_for_the_other(void)
{
    if (comes_late) {
        job_token_get(0);
    }
}

static void put_64_bytes(unsigned number)
{
    char key[32], bytes[64] = { 0 };
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, sizeof(bytes) } };

    snprintf(key, sizeof(key), "card.%u", number);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

static void fence(unsigned number)
{
    pmix_info_t info;

    info = info_flag(PMIX_COLLECT_DATA);
    if (work.puts_data) {
        put_64_bytes(number);
    }
    wait_for_the_other();
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, work.collects), PMIX_SUCCESS);
}

static void connect_and_disconnect(unsigned number)
{
    pmix_proc_t all = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t rank;

    wait_for_the_other();
    CHECK_STATUS(shmix_connect(&all, 1, NULL, 0, nspace, &rank), PMIX_SUCCESS);
    wait_for_the_other();
    CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
}

static void construct_and_destruct(unsigned number)
{
    pmix_proc_t all = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    pmix_info_t info, *results;
    size_t nresults;

    info = info_flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    wait_for_the_other();
    CHECK_STATUS(PMIx_Group_construct("group", &all, 1, &info, 1, &results, &nresults),
                 PMIX_SUCCESS);
    CHECK(nresults == 3); /* context id, members, name */
    PMIx_Info_free(results, nresults);
    wait_for_the_other();
    CHECK_STATUS(PMIx_Group_destruct("group", NULL, 0), PMIX_SUCCESS);
}

/* Return: how many bytes it has taken in the lane. */
static uint64_t empty_fence(const struct lane_seen *lane)
{
    const uint64_t tail = *lane->tail;

    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return *lane->tail - tail;
}

static int do_work(int rank)
{
    pmix_proc_t me;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    for (unsigned i = 0; i < ROUNDS; i++) { /* what there is once is made */
        work.round(i);
    }
    const struct lane_seen lane = lane_find();
    const uint64_t empty_bytes = empty_fence(&lane);
    const uint64_t tail = *lane.tail;

    comes_late = rank == 1;
    traced_mark();
    for (unsigned i = ROUNDS; i < 2 * ROUNDS; i++) {
        work.round(i);
    }
    traced_mark();
    CHECK(messages_since(&lane, tail) == work.messages * ROUNDS);
    if (work.collects && !work.puts_data) { /* no infos to decode */
        CHECK(*lane.tail - tail == empty_bytes * ROUNDS);
    }
    return rank_end();
}

/* ---- cases -------------------------------------------------------------------------------- */

struct counter {
    unsigned of[CALL_MAX], all;
};

static bool is_sleep(uint64_t number)
{
    return number == SYS_futex || number == FUTEX_WAITV_CALL;
}

static void count_call(void *arg, pid_t pid, const struct __ptrace_syscall_info *info)
{
    struct counter *const counter = arg;
    const uint64_t number = info->entry.nr;

    if (is_sleep(number)) {
        job_token_put(0);
    }
    /* What malloc does on its own account, when and if it likes. */
    if (number != SYS_brk && number != SYS_getrandom) {
        counter->all++;
        counter->of[number % CALL_MAX]++;
    }
}

/* Count what rank 0 does: each call that waits tries what costs less than a sleep, twice, and sleeps
 * once.  Return: how often it took in new pages. */
static unsigned count_calls(int rank, const char *what)
{
    const unsigned waits = ROUNDS * work.calls;
    struct counter counter = { 0 };

    if (rank != 0) {
        CHECK(do_work(rank) == 0);
        return 0;
    }
    traced_run(do_work, rank, count_call, &counter);
    const unsigned sleeps = counter.of[SYS_futex] + counter.of[FUTEX_WAITV_CALL];
    const unsigned pages = counter.of[SYS_madvise];

    printf("%d %s: %u rings, %u yields, %u sleeps, %u times new pages\n", ROUNDS, what,
           counter.of[SYS_write], counter.of[SYS_sched_yield], sleeps, pages);
    fflush(stdout);
    CHECK(sleeps == waits);
    /* Less yields where others have kept the CPU for a time slice. */
    const unsigned before_sleeps = counter.of[SYS_write] + counter.of[SYS_sched_yield];

    CHECK(before_sleeps <= 2 * waits);
    CHECK(counter.all == waits + before_sleeps + pages);
    return pages;
}

static int an_empty_fence_is_a_message_and_a_sleep(int rank)
{
    work = (struct work){ .round = fence, .calls = 1, .messages = 1 };
    CHECK(count_calls(rank, "fences") == 0);
    return 0;
}

static int a_fence_with_nothing_to_collect_is_an_empty_one(int rank)
{
    work = (struct work){ .round = fence, .calls = 1, .messages = 1, .collects = true };
    CHECK(count_calls(rank, "collecting fences, nothing put") == 0);
    return 0;
}

/* 100 rounds of less than 200 bytes a rank: they lie in one piece of memory of 64 KiB, or in two. */
static int new_pages_are_taken_in_by_the_piece(int rank)
{
    work = (struct work){ .round = fence, .calls = 1, .collects = true, .puts_data = true };
    work.messages = 2; /* the value, which is the last of its commit, and the fence */
    CHECK(count_calls(rank, "collecting fences, 64 bytes put by each rank") <= 2);
    return 0;
}

/* Nothing is asked for: the new name and rank are read where they lie. */
static int a_connect_is_a_message_and_a_sleep(int rank)
{
    work = (struct work){ .round = connect_and_disconnect, .calls = 2, .messages = 2 };
    CHECK(count_calls(rank, "connects and disconnects") == 0);
    return 0;
}

static int a_construct_is_a_message_and_a_sleep(int rank)
{
    work = (struct work){ .round = construct_and_destruct, .calls = 2, .messages = 2 };
    CHECK(count_calls(rank, "constructs and destructs") == 0);
    return 0;
}

static const struct job_case cases[] = {
    { "an_empty_fence_is_a_message_and_a_sleep", 2, an_empty_fence_is_a_message_and_a_sleep },
    { "a_fence_with_nothing_to_collect_is_an_empty_one", 2,
      a_fence_with_nothing_to_collect_is_an_empty_one },
    { "new_pages_are_taken_in_by_the_piece", 2, new_pages_are_taken_in_by_the_piece },
    { "a_connect_is_a_message_and_a_sleep", 2, a_connect_is_a_message_and_a_sleep },
    { "a_construct_is_a_message_and_a_sleep", 2, a_construct_is_a_message_and_a_sleep },
};

int main(int argc, char **argv)
{
#if SANITIZED
    puts("skipped: a sanitizer's runtime makes calls of its own");
    return 77;
#endif
    if (getenv("SHMIX_WAITV") != NULL) {
        puts("skipped: without futex_waitv a sleep ends after a second, and another follows");
        return 77;
    }
    setenv("SHMIX_SPIN", "0", 1); /* each sleep is to be seen */
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
