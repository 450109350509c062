/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* descriptors.h - for a forked child that keeps few of its parent's descriptors. */
#ifndef SX_BASE_DESCRIPTORS_H
#define SX_BASE_DESCRIPTORS_H

/* Close descriptor @first and all above.  Safe in the child of a process with threads. */
void sx_descriptors_close_from(int first);

#endif
