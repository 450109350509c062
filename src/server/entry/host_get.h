/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_get.h - what the host itself may ask and keep: Get and Store_internal in a server. */
#ifndef SX_SERVER_ENTRY_HOST_GET_H
#define SX_SERVER_ENTRY_HOST_GET_H

#include "base/call/role.h"

extern const struct sx_role_server sx_hostget_role;

/* The server has ended: forget what the host stored. */
void sx_hostget_clear(void);

#endif
