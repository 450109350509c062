/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* names_mpi.c - two ranks that find each other by a name: MPI_Publish_name, MPI_Lookup_name,
 * MPI_Comm_accept, MPI_Comm_connect, MPI_Unpublish_name. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define SERVICE "names_mpi.service"

static int failed(const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int size;

    MPI_Error_string(rc, text, &size);
    printf("%s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}
#define CALL(call)                     \
    do {                               \
        const int rc_ = (call);        \
        if (rc_ != MPI_SUCCESS) {      \
            return failed(#call, rc_); \
        }                              \
    } while (0)

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    int rank, got = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) {
        CALL(MPI_Open_port(MPI_INFO_NULL, port));
        CALL(MPI_Publish_name(SERVICE, MPI_INFO_NULL, port));
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        CALL(MPI_Lookup_name(SERVICE, MPI_INFO_NULL, found));
        if (MPI_Lookup_name("names_mpi.nobody", MPI_INFO_NULL, port) == MPI_SUCCESS) {
            return failed("a name that nobody has published is found", MPI_SUCCESS);
        }
        CALL(MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    } else {
        CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    }
    CALL(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE));
    CALL(MPI_Comm_disconnect(&other));
    if (rank == 0) {
        CALL(MPI_Unpublish_name(SERVICE, MPI_INFO_NULL, port));
        CALL(MPI_Close_port(port));
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1 && MPI_Lookup_name(SERVICE, MPI_INFO_NULL, found) == MPI_SUCCESS) {
        return failed("a name that is unpublished is found", MPI_SUCCESS);
    }
    printf("rank %d met rank %d: %s\n", rank, got, got == 1 - rank ? "ok" : "wrong");
    MPI_Finalize();
    return 0;
}
