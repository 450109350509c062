/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.h - how much memory clients use, which the server does not look at.
 *
 *     the server: which processes are meant --> the asker: what /proc says of them
 *
 * There may be many processes, and each is a file to be opened.  So whoever asks looks, with its
 * own rights. */
#ifndef SX_CLIENT_QUERY_QUERY_MEMORY_H
#define SX_CLIENT_QUERY_QUERY_MEMORY_H

#include "base/call/query.h"

/* Put figures in the place of the processes that the server has named as the answers to
 * PMIX_CLIENT_AVG_MEMORY and PMIX_QUERY_MEMORY_USAGE.  A key is unanswered again when none of its
 * processes can be looked at.  Keys that ask the same are measured once. */
void sx_query_memory_measure(struct sx_queries *queries);

#endif
