/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - ask what is running: this job, its processes, and which sets and groups there are.
 *
 * Build and run:   cc query.c $(pkg-config --cflags --libs shmix) -o query
 *                  shmix run -n 4 --pset everybody ./query */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

static pmix_proc_t me;

static void must(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
        exit(1);
    }
}

static void print_procs(const pmix_data_array_t *table)
{
    const pmix_proc_info_t *const procs = table->array;

    for (size_t i = 0; i < table->size; i++) {
        const char *const program = procs[i].executable_name; /* NULL: the host did not give it */

        printf("rank %u runs %s on %s as process %d: %s\n", procs[i].proc.rank,
               program != NULL ? program : "a program", procs[i].hostname, (int)procs[i].pid,
               PMIx_Proc_state_string(procs[i].state));
    }
}

static void key_append(char ***keys, const char *key)
{
    pmix_status_t rc;

    PMIX_ARGV_APPEND(rc, *keys, key);
    must(rc, key);
}

/* One query with several keys: the answers are a flat array, an element for each key. */
static void print_lists(void)
{
    char **keys = NULL;
    pmix_query_t query = PMIX_QUERY_STATIC_INIT;
    pmix_info_t *info;
    size_t count;

    key_append(&keys, PMIX_QUERY_NAMESPACES);
    key_append(&keys, PMIX_QUERY_NUM_PSETS);
    key_append(&keys, PMIX_QUERY_PSET_NAMES);
    query.keys = keys;
    must(PMIx_Query_info(&query, 1, &info, &count), "PMIx_Query_info");
    for (size_t i = 0; i < count; i++) {
        if (info[i].value.type == PMIX_SIZE) {
            printf("%s: %zu\n", PMIx_Get_attribute_name(info[i].key), info[i].value.data.size);
        } else {
            printf("%s: %s\n", PMIx_Get_attribute_name(info[i].key), info[i].value.data.string);
        }
    }
    PMIX_INFO_FREE(info, count);
    PMIX_QUERY_DESTRUCT(&query);
}

/* A key about one job: a qualifier says about which. */
static void print_job(void)
{
    pmix_query_t query = PMIX_QUERY_STATIC_INIT;
    pmix_info_t *info;
    size_t count;

    key_append(&query.keys, PMIX_QUERY_PROC_TABLE);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    must(PMIx_Info_load(&query.qualifiers[0], PMIX_NSPACE, me.nspace, PMIX_STRING),
         "PMIx_Info_load");
    must(PMIx_Query_info(&query, 1, &info, &count), "PMIx_Query_info");
    print_procs(info[0].value.data.darray);
    PMIX_INFO_FREE(info, count);
    PMIX_QUERY_DESTRUCT(&query);
}

int main(void)
{
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence"); /* all are there */
    if (me.rank == 0) {
        print_lists();
        print_job();
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
