/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_record_test.c - events in a lane and over control as no client of ours writes them: they
 * end their own client's connection, or are refused with one line; whoever listens gets whole
 * events only, under the name of who sent them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack.h"

#define SEED UINT64_C(20260902)
#define CODE (PMIX_EXTERNAL_ERR_BASE - 9)
#define LISTENER 30 /* its number among the words */

/* ---- one event, by hand --------------------------------------------------------------------- */

struct draft {
    struct sx_event *event;
    uint8_t *source, *targets, *affected, *infos; /* where they begin in bytes */
    size_t size;
    _Alignas(8) uint8_t bytes[8192];
};

static uint8_t *put_proc(uint8_t *at, uint32_t rank, const char *nspace)
{
    const uint32_t head[2] = { rank, (uint32_t)strlen(nspace) };

    memset(at, 0, sizeof(head) + (head[1] + 7) / 8 * 8);
    memcpy(at, head, sizeof(head));
    memcpy(at + sizeof(head), nspace, head[1]);
    return at + sizeof(head) + (head[1] + 7) / 8 * 8;
}

/* Good in all its parts, for all processes of this node. */
static void draft_make(struct draft *draft, bool with_infos)
{
    uint8_t *at = draft->bytes + sizeof(struct sx_event);
    pmix_value_t nested = { .type = PMIX_PROC };
    pmix_proc_t proc = { .rank = 3, .nspace = "somebody" };
    pmix_info_t info[2];
    size_t size = 0;

    memset(draft, 0, sizeof(*draft));
    draft->event = (struct sx_event *)(void *)draft->bytes;
    *draft->event = (struct sx_event){ .code = CODE,
                                       .source_rank = ATTACK_RANK,
                                       .range = PMIX_RANGE_LOCAL,
                                       .affected_count = 1,
                                       .source_len = (uint16_t)strlen(ATTACK_JOB) };
    draft->source = at;
    memcpy(at, ATTACK_JOB, strlen(ATTACK_JOB));
    draft->targets = draft->affected = at + 16;
    draft->infos = put_proc(draft->affected, 5, "touched.job");
    if (with_infos) {
        memset(info, 0, sizeof(info));
        snprintf(info[0].key, sizeof(info[0].key), "attack.text");
        info[0].value.type = PMIX_STRING;
        info[0].value.data.string = (char *)(uintptr_t) "fifteen letters";
        snprintf(info[1].key, sizeof(info[1].key), "attack.proc");
        nested.data.proc = &proc;
        info[1].value = nested;
        CHECK_STATUS(sx_flat_infos_size(info, 2, &size), PMIX_SUCCESS);
        CHECK_STATUS(sx_flat_infos_encode(info, 2, draft->infos, size), PMIX_SUCCESS);
        draft->event->info_size = (uint32_t)size;
    }
    draft->size = (size_t)(draft->infos - draft->bytes) + size;
}

static void submit(struct attacker *attacker, const void *bytes, size_t size)
{
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };

    CHECK_STATUS(sx_lane_append(&attacker->lane, SX_LANE_NOTIFY, &iov, 1), PMIX_SUCCESS);
    sx_lane_doorbell(&attacker->lane);
}

/* Ask for something over control: what was in the lane has been taken then.  Return: false when
 * the connection has ended instead. */
static bool still_there(struct attacker *attacker)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    static uint32_t id = 5000;
    struct sx_frame frame;

    attack_request(attacker->socket_fd, SX_MSG_RESULTS_GET, ++id, NULL, 0);
    if (sx_frame_receive(attacker->socket_fd, buffer, &frame, UINT64_MAX) != PMIX_SUCCESS) {
        return false;
    }
    CHECK(frame.header.id == id, "id %u", frame.header.id);
    sx_frame_release(&frame);
    return true;
}

static uint64_t received(void)
{
    return atomic_load(&fault_shared->event_count[LISTENER]);
}

/* ---- one attack an event -------------------------------------------------------------------- */

enum verdict { DROPPED, REFUSED, TAKEN, TAKEN_BY_NOBODY };

static void verdict_is(const char *name, const struct draft *draft, enum verdict verdict)
{
    const uint64_t before = received();
    struct attacker attacker;
    struct draft good;

    attack_begin(verdict == DROPPED || verdict == REFUSED, "%s", name);
    attack_attach(&attacker);
    submit(&attacker, draft->bytes, draft->size);
    const bool there = still_there(&attacker);

    CHECK(there == (verdict != DROPPED), "%s: the connection %s", name,
          there ? "goes on" : "has ended");
    if (there) { /* one more, which everybody hears behind the one in question */
        draft_make(&good, true);
        submit(&attacker, good.bytes, good.size);
        WAIT_FOR(received() >= before + 1 + (verdict == TAKEN), name);
    }
    CHECK(received() == before + there + (verdict == TAKEN), "%s: %llu events were heard", name,
          (unsigned long long)(received() - before));
    attack_detach(&attacker);
    attack_end();
}

