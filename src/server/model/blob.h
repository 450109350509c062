/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* blob.h - what ranks have put, as bytes for the servers of other nodes.
 *
 *   blob:  {u32 magic, u16 version, u16 flags, u64 size of the whole blob} sections
 *   section: {u32 rank, u32 nspace_len, u64 size of what follows} nspace padded to 8, messages
 *   message: {u64 length} struct sx_lane_put, key, body as in a lane, padded to 8
 *
 * A value with qualifiers is one message as it was put, or it comes out of a store: then its legend
 * and its value are two messages (SX_PUT_QUALIFIED).
 *
 * A blob contains its own length and is never empty.  Several blobs mean the same in any order of
 * concatenation, because hosts concatenate the blobs of all nodes in an order of their own. */
#ifndef SX_SERVER_MODEL_BLOB_H
#define SX_SERVER_MODEL_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/system/pages.h"
#include "ring/record.h"
#include "shmem/store.h"

struct sx_client;
struct sx_nspace;
struct sx_server;

enum sx_blob_magic {
    SX_BLOB_PUTS = 0x584d5853,  /* "SXMX": what is drawn above */
    SX_BLOB_ROUND = 0x44525853, /* "SXRD": rounds.h */
};

#define SX_BLOB_PARTIAL 1u /* flag: members of the fence may have no section */

/* ---- news: news.c ----------------------------------------------------------------------------
 *
 * The values that a client has put since all nodes last received its values, as messages in a row.
 *
 *     gone                        begin                          end
 *      | messages that have arrived | messages, and references ... | one that is copied |
 *
 *   message: as above
 *   reference: {u64 UINT64_MAX} struct sx_news_reference: a value in a store
 *
 * A position counts the bytes of all messages that there have ever been.  Nothing is moved when
 * messages have arrived: the others begin later, and whole pages before them go back to the
 * kernel.  Loop thread. */

#define SX_NEWS_REFERENCE UINT64_MAX /* instead of a length */
struct sx_news_reference {
    uint64_t newer; /* the position of the next one to the same key; 0: this is the last one */
    uint64_t older; /* the position behind one before it, of another key, that is the last one */
    char key[PMIX_MAX_KEYLEN + 1];
};
static_assert(sizeof(struct sx_news_reference) % 8 == 0, "a message");

/* Zeroed: none. */
struct sx_news {
    struct sx_pages pages;
    size_t begin, end; /* offsets in the pages */
    size_t copied;     /* bytes behind the end, of a message that does not count yet; 0: none */
    uint64_t gone;     /* the position of the first */
    uint64_t referred; /* the position behind the last reference; 0: none */
    uint64_t sent;     /* the position before which somebody has begun to send them */
};

static inline uint64_t sx_news_end(const struct sx_news *news)
{
    return news->gone + (news->end - news->begin);
}

/* The bytes at the position @at, which is not before the first. */
static inline const char *sx_news_at(const struct sx_news *news, uint64_t at)
{
    return (const char *)news->pages.at + news->begin + (at - news->gone);
}

/* Append a message (a checked lane put).  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_news_add(struct sx_news *news, const void *put, size_t size);

/* The same in steps, of about *left bytes, which are counted down: @put is copied, and stays the
 * same meanwhile.  When others have been added, or all dropped, it begins again.  *copy is zeroed
 * in the beginning.  Return: PMIX_SUCCESS: sx_news_count makes it one of the messages;
 * PMIX_ERR_WOULD_BLOCK: another step is needed; PMIX_ERR_OUT_OF_RESOURCE. */
struct sx_news_copy {
    uint64_t at; /* the position behind the last message then */
    size_t copied;
};
pmix_status_t sx_news_add_step(struct sx_news *news, struct sx_news_copy *copy, const void *put,
                               size_t size, size_t *left);
/* The copied message counts from now on, unless all have been dropped meanwhile. */
void sx_news_count(struct sx_news *news, const struct sx_news_copy *copy);

/* Append a reference to the value of @key: a long value is copied once then, when its receivers
 * get it, however often it was put.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_news_refer(struct sx_news *news, const char *key);

/* All nodes have those before the position @sent.  Some of them may have gone before. */
void sx_news_arrived(struct sx_news *news, uint64_t sent);

/* Remove all of them. */
void sx_news_drop(struct sx_news *news);

/* ---- blobs ----------------------------------------------------------------------------------- */

/* Growing bytes; zeroed is empty. */
struct sx_blob {
    char *bytes; /* malloc'ed: the taker frees them */
    size_t size, capacity;
    size_t header; /* offset of the header of the blob that grows: others may be in front of it */
};

void sx_blob_clear(struct sx_blob *blob);

/* A header with nothing behind it.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_blob_begin_as(struct sx_blob *blob, enum sx_blob_magic magic);
static inline pmix_status_t sx_blob_begin(struct sx_blob *blob)
{
    return sx_blob_begin_as(blob, SX_BLOB_PUTS);
}
/* The same as a blob inside another one, at the end of what @blob has: it grows until the caller
 * sets the header of the outer one again. */
pmix_status_t sx_blob_begin_inside(struct sx_blob *blob);
/* @size zeroed bytes more; they count once the blob is sealed.  Return: NULL when memory is out. */
char *sx_blob_extend(struct sx_blob *blob, size_t size);
/* Write the size of the blob into its header. */
void sx_blob_seal(struct sx_blob *blob);
/* Set a flag of the blob, which has begun. */
void sx_blob_flag(struct sx_blob *blob, uint16_t flag);
/* Append a section: @messages as they came, or everything of the rank that other nodes may
 * see, out of the stores. */
