/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* map.c - parts are compared only by their CPUs: the nesting of NUMA nodes, caches and packages
 * differs between machines. */
#include "launch/place/place.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/common/say.h"

/* ---- parts ----------------------------------------------------------------------------------- */

static hwloc_obj_type_t type_of(hwloc_topology_t topology, enum sx_run_level level)
{
    switch (level) {
    case SX_RUN_LEVEL_CORE:
        /* Some virtual machines show CPUs but no cores. */
        return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE
                                                                      : HWLOC_OBJ_PU;
    case SX_RUN_LEVEL_L3CACHE:
        return HWLOC_OBJ_L3CACHE;
    case SX_RUN_LEVEL_NUMA:
        return HWLOC_OBJ_NUMANODE;
    case SX_RUN_LEVEL_PACKAGE:
        return HWLOC_OBJ_PACKAGE;
    case SX_RUN_LEVEL_NODE:
        return HWLOC_OBJ_MACHINE;
    default:
        return HWLOC_OBJ_PU;
    }
}

/* Whether the CPUs form a new part.  A NUMA node may be memory without CPUs, or a second kind of
 * memory of the same CPUs. */
static bool is_new(const struct sx_run_parts *parts, hwloc_const_bitmap_t cpuset)
{
    if (hwloc_bitmap_iszero(cpuset)) {
        return false;
    }
    for (uint32_t i = parts->count; i > 0; i--) {
        if (hwloc_bitmap_isequal(parts->at[i - 1].cpuset, cpuset)) {
            return false;
        }
    }
    return true;
}

void sx_run_parts_init(struct sx_run_parts *parts, hwloc_topology_t topology,
                       enum sx_run_level level, hwloc_const_bitmap_t usable)
{
    const hwloc_obj_type_t type = type_of(topology, level);
    const int count = hwloc_get_nbobjs_by_type(topology, type);

    *parts = (struct sx_run_parts){ .count = 0 };
    if (level == SX_RUN_LEVEL_NONE || count <= 0) {
        return;
    }
    parts->at = sx_cli_calloc((size_t)count, sizeof(*parts->at));
    for (int i = 0; i < count; i++) {
        const hwloc_obj_t obj = hwloc_get_obj_by_type(topology, type, (unsigned)i);
        hwloc_bitmap_t cpuset = hwloc_bitmap_alloc();

        if (cpuset == NULL || hwloc_bitmap_and(cpuset, obj->cpuset, usable) != 0) {
            sx_cli_no_memory();
        }
        if (is_new(parts, cpuset)) {
            parts->at[parts->count++] = (struct sx_run_part){ cpuset, obj->logical_index };
        } else {
            hwloc_bitmap_free(cpuset);
        }
    }
}

void sx_run_parts_deinit(struct sx_run_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        hwloc_bitmap_free(parts->at[i].cpuset);
    }
    free(parts->at);
    *parts = (struct sx_run_parts){ .count = 0 };
}

/* The first part from @from on with all its CPUs in @cpuset. */
static uint32_t part_inside(const struct sx_run_parts *parts, hwloc_const_cpuset_t cpuset,
                            uint32_t from)
{
    for (uint32_t i = from; i < parts->count; i++) {
        if (hwloc_bitmap_isincluded(parts->at[i].cpuset, cpuset)) {
            return i;
        }
    }
    return SX_RUN_NO_PART;
}

static uint32_t part_around(const struct sx_run_parts *parts, hwloc_const_cpuset_t cpuset)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        if (hwloc_bitmap_isincluded(cpuset, parts->at[i].cpuset)) {
            return i;
        }
    }
    return SX_RUN_NO_PART;
}

/* Join the neighbours at @from into one part, up to @wanted in all.  Return: how many the part
 * has. */
