/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* message.c - the table of kinds, and the checks of received messages.
 *
 * A frame is judged in two steps: sx_frame_check checks the message as received (header, sizes,
 * number of descriptors), sx_body_open the body in its place (in the frame or in the bulk). */
#include "control/message.h"

#include <stddef.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define KEY_BYTES_MAX (PMIX_MAX_KEYLEN + 1)
#define CODES_BYTES_MAX (SX_REGISTER_CODES_MAX * (uint32_t)sizeof(int32_t))

#define CLIENT .from_client = true
#define SERVER .from_server = true
#define HEAD(type, ...)                        \
    &(const struct sx_signature)               \
    {                                          \
        .head_size = sizeof(type), __VA_ARGS__ \
    }
#define NAMES(...) .names = { __VA_ARGS__ }
#define NOTHING                          \
    .body = &(const struct sx_signature) \
    {                                    \
        .head_size = 0                   \
    }
/* A head of this type, and the rest of its signature. */
#define FIXED(type, ...) .body = HEAD(type, __VA_ARGS__), .body_max = sizeof(type)
#define BODY(type, max, ...) .body = HEAD(type, __VA_ARGS__), .body_max = (max)
/* A body of payloads.h. */
#define AS_IN_A_LANE(signature) .body = &(signature), .body_max = SX_FRAME_BODY_MAX
#define COST(units, units_per_kib) .cost = (units), .cost_kib = (units_per_kib)
#define BULK(max, what, hint) .bulk_max = (max), .thing = (what), .advice = (hint)

#define NAME_THE_NAMESPACE "name a whole namespace with PMIX_RANK_WILDCARD"

#define CODES_OF(type)                                                        \
    .parts = { [SX_REGISTER_CODES] = SX_ARRAY_PART(type, code_count, int32_t, \
                                                   SX_REGISTER_CODES_MAX) }

/* As a construct takes them. */
#define GIFTS_OF(type)                                                               \
    {                                                                                \
        .kind = SX_PART_INFOS, .decoded = true, .max = SX_ARRIVE_INFOS_MAX,          \
        SX_PART_WORD(type, info_size), .thing = "what a member gives to the others", \
        .advice = "put large data with PMIx_Put"                                     \
    }

