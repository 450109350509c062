/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor_test.c - a process whose heartbeats stop is missed, and so are changes of a file; what is
 * none of the library's goes to the host, and what the host says to it comes back. */
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define MISSED (-3100) /* a code of the program's own */

static pmix_proc_t me;

/* Programs give what is monitored with any value, or none. */
static pmix_info_t what(const char *key)
{
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, key, NULL, PMIX_POINTER), PMIX_SUCCESS);
    return info;
}

static pmix_status_t monitor(const pmix_info_t *monitored, const pmix_info_t directives[],
                             size_t ndirs)
{
    pmix_info_t none, *results = &none;
    size_t nresults = 7;
    const pmix_status_t rc = PMIx_Process_monitor(monitored, MISSED, directives, ndirs, &results,
                                                  &nresults);

    CHECK(rc != PMIX_SUCCESS || (results == NULL && nresults == 0));
    return rc;
}

static pmix_status_t watch(const char *id, uint32_t period_s)
{
    const pmix_info_t heartbeats = what(PMIX_MONITOR_HEARTBEAT);
    pmix_info_t directives[] = { info_u32(PMIX_MONITOR_HEARTBEAT_TIME, period_s),
                                 info_text(PMIX_MONITOR_ID, id) };
    const pmix_status_t rc = monitor(&heartbeats, directives, 2);

    PMIx_Info_destruct(&directives[1]);
    return rc;
}

static pmix_status_t cancel(const char *id)
{
    pmix_info_t which = id != NULL ? info_text(PMIX_MONITOR_CANCEL, id) : what(PMIX_MONITOR_CANCEL);
    const pmix_status_t rc = monitor(&which, NULL, 0);

    PMIx_Info_destruct(&which);
    return rc;
}

/* ---- heartbeats ------------------------------------------------------------------------------ */

static sem_t missed;

static void on_missed(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                      size_t ninfo, pmix_info_t *before, size_t nbefore,
                      pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    bool affected = false, named = false;

    CHECK(code == MISSED && source->rank == 1);
    for (size_t i = 0; i < ninfo; i++) {
        affected |= strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 &&
                    info[i].value.data.proc->rank == 1;
        named |= strcmp(info[i].key, PMIX_MONITOR_ID) == 0 &&
                 strcmp(info[i].value.data.string, "mine") == 0;
    }
    CHECK(affected && named);
    sem_post(&missed);
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

static void missed_wait(void)
{
    job_sem_wait(&missed);
}

/* All of the job hear of it, each time that the beats stop. */
static int rank_of_silence(int rank)
{
    pmix_status_t code = MISSED;

    rank_begin(&me);
    sem_init(&missed, 0, 0);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_missed, NULL, NULL) >= 0);
    rank_fence();
    if (rank == 1) {
        CHECK_STATUS(watch("mine", 1), PMIX_SUCCESS);
    }
    missed_wait();
    rank_fence();
    if (rank == 1) {
        const pmix_info_t beat = what(PMIX_SEND_HEARTBEAT);

        CHECK_STATUS(monitor(&beat, NULL, 0), PMIX_SUCCESS);
    }
    missed_wait();
    if (rank == 1) {
        CHECK_STATUS(cancel("mine"), PMIX_SUCCESS);
        CHECK_STATUS(cancel("mine"), PMIX_ERR_NOT_FOUND);
    }
    return rank_end();
}

static sem_t beaten;

static void on_beaten(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    CHECK(cbdata == &beaten && status == PMIX_SUCCESS && ninfo == 0 && release_fn == NULL);
    sem_post(&beaten);
}

static int rank_of_beats(int rank)
{
    const pmix_info_t beat = what(PMIX_SEND_HEARTBEAT);

    rank_begin(&me);
    sem_init(&beaten, 0, 0);
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(PMIx_Process_monitor_nb(&beat, MISSED, NULL, 0, on_beaten, &beaten),
                     PMIX_SUCCESS);
    }
    for (int i = 0; i < 100; i++) {
        job_sem_wait(&beaten);
    }
    return rank_end();
}

/* ---- files ----------------------------------------------------------------------------------- */

