/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unclaimed_test.c - of what nobody pulls the newest is kept, and who writes much loses its own. */
#include "server/iof/output.h"

#include "../bare.h"

#define PIECE ((size_t)64 << 10)
#define PIECES_MAX (SX_KEPT_BYTES / PIECE)

static struct sx_server server;
static char bytes[PIECE];

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    sx_kept_init(&server);
}

static void finish(void)
{
    sx_kept_clear(&server);
    cr_expect_eq(server.iof.kept_bytes + server.iof.kept_count, 0);
    bare_deinit(&server);
}

static void keep(const char *nspace, pmix_rank_t rank, size_t size, bool again)
{
    struct sx_output *output;
    pmix_proc_t source;

    PMIx_Load_procid(&source, nspace, rank);
    cr_assert_eq(sx_output_new(&server, &source, bytes, size, &output), PMIX_SUCCESS);
    output->again = again;
    sx_kept_add(&server, output);
    sx_output_release(output);
}

static struct {
    const char *nspace;
    size_t bytes, ends;
} found;

static bool count(void *arg, struct sx_output *output)
{
    if (strcmp(output->source.nspace, found.nspace) == 0) {
        found.bytes += output->size;
        found.ends += output->size == 0;
    }
    return arg != NULL;
}

static void expect(const char *nspace, size_t size, size_t ends)
{
    found.nspace = nspace;
    found.bytes = found.ends = 0;
    sx_kept_each(&server, count, NULL);
    cr_expect_eq(found.bytes, size, "%s: %zu bytes, not %zu", nspace, found.bytes, size);
    cr_expect_eq(found.ends, ends, "%s: %zu ends, not %zu", nspace, found.ends, ends);
}

Test(kept, a_job_that_writes_much_pushes_out_its_own, .init = begin, .fini = finish)
{
    keep("few", 0, 6, false);
    keep("few", 0, 0, false);
    for (size_t i = 0; i < 3 * PIECES_MAX; i++) {
        keep("much", 0, PIECE, false);
    }
    expect("few", 6, 1);
    expect("much", (PIECES_MAX - 1) * PIECE, 0);
}

Test(kept, one_that_has_all_of_the_room_makes_room, .init = begin, .fini = finish)
{
    for (size_t i = 0; i < PIECES_MAX; i++) {
        keep("first", 0, PIECE, false);
    }
    for (size_t i = 0; i < PIECES_MAX; i++) {
        keep("second", 0, PIECE, false);
    }
    expect("first", PIECES_MAX / 2 * PIECE, 0);
    expect("second", PIECES_MAX / 2 * PIECE, 0);
}

Test(kept, bytes_push_out_no_end, .init = begin, .fini = finish)
{
    keep("job", 0, 0, false);
    for (size_t i = 0; i < 2 * PIECES_MAX; i++) {
        keep("job", 1, PIECE, false);
    }
    expect("job", SX_KEPT_BYTES, 1);
}

Test(kept, pieces_are_counted_unless_they_are_there_again, .init = begin, .fini = finish)
{
    keep("few", 0, 1, false);
    for (size_t i = 0; i < 2 * (size_t)SX_KEPT_COUNT; i++) {
        keep("ends", (pmix_rank_t)i, 0, i % 2 == 1);
    }
    expect("few", 1, 0);
    expect("ends", 0, 2 * (size_t)SX_KEPT_COUNT - 1);
    cr_expect_eq(server.iof.kept_count, SX_KEPT_COUNT);
}

Test(kept, what_is_taken_or_forgotten_is_gone, .init = begin, .fini = finish)
{
    keep("a", 0, 1, false);
    keep("b", 0, 1, false);
    sx_kept_forget(&server, "a");
    sx_kept_forget(&server, "c");
    expect("a", 0, 0);
    expect("b", 1, 0);
    sx_kept_each(&server, count, &found);
    expect("b", 0, 0);
    cr_expect(sx_list_empty(&server.iof.kept));
}
