/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wakefd.h - shmix_fd: one descriptor that is readable when this process has something to do.
 *
 * It is for a program that sleeps in poll(2).  When it wakes, it calls PMIx_Progress and reads each
 * reader of events to its end.  A thread that polls for news arms the descriptor first and polls
 * then, so later news ring again.  All of this costs one comparison in a process that has not asked
 * for the descriptor. */
#ifndef SX_CLIENT_LINK_WAKEFD_H
#define SX_CLIENT_LINK_WAKEFD_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_link;

/* Whether the program has asked for the descriptor.  Any thread. */
bool sx_wakefd_is_used(void);

/* Sleep from here on, for all classes that are wanted in this process.  The caller polls for news
 * afterwards.  Return: false when the process sleeps already, and there was nothing to silence.
 * Under lock. */
bool sx_wakefd_arm_locked(void);

/* There is news from this process itself.  Make the descriptor readable, if it is not readable
 * already.  Under lock. */
void sx_wakefd_tell_locked(void);

/* From here on this process waits for one more class of news, which is published later.  Under
 * lock. */
void sx_wakefd_want_locked(void);

/* There is one more reader.  The reader may have something to read at once.  Under lock. */
void sx_wakefd_reader_opened_locked(void);

/* Open the descriptor; one thread at a time may do so.  `begin` is true for the thread that may.
 * `open` takes over @server_fd, which the server of @link writes to (-1: there is no server).
 * In any case that thread then calls `end`.  `end` returns the descriptor, or -1, and rings for
 * the others. Under lock. */
bool sx_wakefd_begin(void *arg);
pmix_status_t sx_wakefd_open_locked(struct sx_link *link, int server_fd);
int sx_wakefd_end_locked(void);

/* PMIx_Finalize: close it. */
void sx_wakefd_deinit(void);

/* A forked child: the sockets are the parent's to read.  Under no lock. */
void sx_wakefd_forget(void);

#endif
