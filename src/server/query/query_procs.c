/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_procs.c - the node, command and state of each process.
 *
 * The state that the host has set for a process takes precedence.  Otherwise the server derives it:
 *
 *     LAUNCH_UNDERWAY --PMIx_Init--> CONNECTED --PMIx_Finalize--> RUNNING --its end--> TERMINATED
 *                                        \--its end--> TERM_WO_SYNC */
#include "server/query/query_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system/process.h"
#include "base/value/value.h"
#include "server/port/port.h"
#include "shmem/nspace_read.h"

static pmix_proc_state_t client_state(const struct sx_client *client)
{
    if (client->departed || (client->left && sx_process_has_gone(client->exit_fd))) {
        return PMIX_PROC_STATE_TERMINATED; /* also when the host has removed it since */
    }
    if (client->died || client->state == SX_CLIENT_DEAD) {
        return PMIX_PROC_STATE_TERM_WO_SYNC;
    }
    if (client->state == SX_CLIENT_CONNECTED) {
        return PMIX_PROC_STATE_CONNECTED;
    }
    return client->left || client->state == SX_CLIENT_FINALIZED ? PMIX_PROC_STATE_RUNNING
                                                                : PMIX_PROC_STATE_LAUNCH_UNDERWAY;
}

/* A text of the process, else of its application. */
static const char *executable_of(const struct sx_site *site, uint32_t rank)
{
    uint32_t app = 0;
    const char *const own = sx_site_text(site, SX_REALM_JOB, rank, PMIX_APP_ARGV);

    (void)sx_site_number(site, SX_REALM_JOB, rank, PMIX_APPNUM, UINT32_MAX, &app);
    return own != NULL ? own : sx_site_text(site, SX_REALM_APP, app, PMIX_APP_ARGV);
}

/* The first word of @text, a command line.  Return: NULL when memory is out. */
static char *word_copy(const char *text)
{
    return strndup(text, strcspn(text, " "));
}

static bool text_give(char **ret, char *copy, bool wanted)
{
    *ret = copy;
    return copy != NULL || !wanted;
}

/* Return: false when memory is out. */
static bool info_fill(const struct sx_nspace *nspace, const struct sx_site *site, uint32_t rank,
                      pmix_proc_info_t *ret)
{
    const struct sx_client *const client = sx_client_find(nspace, rank);
    const char *const host = sx_site_text(site, SX_REALM_JOB, rank, PMIX_HOSTNAME);
    const char *const command = executable_of(site, rank);
    uint32_t number;

    ret->proc = sx_nspace_proc(nspace, rank);
    if (sx_site_number(site, SX_REALM_JOB, rank, PMIX_PROC_PID, INT32_MAX, &number) ||
        sx_site_number(site, SX_REALM_JOB, rank, SX_STARTED_PID, INT32_MAX, &number)) {
        ret->pid = (pid_t)number;
    }
    (void)sx_site_int(site, SX_REALM_JOB, rank, PMIX_EXIT_CODE, &ret->exit_code);
    if (sx_site_number(site, SX_REALM_JOB, rank, PMIX_PROC_STATE_STATUS, UINT8_MAX, &number)) {
        ret->state = (pmix_proc_state_t)number;
    } else if (client != NULL) {
        ret->state = client_state(client);
    }
    return text_give(&ret->hostname, host != NULL ? strdup(host) : NULL, host != NULL) &&
           text_give(&ret->executable_name, command != NULL ? word_copy(command) : NULL,
                     command != NULL);
}

/* The ranks in the answer are those of the job, or the local ones when the job's size is not
 * set. */
static bool is_of_job(const struct sx_nspace *nspace, bool here)
{
    return !here && nspace->job_size != 0;
}

size_t sx_query_procs_count(const struct sx_nspace *nspace, bool here)
{
    return is_of_job(nspace, here) ? nspace->job_size : nspace->client_count;
}

pmix_status_t sx_query_procs_fill(const struct sx_nspace *nspace, bool here,
                                  pmix_data_array_t *table, size_t from, size_t count)
{
    const struct sx_site site = { .shared = nspace->has_store ? &nspace->store.view : NULL };

    sx_assert(table->size == sx_query_procs_count(nspace, here));
    for (size_t i = from; i < table->size && i - from < count; i++) {
        const uint32_t rank = is_of_job(nspace, here) ? (uint32_t)i : nspace->by_rank[i]->rank;

        if (!info_fill(nspace, &site, rank, (pmix_proc_info_t *)table->array + i)) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return PMIX_SUCCESS;
}

bool sx_query_procs_have_ended(const struct sx_nspace *nspace)
{
    size_t i = 0;

    while (i < nspace->client_count &&
           client_state(nspace->by_rank[i]) >= PMIX_PROC_STATE_TERMINATED) {
        i++;
    }
    return nspace->client_count > 0 && i == nspace->client_count;
}
