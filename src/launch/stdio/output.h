/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.h - the ranks' output, in whole lines, and read no faster than it is written; and the
 * files that receive it.
 *
 *   rank's pipe --> stream (the unfinished line) --> sink (a queue) --> the launcher's stdout
 *
 * A stream hands on whole lines.  An unfinished line waits for its end, the end of the file, or
 * SX_RUN_LINE_MAX bytes.  If none of them arrives in SX_RUN_LINE_WAIT_NS and the pipe is empty, the
 * part so far is shown: a program has flushed a prompt or a progress bar.  The part is not shown in
 * XML, nor if whole blocks were written, as by a full buffer, which cuts lines anywhere.  A full
 * terminal cuts lines too, so after much output at once the wait is a second.
 *
 * A full sink stops reading from its streams (back-pressure), so a slow reader slows only the
 * ranks.  Lines of different streams never mix: if one line is open, output of another stream
 * begins a new line.  A single stream without marks is passed on unchanged as it arrives, prompts
 * included. */
#ifndef SX_LAUNCH_STDIO_OUTPUT_H
#define SX_LAUNCH_STDIO_OUTPUT_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/call/directive_tables.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/stream/log_text.h"
#include "base/stream/out.h"
#include "launch/job/loop.h"

/* ---- files ----------------------------------------------------------------------------------- */

/* The files for the output of ranks, and their names.
 *
 *     OPEN --a write fails: one message with its name--> FAILED: output is dropped, the job lives
 *
 * Two streams may share a file.  A write waits for the disk, so only files and devices are opened,
 * and nothing that waits for a reader. */

struct sx_run_file {
    unsigned reference_count;
    int fd;
    int error; /* errno of the write that failed; 0: none has */
    char *path;
    const void *line_owner;   /* owner of the unfinished line at the end; NULL: none */
    struct sx_run_file *next; /* in the list of files that all ranks share */
    void (*failed)(void *arg, const struct sx_run_file *file); /* called once */
    void *arg;
};

/* The rank whose output the file receives. */
struct sx_run_file_of {
    const char *nspace, *host, *stream; /* stream: "stdout" or "stderr" */
    uint32_t rank;
    uint32_t job; /* of the command line's jobs, from 1, as scripts number them; 0: a spawned job */
    bool goes_on; /* append to an existing file */
};

/* Whether @output names files; whether its values for them are valid.  Return: false with one line
 * in @message of @room bytes. */
bool sx_run_files_wanted(const struct sx_output_options *output);
bool sx_run_files_judge(const struct sx_output_options *output, char *message, size_t room);

/* A descriptor of the file @path, which is made, and emptied unless @goes_on.  Pipes are refused,
 * since they might have no reader.  Return: -1 with errno; ENOTSUP, ENXIO: it is not a file. */
int sx_run_file_descriptor(const char *path, bool goes_on, bool makes_folders);

/* Whether several streams share one file: then only whole lines are written. */
bool sx_run_files_shared(const struct sx_output_options *output);

/* Open the file that @output, which names some, has for @of, and make its directories.  Return:
 * NULL with one line in @message; else the caller sets failed and arg. */
struct sx_run_file *sx_run_file_open(const struct sx_output_options *output,
                                     const struct sx_run_file_of *of, char *message, size_t room);
/* Accepts NULL.  Return: NULL. */
struct sx_run_file *sx_run_file_release(struct sx_run_file *file);

void sx_run_file_write(struct sx_run_file *file, const char *bytes, size_t size);
/* The same, for a line of @owner: another owner's line without an end is ended first. */
void sx_run_file_write_line(struct sx_run_file *file, const void *owner, const char *bytes,
                            size_t size);

#define SX_RUN_LINE_MAX 65536u
#define SX_RUN_LINE_WAIT_NS (100 * SX_NS_PER_MS)
#define SX_RUN_QUEUE_HIGH 262144u /* the readers pause above this ... */
#define SX_RUN_QUEUE_LOW 65536u   /* ... and continue below this */

/* A sink reads from it while the sink has room.  The owner keeps the storage until the sink is
 * gone: an event may be pending for a reader that was removed in the same turn, and is dropped
 * then. */
struct sx_run_reads {
    int fd; /* -1: not watched */
    void (*fn)(void *arg);
    void *arg;
};

struct sx_run_sink {
    struct sx_run_loop *loop; /* the launcher's */
    int readers_fd;           /* an epoll of all readers: one call pauses thousands */
    struct sx_poll readers;
    struct sx_poll writable;
    struct sx_timer show; /* for the first of open_lines */
    struct sx_out out;
    bool armed;  /* waits for room */
    bool paused; /* its streams are not read */
    int error;   /* errno of a write that failed for good; later output is dropped */
    char *queue;
    size_t head, used, room;
    const void *line_owner;    /* owner of the unfinished line at the queue's end; NULL: none */
    struct sx_list open_lines; /* streams with a part to show, the oldest first */
};

