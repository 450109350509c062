/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op.h - one operation: what is asked of the server, its one answer, and who is told.
 *
 *     start --> pending --answer, or the link is lost--> done --finish--> told
 *      |           \--the deadline of the thread that waits--> forgotten
 *      \--nobody has to be asked--------------------------^
 *
 * A blocking call has its operation on the stack and waits for it.  A non-blocking call has one on
 * the heap with a callback: the thread that runs callbacks finishes it, calls the callback, and
 * frees it.  Apart from that both are the same.  What differs from call to call is in a row
 * (struct sx_op_kind), and the operation is the first member of what the call keeps.
 *
 * This file completes operations and tells of them; request.h starts them and waits. */
#ifndef SX_CLIENT_LINK_OP_H
#define SX_CLIENT_LINK_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix.h>
#include <shmix.h>

#include "base/clock.h"
#include "base/list.h"
#include "control/channel.h"

/* Something for the thread that runs callbacks, without any lock held.  @run may free the task. */
struct sx_task {
    struct sx_list node; /* process.tasks */
    void (*run)(struct sx_task *task);
};

enum sx_shape {
    SX_SHAPE_NONE = 0, /* no callback: somebody waits */
    SX_SHAPE_IGNORED,  /* nobody asks how it went: no answer is sent */
    SX_SHAPE_OP,
    SX_SHAPE_INFO,
    SX_SHAPE_VALUE,
    SX_SHAPE_HANDLER,
    SX_SHAPE_DISTANCES,
    SX_SHAPE_CONNECT,
    SX_SHAPE_CREDENTIAL, /* the first of the infos */
    SX_SHAPE_VALIDATION,
    SX_SHAPE_LOOKUP, /* who has published it before each of the infos */
    SX_SHAPE_SPAWN,  /* the first of the infos */
};

struct sx_callback {
    enum sx_shape shape;
    bool alone; /* called by a thread of its own: this process has none that runs callbacks */
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
/* @fn of a shape, as the member of that name; none when it is NULL. */
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

/* What the operations of one call have in common.  Each function may be NULL. */
struct sx_op_kind {
    size_t size;      /* of what begins with the operation */
    uint16_t request; /* SX_MSG_*: what asks for it ... */
    uint16_t cancel;  /* ... and what takes that back when nobody waits any more; 0: nothing */
    /* The answer itself, under lock, in the thread that took it in.  @frame is NULL when there is
     * none: the link is lost, or the ring has told of the end. */
    void (*answered)(struct sx_op *op, const struct sx_frame *frame);
    /* The same for each frame before the last one, where there are several. */
    void (*part)(struct sx_op *op, const struct sx_frame *frame);
    /* Without a lock, in the thread that waits or runs callbacks.  It may change the status.
     * Return: false when the operation has been started again, and is not over yet. */
    bool (*finish)(struct sx_op *op);
    /* The callback has been called: give back what the answer holds. */
    void (*told)(struct sx_op *op);
};

struct sx_op {
    struct sx_task task; /* its node: first in link.requests or link.collectives */
    const struct sx_op_kind *kind;
    struct sx_link *link; /* whose server is asked */
    uint32_t id;
    bool done, held;     /* under lock; held: being started, so that nobody is told yet */
    bool windowed;       /* under lock: its body is in the window, until its answer begins */
    uint8_t yield_count; /* as sx_wait_until */
    pmix_status_t status;
    uint64_t subject; /* of a collective: ring/record.h */
    int fd;           /* the answer's descriptor, -1 without; its taker closes it */
    uint64_t deadline_ns;
    struct sx_callback callback;
    union { /* what the callback is given besides the status */
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
            pmix_info_t *info; /* op->kind->told frees them */
            size_t ninfo;
        };
    };
};

#define SX_OP_YIELDS 1u /* the server has often answered by then */
#define SX_OP_INIT(kind_, link_, ...)                                              \
    {                                                                              \
        .task = { .run = sx_op_run }, .kind = (kind_), .link = (link_), .fd = -1,  \
        .deadline_ns = SX_DEADLINE_NEVER, .yield_count = SX_OP_YIELDS, __VA_ARGS__ \
    }

/* A request whose caller waits and looks at the answer himself. */
extern const struct sx_op_kind sx_op_plain;

/* The answer has come: take @op out of its list and complete it.  Under lock. */
void sx_op_complete(struct sx_op *op, pmix_status_t status, struct sx_frame *frame);
/* The starter lets go of @op, and must not touch it any more if it has a callback.  Under lock. */
void sx_op_release_locked(struct sx_op *op);
/* Return: the operation of @id in @list, or NULL.  Under lock. */
struct sx_op *sx_op_find(struct sx_list *list, uint32_t id);

/* What its kind does at the end.  Return: false when it is not over yet. */
bool sx_op_finish(struct sx_op *op);
/* The task of an operation with a callback: finish it and call the callback. */
void sx_op_run(struct sx_task *task);
/* Free @op, which lies on the heap, and what its answer holds. */
void sx_op_free(struct sx_op *op);

/* Queue @task for that thread, while pumping: what is pumped has its own bell.  Under lock. */
void sx_task_post_locked(struct sx_task *task);

#endif
