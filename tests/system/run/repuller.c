/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* repuller.c - pull numbered lines, take the pull back in the middle of them, and pull again:
 *            repuller lines STOP [COUNT]
 *            repuller rounds NSPACE ROUNDS
 *            repuller steady NSPACE FILE
 *            repuller leaver NSPACE finalize|kill
 *            repuller ended NSPACE
 *
 * Written after the Standard alone.  A rank writes numbered lines, each at once, until there is
 * STOP, or COUNT of them.  The others are tools and pull from such ranks, of which the first
 * FLOWING write all the while and one more has ended.  What a pull gets of a rank are whole lines
 * with numbers that follow each other, of an ended one its end and no more; and nothing comes once
 * the pull has been taken back.
 *   rounds  pulls ROUNDS times, and takes the pull back while more lines come
 *   steady  has one pull to the end; makes FILE once it has some lines, and then writes there how
 *           many lines each rank has written
 *   leaver  can not take another tool's pull back, and leaves without taking back its own
 *   ended   pulls from the rank that has ended, twice */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix_tool.h>

#define FLOWING 2u
#define RANKS (FLOWING + 1)
#define LINE 64u   /* bytes, with the newline */
#define ENOUGH 50u /* lines of a rank: its output flows */
#define BURST \
    512u /* lines; then a rank rests, so that a test that fails leaves the disk some room */
#define PATIENCE_S 60 /* then something is lost */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;     /* there is a pull */
    size_t number; /* of the pull; 0: it is not known yet */
    bool answered; /* what was asked with a callback */
    pmix_status_t status;
    struct stream {
        char line[LINE];
        size_t line_used;
        unsigned long long next;   /* number of a line */
        unsigned long count, ends; /* of this pull */
    } of[RANKS];
} received = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "repuller: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    fflush(stderr);
    _exit(1);
}

static void line_write(char *line, unsigned rank, unsigned long long number)
{
    snprintf(line, LINE + 1, "%02u %060llu\n", rank, number);
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static int lines(const char *stop, unsigned long long count)
{
    const unsigned rank = (unsigned)atoi(getenv("PMIX_RANK"));
    char line[LINE + 1];

    for (unsigned long long i = 0; i < count; i++) {
        if (i % BURST == 0 && access(stop, F_OK) == 0) {
            break;
        }
        if (i % BURST == 0) {
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        }
        line_write(line, rank, i);
        if (write(STDOUT_FILENO, line, LINE) != (ssize_t)LINE) {
            die("a line was not written at once");
        }
    }
    return 0;
}

/* ---- what comes ------------------------------------------------------------------------------ */

static void line_judge(struct stream *stream, unsigned rank)
{
    char want[LINE + 1];
    const unsigned long long number = strtoull(stream->line + 3, NULL, 10);

    line_write(want, rank, number);
    if (memcmp(stream->line, want, LINE) != 0) {
        die("no whole line of rank %u: '%.*s'", rank, (int)LINE - 1, stream->line);
    }
    if (stream->count == 0 ? number < stream->next : number != stream->next) {
        die("behind %lu lines of this pull of rank %u, line %llu comes instead of line %llu",
            stream->count, rank, number, stream->next);
    }
    stream->next = number + 1;
    stream->count++;
}

static void on_output(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    const unsigned rank = source->rank;

    pthread_mutex_lock(&received.lock);
    received.number = received.number == 0 ? handler : received.number;
    if (!received.open || handler != received.number) {
        die("pull %zu gets output, although there is no such pull", handler);
    }
    if (channel != PMIX_FWD_STDOUT_CHANNEL || rank >= RANKS || ninfo > 0) {
        die("output of channel %u of rank %u with %zu infos", channel, rank, ninfo);
    }
    struct stream *const stream = &received.of[rank];

    if (stream->ends > 0) {
        die("%zu bytes of rank %u behind its end", payload->size, rank);
    }
    stream->ends = payload->size == 0;
    for (size_t i = 0; i < payload->size; i++) {
        stream->line[stream->line_used++] = payload->bytes[i];
        if (stream->line_used == LINE) {
            line_judge(stream, rank);
            stream->line_used = 0;
        }
    }
    pthread_cond_broadcast(&received.changed);
    pthread_mutex_unlock(&received.lock);
}

/* Under the lock. */
static bool is_answered(void)
{
    return received.answered;
}
static bool flows(void)
{
    bool all = true;

    for (unsigned rank = 0; rank < FLOWING; rank++) {
        all &= received.of[rank].count >= ENOUGH;
    }
    return all;
}
static bool has_last_end(void)
{
    return received.of[RANKS - 1].ends > 0;
}
static bool has_ends(void)
{
    bool all = true;

    for (unsigned rank = 0; rank < RANKS; rank++) {
        all &= received.of[rank].ends > 0;
    }
    return all;
}

static void await(const char *what, bool (*is_so)(void))
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&received.lock);
    while (!is_so()) {
        if (pthread_cond_timedwait(&received.changed, &received.lock, &until) != 0) {
            die("waited in vain: %s", what);
        }
    }
    pthread_mutex_unlock(&received.lock);
}

/* ---- a pull ---------------------------------------------------------------------------------- */

static void answer(pmix_status_t status)
{
    pthread_mutex_lock(&received.lock);
    received.answered = true;
    received.status = status;
    pthread_cond_broadcast(&received.changed);
    pthread_mutex_unlock(&received.lock);
}

