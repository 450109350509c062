/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* chain_test.c - one event after another through handlers that act by script, step by step. */
#include <criterion/criterion.h>

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../handlers_add.h"
#include "base/call/chain.h"
#include "base/value/value.h"

#define CODE (-3100)

/* ---- the thread that runs handlers: this one, when it likes --------------------------------- */

static struct sx_handlers table;
static struct sx_list posted = SX_LIST_INIT(posted);
static bool gone;
static unsigned ended_count;

struct task {
    struct sx_list node;
    struct sx_chain *chain;
};
static_assert(sizeof(struct task) <= sizeof(union sx_chain_post), "it is posted there");

static bool post(struct sx_chain *chain, void *arg)
{
    struct task *const task = (struct task *)(void *)sx_chain_post(chain);

    (void)arg;
    if (!gone) {
        task->chain = chain;
        sx_list_append(&posted, &task->node);
    }
    return !gone;
}

static void ended(void *arg)
{
    (void)arg;
    ended_count++;
}

static void run(void)
{
    struct sx_list *node;

    while ((node = sx_list_pop(&posted)) != NULL) {
        sx_chain_step(SX_LIST_ENTRY(node, struct task, node)->chain);
    }
}

static void publish_infos(pmix_status_t code, const pmix_info_t info[], size_t ninfo)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 1 };
    pmix_info_t *const copy = ninfo > 0 ? calloc(ninfo, sizeof(*copy)) : NULL;
    const struct sx_chain_options options = {
        .handlers = &table,
        .facts = { .code = code, .source = &source },
        .info = copy,
        .ninfo = ninfo,
        .post = post,
        .ended = ended,
    };

    if (ninfo > 0) {
        cr_assert_eq(sx_elements_copy(copy, info, ninfo, PMIX_INFO), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_chain_start(&options), PMIX_SUCCESS);
}

static void publish(pmix_status_t code)
{
    publish_infos(code, NULL, 0);
}

/* ---- handlers ------------------------------------------------------------------------------- */

static char said[1024]; /* "NAME(results)" of each call */
static pmix_event_notification_cbfunc_fn_t kept_done;
static void *kept_cbdata; /* of the last handler that did not complete */
static pmix_info_t *kept_info;
static unsigned released;
static pthread_t released_by;

static void say(const char *text)
{
    cr_assert_lt(strlen(said) + strlen(text), sizeof(said));
    strcat(said, text);
}

static void release(pmix_status_t status, void *cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect_eq(cbdata, &released);
    released++;
    released_by = pthread_self();
}

static void describe(const char *name, const pmix_info_t results[], size_t nresults)
{
    char text[PMIX_MAX_KEYLEN + 32];

    snprintf(text, sizeof(text), "%s%s(", said[0] == '\0' ? "" : " ", name);
    say(text);
    for (size_t i = 0; i < nresults; i++) {
        if (results[i].value.type == PMIX_STATUS) {
            snprintf(text, sizeof(text), "%s%s:%d", i > 0 ? "," : "", results[i].key,
                     results[i].value.data.status);
        } else if (results[i].value.type == PMIX_UINT32) {
            snprintf(text, sizeof(text), "%s%s=%u", i > 0 ? "," : "", results[i].key,
                     results[i].value.data.uint32);
        } else {
            snprintf(text, sizeof(text), "%s%s%s", i > 0 ? "," : "", results[i].key,
                     (results[i].flags & PMIX_INFO_REQD) != 0 ? "!" : "");
        }
        say(text);
    }
    say(")");
}

static void add(const char *wish);
static void spent(size_t id);

/* Add one to what the handler returns. */
static void give(pmix_info_t own[], size_t *count, const char *key, bool required)
{
    uint32_t number = 7;

    PMIX_INFO_LOAD(&own[*count], key, strcmp(key, "u") == 0 ? &number : NULL,
                   strcmp(key, "u") == 0 ? PMIX_UINT32 : PMIX_BOOL);
    own[(*count)++].flags |= required ? PMIX_INFO_REQD : 0;
}

/* Change what the earlier ones have returned: numbers become 8, or all of it goes. */
static void edit(pmix_info_t results[], size_t nresults, bool all_goes)
{
    for (size_t i = 0; i < nresults; i++) {
        if (results[i].value.type == PMIX_STATUS) {
            continue;
        }
        if (all_goes) {
            results[i].key[0] = '\0';
        } else if (results[i].value.type == PMIX_UINT32) {
            results[i].value.data.uint32 = 8;
        }
    }
}

