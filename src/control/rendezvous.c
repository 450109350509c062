/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rendezvous.c - a private directory with one socket, and the way of a client to it.
 *
 *   NONE --mkdirat, checked through its descriptor--> DIRECTORY --bind, chown--> BOUND
 *        --listen, and only then its name--> NAMED --directory given to its owner--> OPEN
 *        --close, or any failure--> NONE
 *
 * Every step but the first goes through descriptors, so that nobody who can write the parent
 * directory can put something else in our way.  The parent itself is the user's choice and may be
 * a link, as /tmp is on some systems.  A directory whose server was killed is removed by the next
 * server of the same user; it looks at SX_STALE_SCAN_MAX names at most. */
#include "control/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "control/socket.h"

#define SX_LISTEN_BACKLOG_MAX 4096
#define SX_LISTEN_BACKLOG_MIN 16
#define SX_STALE_SCAN_MAX 1024
#define SX_STALE_AGE_SEC 60 /* a directory without a socket may be in the making */
#define SX_NAME_TRIES_MAX 16
#define SX_PATH_FD_MIN 20 /* out of the way of what shells and scripts redirect */
#define SOCKET_NAME "s"
#define SOCKET_NAME_UNHEARD "u" /* until it listens: whoever finds SOCKET_NAME may ask it */
#define URI_SCHEME "unix:"

/* ---- addresses ---------------------------------------------------------------------------- */

/* "/proc/self/fd/N/s", or "/proc/self/fd/N" when @name is NULL: short for a path of any length.
 * Return: false when @name does not fit. */
static bool make_address(struct sockaddr_un *ret, int fd, const char *name)
{
    int n;

    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (name != NULL) {
        n = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", fd, name);
    } else {
        n = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d", fd);
    }
    return n > 0 && (size_t)n < sizeof(ret->sun_path);
}

static int connect_address(int fd, const struct sockaddr_un *address)
{
    int rc;

    do {
        rc = connect(fd, (const struct sockaddr *)(const void *)address, sizeof(*address));
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

/* ---- errors that say what to do ----------------------------------------------------------- */

static pmix_status_t fail_with(const char *dir, int err, const char *doing)
{
    switch (err) {
    case ENOENT:
    case ENOTDIR:
        return SX_RAISE(PMIX_ERR_NOT_FOUND,
                        "%s in '%s': there is no such directory; set TMPDIR to one that exists",
                        doing, dir);
    case EACCES:
    case EPERM:
    case EROFS:
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "%s in '%s': %s; set TMPDIR to a directory that you may write", doing, dir,
                        strerror(err));
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
                        "%s in '%s': %s; set TMPDIR to another directory", doing, dir,
                        strerror(err));
    }
}

/* ---- what killed servers left ------------------------------------------------------------- */

/* Whether process @pid, which may have ended, made the socket at the other end of @fd listen: the
 * kernel keeps the number of the one that did, and 0 stands for one of another container.  An
 * io_uring of one that has ended may still be on its way out, or a child of it have the socket:
 * nobody accepts. */
static bool listener_was(int fd, pid_t pid)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.pid == pid;
}

/* True when nobody serves at the socket in @dir_fd, which process @gone_pid seems to have made;
 * *ret_there tells whether there is one. */
static bool is_deserted(int dir_fd, pid_t gone_pid, bool *ret_there)
{
    struct sockaddr_un address;
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
    (void)make_address(&address, dir_fd, SOCKET_NAME);
    const int err = connect_address(fd, &address);
    const bool deserted = err == ECONNREFUSED || (err == 0 && listener_was(fd, gone_pid));

    close(fd);
    return deserted;
}

static void remove_socket(int dir_fd)
{
    unlinkat(dir_fd, SOCKET_NAME, 0);
    unlinkat(dir_fd, SOCKET_NAME_UNHEARD, 0);
}

/* Remove @name under @parent_fd if it is a directory of ours whose server has gone.  A process id
 * may mean another process in another container, so the socket is asked, too. */
