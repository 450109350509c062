/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segv_mpi.c - the last rank dies of SIGSEGV while the others wait to be killed; not in a barrier,
 * where who writes to the dead over TCP ends by SIGPIPE. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == size - 1) {
        /* Without Open MPI's handler, which would print a stack and change nothing else. */
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    for (;;) {
        pause();
    }
}
