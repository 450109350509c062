/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.c - lines in, a queue, bytes out. */
#include "launch/stdio/output.h"

#include <errno.h>
#include <pmix.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/stream/log_text.h"
#include "launch/common/say.h"

#define BLOCK_BYTES 4096u /* buffers of programs are multiples of this */
#define READS_A_TURN 64
#define SHOWS_A_TURN 256
#define FLOW_BYTES 2048u /* with fewer bytes waiting, a terminal accepts a write as a whole */
#define FLOW_LOOKS 10

/* ---- sinks ----------------------------------------------------------------------------------- */

static void sink_readable(void *arg, uint32_t revents, uint64_t now_ns)
{
    const struct sx_run_sink *const sink = arg;
    struct epoll_event events[READS_A_TURN];
    const int count = epoll_wait(sink->readers_fd, events, SX_COUNT(events), 0);

    (void)revents;
    (void)now_ns;
    for (int i = 0; i < count; i++) {
        const struct sx_run_reads *const reads = events[i].data.ptr;

        if (reads->fd >= 0) {
            reads->fn(reads->arg);
        }
    }
}

int sx_run_sink_watch(struct sx_run_sink *sink, struct sx_run_reads *reads)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = reads };

    return epoll_ctl(sink->readers_fd, EPOLL_CTL_ADD, reads->fd, &event) == 0 ? 0 : errno;
}

void sx_run_sink_pause(struct sx_run_sink *sink, const struct sx_run_reads *reads)
{
    struct epoll_event unused = { .events = 0 };

    epoll_ctl(sink->readers_fd, EPOLL_CTL_DEL, reads->fd, &unused);
}

void sx_run_sink_unwatch(struct sx_run_sink *sink, struct sx_run_reads *reads)
{
    if (reads->fd >= 0) {
        sx_run_sink_pause(sink, reads);
        reads->fd = -1;
    }
}

static void sink_writable(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)revents;
    (void)now_ns;
    sx_run_sink_flush(arg);
}

int sx_run_sink_init(struct sx_run_sink *sink, struct sx_run_loop *loop, int fd)
{
    *sink = (struct sx_run_sink){ .loop = loop, .out = SX_OUT_NULL };
    sx_list_init(&sink->open_lines);
    sx_out_open(&sink->out, fd);
    sink->readers_fd = epoll_create1(EPOLL_CLOEXEC);
    int why = sink->readers_fd < 0 ? errno : 0;

    sink->readers = (struct sx_poll){ .fd = sink->readers_fd, .fn = sink_readable, .arg = sink };
    sink->writable = (struct sx_poll){ .fd = sink->out.fd, .fn = sink_writable, .arg = sink };
    if (why == 0) {
        why = sx_run_watch(loop, &sink->readers, POLLIN);
    }
    if (why != 0) {
        sx_run_sink_deinit(sink);
    }
    return why;
}

void sx_run_sink_deinit(struct sx_run_sink *sink)
{
    if (sink->loop == NULL) {
        return;
    }
    sx_poll_remove(&sink->readers);
    sx_poll_remove(&sink->writable);
    sx_timer_remove(&sink->show);
    if (sink->readers_fd >= 0) {
        close(sink->readers_fd);
    }
    sx_out_close(&sink->out);
    free(sink->queue);
    *sink = (struct sx_run_sink){ .out = SX_OUT_NULL };
}

static void sink_arm(struct sx_run_sink *sink, bool on)
{
    if (on == sink->armed) {
        return;
    }
    if (on) {
        /* It fails where the file is always ready, and will not return EAGAIN twice. */
        sink->armed = sx_run_watch(sink->loop, &sink->writable, POLLOUT) == 0;
    } else {
        sx_poll_remove(&sink->writable);
        sink->armed = false;
    }
}

