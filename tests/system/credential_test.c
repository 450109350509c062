/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* credential_test.c - credentials: the library's own, which its server alone can validate and nobody
 * can make up, and those of a host, of any size, answered at once, late, never, or refused. */
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define LARGE ((size_t)1 << 20)

static const pmix_value_t *value_of(const pmix_info_t info[], size_t ninfo, const char *key)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, key)) {
            return &info[i].value;
        }
    }
    CHECK(!"it is there");
    return NULL;
}

static pmix_status_t get_of_type(const char *types, pmix_byte_object_t *ret)
{
    pmix_info_t info = info_text(PMIX_CRED_TYPE, types);
    const pmix_status_t rc = PMIx_Get_credential(&info, 1, ret);

    PMIx_Info_destruct(&info);
    return rc;
}

static pmix_status_t show(const char *bytes, size_t size)
{
    const pmix_byte_object_t credential = { .bytes = (char *)(uintptr_t)bytes, .size = size };
    pmix_info_t *results;
    size_t nresults;
    const pmix_status_t rc = PMIx_Validate_credential(&credential, NULL, 0, &results, &nresults);

    CHECK((rc == PMIX_SUCCESS) == (nresults > 0));
    if (results != NULL) {
        PMIx_Info_free(results, nresults);
    }
    return rc;
}

/* ---- the library's own ------------------------------------------------------------------------ */

/* What one rank has, the other shows. */
static char shared_path[64];

static void credential_save(const pmix_byte_object_t *credential)
{
    FILE *const file = fopen(shared_path, "w");

    CHECK(file != NULL && fwrite(credential->bytes, 1, credential->size, file) == credential->size);
    CHECK(fclose(file) == 0);
}

static pmix_byte_object_t credential_load(void)
{
    FILE *const file = fopen(shared_path, "r");
    pmix_byte_object_t credential = { .bytes = malloc(4096) };

    CHECK(file != NULL && credential.bytes != NULL);
    credential.size = fread(credential.bytes, 1, 4096, file);
    CHECK(credential.size > 0 && fclose(file) == 0);
    return credential;
}

static void results_check(const pmix_info_t info[], size_t ninfo)
{
    CHECK(value_of(info, ninfo, PMIX_USERID)->data.uint32 == geteuid());
    CHECK(value_of(info, ninfo, PMIX_GRPID)->data.uint32 == getegid());
    CHECK(value_of(info, ninfo, PMIX_RANK)->data.rank == 0);
    CHECK(value_of(info, ninfo, PMIX_PROC_PID)->data.pid > 0);
    CHECK(strcmp(value_of(info, ninfo, PMIX_NSPACE)->data.string, JOB_NSPACE) == 0);
    CHECK(strcmp(value_of(info, ninfo, PMIX_CRED_TYPE)->data.string, "sx") == 0);
}

static sem_t answered;
static pmix_status_t answered_status;
static pmix_byte_object_t answered_credential;

static void on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t info[],
                          size_t ninfo, void *cbdata)
{
    CHECK(cbdata == &answered);
    answered_status = status;
    if (status == PMIX_SUCCESS) {
        CHECK(strlen(value_of(info, ninfo, PMIX_CRED_TYPE)->data.string) > 0);
        answered_credential.size = credential->size;
        answered_credential.bytes = malloc(credential->size);
        memcpy(answered_credential.bytes, credential->bytes, credential->size);
    }
    sem_post(&answered);
}

static void on_validation(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata)
{
    CHECK(cbdata == &answered);
    answered_status = status;
    if (status == PMIX_SUCCESS) {
        results_check(info, ninfo);
    }
    sem_post(&answered);
}

static pmix_status_t answered_wait(void)
{
    job_sem_wait(&answered);
    return answered_status;
}

/* Each of its bytes counts, and how many there are. */
static void spoiled_are_refused(const pmix_byte_object_t *good)
{
    char *const bad = malloc(good->size + LARGE);

    for (size_t i = 0; i < good->size; i++) {
        memcpy(bad, good->bytes, good->size);
        bad[i] ^= 1;
        const pmix_status_t rc = show(bad, good->size);

        CHECK(rc == PMIX_ERR_INVALID_CRED || rc == PMIX_ERR_UNREACH);
        CHECK(i == 0 || show(good->bytes, i) == PMIX_ERR_INVALID_CRED);
    }
    memset(bad, '0', good->size + LARGE);
    memcpy(bad, good->bytes, good->size);
    CHECK_STATUS(show(bad, good->size + 1), PMIX_ERR_INVALID_CRED);
    CHECK_STATUS(show(bad, LARGE), PMIX_ERR_INVALID_CRED);
    bad[good->size] = '\0';
    CHECK_STATUS(show(bad, good->size + 1), PMIX_ERR_INVALID_CRED);
    CHECK_STATUS(show("sx", 2), PMIX_ERR_INVALID_CRED);
    CHECK_STATUS(show("::::", 4), PMIX_ERR_INVALID_CRED);
    CHECK_STATUS(show("sx:1:2:3:4", 10), PMIX_ERR_INVALID_CRED);
    CHECK_STATUS(show("", 0), PMIX_ERR_BAD_PARAM);
    free(bad);
}

