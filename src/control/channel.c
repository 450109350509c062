/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* channel.c - frames in and out of one SEQPACKET socket.
 *
 *   OPEN --frame passes the checks--> on_frame(frame)
 *     \--end, refused frame, queue full, socket error--> CLOSED, on_frame(NULL, why)
 *
 * A peer's messages are checked before anything reads them: the frame by message.c, a bulk body by
 * bulk.c as well.  The queue for a slow peer is bounded by SX_CHANNEL_QUEUE_MAX, except that one
 * message may always wait. */
#include "control/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/system/process.h"
#include "control/socket.h"

#define IOV_COUNT_MAX 15      /* pieces of a body; the header is one more */
#define FD_CHARGE_BYTES 4096u /* a waiting descriptor: 256 of them fill a queue */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* A message that the socket did not take yet. */
struct waiting {
    struct sx_list link;
    size_t charge; /* what it counts against the bound */
    size_t size;
    int fds[SX_FRAME_FDS_MAX]; /* ours */
    int fd_count;
    uint8_t bytes[];
};

/* ---- frames ------------------------------------------------------------------------------- */

void sx_frame_release(struct sx_frame *frame)
{
    for (int i = 0; i < frame->fd_count; i++) {
        if (frame->fds[i] >= 0) {
            close(frame->fds[i]);
        }
    }
    frame->fd_count = 0;
    if (frame->bulk_map != NULL) {
        munmap(frame->bulk_map, frame->bulk_map_size);
        frame->bulk_map = NULL;
    }
    sx_pages_free(&frame->bulk_pages);
    free(frame->procs);
    frame->procs = NULL;
    frame->body = NULL;
    frame->body_size = 0;
}

static bool is_ahead(const struct sx_frame *frame, unsigned index)
{
    return frame->opened.signature->parts[index].ahead &&
           frame->opened.parts[index].count > SX_FRAME_PROCS_AT_ONCE_MAX;
}

const struct sx_opened_part *sx_frame_long_list(const struct sx_frame *frame)
{
    unsigned i = 0;

    while (i < SX_BODY_PARTS_MAX && !is_ahead(frame, i)) {
        i++;
    }
    return i < SX_BODY_PARTS_MAX ? &frame->opened.parts[i] : NULL;
}

pmix_status_t sx_frame_procs(struct sx_frame *frame, unsigned index, pmix_proc_t **ret_procs)
{
    if (frame->procs == NULL || !is_ahead(frame, index)) {
        return sx_part_procs(&frame->opened.parts[index], ret_procs);
    }
    *ret_procs = frame->procs;
    frame->procs = NULL;
    return PMIX_SUCCESS;
}

static void frame_begin(struct sx_frame *frame, const void *bytes)
{
    *frame = (struct sx_frame){ .status = PMIX_SUCCESS };
    memcpy(&frame->header, bytes, sizeof(frame->header));
    frame->body = (const uint8_t *)bytes + sizeof(frame->header);
    frame->body_size = (size_t)frame->header.body_size;
}

/* A body in pages may be long: its owner judges what is flat in it, in steps.  Return: @why, or the
 * reason to refuse the body; then @frame is released. */
static const char *frame_end(struct sx_frame *frame, const char *why)
{
    if (why == NULL && frame->body != NULL) {
        const struct sx_signature *const signature = sx_message_spec(frame->header.kind)->body;

        why = frame->bulk_pages.at != NULL
                  ? sx_body_lay(&frame->opened, signature, frame->body, frame->body_size)
                  : sx_body_open(&frame->opened, signature, frame->body, frame->body_size);
    }
    if (why != NULL) {
        sx_frame_release(frame);
    }
    return why;
}

/* Judge a client's @message and make *ret of it.  Return: NULL, or the reason of a refusal. */
static const char *take_request(struct sx_channel *channel, const struct sx_recv_message *message,
                                struct sx_frame *ret)
{
    const char *why = NULL;

