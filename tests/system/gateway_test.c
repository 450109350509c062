/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway_test.c - requests of a rank with another library to its gateway: what they bring, and
 * what they cost, counted in messages and system calls.
 *
 * Each rank is the gateway of one process and that process: it writes the other library's messages
 * to one end of a connection, and serves the other end, in one thread. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "gateway/codec.h"
#include "gateway/hello.h"
#include "gateway/link.h"
#include "gateway/request.h"
#include "gateway/session.h"
#include "job.h"
#include "support/sanitized.h"
#include "support/traced.h"

#define KEYS 300
#define HEADER_BYTES 16

enum {
    REQ = 0,
    COMMIT = 2,
    FENCENB = 3,
    GETNB = 4,
    FINALIZE = 5,
    NOTIFY = 12,
    REGEVENTS = 13,
    DEREGEVENTS = 14,
    FABRIC_REGISTER = 30,
    REFRESH_CACHE = 33
};

/* ---- a process with the other library, and its gateway --------------------------------------- */

static struct theirs {
    struct sx_foreign foreign;
    struct sx_gateway_link link;
    struct sx_session *session;
    int fd; /* the process's end */
    uint8_t answer[1 << 16];
    size_t size;
} theirs;

static struct sx_wire_writer request_of(uint8_t command)
{
    struct sx_wire_writer w = { .form = theirs.foreign.form };
    const uint8_t header[HEADER_BYTES] = { [7] = 200 };

    sx_wire_put(&w, header, sizeof(header));
    sx_codec_put_u8(&w, SX_CODEC_COMMAND, command);
    return w;
}

