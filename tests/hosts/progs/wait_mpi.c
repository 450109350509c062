/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wait_mpi.c - each rank prints its pid and the files of /dev/shm that it has mapped, one word
 * each on one line, and waits to be killed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 64

static void print_files(void)
{
    static char seen[FILES_MAX][512];
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4352];
    int count = 0;

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL && count < FILES_MAX) {
        char *path = strstr(line, "/dev/shm/");
        int i = 0;

        if (path == NULL) {
            continue;
        }
        path[strcspn(path, " \n")] = '\0';
        while (i < count && strcmp(seen[i], path) != 0) {
            i++;
        }
        if (i == count && strlen(path) < sizeof(seen[0])) {
            strcpy(seen[count++], path);
            printf(" %s", path);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%ld", (long)getpid());
    print_files();
    printf("\n");
    fflush(stdout);
    for (;;) {
        pause();
    }
    return 0;
}
