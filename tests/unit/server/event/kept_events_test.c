/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* kept_events_test.c - which of the kept events a handler gets that is registered late. */
#include "server/event/kept_events.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>

#include <pmix.h>

#include "../answers.h"
#include "../bare_events.h"
#include "../block_build.h"
#include "../opened.h"
#include "base/clock.h"
#include "client/event/event.h"
#include "server/event/event.h"
#include "server/event/event_codes.h"

#define CODE (-2000)

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_client *client;
static struct answers answers;

static void begin(void)
{
    bare_events_init(&server);
    job = bare_job(&server, "job", 2, 2);
    client = bare_connect(&server, job, 1);
    sx_share_begin(&server, client);
    answers_begin(&answers, &server, client);
}

static void end(void)
{
    sx_event_codes_client_left(&server, client);
    answers_end(&answers, client);
    bare_events_deinit(&server);
}

TestSuite(event_register, .init = begin, .fini = end);

/* For rank @target alone, unless that is the wildcard; @flag: a directive, or NULL.  What is not to
 * be kept is too large for the ring, so that it is all the same until it was read. */
static void publish(pmix_status_t code, pmix_rank_t target, const char *flag)
{
    static char bytes[2 * SX_RING_RECORD_MAX];
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    pmix_proc_t aim = { .nspace = "job", .rank = target };
    pmix_byte_object_t object = { .bytes = bytes, .size = sizeof(bytes) };
    struct sx_event_block *block = NULL;
    pmix_info_t info[3];

    if (flag == NULL || strcmp(flag, PMIX_EVENT_DO_NOT_CACHE) != 0) {
        object.size = 8;
    }
    PMIx_Info_load(&info[0], flag != NULL ? flag : "nothing", NULL, PMIX_BOOL);
    PMIx_Info_load(&info[1], "bytes", &object, PMIX_BYTE_OBJECT);
    PMIx_Info_load(&info[2], PMIX_EVENT_CUSTOM_RANGE, &aim, PMIX_PROC);
    cr_assert_eq(block_build(code, &source, PMIX_RANGE_NAMESPACE, info,
                             target == PMIX_RANK_WILDCARD ? 2 : 3, &block),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_event_publish(&server, block, SX_EVENT_FROM_LIBRARY, NULL), PMIX_SUCCESS);
    sx_event_block_release(block);
    PMIx_Info_destruct(&info[1]);
    PMIx_Info_destruct(&info[2]);
}

/* ---- what the client asks
 * --------------------------------------------------------------------- */

static _Alignas(8) char body[sizeof(struct sx_event_register) + 64];

static size_t write_body(const struct sx_event_register *wanted, const int32_t codes[])
{
    memcpy(body, wanted, sizeof(*wanted));
    memcpy(body + sizeof(*wanted), codes, wanted->code_count * sizeof(*codes));
    return sizeof(*wanted) + wanted->code_count * sizeof(*codes);
}

static void notify(const struct sx_event_register *wanted, const int32_t codes[])
{
    struct sx_frame frame = opened_frame(SX_MSG_EVENT_REGISTER, 3, body, write_body(wanted, codes));

    cr_assert(sx_event_on_register(&server, client, &frame, sx_now_ns()));
}

static void nothing(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
}

/* The list of the next frame of the answer.  Return: how many numbers it has. */
static size_t frame_read(struct sx_event_list *ret, uint64_t ret_numbers[])
{
    struct pollfd poll_fd = { .fd = answers.fd, .events = POLLIN };
    struct sx_event_list list;

    for (int i = 0; i < 100 && poll(&poll_fd, 1, 0) == 0; i++) {
        bare_call(&server, nothing, NULL); /* the socket takes more */
    }
    cr_assert_eq(answers_next(&answers, 3), PMIX_SUCCESS);
    const char *at = (const char *)answers.frame.body + sizeof(struct sx_reply);

    memcpy(&list, at, sizeof(list));
    at += sizeof(list);
    for (uint32_t i = 0; i < list.count; i++) {
        struct sx_event_kept kept;
        struct sx_event event;

        memcpy(&kept, at, sizeof(kept));
        memcpy(&event, at + sizeof(kept), sizeof(event));
        ret_numbers[i] = event.number;
        at += sizeof(kept) + sx_align_up(kept.size, 8);
    }
    *ret = list;
    return list.count;
}

