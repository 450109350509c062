/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attach.h - the steps that PMIx_Init shares with other ways to begin: tool.c. */
#ifndef SX_CLIENT_LIFE_ATTACH_H
#define SX_CLIENT_LIFE_ATTACH_H

#include "base/call/directive_tables.h"
#include "client/link/link.h"

/* The role and name that a process sends to a server. */
struct sx_introduction {
    uint32_t role;    /* enum sx_peer_role */
    const char *home; /* the job of a command; NULL: none */
    pmix_proc_t name; /* for a further server; empty: it may choose one */
};

/* Make the process READY: connect it, or leave it a singleton.  With life_lock. */
typedef pmix_status_t (*sx_life_open_fn)(struct sx_process *p, void *arg);

/* Call @open the first time; each call needs one finalize more.  Return: PMIX_SUCCESS and the name
 * of this process; as @open; PMIX_ERR_NOT_SUPPORTED where a call may not wait. */
pmix_status_t sx_life_begin(const struct sx_init_options *options, sx_life_open_fn open, void *arg,
                            pmix_proc_t *ret_self);

/* Over the socket of @link, which is connected: send HELLO, with the name in p->self (the first
 * link) or @link's, and receive WELCOME.  *ret_before: handlers that were registered before it have
 * smaller ids.  With life_lock. */
pmix_status_t sx_life_introduce(struct sx_process *p, struct sx_link *link,
                                const struct sx_introduction *as, uint64_t deadline_ns,
                                size_t *ret_before);
/* The same for a READY singleton, over the socket @fd, which is taken over. */
pmix_status_t sx_life_join(struct sx_process *p, int fd, const struct sx_introduction *as,
                           uint64_t deadline_ns, size_t *ret_before);

/* The same for a process that has or had a server, with one server more.  Return: *ret_link;
 * PMIX_ERR_OUT_OF_RESOURCE when the process has or had too many; PMIX_ERR_NOT_SUPPORTED behind
 * shmix_fd. */
pmix_status_t sx_life_add(struct sx_process *p, int fd, const struct sx_introduction *as,
                          uint64_t deadline_ns, struct sx_link **ret_link, size_t *ret_before);

/* Open the process that the environment names, with the server that it names.  With life_lock.
 * Return: PMIX_ERR_UNREACH when it names no server, or none listens there. */
pmix_status_t sx_life_attach_rank(struct sx_process *p);

/* Send the server of @link that this process leaves in an orderly way. */
void sx_life_good_bye(struct sx_link *link);

#endif
