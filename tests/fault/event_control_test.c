/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_control_test.c - registrations and replay requests as no client of ours sends them, or as
 * many as none would: they cost their own client, and what a server holds for it is bounded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "base/value/flat.h"

#define CODE (PMIX_EXTERNAL_ERR_BASE - 11)
#define CODES_PER_CLIENT 4096u /* server/event/event_codes.h */

struct registration {
    struct sx_event_register head;
    int32_t codes[16];
};

static void registration_make(struct registration *registration, uint32_t code_count)
{
    *registration = (struct registration){ .head = { .code_count = code_count } };
    for (int i = 0; i < 16; i++) {
        registration->codes[i] = CODE - i;
    }
}

static void dropped(struct attacker *attacker)
{
    attack_expect_end(attacker->socket_fd);
    attacker->socket_fd = -1;
    attack_detach(attacker);
    attack_end();
}

/* ---- garbage -------------------------------------------------------------------------------- */

static void garbage(uint16_t kind, const char *name)
{
    static const uint32_t counts[] = { 17, UINT32_C(1) << 30, UINT32_C(1) << 31, UINT32_MAX };
    struct registration registration;
    struct attacker attacker;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        registration_make(&registration, counts[i]);
        attack_begin(1, "%s of %u codes, 16 of which are there", name, counts[i]);
        attack_attach(&attacker);
        attack_request(attacker.socket_fd, kind, 7, &registration, sizeof(registration));
        dropped(&attacker);
    }
    for (size_t size = 0; size < sizeof(registration.head); size += 5) {
        registration_make(&registration, 0);
        attack_begin(1, "%s of %zu bytes", name, size);
        attack_attach(&attacker);
        attack_request(attacker.socket_fd, kind, 7, &registration, size);
        dropped(&attacker);
    }
}

static void replays(void)
{
    static const uint64_t absurd[][2] = {
        { 0, 0 },
        { 0, UINT64_MAX },
        { 1, UINT64_MAX },
        { UINT64_MAX, UINT64_MAX },
        { UINT64_MAX, 0 },
        { 10, 2 },
        { UINT64_C(1) << 63, UINT64_MAX },
        { 2, 1 },
    };
    struct attacker attacker;
    uint8_t bytes[24] = { 0 };

    for (size_t i = 0; i < sizeof(absurd) / sizeof(absurd[0]); i++) {
        attack_begin(0, "a replay from %llu to %llu", (unsigned long long)absurd[i][0],
                     (unsigned long long)absurd[i][1]);
        attack_attach(&attacker);
        attack_request(attacker.socket_fd, SX_MSG_EVENT_REPLAY, 9, absurd[i], 16);
        CHECK(attack_expect_reply(attacker.socket_fd, 9, PMIX_SUCCESS) >=
                  sizeof(struct sx_event_list),
              "an answer without a list");
        attack_detach(&attacker);
        attack_end();
    }
    for (size_t size = 0; size <= sizeof(bytes); size += 8) {
        attack_begin(size != 16, "a replay request of %zu bytes", size);
        attack_attach(&attacker);
        attack_request(attacker.socket_fd, SX_MSG_EVENT_REPLAY, 9, bytes, size);
        if (size != 16) {
            dropped(&attacker);
        } else {
            (void)attack_expect_reply(attacker.socket_fd, 9, PMIX_SUCCESS);
            attack_detach(&attacker);
            attack_end();
        }
    }
}

static int role_garbage(const char *arg)
{
    garbage(SX_MSG_EVENT_REGISTER, "a registration");
    garbage(SX_MSG_EVENT_DEREGISTER, "a deregistration");
    replays();
    return 0;
}

/* ---- masses --------------------------------------------------------------------------------- */

/* @count codes from the one numbered @first on, as many in each request as one may have. */
static void register_many(struct attacker *attacker, uint16_t kind, uint32_t first, uint32_t count,
                          pmix_status_t status)
{
    static uint32_t id = 100;
    struct {
        struct sx_event_register head;
        int32_t codes[SX_REGISTER_CODES_MAX];
    } body;

    while (count > 0) {
        const uint32_t now = count < SX_REGISTER_CODES_MAX ? count : SX_REGISTER_CODES_MAX;

        body.head = (struct sx_event_register){ .code_count = now };
        for (uint32_t i = 0; i < now; i++) {
            body.codes[i] = CODE - (int32_t)first++;
        }
        attack_request(attacker->socket_fd, kind, ++id, &body,
                       sizeof(body.head) + (now + 1) / 2 * 8);
        (void)attack_expect_reply(attacker->socket_fd, id, status);
        count -= now;
    }
}

static int role_masses(const char *arg)
{
    struct attacker attacker;
    struct registration registration;

    attack_begin(4, "registrations of more codes than a client may have"); /* two each time */
    attack_attach(&attacker);
    /* Nothing of a refused one is left: as many as a client may have fit again. */
    for (int i = 0; i < 2; i++) {
        register_many(&attacker, SX_MSG_EVENT_REGISTER, 0, CODES_PER_CLIENT, PMIX_SUCCESS);
        register_many(&attacker, SX_MSG_EVENT_REGISTER, CODES_PER_CLIENT, 1,
                      PMIX_ERR_OUT_OF_RESOURCE);
        register_many(&attacker, SX_MSG_EVENT_REGISTER, CODES_PER_CLIENT - 1, 2,
                      PMIX_ERR_OUT_OF_RESOURCE);
        register_many(&attacker, SX_MSG_EVENT_DEREGISTER, 0, 2 * CODES_PER_CLIENT, PMIX_SUCCESS);
    }
    attack_detach(&attacker);
    attack_end();

    attack_begin(0, "a storm of registrations");
    attack_attach(&attacker);
    for (uint32_t i = 1; i <= 5000; i++) {
        registration_make(&registration, 16);
        attack_request(attacker.socket_fd,
                       i % 2 == 1 ? SX_MSG_EVENT_REGISTER : SX_MSG_EVENT_DEREGISTER, i,
                       &registration, sizeof(registration));
        (void)attack_expect_reply(attacker.socket_fd, i, PMIX_SUCCESS);
    }
    attack_detach(&attacker);
    attack_end();
    return 0;
}

