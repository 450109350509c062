/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact_scan.c - directories, and the names in them. */
#include "control/contact_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

const char *sx_contact_dir(const char *given, const char *name)
{
    const char *const all[] = { given, getenv(name), getenv("TMPDIR"), "/tmp" };
    size_t i = 0;

    while (all[i] == NULL || all[i][0] == '\0') {
        i++;
    }
    return all[i];
}

struct dirs {
    char prefix[32];
    void (*look)(void *arg, int dir_fd);
    void *arg;
};

static void launcher_look(void *arg, int dir_fd, const char *name)
{
    const struct dirs *const dirs = arg;
    const int fd = strncmp(name, dirs->prefix, strlen(dirs->prefix)) == 0
                       ? openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                       : -1;

    if (fd >= 0) {
        dirs->look(dirs->arg, fd);
        close(fd);
    }
}

int sx_contact_dirs_each(const char *path, void (*look)(void *arg, int dir_fd), void *arg)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct dirs dirs = { .look = look, .arg = arg };

    if (fd < 0) {
        return errno;
    }
    snprintf(dirs.prefix, sizeof(dirs.prefix), "shmix-%u-", (unsigned)geteuid());
    look(arg, fd);
    sx_contact_names_each(fd, launcher_look, &dirs);
    close(fd);
    return 0;
}

void sx_contact_names_each(int dir_fd, void (*look)(void *arg, int dir_fd, const char *name),
                           void *arg)
{
    const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* an own offset */
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    for (int i = 0; dir != NULL && i < SX_CONTACT_SCAN_MAX && (entry = readdir(dir)) != NULL; i++) {
        look(arg, dir_fd, entry->d_name);
    }
    if (dir != NULL) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}