struct sx_run_stream;

/* Another receiver of a stream's bytes. */
struct sx_run_taker {
    /* Whether the taker accepts more of @stream; else it holds the stream. */
    bool (*ready)(struct sx_run_stream *stream);
    void (*take)(struct sx_run_stream *stream, const char *bytes, size_t size); /* 0: the end */
    void (*gone)(struct sx_run_stream *stream); /* the stream ended while it was held */
};

/* The source of the output, and how it is passed on; all pointers are borrowed. */
struct sx_run_source {
    const char *nspace, *host, *name; /* name: "stdout" or "stderr" */
    uint32_t rank;
    pmix_iof_channel_t channel;
    const pid_t *pid;                 /* once the rank has one */
    const struct sx_marks *marks;     /* before its lines */
    bool terminal;                    /* the rank writes to a terminal */
    bool raw;                         /* do not wait for whole lines, unless they are marked */
    struct sx_run_file *file;         /* taken over; NULL: none */
    bool file_shared;                 /* with other streams: it receives whole lines */
    bool file_only;                   /* the output goes to the file only */
    const struct sx_run_taker *taker; /* NULL: none */
};

struct sx_run_stream {
    struct sx_run_sink *sink;
    struct sx_run_reads watch; /* fd -1: ended */
    struct sx_run_source source;
    bool marked, raw, file_lines;
    bool in_line, in_file_line;  /* the mark of the line has been written */
    unsigned pulled, redirected; /* pulls by the taker; those that redirect the output */
    bool held;                   /* the stream is not read */
    void *delivery;              /* the taker's, while it is held */
    char *line;                  /* the unfinished one */
    size_t line_used, line_room;
    size_t line_shown;        /* the bytes of it that the sink has received */
    size_t burst_bytes;       /* bytes read since the pipe was empty */
    size_t flow_bytes;        /* bytes read from a terminal without a pause, until ... */
    uint64_t flow_ns;         /* ... this time */
    unsigned looks;           /* checks of the pending line */
    struct sx_list open_line; /* sink.open_lines */
    uint64_t show_ns;         /* while in open_lines: when to show it */
};

/* Write to @fd.  It is reopened if possible, so that a descriptor shared with others need not be
 * made non-blocking.  Return: 0 or errno. */
int sx_run_sink_init(struct sx_run_sink *sink, struct sx_run_loop *loop, int fd);
void sx_run_sink_deinit(struct sx_run_sink *sink);

/* Queue @size bytes from @owner (any address that stands for the source), and write as much as
 * possible. */
void sx_run_sink_put(struct sx_run_sink *sink, const void *owner, const char *bytes, size_t size);

/* Show @line, which has no end, until other output is written, and erase it then.  Nothing is shown
 * behind an unfinished line of another owner.  @size 0: erase the line that is shown. */
void sx_run_sink_show(struct sx_run_sink *sink, const char *line, size_t size);

/* Write as much as possible without blocking. */
void sx_run_sink_flush(struct sx_run_sink *sink);

/* Call reads->fn with reads->arg while reads->fd is readable and the sink has room.  Return: 0 or
 * errno.  Pause takes it out until it is watched again; unwatch also sets its fd to -1. */
int sx_run_sink_watch(struct sx_run_sink *sink, struct sx_run_reads *reads);
void sx_run_sink_pause(struct sx_run_sink *sink, const struct sx_run_reads *reads);
void sx_run_sink_unwatch(struct sx_run_sink *sink, struct sx_run_reads *reads);

/* Read from @fd (non-blocking, taken over) into @sink.  Return: 0 or errno. */
int sx_run_stream_init(struct sx_run_stream *stream, struct sx_run_sink *sink, int fd,
                       const struct sx_run_source *source);
/* Pass on the unfinished line and close.  Safe on an ended stream and on a zeroed one with fd
 * -1. */
void sx_run_stream_deinit(struct sx_run_stream *stream);

/* Take @size bytes as if they had been read. */
void sx_run_stream_feed(struct sx_run_stream *stream, const char *bytes, size_t size);

/* Do not read the stream until it is released. */
void sx_run_stream_hold(struct sx_run_stream *stream, void *delivery);
void sx_run_stream_go_on(struct sx_run_stream *stream);

/* Whether the receivers of the stream have room. */
bool sx_run_stream_is_ready(struct sx_run_stream *stream);

/* Read once.  Return: the number of bytes; 0 when there is nothing now or the stream has ended. */
size_t sx_run_stream_read(struct sx_run_stream *stream);

#endif
