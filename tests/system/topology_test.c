/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology_test.c - ranks have the machine's topology without looking at the machine.
 *
 * A rank's work runs in a process that its parent traces; between two marks each path that
 * it hands to the kernel is looked at.  hwloc's own discovery, traced the same way, shows that
 * the tracer would see what must not be there. */
#include <errno.h>
#include <hwloc.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/traced.h"

/* ---- paths -------------------------------------------------------------------------------- */

struct watch {
    unsigned paths;   /* handed to the kernel */
    unsigned machine; /* of those, the ones that describe the machine */
    char first[256];  /* the first of these */
};

/* Return: which argument of call @number is a path, -1 for none. */
static int path_argument(long number)
{
    switch (number) {
    case SYS_openat:
    case SYS_openat2:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_readlinkat:
        return 1;
#ifdef SYS_open
    case SYS_open:
    case SYS_access:
    case SYS_stat:
    case SYS_lstat:
    case SYS_readlink:
        return 0;
#endif
    default:
        return -1;
    }
}

/* The string at @at in @pid, cut at what can be read of it. */
static void path_read(pid_t pid, uint64_t at, char path[256])
{
    struct iovec to = { path, 255 }, from = { (void *)(uintptr_t)at, 255 };

    memset(path, 0, 256);
    /* It may end just before a page that is not there. */
    while (from.iov_len > 0 && process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && errno == EFAULT) {
        to.iov_len = from.iov_len -= 1;
    }
}

static bool is_machine(const char *path)
{
    /* hwloc opens /sys with a directory's descriptor and a path that is whole all the same. */
    return strncmp(path, "/sys", 4) == 0 || strncmp(path, "sys/", 4) == 0 ||
           strcmp(path, "/proc/cpuinfo") == 0 || strcmp(path, "proc/cpuinfo") == 0;
}

static bool only_asks(long number)
{
#ifdef SYS_access
    if (number == SYS_access) {
        return true;
    }
#endif
    return number == SYS_faccessat || number == SYS_faccessat2;
}

static void watch_call(void *arg, pid_t pid, const struct __ptrace_syscall_info *info)
{
    const int argument = path_argument((long)info->entry.nr);
    struct watch *const watch = arg;
    char path[256];

    if (argument < 0 || info->entry.args[argument] == 0) {
        return;
    }
    path_read(pid, info->entry.args[argument], path);
    watch->paths++;
    /* Each topology of hwloc 2.11 asks whether this is there, and opens nothing. */
    if (only_asks((long)info->entry.nr) &&
        strcmp(path, "/sys/kernel/mm/mempolicy/weighted_interleave") == 0) {
        return;
    }
    if (is_machine(path) && watch->machine++ == 0) {
        memcpy(watch->first, path, sizeof(path));
    }
}

/* ---- the work ----------------------------------------------------------------------------- */

static pmix_proc_t me;

