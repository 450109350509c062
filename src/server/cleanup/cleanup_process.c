/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_process.c - become the user, then remove the paths that the server sends until it closes
 * its end.
 *
 * Everything behind the clone is the child of a process with threads: plain system calls, no
 * malloc, no lock.  Identities must not be changed through the C library here, as it would wait for
 * the threads that the parent had. */
#include "server/cleanup/cleanup_queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/process.h"

/* Give up all capabilities; a process without any needs no permission for that.  A server has them
 * as root, or from its executable file without being root. */
static bool capabilities_drop(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[2] = { 0 };
    struct __user_cap_data_struct data[2];

    return (syscall(SYS_capget, &header, data) == 0 &&
            (data[0].permitted | data[1].permitted) == 0) ||
           syscall(SYS_capset, &header, none) == 0;
}

/* Take on the user's rights in file systems, and no others, for good.  The user id itself stays.
 * This process has the server's memory, and the user must not be able to trace or signal it.
 * Return: false when this server may not act for that user. */
static bool become(uid_t uid, gid_t gid)
{
    if ((uid_t)setfsuid((uid_t)-1) == uid) { /* the server's own user; if that is root, it has all
                                              * rights */
        return uid == 0 || capabilities_drop();
    }
    if (syscall(SYS_setgroups, 0, NULL) != 0) {
        return false;
    }
    setfsgid(gid);
    setfsuid(uid);
    return (gid_t)setfsgid((gid_t)-1) == gid && (uid_t)setfsuid((uid_t)-1) == uid &&
           capabilities_drop();
}

static struct sx_cleanup_process_done *own; /* NULL: this is not the process */

/* Something has been done, or is begun. */
static void step(void)
{
    if (own != NULL) {
        atomic_fetch_add_explicit(&own->steps, 1, memory_order_relaxed); /* it orders nothing */
    }
}

static void packet_do(const char *packet, size_t size, uid_t uid, bool allowed,
                      struct sx_cleanup_process_done *done)
{
    struct sx_cleanup_unlink_report report = { .left_count = 0 };

    own = done;
    for (size_t at = 0; at < size;) {
        const struct sx_cleanup_unlink *sweep =
            (const struct sx_cleanup_unlink *)(const void *)(packet + at);

        /* relaxed: it decides alone who removes what is next. */
        if ((atomic_fetch_add_explicit(&done->begun, 1, memory_order_relaxed) &
             SX_CLEANUP_PROCESS_REVOKED) != 0) {
            break; /* the server has closed its end */
        }
        if (allowed) {
            sx_cleanup_unlink_do(sweep, uid, &report);
        } else {
            sx_cleanup_unlink_leave(sweep, EPERM, &report);
        }
        /* R0 -> A0 (cleanup_queue.c): what is counted has been removed. */
        atomic_fetch_add_explicit(&done->count, 1, memory_order_release);
        at += sweep->size_bytes;
    }
    if (report.left_count > 0) {
        (void)send(0, &report, sizeof(report), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

__attribute__((noreturn)) static void sweeper_main(int fd, uid_t uid, gid_t gid,
                                                   struct sx_cleanup_process_done *done)
{
    static _Alignas(8) char packet[SX_CLEANUP_UNLINK_PACKET_MAX];
    sigset_t all;
    ssize_t size;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    dup2(fd, 0);
    sx_descriptors_close_from(1);
    prctl(PR_SET_NAME, "shmix-sweeper");
    (void)!chdir("/");
    const bool allowed = become(uid, gid);

    while ((size = recv(0, packet, sizeof(packet), 0)) != 0) {
        if (size > 0) {
            packet_do(packet, (size_t)size, uid, allowed, done);
        } else if (errno != EINTR) {
            _exit(1);
        }
    }
    _exit(0);
}

pid_t sx_cleanup_process_start(uid_t uid, gid_t gid, struct sx_cleanup_process_done *done,
                               int *ret_fd)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return -1;
    }
    /* As fork, but without a signal at its end and without fork handlers. */
    const pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);

    if (pid == 0) {
        sweeper_main(pair[1], uid, gid, done);
    }
    const int error = errno;

    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        errno = error;
        return -1;
    }
    *ret_fd = pair[0];
    return pid;
}

/* ---- one removal -----------------------------------------------------------------------------
 *
 * Reach a directory without following a link, and empty it through its descriptor.
 *
 * Between two steps the user may replace what was checked.  So no step takes a path of more than
 * one component, except the first, and that one follows no link.  Only entries of the directory
 * that was reached are removed.  The kernel checks whether the user may do that, since the process
 * has that user's rights.  The owner is checked too, so that a directory which several users share
 * keeps the files of the others. */

