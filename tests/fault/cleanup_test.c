/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_test.c - a server removes what its clients asked to have removed, with their rights, and
 * waits for no file system. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define JOB "asking.job"
#define USER 4242
#define OTHER 4243
#define GROUP 4300
#define SPELLINGS 200
#define SWAPS 40 /* fault_shared->round: exchanges so far */
#define SWAPS_MIN 1000
#define SEED UINT64_C(20261104)

/* ---- files --------------------------------------------------------------------------------- */

/* The path of @name in the case's directory, in one of some buffers. */
static const char *at(const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, PATH_MAX, "%s/%s", fault_shared->tmpdir, name);
    return path;
}

static void give(const char *name, uid_t uid)
{
    CHECK(uid == geteuid() || lchown(at(name), uid, uid) == 0, "%s: %s", name, strerror(errno));
}

static void file(const char *name, uid_t uid)
{
    const int fd = open(at(name), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

    CHECK(fd >= 0, "%s: %s", name, strerror(errno));
    close(fd);
    give(name, uid);
}

static void dir(const char *name, uid_t uid)
{
    CHECK(mkdir(at(name), 0755) == 0, "%s: %s", name, strerror(errno));
    give(name, uid);
}

static void to(const char *target, const char *name, uid_t uid)
{
    CHECK(symlink(target, at(name)) == 0, "%s: %s", name, strerror(errno));
    give(name, uid);
}

static bool there(const char *name)
{
    struct stat st;

    return lstat(at(name), &st) == 0;
}

/* ---- a user who does not hold still -------------------------------------------------------- */

#define IN_PLACE __attribute__((visibility("default")))

/* In place of the C library's in every process of this program.  While they are armed, the user's
 * directory u/link and the link u/other change places before about every other step, and there is
 * always a file of the user's to be removed. */
static _Atomic bool armed;
static bool keeps_spellings; /* realpath finds nothing, so that links stay in the paths */

static bool swap(void)
{
    char link[PATH_MAX], other[PATH_MAX];

    snprintf(link, sizeof(link), "%s/u/link", fault_shared->tmpdir);
    snprintf(other, sizeof(other), "%s/u/other", fault_shared->tmpdir);
    if (renameat2(AT_FDCWD, link, AT_FDCWD, other, RENAME_EXCHANGE) != 0) {
        return false;
    }
    atomic_fetch_add(&fault_shared->round[SWAPS], 1);
    return true;
}

static void before_step(void)
{
    static uint64_t seed = SEED;

    if (!armed) {
        return;
    }
    if (fault_random(&seed) % 2 == 0) {
        (void)swap();
    }
    close(open(at("u/link/victim"), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
    close(open(at("u/other/victim"), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
}

static void *real(void **kept, const char *name)
{
    if (*kept == NULL) {
        *kept = dlsym(RTLD_NEXT, name);
    }
    return *kept;
}

IN_PLACE int fstatat(int dir_fd, const char *name, struct stat *st, int flags)
{
    static void *kept;

    before_step();
    return ((int (*)(int, const char *, struct stat *, int))real(&kept, "fstatat"))(dir_fd, name,
                                                                                    st, flags);
}

IN_PLACE int unlinkat(int dir_fd, const char *name, int flags)
{
    static void *kept;

    before_step();
    return ((int (*)(int, const char *, int))real(&kept, "unlinkat"))(dir_fd, name, flags);
}

IN_PLACE int unlink(const char *name)
{
    static void *kept;

    before_step();
    return ((int (*)(const char *))real(&kept, "unlink"))(name);
}

IN_PLACE long syscall(long number, ...)
{
    static void *kept;
    long words[6];
    va_list args;

    va_start(args, number);
    for (size_t i = 0; i < 6; i++) {
        words[i] = va_arg(args, long);
    }
    va_end(args);
    if (number == SYS_openat2) {
        before_step();
    }
    return ((long (*)(long, ...))real(&kept, "syscall"))(number, words[0], words[1], words[2],
                                                         words[3], words[4], words[5]);
}

IN_PLACE char *realpath(const char *restrict path, char *restrict resolved)
{
    static void *kept;

    if (keeps_spellings) {
        errno = ENOENT;
        return NULL;
    }
    return ((char *(*)(const char *, char *))real(&kept, "realpath"))(path, resolved);
}

/* ---- roles ---------------------------------------------------------------------------------- */

static pmix_proc_t self;

static pmix_status_t ask_for(const pmix_proc_t *target, const char *key, const char *paths,
                             bool recurse, bool leave_top)
{
    pmix_info_t info[3];

    CHECK_STATUS(PMIx_Info_load(&info[0], key, paths, PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_CLEANUP_RECURSIVE, &recurse, PMIX_BOOL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[2], PMIX_CLEANUP_LEAVE_TOPDIR, &leave_top, PMIX_BOOL),
                 PMIX_SUCCESS);
    const pmix_status_t rc = PMIx_Job_control(target, 1, info, 3, NULL, NULL);

    PMIX_INFO_DESTRUCT(&info[0]);
    return rc;
}

static pmix_status_t ask(const char *key, const char *paths, bool recurse, bool leave_top)
{
    return ask_for(&self, key, paths, recurse, leave_top);
}

static pmix_status_t ask_empty(const char *path)
{
    const bool yes = true;
    pmix_info_t info[2];

    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_REGISTER_CLEANUP_DIR, path, PMIX_STRING),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_CLEANUP_EMPTY, &yes, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_required(&info[1]);
    const pmix_status_t rc = PMIx_Job_control(&self, 1, info, 2, NULL, NULL);

    PMIX_INFO_DESTRUCT(&info[0]);
    return rc;
}

/* Say that all is asked, and die when the host says so. */
__attribute__((noreturn)) static void die(void)
{
    atomic_store(&fault_shared->state[self.rank], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) > self.rank, "the host's word");
    raise(SIGKILL);
    _exit(1);
}

static pmix_status_t ask_line(const char *line)
{
    switch (line[0]) {
    case 'f':
        return ask(PMIX_REGISTER_CLEANUP, line + 1, false, false);
    case 'k':
        return ask(PMIX_CLEANUP_IGNORE, line + 1, false, false);
    case 'n':
        return ask(PMIX_CLEANUP_IGNORE, strrchr(line, '/') + 1, false, false);
    case 'e':
        return ask_empty(line + 1);
    default:
        return ask(PMIX_REGISTER_CLEANUP_DIR, line + 1, line[0] == 'r' || line[0] == 't',
                   line[0] == 't');
    }
}

/* Asks for what the host has written: lines of one letter (file, dir, recursive, top stays, kept,
 * kept by name, empty ones) and a path. */
static int role_asks(const char *arg)
{
    char *save, *line = strtok_r(fault_shared->text, "\n", &save);

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    for (; line != NULL; line = strtok_r(NULL, "\n", &save)) {
        CHECK_STATUS(ask_line(line), PMIX_SUCCESS);
    }
    die();
}

/* Asks for u/link/victim under many names, and behind them for u/done. */
static int role_spells(const char *arg)
{
    char path[PATH_MAX] = "";

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    keeps_spellings = true;
    for (unsigned i = 0; i < SPELLINGS; i++) {
        snprintf(path, sizeof(path), "%s/u/%.*slink%.*svictim", fault_shared->tmpdir,
                 2 * (int)(i % 20), "././././././././././././././././././././", 1 + (int)(i / 20),
                 "////////////////////");
        CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, path, false, false), PMIX_SUCCESS);
    }
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, at("u/done"), false, false), PMIX_SUCCESS);
    die();
}

