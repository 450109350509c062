/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawner.c - spawn a job:
 *             spawner [-n COUNT] [-t SECONDS] [-s] [-c TIMES] [-a APPLICATIONS] [-e BYTES]...
 *                     [-r RANKS] [-b RANKS] [-l FILE] [KEY[=TEXT|=#NUMBER|=@JOB|=!]]... -- PROGRAM [WORDS]...
 *             spawner, alone: say who has spawned this rank
 *
 * Written after the Standard alone.  It is a tool, or a rank if it was started as one.  A KEY is
 * a directive of the job, with TEXT as its value, true when there is none, false for "!", or
 * SECONDS for those about time; "need:KEY" marks it as required.  It says how the spawn went, with -s the size of
 * the job, and with PMIX_NOTIFY_COMPLETION how the job ended.  With -c a rank spawns one after
 * the other, and says what its launcher has more at the end than after the first quarter.  With
 * With -b the last application has so many ranks and is to be a job of its own.  With
 * -e applications get a variable LONG of so many bytes.  With -l it looks for what nobody publishes,
 * for SECONDS at most, and says what comes of it: FILE is made when that waits; for "-" it begins
 * when the job has ended.  With PMIX_EVENT_SILENT_TERMINATION as the
 * last KEY it spawns twice, the second time without it, once a rank of the first has ended. */
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_tool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool ended, rank_ended, registered;
static pmix_nspace_t child;
static int ready, beside;

/* SAY_TREE: whose tree it was of, and how many of it go on. */
static void say_tree(const pmix_info_t *info)
{
    if (PMIX_CHECK_KEY(info, PMIX_SPAWN_TREE_ROOT)) {
        const char *const mine = getenv("PMIX_NAMESPACE");

        printf("tree of %s\n",
               mine != NULL && strcmp(mine, info->value.data.string) == 0 ? "mine" : "another");
    } else if (PMIX_CHECK_KEY(info, PMIX_SPAWN_TREE_ACTIVE)) {
        printf("tree has %u\n", info->value.data.uint32);
    }
}

static void say_end(const pmix_info_t *info, size_t ninfo)
{
    bool timed = false;

    for (size_t i = 0; i < ninfo && getenv("SAY_TREE") != NULL; i++) {
        say_tree(&info[i]);
    }

    printf("end of");
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_JOB_TERM_STATUS)) {
            printf(" %s", PMIx_Error_string(info[i].value.data.status));
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_PROCID)) {
            printf(" rank %u", info[i].value.data.proc->rank);
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_EXIT_CODE)) {
            printf(" code %d", info[i].value.data.integer);
        }
        timed = timed || PMIX_CHECK_KEY(&info[i], PMIX_EVENT_TIMESTAMP);
    }
    printf("%s\n", timed ? "" : " without a time");
}

static void say_rank(const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC)) {
            printf("rank %u ended", info[i].value.data.proc->rank);
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_EXIT_CODE)) {
            printf(" with %d", info[i].value.data.integer);
        } else if (PMIX_CHECK_KEY(&info[i], PMIX_PROC_STATE_STATUS)) {
            printf(": %s", PMIx_Proc_state_string(info[i].value.data.state));
        }
    }
    printf("\n");
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    pthread_mutex_lock(&lock);
    if (status == PMIX_READY_FOR_DEBUG) {
        ready++;
        pthread_cond_broadcast(&changed);
    } else if (status == PMIX_EVENT_PROC_TERMINATED) {
        say_rank(info, ninfo);
        rank_ended = true;
        pthread_cond_broadcast(&changed);
    } else if (status == PMIX_EVENT_JOB_END) {
        say_end(info, ninfo);
        ended = true;
        pthread_cond_broadcast(&changed);
    } else {
        printf("%s\n", PMIx_Error_string(status));
    }
    pthread_mutex_unlock(&lock);
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    }
}

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    pthread_mutex_lock(&lock);
    registered = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await(const bool *what)
{
    pthread_mutex_lock(&lock);
    while (!*what) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static bool is_rank(void)
{
    return getenv("PMIX_NAMESPACE") != NULL;
}

static int who_spawned(void)
{
    pmix_value_t *value = NULL;
    pmix_status_t rc;
    pmix_proc_t me;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    rc = PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &value);
    if (rc == PMIX_SUCCESS) {
        printf("rank %u of a child of rank %u\n", me.rank, value->data.proc->rank);
        PMIX_VALUE_RELEASE(value);
    } else {
        printf("rank %u: %s\n", me.rank, PMIx_Error_string(rc));
    }
    if (PMIx_Get(NULL, PMIX_DEBUG_TARGET, NULL, 0, &value) == PMIX_SUCCESS) {
        printf("%s looks at %s\n", me.nspace, value->data.proc->nspace);
        PMIX_VALUE_RELEASE(value);
    }
    fflush(stdout);
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}

