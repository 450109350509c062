/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
#include "server/model/published.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include <pmix.h>

#include "base/util.h"
#include "server/model/nspace.h"
#include "unit/control/engines.h"

static struct sx_party party(const char *nspace, uint32_t rank, uint64_t session, uid_t uid,
                             gid_t gid)
{
    struct sx_party it = { .who.session = session, .uid = uid, .gid = gid };

    PMIx_Load_procid(&it.who.proc, nspace, rank);
    return it;
}

static pmix_info_t *infos_new(const char *key, size_t more)
{
    pmix_info_t *const info = PMIx_Info_create(1 + more);

    cr_assert_not_null(info);
    PMIx_Info_load(&info[0], key, "value", PMIX_STRING);
    return info;
}

/* Publish "key" for @by in @range. */
static pmix_status_t add(struct sx_published *all, const struct sx_party *by, const char *key,
                         pmix_data_range_t range, pmix_persistence_t persistence)
{
    pmix_info_t *const info = infos_new(key, 0);
    const struct sx_publish_options options = { .range = range, .persistence = persistence };
    const pmix_status_t rc = sx_published_add(all, by, &options, info, 1);

    PMIx_Info_free(info, 1);
    return rc;
}

static bool sees(struct sx_published *all, const struct sx_party *asker, const char *key,
                 pmix_data_range_t range)
{
    const struct sx_lookup_options options = { .range = range };

    return sx_published_find(all, key, asker, &options) != NULL;
}

Test(published, what_lives_as_long_as_an_application_goes_with_it_alone)
{
    struct sx_party first = party("a", 0, 1, 7, 7), second = party("a", 1, 1, 7, 7);
    const struct sx_party other = party("b", 0, 1, 7, 7);
    struct sx_published all;

    sx_published_init(&all, 1);
    second.app = 1;
    cr_assert_eq(add(&all, &first, "first", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP), PMIX_SUCCESS);
    cr_assert_eq(add(&all, &first, "ever", PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF), PMIX_SUCCESS);
    cr_assert_eq(add(&all, &second, "second", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP), PMIX_SUCCESS);
    cr_assert_eq(add(&all, &other, "other", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP), PMIX_SUCCESS);
    sx_published_app_gone(&all, "a", 0);
    cr_expect_not(sees(&all, &other, "first", PMIX_RANGE_GLOBAL));
    cr_expect(sees(&all, &other, "ever", PMIX_RANGE_GLOBAL));
    cr_expect(sees(&all, &other, "second", PMIX_RANGE_GLOBAL));
    cr_expect(sees(&all, &other, "other", PMIX_RANGE_GLOBAL));
    sx_published_deinit(&all);
}

Test(published, a_range_holds_both_or_nothing_is_seen)
{
    const struct sx_party by = party("a", 0, 1, 7, 7);
    const struct sx_party same = party("a", 1, 1, 7, 7), other = party("b", 0, 1, 7, 7);
    const struct sx_party far = party("c", 0, 2, 7, 7);
    const struct sx_party unknown = party("d", 0, SX_SESSION_UNKNOWN, 7, 7);
    static const struct {
        pmix_data_range_t range;
        bool own, same, other, far, unknown;
    } rows[] = {
        { PMIX_RANGE_PROC_LOCAL, true, false, false, false, false },
        { PMIX_RANGE_NAMESPACE, true, true, false, false, false },
        { PMIX_RANGE_SESSION, true, true, true, false, true },
        { PMIX_RANGE_LOCAL, true, true, true, true, true },
        { PMIX_RANGE_GLOBAL, true, true, true, true, true },
        { PMIX_RANGE_RM, false, false, false, false, false },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        for (size_t turn = 0; turn < 2; turn++) { /* the row's range, then the lookup's */
            const pmix_data_range_t published = turn == 0 ? rows[i].range : PMIX_RANGE_GLOBAL;
            const pmix_data_range_t looked = turn == 0 ? PMIX_RANGE_GLOBAL : rows[i].range;
            struct sx_published all;

            sx_published_init(&all, 1);
            cr_assert_eq(add(&all, &by, "key", published, PMIX_PERSIST_APP), PMIX_SUCCESS);
            cr_expect_eq(sees(&all, &by, "key", looked), rows[i].own, "%zu %zu", i, turn);
            cr_expect_eq(sees(&all, &same, "key", looked), rows[i].same, "%zu %zu", i, turn);
            cr_expect_eq(sees(&all, &other, "key", looked), rows[i].other, "%zu %zu", i, turn);
            cr_expect_eq(sees(&all, &far, "key", looked), rows[i].far, "%zu %zu", i, turn);
            cr_expect_eq(sees(&all, &unknown, "key", looked), rows[i].unknown, "%zu %zu", i, turn);
            sx_published_deinit(&all);
        }
    }
}

