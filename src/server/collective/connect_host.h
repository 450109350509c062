/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_host.h - the rows of connect and disconnect that concern members on other nodes.
 *
 * A host that has the entry is called even if all members are here.  The further steps are in
 * agree.h. */
#ifndef SX_SERVER_COLLECTIVE_CONNECT_HOST_H
#define SX_SERVER_COLLECTIVE_CONNECT_HOST_H

#include "server/collective/collective_kind.h"

bool sx_connect_host_hears(const struct sx_collective *collective);
pmix_status_t sx_connect_host_ask(struct sx_collective *collective, sx_told_fn told);
bool sx_connect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                          pmix_status_t *ret_status);
pmix_status_t sx_connect_contribute(struct sx_collective *collective, struct sx_blob *blob);

bool sx_disconnect_host_hears(const struct sx_collective *collective);
pmix_status_t sx_disconnect_host_ask(struct sx_collective *collective, sx_told_fn told);
bool sx_disconnect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                             pmix_status_t *ret_status);
pmix_status_t sx_disconnect_contribute(struct sx_collective *collective, struct sx_blob *blob);

#endif
