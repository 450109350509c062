/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lines.c - output of other processes in memory: held back until there is enough of it, and cut
 * into lines.  There is a buffer for each process and channel. */
#include "client/iof/iof.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

/* ---- held output ----------------------------------------------------------------------------- */

struct held {
    struct sx_list link;
    struct sx_iof_piece piece; /* its process and channel */
    uint64_t deadline_ns;
    size_t used;
    char bytes[]; /* room for the bytes that are handed on at once */
};

static struct held *held_find(struct sx_gather *gather, const struct sx_iof_piece *piece)
{
    SX_LIST_EACH(it, &gather->streams) {
        struct held *const stream = SX_LIST_ENTRY(it, struct held, link);

        if (stream->piece.rank == piece->rank && stream->piece.channel == piece->channel &&
            strcmp(stream->piece.nspace, piece->nspace) == 0) {
            return stream;
        }
    }
    return NULL;
}

static bool held_end(struct sx_gather *gather, struct held *stream, bool wanted)
{
    const bool goes_on = !wanted ||
                         gather->emit(gather->arg, &stream->piece, stream->bytes, stream->used);

    gather->held -= stream->used;
    sx_list_remove(&stream->link);
    free(stream);
    return goes_on;
}

static struct held *oldest(const struct sx_gather *gather)
{
    return SX_LIST_ENTRY(gather->streams.next, struct held, link);
}

/* Return: NULL when memory is out. */
static struct held *held_new(struct sx_gather *gather, const struct sx_iof_piece *piece,
                             uint64_t now_ns)
{
    struct held *const stream = malloc(sizeof(*stream) + gather->size);

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
    struct held *stream = held_find(gather, piece);
    bool goes_on = true;

    if (size == 0) {
        goes_on = stream == NULL || held_end(gather, stream, true);
        return goes_on && gather->emit(gather->arg, piece, NULL, 0);
    }
    while (size > 0 && goes_on) {
        if (stream == NULL) {
            stream = held_new(gather, piece, now_ns);
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
            goes_on = held_end(gather, stream, true);
            stream = NULL;
        }
    }
    while (goes_on && gather->held > SX_GATHER_HELD_MAX) {
        goes_on = held_end(gather, oldest(gather), true);
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
        goes_on = held_end(gather, oldest(gather), true);
    }
    return goes_on;
}

void sx_gather_end(struct sx_gather *gather, bool wanted)
{
    while (!sx_list_empty(&gather->streams)) {
        wanted = held_end(gather, oldest(gather), wanted) && wanted;
    }
}

/* ---- unfinished lines ------------------------------------------------------------------------ */

struct stream {
    struct sx_list link;
    struct sx_iof_piece piece; /* its process and channel, and the time of its last bytes */
    size_t used;
    char line[SX_LOG_LINE_MAX];
};

static const char *name_of(uint32_t channel)
{
    return channel == PMIX_FWD_STDOUT_CHANNEL   ? "stdout"
           : channel == PMIX_FWD_STDERR_CHANNEL ? "stderr"
                                                : "stddiag";
}

static struct stream *stream_find(struct sx_lines *lines, const struct sx_iof_piece *piece)
{
    SX_LIST_EACH(it, &lines->streams) {
        struct stream *const stream = SX_LIST_ENTRY(it, struct stream, link);

        if (stream->piece.rank == piece->rank && stream->piece.channel == piece->channel &&
            strcmp(stream->piece.nspace, piece->nspace) == 0) {
            return stream;
        }
    }
    return NULL;
}

static bool text_emit(struct sx_lines *lines, const struct sx_iof_piece *piece)
{
    const size_t size = lines->text_size;

    lines->text_size = 0;
    return size == 0 || lines->emit(lines->arg, piece, lines->text, size);
}