static void load(pmix_info_t *info, char *word, uint32_t seconds)
{
    const bool needed = strncmp(word, "need:", 5) == 0;
    char *const key = needed ? word + 5 : word, *const value = strchr(key, '=');

    if (value != NULL && value[1] == '!') {
        const bool no = false;

        *value = '\0';
        PMIX_INFO_LOAD(info, key, &no, PMIX_BOOL);
    } else if (value != NULL && value[1] == '#') {
        const uint16_t number = (uint16_t)atoi(value + 2);

        *value = '\0';
        PMIX_INFO_LOAD(info, key, &number, PMIX_UINT16);
    } else if (value != NULL && value[1] == '@') {
        pmix_proc_t job;

        *value = '\0';
        PMIX_LOAD_PROCID(&job, value[2] == '\0' ? getenv("PMIX_NAMESPACE") : value + 2,
                         PMIX_RANK_WILDCARD);
        PMIX_INFO_LOAD(info, key, &job, PMIX_PROC);
    } else if (value != NULL) {
        *value = '\0';
        PMIX_INFO_LOAD(info, key, value + 1, PMIX_STRING);
    } else if (strstr(key, "time") != NULL) {
        PMIX_INFO_LOAD(info, key, &seconds, PMIX_UINT32);
    } else {
        PMIX_INFO_LOAD(info, key, NULL, PMIX_BOOL);
    }
    if (needed) {
        PMIX_INFO_REQUIRED(info);
    }
}

/* The size of the child's job, as its parent can read it. */
static void say_size(void)
{
    pmix_value_t *value = NULL;
    pmix_proc_t all;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&all, child, PMIX_RANK_WILDCARD);
    rc = PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value);
    if (rc == PMIX_SUCCESS) {
        printf("its size is %u\n", value->data.uint32);
        PMIX_VALUE_RELEASE(value);
    } else {
        printf("its size: %s\n", PMIx_Error_string(rc));
    }
    fflush(stdout);
}

/* ---- one after the other --------------------------------------------------------------------- */

/* What the launcher has. */
struct has {
    long data_kb, mappings, descriptors;
};

static long lines_of(const char *file, const char *word, long *ret_number)
{
    char path[64], line[512];
    long count = 0;
    FILE *in;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), file);
    in = fopen(path, "r");
    while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
        count++;
        if (word != NULL && strncmp(line, word, strlen(word)) == 0) {
            *ret_number = atol(line + strlen(word));
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    return count;
}

static struct has launcher_has(void)
{
    struct has has = { 0, lines_of("maps", NULL, NULL), 0 };
    char path[64];
    DIR *dir;

    lines_of("status", "VmData:", &has.data_kb);
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)getppid());
    dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL) {
        has.descriptors++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return has;
}

static pmix_status_t spawn_times(int times, const pmix_info_t *info, size_t ninfo,
                                 const pmix_app_t *app, bool waits)
{
    struct has first = { 0 }, last;
    pmix_status_t rc = PMIX_SUCCESS;

    for (int i = 0; i < times && rc == PMIX_SUCCESS; i++) {
        ended = false;
        rc = PMIx_Spawn(info, ninfo, app, 1, child);
        if (rc == PMIX_SUCCESS && waits) {
            await(&ended);
        }
        if (i == times / 4) {
            first = launcher_has();
        }
    }
    last = launcher_has();
    printf("more: %ld kB, %ld mappings, %ld descriptors\n", last.data_kb - first.data_kb,
           last.mappings - first.mappings, last.descriptors - first.descriptors);
    return rc;
}

