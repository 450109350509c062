/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jctrl.c - a tool that controls processes: jctrl NSPACE RANK|all DIRECTIVE [NUMBER|TEXT]...
 *
 * Written after the Standard alone: it knows nothing of this library.  A directive is a key; what
 * stands behind it is its value, true when there is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_tool.h>

int main(int argc, char **argv)
{
    pmix_proc_t me, target;
    pmix_info_t *results = NULL, info;
    size_t nresults = 0;
    pmix_status_t rc;
    int number;

    if (argc < 4) {
        return 2;
    }
    rc = PMIx_tool_init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        printf("init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    PMIX_LOAD_PROCID(&target, argv[1],
                     strcmp(argv[2], "all") == 0 ? PMIX_RANK_WILDCARD
                                                 : (pmix_rank_t)strtoul(argv[2], NULL, 10));
    if (argc == 4) {
        PMIX_INFO_LOAD(&info, argv[3], NULL, PMIX_BOOL);
    } else if ((number = atoi(argv[4])) != 0) {
        PMIX_INFO_LOAD(&info, argv[3], &number, PMIX_INT);
    } else {
        PMIX_INFO_LOAD(&info, argv[3], argv[4], PMIX_STRING);
    }
    rc = PMIx_Job_control(&target, 1, &info, 1, &results, &nresults);
    printf("%s\n", PMIx_Error_string(rc));
    PMIX_INFO_FREE(results, nresults);
    PMIX_INFO_DESTRUCT(&info);
    return PMIx_tool_finalize() == PMIX_SUCCESS ? 0 : 1;
}