static void types_are_looked_at(void)
{
    pmix_byte_object_t credential;
    pmix_info_t key = info_text(PMIX_CRYPTO_KEY, "k");

    CHECK_STATUS(get_of_type("munge,sx", &credential), PMIX_SUCCESS);
    free(credential.bytes);
    CHECK_STATUS(get_of_type("munge,sxx,s", &credential), PMIX_ERR_NOT_SUPPORTED);
    CHECK(credential.bytes == NULL && credential.size == 0);
    key.flags = PMIX_INFO_REQD;
    CHECK_STATUS(PMIx_Get_credential(&key, 1, &credential), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Load_key(key.key, "nobody.knows.it");
    CHECK_STATUS(PMIx_Get_credential(&key, 1, &credential), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Get_credential(NULL, 1, &credential), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Get_credential(NULL, 0, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&key);
}

static void one_is_shown(void)
{
    pmix_byte_object_t credential = credential_load();
    pmix_info_t *results;
    size_t nresults;

    CHECK_STATUS(PMIx_Validate_credential(&credential, NULL, 0, &results, &nresults), PMIX_SUCCESS);
    results_check(results, nresults);
    PMIx_Info_free(results, nresults);
    CHECK_STATUS(PMIx_Validate_credential_nb(&credential, NULL, 0, on_validation, &answered),
                 PMIX_SUCCESS);
    CHECK_STATUS(answered_wait(), PMIX_SUCCESS);
    spoiled_are_refused(&credential);
    free(credential.bytes);
}

/* Rank 1 shows what rank 0 has, and it is worth nothing when rank 0 has gone. */
static int rank_of_own(int rank)
{
    pmix_byte_object_t credential;

    CHECK_STATUS(PMIx_Get_credential(NULL, 0, &credential), PMIX_ERR_INIT);
    rank_begin(NULL);
    sem_init(&answered, 0, 0);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Get_credential(NULL, 0, &credential), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Get_credential_nb(NULL, 0, on_credential, &answered), PMIX_SUCCESS);
        CHECK_STATUS(answered_wait(), PMIX_SUCCESS);
        CHECK(answered_credential.size == credential.size);
        CHECK(memcmp(answered_credential.bytes, credential.bytes, credential.size) == 0);
        credential_save(&credential);
        free(credential.bytes);
        types_are_looked_at();
    }
    rank_fence();
    if (rank == 1) {
        one_is_shown();
    }
    rank_fence();
    if (rank == 0) {
        rank_end();
        job_token_put(0);
        return 0;
    }
    job_token_get(0);
    credential = credential_load();
    CHECK_STATUS(show(credential.bytes, credential.size), PMIX_ERR_INVALID_CRED);
    free(credential.bytes);
    return rank_end();
}

/* The one before this has another server. */
static int rank_of_another_server(int rank)
{
    pmix_byte_object_t credential = credential_load();

    rank_begin(NULL);
    CHECK_STATUS(show(credential.bytes, credential.size), PMIX_ERR_UNREACH);
    free(credential.bytes);
    unlink(shared_path);
    return rank_end();
}

/* ---- a host's --------------------------------------------------------------------------------- */

static char huge[LARGE];
static struct {
    pmix_credential_cbfunc_t credential;
    void *cbdata;
} unanswered;
static sem_t unanswered_more;

static pmix_status_t on_get(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                            pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    pmix_byte_object_t credential = { .bytes = huge, .size = LARGE };
    pmix_info_t kind = info_text(PMIX_CRED_TYPE, "host's");
    const char *const how = info[0].value.data.string;

    CHECK(proc->rank == 0 && ninfo == 3 && info[1].value.data.uint32 == geteuid());
    CHECK(PMIx_Check_key(info[1].key, PMIX_USERID) && PMIx_Check_key(info[2].key, PMIX_GRPID));
    if (strcmp(how, "late") == 0) {
        unanswered.credential = cbfunc;
        unanswered.cbdata = cbdata;
        sem_post(&unanswered_more);
    } else if (strcmp(how, "large") == 0) {
        cbfunc(PMIX_SUCCESS, &credential, &kind, 1, cbdata);
    } else if (strcmp(how, "none") == 0) {
        cbfunc(PMIX_SUCCESS, NULL, NULL, 0, cbdata);
    }
    PMIx_Info_destruct(&kind);
    return strcmp(how, "refuse") == 0 ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS;
}

static pmix_status_t on_validate(const pmix_proc_t *proc, const pmix_byte_object_t *credential,
                                 const pmix_info_t info[], size_t ninfo,
                                 pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    pmix_info_t result = info_text(PMIX_CRED_TYPE, "host's");
    const bool is_known = credential->size == LARGE && memcmp(credential->bytes, huge, LARGE) == 0;

    CHECK(proc->rank == 0 && ninfo == 2 && PMIx_Check_key(info[0].key, PMIX_USERID));
    cbfunc(is_known ? PMIX_SUCCESS : PMIX_ERR_INVALID_CRED, is_known ? &result : NULL, is_known,
           cbdata);
    PMIx_Info_destruct(&result);
    return PMIX_SUCCESS;
}

