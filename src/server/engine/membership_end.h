/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_end.h - what the end of a named list of processes, or of a member, means to those who
 * do something together under its name. */
#ifndef SX_SERVER_ENGINE_MEMBERSHIP_END_H
#define SX_SERVER_ENGINE_MEMBERSHIP_END_H

#include "server/model/membership.h"
#include "server/model/proc_list.h"

/* It is no more, for all, and @entry is freed.  What its members still do under its name ends with
 * PMIX_ERR_NOT_FOUND when the loop is next: here others may be ending. */
void sx_membership_end(struct sx_server *server, struct sx_membership_entry *entry);

/* Its member @client goes.  The engine, which hears of it next, is told what it means there: the
 * SX_PARDON_* of @pardons, and without them that what names the list waits for @client in vain. */
void sx_membership_tell(struct sx_server *server, const struct sx_membership_entry *entry,
                        struct sx_client *client, uint8_t pardons);

/* The members that are left, in @ret, which is the caller's to clear.  Return: whether one of them
 * is here. */
bool sx_membership_left(struct sx_server *server, const struct sx_membership_entry *entry,
                        struct sx_proc_list *ret);

#endif
