/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.c - the namespace that is meant, its two stores, and this process as the reader.
 *
 * shmem/wanted.h decides in which places to search.  Everything here reads mapped memory only;
 * get.c sends requests to the server. */
#include "client/data/lookup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/system/topology.h"
#include "base/value/value.h"
#include "client/data/data.h"
#include "client/data/epoch.h"
#include "client/data/view.h"
#include "client/link/link.h"

static pmix_status_t nspace_read(struct sx_lookup *lookup, const pmix_proc_t *proc)
{
    const struct sx_process *const p = &sx_process;

    lookup->view = p->own;
    lookup->nspace = p->self.nspace;
    /* Most questions are about our own job. */
    if (proc == NULL || memcmp(proc->nspace, p->self.nspace, p->nspace_len + 1) == 0 ||
        proc->nspace[0] == '\0') {
        return PMIX_SUCCESS;
    }
    const size_t len = sx_name_len(proc->nspace, sizeof(proc->nspace));
    if (len >= sizeof(proc->nspace)) {
        return PMIX_ERR_BAD_PARAM;
    }
    lookup->view = sx_view_find(proc->nspace, len);
    lookup->nspace = proc->nspace;
    return PMIX_SUCCESS;
}

pmix_status_t sx_lookup_init(struct sx_lookup *lookup, const pmix_proc_t *proc, const char *key,
                             const pmix_info_t *info, size_t ninfo)
{
    lookup->edition = NULL;
    const pmix_status_t rc = sx_wanted_read(&lookup->wanted, SX_OF_GET,
                                            proc != NULL ? proc->rank : PMIX_RANK_UNDEF, key, info,
                                            ninfo);

    return rc == PMIX_SUCCESS ? nspace_read(lookup, proc) : rc;
}

static struct sx_site site_of(const struct sx_view *view, const struct sx_mapped_store *edition)
{
    const struct sx_process *const p = &sx_process;

    return (struct sx_site){ .own = sx_view_private(view),
                             .shared = sx_mapped_store_store(edition),
                             .open = sx_box_peek,
                             .self = view == p->own ? p->self.rank : PMIX_RANK_INVALID };
}

struct sx_site sx_lookup_site(const struct sx_view *view)
{
    return site_of(view, sx_view_shared(view));
}

