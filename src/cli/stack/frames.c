/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* frames.c - the output of gdb and of eu-stack, line by line.
 *
 *     gdb        Thread 2 (Thread 0x7f01 (LWP 4713) "prog"):
 *                #1  0x00007f01 in compute (n=...) at prog.c:3       or: from /lib/libc.so.6
 *     eu-stack   TID 4713:
 *                #1  0x00007f01 compute - /home/alice/prog
 *                    prog.c:3:49
 *
 * Addresses and arguments are left out: they differ between ranks that do the same.  The output
 * comes from a tool that reads the memory of a program: nothing in it is trusted. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stack/stack.h"
#include "launch/common/say.h"

struct parse {
    struct sx_stack_threads *threads;
    uint32_t frames_max;
    FILE *out;       /* the frames of the current thread */
    size_t out_size; /* of its text */
    char *function;  /* of the frame that is not written yet; NULL: none */
    char *place;     /* of that frame */
    bool is_inside;  /* a thread has begun */
};

/* ---- one thread ------------------------------------------------------------------------------ */

static struct sx_stack_thread *current(const struct parse *parse)
{
    return &parse->threads->at[parse->threads->count - 1];
}

static void frame_end(struct parse *parse)
{
    struct sx_stack_thread *const thread = parse->is_inside ? current(parse) : NULL;

    if (parse->function == NULL) {
        return;
    }
    if (thread->frame_count == parse->frames_max) {
        thread->more = true;
    } else {
        fprintf(parse->out, "%s\t%s\n", parse->function, parse->place);
        thread->frame_count++;
    }
    parse->function = NULL;
}

static void thread_end(struct parse *parse)
{
    frame_end(parse);
    if (parse->out != NULL && (fclose(parse->out) != 0 || current(parse)->frames == NULL)) {
        sx_cli_no_memory();
    }
    parse->out = NULL;
    parse->is_inside = false;
}

static void thread_begin(struct parse *parse, long tid)
{
    struct sx_stack_threads *const threads = parse->threads;

    thread_end(parse);
    threads->at = sx_cli_realloc(threads->at, threads->count + 1, sizeof(*threads->at));
    threads->at[threads->count++] = (struct sx_stack_thread){ .tid = (pid_t)tid };
    parse->is_inside = true;
}

/* The stream writes into the thread's text, which moves with the table: so it is opened when the
 * first frame comes, and a thread without one has an empty text. */
static void out_open(struct parse *parse)
{
    if (parse->out == NULL) {
        parse->out = open_memstream(&current(parse)->frames, &parse->out_size);
        if (parse->out == NULL) {
            sx_cli_no_memory();
        }
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The text behind the last @separator of @line, which ends there; NULL: there is none. */
static char *cut_last(char *line, const char *separator)
{
    char *found = NULL;

    for (char *at = strstr(line, separator); at != NULL; at = strstr(at + 1, separator)) {
        found = at;
    }
    if (found == NULL) {
        return NULL;
    }
    *found = '\0';
    return found + strlen(separator);
}

/* "NAME (ARGUMENTS) at PLACE", "NAME (ARGUMENTS) from MODULE", "NAME - MODULE" or "NAME". */
static void frame_cut(struct parse *parse, char *text)
{
    static const char *const separators[] = { ") at ", ") from ", " - " };
    char *place = strncmp(text, "- ", 2) == 0 ? text + 2 : NULL; /* a file without symbols */

    text += place != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]) && place == NULL; i++) {
        place = cut_last(text, separators[i]);
    }
    char *const arguments = strrchr(text, '(');

    if (arguments != NULL && arguments > text && arguments[-1] == ' ') {
        arguments[-1] = '\0';
    }
    text[strcspn(text, "@")] = '\0'; /* the version of a symbol */
    parse->function = text[0] == '\0' ? "??" : text;
    parse->place = place != NULL ? place : "";
}

/* "#1  0x00007f01 in compute (...)"; the address may be missing. */
static void frame_take(struct parse *parse, char *line)
{
    char *at = line + 1;

    frame_end(parse);
    out_open(parse);
    at += strspn(at, "0123456789");
    at += strspn(at, " ");
    if (strncmp(at, "0x", 2) == 0) {
        at += 2 + strspn(at + 2, "0123456789abcdef");
        at += strspn(at, " ");
        at += strncmp(at, "in ", 3) == 0 ? 3 : 0;
    }
    frame_cut(parse, at);
}

/* "    prog.c:3:49" is the place of the frame before; the column is left out. */
static void place_take(struct parse *parse, char *line)
{
    char *const colon = strrchr(line, ':');

    line += strspn(line, " ");
    if (colon != NULL && colon > line && isdigit((unsigned char)colon[1])) {
        char *const other = memrchr(line, ':', (size_t)(colon - line));

        if (other != NULL && isdigit((unsigned char)other[1])) {
            *colon = '\0';
        }
    }
    parse->place = line;
}

/* The number behind @word in @line; 0: it is not there. */
static long number_behind(const char *line, const char *word)
{
    const char *const at = strstr(line, word);

    return at == NULL ? 0 : strtol(at + strlen(word), NULL, 10);
}

static long thread_of(const char *line)
{
    if (strncmp(line, "TID ", 4) == 0) {
        return number_behind(line, "TID ");
    }
    if (strncmp(line, "Thread ", 7) != 0) {
        return 0;
    }
    const long lwp = number_behind(line, "LWP ");

    return lwp != 0 ? lwp : number_behind(line, "process ");
}

static void line_take(struct parse *parse, char *line)
{
    const long tid = thread_of(line);

    if (tid > 0) {
        thread_begin(parse, tid);
    } else if (line[0] == '#' && isdigit((unsigned char)line[1]) && parse->is_inside) {
        frame_take(parse, line);
    } else if (strncmp(line, "    ", 4) == 0 && parse->function != NULL) {
        place_take(parse, line);
    } else if (line[0] != '\0' && line[0] != '[') {
        snprintf(parse->threads->complaint, sizeof(parse->threads->complaint), "%s", line);
    }
}

void sx_stack_parse(char *text, uint32_t frames_max, struct sx_stack_threads *ret)
{
    struct parse parse = { .threads = ret, .frames_max = frames_max };

    *ret = (struct sx_stack_threads){ .count = 0 };
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        line_take(&parse, line);
    }
    thread_end(&parse);
    sx_say_plain(ret->complaint);
}

void sx_stack_threads_free(struct sx_stack_threads *threads)
{
    for (size_t i = 0; i < threads->count; i++) {
        free(threads->at[i].frames);
    }
    free(threads->at);
    *threads = (struct sx_stack_threads){ .count = 0 };
}
