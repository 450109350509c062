/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_pmix.c - ranks of several nodes make groups: all of them, and the first and the last one.
 *
 * Each reads what the others have given and learns whether all have the same context id; they meet
 * under the name, the last rank leaves, and the others end the group.  "dies": the last rank kills
 * itself in a group of all, whose others wait for it.  The exit status is that of the construct of
 * all, without its sign, or 1 if anything was wrong. */
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>

#define RANKS_MAX 256u
#define SECONDS 30

static pmix_proc_t me;
static unsigned size;
static sem_t one_has_left;

static void must(pmix_status_t rc, pmix_status_t want, const char *what)
{
    if (rc != want) {
        printf("%u: %s: %d, not %d\n", me.rank, what, rc, want);
        exit(1);
    }
}

static pmix_proc_t proc_of(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;

    memset(&proc, 0, sizeof(proc));
    strcpy(proc.nspace, nspace);
    proc.rank = rank;
    return proc;
}

/* One without a value yet. */
static pmix_info_t info_of(const char *key, pmix_data_type_t type)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, key);
    info.value.type = type;
    return info;
}

static pmix_info_t limit_of(int seconds)
{
    pmix_info_t limit = info_of(PMIX_TIMEOUT, PMIX_INT);

    limit.value.data.integer = seconds;
    return limit;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* *ret_id: its context id; all @count of @procs are its members, in that order. */
static pmix_status_t construct(const char *name, const pmix_proc_t procs[], size_t count,
                               int seconds, size_t *ret_id)
{
    pmix_info_t gift = info_of("group.gift", PMIX_UINT32), wishes[4], *results = NULL;
    pmix_data_array_t gifts = { .type = PMIX_INFO, .size = 1, .array = &gift };
    size_t nresults = 0, members = 0;

    gift.value.data.uint32 = 1000 + me.rank;
    wishes[0] = info_of(PMIX_GROUP_ASSIGN_CONTEXT_ID, PMIX_BOOL);
    wishes[0].value.data.flag = true;
    wishes[1] = info_of(PMIX_GROUP_INFO, PMIX_DATA_ARRAY);
    wishes[1].value.data.darray = &gifts;
    wishes[2] = limit_of(seconds);
    wishes[3] = info_of(PMIX_GROUP_NOTIFY_TERMINATION, PMIX_BOOL);
    wishes[3].value.data.flag = true;
    const pmix_status_t rc = PMIx_Group_construct(name, procs, count, wishes, 4, &results,
                                                  &nresults);

    *ret_id = 0;
    for (size_t i = 0; i < nresults; i++) {
        const pmix_value_t *const value = &results[i].value;

        if (strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID) == 0) {
            *ret_id = value->data.size;
        } else if (strcmp(results[i].key, PMIX_GROUP_MEMBERSHIP) == 0) {
            const pmix_proc_t *const all = value->data.darray->array;

            for (size_t k = 0; k < value->data.darray->size && k < count; k++) {
                members += all[k].rank == procs[k].rank;
            }
        }
    }
    if (rc == PMIX_SUCCESS && (members != count || *ret_id == 0)) {
        printf("%u: %s has %zu members, not %zu, and the id %zu\n", me.rank, name, members, count,
               *ret_id);
        exit(1);
    }
    return rc;
}

/* What @proc has given, under the id; 0: nothing. */
static unsigned gift_of(const pmix_proc_t *proc, size_t id)
{
    pmix_info_t qualifier = info_of(PMIX_GROUP_CONTEXT_ID, PMIX_SIZE);
    pmix_value_t *value = NULL;
    unsigned gift = 0;

    qualifier.value.data.size = id;
    qualifier.flags = PMIX_INFO_QUALIFIER;
    if (PMIx_Get(proc, "group.gift", &qualifier, 1, &value) == PMIX_SUCCESS) {
        gift = value->data.uint32;
        free(value);
    }
    return gift;
}

static void gifts_read(const pmix_proc_t procs[], size_t count, size_t id)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned gift = gift_of(&procs[i], id);

        if (gift != 1000 + procs[i].rank) {
            printf("%u: %u has given %u\n", me.rank, procs[i].rank, gift);
            exit(1);
        }
    }
}

static pmix_status_t meet(const char *name)
{
    const pmix_proc_t all = proc_of(name, PMIX_RANK_WILDCARD);
    const pmix_info_t limit = limit_of(SECONDS);

    return PMIx_Fence(&all, 1, &limit, 1);
}

/* ---- the job --------------------------------------------------------------------------------- */

static unsigned job_size(void)
{
    const pmix_proc_t job = proc_of(me.nspace, PMIX_RANK_WILDCARD);
    pmix_value_t *value = NULL;

    must(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS, "job size");
    const unsigned count = value->data.uint32;

    free(value);
    return count;
}