static const struct sx_message_spec specs[] = {
    [SX_MSG_HELLO] = { .name = "HELLO",
                       CLIENT,
                       FIXED(struct sx_hello, NAMES(SX_NAME_IN(struct sx_hello, nspace),
                                                    SX_NAME_IN(struct sx_hello, home))),
                       COST(200, 0) },
    [SX_MSG_WELCOME] = { .name = "WELCOME",
                         SERVER,
                         FIXED(struct sx_welcome,
                               NAMES(SX_NAME_IN(struct sx_welcome, nspace),
                                     SX_NAME_IN(struct sx_welcome, server_nspace))),
                         .fds_max = SX_WELCOME_FDS },
    [SX_MSG_REPLY] = { .name = "REPLY",
                       SERVER,
                       BODY(struct sx_reply, SX_FRAME_BODY_MAX, .parts = { SX_REST_PART }),
                       .fds_max = 1,
                       BULK(SX_ANSWER_BYTES_MAX, "an answer", "ask for less at once") },
    [SX_MSG_SEGMENT_GET] = { .name = "SEGMENT_GET",
                             CLIENT,
                             FIXED(struct sx_segment_get,
                                   NAMES(SX_NAME_IN(struct sx_segment_get, nspace))),
                             COST(20, 0) },
    [SX_MSG_GET] = { .name = "GET",
                     CLIENT,
                     COST(10, 0),
                     BODY(struct sx_get, sizeof(struct sx_get) + KEY_BYTES_MAX,
                          NAMES(SX_NAME_IN(struct sx_get, nspace)),
                          .parts = { [SX_GET_KEY] = SX_TEXT_PART(struct sx_get, key_size,
                                                                 KEY_BYTES_MAX) }) },
    [SX_MSG_GET_CANCEL] = { .name = "GET_CANCEL", CLIENT, NOTHING, COST(5, 0) },
    [SX_MSG_PUT_BULK] = { .name = "PUT_BULK",
                          CLIENT,
                          AS_IN_A_LANE(sx_put_body),
                          COST(20, 1),
                          BULK(SX_VALUE_BYTES_MAX, "a value", "put it in parts") },
    [SX_MSG_ARRIVE_BULK] = { .name = "ARRIVE_BULK",
                             CLIENT,
                             AS_IN_A_LANE(sx_arrive_body),
                             COST(50, 5),
                             BULK(SX_REQUEST_BYTES_MAX,
                                  "the processes and directives of a fence, a connect or a group",
                                  NAME_THE_NAMESPACE) },
    [SX_MSG_ABORT] = { .name = "ABORT",
                       CLIENT,
                       BODY(struct sx_abort, SX_FRAME_BODY_MAX,
                            .parts = { [SX_ABORT_PROCS] = SX_PROCS_AHEAD_PART(struct sx_abort,
                                                                              proc_count, 0),
                                       [SX_ABORT_TEXT] = SX_TEXT_PART(struct sx_abort, msg_size,
                                                                      0) }),
                       COST(50, 10),
                       BULK(SX_REQUEST_BYTES_MAX, "the processes and the text of an abort",
                            NAME_THE_NAMESPACE) },
    [SX_MSG_FINALIZE] = { .name = "FINALIZE", CLIENT, NOTHING, COST(50, 0) },
    [SX_MSG_JOB_CONTROL] = { .name = "JOB_CONTROL",
                             CLIENT,
                             BODY(struct sx_job_control, SX_FRAME_BODY_MAX,
                                  .parts = { [SX_CONTROL_PROCS] = SX_PROCS_AHEAD_PART(
                                                 struct sx_job_control, proc_count, 0),
                                             [SX_CONTROL_INFOS] =
                                                 SX_INFOS_PART(struct sx_job_control, info_size) },
                                  .heap_max = SX_REQUEST_HEAP_MAX),
                             COST(20, 2),
                             BULK(SX_REQUEST_BYTES_MAX, "the targets and directives of job control",
                                  "make several calls") },
    [SX_MSG_LOG] = { .name = "LOG",
                     CLIENT,
                     BODY(struct sx_log_request, SX_FRAME_BODY_MAX,
                          .parts = { [SX_LOG_DATA] = SX_INFOS_PART(struct sx_log_request,
                                                                   data_size),
                                     [SX_LOG_DIRECTIVES] = SX_INFOS_PART(struct sx_log_request,
                                                                         directives_size) },
                          .heap_max = SX_REQUEST_HEAP_MAX),
                     COST(50, 20),
                     BULK(SX_REQUEST_BYTES_MAX, "what is to be logged", "log it in parts") },
    [SX_MSG_MONITOR] = { .name = "MONITOR",
                         CLIENT,
                         BODY(struct sx_monitor_request, SX_FRAME_BODY_MAX,
                              .parts = { [SX_MONITOR_INFOS] =
                                             SX_INFOS_PART(struct sx_monitor_request, infos_size) },
                              .heap_max = SX_MONITOR_HEAP_MAX),
                         COST(50, 20),
                         BULK(SX_MONITOR_HEAP_MAX, "what is to be monitored, and how",
                              "monitor one thing in a call") },
    [SX_MSG_ASK_HOST] = { .name = "ASK_HOST",
                          CLIENT,
                          BODY(struct sx_ask, SX_FRAME_BODY_MAX,
                               .parts = { [SX_ASK_INFOS] = SX_INFOS_PART(struct sx_ask,
                                                                         infos_size) },
                               .heap_max = SX_REQUEST_HEAP_MAX),
                          COST(20, 2),
                          BULK(SX_ASK_BYTES_MAX, "what the host is asked", "make several calls") },
    [SX_MSG_PUBLISH] = { .name = "PUBLISH",
                         CLIENT,
                         BODY(struct sx_publish, SX_FRAME_BODY_MAX,
                              .parts = { [SX_PUBLISH_INFOS] = SX_INFOS_PART(struct sx_publish,
                                                                            infos_size) },
                              .heap_max = SX_REQUEST_HEAP_MAX),
                         COST(20, 20),
                         BULK(SX_REQUEST_BYTES_MAX, "what is published", "publish it in parts") },
    [SX_MSG_LOOKUP] = { .name = "LOOKUP",
                        CLIENT,
                        BODY(struct sx_publish_keys, SX_FRAME_BODY_MAX,
                             .parts = { [SX_LOOKUP_KEYS] = SX_INFOS_PART(struct sx_publish_keys,
                                                                         keys_size),
                                        [SX_LOOKUP_INFOS] = SX_INFOS_PART(struct sx_publish_keys,
                                                                          infos_size) },
                             .heap_max = SX_REQUEST_HEAP_MAX),
                        COST(20, 20),
                        BULK(SX_REQUEST_BYTES_MAX, "the keys of a lookup", "make several calls") },
    [SX_MSG_UNPUBLISH] = { .name = "UNPUBLISH",
                           CLIENT,
                           BODY(struct sx_publish_keys, SX_FRAME_BODY_MAX,
                                .parts = { [SX_LOOKUP_KEYS] = SX_INFOS_PART(struct sx_publish_keys,
                                                                            keys_size),
                                           [SX_LOOKUP_INFOS] = SX_INFOS_PART(struct sx_publish_keys,
                                                                             infos_size) },
                                .heap_max = SX_REQUEST_HEAP_MAX),
                           COST(20, 20),
                           BULK(SX_REQUEST_BYTES_MAX, "the keys to unpublish",
                                "make several calls") },
    [SX_MSG_SPAWN] = { .name = "SPAWN",
                       CLIENT,
                       BODY(struct sx_spawn, SX_FRAME_BODY_MAX,
                            .parts = { [SX_SPAWN_JOB] = SX_INFOS_PART(struct sx_spawn, job_size),
                                       [SX_SPAWN_APPS] = SX_INFOS_PART(struct sx_spawn,
                                                                       apps_size) },
                            .heap_max = SX_SPAWN_HEAP_MAX),
                       COST(50, 5),
                       BULK(SX_SPAWN_BYTES_MAX,
                            "the applications of a spawn, with their arguments and environments",
                            "make several calls") },
    [SX_MSG_IOF_PULL] = { .name = "IOF_PULL",
                          CLIENT,
                          BODY(struct sx_iof_pull, SX_FRAME_BODY_MAX,
                               .parts = { [SX_PULL_PROCS] = SX_PROCS_PART(struct sx_iof_pull,
                                                                          proc_count, 1),
                                          [SX_PULL_INFOS] = SX_INFOS_PART(struct sx_iof_pull,
                                                                          info_size) },
                               .heap_max = SX_REQUEST_HEAP_MAX),
                          COST(50, 10),
                          BULK(SX_REQUEST_BYTES_MAX, "the processes and directives of a pull",
                               NAME_THE_NAMESPACE) },
    [SX_MSG_IOF_PUSH] = { .name = "IOF_PUSH",
                          CLIENT,
                          BODY(struct sx_iof_push, SX_FRAME_BODY_MAX,
                               .parts = { [SX_PUSH_PROCS] = SX_PROCS_PART(struct sx_iof_push,
                                                                          proc_count, 1),
                                          [SX_PUSH_INFOS] = SX_INFOS_PART(struct sx_iof_push,
                                                                          info_size) },
                               .heap_max = SX_REQUEST_HEAP_MAX),
                          COST(50, 2),
                          BULK(SX_PUSH_BYTES_MAX, "input for processes", "push it in parts") },
    [SX_MSG_GROUP_LEAVE] = { .name = "GROUP_LEAVE",
                             CLIENT,
                             FIXED(struct sx_group_leave,
                                   NAMES(SX_NAME_IN(struct sx_group_leave, group))),
                             COST(50, 0) },
    [SX_MSG_GROUP_SAID] = { .name = "GROUP_SAID",
                            CLIENT,
                            FIXED(struct sx_group_said,
                                  NAMES(SX_NAME_IN(struct sx_group_said, group))),
                            COST(50, 0) },
    [SX_MSG_GROUP_INVITE] = { .name = "GROUP_INVITE",
                              CLIENT,
                              BODY(struct sx_group_invite, SX_FRAME_BODY_MAX,
                                   NAMES(SX_NAME_IN(struct sx_group_invite, group)),
                                   .parts = { [SX_INVITE_PROCS] = SX_PROCS_PART(
                                                  struct sx_group_invite, proc_count, 1),
                                              [SX_INVITE_INFOS] = GIFTS_OF(
                                                  struct sx_group_invite) },
                                   .heap_max = SX_ARRIVE_HEAP_MAX),
                              COST(50, 20), /* never bulk: it would keep the window to its end */
                              .thing = "the processes of an invitation",
                              .advice = NAME_THE_NAMESPACE ", or invite some in another call" },
    [SX_MSG_GROUP_JOIN] = { .name = "GROUP_JOIN",
                            CLIENT,
                            BODY(struct sx_group_join, SX_FRAME_BODY_MAX,
                                 NAMES(SX_NAME_IN(struct sx_group_join, group),
                                       SX_NAME_IN(struct sx_group_join, leader_nspace)),
                                 .parts = { [SX_JOIN_INFOS] = GIFTS_OF(struct sx_group_join) },
                                 .heap_max = SX_ARRIVE_HEAP_MAX),
                            COST(30, 5),
                            .thing = "what a member gives to the others",
                            .advice = "put large data with PMIx_Put" },
    [SX_MSG_RESULTS_GET] = { .name = "RESULTS_GET", CLIENT, NOTHING, COST(50, 0) },
    [SX_MSG_EVENT_BULK] = { .name = "EVENT_BULK",
                            CLIENT,
                            AS_IN_A_LANE(sx_event_body),
                            COST(50, 1),
                            BULK(SX_EVENT_BYTES_MAX, "an event",
                                 "put large data with PMIx_Put and notify of its key") },
    [SX_MSG_EVENT_REGISTER] = { .name = "EVENT_REGISTER",
                                CLIENT,
                                COST(50, 200),
                                BODY(struct sx_event_register,
                                     sizeof(struct sx_event_register) + CODES_BYTES_MAX,
                                     CODES_OF(struct sx_event_register)) },
    [SX_MSG_EVENT_DEREGISTER] = { .name = "EVENT_DEREGISTER",
                                  CLIENT,
                                  COST(20, 200),
                                  BODY(struct sx_event_register,
                                       sizeof(struct sx_event_register) + CODES_BYTES_MAX,
                                       CODES_OF(struct sx_event_register)) },
    [SX_MSG_EVENT_REPLAY] = { .name = "EVENT_REPLAY",
                              CLIENT,
                              FIXED(struct sx_event_replay),
                              COST(50, 0) },
    [SX_MSG_QUERY] = { .name = "QUERY",
                       CLIENT,
                       BODY(struct sx_query_head, SX_FRAME_BODY_MAX,
                            .parts = { [SX_QUERY_INFOS] = SX_INFOS_PART(struct sx_query_head,
                                                                        info_size) },
                            .heap_max = SX_REQUEST_HEAP_MAX),
                       COST(50, 20),
                       BULK(SX_REQUEST_BYTES_MAX, "the keys and qualifiers of queries",
                            "make several calls") },
    [SX_MSG_WAKE_GET] = { .name = "WAKE_GET", CLIENT, NOTHING, COST(20, 0) },
    [SX_MSG_WINDOW_GET] = { .name = "WINDOW_GET", CLIENT, NOTHING, COST(30, 0) },
};
static_assert(SX_COUNT(specs) == SX_MSG_SPEC_MAX, "every kind has its row");
static_assert(sizeof(struct sx_event_register) + CODES_BYTES_MAX <= SX_FRAME_BODY_MAX,
              "never bulk");

