/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_test.c - groups by invitation: who is told what, who waits until when, and what becomes of
 * it when somebody declines, ends, or says nothing. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"
#include "received.h"

#define TEA "tea"
#define OF_NONE "of.none" /* it never comes to be */

static pmix_proc_t me;

/* ---- what a call ends with ------------------------------------------------------------------ */

struct made {
    pmix_status_t status;
    pmix_rank_t ranks[8]; /* of the members */
    size_t count;
    size_t context_id; /* 0: none */
};

static struct made made_read(pmix_status_t status, const pmix_info_t *info, size_t ninfo)
{
    struct made made = { .status = status };

    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_GROUP_MEMBERSHIP) == 0) {
            const pmix_data_array_t *const array = info[i].value.data.darray;

            CHECK(array->type == PMIX_PROC && array->size <= 8);
            made.count = array->size;
            for (size_t n = 0; n < array->size; n++) {
                made.ranks[n] = ((const pmix_proc_t *)array->array)[n].rank;
            }
        } else if (strcmp(info[i].key, PMIX_GROUP_CONTEXT_ID) == 0) {
            CHECK(info[i].value.type == PMIX_SIZE);
            made.context_id = info[i].value.data.size;
        }
    }
    return made;
}

static bool made_is(const struct made *made, size_t count, const pmix_rank_t ranks[])
{
    return made->status == PMIX_SUCCESS && made->count == count &&
           memcmp(made->ranks, ranks, count * sizeof(ranks[0])) == 0;
}

/* The ends of non-blocking calls, in their order; under heard_lock. */
static struct made ends[8];
static size_t end_count;

static void on_end(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                   pmix_release_cbfunc_t release, void *release_cbdata)
{
    pthread_mutex_lock(&received_lock);
    CHECK(end_count < 8);
    ends[end_count++] = made_read(status, info, ninfo);
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    if (release != NULL) {
        release(release_cbdata);
    }
}

static struct made end_wait(size_t count)
{
    pthread_mutex_lock(&received_lock);
    while (end_count < count) {
        received_wait_locked("ends of calls", (long)count);
    }
    const struct made made = ends[count - 1];

    pthread_mutex_unlock(&received_lock);
    return made;
}

static struct made invite_as(const char *name, const pmix_rank_t ranks[], size_t count,
                             const pmix_info_t *info, size_t ninfo)
{
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    pmix_proc_t procs[8];

    for (size_t i = 0; i < count; i++) {
        procs[i] = proc_of(JOB_NSPACE, ranks[i]);
    }
    const pmix_status_t rc = PMIx_Group_invite(name, procs, count, info, ninfo, &results,
                                               &nresults);
    const struct made made = made_read(rc, results, nresults);

    if (results != NULL) {
        PMIx_Info_free(results, nresults);
    }
    return made;
}

static struct made invite(const pmix_rank_t ranks[], size_t count)
{
    return invite_as(TEA, ranks, count, NULL, 0);
}

static void invite_nb(const pmix_rank_t ranks[], size_t count)
{
    pmix_proc_t procs[8];

    for (size_t i = 0; i < count; i++) {
        procs[i] = proc_of(JOB_NSPACE, ranks[i]);
    }
    CHECK_STATUS(PMIx_Group_invite_nb(TEA, procs, count, NULL, 0, on_end, NULL), PMIX_SUCCESS);
}

static struct made join_with(const pmix_proc_t *leader, pmix_group_opt_t opt,
                             const pmix_info_t *info, size_t ninfo)
{
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    const pmix_status_t rc = PMIx_Group_join(TEA, leader, opt, info, ninfo, &results, &nresults);
    const struct made made = made_read(rc, results, nresults);

    if (results != NULL) {
        PMIx_Info_free(results, nresults);
    }
    return made;
}

static struct made join(const pmix_proc_t *leader, pmix_group_opt_t opt)
{
    return join_with(leader, opt, NULL, 0);
}

/* ---- what is heard -------------------------------------------------------------------------- */

static const char *text_of(const pmix_info_t info[], size_t ninfo, const char *key)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, key) == 0 && info[i].value.type == PMIX_STRING) {
            return info[i].value.data.string;
        }
    }
    return "";
}

static struct made completed; /* what the event says; under heard_lock */

/* What PMIX_GROUP_CONSTRUCT_COMPLETE itself has: the context id, and whose endpoint data; under
 * heard_lock. */
static struct {
    size_t context_id;
    char endpoints[8][8]; /* by rank */
} complete;

static void complete_read(const pmix_info_t info[], size_t ninfo)
{
    const pmix_proc_t *giver = NULL;

    complete.context_id = made_read(PMIX_SUCCESS, info, ninfo).context_id;
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_PROCID) == 0) {
            giver = info[i].value.data.proc;
        } else if (strcmp(info[i].key, PMIX_GROUP_ENDPT_DATA) == 0) {
            const pmix_byte_object_t *const data = &info[i].value.data.bo;

            CHECK(giver != NULL && info[i].value.type == PMIX_BYTE_OBJECT && data->size < 8);
            memcpy(complete.endpoints[giver->rank], data->bytes, data->size);
        }
    }
}

