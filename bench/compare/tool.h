/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.h - a question, and a program that is also a tool: it starts itself again for that. */
#ifndef SX_BENCH_COMPARE_TOOL_H
#define SX_BENCH_COMPARE_TOOL_H

#include <pmix_tool.h>

#include "host.h"

#define TOOL "--tool" /* then the process of the server */

/* @about: the job that the question is about; NULL: none. */
static inline pmix_info_t *ask(const char *key, const pmix_proc_t *about, pmix_status_t *ret_rc,
                               size_t *ret_count)
{
    char *keys[] = { (char *)(uintptr_t)key, NULL };
    pmix_info_t qualifier, *info = NULL;
    pmix_query_t query;

    memset(&query, 0, sizeof(query));
    memset(&qualifier, 0, sizeof(qualifier));
    query.keys = keys;
    if (about != NULL) {
        strcpy(qualifier.key, PMIX_PROCID);
        qualifier.value.type = PMIX_PROC;
        qualifier.value.data.proc = (pmix_proc_t *)(uintptr_t)about;
        query.qualifiers = &qualifier;
        query.nqual = 1;
    }
    *ret_rc = PMIx_Query_info(&query, 1, &info, ret_count);
    return info;
}

/* Be a tool of the server in process @server.  Return: microseconds until the first answer. */
static inline double tool_live(const char *server)
{
    const pid_t pid = (pid_t)atoi(server);
    pmix_status_t rc;
    pmix_info_t where;
    pmix_proc_t me;
    size_t count;

    PMIX_INFO_LOAD(&where, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    const double begin = now_us();

    must(PMIx_tool_init(&me, &where, 1), "PMIx_tool_init");
    pmix_info_t *const info = ask(PMIX_QUERY_NAMESPACES, NULL, &rc, &count);
    const double end = now_us();

    must(rc, "query of the jobs");
    free(info[0].value.data.string);
    free(info);
    must(PMIx_tool_finalize(), "PMIx_tool_finalize");
    return end - begin;
}

/* What makes a process a rank does not make a tool. */
static inline void environment_leave(void)
{
    extern char **environ;

    for (char **at = environ; *at != NULL;) {
        const size_t len = strcspn(*at, "=");
        char name[256];

        if ((strncmp(*at, "PMIX_", 5) == 0 || strncmp(*at, "SHMIX_SERVER_", 13) == 0 ||
             strncmp(*at, "OMPI_", 5) == 0) &&
            len < sizeof(name)) {
            memcpy(name, *at, len);
            name[len] = '\0';
            unsetenv(name);
        } else {
            at++;
        }
    }
}

/* Become this program as @what, which is no rank. */
static inline void tool_exec(const char *what, const char *arg)
{
    environment_leave();
    execl("/proc/self/exe", "compare", what, arg, (char *)NULL);
    _exit(127);
}

static inline bool tool_is(int argc, char **argv, const char *what)
{
    return argc == 3 && strcmp(argv[1], what) == 0;
}

#endif
