/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.h - the ranks' output, whole lines at a time, and never more of it than is taken.
 *
 *   rank's pipe --> stream (the unfinished line) --> sink (a queue) --> the launcher's stdout
 *
 * A stream hands on whole lines; an unfinished one waits for its end, the end of the file, or
 * SX_RUN_LINE_MAX bytes.  If none of them comes in SX_RUN_LINE_WAIT_NS and the pipe is empty, what
 * is there of it is shown: a program has flushed a prompt or a bar.  It is not shown where whole
 * blocks were written, as by a full buffer, which cuts lines anywhere; nor in XML.  A terminal cuts
 * them when it is full, so where much of it comes at once, a second is waited for more.
 *
 * A sink that is not emptied stops reading from its streams, so a slow
 * reader slows the ranks and nothing else.  Lines of different streams never mix: where one stays
 * open, another's output begins on a line of its own.  A lone stream without marks is passed on
 * byte by byte as it comes, prompts included. */
#ifndef SX_LAUNCH_STDIO_OUTPUT_H
#define SX_LAUNCH_STDIO_OUTPUT_H

#include <stddef.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/stream/marks.h"
#include "base/stream/out.h"
#include "launch/job/loop.h"
#include "launch/stdio/files.h"

#define SX_RUN_LINE_MAX 65536u
#define SX_RUN_LINE_WAIT_NS (100 * SX_NS_PER_MS)
#define SX_RUN_QUEUE_HIGH 262144u /* the readers pause above this ... */
#define SX_RUN_QUEUE_LOW 65536u   /* ... and go on below this */

struct sx_run_sink {
    struct sx_run_loop *loop;   /* the launcher's */
    struct sx_run_loop readers; /* the streams of this sink */
    struct sx_run_watch readers_watch;
    struct sx_run_watch writable;
    struct sx_out out;
    bool armed;  /* waits for room */
    bool paused; /* its readers do not read */
    int error;   /* errno of a write that failed for good; the rest is thrown away */
    char *queue;
    size_t head, used, room;
    const void *line_owner; /* whose unfinished line is the last thing in the queue; NULL: none */
    struct sx_list open_lines; /* streams with something to be shown, the oldest first */
};

struct sx_run_stream;

/* Who else has what a stream reads. */
struct sx_run_taker {
    /* Whether it takes more of @stream; else it holds it. */
    bool (*ready)(struct sx_run_stream *stream);
    void (*take)(struct sx_run_stream *stream, const char *bytes, size_t size); /* 0: the end */
    void (*gone)(struct sx_run_stream *stream); /* while it was held */
};

/* Whose output it is, and how it is handed on; all of it is borrowed. */
struct sx_run_source {
    const char *nspace, *host, *name; /* name: "stdout" or "stderr" */
    uint32_t rank;
    pmix_iof_channel_t channel;
    const pid_t *pid;                 /* once it has one */
    const struct sx_marks *marks;     /* before its lines */
    bool terminal;                    /* it is read from one */
    bool raw;                         /* do not wait for whole lines; unless they are marked */
    struct sx_run_file *file;         /* taken over; NULL: none */
    bool file_shared;                 /* with other streams: it gets whole lines */
    bool file_only;                   /* it goes there alone */
    const struct sx_run_taker *taker; /* NULL: nobody */
};

struct sx_run_stream {
    struct sx_run_sink *sink;
    struct sx_run_watch watch; /* fd -1: ended */
    struct sx_run_source source;
    bool marked, raw, file_lines;
    bool in_line, in_file_line;  /* the mark of its line has been written */
    unsigned pulled, redirected; /* so many want it from the taker; and not here */
    bool held;                   /* it is not read */
    void *delivery;              /* the taker's, while it is held */
    char *line;                  /* the unfinished one */
    size_t line_used, line_room;
    size_t line_shown;        /* so much of it the sink has had */
    size_t burst_bytes;       /* read since nothing waited */
    size_t flow_bytes;        /* from a terminal: read without a rest, until ... */
    uint64_t flow_ns;         /* ... then */
    unsigned looks;           /* at what waits */
    struct sx_list open_line; /* sink.open_lines */
    uint64_t show_ns;         /* while it is there: a deadline */
};

/* Output to @fd.  It is reopened where possible, so that the descriptor shared with others need
 * not be made non-blocking.  Return: 0 or errno. */
int sx_run_sink_init(struct sx_run_sink *sink, struct sx_run_loop *loop, int fd);
void sx_run_sink_deinit(struct sx_run_sink *sink);

/* Queue @size bytes as from @owner (any address that stands for the source), and write what can
 * be written. */
void sx_run_sink_put(struct sx_run_sink *sink, const void *owner, const char *bytes, size_t size);

/* Show @line, which has no end, until something else is written: it is wiped off then.  Nothing is
 * shown behind somebody else's unfinished line.  Of no @size: wipe off what is shown. */
void sx_run_sink_show(struct sx_run_sink *sink, const char *line, size_t size);

/* Write what can be written without blocking. */
void sx_run_sink_flush(struct sx_run_sink *sink);

/* When sx_run_sink_check has something to do; it does nothing before. */
uint64_t sx_run_sink_deadline_ns(const struct sx_run_sink *sink);
/* Show what has waited long enough for the end of its line. */
void sx_run_sink_check(struct sx_run_sink *sink, uint64_t now_ns);

/* Read from @fd (non-blocking, taken over) into @sink.  Return: 0 or errno. */
int sx_run_stream_init(struct sx_run_stream *stream, struct sx_run_sink *sink, int fd,
                       const struct sx_run_source *source);
/* Hand on the unfinished line and close.  Safe on an ended one and on a zeroed one with fd -1. */
void sx_run_stream_deinit(struct sx_run_stream *stream);

/* Take @size bytes as if they had been read. */
void sx_run_stream_feed(struct sx_run_stream *stream, const char *bytes, size_t size);

/* Do not read it, until it goes on. */
void sx_run_stream_hold(struct sx_run_stream *stream, void *delivery);
void sx_run_stream_go_on(struct sx_run_stream *stream);

/* Whether who takes what it brings has room. */
bool sx_run_stream_is_ready(struct sx_run_stream *stream);

/* Read once.  Return: the number of bytes; 0 when there is nothing now or the stream has ended. */
size_t sx_run_stream_read(struct sx_run_stream *stream);

#endif