/* What the inviter does when it hears of @code, and what its handler says. */
static struct {
    pmix_status_t code; /* PMIX_SUCCESS: none */
    void (*act)(void);  /* NULL: nothing */
    pmix_status_t says;
    bool leads; /* by PMIX_GROUP_LEADER among its results */
} reply = { .says = PMIX_EVENT_NO_ACTION_TAKEN };

/* What the last one says of who leads; under heard_lock. */
static struct {
    pmix_rank_t leader;   /* PMIX_RANK_INVALID: nobody ... */
    pmix_status_t status; /* ... and why */
} selected;

static void selected_read(const pmix_info_t info[], size_t ninfo)
{
    pthread_mutex_lock(&received_lock);
    selected.leader = PMIX_RANK_INVALID;
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_GROUP_LEADER) == 0) {
            selected.leader = ((const pmix_proc_t *)info[i].value.data.darray->array)->rank;
        } else if (strcmp(info[i].key, PMIX_LOCAL_COLLECTIVE_STATUS) == 0) {
            selected.status = info[i].value.data.status;
        }
    }
    pthread_mutex_unlock(&received_lock);
}

/* All events of groups name the group. */
static void on_group(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *const name = text_of(info, ninfo, PMIX_GROUP_ID);

    CHECK(strcmp(name, TEA) == 0 || strcmp(name, OF_NONE) == 0);
    if (code == PMIX_GROUP_CONSTRUCT_COMPLETE || code == PMIX_GROUP_CONTEXT_ID_ASSIGNED) {
        const struct made made = made_read(PMIX_SUCCESS, info, ninfo);

        pthread_mutex_lock(&received_lock);
        completed.count = made.count != 0 ? made.count : completed.count;
        memcpy(completed.ranks, made.ranks, sizeof(made.ranks));
        completed.context_id = made.context_id != 0 ? made.context_id : completed.context_id;
        if (code == PMIX_GROUP_CONSTRUCT_COMPLETE) {
            complete_read(info, ninfo);
        }
        pthread_mutex_unlock(&received_lock);
    }
    if (code == reply.code && reply.act != NULL) {
        reply.act();
    }
    if (code == PMIX_GROUP_LEADER_SELECTED) {
        selected_read(info, ninfo);
    }
    received_note(id, code, source, info, ninfo, nresults);
    if (code == reply.code && reply.leads) {
        pmix_info_t leads;

        leads = info_flag(PMIX_GROUP_LEADER);
        done(PMIX_SUCCESS, &leads, 1, NULL, NULL, cbdata);
        return;
    }
    done(code == reply.code ? reply.says : PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* What a guest does when it is invited. */
static pmix_status_t joined; /* what a call in the handler returned */
static struct made joined_made;
static enum { NOTES, ACCEPTS, ACCEPTS_UNNOTIFIED, ACCEPTS_AND_WAITS, DECLINES } manners;

static void on_invited(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                       size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *const name = text_of(info, ninfo, PMIX_GROUP_ID);

    switch (manners) {
    case NOTES:
        break;
    case ACCEPTS:
        joined = PMIx_Group_join_nb(name, source, PMIX_GROUP_ACCEPT, NULL, 0, on_end, NULL);
        break;
    case ACCEPTS_UNNOTIFIED:
        joined = PMIx_Group_join_nb(name, source, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL);
        break;
    case ACCEPTS_AND_WAITS:
        joined_made = join(source, PMIX_GROUP_ACCEPT);
        break;
    case DECLINES:
        joined = PMIx_Group_join(name, source, PMIX_GROUP_DECLINE, NULL, 0, NULL, NULL);
        break;
    }
    received_note(id, code, source, info, ninfo, nresults);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void receive_with(pmix_notification_fn_t fn, pmix_status_t code)
{
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, fn, NULL, NULL) >= 0);
}

static void receive_group(pmix_status_t code)
{
    receive_with(on_group, code);
}

/* Everybody is ready to hear of all that concerns a group; @how a guest answers. */
static void begin(int how)
{
    static const pmix_status_t codes[] = {
        PMIX_GROUP_INVITE_DECLINED,     PMIX_GROUP_INVITE_FAILED,   PMIX_GROUP_CONSTRUCT_ABORT,
        PMIX_GROUP_CONSTRUCT_COMPLETE,  PMIX_GROUP_LEADER_FAILED,   PMIX_GROUP_INVITE_ACCEPTED,
        PMIX_GROUP_CONTEXT_ID_ASSIGNED, PMIX_GROUP_LEADER_SELECTED,
    };

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    manners = how;
    receive_with(on_invited, PMIX_GROUP_INVITED);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        receive_group(codes[i]);
    }
    rank_fence();
}

/* Who is invited by the event, and by whom. */
static void invited_wait(pmix_rank_t by)
{
    received_wait(PMIX_GROUP_INVITED, 1);
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < received_count; i++) {
        CHECK(received[i].code != PMIX_GROUP_INVITED || received[i].source.rank == by);
    }
    pthread_mutex_unlock(&received_lock);
}

