/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directives_test.c - each kind of directive: what it takes, what it refuses, what becomes of
 * it. */
#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directives.h"
#include "base/clock.h"
#include "base/util.h"

struct options {
    bool yes;
    uint8_t said, flags, choice;
    struct sx_some_number number;
    uint64_t ns;
    const char *string;
    struct sx_some_procs procs;
    pmix_scope_t scope;
    pmix_data_range_t range;
    pmix_device_type_t devices;
    const pmix_info_t *info;
};

#define ROW(text, as, field, ...)                                                          \
    {                                                                                      \
        .name = #text, .key = (text), .key_size = sizeof(text), .kind = SX_DIRECTIVE_##as, \
        .off = offsetof(struct options, field), __VA_ARGS__                                \
    }

static const struct sx_directive rows[] = {
    { .key = "nothing", .key_size = sizeof("nothing"), .effect = SX_DIRECTIVE_IDLE },
    ROW("bool", BOOL, yes),
    ROW("said", SAID, said),
    ROW("flag", FLAG, flags, .arg = 0x10),
    ROW("choice", CHOICE, choice, .arg = 3),
    ROW("number", NUMBER, number, .arg = 100),
    ROW("seconds", SECONDS, ns),
    ROW("string", STRING, string),
    ROW("procs", PROCS, procs),
    ROW("scope", SCOPE, scope),
    ROW("range", RANGE, range),
    ROW("devices", DEVICES, devices),
    ROW("info", INFO, info),
    ROW(PMIX_PROGRESS_THREAD_NAME, STRING, string),
};

static const struct sx_directives table = { .function = "a test",
                                            .rows = rows,
                                            .count = SX_COUNT(rows),
                                            .no_directives = PMIX_INFO_QUALIFIER };

static pmix_info_t info_of(const char *key, const pmix_value_t *value, pmix_info_directives_t flags)
{
    pmix_info_t info = { .flags = flags, .value = *value };

    memcpy(info.key, key, strlen(key) + 1);
    return info;
}

static pmix_proc_t procs[2] = { { .nspace = "job", .rank = 1 }, { .nspace = "job", .rank = 2 } };
static pmix_data_array_t array = { .type = PMIX_PROC, .size = 2, .array = procs };
static pmix_data_array_t empty = { .type = PMIX_PROC, .array = procs };
static pmix_data_array_t ranks = { .type = PMIX_PROC_RANK, .size = 2, .array = procs };

#define UINT(n)                                 \
    {                                           \
        .type = PMIX_UINT64, .data.uint64 = (n) \
    }
#define TEXT(s)                                 \
    {                                           \
        .type = PMIX_STRING, .data.string = (s) \
    }
#define LIST(a)                                     \
    {                                               \
        .type = PMIX_DATA_ARRAY, .data.darray = (a) \
    }

static const struct {
    const char *key;
    pmix_value_t value;
    struct options want;
} taken[] = {
    { "nothing", LIST(NULL), { 0 } },
    { "bool", { .type = PMIX_UNDEF }, { .yes = true } },
    { "said", { .type = PMIX_UNDEF }, { .said = SX_SAID_YES } },
    { "said", TEXT("no"), { .said = SX_SAID_NO } },
    { "flag", UINT(1), { .flags = 0x10 } },
    { "flag", UINT(0), { 0 } },
    { "choice", UINT(1), { .choice = 3 } },
    { "choice", UINT(0), { 0 } },
    { "number", UINT(100), { .number = { true, 100 } } },
    { "number", UINT(0), { .number = { true, 0 } } },
    { "seconds", UINT(2), { .ns = 2 * SX_NS_PER_SEC } },
    { "seconds", UINT(UINT64_MAX), { .ns = SX_DEADLINE_NEVER } },
    { "procs", { .type = PMIX_PROC, .data.proc = procs }, { .procs = { procs, 1 } } },
    { "procs", LIST(&array), { .procs = { procs, 2 } } },
    { "scope", { .type = PMIX_SCOPE, .data.scope = PMIX_LOCAL }, { .scope = PMIX_LOCAL } },
    { "range",
      { .type = PMIX_DATA_RANGE, .data.range = PMIX_RANGE_RM },
      { .range = PMIX_RANGE_RM } },
    { "devices", { .type = PMIX_DEVTYPE, .data.devtype = 3 }, { .devices = 3 } },
    { "devices", UINT(2), { .devices = 2 } },
};