/* All tell each other a number.  Return: that of rank 0. */
static size_t numbers_share(const char *key, size_t number, bool are_equal)
{
    pmix_value_t value, *got = NULL;
    pmix_info_t collect = info_of(PMIX_COLLECT_DATA, PMIX_BOOL);
    size_t first = 0;

    memset(&value, 0, sizeof(value));
    value.type = PMIX_SIZE;
    value.data.size = number;
    collect.value.data.flag = true;
    must(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS, "put");
    must(PMIx_Commit(), PMIX_SUCCESS, "commit");
    must(PMIx_Fence(NULL, 0, &collect, 1), PMIX_SUCCESS, "fence of the job");
    for (unsigned rank = 0; rank < size; rank++) {
        const pmix_proc_t proc = proc_of(me.nspace, rank);

        must(PMIx_Get(&proc, key, NULL, 0, &got), PMIX_SUCCESS, "get");
        if (are_equal && got->data.size != number) {
            printf("%u: %s of %u is %zu, not %zu\n", me.rank, key, rank, got->data.size, number);
            exit(1);
        }
        first = rank == 0 ? got->data.size : first;
        free(got);
    }
    return first;
}

static void on_left(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    sem_post(&one_has_left);
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static bool receives_of_leaving(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SECONDS;
    return sem_timedwait(&one_has_left, &until) == 0;
}

/* The last one goes, and those who are left meet without it. */
static void leave_and_end(void)
{
    if (me.rank == size - 1) {
        must(PMIx_Group_leave("all", NULL, 0), PMIX_SUCCESS, "leave");
        must(meet("all"), -66 /* PMIX_ERR_NOT_A_MEMBER */, "meet, as no member");
    } else {
        must(receives_of_leaving() ? PMIX_SUCCESS : PMIX_ERR_TIMEOUT, PMIX_SUCCESS,
             "hear of the end");
        must(meet("all"), PMIX_SUCCESS, "meet those who are left");
        must(PMIx_Group_destruct("all", NULL, 0), PMIX_SUCCESS, "destruct");
        must(PMIx_Group_destruct("all", NULL, 0), PMIX_ERR_NOT_FOUND, "destruct again");
    }
}

static bool is_of_pair(void)
{
    return me.rank == 0 || me.rank == size - 1;
}

/* The first and the last rank, which are on two nodes if there are two.  Return: whether the host
 * lets some of the ranks meet.  Slurm lets them wait for their time limit on two nodes, and each go
 * on alone on four. */
static bool pair_up(void)
{
    const pmix_proc_t pair[] = { proc_of(me.nspace, size - 1), proc_of(me.nspace, 0) };
    pmix_status_t rc = PMIX_SUCCESS;
    size_t id;

    if (is_of_pair()) {
        rc = construct("pair", pair, 2, SECONDS / 6, &id);
    }
    if (is_of_pair() && rc == PMIX_SUCCESS) {
        gifts_read(pair, 2, id);
        must(meet("pair"), PMIX_SUCCESS, "meet as a pair");
        must(PMIx_Group_destruct("pair", NULL, 0), PMIX_SUCCESS, "destruct the pair");
    } else if (rc != PMIX_ERR_NOT_SUPPORTED) {
        must(rc, is_of_pair() ? PMIX_ERR_TIMEOUT : PMIX_SUCCESS, "construct of a pair");
    }
    return numbers_share("group.met", rc == PMIX_SUCCESS, false) != 0;
}

static void all_end(void)
{
    must(PMIx_Group_destruct("all", NULL, 0), PMIX_SUCCESS, "destruct of all");
}

static void die_or_wait(void)
{
    if (me.rank == size - 1) {
        raise(SIGKILL);
    }
    printf("%u: the others have met: %d\n", me.rank, meet("all"));
    pause();
}

int main(int argc, char **argv)
{
    static pmix_proc_t all[RANKS_MAX];
    pmix_status_t code = PMIX_GROUP_LEFT;
    size_t id;

    sem_init(&one_has_left, 0, 0);
    must(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS, "init");
    if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_left, NULL, NULL) < 0) {
        must(PMIX_ERROR, PMIX_SUCCESS, "a handler");
    }
    size = job_size();
    for (unsigned i = 0; i < size && i < RANKS_MAX; i++) {
        all[i] = proc_of(me.nspace, size - 1 - i);
    }
    const pmix_status_t rc = construct("all", all, size, SECONDS, &id);

    (void)numbers_share("group.id", id, true);
    if (rc == PMIX_SUCCESS) {
        gifts_read(all, size, id);
        must(meet("all"), PMIX_SUCCESS, "meet");
        if (argc > 1) {
            die_or_wait();
        }
        if (pair_up()) {
            leave_and_end();
        } else {
            all_end();
        }
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS, "fence");
    must(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
    printf("%u: group ends with %d\n", me.rank, rc);
    return -rc;
}
