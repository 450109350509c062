/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session_test.c - requests of a rank: each body is read whole, or refused, and answered once.
 *
 * No server is there, so the public API refuses each request that was read. */
#include "gateway/session.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "control/message.h"
#include "gateway/link.h"
#include "gateway/request.h"

#define TAG 107

static struct {
    unsigned count;
    uint32_t tag;
    uint8_t bytes[256]; /* its first ones */
    size_t size;
    size_t room; /* that was made last */
} answers;

/* Takes the link's place. */
pmix_status_t sx_gateway_link_send(struct sx_gateway_link *link, uint32_t tag, const void *body,
                                   size_t size)
{
    (void)link;
    cr_expect_eq(answers.room, SX_LINK_SEND_HIGH);
    answers.count++;
    answers.tag = tag;
    memcpy(answers.bytes, body, size < sizeof(answers.bytes) ? size : sizeof(answers.bytes));
    answers.size = size;
    return PMIX_SUCCESS;
}

void sx_gateway_link_make_room(struct sx_gateway_link *link, size_t size)
{
    (void)link;
    answers.room = size;
}

static struct sx_session session;

static void session_init(struct sx_wire_form form, uint32_t release)
{
    static char link;

    memset(&session, 0, sizeof(session));
    memset(&answers, 0, sizeof(answers));
    session.link = (struct sx_gateway_link *)(void *)&link;
    session.fd = -1;
    session.foreign.form = form;
    session.foreign.number = release;
    PMIX_LOAD_PROCID(&session.foreign.proc, "job", 1);
    sx_list_init(&session.requests);
    sx_list_init(&session.deferred);
    sx_list_init(&session.handlers);
    sx_list_init(&session.pulls);
}

static pmix_status_t answered(void)
{
    struct sx_wire_reader r = { .at = answers.bytes,
                                .end = answers.bytes + answers.size,
                                .form = session.foreign.form };

    cr_assert_eq(answers.count, 1);
    cr_assert_eq(answers.tag, TAG);
    return sx_codec_get_status(&r);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void put_procs(struct sx_wire_writer *w)
{
    const pmix_proc_t procs[2] = { { "job", 0 }, { "job", 1 } };

    sx_codec_put_array(w, PMIX_PROC, procs, 2);
}

static void put_infos(struct sx_wire_writer *w)
{
    const pmix_info_t info = { .key = "test.key", .value = { .type = PMIX_BOOL } };

    sx_codec_put_array(w, PMIX_INFO, &info, 1);
}

static void put_keys(struct sx_wire_writer *w)
{
    sx_codec_put_size(w, 2);
    sx_codec_put_text(w, "one");
    sx_codec_put_text(w, "two");
}

static void put_abort(struct sx_wire_writer *w)
{
    sx_codec_put_status(w, 3);
    sx_codec_put_text(w, "the end");
    put_procs(w);
}

/* A local bucket and a remote one, with the same two values. */
static void put_buckets(struct sx_wire_writer *w, const pmix_value_t *value)
{
    struct sx_wire_writer bucket = { .form = w->form };

    sx_codec_put_kval(&bucket, "one", value);
    sx_codec_put_kval(&bucket, "two", value);
    for (uint8_t scope = PMIX_LOCAL; scope <= PMIX_REMOTE; scope++) {
        sx_codec_put_u8(w, PMIX_SCOPE, scope);
        sx_wire_put_head(w, SX_CODEC_BUFFER, 1);
        sx_wire_put_uint(w, w->form.described ? SX_CODEC_DESCRIBED : 1, 1);
        if (w->form.encoding == SX_WIRE_V3) {
            sx_wire_put_uint(w, PMIX_UINT64, sizeof(pmix_data_type_t));
        }
        sx_wire_put_uint(w, bucket.size, sizeof(uint64_t));
        sx_wire_put(w, bucket.bytes, bucket.size);
    }
    sx_wire_writer_deinit(&bucket);
}

static void put_commit(struct sx_wire_writer *w)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 5 };

    put_buckets(w, &value);
}