Test(published, a_key_is_refused_in_an_equal_range_alone)
{
    const struct sx_party by = party("a", 0, 1, 7, 7), other = party("b", 0, 1, 7, 7);
    struct sx_published all;

    sx_published_init(&all, 1);
    cr_expect_eq(add(&all, &by, "key", PMIX_RANGE_NAMESPACE, PMIX_PERSIST_APP), PMIX_SUCCESS);
    cr_expect_eq(add(&all, &other, "key", PMIX_RANGE_NAMESPACE, PMIX_PERSIST_APP), PMIX_SUCCESS);
    cr_expect_eq(add(&all, &by, "key", PMIX_RANGE_NAMESPACE, PMIX_PERSIST_APP),
                 PMIX_ERR_DUPLICATE_KEY);
    cr_expect_eq(add(&all, &by, "key", PMIX_RANGE_SESSION, PMIX_PERSIST_APP), PMIX_SUCCESS);
    cr_expect_eq(add(&all, &other, "key", PMIX_RANGE_SESSION, PMIX_PERSIST_APP),
                 PMIX_ERR_DUPLICATE_KEY);
    sx_published_deinit(&all);
}

/* ---- access
 * ----------------------------------------------------------------------------------- */

static void ids_load(pmix_info_t *info, const char *key, uint32_t id)
{
    pmix_data_array_t array = { .type = PMIX_UINT32, .size = 1, .array = &id };

    cr_assert_eq(PMIx_Info_load(info, key, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
}

Test(published, other_users_see_what_a_list_gives_them)
{
    const struct sx_party by = party("a", 0, 1, 7, 70), stranger = party("b", 0, 1, 8, 80);
    const struct sx_party named = party("b", 1, 1, 9, 90), grouped = party("b", 2, 1, 10, 100);
    struct sx_publish_options options;
    struct sx_published all;
    pmix_info_t lists[2], *const info = infos_new("open", 1);
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = lists };

    ids_load(&lists[0], PMIX_ACCESS_USERIDS, 9);
    ids_load(&lists[1], PMIX_ACCESS_GRPIDS, 100);
    PMIx_Info_load(&info[1], PMIX_ACCESS_PERMISSIONS, &array, PMIX_DATA_ARRAY);
    sx_published_init(&all, 1);
    cr_assert_eq(sx_publish_read(info, 2, &options), PMIX_SUCCESS);
    cr_assert_eq(sx_published_add(&all, &by, &options, info, 2), PMIX_SUCCESS);
    PMIx_Info_free(info, 2); /* the row has its own copy */
    cr_assert_eq(add(&all, &by, "own", PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP), PMIX_SUCCESS);

    cr_expect(sees(&all, &by, "open", PMIX_RANGE_GLOBAL));
    cr_expect(sees(&all, &named, "open", PMIX_RANGE_GLOBAL));
    cr_expect(sees(&all, &grouped, "open", PMIX_RANGE_GLOBAL));
    cr_expect_not(sees(&all, &stranger, "open", PMIX_RANGE_GLOBAL));
    cr_expect_not(sees(&all, &named, "own", PMIX_RANGE_GLOBAL));
    sx_published_deinit(&all);
    PMIX_INFO_DESTRUCT(&lists[0]);
    PMIX_INFO_DESTRUCT(&lists[1]);
}

/* Publish "key" in all of the node for @by, and let user @uid see it (0: nobody else). */
static pmix_status_t add_for(struct sx_published *all, const struct sx_party *by, uint32_t uid)
{
    pmix_info_t list, *const info = infos_new("key", uid != 0 ? 1 : 0);
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = &list };
    const size_t ninfo = uid != 0 ? 2 : 1;
    struct sx_publish_options options;

    PMIX_INFO_CONSTRUCT(&list);
    if (uid != 0) {
        ids_load(&list, PMIX_ACCESS_USERIDS, uid);
        PMIx_Info_load(&info[1], PMIX_ACCESS_PERMISSIONS, &array, PMIX_DATA_ARRAY);
    }
    cr_assert_eq(sx_publish_read(info, ninfo, &options), PMIX_SUCCESS);
    const pmix_status_t rc = sx_published_add(all, by, &options, info, ninfo);

    PMIX_INFO_DESTRUCT(&list);
    PMIx_Info_free(info, ninfo);
    return rc;
}

