/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_names.c - a word for each status of the server. */
#include "launch/pmi/pmi1_names.h"

#include <pmix.h>
#include <string.h>

#include "server/publish/publish_as.h"

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
