/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.c - no name is looked up: a resolver that hangs would hang the launch. */
#include "cli/run/nodes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/number.h"
#include "cli/say.h"

#define BLANKS " \t\r\n"

static bool is_this_node(const char *name)
{
    char own[HOST_NAME_MAX + 1] = "";
    const size_t len = strlen(name);

    if (strcasecmp(name, "localhost") == 0 || strncmp(name, "127.", 4) == 0 ||
        strcmp(name, "::1") == 0) {
        return true;
    }
    (void)gethostname(own, sizeof(own) - 1);
    return len > 0 &&
           (strcasecmp(name, own) == 0 || (strncasecmp(name, own, len) == 0 && own[len] == '.'));
}

static bool slots_add(uint32_t *slots, const char *text, uint32_t max)
{
    int64_t number = 1;

    if (text != NULL && strcmp(text, "*") != 0 && !sx_cli_number(text, 1, max, &number)) {
        return false;
    }
    if (number > (int64_t)max - *slots) {
        return false;
    }
    *slots += (uint32_t)number;
    return true;
}

/* "NODE" or "NODE:SLOTS"; @count, if it is not NULL, says it instead.  @word is cut. */
static bool node_add(uint32_t *slots, char *word, const char *count, uint32_t max)
{
    char *const colon = is_this_node(word) ? NULL : strrchr(word, ':');

    if (colon != NULL) {
        *colon = '\0';
    }
    return is_this_node(word) &&
           slots_add(slots, count != NULL || colon == NULL ? count : colon + 1, max);
}

bool sx_run_nodes_list(uint32_t *slots, const char *list, uint32_t max)
{
    char *const copy = sx_cli_strdup(list), *at = copy, *word;
    bool good = true;

    while (good && (word = strsep(&at, ",")) != NULL) {
        good = node_add(slots, word, NULL, max);
    }
    free(copy);
    return good;
}

static bool line_add(uint32_t *slots, char *line, uint32_t max)
{
    char *rest = NULL, *const node = strtok_r(line, BLANKS, &rest);
    const char *count = NULL, *word;
    uint32_t limit = 0;

    if (node == NULL) {
        return true;
    }
    while ((word = strtok_r(NULL, BLANKS, &rest)) != NULL) {
        if (strncmp(word, "slots=", 6) == 0) {
            count = word + 6;
        } else if (!(strncmp(word, "max_slots=", 10) == 0 && slots_add(&limit, word + 10, max)) &&
                   !(strncmp(word, "max-slots=", 10) == 0 && slots_add(&limit, word + 10, max))) {
            return false;
        }
    }
    return node_add(slots, node, count, max);
}

/* A device or a directory is no list, and one without an end is not read to it.  Return: the whole
 * text, to be read from; NULL when it is empty or refused. */
static FILE *text_open(const char *path)
{
    struct stat st;
    FILE *text = NULL;
    char *const bytes = malloc(SX_RUN_NODES_BYTES_MAX + 1);
    FILE *const file = stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode))
                           ? fopen(path, "re")
                           : NULL;
    const size_t size = file != NULL && bytes != NULL
                            ? fread(bytes, 1, SX_RUN_NODES_BYTES_MAX + 1, file)
                            : 0;

    if (size > 0 && size <= SX_RUN_NODES_BYTES_MAX && ferror(file) == 0) {
        text = fmemopen(NULL, size, "w+");
    }
    if (text != NULL) {
        (void)fwrite(bytes, 1, size, text);
        rewind(text);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(bytes);
    return text;
}

bool sx_run_nodes_file(uint32_t *slots, const char *path, uint32_t max)
{
    const uint32_t before = *slots;
    FILE *const file = text_open(path);
    char *line = NULL;
    size_t room = 0;
    bool good = file != NULL;

    while (good && getline(&line, &room, file) >= 0) {
        line[strcspn(line, "#")] = '\0';
        good = line_add(slots, line, max);
    }
    good = good && ferror(file) == 0 && *slots > before;
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return good;
}
