/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* link_test.c - what waits for a rank that does not read: bounded, and given up with the rank. */
#include "gateway/link.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/session.h"

#define PIECE ((size_t)64 << 10)
#define PIECES 256u /* more than a socket holds */
#define ROOM ((size_t)1 << 20)

#define FRAMES_MAX 2u /* that the session takes */

/* Take the session's place. */
static unsigned frames, frames_max = UINT_MAX;

pmix_status_t sx_session_on_message(struct sx_session *session, uint32_t tag, const void *body,
                                    size_t size)
{
    (void)session, (void)tag, (void)body, (void)size;
    frames++;
    return PMIX_SUCCESS;
}

bool sx_session_is_full(const struct sx_session *session)
{
    (void)session;
    return frames >= frames_max;
}

static struct sx_gateway_link link_;
static int pair[2], end_fd;

/* A rank that does not read, and has more to read than a socket holds. */
static void link_fill(void)
{
    static const uint8_t piece[PIECE];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    end_fd = eventfd(0, EFD_CLOEXEC);
    sx_gateway_link_init(&link_, pair[0]);
    sx_gateway_link_release(&link_);
    link_.end_fds[1] = end_fd;
    for (unsigned i = 0; i < PIECES; i++) {
        cr_assert_eq(sx_gateway_link_send(&link_, 2, piece, sizeof(piece)), PMIX_SUCCESS);
    }
    cr_assert_gt(link_.out_end - link_.out_begin, ROOM);
}

static void link_end(void)
{
    sx_gateway_link_deinit(&link_);
    close(pair[0]);
    close(pair[1]);
    close(end_fd);
}

Test(link, room_is_made_by_a_rank_that_reads_on, .timeout = 60)
{
    static uint8_t bytes[PIECE];

    link_fill();
    const pid_t rank = fork();

    if (rank == 0) {
        close(pair[0]);
        while (read(pair[1], bytes, sizeof(bytes)) > 0) {
        }
        _exit(0);
    }
    sx_gateway_link_make_room(&link_, ROOM);
    cr_expect_leq(link_.out_end - link_.out_begin, ROOM);
    cr_expect_eq(link_.state, SX_LINK_OPEN);
    link_end();
    waitpid(rank, NULL, 0);
}

Test(link, nobody_waits_for_room_of_a_rank_that_has_ended, .timeout = 60)
{
    const uint64_t one = 1;

    link_fill();
    cr_assert_eq(write(end_fd, &one, sizeof(one)), (ssize_t)sizeof(one));
    sx_gateway_link_make_room(&link_, ROOM);
    cr_expect_eq(link_.state, SX_LINK_ENDED);
    cr_expect_eq(sx_gateway_link_send(&link_, 2, "", 0), PMIX_ERR_LOST_CONNECTION);
    link_end();
}

Test(link, nobody_waits_for_room_of_a_connection_that_has_ended, .timeout = 60)
{
    link_fill();
    close(pair[1]);
    pair[1] = -1;
    sx_gateway_link_make_room(&link_, ROOM);
    cr_expect_leq(link_.out_end - link_.out_begin, ROOM);
    link_end();
}

Test(link, a_full_session_gets_no_frame_until_it_has_room)
{
    static const uint8_t three[3 * 16] = { [7] = 200, [23] = 201, [39] = 202 };

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    sx_gateway_link_init(&link_, pair[0]);
    sx_gateway_link_release(&link_);
    cr_assert_eq(write(pair[1], three, sizeof(three)), sizeof(three));
    frames_max = FRAMES_MAX;
    sx_gateway_link_read(&link_, NULL);
    cr_expect_eq(frames, FRAMES_MAX);
    cr_expect_not(sx_gateway_link_reads(&link_, NULL));
    cr_expect_not(sx_gateway_link_has_frame(&link_, NULL));
    frames_max++;
    cr_expect(sx_gateway_link_has_frame(&link_, NULL));
    sx_gateway_link_resume(&link_, NULL);
    cr_expect_eq(frames, FRAMES_MAX + 1);
    sx_gateway_link_deinit(&link_);
}

Test(link, a_rank_that_does_not_read_is_not_read_from)
{
    static const uint8_t piece[PIECE];

    link_fill();
    cr_expect(sx_gateway_link_reads(&link_, NULL));
    while (link_.out_end - link_.out_begin < SX_LINK_SEND_HIGH) {
        cr_assert_eq(sx_gateway_link_send(&link_, 2, piece, sizeof(piece)), PMIX_SUCCESS);
    }
    cr_expect_not(sx_gateway_link_reads(&link_, NULL));
    link_end();
}
