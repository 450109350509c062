/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop_uring.c - the engine on io_uring: one io_uring_enter a turn submits all requests and waits.
 *
 *   a source's record:  QUEUED --flush--> ARMED --completion--> QUEUED again, or resting
 *                          \--removed-->  CANCELLING --completion--> freed
 *
 * A record is freed only when the kernel will report no more completions for it, so a completion
 * always points at a live record.  Requests are queued and submitted with the next wait, in one
 * system call.  Waits for readiness are single-shot and armed again after the callback: arming
 * checks the present state, which makes them level-triggered.  Connections and messages are taken
 * with accept4 and recvmsg, as with epoll.  A kernel that accepts and receives ahead of this
 * process would defeat back-pressure on senders.
 *
 * The kernel's abilities are found by trial: setup is repeated with fewer flags.  The ring is made
 * disabled and enabled by the thread that runs the loop, since SINGLE_ISSUER binds it to one
 * thread.  A forked child does not have it (MADV_DONTFORK). */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <liburing.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/system/library.h"
#include "base/util.h"
#include "control/loop_engine.h"

/* ---- the calls of liburing ------------------------------------------------------------------- */

/* The calls of liburing (base/system/library.h).  Without liburing no ring is set up, as on a
 * kernel without io_uring, and the loop uses epoll. */

#define CALL(refused, type, name, params, args) \
    SX_LIBRARY_CALL(SHMIX_LIBURING, refused, type, name, params, args)
#define CALL_VOID(name, params, args) SX_LIBRARY_CALL_VOID(SHMIX_LIBURING, name, params, args)

typedef struct io_uring ring_t;
typedef struct io_uring_cqe cqe_t;

/* clang-format off: a table */
CALL(-ENOSYS, int, io_uring_queue_init_params,
     (unsigned count, ring_t *ring, struct io_uring_params *params), (count, ring, params))
CALL_VOID(io_uring_queue_exit, (ring_t * ring), (ring))
CALL(-ENOSYS, int, io_uring_ring_dontfork, (ring_t * ring), (ring))
CALL(-ENOSYS, int, io_uring_submit, (ring_t * ring), (ring))
CALL(-ENOSYS, int, io_uring_submit_and_wait, (ring_t * ring, unsigned count), (ring, count))
CALL(-ENOSYS, int, io_uring_submit_and_wait_timeout,
     (ring_t * ring, cqe_t **ret, unsigned count, struct __kernel_timespec *time, sigset_t *mask),
     (ring, ret, count, time, mask))
CALL(-ENOSYS, int, __io_uring_get_cqe,
     (ring_t * ring, cqe_t **ret, unsigned submit, unsigned count, sigset_t *mask),
     (ring, ret, submit, count, mask))
/* clang-format on */
#undef CALL
#undef CALL_VOID

/* ---- the engine ------------------------------------------------------------------------------ */

#define SQ_ENTRIES 128
#define CQ_ENTRIES 2048
#define OP_FUTEX_WAIT 51 /* IORING_OP_FUTEX_WAIT of Linux 6.7, younger than liburing 2.3 */
#define FUTEX2_U32 0x02u /* FUTEX2_SIZE_U32, shared */

struct uring_op {
    struct sx_list link;   /* in ->ops, always */
    struct sx_list queued; /* in ->queue while a request is to be submitted */
    struct sx_loop *loop;
    struct sx_source *source; /* NULL: removed */
    enum sx_source_kind kind;
    bool armed;      /* the kernel holds a request */
    bool cancelling; /* and has been asked to give it up */
    bool in_call;    /* being called back: freed afterwards */
    bool resting;    /* accept, receive: armed again by a timer, by sx_recv_take */
    struct sx_accept_rest rest;
};

struct uring_state {
    struct io_uring ring;
    bool started;
    bool has_futex;
    struct sx_list ops;
    struct sx_list queue;
};

/* ---- setup: if anything is refused, the caller falls back to epoll ------------------------ */

