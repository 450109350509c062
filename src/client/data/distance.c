/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* distance.c - how far the node's devices are from a set of processors.
 *
 * The distance of a processor is a number of levels of the machine: from it up to the smallest part
 * that contains the device, too.  On one tree, less is nearer.  The minimum and the maximum are
 * over the processors of the set; without any that the topology has, they are unknown.  Names of
 * devices that have no number of their own carry the host's. */
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/util.h"
#include "base/value/opaque.h"
#include "client/data/hostname.h"
#include "client/data/topology.h"
#include "client/link/link.h"
#include "client/link/op.h"

/* The devices that are asked for, and the topology and place to measure from. */
struct question {
    hwloc_topology_t topology;
    hwloc_const_bitmap_t cpuset;
    hwloc_topology_t own_topology; /* NULL: the caller's is used */
    hwloc_bitmap_t own_cpuset;
    struct sx_distances_options options; /* the id is a uuid or a name */
    char hostname[256];
};

static const struct {
    hwloc_obj_osdev_type_t osdev;
    pmix_device_type_t type;
    const char *scheme;
} kinds[] = {
    { HWLOC_OBJ_OSDEV_BLOCK, PMIX_DEVTYPE_BLOCK, "block" },
    { HWLOC_OBJ_OSDEV_GPU, PMIX_DEVTYPE_GPU, "gpu" },
    { HWLOC_OBJ_OSDEV_NETWORK, PMIX_DEVTYPE_NETWORK, "net" },
    { HWLOC_OBJ_OSDEV_OPENFABRICS, PMIX_DEVTYPE_OPENFABRICS, "fab" },
    { HWLOC_OBJ_OSDEV_DMA, PMIX_DEVTYPE_DMA, "dma" },
    { HWLOC_OBJ_OSDEV_COPROC, PMIX_DEVTYPE_COPROC, "coproc" },
};

/* ---- one device --------------------------------------------------------------------------- */

/* A name that no other device of the system has; malloc'ed, NULL when memory is out. */
static char *uuid_of(const struct question *question, hwloc_obj_t device, size_t kind)
{
    const char *const address = hwloc_obj_get_info_by_name(device, "Address");
    const char *const node = hwloc_obj_get_info_by_name(device, "NodeGUID");
    const char *const image = hwloc_obj_get_info_by_name(device, "SysImageGUID");
    char *text = NULL;
    int len;

    if (kinds[kind].type == PMIX_DEVTYPE_NETWORK && address != NULL) {
        /* Ethernet's address has 6 bytes; a longer one is an interface of a fabric. */
        len = asprintf(&text, "%s://%s", strlen(address) <= 17 ? "ipv4" : "ipv6", address);
    } else if (kinds[kind].type == PMIX_DEVTYPE_OPENFABRICS && node != NULL && image != NULL) {
        len = asprintf(&text, "%s://%s::%s", kinds[kind].scheme, node, image);
    } else {
        len = asprintf(&text, "%s://%s::%s", kinds[kind].scheme, question->hostname,
                       device->name != NULL ? device->name : "");
    }
    return len < 0 ? NULL : text;
}

/* Levels from processor @pu up to the part that contains @near. */
static uint16_t levels_between(hwloc_obj_t pu, hwloc_obj_t near)
{
    uint16_t levels = 0;

    for (hwloc_obj_t at = pu; at->parent != NULL; at = at->parent, levels++) {
        if (hwloc_bitmap_isincluded(near->cpuset, at->cpuset)) {
            break;
        }
    }
    return levels;
}

static void distance_measure(const struct question *question, hwloc_obj_t device,
                             pmix_device_distance_t *distance)
{
    const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(question->topology, device);
    hwloc_obj_t pu = NULL;
    bool any = false;

    while ((pu = hwloc_get_next_obj_by_type(question->topology, HWLOC_OBJ_PU, pu)) != NULL) {
        if (!hwloc_bitmap_isset(question->cpuset, pu->os_index)) {
            continue;
        }
        const uint16_t levels = levels_between(pu, near);

        distance->mindist = any && distance->mindist < levels ? distance->mindist : levels;
        distance->maxdist = any && distance->maxdist > levels ? distance->maxdist : levels;
        any = true;
    }
}

/* Fill @distance (constructed) if @device is asked for.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when it is not; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t distance_fill(const struct question *question, hwloc_obj_t device,
                                   pmix_device_distance_t *distance)
{
    const char *const name = device->name != NULL ? device->name : "";
    size_t kind = 0;

    while (kind < SX_COUNT(kinds) && kinds[kind].osdev != device->attr->osdev.type) {
        kind++;
    }
    if (kind == SX_COUNT(kinds) || (kinds[kind].type & question->options.types) == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    char *const uuid = uuid_of(question, device, kind);
    if (uuid == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (question->options.id != NULL && strcmp(question->options.id, uuid) != 0 &&
        strcmp(question->options.id, name) != 0) {
        free(uuid);
        return PMIX_ERR_NOT_FOUND;
    }
    distance->uuid = uuid;
    distance->osname = strdup(name);
    distance->type = kinds[kind].type;
    distance_measure(question, device, distance);
    return distance->osname == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

/* ---- the question ------------------------------------------------------------------------- */