/* What all of a group have heard, and that it is one. */
static void complete_wait(size_t count, const pmix_rank_t ranks[])
{
    pmix_proc_t all;

    received_wait(PMIX_GROUP_CONSTRUCT_COMPLETE, 1);
    pthread_mutex_lock(&received_lock);
    CHECK(made_is(&completed, count, ranks));
    pthread_mutex_unlock(&received_lock);
    PMIx_Load_procid(&all, TEA, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Fence(&all, 1, NULL, 0), PMIX_SUCCESS);
}

/* ---- all accept ----------------------------------------------------------------------------- */

/* GR55, GR57, GR58, GR59, GR60, GR67, GR75. */
static int rank_of_accept(int rank)
{
    static const pmix_rank_t guests[] = { 2, 1 }, members[] = { 0, 2, 1 };

    begin(ACCEPTS);
    if (rank == 0) {
        const struct made made = invite(guests, 2);

        CHECK(made_is(&made, 3, members));
        CHECK(made.context_id == 0);
        CHECK(PMIX_GROUP_ACCEPT == 1 && PMIX_GROUP_DECLINE == 0);
        CHECK(received_of(PMIX_GROUP_INVITED) == 0);
        received_wait(PMIX_GROUP_INVITE_ACCEPTED, 2);
    } else {
        const struct made made = end_wait(1);

        CHECK(made_is(&made, 3, members));
        invited_wait(0);
        CHECK_STATUS(joined, PMIX_SUCCESS);
    }
    complete_wait(3, members);
    return rank_end();
}

/* Nobody has a callback: PMIX_GROUP_CONSTRUCT_COMPLETE tells the inviter and the guests. */
static int rank_of_unnotified(int rank)
{
    static const pmix_rank_t members[] = { 0, 2, 1 };
    const pmix_proc_t procs[2] = { proc_of(JOB_NSPACE, 2), proc_of(JOB_NSPACE, 1) };

    begin(ACCEPTS_UNNOTIFIED);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Group_invite_nb(TEA, procs, 2, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    } else {
        invited_wait(0);
        CHECK_STATUS(joined, PMIX_SUCCESS);
    }
    complete_wait(3, members);
    return rank_end();
}

/* The inviter's place, when it names itself; a wildcard for all the others; GR57 without any
 * handler. */
static int rank_of_places(int rank)
{
    static const pmix_rank_t guests[] = { 1, 0, PMIX_RANK_WILDCARD }, members[] = { 1, 0, 2 };

    rank_begin(&me); /* without handlers: the host may not have registered the others yet */
    manners = ACCEPTS;
    if (rank == 0) {
        const struct made made = invite(guests, 3);

        CHECK(made_is(&made, 3, members));
    } else {
        receive_with(on_invited, PMIX_GROUP_INVITED); /* GR56: late, perhaps */
        const struct made made = end_wait(1);

        CHECK(made_is(&made, 3, members));
    }
    rank_fence();
    return rank_end();
}

/* GR56: the invitation is older than the handler. */
static int rank_of_late(int rank)
{
    static const pmix_rank_t guests[] = { 1 }, members[] = { 0, 1 };

    rank_begin(&me); /* without handlers */
    manners = ACCEPTS;
    if (rank == 0) {
        invite_nb(guests, 1);
        server_has_it();
    }
    rank_fence();
    if (rank == 1) {
        receive_with(on_invited, PMIX_GROUP_INVITED);
    }
    const struct made made = end_wait(1);

    CHECK(made_is(&made, 2, members));
    rank_fence(); /* who finalizes is no member any more */
    return rank_end();
}

/* GR58, GR59 from a thread of the application; GR68: inside the handler. */
static int in_handler_or_thread(int rank, bool in_handler)
{
    static const pmix_rank_t guests[] = { 1, 2 }, members[] = { 0, 1, 2 };

    begin(in_handler ? ACCEPTS_AND_WAITS : NOTES);
    if (rank == 0) {
        const struct made made = invite(guests, 2);

        CHECK(made_is(&made, 3, members));
    } else {
        invited_wait(0);
        if (!in_handler) {
            const pmix_proc_t leader = proc_of(JOB_NSPACE, 0);

            joined_made = join(rank == 1 ? &leader : NULL, PMIX_GROUP_ACCEPT);
        }
        CHECK(made_is(&joined_made, 3, members));
    }
    complete_wait(3, members);
    return rank_end();
}

static int rank_of_thread(int rank)
{
    return in_handler_or_thread(rank, false);
}

static int rank_of_handler(int rank)
{
    return in_handler_or_thread(rank, true);
}

