/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handlers_test.c - the ordering language, case by case, and who wants what. */
#include <criterion/criterion.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "../handlers_add.h"

#define CODE_A (-3100)
#define CODE_B (-3101)

static void nobody(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    (void)done, (void)cbdata;
}

/* One registration: "NAME[:CODES][ PLACE[ BESIDE]]", CODES of a and b (none: default handler),
 * PLACE one of first last first-in last-in before after prepend append. */
static pmix_status_t add(struct sx_handlers *table, const char *wish, size_t *ret_id)
{
    static const struct {
        const char *word, *key;
    } places[] = {
        { "first", PMIX_EVENT_HDLR_FIRST },
        { "last", PMIX_EVENT_HDLR_LAST },
        { "first-in", PMIX_EVENT_HDLR_FIRST_IN_CATEGORY },
        { "last-in", PMIX_EVENT_HDLR_LAST_IN_CATEGORY },
        { "before", PMIX_EVENT_HDLR_BEFORE },
        { "after", PMIX_EVENT_HDLR_AFTER },
        { "prepend", PMIX_EVENT_HDLR_PREPEND },
        { "append", PMIX_EVENT_HDLR_APPEND },
    };
    char text[128], *save = NULL;
    pmix_status_t codes[2];
    pmix_info_t info[4];
    size_t ncodes = 0, ninfo = 0, id = 0;

    memset(info, 0, sizeof(info));
    snprintf(text, sizeof(text), "%s", wish);
    char *const head = strtok_r(text, " ", &save);
    char *const colon = strchr(head, ':');

    for (const char *c = colon != NULL ? colon + 1 : ""; *c != '\0'; c++) {
        codes[ncodes++] = *c == 'a' ? CODE_A : CODE_B;
    }
    if (colon != NULL) {
        *colon = '\0';
    }
    if (strcmp(head, "-") != 0) {
        PMIX_INFO_LOAD(&info[ninfo], PMIX_EVENT_HDLR_NAME, head, PMIX_STRING);
        ninfo++;
    }
    for (char *word = strtok_r(NULL, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        for (size_t i = 0; i < SX_COUNT(places); i++) {
            if (strcmp(word, places[i].word) == 0) {
                const bool named = strcmp(word, "before") == 0 || strcmp(word, "after") == 0;
                const char *const beside = named ? strtok_r(NULL, " ", &save) : NULL;

                PMIX_INFO_LOAD(&info[ninfo], places[i].key, beside,
                               named ? PMIX_STRING : PMIX_BOOL);
                ninfo++;
            }
        }
    }
    const pmix_status_t rc = handlers_add(table, codes, ncodes, info, ninfo, nobody, &id);

    for (size_t i = 0; i < ninfo; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    if (ret_id != NULL) {
        *ret_id = id;
    }
    return rc;
}

static struct sx_matches match(struct sx_handlers *table, const struct sx_event_facts *facts)
{
    struct sx_matches matches = SX_MATCHES_NULL;

    pthread_mutex_lock(&sx_handlers_lock);
    cr_assert_eq(sx_handlers_match_locked(table, facts, &matches), PMIX_SUCCESS);
    pthread_mutex_unlock(&sx_handlers_lock);
    return matches;
}

/* What @handler would be told; it is released. */
static struct sx_handler_call call(struct sx_handlers *table, struct sx_handler *handler,
                                   const struct sx_event_facts *facts)
{
    struct sx_handler_call notified;

    pthread_mutex_lock(&sx_handlers_lock);
    cr_assert(sx_handlers_call_locked(table, handler, facts, &notified));
    sx_handlers_returned_locked(table, &notified);
    pthread_mutex_unlock(&sx_handlers_lock);
    return notified;
}

static size_t match_count(struct sx_handlers *table, const struct sx_event_facts *facts)
{
    struct sx_matches matches = match(table, facts);
    const size_t count = matches.count;

    for (size_t i = 0; i < count; i++) {
        (void)call(table, matches.all[i], facts);
    }
    sx_matches_deinit(&matches);
    return count;
}

/* The names of those who want an event of @code, in order. */
static void order(struct sx_handlers *table, pmix_status_t code, char *ret, size_t size)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 1 };
    const struct sx_event_facts facts = { .code = code, .source = &source };
    struct sx_matches matches = match(table, &facts);

    ret[0] = '\0';
    for (size_t i = 0; i < matches.count; i++) {
        snprintf(ret + strlen(ret), size - strlen(ret), "%s%s", i == 0 ? "" : " ",
                 call(table, matches.all[i], &facts).name);
    }
    sx_matches_deinit(&matches);
}

