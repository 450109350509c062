/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* round_blob_test.c - what a server says in a round is read as it was written. */
#include "server/collective/round_blob.h"

#include "../../base/bodies.h"

#define KIND 2u

static const struct {
    const char *id;
    int32_t status;
    size_t size;
} rows[] = {
    { NULL, PMIX_SUCCESS, 0 },
    { "id", PMIX_SUCCESS, 24 },
    { "", PMIX_ERR_LOST_CONNECTION, 0 },
};

Test(round_blob, has_its_entries_in_their_order)
{
    static char bytes[24] = "what it contributes";
    const char *at;
    size_t left;
    struct sx_blob blob;
    struct sx_blob_view view;
    struct sx_opened entry;

    cr_assert_eq(sx_blob_begin_as(&blob, SX_BLOB_ROUND), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_round_entry head = { .kind = KIND,
                                             .step = SX_ROUND_COMMIT,
                                             .status = rows[i].status };
        const struct sx_blob contribution = { .bytes = bytes, .size = rows[i].size };

        cr_assert_eq(sx_round_blob_add(&blob, &head, rows[i].id, &contribution), PMIX_SUCCESS);
    }
    at = blob.bytes;
    left = blob.size;
    cr_assert(sx_blob_next(&at, &left, &view));
    cr_expect_eq(left, 0);
    cr_expect_eq(view.magic, SX_BLOB_ROUND);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_assert_null(sx_body_next(&entry, &sx_round_entry_body, &view.body, &view.body_size));
        const struct sx_round_entry *const head = entry.head;
        const char *const id = sx_part_text(&entry.parts[SX_ROUND_ID]);

        cr_expect(head->kind == KIND && head->step == SX_ROUND_COMMIT);
        cr_expect_eq(head->status, rows[i].status);
        cr_expect(id == rows[i].id || strcmp(id, rows[i].id) == 0, "row %zu", i);
        cr_expect_eq(entry.parts[SX_ROUND_CONTRIBUTION].size, rows[i].size);
        cr_expect(rows[i].size == 0 ||
                  strcmp((const char *)entry.parts[SX_ROUND_CONTRIBUTION].at, bytes) == 0);
    }
    cr_expect_eq(view.body_size, 0);
    sx_blob_clear(&blob);
}

Test(round_blob, keeps_the_bounds_of_its_signature)
{
    body_judge("entry of a round", &sx_round_entry_body);
}
