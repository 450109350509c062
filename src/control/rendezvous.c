/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rendezvous.c - two sockets, or one and its private directory; the way to them is in reach.c.
 *
 *   NONE --mkdirat, checked through its descriptor--> DIRECTORY --bind, chown--> BOUND --listen--.
 *        LISTENING --an abstract socket listens, too; the directory removed--> OPEN
 *        LISTENING --asked for, or refused: named, given to its owner--> OPEN, with a directory
 *        --close, or any failure--> NONE
 *
 * Every step but the first goes through descriptors, so that no process with write access to the
 * parent directory can redirect a step.  The parent itself is the user's choice and may be a link,
 * as /tmp is on some systems.  A directory whose server was killed is removed by the next server of
 * the same user; that server reads SX_STALE_SCAN_MAX names at most. */
#include "control/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/process.h"
#include "base/util.h"
#include "control/socket.h"

#define SX_LISTEN_BACKLOG_MAX 4096
#define SX_LISTEN_BACKLOG_MIN 16
#define SX_STALE_SCAN_MAX 1024
#define SX_STALE_AGE_SEC 60 /* a directory without a socket may be in the making */
#define SX_NAME_TRIES_MAX 16
#define SX_PATH_FD_MIN 20 /* above descriptors that shells and scripts redirect */
#define SOCKET_NAME "s"
#define SOCKET_NAME_UNHEARD "u" /* until it listens: a client that finds SOCKET_NAME may connect */

/* ---- errors with advice ------------------------------------------------------------------- */

static pmix_status_t fail_with(const char *dir, int err, const char *doing)
{
    switch (err) {
    case ENOENT:
    case ENOTDIR:
        return SX_RAISE(PMIX_ERR_NOT_FOUND,
                        "%s in '%s': there is no such directory; set TMPDIR to one that exists, "
                        "or the host's PMIX_SERVER_TMPDIR",
                        doing, dir);
    case EACCES:
    case EPERM:
    case EROFS:
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "%s in '%s': %s; set TMPDIR to a directory that you may write%s", doing,
                        dir, strerror(err), sx_refused_advice(err));
    case ENOSPC:
    case EDQUOT:
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "%s in '%s': %s; free some space there or set TMPDIR to another directory",
                        doing, dir, strerror(err));
    case ENAMETOOLONG:
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "%s in '%.64s...': the path is longer than %d bytes; set TMPDIR to a "
                        "shorter one",
                        doing, dir, PATH_MAX);
    case EMFILE:
    case ENFILE:
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "%s in '%s': %s; raise the limit of open files (ulimit -n)", doing, dir,
                        strerror(err));
    default:
        return SX_RAISE(sx_status_from_errno(err),
                        "%s in '%s': %s; set TMPDIR to another directory%s", doing, dir,
                        strerror(err), sx_refused_advice(err));
    }
}

/* ---- what killed servers left ------------------------------------------------------------- */

/* True when no process serves at the socket in @dir_fd, which process @pid seems to have made;
 * *ret_there: whether there is a socket. */
static bool is_deserted(int dir_fd, pid_t pid, bool *ret_there)
{
    struct sx_address address;
    struct stat st;

    *ret_there = fstatat(dir_fd, SOCKET_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*ret_there) {
        return errno == ENOENT;
    }
    if (!S_ISSOCK(st.st_mode)) {
        return false;
    }
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) {
        return false;
    }
    (void)sx_address_of_fd(&address, dir_fd, SOCKET_NAME);
    const int err = sx_address_connect(fd, &address);
    const bool deserted = err == ECONNREFUSED || (err == 0 && sx_address_has_gone(fd, pid));

    close(fd);
    return deserted;
}

static void remove_socket(int dir_fd)
{
    unlinkat(dir_fd, SOCKET_NAME, 0);
    unlinkat(dir_fd, SOCKET_NAME_UNHEARD, 0);
}

/* Remove @name under @parent_fd if it is this user's directory whose server has gone.  A process id
 * may mean another process in another container, so the socket is checked. */
