/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ls_test.c - tables that this process holds open as servers do, listed; nothing in them is
 * trusted. How a job is listed is in tests/system/run/ls_test.sh. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <pmix_common.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "captured.h"
#include "cli/ls/ls.h"
#include "cli/verbs.h"
#include "control/message.h"
#include "ring/board.h"
#include "ring/open_ops.h"
#include "shmem/store.h"

TestSuite(ls, .timeout = 60);

/* `shmix ls @thing` of this process, with @option or NULL. */
static char *test_ls_thing(const char *thing, const char *option)
{
    char number[16];
    char *words[] = { (char *)(uintptr_t)thing, number, (char *)(uintptr_t)option, NULL };

    snprintf(number, sizeof(number), "%d", (int)getpid());
    return captured(sx_cli_ls, words, 0);
}

static void test_store_create(struct sx_store_writer *writer)
{
    const struct sx_store_options options = { .nspace = "job.7", .reserve_bytes = 1 << 20 };

    cr_assert_eq(sx_store_create(writer, &options), PMIX_SUCCESS);
}

/* `shmix ls collectives` of process @pid, with @option or NULL. */
static char *test_ls(pid_t pid, const char *option, int want)
{
    char number[16];
    char *words[] = { (char[]){ "collectives" }, number, (char *)(uintptr_t)option, NULL };

    snprintf(number, sizeof(number), "%d", (int)pid);
    return captured(sx_cli_ls, words, want);
}

static void expect_has(const char *text, const char *want)
{
    cr_expect_not_null(strstr(text, want), "\"%s\" is not in:\n%s", want, text);
}

static struct sx_open_ops table_with(const struct sx_open_op *op)
{
    struct sx_open_ops ops;
    uint32_t index;

    cr_assert_eq(sx_open_ops_create(&ops, "server", NULL), PMIX_SUCCESS);
    cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
    sx_open_ops_publish(&ops, index, op);
    return ops;
}

/* A connect of all of job.7 and of job.8's rank 3. */
static struct sx_open_op connect_op(void)
{
    return (struct sx_open_op){
        .since_ns = sx_now_ns() - 90 * SX_NS_PER_SEC,
        .deadline_ns = sx_now_ns() + 1000 * SX_NS_PER_SEC,
        .kind = SX_COLLECTIVE_CONNECT,
        .expected = 10,
        .arrived = 4,
        .proc_count = 7,
        .id_off = 1,
        .text_bytes = 20,
        .procs_listed = 2,
        .missing_listed = 3,
        .procs = { { .rank = PMIX_RANK_WILDCARD, .nspace_off = 8 },
                   { .rank = 3, .nspace_off = 14 } },
        .missing = { { .rank = 1, .nspace_off = 8, .presence = SX_OPEN_LEFT },
                     { .rank = 2, .nspace_off = 8 },
                     { .rank = 3,
                       .nspace_off = 14,
                       .pid = (uint32_t)getpid(),
                       .presence = SX_OPEN_CONNECTED } },
        .text = "\0the id\0job.7\0job.8",
    };
}

Test(ls, says_what_an_operation_waits_for)
{
    const struct sx_open_op op = connect_op();
    struct sx_open_ops ops = table_with(&op);
    char line[256];
    char *text = test_ls(getpid(), NULL, 0);

    expect_has(text, "connect             4 of 10          90.");
    expect_has(text, "  job.7.* job.8.3 and 5 more, id the id\n");
    expect_has(text, "  missing: job.7.1, which has called PMIx_Finalize\n");
    expect_has(text, "  missing: job.7.2, which has not called PMIx_Init\n");
    snprintf(line, sizeof(line), "  missing: job.8.3, process %d\n", (int)getpid());
    expect_has(text, line);
    expect_has(text, "  missing: 3 more\n");
    free(text);
    text = test_ls(getpid(), "--json", 0);
    expect_has(text, "{\"kind\":\"connect\",\"id\":\"the id\",\"server\":");
    expect_has(text, ",\"left_ns\":9");
    expect_has(text, "\"state\":\"left\"},");
    expect_has(text, "\"rank\":2},\"state\":\"not connected\"},");
    expect_has(text, "\"state\":\"runs\"}]}\n");
    free(text);
    sx_open_ops_deinit(&ops);
}

Test(ls, says_why_an_operation_of_which_nobody_is_missing_stays_open)
{
    static const struct {
        uint16_t flags;
        const char *want;
    } rows[] = {
        { 0, "  everybody here has arrived: it waits for the one before it\n" },
        { SX_OPEN_UNREGISTERED, "  everybody here has arrived: it waits until the host has "
                                "registered a namespace that it names\n" },
        { SX_OPEN_WITH_HOST, "  everybody here has arrived: the host has not answered\n" },
        { SX_OPEN_WITH_HOST | SX_OPEN_NOTIFIED,
          "  its callers have their answer; the host has not given its own\n" },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_open_op op = connect_op();

        op.expected = op.arrived;
        op.missing_listed = 0;
        op.flags = rows[i].flags;
        struct sx_open_ops ops = table_with(&op);
        char *const text = test_ls(getpid(), NULL, 0);
        expect_has(text, rows[i].want);
        free(text);
        sx_open_ops_deinit(&ops);
    }
}

