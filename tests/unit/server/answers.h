/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* answers.h - the other end of a client's channel: what it is answered. */
#ifndef SX_TEST_ANSWERS_H
#define SX_TEST_ANSWERS_H

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/channel.h"
#include "server/model/state.h"

struct answers {
    int fd; /* the client's */
    struct sx_channel channel;
    _Alignas(8) char bytes[SX_FRAME_MAX];
    struct sx_frame frame; /* the last answer */
};

static inline void answers_unheard(void *arg, struct sx_frame *frame, const char *why,
                                   uint64_t now_ns)
{
    (void)arg, (void)frame, (void)why, (void)now_ns;
}

/* @client has a channel from now on; @server has a loop, which need not run. */
static inline void answers_begin(struct answers *answers, struct sx_server *server,
                                 struct sx_client *client)
{
    int fds[2];

    memset(answers, 0, sizeof(*answers));
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    cr_assert_eq(sx_channel_open(&answers->channel, server->loop, fds[0], answers_unheard, NULL),
                 PMIX_SUCCESS);
    answers->fd = fds[1];
    client->channel = &answers->channel;
}

static inline void answers_end(struct answers *answers, struct sx_client *client)
{
    sx_frame_release(&answers->frame);
    client->channel = NULL;
    sx_channel_close(&answers->channel);
    close(answers->fd);
}

/* Return: the status that request @id was answered with; fails when it was not.  What comes behind
 * the status is in answers->frame until the next one. */
static inline pmix_status_t answers_next(struct answers *answers, uint32_t id)
{
    struct sx_reply reply;

    sx_frame_release(&answers->frame);
    cr_assert_eq(sx_frame_receive(answers->fd, answers->bytes, &answers->frame, 0), PMIX_SUCCESS,
                 "request %u is not answered", id);
    cr_expect_eq(answers->frame.header.kind, SX_MSG_REPLY);
    cr_expect_eq(answers->frame.header.id, id);
    memcpy(&reply, answers->frame.body, sizeof(reply));
    return reply.status;
}

static inline bool answers_none(struct answers *answers)
{
    sx_frame_release(&answers->frame);
    return sx_frame_receive(answers->fd, answers->bytes, &answers->frame, 0) ==
           PMIX_ERR_WOULD_BLOCK;
}

#endif