static void remove_if_stale(int parent_fd, const char *name, uid_t uid)
{
    unsigned name_uid, name_random;
    struct stat st;
    int name_pid, begin = 0, end = 0;
    bool there;

    if (sscanf(name, "shmix-%u-%d-%n%8x%n", &name_uid, &name_pid, &begin, &name_random, &end) !=
            3 ||
        end != begin + 8 || name[end] != '\0' || name_uid != uid || name_pid <= 0) {
        return;
    }
    const int dir_fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (dir_fd < 0) {
        return;
    }
    if (fstat(dir_fd, &st) == 0 && (st.st_uid == uid || st.st_uid == geteuid()) &&
        is_deserted(dir_fd, name_pid, &there) &&
        (there || time(NULL) - st.st_mtime > SX_STALE_AGE_SEC)) {
        remove_socket(dir_fd);
        if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0) {
            sx_log(SX_LOG_INFO, "removed '%s', left by a server that was killed", name);
        }
    }
    close(dir_fd);
}

static void remove_stale(int parent_fd, uid_t uid)
{
    const int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (dir == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return; /* a directory that we may use but not read */
    }
    for (int i = 0; i < SX_STALE_SCAN_MAX && (entry = readdir(dir)) != NULL; i++) {
        if (strncmp(entry->d_name, "shmix-", 6) == 0) {
            remove_if_stale(parent_fd, entry->d_name, uid);
        }
    }
    closedir(dir);
}

/* ---- server ------------------------------------------------------------------------------- */

static int make_directory(struct sx_rendezvous *rendezvous, uid_t uid)
{
    struct stat st;
    int rc = -1;

    for (int i = 0; i < SX_NAME_TRIES_MAX && rc != 0; i++) {
        uint32_t random;

        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
            return errno;
        }
        snprintf(rendezvous->dir_name, sizeof(rendezvous->dir_name), "shmix-%u-%d-%08" PRIx32,
                 (unsigned)uid, (int)getpid(), random);
        rc = mkdirat(rendezvous->parent_fd, rendezvous->dir_name, 0700);
        if (rc != 0 && errno != EEXIST) {
            break;
        }
    }
    if (rc != 0) {
        const int err = errno;

        rendezvous->dir_name[0] = '\0';
        return err;
    }
    rendezvous->dir_fd = openat(rendezvous->parent_fd, rendezvous->dir_name,
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (rendezvous->dir_fd < 0) {
        return errno;
    }
    /* Another process may have put another directory in its place meanwhile.  Set-group-id may be
     * inherited. */
    if (fstat(rendezvous->dir_fd, &st) != 0) {
        return errno;
    }
    return st.st_uid == geteuid() && (st.st_mode & 0777) == 0700 ? 0 : EPERM;
}

/* Return: an O_PATH descriptor of the bound socket, or -errno. */
static int bind_socket(struct sx_rendezvous *rendezvous,
                       const struct sx_rendezvous_options *options)
{
    struct sx_address address;
    struct stat st;

    rendezvous->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode of the socket before it is bound becomes, less the umask, the mode of its file. */
    if (rendezvous->listen_fd < 0 || fchmod(rendezvous->listen_fd, 0600) != 0) {
        return -errno;
    }
    (void)sx_address_of_fd(&address, rendezvous->dir_fd, SOCKET_NAME_UNHEARD);
    int err = sx_address_bind(rendezvous->listen_fd, &address);

    if (err != 0) {
        return -err;
    }
    const int fd = openat(rendezvous->dir_fd, SOCKET_NAME_UNHEARD, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) {
        return -errno;
    }
    err = fstat(fd, &st) != 0 ? errno : 0;
    if (err == 0 && (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())) {
        err = EPERM;
    }
    if (err == 0 && (st.st_uid != options->uid || st.st_gid != options->gid) &&
        fchownat(fd, "", options->uid, options->gid, AT_EMPTY_PATH) != 0 &&
        st.st_uid != options->uid) { /* a group that is not ours does not matter */
        err = errno;
    }
    if (err != 0) {
        close(fd);
        return -err;
    }
    return fd;
}