static void put_procs_infos(struct sx_wire_writer *w)
{
    put_procs(w);
    put_infos(w);
}

static void put_get(struct sx_wire_writer *w)
{
    sx_codec_put_text(w, "job");
    sx_codec_put_u32(w, PMIX_PROC_RANK, 2);
    put_infos(w);
}

static void put_user_infos(struct sx_wire_writer *w)
{
    sx_codec_put_u32(w, PMIX_UINT32, 1000);
    put_infos(w);
}

static void put_user_keys_infos(struct sx_wire_writer *w)
{
    sx_codec_put_u32(w, PMIX_UINT32, 1000);
    put_keys(w);
    put_infos(w);
}

static void put_spawn(struct sx_wire_writer *w)
{
    char *argv[] = { "true", NULL };
    const pmix_app_t app = { .cmd = "true", .argv = argv, .maxprocs = 2 };

    put_infos(w);
    sx_codec_put_array(w, PMIX_APP, &app, 1);
}

static void put_notify(struct sx_wire_writer *w)
{
    sx_codec_put_status(w, -3001);
    sx_codec_put_u8(w, PMIX_DATA_RANGE, PMIX_RANGE_SESSION);
    put_infos(w);
}

static void put_codes_infos(struct sx_wire_writer *w)
{
    const pmix_status_t codes[] = { -3001, -3002 };

    sx_codec_put_array(w, PMIX_STATUS, codes, 2);
    put_infos(w);
}

static void put_query(struct sx_wire_writer *w)
{
    char *keys[] = { "pmix.qry.ns", NULL };
    const pmix_query_t query = { .keys = keys };

    sx_codec_put_array(w, PMIX_QUERY, &query, 1);
}

static void put_log(struct sx_wire_writer *w)
{
    const time_t now = 1;

    sx_codec_pack(w, PMIX_TIME, &now, 1);
    put_infos(w);
    put_infos(w);
}

static void put_allocate(struct sx_wire_writer *w)
{
    sx_codec_put_u8(w, PMIX_ALLOC_DIRECTIVE, PMIX_ALLOC_NEW);
    put_infos(w);
}

static void put_monitor(struct sx_wire_writer *w)
{
    const pmix_info_t info = { .key = "pmix.monitor.mbeat" };

    sx_codec_pack(w, PMIX_INFO, &info, 1);
    sx_codec_put_status(w, -3001);
    put_infos(w);
}

static void put_credential(struct sx_wire_writer *w)
{
    char bytes[] = "credential";
    const pmix_byte_object_t credential = { .bytes = bytes, .size = sizeof(bytes) };

    sx_codec_pack(w, PMIX_BYTE_OBJECT, &credential, 1);
    put_infos(w);
}

static void put_construct(struct sx_wire_writer *w)
{
    sx_codec_put_text(w, "group");
    put_procs_infos(w);
}

static void put_leave(struct sx_wire_writer *w)
{
    sx_codec_put_text(w, "group");
    put_infos(w);
}

static void put_pull(struct sx_wire_writer *w)
{
    const pmix_iof_channel_t channel = PMIX_FWD_STDOUT_CHANNEL;

    put_procs_infos(w);
    sx_codec_pack(w, PMIX_IOF_CHANNEL, &channel, 1);
    sx_codec_put_size(w, 3);
}

static void put_push(struct sx_wire_writer *w)
{
    char bytes[] = "input";
    const pmix_byte_object_t input = { .bytes = bytes, .size = sizeof(bytes) };

    put_procs_infos(w);
    sx_codec_pack(w, PMIX_BYTE_OBJECT, &input, 1);
}

static void put_infos_size(struct sx_wire_writer *w)
{
    put_infos(w);
    sx_codec_put_size(w, 3);
}

static void put_index(struct sx_wire_writer *w)
{
    sx_codec_put_size(w, 3);
}

