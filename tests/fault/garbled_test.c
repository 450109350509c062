/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* garbled_test.c - every kind of request that a client may send, with a body that its signature
 * describes: whole, with contents that mean little, and mutated.
 *
 * The rows of the table of messages are the test's: a new one is in it.  After each body the server
 * has either dropped its client or goes on to serve it, and somebody else besides; an attack ends
 * with a connection. */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"
#include "base/util.h"
#include "garbled.h"
#include "host.h"

#define SEED UINT64_C(20261126)
#define HONEST_JOB "honest.job"
#define PROBE UINT32_MAX  /* id of a request that is always answered */
#define PER_CONNECTION 48 /* bodies, if the server lets them */

#define MUTATED_OF 12u /* one of so many is mutated, and costs a connection as a rule */

#define CONNECTIONS 96u /* that a kind may cost: some of them cost one each time */

/* How many of each kind are sent, at most. */
static unsigned bodies_per_kind(void)
{
    return MUTATED_OF * (fault_is_sanitized() ? 12 : 24);
}

static bool is_mutated(unsigned number)
{
    return number % MUTATED_OF == MUTATED_OF - 1;
}

/* ---- somebody honest ------------------------------------------------------------------------- */

enum { ASKED, ANSWERED }; /* words of fault_shared->state */

static void word_wait(int word, uint32_t value)
{
    _Atomic uint32_t *const at = &fault_shared->state[word];

    for (uint32_t now = atomic_load(at); now != value; now = atomic_load(at)) {
        (void)syscall(SYS_futex, at, FUTEX_WAIT, now, NULL, NULL, 0);
    }
}

static void word_set(int word, uint32_t value)
{
    atomic_store(&fault_shared->state[word], value);
    (void)syscall(SYS_futex, &fault_shared->state[word], FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* The server makes it when it is first wanted: before anything is counted. */
static void published_want(int socket_fd)
{
    static const struct sx_segment_get get = { .wanted = SX_WANT_PUBLISHED };
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    struct sx_frame frame;

    attack_request(socket_fd, SX_MSG_SEGMENT_GET, 1, &get, sizeof(get));
    CHECK_STATUS(sx_frame_receive(socket_fd, buffer, &frame, UINT64_MAX), PMIX_SUCCESS);
    sx_frame_release(&frame);
}

/* Asks for a segment whenever it is told to. */
static int role_honest(const char *arg)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION };
    struct sx_segment_get get = { .wanted = SX_WANT_STORE };
    struct attacker self;

    snprintf(hello.nspace, sizeof(hello.nspace), HONEST_JOB);
    snprintf(get.nspace, sizeof(get.nspace), HONEST_JOB);
    CHECK_STATUS(attack_attach_hello(&self, &hello), PMIX_SUCCESS);
    published_want(self.socket_fd);
    for (uint32_t round = 1; atomic_load(&fault_shared->go) == 0; round++) {
        attack_request(self.socket_fd, SX_MSG_SEGMENT_GET, round, &get, sizeof(get));
        close(attack_expect_descriptor(self.socket_fd, round));
        word_set(ANSWERED, round);
        word_wait(ASKED, round);
    }
    attack_request(self.socket_fd, SX_MSG_FINALIZE, 1, NULL, 0);
    (void)attack_expect_reply(self.socket_fd, 1, PMIX_SUCCESS);
    attack_detach(&self);
    return 0;
}

static void honest_asks(void)
{
    const uint32_t round = atomic_load(&fault_shared->state[ASKED]) + 1;

    word_set(ASKED, round);
    fault_waiting_for = fault_shared->attack_name;
    word_wait(ANSWERED, round + 1);
}

static void company(bool begin)
{
    static pid_t pid;

    if (begin) {
        fault_job_start(HONEST_JOB, 1);
        pid = fault_start(HONEST_JOB, 0, "honest", NULL);
        word_wait(ANSWERED, 1);
        return;
    }
    atomic_store(&fault_shared->go, 1);
    word_set(ASKED, atomic_load(&fault_shared->state[ASKED]) + 1);
    fault_wait_ok(pid, "the honest rank");
    fault_job_end(HONEST_JOB);
}

