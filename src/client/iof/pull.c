/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull.c - the thread of a pull, and the list of them.
 *
 * A pull is counted: the list has it while its thread runs, and a task while it is queued.  A
 * thread that ends by itself is detached, so that nothing of it stays in a process that never calls
 * PMIx_Finalize.  One that is stopped is joined: the library may be unloaded then. */
#include "client/iof/iof.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <shmix.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/status.h"
#include "base/stream/out.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/link/wait.h"
#include "control/message.h"

struct pull {
    struct sx_list link; /* pulls, or over */
    unsigned reference_count;
    size_t number;
    int fd;
    pthread_t thread;
    pmix_iof_cbfunc_t cbfunc; /* NULL: to the standard streams */
    bool ending;              /* no more output is wanted */
    bool dropped;             /* and output that is under way is not wanted either */
    bool is_over;             /* its thread has nothing to do but to leave */
    struct sx_op *op;         /* to be answered at the end; NULL: none */
    struct sx_task task;      /* of one piece */
    bool handed;              /* the task is queued, or runs */
    struct sx_iof_piece head;
    uint64_t lost;          /* bytes lost by the server, as read so far ... */
    uint64_t lost_reported; /* ... and the part of them already reported */
    size_t size;            /* of bytes */
    const char *payload;    /* the bytes to hand on: unchanged, or lines with marks */
    size_t payload_size;
    struct sx_lines *lines;   /* NULL: without marks */
    struct sx_gather *gather; /* NULL: without delay */
    char bytes[SX_IOF_BYTES_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a pull is over, or a piece is done */
static struct sx_list pulls = SX_LIST_INIT(pulls);        /* under lock, as all below */
static bool stopping; /* none begins, and the threads of ended pulls are joined */
static struct sx_list over = SX_LIST_INIT(over); /* these pulls */
static size_t last_number;
static int drop_fd = -1; /* an eventfd, readable once all pulls are dropped */
/* Taken for one line at a time; a pull that waits for a stream holds it. */
static pthread_mutex_t stream_lock = PTHREAD_MUTEX_INITIALIZER;

static void pull_free(struct pull *pull)
{
    if (pull != NULL) {
        free(pull->lines);
        free(pull->gather);
    }
    free(pull);
}

static void release_locked(struct pull *pull)
{
    if (--pull->reference_count == 0) {
        pull_free(pull);
    }
}

/* ---- one piece ------------------------------------------------------------------------------- */

/* Return: false at the end of the socket. */
static bool piece_read(struct pull *pull)
{
    struct iovec iov[] = { { .iov_base = &pull->head, .iov_len = sizeof(pull->head) },
                           { .iov_base = pull->bytes, .iov_len = sizeof(pull->bytes) } };
    struct msghdr message = { .msg_iov = iov, .msg_iovlen = SX_COUNT(iov) };
    ssize_t got;

    do {
        got = recvmsg(pull->fd, &message, 0);
    } while (got < 0 && errno == EINTR);
    if (got < (ssize_t)sizeof(pull->head) ||
        strnlen(pull->head.nspace, sizeof(pull->head.nspace)) == sizeof(pull->head.nspace) ||
        strnlen(pull->head.host, sizeof(pull->head.host)) == sizeof(pull->head.host)) {
        return false;
    }
    pull->size = (size_t)got - sizeof(pull->head);
    pull->lost = pull->head.lost > pull->lost ? pull->head.lost : pull->lost;
    return true;
}

/* Return: whether there is a loss to report. */
static bool lost_load(struct pull *pull, pmix_info_t *info)
{
    const uint64_t count = pull->lost - pull->lost_reported;

    pull->lost_reported = pull->lost;
    PMIx_Info_load(info, SHMIX_IOF_LOST, &count, PMIX_UINT64);
    return count > 0;
}

/* Without a callback, log the loss once when it begins, and at the end. */
static void lost_say(struct pull *pull, bool at_end)
{
    if (pull->lost > pull->lost_reported && (at_end || pull->lost_reported == 0)) {
        sx_log(SX_LOG_WARN, "pull %zu of output has lost %llu bytes%s: it was not read in time",
               pull->number, (unsigned long long)pull->lost, at_end ? " in all" : " so far");
        pull->lost_reported = pull->lost;
    }
}

static void piece_deliver(struct sx_task *task)
{
    struct pull *const pull = SX_CONTAINER(task, struct pull, task);
    pmix_info_t info;
    pmix_byte_object_t bytes = { .bytes = (char *)(uintptr_t)pull->payload,
                                 .size = pull->payload_size };
    const bool has_lost = lost_load(pull, &info);
    pmix_proc_t source;

    PMIx_Proc_load(&source, pull->head.nspace, pull->head.rank);
    pull->cbfunc(pull->number, (pmix_iof_channel_t)pull->head.channel, &source, &bytes,
                 has_lost ? &info : NULL, has_lost);
    pthread_mutex_lock(&lock);
    pull->handed = false;
    pthread_cond_broadcast(&changed);
    release_locked(pull);
    pthread_mutex_unlock(&lock);
}

/* Return: false when the output is not wanted any more. */
static bool piece_hand_on(struct pull *pull)
{
    pthread_mutex_lock(&lock);
    const bool wanted = !pull->dropped;

    if (wanted) {
        pull->handed = true;
        pull->reference_count++;
        pthread_mutex_unlock(&lock);
        sx_task_post(&pull->task);
        pthread_mutex_lock(&lock);
    }
    while (pull->handed && !pull->dropped) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return wanted;
}

static bool is_dropped(struct pull *pull)
{
    pthread_mutex_lock(&lock);
    const bool dropped = pull->dropped;
    pthread_mutex_unlock(&lock);
    return dropped;
}

/* Wait for room in @out, or until all pulls are dropped. */
static void room_wait(const struct sx_out *out)
{
    struct pollfd ready[] = { { .fd = out->fd, .events = POLLOUT },
                              { .fd = drop_fd, .events = POLLIN } };

    (void)poll(ready, SX_COUNT(ready), -1);
}

static bool piece_print(struct pull *pull)
{
    const int fd = pull->head.channel == PMIX_FWD_STDOUT_CHANNEL ? STDOUT_FILENO : STDERR_FILENO;
    struct sx_out out;
    size_t at = 0;
    bool goes_on = true;

    lost_say(pull, false);
    pthread_mutex_lock(&stream_lock);
    sx_out_open(&out, fd);
    while (at < pull->payload_size && goes_on) {
        const ssize_t wrote = sx_out_write(&out, pull->payload + at, pull->payload_size - at);

        if (wrote >= 0) {
            at += (size_t)wrote;
        } else if (errno == EAGAIN) {
            room_wait(&out);
            goes_on = !is_dropped(pull);
        } else {
            goes_on = errno == EINTR;
        }
    }
    sx_out_close(&out);
    pthread_mutex_unlock(&stream_lock);
    return goes_on;
}

/* ---- a pull ---------------------------------------------------------------------------------- */

/* The thread of @pull has nothing more to do.  It is joined if all pulls are being stopped; else
 * nobody waits for it, and it detaches itself. */
static void thread_leave(struct pull *pull)
{
    pthread_mutex_lock(&lock);
    sx_list_remove(&pull->link);
    if (stopping) {
        sx_list_append(&over, &pull->link);
    } else {
        pthread_detach(pull->thread);
        release_locked(pull);
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void pull_over(struct pull *pull)
{
    pthread_mutex_lock(&lock);
    struct sx_op *const op = pull->op;

    pull->op = NULL;
    pull->is_over = true;
    shutdown(pull->fd, SHUT_RDWR); /* a forked child may have the socket, too */
    close(pull->fd);
    pull->fd = -1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (op != NULL) {
        (void)sx_op_answer(op, PMIX_SUCCESS);
    }
    pthread_mutex_lock(&sx_process.lock);
    sx_local_ring_locked(); /* for threads that run callbacks while they wait */
    pthread_mutex_unlock(&sx_process.lock);
}

static bool payload_hand_on(void *arg, const struct sx_iof_piece *piece, const char *text,
                            size_t size)
{
    struct pull *const pull = arg;

    pull->head = *piece;
    pull->payload = text;
    pull->payload_size = size;
    return pull->cbfunc != NULL ? piece_hand_on(pull) : piece_print(pull);
}

/* Called with the lines behind the marks. */
static bool payload_gather(void *arg, const struct sx_iof_piece *piece, const char *text,
                           size_t size)
{
    struct pull *const pull = arg;

    return pull->gather != NULL ? sx_gather_put(pull->gather, piece, text, size, sx_now_ns())
                                : payload_hand_on(pull, piece, text, size);
}

/* Until there is something to read, hand on output that was held long enough. */
static bool gather_wait(struct pull *pull)
{
    struct pollfd ready = { .fd = pull->fd, .events = POLLIN };
    uint64_t deadline_ns, now_ns;
    bool goes_on = true;

    while (goes_on && (deadline_ns = sx_gather_deadline_ns(pull->gather)) != SX_DEADLINE_NEVER) {
        now_ns = sx_now_ns();
        const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;

        if (poll(&ready, 1,
                 (int)(left_ns / SX_NS_PER_MS < 1000 ? left_ns / SX_NS_PER_MS + 1 : 1000)) > 0) {
            break;
        }
        goes_on = sx_gather_check(pull->gather, sx_now_ns());
    }
    return goes_on;
}

static void *pull_main(void *arg)
{
    struct pull *const pull = arg;
    bool goes_on = true;

    while (goes_on && (pull->gather == NULL || gather_wait(pull)) && piece_read(pull)) {
        const struct sx_iof_piece piece = pull->head;

        goes_on = pull->lines != NULL ? sx_lines_feed(pull->lines, &piece, pull->bytes, pull->size)
                                      : payload_gather(pull, &piece, pull->bytes, pull->size);
    }
    if (pull->lines != NULL) {
        sx_lines_end(pull->lines, goes_on);
    }
    if (pull->gather != NULL) {
        sx_gather_end(pull->gather, goes_on);
    }
    lost_say(pull, true);
    pull_over(pull);
    thread_leave(pull);
    return NULL;
}

/* Join the threads of ended pulls. */
static void over_reap(void)
{
    struct sx_list *it;

    pthread_mutex_lock(&lock);
    while ((it = sx_list_pop(&over)) != NULL) {
        struct pull *const pull = SX_LIST_ENTRY(it, struct pull, link);

        pthread_mutex_unlock(&lock);
        pthread_join(pull->thread, NULL);
        pthread_mutex_lock(&lock);
        release_locked(pull);
    }
    pthread_mutex_unlock(&lock);
}

/* Return: NULL when marks are not asked for, or memory is out. */
static struct sx_lines *lines_new(const struct sx_iof_options *options, struct pull *pull)
{
    struct sx_lines *const lines = sx_marks_any(&options->marks) ? calloc(1, sizeof(*lines)) : NULL;

    if (lines != NULL) {
        lines->marks = options->marks;
        lines->emit = payload_gather;
        lines->arg = pull;
        sx_list_init(&lines->streams);
    }
    return lines;
}

/* Return: as lines_new. */
static struct sx_gather *gather_new(const struct sx_iof_options *options, struct pull *pull)
{
    const bool is_gathered = options->buffer.number > 0 || options->buffer_ns > 0;
    struct sx_gather *const gather = is_gathered ? calloc(1, sizeof(*gather)) : NULL;

    if (gather != NULL) {
        gather->size = options->buffer.number == 0                    ? SX_GATHER_BYTES
                       : options->buffer.number < SX_GATHER_BYTES_MAX ? options->buffer.number
                                                                      : SX_GATHER_BYTES_MAX;
        gather->time_ns = options->buffer_ns;
        gather->emit = payload_hand_on;
        gather->arg = pull;
        sx_list_init(&gather->streams);
    }
    return gather;
}

static struct pull *pull_new(const struct sx_iof_options *options, pmix_iof_cbfunc_t cbfunc, int fd)
{
    struct pull *const pull = calloc(1, sizeof(*pull));

    if (pull != NULL) {
        pull->reference_count = 1;
        pull->fd = fd;
        pull->cbfunc = cbfunc;
        pull->task.run = piece_deliver;
        pull->lines = lines_new(options, pull);
        pull->gather = gather_new(options, pull);
    }
    return pull;
}

/* Return: errno's value. */
static int start_locked(struct pull *pull)
{
    if (drop_fd < 0) {
        drop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    pull->number = ++last_number;
    const int err = drop_fd < 0 ? errno : sx_thread_create(&pull->thread, pull_main, pull);

    if (err == 0) {
        sx_list_append(&pulls, &pull->link);
    }
    return err;
}

pmix_status_t sx_pull_start(const struct sx_iof_options *options, pmix_iof_cbfunc_t cbfunc, int fd,
                            size_t *ret_number)
{
    struct pull *const pull = pull_new(options, cbfunc, fd);
    int err = ENOMEM;

    if (pull != NULL) {
        pthread_mutex_lock(&lock);
        err = stopping ? ECANCELED : start_locked(pull);
        *ret_number = last_number;
        pthread_mutex_unlock(&lock);
    }
    if (err == 0) {
        return PMIX_SUCCESS;
    }
    close(fd);
    pull_free(pull);
    if (err == ECANCELED) { /* its answer came behind the end of all */
        return PMIX_ERR_NOT_AVAILABLE;
    }
    return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no thread can be made for a pull of output: %s",
                    strerror(err));
}

/* ---- its end --------------------------------------------------------------------------------- */

static struct pull *find_locked(size_t number)
{
    SX_LIST_EACH(it, &pulls) {
        struct pull *const pull = SX_LIST_ENTRY(it, struct pull, link);

        if (pull->number == number && !pull->is_over) {
            return pull;
        }
    }
    return NULL;
}

static pmix_status_t end_locked(size_t number, struct sx_op *op)
{
    struct pull *const pull = find_locked(number);

    if (pull == NULL || pull->ending) {
        return PMIX_ERR_NOT_FOUND;
    }
    pull->ending = true;
    pull->op = op;
    shutdown(pull->fd, SHUT_WR);
    return PMIX_SUCCESS;
}

pmix_status_t sx_pull_end(size_t number, struct sx_op *op)
{
    pthread_mutex_lock(&lock);
    const pmix_status_t rc = end_locked(number, op);

    pthread_mutex_unlock(&lock);
    return rc;
}

static bool is_over(size_t number)
{
    pthread_mutex_lock(&lock);
    const bool is_over = find_locked(number) == NULL;
    pthread_mutex_unlock(&lock);
    return is_over;
}

/* Without a progress thread, the queued callbacks must run on this thread. */
static void end_wait_external(size_t number)
{
    struct sx_process *const p = &sx_process;

    sx_progress_watch();
    for (;;) {
        const struct sx_bell_watch watch = sx_door_watch(&p->local);

        sx_progress_run();
        if (is_over(number)) {
            break;
        }
        (void)sx_bell_wait(&watch, 1, SX_BELL_ALL, SX_DEADLINE_NEVER);
    }
    sx_progress_unwatch();
}

pmix_status_t sx_pull_end_wait(size_t number)
{
    if (sx_progress_is_own_thread()) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    const pmix_status_t rc = sx_pull_end(number, NULL);

    if (rc == PMIX_SUCCESS && sx_process.external) {
        end_wait_external(number);
    } else if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&lock);
        while (find_locked(number) != NULL) {
            pthread_cond_wait(&changed, &lock);
        }
        pthread_mutex_unlock(&lock);
    }
    return rc;
}

/* ---- all pulls ------------------------------------------------------------------------------- */

static void all_end_locked(bool dropped)
{
    SX_LIST_EACH(it, &pulls) {
        struct pull *const pull = SX_LIST_ENTRY(it, struct pull, link);

        pull->ending = true;
        pull->dropped = dropped;
        shutdown(pull->fd, dropped ? SHUT_RDWR : SHUT_WR);
    }
    pthread_cond_broadcast(&changed);
}

void sx_pulls_stop(void)
{
    const struct timespec until = sx_timespec(sx_deadline_ns(sx_now_ns(), SX_PULLS_END_NS));
    const bool drops = sx_process.external || sx_progress_is_own_thread();
    const uint64_t one = 1;
    int err = 0;

    pthread_mutex_lock(&lock);
    stopping = true;
    all_end_locked(drops);
    while (!sx_list_empty(&pulls) && err == 0 && !drops) {
        err = pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
    }
    if (!sx_list_empty(&pulls)) {
        all_end_locked(true);
        (void)!write(drop_fd, &one, sizeof(one));
    }
    while (!sx_list_empty(&pulls)) {
        pthread_cond_wait(&changed, &lock);
    }
    if (drop_fd >= 0) {
        close(drop_fd);
        drop_fd = -1;
    }
    pthread_mutex_unlock(&lock);
    over_reap();
}

void sx_pulls_allow(void)
{
    pthread_mutex_lock(&lock);
    stopping = false;
    pthread_mutex_unlock(&lock);
}

void sx_pulls_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&stream_lock, NULL);
    pthread_cond_init(&changed, NULL);
    sx_list_init(&pulls);
    sx_list_init(&over);
    stopping = false;
    drop_fd = -1;
}