static int rank_of_host(int rank)
{
    pmix_byte_object_t credential;
    pmix_info_t late = info_text(PMIX_CRED_TYPE, "late");

    rank_begin(NULL);
    sem_init(&answered, 0, 0);
    CHECK_STATUS(get_of_type("refuse", &credential), PMIX_ERR_NO_PERMISSIONS);
    CHECK_STATUS(get_of_type("none", &credential), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(get_of_type("large", &credential), PMIX_SUCCESS);
    CHECK(credential.size == LARGE);
    CHECK_STATUS(show(credential.bytes, credential.size), PMIX_SUCCESS);
    CHECK_STATUS(show(credential.bytes, credential.size - 1), PMIX_ERR_INVALID_CRED);
    free(credential.bytes);
    CHECK_STATUS(PMIx_Get_credential_nb(&late, 1, on_credential, &answered), PMIX_SUCCESS);
    CHECK_STATUS(answered_wait(), PMIX_SUCCESS);
    CHECK(answered_credential.size == LARGE);
    free(answered_credential.bytes);
    CHECK_STATUS(PMIx_Get_credential_nb(&late, 1, on_credential, &answered), PMIX_SUCCESS);
    PMIx_Info_destruct(&late);
    rank_end(); /* the second is never answered */
    CHECK(answered_wait() != PMIX_SUCCESS);
    return 0;
}

static int host_is_late(struct job *job)
{
    pmix_byte_object_t credential = { .bytes = huge, .size = LARGE };
    pmix_info_t kind = info_text(PMIX_CRED_TYPE, "host's");

    job_sem_wait(&unanswered_more);
    unanswered.credential(PMIX_SUCCESS, &credential, &kind, 1, unanswered.cbdata);
    PMIx_Info_destruct(&kind);
    return 0;
}

/* ---- its host asks ----------------------------------------------------------------------------- */

static int rank_of_shown(int rank)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };

    rank_begin(NULL);
    CHECK_STATUS(PMIx_Get_credential(NULL, 0, &value.data.bo), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "test.credential", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    free(value.data.bo.bytes);
    job_token_put(0);
    job_token_get(1);
    return rank_end();
}

/* A server that is no client validates for its host what its clients have shown. */
static int host_of_shown(struct job *job)
{
    const pmix_proc_t owner = { .nspace = JOB_NSPACE, .rank = 0 };
    pmix_value_t *value = NULL;
    pmix_info_t *results = NULL;
    size_t nresults = 0;

    job_token_get(0);
    CHECK_STATUS(PMIx_Get(&owner, "test.credential", NULL, 0, &value), PMIX_SUCCESS);
    pmix_byte_object_t *const shown = &value->data.bo;

    CHECK_STATUS(PMIx_Validate_credential(shown, NULL, 0, &results, &nresults), PMIX_SUCCESS);
    CHECK(nresults == 6 && PMIx_Check_key(results[0].key, PMIX_USERID) &&
          results[0].value.data.uint32 == getuid());
    CHECK(PMIx_Check_key(results[4].key, PMIX_RANK) && results[4].value.data.rank == 0);
    PMIx_Info_free(results, nresults);
    CHECK_STATUS(PMIx_Validate_credential(shown, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    shown->bytes[shown->size / 2] ^= 1;
    CHECK_STATUS(PMIx_Validate_credential(shown, NULL, 0, &results, &nresults),
                 PMIX_ERR_INVALID_CRED);
    CHECK(results == NULL && nresults == 0);
    PMIx_Value_free(value, 1);
    job_token_put(1);
    return 0;
}

static const struct job_case own_cases[] = {
    { "own", 2, rank_of_own },
    { "another_server", 1, rank_of_another_server },
    { "shown", 1, rank_of_shown, host_of_shown },
};
static const struct job_case host_case = { "host", 1, rank_of_host, host_is_late };

int main(int argc, char **argv)
{
    const bool is_rank = argc > 1;

    snprintf(shared_path, sizeof(shared_path), "/tmp/shmix-credential-%d",
             (int)(is_rank ? getppid() : getpid()));
    memset(huge, 'c', sizeof(huge));
    sem_init(&unanswered_more, 0, 0);
    if (is_rank && strcmp(argv[argc == 5 ? 2 : 1], host_case.name) == 0) {
        return job_main(argc, argv, &host_case, 1);
    }
    const int failed = job_main(argc, argv, own_cases, sizeof(own_cases) / sizeof(own_cases[0]));

    if (is_rank) {
        return failed;
    }
    job_module.get_credential = on_get;
    job_module.validate_credential = on_validate;
    return failed | job_main(argc, argv, &host_case, 1);
}