/* By no status a process finds out what users publish of whom it may see nothing. */
Test(published, keys_of_users_who_see_nothing_of_each_other_are_apart)
{
    const struct sx_party first = party("a", 0, 1, 7, 7), same = party("a", 0, 1, 8, 8);
    const struct sx_party other = party("b", 0, 1, 8, 8);
    struct sx_published all;

    sx_published_init(&all, 1);
    cr_expect_eq(add_for(&all, &first, 0), PMIX_SUCCESS);
    cr_expect_eq(sx_published_withdraw(&all, &other, "key", PMIX_RANGE_SESSION),
                 PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_published_withdraw(&all, &same, "key", PMIX_RANGE_SESSION), PMIX_ERR_NOT_FOUND,
                 "a process of another user under this name");
    cr_expect_eq(add_for(&all, &other, 0), PMIX_SUCCESS);
    cr_expect_eq(add_for(&all, &same, 0), PMIX_ERR_DUPLICATE_KEY, "of its own user");
    cr_expect_eq(add_for(&all, &first, 0), PMIX_ERR_DUPLICATE_KEY);
    cr_expect(sees(&all, &first, "key", PMIX_RANGE_SESSION));
    cr_expect(sees(&all, &other, "key", PMIX_RANGE_SESSION));
    cr_expect_eq(sx_published_withdraw(&all, &first, "key", PMIX_RANGE_SESSION), PMIX_SUCCESS);
    cr_expect_eq(add_for(&all, &first, 8), PMIX_SUCCESS);
    cr_expect_eq(sx_published_withdraw(&all, &other, "key", PMIX_RANGE_SESSION), PMIX_SUCCESS);
    cr_expect_eq(add_for(&all, &other, 0), PMIX_ERR_DUPLICATE_KEY, "it sees the other");
    cr_expect_eq(sx_published_withdraw(&all, &other, "key", PMIX_RANGE_SESSION),
                 PMIX_ERR_NO_PERMISSIONS, "likewise");
    sx_published_deinit(&all);
}

/* Publish "key" for @by, to be seen by a process that there is not. */
static void add_for_nobody(struct sx_published *all, const struct sx_party *by)
{
    pmix_proc_t nobody;
    pmix_info_t *const info = infos_new("key", 1);
    pmix_data_array_t array = { .type = PMIX_PROC, .size = 1, .array = &nobody };
    const struct sx_publish_options options = { .range = PMIX_RANGE_CUSTOM,
                                                .targets = { .all = &nobody, .count = 1 } };

    PMIx_Load_procid(&nobody, "nobody", 0);
    PMIx_Info_load(&info[1], PMIX_EVENT_CUSTOM_RANGE, &array, PMIX_DATA_ARRAY);
    cr_assert_eq(sx_published_add(all, by, &options, info, 2), PMIX_SUCCESS);
    PMIx_Info_free(info, 2);
}

/* Others may have published much under the key: their lists are not searched for all of it. */
Test(published, taking_back_judges_few_rows_of_others)
{
    const uint32_t others = 2000;
    const struct sx_party by = party("a", 0, 1, 7, 7), without = party("a", 1, 1, 7, 7);
    struct sx_published all;

    sx_published_init(&all, 1);
    for (uint32_t rank = 0; rank < others; rank++) {
        const struct sx_party other = party("b", rank, 1, 7, 7);

        add_for_nobody(&all, &other);
    }
    add_for_nobody(&all, &by);
    uint64_t before = all.walked;

    cr_expect_eq(sx_published_withdraw(&all, &without, "key", PMIX_RANGE_CUSTOM),
                 PMIX_ERR_NOT_FOUND);
    cr_expect_lt(all.walked - before, others + 1024 * 4 * 16 + 100);
    before = all.walked;
    cr_expect_eq(sx_published_withdraw(&all, &by, "key", PMIX_RANGE_CUSTOM), PMIX_SUCCESS);
    cr_expect_lt(all.walked - before, others + 1024 * 4 * 16 + 100);
    cr_expect_eq(sx_published_withdraw(&all, &by, "key", PMIX_RANGE_CUSTOM), PMIX_ERR_NOT_FOUND);
    sx_published_deinit(&all);
}

