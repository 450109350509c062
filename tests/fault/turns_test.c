/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* turns_test.c - the server never waits for a client: whatever one of them does, a turn of the loop
 * gives it its share and no more, and the others theirs.  Gated on counts of work, never on time. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attack.h"
#include "base/value/value.h"
#include "client/event/event.h"
#include "server/data/data.h"
#include "server/data/get_index.h"
#include "server/model/state.h"
#include "shmem/qualified.h"

/* ---- one turn at a time ---------------------------------------------------------------------- */

/* What a turn has taken of the lanes of the two ranks of the job, seen from the loop's own thread:
 * each post that it gives itself runs in the turn after. */
struct turns {
    struct sx_loop_post post;
    struct sx_server *server;
    uint64_t before[2];
    unsigned count, quiet_after;
    uint64_t most_bytes, least_bytes;
    _Atomic bool over;
};

static uint64_t head_of(struct sx_server *server, uint32_t rank)
{
    return sx_client_find(sx_nspace_find(server, ATTACK_JOB), rank)->lane.head;
}

static void turn_is_over(void *arg, uint64_t now_ns)
{
    struct turns *turns = arg;
    const uint64_t taken = head_of(turns->server, 0) - turns->before[0];
    const struct sx_client *loud = sx_client_find(sx_nspace_find(turns->server, ATTACK_JOB), 0);

    turns->count++;
    turns->before[0] += taken;
    turns->most_bytes = taken > turns->most_bytes ? taken : turns->most_bytes;
    if (sx_lane_pending(&loud->lane)) {
        turns->least_bytes = taken < turns->least_bytes ? taken : turns->least_bytes;
    }
    if (turns->quiet_after == 0 && head_of(turns->server, 1) != turns->before[1]) {
        turns->quiet_after = turns->count;
    }
    if (sx_lane_pending(&loud->lane)) {
        CHECK_STATUS(sx_loop_post(turns->server->loop, &turns->post), PMIX_SUCCESS);
    } else {
        atomic_store(&turns->over, true);
    }
}

/* The loop stands still here until both lanes have been written; the turn goes on with them. */
static pmix_status_t hold_and_watch(struct sx_server *server, void *arg)
{
    struct turns *turns = arg;

    turns->server = server;
    turns->least_bytes = UINT64_MAX;
    atomic_store(&fault_shared->go, 1);
    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 2 && atomic_load(&fault_shared->state[1]) == 2,
             "both lanes");
    turns->before[0] = head_of(server, 0);
    turns->before[1] = head_of(server, 1);
    turns->post = (struct sx_loop_post){ .fn = turn_is_over, .arg = turns };
    return sx_loop_post(server->loop, &turns->post);
}

/* Rank 0 fills its lane with the smallest messages there are, rank 1 writes one. */
static int role_lane_writer(const char *arg)
{
    struct attacker attacker;
    const bool loud = strcmp(arg, "loud") == 0;
    const uint32_t rank = loud ? 0 : 1;

    CHECK_STATUS(attack_attach_as(&attacker, rank), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[rank], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host's word to go");
    pmix_status_t rc;
    do {
        rc = sx_lane_append(&attacker.lane, SX_LANE_COMMIT_END, NULL, 0);
    } while (loud && rc == PMIX_SUCCESS);
    CHECK_STATUS(rc, loud ? PMIX_ERR_WOULD_BLOCK : PMIX_SUCCESS);
    atomic_store(&fault_shared->state[rank], 2);
    WAIT_FOR(atomic_load(&fault_shared->stop) == 1, "the host's word to stop");
    attack_detach(&attacker);
    return 0;
}

static int case_lane_share(void)
{
    static struct turns turns;

    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 2);
    const pid_t loud = fault_start(ATTACK_JOB, 0, "lane_writer", "loud");
    const pid_t quiet = fault_start(ATTACK_JOB, 1, "lane_writer", "quiet");
    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1 && atomic_load(&fault_shared->state[1]) == 1,
             "both to connect");
    CHECK_STATUS(sx_server_call(sx_server_get(), hold_and_watch, &turns), PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&turns.over), "the full lane to be taken");
    fault_say("a full lane of %u messages in %u turns, %llu to %llu bytes each", SX_LANE_BYTES / 8,
              turns.count, (unsigned long long)turns.least_bytes,
              (unsigned long long)turns.most_bytes);
    CHECK(turns.quiet_after == 1, "the other lane was taken in turn %u", turns.quiet_after);
    CHECK(turns.most_bytes <= 8 * SX_TURN_UNITS, "%llu bytes in one turn",
          (unsigned long long)turns.most_bytes);
    CHECK(turns.least_bytes >= 8, "a turn left out who had something");
    CHECK(turns.count >= SX_LANE_BYTES / 8 / SX_TURN_UNITS, "%u turns", turns.count);
    atomic_store(&fault_shared->stop, 1);
    fault_wait_ok(loud, "the loud rank");
    fault_wait_ok(quiet, "the quiet rank");
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return 0;
}

