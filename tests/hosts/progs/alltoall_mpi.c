/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alltoall_mpi.c - every rank sends a block of its own to every other, in growing sizes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_MAX 16384 /* ints: beyond the eager limits of all transports */

static int word(int from, int to, int at)
{
    return from * 1000003 + to * 1009 + at;
}

/* Return: how many ints are not what they should be. */
static long exchange(int rank, int size, int block, int *out, int *in)
{
    long wrong = 0;

    for (int to = 0; to < size; to++) {
        for (int i = 0; i < block; i++) {
            out[to * block + i] = word(rank, to, i);
        }
    }
    MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++) {
        for (int i = 0; i < block; i++) {
            wrong += in[from * block + i] != word(from, rank, i);
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, *out, *in;
    long wrong = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = malloc(sizeof(*out) * (size_t)size * BLOCK_MAX);
    in = malloc(sizeof(*in) * (size_t)size * BLOCK_MAX);
    if (out == NULL || in == NULL) {
        fprintf(stderr, "no memory for %d blocks\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    for (int block = 1; block <= BLOCK_MAX; block *= 4) {
        wrong += exchange(rank, size, block, out, in);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("all-to-all of %d: %s\n", size, all == 0 ? "ok" : "WRONG");
    }
    free(out);
    free(in);
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