/* GR72, GR73. */
static int rank_of_context(int rank)
{
    static const pmix_rank_t guests[] = { 1, 2 };
    static size_t ids[3]; /* of one rank each */
    struct made made;
    pmix_info_t info, infos[2];
    pmix_byte_object_t data = { .bytes = (char *)(uintptr_t) "there", .size = 5 };

    begin(ACCEPTS);
    infos[0] = info_flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_GROUP_ENDPT_DATA, &data, PMIX_BYTE_OBJECT),
                 PMIX_SUCCESS);
    made = rank == 0 ? invite_as(TEA, guests, 2, infos, 2) : end_wait(1);
    PMIx_Info_destruct(&infos[1]);
    CHECK_STATUS(made.status, PMIX_SUCCESS);
    CHECK(made.context_id != 0);
    received_wait(PMIX_GROUP_CONTEXT_ID_ASSIGNED, 1);
    received_wait(PMIX_GROUP_CONSTRUCT_COMPLETE, 1);
    CHECK(completed.context_id == made.context_id);
    CHECK(complete.context_id == made.context_id);
    CHECK(strcmp(complete.endpoints[0], "there") == 0 && complete.endpoints[1][0] == '\0');
    ids[rank] = made.context_id;

    pmix_value_t value = { .type = PMIX_SIZE, .data.size = ids[rank] };
    const bool yes = true;

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "context", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, 1), PMIX_SUCCESS);
    for (pmix_rank_t other = 0; other < 3; other++) {
        const pmix_proc_t proc = proc_of(JOB_NSPACE, other);
        pmix_value_t *got;

        CHECK_STATUS(PMIx_Get(&proc, "context", NULL, 0, &got), PMIX_SUCCESS);
        CHECK(got->data.size == made.context_id);
        PMIx_Value_free(got, 1);
    }
    return rank_end();
}

/* ---- what members give ---------------------------------------------------------------------- */

/* Under @context (0: under none).  Return: 0 when there is none. */
static size_t number_of(pmix_rank_t rank, size_t context)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, rank);
    pmix_value_t *value = NULL;
    pmix_info_t infos[2];
    size_t number = 0;

    infos[0] = info_flag(PMIX_IMMEDIATE);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_GROUP_CONTEXT_ID, &context, PMIX_SIZE),
                 PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[1]);
    const pmix_status_t rc = PMIx_Get(&proc, PMIX_GROUP_LOCAL_CID, infos, context != 0 ? 2 : 1,
                                      &value);

    CHECK(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND);
    if (rc == PMIX_SUCCESS) {
        CHECK(value->type == PMIX_SIZE);
        number = value->data.size;
        PMIx_Value_free(value, 1);
    }
    return number;
}

