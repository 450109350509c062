/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* node.c - what the kernel, its limits and the machine permit, and the environment of the caller.
 *
 * Calls are tried as a server makes them, in this process, so a filter of system calls shows. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/locality.h"
#include "base/util.h"
#include "cli/doctor/doctor.h"
#include "launch/common/say.h"

extern char **environ;

#define DESCRIPTORS_A_RANK 7u /* of the launcher */
#define SPACE_MIN_BYTES (UINT64_C(64) << 20)
#define MEMLOCK_MIN_BYTES (UINT64_C(8) << 20)
#define MAPS_MIN 65530

#define SYS_IO_URING_SETUP 425
#define SYS_PIDFD_OPEN 434
#define SYS_FUTEX_WAITV 449

/* ---- files of /proc and /sys ----------------------------------------------------------------- */

#define TEXT_MAX 4096

/* Read the file @path under the root, without its last newline.  Return: false for no file. */
static bool text_read(const struct sx_doctor *doctor, const char *path, char ret[TEXT_MAX])
{
    char *const whole = sx_cli_printf("%s%s", doctor->root, path);
    const int fd = open(whole, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, ret, TEXT_MAX - 1) : -1;

    free(whole);
    if (fd >= 0) {
        close(fd);
    }
    ret[got > 0 ? got : 0] = '\0';
    if (got > 0 && ret[got - 1] == '\n') {
        ret[got - 1] = '\0';
    }
    return got >= 0;
}

static bool number_read(const struct sx_doctor *doctor, const char *path, uint64_t *ret)
{
    char text[TEXT_MAX], *stop;

    if (!text_read(doctor, path, text)) {
        return false;
    }
    *ret = strtoull(text, &stop, 10);
    return stop != text && *stop == '\0';
}

/* ---- system calls ---------------------------------------------------------------------------- */

static void io_uring_check(struct sx_doctor *doctor)
{
    uint8_t params[120] = { 0 }; /* struct io_uring_params */
    uint64_t disabled = 0;
    const long fd = syscall(SYS_IO_URING_SETUP, 1, params);
    const int why = errno;

    if (fd >= 0) {
        close((int)fd);
        return;
    }
    (void)number_read(doctor, "/proc/sys/kernel/io_uring_disabled", &disabled);
    sx_doctor_find(doctor, SX_DOCTOR_IO_URING, "io_uring is refused: %s%s", strerror(why),
                   disabled != 0   ? " (kernel.io_uring_disabled is set)"
                   : why == ENOSYS ? " (a kernel before 5.1, or a filter)"
                   : why == EPERM  ? " (a filter of system calls, as in containers)"
                                   : "");
}

static void waiting_check(struct sx_doctor *doctor)
{
    if (syscall(SYS_FUTEX_WAITV, NULL, 0, 0, NULL, 0) != 0 && errno != EINVAL) {
        sx_doctor_find(doctor, SX_DOCTOR_FUTEX_WAITV, "futex_waitv is refused: %s",
                       strerror(errno));
    }
    const long fd = syscall(SYS_PIDFD_OPEN, getpid(), 0);

    if (fd < 0) {
        sx_doctor_find(doctor, SX_DOCTOR_PIDFD, "pidfd_open is refused: %s", strerror(errno));
    } else {
        close((int)fd);
    }
}

static void memfd_check(struct sx_doctor *doctor)
{
    const int fd = memfd_create("shmix-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0) {
        sx_doctor_find(doctor, SX_DOCTOR_MEMFD, "memfd_create is refused: %s", strerror(errno));
        return;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        sx_doctor_find(doctor, SX_DOCTOR_MEMFD, "a memfd cannot be sealed: %s", strerror(errno));
    }
    close(fd);
}

