/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.c - read a piece, hand it out, read the next one.
 *
 *   READING --bytes--> HANDING OUT --all have had them--> READING
 *      \--end of file--> readers closed
 *
 * behind counts the readers that still lack a part of the buffer. */
#include "launch/stdio/input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/clock.h"
#include "launch/common/say.h"
#include "launch/stdio/pty.h"

#define ROUNDS_MAX 16 /* of a regular file, before other work gets its turn */
#define BACKGROUND_LOOK_NS (200 * SX_NS_PER_MS)

static void reader_drop(struct sx_run_reader *reader)
{
    const int fd = reader->watch.fd;

    if (fd < 0) {
        return;
    }
    sx_run_unwatch(&reader->watch);
    close(fd);
    reader->input->live--;
}

static void reader_wait(struct sx_run_reader *reader, bool on)
{
    if (on == reader->waits) {
        return;
    }
    reader->waits = on;
    if (on) {
        (void)sx_run_watch(reader->input->loop, &reader->watch, POLLOUT);
    } else {
        sx_poll_remove(&reader->watch);
    }
}

/* Return: true when the reader has the whole buffer, or has gone. */
static bool reader_write(struct sx_run_reader *reader)
{
    struct sx_run_input *input = reader->input;

    while (reader->watch.fd >= 0 && reader->off < input->used) {
        const ssize_t wrote = write(reader->watch.fd, input->buffer + reader->off,
                                    input->used - reader->off);

        if (wrote > 0) {
            reader->off += (size_t)wrote;
        } else if (wrote == 0 || errno == EAGAIN) {
            reader_wait(reader, true);
            return false;
        } else if (errno != EINTR) {
            reader_drop(reader);
        }
    }
    if (reader->watch.fd >= 0) {
        reader_wait(reader, false);
    }
    return true;
}

static void source_watch(struct sx_run_input *input, bool on)
{
    if (on == input->reading || input->always_ready) {
        return;
    }
    if (on) {
        input->reading = sx_run_watch(input->loop, &input->source, POLLIN) == 0;
    } else {
        sx_poll_remove(&input->source);
        input->reading = false;
    }
}

/* The first byte of @ends ends a line that has no end. */
static void terminal_end(const struct sx_run_input *input, int fd)
{
    static const char ends[] = { SX_RUN_PTY_END, SX_RUN_PTY_END };
    const bool open = input->used > 0 && input->buffer[input->used - 1] != '\n';

    (void)!write(fd, ends, open ? 2 : 1);
}

static void end(struct sx_run_input *input)
{
    input->ended = true;
    source_watch(input, false);
    for (size_t i = 0; i < input->count; i++) {
        if (input->readers[i].terminal && input->readers[i].watch.fd >= 0) {
            terminal_end(input, input->readers[i].watch.fd);
        }
        reader_drop(&input->readers[i]);
    }
}

static void terminal_look(void *arg, uint64_t now_ns);

/* Return: true when there are new bytes to hand out. */
static bool fill(struct sx_run_input *input)
{
    const ssize_t got = read(input->fd, input->buffer, SX_RUN_INPUT_BYTES);

    if (got > 0) {
        input->used = (size_t)got;
        return true;
    }
    if (got < 0 && errno == EIO) {
        source_watch(input, false); /* a terminal, and we are in the background */
        sx_run_after(input->loop, &input->look, BACKGROUND_LOOK_NS, terminal_look, input);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        end(input);
    }
    return false;
}

static void hand_out(struct sx_run_input *input)
{
    input->behind = 0;
    for (size_t i = 0; i < input->count; i++) {
        struct sx_run_reader *reader = &input->readers[i];

        reader->off = 0;
        input->behind += reader->watch.fd >= 0 && !reader_write(reader);
    }
}

/* Continue when the first reader's pipe is ready, which has room now or will have it. */
static void pump_later(struct sx_run_input *input)
{
    for (size_t i = 0; i < input->count; i++) {
        if (input->readers[i].watch.fd >= 0) {
            reader_wait(&input->readers[i], true);
            input->behind = 1;
            return;
        }
    }
}

/* @ready: reading once will not block. */
static void pump(struct sx_run_input *input, bool ready)
{
    for (size_t round = 0; !input->ended && input->behind == 0; round++) {
        if (input->live == 0) {
            break;
        }
        if (round == ROUNDS_MAX) {
            pump_later(input);
            break;
        }
        if (!ready) {
            source_watch(input, true);
            if (!input->always_ready) {
                return;
            }
        }
        if (!fill(input)) {
            return;
        }
        hand_out(input);
        ready = input->always_ready;
    }
    source_watch(input, false);
}