pmix_status_t sx_blob_add_messages(struct sx_blob *blob, const char *nspace, uint32_t rank,
                                   const void *messages, size_t size);
pmix_status_t sx_blob_add_rank(struct sx_blob *blob, const struct sx_client *client);

/* Append a section with the news of the rank, and with the values to which they refer. */
pmix_status_t sx_blob_add_news(struct sx_blob *blob, struct sx_client *client);

/* A value of a store, of which a part has been copied; zeroed: there is none. */
struct sx_value_pack {
    const struct sx_store_writer *store;
    const void *body; /* NULL: none */
    uint64_t len, copied;
    uint64_t generation;
    size_t message, message_body; /* offsets in the blob */
    unsigned restarts;            /* it has moved meanwhile */
};

/* Append the news in steps: those that the rank has at the first one. */
struct sx_news_pack {
    const struct sx_client *client; /* which keeps its namespace */
    uint64_t at, end;               /* of all bytes of its news */
    uint64_t message_left;          /* of a message of which a part has been copied */
    size_t section, messages;       /* offsets in the blob: of the section, and of its messages */
    struct sx_value_pack value;     /* to which they refer */
};
/* A value that is put again from now on is news again.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_news_pack_begin(struct sx_news_pack *pack, struct sx_blob *blob,
                                 struct sx_client *client);
/* Copy about *left bytes, and count them down.  Return: PMIX_SUCCESS: the section is complete;
 * PMIX_ERR_WOULD_BLOCK: another step is needed; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_news_pack_step(struct sx_news_pack *pack, struct sx_blob *blob, size_t *left);

/* Append everything of the rank in steps, as above: what it has at the first one, or newer values
 * of the same keys. */
struct sx_rank_pack {
    const struct sx_client *client; /* which keeps its namespace */
    size_t section;                 /* offsets in the blob: of the section, ... */
    size_t first, messages;         /* ... of its messages, and of the phase's */
    unsigned phase;                 /* the store that is walked: blob.c ... */
    uint64_t generation;            /* ... which had this one ... */
    struct sx_store_walk walk;      /* ... as far as here */
    uint32_t moves;                 /* of the client, when the first walk began ... */
    uint64_t remote_generation;     /* ... and of the other store, 0: there was none */
    struct sx_value_pack value;
    unsigned restarts; /* in this phase: the store has been renewed meanwhile ... */
    unsigned returns;  /* ... and both are walked again, as a value may have been missed */
};
pmix_status_t sx_rank_pack_begin(struct sx_rank_pack *pack, struct sx_blob *blob,
                                 const struct sx_client *client);
pmix_status_t sx_rank_pack_step(struct sx_rank_pack *pack, struct sx_blob *blob, size_t *left);
/* Return: how often something was packed anew. */
static inline unsigned sx_rank_pack_restarts(const struct sx_rank_pack *pack)
{
    return pack->restarts + pack->value.restarts;
}

/* One of several blobs that a host has concatenated. */
struct sx_blob_view {
    enum sx_blob_magic magic;
    uint16_t flags;
    const char *bytes; /* all of it ... */
    size_t size;
    const uint8_t *body; /* ... and what is behind its header */
    size_t body_size;
};
/* The next one of the *left bytes at *at (at a multiple of 8), which are moved on.  Return: false
 * for bytes that are not a blob of this version. */
bool sx_blob_next(const char **at, size_t *left, struct sx_blob_view *ret);

/* Call @fn with the rank of each section of these blobs (at a multiple of 8), also where it has no
 * puts.  Return: false when a blob is partial, or is not of puts. */
bool sx_blob_sections(const char *bytes, size_t size,
                      void (*fn)(const char *nspace, uint32_t rank, void *arg), void *arg);

/* Some may hand out any address: *bytes at a multiple of 8, as they are or copied to *ret_copy,
 * which the caller frees.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_blob_align(const char **bytes, size_t size, char **ret_copy);

/* Log that these bytes, which the host has brought for @what of @nspace, are not blobs.  Return:
 * PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_blob_refuse(size_t size, const char *what, const char *nspace);

/* Blobs, concatenated, at a multiple of 8. */
struct sx_blob_piece {
    const char *bytes;
    size_t size;
};

/* How far received bytes have been read; zeroed but for the pieces. */
struct sx_blob_reader {
    const struct sx_blob_piece *pieces; /* that have not begun */
    size_t piece_count;
    struct sx_blob_piece blobs, sections, messages; /* the rest of the piece, blob, section */
    char nspace[PMIX_MAX_NSLEN + 1];                /* of the section ... */
    uint32_t rank;                                  /* ... and its rank */
};

/* Hand each put (the bytes of a sx_put_body) to @fn, and count *left down, in bytes: a put takes
 * some, and what @fn counts besides.  For ranks of this node, and of unknown namespaces, @fn gets
 * nspace NULL.  @fn returns PMIX_SUCCESS; PMIX_ERR_WOULD_BLOCK, and gets the put again;
 * PMIX_ERR_UNPACK_FAILURE.  Return: PMIX_SUCCESS when all is read; PMIX_ERR_WOULD_BLOCK: another
 * step is needed; PMIX_ERR_UNPACK_FAILURE, for the caller to refuse, for bytes that are not a blob,
 * or that @fn refuses (after the puts before them). */
typedef pmix_status_t (*sx_blob_fn)(void *arg, struct sx_nspace *nspace, uint32_t rank,
                                    const struct sx_blob_piece *put, size_t *left);
pmix_status_t sx_blob_read_step(struct sx_blob_reader *reader, struct sx_server *server,
                                sx_blob_fn fn, void *arg, size_t *left);

#endif
