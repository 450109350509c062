/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* server_cpu.c - what an operation costs the server, which all ranks of the node share.
 *
 * Question:  how much CPU time does the server spend on a commit, a fence, a collecting fence, a value
 *            asked for before a fence, and an event to all others?
 * Predict:   a commit 0.1 us, as nobody wakes it; a fence 2 us and 0.5 for each rank; an event 1 us and no more
 *            with more receivers.
 * Method:    the server on one node is the process that has started the ranks, under `shmix run` and under
 *            mpirun; the kernel's count of nanoseconds of all its threads (/proc/PID/task/TID/schedstat)
 *            before and after a block of operations, by their number.  The ranks meet at a counter in
 *            shared memory around each block.
 * Varies:    ranks.  Control: a block in which nothing happens for as long as a sleep of 20 ms (idle).
 * Rank 0 prints one line of JSON. */
#include <dirent.h>

#include "meeting.h"

static pmix_proc_t me;
static size_t rounds;
static _Atomic size_t received;

static double server_ns(void)
{
    char folder[64], name[400];
    double sum = 0;

    snprintf(folder, sizeof(folder), "/proc/%d/task", (int)getppid());
    DIR *const dir = opendir(folder);

    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        unsigned long long ns;

        snprintf(name, sizeof(name), "%s/%s/schedstat", folder, entry->d_name);
        FILE *const file = fopen(name, "r");

        if (file != NULL) {
            sum += fscanf(file, "%llu", &ns) == 1 ? (double)ns : 0;
            fclose(file);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return sum;
}

static void put(const char *name, size_t round)
{
    char bytes[64] = "card", key[64];
    pmix_value_t value;

    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = bytes;
    value.data.bo.size = sizeof(bytes);
    snprintf(key, sizeof(key), "cpu.%s.%zu", name, round);
    must(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
    must(PMIx_Commit(), "commit");
}

static void idle(size_t round)
{
    if (round == 0) {
        usleep(20000);
    }
}

static void commit(size_t round)
{
    put("commit", round);
}

static void fence(size_t round)
{
    (void)round;
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
}

static void collect(size_t round)
{
    put("collect", round);
    fence_collect();
}

static void direct(size_t round)
{
    pmix_proc_t peer = me;
    pmix_value_t *value = NULL;
    char key[64];

    put("direct", round);
    meet();
    peer.rank = (me.rank + 1) % meeting.size;
    snprintf(key, sizeof(key), "cpu.direct.%zu", round);
    must(PMIx_Get(&peer, key, NULL, 0, &value), "get");
    free(value->data.bo.bytes);
    free(value);
}

/* One at a time: the next when the last has been heard by all. */
static void event(size_t round)
{
    if (me.rank == 0) {
        uint64_t number = round;
        pmix_info_t info;

        PMIX_INFO_LOAD(&info, "cpu.round", &number, PMIX_UINT64);
        const pmix_status_t rc = PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 151, &me,
                                                   PMIX_RANGE_LOCAL, &info, 1, NULL, NULL);

        must(rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc, "notify");
    } else {
        while (atomic_load(&received) <= round) {
            usleep(200);
        }
    }
    meet();
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    atomic_fetch_add(&received, 1);
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Each operation by all ranks; the figure is of one such, whatever the number of ranks. */
static void block(const char *name, void (*operation)(size_t round), size_t count,
                  const char *comma)
{
    meet();
    const double before = server_ns();

    meet();
    for (size_t i = 0; i < count; i++) {
        operation(i);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence"); /* the server has seen all of it */
    meet();
    const double spent = server_ns() - before;

    if (me.rank == 0) {
        printf("%s\"%s_us\": %.3f", comma, name, spent / (double)count / 1e3);
    }
}

int main(int argc, char **argv)
{
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 151;

    rounds = rounds_of(argc, argv, 256);
    must(PMIx_Init(&me, NULL, 0), "init");
    if (me.rank != 0) {
        const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL,
                                                             NULL);

        must(id < 0 ? id : PMIX_SUCCESS, "registering a handler");
    }
    meeting_open(&me);
    if (me.rank == 0) {
        printf("{\"rank\": 0, ");
    }
    block("idle", idle, 1, "");
    block("commit", commit, rounds, ", ");
    block("fence", fence, rounds, ", ");
    block("collect", collect, rounds, ", ");
    block("direct", direct, rounds / 4 + 1, ", ");
    block("event", event, rounds / 4 + 1, ", ");
    if (me.rank == 0) {
        printf("}\n");
        fflush(stdout);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