Test(directives, each_kind_goes_into_its_field)
{
    for (size_t i = 0; i < SX_COUNT(taken); i++) {
        const pmix_info_t info = info_of(taken[i].key, &taken[i].value, PMIX_INFO_REQD);
        struct options got;

        memset(&got, 0, sizeof(got));
        cr_assert_eq(sx_directives_read(&table, &info, 1, &got), PMIX_SUCCESS, "row %zu", i);
        cr_expect(got.yes == taken[i].want.yes && got.said == taken[i].want.said &&
                      got.flags == taken[i].want.flags && got.choice == taken[i].want.choice &&
                      got.number.given == taken[i].want.number.given &&
                      got.number.number == taken[i].want.number.number &&
                      got.ns == taken[i].want.ns && got.procs.all == taken[i].want.procs.all &&
                      got.procs.count == taken[i].want.procs.count &&
                      got.scope == taken[i].want.scope && got.range == taken[i].want.range &&
                      got.devices == taken[i].want.devices,
                  "row %zu", i);
    }
}

static const struct {
    const char *key;
    pmix_value_t value;
} refused[] = {
    { "number", UINT(101) },
    { "number", { .type = PMIX_INT, .data.integer = -1 } },
    { "number", TEXT("7") },
    { "seconds", { .type = PMIX_INT, .data.integer = -1 } },
    { "seconds", TEXT("soon") },
    { "string", TEXT(NULL) },
    { "string", UINT(1) },
    { "procs", { .type = PMIX_PROC } },
    { "procs", LIST(NULL) },
    { "procs", LIST(&empty) },
    { "procs", LIST(&ranks) },
    { "scope", UINT(1) },
    { "scope", { .type = PMIX_SCOPE, .data.scope = PMIX_INTERNAL + 1 } },
    { "range", UINT(1) },
    { "devices", TEXT("gpu") },
};

Test(directives, a_value_of_another_kind_is_refused_whether_it_is_required_or_not)
{
    pmix_proc_t endless = { .rank = 0 };
    const pmix_value_t endless_value = { .type = PMIX_PROC, .data.proc = &endless };
    struct options got;

    memset(endless.nspace, 'x', sizeof(endless.nspace));
    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        const pmix_info_t info = info_of(refused[i].key, &refused[i].value, 0);

        memset(&got, 0, sizeof(got));
        cr_expect_eq(sx_directives_read(&table, &info, 1, &got), PMIX_ERR_BAD_PARAM, "row %zu", i);
    }
    const pmix_info_t info = info_of("procs", &endless_value, 0);
    cr_expect_eq(sx_directives_read(&table, &info, 1, &got), PMIX_ERR_BAD_PARAM);
}

/* TQ86 */
Test(directives, an_unknown_one_is_refused_only_when_it_is_required)
{
    const pmix_value_t value = UINT(1);
    pmix_info_t infos[3];
    struct options got;

    memset(&got, 0, sizeof(got));
    infos[0] = info_of("no.such.directive", &value, 0);
    infos[1] = info_of("no.such.directive", &value, PMIX_INFO_REQD | PMIX_INFO_QUALIFIER);
    infos[2] = info_of("info", &value, PMIX_INFO_REQD);
    cr_expect_eq(sx_directives_read(&table, infos, 3, &got), PMIX_SUCCESS);
    cr_expect_eq(got.info, &infos[2]);
    infos[0].flags = PMIX_INFO_REQD;
    cr_expect_eq(sx_directives_read(&table, infos, 3, &got), PMIX_ERR_NOT_SUPPORTED);
    memset(infos[0].key, 'x', sizeof(infos[0].key));
    cr_expect_eq(sx_directives_read(&table, infos, 3, &got), PMIX_ERR_BAD_PARAM, "without an end");
}