static void heads(void)
{
    static const struct {
        const char *name;
        size_t off, size;
        uint64_t value;
        enum verdict verdict;
    } rows[] = {
        { "a range out of the table", offsetof(struct sx_event, range), 1, 9, DROPPED },
        { "a range of 255", offsetof(struct sx_event, range), 1, 255, DROPPED },
        { "the range of one process", offsetof(struct sx_event, range), 1, PMIX_RANGE_PROC_LOCAL,
          DROPPED },
        { "a custom range for nobody", offsetof(struct sx_event, range), 1, PMIX_RANGE_CUSTOM,
          REFUSED },
        { "a source past the message", offsetof(struct sx_event, source_len), 2, 0xffff, DROPPED },
        { "a source as long as the message", offsetof(struct sx_event, source_len), 2, 512,
          DROPPED },
        { "2^32 - 1 targets", offsetof(struct sx_event, target_count), 4, UINT32_MAX, DROPPED },
        { "2^31 targets", offsetof(struct sx_event, target_count), 4, UINT32_C(1) << 31, DROPPED },
        { "three targets where none are", offsetof(struct sx_event, target_count), 4, 3, DROPPED },
        { "2^32 - 1 affected", offsetof(struct sx_event, affected_count), 4, UINT32_MAX, DROPPED },
        { "two affected where one is", offsetof(struct sx_event, affected_count), 4, 2, DROPPED },
        { "infos past the message", offsetof(struct sx_event, info_size), 4, 4096, DROPPED },
        { "infos of 4 GiB", offsetof(struct sx_event, info_size), 4, UINT32_MAX, DROPPED },
        { "infos cut in their cell", offsetof(struct sx_event, info_size), 4, 8, DROPPED },
        { "infos cut behind it", offsetof(struct sx_event, info_size), 4, 16, DROPPED },
        { "infos cut in an element", offsetof(struct sx_event, info_size), 4, 40, DROPPED },
        { "infos left out", offsetof(struct sx_event, info_size), 4, 0, DROPPED },
        { "a forged rank", offsetof(struct sx_event, source_rank), 4, 0, TAKEN },
        { "the rank of the resource manager", offsetof(struct sx_event, source_rank), 4, UINT32_MAX,
          TAKEN },
        { "a forged number", offsetof(struct sx_event, number), 8, UINT64_MAX, TAKEN },
        { "the flags of the server", offsetof(struct sx_event, flags), 1, 0xfc, TAKEN },
    };
    struct draft draft;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        draft_make(&draft, true);
        memcpy(draft.bytes + rows[i].off, &rows[i].value, rows[i].size);
        verdict_is(rows[i].name, &draft, rows[i].verdict);
    }
    draft_make(&draft, true);
    memcpy(draft.source, "listener.job", 12);
    verdict_is("a forged namespace", &draft, TAKEN);
    for (size_t size = 0; size < sizeof(struct sx_event); size += 7) {
        draft.size = size;
        verdict_is("an event that is cut in its head", &draft, DROPPED);
    }
}

static void procs(void)
{
    static const uint32_t lengths[] = { 0,  PMIX_MAX_NSLEN + 1, UINT32_MAX, UINT32_MAX - 6,
                                        12, UINT32_C(1) << 31 };
    struct draft draft;

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        draft_make(&draft, true);
        memcpy(draft.affected + 4, &lengths[i], sizeof(lengths[i]));
        verdict_is(lengths[i] == 12 ? "a name with a NUL in it" : "a name of no length there is",
                   &draft, DROPPED);
    }
    /* Targets that are there: the server takes them for what they say. */
    draft_make(&draft, false);
    draft.event->target_count = 1;
    draft.event->affected_count = 0;
    (void)put_proc(draft.targets, 0, "listener.job");
    draft.size = (size_t)(draft.targets - draft.bytes) + 24;
    verdict_is("an event for the listener", &draft, TAKEN);
    (void)put_proc(draft.targets, 0, "nobody.there");
    verdict_is("an event for nobody there is", &draft, TAKEN_BY_NOBODY);
}

