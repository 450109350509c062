/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* abort_mpi.c [STATUS] - the last rank calls MPI_Abort while the others wait to be killed. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        MPI_Abort(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 7);
    }
    for (;;) {
        pause();
    }
}
