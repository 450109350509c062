/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published_store_test.c - what a user's processes read for themselves is what the server would
 * tell them, and nothing that it would not. */
#include "server/model/published.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/util.h"
#include "server/model/numa.h"

static struct sx_published all;
static struct sx_numa numa;

static struct sx_party party(const char *nspace, uint32_t rank, uint64_t session, uid_t uid)
{
    struct sx_party it = { .who.session = session, .uid = uid, .gid = uid };

    PMIx_Load_procid(&it.who.proc, nspace, rank);
    return it;
}

static pmix_status_t add(const struct sx_party *by, const char *key, pmix_data_range_t range,
                         pmix_persistence_t persistence, uint32_t friend)
{
    pmix_data_array_t ids = { .type = PMIX_UINT32, .size = 1, .array = &friend };
    pmix_data_array_t access = { .type = PMIX_INFO, .size = 1 };
    struct sx_publish_options options;
    pmix_info_t info[4], list;
    size_t n = 0;

    PMIx_Info_load(&info[n++], key, by->who.proc.nspace, PMIX_STRING);
    PMIx_Info_load(&info[n++], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIx_Info_load(&info[n++], PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
    if (friend != 0) {
        PMIx_Info_load(&list, PMIX_ACCESS_USERIDS, &ids, PMIX_DATA_ARRAY);
        access.array = &list;
        PMIx_Info_load(&info[n++], PMIX_ACCESS_PERMISSIONS, &access, PMIX_DATA_ARRAY);
        PMIx_Info_destruct(&list);
    }
    cr_assert_eq(sx_publish_read(info, n, &options), PMIX_SUCCESS);
    const pmix_status_t rc = sx_published_add(&all, by, &options, info, n);

    while (n > 0) {
        PMIx_Info_destruct(&info[--n]);
    }
    return rc;
}

static void store_of(const struct sx_party *asker, struct sx_store *ret)
{
    int fd = -1;

    cr_assert_eq(sx_published_share(&all, &numa, asker->uid, &asker->who, &fd), PMIX_SUCCESS);
    cr_assert_eq(sx_store_attach(ret, fd), PMIX_SUCCESS);
    close(fd);
}

/* What @asker reads for itself: whose it is; NULL: it has to ask. */
static const char *read_plain(const struct sx_party *asker, const char *key,
                              const struct sx_lookup_options *options)
{
    static char whose[PMIX_MAX_NSLEN + 1];
    struct sx_publish_who who = { .proc = asker->who.proc };
    struct sx_published_seen seen;
    struct sx_store store;

    store_of(asker, &store);
    pmix_status_t rc = sx_published_session(&store, &who);

    cr_assert_eq(rc, PMIX_SUCCESS);
    cr_assert_eq(who.session, asker->who.session);
    rc = sx_published_see(&store, key, strlen(key), &who, options, &seen);
    if (rc == PMIX_SUCCESS) { /* each has published its own namespace's name */
        cr_assert_str_eq(seen.body, seen.by.proc.nspace);
        snprintf(whose, sizeof(whose), "%s", seen.by.proc.nspace);
    } else {
        cr_assert_eq(rc, PMIX_ERR_NOT_FOUND);
    }
    sx_store_detach(&store);
    return rc == PMIX_SUCCESS ? whose : NULL;
}

static const char *notified(const struct sx_party *asker, const char *key,
                            const struct sx_lookup_options *options)
{
    const struct sx_published_row *const row = sx_published_find(&all, key, asker, options);

    return row != NULL ? row->publisher->party.who.proc.nspace : NULL;
}

static void begin(void)
{
    sx_published_init(&all, 1);
    sx_numa_init(&numa, SX_NUMA_LOCAL, NULL);
}

static void end(void)
{
    sx_published_shown_deinit(&all);
    sx_published_deinit(&all);
    sx_numa_deinit(&numa);
}

TestSuite(published_shown, .init = begin, .fini = end);

/* Whatever is published and taken back, in whichever order: who can read reads what it is told. */
Test(published_shown, is_what_the_server_would_notify)
{
    const struct sx_party parties[] = { party("a", 0, 1, 7), party("b", 0, 1, 7),
                                        party("c", 0, 2, 7), party("d", 0, SX_SESSION_UNKNOWN, 7),
                                        party("e", 0, 1, 8), party("a", 1, 1, 7) };
    static const pmix_data_range_t ranges[] = { PMIX_RANGE_LOCAL, PMIX_RANGE_SESSION,
                                                PMIX_RANGE_NAMESPACE, PMIX_RANGE_GLOBAL,
                                                PMIX_RANGE_PROC_LOCAL };
    unsigned seed = 42, plain = 0, asked = 0;
    struct sx_store before;

    store_of(&parties[0], &before); /* from the beginning, and never taken anew */
    for (int round = 0; round < 4000; round++) {
        const struct sx_party *const by = &parties[(unsigned)rand_r(&seed) % SX_COUNT(parties)];
        const int what = rand_r(&seed) % 32; /* mostly what all may see */
        const pmix_data_range_t range =
            what % 16 == 0 ? PMIX_RANGE_PROC_LOCAL
                           : ranges[(unsigned)rand_r(&seed) % (SX_COUNT(ranges) - 1)];

        if (what < 20) {
            (void)sx_published_withdraw(&all, by, "key", range);
        } else {
            (void)add(by, "key", range, what == 20 ? PMIX_PERSIST_FIRST_READ : PMIX_PERSIST_APP,
                      what == 21 ? 7 : 0);
        }
        if (round % 50 == 0) {
            (void)sx_published_withdraw_all(&all, by, PMIX_RANGE_UNDEF, UINT64_MAX);
        }
        for (size_t i = 0; i < SX_COUNT(parties); i++) {
            const pmix_data_range_t within = ranges[(unsigned)rand_r(&seed) % SX_COUNT(ranges)];
            const struct sx_lookup_options options = { .range = within };
            const char *const mine = read_plain(&parties[i], "key", &options);
            const char *const its = notified(&parties[i], "key", &options);

            if (mine != NULL) {
                cr_assert_not_null(its, "round %d", round);
                cr_assert_str_eq(mine, its, "round %d", round);
            }
            plain += mine != NULL;
            asked += mine == NULL && its != NULL;
        }
    }
    cr_log_info("%u plain reads, %u answers that only the server has", plain, asked);
    cr_expect_gt(plain, 2000);
    cr_expect_gt(asked, 100);
    sx_store_detach(&before);
}

/* The bytes themselves: nothing of another user, and nothing that is not for all, is in a store. */
Test(published_shown, has_no_byte_that_its_user_may_not_read)
{
    const struct sx_party mine = party("mine", 0, 1, 7), other = party("other", 0, 1, 8);
    struct sx_store store;

    cr_assert_eq(add(&other, "secret", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP, 0), PMIX_SUCCESS);
    cr_assert_eq(add(&mine, "open", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP, 0), PMIX_SUCCESS);
    store_of(&mine, &store);
    cr_assert_eq(add(&other, "later", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP, 0), PMIX_SUCCESS);
    cr_expect_null(memmem(store.seg.base, store.seg.size_bytes, "secret", 6));
    cr_expect_null(memmem(store.seg.base, store.seg.size_bytes, "later", 5));
    cr_expect_null(memmem(store.seg.base, store.seg.size_bytes, "other", 5));
    cr_expect_not_null(memmem(store.seg.base, store.seg.size_bytes, "open", 4));
    sx_store_detach(&store);
}

/* Too many values under one key, or too large ones: who looks has to ask. */
Test(published_shown, is_bounded)
{
    const struct sx_lookup_options options = { .range = PMIX_RANGE_GLOBAL };
    const struct sx_party by = party("big", 0, 1, 7);
    const struct sx_publish_options large = { .range = PMIX_RANGE_GLOBAL };
    static char text[2 * SX_PUBLISHED_RECORD_MAX];
    struct sx_store stores[SX_PUBLISHED_USERS_MAX];
    pmix_info_t info;
    int fd;

    memset(text, 'x', sizeof(text) - 1);
    PMIx_Info_load(&info, "large", text, PMIX_STRING);
    cr_assert_eq(sx_published_add(&all, &by, &large, &info, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    cr_expect_null(read_plain(&by, "large", &options));
    for (unsigned i = 0; i <= SX_PUBLISHED_ENTRIES_MAX; i++) {
        struct sx_party one = party("", i, 1, 7);

        snprintf(one.who.proc.nspace, sizeof(one.who.proc.nspace), "job%u", i);
        cr_assert_eq(add(&one, "many", PMIX_RANGE_NAMESPACE, PMIX_PERSIST_APP, 0), PMIX_SUCCESS);
        cr_expect_eq(read_plain(&one, "many", &options) == NULL, i == SX_PUBLISHED_ENTRIES_MAX);
    }
    for (unsigned i = 1; i < SX_PUBLISHED_USERS_MAX; i++) {
        const struct sx_party user = party("u", 0, 1, 100 + i);

        store_of(&user, &stores[i]);
        sx_store_detach(&stores[i]);
    }
    cr_expect_eq(sx_published_share(&all, &numa, 9, &by.who, &fd), PMIX_ERR_OUT_OF_RESOURCE);
}

/* Who comes under the name of a publisher of another user is another publisher. */
Test(published_shown, stays_with_the_user_who_has_published)
{
    const struct sx_lookup_options options = { .range = PMIX_RANGE_GLOBAL };
    const struct sx_party old = party("job", 0, 1, 7), new = party("job", 0, 1, 8);

    cr_assert_eq(add(&old, "key", PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF, 0), PMIX_SUCCESS);
    cr_expect_str_eq(read_plain(&old, "key", &options), "job");
    cr_assert_eq(add(&new, "more", PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF, 0), PMIX_SUCCESS);
    cr_expect_str_eq(read_plain(&old, "key", &options), "job");
    cr_expect_null(read_plain(&new, "key", &options));
    cr_expect_null(notified(&new, "key", &options));
}
