/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* names.c - a terminal obeys control characters, and a name may have some. */
#include "cli/names.h"

#include <inttypes.h>
#include <stdio.h>

#include <pmix_common.h>

#include "launch/common/say.h"

void sx_names_text_print(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char byte = (unsigned char)text[i];

        if (byte >= 0x20 && byte < 0x7f) {
            putchar(byte);
        } else {
            printf("\\x%02x", byte);
        }
    }
}

static void rank_print(uint32_t rank, bool json)
{
    if (rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF) {
        const char *const word = rank == PMIX_RANK_UNDEF ? "undef" : "*";

        printf(json ? "\"%s\"" : "%s", word);
    } else {
        printf("%" PRIu32, rank);
    }
}

void sx_names_proc_print(const char *nspace, size_t len, uint32_t rank, bool json)
{
    if (json) {
        printf("{\"nspace\":");
        sx_json_string(nspace, len);
        printf(",\"rank\":");
        rank_print(rank, true);
        putchar('}');
    } else {
        sx_names_text_print(nspace, len);
        putchar('.');
        rank_print(rank, false);
    }
}
