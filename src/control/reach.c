/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reach.c - the way of a client, and of a tool, to the rendezvous of a server.
 *
 *     SHMIX_SERVER_FD --gone--> SHMIX_SERVER_URI --nobody at an abstract name--> /proc/PID/fd
 *
 * The peer is checked before a byte is sent: the kernel has the credentials of the listening
 * process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/process.h"
#include "control/rendezvous.h"
#include "control/socket.h"

/* The variable that a client follows. */
struct way {
    const char *name; /* NULL: none is set */
    const char *value;
    int fd; /* the socket */
};

/* ---- tool --------------------------------------------------------------------------------- */

/* Whether descriptor @name in @fds_fd seems to be a rendezvous: its path has that form, and the
 * listening process is checked in any case. */
static bool may_be_rendezvous(int fds_fd, const char *name)
{
    char path[PATH_MAX];
    const ssize_t n = readlinkat(fds_fd, name, path, sizeof(path) - 1);

    if (n <= 0) {
        return false;
    }
    path[n] = '\0';
    return strstr(path, "/shmix-") != NULL;
}

/* Return: 0 and *ret_fd, or an errno value. */
static int connect_descriptor(pid_t pid, const char *name, int *ret_fd)
{
    struct sx_address address;
    struct ucred cred;
    char path[64];
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int err = fd < 0 ? errno : 0;

    if (err == 0) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", (int)pid, name);
        err = sx_address_of_path(&address, path) ? sx_address_connect(fd, &address) : ENAMETOOLONG;
    }
    if (err == 0 && (sx_address_listener(fd, &cred) != 0 || cred.pid != pid)) {
        err = ENOENT; /* another server's, inherited */
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

            err = tried == ENOENT || tried == ECONNREFUSED ? err : tried;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    if (err == EACCES || err == EPERM) {
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (err != 0) {
        return err == ENOENT ? PMIX_ERR_NOT_FOUND : sx_status_from_errno(err);
    }
    *ret_fd = fd;
    return PMIX_SUCCESS;
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
    struct sx_address address;
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];

    if (sx_address_of_path(&address, path)) {
        return sx_address_connect(fd, &address);
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
    const int err = sx_address_of_fd(&address, dir_fd, slash + 1) ? sx_address_connect(fd, &address)
                                                                  : ENAMETOOLONG;

    close(dir_fd);
    return err;
}

/* The process that the abstract address @value names.  Return: false when it is none. */
static bool parse_abstract(const char *value, pid_t *ret_pid, uint64_t *ret_start_ticks)
{
    int pid;

    if (sscanf(value, SX_RENDEZVOUS_SCHEME SX_RENDEZVOUS_ABSTRACT "shmix-%*u-%d-%" SCNu64 "-", &pid,
               ret_start_ticks) != 2 ||
        pid <= 0) {
        return false;
    }
    *ret_pid = pid;
    return true;
}

/* No process listens at the name: the server has gone, or this is another network namespace. */
static int connect_abstract(struct way *way, pid_t pid)
{
    struct sx_address address;
    int fd;

    if (!sx_address_of_name(&address, way->value + strlen(SX_RENDEZVOUS_SCHEME) + 1)) {
        return EINVAL;
    }
    const int err = sx_address_connect(way->fd, &address);

    if (err != ECONNREFUSED || sx_rendezvous_connect_process(pid, &fd) != PMIX_SUCCESS) {
        return err;
    }
    close(way->fd);
    way->fd = fd;
    return 0;
}

/* Connect to the address in the way's value.  Return: 0 or an errno value. */
static int connect_by_uri(struct way *way)
{
    uint64_t start_ticks;
    pid_t pid;

    if (parse_abstract(way->value, &pid, &start_ticks)) {
        return connect_abstract(way, pid);
    }
    return strncmp(way->value, SX_RENDEZVOUS_SCHEME "/", strlen(SX_RENDEZVOUS_SCHEME) + 1) == 0
               ? connect_path(way->fd, way->value + strlen(SX_RENDEZVOUS_SCHEME))
               : EINVAL;
}

/* The same, for the address in the environment. */
static int connect_by_environment(struct way *way)
{
    const char *fd_value = getenv(SX_ENV_SERVER_FD);
    const char *uri = getenv(SX_ENV_SERVER_URI);
    struct sx_address address;
    int path_fd, err = ENOENT;

    if (fd_value != NULL && *fd_value != '\0') {
        way->name = SX_ENV_SERVER_FD;
        way->value = fd_value;
        if (parse_fd_value(fd_value, &path_fd)) {
            (void)sx_address_of_fd(&address, path_fd, NULL);
            err = sx_address_connect(way->fd, &address);
            if (err == 0) {
                return 0;
            }
        }
    }
    if (uri == NULL || *uri == '\0') {
        return err;
    }
    way->name = SX_ENV_SERVER_URI;
    way->value = uri;
    return connect_by_uri(way);
}

static pmix_status_t status_of_connect(int err, const struct way *way)
{
    uint64_t start_ticks;
    pid_t pid;

    switch (err) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
        sx_log(SX_LOG_WARN, "no server listens where %s=%s says: has it ended?%s", way->name,
               way->value,
               parse_abstract(way->value, &pid, &start_ticks)
                   ? " If this program has a network namespace of its own and who started it has "
                     "closed what it inherits, as podman does, start the server with "
                     "SHMIX_RENDEZVOUS=directory, and let this program see its directory"
                   : "");
        return PMIX_ERR_UNREACH;
    case EINVAL:
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "%s=%s is neither " SX_RENDEZVOUS_SCHEME "PATH nor " SX_RENDEZVOUS_SCHEME
                        "@NAME of a server",
                        way->name, way->value);
    case EACCES:
    case EPERM:
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "the server at %s=%s does not let uid %u in: it serves another user%s",
                        way->name, way->value, (unsigned)geteuid(),
                        err == EPERM ? ", or a filter of system calls (seccomp) refuses connect"
                                     : "");
    default:
        return SX_RAISE(sx_status_from_errno(err), "cannot connect to the server at %s=%s: %s%s",
                        way->name, way->value, strerror(err), sx_refused_advice(err));
    }
}

