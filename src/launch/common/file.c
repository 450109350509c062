/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* file.c - a name is walked from folder to folder, so that each link is judged before it is
 * followed, and no link can come in between.  The new text is beside the file, since a rename
 * crosses no file system. */
#include "launch/common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "launch/common/say.h"

#define LINKS_MAX 40   /* as the kernel */
#define WAIT_SECONDS 5 /* for a reader that takes nothing */

/* ---- the way to a file ----------------------------------------------------------------------- */

struct walk {
    struct sx_file_at *at;
    char *rest; /* malloc'ed: what is not walked yet */
    int links;
    bool makes_folders;
};

/* Take the folder @fd in place of the one where the walk is.  Return: 0 or errno. */
static int folder_enter(struct walk *walk, int fd)
{
    if (fd < 0) {
        return errno;
    }
    if (walk->at->dir_fd >= 0) {
        close(walk->at->dir_fd);
    }
    walk->at->dir_fd = fd;
    return 0;
}

static int walk_begin(struct walk *walk)
{
    return folder_enter(walk,
                        open(walk->rest[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* The owner of the root folder can change any file, also where a namespace of users gives root
 * another number. */
static bool is_trusted(uid_t owner)
{
    struct stat root;

    return owner == geteuid() || owner == 0 || (stat("/", &root) == 0 && owner == root.st_uid);
}

/* @name is a link, and @rest comes behind it.  Return: 0 or errno. */
static int link_follow(struct walk *walk, const char *name, const char *rest, uid_t owner)
{
    char target[PATH_MAX];
    const ssize_t len = readlinkat(walk->at->dir_fd, name, target, sizeof(target));

    if (len < 0 || (size_t)len == sizeof(target)) {
        return len < 0 ? errno : ENAMETOOLONG;
    }
    if (++walk->links > LINKS_MAX || !is_trusted(owner)) {
        return ELOOP;
    }
    char *const all = sx_cli_printf("%.*s/%s", (int)len, target, rest);

    if (rest[0] == '\0') {
        all[len] = '\0'; /* no slash behind a file */
    }
    free(walk->rest);
    walk->rest = all;
    return all[0] == '/' ? walk_begin(walk) : 0;
}

static bool is_of_procfs(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && (unsigned long)fs.f_type == PROC_SUPER_MAGIC;
}

/* The last part of the name.  Return: as walk_step. */
static int file_reach(struct walk *walk, bool *ret_ends)
{
    struct sx_file_at *const at = walk->at;

    at->is_there = fstatat(at->dir_fd, at->name, &at->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (at->is_there && S_ISLNK(at->st.st_mode)) {
        if (!is_of_procfs(at->dir_fd)) {
            return link_follow(walk, at->name, "", at->st.st_uid);
        }
        at->is_magic = true;
        at->is_there = fstatat(at->dir_fd, at->name, &at->st, 0) == 0;
    }
    *ret_ends = true;
    return at->is_there || errno == ENOENT ? 0 : errno;
}

/* A part of the name with others behind it.  Return: as walk_step. */
static int folder_reach(struct walk *walk, char *rest)
{
    struct sx_file_at *const at = walk->at;
    const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    int fd = openat(at->dir_fd, at->name, flags | O_NOFOLLOW); /* O_DIRECTORY: may be mounted now */
    struct stat st;

    if (fd < 0 && errno == ENOENT && walk->makes_folders) {
        if (mkdirat(at->dir_fd, at->name, 0777) != 0 && errno != EEXIST) {
            return errno;
        }
        fd = openat(at->dir_fd, at->name, flags | O_NOFOLLOW);
    }
    const int why = fd < 0 ? errno : 0;

    if (fd < 0 && (why == ENOTDIR || why == ELOOP) &&
        fstatat(at->dir_fd, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
        if (!is_of_procfs(at->dir_fd)) {
            return link_follow(walk, at->name, rest, st.st_uid);
        }
        fd = openat(at->dir_fd, at->name, flags);
    } else if (fd < 0) {
        return why;
    }
    memmove(walk->rest, rest, strlen(rest) + 1);
    return folder_enter(walk, fd);
}

/* Walk the next part of the name.  Return: 0 or errno. */
static int walk_step(struct walk *walk, bool *ret_ends)
{
    char *const part = walk->rest + strspn(walk->rest, "/");
    const size_t len = strcspn(part, "/");
    char *const rest = part + len + strspn(part + len, "/");

    if (len == 0) {
        return walk->rest[0] == '\0' ? ENOENT : EISDIR;
    }
    if (len > NAME_MAX) {
        return ENAMETOOLONG;
    }
    memcpy(walk->at->name, part, len);
    walk->at->name[len] = '\0';
    if (part[len] == '\0') {
        return file_reach(walk, ret_ends);
    }
    if (rest[0] == '\0') {
        return EISDIR; /* a slash ends the name */
    }
    return folder_reach(walk, rest);
}

int sx_file_find(const char *path, bool makes_folders, struct sx_file_at *ret)
{
    struct walk walk = { .at = ret, .rest = sx_cli_strdup(path), .makes_folders = makes_folders };
    bool ends = false;

    *ret = (struct sx_file_at){ .dir_fd = -1 };
    int why = walk_begin(&walk);

    while (why == 0 && !ends) {
        why = walk_step(&walk, &ends);
    }
    free(walk.rest);
    if (why != 0 && ret->dir_fd >= 0) {
        close(ret->dir_fd);
        ret->dir_fd = -1;
    }
    return why;
}

static int at_open(const struct sx_file_at *at, int flags)
{
    return openat(at->dir_fd, at->name,
                  flags | O_CLOEXEC | O_NOCTTY | (at->is_magic ? 0 : O_NOFOLLOW), 0666);
}

int sx_file_open(const char *path, int flags, bool makes_folders)
{
    struct sx_file_at at;
    int why = sx_file_find(path, makes_folders, &at);

    if (why == 0) {
        const int fd = at_open(&at, flags);

        why = errno;
        close(at.dir_fd);
        if (fd >= 0) {
            return fd;
        }
    }
    errno = why;
    return -1;
}

const char *sx_file_cause(int error)
{
    switch (error) {
    case ELOOP:
        return "a symbolic link of another user, or too many of them, lead there; "
               "name the file itself";
    case ENXIO:
        return "no process reads this pipe";
    case ETIMEDOUT:
        return "its reader takes nothing";
    default:
        return strerror(error);
    }
}

/* ---- a file that is replaced ----------------------------------------------------------------- */

/* A write of the stream of a pipe or a device, whose descriptor does not block: a reader may take
 * its time, but at most WAIT_SECONDS without taking a byte. */
static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
    struct sx_replace *const replace = cookie;
    const int fd = replace->fd;
    size_t done = 0;

    while (done < size && replace->error == 0) {
        struct pollfd room = { .fd = fd, .events = POLLOUT };
        const int ready = poll(&room, 1, WAIT_SECONDS * 1000);
        const ssize_t count = ready <= 0 ? -1 : write(fd, bytes + done, size - done);

        if (count >= 0) {
            done += (size_t)count;
        } else if (ready == 0) {
            replace->error = ETIMEDOUT;
        } else if (errno != EINTR && errno != EAGAIN) {
            replace->error = errno;
        }
    }
    errno = replace->error;
    return replace->error == 0 ? (ssize_t)size : 0;
}

static int stream_close(void *cookie)
{
    return close(((const struct sx_replace *)cookie)->fd);
}

/* The kernel may forbid to give a file away, but not to a group of the caller. */
static void owner_keep(int fd, const struct stat *st)
{
    if (fchown(fd, st->st_uid, st->st_gid) != 0 && fchown(fd, (uid_t)-1, st->st_gid) != 0) {
        return; /* it is the caller's */
    }
}

bool sx_replace_open(struct sx_replace *replace, const char *path)
{
    struct sx_file_at *const at = &replace->at;

    *replace = (struct sx_replace){ .out = NULL };
    int why = sx_file_find(path, false, at);

    if (why != 0) {
        errno = why;
        return false;
    }
    const bool is_file = !at->is_magic && (!at->is_there || S_ISREG(at->st.st_mode));

    if (is_file) {
        replace->before = sx_cli_printf("%s.%d", at->name, (int)getpid());
    }
    const int fd = is_file ? openat(at->dir_fd, replace->before,
                                    O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666)
                           : at_open(at, O_WRONLY | O_APPEND | O_NONBLOCK);

    if (fd >= 0 && at->is_there && is_file) {
        owner_keep(fd, &at->st); /* before the mode, which it may change */
        (void)fchmod(fd, at->st.st_mode & 0777);
    }
    signal(SIGXFSZ, SIG_IGN);
    replace->fd = fd;
    replace->out = fd < 0    ? NULL
                   : is_file ? fdopen(fd, "w")
                             : fopencookie(replace, "w",
                                           (cookie_io_functions_t){ .write = stream_write,
                                                                    .close = stream_close });
    if (replace->out == NULL) {
        why = errno;
        free(replace->before);
        close(at->dir_fd);
        *replace = (struct sx_replace){ .out = NULL };
        errno = why;
        return false;
    }
    replace->is_open = true;
    return true;
}

bool sx_replace_end(struct sx_replace *replace)
{
    const struct sx_file_at *const at = &replace->at;
    const bool flushed = fflush(replace->out) == 0 && !ferror(replace->out);
    int why = errno;
    const bool closed = fclose(replace->out) == 0;
    const bool good = flushed && closed &&
                      (replace->before == NULL ||
                       renameat(at->dir_fd, replace->before, at->dir_fd, at->name) == 0);

    why = replace->error != 0 ? replace->error : flushed ? errno : why;
    replace->out = NULL;
    if (good) {
        free(replace->before);
        replace->before = NULL;
    }
    sx_replace_abandon(replace);
    errno = why;
    return good;
}

void sx_replace_abandon(struct sx_replace *replace)
{
    if (replace->out != NULL) {
        fclose(replace->out);
    }
    if (replace->before != NULL) {
        (void)unlinkat(replace->at.dir_fd, replace->before, 0);
    }
    if (replace->is_open) {
        close(replace->at.dir_fd);
    }
    free(replace->before);
    *replace = (struct sx_replace){ .out = NULL };
}