/* Return: whether there is an answer. */
static bool answer_read(void)
{
    const ssize_t got = recv(theirs.fd, theirs.answer, sizeof(theirs.answer), MSG_DONTWAIT);

    CHECK(got > HEADER_BYTES || (got < 0 && errno == EAGAIN));
    theirs.size = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static void request_send(struct sx_wire_writer *w)
{
    const uint32_t size = (uint32_t)w->size - HEADER_BYTES;

    for (int i = 0; i < 4; i++) {
        w->bytes[8 + i] = (uint8_t)(size >> (24 - 8 * i));
    }
    CHECK(send(theirs.fd, w->bytes, w->size, 0) == (ssize_t)w->size);
    sx_gateway_link_read(&theirs.link, theirs.session);
    CHECK_STATUS(sx_session_progress(theirs.session), PMIX_SUCCESS);
    sx_wire_writer_deinit(w);
}

/* Serve until there is an answer.  Return: it. */
static struct sx_wire_reader answer_wait(void)
{
    struct pollfd fds[] = { { .fd = sx_session_fd(theirs.session), .events = POLLIN },
                            { .fd = theirs.fd, .events = POLLIN } };

    while (!answer_read()) {
        CHECK(poll(fds, 2, -1) > 0 || errno == EINTR);
        CHECK_STATUS(sx_session_progress(theirs.session), PMIX_SUCCESS);
    }
    return (struct sx_wire_reader){ .at = theirs.answer + HEADER_BYTES,
                                    .end = theirs.answer + theirs.size,
                                    .form = theirs.foreign.form };
}

/* The same.  Return: the answer, behind its status, which is that of success. */
static struct sx_wire_reader answer_good(void)
{
    struct sx_wire_reader r = answer_wait();

    CHECK_STATUS(sx_codec_get_status(&r), PMIX_SUCCESS);
    return r;
}

static struct sx_wire_reader ask(struct sx_wire_writer *w)
{
    request_send(w);
    return answer_good();
}

static void theirs_begin(int rank)
{
    struct sx_wire_writer w;
    int fds[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    theirs.fd = fds[0];
    PMIX_LOAD_PROCID(&theirs.foreign.proc, JOB_NSPACE, (pmix_rank_t)rank);
    theirs.foreign.form.encoding = SX_WIRE_V41;
    theirs.foreign.number = SX_FOREIGN_NUMBER(4, 2, 2);
    theirs.foreign.pid = getpid();
    sx_gateway_link_init(&theirs.link, fds[1]);
    CHECK_STATUS(sx_session_open(&theirs.link, &theirs.foreign, &theirs.session), PMIX_SUCCESS);
    sx_gateway_link_release(&theirs.link);
    w = request_of(REQ);
    request_send(&w);
    (void)answer_wait();
}

static int theirs_end(void)
{
    struct sx_wire_writer w = request_of(FINALIZE);

    (void)ask(&w);
    theirs.session = sx_session_close(theirs.session, false);
    sx_gateway_link_deinit(&theirs.link);
    return 0;
}

/* ---- its calls ------------------------------------------------------------------------------- */

static const char *key_of(unsigned i)
{
    static char key[32];

    snprintf(key, sizeof(key), "count.%u", i);
    return key;
}

/* A COMMIT with @bucket, which is freed, as what is local and as what is remote.  Its last @more
 * bytes are remote only. */
static struct sx_wire_writer commit_of(struct sx_wire_writer *bucket, size_t more)
{
    struct sx_wire_writer w = request_of(COMMIT);

    for (uint8_t scope = PMIX_LOCAL; scope <= PMIX_REMOTE; scope++) {
        const size_t size = bucket->size - (scope == PMIX_LOCAL ? more : 0);

        sx_codec_put_u8(&w, PMIX_SCOPE, scope);
        sx_wire_put_head(&w, SX_CODEC_BUFFER, 1);
        sx_wire_put_uint(&w, 1, 1);
        sx_wire_put_uint(&w, size, sizeof(uint64_t));
        sx_wire_put(&w, bucket->bytes, size);
    }
    sx_wire_writer_deinit(bucket);
    return w;
}

static void commit(unsigned count)
{
    struct sx_wire_writer bucket = { .form = theirs.foreign.form }, w;

    for (unsigned i = 0; i < count; i++) {
        const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = i };

        sx_codec_put_kval(&bucket, key_of(i), &value);
    }
    w = commit_of(&bucket, 0);
    (void)ask(&w);
}

static void fence_collect(void)
{
    struct sx_wire_writer w = request_of(FENCENB);
    const pmix_proc_t all = { JOB_NSPACE, PMIX_RANK_WILDCARD };
    const pmix_info_t info = { .key = PMIX_COLLECT_DATA,
                               .value = { .type = PMIX_BOOL, .data.flag = true } };

    sx_codec_put_array(&w, PMIX_PROC, &all, 1);
    sx_codec_put_infos(&w, &info, 1);
    (void)ask(&w);
}

static bool kept[KEYS]; /* by the library's store */

/* Ask for a key of @rank, and keep what comes. */
static void get(pmix_rank_t rank, unsigned i)
{
    struct sx_wire_writer w = request_of(GETNB);
    struct sx_wire_reader answer, object;
    pmix_value_t value;
    pmix_proc_t proc;
    const char *key;
    unsigned number;

    sx_codec_put_text(&w, JOB_NSPACE);
    sx_codec_put_u32(&w, PMIX_PROC_RANK, rank);
    sx_codec_put_size(&w, 0);
    sx_codec_put_text(&w, key_of(i));
    answer = ask(&w);
    object = sx_codec_get_bytes(&answer, PMIX_BYTE_OBJECT);
    CHECK(sx_codec_unpack(&object, PMIX_PROC, &proc, 1) && proc.rank == rank);
    while (sx_wire_rest(&object) > 0) {
        CHECK(sx_codec_get_kval(&object, &key, &value));
        CHECK(sscanf(key, "count.%u", &number) == 1 && value.data.uint32 == number);
        CHECK(!kept[number]);
        kept[number] = true;
    }
    CHECK(kept[i]);
}

/* ---- the cases ------------------------------------------------------------------------------- */

/* The first answer has four further values, the next one eight, and so on up to 128. */
static int many_keys_take_few_messages(int rank)
{
    unsigned messages = 0;

    theirs_begin(rank);
    commit(KEYS);
    fence_collect();
    for (unsigned i = 0; i < KEYS; i++) {
        if (!kept[i]) {
            get(1 - (pmix_rank_t)rank, i);
            messages++;
        }
    }
    printf("rank %d: %d keys in %u messages\n", rank, KEYS, messages);
    CHECK(messages == 7);
    fence_collect();
    return theirs_end();
}

/* Of a rank that asks for one key, whichever it is, few others are sent. */
static int one_key_brings_few_others(int rank)
{
    unsigned count = 0;

    theirs_begin(rank);
    commit(KEYS);
    fence_collect();
    get(1 - (pmix_rank_t)rank, KEYS - 2);
    for (unsigned i = 0; i < KEYS; i++) {
        count += kept[i];
    }
    CHECK(count == 5);
    CHECK(kept[KEYS - 1] && kept[0] && kept[2]); /* those that were put next, and around */
    fence_collect();
    return theirs_end();
}

/* Arrays of more than 8 KiB, as they are, or as the other library writes them. */
static int long_arrays_are_sent_when_asked_for(int rank)
{
    static double numbers[1025];
    pmix_data_array_t array = { .type = PMIX_DOUBLE, .size = SX_COUNT(numbers), .array = numbers };
    const pmix_value_t number = { .type = PMIX_UINT32, .data.uint32 = 0 },
                       doubles = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    struct sx_wire_writer bucket, w;

    theirs_begin(rank);
    bucket = (struct sx_wire_writer){ .form = theirs.foreign.form };
    CHECK(sx_codec_put_kval(&bucket, key_of(0), &number));
    CHECK(sx_codec_put_kval(&bucket, key_of(1), &doubles));
    array.size = 900; /* "0.000000", 7 KiB as they are */
    CHECK(sx_codec_put_kval(&bucket, key_of(2), &doubles));
    w = commit_of(&bucket, 0);
    (void)ask(&w);
    fence_collect();
    get(1 - (pmix_rank_t)rank, 0);
    CHECK(kept[0] && !kept[1] && !kept[2]);
    fence_collect();
    return theirs_end();
}

/* As traced_run, unless a sanitizer's runtime makes calls of its own. */
static bool trace(int (*work)(int rank), int rank, traced_fn look, void *arg)
{
    if (SANITIZED) {
        printf("skipped: a sanitizer makes calls of its own\n");
        return false;
    }
    traced_run(work, rank, look, arg);
    return true;
}

static void count_call(void *arg, pid_t pid, const struct __ptrace_syscall_info *info)
{
    (void)pid, (void)info;
    ++*(unsigned *)arg;
}

static int work_get(int rank)
{
    theirs_begin(rank);
    commit(KEYS);
    fence_collect();
    get(1 - (pmix_rank_t)rank, 0);
    traced_mark();
    get(1 - (pmix_rank_t)rank, 100);
    traced_mark();
    fence_collect();
    return theirs_end();
}

/* Sent and received by the process, received and answered by the gateway. */
static int a_get_is_two_calls_of_the_gateway(int rank)
{
    unsigned calls = 0;

    if (!trace(work_get, rank, count_call, &calls)) {
        return JOB_SKIPPED;
    }
    CHECK(calls == 4);
    return 0;
}

struct mapping {
    unsigned sent, sent_before; /* messages, and those before the call that maps */
};

static void look_for_mapping(void *arg, pid_t pid, const struct __ptrace_syscall_info *info)
{
    struct mapping *const mapping = arg;

    (void)pid;
    mapping->sent += info->entry.nr == SYS_sendto;
    if (info->entry.nr == SYS_madvise) {
        mapping->sent_before = mapping->sent;
    }
}

static int work_fence(int rank)
{
    theirs_begin(rank);
    commit(KEYS);
    traced_mark();
    fence_collect();
    traced_mark();
    return theirs_end();
}

/* The gateway enters what was collected into its page tables while the rank wakes up. */
static int a_fence_is_answered_before_its_data_are_mapped(int rank)
{
    struct mapping mapping = { 0 };

    if (!trace(work_fence, rank, look_for_mapping, &mapping)) {
        return JOB_SKIPPED;
    }
    CHECK(mapping.sent == 2);
    CHECK(mapping.sent_before == 2);
    return 0;
}

/* Its server takes a commit in at once, and so another rank's Get needs no message. */
static int a_commit_is_taken_at_once(int rank)
{
    pmix_info_t optional = info_flag(PMIX_OPTIONAL);
    const pmix_proc_t first = proc_of(JOB_NSPACE, 0);
    pmix_value_t *value = NULL;

    if (rank == 0) {
        theirs_begin(rank);
        commit(1);
        job_token_put(0);
        job_token_get(1);
        return theirs_end();
    }
    rank_begin(NULL);
    job_token_get(0);
    while (PMIx_Get(&first, "count.0", &optional, 1, &value) != PMIX_SUCCESS) {
        sched_yield();
    }
    PMIX_VALUE_RELEASE(value);
    job_token_put(1);
    return rank_end();
}

#define STEPS 3

/* Rank 0 has the other library, and commits in each step; rank 1 reads @read[i] after step i. */
static int in_steps(int rank, const unsigned *read, void (*step)(unsigned i),
                    const pmix_info_t *qualifier)
{
    const pmix_proc_t first = proc_of(JOB_NSPACE, 0);
    pmix_value_t *value;

    rank == 0 ? theirs_begin(rank) : rank_begin(NULL);
    for (unsigned i = 0; i < STEPS; i++) {
        if (rank == 0) {
            step(i);
            fence_collect();
            fence_collect();
            continue;
        }
        rank_fence();
        CHECK_STATUS(PMIx_Get(&first, "count", qualifier, qualifier != NULL, &value), PMIX_SUCCESS);
        printf("step %u: %u\n", i, value->data.uint32);
        CHECK(value->data.uint32 == read[i]);
        PMIX_VALUE_RELEASE(value);
        rank_fence();
    }
    return rank == 0 ? theirs_end() : rank_end();
}

/* A value with a qualifier, which takes the place of the one before. */
static void commit_qualified(unsigned i)
{
    struct sx_codec_group group = { .elements.form = theirs.foreign.form };
    struct sx_wire_writer bucket = { .form = theirs.foreign.form }, w;
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = i % 2 };
    pmix_info_t qualifier = info_u32("kind", 7);

    PMIX_INFO_SET_QUALIFIER(&qualifier);
    CHECK(sx_codec_group_add(&group, "count", &value));
    CHECK(sx_codec_group_add_info(&group, &qualifier));
    sx_codec_group_put(&bucket, PMIX_QUALIFIED_VALUE, &group);
    w = commit_of(&bucket, 0);
    (void)ask(&w);
}

