/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* toolqry.c - a tool that asks what runs here, by all the ways that there are to ask.
 *
 * Written after the Standard alone: it knows nothing of this library.  With an argument it asks
 * without waiting in the calls. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_tool.h>

static bool nonblocking;

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool is_there;
    pmix_status_t status;
    pmix_info_t *info;
    size_t ninfo;
};

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct answer *const answer = cbdata;

    pthread_mutex_lock(&answer->lock);
    answer->status = status;
    answer->ninfo = ninfo;
    PMIX_INFO_CREATE(answer->info, ninfo);
    for (size_t i = 0; i < ninfo; i++) {
        PMIX_INFO_XFER(&answer->info[i], &info[i]);
    }
    answer->is_there = true;
    pthread_cond_signal(&answer->came);
    pthread_mutex_unlock(&answer->lock);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
}

/* Ask for @key, of the namespace @nspace if that is not NULL. */
static pmix_status_t ask(const char *key, const char *nspace, pmix_info_t **info, size_t *ninfo)
{
    struct answer answer = { .lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER };
    pmix_query_t *query;
    pmix_status_t rc;

    PMIX_QUERY_CREATE(query, 1);
    PMIX_ARGV_APPEND(rc, query->keys, key);
    if (nspace != NULL) {
        PMIX_QUERY_QUALIFIERS_CREATE(query, 1);
        PMIX_INFO_LOAD(&query->qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
    }
    *info = NULL;
    *ninfo = 0;
    if (!nonblocking) {
        rc = PMIx_Query_info(query, 1, info, ninfo);
    } else if ((rc = PMIx_Query_info_nb(query, 1, on_answer, &answer)) == PMIX_SUCCESS) {
        pthread_mutex_lock(&answer.lock);
        while (!answer.is_there) {
            pthread_cond_wait(&answer.came, &answer.lock);
        }
        pthread_mutex_unlock(&answer.lock);
        rc = answer.status;
        *info = answer.info;
        *ninfo = answer.ninfo;
    }
    PMIX_QUERY_FREE(query, 1);
    return rc;
}

static void ask_and_notify(const char *what, const char *key, const char *nspace)
{
    pmix_info_t *info;
    size_t ninfo;
    const pmix_status_t rc = ask(key, nspace, &info, &ninfo);

    printf("%s: %s, %zu\n", what, PMIx_Error_string(rc), ninfo);
    PMIX_INFO_FREE(info, ninfo);
}

static void table_notify(const char *nspace)
{
    char host[256] = "";
    pmix_info_t *info;
    size_t ninfo;
    const pmix_status_t rc = ask(PMIX_QUERY_PROC_TABLE, nspace, &info, &ninfo);

    gethostname(host, sizeof(host) - 1);
    if (rc == PMIX_SUCCESS && ninfo == 1 && info->value.type == PMIX_DATA_ARRAY) {
        const pmix_data_array_t *const array = info->value.data.darray;
        const pmix_proc_info_t *const all = array->array;

        for (size_t i = 0; array->type == PMIX_PROC_INFO && i < array->size; i++) {
            printf("rank %u, process %d, %s, %s, %s\n", all[i].proc.rank, (int)all[i].pid,
                   PMIx_Proc_state_string(all[i].state),
                   strcmp(all[i].hostname, host) == 0 ? "here" : all[i].hostname,
                   all[i].executable_name);
        }
    } else {
        printf("table: %s\n", PMIx_Error_string(rc));
    }
    PMIX_INFO_FREE(info, ninfo);
}

/* Of the one namespace that is asked about. */
static void namespace_notify(const char *nspace)
{
    pmix_info_t *info;
    size_t ninfo;
    const pmix_status_t rc = ask(PMIX_QUERY_NAMESPACE_INFO, nspace, &info, &ninfo);

    if (rc == PMIX_SUCCESS && ninfo == 1 && info->value.type == PMIX_DATA_ARRAY) {
        const pmix_info_t *const all = info->value.data.darray->array;
        const pmix_info_t *const parts = all->value.data.darray->array;

        for (size_t i = 0; i < all->value.data.darray->size; i++) {
            if (PMIX_CHECK_KEY(&parts[i], PMIX_NSPACE)) {
                printf("namespace info: %s\n", parts[i].value.data.string);
            }
        }
    } else {
        printf("namespace info: %s\n", PMIx_Error_string(rc));
    }
    PMIX_INFO_FREE(info, ninfo);
}

static void peers_notify(const char *nspace)
{
    pmix_value_t *size = NULL;
    pmix_proc_t *procs = NULL, job;
    char *nodes = NULL;
    size_t count = 0;

    printf("peers: %s, ", PMIx_Error_string(PMIx_Resolve_peers(NULL, nspace, &procs, &count)));
    printf("%zu\n", count);
    PMIX_PROC_FREE(procs, count);
    printf("nodes: %s\n", PMIx_Error_string(PMIx_Resolve_nodes(nspace, &nodes)));
    free(nodes);
    PMIX_LOAD_PROCID(&job, nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size) == PMIX_SUCCESS) {
        printf("size: %u\n", size->data.uint32);
        PMIX_VALUE_RELEASE(size);
    }
}

static void jobs_notify(void)
{
    pmix_info_t *info;
    size_t ninfo;

    if (ask(PMIX_QUERY_NAMESPACES, NULL, &info, &ninfo) == PMIX_SUCCESS && ninfo == 1 &&
        info->value.type == PMIX_STRING) {
        char *rest = info->value.data.string, *nspace;

        while ((nspace = strsep(&rest, ",")) != NULL) {
            printf("job: %s\n", nspace);
            ask_and_notify("status", PMIX_QUERY_JOB_STATUS, nspace);
            namespace_notify(nspace);
            table_notify(nspace);
            peers_notify(nspace);
        }
    }
    PMIX_INFO_FREE(info, ninfo);
}

int main(int argc, char **argv)
{
    pmix_proc_t me, *servers;
    size_t count;

    nonblocking = argc > 1;
    ask_and_notify("abi before", PMIX_QUERY_STABLE_ABI_VERSION, NULL);
    ask_and_notify("namespaces before", PMIX_QUERY_NAMESPACES, NULL);
    if (PMIx_tool_init(&me, NULL, 0) != PMIX_SUCCESS || !PMIx_tool_is_connected()) {
        return 1;
    }
    jobs_notify();
    ask_and_notify("servers", PMIX_QUERY_AVAIL_SERVERS, NULL);
    ask_and_notify("status of nobody", PMIX_QUERY_JOB_STATUS, NULL);
    ask_and_notify("nonsense", "no.such.key", NULL);
    if (PMIx_tool_get_servers(&servers, &count) != PMIX_SUCCESS || count != 1 ||
        PMIx_tool_disconnect(servers) != PMIX_SUCCESS) {
        return 1;
    }
    PMIX_PROC_FREE(servers, count);
    printf("connected: %d\n", PMIx_tool_is_connected());
    ask_and_notify("after", PMIX_QUERY_PROC_TABLE, "nobody");
    return PMIx_tool_finalize() == PMIX_SUCCESS ? 0 : 1;
}
