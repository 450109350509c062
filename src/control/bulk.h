/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bulk.h - bodies that do not fit in a frame; private to control.
 *
 * A server puts one into a memfd, seals it and sends it with the frame.  A client may send no
 * descriptors: it asks its server for a window, a memfd of SX_WINDOW_BYTES that both have open, and
 * writes the body there piece by piece; the server reads a piece with each frame.  The server
 * copies, then judges, so a client's later changes to its window have no effect. */
#ifndef SX_CONTROL_BULK_H
#define SX_CONTROL_BULK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/system/pages.h"
#include "control/message.h"

/* ---- server to client ---------------------------------------------------------------------- */

/* Put a body into a sealed memfd.  Return: PMIX_SUCCESS, or a status that was logged. */
pmix_status_t sx_bulk_make(const struct iovec *iov, int iov_count, uint64_t size, int *ret_fd);

/* Map the body behind @fd, which has @size bytes according to its frame.  The body is mapped only
 * when it is sealed against change, when it has that size, and when its pages exist (reading holes
 * would charge their memory to this process).  Return: NULL, or the reason of a refusal. */
const char *sx_bulk_map(int fd, uint64_t size, void **ret_map);

/* ---- client to server ---------------------------------------------------------------------- */

/* The server's side of one client's window, and the body that is on its way through it. */
struct sx_bulk_in {
    int window_fd; /* -1: not requested */
    uint16_t kind; /* of the body that has begun, 0: none has */
    uint32_t id;
    struct sx_pages pages; /* with the bytes received, */
    size_t size;           /* so many */
};
#define SX_BULK_IN_NULL ((struct sx_bulk_in){ .window_fd = -1 })

/* Make the window, in place of an earlier one.  Return: PMIX_SUCCESS, or a status that was
 * logged. */
pmix_status_t sx_bulk_window(struct sx_bulk_in *in);

/* Take the piece of a body that @header describes.  Return: NULL, and *ret_status is PMIX_SUCCESS
 * or PMIX_ERR_OUT_OF_RESOURCE (the body is dropped); or the reason to drop the client. */
const char *sx_bulk_take(struct sx_bulk_in *in, const struct sx_frame_header *header,
                         pmix_status_t *ret_status);

/* Hand over the complete body, whose pages the caller frees. */
struct sx_pages sx_bulk_give(struct sx_bulk_in *in, size_t *ret_size);

/* Safe on SX_BULK_IN_NULL and twice. */
void sx_bulk_clear(struct sx_bulk_in *in);

#endif
