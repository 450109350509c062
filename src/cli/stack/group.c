/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - threads with equal stacks, of all processes of a job, are one group.
 *
 * The threads in which main() runs come first; then the others, by the first rank that has one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stack/stack.h"
#include "cli/value.h"
#include "launch/common/say.h"

struct group {
    const struct sx_stack_process *first;
    const struct sx_stack_thread *thread; /* of the first process */
    bool is_main;
    uint32_t *ranks, *pids; /* of each process once, in the order of the list */
    size_t count;
    size_t threads; /* several threads of a process may have the same stack */
};

struct groups {
    struct group *at;
    size_t count;
};

/* ---- making them ----------------------------------------------------------------------------- */

static bool is_equal(const struct group *group, const struct sx_stack_process *process,
                     const struct sx_stack_thread *thread, bool is_main)
{
    const char *const frames = thread->frames, *const theirs = group->thread->frames;

    return group->is_main == is_main && group->first->server == process->server &&
           strcmp(group->first->nspace, process->nspace) == 0 &&
           (is_main || strcmp(group->thread->name, thread->name) == 0) &&
           group->thread->more == thread->more && (frames == NULL) == (theirs == NULL) &&
           (frames == NULL || strcmp(frames, theirs) == 0);
}

static void member_add(struct group *group, const struct sx_stack_process *process)
{
    group->threads++;
    if (group->count > 0 && group->pids[group->count - 1] == (uint32_t)process->pid) {
        return;
    }
    group->ranks = sx_cli_realloc(group->ranks, group->count + 1, sizeof(*group->ranks));
    group->pids = sx_cli_realloc(group->pids, group->count + 1, sizeof(*group->pids));
    group->ranks[group->count] = process->rank;
    group->pids[group->count++] = (uint32_t)process->pid;
}

static void thread_add(struct groups *groups, const struct sx_stack_process *process,
                       const struct sx_stack_thread *thread)
{
    const bool is_main = thread->tid == process->pid;
    size_t i = 0;

    while (i < groups->count && !is_equal(&groups->at[i], process, thread, is_main)) {
        i++;
    }
    if (i == groups->count) {
        groups->at = sx_cli_realloc(groups->at, groups->count + 1, sizeof(*groups->at));
        groups->at[groups->count++] = (struct group){ .first = process,
                                                      .thread = thread,
                                                      .is_main = is_main };
    }
    member_add(&groups->at[i], process);
}

static void groups_make(const struct sx_stack_list *list, bool main, struct groups *groups)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct sx_stack_process *const process = &list->at[i];

        for (size_t k = 0; process->problem == NULL && k < process->threads.count; k++) {
            if ((process->threads.at[k].tid == process->pid) == main) {
                thread_add(groups, process, &process->threads.at[k]);
            }
        }
    }
}

static void groups_free(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        free(groups->at[i].ranks);
        free(groups->at[i].pids);
    }
    free(groups->at);
}

/* ---- text ------------------------------------------------------------------------------------ */

char *sx_stack_ranges(const uint32_t *numbers, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL) {
        sx_cli_no_memory();
    }
    for (size_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && numbers[last + 1] == numbers[last] + 1; last++) {
        }
        fprintf(out, i > 0 ? ",%" PRIu32 : "%" PRIu32, numbers[i]);
        if (last > i) {
            fprintf(out, "-%" PRIu32, numbers[last]);
        }
    }
    if (fclose(out) != 0 || text == NULL) {
        sx_cli_no_memory();
    }
    return text;
}

static void text_print(const char *text, size_t len)
{
    sx_names_text_print(text, len);
}

static void heading_print(const struct group *group)
{
    char *const ranks = sx_stack_ranges(group->ranks, group->count);
    char *const pids = sx_stack_ranges(group->pids, group->count);
    const char *const name = group->thread->name, *const nspace = group->first->nspace;
    const char *const plural = group->count == 1 ? "" : "s", *const es = plural[0] ? "es" : "";

    if (nspace[0] != '\0') {
        printf("rank%s %s of ", plural, ranks);
        text_print(nspace, strlen(nspace));
        printf(" (process%s %s), ", es, pids);
    } else {
        printf("process%s %s, ", es, pids);
    }
    if (group->is_main) {
        printf("main thread:\n");
    } else {
        printf(group->threads == 1 ? "thread '" : "%zu threads '", group->threads);
        text_print(name, strlen(name));
        printf("':\n");
    }
    free(ranks);
    free(pids);
}

