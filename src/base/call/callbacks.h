/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* callbacks.h - callbacks of a host that run in threads of their own, as it has no progress thread.
 *
 * Counted, so that the end of the server can wait for them.  Any thread. */
#ifndef SX_BASE_CALL_CALLBACKS_H
#define SX_BASE_CALL_CALLBACKS_H

/* One more, before its thread is started; and one less, in that thread or instead of it. */
void sx_callbacks_add(void);
void sx_callbacks_done(void);

/* The calling thread runs one, which sx_callbacks_wait does not wait for inside it. */
void sx_callbacks_enter(void);

/* Wait until no other thread has one left. */
void sx_callbacks_wait(void);

#endif