/* ---- rest ------------------------------------------------------------------------------------ */

#define LONG_UNITS (5 * SX_TURN_LONG_UNITS)

struct rest {
    struct sx_loop_post post;
    struct sx_server *server;
    uint64_t begin_ns, ahead_ns; /* the loop's clock stands still but for this */
    uint64_t head;
    unsigned turns_resting, turns_after;
    _Atomic bool over;
};

static uint64_t clock_ahead(void *arg)
{
    const struct rest *rest = arg;

    return rest->begin_ns + rest->ahead_ns;
}

/* Some turns in which the loud one has much and gets nothing; then its time comes. */
static void rest_goes_on(void *arg, uint64_t now_ns)
{
    struct rest *rest = arg;
    const bool was_served = head_of(rest->server, 0) != rest->head;

    if (rest->ahead_ns == 0) {
        CHECK(!was_served, "it is served in turn %u of its rest", rest->turns_resting);
        rest->turns_resting++;
        rest->ahead_ns = rest->turns_resting == 5 ? UINT64_C(1000000000) : 0;
    } else {
        rest->turns_after++;
        CHECK(was_served || rest->turns_after < 5, "it rests for ever");
    }
    if (was_served) {
        atomic_store(&rest->over, true);
    } else {
        CHECK_STATUS(sx_loop_post(rest->server->loop, &rest->post), PMIX_SUCCESS);
    }
}

static pmix_status_t hold_and_charge(struct sx_server *server, void *arg)
{
    struct rest *rest = arg;
    struct sx_client *loud = sx_client_find(sx_nspace_find(server, ATTACK_JOB), 0);

    rest->server = server;
    rest->head = head_of(server, 0);
    rest->begin_ns = server->turn.now_ns = fault_now_ns();
    sx_loop_set_clock(server->loop, clock_ahead, rest);
    sx_share_charge(server, loud, LONG_UNITS);
    CHECK(loud->share.rest.source.loop != NULL, "it does not rest");
    CHECK(loud->share.rest.deadline_ns ==
              server->turn.now_ns + (LONG_UNITS + SX_TURN_REST_UNITS) * SX_TURN_UNIT_NS,
          "it rests for another time");
    atomic_store(&fault_shared->go, 1);
    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 2 && atomic_load(&fault_shared->state[1]) == 2,
             "both lanes");
    rest->post = (struct sx_loop_post){ .fn = rest_goes_on, .arg = rest };
    return sx_loop_post(server->loop, &rest->post);
}

static int case_rest(void)
{
    static struct rest rest;

    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 2);
    const pid_t loud = fault_start(ATTACK_JOB, 0, "lane_writer", "loud");
    const pid_t quiet = fault_start(ATTACK_JOB, 1, "lane_writer", "quiet");
    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1 && atomic_load(&fault_shared->state[1]) == 1,
             "both to connect");
    CHECK_STATUS(sx_server_call(sx_server_get(), hold_and_charge, &rest), PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&rest.over), "the end of its rest");
    atomic_store(&fault_shared->stop, 1);
    fault_wait_ok(loud, "the loud rank");
    fault_wait_ok(quiet, "the quiet rank");
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return 0;
}

/* ---- refusals -------------------------------------------------------------------------------- */

#define REFUSED 100u /* they all fit into the backlog */
#define REFUSED_TEXT "refused: it wants to be a rank"

static int role_intruder(const char *arg)
{
    struct sx_hello hello;

    attack_hello(&hello, 1000);
    for (unsigned i = 0; i < REFUSED; i++) {
        const int fd = attack_connect();

        attack_request(fd, SX_MSG_HELLO, 1, &hello, sizeof(hello));
        close(fd);
    }
    return 0;
}

static pmix_status_t stop_clock(struct sx_server *server, void *arg)
{
    struct rest *const rest = arg;

    rest->begin_ns = fault_now_ns();
    sx_loop_set_clock(server->loop, clock_ahead, rest);
    return PMIX_SUCCESS;
}

