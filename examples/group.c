/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - the ranks of a job become a group with a name of their own choice and a number that no
 * other group has; they read each other's data and meet under that name, and end the group.
 *
 * Build and run:   cc group.c $(pkg-config --cflags --libs shmix) -o group
 *                  shmix run -n 4 ./group */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define GROUP "example.group"

static pmix_proc_t me;

static void must(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
        exit(1);
    }
}

/* What this process brings into the group. */
static void put_number(void)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 100 + me.rank };

    must(PMIx_Put(PMIX_GLOBAL, "example.number", &value), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
}

/* Make the group of all ranks of the job.  *ret_id: its number.  Return: how many members it has. */
static size_t construct(size_t *ret_id)
{
    const bool yes = true;
    pmix_info_t wish, *results;
    pmix_proc_t job;
    size_t count, members = 0;

    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    must(PMIx_Info_load(&wish, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL), "PMIx_Info_load");
    must(PMIx_Group_construct(GROUP, &job, 1, &wish, 1, &results, &count), "PMIx_Group_construct");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(results[i].key, PMIX_GROUP_MEMBERSHIP) == 0) {
            members = results[i].value.data.darray->size;
        } else if (strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID) == 0) {
            *ret_id = results[i].value.data.size;
        }
    }
    PMIX_INFO_FREE(results, count);
    return members;
}

int main(void)
{
    pmix_value_t *value;
    pmix_proc_t member;
    size_t id = 0;

    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    put_number();

    const size_t members = construct(&id);
    printf("rank %u: %s has %zu members and a number: %s\n", me.rank, GROUP, members,
           id != 0 ? "yes" : "no");

    /* A member is the name of the group and a rank in it. */
    for (pmix_rank_t rank = 0; rank < members; rank++) {
        PMIX_LOAD_PROCID(&member, GROUP, rank);
        must(PMIx_Get(&member, "example.number", NULL, 0, &value), "PMIx_Get");
        printf("rank %u reads of member %u: %u\n", me.rank, rank, value->data.uint32);
        PMIX_VALUE_RELEASE(value);
    }

    PMIX_LOAD_PROCID(&member, GROUP, PMIX_RANK_WILDCARD);
    must(PMIx_Fence(&member, 1, NULL, 0), "PMIx_Fence");
    must(PMIx_Group_destruct(GROUP, NULL, 0), "PMIx_Group_destruct");

    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
