/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* apps.h - keys of a job's applications, derived from the application of each rank. */
#ifndef SX_SERVER_JOB_APPS_H
#define SX_SERVER_JOB_APPS_H

#include "server/job/nodemap.h"
#include "server/model/state.h"

/* Store the missing keys of each application: its size and leader.  Where the job has several
 * applications, also the number of its nodes and of the processes that it may have.  @map gives the
 * ranks' nodes; without ranks in it they are unknown.  *ret_count: the number of applications, by
 * their highest number.  Return: PMIX_SUCCESS; the error of the store. */
pmix_status_t sx_apps_derive(struct sx_nspace *nspace, const struct sx_nodemap *map,
                             uint32_t *ret_count);

/* The application of @rank: its own cell's, else the job's, else the first. */
uint32_t sx_apps_of(const struct sx_nspace *nspace, uint32_t rank);

/* Whether @nspace has several applications and all processes of @app are over, each of which is of
 * this node.  A process is over when it has ended, or the host has removed it. */
bool sx_apps_is_over(const struct sx_nspace *nspace, uint32_t app);

#endif
