/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* agreement_test.c - whoever reads the same agreements, in whichever order, reads the same. */
#include "server/collective/agreement.h"

#include <malloc.h>

#include "../../base/bodies.h"

#define SERVERS 3u

static const struct {
    pmix_proc_t members[2];
    size_t count;
    const char *name;
} said[SERVERS] = {
    { { { "b", 1 }, { "b", 0 } }, 2, "of the second" },
    { { { "a", 7 }, { "b", 2 } }, 2, "of the first" },
    { { { "b", 2 }, { "c", 0 } }, 2, "" }, /* one that is there twice is there once */
};
static const pmix_proc_t all[] = { { "a", 7 }, { "b", 0 }, { "b", 1 }, { "b", 2 }, { "c", 0 } };

static struct sx_blob blobs[SERVERS];

static void begin(void)
{
    for (size_t i = 0; i < SERVERS; i++) {
        const struct sx_agreement_nspace nspace = { .job_size = (uint32_t)i };
        const struct sx_agreement head = { 0 };
        struct sx_blob nspaces = { 0 };
        struct sx_draft draft = { .signature = &sx_agreement_nspace_body,
                                  .head = &nspace,
                                  .nspace = "",
                                  .parts = { { "a namespace", 11 } } };

        cr_assert_eq(sx_agreement_add(&nspaces, &draft), PMIX_SUCCESS);
        draft = (struct sx_draft){ .signature = &sx_agreement_body,
                                   .head = &head,
                                   .nspace = "",
                                   .parts = { { said[i].members, said[i].count },
                                              { said[i].name, strlen(said[i].name) },
                                              { nspaces.bytes, nspaces.size },
                                              { "said", i } } };
        cr_assert_eq(sx_agreement_add(&blobs[i], &draft), PMIX_SUCCESS);
        sx_blob_clear(&nspaces);
    }
}

static void end(void)
{
    for (size_t i = 0; i < SERVERS; i++) {
        sx_blob_clear(&blobs[i]);
    }
}

TestSuite(agreement, .init = begin, .fini = end);

static unsigned brought; /* a bit each */
static pmix_status_t verdict;

static pmix_status_t on_nspace(const struct sx_opened *nspace, void *arg)
{
    const struct sx_agreement_nspace *const head = nspace->head;

    cr_expect_eq(arg, &brought);
    cr_expect_eq(nspace->parts[SX_AGREEMENT_NSPACE_NAME].size, 11);
    brought |= 1u << head->job_size;
    return verdict;
}

static size_t said_sizes;

static pmix_status_t on_said(const struct sx_opened_part *part, void *arg)
{
    (void)arg;
    said_sizes += part->size;
    return PMIX_SUCCESS;
}

/* The agreements from @first on. */
static pmix_status_t read_from(size_t first, size_t cut, struct sx_agreed *ret)
{
    struct sx_blob glued = { 0 };

    for (size_t i = 0; i < SERVERS; i++) {
        const struct sx_blob *const blob = &blobs[(first + i) % SERVERS];
        char *const at = sx_blob_extend(&glued, blob->size);

        cr_assert_not_null(at);
        memcpy(at, blob->bytes, blob->size);
    }
    brought = 0;
    said_sizes = 0;
    const struct sx_agreement_reader reader = { on_nspace, on_said, &brought };
    const pmix_status_t rc = sx_agreements_read(glued.bytes, glued.size - cut, &reader, ret);

    sx_blob_clear(&glued);
    return rc;
}

Test(agreement, is_the_same_in_any_order)
{
    for (size_t first = 0; first < SERVERS; first++) {
        struct sx_agreed agreed;

        cr_assert_eq(read_from(first, 0, &agreed), PMIX_SUCCESS);
        cr_expect_str_eq(agreed.name, "of the first");
        cr_assert_eq(agreed.members.count, SX_COUNT(all));
        struct sx_alias_walk walk = { .list = &agreed.members };

        for (size_t i = 0; sx_alias_next(&walk); i++) {
            cr_expect_str_eq(walk.nspace, all[i].nspace);
            cr_expect_eq(walk.rank, all[i].rank);
        }
        cr_expect_eq(brought, (1u << SERVERS) - 1);
        cr_expect_eq(said_sizes, SERVERS * (SERVERS - 1) / 2);
        sx_agreed_clear(&agreed);
    }
}

Test(agreement, cut_short_or_refused_is_none)
{
    struct sx_agreed agreed;

    cr_expect_eq(read_from(0, 8, &agreed), PMIX_ERR_UNPACK_FAILURE);
    cr_expect_null(agreed.members.made);
    verdict = PMIX_ERR_OUT_OF_RESOURCE;
    cr_expect_eq(read_from(0, 0, &agreed), verdict);
    cr_expect_null(agreed.members.made);
}

#define MANY SX_PROCS_MAX

static size_t heap_bytes(void)
{
    const struct mallinfo2 heap = mallinfo2();

    return heap.uordblks + heap.hblkhd;
}

/* Two jobs, whose ranks are spread over as many servers: each has every other one. */
Test(agreement, of_many_members_takes_a_few_bytes_for_each)
{
    static pmix_proc_t procs[MANY];
    const struct sx_agreement head = { 0 };
    const struct sx_agreement_reader reader = { on_nspace, on_said, &brought };
    struct sx_blob glued = { 0 };
    struct sx_agreed agreed;
    uint32_t rank = 0;

    for (uint32_t server = 0; server < 2; server++) {
        for (uint32_t i = 0; i < MANY; i++) {
            PMIx_Load_procid(&procs[i], i < MANY / 2 ? "left" : "right",
                             i % (MANY / 2) * 2 + server);
        }
        struct sx_draft draft = { .signature = &sx_agreement_body,
                                  .head = &head,
                                  .nspace = "",
                                  .parts = { { procs, MANY }, { "", 0 }, { "", 0 }, { "", 0 } } };

        cr_assert_eq(sx_agreement_add(&glued, &draft), PMIX_SUCCESS);
    }
    const size_t before = heap_bytes();

    cr_assert_eq(sx_agreements_read(glued.bytes, glued.size, &reader, &agreed), PMIX_SUCCESS);
    cr_expect_lt(heap_bytes() - before, 16 * 2 * MANY, "and not a process's name for each");
    cr_assert_eq(agreed.members.count, 2 * MANY);
    struct sx_alias_walk walk = { .list = &agreed.members };

    for (size_t i = 0; sx_alias_next(&walk); i++, rank++) {
        rank = walk.is_new ? 0 : rank;
        cr_assert_str_eq(walk.nspace, i < MANY ? "left" : "right");
        cr_assert_eq(walk.rank, rank);
    }
    cr_expect(sx_alias_made_has(&agreed.members, "right", MANY - 1));
    cr_expect_not(sx_alias_made_has(&agreed.members, "right", MANY));
    cr_expect_not(sx_alias_made_has(&agreed.members, "job", 0));
    sx_agreed_clear(&agreed);
    sx_blob_clear(&glued);
}

Test(agreement, keeps_the_bounds_of_its_signatures)
{
    body_judge("agreement", &sx_agreement_body);
    body_judge("namespace of an agreement", &sx_agreement_nspace_body);
}
