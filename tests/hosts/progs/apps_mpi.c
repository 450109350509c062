/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* apps_mpi.c - each rank says which application it is of (MPI_APPNUM); those of one application
 * meet in a communicator of their own, all of them in the world. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, found = 0, universe_found = 0, *appnum = NULL, *universe = NULL;
    int app_rank, app_size, sum = 0;
    MPI_Comm app;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &universe_found);
    MPI_Comm_split(MPI_COMM_WORLD, found ? *appnum : 99, rank, &app);
    MPI_Comm_rank(app, &app_rank);
    MPI_Comm_size(app, &app_size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d, app %d, %d of %d in it, universe %d, sum %s\n", rank, size,
           found ? *appnum : -1, app_rank, app_size, universe_found ? *universe : -1,
           sum == size * (size - 1) / 2 ? "ok" : "WRONG");
    MPI_Comm_free(&app);
    MPI_Finalize();
    return 0;
}
