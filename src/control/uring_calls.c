/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* uring_calls.c - the calls of liburing (base/system/library.h).  Without liburing no ring is set
 * up, as on a kernel without io_uring, and the loop uses epoll. */
#include <errno.h>
#include <liburing.h>

#include "base/system/library.h"

#define CALL(refused, type, name, params, args) \
    SX_LIBRARY_CALL(SHMIX_LIBURING, refused, type, name, params, args)
#define CALL_VOID(name, params, args) SX_LIBRARY_CALL_VOID(SHMIX_LIBURING, name, params, args)

typedef struct io_uring ring_t;
typedef struct io_uring_cqe cqe_t;

/* clang-format off: a table */
CALL(-ENOSYS, int, io_uring_queue_init_params,
     (unsigned count, ring_t *ring, struct io_uring_params *params), (count, ring, params))
CALL_VOID(io_uring_queue_exit, (ring_t * ring), (ring))
CALL(-ENOSYS, int, io_uring_ring_dontfork, (ring_t * ring), (ring))
CALL(NULL, struct io_uring_probe *, io_uring_get_probe_ring, (ring_t * ring), (ring))
CALL_VOID(io_uring_free_probe, (struct io_uring_probe * probe), (probe))
CALL(-ENOSYS, int, io_uring_submit, (ring_t * ring), (ring))
CALL(-ENOSYS, int, io_uring_submit_and_wait, (ring_t * ring, unsigned count), (ring, count))
CALL(-ENOSYS, int, io_uring_submit_and_wait_timeout,
     (ring_t * ring, cqe_t **ret, unsigned count, struct __kernel_timespec *time, sigset_t *mask),
     (ring, ret, count, time, mask))
CALL(-ENOSYS, int, __io_uring_get_cqe,
     (ring_t * ring, cqe_t **ret, unsigned submit, unsigned count, sigset_t *mask),
     (ring, ret, submit, count, mask))