static const struct {
    const char *id;
    const char *wishes[8];
    const char *want; /* the order for code a */
} orders[] = {
    { "EV27 single, several, default", { "d", "m:ab", "s:a" }, "s m d" },
    { "EO1 EO2 EO3 EO8 the newest in front",
      { "s1:a", "s2:a", "m1:ab", "m2:ab", "d1", "d2" },
      "s2 s1 m2 m1 d2 d1" },
    { "EO9 prepend says the same aloud", { "s1:a", "s2:a prepend" }, "s2 s1" },
    { "EO10 append", { "s1:a", "s2:a append" }, "s1 s2" },
    { "EO11 append, in front of the last in category",
      { "s1:a last-in", "s2:a", "s3:a append" },
      "s2 s3 s1" },
    { "EO12 EO14 first, whatever its category", { "s:a", "m:ab first" }, "m s" },
    { "EO13 first by a default handler", { "s:a", "d first", "m:ab" }, "d s m" },
    { "EO15 first for another code is left out", { "s:a", "x:b first" }, "s" },
    { "EO19 after the first, same category", { "f:a first", "s:a", "t:a after f" }, "f t s" },
    { "EO21 EO22 last, after the defaults", { "s:a last", "d", "m:ab" }, "m d s" },
    { "EO27 first in category, also before later ones",
      { "s1:a first-in", "s2:a", "s3:a prepend" },
      "s1 s3 s2" },
    { "EO28 one per category", { "s:a first-in", "m:ab first-in", "d first-in" }, "s m d" },
    { "EO31 last in category, also after later ones", { "s1:a last-in", "s2:a append" }, "s2 s1" },
    { "EO34 before", { "s1:a", "s2:a", "s3:a before s1" }, "s2 s3 s1" },
    { "EO35 after", { "s1:a", "s2:a", "s3:a after s2" }, "s2 s3 s1" },
    { "EO38 the later one nearest", { "s1:a", "s2:a after s1", "s3:a after s1" }, "s1 s3 s2" },
    { "EO4 EV9 other codes are left out", { "s:a", "t:b", "m:ab" }, "s m" },
};

Test(handlers, stand_in_the_order_that_was_asked_for)
{
    for (size_t i = 0; i < SX_COUNT(orders); i++) {
        struct sx_handlers table;
        char got[256];

        sx_handlers_init(&table);
        for (size_t w = 0; w < SX_COUNT(orders[i].wishes) && orders[i].wishes[w] != NULL; w++) {
            cr_expect_eq(add(&table, orders[i].wishes[w], NULL), PMIX_SUCCESS, "%s: %s",
                         orders[i].id, orders[i].wishes[w]);
        }
        order(&table, CODE_A, got, sizeof(got));
        cr_expect_str_eq(got, orders[i].want, "%s: %s", orders[i].id, got);
        sx_handlers_deinit(&table);
    }
}

static const struct {
    const char *id, *there, *refused;
    pmix_status_t want;
} refusals[] = {
    { "EO5 a name twice", "n:a", "n:ab", PMIX_ERR_EVENT_REGISTRATION },
    { "EO17 a second first", "f:a first", "g first", PMIX_ERR_EVENT_REGISTRATION },
    { "EO18 before the first", "f:a first", "g:a before f", PMIX_ERR_EVENT_REGISTRATION },
    { "EO23 a second last", "l:a last", "m:ab last", PMIX_ERR_EVENT_REGISTRATION },
    { "EO24 after the last", "l:a last", "m:a after l", PMIX_ERR_EVENT_REGISTRATION },
    { "EO29 a second first in category", "f:a first-in", "g:b first-in",
      PMIX_ERR_EVENT_REGISTRATION },
    { "EO30 before the first in category", "f:a first-in", "g:a before f",
      PMIX_ERR_EVENT_REGISTRATION },
    { "EO32 a second last in category", "l:a last-in", "m:a last-in", PMIX_ERR_EVENT_REGISTRATION },
    { "EO33 after the last in category", "l:a last-in", "m:a after l",
      PMIX_ERR_EVENT_REGISTRATION },
    { "EO36 beside nobody", "s:a", "t:a before x", PMIX_ERR_EVENT_REGISTRATION },
    { "EO37 beside one of another category", "s:a", "t:ab after s", PMIX_ERR_EVENT_REGISTRATION },
    { "EO40 two places", "s:a", "t:a first append", PMIX_ERR_BAD_PARAM },
};

