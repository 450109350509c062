/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* doctor_test.c - findings about a machine whose /proc and /sys are a folder made here, about
 * refused system calls, and about servers whose memory this process holds open.  How real jobs and
 * left-overs are found is in tests/system/run/doctor_test.sh. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "captured.h"
#include "cli/doctor/doctor.h"
#include "control/message.h"
#include "launch/common/say.h"
#include "ring/lane.h"
#include "ring/open_ops.h"
#include "ring/ring.h"

TestSuite(doctor, .timeout = 60);

/* ---- a machine ------------------------------------------------------------------------------- */

/* What statvfs reports of each file system. */
static unsigned long free_mib = 1024;

int statvfs(const char *restrict path, struct statvfs *restrict ret)
{
    (void)path;
    *ret = (struct statvfs){ .f_blocks = 4096, .f_frsize = 1 << 20, .f_bavail = free_mib };
    return 0;
}

struct machine {
    char root[32];
};

/* The file @path of the machine has @text. */
static void set(const struct machine *machine, const char *path, const char *text)
{
    char *const whole = sx_cli_printf("%s%s", machine->root, path);

    for (char *slash = strchr(whole + strlen(machine->root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        cr_assert(mkdir(whole, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *const file = fopen(whole, "w");

    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
    free(whole);
}

/* A machine without any file. */
static void machine_begin(struct machine *machine)
{
    snprintf(machine->root, sizeof(machine->root), "/tmp/shmix-test-doctor-XXXXXX");
    cr_assert_not_null(mkdtemp(machine->root));
}

static void machine_remove(struct machine *machine)
{
    char *const command = sx_cli_printf("rm -rf %s", machine->root);

    cr_expect_eq(system(command), 0);
    free(command);
}

/* A machine of which nothing is to be said. */
static void machine_make(struct machine *machine)
{
    machine_begin(machine);
    set(machine, "/proc/1/stat", "1 (init) S");
    set(machine, "/proc/self/status", "Name:\tx\nSeccomp:\t0\n");
    set(machine, "/proc/self/cgroup", "0::/all/mine\n");
    set(machine, "/proc/sys/kernel/osrelease", "6.1.0-1-amd64\n");
    set(machine, "/proc/sys/kernel/numa_balancing", "0\n");
    set(machine, "/proc/sys/vm/max_map_count", "65530\n");
    set(machine, "/proc/sys/vm/overcommit_memory", "0\n");
    set(machine, "/sys/devices/system/node/online", "0-3\n");
    set(machine, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    set(machine, "/sys/kernel/mm/transparent_hugepage/shmem_enabled", "always [never] force\n");
    set(machine, "/sys/fs/cgroup/all/mine/memory.max", "max\n");
    set(machine, "/sys/fs/cgroup/all/mine/cpu.max", "max 100000\n");
}

static struct sx_doctor visit;

static int node_visit(char **words)
{
    (void)words;
    sx_doctor_node(&visit);
    return 0;
}

/* The findings about @root. */
static char *look(const char *root)
{
    visit = (struct sx_doctor){ .root = root };
    return captured(node_visit, NULL, 0);
}

static void expect_has(const char *text, const char *want)
{
    cr_expect_not_null(strstr(text, want), "\"%s\" is not in:\n%s", want, text);
}

static void expect_lacks(const char *text, const char *unwanted)
{
    cr_expect_null(strstr(text, unwanted), "\"%s\" is in:\n%s", unwanted, text);
}

Test(doctor, reads_the_settings_of_the_machine)
{
    static const struct {
        const char *path, *text, *finding;
    } rows[] = {
        { "/proc/sys/kernel/numa_balancing", "1\n",
          "warning  numa-balancing: kernel.numa_balancing is 1 on nodes 0-3\n" },
        { "/proc/sys/vm/max_map_count", "1024\n", "warning  maps: vm.max_map_count is 1024\n" },
        { "/proc/sys/vm/overcommit_memory", "2\n", "warning  overcommit: " },
        { "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n",
          "warning  clock: the clock source is hpet\n" },
        { "/sys/kernel/mm/transparent_hugepage/shmem_enabled", "[always] never\n",
          "note     thp: " },
        { "/proc/self/status", "Name:\tx\nSeccomp:\t2\n", "note     seccomp: " },
        { "/sys/fs/cgroup/all/cpu.max", "1000 100000\n",
          "warning  cgroup-cpus: group /all may use 0.0 of " },
    };
    struct machine machine;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        machine_make(&machine);
        char *text = look(machine.root);

        expect_lacks(text, rows[i].finding);
        free(text);
        set(&machine, rows[i].path, rows[i].text);
        text = look(machine.root);
        expect_has(text, rows[i].finding);
        free(text);
        machine_remove(&machine);
    }
}

Test(doctor, reads_the_limits)
{
    const struct rlimit few = { 64, 64 };
    struct machine machine;

    machine_make(&machine);
    set(&machine, "/sys/fs/cgroup/all/mine/memory.max", "104857600\n");
    set(&machine, "/sys/fs/cgroup/all/mine/memory.current", "99614720\n");
    set(&machine, "/proc/sys/kernel/osrelease", "5.10.0\n");
    free_mib = 63;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &few), 0);
    char *const text = look(machine.root);

    expect_has(text, "warning  cgroup-memory: group /all/mine uses 95 of 100 MiB\n");
    expect_has(text, "warning  nofile: 64 descriptors (the hard limit) are enough for 9 ranks");
    expect_has(text, "note     memlock: 0 KiB may be locked in memory\n");
    expect_has(text, "warning  space: 63 MiB are left in ");
    free(text);
    machine_remove(&machine);
}

/* Look in a child that @prepare has prepared.  Return: what it wrote. */
static char *of_a_child(void (*prepare)(void), const char *root)
{
    char *const text = mmap(NULL, CAPTURED_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                            -1, 0);
    int status;

    cr_assert_neq(text, MAP_FAILED);
    fflush(NULL);
    const pid_t child = fork();

    if (child == 0) {
        int fds[2];

        if (pipe(fds) != 0) {
            _exit(1);
        }
        prepare();
        dup2(fds[1], STDOUT_FILENO);
        visit = (struct sx_doctor){ .root = root };
        sx_doctor_node(&visit);
        fflush(stdout);
        _exit(read(fds[0], text, CAPTURED_MAX - 1) > 0 ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
    return text;
}

static void few_processes(void)
{
    const struct rlimit few = { 4, 4 };

    if ((geteuid() == 0 && setuid(65534) != 0) || setrlimit(RLIMIT_NPROC, &few) != 0) {
        _exit(1);
    }
}

Test(doctor, counts_the_processes_of_a_user)
{
    char *const text = of_a_child(few_processes, "");

    expect_has(text, "warning  nproc: you may have 4 processes and threads");
    munmap(text, CAPTURED_MAX);
}

/* The calls that a server would rather have are not there. */
static void refuse_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 425, 4, 0), /* io_uring_setup */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 449, 3, 0), /* futex_waitv */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 434, 2, 0), /* pidfd_open */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(1);
    }
}

