/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* signature_test.c - what a body is written from comes out of it again, and nothing else does. */
#include "base/message/signature.h"

#include "../bodies.h"
#include "base/value/value.h"

/* ---- one process ----------------------------------------------------------------------------- */

static struct {
    uint32_t rank, name_len;
    char name[512];
} bytes = { .rank = 7 };

static size_t read_named(const char *name, uint32_t name_len, size_t left)
{
    struct sx_proc_ref proc;

    memset(bytes.name, 0, sizeof(bytes.name));
    memcpy(bytes.name, name, strlen(name));
    bytes.name_len = name_len;
    const size_t size = sx_proc_ref_read(&bytes, left, &proc);

    if (size != 0) {
        cr_expect_eq(proc.rank, 7);
        cr_expect_eq(proc.name_len, name_len);
        cr_expect_eq(proc.name, bytes.name);
    }
    return size;
}

Test(body, a_process_is_read_where_all_of_it_is_there)
{
    static const struct {
        const char *why, *name;
        uint32_t name_len;
        size_t left, want;
    } rows[] = {
        { "shortest", "a", 1, 16, 16 },
        { "no padding needed", "abcdefgh", 8, 16, 16 },
        { "more behind it", "abc", 3, 64, 16 },
        { "no bytes", "a", 1, 0, 0 },
        { "half a head", "a", 1, 7, 0 },
        { "no room for the name", "a", 1, 8, 0 },
        { "no room for the padding", "a", 1, 15, 0 },
        { "no name", "", 0, 16, 0 },
        { "a NUL in the name", "ab", 3, 16, 0 },
        { "a name past the bytes", "abcdefghi", 9, 16, 0 },
        { "a length that wraps when padded", "a", UINT32_MAX, 520, 0 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(read_named(rows[i].name, rows[i].name_len, rows[i].left), rows[i].want, "%s",
                     rows[i].why);
    }
}

Test(body, a_name_has_at_most_what_a_namespace_may_have)
{
    char name[PMIX_MAX_NSLEN + 2] = { 0 };

    memset(name, 'n', PMIX_MAX_NSLEN);
    cr_expect_eq(read_named(name, PMIX_MAX_NSLEN, sizeof(bytes)),
                 8 + sx_align_up(PMIX_MAX_NSLEN, 8));
    name[PMIX_MAX_NSLEN] = 'n';
    cr_expect_eq(read_named(name, PMIX_MAX_NSLEN + 1, sizeof(bytes)), 0);
}

/* ---- lists of processes ---------------------------------------------------------------------- */

struct head {
    uint32_t proc_count, info_size, code_count;
    uint16_t name_len, text_size;
    char name[8];
};
enum { PROCS, INFOS, CODES, TEXT };
static const struct sx_signature all = {
    .head_size = sizeof(struct head),
    .names = { SX_NAME_IN(struct head, name) },
    .parts = { [PROCS] = SX_PROCS_PART(struct head, proc_count, 1),
               [INFOS] = { .kind = SX_PART_INFOS,
                           .max = 8192,
                           SX_PART_WORD(struct head, info_size),
                           .thing = "what is said of it",
                           .advice = "say less" },
               [CODES] = SX_ARRAY_PART(struct head, code_count, int32_t, 16),
               [TEXT] = SX_TEXT_PART(struct head, text_size, 8) },
    .heap_max = 65536,
};
static const struct head head = { .name = "head" };

static struct sx_draft draft_of(const pmix_proc_t *procs, size_t count)
{
    return (struct sx_draft){
        .signature = &all, .head = &head, .nspace = "ours", .parts = { [PROCS] = { procs, count } }
    };
}

Test(body, is_opened_as_it_was_written)
{
    const pmix_proc_t procs[] = { { .nspace = "", .rank = 5 },
                                  { .nspace = "exactly8", .rank = PMIX_RANK_WILDCARD } };
    const int32_t codes[] = { -1, 7, 300 };
    struct sx_draft draft = draft_of(procs, 2);
    struct body body;
    struct sx_opened opened;
    struct sx_proc_ref ref;
    pmix_proc_t *read = NULL;
    pmix_info_t info, *decoded;
    size_t ninfo;

    PMIx_Info_load(&info, "key", "value", PMIX_STRING);
    draft.parts[INFOS] = (struct sx_part_source){ &info, 1 };
    draft.parts[CODES] = (struct sx_part_source){ codes, SX_COUNT(codes) };
    draft.parts[TEXT] = (struct sx_part_source){ "a text that is cut", 7 };
    cr_assert_eq(sx_body_measure(&draft, &body.size), PMIX_SUCCESS);
    cr_assert_eq(sx_body_write(&draft, body.bytes), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    cr_expect_eq(memcmp(body.bytes + sizeof(head), "\5\0\0\0\4\0\0\0ours\0\0\0\0", 16), 0);

    cr_assert_null(sx_body_open(&opened, &all, body.bytes, body.size));
    cr_expect_str_eq(((const struct head *)opened.head)->name, "head");
    cr_expect_eq(opened.size, body.size);
    cr_assert_eq(sx_part_procs(&opened.parts[PROCS], &read), PMIX_SUCCESS);
    cr_expect_str_eq(read[0].nspace, "ours", "an empty namespace is the writer's own");
    cr_expect_str_eq(read[1].nspace, "exactly8");
    cr_expect_eq(read[1].rank, PMIX_RANK_WILDCARD);
    free(read);
    struct sx_opened_part rest = opened.parts[PROCS];

    cr_expect(sx_part_proc_next(&rest, &ref) && sx_part_proc_next(&rest, &ref));
    cr_expect_eq(ref.name_len, 8);
    cr_expect_not(sx_part_proc_next(&rest, &ref));
    cr_assert_eq(sx_body_infos(&opened, INFOS, &decoded, &ninfo), PMIX_SUCCESS);
    cr_assert_eq(ninfo, 1);
    cr_expect_str_eq(decoded[0].value.data.string, "value");
    PMIX_INFO_FREE(decoded, ninfo);
    cr_expect_eq(opened.parts[CODES].count, 3);
    cr_expect_eq(memcmp(opened.parts[CODES].at, codes, sizeof(codes)), 0);
    cr_expect_str_eq(sx_part_text(&opened.parts[TEXT]), "a text");
}

Test(body, of_empty_parts_has_none)
{
    const pmix_proc_t proc = { .nspace = "job" };
    struct sx_draft draft = draft_of(&proc, 1);
    struct body body;
    struct sx_opened opened;
    pmix_info_t *info;
    size_t ninfo;

    cr_assert_eq(sx_body_measure(&draft, &body.size), PMIX_SUCCESS);
    cr_expect_eq(body.size, sizeof(head) + 16);
    cr_assert_eq(sx_body_write(&draft, body.bytes), PMIX_SUCCESS);
    cr_assert_null(sx_body_open(&opened, &all, body.bytes, body.size));
    cr_expect_null(sx_part_text(&opened.parts[TEXT]));
    cr_assert_eq(sx_body_infos(&opened, INFOS, &info, &ninfo), PMIX_SUCCESS);
    cr_expect(info == NULL && ninfo == 0);
}

Test(body, keeps_the_bounds_of_its_signature)
{
    body_judge("all parts", &all);
}

Test(body, is_not_written_of_what_cannot_be_named_or_is_too_much)
{
    static pmix_info_t many[200];
    static char large[9000];
    const pmix_byte_object_t object = { .bytes = large, .size = sizeof(large) };
    const pmix_proc_t proc = { .nspace = "job" };
    struct body body;
    size_t size;
    pmix_proc_t endless;

    memset(&endless, 'n', sizeof(endless));
    struct sx_draft draft = draft_of(&endless, 1);
    cr_expect_eq(sx_body_measure(&draft, &size), PMIX_ERR_BAD_PARAM, "a name without an end");
    draft = draft_of(NULL, 1);
    cr_expect_eq(sx_body_measure(&draft, &size), PMIX_ERR_BAD_PARAM, "no list");
    draft = draft_of(&proc, SX_PROCS_MAX + 1);
    cr_expect_eq(sx_body_measure(&draft, &size), PMIX_ERR_BAD_PARAM, "a list too long");
    static pmix_proc_t changing[SX_PROCS_RUNS_MAX + 2];
    for (size_t i = 0; i < SX_COUNT(changing); i++) {
        PMIx_Load_procid(&changing[i], i % 2 == 0 ? "job" : "other", (uint32_t)i);
    }
    draft = draft_of(changing, SX_PROCS_RUNS_MAX + 1);
    cr_expect_eq(sx_body_measure(&draft, &size), PMIX_ERR_BAD_PARAM, "too many changes of names");
    PMIx_Load_procid(&changing[1], "job", 1);
    draft = draft_of(changing, SX_PROCS_RUNS_MAX + 2);
    cr_expect_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS, "as many changes as there may be");
    draft = draft_of(&(pmix_proc_t){ .rank = 1 }, 1);
    draft.nspace = "";
    cr_expect_eq(sx_body_measure(&draft, &size), PMIX_ERR_BAD_PARAM, "a name that is none");

    draft = draft_of(&proc, 1);
    draft.parts[INFOS] = (struct sx_part_source){ many, 1 };
    PMIx_Info_load(&many[0], "large", &object, PMIX_BYTE_OBJECT);
    cr_expect_eq(sx_body_measure(&draft, &size), PMIX_ERR_OUT_OF_RESOURCE, "a part too large");
    PMIx_Info_destruct(&many[0]);
    draft.parts[INFOS].count = 120;
    for (size_t i = 0; i < SX_COUNT(many); i++) {
        PMIx_Info_load(&many[i], "k", NULL, PMIX_BOOL);
    }
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, 8192);
    uint64_t *const bytes = malloc(size);

    cr_assert_not_null(bytes);
    cr_expect_eq(sx_body_write(&draft, bytes), PMIX_ERR_OUT_OF_RESOURCE, "unfolds to too much");
    free(bytes);
    (void)body;
}

