/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attack.h - a client that does not keep to the protocol, and a host that judges what follows.
 *
 * The attacker is one process that makes many attacks one after the other.  Each is framed by
 * attack_begin and attack_end; in between the host (attack_judge) admits its rank again, which the
 * attack before may have cost, and afterwards counts the log lines that the attack has caused:
 * as many as it announced, from the server, and none of them a crash.
 *
 *     attacker: begin --------> .... attack .... --> end ----------> next
 *     host:            admit --^                          judge --^            */
#ifndef SX_TESTS_FAULT_ATTACK_H
#define SX_TESTS_FAULT_ATTACK_H

#include <sys/types.h>

#include "control/channel.h"
#include "control/message.h"
#include "fault.h"
#include "ring/board.h"
#include "ring/lane.h"
#include "ring/record.h"
#include "ring/ring.h"
#include "shmem/store.h"
#include "support/descriptors.h"

#define ATTACK_JOB "attacked.job"
#define ATTACK_RANK 1 /* the attacker's; rank 0 stays registered and is never started */
#define ATTACK_LINES_ANY UINT32_MAX

/* ---- the attacker -------------------------------------------------------------------------- */

void attack_begin(uint32_t lines, const char *name, ...) __attribute__((format(printf, 2, 3)));
void attack_end(void);

/* A connection that nobody has said anything on. */
int attack_connect(void);
/* A frame whose header says @header, with @size bytes of body behind it. */
void attack_frame(int socket_fd, struct sx_frame_header header, const void *body, size_t size);
/* A well-formed frame without descriptors. */
void attack_request(int socket_fd, uint16_t kind, uint32_t id, const void *body, size_t size);
/* Wait until the server ends the connection, passing over what it still says.  Closes. */
void attack_expect_end(int socket_fd);
/* Wait for the answer to request @id and fail unless it has @status.  Return: the body's size
 * without struct sx_reply; a descriptor in it is closed. */
size_t attack_expect_reply(int socket_fd, uint32_t id, pmix_status_t status);

/* The same for an answer that is well and brings a descriptor.  Return: the descriptor. */
int attack_expect_descriptor(int socket_fd, uint32_t id);

/* A client as the server knows it, without the library's manners. */
struct attacker {
    int socket_fd;
    uint32_t slot;
    pmix_proc_t self;  /* who the server says it is */
    int fds[5];        /* as in struct sx_welcome; kept open */
    char refusal[256]; /* why it was not let in */
    int window_fd;     /* -1: it has not asked for one */
    struct sx_board board;
    struct sx_lane lane;
};
/* The answer's status.  On success everything is mapped. */
pmix_status_t attack_attach_hello(struct attacker *attacker, const struct sx_hello *hello);
/* The same as @rank of the attacked job. */
pmix_status_t attack_attach_as(struct attacker *attacker, uint32_t rank);
void attack_attach(struct attacker *attacker);
/* Ask for a window, instead of the one there is. */
void attack_window(struct attacker *attacker);
/* A request whose body goes through the window, all pieces but the last one answered well; the
 * answer to the request is still to come. */
void attack_large(struct attacker *attacker, uint16_t kind, uint32_t id, const void *body,
                  size_t size);
/* Close and unmap; nothing is said to the server. */
void attack_detach(struct attacker *attacker);
void attack_hello(struct sx_hello *hello, uint32_t rank);
/* One whole attack: @hello is refused with @status and one line. */
void attack_hello_refused(const char *name, const struct sx_hello *hello, pmix_status_t status);

/* ---- the host ------------------------------------------------------------------------------ */

/* When not NULL: called with true before the attacker starts, to add processes that live through
 * its attacks, and with false behind the last of them. */
extern void (*attack_company)(bool begin);

/* When not NULL: called at the end of each attack, before it is judged. */
extern void (*attack_settle)(void);

extern uint64_t attack_keeps_kib; /* what the server may keep of them: its history of events */

/* Start the role @role as the attacker, judge its attacks until it ends; two good ranks fence
 * all the while, and descriptors, maps and memory come back to what they were. */
void attack_judge(const char *role);
/* A case whose role has its name. */
int attack_case(void);

#endif