static void on_registered(pmix_status_t status, size_t number, void *cbdata)
{
    *(size_t *)cbdata = number;
    answer(status);
}

static void on_deregistered(pmix_status_t status, void *cbdata)
{
    answer(status);
}

/* @later: the answer is to be a callback. */
static void pull(const char *nspace, pmix_rank_t rank, bool later)
{
    pmix_proc_t proc;
    size_t number = 0;

    PMIX_LOAD_PROCID(&proc, nspace, rank);
    pthread_mutex_lock(&received.lock);
    received.open = true;
    received.number = 0;
    received.answered = false;
    for (unsigned i = 0; i < RANKS; i++) {
        received.of[i].count = received.of[i].ends = 0;
    }
    pthread_mutex_unlock(&received.lock);
    pmix_status_t rc = PMIx_IOF_pull(&proc, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output,
                                     later ? on_registered : NULL, &number);

    if (later && rc == PMIX_SUCCESS) {
        await("the pull is made", is_answered);
        rc = received.status;
    } else if (!later && rc > 0) {
        number = (size_t)rc;
        rc = PMIX_SUCCESS;
    }
    pthread_mutex_lock(&received.lock);
    if (rc != PMIX_SUCCESS) {
        die("PMIx_IOF_pull: %s", PMIx_Error_string(rc));
    }
    if (received.number != 0 && received.number != number) {
        die("pull %zu is made, and there comes output of pull %zu", number, received.number);
    }
    received.number = number;
    pthread_mutex_unlock(&received.lock);
}

static void refused(const char *what, size_t number)
{
    const pmix_status_t rc = PMIx_IOF_deregister(number, NULL, 0, NULL, NULL);

    if (rc != PMIX_ERR_NOT_FOUND) {
        die("%s, %zu, can be taken back: %s", what, number, PMIx_Error_string(rc));
    }
}

static void take_back(bool later)
{
    received.answered = false;
    pmix_status_t rc = PMIx_IOF_deregister(received.number, NULL, 0, later ? on_deregistered : NULL,
                                           NULL);

    if (later && rc == PMIX_SUCCESS) {
        await("the pull is taken back", is_answered);
        rc = received.status;
    }
    pthread_mutex_lock(&received.lock);
    received.open = false; /* so that what comes now is too late */
    for (unsigned rank = 0; rank < RANKS; rank++) {
        if (rc != PMIX_SUCCESS || received.of[rank].line_used > 0) {
            die("PMIx_IOF_deregister: %s, with %zu bytes of a line of rank %u",
                PMIx_Error_string(rc), received.of[rank].line_used, rank);
        }
    }
    pthread_mutex_unlock(&received.lock);
    refused("a pull that was taken back", received.number);
    refused("a pull that never was", received.number + 1);
    refused("a pull that never was", 0);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void rounds(const char *nspace, int count)
{
    for (int i = 0; i < count; i++) {
        pull(nspace, PMIX_RANK_WILDCARD, i % 2 != 0);
        await("lines come", flows);
        take_back(i % 4 > 1);
        if (received.of[RANKS - 1].ends != 1 || received.of[RANKS - 1].count > 0) {
            die("of a rank that has ended: %lu lines, %lu ends", received.of[RANKS - 1].count,
                received.of[RANKS - 1].ends);
        }
    }
}

static void steady(const char *nspace, const char *path)
{
    FILE *const file = fopen(path, "w");

    if (file == NULL) {
        die("%s can not be written", path);
    }
    pull(nspace, PMIX_RANK_WILDCARD, false);
    await("lines come", flows);
    fprintf(file, "flows\n");
    fflush(file);
    await("all ranks end", has_ends);
    for (unsigned rank = 0; rank < FLOWING; rank++) {
        fprintf(file, "%02u %llu\n", rank, received.of[rank].next);
    }
    fclose(file);
}

static void leaver(const char *nspace, const char *how)
{
    refused("another tool's pull", 1);
    pull(nspace, PMIX_RANK_WILDCARD, false);
    await("lines come", flows);
    if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    }
}

static void ended(const char *nspace)
{
    for (int i = 0; i < 2; i++) {
        pull(nspace, RANKS - 1, i > 0);
        await("a rank that has ended: its end", has_last_end);
        take_back(false);
        if (received.of[RANKS - 1].count > 0) {
            die("of a rank that has ended: %lu lines", received.of[RANKS - 1].count);
        }
    }
}

int main(int argc, char **argv)
{
    const char *const what = argc > 2 ? argv[1] : "", *const word = argc > 3 ? argv[3] : NULL;
    pmix_status_t rc;
    pmix_proc_t me;

    if (strcmp(what, "lines") == 0) {
        return lines(argv[2], word != NULL ? strtoull(word, NULL, 10) : ~0ull);
    }
    rc = PMIx_tool_init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        die("PMIx_tool_init: %s", PMIx_Error_string(rc));
    }
    if (strcmp(what, "rounds") == 0 && word != NULL) {
        rounds(argv[2], atoi(word));
    } else if (strcmp(what, "steady") == 0 && word != NULL) {
        steady(argv[2], word);
    } else if (strcmp(what, "leaver") == 0 && word != NULL) {
        leaver(argv[2], word);
    } else if (strcmp(what, "ended") == 0) {
        ended(argv[2]);
    } else {
        die("usage: see the head of repuller.c");
    }
    (void)PMIx_tool_finalize(); /* its server may have gone, which is all it could say */
    return 0;
}
