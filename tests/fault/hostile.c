/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostile.c - one row for each kind of flood. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "base/value/flat.h"

#define BATCH 64
#define PUT_BYTES 8000u                    /* of a value in the lane */
#define PUT_BULK_BYTES (UINT64_C(1) << 20) /* larger ones take the time that their copy takes */
#define EVENT_PAD_BYTES (UINT64_C(3) << 20)
#define INFOS 5000u

/* ---- sending ---------------------------------------------------------------------------------- */

#define ANSWERS (FAULT_PROCS_MAX - 1) /* its word of fault_shared->round; no rank's */

uint32_t hostile_answers(void)
{
    return atomic_load(&fault_shared->round[ANSWERS]);
}

static void take_answers(struct hostile *hostile)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    struct sx_frame frame;
    pmix_status_t rc;

    while ((rc = sx_frame_receive(hostile->attacker.socket_fd, buffer, &frame, 0)) ==
           PMIX_SUCCESS) {
        hostile->answers += frame.header.id == (hostile->id | 1u << 31);
        sx_frame_release(&frame);
        atomic_fetch_add(&fault_shared->round[ANSWERS], 1);
    }
    hostile->lost = hostile->lost || rc == PMIX_ERR_LOST_CONNECTION;
}

static bool goes_on(const struct hostile *hostile)
{
    return !hostile->lost && atomic_load(&fault_shared->stop) == 0;
}

/* As soon as the server makes room for it; @flags: a body in the window. */
static void send_with(struct hostile *hostile, uint16_t kind, uint16_t flags, uint32_t id,
                      const void *body, size_t size)
{
    _Alignas(8) static uint8_t frame[SX_FRAME_MAX];
    const struct sx_frame_header header = {
        .kind = kind, .flags = flags, .id = id | 1u << 31, .body_size = size
    };
    const size_t length = sizeof(header) + (flags != 0 ? 0 : size);
    const int fd = hostile->attacker.socket_fd;

    CHECK(length <= sizeof(frame), "%zu", size);
    memcpy(frame, &header, sizeof(header));
    if (length > sizeof(header)) {
        memcpy(frame + sizeof(header), body, size);
    }
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
    while (goes_on(hostile) && descriptors_send(fd, frame, length, -1, 0) < 0) {
        struct pollfd room = { .fd = fd, .events = POLLOUT };

        hostile->lost = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
        if (!hostile->lost && hostile->reads) {
            take_answers(hostile);
        }
        poll(&room, 1, 10);
    }
    if (hostile->reads) {
        take_answers(hostile);
    }
}

static void send_frame(struct hostile *hostile, uint16_t kind, const void *body, size_t size)
{
    send_with(hostile, kind, 0, ++hostile->id, body, size);
}

/* As many as fit into the lane; then the doorbell, and the CPU to the others. */
static void lane_flood(struct hostile *hostile, uint32_t kind, const void *body, size_t size)
{
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)body, .iov_len = size };

    for (unsigned i = 0; i < SX_LANE_BYTES / 8; i++) {
        if (sx_lane_append(&hostile->attacker.lane, kind, &iov, 1) != PMIX_SUCCESS) {
            break;
        }
    }
    sx_lane_doorbell(&hostile->attacker.lane);
    sched_yield();
    take_answers(hostile);
}

/* What is in the window, and the answer to it: then it is free again.  The second part of an answer,
 * which may come later, is of a former message then. */
static void window_send(struct hostile *hostile, uint16_t kind, uint16_t flags, size_t size)
{
    const uint32_t answered = hostile->answers;

    send_with(hostile, kind, SX_FRAME_BULK | flags, hostile->id, NULL, size);
    while (goes_on(hostile) && hostile->answers == answered) {
        sched_yield();
        take_answers(hostile);
    }
}

static void window_write(struct hostile *hostile, size_t off, size_t size, size_t at)
{
    CHECK(pwrite(hostile->attacker.window_fd, hostile->bulk + off, size, (off_t)at) ==
              (ssize_t)size,
          "%s", strerror(errno));
}

/* A body that fits in the window is there already, but for what changes, and is sent as fast as the
 * server takes it; a larger one goes in pieces. */