static pmix_status_t start_clock(struct sx_server *server, void *arg)
{
    sx_loop_set_clock(server->loop, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t is_resting(struct sx_server *server, void *arg)
{
    *(bool *)arg = server->entry.strangers.accepts[0].source.loop == NULL &&
                   server->entry.strangers.count == 0;
    return PMIX_SUCCESS;
}

static bool accept_rests(void)
{
    bool rests = false;

    CHECK_STATUS(sx_server_call(sx_server_get(), is_resting, &rests), PMIX_SUCCESS);
    return rests;
}

/* As long as the clock stands still, a share's worth of them is refused, and those who were
 * accepted with them.  When it goes on, all are, and whoever comes behind them gets in. */
static int case_refusals(void)
{
    static struct rest rest;
    const unsigned share = SX_TURN_STRANGER_UNITS / 20 + 2 * SX_ACCEPT_BATCH_MAX;

    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 1);
    CHECK_STATUS(sx_server_call(sx_server_get(), stop_clock, &rest), PMIX_SUCCESS);
    fault_wait_ok(fault_start(ATTACK_JOB, 0, "intruder", ""), "the intruder");
    WAIT_FOR(accept_rests(), "the server to accept nobody");
    const unsigned refused = fault_log_lines(getpid(), REFUSED_TEXT);

    fault_say("%u of %u refused before the rest (%u may be)", refused, REFUSED, share);
    CHECK(refused <= share, "%u refused", refused);
    CHECK_STATUS(sx_server_call(sx_server_get(), start_clock, NULL), PMIX_SUCCESS);
    WAIT_FOR(fault_log_lines(getpid(), REFUSED_TEXT) == REFUSED, "the others to be refused");
    fault_job_end(ATTACK_JOB);
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

/* ---- the end of a job ------------------------------------------------------------------------ */

#define ENDING_RANKS 160u
#define ENDING_RANKS_MAX 75u /* of one turn */

struct ending {
    struct sx_loop_post post;
    struct sx_server *server;
    size_t live, most;
    unsigned turns, called;
    _Atomic bool over;
};

static void ending_turn_is_over(void *arg, uint64_t now_ns)
{
    struct ending *ending = arg;
    const size_t gone = ending->live - ending->server->live_count;

    ending->turns++;
    ending->live -= gone;
    ending->most = gone > ending->most ? gone : ending->most;
    if (ending->live > 0) {
        CHECK_STATUS(sx_loop_post(ending->server->loop, &ending->post), PMIX_SUCCESS);
    } else {
        atomic_store(&ending->over, true);
    }
}

static void job_has_ended(pmix_status_t status, void *cbdata)
{
    struct ending *ending = cbdata;

    CHECK_STATUS(status, PMIX_SUCCESS);
    ending->called++;
}

static pmix_status_t end_and_watch(struct sx_server *server, void *arg)
{
    struct ending *ending = arg;

    ending->server = server;
    ending->live = server->live_count;
    ending->post = (struct sx_loop_post){ .fn = ending_turn_is_over, .arg = ending };
    PMIx_server_deregister_nspace(ATTACK_JOB, job_has_ended, ending);
    return sx_loop_post(server->loop, &ending->post);
}

/* All ranks of the job at once. */
static int role_all_ranks(const char *arg)
{
    static struct attacker all[ENDING_RANKS];

    for (uint32_t rank = 0; rank < ENDING_RANKS; rank++) {
        CHECK_STATUS(attack_attach_as(&all[rank], rank), PMIX_SUCCESS);
        for (size_t i = 0; i < SX_COUNT(all[rank].fds); i++) {
            close(all[rank].fds[i]);
        }
    }
    atomic_store(&fault_shared->state[0], 1);
    for (uint32_t rank = 0; rank < ENDING_RANKS; rank++) {
        attack_expect_end(all[rank].socket_fd);
    }
    return 0;
}

static int case_job_ends(void)
{
    static struct ending ending;

    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, ENDING_RANKS);
    const pid_t pid = fault_start(ATTACK_JOB, 0, "all_ranks", "");
    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1, "all ranks to connect");
    CHECK_STATUS(sx_server_call(sx_server_get(), end_and_watch, &ending), PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&ending.over), "the end of the job");
    fault_wait_ok(pid, "the ranks");
    fault_job_whole(ATTACK_JOB, 2, 3); /* its name is free */
    fault_say("at most %zu ranks in a turn, %u turns", ending.most, ending.turns);
    CHECK(ending.most <= ENDING_RANKS_MAX, "%zu ranks in one turn", ending.most);
    CHECK(ending.called == 1, "the host was called %u times", ending.called);
    fault_server_stop();
    return 0;
}

/* ---- long values ----------------------------------------------------------------------------- */

