/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leftovers_test.c - Open MPI's files of a job go, and those of others stay.  The names are those
 * that Open MPI 4.1.4 and 5.0.8 gave their files in a job of that name. */
#include "launch/job/leftovers.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define NSPACE "shmix-10500-5ff248"

static const struct {
    const char *name; /* %u: this user's number, and one more */
    bool goes;
} files[] = {
    { "vader_segment.test.0.e6db2fa9.0", true }, { "sm_segment.test.%u.49720000.0", true },
    { "osc_sm.test.e6db2fa9.0.3", true },        { "osc_sm.test.49720000.0.3", true },
    { "osc_rdma.test.e6db2fa9.0.3", true },      { "osc_rdma.test.49720000.0.3", true },
    { "sm_segment.test.9%u.49720000.0", false }, { "sm_segment.test.%u.49720001.0", false },
    { "sm_segment.test.%u.e6db2fa9.0", false },  { "other.test.%u.49720000.0", false },
};

static const char *path_of(size_t file)
{
    static char path[128];
    char name[96];

    snprintf(name, sizeof(name), files[file].name, (unsigned)geteuid()); // NOLINT: a table
    snprintf(path, sizeof(path), "/dev/shm/%s", name);
    return path;
}

Test(run_leftovers, of_one_job_go)
{
    struct stat st;

    for (size_t i = 0; i < SX_COUNT(files); i++) {
        const int fd = open(path_of(i), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

        cr_assert_geq(fd, 0);
        close(fd);
    }
    sx_run_leftovers_sweep(NSPACE);
    for (size_t i = 0; i < SX_COUNT(files); i++) {
        cr_expect_eq(stat(path_of(i), &st) != 0, files[i].goes, "%s", path_of(i));
        (void)unlink(path_of(i));
    }
}
