/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* carry.h - what a process hands to its children besides words, environment, folder and standard
 * descriptors: limits, masks, policies, identity.
 *
 * One table has a row for each.  `shmix run` reads its own; the launcher of a server compares them
 * with its own, takes over what it can, and refuses the job otherwise.  Not covered: the process's
 * session, its terminal and its parent, and rules of Landlock, which the kernel does not show. */
#ifndef SX_LAUNCH_SERVE_CARRY_H
#define SX_LAUNCH_SERVE_CARRY_H

#include <stdbool.h>
#include <stddef.h>

size_t sx_carry_count(void);

/* Read those of this process, sx_carry_count() of them.  Return: malloc'ed, each text too. */
char **sx_carry_read(void);
void sx_carry_free(char **texts);

/* Compare @theirs with @ours.  @any_session: the two may be of different logins.  Return: the first
 * one that differs and cannot be taken over; NULL: none. */
const char *sx_carry_differs(char *const *theirs, char *const *ours, bool any_session);
/* Take over what differs.  Return: the first one that could not be; NULL: none. */
const char *sx_carry_take(char *const *theirs, char *const *ours);

/* The first variable of @theirs on which the preparation of a launcher depends, and that is not the
 * same in @ours, or is in @ours alone.  Return: NULL: none. */
const char *sx_carry_variable(char *const *theirs, char *const *ours);

#endif
