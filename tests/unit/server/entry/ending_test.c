/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ending_test.c - a namespace that the host deregisters goes in steps, and what the host says of its
 * name meanwhile is done behind them. */
#include "server/entry/entry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "../../control/engines.h"
#include "../hosted.h"
#include "server/collective/collective.h"
#include "server/group/invitation.h"

TestSuite(ending, .init = hosted_begin, .fini = hosted_end, .timeout = 60);

#define JOB "job"
#define CLIENTS 20000u
/* Clients that go in one turn. */
#define AWAY_MAX 1500u
#define FORGOTTEN_MAX (4 * AWAY_MAX)

static pmix_status_t job_fill(struct sx_server *server, void *arg)
{
    struct sx_nspace *const nspace = sx_nspace_obtain(server, JOB);

    (void)arg;
    for (uint32_t rank = 0; rank < CLIENTS; rank++) {
        cr_assert_not_null(sx_client_add(nspace, rank));
    }
    return PMIX_SUCCESS;
}

static void job_make(void)
{
    hosted_job(JOB, CLIENTS, CLIENTS);
    hosted_call(job_fill, NULL);
}

/* ---- the host's calls, and the order in which they end --------------------------------------- */

enum call { DEREGISTER, AGAIN, DROP, REGISTER, ADD, CALLS };

static struct {
    enum call order[CALLS];
    pmix_status_t status[CALLS];
    _Atomic unsigned count;
} ended;

static enum call marks[CALLS] = { DEREGISTER, AGAIN, DROP, REGISTER, ADD };

static void on_end(pmix_status_t status, void *cbdata)
{
    const enum call call = *(enum call *)cbdata;
    const unsigned at = atomic_load(&ended.count);

    ended.order[at] = call;
    ended.status[call] = status;
    atomic_store(&ended.count, at + 1);
}

static void wait_for(unsigned count)
{
    while (atomic_load(&ended.count) < count) { /* bounded by hosted_begin */
        hosted_call(hosted_nothing, NULL);
    }
}

static void deregister(enum call call)
{
    PMIx_server_deregister_nspace(JOB, on_end, &marks[call]);
}

/* All are in the loop before it does the first. */
static pmix_status_t calls_make(struct sx_server *server, void *arg)
{
    pmix_proc_t proc;

    (void)server, (void)arg;
    PMIx_Load_procid(&proc, JOB, CLIENTS - 1);
    deregister(DEREGISTER);
    deregister(AGAIN);
    PMIx_server_deregister_client(&proc, on_end, &marks[DROP]);
    cr_expect_eq(PMIx_server_register_nspace(JOB, 1, NULL, 0, on_end, &marks[REGISTER]),
                 PMIX_SUCCESS);
    proc.rank = 0;
    cr_expect_eq(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, on_end, &marks[ADD]),
                 PMIX_SUCCESS);
    return PMIX_SUCCESS;
}

static pmix_status_t count_clients(struct sx_server *server, void *arg)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, JOB);

    cr_expect(sx_list_empty(&server->entry.endings.all));
    *(size_t *)arg = nspace == NULL ? SIZE_MAX : nspace->client_count;
    return PMIX_SUCCESS;
}

static size_t clients(void)
{
    size_t count = 0;

    hosted_call(count_clients, &count);
    return count;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What is left of the job at the end of each turn. */
struct watch {
    struct sx_loop_post post;
    struct sx_server *server;
    size_t living, known; /* not taken away; not forgotten */
    unsigned turns;
};

static void turn_is_over(void *arg, uint64_t now_ns)
{
    struct watch *const watch = arg;
    struct sx_list *const all = &watch->server->entry.endings.all;
    size_t living = 0, known = 0;

    (void)now_ns;
    SX_LIST_EACH(it, all) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, ending.link);

        known = nspace->client_count;
        for (size_t i = 0; i < known; i++) {
            living += nspace->by_rank[i]->state != SX_CLIENT_DEAD;
        }
    }
    cr_expect_leq(watch->living - living, AWAY_MAX, "turn %u", watch->turns);
    cr_expect_leq(watch->known - known, FORGOTTEN_MAX, "turn %u", watch->turns);
    watch->living = living;
    watch->known = known;
    watch->turns++;
    if (!sx_list_empty(all)) {
        cr_expect_eq(atomic_load(&ended.count), 0);
        cr_assert_eq(sx_loop_post(watch->server->loop, &watch->post), PMIX_SUCCESS);
    }
}

