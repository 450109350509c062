/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* locality.h - places on a node as text: where a cpuset sits, which processors it has; and sets of
 * CPUs as the kernel takes them, with the threads that are bound to one.
 *
 *     locality   "NM0:SK0:L30:L20:L10:CR0:HT0-1"   per level the logical numbers it touches
 *     cpuset     "0-3,8"                           the numbers the operating system uses
 *
 * The Standard puts "hwloc:" in front of both; Open MPI 4 wants neither.  So the writer chooses,
 * and readers take both.  No function here keeps state; any thread may call. */
#ifndef SX_BASE_SYSTEM_LOCALITY_H
#define SX_BASE_SYSTEM_LOCALITY_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include <hwloc.h>
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

/* ---- cpus ------------------------------------------------------------------------------------ */

#define SX_CPU_MAX 8192u /* the largest CONFIG_NR_CPUS of any architecture */
#define SX_CPU_WORD_BITS (sizeof(unsigned long) * CHAR_BIT)

struct sx_cpus {
    unsigned long words[SX_CPU_MAX / SX_CPU_WORD_BITS];
};

/* @cpu is below SX_CPU_MAX. */
static inline bool sx_cpus_has(const struct sx_cpus *cpus, unsigned cpu)
{
    return (cpus->words[cpu / SX_CPU_WORD_BITS] >> cpu % SX_CPU_WORD_BITS & 1) != 0;
}

static inline void sx_cpus_add(struct sx_cpus *cpus, unsigned cpu)
{
    cpus->words[cpu / SX_CPU_WORD_BITS] |= 1ul << cpu % SX_CPU_WORD_BITS;
}

/* Whether the kernel reports them at all: a filter of system calls may refuse that, with an
 * errno. */
bool sx_cpus_can_be_asked(void);

/* Those that thread @tid may use; 0: the caller.  Return: false if the kernel does not report
 * them. */
bool sx_cpus_of_thread(pid_t tid, struct sx_cpus *ret);

/* Bind the caller.  Return: false if the kernel refuses. */
bool sx_cpus_bind(const struct sx_cpus *cpus);

/* The CPUs for a thread of this library: those of @text ("0-3,8") that this process may use.
 * *ret_some is whether there are any: not for NULL, or when none may be used.  Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an invalid list; PMIX_ERR_NOT_AVAILABLE for none when they
 * are @required. */
pmix_status_t sx_cpus_choose(const char *text, bool required, struct sx_cpus *ret, bool *ret_some);

#endif