static int make_ring(struct io_uring *ring)
{
    static const unsigned flag_sets[] = {
        /* 6.1 */ IORING_SETUP_R_DISABLED | IORING_SETUP_SINGLE_ISSUER |
            IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
        /* 5.19 */ IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SUBMIT_ALL,
        /* 5.11 */ 0,
    };
    int err = EINVAL;

    for (size_t i = 0; i < SX_COUNT(flag_sets) && err == EINVAL; i++) {
        struct io_uring_params params = {
            .flags = flag_sets[i] | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
            .cq_entries = CQ_ENTRIES,
        };

        err = -io_uring_queue_init_params(SQ_ENTRIES, ring, &params);
    }
    if (err != 0) {
        return err;
    }
    if ((ring->features & IORING_FEAT_EXT_ARG) == 0 || (ring->features & IORING_FEAT_NODROP) == 0) {
        io_uring_queue_exit(ring);
        return ENOSYS;
    }
    io_uring_ring_dontfork(ring); /* best effort: a child that uses the ring is refused anyway */
    return 0;
}

/* The operations that the kernel has. */
union probe {
    struct io_uring_probe head;
    char bytes[sizeof(struct io_uring_probe) + UINT8_MAX * sizeof(struct io_uring_probe_op)];
};

/* A filter of system calls may let io_uring_setup pass and refuse one of the others.  A ring that
 * is not enabled yet answers io_uring_enter with EBADFD.  Return: 0 or errno. */
static int calls_try(const struct io_uring *ring, union probe *ret_probe)
{
    memset(ret_probe, 0, sizeof(*ret_probe));
    if (syscall(SYS_io_uring_register, ring->ring_fd, IORING_REGISTER_PROBE, ret_probe,
                UINT8_MAX) != 0) {
        return errno;
    }
    return syscall(SYS_io_uring_enter, ring->ring_fd, 0, 0, 0, NULL, 0) >= 0 || errno == EBADFD
               ? 0
               : errno;
}

static int uring_open(struct sx_loop *loop)
{
    struct uring_state *state = calloc(1, sizeof(*state));

    if (state == NULL) {
        return ENOMEM;
    }
    union probe probe;
    int err = sx_library_try(SHMIX_LIBURING);

    if (err == 0) {
        err = make_ring(&state->ring);
    }
    if (err == 0 && (err = calls_try(&state->ring, &probe)) != 0) {
        io_uring_queue_exit(&state->ring);
    }
    if (err != 0) {
        free(state);
        return err;
    }
    state->has_futex = io_uring_opcode_supported(&probe.head, OP_FUTEX_WAIT) != 0;
    sx_list_init(&state->ops);
    sx_list_init(&state->queue);
    loop->state = state;
    return 0;
}

static int uring_start(struct sx_loop *loop)
{
    struct uring_state *state = loop->state;
    int err = 0;

    if (!state->started && (state->ring.flags & IORING_SETUP_R_DISABLED) != 0) {
        /* By number: the io_uring_enable_rings of liburing 2.3 is declared, but not exported. */
        err = syscall(SYS_io_uring_register, state->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS,
                      NULL, 0) == 0
                  ? 0
                  : errno;
    }
    state->started = err == 0;
    return err;
}

/* ---- asking ------------------------------------------------------------------------------- */

static void queue_op(struct uring_state *state, struct uring_op *op)
{
    sx_list_remove(&op->queued);
    sx_list_append(&state->queue, &op->queued);
}

static void prepare(const struct uring_op *op, struct io_uring_sqe *sqe)
{
    switch (op->kind) {
    case SX_SOURCE_POLL: {
        const struct sx_poll *poll = SX_CONTAINER(op->source, struct sx_poll, source);

        io_uring_prep_poll_add(sqe, poll->fd, poll->events);
        break;
    }
    case SX_SOURCE_FUTEX: {
        struct sx_futex *futex = SX_CONTAINER(op->source, struct sx_futex, source);

        io_uring_prep_rw(OP_FUTEX_WAIT, sqe, (int)FUTEX2_U32, futex->word, 0, futex->seen);
        sqe->addr3 = FUTEX_BITSET_MATCH_ANY;
        break;
    }
    case SX_SOURCE_ACCEPT:
        io_uring_prep_poll_add(sqe, SX_CONTAINER(op->source, struct sx_accept, source)->fd, POLLIN);
        break;
    case SX_SOURCE_RECV:
        io_uring_prep_poll_add(sqe, SX_CONTAINER(op->source, struct sx_recv, source)->fd, POLLIN);
        break;
    }
    io_uring_sqe_set_data(sqe, (void *)(uintptr_t)op);
}