/* Swaps until it is killed. */
static int role_swaps(const char *arg)
{
    for (;;) {
        CHECK(swap(), "%s", strerror(errno));
    }
}

/* ---- the host ------------------------------------------------------------------------------ */

static int need_root(void)
{
    return geteuid() == 0 ? 0 : fault_skip("only root can become another user");
}

static void place_make(void)
{
    CHECK(chmod(fault_tmpdir_make(), 0755) == 0, "%s", strerror(errno));
    fault_log_begin();
}

static void begin(uid_t uid)
{
    place_make();
    fault_server_start_for(uid);
}

/* Start rank @rank of @nspace, which asks for what @wishes says (paths in the case's directory). */
static pid_t asks(uid_t uid, const char *nspace, int rank, const char *role, const char *wishes)
{
    char *out = fault_shared->text;
    const char *line = wishes;

    while (*line != '\0') {
        const int len = (int)strcspn(line, "\n");

        out += sprintf(out, "%c%s/%.*s\n", *line, fault_shared->tmpdir, len - 1, line + 1);
        line += len + (line[len] == '\n');
    }
    *out = '\0';
    atomic_store(&fault_shared->state[rank], 0);
    const pid_t pid = fault_start_as(uid, nspace, rank, role, "");

    WAIT_FOR(atomic_load(&fault_shared->state[rank]) == 1, "a rank that has asked");
    return pid;
}

