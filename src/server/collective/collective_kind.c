/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_kind.c - find a row, and the ends that several rows share. */
#include "server/collective/collective_kind.h"

#include "server/model/state.h"

const struct sx_member_ends sx_nobody_may_go = {
    .died = PMIX_ERR_LOST_CONNECTION,
    .left = PMIX_ERR_PROC_TERM_WO_SYNC,
    .departed = PMIX_ERR_PROC_TERM_WO_SYNC,
    .withdrew = PMIX_ERR_PROC_TERM_WO_SYNC,
};

const struct sx_kind *sx_kind_of(const struct sx_server *server, uint32_t number)
{
    return number < SX_COLLECTIVE_KINDS && server->kinds[number].number != 0
               ? &server->kinds[number]
               : NULL;
}
