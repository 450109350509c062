/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc_list.h - process lists as clients write them: {u32 rank, u32 length, name padded to 8}. */
#ifndef SX_TEST_PROC_LIST_H
#define SX_TEST_PROC_LIST_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

struct proc_list {
    _Alignas(8) char bytes[16384];
    size_t size;
};

static inline void proc_list_add(struct proc_list *list, uint32_t rank, const char *name)
{
    const uint32_t head[2] = { rank, (uint32_t)strlen(name) };
    const size_t padded = sx_align_up(head[1], 8);

    cr_assert(list->size + sizeof(head) + padded <= sizeof(list->bytes));
    memcpy(list->bytes + list->size, head, sizeof(head));
    memset(list->bytes + list->size + sizeof(head), 0, padded);
    memcpy(list->bytes + list->size + sizeof(head), name, head[1]);
    list->size += sizeof(head) + padded;
}

#endif
