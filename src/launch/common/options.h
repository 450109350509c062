/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.h - the command line of every verb: one table, from which it is read and explained.
 *
 *     row --> parser: name, value, where it is stored
 *         \-> help: the same row, wrapped into two columns
 *         \-> refusal: "NAME does not take 'VALUE': it wants WANTS", and a line to try
 *
 * A value may follow as "--name value" or "--name=value"; "-n4" is "-n 4".  Long options may have
 * one dash, as for mpirun.  Every verb has --help and --version; "--" ends the options. */
#ifndef SX_LAUNCH_COMMON_OPTIONS_H
#define SX_LAUNCH_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/util.h"

/* One option; or, where the name has no dash, a word of the verb's own, which may be left out if
 * the name is in brackets, and is for the help alone if it sets nothing; or, without a name, a
 * heading of the help. */
struct sx_option {
    const char *name, *alias; /* "--env", "-x"; no alias: NULL */
    const char *value;        /* "NAME[=VALUE]"; NULL: it takes none; "KEY VALUE": two words;
                                 "[N]": "--name" or "--name=N" */
    const char *example;      /* of a value that is taken, here or anywhere; with a dash in front:
                                 another option with its value, to be tried in the place of this */
    const char *wants;        /* which values are taken, as the end of "--env wants ..." */
    const char *help;         /* NULL: what it wants says it */
    /* Store @value at @at.  Two words come as one with a blank between, and do not outlive the
     * call; others are words of argv.  Return: false when @value is not taken.  NULL: the option
     * asks for what is so in any case. */
    bool (*set)(void *at, const char *value);
    size_t off;   /* of what is set, in the verb's own struct */
    bool of_part; /* off counts in the struct of a part of the command line */
};

/* What users of other commands type, with blanks between, and the option that they mean, with its
 * value or its begin ("--output dir=") if that is not theirs to say; or, where that begins with no
 * dash, what to say of it behind its name. */
struct sx_habit {
    const char *words, *meant;
    bool same; /* it means nothing else, and is taken */
};

struct sx_verb {
    const char *name;                /* "shmix run" */
    const char *try_begin, *try_end; /* what stands around an option that may be tried */
    const char *about, *more;        /* the help before and after the options */
    const struct sx_option *options;
    size_t option_count;
    const struct sx_option *foreign; /* those of other commands that are taken, but not explained;
                                        ends with a row of NULL; NULL: none */
    const struct sx_habit *habits;   /* ends with a row of NULL; NULL: none */
    const char *where; /* "jobs.app, line 3: ", before what is said of words from there; or NULL */
};

#define SX_OPTIONS_TAKEN (-1)

/* Take the options and words at *@words, which ends with NULL, into @whole, and those of a part
 * into @part; *@words moves behind them.  Stop at the end; and, for a verb without words of its
 * own, at the first word and behind "--".  @whole is NULL when it is too late for its options.
 * Return: SX_OPTIONS_TAKEN; or the exit code, when help or version were printed or what is wrong
 * was said. */
int sx_options_take(const struct sx_verb *verb, void *whole, void *part, char ***words);

/* Whether @word is an option that every verb has: --help, --version, "--". */
bool sx_options_every_verb_has(const char *word);

/* Say what is wrong, and what to try: @name, an option; NULL: the help.  Return: the exit code. */
int sx_options_refuse(const struct sx_verb *verb, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of the first @len bytes of @name, which are no @what: "option", "verb". */
int sx_options_refuse_unknown(const struct sx_verb *verb, const char *what, const char *name,
                              size_t len);

/* Return: the exit code, not 0 when the text could not be written. */
int sx_options_help(const struct sx_verb *verb);

/* For a setter that refuses its value: why, which stands before what is wanted; or what stands in
 * the place of that, too.  Main thread. */
void sx_options_because(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sx_options_because_alone(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Setters that several verbs use: of a bool, of a const char * that is not empty, ... */
bool sx_option_flag(void *at, const char *value);
bool sx_option_text(void *at, const char *value);

#endif
