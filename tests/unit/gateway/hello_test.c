/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello_test.c - a handshake is what the layout says, or it is refused with a reason. */
#include "gateway/hello.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pmix.h>
#include <stdio.h>
#include <string.h>

#include "gateway/codec.h"

/* As the fields follow each other; a size of 0 credential bytes is a module without any. */
struct claim {
    const char *security;
    uint32_t credential;
    uint8_t flag;
    const char *nspace;
    uint32_t rank;
    const char *version, *encoding;
    uint8_t described;
    const char *gds;
};

#define CLAIM                              \
    ((struct claim){ .security = "native", \
                     .credential = 8,      \
                     .nspace = "a.job",    \
                     .rank = 3,            \
                     .version = "4.2.2",   \
                     .encoding = "v41",    \
                     .described = 1,       \
                     .gds = "hash" })

static size_t put(uint8_t *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return size;
}

static size_t put_text(uint8_t *at, const char *text)
{
    return put(at, text, strlen(text) + 1);
}

static size_t put_u32(uint8_t *at, uint32_t number)
{
    const uint32_t be = htonl(number);

    return put(at, &be, sizeof(be));
}

static size_t body_make(uint8_t *at, const struct claim *claim)
{
    size_t size = put_text(at, claim->security);

    size += put_u32(at + size, claim->credential);
    for (uint32_t i = 0; i < claim->credential && i < 64; i++) {
        at[size++] = (uint8_t)(0xf0 + i);
    }
    at[size++] = claim->flag;
    size += put_text(at + size, claim->nspace);
    size += put_u32(at + size, claim->rank);
    size += put_text(at + size, claim->version);
    size += put_text(at + size, claim->encoding);
    at[size++] = claim->described;
    return size + put_text(at + size, claim->gds);
}

static uint8_t body[4096];

Test(hello, a_claim_is_taken_whole)
{
    struct sx_foreign foreign;
    const char *why = NULL;
    const size_t size = body_make(body, &CLAIM);

    cr_assert_eq(sx_foreign_parse(body, size, &foreign, &why), PMIX_SUCCESS, "%s", why);
    cr_expect_str_eq(foreign.proc.nspace, "a.job");
    cr_expect_eq(foreign.proc.rank, 3);
    cr_expect_str_eq(foreign.version, "4.2.2");
    cr_expect_eq(foreign.number, SX_FOREIGN_NUMBER(4, 2, 2));
    cr_expect_str_eq(foreign.gds, "hash");
    cr_expect_eq(foreign.form.encoding, SX_WIRE_V41);
    cr_expect_not(foreign.form.described);
    cr_expect_eq(foreign.pid, 0);
}

Test(hello, infos_at_its_end_name_the_process)
{
    struct sx_foreign foreign;
    const char *why = NULL;
    size_t size = body_make(body, &CLAIM);

    cr_assert_eq(sx_foreign_parse(body, size, &foreign, &why), PMIX_SUCCESS);
    cr_expect_eq(foreign.pid, 0);
    struct sx_wire_writer out = { .form = foreign.form };
    const pid_t pid = 4711;
    pmix_info_t all[2];

    PMIX_INFO_LOAD(&all[0], PMIX_CMD_LINE, "a program", PMIX_STRING);
    PMIX_INFO_LOAD(&all[1], PMIX_PROC_PID, &pid, PMIX_PID);
    sx_codec_put_array(&out, PMIX_INFO, all, 2);
    memcpy(body + size, out.bytes, out.size);
    cr_assert_eq(sx_foreign_parse(body, size + out.size, &foreign, &why), PMIX_SUCCESS);
    cr_expect_eq(foreign.pid, pid);
    /* Cut infos are not a reason to refuse the rank. */
    cr_assert_eq(sx_foreign_parse(body, size + out.size - 1, &foreign, &why), PMIX_SUCCESS);
    cr_expect_eq(foreign.pid, 0);
    PMIX_INFO_DESTRUCT(&all[0]);
    sx_wire_writer_deinit(&out);
}

Test(hello, no_byte_of_it_may_be_missing)
{
    struct sx_foreign foreign;
    const char *why;
    const size_t size = body_make(body, &CLAIM);

    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *const exact = malloc(cut + 1); /* so that a sanitizer sees a read behind it */

        memcpy(exact, body, cut);
        why = NULL;
        cr_expect_neq(sx_foreign_parse(exact, cut, &foreign, &why), PMIX_SUCCESS, "%zu", cut);
        cr_expect_not_null(why);
        free(exact);
    }
}