    if (message->rights) {
        return "it sends descriptors, which no client does";
    }
    if (message->truncated) {
        return "message too long";
    }
    if (sx_frame_check(message->bytes, message->size, 0, true, &why) != PMIX_SUCCESS) {
        return why;
    }
    frame_begin(ret, message->bytes);
    if ((ret->header.flags & SX_FRAME_BULK) == 0) {
        return frame_end(ret, NULL);
    }
    ret->body = NULL;
    why = sx_bulk_take(&channel->bulk, &ret->header, &ret->status);
    if (why == NULL && ret->status == PMIX_SUCCESS && (ret->header.flags & SX_FRAME_MORE) == 0) {
        ret->bulk_pages = sx_bulk_give(&channel->bulk, &ret->body_size);
        ret->body = ret->bulk_pages.at;
    }
    return frame_end(ret, why);
}

/* Judge a server's @message and move it, with its descriptors, into *ret.  Return: NULL, or the
 * reason of a refusal (the descriptors are closed). */
static const char *take_answer(struct sx_socket_message *message, struct sx_frame *ret)
{
    const char *why = NULL;

    if (message->truncated) {
        why = "message too long, or descriptors that did not fit";
    } else {
        (void)sx_frame_check(message->bytes, message->size, message->fd_count, false, &why);
    }
    if (why != NULL) {
        sx_socket_close_fds(message);
        return why;
    }
    frame_begin(ret, message->bytes);
    memcpy(ret->fds, message->fds, sizeof(ret->fds));
    ret->fd_count = message->fd_count;
    message->fd_count = 0;
    if ((ret->header.flags & SX_FRAME_BULK) != 0) {
        const int fd = ret->fds[--ret->fd_count]; /* the last one */

        why = sx_bulk_map(fd, ret->header.body_size, &ret->bulk_map);
        close(fd);
        ret->bulk_map_size = ret->bulk_map != NULL ? ret->body_size : 0;
        ret->body = ret->bulk_map;
    }
    return frame_end(ret, why);
}

/* A message ready to go: its header, pieces, descriptors, with a bulk memfd where needed. */
struct outgoing {
    struct sx_frame_header header;
    struct iovec iov[IOV_COUNT_MAX + 1];
    size_t iov_count;
    int fds[SX_FRAME_FDS_MAX];
    int fd_count;
    int bulk_fd; /* ours; -1: none */
};

/* The header and the pieces of the body that have bytes. */
static pmix_status_t gather(struct outgoing *out, uint16_t kind, uint32_t id,
                            const struct iovec *iov, int iov_count)
{
    size_t size = 0;

    sx_assert(iov_count >= 0 && iov_count <= IOV_COUNT_MAX);
    *out = (struct outgoing){ .bulk_fd = -1 };
    for (int i = 0; i < iov_count; i++) {
        if (!sx_add_size(size, iov[i].iov_len, &size)) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        if (iov[i].iov_len > 0) {
            out->iov[++out->iov_count] = iov[i];
        }
    }
    out->header = (struct sx_frame_header){ .kind = kind, .id = id, .body_size = size };
    out->iov[0] = (struct iovec){ .iov_base = &out->header, .iov_len = sizeof(out->header) };
    out->iov_count++;
    return PMIX_SUCCESS;
}

static pmix_status_t make_outgoing(struct outgoing *out, uint16_t kind, uint32_t id,
                                   const struct iovec *iov, int iov_count, const int *fds,
                                   int fd_count)
{
    pmix_status_t rc = gather(out, kind, id, iov, iov_count);

    sx_assert(fd_count >= 0 && fd_count < SX_FRAME_FDS_MAX);
    if (fd_count > 0) {
        memcpy(out->fds, fds, (size_t)fd_count * sizeof(int));
    }
    out->fd_count = fd_count;
    if (rc != PMIX_SUCCESS || out->header.body_size <= SX_FRAME_BODY_MAX) {
        return rc;
    }
    rc = sx_message_size_judge(kind, out->header.body_size);
    if (rc == PMIX_SUCCESS) {
        rc = sx_bulk_make(iov, iov_count, out->header.body_size, &out->bulk_fd);
    }
    if (rc == PMIX_SUCCESS) {
        out->header.flags = SX_FRAME_BULK;
        out->iov_count = 1;
        out->fds[out->fd_count++] = out->bulk_fd;
    }
    return rc;
}

