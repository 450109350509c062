/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bomb.c - processes that try to outlive their job:
 *          bomb daemon FILE   twice forked, in a session of its own; its number goes to FILE
 *          bomb chain FILE    the same, and each process forks the next one and ends, in a session
 *                             of its own again; FILE is made by the first
 *          bomb crowd FILE    four chains
 * They end by themselves, the daemon after a minute, a chain with its thousandth link: what nobody
 * ends, and nobody reaps, must not take all the numbers of the machine. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define SECONDS 60
#define CHAINS 4
#define LINKS 1000
#define LINK_US 500

static void note(const char *file)
{
    FILE *const out = fopen(file, "a");

    if (out != NULL) {
        fprintf(out, "%d\n", (int)getpid());
        fclose(out);
    }
}

static void chain(void)
{
    for (int i = 0; i < LINKS; i++) {
        if (fork() != 0) {
            _exit(0);
        }
        setsid();
        usleep(LINK_US);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    if (fork() > 0) {
        while (access(argv[2], F_OK) != 0) { /* the rank stays until it has begun */
            usleep(1000);
        }
        return 0;
    }
    setsid();
    if (fork() > 0) {
        return 0;
    }
    if (strcmp(argv[1], "daemon") == 0) {
        note(argv[2]);
        sleep(SECONDS);
        return 0;
    }
    for (int i = 1; i < CHAINS && strcmp(argv[1], "crowd") == 0; i++) {
        if (fork() == 0) {
            chain();
            return 0;
        }
    }
    note(argv[2]);
    chain();
    return 0;
}