static void put_two_texts(struct sx_wire_writer *w)
{
    sx_codec_put_text(w, NULL);
    sx_codec_put_text(w, "job");
}

static const struct {
    const char *why;
    uint8_t command;
    uint32_t release;
    void (*put)(struct sx_wire_writer *w);
    bool may_end_early; /* its last part may be missing */
} rows[] = {
    { "ABORT", 1, 0, put_abort, false },
    { "COMMIT", 2, 0, put_commit, true },
    { "FENCENB", 3, 0, put_procs_infos, false },
    { "GETNB", 4, 0, put_get, false },
    { "PUBLISHNB", 6, 0, put_user_infos, false },
    { "LOOKUPNB", 7, 0, put_user_keys_infos, false },
    { "UNPUBLISHNB", 8, 0, put_user_keys_infos, false },
    { "SPAWNNB", 9, 0, put_spawn, false },
    { "CONNECTNB", 10, 0, put_procs_infos, false },
    { "DISCONNECTNB", 11, 0, put_procs_infos, false },
    { "NOTIFY", 12, 0, put_notify, false },
    { "REGEVENTS", 13, 0, put_codes_infos, false },
    { "QUERY", 15, 0, put_query, false },
    { "LOG", 16, 0, put_log, false },
    { "ALLOC", 17, 0, put_allocate, false },
    { "JOB_CONTROL", 18, 0, put_procs_infos, false },
    { "MONITOR", 19, 0, put_monitor, false },
    { "GET_CREDENTIAL", 20, 0, put_infos, false },
    { "VALIDATE_CRED", 21, 0, put_credential, false },
    { "IOF_PULL", 22, SX_FOREIGN_NUMBER(4, 2, 2), put_pull, false },
    { "IOF_PUSH", 23, 0, put_push, false },
    { "GROUP_CONSTRUCT", 24, 0, put_construct, false },
    { "GROUP_LEAVE", 27, 0, put_leave, false },
    { "GROUP_DESTRUCT of 4.2.3", 28, SX_FOREIGN_NUMBER(4, 2, 3), put_leave, false },
    { "GROUP_DESTRUCT of 4.2.4", 28, SX_FOREIGN_NUMBER(4, 2, 4), put_construct, false },
    { "IOF_DEREG", 29, 0, put_infos_size, false },
    { "FABRIC_REGISTER", 30, 0, put_infos, false },
    { "FABRIC_UPDATE", 31, 0, put_index, false },
    { "RESOLVE_PEERS", 37, 0, put_two_texts, false },
};

static const struct sx_wire_form forms[] = {
    { SX_WIRE_V41, false }, { SX_WIRE_V41, true }, { SX_WIRE_V3, false }, { SX_WIRE_V3, true }
};

/* Give the first @size bytes of the request, in a block that ends there. */
static pmix_status_t give(const struct sx_wire_writer *w, size_t size)
{
    uint8_t *const exact = malloc(size + 1);
    pmix_status_t rc;

    memcpy(exact, w->bytes, size);
    rc = sx_session_on_message(&session, TAG, exact, size);
    free(exact);
    cr_assert_eq(session.request_count, 0);
    return rc;
}

static void request_end(struct sx_wire_writer *w)
{
    sx_gateway_event_deinit(&session);
    sx_gateway_data_deinit(&session);
    sx_wire_writer_deinit(w);
}

Test(session, each_request_is_read_whole_and_answered_once)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        for (size_t j = 0; j < SX_COUNT(forms); j++) {
            struct sx_wire_writer w = { .form = forms[j] };

            session_init(forms[j], rows[i].release);
            sx_codec_put_u8(&w, SX_CODEC_COMMAND, rows[i].command);
            rows[i].put(&w);
            cr_expect_eq(give(&w, w.size), PMIX_SUCCESS, "%s, form %zu", rows[i].why, j);
            cr_expect_neq(answered(), PMIX_ERR_NOT_SUPPORTED, "%s, form %zu", rows[i].why, j);
            request_end(&w);
        }
    }
}