static void close_outgoing(struct outgoing *out)
{
    if (out->bulk_fd >= 0) {
        close(out->bulk_fd);
    }
}

/* ---- server side: the peer ---------------------------------------------------------------- */

/* A pidfd by number may name a later process of the same number; but while the socket is up, the
 * peer that the kernel named still exists. */
static int open_pidfd(int fd, pid_t pid)
{
    struct pollfd poll_fd = { .fd = fd, .events = 0 };
    const int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (pidfd >= 0 && (poll(&poll_fd, 1, 0) != 0)) {
        close(pidfd);
        errno = ESRCH;
        return -1;
    }
    return pidfd;
}

static pmix_status_t read_peer(int fd, struct sx_peer *ret_peer)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "getsockopt(SO_PEERCRED): %s%s",
                        strerror(errno), sx_refused_advice(errno));
    }
    *ret_peer = (struct sx_peer){ .pid = cred.pid, .uid = cred.uid, .gid = cred.gid, .pidfd = -1 };
    return PMIX_SUCCESS;
}

pmix_status_t sx_channel_watch_peer(struct sx_channel *channel)
{
    struct sx_peer *const peer = &channel->peer;
    socklen_t size = sizeof(peer->pidfd);

    if (channel->fd < 0 || peer->pidfd >= 0) {
        return PMIX_SUCCESS;
    }
    if (getsockopt(channel->fd, SOL_SOCKET, SO_PEERPIDFD, &peer->pidfd, &size) != 0) {
        peer->pidfd = -1;
        if (errno == ENOPROTOOPT || errno == EINVAL) {
            peer->pidfd = open_pidfd(channel->fd, peer->pid);
        }
        if (peer->pidfd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
            return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                            "no descriptor to watch client %d with: %s (raise ulimit -n)",
                            (int)peer->pid, strerror(errno));
        }
    }
    return PMIX_SUCCESS;
}

