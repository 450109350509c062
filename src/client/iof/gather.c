/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gather.c - a buffer for each process and channel with held output. */
#include "client/iof/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

struct stream {
    struct sx_list link;
    struct sx_iof_piece piece; /* its process and channel */
    uint64_t deadline_ns;
    size_t used;
    char bytes[]; /* room for the bytes that are handed on at once */
};

static struct stream *stream_find(struct sx_gather *gather, const struct sx_iof_piece *piece)
{
    SX_LIST_EACH(it, &gather->streams) {
        struct stream *const stream = SX_LIST_ENTRY(it, struct stream, link);

        if (stream->piece.rank == piece->rank && stream->piece.channel == piece->channel &&
            strcmp(stream->piece.nspace, piece->nspace) == 0) {
            return stream;
        }
    }
    return NULL;
}

static bool stream_end(struct sx_gather *gather, struct stream *stream, bool wanted)
{
    const bool goes_on = !wanted ||
                         gather->emit(gather->arg, &stream->piece, stream->bytes, stream->used);

    gather->held -= stream->used;
    sx_list_remove(&stream->link);
    free(stream);
    return goes_on;
}

static struct stream *oldest(const struct sx_gather *gather)
{
    return SX_LIST_ENTRY(gather->streams.next, struct stream, link);
}

/* Return: NULL when memory is out. */
static struct stream *stream_new(struct sx_gather *gather, const struct sx_iof_piece *piece,
                                 uint64_t now_ns)
{
    struct stream *const stream = malloc(sizeof(*stream) + gather->size);

    if (stream != NULL) {
        stream->piece = *piece;
        stream->used = 0;
        stream->deadline_ns = gather->time_ns == 0 ? SX_DEADLINE_NEVER
                                                   : sx_deadline_ns(now_ns, gather->time_ns);
        sx_list_append(&gather->streams, &stream->link);
    }
    return stream;
}

bool sx_gather_put(struct sx_gather *gather, const struct sx_iof_piece *piece, const char *bytes,
                   size_t size, uint64_t now_ns)
{
    struct stream *stream = stream_find(gather, piece);
    bool goes_on = true;

    if (size == 0) {
        goes_on = stream == NULL || stream_end(gather, stream, true);
        return goes_on && gather->emit(gather->arg, piece, NULL, 0);
    }
    while (size > 0 && goes_on) {
        if (stream == NULL) {
            stream = stream_new(gather, piece, now_ns);
        }
        if (stream == NULL) {
            return gather->emit(gather->arg, piece, bytes, size);
        }
        const size_t room = gather->size - stream->used;
        const size_t take = size < room ? size : room;

        memcpy(stream->bytes + stream->used, bytes, take);
        stream->used += take;
        gather->held += take;
        bytes += take;
        size -= take;
        if (stream->used == gather->size) {
            goes_on = stream_end(gather, stream, true);
            stream = NULL;
        }
    }
    while (goes_on && gather->held > SX_GATHER_HELD_MAX) {
        goes_on = stream_end(gather, oldest(gather), true);
    }
    return goes_on;
}

uint64_t sx_gather_deadline_ns(const struct sx_gather *gather)
{
    return sx_list_empty(&gather->streams) ? SX_DEADLINE_NEVER : oldest(gather)->deadline_ns;
}

bool sx_gather_check(struct sx_gather *gather, uint64_t now_ns)
{
    bool goes_on = true;

    while (goes_on && sx_gather_deadline_ns(gather) <= now_ns) {
        goes_on = stream_end(gather, oldest(gather), true);
    }
    return goes_on;
}

void sx_gather_end(struct sx_gather *gather, bool wanted)
{
    while (!sx_list_empty(&gather->streams)) {
        wanted = stream_end(gather, oldest(gather), wanted) && wanted;
    }
}
