/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_nodes.c - spans by name, and reference counts of namespaces that were brought. */
#include "server/collective/connect_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/status.h"
#include "server/data/data.h"
#include "server/event/event.h"
#include "server/job/job.h"
#include "server/model/nspace.h"
#include "server/publish/publish.h"

struct sx_connect_nodes {
    struct sx_list link; /* server.spans */
    struct sx_server *server;
    char name[PMIX_MAX_NSLEN + 1];
    struct sx_alias_list procs;
    struct sx_brought brought;
    bool is_over;
    struct sx_timer end;
};

/* ---- namespaces that are brought ------------------------------------------------------------- */

/* Reserve space for one more name. */
static bool brought_reserve(struct sx_brought *brought)
{
    return SX_ARRAY_RESERVE(brought->names, brought->count, brought->capacity, 4);
}

/* Fill a namespace that is new to this server. */
static pmix_status_t nspace_fill(struct sx_server *server, struct sx_nspace *nspace,
                                 const struct sx_opened *body)
{
    const struct sx_agreement_nspace *const head = body->head;
    pmix_info_t *info;
    size_t ninfo;
    pmix_status_t rc = sx_body_infos(body, SX_AGREEMENT_NSPACE_INFOS, &info, &ninfo);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    nspace->job_size = head->job_size;
    nspace->uid = server->client_uid;
    nspace->session = sx_jobinfo_session(info, ninfo);
    sx_publish_session_notified(server, nspace);
    rc = sx_nspace_open(server, nspace);
    if (rc == PMIX_SUCCESS) {
        rc = sx_jobinfo_store(server, nspace, info, ninfo);
    }
    PMIX_INFO_FREE(info, ninfo);
    nspace->registered = nspace->has_data = rc == PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS) {
        sx_gets_nspace_filled(nspace);
        sx_event_confine(server);
    }
    return rc;
}

pmix_status_t sx_connect_nodes_bring(struct sx_server *server, const struct sx_opened *body,
                                     struct sx_brought *brought)
{
    const struct sx_agreement_nspace *const head = body->head;
    const struct sx_opened_part *const part = &body->parts[SX_AGREEMENT_NSPACE_NAME];
    char name[PMIX_MAX_NSLEN + 1] = { 0 };

    memcpy(name, part->at, part->size);
    if (head->job_size > SX_STORE_ROW_MAX || strlen(name) != part->size) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    sx_claim_by_host(server, name); /* the host of another node has registered it */
    struct sx_nspace *nspace = sx_nspace_find(server, name);

    if (nspace != NULL && nspace->brought_count == 0) {
        return PMIX_SUCCESS;
    }
    if (!brought_reserve(brought)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (nspace == NULL) {
        nspace = sx_nspace_obtain(server, name);
        const pmix_status_t rc = nspace == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                                : nspace_fill(server, nspace, body);

        if (rc != PMIX_SUCCESS) {
            if (nspace != NULL) {
                sx_nspace_end(server, nspace);
            }
            return rc;
        }
    }
    nspace->brought_count++;
    memcpy(brought->names[brought->count++], name, sizeof(name));
    return PMIX_SUCCESS;
}

void sx_connect_nodes_take_back(struct sx_server *server, struct sx_brought *brought)
{
    for (size_t i = 0; i < brought->count; i++) {
        struct sx_nspace *const nspace = sx_nspace_find(server, brought->names[i]);

        if (nspace != NULL && nspace->brought_count > 0 && --nspace->brought_count == 0 &&
            !nspace->is_ending) {
            sx_nspace_end(server, nspace);
            sx_event_confine(server);
        }
    }
    sx_connect_nodes_leave(brought);
}

void sx_connect_nodes_leave(struct sx_brought *brought)
{
    free(brought->names);
    *brought = (struct sx_brought){ .names = NULL };
}

/* The server with the namespace's first process brings it.  If processes may be missing, all
 * servers that have the namespace bring it. */
bool sx_connect_nodes_brings(const struct sx_collective *collective, const struct sx_nspace *nspace,
                             uint32_t first)
{
    return nspace->has_data && nspace->brought_count == 0 &&
           ((collective->pardons & SX_PARDON_BEFORE) != 0 || sx_client_find(nspace, first) != NULL);
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void span_free(struct sx_connect_nodes *span)
{
    sx_timer_remove(&span->end);
    sx_list_remove(&span->link);
    free(span->brought.names);
    sx_alias_list_free(&span->procs);
    free(span);
}

static void span_ended(void *arg, uint64_t now_ns)
{
    struct sx_connect_nodes *const span = arg;

    (void)now_ns;
    sx_connect_nodes_take_back(span->server, &span->brought);
    span_free(span);
}

pmix_status_t sx_connect_nodes_add(struct sx_server *server, const char *name,
                                   const struct sx_alias_list *procs, struct sx_brought *brought)
{
    struct sx_connect_nodes *const span = calloc(1, sizeof(*span));

    if (span == NULL || !sx_alias_list_copy(&span->procs, procs)) {
        free(span);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    span->server = server;
    memcpy(span->name, name, strlen(name) + 1);
    span->brought = *brought;
    *brought = (struct sx_brought){ .names = NULL };
    sx_list_append(&server->collective.spans, &span->link);
    span->end = (struct sx_timer){ .fn = span_ended, .arg = span };
    return PMIX_SUCCESS;
}

struct sx_connect_nodes *sx_connect_nodes_find(const struct sx_server *server, const char *name)
{
    SX_LIST_EACH(it, &server->collective.spans) {
        struct sx_connect_nodes *const span = SX_LIST_ENTRY(it, struct sx_connect_nodes, link);

        if (!span->is_over && strcmp(span->name, name) == 0) {
            return span;
        }
    }
    return NULL;
}

const struct sx_alias_list *sx_connect_nodes_procs(const struct sx_connect_nodes *span)
{
    return &span->procs;
}

void sx_connect_nodes_end(struct sx_server *server, const char *name)
{
    struct sx_connect_nodes *const span = sx_connect_nodes_find(server, name);

    if (span != NULL) { /* freed later: members that disconnect are being released now */
        span->is_over = true;
        sx_timer_add(server->loop, &span->end, 0);
    }
}

void sx_connect_nodess_deinit(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->collective.spans) {
        span_free(SX_LIST_ENTRY(it, struct sx_connect_nodes, link));
    }
}