/* The numbers of the events that the answer has, the newest first; *ret is the last of its
 * lists. */
static size_t answer_read(struct sx_event_list *ret, uint64_t ret_numbers[])
{
    size_t count = 0;

    do {
        count += frame_read(ret, ret_numbers + count);
    } while ((answers.frame.header.flags & SX_FRAME_MORE) != 0);
    return count;
}

static size_t ask(const struct sx_event_register *wanted, const int32_t codes[],
                  uint64_t ret_numbers[])
{
    struct sx_event_list list;

    notify(wanted, codes);
    return answer_read(&list, ret_numbers);
}

/* ---- tests
 * ------------------------------------------------------------------------------------ */

/* After events 1 to 6 of the test below, for rank 1. */
static const struct {
    const char *why;
    uint64_t upto;
    uint32_t code_count;
    int32_t codes[3];
    size_t count;
    uint64_t numbers[4];
} rows[] = {
    { "one code", 6, 1, { CODE }, 3, { 6, 3, 1 } },
    { "one code, named twice", 6, 2, { CODE, CODE }, 3, { 6, 3, 1 } },
    { "one code, read to the third", 3, 1, { CODE }, 2, { 3, 1 } },
    { "two codes", 6, 2, { CODE - 1, CODE }, 4, { 6, 3, 2, 1 } },
    { "a code of which there is nothing", 6, 1, { 77 }, 0, { 0 } },
    { "a default handler", 6, 0, { 0 }, 3, { 3, 2, 1 } },
    { "nothing read", 0, 1, { CODE }, 0, { 0 } },
    { "all that will ever be", UINT64_MAX, 1, { CODE }, 3, { 6, 3, 1 } },
};

Test(event_register, is_answered_with_what_is_for_it)
{
    publish(CODE, PMIX_RANK_WILDCARD, NULL);
    publish(CODE - 1, PMIX_RANK_WILDCARD, NULL);
    publish(CODE, 1, NULL);
    publish(CODE, 0, NULL); /* another's */
    publish(CODE, PMIX_RANK_WILDCARD, PMIX_EVENT_DO_NOT_CACHE);
    publish(CODE, PMIX_RANK_WILDCARD, PMIX_EVENT_NON_DEFAULT);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_event_register wanted = { .upto = rows[i].upto,
                                                  .code_count = rows[i].code_count };
        uint64_t numbers[8];

        client->event_seq = 0; /* it has read nothing, so nothing may go */
        cr_assert_eq(ask(&wanted, rows[i].codes, numbers), rows[i].count, "%s", rows[i].why);
        for (size_t n = 0; n < rows[i].count; n++) {
            cr_expect_eq(numbers[n], rows[i].numbers[n], "%s", rows[i].why);
        }
    }
    cr_expect(client->has_handlers);
}

Test(event_register, gets_many_in_several_answers_and_each_once)
{
    struct sx_event_register wanted = { .code_count = 1 };
    const int32_t code = CODE;
    uint64_t expected = 3 * SX_KEPT_LOOKS_MAX;
    static uint64_t numbers[2 * SX_KEPT_LOOKS_MAX];
    unsigned answered = 0;

    wanted.upto = expected;
    for (uint64_t i = 0; i < wanted.upto; i++) {
        publish(CODE, PMIX_RANK_WILDCARD, NULL);
    }
    const uint64_t oldest = expected - server.event.history.cache_max;
    do {
        struct sx_event_list list;

        notify(&wanted, &code);
        const size_t count = answer_read(&list, numbers);
        for (size_t i = 0; i < count; i++) {
            cr_assert_eq(numbers[i], expected);
            expected--;
        }
        wanted.before = list.next;
        answered++;
    } while (wanted.before != 0);
    cr_expect(expected == 0 || expected == oldest, "%llu", (unsigned long long)expected);
    cr_expect_geq(answered, 2);
    cr_expect_gt(client->share.spent, 0, "and it pays for it");
}

