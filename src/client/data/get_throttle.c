/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_throttle.c - taken places, and the queue of non-blocking Gets that have none. */
#include "client/data/data.h"

#include "base/clock.h"
#include "client/link/link.h"
#include "client/link/wait.h"

static_assert(SX_GATE_RESERVED < SX_GETS_MAX, "non-blocking Gets have places, too");

/* Under lock. */
static struct sx_list queue = SX_LIST_INIT(queue); /* of struct sx_op, oldest first */
static unsigned taken_count;
static unsigned blocked_count; /* threads that wait for a place */
/* No deadline in the queue is earlier.  This one may belong to a Get that has left the queue. */
static uint64_t due_ns = SX_DEADLINE_NEVER;

bool sx_gate_enter(struct sx_op *op)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    const bool free_place = taken_count < SX_GETS_MAX - SX_GATE_RESERVED;
    if (free_place) {
        taken_count++;
    } else {
        sx_list_append(&queue, &op->task.node);
        due_ns = op->deadline_ns < due_ns ? op->deadline_ns : due_ns;
    }
    pthread_mutex_unlock(&p->lock);
    return free_place;
}

static bool take_place(void *arg)
{
    (void)arg;
    if (taken_count >= SX_GETS_MAX) {
        return false;
    }
    taken_count++;
    return true;
}

pmix_status_t sx_gate_wait(uint64_t deadline_ns)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    const bool free_place = take_place(NULL);
    blocked_count += !free_place;
    pthread_mutex_unlock(&p->lock);
    if (free_place) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_wait_until(sx_primary(), take_place, NULL, 0, deadline_ns);
    pthread_mutex_lock(&p->lock);
    blocked_count--;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

void sx_gate_leave_locked(void)
{
    struct sx_list *next = NULL;

    taken_count--;
    if (taken_count < SX_GETS_MAX - SX_GATE_RESERVED) {
        next = sx_list_pop(&queue);
    }
    if (next != NULL) {
        taken_count++;
        sx_task_post_locked(SX_LIST_ENTRY(next, struct sx_task, node));
    }
    if (next != NULL || blocked_count != 0) {
        sx_local_ring_locked();
    }
}

void sx_gate_leave(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    sx_gate_leave_locked();
    pthread_mutex_unlock(&p->lock);
}

/* SX_DEADLINE_NEVER: the queue has no deadline that is known. */
static uint64_t due(void)
{
    return due_ns;
}

/* Post the tasks of queued Gets whose deadline has passed. */
static void expire(void)
{
    uint64_t next_ns = SX_DEADLINE_NEVER;

    if (due_ns == SX_DEADLINE_NEVER) {
        return;
    }
    const uint64_t now_ns = sx_now_ns();
    if (now_ns < due_ns) {
        return;
    }
    SX_LIST_EACH(it, &queue) {
        struct sx_op *const op = SX_LIST_ENTRY(it, struct sx_op, task.node);

        if (op->deadline_ns <= now_ns) {
            sx_list_remove(it);
            op->status = PMIX_ERR_TIMEOUT;
            sx_task_post_locked(&op->task);
        } else if (op->deadline_ns < next_ns) {
            next_ns = op->deadline_ns;
        }
    }
    due_ns = next_ns;
    sx_local_ring_locked(); /* the thread that checks the clock may not run tasks */
}

const struct sx_intake sx_gate_intake = { .look = expire, .due = due };
