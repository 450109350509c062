/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* link.c - frames of one foreign rank. */
#include "gateway/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/util.h"
#include "gateway/session.h"

#define HEADER_BYTES ((size_t)16)
#define READ_BYTES ((size_t)64 << 10) /* room for one read, at least */
#define READS_A_TURN 16               /* then the caller looks at the server again */
#define KEEP_BYTES ((size_t)1 << 20)  /* of an empty buffer; above, it is freed */

struct header {
    uint32_t index, tag, size, padding; /* big-endian */
};

static void broken(struct sx_gateway_link *link, const char *why)
{
    if (link->state == SX_LINK_OPEN) {
        link->state = SX_LINK_BROKEN;
        link->why = why;
    }
}

void sx_gateway_link_init(struct sx_gateway_link *link, int fd)
{
    const int on = 1;

    *link = (struct sx_gateway_link){
        .fd = fd, .state = SX_LINK_OPEN, .held = true, .end_fds = { -1, -1 }
    };
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
    /* An answer is one write, so there is nothing to wait for. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void sx_gateway_link_deinit(struct sx_gateway_link *link)
{
    free(link->in);
    free(link->out);
    *link = (struct sx_gateway_link){ .fd = -1, .state = SX_LINK_ENDED };
}

/* ---- out ------------------------------------------------------------------------------------- */

static void out_trim(struct sx_gateway_link *link)
{
    if (link->out_begin < link->out_end) {
        return;
    }
    link->out_begin = link->out_end = 0;
    if (link->out_room > KEEP_BYTES) {
        free(link->out);
        link->out = NULL;
        link->out_room = 0;
    }
}

/* Return: false when there is no memory, or too much waits already. */
static bool out_reserve(struct sx_gateway_link *link, size_t size)
{
    const size_t used = link->out_end - link->out_begin;
    size_t room = link->out_room > 0 ? link->out_room : 4096;

    if (size > SX_LINK_SEND_MAX - used) {
        return false;
    }
    if (link->out_begin > 0 && link->out_room - link->out_end < size) {
        memmove(link->out, link->out + link->out_begin, used);
        link->out_begin = 0;
        link->out_end = used;
    }
    while (room - link->out_end < size) {
        room *= 2;
    }
    if (room > link->out_room) {
        uint8_t *const grown = realloc(link->out, room);

        if (grown == NULL) {
            return false;
        }
        link->out = grown;
        link->out_room = room;
    }
    return true;
}

void sx_gateway_link_write(struct sx_gateway_link *link)
{
    while (!link->held && link->state == SX_LINK_OPEN && link->out_begin < link->out_end) {
        const ssize_t sent = send(link->fd, link->out + link->out_begin,
                                  link->out_end - link->out_begin, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent >= 0) {
            link->out_begin += (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        } else if (errno != EINTR) {
            /* Messages that it had sent before can still be read: a FINALIZE, say. */
            link->out_begin = link->out_end = 0;
        }
    }
    out_trim(link);
}

void sx_gateway_link_release(struct sx_gateway_link *link)
{
    link->held = false;
    sx_gateway_link_write(link);
}

pmix_status_t sx_gateway_link_send(struct sx_gateway_link *link, uint32_t tag, const void *body,
                                   size_t size)
{
    const struct header header = { .tag = htonl(tag), .size = htonl((uint32_t)size) };

    if (link->state != SX_LINK_OPEN) {
        return PMIX_ERR_LOST_CONNECTION;
    }
    if (size > SX_LINK_SEND_MAX || !out_reserve(link, sizeof(header) + size)) {
        broken(link, "does not read what is sent to it");
        return PMIX_ERR_LOST_CONNECTION;
    }
    const bool is_first = link->out_begin == link->out_end;

    memcpy(link->out + link->out_end, &header, sizeof(header));
    memcpy(link->out + link->out_end + sizeof(header), body, size);
    link->out_end += sizeof(header) + size;
    if (is_first) { /* otherwise the socket is full, and poll(2) reports when it is not */
        sx_gateway_link_write(link);
    }
    return PMIX_SUCCESS;
}

void sx_gateway_link_make_room(struct sx_gateway_link *link, size_t size)
{
    struct pollfd fds[1 + SX_LINK_ENDS] = { { .fd = link->fd, .events = POLLOUT } };

    for (unsigned i = 0; i < SX_LINK_ENDS; i++) {
        fds[1 + i] = (struct pollfd){ .fd = link->end_fds[i], .events = POLLIN };
    }
    while (link->state == SX_LINK_OPEN && !link->held && link->out_end - link->out_begin > size) {
        const int ready = poll(fds, SX_COUNT(fds), -1);
        bool ends = ready < 0 && errno != EINTR;

        for (unsigned i = 0; i < SX_LINK_ENDS && ready > 0; i++) {
            ends = ends || fds[1 + i].revents != 0;
        }
        if (ends) {
            link->state = SX_LINK_ENDED;
        }
        sx_gateway_link_write(link);
    }
}

bool sx_gateway_link_writes(const struct sx_gateway_link *link)
{
    return !link->held && link->state == SX_LINK_OPEN && link->out_begin < link->out_end;
}

/* ---- in -------------------------------------------------------------------------------------- */

bool sx_gateway_link_reads(const struct sx_gateway_link *link, const struct sx_session *session)
{
    return link->state == SX_LINK_OPEN && link->out_end - link->out_begin < SX_LINK_SEND_HIGH &&
           !sx_session_is_full(session);
}

/* The frame at @at, of which @size bytes are there.  Return: its bytes with its header; 0: not all
 * of the header is there. */
static size_t frame_size(const uint8_t *at, size_t size, struct header *ret)
{
    if (size < HEADER_BYTES) {
        return 0;
    }
    memcpy(ret, at, HEADER_BYTES);
    ret->tag = ntohl(ret->tag);
    ret->size = ntohl(ret->size);
    return HEADER_BYTES + ret->size;
}

bool sx_gateway_link_has_frame(const struct sx_gateway_link *link, const struct sx_session *session)
{
    struct header header;
    const size_t size = frame_size(link->in, link->in_size, &header);

    return sx_gateway_link_reads(link, session) && size > 0 && size <= link->in_size;
}

void sx_gateway_link_resume(struct sx_gateway_link *link, struct sx_session *session)
{
    size_t begin = 0, size;
    struct header header;

    while (begin < link->in_size && sx_gateway_link_reads(link, session) &&
           (size = frame_size(link->in + begin, link->in_size - begin, &header)) > 0) {
        if (header.size > SX_LINK_BODY_MAX) {
            broken(link, "sends a message of more than 256 MiB: commit less at once; a value of "
                         "PMIX_GLOBAL may be in it twice");
        }
        if (header.size > SX_LINK_BODY_MAX || size > link->in_size - begin) {
            break;
        }
        if (sx_session_on_message(session, header.tag, link->in + begin + HEADER_BYTES,
                                  header.size) != PMIX_SUCCESS) {
            broken(link, "sends a message that cannot be read");
        }
        begin += size;
    }
    if (begin > 0) {
        link->in_size -= begin;
        memmove(link->in, link->in + begin, link->in_size);
    }
    if (link->in_size == 0 && link->in_room > KEEP_BYTES) {
        free(link->in);
        link->in = NULL;
        link->in_room = 0;
    }
}

/* Room for one more read.  A body grows by doubling, so its header alone costs nothing. */
static bool in_reserve(struct sx_gateway_link *link)
{
    if (link->in_room - link->in_size >= READ_BYTES / 2) {
        return true;
    }
    const size_t room = link->in_room == 0 ? READ_BYTES : 2 * link->in_room;
    uint8_t *const grown = realloc(link->in, room);

    if (grown == NULL) {
        broken(link, "sends a message for which there is no memory");
        return false;
    }
    link->in = grown;
    link->in_room = room;
    return true;
}

void sx_gateway_link_read(struct sx_gateway_link *link, struct sx_session *session)
{
    for (int i = 0; i < READS_A_TURN && sx_gateway_link_reads(link, session); i++) {
        if (!in_reserve(link)) {
            return;
        }
        const size_t room = link->in_room - link->in_size;
        const ssize_t got = recv(link->fd, link->in + link->in_size, room, MSG_DONTWAIT);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return;
        }
        if (got <= 0) { /* a reset is what a killed process leaves */
            link->state = SX_LINK_ENDED;
            return;
        }
        link->in_size += (size_t)got;
        sx_gateway_link_resume(link, session);
        if ((size_t)got < room) {
            return;
        }
    }
}
