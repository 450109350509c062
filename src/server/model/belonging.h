/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* belonging.h - the lists of processes that a client is in, found from the client.
 *
 * A list has a link for each of its ranks, which hangs at the client of that member while it is one
 * and is registered here.  So a client that ends visits its own lists alone. */
#ifndef SX_SERVER_MODEL_BELONGING_H
#define SX_SERVER_MODEL_BELONGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct sx_membership_entry;
struct sx_server;

struct sx_belonging {
    struct sx_list link; /* client.belongings, by its kind; zeroed: it hangs nowhere */
    struct sx_membership_entry *entry;
};

/* By rank in the list.  Zeroed is empty. */
struct sx_belongings {
    struct sx_belonging *all;
    size_t count;
};

/* Links for @count ranks, which hang nowhere.  Return: false when memory is out. */
bool sx_belongings_new(struct sx_belongings *ret, size_t count);
/* Hang the links of @entry, which has one for each of its ranks, at its members. */
void sx_belongings_hang(struct sx_server *server, struct sx_membership_entry *entry);
/* The member of @rank has left. */
void sx_belongings_leave(struct sx_belongings *belongings, uint32_t rank);
/* Safe twice. */
void sx_belongings_clear(struct sx_belongings *belongings);

#endif
