/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* library_test.c - which libraries a rank maps, and when: those that it has called, no other. */
#include <string.h>

#include "job.h"

/* What the library calls beside the C library. */
static const char *const libraries[] = { "libhwloc.", "libudev.", "libnuma.", "liburing.",
                                         "libz.",     "libxml2.", "libm." };

static bool is_mapped(const char *library)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    CHECK(maps != NULL);
    while (!found && fgets(line, sizeof(line), maps) != NULL) {
        const char *const base = strrchr(line, '/');

        found = base != NULL && strncmp(base + 1, library, strlen(library)) == 0;
    }
    fclose(maps);
    return found;
}

static unsigned count_mapped(void)
{
    unsigned count = 0;

    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (is_mapped(libraries[i])) {
            printf("mapped: %s\n", libraries[i]);
            count++;
        }
    }
    return count;
}

static pmix_proc_t me;

/* A handler and a call that is answered later, for the thread that they start. */
static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t fn, void *cbdata)
{
    fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void work(void)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 }, *got;
    pmix_proc_t other = me;

    other.rank = 1 - me.rank;
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "number", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&other, "number", NULL, 0, &got), PMIX_SUCCESS);
    PMIx_Value_free(got, 1);
    PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL);
    CHECK_STATUS(PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 1, &me, PMIX_RANGE_LOCAL, NULL, 0, NULL,
                                   NULL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

static int a_rank_maps_no_library_for_what_every_rank_does(int rank)
{
    const unsigned before = count_mapped(); /* a sanitizer's runtime brings some */

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    work();
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(!is_mapped("libhwloc.") && !is_mapped("liburing.") && !is_mapped("libnuma."));
    CHECK(count_mapped() == before);
    return 0;
}

static int a_topology_maps_hwloc_when_it_is_asked_for(int rank)
{
    pmix_topology_t topo = { .source = NULL };

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(!is_mapped("libhwloc."));
    CHECK_STATUS(PMIx_Load_topology(&topo), PMIX_SUCCESS);
    CHECK(is_mapped("libhwloc."));
    CHECK(!is_mapped("liburing.") && !is_mapped("libnuma."));
    PMIx_Topology_destruct(&topo);
    return rank_end();
}

static int compression_maps_zlib_when_it_is_asked_for(int rank)
{
    static uint8_t bytes[4096];
    uint8_t *packed = NULL, *unpacked = NULL;
    size_t packed_size = 0, unpacked_size = 0;

    CHECK(PMIx_Data_compress(bytes, sizeof(bytes), &packed, &packed_size));
    CHECK(is_mapped("libz."));
    CHECK(!is_mapped("libhwloc."));
    CHECK(PMIx_Data_decompress(packed, packed_size, &unpacked, &unpacked_size));
    CHECK(unpacked_size == sizeof(bytes) && memcmp(unpacked, bytes, sizeof(bytes)) == 0);
    free(packed);
    free(unpacked);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

static const struct job_case cases[] = {
    { "a_rank_maps_no_library_for_what_every_rank_does", 2,
      a_rank_maps_no_library_for_what_every_rank_does },
    { "a_topology_maps_hwloc_when_it_is_asked_for", 1, a_topology_maps_hwloc_when_it_is_asked_for },
    { "compression_maps_zlib_when_it_is_asked_for", 1, compression_maps_zlib_when_it_is_asked_for },
};

JOB_MAIN(cases)