static void infos(void)
{
    static const uint64_t counts[] = { 0,
                                       1,
                                       3,
                                       1000,
                                       UINT64_C(1) << 32,
                                       UINT64_C(1) << 59,
                                       UINT64_C(1) << 60,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX };
    static const uint16_t types[] = { 0, PMIX_PROC, PMIX_STRING, PMIX_POINTER, 999, 0xffff };
    static const uint32_t lens[] = { 0, 1, 7, 4096, UINT32_MAX, UINT32_MAX - 7 };
    enum { RECORD = 16, ELEMENTS = 32, FIRST_BODY = 32 + 2 * 40 }; /* from the infos' start */
    struct draft draft;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        draft_make(&draft, true);
        memcpy(draft.infos + RECORD + 8, &counts[i], 8);
        verdict_is("a wrong count of infos", &draft, DROPPED);
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        draft_make(&draft, true);
        memcpy(draft.infos, &types[i], 2);
        verdict_is("infos of another type", &draft, DROPPED);
        draft_make(&draft, true);
        memcpy(draft.infos + RECORD, &types[i], 2);
        verdict_is("infos with elements of another type", &draft, DROPPED);
        draft_make(&draft, true);
        memcpy(draft.infos + ELEMENTS, &types[i], 2);
        verdict_is("a key of another type", &draft, types[i] == PMIX_STRING ? TAKEN : DROPPED);
    }
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        draft_make(&draft, true);
        memcpy(draft.infos + 4, &lens[i], 4);
        verdict_is("infos of a wrong length", &draft, DROPPED);
        draft_make(&draft, true);
        memcpy(draft.infos + ELEMENTS + 4, &lens[i], 4);
        verdict_is("a key of a wrong length", &draft, DROPPED);
    }
    draft_make(&draft, true);
    CHECK(memcmp(draft.infos + FIRST_BODY, "attack.text", 12) == 0, "the key is elsewhere");
    draft.infos[FIRST_BODY + 11] = 'x';
    verdict_is("a key without an end", &draft, DROPPED);
    draft_make(&draft, true);
    draft.infos[FIRST_BODY + 3] = '\0';
    verdict_is("a key with two ends", &draft, DROPPED);
}

/* A key longer than any key may be, and arrays in arrays in arrays. */
static void long_and_deep(void)
{
    struct draft draft;
    size_t key_len = PMIX_MAX_KEYLEN + 10, padded = (key_len + 1 + 7) / 8 * 8;

    draft_make(&draft, false);
    uint8_t *const at = draft.infos;
    const struct sx_cell whole = { .type = PMIX_DATA_ARRAY,
                                   .len = (uint32_t)(16 + 40 + padded),
                                   .bits = 16 };
    const struct sx_cell key = { .type = PMIX_STRING, .len = (uint32_t)key_len + 1, .bits = 56 };
    const struct sx_cell value = { .type = PMIX_BOOL, .bits = 1 };
    const uint64_t record[2] = { PMIX_INFO, 1 };

    memcpy(at, &whole, 16);
    memcpy(at + 16, record, 16);
    memcpy(at + 32, &key, 16);
    memcpy(at + 56, &value, 16);
    memset(at + 72, 'k', key_len);
    draft.event->info_size = (uint32_t)(72 + padded);
    draft.size = (size_t)(at - draft.bytes) + draft.event->info_size;
    verdict_is("a key longer than keys are", &draft, DROPPED);

    draft_make(&draft, false);
    const size_t depth = 200;

    for (size_t i = 0; i < depth; i++) {
        const struct sx_cell cell = { .type = PMIX_DATA_ARRAY,
                                      .bits = 16 * (i + 1) + 16 * i,
                                      .len = (uint32_t)(32 * (depth - i) - 16) };
        const uint64_t inner[2] = { PMIX_DATA_ARRAY, i + 1 < depth };

        memcpy(at + 32 * i, &cell, 16);
        memcpy(at + 32 * i + 16, inner, 16);
    }
    draft.event->info_size = (uint32_t)(32 * depth);
    draft.size = (size_t)(at - draft.bytes) + draft.event->info_size;
    verdict_is("arrays in arrays", &draft, DROPPED);
}

/* ---- mutations ------------------------------------------------------------------------------ */

