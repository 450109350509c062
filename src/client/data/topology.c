/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.c - give a process the node's topology, its own binding, and the text of what it shares
 * with others.
 *
 *     a rank        the XML that its server has published, read out of the mapped store
 *     a host, or a singleton
 *                   the XML of base/system/topology.h, which the first call in the process makes
 *
 * Each caller gets a topology of its own, because programs hand it back to hwloc or change it.
 * Only the text is kept, once. */
#include "client/data/topology.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call/role.h"
#include "base/status.h"
#include "base/system/locality.h"
#include "base/system/topology.h"
#include "base/util.h"
#include "base/value/opaque.h"
#include "client/data/epoch.h"
#include "client/data/lookup.h"
#include "client/data/private_value.h"
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

pmix_status_t sx_topology_open(hwloc_topology_t *ret_topology)
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
    const pmix_status_t rc = sx_topology_open(&made);
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

static pmix_status_t process_add(hwloc_bitmap_t bitmap)
{
    DIR *const dir = opendir("/proc/self/task");
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)thread_add((pid_t)atoi(entry->d_name), bitmap); /* it may have ended */
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    /* The main thread, for a machine that hides /proc, and to have an error to return. */
    return thread_add(getpid(), bitmap);
}

pmix_status_t sx_topology_binding(pmix_bind_envelope_t envelope, hwloc_bitmap_t *ret_bitmap)
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
    const pmix_status_t rc = sx_topology_binding(ref, &bitmap);
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