/* Children of the launcher that are stopped. */
static int stopped_count(void)
{
    char path[64], list[4096] = "", line[512], *at = list, *end;
    int count = 0;
    FILE *in;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getppid(), (int)getppid());
    in = fopen(path, "r");
    if (in != NULL && fgets(list, sizeof(list), in) == NULL) {
        list[0] = '\0';
    }
    if (in != NULL) {
        fclose(in);
    }
    for (long pid = strtol(at, &end, 10); end != at; pid = strtol(at, &end, 10)) {
        at = end;
        snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
        in = fopen(path, "r");
        if (in != NULL) {
            count += fgets(line, sizeof(line), in) != NULL && strstr(line, ") T ") != NULL;
            fclose(in);
        }
    }
    return count;
}

/* Of so many ranks in PMIx_Init, or, less than 0, of those that have stopped before. */
static void let_go(int count)
{
    pmix_info_t info;
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, child, PMIX_RANK_WILDCARD);
    pthread_mutex_lock(&lock);
    while (ready < (count < 0 ? 1 : count)) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    printf("%d ready, %d stopped\n", ready, stopped_count());
    fflush(stdout);
    if (count < 0) {
        PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_RESUME, NULL, PMIX_BOOL);
        printf("resume: %s\n", PMIx_Error_string(PMIx_Job_control(&all, 1, &info, 1, NULL, NULL)));
    } else {
        PMIX_INFO_LOAD(&info, PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_PROC);
        printf("release: %s\n",
               PMIx_Error_string(PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, NULL, PMIX_RANGE_CUSTOM,
                                                   &info, 1, NULL, NULL)));
    }
    PMIX_INFO_DESTRUCT(&info);
}

static pmix_status_t spawn_apps(const pmix_info_t *info, size_t ninfo, const pmix_app_t *app,
                                size_t napps)
{
    pmix_app_t *const apps = calloc(napps, sizeof(*apps));
    pmix_info_t apart;
    pmix_status_t rc;

    for (size_t i = 0; i < napps; i++) {
        apps[i] = *app;
    }
    if (beside > 0) {
        apps[napps - 1].maxprocs = beside;
        apps[napps - 1].info = &apart;
        apps[napps - 1].ninfo = 1;
        PMIX_INFO_LOAD(&apart, PMIX_COSPAWN_APP, NULL, PMIX_BOOL);
    }
    rc = PMIx_Spawn(info, ninfo, apps, napps, child);
    free(apps);
    return rc;
}

/* ---- a lookup that waits --------------------------------------------------------------------- */

static bool looked;

static void on_looked(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    pthread_mutex_lock(&lock);
    printf("lookup: %s\n", PMIx_Error_string(status));
    looked = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void look_up(const char *path, uint32_t seconds)
{
    char *keys[] = { (char[]){ "published by nobody" }, NULL };
    const int wait = 0, limit = (int)seconds;
    pmix_info_t info[2];

    PMIX_INFO_LOAD(&info[0], PMIX_WAIT, &wait, PMIX_INT);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &limit, PMIX_INT);
    if (PMIx_Lookup_nb(keys, info, 2, on_looked, NULL) != PMIX_SUCCESS) {
        printf("lookup: refused\n");
        return;
    }
    if (strcmp(path, "-") != 0) {
        fclose(fopen(path, "w"));
    }
    await(&looked);
}

/* The first is called LONG. */
static void add_variable(pmix_app_t *app, size_t size)
{
    static int count;
    char *const text = calloc(1, size + 32), number[16] = "";
    pmix_status_t rc;

    if (count > 0) {
        snprintf(number, sizeof(number), "%d", count);
    }
    count++;
    memset(text + sprintf(text, "LONG%s=", number), 'v', size);
    PMIX_ARGV_APPEND(rc, app->env, text);
    (void)rc;
    free(text);
}