static pmix_status_t watch_begin(struct sx_server *server, void *arg)
{
    struct watch *const watch = arg;

    *watch = (struct watch){ .server = server, .living = CLIENTS, .known = CLIENTS };
    watch->post = (struct sx_loop_post){ .fn = turn_is_over, .arg = watch };
    deregister(DEREGISTER);
    return sx_loop_post(server->loop, &watch->post);
}

Test(ending, takes_the_clients_away_in_steps)
{
    static struct watch watch;

    job_make();
    hosted_call(watch_begin, &watch);
    wait_for(1);
    cr_expect_eq(ended.status[DEREGISTER], PMIX_SUCCESS);
    cr_expect_eq(clients(), SIZE_MAX);
    cr_expect_geq(watch.turns, CLIENTS / AWAY_MAX + CLIENTS / FORGOTTEN_MAX);
}

/* ---- guests ---------------------------------------------------------------------------------- */

#define INVITATIONS 6000u
#define LOSSES_MAX 1600u /* in one turn: 500 for the end, and 1,000 as any guest's */

struct guests {
    struct sx_loop_post post;
    struct sx_server *server;
    size_t left;
    unsigned turns;
};

static void losses_watch(void *arg, uint64_t now_ns)
{
    struct guests *const guests = arg;
    const size_t left = guests->server->group.invitations.count;

    (void)now_ns;
    cr_expect_leq(guests->left - left, LOSSES_MAX, "turn %u", guests->turns);
    guests->left = left;
    guests->turns++;
    if (left > 0) {
        cr_assert_not_null(sx_nspace_find(guests->server, JOB), "its guests have a name");
        cr_assert_eq(sx_loop_post(guests->server->loop, &guests->post), PMIX_SUCCESS);
    }
}

/* A process of another job has invited one of it to many groups. */
static pmix_status_t guests_invite(struct sx_server *server, void *arg)
{
    struct guests *const guests = arg;
    struct sx_client *const guest = sx_client_find(sx_nspace_find(server, JOB), 0);
    struct sx_client *const inviter = sx_client_find(sx_nspace_find(server, "other"), 0);

    for (unsigned i = 0; i < INVITATIONS; i++) {
        char name[32];

        snprintf(name, sizeof(name), "group.%u", i);
        struct sx_invitation *const invitation = sx_invitation_new(server, name, inviter);

        cr_assert(invitation != NULL && sx_invitation_ask(server, invitation, inviter) &&
                  sx_invitation_ask(server, invitation, guest));
    }
    *guests = (struct guests){ .server = server, .left = INVITATIONS };
    guests->post = (struct sx_loop_post){ .fn = losses_watch, .arg = guests };
    deregister(DEREGISTER);
    return sx_loop_post(server->loop, &guests->post);
}

Test(ending, informs_the_inviters_of_its_guests_in_steps)
{
    static struct guests guests;

    hosted_job_of(JOB, 1, 1);
    hosted_job_of("other", 1, 1);
    hosted_call(guests_invite, &guests);
    wait_for(1);
    cr_expect_eq(guests.left, 0);
    cr_expect_eq(clients(), SIZE_MAX);
}

/* ---- connects -------------------------------------------------------------------------------- */

#define CONNECTS 2000u
#define FEW 10u
#define UNSAID_MAX 300u /* in one turn */
#define LARGE_CONNECTS 100u
#define LARGE 200u   /* processes of the other job */
#define LARGE_MAX 4u /* in one turn */

struct connects {
    unsigned count, others; /* that are connected with the process of JOB ... */
    unsigned ours;          /* ... or with so many; 0: with one */
    size_t most;            /* that end in one turn */
    struct sx_loop_post post;
    struct sx_server *server;
    size_t left;
    uint64_t events;
    bool is_leaving;
};

static size_t list_count(const struct sx_list *list)
{
    size_t count = 0;

    SX_LIST_EACH(it, list) {
        count++;
    }
    return count;
}

static void connects_watch(void *arg, uint64_t now_ns)
{
    struct connects *const connects = arg;
    struct sx_nspace *const nspace = sx_nspace_find(connects->server, JOB);
    const size_t left = nspace != NULL ? list_count(&nspace->unsaid) : 0;

    (void)now_ns;
    if (connects->is_leaving) {
        connects->is_leaving = sx_membership_is_leaving(connects->server,
                                                        sx_client_find(nspace, 0));
        if (!connects->is_leaving) {
            connects->events = sx_nspace_find(connects->server, "other")->events.newest;
            connects->left = left;
            deregister(DEREGISTER);
        }
    } else {
        cr_expect_leq(connects->left - left, connects->most);
        connects->left = left;
    }
    if (nspace != NULL) {
        cr_assert_eq(sx_loop_post(connects->server->loop, &connects->post), PMIX_SUCCESS);
    }
}