static void source_ready(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)revents;
    (void)now_ns;
    pump(arg, true);
}

static void reader_ready(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_reader *reader = arg;

    (void)now_ns;
    if ((revents & (POLLERR | POLLHUP)) != 0) {
        reader_drop(reader); /* nobody reads this pipe any more */
    }
    if (reader_write(reader)) {
        reader->input->behind--;
        pump(reader->input, false);
    }
}

/* Whether reading from @fd never waits, as from a file: then the kernel refuses to watch it. */
static bool is_always_ready(int fd)
{
    struct epoll_event event = { .events = EPOLLIN };
    const int set = epoll_create1(EPOLL_CLOEXEC);
    const bool is = set >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0 && errno == EPERM;

    if (set >= 0) {
        close(set);
    }
    return is;
}

void sx_run_input_init(struct sx_run_input *input, struct sx_run_loop *loop, int fd, size_t count)
{
    *input = (struct sx_run_input){ .loop = loop, .fd = fd, .always_ready = is_always_ready(fd) };
    input->source = (struct sx_poll){ .fd = fd, .fn = source_ready, .arg = input };
    input->buffer = sx_cli_calloc(SX_RUN_INPUT_BYTES, 1);
    input->readers = sx_cli_calloc(count, sizeof(*input->readers));
}

void sx_run_input_add(struct sx_run_input *input, int fd)
{
    struct sx_run_reader *reader = &input->readers[input->count++];

    *reader = (struct sx_run_reader){ .input = input, .terminal = isatty(fd) == 1 };
    reader->watch = (struct sx_poll){ .fd = fd, .fn = reader_ready, .arg = reader };
    input->live++;
}

void sx_run_input_start(struct sx_run_input *input)
{
    if (input->buffer != NULL && !input->reading) {
        sx_timer_remove(&input->look);
        pump(input, false);
    }
}

/* Continue to read if this process is in the front of its terminal again. */
static void terminal_look(void *arg, uint64_t now_ns)
{
    struct sx_run_input *const input = arg;
    const pid_t front = tcgetpgrp(input->fd);

    (void)now_ns;
    if (front == getpgrp()) {
        sx_run_input_start(input);
    } else if (front >= 0 && input->live > 0) { /* else it is not a terminal any more */
        sx_run_after(input->loop, &input->look, BACKGROUND_LOOK_NS, terminal_look, input);
    }
}

void sx_run_input_deinit(struct sx_run_input *input)
{
    if (input->buffer == NULL) {
        return;
    }
    end(input);
    sx_timer_remove(&input->look);
    free(input->buffer);
    free(input->readers);
    *input = (struct sx_run_input){ .fd = -1 };
}

/* ---- push ------------------------------------------------------------------------------------ */

/* A queue for each rank that has an input; a push in several queues is counted. */

struct sx_run_push {
    uint64_t number;
    unsigned open; /* places that have not ended, and one while the push is handed out */
    bool known;    /* one target is a process with an input */
    bool had;      /* one target has received all of it */
    bool complete; /* it is the end of the input */
    pmix_proc_t *targets;
    size_t target_count;
    pmix_op_cbfunc_t fn;
    void *arg;
    size_t size;
    char bytes[];
};

struct place {
    struct place *next;
    struct sx_run_push *push;
    size_t at; /* bytes that have been written */
};

struct sx_run_feed {
    struct sx_run_loop *loop;
    struct sx_poll watch; /* added while there is no room */
    int fd;               /* -1: closed */
    bool waits;
    struct place *first, **last;
    uint64_t given; /* the last push that it has received: a push may name a process twice */
};

/* ---- some input ------------------------------------------------------------------------------ */

