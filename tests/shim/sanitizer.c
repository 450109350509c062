/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sanitizer.c - what the sanitizers' runtimes do in our programs unless the environment disagrees.
 *
 * A finding ends the program at once, with a code that no test expects: many of our processes are
 * children that leave by _exit, where nothing would be reported any more.  The runtimes call these
 * before they are ready themselves, so none is instrumented. */
#define SHIM_OPTIONS                                                                              \
    __attribute__((visibility("default"), used, no_sanitize("address"), no_sanitize("undefined"), \
                   no_sanitize("thread")))

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__tsan_default_options(void);

SHIM_OPTIONS const char *__asan_default_options(void)
{
    return "exitcode=66:detect_stack_use_after_return=1:strict_string_checks=1";
}

SHIM_OPTIONS const char *__ubsan_default_options(void)
{
    return "exitcode=66:halt_on_error=1:print_stacktrace=1";
}

/* die_after_fork: here the child of a program with threads starts threads of its own. */
SHIM_OPTIONS const char *__tsan_default_options(void)
{
    return "exitcode=66:halt_on_error=1:second_deadlock_stack=1:die_after_fork=0";
}