/* The inviter in an array, a guest as itself; who declines gives nothing. */
static int rank_of_gifts(int rank)
{
    static const pmix_rank_t guests[] = { 1, 2 };
    const size_t number = 10 + (size_t)rank;
    struct made made = { .status = PMIX_SUCCESS };
    pmix_info_t inner, infos[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = &inner };

    begin(NOTES);
    CHECK_STATUS(PMIx_Info_load(&inner, PMIX_GROUP_LOCAL_CID, &number, PMIX_SIZE), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    infos[1] = info_flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    if (rank == 0) {
        made = invite_as(TEA, guests, 2, infos, 2);
    } else {
        invited_wait(0);
        made = join_with(NULL, rank == 1 ? PMIX_GROUP_ACCEPT : PMIX_GROUP_DECLINE, &inner, 1);
    }
    PMIx_Info_destruct(&infos[0]);
    CHECK_STATUS(made.status, PMIX_SUCCESS);
    if (rank != 2) {
        CHECK(made.context_id != 0);
        CHECK(number_of(0, made.context_id) == 10);
        CHECK(number_of(1, made.context_id) == 11);
        CHECK(number_of(2, made.context_id) == 0);
        CHECK(number_of(1 - me.rank, 0) == 0);
    }
    rank_fence();
    return rank_end();
}

/* ---- somebody does not come ----------------------------------------------------------------- */

/* GR61, GR62: the group without it; all: no group, and the name is free. */
static int rank_of_decline(int rank)
{
    static const pmix_rank_t guests[] = { 1, 2 }, members[] = { 0, 2 };

    begin(rank == 1 ? DECLINES : ACCEPTS);
    if (rank == 0) {
        const struct made made = invite(guests, 2);

        CHECK(made_is(&made, 2, members));
        received_wait(PMIX_GROUP_INVITE_DECLINED, 1);
        CHECK_STATUS(invite_as(OF_NONE, guests, 1, NULL, 0).status, PMIX_GROUP_INVITE_DECLINED);
        CHECK_STATUS(invite_as(OF_NONE, guests, 1, NULL, 0).status, PMIX_GROUP_INVITE_DECLINED);
    } else if (rank == 1) {
        received_wait(PMIX_GROUP_INVITED, 3);
        CHECK_STATUS(joined, PMIX_SUCCESS);
        CHECK(received_of(PMIX_GROUP_CONSTRUCT_COMPLETE) == 0);
    }
    if (rank != 1) {
        complete_wait(2, members);
    }
    return rank_end();
}

/* GR63, while somebody has not answered yet: the guest who declines is replaced. */
static int rank_of_replacement(int rank)
{
    static const pmix_rank_t guests[] = { 1, 2 }, more[] = { 3 }, members[] = { 0, 2, 3 };

    begin(rank == 1 ? DECLINES : rank == 2 ? NOTES : ACCEPTS);
    if (rank == 0) {
        invite_nb(guests, 2);
        received_wait(PMIX_GROUP_INVITE_DECLINED, 1);
        invite_nb(more, 1);
        server_has_it();
        job_token_put(0);
        (void)end_wait(2);
    } else if (rank == 2) {
        const pmix_proc_t leader = proc_of(JOB_NSPACE, 0);

        invited_wait(0);
        job_token_get(0);
        ends[0] = join(&leader, PMIX_GROUP_ACCEPT);
    } else if (rank == 3) {
        (void)end_wait(1);
    } else {
        invited_wait(0);
    }
    if (rank != 1) {
        CHECK(made_is(&ends[0], 3, members));
        CHECK(rank != 0 || made_is(&ends[1], 3, members));
        complete_wait(3, members);
    }
    return rank_end();
}

/* GR63, when nobody is left who has not answered: the inviter's handler invites another one before
 * it completes. */
static const pmix_rank_t third[] = { 2 };
static struct made replaced;

static void replace(void)
{
    invite_nb(third, 1);
}

static void replace_and_wait(void)
{
    replaced = invite(third, 1);
}

static int last_replaced(int rank, void (*act)(void))
{
    static const pmix_rank_t guests[] = { 1 }, members[] = { 0, 2 };

    begin(rank == 1 ? DECLINES : ACCEPTS);
    if (rank == 0) {
        reply.code = PMIX_GROUP_INVITE_DECLINED;
        reply.act = act;
        const struct made made = invite(guests, 1);

        CHECK(made_is(&made, 2, members));
        received_wait(PMIX_GROUP_INVITE_DECLINED, 1);
        replaced = act == replace ? end_wait(1) : replaced;
        CHECK(made_is(&replaced, 2, members));
    } else if (rank == 1) {
        invited_wait(0);
    }
    if (rank != 1) {
        complete_wait(2, members);
    }
    return rank_end();
}

static int rank_of_last_replaced(int rank)
{
    return last_replaced(rank, replace);
}

static int rank_of_last_replaced_inside(int rank)
{
    return last_replaced(rank, replace_and_wait);
}

/* GR64: the inviter's handler aborts, though all have answered by then. */
static int rank_of_abort_at_yes(int rank)
{
    static const pmix_rank_t guests[] = { 1 };

    begin(ACCEPTS);
    if (rank == 0) {
        reply.code = PMIX_GROUP_INVITE_ACCEPTED;
        reply.says = PMIX_GROUP_CONSTRUCT_ABORT;
        CHECK_STATUS(invite(guests, 1).status, PMIX_GROUP_CONSTRUCT_ABORT);
    } else {
        CHECK_STATUS(end_wait(1).status, PMIX_GROUP_CONSTRUCT_ABORT);
        received_wait(PMIX_GROUP_CONSTRUCT_ABORT, 1);
        CHECK(received_of(PMIX_GROUP_CONSTRUCT_COMPLETE) == 0);
    }
    return rank_end();
}

/* The same while somebody has not answered. */
static int rank_of_abort_at_no(int rank)
{
    static const pmix_rank_t guests[] = { 1, 2 };
    const pmix_proc_t leader = proc_of(JOB_NSPACE, 0);

    begin(rank == 1 ? DECLINES : NOTES);
    if (rank == 0) {
        reply.code = PMIX_GROUP_INVITE_DECLINED;
        reply.says = PMIX_GROUP_CONSTRUCT_ABORT;
        CHECK_STATUS(invite(guests, 2).status, PMIX_GROUP_CONSTRUCT_ABORT);
    } else if (rank == 2) {
        received_wait(PMIX_GROUP_CONSTRUCT_ABORT, 1);
        CHECK_STATUS(join(&leader, PMIX_GROUP_ACCEPT).status, PMIX_ERR_NOT_FOUND);
    }
    rank_fence();
    return rank_end();
}

/* The same by an event of the inviter: all guests hear it, whomever it was for. */
static void abort_publish(bool to_all)
{
    pmix_proc_t to = proc_of(JOB_NSPACE, to_all ? PMIX_RANK_WILDCARD : 1);
    pmix_info_t infos[2];

    infos[0] = info_text(PMIX_GROUP_ID, TEA);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_EVENT_CUSTOM_RANGE, &to, PMIX_PROC), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Notify_event(PMIX_GROUP_CONSTRUCT_ABORT, &me, PMIX_RANGE_CUSTOM, infos, 2,
                                   NULL, NULL),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
}

static int aborted_by_event(int rank, bool to_all)
{
    static const pmix_rank_t guests[] = { 1, 2 };

    begin(rank == 1 ? ACCEPTS : NOTES);
    if (rank == 0) {
        invite_nb(guests, 2);
        received_wait(PMIX_GROUP_INVITE_ACCEPTED, 1);
        abort_publish(to_all);
        CHECK_STATUS(end_wait(1).status, PMIX_GROUP_CONSTRUCT_ABORT);
    } else {
        received_wait(PMIX_GROUP_CONSTRUCT_ABORT, 1);
        CHECK(rank != 1 || end_wait(1).status == PMIX_GROUP_CONSTRUCT_ABORT);
    }
    rank_fence();
    return rank_end();
}

static int rank_of_abort_event(int rank)
{
    return aborted_by_event(rank, true);
}

static int rank_of_abort_event_to_one(int rank)
{
    return aborted_by_event(rank, false);
}

