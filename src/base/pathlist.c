/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pathlist.c - split at commas, judge each path by its letters alone. */
#include "base/pathlist.h"

#include <limits.h>
#include <string.h>

bool sx_pathlist_next(const char **at, struct sx_path *ret_path)
{
    const char *text = *at + strspn(*at, ",");
    size_t len = strcspn(text, ",");
    size_t name_off;

    *at = text + len;
    if (len == 0) {
        return false;
    }
    while (len > 1 && text[len - 1] == '/') {
        len--;
    }
    name_off = len;
    while (name_off > 0 && text[name_off - 1] != '/') {
        name_off--;
    }
    *ret_path = (struct sx_path){ .text = text, .len = len, .name_off = name_off };
    return true;
}

static bool names_nothing(const char *name, size_t len)
{
    return len == 0 || (len == 1 && name[0] == '.') || (len == 2 && memcmp(name, "..", 2) == 0);
}

bool sx_path_is_name(const struct sx_path *path)
{
    return path->name_off == 0 && path->len <= NAME_MAX && !names_nothing(path->text, path->len);
}

const char *sx_path_fault(const struct sx_path *path)
{
    const char *name = path->text + path->name_off;
    const size_t name_len = path->len - path->name_off;

    if (path->text[0] != '/') {
        return "it is relative: begin it with '/'";
    }
    if (path->len >= PATH_MAX) {
        return "it is longer than a path can be";
    }
    if (names_nothing(name, name_len)) {
        return "it ends in no name: '/', '.' and '..' cannot be removed";
    }
    return NULL;
}
