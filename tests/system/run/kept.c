/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* kept.c - a rank that a process traces which never waits: kept CODE [FILE]
 *
 * The tracer has a session of its own, and ends at a signal only.  With FILE the rank makes it, and
 * waits for its own end; otherwise it exits with CODE.  Status 77: tracing is refused here. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 77

/* Not before @go: a signal to the rank would stop it. */
static void trace(pid_t rank, int go, int fd)
{
    char word;

    (void)!read(go, &word, 1);
    word = ptrace(PTRACE_SEIZE, rank, NULL, NULL) == 0 ? 'y' : 'n';
    (void)!write(fd, &word, 1);
    for (;;) {
        pause();
    }
}

int main(int argc, char **argv)
{
    const pid_t rank = getpid();
    char word = 'n';
    int go[2], pair[2];

    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    if (argc < 2 || pipe(pair) != 0 || pipe(go) != 0) {
        return CANNOT;
    }
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            trace(rank, go[0], pair[1]);
        }
        _exit(0);
    }
    (void)wait(NULL);
    (void)!write(go[1], "", 1);
    if (read(pair[0], &word, 1) != 1 || word != 'y') {
        return CANNOT;
    }
    if (argc > 2) {
        close(open(argv[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        for (;;) {
            pause();
        }
    }
    return atoi(argv[1]);
}
