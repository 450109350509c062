/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pathlist.h - the paths of a comma-separated list, as the cleanup directives have them. */
#ifndef SX_BASE_PATHLIST_H
#define SX_BASE_PATHLIST_H

#include <stdbool.h>
#include <stddef.h>

struct sx_path {
    const char *text; /* in the list, so no NUL behind it */
    size_t len;       /* without slashes at its end */
    size_t name_off;  /* where its last component begins */
};

/* Take the next path that is not empty and move *at behind it.  Return: false at the end. */
bool sx_pathlist_next(const char **at, struct sx_path *ret_path);

/* Return: why nothing can be removed by that path, for a message; NULL when it is in order. */
const char *sx_path_fault(const struct sx_path *path);

/* Whether @path is a plain name, by which files in any directory can be kept. */
bool sx_path_is_name(const struct sx_path *path);

#endif
