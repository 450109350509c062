/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stack_test.c - the output of gdb and of eu-stack, lists of ranks, and groups of equal stacks.
 * Real processes are in tests/system/run/stack_test.sh. */
#include "cli/stack/stack.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "captured.h"
#include "launch/common/say.h"

TestSuite(stack, .timeout = 60);

static const char of_gdb[] =
    "[New LWP 4713]\n"
    "[Thread debugging using libthread_db enabled]\n"
    "0x00007f43 in pause () from /lib/libc.so.6\n"
    "\n"
    "Thread 2 (Thread 0x7f43 (LWP 4713) \"prog\"):\n"
    "#0  0x00007f4301f91df2 in __libc_pause () at ../sysdeps/pause.c:29\n"
    "#1  0x000055e874fee181 in std::map<int, (anonymous)>::at (this=..., n=...) at a (b)/c.cc:3\n"
    "#2  <signal handler called>\n"
    "#3  0x0000000000000000 in ?? ()\n"
    "#4  start_thread (arg=...) at ./nptl/pthread_create.c:442\n"
    "\n"
    "Thread 1 (process 4711):\n"
    "#0  0x00007f4301f91df2 in PMIx_Fence () from /usr/lib/libpmix.so.2\n"
    "[Inferior 1 (process 4711) detached]\n";

static const char of_eu_stack[] =
    "/usr/bin/eu-stack: tid 4711: shown max number of frames (3, use -n 0 for unlimited)\n"
    "PID 4711 - process\n"
    "TID 4711:\n"
    "#0  0x00007f4301f43f16 pause@@GLIBC_2.34 - /usr/lib/libc.so.6\n"
    "    ../sysdeps/pause.c:57:12\n"
    "#1  0x000055e874fee20c main - /tmp/prog\n"
    "#2  0x000055e874fee20c - /tmp/stripped\n"
    "TID 4713:\n";

static void parsed(const char *output, uint32_t frames_max, struct sx_stack_threads *ret)
{
    char *const text = sx_cli_strdup(output);

    sx_stack_parse(text, frames_max, ret);
    free(text);
}

Test(stack, reads_gdb)
{
    struct sx_stack_threads threads;

    parsed(of_gdb, 64, &threads);
    cr_assert_eq(threads.count, 2);
    cr_expect_eq(threads.at[0].tid, 4713);
    cr_expect_str_eq(threads.at[0].frames, "__libc_pause\t../sysdeps/pause.c:29\n"
                                           "std::map<int, (anonymous)>::at\ta (b)/c.cc:3\n"
                                           "<signal handler called>\t\n"
                                           "??\t\n"
                                           "start_thread\t./nptl/pthread_create.c:442\n");
    cr_expect_eq(threads.at[1].tid, 4711);
    cr_expect_str_eq(threads.at[1].frames, "PMIx_Fence\t/usr/lib/libpmix.so.2\n");
    sx_stack_threads_free(&threads);
    sx_stack_threads_free(&threads);
}

Test(stack, reads_eu_stack)
{
    struct sx_stack_threads threads;

    parsed(of_eu_stack, 64, &threads);
    cr_assert_eq(threads.count, 2);
    cr_expect_str_eq(threads.at[0].frames, "pause\t../sysdeps/pause.c:57\n"
                                           "main\t/tmp/prog\n"
                                           "??\t/tmp/stripped\n");
    cr_expect_not(threads.at[0].more);
    cr_expect_eq(threads.at[1].frame_count, 0);
    sx_stack_threads_free(&threads);
}

Test(stack, frames_are_bounded)
{
    struct sx_stack_threads threads;

    parsed(of_eu_stack, 2, &threads);
    cr_expect_eq(threads.at[0].frame_count, 2);
    cr_expect(threads.at[0].more);
    sx_stack_threads_free(&threads);
    parsed(of_eu_stack, 3, &threads);
    cr_expect_not(threads.at[0].more, "all of them were shown");
    sx_stack_threads_free(&threads);
}

/* Every prefix of an output, and every output with one byte less, is read without harm. */
Test(stack, garbled_output_is_read_without_harm)
{
    const char *const outputs[] = { of_gdb,
                                    of_eu_stack,
                                    "#0  x\n",
                                    "TID :\n#\n",
                                    "Thread (LWP\n",
                                    "TID 1:\n    a:1:2\n#0\n    :1:2\n    1:\n",
                                    "" };
    struct sx_stack_threads threads;

    for (size_t i = 0; i < SX_COUNT(outputs); i++) {
        for (size_t len = 0; len <= strlen(outputs[i]); len++) {
            char *const prefix = sx_cli_printf("%.*s", (int)len, outputs[i]);

            parsed(prefix, 64, &threads);
            sx_stack_threads_free(&threads);
            parsed(outputs[i] + len, 64, &threads);
            sx_stack_threads_free(&threads);
            free(prefix);
        }
    }
}

