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
 * This file completes operations and reports their ends; request.h starts them and waits. */
#ifndef SX_CLIENT_LINK_OP_H
#define SX_CLIENT_LINK_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix.h>
#include <shmix.h>

#include "base/clock.h"
#include "base/list.h"
#include "control/channel.h"

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
    /* The callback has been called: give back what the answer holds. */
    void (*told)(struct sx_op *op);
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

#endif
