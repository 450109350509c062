/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.c - format a line on the stack and hand it to the kernel in one write.
 *
 * The level is looked up once and kept in one word; two threads that look it up at the same time
 * find the same answer.  The name is kept in atomic words: a logger that reads a half-written name
 * shows parts of both, and never reads past the array. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

#define SX_LOG_LINE_MAX 1024
#define SX_LOG_NAME_MAX 64

static const char *const level_names[] = { "none", "error", "warn", "info", "debug" };

/* 0: not yet read; else the level plus one. */
static _Atomic int level_plus_one;

/* Eight words, so that a name is read and written without a lock and without a torn byte. */
static _Atomic uint64_t name_words[SX_LOG_NAME_MAX / sizeof(uint64_t)];

static _Atomic(bool (*)(enum sx_log_level)) judge;

/* Return: false for a word that is not a level, and then the default. */
static bool level_read(const char *text, int *ret_level)
{
    *ret_level = SX_LOG_WARN;
    for (size_t i = 0; text != NULL && i < SX_COUNT(level_names); i++) {
        if (strcasecmp(text, level_names[i]) == 0) {
            *ret_level = (int)i;
            return true;
        }
    }
    return text == NULL || text[0] == '\0';
}

/* Return: the level plus one.  The first reader logs what is wrong with the word. */
static int level_look(void)
{
    const char *const text = getenv("SHMIX_LOG");
    int level;
    const bool known = level_read(text, &level);

    /* relaxed: the word stands for itself. */
    if (atomic_exchange_explicit(&level_plus_one, level + 1, memory_order_relaxed) == 0 && !known) {
        sx_log(SX_LOG_WARN, "SHMIX_LOG=%s is no level (none, error, warn, info or debug): not used",
               text);
    }
    return level + 1;
}

bool sx_log_wants(enum sx_log_level level)
{
    /* relaxed: the word stands for itself. */
    int known = atomic_load_explicit(&level_plus_one, memory_order_relaxed);

    if (known == 0) {
        known = level_look();
    }
    return level != SX_LOG_NONE && (int)level < known;
}

void sx_log_begin(void)
{
    (void)sx_log_wants(SX_LOG_WARN);
}

void sx_log_set_name(const char *name)
{
    uint64_t words[SX_COUNT(name_words)] = { 0 };

    if (name != NULL) {
        memcpy(words, name, strnlen(name, SX_LOG_NAME_MAX - 1));
    }
    for (size_t i = 0; i < SX_COUNT(words); i++) {
        /* relaxed: a line that mixes two names is a blemish, not an error. */
        atomic_store_explicit(&name_words[i], words[i], memory_order_relaxed);
    }
}

void sx_log_set_judge(bool (*may_write)(enum sx_log_level level))
{
    /* relaxed: a function stands for itself. */
    atomic_store_explicit(&judge, may_write, memory_order_relaxed);
}

static bool may_write(enum sx_log_level level)
{
    bool (*const asked)(enum sx_log_level) = atomic_load_explicit(&judge, memory_order_relaxed);

    return asked == NULL || asked(level);
}

/* The name, empty until it is set. */
static void name_get(char name[SX_LOG_NAME_MAX])
{
    for (size_t i = 0; i < SX_COUNT(name_words); i++) {
        const uint64_t word = atomic_load_explicit(&name_words[i], memory_order_relaxed);

        memcpy(name + i * sizeof(word), &word, sizeof(word));
    }
    name[SX_LOG_NAME_MAX - 1] = '\0';
}

/* The head before the text.  In a log of more than warnings it has the time of day, and the
 * process's part in the job.  The time is UTC, since the local one needs a lock and a file.
 * Return: its length. */
static int head_write(char *line, size_t size, enum sx_log_level level)
{
    char name[SX_LOG_NAME_MAX];
    struct timespec now;

    if (!sx_log_wants(SX_LOG_INFO)) {
        return snprintf(line, size, "shmix[%ld] %s: ", (long)getpid(), level_names[level]);
    }
    name_get(name);
    clock_gettime(CLOCK_REALTIME, &now);
    const int seconds = (int)(now.tv_sec % (24 * 60 * 60));

    return snprintf(line, size, "%02d:%02d:%02d.%03dZ shmix[%ld%s%s] %s: ", seconds / 3600,
                    seconds / 60 % 60, seconds % 60, (int)(now.tv_nsec / 1000000), (long)getpid(),
                    name[0] == '\0' ? "" : " ", name, level_names[level]);
}

/* One message is one line.  A name that a client chose must not control the reader's terminal. */
static void plain_make(char *line, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)line[i];

        if (byte < ' ' || byte == 0x7f) {
            line[i] = byte == '\n' || byte == '\t' ? ' ' : '?';
        }
    }
}

void sx_log(enum sx_log_level level, const char *fmt, ...)
{
    const int errno_kept = errno;
    char line[SX_LOG_LINE_MAX];
    va_list args;
    int head, body;
    size_t used;

    if (!sx_log_wants(level) || (size_t)level >= SX_COUNT(level_names) || !may_write(level)) {
        return;
    }
    head = head_write(line, sizeof(line), level);
    va_start(args, fmt);
    body = vsnprintf(line + head, sizeof(line) - (size_t)head, fmt, args);
    va_end(args);
    used = (size_t)head + (body > 0 ? (size_t)body : 0);
    if (used > sizeof(line) - 1) {
        used = sizeof(line) - 1; /* a line that is too long loses its end */
    }
    plain_make(line, used);
    line[used] = '\n';
    /* A failed write of the log cannot be reported. */
    if (write(STDERR_FILENO, line, used + 1) < 0) {
        errno = errno_kept;
        return;
    }
    errno = errno_kept;
}
