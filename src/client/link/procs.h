/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.h - process lists as callers give them, and the bodies of requests that have such lists. */
#ifndef SX_CLIENT_LINK_PROCS_H
#define SX_CLIENT_LINK_PROCS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <pmix_common.h>

#include "control/message.h"

/* Return: the namespace that @proc means: an empty one is ours. */
const char *sx_wire_nspace(const pmix_proc_t *proc);

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for NULL with a count, for more than SX_PROCS_MAX
 * (logged), for a namespace without an end, or for our namespace before PMIx_Init. */
pmix_status_t sx_wire_procs_check(const pmix_proc_t *procs, size_t nprocs);

/* Put @procs into the order in which a server takes the members of a collective (sx_proc_order,
 * each once).  Return: @procs itself if it has that order already; or a copy in which every
 * namespace has its name, its length in *nprocs, which the caller frees as *ret_copy; NULL when
 * memory is out. */
const pmix_proc_t *sx_wire_procs_sorted(const pmix_proc_t *procs, size_t *nprocs,
                                        pmix_proc_t **ret_copy);

/* Check the head and parts of a request of @kind (in @draft, whose other members are filled in) and
 * write the body.  The body lies in the @room_size bytes at @room (at a multiple of 8) if it fits,
 * else in malloc'ed memory.  Return: PMIX_SUCCESS; as sx_body_measure, sx_message_size_judge and
 * sx_body_write. */
pmix_status_t sx_wire_write(uint16_t kind, struct sx_draft *draft, void *room, size_t room_size,
                            struct iovec *ret_body);

#endif
