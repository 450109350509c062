/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leftovers.c - the names of Open MPI's files, worked out from a job's namespace. */
#include "cli/run/leftovers.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"

#define SHM_DIR "/dev/shm"

/* Open MPI 4.1 keeps its shared memory in files of /dev/shm, which outlive processes that are
 * killed.  Their names carry the job's number in hexadecimal: Jenkins' one-at-a-time hash of the
 * namespace without the bit 0x8000. */
static const char *const shm_prefixes[] = { "vader_segment.", "osc_sm.", "osc_rdma." };
static_assert(SX_COUNT(shm_prefixes) <= SX_JANITOR_FILES_A_JOB, "the janitor has room");

/* ".1a2b3c4d.", which is in the names of those of @job. */
struct shm_part {
    char text[16];
};

static struct shm_part shm_part(const struct sx_run_job *job)
{
    struct shm_part part;
    uint32_t hash = 0;

    for (const char *at = job->nspace; *at != '\0'; at++) {
        hash += (uint32_t)(unsigned char)*at;
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    snprintf(part.text, sizeof(part.text), ".%x.", hash & ~UINT32_C(0x8000));
    return part;
}

void sx_run_leftovers_announce(const struct sx_janitor *janitor, const struct sx_run_job *job)
{
    for (size_t i = 0; i < SX_COUNT(shm_prefixes); i++) {
        sx_janitor_files_add(janitor, SHM_DIR, shm_prefixes[i], shm_part(job).text);
    }
}

void sx_run_leftovers_remove(const struct sx_janitor *janitor, const struct sx_run_job *job)
{
    for (size_t i = 0; job->nspace != NULL && i < SX_COUNT(shm_prefixes); i++) {
        sx_janitor_files_remove(SHM_DIR, shm_prefixes[i], shm_part(job).text, geteuid());
        sx_janitor_files_forget(janitor, SHM_DIR, shm_prefixes[i], shm_part(job).text);
    }
}
