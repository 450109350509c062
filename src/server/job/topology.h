/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.h - publish the node's topology once, so that no rank probes the machine again.
 *
 * The text is the host's, if it passed a topology to PMIx_server_init; else the server probes the
 * machine.  It does so in PMIx_server_init if the host asks for that (PMIX_SERVER_SHARE_TOPOLOGY
 * true), and never if that is false.  Without that info it does so at the first namespace with
 * local processes. */
#ifndef SX_SERVER_JOB_TOPOLOGY_H
#define SX_SERVER_JOB_TOPOLOGY_H

#include <pmix_server.h>

#include "base/call/directive_tables.h"

struct sx_nspace;

/* Take the topology from the host's infos.  On the thread of PMIx_server_init.  A topology that
 * cannot be obtained is logged and is not an error.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for
 * one of a wrong type. */
pmix_status_t sx_server_topology_open(const struct sx_server_options *options);

/* Probe the machine now if it is needed for registering a namespace with @info, whose @options are
 * these, and @local_count processes.  On the host's thread, so that the loop continues
 * meanwhile. */
void sx_server_topology_prepare(int local_count, const struct sx_nspace_options *options,
                                const pmix_info_t info[], size_t ninfo);

/* Store the text for @nspace under the keys that the host did not give, unless it gave a text.
 * Loop thread, after the host's own info.  Return: PMIX_SUCCESS, also when there is no text; as
 * sx_store_put. */
pmix_status_t sx_server_topology_publish(struct sx_nspace *nspace);

/* Free the topology of the host.  It is not published any more. */
void sx_server_topology_close(void);

#endif