#define LONG_VALUE_BYTES (24u << 20)
#define LONG_VALUES 5u /* one after the other; the store is renewed for the first, and again */
#define LONG_TURN_UNITS 2000u
#define LONG_STRINGS 4000u
#define LONG_STRING_BYTES 3000u

static int role_long_values(const char *arg)
{
    char *const bytes = calloc(1, LONG_VALUE_BYTES);
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

    (void)arg;
    CHECK(bytes != NULL, "no memory");
    value.data.bo.bytes = bytes;
    value.data.bo.size = LONG_VALUE_BYTES;
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    for (unsigned i = 1; i <= LONG_VALUES; i++) {
        memset(bytes, (int)i, LONG_VALUE_BYTES);
        CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "long.value", &value), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    free(bytes);
    return 0;
}

static pmix_status_t long_value_check(struct sx_server *server, void *arg)
{
    const struct sx_store *const store = &sx_nspace_find(server, ATTACK_JOB)->store.view;
    struct sx_item item;

    (void)arg;
    CHECK_STATUS(sx_store_find(store, SX_REALM_JOB, 0, "long.value", &item), PMIX_SUCCESS);
    const char *const bytes = item.body;

    CHECK(item.cell.len == LONG_VALUE_BYTES, "%u bytes", (unsigned)item.cell.len);
    for (size_t i = 0; i < item.cell.len; i++) {
        CHECK(bytes[i] == LONG_VALUES, "byte %zu is %d", i, bytes[i]);
    }
    return PMIX_SUCCESS;
}

/* What is taken away from this node stays for others. */
static int role_long_value_taken(const char *arg)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

    (void)arg;
    value.data.bo.bytes = calloc(1, LONG_VALUE_BYTES);
    value.data.bo.size = LONG_VALUE_BYTES;
    CHECK(value.data.bo.bytes != NULL, "no memory");
    memset(value.data.bo.bytes, LONG_VALUES, LONG_VALUE_BYTES);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "long.value", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "other.value", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_DEL_LOCAL, "long.value", NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_DEL_REMOTE, "other.value", NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    free(value.data.bo.bytes);
    return 0;
}

static pmix_status_t long_value_taken_check(struct sx_server *server, void *arg)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, ATTACK_JOB);
    struct sx_item item;

    (void)arg;
    CHECK_STATUS(sx_store_find(&nspace->store.view, SX_REALM_JOB, 0, "long.value", &item),
                 PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(sx_store_find(&nspace->remote.view, SX_REALM_JOB, 0, "long.value", &item),
                 PMIX_SUCCESS);
    CHECK(item.cell.len == LONG_VALUE_BYTES, "%u bytes", (unsigned)item.cell.len);
    for (size_t i = 0; i < item.cell.len; i++) {
        CHECK(((const char *)item.body)[i] == LONG_VALUES, "byte %zu", i);
    }
    CHECK_STATUS(sx_store_find(&nspace->store.view, SX_REALM_JOB, 0, "other.value", &item),
                 PMIX_SUCCESS);
    CHECK(sx_item_scope(&item) == PMIX_LOCAL, "scope %u", (unsigned)sx_item_scope(&item));
    return PMIX_SUCCESS;
}

static void long_turns_judge(void)
{
    /* relaxed: for a report. */
    const uint64_t units = atomic_load_explicit(&sx_server_get()->board.header->turn_units_max,
                                                memory_order_relaxed);

    fault_say("the longest turn took %llu units of work", (unsigned long long)units);
    CHECK(units <= LONG_TURN_UNITS, "%llu units in one turn", (unsigned long long)units);
}

/* Strings, which lie elsewhere when the value is stored without its qualifiers. */
static void strings_init(pmix_value_t *value, pmix_data_array_t *array)
{
    char **const strings = calloc(LONG_STRINGS, sizeof(*strings));
    static char text[LONG_STRING_BYTES + 1];

    CHECK(strings != NULL, "no memory");
    memset(text, 's', LONG_STRING_BYTES);
    for (size_t i = 0; i < LONG_STRINGS; i++) {
        strings[i] = text;
    }
    *array = (pmix_data_array_t){ PMIX_STRING, LONG_STRINGS, strings };
    *value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
}

static void qualifier_init(pmix_info_t *info)
{
    *info = (pmix_info_t){ .key = "q",
                           .flags = PMIX_INFO_QUALIFIER,
                           .value = { .type = PMIX_UINT32, .data.uint32 = 7 } };
}

