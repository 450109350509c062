/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* exiting.h - is a process on its way out?  The kernel frees a large one's memory for seconds. */
#ifndef SX_BASE_EXITING_H
#define SX_BASE_EXITING_H

#include <stdbool.h>

/* Ask the kernel whether all threads of the process behind @pidfd are exiting, or have.  Return:
 * false when the kernel does not tell: there is no pidfd (-1), no /proc, or a /proc that does not
 * show this process. */
bool sx_process_is_exiting(int pidfd);

#endif
