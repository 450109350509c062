/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segment_scan.c - two loops: over processes, and over the descriptors of one. */
#include "shmem/segment.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "/memfd:shmix:"

struct search {
    const char *kind;
    bool (*each)(void *arg, pid_t pid, int fd);
    void *arg;
    struct sx_outside_left *left; /* NULL: not wanted */
    bool goes_on, denied;
    void *seen; /* inodes of one process, a tree of <search.h> */
};

static bool is_of_kind(const struct search *search, const char *link, size_t len)
{
    const size_t head = sizeof(PREFIX) - 1, kind = strlen(search->kind);

    return len > head + kind && memcmp(link, PREFIX, head) == 0 &&
           memcmp(link + head, search->kind, kind) == 0;
}

static void left_note(struct sx_outside_left *left, pid_t pid, uint32_t layout)
{
    unsigned i = 0;

    while (i < left->count && (left->at[i].pid != pid || left->at[i].layout != layout)) {
        i++;
    }
    if (i == left->count && i < SX_OUTSIDE_LEFT_MAX) {
        left->at[i].pid = pid;
        left->at[i].layout = layout;
        left->count++;
    }
}

/* Judge a segment's first word, which its maker writes last.  It is read, not mapped: the file may
 * still be empty.  Return: whether it is finished, and of this layout. */
static bool is_readable(struct search *search, pid_t pid, int fd)
{
    uint64_t magic = 0;
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    if (pread(fd, &magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) || magic == 0) {
        return false;
    }
    if (magic != SX_SEGMENT_MAGIC && search->left != NULL) {
        left_note(search->left, pid, sx_segment_layout(magic));
    }
    return magic == SX_SEGMENT_MAGIC;
}

static int inode_compare(const void *left, const void *right)
{
    return ((uintptr_t)left > (uintptr_t)right) - ((uintptr_t)left < (uintptr_t)right);
}

static void nothing_free(void *inode)
{
    (void)inode;
}

/* A server holds a segment that it is about to share twice: to write, and to be read alone. */
static bool is_new(struct search *search, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return false;
    }
    const void *const inode = (const void *)(uintptr_t)st.st_ino;
    const bool is_new = tfind(inode, &search->seen, inode_compare) == NULL;

    if (is_new) {
        (void)tsearch(inode, &search->seen, inode_compare);
    }
    return is_new;
}

static void look_at(struct search *search, int dir_fd, const char *entry, pid_t pid)
{
    char link[320];
    const ssize_t len = readlinkat(dir_fd, entry, link, sizeof(link));

    if (len < 0 || !is_of_kind(search, link, (size_t)len)) {
        return;
    }
    /* Any file may have such a name: a FIFO, or a file with a lease, must not make us wait. */
    const int fd = openat(dir_fd, entry, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    search->denied = search->denied || (fd < 0 && (errno == EACCES || errno == EPERM));
    if (fd >= 0) {
        search->goes_on = !is_readable(search, pid, fd) || !is_new(search, fd) ||
                          search->each(search->arg, pid, fd);
        close(fd);
    }
}

static void look_into(struct search *search, pid_t pid)
{
    const struct dirent *entry;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *const dir = opendir(path);
    if (dir == NULL) {
        search->denied = search->denied || errno == EACCES || errno == EPERM;
        return;
    }
    while (search->goes_on && (entry = readdir(dir)) != NULL) {
        look_at(search, dirfd(dir), entry->d_name, pid);
    }
    closedir(dir);
    tdestroy(search->seen, nothing_free);
    search->seen = NULL;
}

bool sx_outside_each(pid_t pid, const char *kind, bool (*each)(void *arg, pid_t pid, int fd),
                     void *arg, struct sx_outside_left *left)
{
    struct search search = {
        .kind = kind, .each = each, .arg = arg, .left = left, .goes_on = true
    };
    const struct dirent *entry;

    if (pid != 0) {
        look_into(&search, pid);
        return !search.denied;
    }
    DIR *const dir = opendir("/proc");
    while (dir != NULL && search.goes_on && (entry = readdir(dir)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            look_into(&search, (pid_t)strtol(entry->d_name, NULL, 10));
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return !search.denied;
}
