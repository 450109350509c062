/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fault.c - start a server and processes, watch both from outside. */
#include "fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/sanitized.h"

#define SHARED_FD 240  /* where every process of a case finds the shared words */
#define STDERR_FD 241  /* the real stderr */
#define LIBRARY_FD 242 /* in a process of another user: the library */

extern char **environ;

struct fault_shared *fault_shared;
const char *volatile fault_waiting_for;

static const char *case_name; /* or the role's */
const struct fault_case *fault_case;
static char self_path[4096];
static int log_fd = -1;
static pid_t case_pid;
static pid_t children[1024]; /* of the case, not waited for: killed when it fails */
static size_t child_count;

/* ---- failures ------------------------------------------------------------------------------ */

static void write_line(const char *line)
{
    if (write(STDERR_FD, line, strlen(line)) < 0) {
        _exit(1); /* nobody to tell; the exit code says it */
    }
}

__attribute__((noreturn)) static void end_case(void)
{
    if (getpid() == case_pid) {
        for (size_t i = 0; i < child_count; i++) {
            kill(children[i], SIGKILL);
        }
    }
    _exit(1);
}

void fault_fail(const char *file, int line, const char *fact, const char *format, ...)
{
    char text[1024], all[1400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(all, sizeof(all), "FAIL %s (pid %d): %s:%d: %s: %s\n", case_name, (int)getpid(),
             strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file, line, fact, text);
    write_line(all);
    end_case();
}

void fault_fail_quietly(void)
{
    CHECK(dup2(STDERR_FILENO, STDERR_FD) == STDERR_FD, "%s", strerror(errno));
}

int fault_skip(const char *format, ...)
{
    va_list args;

    printf("SKIPPED %s: ", case_name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    return FAULT_SKIP;
}

void fault_say(const char *format, ...)
{
    va_list args;

    printf("%s: ", case_name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

static void on_alarm(int number)
{
    const char *what = fault_waiting_for;

    write_line("FAIL ");
    write_line(case_name);
    write_line(": not done in time; waiting for: ");
    write_line(what != NULL ? what : "the end of a call");
    write_line("\n");
    end_case();
}

uint64_t fault_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fault_pause(void)
{
    const struct timespec pause = { .tv_nsec = 1000000 };

    nanosleep(&pause, NULL);
}

uint64_t fault_random(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* ---- the host ------------------------------------------------------------------------------ */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    atomic_fetch_add(&fault_shared->connected, 1);
    return PMIX_SUCCESS;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    atomic_fetch_add(&fault_shared->finalized, 1);
    return PMIX_OPERATION_SUCCEEDED;
}

void fault_event_ignored(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (status == PMIX_ERR_LOST_CONNECTION) {
        atomic_fetch_add(&fault_shared->lost, 1);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

pmix_server_module_t fault_module = { .client_connected = on_connected,
                                      .client_finalized = on_finalized };
bool fault_takes_foreign = false;

void fault_server_start_for(uid_t uid)
{
    const char *engine = getenv("SHMIX_LOOP");
    const uint32_t id = uid;
    const bool tools = fault_module.tool_connected != NULL;
    pmix_info_t info[4];

    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_SERVER_TOOL_SUPPORT, &tools, PMIX_BOOL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_SERVER_ALLOW_FOREIGN_TOOLS, &fault_takes_foreign,
                                PMIX_BOOL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[2], PMIX_USERID, &id, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[3], PMIX_GRPID, &id, PMIX_UINT32), PMIX_SUCCESS);
    const pmix_status_t rc = PMIx_server_init(&fault_module, info, uid == geteuid() ? 2 : 4);

    if (rc == PMIX_ERR_NOT_SUPPORTED && engine != NULL && strcmp(engine, "uring") == 0) {
        exit(fault_skip("io_uring is refused on this machine"));
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0, "no handler");
}

void fault_server_start(void)
{
    fault_server_start_for(geteuid());
}

void fault_server_stop(void)
{
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
}

static pmix_proc_t proc_of(const char *nspace, int rank)
{
    pmix_proc_t proc;

    memset(&proc, 0, sizeof(proc));
    snprintf(proc.nspace, sizeof(proc.nspace), "%s", nspace);
    proc.rank = (pmix_rank_t)rank;
    return proc;
}

static void rank_admit(uid_t uid, gid_t gid, const char *nspace, int rank)
{
    const pmix_proc_t proc = proc_of(nspace, rank);
    const pmix_status_t rc = PMIx_server_register_client(&proc, uid, gid, NULL, NULL, NULL);

    CHECK(rc == PMIX_OPERATION_SUCCEEDED || rc == PMIX_EXISTS, "register_client: %d", rc);
}

void fault_rank_admit(const char *nspace, int rank)
{
    rank_admit(geteuid(), getegid(), nspace, rank);
}

static void nspace_register(const char *nspace, int size)
{
    uint32_t count = (uint32_t)size;
    pmix_info_t info[2];

    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_JOB_SIZE, &count, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_LOCAL_SIZE, &count, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace(nspace, size, info, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

void fault_job_start(const char *nspace, int size)
{
    nspace_register(nspace, size);
    for (int rank = 0; rank < size; rank++) {
        fault_rank_admit(nspace, rank);
    }
}

void fault_job_start_for(uid_t uid, const char *nspace, int size)
{
    nspace_register(nspace, size);
    for (int rank = 0; rank < size; rank++) {
        rank_admit(uid, uid, nspace, rank);
    }
}

void fault_job_end(const char *nspace)
{
    PMIx_server_deregister_nspace(nspace, NULL, NULL);
}

/* An executable copy of the file at @path that has no path. */
static int memory_copy(const char *path)
{
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    const int to = memfd_create("fault-copy", MFD_CLOEXEC);
    struct stat st;
    off_t off = 0;

    CHECK(from >= 0 && to >= 0 && fstat(from, &st) == 0, "%s: %s", path, strerror(errno));
    while (off < st.st_size) {
        CHECK(sendfile(to, from, &off, (size_t)(st.st_size - off)) > 0, "%s", strerror(errno));
    }
    CHECK(fchmod(to, 0755) == 0, "%s", strerror(errno));
    close(from);
    return to;
}

/* The library under test, where every user finds it: by its path some would not, and would test the
 * libpmix of the system in its place.  Return: -1 in a program that has it inside. */
static int library_copy(void)
{
    void *const function = dlsym(RTLD_DEFAULT, "PMIx_Init");
    Dl_info library;

    if (function == NULL) {
        return -1;
    }
    CHECK(dladdr(function, &library) != 0, "no library");
    return memory_copy(library.dli_fname);
}

static void library_take(int library)
{
    const char *const asan = getenv("ASAN_OPTIONS");
    char text[512];

    CHECK(dup2(library, LIBRARY_FD) == LIBRARY_FD, "%s", strerror(errno));
    snprintf(text, sizeof(text), "/proc/self/fd/%d", LIBRARY_FD);
    setenv("LD_PRELOAD", text, 1);
    /* It comes in front of the sanitizer's, which sees to its order for fear of other mallocs. */
    snprintf(text, sizeof(text), "%s:verify_asan_link_order=0", asan != NULL ? asan : "");
    setenv("ASAN_OPTIONS", text, 1);
}

static void become(uid_t uid)
{
    if (uid != (uid_t)-1 && uid != geteuid()) {
        CHECK(setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 &&
                  setresuid(uid, uid, uid) == 0,
              "become uid %u: %s", (unsigned)uid, strerror(errno));
    }
}

pid_t fault_start_as(uid_t uid, const char *nspace, int rank, const char *role, const char *arg)
{
    const pmix_proc_t proc = proc_of(nspace != NULL ? nspace : "", rank);
    char role_name[64], role_arg[256], option[] = "--role";
    char *argv[] = { self_path, option, role_name, role_arg, NULL };
    const int program = uid != (uid_t)-1 ? memory_copy("/proc/self/exe") : -1;
    const int library = uid != (uid_t)-1 ? library_copy() : -1;

    snprintf(role_name, sizeof(role_name), "%s", role);
    snprintf(role_arg, sizeof(role_arg), "%s", arg != NULL ? arg : "");
    char **env = PMIx_Argv_copy(environ);
    /* Here, not in the child: another thread may be in the sanitizer's malloc, for ever there. */
    const bool has_env = nspace == NULL || PMIx_server_setup_fork(&proc, &env) == PMIX_SUCCESS;
    const pid_t pid = fork();

    CHECK(pid >= 0, "fork: %s", strerror(errno));
    if (pid == 0) {
        if (!has_env) {
            _exit(99);
        }
        environ = env;
        become(uid);
        if (program >= 0) {
            if (library >= 0) {
                library_take(library);
            }
            fexecve(program, argv, environ);
        } else {
            execve(self_path, argv, environ);
        }
        write_line("FAIL: a role cannot be started\n");
        _exit(98);
    }
    PMIx_Argv_free(env);
    if (program >= 0) {
        close(program);
        if (library >= 0) {
            close(library);
        }
    }
    if (child_count < sizeof(children) / sizeof(children[0])) {
        children[child_count++] = pid;
    }
    return pid;
}

const char *fault_program(void)
{
    return self_path;
}

pid_t fault_start(const char *nspace, int rank, const char *role, const char *arg)
{
    return fault_start_as((uid_t)-1, nspace, rank, role, arg);
}

int fault_wait(pid_t pid)
{
    int status = 0;

    fault_waiting_for = "the end of a process";
    while (waitpid(pid, &status, 0) != pid) {
        CHECK(errno == EINTR, "waitpid: %s", strerror(errno));
    }
    fault_waiting_for = NULL;
    for (size_t i = 0; i < child_count; i++) {
        if (children[i] == pid) {
            children[i] = children[--child_count];
        }
    }
    return status;
}

void fault_wait_ok(pid_t pid, const char *who)
{
    const int status = fault_wait(pid);

    CHECK(!WIFSIGNALED(status), "%s was killed by signal %d", who, WTERMSIG(status));
    CHECK(WEXITSTATUS(status) == 0, "%s exited with %d", who, WEXITSTATUS(status));
}

/* ---- good ranks ---------------------------------------------------------------------------- */

#define GOOD_JOB "good.job"
static pid_t good_pids[2];

void fault_good_start(void)
{
    atomic_store(&fault_shared->stop, 0);
    atomic_store(&fault_shared->last_round, 0);
    fault_job_start(GOOD_JOB, 2);
    for (int rank = 0; rank < 2; rank++) {
        atomic_store(&fault_shared->round[rank], 0);
        good_pids[rank] = fault_start(GOOD_JOB, rank, "good", NULL);
    }
    fault_good_wait(2);
}

void fault_good_wait(unsigned count)
{
    const uint32_t begin[2] = { atomic_load(&fault_shared->round[0]),
                                atomic_load(&fault_shared->round[1]) };

    WAIT_FOR(atomic_load(&fault_shared->round[0]) - begin[0] >= count &&
                 atomic_load(&fault_shared->round[1]) - begin[1] >= count,
             "fences of the good ranks");
}

void fault_good_stop(void)
{
    atomic_store(&fault_shared->stop, 1);
    fault_wait_ok(good_pids[0], "good rank 0");
    fault_wait_ok(good_pids[1], "good rank 1");
    fault_job_end(GOOD_JOB);
}

/* Fence until rank 0 has seen the wish to stop.  It says which round is the last before it enters
 * that round, so that nobody leaves it without knowing.  They connect first, so that the store of
 * the node, which the server makes when it is first wanted, is there before anything is counted. */
static int role_good(const char *arg)
{
    pmix_proc_t self, all;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&all, self.nspace, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Connect(&all, 1, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    for (uint32_t round = 1;; round++) {
        if (self.rank == 0 && atomic_load(&fault_shared->stop) != 0) {
            atomic_store(&fault_shared->last_round, round);
        }
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
        atomic_store(&fault_shared->round[self.rank], round);
        if (atomic_load(&fault_shared->last_round) == round) {
            break;
        }
        fault_pause();
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

void fault_job_whole(const char *nspace, int size, unsigned count)
{
    pid_t pids[FAULT_PROCS_MAX];
    char arg[16];

    CHECK(size <= FAULT_PROCS_MAX, "%d", size);
    snprintf(arg, sizeof(arg), "%u", count);
    fault_job_start(nspace, size);
    for (int rank = 0; rank < size; rank++) {
        pids[rank] = fault_start(nspace, rank, "whole", arg);
    }
    for (int rank = 0; rank < size; rank++) {
        fault_wait_ok(pids[rank], "a rank of a whole job");
    }
    fault_job_end(nspace);
}

void fault_rank_whole(unsigned count)
{
    pmix_value_t value, *got;
    pmix_proc_t self, next;
    pmix_info_t collect;
    uint32_t size;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    next = self;
    next.rank = PMIX_RANK_WILDCARD;
    CHECK_STATUS(PMIx_Get(&next, PMIX_JOB_SIZE, NULL, 0, &got), PMIX_SUCCESS);
    size = got->data.uint32;
    PMIX_VALUE_RELEASE(got);
    value.type = PMIX_UINT32;
    value.data.uint32 = 1000 + self.rank;
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "fault.word", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&collect, PMIX_COLLECT_DATA, NULL, PMIX_BOOL), PMIX_SUCCESS);
    for (unsigned i = 0; i < count; i++) {
        CHECK_STATUS(PMIx_Fence(NULL, 0, &collect, 1), PMIX_SUCCESS);
    }
    next.rank = (self.rank + 1) % size;
    CHECK_STATUS(PMIx_Get(&next, "fault.word", NULL, 0, &got), PMIX_SUCCESS);
    CHECK(got->type == PMIX_UINT32 && got->data.uint32 == 1000 + next.rank, "%u", got->data.uint32);
    PMIX_VALUE_RELEASE(got);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

static int role_whole(const char *arg)
{
    fault_rank_whole((unsigned)atoi(arg));
    return 0;
}

/* ---- what the kernel knows ----------------------------------------------------------------- */

static void proc_path(char path[64], pid_t pid, const char *file)
{
    if (pid == FAULT_SELF) {
        snprintf(path, 64, "/proc/self/%s", file);
    } else {
        snprintf(path, 64, "/proc/%d/%s", (int)pid, file);
    }
}

unsigned fault_dir_count(const char *dir, const char *text)
{
    DIR *names = opendir(dir);
    const struct dirent *entry;
    unsigned count = 0;

    CHECK(names != NULL, "%s: %s", dir, strerror(errno));
    while ((entry = readdir(names)) != NULL) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 (text == NULL || strstr(entry->d_name, text) != NULL);
    }
    closedir(names);
    return count;
}

unsigned fault_fd_count(pid_t pid)
{
    char path[64];

    proc_path(path, pid, "fd");
    return fault_dir_count(path, NULL) - (pid == FAULT_SELF);
}

static FILE *proc_open(pid_t pid, const char *file)
{
    char path[64];

    proc_path(path, pid, file);
    FILE *const stream = fopen(path, "re");

    CHECK(stream != NULL, "%s: %s", path, strerror(errno));
    return stream;
}

unsigned fault_map_count(pid_t pid)
{
    FILE *const maps = proc_open(pid, "maps");
    char line[1024];
    unsigned count = 0;

    while (fgets(line, sizeof(line), maps) != NULL) {
        count += strstr(line, "/memfd:shmix") != NULL;
    }
    fclose(maps);
    return count;
}

uint64_t fault_memory_kib(pid_t pid)
{
    FILE *const status = proc_open(pid, "status");
    char line[256];
    uint64_t sum = 0;
    unsigned long kib;

    while (fgets(line, sizeof(line), status) != NULL) {
        if (sscanf(line, "RssAnon: %lu", &kib) == 1 || sscanf(line, "RssShmem: %lu", &kib) == 1) {
            sum += kib;
        }
    }
    fclose(status);
    return sum;
}

bool fault_is_sanitized(void)
{
    return SANITIZED;
}

uint64_t fault_memory_slack_kib(void)
{
    return SANITIZED ? 512u << 10 : 4u << 10;
}

bool fault_sleeps(pid_t pid)
{
    char path[64], line[512];
    bool sleeps = false;

    proc_path(path, pid, "stat");
    FILE *const stat = fopen(path, "re");

    if (stat != NULL && fgets(line, sizeof(line), stat) != NULL) {
        const char *after = strrchr(line, ')');

        sleeps = after != NULL && after[1] == ' ' && after[2] == 'S';
    }
    if (stat != NULL) {
        fclose(stat);
    }
    return sleeps;
}

unsigned fault_segment_holders(const char *name)
{
    DIR *const processes = opendir("/proc");
    const struct dirent *entry;
    char path[300], line[1024];
    unsigned count = 0;

    CHECK(processes != NULL, "%s", strerror(errno));
    while ((entry = readdir(processes)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%.200s/maps", entry->d_name);
        FILE *const maps = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re")
                                                                              : NULL;
        bool holds = false;

        while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
            holds = holds || (strstr(line, "/memfd:shmix:") != NULL && strstr(line, name) != NULL);
        }
        if (maps != NULL) {
            fclose(maps);
        }
        count += holds;
    }
    closedir(processes);
    return count;
}

bool fault_files_raise(unsigned wanted)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "%s", strerror(errno));
    if (limit.rlim_cur >= wanted) {
        return true;
    }
    limit.rlim_cur = wanted;
    if (limit.rlim_max < wanted) {
        limit.rlim_max = wanted; /* root may */
    }
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

void fault_files_limit(unsigned limit)
{
    struct rlimit files;

    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0, "%s", strerror(errno));
    files.rlim_cur = limit;
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0, "%s", strerror(errno));
}

/* ---- the log ------------------------------------------------------------------------------- */

void fault_log_begin(void)
{
    fflush(stderr);
    CHECK(dup2(log_fd, STDERR_FILENO) == STDERR_FILENO, "%s", strerror(errno));
}

static char *log_read(void)
{
    const int fd = log_fd >= 0 ? log_fd : STDERR_FILENO; /* a role inherits it as that */
    struct stat st;

    CHECK(fstat(fd, &st) == 0, "%s", strerror(errno));
    char *const text = calloc(1, (size_t)st.st_size + 1);

    CHECK(text != NULL && pread(fd, text, (size_t)st.st_size, 0) == st.st_size, "the log");
    return text;
}

/* How many lines of @pid have @text, and the sum of the numbers that they begin with. */
static unsigned log_count(pid_t pid, const char *text, unsigned long *ret_sum)
{
    char *const all = log_read(), *save, prefix[32];
    unsigned count = 0;

    *ret_sum = 0;
    if (pid == FAULT_LAUNCHER) {
        snprintf(prefix, sizeof(prefix), "shmix run:");
    } else {
        snprintf(prefix, sizeof(prefix), "shmix[%d", pid == FAULT_SELF ? (int)getpid() : (int)pid);
    }
    for (char *line = strtok_r(all, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        const char *const said = strstr(line, ": ");

        const char *const from = strstr(line, prefix);

        if (from != NULL && strchr("] ", from[strlen(prefix)]) != NULL &&
            (text == NULL || strstr(line, text) != NULL)) {
            count++;
            *ret_sum += said != NULL ? strtoul(said + 2, NULL, 10) : 0;
        }
    }
    free(all);
    return count;
}

unsigned fault_log_lines(pid_t pid, const char *text)
{
    unsigned long sum;

    return log_count(pid, text, &sum);
}

unsigned long fault_log_sum(pid_t pid, const char *text)
{
    unsigned long sum;

    (void)log_count(pid, text, &sum);
    return sum;
}

static void log_show(void)
{
    struct stat st;
    char text[4096];
    ssize_t got;

    if (log_fd < 0 || fstat(log_fd, &st) != 0) {
        return;
    }
    write_line("---- the last of the log:\n");
    for (off_t off = st.st_size > 16384 ? st.st_size - 16384 : 0;
         (got = pread(log_fd, text, sizeof(text) - 1, off)) > 0; off += got) {
        text[got] = '\0';
        write_line(text);
    }
    write_line("----\n");
}

/* ---- places -------------------------------------------------------------------------------- */

const char *fault_tmpdir_make(void)
{
    char *const tmpdir = fault_shared->tmpdir;

    snprintf(tmpdir, sizeof(fault_shared->tmpdir), "/tmp/fault-test-XXXXXX");
    CHECK(mkdtemp(tmpdir) != NULL, "%s: %s", tmpdir, strerror(errno));
    CHECK(setenv("TMPDIR", tmpdir, 1) == 0, "%s", strerror(errno));
    return tmpdir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path);
}

/* ---- main ---------------------------------------------------------------------------------- */

static void shared_make(void)
{
    const int fd = memfd_create("fault-shared", 0);
    char path[64];

    CHECK(fd >= 0 && ftruncate(fd, sizeof(*fault_shared)) == 0, "%s", strerror(errno));
    CHECK(dup2(fd, SHARED_FD) == SHARED_FD, "%s", strerror(errno));
    close(fd);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), SHARED_FD);
    setenv("SHMIX_LOG_LINES", "1000000", 0); /* lines are counted: none is to be left out */
    setenv("FAULT_SHARED", path, 1); /* for processes whose starter closes what it inherits */
    CHECK(dup2(STDERR_FILENO, STDERR_FD) == STDERR_FD, "%s", strerror(errno));
}

static void *shared_try(int fd)
{
    return mmap(NULL, sizeof(*fault_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void shared_map(void)
{
    const char *path = getenv("FAULT_SHARED");

    fault_shared = shared_try(SHARED_FD);
    if (fault_shared == MAP_FAILED && path != NULL) {
        const int fd = open(path, O_RDWR | O_CLOEXEC);

        fault_shared = shared_try(fd);
        close(fd);
        (void)dup2(STDERR_FILENO, STDERR_FD);
    }
    if (fault_shared == MAP_FAILED) {
        perror("the shared words (is this not started by a case?)");
        _exit(1);
    }
}

static int role_run(const char *name, const char *arg, const struct fault_role *roles,
                    size_t role_count)
{
    static const struct fault_role common[] = { { "good", role_good }, { "whole", role_whole } };

    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]) + role_count; i++) {
        const struct fault_role *role = i < 2 ? &common[i] : &roles[i - 2];

        if (strcmp(role->name, name) == 0) {
            alarm(FAULT_ROLE_SECONDS);
            return role->run(arg);
        }
    }
    write_line("FAIL: no such role\n");
    return 2;
}

static int case_run(const struct fault_case *it)
{
    alarm(FAULT_SECONDS);
    case_pid = getpid();
    const int result = it->run();

    if (result == 0) {
        printf("ok   %s\n", it->name);
    }
    fflush(stdout);
    return result;
}

/* In a process of its own: when the server takes the case down with it, somebody is left to show
 * what it wrote and to clean up. */
static int case_watch(const struct fault_case *it)
{
    int status;

    log_fd = memfd_create("fault-log", MFD_CLOEXEC);
    /* Appended to, or of two who write at once one overwrites the other: these share an offset. */
    CHECK(log_fd >= 0 && fcntl(log_fd, F_SETFL, O_APPEND) == 0 &&
              dup2(STDERR_FILENO, STDERR_FD) == STDERR_FD,
          "%s", strerror(errno));
    shared_make();
    shared_map();
    const pid_t pid = fork();

    CHECK(pid >= 0, "fork: %s", strerror(errno));
    if (pid == 0) {
        exit(case_run(it));
    }
    while (waitpid(pid, &status, 0) != pid) {
        CHECK(errno == EINTR, "waitpid: %s", strerror(errno));
    }
    if (fault_shared->tmpdir[0] != '\0') {
        nftw(fault_shared->tmpdir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == FAULT_SKIP)) {
        return WEXITSTATUS(status);
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "FAIL %s: killed by signal %d %s\n", it->name, WTERMSIG(status),
                fault_shared->attack_name);
    }
    log_show();
    return 1;
}

int fault_main(int argc, char **argv, const struct fault_case *cases, size_t case_count,
               const struct fault_role *roles, size_t role_count)
{
    const ssize_t len = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);

    if (len < 0) {
        perror("/proc/self/exe");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, on_alarm);
    if (argc == 4 && strcmp(argv[1], "--role") == 0) {
        case_name = argv[2];
        shared_map();
        return role_run(argv[2], argv[3], roles, role_count);
    }
    for (size_t i = 0; i < case_count && argc == 2; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            case_name = cases[i].name;
            fault_case = &cases[i];
            return case_watch(&cases[i]);
        }
    }
    fprintf(stderr, "usage: %s CASE, one of:", argv[0]);
    for (size_t i = 0; i < case_count; i++) {
        fprintf(stderr, " %s", cases[i].name);
    }
    fprintf(stderr, "\n");
    return 2;
}
