/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* library.h - libraries that a process maps when it first calls them.
 *
 * A rank needs none of hwloc, liburing and zlib unless it asks for the topology or for compression;
 * a server needs all of them.  So libpmix is not linked to them.  A table per library
 * (library.c, control/loop_uring.c) has a row for each function that is called: it defines the
 * function under its own name, and so the rest of the code, and inline functions of the library's
 * headers, call it as if it were linked.  libpmix.map keeps the names inside. */
#ifndef SX_BASE_SYSTEM_LIBRARY_H
#define SX_BASE_SYSTEM_LIBRARY_H

#include <stdatomic.h>

/* Function @name of library @soname, which is mapped if it is not.  Any thread; it holds no lock of
 * this library.  Return: NULL, after a line with the reason, if there is no such library or
 * function. */
void *sx_library_find(const char *soname, const char *name);

/* Map library @soname, without a word.  Return: 0; EMFILE or ENFILE when there is no descriptor to
 * open it with.  Any other fault of the library is logged at its first call. */
int sx_library_try(const char *soname);

/* As sx_library_find, once per place in the code. */
#define SX_LIBRARY_FUNCTION(soname, name)                                           \
    ({                                                                              \
        static _Atomic(void *) found;                                               \
        /* A0 <- R0: a reader that sees the function sees the library mapped. */    \
        void *at = atomic_load_explicit(&found, memory_order_acquire);              \
        if (at == NULL) {                                                           \
            at = sx_library_find(soname, name);                                     \
            atomic_store_explicit(&found, at, memory_order_release); /* R0 -> A0 */ \
        }                                                                           \
        at;                                                                         \
    })

/* A row: RETURN NAME PARAMS calls the library's NAME with ARGS, or returns REFUSED without it. */
#define SX_LIBRARY_CALL(soname, refused, type, name, params, args)             \
    type name params                                                           \
    {                                                                          \
        __typeof__(name) *const function = SX_LIBRARY_FUNCTION(soname, #name); \
        return function != NULL ? function args : (refused);                   \
    }

/* A row of a function that returns nothing. */
#define SX_LIBRARY_CALL_VOID(soname, name, params, args)                       \
    void name params                                                           \
    {                                                                          \
        __typeof__(name) *const function = SX_LIBRARY_FUNCTION(soname, #name); \
        if (function != NULL) {                                                \
            function args;                                                     \
        }                                                                      \
    }

#endif