/* ---- how long it stays
 * ------------------------------------------------------------------------ */

Test(published, a_row_goes_with_what_it_was_published_for)
{
    static const char *const keys[] = { "proc", "app", "session", "once", "ever" };
    static const pmix_persistence_t lives[] = { PMIX_PERSIST_PROC, PMIX_PERSIST_APP,
                                                PMIX_PERSIST_SESSION, PMIX_PERSIST_FIRST_READ,
                                                PMIX_PERSIST_INDEF };
    const struct sx_party by = party("a", 0, 1, 7, 7);
    struct sx_published all;

    sx_published_init(&all, 1);
    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        cr_assert_eq(add(&all, &by, keys[i], PMIX_RANGE_GLOBAL, lives[i]), PMIX_SUCCESS);
    }
    for (size_t gone = 0; gone <= 4; gone++) {
        for (size_t i = 0; i < SX_COUNT(keys); i++) {
            cr_expect_eq(sees(&all, &by, keys[i], PMIX_RANGE_GLOBAL), i >= (gone < 3 ? gone : 3),
                         "%s after %zu", keys[i], gone);
        }
        switch (gone) {
        case 0:
            sx_published_proc_gone(&all, &by.who.proc, by.uid);
            break;
        case 1:
            sx_published_nspace_gone(&all, "a", 1, false);
            break;
        default:
            sx_published_nspace_gone(&all, "b", 1, true);
        }
    }
    (void)sx_published_withdraw_all(&all, &by, PMIX_RANGE_SESSION, UINT64_MAX);
    cr_expect(sees(&all, &by, "ever", PMIX_RANGE_GLOBAL));
    (void)sx_published_withdraw_all(&all, &by, PMIX_RANGE_UNDEF, UINT64_MAX);
    cr_expect_eq(all.keys.count, 0);
    cr_expect_eq(all.names.count, 0);
    cr_expect_eq(all.bytes, 0);
    sx_published_deinit(&all);
}

/* ---- bounds
 * ------------------------------------------------------------------------------------ */

Test(published, nobody_publishes_without_end)
{
    const struct sx_party by = party("a", 0, 1, 7, 7), other = party("a", 1, 1, 7, 7);
    struct sx_published all;
    const int log_fd = test_capture_stderr();
    char key[32];

    sx_published_init(&all, 1);
    for (unsigned i = 0; i < SX_PUBLISHER_ROWS_MAX; i++) {
        snprintf(key, sizeof(key), "key.%u", i);
        cr_assert_eq(add(&all, &by, key, PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF), PMIX_SUCCESS);
    }
    cr_expect_eq(add(&all, &by, "more", PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF),
                 PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(add(&all, &by, "more", PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF),
                 PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(test_count_lines(log_fd, "a.0 has published 8192 values"), 1, "once");
    cr_expect_eq(add(&all, &other, "more", PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF), PMIX_SUCCESS);
    cr_expect_eq(sx_published_withdraw(&all, &by, "key.7", PMIX_RANGE_GLOBAL), PMIX_SUCCESS);
    cr_expect_eq(add(&all, &by, "again", PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF), PMIX_SUCCESS);
    sx_published_deinit(&all);
}

/* Who publishes under many names, for ever, and goes has a part of the table; others go on. */
Test(published, what_outlives_its_process_has_a_share)
{
    const struct sx_party other = party("b", 0, 1, 8, 8), own = party("own", 0, 1, 7, 7);
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_published all;
    size_t count = 0;
    char key[32];

    sx_published_init(&all, 1);
    for (uint32_t name = 0; name < 8; name++) {
        const struct sx_party by = party("tool", name, 1, 7, 7);

        rc = PMIX_SUCCESS;
        for (unsigned i = 0; i < SX_PUBLISHER_ROWS_MAX && rc == PMIX_SUCCESS; i++) {
            snprintf(key, sizeof(key), "%u.%u", name, i);
            rc = add(&all, &by, key, PMIX_RANGE_GLOBAL, PMIX_PERSIST_INDEF);
            count += rc == PMIX_SUCCESS;
        }
        sx_published_proc_gone(&all, &by.who.proc, by.uid);
    }
    cr_expect_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(all.keys.count, count);
    cr_expect_lt(count, SX_PUBLISHED_ROWS_MAX / 2, "%zu", count);
    cr_expect_gt(count, SX_PUBLISHED_ROWS_MAX / 3, "%zu", count);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "%u", i);
        cr_assert_eq(add(&all, &other, key, PMIX_RANGE_GLOBAL, PMIX_PERSIST_SESSION), PMIX_SUCCESS);
        cr_assert_eq(add(&all, &own, key, PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP), PMIX_SUCCESS);
    }
    sx_published_deinit(&all);
}

