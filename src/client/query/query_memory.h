/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.h - the memory that clients use, which the server does not measure.
 *
 *     the server: which processes are meant --> the querying process: /proc of these
 *
 * There may be many processes, and each is a file to be opened.  So the querying process reads
 * them, with its own rights. */
#ifndef SX_CLIENT_QUERY_QUERY_MEMORY_H
#define SX_CLIENT_QUERY_QUERY_MEMORY_H

#include "base/call/query.h"

/* Put figures in the place of the processes that the server has named as the answers to
 * PMIX_CLIENT_AVG_MEMORY and PMIX_QUERY_MEMORY_USAGE.  A key becomes unanswered again when none of
 * its processes can be read.  Keys that ask the same are measured once. */
void sx_query_memory_measure(struct sx_queries *queries);

#endif
