/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* link.h - the connection of one foreign rank: frames in, frames out, both bounded.
 *
 *   0        4        8        12        16
 *   | index  | tag    | bytes  | padding | body ...       all big-endian, both ways
 *
 *   OPEN --the other side ends--> ENDED
 *     \---a frame that breaks the form, a read or write error, a full queue--> BROKEN
 *
 * Input: one unfinished frame, whose memory grows with the bytes that have come, never with the
 * bytes that its header announces.  While the session is full, or more than SX_LINK_SEND_HIGH bytes
 * wait for the other side, nothing more is read.  Output: what the socket does not take waits in a
 * queue; above SX_LINK_SEND_MAX the link is broken, so a client that does not read costs only
 * itself.  There is room for a body of SX_LINK_ANSWER_MAX when no more than SX_LINK_SEND_HIGH
 * waits.  One thread; nothing here waits but sx_gateway_link_make_room. */
#ifndef SX_GATEWAY_LINK_H
#define SX_GATEWAY_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_session; /* gateway/session.h */

#define SX_LINK_BODY_MAX \
    (UINT32_C(256) << 20) /* of a request: a commit has all that was ever put */
#define SX_LINK_SEND_HIGH ((size_t)16 << 20)
#define SX_LINK_SEND_MAX ((size_t)512 << 20)
#define SX_LINK_ANSWER_MAX ((size_t)480 << 20) /* of a body, while no more than HIGH waits */

#define SX_LINK_ENDS 2u

enum sx_link_state { SX_LINK_OPEN, SX_LINK_ENDED, SX_LINK_BROKEN };

struct sx_gateway_link {
    int fd; /* its owner's; non-blocking */
    enum sx_link_state state;
    const char *why;  /* of BROKEN: a text for the log, whose subject is the peer */
    bool held;        /* frames wait in the queue: the handshake is not answered yet */
    uint8_t *in;      /* read, not yet handed on: */
    size_t in_size;   /*   so many bytes ... */
    size_t in_room;   /*   ... of so many */
    uint8_t *out;     /* not yet sent: */
    size_t out_begin; /*   from here ... */
    size_t out_end;   /*   ... to here ... */
    size_t out_room;  /*   ... of so many */
    /* Readable once the rank has ended, or nobody wants it served; their owner's.  -1: none. */
    int end_fds[SX_LINK_ENDS];
};

/* @fd is borrowed, and made non-blocking; frames wait until sx_gateway_link_release. */
void sx_gateway_link_init(struct sx_gateway_link *link, int fd);
void sx_gateway_link_deinit(struct sx_gateway_link *link); /* safe twice */

/* Send what was queued since init, from now on at once. */
void sx_gateway_link_release(struct sx_gateway_link *link);

/* Send or queue a frame; @body is copied.  Return: PMIX_SUCCESS; PMIX_ERR_LOST_CONNECTION when the
 * link is not OPEN, or no more. */
pmix_status_t sx_gateway_link_send(struct sx_gateway_link *link, uint32_t tag, const void *body,
                                   size_t size);

/* Wait until no more than @size bytes wait for the other side; what a closed connection does not
 * take is dropped.  One of end_fds that is readable makes the link ENDED.  This slows down the
 * source of frames that nobody has asked for. */
void sx_gateway_link_make_room(struct sx_gateway_link *link, size_t size);

/* Whether poll(2) is to ask for POLLIN, and for POLLOUT. */
bool sx_gateway_link_reads(const struct sx_gateway_link *link, const struct sx_session *session);
bool sx_gateway_link_writes(const struct sx_gateway_link *link);

/* The descriptor may be read: hand each whole frame to sx_session_on_message. */
void sx_gateway_link_read(struct sx_gateway_link *link, struct sx_session *session);
/* The session takes requests again: hand on what was read before. */
void sx_gateway_link_resume(struct sx_gateway_link *link, struct sx_session *session);
/* Whether that would hand on a frame. */
bool sx_gateway_link_has_frame(const struct sx_gateway_link *link,
                               const struct sx_session *session);
/* The descriptor may be written. */
void sx_gateway_link_write(struct sx_gateway_link *link);

#endif
