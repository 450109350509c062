/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* oneway.h - a SEQPACKET socket on which a server only sends, and its reader only reads.
 *
 * The reader sends one signal: that it wants no more (shutdown(2) or close(2)).  Other messages
 * from it are never taken. */
#ifndef SX_CONTROL_ONEWAY_H
#define SX_CONTROL_ONEWAY_H

#include <sys/uio.h>

#include <pmix_common.h>

enum sx_oneway_said {
    SX_ONEWAY_NOTHING,
    SX_ONEWAY_ENOUGH, /* it wants no more, or has gone */
    SX_ONEWAY_BREACH, /* it has sent a message */
};

/* Both ends, close-on-exec.  Return: PMIX_SUCCESS; as sx_status_from_errno. */
pmix_status_t sx_oneway_open(int *ret_server, int *ret_reader);
/* The state of the reader of the server's end @fd.  Never waits. */
enum sx_oneway_said sx_oneway_hear(int fd);
/* One message.  Never waits.  Return: 0 or an errno value. */
int sx_oneway_send(int fd, const struct iovec *iov, size_t iov_count);
/* Close the server's end.  Sent messages can still be read.  Never waits. */
void sx_oneway_close(int fd);

#endif