/* Let the ranks below @count die. */
static void let_die(uint32_t count, pid_t pid)
{
    atomic_store(&fault_shared->go, count);
    const int status = fault_wait(pid);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%#x", (unsigned)status);
}

/* Processes of this server that remove. */
static unsigned sweepers(void)
{
    DIR *const processes = opendir("/proc");
    const struct dirent *entry;
    char path[300], text[512];
    unsigned count = 0;

    CHECK(processes != NULL, "%s", strerror(errno));
    while ((entry = readdir(processes)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%.200s/stat", entry->d_name);
        FILE *const stat = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re")
                                                                              : NULL;
        int parent = 0;

        if (stat != NULL && fgets(text, sizeof(text), stat) != NULL &&
            strstr(text, "(shmix-sweeper)") != NULL &&
            sscanf(strrchr(text, ')'), ") %*c %d", &parent) == 1) {
            count += parent == getpid();
        }
        if (stat != NULL) {
            fclose(stat);
        }
    }
    closedir(processes);
    return count;
}

static void no_child_is_left(void)
{
    const pid_t pid = waitpid(-1, NULL, __WALL | WNOHANG);

    CHECK(pid == -1 && errno == ECHILD, "%d", (int)pid);
    CHECK(sweepers() == 0, "%u", sweepers());
}

static int case_own(void)
{
    const uid_t me = geteuid();
    const unsigned fds = fault_fd_count(FAULT_SELF);

    begin(me);
    dir("real", me);
    to("real", "link", me);
    file("real/file", me);
    dir("tree", me);
    dir("tree/sub", me);
    file("tree/sub/file", me);
    dir("flat", me);
    dir("flat/sub", me);
    file("flat/file", me);
    dir("top", me);
    dir("top/sub", me);
    file("late", me);
    fault_job_start(JOB, 2);
    const pid_t first = asks(me, JOB, 0, "asks", "flink/file\nrtree\ndflat\nttop");
    const pid_t second = asks(me, JOB, 1, "asks", "rtree\nfnone\nrnone");

    let_die(1, first);
    WAIT_FOR(!there("real/file"), "the file of a rank that is gone");
    CHECK(there("real") && there("link"), "the way to it is gone");
    CHECK(there("tree/sub/file") && there("flat/file") && there("top/sub"),
          "a directory did not wait for the last rank");
    let_die(2, second);
    WAIT_FOR(!there("tree") && !there("flat/file") && !there("top/sub"), "the directories");
    CHECK(there("flat/sub") && there("top"), "more is gone than was named");
    fault_job_end(JOB);

    fault_job_start("late.job", 3);
    const pid_t third = asks(me, "late.job", 2, "asks", "flate");

    fault_server_stop();
    CHECK(!there("late"), "the server's end did not wait for what it has to remove");
    let_die(3, third);
    CHECK(fault_log_lines(FAULT_SELF, "cleanup") == 0, "something is said to be left");
    no_child_is_left();
    CHECK(fault_fd_count(FAULT_SELF) == fds, "%u descriptors, before %u",
          fault_fd_count(FAULT_SELF), fds);
    return 0;
}

/* What one rank wants to stay, the cleanups of another one leave, also those from before. */
static int case_kept(void)
{
    const uid_t me = geteuid();

    begin(me);
    dir("tree", me);
    file("tree/file", me);
    file("tree/named", me);
    dir("tree/sub", me);
    file("tree/sub/file", me);
    file("tree/sub/named", me);
    dir("tree/sub/deep", me);
    file("tree/sub/deep/file", me);
    file("named", me);
    dir("empty", me);
    dir("empty/one", me);
    dir("empty/one/two", me);
    file("empty/file", me);
    fault_job_start(JOB, 2);
    const pid_t first = asks(me, JOB, 0, "asks", "fnamed\nrtree\neempty");
    const pid_t second = asks(me, JOB, 1, "asks", "ktree/sub/deep\nnnamed");

    let_die(1, first);
    let_die(2, second);
    WAIT_FOR(!there("empty/one") && !there("tree/sub/file"), "the directories");
    fault_job_end(JOB);
    fault_server_stop();
    CHECK(!there("tree/file"), "a file is left");
    CHECK(there("named") && there("tree/named") && there("tree/sub/named"),
          "a name has not helped");
    CHECK(there("tree/sub/deep/file"), "a path has not helped");
    CHECK(there("empty/file"), "a file of a directory that is to go if it is empty");
    CHECK(fault_log_lines(FAULT_SELF, "cleanup") == 0, "something is said to be left");
    return 0;
}

/* From here on this process is that user's, but may do as it likes in file systems, as a program
 * may whose file has that capability.  What it starts may not: exec takes it. */
static bool become_capable(uid_t uid)
{
    const uint32_t capability = UINT32_C(1) << CAP_DAC_OVERRIDE;
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct data[2] = {
        { .effective = capability, .permitted = capability },
    };

    return prctl(PR_SET_KEEPCAPS, 1) == 0 && setresgid(uid, uid, uid) == 0 &&
           setresuid(uid, uid, uid) == 0 && syscall(SYS_capset, &header, data) == 0 &&
           prctl(PR_SET_DUMPABLE, 1) == 0;
}

/* What a server of @server (0: root) may and its client may not. */
static int rights(void)
{
    const uid_t server = (uid_t)fault_case->arg;
    static const gid_t group = GROUP;

    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    /* A rank inherits the groups of a server of its own user. */
    CHECK(setgroups(server == USER ? 0 : 1, &group) == 0, "%s", strerror(errno));
    place_make();
    dir("locked", 0);
    file("locked/own", USER);
    dir("hidden", 0);
    dir("hidden/u", USER);
    file("hidden/u/own", USER);
    CHECK(chmod(at("hidden"), 0700) == 0, "%s", strerror(errno));
    dir("grouped", 0);
    file("grouped/own", USER);
    CHECK(chown(at("grouped"), 0, GROUP) == 0 && chmod(at("grouped"), 0775) == 0, "%s",
          strerror(errno));
    dir("shared", 0);
    file("shared/own", USER);
    CHECK(chown(at("shared"), 0, USER) == 0 && chmod(at("shared"), 0775) == 0, "%s",
          strerror(errno));
    dir("u", USER);
    file("u/own", USER);
    file("u/foreign", 0);
    dir("u/sub", 0);
    file("u/sub/own", USER);
    if (server != 0 && !become_capable(server)) {
        return fault_skip("this root may not keep a capability under another uid");
    }
    fault_server_start_for(USER);
    fault_job_start_for(USER, JOB, 1);
    let_die(1, asks(USER, JOB, 0, "asks",
                    "flocked/own\nfhidden/u/own\nfgrouped/own\nfshared/own\nru"));
    WAIT_FOR(!there("u/own") && !there("shared/own"), "what is the user's");
    WAIT_FOR(fault_log_lines(FAULT_SELF, "cleanup for uid 4242: ") == 1, "the server's line");
    CHECK(there("locked/own"), "removed from a directory that the user may not write");
    CHECK(there("hidden/u/own"), "reached through a directory that the user may not enter");
    CHECK(there("grouped/own"), "removed with the rights of a group of the server's");
    CHECK(there("u/foreign") && there("u/sub/own"), "what is another user's is gone");
    fault_job_end(JOB);
    fault_server_stop();
    no_child_is_left();
    return 0;
}

/* Where the kernel takes nothing from a process that changes its user. */
static int case_rights_kept(void)
{
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0) {
        return fault_skip("only root can keep what goes with the uid 0");
    }
    return rights();
}

