/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wrap.h - what of `shmix wrap` is tested alone: the command that it makes of a user's command, and
 * the versions of glibc that files need and have; and how it reads that command.
 *
 *     podman run IMAGE PROGRAM
 *     --> podman run OPTIONS IMAGE sh -c CHECK shmix-wrap NEED PRELOAD . PROGRAM
 *
 * The options mount the library and its dependencies, and pass on what the tool would drop.  CHECK
 * runs in the image: it tries to load the library there, and becomes the program. */
#ifndef SX_CLI_WRAP_WRAP_H
#define SX_CLI_WRAP_WRAP_H

#include <stdbool.h>
#include <stddef.h>

/* Advice for an image that is too old.  A shell reads it between double quotes. */
#define SX_WRAP_ADVICE                                                                       \
    "leave 'shmix wrap' out, and a gateway serves the rank ('man shmix-gateway'); or build " \
    "shmix for an older glibc ('man shmix-containers')"

/* ---- the command ----------------------------------------------------------------------------- */

#define SX_WRAP_MESSAGE_MAX 1024
#define SX_WRAP_FILES_MAX 32u

/* A file of this host, and its name in the image: the name by which programs ask for it. */
struct sx_wrap_file {
    char *path;
    char *name;
};

/* The things that are brought into an image.  All of it belongs to the caller. */
struct sx_wrap_cargo {
    struct sx_wrap_file files[SX_WRAP_FILES_MAX]; /* libpmix.so.2 first */
    size_t file_count;
    const char *glibc; /* the version that libpmix.so.2 needs: "2.34" */
    char *const *env;  /* the environment of the rank */
    bool check;        /* try in the image whether the library can be loaded */
};

/* Lists of words end with NULL. */
struct sx_wrap_command {
    char **words;
    char **settings;  /* NAME=VALUE, variables for the tool itself */
    const char *root; /* the folder with the image's files, if it is a folder; else NULL */
};

/* Make the command.  @words: the user's command.  Return: false with one line in @message.
 * The result is released with sx_wrap_command_deinit, in both cases. */
bool sx_wrap_command_init(struct sx_wrap_command *command, const struct sx_wrap_cargo *cargo,
                          char *const *words, char message[SX_WRAP_MESSAGE_MAX]);
void sx_wrap_command_deinit(struct sx_wrap_command *command);

/* The command as a shell reads it.  Return: malloc'ed. */
char *sx_wrap_command_quote(const struct sx_wrap_command *command);

/* ---- versions of glibc ----------------------------------------------------------------------- */

#define SX_WRAP_GLIBC_MAX 24u /* bytes of a version: "2.34" */

/* The highest version of glibc that the ELF file at @path needs.  Return: false when it cannot be
 * read, or needs none. */
bool sx_wrap_glibc_needed(const char *path, char ret[SX_WRAP_GLIBC_MAX]);

/* The version of the glibc in the folder @root, as its programs see it.  Return: false when there
 * is none, or it cannot be read. */
bool sx_wrap_glibc_in(const char *root, char ret[SX_WRAP_GLIBC_MAX]);

/* Whether version @have is older than @need. */
bool sx_wrap_glibc_is_older(const char *have, const char *need);

/* ---- a user's command, read ------------------------------------------------------------------ */

/* A user's command, read: where its options, its image and its program begin.
 *
 *     TOOL [OPTIONS] [SUBCOMMAND [OPTIONS]] IMAGE [PROGRAM [ARGUMENTS]]
 *                               ^options    ^image ^program            (indexes of words) */

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
