/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* zlib_calls.c - the calls of zlib (library.h): without zlib nothing is compressed. */
#include <zlib.h>

#include "base/system/library.h"

#define CALL(name, params, args) SX_LIBRARY_CALL(SHMIX_LIBZ, Z_MEM_ERROR, int, name, params, args)

/* clang-format off: a table */
CALL(compress2, (Bytef * to, uLongf *to_size, const Bytef *from, uLong size, int level),
     (to, to_size, from, size, level))
CALL(uncompress2, (Bytef * to, uLongf *to_size, const Bytef *from, uLong *size),
     (to, to_size, from, size))