static pmix_status_t file_watch(const char *path, const char *sign, const char *id,
                                uint32_t period_s)
{
    const bool yes = true;
    pmix_info_t file = info_text(PMIX_MONITOR_FILE, path);
    pmix_info_t directives[] = { info_u32(PMIX_MONITOR_FILE_CHECK_TIME, period_s),
                                 info_text(PMIX_MONITOR_ID, id), what("none.at.all") };

    CHECK_STATUS(PMIx_Info_load(&directives[2], sign, &yes, PMIX_BOOL), PMIX_SUCCESS);
    const pmix_status_t rc = monitor(&file, directives, 3);

    PMIx_Info_destruct(&directives[1]);
    PMIx_Info_destruct(&file);
    return rc;
}

static void append(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && write(fd, "life", 4) == 4);
    close(fd);
}

static char grown[64], replaced[64], spare[64];

/* One for each file that nothing happens to. */
static sem_t files_missed[2];

static void on_file_missed(size_t id, pmix_status_t code, const pmix_proc_t *source,
                           pmix_info_t info[], size_t ninfo, pmix_info_t *before, size_t nbefore,
                           pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *name = "", *path = "";

    CHECK(code == MISSED && source->rank == 0);
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_MONITOR_ID) == 0) {
            name = info[i].value.data.string;
        } else if (strcmp(info[i].key, PMIX_MONITOR_FILE) == 0) {
            path = info[i].value.data.string;
        }
    }
    const bool is_grown = strcmp(name, "grown") == 0;

    CHECK(strcmp(path, is_grown ? grown : replaced) == 0);
    sem_post(&files_missed[is_grown ? 0 : 1]);
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

static void files_missed_wait(void)
{
    for (int i = 0; i < 2; i++) {
        job_sem_wait(&files_missed[i]);
    }
}

/* That it is told a second time shows that life was seen in between. */
static int rank_of_file(int rank)
{
    pmix_status_t code = MISSED;

    rank_begin(&me);
    snprintf(grown, sizeof(grown), "/tmp/shmix-monitor-%d.grown", (int)getpid());
    snprintf(replaced, sizeof(replaced), "/tmp/shmix-monitor-%d.replaced", (int)getpid());
    snprintf(spare, sizeof(spare), "/tmp/shmix-monitor-%d.spare", (int)getpid());
    append(grown);
    append(replaced);
    append(spare);
    sem_init(&files_missed[0], 0, 0);
    sem_init(&files_missed[1], 0, 0);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_file_missed, NULL, NULL) >= 0);
    CHECK_STATUS(file_watch(grown, PMIX_MONITOR_FILE_SIZE, "grown", 1), PMIX_SUCCESS);
    CHECK_STATUS(file_watch(replaced, PMIX_MONITOR_FILE_MODIFY, "replaced", 1), PMIX_SUCCESS);
    CHECK_STATUS(file_watch(grown, PMIX_MONITOR_FILE_SIZE, "grown", 1), PMIX_ERR_EXISTS);
    files_missed_wait();
    append(grown);
    CHECK(rename(spare, replaced) == 0);
    files_missed_wait();
    CHECK_STATUS(cancel("grown"), PMIX_SUCCESS);
    CHECK_STATUS(cancel("grown"), PMIX_ERR_NOT_FOUND);
    unlink(grown);
    unlink(replaced);
    return rank_end(); /* while the other one is still monitored */
}

