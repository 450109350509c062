/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wakefd.h - shmix_fd: one descriptor that is readable when this process has something to do.
 *
 * It is for a program that sleeps in poll(2) and looks after it is woken: PMIx_Progress, and each
 * reader of events to its end.  Whoever looks arms first and looks then, so what comes later rings
 * again.  All of this costs one comparison in a process that has not asked for the descriptor. */
#ifndef SX_CLIENT_LINK_WAKEFD_H
#define SX_CLIENT_LINK_WAKEFD_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

/* Somebody has asked for the descriptor.  Any thread. */
bool sx_wakefd_is_used(void);

/* Sleep from here on, for what anybody here wants; the caller looks for news after it.  Return:
 * false when the process sleeps already, and there was nothing to silence.  Under lock. */
bool sx_wakefd_arm_locked(void);

/* News of this process alone, for those who have not been looked after: the descriptor becomes
 * readable, if it was not made so already.  Under lock. */
void sx_wakefd_tell_locked(void);

/* This process waits for something new from here on; what it waits for is published later.  Under
 * lock. */
void sx_wakefd_want_locked(void);

/* There is one more reader, who may have something to read at once.  Under lock. */
void sx_wakefd_reader_opened_locked(void);

/* Opening it, by one thread at a time: begin is true for the one that may.  Open takes over
 * @server_fd, which the server writes to (-1: there is no server).  Whatever the outcome the thread
 * says end, which returns the descriptor, -1 without, and rings for the others.  Under lock. */
bool sx_wakefd_begin(void *arg);
pmix_status_t sx_wakefd_open_locked(int server_fd);
int sx_wakefd_end_locked(void);

/* PMIx_Finalize: close it. */
void sx_wakefd_deinit(void);

/* A forked child: the sockets are the parent's to read.  Under no lock. */
void sx_wakefd_forget(void);

#endif
