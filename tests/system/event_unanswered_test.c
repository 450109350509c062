/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_unanswered_test.c - events that leave the node, and a host that owes its answers or refuses. */
#include "received.h"

#define CODE_A (-2090)       /* answered when the test says so */
#define CODE_REFUSED (-2091) /* refused at once */
#define CODE_LATER (-2092)   /* refused by callback */
#define OWED_MAX 4096        /* what the library lets a host owe, in questions */
#define OWED_BYTES (64u << 20)
#define LARGE (1u << 20)
#define MORE 100u

/* Of @all, what one process may have: nine tenths of its user's, who has nine tenths of all unless it is
 * root. */
static uint64_t share_of(uint64_t all)
{
    const uint64_t users = geteuid() == 0 ? all : all * 9 / 10;

    return users * 9 / 10;
}

/* ---- the host: it keeps what it would have to answer ----------------------------------------- */

static struct {
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
} unanswered[OWED_MAX + 1]; /* under heard_lock, as the count */
static size_t unanswered_count;

static pmix_status_t host_notify(pmix_status_t code, const pmix_proc_t *source,
                                 pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (code == CODE_REFUSED) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (code == CODE_LATER) {
        cbfunc(PMIX_ERR_UNREACH, cbdata);
        return PMIX_SUCCESS;
    }
    pthread_mutex_lock(&received_lock);
    CHECK(unanswered_count <= OWED_MAX);
    unanswered[unanswered_count].cbfunc = cbfunc;
    unanswered[unanswered_count++].cbdata = cbdata;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    return PMIX_SUCCESS;
}

static void unanswered_wait(size_t count)
{
    pthread_mutex_lock(&received_lock);
    while (unanswered_count < count) {
        received_wait_locked("upcall", (long)unanswered_count);
    }
    CHECK(unanswered_count == count);
    pthread_mutex_unlock(&received_lock);
}

static void unanswered_answer(void)
{
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < unanswered_count; i++) {
        unanswered[i].cbfunc(PMIX_SUCCESS, unanswered[i].cbdata);
    }
    unanswered_count = 0;
    pthread_mutex_unlock(&received_lock);
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static void listener_begin(void)
{
    rank_begin(NULL);
    listen_to_losses();
}

/* EV42: the host owes all that it is let owe; of what is more its publisher is told.  Handlers here hear
 * of everything; when the host has answered, it is asked again. */
static int rank_of_many(int rank)
{
    listener_begin();
    const size_t id = receive_one(CODE_A);
    const uint64_t share = share_of(OWED_MAX);

    for (uint32_t i = 0; i < share; i++) {
        publish_event(CODE_A, PMIX_RANGE_GLOBAL, i);
        if (i % 1000 == 999) { /* what this test notes is bounded, too */
            received_wait(CODE_A, 1000);
            CHECK(received_by(id) == 1000);
            received_forget();
        }
    }
    server_has_it();
    lost_wait(0);
    for (uint32_t i = 0; i < MORE; i++) {
        publish_event(CODE_A, PMIX_RANGE_GLOBAL, i);
    }
    received_wait(CODE_A, share % 1000 + MORE);
    lost_wait(MORE);
    job_token_put(0);
    job_token_get(1);
    publish_event(CODE_A, PMIX_RANGE_GLOBAL, 0);
    server_has_it();
    lost_wait(MORE);
    return rank_end();
}

static int host_of_many(struct job *job)
{
    job_token_get(0);
    unanswered_wait(share_of(OWED_MAX));
    unanswered_answer();
    job_token_put(1);
    unanswered_wait(1);
    unanswered_answer();
    return 0;
}

/* Large ones are bounded by their bytes, and their publisher is told at once. */
static int rank_of_large(int rank)
{
    const uint64_t fits = share_of(OWED_BYTES) / LARGE; /* the rest has room for their heads */
    char *const text = malloc(LARGE + 1);
    pmix_info_t info;

    CHECK(text != NULL);
    listener_begin();
    memset(text, 'a', LARGE);
    text[LARGE] = '\0';
    info = info_text("test.text", text);
    for (uint32_t i = 0; i < fits + 2; i++) {
        CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_GLOBAL, &info, 1, NULL, NULL),
                     i < fits ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS);
    }
    job_token_put(0);
    job_token_get(1);
    CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_GLOBAL, &info, 1, NULL, NULL),
                 PMIX_SUCCESS);
    lost_wait(0);
    PMIx_Info_destruct(&info);
    free(text);
    return rank_end();
}

static int host_of_large(struct job *job)
{
    job_token_get(0);
    unanswered_wait(share_of(OWED_BYTES) / LARGE);
    unanswered_answer();
    job_token_put(1);
    unanswered_wait(1);
    unanswered_answer();
    return 0;
}

/* What the host refuses is lost, if it was for another node. */
static int rank_of_refused(int rank)
{
    listener_begin();
    publish_event(CODE_REFUSED, PMIX_RANGE_GLOBAL, 0);
    lost_wait(1);
    publish_event(CODE_LATER, PMIX_RANGE_NAMESPACE, 0);
    lost_wait(2);
    publish_event(CODE_REFUSED, PMIX_RANGE_RM, 0);
    publish_event(CODE_REFUSED, PMIX_RANGE_LOCAL, 0);
    publish_to_proc(CODE_REFUSED, JOB_NSPACE, 0);
    publish_to_proc(CODE_LATER, JOB_NSPACE, 1);
    lost_wait(3);
    server_has_it();
    lost_wait(3);
    return rank_end();
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "many", 1, rank_of_many, host_of_many },
        { "large", 1, rank_of_large, host_of_large },
        { "refused", 1, rank_of_refused },
    };

    job_module.notify_event = host_notify;
    job_elsewhere = 1;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
