/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.c - the parser, the help, the suggestions and the refusals for the tables of all
 * verbs. */
#include "launch/common/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "launch/common/say.h"

#define HELP_COLUMN 25
#define HELP_WIDTH 92
#define WORD_MAX 64 /* of a word that is compared with names for likeness */
#define BEGIN_MIN 3 /* letters with which a name has to begin to be meant */

/* The options that every verb has. */
static const struct sx_option common[] = {
    { .name = "--help", .alias = "-h", .help = "this text" },
    { .name = "--version", .alias = "-V", .help = "the version" },
    { .name = "--", .help = "ends the options" },
};

/* ---- finding --------------------------------------------------------------------------------- */

/* Whether the first @len bytes of @word are one of @names.  The names have blanks between them, and
 * a single dash may replace their two dashes. */
static bool is_named(const char *names, const char *word, size_t len)
{
    while (names != NULL && *names != '\0') {
        const size_t name_len = strcspn(names, " ");
        const bool skip = strncmp(names, "--", 2) == 0 && strncmp(word, "--", 2) != 0;

        if (name_len - skip == len && strncmp(names + skip, word, len) == 0) {
            return true;
        }
        names += name_len + (names[name_len] == ' ');
    }
    return false;
}

/* The rows of the verb, then those of every verb.  Return: NULL behind the last row. */
static const struct sx_option *row_at(const struct sx_verb *verb, size_t i)
{
    if (i < verb->option_count) {
        return &verb->options[i];
    }
    i -= verb->option_count;
    return i < SX_COUNT(common) ? &common[i] : NULL;
}

/* Options of other commands come first: MPICH's -env is not --env with one dash. */
static const struct sx_option *option_find(const struct sx_verb *verb, const char *word, size_t len)
{
    const struct sx_option *row;

    for (row = verb->foreign; row != NULL && row->name != NULL; row++) {
        if (is_named(row->name, word, len) || is_named(row->alias, word, len)) {
            return row;
        }
    }
    for (size_t i = 0; (row = row_at(verb, i)) != NULL; i++) {
        if (is_named(row->name, word, len) || is_named(row->alias, word, len)) {
            return row;
        }
    }
    return NULL;
}

bool sx_options_every_verb_has(const char *word)
{
    static const struct sx_verb none = { .options = NULL };

    return option_find(&none, word, strlen(word)) != NULL;
}

/* Return: NULL when no other command has this option. */
static const struct sx_habit *habit_find(const struct sx_verb *verb, const char *word, size_t len)
{
    const struct sx_habit *habit = verb->habits;

    while (habit != NULL && habit->words != NULL && !is_named(habit->words, word, len)) {
        habit++;
    }
    return habit == NULL || habit->words == NULL ? NULL : habit;
}

/* The word number @index of the verb's own. */
static const struct sx_option *word_find(const struct sx_verb *verb, size_t index)
{
    const struct sx_option *row;

    for (size_t i = 0; (row = row_at(verb, i)) != NULL; i++) {
        if (row->name != NULL && row->name[0] != '-' && row->set != NULL && index-- == 0) {
            break;
        }
    }
    return row;
}

/* ---- guessing ------------------------------------------------------------------------------- */

/* Levenshtein distance with one row, for words of at most WORD_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1];
    const size_t b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            const size_t change = diagonal + (a[i] != b[j]);
            size_t best = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;

            diagonal = row[j + 1];
            row[j + 1] = change < best ? change : best;
        }
    }
    return row[b_len];
}

/* Return: @name, if @word is near it and nearer than to @best; else @best.  A name that is NULL is
 * near to no word. */
static const char *nearer(const char *word, const char *best, const char *name)
{
    const size_t len = name == NULL ? 0 : strlen(name);

    if (len == 0 || len > WORD_MAX) {
        return best;
    }
    const size_t letters = len - strspn(name, "-"), far = distance(word, name);
    const bool begins = strlen(word) >= strspn(word, "-") + BEGIN_MIN &&
                        strncmp(name, word, strlen(word)) == 0;

    /* More than a third of the letters wrong is another word, not a typing error; so is a single
     * letter for another.  The begin of a name is an abbreviation, as other commands take it. */
    return (begins || (far * 3 <= letters && far < letters)) &&
                   (best == NULL || far < distance(word, best))
               ? name
               : best;
}

