/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* traps_mpi.c [trap] - MPI_Init and MPI_Finalize raise no floating point exception: each would end
 * a program that traps it (gfortran -ffpe-trap), and stand in what Fortran programs say last. */
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>

#define SEEN (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW)

int main(int argc, char **argv)
{
    int rank;

    feclearexcept(FE_ALL_EXCEPT);
    if (argc > 1) {
        feenableexcept(SEEN);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    printf("rank %d: %s\n", rank, fetestexcept(SEEN) == 0 ? "none raised" : "raised");
    return 0;
}