#define ENTRIES_BYTES 2048 /* of a directory, read at once; on the stack, once per level */

/* The position of a removal below the path that was sent: "" or "/dir/dir". */
struct place {
    size_t len; /* sizeof(text): the position is longer than a path can be */
    char text[PATH_MAX];
};

struct work {
    const struct sx_cleanup_unlink *sweep;
    uid_t uid;
    struct sx_cleanup_unlink_report *report;
    const char *kept, *kept_end; /* names with their NULs */
    struct place *place;
};

/* ---- paths to keep ------------------------------------------------------------------------- */

void sx_cleanup_unlink_leave(const struct sx_cleanup_unlink *sweep, int error,
                             struct sx_cleanup_unlink_report *report)
{
    size_t i = 0;

    if (report->left_count++ > 0) {
        return;
    }
    report->error = error;
    for (; sweep->path[i] != '\0' && i < sizeof(report->path) - 1; i++) {
        const unsigned char c = (unsigned char)sweep->path[i];

        report->path[i] = c < ' ' || c == 0x7f ? '?' : sweep->path[i];
    }
    report->path[i] = '\0';
}

static void leave(const struct work *work, int error)
{
    if (error != ENOENT) { /* ENOENT: another process has removed it first */
        sx_cleanup_unlink_leave(work->sweep, error, work->report);
    }
}

const char *sx_cleanup_unlink_reason(int error)
{
    switch (error) {
    case EPERM:
        return "it is not that user's, or not to be removed";
    case ELOOP:
        return "a link is on the way to it";
    case EXDEV:
        return "a file system is mounted in it";
    case EOVERFLOW:
        return "directories are nested too deep in it";
    default:
        return strerror(error);
    }
}

/* ---- reaching the directory ---------------------------------------------------------------- */

/* Return: as openat2; -1 and ENOSYS where the kernel does not have it, or a filter refuses it. */
static int open_resolving(int dir_fd, const char *path, int flags, uint64_t resolve)
{
    const struct open_how how = { .flags = (uint64_t)(flags | O_DIRECTORY | O_CLOEXEC),
                                  .resolve = resolve | RESOLVE_NO_SYMLINKS };
    const int fd = (int)syscall(__NR_openat2, dir_fd, path, &how, sizeof(how));

    if (fd < 0 && errno == EPERM) { /* old filters return this for a call that they do not have */
        errno = ENOSYS;
    }
    return fd;
}