static void bulk_send(struct hostile *hostile, uint16_t kind)
{
    size_t off = 0;

    hostile->id++;
    if (hostile->bulk_size <= SX_WINDOW_BYTES) {
        hostile->bulk[hostile->bulk_changes] ^= hostile->bulk_changes != 0;
        window_write(hostile, hostile->bulk_changes, 1, hostile->bulk_changes);
        send_with(hostile, kind, SX_FRAME_BULK, hostile->id, NULL, hostile->bulk_size);
        return;
    }
    for (; hostile->bulk_size - off > SX_WINDOW_BYTES; off += SX_WINDOW_BYTES) {
        window_write(hostile, off, SX_WINDOW_BYTES, 0);
        window_send(hostile, kind, SX_FRAME_MORE, SX_WINDOW_BYTES);
    }
    window_write(hostile, off, hostile->bulk_size - off, 0);
    window_send(hostile, kind, 0, hostile->bulk_size - off);
}

/* A body of which the byte at @changes is never the same twice; 0: nothing changes. */
static void bulk_make(struct hostile *hostile, uint8_t *bytes, size_t size, size_t changes)
{
    hostile->bulk = bytes;
    hostile->bulk_size = size;
    hostile->bulk_changes = changes;
    attack_window(&hostile->attacker);
    if (size <= SX_WINDOW_BYTES) {
        window_write(hostile, 0, size, 0);
    }
}

static uint8_t *zeroed(size_t size)
{
    uint8_t *bytes = calloc(1, size);

    CHECK(bytes != NULL, "%zu bytes", size);
    return bytes;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

/* {rank, length of the name, the name}.  Return: where the next begins. */
static uint8_t *write_proc(uint8_t *at, uint32_t rank)
{
    const uint32_t words[2] = { rank, (uint32_t)strlen(ATTACK_JOB) };

    memcpy(at, words, sizeof(words));
    memcpy(at + sizeof(words), ATTACK_JOB, strlen(ATTACK_JOB));
    return at + sizeof(words) + sx_align_up(strlen(ATTACK_JOB), 8);
}

#define PROC_BYTES (8 + 16u)

static size_t put_write(uint8_t *at, const char *key, size_t value_size)
{
    struct sx_lane_put put = { .cell = { .type = PMIX_STRING, .len = (uint32_t)value_size },
                               .key_len = (uint16_t)strlen(key),
                               .scope = PMIX_GLOBAL };
    uint8_t *const value = at + sizeof(put) + sx_align_up(put.key_len, 8);

    memcpy(at, &put, sizeof(put));
    memcpy(at + sizeof(put), key, put.key_len);
    memset(value, 'v', value_size - 1);
    return (size_t)(value - at) + sx_align_up(value_size, 8);
}

static size_t get_write(uint8_t *at, uint32_t rank, const char *key, uint32_t flags)
{
    struct sx_get get = { .rank = rank, .flags = flags, .key_size = (uint32_t)strlen(key) + 1 };

    memcpy(get.nspace, ATTACK_JOB, sizeof(ATTACK_JOB));
    memcpy(at, &get, sizeof(get));
    memcpy(at + sizeof(get), key, get.key_size);
    return sizeof(get) + get.key_size;
}

/* ---- kinds: lanes ----------------------------------------------------------------------------- */

static void commit_ends(struct hostile *hostile)
{
    lane_flood(hostile, SX_LANE_COMMIT_END, NULL, 0);
}

static void puts_begin(struct hostile *hostile)
{
    hostile->body = zeroed(PUT_BYTES + 256);
    hostile->size = put_write(hostile->body, "hostile.put", PUT_BYTES);
}

static void puts_flood(struct hostile *hostile)
{
    hostile->body[sizeof(struct sx_lane_put) + 16] ^= 1; /* never the value of before */
    lane_flood(hostile, SX_LANE_PUT, hostile->body, hostile->size);
}

static void notifies_begin(struct hostile *hostile)
{
    const struct sx_event event = { .code = PMIX_EXTERNAL_ERR_BASE - 1,
                                    .range = PMIX_RANGE_NAMESPACE };

    hostile->size = sizeof(event);
    hostile->body = zeroed(hostile->size);
    memcpy(hostile->body, &event, sizeof(event));
}

static void notifies(struct hostile *hostile)
{
    lane_flood(hostile, SX_LANE_NOTIFY, hostile->body, hostile->size);
}

/* Fences with rank 0, which is never started, each with another number of names. */
static void arrivals(struct hostile *hostile)
{
    static uint8_t body[sizeof(struct sx_lane_arrive) + 2 * PROC_BYTES];
    const struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE,
                                         .op = ++hostile->id,
                                         .proc_count = 2 };

    memcpy(body, &head, sizeof(head));
    (void)write_proc(write_proc(body + sizeof(head), 0), 1);
    lane_flood(hostile, SX_LANE_ARRIVE, body, sizeof(body));
}