/* A process of JOB is in many connects with those of another job, and ends without a disconnect. */
static void connects_leave(struct sx_server *server, struct connects *connects)
{
    const unsigned ours = connects->ours > 0 ? connects->ours : 1;
    pmix_proc_t procs[2 + LARGE];

    connects->server = server;
    for (uint32_t rank = 0; rank < ours; rank++) {
        PMIx_Load_procid(&procs[rank], JOB, rank);
    }
    for (uint32_t rank = 0; rank < connects->others; rank++) {
        PMIx_Load_procid(&procs[ours + rank], "other", rank);
    }
    for (unsigned i = 0; i < connects->count; i++) {
        struct sx_membership_entry *entry;
        char name[32];
        const struct sx_membership_options options = { .name = name,
                                                       .kind = SX_MEMBERSHIP_CONNECTED,
                                                       .procs = procs,
                                                       .proc_count = ours + connects->others };

        snprintf(name, sizeof(name), "connected.%u", i);
        cr_assert_eq(sx_memberships_add(server, &options, &entry), PMIX_SUCCESS);
    }
    sx_client_find(sx_nspace_find(server, "other"), 0)->state = SX_CLIENT_CONNECTED;
    sx_connect_client_gone(server, sx_client_find(sx_nspace_find(server, JOB), 0));
}

static pmix_status_t connects_make(struct sx_server *server, void *arg)
{
    struct connects *const connects = arg;

    connects_leave(server, connects);
    connects->is_leaving = true;
    connects->post = (struct sx_loop_post){ .fn = connects_watch, .arg = connects };
    return sx_loop_post(server->loop, &connects->post);
}

static pmix_status_t connects_judge(struct sx_server *server, void *arg)
{
    const struct connects *const connects = arg;
    struct sx_client *const other = sx_client_find(sx_nspace_find(server, "other"), 0);

    cr_expect_eq(other->nspace->events.newest - connects->events, connects->count);
    other->state = SX_CLIENT_REGISTERED;
    return PMIX_SUCCESS;
}

static void connects_inform(struct connects *connects)
{
    hosted_job_of(JOB, 1, 1);
    hosted_job_of("other", connects->others, connects->others);
    hosted_call(connects_make, connects);
    wait_for(1);
    hosted_call(connects_judge, connects);
    cr_expect_eq(clients(), SIZE_MAX);
}

Test(ending, informs_the_connected_in_steps)
{
    static struct connects connects = { .count = CONNECTS, .others = 1, .most = UNSAID_MAX };

    connects_inform(&connects);
}

Test(ending, informs_the_connected_of_large_lists_in_more_steps)
{
    static struct connects connects = { .count = LARGE_CONNECTS,
                                        .others = LARGE,
                                        .most = LARGE_MAX };

    connects_inform(&connects);
}

/* Some of the connects end before the job. */
static pmix_status_t some_end(struct sx_server *server, void *arg)
{
    struct connects *const connects = arg;
    const struct sx_nspace *const nspace = sx_nspace_find(server, JOB);

    connects_leave(server, connects);
    cr_expect_eq(list_count(&nspace->unsaid), FEW);
    for (unsigned i = 0; i < FEW / 2; i++) {
        char name[32];

        snprintf(name, sizeof(name), "connected.%u", i);
        sx_memberships_remove(server, sx_memberships_find(server, name));
    }
    cr_expect_eq(list_count(&nspace->unsaid), FEW / 2);
    connects->events = sx_nspace_find(server, "other")->events.newest;
    connects->count = FEW / 2;
    deregister(DEREGISTER);
    return PMIX_SUCCESS;
}

Test(ending, informs_nobody_of_connects_that_have_ended)
{
    static struct connects connects = { .count = FEW, .others = 1 };

    hosted_job_of(JOB, 1, 1);
    hosted_job_of("other", 1, 1);
    hosted_call(some_end, &connects);
    wait_for(1);
    hosted_call(connects_judge, &connects);
}

/* Two of its processes are in each connect.  The name ends at once, as that of a tool does. */
static pmix_status_t both_leave(struct sx_server *server, void *arg)
{
    struct connects *const connects = arg;
    struct sx_nspace *const nspace = sx_nspace_find(server, JOB);

    connects->ours = 2;
    connects_leave(server, connects);
    sx_connect_client_gone(server, sx_client_find(nspace, 1));
    cr_expect_eq(list_count(&nspace->unsaid), FEW, "one for both");
    connects->events = sx_nspace_find(server, "other")->events.newest;
    sx_nspace_remove(server, nspace);
    return connects_judge(server, connects);
}