static void proc_check(struct sx_doctor *doctor)
{
    char text[TEXT_MAX];

    if (!text_read(doctor, "/proc/1/stat", text)) {
        sx_doctor_find(doctor, SX_DOCTOR_PROC, "/proc is not mounted, or hides other processes");
    }
    if (text_read(doctor, "/proc/self/status", text)) {
        const char *const mode = strstr(text, "\nSeccomp:\t");

        if (mode != NULL && mode[10] == '2') {
            sx_doctor_find(doctor, SX_DOCTOR_SECCOMP, "a filter of system calls is active");
        }
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

unsigned sx_doctor_cpus(void)
{
    static struct sx_cpus cpus; /* large */
    unsigned count = 0;

    if (!sx_cpus_of_thread(0, &cpus)) {
        return 1;
    }
    for (unsigned i = 0; i < SX_CPU_MAX; i++) {
        count += sx_cpus_has(&cpus, i);
    }
    return count;
}

/* Whether the kernel's version is before @major.@minor. */
static bool is_before(const struct sx_doctor *doctor, unsigned major, unsigned minor)
{
    char text[TEXT_MAX];
    unsigned is_major, is_minor;

    return text_read(doctor, "/proc/sys/kernel/osrelease", text) &&
           sscanf(text, "%u.%u", &is_major, &is_minor) == 2 &&
           (is_major < major || (is_major == major && is_minor < minor));
}

static void limits_check(struct sx_doctor *doctor)
{
    const uint64_t ranks = sx_doctor_cpus();
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max / DESCRIPTORS_A_RANK < ranks + 16) {
        sx_doctor_find(doctor, SX_DOCTOR_NOFILE,
                       "%" PRIu64 " descriptors (the hard limit) are enough for %" PRIu64
                       " ranks; this node has %" PRIu64 " CPUs",
                       (uint64_t)limit.rlim_max, (uint64_t)limit.rlim_max / DESCRIPTORS_A_RANK,
                       ranks);
    }
    if (getrlimit(RLIMIT_NPROC, &limit) == 0 && geteuid() != 0 && limit.rlim_cur < 4 * ranks + 64) {
        sx_doctor_find(doctor, SX_DOCTOR_NPROC,
                       "you may have %" PRIu64 " processes and threads; this node has %" PRIu64
                       " CPUs",
                       (uint64_t)limit.rlim_cur, ranks);
    }
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur < MEMLOCK_MIN_BYTES &&
        is_before(doctor, 5, 12)) {
        sx_doctor_find(doctor, SX_DOCTOR_MEMLOCK, "%" PRIu64 " KiB may be locked in memory",
                       (uint64_t)limit.rlim_cur >> 10);
    }
}

static void memory_check(struct sx_doctor *doctor)
{
    uint64_t number;

    if (number_read(doctor, "/proc/sys/vm/max_map_count", &number) && number < MAPS_MIN) {
        sx_doctor_find(doctor, SX_DOCTOR_MAPS, "vm.max_map_count is %" PRIu64, number);
    }
    if (number_read(doctor, "/proc/sys/vm/overcommit_memory", &number) && number == 2) {
        sx_doctor_find(doctor, SX_DOCTOR_OVERCOMMIT, "vm.overcommit_memory is 2");
    }
}

/* The path of this process's group below /sys/fs/cgroup, with @file.  malloc'ed. */
static char *group_path(const char *group, const char *file)
{
    return sx_cli_printf("/sys/fs/cgroup%s%s%s", group, group[1] == '\0' ? "" : "/", file);
}

static void group_look(struct sx_doctor *doctor, const char *group)
{
    char *const max = group_path(group, "memory.max"), *const now = group_path(group,
                                                                               "memory.current");
    char *const cpu = group_path(group, "cpu.max");
    char text[TEXT_MAX];
    uint64_t most, used, quota, period;

    if (number_read(doctor, max, &most) && number_read(doctor, now, &used) &&
        used > most / 10 * 9) {
        sx_doctor_find(doctor, SX_DOCTOR_CGROUP_MEMORY,
                       "group %s uses %" PRIu64 " of %" PRIu64 " MiB", group, used >> 20,
                       most >> 20);
    }
    if (text_read(doctor, cpu, text) &&
        sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) == 2 && period > 0 &&
        quota < sx_doctor_cpus() * period) {
        sx_doctor_find(doctor, SX_DOCTOR_CGROUP_CPUS,
                       "group %s may use %.1f of %u CPUs (cpu.max is %s)", group,
                       (double)quota / (double)period, sx_doctor_cpus(), text);
    }
    free(max);
    free(now);
    free(cpu);
}

