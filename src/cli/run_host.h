/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_host.h - the launcher as host of a PMIx server: the public server interface and no more.
 *
 * The server's upcalls come on a thread of the library.  They answer at once, but for abort: it
 * is noted, the launcher's thread is woken through event_fd, and the caller stays blocked in
 * PMIx_Abort until the job has been killed. */
#ifndef SX_CLI_RUN_HOST_H
#define SX_CLI_RUN_HOST_H

#include <sys/types.h>

#include "cli/run_options.h"
#include "cli/run_place.h"
#include "cli/session.h"

#define SX_RUN_ABORT_TEXT_MAX 256

struct sx_run_abort {
    uint32_t rank;
    int status;
    bool after_loss; /* a rank had been lost before: this may be what its peers make of it */
    char text[SX_RUN_ABORT_TEXT_MAX];
};

struct sx_run_host {
    int event_fd;  /* readable: sx_run_host_abort_take has something */
    bool serving;
    uint32_t rank_count;
    const char *nspace;
};

/* Start the server and register the job's @options->rank_count ranks.  One host a process.
 * Return: true; false with one line in @message.  Deinit in either case. */
bool sx_run_host_init(struct sx_run_host *host, const struct sx_run_options *options,
                      const struct sx_run_machine *machine, const struct sx_session *session,
                      char message[SX_RUN_MESSAGE_MAX]);
/* Answer who still waits, and end the server. */
void sx_run_host_deinit(struct sx_run_host *host);

/* Add to @env what @rank needs to find the server.  Return: false with one line in @message. */
bool sx_run_host_setup_fork(const struct sx_run_host *host, uint32_t rank, char ***env,
                            char message[SX_RUN_MESSAGE_MAX]);

/* True while a process of @rank is a client: it has called PMIx_Init, and PMIx_Finalize not yet.
 * The server reports a finalize before it answers it, so after a rank's exit this is settled. */
bool sx_run_host_is_client(const struct sx_run_host *host, uint32_t rank);

/* The first abort of the job, once.  Return: false when there is none, or it was taken. */
bool sx_run_host_abort_take(struct sx_run_host *host, struct sx_run_abort *ret_abort);

#endif
