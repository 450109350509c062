/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_names.h - names of services that ranks publish over PMI-1: the server's published data.
 *
 * What a rank publishes here is found by PMIx_Lookup, and the other way round, within a session.
 * Each function returns NULL, or what is wrong in one word. */
#ifndef SX_LAUNCH_PMI_PMI1_NAMES_H
#define SX_LAUNCH_PMI_PMI1_NAMES_H

#include <stddef.h>

#include "launch/job/job.h"

const char *sx_run_pmi1_name_publish(const struct sx_run_job *job, uint32_t rank,
                                     const char *service, const char *port);
/* Only its own. */
const char *sx_run_pmi1_name_withdraw(const struct sx_run_job *job, uint32_t rank,
                                      const char *service);
/* A name that has no port which an answer could carry is not found. */
const char *sx_run_pmi1_name_find(const struct sx_run_job *job, uint32_t rank, const char *service,
                                  char *ret_port, size_t size);

#endif
