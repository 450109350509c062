/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op.h - one operation: a request to the server, its one answer, and its waiter or callback.
 *
 *     start --> pending --answer, or the link is lost--> done --finish--> reported
 *      |           \--the deadline of the thread that waits--> forgotten
 *      \--no request is needed----------------------------^
 *
 * A blocking call has its operation on the stack and waits for it.  A non-blocking call has one on
 * the heap with a callback: the thread that runs callbacks finishes it, calls the callback, and
 * frees it.  Apart from that both are the same.  The differences between calls are in rows (struct
 * sx_op_kind).  The operation is the first member of the struct that the call keeps.
 *
 * op.c completes operations and reports their ends; request.c starts them and waits. */
#ifndef SX_CLIENT_LINK_OP_H
#define SX_CLIENT_LINK_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <pmix.h>
#include <pmix_common.h>
#include <shmix.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/message/signature.h"
#include "control/channel.h"
#include "control/message.h"
#include "ring/record.h"

/* ---- operations ------------------------------------------------------------------------------ */

/* A function for the thread that runs callbacks, called without any lock held.  @run may free the
 * task. */
struct sx_task {
    struct sx_list node; /* process.tasks */
    void (*run)(struct sx_task *task);
};

enum sx_shape {
    SX_SHAPE_NONE = 0, /* no callback: a thread waits */
    SX_SHAPE_IGNORED,  /* the caller wants no result: no answer is sent */
    SX_SHAPE_OP,
    SX_SHAPE_INFO,
    SX_SHAPE_VALUE,
    SX_SHAPE_HANDLER,
    SX_SHAPE_DISTANCES,
    SX_SHAPE_CONNECT,
    SX_SHAPE_CREDENTIAL, /* the first of the infos */
    SX_SHAPE_VALIDATION,
    SX_SHAPE_LOOKUP, /* before each of the infos its publisher */
    SX_SHAPE_SPAWN,  /* the first of the infos */
};

struct sx_callback {
    enum sx_shape shape;
    bool alone; /* called by a thread of its own: this process has no thread for callbacks */
    union {
        pmix_op_cbfunc_t op;
        pmix_info_cbfunc_t info;
        pmix_value_cbfunc_t value;
        pmix_hdlr_reg_cbfunc_t handler;
        pmix_device_dist_cbfunc_t distances;
        shmix_connect_cbfunc_t connect;
        pmix_credential_cbfunc_t credential;
        pmix_validation_cbfunc_t validation;
        pmix_lookup_cbfunc_t lookup;
        pmix_spawn_cbfunc_t spawn;
    };
    void *cbdata;
};

#define SX_CALLBACK_NONE ((struct sx_callback){ .shape = SX_SHAPE_NONE })
#define SX_CALLBACK_IGNORED ((struct sx_callback){ .shape = SX_SHAPE_IGNORED })
/* The callback @fn as the member for its shape; no callback when @fn is NULL. */
#define SX_CALLBACK(shape_, member, fn, data, ...)                           \
    ((struct sx_callback){ .shape = (fn) != NULL ? (shape_) : SX_SHAPE_NONE, \
                           .member = (fn),                                   \
                           .cbdata = (data),                                 \
                           __VA_ARGS__ })

static inline bool sx_callback_is_given(const struct sx_callback *callback)
{
    return callback->shape > SX_SHAPE_IGNORED;
}

struct sx_link;
struct sx_op;

/* The common properties of the operations of one call.  Each function may be NULL. */
struct sx_op_kind {
    size_t size;      /* of the struct that begins with the operation */
    uint16_t request; /* SX_MSG_*: requests it ... */
    uint16_t cancel;  /* ... and withdraws the request when no thread waits any more; 0: nothing */
    /* Called with the answer, under lock, in the thread that received it.  @frame is NULL when
     * there is no frame: the link is lost, or the end was read from the ring. */
    void (*answered)(struct sx_op *op, const struct sx_frame *frame);
    /* The same for each frame before the last one, if there are several. */
    void (*part)(struct sx_op *op, const struct sx_frame *frame);
    /* Without a lock, in the thread that waits or runs callbacks.  The function may change the
     * status.  Return: false when the operation has been started again, and is not over yet. */
    bool (*finish)(struct sx_op *op);
    /* The callback has been called: give back what the answer holds, and let follow what has waited
     * for that. */
    void (*release)(struct sx_op *op);
};

