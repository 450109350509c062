/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_group.c - all ranks connect, and read in place who is in the list; then all but rank 0 leave
 * by ending, and rank 0 hears of each.
 *
 * Build and run:   cc native_group.c $(pkg-config --cflags --libs shmix) -o native_group
 *                  shmix run -n 4 ./native_group */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>
#include <shmix.h>

static void need(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

/* As often as you like: a read is a few loads.  It is one generation until we ask for another. */
static shmix_group_facts_t facts(const shmix_group_t *group)
{
    shmix_group_facts_t info;
    pmix_proc_t proc;

    need(shmix_group_info(group, &info), "shmix_group_info");
    printf("generation %" PRIu64 ", %u of %u members:", info.generation, info.member_count,
           info.size);
    for (pmix_rank_t rank = 0; rank < info.size; rank++) {
        if (shmix_group_member(group, rank, &proc) == PMIX_SUCCESS) {
            printf(" %s.%u", proc.nspace, proc.rank);
        }
    }
    putchar('\n');
    return info;
}

int main(void)
{
    const bool yes = true;
    pmix_nspace_t name;
    pmix_rank_t rank;
    pmix_info_t early;
    shmix_group_facts_t info;
    shmix_group_t *group;
    pmix_proc_t me, all;

    need(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    need(PMIx_Info_load(&early, PMIX_CONNECT_EARLY_TERM_ALLOWED, &yes, PMIX_BOOL),
         "PMIx_Info_load");
    need(shmix_connect(&all, 1, &early, 1, name, &rank), "shmix_connect");

    need(shmix_group_open(name, &group), "shmix_group_open");
    need(shmix_group_rank(group, NULL, &rank), "shmix_group_rank");
    if (rank == 0) {
        info = facts(group);
        while (info.member_count > 1) {
            need(shmix_group_wait(group, info.generation, SHMIX_FOREVER), "shmix_group_wait");
            info = facts(group);
        }
    }
    need(shmix_group_close(group), "shmix_group_close");
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