/* GR65: the group without it, whether it had accepted or not; and one that had ended before. */
static int rank_of_death(int rank)
{
    static const pmix_rank_t guests[] = { 1, 2, 3 }, members[] = { 0, 3 };

    begin(rank == 3 ? NOTES : rank == 2 ? ACCEPTS : NOTES);
    if (rank == 0) {
        invite_nb(guests, 3);
        received_wait(PMIX_GROUP_INVITE_FAILED, 2);
        job_token_put(1);
        const struct made made = end_wait(1);

        CHECK(made_is(&made, 2, members));
        CHECK_STATUS(invite_as(OF_NONE, guests, 2, NULL, 0).status, PMIX_GROUP_INVITE_FAILED);
    } else if (rank < 3) {
        received_wait(PMIX_GROUP_INVITED, 1);
        server_has_it();
        raise(SIGKILL);
    } else {
        const pmix_proc_t leader = proc_of(JOB_NSPACE, 0);

        invited_wait(0);
        job_token_get(1);
        const struct made made = join(&leader, PMIX_GROUP_ACCEPT);

        CHECK(made_is(&made, 2, members));
    }
    complete_wait(2, members);
    return rank_end();
}

static int host_of_death(struct job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        const int status = job_wait(job, rank);

        if (WIFSIGNALED(status) != (rank == 1 || rank == 2) ||
            (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
            return 1;
        }
    }
    return 0;
}

/* GR39, GR71, and the same for who finalizes: the guests hear it, and, when nobody leads instead,
 * those who wait are answered. */
static int leader_fails(int rank, bool orderly)
{
    static const pmix_rank_t guests[] = { 1, 2 };

    begin(rank == 1 ? ACCEPTS : NOTES);
    if (rank == 0) {
        invite_nb(guests, 2);
        received_wait(PMIX_GROUP_INVITE_ACCEPTED, 1);
        if (!orderly) {
            raise(SIGKILL);
        }
        return rank_end();
    }
    received_wait(PMIX_GROUP_LEADER_FAILED, 1);
    received_wait(PMIX_GROUP_LEADER_SELECTED, 1);
    CHECK(selected.leader == PMIX_RANK_INVALID);
    CHECK_STATUS(selected.status, PMIX_GROUP_LEADER_FAILED);
    if (rank == 1) {
        CHECK_STATUS(end_wait(1).status, PMIX_GROUP_LEADER_FAILED);
    } else {
        CHECK_STATUS(join(NULL, PMIX_GROUP_ACCEPT).status, PMIX_ERR_NOT_FOUND);
    }
    return rank_end();
}

static int rank_of_leader_death(int rank)
{
    return leader_fails(rank, false);
}

static int host_of_leader_death(struct job *job)
{
    const bool killed = WIFSIGNALED(job_wait(job, 0));

    return killed && job_wait(job, 1) == 0 && job_wait(job, 2) == 0 ? 0 : 1;
}

static int rank_of_leader_end(int rank)
{
    return leader_fails(rank, true);
}

/* GR38: rank 1 leads in place of the inviter.  What rank 3 has said before that it hears now, too;
 * rank 2 answers to whom it was invited by; and rank 4 is invited by the new leader. */
static int rank_of_new_leader(int rank)
{
    static const pmix_rank_t guests[] = { 1, 2, 3 }, more[] = { 4 }, members[] = { 1, 2, 4 };
    const pmix_proc_t old = proc_of(JOB_NSPACE, 0);

    begin(rank == 3 ? DECLINES : rank == 4 ? ACCEPTS : NOTES);
    if (rank == 0) {
        invite_nb(guests, 3);
        received_wait(PMIX_GROUP_INVITE_ACCEPTED, 1);
        received_wait(PMIX_GROUP_INVITE_DECLINED, 1);
        raise(SIGKILL);
    }
    if (rank == 1) {
        reply.code = PMIX_GROUP_LEADER_FAILED;
        reply.leads = true;
        invited_wait(0);
        CHECK_STATUS(PMIx_Group_join_nb(TEA, &old, PMIX_GROUP_ACCEPT, NULL, 0, on_end, NULL),
                     PMIX_SUCCESS);
    }
    if (rank < 3) {
        received_wait(PMIX_GROUP_LEADER_SELECTED, 1);
        CHECK(selected.leader == 1);
    }
    if (rank == 1) {
        invite_nb(more, 1);
        server_has_it();
        job_token_put(0);
        received_wait(PMIX_GROUP_INVITE_ACCEPTED, 2);
        const struct made again = end_wait(2);

        CHECK(made_is(&again, 3, members));
    } else if (rank == 2) {
        job_token_get(0);
        ends[0] = join(&old, PMIX_GROUP_ACCEPT);
        end_count = 1;
    } else if (rank > 2) {
        invited_wait(rank == 3 ? 0 : 1);
    }
    if (rank != 3) {
        const struct made made = end_wait(1);

        CHECK(made_is(&made, 3, members));
        complete_wait(3, members);
    }
    return rank_end();
}

static int host_of_new_leader(struct job *job)
{
    int bad = !WIFSIGNALED(job_wait(job, 0));

    for (int rank = 1; rank < job->size; rank++) {
        bad |= job_wait(job, rank) != 0;
    }
    return bad;
}

