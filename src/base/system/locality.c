/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* locality.c - write places as text; read and compare them without a topology.
 *
 * A text is compared in place: lists ascend, so two of them are merged in one pass, and no number
 * in a text decides how much memory is taken. */
#include "base/system/locality.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

#include "base/status.h"
#include "base/util.h"
#include "base/value/opaque.h"

#define TAG_LEN 2
#define INDEX_MAX 100000000u /* far above any machine, far below an overflow */

/* From the widest level to the narrowest, which is the order in the text. */
static const struct {
    const char *tag;
    hwloc_obj_type_t type;
    pmix_locality_t shared;
} levels[] = {
    { "NM", HWLOC_OBJ_NUMANODE, PMIX_LOCALITY_SHARE_NUMA },
    { "SK", HWLOC_OBJ_PACKAGE, PMIX_LOCALITY_SHARE_PACKAGE },
    { "L3", HWLOC_OBJ_L3CACHE, PMIX_LOCALITY_SHARE_L3CACHE },
    { "L2", HWLOC_OBJ_L2CACHE, PMIX_LOCALITY_SHARE_L2CACHE },
    { "L1", HWLOC_OBJ_L1CACHE, PMIX_LOCALITY_SHARE_L1CACHE },
    { "CR", HWLOC_OBJ_CORE, PMIX_LOCALITY_SHARE_CORE },
    { "HT", HWLOC_OBJ_PU, PMIX_LOCALITY_SHARE_HWTHREAD },
};

/* ---- writing ------------------------------------------------------------------------------ */

/* Append the objects of one level that @cpuset touches.  Return: false when memory is out. */
static bool level_write(FILE *out, hwloc_topology_t topology, hwloc_const_bitmap_t cpuset,
                        size_t level)
{
    const hwloc_bitmap_t touched = hwloc_bitmap_alloc();
    char *list = NULL;
    hwloc_obj_t obj = NULL;
    bool ok = touched != NULL;

    while (ok && (obj = hwloc_get_next_obj_by_type(topology, levels[level].type, obj)) != NULL) {
        if (hwloc_bitmap_intersects(cpuset, obj->cpuset)) {
            ok = hwloc_bitmap_set(touched, obj->logical_index) == 0;
        }
    }
    if (ok && !hwloc_bitmap_iszero(touched)) {
        ok = hwloc_bitmap_list_asprintf(&list, touched) >= 0 &&
             fprintf(out, "%s%s%s", ftell(out) == 0 ? "" : ":", levels[level].tag, list) > 0;
    }
    free(list);
    hwloc_bitmap_free(touched);
    return ok;
}

