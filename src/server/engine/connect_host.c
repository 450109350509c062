/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_host.c - first the host's word, then the servers'. */
#include "server/engine/connect_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "server/model/agreement.h"
#include "server/port/joint.h"

/* ---- what connect and disconnect have in common ---------------------------------------------- */

static bool is_elsewhere(const struct sx_collective *collective)
{
    return sx_members_absent(&collective->members).elsewhere;
}

/* Let the servers agree. */
static pmix_status_t agree(struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;

    return sx_rounds_join(collective, members->real.all, members->real.count,
                          collective->part.told);
}

static pmix_status_t ask(struct sx_collective *collective, enum sx_upcall_kind entry,
                         bool has_entry, sx_told_fn told)
{
    struct sx_joint joint = { .told = told,
                              .asker = &collective->asker,
                              .procs = collective->members.real.all,
                              .proc_count = collective->members.real.count,
                              .wishes = &collective->wishes,
                              .is_partial = collective->members.incomplete };

    collective->part.told = told;
    return has_entry ? sx_joint_upcall(collective->members.server, entry, &joint)
                     : agree(collective);
}

/* The answer of the entry: it carries nothing.  Return: whether the servers have the next word. */
static bool goes_on(struct sx_collective *collective, const struct sx_host_answer *answer,
                    pmix_status_t *ret_status)
{
    *ret_status = answer->status;
    if (answer->status != PMIX_SUCCESS || answer->size > 0 || collective->is_over ||
        !is_elsewhere(collective)) {
        return false;
    }
    if (!sx_connect_host_reaches(collective->members.server)) {
        *ret_status = SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                               "the host has no fence_nb: the servers of several nodes cannot "
                               "agree on a %s",
                               sx_collective_name(collective->kind->number));
        return false;
    }
    *ret_status = agree(collective);
    return *ret_status == PMIX_SUCCESS;
}

bool sx_connect_host_reaches(const struct sx_server *server)
{
    return server->module.fence_nb != NULL;
}

/* ---- connect --------------------------------------------------------------------------------- */

bool sx_connect_host_hears(const struct sx_server *server)
{
    return server->module.connect != NULL;
}

pmix_status_t sx_connect_host_ask(struct sx_collective *collective, sx_told_fn told)
{
    return ask(collective, SX_UPCALL_CONNECT, sx_connect_host_hears(collective->members.server),
               told);
}

pmix_status_t sx_connect_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    const struct sx_members *const members = &collective->members;
    const struct sx_agreement head = { 0 };
    char name[PMIX_MAX_NSLEN + 1];
    pmix_proc_t *const here = malloc((members->count + 1) * sizeof(*here));

    if (here == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < members->count; i++) {
        const struct sx_client *const client = members->all[i].client;

        here[i] = sx_nspace_proc(client->nspace, client->rank);
    }
    snprintf(name, sizeof(name), "connected-%" PRIu64 ".%s", ++members->server->connect_last,
             members->server->relay_origin);
    struct sx_draft draft = {
        .signature = &sx_agreement_body,
        .head = &head,
        .nspace = "",
        .parts = { [SX_AGREEMENT_MEMBERS] = { here, members->count },
                   [SX_AGREEMENT_NAME] = { name, strlen(name) } },
    };
    const pmix_status_t rc = sx_agreement_add(blob, &draft);

    free(here);
    return rc;
}

static pmix_status_t nspace_brought(const struct sx_opened *nspace, void *arg)
{
    (void)nspace, (void)arg;
    return PMIX_SUCCESS;
}

bool sx_connect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                          pmix_status_t *ret_status)
{
    if (goes_on(collective, answer, ret_status)) {
        return false;
    }
    if (answer->status == PMIX_SUCCESS && answer->size > 0) {
        *ret_status = sx_agreements_read(answer->bytes, answer->size, nspace_brought, collective,
                                         &collective->agreed);
    }
    return true;
}

/* ---- disconnect ------------------------------------------------------------------------------ */

bool sx_disconnect_host_hears(const struct sx_server *server)
{
    return server->module.disconnect != NULL;
}

pmix_status_t sx_disconnect_host_ask(struct sx_collective *collective, sx_told_fn told)
{
    return ask(collective, SX_UPCALL_DISCONNECT,
               sx_disconnect_host_hears(collective->members.server), told);
}

/* That all have called is all there is to say. */
pmix_status_t sx_disconnect_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    (void)collective;
    return sx_blob_begin_as(blob, SX_BLOB_ROUND);
}

bool sx_disconnect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                             pmix_status_t *ret_status)
{
    return !goes_on(collective, answer, ret_status);
}