/* Keep @socket_fd; if children inherit it, at a high number, which fd_value contains. */
static int keep_path_fd(struct sx_rendezvous *rendezvous, int socket_fd, bool inherit)
{
    struct stat st;

    if (!inherit) {
        rendezvous->path_fd = socket_fd;
        return 0;
    }
    rendezvous->path_fd = fcntl(socket_fd, F_DUPFD, SX_PATH_FD_MIN);
    if (rendezvous->path_fd < 0) {
        rendezvous->path_fd = fcntl(socket_fd, F_DUPFD, STDERR_FILENO + 1);
    }
    close(socket_fd);
    if (rendezvous->path_fd < 0 || fstat(rendezvous->path_fd, &st) != 0) {
        return errno;
    }
    if (asprintf(&rendezvous->fd_value, "%d:%" PRIuMAX ":%" PRIuMAX, rendezvous->path_fd,
                 (uintmax_t)st.st_dev, (uintmax_t)st.st_ino) < 0) {
        rendezvous->fd_value = NULL;
        return ENOMEM;
    }
    return 0;
}

/* The URI is for processes elsewhere in the tree, so a relative directory is spelled out. */
static int make_uri(struct sx_rendezvous *rendezvous, const char *dir)
{
    char absolute[PATH_MAX], link[64];

    if (dir[0] != '/') {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", rendezvous->parent_fd);
        const ssize_t n = readlink(link, absolute, sizeof(absolute) - 1);

        if (n < 0) {
            return errno;
        }
        absolute[n] = '\0';
        dir = absolute;
    }
    if (asprintf(&rendezvous->uri, SX_RENDEZVOUS_SCHEME "%s/%s/" SOCKET_NAME, dir,
                 rendezvous->dir_name) < 0) {
        rendezvous->uri = NULL;
        return ENOMEM;
    }
    return 0;
}

/* A loop may accept all that wait at once, so they are few beside the descriptors that this process
 * may have; further ones wait in their connect(2). */
static int listen_backlog(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 8 > SX_LISTEN_BACKLOG_MAX) {
        return SX_LISTEN_BACKLOG_MAX;
    }
    return limit.rlim_cur / 8 < SX_LISTEN_BACKLOG_MIN ? SX_LISTEN_BACKLOG_MIN
                                                      : (int)(limit.rlim_cur / 8);
}

static int listen_on(int fd)
{
    sx_socket_refuse_rights(fd); /* and so on every connection to it */
    return listen(fd, listen_backlog()) == 0 ? 0 : errno;
}

/* The second socket, which every process of this network namespace can reach.  Return: 0 or an
 * errno value; EADDRINUSE: another process has guessed all names that were tried. */
static int open_abstract(struct sx_rendezvous *rendezvous)
{
    struct sx_address address;
    char name[sizeof(address.un.sun_path)];
    int err = EADDRINUSE;

    rendezvous->abstract_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (rendezvous->abstract_fd < 0) {
        return errno;
    }
    for (int i = 0; i < SX_NAME_TRIES_MAX && err == EADDRINUSE; i++) {
        uint64_t random;

        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
            return errno;
        }
        snprintf(name, sizeof(name), SX_RENDEZVOUS_NAME "%u-%d-%" PRIu64 "-%016" PRIx64,
                 (unsigned)geteuid(), (int)getpid(), sx_process_start_ticks(), random);
        (void)sx_address_of_name(&address, name);
        err = sx_address_bind(rendezvous->abstract_fd, &address);
    }
    if (err == 0) {
        err = listen_on(rendezvous->abstract_fd);
    }
    if (err == 0 &&
        asprintf(&rendezvous->uri, SX_RENDEZVOUS_SCHEME SX_RENDEZVOUS_ABSTRACT "%s", name) < 0) {
        rendezvous->uri = NULL;
        err = ENOMEM;
    }
    return err;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void remove_directory(struct sx_rendezvous *rendezvous)
{
    if (rendezvous->dir_fd >= 0) {
        remove_socket(rendezvous->dir_fd);
    }
    if (rendezvous->dir_name[0] != '\0') {
        unlinkat(rendezvous->parent_fd, rendezvous->dir_name, AT_REMOVEDIR);
        rendezvous->dir_name[0] = '\0';
    }
    close_fd(&rendezvous->dir_fd);
    close_fd(&rendezvous->parent_fd);
}