/* The numbers of @channel's process and of @pid are of one namespace: ours. */
static bool is_beside(const struct sx_channel *channel, pid_t pid)
{
    char its[64], ours[64];
    struct stat a, b;

    snprintf(its, sizeof(its), "/proc/%d/ns/pid", (int)channel->peer.pid);
    snprintf(ours, sizeof(ours), "/proc/self/ns/pid");
    return channel->peer.pid > 0 && stat(its, &a) == 0 && stat(ours, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino && sx_process_is_of(pid, channel->peer.uid);
}

void sx_channel_watch_instead(struct sx_channel *channel, pid_t pid)
{
    struct sx_peer *const peer = &channel->peer;
    const int pidfd = pid > 0 && peer->pidfd >= 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (pidfd < 0) {
        return;
    }
    /* Judged while it lives, it is the process of the descriptor. */
    if (is_beside(channel, pid) && !sx_process_has_gone(pidfd)) {
        close(peer->pidfd);
        peer->pidfd = pidfd;
        peer->pid = pid;
    } else {
        close(pidfd);
    }
}

static void hang_up(struct sx_channel *channel);

/* ---- server side: receiving --------------------------------------------------------------- */

/* The pidfd stays open until the owner closes the channel: it may be watched, and a loop that
 * removes the watch must still find the pidfd under its number. */
void sx_channel_drop(struct sx_channel *channel, const char *why, uint64_t now_ns)
{
    if (why != NULL) {
        sx_log(SX_LOG_WARN, "dropped the client with pid %d, uid %u: %s", (int)channel->peer.pid,
               (unsigned)channel->peer.uid, why);
    }
    hang_up(channel);
    channel->on_frame(channel->arg, NULL, why, now_ns);
}

static void on_message(void *arg, const struct sx_recv_message *message, uint64_t now_ns)
{
    struct sx_channel *channel = arg;
    struct sx_frame frame;

    if (channel->fault != NULL || (message->bytes == NULL && !message->rights)) {
        sx_channel_drop(channel, channel->fault, now_ns);
        return;
    }
    const char *why = take_request(channel, message, &frame);

    if (why != NULL) {
        sx_channel_drop(channel, why, now_ns);
        return;
    }
    channel->on_frame(channel->arg, &frame, NULL, now_ns); /* may free the channel */
    sx_frame_release(&frame);
}

void sx_channel_take(struct sx_channel *channel, uint64_t now_ns)
{
    sx_recv_take(&channel->recv, now_ns);
}

static void on_readable(void *arg, uint64_t now_ns)
{
    struct sx_channel *channel = arg;

    if (channel->on_ready != NULL) {
        channel->on_ready(channel->arg, now_ns);
    } else {
        sx_channel_take(channel, now_ns);
    }
}

pmix_status_t sx_channel_open(struct sx_channel *channel, struct sx_loop *loop, int fd,
                              void (*on_frame)(void *arg, struct sx_frame *frame, const char *why,
                                               uint64_t now_ns),
                              void *arg)
{
    *channel = (struct sx_channel){
        .fd = fd,
        .peer.pidfd = -1,
        .bulk = SX_BULK_IN_NULL,
        .loop = loop,
        .on_frame = on_frame,
        .arg = arg,
        .recv = { .fd = fd, .fn = on_message, .ready = on_readable, .arg = channel },
    };
    sx_list_init(&channel->queue);
    pmix_status_t rc = read_peer(fd, &channel->peer);

    if (rc == PMIX_SUCCESS) {
        rc = sx_recv_add(loop, &channel->recv);
    }
    if (rc != PMIX_SUCCESS) {
        sx_channel_close(channel);
    }
    return rc;
}

static void free_waiting(struct sx_channel *channel, struct waiting *waiting)
{
    sx_list_remove(&waiting->link);
    channel->queue_bytes -= waiting->charge;
    for (int i = 0; i < waiting->fd_count; i++) {
        close(waiting->fds[i]);
    }
    free(waiting);
}

static void hang_up(struct sx_channel *channel)
{
    if (channel->fd < 0) {
        return;
    }
    sx_recv_remove(&channel->recv);
    sx_poll_remove(&channel->writable);
    SX_LIST_EACH(node, &channel->queue) {
        free_waiting(channel, SX_LIST_ENTRY(node, struct waiting, link));
    }
    sx_socket_hang_up(channel->fd);
    channel->fd = -1;
    sx_bulk_clear(&channel->bulk);
}

void sx_channel_refuse(int fd)
{
    sx_socket_hang_up(fd);
}

void sx_channel_close(struct sx_channel *channel)
{
    hang_up(channel);
    if (channel->peer.pidfd >= 0) {
        close(channel->peer.pidfd);
        channel->peer.pidfd = -1;
    }
}

pmix_status_t sx_channel_window(struct sx_channel *channel, int *ret_fd)
{
    const pmix_status_t rc = sx_bulk_window(&channel->bulk);

    *ret_fd = channel->bulk.window_fd;
    return rc;
}

/* ---- server side: sending ----------------------------------------------------------------- */

/* Remember why and let the loop find the end of the socket: a sender is never called back. */
static pmix_status_t fail_send(struct sx_channel *channel, pmix_status_t status, const char *why)
{
    if (channel->fault == NULL) {
        channel->fault = why;
    }
    shutdown(channel->fd, SHUT_RDWR);
    return status;
}

static const char *send_fault(int err)
{
    return err == EPIPE || err == ECONNRESET || err == ENOTCONN
               ? NULL /* the peer has gone; the receive side reports the end */
               : strerror(err);
}

/* Return: false when the socket takes no more for now. */
static bool queue_send(struct sx_channel *channel, unsigned *ret_count)
{
    SX_LIST_EACH(node, &channel->queue) {
        struct waiting *waiting = SX_LIST_ENTRY(node, struct waiting, link);
        const struct iovec iov = { .iov_base = waiting->bytes, .iov_len = waiting->size };
        const int err = channel->fault != NULL
                            ? EPIPE
                            : sx_socket_send(channel->fd, &iov, 1, waiting->fds, waiting->fd_count);

        if (err == EAGAIN || err == EWOULDBLOCK) {
            return false;
        }
        if (err != 0 && channel->fault == NULL) {
            (void)fail_send(channel, PMIX_SUCCESS, send_fault(err));
        }
        free_waiting(channel, waiting); /* sent, or dropped */
        ++*ret_count;
    }
    return true;
}

static void on_writable(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_channel *channel = arg;
    unsigned sent_count = 0;

    (void)revents;
    if (queue_send(channel, &sent_count)) {
        sx_poll_remove(&channel->writable);
    }
    if (sent_count != 0 && channel->on_sent != NULL) {
        channel->on_sent(channel->arg, now_ns);
    }
}

static pmix_status_t queue_message(struct sx_channel *channel, const struct outgoing *out)
{
    size_t size = 0;

    for (size_t i = 0; i < out->iov_count; i++) {
        size += out->iov[i].iov_len;
    }
    struct waiting *waiting = malloc(sizeof(*waiting) + size);

    if (waiting == NULL) {
        return fail_send(channel, PMIX_ERR_OUT_OF_RESOURCE, "no memory for what it does not take");
    }
    *waiting = (struct waiting){
        .size = size, .charge = sizeof(*waiting) + size + (size_t)out->fd_count * FD_CHARGE_BYTES
    };
    if (out->bulk_fd >= 0) {
        waiting->charge += (size_t)out->header.body_size;
    }
    size = 0;
    for (size_t i = 0; i < out->iov_count; i++) {
        memcpy(waiting->bytes + size, out->iov[i].iov_base, out->iov[i].iov_len);
        size += out->iov[i].iov_len;
    }
    const bool was_empty = sx_list_empty(&channel->queue);

    sx_list_append(&channel->queue, &waiting->link);
    channel->queue_bytes += waiting->charge;
    for (int i = 0; i < out->fd_count; i++) {
        const int fd = fcntl(out->fds[i], F_DUPFD_CLOEXEC, 0);

        if (fd < 0) {
            free_waiting(channel, waiting);
            return fail_send(channel, PMIX_ERR_OUT_OF_RESOURCE,
                             "no descriptors for what it does not take (raise ulimit -n)");
        }
        waiting->fds[waiting->fd_count++] = fd;
    }
    if (!was_empty) {
        return PMIX_SUCCESS;
    }
    channel->writable = (struct sx_poll){
        .fd = channel->fd, .events = POLLOUT, .fn = on_writable, .arg = channel
    };
    if (sx_poll_add(channel->loop, &channel->writable) != PMIX_SUCCESS) {
        return fail_send(channel, PMIX_ERR_OUT_OF_RESOURCE, "cannot wait until it takes more");
    }
    return PMIX_SUCCESS;
}

/* Whether a bulk body may be sent: one always may, and many only to a peer that reads them.  The
 * kernel charges the memory of bodies under way to no process. */
static bool bulk_may_go(struct sx_channel *channel)
{
    int unread = 0;

    if (channel->unread_bytes > 0 && ioctl(channel->fd, SIOCOUTQ, &unread) == 0 && unread == 0) {
        channel->unread_bytes = 0;
    }
    return channel->unread_bytes < SX_CHANNEL_UNREAD_MAX;
}

/* Send @out now, or when the peer takes more. */
static pmix_status_t send_outgoing(struct sx_channel *channel, const struct outgoing *out)
{
    pmix_status_t rc = PMIX_SUCCESS;
    int err = EAGAIN;

    if (out->bulk_fd >= 0 && !bulk_may_go(channel)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    channel->unread_bytes += out->bulk_fd >= 0 ? out->header.body_size : 0;
    if (sx_list_empty(&channel->queue)) {
        err = sx_socket_send(channel->fd, out->iov, out->iov_count, out->fds, out->fd_count);
    } else if (channel->queue_bytes >= SX_CHANNEL_QUEUE_MAX) {
        return fail_send(channel, PMIX_ERR_OUT_OF_RESOURCE,
                         "it does not read its messages, the queue is full");
    }
    if (err == EAGAIN || err == EWOULDBLOCK) {
        rc = queue_message(channel, out);
    } else if (err != 0) {
        rc = fail_send(channel,
                       send_fault(err) == NULL ? PMIX_ERR_LOST_CONNECTION
                                               : PMIX_ERR_OUT_OF_RESOURCE,
                       send_fault(err));
    }
    return rc;
}

pmix_status_t sx_channel_send(struct sx_channel *channel, uint16_t kind, uint32_t id,
                              const struct iovec *iov, int iov_count, const int *fds, int fd_count)
{
    struct outgoing out;

    if (channel->fd < 0 || channel->fault != NULL) {
        return PMIX_ERR_LOST_CONNECTION;
    }
    pmix_status_t rc = make_outgoing(&out, kind, id, iov, iov_count, fds, fd_count);

    if (rc == PMIX_SUCCESS) {
        rc = send_outgoing(channel, &out);
        close_outgoing(&out);
    }
    return rc;
}

pmix_status_t sx_channel_body_make(uint16_t kind, const void *body, size_t size, int *ret_fd)
{
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)body, .iov_len = size };
    const pmix_status_t rc = sx_message_size_judge(kind, size);

    return rc == PMIX_SUCCESS ? sx_bulk_make(&iov, 1, size, ret_fd) : rc;
}

