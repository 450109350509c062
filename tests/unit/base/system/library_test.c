/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* library_test.c - a function of a library that is, or is not, there. */
#include <criterion/criterion.h>

#include "base/system/library.h"

/* As rows are written; libm is on every machine, the others on none. */
double cbrt(double of);
int sx_test_absent(int number);
int sx_test_unknown(int number);
void sx_test_nothing(int number);

SX_LIBRARY_CALL("libm.so.6", -1.0, double, cbrt, (double of), (of))
SX_LIBRARY_CALL("libshmix-absent.so.1", -7, int, sx_test_absent, (int number), (number))
SX_LIBRARY_CALL("libm.so.6", -8, int, sx_test_unknown, (int number), (number))
SX_LIBRARY_CALL_VOID("libshmix-absent.so.1", sx_test_nothing, (int number), (number))

Test(library, a_function_of_a_library_is_called)
{
    cr_expect_eq(cbrt(27.0), 3.0);
    cr_expect_eq(cbrt(8.0), 2.0);
}

Test(library, a_library_that_is_not_there_refuses)
{
    cr_expect_eq(sx_test_absent(1), -7);
    cr_expect_eq(sx_test_absent(1), -7, "again");
    sx_test_nothing(1);
}

Test(library, a_function_that_the_library_lacks_refuses)
{
    cr_expect_eq(sx_test_unknown(1), -8);
}

Test(library, a_function_is_found_once)
{
    void *const first = sx_library_find("libm.so.6", "cbrt");

    cr_assert_not_null(first);
    cr_expect_eq(sx_library_find("libm.so.6", "cbrt"), first);
}