/* A stopped child is said to be stopped; one that has ended, and was not waited for, to have. */
Test(ls, says_how_a_missing_process_is)
{
    struct sx_open_op op = connect_op();
    const pid_t child = fork();
    siginfo_t info;

    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    op.missing[2].pid = (uint32_t)child;
    struct sx_open_ops ops = table_with(&op);
    cr_assert_eq(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
    char *text = test_ls(getpid(), NULL, 0);
    expect_has(text, ", is stopped\n");
    free(text);
    kill(child, SIGCONT);
    cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    text = test_ls(getpid(), NULL, 0);
    expect_has(text, ", has ended\n");
    free(text);
    waitpid(child, NULL, 0);
    text = test_ls(getpid(), "--json", 0);
    expect_has(text, "\"state\":\"ended\"}]}\n");
    free(text);
    sx_open_ops_deinit(&ops);
}

/* A table that somebody else has made is not this process's. */
Test(ls, a_table_counts_as_its_makers_alone)
{
    const struct sx_open_op op = connect_op();
    struct sx_open_ops ops = table_with(&op);
    struct sx_segment_header *const header = sx_segment_header(&ops.seg);

    header->creator_pid = (uint32_t)getppid();
    char *const text = test_ls(getpid(), NULL, 1);
    cr_expect_str_eq(text, "");
    free(text);
    sx_open_ops_deinit(&ops);
}

static void expect_printable(const char *text)
{
    for (; *text != '\0'; text++) {
        cr_assert((*text >= 0x20 && *text < 0x7f) || *text == '\n', "byte %#x",
                  (unsigned)(unsigned char)*text);
    }
}

/* A process of the job "job.7", and one whose namespace no store knows. */
Test(ls, lists_the_clients_of_a_board)
{
    static const struct sx_board_client shown[] = { { 1, 1000, 3, SX_PEER_CLIENT, 0x040202 },
                                                    { 4711, 0, 0, SX_PEER_TOOL, 0 },
                                                    { 4712, 0, 7, 99, 0 } };
    const pmix_value_t pid = { .type = PMIX_PID, .data.pid = 1 };
    struct sx_store_writer writer;
    struct sx_board board;
    uint32_t index;

    test_store_create(&writer);
    cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, 3, PMIX_PROC_PID, PMIX_GLOBAL, &pid),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_board_create(&board, "server", NULL), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(shown); i++) {
        cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
        sx_board_slot_notify(&board, index, &shown[i]);
    }
    cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS); /* not told of */
    char *text = test_ls_thing("clients", NULL);
    expect_has(text,
               "SERVER ROLE          PID    UID STATE        RANK NAMESPACE            LIBRARY\n");
    expect_has(text, " client          1   1000 runs            3 job.7                OpenPMIx "
                     "4.2.2 by a gateway\n");
    expect_has(text, " tool         4711      0 ");
    expect_has(text, " 0 -                    shmix\n");
    expect_has(text, " -            4712      0 ");
    free(text);
    text = test_ls_thing("clients", "--json");
    expect_has(text, ",\"role\":\"client\",\"pid\":1,\"uid\":1000,\"state\":\"runs\",\"rank\":3,"
                     "\"nspace\":\"job.7\",\"library\":\"OpenPMIx 4.2.2 by a gateway\"}\n");
    expect_has(text, ",\"rank\":0,\"library\":\"shmix\"}\n{\"server\":");
    free(text);
    sx_board_deinit(&board);
    sx_store_destroy(&writer);
}

/* What the host has told of an end counts; else what /proc says of the process. */
Test(ls, lists_the_processes_of_a_job)
{
    const pmix_value_t size = { .type = PMIX_UINT32, .data.uint32 = 4 };
    const pmix_value_t pid = { .type = PMIX_PID, .data.pid = getpid() };
    const pmix_value_t code = { .type = PMIX_INT, .data.integer = 3 };
    const pmix_value_t negative = { .type = PMIX_INT, .data.integer = -5 };
    const pmix_value_t state = { .type = PMIX_PROC_STATE,
                                 .data.state = PMIX_PROC_STATE_TERM_NON_ZERO };
    const pmix_value_t host = { .type = PMIX_STRING, .data.string = (char[]){ "el\x1bs\\e" } };
    const struct {
        uint32_t row;
        const char *key;
        const pmix_value_t *value;
    } cells[] = {
        { SX_ROW_JOB, PMIX_JOB_SIZE, &size }, { 0, PMIX_PROC_PID, &pid },
        { 1, PMIX_PROC_PID, &pid },           { 1, PMIX_PROC_STATE_STATUS, &state },
        { 1, PMIX_EXIT_CODE, &code },         { 2, PMIX_HOSTNAME, &host },
        { 2, PMIX_EXIT_CODE, &negative },
    };
    struct sx_store_writer writer;
    char line[256];

    test_store_create(&writer);
    for (size_t i = 0; i < SX_COUNT(cells); i++) {
        cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, cells[i].row, cells[i].key, PMIX_GLOBAL,
                                  cells[i].value),
                     PMIX_SUCCESS);
    }
    char *text = test_ls_thing("procs", NULL);
    snprintf(line, sizeof(line), "       0 %8d     -    - runs              - ", (int)getpid());
    expect_has(text, line);
    snprintf(line, sizeof(line), "       1 %8d     -    - term non zero     3 ", (int)getpid());
    expect_has(text, line);
    expect_has(text, " not connected     - ");
    expect_has(text, " not connected    -5 ");
    expect_has(text, " el\\x1bs\\x5ce     job.7\n");
    free(text);
    text = test_ls_thing("procs", "--json");
    snprintf(line, sizeof(line),
             "{\"rank\":1,\"pid\":%d,\"state\":\"term non zero\",\"exit_code\":3,\"server\":%d,"
             "\"nspace\":\"job.7\"}\n",
             (int)getpid(), (int)getpid());
    expect_has(text, line);
    free(text);
    sx_store_destroy(&writer);
}

