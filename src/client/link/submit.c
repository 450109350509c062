/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* submit.c - append to the lane, and wait for room in it. */
#include "client/link/submit.h"

#include "base/status.h"
#include "client/link/process.h"
#include "client/link/request.h"
#include "client/link/wait.h"
#include "client/link/wakefd.h"

/* ---- messages ----------------------------------------------------------------------------- */

struct lane_room {
    const _Atomic uint64_t *head;
    uint64_t seen;
};

static bool lane_has_moved(void *arg)
{
    const struct lane_room *room = arg;

    /* relaxed: whether there is room is decided by the next append. */
    return atomic_load_explicit(room->head, memory_order_relaxed) != room->seen;
}

pmix_status_t sx_lane_submit(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                             int iov_count)
{
    for (;;) {
        pmix_status_t rc;

        if (!sx_link_is_live(link)) {
            return sx_link_status(link);
        }
        struct lane_room room = { .head = &link->slot->lane_head };
        /* relaxed: a head read before the append can only be too old. */
        room.seen = atomic_load_explicit(room.head, memory_order_relaxed);
        rc = sx_lane_append(&link->lane, kind, iov, iov_count);
        if (rc != PMIX_ERR_WOULD_BLOCK) {
            return rc;
        }
        sx_lane_doorbell(&link->lane);
        pthread_mutex_unlock(&link->lane_lock);
        rc = sx_wait_until(link, lane_has_moved, &room, 0, SX_DEADLINE_NEVER);
        pthread_mutex_lock(&link->lane_lock);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

pmix_status_t sx_lane_tell(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                           int iov_count, bool *ret_rung)
{
    pthread_mutex_lock(&link->lane_lock);
    const pmix_status_t rc = sx_lane_submit(link, kind, iov, iov_count);
    if (rc == PMIX_SUCCESS) {
        const uint32_t rung_before = link->lane.epoch_rung;

        sx_lane_doorbell(&link->lane);
        *ret_rung = link->lane.epoch_rung != rung_before;
    }
    pthread_mutex_unlock(&link->lane_lock);
    return rc;
}

/* ---- arrivals ----------------------------------------------------------------------------- */

/* Add @op to the list of pending collectives before its arrival can reach the server; @arrive
 * receives their number. */
static pmix_status_t arrive_enlist(struct sx_op *op, struct sx_lane_arrive *arrive)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    pmix_status_t rc = sx_op_judge(op);
    if (rc == PMIX_SUCCESS && op->link->collective_count >= op->link->collectives_max) {
        rc = SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                      "%u fences and connects of this process are under way, as many as its server "
                      "allows; wait for one to end, or start the server with a larger "
                      "SHMIX_SERVER_COLLECTIVES",
                      op->link->collective_count);
    }
    if (rc == PMIX_SUCCESS) {
        op->id = sx_link_next_id_locked(op->link);
        op->held = true;
        sx_list_append(&op->link->collectives, &op->task.node);
        arrive->open = (uint16_t)++op->link->collective_count;
        sx_wakefd_want_locked();
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* Take the result @status of sending the arrival into account.  Return: PMIX_SUCCESS when @op has
 * ended or will end; else it has been taken out again. */
static pmix_status_t arrive_sent(struct sx_op *op, pmix_status_t status)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    if (status != PMIX_SUCCESS && !op->done) {
        sx_list_remove(&op->task.node);
        op->link->collective_count--;
    } else {
        status = PMIX_SUCCESS;
        sx_op_release_locked(op);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

static pmix_status_t arrive_send(struct sx_op *op, const struct iovec *iov)
{
    struct sx_op sent = SX_OP_INIT(&sx_op_plain, op->link);
    bool rung = false;

    if (iov->iov_len > SX_LANE_MESSAGE_MAX) {
        return sx_request(&sent, SX_MSG_ARRIVE_BULK, iov, 1,
                          sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
    }
    const pmix_status_t rc = sx_lane_tell(op->link, SX_LANE_ARRIVE, iov, 1, &rung);

    op->yield_count -= rung && op->yield_count != 0;
    return rc;
}

pmix_status_t sx_arrive_start(struct sx_op *op, struct sx_lane_arrive *arrive, size_t size)
{
    const struct iovec iov = { arrive, size };
    const pmix_status_t rc = arrive_enlist(op, arrive);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    arrive->op = op->id;
    return arrive_sent(op, arrive_send(op, &iov));
}
