/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lane_test.c - a client owns its lane and its doorbell, and can write there what it likes: all it
 * gets for that is an answer with an error, or the end of its own connection. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attack.h"
#include "base/message/payloads.h"
#include "base/util.h"
#include "base/value/value.h"
#include "server/model/nspace.h"

#define SEED UINT64_C(20260801)

struct message {
    uint32_t len, kind;
};

static void ring_doorbell(const struct attacker *attacker)
{
    const uint64_t one = 1;

    CHECK(write(attacker->fds[2], &one, sizeof(one)) == sizeof(one) || errno == EAGAIN, "%s",
          strerror(errno));
}

static void set_tail(struct attacker *attacker, uint64_t tail)
{
    atomic_store(&attacker->lane.line->tail, tail);
    ring_doorbell(attacker);
}

/* A message at @at (bytes from the start, not wrapping).  Return: where the next begins. */
static uint64_t write_message(struct attacker *attacker, uint64_t at, uint32_t kind, uint32_t len,
                              const void *body)
{
    const struct message message = { .len = len, .kind = kind };

    memcpy(attacker->lane.data + at, &message, sizeof(message));
    memcpy(attacker->lane.data + at + sizeof(message), body, len);
    return at + sizeof(message) + (len + 7) / 8 * 8;
}

/* Ask for something over control: the server has then taken what was in the lane before.
 * Return: the status of the newest end of an operation, as the server keeps it, *ret_op its
 * number; PMIX_ERR_LOST_CONNECTION when the connection has ended instead. */
static pmix_status_t newest_result(struct attacker *attacker, uint32_t *ret_op)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    static uint32_t id = 1000;
    struct sx_frame frame;
    pmix_status_t status = PMIX_SUCCESS;

    attack_request(attacker->socket_fd, SX_MSG_RESULTS_GET, ++id, NULL, 0);
    if (sx_frame_receive(attacker->socket_fd, buffer, &frame, UINT64_MAX) != PMIX_SUCCESS) {
        return PMIX_ERR_LOST_CONNECTION;
    }
    CHECK(frame.header.kind == SX_MSG_REPLY && frame.header.id == id, "kind %u id %u",
          frame.header.kind, frame.header.id);
    const struct {
        struct sx_reply reply;
        uint32_t count, reserved;
        struct sx_result results[];
    } *const body = frame.body;

    *ret_op = 0;
    if (body->count > 0) {
        *ret_op = body->results[body->count - 1].op;
        status = body->results[body->count - 1].status;
    }
    sx_frame_release(&frame);
    return status;
}

static void dropped(struct attacker *attacker)
{
    attack_expect_end(attacker->socket_fd);
    attacker->socket_fd = -1;
    attack_detach(attacker);
    attack_end();
}

/* ---- words ---------------------------------------------------------------------------------- */

static void tails(void)
{
    static const uint64_t bad[] = { 4,
                                    12,
                                    7,
                                    SX_LANE_BYTES + 8,
                                    2 * SX_LANE_BYTES,
                                    UINT64_MAX,
                                    UINT64_MAX - 7,
                                    UINT64_C(1) << 63,
                                    UINT64_C(1) << 32 };
    struct attacker attacker;
    uint32_t op;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        attack_begin(1, "a tail at %#llx", (unsigned long long)bad[i]);
        attack_attach(&attacker);
        set_tail(&attacker, bad[i]);
        dropped(&attacker);
    }
    attack_begin(1, "a tail that goes back");
    attack_attach(&attacker);
    set_tail(&attacker, write_message(&attacker, 0, SX_LANE_COMMIT_END, 0, ""));
    CHECK_STATUS(newest_result(&attacker, &op), PMIX_SUCCESS);
    set_tail(&attacker, 0);
    dropped(&attacker);
}

static void lengths(void)
{
    static const uint32_t bad[] = {
        SX_LANE_MESSAGE_MAX + 1, SX_LANE_MESSAGE_MAX + 8, 17, UINT32_MAX,
        UINT32_MAX - 7,          UINT32_C(1) << 31
    };
    struct attacker attacker;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct message message = { .len = bad[i], .kind = SX_LANE_CURSOR };

        attack_begin(1, "a message of %u bytes in a lane of 24", bad[i]);
        attack_attach(&attacker);
        memcpy(attacker.lane.data, &message, sizeof(message));
        set_tail(&attacker, 24);
        dropped(&attacker);
    }
}

