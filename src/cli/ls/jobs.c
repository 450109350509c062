/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobs.c - the stores of jobs, a line for each. */
#include "cli/ls/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "cli/json.h"
#include "cli/ls/nobody.h"
#include "cli/names.h"
#include "cli/proc.h"
#include "cli/say.h"
#include "cli/stores.h"

struct list {
    const struct sx_ls_wish *wish;
    unsigned count;
};

struct job {
    pid_t server;
    const char *nspace, *state;
    uint64_t size, here, apps;
    pmix_value_t command; /* PMIX_UNDEF: not known */
};

static uint64_t number_of(const struct sx_store *store, const char *key)
{
    pmix_value_t value;
    uint64_t number = 0;

    if (sx_store_get(store, SX_REALM_JOB, SX_ROW_JOB, key, &value) == PMIX_SUCCESS) {
        (void)sx_value_get_uint(&value, &number);
        sx_value_destruct(&value);
    }
    return number;
}

static const char *command_of(const struct job *job)
{
    return job->command.type == PMIX_STRING && job->command.data.string != NULL
               ? job->command.data.string
               : NULL;
}

static void print_text(const struct list *list, const struct job *job)
{
    const char *const command = command_of(job);

    if (list->count == 0) {
        printf("%8s %8s %5s %8s %-10s %s\n", "SIZE", "HERE", "APPS", "SERVER", "STATE",
               "NAME: COMMAND");
    }
    printf("%8" PRIu64 " %8" PRIu64 " %5" PRIu64 " %8d %-10s ", job->size, job->here, job->apps,
           (int)job->server, job->state);
    sx_names_text_print(job->nspace, strlen(job->nspace));
    if (command != NULL) {
        printf(": ");
        sx_names_text_print(command, strlen(command));
    }
    putchar('\n');
}

static void print_json(const struct job *job)
{
    const char *const command = command_of(job);

    printf("{\"nspace\":");
    sx_json_string(job->nspace, strlen(job->nspace));
    printf(",\"server\":%d,\"server_state\":\"%s\",\"size\":%" PRIu64 ",\"local_size\":%" PRIu64
           ",\"apps\":%" PRIu64,
           (int)job->server, job->state, job->size, job->here, job->apps);
    if (command != NULL) {
        printf(",\"command\":");
        sx_json_string(command, strlen(command));
    }
    printf("}\n");
}

static void job_print(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct list *const list = arg;
    const char *const wanted = list->wish->whose.nspace, *const state = sx_proc_state_name(server);

    if ((wanted != NULL && strcmp(nspace, wanted) != 0) || !sx_cli_store_is_of_job(store)) {
        return;
    }
    struct job job = {
        .server = server,
        .nspace = nspace,
        .state = state != NULL ? state : "runs",
        .size = number_of(store, PMIX_JOB_SIZE),
        .here = number_of(store, PMIX_LOCAL_SIZE),
        .apps = number_of(store, PMIX_JOB_NUM_APPS),
    };

    if (sx_store_get(store, SX_REALM_JOB, SX_ROW_JOB, PMIX_CMD_LINE, &job.command) !=
        PMIX_SUCCESS) {
        job.command = (pmix_value_t){ .type = PMIX_UNDEF };
    }
    if (list->wish->json) {
        print_json(&job);
    } else {
        print_text(list, &job);
    }
    sx_value_destruct(&job.command);
    list->count++;
}

int sx_ls_jobs(const struct sx_ls_wish *wish)
{
    struct list list = { .wish = wish };

    const bool denied = !sx_cli_stores_each(wish->server, job_print, &list);

    if (list.count == 0) {
        return sx_ls_nobody(wish, denied);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}
