/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* channel.h - frames over one connected SEQPACKET socket, and descriptors from server to client.
 *
 * The server's side lives in the loop: frames arrive checked (sx_frame_check), with their bulk body
 * put together, and opened.  They go out without ever blocking: what the socket does not take is
 * queued up to SX_CHANNEL_QUEUE_MAX bytes, then the peer is dropped.  The client's side sends and
 * receives in the caller's thread. */
#ifndef SX_CONTROL_CHANNEL_H
#define SX_CONTROL_CHANNEL_H

#include <sys/types.h>
#include <sys/uio.h>

#include "base/list.h"
#include "control/bulk.h"
#include "control/loop.h"
#include "control/message.h"

#define SX_CHANNEL_QUEUE_MAX (1u << 20)
#define SX_CHANNEL_UNREAD_MAX (UINT64_C(256) << 20) /* of bulk bodies that the peer has not taken */

/* The peer, by the kernel's credentials. */
struct sx_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    int pidfd; /* -1 until sx_channel_watch_peer, and where the kernel has none; the channel's */
};

#define SX_FRAME_FDS_MAX 8

/* A received frame, valid during the callback (or until sx_frame_release). */
struct sx_frame {
    struct sx_frame_header header;
    const void *body; /* in the message or where its bulk is; 8-aligned */
    size_t body_size;
    struct sx_opened opened; /* by the signature of its kind, unless body is NULL; laid out only
                              * (sx_body_lay) when the body has bulk_pages */
    /* Of a client's bulk body: the answer, and body is NULL, when this was a piece of it
     * (SX_FRAME_MORE) or when there was no memory for it. */
    pmix_status_t status;
    int fds[SX_FRAME_FDS_MAX]; /* a server's, without the bulk one; taken (-1) or closed */
    int fd_count;
    void *bulk_map; /* a server's */
    size_t bulk_map_size;
    struct sx_pages bulk_pages; /* a client's; who takes them leaves none */
    pmix_proc_t *procs;         /* of its long list, once that has been read ahead */
};

void sx_frame_release(struct sx_frame *frame); /* closes what was not taken, unmaps bulk */

/* A process is large, so it takes long to read a list of them: more than these of a message are
 * read in one turn, and the message is taken in another. */
#define SX_FRAME_PROCS_AT_ONCE_MAX 1024u

/* Return: the part of @frame with a list that is to be read ahead; NULL: there is none. */
const struct sx_opened_part *sx_frame_long_list(const struct sx_frame *frame);
/* The processes of part @index, as sx_part_procs; those of a list that was read ahead, once. */
pmix_status_t sx_frame_procs(struct sx_frame *frame, unsigned index, pmix_proc_t **ret_procs);

/* ---- server side -------------------------------------------------------------------------- */

struct sx_channel {
    int fd; /* -1: closed */
    struct sx_peer peer;
    struct sx_recv recv;
    struct sx_poll writable; /* added only while something is queued */
    struct sx_list queue;
    size_t queue_bytes;
    uint64_t unread_bytes; /* of bulk bodies sent since the peer had taken all */
    struct sx_bulk_in bulk;
    struct sx_loop *loop;
    const char *fault; /* a send has failed: the loop drops the peer for this */
    /* A checked frame, or NULL when the peer has gone or was dropped for @why (NULL: orderly);
     * after NULL the channel is closed and may be freed by the callback. */
    void (*on_frame)(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns);
    /* The peer has sent a message, or has gone: on_frame waits for sx_channel_take.  NULL: on_frame
     * does not wait.  The owner may set it at any time. */
    sx_loop_fn on_ready;
    /* A part of the queue has been sent: wake a client that sleeps until then.  The callback must
     * not close the channel.  NULL: no call.  The owner may set it at any time. */
    sx_loop_fn on_sent;
    void *arg;
};

/* Take over @fd.  Fills peer (SO_PEERCRED) but for its pidfd: until the peer's HELLO a connection
 * costs one descriptor.  Return: PMIX_SUCCESS, or a status and @fd closed. */
pmix_status_t sx_channel_open(struct sx_channel *channel, struct sx_loop *loop, int fd,
                              void (*on_frame)(void *arg, struct sx_frame *frame, const char *why,
                                               uint64_t now_ns),
                              void *arg);
/* End an accepted connection that gets no channel. */
void sx_channel_refuse(int fd);
/* After on_ready: receive one frame, or the end; on_frame is called before this returns, or not at
 * all.  The channel may be gone then. */