/* ---- answers that nobody reads -------------------------------------------------------------- */

#define HISTORY_BYTES (16u << 20)
#define UNREAD_MAX (SX_CHANNEL_UNREAD_MAX + 2 * HISTORY_BYTES)

/* Few large ones: an answer has one of them. */
static void history_fill(struct attacker *attacker)
{
    const size_t payload = SX_EVENT_BYTES_MAX - 4096;
    char *const bytes = calloc(1, payload);
    pmix_byte_object_t object = { .bytes = bytes, .size = payload };
    struct sx_event event = { .code = CODE, .range = PMIX_RANGE_NAMESPACE };
    size_t info_size = 0;
    pmix_info_t info;

    CHECK(bytes != NULL, "no memory");
    CHECK_STATUS(PMIx_Info_load(&info, "payload", &object, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
    CHECK_STATUS(sx_flat_infos_size(&info, 1, &info_size), PMIX_SUCCESS);
    uint8_t *const all = calloc(1, sizeof(event) + info_size);

    CHECK(all != NULL, "no memory");
    event.info_size = (uint32_t)info_size;
    memcpy(all, &event, sizeof(event));
    CHECK_STATUS(sx_flat_infos_encode(&info, 1, all + sizeof(event), info_size), PMIX_SUCCESS);
    for (uint32_t i = 1; i <= 3; i++) {
        attack_large(attacker, SX_MSG_EVENT_BULK, i, all, sizeof(event) + info_size);
        (void)attack_expect_reply(attacker->socket_fd, i, PMIX_SUCCESS); /* the window back */
        (void)attack_expect_reply(attacker->socket_fd, i, PMIX_SUCCESS);
    }
    PMIx_Info_destruct(&info);
    free(all);
    free(bytes);
}

/* More answers than a server may hold for somebody: those that are too many are refused in a few
 * bytes, and once the others have been read there is room again. */
static int role_unread(const char *arg)
{
    enum { REQUESTS = 100 };
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    const struct sx_event_register all = { .upto = UINT64_MAX }; /* a default handler: 4 MiB */
    struct attacker attacker;
    struct sx_frame frame;
    uint64_t bytes = 0;
    unsigned refused = 0;

    attack_begin(ATTACK_LINES_ANY, "kept events that nobody reads");
    attack_attach(&attacker);
    history_fill(&attacker);
    const struct sx_door *const bell = &attacker.board.slots[attacker.slot].bell;
    const uint32_t rung = sx_door_epoch(bell);

    for (uint32_t id = 100; id < 100 + REQUESTS; id++) {
        attack_request(attacker.socket_fd, SX_MSG_EVENT_REGISTER, id, &all, sizeof(all));
    }
    WAIT_FOR(sx_door_epoch(bell) - rung >= REQUESTS, "the answers"); /* one ring each, behind it */
    for (uint32_t id = 100; id < 100 + REQUESTS; id++) {
        CHECK_STATUS(sx_frame_receive(attacker.socket_fd, buffer, &frame, UINT64_MAX),
                     PMIX_SUCCESS);
        CHECK(frame.header.id == id, "id %u", frame.header.id);
        refused += ((const struct sx_reply *)frame.body)->status == PMIX_ERR_OUT_OF_RESOURCE;
        bytes += frame.body_size;
        sx_frame_release(&frame);
    }
    fault_say("%u of %u were refused, %llu MiB given", refused, (unsigned)REQUESTS,
              (unsigned long long)bytes >> 20);
    CHECK(refused > 0 && bytes <= UNREAD_MAX, "%llu MiB of answers waited",
          (unsigned long long)bytes >> 20);
    attack_request(attacker.socket_fd, SX_MSG_EVENT_REGISTER, 999, &all, sizeof(all));
    (void)attack_expect_reply(attacker.socket_fd, 999, PMIX_SUCCESS);
    attack_detach(&attacker);
    attack_end();
    return 0;
}

/* ---- cases ---------------------------------------------------------------------------------- */

static int case_unread(void)
{
    char bytes[32];

    snprintf(bytes, sizeof(bytes), "%u", HISTORY_BYTES);
    setenv("SHMIX_SERVER_CACHE_BYTES", bytes, 1);
    attack_keeps_kib = 2 * HISTORY_BYTES >> 10; /* and what malloc keeps of the last answer */
    attack_judge("unread");
    return 0;
}

static const struct fault_case cases[] = {
    { "garbage", attack_case },
    { "masses", attack_case },
    { "unread", case_unread },
};

static const struct fault_role roles[] = {
    { "garbage", role_garbage },
    { "masses", role_masses },
    { "unread", role_unread },
};

FAULT_MAIN(cases, roles)