/* Connects of itself, and half as many disconnects: more and more are of the same words. */
static void connects(struct hostile *hostile)
{
    static uint8_t body[sizeof(struct sx_lane_arrive) + PROC_BYTES];
    const bool ends = hostile->rounds % 3 == 2;
    const struct sx_lane_arrive head = { .kind = ends ? SX_COLLECTIVE_DISCONNECT
                                                      : SX_COLLECTIVE_CONNECT,
                                         .op = ++hostile->id,
                                         .proc_count = 1 };

    memcpy(body, &head, sizeof(head));
    (void)write_proc(body + sizeof(head), ATTACK_RANK);
    lane_flood(hostile, SX_LANE_ARRIVE, body, sizeof(body));
}

/* It says that it has read up to where it has not, and back again. */
static void cursors(struct hostile *hostile)
{
    const struct sx_lane_cursor cursor = { .seq = hostile->rounds % 2 == 0 ? UINT64_MAX : 0 };

    lane_flood(hostile, SX_LANE_CURSOR, &cursor, sizeof(cursor));
}

static void doorbells(struct hostile *hostile)
{
    const uint64_t one = 1;

    for (int i = 0; i < BATCH; i++) {
        CHECK(write(hostile->attacker.fds[2], &one, sizeof(one)) == sizeof(one) || errno == EAGAIN,
              "%s", strerror(errno));
        sched_yield();
    }
    take_answers(hostile);
}

/* ---- kinds: frames ---------------------------------------------------------------------------- */

/* As many Gets wait as may, for one key each; then one is given up and asked again, and the lane
 * commits all the while. */
static void waiting_gets(struct hostile *hostile)
{
    uint8_t body[sizeof(struct sx_get) + 64];
    char key[32];

    for (uint32_t i = 0; i < 32; i++) {
        snprintf(key, sizeof(key), "never.%u", hostile->id % 1024);
        send_frame(hostile, SX_MSG_GET, body, get_write(body, 0, key, 0));
    }
    if (hostile->rounds >= 31) {
        hostile->id -= 32;
        for (uint32_t i = 0; i < 32; i++) {
            send_frame(hostile, SX_MSG_GET_CANCEL, NULL, 0);
        }
    }
    commit_ends(hostile);
}

static void own_value_begin(struct hostile *hostile)
{
    uint8_t *const bytes = zeroed(256);
    const struct iovec iov = { bytes, put_write(bytes, "there", 8) };

    CHECK_STATUS(sx_lane_append(&hostile->attacker.lane, SX_LANE_PUT, &iov, 1), PMIX_SUCCESS);
    CHECK_STATUS(sx_lane_append(&hostile->attacker.lane, SX_LANE_COMMIT_END, NULL, 0),
                 PMIX_SUCCESS);
    free(bytes);
}

static void gets(struct hostile *hostile)
{
    uint8_t body[sizeof(struct sx_get) + 64];
    const size_t size = get_write(body, ATTACK_RANK, "there", SX_GET_IMMEDIATE);

    for (int i = 0; i < BATCH && goes_on(hostile); i++) {
        send_frame(hostile, SX_MSG_GET, body, size);
    }
}

static void leaves(struct hostile *hostile)
{
    struct sx_group_leave body = { .group = "" };

    memset(body.group, 'g', sizeof(body.group) - 1);
    for (int i = 0; i < BATCH && goes_on(hostile); i++) {
        send_frame(hostile, SX_MSG_GROUP_LEAVE, &body, sizeof(body));
    }
}

