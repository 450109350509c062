/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* memory.c - the memory of a rank, and of its server, by what is mapped.
 *
 * Question:  how much memory does a rank take for PMIx, where does it lie, and what of it is its own?
 * Predict:   at most 200 KiB of its own; what the job shares counts once per node.
 * Method:    every rank has initialised, put 64 bytes, fenced, read a value of each peer and heard one
 *            event; then the kernel's smaps, proportional sizes (Pss: a page that N processes map counts
 *            1/N in each), by class of mapping.  private_kib is what this process alone has written.  server_kib is the
 *            private memory of the process that started the rank, which is the server on one node under
 *            `shmix run` and under mpirun.
 * Varies:    ranks.  Control: the same sums before PMIx_Init are taken off (the C library, the program).
 * Every rank prints one line of JSON. */
#include <unistd.h>

#include "compare.h"

enum { LIBPMIX, LIBRARIES, HEAP, STACKS, ANONYMOUS, SHARED, REST, CLASSES };

static const char *const names[CLASSES] = { "map_libpmix_kib", "map_libraries_kib",
                                            "map_heap_kib",    "map_stacks_kib",
                                            "map_private_kib", "map_shared_kib",
                                            "map_rest_kib" };

struct sums {
    double pss[CLASSES], private_kib, pss_kib;
};

static int class_of(const char *path)
{
    if (strstr(path, "libpmix") != NULL || strstr(path, "/pmix") != NULL) {
        return strstr(path, "dstor") != NULL ? SHARED : LIBPMIX;
    }
    if (strstr(path, "memfd:") != NULL || strstr(path, "/dev/shm") != NULL ||
        strstr(path, "dstore") != NULL || strstr(path, "gds") != NULL) {
        return SHARED;
    }
    if (strstr(path, ".so") != NULL) {
        return LIBRARIES;
    }
    if (strstr(path, "[heap]") != NULL) {
        return HEAP;
    }
    if (strstr(path, "[stack") != NULL) {
        return STACKS;
    }
    return path[0] == '\0' ? ANONYMOUS : path[0] == '/' || path[0] == '[' ? REST : ANONYMOUS;
}

static struct sums sums_of(const char *file_name)
{
    FILE *const file = fopen(file_name, "r");
    struct sums sums;
    char line[4608];
    int class = REST;

    memset(&sums, 0, sizeof(sums));
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        unsigned long begin, end;
        char path[4096] = "";
        double kib;

        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %4095[^\n]", &begin, &end, path) >= 2) {
            class = class_of(path);
        } else if (sscanf(line, "Pss: %lf kB", &kib) == 1) {
            sums.pss[class] += kib;
            sums.pss_kib += kib;
        } else if (sscanf(line, "Private_Dirty: %lf kB", &kib) == 1) {
            sums.private_kib += kib;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return sums;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void work(const pmix_proc_t *me)
{
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 149;
    char bytes[64] = "card";
    pmix_value_t value;

    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = bytes;
    value.data.bo.size = sizeof(bytes);
    must(PMIx_Put(PMIX_GLOBAL, "memory.card", &value), "put");
    must(PMIx_Commit(), "commit");
    fence_collect();
    const uint32_t size = job_size(me);
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);

    must(id < 0 ? id : PMIX_SUCCESS, "registering a handler");
    for (uint32_t rank = 0; rank < size; rank++) {
        pmix_proc_t peer = *me;
        pmix_value_t *got = NULL;

        peer.rank = rank;
        must(PMIx_Get(&peer, "memory.card", NULL, 0, &got), "get");
        free(got->data.bo.bytes);
        free(got);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
}

int main(int argc, char **argv)
{
    const struct sums before = sums_of("/proc/self/smaps");
    char server[64];
    pmix_proc_t me;

    (void)rounds_of(argc, argv, 1);
    must(PMIx_Init(&me, NULL, 0), "init");
    work(&me);
    const struct sums after = sums_of("/proc/self/smaps");

    snprintf(server, sizeof(server), "/proc/%d/smaps", (int)getppid());
    const struct sums server_sums = sums_of(server);

    must(PMIx_Fence(NULL, 0, NULL, 0), "fence"); /* nobody leaves while others count */
    printf("{\"rank\": %u, \"pss_kib\": %.0f, \"private_kib\": %.0f, \"server_kib\": %.0f", me.rank,
           after.pss_kib - before.pss_kib, after.private_kib - before.private_kib,
           server_sums.private_kib);
    for (int i = 0; i < CLASSES; i++) {
        printf(", \"%s\": %.0f", names[i], after.pss[i] - before.pss[i]);
    }
    printf("}\n");
    fflush(stdout);
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
