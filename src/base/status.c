/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* status.c - raise a status with its place, translate errno, and die on a broken invariant.
 *
 * A raised failure is one line of the log; the text is cut at SX_RAISE_TEXT_MAX bytes.  Its place
 * in the source and the name of the status are for level debug: users can do nothing with them. */
#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/names.h"

#define SX_RAISE_TEXT_MAX 384

pmix_status_t sx_raise(pmix_status_t status, const char *file, int line, const char *func,
                       const char *fmt, ...)
{
    const int errno_kept = errno;
    char text[SX_RAISE_TEXT_MAX];
    va_list args;

    if (sx_log_wants(SX_LOG_ERROR)) {
        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        if (sx_log_wants(SX_LOG_DEBUG)) {
            const char *const slash = strrchr(file, '/');
            const char *const name = sx_name_find(PMIX_STATUS, status);

            sx_log(SX_LOG_ERROR, "%s (%s, %s:%d, %s %d)", text, func,
                   slash == NULL ? file : slash + 1, line, name == NULL ? "status" : name, status);
        } else {
            sx_log(SX_LOG_ERROR, "%s", text);
        }
    }
    errno = errno_kept;
    return status;
}

pmix_status_t sx_status_from_errno(int err)
{
    switch (err) {
    case 0:
        return PMIX_SUCCESS;
    case ENOMEM:
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case EDQUOT:
    case EFBIG:
    case ENOBUFS:
        return PMIX_ERR_OUT_OF_RESOURCE;
    case EACCES:
    case EPERM:
    case EROFS:
        return PMIX_ERR_NO_PERMISSIONS;
    case ETIMEDOUT:
    case ETIME:
        return PMIX_ERR_TIMEOUT;
    case ENOSYS:
    case EOPNOTSUPP:
        return PMIX_ERR_NOT_SUPPORTED;
    case EPIPE:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
    case ESHUTDOWN:
    case ESRCH:
        return PMIX_ERR_LOST_CONNECTION;
    case EINVAL:
        return PMIX_ERR_BAD_PARAM;
    default:
        return PMIX_ERROR;
    }
}

const char *sx_refused_advice(int err)
{
    return err == EPERM || err == ENOSYS ? "; a filter of system calls (seccomp) has to allow it"
                                         : "";
}

void sx_assert_failed(const char *fact, const char *file, int line)
{
    char text[SX_RAISE_TEXT_MAX];

    /* Written past the log's level: the last words of a process are never unwanted. */
    snprintf(text, sizeof(text), "shmix: broken invariant: %s (%s:%d)\n", fact, file, line);
    fputs(text, stderr);
    fflush(stderr);
    abort();
}