pmix_status_t sx_locality_write(hwloc_topology_t topology, hwloc_const_bitmap_t cpuset,
                                char **ret_text)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    bool ok = out != NULL;

    for (size_t i = 0; ok && i < SX_COUNT(levels); i++) {
        ok = level_write(out, topology, cpuset, i);
    }
    if (out != NULL && fclose(out) != 0) {
        ok = false;
    }
    if (!ok) {
        free(text);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret_text = text;
    return PMIX_SUCCESS;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* A list on its way through: the range it stands at. */
struct list {
    const char *at;
    unsigned first, last;
    bool begun;
};

static bool number_read(struct list *list, unsigned *ret)
{
    const char *const from = list->at;
    unsigned number = 0;

    while (*list->at >= '0' && *list->at <= '9' && number < INDEX_MAX) {
        number = number * 10 + (unsigned)(*list->at++ - '0');
    }
    *ret = number;
    return list->at != from && number < INDEX_MAX;
}

static bool list_is_over(const struct list *list)
{
    return *list->at == '\0' || *list->at == ':';
}

/* Step to the next range.  Return: false where there is none, or none that may stand there. */
static bool list_next(struct list *list)
{
    const bool begun = list->begun;
    const unsigned before = list->last;

    if (begun && *list->at++ != ',') {
        return false;
    }
    list->begun = true;
    if (!number_read(list, &list->first) || (begun && list->first <= before)) {
        return false;
    }
    list->last = list->first;
    if (*list->at == '-') {
        list->at++;
        if (!number_read(list, &list->last) || list->last < list->first) {
            return false;
        }
    }
    return true;
}

static bool is_tag(const char *at)
{
    return at[0] >= 'A' && at[0] <= 'Z' &&
           ((at[1] >= 'A' && at[1] <= 'Z') || (at[1] >= '0' && at[1] <= '9'));
}

/* Return: behind the segment at @at, on ':' or the end; NULL when it is none. */
static const char *segment_check(const char *at)
{
    struct list list = { .at = at };

    if (!is_tag(at)) {
        return NULL;
    }
    list.at += TAG_LEN;
    do {
        if (!list_next(&list)) {
            return NULL;
        }
    } while (!list_is_over(&list));
    return list.at;
}

/* Return: the segment after the one at @at, NULL when that was the last. */
static const char *segment_next(const char *at)
{
    at = strchr(at, ':');
    return at == NULL ? NULL : at + 1;
}

/* Take the source off.  Return: PMIX_ERR_NOT_SUPPORTED when it is another than hwloc. */
static pmix_status_t source_strip(const char **text)
{
    const char *const colon = strchr(*text, ':');

    if (colon != NULL && sx_opaque_is_hwloc(*text)) {
        *text = colon + 1;
        return PMIX_SUCCESS;
    }
    /* Neither tags nor processors begin with a small letter; names of sources do. */
    return colon != NULL && **text >= 'a' && **text <= 'z' ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
}

/* Judge a whole locality.  *ret_first is its first segment, NULL when it has none. */
static pmix_status_t text_check(const char *text, const char **ret_first)
{
    const pmix_status_t rc = source_strip(&text);

    *ret_first = *text == '\0' ? NULL : text;
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    for (const char *at = *ret_first; at != NULL; at = segment_next(at)) {
        if (segment_check(at) == NULL) {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    return PMIX_SUCCESS;
}

/* Of two lists that have been checked. */
static bool lists_intersect(const char *one, const char *other)
{
    struct list a = { .at = one }, b = { .at = other };
    bool more = list_next(&a) && list_next(&b);

    while (more) {
        if (a.last < b.first) {
            more = !list_is_over(&a) && list_next(&a);
        } else if (b.last < a.first) {
            more = !list_is_over(&b) && list_next(&b);
        } else {
            return true;
        }
    }
    return false;
}

static pmix_locality_t segments_shared(const char *one, const char *other)
{
    if (memcmp(one, other, TAG_LEN) == 0 && lists_intersect(one + TAG_LEN, other + TAG_LEN)) {
        for (size_t i = 0; i < SX_COUNT(levels); i++) {
            if (memcmp(one, levels[i].tag, TAG_LEN) == 0) {
                return levels[i].shared;
            }
        }
    }
    return 0;
}

pmix_status_t sx_locality_compare(const char *one, const char *other, pmix_locality_t *ret_locality)
{
    pmix_locality_t shared = PMIX_LOCALITY_SHARE_NODE;
    const char *first, *others;
    pmix_status_t rc = text_check(one, &first);

    if (rc == PMIX_SUCCESS) {
        rc = text_check(other, &others);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    for (const char *a = first; a != NULL; a = segment_next(a)) {
        for (const char *b = others; b != NULL; b = segment_next(b)) {
            shared |= segments_shared(a, b);
        }
    }
    *ret_locality = shared;
    return PMIX_SUCCESS;
}

/* ---- cpusets ------------------------------------------------------------------------------ */

pmix_status_t sx_locality_cpuset_read(const char *text, pmix_cpuset_t *ret_cpuset)
{
    pmix_cpuset_t cpuset = { .source = NULL };
    const bool is_nothing = *text == '\0';
    pmix_status_t rc = source_strip(&text);

    if (rc != PMIX_SUCCESS || is_nothing) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_BAD_PARAM;
    }
    cpuset.source = strdup(SX_OPAQUE_HWLOC);
    if (cpuset.source == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = sx_opaque_parse(&cpuset, PMIX_PROC_CPUSET, text);
    if (rc != PMIX_SUCCESS) {
        free(cpuset.source);
        return rc == PMIX_ERR_UNPACK_FAILURE ? PMIX_ERR_BAD_PARAM : rc;
    }
    *ret_cpuset = cpuset;
    return PMIX_SUCCESS;
}

pmix_status_t sx_locality_cpuset_write(const pmix_cpuset_t *cpuset, char **ret_text)
{
    char *list, *text;

    if (cpuset->source == NULL || cpuset->bitmap == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!sx_opaque_is_hwloc(cpuset->source)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    const pmix_status_t rc = sx_opaque_text(cpuset, PMIX_PROC_CPUSET, &list);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const int len = asprintf(&text, "%s:%s", SX_OPAQUE_HWLOC, list);
    free(list);
    if (len < 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret_text = text;
    return PMIX_SUCCESS;
}

/* ---- cpus ------------------------------------------------------------------------------------ */

/* The CPUs that hosts and programs name for their threads, cut to those that the kernel allows. */

bool sx_cpus_of_thread(pid_t tid, struct sx_cpus *ret)
{
    memset(ret, 0, sizeof(*ret));
    return sched_getaffinity(tid, sizeof(*ret), (cpu_set_t *)(void *)ret->words) == 0;
}

bool sx_cpus_can_be_asked(void)
{
    struct sx_cpus cpus;

    return sx_cpus_of_thread(0, &cpus) || errno == EINVAL; /* more of them than have room there */
}

bool sx_cpus_bind(const struct sx_cpus *cpus)
{
    return sched_setaffinity(0, sizeof(*cpus), (const cpu_set_t *)(const void *)cpus->words) == 0;
}

/* The processors of @text that this process may use. */
static pmix_status_t allowed_read(const char *text, struct sx_cpus *ret, bool *ret_some)
{
    pmix_cpuset_t cpuset = { .source = NULL };
    struct sx_cpus allowed;
    const pmix_status_t rc = sx_locality_cpuset_read(text, &cpuset);
    unsigned cpu;

    if (rc != PMIX_SUCCESS) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" names no processors, as \"0-3,8\" does", text);
    }
    if (sx_cpus_of_thread(0, &allowed)) {
        hwloc_bitmap_foreach_begin(cpu, (hwloc_const_bitmap_t)cpuset.bitmap)
        {
            if (cpu >= SX_CPU_MAX) {
                break; /* of a set without an end, too */
            }
            if (sx_cpus_has(&allowed, cpu)) {
                sx_cpus_add(ret, cpu);
                *ret_some = true;
            }
        }
        hwloc_bitmap_foreach_end();
    }
    PMIx_Cpuset_destruct(&cpuset);
    return PMIX_SUCCESS;
}

pmix_status_t sx_cpus_choose(const char *text, bool required, struct sx_cpus *ret, bool *ret_some)
{
    pmix_status_t rc = PMIX_SUCCESS;

    memset(ret, 0, sizeof(*ret));
    *ret_some = false;
    if (text != NULL) {
        rc = allowed_read(text, ret, ret_some);
    }
    if (rc != PMIX_SUCCESS || text == NULL || *ret_some) {
        return rc;
    }
    if (required) {
        return SX_RAISE(PMIX_ERR_NOT_AVAILABLE,
                        "this process may use none of the processors \"%s\"", text);
    }
    sx_log(SX_LOG_INFO, "the progress thread is not bound: \"%s\" is not for this process", text);
    return PMIX_SUCCESS;
}