static void fill_random(void *bytes, size_t size, uint64_t *seed)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)fault_random(seed);
    }
}

static void random_bytes(void)
{
    static uint8_t body[4096];
    struct attacker attacker;
    uint64_t seed = SEED;

    for (int i = 0; i < 24; i++) {
        attack_begin(1, "a lane full of random bytes, number %d", i);
        attack_attach(&attacker);
        fill_random(attacker.lane.data, SX_LANE_BYTES, &seed);
        set_tail(&attacker, i % 2 == 0 ? SX_LANE_BYTES : 8 + 8 * (fault_random(&seed) % 8000));
        dropped(&attacker);
    }
    for (uint32_t kind = 0; kind < 12; kind++) {
        const uint32_t size = 1 + (uint32_t)(fault_random(&seed) % sizeof(body));

        attack_begin(ATTACK_LINES_ANY, "a message of kind %u with %u random bytes", kind, size);
        attack_attach(&attacker);
        fill_random(body, size, &seed);
        set_tail(&attacker, write_message(&attacker, 0, kind, size, body));
        uint32_t op;
        const pmix_status_t rc = newest_result(&attacker, &op);

        /* The end of a commit and a cursor say nothing that could be wrong. */
        CHECK(rc == PMIX_ERR_LOST_CONNECTION ||
                  (rc == PMIX_SUCCESS && (kind == SX_LANE_COMMIT_END || kind == SX_LANE_CURSOR)),
              "kind %u: %d", kind, rc);
        attack_detach(&attacker);
        attack_end();
    }
}

/* ---- arrivals ------------------------------------------------------------------------------- */

struct arrival {
    struct sx_lane_arrive arrive;
    struct {
        uint32_t rank, nspace_len;
        char nspace[16];
    } procs[2];
};
static_assert(sizeof(struct arrival) == 64, "as it travels");

static void arrival_make(struct arrival *arrival, uint32_t count)
{
    *arrival = (struct arrival){
        .arrive = { .kind = SX_COLLECTIVE_FENCE, .op = 77, .proc_count = count },
        .procs = { { .rank = count == 2 ? 0 : ATTACK_RANK, .nspace_len = strlen(ATTACK_JOB) },
                   { .rank = ATTACK_RANK, .nspace_len = strlen(ATTACK_JOB) } },
    };
    memcpy(arrival->procs[0].nspace, ATTACK_JOB, strlen(ATTACK_JOB));
    memcpy(arrival->procs[1].nspace, ATTACK_JOB, strlen(ATTACK_JOB));
}

static void arrival_dropped(const char *name, const struct arrival *arrival, uint32_t size)
{
    struct attacker attacker;

    attack_begin(1, "%s", name);
    attack_attach(&attacker);
    set_tail(&attacker, write_message(&attacker, 0, SX_LANE_ARRIVE, size, arrival));
    dropped(&attacker);
}

/* The server logs @lines more. */
static void arrival_answered_notifying(const char *name, const struct arrival *arrival,
                                       uint32_t size, pmix_status_t status, uint32_t lines)
{
    struct attacker attacker;
    uint32_t op;

    attack_begin(lines, "%s", name);
    attack_attach(&attacker);
    set_tail(&attacker, write_message(&attacker, 0, SX_LANE_ARRIVE, size, arrival));
    const pmix_status_t rc = newest_result(&attacker, &op);

    CHECK(rc == status && op == 77, "%s: the answer to %u is %d (%s)", name, op, rc,
          PMIx_Error_string(rc));
    attack_detach(&attacker);
    attack_end();
}

static void arrival_answered(const char *name, const struct arrival *arrival, uint32_t size,
                             pmix_status_t status)
{
    arrival_answered_notifying(name, arrival, size, status, 0);
}