/* The group of this process, and those above it: each may have a limit. */
static void groups_check(struct sx_doctor *doctor)
{
    char text[TEXT_MAX];

    if (!text_read(doctor, "/proc/self/cgroup", text)) {
        return;
    }
    char *group = strncmp(text, "0::/", 4) == 0 ? text + 3 : strstr(text, "\n0::/");

    if (group == NULL) {
        return; /* version 1 */
    }
    group += *group == '\n' ? 4 : 0;
    group[strcspn(group, "\n")] = '\0';
    for (char *slash = group; slash != NULL && group[1] != '\0'; slash = strrchr(group, '/')) {
        group_look(doctor, group);
        *strrchr(group, '/') = '\0';
        if (group[0] == '\0') {
            break;
        }
    }
    group_look(doctor, "/");
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void clock_check(struct sx_doctor *doctor)
{
    static const char *const fast[] = { "tsc",
                                        "arch_sys_counter",
                                        "kvm-clock",
                                        "timebase",
                                        "hyperv_clocksource_tsc_page",
                                        "riscv_clocksource" };
    char text[TEXT_MAX];

    if (!text_read(doctor, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                   text)) {
        return;
    }
    for (size_t i = 0; i < SX_COUNT(fast); i++) {
        if (strcmp(text, fast[i]) == 0) {
            return;
        }
    }
    sx_doctor_find(doctor, SX_DOCTOR_CLOCK, "the clock source is %.64s", text);
}

static void pages_check(struct sx_doctor *doctor)
{
    char text[TEXT_MAX];
    uint64_t number;

    if (number_read(doctor, "/proc/sys/kernel/numa_balancing", &number) && number != 0 &&
        text_read(doctor, "/sys/devices/system/node/online", text) && strcmp(text, "0") != 0) {
        sx_doctor_find(doctor, SX_DOCTOR_NUMA_BALANCING,
                       "kernel.numa_balancing is %" PRIu64 " on nodes %.64s", number, text);
    }
    if (text_read(doctor, "/sys/kernel/mm/transparent_hugepage/shmem_enabled", text) &&
        (strstr(text, "[always]") != NULL || strstr(text, "[force]") != NULL)) {
        sx_doctor_find(doctor, SX_DOCTOR_THP, "huge pages of shared memory: %.64s", text);
    }
}

static void space_check(struct sx_doctor *doctor, const char *path)
{
    struct statvfs fs;

    if (statvfs(path, &fs) == 0 && fs.f_blocks > 0 &&
        (uint64_t)fs.f_bavail * fs.f_frsize < SPACE_MIN_BYTES) {
        sx_doctor_find(doctor, SX_DOCTOR_SPACE, "%" PRIu64 " MiB are left in %s",
                       (uint64_t)fs.f_bavail * fs.f_frsize >> 20, path);
    }
}

static void places_check(struct sx_doctor *doctor)
{
    const char *const given = getenv("TMPDIR");
    const char *const dir = given != NULL && given[0] != '\0' ? given : "/tmp";
    char *const shm = sx_cli_printf("%s/dev/shm", doctor->root);

    if (access(dir, W_OK | X_OK) != 0) {
        sx_doctor_find(doctor, SX_DOCTOR_TMPDIR, "%s: %s", dir, strerror(errno));
    } else {
        space_check(doctor, dir);
    }
    space_check(doctor, shm);
    free(shm);
}

static void libraries_check(struct sx_doctor *doctor)
{
    static const char *const names[] = { "libhwloc.so.15", "libnuma.so.1", "liburing.so.2",
                                         "libz.so.1" };

    for (size_t i = 0; i < SX_COUNT(names); i++) {
        void *const library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);

        if (library == NULL) {
            sx_doctor_find(doctor, SX_DOCTOR_LIBRARIES, "%s cannot be loaded: %s", names[i],
                           dlerror());
        } else {
            dlclose(library);
        }
    }
}

