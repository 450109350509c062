/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leftovers.c - what launchers and servers that were killed have left in the directory of
 * sessions. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "control/contact.h"
#include "control/message.h"

struct place {
    struct sx_doctor *doctor;
    const char *path;
};

/* A session directory is locked as long as its launcher lives (launch/job/session.h). */
static void session_look(void *arg, int dir_fd, const char *name)
{
    const struct place *const place = arg;
    unsigned uid;
    int pid, end = 0;

    if (sscanf(name, "shmix-%u-%d-%n", &uid, &pid, &end) != 2 || end == 0) {
        return;
    }
    const int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0) {
        return;
    }
    if (fstat(fd, &st) == 0 && st.st_uid == uid && flock(fd, LOCK_SH | LOCK_NB) == 0) {
        sx_doctor_find(place->doctor, SX_DOCTOR_SESSION,
                       "%s/%s of user %u, whose launcher %d has "
                       "ended",
                       place->path, name, uid, pid);
    }
    close(fd); /* and with it the lock */
}

/* The folder @dir_fd and a slash.  Return: "" when /proc does not show it. */
static const char *folder_of(int dir_fd, char folder[PATH_MAX])
{
    char link[32];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
    const ssize_t len = readlink(link, folder, PATH_MAX - 2);

    if (len <= 0) {
        return "";
    }
    folder[len] = '/';
    folder[len + 1] = '\0';
    return folder;
}

static void contact_look(void *arg, int dir_fd, const char *name)
{
    const struct place *const place = arg;
    static struct sx_contact contact; /* large */
    char folder[PATH_MAX];
    const char *why;

    if (strncmp(name, "pmix.", 5) == 0 &&
        sx_contact_read(dir_fd, name, &contact, &why) == PMIX_SUCCESS &&
        sx_contact_is_stale(&contact)) {
        sx_doctor_find(place->doctor, SX_DOCTOR_CONTACT, "%s%s, of process %d, which has ended",
                       folder_of(dir_fd, folder), name, (int)contact.pid);
    }
}

static void dir_look(void *arg, int dir_fd)
{
    sx_contact_names_each(dir_fd, contact_look, arg);
}

void sx_doctor_leftovers(struct sx_doctor *doctor)
{
    struct place place = { doctor, sx_contact_dir(NULL, SX_ENV_SESSION_DIR) };
    const char *const system = sx_contact_dir(NULL, SX_ENV_SYSTEM_DIR);
    const int fd = open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        sx_contact_names_each(fd, session_look, &place);
        close(fd);
    }
    (void)sx_contact_dirs_each(place.path, dir_look, &place);
    if (strcmp(system, place.path) != 0) {
        (void)sx_contact_dirs_each(system, dir_look, &place);
    }
}