void sx_channel_take(struct sx_channel *channel, uint64_t now_ns);
/* Refuse the peer @why (NULL: its end is orderly, and nothing is logged), and call on_frame, which
 * may free the channel. */
void sx_channel_drop(struct sx_channel *channel, const char *why, uint64_t now_ns);
/* Watch process @pid in the peer's place, as the peer stands for it, if it is of the peer's user
 * and in the same pid namespace; peer.pid becomes @pid.  Nothing changes for 0, or when the kernel
 * does not show both.  Behind sx_channel_watch_peer, before peer.pidfd is watched. */
void sx_channel_watch_instead(struct sx_channel *channel, pid_t pid);
/* Open peer.pidfd (SO_PEERPIDFD or pidfd_open), once; it stays -1 where the kernel has none or the
 * peer has gone.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE when descriptors are out. */
pmix_status_t sx_channel_watch_peer(struct sx_channel *channel);
/* Also after the end (on_frame without a frame), for the pidfd: stop watching that first.  Safe
 * twice and inside on_frame; nothing is called back. */
void sx_channel_close(struct sx_channel *channel);

/* A (new) window for the bulk bodies of this peer; *ret_fd is the channel's.  Return: PMIX_SUCCESS,
 * or a status that was logged. */
pmix_status_t sx_channel_window(struct sx_channel *channel, int *ret_fd);

/* Send (copying what must wait); descriptors are borrowed and duplicated if queued.  Never blocks.
 * A body that does not fit goes as bulk.  Return: PMIX_SUCCESS; PMIX_ERR_LOST_CONNECTION (the
 * on_frame NULL follows from the loop); PMIX_ERR_OUT_OF_RESOURCE (queue full: likewise; or no
 * memory or descriptor for a bulk, or more than SX_CHANNEL_UNREAD_MAX of them unread: nothing was
 * sent and the channel continues, so that a short message can report it). */
pmix_status_t sx_channel_send(struct sx_channel *channel, uint16_t kind, uint32_t id,
                              const struct iovec *iov, int iov_count, const int *fds, int fd_count);

/* Make a body beforehand, of @size bytes, at most the bound of @kind.  Any thread.  Return:
 * PMIX_SUCCESS, and *ret_fd is the caller's; a status that was logged. */
pmix_status_t sx_channel_body_make(uint16_t kind, const void *body, size_t size, int *ret_fd);
pmix_status_t sx_channel_send_made(struct sx_channel *channel, uint16_t kind, uint32_t id,
                                   int body_fd, size_t size);

/* Send a part of an answer at once, in a frame (SX_FRAME_MORE).  Return: false when the part was
 * not sent: it is too large, or the socket is full or broken.  Then send it with the rest of the
 * answer (sx_channel_send, which reports a broken socket). */
bool sx_channel_send_part(struct sx_channel *channel, uint16_t kind, uint32_t id,
                          const struct iovec *iov, int iov_count);

/* ---- client side: the caller's thread, blocking ------------------------------------------- */

/* Send on @fd a frame that has its body in it.  Waits while the socket is full, until @deadline_ns.
 * Return: PMIX_SUCCESS; PMIX_ERR_TIMEOUT; PMIX_ERR_LOST_CONNECTION; PMIX_ERR_OUT_OF_RESOURCE
 * (logged: too large). */
pmix_status_t sx_frame_send(int fd, uint16_t kind, uint32_t id, const struct iovec *iov,
                            int iov_count, uint64_t deadline_ns);

/* The same for one whose body, or a piece of it (@flags has SX_FRAME_MORE), are the first @size
 * bytes of the window. */
pmix_status_t sx_frame_send_window(int fd, uint16_t kind, uint16_t flags, uint32_t id, size_t size,
                                   uint64_t deadline_ns);

/* Receive one frame into @buf (SX_FRAME_MAX bytes, 8-aligned, owned by the caller and referred to
 * by @ret).  @deadline_ns 0: do not wait.  Return: PMIX_SUCCESS; PMIX_ERR_WOULD_BLOCK (nothing
 * there, deadline 0); PMIX_ERR_TIMEOUT; PMIX_ERR_LOST_CONNECTION; PMIX_ERR_BAD_PARAM (not a frame
 * of a server); PMIX_ERR_OUT_OF_RESOURCE (its descriptors did not fit; the header in @ret has the
 * id of its request, and the rest is empty). */
pmix_status_t sx_frame_receive(int fd, void *buf, struct sx_frame *ret, uint64_t deadline_ns);

#endif
