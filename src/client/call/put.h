/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* put.h - values put and not committed yet, and what else goes into the lane. */
#ifndef SX_CLIENT_CALL_PUT_H
#define SX_CLIENT_CALL_PUT_H

#include <sys/uio.h>

#include "client/link/process.h"
#include "shmem/store.h"

/* Append a value as one message {u64 length, struct sx_lane_put, key, body}.  *ret_cell and
 * *ret_body, which points into @puts until the next append, are what was encoded.
 * Return: PMIX_SUCCESS; what sx_flat_size says; PMIX_ERR_OUT_OF_RESOURCE (nothing appended). */
pmix_status_t sx_puts_append(struct sx_puts *puts, pmix_scope_t scope, const char *key,
                             size_t key_len, const pmix_value_t *value, struct sx_cell *ret_cell,
                             const void **ret_body);
void sx_puts_deinit(struct sx_puts *puts);

/* There is a server now: what this process has put for others is for the next commit.  data_lock is
 * held.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_puts_gather_locked(struct sx_process *p);

/* Append one message to the lane, waiting while it is full.  lane_lock is held, and given back
 * while this waits: others may append meanwhile.  The doorbell is not rung.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM (longer than SX_LANE_MESSAGE_MAX); as sx_link_status. */
pmix_status_t sx_lane_submit(uint32_t kind, const struct iovec *iov, int iov_count);

#endif
