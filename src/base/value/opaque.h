/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* opaque.h - topologies and cpusets, whose insides belong to the library their source names.
 *
 * hwloc's are understood here: a topology travels as hwloc's XML, a cpuset as a list of processors
 * ("0-3,8", "4-" without an end, "" for none).  Objects of any other source are opaque, so they are
 * neither copied nor sent nor freed.  The elements meant are those of PMIX_TOPO and
 * PMIX_PROC_CPUSET; for all other types there is nothing to do.  Any thread may call, as long as no
 * thread changes the object meanwhile. */
#ifndef SX_BASE_VALUE_OPAQUE_H
#define SX_BASE_VALUE_OPAQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pmix_common.h>

/* The source of hwloc's objects, which may go on with ":VERSION". */
#define SX_OPAQUE_HWLOC "hwloc"
bool sx_opaque_is_hwloc(const char *source);

/* Processors in the text of a cpuset are numbered below this, so that a short text cannot ask for
 * much memory: 8 times what Linux can be built for. */
#define SX_OPAQUE_CPU_MAX 65536u

/* Give @dst, whose source is already that of @src, a copy of the object of @src.
 * Return: PMIX_SUCCESS (also when there is none); PMIX_ERR_NOT_SUPPORTED for a foreign source;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_opaque_copy(void *dst, const void *src, pmix_data_type_t type);

/* Give the object back to the library it comes from; @element keeps its source. */
void sx_opaque_destruct(void *element, pmix_data_type_t type);

/* The object as a new string, NULL when there is none; free() takes it.
 * Return: as sx_opaque_copy; PMIX_ERR_BAD_PARAM for processors from SX_OPAQUE_CPU_MAX on. */
pmix_status_t sx_opaque_text(const void *element, pmix_data_type_t type, char **ret_text);

/* Make the object that @text describes for @element, whose source is set and which has none.
 * Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE for a text or a source that is not understood;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_opaque_parse(void *element, pmix_data_type_t type, const char *text);

/* Print the tree of @topo, a topology of hwloc: "Machine#0{Package#0{Core#0{PU#0}, ...}}", by the
 * numbers of the operating system. */
void sx_opaque_print(FILE *to, const pmix_topology_t *topo);

/* The checksum of @len bytes of a text, by which damage is found: their XXH3. */
uint64_t sx_opaque_hash(const char *text, size_t len);

#endif
