/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hand.h - what passes between `shmix run` and a launcher of `shmix serve`.
 *
 *   shmix run                                     launcher
 *       HEAD, the body and the working folder -->
 *       <--------------------------- READY, or REFUSE and why
 *       OPEN and its descriptors --------------->
 *       <--------------------------- OFFER and its process id, or REFUSE and why
 *       GO ------------------------------------->  only now anything runs
 *       SIGNAL number -------------------------->  as often as it comes
 *       <--------------------------- STOPPED: the ranks are stopped
 *       <--------------------------- EXIT code
 *
 * Each is one message of a SEQPACKET socket.  Descriptors wait for READY: a message that nobody
 * takes keeps what it has open, and the reader of a pipe would wait for its end.  If one side
 * misses the other before GO, it gives up, and nothing has run.  After GO the end of the connection
 * ends the job, and no job is run again.  The socket is in a folder that is the user's alone, and
 * the kernel names the user at the other end. */
#ifndef SX_LAUNCH_SERVE_HAND_H
#define SX_LAUNCH_SERVE_HAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/ask/options.h"

#define SX_HAND_OFFER_NS SX_NS_PER_SEC    /* for an offer */
#define SX_HAND_GO_NS (5 * SX_NS_PER_SEC) /* for the answer to it */
#define SX_HAND_BODY_MAX (64u << 20)      /* words and environment */
#define SX_HAND_TEXT_MAX 160
#define SX_HAND_NUMBERS 256              /* of descriptors: those below can be handed on, ... */
#define SX_HAND_OPEN_MAX 32              /* ... so many of them */
#define SX_HAND_FDS_MAX SX_HAND_OPEN_MAX /* in one message: these, or the body and the folder */

enum sx_hand_kind {
    SX_HAND_HEAD = 1,
    SX_HAND_READY,
    SX_HAND_OPEN,
    SX_HAND_OFFER,
    SX_HAND_REFUSE,
    SX_HAND_GO,
    SX_HAND_SIGNAL,
    SX_HAND_STOPPED,
    SX_HAND_EXIT,
};

struct sx_hand_message {
    uint32_t kind;
    int32_t number;
    char text[SX_HAND_TEXT_MAX]; /* why */
};

/* The body has the texts of sx_carry_read, the words, and the environment, each with its NUL. */
struct sx_hand_head {
    uint32_t kind, body_bytes;
    uint32_t carried, words, variables; /* how many texts there are */
    uint32_t open;                      /* so many descriptors come along ... */
    uint8_t numbers[SX_HAND_OPEN_MAX];  /* ... which have these numbers there, in order */
    uint64_t begin_ns;                  /* of the command: --timeout counts from here */
    uint64_t command[4];                /* the file of the command (sx_hand_command) */
};

/* Return: 0 or errno. */
int sx_hand_send(int fd, enum sx_hand_kind kind, int32_t number, const char *text);
/* Receive one message, which has no descriptors.  Return: 0, or errno; EPIPE at the end of the
 * connection, EAGAIN if there is none. */
int sx_hand_receive(int fd, struct sx_hand_message *ret);
/* Wait until @fd can be read.  Return: false after @deadline_ns. */
bool sx_hand_await(int fd, uint64_t deadline_ns);

/* Send @head with @count descriptors.  Return: 0 or errno. */
int sx_hand_request_send(int fd, const struct sx_hand_head *head, const int *fds, size_t count);
/* Receive one message of @fd, which may be shorter, with all of its descriptors: close-on-exec, and
 * SX_HAND_FDS_MAX at most.  Return: its size; 0 at the end of the connection, -1 with errno. */
ssize_t sx_hand_request_receive(int fd, struct sx_hand_head *ret, int *ret_fds, int *ret_count);

/* Which file the command is; another one after it was replaced. */
void sx_hand_command(uint64_t ret[4]);

/* Open the folder of the user's server, which is in TMPDIR.  @makes: make it if it is not there.
 * Return: its descriptor; -1 with errno, which is EPERM if it is not the user's alone. */
#define SX_HAND_SOCKET "socket"
#define SX_HAND_LOCK "lock"
int sx_hand_folder(bool makes, char **ret_path);
/* Connect to the server, process *@ret_server.  Return: the descriptor, or -1 with errno: ENOENT
 * and ECONNREFUSED if there is none. */
int sx_hand_connect(pid_t *ret_server);

#endif
