/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* info.h - the job info for the server: every reserved key that makes sense on one node.  Each has
 * the type that clients unload (Open MPI treats another integer type as an error).
 *
 * The array holds session, job and node values, one PMIX_APP_INFO_ARRAY for each application, one
 * PMIX_NODE_INFO_ARRAY, and one PMIX_PROC_DATA for each rank.  Its size and the time to build it
 * grow with the number of ranks. */
#ifndef SX_LAUNCH_PMI_INFO_H
#define SX_LAUNCH_PMI_INFO_H

#include <pmix_common.h>

#include "launch/ask/options.h"
#include "launch/job/job.h"
#include "launch/job/session.h"
#include "launch/place/place.h"

/* The map of this many ranks, for programs of MPICH: from node 0, on 1 node. */
#define SX_RUN_INFO_ANL_MAP "(vector,(0,1,%" PRIu32 "))"

struct sx_run_job_facts {
    const struct sx_run_options *options;
    const struct sx_run_jobs *jobs; /* all of them ... */
    const struct sx_run_job *job;   /* ... and the job that the facts are about */
    const struct sx_run_machine *machine;
    const struct sx_session *session;
    const char *host;
    char **wdirs; /* the absolute directory where the ranks of each application start */
    const char *server_nspace;
    const char *node_map; /* of PMIx_generate_regex */
    const char *proc_map; /* of PMIx_generate_ppn */
};

/* Return: a malloc'ed array for PMIx_server_register_nspace; sx_run_info_free releases it. */
pmix_info_t *sx_run_info_build(const struct sx_run_job_facts *facts, size_t *ret_count);
void sx_run_info_free(pmix_info_t *info, size_t count);

/* "0,1,2" for @rank_count ranks, malloc'ed. */
char *sx_run_info_peers(uint32_t rank_count);

/* A command line in one string, words with blanks in quotes; malloc'ed. */
char *sx_run_info_command(char *const *argv);

/* The command lines of all applications of @job, with " : " between them; malloc'ed. */
char *sx_run_info_commands(const struct sx_run_job *job);

#endif