struct sx_op {
    struct sx_task task; /* its node: first in link.requests or link.collectives */
    const struct sx_op_kind *kind;
    struct sx_link *link; /* whose server is asked */
    uint32_t id;
    bool done, held;     /* under lock; held: being started, so its end is not reported yet */
    bool windowed;       /* under lock: its body is in the window, until its answer begins */
    uint8_t yield_count; /* as sx_wait_until */
    pmix_status_t status;
    uint64_t subject; /* of a collective: ring/record.h */
    int fd;           /* the answer's descriptor, -1 without; its taker closes it */
    uint64_t deadline_ns;
    struct sx_callback callback;
    union { /* arguments of the callback besides the status */
        pmix_value_t *value;
        size_t handler;
        struct {
            pmix_device_distance_t *distances;
            size_t distance_count;
        };
        struct {
            char *nspace;
            pmix_rank_t rank;
        };
        struct {
            pmix_info_t *info; /* freed by its kind's last function */
            size_t ninfo;
        };
    };
};

#define SX_OP_YIELDS 1u /* after so many yields the server has often answered */
#define SX_OP_INIT(kind_, link_, ...)                                              \
    {                                                                              \
        .task = { .run = sx_op_run }, .kind = (kind_), .link = (link_), .fd = -1,  \
        .deadline_ns = SX_DEADLINE_NEVER, .yield_count = SX_OP_YIELDS, __VA_ARGS__ \
    }

/* A request whose caller waits and checks the answer itself. */
extern const struct sx_op_kind sx_op_plain;

/* The answer has arrived: take @op out of its list and complete it.  Under lock. */
void sx_op_complete(struct sx_op *op, pmix_status_t status, struct sx_frame *frame);
/* The starter releases @op, and must not touch it any more if it has a callback.  Under lock. */
void sx_op_release_locked(struct sx_op *op);
/* Return: the operation of @id in @list, or NULL.  Under lock. */
struct sx_op *sx_op_find(struct sx_list *list, uint32_t id);

/* Run the `finish` of its kind.  Return: false when the operation is not over yet. */
bool sx_op_finish(struct sx_op *op);
/* The task of an operation with a callback: finish it and call the callback. */
void sx_op_run(struct sx_task *task);
/* Free @op, which lies on the heap, and the content of its answer. */
void sx_op_free(struct sx_op *op);

/* Queue @task for that thread, while pumping: the bell for the pumped data wakes that thread
 * anyway.  Under lock. */
void sx_task_post_locked(struct sx_task *task);

/* An answer that does not depend on other processes arrives within this time, or not at all. */
#define SX_REQUEST_TIMEOUT_NS (30 * SX_NS_PER_SEC)

/* ---- one call, blocking or not -------------------------------------------------------------- */

/* A call of the Standard is one function: check the arguments, name the parts of the body, send the
 * request.  PMIx_X calls it without a callback, PMIx_X_nb with one. */

/* *@op is on the caller's stack.  If it has a callback, it is replaced by a copy on the heap, and
 * the thread that calls the callback runs.  Return: PMIX_SUCCESS, and sx_op_answer or _settle must
 * be called next; as sx_progress_start. */
pmix_status_t sx_op_open(struct sx_op **op);

/* All of a call that the server answers: write the body that @draft describes, open @op, which is
 * on the caller's stack, and send it.  With a callback: return PMIX_SUCCESS when it will be called.
 * Without: wait.  Return: how @op ended; PMIX_ERR_TIMEOUT when its deadline passed first.  In any
 * case an error of sx_link_status, sx_wire_write, sx_op_open or sx_request_start. */
pmix_status_t sx_op_ask(struct sx_op *op, struct sx_draft *draft);

/* The end of an open operation that was started in another way, with the result @started.  @waits:
 * @op has no callback.  An operation with a callback may be freed as soon as it has started.
 * Return: as sx_op_ask; with a callback and an error @op is freed. */
pmix_status_t sx_op_settle(struct sx_op *op, bool waits, pmix_status_t started);

/* The same for an operation that has ended, with @status, without a request. */
pmix_status_t sx_op_answer(struct sx_op *op, pmix_status_t status);

/* Can @op be sent to its server?  Return: PMIX_SUCCESS; as sx_link_status; as sx_role_may_wait when
 * its caller waits for it. */
pmix_status_t sx_op_judge(const struct sx_op *op);

/* ---- requests ------------------------------------------------------------------------------- */

/* Send a request whose answer completes @op.  A request that does not fit in a frame goes through
 * the window, and may have to wait for it.  Return: PMIX_SUCCESS: @op is or will be completed,
 * exactly once.  On an error it will not be completed: as sx_op_judge and sx_frame_send;
 * PMIX_ERR_OUT_OF_RESOURCE (logged): the body is too large, is over the limit of file size, or has
 * no memory here or there. */
