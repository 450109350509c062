/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* meeting.h - where the ranks of a node meet without the library that is measured: a counter in shared
 * memory. */
#ifndef SX_BENCH_MEETING_H
#define SX_BENCH_MEETING_H

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compare.h"

static struct {
    _Atomic uint64_t *arrived;
    uint64_t wanted;
    uint32_t size;
} meeting;

/* All ranks of the job call it. */
static inline void meeting_open(const pmix_proc_t *me)
{
    char name[PMIX_MAX_NSLEN + 32];

    snprintf(name, sizeof(name), "/bench-meeting.%s", me->nspace);
    for (char *at = name + 1; *at != '\0'; at++) {
        *at = *at == '/' ? '.' : *at;
    }
    const int fd = shm_open(name, O_RDWR | O_CREAT, 0600);

    meeting.size = job_size(me);
    if (fd >= 0 && ftruncate(fd, sizeof(*meeting.arrived)) == 0) {
        meeting.arrived = mmap(NULL, sizeof(*meeting.arrived), PROT_READ | PROT_WRITE, MAP_SHARED,
                               fd, 0);
    }
    if (meeting.arrived == NULL || meeting.arrived == MAP_FAILED) {
        fprintf(stderr, "compare: no shared memory to meet in\n");
        exit(1);
    }
    close(fd);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence"); /* all have opened it */
    shm_unlink(name);
}

/* Wait for the others. */
static inline void meet(void)
{
    meeting.wanted += meeting.size;
    atomic_fetch_add(meeting.arrived, 1);
    while (atomic_load(meeting.arrived) < meeting.wanted) {
        sched_yield();
    }
}

#endif
