/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.c - a list of words that grows. */
#include "cli/field/words.h"

#include <stdlib.h>

#include "launch/common/say.h"

void sx_words_add(struct sx_words *words, const char *word)
{
    words->all = sx_cli_realloc(words->all, words->count + 2, sizeof(*words->all));
    words->all[words->count++] = sx_cli_strdup(word);
    words->all[words->count] = NULL;
}

void sx_words_add_value(struct sx_words *words, const char *option, const char *value)
{
    if (value != NULL) {
        sx_words_add(words, option);
        sx_words_add(words, value);
    }
}

void sx_words_clear(struct sx_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->all[i]);
    }
    free(words->all);
    *words = (struct sx_words){ .all = NULL };
}

void sx_field_server_add(struct sx_words *words, const struct sx_field_server *server)
{
    sx_words_add_value(words, "--pid", server->pid);
    sx_words_add_value(words, "--uri", server->uri);
    sx_words_add_value(words, "--server", server->nspace);
    sx_words_add_value(words, "--wait", server->wait);
    if (server->is_system) {
        sx_words_add(words, "--system");
    }
    if (server->tmpdir != NULL) {
        setenv("TMPDIR", server->tmpdir, 1);
    }
    if (server->is_verbose) {
        setenv("SHMIX_LOG", "info", 1);
    }
}