static int a_qualified_value_that_comes_back_is_put_again(int rank)
{
    static const unsigned read[STEPS] = { 0, 1, 0 };
    pmix_info_t qualifier = info_u32("kind", 7);

    PMIX_INFO_SET_QUALIFIER(&qualifier);
    return in_steps(rank, read, commit_qualified, &qualifier);
}

/* The second commit has a type that is not carried, and so nothing of it is put. */
static void commit_refused(unsigned i)
{
    struct sx_wire_writer bucket = { .form = theirs.foreign.form }, w;
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = i > 0 };
    struct sx_wire_reader answer;
    size_t size;

    CHECK(sx_codec_put_kval(&bucket, "count", &value));
    size = bucket.size;
    if (i == 1) {
        sx_wire_put_head(&bucket, SX_CODEC_KVAL, 1);
        sx_wire_put_text(&bucket, "other");
        sx_wire_put_uint(&bucket, PMIX_REGEX, sizeof(pmix_data_type_t));
    }
    size = bucket.size - size;
    w = commit_of(&bucket, size);
    request_send(&w);
    answer = answer_wait();
    CHECK_STATUS(sx_codec_get_status(&answer), i == 1 ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS);
}

static int what_a_refused_commit_had_is_put_by_the_next(int rank)
{
    static const unsigned read[STEPS] = { 0, 0, 1 };

    return in_steps(rank, read, commit_refused, NULL);
}

