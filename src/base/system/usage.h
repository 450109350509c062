/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* usage.h - the usage of a process, the node, its disks and its networks, from /proc.
 *
 * Each is an info whose value is an array of infos, a field each.  A caller may name the fields
 * that it wants.  Memory is in MiB.  Values that the kernel does not report have no field.  Any
 * thread. */
#ifndef SX_BASE_SYSTEM_USAGE_H
#define SX_BASE_SYSTEM_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

/* The keys of @all are wanted; none: all that there are.  Likewise the devices with these names. */
struct sx_usage_fields {
    const pmix_info_t *all;
    size_t count;
    char *const *names;
    size_t name_count;
};

/* Append to @list, which is PMIx_Info_list_start's.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when
 * there is no such process, or /proc does not show it, and nothing is appended;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_usage_of_process(void *list, const pmix_proc_t *proc, pid_t pid,
                                  const struct sx_usage_fields *wanted);
/* The memory of @pid, or 0: of this process, that is resident, in MiB.  A page that several
 * processes share counts in each.  The kernel keeps it as counters: the cost is the same for any
 * size.  Return: false when the kernel does not report it, or the process has ended. */
bool sx_usage_resident(pid_t pid, float *ret_mib);
/* The node that this process is on, which is called @hostname. */
pmix_status_t sx_usage_of_node(void *list, const char *hostname,
                               const struct sx_usage_fields *wanted);
/* One info for each disk, or network interface. */
pmix_status_t sx_usage_of_disks(void *list, const struct sx_usage_fields *wanted);
pmix_status_t sx_usage_of_networks(void *list, const struct sx_usage_fields *wanted);

#endif
