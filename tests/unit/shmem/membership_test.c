/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_test.c - a list of processes is read as it was written, and garbled bytes earn a
 * status. */
#include "shmem/membership.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store_util.h"

#define MEMBERS 12u

/* Processes of three namespaces, the last one first, and a gap. */
static void some_procs(pmix_proc_t procs[MEMBERS])
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        const char *const names[] = { "b.job", "a", "c-with-a-longer-name" };

        PMIx_Load_procid(&procs[i], names[i % 3], 100 - i);
    }
    procs[5].rank = PMIX_RANK_INVALID;
}

static void *record_make(size_t *ret_size)
{
    const struct sx_membership_head head = { .subject = UINT64_C(9) << SX_MEMBERSHIP_ROW_BITS | 4,
                                             .kind = SX_MEMBERSHIP_GROUP,
                                             .flags = SX_MEMBERSHIP_CONTEXT,
                                             .generation = 3,
                                             .context_id = 77,
                                             .since_ns = 5 };
    pmix_proc_t procs[MEMBERS];
    void *bytes = NULL;

    some_procs(procs);
    cr_assert_eq(sx_membership_encode(&head, "group", procs, MEMBERS, &bytes, ret_size),
                 PMIX_SUCCESS);
    return bytes;
}

/* The place of a process, by a look at each. */
static uint32_t place_of(const pmix_proc_t *procs, const char *nspace, uint32_t rank)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (procs[i].rank == rank && strcmp(procs[i].nspace, nspace) == 0) {
            return i;
        }
    }
    return PMIX_RANK_INVALID;
}

static void expect_procs(const struct sx_membership *membership, const pmix_proc_t *procs)
{
    pmix_proc_t proc;

    cr_assert_eq(sx_membership_size(membership), MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (procs[i].rank == PMIX_RANK_INVALID) {
            cr_expect_eq(sx_membership_member(membership, i, &proc), PMIX_ERR_NOT_FOUND);
            continue;
        }
        cr_assert_eq(sx_membership_member(membership, i, &proc), PMIX_SUCCESS);
        cr_expect_eq(memcmp(&proc, &procs[i], sizeof(proc)), 0);
        for (uint32_t rank = 80; rank < 110; rank++) {
            cr_expect_eq(sx_membership_rank(membership, proc.nspace, rank),
                         place_of(procs, proc.nspace, rank));
        }
    }
    cr_expect_eq(sx_membership_member(membership, MEMBERS, &proc), PMIX_ERR_NOT_FOUND);
}

Test(membership, is_read_as_it_was_written)
{
    struct sx_membership membership;
    pmix_proc_t procs[MEMBERS];
    size_t size;
    void *const bytes = record_make(&size);

    some_procs(procs);
    cr_assert_eq(sx_membership_open(bytes, size, &membership), PMIX_SUCCESS);
    cr_expect_str_eq(sx_membership_name(&membership), "group");
    cr_expect_eq(membership.head.context_id, 77);
    cr_expect_eq(membership.head.generation, 3);
    expect_procs(&membership, procs);
    cr_expect_eq(sx_membership_rank(&membership, "a", 100), PMIX_RANK_INVALID, "of another job");
    cr_expect_eq(sx_membership_rank(&membership, "nobody", 1), PMIX_RANK_INVALID);
    cr_expect_eq(sx_membership_rank(&membership, "a", PMIX_RANK_WILDCARD), PMIX_RANK_INVALID);
    cr_expect_eq(sx_membership_count_of(&membership, "a"), 4);
    cr_expect_eq(sx_membership_count_of(&membership, "c-with-a-longer-name"), 3, "one has left");
    cr_expect_eq(sx_membership_count_of(&membership, "nobody"), 0);
    free(bytes);
}

Test(membership, in_order_is_the_same_record_of_ranks)
{
    static const uint32_t ranks[] = { 3, 9, 0, 1, 7, 2 };
    static const struct sx_membership_part parts[] = { { "a", 0, 2 },
                                                       { "a.b", 2, 3 },
                                                       { "b", 5, 1 } };
    const struct sx_membership_head head = { .kind = SX_MEMBERSHIP_CONNECTED, .generation = 1 };
    pmix_proc_t procs[SX_COUNT(ranks)];
    void *named, *sorted;
    size_t named_size, sorted_size;

    for (size_t p = 0, i = 0; i < SX_COUNT(ranks); i++) {
        p += i == parts[p].first + parts[p].count;
        PMIx_Load_procid(&procs[i], parts[p].nspace, ranks[i]);
    }
    cr_assert_eq(sx_membership_encode(&head, "list", procs, SX_COUNT(procs), &named, &named_size),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_membership_encode_sorted(&head, "list", parts, SX_COUNT(parts), ranks, &sorted,
                                             &sorted_size),
                 PMIX_SUCCESS);
    cr_assert_eq(sorted_size, named_size);
    cr_expect_eq(memcmp(sorted, named, named_size), 0);
    free(named);
    free(sorted);
}

