/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pset.c - process sets: kept here, and as PMIX_PSET_NAMES with each member in its store.
 *
 *     define --> in the list; every member of a namespace with data has the name
 *     a namespace gets data --> its members of older sets get their names
 *     delete --> out of the list; the members' lists are made anew
 *
 * A set never changes.  All of it happens on the loop thread.  Bounded by SX_PSET_COUNT_MAX. */
#include "server/engine/pset.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value.h"
#include "server/engine/event_made.h"

struct pset {
    struct sx_list link; /* server.psets */
    pmix_proc_t *procs;  /* sorted */
    size_t proc_count;
    char name[];
};

static struct pset *pset_free(struct pset *pset)
{
    if (pset != NULL) {
        free(pset->procs);
    }
    free(pset);
    return NULL;
}

static struct pset *pset_find(struct sx_server *server, const char *name)
{
    SX_LIST_EACH(it, &server->psets) {
        struct pset *pset = SX_LIST_ENTRY(it, struct pset, link);

        if (strcmp(pset->name, name) == 0) {
            return pset;
        }
    }
    return NULL;
}

static bool pset_holds(const struct pset *pset, const char *nspace, uint32_t rank)
{
    pmix_proc_t proc = { .rank = rank };

    memcpy(proc.nspace, nspace, strlen(nspace));
    const bool found = bsearch(&proc, pset->procs, pset->proc_count, sizeof(proc), sx_proc_order) !=
                       NULL;

    proc.rank = PMIX_RANK_WILDCARD;
    return found ||
           bsearch(&proc, pset->procs, pset->proc_count, sizeof(proc), sx_proc_order) != NULL;
}

/* ---- the list of one process ---------------------------------------------------------------- */

static pmix_status_t names_store(struct sx_server *server, struct sx_nspace *nspace, uint32_t rank)
{
    pmix_status_t rc;
    size_t count = 0;

    SX_LIST_EACH(it, &server->psets) {
        count += pset_holds(SX_LIST_ENTRY(it, struct pset, link), nspace->name, rank);
    }
    if (count == 0) {
        rc = sx_store_unset(&nspace->store, SX_REALM_JOB, rank, PMIX_PSET_NAMES);
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    }
    char **const names = calloc(count, sizeof(*names));
    if (names == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_data_array_t array = { .type = PMIX_STRING, .array = names };
    const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    SX_LIST_EACH(it, &server->psets) {
        struct pset *pset = SX_LIST_ENTRY(it, struct pset, link);

        if (pset_holds(pset, nspace->name, rank)) {
            names[array.size++] = pset->name;
        }
    }
    rc = sx_store_put(&nspace->store, SX_REALM_JOB, rank, PMIX_PSET_NAMES, PMIX_GLOBAL, &value);
    free(names);
    return rc;
}

/* The members that @proc stands for, as far as their namespace has data. */
static pmix_status_t member_store(struct sx_server *server, const pmix_proc_t *proc)
{
    struct sx_nspace *nspace = sx_nspace_find(server, proc->nspace);
    pmix_status_t rc = PMIX_SUCCESS;

    if (nspace == NULL || !nspace->has_data) {
        return PMIX_SUCCESS; /* sx_pset_nspace_added will do it */
    }
    if (proc->rank != PMIX_RANK_WILDCARD) {
        return names_store(server, nspace, proc->rank);
    }
    for (uint32_t rank = 0; rank < nspace->job_size && rc == PMIX_SUCCESS; rank++) {
        rc = names_store(server, nspace, rank);
    }
    return rc;
}

static pmix_status_t members_store(struct sx_server *server, const struct pset *pset)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < pset->proc_count && rc == PMIX_SUCCESS; i++) {
        rc = member_store(server, &pset->procs[i]);
    }
    return rc;
}

pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace)
{
    pmix_status_t rc = PMIX_SUCCESS;

    SX_LIST_EACH(it, &server->psets) {
        const struct pset *pset = SX_LIST_ENTRY(it, struct pset, link);

        for (size_t i = 0; i < pset->proc_count && rc == PMIX_SUCCESS; i++) {
            if (strcmp(pset->procs[i].nspace, nspace->name) == 0) {
                rc = member_store(server, &pset->procs[i]);
            }
        }
    }
    return rc;
}

void sx_pset_clear(struct sx_server *server)
{
    struct sx_list *it;

    while ((it = sx_list_pop(&server->psets)) != NULL) {
        pset_free(SX_LIST_ENTRY(it, struct pset, link));
    }
}

/* ---- the host's calls ----------------------------------------------------------------------- */

static pmix_status_t pset_define(struct sx_server *server, void *arg)
{
    struct pset *pset = arg;
    size_t count = 0;

    SX_LIST_EACH(it, &server->psets) {
        count++;
    }
    if (count >= SX_PSET_COUNT_MAX || pset_find(server, pset->name) != NULL) {
        const bool taken = count < SX_PSET_COUNT_MAX;

        pset_free(pset);
        return taken ? PMIX_EXISTS
                     : SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "more than %u process sets",
                                SX_PSET_COUNT_MAX);
    }
    sx_list_append(&server->psets, &pset->link);
    const pmix_status_t rc = members_store(server, pset);
    if (rc != PMIX_SUCCESS) { /* as if it had not been */
        sx_list_remove(&pset->link);
        (void)members_store(server, pset);
        pset_free(pset);
    } else {
        sx_event_pset(server, true, pset->name, pset->procs, pset->proc_count);
    }
    return rc;
}

/* Each must name something: "nspace", a rank or all of them. */
static bool procs_are_good(const pmix_proc_t procs[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (procs[i].nspace[0] == '\0' ||
            sx_name_len(procs[i].nspace, sizeof(procs[i].nspace)) >= sizeof(procs[i].nspace) ||
            (procs[i].rank >= SX_STORE_ROW_MAX && procs[i].rank != PMIX_RANK_WILDCARD)) {
            return false;
        }
    }
    return true;
}

pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members, size_t nmembers,
                                             const char *pset_name)
{
    const size_t len = pset_name == NULL ? 0 : sx_name_len(pset_name, PMIX_MAX_KEYLEN + 1);

    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (len == 0 || len > PMIX_MAX_KEYLEN || members == NULL || nmembers == 0 ||
        nmembers > SX_PSET_MEMBERS_MAX || !procs_are_good(members, nmembers)) {
        return PMIX_ERR_BAD_PARAM;
    }
    struct pset *pset = calloc(1, sizeof(*pset) + len + 1);
    if (pset == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(pset->name, pset_name, len);
    pset->procs = malloc(nmembers * sizeof(*pset->procs));
    if (pset->procs == NULL) {
        pset_free(pset);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(pset->procs, members, nmembers * sizeof(*pset->procs));
    pset->proc_count = nmembers;
    qsort(pset->procs, nmembers, sizeof(*pset->procs), sx_proc_order);
    return sx_server_call(sx_server_get(), pset_define, pset);
}

static pmix_status_t pset_delete(struct sx_server *server, void *arg)
{
    struct pset *pset = pset_find(server, arg);

    if (pset == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    sx_list_remove(&pset->link);
    const pmix_status_t rc = members_store(server, pset);
    sx_event_pset(server, false, pset->name, pset->procs, pset->proc_count);
    pset_free(pset);
    return rc;
}

pmix_status_t PMIx_server_delete_process_set(char *pset_name)
{
    const size_t len = pset_name == NULL ? 0 : sx_name_len(pset_name, PMIX_MAX_KEYLEN + 1);

    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    return len == 0 || len > PMIX_MAX_KEYLEN
               ? PMIX_ERR_BAD_PARAM
               : sx_server_call(sx_server_get(), pset_delete, pset_name);
}
