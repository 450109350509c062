/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.h - PMIx_Fence, PMIx_Connect and PMIx_Disconnect, and the arrival that all collective
 * calls have in common.
 *
 *     sx_arriving_check --> sx_arrive: through the lane --> its end, from the ring
 *
 *     ARRIVED --completion with our slot and op, or the link is lost--> done
 *
 * A blocking call that nothing disturbs costs 3 system calls until its end.  These are the
 * doorbell, if the server sleeps, and one yield of the CPU (two without the doorbell).  The third
 * is one sleep, if that was not enough.
 *
 * Entered by this chapter's own calls, and by client/group for constructs and destructs. */
#ifndef SX_CLIENT_COLLECTIVE_COLLECTIVE_H
#define SX_CLIENT_COLLECTIVE_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "base/message/payloads.h"
#include "client/link/op.h"

/* The arguments of such a call. */
struct sx_arriving {
    const pmix_proc_t *procs;
    size_t nprocs;
    const pmix_info_t *info;
    size_t ninfo;
};

/* Whether this process is one of @procs. */
bool sx_procs_hold_self(const pmix_proc_t *procs, size_t nprocs);

/* Check the arguments, apart from the members of the list, and read the infos for @function.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED for an algorithm that is
 * required; as sx_options_read. */
pmix_status_t sx_arriving_check(const struct sx_arriving *arriving, enum sx_function function,
                                struct sx_collective_options *ret_options);

/* Arrive, and wait for the end if @op, which is on the caller's stack, has no callback.  A process
 * without a server is complete alone.  Return: as sx_op_ask. */
pmix_status_t sx_arrive(struct sx_op *op, enum sx_collective_kind kind,
                        const struct sx_arriving *arriving);

#endif
