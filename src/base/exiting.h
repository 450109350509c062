/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* exiting.h - is a process on its way out?  The kernel frees a large one's memory for seconds. */
#ifndef SX_BASE_EXITING_H
#define SX_BASE_EXITING_H

#include <stdbool.h>
#include <sys/types.h>

/* Ask the kernel whether all threads of @pid are exiting.  The caller knows that @pid has not been
 * reused: its pidfd is silent, or it is its child and not reaped.  Return: false when the kernel
 * does not tell. */
bool sx_process_is_exiting(pid_t pid);

#endif
