/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alone.h - a process that has no server.
 *
 *     TestSuite(event, .init = alone_begin, .fini = alone_end); */
#ifndef SX_TEST_ALONE_H
#define SX_TEST_ALONE_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include <pmix.h>

/* Forget the server that this program may have been started under. */
static inline void alone_forget(void)
{
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_RANK");
    unsetenv("SHMIX_SERVER_FD");
    unsetenv("SHMIX_SERVER_URI");
}

/* @ret_me may be NULL. */
static inline void alone_init(pmix_proc_t *ret_me)
{
    alone_forget();
    cr_assert_eq(PMIx_Init(ret_me, NULL, 0), PMIX_ERR_UNREACH);
}

static inline void alone_begin(void)
{
    alone_init(NULL);
}

/* Whatever the test has left open. */
static inline void alone_end(void)
{
    while (PMIx_Initialized()) {
        cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
}

#endif
