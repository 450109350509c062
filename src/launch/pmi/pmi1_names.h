/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_names.h - names of services that ranks publish over PMI-1: the server's published data.
 *
 * Within a session, PMIx_Lookup finds the names that ranks publish here, and the other way round.
 * Each function returns NULL, or the error in one word. */
#ifndef SX_LAUNCH_PMI_PMI1_NAMES_H
#define SX_LAUNCH_PMI_PMI1_NAMES_H

#include <stddef.h>

#include "launch/job/job.h"

const char *sx_run_pmi1_name_publish(const struct sx_run_job *job, uint32_t rank,
                                     const char *service, const char *port);
/* Withdraw a name that the rank itself has published. */
const char *sx_run_pmi1_name_withdraw(const struct sx_run_job *job, uint32_t rank,
                                      const char *service);
/* A name whose port does not fit into an answer counts as not found. */
const char *sx_run_pmi1_name_find(const struct sx_run_job *job, uint32_t rank, const char *service,
                                  char *ret_port, size_t size);

#endif