pmix_status_t sx_channel_send_made(struct sx_channel *channel, uint16_t kind, uint32_t id,
                                   int body_fd, size_t size)
{
    struct outgoing out;

    if (channel->fd < 0 || channel->fault != NULL) {
        return PMIX_ERR_LOST_CONNECTION;
    }
    (void)gather(&out, kind, id, NULL, 0);
    out.header.body_size = size;
    out.header.flags = SX_FRAME_BULK;
    out.bulk_fd = out.fds[out.fd_count++] = body_fd;
    return send_outgoing(channel, &out);
}

bool sx_channel_send_part(struct sx_channel *channel, uint16_t kind, uint32_t id,
                          const struct iovec *iov, int iov_count)
{
    struct outgoing out;

    if (channel->fd < 0 || channel->fault != NULL || !sx_list_empty(&channel->queue) ||
        gather(&out, kind, id, iov, iov_count) != PMIX_SUCCESS ||
        out.header.body_size > SX_FRAME_BODY_MAX) {
        return false;
    }
    out.header.flags = SX_FRAME_MORE;
    return sx_socket_send(channel->fd, out.iov, out.iov_count, NULL, 0) == 0;
}

/* ---- client side -------------------------------------------------------------------------- */

/* Wait until @events or @deadline_ns.  Return: 0, ETIMEDOUT or another errno value. */
static int wait_for(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        struct pollfd poll_fd = { .fd = fd, .events = events };
        struct timespec timeout, *timeout_at = NULL;

        if (deadline_ns != SX_DEADLINE_NEVER) {
            const uint64_t now_ns = sx_now_ns();

            timeout = sx_timespec(deadline_ns > now_ns ? deadline_ns - now_ns : 0);
            timeout_at = &timeout;
        }
        const int n = ppoll(&poll_fd, 1, timeout_at, NULL);

        if (n > 0) {
            return 0;
        }
        if (n == 0) {
            return ETIMEDOUT;
        }
        if (errno != EINTR) {
            return errno;
        }
    }
}