static void remove_if_stale(int parent_fd, const char *name, uid_t uid)
{
    unsigned name_uid, name_random;
    struct stat st;
    int name_pid, end = 0;
    bool there;

    if (sscanf(name, "shmix-%u-%d-%8x%n", &name_uid, &name_pid, &name_random, &end) != 3 ||
        name[end] != '\0' || name_uid != uid || name_pid <= 0 || kill(name_pid, 0) == 0 ||
        errno != ESRCH) {
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
    /* Somebody may have put another one in its place meanwhile.  Set-group-id may be inherited. */
    if (fstat(rendezvous->dir_fd, &st) != 0) {
        return errno;
    }
    return st.st_uid == geteuid() && (st.st_mode & 0777) == 0700 ? 0 : EPERM;
}

/* Return: an O_PATH descriptor of the bound socket, or -errno. */
static int bind_socket(struct sx_rendezvous *rendezvous,
                       const struct sx_rendezvous_options *options)
{
    struct sockaddr_un address;
    struct stat st;

    rendezvous->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode of the socket before it is bound becomes, less the umask, the mode of its file. */
    if (rendezvous->listen_fd < 0 || fchmod(rendezvous->listen_fd, 0600) != 0) {
        return -errno;
    }
    (void)make_address(&address, rendezvous->dir_fd, SOCKET_NAME_UNHEARD);
    if (bind(rendezvous->listen_fd, (const struct sockaddr *)(const void *)&address,
             sizeof(address)) != 0) {
        return -errno;
    }
    const int fd = openat(rendezvous->dir_fd, SOCKET_NAME_UNHEARD, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) {
        return -errno;
    }
    int err = fstat(fd, &st) != 0 ? errno : 0;

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

/* Keep @socket_fd where children find it, and say so in fd_value. */
static int keep_path_fd(struct sx_rendezvous *rendezvous, int socket_fd)
{
    struct stat st;

    if (fstat(socket_fd, &st) != 0) {
        return errno;
    }
    rendezvous->path_fd = fcntl(socket_fd, F_DUPFD, SX_PATH_FD_MIN);
    if (rendezvous->path_fd < 0) {
        rendezvous->path_fd = fcntl(socket_fd, F_DUPFD, STDERR_FILENO + 1);
    }
    if (rendezvous->path_fd < 0) {
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
    if (asprintf(&rendezvous->uri, URI_SCHEME "%s/%s/" SOCKET_NAME, dir, rendezvous->dir_name) <
        0) {
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
    err = options->keep_fd ? keep_path_fd(rendezvous, socket_fd) : 0;
    close(socket_fd);
    if (err != 0) {
        return err;
    }
    *ret_doing = "cannot listen";
    sx_socket_refuse_rights(rendezvous->listen_fd); /* and so on every connection to it */
    if (listen(rendezvous->listen_fd, listen_backlog()) != 0 ||
        renameat(rendezvous->dir_fd, SOCKET_NAME_UNHEARD, rendezvous->dir_fd, SOCKET_NAME) != 0) {
        return errno;
    }
    /* Given away last: while we work in it, it is ours alone. */
    *ret_doing = "cannot give the private directory to its owner";
    if (options->uid != geteuid() && fchown(rendezvous->dir_fd, options->uid, options->gid) != 0) {
        return errno;
    }
    return make_uri(rendezvous, options->dir);
}

pmix_status_t sx_rendezvous_open(struct sx_rendezvous *rendezvous,
                                 const struct sx_rendezvous_options *options)
{
    const char *doing;

    *rendezvous = (struct sx_rendezvous){
        .listen_fd = -1, .path_fd = -1, .dir_fd = -1, .parent_fd = -1, .creator_pid = getpid()
    };
    const int err = open_steps(rendezvous, options, &doing);

    if (err != 0) {
        sx_rendezvous_close(rendezvous);
        return fail_with(options->dir, err, doing);
    }
    return PMIX_SUCCESS;
}

static void close_if_open(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void sx_rendezvous_close(struct sx_rendezvous *rendezvous)
{
    if (rendezvous->creator_pid == 0) {
        return; /* zeroed, or closed before */
    }
    /* A forked child has the descriptors only; directory and listening belong to its parent. */
    if (rendezvous->creator_pid == getpid()) {
        if (rendezvous->listen_fd >= 0) {
            sx_socket_close_listener(rendezvous->listen_fd);
            rendezvous->listen_fd = -1;
        }
        if (rendezvous->dir_fd >= 0) {
            remove_socket(rendezvous->dir_fd);
        }
        if (rendezvous->dir_name[0] != '\0') {
            unlinkat(rendezvous->parent_fd, rendezvous->dir_name, AT_REMOVEDIR);
        }
    }
    close_if_open(rendezvous->listen_fd);
    close_if_open(rendezvous->path_fd);
    close_if_open(rendezvous->dir_fd);
    close_if_open(rendezvous->parent_fd);
    free(rendezvous->uri);
    free(rendezvous->fd_value);
    *rendezvous = (struct sx_rendezvous){
        .listen_fd = -1, .path_fd = -1, .dir_fd = -1, .parent_fd = -1
    };
}

/* ---- client ------------------------------------------------------------------------------- */

/* Return: true when @value names a descriptor that still is that socket. */
static bool parse_fd_value(const char *value, int *ret_fd)
{
    uintmax_t dev, ino;
    struct stat st;
    int fd, end = 0;

    if (sscanf(value, "%d:%" SCNuMAX ":%" SCNuMAX "%n", &fd, &dev, &ino, &end) != 3 ||
        value[end] != '\0' || fd < 0 || fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode) ||
        (uintmax_t)st.st_dev != dev || (uintmax_t)st.st_ino != ino) {
        return false;
    }
    *ret_fd = fd;
    return true;
}

static int connect_path(int fd, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const size_t size = strlen(path);
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];

    if (size < sizeof(address.sun_path)) {
        memcpy(address.sun_path, path, size);
        return connect_address(fd, &address);
    }
    if (slash == NULL || (size_t)(slash - path) >= sizeof(dir)) {
        return ENAMETOOLONG;
    }
    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = '\0';
    const int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (dir_fd < 0) {
        return errno;
    }
    const int err = make_address(&address, dir_fd, slash + 1) ? connect_address(fd, &address)
                                                              : ENAMETOOLONG;

    close(dir_fd);
    return err;
}

/* Return: 0 or an errno value; *ret_name is the variable that was followed, NULL: none is set. */
static int connect_by_environment(int fd, const char **ret_name, const char **ret_value)
{
    const char *fd_value = getenv(SX_ENV_SERVER_FD);
    const char *uri = getenv(SX_ENV_SERVER_URI);
    struct sockaddr_un address;
    int path_fd, err = ENOENT;

    *ret_name = NULL;
    if (fd_value != NULL && *fd_value != '\0') {
        *ret_name = SX_ENV_SERVER_FD;
        *ret_value = fd_value;
        if (parse_fd_value(fd_value, &path_fd)) {
            (void)make_address(&address, path_fd, NULL);
            err = connect_address(fd, &address);
            if (err == 0) {
                return 0;
            }
        }
    }
    if (uri != NULL && *uri != '\0') {
        *ret_name = SX_ENV_SERVER_URI;
        *ret_value = uri;
        if (strncmp(uri, URI_SCHEME, strlen(URI_SCHEME)) != 0) {
            return EINVAL;
        }
        err = connect_path(fd, uri + strlen(URI_SCHEME));
    }
    return err;
}

static pmix_status_t status_of_connect(int err, const char *name, const char *value)
{
    switch (err) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
        sx_log(SX_LOG_WARN, "no server listens where %s=%s says: has it ended?", name, value);
        return PMIX_ERR_UNREACH;
    case EINVAL:
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s=%s is not " URI_SCHEME "PATH", name, value);
    case EACCES:
    case EPERM:
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "the server at %s=%s does not let uid %u in: it serves another user", name,
                        value, (unsigned)geteuid());
    default:
        return SX_RAISE(sx_status_from_errno(err), "cannot connect to the server at %s=%s: %s",
                        name, value, strerror(err));
    }
}

/* A server of another user could make us believe anything. */
static pmix_status_t check_server(int fd, const char *name, const char *value)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "SO_PEERCRED: %s", strerror(errno));
    }
    if (cred.uid != 0 && cred.uid != geteuid()) {
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "the server at %s=%s runs as uid %u, neither root nor our uid %u", name,
                        value, (unsigned)cred.uid, (unsigned)geteuid());
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_rendezvous_connect(int *ret_fd)
{
    const char *name = NULL, *value = NULL;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return SX_RAISE(sx_status_from_errno(errno), "no socket to reach the server with: %s%s",
                        strerror(errno),
                        errno == EMFILE ? " (raise the limit of open files: ulimit -n)" : "");
    }
    const int err = connect_by_environment(fd, &name, &value);
    pmix_status_t rc = PMIX_ERR_UNREACH;

    if (err == 0) {
        rc = check_server(fd, name, value);
    } else if (name != NULL) {
        rc = status_of_connect(err, name, value);
    }
    if (rc != PMIX_SUCCESS) {
        close(fd);
        return rc;
    }
    *ret_fd = fd;
    return PMIX_SUCCESS;
}