static uint32_t part_grow(struct sx_run_parts *parts, const struct sx_run_parts *within,
                          uint32_t from, uint32_t wanted)
{
    struct sx_run_part *const first = &parts->at[from];
    const uint32_t home = part_around(within, first->cpuset);
    uint32_t size = 1;

    for (; size < wanted && from + size < parts->count; size++) {
        struct sx_run_part *const next = &parts->at[from + size];

        if (part_around(within, next->cpuset) != home) {
            break;
        }
        if (hwloc_bitmap_or(first->cpuset, first->cpuset, next->cpuset) != 0) {
            sx_cli_no_memory();
        }
        hwloc_bitmap_free(next->cpuset);
    }
    return size;
}

void sx_run_parts_join(struct sx_run_parts *parts, const struct sx_run_parts *within,
                       uint32_t wanted)
{
    uint32_t kept = 0;

    for (uint32_t at = 0, size; at < parts->count; at += size) {
        const struct sx_run_part part = parts->at[at];

        size = part_grow(parts, within, at, wanted);
        if (size == wanted) {
            parts->at[kept++] = part;
        } else {
            hwloc_bitmap_free(part.cpuset);
        }
    }
    parts->count = kept;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static bool refuse_missing(const char *option, enum sx_run_level level, char *message)
{
    snprintf(message, SX_RUN_MESSAGE_MAX,
             "%s %s: this machine shows no %s; choose another policy "
             "('shmix run --help' lists them)",
             option, sx_run_level_name(level), sx_run_level_noun(level));
    return false;
}

struct words {
    char text[48];
};

static bool wants_one(const struct sx_run_map_request *request, enum sx_run_level level)
{
    return request->cpus_each <= 1 || level != request->bind;
}

/* For messages: "a core", "4 cores". */
static struct words wanted_of(const struct sx_run_map_request *request, enum sx_run_level level)
{
    struct words words;

    if (wants_one(request, level)) {
        snprintf(words.text, sizeof(words.text), "a %s", sx_run_level_noun(level));
    } else {
        snprintf(words.text, sizeof(words.text), "%u %ss", request->cpus_each,
                 sx_run_level_noun(level));
    }
    return words;
}

/* "8 that this job may use"; "them for 2", ranks */
static struct words had_of(const struct sx_run_map_request *request, enum sx_run_level level,
                           uint32_t count)
{
    struct words words;

    snprintf(words.text, sizeof(words.text),
             wants_one(request, level) ? "%u that this job may use" : "them for %u", count);
    return words;
}

/* The advice in a message; each item helps by itself. */
struct advice {
    char items[5][64];
    uint32_t count;
};

__attribute__((format(printf, 2, 3))) static void advise(struct advice *advice, const char *fmt,
                                                         ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(advice->items[advice->count++], sizeof(advice->items[0]), fmt, args);
    va_end(args);
}

static bool is_in_order(const struct sx_run_map_request *request)
{
    return request->map == SX_RUN_LEVEL_NONE || request->map == SX_RUN_LEVEL_NODE;
}

/* Advise to use the same ranks, mapped in order, with the CPUs that exist for each rank. */
static void advise_order(struct advice *advice, const struct sx_run_map_request *request)
{
    const uint32_t each = request->cpus_each > 1 ? request->cpus_each : 1;
    const uint32_t share = request->cpu_count / request->rank_count;
    const char *const map = is_in_order(request) ? "" : "--map-by slot";

    if (!sx_run_level_is_cpu(request->bind) || share == 0) {
        return;
    }
    if (share < each) {
        advise(advice, "%s%s--cpus-per-rank %u", map, map[0] == '\0' ? "" : " with ", share);
    } else if (map[0] != '\0') {
        advise(advice, "%s", map);
    }
}

/* Append the advice to @message.  @fewer: fewer ranks would fit; @shared: so would ranks that share
 * parts; @larger: a level whose parts ranks may share; NONE: there is none. */
static bool refuse(const struct sx_run_map_request *request, bool fewer, bool shared,
                   enum sx_run_level larger, char *message)
{
    size_t used = strlen(message);
    struct advice advice = { .count = 0 };

    if (fewer) {
        advise(&advice, "fewer ranks");
    }
    if (shared && request->cpus_each == 0 && sx_run_level_is_cpu(request->bind)) {
        advise(&advice, "--bind-to %s:overload-allowed", sx_run_level_name(request->bind));
    }
    advise_order(&advice, request);
    if (request->cpus_each == 0 && larger != SX_RUN_LEVEL_NONE) {
        advise(&advice, "--bind-to %s", sx_run_level_name(larger));
    }
    advise(&advice, "--bind-to none%s", request->cpus_each > 0 ? " without --cpus-per-rank" : "");
    for (uint32_t i = 0; i < advice.count && used < SX_RUN_MESSAGE_MAX; i++) {
        used += (size_t)snprintf(message + used, SX_RUN_MESSAGE_MAX - used, "%s%s",
                                 i == 0                  ? "; use "
                                 : i + 1 == advice.count ? " or "
                                                         : ", ",
                                 advice.items[i]);
    }
    return false;
}

static bool refuse_too_few(const struct sx_run_map_request *request, const char *option,
                           enum sx_run_level level, uint32_t count, char *message)
{
    const bool one = request->rank_count == 1;

    snprintf(message, SX_RUN_MESSAGE_MAX, "%s %s: %u %s %s%s, and this machine has %s", option,
             sx_run_level_name(level), request->rank_count, one ? "rank wants" : "ranks want",
             wanted_of(request, level).text, one ? "" : " each",
             had_of(request, level, count).text);
    return refuse(request, count > 0, count > 0,
                  is_in_order(request) ? SX_RUN_LEVEL_NUMA : SX_RUN_LEVEL_NONE, message);
}

/* The part for a rank that is not mapped in order. */
static uint32_t part_of(const struct sx_run_map_request *request, uint32_t rank)
{
    return request->per_part > 0 ? rank / request->per_part : rank % request->map_parts.count;
}

static uint32_t count_inside(const struct sx_run_parts *parts, hwloc_const_cpuset_t cpuset)
{
    uint32_t count = 0;

    for (uint32_t at = part_inside(parts, cpuset, 0); at != SX_RUN_NO_PART;
         at = part_inside(parts, cpuset, at + 1)) {
        count++;
    }
    return count;
}

static bool refuse_full(const struct sx_run_map_request *request, uint32_t rank, char *message)
{
    const struct sx_run_part *const part = &request->map_parts.at[part_of(request, rank)];
    const uint32_t count = count_inside(&request->bind_parts, part->cpuset);

    snprintf(message, SX_RUN_MESSAGE_MAX,
             "--map-by %s --bind-to %s: rank %u wants %s of its own "
             "on %s %u, which has %s, all taken",
             sx_run_level_name(request->map), sx_run_level_name(request->bind), rank,
             wanted_of(request, request->bind).text, sx_run_level_noun(request->map), part->number,
             had_of(request, request->bind, count).text);
    return refuse(request, rank > 0, count > 0, request->map, message);
}

static bool refuse_apart(const struct sx_run_map_request *request, uint32_t rank, char *message)
{
    const char *const noun = sx_run_level_noun(request->bind);
    const uint32_t number = request->map_parts.at[part_of(request, rank)].number;
    struct words none;

    if (request->cpus_each > 1) {
        snprintf(none.text, sizeof(none.text), "%u %ss of this machine lie", request->cpus_each,
                 noun);
    } else {
        snprintf(none.text, sizeof(none.text), "%s of this machine lies", noun);
    }
    snprintf(message, SX_RUN_MESSAGE_MAX, "--map-by %s --bind-to %s: no %s inside or around %s %u",
             sx_run_level_name(request->map), sx_run_level_name(request->bind), none.text,
             sx_run_level_noun(request->map), number);
    return refuse(request, rank > 0, false, request->map, message);
}

/* ---- mapping --------------------------------------------------------------------------------- */

/* A core or a hardware thread is for one rank, unless ranks may share it. */
static bool is_for_one(const struct sx_run_map_request *request, enum sx_run_level level)
{
    return sx_run_level_is_cpu(level) && !request->overload;
}

/* Map ranks one after the other; in blocks where they share parts. */
static bool map_in_order(const struct sx_run_map_request *request, struct sx_run_mapped *mapped,
                         char *message)
{
    const uint32_t ranks = request->rank_count, parts = request->bind_parts.count;

    if (is_for_one(request, request->bind) && ranks > parts) {
        return refuse_too_few(request, "--bind-to", request->bind, parts, message);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        mapped[rank].map_index = request->map == SX_RUN_LEVEL_NODE ? 0 : rank;
        if (request->bind != SX_RUN_LEVEL_NONE) {
            mapped[rank].bind_index = ranks <= parts ? rank
                                                     : (uint32_t)((uint64_t)rank * parts / ranks);
        }
    }
    return true;
}

static bool bind_one(const struct sx_run_map_request *request, uint32_t rank, uint32_t *next,
                     uint32_t *ret_index, char *message)
{
    const hwloc_const_cpuset_t cpuset = request->map_parts.at[part_of(request, rank)].cpuset;
    uint32_t index = part_inside(&request->bind_parts, cpuset, *next);

    if (index == SX_RUN_NO_PART && *next > 0) {
        if (is_for_one(request, request->bind)) {
            return refuse_full(request, rank, message);
        }
        index = part_inside(&request->bind_parts, cpuset, 0);
    }
    if (index != SX_RUN_NO_PART) {
        *next = index + 1;
    } else {
        index = part_around(&request->bind_parts, cpuset);
    }
    *ret_index = index;
    return index != SX_RUN_NO_PART || refuse_apart(request, rank, message);
}

static bool map_in_turn(const struct sx_run_map_request *request, struct sx_run_mapped *mapped,
                        char *message)
{
    const uint32_t parts = request->map_parts.count;
    uint32_t *next = sx_cli_calloc(parts, sizeof(*next)); /* each part's next part to bind to */
    bool ok = true;

    if (request->per_part > 0 && (uint64_t)request->per_part * parts < request->rank_count) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "--map-by ppr:%u:%s: %u ranks are wanted, and this machine has places for %" PRIu64
                 ", on %u %ss; use fewer ranks, or more for each",
                 request->per_part, sx_run_level_name(request->map), request->rank_count,
                 (uint64_t)request->per_part * parts, parts, sx_run_level_noun(request->map));
        ok = false;
    }
    if (ok && request->bind != SX_RUN_LEVEL_NONE && is_for_one(request, request->map) &&
        request->rank_count > parts) {
        ok = refuse_too_few(request, "--map-by", request->map, parts, message);
    }
    for (uint32_t rank = 0; rank < request->rank_count && ok; rank++) {
        mapped[rank].map_index = part_of(request, rank);
        if (request->bind != SX_RUN_LEVEL_NONE) {
            ok = bind_one(request, rank, &next[part_of(request, rank)], &mapped[rank].bind_index,
                          message);
        }
    }
    free(next);
    return ok;
}

bool sx_run_map(const struct sx_run_map_request *request, struct sx_run_mapped *ret_mapped,
                char message[SX_RUN_MESSAGE_MAX])
{
    for (uint32_t rank = 0; rank < request->rank_count; rank++) {
        ret_mapped[rank] = (struct sx_run_mapped){ .bind_index = SX_RUN_NO_PART };
    }
    if (request->map != SX_RUN_LEVEL_NONE && request->map_parts.count == 0) {
        return refuse_missing("--map-by", request->map, message);
    }
    if (request->bind != SX_RUN_LEVEL_NONE && request->bind_parts.count == 0) {
        return request->cpus_each > 1
                   ? refuse_too_few(request, "--bind-to", request->bind, 0, message)
                   : refuse_missing("--bind-to", request->bind, message);
    }
    if (is_in_order(request)) {
        return map_in_order(request, ret_mapped, message);
    }
    return map_in_turn(request, ret_mapped, message);
}
