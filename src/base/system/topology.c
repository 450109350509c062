/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.c - discovery, XML, and the one text of this process.
 *
 *     nothing --first sx_topology_node--> looked     kept until the process ends
 *        given --------------------------> given     in front of what was looked up
 *
 * hwloc calls libxml2, which divides zero by zero as it begins.  A program may trap that, or ask
 * later whether it has happened: such calls leave the thread's floating point state as it was. */
#include "base/system/topology.h"

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system/locality.h"
#include "base/util.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *given, *looked; /* under lock */

const char *const sx_topology_keys[SX_TOPOLOGY_KEY_COUNT] = { PMIX_HWLOC_XML_V2, PMIX_LOCAL_TOPO };

bool sx_topology_is_key(const char *key)
{
    for (size_t i = 0; i < SX_TOPOLOGY_KEY_COUNT; i++) {
        if (strncmp(key, sx_topology_keys[i], PMIX_MAX_KEYLEN + 1) == 0) {
            return true;
        }
    }
    return false;
}

/* Parts of hwloc that start the runtime of a GPU or search the network for X displays: not in a
 * launcher's process.  The kernel's own names of GPUs ("card0") are found without them.  "pci" asks
 * libpciaccess, which leaks and is not thread-safe, for facts that /sys has as well. */
static const char *const refused[] = {
    "pci", "gl", "opencl", "cuda", "nvml", "rsmi", "levelzero",
};

static pmix_status_t discover_trapless(enum hwloc_type_filter_e devices,
                                       hwloc_topology_t *ret_topology)
{
    hwloc_topology_t topology;

    if (!sx_cpus_can_be_asked()) { /* hwloc would try for ever */
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "sched_getaffinity: %s: the CPUs cannot be looked at%s", strerror(errno),
                        sx_refused_advice(errno));
    }
    if (hwloc_topology_init(&topology) != 0) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "hwloc does not start on this machine");
    }
    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        /* One that hwloc was built without cannot be refused, and need not be. */
        (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                            refused[i]);
    }
    if (hwloc_topology_set_io_types_filter(topology, devices) != 0 ||
        hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return SX_RAISE(PMIX_ERR_NOT_FOUND, "hwloc cannot read this machine's topology");
    }
    *ret_topology = topology;
    return PMIX_SUCCESS;
}

static pmix_status_t discover(enum hwloc_type_filter_e devices, hwloc_topology_t *ret_topology)
{
    fenv_t kept;

    (void)feholdexcept(&kept);
    const pmix_status_t rc = discover_trapless(devices, ret_topology);

    (void)fesetenv(&kept);
    return rc;
}

pmix_status_t sx_topology_discover(hwloc_topology_t *ret_topology)
{
    return discover(HWLOC_TYPE_FILTER_KEEP_IMPORTANT, ret_topology);
}

pmix_status_t sx_topology_discover_cpus(hwloc_topology_t *ret_topology)
{
    return discover(HWLOC_TYPE_FILTER_KEEP_NONE, ret_topology);
}

/* The parts of a description that are kept. */
struct xml_options {
    unsigned long flags;
    int (*filter)(hwloc_topology_t topology, enum hwloc_type_filter_e kept);
    enum hwloc_type_filter_e kept;
};

static pmix_status_t xml_load_trapless(const char *xml, size_t size_bytes,
                                       const struct xml_options *options,
                                       hwloc_topology_t *ret_topology)
{
    hwloc_topology_t topology;

    if (size_bytes == 0 || size_bytes > INT_MAX || xml[size_bytes - 1] != '\0') {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (hwloc_topology_init(&topology) != 0) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "hwloc does not start on this machine");
    }
    if (hwloc_topology_set_flags(topology, options->flags) != 0 ||
        options->filter(topology, options->kept) != 0 ||
        hwloc_topology_set_xmlbuffer(topology, xml, (int)size_bytes) != 0 ||
        hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret_topology = topology;
    return PMIX_SUCCESS;
}

static pmix_status_t xml_load(const char *xml, size_t size_bytes, const struct xml_options *options,
                              hwloc_topology_t *ret_topology)
{
    fenv_t kept;

    (void)feholdexcept(&kept);
    const pmix_status_t rc = xml_load_trapless(xml, size_bytes, options, ret_topology);

    (void)fesetenv(&kept);
    return rc;
}

/* The XML describes this machine, so binding by it has to work. */
pmix_status_t sx_topology_read(const char *xml, size_t size_bytes, hwloc_topology_t *ret_topology)
{
    static const struct xml_options options = { .flags = HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM,
                                                .filter = hwloc_topology_set_io_types_filter,
                                                .kept = HWLOC_TYPE_FILTER_KEEP_IMPORTANT };

    return xml_load(xml, size_bytes, &options, ret_topology);
}

/* All of the XML is kept: its exporter has chosen the contents. */
pmix_status_t sx_topology_read_any(const char *xml, size_t size_bytes,
                                   hwloc_topology_t *ret_topology)
{
    static const struct xml_options options = { .flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
                                                         HWLOC_TOPOLOGY_FLAG_IMPORT_SUPPORT,
                                                .filter = hwloc_topology_set_all_types_filter,
                                                .kept = HWLOC_TYPE_FILTER_KEEP_ALL };

    return xml_load(xml, size_bytes, &options, ret_topology);
}

pmix_status_t sx_topology_write(hwloc_topology_t topology, char **ret_xml)
{
    char *xml, *copy;
    fenv_t kept;
    int size;

    (void)feholdexcept(&kept);
    const int exported = hwloc_topology_export_xmlbuffer(topology, &xml, &size, 0);

    (void)fesetenv(&kept);
    if (exported != 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    copy = strdup(xml);
    hwloc_free_xmlbuffer(topology, xml);
    if (copy == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret_xml = copy;
    return PMIX_SUCCESS;
}

/* ---- the node ----------------------------------------------------------------------------- */

/* Under the lock, so that the machine is read once. */
static pmix_status_t look(void)
{
    hwloc_topology_t topology;
    pmix_status_t rc = sx_topology_discover(&topology);

    if (rc == PMIX_SUCCESS) {
        rc = sx_topology_write(topology, &looked);
        hwloc_topology_destroy(topology);
    }
    return rc;
}

pmix_status_t sx_topology_node(char **ret_xml)
{
    pmix_status_t rc = PMIX_SUCCESS;

    pthread_mutex_lock(&lock);
    if (given == NULL && looked == NULL) {
        rc = look();
    }
    if (rc == PMIX_SUCCESS) {
        char *const copy = strdup(given != NULL ? given : looked);

        if (copy != NULL) {
            *ret_xml = copy;
        } else {
            rc = PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void sx_topology_node_give(char *xml)
{
    pthread_mutex_lock(&lock);
    char *const before = given;

    given = xml;
    pthread_mutex_unlock(&lock);
    free(before);
}
