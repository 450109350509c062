/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* resources.c - PMIx_server_register_resources: keep the resources, and copy them into each job's
 * store; the inventory of this node, and of others.
 *
 *     register --> in the list; every namespace with data gets it, the latest value first
 *     a namespace gets data --> it gets the values that it does not have itself; one that it cannot
 *                               have beside its own is logged, and left out
 *     deregister --> out of the list, and out of the stores where the value has not changed:
 *                    a key with its value, a key alone, an array that names its subject and,
 *                    if only these are meant, members of it
 *
 * On the loop thread.  Bounded by SX_RESOURCE_COUNT_MAX entries. */
#include "server/job/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/system/topology.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "server/model/state.h"
#include "shmem/nspace_read.h"

struct resource {
    struct sx_list link; /* server.job.resources */
    pmix_info_t info;
    const char *host; /* in info: the node that it was delivered for; NULL: registered */
    uint64_t bytes;   /* size, if delivered */
};

/* The host's infos, which it keeps until the callback. */
struct request {
    const pmix_info_t *info;
    size_t ninfo;
};

static void resource_free(struct resource *resource)
{
    sx_elements_destruct(&resource->info, 1, PMIX_INFO);
    free(resource);
}

/* Whether @nspace has the node with the name @host; NULL: the resource is not of one node, so
 * true. */
static bool has_node(const struct sx_nspace *nspace, const char *host)
{
    const struct sx_site site = { .shared = &nspace->store.view, .self = PMIX_RANK_INVALID };
    const uint32_t count = sx_site_count(&site, PMIX_NUM_NODES);

    return host == NULL || sx_site_node(&site, count, host) < count;
}

static pmix_status_t apply_to_all(struct sx_server *server, const pmix_info_t *info,
                                  const char *host, enum sx_jobinfo_way way)
{
    pmix_status_t rc = PMIX_SUCCESS;

    SX_LIST_EACH(it, &server->registry.nspaces) {
        struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (nspace->has_data && rc == PMIX_SUCCESS && has_node(nspace, host)) {
            rc = sx_jobinfo_apply(server, nspace, info, 1, way);
        }
    }
    return rc;
}

/* Whether all jobs with data can have all of them, and one that has nothing else: what one refuses,
 * none is given. */
static pmix_status_t check_for_all(struct sx_server *server, const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = sx_jobinfo_check("a job to come", NULL, info, ninfo);

    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (nspace->has_data && rc == PMIX_SUCCESS) {
            rc = sx_jobinfo_check(nspace->name, nspace, info, ninfo);
        }
    }
    return rc;
}

pmix_status_t sx_resource_nspace_added(struct sx_server *server, struct sx_nspace *nspace)
{
    pmix_status_t rc = PMIX_SUCCESS;

    SX_LIST_EACH(it, &server->job.resources) {
        const struct resource *resource = SX_LIST_ENTRY(it, struct resource, link);

        if (rc != PMIX_SUCCESS || !has_node(nspace, resource->host)) {
            continue;
        }
        if (sx_jobinfo_check(nspace->name, nspace, &resource->info, 1) != PMIX_SUCCESS) {
            sx_log(SX_LOG_WARN, "the resource \"%.64s\" is not given to %s, which cannot have it",
                   resource->info.key, nspace->name);
            continue;
        }
        rc = sx_jobinfo_apply(server, nspace, &resource->info, 1, SX_JOBINFO_FILL);
    }
    return rc;
}

void sx_resource_clear(struct sx_server *server)
{
    struct sx_list *it;

    while ((it = sx_list_pop(&server->job.resources)) != NULL) {
        resource_free(SX_LIST_ENTRY(it, struct resource, link));
    }
}

/* ---- the host's calls ----------------------------------------------------------------------- */

