/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* appfile.c - the text is read whole and then cut; words go into a buffer of the same size. */
#include "launch/ask/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/common/say.h"

#define ROOM_FIRST 4096u

/* ---- the text -------------------------------------------------------------------------------- */

static bool refuse(char *message, const char *path, const char *why)
{
    snprintf(message, SX_RUN_MESSAGE_MAX, "--app '%.200s': %s", path, why);
    return false;
}

/* Read all of @fd into @ret_text, and add a NUL behind it.  Return: 0 or errno. */
static int read_all(int fd, char **ret_text, size_t *ret_len)
{
    size_t room = ROOM_FIRST, len = 0;
    char *text = sx_cli_calloc(room, 1);
    int why = 0;

    for (;;) {
        const ssize_t got = read(fd, text + len, room - 1 - len);

        why = got < 0 && errno != EINTR ? errno : 0;
        if (got == 0 || why != 0) {
            break;
        }
        len += got > 0 ? (size_t)got : 0;
        if (len == room - 1) {
            if (len >= SX_RUN_APPFILE_BYTES_MAX) {
                why = EFBIG;
                break;
            }
            room *= 2;
            text = sx_cli_realloc(text, room, 1);
        }
    }
    text[len] = '\0';
    *ret_text = text;
    *ret_len = len;
    return why;
}

static bool text_read(const char *path, char **ret_text, size_t *ret_len, char *message)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    int why = fd < 0 ? errno : 0;

    if (why == 0) {
        why = read_all(fd, ret_text, ret_len);
        close(fd);
    }
    if (why != 0) {
        return refuse(message, path,
                      why == EFBIG ? "more than 16 MiB are no list of programs" : strerror(why));
    }
    if (memchr(*ret_text, '\0', *ret_len) != NULL) {
        return refuse(message, path, "it is no text: there is a NUL in it");
    }
    return true;
}

/* ---- words ----------------------------------------------------------------------------------- */

struct cutter {
    char *at, *to;         /* at: the next byte; to: the end of the words */
    uint32_t number, open; /* lines: this one, and the one where the open quote begins */
    size_t word_count, word_room, line_room;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void keep(struct cutter *cutter, char c)
{
    cutter->number += c == '\n';
    *cutter->to++ = c;
}

/* Cut the inside of a quote, which begins behind @cutter->at.  Return: false: the quote does not
 * end. */
static bool quote_cut(struct cutter *cutter)
{
    const char quote = *cutter->at++;

    cutter->open = cutter->number;
    while (*cutter->at != quote) {
        if (quote == '"' && *cutter->at == '\\' &&
            (cutter->at[1] == '"' || cutter->at[1] == '\\')) {
            cutter->at++;
        }
        if (*cutter->at == '\0') {
            return false;
        }
        keep(cutter, *cutter->at++);
    }
    cutter->at++;
    return true;
}

/* Copy the word at @cutter->at to @cutter->to.  Return: false: its quote does not end. */
static bool word_cut(struct cutter *cutter)
{
    while (!is_blank(*cutter->at) && *cutter->at != '\n' && *cutter->at != '\0') {
        if (*cutter->at == '\'' || *cutter->at == '"') {
            if (!quote_cut(cutter)) {
                return false;
            }
        } else if (cutter->at[0] == '\\' && cutter->at[1] == '\n') {
            cutter->number++;
            cutter->at += 2;
        } else {
            cutter->at += cutter->at[0] == '\\' && cutter->at[1] != '\0';
            keep(cutter, *cutter->at++);
        }
    }
    return true;
}

static void word_append(struct sx_run_appfile *file, struct cutter *cutter, char *word)
{
    if (cutter->word_count == cutter->word_room) {
        cutter->word_room = 2 * cutter->word_room + 64;
        file->words = sx_cli_realloc(file->words, cutter->word_room, sizeof(*file->words));
    }
    file->words[cutter->word_count++] = word;
}

static void line_append(struct sx_run_appfile *file, struct cutter *cutter, uint32_t number)
{
    if (file->line_count == cutter->line_room) {
        cutter->line_room = 2 * cutter->line_room + 16;
        file->lines = sx_cli_realloc(file->lines, cutter->line_room, sizeof(*file->lines));
    }
    file->lines[file->line_count++] = (struct sx_run_appline){ .number = number };
}

/* Skip the blanks between words.  Return: false at the end of a line. */
static bool blanks_skip(struct cutter *cutter)
{
    for (;; cutter->at++) {
        if (cutter->at[0] == '\\' && cutter->at[1] == '\n') {
            cutter->number++;
            cutter->at++;
        } else if (!is_blank(*cutter->at)) {
            return *cutter->at != '\n' && *cutter->at != '\0';
        }
    }
}

/* Cut the words of one line.  Return: false: a quote does not end. */
static bool line_cut(struct sx_run_appfile *file, struct cutter *cutter)
{
    const uint32_t number = cutter->number;
    const size_t before = cutter->word_count;

    if (blanks_skip(cutter) && *cutter->at == '#') {
        cutter->at += strcspn(cutter->at, "\n");
    }
    while (blanks_skip(cutter)) {
        char *const word = cutter->to;

        if (!word_cut(cutter)) {
            return false;
        }
        *cutter->to++ = '\0'; /* there is room for it: a blank or an end was read */
        word_append(file, cutter, word);
    }
    if (cutter->word_count > before) {
        word_append(file, cutter, NULL);
        line_append(file, cutter, number);
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Point at the words of each line, once the array of words no longer moves. */
static void lines_point(struct sx_run_appfile *file)
{
    char **at = file->words;

    for (size_t i = 0; i < file->line_count; i++) {
        file->lines[i].words = at;
        while (*at++ != NULL) {
        }
    }
}

static bool cut(struct sx_run_appfile *file, char *text, const char *path, char *message)
{
    struct cutter cutter = { .at = text, .to = file->text, .number = 1 };
    char why[64];

    for (bool more = true; more; cutter.number++) {
        if (!line_cut(file, &cutter)) {
            snprintf(why, sizeof(why), "the quote in line %u does not end", cutter.open);
            return refuse(message, path, why);
        }
        more = *cutter.at++ != '\0';
    }
    if (file->line_count == 0) {
        return refuse(message, path, "it names no program; write a line '-n 4 ./program'");
    }
    lines_point(file);
    return true;
}

bool sx_run_appfile_init(struct sx_run_appfile *file, const char *path,
                         char message[SX_RUN_MESSAGE_MAX])
{
    char *text = NULL;
    size_t len = 0;

    *file = (struct sx_run_appfile){ .text = NULL };
    bool good = text_read(path, &text, &len, message);

    if (good) {
        file->text = sx_cli_calloc(len + 1, 1);
        good = cut(file, text, path, message);
    }
    free(text);
    if (!good) {
        sx_run_appfile_deinit(file);
    }
    return good;
}

void sx_run_appfile_deinit(struct sx_run_appfile *file)
{
    free(file->text);
    free(file->words);
    free(file->lines);
    *file = (struct sx_run_appfile){ .text = NULL };
}