static struct stat roots_victim;

/* Whether it is there, and still the same. */
static bool victim_lives(void)
{
    struct stat st;

    return stat(at("roots/victim"), &st) == 0 && st.st_ino == roots_victim.st_ino;
}

/* u/link/victim is the user's and roots/victim is not; u/other leads there. */
static bool victims_make(void)
{
    dir("roots", 0);
    file("roots/victim", 0);
    /* Held, so that no other file gets its number. */
    CHECK(fstat(open(at("roots/victim"), O_RDONLY | O_CLOEXEC), &roots_victim) == 0, "%s",
          strerror(errno));
    dir("u", USER);
    dir("u/link", USER);
    file("u/link/victim", USER);
    file("u/done", USER);
    to("../roots", "u/other", USER);
    return swap() && swap();
}

static int case_swapped(void)
{
    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    begin(USER);
    if (!victims_make()) {
        return fault_skip("this file system exchanges no names: %s", strerror(errno));
    }
    fault_job_start_for(USER, JOB, 1);
    const pid_t pid = asks(USER, JOB, 0, "spells", "");

    atomic_store(&fault_shared->round[SWAPS], 0);
    armed = true;
    let_die(1, pid);
    WAIT_FOR(access(at("u/done"), F_OK) != 0, "the end of the removals");
    armed = false;
    CHECK(atomic_load(&fault_shared->round[SWAPS]) >= SPELLINGS / 4, "%u swaps",
          atomic_load(&fault_shared->round[SWAPS]));
    CHECK(victim_lives(), "root's file is gone");
    fault_job_end(JOB);
    fault_server_stop();
    return 0;
}