static void registrations(struct hostile *hostile)
{
    const struct sx_event_register head = { .code_count = SX_REGISTER_CODES_MAX };
    uint8_t body[sizeof(head) + SX_REGISTER_CODES_MAX * sizeof(int32_t)];
    int32_t codes[SX_REGISTER_CODES_MAX];

    for (uint32_t i = 0; i < SX_REGISTER_CODES_MAX; i++) { /* an order that takes long to sort */
        codes[i] = PMIX_EXTERNAL_ERR_BASE - (int32_t)((i * 397 + hostile->rounds) % 65536);
    }
    memcpy(body, &head, sizeof(head));
    memcpy(body + sizeof(head), codes, sizeof(codes));
    send_frame(hostile, SX_MSG_EVENT_REGISTER, body, sizeof(body));
    send_frame(hostile, SX_MSG_EVENT_DEREGISTER, body, sizeof(body));
}

static uint64_t registration_units(void)
{
    return sx_message_cost(SX_MSG_EVENT_REGISTER, sizeof(struct sx_event_register) +
                                                      SX_REGISTER_CODES_MAX * sizeof(int32_t));
}

static void controls_begin(struct hostile *hostile)
{
    pmix_info_t *const infos = calloc(INFOS, sizeof(*infos));
    size_t size;

    CHECK(infos != NULL, "no memory");
    for (size_t i = 0; i < INFOS; i++) {
        memset(infos[i].key, 'k', PMIX_MAX_KEYLEN / 4);
        infos[i].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    }
    CHECK_STATUS(sx_flat_infos_size(infos, INFOS, &size), PMIX_SUCCESS);
    const struct sx_job_control head = { .info_size = size };
    uint8_t *const bytes = zeroed(sizeof(head) + size);

    memcpy(bytes, &head, sizeof(head));
    CHECK_STATUS(sx_flat_infos_encode(infos, INFOS, bytes + sizeof(head), size), PMIX_SUCCESS);
    free(infos);
    CHECK(sizeof(head) + size <= SX_REQUEST_BYTES_MAX, "%zu", size);
    bulk_make(hostile, bytes, sizeof(head) + size, 0);
}

static void controls(struct hostile *hostile)
{
    bulk_send(hostile, SX_MSG_JOB_CONTROL);
}

static uint64_t control_units(void)
{
    return sx_message_cost(SX_MSG_JOB_CONTROL, SX_REQUEST_BYTES_MAX);
}

static void bulk_puts_begin(struct hostile *hostile)
{
    uint8_t *const bytes = zeroed(PUT_BULK_BYTES + 256);
    const size_t size = put_write(bytes, "hostile.bulk", PUT_BULK_BYTES);

    bulk_make(hostile, bytes, size, size / 2);
}

static void bulk_puts(struct hostile *hostile)
{
    bulk_send(hostile, SX_MSG_PUT_BULK);
}

/* A put now and then is the one that makes the store begin its next generation. */
static uint64_t renewal_units(void)
{
    return (8 << 20) / 2048 + (2 << 20) / 1024;
}

static uint64_t bulk_put_units(void)
{
    return sx_message_cost(SX_MSG_PUT_BULK, PUT_BULK_BYTES + 256) + renewal_units();
}

static void bulk_arrivals_begin(struct hostile *hostile)
{
    const size_t size = sizeof(struct sx_lane_arrive) + SX_PROCS_MAX * PROC_BYTES;
    const struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE,
                                         .op = 1,
                                         .proc_count = SX_PROCS_MAX };
    uint8_t *const bytes = zeroed(size);
    uint8_t *at = bytes + sizeof(head);

    memcpy(bytes, &head, sizeof(head));
    for (uint32_t i = 0; i < SX_PROCS_MAX; i++) {
        at = write_proc(at, i);
    }
    bulk_make(hostile, bytes, size, 0);
}

static void bulk_arrivals(struct hostile *hostile)
{
    bulk_send(hostile, SX_MSG_ARRIVE_BULK);
}

static uint64_t bulk_arrival_units(void)
{
    return sx_message_cost(SX_MSG_ARRIVE_BULK, SX_REQUEST_BYTES_MAX);
}