pmix_status_t sx_run_push_new(struct sx_run_push **ret_push, const pmix_proc_t targets[],
                              size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                              const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    static uint64_t pushes; /* only one thread pushes */
    const size_t size = bo == NULL ? 0 : bo->size;
    struct sx_iof_options options = { 0 };
    const pmix_status_t rc = sx_options_read(SX_OF_IOF_PUSH, directives, ndirs, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_run_push *const push = sx_cli_calloc(1, sizeof(*push) + size);

    *push = (struct sx_run_push){ .number = ++pushes,
                                  .complete = options.complete,
                                  .targets = sx_cli_calloc(ntargets, sizeof(*targets)),
                                  .target_count = ntargets,
                                  .fn = cbfunc,
                                  .arg = cbdata,
                                  .size = size };
    memcpy(push->targets, targets, ntargets * sizeof(*targets));
    if (size > 0) {
        memcpy(push->bytes, bo->bytes, size);
    }
    *ret_push = push;
    return PMIX_SUCCESS;
}

void sx_run_push_end(struct sx_run_push *push, pmix_status_t status, bool answer)
{
    if (push == NULL) {
        return;
    }
    if (answer && push->fn != NULL) {
        push->fn(status, push->arg);
    }
    free(push->targets);
    free(push);
}

static void push_release(struct sx_run_push *push)
{
    if (--push->open == 0) {
        sx_run_push_end(push,
                        push->had     ? PMIX_SUCCESS
                        : push->known ? PMIX_ERR_IOF_COMPLETE
                                      : PMIX_ERR_NOT_FOUND,
                        true);
    }
}

/* ---- the input of a rank --------------------------------------------------------------------- */

static void place_end(struct sx_run_feed *feed)
{
    struct place *const place = feed->first;

    feed->first = place->next;
    if (feed->first == NULL) {
        feed->last = &feed->first;
    }
    push_release(place->push);
    free(place);
}

static void feed_wait(struct sx_run_feed *feed, bool on)
{
    if (on == feed->waits) {
        return;
    }
    feed->waits = on;
    if (on) {
        (void)sx_run_watch(feed->loop, &feed->watch, POLLOUT);
    } else {
        sx_poll_remove(&feed->watch);
    }
}

/* End the rank's input. */
static void feed_close(struct sx_run_feed *feed)
{
    feed_wait(feed, false);
    if (feed->fd >= 0) {
        close(feed->fd);
        feed->fd = -1;
    }
    while (feed->first != NULL) {
        place_end(feed);
    }
}

/* Return: 0 or errno. */
static int place_write(const struct sx_run_feed *feed, struct place *place)
{
    const struct sx_run_push *const push = place->push;

    while (place->at < push->size) {
        const ssize_t wrote = write(feed->fd, push->bytes + place->at, push->size - place->at);

        if (wrote >= 0) {
            place->at += (size_t)wrote;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static void feed_write(struct sx_run_feed *feed)
{
    while (feed->fd >= 0 && feed->first != NULL) {
        struct sx_run_push *const push = feed->first->push;
        const int why = place_write(feed, feed->first);

        if (why == EAGAIN) {
            feed_wait(feed, true);
            return;
        }
        push->had = push->had || why == 0;
        if (why != 0 || push->complete) {
            feed_close(feed); /* nobody reads it any more, or its input has ended */
        } else {
            place_end(feed);
        }
    }
    feed_wait(feed, false);
}

static void feed_ready(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)revents;
    (void)now_ns;
    feed_write(arg);
}

static void feed_put(struct sx_run_feed *feed, struct sx_run_push *push)
{
    push->known = true;
    if (feed->fd < 0 || feed->given == push->number) {
        return;
    }
    feed->given = push->number;
    struct place *const place = sx_cli_calloc(1, sizeof(*place));

    *place = (struct place){ .push = push };
    push->open++;
    *feed->last = place;
    feed->last = &place->next;
    feed_write(feed);
}

struct sx_run_feed *sx_run_feed_new(struct sx_run_loop *loop, int fd)
{
    struct sx_run_feed *const feed = sx_cli_calloc(1, sizeof(*feed));

    *feed = (struct sx_run_feed){ .loop = loop, .fd = fd, .last = &feed->first };
    feed->watch = (struct sx_poll){ .fd = fd, .fn = feed_ready, .arg = feed };
    return feed;
}

struct sx_run_feed *sx_run_feed_free(struct sx_run_feed *feed)
{
    if (feed != NULL) {
        feed_close(feed);
    }
    free(feed);
    return NULL;
}

/* ---- the targets ----------------------------------------------------------------------------- */

static void deal_to(const struct sx_run_job *job, pmix_rank_t rank, struct sx_run_push *push)
{
    const bool all = rank == PMIX_RANK_WILDCARD;

    for (uint32_t i = all ? 0 : rank; i < job->spawned && (all || i == rank); i++) {
        if (job->ranks[i].feed != NULL) {
            feed_put(job->ranks[i].feed, push);
        }
    }
}

void sx_run_push_deal(const struct sx_run_jobs *jobs, struct sx_run_push *push)
{
    push->open = 1;
    for (size_t i = 0; i < push->target_count; i++) {
        for (uint32_t at = 0; at < jobs->count; at++) {
            if (strcmp(jobs->at[at]->nspace, push->targets[i].nspace) == 0) {
                deal_to(jobs->at[at], push->targets[i].rank, push);
            }
        }
    }
    push_release(push);
}