/* Put all queued requests into the submission ring.  Return: false when it stays full. */
static bool flush_queue(struct uring_state *state)
{
    while (!sx_list_empty(&state->queue)) {
        struct uring_op *op = SX_LIST_ENTRY(state->queue.next, struct uring_op, queued);
        struct io_uring_sqe *sqe = io_uring_get_sqe(&state->ring);

        if (sqe == NULL) {
            if (io_uring_submit(&state->ring) <= 0) {
                return false;
            }
            continue;
        }
        sx_list_remove(&op->queued);
        if (op->armed) {
            io_uring_prep_cancel64(sqe, (uintptr_t)op, 0);
            io_uring_sqe_set_data(sqe, NULL);
            op->cancelling = true;
        } else {
            prepare(op, sqe);
            op->armed = true;
        }
    }
    return true;
}

static int uring_wait(struct sx_loop *loop, uint64_t timeout_ns)
{
    struct uring_state *state = loop->state;
    struct io_uring_cqe *cqe;
    int rc;

    if (!flush_queue(state) || io_uring_cq_ready(&state->ring) > 0) {
        timeout_ns = 0;
    }
    if (timeout_ns == 0) {
        /* No system call when nothing is queued and the kernel flags no pending work. */
        rc = io_uring_submit(&state->ring);
    } else if (timeout_ns == SX_DEADLINE_NEVER) {
        rc = io_uring_submit_and_wait(&state->ring, 1);
    } else {
        struct __kernel_timespec ts = { .tv_sec = (int64_t)(timeout_ns / SX_NS_PER_SEC),
                                        .tv_nsec = (long long)(timeout_ns % SX_NS_PER_SEC) };

        rc = io_uring_submit_and_wait_timeout(&state->ring, &cqe, 1, &ts, NULL);
    }
    /* EBUSY, EAGAIN: the kernel wants completions taken first, or is short of memory. */
    return rc >= 0 || rc == -EINTR || rc == -ETIME || rc == -EBUSY || rc == -EAGAIN ? 0 : -rc;
}

/* ---- completions -------------------------------------------------------------------------- */

static void free_op(struct uring_op *op)
{
    sx_list_remove(&op->link);
    sx_list_remove(&op->queued);
    free(op);
}

static void resume_accept(void *arg, uint64_t now_ns)
{
    struct uring_op *op = arg;

    (void)now_ns;
    op->resting = false;
    queue_op(op->loop->state, op);
}

static void complete_accept(struct uring_op *op, uint64_t now_ns)
{
    const int err = sx_loop_accept_ready(&op->source, &op->rest, now_ns);

    if (err != 0 && op->source != NULL) {
        op->resting = true;
        sx_loop_accept_rest(&op->source, &op->rest, err, now_ns, resume_accept, op);
    }
}

static void complete_poll(struct sx_poll *poll, int res, uint64_t now_ns)
{
    const uint32_t events = res < 0 ? 0u : (uint32_t)res;
    /* The mask may have changed since the request was armed. */
    const uint32_t revents = events & (poll->events | POLLERR | POLLHUP | POLLNVAL);

    if (revents != 0 || res < 0) {
        poll->fn(poll->arg, res < 0 ? POLLERR : revents, now_ns);
    }
}

/* The source is there, and has not been cancelled. */
static void complete_source(struct uring_op *op, int res, uint64_t now_ns)
{
    if (op->kind == SX_SOURCE_ACCEPT) {
        complete_accept(op, now_ns);
    } else if (op->kind == SX_SOURCE_RECV) {
        struct sx_recv *recv = SX_CONTAINER(op->source, struct sx_recv, source);

        op->resting = recv->ready != NULL;
        sx_loop_receive_ready(op->loop, recv, now_ns);
    } else if (op->kind == SX_SOURCE_FUTEX) {
        struct sx_futex *futex = SX_CONTAINER(op->source, struct sx_futex, source);

        sx_futex_remove(futex);
        futex->fn(futex->arg, now_ns);
    } else {
        complete_poll(SX_CONTAINER(op->source, struct sx_poll, source), res, now_ns);
    }
}