pmix_status_t sx_lookup_find(struct sx_lookup *lookup, struct sx_item *ret)
{
    if (lookup->view == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    lookup->edition = sx_view_shared(lookup->view);
    const struct sx_site site = site_of(lookup->view, lookup->edition);

    return sx_wanted_find(&lookup->wanted, &site, ret);
}

bool sx_lookup_is_elsewhere(const struct sx_lookup *lookup)
{
    const uint32_t rank = lookup->wanted.rank;
    bool is_elsewhere = false;

    if (lookup->view != NULL && rank < PMIX_RANK_VALID) {
        const struct sx_grace grace = sx_grace_enter();
        const struct sx_site site = sx_lookup_site(lookup->view);
        uint32_t ours, its;

        is_elsewhere = sx_site_count(&site, PMIX_LOCAL_SIZE) < sx_site_count(&site, PMIX_JOB_SIZE);
        if (is_elsewhere && site.self != PMIX_RANK_INVALID &&
            sx_site_number(&site, SX_REALM_JOB, site.self, PMIX_NODEID, SX_STORE_ROW_MAX, &ours) &&
            sx_site_number(&site, SX_REALM_JOB, rank, PMIX_NODEID, SX_STORE_ROW_MAX, &its)) {
            is_elsewhere = ours != its;
        }
        sx_grace_exit(&grace);
    }
    return is_elsewhere;
}

bool sx_lookup_wants_topology(const struct sx_lookup *lookup)
{
    const struct sx_wanted *const wanted = &lookup->wanted;

    if (wanted->key == NULL) {
        return wanted->rank >= PMIX_RANK_VALID && wanted->realm == SX_REALM_JOB;
    }
    return wanted->reserved && wanted->realm != SX_REALM_QUALIFIED &&
           (sx_topology_is_key(wanted->key) || strcmp(wanted->key, PMIX_DEVICE_DISTANCES) == 0);
}

bool sx_lookup_is_coming(const struct sx_lookup *lookup)
{
    bool is_coming = false;

    if (lookup->view != NULL && sx_lookup_wants_topology(lookup)) {
        const struct sx_grace grace = sx_grace_enter();
        const struct sx_store *const store = sx_mapped_store_store(sx_view_shared(lookup->view));
        struct sx_item item;

        is_coming = store != NULL &&
                    sx_store_find(store, SX_REALM_JOB, SX_ROW_JOB, SX_NSPACE_COMING, &item) ==
                        PMIX_SUCCESS &&
                    sx_store_find(store, SX_REALM_JOB, SX_ROW_JOB, sx_topology_keys[0], &item) ==
                        PMIX_ERR_NOT_FOUND;
        sx_grace_exit(&grace);
    }
    return is_coming;
}

/* data_lock is held. */
static void open_locked(struct sx_item *item)
{
    sx_box_open(item, false);
}

pmix_status_t sx_lookup_collect(struct sx_lookup *lookup, pmix_value_t *ret)
{
    if (lookup->view == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    struct sx_site site = sx_lookup_site(lookup->view);

    site.open = open_locked;
    pthread_mutex_lock(&sx_process.data_lock);
    const pmix_status_t rc = sx_wanted_collect(&lookup->wanted, &site, ret);
    pthread_mutex_unlock(&sx_process.data_lock);
    return rc;
}

/* ---- the name of this node ------------------------------------------------------------------- */

/* The name of this node, from the server in this process or from the store of a server. */

/* Inside.  Return: false when it is not stored. */
static bool read_stored(struct sx_lookup *lookup, char *ret, size_t size)
{
    struct sx_item item;

    if (sx_lookup_find(lookup, &item) != PMIX_SUCCESS) {
        return false;
    }
    sx_box_hand_out(&item);
    if (item.cell.type != PMIX_STRING || (item.cell.flags & SX_CELL_NULL) != 0) {
        return false;
    }
    snprintf(ret, size, "%.*s", (int)item.cell.len, (const char *)item.body);
    return true;
}

static bool is_notified(char *ret, size_t size)
{
    struct sx_lookup lookup;

    if (!sx_process_ready() ||
        sx_lookup_init(&lookup, &sx_process.self, PMIX_HOSTNAME, NULL, 0) != PMIX_SUCCESS) {
        return false;
    }
    const struct sx_grace grace = sx_grace_enter();
    const bool notified = read_stored(&lookup, ret, size);

    sx_grace_exit(&grace);
    return notified;
}

void sx_hostname(char *ret, size_t size)
{
    const struct sx_role_server *const server = sx_role_server_get();

    if (server != NULL) {
        server->hostname(ret, size);
    } else if (!is_notified(ret, size)) {
        snprintf(ret, size, "localhost");
        (void)gethostname(ret, size - 1);
        ret[size - 1] = '\0';
    }
}

/* ---- names of clusters ----------------------------------------------------------------------- */

/* A call without a colon in its names costs a search of each name, and nothing else. */

static bool has_colon(const pmix_proc_t *procs, size_t nprocs)
{
    size_t i = 0;

    while (i < nprocs && strchr(procs[i].nspace, ':') == NULL) {
        i++;
    }
    return i < nprocs;
}

/* The name of our cluster and a colon.  Return: its length; 0 when the cluster has no name. */
static size_t own_prefix(char ret[PMIX_MAX_NSLEN + 2])
{
    pmix_proc_t job = sx_process.self;
    struct sx_lookup lookup;
    struct sx_item item;
    size_t len = 0;

    job.rank = PMIX_RANK_WILDCARD;
    if (sx_lookup_init(&lookup, &job, PMIX_CLUSTER_ID, NULL, 0) != PMIX_SUCCESS) {
        return 0;
    }
    const struct sx_grace grace = sx_grace_enter();

    if (sx_lookup_find(&lookup, &item) == PMIX_SUCCESS && sx_box_of(&item) == NULL &&
        item.cell.type == PMIX_STRING && item.cell.len > 1 && item.cell.len <= PMIX_MAX_NSLEN) {
        len = item.cell.len; /* with the NUL, in place of which the colon stands */
        memcpy(ret, item.body, len - 1);
        ret[len - 1] = ':';
    }
    sx_grace_exit(&grace);
    return len;
}

const pmix_proc_t *sx_cluster_strip(const pmix_proc_t *procs, size_t nprocs, pmix_proc_t **ret_copy)
{
    char prefix[PMIX_MAX_NSLEN + 2];
    const size_t len = has_colon(procs, nprocs) ? own_prefix(prefix) : 0;

    *ret_copy = NULL;
    if (len == 0) {
        return procs;
    }
    pmix_proc_t *const copy = calloc(nprocs, sizeof(*copy));

    for (size_t i = 0; copy != NULL && i < nprocs; i++) {
        const char *const nspace = procs[i].nspace;
        const bool is_ours = strncmp(nspace, prefix, len) == 0 && nspace[len] != '\0';

        PMIx_Load_procid(&copy[i], is_ours ? nspace + len : nspace, procs[i].rank);
    }
    return *ret_copy = copy;
}