/* What changes the table or makes an event. */
static void act_on_table(char letter, size_t id)
{
    switch (letter) {
    case 'D':
        cr_expect_eq(sx_handlers_remove(&table, id), PMIX_SUCCESS, "EV22");
        break;
    case 'O':
        cr_expect_eq(sx_handlers_remove(&table, id + 1), PMIX_SUCCESS, "EO55");
        break;
    case 'A':
        add("z");
        break;
    case 'P':
        publish(CODE);
        break;
    case 'F':
        sx_chain_forget(&table);
        sx_handlers_deinit(&table);
        sx_handlers_init(&table);
        sx_handlers_on_spent(&table, spent);
        break;
    case 'N': /* another thread steps meanwhile */
        publish(CODE);
        run();
        break;
    default:
        break;
    }
}

/* The name is the script: what is behind its first letter. */
static void act(const char *name, size_t id, pmix_info_t results[], size_t nresults,
                pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    pmix_status_t status = PMIX_EVENT_NO_ACTION_TAKEN;
    pmix_info_t own[3];
    size_t count = 0;

    memset(own, 0, sizeof(own));
    for (const char *c = name + 1; *c != '\0'; c++) {
        switch (*c) {
        case 'p':
            status = PMIX_EVENT_PARTIAL_ACTION_TAKEN;
            break;
        case 'd':
            status = PMIX_EVENT_ACTION_DEFERRED;
            break;
        case 'c':
            status = PMIX_EVENT_ACTION_COMPLETE;
            break;
        case 'u':
            give(own, &count, "u", false);
            break;
        case 'n':
            give(own, &count, PMIX_EVENT_NO_TERMINATION, false);
            break;
        case 'w':
            give(own, &count, PMIX_EVENT_WANT_TERMINATION, false);
            break;
        case 'R':
            give(own, &count, PMIX_EVENT_WANT_TERMINATION, true);
            break;
        case 'e':
            edit(results, nresults, false);
            break;
        case 'x':
            edit(results, nresults, true);
            break;
        case 's': /* say nothing: complete later, or never */
            kept_done = done;
            kept_cbdata = cbdata;
            return;
        default:
            act_on_table(*c, id);
            break;
        }
    }
    done(status, count == 0 ? NULL : own, count, count == 0 ? NULL : release, &released, cbdata);
    for (size_t i = 0; i < count; i++) { /* EV36: they are the handler's again */
        PMIX_INFO_DESTRUCT(&own[i]);
    }
}

static void handler(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    char name[64] = "-";

    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_EVENT_HDLR_NAME) == 0) {
            snprintf(name, sizeof(name), "%s", info[i].value.data.string);
        }
    }
    kept_info = info;
    cr_expect_eq(code, CODE);
    cr_expect_str_eq(source->nspace, "job", "EV40");
    cr_expect((results == NULL) == (nresults == 0), "EV31");
    describe(name, results, nresults);
    act(name, id, results, nresults, done, cbdata);
}