const struct sx_message_spec *sx_message_spec(uint16_t kind)
{
    return kind < SX_COUNT(specs) && specs[kind].name != NULL ? &specs[kind] : NULL;
}

uint64_t sx_message_cost(uint16_t kind, uint64_t body_size)
{
    const struct sx_message_spec *const spec = sx_message_spec(kind);

    return spec == NULL ? 0 : spec->cost + (body_size + 1023) / 1024 * spec->cost_kib;
}

uint64_t sx_message_piece_cost(uint64_t size)
{
    return 10 + size / 4096;
}

pmix_status_t sx_message_size_judge(uint16_t kind, uint64_t body_size)
{
    const struct sx_message_spec *const spec = sx_message_spec(kind);

    sx_assert(spec != NULL);
    const uint64_t max = spec->bulk_max != 0 ? spec->bulk_max : spec->body_max;

    if (body_size <= max) {
        return PMIX_SUCCESS;
    }
    sx_assert(spec->advice != NULL); /* kinds without it have one size, or only this library
                                        builds them */
    return sx_body_too_large(spec->thing, body_size, max, spec->advice);
}

static const char *find_bulk_fault(const struct sx_frame_header *header,
                                   const struct sx_message_spec *spec, size_t size,
                                   bool from_client)
{
    if (spec->bulk_max == 0) {
        return "this kind of message may not be bulk";
    }
    if (size != sizeof(*header)) {
        return "a bulk message with a body in the frame";
    }
    if (header->body_size < (from_client ? 1 : spec->body->head_size)) {
        return "bulk body too short";
    }
    if (from_client && header->body_size > SX_WINDOW_BYTES) {
        return "a bulk body beyond its window";
    }
    return header->body_size > spec->bulk_max ? "bulk body too long for its kind" : NULL;
}

