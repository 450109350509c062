/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cpus.c - the CPUs that hosts and programs name for their threads, cut to those that the kernel
 * allows. */
#include "base/system/cpus.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>

#include "base/status.h"
#include "base/system/locality.h"

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
