/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bulk.h - bodies that do not fit in a frame; private to control.
 *
 * A server puts one into a memfd, seals it and sends it with the frame.  A client may send no
 * descriptors: it asks its server for a window, a memfd of SX_WINDOW_BYTES that both have open, and
 * writes there piece by piece what the server reads with each frame.  The server copies, then
 * judges, so it matters to nobody else what a client does to its window meanwhile. */
#ifndef SX_CONTROL_BULK_H
#define SX_CONTROL_BULK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "control/message.h"

/* ---- server to client ---------------------------------------------------------------------- */

/* Put a body into a sealed memfd.  Return: PMIX_SUCCESS, or a status that was told. */
pmix_status_t sx_bulk_make(const struct iovec *iov, int iov_count, uint64_t size, int *ret_fd);

/* Map the body behind @fd, of which its frame says that it has @size bytes: it is mapped only when
 * nobody can change it any more, when it is as long as the frame says, and when its pages exist
 * (reading holes would charge their memory to us).  Return: NULL, or why it is refused. */
const char *sx_bulk_map(int fd, uint64_t size, void **ret_map);

/* ---- client to server ---------------------------------------------------------------------- */

/* The server's side of one client's window, and the body that is on its way through it. */
struct sx_bulk_in {
    int window_fd; /* -1: it has not asked for one */
    uint16_t kind; /* of the body that has begun, 0: none has */
    uint32_t id;
    uint8_t *bytes; /* malloc'ed, 8-aligned */
    size_t size, capacity;
};
#define SX_BULK_IN_NULL ((struct sx_bulk_in){ .window_fd = -1 })

/* Make the window, instead of the one there was.  Return: PMIX_SUCCESS, or a status that was
 * told. */
pmix_status_t sx_bulk_window(struct sx_bulk_in *in);

/* Take the piece that @header is about.  Return: NULL, and *ret_status is PMIX_SUCCESS or
 * PMIX_ERR_OUT_OF_RESOURCE (the body is forgotten); or why a client that does this is dropped. */
const char *sx_bulk_take(struct sx_bulk_in *in, const struct sx_frame_header *header,
                         pmix_status_t *ret_status);

/* The body is whole: the caller frees it. */
uint8_t *sx_bulk_give(struct sx_bulk_in *in, size_t *ret_size);

/* Safe on SX_BULK_IN_NULL and twice. */
void sx_bulk_clear(struct sx_bulk_in *in);

#endif
