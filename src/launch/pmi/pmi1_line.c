/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_line.c - cut at blanks, then at the first equals sign. */
#include "launch/pmi/pmi1_line.h"

#include <string.h>

#define MESSAGE " message="

/* Make the text of a message printable: a question mark replaces each other character.  Return:
 * false when something outside the message is not printable. */
static bool make_printable(char *text)
{
    char *const message = strstr(text, MESSAGE);

    for (char *at = text; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;
        const bool is_printable = (c >= ' ' || c == '\t') && c != 127;

        if (!is_printable && (message == NULL || at < message)) {
            return false;
        }
        *at = is_printable ? *at : '?';
    }
    return true;
}

/* The end of the value: a blank, or the text's end. */
static char *value_end(char *value)
{
    while (*value != '\0' && *value != ' ') {
        value += *value == '\\' && value[1] != '\0' ? 2 : 1;
    }
    return value;
}

/* Cut the word that begins at @at.  Return: the text behind it, or NULL when it is not a word. */
static char *word_cut(struct sx_run_pmi1_word *word, char *at)
{
    const size_t key_len = strcspn(at, "= ");
    char *const value = at + key_len + 1;

    if (key_len == 0 || at[key_len] != '=') {
        return NULL;
    }
    at[key_len] = '\0';
    *word = (struct sx_run_pmi1_word){ .key = at, .value = value };
    char *const end = strcmp(at, "message") == 0 ? value + strlen(value) : value_end(value);

    if (*end == '\0') {
        return end;
    }
    *end = '\0';
    return end + 1;
}

bool sx_run_pmi1_line_parse(struct sx_run_pmi1_line *line, char *text)
{
    line->count = 0;
    if (!make_printable(text)) {
        return false;
    }
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        if (line->count == SX_RUN_PMI1_WORDS_MAX) {
            return false;
        }
        text = word_cut(&line->words[line->count++], text);
        if (text == NULL) {
            return false;
        }
    }
    return line->count > 0;
}

const char *sx_run_pmi1_line_get(const struct sx_run_pmi1_line *line, const char *key)
{
    for (size_t i = 0; i < line->count; i++) {
        if (strcmp(line->words[i].key, key) == 0) {
            return line->words[i].value;
        }
    }
    return NULL;
}
