/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* carry.c - every value is a text, so the two sides compare the kernel's own words.  A value that
 * the kernel does not have is empty, on both sides. */
#include "launch/serve/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/say.h"

#define STATUS_BYTES 8192
#define FILE_BYTES 4096
#define NODES 1024 /* of memory */
#define SPECULATION_L1D 2
#define MDWE_GET 66
#define MERGE_GET 68

struct row {
    const char *name;                                         /* in messages */
    char *(*read)(const struct row *row, const char *status); /* malloc'ed */
    const char *from;                                         /* a file, or a line of "status" */
    bool (*take)(const struct row *row, const char *text);    /* NULL: it cannot be taken over */
    int number;                                               /* of a prctl */
    bool of_session; /* another login of the same user has another one */
};

/* ---- kinds ----------------------------------------------------------------------------------- */

static char *line_read(const struct row *row, const char *status)
{
    const size_t len = strlen(row->from);

    for (const char *at = status; at != NULL && *at != '\0'; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, row->from, len) == 0 && at[len] == ':') {
            return sx_cli_printf("%.*s", (int)strcspn(at + len + 1, "\n"), at + len + 1);
        }
    }
    return sx_cli_strdup("");
}

static char *text_of_file(const char *path, size_t room)
{
    char *const text = sx_cli_calloc(1, room);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, room - 1);

    text[got > 0 ? got : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

static char *file_read(const struct row *row, const char *status)
{
    (void)status;
    return text_of_file(row->from, FILE_BYTES);
}

static bool file_take(const struct row *row, const char *text)
{
    const int fd = open(row->from, O_WRONLY | O_CLOEXEC);
    const bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0) {
        close(fd);
    }
    return good;
}

/* The kernel prints the filter of core files as it does not read it: without 0x. */
static bool filter_take(const struct row *row, const char *text)
{
    char *const value = sx_cli_printf("0x%s", text);
    const bool good = file_take(row, value);

    free(value);
    return good;
}

static char *link_read(const struct row *row, const char *status)
{
    char text[128];
    const ssize_t len = readlink(row->from, text, sizeof(text) - 1);

    (void)status;
    text[len > 0 ? len : 0] = '\0';
    return sx_cli_strdup(text);
}

static char *number_text(long value)
{
    return value < 0 ? sx_cli_strdup("") : sx_cli_printf("%ld", value);
}

static char *prctl_read(const struct row *row, const char *status)
{
    unsigned value = 0;

    (void)status;
    if (row->number == PR_GET_TSC) {
        return number_text(prctl(PR_GET_TSC, &value) != 0 ? -1 : (long)value);
    }
    return number_text(prctl(row->number, 0, 0, 0, 0));
}

static bool slack_take(const struct row *row, const char *text)
{
    (void)row;
    return prctl(PR_SET_TIMERSLACK, strtoul(text, NULL, 10), 0, 0, 0) == 0;
}

static char *l1d_read(const struct row *row, const char *status)
{
    (void)row;
    (void)status;
    return number_text(prctl(PR_GET_SPECULATION_CTRL, SPECULATION_L1D, 0, 0, 0));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static char *umask_read(const struct row *row, const char *status)
{
    const mode_t mask = umask(077);

    (void)row;
    (void)status;
    umask(mask);
    return number_text(mask);
}

static bool umask_take(const struct row *row, const char *text)
{
    (void)row;
    umask((mode_t)strtoul(text, NULL, 10));
    return true;
}

static char *root_read(const struct row *row, const char *status)
{
    struct stat st = { .st_ino = 0 };

    (void)row;
    (void)status;
    (void)stat("/", &st);
    return sx_cli_printf("%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
}

static char *personality_read(const struct row *row, const char *status)
{
    (void)row;
    (void)status;
    return number_text(personality(0xffffffff));
}

static bool personality_take(const struct row *row, const char *text)
{
    (void)row;
    return personality(strtoul(text, NULL, 10)) >= 0;
}

/* A policy of the kernel's scheduler, with the priority (nice) of the usual one, as the kernel lays
 * it out. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static char *scheduling_read(const struct row *row, const char *status)
{
    struct scheduling its = { .size = 0 };

    (void)row;
    (void)status;
    if (syscall(SYS_sched_getattr, 0, &its, (unsigned)sizeof(its), 0u) != 0) {
        return sx_cli_strdup("");
    }
    return sx_cli_printf("%u %llu %d %u %llu %llu %llu", its.policy, (unsigned long long)its.flags,
                         its.nice, its.priority, (unsigned long long)its.runtime,
                         (unsigned long long)its.deadline, (unsigned long long)its.period);
}

static bool scheduling_take(const struct row *row, const char *text)
{
    unsigned long long flags, runtime, deadline, period;
    struct scheduling its = { .size = sizeof(its) };

    (void)row;
    if (sscanf(text, "%u %llu %d %u %llu %llu %llu", &its.policy, &flags, &its.nice, &its.priority,
               &runtime, &deadline, &period) != 7) {
        return false;
    }
    its.flags = flags;
    its.runtime = runtime;
    its.deadline = deadline;
    its.period = period;
    return syscall(SYS_sched_setattr, 0, &its, 0u) == 0;
}

#define OF_PROCESS 1 /* IOPRIO_WHO_PROCESS */

static char *ioprio_read(const struct row *row, const char *status)
{
    (void)row;
    (void)status;
    return number_text(syscall(SYS_ioprio_get, OF_PROCESS, 0));
}

static bool ioprio_take(const struct row *row, const char *text)
{
    (void)row;
    return syscall(SYS_ioprio_set, OF_PROCESS, 0, (int)strtol(text, NULL, 10)) == 0;
}

#define MASK_WORDS (NODES / (8 * sizeof(unsigned long)))

static char *memory_read(const struct row *row, const char *status)
{
    unsigned long mask[MASK_WORDS] = { 0 };
    char text[32 + 17 * MASK_WORDS];
    int mode = 0, at;

    (void)row;
    (void)status;
    if (syscall(SYS_get_mempolicy, &mode, mask, (unsigned long)NODES, NULL, 0UL) != 0) {
        return sx_cli_strdup("");
    }
    at = snprintf(text, sizeof(text), "%d", mode);
    for (size_t i = 0; i < MASK_WORDS; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, " %lx", mask[i]);
    }
    return sx_cli_strdup(text);
}

static bool memory_take(const struct row *row, const char *text)
{
    unsigned long mask[MASK_WORDS] = { 0 };
    char *at;
    const int mode = (int)strtol(text, &at, 10);
    bool any = false;

    (void)row;
    for (size_t i = 0; i < MASK_WORDS; i++) {
        mask[i] = strtoul(at, &at, 16);
        any = any || mask[i] != 0;
    }
    return syscall(SYS_set_mempolicy, mode, any ? mask : NULL, any ? (unsigned long)NODES : 0UL) ==
           0;
}

static char *keyring_read(const struct row *row, const char *status)
{
    (void)row;
    (void)status;
    return number_text(
        syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0, 0, 0));
}