static int rank_of_bad_files(int rank)
{
    pmix_info_t file = info_text(PMIX_MONITOR_FILE, "/");
    pmix_info_t required[] = { info_u32(PMIX_MONITOR_FILE_CHECK_TIME, 1),
                               info_u32(PMIX_MONITOR_HEARTBEAT_DROPS, 1) };
    char id[2] = "a", *const endless = malloc(PATH_MAX + 1);

    memset(endless, '/', PATH_MAX);
    endless[PATH_MAX] = '\0';
    rank_begin(&me);
    required[1].flags = PMIX_INFO_REQD;
    CHECK_STATUS(monitor(&file, required, 1), PMIX_ERR_BAD_PARAM); /* what is life? */
    CHECK_STATUS(monitor(&file, required, 2), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(file_watch("/", PMIX_MONITOR_FILE_SIZE, "never", 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(file_watch("/there/is/none", PMIX_MONITOR_FILE_ACCESS, "", 9), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(file_watch("", PMIX_MONITOR_FILE_ACCESS, "", 9), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(file_watch(endless, PMIX_MONITOR_FILE_ACCESS, "", 9), PMIX_ERR_BAD_PARAM);
    for (; id[0] < 'a' + 15; id[0]++) { /* anything that has a name: a directory, a FIFO */
        CHECK_STATUS(file_watch("/", PMIX_MONITOR_FILE_MODIFY, id, 1000), PMIX_SUCCESS);
    }
    CHECK_STATUS(watch(id, 1000), PMIX_SUCCESS);
    CHECK_STATUS(file_watch("/", PMIX_MONITOR_FILE_MODIFY, "more", 1000), PMIX_ERR_OUT_OF_RESOURCE);
    for (int i = 0; i < 10000; i++) {
        CHECK_STATUS(watch("more", 1000), PMIX_ERR_OUT_OF_RESOURCE);
    }
    CHECK_STATUS(cancel(NULL), PMIX_SUCCESS);
    CHECK_STATUS(file_watch(".", PMIX_MONITOR_FILE_MODIFY, id, 1000), PMIX_SUCCESS);
    PMIx_Info_destruct(&file);
    free(endless);
    return rank_end();
}

/* ---- whoever is gone is not missed ----------------------------------------------------------- */

static void on_own_missed(size_t id, pmix_status_t code, const pmix_proc_t *source,
                          pmix_info_t info[], size_t ninfo, pmix_info_t *before, size_t nbefore,
                          pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (source->rank == me.rank) {
        sem_post(&missed);
    }
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

/* Rank 1 exits without a word while it is monitored; the period of rank 0 is over after its. */
static int rank_of_exit(int rank)
{
    pmix_status_t code = MISSED;

    rank_begin(&me);
    sem_init(&missed, 0, 0);
    rank_fence();
    if (rank == 1) {
        CHECK_STATUS(watch("beats", 1), PMIX_SUCCESS);
        CHECK_STATUS(file_watch("/", PMIX_MONITOR_FILE_SIZE, "file", 1), PMIX_SUCCESS);
        rank_fence();
        _exit(0);
    }
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_own_missed, NULL, NULL) >= 0);
    rank_fence();
    CHECK_STATUS(watch("own", 1), PMIX_SUCCESS);
    missed_wait();
    return rank_end();
}

/* ---- bad input ------------------------------------------------------------------------------- */

static int rank_of_bad_input(int rank)
{
    const pmix_info_t heartbeats = what(PMIX_MONITOR_HEARTBEAT);
    pmix_info_t endless = heartbeats, required = info_u32(PMIX_MONITOR_HEARTBEAT_TIME, 1);
    char id[2] = "a";

    PMIx_Heartbeat();
    CHECK_STATUS(PMIx_Process_monitor(&heartbeats, MISSED, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
    rank_begin(&me);
    memset(endless.key, 'k', sizeof(endless.key));
    CHECK_STATUS(monitor(NULL, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(monitor(&heartbeats, NULL, 1), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(monitor(&endless, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(monitor(&heartbeats, NULL, 0), PMIX_ERR_BAD_PARAM); /* how often? */
    CHECK_STATUS(watch("never", 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(watch("late", UINT32_MAX), PMIX_SUCCESS);
    CHECK_STATUS(watch("late", 1000), PMIX_ERR_EXISTS);
    PMIx_Load_key(required.key, "nobody.knows.it");
    required.flags = PMIX_INFO_REQD;
    CHECK_STATUS(monitor(&heartbeats, &required, 1), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Load_key(required.key, PMIX_MONITOR_FILE_CHECK_TIME); /* of another kind */
    CHECK_STATUS(monitor(&heartbeats, &required, 1), PMIX_ERR_NOT_SUPPORTED);
    for (; id[0] < 'a' + 15; id[0]++) {
        CHECK_STATUS(watch(id, 1000), PMIX_SUCCESS);
    }
    CHECK_STATUS(watch(id, 1000), PMIX_ERR_OUT_OF_RESOURCE);
    CHECK_STATUS(cancel(NULL), PMIX_SUCCESS);
    CHECK_STATUS(watch(id, 1000), PMIX_SUCCESS);
    rank_end();
    PMIx_Heartbeat();
    return 0;
}

/* ---- the host's ------------------------------------------------------------------------------ */

#define HOSTS_OWN "some.host.knows" /* a kind of monitoring */
#define HOSTS_DIRECTIVE "some.host.does"

static pmix_status_t on_monitor(const pmix_proc_t *requestor, const pmix_info_t *monitored,
                                pmix_status_t error, const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    static pmix_info_t result; /* the library takes it in later */

    result = info_u32(HOSTS_OWN, 42);
    CHECK(requestor->rank == 0 && error == MISSED);
    if (strcmp(monitored->key, PMIX_MONITOR_CANCEL) == 0) {
        CHECK(ndirs == 0 && strcmp(monitored->value.data.string, "host's") == 0);
        cbfunc(PMIX_OPERATION_SUCCEEDED, NULL, 0, cbdata, NULL, NULL);
        return PMIX_SUCCESS;
    }
    CHECK(ndirs == 1);
    CHECK(strcmp(monitored->key, HOSTS_OWN) == 0);
    CHECK(strcmp(directives[0].key, HOSTS_DIRECTIVE) == 0);
    if (strcmp(monitored->value.data.string, "refused") == 0) {
        cbfunc(PMIX_ERR_NO_PERMISSIONS, NULL, 0, cbdata, NULL, NULL);
    } else {
        cbfunc(PMIX_SUCCESS, &result, 1, cbdata, NULL, NULL);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t ask_host(const char *text_of_it, pmix_info_t **results, size_t *nresults)
{
    pmix_info_t own = info_text(HOSTS_OWN, text_of_it);
    const pmix_info_t control = info_u32(HOSTS_DIRECTIVE, 1);
    const pmix_status_t rc = PMIx_Process_monitor(&own, MISSED, &control, 1, results, nresults);

    PMIx_Info_destruct(&own);
    return rc;
}

static sem_t answered;

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    CHECK(cbdata == &answered && status == PMIX_SUCCESS && ninfo == 1);
    CHECK(strcmp(info[0].key, HOSTS_OWN) == 0 && info[0].value.data.uint32 == 42);
    CHECK(release_fn != NULL);
    release_fn(release_cbdata);
    sem_post(&answered);
}

/* What it answers is passed on, to those who wait and to those who do not. */
static int rank_of_host(int rank)
{
    const pmix_info_t control = info_u32(HOSTS_DIRECTIVE, 1);
    pmix_info_t *results, own = info_text(HOSTS_OWN, "usage");
    size_t nresults;

    rank_begin(&me);
    CHECK_STATUS(ask_host("refused", &results, &nresults), PMIX_ERR_NO_PERMISSIONS);
    CHECK(results == NULL && nresults == 0);
    CHECK_STATUS(ask_host("usage", &results, &nresults), PMIX_SUCCESS);
    CHECK(nresults == 1 && strcmp(results[0].key, HOSTS_OWN) == 0);
    CHECK(results[0].value.data.uint32 == 42);
    PMIx_Info_free(results, nresults);
    sem_init(&answered, 0, 0);
    CHECK_STATUS(PMIx_Process_monitor_nb(&own, MISSED, &control, 1, on_answer, &answered),
                 PMIX_SUCCESS);
    job_sem_wait(&answered);
    PMIx_Info_destruct(&own);
    CHECK_STATUS(watch("mine", 1000), PMIX_SUCCESS);
    CHECK_STATUS(cancel("mine"), PMIX_SUCCESS); /* of which the host does not hear */
    CHECK_STATUS(cancel("host's"), PMIX_SUCCESS);
    CHECK_STATUS(cancel(NULL), PMIX_SUCCESS);
    return rank_end();
}

static int rank_of_no_host(int rank)
{
    pmix_info_t *results;
    size_t nresults;

    rank_begin(&me);
    CHECK_STATUS(ask_host("usage", &results, &nresults), PMIX_ERR_NOT_SUPPORTED);
    return rank_end();
}

static const struct job_case cases[] = {
    { "silence", 2, rank_of_silence },     { "beats", 1, rank_of_beats },
    { "file", 1, rank_of_file },           { "exit", 2, rank_of_exit },
    { "bad_files", 1, rank_of_bad_files }, { "bad_input", 1, rank_of_bad_input },
    { "no_host", 1, rank_of_no_host },
};
static const struct job_case with_entry = { "host", 1, rank_of_host };

int main(int argc, char **argv)
{
    int code = 0;

    if (argc == 1) {
        code = job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
        job_module.monitor = on_monitor;
        return code | job_main(argc, argv, &with_entry, 1);
    }
    job_module.monitor = on_monitor;
    return strcmp(argv[argc == 5 ? 2 : 1], with_entry.name) == 0
               ? job_main(argc, argv, &with_entry, 1)
               : job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