Test(session, a_request_that_is_cut_breaks_the_form)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_wire_writer w = { .form = forms[0] };

        sx_codec_put_u8(&w, SX_CODEC_COMMAND, rows[i].command);
        rows[i].put(&w);
        for (size_t size = 0; size < w.size; size++) {
            session_init(forms[0], rows[i].release);
            if (give(&w, size) == PMIX_SUCCESS) {
                cr_expect(rows[i].may_end_early, "%s, %zu bytes", rows[i].why, size);
            } else {
                cr_expect_eq(answers.count, 0, "%s, %zu bytes", rows[i].why, size);
            }
            sx_gateway_event_deinit(&session);
            sx_gateway_data_deinit(&session);
        }
        request_end(&w);
    }
}

Test(session, a_command_that_is_not_served_is_answered)
{
    static const uint8_t commands[] = { 25, 26, 32, 34, 35, 36, 40, 255 };

    for (size_t i = 0; i < SX_COUNT(commands); i++) {
        struct sx_wire_writer w = { .form = forms[0] };

        session_init(forms[0], 0);
        sx_codec_put_u8(&w, SX_CODEC_COMMAND, commands[i]);
        cr_expect_eq(give(&w, w.size), PMIX_SUCCESS);
        cr_expect_eq(answered(), PMIX_ERR_NOT_SUPPORTED, "command %u", commands[i]);
        request_end(&w);
    }
}

Test(session, a_type_that_is_not_carried_is_an_answer_and_not_the_end)
{
    struct sx_wire_writer w = { .form = forms[0] };

    session_init(forms[0], 0);
    sx_codec_put_u8(&w, SX_CODEC_COMMAND, 20);
    sx_codec_put_size(&w, 1);
    sx_wire_put_head(&w, PMIX_INFO, 1);
    sx_wire_put_text(&w, "key");
    sx_wire_put_uint(&w, 0, sizeof(pmix_info_directives_t));
    sx_wire_put_uint(&w, PMIX_REGEX, sizeof(pmix_data_type_t));
    cr_expect_eq(give(&w, w.size), PMIX_SUCCESS);
    cr_expect_eq(answered(), PMIX_ERR_NOT_SUPPORTED);
    request_end(&w);
}

/* The commit has two buckets, which together would take more than a message may. */
Test(session, all_buckets_of_a_commit_are_one_message)
{
    static char bytes[100];
    const pmix_value_t value = { .type = PMIX_BYTE_OBJECT,
                                 .data.bo = { .bytes = bytes, .size = sizeof(bytes) } };
    struct sx_wire_writer w = { .form = forms[0] };

    session_init(forms[0], 0);
    put_buckets(&w, &value);
    for (size_t left = 400; left <= 600; left += 200) {
        struct sx_request request = { .session = &session };
        struct sx_wire_reader body = { .at = w.bytes,
                                       .end = w.bytes + w.size,
                                       .form = w.form,
                                       .memory = SX_CODEC_MEMORY_MAX - left };

        /* Without a server a commit that was read is refused, too. */
        cr_expect_eq(sx_gateway_commit(&request, &body),
                     left < 600 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_INIT);
    }
    request_end(&w);
}

/* They would be compared each with each. */
Test(session, more_codes_than_a_handler_may_have_are_refused_at_once)
{
    static pmix_status_t codes[SX_REGISTER_CODES_MAX + 1];
    const pmix_status_t rc[] = { PMIX_ERR_INIT, PMIX_ERR_BAD_PARAM };

    for (size_t i = 0; i < SX_COUNT(codes); i++) {
        codes[i] = -3001 - (pmix_status_t)i;
    }
    for (size_t i = 0; i < SX_COUNT(rc); i++) {
        struct sx_wire_writer w = { .form = forms[0] };

        session_init(forms[0], 0);
        sx_codec_put_u8(&w, SX_CODEC_COMMAND, 13);
        sx_codec_put_array(&w, PMIX_STATUS, codes, SX_REGISTER_CODES_MAX + i);
        sx_codec_put_size(&w, 0);
        cr_expect_eq(give(&w, w.size), PMIX_SUCCESS);
        cr_expect_eq(answered(), rc[i], "%zu codes", SX_REGISTER_CODES_MAX + i);
        request_end(&w);
    }
}

