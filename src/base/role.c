/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* role.c - the one word through which client-side entry points find a server in this process. */
#include "base/role.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const struct sx_role_server *) role_server;

void sx_role_server_set(const struct sx_role_server *server)
{
    /* R0 -> A0 (sx_role_server_get): the table is filled before it can be found. */
    atomic_store_explicit(&role_server, server, memory_order_release);
}

const struct sx_role_server *sx_role_server_get(void)
{
    /* A0 <- R0 (sx_role_server_set): seeing the table means seeing its entries. */
    return atomic_load_explicit(&role_server, memory_order_acquire);
}
