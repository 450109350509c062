/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence_test.c - fences that other nodes take part in, and a host that answers late, in vain or
 * never.  No process of the job is connected: arrivals and puts are handed in as lanes would. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../hosted.h"
#include "../opened.h"
#include "base/value/flat.h"
#include "control/message.h"
#include "server/collective/collective.h"
#include "server/data/data.h"
#include "server/data/get_index.h"
#include "server/model/blob.h"
#include "server/model/state.h"

/* Of those that the loop's thread asks for, the one behind so many and all behind it are refused,
 * while it is not negative. */
static _Thread_local long allocations_left = -1;

static inline bool refused(void) /* a sanitizer build refuses nothing */
{
    if (allocations_left > 0) {
        allocations_left--;
        return false;
    }
    return allocations_left == 0;
}

#define ALLOCATION_REFUSED(size) refused()
#include "support/allocations.h"

#define NSPACE "fences"
#define HERE "here"   /* all of it is */
#define OTHER "other" /* of which nothing is here */
#define LATE "late"   /* registered behind its clients */
#define PAIR "pair"   /* of which a process is here, and another elsewhere */
#define LOCALS 2u
#define FAR LOCALS /* its first process elsewhere */
#define ASKED_MAX 16
#define INFOS_MAX 8
#define MESSAGE_MAX 65536
#define ALLOCATIONS_MAX 64 /* more than a fence takes */

/* ---- the host ------------------------------------------------------------------------------- */

/* Written on the loop's thread; on_loop orders it before the test's looks. */
static struct {
    pmix_modex_cbfunc_t cbfunc;
    void *cbdata;
    char *bytes;
    size_t size;
    char notified[256]; /* the keys of the infos, and the values of strings */
    char whom[256];     /* the processes */
    pmix_status_t local;
    const pmix_proc_t *procs; /* until it is answered */
    size_t nprocs;
} asked[ASKED_MAX];
static unsigned asked_count;

static bool ends_job; /* inside the upcall */
static pmix_status_t returns;

static void notified_write(char *text, size_t size, const pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        const bool is_string = info[i].value.type == PMIX_STRING;
        const size_t used = strlen(text);

        snprintf(text + used, size - used, "%s%s%s%s", i == 0 ? "" : " ", info[i].key,
                 is_string ? "=" : "", is_string ? info[i].value.data.string : "");
    }
}

static void whom_write(char *text, size_t size, const pmix_proc_t procs[], size_t nprocs)
{
    for (size_t i = 0; i < nprocs; i++) {
        const size_t used = strlen(text);

        if (used + 1 == size) {
            break;
        }
        snprintf(text + used, size - used,
                 procs[i].rank == PMIX_RANK_WILDCARD ? " %.100s.*" : " %.100s.%u", procs[i].nspace,
                 procs[i].rank);
    }
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    cr_assert_lt(asked_count, ASKED_MAX);
    whom_write(asked[asked_count].whom, sizeof(asked[0].whom), procs, nprocs);
    notified_write(asked[asked_count].notified, sizeof(asked[0].notified), info, ninfo);
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_LOCAL_COLLECTIVE_STATUS)) {
            asked[asked_count].local = info[i].value.data.status;
        }
    }
    asked[asked_count].procs = procs;
    asked[asked_count].nprocs = nprocs;
    asked[asked_count].cbfunc = cbfunc;
    asked[asked_count].cbdata = cbdata;
    asked[asked_count].bytes = data;
    asked[asked_count].size = ndata;
    asked_count++;
    if (ends_job) {
        PMIx_server_deregister_nspace(procs[0].nspace, NULL, NULL);
    }
    return returns;
}

static void begin(void)
{
    hosted_begin_with((pmix_server_module_t){ .fence_nb = on_fence });
    hosted_job_of(NSPACE, LOCALS, LOCALS + 1);
    hosted_job_of(OTHER, 0, 2);
}

static void end(void)
{
    hosted_end();
    for (unsigned i = 0; i < asked_count; i++) {
        free(asked[i].bytes);
    }
}

TestSuite(fence, .init = begin, .fini = end);

/* ---- the ranks ------------------------------------------------------------------------------ */

static const char *home = NSPACE; /* of the ranks that act */

static struct sx_client *client_of(struct sx_server *server, uint32_t rank)
{
    return sx_client_find(sx_nspace_find(server, home), rank);
}

/* What a rank does in a fence. */
struct act {
    uint32_t rank;
    const char *put;    /* a key, before it arrives; NULL: nothing */
    const char *with;   /* a namespace beside its own; NULL: none */
    const char *by;     /* a name that stands for all who take part; NULL: its namespace's */
    uint32_t seconds;   /* a time limit; 0: none */
    const char *notify; /* the keys of infos for the host, a letter each, with @value; NULL: none */
    const char *value;
    long allocations; /* so many until there are no more, from 1; 0: without end */
};

/* Return: the size of a put of 5 under @key at @at. */
static size_t put_write(char *at, const char *key)
{
    const struct sx_lane_put head = { .cell = { .type = PMIX_UINT32, .bits = 5 },
                                      .key_len = (uint16_t)strlen(key),
                                      .scope = PMIX_GLOBAL };

    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), key, strlen(key));
    return sizeof(head) + (strlen(key) + 7) / 8 * 8;
}

static size_t proc_write(char *at, const char *nspace)
{
    const uint32_t proc[2] = { PMIX_RANK_WILDCARD, (uint32_t)strlen(nspace) };

    memcpy(at, proc, sizeof(proc));
    memcpy(at + sizeof(proc), nspace, strlen(nspace));
    return sizeof(proc) + (strlen(nspace) + 7) / 8 * 8;
}

