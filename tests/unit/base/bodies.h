/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* payloads.h - a body of any signature, and what has to be true of the signature. */
#ifndef SX_TEST_BODIES_H
#define SX_TEST_BODIES_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/message/signature.h"
#include "base/util.h"

#define BODY_BYTES_MAX 2048u

struct body {
    size_t size;
    _Alignas(8) uint8_t bytes[BODY_BYTES_MAX];
};

/* A body that has something in each of its parts. */
static inline void body_write(struct body *ret, const struct sx_signature *signature)
{
    static const pmix_proc_t procs[] = { { .nspace = "a", .rank = 1 },
                                         { .nspace = "eight!!!", .rank = 2 } };
    static const uint8_t elements[3 * 16] = { 1, 2, 3 };
    static const char text[] = "text";
    _Alignas(8) uint8_t head[BODY_BYTES_MAX] = { 0 };
    struct sx_cell *const cell = (void *)head; /* as in struct sx_lane_put */
    struct sx_draft draft = { .signature = signature, .head = head, .nspace = "" };
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], "key", "value", PMIX_STRING);
    PMIx_Info_load(&info[1], "flag", NULL, PMIX_BOOL);
    for (unsigned i = 0; i < SX_BODY_PARTS_MAX; i++) {
        switch (signature->parts[i].kind) {
        case SX_PART_PROCS:
            draft.parts[i] = (struct sx_part_source){ procs, SX_COUNT(procs) };
            break;
        case SX_PART_ARRAY:
            draft.parts[i] = (struct sx_part_source){ elements, 3 };
            break;
        case SX_PART_INFOS:
            draft.parts[i] = (struct sx_part_source){ info, SX_COUNT(info) };
            break;
        case SX_PART_TEXT:
            draft.parts[i] = (struct sx_part_source){ text, sizeof(text) };
            break;
        case SX_PART_NAME:
            draft.parts[i] = (struct sx_part_source){ text, strlen(text) };
            break;
        case SX_PART_VALUE:
            cr_assert_eq(signature->parts[i].word_off, offsetof(struct sx_cell, len));
            cell->type = PMIX_STRING;
            draft.parts[i] = (struct sx_part_source){ text, sizeof(text) };
            break;
        default:
            break;
        }
    }
    cr_assert_eq(sx_body_measure(&draft, &ret->size), PMIX_SUCCESS);
    cr_assert_leq(ret->size, sizeof(ret->bytes));
    cr_assert_eq(sx_body_write(&draft, ret->bytes), PMIX_SUCCESS);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
}

/* Open the first @size bytes in memory of exactly that size, so that a sanitizer sees a step too
 * far, and decode all there is.  Return: NULL, or why they are refused. */
static inline const char *body_open(const struct sx_signature *signature, const uint8_t *bytes,
                                    size_t size)
{
    uint8_t *const exact = malloc(size + (size == 0));
    struct sx_opened body;

    cr_assert_not_null(exact);
    memcpy(exact, bytes, size);
    const char *why = sx_body_open(&body, signature, exact, size);

    for (unsigned i = 0; why == NULL && i < SX_BODY_PARTS_MAX; i++) {
        pmix_proc_t *procs = NULL;
        pmix_info_t *info = NULL;
        size_t ninfo = 0;

        if (signature->parts[i].kind == SX_PART_PROCS) {
            cr_assert_eq(sx_part_procs(&body.parts[i], &procs), PMIX_SUCCESS);
            cr_assert_eq(procs != NULL, body.parts[i].count != 0);
            free(procs);
        } else if (signature->parts[i].kind == SX_PART_INFOS) {
            const pmix_status_t rc = sx_body_infos(&body, i, &info, &ninfo);

            PMIX_INFO_FREE(info, ninfo);
            if (!signature->parts[i].decoded) {
                cr_assert_eq(rc, body.status);
            } else if (rc == PMIX_ERR_UNPACK_FAILURE) {
                why = "infos that contradict themselves";
            }
        }
    }
    free(exact);
    return why;
}

/* How many bytes at the end of a written body may be missing: its last padding. */
static inline size_t body_padding(const struct sx_signature *signature, const struct body *body)
{
    struct sx_opened opened;
    size_t padding = 0;

    cr_assert_null(sx_body_open(&opened, signature, body->bytes, body->size));
    for (unsigned i = 0; i < SX_BODY_PARTS_MAX && signature->parts[i].kind != SX_PART_NONE; i++) {
        padding = (size_t)sx_align_up(opened.parts[i].size, 8) - opened.parts[i].size;
    }
    return padding;
}

static inline bool body_is_open_ended(const struct sx_signature *signature)
{
    for (unsigned i = 0; i < SX_BODY_PARTS_MAX; i++) {
        if (signature->parts[i].kind == SX_PART_REST) {
            return true;
        }
    }
    return false;
}

/* Each word of a part says too much, or too little. */
static inline void body_judge_lies(const char *name, const struct sx_signature *signature,
                                   const struct body *good)
{
    static const uint64_t lies[] = { 1000, UINT16_MAX, INT32_MAX, UINT32_MAX - 7, UINT32_MAX };

    for (unsigned i = 0; i < SX_BODY_PARTS_MAX; i++) {
        const struct sx_part *const part = &signature->parts[i];

        for (size_t k = 0; k < SX_COUNT(lies) && part->word_size != 0; k++) {
            struct body body = *good;

            memcpy(body.bytes + part->word_off, &lies[k], part->word_size);
            cr_expect_not_null(body_open(signature, body.bytes, body.size), "%s part %u of %llu",
                               name, i, (unsigned long long)lies[k]);
            memset(body.bytes + part->word_off, 0, part->word_size);
            cr_expect_not_null(body_open(signature, body.bytes, body.size), "%s part %u of none",
                               name, i);
        }
    }
}

/* What every signature owes its readers: the whole is taken; what is cut, what has more behind it,
 * what lies, is refused; and nothing outside is read, whatever the bytes. */
static inline void body_judge(const char *name, const struct sx_signature *signature)
{
    unsigned seed = 42;
    struct body good = { .size = 0 };

    cr_assert_eq(signature->head_size % 8, 0, "%s", name);
    body_write(&good, signature);
    cr_expect_null(body_open(signature, good.bytes, good.size), "%s", name);
    const size_t whole = good.size - body_padding(signature, &good);

    for (size_t size = 0; size < whole; size++) {
        cr_expect_not_null(body_open(signature, good.bytes, size), "%s cut to %zu of %zu bytes",
                           name, size, good.size);
    }
    for (size_t more = 1; more <= 16 && !body_is_open_ended(signature); more++) {
        cr_expect_not_null(body_open(signature, good.bytes, good.size + more),
                           "%s and %zu bytes behind it", name, more);
    }
    for (unsigned i = 0; i < SX_BODY_NAMES_MAX && signature->names[i].size != 0; i++) {
        struct body endless = good;

        memset(endless.bytes + signature->names[i].off, 'n', signature->names[i].size);
        cr_expect_not_null(body_open(signature, endless.bytes, endless.size), "%s: endless", name);
    }
    body_judge_lies(name, signature, &good);
    for (int i = 0; i < 2000; i++) {
        struct body garbled = good;

        for (int flips = 1 + rand_r(&seed) % 3; flips > 0 && good.size > 0; flips--) {
            garbled.bytes[(size_t)rand_r(&seed) % good.size] = (uint8_t)rand_r(&seed);
        }
        (void)body_open(signature, garbled.bytes, garbled.size);
    }
}

#endif