static pmix_status_t resources_register(struct sx_server *server, void *arg)
{
    const struct request *request = arg;
    pmix_status_t rc = PMIX_SUCCESS;
    size_t count = 0;

    SX_LIST_EACH(it, &server->job.resources) {
        count++;
    }
    if (request->ninfo > SX_RESOURCE_COUNT_MAX - count) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "more than %u registered resources",
                        SX_RESOURCE_COUNT_MAX);
    }
    rc = check_for_all(server, request->info, request->ninfo);
    for (size_t i = 0; i < request->ninfo && rc == PMIX_SUCCESS; i++) {
        struct resource *resource = calloc(1, sizeof(*resource));

        rc = resource == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                              : sx_elements_copy(&resource->info, &request->info[i], 1, PMIX_INFO);
        if (rc != PMIX_SUCCESS) {
            free(resource);
            return rc;
        }
        rc = apply_to_all(server, &resource->info, NULL, SX_JOBINFO_GIVE);
        if (rc == PMIX_SUCCESS) {
            sx_list_append(&server->job.resources, &resource->link);
        } else {
            resource_free(resource);
        }
    }
    return rc;
}

static bool infos_agree(const pmix_info_t *one, const pmix_info_t *other)
{
    return strcmp(one->key, other->key) == 0 && sx_value_compare(&one->value, &other->value) == 0;
}

/* ---- delivered data of nodes ----------------------------------------------------------------- */

/* Return: the name of the node that @info describes, NULL: it describes something else. */
static const char *host_of(const pmix_info_t *info)
{
    const pmix_data_array_t *const array = info->value.data.darray;

    if (strcmp(info->key, PMIX_NODE_INFO_ARRAY) != 0 || info->value.type != PMIX_DATA_ARRAY ||
        array == NULL || array->type != PMIX_INFO || array->array == NULL) {
        return NULL;
    }
    const pmix_info_t *const name = sx_info_find(array->array, array->size, PMIX_HOSTNAME);

    return name != NULL && name->value.type == PMIX_STRING ? name->value.data.string : NULL;
}

/* Return: the data delivered of @host before, NULL: none; *ret_bytes are those of all others. */
static struct resource *delivered_find(struct sx_server *server, const char *host,
                                       uint64_t *ret_bytes, size_t *ret_count)
{
    struct resource *found = NULL;

    *ret_bytes = *ret_count = 0;
    SX_LIST_EACH(it, &server->job.resources) {
        struct resource *const resource = SX_LIST_ENTRY(it, struct resource, link);

        if (resource->host != NULL && strcmp(resource->host, host) == 0) {
            found = resource;
        } else {
            *ret_bytes += resource->bytes;
            (*ret_count)++;
        }
    }
    return found;
}

static pmix_status_t node_deliver(struct sx_server *server, const pmix_info_t *info,
                                  const char *host)
{
    size_t size, count;
    uint64_t others;
    struct resource *const old = delivered_find(server, host, &others, &count);
    pmix_status_t rc = sx_flat_size(&info->value, &size);

    if (rc != PMIX_SUCCESS || (old != NULL && infos_agree(&old->info, info))) {
        return rc;
    }
    if (others + size > SX_INVENTORY_BYTES_MAX || count >= SX_RESOURCE_COUNT_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "the inventory of %s: %zu bytes, beside %" PRIu64 " of other nodes; there "
                        "is room for %" PRIu64,
                        host, size, others, SX_INVENTORY_BYTES_MAX);
    }
    struct resource *const resource = calloc(1, sizeof(*resource));

    rc = resource == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                          : sx_elements_copy(&resource->info, info, 1, PMIX_INFO);
    if (rc != PMIX_SUCCESS) {
        free(resource);
        return rc;
    }
    rc = apply_to_all(server, &resource->info, host, SX_JOBINFO_GIVE);
    if (rc != PMIX_SUCCESS) {
        resource_free(resource);
        return rc;
    }
    resource->host = host_of(&resource->info);
    resource->bytes = size;
    sx_list_append(&server->job.resources, &resource->link);
    if (old != NULL) {
        sx_list_remove(&old->link);
        resource_free(old);
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_resources_deliver(struct sx_server *server, const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        const char *const host = host_of(&info[i]);

        rc = host != NULL ? node_deliver(server, &info[i], host) : PMIX_SUCCESS;
    }
    return rc;
}

/* ---- removing -------------------------------------------------------------------------------- */

/* Return: the infos of an array; NULL when @info has none. */
static pmix_data_array_t *infos_of(const pmix_info_t *info)
{
    pmix_data_array_t *const array = info->value.data.darray;

    return info->value.type == PMIX_DATA_ARRAY && array != NULL && array->type == PMIX_INFO &&
                   array->array != NULL
               ? array
               : NULL;
}

