/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop_uring.c - the engine on io_uring: accept and receive multishot, one enter a turn.
 *
 *   a source's record:  QUEUED --flush--> ARMED --last completion--> QUEUED again, or resting
 *                          \--removed-->  CANCELLING --last completion--> freed
 *
 * A record is freed only when the kernel has nothing more to say about it, so a completion always
 * points at a live record; a record whose source is gone drops what still arrives (a connection or
 * descriptors are closed).  Requests are queued and go down with the next wait, in one system call.
 * Waits for readiness are single-shot and armed again after the callback: arming looks at the
 * present state, which makes them level-triggered.
 *
 * What the kernel cannot do is found by asking for it: setup with fewer flags, and a source whose
 * multishot request is refused waits for readiness and uses accept4 and recvmsg like epoll does.
 * The ring is made disabled and enabled by the thread that runs the loop, since SINGLE_ISSUER
 * binds it to one thread.  A forked child has neither ring nor buffers (MADV_DONTFORK). */
#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/util.h"
#include "control/loop_engine.h"
#include "control/socket.h"

#define SQ_ENTRIES 128
#define CQ_ENTRIES 2048
#define OP_FUTEX_WAIT 51 /* IORING_OP_FUTEX_WAIT of Linux 6.7, younger than liburing 2.3 */
#define FUTEX2_U32 0x02u /* FUTEX2_SIZE_U32, shared */

/* A provided buffer: struct io_uring_recvmsg_out, control data, then the message; with this size
 * a longer message shows as MSG_TRUNC. */
#define BUFFER_COUNT 32u
#define BUFFER_GROUP 0
#define BUFFER_BYTES \
    (sizeof(struct io_uring_recvmsg_out) + SX_SOCKET_CONTROL_BYTES + SX_RECV_BYTES_MAX)
#define BUFFER_STRIDE 8320u
static_assert(BUFFER_BYTES <= BUFFER_STRIDE, "a buffer ends before the next one");
static_assert(BUFFER_STRIDE % SX_CACHELINE_BYTES == 0, "buffers share no cache line");
static_assert((sizeof(struct io_uring_recvmsg_out) + SX_SOCKET_CONTROL_BYTES) % 8 == 0,
              "messages are 8-aligned");

struct uring_op {
    struct sx_list link;   /* in ->ops, always */
    struct sx_list queued; /* in ->queue while there is something to ask of the kernel */
    struct sx_loop *loop;
    struct sx_source *source; /* NULL: removed */
    enum sx_source_kind kind;
    bool armed;      /* the kernel holds a request of ours */
    bool cancelling; /* and has been asked to give it up */
    bool in_call;    /* being called back: freed afterwards */
    bool resting;    /* accept: a timer arms it again */
    bool by_poll;    /* multishot was refused */
    struct sx_accept_rest rest;
};

struct uring_state {
    struct io_uring ring;
    bool started;
    bool has_buffers, has_recv_multishot, has_accept_multishot, has_futex;
    struct sx_list ops;
    struct sx_list queue;
    struct io_uring_buf_ring *buf_ring; /* one map: the ring of buffers, then the buffers */
    uint8_t *buffers;
    struct msghdr receive; /* the sizes that multishot receives work with */
};

#define BUF_RING_BYTES SX_PAGE_BYTES
#define BUFFER_MAP_BYTES (BUF_RING_BYTES + (size_t)BUFFER_COUNT * BUFFER_STRIDE)
static_assert(BUFFER_COUNT * sizeof(struct io_uring_buf) <= BUF_RING_BYTES, "fits its page");

/* ---- setup: whatever is refused, the caller falls back to epoll --------------------------- */

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

static void provide_buffer(struct uring_state *state, unsigned id)
{
    io_uring_buf_ring_add(state->buf_ring, state->buffers + (size_t)id * BUFFER_STRIDE,
                          (unsigned)BUFFER_BYTES, (unsigned short)id,
                          io_uring_buf_ring_mask(BUFFER_COUNT), 0);
    io_uring_buf_ring_advance(state->buf_ring, 1);
}

/* Return: false where the kernel has no buffer rings; receives then go by readiness. */
static bool register_buffers(struct uring_state *state)
{
    uint8_t *map = mmap(NULL, BUFFER_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);

    if (map == MAP_FAILED) {
        return false;
    }
    struct io_uring_buf_reg reg = {
        .ring_addr = (uintptr_t)map,
        .ring_entries = BUFFER_COUNT,
        .bgid = BUFFER_GROUP,
    };

    /* The kernel keeps hold of the first page: a copy on write after fork must not take it away. */
    if (madvise(map, BUFFER_MAP_BYTES, MADV_DONTFORK) != 0 ||
        io_uring_register_buf_ring(&state->ring, &reg, 0) != 0) {
        munmap(map, BUFFER_MAP_BYTES);
        return false;
    }
    state->buf_ring = (struct io_uring_buf_ring *)(void *)map;
    state->buffers = map + BUF_RING_BYTES;
    io_uring_buf_ring_init(state->buf_ring);
    for (unsigned id = 0; id < BUFFER_COUNT; id++) {
        provide_buffer(state, id);
    }
    return true;
}