/* Neither a descriptor nor a memfd for what the socket takes, and each frame can be read alone. */
Test(event_register, sends_small_events_in_frames_while_the_socket_takes_them)
{
    enum { EVENTS = 200 };
    const struct sx_event_register wanted = { .upto = EVENTS, .code_count = 1 };
    const int32_t code = CODE;
    uint64_t numbers[EVENTS], expected = EVENTS;
    struct sx_event_list list = { .next = UINT64_MAX };
    unsigned frames = 0;

    for (uint64_t i = 0; i < EVENTS; i++) {
        publish(CODE, PMIX_RANK_WILDCARD, NULL);
    }
    notify(&wanted, &code);
    do {
        const size_t count = frame_read(&list, numbers);

        cr_expect_eq(answers.frame.header.flags & SX_FRAME_BULK, 0);
        for (size_t i = 0; i < count; i++) {
            cr_assert_eq(numbers[i], expected--);
        }
        cr_expect(list.next == 0 ? expected == 0 : list.next == expected + 1);
        frames++;
    } while ((answers.frame.header.flags & SX_FRAME_MORE) != 0);
    cr_expect_eq(list.next, 0);
    cr_expect_gt(frames, 1);
    cr_expect(answers_none(&answers));
}

/* What a socket does not take at once does not wait in the server frame by frame. */
Test(event_register, sends_in_one_piece_what_the_socket_does_not_take)
{
    enum { EVENTS = 500 };
    const struct sx_event_register wanted = { .upto = EVENTS, .code_count = 1 };
    const int32_t code = CODE;
    const int room = 16384;
    uint64_t numbers[EVENTS];
    struct sx_event_list list;

    cr_assert_eq(setsockopt(answers.channel.fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
    for (uint64_t i = 0; i < EVENTS; i++) {
        publish(CODE, PMIX_RANK_WILDCARD, NULL);
    }
    notify(&wanted, &code);
    cr_expect_gt(answers.channel.queue_bytes, 0, "the socket cannot have taken all");
    cr_assert_eq(answer_read(&list, numbers), EVENTS);
    cr_expect_neq(answers.frame.header.flags & SX_FRAME_BULK, 0);
    for (size_t i = 0; i < EVENTS; i++) {
        cr_expect_eq(numbers[i], EVENTS - i);
    }
}

Test(event_register, counts_its_codes_until_it_is_taken_back)
{
    const struct sx_event_register wanted = { .code_count = 2 };
    const int32_t codes[] = { -4000, -4000 };
    uint64_t numbers[1];

    (void)ask(&wanted, codes, numbers);
    cr_assert_eq(client->event_codes.table.count, 1);
    cr_expect_eq(sx_event_codes_find(&client->event_codes, codes[0])->count, 1,
                 "a handler, however often it names it");
    struct sx_frame frame = opened_frame(SX_MSG_EVENT_DEREGISTER, 4, body,
                                         write_body(&wanted, codes));

    cr_assert(sx_event_on_deregister(&server, client, &frame, 0));
    cr_expect_eq(answers_next(&answers, 4), PMIX_SUCCESS);
    cr_expect_eq(client->event_codes.table.count, 0);
    cr_expect_eq(server.event.codes.table.count, 0);
}

/* ---- lapped readers -------------------------------------------------------------------------- */

/* A reader that was overtaken gets all there is, in order and with the losses
 * in their places, by questions each of which costs little, wherever in the log it stands. */

static struct sx_event_history history;
static struct sx_eventlog log;

static void replay_begin(void)
{
    sx_event_history_init(&history, 1u << 20, UINT64_C(1) << 30);
    sx_eventlog_init(&log);
}

static void replay_end(void)
{
    sx_eventlog_end(&history, &log);
    sx_event_history_deinit(&history);
    cr_assert_eq(history.bytes, 0);
}

TestSuite(eventreplay, .init = replay_begin, .fini = replay_end);

/* An event of @size bytes of payload; for rank @target alone, unless that is the wildcard. */
static void log_add(size_t size, pmix_rank_t target)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    pmix_proc_t aim = { .nspace = "job", .rank = target };
    char *const bytes = calloc(1, size + 1);
    pmix_byte_object_t object = { .bytes = bytes, .size = size };
    struct sx_event_block *block = NULL;
    pmix_info_t info[2];

    cr_assert_not_null(bytes);
    cr_assert_eq(PMIx_Info_load(&info[0], "bytes", &object, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_load(&info[1], PMIX_EVENT_CUSTOM_RANGE, &aim, PMIX_PROC), PMIX_SUCCESS);
    cr_assert_eq(block_build(CODE, &source,
                             target == PMIX_RANK_WILDCARD ? PMIX_RANGE_NAMESPACE
                                                          : PMIX_RANGE_CUSTOM,
                             info, target == PMIX_RANK_WILDCARD ? 1 : 2, &block),
                 PMIX_SUCCESS);
    log.newest++;
    sx_eventlog_add(&history, &log, block, log.newest, log.newest);
    sx_event_block_release(block);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    free(bytes);
}

/* A number that is not kept. */
static void log_skip(void)
{
    log.newest++;
}

struct reading {
    uint64_t events, lost, messages, looks, looks_max, bytes_max;
};

/* Rank 1 reads from @first to the end, as a client does. */
static struct reading read_from(uint64_t first)
{
    struct reading reading = { .events = 0 };

    while (first <= log.newest) {
        const struct sx_event_replay wanted = { .first = first, .last = UINT64_MAX };
        struct sx_event_list_rest rest;
        struct sx_event_listed listed;
        struct sx_event_answer answer;
        struct sx_event_replayed replayed;
        uint64_t before = first;

        cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
        cr_assert_eq(sx_event_replay(&log, "job", 1, &wanted, &answer, &replayed), PMIX_SUCCESS);
        sx_event_list_open(&rest, answer.bytes, answer.size);
        cr_assert_gt(rest.next, first, "it goes on");
        if (rest.count > 1 && answer.size > reading.bytes_max) {
            reading.bytes_max = answer.size;
        }
        reading.lost += rest.lost;
        while (sx_event_list_next(&rest, &listed) == PMIX_SUCCESS) {
            cr_assert(listed.number >= before && listed.number < rest.next, "in order");
            before = listed.number + 1;
            reading.lost += listed.lost;
            reading.events++;
        }
        cr_assert_eq(rest.count, 0);
        reading.messages++;
        reading.looks += replayed.looks;
        reading.looks_max = replayed.looks > reading.looks_max ? replayed.looks : reading.looks_max;
        first = rest.next;
        sx_event_answer_deinit(&answer);
    }
    return reading;
}

/* The whole way costs what there is to read, not its square. */
Test(eventreplay, costs_the_same_for_each_event_however_many_are_kept)
{
    enum { EVENTS = 100000 };

    for (int i = 0; i < EVENTS; i++) {
        log_add(8, PMIX_RANK_WILDCARD);
    }
    const struct reading all = read_from(1);
    const struct reading last = read_from(EVENTS - 999);

    cr_expect_eq(all.events, EVENTS);
    cr_expect_eq(all.lost, 0);
    cr_expect_leq(all.bytes_max, SX_KEPT_FRAME_BYTES);
    cr_expect_eq(last.events, 1000);
    cr_log_info("1,000 events of the last %d: %d messages, %d places looked at", EVENTS,
                (int)last.messages, (int)last.looks);
    cr_expect_leq(last.messages, 1000 / 40);
    cr_expect_leq(last.looks, 1000 + last.messages * 20);
    cr_expect_leq(all.messages, EVENTS / 40);
    cr_expect_leq(all.looks, EVENTS + all.messages * 20);
}

Test(eventreplay, says_what_is_lost_in_its_place)
{
    const struct sx_event_replay wanted = { .first = 1, .last = 9 };
    static const uint64_t numbers[] = { 3, 4, 7 }, lost[] = { 2, 0, 2 };
    struct sx_event_list_rest rest;
    struct sx_event_listed listed;
    struct sx_event_answer answer;
    struct sx_event_replayed replayed;

    for (int i = 1; i <= 12; i++) {
        if (i == 3 || i == 4 || i == 7 || i == 11) {
            log_add(8, PMIX_RANK_WILDCARD);
        } else {
            log_skip();
        }
    }
    cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
    cr_assert_eq(sx_event_replay(&log, "job", 1, &wanted, &answer, &replayed), PMIX_SUCCESS);
    sx_event_list_open(&rest, answer.bytes, answer.size);
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        cr_assert_eq(sx_event_list_next(&rest, &listed), PMIX_SUCCESS);
        cr_expect_eq(listed.number, numbers[i]);
        cr_expect_eq(listed.lost, lost[i]);
    }
    cr_expect_eq(sx_event_list_next(&rest, &listed), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(rest.lost, 2);
    cr_expect_eq(rest.next, 10);
    sx_event_answer_deinit(&answer);
    cr_expect_eq(read_from(1).lost, 8);
    cr_expect_eq(read_from(8).events, 1);
}

/* Nothing of it is for the reader, or each event is for many: a question still costs little. */
Test(eventreplay, a_question_is_bounded_whatever_the_log_has)
{
    for (int i = 0; i < 5000; i++) {
        log_add(8, 2);
    }
    log_add(8, 1);
    struct reading reading = read_from(1);

    cr_expect_eq(reading.events, 1);
    cr_expect_eq(reading.lost, 0);
    cr_expect_leq(reading.looks_max, SX_REPLAY_LOOKS_MAX + 2);
    cr_expect_gt(reading.messages, 1);
    cr_expect_leq(reading.messages, 12);
}

/* A large event travels alone, and those around it as many as fit. */
Test(eventreplay, an_event_larger_than_a_frame_comes_alone)
{
    log_add(100, PMIX_RANK_WILDCARD);
    log_add(50000, PMIX_RANK_WILDCARD);
    log_add(100, PMIX_RANK_WILDCARD);
    log_add(100, PMIX_RANK_WILDCARD);
    const struct reading reading = read_from(1);

    cr_expect_eq(reading.events, 4);
    cr_expect_eq(reading.messages, 3);
    cr_expect_leq(reading.bytes_max, SX_KEPT_FRAME_BYTES);
}

Test(eventreplay, an_absurd_range_is_an_empty_one)
{
    static const struct sx_event_replay rows[] = {
        { 0, 0 }, { UINT64_MAX, UINT64_MAX }, { UINT64_MAX, 0 }, { 3, 2 }, { 9, UINT64_MAX },
    };

    log_add(8, PMIX_RANK_WILDCARD);
    log_add(8, PMIX_RANK_WILDCARD);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_event_answer answer;
        struct sx_event_replayed replayed;

        cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
        cr_expect_eq(sx_event_replay(&log, "job", 1, &rows[i], &answer, &replayed), PMIX_SUCCESS);
        cr_expect_eq(sx_event_answer_list(&answer)->count, 0, "row %zu", i);
        cr_expect_eq(sx_event_answer_list(&answer)->lost, 0, "row %zu", i);
        sx_event_answer_deinit(&answer);
    }
}

/* ---- an answer ------------------------------------------------------------------------------- */

/* Kept events are listed one after the other, as large as they are. */

/* An entry whose event carries @size bytes. */
static struct sx_event_entry entry_of(uint64_t number, size_t size)
{
    static char bytes[1u << 16];
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    pmix_byte_object_t object = { .bytes = bytes, .size = size };
    struct sx_event_entry entry = { .number = number };
    pmix_info_t info;

    PMIx_Info_load(&info, "bytes", &object, PMIX_BYTE_OBJECT);
    cr_assert_eq(block_build(-2000, &source, PMIX_RANGE_LOCAL, &info, 1, &entry.block),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    return entry;
}

Test(event_answer, lists_events_with_their_numbers_and_losses)
{
    struct sx_event_answer answer;
    size_t at = sizeof(struct sx_event_list);

    cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
    cr_expect_eq(sx_event_answer_list(&answer)->count, 0);
    cr_expect_eq(answer.size, at);
    for (uint64_t number = 1; number <= 40; number++) { /* grows beyond its first room */
        const struct sx_event_entry entry = entry_of(number, 13 * number);

        cr_assert_eq(sx_event_answer_add(&answer, &entry, number % 3), PMIX_SUCCESS);
        sx_event_block_release(entry.block);
    }
    cr_expect_eq(sx_event_answer_list(&answer)->count, 40);
    for (uint64_t number = 1; number <= 40; number++) {
        struct sx_event_kept kept;
        struct sx_event event;

        cr_assert(at + sizeof(kept) + sizeof(event) <= answer.size);
        cr_expect_eq(at % 8, 0);
        memcpy(&kept, answer.bytes + at, sizeof(kept));
        memcpy(&event, answer.bytes + at + sizeof(kept), sizeof(event));
        cr_expect_eq(kept.lost, number % 3);
        cr_expect_eq(event.number, number);
        cr_expect_eq(event.code, -2000);
        at += sizeof(kept) + sx_align_up(kept.size, 8);
    }
    cr_expect_eq(at, answer.size);
    sx_event_answer_deinit(&answer);
    sx_event_answer_deinit(&answer);
}

Test(event_answer, takes_one_event_whatever_its_size_and_others_to_the_last_byte)
{
    const struct sx_event_entry entry = entry_of(1, 30000);
    const size_t each = sizeof(struct sx_event_kept) + sx_align_up(entry.block->size, 8);
    const size_t two = sizeof(struct sx_event_list) + 2 * each;
    struct sx_event_answer answer;

    cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
    cr_expect(sx_event_answer_fits(&answer, &entry, 1));
    cr_assert_eq(sx_event_answer_add(&answer, &entry, 0), PMIX_SUCCESS);
    cr_expect_not(sx_event_answer_fits(&answer, &entry, two - 1));
    cr_expect(sx_event_answer_fits(&answer, &entry, two));
    sx_event_answer_deinit(&answer);
    sx_event_block_release(entry.block);
}

/* ---- one event of nearly the largest size ------------------------------------------------------ */

#define LONG_BYTES ((3u << 20) + 5) /* so that the answer ends with padding */

static struct sx_event_entry long_entry(char *bytes)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    pmix_byte_object_t object = { .bytes = bytes, .size = LONG_BYTES };
    struct sx_event_entry entry = { .number = 1 };
    pmix_info_t info;

    for (size_t i = 0; i < LONG_BYTES; i++) {
        bytes[i] = (char)(i * 7 + i / 4096);
    }
    PMIx_Info_load(&info, "bytes", &object, PMIX_BYTE_OBJECT);
    cr_assert_eq(block_build(CODE, &source, PMIX_RANGE_NAMESPACE, &info, 1, &entry.block),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    return entry;
}

static char long_bytes[LONG_BYTES];

/* Fresh memory of its size takes longer than all else. */
Test(event_answer, does_not_copy_a_long_event)
{
    const struct sx_event_entry entry = long_entry(long_bytes), other = entry_of(2, 8);
    struct sx_event_answer answer;

    cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
    const size_t capacity = answer.capacity;

    cr_assert_eq(sx_event_answer_add(&answer, &entry, 0), PMIX_SUCCESS);
    cr_expect_eq(answer.capacity, capacity);
    cr_expect_eq(sx_event_answer_size(&answer), sizeof(struct sx_event_list) +
                                                    sizeof(struct sx_event_kept) +
                                                    sx_align_up(entry.block->size, 8));
    cr_expect_not(sx_event_answer_fits(&answer, &other, SX_KEPT_BYTES_MAX));
    cr_expect_eq(entry.block->reference_count, 2);
    sx_event_answer_deinit(&answer);
    cr_expect_eq(entry.block->reference_count, 1);
    sx_event_block_release(entry.block);
    sx_event_block_release(other.block);
}

/* By a registration and by a replay. */
Test(event_register, gets_a_long_event_byte_for_byte)
{
    const struct sx_event_register wanted = { .upto = UINT64_MAX, .code_count = 1 };
    const struct sx_event_replay replay = { .first = 1, .last = UINT64_MAX };
    const struct sx_event_entry entry = long_entry(long_bytes);
    struct sx_frame frame = opened_frame(SX_MSG_EVENT_REPLAY, 3, &replay, sizeof(replay));
    const int32_t code = CODE;

    cr_assert_eq(sx_event_publish(&server, entry.block, SX_EVENT_FROM_LIBRARY, NULL), PMIX_SUCCESS);
    for (int replays = 0; replays < 2; replays++) {
        struct sx_event_list_rest rest;
        struct sx_event_listed listed;

        if (replays) {
            cr_assert(sx_event_on_replay(&server, client, &frame, 0));
        } else {
            notify(&wanted, &code);
        }
        cr_assert_eq(answers_next(&answers, 3), PMIX_SUCCESS);
        sx_event_list_open(&rest, (const char *)answers.frame.body + sizeof(struct sx_reply),
                           answers.frame.body_size - sizeof(struct sx_reply));
        cr_assert_eq(rest.count, 1);
        cr_assert_eq(sx_event_list_next(&rest, &listed), PMIX_SUCCESS);
        cr_expect_eq(listed.number, 1);
        cr_expect_eq(listed.size, entry.block->size);
        cr_expect_eq(memcmp(listed.bytes + sizeof(struct sx_event),
                            entry.block->bytes + sizeof(struct sx_event),
                            entry.block->size - sizeof(struct sx_event)),
                     0);
        cr_expect_eq(sx_event_list_next(&rest, &listed), PMIX_ERR_NOT_FOUND);
    }
    sx_event_block_release(entry.block);
}