static void arrivals_of_nonsense(void)
{
    const uint32_t one = offsetof(struct arrival, procs[1]);
    struct arrival arrival;

    arrival_make(&arrival, UINT32_C(1) << 31);
    arrival_dropped("an arrival of 2^31 processes", &arrival, sizeof(arrival));
    arrival_make(&arrival, UINT32_MAX);
    arrival_dropped("an arrival of 2^32 - 1 processes", &arrival, sizeof(arrival));
    arrival_make(&arrival, 3);
    arrival_dropped("an arrival of three, two of which are there", &arrival, sizeof(arrival));
    arrival_make(&arrival, 0);
    arrival_dropped("an arrival of nobody", &arrival, sizeof(arrival));
    arrival_make(&arrival, 1);
    arrival.procs[0].nspace_len = 0;
    arrival_dropped("a process without a namespace", &arrival, one);
    arrival.procs[0].nspace_len = PMIX_MAX_NSLEN + 1;
    arrival_dropped("a process with too long a namespace", &arrival, one);
    arrival.procs[0].nspace_len = UINT32_MAX;
    arrival_dropped("a process with a namespace of 4 GiB", &arrival, one);
    arrival.procs[0].nspace_len = UINT32_MAX - 6;
    arrival_dropped("a namespace whose padding overflows", &arrival, one);
    arrival.procs[0].nspace_len = 16;
    arrival_dropped("a namespace with a NUL in it", &arrival, one);
    arrival_make(&arrival, 1);
    arrival.arrive.info_size = UINT32_MAX;
    arrival_dropped("infos that end past the message", &arrival, sizeof(arrival));
    arrival.arrive.info_size = sizeof(arrival) - one;
    memset(&arrival.procs[1], 0xff, sizeof(arrival.procs[1]));
    arrival_dropped("infos of ones", &arrival, sizeof(arrival));
    for (uint32_t size = 0; size < sizeof(arrival.arrive); size += 5) {
        arrival_dropped("an arrival that is cut", &arrival, size);
    }
}

static void arrivals_refused(void)
{
    const uint32_t one = offsetof(struct arrival, procs[1]);
    struct arrival arrival;

    arrival_make(&arrival, 1);
    memcpy(arrival.procs[0].nspace, "xttacked.job", 12);
    arrival_answered("an unknown namespace", &arrival, one, PMIX_ERR_NOT_A_MEMBER);
    arrival_make(&arrival, 1);
    arrival.procs[0].rank = 0;
    arrival_answered("a fence of others", &arrival, one, PMIX_ERR_NOT_A_MEMBER);
    arrival.procs[0].rank = UINT32_MAX;
    arrival_answered_notifying("a fence of rank 2^32 - 1", &arrival, one, PMIX_ERR_NOT_FOUND, 1);
    arrival_make(&arrival, 1);
    arrival.arrive.kind = 77;
    arrival_answered("an operation of kind 77", &arrival, one, PMIX_ERR_NOT_SUPPORTED);
    arrival.arrive.kind = SX_COLLECTIVE_GROUP_CONSTRUCT;
    arrival_answered("a group without a name", &arrival, one, PMIX_ERR_BAD_PARAM);
    arrival.arrive.kind = SX_COLLECTIVE_GROUP_DESTRUCT;
    arrival_answered("the end of a group that is none", &arrival, one, PMIX_ERR_NOT_FOUND);
    arrival_make(&arrival, 2);
    arrival.procs[0] = arrival.procs[1];
    arrival_dropped("a fence with itself, twice", &arrival, sizeof(arrival));
    arrival_make(&arrival, 2);
    arrival.procs[1].rank = 0;
    arrival.procs[0].rank = ATTACK_RANK;
    arrival_dropped("a fence of processes in disorder", &arrival, sizeof(arrival));
    arrival.arrive.kind = SX_COLLECTIVE_GROUP_CONSTRUCT; /* where the order means something */
    arrival_answered("a group without a name, in disorder", &arrival, sizeof(arrival),
                     PMIX_ERR_BAD_PARAM);
    arrival_make(&arrival, 1);
    arrival_answered("a fence with itself", &arrival, one, PMIX_SUCCESS);
}

