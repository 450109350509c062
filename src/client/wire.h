/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wire.h - process lists as they travel: {u32 rank, u32 nspace_len, nspace padded to 8}. */
#ifndef SX_CLIENT_WIRE_H
#define SX_CLIENT_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

/* More processes than this are refused: a server would refuse them too. */
#define SX_WIRE_PROCS_MAX (1u << 20)

/* Judge @procs and size their encoding.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for NULL with a
 * count, more than SX_WIRE_PROCS_MAX, or a namespace that is empty or has no end. */
pmix_status_t sx_wire_procs_size(const pmix_proc_t *procs, size_t nprocs, size_t *ret_size);

/* Write exactly as many bytes as sx_wire_procs_size gave.  Return: the byte behind them. */
uint8_t *sx_wire_procs_write(uint8_t *at, const pmix_proc_t *procs, size_t nprocs);

#endif
