/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_test.c - a rank spawns a job; what the host says of it comes at once, twice, late, never, or
 * is garbage; a parent dies while the host is thinking. */
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define CHILD "test.child"
#define CHILDREN 2
#define APPS_MAX ((size_t)10000)
#define LARGE ((size_t)1 << 20)

/* ---- the host: the command says how it is to answer -------------------------------------------- */

static struct {
    pmix_spawn_cbfunc_t spawn;
    void *cbdata;
} unanswered;
static sem_t unanswered_more;
static char large[LARGE];

static const pmix_value_t *find(const pmix_info_t info[], size_t ninfo, const char *key)
{
    const pmix_value_t *found = NULL;

    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, key)) {
            CHECK(found == NULL);
            found = &info[i].value;
        }
    }
    CHECK(found != NULL);
    return found;
}

static void is_notified_who_asks(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo)
{
    const pmix_value_t *const parent = find(info, ninfo, PMIX_PARENT_ID);

    CHECK(parent->type == PMIX_PROC && PMIx_Check_procid(parent->data.proc, proc));
    CHECK(strcmp(proc->nspace, JOB_NSPACE) == 0);
    CHECK(find(info, ninfo, PMIX_SPAWNED)->data.flag);
    CHECK(find(info, ninfo, PMIX_REQUESTOR_IS_CLIENT)->data.flag);
    CHECK(find(info, ninfo, PMIX_USERID)->data.uint32 == geteuid());
    CHECK(find(info, ninfo, PMIX_GRPID)->data.uint32 == getegid());
}

static void name_of_count(size_t napps, pmix_spawn_cbfunc_t cbfunc, void *cbdata)
{
    pmix_nspace_t nspace = "";

    snprintf(nspace, sizeof(nspace), "%zu", napps);
    cbfunc(PMIX_SUCCESS, nspace, cbdata);
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc,
                              void *cbdata)
{
    static char endless[2 * PMIX_MAX_NSLEN];
    pmix_nspace_t other = "other";
    const char *const how = apps[0].cmd;

    is_notified_who_asks(proc, info, ninfo);
    memset(endless, 'e', sizeof(endless));
    if (strcmp(how, "late") == 0 || strcmp(how, "job") == 0) {
        CHECK(strcmp(how, "late") == 0 || apps[0].maxprocs == CHILDREN);
        unanswered.spawn = cbfunc;
        unanswered.cbdata = cbdata;
        sem_post(&unanswered_more);
    } else if (strcmp(how, "count") == 0) {
        name_of_count(napps, cbfunc, cbdata);
    } else if (strcmp(how, "twice") == 0) {
        name_of_count(napps, cbfunc, cbdata);
        cbfunc(PMIX_SUCCESS, other, cbdata);
    } else if (strcmp(how, "nameless") == 0) {
        cbfunc(PMIX_SUCCESS, NULL, cbdata);
    } else if (strcmp(how, "endless") == 0) {
        cbfunc(PMIX_SUCCESS, endless, cbdata);
    } else if (strcmp(how, "fails") == 0) {
        cbfunc(PMIX_ERR_JOB_FAILED_TO_LAUNCH, other, cbdata);
    } else if (strcmp(how, "large") == 0) {
        CHECK(strcmp(apps[0].env[0], large) == 0 && apps[0].env[1] == NULL);
        CHECK(strcmp(apps[0].argv[1], "argument") == 0 && strcmp(apps[0].cwd, "/tmp") == 0);
        CHECK(apps[0].ninfo == 1 && PMIx_Check_key(apps[0].info[0].key, PMIX_WDIR));
        name_of_count(napps, cbfunc, cbdata);
    } else if (strcmp(how, "folder") == 0) {
        CHECK(strcmp(apps[0].cwd, "/usr") == 0 && strcmp(apps[1].cwd, "/tmp") == 0);
        CHECK(apps[2].cwd == NULL || apps[2].cwd[0] == '\0');
        name_of_count(napps, cbfunc, cbdata);
    } else if (strcmp(how, "no folder") == 0) {
        CHECK(apps[0].cwd == NULL || apps[0].cwd[0] == '\0');
        name_of_count(napps, cbfunc, cbdata);
    } else if (strcmp(how, "done") == 0) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    return strcmp(how, "refuse") == 0 ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS;
}

static void unanswered_wait(void)
{
    job_sem_wait(&unanswered_more);
}

static void unanswered_answer(const char *name)
{
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, name);
    unanswered.spawn(PMIX_SUCCESS, nspace, unanswered.cbdata);
}

static int host_is_late(struct job *job)
{
    unanswered_wait();
    unanswered_answer("late");
    return 0;
}

static int host_of_job(struct job *job)
{
    unanswered_wait();
    job_add(job, CHILD, CHILDREN);
    unanswered_answer(CHILD);
    return 0;
}

