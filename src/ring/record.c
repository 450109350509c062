/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.c - the one part of records that has no fixed size and is read on both sides. */
#include "ring/record.h"

#include <string.h>

#include <pmix_common.h>

#include "base/util.h"

size_t sx_proc_ref_read(const void *at, size_t left, struct sx_proc_ref *ret)
{
    uint32_t head[2];

    if (left < sizeof(head)) {
        return 0;
    }
    memcpy(head, at, sizeof(head));
    const char *const name = (const char *)at + sizeof(head);
    const size_t padded = sx_align_up(head[1], 8);

    if (head[1] == 0 || head[1] > PMIX_MAX_NSLEN || padded > left - sizeof(head) ||
        memchr(name, '\0', head[1]) != NULL) {
        return 0;
    }
    *ret = (struct sx_proc_ref){ .rank = head[0], .name_len = head[1], .name = name };
    return sizeof(head) + padded;
}