Test(session, deregistration_has_no_answer)
{
    struct sx_wire_writer w = { .form = forms[0] };

    session_init(forms[0], 0);
    sx_codec_put_u8(&w, SX_CODEC_COMMAND, 14);
    sx_codec_put_status(&w, INT_MIN);
    sx_codec_put_status(&w, -3001);
    cr_expect_eq(give(&w, w.size), PMIX_SUCCESS);
    cr_expect_eq(answers.count, 0);
    request_end(&w);
}

/* STATUS is written before; here is what comes behind it. */
static const struct {
    const char *why;
    uint32_t release;
    bool has_id;
    const char *bytes;
    size_t size;
} group_answers[] = {
#define MEMBERS "\x02\x01\x02\x04j\0\x02" /* SIZE 1, PROC {"j", 2} */
#define ROW(why, release, has_id, bytes)                        \
    {                                                           \
        (why), (release), (has_id), (bytes), sizeof(bytes) - 1, \
    }
    ROW("4.2.2", SX_FOREIGN_NUMBER(4, 2, 2), true, "\x02\x07"),
    ROW("4.2.3, no id", SX_FOREIGN_NUMBER(4, 2, 3), false, "\x02\x00"),
    ROW("4.2.4", SX_FOREIGN_NUMBER(4, 2, 4), true, MEMBERS "\x02\x07"),
    ROW("5.0.11, no id", SX_FOREIGN_NUMBER(5, 0, 11), false, MEMBERS),
    ROW("6.0.0", SX_FOREIGN_NUMBER(6, 0, 0), true, MEMBERS "\x02\x01\x02\x07"),
    ROW("6.0.0, no id", SX_FOREIGN_NUMBER(6, 0, 0), false, MEMBERS "\x02\x00"),
    ROW("6.1.0", SX_FOREIGN_NUMBER(6, 1, 0), true, MEMBERS "\x02\x01\x02\x07\x02\x00"),
#undef ROW
};

Test(session, a_constructed_group_is_notified_as_the_release_expects)
{
    pmix_proc_t member = { "j", 2 };
    pmix_data_array_t members = { .type = PMIX_PROC, .size = 1, .array = &member };
    const pmix_info_t infos[] = {
        { .key = PMIX_GROUP_MEMBERSHIP,
          .value = { .type = PMIX_DATA_ARRAY, .data.darray = &members } },
        { .key = PMIX_GROUP_CONTEXT_ID, .value = { .type = PMIX_SIZE, .data.size = 7 } },
    };

    for (size_t i = 0; i < SX_COUNT(group_answers); i++) {
        struct sx_wire_writer w = { .form = forms[0] };
        const struct sx_request request = { .session = &session };

        session_init(forms[0], group_answers[i].release);
        sx_gateway_group_put(&request, &w, infos, group_answers[i].has_id ? 2 : 1);
        cr_assert_eq(w.size, group_answers[i].size, "%s: %zu", group_answers[i].why, w.size);
        cr_expect_arr_eq(w.bytes, group_answers[i].bytes, w.size, "%s", group_answers[i].why);
        sx_wire_writer_deinit(&w);
    }
}

static const struct {
    const char *why;
    uint32_t release;
    size_t mib_max; /* of a body that the other library takes */
} largest[] = {
    { "3.2.5", SX_FOREIGN_NUMBER(3, 2, 5), 16 },
    { "4.0.0", SX_FOREIGN_NUMBER(4, 0, 0), SX_LINK_ANSWER_MAX >> 20 },
    { "5.0.11", SX_FOREIGN_NUMBER(5, 0, 11), SX_LINK_ANSWER_MAX >> 20 },
    { "6.1.0", SX_FOREIGN_NUMBER(6, 1, 0), 32 },
};

