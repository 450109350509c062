/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flow.c - much output, and a reader that takes its time.
 *            flow rank COUNTS BYTES [FILE]
 *            flow pipe|pty COUNTS BYTES RANKS HELD_MAX GROWN_MAX COMMAND...
 *
 * COUNTS is a file that all share.  A rank waits in it for the reader, and until there is FILE; it
 * writes BYTES in numbered lines, and counts there what it has written.  The reader runs COMMAND, whose standard output it
 * is, and first of all reads nothing until no rank gets any further.  Whatever was written and has
 * not been read is held by somebody: never more than HELD_MAX bytes.  COMMAND's own memory must not
 * grow by more than GROWN_MAX bytes, and every line must come, in the order of its rank. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX 64
#define LINE 64u /* bytes, with the newline */
#define LOOKS_ALIKE 100

struct counts {
    _Atomic uint32_t go, ready;
    _Atomic uint64_t written[RANKS_MAX];
};

static void die(const char *what)
{
    fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
    exit(2);
}

static struct counts *counts_map(const char *path, int flags)
{
    struct counts *counts;
    const int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0666);

    if (fd < 0 || ftruncate(fd, sizeof(*counts)) != 0) {
        die(path);
    }
    counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (counts == MAP_FAILED) {
        die("mmap");
    }
    close(fd);
    return counts;
}

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static int rank_main(const char *path, uint64_t bytes, const char *file)
{
    const char *const name = getenv("PMIX_RANK");
    struct counts *const counts = counts_map(path, 0);
    const uint32_t rank = name == NULL ? 0 : (uint32_t)atoi(name);
    char text[64 * LINE];

    while (file != NULL && access(file, F_OK) != 0) {
        rest();
    }
    atomic_fetch_add(&counts->ready, 1);
    while (atomic_load(&counts->go) == 0) {
        rest();
    }
    for (uint64_t line = 0; line < bytes / LINE;) {
        size_t used = 0;

        for (; used < sizeof(text) && line < bytes / LINE; line++, used += LINE) {
            char numbered[LINE + 1];

            snprintf(numbered, sizeof(numbered), "%02u %-60llu\n", rank, (unsigned long long)line);
            memset(text + used, '.', LINE);
            memcpy(text + used, numbered, strlen(numbered));
            text[used + LINE - 1] = '\n';
        }
        for (size_t at = 0; at < used;) {
            const ssize_t wrote = write(STDOUT_FILENO, text + at, used - at);

            if (wrote < 0) {
                die("write");
            }
            at += (size_t)wrote;
            atomic_fetch_add(&counts->written[rank], (uint64_t)wrote);
        }
    }
    return 0;
}

/* ---- the reader ------------------------------------------------------------------------------ */

struct reader {
    struct counts *counts;
    uint64_t each, held_max, grown_max, taken, held;
    uint32_t ranks;
    uint64_t lines[RANKS_MAX];
    char line[LINE];
    size_t line_used;
};

static uint64_t written(const struct reader *reader)
{
    uint64_t sum = 0;

    for (uint32_t rank = 0; rank < reader->ranks; rank++) {
        sum += atomic_load(&reader->counts->written[rank]);
    }
    return sum;
}