Test(ending, informs_the_connected_once_for_all_processes_of_a_name)
{
    static struct connects connects = { .count = FEW, .others = 1 };

    hosted_job_of(JOB, 2, 2);
    hosted_job_of("other", 1, 1);
    hosted_call(both_leave, &connects);
}

/* The job ends, and another of its name begins, while the process is still leaving its lists. */
static pmix_status_t name_returns(struct sx_server *server, void *arg)
{
    struct connects *const connects = arg;

    connects->events = sx_nspace_find(server, "other")->events.newest;
    connects_leave(server, connects);
    deregister(DEREGISTER);
    return PMIX_SUCCESS;
}

static pmix_status_t is_leaving(struct sx_server *server, void *arg)
{
    *(bool *)arg = !sx_list_empty(&server->collective.leavers);
    return PMIX_SUCCESS;
}

Test(ending, informs_the_connected_when_another_job_has_its_name)
{
    static struct connects connects = { .count = CONNECTS, .others = 1 };
    bool leaving = true;

    hosted_job_of(JOB, 1, 1);
    hosted_job_of("other", 1, 1);
    hosted_call(name_returns, &connects);
    wait_for(1);
    hosted_job_of(JOB, 1, 1);
    hosted_call(is_leaving, &leaving);
    cr_expect(leaving);
    while (leaving) { /* bounded by hosted_begin */
        hosted_call(is_leaving, &leaving);
    }
    connects.count = 2 * CONNECTS; /* of the end of the process, and of that of its job */
    hosted_call(connects_judge, &connects);
    deregister(AGAIN);
    wait_for(2);
    hosted_call(connects_judge, &connects);
}

/* ---- the name meanwhile ---------------------------------------------------------------------- */

Test(ending, lets_calls_that_name_it_wait_and_keeps_their_order)
{
    job_make();
    hosted_call(calls_make, NULL);
    wait_for(CALLS);
    for (unsigned call = 0; call < CALLS; call++) {
        cr_expect_eq(ended.order[call], call);
        cr_expect_eq(ended.status[call], PMIX_SUCCESS, "call %u", call);
    }
    cr_expect_eq(clients(), 1, "another job of that name");
}

static pmix_status_t register_at_once(struct sx_server *server, void *arg)
{
    (void)arg;
    sx_ending_begin(server, sx_nspace_find(server, JOB));
    cr_expect_not(sx_list_empty(&server->entry.endings.all));
    cr_expect_eq(PMIx_server_register_nspace(JOB, 1, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    return count_clients(server, arg);
}

Test(ending, is_done_before_a_call_of_the_loops_thread_that_cannot_wait)
{
    size_t count = SIZE_MAX;

    job_make();
    hosted_call(register_at_once, &count);
    cr_expect_eq(count, 0);
}

Test(ending, blocks_who_gives_no_callback)
{
    size_t count = 0;

    job_make();
    PMIx_server_deregister_nspace(JOB, NULL, NULL);
    cr_assert_eq(sx_server_call(sx_server_get(), count_clients, &count), PMIX_SUCCESS);
    cr_expect_eq(count, SIZE_MAX);
}

/* No process becomes a client of it, and no tool reads what it has. */
static pmix_status_t refuse(struct sx_server *server, void *arg)
{
    const struct sx_peer peer = { .pid = getpid(), .uid = getuid(), .gid = getgid() };
    struct sx_hello hello = { .home = JOB };
    pmix_status_t status = PMIX_SUCCESS;
    const char *why = NULL;

    (void)arg;
    sx_ending_begin(server, sx_nspace_find(server, JOB));
    cr_expect_null(sx_tool_admit(server, &hello, &peer, &status, &why));
    cr_expect_eq(status, PMIX_ERR_NOT_FOUND);
    return PMIX_SUCCESS;
}

Test(ending, lets_no_tool_in)
{
    job_make();
    hosted_call(refuse, NULL);
}

Test(ending, is_done_before_the_server_ends)
{
    job_make();
    deregister(DEREGISTER);
    hosted_end();
    cr_expect_eq(atomic_load(&ended.count), 1);
    cr_expect_eq(ended.status[DEREGISTER], PMIX_SUCCESS);
    hosted_begin(); /* for the suite to end */
}