static void sink_pause(struct sx_run_sink *sink)
{
    const size_t queued = sink->used - sink->head;
    const bool pause = queued > (sink->paused ? SX_RUN_QUEUE_LOW : SX_RUN_QUEUE_HIGH);

    if (pause != sink->paused) {
        sink->paused = pause;
        if (pause) {
            sx_poll_remove(&sink->readers);
        } else if (sx_run_watch(sink->loop, &sink->readers, POLLIN) != 0) {
            sx_cli_no_memory();
        }
    }
}

void sx_run_sink_flush(struct sx_run_sink *sink)
{
    bool wait = false;

    while (sink->head < sink->used && !wait && sink->error == 0) {
        const ssize_t wrote = sx_out_write(&sink->out, sink->queue + sink->head,
                                           sink->used - sink->head);

        if (wrote >= 0) {
            sink->head += (size_t)wrote;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait = true;
        } else if (errno != EINTR) {
            sink->error = errno;
        }
    }
    if (sink->head == sink->used || sink->error != 0) {
        sink->head = sink->used = 0;
    }
    sink_arm(sink, wait);
    sink_pause(sink);
}

static void sink_queue(struct sx_run_sink *sink, const char *bytes, size_t size)
{
    if (sink->error != 0) {
        return;
    }
    if (sink->head > 0 && sink->used + size > sink->room) {
        memmove(sink->queue, sink->queue + sink->head, sink->used - sink->head);
        sink->used -= sink->head;
        sink->head = 0;
    }
    if (sink->used + size > sink->room) {
        sink->room = (sink->used + size) * 2;
        sink->queue = sx_cli_realloc(sink->queue, sink->room, 1);
    }
    memcpy(sink->queue + sink->used, bytes, size);
    sink->used += size;
}

static const char passing; /* owner of a line that is shown until other output is written */

/* End the last line, unless @owner may continue it. */
static void line_leave(struct sx_run_sink *sink, const void *owner)
{
    static const char wipe[] = "\r\033[K";

    if (sink->line_owner == &passing) {
        sink_queue(sink, wipe, sizeof(wipe) - 1);
        sink->line_owner = NULL;
    } else if (sink->line_owner != NULL && sink->line_owner != owner) {
        sink_queue(sink, "\n", 1);
    }
}

/* Queue without writing: many lines become one write. */
static void sink_emit(struct sx_run_sink *sink, const void *owner, const char *bytes, size_t size)
{
    if (size == 0) {
        return;
    }
    line_leave(sink, owner);
    sink_queue(sink, bytes, size);
    sink->line_owner = bytes[size - 1] == '\n' ? NULL : owner;
}

void sx_run_sink_put(struct sx_run_sink *sink, const void *owner, const char *bytes, size_t size)
{
    sink_emit(sink, owner, bytes, size);
    sx_run_sink_flush(sink);
}

