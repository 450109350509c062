/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dispatch.h - the table: which handler answers which control frame and which lane message. */
#ifndef SX_SERVER_ENTRY_DISPATCH_H
#define SX_SERVER_ENTRY_DISPATCH_H

#include "server/model/state.h"

extern const struct sx_consumer sx_dispatch_consumer;

#endif
