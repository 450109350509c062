/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostname.c - the name of this node, from the server in this process or from the store of a
 * server. */
#include "client/data/hostname.h"

#include <stdio.h>
#include <unistd.h>

#include "base/call/role.h"
#include "client/data/epoch.h"
#include "client/data/lookup.h"
#include "client/data/private_value.h"
#include "client/link/link.h"

/* Inside.  Return: false when it is not stored. */
static bool read_stored(struct sx_lookup *lookup, char *ret, size_t size)
{
    struct sx_item item;

    if (sx_lookup_find(lookup, &item) != PMIX_SUCCESS) {
        return false;
    }
    sx_box_hand_out(&item);
    if (item.cell.type != PMIX_STRING || (item.cell.flags & SX_CELL_NULL) != 0) {
        return false;
    }
    snprintf(ret, size, "%.*s", (int)item.cell.len, (const char *)item.body);
    return true;
}

static bool is_told(char *ret, size_t size)
{
    struct sx_lookup lookup;

    if (!sx_process_ready() ||
        sx_lookup_init(&lookup, &sx_process.self, PMIX_HOSTNAME, NULL, 0) != PMIX_SUCCESS) {
        return false;
    }
    const struct sx_grace grace = sx_grace_enter();
    const bool told = read_stored(&lookup, ret, size);

    sx_grace_exit(&grace);
    return told;
}

void sx_hostname(char *ret, size_t size)
{
    const struct sx_role_server *const server = sx_role_server_get();

    if (server != NULL) {
        server->hostname(ret, size);
    } else if (!is_told(ret, size)) {
        snprintf(ret, size, "localhost");
        (void)gethostname(ret, size - 1);
        ret[size - 1] = '\0';
    }
}
