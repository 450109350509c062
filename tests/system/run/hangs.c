/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hangs.c - a preloaded library that makes a file system which does not answer.
 *
 * Whoever names a path with "/hangs" waits for ever.  With "/later" only the execution of a program
 * does so: entering its folder; with LATER, which names a path, in the kernel.  Entering one with
 * "/gate" takes until it has a file "open".  Each opening of a path with "/counted" adds a byte to
 * the file that COUNTED names.  The environment of the process that the file STUCK has the number
 * of cannot be read, either; each look at its threads adds a byte to that of COUNTED.  With
 * DEVICES, which names a path, whoever opens a folder of /sys by its name waits in the kernel.
 * With FORKLESS the launcher's process for look-ups cannot fork.  The file that FORKS names gets a
 * byte for each fork of the launcher itself. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void touch(const char *path)
{
    while (strstr(path, "/hangs") != NULL) {
        pause();
    }
}

static void count_in(const char *variable)
{
    const char *const to = getenv(variable);

    if (to != NULL) {
        const int fd = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_APPEND | O_CREAT, 0600);

        (void)!write(fd, ".", 1);
        close(fd);
    }
}

static void count(const char *path)
{
    if (strstr(path, "/counted") != NULL) {
        count_in("COUNTED");
    }
}

/* Whether @path is @name of the process in /proc that the file STUCK has the number of. */
static bool is_of_stuck(const char *path, const char *name)
{
    const char *const of = getenv("STUCK");
    char number[32] = "", stuck[64];

    if (of == NULL || strncmp(path, "/proc/", 6) != 0 || strstr(path, name) == NULL) {
        return false;
    }
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, of, O_RDONLY);

    (void)!read(fd, number, sizeof(number) - 1);
    close(fd);
    snprintf(stuck, sizeof(stuck), "/proc/%d/%s", atoi(number), name);
    return strcmp(path, stuck) == 0;
}

static void environ_touch(const char *path)
{
    while (is_of_stuck(path, "environ")) {
        pause();
    }
}

static int opened(int folder, const char *path, int flags, mode_t mode)
{
    touch(path);
    count(path);
    environ_touch(path);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(flags, mode)                                         \
    do {                                                          \
        va_list args;                                             \
        va_start(args, flags);                                    \
        mode = ((flags)&O_CREAT) != 0 ? va_arg(args, mode_t) : 0; \
        va_end(args);                                             \
    } while (0)

int open(const char *path, int flags, ...)
{
    mode_t mode;

    MODE(flags, mode);
    return opened(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    mode_t mode;

    MODE(flags, mode);
    return opened(folder, path, flags, mode);
}

int fstatat(int folder, const char *path, struct stat *st, int flags)
{
    int (*const next)(int, const char *, struct stat *,
                      int) = (int (*)(int, const char *, struct stat *, int))dlsym(RTLD_NEXT,
                                                                                   "fstatat");

    touch(path);
    return next(folder, path, st, flags);
}

DIR *opendir(const char *path)
{
    DIR *(*const next)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    struct stat st;

    if (getenv("DEVICES") != NULL && strncmp(path, "/sys/", 5) == 0) {
        (void)stat(getenv("DEVICES"), &st);
    }
    if (is_of_stuck(path, "task")) {
        count_in("COUNTED");
    }
    return next(path);
}

pid_t fork(void)
{
    pid_t (*const next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");

    if (getenv("FORKLESS") != NULL && strcmp(program_invocation_name, "shmix-lookup") == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (strcmp(program_invocation_short_name, "shmix") == 0) {
        count_in("FORKS");
    }
    return next();
}

static void gate_pass(const char *path)
{
    char file[4096];

    snprintf(file, sizeof(file), "%s/open", path);
    while (strstr(path, "/gate") != NULL && access(file, F_OK) != 0) {
        poll(NULL, 0, 1);
    }
}

int chdir(const char *path)
{
    touch(path);
    gate_pass(path);
    while (strstr(path, "/later") != NULL) {
        struct stat st;

        if (getenv("LATER") == NULL || stat(getenv("LATER"), &st) != 0) {
            pause();
        }
    }
    return (int)syscall(SYS_chdir, path);
}