static void bulk_events_begin(struct hostile *hostile)
{
    pmix_info_t info = { .key = "pad", .value = { .type = PMIX_BYTE_OBJECT } };
    size_t info_size;

    info.value.data.bo.bytes = (char *)zeroed(EVENT_PAD_BYTES);
    info.value.data.bo.size = EVENT_PAD_BYTES;
    CHECK_STATUS(sx_flat_infos_size(&info, 1, &info_size), PMIX_SUCCESS);
    const struct sx_event event = { .code = PMIX_EXTERNAL_ERR_BASE - 1,
                                    .range = PMIX_RANGE_CUSTOM,
                                    .target_count = SX_PROCS_MAX,
                                    .info_size = (uint32_t)info_size };
    const size_t size = sizeof(event) + SX_PROCS_MAX * PROC_BYTES + info_size;
    uint8_t *const bytes = zeroed(size);
    uint8_t *at = bytes + sizeof(event);

    memcpy(bytes, &event, sizeof(event));
    for (uint32_t i = 0; i < SX_PROCS_MAX; i++) {
        at = write_proc(at, i);
    }
    CHECK_STATUS(sx_flat_infos_encode(&info, 1, at, info_size), PMIX_SUCCESS);
    free(info.value.data.bo.bytes);
    CHECK(size <= SX_EVENT_BYTES_MAX, "%zu", size);
    bulk_make(hostile, bytes, size, 0);
}

static void bulk_events(struct hostile *hostile)
{
    bulk_send(hostile, SX_MSG_EVENT_BULK);
}

static uint64_t bulk_event_units(void)
{
    return sx_message_cost(SX_MSG_EVENT_BULK, SX_EVENT_BYTES_MAX);
}

/* Of all who are there, itself too, to a name of their own each. */
static void invitations(struct hostile *hostile)
{
    struct {
        struct sx_group_invite invite;
        uint32_t rank, name_len;
        char nspace[16];
    } body = { .invite = { .proc_count = 1 },
               .rank = PMIX_RANK_WILDCARD,
               .name_len = sizeof(ATTACK_JOB) - 1,
               .nspace = ATTACK_JOB };

    for (int i = 0; i < BATCH; i++) {
        snprintf(body.invite.group, sizeof(body.invite.group), "group.%u", hostile->id);
        send_frame(hostile, SX_MSG_GROUP_INVITE, &body, sizeof(body));
    }
}

/* About those whom it has invited, to questions whose numbers it guesses. */
static void words_begin(struct hostile *hostile)
{
    hostile->id = 0;
    invitations(hostile);
}

static void words(struct hostile *hostile)
{
    struct sx_group_said said = { .group = "group.0" };

    for (int i = 0; i < BATCH; i++) {
        said.question = hostile->id % 64;
        said.word = hostile->id % (SX_GROUP_ABORTS + 1);
        send_frame(hostile, SX_MSG_GROUP_SAID, &said, sizeof(said));
    }
}

/* ---- kinds: one message again and again ------------------------------------------------------- */

static size_t infos_write(uint8_t *at, const pmix_info_t *infos, size_t count)
{
    size_t size;

    CHECK_STATUS(sx_flat_infos_size(infos, count, &size), PMIX_SUCCESS);
    CHECK(size <= SX_REQUEST_BYTES_MAX, "%zu", size);
    CHECK_STATUS(sx_flat_infos_encode(infos, count, at, size), PMIX_SUCCESS);
    return size;
}

/* @count infos whose keys nobody knows, each another. */
static size_t many_write(uint8_t *at, size_t count)
{
    pmix_info_t *const infos = calloc(count, sizeof(*infos));

    CHECK(infos != NULL, "no memory");
    for (size_t i = 0; i < count; i++) {
        snprintf(infos[i].key, sizeof(infos[i].key), "hostile.%zu", i);
        infos[i].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    }
    const size_t size = infos_write(at, infos, count);

    free(infos);
    return size;
}

static size_t named_write(uint8_t *at, uint32_t count)
{
    uint8_t *end = at;

    for (uint32_t i = 0; i < count; i++) {
        end = write_proc(end, i);
    }
    return (size_t)(end - at);
}

static size_t segment_make(uint8_t *at)
{
    const struct sx_segment_get get = { .wanted = SX_WANT_STORE, .nspace = ATTACK_JOB };

    memcpy(at, &get, sizeof(get));
    return sizeof(get);
}

static size_t abort_make(uint8_t *at)
{
    const struct sx_abort head = { .status = 1, .proc_count = SX_PROCS_MAX };

    memcpy(at, &head, sizeof(head));
    return sizeof(head) + named_write(at + sizeof(head), SX_PROCS_MAX);
}