/* GR66: rank 1 has no handler, so that only time ends it, for all; X21: the name is free. */
static int timed_out(int rank, bool by_guest)
{
    static const pmix_rank_t guests[] = { 1, 2 };
    const int seconds = 1;
    pmix_info_t info;

    begin(NOTES);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT), PMIX_SUCCESS);
    if (rank == 0) {
        CHECK_STATUS(invite_as(TEA, guests, 2, &info, !by_guest).status, PMIX_ERR_TIMEOUT);
        CHECK(received_of(PMIX_GROUP_CONSTRUCT_ABORT) == 0);
        if (!by_guest) {
            CHECK_STATUS(invite_as(TEA, guests, 2, &info, 1).status, PMIX_ERR_TIMEOUT);
        }
    } else {
        invited_wait(0);
        if (rank == 2) {
            CHECK_STATUS(PMIx_Group_join(TEA, NULL, PMIX_GROUP_ACCEPT, &info, by_guest, NULL, NULL),
                         PMIX_ERR_TIMEOUT);
        }
        received_wait(PMIX_GROUP_CONSTRUCT_ABORT, by_guest ? 1 : 2);
    }
    rank_fence();
    return rank_end();
}

static int rank_of_timeout(int rank)
{
    return timed_out(rank, false);
}

static int rank_of_guest_timeout(int rank)
{
    return timed_out(rank, true);
}

/* ---- what is refused ------------------------------------------------------------------------ */