/* An answer of @size bytes.  Return: the bytes that are sent. */
static size_t answer_of(size_t size)
{
    struct sx_request *const request = calloc(1, sizeof(*request));
    struct sx_wire_writer body;

    request->session = &session;
    request->tag = TAG;
    request->name = "GETNB";
    sx_list_init(&request->deferred);
    sx_list_append(&session.requests, &request->node);
    session.request_count++;
    body = sx_request_body(request, PMIX_SUCCESS);
    cr_assert_not_null(sx_wire_reserve(&body, size));
    body.size = size;
    sx_request_answer_body(request, &body);
    cr_assert_eq(session.request_count, 0);
    return answers.size;
}

Test(session, an_answer_that_the_library_does_not_take_becomes_a_status)
{
    for (size_t i = 0; i < SX_COUNT(largest); i++) {
        const size_t size = largest[i].mib_max << 20;

        session_init(forms[0], largest[i].release);
        cr_expect_eq(answer_of(size), size, "%s", largest[i].why);
        session_init(forms[0], largest[i].release);
        cr_expect_eq(answer_of(size + 1), 2, "%s: %zu", largest[i].why, answers.size);
        cr_expect_eq(answered(), PMIX_ERR_OUT_OF_RESOURCE, "%s", largest[i].why);
    }
}

Test(session, tags_of_the_server_are_refused)
{
    session_init(forms[0], 0);
    cr_expect_neq(sx_session_on_message(&session, 0, "", 0), PMIX_SUCCESS);
    cr_expect_neq(sx_session_on_message(&session, 99, "", 0), PMIX_SUCCESS);
    cr_expect_eq(sx_session_on_message(&session, 1, "", 0), PMIX_SUCCESS); /* a heartbeat */
    cr_expect_eq(answers.count, 0);
}

Test(session, requests_are_bounded_and_end_with_the_good_bye)
{
    struct sx_wire_writer w = { .form = forms[0] };

    session_init(forms[0], 0);
    session.request_count = SX_SESSION_REQUESTS_MAX - 1;
    cr_expect_not(sx_session_is_full(&session));
    session.request_count++;
    cr_expect(sx_session_is_full(&session));
    session_init(forms[0], 0);
    session.is_finalized = true;
    sx_codec_put_u8(&w, SX_CODEC_COMMAND, 20);
    put_infos(&w);
    cr_expect_neq(give(&w, w.size), PMIX_SUCCESS);
    cr_expect_eq(answers.count, 0);
    request_end(&w);
}

/* Each key is known to the releases from its first one on: tests/abi/facts has that one. */
Test(keys, are_known_from_their_first_release_on)
{
    FILE *const facts = fopen(SHMIX_TESTS_FOLDER "/abi/facts/keys.tsv", "r");
    char line[512], name[256], key[256];
    unsigned major, minor, release, count = 0;

    cr_assert_not_null(facts);
    while (fgets(line, sizeof(line), facts) != NULL) {
        release = 0;
        if (sscanf(line, "%255s %255s %u.%u.%u", name, key, &major, &minor, &release) < 4) {
            continue; /* the head */
        }
        const uint32_t first = SX_FOREIGN_NUMBER(major, minor, release);

        cr_expect(sx_gateway_is_known(key, first), "%s", name);
        if (strcmp(key, PMIX_EVENT_HDLR_NAME) != 0) { /* a later key repeats its string */
            cr_expect_eq(sx_gateway_is_known(key, first - 1), first <= SX_FOREIGN_NUMBER(4, 2, 2),
                         "%s", name);
        }
        count++;
    }
    fclose(facts);
    cr_expect_gt(count, 600);
    cr_expect_not(sx_gateway_is_known("pmix.of.a.host", SX_FOREIGN_NUMBER(7, 0, 0)));
}
