/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* keepalive.h - a pipe whose other end lives as long as the process that has started this tool. */
#ifndef SX_CLIENT_LIFE_KEEPALIVE_H
#define SX_CLIENT_LIFE_KEEPALIVE_H

/* Watch the pipe that the variable PMIX_KEEPALIVE_PIPE names, if there is one, until it is closed:
 * that is PMIX_EVENT_JOB_END for the handlers of this process.  The variable is taken out of the
 * environment, and programs that this one starts do not inherit the pipe. */
void sx_keepalive_begin(void);
/* Stop watching. */
void sx_keepalive_end(void);
/* In the child of a fork: the thread does not exist there. */
void sx_keepalive_forked(void);

#endif