Test(directives, the_last_one_counts_and_a_later_spelling_is_the_same)
{
    const pmix_value_t first = TEXT("first"), last = TEXT("last"), no = UINT(0), yes = UINT(1);
    pmix_info_t infos[4];
    struct options got;

    memset(&got, 0, sizeof(got));
    infos[0] = info_of("string", &first, 0);
    infos[1] = info_of("pmix.pthrdnm", &last, PMIX_INFO_REQD);
    infos[2] = info_of("bool", &yes, 0);
    infos[3] = info_of("bool", &no, 0);
    cr_assert_eq(sx_directives_read(&table, infos, 4, &got), PMIX_SUCCESS);
    cr_expect_str_eq(got.string, "last");
    cr_expect_not(got.yes);
}

/* ---- lists of paths -------------------------------------------------------------------------- */

/* What lies between commas, and which of it names something. */

Test(pathlist, paths_are_split_at_commas_and_lose_slashes_at_their_end)
{
    const char *at = ",/a,,/b/c//,relative,///,/a/./d,";
    static const char *const wanted[] = { "/a", "/b/c", "relative", "/", "/a/./d" };
    struct sx_path path;

    for (size_t i = 0; i < SX_COUNT(wanted); i++) {
        cr_assert(sx_pathlist_next(&at, &path), "%s", wanted[i]);
        cr_expect_eq(path.len, strlen(wanted[i]), "%s", wanted[i]);
        cr_expect_eq(memcmp(path.text, wanted[i], path.len), 0, "%s", wanted[i]);
    }
    cr_expect_not(sx_pathlist_next(&at, &path));
    cr_expect_not(sx_pathlist_next(&at, &path), "and so it stays");
}

static const struct {
    const char *path;
    size_t name_off;
    bool good;
} path_rows[] = {
    { "/a", 1, true },      { "/a/b/", 3, true },  { "/...", 1, true },  { "/a/.b", 3, true },
    { "/a/..b", 3, true },  { "//a//b", 5, true }, { "/../a", 4, true }, { "a", 0, false },
    { "a/b", 2, false },    { "./a", 2, false },   { "/", 1, false },    { "///", 1, false },
    { "/.", 1, false },     { "/..", 1, false },   { "/a/.", 3, false }, { "/a/../", 3, false },
    { "/a/.//", 3, false },
};

Test(pathlist, a_path_must_be_absolute_and_end_in_a_name)
{
    for (size_t i = 0; i < SX_COUNT(path_rows); i++) {
        const char *at = path_rows[i].path;
        struct sx_path path;

        cr_assert(sx_pathlist_next(&at, &path), "%s", path_rows[i].path);
        cr_expect_eq(path.name_off, path_rows[i].name_off, "%s: %zu", path_rows[i].path,
                     path.name_off);
        cr_expect_eq(sx_path_fault(&path) == NULL, path_rows[i].good, "%s", path_rows[i].path);
    }
}

Test(pathlist, a_path_has_at_most_the_length_that_the_kernel_takes)
{
    static char text[PATH_MAX + 1];
    const char *at = text;
    struct sx_path path;

    memset(text, 'x', PATH_MAX);
    text[0] = '/';
    cr_assert(sx_pathlist_next(&at, &path));
    cr_expect_not_null(sx_path_fault(&path), "no room for its NUL");
    text[PATH_MAX - 1] = '\0';
    at = text;
    cr_assert(sx_pathlist_next(&at, &path));
    cr_expect_null(sx_path_fault(&path));
}
