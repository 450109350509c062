/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_kind.c - the rows. */
#include "server/engine/collective_kind.h"

#include "base/util.h"
#include "ring/record.h"
#include "server/engine/fence.h"

static const struct sx_kind kinds[] = {
    [SX_COLLECTIVE_FENCE] = {
        .before = { .died = PMIX_ERR_LOST_CONNECTION, .departed = PMIX_ERR_PARTIAL_SUCCESS },
        .incomplete = PMIX_ERR_PARTIAL_SUCCESS,
        .host_reaches = sx_fence_host_reaches,
        .host_ask = sx_fence_host_ask,
        .host_said = sx_fence_host_said,
    },
};

const struct sx_kind *sx_kind_of(uint32_t number)
{
    return number < SX_COUNT(kinds) && kinds[number].host_reaches != NULL ? &kinds[number] : NULL;
}
