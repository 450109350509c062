/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_realm.c - which paths probably hang together, by the table of mounts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cleanup/cleanup_queue.h"

bool sx_cleanup_unlink_is_below(const char *path, const char *folder)
{
    const size_t len = strlen(folder);

    return strncmp(path, folder, len) == 0 &&
           (path[len] == '\0' || path[len] == '/' || (len > 0 && folder[len - 1] == '/'));
}

/* White space and backslashes are octal numbers in the table. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; to++) {
        unsigned number;

        if (at[0] == '\\' && sscanf(at + 1, "%3o", &number) == 1) {
            *to = (char)number;
            at += 4;
        } else {
            *to = *at++;
        }
    }
    *to = '\0';
}

/* Return: the folder of a line, the fifth word of it; NULL when there is none. */
static char *folder_of(char *line)
{
    char *save, *word = strtok_r(line, " ", &save);

    for (int i = 1; i < 5 && word != NULL; i++) {
        word = strtok_r(NULL, " ", &save);
    }
    if (word != NULL) {
        unescape(word);
    }
    return word;
}

/* The length of the longest folder that is a mount's and has @path; or of @path, if something is
 * mounted below it. */
static size_t mount_look(const char *path)
{
    FILE *const file = fopen("/proc/self/mountinfo", "re");
    size_t longest = 0, room = 0;
    char *line = NULL;

    while (file != NULL && getline(&line, &room, file) > 0) {
        const char *const folder = folder_of(line);

        if (folder == NULL) {
            continue;
        }
        if (strcmp(folder, path) != 0 && sx_cleanup_unlink_is_below(folder, path)) {
            longest = strlen(path);
        } else if (sx_cleanup_unlink_is_below(path, folder) && strlen(folder) > longest) {
            longest = strlen(folder);
        }
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return longest;
}

char *sx_cleanup_unlink_realm(const char *path)
{
    const size_t len = mount_look(path);

    /* All paths are below the root, which does not hang: those of the same folder wait. */
    return strndup(path, len > 1 ? len : (size_t)(strrchr(path, '/') - path));
}
