/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* locality.h - places on a node as text: where a cpuset sits, which processors it has.
 *
 *     locality   "NM0:SK0:L30:L20:L10:CR0:HT0-1"   per level the logical numbers it touches
 *     cpuset     "0-3,8"                           the numbers the operating system uses
 *
 * The Standard puts "hwloc:" in front of both; Open MPI 4 wants neither.  So the writer chooses,
 * and readers take both.  No function here keeps state; any thread may call. */
#ifndef SX_BASE_SYSTEM_LOCALITY_H
#define SX_BASE_SYSTEM_LOCALITY_H

#include <hwloc.h>
#include <stdbool.h>

#include <pmix_common.h>

/* Write what @cpuset touches in @topology, without the source; levels that it does not touch or
 * the machine does not have are left out.  *ret_text is malloc'ed.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_locality_write(hwloc_topology_t topology, hwloc_const_bitmap_t cpuset,
                                char **ret_text);

/* Compare the places @one and @other: the result has the node, and each level of which both touch
 * the same object.  An unknown level is skipped.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an
 * invalid text; PMIX_ERR_NOT_SUPPORTED for the text of another source. */
pmix_status_t sx_locality_compare(const char *one, const char *other,
                                  pmix_locality_t *ret_locality);

/* Make a cpuset of @text; @ret_cpuset (uninitialised) then owns its source and bitmap.
 * Return: as sx_locality_compare; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_locality_cpuset_read(const char *text, pmix_cpuset_t *ret_cpuset);

/* Write @cpuset with its source, malloc'ed.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM when it is
 * empty of meaning or has processors beyond what the reader takes; PMIX_ERR_NOT_SUPPORTED for
 * another source; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_locality_cpuset_write(const pmix_cpuset_t *cpuset, char **ret_text);

#endif