/* Who reads it learns that its infos are too much, and may still say so. */
Test(body, that_unfolds_to_too_much_is_opened_with_that_status)
{
    static pmix_info_t many[120];
    const pmix_proc_t proc = { .nspace = "job" };
    struct sx_signature roomy = all;
    struct sx_draft draft = draft_of(&proc, 1);
    struct sx_opened opened;
    pmix_info_t *info;
    size_t size, ninfo;

    roomy.heap_max = UINT64_MAX;
    draft.signature = &roomy;
    draft.parts[INFOS] = (struct sx_part_source){ many, SX_COUNT(many) };
    for (size_t i = 0; i < SX_COUNT(many); i++) {
        PMIx_Info_load(&many[i], "k", NULL, PMIX_BOOL);
    }
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    uint64_t *const bytes = malloc(size);

    cr_assert_not_null(bytes);
    cr_assert_eq(sx_body_write(&draft, bytes), PMIX_SUCCESS);
    cr_assert_null(sx_body_open(&opened, &all, bytes, size));
    cr_expect_eq(opened.status, PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(sx_body_infos(&opened, INFOS, &info, &ninfo), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(opened.parts[PROCS].count, 1);
    free(bytes);
}

/* Back to back: each says where the next one begins. */
Test(body, is_followed_by_the_next_one)
{
    const pmix_proc_t proc = { .nspace = "job" };
    struct sx_draft draft = draft_of(&proc, 1);
    struct body body;
    struct sx_opened opened;
    const uint8_t *at = body.bytes;
    size_t size, left;

    draft.parts[TEXT] = (struct sx_part_source){ "one", 4 };
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_body_write(&draft, body.bytes), PMIX_SUCCESS);
    draft.parts[TEXT] = (struct sx_part_source){ "two", 4 };
    cr_assert_eq(sx_body_write(&draft, body.bytes + size), PMIX_SUCCESS);
    left = 2 * size;
    cr_assert_null(sx_body_next(&opened, &all, &at, &left));
    cr_expect_str_eq(sx_part_text(&opened.parts[TEXT]), "one");
    cr_expect_eq(left, size);
    cr_assert_null(sx_body_next(&opened, &all, &at, &left));
    cr_expect_str_eq(sx_part_text(&opened.parts[TEXT]), "two");
    cr_expect_eq(left, 0);
    cr_expect_not_null(sx_body_next(&opened, &all, &at, &left));
}