/* A publisher gets rid of what it has published for others alone. */
Test(published, what_is_for_others_can_be_taken_back)
{
    const struct sx_party by = party("a", 0, 1, 7, 7), other = party("a", 1, 1, 7, 7);
    pmix_info_t *const info = infos_new("key", 2);
    const pmix_data_range_t range = PMIX_RANGE_CUSTOM;
    struct sx_publish_options options;
    struct sx_published all;

    PMIx_Info_load(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIx_Info_load(&info[2], PMIX_EVENT_CUSTOM_RANGE, &other.who.proc, PMIX_PROC);
    sx_published_init(&all, 1);
    cr_assert_eq(sx_publish_read(info, 3, &options), PMIX_SUCCESS);
    cr_assert_eq(sx_published_add(&all, &by, &options, info, 3), PMIX_SUCCESS);
    cr_expect(sees(&all, &other, "key", PMIX_RANGE_GLOBAL));
    cr_expect_eq(sx_published_withdraw(&all, &other, "key", PMIX_RANGE_CUSTOM),
                 PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(sx_published_withdraw(&all, &by, "key", PMIX_RANGE_CUSTOM), PMIX_SUCCESS);
    cr_expect_eq(all.keys.count, 0);
    PMIx_Info_free(info, 3);
    sx_published_deinit(&all);
}

/* Who looks a key up walks no more rows of one user than so many. */
Test(published, one_key_of_a_user_has_so_many_rows)
{
    const struct sx_party other = party("a", 0, 1, 8, 8);
    struct sx_party by = party("a", 0, 1, 7, 7);
    struct sx_published all;

    sx_published_init(&all, 1);
    for (uint32_t rank = 0; rank < SX_PUBLISHED_KEY_ROWS_MAX; rank++) {
        by.who.proc.rank = rank;
        cr_assert_eq(add(&all, &by, "key", PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP), PMIX_SUCCESS);
    }
    by.who.proc.rank++;
    cr_expect_eq(add(&all, &by, "key", PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP),
                 PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(add(&all, &by, "other", PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP), PMIX_SUCCESS);
    cr_expect_eq(add(&all, &other, "key", PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP), PMIX_SUCCESS);
    sx_published_deinit(&all);
}

/* Of several that are published at once, one of which is refused, nothing stays. */
Test(published, all_or_nothing)
{
    const struct sx_party by = party("a", 0, 1, 7, 7);
    const struct sx_publish_options options = { .range = PMIX_RANGE_GLOBAL };
    pmix_info_t *const info = PMIx_Info_create(4);
    struct sx_published all;

    sx_published_init(&all, 1);
    PMIx_Info_load(&info[0], "a", "1", PMIX_STRING);
    PMIx_Info_load(&info[1], "b", "2", PMIX_STRING);
    PMIx_Info_load(&info[2], "a", "3", PMIX_STRING); /* twice in one call */
    PMIx_Info_load(&info[3], "c", "4", PMIX_STRING);
    cr_expect_eq(sx_published_add(&all, &by, &options, info, 4), PMIX_ERR_DUPLICATE_KEY);
    cr_expect_eq(all.keys.count, 0);
    cr_expect_eq(all.names.count, 0);
    cr_expect_eq(all.bytes, 0);
    cr_expect_eq(sx_published_add(&all, &by, &options, info, 2), PMIX_SUCCESS);
    cr_expect_eq(all.keys.count, 2);
    PMIx_Info_free(info, 4);
    sx_published_deinit(&all);
}

/* A range of @targets processes, and @values values.  Return: so many infos, with the two of the
 * range. */
static pmix_info_t *ranged_new(size_t values, size_t targets)
{
    const pmix_data_range_t range = PMIX_RANGE_CUSTOM;
    pmix_info_t *const info = PMIx_Info_create(values + 2);
    pmix_data_array_t *const procs = PMIx_Data_array_create(targets, PMIX_PROC);

    for (size_t i = 0; i < values; i++) {
        char key[32];

        snprintf(key, sizeof(key), "key.%zu", i);
        PMIx_Info_load(&info[i], key, "value", PMIX_STRING);
    }
    for (size_t i = 0; i < targets; i++) {
        PMIx_Load_procid((pmix_proc_t *)procs->array + i, "b", (pmix_rank_t)i);
    }
    PMIx_Info_load(&info[values], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIx_Load_key(info[values + 1].key, PMIX_EVENT_CUSTOM_RANGE);
    info[values + 1].value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = procs };
    return info;
}

/* Its directives are there once, whatever it publishes, and until the last of it has gone. */
Test(published, a_call_has_its_range_once)
{
    const struct sx_party by = party("a", 0, 1, 7, 7), in = party("b", 9, 1, 7, 7);
    const size_t values = SX_PUBLISH_VALUES_MAX, targets = 3500;
    pmix_info_t *const info = ranged_new(values, targets);
    struct sx_publish_options options;
    struct sx_published all;

    sx_published_init(&all, 1);
    cr_assert_eq(sx_publish_read(info, values + 2, &options), PMIX_SUCCESS);
    sx_published_targets_sort(&options.targets);
    cr_expect_eq(sx_published_add(&all, &by, &options, info, values + 2), PMIX_SUCCESS);
    cr_expect_eq(all.keys.count, values);
    cr_expect_lt(all.bytes, 2 * targets * sizeof(pmix_proc_t) + values * 2048);
    cr_expect_geq(all.walked, targets, "who copies it pays");
    cr_expect_eq(all.quota.has.all[SX_QUOTA_BYTES], all.bytes);
    for (size_t i = 0; i + 1 < values; i++) {
        cr_assert_eq(sx_published_withdraw(&all, &by, info[i].key, PMIX_RANGE_CUSTOM),
                     PMIX_SUCCESS);
    }
    cr_expect_gt(all.bytes, targets * sizeof(pmix_proc_t));
    cr_expect(sees(&all, &in, info[values - 1].key, PMIX_RANGE_GLOBAL));
    (void)sx_published_withdraw_all(&all, &by, PMIX_RANGE_UNDEF, UINT64_MAX);
    cr_expect_eq(all.bytes, 0);
    cr_expect_eq(all.quota.has.all[SX_QUOTA_ROWS], 0);
    PMIx_Info_free(info, values + 2);
    sx_published_deinit(&all);
}

/* Rows that other users have under a key, open ones too, do not hide one of the own user's. */
Test(published, what_an_own_user_has_is_found_among_many_of_others)
{
    const struct sx_party own = party("z", 0, 1, 7, 7), by = party("z", 1, 1, 7, 7);
    struct sx_published all;

    sx_published_init(&all, 1);
    for (uint32_t rank = 0; rank < 600; rank++) {
        const struct sx_party other = party("a", rank, 1, 8 + rank, 8);

        cr_assert_eq(add_for(&all, &other, rank % 2 == 0 ? 5 : 0), PMIX_SUCCESS);
    }
    cr_assert_eq(add_for(&all, &own, 0), PMIX_SUCCESS);
    cr_expect_eq(sx_published_withdraw(&all, &by, "key", PMIX_RANGE_SESSION),
                 PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(sx_published_withdraw(&all, &own, "key", PMIX_RANGE_SESSION), PMIX_SUCCESS);
    cr_expect_eq(sx_published_withdraw(&all, &by, "key", PMIX_RANGE_SESSION), PMIX_ERR_NOT_FOUND);
    sx_published_deinit(&all);
}

Test(published, a_call_has_so_many_values)
{
    const size_t values = SX_PUBLISH_VALUES_MAX + 1;
    pmix_info_t *const info = ranged_new(values, 1);
    struct sx_publish_options options;

    cr_expect_eq(sx_publish_read(info, values + 2, &options), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(sx_publish_read(info + 1, values + 1, &options), PMIX_SUCCESS);
    PMIx_Info_free(info, values + 2);
}
