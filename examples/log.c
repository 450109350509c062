/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.c - log a line where the job's output goes, marked with who says it.
 *
 * Build and run:   cc log.c $(pkg-config --cflags --libs shmix) -o log
 *                  shmix run -n 4 ./log */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>

static pmix_proc_t me;

static void must(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
        exit(1);
    }
}

int main(void)
{
    const bool yes = true;
    pmix_info_t data, directive;
    char text[64];

    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    snprintf(text, sizeof(text), "rank %u has begun", me.rank);

    /* The key says where to; several infos are several places. */
    must(PMIx_Info_load(&data, PMIX_LOG_STDOUT, text, PMIX_STRING), "PMIx_Info_load");
    must(PMIx_Info_load(&directive, PMIX_LOG_TAG_OUTPUT, &yes, PMIX_BOOL), "PMIx_Info_load");
    must(PMIx_Log(&data, 1, &directive, 1), "PMIx_Log"); /* it has been written */

    PMIX_INFO_DESTRUCT(&data);
    PMIX_INFO_DESTRUCT(&directive);
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