/* Call @each for each frame; its number counts from 0. */
static void frames_each(const struct sx_stack_thread *thread,
                        void (*each)(uint32_t number, const char *function, size_t function_len,
                                     const char *place, size_t place_len))
{
    const char *line = thread->frames == NULL ? "" : thread->frames;

    for (uint32_t number = 0; *line != '\0'; number++) {
        const size_t len = strcspn(line, "\n"), function_len = strcspn(line, "\t\n");
        const char *const place = line + function_len + (line[function_len] == '\t');

        each(number, line, function_len, place, (size_t)(line + len - place));
        line += len + (line[len] == '\n');
    }
}

static void frame_print(uint32_t number, const char *function, size_t function_len,
                        const char *place, size_t place_len)
{
    printf("  #%-3" PRIu32 " ", number);
    text_print(function, function_len);
    if (place_len > 0) {
        printf(place[0] == '/' && memchr(place, ':', place_len) == NULL ? " from " : " at ");
        text_print(place, place_len);
    }
    putchar('\n');
}

static void group_print(const struct group *group)
{
    heading_print(group);
    frames_each(group->thread, frame_print);
    if (group->thread->frame_count == 0) {
        printf("  no frame is seen\n");
    }
    if (group->thread->more) {
        printf("  ... more frames are left out: --frames %" PRIu32 " shows them\n",
               2 * group->thread->frame_count);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void numbers_json(const char *name, const uint32_t *numbers, size_t count)
{
    printf("\"%s\":", name);
    for (size_t i = 0; i < count; i++) {
        printf("%s%" PRIu32, i == 0 ? "[" : ",", numbers[i]);
    }
    putchar(']');
}

static void of_json(const struct sx_stack_process *process, const uint32_t *ranks,
                    const uint32_t *pids, size_t count)
{
    const char *const nspace = process->nspace;

    putchar('{');
    if (process->server != 0) {
        printf("\"server\":%d,", (int)process->server);
    }
    if (nspace[0] != '\0') {
        printf("\"nspace\":");
        sx_json_string(nspace, strlen(nspace));
        putchar(',');
        numbers_json("ranks", ranks, count);
        putchar(',');
    }
    numbers_json("pids", pids, count);
}

static void frame_json(uint32_t number, const char *function, size_t function_len,
                       const char *place, size_t place_len)
{
    printf(number == 0 ? "{\"function\":" : ",{\"function\":");
    sx_json_string(function, function_len);
    if (place_len > 0) {
        printf(",\"place\":");
        sx_json_string(place, place_len);
    }
    putchar('}');
}

static void group_json(const struct group *group)
{
    of_json(group->first, group->ranks, group->pids, group->count);
    printf(",\"main\":%s,\"name\":", group->is_main ? "true" : "false");
    sx_json_string(group->thread->name, strlen(group->thread->name));
    printf(",\"threads\":%zu,\"frames\":[", group->threads);
    frames_each(group->thread, frame_json);
    printf("]%s}\n", group->thread->more ? ",\"more\":true" : "");
}

static void problem_print(const struct sx_stack_process *process, bool json)
{
    const uint32_t pid = (uint32_t)process->pid;

    if (json) {
        of_json(process, &process->rank, &pid, 1);
        printf(",\"problem\":");
        sx_json_string(process->problem, strlen(process->problem));
        printf("}\n");
    } else if (process->nspace[0] != '\0') {
        sx_say("no stack of rank %" PRIu32 " of %.255s (process %" PRIu32 "): %s", process->rank,
               process->nspace, pid, process->problem);
    } else {
        sx_say("no stack of process %" PRIu32 ": %s", pid, process->problem);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

size_t sx_stack_print(const struct sx_stack_list *list, bool json)
{
    struct groups groups = { .count = 0 };
    size_t problems = 0;

    groups_make(list, true, &groups);
    groups_make(list, false, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        if (json) {
            group_json(&groups.at[i]);
        } else {
            printf(i > 0 ? "\n" : "");
            group_print(&groups.at[i]);
        }
    }
    fflush(stdout);
    for (size_t i = 0; i < list->count; i++) {
        if (list->at[i].problem != NULL) {
            problem_print(&list->at[i], json);
            problems++;
        }
    }
    groups_free(&groups);
    return problems;
}
