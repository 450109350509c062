/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events.c - a job whose events are followed from outside.
 *
 * usage: events GO [END]
 * Rank 0 tells three things, then each rank waits for the file GO; then rank 1 tells rank 0 a
 * fourth, and when the file END is there, if it is given, a fifth to all.
 * Each says when it hears event 9, which only comes from outside. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>

#define CODE(n) (PMIX_EXTERNAL_ERR_BASE - 100 - (n))

static void await_file(const char *path)
{
    const struct timespec turn = { .tv_nsec = 20000000 };

    while (access(path, F_OK) != 0) { /* the script ends us, if it does not come */
        nanosleep(&turn, NULL);
    }
}

static void notify(int n, pmix_data_range_t range, pmix_info_t *info, size_t ninfo)
{
    if (PMIx_Notify_event(CODE(n), NULL, range, info, ninfo, NULL, NULL) != PMIX_SUCCESS) {
        fprintf(stderr, "event %d is refused\n", n);
    }
}

static void on_nine(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *done_data)
{
    printf("heard %d from %s.%u", code, source->nspace, source->rank);
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, "a.text") == 0 && info[i].value.type == PMIX_STRING) {
            printf(" %s", info[i].value.data.string);
        } else if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0) {
            printf(" about %u", info[i].value.data.proc->rank);
        }
    }
    printf("\n");
    fflush(stdout);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_data);
}

int main(int argc, char **argv)
{
    pmix_status_t nine = CODE(9);
    uint32_t number = 42;
    pmix_info_t info[2], whom;
    pmix_proc_t me, first;

    if (argc < 2 || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    PMIx_Info_load(&info[0], "a.text", "say \"hi\"\n", PMIX_STRING);
    PMIx_Info_load(&info[1], "a.number", &number, PMIX_UINT32);
    if (PMIx_Register_event_handler(&nine, 1, NULL, 0, on_nine, NULL, NULL) < 0) {
        return 1;
    }
    if (me.rank == 0) {
        notify(0, PMIX_RANGE_NAMESPACE, NULL, 0);
        notify(1, PMIX_RANGE_LOCAL, info, 2);
        notify(2, PMIX_RANGE_NAMESPACE, NULL, 0);
    }
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    PMIx_Fence(NULL, 0, NULL, 0);
    printf("told by %u\n", me.rank);
    fflush(stdout);
    await_file(argv[1]);
    if (me.rank == 1) {
        first = me;
        first.rank = 0;
        PMIx_Info_load(&whom, PMIX_EVENT_CUSTOM_RANGE, &first, PMIX_PROC);
        notify(3, PMIX_RANGE_CUSTOM, &whom, 1);
        PMIX_INFO_DESTRUCT(&whom);
    }
    if (argc > 2) {
        await_file(argv[2]);
    }
    if (me.rank == 1) {
        notify(4, PMIX_RANGE_NAMESPACE, NULL, 0);
    }
    PMIx_Fence(NULL, 0, NULL, 0);
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}