/* ---- the attacker ---------------------------------------------------------------------------- */

static struct attacker attacker;
static bool is_attached;

static void attach(void)
{
    if (!is_attached) {
        attack_begin(ATTACK_LINES_ANY, "a new connection");
        attack_attach(&attacker);
        attack_window(&attacker);
        is_attached = true;
    }
}

static void detach(void)
{
    if (is_attached) {
        attack_detach(&attacker);
        attack_end();
        is_attached = false;
    }
}

/* In the window when it does not fit in a frame, and sometimes when it does. */
static void body_send(uint16_t kind, uint32_t id, const struct garbled *body, bool in_window)
{
    if (in_window) {
        CHECK(pwrite(attacker.window_fd, body->bytes, body->size, 0) == (ssize_t)body->size,
              "no window");
        (void)sx_frame_send_window(attacker.socket_fd, kind, 0, id, body->size, UINT64_MAX);
    } else {
        attack_request(attacker.socket_fd, kind, id, body->bytes, body->size);
    }
}

/* Wait until the server has seen all that was sent.  Return: whether it goes on with us. */
static bool is_served(void)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    struct sx_frame frame;

    attack_request(attacker.socket_fd, SX_MSG_RESULTS_GET, PROBE, NULL, 0);
    for (;;) {
        const pmix_status_t rc = sx_frame_receive(attacker.socket_fd, buffer, &frame, UINT64_MAX);

        if (rc == PMIX_ERR_LOST_CONNECTION) {
            return false;
        }
        CHECK_STATUS(rc, PMIX_SUCCESS);
        CHECK(frame.header.kind == SX_MSG_REPLY, "%s: kind %u", fault_shared->attack_name,
              frame.header.kind);
        const bool is_probe = frame.header.id == PROBE;
        const pmix_status_t status = ((const struct sx_reply *)frame.body)->status;

        sx_frame_release(&frame);
        if (is_probe) {
            return status == PMIX_SUCCESS; /* or it has let itself be dismissed */
        }
    }
}

/* Return: whether the server goes on with its client. */
static bool body_try(uint16_t kind, unsigned number)
{
    static struct garbled body;
    const struct sx_message_spec *const spec = sx_message_spec(kind);
    uint64_t seed = SEED + ((uint64_t)kind << 32) + number;

    garbled_write(&body, spec->body, ATTACK_JOB, &seed);
    if (is_mutated(number)) {
        garbled_mutate(&body, spec->body, &seed);
    }
    attach();
    snprintf(fault_shared->attack_name, sizeof(fault_shared->attack_name),
             "%s number %u (seed %llu), %s, %zu bytes", spec->name, number,
             (unsigned long long)SEED, is_mutated(number) ? "mutated" : "whole", body.size);
    body_send(kind, number + 1, &body,
              spec->bulk_max != 0 && body.size > 0 &&
                  (body.size > SX_FRAME_BODY_MAX || number / MUTATED_OF % 4 == 0));
    const bool goes_on = is_served();

    if (!goes_on) {
        detach();
    }
    honest_asks();
    return goes_on;
}

static void kind_try(uint16_t kind)
{
    const char *const name = sx_message_spec(kind)->name;
    unsigned sent[2] = { 0, 0 }, taken[2] = { 0, 0 }, lost = 0; /* whole, mutated */

    for (unsigned number = 0; number < bodies_per_kind() && lost < CONNECTIONS; number++) {
        const bool goes_on = body_try(kind, number);

        sent[is_mutated(number)]++;
        taken[is_mutated(number)] += goes_on;
        lost += !goes_on;
        if (number % PER_CONNECTION == PER_CONNECTION - 1) {
            detach();
        }
    }
    detach();
    fault_say("%-16s %3u of %3u whole ones were taken, %2u of %2u mutated ones", name, taken[0],
              sent[0], taken[1], sent[1]);
    CHECK(taken[0] > 0 || kind == SX_MSG_HELLO || kind == SX_MSG_FINALIZE, "%s: none is taken",
          name);
}

