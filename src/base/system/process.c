/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process.c - facts about a process from /proc: its start, and of every thread its state and the
 * flag that do_exit sets first.
 *
 * The pidfd is the authority: it shows that a process has gone, and its number in /proc.  A pid of
 * this process's namespace may be another process's there, or no one's.  A container may have a pid
 * namespace of its own and the /proc of its parent. */
#include "base/system/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DETACHED_STACK_BYTES (64u << 10)

#define SX_THREAD_EXITING 0x4u /* PF_EXITING in field 9 of /proc/PID/stat */

/* A thread by its line in /proc. */
struct thread_look {
    bool exits, gone;
    int threads; /* of its process, which the kernel still counts */
    int code;    /* with which its process ends, or is stopped; 0: none, or not shown to us */
};

/* Return: false when the kernel does not show the thread. */
static bool thread_parse(const char *line, struct thread_look *ret)
{
    const char *after = strrchr(line, ')'); /* the name before it may hold anything */
    char state = 0;
    unsigned flags = 0;

    if (after == NULL ||
        sscanf(after + 1, " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
               &state, &flags, &ret->threads) != 3) {
        return false;
    }
    const char *const last = strrchr(after, ' '); /* field 52 */

    ret->exits = state == 'Z' || state == 'X' || (flags & SX_THREAD_EXITING) != 0;
    ret->code = last != NULL ? (int)strtol(last, NULL, 10) : 0;
    return true;
}

/* Descriptors may be short, which proves nothing. */
static struct thread_look thread_look(const char *stat_path)
{
    struct thread_look look = { .exits = false };
    FILE *file = fopen(stat_path, "re");
    char line[1024];

    if (file == NULL) {
        look.gone = errno == ENOENT || errno == ESRCH;
        return look;
    }
    if (fgets(line, sizeof(line), file) == NULL || !thread_parse(line, &look)) {
        look.exits = true;
    }
    fclose(file);
    return look;
}

/* Return: the number of the process in this /proc; 0 when it is not there. */
static int number_in_proc(int pidfd)
{
    char path[64], line[256];
    int number = 0;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
    FILE *const file = fopen(path, "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "Pid: %d", &number) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return number > 0 ? number : 0;
}

/* Whether the threads that /proc shows are all exiting; if another process has taken the number
 * meanwhile, the former one has gone. */
static bool threads_are_exiting(int number)
{
    char path[300];
    bool exiting = true;
    const struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", number);
    DIR *const threads = opendir(path);

    if (threads == NULL) {
        return false;
    }
    while (exiting && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", number, entry->d_name);
            const struct thread_look look = thread_look(path);

            exiting = look.exits || look.gone;
        }
    }
    closedir(threads);
    return exiting;
}

bool sx_process_is_of(pid_t pid, uid_t uid)
{
    char path[64], line[256];
    unsigned effective = 0;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *const file = fopen(path, "re");

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        found = sscanf(line, "Uid: %*u %u", &effective) == 1;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found && effective == uid;
}

pid_t sx_process_parent(pid_t pid)
{
    char path[64], line[256];
    int parent = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *const file = fopen(path, "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "PPid: %d", &parent) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return parent;
}

bool sx_process_has_gone(int pidfd)
{
    struct pollfd gone = { .fd = pidfd, .events = POLLIN };

    return pidfd >= 0 && poll(&gone, 1, 0) > 0;
}

bool sx_process_has_ended(pid_t pid)
{
    if (kill(pid, 0) != 0 && errno == ESRCH) {
        return true;
    }
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    const bool gone = sx_process_has_gone(pidfd);

    if (pidfd >= 0) {
        close(pidfd);
    }
    return gone;
}

/* Signals stop a process by a code of its own, and no process ends with one of these. */
static bool is_end(int code)
{
    return code != 0 && code != SIGSTOP && code != SIGTSTP && code != SIGTTIN && code != SIGTTOU;
}

/* Return: of process @number in this /proc; it is not 0. */
static enum sx_process_end end_of(int number)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/stat", number);
    const struct thread_look main = thread_look(path);

    if (!main.exits) {
        return SX_PROCESS_LIVES;
    }
    return main.threads <= 1 || is_end(main.code) ? SX_PROCESS_EXITS : SX_PROCESS_MAIN_EXITS;
}

enum sx_process_end sx_process_end(int pidfd)
{
    enum sx_process_end end = SX_PROCESS_LIVES;