static void complete(struct uring_state *state, struct uring_op *op, int res, uint64_t now_ns)
{
    op->armed = op->cancelling = false;
    op->in_call = true;
    if (op->source != NULL && res != -ECANCELED) {
        complete_source(op, res, now_ns);
    }
    op->in_call = false;
    if (op->source == NULL) {
        free_op(op);
    } else if (!op->resting) {
        queue_op(state, op);
    }
}

static void uring_dispatch(struct sx_loop *loop, uint64_t now_ns)
{
    struct uring_state *state = loop->state;
    const unsigned ready = io_uring_cq_ready(&state->ring); /* bounds the turn */
    struct io_uring_cqe *cqe;

    for (unsigned i = 0; i < ready && io_uring_peek_cqe(&state->ring, &cqe) == 0; i++) {
        struct uring_op *op = io_uring_cqe_get_data(cqe);
        const int res = cqe->res;

        io_uring_cqe_seen(&state->ring, cqe);
        if (op != NULL) { /* NULL: of a cancel; the request itself reports the effect */
            complete(state, op, res, now_ns);
        }
    }
}

/* ---- sources ------------------------------------------------------------------------------ */

static int uring_add(struct sx_loop *loop, struct sx_source *source, enum sx_source_kind kind)
{
    struct uring_state *state = loop->state;

    if (kind == SX_SOURCE_FUTEX && !state->has_futex) {
        return EOPNOTSUPP;
    }
    struct uring_op *op = calloc(1, sizeof(*op));

    if (op == NULL) {
        return ENOMEM;
    }
    *op = (struct uring_op){ .loop = loop, .source = source, .kind = kind };
    if (kind == SX_SOURCE_ACCEPT) {
        sx_loop_accept_rest_init(&op->rest, loop);
    }
    sx_list_init(&op->queued);
    sx_list_append(&state->ops, &op->link);
    queue_op(state, op);
    source->engine = op;
    return 0;
}

static int uring_modify(struct sx_poll *poll)
{
    struct uring_op *op = poll->source.engine;

    /* Armed with the old mask: cancelled now, armed with the new one when that has completed. */
    if (op->armed && !op->cancelling) {
        queue_op(op->loop->state, op);
    }
    return 0;
}

static void uring_resume(struct sx_recv *recv)
{
    struct uring_op *op = recv->source.engine;

    if (op->resting && !op->in_call) { /* else it is queued when the call has ended */
        queue_op(op->loop->state, op);
    }
    op->resting = false;
}

static void uring_remove(struct sx_source *source)
{
    struct uring_op *op = source->engine;

    sx_loop_accept_rest_deinit(&op->rest);
    op->source = NULL;
    if (op->armed) {
        if (!op->cancelling) {
            queue_op(op->loop->state, op);
        }
        return;
    }
    sx_list_remove(&op->queued);
    if (!op->in_call) {
        free_op(op);
    }
}

static void uring_close(struct sx_loop *loop)
{
    struct uring_state *state = loop->state;

    SX_LIST_EACH(node, &state->ops) {
        struct uring_op *op = SX_LIST_ENTRY(node, struct uring_op, link);

        if (op->source != NULL) {
            op->source->loop = NULL;
            op->source->engine = NULL;
            sx_loop_accept_rest_deinit(&op->rest);
            op->source = NULL;
        }
    }
    SX_LIST_EACH(node, &state->ops) {
        free_op(SX_LIST_ENTRY(node, struct uring_op, link));
    }
    io_uring_queue_exit(&state->ring);
    free(state);
    loop->state = NULL;
}

const struct sx_loop_engine sx_loop_engine_uring = {
    .name = "io_uring",
    .open = uring_open,
    .close = uring_close,
    .start = uring_start,
    .wait = uring_wait,
    .dispatch = uring_dispatch,
    .add = uring_add,
    .modify = uring_modify,
    .resume = uring_resume,
    .remove = uring_remove,
};