static int role_garbled(const char *arg)
{
    for (uint16_t kind = SX_MSG_HELLO; kind < SX_MSG_SPEC_MAX; kind++) {
        if (sx_message_spec(kind)->from_client) {
            kind_try(kind);
        }
    }
    return 0;
}

/* ---- a host that answers in turns: at once, by refusing, when the caller has gone, never --------- */

#define MISSED_MAX 2 /* what is asked is left to chance */

static const uint32_t entries = HOST_BIT(HOST_ABORT) | HOST_BIT(HOST_PUBLISH) |
                                HOST_BIT(HOST_LOOKUP) | HOST_BIT(HOST_UNPUBLISH) |
                                HOST_BIT(HOST_SPAWN) | HOST_BIT(HOST_REGISTER_EVENTS) |
                                HOST_BIT(HOST_DEREGISTER_EVENTS) | HOST_BIT(HOST_NOTIFY_EVENT) |
                                HOST_BIT(HOST_QUERY) | HOST_BIT(HOST_LOG) |
                                HOST_BIT(HOST_ALLOCATE) | HOST_BIT(HOST_JOB_CONTROL) |
                                HOST_BIT(HOST_MONITOR) | HOST_BIT(HOST_GET_CREDENTIAL) |
                                HOST_BIT(HOST_VALIDATE_CREDENTIAL) | HOST_BIT(HOST_IOF_PULL) |
                                HOST_BIT(HOST_PUSH_STDIN) | HOST_BIT(HOST_FABRIC);
static unsigned asked[HOST_ENTRIES];

/* What is never answered counts for its process as long as the server is there: so it is once. */
static pmix_status_t answer_in_turns(const struct host_question *question)
{
    enum { AT_ONCE, REFUSED, LATE, NEVER, WAYS };
    const unsigned number = asked[question->entry]++;
    const unsigned way = number % WAYS;

    if (way == REFUSED) {
        return PMIX_ERR_NOT_AVAILABLE;
    }
    if (way == LATE || (way == NEVER && number > WAYS)) {
        return host_keep(question);
    }
    if (way == AT_ONCE) {
        host_answer(question, PMIX_SUCCESS);
    }
    return PMIX_SUCCESS;
}

/* The callers have gone: answer what is to be answered late. */
static void settle(void)
{
    struct host_question question;

    for (unsigned i = 0; host_take(&question); i++) {
        host_answer(&question, i % 2 == 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    }
}

static void entries_check(void)
{
    unsigned missed = 0;

    for (unsigned i = 0; i < HOST_ENTRIES; i++) {
        if ((entries & HOST_BIT(i)) != 0) {
            fault_say("the host was asked %4u times: %s", asked[i], host_entry_names[i]);
            missed += asked[i] == 0;
        }
    }
    CHECK(missed <= MISSED_MAX, "%u entries were never asked", missed);
}

/* ---- the case -------------------------------------------------------------------------------- */

static void judge(void)
{
    const char *const tmpdir = fault_tmpdir_make();

    /* What is logged is not for the node's own log. */
    CHECK(setenv("SHMIX_SYSLOG", "none", 1) == 0, "no memory");
    attack_company = company;
    attack_judge("garbled");
    CHECK(fault_dir_count(tmpdir, NULL) == 0, "something is left in %s", tmpdir);
}

static int case_with_host(void)
{
    host_begin(entries, answer_in_turns);
    attack_settle = settle;
    judge();
    entries_check();
    return 0;
}

/* The server does what it can do itself. */
static int case_without_host(void)
{
    judge();
    return 0;
}

static const struct fault_case cases[] = { { "with_host", case_with_host },
                                           { "without_host", case_without_host } };
static const struct fault_role roles[] = { { "garbled", role_garbled }, { "honest", role_honest } };

FAULT_MAIN(cases, roles)