/* ---- tool --------------------------------------------------------------------------------- */

/* Whether descriptor @name in @fds_fd seems to be a rendezvous: the last name of its path says so,
 * and whoever listens there is asked in any case. */
static bool may_be_rendezvous(int fds_fd, const char *name)
{
    char path[PATH_MAX];
    const ssize_t n = readlinkat(fds_fd, name, path, sizeof(path) - 1);
    const char *last;

    if (n <= 0) {
        return false;
    }
    path[n] = '\0';
    last = strrchr(path, '/');
    return last != NULL && strncmp(last, "/shmix-", 7) == 0;
}

/* Return: 0 and *ret_fd, or an errno value. */
static int connect_descriptor(pid_t pid, const char *name, int *ret_fd)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int n = snprintf(address.sun_path, sizeof(address.sun_path),
                           "/proc/%d/fd/%.20s/" SOCKET_NAME, (int)pid, name);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int err = fd < 0 ? errno : 0;

    if (err == 0) {
        err = n > 0 && (size_t)n < sizeof(address.sun_path) ? connect_address(fd, &address)
                                                            : ENAMETOOLONG;
    }
    if (err == 0 && !listener_was(fd, pid)) {
        err = ENOENT; /* a descriptor of something else */
    }
    if (err != 0 && fd >= 0) {
        close(fd);
    }
    *ret_fd = fd;
    return err;
}

pmix_status_t sx_rendezvous_connect_process(pid_t pid, int *ret_fd)
{
    char path[64];
    const struct dirent *entry;
    int err = ENOENT, fd = -1;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *const dir = opendir(path);

    if (dir == NULL) {
        err = errno;
    }
    while (dir != NULL && err != 0 && (entry = readdir(dir)) != NULL) {
        if (may_be_rendezvous(dirfd(dir), entry->d_name)) {
            const int tried = connect_descriptor(pid, entry->d_name, &fd);

            err = tried == ENOENT || tried == ENOTDIR ? err : tried;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    if (err == EACCES || err == EPERM) {
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (err != 0) {
        return err == ENOENT || err == ECONNREFUSED ? PMIX_ERR_NOT_FOUND
                                                    : sx_status_from_errno(err);
    }
    *ret_fd = fd;
    return PMIX_SUCCESS;
}
