/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sessions_mpi.c - no MPI_Init: a session, its groups, and communicators made of them, as MPI 4 has
 * them.  Each rank prints how many it has made. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMES 20

static void check(int wrong, const char *what)
{
    if (wrong) {
        fprintf(stderr, "%s\n", what);
        exit(9);
    }
}

/* A sum over a communicator of @group that is told from others by @tag. */
static void use(MPI_Group group, const char *tag)
{
    int size, rank, sum, next;
    MPI_Comm comm;

    check(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) !=
              MPI_SUCCESS,
          "MPI_Comm_create_from_group");
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    check(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS ||
              sum != size * (size - 1) / 2,
          "MPI_Allreduce");
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &next, 1, MPI_INT,
                 (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
    check(next != (rank + size - 1) % size, "MPI_Sendrecv");
    MPI_Comm_free(&comm);
}

int main(void)
{
    MPI_Session session;
    MPI_Group world, turned;
    int size, made = 0;

    check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS,
          "MPI_Session_init");
    check(MPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS,
          "MPI_Group_from_session_pset");
    MPI_Group_size(world, &size);
    for (; made < TIMES; made++) { /* one tag again and again */
        use(world, "org.example.world");
    }
    int last_first[][3] = { { size - 1, 0, -1 } };

    MPI_Group_range_incl(world, 1, last_first, &turned);
    use(turned, "org.example.turned");
    MPI_Group_free(&turned);
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
    printf("made %d of %d\n", made + 1, size);
    return 0;
}
