/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ring_mpi.c - a number goes round all ranks ten times; each adds its own. */
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 10

int main(int argc, char **argv)
{
    int rank, size;
    long token = 0, want;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        const int next = (rank + 1) % size, former = (rank + size - 1) % size;

        if (rank == 0) {
            MPI_Send(&token, 1, MPI_LONG, next, round, MPI_COMM_WORLD);
        }
        MPI_Recv(&token, 1, MPI_LONG, former, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token += rank;
        if (rank != 0) {
            MPI_Send(&token, 1, MPI_LONG, next, round, MPI_COMM_WORLD);
        }
    }
    want = (long)ROUNDS * size * (size - 1) / 2;
    if (rank == 0) {
        printf("ring of %d: %ld %s\n", size, token, token == want ? "ok" : "WRONG");
    }
    MPI_Finalize();
    return rank == 0 && token != want ? 1 : 0;
}
