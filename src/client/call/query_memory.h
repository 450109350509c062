/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.h - how much memory clients use, which the server does not look at.
 *
 *     the server: which processes are meant --> the asker: what /proc says of them
 *
 * The kernel walks over all pages of a process for that, and waits for it where its memory is being
 * changed.  So whoever asks looks, with its own rights. */
#ifndef SX_CLIENT_CALL_QUERY_MEMORY_H
#define SX_CLIENT_CALL_QUERY_MEMORY_H

#include "base/query.h"

/* Put figures in the place of the processes that the server has named as the answers to
 * PMIX_CLIENT_AVG_MEMORY and PMIX_QUERY_MEMORY_USAGE.  A key is unanswered again when none of its
 * processes can be looked at. */
void sx_query_memory_measure(struct sx_queries *queries);

#endif
