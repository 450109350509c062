/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* end_mpi.c exit|kill - the last rank leaves without a word while the others wait to be killed (not
 * in a barrier, where who writes to the dead over TCP ends by SIGPIPE).
 *     exit   with status 5, without MPI_Finalize
 *     kill   by SIGKILL */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        if (argc > 1 && strcmp(argv[1], "kill") == 0) {
            kill(getpid(), SIGKILL);
        }
        _exit(5);
    }
    for (;;) {
        pause();
    }
}