static void question_close(struct question *question)
{
    if (question->own_topology != NULL) {
        hwloc_topology_destroy(question->own_topology);
    }
    hwloc_bitmap_free(question->own_cpuset);
}

/* A topology or place that is not given is this node's, or this process's.  Close in any case. */
static pmix_status_t question_open(struct question *question, const pmix_topology_t *topo,
                                   const pmix_cpuset_t *cpuset)
{
    pmix_status_t rc = PMIX_SUCCESS;

    sx_hostname(question->hostname, sizeof(question->hostname));
    if (topo != NULL && topo->topology != NULL) {
        /* A program may bring a hwloc whose structures are not the ones we know. */
        if (!sx_opaque_is_hwloc(topo->source) || hwloc_topology_abi_check(topo->topology) != 0) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
        question->topology = topo->topology;
    } else {
        rc = sx_topology_open(&question->own_topology);
        question->topology = question->own_topology;
    }
    if (rc == PMIX_SUCCESS && cpuset != NULL && cpuset->bitmap != NULL) {
        question->cpuset = cpuset->bitmap;
        return sx_opaque_is_hwloc(cpuset->source) ? rc : PMIX_ERR_NOT_SUPPORTED;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_topology_binding(PMIX_CPUBIND_PROCESS, &question->own_cpuset);
        question->cpuset = question->own_cpuset;
    }
    return rc;
}

static pmix_status_t question_answer(const struct question *question,
                                     pmix_device_distance_t **ret_distances, size_t *ret_count)
{
    const int devices = hwloc_get_nbobjs_by_type(question->topology, HWLOC_OBJ_OS_DEVICE);
    hwloc_obj_t device = NULL;
    size_t count = 0;

    if (devices <= 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    pmix_device_distance_t *const all = PMIx_Device_distance_create((size_t)devices);
    pmix_status_t rc = all == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS &&
           (device = hwloc_get_next_osdev(question->topology, device)) != NULL) {
        rc = distance_fill(question, device, &all[count]);
        count += rc == PMIX_SUCCESS;
        rc = rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    }
    if (rc == PMIX_SUCCESS && count > 0) {
        *ret_distances = all;
        *ret_count = count;
        return PMIX_SUCCESS;
    }
    if (all != NULL) {
        PMIx_Device_distance_free(all, (size_t)devices);
    }
    return rc == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : rc;
}

/* ---- the public calls --------------------------------------------------------------------- */

pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                     pmix_info_t *info, size_t ninfo,
                                     pmix_device_distance_t **distances, size_t *ndist)
{
    struct question question = { .options.types = ~UINT64_C(0) };

    sx_results_none(distances, ndist);
    if (distances == NULL || ndist == NULL || (info == NULL && ninfo > 0)) {
        return sx_process_misused();
    }
    pmix_status_t rc = sx_options_read(SX_OF_COMPUTE_DISTANCES, info, ninfo, &question.options);
    if (rc == PMIX_ERR_BAD_PARAM) {
        return sx_process_misused();
    }
    if (rc == PMIX_SUCCESS) {
        rc = question_open(&question, topo, cpuset);
    }
    if (rc == PMIX_SUCCESS) {
        rc = question_answer(&question, distances, ndist);
    }
    question_close(&question);
    return rc;
}

static void distances_told(struct sx_op *op)
{
    if (op->distances != NULL) {
        PMIx_Device_distance_free(op->distances, op->distance_count);
    }
}

/* The caller may change its arguments as soon as this returns, so the work is done here and only
 * the answer is left to the thread of callbacks. */
pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                        pmix_info_t *info, size_t ninfo,
                                        pmix_device_dist_cbfunc_t cbfunc, void *cbdata)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op), .told = distances_told };
    struct sx_op here = SX_OP_INIT(&kind, sx_primary(),
                                   .callback = SX_CALLBACK(SX_SHAPE_DISTANCES, distances, cbfunc,
                                                           cbdata, .alone = !sx_process_ready()));
    struct sx_op *op = &here;

    if (cbfunc == NULL) {
        return sx_process_misused();
    }
    here.status = PMIx_Compute_distances(topo, cpuset, info, ninfo, &here.distances,
                                         &here.distance_count);
    if (here.status != PMIX_SUCCESS && here.status != PMIX_ERR_NOT_FOUND) {
        return here.status;
    }
    const pmix_status_t rc = sx_op_open(&op);
    if (rc != PMIX_SUCCESS) {
        distances_told(&here);
        return rc;
    }
    return sx_op_answer(op, here.status);
}