Test(handlers, a_refused_one_leaves_the_order_as_it_was)
{
    for (size_t i = 0; i < SX_COUNT(refusals); i++) {
        struct sx_handlers table;
        char before[256], after[256];

        sx_handlers_init(&table);
        cr_assert_eq(add(&table, refusals[i].there, NULL), PMIX_SUCCESS);
        cr_assert_eq(add(&table, "other:a", NULL), PMIX_SUCCESS);
        order(&table, CODE_A, before, sizeof(before));
        cr_expect_eq(add(&table, refusals[i].refused, NULL), refusals[i].want, "%s",
                     refusals[i].id);
        order(&table, CODE_A, after, sizeof(after));
        cr_expect_str_eq(after, before, "%s: EO41", refusals[i].id);
        sx_handlers_deinit(&table);
    }
}

/* EO6, EO20, EO25, EO39: names and places are free again, the order of the rest stays. */
Test(handlers, what_a_removed_one_held_is_free_again)
{
    static const char *const wishes[] = { "f:a first", "l:a last", "n:a", "i:a first-in" };
    struct sx_handlers table;
    char got[256];
    size_t id;

    sx_handlers_init(&table);
    for (size_t i = 0; i < SX_COUNT(wishes); i++) {
        cr_assert_eq(add(&table, wishes[i], &id), PMIX_SUCCESS);
        cr_expect_eq(add(&table, wishes[i], NULL), PMIX_ERR_EVENT_REGISTRATION, "%s", wishes[i]);
        cr_expect_eq(sx_handlers_remove(&table, id), PMIX_SUCCESS);
        cr_expect_eq(sx_handlers_remove(&table, id), PMIX_ERR_BAD_PARAM, "EV23");
        cr_expect_eq(add(&table, wishes[i], NULL), PMIX_SUCCESS, "%s", wishes[i]);
    }
    order(&table, CODE_A, got, sizeof(got));
    cr_expect_str_eq(got, "f i n l");
    cr_assert_eq(add(&table, "x:a after n", NULL), PMIX_SUCCESS);
    order(&table, CODE_A, got, sizeof(got));
    cr_expect_str_eq(got, "f i n x l");
    sx_handlers_deinit(&table);
}

static const struct {
    const char *why;
    const char *wishes[7]; /* the first of them goes */
    const char *before, *after;
} goings[] = {
    { "default FIRST: its companion is behind the single ones",
      { "a first", "b after a", "c:a" },
      "a b c",
      "c b" },
    { "several companions keep their order, in front of the others of their category",
      { "a:a first", "x:a", "b:a after a", "c:a after b", "d:ab", "e:a first-in" },
      "a b c e x d",
      "e b c x d" },
    { "single LAST: its companion is in front of the default ones",
      { "a:a last", "b:a before a", "d" },
      "d b a",
      "b d" },
    { "companions of LAST are at the end of their category",
      { "a:a last", "c:a before a", "b:a before c", "x:a", "e:a last-in", "d" },
      "x e d b c a",
      "x b c e d" },
    { "what stands beside neither stays", { "a:a", "f first", "b after f" }, "f b a", "f b" },
};

/* EO20, EO25, EO39. */
Test(handlers, who_stood_beside_first_or_last_goes_home_when_that_one_goes)
{
    for (size_t i = 0; i < SX_COUNT(goings); i++) {
        struct sx_handlers table;
        size_t first = SIZE_MAX, id;
        char got[256];

        sx_handlers_init(&table);
        for (size_t w = 0; w < SX_COUNT(goings[i].wishes) && goings[i].wishes[w] != NULL; w++) {
            cr_assert_eq(add(&table, goings[i].wishes[w], &id), PMIX_SUCCESS, "%s",
                         goings[i].wishes[w]);
            first = w == 0 ? id : first;
        }
        order(&table, CODE_A, got, sizeof(got));
        cr_expect_str_eq(got, goings[i].before, "%s: %s", goings[i].why, got);
        cr_assert_eq(sx_handlers_remove(&table, first), PMIX_SUCCESS);
        order(&table, CODE_A, got, sizeof(got));
        cr_expect_str_eq(got, goings[i].after, "%s: %s", goings[i].why, got);
        sx_handlers_deinit(&table);
    }
}