/* The same without openat2: open component after component of an absolute @path. */
static int walk(const char *path)
{
    char name[NAME_MAX + 1];
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    while (fd >= 0 && *(path += strspn(path, "/")) != '\0') {
        const size_t len = strcspn(path, "/");
        int next = -1;

        errno = ENAMETOOLONG;
        if (len < sizeof(name)) {
            memcpy(name, path, len);
            name[len] = '\0';
            next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        const int error = errno;

        close(fd);
        errno = error;
        fd = next;
        path += len;
    }
    return fd;
}

/* Open the directory that contains @path.  Return: a descriptor; -1 and errno. */
static int open_parent(const char *path, const char *name)
{
    char parent[PATH_MAX];
    const size_t len = (size_t)(name - path);

    if (len >= sizeof(parent)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(parent, path, len);
    parent[len] = '\0';
    const int fd = open_resolving(AT_FDCWD, parent, O_PATH, 0);

    return fd < 0 && errno == ENOSYS ? walk(parent) : fd;
}

/* Open the directory @name in @dir_fd, for reading. */
static int open_below(int dir_fd, const char *name, uint64_t resolve)
{
    const int fd = open_resolving(dir_fd, name, O_RDONLY, resolve);

    return fd < 0 && errno == ENOSYS
               ? openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
               : fd;
}

/* ---- names to keep ------------------------------------------------------------------------- */

/* Return: the end of the names that follow the path of @sweep. */
static const char *kept_end(const struct sx_cleanup_unlink *sweep, const char *kept)
{
    const char *const end = (const char *)sweep + sweep->size_bytes;

    while (kept < end && *kept != '\0') {
        kept += strnlen(kept, (size_t)(end - kept)) + 1;
    }
    return kept;
}

static bool is_kept(const struct work *work, const char *name)
{
    const struct place *const place = work->place;

    for (const char *kept = work->kept; kept < work->kept_end; kept += strlen(kept) + 1) {
        if (kept[0] != '/'
                ? strcmp(kept, name) == 0
                : place->len < sizeof(place->text) && strncmp(kept, place->text, place->len) == 0 &&
                      kept[place->len] == '/' && strcmp(kept + place->len + 1, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Return: the former length, to which the caller resets it. */
static size_t place_enter(struct place *place, const char *name)
{
    const size_t before = place->len, len = strlen(name);

    if (before + len + 1 < sizeof(place->text)) {
        place->text[before] = '/';
        memcpy(place->text + before + 1, name, len);
        place->len = before + 1 + len;
    } else {
        place->len = sizeof(place->text);
    }
    return before;
}

/* ---- removal ------------------------------------------------------------------------------- */

static bool is_own(const struct work *work, int dir_fd, const char *name, mode_t *ret_mode)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        leave(work, errno);
        return false;
    }
    if (st.st_uid != work->uid) {
        leave(work, EPERM);
        return false;
    }
    *ret_mode = st.st_mode;
    return true;
}

static void remove_name(const struct work *work, int dir_fd, const char *name, int flags)
{
    /* A directory that is not empty has kept something: that was counted already, or the caller did
     * not ask to empty it. */
    if (unlinkat(dir_fd, name, flags) != 0 && errno != ENOTEMPTY && errno != EEXIST) {
        leave(work, errno);
    }
}

static void empty_dir(const struct work *work, int fd, unsigned depth);

static void remove_entry(const struct work *work, int dir_fd, const char *name, unsigned depth)
{
    mode_t mode;

    step();
    if (is_kept(work, name) || !is_own(work, dir_fd, name, &mode)) {
        return;
    }
    if (!S_ISDIR(mode)) {
        if ((work->sweep->flags & SX_CLEANUP_UNLINK_EMPTY) == 0) {
            remove_name(work, dir_fd, name, 0);
        }
        return;
    }
    if ((work->sweep->flags & SX_CLEANUP_UNLINK_RECURSE) == 0) {
        return;
    }
    if (depth == SX_CLEANUP_UNLINK_DEPTH_MAX) {
        leave(work, EOVERFLOW);
        return;
    }
    const int fd = open_below(dir_fd, name, RESOLVE_BENEATH | RESOLVE_NO_XDEV);

    if (fd < 0) {
        leave(work, errno);
        return;
    }
    const size_t before = place_enter(work->place, name);

    empty_dir(work, fd, depth + 1);
    work->place->len = before;
    close(fd);
    remove_name(work, dir_fd, name, AT_REMOVEDIR);
}

static void empty_dir(const struct work *work, int fd, unsigned depth)
{
    _Alignas(struct dirent64) char entries[ENTRIES_BYTES];
    ssize_t size;

    while ((size = getdents64(fd, entries, sizeof(entries))) > 0) {
        for (ssize_t at = 0; at < size;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(entries + at);

            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
                remove_entry(work, fd, entry->d_name, depth);
            }
            at += entry->d_reclen;
        }
    }
    if (size < 0) {
        leave(work, errno);
    }
}

static void remove_dir(const struct work *work, int parent_fd, const char *name)
{
    const int fd = open_below(parent_fd, name, 0);

    if (fd < 0) {
        leave(work, errno);
        return;
    }
    empty_dir(work, fd, 0);
    close(fd);
    if ((work->sweep->flags & SX_CLEANUP_UNLINK_LEAVE_TOP) == 0) {
        remove_name(work, parent_fd, name, AT_REMOVEDIR);
    }
}

void sx_cleanup_unlink_do(const struct sx_cleanup_unlink *sweep, uid_t uid,
                          struct sx_cleanup_unlink_report *report)
{
    const char *const kept = sweep->path + strlen(sweep->path) + 1;
    struct place place = { .len = 0 };
    const struct work work = { .sweep = sweep,
                               .uid = uid,
                               .report = report,
                               .kept = kept,
                               .kept_end = kept_end(sweep, kept),
                               .place = &place };
    const bool is_dir = (sweep->flags & SX_CLEANUP_UNLINK_DIR) != 0;
    const char *name = strrchr(sweep->path, '/') + 1;
    const int parent_fd = open_parent(sweep->path, name);
    mode_t mode;

    if (parent_fd < 0) {
        leave(&work, errno);
        return;
    }
    if (!is_own(&work, parent_fd, name, &mode)) {
        close(parent_fd);
        return;
    }
    if (S_ISDIR(mode) != is_dir) {
        leave(&work, is_dir ? ENOTDIR : EISDIR);
    } else if (is_dir) {
        remove_dir(&work, parent_fd, name);
    } else {
        remove_name(&work, parent_fd, name, 0);
    }
    close(parent_fd);
}
