/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* apps.h - what follows for a job's applications from which rank is of which. */
#ifndef SX_SERVER_JOB_APPS_H
#define SX_SERVER_JOB_APPS_H

#include "server/job/nodemap.h"
#include "server/model/state.h"

/* Store what is missing of each application: its size and leader, and where the job has several
 * the number of its nodes and of the processes it may have.  @map tells the ranks' nodes; without
 * ranks nobody knows them.  *ret_count: of applications, by their highest number.
 * Return: PMIX_SUCCESS; what the store says. */
pmix_status_t sx_apps_derive(struct sx_nspace *nspace, const struct sx_nodemap *map,
                             uint32_t *ret_count);

/* The application of @rank: its own cell's, else the job's, else the first. */
uint32_t sx_apps_of(const struct sx_nspace *nspace, uint32_t rank);

/* Whether @nspace has several applications, and all processes of @app, each of which is of this
 * node, are over: they have ended, or the host has taken them away. */
bool sx_apps_is_over(const struct sx_nspace *nspace, uint32_t app);

#endif
