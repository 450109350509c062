/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof.c - PMIx_IOF_pull, PMIx_IOF_deregister and PMIx_IOF_push, and the thread that pushes this
 * process's own standard input, one piece at a time. */
#include "client/iof/iof.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "base/call/directive_tables.h"
#include "base/log.h"
#include "base/status.h"
#include "base/util.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/link/wait.h"

/* ---- the thread of the standard input -------------------------------------------------------- */

#define BACKGROUND_MS 1000 /* a terminal that is not ours now: check again */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a push is answered, or no more is wanted */
    bool exists;            /* the thread is to be joined */
    bool over;              /* it has nothing more to do */
    bool stops;
    uintptr_t number; /* of the push that is under way */
    bool answered;
    pmix_status_t status; /* result of that push */
    int wake_fd;          /* readable once the thread must stop */
    pthread_t thread;
    /* used by the thread only: */
    pmix_proc_t *targets;
    size_t target_count;
    sx_input_push_fn push;
    sx_input_begun_fn begun;
    void *begun_arg;
    char bytes[SX_INPUT_BYTES];
} input = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .wake_fd = -1,
};

/* ---- the thread ------------------------------------------------------------------------------ */

static void on_pushed(pmix_status_t status, void *cbdata)
{
    pthread_mutex_lock(&input.lock);
    if ((uintptr_t)cbdata == input.number) {
        input.answered = true;
        input.status = status;
        pthread_cond_broadcast(&input.changed);
    }
    pthread_mutex_unlock(&input.lock);
}

static bool stops(void)
{
    pthread_mutex_lock(&input.lock);
    const bool stops = input.stops;
    pthread_mutex_unlock(&input.lock);
    return stops;
}

/* Return: the result of the push; PMIX_ERR_LOST_CONNECTION when no more is wanted. */
static pmix_status_t answer_await(void)
{
    pthread_mutex_lock(&input.lock);
    while (!input.answered && !input.stops) {
        pthread_cond_wait(&input.changed, &input.lock);
    }
    const pmix_status_t status = input.answered ? input.status : PMIX_ERR_LOST_CONNECTION;

    pthread_mutex_unlock(&input.lock);
    return status;
}

/* Push @size bytes.  Without bytes: the end, or at first the targets alone, so that the server ends
 * their input when this process ends. */
static pmix_status_t piece_push(size_t size, bool complete)
{
    pmix_byte_object_t bytes = { .bytes = input.bytes, .size = size };
    pmix_info_t info[2];

    pthread_mutex_lock(&input.lock);
    const uintptr_t number = ++input.number;

    input.answered = false;
    pthread_mutex_unlock(&input.lock);
    PMIx_Info_load(&info[0], PMIX_IOF_PUSH_STDIN, NULL, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_IOF_COMPLETE, NULL, PMIX_BOOL);
    const pmix_status_t rc = input.push(input.targets, input.target_count, &bytes, info,
                                        complete ? 2 : 1, on_pushed, (void *)number);

    return rc == PMIX_SUCCESS ? answer_await() : rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

/* Without a standard input, descriptor 0 may be another file, which a new program would not
 * inherit. */
static bool is_there(void)
{
    const int flags = fcntl(STDIN_FILENO, F_GETFD);

    return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

/* Return: the number of bytes, 0 at the end; -1 when no more is wanted. */
static ssize_t piece_read(void)
{
    struct pollfd ready[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                              { .fd = input.wake_fd, .events = POLLIN } };
    ssize_t got = 0;

    while (is_there() && !stops()) {
        (void)poll(ready, SX_COUNT(ready), -1);
        if (ready[1].revents != 0) {
            return -1;
        }
        got = read(STDIN_FILENO, input.bytes, sizeof(input.bytes));
        if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EIO)) {
            return got < 0 ? 0 : got;
        }
        if (errno == EIO && isatty(STDIN_FILENO)) {
            (void)poll(&ready[1], 1, BACKGROUND_MS);
        } else if (errno == EIO) {
            return 0;
        }
    }
    return is_there() ? -1 : 0;
}

static void *input_main(void *arg)
{
    pmix_status_t rc = piece_push(0, false);
    ssize_t got = 1;

    (void)arg;
    input.begun(input.begun_arg, rc);
    while (rc == PMIX_SUCCESS && got > 0) {
        got = piece_read();
        if (got >= 0) {
            rc = piece_push((size_t)got, got == 0);
        }
    }
    /* PMIX_ERR_IOF_COMPLETE: all targets have closed their input. */
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_IOF_COMPLETE && !stops()) {
        sx_log(SX_LOG_WARN, "the standard input is no longer pushed: %s", PMIx_Error_string(rc));
    }
    pthread_mutex_lock(&input.lock);
    input.over = true;
    pthread_mutex_unlock(&input.lock);
    return NULL;
}

/* ---- start and end --------------------------------------------------------------------------- */

static void end_locked(void)
{
    const bool exists = input.exists;

    input.exists = false;
    if (exists) {
        pthread_mutex_unlock(&input.lock);
        pthread_join(input.thread, NULL);
        pthread_mutex_lock(&input.lock);
        close(input.wake_fd);
        input.wake_fd = -1;
        free(input.targets);
        input.targets = NULL;
    }
}

