/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello_mpi.c - each rank says who it is and which libpmix it runs on; an Allreduce is checked. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* The file that this process has mapped as its PMIx library. */
static void library_find(char *ret_path, size_t size)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4352];

    snprintf(ret_path, size, "none");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        char *path = strchr(line, '/');

        if (path != NULL && strstr(path, "/libpmix.so") != NULL) {
            path[strcspn(path, "\n")] = '\0';
            snprintf(ret_path, size, "%s", path);
            break;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

int main(int argc, char **argv)
{
    char library[4096];
    int rank, size;
    long mine, sum = 0, want;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    library_find(library, sizeof(library));
    mine = (long)rank + 1;
    want = (long)size * (size + 1) / 2;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    printf("hello from rank %d of %d, sum %ld %s, libpmix %s\n", rank, size, sum,
           sum == want ? "ok" : "WRONG", library);
    fflush(stdout);
    MPI_Finalize();
    return sum == want ? 0 : 1;
}
