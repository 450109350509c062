/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.c - give a process the node's topology, its own binding, and the text of what it shares
 * with others; and how far devices are from it.
 *
 *     a rank        the XML that its server has published, read out of the mapped store
 *     a host, or a singleton
 *                   the XML of base/system/topology.h, which the first call in the process makes
 *
 * Each caller gets a topology of its own, because programs hand it back to hwloc or change it.
 * Only the text is kept, once. */
#include <dirent.h>
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/status.h"
#include "base/system/locality.h"
#include "base/system/topology.h"
#include "base/util.h"
#include "base/value/opaque.h"
#include "client/data/data.h"
#include "client/data/epoch.h"
#include "client/data/lookup.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "client/link/op.h"

/* ---- the topology ------------------------------------------------------------------------- */

/* Where hosts put the text; one key, and the same text, is enough. */
#define KEY_COUNT (SX_TOPOLOGY_KEY_COUNT + 1)

static const char *key_of(size_t i)
{
    return i < SX_TOPOLOGY_KEY_COUNT ? sx_topology_keys[i] : PMIX_TOPOLOGY_XML;
}

/* Inside.  Return: PMIX_ERR_NOT_FOUND also for a NULL string. */
static pmix_status_t read_key(struct sx_lookup *lookup, const char *key,
                              hwloc_topology_t *ret_topology)
{
    struct sx_item item;

    pmix_status_t rc = sx_lookup_find(lookup, &item);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_box_hand_out(&item);
    if (item.cell.type != PMIX_STRING || (item.cell.flags & SX_CELL_NULL) != 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    rc = sx_topology_read(item.body, item.cell.len, ret_topology);
    return rc != PMIX_ERR_UNPACK_FAILURE
               ? rc
               : SX_RAISE(rc, "\"%s\" is no XML that hwloc understands", key);
}

/* The text as the server published it: it does not change, so an old store does as well as the
 * newest. */
static pmix_status_t look_for_key(const char *key, hwloc_topology_t *ret_topology)
{
    pmix_proc_t job = sx_process.self;
    struct sx_lookup lookup;

    job.rank = PMIX_RANK_WILDCARD;
    pmix_status_t rc = sx_lookup_init(&lookup, &job, key, NULL, 0);
    if (rc == PMIX_SUCCESS) {
        const struct sx_grace grace = sx_grace_enter();

        rc = read_key(&lookup, key, ret_topology);
        sx_grace_exit(&grace);
    }
    return rc;
}

static pmix_status_t read_stored(hwloc_topology_t *ret_topology)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; i < KEY_COUNT; i++) {
        const pmix_status_t here = look_for_key(key_of(i), ret_topology);

        if (here == PMIX_SUCCESS) {
            return here;
        }
        rc = here == PMIX_ERR_NOT_FOUND ? rc : here;
    }
    return rc;
}

/* If the host has announced the text, wait until it has arrived or failed.  Return: as
 * sx_request. */
static pmix_status_t await_text(void)
{
    uint64_t room[(sizeof(struct sx_get) + PMIX_MAX_KEYLEN) / sizeof(uint64_t) + 1];
    const char *const key = sx_topology_keys[0];
    struct sx_op op = SX_OP_INIT(&sx_op_plain, sx_primary());
    struct sx_get head = { .rank = SX_ROW_JOB };
    struct sx_draft draft = { .head = &head, .parts = { [SX_GET_KEY] = { key, strlen(key) + 1 } } };
    struct sx_lookup lookup;
    struct iovec body;
    pmix_proc_t job = sx_process.self;

    job.rank = PMIX_RANK_WILDCARD;
    pmix_status_t rc = sx_lookup_init(&lookup, &job, key, NULL, 0);
    if (rc != PMIX_SUCCESS || !sx_lookup_is_coming(&lookup)) {
        return rc;
    }
    memcpy(head.nspace, job.nspace, sizeof(job.nspace));
    rc = sx_wire_write(SX_MSG_GET, &draft, room, sizeof(room), &body);
    return rc == PMIX_SUCCESS ? sx_request(&op, SX_MSG_GET, &body, 1, SX_DEADLINE_NEVER) : rc;
}

static pmix_status_t read_published(hwloc_topology_t *ret_topology)
{
    pmix_status_t rc = read_stored(ret_topology);

    if (rc == PMIX_ERR_NOT_FOUND) {
        rc = await_text();
        rc = rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND ? read_stored(ret_topology) : rc;
    }
    return rc;
}

/* A topology of the caller's own, for hwloc_topology_destroy: read from what the server has
 * published, without probing the machine; a process without a server probes it once.  Any thread.
 * Return: PMIX_SUCCESS; PMIX_ERR_INIT; PMIX_ERR_NOT_FOUND when nothing was published;
 * PMIX_ERR_UNPACK_FAILURE; as sx_topology_node. */