/* Rank 0 goes when it has asked, and rank 1 asks behind it. */
static int host_of_dead(struct job *job)
{
    unanswered_wait();
    job_token_put(1);
    CHECK(job_wait(job, 0) != 0);
    unanswered_answer("orphan");
    job_token_put(0);
    return job_wait(job, 1);
}

/* ---- the ranks --------------------------------------------------------------------------------- */

static pmix_proc_t me;
static sem_t answered;
static pmix_status_t answered_status;
static pmix_nspace_t answered_name;

static pmix_app_t app_of(const char *how)
{
    return (pmix_app_t){ .cmd = (char *)(uintptr_t)how, .maxprocs = CHILDREN };
}

static pmix_status_t spawn(const char *how, pmix_nspace_t nspace)
{
    const pmix_app_t app = app_of(how);

    return PMIx_Spawn(NULL, 0, &app, 1, nspace);
}

static void on_spawned(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    CHECK(cbdata == &answered);
    answered_status = status;
    PMIx_Load_nspace(answered_name, nspace);
    sem_post(&answered);
}

static pmix_status_t spawn_nb(const char *how)
{
    const pmix_app_t app = app_of(how);

    return PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, &answered);
}

static pmix_status_t answered_wait(void)
{
    job_sem_wait(&answered);
    return answered_status;
}

static int rank_of_answers(int rank)
{
    static const struct {
        const char *how;
        pmix_status_t status;
    } rows[] = { { "refuse", PMIX_ERR_NO_PERMISSIONS },
                 { "fails", PMIX_ERR_JOB_FAILED_TO_LAUNCH },
                 { "nameless", PMIX_ERR_BAD_PARAM },
                 { "endless", PMIX_ERR_BAD_PARAM },
                 { "done", PMIX_ERR_NOT_FOUND } };
    pmix_nspace_t nspace;

    rank_begin(&me);
    sem_init(&answered, 0, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(nspace, 'x', sizeof(nspace));
        CHECK_STATUS(spawn(rows[i].how, nspace), rows[i].status);
        CHECK(nspace[0] == '\0');
        CHECK_STATUS(spawn_nb(rows[i].how), PMIX_SUCCESS);
        CHECK_STATUS(answered_wait(), rows[i].status);
        CHECK(answered_name[0] == '\0');
    }
    CHECK_STATUS(spawn("count", nspace), PMIX_SUCCESS);
    CHECK(strcmp(nspace, "1") == 0);
    CHECK_STATUS(spawn("count", NULL), PMIX_SUCCESS);
    CHECK_STATUS(spawn("twice", nspace), PMIX_SUCCESS);
    CHECK(strcmp(nspace, "1") == 0);
    CHECK_STATUS(spawn_nb("late"), PMIX_SUCCESS);
    CHECK_STATUS(answered_wait(), PMIX_SUCCESS);
    CHECK(strcmp(answered_name, "late") == 0);
    CHECK_STATUS(spawn_nb("never"), PMIX_SUCCESS);
    rank_end();
    CHECK(answered_wait() != PMIX_SUCCESS);
    return 0;
}

