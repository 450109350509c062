/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodemap.c - node and rank lists: made for hosts, read back at registration. */
#include "server/job/job.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_server.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"
#include "shmem/store.h"

#define SX_NODEMAP_PREFIX "shmix:"
#define SX_NODEMAP_METHOD "raw"

/* ---- texts --------------------------------------------------------------------------------- */

/* The list with the prefix that identifies our format: a C string, the same for the same input on
 * every node. */
static pmix_status_t generate(const char *input, char **ret)
{
    if (input == NULL || ret == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const size_t size = sizeof(SX_NODEMAP_PREFIX) + strlen(input);
    char *text = malloc(size);

    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    snprintf(text, size, "%s%s", SX_NODEMAP_PREFIX, input);
    *ret = text;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_generate_regex(const char *input, char **ret_regex)
{
    sx_results_none(ret_regex, NULL);
    return generate(input, ret_regex);
}

pmix_status_t PMIx_generate_ppn(const char *input, char **ret_ppn)
{
    sx_results_none(ret_ppn, NULL);
    return generate(input, ret_ppn);
}

/* The method is the simplest one of OpenPMIx: the list as it is, with its NUL. */
pmix_status_t PMIx_generate_regex2(const char *input, pmix_info_t info[], size_t ninfo,
                                   pmix_regex2_t *regex)
{
    if (input == NULL || regex == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = sx_options_read(SX_OF_GENERATE_REGEX2, info, ninfo, NULL);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *regex = (pmix_regex2_t){ .type = strdup(SX_NODEMAP_METHOD),
                              .bytes = (uint8_t *)strdup(input),
                              .len = strlen(input) + 1 };
    if (regex->type == NULL || regex->bytes == NULL) {
        PMIx_Regex2_destruct(regex);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_parse_regex2(const pmix_regex2_t *regex, pmix_info_t info[], size_t ninfo,
                                char **output)
{
    sx_results_none(output, NULL);
    if (regex == NULL || regex->type == NULL || regex->bytes == NULL || output == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = sx_options_read(SX_OF_PARSE_REGEX2, info, ninfo, NULL);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (strcmp(regex->type, SX_NODEMAP_METHOD) != 0) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "a list written by the method \"%s\": only \"%s\" "
                        "can be read here",
                        regex->type, SX_NODEMAP_METHOD);
    }
    *output = strndup((const char *)regex->bytes, regex->len);
    return *output != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static const char *without_prefix(const char *text)
{
    const size_t len = strlen(SX_NODEMAP_PREFIX);

    return strncmp(text, SX_NODEMAP_PREFIX, len) == 0 ? text + len : text;
}

/* ---- reading ------------------------------------------------------------------------------- */

static pmix_status_t nodes_read(struct sx_nodemap *map, const char *nodes)
{
    size_t count = 1;
    char *save = NULL;

    map->text = strdup(without_prefix(nodes));
    if (map->text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (const char *at = map->text; *at != '\0'; at++) {
        count += *at == ',';
    }
    if (count > SX_NODEMAP_NODE_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    map->nodes = calloc(count, sizeof(*map->nodes));
    if (map->nodes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (char *name = strtok_r(map->text, ",", &save); name != NULL;
         name = strtok_r(NULL, ",", &save)) {
        map->nodes[map->node_count++] = name;
    }
    return map->node_count > 0 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t rank_put(struct sx_nodemap *map, uint64_t rank, uint32_t node)
{
    if (rank >= SX_STORE_ROW_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (rank >= map->rank_capacity) {
        const uint32_t capacity = (uint32_t)(rank < 512 ? 1024 : 2 * rank);
        uint32_t *grown = realloc(map->node_of_rank, capacity * sizeof(*grown));

        if (grown == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        map->node_of_rank = grown;
        map->rank_capacity = capacity;
    }
    while (map->rank_count <= rank) {
        map->node_of_rank[map->rank_count++] = UINT32_MAX;
    }
    if (map->node_of_rank[rank] != UINT32_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    map->node_of_rank[rank] = node;
    return PMIX_SUCCESS;
}

/* One number or range "a-b" at *at. */
static pmix_status_t range_read(struct sx_nodemap *map, const char **at, uint32_t node)
{
    char *end;
    pmix_status_t rc = PMIX_SUCCESS;

    errno = 0;
    const unsigned long long first = strtoull(*at, &end, 10);
    unsigned long long last = first;

    if (end == *at || (*at)[0] == '-' || errno != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (*end == '-') {
        *at = end + 1;
        last = strtoull(*at, &end, 10);
        if (end == *at || (*at)[0] == '-' || errno != 0 || last < first) {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    if (last >= SX_STORE_ROW_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (unsigned long long rank = first; rank <= last && rc == PMIX_SUCCESS; rank++) {
        rc = rank_put(map, rank, node);
    }
    *at = end;
    return rc;
}

static pmix_status_t ranks_read(struct sx_nodemap *map, const char *ranks)
{
    const char *at = without_prefix(ranks);
    uint32_t node = 0;

    while (*at != '\0') {
        if (*at == ';') {
            node++;
            at++;
        } else if (*at == ',') {
            at++;
        } else {
            if (node >= map->node_count) {
                return PMIX_ERR_BAD_PARAM;
            }
            const pmix_status_t rc = range_read(map, &at, node);

            if (rc != PMIX_SUCCESS) {
                return rc;
            }
        }
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_nodemap_read(struct sx_nodemap *map, const char *nodes, const char *ranks)
{
    pmix_status_t rc;

    memset(map, 0, sizeof(*map));
    rc = nodes_read(map, nodes);
    if (rc == PMIX_SUCCESS && ranks != NULL) {
        rc = ranks_read(map, ranks);
    }
    if (rc != PMIX_SUCCESS) {
        sx_nodemap_clear(map);
    }
    return rc;
}

void sx_nodemap_clear(struct sx_nodemap *map)
{
    free(map->text);
    free(map->nodes);
    free(map->node_of_rank);
    memset(map, 0, sizeof(*map));
}
