/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* targets.c - from words to processes: jobs are found in the memory of servers.
 *
 * Processes of other users stay in the list, with that as their problem. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ls/ls.h"
#include "cli/stack/stack.h"
#include "cli/target.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

struct walk {
    struct sx_stack_list *list;
    struct sx_ls_started started;
    const char *nspace; /* NULL: of any job */
    const char *ranks;  /* NULL: all */
    bool servers;
    unsigned jobs;
    char host[256]; /* the name of this host */
};

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The next part of a list of ranks, "3" or "0-3".  Return: false when there is none. */
static bool part_next(const char **text, int64_t *ret_first, int64_t *ret_last)
{
    char part[32];
    const size_t len = strcspn(*text, ",");

    if (len == 0 || len >= sizeof(part)) {
        return false;
    }
    snprintf(part, sizeof(part), "%.*s", (int)len, *text);
    *text += len + ((*text)[len] == ',');
    char *const dash = strchr(part, '-');

    if (dash != NULL) {
        *dash = '\0';
    }
    return sx_cli_number(part, 0, PMIX_RANK_VALID, ret_first) &&
           sx_cli_number(dash != NULL ? dash + 1 : part, *ret_first, PMIX_RANK_VALID, ret_last);
}

bool sx_stack_ranks_are(const char *text)
{
    const size_t len = strlen(text);
    int64_t first, last;

    if (strcmp(text, "*") == 0) {
        return true;
    }
    if (len == 0 || text[len - 1] == ',') {
        return false;
    }
    while (*text != '\0') {
        if (!part_next(&text, &first, &last)) {
            return false;
        }
    }
    return true;
}

static bool has_rank(const char *ranks, uint32_t rank)
{
    int64_t first, last;

    if (ranks == NULL || strcmp(ranks, "*") == 0) {
        return true;
    }
    while (*ranks != '\0' && part_next(&ranks, &first, &last)) {
        if (first <= (int64_t)rank && (int64_t)rank <= last) {
            return true;
        }
    }
    return false;
}

/* ---- the list -------------------------------------------------------------------------------- */

static char *problem_of(pid_t pid)
{
    uid_t uid;

    if (sx_proc_has_ended(pid) || sx_proc_state(pid) == 'Z') {
        return sx_cli_strdup("it has ended");
    }
    if (geteuid() != 0 && sx_proc_user(pid, &uid) && uid != geteuid()) {
        return sx_cli_printf("it may be looked at by its user and root only%s",
                             sx_whose_users(pid));
    }
    return NULL;
}

static void process_add(struct sx_stack_list *list, pid_t pid, pid_t server, const char *nspace,
                        uint32_t rank)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->at[i].pid == pid) {
            return;
        }
    }
    if (list->count == SX_STACK_PROCESSES_MAX) {
        list->left_out++;
        return;
    }
    list->at = sx_cli_realloc(list->at, list->count + 1, sizeof(*list->at));
    struct sx_stack_process *const process = &list->at[list->count++];

    *process = (struct sx_stack_process){
        .pid = pid, .server = server, .rank = rank, .problem = problem_of(pid)
    };
    snprintf(process->nspace, sizeof(process->nspace), "%s", nspace);
}

static void server_add(struct walk *walk, pid_t server)
{
    if (walk->servers) {
        process_add(walk->list, server, 0, "", 0);
    }
}

/* A rank of another node has a process there. */
static bool is_here(const struct walk *walk, const struct sx_site *site, uint32_t rank)
{
    const char *const host = sx_site_text(site, SX_REALM_JOB, rank, PMIX_HOSTNAME);

    return host == NULL || strcmp(host, walk->host) == 0;
}

static void job_take(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct walk *const walk = arg;
    const struct sx_site site = { .shared = store, .self = PMIX_RANK_INVALID };
    const uint32_t size = sx_ls_ranks(&site);

    if ((walk->nspace != NULL && strcmp(nspace, walk->nspace) != 0) ||
        !sx_cli_store_is_of_job(store)) {
        return;
    }
    walk->jobs++;
    server_add(walk, server);
    for (uint32_t rank = 0; rank < size; rank++) {
        const pid_t pid = has_rank(walk->ranks, rank) && is_here(walk, &site, rank)
                              ? sx_ls_process_of(&walk->started, server, nspace, &site, rank)
                              : 0;

        if (pid != 0 && !sx_proc_has_ended(pid) && sx_proc_state(pid) != 'Z') {
            process_add(walk->list, pid, server, nspace, rank);
        }
    }
}

/* Return: the number of jobs that match. */
static unsigned jobs_add(struct walk *walk, pid_t server)
{
    walk->jobs = 0;
    (void)sx_cli_stores_each(server, job_take, walk);
    sx_ls_started_free(&walk->started);
    return walk->jobs;
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool process_take(struct walk *walk, const char *word)
{
    char nspace[SX_SEGMENT_NSPACE_BYTES] = "";
    uint32_t rank = 0;
    int64_t pid = 0;

    if (!sx_cli_number(word, 1, INT32_MAX, &pid) || sx_proc_has_ended((pid_t)pid)) {
        sx_say("process %.20s does not exist", word);
        return false;
    }
    pid = sx_proc_launcher((pid_t)pid);
    if (jobs_add(walk, (pid_t)pid) == 0) {
        if (!sx_proc_rank((pid_t)pid, nspace, &rank)) {
            nspace[0] = '\0';
        }
        process_add(walk->list, (pid_t)pid, 0, nspace, rank);
    }
    return true;
}

/* The whole word is a job's name; else what follows its last dot is a list of ranks. */
static bool job_or_rank_take(struct walk *walk, const char *word)
{
    const char *const dot = strrchr(word, '.');
    const size_t before = walk->list->count;

    walk->nspace = word;
    if (jobs_add(walk, 0) > 0) {
        return true;
    }
    if (dot == NULL || !sx_stack_ranks_are(dot + 1)) {
        sx_say("no job '%.255s' runs here; 'shmix ls jobs' lists those that do", word);
        return false;
    }
    char *const nspace = sx_cli_printf("%.*s", (int)(dot - word), word);

    walk->nspace = nspace;
    walk->ranks = dot + 1;
    const unsigned jobs = jobs_add(walk, 0);

    if (jobs == 0) {
        sx_say("no job '%.255s' runs here; 'shmix ls jobs' lists those that do", nspace);
    } else if (walk->list->count == before) {
        sx_say("job '%.255s' has no process of rank %.80s here; 'shmix ls procs' lists them",
               nspace, dot + 1);
    }
    free(nspace);
    return jobs > 0 && walk->list->count > before;
}

bool sx_stack_list_add(struct sx_stack_list *list, const char *word, const char *ranks,
                       bool servers)
{
    struct walk walk = { .list = list, .ranks = ranks, .servers = servers };

    (void)gethostname(walk.host, sizeof(walk.host) - 1);
    if (word == NULL) {
        (void)jobs_add(&walk, 0);
        return true;
    }
    return word[strspn(word, "0123456789")] == '\0' ? process_take(&walk, word)
                                                    : job_or_rank_take(&walk, word);
}

void sx_stack_list_free(struct sx_stack_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].problem);
        sx_stack_threads_free(&list->at[i].threads);
    }
    free(list->at);
    *list = (struct sx_stack_list){ .count = 0 };
}