static pmix_status_t start_locked(const pmix_proc_t targets[], size_t ntargets,
                                  sx_input_push_fn push, sx_input_begun_fn begun, void *arg)
{
    if (input.exists && !input.over) {
        return PMIX_ERR_RESOURCE_BUSY;
    }
    end_locked();
    input.targets = malloc(ntargets * sizeof(*targets));
    input.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    input.over = input.stops = false;
    input.target_count = ntargets;
    input.push = push;
    input.begun = begun;
    input.begun_arg = arg;
    if (input.targets != NULL && input.wake_fd >= 0) {
        memcpy(input.targets, targets, ntargets * sizeof(*targets));
        input.exists = sx_thread_create(&input.thread, input_main, NULL) == 0;
    }
    if (input.exists) {
        return PMIX_SUCCESS;
    }
    free(input.targets);
    input.targets = NULL;
    if (input.wake_fd >= 0) {
        close(input.wake_fd);
        input.wake_fd = -1;
    }
    return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no thread can be made for the standard input");
}

pmix_status_t sx_input_start(const pmix_proc_t targets[], size_t ntargets, sx_input_push_fn push,
                             sx_input_begun_fn begun, void *arg)
{
    pthread_mutex_lock(&input.lock);
    const pmix_status_t rc = start_locked(targets, ntargets, push, begun, arg);

    pthread_mutex_unlock(&input.lock);
    return rc;
}

void sx_input_stop(void)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&input.lock);
    input.stops = true;
    if (input.exists) {
        (void)!write(input.wake_fd, &one, sizeof(one));
    }
    pthread_cond_broadcast(&input.changed);
    end_locked();
    pthread_mutex_unlock(&input.lock);
}

void sx_input_forked(void)
{
    pthread_mutex_init(&input.lock, NULL);
    pthread_cond_init(&input.changed, NULL);
    input.exists = false;
    input.wake_fd = -1;
    input.targets = NULL;
}

/* ---- pull ------------------------------------------------------------------------------------ */

struct pull_op {
    struct sx_op op;
    pmix_iof_cbfunc_t cbfunc;
    struct sx_iof_options options;
};

static bool pull_finish(struct sx_op *op)
{
    const struct pull_op *const pull_op = SX_CONTAINER(op, struct pull_op, op);

    if (op->fd < 0) {
        op->status = op->status == PMIX_SUCCESS ? PMIX_ERROR : op->status;
    } else if (op->status == PMIX_SUCCESS) {
        op->status = sx_pull_start(&pull_op->options, pull_op->cbfunc, op->fd, &op->handler);
    } else {
        close(op->fd);
    }
    op->fd = -1;
    return true;
}

static const struct sx_op_kind pull_kind = { .size = sizeof(struct pull_op),
                                             .request = SX_MSG_IOF_PULL,
                                             .finish = pull_finish };

/* Whether one call may name so many processes. */
static pmix_status_t count_judge(size_t nprocs)
{
    return nprocs <= SX_IOF_PROCS_MAX
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "a call of PMIx_IOF_pull or PMIx_IOF_push may name %u processes, and "
                          "this one names %zu: name a whole namespace with PMIX_RANK_WILDCARD",
                          SX_IOF_PROCS_MAX, nprocs);
}

/* All channels except input; the input channel alone is a mistake. */
static pmix_iof_channel_t output_of(pmix_iof_channel_t channel)
{
    const pmix_iof_channel_t output = channel & (PMIX_FWD_ALL_CHANNELS & ~PMIX_FWD_STDIN_CHANNEL);

    return channel != PMIX_FWD_ALL_CHANNELS && (channel & ~output) != 0 ? PMIX_FWD_NO_CHANNELS
                                                                        : output;
}

static pmix_status_t pull_judge(const pmix_proc_t procs[], size_t nprocs,
                                pmix_iof_channel_t channel, const pmix_info_t directives[],
                                size_t ndirs, struct sx_iof_options *options)
{
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (procs == NULL || nprocs == 0 || output_of(channel) == PMIX_FWD_NO_CHANNELS) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = count_judge(nprocs);

    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_IOF_PULL, directives, ndirs, options);
    }
    /* A host stops a pull with this info; others call PMIx_IOF_deregister. */
    return rc == PMIX_SUCCESS && options->stop ? PMIX_ERR_NOT_SUPPORTED : rc;
}

pmix_status_t PMIx_IOF_pull(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *directives,
                            size_t ndirs, pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc,
                            pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_HANDLER, handler, regcbfunc,
                                                    regcbdata);
    struct pull_op pull_op = { .op = SX_OP_INIT(&pull_kind, sx_primary(), .callback = callback),
                               .cbfunc = cbfunc };
    struct sx_draft draft = {
        .head = &(struct sx_iof_pull){ .channels = output_of(channel) },
        .nspace = sx_process.self.nspace,
        .parts = { [SX_PULL_PROCS] = { procs, nprocs }, [SX_PULL_INFOS] = { directives, ndirs } }
    };
    pmix_status_t rc = pull_judge(procs, nprocs, channel, directives, ndirs, &pull_op.options);

    if (rc == PMIX_SUCCESS && cbfunc != NULL) {
        rc = sx_progress_start();
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_op_ask(&pull_op.op, &draft);
    }
    return rc == PMIX_SUCCESS && regcbfunc == NULL ? (pmix_status_t)pull_op.op.handler : rc;
}