static int work_load(int rank)
{
    pmix_topology_t topo = { .source = NULL }, again = { .source = NULL };
    pmix_device_distance_t *distances = NULL;
    pmix_cpuset_t cpuset;
    size_t count = 0;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    traced_mark();
    CHECK_STATUS(PMIx_Load_topology(&topo), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Load_topology(&again), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
    const pmix_status_t rc = PMIx_Compute_distances(NULL, NULL, NULL, 0, &distances, &count);
    traced_mark();
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND); /* the machine may have no devices */
    CHECK(topo.topology != again.topology);
    PMIx_Device_distance_free(distances, count);
    PMIx_Cpuset_destruct(&cpuset);
    PMIx_Topology_destruct(&again);
    CHECK(hwloc_get_nbobjs_by_type(topo.topology, HWLOC_OBJ_PU) > 0);
    PMIx_Topology_destruct(&topo);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static int work_discover(int rank)
{
    hwloc_topology_t topology;

    traced_mark();
    CHECK(hwloc_topology_init(&topology) == 0);
    CHECK(hwloc_topology_load(topology) == 0);
    traced_mark();
    hwloc_topology_destroy(topology);
    return 0;
}

/* ---- cases -------------------------------------------------------------------------------- */

static int loading_opens_no_file_of_the_machine(int rank)
{
    struct watch watch = { 0 };

    traced_run(work_load, rank, watch_call, &watch);
    printf("PMIx_Load_topology: %u paths, %u of the machine %s\n", watch.paths, watch.machine,
           watch.first);
    CHECK(watch.paths > 0); /* /proc/self/task, for the binding */
    CHECK(watch.machine == 0);
    return 0;
}

static int the_tracer_sees_a_discovery(int rank)
{
    struct watch watch = { 0 };

    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    traced_run(work_discover, rank, watch_call, &watch);
    printf("hwloc's discovery: %u paths, %u of the machine\n", watch.paths, watch.machine);
    CHECK(watch.machine > 0);
    /* Of the same process, to leave the job in order. */
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Both keys hold one text, the same for every rank, and it is in the shared store. */
static int every_rank_reads_the_same_text(int rank)
{
    pmix_proc_t job = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *one, *two, sum = { .type = PMIX_UINT64 }, *other;
    pmix_info_t pointers;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    pointers = info_flag(PMIX_GET_POINTER_VALUES);
    CHECK_STATUS(PMIx_Get(&job, PMIX_HWLOC_XML_V2, &pointers, 1, &one), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&job, PMIX_LOCAL_TOPO, NULL, 0, &two), PMIX_SUCCESS);
    CHECK(one->type == PMIX_STRING && two->type == PMIX_STRING);
    CHECK(strcmp(one->data.string, two->data.string) == 0);
    for (const char *at = one->data.string; *at != '\0'; at++) {
        sum.data.uint64 = sum.data.uint64 * 31 + (unsigned char)*at;
    }
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "sum", &sum), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    job.rank = (pmix_rank_t)(1 - rank);
    CHECK_STATUS(PMIx_Get(&job, "sum", NULL, 0, &other), PMIX_SUCCESS);
    CHECK(other->data.uint64 == sum.data.uint64);
    PMIx_Value_free(two, 1);
    PMIx_Value_free(other, 1);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static int a_topology_outlives_finalize(int rank)
{
    pmix_topology_t topo = { .source = NULL };

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Load_topology(&topo), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(hwloc_get_nbobjs_by_type(topo.topology, HWLOC_OBJ_PU) > 0);
    PMIx_Topology_destruct(&topo);
    CHECK_STATUS(PMIx_Load_topology(&topo), PMIX_ERR_INIT);
    return 0;
}

static int a_forked_child_reads_it_too(int rank)
{
    pmix_topology_t topo = { .source = NULL };
    int status;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(JOB_SECONDS);
        CHECK_STATUS(PMIx_Load_topology(&topo), PMIX_SUCCESS);
        PMIx_Topology_destruct(&topo);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* The host says that a text will come, though there is one. */
static int announce(struct job *job)
{
    pmix_info_t coming;
    const bool yes = true;

    CHECK_STATUS(PMIx_Info_load(&coming, "shmix.coming", &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace(JOB_NSPACE, 1, &coming, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    return 0;
}

static int what_is_there_is_not_waited_for(int rank)
{
    const pmix_proc_t job = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    static const char *const keys[] = { PMIX_LOCAL_TOPO, PMIX_DEVICE_DISTANCES, NULL };
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    pmix_value_t *value;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    while (rc == PMIX_ERR_NOT_FOUND) {
        rc = PMIx_Get(&job, "shmix.coming", NULL, 0, &value);
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    PMIx_Value_free(value, 1);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        CHECK_STATUS(PMIx_Get(i == 1 ? &me : &job, keys[i], NULL, 0, &value), PMIX_SUCCESS);
        PMIx_Value_free(value, 1);
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static const struct job_case cases[] = {
    { "loading_opens_no_file_of_the_machine", 2, loading_opens_no_file_of_the_machine },
    { "the_tracer_sees_a_discovery", 1, the_tracer_sees_a_discovery },
    { "every_rank_reads_the_same_text", 2, every_rank_reads_the_same_text },
    { "a_topology_outlives_finalize", 1, a_topology_outlives_finalize },
    { "a_forked_child_reads_it_too", 1, a_forked_child_reads_it_too },
    { "what_is_there_is_not_waited_for", 1, what_is_there_is_not_waited_for, announce },
};

int main(int argc, char **argv)
{
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
