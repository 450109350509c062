/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dispatch.c - one row per kind of request; its handler returns false for a breach of protocol. */
#include "server/entry/entry.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "base/value/value.h"
#include "server/collective/collective.h"
#include "server/data/data.h"
#include "server/event/event.h"
#include "server/group/group.h"
#include "server/iof/iof.h"
#include "server/log/logging.h"
#include "server/manage/manage.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"
#include "server/port/port.h"
#include "server/publish/publish.h"
#include "server/query/query.h"

/* ---- segments -------------------------------------------------------------------------------- */

/* The store of lists, while it is filled for the user of the client that wants to map it. */
struct lists_get {
    struct sx_pending pending;
    struct sx_share_work work;
};

static void segment_send(struct sx_server *server, struct sx_client *client, uint32_t id,
                         pmix_status_t rc, int fd)
{
    sx_reply(server, client, id, rc, fd);
    if (fd >= 0) {
        close(fd);
    }
}

static void lists_send(struct sx_pending *pending)
{
    int fd = -1;
    const pmix_status_t rc = pending->status == PMIX_SUCCESS
                                 ? sx_memberships_share(pending->server, pending->client->uid, &fd)
                                 : pending->status;

    segment_send(pending->server, pending->client, pending->id, rc, fd);
}

static void lists_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct lists_get, pending)->work);
}

/* A step.  Return: whether it is complete. */
static bool lists_fill(struct sx_server *server, struct sx_client *client)
{
    uint64_t units;
    const bool is_there = sx_memberships_fill(server, client->uid, SX_SHARE_STEP_UNITS, &units);

    sx_share_charge(server, client, units);
    return is_there;
}

static void lists_step(struct sx_share_work *work)
{
    struct lists_get *const get = SX_CONTAINER(work, struct lists_get, work);

    if (lists_fill(get->pending.server, get->pending.client)) {
        sx_pending_answer(&get->pending, PMIX_SUCCESS);
    }
}

static void lists_give(struct sx_server *server, struct sx_client *client, uint32_t id)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST,
                                                 .closed = lists_closed,
                                                 .send = lists_send };
    struct lists_get *get;
    pmix_status_t rc;
    int fd = -1;

    if (lists_fill(server, client)) {
        rc = sx_memberships_share(server, client->uid, &fd);
        segment_send(server, client, id, rc, fd);
        return;
    }
    get = calloc(1, sizeof(*get));
    rc = get != NULL ? sx_pending_begin(server, client, id, &kind, &get->pending)
                     : PMIX_ERR_OUT_OF_RESOURCE;
    if (rc != PMIX_SUCCESS) {
        free(get);
        segment_send(server, client, id, rc, -1);
        return;
    }
    get->work.step = lists_step;
    sx_share_work_add(client, &get->work);
}

static bool on_segment_get(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns)
{
    const struct sx_segment_get *get = frame->opened.head;
    const struct sx_nspace *nspace = sx_nspace_find(server, get->nspace);
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    int fd = -1;

    (void)now_ns;
    if (get->nspace[0] == '\0' && get->wanted == SX_WANT_STORE) {
        lists_give(server, client, frame->header.id);
        return true;
    }
    if (get->nspace[0] == '\0' && get->wanted == SX_WANT_PUBLISHED) {
        rc = sx_publish_share(server, client, &fd);
    } else if (nspace != NULL && nspace->has_store && sx_nspace_visible(server, nspace, client)) {
        if (get->wanted == SX_WANT_STORE) {
            rc = sx_segment_share(&nspace->store.view.seg, &fd);
        } else if (get->wanted == SX_WANT_RING && nspace == client->home) {
            rc = sx_segment_share(&nspace->ring.seg, &fd);
        }
    }
    segment_send(server, client, frame->header.id, rc, fd);
    return true;
}

static bool on_finalize(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    (void)now_ns;
    sx_reaper_client_finalized(server, client, frame->header.id);
    return true;
}

static bool on_results_get(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns)
{
    const size_t count = sx_results_count(&client->results);
    const size_t size = 8 + count * sizeof(struct sx_result);
    struct {
        uint32_t count, reserved;
        struct sx_result results[];
    } *const body = malloc(size);

    (void)now_ns;
    if (body == NULL) {
        sx_reply(server, client, frame->header.id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return true;
    }
    body->count = (uint32_t)count;
    body->reserved = 0;
    for (size_t i = 0; i < count; i++) {
        body->results[i] = sx_results_at(&client->results, i);
    }
    sx_reply_body(server, client, frame->header.id, PMIX_SUCCESS, body, size);
    free(body);
    return true;
}

static bool on_wake_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    int fd = -1;

    (void)now_ns;
    sx_wake_fd_close(client);
    const pmix_status_t rc = sx_wake_fd_open(server, client, &fd);

    sx_reply(server, client, frame->header.id, rc, fd);
    if (fd >= 0) {
        close(fd);
    }
    return true;
}

/* For requests that do not fit in a frame. */
static bool on_window_get(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    int fd = -1;
    const pmix_status_t rc = sx_channel_window(client->channel, &fd);

    (void)now_ns;
    sx_reply(server, client, frame->header.id, rc, fd);
    return true;
}

static bool on_put_bulk(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    pmix_status_t kept = PMIX_SUCCESS;

    (void)now_ns;
    if (sx_modex_put_long(server, client, frame)) {
        return true;
    }
    sx_share_charge(server, client, sx_message_cost(SX_MSG_PUT_BULK, frame->body_size));
    const pmix_status_t rc = sx_modex_put(server, client, &frame->opened, &kept);

    if (rc == PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, kept, -1);
    }
    return rc == PMIX_SUCCESS;
}