static pmix_status_t topology_open(hwloc_topology_t *ret_topology)
{
    const bool is_client = sx_process_ready();
    char *xml;

    if (!is_client && sx_role_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    /* A lost server's store is still there to read. */
    if (is_client && sx_link_status(sx_primary()) != PMIX_ERR_UNREACH) {
        return read_published(ret_topology);
    }
    pmix_status_t rc = sx_topology_node(&xml);
    if (rc == PMIX_SUCCESS) {
        rc = sx_topology_read(xml, strlen(xml) + 1, ret_topology);
        free(xml);
    }
    return rc;
}

static char *source_new(void)
{
    const unsigned version = hwloc_get_api_version();
    char *text;
    const int len = asprintf(&text, "%s:%u.%u.%u", SX_OPAQUE_HWLOC, version >> 16,
                             version >> 8 & 0xff, version & 0xff);

    return len < 0 ? NULL : text;
}

pmix_status_t PMIx_Load_topology(pmix_topology_t *topo)
{
    hwloc_topology_t made;

    if (topo == NULL) {
        return sx_process_misused();
    }
    if (topo->source != NULL && !sx_opaque_is_hwloc(topo->source)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    const pmix_status_t rc = topology_open(&made);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    /* A source that the caller has set means the same and stays the caller's. */
    char *const source = topo->source != NULL ? topo->source : source_new();
    if (source == NULL) {
        hwloc_topology_destroy(made);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *topo = (pmix_topology_t){ .source = source, .topology = made };
    return PMIX_SUCCESS;
}

/* ---- the binding -------------------------------------------------------------------------- */

#define CPU_START 1024u /* bits of the first mask tried */
#define CPU_LIMIT (1u << 20)

/* Add where thread @tid may run to @bitmap. */
static pmix_status_t thread_add(pid_t tid, hwloc_bitmap_t bitmap)
{
    for (unsigned cpus = CPU_START; cpus <= CPU_LIMIT; cpus *= 2) {
        cpu_set_t *const mask = CPU_ALLOC(cpus);
        const size_t size = CPU_ALLOC_SIZE(cpus);

        if (mask == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        if (sched_getaffinity(tid, size, mask) == 0) {
            for (unsigned cpu = 0; cpu < cpus; cpu++) {
                if (CPU_ISSET_S(cpu, size, mask)) {
                    hwloc_bitmap_set(bitmap, cpu);
                }
            }
            CPU_FREE(mask);
            return PMIX_SUCCESS;
        }
        CPU_FREE(mask);
        if (errno != EINVAL) { /* EINVAL: the kernel's mask is wider */
            return sx_status_from_errno(errno);
        }
    }
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* Of a gateway its rank is meant, if its process is known. */
static pmix_status_t process_add(hwloc_bitmap_t bitmap)
{
    const pid_t pid = sx_process.stands_for > 0 ? sx_process.stands_for : getpid();
    struct dirent *entry;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *const dir = opendir(path);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)thread_add((pid_t)atoi(entry->d_name), bitmap); /* it may have ended */
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    /* The main thread, for a machine that hides /proc, and to have an error to return. */
    return thread_add(pid, bitmap);
}

/* The processors that the kernel lets the process (any of its threads) or the calling thread run
 * on, as a bitmap for hwloc_bitmap_free.  Any thread.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for another @envelope; as sx_status_from_errno. */
static pmix_status_t topology_binding(pmix_bind_envelope_t envelope, hwloc_bitmap_t *ret_bitmap)
{
    if (envelope != PMIX_CPUBIND_PROCESS && envelope != PMIX_CPUBIND_THREAD) {
        return PMIX_ERR_BAD_PARAM;
    }
    const hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    if (bitmap == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = envelope == PMIX_CPUBIND_THREAD ? thread_add(0, bitmap)
                                                             : process_add(bitmap);
    if (rc != PMIX_SUCCESS) {
        hwloc_bitmap_free(bitmap);
        return SX_RAISE(rc, "the kernel does not tell where this process may run");
    }
    *ret_bitmap = bitmap;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref)
{
    hwloc_bitmap_t bitmap;

    if (cpuset == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = topology_binding(ref, &bitmap);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    char *const source = strdup(SX_OPAQUE_HWLOC);
    if (source == NULL) {
        hwloc_bitmap_free(bitmap);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *cpuset = (pmix_cpuset_t){ .source = source, .bitmap = bitmap };
    return PMIX_SUCCESS;
}

/* ---- text --------------------------------------------------------------------------------- */

pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string, pmix_cpuset_t *cpuset)
{
    return cpuset_string == NULL || cpuset == NULL ? PMIX_ERR_BAD_PARAM
                                                   : sx_locality_cpuset_read(cpuset_string, cpuset);
}

pmix_status_t PMIx_Get_relative_locality(const char *locality1, const char *locality2,
                                         pmix_locality_t *locality)
{
    return locality1 == NULL || locality2 == NULL || locality == NULL
               ? PMIX_ERR_BAD_PARAM
               : sx_locality_compare(locality1, locality2, locality);
}

/* ---- distances ------------------------------------------------------------------------------- */

/* How far the node's devices are from a set of processors.
 *
 * The distance of a processor is a number of levels of the machine: from it up to the smallest part
 * that contains the device, too.  On one tree, less is nearer.  The minimum and the maximum are
 * over the processors of the set; without any that the topology has, they are unknown.  Names of
 * devices that have no number of their own carry the host's. */

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
        rc = topology_open(&question->own_topology);
        question->topology = question->own_topology;
    }
    if (rc == PMIX_SUCCESS && cpuset != NULL && cpuset->bitmap != NULL) {
        question->cpuset = cpuset->bitmap;
        return sx_opaque_is_hwloc(cpuset->source) ? rc : PMIX_ERR_NOT_SUPPORTED;
    }
    if (rc == PMIX_SUCCESS) {
        rc = topology_binding(PMIX_CPUBIND_PROCESS, &question->own_cpuset);
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

static void distances_release(struct sx_op *op)
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
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .release = distances_release };
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
        distances_release(&here);
        return rc;
    }
    return sx_op_answer(op, here.status);
}