/* A client's body comes in pieces through the window, a server's answer in frames. */
static bool may_go_on(const struct sx_frame_header *header, bool from_client)
{
    const bool bulk = (header->flags & SX_FRAME_BULK) != 0;

    return from_client ? bulk : header->kind == SX_MSG_REPLY && !bulk;
}

static const char *find_header_fault(const struct sx_frame_header *header, size_t size,
                                     bool from_client)
{
    const struct sx_message_spec *spec = sx_message_spec(header->kind);

    if (spec == NULL) {
        return "unknown kind of message";
    }
    if (from_client ? !spec->from_client : !spec->from_server) {
        return "this kind of message goes the other way";
    }
    if ((header->flags & ~(SX_FRAME_BULK | SX_FRAME_MORE)) != 0) {
        return "unknown flags";
    }
    if ((header->flags & SX_FRAME_MORE) != 0 && !may_go_on(header, from_client)) {
        return from_client ? "a piece of a body that is in the frame"
                           : "a part of what is no answer in frames";
    }
    if ((header->flags & SX_FRAME_BULK) != 0) {
        return find_bulk_fault(header, spec, size, from_client);
    }
    if (header->body_size != size - sizeof(*header)) {
        return "body size differs from what came";
    }
    if (header->body_size < spec->body->head_size) {
        return "body too short";
    }
    return header->body_size > spec->body_max ? "body too long" : NULL;
}