/* At the end of its category, so that the calls come in the order of these lines. */
static void add(const char *name)
{
    const pmix_status_t code = CODE;
    const bool once = name[0] == '1';
    pmix_info_t info[3];
    size_t id;

    memset(info, 0, sizeof(info));
    PMIX_INFO_LOAD(&info[0], name[0] == 'L' ? PMIX_EVENT_HDLR_LAST : PMIX_EVENT_HDLR_APPEND, NULL,
                   PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_HDLR_NAME, name, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_EVENT_ONESHOT, &once, PMIX_BOOL);
    cr_assert_eq(handlers_add(&table, &code, 1, info, name[0] == '-' ? 1 : 3, handler, &id),
                 PMIX_SUCCESS);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

static unsigned spent_count;

static void spent(size_t id)
{
    spent_count++;
    cr_expect_eq(sx_handlers_remove(&table, id), PMIX_SUCCESS);
}

static void begin(void)
{
    sx_handlers_init(&table);
    sx_handlers_on_spent(&table, spent);
    spent_count = 0;
    said[0] = '\0';
    gone = false;
    ended_count = released = 0;
}

static void end(void)
{
    sx_chain_forget(&table);
    sx_handlers_deinit(&table);
}

/* ---- what each one sees ---------------------------------------------------------------------- */

static const struct {
    const char *id;
    const char *names[5];
    const char *want;
} rows[] = {
    { "EV28 EV31 EV32 EV33 one entry for each earlier one, in order",
      { "a", "b", "c" },
      "a() b(a:-331) c(a:-331,b:-331)" },
    { "EV33 an unnamed one has an empty key", { "-", "b" }, "-() b(:-331)" },
    { "EV29 EV75 partial and deferred go on",
      { "ap", "bd", "c" },
      "ap() bd(ap:-332) c(ap:-332,bd:-333)" },
    { "EV29 EV30 EV35 complete ends it", { "a", "bc", "c" }, "a() bc(a:-331)" },
    { "EO26 the last one does not run then", { "Lz", "bc" }, "bc()" },
    { "EV34 EO50 what it returned follows its status",
      { "au", "b", "c" },
      "au() b(au:-331,u=7) c(au:-331,u=7,b:-331)" },
    { "EO48 a value edited in place",
      { "au", "be", "c" },
      "au() be(au:-331,u=7) c(au:-331,u=8,be:-331)" },
    { "EO49 an element deleted", { "au", "bx", "c" }, "au() bx(au:-331,u=7) c(au:-331,bx:-331)" },
    { "EO49 EO50 deleted and added",
      { "au", "bxu", "c" },
      "au() bxu(au:-331,u=7) c(au:-331,bxu:-331,u=7)" },
    { "EO51 a later wish overrides",
      { "an", "bw", "c" },
      "an() bw(an:-331,pmix.evnoterm) c(an:-331,bw:-331,pmix.evterm)" },
    { "EO52 also the other way round",
      { "aw", "bn", "c" },
      "aw() bn(aw:-331,pmix.evterm) c(aw:-331,bn:-331,pmix.evnoterm)" },
    { "EO52 not a required one",
      { "aR", "bn", "c" },
      "aR() bn(aR:-331,pmix.evterm!) c(aR:-331,pmix.evterm!,bn:-331)" },
    { "EO52 nor by deleting it",
      { "aR", "bx", "c" },
      "aR() bx(aR:-331,pmix.evterm!) c(aR:-331,pmix.evterm!,bx:-331)" },
    { "EO52 the required one of two at once", { "anR", "b" }, "anR() b(anR:-331,pmix.evterm!)" },
    { "EO51 nothing else is overridden",
      { "aun", "bu", "c" },
      "aun() bu(aun:-331,u=7,pmix.evnoterm) c(aun:-331,u=7,pmix.evnoterm,bu:-331,u=7)" },
    { "EV22 a handler removes itself", { "aD", "b" }, "aD() b(aD:-331)" },
    { "EO55 a handler removes the next one", { "aO", "b", "c" }, "aO() c(aO:-331)" },
    { "EO54 a handler registered inside a handler waits for the next event",
      { "aA", "b" },
      "aA() b(aA:-331)" },
};

Test(chain, calls_in_order_and_hands_on_what_was_said)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        begin();
        for (size_t n = 0; n < SX_COUNT(rows[i].names) && rows[i].names[n] != NULL; n++) {
            add(rows[i].names[n]);
        }
        publish(CODE);
        run();
        cr_expect_str_eq(said, rows[i].want, "%s: %s", rows[i].id, said);
        cr_expect_eq(ended_count, 1, "%s", rows[i].id);
        end();
    }
}

/* EV51 by sense, EV39: nobody wants it, or there are no infos; EV36: released once each. */
Test(chain, ends_when_nobody_wants_it_and_releases_what_was_returned)
{
    begin();
    publish(CODE);
    cr_expect_eq(ended_count, 1);
    add("-u");
    publish(CODE);
    run();
    cr_expect_null(kept_info, "EV39");
    cr_expect_eq(released, 0, "unnamed: it has no script");
    add("au");
    publish(CODE);
    run();
    cr_expect_eq(released, 1, "EV36");
    end();
}

/* ---- handlers for one event ------------------------------------------------------------------ */