Test(doctor, tries_the_calls_of_a_server)
{
    char *const text = of_a_child(refuse_calls, "");

    expect_has(text, "note     io-uring: io_uring is refused: Operation not permitted");
    expect_has(text, "note     futex-waitv: ");
    expect_has(text, "warning  pidfd: ");
    expect_has(text, "problem  memfd: memfd_create is refused: Operation not permitted\n");
    expect_has(text, "note     seccomp: ");
    munmap(text, CAPTURED_MAX);
}

Test(doctor, sees_a_proc_that_hides_processes)
{
    struct machine machine;

    machine_begin(&machine);
    char *const text = look(machine.root);

    expect_has(text, "warning  proc: ");
    free(text);
    machine_remove(&machine);
}

static int environment_visit(char **words)
{
    (void)words;
    sx_doctor_environment(&visit);
    return 0;
}

Test(doctor, reads_the_environment)
{
    visit = (struct sx_doctor){ .root = "" };
    unsetenv("PMIX_NAMESPACE");
    char *text = captured(environment_visit, NULL, 0);

    expect_lacks(text, "mca");
    expect_lacks(text, "unread");
    expect_lacks(text, "other-server");
    free(text);
    setenv("SHMIX_LOG", "none", 1);
    setenv("SHMIX_LOGS", "debug", 1);
    setenv("PMIX_MCA_gds", "hash", 1);
    setenv("PMIX_MCA_ptl", "tcp\nproblem  forged: line", 1);
    setenv("PMIX_NAMESPACE", "old\njob", 1);
    setenv("PMIX_RANK", "3", 1);
    text = captured(environment_visit, NULL, 0);
    expect_has(text, "note     mca: 2 variables are set: PMIX_MCA_");
    expect_has(text, "warning  unread: 1 variable is set: SHMIX_LOGS\n");
    expect_has(text, "warning  other-server: PMIX_NAMESPACE is old?job and PMIX_RANK 3 in");
    expect_lacks(text, "\nproblem");
    free(text);
}

/* ---- servers --------------------------------------------------------------------------------- */

static int jobs_visit(char **words)
{
    (void)words;
    sx_doctor_jobs(&visit);
    return 0;
}

/* The findings about the server that this process is. */
static char *jobs_look(bool json)
{
    visit = (struct sx_doctor){ .root = "", .server = getpid(), .json = json };
    return captured(jobs_visit, NULL, 0);
}

static struct sx_board board_make(void)
{
    struct sx_board board;

    cr_assert_eq(sx_board_create(&board, "server", NULL), PMIX_SUCCESS);
    return board;
}

/* Publish @op in a table, and look.  Return: what is found, as JSON. */
static char *look_at_op(const struct sx_open_op *op)
{
    struct sx_board board = board_make();
    struct sx_open_ops ops;
    uint32_t index;

    cr_assert_eq(sx_open_ops_create(&ops, "server", NULL), PMIX_SUCCESS);
    cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
    sx_open_ops_publish(&ops, index, op);
    char *const text = jobs_look(true);

    sx_open_ops_deinit(&ops);
    sx_board_deinit(&board);
    return text;
}