/* Return: the size of the infos of @act at @at. */
static size_t infos_write(char *at, const struct act *act)
{
    const bool yes = true;
    pmix_info_t info[INFOS_MAX];
    size_t ninfo = 0, size;

    PMIx_Info_load(&info[ninfo++], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    if (act->seconds != 0) {
        PMIx_Info_load(&info[ninfo++], PMIX_TIMEOUT, &act->seconds, PMIX_UINT32);
    }
    for (const char *key = act->notify; key != NULL && *key != '\0'; key++) {
        const char name[] = { *key, '\0' };

        cr_assert_lt(ninfo, INFOS_MAX);
        PMIx_Info_load(&info[ninfo++], name, act->value, PMIX_STRING);
    }
    cr_assert_eq(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
    cr_assert_leq(size, MESSAGE_MAX / 2);
    cr_assert_eq(sx_flat_infos_encode(info, ninfo, at, size), PMIX_SUCCESS);
    for (size_t i = 0; i < ninfo; i++) {
        PMIx_Info_destruct(&info[i]);
    }
    return size;
}

static pmix_status_t perform(struct sx_server *server, void *arg)
{
    static uint32_t op;
    const struct act *act = arg;
    struct sx_client *client = client_of(server, act->rank);
    struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE, .proc_count = 1 };
    _Alignas(8) static char message[MESSAGE_MAX];
    pmix_status_t kept;
    size_t size = 0;

    memset(message, 0, sizeof(message));

    if (act->put != NULL) {
        cr_assert_eq(sx_modex_put(server, client,
                                  opened(&sx_put_body, message, put_write(message, act->put)),
                                  &kept),
                     PMIX_SUCCESS);
        cr_assert_eq(kept, PMIX_SUCCESS);
        memset(message, 0, sizeof(message));
    }
    const char *const first = act->by != NULL ? act->by : home;
    const bool swaps = act->with != NULL && strcmp(first, act->with) > 0;

    size = sizeof(head) + proc_write(message + sizeof(head), swaps ? act->with : first);
    if (act->with != NULL) {
        size += proc_write(message + size, swaps ? first : act->with);
        head.proc_count++;
    }
    head.op = ++op;
    head.info_size = (uint32_t)infos_write(message + size, act);
    memcpy(message, &head, sizeof(head));
    struct sx_opened body;

    if (sx_body_open(&body, &sx_arrive_body, message, size + head.info_size) != NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    allocations_left = act->allocations - 1;
    const pmix_status_t rc = sx_collective_arrive(server, client, &body);

    allocations_left = -1;
    return rc;
}

static void act(struct act it)
{
    hosted_call(perform, &it);
}

/* All ranks of this node. */
static void fence(struct act it)
{
    for (it.rank = 0; it.rank < LOCALS; it.rank++) {
        act(it);
        it.put = NULL;
    }
}

static pmix_status_t count_waits(struct sx_server *server, void *arg)
{
    *(unsigned *)arg = client_of(server, 0)->pending_counts[SX_PENDING_ARRIVAL];
    return PMIX_SUCCESS;
}

/* Fences of rank 0 that have not gone. */
static unsigned waits(void)
{
    unsigned count = 0;

    hosted_call(count_waits, &count);
    return count;
}

static void release(void *cbdata)
{
    free(cbdata);
}

/* The host answers question @number; the far rank has put @key (NULL: nothing).  Any thread. */
static void answer_as(unsigned number, pmix_status_t status, const char *key)
{
    struct sx_blob blob = { 0 };
    struct sx_news messages = { .begin = 0 };
    _Alignas(8) char put[256] = { 0 };

    cr_assert_lt(number, asked_count);
    if (key != NULL) {
        cr_assert_eq(sx_news_add(&messages, put, put_write(put, key)), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_messages(&blob, NSPACE, FAR, sx_news_at(&messages, 0), messages.end),
                 PMIX_SUCCESS);
    for (uint32_t rank = 0; rank < 2; rank++) { /* of another job, which has put nothing */
        cr_assert_eq(sx_blob_add_messages(&blob, OTHER, rank, NULL, 0), PMIX_SUCCESS);
    }
    sx_news_drop(&messages);
    asked[number].cbfunc(status, blob.bytes, blob.size, asked[number].cbdata, release, blob.bytes);
}

static void answer(unsigned number, pmix_status_t status, const char *key)
{
    answer_as(number, status, key);
    (void)waits(); /* behind the answer */
}

static pmix_status_t look(struct sx_server *server, void *arg)
{
    const struct sx_wait_what what = {
        .nspace = sx_nspace_find(server, NSPACE), .rank = FAR, .realm = SX_REALM_JOB, .key = arg
    };

    return sx_wait_is_there(&what) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static bool is_there(const char *key)
{
    return sx_server_call(sx_server_get(), look, (void *)(uintptr_t)key) == PMIX_SUCCESS;
}

/* How often @key is in what the host was given with question @number. */
static unsigned carried(unsigned number, const char *key)
{
    const char *at = asked[number].bytes;
    const char *const end_of = at + asked[number].size;
    unsigned count = 0;

    while ((at = memmem(at, (size_t)(end_of - at), key, strlen(key))) != NULL) {
        at += strlen(key);
        count++;
    }
    return count;
}

/* Only who is connected is told of ends. */
static pmix_status_t connected_set(struct sx_server *server, void *arg)
{
    const bool *const connected = arg;

    client_of(server, 0)->state = *connected ? SX_CLIENT_CONNECTED : SX_CLIENT_REGISTERED;
    return PMIX_SUCCESS;
}

static pmix_status_t results_count(struct sx_server *server, void *arg)
{
    *(size_t *)arg = sx_results_count(&client_of(server, 0)->results);
    return PMIX_SUCCESS;
}

/* Wait until rank 0 has got so many results; bounded by the alarm. */
static void results_await(size_t count)
{
    size_t now = 0;

    while (now < count) {
        sched_yield();
        hosted_call(results_count, &now);
    }
}

/* The same until the host has so many questions. */
static void questions_await(unsigned count)
{
    while (asked_count < count) {
        (void)waits();
    }
}

static pmix_status_t status_read(struct sx_server *server, void *arg)
{
    const struct sx_results *const results = &client_of(server, 0)->results;
    const size_t count = sx_results_count(results);

    *(pmix_status_t *)arg = count > 0 ? sx_results_at(results, count - 1).status : PMIX_ERROR;
    return PMIX_SUCCESS;
}

/* The host answers question @number as in answer.  Return: what rank 0 is told. */
static pmix_status_t ends(unsigned number, const char *key)
{
    pmix_status_t status = PMIX_ERROR;
    bool connected = true;

    hosted_call(connected_set, &connected);
    answer(number, PMIX_SUCCESS, key);
    hosted_call(status_read, &status);
    connected = false;
    hosted_call(connected_set, &connected);
    return status;
}

/* One of its values cannot be stored here: the ranks of this node do not take it for complete. */
Test(fence, that_brings_what_cannot_be_kept_is_an_error)
{
    fence((struct act){ 0 });
    cr_expect_eq(ends(0, PMIX_QUALIFIED_VALUE), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(waits(), 0u);
    fence((struct act){ 0 });
    cr_expect_eq(ends(1, "far"), PMIX_SUCCESS);
    cr_expect(is_there("far"));
}

/* ---- much that the host brings --------------------------------------------------------------- */

#define MUCH ((size_t)8 << 20)
#define STEP ((size_t)512 << 10)

/* The host's bytes, and what the loop's thread sees in each turn until they are released. */
static struct watch {
    struct sx_server *server;
    struct sx_loop_post post;
    unsigned number; /* of the question */
    size_t much;     /* bytes of the value "much" of the far rank ... */
    uint32_t far;    /* ... which puts this under "far" behind it */
    size_t shift;    /* of their address */
    bool garbled;    /* the last bytes are not a put */
    char *block;     /* NULL: they are released */
    unsigned turns, releases, early;
    unsigned acts_in; /* this turn; 0: in none */
    void (*acts)(struct sx_server *server);
} watch;

static void watched_release(void *cbdata)
{
    struct watch *const it = cbdata;

    it->releases++;
    free(it->block); /* who reads them now is caught by a sanitizer */
    it->block = NULL;
}

/* Return: the bytes of the answer, *ret_size of them. */
static char *much_write(struct watch *it, size_t *ret_size)
{
    const struct sx_lane_put head = { .cell = { .type = PMIX_BYTE_OBJECT,
                                                .len = (uint32_t)it->much },
                                      .key_len = 4,
                                      .scope = PMIX_GLOBAL };
    const size_t size = sizeof(head) + 8 + it->much;
    struct sx_blob blob = { 0 };
    struct sx_news messages = { .begin = 0 };
    _Alignas(8) char put[256] = { 0 };
    char *const large = calloc(1, size);

    cr_assert_not_null(large);
    memcpy(large, &head, sizeof(head));
    memcpy(large + sizeof(head), "much", 4);
    memset(large + sizeof(head) + 8, 'm', it->much);
    cr_assert_eq(sx_news_add(&messages, large, size), PMIX_SUCCESS);
    const size_t put_size = put_write(put, "far");

    ((struct sx_lane_put *)(void *)put)->cell.bits = it->far;
    ((struct sx_lane_put *)(void *)put)->scope = it->garbled ? PMIX_INTERNAL : PMIX_GLOBAL;
    cr_assert_eq(sx_news_add(&messages, put, put_size), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_messages(&blob, NSPACE, FAR, sx_news_at(&messages, 0), messages.end),
                 PMIX_SUCCESS);
    for (uint32_t rank = 0; rank < 2; rank++) {
        cr_assert_eq(sx_blob_add_messages(&blob, OTHER, rank, NULL, 0), PMIX_SUCCESS);
    }
    it->block = malloc(blob.size + it->shift);
    cr_assert_not_null(it->block);
    memcpy(it->block + it->shift, blob.bytes, blob.size);
    *ret_size = blob.size;
    sx_news_drop(&messages);
    sx_blob_clear(&blob);
    free(large);
    return it->block + it->shift;
}

static bool is_storing(const struct sx_server *server)
{
    const struct sx_incomings *const incomings = &server->data.incomings;

    return incomings->steps.server != NULL && !sx_list_empty(&incomings->running);
}

static void watch_turn(void *arg, uint64_t now_ns)
{
    struct watch *const it = arg;

    (void)now_ns;
    if (is_storing(it->server)) {
        const struct sx_client *const rank = client_of(it->server, 0);

        it->turns++;
        it->early += it->releases > 0 ||
                     (rank != NULL && rank->pending_counts[SX_PENDING_ARRIVAL] == 0);
        if (it->turns == it->acts_in) {
            it->acts(it->server);
        }
    }
    if (it->releases == 0) {
        cr_assert_eq(sx_loop_post(it->server->loop, &it->post), PMIX_SUCCESS);
    }
}

static pmix_status_t watch_answer(struct sx_server *server, void *arg)
{
    struct watch *const it = arg;
    size_t size;
    char *const bytes = much_write(it, &size);

    it->server = server;
    it->post = (struct sx_loop_post){ .fn = watch_turn, .arg = it };
    asked[it->number].cbfunc(PMIX_SUCCESS, bytes, size, asked[it->number].cbdata, watched_release,
                             it);
    return sx_loop_post(server->loop, &it->post);
}

static pmix_status_t releases_read(struct sx_server *server, void *arg)
{
    (void)server;
    *(unsigned *)arg = watch.releases;
    return PMIX_SUCCESS;
}

/* The host answers question 0 with @it; wait until its bytes are released, bounded by the alarm. */
static void watched(struct watch it)
{
    unsigned releases = 0;

    watch = it;
    hosted_call(watch_answer, &watch);
    while (releases == 0) {
        hosted_call(releases_read, &releases);
    }
    hosted_call(releases_read, &releases);
    cr_expect_eq(releases, 1u, "once");
}

struct found {
    const char *key;
    struct sx_item item;
    uint8_t first;
};

static pmix_status_t find(struct sx_server *server, void *arg)
{
    struct found *const found = arg;
    const struct sx_nspace *const nspace = sx_nspace_find(server, NSPACE);
    const pmix_status_t rc = sx_store_find(&nspace->store.view, SX_REALM_JOB, FAR, found->key,
                                           &found->item);

    if (rc == PMIX_SUCCESS && found->item.cell.len > 0) {
        found->first = *(const uint8_t *)found->item.body;
    }
    return rc;
}

static void expect_much(uint32_t far)
{
    struct found much = { .key = "much" }, small = { .key = "far" };

    cr_assert_eq(sx_server_call(sx_server_get(), find, &much), PMIX_SUCCESS);
    cr_expect_eq(much.item.cell.len, MUCH);
    cr_expect_eq(much.first, 'm');
    cr_assert_eq(sx_server_call(sx_server_get(), find, &small), PMIX_SUCCESS);
    cr_expect_eq(small.item.cell.bits, far);
}

/* The members wait, and the host keeps its bytes, until all of them are stored: at any address. */
Test(fence, that_brings_much_stores_it_in_steps)
{
    for (size_t shift = 0; shift <= 1; shift++) {
        fence((struct act){ 0 });
        watched((struct watch){
            .number = (unsigned)shift, .much = MUCH + shift * 8, .far = 7, .shift = shift });
        cr_expect_geq(watch.turns, MUCH / STEP);
        cr_expect_eq(watch.early, 0u, "%u of %u", watch.early, watch.turns);
        cr_expect_eq(waits(), 0u);
    }
    cr_expect(is_there("much") && is_there("far"));
}

Test(fence, that_brings_much_and_then_what_is_no_put_is_refused)
{
    pmix_status_t status = PMIX_ERROR;
    bool connected = true;

    hosted_call(connected_set, &connected);
    fence((struct act){ 0 });
    watched((struct watch){ .much = MUCH, .garbled = true });
    hosted_call(status_read, &status);
    cr_expect_eq(status, PMIX_ERR_UNPACK_FAILURE);
    cr_expect(is_there("much"));
    cr_expect_not(is_there("far"));
    connected = false;
    hosted_call(connected_set, &connected);
}

static void member_dies(struct sx_server *server)
{
    struct sx_client *const client = client_of(server, 1);

    client->state = SX_CLIENT_DEAD;
    sx_collective_client_gone(server, client);
    cr_expect(is_storing(server));
}

static void members_time_out(struct sx_server *server)
{
    struct sx_collective *const fence = SX_LIST_ENTRY(server->collective.all.next,
                                                      struct sx_collective, link);

    sx_collective_end_soon(fence, PMIX_ERR_TIMEOUT);
}

/* It goes on for the others, and the values are stored in any case. */
Test(fence, that_loses_members_while_it_stores_goes_on)
{
    fence((struct act){ 0 });
    watched((struct watch){ .much = MUCH, .far = 1, .acts_in = 3, .acts = member_dies });
    cr_expect_geq(watch.turns, MUCH / STEP);
    cr_expect_eq(watch.early, 0u);
    cr_expect_eq(waits(), 0u);
    expect_much(1);
}

Test(fence, that_ends_for_its_members_while_it_stores_keeps_the_next_one_waiting)
{
    fence((struct act){ 0 });
    fence((struct act){ 0 });
    watched((struct watch){ .much = MUCH, .far = 1, .acts_in = 3, .acts = members_time_out });
    cr_expect_geq(watch.turns, MUCH / STEP);
    cr_expect_eq(asked_count, 2u);
    cr_expect_eq(waits(), 1u);
    expect_much(1);
    answer(1, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

static void job_ends(struct sx_server *server)
{
    (void)server;
    PMIx_server_deregister_nspace(NSPACE, NULL, NULL);
}

Test(fence, of_a_namespace_that_goes_while_it_stores_releases_the_bytes)
{
    fence((struct act){ 0 });
    watched((struct watch){ .much = MUCH, .acts_in = 3, .acts = job_ends });
    cr_expect_leq(watch.turns, 4u);
    hosted_job_of(NSPACE, LOCALS, LOCALS + 1);
    fence((struct act){ 0 });
    answer(1, PMIX_SUCCESS, "new");
    cr_expect(is_there("new"));
    cr_expect_not(is_there("much"));
    cr_expect_eq(waits(), 0u);
}

/* The later answer has one namespace of the first: of one key, its value stays. */
static void other_fence_ends(struct sx_server *server)
{
    answer_as(1, PMIX_SUCCESS, "far");
    cr_expect(is_storing(server));
}

Test(fence, whose_answer_comes_later_is_stored_later)
{
    fence((struct act){ 0 });
    fence((struct act){ .with = OTHER });
    watched((struct watch){ .much = MUCH, .far = 1, .acts_in = 3, .acts = other_fence_ends });
    (void)waits();
    expect_much(5);
    cr_expect_eq(waits(), 0u);
}

/* All of NSPACE and a process of OTHER, the last one first. */
static pmix_status_t connect_all(struct sx_server *server, void *arg)
{
    const pmix_proc_t procs[] = { { OTHER, 1 }, { NSPACE, 2 }, { NSPACE, 1 }, { NSPACE, 0 } };
    const struct sx_membership_options options = {
        .name = "all", .kind = SX_MEMBERSHIP_CONNECTED, .procs = procs, .proc_count = 4
    };
    struct sx_membership_entry *entry;

    (void)arg;
    return sx_memberships_add(server, &options, &entry);
}

static pmix_status_t disconnect_all(struct sx_server *server, void *arg)
{
    (void)arg;
    sx_memberships_remove(server, sx_memberships_find(server, "all"));
    return PMIX_SUCCESS;
}

/* The list by which the fence is named loses the members of other nodes, which have called it. */
static void others_leave(struct sx_server *server)
{
    const pmix_proc_t others[] = { { OTHER, 1 }, { NSPACE, FAR } };

    for (size_t i = 0; i < SX_COUNT(others); i++) {
        struct sx_membership_entry *const list = sx_memberships_find(server, "all");
        struct sx_proc_list left = { .count = 0 };

        sx_collective_list_mark(server, list, false, 0);
        cr_assert_eq(sx_membership_leave(server, list, &others[i], &left), PMIX_SUCCESS);
        sx_proc_list_clear(&left);
        sx_collective_member_elsewhere_gone(server, false, 0);
    }
}

Test(fence, whose_others_leave_while_it_stores_goes_on)
{
    bool connected = true;

    hosted_call(connect_all, NULL);
    hosted_call(connected_set, &connected); /* else it is nobody's list when the others have left */
    fence((struct act){ .by = "all" });
    watched((struct watch){ .much = MUCH, .far = 1, .acts_in = 3, .acts = others_leave });
    cr_expect_geq(watch.turns, MUCH / STEP);
    cr_expect_eq(watch.early, 0u);
    cr_expect_eq(waits(), 0u);
    expect_much(1);
    hosted_call(disconnect_all, NULL);
    connected = false;
    hosted_call(connected_set, &connected);
}

static void end_later(void)
{
    for (unsigned i = 0; i < asked_count; i++) {
        free(asked[i].bytes);
    }
}

TestSuite(fence_end, .init = begin, .fini = end_later);

/* Most of it is not stored when the server ends. */
Test(fence_end, releases_what_is_being_stored_once)
{
    fence((struct act){ 0 });
    watch = (struct watch){ .much = 8 * MUCH };
    cr_assert_eq(sx_server_call(sx_server_get(), watch_answer, &watch), PMIX_SUCCESS);
    hosted_end();
    cr_expect_eq(watch.releases, 1u);
}

/* ---- of a job that is all here --------------------------------------------------------------- */

/* As for its first hello. */
static pmix_status_t late_open(struct sx_server *server, void *arg)
{
    return sx_nspace_open(server, sx_nspace_find(server, arg));
}

struct seen {
    uint64_t results[LOCALS];
    unsigned waits[LOCALS];
    pmix_status_t last[LOCALS];
};

static pmix_status_t see(struct sx_server *server, void *arg)
{
    struct seen *const seen = arg;

    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        const struct sx_client *const client = client_of(server, rank);
        const size_t count = sx_results_count(&client->results);

        seen->results[rank] = client->results.count;
        seen->waits[rank] = client->pending_counts[SX_PENDING_ARRIVAL];
        seen->last[rank] = count == 0 ? PMIX_ERROR
                                      : sx_results_at(&client->results, count - 1).status;
    }
    return PMIX_SUCCESS;
}

/* Only who is connected is told of ends. */
static pmix_status_t here_state(struct sx_server *server, void *arg)
{
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        client_of(server, rank)->state = *(const enum sx_client_state *)arg;
    }
    return PMIX_SUCCESS;
}

static void here_begin(void)
{
    enum sx_client_state connected = SX_CLIENT_CONNECTED;

    home = HERE;
    hosted_job_of(HERE, LOCALS, LOCALS);
    hosted_call(here_state, &connected);
}

static void here_end(void)
{
    enum sx_client_state registered = SX_CLIENT_REGISTERED;

    hosted_call(here_state, &registered);
}

/* The job info that comes later may be refused, as here, or not fit: its processes stay known. */
Test(fence, goes_on_when_more_job_info_cannot_be_kept)
{
    struct seen seen;
    pmix_nspace_t nspace;
    pmix_info_t info;

    here_begin();
    PMIx_Load_nspace(nspace, HERE);
    PMIx_Info_load(&info, PMIX_PROC_INFO_ARRAY, "no array", PMIX_STRING);
    cr_assert_neq(PMIx_server_register_nspace(nspace, LOCALS, &info, 1, NULL, NULL),
                  PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&info);
    fence((struct act){ 0 });
    hosted_call(see, &seen);
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        cr_expect_eq(seen.waits[rank], 0u);
        cr_expect_eq(seen.last[rank], PMIX_SUCCESS);
    }
    here_end();
}

/* The other job is registered and goes, and none of its processes ever was there: they take no
 * part, so the fence that waits for them is no success.  @is_late: that of the first job comes
 * behind it. */
static void misses_one_that_ends(bool is_late)
{
    enum sx_client_state connected = SX_CLIENT_CONNECTED;
    struct seen seen;

    home = HERE;
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        hosted_client(HERE, rank);
    }
    hosted_call(late_open, (char[]){ HERE });
    hosted_call(here_state, &connected);
    if (!is_late) {
        hosted_job(HERE, LOCALS, LOCALS);
    }
    fence((struct act){ .with = LATE });
    hosted_job(LATE, 2, 2);
    PMIx_server_deregister_nspace(LATE, NULL, NULL);
    if (is_late) {
        hosted_job(HERE, LOCALS, LOCALS);
    }
    hosted_call(see, &seen);
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        cr_expect_eq(seen.waits[rank], 0u);
        cr_expect_eq(seen.last[rank], PMIX_ERR_LOST_CONNECTION);
    }
    fence((struct act){ .with = LATE });
    hosted_call(see, &seen);
    cr_expect_eq(seen.last[0], PMIX_ERR_NOT_FOUND, "it is no longer waited for");
    here_end();
}

Test(fence, of_one_that_ends_before_its_processes_come_fails)
{
    misses_one_that_ends(false);
}

Test(fence, of_one_that_ends_before_the_caller_is_registered_fails)
{
    misses_one_that_ends(true);
}

/* The ranks from @first on arrive while memory is out from an allocation on; who was left alone is
 * joined afterwards.  Return: whether any was refused. */
static bool fence_short_of_memory(long allocations, uint32_t first)
{
    uint64_t calls[LOCALS];
    bool was_refused = false;
    struct seen seen;

    hosted_call(see, &seen);
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        calls[rank] = seen.results[rank] + 1;
        act((struct act){ .rank = rank, .allocations = rank >= first ? allocations : 0 });
    }
    hosted_call(see, &seen);
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        was_refused |= seen.waits[rank] == 0 && seen.last[rank] == PMIX_ERR_OUT_OF_RESOURCE;
        if (seen.waits[LOCALS - 1 - rank] > 0) {
            calls[rank]++;
            act((struct act){ .rank = rank });
        }
    }
    hosted_call(see, &seen);
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        cr_expect_eq(seen.results[rank], calls[rank], "rank %u, %ld allocations", rank,
                     allocations);
        cr_expect_eq(seen.waits[rank], 0u, "rank %u, %ld allocations", rank, allocations);
    }
    return was_refused;
}

