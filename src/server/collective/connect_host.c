/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_host.c - the entries of the host, and the name that this server proposes. */
#include "server/collective/connect_host.h"

#include "server/collective/agree.h"
#include "server/collective/connect.h"

static bool has_connect(const struct sx_collective *collective)
{
    return collective->members.server->module.connect != NULL;
}

static bool has_disconnect(const struct sx_collective *collective)
{
    return collective->members.server->module.disconnect != NULL;
}

/* ---- connect --------------------------------------------------------------------------------- */

bool sx_connect_host_hears(const struct sx_collective *collective)
{
    return has_connect(collective);
}

pmix_status_t sx_connect_host_ask(struct sx_collective *collective, sx_told_fn told)
{
    const struct sx_agree_entry entry = { .kind = SX_UPCALL_CONNECT,
                                          .is_asked = has_connect(collective) };

    return sx_agree_ask(collective, &entry, told);
}

pmix_status_t sx_connect_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    char name[PMIX_MAX_NSLEN + 1];

    sx_connect_name(collective->members.server, name);
    return sx_agree_contribute(collective, name, NULL, blob);
}

bool sx_connect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                          pmix_status_t *ret_status)
{
    if (sx_agree_goes_on(collective, answer, ret_status)) {
        return false;
    }
    if (*ret_status == PMIX_SUCCESS) {
        *ret_status = sx_agree_read(collective, answer, NULL);
    }
    return true;
}

/* ---- disconnect ------------------------------------------------------------------------------ */

bool sx_disconnect_host_hears(const struct sx_collective *collective)
{
    return has_disconnect(collective);
}

pmix_status_t sx_disconnect_host_ask(struct sx_collective *collective, sx_told_fn told)
{
    const struct sx_agree_entry entry = { .kind = SX_UPCALL_DISCONNECT,
                                          .is_asked = has_disconnect(collective) };

    return sx_agree_ask(collective, &entry, told);
}

/* Contribute nothing but the fact that all here have called. */
pmix_status_t sx_disconnect_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    (void)collective;
    return sx_blob_begin_as(blob, SX_BLOB_ROUND);
}

bool sx_disconnect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                             pmix_status_t *ret_status)
{
    return !sx_agree_goes_on(collective, answer, ret_status);
}