/* Return: the most memory that @pid has had, in bytes; 0 when it has gone. */
static uint64_t memory_of(pid_t pid)
{
    char path[64], text[256];
    unsigned long long kib = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *const file = fopen(path, "r");

    while (file != NULL && fgets(text, sizeof(text), file) != NULL) {
        if (sscanf(text, "VmHWM: %llu", &kib) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib * 1024;
}

/* What a rank has written is counted late, and what was read at once: so this is never too much. */
static void held_look(struct reader *reader)
{
    const uint64_t sum = written(reader);
    const uint64_t held = sum > reader->taken ? sum - reader->taken : 0;

    reader->held = held > reader->held ? held : reader->held;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

/* Until no rank writes any more, which is not so for ever only if nobody takes it. */
static void flood_await(struct reader *reader, pid_t pid)
{
    uint64_t before = 0;

    for (int alike = 0; alike < LOOKS_ALIKE && !has_ended(pid);) {
        const uint64_t sum = written(reader);

        alike = sum == before && sum > 0 ? alike + 1 : 0;
        before = sum;
        rest();
    }
    held_look(reader);
}

static void line_judge(struct reader *reader)
{
    unsigned long long number;
    unsigned rank;

    if (sscanf(reader->line, "%u %llu", &rank, &number) != 2 || rank >= reader->ranks ||
        number != reader->lines[rank] || reader->line[LINE - 1] != '\n') {
        fprintf(stderr, "flow: out of order: %.*s\n", (int)LINE - 1, reader->line);
        exit(1);
    }
    reader->lines[rank]++;
}

static void bytes_judge(struct reader *reader, const char *bytes, size_t size)
{
    while (size > 0) {
        const size_t room = LINE - reader->line_used;
        const size_t take = size < room ? size : room;

        memcpy(reader->line + reader->line_used, bytes, take);
        reader->line_used += take;
        bytes += take;
        size -= take;
        if (reader->line_used == LINE) {
            reader->line_used = 0;
            line_judge(reader);
        }
    }
}

/* Return: the most memory that @pid has had. */
static uint64_t all_read(struct reader *reader, int fd, pid_t pid)
{
    uint64_t memory = 0;
    char bytes[4096];
    ssize_t got;

    while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
        reader->taken += (uint64_t)got;
        held_look(reader);
        bytes_judge(reader, bytes, (size_t)got);
        if ((reader->taken & 0xfffff) < sizeof(bytes) ||
            reader->taken == reader->ranks * reader->each) {
            const uint64_t now = memory_of(pid);

            memory = now > memory ? now : memory;
        }
    }
    return memory;
}

static int judge(const struct reader *reader, uint64_t grown, int status)
{
    int bad = status != 0 || reader->held > reader->held_max || grown > reader->grown_max ||
              reader->line_used != 0;

    for (uint32_t rank = 0; rank < reader->ranks; rank++) {
        bad |= reader->lines[rank] != reader->each / LINE;
    }
    printf("%llu bytes of %u ranks; held at most: %llu (%llu may be); memory has grown by: %llu "
           "(%llu may be); status %d%s\n",
           (unsigned long long)reader->taken, reader->ranks, (unsigned long long)reader->held,
           (unsigned long long)reader->held_max, (unsigned long long)grown,
           (unsigned long long)reader->grown_max, status, bad ? ": BAD" : "");
    return bad ? 1 : 0;
}

/* Both ends; what is written comes out as it is. */
static void ends_open(bool terminal, int *ret_read, int *ret_write)
{
    struct termios mode;
    int pair[2];

    if (!terminal) {
        if (pipe2(pair, O_CLOEXEC) != 0) {
            die("pipe");
        }
        *ret_read = pair[0];
        *ret_write = pair[1];
        return;
    }
    *ret_read = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ret_read < 0 || grantpt(*ret_read) != 0 || unlockpt(*ret_read) != 0) {
        die("terminal");
    }
    *ret_write = open(ptsname(*ret_read), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ret_write < 0 || tcgetattr(*ret_write, &mode) != 0) {
        die("terminal");
    }
    cfmakeraw(&mode);
    tcsetattr(*ret_write, TCSANOW, &mode);
}

static int reader_main(bool terminal, const char *path, struct reader *reader, char **command)
{
    int from, to, status = 0;

    reader->counts = counts_map(path, O_CREAT | O_TRUNC);
    ends_open(terminal, &from, &to);
    const pid_t pid = fork();

    if (pid == 0) {
        dup2(to, STDOUT_FILENO);
        execvp(command[0], command);
        die(command[0]);
    }
    close(to);
    while (atomic_load(&reader->counts->ready) < reader->ranks && !has_ended(pid)) {
        rest();
    }
    const uint64_t before = memory_of(pid);

    atomic_store(&reader->counts->go, 1);
    flood_await(reader, pid);
    const uint64_t after = all_read(reader, from, pid);

    waitpid(pid, &status, 0);
    return judge(reader, after > before ? after - before : 0, status);
}

int main(int argc, char **argv)
{
    if (argc >= 4 && argc <= 5 && strcmp(argv[1], "rank") == 0) {
        return rank_main(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
    }
    if (argc > 7) {
        struct reader reader = { .each = strtoull(argv[3], NULL, 10),
                                 .ranks = (uint32_t)atoi(argv[4]),
                                 .held_max = strtoull(argv[5], NULL, 10),
                                 .grown_max = strtoull(argv[6], NULL, 10) };

        if (reader.ranks > 0 && reader.ranks <= RANKS_MAX) {
            return reader_main(strcmp(argv[1], "pty") == 0, argv[2], &reader, argv + 7);
        }
    }
    fprintf(stderr, "usage: see the head of flow.c\n");
    return 2;
}
