/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* usage_test.c - reports of what is used: their shape, their types, and the fields asked for. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>

#include "base/system/usage.h"
#include "base/util.h"

static const struct sx_usage_fields everything = { .count = 0 };

static unsigned opened, walked; /* files; those for which the kernel walks over all pages */

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*next)(const char *, const char *);

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    }
    opened++;
    walked += strstr(path, "/smaps") != NULL;
    return next(path, mode);
}

/* Return: the reports; fails when there are none. */
static pmix_data_array_t reports_take(void *list)
{
    pmix_data_array_t array;

    cr_assert_eq(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
    PMIx_Info_list_release(list);
    cr_assert(array.size > 0);
    return array;
}

/* Return: the field of the report, NULL without. */
static const pmix_value_t *field_of(const pmix_info_t *report, const char *key)
{
    const pmix_data_array_t *const array = report->value.data.darray;
    const pmix_info_t *const info = array->array;

    cr_assert_eq(report->value.type, PMIX_DATA_ARRAY);
    cr_assert_eq(array->type, PMIX_INFO);
    for (size_t i = 0; i < array->size; i++) {
        if (PMIx_Check_key(info[i].key, key)) {
            return &info[i].value;
        }
    }
    return NULL;
}

static void expect(const pmix_info_t *report, const char *key, pmix_data_type_t type)
{
    const pmix_value_t *const field = field_of(report, key);

    cr_expect(field != NULL && field->type == type, "%s", key);
}

Test(usage, of_a_process)
{
    void *const list = PMIx_Info_list_start();
    pmix_proc_t me;

    PMIx_Load_procid(&me, "job", 3);
    cr_assert_eq(sx_usage_of_process(list, &me, getpid(), &everything), PMIX_SUCCESS);
    pmix_data_array_t reports = reports_take(list);
    const pmix_info_t *const report = reports.array;

    cr_expect(PMIx_Check_key(report->key, PMIX_PROC_RESOURCE_USAGE));
    cr_expect_eq(field_of(report, PMIX_PROCID)->data.proc->rank, 3);
    cr_expect_eq(field_of(report, PMIX_PROC_PID)->data.pid, getpid());
    cr_expect_str_eq(field_of(report, PMIX_PROC_OS_STATE)->data.string, "R");
    expect(report, PMIX_PROC_SAMPLE_TIME, PMIX_TIME);
    expect(report, PMIX_PROC_TIME, PMIX_TIMEVAL);
    expect(report, PMIX_PROC_PERCENT_CPU, PMIX_FLOAT);
    expect(report, PMIX_PROC_PRIORITY, PMIX_INT32);
    expect(report, PMIX_PROC_NUM_THREADS, PMIX_UINT16);
    expect(report, PMIX_PROC_CPU, PMIX_UINT16);
    expect(report, PMIX_PROC_PSS, PMIX_FLOAT);
    const float rss = field_of(report, PMIX_PROC_RSS)->data.fval;
    const float size = field_of(report, PMIX_PROC_VSIZE)->data.fval;

    cr_expect(rss > 0 && rss <= size && size <= field_of(report, PMIX_PROC_PEAK_VSIZE)->data.fval);
    PMIx_Data_array_destruct(&reports);
}

/* Return: in MiB; one file is read, and no pages are walked over. */
static float resident(pid_t pid)
{
    const unsigned before = opened;
    float mib;

    cr_assert(sx_usage_resident(pid, &mib));
    cr_expect_eq(opened, before + 1);
    cr_expect_eq(walked, 0);
    return mib;
}

Test(usage, resident_memory_is_counters_of_the_kernel)
{
    const size_t mib = 256;
    const float before = resident(0);
    void *const memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    cr_assert_neq(memory, MAP_FAILED);
    const float after = resident(getpid());

    cr_expect(after >= before + (float)mib - 8 && after <= before + (float)mib + 64, "%f, %f",
              (double)before, (double)after);
    munmap(memory, mib << 20);
}

Test(usage, one_that_has_ended_has_no_memory)
{
    const pid_t child = fork();
    siginfo_t info;
    float mib;

    if (child == 0) {
        _exit(0);
    }
    cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    cr_expect_not(sx_usage_resident(child, &mib)); /* a zombie */
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_not(sx_usage_resident(child, &mib));
}

Test(usage, one_that_has_gone_is_not_found)
{
    void *const list = PMIx_Info_list_start();
    const pid_t child = fork();
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, "job", 0);
    if (child == 0) {
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_eq(sx_usage_of_process(list, &proc, child, &everything), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(PMIx_Info_list_get_size(list), 0);
    PMIx_Info_list_release(list);
}

Test(usage, fields_that_are_asked_for_alone)
{
    void *const list = PMIx_Info_list_start();
    pmix_info_t keys[2] = { { .flags = 0 } };
    const struct sx_usage_fields wanted = { .all = keys, .count = 2 };

    PMIx_Load_key(keys[0].key, PMIX_NODE_MEM_TOTAL);
    PMIx_Load_key(keys[1].key, "nobody.knows.it");
    cr_assert_eq(sx_usage_of_node(list, "here", &wanted), PMIX_SUCCESS);
    pmix_data_array_t reports = reports_take(list);
    const pmix_info_t *const report = reports.array;

    cr_expect(PMIx_Check_key(report->key, PMIX_NODE_RESOURCE_USAGE));
    cr_expect_eq(report->value.data.darray->size, 3); /* with whose it is, and when */
    cr_expect_str_eq(field_of(report, PMIX_HOSTNAME)->data.string, "here");
    expect(report, PMIX_NODE_SAMPLE_TIME, PMIX_TIME);
    cr_expect(field_of(report, PMIX_NODE_MEM_TOTAL)->data.fval > 1);
    PMIx_Data_array_destruct(&reports);
}

Test(usage, of_the_node)
{
    static const char *const keys[] = { PMIX_NODE_LOAD_AVG,    PMIX_NODE_LOAD_AVG5,
                                        PMIX_NODE_LOAD_AVG15,  PMIX_NODE_MEM_FREE,
                                        PMIX_NODE_MEM_BUFFERS, PMIX_NODE_MEM_CACHED,
                                        PMIX_NODE_MEM_MAPPED,  PMIX_NODE_MEM_SWAP_CACHED,
                                        PMIX_NODE_SWAP_TOTAL,  PMIX_NODE_MEM_SWAP_FREE };
    void *const list = PMIx_Info_list_start();

    cr_assert_eq(sx_usage_of_node(list, "here", &everything), PMIX_SUCCESS);
    pmix_data_array_t reports = reports_take(list);

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        expect(reports.array, keys[i], PMIX_FLOAT);
    }
    PMIx_Data_array_destruct(&reports);
}

/* Every network namespace has it. */
Test(usage, of_the_loopback_network)
{
    void *const list = PMIx_Info_list_start();
    bool found = false;

    cr_assert_eq(sx_usage_of_networks(list, &everything), PMIX_SUCCESS);
    pmix_data_array_t reports = reports_take(list);

    for (size_t i = 0; i < reports.size; i++) {
        const pmix_info_t *const report = (const pmix_info_t *)reports.array + i;

        cr_expect(PMIx_Check_key(report->key, PMIX_NETWORK_RESOURCE_USAGE));
        expect(report, PMIX_NET_SAMPLE_TIME, PMIX_TIME);
        expect(report, PMIX_NET_SENT_ERRS, PMIX_UINT64);
        if (strcmp(field_of(report, PMIX_NETWORK_ID)->data.string, "lo") == 0) {
            found = true; /* what is sent there is received there */
            cr_expect_eq(field_of(report, PMIX_NET_RECVD_PCKTS)->data.uint64 == 0,
                         field_of(report, PMIX_NET_SENT_PCKTS)->data.uint64 == 0);
        }
    }
    cr_expect(found);
    PMIx_Data_array_destruct(&reports);
}

/* A machine may have none, or not tell. */
Test(usage, of_disks)
{
    void *const list = PMIx_Info_list_start();
    const pmix_status_t rc = sx_usage_of_disks(list, &everything);

    if (rc == PMIX_SUCCESS && PMIx_Info_list_get_size(list) > 0) {
        pmix_data_array_t reports = reports_take(list);

        cr_expect(
            PMIx_Check_key(((const pmix_info_t *)reports.array)->key, PMIX_DISK_RESOURCE_USAGE));
        expect(reports.array, PMIX_DISK_ID, PMIX_STRING);
        expect(reports.array, PMIX_DISK_SAMPLE_TIME, PMIX_TIME);
        expect(reports.array, PMIX_DISK_READ_COMPLETED, PMIX_UINT64);
        expect(reports.array, PMIX_DISK_IO_WEIGHTED, PMIX_UINT64);
        PMIx_Data_array_destruct(&reports);
    } else {
        cr_expect(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND);
        PMIx_Info_list_release(list);
    }
}
