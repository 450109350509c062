/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reading.h - a user's command, read: where its options, its image and its program begin.
 *
 *     TOOL [OPTIONS] [SUBCOMMAND [OPTIONS]] IMAGE [PROGRAM [ARGUMENTS]]
 *                               ^options    ^image ^program            (indexes of words) */
#ifndef SX_CLI_WRAP_READING_H
#define SX_CLI_WRAP_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/wrap/wrap.h"

/* ---- lists of words -------------------------------------------------------------------------- */

struct sx_wrap_list {
    char **words; /* malloc'ed, as each of them; ends with NULL */
    size_t count;
};

/* @word is the list's from now on. */
void sx_wrap_list_take(struct sx_wrap_list *list, char *word);
void sx_wrap_list_add(struct sx_wrap_list *list, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void sx_wrap_list_copy(struct sx_wrap_list *list, char *const *words, size_t count);
void sx_wrap_words_free(char **words);

/* Whether @word, of @len bytes, is one of @words, which have blanks between. */
bool sx_wrap_is_among(const char *words, const char *word, size_t len);

/* ---- a command ------------------------------------------------------------------------------- */

struct sx_wrap_reading;

struct sx_wrap_tool {
    const char *name;
    const char *subcommands; /* those that start a program in an image; NULL: it has none */
    const char *unchecked;   /* of them: the words behind the image are not a program */
    const char *flags;       /* options without a value; all others have one */
    const char *prefix;      /* of variables that the tool sets in the image; NULL: none */
    /* Return: false with a message. */
    bool (*compose)(struct sx_wrap_reading *reading, struct sx_wrap_list *out);
};

struct sx_wrap_reading {
    const struct sx_wrap_tool *tool;
    const struct sx_wrap_cargo *cargo;
    char *const *words;
    size_t count;
    size_t options; /* the index of the first word behind the subcommand */
    size_t image;   /* of the word that names the image; count: there is none */
    size_t program; /* count: there is none */
    bool checkable; /* a shell may be put before the program */
    struct sx_wrap_list settings;
    const char *root;
    char *message;
};

/* Write the line of an error.  Return: false. */
bool sx_wrap_refuse(struct sx_wrap_reading *reading, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Find options, image and program.  @reading has the tool, the cargo, the words and the message.
 * Return: false with a message. */
bool sx_wrap_words_read(struct sx_wrap_reading *reading);

/* The number of words, 1 or 2, that the option at @word takes. */
size_t sx_wrap_option_words(const struct sx_wrap_tool *tool, const char *word);

/* The value of the first of the options @names, which have blanks between.  Return: NULL when none
 * of them is given; "" for an option without a value. */
const char *sx_wrap_option_value(const struct sx_wrap_reading *reading, const char *names);

#endif
