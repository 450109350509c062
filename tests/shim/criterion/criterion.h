/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* criterion.h - as much of Criterion's interface as our tests use, without its runner.
 *
 * Criterion maps an arena where ThreadSanitizer keeps its shadow, and starts its tests in a way that
 * valgrind does not follow.  For these two the test files are built with this folder first on the
 * include path and main.c beside it, which runs every test in a forked child of its own.
 *
 * As in Criterion a failed cr_assert ends the test and a failed cr_expect is counted; what a child
 * of the test finds wrong counts too.  A macro that is missing here fails to compile: add it. */
#ifndef SX_TEST_SHIM_CRITERION_H
#define SX_TEST_SHIM_CRITERION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shim_options {
    void (*init)(void);
    void (*fini)(void);
    double timeout; /* seconds; 0: the suite's, or the runner's own */
    int signal;     /* the test is to die of it */
    int exit_code;  /* the test is to end with it */
    bool disabled;
    const char *description;
};

/* What a Test or a TestSuite declares; a suite has neither name nor function of its own. */
struct shim_test {
    const char *suite;
    const char *name;
    void (*run)(void);
    struct shim_options options;
    struct shim_test *next;
};

/* Both are called by constructors and keep the pointer for good. */
void shim_add_test(struct shim_test *test);
void shim_add_suite(struct shim_test *suite);

/* Report a failed check; does not come back when it was @fatal.  Any thread, any child. */
void shim_fail(const char *file, int line, bool fatal, const char *fact, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* End the test as skipped. */
void shim_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define Test(in_suite, test, ...)                                          \
    static void in_suite##_##test##_impl(void);                            \
    __attribute__((constructor)) static void in_suite##_##test##_add(void) \
    {                                                                      \
        static struct shim_test row = { .suite = #in_suite,                \
                                        .name = #test,                     \
                                        .run = in_suite##_##test##_impl,   \
                                        .options = { __VA_ARGS__ } };      \
        shim_add_test(&row);                                               \
    }                                                                      \
    static void in_suite##_##test##_impl(void)

#define TestSuite(the_suite, ...)                                                          \
    __attribute__((constructor)) static void the_suite##_suite_add(void)                   \
    {                                                                                      \
        static struct shim_test row = { .suite = #the_suite, .options = { __VA_ARGS__ } }; \
        shim_add_suite(&row);                                                              \
    }                                                                                      \
    struct shim_suite_##the_suite

#define SHIM_CHECK(fatal, fact, text, ...)                               \
    do {                                                                 \
        if (!(fact)) {                                                   \
            shim_fail(__FILE__, __LINE__, fatal, text, " " __VA_ARGS__); \
        }                                                                \
    } while (0)

#define cr_assert(fact, ...) SHIM_CHECK(true, fact, #fact, __VA_ARGS__)
#define cr_expect(fact, ...) SHIM_CHECK(false, fact, #fact, __VA_ARGS__)
#define cr_assert_not(fact, ...) SHIM_CHECK(true, !(fact), "!(" #fact ")", __VA_ARGS__)
#define cr_expect_not(fact, ...) SHIM_CHECK(false, !(fact), "!(" #fact ")", __VA_ARGS__)

#define cr_assert_eq(a, b, ...) SHIM_CHECK(true, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_expect_eq(a, b, ...) SHIM_CHECK(false, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) SHIM_CHECK(true, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) SHIM_CHECK(false, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) SHIM_CHECK(true, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) SHIM_CHECK(false, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) SHIM_CHECK(true, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...) SHIM_CHECK(false, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) SHIM_CHECK(true, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) SHIM_CHECK(false, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) SHIM_CHECK(true, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) SHIM_CHECK(false, (a) >= (b), #a " >= " #b, __VA_ARGS__)

#define cr_assert_null(a, ...) SHIM_CHECK(true, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_expect_null(a, ...) SHIM_CHECK(false, (a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_assert_not_null(a, ...) SHIM_CHECK(true, (a) != NULL, #a " is not NULL", __VA_ARGS__)
#define cr_expect_not_null(a, ...) SHIM_CHECK(false, (a) != NULL, #a " is not NULL", __VA_ARGS__)

#define cr_assert_str_eq(a, b, ...) \
    SHIM_CHECK(true, strcmp(a, b) == 0, #a " is the string " #b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) \
    SHIM_CHECK(false, strcmp(a, b) == 0, #a " is the string " #b, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) \
    SHIM_CHECK(true, strcmp(a, b) != 0, #a " is not the string " #b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) \
    SHIM_CHECK(false, strcmp(a, b) != 0, #a " is not the string " #b, __VA_ARGS__)
#define cr_assert_str_empty(a, ...) SHIM_CHECK(true, (a)[0] == '\0', #a " is empty", __VA_ARGS__)
#define cr_expect_str_empty(a, ...) SHIM_CHECK(false, (a)[0] == '\0', #a " is empty", __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...) \
    SHIM_CHECK(true, memcmp(a, b, size) == 0, #a " has the bytes of " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...) \
    SHIM_CHECK(false, memcmp(a, b, size) == 0, #a " has the bytes of " #b, __VA_ARGS__)
#define cr_assert_arr_neq(a, b, size, ...) \
    SHIM_CHECK(true, memcmp(a, b, size) != 0, #a " differs from the bytes of " #b, __VA_ARGS__)
#define cr_expect_arr_neq(a, b, size, ...) \
    SHIM_CHECK(false, memcmp(a, b, size) != 0, #a " differs from the bytes of " #b, __VA_ARGS__)

#define cr_assert_fail(...) shim_fail(__FILE__, __LINE__, true, "reached", " " __VA_ARGS__)
#define cr_expect_fail(...) shim_fail(__FILE__, __LINE__, false, "reached", " " __VA_ARGS__)
#define cr_fatal(...) cr_assert_fail(__VA_ARGS__)
#define cr_fail(...) cr_expect_fail(__VA_ARGS__)
#define cr_skip_test(...) shim_skip(" " __VA_ARGS__)
#define cr_skip(...) shim_skip(" " __VA_ARGS__)

#define SHIM_LOG(...) (fprintf(stderr, "    " __VA_ARGS__), fputc('\n', stderr))
#define cr_log_info(...) SHIM_LOG(__VA_ARGS__)
#define cr_log_warn(...) SHIM_LOG(__VA_ARGS__)
#define cr_log_error(...) SHIM_LOG(__VA_ARGS__)
#define cr_log(level, ...) SHIM_LOG(__VA_ARGS__)

#endif