/* ---- deregister ------------------------------------------------------------------------------ */

static const struct sx_op_kind end_kind = { .size = sizeof(struct sx_op) };

static pmix_status_t end_later(size_t number, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata);
    struct sx_op here = SX_OP_INIT(&end_kind, sx_primary(), .callback = callback);
    struct sx_op *op = &here;
    pmix_status_t rc = sx_op_open(&op);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_pull_end(number, op);
    if (rc != PMIX_SUCCESS) {
        sx_op_free(op);
    }
    return rc;
}

pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t *directives, size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = sx_options_read(SX_OF_IOF_DEREGISTER, directives, ndirs, NULL);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return cbfunc != NULL ? end_later(iofhdlr, cbfunc, cbdata) : sx_pull_end_wait(iofhdlr);
}

/* ---- push ------------------------------------------------------------------------------------ */

/* The input is placed before the directives.  Return: NULL when memory is out; else the array is
 * the caller's to free, and its content is not. */
static pmix_info_t *infos_with(const pmix_byte_object_t *bytes, const pmix_info_t directives[],
                               size_t ndirs)
{
    pmix_info_t *const infos = calloc(ndirs + 1, sizeof(*infos));

    if (infos == NULL) {
        return NULL;
    }
    PMIx_Load_key(infos[0].key, SX_PUSH_BYTES);
    infos[0].value.type = PMIX_BYTE_OBJECT;
    if (bytes != NULL) {
        infos[0].value.data.bo = *bytes;
    }
    for (size_t i = 0; i < ndirs; i++) {
        infos[i + 1] = directives[i];
    }
    return infos;
}

static pmix_status_t push_judge(const pmix_proc_t targets[], size_t ntargets,
                                const pmix_byte_object_t *bytes, const pmix_info_t directives[],
                                size_t ndirs, struct sx_iof_options *options)
{
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (targets == NULL || ntargets == 0 ||
        (bytes != NULL && bytes->bytes == NULL && bytes->size > 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = count_judge(ntargets);

    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_IOF_PUSH, directives, ndirs, options);
    }
    const bool has_bytes = bytes != NULL && bytes->size > 0;

    if (rc == PMIX_SUCCESS && options->own_input) {
        return has_bytes ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
    }
    /* An empty input is valid as the last one. */
    return rc == PMIX_SUCCESS && !options->complete && !has_bytes ? PMIX_ERR_BAD_PARAM : rc;
}

/* The checked arguments. */
static pmix_status_t push(const pmix_proc_t targets[], size_t ntargets,
                          const pmix_byte_object_t *bo, const pmix_info_t directives[],
                          size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .request = SX_MSG_IOF_PUSH };
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata);
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    pmix_info_t *const infos = infos_with(bo, directives, ndirs);
    struct sx_draft draft = {
        .head = &(struct sx_iof_push){ 0 },
        .nspace = sx_process.self.nspace,
        .parts = { [SX_PUSH_PROCS] = { targets, ntargets }, [SX_PUSH_INFOS] = { infos, ndirs + 1 } }
    };
    const pmix_status_t rc = infos == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_op_ask(&op, &draft);

    free(infos);
    return rc;
}

static const struct sx_op_kind begun_kind = { .size = sizeof(struct sx_op) };

static void on_begun(void *arg, pmix_status_t status)
{
    if (arg != NULL) {
        (void)sx_op_answer(arg, status);
    }
}

/* Forward the caller's own input from now on.  @cbfunc: called when that has begun; the targets'
 * input then has an end in any case. */
static pmix_status_t input_push(const pmix_proc_t targets[], size_t ntargets,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata);
    struct sx_op here = SX_OP_INIT(&begun_kind, sx_primary(), .callback = callback);
    struct sx_op *op = &here;
    pmix_status_t rc = cbfunc == NULL ? PMIX_SUCCESS : sx_op_open(&op);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_input_start(targets, ntargets, push, on_begun, cbfunc != NULL ? op : NULL);
    if (cbfunc != NULL && rc != PMIX_SUCCESS) {
        sx_op_free(op);
    }
    return rc;
}

pmix_status_t PMIx_IOF_push(const pmix_proc_t *targets, size_t ntargets, pmix_byte_object_t *bo,
                            const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
                            void *cbdata)
{
    struct sx_iof_options options = { 0 };
    const pmix_status_t rc = push_judge(targets, ntargets, bo, directives, ndirs, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (options.own_input && !options.complete) {
        return input_push(targets, ntargets, cbfunc, cbdata);
    }
    if (options.own_input) {
        sx_input_stop();
    }
    return push(targets, ntargets, bo, directives, ndirs, cbfunc, cbdata);
}