/* Parts and ranks that are in no order, hold a process twice, or leave some out. */
Test(membership, in_order_is_refused_when_it_is_not)
{
    static const struct {
        struct sx_membership_part parts[2];
        uint32_t ranks[3];
    } wrong[] = {
        { { { "b", 0, 1 }, { "a", 1, 2 } }, { 0, 1, 2 } },
        { { { "a", 0, 1 }, { "a", 1, 2 } }, { 0, 1, 2 } },
        { { { "a", 0, 1 }, { "b", 1, 2 } }, { 0, 2, 1 } },
        { { { "a", 0, 1 }, { "b", 1, 2 } }, { 0, 1, 1 } },
        { { { "a", 0, 1 }, { "b", 2, 1 } }, { 0, 1, 2 } },
        { { { "a", 0, 3 }, { "b", 3, 0 } }, { 0, 1, 2 } },
        { { { "a", 0, 1 }, { "", 1, 2 } }, { 0, 1, 2 } },
        { { { "a", 0, 1 }, { "b", 1, 2 } }, { 0, 1, PMIX_RANK_WILDCARD } },
    };
    const struct sx_membership_head head = { .kind = SX_MEMBERSHIP_CONNECTED };
    void *bytes;
    size_t size;

    for (size_t i = 0; i < SX_COUNT(wrong); i++) {
        cr_expect_eq(sx_membership_encode_sorted(&head, "list", wrong[i].parts, 2, wrong[i].ranks,
                                                 &bytes, &size),
                     PMIX_ERR_BAD_PARAM, "%zu", i);
    }
    cr_expect_eq(sx_membership_encode_sorted(&head, "", wrong[0].parts, 1, wrong[0].ranks, &bytes,
                                             &size),
                 PMIX_ERR_BAD_PARAM);
}

Test(membership, without_those_who_leave_has_the_rest_in_their_places)
{
    static const uint32_t order[] = { 0, 11, 4, 3, 8, 1, 2, 10, 9, 6, 7 };
    struct sx_membership membership;
    pmix_proc_t procs[MEMBERS];
    size_t size;
    void *const bytes = record_make(&size);

    some_procs(procs);
    for (size_t i = 0; i < SX_COUNT(order); i++) {
        const pmix_proc_t gone = procs[order[i]];

        sx_membership_strike(bytes, order[i]);
        procs[order[i]].rank = PMIX_RANK_INVALID;
        cr_assert_eq(sx_membership_open(bytes, size, &membership), PMIX_SUCCESS);
        cr_expect_eq(sx_membership_rank(&membership, gone.nspace, gone.rank), PMIX_RANK_INVALID);
        expect_procs(&membership, procs);
    }
    cr_expect_eq(membership.head.index_count, 0);
    free(bytes);
}