static int role_long_value_qualified(const char *arg)
{
    pmix_info_t infos[2] = { { .key = "qualified" } };
    pmix_data_array_t strings, array = { PMIX_INFO, 2, infos };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    (void)arg;
    strings_init(&infos[0].value, &strings);
    qualifier_init(&infos[1]);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    free(strings.array);
    return 0;
}

static pmix_status_t long_value_qualified_check(struct sx_server *server, void *arg)
{
    const struct sx_store *const store = &sx_nspace_find(server, ATTACK_JOB)->store.view;
    char name[SX_QUALIFIED_NAME_LEN + 1];
    pmix_data_array_t strings;
    pmix_value_t want, got;
    pmix_info_t qualifier;

    (void)arg;
    strings_init(&want, &strings);
    qualifier_init(&qualifier);
    CHECK_STATUS(sx_qualified_name("qualified", 9, &qualifier, 1, name), PMIX_SUCCESS);
    CHECK_STATUS(sx_store_get(store, SX_REALM_QUALIFIED, 0, name, &got), PMIX_SUCCESS);
    CHECK(sx_value_compare(&want, &got) == 0, "another value");
    sx_value_destruct(&got);
    free(strings.array);
    return PMIX_SUCCESS;
}

static int case_long_value_qualified(void)
{
    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 1);
    fault_wait_ok(fault_start(ATTACK_JOB, 0, "long_value_qualified", ""), "the rank");
    CHECK_STATUS(sx_server_call(sx_server_get(), long_value_qualified_check, NULL), PMIX_SUCCESS);
    long_turns_judge();
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return 0;
}

static int case_long_value_taken(void)
{
    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 1);
    fault_wait_ok(fault_start(ATTACK_JOB, 0, "long_value_taken", ""), "the rank");
    CHECK_STATUS(sx_server_call(sx_server_get(), long_value_taken_check, NULL), PMIX_SUCCESS);
    long_turns_judge();
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return 0;
}

static int case_long_values(void)
{
    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 1);
    fault_wait_ok(fault_start(ATTACK_JOB, 0, "long_values", ""), "the rank");
    CHECK_STATUS(sx_server_call(sx_server_get(), long_value_check, NULL), PMIX_SUCCESS);
    long_turns_judge();
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return 0;
}

/* ---- values of many elements ----------------------------------------------------------------- */

#define MANY_ELEMENTS (1u << 20)
#define MANY_LOOKS_PER_TURN (SX_SHARE_STEP_UNITS * SX_SHARE_LOOKS_PER_UNIT)

/* The turns in which the server proves that a rank's value is one. */
struct judging {
    struct sx_loop_post post;
    struct sx_server *server;
    unsigned turns;
    _Atomic bool stop, stopped;
};

static void judging_watch(void *arg, uint64_t now_ns)
{
    struct judging *const judging = arg;

    (void)now_ns;
    judging->turns += sx_client_find(sx_nspace_find(judging->server, ATTACK_JOB), 0)->judged !=
                      NULL;
    if (atomic_load(&judging->stop)) {
        atomic_store(&judging->stopped, true);
    } else {
        CHECK_STATUS(sx_loop_post(judging->server->loop, &judging->post), PMIX_SUCCESS);
    }
}

static pmix_status_t judging_begin(struct sx_server *server, void *arg)
{
    struct judging *const judging = arg;

    judging->server = server;
    judging->post = (struct sx_loop_post){ .fn = judging_watch, .arg = judging };
    return sx_loop_post(server->loop, &judging->post);
}

/* One-letter strings, as values: what takes longest to check for its bytes. */
static int role_many_elements(const char *arg)
{
    pmix_value_t *const elements = calloc(MANY_ELEMENTS, sizeof(*elements));
    pmix_data_array_t array = { PMIX_VALUE, MANY_ELEMENTS, elements };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    char text[] = "x";

    (void)arg;
    CHECK(elements != NULL, "no memory");
    for (unsigned i = 0; i < MANY_ELEMENTS; i++) {
        elements[i].type = PMIX_STRING;
        elements[i].data.string = text;
    }
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "many.elements", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    free(elements);
    return 0;
}

static pmix_status_t many_elements_check(struct sx_server *server, void *arg)
{
    const struct sx_store *const store = &sx_nspace_find(server, ATTACK_JOB)->store.view;
    struct sx_item item;

    (void)arg;
    CHECK_STATUS(sx_store_find(store, SX_REALM_JOB, 0, "many.elements", &item), PMIX_SUCCESS);
    CHECK(item.cell.len > MANY_ELEMENTS * 24u, "%u bytes", (unsigned)item.cell.len);
    return PMIX_SUCCESS;
}