/* Whether @asked matches @info: it has no value, or the same one. */
static bool takes(const pmix_info_t *asked, const pmix_info_t *info)
{
    return strcmp(asked->key, info->key) == 0 &&
           (asked->value.type == PMIX_UNDEF || sx_value_compare(&asked->value, &info->value) == 0);
}

/* Whether @whole has the subject that @asked names; *ret_members: @asked names members, too. */
static bool is_about(const pmix_data_array_t *whole, const pmix_data_array_t *asked,
                     bool *ret_members)
{
    const pmix_info_t *const infos = asked->array;

    *ret_members = false;
    for (size_t i = 0; i < asked->size; i++) {
        const pmix_info_t *const own = sx_info_find(whole->array, whole->size, infos[i].key);

        if (!sx_jobinfo_names_row(infos[i].key)) {
            *ret_members = true;
        } else if (own == NULL || !takes(&infos[i], own)) {
            return false;
        }
    }
    return true;
}

static bool is_asked(const pmix_data_array_t *asked, const pmix_info_t *member)
{
    const pmix_info_t *const infos = asked->array;
    bool is = false;

    for (size_t i = 0; i < asked->size && !is; i++) {
        is = takes(&infos[i], member);
    }
    return is && !sx_jobinfo_names_row(member->key);
}

/* Remove the values that @asked names from @resource and from the stores.  *ret_found: there was
 * such a member. */
static pmix_status_t members_remove(struct sx_server *server, struct resource *resource,
                                    const pmix_data_array_t *asked, bool *ret_found)
{
    pmix_data_array_t *const whole = infos_of(&resource->info);
    pmix_info_t *const infos = whole->array, *const gone = calloc(whole->size, sizeof(*gone));
    pmix_data_array_t array = { .type = PMIX_INFO, .array = gone };
    pmix_info_t removed = resource->info;
    size_t kept = 0;

    if (gone == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < whole->size; i++) {
        if (sx_jobinfo_names_row(infos[i].key) || is_asked(asked, &infos[i])) {
            gone[array.size++] = infos[i];
        }
    }
    removed.value.data.darray = &array;
    const pmix_status_t rc = apply_to_all(server, &removed, NULL, SX_JOBINFO_REMOVE);

    for (size_t i = 0; i < whole->size; i++) {
        if (is_asked(asked, &infos[i])) {
            *ret_found = true;
            sx_value_destruct(&infos[i].value);
        } else {
            infos[kept++] = infos[i];
        }
    }
    whole->size = kept;
    free(gone);
    return rc;
}

static pmix_status_t resource_remove(struct sx_server *server, struct resource *resource,
                                     const pmix_info_t *asked, bool *ret_found)
{
    const pmix_data_array_t *const whole = infos_of(&resource->info), *const part = infos_of(asked);
    bool has_members = false;

    if (!takes(asked, &resource->info)) {
        if (whole == NULL || part == NULL || strcmp(asked->key, resource->info.key) != 0 ||
            !is_about(whole, part, &has_members)) {
            return PMIX_SUCCESS;
        }
        if (has_members) {
            return members_remove(server, resource, part, ret_found);
        }
    }
    const pmix_status_t rc = apply_to_all(server, &resource->info, NULL, SX_JOBINFO_REMOVE);

    sx_list_remove(&resource->link);
    resource_free(resource);
    *ret_found = true;
    return rc;
}

static pmix_status_t resources_deregister(struct sx_server *server, void *arg)
{
    const struct request *request = arg;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < request->ninfo && rc == PMIX_SUCCESS; i++) {
        bool found = false;

        SX_LIST_EACH(it, &server->job.resources) {
            struct resource *resource = SX_LIST_ENTRY(it, struct resource, link);

            if (rc == PMIX_SUCCESS) {
                rc = resource_remove(server, resource, &request->info[i], &found);
            }
        }
        rc = rc == PMIX_SUCCESS && !found ? PMIX_ERR_NOT_FOUND : rc;
    }
    return rc;
}