Test(membership, that_cannot_be_is_refused)
{
    static char name_256[257], name_512[513];
    const struct sx_membership_head head = { .kind = SX_MEMBERSHIP_GROUP };
    const struct sx_membership_head set = { .kind = SX_MEMBERSHIP_PSET };
    pmix_proc_t procs[MEMBERS];
    size_t size;
    void *bytes;

    memset(name_256, 'x', 256);
    memset(name_512, 'x', 512);
    some_procs(procs);
    cr_expect_eq(sx_membership_encode(&head, "", procs, 1, &bytes, &size), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_membership_encode(&head, name_256, procs, 1, &bytes, &size),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_membership_encode(&set, name_512, procs, 1, &bytes, &size), PMIX_ERR_BAD_PARAM);
    procs[3] = procs[0];
    cr_expect_eq(sx_membership_encode(&head, "s", procs, 4, &bytes, &size), PMIX_ERR_BAD_PARAM,
                 "one process twice");
    procs[3].rank = PMIX_RANK_WILDCARD;
    cr_expect_eq(sx_membership_encode(&head, "s", procs, 4, &bytes, &size), PMIX_ERR_BAD_PARAM);
    memset(procs[3].nspace, 'x', sizeof(procs[3].nspace));
    procs[3].rank = 1;
    cr_expect_eq(sx_membership_encode(&head, "s", procs, 4, &bytes, &size), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(sx_membership_encode(&head, name_256 + 1, procs, 0, &bytes, &size), PMIX_SUCCESS,
                 "an empty one may be");
    free(bytes);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Look at all of it.  Return: whether there was anything to look at. */
static bool look_around(const void *bytes, size_t size)
{
    struct sx_membership membership;
    pmix_proc_t proc;

    if (sx_membership_open(bytes, size, &membership) != PMIX_SUCCESS) {
        return false;
    }
    (void)strlen(sx_membership_name(&membership));
    for (uint32_t i = 0; i < MEMBERS + 2; i++) {
        (void)sx_membership_member(&membership, i, &proc);
        (void)sx_membership_rank(&membership, "b.job", 90 + i);
        (void)sx_membership_rank(&membership, "c-with-a-longer-name", 90 + i);
    }
    (void)sx_membership_count_of(&membership, "a");
    return true;
}

/* Each copy ends where its memory does, so the sanitizers see a step too far. */
Test(membership, that_is_garbled_is_survived)
{
    size_t size;
    uint8_t *const sound = record_make(&size);
    unsigned opened = 0;

    srand(4713);
    for (unsigned round = 0; round < 20000; round++) {
        const size_t cut = round % 4 == 0 ? (size_t)rand() % (size + 1) : size;
        uint8_t *const bytes = malloc(cut + (cut == 0));

        cr_assert_not_null(bytes);
        memcpy(bytes, sound, cut);
        for (unsigned hits = (unsigned)rand() % 4; hits > 0 && cut >= 8; hits--) {
            const uint32_t word = rand() % 2 == 0 ? (uint32_t)rand() : (uint32_t)rand() % 64;

            memcpy(bytes + (size_t)rand() % (cut / 4) * 4, &word, sizeof(word));
        }
        opened += look_around(bytes, cut);
        free(bytes);
    }
    cr_expect_gt(opened, 1000);
    free(sound);
}

/* ---- in a store ------------------------------------------------------------------------------ */

static uint64_t subject_of(uint64_t serial, uint32_t row)
{
    return serial << SX_MEMBERSHIP_ROW_BITS | row;
}

/* A list of @count ranks of "job", each higher by @generation. */
static void list_put(struct sx_store_writer *writer, uint64_t subject, const char *name,
                     uint64_t generation, uint32_t count)
{
    const struct sx_membership_head head = { .subject = subject,
                                             .kind = SX_MEMBERSHIP_GROUP,
                                             .generation = generation };
    pmix_proc_t procs[64];
    size_t size;
    void *bytes;

    for (uint32_t i = 0; i < count; i++) {
        PMIx_Load_procid(&procs[i], "job", i + (uint32_t)generation);
    }
    cr_assert_eq(sx_membership_encode(&head, name, procs, count, &bytes, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_publish(writer, bytes, size), PMIX_SUCCESS);
    free(bytes);
}

Test(membership, is_found_by_its_name_and_its_subject_while_it_is_there)
{
    struct sx_store_writer writer;
    struct sx_membership membership;

    test_store_create(&writer, 0, 0, false);
    for (uint32_t row = 0; row < 3; row++) {
        const char *const names[] = { "first", "second", "third" };

        list_put(&writer, subject_of(1 + row, row), names[row], 1, 1 + row);
        cr_assert_eq(sx_membership_enter(&writer, SX_REALM_MEMBERS, subject_of(1 + row, row),
                                         names[row]),
                     PMIX_SUCCESS);
    }
    cr_assert_eq(sx_membership_find(&writer.view, SX_REALM_MEMBERS, "second.", 6, &membership),
                 PMIX_SUCCESS);
    cr_expect_eq(sx_membership_size(&membership), 2);
    cr_assert_eq(sx_membership_of(&writer.view, subject_of(3, 2), &membership), PMIX_SUCCESS);
    cr_expect_str_eq(sx_membership_name(&membership), "third");
    cr_expect_eq(sx_membership_find(&writer.view, SX_REALM_MEMBERS, "secon", 5, &membership),
                 PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_membership_of(&writer.view, 0, &membership), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_membership_of(&writer.view, subject_of(9, 2), &membership), PMIX_ERR_NOT_FOUND,
                 "a row of another serial");
    cr_expect_eq(sx_membership_of(&writer.view, subject_of(1, 3), &membership), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_membership_of(&writer.view, UINT64_MAX, &membership), PMIX_ERR_NOT_FOUND);

    sx_membership_withdraw(&writer, SX_REALM_MEMBERS, subject_of(2, 1), "second");
    cr_expect_eq(sx_membership_find(&writer.view, SX_REALM_MEMBERS, "second", 6, &membership),
                 PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_membership_of(&writer.view, subject_of(2, 1), &membership), PMIX_ERR_NOT_FOUND);
    list_put(&writer, subject_of(4, 1), "second", 1, 7);
    cr_assert_eq(sx_membership_enter(&writer, SX_REALM_MEMBERS, subject_of(4, 1), "second"),
                 PMIX_SUCCESS);
    cr_expect_eq(sx_membership_of(&writer.view, subject_of(2, 1), &membership), PMIX_ERR_NOT_FOUND,
                 "the name and the row are another's");
    cr_expect_eq(sx_membership_of(&writer.view, subject_of(4, 1), &membership), PMIX_SUCCESS);
    sx_store_destroy(&writer);
}

/* Between the two looks of a walk a list may go, and another one take its name in another row: that
 * one is met there, and once. */
Test(membership, a_walk_meets_each_list_in_its_own_row)
{
    struct sx_store_writer writer;
    struct sx_membership membership;
    uint32_t row = 0;

    test_store_create(&writer, 0, 0, false);
    list_put(&writer, subject_of(2, 5), "list", 1, 3);
    cr_assert_eq(sx_membership_enter(&writer, SX_REALM_MEMBERS, subject_of(1, 3), "list"),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_membership_enter(&writer, SX_REALM_MEMBERS, subject_of(2, 5), "list"),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_membership_next(&writer.view, SX_REALM_MEMBERS, &row, &membership),
                 PMIX_SUCCESS);
    cr_expect_eq(row, 6);
    cr_expect_eq(sx_membership_next(&writer.view, SX_REALM_MEMBERS, &row, &membership),
                 PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}

/* ---- a writer and readers -------------------------------------------------------------------- */

#define RACE_LOOKS 3000u
#define RACE_GENERATIONS 40u
#define RACE_DEADLINE_NS (120 * SX_NS_PER_SEC)

static struct {
    struct sx_store editions[RACE_GENERATIONS];
    _Atomic(const struct sx_store *) newest;
    atomic_uint finished;
    atomic_bool failed;
} race;

/* Generations only rise, and each has the members that go with it, all of them. */
static bool race_look(uint64_t *last)
{
    const struct sx_store store = *atomic_load(&race.newest);
    struct sx_membership membership;
    pmix_proc_t proc;

    if (sx_membership_of(&store, subject_of(1, 0), &membership) != PMIX_SUCCESS ||
        membership.head.generation < *last) {
        return false;
    }
    const uint64_t generation = *last = membership.head.generation;
    const uint32_t size = sx_membership_size(&membership);

    for (uint32_t i = 0; i < size; i++) {
        if (sx_membership_member(&membership, i, &proc) != PMIX_SUCCESS ||
            proc.rank != i + generation || sx_membership_rank(&membership, "job", proc.rank) != i) {
            return false;
        }
    }
    return size == 1 + generation % 64;
}

static void *race_read(void *arg)
{
    const uint64_t deadline_ns = sx_now_ns() + RACE_DEADLINE_NS;
    uint64_t last = 0;

    (void)arg;
    for (unsigned looks = 0; looks < RACE_LOOKS; looks++) {
        if (!race_look(&last) || sx_now_ns() > deadline_ns) {
            atomic_store(&race.failed, true);
            break;
        }
    }
    atomic_fetch_add(&race.finished, 1);
    return NULL;
}

Test(membership, is_whole_for_readers_while_it_changes_and_the_store_is_renewed)
{
    struct sx_store_writer writer;
    pthread_t readers[2];
    uint64_t generation = 1, shown = 1;

    test_store_create(&writer, 0, 64 << 10, true);
    list_put(&writer, subject_of(1, 0), "list", generation, 2);
    cr_assert_eq(sx_membership_enter(&writer, SX_REALM_MEMBERS, subject_of(1, 0), "list"),
                 PMIX_SUCCESS);
    race.editions[0] = writer.view;
    atomic_store(&race.newest, &race.editions[0]);
    for (size_t i = 0; i < SX_COUNT(readers); i++) {
        cr_assert_eq(pthread_create(&readers[i], NULL, race_read, NULL), 0);
    }
    while (atomic_load(&race.finished) < SX_COUNT(readers) ||
           (writer.generation < 3 && !atomic_load(&race.failed))) {
        if (writer.generation == RACE_GENERATIONS) {
            break; /* a private store keeps them all */
        }
        generation++;
        list_put(&writer, subject_of(1, 0), "list", generation, 1 + (uint32_t)(generation % 64));
        if (writer.generation != shown) {
            shown = writer.generation;
            race.editions[shown - 1] = writer.view;
            atomic_store(&race.newest, &race.editions[shown - 1]);
        }
    }
    for (size_t i = 0; i < SX_COUNT(readers); i++) {
        pthread_join(readers[i], NULL);
    }
    cr_expect_not(atomic_load(&race.failed));
    cr_expect_geq(writer.generation, 3);
    sx_store_destroy(&writer);
}
