/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* library.c - the loader is asked for each function once; it counts, and never unmaps, the library.
 *
 * The names stay out of the process's global scope: a program that brings a library of the same
 * functions must not get this one. */
#include "base/system/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/status.h"

void *sx_library_find(const char *soname, const char *name)
{
    void *const library = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *const function = library != NULL ? dlsym(library, name) : NULL;

    if (function == NULL) {
        const char *const why = dlerror();

        sx_log(SX_LOG_ERROR, "%s: %s", name, why != NULL ? why : soname);
    }
    return function;
}

int sx_library_try(const char *soname)
{
    if (dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != NULL) {
        return 0;
    }
    (void)dlerror(); /* its text is all that the loader reports, so errors are checked here */
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
        return 0;
    }
    return errno == EMFILE || errno == ENFILE ? errno : 0;
}
