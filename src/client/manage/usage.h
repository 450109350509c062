/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* usage.h - PMIx_Process_monitor for the resource usage of this node and its processes.
 *
 * The process reads /proc itself, with its own rights, and asks the server only for the process
 * ids.  A blocking call reads in its own thread.  A non-blocking one, and later reports, use the
 * thread of periodic.h. */
#ifndef SX_CLIENT_MANAGE_USAGE_H
#define SX_CLIENT_MANAGE_USAGE_H

#include "base/call/directive_tables.h"
#include "base/call/query.h"
#include "client/link/op.h"

/* Answer @op, which is on the caller's stack, with the usage that @options ask for; with a period,
 * continue with events of @code.  @ask: PMIx_Query_info, which depends on this file.  Return: as
 * sx_op_answer; as sx_wire_procs_check; PMIX_ERR_NOT_FOUND when none of the processes is here; as
 * sx_periodic_prepare. */
pmix_status_t sx_usage_start(struct sx_op *op, const struct sx_monitor_options *options,
                             pmix_status_t code, sx_query_fn ask);

/* Measure once: *ret is an array of infos, one for the node, or for each process that @target
 * means.  @key: of PMIx_Process_monitor.  @ask: PMIx_Query_info, as above.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when none of the processes is here; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_usage_report(const char *key, const pmix_proc_t *target, sx_query_fn ask,
                              pmix_value_t *ret);

#endif