static int case_many_elements(void)
{
    static struct judging judging;
    const unsigned least = MANY_ELEMENTS / MANY_LOOKS_PER_TURN;

    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 1);
    CHECK_STATUS(sx_server_call(sx_server_get(), judging_begin, &judging), PMIX_SUCCESS);
    fault_wait_ok(fault_start(ATTACK_JOB, 0, "many_elements", ""), "the rank");
    atomic_store(&judging.stop, true);
    WAIT_FOR(atomic_load(&judging.stopped), "the last turn that is watched");
    CHECK_STATUS(sx_server_call(sx_server_get(), many_elements_check, NULL), PMIX_SUCCESS);
    fault_say("%u elements were checked in %u turns", MANY_ELEMENTS, judging.turns);
    CHECK(judging.turns >= least, "%u turns", judging.turns);
    long_turns_judge();
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return 0;
}

/* ---- Gets that wait ------------------------------------------------------------------------- */

static void get_send(const struct attacker *attacker, uint32_t id, const char *key)
{
    char body[sizeof(struct sx_get) + 64] = { 0 };
    struct sx_get get = { .rank = 0, .key_size = (uint32_t)strlen(key) + 1 };

    memcpy(get.nspace, ATTACK_JOB, sizeof(ATTACK_JOB));
    memcpy(body, &get, sizeof(get));
    memcpy(body + sizeof(get), key, get.key_size);
    attack_request(attacker->socket_fd, SX_MSG_GET, id, body, sizeof(get) + get.key_size);
}

/* As many wait as may; one more is refused, with one line for all that are, and one may wait again
 * when another is given up.  The answer to a request that is answered at once shows what was not
 * answered before. */
static int role_gets(const char *arg)
{
    struct attacker attacker;
    char key[32];

    attack_begin(1, "more Gets than may wait");
    attack_attach(&attacker);
    for (uint32_t i = 0; i < SX_GETS_MAX; i++) {
        snprintf(key, sizeof(key), "never.%u", i % 700); /* some wait for the same */
        get_send(&attacker, 10 + i, key);
    }
    attack_request(attacker.socket_fd, SX_MSG_RESULTS_GET, 5, NULL, 0);
    attack_expect_reply(attacker.socket_fd, 5, PMIX_SUCCESS);
    get_send(&attacker, 6, "one.more");
    attack_request(attacker.socket_fd, SX_MSG_RESULTS_GET, 9, NULL, 0);
    attack_expect_reply(attacker.socket_fd, 6, PMIX_ERR_OUT_OF_RESOURCE);
    attack_expect_reply(attacker.socket_fd, 9, PMIX_SUCCESS);
    attack_request(attacker.socket_fd, SX_MSG_GET_CANCEL, 10, NULL, 0);
    get_send(&attacker, 7, "one.instead");
    get_send(&attacker, 8, "one.more");
    attack_expect_reply(attacker.socket_fd, 8, PMIX_ERR_OUT_OF_RESOURCE);
    attack_detach(&attacker);
    attack_end();
    return 0;
}

static int case_gets_bound(void)
{
    attack_judge("gets");
    return 0;
}

/* ---- a rank dies, others wait for it, and it waits for others --------------------------------- */

#define WAITING 50u

static pmix_status_t count_waiting(struct sx_server *server, void *arg)
{
    const struct sx_nspace *nspace = sx_nspace_find(server, ATTACK_JOB);
    unsigned *counts = arg; /* of rank 0's Gets, of rank 1's; of those that wait for either */

    for (uint32_t rank = 0; rank < 2; rank++) {
        const struct sx_client *client = sx_client_find(nspace, rank);
        struct sx_awaited *awaited = sx_awaited_find(server, nspace, rank);

        counts[rank] = client->pending_counts[SX_PENDING_GET];
        counts[2 + rank] = client->waiter_count;
        CHECK((awaited == NULL ? 0 : awaited->wait_count) == client->waiter_count,
              "the counts differ");
        CHECK(client->slot == SX_BOARD_SLOT_MAX || (server->board.slots[client->slot].data_wanted !=
                                                    0) == (client->waiter_count > 0),
              "rank %u is not told whether it shall ring", rank);
    }
    return PMIX_SUCCESS;
}

static bool waiting_are(unsigned zero, unsigned one, unsigned for_zero, unsigned for_one)
{
    unsigned counts[4] = { 0 };

    CHECK_STATUS(sx_server_call(sx_server_get(), count_waiting, counts), PMIX_SUCCESS);
    return counts[0] == zero && counts[1] == one && counts[2] == for_zero && counts[3] == for_one;
}