/* Rank 0 of the job never arrives, so all of these would wait for ever. */
static void arrivals_without_end(void)
{
    struct attacker attacker;
    struct arrival arrival;
    pmix_status_t rc = PMIX_SUCCESS;
    uint32_t op = 0, made = 0;
    uint64_t at = 0;

    attack_begin(1, "fences that never end, one after the other");
    attack_attach(&attacker);
    arrival_make(&arrival, 2);
    for (; made < 100000 && rc != PMIX_ERR_OUT_OF_RESOURCE; made++) {
        arrival.arrive.op = made + 1;
        const uint64_t next = write_message(&attacker, at % SX_LANE_BYTES, SX_LANE_ARRIVE,
                                            sizeof(arrival), &arrival);
        at += next - at % SX_LANE_BYTES;
        /* So that no message wraps: the rest are cursors, and a commit of nothing if that is left. */
        while (at % SX_LANE_BYTES > SX_LANE_BYTES - 2 * sizeof(arrival)) {
            const bool is_last = SX_LANE_BYTES - at % SX_LANE_BYTES == sizeof(uint64_t);
            const uint32_t size = is_last ? 0 : sizeof(struct sx_lane_cursor);

            (void)write_message(&attacker, at % SX_LANE_BYTES,
                                is_last ? SX_LANE_COMMIT_END : SX_LANE_CURSOR, size, &arrival);
            at += sizeof(uint64_t) + size;
        }
        set_tail(&attacker, at);
        rc = newest_result(&attacker, &op);
        CHECK(rc != PMIX_ERR_LOST_CONNECTION, "dropped after %u", made);
    }
    CHECK(rc == PMIX_ERR_OUT_OF_RESOURCE && op == made, "%u fences wait: nothing bounds them",
          made);
    attack_detach(&attacker);
    attack_end();
}

static int procs_order(const void *a, const void *b)
{
    return sx_proc_order(a, b);
}

#define ANY_PROCS_MAX 24u
#define ANY_BYTES_MAX 8192u

/* Processes of this job, of one that lives beside it and of none, in order and each once.  Return:
 * how many. */
static size_t any_procs(pmix_proc_t procs[ANY_PROCS_MAX], uint64_t *seed)
{
    static const char *const nspaces[] = { ATTACK_JOB, ATTACK_JOB, ATTACK_JOB, "good.job", "none" };
    static const uint32_t ranks[] = { 0,
                                      ATTACK_RANK,
                                      2,
                                      PMIX_RANK_WILDCARD,
                                      PMIX_RANK_UNDEF,
                                      PMIX_RANK_LOCAL_NODE,
                                      PMIX_RANK_INVALID,
                                      UINT32_MAX };
    const size_t count = 1 + fault_random(seed) % ANY_PROCS_MAX;
    size_t unlike = 0;

    for (size_t i = 0; i < count; i++) {
        PMIx_Load_procid(&procs[i], nspaces[fault_random(seed) % SX_COUNT(nspaces)],
                         ranks[fault_random(seed) % SX_COUNT(ranks)]);
    }
    qsort(procs, count, sizeof(procs[0]), procs_order);
    for (size_t i = 0; i < count; i++) {
        if (unlike == 0 || procs_order(&procs[unlike - 1], &procs[i]) != 0) {
            procs[unlike++] = procs[i];
        }
    }
    return unlike;
}

