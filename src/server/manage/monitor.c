/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor.c - a timer for each monitor, and a request to the host for other kinds of monitoring. */
#include "server/manage/manage.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/clock.h"
#include "base/status.h"
#include "server/event/event.h"
#include "server/port/port.h"

/* ---- signs of life -------------------------------------------------------------------------- */

bool sx_monitor_look(struct sx_monitor *monitor, uint32_t beats)
{
    if (beats != monitor->beats) {
        monitor->beats = beats;
        monitor->missed = 0;
        monitor->is_silent = false;
        return false;
    }
    if (monitor->is_silent || monitor->missed++ < monitor->pardoned) {
        return false;
    }
    monitor->is_silent = true;
    return true;
}

/* The namespace of the process receives the event: a program that wants to react is there. */
static void silence_notify(const struct sx_monitor *monitor)
{
    struct sx_client *const client = monitor->client;
    const pmix_proc_t job = sx_nspace_proc(client->nspace, PMIX_RANK_WILDCARD);
    struct sx_event_note notes[SX_EVENT_NOTES_MAX];
    size_t count = 0;

    if (monitor->id[0] != '\0') {
        notes[count++] = (struct sx_event_note){ .key = PMIX_MONITOR_ID, .text = monitor->id };
    }
    if (monitor->file[0] != '\0') {
        notes[count++] = (struct sx_event_note){ .key = PMIX_MONITOR_FILE, .text = monitor->file };
    }
    sx_event_to(monitor->server, monitor->code, client, &job, 1, notes, count);
}

static uint32_t beats_of(const struct sx_monitor *monitor)
{
    const struct sx_lane_line *const line = monitor->client->lane.line;

    /* relaxed: a plain count, which may be seen one period late. */
    return monitor->sign == 0
               ? atomic_load_explicit(&line->beats, memory_order_relaxed)
               : atomic_load_explicit(&line->signs[monitor->sign - 1], memory_order_relaxed);
}

static void period_over(void *arg, uint64_t now_ns)
{
    struct sx_monitor *const monitor = arg;
    const bool is_notified = sx_monitor_look(monitor, beats_of(monitor));

    sx_timer_add(monitor->server->loop, &monitor->timer, now_ns + monitor->period_ns);
    if (is_notified) {
        silence_notify(monitor);
    }
}

static void monitor_free(struct sx_monitor *monitor)
{
    sx_timer_remove(&monitor->timer);
    sx_list_remove(&monitor->link);
    free(monitor);
}

/* Return: the number of monitors with @id (NULL: of all). */
static size_t monitors_count(const struct sx_client *client, const char *id)
{
    size_t count = 0;

    SX_LIST_EACH(it, &client->monitors) {
        const struct sx_monitor *const monitor = SX_LIST_ENTRY(it, struct sx_monitor, link);

        count += id == NULL || strcmp(monitor->id, id) == 0;
    }
    return count;
}

static pmix_status_t client_watch(struct sx_server *server, struct sx_client *client,
                                  const struct sx_monitor_request *request,
                                  const struct sx_monitor_options *options, uint64_t now_ns)
{
    const bool is_file = options->file != NULL;
    const char *const id = options->id != NULL ? options->id : "";
    const char *const file = is_file ? options->file : "";
    const size_t id_size = strlen(id) + 1, file_size = strlen(file) + 1;

    if (options->period_s.number == 0 || is_file != (request->sign != 0) ||
        request->sign > SX_LANE_SIGNS) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (monitors_count(client, NULL) == SX_MONITORS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "%s.%u is monitored in %u ways already: cancel some of them",
                        client->nspace->name, client->rank, SX_MONITORS_MAX);
    }
    if (id[0] != '\0' && monitors_count(client, id) > 0) {
        return PMIX_ERR_EXISTS;
    }
    struct sx_monitor *const monitor = malloc(sizeof(*monitor) + id_size + file_size);

    if (monitor == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *monitor = (struct sx_monitor){
        .server = server,
        .client = client,
        .timer = { .fn = period_over, .arg = monitor },
        .code = request->code,
        .period_ns = options->period_s.number * SX_NS_PER_SEC,
        .pardoned = options->pardoned.number + (is_file ? 1 : 0),
        .sign = request->sign,
        .file = monitor->id + id_size,
    };
    if (monitor->code == PMIX_SUCCESS) {
        monitor->code = is_file ? PMIX_MONITOR_FILE_ALERT : PMIX_MONITOR_HEARTBEAT_ALERT;
    }
    monitor->beats = beats_of(monitor);
    memcpy(monitor->id, id, id_size);
    memcpy(monitor->id + id_size, file, file_size);
    sx_list_append(&client->monitors, &monitor->link);
    sx_timer_add(server->loop, &monitor->timer, now_ns + monitor->period_ns);
    return PMIX_SUCCESS;
}

/* An empty id means all of them. */
static pmix_status_t cancel(struct sx_client *client, const char *id)
{
    const size_t before = monitors_count(client, NULL);

    struct sx_list *it = client->monitors.next;

    while (it != &client->monitors) {
        struct sx_monitor *const monitor = SX_LIST_ENTRY(it, struct sx_monitor, link);

        it = it->next;
        if (id[0] == '\0' || strcmp(monitor->id, id) == 0) {
            monitor_free(monitor);
        }
    }
    return id[0] == '\0' || monitors_count(client, NULL) < before ? PMIX_SUCCESS
                                                                  : PMIX_ERR_NOT_FOUND;
}

void sx_monitor_client_gone(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    (void)cancel(client, "");
}

/* ---- the call ------------------------------------------------------------------------------- */

/* The first info is the kind of monitoring; the host gets it separately. */
static void host_ask(struct sx_server *server, struct sx_client *client, uint32_t id,
                     pmix_status_t code, pmix_info_t *info, size_t ninfo)
{
    sx_pending_ask_host(server, client, id, SX_UPCALL_MONITOR,
                        &(struct sx_upcall){
                            .status = code,
                            .info = info,
                            .ninfo = ninfo,
                            .ndata = 1,
                        });
    free(info);
}

bool sx_monitor_on_monitor(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns)
{
    const struct sx_monitor_request *const request = frame->opened.head;
    struct sx_monitor_options options = { 0 };
    pmix_info_t *info;
    size_t ninfo;
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_MONITOR_INFOS, &info, &ninfo);

    if (rc == PMIX_SUCCESS) {
        rc = ninfo > 0 ? sx_monitor_options_read(info, ninfo, &options) : PMIX_ERR_BAD_PARAM;
    }
    bool is_hosts = rc == PMIX_SUCCESS;

    if (is_hosts && options.cancel != NULL) {
        rc = cancel(client, options.cancel);
        is_hosts = rc == PMIX_ERR_NOT_FOUND && server->module.monitor != NULL; /* whether it is one
                                                                                * of the host's */
    } else if (is_hosts && (options.heartbeats || options.file != NULL)) {
        rc = client_watch(server, client, request, &options, now_ns);
        is_hosts = false;
    }
    if (is_hosts) {
        sx_reply_read(server, client, frame);
        host_ask(server, client, frame->header.id, request->code, info, ninfo);
        return true;
    }
    PMIX_INFO_FREE(info, ninfo);
    sx_reply(server, client, frame->header.id, rc, -1);
    return true;
}