static int uring_open(struct sx_loop *loop)
{
    struct uring_state *state = calloc(1, sizeof(*state));

    if (state == NULL) {
        return ENOMEM;
    }
    int err = make_ring(&state->ring);

    if (err != 0) {
        free(state);
        return err;
    }
    struct io_uring_probe *probe = io_uring_get_probe_ring(&state->ring);

    state->has_futex = probe != NULL && io_uring_opcode_supported(probe, OP_FUTEX_WAIT) != 0;
    io_uring_free_probe(probe);
    state->has_buffers = register_buffers(state);
    state->has_recv_multishot = state->has_buffers;
    state->has_accept_multishot = true;
    state->receive.msg_controllen = SX_SOCKET_CONTROL_BYTES;
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

static void prepare(struct uring_state *state, struct uring_op *op, struct io_uring_sqe *sqe)
{
    if (op->kind == SX_SOURCE_POLL) {
        const struct sx_poll *poll = SX_CONTAINER(op->source, struct sx_poll, source);

        io_uring_prep_poll_add(sqe, poll->fd, poll->events);
    } else if (op->kind == SX_SOURCE_FUTEX) {
        struct sx_futex *futex = SX_CONTAINER(op->source, struct sx_futex, source);

        io_uring_prep_rw(OP_FUTEX_WAIT, sqe, (int)FUTEX2_U32, futex->word, 0, futex->seen);
        sqe->addr3 = FUTEX_BITSET_MATCH_ANY;
    } else if (op->kind == SX_SOURCE_ACCEPT) {
        const struct sx_accept *accept = SX_CONTAINER(op->source, struct sx_accept, source);

        op->by_poll = !state->has_accept_multishot;
        if (op->by_poll) {
            io_uring_prep_poll_add(sqe, accept->fd, POLLIN);
        } else {
            io_uring_prep_multishot_accept(sqe, accept->fd, NULL, NULL,
                                           SOCK_CLOEXEC | SOCK_NONBLOCK);
        }
    } else {
        const struct sx_recv *recv = SX_CONTAINER(op->source, struct sx_recv, source);

        op->by_poll = !state->has_recv_multishot;
        if (op->by_poll) {
            io_uring_prep_poll_add(sqe, recv->fd, POLLIN);
        } else {
            io_uring_prep_recvmsg_multishot(sqe, recv->fd, &state->receive, MSG_CMSG_CLOEXEC);
            sqe->flags |= IOSQE_BUFFER_SELECT;
            sqe->buf_group = BUFFER_GROUP;
        }
    }
    io_uring_sqe_set_data(sqe, op);
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
            prepare(state, op, sqe);
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

static void accept_failed(struct uring_op *op, int err, uint64_t now_ns)
{
    if (op->source == NULL) {
        return;
    }
    if (op->armed) {
        return; /* the multishot request goes on by itself */
    }
    op->resting = true;
    sx_loop_accept_rest(&op->source, &op->rest, err, now_ns, resume_accept, op);
}

/* The answer of a kernel without this request, or one that honours O_NONBLOCK here. */
static bool is_refusal(int res)
{
    return res == -EINVAL || res == -EAGAIN || res == -EOPNOTSUPP;
}

static void complete_accept(struct uring_state *state, struct uring_op *op, int res,
                            uint64_t now_ns)
{
    if (op->source == NULL) {
        if (!op->by_poll && res >= 0) {
            close(res);
        }
        return;
    }
    if (op->by_poll) {
        const int err = sx_loop_accept_ready(&op->source, &op->rest, now_ns);

        if (err != 0) {
            accept_failed(op, err, now_ns);
        }
    } else if (res >= 0) {
        struct sx_accept *accept = SX_CONTAINER(op->source, struct sx_accept, source);

        sx_loop_accept_works(&op->rest);
        accept->fn(accept->arg, res, now_ns);
    } else if (is_refusal(res)) {
        state->has_accept_multishot = false;
    } else if (res != -ECANCELED && res != -EINTR && res != -ECONNABORTED) {
        accept_failed(op, -res, now_ns);
    }
}

/* Read a multishot receive's buffer: the kernel's struct, the control data, the message. */
static void parse_buffer(uint8_t *buffer, size_t size, struct sx_recv_message *message)
{
    struct io_uring_recvmsg_out out;
    const size_t head = sizeof(out) + SX_SOCKET_CONTROL_BYTES;

    *message = (struct sx_recv_message){ .bytes = NULL };
    if (size < head || size > BUFFER_BYTES) {
        return;
    }
    memcpy(&out, buffer, sizeof(out));
    struct msghdr msg = {
        .msg_control = buffer + sizeof(out),
        .msg_controllen = out.controllen <= SX_SOCKET_CONTROL_BYTES ? out.controllen : 0,
        .msg_flags = (int)out.flags,
    };

    sx_socket_take_fds(message, &msg);
    if (size == head) {
        sx_socket_close_fds(message); /* the end, or an empty message: the same to us */
        return;
    }
    message->bytes = buffer + head;
    message->size = size - head;
}

static void complete_recv(struct uring_state *state, struct uring_op *op, int res, uint32_t flags,
                          uint64_t now_ns)
{
    struct sx_recv *recv = op->source == NULL ? NULL
                                              : SX_CONTAINER(op->source, struct sx_recv, source);
    struct sx_recv_message message = { .bytes = NULL };

    if (op->by_poll) {
        if (recv != NULL && res != -ECANCELED) {
            sx_loop_receive_ready(op->loop, recv, now_ns);
        }
        return;
    }
    if ((flags & IORING_CQE_F_BUFFER) != 0) {
        const unsigned id = flags >> IORING_CQE_BUFFER_SHIFT;

        parse_buffer(state->buffers + (size_t)id * BUFFER_STRIDE, res > 0 ? (size_t)res : 0,
                     &message);
        if (recv != NULL && message.bytes != NULL) {
            recv->fn(recv->arg, &message, now_ns);
            provide_buffer(state, id);
            return;
        }
        provide_buffer(state, id);
    }
    sx_socket_close_fds(&message);
    if (recv == NULL || res == -ENOBUFS || res == -ECANCELED || res == -EINTR ||
        res == -ECONNRESET) {
        /* Removed; or armed again: by then buffers have come back, and a reset, which the kernel
         * tells once, is followed by the peer's last messages and the end. */
        return;
    }
    if (is_refusal(res)) {
        state->has_recv_multishot = false;
        return;
    }
    sx_loop_receive_gone(recv, now_ns);
}

static void complete(struct uring_state *state, struct uring_op *op, int res, uint32_t flags,
                     uint64_t now_ns)
{
    op->armed = (flags & IORING_CQE_F_MORE) != 0;
    if (!op->armed) {
        op->cancelling = false;
    }
    op->in_call = true;
    if (op->kind == SX_SOURCE_ACCEPT) {
        complete_accept(state, op, res, now_ns);
    } else if (op->kind == SX_SOURCE_RECV) {
        complete_recv(state, op, res, flags, now_ns);
    } else if (op->source != NULL && op->kind == SX_SOURCE_FUTEX) {
        struct sx_futex *futex = SX_CONTAINER(op->source, struct sx_futex, source);

        if (res != -ECANCELED) {
            sx_futex_remove(futex);
            futex->fn(futex->arg, now_ns);
        }
    } else if (op->source != NULL) {
        struct sx_poll *poll = SX_CONTAINER(op->source, struct sx_poll, source);
        const uint32_t events = res < 0 ? 0u : (uint32_t)res;
        /* The mask may have changed since the request was armed. */
        const uint32_t revents = events & (poll->events | POLLERR | POLLHUP | POLLNVAL);

        if (revents != 0 || (res < 0 && res != -ECANCELED)) {
            poll->fn(poll->arg, res < 0 ? POLLERR : revents, now_ns);
        }
    }
    op->in_call = false;
    if (op->source == NULL && !op->armed) {
        free_op(op);
    } else if (op->source != NULL && !op->armed && !op->resting) {
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
        const uint32_t flags = cqe->flags;

        io_uring_cqe_seen(&state->ring, cqe);
        if (op != NULL) { /* NULL: the answer to a cancel, whose effect the request itself tells */
            complete(state, op, res, flags, now_ns);
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
    /* What has completed and was not looked at may hold connections and descriptors. */
    uring_dispatch(loop, 0);
    SX_LIST_EACH(node, &state->ops) {
        free_op(SX_LIST_ENTRY(node, struct uring_op, link));
    }
    io_uring_queue_exit(&state->ring);
    if (state->buf_ring != NULL) {
        munmap(state->buf_ring, BUFFER_MAP_BYTES);
    }
    free(state);
    loop->state = NULL;
}

void sx_loop_uring_refuse_multishot(struct sx_loop *loop)
{
    struct uring_state *state = loop->state;

    state->has_recv_multishot = state->has_accept_multishot = false;
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
    .remove = uring_remove,
};