/* What the rank's library keeps is read again: the values themselves, without other objects. */
static int a_refresh_brings_what_has_changed(int rank)
{
    struct sx_wire_writer w;
    struct sx_wire_reader answer;
    pmix_value_t value;
    const char *key;
    unsigned found = 0;

    theirs_begin(rank);
    commit((unsigned)rank + 1);
    fence_collect();
    w = request_of(REFRESH_CACHE);
    sx_codec_put_text(&w, NULL); /* its own namespace */
    sx_codec_put_u32(&w, PMIX_PROC_RANK, 1);
    answer = ask(&w);
    while (sx_wire_rest(&answer) > 0) {
        CHECK(sx_codec_get_kval(&answer, &key, &value));
        found += strncmp(key, "count.", 6) == 0;
        PMIX_VALUE_DESTRUCT(&value);
    }
    CHECK(found == 2);
    fence_collect();
    return theirs_end();
}

/* ---- events ---------------------------------------------------------------------------------- */

#define CODE (PMIX_EXTERNAL_ERR_BASE - 7)

static void notify(void)
{
    struct sx_wire_writer w = request_of(NOTIFY);

    sx_codec_put_status(&w, CODE);
    sx_codec_put_u8(&w, PMIX_DATA_RANGE, PMIX_RANGE_NAMESPACE);
    sx_codec_put_size(&w, 0);
    (void)ask(&w);
}

