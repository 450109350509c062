/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_log.c - make a text, and pass it to each channel that is wanted. */
#include "launch/stdio/job_log.h"

#include <pmix.h>
#include <stdlib.h>

#include "base/stream/log_channel.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/stdio/log.h"

static bool is_wanted(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank)
{
    const struct sx_launch_options *const said = &job->request->said;

    switch (code) {
    case PMIX_EVENT_JOB_END:
        return said->log_events || said->log_end;
    case PMIX_EVENT_PROC_TERMINATED:
        return said->log_ranks ||
               (said->log_failures && job->ranks[rank].state != PMIX_PROC_STATE_TERMINATED);
    default:
        return said->log_events;
    }
}

/* Malloc'ed. */
static char *text_of(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank)
{
    const char *const name = PMIx_Error_string(code);

    switch (code) {
    case PMIX_EVENT_JOB_END:
        return sx_cli_printf("%s: %s: %s, exit code %d", name, job->nspace,
                             PMIx_Error_string(job->fate), job->failed_code);
    case PMIX_EVENT_PROC_TERMINATED:
        return sx_cli_printf("%s: %s, rank %u: %s, exit code %d", name, job->nspace, rank,
                             PMIx_Proc_state_string(job->ranks[rank].state),
                             job->ranks[rank].exit_code);
    default:
        return sx_cli_printf("%s: %s: %u rank%s of %s", name, job->nspace, job->rank_count,
                             job->rank_count == 1 ? "" : "s", job->apps[0].program[0]);
    }
}

static void written(pmix_status_t status, void *arg)
{
    (void)status;
    PMIx_Info_free(arg, 1);
}

/* To the launcher's own entry, or to the server for the system log. */
static void put(const struct sx_run_job *job, pmix_rank_t rank, const char *key,
                enum sx_log_way way, const char *text)
{
    pmix_info_t *const info = PMIx_Info_create(1);
    pmix_proc_t source;

    if (info == NULL || PMIx_Info_load(info, key, text, PMIX_STRING) != PMIX_SUCCESS) {
        sx_cli_no_memory();
    }
    PMIx_Load_procid(&source, job->nspace, rank);
    if (way == SX_LOG_HOST) {
        sx_run_log(&source, info, 1, NULL, 0, written, info);
    } else if (PMIx_Log_nb(info, 1, NULL, 0, written, info) != PMIX_SUCCESS) {
        written(PMIX_SUCCESS, info);
    }
}

void sx_run_note(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank)
{
    const struct sx_run_request *const request = job->request;
    bool any = false;

    if (request == NULL || !is_wanted(job, code, rank)) {
        return;
    }
    const bool records = job->run->setup->options->log != NULL;
    const uint8_t logs = SX_LOGS_STREAMS | (records ? SX_LOGS_RECORDS : 0);
    char *const text = text_of(job, code, rank);

    for (size_t i = 0; i < request->ninfo; i++) {
        const struct sx_log_channel *const channel = sx_log_channel_find(request->info[i].key);
        const enum sx_log_way way = sx_log_channel_way(channel, logs);

        if (channel != NULL && way != SX_LOG_NOBODY) {
            put(job, rank, channel->key, way, text);
            any = true;
        }
    }
    if (!any) {
        put(job, rank, records ? PMIX_LOG_JOB_RECORD : PMIX_LOG_STDERR, SX_LOG_HOST, text);
    }
    free(text);
}