/* Write CLAIM with the fields of @other that are set; "none" comes without a credential. */
static size_t claim_make(const struct claim *other)
{
    struct claim claim = CLAIM;

    claim.security = other->security != NULL ? other->security : claim.security;
    claim.credential = other->security != NULL  ? 0
                       : other->credential != 0 ? other->credential
                                                : claim.credential;
    claim.flag = other->flag;
    claim.nspace = other->nspace != NULL ? other->nspace : claim.nspace;
    claim.rank = other->rank != 0 ? other->rank : claim.rank;
    claim.version = other->version != NULL ? other->version : claim.version;
    claim.encoding = other->encoding != NULL ? other->encoding : claim.encoding;
    claim.described = other->described != 0 ? other->described : claim.described;
    claim.gds = other->gds != NULL ? other->gds : claim.gds;
    return body_make(body, &claim);
}

Test(hello, what_is_served_and_what_is_not)
{
    static char long_name[300];
    const struct {
        const char *why;
        pmix_status_t want;
        struct claim other; /* in what it differs from CLAIM */
    } rows[] = {
        { "release 4.0", PMIX_SUCCESS, { .encoding = "v4" } },
        { "release 3", PMIX_SUCCESS, { .encoding = "v3", .version = "3.2.5" } },
        { "no credential", PMIX_SUCCESS, { .security = "none" } },
        { "described", PMIX_SUCCESS, { .described = 2 } },
        { "no store module", PMIX_SUCCESS, { .gds = "" } },
        { "the last rank", PMIX_SUCCESS, { .rank = PMIX_RANK_VALID } },
        { "a tool", PMIX_ERR_NOT_SUPPORTED, { .flag = 1 } },
        { "a scheduler", PMIX_ERR_NOT_SUPPORTED, { .flag = 10 } },
        { "an old encoding", PMIX_ERR_NOT_SUPPORTED, { .encoding = "v21" } },
        { "a later encoding", PMIX_ERR_NOT_SUPPORTED, { .encoding = "v61" } },
        { "a credential beyond the end", PMIX_ERR_BAD_PARAM, { .credential = UINT32_MAX } },
        { "no namespace", PMIX_ERR_BAD_PARAM, { .nspace = "" } },
        { "a long namespace", PMIX_ERR_BAD_PARAM, { .nspace = long_name } },
        { "no rank", PMIX_ERR_BAD_PARAM, { .rank = PMIX_RANK_WILDCARD } },
        { "a long version", PMIX_ERR_BAD_PARAM, { .version = long_name } },
        { "a version for a terminal", PMIX_ERR_BAD_PARAM, { .version = "4\033[2J" } },
        { "no such buffers", PMIX_ERR_BAD_PARAM, { .described = 3 } },
    };
    memset(long_name, 'n', sizeof(long_name) - 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sx_foreign foreign;
        const char *why = NULL;
        const size_t size = claim_make(&rows[i].other);

        cr_expect_eq(sx_foreign_parse(body, size, &foreign, &why), rows[i].want, "%s: %s",
                     rows[i].why, why);
        cr_expect_eq(why == NULL, rows[i].want == PMIX_SUCCESS, "%s", rows[i].why);
    }
}

Test(hello, versions_are_numbers_where_they_can_be)
{
    static const struct {
        const char *version;
        uint32_t number;
    } rows[] = {
        { "4.2.2", 0x040202 },    { "5.0.11", 0x05000b }, { "6.1", 0x060100 },
        { "4.2.9rc1", 0x040209 }, { "7", 0x070000 },      { "master", 0 },
        { "999.1.1", 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct claim claim = CLAIM;
        struct sx_foreign foreign;
        const char *why;

        claim.version = rows[i].version;
        cr_expect_eq(sx_foreign_parse(body, body_make(body, &claim), &foreign, &why), PMIX_SUCCESS);
        cr_expect_eq(foreign.number, rows[i].number, "%s", rows[i].version);
    }
}

Test(hello, a_header_announces_a_bounded_body)
{
    static const struct {
        const char *why;
        uint32_t index, tag, size;
        size_t want;
    } rows[] = {
        { "a handshake", UINT32_MAX, UINT32_MAX, 90, 90 },
        { "the largest", UINT32_MAX, UINT32_MAX, SX_FOREIGN_BODY_MAX, SX_FOREIGN_BODY_MAX },
        { "too large", UINT32_MAX, UINT32_MAX, SX_FOREIGN_BODY_MAX + 1, 0 },
        { "without a body", UINT32_MAX, UINT32_MAX, 0, 0 },
        { "a later message", 0, UINT32_MAX, 90, 0 },
        { "a later message's tag", UINT32_MAX, 100, 90, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint32_t header[4] = { rows[i].index, rows[i].tag, rows[i].size, 0 };

        cr_expect_eq(sx_foreign_body_size((const uint8_t *)header), rows[i].want, "%s",
                     rows[i].why);
    }
}