/* The limits, "soft hard" one after the other. */
static char *limits_read(const struct row *row, const char *status)
{
    char text[RLIM_NLIMITS * 42 + 1];
    size_t at = 0;

    (void)row;
    (void)status;
    text[0] = '\0';
    for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit limit = { 0, 0 };

        (void)getrlimit((__rlimit_resource_t)i, &limit);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%llu %llu ",
                               (unsigned long long)limit.rlim_cur,
                               (unsigned long long)limit.rlim_max);
    }
    return sx_cli_strdup(text);
}

static bool limits_take(const struct row *row, const char *text)
{
    (void)row;
    for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit limit, now;
        char *end;

        limit.rlim_cur = strtoull(text, &end, 10);
        limit.rlim_max = strtoull(end, &end, 10);
        text = end;
        if (getrlimit((__rlimit_resource_t)i, &now) == 0 &&
            (now.rlim_cur != limit.rlim_cur || now.rlim_max != limit.rlim_max) &&
            setrlimit((__rlimit_resource_t)i, &limit) != 0) {
            return false;
        }
    }
    return true;
}

/* Each signal has a bit, the first one the lowest.  The C library keeps two for itself, which have
 * no effect here. */
static bool ignored_take(const struct row *row, const char *text)
{
    const uint64_t bits = strtoull(text, NULL, 16);

    (void)row;
    for (int number = 1; number < NSIG; number++) {
        const bool is_own = number >= __SIGRTMIN && number < SIGRTMIN;

        if (number != SIGKILL && number != SIGSTOP && !is_own &&
            signal(number, (bits >> (number - 1) & 1) != 0 ? SIG_IGN : SIG_DFL) == SIG_ERR) {
            return false;
        }
    }
    return true;
}

