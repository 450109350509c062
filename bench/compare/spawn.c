/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn.c - a job that is spawned: how long it takes to be there.
 *
 * Question:  how long does a process wait for PMIx_Spawn of some children, and how long until all
 *            of them have come out of PMIx_Init?
 * Predict:   what as many processes cost to start, 0.3 ms each, and a millisecond; until they are
 *            ready, their PMIx_Init more, each on the CPUs that there are.
 * Method:    rank 0 spawns this program, which calls PMIx_Init and PMIx_Finalize, and counts that in
 *            a file.  spawn_us is the call, ready_us until the last has come out of PMIx_Init, looked
 *            at each 50 us; medians.  The next round begins when all are over.
 * Varies:    children.  Control: start_us, the same number of processes of this program by
 *            posix_spawn, which end at once, until the last has ended.
 * Debian's mpirun 4.1.4 stands still in the second PMIx_Spawn of a rank whose first children have
 * ended: it gets one round a run.
 * argv[1]: rounds, argv[2]: children.  Rank 0 prints one line of JSON. */
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"

#define CHILD "--child"
#define NOTHING "--nothing"
#define CHILDREN_MAX 256

extern char **environ;

static char self[4096];

/* What the children do in a file that all share. */
struct meter {
    _Atomic unsigned ready, over;
};

static struct meter *meter_open(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct meter *const meter = fd >= 0 && ftruncate(fd, sizeof(*meter)) == 0
                                    ? mmap(NULL, sizeof(*meter), PROT_READ | PROT_WRITE, MAP_SHARED,
                                           fd, 0)
                                    : MAP_FAILED;

    must(meter != MAP_FAILED ? PMIX_SUCCESS : PMIX_ERROR, path);
    close(fd);
    return meter;
}

static void await(const _Atomic unsigned *count, unsigned wanted)
{
    while (atomic_load(count) < wanted) {
        usleep(50);
    }
}

static int child(const char *path)
{
    struct meter *const meter = meter_open(path);
    pmix_proc_t me;

    must(PMIx_Init(&me, NULL, 0), "init of a child");
    atomic_fetch_add(&meter->ready, 1);
    must(PMIx_Finalize(NULL, 0), "finalize of a child");
    atomic_fetch_add(&meter->over, 1);
    return 0;
}

/* Microseconds. */
static double start(unsigned children)
{
    char *const argv[] = { self, (char *)(uintptr_t)NOTHING, NULL };
    const double begin = now_us();

    for (unsigned i = 0; i < children; i++) {
        pid_t pid;

        must(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0 ? PMIX_SUCCESS : PMIX_ERROR,
             "start");
    }
    for (unsigned i = 0; i < children; i++) {
        int status;

        must(wait(&status) > 0 && status == 0 ? PMIX_SUCCESS : PMIX_ERROR, "start");
    }
    return now_us() - begin;
}

static void spawn(unsigned children, double *spawn_us, double *ready_us)
{
    static char path[] = "/tmp/bench-spawn-XXXXXX";
    static struct meter *meter;
    char *argv[] = { self, (char *)(uintptr_t)CHILD, path, NULL };
    pmix_app_t app;
    pmix_nspace_t job;

    if (meter == NULL) {
        const int fd = mkstemp(path);

        close(fd);
        meter = meter_open(path);
    }
    atomic_store(&meter->ready, 0);
    atomic_store(&meter->over, 0);
    memset(&app, 0, sizeof(app));
    app.cmd = self;
    app.argv = argv;
    app.maxprocs = (int)children;
    const double begin = now_us();

    must(PMIx_Spawn(NULL, 0, &app, 1, job), "spawn");
    *spawn_us = now_us() - begin;
    await(&meter->ready, children);
    *ready_us = now_us() - begin;
    await(&meter->over, children);
    unlink(path); /* again each time: children open it by its name */
    meter = NULL;
    memcpy(path, "/tmp/bench-spawn-XXXXXX", sizeof(path));
}

int main(int argc, char **argv)
{
    static double samples[3][ROUNDS_MAX];

    if (argc > 1 && strcmp(argv[1], NOTHING) == 0) {
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], CHILD) == 0) {
        return child(argv[2]);
    }
    const size_t rounds = rounds_of(argc, argv, 8);
    const unsigned children = argc > 2 ? (unsigned)atoi(argv[2]) : 16;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    pmix_proc_t me;

    must(length > 0 && children > 0 && children <= CHILDREN_MAX ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM,
         "children");
    must(PMIx_Init(&me, NULL, 0), "init");
    for (size_t i = 0; i < rounds && me.rank == 0; i++) {
        samples[2][i] = start(children);
        spawn(children, &samples[0][i], &samples[1][i]);
    }
    if (me.rank == 0) {
        printf("{\"rank\": 0, \"spawn_us\": %.1f, \"ready_us\": %.1f, \"start_us\": %.1f}\n",
               median(samples[0], rounds), median(samples[1], rounds), median(samples[2], rounds));
    }
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