static size_t log_make(uint8_t *at)
{
    struct sx_log_request head;
    size_t size = sizeof(head);

    size += head.data_size = many_write(at + size, INFOS);
    size += head.directives_size = many_write(at + size, 1);
    memcpy(at, &head, sizeof(head));
    return size;
}

static size_t monitor_make(uint8_t *at)
{
    struct sx_monitor_request head = { .code = PMIX_SUCCESS };

    head.infos_size = many_write(at + sizeof(head), 100);
    memcpy(at, &head, sizeof(head));
    return sizeof(head) + head.infos_size;
}

static size_t ask_make(uint8_t *at)
{
    struct sx_ask head = { .kind = SX_ASK_ALLOCATION };

    head.infos_size = many_write(at + sizeof(head), INFOS);
    memcpy(at, &head, sizeof(head));
    return sizeof(head) + head.infos_size;
}

static size_t publish_make(uint8_t *at)
{
    struct sx_publish head;

    head.infos_size = many_write(at + sizeof(head), 1000);
    memcpy(at, &head, sizeof(head));
    return sizeof(head) + head.infos_size;
}

static size_t keys_make(uint8_t *at)
{
    struct sx_publish_keys head;
    size_t size = sizeof(head);

    size += head.keys_size = many_write(at + size, SX_LOOKUP_KEYS_MAX);
    size += head.infos_size = infos_write(at + size, NULL, 0);
    memcpy(at, &head, sizeof(head));
    return size;
}

static size_t spawn_make(uint8_t *at)
{
    static char *argv[] = { (char *)"program", NULL };
    pmix_app_t app = { .cmd = argv[0], .argv = argv, .maxprocs = 1 };
    pmix_data_array_t array = { .type = PMIX_APP, .size = 1, .array = &app };
    const pmix_info_t apps = { .key = "apps",
                               .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };
    struct sx_spawn head;
    size_t size = sizeof(head);

    size += head.job_size = many_write(at + size, INFOS);
    size += head.apps_size = infos_write(at + size, &apps, 1);
    memcpy(at, &head, sizeof(head));
    return size;
}

static size_t pull_make(uint8_t *at)
{
    struct sx_iof_pull head = { .channels = PMIX_FWD_STDOUT_CHANNEL,
                                .proc_count = SX_IOF_PROCS_MAX };
    const size_t size = sizeof(head) + named_write(at + sizeof(head), SX_IOF_PROCS_MAX);

    head.info_size = infos_write(at + size, NULL, 0);
    memcpy(at, &head, sizeof(head));
    return size + head.info_size;
}

static size_t push_make(uint8_t *at)
{
    static char bytes[65536];
    const pmix_info_t input = { .key = SX_PUSH_BYTES,
                                .value = { .type = PMIX_BYTE_OBJECT,
                                           .data.bo = { .bytes = bytes, .size = sizeof(bytes) } } };
    struct sx_iof_push head = { .proc_count = 1 };
    const size_t size = (size_t)(write_proc(at + sizeof(head), 0) - at);

    head.info_size = infos_write(at + size, &input, 1);
    memcpy(at, &head, sizeof(head));
    return size + head.info_size;
}

/* What makes the server read a file of /proc, and walk all lists and all namespaces. */
static size_t query_make(uint8_t *at)
{
    static const char *const walks[] = { PMIX_DAEMON_MEMORY, PMIX_QUERY_PSET_NAMES,
                                         PMIX_QUERY_NUM_PSETS, PMIX_QUERY_NAMESPACES };
    static char *keys[4096 + 1];
    pmix_query_t query = { .keys = keys };
    pmix_data_array_t array = { .type = PMIX_QUERY, .size = 1, .array = &query };
    const pmix_info_t info = { .key = "queries",
                               .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };
    struct sx_query_head head;

    for (size_t i = 0; i + 1 < SX_COUNT(keys); i++) {
        keys[i] = (char *)(uintptr_t)walks[i % SX_COUNT(walks)];
    }
    head.info_size = infos_write(at + sizeof(head), &info, 1);
    memcpy(at, &head, sizeof(head));
    return sizeof(head) + head.info_size;
}

