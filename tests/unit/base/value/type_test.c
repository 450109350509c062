/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* type_test.c - the type table against the ABI and against itself. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/util.h"
#include "base/value/type.h"

#include "../samples.h"

/* Sizes of the ABI on x86-64, not taken from the headers. */
static const struct {
    pmix_data_type_t type;
    const char *name;
    size_t size;
} abi[] = {
    { 1, "PMIX_BOOL", 1 },
    { 3, "PMIX_STRING", 8 },
    { 5, "PMIX_PID", 4 },
    { 18, "PMIX_TIMEVAL", 16 },
    { 20, "PMIX_STATUS", 4 },
    { 21, "PMIX_VALUE", 32 },
    { 22, "PMIX_PROC", 260 },
    { 23, "PMIX_APP", 56 },
    { 24, "PMIX_INFO", 552 },
    { 25, "PMIX_PDATA", 808 },
    { 27, "PMIX_BYTE_OBJECT", 16 },
    { 38, "PMIX_PROC_INFO", 296 },
    { 39, "PMIX_DATA_ARRAY", 24 },
    { 40, "PMIX_PROC_RANK", 4 },
    { 41, "PMIX_QUERY", 24 },
    { 45, "PMIX_IOF_CHANNEL", 2 },
    { 46, "PMIX_ENVAR", 24 },
    { 47, "PMIX_COORD", 24 },
    { 48, "PMIX_REGATTR", 536 },
    { 49, "PMIX_REGEX", 16 },
    { 52, "PMIX_PROC_CPUSET", 16 },
    { 53, "PMIX_GEOMETRY", 40 },
    { 54, "PMIX_DEVICE_DIST", 32 },
    { 55, "PMIX_ENDPOINT", 32 },
    { 56, "PMIX_TOPO", 16 },
    { 57, "PMIX_DEVTYPE", 8 },
    { 58, "PMIX_LOCTYPE", 2 },
    { 60, "PMIX_PROC_NSPACE", 256 },
    { 61, "PMIX_PROC_STATS", 352 },
    { 62, "PMIX_DISK_STATS", 96 },
    { 63, "PMIX_NET_STATS", 56 },
    { 64, "PMIX_NODE_STATS", 104 },
    { 65, "PMIX_DATA_BUFFER", 40 },
    { 66, "PMIX_STOR_MEDIUM", 8 },
    { 69, "PMIX_STOR_ACCESS_TYPE", 2 },
    { 70, "PMIX_DEVICE", 24 },
    { 71, "PMIX_RESBLOCK_DIRECTIVE", 1 },
    { 72, "PMIX_RESOURCE_UNIT", 16 },
    { 73, "PMIX_NODE_PID", 16 },
    { 74, "PMIX_REGEX2", 24 },
    { 75, "PMIX_ALLOC_INHERIT", 1 },
};

Test(type, rows_agree_with_the_abi)
{
    for (size_t i = 0; i < SX_COUNT(abi); i++) {
        const struct sx_type *row = sx_type_find(abi[i].type);

        cr_assert_not_null(row, "%s", abi[i].name);
        cr_expect_str_eq(row->name, abi[i].name);
        cr_expect_eq(row->size_bytes, abi[i].size, "%s: %u", row->name, row->size_bytes);
    }
}

Test(type, every_number_of_the_standard_has_a_row_or_no_c_type)
{
    static const pmix_data_type_t none[] = { PMIX_UNDEF, PMIX_BUFFER,  PMIX_KVAL,
                                             29,         PMIX_COMMAND, 44 };
    unsigned without = 0;

    for (pmix_data_type_t type = 0; type <= PMIX_ALLOC_INHERIT; type++) {
        bool wanted = true;

        for (size_t i = 0; i < SX_COUNT(none); i++) {
            wanted = wanted && none[i] != type;
        }
        cr_expect_eq(sx_type_find(type) != NULL, wanted, "type %u", type);
        without += !wanted;
    }
    cr_assert_eq(without, SX_COUNT(none));
    cr_assert_null(sx_type_find(PMIX_ALLOC_INHERIT + 1));
    cr_assert_null(sx_type_find(PMIX_DATA_TYPE_MAX));
    cr_assert_null(sx_type_find(UINT16_MAX));
}

Test(type, members_lie_in_their_struct_and_apart)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        const struct sx_type *row = sx_type_find(type);
        uint8_t used[1024] = { 0 };

        for (size_t i = 0; row != NULL && i < row->member_count; i++) {
            const struct sx_member *m = &row->members[i];

            cr_assert(m->off + m->size <= row->size_bytes, "%s member %zu", row->name, i);
            for (size_t j = m->off; j < (size_t)m->off + m->size; j++) {
                cr_assert_eq(used[j]++, 0, "%s member %zu", row->name, i);
            }
            if (m->kind == SX_MEMBER_PLAIN) {
                cr_assert_eq(sx_type_find(m->type)->size_bytes, m->size, "%s member %zu", row->name,
                             i);
            }
            if (m->kind == SX_MEMBER_ARRAY) {
                cr_assert_not_null(sx_type_find(m->type));
                cr_assert(m->count_off + sizeof(size_t) <= row->size_bytes);
            }
        }
    }
}

Test(type, scalars_are_what_one_cell_holds)
{
    cr_assert_eq(sx_type_scalar_size(PMIX_BOOL), 1);
    cr_assert_eq(sx_type_scalar_size(PMIX_UINT64), 8);
    cr_assert_eq(sx_type_scalar_size(PMIX_PROC_RANK), 4);
    cr_assert_eq(sx_type_scalar_size(PMIX_TIMEVAL), 0);
    cr_assert_eq(sx_type_scalar_size(PMIX_STRING), 0);
    cr_assert_eq(sx_type_scalar_size(PMIX_PROC), 0);
    cr_assert_eq(sx_type_scalar_size(PMIX_POINTER), 0);
    cr_assert_eq(sx_type_scalar_size(PMIX_UNDEF), 0);
    cr_assert_eq(sx_type_scalar_size(499), 0);
}
