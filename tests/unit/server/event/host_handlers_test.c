/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_handlers_test.c - the host's own handlers: what they hear of once they are activated, late
 * and live, each once. */
#include "server/event/event.h"

#include "../bare_events.h"
#include "../block_build.h"
#include "../hosted.h"

#define CODE (-2000)

static struct sx_server server;
static size_t id;

static void begin(void)
{
    bare_events_init(&server);
    sx_server_set(&server);
    sx_hostevent_serve(&server);
}

static void end(void)
{
    sx_hostevent_clear();
    sx_server_set(NULL);
    bare_events_deinit(&server);
}

TestSuite(host_event, .init = begin, .fini = end, .timeout = 60);

/* ---- the handler
 * ------------------------------------------------------------------------------ */

static unsigned received;
static pmix_status_t last;

static void handler(size_t which, pmix_status_t status, const pmix_proc_t *source,
                    pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    cr_expect_eq(which, id);
    received++;
    last = status;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void register_for(const pmix_status_t *code)
{
    pmix_status_t codes[1] = { code != NULL ? *code : 0 };
    const pmix_status_t rc = sx_hostevent_register(code != NULL ? codes : NULL, code != NULL, NULL,
                                                   0, handler);

    cr_assert_geq(rc, 0);
    id = (size_t)rc;
}

/* ---- what the loop does
 * ----------------------------------------------------------------------- */

struct step {
    bool activate, deregister;
    pmix_status_t code; /* 0: none */
    bool for_host;
};

static void step_now(void *arg, uint64_t now_ns)
{
    const struct step *const step = arg;
    const pmix_proc_t source = { .nspace = "job" };
    struct sx_event_block *block = NULL;

    (void)now_ns;
    if (step->code != 0) {
        cr_assert_eq(block_build(step->code, &source, PMIX_RANGE_LOCAL, NULL, 0, &block),
                     PMIX_SUCCESS);
        block->for_host = step->for_host;
        sx_hostevent_deliver(&server, block);
        sx_event_block_release(block);
    }
    if (step->activate) {
        sx_hostevent_activate(id, false);
    }
    if (step->deregister) {
        cr_expect_eq(sx_hostevent_deregister(id), PMIX_SUCCESS);
    }
}

/* Handlers are called in later turns, by posts of posts: so many are waited for. */
static struct sx_loop_post hop;
static unsigned hops;

static void hop_on(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
    if (++hops < 16) {
        (void)sx_loop_post(server.loop, &hop);
    } else {
        sx_loop_stop(server.loop);
    }
}

static void step_and_hop(void *arg, uint64_t now_ns)
{
    step_now(arg, now_ns);
    hops = 0;
    hop = (struct sx_loop_post){ .fn = hop_on };
    hop_on(NULL, now_ns);
}

static void step(struct step step)
{
    struct sx_timer call = { .fn = step_and_hop, .arg = &step };

    cr_assert_eq(sx_timer_add(server.loop, &call, 0), PMIX_SUCCESS);
    sx_loop_run(server.loop);
}

/* ---- tests
 * ------------------------------------------------------------------------------------ */

Test(host_event, receives_of_its_codes_once_it_is_activated)
{
    const pmix_status_t code = CODE;

    register_for(&code);
    step((struct step){ .code = CODE });
    cr_expect_eq(received, 0, "not before");
    step((struct step){ .activate = true });
    cr_expect_eq(received, 1, "what was kept");
    step((struct step){ .code = CODE });
    step((struct step){ .code = CODE - 1 });
    cr_expect_eq(received, 2);
    cr_expect_eq(last, CODE);
    step((struct step){ .deregister = true });
    step((struct step){ .code = CODE });
    cr_expect_eq(received, 2, "nor any more");
}

/* Some hosts end the job at whatever reaches such a handler. */
Test(host_event, without_codes_receives_only_what_is_for_the_host)
{
    register_for(NULL);
    step((struct step){ .activate = true });
    step((struct step){ .code = CODE });
    cr_expect_eq(received, 0);
    step((struct step){ .code = CODE - 1, .for_host = true });
    cr_expect_eq(received, 1);
    cr_expect_eq(last, CODE - 1);
}

Test(host_event, of_no_handler_and_of_no_server)
{
    cr_expect_eq(sx_hostevent_deregister(4242), PMIX_SUCCESS, "hosts do so");
    sx_server_set(NULL);
    cr_expect_eq(sx_hostevent_register(NULL, 0, NULL, 0, handler), PMIX_ERR_INIT);
    cr_expect_eq(sx_hostevent_deregister(0), PMIX_ERR_INIT);
}

/* ---- with the loop's own thread
 * --------------------------------------------------------------- */

TestSuite(hosted_event, .init = hosted_begin, .fini = hosted_end, .timeout = 60);

/* What comes behind a call without a callback comes to the handler, however much it is. */
Test(hosted_event, registered_is_activated_when_the_call_returns)
{
    const struct sx_loop *const loop = sx_server_get()->loop;

    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t before = sx_loop_stats(loop).posts;
        const pmix_status_t rc = PMIx_Register_event_handler(NULL, 0, NULL, 0, handler, NULL, NULL);

        cr_assert_geq(rc, 0);
        cr_assert_gt(sx_loop_stats(loop).posts, before, "it was left to the loop");
        cr_assert_eq(PMIx_Deregister_event_handler((size_t)rc, NULL, NULL), PMIX_SUCCESS);
    }
}