/* The launcher blocks what it handles, and its ranks begin with none blocked. */
static bool blocked_take(const struct row *row, const char *text)
{
    (void)row;
    (void)text;
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define LINE(name, line)                      \
    {                                         \
        name, line_read, line, NULL, 0, false \
    }
#define NAMESPACE(name)                                                              \
    {                                                                                \
        "its namespace (" name ")", link_read, "/proc/self/ns/" name, NULL, 0, false \
    }
#define PRCTL(name, number)                         \
    {                                               \
        name, prctl_read, NULL, NULL, number, false \
    }

static const struct row rows[] = {
    LINE("its user", "Uid"),
    LINE("its group", "Gid"),
    LINE("its groups", "Groups"),
    LINE("its capabilities", "CapInh"),
    LINE("its capabilities", "CapPrm"),
    LINE("its capabilities", "CapEff"),
    LINE("its capabilities", "CapBnd"),
    LINE("its capabilities", "CapAmb"),
    LINE("no_new_privs", "NoNewPrivs"),
    LINE("its filter of system calls", "Seccomp"),
    LINE("its filters of system calls", "Seccomp_filters"),
    LINE("its control of speculation", "Speculation_Store_Bypass"),
    LINE("its control of speculation", "SpeculationIndirectBranch"),
    LINE("the CPUs it may use", "Cpus_allowed"),
    LINE("the memory nodes it may use", "Mems_allowed"),
    LINE("its huge pages", "THP_enabled"),
    { "the CPUs of the machine", file_read, "/sys/devices/system/cpu/online", NULL, 0, false },
    { "the memory of the machine", file_read, "/sys/devices/system/node/online", NULL, 0, false },
    { "its ignored signals", line_read, "SigIgn", ignored_take, 0, false },
    { "its blocked signals", line_read, "SigBlk", blocked_take, 0, false },
    { "its root folder", root_read, NULL, NULL, 0, false },
    NAMESPACE("cgroup"),
    NAMESPACE("ipc"),
    NAMESPACE("mnt"),
    NAMESPACE("net"),
    NAMESPACE("pid"),
    NAMESPACE("pid_for_children"),
    NAMESPACE("time"),
    NAMESPACE("time_for_children"),
    NAMESPACE("user"),
    NAMESPACE("uts"),
    { "its control group", file_read, "/proc/self/cgroup", NULL, 0, true },
    { "its security label", file_read, "/proc/self/attr/current", NULL, 0, false },
    { "its login", file_read, "/proc/self/loginuid", NULL, 0, true },
    { "its login", file_read, "/proc/self/sessionid", NULL, 0, true },
    { "its session keyring", keyring_read, NULL, NULL, 0, true },
    { "its oom_score_adj", file_read, "/proc/self/oom_score_adj", file_take, 0, false },
    { "its coredump_filter", file_read, "/proc/self/coredump_filter", filter_take, 0, false },
    { "its umask", umask_read, NULL, umask_take, 0, false },
    { "its personality", personality_read, NULL, personality_take, 0, false },
    { "its scheduling (nice)", scheduling_read, NULL, scheduling_take, 0, false },
    { "its ionice", ioprio_read, NULL, ioprio_take, 0, false },
    { "its memory policy", memory_read, NULL, memory_take, 0, false },
    { "its timer slack", prctl_read, NULL, slack_take, PR_GET_TIMERSLACK, false },
    PRCTL("its securebits", PR_GET_SECUREBITS),
    PRCTL("its policy for bad memory", PR_MCE_KILL_GET),
    PRCTL("its access to the cycle counter", PR_GET_TSC),
    PRCTL("its flags for file systems", PR_GET_IO_FLUSHER),
    PRCTL("its writable code", MDWE_GET),
    PRCTL("its merging of memory", MERGE_GET),
    { "its control of speculation", l1d_read, NULL, NULL, 0, false },
    { "its limits of resources", limits_read, NULL, limits_take, 0, false }, /* the last one */
};

size_t sx_carry_count(void)
{
    return SX_COUNT(rows);
}

char **sx_carry_read(void)
{
    char *const status = text_of_file("/proc/self/status", STATUS_BYTES);
    char **const texts = sx_cli_calloc(SX_COUNT(rows) + 1, sizeof(*texts));

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        texts[i] = rows[i].read(&rows[i], status);
    }
    free(status);
    return texts;
}

void sx_carry_free(char **texts)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        free(texts[i]);
    }
    free(texts);
}

const char *sx_carry_differs(char *const *theirs, char *const *ours, bool any_session)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strcmp(theirs[i], ours[i]) != 0 && rows[i].take == NULL &&
            !(any_session && rows[i].of_session)) {
            return rows[i].name;
        }
    }
    return NULL;
}

const char *sx_carry_take(char *const *theirs, char *const *ours)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strcmp(theirs[i], ours[i]) != 0 && rows[i].take != NULL &&
            !rows[i].take(&rows[i], theirs[i])) {
            return rows[i].name;
        }
    }
    return NULL;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Names, or beginnings of names. */
static const char *const variables[] = { "SHMIX_",      "HWLOC_",    "TMPDIR=",        "MALLOC_",
                                         "LD_PRELOAD=", "LD_AUDIT=", "GLIBC_TUNABLES=" };

static bool is_ours(const char *variable)
{
    for (size_t i = 0; i < SX_COUNT(variables); i++) {
        if (strncmp(variable, variables[i], strlen(variables[i])) == 0) {
            return strncmp(variable, "SHMIX_SERVER=", strlen("SHMIX_SERVER=")) != 0;
        }
    }
    return false;
}

static const char *missing(char *const *from, char *const *in)
{
    for (; *from != NULL; from++) {
        size_t i = 0;

        while (is_ours(*from) && in[i] != NULL && strcmp(in[i], *from) != 0) {
            i++;
        }
        if (is_ours(*from) && in[i] == NULL) {
            return *from;
        }
    }
    return NULL;
}

const char *sx_carry_variable(char *const *theirs, char *const *ours)
{
    const char *const it = missing(theirs, ours);

    return it != NULL ? it : missing(ours, theirs);
}
