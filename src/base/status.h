/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* status.h - one pmix_status_t, raised once where a failure is first known, carried unchanged.
 *
 * SX_RAISE logs the cause, at level debug with its place in the source and the status by name, and
 * yields the status; callers return it as it is.  Expected
 * outcomes (full, not found, not yet) are plain returns and are not raised. */
#ifndef SX_BASE_STATUS_H
#define SX_BASE_STATUS_H

#include <pmix_common.h>

#include "base/log.h"

/* Log "@fmt" at error level and yield @status. */
#define SX_RAISE(status, ...) sx_raise((status), __FILE__, __LINE__, __func__, __VA_ARGS__)

pmix_status_t sx_raise(pmix_status_t status, const char *file, int line, const char *func,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The status for @err (an errno value): ENOMEM, ENOSPC, EMFILE and the like are
 * PMIX_ERR_OUT_OF_RESOURCE, EACCES and EPERM PMIX_ERR_NO_PERMISSIONS, ETIMEDOUT PMIX_ERR_TIMEOUT,
 * ENOSYS and EOPNOTSUPP PMIX_ERR_NOT_SUPPORTED, a vanished peer PMIX_ERR_LOST_CONNECTION, EINVAL
 * PMIX_ERR_BAD_PARAM; all else PMIX_ERROR. */
pmix_status_t sx_status_from_errno(int err);

/* Advice about @err, the errno of a system call that has no other reason to fail with EPERM or
 * ENOSYS than a filter.  Return: a static text that ends a message, "" for other errors. */
const char *sx_refused_advice(int err);

/* For this library's private state only; stays on in release builds; aborts with a line. */
#define sx_assert(fact)                                  \
    do {                                                 \
        if (__builtin_expect(!(fact), 0)) {              \
            sx_assert_failed(#fact, __FILE__, __LINE__); \
        }                                                \
    } while (0)

void sx_assert_failed(const char *fact, const char *file, int line) __attribute__((noreturn));

#endif
