/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.h - the command line of every verb: one table defines its parser and its help; and the
 * numbers in it.
 *
 *     row --> parser: name, value, where it is stored
 *         \-> help: the same row, wrapped into two columns
 *         \-> refusal: "NAME does not take 'VALUE': it wants WANTS", and a line to try
 *
 * A value may follow as "--name value" or "--name=value"; "-n4" is "-n 4".  Long options may have
 * one dash, as with mpirun.  Every verb has --help and --version; "--" ends the options. */
#ifndef SX_LAUNCH_COMMON_OPTIONS_H
#define SX_LAUNCH_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* An option.  A row whose name has no dash is a word of the verb's own: brackets make the word
 * optional, and a row that sets nothing is only for the help.  A row without a name is a heading of
 * the help. */
struct sx_option {
    const char *name, *alias; /* "--env", "-x"; no alias: NULL */
    const char *value;        /* "NAME[=VALUE]"; NULL: no value; "KEY VALUE": two words;
                               * "[N]": "--name" or "--name=N" */
    const char *example;      /* a value that is accepted, here or anywhere; with a dash in front:
                               * another option with its value, to be tried instead */
    const char *wants;        /* the accepted values, to end the sentence "--env wants ..." */
    const char *help;         /* NULL: wants is enough */
    /* Store @value at @at.  Two words arrive as one with a blank between, and do not outlive the
     * call; other values are words of argv.  Return: false when @value is refused.  NULL: the
     * option asks for the default. */
    bool (*set)(void *at, const char *value);
    size_t off;   /* of the value, in the verb's own struct */
    bool of_part; /* off counts in the struct of a part of the command line */
};

/* Options of other commands, with blanks between, and the option that they mean.  Its value, or the
 * begin of it ("--output dir="), follows if users do not give it.  If that text does not begin with
 * a dash, it is an answer that follows the option's name. */
struct sx_habit {
    const char *words, *meant;
    bool same; /* the meaning is the same, and the option is accepted */
};

struct sx_verb {
    const char *name;                /* "shmix run" */
    const char *try_begin, *try_end; /* the words around an option that may be tried */
    const char *about, *more;        /* the help before and after the options */
    const struct sx_option *options;
    size_t option_count;
    const struct sx_option *foreign; /* options of other commands that are accepted, but not
                                      * explained; ends with a row of NULL; NULL: none */
    const struct sx_habit *habits;   /* ends with a row of NULL; NULL: none */
    const char *where; /* "jobs.app, line 3: ", before messages about words from there; or NULL */
};

#define SX_OPTIONS_TAKEN (-1)

/* Take the options and words at *@words, which ends with NULL, into @whole, and those of a part
 * into @part; *@words advances behind them.  Stop at the end; for a verb without words of its own,
 * also at the first word and behind "--".  @whole is NULL when its options are not allowed any
 * more.  Return: SX_OPTIONS_TAKEN; or the exit code, when help, version or an error message was
 * printed. */
int sx_options_take(const struct sx_verb *verb, void *whole, void *part, char ***words);

/* Whether the option @name is among those at the begin of @words, which are not taken. */
bool sx_options_has(const struct sx_verb *verb, char *const *words, const char *name);

/* Whether @word is an option that every verb has: --help, --version, "--". */
bool sx_options_every_verb_has(const char *word);

/* Report an error, and what to try: @name, an option; NULL: the help.  Return: the exit code. */
int sx_options_refuse(const struct sx_verb *verb, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for the first @len bytes of @name, which are not a @what: "option", "verb". */
int sx_options_refuse_unknown(const struct sx_verb *verb, const char *what, const char *name,
                              size_t len);

/* Return: the exit code, not 0 when the text could not be written. */
int sx_options_help(const struct sx_verb *verb);

/* For a setter that refuses its value: the reason, which precedes the wanted values or replaces
 * them.  Main thread. */
void sx_options_because(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sx_options_because_alone(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Setters that several verbs use: of a bool, of a const char * that is not empty, ... */
bool sx_option_flag(void *at, const char *value);
bool sx_option_text(void *at, const char *value);

/* ---- number ---------------------------------------------------------------------------------- */

/* Numbers on the command line: integers, and seconds that may have decimals. */

#define SX_CLI_SECONDS_MAX 100000000u /* three years */

/* Return: false when @text is not a number from @min to @max. */
bool sx_cli_number(const char *text, int64_t min, int64_t max, int64_t *ret);

/* The setter (options.h) of a uint64_t of nanoseconds.  Return: false when @value is not a number
 * of seconds from 0 to SX_CLI_SECONDS_MAX. */
bool sx_cli_seconds(void *ret_ns, const char *value);

#endif