/* GR69, GR70, GR74, and a join twice. */
static int rank_of_bad_join(int rank)
{
    static const pmix_rank_t guests[] = { 1, 3 }, members[] = { 0, 1 };
    const pmix_proc_t leader = proc_of(JOB_NSPACE, 0), other = proc_of(JOB_NSPACE, 2);
    pmix_proc_t all;

    CHECK_STATUS(PMIx_Group_join(TEA, &leader, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL),
                 PMIX_ERR_INIT);
    begin(NOTES);
    PMIx_Load_procid(&all, TEA, PMIX_RANK_WILDCARD);
    CHECK_STATUS(join(&leader, PMIX_GROUP_ACCEPT).status, PMIX_ERR_NOT_FOUND);
    rank_fence();
    if (rank == 0) {
        invite_nb(guests, 2);
        server_has_it();
        CHECK_STATUS(join(&leader, PMIX_GROUP_ACCEPT).status, PMIX_ERR_INVALID_OPERATION);
    }
    rank_fence();
    CHECK_STATUS(PMIx_Fence(&all, 1, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    if (rank == 1) {
        CHECK_STATUS(join(&other, PMIX_GROUP_ACCEPT).status, PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(join(&leader, (pmix_group_opt_t)7).status, PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(PMIx_Group_join("", &leader, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL),
                     PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(PMIx_Group_join_nb(TEA, &leader, PMIX_GROUP_ACCEPT, NULL, 0, on_end, NULL),
                     PMIX_SUCCESS);
        server_has_it();
        CHECK_STATUS(join(&leader, PMIX_GROUP_ACCEPT).status, PMIX_ERR_INVALID_OPERATION);
    } else if (rank == 2) {
        CHECK_STATUS(join(&leader, PMIX_GROUP_DECLINE).status, PMIX_ERR_NOT_FOUND);
    }
    rank_fence();
    if (rank == 3) {
        CHECK_STATUS(join(&leader, PMIX_GROUP_DECLINE).status, PMIX_SUCCESS);
    } else if (rank < 2) {
        const struct made made = end_wait(1);

        CHECK(made_is(&made, 2, members));
    }
    rank_fence(); /* who finalizes is no member any more */
    return rank_end();
}

/* Names that are taken, and processes that cannot be asked. */
static int rank_of_bad_invite(int rank)
{
    static const pmix_rank_t both[] = { 0, 1 }, self[] = { 0 }, nobody[] = { 9 };
    char long_name[PMIX_MAX_NSLEN + 2] = { 0 };
    const pmix_proc_t peer = proc_of(JOB_NSPACE, 1);

    memset(long_name, 'n', PMIX_MAX_NSLEN + 1);
    CHECK_STATUS(PMIx_Group_invite(TEA, &peer, 1, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
    begin(NOTES);
    if (rank == 0) {
        invite_nb(both, 2);
        server_has_it();
    }
    rank_fence();
    if (rank == 1) {
        CHECK_STATUS(invite(both, 2).status, PMIX_ERR_EXISTS);
    } else if (rank == 0) {
        CHECK_STATUS(PMIx_Group_construct(TEA, &me, 1, NULL, 0, NULL, NULL), PMIX_ERR_EXISTS);
        CHECK_STATUS(invite_as(JOB_NSPACE, both, 2, NULL, 0).status, PMIX_ERR_EXISTS);
        CHECK_STATUS(invite_as(long_name, both, 2, NULL, 0).status, PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(invite_as("", both, 2, NULL, 0).status, PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(invite_as(NULL, both, 2, NULL, 0).status, PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(invite_as("of.one", self, 1, NULL, 0).status, PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(invite_as("of.nobody", nobody, 1, NULL, 0).status, PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(PMIx_Group_invite(OF_NONE, NULL, 0, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
        CHECK(received_of(PMIX_GROUP_INVITED) == 0);
    }
    rank_fence();
    if (rank == 1) {
        CHECK_STATUS(join(NULL, PMIX_GROUP_DECLINE).status, PMIX_SUCCESS);
        received_wait(PMIX_GROUP_INVITED, 1);
    } else {
        CHECK_STATUS(end_wait(1).status, PMIX_GROUP_INVITE_DECLINED);
    }
    return rank_end();
}

/* A process may have so many open, and no more; those that are over do not count. */
#define OPEN_MAX 1024
#define TOO_MANY (OPEN_MAX + 100)

static size_t refused, declined;

static void on_one_of_many(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                           pmix_release_cbfunc_t release, void *release_cbdata)
{
    pthread_mutex_lock(&received_lock);
    refused += status == PMIX_ERR_OUT_OF_RESOURCE;
    declined += status == PMIX_GROUP_INVITE_DECLINED;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

static int rank_of_many(int rank)
{
    const pmix_proc_t peer = proc_of(JOB_NSPACE, 1);
    char name[32];

    rank_begin(&me);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; rank == 0 && i < TOO_MANY; i++) {
            snprintf(name, sizeof(name), "many.%d", i);
            CHECK_STATUS(PMIx_Group_invite_nb(name, &peer, 1, NULL, 0, on_one_of_many, NULL),
                         PMIX_SUCCESS);
        }
        if (rank == 0) {
            server_has_it();
        }
        rank_fence();
        for (int i = 0; rank == 1 && i < TOO_MANY; i++) {
            snprintf(name, sizeof(name), "many.%d", i);
            CHECK_STATUS(PMIx_Group_join(name, NULL, PMIX_GROUP_DECLINE, NULL, 0, NULL, NULL),
                         i < OPEN_MAX ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
        }
        rank_fence();
        pthread_mutex_lock(&received_lock);
        while (rank == 0 && refused + declined < (size_t)(round + 1) * TOO_MANY) {
            received_wait_locked("ends of invitations", TOO_MANY);
        }
        CHECK(rank != 0 || declined == (size_t)(round + 1) * OPEN_MAX);
        pthread_mutex_unlock(&received_lock);
    }
    return rank_end();
}

/* Processes of another node are not reached, and that is said. */
#define SPREAD "spread.job"

static int rank_of_elsewhere(int rank)
{
    pmix_proc_t there;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        job_token_get(2);
        PMIx_Load_procid(&there, SPREAD, 1);
        CHECK_STATUS(PMIx_Group_invite(TEA, &there, 1, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
        there.rank = PMIX_RANK_WILDCARD;
        CHECK_STATUS(PMIx_Group_invite(TEA, &there, 1, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
    }
    return rank_end();
}

static int host_of_elsewhere(struct job *job)
{
    job_elsewhere = 1;
    job_add(job, SPREAD, 1);
    job_elsewhere = 0;
    job_token_put(2);
    return 0;
}

static const struct job_case cases[] = {
    { .name = "accept", .size = 3, .rank = rank_of_accept },
    { .name = "untold", .size = 3, .rank = rank_of_unnotified },
    { .name = "places", .size = 3, .rank = rank_of_places },
    { .name = "late", .size = 2, .rank = rank_of_late },
    { .name = "thread", .size = 3, .rank = rank_of_thread },
    { .name = "handler", .size = 3, .rank = rank_of_handler },
    { .name = "context", .size = 3, .rank = rank_of_context },
    { .name = "gifts", .size = 3, .rank = rank_of_gifts },
    { .name = "decline", .size = 3, .rank = rank_of_decline },
    { .name = "replacement", .size = 4, .rank = rank_of_replacement },
    { .name = "last.replaced", .size = 3, .rank = rank_of_last_replaced },
    { .name = "last.replaced.inside", .size = 3, .rank = rank_of_last_replaced_inside },
    { .name = "abort.at.yes", .size = 2, .rank = rank_of_abort_at_yes },
    { .name = "abort.at.no", .size = 3, .rank = rank_of_abort_at_no },
    { .name = "abort.event", .size = 3, .rank = rank_of_abort_event },
    { .name = "abort.event.to.one", .size = 3, .rank = rank_of_abort_event_to_one },
    { .name = "death",
      .size = 4,
      .rank = rank_of_death,
      .host = host_of_death,
      .host_judges = true },
    { .name = "leader.death",
      .size = 3,
      .rank = rank_of_leader_death,
      .host = host_of_leader_death,
      .host_judges = true },
    { .name = "leader.end", .size = 3, .rank = rank_of_leader_end },
    { .name = "new.leader",
      .size = 5,
      .rank = rank_of_new_leader,
      .host = host_of_new_leader,
      .host_judges = true },
    { .name = "timeout", .size = 3, .rank = rank_of_timeout },
    { .name = "guest.timeout", .size = 3, .rank = rank_of_guest_timeout },
    { .name = "bad.join", .size = 4, .rank = rank_of_bad_join },
    { .name = "bad.invite", .size = 2, .rank = rank_of_bad_invite },
    { .name = "elsewhere", .size = 1, .rank = rank_of_elsewhere, .host = host_of_elsewhere },
    { .name = "many", .size = 2, .rank = rank_of_many },
};

JOB_MAIN(cases)