static pmix_status_t status_of_socket(int err, const char *what)
{
    switch (err) {
    case 0:
        return PMIX_SUCCESS;
    case ETIMEDOUT:
        return PMIX_ERR_TIMEOUT;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
        return PMIX_ERR_LOST_CONNECTION;
    default:
        return SX_RAISE(sx_status_from_errno(err), "%s: %s%s", what, strerror(err),
                        sx_refused_advice(err));
    }
}

static pmix_status_t send_by(int fd, const struct iovec *iov, size_t iov_count,
                             uint64_t deadline_ns)
{
    int err;

    for (;;) {
        err = sx_socket_send(fd, iov, iov_count, NULL, 0);
        if (err != EAGAIN && err != EWOULDBLOCK) {
            break;
        }
        err = wait_for(fd, POLLOUT, deadline_ns);
        if (err != 0) {
            break;
        }
    }
    return status_of_socket(err, "send to the server");
}

pmix_status_t sx_frame_send(int fd, uint16_t kind, uint32_t id, const struct iovec *iov,
                            int iov_count, uint64_t deadline_ns)
{
    struct outgoing out;
    const pmix_status_t rc = gather(&out, kind, id, iov, iov_count);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (out.header.body_size > SX_FRAME_BODY_MAX) {
        sx_assert(sx_message_spec(kind)->bulk_max == 0); /* else it goes through the window */
        return sx_message_size_judge(kind, out.header.body_size);
    }
    return send_by(fd, out.iov, out.iov_count, deadline_ns);
}