/* Of any kind, also of those that there are not.  Return: its bytes at @at. */
static size_t any_arrival(uint8_t *at, uint32_t op, uint64_t *seed)
{
    const struct sx_lane_arrive head = { .kind = (uint8_t)(fault_random(seed) % 8),
                                         .open = (uint16_t)fault_random(seed),
                                         .op = op };
    pmix_proc_t procs[ANY_PROCS_MAX];
    pmix_info_t infos[4];
    char text[256] = "";
    size_t size;

    memset(text, 'x', fault_random(seed) % sizeof(text));
    PMIx_Info_load(&infos[0], PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    PMIx_Info_load(&infos[1], "a.key", text, PMIX_STRING);
    PMIx_Info_load(&infos[2], text, &op, PMIX_UINT32);
    PMIx_Info_load(&infos[3], PMIX_TIMEOUT, &op, PMIX_UINT32);
    struct sx_draft draft = {
        .signature = &sx_arrive_body,
        .head = &head,
        .nspace = "",
        .parts = { [SX_ARRIVE_PROCS] = { procs, any_procs(procs, seed) },
                   [SX_ARRIVE_INFOS] = { infos, fault_random(seed) % (SX_COUNT(infos) + 1) } },
    };

    CHECK_STATUS(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    CHECK(size <= ANY_BYTES_MAX, "%zu bytes", size);
    CHECK_STATUS(sx_body_write(&draft, at), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(infos); i++) {
        PMIx_Info_destruct(&infos[i]);
    }
    return size;
}

/* One after the other, each in a connection that there is: @flips says how many of a hundred have
 * a bit that is wrong.  Return: how many of them have ended it. */
static unsigned arrivals_of_any_kind(uint32_t count, uint64_t flips)
{
    _Alignas(8) static uint8_t body[ANY_BYTES_MAX];
    struct iovec iov = { .iov_base = body };
    pmix_status_t rc = PMIX_ERR_LOST_CONNECTION;
    uint64_t seed = SEED + 2;
    struct attacker attacker;
    unsigned dropped_count = 0;
    uint32_t op;

    for (uint32_t i = 1; i <= count; i++) {
        if (rc == PMIX_ERR_LOST_CONNECTION) {
            attack_begin(ATTACK_LINES_ANY, "any arrival, from number %u on", i);
            attack_attach(&attacker);
        }
        iov.iov_len = any_arrival(body, i, &seed);
        if (fault_random(&seed) % 100 < flips) {
            body[fault_random(&seed) % iov.iov_len] ^= (uint8_t)(1u << fault_random(&seed) % 8);
        }
        CHECK_STATUS(sx_lane_append(&attacker.lane, SX_LANE_ARRIVE, &iov, 1), PMIX_SUCCESS);
        rc = newest_result(&attacker, &op);
        dropped_count += rc == PMIX_ERR_LOST_CONNECTION;
        if (rc == PMIX_ERR_LOST_CONNECTION || i == count) {
            attack_detach(&attacker);
            attack_end();
        }
    }
    return dropped_count;
}

static void arrivals_at_random(void)
{
    CHECK(arrivals_of_any_kind(6000, 0) == 0, "what is in order has ended a connection");
    CHECK(arrivals_of_any_kind(1000, 15) > 10, "what is out of order has ended none");
}

/* The others of this fence never come, and its only member that did is gone. */
static void arrivals_of_the_dead(void)
{
    struct attacker attacker;
    struct arrival arrival;
    uint32_t op;

    arrival_make(&arrival, 2);
    for (int i = 0; i < 10; i++) {
        attack_begin(0, "a fence of a client that leaves, number %d", i);
        attack_attach(&attacker);
        set_tail(&attacker, write_message(&attacker, 0, SX_LANE_ARRIVE, sizeof(arrival), &arrival));
        CHECK_STATUS(newest_result(&attacker, &op), PMIX_SUCCESS);
        CHECK(op == 0, "it has ended");
        attack_detach(&attacker);
        attack_end();
    }
}

#define HELD_KIB (48u << 10)

/* Fences that wait, as many as there may be, each with all these processes and infos: what is kept
 * of them is bounded. */
static void fences_held(const char *name, struct sx_part_source procs, struct sx_part_source infos)
{
    const uint64_t before = fault_memory_kib(getppid());
    struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE };
    struct sx_draft draft = { .signature = &sx_arrive_body,
                              .head = &head,
                              .nspace = "",
                              .parts = { [SX_ARRIVE_PROCS] = procs, [SX_ARRIVE_INFOS] = infos } };
    pmix_status_t rc = PMIX_SUCCESS;
    struct attacker attacker;
    uint32_t op = 0;
    size_t size;

    attack_begin(ATTACK_LINES_ANY, "fences with %s, one after the other", name); /* told once */
    attack_attach(&attacker);
    CHECK_STATUS(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    uint8_t *const body = malloc(size);

    CHECK(body != NULL, "no memory");
    while (rc == PMIX_SUCCESS) {
        head.op++;
        CHECK_STATUS(sx_body_write(&draft, body), PMIX_SUCCESS);
        attack_large(&attacker, SX_MSG_ARRIVE_BULK, head.op, body, size);
        (void)attack_expect_reply(attacker.socket_fd, head.op, PMIX_SUCCESS);
        rc = newest_result(&attacker, &op);
    }
    CHECK(rc == PMIX_ERR_OUT_OF_RESOURCE && op == head.op, "the answer to %u is %d", op, rc);
    const uint64_t after = fault_memory_kib(getppid());

    fault_say("%u fences with %s: %llu KiB before, %llu KiB now", op - 1, name,
              (unsigned long long)before, (unsigned long long)after);
    CHECK(after < before + HELD_KIB + fault_memory_slack_kib(),
          "nothing bounds what %u fences with %s hold", op - 1, name);
    free(body);
    attack_detach(&attacker);
    attack_end();
}

static int role_held(const char *arg)
{
    enum { INFOS = 112 }; /* that a fence may just have */
    static pmix_proc_t procs[SX_PROCS_MAX];
    static pmix_info_t infos[INFOS];
    char key[16];

    for (uint32_t i = 0; i < SX_PROCS_MAX; i++) {
        PMIx_Load_procid(&procs[i], i < 2 ? ATTACK_JOB : "later", i); /* which is waited for */
    }
    for (int i = 0; i < INFOS; i++) {
        snprintf(key, sizeof(key), "%d", i);
        PMIx_Info_load(&infos[i], key, &i, PMIX_INT);
    }
    fences_held("little", (struct sx_part_source){ procs, 2 }, (struct sx_part_source){ NULL, 0 });
    fences_held("many infos", (struct sx_part_source){ procs, 2 },
                (struct sx_part_source){ infos, INFOS });
    fences_held("many processes", (struct sx_part_source){ procs, SX_PROCS_MAX },
                (struct sx_part_source){ NULL, 0 });
    return 0;
}

static void good_bye(struct attacker *attacker)
{
    attack_request(attacker->socket_fd, SX_MSG_FINALIZE, 5, NULL, 0);
    (void)attack_expect_reply(attacker->socket_fd, 5, PMIX_SUCCESS);
}

/* Whoever has said good-bye has left its lane: what it writes there later releases nobody. */
static void arrivals_after_the_good_bye(void)
{
    struct attacker gone, waiting;
    struct arrival arrival;
    pmix_status_t rc = PMIX_SUCCESS;
    uint32_t op;

    attack_begin(0, "an arrival after the good-bye");
    attack_attach(&gone);
    CHECK_STATUS(attack_attach_as(&waiting, 0), PMIX_SUCCESS);
    good_bye(&gone);
    arrival_make(&arrival, 2);
    set_tail(&waiting, write_message(&waiting, 0, SX_LANE_ARRIVE, sizeof(arrival), &arrival));
    set_tail(&gone, write_message(&gone, 0, SX_LANE_ARRIVE, sizeof(arrival), &arrival));
    for (int turns = 0; turns < 3; turns++) { /* all lanes are looked at behind each answer */
        rc = newest_result(&waiting, &op);
    }
    CHECK(op == 0 || rc != PMIX_SUCCESS, "the fence was released by who had gone");
    CHECK(atomic_load(&gone.board.slots[gone.slot].lane_head) == 0, "its lane was read");
    good_bye(&waiting);
    attack_detach(&waiting);
    attack_detach(&gone);
    attack_end();
}

/* ---- mutations ------------------------------------------------------------------------------ */

struct put {
    struct sx_lane_put put;
    char key[8];
    char value[16];
};

static void mutations(void)
{
    const struct put good = {
        .put = { .cell = { .type = PMIX_STRING, .len = 16 }, .key_len = 8, .scope = PMIX_GLOBAL },
        .key = "the.key",
        .value = "fifteen letters",
    };
    uint64_t seed = SEED + 1;
    struct attacker attacker;
    struct arrival arrival;
    unsigned dropped_count = 0;
    uint32_t op;

    for (int round = 0; round < 60; round++) {
        uint64_t at = 0;

        attack_begin(ATTACK_LINES_ANY, "mutated messages, round %d", round);
        attack_attach(&attacker);
        for (int i = 0; i < 8; i++) {
            struct put put = good;
            uint8_t *bytes = (uint8_t *)&put;
            size_t size = sizeof(put);

            put.put.key_len = 7;
            if (fault_random(&seed) % 2 == 0) {
                arrival_make(&arrival, 2);
                bytes = (uint8_t *)&arrival;
                size = sizeof(arrival);
            }
            for (uint64_t flips = fault_random(&seed) % 3; flips > 0; flips--) {
                bytes[fault_random(&seed) % size] ^= (uint8_t)(1u << fault_random(&seed) % 8);
            }
            at = write_message(&attacker, at,
                               bytes == (uint8_t *)&put ? SX_LANE_PUT : SX_LANE_ARRIVE,
                               (uint32_t)size, bytes);
        }
        set_tail(&attacker, at);
        dropped_count += newest_result(&attacker, &op) == PMIX_ERR_LOST_CONNECTION;
        attack_detach(&attacker);
        attack_end();
    }
    CHECK(dropped_count > 0 && dropped_count < 60, "%u of 60 rounds were dropped: no mixture",
          dropped_count);
}

/* A client that goes on after one of them could fill the host's log. */
static void qualified_value_of_nonsense(void)
{
    const struct {
        struct sx_lane_put put;
        char key[(sizeof(PMIX_QUALIFIED_VALUE) - 1 + 7) / 8 * 8];
        char value[16];
    } no_array = {
        .put = { .cell = { .type = PMIX_STRING, .len = 16 },
                 .key_len = sizeof(PMIX_QUALIFIED_VALUE) - 1,
                 .scope = PMIX_GLOBAL },
        .key = PMIX_QUALIFIED_VALUE,
        .value = "fifteen letters",
    };
    struct attacker attacker;
    uint64_t at = 0;

    attack_begin(2, "qualified values that are none");
    attack_attach(&attacker);
    for (int i = 0; i < 200; i++) {
        at = write_message(&attacker, at, SX_LANE_PUT, sizeof(no_array), &no_array);
    }
    set_tail(&attacker, at);
    dropped(&attacker);
}

/* ---- races ---------------------------------------------------------------------------------- */

struct race {
    struct attacker *attacker;
    _Atomic bool stop;
    uint64_t seed;
};

static void *race_data(void *arg)
{
    struct race *race = arg;

    while (!atomic_load(&race->stop)) {
        const uint64_t at = fault_random(&race->seed) % (SX_LANE_BYTES / 8) * 8;
        const uint64_t word = fault_random(&race->seed);

        memcpy(race->attacker->lane.data + at, &word, sizeof(word));
    }
    return NULL;
}

/* A lane whose bytes change while they are read. */
static void rewritten_while_read(void)
{
    struct attacker attacker;
    pthread_t thread;
    uint32_t op;

    for (int i = 0; i < 10; i++) {
        struct race race = { .attacker = &attacker, .seed = SEED + (uint64_t)i };
        struct arrival arrival;
        uint64_t at = 0;

        attack_begin(ATTACK_LINES_ANY, "a lane that changes while it is read, number %d", i);
        attack_attach(&attacker);
        arrival_make(&arrival, 1);
        while (at < SX_LANE_BYTES - 100) {
            at = write_message(&attacker, at, SX_LANE_ARRIVE, sizeof(arrival), &arrival);
        }
        CHECK(pthread_create(&thread, NULL, race_data, &race) == 0, "no thread");
        set_tail(&attacker, at);
        (void)newest_result(&attacker, &op);
        atomic_store(&race.stop, true);
        CHECK(pthread_join(thread, NULL) == 0, "join");
        attack_detach(&attacker);
        attack_end();
    }
}

static void *race_doorbell(void *arg)
{
    struct race *race = arg;
    uint64_t count;
    const struct iovec iov = { &count, sizeof(count) };

    /* Taken away again from whoever was woken by it. */
    while (!atomic_load(&race->stop)) {
        (void)!preadv2(race->attacker->fds[2], &iov, 1, -1, RWF_NOWAIT);
    }
    return NULL;
}

/* The doorbell's flags are shared by both sides: made blocking, it must not stop the server. */
static void doorbell_that_blocks(void)
{
    struct attacker attacker;
    struct race race = { .attacker = &attacker, .seed = SEED };
    const uint64_t one = 1;
    pthread_t thread;
    uint32_t op;

    attack_begin(0, "a doorbell that blocks");
    attack_attach(&attacker);
    const int flags = fcntl(attacker.fds[2], F_GETFL);

    CHECK(fcntl(attacker.fds[2], F_SETFL, flags & ~O_NONBLOCK) == 0, "%s", strerror(errno));
    CHECK(pthread_create(&thread, NULL, race_doorbell, &race) == 0, "no thread");
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 50; i++) {
            CHECK(write(attacker.fds[2], &one, sizeof(one)) == sizeof(one), "%s", strerror(errno));
        }
        CHECK_STATUS(newest_result(&attacker, &op), PMIX_SUCCESS);
    }
    atomic_store(&race.stop, true);
    CHECK(pthread_join(thread, NULL) == 0, "join");
    attack_detach(&attacker);
    attack_end();
}

