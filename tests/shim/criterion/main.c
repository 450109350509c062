/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* main.c - run each test in a child of its own, under a deadline.
 *     usage: PROGRAM [-OPTION]... [TEXT]     the tests whose suite::name contains TEXT
 *
 * The child leads a process group, so that what a test leaves behind ends with it.  Failures are
 * counted in memory that the test's own children share.  A test that dies when it should not, or
 * ends with another code - that of a sanitizer, for one - has failed. */
#include "criterion.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHIM_TIMEOUT_S 240
#define SHIM_CODE_FAILED 98
#define SHIM_CODE_SKIPPED 97

enum { SHIM_PASSED, SHIM_FAILED, SHIM_SKIPPED, SHIM_NOT_RUN, SHIM_COUNT };

static struct shim_test *tests, **tests_end = &tests;
static struct shim_test *suites;
static unsigned *failures;              /* shared with every descendant */
static const struct shim_test *running; /* in this child */
static pid_t test_pid;
static sigjmp_buf test_end;

void shim_add_test(struct shim_test *test)
{
    *tests_end = test;
    tests_end = &test->next;
}

void shim_add_suite(struct shim_test *suite)
{
    suite->next = suites;
    suites = suite;
}

static void say(const char *format, va_list args)
{
    char line[1024];

    vsnprintf(line, sizeof(line), format, args);
    fprintf(stderr, "%s\n", line);
}

/* Only the thread that runs the test has its stack below main's; others cannot go back there. */
static bool runs_the_test(void)
{
    return getpid() == test_pid && (pid_t)syscall(SYS_gettid) == test_pid;
}

void shim_fail(const char *file, int line, bool fatal, const char *fact, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "%s:%d: failed: %s", file, line, fact);
    say(format, args);
    va_end(args);
    __atomic_add_fetch(failures, 1, __ATOMIC_RELAXED);
    if (fatal) {
        if (runs_the_test()) {
            siglongjmp(test_end, SHIM_CODE_FAILED);
        }
        _exit(SHIM_CODE_FAILED);
    }
}

void shim_skip(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "[SKIP] %s::%s:", running->suite, running->name);
    say(format, args);
    va_end(args);
    if (runs_the_test()) {
        siglongjmp(test_end, SHIM_CODE_SKIPPED);
    }
    _exit(SHIM_CODE_SKIPPED);
}

static const struct shim_options *suite_options(const char *suite)
{
    static const struct shim_options none = { 0 };

    for (const struct shim_test *row = suites; row != NULL; row = row->next) {
        if (strcmp(row->suite, suite) == 0) {
            return &row->options;
        }
    }
    return &none;
}

static void call(void (*function)(void))
{
    if (function != NULL) {
        function();
    }
}

static void run_in_child(const struct shim_test *test, const struct shim_options *suite)
{
    running = test;
    test_pid = getpid();
    setpgid(0, 0);
    /* Without the mask: a test that unblocks a signal keeps it so in its fini. */
    const int left = sigsetjmp(test_end, 0);

    if (left == 0) {
        call(suite->init);
        call(test->options.init);
        test->run();
    }
    /* A second failure, in a fini, ends here as well. */
    if (sigsetjmp(test_end, 0) == 0) {
        call(test->options.fini);
        call(suite->fini);
    }
    fflush(NULL);
    if (__atomic_load_n(failures, __ATOMIC_RELAXED) != 0) {
        exit(SHIM_CODE_FAILED);
    }
    exit(left == SHIM_CODE_SKIPPED ? SHIM_CODE_SKIPPED : 0);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Return: false if @pid did not end in time; then it is killed, and reaped all the same. */
static bool wait_for(pid_t pid, double seconds, const sigset_t *child, int *ret_status)
{
    const double deadline = now_s() + seconds;
    bool in_time = true;

    while (waitpid(pid, ret_status, WNOHANG) != pid) {
        const struct timespec pause = { .tv_sec = 1 };
        if (in_time && now_s() > deadline) {
            in_time = false;
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL);
        }
        sigtimedwait(child, NULL, &pause);
    }
    return in_time;
}

static int judge(const struct shim_test *test, bool in_time, double seconds, int status)
{
    const struct shim_options *const want = &test->options;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    if (!in_time) {
        fprintf(stderr, "[FAIL] %s::%s: not done after %g s\n", test->suite, test->name, seconds);
        return SHIM_FAILED;
    }
    if (*failures == 0 && code == SHIM_CODE_SKIPPED) {
        return SHIM_SKIPPED;
    }
    if (*failures == 0 &&
        (want->signal != 0 ? WIFSIGNALED(status) && WTERMSIG(status) == want->signal
                           : code == want->exit_code)) {
        return SHIM_PASSED;
    }
    fprintf(stderr, "[FAIL] %s::%s: %u failed checks, %s %d\n", test->suite, test->name, *failures,
            WIFSIGNALED(status) ? "signal" : "exit code",
            WIFSIGNALED(status) ? WTERMSIG(status) : code);
    return SHIM_FAILED;
}

static int run_one(const struct shim_test *test)
{
    const struct shim_options *const suite = suite_options(test->suite);
    const double own = test->options.timeout > 0 ? test->options.timeout : suite->timeout;
    const double seconds = own > 0 ? own : SHIM_TIMEOUT_S;
    sigset_t child, before;
    int status = 0;

    if (test->options.disabled || suite->disabled) {
        return SHIM_NOT_RUN;
    }
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    *failures = 0;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        run_in_child(test, suite);
    }
    if (pid < 0) {
        fprintf(stderr, "[FAIL] %s::%s: fork: %s\n", test->suite, test->name, strerror(errno));
        return SHIM_FAILED;
    }
    const bool in_time = wait_for(pid, seconds, &child, &status);
    kill(-pid, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return judge(test, in_time, seconds, status);
}

int main(int argc, char **argv)
{
    unsigned count[SHIM_COUNT] = { 0 };
    const char *text = "";

    failures = mmap(NULL, sizeof(*failures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                    0);
    if (failures == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            text = argv[i];
        }
    }
    for (struct shim_test *test = tests; test != NULL; test = test->next) {
        char name[512];
        snprintf(name, sizeof(name), "%s::%s", test->suite, test->name);
        if (strstr(name, text) != NULL) {
            count[run_one(test)]++;
        }
    }
    munmap(failures, sizeof(*failures));
    printf("[====] Tested: %u | Passing: %u | Failing: %u | Skipped: %u\n",
           count[SHIM_PASSED] + count[SHIM_FAILED], count[SHIM_PASSED], count[SHIM_FAILED],
           count[SHIM_SKIPPED]);
    return count[SHIM_FAILED] == 0 ? 0 : 1;
}