/* Rank 0: asks for what rank 1 never puts, then for nothing more. */
static int role_survivor(const char *arg)
{
    pmix_value_t *value = NULL;
    pmix_proc_t self, other;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    other = self;
    other.rank = 1;
    CHECK_STATUS(PMIx_Get(&other, "never", NULL, 0, &value), PMIX_ERR_NOT_FOUND);
    atomic_store(&fault_shared->state[0], 1);
    WAIT_FOR(atomic_load(&fault_shared->stop) == 1, "the host's word to stop");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Rank 1: waits for much of rank 0, and is killed. */
static int role_victim(const char *arg)
{
    struct attacker attacker;
    char key[32];

    CHECK_STATUS(attack_attach_as(&attacker, 1), PMIX_SUCCESS);
    for (uint32_t i = 0; i < WAITING; i++) {
        snprintf(key, sizeof(key), "never.%u", i);
        get_send(&attacker, 10 + i, key);
    }
    if (strcmp(arg, "fork") == 0) { /* who goes on, with the socket and all, until it is killed */
        const pid_t child = fork();

        if (child == 0) {
            for (;;) {
                pause();
            }
        }
        atomic_store(&fault_shared->pid[1], (uint32_t)child);
    }
    atomic_store(&fault_shared->state[1], 1);
    for (;;) {
        pause();
    }
}

static void die_while_waiting(const char *how)
{
    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 2);
    const pid_t victim = fault_start(ATTACK_JOB, 1, "victim", how);
    WAIT_FOR(atomic_load(&fault_shared->state[1]) == 1, "rank 1 to ask");
    const pid_t survivor = fault_start(ATTACK_JOB, 0, "survivor", "");
    WAIT_FOR(waiting_are(1, WAITING, WAITING, 1), "both to wait for each other");
    CHECK(kill(victim, SIGKILL) == 0, "kill");
    (void)fault_wait(victim);
    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1, "the survivor's Get to end");
    WAIT_FOR(waiting_are(0, 0, 0, 0), "the dead rank's Gets to end");
    if (strcmp(how, "fork") == 0) {
        CHECK(kill((pid_t)atomic_load(&fault_shared->pid[1]), SIGKILL) == 0,
              "the forked child is gone, so it proved nothing");
    }
    atomic_store(&fault_shared->stop, 1);
    fault_wait_ok(survivor, "the survivor");
    fault_job_end(ATTACK_JOB);
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
}

static int case_dies_waiting(void)
{
    die_while_waiting("alone");
    return 0;
}

static int case_dies_waiting_forked(void)
{
    die_while_waiting("fork");
    return 0;
}

/* ---- events for those who come late ---------------------------------------------------------- */

#define KEPT 20000u
#define KEPT_CODE (PMIX_EXTERNAL_ERR_BASE - 5)
#define OTHERS 5u /* one event in so many is of another code */
/* One answer: its frame, the codes in it, the looks, the bytes, and what the share had left. */
#define LATE_UNITS (50 + 200 + SX_KEPT_LOOKS_MAX / 16 + SX_KEPT_BYTES_MAX / 2048 + SX_TURN_UNITS)

static void publish_many(struct attacker *attacker)
{
    for (uint32_t i = 1; i <= KEPT; i++) {
        const struct sx_event event = { .code = KEPT_CODE - (i % OTHERS == 0),
                                        .range = PMIX_RANGE_NAMESPACE };
        const struct iovec iov = { .iov_base = (void *)(uintptr_t)&event,
                                   .iov_len = sizeof(event) };

        while (sx_lane_append(&attacker->lane, SX_LANE_NOTIFY, &iov, 1) != PMIX_SUCCESS) {
            sx_lane_doorbell(&attacker->lane);
            fault_pause();
        }
    }
    attack_request(attacker->socket_fd, SX_MSG_RESULTS_GET, 1, NULL, 0);
    (void)attack_expect_reply(attacker->socket_fd, 1, PMIX_SUCCESS);
}

/* The events of one frame of an answer, of which each is older than *@before. */
static void check_frame(const struct sx_frame *frame, uint64_t *before, unsigned *events)
{
    const uint8_t *const body = frame->body;
    struct sx_event_list_rest rest;
    struct sx_event_listed listed;

    CHECK(frame->body_size <= sizeof(struct sx_reply) + SX_KEPT_BYTES_MAX, "%zu bytes at once",
          (size_t)frame->body_size);
    sx_event_list_open(&rest, body + sizeof(struct sx_reply),
                       (size_t)frame->body_size - sizeof(struct sx_reply));
    CHECK(rest.count <= SX_KEPT_LOOKS_MAX, "%u events at once", rest.count);
    while (sx_event_list_next(&rest, &listed) == PMIX_SUCCESS) {
        CHECK(listed.number < *before, "number %llu is not before %llu",
              (unsigned long long)listed.number, (unsigned long long)*before);
        *before = listed.number;
        (*events)++;
    }
    CHECK(rest.count == 0 && rest.next <= *before, "the list contradicts itself");
    *before = rest.next;
}

