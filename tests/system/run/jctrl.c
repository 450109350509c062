/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jctrl.c - control processes: jctrl [-u URI|PID] NSPACE RANK|all DIRECTIVE[=NUMBER|=TEXT]...
 *           or a session:      jctrl [-u URI|PID] session NUMBER|all DIRECTIVE...
 *
 * Written after the Standard alone: it knows nothing of this library.  It is a tool, of the server
 * at URI or of process PID if one is given, or a rank if it was started as one.  A directive is a key; what stands
 * behind it is its value, true when there is none. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_tool.h>

static bool is_rank(void)
{
    return getenv("PMIX_NAMESPACE") != NULL;
}

static pmix_status_t begin(const char *server)
{
    pmix_info_t info;
    pmix_proc_t me;
    pmix_status_t rc;
    pid_t pid;

    if (is_rank()) {
        return PMIx_Init(&me, NULL, 0);
    }
    if (server == NULL) {
        return PMIx_tool_init(&me, NULL, 0);
    }
    pid = atoi(server);
    if (pid > 0) {
        PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    } else {
        PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, server, PMIX_STRING);
    }
    rc = PMIx_tool_init(&me, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static void load(pmix_info_t *info, char *directive)
{
    char *const value = strchr(directive, '=');
    int number;

    if (value == NULL) {
        PMIX_INFO_LOAD(info, directive, NULL, PMIX_BOOL);
        return;
    }
    *value = '\0';
    number = atoi(value + 1);
    if (number != 0) {
        PMIX_INFO_LOAD(info, directive, &number, PMIX_INT);
    } else {
        PMIX_INFO_LOAD(info, directive, value + 1, PMIX_STRING);
    }
}

static pmix_status_t control(const pmix_proc_t *target, char **directives, size_t count)
{
    const bool is_session = strcmp(target->nspace, "session") == 0;
    pmix_info_t *results = NULL, *info;
    size_t nresults = 0;
    pmix_status_t rc;

    PMIX_INFO_CREATE(info, count);
    for (size_t i = 0; i < count; i++) {
        load(&info[i], directives[i]);
    }
    rc = is_session
             ? PMIx_Session_control(target->rank == PMIX_RANK_WILDCARD ? UINT32_MAX : target->rank,
                                    info, count, NULL, NULL)
             : PMIx_Job_control(target, 1, info, count, &results, &nresults);
    PMIX_INFO_FREE(results, nresults);
    PMIX_INFO_FREE(info, count);
    return rc;
}

int main(int argc, char **argv)
{
    const bool has_uri = argc > 2 && strcmp(argv[1], "-u") == 0;
    char **const args = argv + (has_uri ? 3 : 1);
    const int nargs = argc - (has_uri ? 3 : 1);
    pmix_proc_t target;
    pmix_status_t rc;

    if (nargs < 3) {
        return 2;
    }
    rc = begin(has_uri ? argv[2] : NULL);
    if (rc != PMIX_SUCCESS) {
        printf("init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    PMIX_LOAD_PROCID(&target, args[0],
                     strcmp(args[1], "all") == 0 ? PMIX_RANK_WILDCARD
                                                 : (pmix_rank_t)strtoul(args[1], NULL, 10));
    printf("%s\n", PMIx_Error_string(control(&target, args + 2, (size_t)nargs - 2)));
    rc = is_rank() ? PMIx_Finalize(NULL, 0) : PMIx_tool_finalize();
    return rc == PMIX_SUCCESS ? 0 : 1;
}
