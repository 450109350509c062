/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodemap.h - the nodes of a job, and the ranks on each: texts and their parsing.
 *
 * PMIx_generate_regex and PMIx_generate_ppn make texts of these forms, and a host may, too:
 *     nodes   "n1,n2,n3"           with the prefix "shmix:" or without
 *     ranks   "0,1;2,3;4-9"        one list a node, in the nodes' order, ranges allowed
 * */
#ifndef SX_SERVER_JOB_NODEMAP_H
#define SX_SERVER_JOB_NODEMAP_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#define SX_NODEMAP_NODE_MAX (1u << 20)

struct sx_nodemap {
    char *text; /* the names are stored in it */
    char **nodes;
    size_t node_count;
    uint32_t node_base;     /* number of the first node: 0 in a parsed map */
    uint32_t *node_of_rank; /* node number, UINT32_MAX for a rank without a node */
    uint32_t rank_count;    /* highest rank named, plus 1 */
    uint32_t rank_capacity;
};

/* Parse both texts; @ranks may be NULL.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for texts that
 * are not such lists (a rank listed twice, more rank lists than nodes, a number too large);
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_nodemap_read(struct sx_nodemap *map, const char *nodes, const char *ranks);
void sx_nodemap_clear(struct sx_nodemap *map);

#endif