void sx_doctor_node(struct sx_doctor *doctor)
{
    memfd_check(doctor);
    io_uring_check(doctor);
    waiting_check(doctor);
    proc_check(doctor);
    limits_check(doctor);
    memory_check(doctor);
    groups_check(doctor);
    clock_check(doctor);
    pages_check(doctor);
    places_check(doctor);
    libraries_check(doctor);
}

/* ---- the environment ------------------------------------------------------------------------- */

/* The variables that the library, the command or a server of them reads: shmix(1). */
static const char *const variables[] = {
    "SHMIX_GATEWAY",
    "SHMIX_GET_TIMEOUT",
    "SHMIX_LOG",
    "SHMIX_LOG_LINES",
    "SHMIX_LOOP",
    "SHMIX_MEMBARRIER",
    "SHMIX_NUMA",
    "SHMIX_PASSRIGHTS",
    "SHMIX_RENDEZVOUS",
    "SHMIX_SERVER",
    "SHMIX_SERVER_CACHE_BYTES",
    "SHMIX_SERVER_CACHE_SIZE",
    "SHMIX_SERVER_COLLECTIVES",
    "SHMIX_SERVER_DIRECTORY",
    "SHMIX_SERVER_FD",
    "SHMIX_SERVER_GATEWAY",
    "SHMIX_SERVER_GET_TIMEOUT",
    "SHMIX_SERVER_GROUP_BYTES",
    "SHMIX_SERVER_NUMA",
    "SHMIX_SERVER_URI",
    "SHMIX_SPIN",
    "SHMIX_SYSLOG",
    "SHMIX_TRACE_DIR",
    "SHMIX_TRACE_RECORDS",
    "SHMIX_WAITV",
};

static bool is_read(const char *name, size_t len)
{
    for (size_t i = 0; i < SX_COUNT(variables); i++) {
        if (strlen(variables[i]) == len && strncmp(variables[i], name, len) == 0) {
            return true;
        }
    }
    return strncmp(name, "SHMIX_TEST", 10) == 0; /* of the tests, which are not installed */
}

struct names {
    char text[512];
    size_t used;
    unsigned count;
};

/* Names for which there is no room are counted alone. */
static void name_add(struct names *names, const char *name, size_t len)
{
    const size_t room = sizeof(names->text) - names->used;

    if (len < room - 4 && names->count < SX_DOCTOR_SAME_MAX) {
        names->used += (size_t)snprintf(names->text + names->used, room, "%s%.*s",
                                        names->count > 0 ? ", " : "", (int)len, name);
    }
    names->count++;
}

static void names_tell(struct sx_doctor *doctor, enum sx_doctor_kind kind,
                       const struct names *names)
{
    if (names->count > 0) {
        sx_doctor_find(doctor, kind, "%u variable%s: %s", names->count,
                       names->count == 1 ? " is set" : "s are set", names->text);
    }
}

void sx_doctor_environment(struct sx_doctor *doctor)
{
    struct names mca = { .used = 0 }, unread = { .used = 0 };

    for (char **at = environ; *at != NULL; at++) {
        const size_t len = strcspn(*at, "=");

        if (strncmp(*at, "PMIX_MCA_", 9) == 0) {
            name_add(&mca, *at, len);
        } else if (strncmp(*at, "SHMIX_", 6) == 0 && !is_read(*at, len)) {
            name_add(&unread, *at, len);
        }
    }
    names_tell(doctor, SX_DOCTOR_MCA, &mca);
    names_tell(doctor, SX_DOCTOR_UNREAD, &unread);
    const char *const nspace = getenv("PMIX_NAMESPACE"), *const rank = getenv("PMIX_RANK");

    if (nspace != NULL) {
        sx_doctor_find(doctor, SX_DOCTOR_OTHER_SERVER,
                       "PMIX_NAMESPACE is %.255s and PMIX_RANK %.16s in this environment", nspace,
                       rank != NULL ? rank : "not set");
    }
}
