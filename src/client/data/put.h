/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* put.h - values put and not committed yet. */
#ifndef SX_CLIENT_DATA_PUT_H
#define SX_CLIENT_DATA_PUT_H

#include "client/link/link.h"
#include "shmem/store.h"

/* Append a value as one message {u64 length, struct sx_lane_put, key, body}.  *ret_cell and
 * *ret_body, which points into @puts until the next append, are what was encoded.  Return:
 * PMIX_SUCCESS; as sx_flat_size; PMIX_ERR_OUT_OF_RESOURCE (nothing appended). */
pmix_status_t sx_puts_append(struct sx_puts *puts, pmix_scope_t scope, const char *key,
                             size_t key_len, const pmix_value_t *value, struct sx_cell *ret_cell,
                             const void **ret_body);
void sx_puts_deinit(struct sx_puts *puts);

/* There is a server now: the puts of this process for others are for the next commit.  data_lock is
 * held.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_puts_gather_locked(struct sx_process *p);

#endif