static bool on_arrive_bulk(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns)
{
    (void)now_ns;
    if (sx_collective_arrive_long(server, client, frame)) {
        return true;
    }
    const pmix_status_t rc = sx_collective_arrive(server, client, &frame->opened);

    if (rc == PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, PMIX_SUCCESS, -1);
    }
    return rc == PMIX_SUCCESS;
}

typedef bool (*frame_fn)(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                         uint64_t now_ns);

static const frame_fn frame_table[SX_MSG_SPEC_MAX] = {
    [SX_MSG_SEGMENT_GET] = on_segment_get,
    [SX_MSG_GET] = sx_gets_on_get,
    [SX_MSG_GET_CANCEL] = sx_pending_on_cancel,
    [SX_MSG_PUT_BULK] = on_put_bulk,
    [SX_MSG_ARRIVE_BULK] = on_arrive_bulk,
    [SX_MSG_ABORT] = sx_abort_on_abort,
    [SX_MSG_FINALIZE] = on_finalize,
    [SX_MSG_JOB_CONTROL] = sx_control_on_job_control,
    [SX_MSG_LOG] = sx_logging_on_log,
    [SX_MSG_MONITOR] = sx_monitor_on_monitor,
    [SX_MSG_ASK_HOST] = sx_ask_on_ask_host,
    [SX_MSG_PUBLISH] = sx_publish_on_publish,
    [SX_MSG_LOOKUP] = sx_publish_on_lookup,
    [SX_MSG_UNPUBLISH] = sx_publish_on_unpublish,
    [SX_MSG_SPAWN] = sx_spawn_on_spawn,
    [SX_MSG_IOF_PULL] = sx_iof_on_pull,
    [SX_MSG_IOF_PUSH] = sx_input_on_push,
    [SX_MSG_GROUP_LEAVE] = sx_group_on_leave,
    [SX_MSG_GROUP_SAID] = sx_group_on_said,
    [SX_MSG_GROUP_INVITE] = sx_invite_on_invite,
    [SX_MSG_GROUP_JOIN] = sx_invite_on_join,
    [SX_MSG_RESULTS_GET] = on_results_get,
    [SX_MSG_EVENT_BULK] = sx_event_on_bulk,
    [SX_MSG_EVENT_REGISTER] = sx_event_on_register,
    [SX_MSG_EVENT_DEREGISTER] = sx_event_on_deregister,
    [SX_MSG_EVENT_REPLAY] = sx_event_on_replay,
    [SX_MSG_QUERY] = sx_query_on_query,
    [SX_MSG_WAKE_GET] = on_wake_get,
    [SX_MSG_WINDOW_GET] = on_window_get,
};

static void take_frame(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    sx_journal_frame(client, frame);
    const frame_fn fn = frame->header.kind < SX_MSG_SPEC_MAX ? frame_table[frame->header.kind]
                                                             : NULL;

    if (fn == NULL) {
        sx_reaper_client_breaks(server, client, "it sent a frame that is not a client's to send");
    } else if (!fn(server, client, frame, now_ns)) {
        sx_reaper_client_breaks(server, client, "it sent a frame whose body contradicts itself");
    }
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* A lane message has no answer: values that are not kept are counted for the client. */
static pmix_status_t on_put(struct sx_server *server, struct sx_client *client,
                            const struct sx_opened *body)
{
    pmix_status_t kept;

    return sx_modex_put(server, client, body, &kept);
}

static pmix_status_t on_commit_end(struct sx_server *server, struct sx_client *client,
                                   const struct sx_opened *body)
{
    (void)body;
    return sx_modex_commit(server, client);
}

static pmix_status_t on_cursor(struct sx_server *server, struct sx_client *client,
                               const struct sx_opened *body)
{
    const struct sx_lane_cursor *const cursor = body->head;

    sx_event_client_read(server, client, cursor->seq);
    return PMIX_SUCCESS;
}

typedef pmix_status_t (*lane_fn)(struct sx_server *server, struct sx_client *client,
                                 const struct sx_opened *body);

static const lane_fn lane_table[SX_LANE_SPEC_MAX] = {
    [SX_LANE_PUT] = on_put,
    [SX_LANE_COMMIT_END] = on_commit_end,
    [SX_LANE_ARRIVE] = sx_collective_arrive,
    [SX_LANE_CURSOR] = on_cursor,
    [SX_LANE_NOTIFY] = sx_event_on_notify,
};

static pmix_status_t take_lane(struct sx_server *server, struct sx_client *client, uint32_t kind,
                               const void *bytes, size_t size)
{
    const struct sx_lane_spec *const spec = sx_lane_spec(kind);
    struct sx_opened body;

    sx_reaper_watch_hint(server, client);
    return spec != NULL && sx_body_open(&body, spec->body, bytes, size) == NULL
               ? lane_table[kind](server, client, &body)
               : PMIX_ERR_BAD_PARAM;
}

const struct sx_consumer sx_dispatch_consumer = {
    .frame = take_frame,
    .lane_cost = sx_lane_cost,
    .lane = take_lane,
    .breaks = sx_reaper_client_breaks,
    .ended = sx_reaper_socket_ended,
    .replaced = sx_reaper_client_replaced,
};