/* A fence of job.7, open for a minute, in which rank 1 is missing. */
static struct sx_open_op fence_op(void)
{
    return (struct sx_open_op){
        .since_ns = sx_now_ns() - 60 * SX_NS_PER_SEC,
        .kind = SX_COLLECTIVE_FENCE,
        .expected = 2,
        .arrived = 1,
        .proc_count = 1,
        .text_bytes = 7,
        .procs_listed = 1,
        .missing_listed = 1,
        .procs = { { .rank = PMIX_RANK_WILDCARD, .nspace_off = 1 } },
        .missing = { { .rank = 1,
                       .nspace_off = 1,
                       .pid = (uint32_t)getpid(),
                       .presence = SX_OPEN_CONNECTED } },
        .text = "\0job.7",
    };
}

Test(doctor, finds_who_is_missing)
{
    struct sx_open_op op = fence_op();
    char *text;

    if (op.since_ns > sx_now_ns()) {
        cr_skip_test("this machine started less than a minute ago");
    }
    text = look_at_op(&op);
    expect_has(text, "{\"kind\":\"member-late\",\"level\":\"warning\",\"what\":\"fence of server ");
    expect_has(text, ": 1 of 2 have arrived; job.7.1 has not\"");
    free(text);
    op.missing[0].presence = SX_OPEN_LEFT;
    text = look_at_op(&op);
    expect_has(text, "{\"kind\":\"member-missing\",\"level\":\"problem\",");
    expect_has(text, ") has called PMIx_Finalize\"");
    free(text);
    op.flags = SX_OPEN_NOTIFIED; /* nobody waits */
    text = look_at_op(&op);
    expect_lacks(text, "member-");
    free(text);
    op.flags = SX_OPEN_WITH_HOST;
    op.missing_listed = 0;
    op.arrived = 2;
    text = look_at_op(&op);
    expect_has(text, "{\"kind\":\"host-late\",");
    free(text);
}

Test(doctor, finds_a_lane_that_is_not_read)
{
    static const struct sx_board_client shown = { 1, 1000, 3, SX_PEER_CLIENT, 0x040202 };
    struct sx_board board = board_make();
    struct sx_lane_reader reader;
    uint32_t index;

    cr_assert_eq(sx_board_slot_claim(&board, &index), PMIX_SUCCESS);
    sx_board_slot_notify(&board, index, &shown);
    cr_assert_eq(sx_lane_create(&reader, "job.7.3", &board, index, NULL), PMIX_SUCCESS);
    char *text = jobs_look(false);

    expect_lacks(text, "lane-full");
    expect_has(text, "note     library-foreign: server ");
    free(text);
    /* relaxed: of this thread. */
    atomic_store_explicit(&reader.line->tail, SX_LANE_BYTES - 8, memory_order_relaxed);
    text = jobs_look(false);
    expect_has(text, "warning  lane-full: server ");
    expect_has(text, " has 65528 of 65536 bytes to read from rank 3, process 1\n");
    free(text);
    sx_lane_destroy(&reader);
    sx_board_deinit(&board);
}

Test(doctor, finds_events_that_nobody_handles)
{
    struct sx_board board = board_make();
    struct sx_ring ring;

    cr_assert_eq(sx_ring_create(&ring, "job.7", 1 << 16, NULL), PMIX_SUCCESS);
    char *text = jobs_look(false);

    expect_lacks(text, "events-");
    free(text);
    /* relaxed: of this thread. */
    atomic_store_explicit(&ring.header->events_held, 1000, memory_order_relaxed);
    atomic_store_explicit(&board.header->history_crowded_out, 7, memory_order_relaxed);
    text = jobs_look(false);
    expect_has(text, "warning  events-held: 1000 events of job job.7 are kept ");
    expect_has(text, "warning  events-lost: server ");
    expect_has(text, " has dropped 7 kept events for want of bytes\n");
    free(text);
    sx_ring_deinit(&ring);
    sx_board_deinit(&board);
}

Test(doctor, finds_a_server_of_another_version)
{
    const uint64_t magic = SX_SEGMENT_MAGIC + 7;
    const int fd = memfd_create("shmix:board:server", MFD_CLOEXEC);

    cr_assert_eq(pwrite(fd, &magic, sizeof(magic), 0), (ssize_t)sizeof(magic));
    char *const text = jobs_look(false);

    expect_has(text, "problem  layout: server ");
    expect_has(text, " has segments of layout 9; this command has 2\n");
    free(text);
    close(fd);
}

/* One kind a hundred times is a page that nobody reads. */
Test(doctor, shows_the_first_of_many)
{
    char *text;
    unsigned shown = 0;

    visit = (struct sx_doctor){ .root = "" };
    setenv("PMIX_MCA_a", "", 1);
    for (unsigned i = 0; i < 20; i++) {
        text = captured(environment_visit, NULL, 0);
        shown += text[0] != '\0';
        free(text);
    }
    cr_expect_eq(shown, SX_DOCTOR_SAME_MAX, "%u", shown);
    cr_expect_eq(visit.of_kind[SX_DOCTOR_MCA], 20);
}
