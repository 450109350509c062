/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.c - output of ranks through their launcher, into a file and into a terminal.
 *
 * Question:  how many bytes a second does a launcher forward?
 * Predict:   into a file 1 GB/s: a read and a write of 64 KiB each copy once, 0.1 ns a byte both.
 *            Into a terminal what the kernel takes there in pieces of 4 KiB, 0.1 to 0.3 GB/s.
 * Method:    this program starts the launcher, whose standard output is a file, or a terminal that
 *            it reads; the ranks are this program as well, and write lines of 64 bytes in pieces of
 *            64 KiB.  The time is that from the launcher's start to its end; that of a run whose
 *            ranks write nothing is taken off.  file_per_s, terminal_per_s: bytes a second.
 * Varies:    ranks.  Control: alone_per_s, one rank without a launcher, into the terminal.
 * argv[1]: MiB of each rank, argv[2]: ranks; then the launcher and its words, none: ranks are
 * started alone.  It prints one line of JSON. */
#include <fcntl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "compare.h"

#define RANK "--rank"
#define LINE 64
#define PIECE 65536
#define WORDS_MAX 64

static int rank_main(size_t mib)
{
    static char piece[PIECE];

    memset(piece, 'x', sizeof(piece));
    for (size_t at = LINE - 1; at < sizeof(piece); at += LINE) {
        piece[at] = '\n';
    }
    for (size_t left = mib << 20; left > 0;) {
        const size_t size = left < sizeof(piece) ? left : sizeof(piece);
        const ssize_t wrote = write(STDOUT_FILENO, piece, size);

        must(wrote > 0 ? PMIX_SUCCESS : PMIX_ERROR, "write");
        left -= (size_t)wrote;
    }
    return 0;
}

/* Run @words, whose output is @fd and goes to @reader if that is not -1.  Return: microseconds. */
static double run(char **words, int fd, int reader, size_t bytes)
{
    static char taken[PIECE];
    const double begin = now_us();
    const pid_t pid = fork();
    size_t got = 0;
    int status;

    if (pid == 0) {
        dup2(fd, STDOUT_FILENO);
        execvp(words[0], words);
        _exit(127);
    }
    while (reader >= 0 && got < bytes) {
        const ssize_t size = read(reader, taken, sizeof(taken));

        must(size > 0 ? PMIX_SUCCESS : PMIX_ERROR, "read");
        got += (size_t)size;
    }
    must(waitpid(pid, &status, 0) == pid && status == 0 ? PMIX_SUCCESS : PMIX_ERROR, "launcher");
    return now_us() - begin;
}

static void terminal_open(int *ret_reader, int *ret_fd)
{
    struct termios mode;

    *ret_reader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    must(*ret_reader >= 0 && grantpt(*ret_reader) == 0 && unlockpt(*ret_reader) == 0 ? PMIX_SUCCESS
                                                                                     : PMIX_ERROR,
         "terminal");
    *ret_fd = open(ptsname(*ret_reader), O_RDWR | O_NOCTTY | O_CLOEXEC);
    must(*ret_fd >= 0 && tcgetattr(*ret_fd, &mode) == 0 ? PMIX_SUCCESS : PMIX_ERROR, "terminal");
    cfmakeraw(&mode);
    tcsetattr(*ret_fd, TCSANOW, &mode);
}

/* The launcher's words, and a rank's behind them. */
static void words_make(char **words, char **launcher, int count, char *self, char *mib)
{
    for (int i = 0; i < count; i++) {
        *words++ = launcher[i];
    }
    *words++ = self;
    *words++ = (char *)(uintptr_t)RANK;
    *words++ = mib;
    *words = NULL;
}

static double per_s(size_t bytes, double us, double idle_us)
{
    return (double)bytes / ((us > idle_us + 1 ? us - idle_us : us) / 1e6);
}

int main(int argc, char **argv)
{
    static char self[4096];
    char *words[WORDS_MAX], *idle[WORDS_MAX], *alone[4];
    int reader, terminal;

    if (argc > 2 && strcmp(argv[1], RANK) == 0) {
        return rank_main((size_t)atol(argv[2]));
    }
    must(argc > 2 && argc < WORDS_MAX - 4 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM, "words");
    const size_t each = (size_t)atol(argv[1]) << 20, bytes = each * (size_t)atol(argv[2]);
    FILE *const file = tmpfile();

    must(file != NULL && readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 ? PMIX_SUCCESS
                                                                                : PMIX_ERROR,
         "file");
    words_make(words, argv + 3, argc - 3, self, argv[1]);
    words_make(idle, argv + 3, argc - 3, self, (char *)(uintptr_t) "0");
    words_make(alone, NULL, 0, self, argv[1]);
    terminal_open(&reader, &terminal);
    const double idle_us = run(idle, fileno(file), -1, 0);
    const double file_us = run(words, fileno(file), -1, 0);

    must(lseek(fileno(file), 0, SEEK_END) == (off_t)(argc > 3 ? bytes : each) ? PMIX_SUCCESS
                                                                              : PMIX_ERROR,
         "all of it");
    const double terminal_us = run(words, terminal, reader, argc > 3 ? bytes : each);
    const double alone_us = run(alone, terminal, reader, each);

    printf("{\"file_per_s\": %.0f, \"terminal_per_s\": %.0f, \"alone_per_s\": %.0f, "
           "\"idle_us\": %.1f}\n",
           per_s(bytes, file_us, idle_us), per_s(bytes, terminal_us, idle_us),
           per_s(each, alone_us, 0), idle_us);
    return 0;
}
