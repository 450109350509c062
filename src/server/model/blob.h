/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* blob.h - what ranks have put, as bytes for the servers of other nodes.
 *
 *   blob:  {u32 magic, u16 version, u16 0, u64 size of the whole blob} sections
 *   section: {u32 rank, u32 nspace_len, u64 size of what follows} nspace padded to 8, messages
 *   message: {u64 length} struct sx_lane_put, key, body as in a lane, padded to 8
 *
 * A blob tells its own end, is never empty, and means the same in any order in which several of
 * them are concatenated: hosts concatenate the blobs of all nodes in an order of their own. */
#ifndef SX_SERVER_MODEL_BLOB_H
#define SX_SERVER_MODEL_BLOB_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "ring/record.h"

struct sx_client;
struct sx_nspace;
struct sx_server;

/* Growing bytes; zeroed is empty. */
struct sx_blob {
    char *bytes; /* malloc'ed: the taker frees them */
    size_t size, capacity;
};

void sx_blob_clear(struct sx_blob *blob);

/* A blob without sections.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_blob_begin(struct sx_blob *blob);
/* Append a section: @messages as they came (news), or everything of the rank that other nodes may
 * see, out of the stores. */
pmix_status_t sx_blob_add_messages(struct sx_blob *blob, const char *nspace, uint32_t rank,
                                   const void *messages, size_t size);
pmix_status_t sx_blob_add_rank(struct sx_blob *blob, const struct sx_client *client);

/* Append one message (a checked lane put) to a list of messages. */
pmix_status_t sx_blob_message(struct sx_blob *messages, const void *put, size_t size);

/* Hand each put (sx_put_body, opened) of what came from elsewhere to @fn: any number of blobs glued
 * together.  Ranks that live here and namespaces nobody knows are passed over.  Return:
 * PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE with one line for bytes that are no blob, or that @fn
 * refuses (it has had what came before them). */
typedef pmix_status_t (*sx_blob_fn)(struct sx_nspace *nspace, uint32_t rank,
                                    const struct sx_opened *put);
pmix_status_t sx_blob_read(struct sx_server *server, const char *bytes, size_t size, sx_blob_fn fn);

#endif
