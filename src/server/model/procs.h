/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.h - process lists as they travel: {u32 rank, u32 nspace_len, nspace padded to 8}. */
#ifndef SX_SERVER_MODEL_PROCS_H
#define SX_SERVER_MODEL_PROCS_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "control/message.h"

/* Read @count processes, at most SX_PROCS_MAX, at *at and move on; *ret_procs is malloc'ed, NULL
 * for none.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for bytes that are no such list;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_procs_read(const char **at, size_t *left, uint32_t count, pmix_proc_t **ret_procs);

#endif