int main(int argc, char **argv)
{
    pmix_status_t codes[] = { PMIX_EVENT_JOB_END, PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE,
                              PMIX_EVENT_PROC_TERMINATED, PMIX_READY_FOR_DEBUG };
    pmix_status_t rc;
    bool waits = false, sizes = false;
    pmix_info_t info[16];
    uint32_t seconds = 1;
    size_t ninfo = 0;
    pmix_app_t app;
    pmix_proc_t me;
    int at = 1, times = 0, napps = 1, releases = 0;
    const char *looks = NULL;

    if (argc == 1) {
        return who_spawned();
    }
    PMIX_APP_CONSTRUCT(&app);
    app.maxprocs = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "-n") == 0) {
            app.maxprocs = atoi(argv[++at]);
        } else if (strcmp(argv[at], "-t") == 0) {
            seconds = (uint32_t)atoi(argv[++at]);
        } else if (strcmp(argv[at], "-r") == 0) {
            releases = atoi(argv[++at]);
        } else if (strcmp(argv[at], "-b") == 0) {
            beside = atoi(argv[++at]);
        } else if (strcmp(argv[at], "-a") == 0) {
            napps = atoi(argv[++at]);
        } else if (strcmp(argv[at], "-e") == 0) {
            add_variable(&app, (size_t)atol(argv[++at]));
        } else if (strcmp(argv[at], "-c") == 0) {
            times = atoi(argv[++at]);
        } else if (strcmp(argv[at], "-l") == 0) {
            looks = argv[++at];
        } else if (strcmp(argv[at], "-s") == 0) {
            sizes = true;
        } else {
            waits = waits || strstr(argv[at], PMIX_NOTIFY_COMPLETION) != NULL ||
                    strstr(argv[at], PMIX_NOTIFY_JOB_EVENTS) != NULL;
            load(&info[ninfo++], argv[at], seconds);
        }
    }
    app.cmd = strdup(at + 1 < argc ? argv[at + 1] : "");
    for (at++; at < argc; at++) {
        PMIX_ARGV_APPEND(rc, app.argv, argv[at]);
    }
    rc = is_rank() ? PMIx_Init(&me, NULL, 0) : PMIx_tool_init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        printf("init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    if (waits) {
        PMIx_Register_event_handler(codes, 5, NULL, 0, on_event, on_registered, NULL);
        await(&registered);
    }
    rc = times > 0 ? spawn_times(times, info, ninfo, &app, waits)
                   : spawn_apps(info, ninfo, &app, (size_t)napps);
    if (rc == PMIX_SUCCESS && ninfo > 0 &&
        PMIX_CHECK_KEY(&info[ninfo - 1], PMIX_EVENT_SILENT_TERMINATION)) {
        await(&rank_ended);
        rc = spawn_apps(info, ninfo - 1, &app, (size_t)napps);
    }
    pthread_mutex_lock(&lock); /* a handler's line is not cut in two */
    printf("spawn: %s\n", PMIx_Error_string(rc));
    fflush(stdout);
    pthread_mutex_unlock(&lock);
    if (rc == PMIX_SUCCESS && sizes) {
        say_size();
    }
    if (rc == PMIX_SUCCESS && releases != 0) {
        let_go(releases);
    }
    if (rc == PMIX_SUCCESS && looks != NULL && strcmp(looks, "-") != 0) {
        look_up(looks, seconds);
    }
    if (rc == PMIX_SUCCESS && waits && times == 0) {
        await(&ended);
    }
    if (rc == PMIX_SUCCESS && looks != NULL && strcmp(looks, "-") == 0) {
        look_up(looks, seconds);
    }
    fflush(stdout);
    PMIX_APP_DESTRUCT(&app);
    for (size_t i = 0; i < ninfo; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    rc = is_rank() ? PMIx_Finalize(NULL, 0) : PMIx_tool_finalize();
    return rc != PMIX_SUCCESS;
}