/* Any process may hold a file with a name that servers use, and a lease on it: who opens it waits
 * for the holder. */
Test(ls, waits_for_no_lease)
{
    const int made = memfd_create("shmix:ops:server", MFD_CLOEXEC);
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
    const int fd = open(path, O_RDWR | O_CLOEXEC); /* as a file with one opening and no maker */

    cr_assert_geq(fd, 0);
    close(made);
    signal(SIGIO, SIG_IGN); /* that somebody wants it */
    if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0) {
        cr_skip_test("no lease on a memfd here");
    }
    alarm(20); /* the kernel breaks a lease after 45 s */
    char *const text = test_ls(getpid(), NULL, 1);
    alarm(0);
    cr_expect_str_eq(text, "");
    free(text);
    close(fd);
}

/* From now on a socket kills the process. */
static void no_sockets_from_here(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = SX_COUNT(code), .filter = code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(77);
    }
}

/* What is listed and stored is had without a message: there is no socket to send one with. */
Test(ls, asks_nobody)
{
    static const char *const things[] = { "servers", "jobs",        "procs", "clients",
                                          "groups",  "collectives", "sets" };
    struct sx_store_writer writer;
    struct sx_board board;
    char number[16];
    int status;

    test_store_create(&writer);
    cr_assert_eq(sx_board_create(&board, "server", NULL), PMIX_SUCCESS);
    snprintf(number, sizeof(number), "%d", (int)getpid());
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        no_sockets_from_here();
        for (size_t i = 0; i < SX_COUNT(things); i++) {
            char *words[] = { (char *)(uintptr_t)things[i], number, NULL };

            (void)sx_cli_ls(words);
        }
        char *words[] = { (char[]){ "*" }, number, NULL };

        (void)sx_cli_get(words);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        cr_skip_test("the kernel takes no filter here");
    }
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    sx_board_deinit(&board);
    sx_store_destroy(&writer);
}

/* Rows of which most of the bytes are sound, and some are anything. */
Test(ls, survives_rows_of_nonsense)
{
    struct sx_open_op op = connect_op();
    struct sx_open_ops ops = table_with(&op);

    srand(42);
    for (unsigned round = 0; round < 400; round++) {
        op = connect_op();
        for (unsigned i = 0; i < 1 + round % 9; i++) {
            ((uint8_t *)&op)[(unsigned)rand() % (round % 2 == 0 ? 360 : 40)] = (uint8_t)rand();
        }
        sx_open_ops_publish(&ops, 0, &op);
        char *const text = test_ls(getpid(), NULL, 0), *const json = test_ls(getpid(), "--json", 0);
        expect_printable(text);
        cr_expect_null(strchr(json, '\x1b'));
        free(text);
        free(json);
    }
    sx_open_ops_deinit(&ops);
}

/* The server was killed or stopped in the middle of a row, or its header says what cannot be. */
Test(ls, waits_for_no_row_and_no_header)
{
    const struct sx_open_op op = connect_op();
    struct sx_open_ops ops = table_with(&op);

    atomic_fetch_add(&ops.rows[0].seq, 1);
    free(test_ls(getpid(), NULL, 0));
    ops.header->row_bytes = 1;
    free(test_ls(getpid(), NULL, 1));
    sx_open_ops_deinit(&ops);
}

/* On several nodes the column says how many ranks of the job this node has. */
Test(ls, ranks_here_stand_before_all)
{
    char text[SX_LS_FIGURE_MAX];

    cr_expect_str_eq(sx_ls_ranks_text(4, 4, text), "4");
    cr_expect_str_eq(sx_ls_ranks_text(0, 4, text), "0/4");
    cr_expect_str_eq(sx_ls_ranks_text(UINT32_MAX - 1, UINT32_MAX, text), "4294967294/4294967295");
}