static size_t join_make(uint8_t *at)
{
    struct sx_group_join head = { .accepts = 1, .group = "hostile.group" };

    head.info_size = (uint32_t)infos_write(at + sizeof(head), NULL, 0);
    memcpy(at, &head, sizeof(head));
    return sizeof(head) + head.info_size;
}

static size_t replay_make(uint8_t *at)
{
    const struct sx_event_replay head = { .first = 1, .last = UINT64_MAX };

    memcpy(at, &head, sizeof(head));
    return sizeof(head);
}

static void message_begin(struct hostile *hostile)
{
    const struct hostile_kind *const kind = hostile->kind;
    uint8_t *const body = zeroed(2 * SX_REQUEST_BYTES_MAX);
    const size_t size = kind->make != NULL ? kind->make(body) : 0;

    if (size > SX_FRAME_BODY_MAX) {
        bulk_make(hostile, body, size, 0);
    } else {
        hostile->body = body;
        hostile->size = size;
    }
}

static void messages_flood(struct hostile *hostile)
{
    if (hostile->bulk != NULL) {
        bulk_send(hostile, hostile->kind->message);
        return;
    }
    for (int i = 0; i < BATCH && goes_on(hostile); i++) {
        send_frame(hostile, hostile->kind->message, hostile->body, hostile->size);
    }
}

uint64_t hostile_units(const struct hostile_kind *kind)
{
    if (kind->units != NULL || kind->message == 0) {
        return kind->units != NULL ? kind->units() : HOSTILE_FEW_UNITS;
    }
    uint8_t *const body = zeroed(2 * SX_REQUEST_BYTES_MAX);
    const size_t size = kind->make != NULL ? kind->make(body) : 0;

    free(body);
    return sx_message_cost(kind->message, size) + kind->more + HOSTILE_FEW_UNITS;
}

/* ---- kinds: connections ----------------------------------------------------------------------- */

static void comes_and_goes(struct hostile *hostile)
{
    for (int i = 0; i < 8; i++) {
        close(attack_connect());
    }
}

static void wrong_hellos(struct hostile *hostile)
{
    struct sx_hello hello;

    for (int i = 0; i < 8; i++) {
        const int fd = attack_connect();

        attack_hello(&hello, 1000);
        attack_request(fd, SX_MSG_HELLO, 1, &hello, sizeof(hello));
        close(fd);
    }
}

static void hellos_and_finalizes(struct hostile *hostile)
{
    attack_request(hostile->attacker.socket_fd, SX_MSG_FINALIZE, 1, NULL, 0);
    attack_expect_reply(hostile->attacker.socket_fd, 1, PMIX_SUCCESS);
    hostile->lost = true; /* by its own will: it comes back as the same rank */
}

static void nonsense(struct hostile *hostile)
{
    send_frame(hostile, SX_MSG_REPLY, NULL, 0); /* goes the other way: the end */
    while (goes_on(hostile)) {
        take_answers(hostile);
    }
}