/* A client that finds the name may connect, so the name is made after the listen call.  Return: as
 * open_steps. */
static int name_directory(struct sx_rendezvous *rendezvous,
                          const struct sx_rendezvous_options *options, const char **ret_doing)
{
    if (renameat(rendezvous->dir_fd, SOCKET_NAME_UNHEARD, rendezvous->dir_fd, SOCKET_NAME) != 0) {
        return errno;
    }
    /* The directory changes its owner last: until then no other user can write in it. */
    *ret_doing = "cannot give the private directory to its owner";
    if (options->uid != geteuid() && fchown(rendezvous->dir_fd, options->uid, options->gid) != 0) {
        return errno;
    }
    return make_uri(rendezvous, options->dir);
}

/* Return: 0 or an errno value, with what was being done in *ret_doing. */
static int open_steps(struct sx_rendezvous *rendezvous, const struct sx_rendezvous_options *options,
                      const char **ret_doing)
{
    int err;

    *ret_doing = "cannot make a private directory";
    rendezvous->parent_fd = open(options->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rendezvous->parent_fd < 0) {
        return errno;
    }
    remove_stale(rendezvous->parent_fd, options->uid);
    err = make_directory(rendezvous, options->uid);
    if (err != 0) {
        return err;
    }
    *ret_doing = "cannot make a socket";
    const int socket_fd = bind_socket(rendezvous, options);

    if (socket_fd < 0) {
        return -socket_fd;
    }
    err = keep_path_fd(rendezvous, socket_fd, options->inherit);
    if (err != 0) {
        return err;
    }
    *ret_doing = "cannot listen";
    err = listen_on(rendezvous->listen_fd);
    if (err != 0) {
        return err;
    }
    if (!options->keep_dir) {
        err = open_abstract(rendezvous);
        if (err == 0) {
            remove_directory(rendezvous);
        }
        if (err == 0 || err == EMFILE || err == ENFILE || err == ENOMEM) {
            return err;
        }
        sx_log(SX_LOG_INFO, "no abstract socket here (%s): the directory stays", strerror(err));
        close_fd(&rendezvous->abstract_fd);
    }
    return name_directory(rendezvous, options, ret_doing);
}

pmix_status_t sx_rendezvous_open(struct sx_rendezvous *rendezvous,
                                 const struct sx_rendezvous_options *options)
{
    const char *doing;
    uint8_t random;

    *rendezvous = SX_RENDEZVOUS_NULL;
    if (getrandom(&random, 0, 0) != 0) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED, "getrandom: %s: the server's socket gets no name%s",
                        strerror(errno), sx_refused_advice(errno));
    }
    rendezvous->creator_pid = getpid();
    const int err = open_steps(rendezvous, options, &doing);

    if (err != 0) {
        sx_rendezvous_close(rendezvous);
        return fail_with(options->dir, err, doing);
    }
    return PMIX_SUCCESS;
}

static void close_listener(int *fd)
{
    if (*fd >= 0) {
        sx_socket_close_listener(*fd);
        *fd = -1;
    }
}

void sx_rendezvous_close(struct sx_rendezvous *rendezvous)
{
    if (rendezvous->creator_pid == 0) {
        return; /* zeroed, or closed before */
    }
    /* A forked child has the descriptors only; directory and listening belong to its parent. */
    if (rendezvous->creator_pid == getpid()) {
        close_listener(&rendezvous->listen_fd);
        close_listener(&rendezvous->abstract_fd);
        remove_directory(rendezvous);
    }
    close_fd(&rendezvous->listen_fd);
    close_fd(&rendezvous->abstract_fd);
    close_fd(&rendezvous->path_fd);
    close_fd(&rendezvous->dir_fd);
    close_fd(&rendezvous->parent_fd);
    free(rendezvous->uri);
    free(rendezvous->fd_value);
    *rendezvous = SX_RENDEZVOUS_NULL;
}