/* ---- memory and life word ------------------------------------------------------------------- */

static void holes_and_life(void)
{
    static const uint32_t words[] = { 0x40000000, 0xffffffff, 1, 0x80000000, 0x7fffffff };
    struct attacker attacker;
    uint32_t op;

    attack_begin(1, "a lane with its memory taken away");
    attack_attach(&attacker);
    set_tail(&attacker, write_message(&attacker, 0, SX_LANE_COMMIT_END, 0, ""));
    CHECK_STATUS(newest_result(&attacker, &op), PMIX_SUCCESS);
    CHECK(fallocate(attacker.fds[1], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    SX_LANE_DATA_OFF + SX_LANE_BYTES) == 0,
          "%s", strerror(errno));
    set_tail(&attacker, 64);
    dropped(&attacker);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        attack_begin(0, "a life word of %#x", words[i]);
        attack_attach(&attacker);
        atomic_store(&attacker.lane.line->life_word, (uint32_t)getpid());
        set_tail(&attacker, write_message(&attacker, 0, SX_LANE_COMMIT_END, 0, ""));
        CHECK_STATUS(newest_result(&attacker, &op), PMIX_SUCCESS);
        atomic_store(&attacker.lane.line->life_word, words[i]);
        sx_life_notify(&attacker.lane.line->life_word);
        for (int more = 0; more < 20; more++) {
            CHECK_STATUS(newest_result(&attacker, &op), PMIX_SUCCESS);
        }
        atomic_store(&attacker.lane.line->life_word, 0);
        attack_detach(&attacker);
        attack_end();
    }
}

