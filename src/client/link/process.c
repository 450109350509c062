/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process.c - the state of this process as a client, the checks that every call makes first, and
 * the processes and bodies that calls send. */
#include "client/link/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/call/role.h"
#include "base/value/value.h"
#include "client/link/op.h"

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

/* ---- process lists and bodies ---------------------------------------------------------------- */

/* Programs that deal only with their own job leave the namespace empty. */
const char *sx_wire_nspace(const pmix_proc_t *proc)
{
    return proc->nspace[0] != '\0' ? proc->nspace : sx_process.self.nspace;
}

pmix_status_t sx_wire_procs_check(const pmix_proc_t *procs, size_t nprocs)
{
    size_t size;

    return sx_procs_measure(procs, nprocs, sx_process.self.nspace, &size);
}

static bool is_sorted(const pmix_proc_t *procs, size_t nprocs)
{
    for (size_t i = 1; i < nprocs; i++) {
        if (procs[i - 1].nspace[0] == '\0' || sx_proc_order(&procs[i - 1], &procs[i]) >= 0) {
            return false;
        }
    }
    return true;
}

const pmix_proc_t *sx_wire_procs_sorted(const pmix_proc_t *procs, size_t *nprocs,
                                        pmix_proc_t **ret_copy)
{
    size_t kept = 0;

    *ret_copy = NULL;
    if (is_sorted(procs, *nprocs)) {
        return procs;
    }
    pmix_proc_t *const copy = malloc(*nprocs * sizeof(*copy));

    if (copy == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < *nprocs; i++) {
        memcpy(copy[i].nspace, sx_wire_nspace(&procs[i]), sizeof(copy[i].nspace));
        copy[i].rank = procs[i].rank;
    }
    qsort(copy, *nprocs, sizeof(*copy), sx_proc_order);
    for (size_t i = 0; i < *nprocs; i++) {
        if (kept == 0 || sx_proc_order(&copy[kept - 1], &copy[i]) != 0) {
            copy[kept++] = copy[i];
        }
    }
    *nprocs = kept;
    return *ret_copy = copy;
}

pmix_status_t sx_wire_write(uint16_t kind, struct sx_draft *draft, void *room, size_t room_size,
                            struct iovec *ret_body)
{
    size_t size;
    void *at = room;

    draft->signature = sx_message_spec(kind)->body;
    draft->nspace = sx_process.self.nspace;
    pmix_status_t rc = sx_body_measure(draft, &size);

    if (rc == PMIX_SUCCESS) {
        rc = sx_message_size_judge(kind, size);
    }
    if (rc == PMIX_SUCCESS && size > room_size) {
        at = malloc(size);
        rc = at == NULL ? PMIX_ERR_OUT_OF_RESOURCE : rc;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_body_write(draft, at);
    }
    if (rc == PMIX_SUCCESS) {
        *ret_body = (struct iovec){ .iov_base = at, .iov_len = size };
    } else if (at != room) {
        free(at);
    }
    return rc;
}
