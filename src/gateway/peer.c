/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* peer.c - ask the kernel which user, and which process, has the other end of a connection. */
#include "gateway/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pmix_common.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define ENVIRONMENT_BYTES_MAX ((size_t)256 << 10)
#define ANSWER_BYTES 1024
#define CHILDREN_MAX 65536u /* of one process */
#define LEVELS_MAX 4u       /* a rank may have been started by a script */
#define ANSWER_SEC 2        /* the kernel answers within the call that asks */

/* ---- the user -------------------------------------------------------------------------------- */

/* The request for the socket whose own address is the peer's of @fd.  Return: 0 or errno. */
static int request_make(int fd, struct inet_diag_req_v2 *ret)
{
    struct sockaddr_in own = { 0 }, other = { 0 };
    socklen_t own_size = sizeof(own), other_size = sizeof(other);

    if (getsockname(fd, (struct sockaddr *)(void *)&own, &own_size) != 0 ||
        getpeername(fd, (struct sockaddr *)(void *)&other, &other_size) != 0) {
        return errno;
    }
    if (own.sin_family != AF_INET || other.sin_family != AF_INET) {
        return EAFNOSUPPORT;
    }
    *ret = (struct inet_diag_req_v2){
        .sdiag_family = AF_INET,
        .sdiag_protocol = IPPROTO_TCP,
        .idiag_states = UINT32_MAX,
        .id = { .idiag_sport = other.sin_port,
                .idiag_dport = own.sin_port,
                .idiag_src = { other.sin_addr.s_addr },
                .idiag_dst = { own.sin_addr.s_addr },
                .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } },
    };
    return 0;
}

/* Return: 0 or errno. */
static int ask(int netlink, const struct inet_diag_req_v2 *request, struct inet_diag_msg *ret)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } question = {
        .header = { .nlmsg_len = sizeof(question),
                    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                    .nlmsg_flags = NLM_F_REQUEST },
        .request = *request,
    };
    union {
        struct nlmsghdr header;
        uint8_t bytes[ANSWER_BYTES];
    } answer;
    const struct timeval limit = { .tv_sec = ANSWER_SEC };

    setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (send(netlink, &question, sizeof(question), 0) < 0) {
        return errno;
    }
    const ssize_t got = recv(netlink, &answer, sizeof(answer), 0);

    if (got < 0) {
        return errno;
    }
    if (!NLMSG_OK(&answer.header, (size_t)got)) {
        return EPROTO;
    }
    if (answer.header.nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *const error = NLMSG_DATA(&answer.header);

        return answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(*error)) || error->error == 0
                   ? EPROTO
                   : -error->error;
    }
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(*ret))) {
        return EPROTO;
    }
    memcpy(ret, NLMSG_DATA(&answer.header), sizeof(*ret));
    return 0;
}

int sx_gateway_peer_find(int fd, struct sx_gateway_peer *ret)
{
    struct inet_diag_req_v2 request;
    struct inet_diag_msg answer = { .idiag_inode = 0 };
    int why = request_make(fd, &request);

    if (why != 0) {
        return why;
    }
    const int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (netlink < 0) {
        return errno;
    }
    why = ask(netlink, &request, &answer);
    close(netlink);
    if (why != 0) {
        return why == ENOENT ? ENOTCONN : why;
    }
    /* The answer has to be about this pair.  A socket without an inode has no owner, and its user
     * reads as 0. */
    if (answer.id.idiag_sport != request.id.idiag_sport ||
        answer.id.idiag_dport != request.id.idiag_dport ||
        answer.id.idiag_src[0] != request.id.idiag_src[0] ||
        answer.id.idiag_dst[0] != request.id.idiag_dst[0]) {
        return EPROTO;
    }
    if (answer.idiag_inode == 0) {
        return ENOTCONN;
    }
    *ret = (struct sx_gateway_peer){ .uid = answer.idiag_uid, .inode = answer.idiag_inode };
    return 0;
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Whether process @pid has the socket @link ("socket:[INODE]"). */
static bool has_socket(pid_t pid, const char *link)
{
    char path[64], target[64];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *const fds = opendir(path);
    const struct dirent *entry;

    while (fds != NULL && !found && (entry = readdir(fds)) != NULL) {
        const ssize_t size = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target) - 1);

        if (size > 0) {
            target[size] = '\0';
            found = strcmp(target, link) == 0;
        }
    }
    if (fds != NULL) {
        closedir(fds);
    }
    return found;
}