static int case_raced(void)
{
    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    begin(USER);
    if (!victims_make()) {
        return fault_skip("this file system exchanges no names: %s", strerror(errno));
    }
    fault_job_start_for(USER, JOB, 1);
    const pid_t racer = fault_start_as(USER, NULL, 0, "swaps", "");
    const pid_t pid = asks(USER, JOB, 0, "spells", "");

    WAIT_FOR(atomic_load(&fault_shared->round[SWAPS]) >= SWAPS_MIN, "a racer that runs");
    let_die(1, pid);
    WAIT_FOR(!there("u/done"), "the end of the removals");
    kill(racer, SIGKILL);
    (void)fault_wait(racer);
    CHECK(victim_lives(), "root's file is gone");
    fault_job_end(JOB);
    fault_server_stop();
    return 0;
}

/* A file system that answers nothing, at @name.  Return: the descriptor that keeps it so; -1. */
static int hang_mount(const char *name)
{
    char options[128];
    const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other",
             fd, USER, USER);
    if (fd >= 0 && mount("hangs", at(name), "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Mounts from now on are this process's own.  Return: 0, or FAULT_SKIP. */
static int need_mounts(void)
{
    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        return fault_skip("no right to mount");
    }
    return 0;
}

static int case_hangs(void)
{
    if (need_mounts() != 0) {
        return FAULT_SKIP;
    }
    begin(USER);
    dir("u", USER);
    dir("u/hangs", USER);
    file("u/done", USER);
    file("u/after", USER);
    file("other", OTHER);
    fault_good_start();
    fault_job_start_for(USER, JOB, 1);
    const pid_t pid = asks(USER, JOB, 0, "asks",
                           "fu/done\nfu/hangs/file\nfu/hangs/second\nfu/after");
    const int fuse = hang_mount("u/hangs");

    if (fuse < 0) {
        return fault_skip("no FUSE here: %s", strerror(errno));
    }
    let_die(1, pid);
    WAIT_FOR(!there("u/done") && !there("u/after"), "what lies in no file system that hangs");
    CHECK(sweepers() == 2, "%u processes, not the one that hangs and another one", sweepers());
    fault_good_wait(20);
    /* The host changes its user in all its threads, as Slurm's step daemon does. */
    CHECK(seteuid(OTHER) == 0 && seteuid(0) == 0, "%s", strerror(errno));
    fault_good_wait(20);
    fault_job_end(JOB);
    fault_good_stop();
    CHECK(sweepers() >= 1, "it does not hang any more");
    fault_server_stop();
    CHECK(sweepers() == 0, "%u are left", sweepers());
    CHECK(fault_log_lines(FAULT_SELF, "u/hangs/file' is left, with 1 more in '") == 1, "not told");
    CHECK(fault_log_lines(FAULT_SELF, "cleanup") == 1, "and nothing else is left");
    close(fuse);
    no_child_is_left();
    return 0;
}

/* One more than there are processes to spare: the last is named too, and keeps what follows it. */
static int case_hangs_often(void)
{
    static const char *const names[] = { "u/h1", "u/h2", "u/h3", "u/h4", "u/h5" };
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    int fuses[COUNT];

    if (need_mounts() != 0) {
        return FAULT_SKIP;
    }
    begin(USER);
    dir("u", USER);
    for (int i = 0; i < COUNT; i++) {
        dir(names[i], USER);
    }
    file("u/after", USER);
    fault_job_start_for(USER, JOB, 1);
    const pid_t pid = asks(USER, JOB, 0, "asks",
                           "fu/h1/file\nfu/h2/file\nfu/h3/file\nfu/h4/file\nfu/h5/file\nfu/after");

    for (int i = 0; i < COUNT; i++) {
        fuses[i] = hang_mount(names[i]);
        if (fuses[i] < 0) {
            return fault_skip("no FUSE here: %s", strerror(errno));
        }
    }
    let_die(1, pid);
    WAIT_FOR(sweepers() == COUNT, "a process for each file system that hangs");
    fault_job_end(JOB);
    fault_server_stop();
    CHECK(there("u/after"), "what follows the last");
    CHECK(fault_log_lines(FAULT_SELF, "/file' is left, with 0 more in '") == COUNT - 1, "not told");
    CHECK(fault_log_lines(FAULT_SELF, ", and is at '") == 1 &&
              fault_log_lines(FAULT_SELF, "u/h5/file': the rest is left") == 1,
          "the last is not named");
    CHECK(fault_log_lines(FAULT_SELF, "2 paths are left: the server ends") == 1, "not counted");
    for (int i = 0; i < COUNT; i++) {
        close(fuses[i]);
    }
    no_child_is_left();
    return 0;
}

/* ---- bounds -------------------------------------------------------------------------------- */

#define PATHS_MAX 256u
#define BYTES_MAX 65536u
#define FILES_MORE 3u /* asked for and refused */

/* Asks for files n0, n1 ... until it may not. */
static int role_many(const char *arg)
{
    char paths[2 * PATH_MAX], *all = NULL;
    size_t size;
    FILE *const out = open_memstream(&all, &size);

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    for (unsigned i = 0; i + 1 < PATHS_MAX; i++) {
        snprintf(paths, sizeof(paths), "%s/n%u", fault_shared->tmpdir, i);
        CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, paths, false, false), PMIX_SUCCESS);
        fprintf(out, "%s,", paths);
    }
    snprintf(paths, sizeof(paths), "%s/n%u,%s/n%u", fault_shared->tmpdir, PATHS_MAX,
             fault_shared->tmpdir, PATHS_MAX + 1);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, paths, false, false), PMIX_ERR_OUT_OF_RESOURCE);
    snprintf(paths, sizeof(paths), "%s/n%u", fault_shared->tmpdir, PATHS_MAX - 1);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, paths, false, false), PMIX_SUCCESS);
    fclose(out);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, all, false, false), PMIX_SUCCESS); /* known */
    snprintf(paths, sizeof(paths), "%s/n%u", fault_shared->tmpdir, PATHS_MAX + 2);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, paths, false, false), PMIX_ERR_OUT_OF_RESOURCE);
    free(all);
    die();
}

