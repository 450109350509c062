/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc.c - a container or a chroot may have an empty /proc: then nothing is found, although jobs
 * may run. */
#include "launch/common/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system/process.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

char *sx_proc_exe(void)
{
    char exe[PATH_MAX] = "";

    if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0) {
        sx_say("cannot read /proc/self/exe (%s): is /proc mounted?", strerror(errno));
        return NULL;
    }
    return sx_cli_strdup(exe);
}

bool sx_proc_stat(pid_t pid, struct sx_proc_stat *ret)
{
    const uint64_t tick_ns = SX_NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
    char path[32], line[1024] = "";
    unsigned long long user, system, start;
    long rss;
    int parent;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        return false;
    }
    const bool read = fgets(line, sizeof(line), file) != NULL;
    const char *const after = strrchr(line, ')'); /* the name before it may contain any character */

    fclose(file);
    if (!read || after == NULL ||
        sscanf(after,
               ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d "
               "%llu %*u %ld",
               &ret->state, &parent, &user, &system, &start, &rss) != 6) {
        return false;
    }
    ret->parent = parent;
    ret->cpu_ns = (user + system) * tick_ns;
    ret->start_ticks = start;
    ret->wait_status = (int)strtol(strrchr(line, ' '), NULL, 10); /* the last field */
    ret->rss_bytes = rss > 0 ? (uint64_t)rss * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    return true;
}

/* The kernel asks for the same right before it resolves the link, which a zombie does not have. */
bool sx_proc_shows_end(pid_t pid)
{
    char path[32], text[8];

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    return readlink(path, text, sizeof(text)) >= 0 || errno == ENOENT;
}

uint64_t sx_proc_age_ns(uint64_t start_ticks)
{
    const uint64_t tick_ns = SX_NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * SX_NS_PER_SEC + (uint64_t)now.tv_nsec;
    const uint64_t start_ns = start_ticks * tick_ns;

    return now_ns > start_ns ? now_ns - start_ns : 0;
}

bool sx_proc_user(pid_t pid, uid_t *ret)
{
    char path[32];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (stat(path, &st) != 0) {
        return false;
    }
    *ret = st.st_uid;
    return true;
}

char sx_proc_state(pid_t pid)
{
    struct sx_proc_stat stat;

    return sx_proc_stat(pid, &stat) ? stat.state : '\0';
}

