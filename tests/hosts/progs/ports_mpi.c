/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ports_mpi.c - the name service and ports of MPI.  Each scenario is one word:
 *
 *     names        what is published is found, and not any more when it is taken back
 *     line N       rank 0 accepts at one port N times; the others come one after the other, N in all
 *     halves       the lower half of the ranks accepts, the upper half connects, as one world each
 *     server NAME  this job accepts once, at the port that it publishes as NAME
 *     client NAME  this job, another one, looks NAME up until it is there, and connects
 *
 * Rank 0 says "SCENARIO: ok". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char port[MPI_MAX_PORT_NAME];

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("rank %d of %d: %s\n", rank, size, what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void succeed(int rc, const char *what)
{
    char text[MPI_MAX_ERROR_STRING + 256], said[MPI_MAX_ERROR_STRING] = "";
    int len = 0;

    if (rc != MPI_SUCCESS) {
        MPI_Error_string(rc, said, &len);
        snprintf(text, sizeof(text), "%s: %s", what, said);
        check(0, text);
    }
}
#define CALL(call) succeed(call, #call)

/* Everybody of both worlds adds its rank in the merged one. */
static void merge_and_part(MPI_Comm *inter, int high, int want)
{
    MPI_Comm both;
    int mine, sum = -1, count;

    CALL(MPI_Intercomm_merge(*inter, high, &both));
    CALL(MPI_Comm_rank(both, &mine));
    CALL(MPI_Comm_size(both, &count));
    CALL(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, both));
    check(count == want, "how many have met");
    check(sum == count * (count - 1) / 2, "the sum of the merged world");
    CALL(MPI_Comm_free(&both));
    CALL(MPI_Comm_disconnect(inter));
}

static int class_of(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return class;
}

static void names(void)
{
    char name[64], found[MPI_MAX_PORT_NAME] = "";

    snprintf(name, sizeof(name), "ports_mpi.%d", rank);
    CALL(MPI_Open_port(MPI_INFO_NULL, port));
    CALL(MPI_Publish_name(name, MPI_INFO_NULL, port));
    CALL(MPI_Lookup_name(name, MPI_INFO_NULL, found));
    check(strcmp(found, port) == 0, "the port that is found");
    CALL(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
    check(class_of(MPI_Lookup_name(name, MPI_INFO_NULL, found)) == MPI_ERR_NAME,
          "the class of the error of a name that has gone");
    CALL(MPI_Close_port(port));
}

static void line(int count)
{
    MPI_Comm other;

    if (rank == 0) {
        CALL(MPI_Open_port(MPI_INFO_NULL, port));
    }
    CALL(MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        if (rank == 0) {
            CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
            merge_and_part(&other, 0, 2);
        } else if (rank == 1 + i % (size - 1)) {
            CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
            merge_and_part(&other, 1, 2);
        }
        CALL(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void halves(void)
{
    const int upper = rank >= size / 2;
    MPI_Comm half, other;

    CALL(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half));
    if (rank == 0) {
        CALL(MPI_Open_port(MPI_INFO_NULL, port));
    }
    CALL(MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD));
    if (upper) {
        CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other));
    } else {
        CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other));
    }
    merge_and_part(&other, upper, size);
    CALL(MPI_Comm_free(&half));
}

static void other_job(const char *side, const char *name)
{
    MPI_Comm other;
    int remote;

    if (strcmp(side, "server") == 0) {
        if (rank == 0) {
            CALL(MPI_Open_port(MPI_INFO_NULL, port));
            CALL(MPI_Publish_name(name, MPI_INFO_NULL, port));
        }
        CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other));
    } else {
        while (rank == 0 && MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS) {
        }
        CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other));
    }
    CALL(MPI_Comm_remote_size(other, &remote));
    merge_and_part(&other, strcmp(side, "server") != 0, size + remote);
    if (strcmp(side, "server") == 0 && rank == 0) {
        CALL(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
    }
}

int main(int argc, char **argv)
{
    const char *const name = argc > 1 ? argv[1] : "", *const word = argc > 2 ? argv[2] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(name, "names") == 0) {
        names();
    } else if (strcmp(name, "line") == 0) {
        line(atoi(word));
    } else if (strcmp(name, "halves") == 0) {
        halves();
    } else if (*word != '\0') {
        other_job(name, word);
    }
    if (rank == 0) {
        printf("%s: ok\n", name);
    }
    MPI_Finalize();
    return 0;
}