/* Asks for long paths until they are too many bytes. */
static int role_long(const char *arg)
{
    char path[PATH_MAX];
    unsigned count = 0;
    pmix_status_t rc;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    memset(path, 'x', sizeof(path));
    path[1023] = '\0';
    do {
        snprintf(path, 16, "/%08u", count);
        path[9] = 'x';
        rc = ask(PMIX_REGISTER_CLEANUP_DIR, path, true, false);
        count += rc == PMIX_SUCCESS;
    } while (rc == PMIX_SUCCESS);
    CHECK_STATUS(rc, PMIX_ERR_OUT_OF_RESOURCE);
    CHECK(count == BYTES_MAX / 1024, "%u", count);
    die();
}

/* What its own library refuses, each with a line. */
static int role_wrong(const char *arg)
{
    static char many[8 * (PATHS_MAX + 1) + 1], longest[PATH_MAX + 2];

    for (unsigned i = 0; i <= PATHS_MAX; i++) {
        snprintf(many + 8 * i, 9, "/n%05u,", i);
    }
    memset(longest, 'x', PATH_MAX + 1);
    longest[0] = '/';
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, many, false, false), PMIX_ERR_OUT_OF_RESOURCE);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP, "/a,b", false, false), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP_DIR, "/a/..", true, false), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(ask(PMIX_REGISTER_CLEANUP_DIR, longest, true, false), PMIX_ERR_BAD_PARAM);
    die();
}

