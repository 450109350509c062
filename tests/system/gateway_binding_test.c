/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway_binding_test.c - where a rank with another library may run is asked of its own process,
 * not of the gateway's. */
#include <hwloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "job.h"

/* A process that may run on @cpu alone, and ends with this one. */
static pid_t bound_start(int cpu)
{
    cpu_set_t set;
    char byte = 0;
    int ready[2];

    CHECK(pipe(ready) == 0);
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
        CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
        CHECK(write(ready[1], &byte, 1) == 1);
        pause();
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    return pid;
}

/* Return: one of the CPUs that this process may use; -1 when there is one only. */
static int cpu_choose(void)
{
    cpu_set_t set;
    int chosen = -1;

    CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&set) > 1; cpu++) {
        chosen = CPU_ISSET(cpu, &set) ? cpu : chosen;
    }
    return chosen;
}

static int the_binding_is_that_of_the_rank(int rank)
{
    pmix_cpuset_t cpuset = { .source = NULL };
    const int cpu = cpu_choose();

    (void)rank;
    if (cpu < 0) {
        printf("skipped: there is one CPU only\n");
        return JOB_SKIPPED;
    }
    const pid_t pid = bound_start(cpu);
    pmix_info_t info = info_u32(SX_INIT_STANDS_FOR, (uint32_t)pid);

    CHECK_STATUS(PMIx_Init(NULL, &info, 1), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
    CHECK(hwloc_bitmap_weight(cpuset.bitmap) == 1 &&
          hwloc_bitmap_isset(cpuset.bitmap, (unsigned)cpu));
    PMIx_Cpuset_destruct(&cpuset);
    CHECK(kill(pid, SIGKILL) == 0);
    return rank_end();
}

static const struct job_case cases[] = {
    { "the_binding_is_that_of_the_rank", 1, the_binding_is_that_of_the_rank },
};

JOB_MAIN(cases)
