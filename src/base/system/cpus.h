/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cpus.h - a set of CPUs as the kernel takes it, and the threads that are bound to one. */
#ifndef SX_BASE_SYSTEM_CPUS_H
#define SX_BASE_SYSTEM_CPUS_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include <pmix_common.h>

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