static int case_bounds(void)
{
    char name[16];

    begin(geteuid());
    for (unsigned i = 0; i < PATHS_MAX + FILES_MORE; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        file(name, geteuid());
    }
    fault_job_start(JOB, 3);
    const pid_t many = asks(geteuid(), JOB, 0, "many", "");
    const pid_t longs = asks(geteuid(), JOB, 1, "long", "");
    const pid_t wrong = asks(geteuid(), JOB, 2, "wrong", "");

    CHECK(fault_log_lines(FAULT_SELF, "256 paths, 65536 bytes in all") == 2, "not once a rank");
    CHECK(fault_log_lines(wrong, "256 paths of 65536 bytes") == 1, "not told");
    CHECK(fault_log_lines(wrong, "begin it with '/'") == 1, "not told");
    CHECK(fault_log_lines(wrong, "cannot be removed") == 1, "not told");
    CHECK(fault_log_lines(wrong, "longer than a path") == 1, "not told");
    let_die(1, many);
    WAIT_FOR(fault_dir_count(fault_shared->tmpdir, "n") == FILES_MORE, "the files");
    for (unsigned i = 0; i < FILES_MORE; i++) {
        snprintf(name, sizeof(name), "n%u", PATHS_MAX + i);
        CHECK(there(name), "%s was refused and is gone", name);
    }
    let_die(2, longs);
    let_die(3, wrong);
    fault_job_end(JOB);
    fault_server_stop();
    return 0;
}

/* Registers "early" and "tree" for rank 1, and "late" when that one has finalized. */
static int role_gives(const char *arg)
{
    pmix_proc_t target;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&target, self.nspace, 1);
    CHECK_STATUS(ask_for(&target, PMIX_REGISTER_CLEANUP, at("early"), false, false), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[2], 1);
    WAIT_FOR(atomic_load(&fault_shared->state[2]) == 2, "the other's end of PMIx");
    CHECK_STATUS(ask_for(&target, PMIX_REGISTER_CLEANUP, at("late"), false, false), PMIX_SUCCESS);
    CHECK_STATUS(ask_for(&target, PMIX_REGISTER_CLEANUP_DIR, at("tree"), true, false),
                 PMIX_SUCCESS);
    atomic_store(&fault_shared->state[2], 3);
    WAIT_FOR(atomic_load(&fault_shared->state[2]) == 4, "the other's exit");
    CHECK_STATUS(ask_for(&target, PMIX_REGISTER_CLEANUP, at("late"), false, false),
                 PMIX_ERR_NOT_FOUND);
    die();
}

/* Lives on without PMIx until the host says so. */
static int role_lives(const char *arg)
{
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&fault_shared->state[2]) == 1, "the other's request");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[1], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) > 1, "the host's word");
    return 0;
}

/* The files of a rank are its own, no matter who has named them.  Those that are named while it is
 * without PMIx are removed when its process has exited. */
static int case_others(void)
{
    const uid_t me = geteuid();

    begin(me);
    file("early", me);
    file("late", me);
    dir("tree", me);
    fault_job_start(JOB, 2);
    const pid_t lives = fault_start_as(me, JOB, 1, "lives", "");
    const pid_t gives = fault_start_as(me, JOB, 0, "gives", "");

    WAIT_FOR(atomic_load(&fault_shared->state[1]) == 1, "the end of PMIx in rank 1");
    WAIT_FOR(!there("early"), "the file that was named before it");
    atomic_store(&fault_shared->state[2], 2);
    WAIT_FOR(atomic_load(&fault_shared->state[2]) == 3, "the later requests");
    CHECK(there("late") && there("tree"), "rank 1 lives");
    atomic_store(&fault_shared->go, 2);
    CHECK(fault_wait(lives) == 0, "rank 1 has failed");
    WAIT_FOR(!there("late"), "the file that was named later");
    CHECK(there("tree"), "the job is not over");
    atomic_store(&fault_shared->state[2], 4);
    let_die(2, gives);
    WAIT_FOR(!there("tree"), "the directory");
    fault_job_end(JOB);
    fault_server_stop();
    CHECK(fault_log_lines(FAULT_SELF, "cleanup") == 0, "something is said to be left");
    return 0;
}

static const struct fault_case cases[] = {
    { "own", case_own },
    { "kept", case_kept },
    { "others", case_others },
    { "rights", rights, 0 },
    { "rights_of_its_user", rights, USER },
    { "rights_kept", case_rights_kept },
    { "swapped", case_swapped },
    { "raced", case_raced },
    { "hangs", case_hangs },
    { "hangs_often", case_hangs_often },
    { "bounds", case_bounds },
};

static const struct fault_role roles[] = {
    { "asks", role_asks },   { "spells", role_spells }, { "swaps", role_swaps },
    { "gives", role_gives }, { "lives", role_lives },   { "many", role_many },
    { "long", role_long },   { "wrong", role_wrong },
};

FAULT_MAIN(cases, roles)
