/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* barrier.h - the fence of order seq_cst: stores before it are seen before loads after it. */
#ifndef SX_BASE_BARRIER_H
#define SX_BASE_BARRIER_H

#include <stdatomic.h>

static inline void sx_barrier(void)
{
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
/* The compiler's race detector cannot follow fences; here they order atomics, which it does not
 * check for races. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    atomic_thread_fence(memory_order_seq_cst);
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

#endif
