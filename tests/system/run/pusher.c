/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pusher.c - spawn processes and push the standard input to them:
 *            pusher [-n COUNT] [-t RANK|all|none] [-f RANK|all] [-p RANK] [-o] [-w WORD] COMMAND...
 *
 * Written after the Standard alone.  It is a tool, or a rank if it was started as one.  -t and -f
 * are the spawn's PMIX_STDIN_TGT and PMIX_FWD_STDIN; the input is pushed to RANK of -p, or to all.
 * With -o the library pushes this process's own input; else, with -w, WORD is pushed, and then the
 * end.  It waits until the job has ended, and says what became of each push. */
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_tool.h>

static sem_t ended, pushed;
static pmix_status_t push_status;

static void on_end(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    sem_post(&ended);
}

static void on_pushed(pmix_status_t status, void *cbdata)
{
    push_status = status;
    sem_post(&pushed);
}

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0) {
    }
}

static pmix_rank_t rank_of(const char *word)
{
    return strcmp(word, "all") == 0    ? PMIX_RANK_WILDCARD
           : strcmp(word, "none") == 0 ? PMIX_RANK_INVALID
                                       : (pmix_rank_t)atoi(word);
}

static void push(const char *what, const pmix_proc_t *to, pmix_byte_object_t *bytes,
                 const char *key)
{
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, key != NULL ? key : "", NULL, PMIX_BOOL);
    rc = PMIx_IOF_push(to, 1, bytes, key != NULL ? &info : NULL, key != NULL, on_pushed, NULL);
    if (rc == PMIX_SUCCESS) {
        wait_for(&pushed);
        rc = push_status;
    }
    printf("%s: %s\n", what, PMIx_Error_string(rc));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *target = NULL, *forward = NULL, *to = "all", *word = NULL;
    pmix_status_t rc, code = PMIX_EVENT_JOB_END;
    pmix_info_t info[3];
    pmix_proc_t me, child;
    size_t ninfo = 0;
    bool own = false;
    int option;
    pmix_rank_t rank;
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.maxprocs = 1;
    while ((option = getopt(argc, argv, "+n:t:f:p:w:o")) != -1) {
        switch (option) {
        case 'n':
            app.maxprocs = atoi(optarg);
            break;
        case 't':
            target = optarg;
            break;
        case 'f':
            forward = optarg;
            break;
        case 'p':
            to = optarg;
            break;
        case 'w':
            word = optarg;
            break;
        case 'o':
            own = true;
            break;
        default:
            return 2;
        }
    }
    sem_init(&ended, 0, 0);
    sem_init(&pushed, 0, 0);
    rc = getenv("PMIX_NAMESPACE") != NULL ? PMIx_Init(&me, NULL, 0) : PMIx_tool_init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        printf("init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL);
    app.cmd = strdup(argv[optind]);
    for (; optind < argc; optind++) {
        PMIX_ARGV_APPEND(rc, app.argv, argv[optind]);
    }
    PMIX_INFO_LOAD(&info[ninfo++], PMIX_NOTIFY_COMPLETION, NULL, PMIX_BOOL);
    if (target != NULL) {
        rank = rank_of(target);
        PMIX_INFO_LOAD(&info[ninfo++], PMIX_STDIN_TGT, &rank, PMIX_PROC_RANK);
    }
    if (forward != NULL) {
        rank = rank_of(forward);
        PMIX_INFO_LOAD(&info[ninfo++], PMIX_FWD_STDIN, &rank, PMIX_PROC_RANK);
    }
    PMIX_LOAD_PROCID(&child, "", rank_of(to));
    rc = PMIx_Spawn(info, ninfo, &app, 1, child.nspace);
    PMIX_APP_DESTRUCT(&app);
    printf("spawn: %s\n", PMIx_Error_string(rc));
    fflush(stdout);
    if (rc == PMIX_SUCCESS) {
        pmix_byte_object_t bytes = { .bytes = (char *)(uintptr_t)word,
                                     .size = word == NULL ? 0 : strlen(word) };

        if (own) {
            push("own input", &child, NULL, PMIX_IOF_PUSH_STDIN);
        } else if (word != NULL) {
            push("word", &child, &bytes, NULL);
            push("end", &child, NULL, PMIX_IOF_COMPLETE);
        }
        wait_for(&ended);
        bytes = (pmix_byte_object_t){ .bytes = (char *)(uintptr_t) "late", .size = 4 };
        push("late", &child, &bytes, NULL);
    }
    if (getenv("PMIX_NAMESPACE") != NULL) {
        PMIx_Finalize(NULL, 0);
    } else {
        PMIx_tool_finalize();
    }
    return 0;
}