/* Whether a handler with the one directive @info wants an event from @source about @affected. */
static bool wants(const pmix_info_t *info, const pmix_proc_t *source, bool from_self,
                  const pmix_proc_t *affected)
{
    const struct sx_event_facts facts = { .code = CODE_A,
                                          .source = source,
                                          .from_self = from_self,
                                          .affected = affected,
                                          .affected_count = affected != NULL };
    const pmix_status_t code = CODE_A;
    struct sx_handlers table;
    size_t id;

    sx_handlers_init(&table);
    cr_assert_eq(handlers_add(&table, &code, 1, info, info != NULL, nobody, &id), PMIX_SUCCESS);
    const size_t count = match_count(&table, &facts);

    sx_handlers_deinit(&table);
    return count > 0;
}

/* EO42 EO43 EO44 EO45 EO46, EV18. */
Test(handlers, filter_by_source_and_by_whom_an_event_touches)
{
    const pmix_proc_t peer = { .nspace = "job", .rank = 1 };
    const pmix_proc_t other = { .nspace = "other", .rank = 1 };
    const pmix_proc_t manager = { .nspace = "", .rank = PMIX_RANK_UNDEF };
    pmix_proc_t all = { .nspace = "job", .rank = PMIX_RANK_WILDCARD };
    pmix_data_range_t range = PMIX_RANGE_NAMESPACE;
    pmix_info_t info;

    cr_expect(wants(NULL, &other, false, NULL), "EO46");
    PMIX_INFO_LOAD(&info, PMIX_RANGE, &range, PMIX_DATA_RANGE);
    cr_expect(wants(&info, &peer, false, NULL), "EO42");
    cr_expect_not(wants(&info, &other, false, NULL), "EO42");
    info.value.data.range = PMIX_RANGE_PROC_LOCAL;
    cr_expect(wants(&info, &peer, true, NULL), "EO43");
    cr_expect_not(wants(&info, &peer, false, NULL), "EO43");
    info.value.data.range = PMIX_RANGE_RM;
    cr_expect(wants(&info, &manager, false, NULL), "EO44");
    cr_expect_not(wants(&info, &peer, false, NULL), "EO44");
    PMIX_INFO_DESTRUCT(&info);

    PMIX_INFO_LOAD(&info, PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_PROC);
    cr_expect(wants(&info, &peer, false, NULL), "EO45");
    cr_expect_not(wants(&info, &other, false, NULL), "EO45");
    PMIX_INFO_DESTRUCT(&info);

    PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, &all, PMIX_PROC);
    cr_expect(wants(&info, &other, false, &peer), "EV18");
    cr_expect_not(wants(&info, &other, false, &other), "EV18");
    cr_expect_not(wants(&info, &other, false, NULL), "EV18");
    PMIX_INFO_DESTRUCT(&info);
}

Test(handlers, an_event_may_be_for_those_alone_that_there_were)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 1 };
    struct sx_event_facts facts = { .code = CODE_A, .source = &source };
    const pmix_status_t code = CODE_A;
    struct sx_handlers table;
    size_t first, second;

    sx_handlers_init(&table);
    cr_assert_eq(handlers_add(&table, &code, 1, NULL, 0, nobody, &first), PMIX_SUCCESS);
    facts.before = sx_handlers_next(&table);
    cr_assert_eq(handlers_add(&table, &code, 1, NULL, 0, nobody, &second), PMIX_SUCCESS);
    cr_expect_eq(facts.before, second);
    cr_expect_eq(match_count(&table, &facts), 1u);
    sx_handlers_deinit(&table);
}

Test(handlers, a_late_one_receives_of_newer_numbers_only)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 1 };
    struct sx_event_facts facts = { .code = CODE_A, .source = &source, .number = 7 };
    struct sx_handlers table;
    size_t id;

    sx_handlers_init(&table);
    cr_assert_eq(add(&table, "s:a", &id), PMIX_SUCCESS);
    sx_handlers_since(&table, id, 7);
    cr_expect_eq(match_count(&table, &facts), 0);
    facts.is_for_one = true; /* replayed to it alone */
    facts.only = id;
    cr_expect_eq(match_count(&table, &facts), 1);
    facts.is_for_one = false;
    facts.number = 8;
    cr_expect_eq(match_count(&table, &facts), 1);
    sx_handlers_deinit(&table);
}