static pmix_status_t submit(sx_server_fn fn, const pmix_info_t info[], size_t ninfo,
                            pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (info == NULL || ninfo == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (sx_name_len(info[i].key, sizeof(info[i].key)) >= sizeof(info[i].key)) {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    struct request *request = malloc(sizeof(*request));

    if (request == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *request = (struct request){ .info = info, .ninfo = ninfo };
    return sx_server_submit(sx_server_get(), fn, request, free, cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const pmix_status_t rc = info == NULL || sx_server_get() == NULL
                                 ? PMIX_SUCCESS
                                 : sx_jobinfo_judge(info, ninfo);

    return rc != PMIX_SUCCESS ? rc : submit(resources_register, info, ninfo, cbfunc, cbdata);
}

pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo,
                                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return submit(resources_deregister, info, ninfo, cbfunc, cbdata);
}

/* ---- inventory ------------------------------------------------------------------------------- */

/*     collect --> one PMIX_NODE_INFO_ARRAY: PMIX_HOSTNAME, and hwloc's XML of the hardware, devices
 *                 included (PMIX_HWLOC_XML_V2)
 *     deliver --> such arrays, of any node, are data of that node in every job 
 *
 * The machine is probed on the host's thread, once per process; the loop continues meanwhile. */

/* ---- collecting ----------------------------------------------------------------------------- */

struct collection {
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
    pmix_info_t *info; /* one; owned by the host from the callback until it calls list_released */
};

static void list_released(void *cbdata)
{
    pmix_info_t *const info = cbdata;

    PMIx_Info_free(info, 1);
}

/* Describe this node in the infos that a host gets. */
static pmix_status_t node_describe(const struct sx_server *server, pmix_info_t **ret)
{
    pmix_info_t *const parts = PMIx_Info_create(2);
    pmix_info_t *const info = PMIx_Info_create(1);
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = parts };
    char *xml = NULL;
    pmix_status_t rc = parts == NULL || info == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(&parts[0], PMIX_HOSTNAME, server->hostname, PMIX_STRING);
    }
    if (rc == PMIX_SUCCESS && sx_topology_node(&xml) == PMIX_SUCCESS) { /* else the node has only a
                                                                         * name */
        rc = PMIx_Info_load(&parts[array.size++], PMIX_HWLOC_XML_V2, xml, PMIX_STRING);
        free(xml);
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(info, PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    }
    if (parts != NULL) {
        PMIx_Info_free(parts, 2);
    }
    if (rc != PMIX_SUCCESS && info != NULL) {
        PMIx_Info_free(info, 1);
    } else {
        *ret = info;
    }
    return rc;
}

static pmix_status_t nothing_to_do(struct sx_server *server, void *arg)
{
    (void)server;
    (void)arg;
    return PMIX_SUCCESS;
}

static void collected(pmix_status_t status, void *cbdata)
{
    struct collection *const collection = cbdata;

    collection->cbfunc(status, collection->info, 1, collection->cbdata, list_released,
                       collection->info);
    free(collection);
}

pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_server *const server = sx_server_get();

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (cbfunc == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_options_read(SX_OF_COLLECT_INVENTORY, directives, ndirs, NULL);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct collection *const collection = malloc(sizeof(*collection));

    if (collection == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *collection = (struct collection){ .cbfunc = cbfunc, .cbdata = cbdata };
    rc = node_describe(server, &collection->info);
    if (rc == PMIX_SUCCESS) {
        rc = sx_server_submit(server, nothing_to_do, NULL, NULL, collected, collection);
        if (rc != PMIX_SUCCESS) {
            list_released(collection->info);
        }
    }
    if (rc != PMIX_SUCCESS) {
        free(collection);
    }
    return rc;
}

/* ---- delivering ----------------------------------------------------------------------------- */

/* The host's arrays, which it keeps until the callback. */
struct delivery {
    const pmix_info_t *info;
    size_t ninfo;
};

static pmix_status_t deliver(struct sx_server *server, void *arg)
{
    const struct delivery *const delivery = arg;

    return sx_resources_deliver(server, delivery->info, delivery->ninfo);
}

pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                            pmix_info_t directives[], size_t ndirs,
                                            pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (info == NULL && ninfo != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_options_read(SX_OF_DELIVER_INVENTORY, directives, ndirs, NULL);

    if (rc == PMIX_SUCCESS) {
        rc = sx_jobinfo_judge(info, ninfo);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct delivery *const delivery = malloc(sizeof(*delivery));

    if (delivery == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *delivery = (struct delivery){ .info = info, .ninfo = ninfo };
    return sx_server_submit(sx_server_get(), deliver, delivery, free, cbfunc, cbdata);
}
