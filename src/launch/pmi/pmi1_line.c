/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_line.c - cut at blanks, then at the first equals sign. */
#include "launch/pmi/pmi1_line.h"

#include <pmix.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/util.h"
#include "launch/common/say.h"
#include "server/publish/publish.h"

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

/* ---- pmi1 words ------------------------------------------------------------------------------ */

/* A table of pairs, each one block of memory. */

struct pair {
    struct sx_table_node node;
    uint32_t rank; /* the rank that owns it */
    size_t size_bytes;
    const char *value; /* stored behind the key */
    char key[];
};

void sx_run_pmi1_words_init(struct sx_run_pmi1_words *words, uint32_t rank_count)
{
    *words = (struct sx_run_pmi1_words){ .seed = sx_table_seed(),
                                         .used = sx_cli_calloc(rank_count, sizeof(*words->used)) };
}

static uint64_t hash_of(const struct sx_run_pmi1_words *words, const char *key)
{
    return XXH3_64bits_withSeed(key, strlen(key), words->seed);
}

static struct pair *find(const struct sx_run_pmi1_words *words, const char *key)
{
    struct sx_table_node *node = sx_table_first(&words->table, hash_of(words, key));

    for (; node != NULL; node = sx_table_next(&words->table, node)) {
        struct pair *const pair = SX_CONTAINER(node, struct pair, node);

        if (strcmp(pair->key, key) == 0) {
            return pair;
        }
    }
    return NULL;
}

static void drop(struct sx_run_pmi1_words *words, struct pair *pair)
{
    sx_table_remove(&words->table, &pair->node);
    words->used[pair->rank] -= pair->size_bytes;
    free(pair);
}

void sx_run_pmi1_words_deinit(struct sx_run_pmi1_words *words)
{
    struct sx_table_node *node;
    size_t bucket = 0;

    while ((node = sx_table_any(&words->table, &bucket)) != NULL) {
        drop(words, SX_CONTAINER(node, struct pair, node));
    }
    sx_table_deinit(&words->table);
    free(words->used);
    *words = (struct sx_run_pmi1_words){ .used = NULL };
}

bool sx_run_pmi1_words_put(struct sx_run_pmi1_words *words, uint32_t rank, const char *key,
                           const char *value)
{
    const size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    const size_t size_bytes = sizeof(struct pair) + key_size + value_size;
    struct pair *const former = find(words, key);
    const size_t freed = former != NULL && former->rank == rank ? former->size_bytes : 0;
    struct pair *pair;

    if (words->used[rank] - freed + size_bytes > SX_RUN_PMI1_RANK_BYTES_MAX) {
        return false;
    }
    if (former != NULL) {
        drop(words, former);
    }
    pair = sx_cli_calloc(1, size_bytes);
    pair->rank = rank;
    pair->size_bytes = size_bytes;
    memcpy(pair->key, key, key_size);
    pair->value = memcpy(pair->key + key_size, value, value_size);
    if (!sx_table_add(&words->table, &pair->node, hash_of(words, key))) {
        sx_cli_no_memory();
    }
    words->used[rank] += size_bytes;
    return true;
}

const char *sx_run_pmi1_words_get(const struct sx_run_pmi1_words *words, const char *key)
{
    const struct pair *const pair = find(words, key);

    return pair == NULL ? NULL : pair->value;
}

/* ---- pmi1 names ------------------------------------------------------------------------------ */

/* A word for each status of the server. */

static const char not_found[] = "service_not_found";

static pmix_proc_t name_of(const struct sx_run_job *job, uint32_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, job->nspace, rank);
    return proc;
}

static const char *word_of(pmix_status_t status)
{
    switch (status) {
    case PMIX_SUCCESS:
        return NULL;
    case PMIX_ERR_NOT_FOUND:
        return not_found;
    case PMIX_ERR_DUPLICATE_KEY:
        return "service_exists";
    case PMIX_ERR_NO_PERMISSIONS:
        return "service_of_another_rank";
    case PMIX_ERR_BAD_PARAM:
        return "reserved_name";
    case PMIX_ERR_OUT_OF_RESOURCE:
        return "no_room";
    default:
        return PMIx_Error_string(status);
    }
}

const char *sx_run_pmi1_name_publish(const struct sx_run_job *job, uint32_t rank,
                                     const char *service, const char *port)
{
    const pmix_proc_t proc = name_of(job, rank);

    return word_of(sx_publish_as(&proc, service, port));
}

const char *sx_run_pmi1_name_withdraw(const struct sx_run_job *job, uint32_t rank,
                                      const char *service)
{
    const pmix_proc_t proc = name_of(job, rank);

    return word_of(sx_unpublish_as(&proc, service));
}

const char *sx_run_pmi1_name_find(const struct sx_run_job *job, uint32_t rank, const char *service,
                                  char *ret_port, size_t size)
{
    const pmix_proc_t proc = name_of(job, rank);
    const char *const wrong = word_of(sx_lookup_as(&proc, service, ret_port, size));

    return wrong == NULL && strpbrk(ret_port, " \n") != NULL ? not_found : wrong;
}
