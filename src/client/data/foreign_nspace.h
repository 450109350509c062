/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign_nspace.h - the store of a job whose server is not ours. */
#ifndef SX_CLIENT_DATA_FOREIGN_NSPACE_H
#define SX_CLIENT_DATA_FOREIGN_NSPACE_H

#include <stdbool.h>

#include "shmem/store.h"

/* Map the newest generation of @nspace, of any server of this process's user on the node.
 * Return: false when there is none, or its namespace has ended. */
bool sx_stranger_find(const char *nspace, struct sx_store *ret_store);

#endif