/* Nobody gives himself another parent. */
static int rank_of_liar(int rank)
{
    const pmix_proc_t other = { .nspace = "other", .rank = 7 };
    const uint32_t uid = 0;
    const pmix_app_t app = app_of("count");
    pmix_info_t infos[2];

    rank_begin(&me);
    PMIx_Info_load(&infos[0], PMIX_PARENT_ID, "not a process", PMIX_STRING);
    CHECK_STATUS(PMIx_Spawn(infos, 1, &app, 1, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_load(&infos[0], PMIX_PARENT_ID, &other, PMIX_PROC);
    PMIx_Info_load(&infos[1], PMIX_USERID, &uid, PMIX_UINT32);
    CHECK_STATUS(PMIx_Spawn(infos, 2, &app, 1, NULL), PMIX_SUCCESS);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
    return rank_end();
}

static int rank_of_bounds(int rank)
{
    char *env[33] = { large, NULL };
    char *argv[] = { large + LARGE - 1, (char *)(uintptr_t) "argument", NULL };
    pmix_app_t app = { .cmd = (char *)(uintptr_t) "large",
                       .argv = argv,
                       .env = env,
                       .maxprocs = 1,
                       .cwd = (char *)(uintptr_t) "/tmp" };
    pmix_app_t *const apps = calloc(APPS_MAX + 1, sizeof(*apps));
    pmix_info_t info;
    pmix_nspace_t nspace;

    rank_begin(&me);
    for (size_t i = 0; i <= APPS_MAX; i++) {
        apps[i] = app_of("count");
    }
    CHECK_STATUS(PMIx_Spawn(NULL, 0, apps, APPS_MAX, nspace), PMIX_SUCCESS);
    CHECK(strcmp(nspace, "10000") == 0);
    CHECK_STATUS(PMIx_Spawn(NULL, 0, apps, APPS_MAX + 1, nspace), PMIX_ERR_OUT_OF_RESOURCE);
    PMIx_Info_load(&info, PMIX_WDIR, "/tmp", PMIX_STRING);
    app.info = &info;
    app.ninfo = 1;
    CHECK_STATUS(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_SUCCESS);
    for (size_t i = 0; i < 32; i++) {
        env[i] = large;
    }
    CHECK_STATUS(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_OUT_OF_RESOURCE);
    CHECK_STATUS(spawn("count", nspace), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    free(apps);
    return rank_end();
}

/* An application that names no folder gets the caller's, as it is then. */
static int rank_of_folder(int rank)
{
    pmix_app_t apps[3] = { app_of("folder"), app_of("count"), app_of("count") };
    const pmix_app_t other = app_of("no folder");
    pmix_info_t there;
    pmix_nspace_t nspace;

    rank_begin(&me);
    CHECK(chdir("/usr") == 0);
    PMIx_Info_load(&there, PMIX_WDIR, "/tmp", PMIX_STRING);
    apps[1].cwd = (char *)(uintptr_t) "/tmp";
    apps[2].info = &there;
    apps[2].ninfo = 1;
    CHECK_STATUS(PMIx_Spawn(NULL, 0, apps, 3, nspace), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Spawn(&there, 1, &other, 1, nspace), PMIX_SUCCESS);
    PMIx_Info_destruct(&there);
    PMIx_Info_load(&there, PMIX_SET_SESSION_CWD, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_Spawn(&there, 1, &other, 1, nspace), PMIX_SUCCESS);
    PMIx_Info_destruct(&there);
    return rank_end();
}

static int rank_of_no_host(int rank)
{
    pmix_app_t app = app_of("count");
    pmix_nspace_t nspace;

    CHECK_STATUS(spawn("count", nspace), PMIX_ERR_INIT);
    rank_begin(&me);
    CHECK_STATUS(spawn("count", nspace), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(spawn("", nspace), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Spawn(NULL, 0, NULL, 1, nspace), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Spawn(NULL, 0, &app, 0, nspace), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Spawn(NULL, 1, &app, 1, nspace), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Spawn_nb(NULL, 0, &app, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    app.ninfo = 1;
    CHECK_STATUS(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_BAD_PARAM);
    return rank_end();
}

static int rank_of_dead(int rank)
{
    pmix_nspace_t nspace;

    rank_begin(&me);
    if (rank == 0) {
        CHECK_STATUS(spawn_nb("late"), PMIX_SUCCESS);
        job_token_get(1);
        _exit(3);
    }
    job_token_get(0);
    CHECK_STATUS(spawn("count", nspace), PMIX_SUCCESS);
    return rank_end();
}

static void has_size(const char *nspace, uint32_t size)
{
    pmix_proc_t job = { .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *value;

    PMIx_Load_nspace(job.nspace, nspace);
    CHECK_STATUS(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_UINT32 && value->data.uint32 == size);
    PMIx_Value_free(value, 1);
}

/* Parent and children connect, and each reads what the others have: CN63. */
static int rank_of_family(int rank)
{
    pmix_proc_t all[2] = { { .nspace = CHILD, .rank = PMIX_RANK_WILDCARD },
                           { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD } };
    pmix_value_t mine = { .type = PMIX_INT, .data.integer = rank }, *value;
    pmix_nspace_t nspace;

    rank_begin(&me);
    if (rank == 0) {
        CHECK_STATUS(spawn("job", nspace), PMIX_SUCCESS);
        CHECK(strcmp(nspace, CHILD) == 0);
    }
    has_size(CHILD, CHILDREN);
    has_size(JOB_NSPACE, 1);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "number", &mine), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Connect(all, 2, NULL, 0), PMIX_SUCCESS);
    const pmix_proc_t from = { .rank = rank == 0 ? 1 : 0 };
    pmix_proc_t other = from;

    PMIx_Load_nspace(other.nspace, rank == 0 ? CHILD : JOB_NSPACE);
    CHECK_STATUS(PMIx_Get(&other, "number", NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.integer == (rank == 0 ? 2 : 0));
    PMIx_Value_free(value, 1);
    CHECK_STATUS(PMIx_Disconnect(all, 2, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

static const struct job_case cases[] = {
    { "no_host", 1, rank_of_no_host },
    { "answers", 1, rank_of_answers, host_is_late },
    { "liar", 1, rank_of_liar },
    { "bounds", 1, rank_of_bounds },
    { "folder", 1, rank_of_folder },
    { "dead", 2, rank_of_dead, host_of_dead, true },
    { "family", 1, rank_of_family, host_of_job },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

int main(int argc, char **argv)
{
    memset(large, 'v', sizeof(large) - 1);
    sem_init(&unanswered_more, 0, 0);
    if (argc > 1) { /* a case alone, or a rank */
        job_module.spawn = strcmp(argv[1], cases[0].name) == 0 ? NULL : on_spawn;
        return job_main(argc, argv, cases, CASES);
    }
    const int failed = job_main(argc, argv, cases, 1);

    job_module.spawn = on_spawn;
    return failed | job_main(argc, argv, cases + 1, CASES - 1);
}