const struct hostile_kind hostile_kinds[] = {
    { .name = "commit_ends", .go = commit_ends },
    { .name = "puts", .begin = puts_begin, .go = puts_flood, .units = renewal_units },
    { .name = "notifies", .begin = notifies_begin, .go = notifies },
    { .name = "arrivals", .go = arrivals },
    { .name = "connects", .go = connects },
    { .name = "cursors", .go = cursors },
    { .name = "doorbells", .go = doorbells },
    { .name = "waiting_gets", .go = waiting_gets },
    { .name = "gets", .begin = own_value_begin, .go = gets, .is_answered = true },
    /* Once its queue at the server is full it is dropped: fault-frames-reads_nothing. */
    { .name = "reads_nothing",
      .begin = own_value_begin,
      .go = gets,
      .reads_nothing = true,
      .is_dropped = true },
    { .name = "leaves", .go = leaves, .is_answered = true },
    { .name = "registrations",
      .go = registrations,
      .units = registration_units,
      .is_answered = true },
    { .name = "controls",
      .begin = controls_begin,
      .go = controls,
      .units = control_units,
      .is_answered = true },
    { .name = "bulk_puts",
      .begin = bulk_puts_begin,
      .go = bulk_puts,
      .units = bulk_put_units,
      .is_answered = true },
    { .name = "bulk_arrivals",
      .begin = bulk_arrivals_begin,
      .go = bulk_arrivals,
      .units = bulk_arrival_units,
      .is_answered = true },
    { .name = "bulk_events",
      .begin = bulk_events_begin,
      .go = bulk_events,
      .units = bulk_event_units,
      .is_answered = true },
    { .name = "invitations", .go = invitations, .is_answered = true },
    { .name = "words", .begin = words_begin, .go = words },
    { .name = "segments", .message = SX_MSG_SEGMENT_GET, .make = segment_make },
    { .name = "aborts", .message = SX_MSG_ABORT, .make = abort_make },
    { .name = "logs", .message = SX_MSG_LOG, .make = log_make },
    { .name = "monitors", .message = SX_MSG_MONITOR, .make = monitor_make },
    { .name = "asks", .message = SX_MSG_ASK_HOST, .make = ask_make },
    { .name = "publishes", .message = SX_MSG_PUBLISH, .make = publish_make, .more = 3000 },
    { .name = "lookups", .message = SX_MSG_LOOKUP, .make = keys_make },
    { .name = "unpublishes", .message = SX_MSG_UNPUBLISH, .make = keys_make },
    { .name = "spawns", .message = SX_MSG_SPAWN, .make = spawn_make },
    { .name = "pulls", .message = SX_MSG_IOF_PULL, .make = pull_make, .more = 2000 },
    { .name = "pushes", .message = SX_MSG_IOF_PUSH, .make = push_make },
    { .name = "queries", .message = SX_MSG_QUERY, .make = query_make, .more = 1000 },
    { .name = "joins", .message = SX_MSG_GROUP_JOIN, .make = join_make },
    { .name = "results", .message = SX_MSG_RESULTS_GET },
    { .name = "replays", .message = SX_MSG_EVENT_REPLAY, .make = replay_make },
    { .name = "wakes", .message = SX_MSG_WAKE_GET },
    { .name = "windows", .message = SX_MSG_WINDOW_GET },
    { .name = "comes_and_goes", .go = comes_and_goes },
    { .name = "wrong_hellos", .go = wrong_hellos },
    { .name = "hellos_and_finalizes", .go = hellos_and_finalizes, .is_dropped = true },
    { .name = "nonsense", .go = nonsense, .is_dropped = true },
};
const size_t hostile_kind_count = SX_COUNT(hostile_kinds);

const struct hostile_kind *hostile_find(const char *name)
{
    for (size_t i = 0; i < hostile_kind_count; i++) {
        if (strcmp(hostile_kinds[i].name, name) == 0) {
            return &hostile_kinds[i];
        }
    }
    return NULL;
}

/* ---- the role --------------------------------------------------------------------------------- */

/* Return: false when it is told to stop. */
static bool hostile_attach(struct hostile *hostile, const struct hostile_kind *kind)
{
    *hostile = (struct hostile){ .reads = !kind->reads_nothing, .kind = kind };
    while (attack_attach_as(&hostile->attacker, ATTACK_RANK) != PMIX_SUCCESS) {
        close(hostile->attacker.socket_fd); /* the host has not admitted it yet */
        if (atomic_load(&fault_shared->stop) != 0) {
            return false;
        }
        fault_pause();
    }
    if (kind->begin != NULL || kind->message != 0) {
        (kind->begin != NULL ? kind->begin : message_begin)(hostile);
    }
    return true;
}

static void hostile_detach(struct hostile *hostile)
{
    attack_detach(&hostile->attacker);
    free(hostile->body);
    free(hostile->bulk);
}

int hostile_role(const char *name)
{
    const struct hostile_kind *const kind = hostile_find(name);
    struct hostile hostile;

    CHECK(kind != NULL, "no kind %s", name);
    while (hostile_attach(&hostile, kind)) {
        for (; goes_on(&hostile); hostile.rounds++) {
            (kind->go != NULL ? kind->go : messages_flood)(&hostile);
            atomic_fetch_add(&fault_shared->state[ATTACK_RANK], 1);
        }
        /* A message of the right form is no reason to be dropped. */
        CHECK(kind->is_dropped || atomic_load(&fault_shared->stop) != 0, "%s: dropped", name);
        hostile_detach(&hostile);
        if (atomic_load(&fault_shared->stop) != 0) {
            break;
        }
    }
    return 0;
}

void hostile_admit(void)
{
    fault_rank_admit(ATTACK_JOB, ATTACK_RANK);
}