/* Emit whole lines with marks, or one of the greatest length. */
static bool lines_mark(struct sx_lines *lines, const struct sx_iof_piece *piece, const char *bytes,
                       size_t size)
{
    pmix_proc_t source = { .rank = piece->rank };
    struct sx_log_text text;
    bool goes_on = true;
    size_t made;

    memcpy(source.nspace, piece->nspace, sizeof(source.nspace));
    sx_log_text_bytes(&text, bytes, size, name_of(piece->channel),
                      &(struct sx_log_style){ .marks = lines->marks,
                                              .source = &source,
                                              .host = piece->host[0] == '\0' ? NULL : piece->host,
                                              .pid = (pid_t)piece->pid,
                                              .when = (time_t)piece->when });
    while (goes_on && (made = sx_log_text_next(&text, lines->text + lines->text_size)) > 0) {
        lines->text_size += made;
        goes_on = lines->text_size < SX_LINES_TEXT_MAX || text_emit(lines, piece);
    }
    return goes_on;
}

static bool stream_end(struct sx_lines *lines, struct stream *stream, bool wanted)
{
    const bool goes_on = !wanted || lines_mark(lines, &stream->piece, stream->line, stream->used);

    sx_list_remove(&stream->link);
    free(stream);
    return goes_on;
}

/* The beginning of a line, without its end. */
static bool line_keep(struct sx_lines *lines, const struct sx_iof_piece *piece, const char *bytes,
                      size_t size)
{
    struct stream *const stream = malloc(sizeof(*stream));

    if (stream == NULL || size >= sizeof(stream->line)) {
        free(stream);
        return lines_mark(lines, piece, bytes, size);
    }
    stream->piece = *piece;
    stream->used = size;
    memcpy(stream->line, bytes, size);
    sx_list_append(&lines->streams, &stream->link);
    return true;
}

/* Continue a line that has begun.  Return: how many of the bytes belong to it. */
static size_t line_go_on(struct sx_lines *lines, struct stream *stream, const char *bytes,
                         size_t size, bool *goes_on)
{
    const size_t room = sizeof(stream->line) - stream->used;
    const size_t reach = size < room ? size : room;
    const char *const end = memchr(bytes, '\n', reach);
    const size_t take = end != NULL ? (size_t)(end - bytes) + 1 : reach;

    memcpy(stream->line + stream->used, bytes, take);
    stream->used += take;
    if (end != NULL || stream->used == sizeof(stream->line)) {
        *goes_on = stream_end(lines, stream, true);
    }
    return take;
}

bool sx_lines_feed(struct sx_lines *lines, const struct sx_iof_piece *piece, const char *bytes,
                   size_t size)
{
    struct stream *const stream = stream_find(lines, piece);
    const bool is_end = size == 0;
    bool goes_on = true;

    if (stream != NULL && is_end) {
        goes_on = stream_end(lines, stream, true);
    } else if (stream != NULL) {
        const size_t taken = line_go_on(lines, stream, bytes, size, &goes_on);

        bytes += taken;
        size -= taken;
    }
    const char *const last = size > 0 ? memrchr(bytes, '\n', size) : NULL;
    const size_t whole = last != NULL ? (size_t)(last - bytes) + 1 : 0;

    if (goes_on && whole > 0) {
        goes_on = lines_mark(lines, piece, bytes, whole);
    }
    if (goes_on && size > whole) {
        goes_on = line_keep(lines, piece, bytes + whole, size - whole);
    }
    goes_on = goes_on && text_emit(lines, piece);
    return goes_on && is_end ? lines->emit(lines->arg, piece, NULL, 0) : goes_on;
}

void sx_lines_end(struct sx_lines *lines, bool wanted)
{
    SX_LIST_EACH(it, &lines->streams) {
        struct stream *const stream = SX_LIST_ENTRY(it, struct stream, link);
        const struct sx_iof_piece piece = stream->piece;

        wanted = stream_end(lines, stream, wanted) && wanted && text_emit(lines, &piece);
    }
}
