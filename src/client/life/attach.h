/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attach.h - what PMIx_Init has in common with other ways to begin: tool.c. */
#ifndef SX_CLIENT_LIFE_ATTACH_H
#define SX_CLIENT_LIFE_ATTACH_H

#include "base/call/directive_tables.h"
#include "client/link/process.h"

/* As what a process introduces itself to a server. */
struct sx_introduction {
    uint32_t role;    /* enum sx_peer_role */
    const char *home; /* of a command; NULL: none */
    pmix_proc_t name; /* to a further server; empty: it may choose one */
};

/* Make the process READY: connect it, or leave it on its own.  With life_lock. */
typedef pmix_status_t (*sx_life_open_fn)(struct sx_process *p, void *arg);

/* The first time @open; each time one finalize more is needed.  Return: PMIX_SUCCESS and who this
 * process is; as @open; PMIX_ERR_NOT_SUPPORTED where a call may not wait. */
pmix_status_t sx_life_begin(const struct sx_init_options *options, sx_life_open_fn open, void *arg,
                            pmix_proc_t *ret_self);

/* Over the socket of @link, which is connected: say HELLO, with the name in p->self (the first
 * link) or @link's, and be welcomed. *ret_before: handlers that were registered before it have
 * smaller ids.  With life_lock. */
pmix_status_t sx_life_introduce(struct sx_process *p, struct sx_link *link,
                                const struct sx_introduction *as, uint64_t deadline_ns,
                                size_t *ret_before);
/* The same for a process that is READY, on its own, over the socket @fd, which is taken over. */
pmix_status_t sx_life_join(struct sx_process *p, int fd, const struct sx_introduction *as,
                           uint64_t deadline_ns, size_t *ret_before);

/* The same for a process that has or had a server, with one server more.  Return: *ret_link;
 * PMIX_ERR_OUT_OF_RESOURCE when it has or had too many; PMIX_ERR_NOT_SUPPORTED behind shmix_fd. */
pmix_status_t sx_life_add(struct sx_process *p, int fd, const struct sx_introduction *as,
                          uint64_t deadline_ns, struct sx_link **ret_link, size_t *ret_before);

/* The process that the environment names, with the server that it names.  With life_lock.  Return:
 * PMIX_ERR_UNREACH when it names none, or nobody is there. */
pmix_status_t sx_life_attach_rank(struct sx_process *p);

/* Tell the server of @link that this process leaves in an orderly way. */
void sx_life_good_bye(struct sx_link *link);

#endif
