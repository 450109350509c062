/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* singleton.h - a process that no launcher started: a job of its own, with one rank and no
 * server. */
#ifndef SX_CLIENT_DATA_SINGLETON_H
#define SX_CLIENT_DATA_SINGLETON_H

#include "client/link/link.h"

/* Name the process @name, or (an empty one) "singleton.HOST.PID", rank 0, and store the data of
 * such a job: its sizes, ranks and host.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_singleton_open(struct sx_process *p, const pmix_proc_t *name);

#endif