static const struct {
    const char *why;
    const char *names[3];
    const char *want; /* of two events that are published before a handler runs */
    unsigned spent;
} once_rows[] = {
    { "the first only", { "1a", "b" }, "1a() b(1a:-331) b()", 1 },
    { "of two each has its own", { "1a", "1b" }, "1a() 1b(1a:-331)", 2 },
    { "the end of a chain leaves it for the next", { "ac", "1b" }, "ac() ac()", 0 },
    { "it completes later, and has been called", { "1as", "b" }, "1as() b()", 1 },
    { "it removes itself", { "1aD", "b" }, "1aD() b(1aD:-331) b()", 0 },
    { "nor while it runs", { "1aN", "b" }, "1aN() b() b() b(1aN:-331)", 1 },
    { "it forgets all handlers", { "1aF", "b" }, "1aF()", 0 },
    { "what it publishes is not its own", { "1aP", "b" }, "1aP() b(1aP:-331) b() b()", 1 },
};

Test(chain, a_handler_for_one_event_has_one)
{
    for (size_t i = 0; i < SX_COUNT(once_rows); i++) {
        begin();
        for (size_t n = 0; n < SX_COUNT(once_rows[i].names) && once_rows[i].names[n]; n++) {
            add(once_rows[i].names[n]);
        }
        publish(CODE);
        publish(CODE);
        run();
        cr_expect_str_eq(said, once_rows[i].want, "%s: %s", once_rows[i].why, said);
        cr_expect_eq(spent_count, once_rows[i].spent, "%s: %u", once_rows[i].why, spent_count);
        end();
    }
}

/* ---- handlers that take their time
 * ------------------------------------------------------------ */

static void *complete(void *arg)
{
    (void)arg;
    kept_done(PMIX_EVENT_ACTION_DEFERRED, NULL, 0, release, &released, kept_cbdata);
    return NULL;
}

/* EV37: from another thread, later; the chain waits.  EV36: its release is called there. */
Test(chain, waits_for_a_handler_that_completes_in_another_thread)
{
    pthread_t thread;

    begin();
    add("as");
    add("b");
    publish(CODE);
    run();
    cr_expect_str_eq(said, "as()");
    cr_assert_eq(pthread_create(&thread, NULL, complete, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_eq(released, 1);
    cr_expect(pthread_equal(released_by, thread));
    cr_expect_str_eq(said, "as()", "the next is called by the thread that calls all");
    run();
    cr_expect_str_eq(said, "as() b(as:-333)");
    complete(NULL); /* once more: noticed and left alone */
    run();
    cr_expect_eq(ended_count, 1);
    end();
}

/* EV38: only its own event is held up.  At the end it is forgotten, and its late word is
 * nobody's. */
Test(chain, a_handler_that_never_completes_holds_up_its_own_event_only)
{
    begin();
    add("as");
    publish(CODE);
    run();
    cr_assert_eq(sx_handlers_remove(&table, 1), PMIX_SUCCESS);
    add("b");
    publish(CODE);
    run();
    cr_expect_str_eq(said, "as() b()");
    cr_expect_eq(ended_count, 1);
    end();
    cr_expect_eq(ended_count, 2);
    complete(NULL);
    cr_expect_eq(ended_count, 2);
}

/* Ten thousand that wait, and each newest one completes: found without a search. */
Test(chain, many_may_wait)
{
    begin();
    add("as");
    for (int i = 0; i < 10000; i++) {
        said[0] = '\0';
        publish(CODE);
        run();
    }
    complete(NULL);
    run();
    cr_expect_eq(ended_count, 1);
    said[0] = '\0';
    end();
    cr_expect_eq(ended_count, 10000);
}

/* A handler that ends everything: its own chain and infos live until it returns. */
Test(chain, a_handler_may_forget_all_handlers)
{
    const char *const text = "text";
    pmix_info_t info;

    begin();
    add("aF");
    add("b");
    PMIX_INFO_LOAD(&info, "k", text, PMIX_STRING);
    publish_infos(CODE, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    run();
    cr_expect_str_eq(said, "aF()");
    cr_expect_eq(ended_count, 1);
    end();
}

/* An event made inside a handler waits until the handler has returned. */
Test(chain, an_event_made_inside_a_handler_has_its_own_turn)
{
    begin();
    add("aPD");
    add("b");
    publish(CODE);
    run();
    cr_expect_str_eq(said, "aPD() b(aPD:-331) b()", "%s", said);
    cr_expect_eq(ended_count, 2);
    end();
}

/* Whoever runs handlers has gone: the chain ends itself. */
Test(chain, ends_when_nobody_runs_it)
{
    begin();
    add("a");
    gone = true;
    publish(CODE);
    cr_expect_eq(ended_count, 1);
    cr_expect_str_eq(said, "");
    end();
}
