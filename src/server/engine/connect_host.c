/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_host.c - first the host's word, then the servers'. */
#include "server/engine/connect_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "server/engine/connect.h"
#include "server/engine/jobinfo_collect.h"
#include "server/engine/span.h"
#include "server/model/agreement.h"
#include "server/port/joint.h"

/* ---- what connect and disconnect have in common ---------------------------------------------- */

static bool is_elsewhere(const struct sx_collective *collective)
{
    return sx_members_absent(&collective->members).elsewhere;
}

/* By which processes the host knows it: those who disconnect are named as they have connected. */
static pmix_proc_t *procs_of(const struct sx_collective *collective, size_t *ret_count)
{
    const struct sx_members *const members = &collective->members;
    const struct sx_span *const span = collective->kind->number == SX_COLLECTIVE_DISCONNECT
                                           ? sx_span_find(members->server, members->procs[0].nspace)
                                           : NULL;

    *ret_count = members->real.count;
    return span != NULL ? sx_span_procs(span, ret_count) : members->real.all;
}

/* Let the servers agree. */
static pmix_status_t agree(struct sx_collective *collective)
{
    size_t count;
    const pmix_proc_t *const procs = procs_of(collective, &count);

    return sx_rounds_join(collective, procs, count, collective->part.told);
}

static pmix_status_t ask(struct sx_collective *collective, enum sx_upcall_kind entry,
                         bool has_entry, sx_told_fn told)
{
    struct sx_joint joint = { .told = told,
                              .asker = &collective->asker,
                              .wishes = &collective->wishes,
                              .is_partial = collective->members.incomplete };

    joint.procs = procs_of(collective, &joint.proc_count);
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

/* Append what is known here of @nspace. */
static pmix_status_t contribute_nspace(const struct sx_nspace *nspace, struct sx_blob *blob)
{
    const struct sx_agreement_nspace head = { .job_size = nspace->job_size };
    pmix_info_t *info;
    size_t ninfo;
    pmix_status_t rc = sx_jobinfo_collect(nspace, &info, &ninfo);

    if (rc == PMIX_SUCCESS) {
        struct sx_draft draft = {
            .signature = &sx_agreement_nspace_body,
            .head = &head,
            .nspace = "",
            .parts = { [SX_AGREEMENT_NSPACE_NAME] = { nspace->name, strlen(nspace->name) },
                       [SX_AGREEMENT_NSPACE_INFOS] = { info, ninfo } },
        };

        rc = sx_agreement_add(blob, &draft);
        PMIX_INFO_FREE(info, ninfo);
    }
    return rc;
}

/* One namespace alone is known to all servers. */
static bool has_several_nspaces(const struct sx_alias_list *procs)
{
    return procs->count > 0 &&
           strcmp(procs->all[0].nspace, procs->all[procs->count - 1].nspace) != 0;
}

static pmix_status_t contribute_nspaces(const struct sx_collective *collective,
                                        struct sx_blob *blob)
{
    const struct sx_alias_list *const real = &collective->members.real;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; has_several_nspaces(real) && i < real->count && rc == PMIX_SUCCESS; i++) {
        const char *const name = real->all[i].nspace;
        const struct sx_nspace *const nspace = i > 0 && strcmp(real->all[i - 1].nspace, name) == 0
                                                   ? NULL
                                                   : sx_nspace_find(collective->members.server,
                                                                    name);

        if (nspace != NULL && sx_span_brings(collective, nspace)) {
            rc = contribute_nspace(nspace, blob);
        }
    }
    return rc;
}

/* The processes of @collective that are here, malloc'ed. */
static pmix_proc_t *members_here(const struct sx_members *members)
{
    pmix_proc_t *const here = malloc((members->count + 1) * sizeof(*here));

    for (size_t i = 0; here != NULL && i < members->count; i++) {
        const struct sx_client *const client = members->all[i].client;

        here[i] = sx_nspace_proc(client->nspace, client->rank);
    }
    return here;
}

pmix_status_t sx_connect_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    const struct sx_members *const members = &collective->members;
    const struct sx_agreement head = { 0 };
    char name[PMIX_MAX_NSLEN + 1];
    pmix_proc_t *const here = members_here(members);
    struct sx_blob nspaces = { 0 };
    pmix_status_t rc = here == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                    : contribute_nspaces(collective, &nspaces);

    if (rc == PMIX_SUCCESS) {
        sx_connect_name(members->server, name);
        struct sx_draft draft = {
            .signature = &sx_agreement_body,
            .head = &head,
            .nspace = "",
            .parts = { [SX_AGREEMENT_MEMBERS] = { here, members->count },
                       [SX_AGREEMENT_NAME] = { name, strlen(name) },
                       [SX_AGREEMENT_NSPACES] = { nspaces.bytes, nspaces.size } },
        };

        rc = sx_agreement_add(blob, &draft);
    }
    sx_blob_clear(&nspaces);
    free(here);
    return rc;
}

struct reading {
    struct sx_server *server;
    struct sx_brought brought;
};

static pmix_status_t on_nspace(const struct sx_opened *nspace, void *arg)
{
    struct reading *const reading = arg;

    return sx_span_bring(reading->server, nspace, &reading->brought);
}

/* All have connected, under one name. */
static pmix_status_t agreed(struct sx_collective *collective, const struct sx_host_answer *answer)
{
    const struct sx_alias_list *const real = &collective->members.real;
    struct sx_agreed *const ret = &collective->agreed;
    struct reading reading = { .server = collective->members.server };
    pmix_status_t rc = sx_agreements_read(answer->bytes, answer->size, on_nspace, &reading, ret);

    if (rc == PMIX_SUCCESS && (collective->connect & SX_CONNECT_EXCHANGES) != 0) {
        sx_span_leave(&reading.brought);
    } else if (rc == PMIX_SUCCESS) {
        rc = sx_span_add(reading.server, ret->name, real->all, real->count, &reading.brought);
    }
    if (rc != PMIX_SUCCESS) {
        sx_span_take_back(reading.server, &reading.brought);
    }
    return rc;
}

bool sx_connect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                          pmix_status_t *ret_status)
{
    if (goes_on(collective, answer, ret_status)) {
        return false;
    }
    if (answer->status == PMIX_SUCCESS && answer->size > 0 && !collective->is_over) {
        *ret_status = agreed(collective, answer);
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