/* Whether the environment of process @pid has all of @entries ("NAME=VALUE"). */
static bool has_entries(pid_t pid, char *const entries[2], char *bytes)
{
    size_t size = 0;
    unsigned found = 0;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    for (ssize_t got = 1; got > 0 && size < ENVIRONMENT_BYTES_MAX - 1;) {
        got = read(fd, bytes + size, ENVIRONMENT_BYTES_MAX - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    bytes[size] = '\0';
    for (const char *at = bytes; at < bytes + size; at += strlen(at) + 1) {
        for (unsigned i = 0; i < 2; i++) {
            found |= strcmp(at, entries[i]) == 0 ? 1u << i : 0u;
        }
    }
    return found == 3;
}

struct search {
    const struct sx_gateway_peer *peer;
    char link[64];
    char *entries[2];
    char *bytes; /* room for an environment; NULL: any process is searched */
};

static bool is_it(const struct search *search, pid_t pid)
{
    struct stat st;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return stat(path, &st) == 0 && st.st_uid == search->peer->uid &&
           (search->bytes == NULL || has_entries(pid, search->entries, search->bytes)) &&
           has_socket(pid, search->link);
}

static pid_t search_all(const struct search *search)
{
    DIR *const all = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;

    while (all != NULL && (entry = readdir(all)) != NULL) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid > 0 && (found == 0 || pid < found) && is_it(search, pid)) {
            found = pid;
        }
    }
    if (all != NULL) {
        closedir(all);
    }
    return found;
}

/* ---- the children of a process ---- */

struct children {
    pid_t *pids;
    size_t count, room;
};

/* Add those that thread @thread of process @pid has started.  A kernel may have no such file. */
static void children_add(struct children *children, pid_t pid, const char *thread)
{
    char path[64 + sizeof(((struct dirent *)NULL)->d_name)];
    int child;

    snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, thread);
    FILE *const file = fopen(path, "re");

    while (file != NULL && children->count < CHILDREN_MAX && fscanf(file, "%d", &child) == 1 &&
           SX_ARRAY_RESERVE(children->pids, children->count, children->room, 64)) {
        children->pids[children->count++] = child;
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* Children of @pid, and theirs.  A launcher starts its ranks in their order, so the search begins
 * with the child that has the number @first. */
static pid_t search_below(const struct search *search, pid_t pid, uint32_t first, unsigned levels)
{
    struct children children = { .count = 0 };
    const struct dirent *entry;
    char path[64];
    pid_t found = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *const threads = opendir(path);

    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] != '.') {
            children_add(&children, pid, entry->d_name);
        }
    }
    if (threads != NULL) {
        closedir(threads);
    }
    for (size_t i = 0; i < children.count && found == 0; i++) {
        const pid_t child = children.pids[(first + i) % children.count];

        found = is_it(search, child) ? child : 0;
    }
    for (size_t i = 0; i < children.count && found == 0 && levels > 1; i++) {
        found = search_below(search, children.pids[i], 0, levels - 1);
    }
    free(children.pids);
    return found;
}

pid_t sx_gateway_peer_process(const struct sx_gateway_peer *peer, pid_t starter, const char *nspace,
                              uint32_t rank)
{
    char name[sizeof("PMIX_NAMESPACE=") + PMIX_MAX_NSLEN], number[32];
    struct search search = { .peer = peer,
                             .entries = { name, number },
                             .bytes = malloc(ENVIRONMENT_BYTES_MAX) };
    pid_t found = 0;

    snprintf(search.link, sizeof(search.link), "socket:[%llu]", (unsigned long long)peer->inode);
    snprintf(name, sizeof(name), "PMIX_NAMESPACE=%s", nspace);
    snprintf(number, sizeof(number), "PMIX_RANK=%u", rank);
    if (search.bytes != NULL) {
        found = starter > 1 ? search_below(&search, starter, rank, LEVELS_MAX) : 0;
        found = found != 0 ? found : search_all(&search);
    }
    free(search.bytes);
    search.bytes = NULL;
    return found != 0 ? found : search_all(&search);
}