    if (pidfd < 0 || sx_process_has_gone(pidfd)) {
        return pidfd >= 0 ? SX_PROCESS_EXITS : SX_PROCESS_LIVES;
    }
    const int number = number_in_proc(pidfd);

    if (number != 0) {
        end = end_of(number);
    }
    /* A process that ended during the search is not found there. */
    return sx_process_has_gone(pidfd) ? SX_PROCESS_EXITS : end;
}

bool sx_process_is_exiting(int pidfd)
{
    const enum sx_process_end end = sx_process_end(pidfd);

    if (end != SX_PROCESS_MAIN_EXITS) {
        return end == SX_PROCESS_EXITS;
    }
    const int number = number_in_proc(pidfd);

    return (number != 0 && threads_are_exiting(number)) || sx_process_has_gone(pidfd);
}

/* The 22nd field of @stat_path. */
static uint64_t start_ticks(const char *stat_path)
{
    char text[1024];
    const int fd = open(stat_path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return 0;
    }
    const ssize_t got = read(fd, text, sizeof(text) - 1);

    close(fd);
    if (got <= 0) {
        return 0;
    }
    text[got] = '\0';
    /* The second field, the command, may hold anything; the last ')' ends it. */
    const char *at = strrchr(text, ')');

    for (int field = 2; at != NULL && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

static uint64_t start_ticks_of(int number)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/stat", number);
    return start_ticks(path);
}

bool sx_process_has_started_at(pid_t pid, uint64_t ticks)
{
    if (start_ticks_of(pid) == ticks) {
        return true;
    }
    /* Under that number /proc may show another process, or none. */
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (pidfd < 0) {
        return errno != ESRCH;
    }
    const int number = number_in_proc(pidfd);
    const uint64_t notified = number != 0 ? start_ticks_of(number) : 0;

    close(pidfd);
    return notified == 0 || notified == ticks;
}

uint64_t sx_process_start_ticks(void)
{
    return start_ticks("/proc/self/stat");
}

void sx_process_nodename(char ret[HOST_NAME_MAX + 1])
{
    if (gethostname(ret, HOST_NAME_MAX + 1) != 0 || ret[0] == '\0') {
        snprintf(ret, HOST_NAME_MAX + 1, "localhost");
    }
    ret[HOST_NAME_MAX] = '\0';
}

/* @stack_bytes 0: as the C library's threads. */
static bool thread_detached(void *(*run)(void *), void *arg, size_t stack_bytes)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;

    if (pthread_attr_init(&attr) != 0) {
        return false;
    }
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (stack_bytes != 0) {
        (void)pthread_attr_setstacksize(&attr, stack_bytes); /* else it is larger */
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the host's signals are the host's */
    const bool is_started = pthread_create(&thread, &attr, run, arg) == 0;

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return is_started;
}

bool sx_thread_detached(void *(*run)(void *), void *arg)
{
    return thread_detached(run, arg, DETACHED_STACK_BYTES);
}

bool sx_thread_detached_for_others(void *(*run)(void *), void *arg)
{
    return thread_detached(run, arg, 0);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Closed by one call where the kernel has it (5.9), else one a number; counted likewise. */

#define SX_DESCRIPTOR_MAX 65536 /* looked at where the limit says more, or nothing */

void sx_descriptors_close_from(int first)
{
    const long limit = sysconf(_SC_OPEN_MAX);
    const int end = limit > 0 && limit < SX_DESCRIPTOR_MAX ? (int)limit : SX_DESCRIPTOR_MAX;

    if (syscall(__NR_close_range, (unsigned)first, ~0u, 0u) == 0) {
        return;
    }
    for (int fd = first; fd < end; fd++) {
        close(fd);
    }
}

/* Linux 6.2 has the count at hand; before that its names are counted, with the one for that. */
static size_t count_used(void)
{
    static const char path[] = "/proc/self/fd";
    struct stat st;
    size_t used = 0;

    if (stat(path, &st) == 0 && st.st_size > 0) {
        return (size_t)st.st_size;
    }
    DIR *const all = opendir(path);

    while (all != NULL && readdir(all) != NULL) {
        used++;
    }
    if (all != NULL) {
        closedir(all);
    }
    return used > 3 ? used - 3 : 0; /* ".", ".." and the directory's own */
}

struct sx_descriptors sx_descriptors_look(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > SIZE_MAX) {
        return (struct sx_descriptors){ .limit = SIZE_MAX };
    }
    return (struct sx_descriptors){ .used = count_used(), .limit = (size_t)limit.rlim_cur };
}
