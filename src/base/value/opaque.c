/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* opaque.c - hwloc's objects copied, freed and turned into text and back. */
#include "base/value/opaque.h"

#define XXH_INLINE_ALL
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "base/system/topology.h"
#include "base/util.h"

bool sx_opaque_is_hwloc(const char *source)
{
    const size_t len = sizeof(SX_OPAQUE_HWLOC) - 1;

    return source != NULL && strncasecmp(source, SX_OPAQUE_HWLOC, len) == 0 &&
           (source[len] == '\0' || source[len] == ':');
}

static pmix_status_t cpuset_copy(pmix_cpuset_t *dst, const pmix_cpuset_t *src)
{
    if (src->bitmap == NULL) {
        return PMIX_SUCCESS;
    }
    if (!sx_opaque_is_hwloc(src->source)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    dst->bitmap = hwloc_bitmap_dup(src->bitmap);
    return dst->bitmap == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

static pmix_status_t topology_copy(pmix_topology_t *dst, const pmix_topology_t *src)
{
    hwloc_topology_t copy;

    if (src->topology == NULL) {
        return PMIX_SUCCESS;
    }
    if (!sx_opaque_is_hwloc(src->source)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (hwloc_topology_dup(&copy, src->topology) != 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    dst->topology = copy;
    return PMIX_SUCCESS;
}

pmix_status_t sx_opaque_copy(void *dst, const void *src, pmix_data_type_t type)
{
    if (type == PMIX_PROC_CPUSET) {
        return cpuset_copy(dst, src);
    }
    return type == PMIX_TOPO ? topology_copy(dst, src) : PMIX_SUCCESS;
}

void sx_opaque_destruct(void *element, pmix_data_type_t type)
{
    if (type == PMIX_PROC_CPUSET) {
        pmix_cpuset_t *cpuset = element;

        if (sx_opaque_is_hwloc(cpuset->source)) {
            hwloc_bitmap_free(cpuset->bitmap);
            cpuset->bitmap = NULL;
        }
    } else if (type == PMIX_TOPO) {
        pmix_topology_t *topo = element;

        if (sx_opaque_is_hwloc(topo->source) && topo->topology != NULL) {
            hwloc_topology_destroy(topo->topology);
            topo->topology = NULL;
        }
    }
}

static pmix_status_t cpuset_text(const pmix_cpuset_t *cpuset, char **ret_text)
{
    const hwloc_bitmap_t set = cpuset->bitmap;
    /* Of a set without an end, the last processor that is not in it says where numbers stop. */
    const int last = hwloc_bitmap_weight(set) < 0 ? hwloc_bitmap_last_unset(set) + 1
                                                  : hwloc_bitmap_last(set);

    if (last >= (int)SX_OPAQUE_CPU_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    return hwloc_bitmap_list_asprintf(ret_text, set) < 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

pmix_status_t sx_opaque_text(const void *element, pmix_data_type_t type, char **ret_text)
{
    const pmix_cpuset_t *cpuset = element;
    const pmix_topology_t *topo = element;

    if (type == PMIX_PROC_CPUSET && cpuset->bitmap != NULL) {
        return sx_opaque_is_hwloc(cpuset->source) ? cpuset_text(cpuset, ret_text)
                                                  : PMIX_ERR_NOT_SUPPORTED;
    }
    if (type == PMIX_TOPO && topo->topology != NULL) {
        return sx_opaque_is_hwloc(topo->source) ? sx_topology_write(topo->topology, ret_text)
                                                : PMIX_ERR_NOT_SUPPORTED;
    }
    *ret_text = NULL;
    return PMIX_SUCCESS;
}

/* The decimal number at *at, which moves behind it.  Return: -1 when there is none below the
 * bound. */
static int list_number(const char **at)
{
    const char *from = *at;
    unsigned number = 0;

    while (**at >= '0' && **at <= '9' && number < SX_OPAQUE_CPU_MAX) {
        number = number * 10 + (unsigned)(**at - '0');
        (*at)++;
    }
    return *at == from || number >= SX_OPAQUE_CPU_MAX ? -1 : (int)number;
}

/* hwloc's own reader takes any number and would allocate up to the largest of them. */
static bool list_parse(hwloc_bitmap_t set, const char *at)
{
    while (*at != '\0') {
        const int begin = list_number(&at);
        int end = begin;

        if (*at == '-') {
            at++;
            if (*at == '\0') {
                return begin >= 0 && hwloc_bitmap_set_range(set, (unsigned)begin, -1) == 0;
            }
            end = list_number(&at);
        }
        if (begin < 0 || end < begin || hwloc_bitmap_set_range(set, (unsigned)begin, end) != 0) {
            return false;
        }
        if (*at == ',' && at[1] != '\0') {
            at++;
        } else if (*at != '\0') {
            return false;
        }
    }
    return true;
}

static pmix_status_t cpuset_parse(pmix_cpuset_t *cpuset, const char *text)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();

    if (set == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (!list_parse(set, text)) {
        hwloc_bitmap_free(set);
        return PMIX_ERR_UNPACK_FAILURE;
    }
    cpuset->bitmap = set;
    return PMIX_SUCCESS;
}

static pmix_status_t topology_parse(pmix_topology_t *topo, const char *text)
{
    hwloc_topology_t made;
    const pmix_status_t rc = sx_topology_read_any(text, strlen(text) + 1, &made);

    if (rc == PMIX_SUCCESS) {
        topo->topology = made;
    }
    return rc;
}

pmix_status_t sx_opaque_parse(void *element, pmix_data_type_t type, const char *text)
{
    pmix_cpuset_t *cpuset = element;
    pmix_topology_t *topo = element;

    if (type == PMIX_PROC_CPUSET && sx_opaque_is_hwloc(cpuset->source)) {
        return cpuset_parse(cpuset, text);
    }
    if (type == PMIX_TOPO && sx_opaque_is_hwloc(topo->source)) {
        return topology_parse(topo, text);
    }
    return PMIX_ERR_UNPACK_FAILURE;
}

#define PRINT_DEPTH_MAX 64u

static const char *name_of(hwloc_obj_type_t type)
{
    static const char *const names[] = {
        [HWLOC_OBJ_MACHINE] = "Machine",   [HWLOC_OBJ_PACKAGE] = "Package",
        [HWLOC_OBJ_CORE] = "Core",         [HWLOC_OBJ_PU] = "PU",
        [HWLOC_OBJ_L1CACHE] = "L1Cache",   [HWLOC_OBJ_L2CACHE] = "L2Cache",
        [HWLOC_OBJ_L3CACHE] = "L3Cache",   [HWLOC_OBJ_L4CACHE] = "L4Cache",
        [HWLOC_OBJ_L5CACHE] = "L5Cache",   [HWLOC_OBJ_L1ICACHE] = "L1iCache",
        [HWLOC_OBJ_L2ICACHE] = "L2iCache", [HWLOC_OBJ_L3ICACHE] = "L3iCache",
        [HWLOC_OBJ_GROUP] = "Group",       [HWLOC_OBJ_NUMANODE] = "NUMANode",
        [HWLOC_OBJ_DIE] = "Die",           [HWLOC_OBJ_MEMCACHE] = "MemCache",
    };

    return (size_t)type < SX_COUNT(names) && names[type] != NULL ? names[type] : "Object";
}

static void object_print(FILE *to, hwloc_obj_t object, unsigned depth)
{
    const char *before = "{";

    fputs(name_of(object->type), to);
    if (object->os_index != HWLOC_UNKNOWN_INDEX) {
        fprintf(to, "#%u", object->os_index);
    }
    for (int of_memory = 1; of_memory >= 0 && depth < PRINT_DEPTH_MAX; of_memory--) {
        hwloc_obj_t child = of_memory ? object->memory_first_child : object->first_child;

        for (; child != NULL; child = child->next_sibling) {
            fputs(before, to);
            object_print(to, child, depth + 1);
            before = ", ";
        }
    }
    fputs(before[0] == '{' ? "" : "}", to);
}

void sx_opaque_print(FILE *to, const pmix_topology_t *topo)
{
    object_print(to, hwloc_get_obj_by_depth(topo->topology, 0, 0), 0);
}

uint64_t sx_opaque_hash(const char *text, size_t len)
{
    return XXH3_64bits(text, len);
}