/* Registers for @code_count codes and asks until it has all.  Return: how many answers it took. */
static unsigned come_late(struct attacker *attacker, uint32_t code_count, unsigned *ret_events)
{
    struct {
        struct sx_event_register head;
        int32_t codes[2];
    } body = { .head = { .upto = UINT64_MAX, .code_count = code_count }, .codes = { KEPT_CODE } };
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    uint64_t before = UINT64_MAX;
    unsigned answers = 0;

    *ret_events = 0;
    while (before != 0) {
        struct sx_frame frame;

        body.head.before = answers == 0 ? 0 : before;
        attack_request(attacker->socket_fd, SX_MSG_EVENT_REGISTER, 2, &body,
                       sizeof(body.head) + code_count * sizeof(body.codes[0]));
        bool more;

        do {
            CHECK_STATUS(sx_frame_receive(attacker->socket_fd, buffer, &frame, UINT64_MAX),
                         PMIX_SUCCESS);
            CHECK_STATUS(((const struct sx_reply *)frame.body)->status, PMIX_SUCCESS);
            check_frame(&frame, &before, ret_events);
            more = (frame.header.flags & SX_FRAME_MORE) != 0;
            sx_frame_release(&frame);
        } while (more);
        answers++;
    }
    return answers;
}

/* @arg: for how many codes; 0: for all there are. */
static int role_latecomer(const char *arg)
{
    const bool all = strcmp(arg, "0") == 0;
    struct attacker attacker;
    unsigned events;

    CHECK_STATUS(attack_attach_as(&attacker, 0), PMIX_SUCCESS);
    publish_many(&attacker);
    const unsigned answers = come_late(&attacker, all ? 0 : 1, &events);

    fault_say("%u events of %u in %u answers", events, KEPT, answers);
    CHECK(events == (all ? KEPT : KEPT - KEPT / OTHERS), "%u", events);
    CHECK(answers >= events / SX_KEPT_LOOKS_MAX, "%u answers", answers);
    CHECK(answers <= events / SX_KEPT_LOOKS_MAX + 2, "%u answers: others are looked at", answers);
    attack_detach(&attacker);
    return 0;
}

/* However many events are kept, a late handler has them from a few in a turn, the newest first, and
 * they stay until it has the last of them. */
static int case_late_handlers(void)
{
    fault_log_begin();
    fault_server_start();
    for (int codes = 0; codes < 2; codes++) {
        fault_job_start(ATTACK_JOB, 1);
        fault_wait_ok(fault_start(ATTACK_JOB, 0, "latecomer", codes == 0 ? "0" : "1"),
                      "the latecomer");
        fault_job_end(ATTACK_JOB);
    }
    const uint64_t most = atomic_load(&sx_server_get()->board.header->share_units_max);

    fault_say("at most %llu units in a turn (%llu may be)", (unsigned long long)most,
              (unsigned long long)LATE_UNITS);
    CHECK(most <= LATE_UNITS, "%llu units", (unsigned long long)most);
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "long_values", case_long_values },
    { "long_value_qualified", case_long_value_qualified },
    { "long_value_taken", case_long_value_taken },
    { "many_elements", case_many_elements },
    { "lane_share", case_lane_share },
    { "rest", case_rest },
    { "refusals", case_refusals },
    { "job_ends", case_job_ends },
    { "gets_bound", case_gets_bound },
    { "dies_waiting", case_dies_waiting },
    { "dies_waiting_forked", case_dies_waiting_forked },
    { "late_handlers", case_late_handlers },
};

static const struct fault_role roles[] = {
    { "lane_writer", role_lane_writer },
    { "long_values", role_long_values },
    { "long_value_qualified", role_long_value_qualified },
    { "long_value_taken", role_long_value_taken },
    { "many_elements", role_many_elements },
    { "intruder", role_intruder },
    { "all_ranks", role_all_ranks },
    { "gets", role_gets },
    { "survivor", role_survivor },
    { "victim", role_victim },
    { "latecomer", role_latecomer },
};

FAULT_MAIN(cases, roles)