pmix_status_t sx_request_start(struct sx_op *op, uint16_t kind, const struct iovec *iov,
                               int iov_count);

/* Wait until @op is done.  Any thread may take in its answer.  Return: its status; PMIX_ERR_TIMEOUT
 * when its deadline passed first, and @op is abandoned. */
pmix_status_t sx_op_wait(struct sx_op *op);

/* Start and wait.  Return: the answer's status. */
pmix_status_t sx_request(struct sx_op *op, uint16_t kind, const struct iovec *iov, int iov_count,
                         uint64_t deadline_ns);

/* Send a request that wants no answer.  A large one waits until it was taken. */
pmix_status_t sx_request_notice(struct sx_link *link, uint16_t kind, uint32_t id,
                                const struct iovec *iov, int iov_count);

/* ---- results --------------------------------------------------------------------------------- */

/* A request whose answer is infos that another process has made: struct sx_reply, then a flat
 * array of infos or nothing. */

struct sx_results_op {
    struct sx_op op; /* its infos are the results */
    void *bytes;     /* of the answer, until it is finished */
    size_t size;
};

/* Functions for the row of such a call. */
void sx_results_answered(struct sx_op *op, const struct sx_frame *frame);
bool sx_results_finish(struct sx_op *op);
void sx_results_release(struct sx_op *op);
#define SX_RESULTS_KIND(message)                                      \
    {                                                                 \
        .size = sizeof(struct sx_results_op), .request = (message),   \
        .answered = sx_results_answered, .finish = sx_results_finish, \
        .release = sx_results_release                                 \
    }

/* The callback of a caller that wants no results: it releases them. */
void sx_results_ignored(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata);

/* The end of a blocking call: give the results to the caller, which may not want them (NULL). */
void sx_results_give(struct sx_results_op *results, pmix_info_t **ret_info, size_t *ret_ninfo);

/* ---- process lists and bodies ---------------------------------------------------------------- */

/* Process lists as callers give them, and the bodies of requests that have such lists. */

/* Return: the namespace that @proc means: an empty one is ours. */
const char *sx_wire_nspace(const pmix_proc_t *proc);

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for NULL with a count, for more than SX_PROCS_MAX
 * (logged), for a namespace without an end, or for our namespace before PMIx_Init. */
pmix_status_t sx_wire_procs_check(const pmix_proc_t *procs, size_t nprocs);

/* Put @procs into the order in which a server takes the members of a collective (sx_proc_order,
 * each once).  Return: @procs itself if it has that order already; or a copy in which every
 * namespace has its name, its length in *nprocs, which the caller frees as *ret_copy; NULL when
 * memory is out. */
const pmix_proc_t *sx_wire_procs_sorted(const pmix_proc_t *procs, size_t *nprocs,
                                        pmix_proc_t **ret_copy);

/* Check the head and parts of a request of @kind (in @draft, whose other members are filled in) and
 * write the body.  The body lies in the @room_size bytes at @room (at a multiple of 8) if it fits,
 * else in malloc'ed memory.  Return: PMIX_SUCCESS; as sx_body_measure, sx_message_size_judge and
 * sx_body_write. */
pmix_status_t sx_wire_write(uint16_t kind, struct sx_draft *draft, void *room, size_t room_size,
                            struct iovec *ret_body);

/* ---- the lane -------------------------------------------------------------------------------- */

/* Messages to the server through the lane.
 *
 * A message of the lane has no answer.  An arrival at a collective has a number, and its end is
 * read from the ring.  A full lane delays the thread that appends, and no other. */

/* Append one message to the lane, waiting while it is full.  lane_lock is held, and given back
 * while this waits: others may append meanwhile.  The doorbell is not rung.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM (longer than SX_LANE_MESSAGE_MAX); as sx_link_status. */
pmix_status_t sx_lane_submit(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                             int iov_count);

/* The same, and ring the doorbell.  lane_lock is not held.  *ret_rung: the server slept, so this
 * took a system call. */
pmix_status_t sx_lane_send(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                           int iov_count, bool *ret_rung);

/* Arrive: @arrive, whose `op` is filled in, and what follows it, @size bytes in all.  If this has
 * to ring the doorbell, @op yields once less.  Return: as sx_request_start. */
pmix_status_t sx_arrive_start(struct sx_op *op, struct sx_lane_arrive *arrive, size_t size);

#endif