/* ---- levels ---------------------------------------------------------------------------------- */

enum { ASIDE = -1 }; /* the key is not given */

static const struct {
    const char *why;
    int job, environment; /* what the two keys say */
    bool receives_job, receives_environment,
        receives_own_code; /* the last: the manager's, of a user's code */
    pmix_status_t want;
    bool receives_named; /* the environment's, when the handler names the code */
} levels[] = {
    { "EV12, X30 plain", ASIDE, ASIDE, true, false, true, PMIX_SUCCESS, true },
    { "EV11 the job's alone", 1, ASIDE, true, false, true, PMIX_SUCCESS, false },
    { "EV13 the environment's alone", ASIDE, 1, false, true, true, PMIX_SUCCESS, true },
    { "both", 1, 1, true, true, true, PMIX_SUCCESS, true },
    { "not the job's", 0, 1, false, true, true, PMIX_SUCCESS, true },
    { "EV12 said aloud", ASIDE, 0, true, false, true, PMIX_SUCCESS, false },
    { "nothing at all", 0, ASIDE, false, false, false, PMIX_ERR_BAD_PARAM, false },
};

static bool receives(struct sx_handlers *table, pmix_status_t code, bool environment)
{
    const pmix_proc_t source = { .nspace = "", .rank = PMIX_RANK_UNDEF };
    const struct sx_event_facts facts = { .code = code,
                                          .source = &source,
                                          .environment = environment };
    return match_count(table, &facts) > 0;
}

/* EV11, EV12, EV13: with codes and without. */
Test(handlers, receive_of_the_level_they_ask_for)
{
    const pmix_status_t codes[2] = { PMIX_EVENT_NODE_DOWN, 42 };

    for (size_t i = 0; i < 2 * SX_COUNT(levels); i++) {
        const size_t row = i / 2, ncodes = i % 2 * 2;
        const bool said[2] = { levels[row].job == 1, levels[row].environment == 1 };
        struct sx_handlers table;
        pmix_info_t info[2];
        size_t ninfo = 0, id;

        memset(info, 0, sizeof(info));
        if (levels[row].job != ASIDE) {
            PMIX_INFO_LOAD(&info[ninfo], PMIX_EVENT_JOB_LEVEL, &said[0], PMIX_BOOL);
            ninfo++;
        }
        if (levels[row].environment != ASIDE) {
            PMIX_INFO_LOAD(&info[ninfo], PMIX_EVENT_ENVIRO_LEVEL, &said[1], PMIX_BOOL);
            ninfo++;
        }
        sx_handlers_init(&table);
        cr_expect_eq(handlers_add(&table, codes, ncodes, info, ninfo, nobody, &id),
                     levels[row].want, "%s", levels[row].why);
        cr_expect_eq(receives(&table, PMIX_EVENT_NODE_DOWN, false), levels[row].receives_job, "%s",
                     levels[row].why);
        cr_expect_eq(receives(&table, PMIX_EVENT_NODE_DOWN, true),
                     ncodes != 0 ? levels[row].receives_named : levels[row].receives_environment,
                     "%s", levels[row].why);
        cr_expect_eq(receives(&table, 42, true), levels[row].receives_own_code, "%s",
                     levels[row].why);
        sx_handlers_deinit(&table);
    }
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* A name is a key of the results: one that does not fit there is refused, not cut. */
Test(handlers, a_name_longer_than_a_key_is_refused)
{
    struct sx_handlers table;
    pmix_info_t info;
    size_t id;

    sx_handlers_init(&table);
    for (size_t len = PMIX_MAX_KEYLEN; len <= 10000; len += 10000 - PMIX_MAX_KEYLEN) {
        char *const name = calloc(1, len + 1);

        cr_assert_not_null(name);
        memset(name, 'n', len);
        PMIX_INFO_LOAD(&info, PMIX_EVENT_HDLR_NAME, name, PMIX_STRING);
        cr_expect_eq(handlers_add(&table, NULL, 0, &info, 1, nobody, &id),
                     len <= PMIX_MAX_KEYLEN ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
        PMIX_INFO_DESTRUCT(&info);
        free(name);
    }
    sx_handlers_deinit(&table);
}

#define MANY 1000

/* EO57, EO7, EV6: a thousand without names for one code, one function; in order. */
Test(handlers, a_thousand_for_one_code)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 1 };
    const struct sx_event_facts facts = { .code = CODE_A, .source = &source };
    struct sx_handlers table;
    size_t ids[MANY];

    sx_handlers_init(&table);
    for (size_t i = 0; i < MANY; i++) {
        cr_assert_eq(add(&table, "-:a", &ids[i]), PMIX_SUCCESS);
        cr_assert(i == 0 || ids[i] > ids[i - 1], "EV6");
    }
    struct sx_matches matches = match(&table, &facts);
    cr_assert_eq(matches.count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        cr_expect_eq(call(&table, matches.all[i], &facts).id, ids[MANY - 1 - i]);
    }
    sx_matches_deinit(&matches);
    sx_handlers_deinit(&table);
}

