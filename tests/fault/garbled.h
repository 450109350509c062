/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* garbled.h - a body of any signature: whole, with contents that a seed decides, or mutated.
 *
 * Whole ones have infos of every directive that any function takes, and of every attribute there
 * is, half of them with a value of a wrong type; processes that are there and some that are not.
 * No byte that is made here is a '/', so that no text in a body is the path of a file. */
#ifndef SX_TESTS_FAULT_GARBLED_H
#define SX_TESTS_FAULT_GARBLED_H

#include <stddef.h>
#include <stdint.h>

#include "base/message/signature.h"

#define GARBLED_BYTES_MAX (UINT32_C(1) << 18)

struct garbled {
    size_t size;
    _Alignas(8) uint8_t bytes[GARBLED_BYTES_MAX];
};

/* Processes are of @nspace, or of one that nobody knows. */
void garbled_write(struct garbled *ret, const struct sx_signature *signature, const char *nspace,
                   uint64_t *seed);

/* One change: bytes, a word, what looks like a number or a size, names without their ends, the end
 * of the body. */
void garbled_mutate(struct garbled *body, const struct sx_signature *signature, uint64_t *seed);

#endif