static void mutations(void)
{
    uint64_t seed = SEED;
    unsigned taken = 0;
    const unsigned rounds = 400;
    struct attacker attacker;
    struct draft draft;

    for (unsigned round = 0; round < rounds; round++) {
        attack_begin(ATTACK_LINES_ANY, "mutated events, round %u", round);
        attack_attach(&attacker);
        for (int i = 0; i < 4; i++) {
            draft_make(&draft, true);
            for (uint64_t flips = 1 + fault_random(&seed) % 2; flips > 0; flips--) {
                draft.bytes[8 + fault_random(&seed) % (draft.size - 8)] ^=
                    (uint8_t)(1u << fault_random(&seed) % 8);
            }
            submit(&attacker, draft.bytes, draft.size);
        }
        taken += still_there(&attacker);
        attack_detach(&attacker);
        attack_end();
    }
    CHECK(taken > 0 && taken < rounds, "%u of %u rounds were taken: no mixture", taken, rounds);
}

/* ---- over control --------------------------------------------------------------------------- */

/* An event with @targets targets and @info_bytes bytes of rubbish behind them. */
static void bulk(const char *name, uint32_t targets, size_t info_bytes, pmix_status_t status)
{
    static uint32_t id = 100;
    const size_t size = sizeof(struct sx_event) + targets * 24u + info_bytes;
    uint8_t *const bytes = calloc(1, size);
    struct sx_event event = { .code = CODE,
                              .range = PMIX_RANGE_CUSTOM,
                              .target_count = targets,
                              .info_size = (uint32_t)info_bytes };
    struct attacker attacker;

    CHECK(bytes != NULL, "no memory");
    memcpy(bytes, &event, sizeof(event));
    for (uint32_t i = 0; i < targets; i++) {
        (void)put_proc(bytes + sizeof(event) + i * 24u, 0, "nobody.there");
    }
    attack_begin(ATTACK_LINES_ANY, "%s", name);
    attack_attach(&attacker);
    attack_large(&attacker, SX_MSG_EVENT_BULK, ++id, bytes, size);
    if (status == PMIX_ERR_LOST_CONNECTION) {
        attack_expect_end(attacker.socket_fd);
        attacker.socket_fd = -1;
    } else {
        (void)attack_expect_reply(attacker.socket_fd, id, status);
    }
    attack_detach(&attacker);
    attack_end();
    free(bytes);
}

static int role_records(const char *arg)
{
    heads();
    procs();
    infos();
    long_and_deep();
    bulk("an event with as many targets as there may be", SX_PROCS_MAX, 0, PMIX_SUCCESS);
    bulk("an event with a target too much", SX_PROCS_MAX + 1, 0, PMIX_ERR_LOST_CONNECTION);
    bulk("an event of 1 MiB of zeros", 1, 1u << 20, PMIX_ERR_LOST_CONNECTION);
    return 0;
}

static int role_mutations(const char *arg)
{
    mutations();
    return 0;
}

/* ---- who listens ---------------------------------------------------------------------------- */

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (code != PMIX_ERR_LOST_CONNECTION) {
        CHECK(strcmp(source->nspace, ATTACK_JOB) == 0 && source->rank == ATTACK_RANK,
              "an event of %s.%u", source->nspace, source->rank);
        for (size_t i = 0; i < ninfo; i++) {
            CHECK(memchr(info[i].key, '\0', sizeof(info[i].key)) != NULL, "a key without end");
        }
        atomic_fetch_add(&fault_shared->event_count[LISTENER], 1);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static int role_listener(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0, "no handler");
    atomic_store(&fault_shared->state[LISTENER], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the end");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static void company(bool begin)
{
    static pid_t pid;

    if (begin) {
        fault_job_start("listener.job", 1);
        pid = fault_start("listener.job", 0, "listener", NULL);
        WAIT_FOR(atomic_load(&fault_shared->state[LISTENER]) == 1, "the listener");
    } else {
        atomic_store(&fault_shared->go, 1);
        fault_wait_ok(pid, "the listener");
        CHECK(fault_log_lines(pid, NULL) == 0, "the listener found something wrong");
        fault_job_end("listener.job");
    }
}

static int case_records(void)
{
    attack_company = company;
    setenv("SHMIX_SERVER_CACHE_BYTES", "1048576", 1);
    attack_judge("records");
    return 0;
}

static int case_mutations(void)
{
    attack_company = company;
    setenv("SHMIX_SERVER_CACHE_BYTES", "1048576", 1);
    attack_judge("mutations");
    return 0;
}

static const struct fault_case cases[] = {
    { "records", case_records },
    { "mutations", case_mutations },
};

static const struct fault_role roles[] = {
    { "records", role_records },
    { "mutations", role_mutations },
    { "listener", role_listener },
};

FAULT_MAIN(cases, roles)