static struct sx_handlers shared;

static void *register_some(void *arg)
{
    for (size_t i = 0; i < MANY / 4; i++) {
        char wish[32];

        snprintf(wish, sizeof(wish), "t%zu.%zu:a append", *(const size_t *)arg, i);
        cr_assert_eq(add(&shared, wish, NULL), PMIX_SUCCESS);
    }
    return NULL;
}

/* EO53: all are there, ids distinct, and each thread's stand in the order it registered them. */
Test(handlers, threads_may_register_at_once)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 1 };
    const struct sx_event_facts facts = { .code = CODE_A, .source = &source };
    static const size_t numbers[4] = { 0, 1, 2, 3 };
    pthread_t threads[4];
    size_t next[4] = { 0 };
    bool seen[MANY] = { false };

    sx_handlers_init(&shared);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, register_some,
                                    (void *)(uintptr_t)&numbers[i]),
                     0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    struct sx_matches matches = match(&shared, &facts);
    cr_assert_eq(matches.count, MANY);
    for (size_t i = 0; i < matches.count; i++) {
        const struct sx_handler_call notified = call(&shared, matches.all[i], &facts);
        size_t thread, number;

        cr_assert(notified.id >= 1 && notified.id <= MANY && !seen[notified.id - 1]);
        seen[notified.id - 1] = true;
        cr_assert_eq(sscanf(notified.name, "t%zu.%zu", &thread, &number), 2);
        cr_expect_eq(number, next[thread]++);
    }
    sx_matches_deinit(&matches);
    sx_handlers_deinit(&shared);
}

/* EO56, EO60, EV75, X2: the numbers and strings that binaries have. */
Test(handlers, keep_the_numbers_and_strings_of_the_abi)
{
    static const struct {
        const char *key, *want;
    } keys[] = {
        { PMIX_EVENT_HDLR_FIRST, "pmix.evfirst" },
        { PMIX_EVENT_HDLR_LAST, "pmix.evlast" },
        { PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, "pmix.evfirstcat" },
        { PMIX_EVENT_HDLR_LAST_IN_CATEGORY, "pmix.evlastcat" },
        { PMIX_EVENT_HDLR_BEFORE, "pmix.evbefore" },
        { PMIX_EVENT_HDLR_AFTER, "pmix.evafter" },
        { PMIX_EVENT_HDLR_PREPEND, "pmix.evprepend" },
        { PMIX_EVENT_ORDER_PREPEND, "pmix.evprepend" },
        { PMIX_EVENT_HDLR_APPEND, "pmix.evappend" },
        { PMIX_EVENT_HDLR_NAME, "pmix.evname" },
        { PMIX_EVENT_CUSTOM_RANGE, "pmix.evrange" },
        { PMIX_EVENT_NON_DEFAULT, "pmix.evnondef" },
    };
    static const struct {
        int number, want;
    } numbers[] = {
        { PMIX_RANGE_PROC_LOCAL, 7 },
        { PMIX_EVENT_NO_ACTION_TAKEN, -331 },
        { PMIX_EVENT_PARTIAL_ACTION_TAKEN, -332 },
        { PMIX_EVENT_ACTION_DEFERRED, -333 },
        { PMIX_EVENT_ACTION_COMPLETE, -334 },
        { PMIX_EVENT_SYS_BASE, -230 },
        { PMIX_EVENT_NODE_DOWN, -231 },
        { PMIX_EVENT_NODE_OFFLINE, -232 },
        { PMIX_EVENT_SYS_OTHER, -330 },
    };

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        cr_expect_str_eq(keys[i].key, keys[i].want);
    }
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        cr_expect_eq(numbers[i].number, numbers[i].want);
    }
}