pmix_status_t sx_frame_send_window(int fd, uint16_t kind, uint16_t flags, uint32_t id, size_t size,
                                   uint64_t deadline_ns)
{
    struct sx_frame_header header = {
        .kind = kind, .flags = SX_FRAME_BULK | flags, .id = id, .body_size = size
    };
    const struct iovec iov = { .iov_base = &header, .iov_len = sizeof(header) };

    return send_by(fd, &iov, 1, deadline_ns);
}

/* One message, by @deadline_ns: 0 does not wait, never waits in recvmsg itself. */
static int receive_by(int fd, void *buf, struct sx_socket_message *message, uint64_t deadline_ns)
{
    const int flags = deadline_ns == SX_DEADLINE_NEVER ? 0 : MSG_DONTWAIT;

    for (;;) {
        int err = 0;

        if (deadline_ns != 0 && deadline_ns != SX_DEADLINE_NEVER) {
            err = wait_for(fd, POLLIN, deadline_ns);
        }
        if (err == 0) {
            err = sx_socket_receive(fd, flags, buf, SX_FRAME_MAX, message);
        }
        if ((err != EAGAIN && err != EWOULDBLOCK) || deadline_ns == 0) {
            return err;
        }
        if (deadline_ns == SX_DEADLINE_NEVER) { /* the socket is non-blocking */
            err = wait_for(fd, POLLIN, deadline_ns);
            if (err != 0) {
                return err;
            }
        }
    }
}

pmix_status_t sx_frame_receive(int fd, void *buf, struct sx_frame *ret, uint64_t deadline_ns)
{
    struct sx_socket_message message;
    const int err = receive_by(fd, buf, &message, deadline_ns);

    *ret = (struct sx_frame){ .status = PMIX_SUCCESS };
    if (err == EAGAIN || err == EWOULDBLOCK) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    if (err != 0) {
        return status_of_socket(err, "receive from the server");
    }
    if (message.bytes == NULL) {
        return PMIX_ERR_LOST_CONNECTION;
    }
    if (message.truncated && message.size >= sizeof(ret->header) && message.size <= SX_FRAME_MAX) {
        sx_socket_close_fds(&message);
        memcpy(&ret->header, message.bytes, sizeof(ret->header));
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "descriptors from the server did not fit: raise the limit of open files "
                        "(ulimit -n)");
    }
    const char *why = take_answer(&message, ret);

    if (why != NULL) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "refused a message of the server: %s", why);
    }
    return PMIX_SUCCESS;
}
