/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* meddler.h - a host that calls the library inside each of its entries: it takes processes and jobs
 * away, those who ask and others, and registers them again, before it answers in one of its ways. */
#ifndef SX_TESTS_FAULT_MEDDLER_H
#define SX_TESTS_FAULT_MEDDLER_H

#include <stdint.h>

#define MEDDLER_JOBS_MAX 4

struct meddler_job {
    char name[32];
    int size; /* of its processes here */
};

/* Fill in fault_module, before the server starts; @seed decides what the host does. */
void meddler_begin(uint64_t seed);

/* Behind that: some answers come late, from a thread of its own. */
void meddler_answer(void);

/* What is there to be meddled with from now on; with none the host does what it is asked. */
void meddler_meddle(const struct meddler_job jobs[], int count);

/* Before the server ends.  Say how often each entry has been called, and what it did then. */
void meddler_end(void);

#endif