/* ---- roles and cases ------------------------------------------------------------------------ */

static int role_words(const char *arg)
{
    tails();
    lengths();
    random_bytes();
    holes_and_life();
    return 0;
}

static int role_arrivals(const char *arg)
{
    arrivals_of_nonsense();
    arrivals_refused();
    arrivals_without_end();
    arrivals_of_the_dead();
    arrivals_after_the_good_bye();
    arrivals_at_random();
    return 0;
}

static int role_mutations(const char *arg)
{
    mutations();
    qualified_value_of_nonsense();
    return 0;
}

static int role_races(const char *arg)
{
    rewritten_while_read();
    doorbell_that_blocks();
    return 0;
}

static pmix_status_t fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    return PMIX_ERR_NOT_SUPPORTED; /* never asked: somebody here never comes */
}

static int case_held(void)
{
    fault_module.fence_nb = fence_nb;
    attack_judge("held");
    return 0;
}

static const struct fault_case cases[] = {
    { "words", attack_case },     { "arrivals", attack_case }, { "held", case_held },
    { "mutations", attack_case }, { "races", attack_case },
};

static const struct fault_role roles[] = {
    { "words", role_words },         { "arrivals", role_arrivals }, { "held", role_held },
    { "mutations", role_mutations }, { "races", role_races },
};

FAULT_MAIN(cases, roles)