bool sx_proc_has_ended(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

const char *sx_proc_state_name(pid_t pid)
{
    const char state = pid > 0 ? sx_proc_state(pid) : '\0';

    switch (state) {
    case 'T':
        return "stopped";
    case 't':
        return "held by a debugger";
    case 'Z':
    case 'X':
        return "ended";
    default:
        return pid > 0 && state == '\0' && sx_proc_has_ended(pid) ? "ended" : NULL;
    }
}

bool sx_proc_has_made(pid_t pid, const struct sx_segment *seg)
{
    return (pid_t)sx_segment_header(seg)->creator_pid == pid;
}

bool sx_proc_check(void)
{
    char *const exe = sx_proc_exe();
    const bool there = exe != NULL;

    free(exe);
    return there;
}

#define ENVIRON_BYTES_MAX ((size_t)8 << 20) /* more than the kernel allows a program */

/* Read the file @file of @pid in /proc.  Return: malloc'ed bytes with a NUL behind them, or
 * NULL. */
static char *proc_read(pid_t pid, const char *file, size_t max, size_t *ret_size)
{
    size_t used = 0, room = 16384;
    char path[64], *bytes = sx_cli_calloc(room, 1);
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used < max && (got = read(fd, bytes + used, room - 1 - used)) > 0) {
        used += (size_t)got;
        if (used == room - 1) {
            room *= 2;
            bytes = sx_cli_realloc(bytes, room, 1);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    bytes[used] = '\0';
    *ret_size = used;
    return bytes;
}

bool sx_proc_has_variable(pid_t pid, const char *name, const char *value, bool or_more,
                          bool *ret_known)
{
    char *const wanted = sx_cli_printf("%s=%s", name, value);
    const size_t len = strlen(wanted);
    size_t size;
    char *const words = proc_read(pid, "environ", ENVIRON_BYTES_MAX, &size);
    bool has = false;

    for (const char *at = words; at < words + size && !has; at += strlen(at) + 1) {
        has = strncmp(at, wanted, len) == 0 && (at[len] == '\0' || (or_more && at[len] == '.'));
    }
    *ret_known = size > 0;
    free(words);
    free(wanted);
    return has;
}

char *sx_proc_command(pid_t pid)
{
    size_t size;
    char *const words = proc_read(pid, "cmdline", 4096, &size);

    while (size > 0 && words[size - 1] == '\0') {
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        words[i] = words[i] == '\0' ? ' ' : words[i];
    }
    if (size == 0) {
        free(words);
        return NULL;
    }
    return words;
}

char *sx_proc_library(pid_t pid)
{
    char path[32], line[PATH_MAX + 128];
    unsigned major, minor;
    uint64_t inode;
    char *found = NULL;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *const file = fopen(path, "re");

    while (file != NULL && found == NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *const at = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (at != NULL && strstr(at, "/libpmix.so") != NULL &&
            sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major, &minor, &inode) == 3) {
            found = sx_cli_printf("%02x:%02x %" PRIu64 " %s", major, minor, inode, at);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

bool sx_proc_rank(pid_t pid, char ret_nspace[SX_SEGMENT_NSPACE_BYTES], uint32_t *ret_rank)
{
    static const char nspace[] = "PMIX_NAMESPACE=", rank[] = "PMIX_RANK=";
    size_t size;
    char *const words = proc_read(pid, "environ", ENVIRON_BYTES_MAX, &size);
    bool has_nspace = false, has_rank = false;
    int64_t number = 0;

    for (const char *at = words; at < words + size; at += strlen(at) + 1) {
        if (strncmp(at, nspace, sizeof(nspace) - 1) == 0) {
            snprintf(ret_nspace, SX_SEGMENT_NSPACE_BYTES, "%s", at + sizeof(nspace) - 1);
            has_nspace = true;
        } else if (strncmp(at, rank, sizeof(rank) - 1) == 0) {
            has_rank = sx_cli_number(at + sizeof(rank) - 1, 0, PMIX_RANK_VALID, &number);
        }
    }
    free(words);
    *ret_rank = (uint32_t)number;
    return has_nspace && has_rank;
}

/* Call @each for the children that the thread @task of @pid has made. */
static void task_children_each(pid_t pid, const char *task, void (*each)(void *arg, pid_t child),
                               void *arg)
{
    char *const path = sx_cli_printf("/proc/%d/task/%s/children", (int)pid, task);
    FILE *const file = fopen(path, "re");
    int child;

    while (file != NULL && fscanf(file, "%d", &child) == 1) {
        each(arg, child);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(path);
}

void sx_proc_children_each(pid_t pid, void (*each)(void *arg, pid_t child), void *arg)
{
    char path[32];
    const struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *const dir = opendir(path);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            task_children_each(pid, entry->d_name, each, arg);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

pid_t sx_proc_launcher(pid_t pid)
{
    static const char name[] = "/memfd:" SX_PROC_LAUNCHER;
    char path[32], link[64];
    const struct dirent *entry;
    pid_t launcher = pid;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *const dir = opendir(path);

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

        link[len > 0 ? len : 0] = '\0';
        if (strncmp(link, name, sizeof(name) - 1) == 0) {
            launcher = (pid_t)strtol(link + sizeof(name) - 1, NULL, 10);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return launcher > 0 ? launcher : pid;
}

pid_t sx_proc_tracer(pid_t pid)
{
    static const char field[] = "TracerPid:";
    size_t size;
    char *const lines = proc_read(pid, "status", 16384, &size);
    const char *const at = strstr(lines, field);
    const pid_t tracer = at == NULL ? 0 : (pid_t)strtol(at + sizeof(field) - 1, NULL, 10);

    free(lines);
    return tracer;
}

bool sx_proc_is_named(pid_t pid, const char *name)
{
    size_t size;
    char *const line = proc_read(pid, "comm", 64, &size);
    const size_t len = strlen(name);
    const bool is = strncmp(line, name, len) == 0 && strcmp(line + len, "\n") == 0;

    free(line);
    return is;
}

bool sx_proc_is_janitor(pid_t pid)
{
    return sx_proc_is_named(pid, SX_PROC_JANITOR);
}

/* The function of the kernel in which the thread @tid waits; "" for none. */
static void where_read(pid_t tid, char ret_where[64])
{
    char path[32];
    ssize_t got = -1;

    snprintf(path, sizeof(path), "/proc/%d/wchan", (int)tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        got = read(fd, ret_where, 63);
        close(fd);
    }
    ret_where[got > 0 ? got : 0] = '\0';
    if (strcmp(ret_where, "0") == 0) {
        ret_where[0] = '\0';
    }
}

/* Return: how much a thread in state @state says about a process that does not end. */
static int weight_of(char state)
{
    return state == '\0'                  ? 0
           : state == 'Z' || state == 'X' ? 1
           : state == 'R'                 ? 2
           : state == 'D'                 ? 4
                                          : 3;
}

bool sx_proc_works(pid_t pid, struct sx_proc_hang *ret_hang)
{
    bool works = false;
    char path[32];
    pid_t of = 0;

    *ret_hang = (struct sx_proc_hang){ .state = '\0' };
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *const tasks = opendir(path);

    for (const struct dirent *it; tasks != NULL && (it = readdir(tasks)) != NULL;) {
        const pid_t tid = (pid_t)strtol(it->d_name, NULL, 10);
        const char state = tid > 0 ? sx_proc_state(tid) : '\0'; /* /proc has threads, too */

        works = works || state == 'R';
        if (weight_of(state) > weight_of(ret_hang->state)) {
            ret_hang->state = state;
            of = tid;
        }
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    if (of > 0) {
        where_read(of, ret_hang->where);
    }
    return works || ret_hang->state == 'Z' || ret_hang->state == 'X';
}

bool sx_proc_is_exiting(pid_t pid)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    const bool exiting = sx_process_is_exiting(pidfd);

    if (pidfd >= 0) {
        close(pidfd);
    }
    return exiting;
}

bool sx_proc_reap(pid_t pid, uint64_t limit_ns)
{
    const uint64_t until_ns = sx_deadline_ns(sx_now_ns(), limit_ns);
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = { .fd = pidfd, .events = POLLIN };
    uint64_t now_ns = sx_now_ns();
    pid_t reaped;

    while ((reaped = waitpid(pid, NULL, WNOHANG)) == 0 && now_ns < until_ns) {
        const uint64_t left_ms = (until_ns - now_ns) / SX_NS_PER_MS + 1;

        if (poll(&end, 1, end.fd < 0 ? 1 : (int)left_ms) > 0) {
            end.fd = -1; /* reaped, unless a tracer has it: each millisecond, as without a pidfd */
        }
        now_ns = sx_now_ns();
    }
    if (pidfd >= 0) {
        close(pidfd);
    }
    return reaped != 0;
}

bool sx_proc_kill(pid_t pid, uint64_t limit_ns)
{
    kill(pid, SIGKILL);
    return sx_proc_reap(pid, limit_ns);
}
