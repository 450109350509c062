/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_request.h - what a spawn asks for, and who waits for the answer.
 *
 *   library's thread: infos and apps --copied, read--> request --news--> launcher's thread:
 *   judged (options of a job) --> its job's, until that goes; answered once */
#ifndef SX_LAUNCH_ASK_SPAWN_REQUEST_H
#define SX_LAUNCH_ASK_SPAWN_REQUEST_H

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "launch/ask/options.h"
#include "launch/job/loop.h"
#include "launch/job/stack_report.h"
#include "launch/pmi/pmi1_words.h"

struct sx_run_request {
    pmix_proc_t parent; /* who asks */
    pmix_info_t *info;
    size_t ninfo;
    pmix_app_t *apps;
    size_t napps;
    struct sx_launch_options said;     /* of the job */
    struct sx_launch_options *of_apps; /* of each application, with what the job says of all */
    struct sx_run_options options;     /* the same, in the launcher's words */
    char ***words;                     /* argv of each application */
    uint64_t started_ns;               /* when it came */
    uint64_t progress_ns;              /* when it is told next how far it is; 0: not yet */
    pmix_proc_t target;                /* for what is said, when a name is all that is */
    uint32_t target_count;             /* ranks of the job that a debugger's daemons look at */
    uint32_t beside_count;             /* ranks beside which others are to be */
    struct sx_run_late late;           /* what its ranks did when their time was over */
    bool over_pmi1;                    /* it came that way, with ... */
    struct sx_run_pmi1_words preputs;  /* ... what its ranks find there; zeroed: none */
    bool has_started;                  /* that was the answer */
    pmix_spawn_cbfunc_t fn;            /* NULL: answered */
    void *arg;
};

/* Copy what @parent asks for, and read it.  Return: PMIX_SUCCESS, and the caller sets fn and arg;
 * PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED for a required directive that is not known;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_run_request_new(struct sx_run_request **ret_request, const pmix_proc_t *parent,
                                 const pmix_info_t *info, size_t ninfo, const pmix_app_t *apps,
                                 size_t napps);
struct sx_run_request *sx_run_request_free(struct sx_run_request *request);

/* Take the applications out that are to be a job of their own (PMIX_COSPAWN_APP), if others are
 * left.  Return: a request for them, whose answer nobody hears; NULL: there are none. */
struct sx_run_request *sx_run_request_part(struct sx_run_request *request);

/* Its ranks look at the job @nspace, unless they look at another one. */
void sx_run_request_look_at(struct sx_run_request *request, const char *nspace);

/* Make the options of it, on the node @host.  Return: PMIX_SUCCESS; or why there cannot be such a
 * job, with one line in @message. */
pmix_status_t sx_run_request_judge(struct sx_run_request *request, const char *host,
                                   char message[SX_RUN_MESSAGE_MAX]);

/* Is @rank to stop where @info, one of the request's, says?  @info: NULL: nowhere. */
bool sx_run_request_stops(const pmix_info_t *info, uint32_t rank);

/* Do to @env what the request says for application @index.  Return: PMIX_SUCCESS, or as
 * sx_envar_apply. */
pmix_status_t sx_run_request_env(const struct sx_run_request *request, uint32_t index, char ***env);

/* Once: a second answer is dropped.  @nspace: NULL for an error. */
void sx_run_request_answer(struct sx_run_request *request, pmix_status_t status,
                           const char *nspace);

#endif