/* ---- help ------------------------------------------------------------------------------------ */

/* Two columns; a name that is too long has a line of its own. */
static void row_print(const struct sx_option *row)
{
    const char *at = row->help != NULL ? row->help : row->wants;
    int column;

    if (row->name == NULL) {
        printf("\n%s\n", at);
        return;
    }
    column = printf("  %s%s%s%s%s", row->name, row->alias == NULL ? "" : ", ",
                    row->alias == NULL ? "" : row->alias, row->value == NULL ? "" : " ",
                    row->value == NULL ? "" : row->value);
    for (bool first = true; *at != '\0'; first = false) {
        const int len = (int)strcspn(at, " ");

        if (first ? column >= HELP_COLUMN : column + 1 + len > HELP_WIDTH) {
            column = 0;
            putchar('\n');
        }
        column += printf("%*s%.*s", column < HELP_COLUMN ? HELP_COLUMN - column : 1, "", len, at);
        at += len + (at[len] == ' ');
    }
    putchar('\n');
}

static int flush(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        sx_say("cannot write to stdout");
        return SX_EXIT_FAILURE;
    }
    return 0;
}

int sx_options_help(const struct sx_verb *verb)
{
    const struct sx_option *row;

    fputs(verb->about, stdout);
    for (size_t i = 0; (row = row_at(verb, i)) != NULL; i++) {
        row_print(row);
    }
    fputs(verb->more, stdout);
    return flush();
}

/* ---- refusing -------------------------------------------------------------------------------- */

#define BECAUSE_MAX 512

static char because[BECAUSE_MAX]; /* why the last setter has refused the value; "": no reason */
static char typed[WORD_MAX + 1];  /* the option that is being taken, as it is written */
static bool because_alone;        /* the wanted values are not appended */

void sx_options_because(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(because, sizeof(because), fmt, args);
    va_end(args);
    because_alone = false;
}

void sx_options_because_alone(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(because, sizeof(because), fmt, args);
    va_end(args);
    because_alone = true;
}

/* The option @row as the user has written it, or by its first name. */
static const char *said_of(const struct sx_option *row)
{
    return typed[0] != '\0' ? typed : row->name;
}

/* The option @row and its value, with a blank between, for the line to try. */
static char *try_words(const struct sx_option *row, const char *name)
{
    const char *const example = row == NULL ? NULL : row->example;

    return example != NULL && example[0] == '-'
               ? sx_cli_strdup(example)
               : sx_cli_printf("%s%s%s", row == NULL ? name : row->name, example == NULL ? "" : " ",
                               example == NULL ? "" : example);
}

int sx_options_refuse(const struct sx_verb *verb, const char *name, const char *fmt, ...)
{
    const struct sx_option *const row = name == NULL ? NULL : option_find(verb, name, strlen(name));
    const char *const where = verb->where == NULL ? "" : verb->where;
    va_list args;
    char *what;

    va_start(args, fmt);
    what = sx_cli_vprintf(fmt, args);
    va_end(args);
    if (name == NULL || sx_options_every_verb_has(name)) {
        sx_say("%s%s\ntry: %s %s", where, what, verb->name, name == NULL ? "--help" : name);
    } else {
        char *const words = try_words(row, name);

        sx_say("%s%s\ntry: %s %s%s", where, what, verb->try_begin, words, verb->try_end);
        free(words);
    }
    free(what);
    return SX_EXIT_USAGE;
}

