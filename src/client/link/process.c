/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process.c - the state of this process as a client, and the checks that every call makes first. */
#include "client/link/process.h"

#include <string.h>

#include "base/call/role.h"
#include "base/value/value.h"

static const struct sx_intake *const nobody[] = { NULL }; /* before PMIx_Init */

struct sx_process sx_process = {
    .intakes = nobody,
    .first = {
        .socket_fd = -1,
        .lane_lock = PTHREAD_MUTEX_INITIALIZER,
        .commit_over = PTHREAD_COND_INITIALIZER,
        .requests = SX_LIST_INIT(sx_process.first.requests),
        .window = SX_WINDOW_NULL,
        .collectives = SX_LIST_INIT(sx_process.first.collectives),
    },
    .primary = &sx_process.first,
    .links = { &sx_process.first },
    .link_count = 1,
    .linked = PTHREAD_COND_INITIALIZER,
    .life_lock = PTHREAD_MUTEX_INITIALIZER,
    .life_cond = PTHREAD_COND_INITIALIZER,
    .view_lock = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .quiet = PTHREAD_COND_INITIALIZER,
    .tasks = SX_LIST_INIT(sx_process.tasks),
    .data_lock = PTHREAD_MUTEX_INITIALIZER,
};

bool sx_proc_is_valid(const pmix_proc_t *proc)
{
    return proc != NULL && sx_name_len(proc->nspace, sizeof(proc->nspace)) < sizeof(proc->nspace);
}

bool sx_key_is_valid(const char *key, size_t *ret_len)
{
    const size_t len = key != NULL ? strnlen(key, PMIX_MAX_KEYLEN + 1) : 0;

    if (len == 0 || len > PMIX_MAX_KEYLEN) {
        return false;
    }
    *ret_len = len;
    return true;
}

pmix_status_t sx_process_misused(void)
{
    return sx_role_server_get() == NULL && !sx_process_ready() ? PMIX_ERR_INIT : PMIX_ERR_BAD_PARAM;
}
