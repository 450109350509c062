/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* role_test.c - a server is found while it is published, and only then. */
#include <criterion/criterion.h>

#include "base/call/role.h"

Test(role, a_server_is_there_while_it_is_published)
{
    static const struct sx_role_server server = { .get = NULL };

    cr_assert_null(sx_role_server_get());
    sx_role_server_set(&server);
    cr_assert_eq(sx_role_server_get(), &server);
    sx_role_server_set(NULL);
    cr_assert_null(sx_role_server_get());
}
