/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_requests.c - one row per request: the host's entry, and the part that this server does
 * itself. */
#include "server/manage/host_requests.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <pmix.h>

#include "base/value/value.h"
#include "server/manage/job_control.h"
#include "server/model/alias.h"
#include "server/port/upcall.h"

struct own {
    struct sx_list link; /* server.own_asks, while the host is asked */
    struct sx_asker asker;
    const struct sx_role_ask *ask; /* the caller's: until sx_own_ask returns */
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
};

static const struct {
    enum sx_upcall_kind upcall;
    pmix_status_t (*part)(const struct sx_role_ask *ask); /* the part that is done here; NULL:
                                                           * none */
    bool (*is_ours)(const char *key);                     /* keys that the host does not receive */
} rows[SX_ROLE_ASKS] = {
    [SX_ROLE_ASK_CONTROL] = { SX_UPCALL_JOB_CONTROL, sx_control_by_host, sx_control_is_ours },
    [SX_ROLE_ASK_ALLOCATION] = { SX_UPCALL_ALLOCATE, NULL, NULL },
};

static void own_end(struct own *own, pmix_status_t status, const pmix_info_t *info, size_t ninfo)
{
    sx_asker_deinit(&own->asker);
    sx_list_remove(&own->link);
    own->cbfunc(status, (pmix_info_t *)(uintptr_t)info, ninfo, own->cbdata, NULL, NULL);
    free(own);
}

static void told(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker != NULL) {
        own_end(SX_CONTAINER(asker, struct own, asker), answer->status, answer->info,
                answer->ninfo);
    }
}

/* Copy the infos for the host, and append the asker's identity, as for a client.  Return:
 * PMIX_SUCCESS; PMIX_OPERATION_SUCCEEDED when nothing is left for the host;
 * PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t infos_copy(const struct sx_role_ask *ask, struct sx_upcall *up)
{
    const uint32_t uid = geteuid(), gid = getegid();
    pmix_status_t rc = PMIX_SUCCESS;

    up->info = calloc(ask->ninfo + 2, sizeof(*up->info));
    if (up->info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < ask->ninfo && rc == PMIX_SUCCESS; i++) {
        if (rows[ask->kind].is_ours == NULL || !rows[ask->kind].is_ours(ask->info[i].key)) {
            rc = sx_elements_copy(&up->info[up->ninfo++], &ask->info[i], 1, PMIX_INFO);
        }
    }
    if (rc == PMIX_SUCCESS && up->ninfo == 0 && ask->ninfo > 0) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (rc == PMIX_SUCCESS) {
        PMIx_Info_load(&up->info[up->ninfo++], PMIX_USERID, &uid, PMIX_UINT32);
        PMIx_Info_load(&up->info[up->ninfo++], PMIX_GRPID, &gid, PMIX_UINT32);
    }
    return rc;
}

/* @up is filled; the ownership of its contents moves in any case. */
static pmix_status_t host_ask(struct sx_server *server, struct own *own, const struct sx_upcall *up)
{
    sx_asker_init(&own->asker);
    sx_list_append(&server->own_asks, &own->link);
    const pmix_status_t rc = sx_upcall(server, rows[own->ask->kind].upcall, up);

    if (rc != PMIX_SUCCESS) {
        sx_asker_deinit(&own->asker);
        sx_list_remove(&own->link);
    }
    return rc;
}

static pmix_status_t begin(struct sx_server *server, void *arg)
{
    struct own *const own = arg;
    const struct sx_role_ask *const ask = own->ask;
    struct sx_alias_list targets;
    struct sx_upcall up = {
        .told = told, .asker = &own->asker, .proc = &server->self, .status = ask->detail
    };
    pmix_status_t rc = sx_alias_list(server, NULL, (pmix_proc_t *)(uintptr_t)ask->procs,
                                     ask->nprocs, &targets);

    if (rc == PMIX_SUCCESS) {
        rc = rows[ask->kind].part != NULL ? rows[ask->kind].part(ask) : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = infos_copy(ask, &up);
        up.procs = targets.all;
        up.nprocs = targets.count;
        if (rc == PMIX_SUCCESS) {
            rc = host_ask(server, own, &up);
        } else {
            sx_upcall_drop(&up);
        }
    }
    free(up.info);
    sx_alias_list_clear(&targets);
    return rc;
}

pmix_status_t sx_own_ask(const struct sx_role_ask *ask, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_server *const server = sx_server_get();
    struct own *const own = server == NULL ? NULL : calloc(1, sizeof(*own));

    if (own == NULL) {
        return server == NULL ? PMIX_ERR_INIT : PMIX_ERR_OUT_OF_RESOURCE;
    }
    *own = (struct own){ .ask = ask, .cbfunc = cbfunc, .cbdata = cbdata };
    const pmix_status_t rc = sx_server_call(server, begin, own);

    if (rc != PMIX_SUCCESS) {
        free(own);
    }
    return rc;
}

void sx_own_asks_stop(struct sx_server *server)
{
    while (!sx_list_empty(&server->own_asks)) {
        own_end(SX_LIST_ENTRY(server->own_asks.next, struct own, link), PMIX_ERR_NOT_AVAILABLE,
                NULL, 0);
    }
}