int sx_options_refuse_unknown(const struct sx_verb *verb, const char *what, const char *name,
                              size_t len)
{
    char *const word = sx_cli_printf("%.*s", (int)(len < WORD_MAX ? len : WORD_MAX), name);
    const struct sx_habit *const habit = habit_find(verb, word, strlen(word));
    const struct sx_option *row;
    const char *best = NULL;
    int code;

    for (size_t i = 0; (row = row_at(verb, i)) != NULL; i++) {
        if (row->name != NULL && (row->name[0] == '-') == (word[0] == '-')) {
            best = nearer(word, nearer(word, best, row->name), row->alias);
        }
    }
    if (habit != NULL) {
        best = habit->meant;
    }
    if (habit != NULL && best[0] != '-') {
        code = sx_options_refuse(verb, NULL, "'%s' %s", word, best);
    } else if (best != NULL) {
        code = sx_options_refuse(verb, best, "unknown %s '%s'; did you mean '%s'?", what, word,
                                 best);
    } else {
        code = sx_options_refuse(verb, NULL, "unknown %s '%s'", what, word);
    }
    free(word);
    return code;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* A negative number is a word, if the verb takes words. */
static bool is_option(const char *word, bool has_words)
{
    return word[0] == '-' && word[1] != '\0' && !(has_words && isdigit((unsigned char)word[1]));
}

/* "--name", "--name=value", or "-n4". */
static size_t name_length(const char *word)
{
    return word[1] != '-' && isdigit((unsigned char)word[2]) ? 2 : strcspn(word, "=");
}

static int value_set(const struct sx_verb *verb, const struct sx_option *row, void *into,
                     const char *value)
{
    const char *const name = row->name[0] == '-' ? row->name : NULL;

    because[0] = '\0';
    if (row->set == NULL || row->set((char *)into + row->off, value)) {
        return SX_OPTIONS_TAKEN;
    }
    if (value == NULL) {
        value = "";
    }
    if (because[0] != '\0' && because_alone) {
        return sx_options_refuse(verb, name, "%s %.80s: %s", said_of(row), value, because);
    }
    return sx_options_refuse(verb, name, "%s does not take '%.80s': %s%sit wants %s", said_of(row),
                             value, because, because[0] == '\0' ? "" : "; ", row->wants);
}

/* Take the value of @row behind its name.  @rest is what is left of it in its word, behind @begin;
 * *@words advances. */
static int value_take(const struct sx_verb *verb, const struct sx_option *row, void *into,
                      const char *begin, const char *rest, char ***words)
{
    const char *value = rest[0] == '=' ? rest + 1 : rest;
    char *both = NULL;
    int code;

    if (rest[0] == '\0' && row->value[0] == '[') {
        value = NULL;
    } else if (rest[0] == '\0') {
        value = **words;
        if (value == NULL) {
            return sx_options_refuse(verb, row->name, "%s wants %s, and nothing follows it",
                                     said_of(row), row->wants);
        }
        (*words)++;
    }
    if (strchr(row->value, ' ') != NULL && **words != NULL) {
        value = both = sx_cli_printf("%s %s", value, *(*words)++);
    } else if (begin[0] != '\0') {
        value = both = sx_cli_printf("%s%s", begin, value);
    }
    code = value_set(verb, row, into, value);
    free(both);
    return code;
}

/* The row that @word means; its name is the first @len bytes.  *@ret_value: its value, or the begin
 * of it, if the name contains it, or "".  Return: NULL when no row matches. */
static const struct sx_option *meant_find(const struct sx_verb *verb, const char *word, size_t len,
                                          const char **ret_value)
{
    const struct sx_option *const row = option_find(verb, word, len);
    const struct sx_habit *const habit = row == NULL ? habit_find(verb, word, len) : NULL;

    *ret_value = "";
    if (habit == NULL || !habit->same) {
        return row;
    }
    len = strcspn(habit->meant, " ");
    *ret_value = habit->meant + len + (habit->meant[len] == ' ');
    return option_find(verb, habit->meant, len);
}

static int option_take(const struct sx_verb *verb, void *whole, void *part, char ***words)
{
    const char *const word = *(*words)++, *said;
    const size_t len = name_length(word);
    const struct sx_option *const row = meant_find(verb, word, len, &said);

    if (row == NULL) {
        return sx_options_refuse_unknown(verb, "option", word, len);
    }
    typed[0] = '\0';
    if (option_find(verb, word, len) == row) {
        snprintf(typed, sizeof(typed), "%.*s", (int)len, word);
    }
    const bool is_whole = said[0] != '\0' && said[strlen(said) - 1] != '=';

    if ((row->value == NULL || is_whole) && word[len] != '\0') {
        return sx_options_refuse(verb, row->name, "%.*s takes no value ('%.80s')",
                                 is_whole ? (int)len : (int)strlen(row->name),
                                 is_whole ? word : row->name, word);
    }
    if (row == &common[0]) {
        return sx_options_help(verb);
    }
    if (row == &common[1]) {
        printf("shmix %s\n", SHMIX_VERSION);
        return flush();
    }
    if (!row->of_part && whole == NULL) {
        return sx_options_refuse(verb, row->name,
                                 "%s is for the whole job: put it before the first program",
                                 row->name);
    }
    if (row->value == NULL || is_whole) {
        return value_set(verb, row, row->of_part ? part : whole, is_whole ? said : NULL);
    }
    return value_take(verb, row, row->of_part ? part : whole, said, word + len, words);
}

static int word_take(const struct sx_verb *verb, void *whole, size_t index, const char *word)
{
    const struct sx_option *const row = word_find(verb, index);

    if (row == NULL) {
        return sx_options_refuse(verb, NULL, "'%.80s' is one word too many", word);
    }
    typed[0] = '\0';
    return value_set(verb, row, whole, word);
}

int sx_options_take(const struct sx_verb *verb, void *whole, void *part, char ***words)
{
    const bool has_words = word_find(verb, 0) != NULL;
    const struct sx_option *missing;
    bool ended = false;
    size_t taken = 0;
    int code = SX_OPTIONS_TAKEN;

    sx_say_set_name(verb->name);
    while (code == SX_OPTIONS_TAKEN && **words != NULL && (has_words || !ended)) {
        if (!ended && strcmp(**words, "--") == 0) {
            ended = true;
            (*words)++;
        } else if (!ended && is_option(**words, has_words)) {
            code = option_take(verb, whole, part, words);
        } else if (has_words) {
            code = word_take(verb, whole, taken++, *(*words)++);
        } else {
            break;
        }
    }
    missing = word_find(verb, taken);
    if (code == SX_OPTIONS_TAKEN && missing != NULL && missing->name[0] != '[') {
        code = sx_options_refuse(verb, NULL, "%s is missing: %s", missing->name, missing->wants);
    }
    return code;
}

bool sx_options_has(const struct sx_verb *verb, char *const *words, const char *name)
{
    while (*words != NULL && strcmp(*words, "--") != 0 && is_option(*words, false)) {
        const char *const word = *words++, *said;
        const size_t len = name_length(word);
        const struct sx_option *const row = meant_find(verb, word, len, &said);
        size_t values = 0;

        if (row == NULL || strcmp(row->name, name) == 0) {
            return row != NULL;
        }
        if (row->value != NULL && (said[0] == '\0' || said[strlen(said) - 1] == '=')) {
            values = (word[len] == '\0' && row->value[0] != '[') +
                     (strchr(row->value, ' ') != NULL);
        }
        for (; values > 0 && *words != NULL; values--) {
            words++;
        }
    }
    return false;
}

/* ---- setters --------------------------------------------------------------------------------- */

bool sx_option_flag(void *at, const char *value)
{
    (void)value;
    *(bool *)at = true;
    return true;
}

bool sx_option_text(void *at, const char *value)
{
    *(const char **)at = value;
    return value[0] != '\0';
}

/* ---- number ---------------------------------------------------------------------------------- */

/* Strtoll and strtod, but without blanks, infinities, or text behind the number. */

bool sx_cli_number(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return isdigit((unsigned char)text[text[0] == '-']) && *end == '\0' && errno == 0 &&
           *ret >= min && *ret <= max;
}

bool sx_cli_seconds(void *ret_ns, const char *value)
{
    char *end = NULL;
    double seconds;

    errno = 0;
    seconds = isdigit((unsigned char)value[0]) || value[0] == '.' ? strtod(value, &end) : 0.0;
    if (end == NULL || *end != '\0' || errno != 0 || !isfinite(seconds) ||
        seconds > (double)SX_CLI_SECONDS_MAX) {
        return false;
    }
    *(uint64_t *)ret_ns = (uint64_t)(seconds * (double)SX_NS_PER_SEC);
    return true;
}
