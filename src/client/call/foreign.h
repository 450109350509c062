/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.h - a job whose server is of another PMIx library. */
#ifndef SX_CLIENT_CALL_FOREIGN_H
#define SX_CLIENT_CALL_FOREIGN_H

#include <pmix_common.h>

/* For a process that no server of ours is named to: when another one is, say which libraries meet
 * here, and what to set. */
void sx_foreign_server_tell(const pmix_proc_t *self);

#endif
