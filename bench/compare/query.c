/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - what a question costs: of a rank about its job, and of a tool that comes for it.
 *
 * Question:  what does PMIx_Query_info cost of a key that is in shared memory, and how long does a
 *            tool take from the beginning of PMIx_tool_init to its first answer?
 * Predict:   at most 5 us, some allocations and a Get, no message; at most 3 ms: to find the server
 *            by its file, its answer, a thread, and one more round trip.
 * Method:    each rank asks for the size of its job, in batches of 16.  Rank 0 then starts tools,
 *            one after the other: this program again, which looks for the launcher by its process,
 *            asks for the names of all jobs, and leaves.
 * Varies:    ranks.  Fixed: 1 of 8 rounds is a tool.  Control: compare/ops (a Get).
 * Every rank prints one line of JSON; tool_us is rank 0's in all of them. */
#include "tool.h"

#define BATCH 16

static double samples[ROUNDS_MAX];

static double query_us(const pmix_proc_t *me, size_t rounds)
{
    const uint32_t size = job_size(me);
    pmix_proc_t job = *me;
    pmix_status_t rc;
    size_t count;

    job.rank = PMIX_RANK_WILDCARD;
    for (size_t i = 0; i < rounds; i++) {
        const double begin = now_us();

        for (int k = 0; k < BATCH; k++) {
            pmix_info_t *const info = ask(PMIX_JOB_SIZE, &job, &rc, &count);

            must(rc, "query of the job size");
            if (info[0].value.data.uint32 != size) {
                must(PMIX_ERROR, "the size of the job that a query tells");
            }
            free(info);
        }
        samples[i] = (now_us() - begin) / BATCH;
    }
    return median(samples, rounds);
}

static double tool_run(pid_t launcher)
{
    int fds[2], status;
    char server[16], line[64] = "";

    snprintf(server, sizeof(server), "%d", (int)launcher);
    must(pipe(fds) == 0 ? PMIX_SUCCESS : PMIX_ERROR, "pipe");
    const pid_t pid = fork();

    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        tool_exec(TOOL, server);
    }
    close(fds[1]);
    const ssize_t got = read(fds[0], line, sizeof(line) - 1);

    close(fds[0]);
    must(got > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? PMIX_SUCCESS : PMIX_ERROR,
         "a tool");
    return atof(line);
}

static double tool_us(size_t count)
{
    const pid_t launcher = getppid();

    for (size_t i = 0; i < count; i++) {
        samples[i] = tool_run(launcher);
    }
    return median(samples, count);
}

int main(int argc, char **argv)
{
    if (tool_is(argc, argv, TOOL)) {
        printf("%.1f\n", tool_live(argv[2]));
        return 0;
    }
    if (!host_is_rank()) {
        return host_run(argc > 2 ? (unsigned)atoi(argv[2]) : 1, argv);
    }
    const size_t rounds = rounds_of(argc, argv, 256);
    double tool = 0;
    pmix_proc_t me;

    must(PMIx_Init(&me, NULL, 0), "init");
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    const double query = query_us(&me, rounds);

    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    if (me.rank == 0) {
        tool = tool_us(rounds / 8 + 1);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    printf("{\"rank\": %u, \"query_us\": %.2f, \"tool_us\": %.1f}\n", me.rank, query, tool);
    fflush(stdout);
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
