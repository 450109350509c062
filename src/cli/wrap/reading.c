/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reading.c - options of another command are cut by one rule: those of the row's flags have no
 * value, all others have one. */
#include "cli/wrap/wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/common/say.h"

/* ---- lists of words -------------------------------------------------------------------------- */

void sx_wrap_list_take(struct sx_wrap_list *list, char *word)
{
    list->words = sx_cli_realloc(list->words, list->count + 2, sizeof(*list->words));
    list->words[list->count++] = word;
    list->words[list->count] = NULL;
}

void sx_wrap_list_add(struct sx_wrap_list *list, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    sx_wrap_list_take(list, sx_cli_vprintf(fmt, args));
    va_end(args);
}

void sx_wrap_list_copy(struct sx_wrap_list *list, char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sx_wrap_list_take(list, sx_cli_strdup(words[i]));
    }
}

void sx_wrap_words_free(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        free(words[i]);
    }
    free(words);
}

bool sx_wrap_is_among(const char *words, const char *word, size_t len)
{
    for (const char *at = words; at[0] != '\0';) {
        const size_t one = strcspn(at, " ");

        if (one == len && strncmp(at, word, len) == 0) {
            return true;
        }
        at += one;
        at += strspn(at, " ");
    }
    return false;
}

/* ---- options and words ----------------------------------------------------------------------- */

bool sx_wrap_refuse(struct sx_wrap_reading *reading, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(reading->message, SX_WRAP_MESSAGE_MAX, fmt, args);
    va_end(args);
    return false;
}

size_t sx_wrap_option_words(const struct sx_wrap_tool *tool, const char *word)
{
    if (word[1] == '-') {
        return strchr(word, '=') != NULL || sx_wrap_is_among(tool->flags, word, strlen(word)) ? 1
                                                                                              : 2;
    }
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const char name[] = { '-', *letter };

        if (!sx_wrap_is_among(tool->flags, name, sizeof(name))) {
            return letter[1] == '\0' ? 2 : 1; /* its value follows it directly, or is a word */
        }
    }
    return 1;
}

/* Return: the index of the first word from @at on that is no option, nor its value. */
static size_t options_skip(const struct sx_wrap_reading *reading, size_t at)
{
    while (at < reading->count && reading->words[at][0] == '-' && reading->words[at][1] != '\0') {
        if (strcmp(reading->words[at], "--") == 0) {
            return at + 1;
        }
        at += sx_wrap_option_words(reading->tool, reading->words[at]);
    }
    return at < reading->count ? at : reading->count;
}

const char *sx_wrap_option_value(const struct sx_wrap_reading *reading, const char *names)
{
    for (size_t i = 1; i < reading->image;) {
        const char *const word = reading->words[i];
        const size_t size = word[0] == '-' ? sx_wrap_option_words(reading->tool, word) : 1;
        const size_t len = strcspn(word, "=");
        const bool is_short = word[0] == '-' && word[1] != '-' && word[1] != '\0';

        if (word[0] == '-' && sx_wrap_is_among(names, word, len)) {
            return word[len] == '='                      ? word + len + 1
                   : size == 2 && i + 1 < reading->image ? reading->words[i + 1]
                                                         : "";
        }
        if (is_short && sx_wrap_is_among(names, word, 2)) {
            return word + 2;
        }
        i += size;
    }
    return NULL;
}

bool sx_wrap_words_read(struct sx_wrap_reading *reading)
{
    const struct sx_wrap_tool *const tool = reading->tool;
    const char *subcommand = NULL;

    reading->options = 1;
    if (tool->subcommands != NULL) {
        const size_t at = options_skip(reading, 1);

        subcommand = at < reading->count ? reading->words[at] : "";
        if (!sx_wrap_is_among(tool->subcommands, subcommand, strlen(subcommand))) {
            return sx_wrap_refuse(reading,
                                  "'%s %.80s' starts no program in an image; wrap takes '%s' "
                                  "with one of: %s",
                                  tool->name, subcommand, tool->name, tool->subcommands);
        }
        reading->options = at + 1;
    }
    reading->image = options_skip(reading, reading->options);
    reading->program = reading->image < reading->count ? reading->image + 1 : reading->count;
    reading->checkable = reading->cargo->check && reading->program < reading->count &&
                         (tool->unchecked == NULL || subcommand == NULL ||
                          !sx_wrap_is_among(tool->unchecked, subcommand, strlen(subcommand)));
    return true;
}