/* Wait for one event.  Return: the rank that has raised it. */
static pmix_rank_t event_wait(void)
{
    struct sx_wire_reader r = answer_wait();
    pmix_proc_t source;

    CHECK(sx_codec_get_u8(&r, SX_CODEC_COMMAND) == NOTIFY);
    CHECK_STATUS(sx_codec_get_status(&r), CODE);
    CHECK(sx_codec_unpack(&r, PMIX_PROC, &source, 1));
    return source.rank;
}

/* Its library shows its process what that process raises.  Events come in one order, so the first
 * one that rank 0 gets is that of rank 1. */
static int an_event_is_for_the_others(int rank)
{
    struct sx_wire_writer w;

    theirs_begin(rank);
    w = request_of(REGEVENTS);
    sx_codec_put_size(&w, 0); /* all codes */
    sx_codec_put_size(&w, 0);
    (void)ask(&w);
    fence_collect();
    if (rank == 0) { /* the tokens: no event comes together with an answer */
        job_token_get(0);
        notify();
        job_token_put(1);
        CHECK(event_wait() == 1);
    } else {
        job_token_put(0);
        CHECK(event_wait() == 0);
        job_token_get(1);
        notify();
    }
    w = request_of(DEREGEVENTS);
    sx_codec_put_status(&w, INT_MIN); /* all codes */
    request_send(&w);
    CHECK(sx_list_empty(&theirs.session->handlers));
    fence_collect();
    return theirs_end();
}

/* ---- the host's fabric ----------------------------------------------------------------------- */

static pmix_status_t on_fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t op,
                               const pmix_info_t directives[], size_t ndirs,
                               pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    pmix_info_t vendor = info_text(PMIX_FABRIC_VENDOR, "vendor");

    cbfunc(PMIX_SUCCESS, &vendor, 1, cbdata, NULL, NULL);
    PMIx_Info_destruct(&vendor);
    return PMIX_SUCCESS;
}

/* Again and again: what one answer leaves serves the next. */
static int a_fabric_is_described(int rank)
{
    theirs_begin(rank);
    for (int i = 0; i < 3; i++) {
        struct sx_wire_writer w = request_of(FABRIC_REGISTER);
        struct sx_wire_reader answer;
        struct sx_codec_infos infos;

        sx_codec_put_size(&w, 0);
        answer = ask(&w);
        infos = sx_codec_get_infos(&answer);
        CHECK(infos.count >= 1 && PMIx_Check_key(infos.at[0].key, PMIX_FABRIC_VENDOR));
        sx_codec_infos_free(&infos);
    }
    return theirs_end();
}

static const struct job_case cases[] = {
    { "many_keys_take_few_messages", 2, many_keys_take_few_messages },
    { "one_key_brings_few_others", 2, one_key_brings_few_others },
    { "long_arrays_are_sent_when_asked_for", 2, long_arrays_are_sent_when_asked_for },
    { "a_get_is_two_calls_of_the_gateway", 2, a_get_is_two_calls_of_the_gateway },
    { "a_fence_is_answered_before_its_data_are_mapped", 2,
      a_fence_is_answered_before_its_data_are_mapped },
    { "a_commit_is_taken_at_once", 2, a_commit_is_taken_at_once },
    { "a_qualified_value_that_comes_back_is_put_again", 2,
      a_qualified_value_that_comes_back_is_put_again },
    { "what_a_refused_commit_had_is_put_by_the_next", 2,
      what_a_refused_commit_had_is_put_by_the_next },
    { "a_refresh_brings_what_has_changed", 2, a_refresh_brings_what_has_changed },
    { "an_event_is_for_the_others", 2, an_event_is_for_the_others },
    { "a_fabric_is_described", 1, a_fabric_is_described },
};

int main(int argc, char **argv)
{
    job_module.fabric = on_fabric;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