/* Whether process @listener is the one in the name.  In another container (0) a pid proves nothing,
 * and the uid has to suffice. */
static bool is_named_process(pid_t listener, pid_t pid, uint64_t start_ticks)
{
    return listener == 0 ||
           (listener == pid && (start_ticks == 0 || sx_process_has_started_at(pid, start_ticks)));
}

/* A user who has no number in this process's user namespace. */
#define NOBODY_UID ((uid_t)65534)

/* A server of another user could send this process any data; an abstract name has no owner. */
static pmix_status_t check_server(const struct way *way)
{
    struct ucred cred;
    const int err = sx_address_listener(way->fd, &cred);
    uint64_t start_ticks;
    pid_t pid;

    if (err != 0) {
        return SX_RAISE(sx_status_from_errno(err), "getsockopt(SO_PEERCRED): %s%s", strerror(err),
                        sx_refused_advice(err));
    }
    if (cred.uid != 0 && cred.uid != geteuid()) {
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "the server at %s=%s runs as uid %u, neither root nor our uid %u%s",
                        way->name, way->value, (unsigned)cred.uid, (unsigned)geteuid(),
                        cred.uid == NOBODY_UID ? ". In a user namespace of its own a rank does not "
                                                 "see which user that is: 'man shmix-containers'"
                                               : "");
    }
    if (parse_abstract(way->value, &pid, &start_ticks) &&
        !is_named_process(cred.pid, pid, start_ticks)) {
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "process %d listens at %s=%s, not the server whose name that is: it has "
                        "ended, or another program has taken its name",
                        (int)cred.pid, way->name, way->value);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t way_go(struct way way, int (*go)(struct way *way), int *ret_fd)
{
    way.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (way.fd < 0) {
        return SX_RAISE(sx_status_from_errno(errno), "no socket to reach the server with: %s%s",
                        strerror(errno),
                        errno == EMFILE ? " (raise the limit of open files: ulimit -n)" : "");
    }
    const int err = go(&way);
    pmix_status_t rc = PMIX_ERR_UNREACH;

    if (err == 0) {
        rc = check_server(&way);
    } else if (way.name != NULL) {
        rc = status_of_connect(err, &way);
    }
    if (rc != PMIX_SUCCESS) {
        close(way.fd);
        return rc;
    }
    sx_log(SX_LOG_DEBUG, "has found its server by %s=%s", way.name, way.value);
    *ret_fd = way.fd;
    return PMIX_SUCCESS;
}

pmix_status_t sx_rendezvous_connect(int *ret_fd)
{
    return way_go((struct way){ .fd = -1 }, connect_by_environment, ret_fd);
}

bool sx_rendezvous_is_deserted(const char *address, pid_t pid)
{
    struct way way = { .value = address,
                       .fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) };

    if (way.fd < 0) {
        return false; /* not known */
    }
    const int err = connect_by_uri(&way);
    const bool deserted = err == ECONNREFUSED || err == ENOENT || err == ENOTDIR || err == EINVAL ||
                          (err == 0 && sx_address_has_gone(way.fd, pid));

    close(way.fd);
    return deserted;
}

pmix_status_t sx_rendezvous_connect_uri(const char *name, const char *uri, int *ret_fd)
{
    return way_go((struct way){ .fd = -1, .name = name, .value = uri }, connect_by_uri, ret_fd);
}