void sx_run_sink_show(struct sx_run_sink *sink, const char *line, size_t size)
{
    if (sink->line_owner == &passing || (sink->line_owner == NULL && size > 0)) {
        line_leave(sink, &passing);
        sx_run_sink_put(sink, &passing, line, size);
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

/* All raw streams have this owner, so their output is joined as if programs wrote to the sink
 * directly. */
static const char raw_owner;

static const void *owner_of(const struct sx_run_stream *stream)
{
    return stream->raw ? (const void *)&raw_owner : stream;
}

/* The buffer for marked lines. */
struct marked {
    struct sx_run_stream *stream;
    bool to_file;
    size_t used;
    char text[SX_RUN_LINE_MAX + SX_LOG_PIECE_MAX];
};

static void marked_flush(struct marked *marked)
{
    if (marked->to_file) {
        sx_run_file_write_line(marked->stream->source.file, marked->stream, marked->text,
                               marked->used);
    } else {
        sink_emit(marked->stream->sink, marked->stream, marked->text, marked->used);
    }
    marked->used = 0;
}

/* Return: whether the stream's last line is open. */
static bool stream_mark(struct sx_run_stream *stream, bool to_file, bool in_line, const char *bytes,
                        size_t size)
{
    static struct marked marked; /* only one thread writes */
    const struct sx_run_source *const from = &stream->source;
    pmix_proc_t source;
    struct sx_log_text text;
    size_t made;

    PMIx_Load_procid(&source, from->nspace, from->rank);
    sx_log_text_bytes(&text, bytes, size, from->name,
                      &(struct sx_log_style){ .marks = *from->marks,
                                              .source = &source,
                                              .host = from->host,
                                              .pid = *from->pid,
                                              .when = time(NULL) });
    text.open = true;
    text.in_line = in_line;
    marked.stream = stream;
    marked.to_file = to_file;
    while ((made = sx_log_text_next(&text, marked.text + marked.used)) > 0) {
        marked.used += made;
        if (marked.used > SX_RUN_LINE_MAX) {
            marked_flush(&marked);
        }
    }
    marked_flush(&marked);
    return text.in_line;
}

static void file_emit(struct sx_run_stream *stream, const char *bytes, size_t size)
{
    struct sx_run_file *const file = stream->source.file;

    if (stream->marked) {
        stream->in_file_line = stream_mark(stream, true,
                                           stream->in_file_line && file->line_owner == stream,
                                           bytes, size);
    } else {
        sx_run_file_write_line(file, owner_of(stream), bytes, size);
    }
}

static void stream_pass(struct sx_run_stream *stream, const char *bytes, size_t size)
{
    if (size == 0 || stream->source.file_only || stream->redirected > 0) {
        return;
    }
    if (stream->marked) {
        stream->in_line = stream_mark(stream, false,
                                      stream->in_line && stream->sink->line_owner == stream, bytes,
                                      size);
    } else {
        sink_emit(stream->sink, owner_of(stream), bytes, size);
    }
}

static void stream_emit(struct sx_run_stream *stream, const char *bytes, size_t size)
{
    if (size > 0 && stream->file_lines) {
        file_emit(stream, bytes, size);
    }
    stream_pass(stream, bytes, size);
}

static void stream_keep(struct sx_run_stream *stream, const char *bytes, size_t size)
{
    if (size == 0) {
        return;
    }
    if (stream->line_used + size > stream->line_room) {
        stream->line_room = (stream->line_used + size) * 2;
        stream->line = sx_cli_realloc(stream->line, stream->line_room, 1);
    }
    memcpy(stream->line + stream->line_used, bytes, size);
    stream->line_used += size;
}

static void show_due(void *arg, uint64_t now_ns);

/* Wake up for the first of the lines that may have to be shown. */
static void show_plan(struct sx_run_sink *sink)
{
    const uint64_t now_ns = sx_run_now_ns(sink->loop);

    if (sx_list_empty(&sink->open_lines)) {
        sx_timer_remove(&sink->show);
    } else if (!sx_run_is_awaited(&sink->show)) {
        const uint64_t show_ns =
            SX_LIST_ENTRY(sink->open_lines.next, struct sx_run_stream, open_line)->show_ns;

        sx_run_after(sink->loop, &sink->show, show_ns > now_ns ? show_ns - now_ns : 0, show_due,
                     sink);
    }
}

static void line_unwatch(struct sx_run_stream *stream)
{
    sx_list_remove(&stream->open_line);
    show_plan(stream->sink);
}

static void line_emit(struct sx_run_stream *stream)
{
    if (stream->line_used > 0 && stream->file_lines) {
        file_emit(stream, stream->line, stream->line_used);
    }
    if (stream->line_used > stream->line_shown) {
        stream_pass(stream, stream->line + stream->line_shown,
                    stream->line_used - stream->line_shown);
    }
    stream->line_used = stream->line_shown = 0;
    stream->looks = 0;
    line_unwatch(stream);
}

/* The file still receives the whole line at its end. */
static void line_show(struct sx_run_stream *stream)
{
    stream_pass(stream, stream->line + stream->line_shown, stream->line_used - stream->line_shown);
    stream->line_shown = stream->line_used = stream->file_lines ? stream->line_used : 0;
    stream->looks = 0;
    line_unwatch(stream);
}

/* A pending line may have to be shown before its end. */
static void line_watch(struct sx_run_stream *stream)
{
    const bool is_block = !stream->source.terminal && stream->burst_bytes % BLOCK_BYTES == 0;
    const bool waits = stream->line_used > stream->line_shown && !stream->source.file_only &&
                       !stream->source.marks->xml && !is_block;

    if (!waits) {
        line_unwatch(stream);
    } else if (sx_list_empty(&stream->open_line)) {
        stream->show_ns = sx_run_now_ns(stream->sink->loop) + SX_RUN_LINE_WAIT_NS;
        sx_list_append(&stream->sink->open_lines, &stream->open_line);
        show_plan(stream->sink);
    }
}

static void stream_feed(struct sx_run_stream *stream, const char *bytes, size_t size)
{
    const char *const last = size == 0 ? NULL : memrchr(bytes, '\n', size);
    size_t whole = last == NULL ? 0 : (size_t)(last - bytes) + 1;

    stream->burst_bytes = size + (stream->line_used > stream->line_shown ? stream->burst_bytes : 0);
    if (whole > 0 && stream->line_used > 0) {
        const size_t end = (size_t)((const char *)memchr(bytes, '\n', whole) - bytes) + 1;

        stream_keep(stream, bytes, end);
        line_emit(stream);
        bytes += end;
        size -= end;
        whole -= end;
    }
    stream_emit(stream, bytes, whole);
    bytes += whole;
    size -= whole;
    if (!stream->raw && stream->line_used + size < SX_RUN_LINE_MAX) {
        stream_keep(stream, bytes, size);
    } else {
        line_emit(stream);
        stream_emit(stream, bytes, size);
    }
    line_watch(stream);
}

static void stream_end(struct sx_run_stream *stream)
{
    const int fd = stream->watch.fd;

    line_emit(stream);
    if (stream->marked && stream->sink->line_owner == stream) {
        sink_emit(stream->sink, stream, "\n", 1);
    }
    if (stream->marked && stream->in_file_line) {
        sx_run_file_write_line(stream->source.file, stream, "\n", 1);
    }
    if (stream->pulled > 0) {
        stream->source.taker->take(stream, NULL, 0);
    }
    sx_run_sink_unwatch(stream->sink, &stream->watch);
    close(fd);
}

void sx_run_stream_hold(struct sx_run_stream *stream, void *delivery)
{
    stream->held = true;
    stream->delivery = delivery;
    sx_run_sink_pause(stream->sink, &stream->watch);
}

void sx_run_stream_go_on(struct sx_run_stream *stream)
{
    stream->held = false;
    stream->delivery = NULL;
    (void)sx_run_sink_watch(stream->sink, &stream->watch);
}

void sx_run_stream_feed(struct sx_run_stream *stream, const char *bytes, size_t size)
{
    const struct sx_run_source *const from = &stream->source;

    if (stream->pulled > 0) {
        from->taker->take(stream, bytes, size);
    }
    if (from->file != NULL && !stream->file_lines) {
        sx_run_file_write(from->file, bytes, size); /* unchanged; readers find the lines */
    }
    if (!from->file_only || stream->file_lines) {
        stream_feed(stream, bytes, size);
    }
}

/* Note a large amount at once: a terminal may have cut a write, and the rest follows when the
 * process runs. */
static void flow_note(struct sx_run_stream *stream, size_t got)
{
    const uint64_t now_ns = sx_now_ns();

    if (now_ns - stream->flow_ns > SX_RUN_LINE_WAIT_NS) {
        stream->flow_bytes = 0;
    }
    stream->flow_bytes += got;
    stream->flow_ns = now_ns;
}

bool sx_run_stream_is_ready(struct sx_run_stream *stream)
{
    return !stream->sink->paused && !stream->held &&
           (stream->pulled == 0 || stream->source.taker->ready(stream));
}

size_t sx_run_stream_read(struct sx_run_stream *stream)
{
    static char bytes[SX_RUN_LINE_MAX]; /* only one thread reads */
    ssize_t got;

    if (stream->watch.fd < 0 || stream->held ||
        (stream->pulled > 0 && !stream->source.taker->ready(stream))) {
        return 0;
    }
    got = read(stream->watch.fd, bytes, sizeof(bytes));
    if (got > 0) {
        if (stream->source.terminal) {
            flow_note(stream, (size_t)got);
        }
        sx_run_stream_feed(stream, bytes, (size_t)got);
    } else if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        stream_end(stream);
    }
    sx_run_sink_flush(stream->sink);
    return got > 0 ? (size_t)got : 0;
}

static void stream_readable(void *arg)
{
    struct sx_run_stream *stream = arg;

    /* The sink may have filled up earlier in this turn. */
    if (!stream->sink->paused) {
        sx_run_stream_read(stream);
    }
}

/* ---- lines that do not end ------------------------------------------------------------------- */

/* The end of the line may be in the pipe already: then the launcher is late, not the program. */
static void stream_check(struct sx_run_stream *stream)
{
    const size_t before = stream->line_used;
    size_t got;

    sx_list_remove(&stream->open_line);
    if (stream->sink->paused || stream->held) {
        stream->looks = 0;
        line_watch(stream);
        return;
    }
    got = sx_run_stream_read(stream);
    if (stream->line_used == 0 || stream->line_used != before + got) {
        return;
    }
    if (stream->flow_bytes >= FLOW_BYTES && stream->looks < FLOW_LOOKS) {
        stream->looks++;
        line_watch(stream);
    } else {
        line_show(stream);
    }
}

static void show_due(void *arg, uint64_t now_ns)
{
    struct sx_run_sink *const sink = arg;

    for (int i = 0; i < SHOWS_A_TURN && !sx_list_empty(&sink->open_lines); i++) {
        struct sx_run_stream *const first = SX_LIST_ENTRY(sink->open_lines.next,
                                                          struct sx_run_stream, open_line);

        if (first->show_ns > now_ns) {
            break;
        }
        stream_check(first);
        sx_run_sink_flush(sink);
    }
    show_plan(sink);
}

int sx_run_stream_init(struct sx_run_stream *stream, struct sx_run_sink *sink, int fd,
                       const struct sx_run_source *source)
{
    const bool marked = sx_marks_any(source->marks);
    int why;

    *stream = (struct sx_run_stream){
        .sink = sink,
        .source = *source,
        .marked = marked,
        .raw = source->raw && !marked,
        .file_lines = source->file != NULL && (marked || source->file_shared),
    };
    sx_list_init(&stream->open_line);
    stream->watch = (struct sx_run_reads){ .fd = fd, .fn = stream_readable, .arg = stream };
    why = sx_run_sink_watch(sink, &stream->watch);
    if (why != 0) {
        stream->watch.fd = -1;
        close(fd);
        sx_run_stream_deinit(stream);
    }
    return why;
}

void sx_run_stream_deinit(struct sx_run_stream *stream)
{
    if (stream->held) {
        stream->source.taker->gone(stream);
    }
    if (stream->watch.fd >= 0) {
        stream_end(stream);
        sx_run_sink_flush(stream->sink);
    }
    if (stream->sink != NULL && stream->sink->line_owner == stream) {
        stream->sink->line_owner = stream->sink; /* another stream may have this address next */
    }
    free(stream->line);
    sx_run_file_release(stream->source.file);
    *stream = (struct sx_run_stream){ .watch.fd = -1 };
}