Test(stack, the_complaint_of_a_tool_is_kept)
{
    struct sx_stack_threads threads;

    parsed("[note]\nptrace: Operation not permitted.\n", 64, &threads);
    cr_expect_eq(threads.count, 0);
    cr_expect_str_eq(threads.complaint, "ptrace: Operation not permitted.");
    parsed("a\033[31mb\n", 64, &threads);
    cr_expect_null(strchr(threads.complaint, '\033'), "it must not control the terminal");
}

Test(stack, lists_of_ranks)
{
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        { "0", true },    { "0-3,7", true }, { "*", true },    { "2,1", true },
        { "", false },    { ",", false },    { "1,", false },  { ",1", false },
        { "3-1", false }, { "1-", false },   { "-1", false },  { "1--2", false },
        { "a", false },   { "1 ", false },   { "0x1", false }, { "99999999999", false },
    };
    const uint32_t numbers[] = { 0, 1, 2, 5, 7, 8, 3 };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_stack_ranks_are(rows[i].text), rows[i].good, "%s", rows[i].text);
    }
    char *const ranges = sx_stack_ranges(numbers, SX_COUNT(numbers));

    cr_expect_str_eq(ranges, "0-2,5,7-8,3");
    free(ranges);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct sx_stack_process processes[4];

static int print(char **words)
{
    const struct sx_stack_list list = { .at = processes, .count = SX_COUNT(processes) };

    return (int)sx_stack_print(&list, words[0] != NULL);
}

/* Ranks 0, 1 and 2 of a job, the last one elsewhere; each has two workers; rank 0 of another
 * server has no stack. */
static void ranks_make(void)
{
    for (uint32_t i = 0; i < SX_COUNT(processes); i++) {
        processes[i] = (struct sx_stack_process){ .pid = 100 + (pid_t)i, .server = 7, .rank = i };
        snprintf(processes[i].nspace, sizeof(processes[i].nspace), "job");
        char *const output = sx_cli_printf("TID %u:\n#0  0x1 %s - /prog\nTID 901:\n#0  0x1 work\n"
                                           "TID 902:\n#0  0x1 work\n",
                                           100 + i, i == 2 ? "elsewhere" : "PMIx_Fence");

        sx_stack_parse(output, 64, &processes[i].threads);
        free(output);
    }
    processes[3].server = 8;
    processes[3].rank = 0;
    processes[3].problem = sx_cli_strdup("it has ended");
}

Test(stack, equal_stacks_are_shown_once)
{
    char *no_words[] = { NULL };

    ranks_make();
    char *const text = captured(print, no_words, 1);

    cr_expect_str_eq(text, "ranks 0-1 of job (processes 100-101), main thread:\n"
                           "  #0   PMIx_Fence from /prog\n\n"
                           "rank 2 of job (process 102), main thread:\n"
                           "  #0   elsewhere from /prog\n\n"
                           "ranks 0-2 of job (processes 100-102), 6 threads '':\n"
                           "  #0   work\n");
    free(text);
}

Test(stack, groups_are_objects)
{
    char json[] = "json", *words[] = { json, NULL };

    ranks_make();
    char *const text = captured(print, words, 1);

    cr_expect_not_null(strstr(text,
                              "{\"server\":7,\"nspace\":\"job\",\"ranks\":[0,1],\"pids\":[100,"
                              "101],\"main\":true,\"name\":\"\",\"threads\":2,\"frames\":[{"
                              "\"function\":\"PMIx_Fence\",\"place\":\"/prog\"}]}\n"));
    cr_expect_not_null(strstr(text, "{\"server\":8,\"nspace\":\"job\",\"ranks\":[0],\"pids\":[103],"
                                    "\"problem\":\"it has ended\"}\n"));
    free(text);
}

Test(stack, the_same_rank_of_two_servers_is_not_one)
{
    char json[] = "json", *words[] = { json, NULL };

    ranks_make();
    free(processes[3].problem);
    processes[3].problem = NULL;
    char *const text = captured(print, words, 0);

    cr_expect_not_null(strstr(text, "{\"server\":8,\"nspace\":\"job\",\"ranks\":[0],"));
    free(text);
}