Test(fence, that_memory_is_out_for_ends_with_a_status)
{
    unsigned refusals = 0;

    here_begin();
    fence((struct act){ 0 });
    for (long allocations = 1; allocations <= ALLOCATIONS_MAX; allocations++) {
        refusals += fence_short_of_memory(allocations, 0);
        refusals += fence_short_of_memory(allocations, LOCALS - 1);
    }
    cr_expect(SANITIZED || refusals > 0);
    cr_expect_not(fence_short_of_memory(ALLOCATIONS_MAX, 0), "a fence takes no more");
    here_end();
}

/* ---- connected ------------------------------------------------------------------------------ */

Test(fence, of_connected_processes_asks_the_host_for_them_themselves)
{
    hosted_call(connect_all, NULL);
    fence((struct act){ .put = "first", .by = "all" });
    cr_assert_eq(asked_count, 1u);
    cr_expect_str_eq(asked[0].whom, " " NSPACE ".* " OTHER ".1");
    cr_expect_eq(carried(0, "first"), 1u);
    fence((struct act){ .put = "second", .by = "all" });
    hosted_call(disconnect_all, NULL); /* those that are under way go on */
    answer(0, PMIX_SUCCESS, "far");
    cr_expect(is_there("far"));
    cr_assert_eq(asked_count, 2u);
    cr_expect_eq(carried(1, "first"), 0u, "every node of the job has had it");
    cr_expect_eq(carried(1, "second"), 1u);
    answer(1, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
    fence((struct act){ .by = "all" });
    cr_expect_eq(asked_count, 2u, "the name is nobody's any more");
    cr_expect_eq(waits(), 0u);
}

/* All of NSPACE, and a process of PAIR: that which is here, or the other. */
static pmix_status_t connect_pair(struct sx_server *server, void *arg)
{
    const pmix_proc_t procs[] = {
        { NSPACE, 0 }, { NSPACE, 1 }, { NSPACE, FAR }, { PAIR, *(uint32_t *)arg }
    };
    const struct sx_membership_options options = {
        .name = "mixed", .kind = SX_MEMBERSHIP_CONNECTED, .procs = procs, .proc_count = 4
    };
    struct sx_membership_entry *entry;

    return sx_memberships_add(server, &options, &entry);
}

/* The host brings the far process of NSPACE, and not that of PAIR. */
Test(fence, of_connected_processes_of_two_jobs_misses_those_of_other_nodes_alone)
{
    hosted_job_of(PAIR, 1, 2);
    hosted_call(connect_pair, &(uint32_t){ 0 });
    fence((struct act){ .by = "mixed" });
    home = PAIR;
    act((struct act){ .by = "mixed" });
    home = NSPACE;
    cr_assert_eq(asked_count, 1u);
    cr_expect_eq(ends(0, "far"), PMIX_SUCCESS);
}

Test(fence, of_connected_processes_of_two_jobs_misses_those_of_the_second)
{
    hosted_job_of(PAIR, 1, 2);
    hosted_call(connect_pair, &(uint32_t){ 1 });
    fence((struct act){ .by = "mixed" });
    cr_assert_eq(asked_count, 1u);
    cr_expect_eq(ends(0, "far"), PMIX_ERR_PARTIAL_SUCCESS);
}

/* ---- many processes --------------------------------------------------------------------------- */

#define WIDE "wide"
#define WIDE_SIZE 131072u

/* All of WIDE but for its last process, the last of them first. */
static pmix_status_t group_wide(struct sx_server *server, void *arg)
{
    pmix_proc_t *const procs = calloc(WIDE_SIZE - 1, sizeof(*procs));
    const struct sx_membership_options options = {
        .name = "most", .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = WIDE_SIZE - 1
    };
    struct sx_membership_entry *entry;

    (void)arg;
    for (uint32_t i = 0; i < WIDE_SIZE - 1; i++) {
        PMIx_Load_procid(&procs[i], WIDE, WIDE_SIZE - 2 - i);
    }
    const pmix_status_t rc = sx_memberships_add(server, &options, &entry);

    free(procs);
    return rc;
}

/* How far the names are, and the turn of the loop. */
struct naming {
    uint64_t turn;
    size_t named;
    bool is_asked;
};

static pmix_status_t naming_look(struct sx_server *server, void *arg)
{
    struct naming *const now = arg;
    const struct sx_list *const all = &server->collective.all;
    const struct sx_collective *const open = sx_list_empty(all)
                                                 ? NULL
                                                 : SX_LIST_ENTRY(all->next, struct sx_collective,
                                                                 link);

    cr_assert(open != NULL && open->members.real.made != NULL);
    now->turn = sx_loop_stats(server->loop).turns;
    now->named = open->members.real.made->named;
    now->is_asked = asked_count > 0;
    return PMIX_SUCCESS;
}

static void wide_begin(void)
{
    hosted_job_of(WIDE, LOCALS, WIDE_SIZE);
    hosted_call(group_wide, NULL);
    home = WIDE;
}

Test(fence, of_many_processes_gets_their_names_in_steps)
{
    struct naming first, now;

    wide_begin();
    act((struct act){ .rank = 1, .by = "most" });
    hosted_call(naming_look, &first);
    cr_expect_eq(first.named, 0u, "no host needs them yet");
    act((struct act){ .rank = 0, .by = "most" });
    do {
        hosted_call(naming_look, &now);
        cr_expect_leq(now.named, (now.turn - first.turn) * SX_ALIAS_NAMED_PER_TURN);
    } while (!now.is_asked);
    cr_assert_eq(asked[0].nprocs, WIDE_SIZE - 1);
    for (uint32_t i = 0; i < WIDE_SIZE - 1; i++) {
        cr_assert(asked[0].procs[i].rank == i && strcmp(asked[0].procs[i].nspace, WIDE) == 0);
    }
    answer(0, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

Test(fence, whose_job_ends_while_its_processes_get_their_names_is_not_asked_for)
{
    pmix_nspace_t job;

    wide_begin();
    act((struct act){ .rank = 1, .by = "most" });
    act((struct act){ .rank = 0, .by = "most" });
    PMIx_Load_nspace(job, WIDE);
    PMIx_server_deregister_nspace(job, NULL, NULL);
    for (unsigned turn = 0; turn < WIDE_SIZE / SX_ALIAS_NAMED_PER_TURN; turn++) {
        hosted_call(hosted_nothing, NULL);
    }
    cr_expect_eq(asked_count, 0u);
}

/* ---- one at a time -------------------------------------------------------------------------- */

Test(fence, the_next_one_waits_until_the_host_has_answered)
{
    fence((struct act){ 0 });
    fence((struct act){ 0 });
    fence((struct act){ 0 });
    cr_expect_eq(asked_count, 1u);
    cr_expect_eq(waits(), 3u);
    answer(0, PMIX_SUCCESS, NULL);
    cr_expect_eq(asked_count, 2u);
    cr_expect_eq(waits(), 2u);
    answer(1, PMIX_ERROR, NULL);
    cr_expect_eq(asked_count, 3u, "also behind one that has failed");
    answer(2, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

Test(fence, those_of_other_processes_do_not_wait)
{
    fence((struct act){ 0 });
    fence((struct act){ .with = OTHER });
    cr_expect_eq(asked_count, 2u);
    answer(1, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 1u);
    answer(0, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

/* In one turn, so that the second finds nothing left of it. */
static pmix_status_t much_and_little(struct sx_server *server, void *arg)
{
    struct sx_client *const first = client_of(server, 0);
    const pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { calloc(1, MUCH), MUCH } };

    (void)arg;
    cr_assert_not_null(value.data.bo.bytes);
    cr_assert_eq(sx_nspace_open(server, first->nspace), PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&first->nspace->store, SX_REALM_JOB, 0, "much", PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_news_refer(&first->news, "much"), PMIX_SUCCESS);
    free(value.data.bo.bytes);
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        cr_assert_eq(perform(server, &(struct act){ .rank = rank }), PMIX_SUCCESS);
    }
    home = PAIR;
    cr_assert_eq(perform(server, &(struct act){ .put = "little" }), PMIX_SUCCESS);
    home = NSPACE;
    cr_expect_eq(asked_count, 0u, "both are packed in later turns");
    return PMIX_SUCCESS;
}

Test(fence, one_with_little_data_overtakes_one_with_much)
{
    hosted_job_of(PAIR, 1, 2);
    hosted_call(much_and_little, NULL);
    questions_await(2);
    cr_expect_lt(asked[0].size, MUCH);
    cr_expect_eq(carried(0, "little"), 1u);
    cr_expect_gt(asked[1].size, MUCH);
    answer(0, PMIX_SUCCESS, NULL);
    answer(1, PMIX_SUCCESS, NULL);
}

/* Other nodes count the second too, which the host did not have in time: it gets its failure. */
Test(fence, one_that_was_too_late_stays_with_the_host)
{
    bool connected = true;

    hosted_call(connected_set, &connected);
    fence((struct act){ .seconds = 1 });
    fence((struct act){ .seconds = 1 }); /* late behind the first */
    cr_expect_eq(waits(), 2u);
    results_await(2);
    fence((struct act){ 0 });
    cr_expect_eq(asked_count, 1u);
    cr_expect_eq(asked[0].local, PMIX_SUCCESS);
    answer(0, PMIX_SUCCESS, "late");
    cr_expect(is_there("late"));
    questions_await(2);
    cr_expect_eq(asked[1].local, PMIX_ERR_TIMEOUT);
    cr_expect_eq(waits(), 2u, "the one that follows has not ended with it");
    answer(1, PMIX_SUCCESS, NULL);
    questions_await(3);
    cr_expect_eq(asked[2].local, PMIX_SUCCESS);
    cr_expect_eq(waits(), 1u);
    answer(2, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
    connected = false;
    hosted_call(connected_set, &connected);
}

Test(fence, of_a_namespace_that_has_gone_holds_up_nobody)
{
    fence((struct act){ 0 });
    fence((struct act){ 0 });
    PMIx_server_deregister_nspace(NSPACE, NULL, NULL);
    cr_expect_eq(asked_count, 1u);
    hosted_job_of(NSPACE, LOCALS, LOCALS + 1);
    fence((struct act){ 0 });
    cr_expect_eq(asked_count, 2u);
    answer(0, PMIX_SUCCESS, "old");
    cr_expect_not(is_there("old"), "of the job before");
    cr_expect_eq(waits(), 1u);
    answer(1, PMIX_SUCCESS, "new");
    cr_expect(is_there("new"));
    cr_expect_eq(waits(), 0u);
}

/* ---- news ----------------------------------------------------------------------------------- */

/* It goes with its members, but not while the host is asked. */
Test(fence, a_host_may_end_the_job_when_it_is_asked)
{
    const pmix_status_t all[] = { PMIX_SUCCESS, PMIX_ERR_NOT_SUPPORTED };

    ends_job = true;
    for (size_t i = 0; i < SX_COUNT(all); i++) {
        returns = all[i];
        fence((struct act){ 0 });
        hosted_job_of(NSPACE, LOCALS, LOCALS + 1);
        cr_expect_eq(waits(), 0u);
    }
    answer(0, PMIX_SUCCESS, NULL);
    ends_job = false;
    returns = PMIX_SUCCESS;
    fence((struct act){ 0 });
    cr_expect_eq(asked_count, 3u, "nobody is held up");
    answer(2, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

Test(fence, news_of_two_at_once_are_carried_and_none_is_lost)
{
    fence((struct act){ .put = "first" });
    fence((struct act){ .put = "second", .with = OTHER });
    cr_expect_eq(carried(0, "first"), 1u);
    cr_expect_eq(carried(1, "first"), 1u, "nobody knows yet that all have it");
    cr_expect_eq(carried(1, "second"), 1u);
    answer(0, PMIX_SUCCESS, NULL);
    act((struct act){ .put = "third" }); /* rank 0 waits for rank 1 */
    answer(1, PMIX_SUCCESS, NULL);
    act((struct act){ .rank = 1 });
    cr_assert_eq(asked_count, 3u);
    cr_expect_eq(carried(2, "first"), 0u);
    cr_expect_eq(carried(2, "second"), 0u, "all have it");
    cr_expect_eq(carried(2, "third"), 1u, "nobody has it");
    answer(2, PMIX_SUCCESS, NULL);
}

/* A job ends whose process has called, while the host has the fence: its news go with it. */
Test(fence, news_of_a_job_that_has_ended_are_no_news)
{
    bool connected = true;

    hosted_job_of(PAIR, 1, 2);
    hosted_call(connected_set, &connected);
    fence((struct act){ .put = "first", .with = PAIR });
    home = PAIR;
    act((struct act){ .put = "second", .with = NSPACE });
    home = NSPACE;
    cr_assert_eq(asked_count, 1u);
    cr_expect_eq(carried(0, "second"), 1u);
    PMIx_server_deregister_nspace(PAIR, NULL, NULL);
    answer(0, PMIX_SUCCESS, "far");
    cr_expect_eq(waits(), 0u);
    fence((struct act){ 0 });
    cr_assert_eq(asked_count, 2u);
    cr_expect_eq(carried(1, "first"), 0u);
    answer(1, PMIX_SUCCESS, NULL);
    connected = false;
    hosted_call(connected_set, &connected);
}

Test(fence, news_of_one_that_has_failed_come_with_the_next)
{
    fence((struct act){ .put = "first" });
    fence((struct act){ .put = "second", .with = OTHER });
    answer(0, PMIX_SUCCESS, NULL);
    answer(1, PMIX_ERROR, NULL);
    fence((struct act){ 0 });
    cr_assert_eq(asked_count, 3u);
    cr_expect_eq(carried(2, "first"), 0u);
    cr_expect_eq(carried(2, "second"), 1u);
    answer(2, PMIX_SUCCESS, NULL);
}

/* ---- a job that is registered behind its clients ---------------------------------------------- */

static pmix_status_t news_measure(struct sx_server *server, void *arg)
{
    *(size_t *)arg = (size_t)(sx_news_end(&client_of(server, 0)->news) -
                              client_of(server, 0)->news.gone);
    return PMIX_SUCCESS;
}

static size_t late_news(void)
{
    size_t size = 0;

    hosted_call(news_measure, &size);
    return size;
}

static void late_begin(void)
{
    home = LATE;
    for (uint32_t rank = 0; rank < LOCALS; rank++) {
        hosted_client(LATE, rank);
    }
    hosted_call(late_open, (char[]){ LATE });
    fence((struct act){ .put = "early" });
    cr_expect_eq(asked_count, 0u, "it waits for the registration");
    cr_expect_gt(late_news(), 0u);
}

Test(fence, news_of_a_job_that_is_registered_later_are_carried)
{
    late_begin();
    hosted_job(LATE, LOCALS, LOCALS + 1);
    (void)waits();
    cr_assert_eq(asked_count, 1u);
    cr_expect_eq(carried(0, "early"), 1u);
    answer(0, PMIX_ERROR, NULL);
}

Test(fence, news_of_a_job_that_turns_out_to_be_here_alone_are_dropped)
{
    late_begin();
    hosted_job(LATE, LOCALS, LOCALS);
    cr_expect_eq(waits(), 0u);
    cr_expect_eq(asked_count, 0u);
    cr_expect_eq(late_news(), 0u);
    fence((struct act){ .put = "later" });
    cr_expect_eq(late_news(), 0u);
}

/* ---- infos ---------------------------------------------------------------------------------- */

#define OF_THE_SERVER PMIX_COLLECT_DATA " " PMIX_LOCAL_COLLECTIVE_STATUS " " PMIX_SORTED_PROC_ARRAY

Test(fence, the_host_receives_each_key_of_the_members_once)
{
    fence((struct act){ 0 });
    cr_expect_str_eq(asked[0].notified, OF_THE_SERVER);
    answer(0, PMIX_SUCCESS, NULL);
    act((struct act){ .rank = 1, .notify = "bab", .value = "one" });
    act((struct act){ .rank = 0, .notify = "ca", .value = "zero", .seconds = 50 });
    cr_assert_eq(asked_count, 2u);
    cr_expect_str_eq(asked[1].notified, OF_THE_SERVER " b=one a=one " PMIX_TIMEOUT " c=zero");
    answer(1, PMIX_SUCCESS, NULL);
    fence((struct act){ 0 });
    cr_expect_str_eq(asked[2].notified, OF_THE_SERVER, "nothing of the one before");
    answer(2, PMIX_SUCCESS, NULL);
}

Test(fence, more_than_16_kib_of_infos_are_no_arrival)
{
    static char value[SX_ARRIVE_INFOS_MAX];
    struct act large = { .notify = "a", .value = value };

    memset(value, 'x', sizeof(value) - 1);
    cr_expect_eq(sx_server_call(sx_server_get(), perform, &large), PMIX_ERR_BAD_PARAM);
    value[sizeof(value) - 512] = '\0';
    cr_expect_eq(sx_server_call(sx_server_get(), perform, &large), PMIX_SUCCESS);
    cr_expect_eq(waits(), 1u);
}
