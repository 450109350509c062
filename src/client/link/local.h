/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* local.h - waking the threads of this process. */
#ifndef SX_CLIENT_LINK_LOCAL_H
#define SX_CLIENT_LINK_LOCAL_H

/* Wake every waiting thread, which checks its condition again.  Under lock. */
void sx_local_ring_locked(void);

#endif
