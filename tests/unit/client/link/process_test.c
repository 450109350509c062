/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process_test.c - process lists as they travel. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client/link/link.h"
#include "client/link/op.h"

Test(wire, names_that_are_none_are_refused)
{
    pmix_proc_t empty = { .rank = 1 }, endless;

    memset(&endless, 'n', sizeof(endless));
    cr_expect_eq(sx_wire_procs_check(NULL, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_check(&empty, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_check(&endless, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_check(&empty, SX_PROCS_MAX + 1u), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_check(NULL, 0), PMIX_SUCCESS);
}

Test(wire, procs_are_sorted_and_each_once)
{
    strcpy(sx_process.self.nspace, "ours");
    const pmix_proc_t mixed[3] = { { .nspace = "", .rank = 1 },
                                   { .nspace = "a", .rank = 0 },
                                   { .nspace = "ours", .rank = 1 } };
    pmix_proc_t *copy;
    size_t count = 3;
    const pmix_proc_t *const sorted = sx_wire_procs_sorted(mixed, &count, &copy);

    cr_assert_eq(sx_wire_procs_check(mixed, 3), PMIX_SUCCESS, "an empty namespace is our own");
    cr_assert_eq(count, 2u, "one of them stands twice");
    cr_expect_str_eq(sorted[0].nspace, "a");
    cr_expect_str_eq(sorted[1].nspace, "ours");
    free(copy);
}

/* What fits goes into the room that there is. */
Test(wire, a_request_is_written_where_it_has_room)
{
    const pmix_proc_t procs[] = { { .nspace = "", .rank = 1 } };
    const struct sx_abort head = { .status = 3 };
    uint64_t room[8];

    strcpy(sx_process.self.nspace, "ours");
    for (size_t bytes = 0; bytes <= sizeof(room); bytes += 8) {
        struct sx_draft draft = { .head = &head, .parts = { [SX_ABORT_PROCS] = { procs, 1 } } };
        struct sx_opened opened;
        struct iovec body;

        cr_assert_eq(sx_wire_write(SX_MSG_ABORT, &draft, room, bytes, &body), PMIX_SUCCESS);
        cr_expect_eq(body.iov_base == room, body.iov_len <= bytes);
        cr_assert_null(sx_body_open(&opened, sx_message_spec(SX_MSG_ABORT)->body, body.iov_base,
                                    body.iov_len));
        cr_expect_eq(((const struct sx_abort *)opened.head)->status, 3);
        if (body.iov_base != room) {
            free(body.iov_base);
        }
    }
}
