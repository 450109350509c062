/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fd.c - shmix_fd: the descriptor to poll, opened by the first call. */
#include <shmix.h>

#include "base/clock.h"
#include "client/link/local.h"
#include "client/link/process.h"
#include "client/link/request.h"
#include "client/link/wait.h"
#include "client/link/wakefd.h"

static pmix_status_t open_once(void)
{
    struct sx_process *const p = &sx_process;
    struct sx_link *const link = sx_primary();
    struct sx_op op = SX_OP_INIT(&sx_op_plain, link);
    pmix_status_t rc = sx_link_status(link);

    if (rc == PMIX_ERR_UNREACH) {
        rc = PMIX_SUCCESS; /* a singleton: only its own callbacks arrive */
    } else if (rc == PMIX_SUCCESS) {
        rc = sx_request(&op, SX_MSG_WAKE_GET, NULL, 0,
                        sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
    }
    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&p->lock);
        rc = sx_wakefd_open_locked(link, op.fd);
        pthread_mutex_unlock(&p->lock);
    }
    return rc;
}

pmix_status_t shmix_fd(int *ret_fd)
{
    struct sx_process *const p = &sx_process;
    pmix_status_t rc;

    if (ret_fd == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    rc = sx_wait_until(sx_primary(), sx_wakefd_begin, NULL, 0, SX_DEADLINE_NEVER);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_wakefd_is_used() ? PMIX_SUCCESS : open_once();
    pthread_mutex_lock(&p->lock);
    const int fd = sx_wakefd_end_locked();
    if (rc == PMIX_SUCCESS) {
        *ret_fd = fd;
    }
    sx_local_ring_locked();
    pthread_mutex_unlock(&p->lock);
    return rc;
}
