/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fuzz.h - what every target has: its entry, and the way to say that a promise is broken. */
#ifndef SX_FUZZ_FUZZ_H
#define SX_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Feed @data, whose block ends where it ends, to the reader under test.  Return: 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stays on in release builds; the fuzzer keeps the input that led here. */
#define FUZZ_PROMISE(fact)                                                     \
    do {                                                                       \
        if (!(fact)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #fact); \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