static const char *find_fd_fault(const struct sx_frame_header *header, int fd_count)
{
    const struct sx_message_spec *spec = sx_message_spec(header->kind);
    const int bulk = spec->from_server && (header->flags & SX_FRAME_BULK) != 0 ? 1 : 0;

    if (fd_count < spec->fds_min + bulk) {
        return bulk != 0 ? "bulk without its descriptor" : "too few descriptors";
    }
    if (fd_count > spec->fds_max + bulk) {
        return "too many descriptors";
    }
    if (header->kind == SX_MSG_WELCOME && fd_count != 0 && fd_count != spec->fds_max) {
        return "neither all descriptors nor none";
    }
    return NULL;
}

pmix_status_t sx_frame_check(const void *frame, size_t size, int fd_count, bool from_client,
                             const char **ret_why)
{
    struct sx_frame_header header;
    const char *why;

    if (size < sizeof(header)) {
        *ret_why = "shorter than a header";
        return PMIX_ERR_BAD_PARAM;
    }
    if (size > SX_FRAME_MAX) {
        *ret_why = "longer than a frame may be";
        return PMIX_ERR_BAD_PARAM;
    }
    memcpy(&header, frame, sizeof(header));
    why = find_header_fault(&header, size, from_client);
    if (why == NULL) {
        why = find_fd_fault(&header, fd_count);
    }
    if (why != NULL) {
        *ret_why = why;
        return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}
