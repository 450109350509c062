/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leftovers.c - the names of Open MPI's files, worked out from a job's namespace. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/job/janitor.h"
#include "launch/job/job.h"
#include "launch/job/session.h"

#define SHM_DIR "/dev/shm"

/* Open MPI keeps its shared memory in files of /dev/shm, which outlive processes that are killed.
 * Their names contain the job's number in hexadecimal, made of Jenkins' one-at-a-time hash of the
 * namespace.  Version 4.1 takes the hash without the bit 0x8000.  Version 5 folds it into the upper
 * 16 bits, and writes the user's number before it where other users' jobs could have the same. */
enum numbering { OF_4, OF_5, OF_5_AND_USER };

static const struct {
    const char *prefix;
    enum numbering numbering;
} kinds[] = {
    { "vader_segment.", OF_4 }, { "sm_segment.", OF_5_AND_USER },
    { "osc_sm.", OF_4 },        { "osc_sm.", OF_5 },
    { "osc_rdma.", OF_4 },      { "osc_rdma.", OF_5 },
};
static_assert(SX_COUNT(kinds) <= SX_JANITOR_FILES_A_JOB, "the janitor has room");

/* ".1a2b3c4d.", a part of the names of all files of one job. */
struct shm_part {
    char text[28];
};

static uint32_t hash_of(const char *nspace)
{
    uint32_t hash = 0;

    for (const char *at = nspace; *at != '\0'; at++) {
        hash += (uint32_t)(unsigned char)*at;
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    return hash + (hash << 15);
}

static struct shm_part shm_part(const char *nspace, enum numbering numbering)
{
    const uint32_t hash = hash_of(nspace);
    const uint32_t folded = (hash ^ hash >> 16) << 16;
    struct shm_part part;

    switch (numbering) {
    case OF_4:
        snprintf(part.text, sizeof(part.text), ".%x.", hash & ~UINT32_C(0x8000));
        break;
    case OF_5:
        snprintf(part.text, sizeof(part.text), ".%x.", folded);
        break;
    case OF_5_AND_USER:
        snprintf(part.text, sizeof(part.text), ".%u.%x.", (unsigned)geteuid(), folded);
        break;
    }
    return part;
}

void sx_run_leftovers_announce(struct sx_janitor *janitor, const struct sx_run_job *job)
{
    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        sx_janitor_files_add(janitor, SHM_DIR, kinds[i].prefix,
                             shm_part(job->nspace, kinds[i].numbering).text);
    }
}

void sx_run_leftovers_sweep(const char *nspace)
{
    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        sx_janitor_files_remove(SHM_DIR, kinds[i].prefix, shm_part(nspace, kinds[i].numbering).text,
                                geteuid());
    }
}

void sx_run_leftovers_remove(struct sx_janitor *janitor, const struct sx_run_job *job)
{
    if (job->nspace == NULL) {
        return;
    }
    sx_run_leftovers_sweep(job->nspace);
    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        sx_janitor_files_forget(janitor, SHM_DIR, kinds[i].prefix,
                                shm_part(job->nspace, kinds[i].numbering).text);
    }
}
