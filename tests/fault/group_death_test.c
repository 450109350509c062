/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_death_test.c - one of three members of a group leaves it, finalizes, is killed (kill -9), or
 * stands still (SIGSTOP), in every state of the group behind its construct.  A table of states and
 * endings: each other member gets exactly one answer to each of its calls, and the event of that
 * end once or not at all.  GR51 GR52 GR53 GR54 GR76 GR79 GR80 GR81 GR84 GR85 GR86 X16 X22 */
#include "obedient.h"

#define GROUP "mortal.group"

/* ---- the processes --------------------------------------------------------------------------- */

enum {
    CONSTRUCT = 1,
    CONSTRUCT_NOTIFYING, /* the others hear of the end of a member */
    CONSTRUCT_GOING_ON,  /* what they do together goes on without it */
    FENCE,
    FENCE_WITHOUT_THE_DEAD,
    FENCE_BRIEFLY, /* with a time limit */
    LEAVE_GROUP,
    DESTRUCT,
    DESTRUCT_BRIEFLY,
};

static void on_constructed(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                           pmix_release_cbfunc_t release, void *release_data)
{
    if (release != NULL) {
        release(release_data);
    }
    obedient_answered(status, cbdata);
}

static const struct {
    const char *key; /* of the one directive; NULL: there is none */
    int number;      /* PMIX_INT, if it is not a flag */
} said[] = {
    [CONSTRUCT_NOTIFYING] = { PMIX_GROUP_NOTIFY_TERMINATION, 0 },
    [CONSTRUCT_GOING_ON] = { PMIX_GROUP_FT_COLLECTIVE, 0 },
    [FENCE_WITHOUT_THE_DEAD] = { PMIX_GROUP_FT_COLLECTIVE, 0 },
    [FENCE_BRIEFLY] = { PMIX_TIMEOUT, LIMIT_SECONDS },
    [DESTRUCT_BRIEFLY] = { PMIX_TIMEOUT, LIMIT_SECONDS },
};

static size_t words_of(uint32_t order, pmix_info_t *info)
{
    const bool yes = true;

    if (order > DESTRUCT_BRIEFLY || said[order].key == NULL) {
        return 0;
    }
    CHECK_STATUS(said[order].number == 0
                     ? PMIx_Info_load(info, said[order].key, &yes, PMIX_BOOL)
                     : PMIx_Info_load(info, said[order].key, &said[order].number, PMIX_INT),
                 PMIX_SUCCESS);
    return 1;
}

static pmix_status_t call(uint32_t order, const pmix_info_t *info, size_t ninfo)
{
    pmix_proc_t job, group;

    PMIx_Load_procid(&job, OBEDIENT_JOB, PMIX_RANK_WILDCARD);
    PMIx_Load_procid(&group, GROUP, PMIX_RANK_WILDCARD);
    if (order < FENCE) {
        return PMIx_Group_construct_nb(GROUP, &job, 1, info, ninfo, on_constructed, NULL);
    }
    if (order < LEAVE_GROUP) {
        return PMIx_Fence_nb(&group, 1, info, ninfo, obedient_answered, NULL);
    }
    return order == LEAVE_GROUP
               ? PMIx_Group_leave_nb(GROUP, info, ninfo, obedient_answered, NULL)
               : PMIx_Group_destruct_nb(GROUP, info, ninfo, obedient_answered, NULL);
}

static void act(uint32_t order)
{
    pmix_info_t info;
    const size_t ninfo = words_of(order, &info);

    CHECK_STATUS(call(order, &info, ninfo), PMIX_SUCCESS);
}

static int role_obedient(const char *arg)
{
    pmix_status_t codes[] = { PMIX_GROUP_LEFT, PMIX_GROUP_MEMBER_FAILED };

    return obedient_role(arg, codes, 2, act);
}

/* ---- states and endings ---------------------------------------------------------------------- */

static void all_do(uint32_t what)
{
    order_all(what);
    answered_all(PMIX_SUCCESS);
}

static void survivors_do(uint32_t what)
{
    order_survivors(what);
    answered_survivors(PMIX_SUCCESS);
}

static void end_member(enum ending ending)
{
    if (ending == LEAVES) {
        order(VICTIM, LEAVE_GROUP);
        answered(VICTIM, PMIX_SUCCESS);
    } else {
        end_victim(ending);
    }
}

/* What is left of the group works, and goes. */
static void finish_group(enum ending ending)
{
    if (is_over(ending)) {
        survivors_do(FENCE);
        survivors_do(DESTRUCT);
    } else {
        all_do(FENCE);
        all_do(DESTRUCT);
    }
    if (ending == LEAVES) { /* and it is none of its members any more */
        order(VICTIM, LEAVE_GROUP);
        answered(VICTIM, PMIX_ERR_NOT_FOUND);
    }
}

/* The others wait for one that only stands still; it has called nothing yet. */
static void stopped_in(uint32_t what, uint32_t briefly, enum ending ending)
{
    order_survivors(ending == STOP_AND_LIMIT ? briefly : what);
    if (ending == STOP_AND_LIMIT) {
        answered_survivors(PMIX_ERR_TIMEOUT);
        victim_goes_on();
    } else {
        victim_goes_on();
        order(VICTIM, what);
        answered_all(PMIX_SUCCESS);
    }
}

static void idle_after(uint32_t construct, enum ending ending)
{
    all_do(construct);
    end_member(ending);
    if (!is_over(ending)) {
        stopped_in(FENCE, FENCE_BRIEFLY, ending);
    }
    finish_group(ending);
}

static void idle(enum ending ending)
{
    idle_after(CONSTRUCT, ending);
}

static void idle_and_notifying(enum ending ending)
{
    idle_after(CONSTRUCT_NOTIFYING, ending);
}

/* One waits for the victim in a fence, which ends with @want when the victim does. */
static void waited_for(uint32_t fence, pmix_status_t want, enum ending ending)
{
    order(FIRST, ending == STOP_AND_LIMIT ? FENCE_BRIEFLY : fence);
    end_member(ending);
    if (ending == KILL || ending == FINALIZES) {
        if (want == PMIX_SUCCESS) {
            order(OTHER, fence);
        }
        answered(FIRST, want);
        if (want != PMIX_SUCCESS) {
            order(OTHER, fence); /* it is told the same */
            answered(OTHER, want);
        }
    } else if (ending == LEAVES) {
        order(OTHER, fence);
        answered_survivors(want);
    } else if (ending == STOP) {
        order(OTHER, fence);
        victim_goes_on();
        order(VICTIM, fence);
        answered_all(PMIX_SUCCESS);
    } else {
        answered(FIRST, PMIX_ERR_TIMEOUT);
        victim_goes_on();
    }
}

static void in_a_fence(enum ending ending)
{
    all_do(CONSTRUCT);
    waited_for(FENCE, status_of(ending), ending);
    finish_group(ending);
}

static void in_a_fence_without_the_dead(enum ending ending)
{
    all_do(CONSTRUCT_NOTIFYING);
    waited_for(FENCE_WITHOUT_THE_DEAD, PMIX_SUCCESS, ending);
    finish_group(ending);
}

static void in_a_fence_of_a_group_that_goes_on(enum ending ending)
{
    all_do(CONSTRUCT_GOING_ON);
    waited_for(FENCE, PMIX_SUCCESS, ending);
    finish_group(ending);
}

/* It has called the fence, the others have not. */
static void fencing_itself(enum ending ending)
{
    all_do(CONSTRUCT);
    order(VICTIM, FENCE);
    if (ending == LEAVES) { /* its fence is still open, and is answered behind the leave */
        order(VICTIM, LEAVE_GROUP);
        order_survivors(FENCE);
        answered_all(PMIX_SUCCESS);
    } else {
        end_member(ending);
        survivors_do(FENCE);
        if (!is_over(ending)) {
            victim_goes_on();
            answered(VICTIM, PMIX_SUCCESS);
        }
    }
    finish_group(ending);
}

/* One waits for it in destruct. */
static void half_destructed_after(uint32_t construct, pmix_status_t want, enum ending ending)
{
    all_do(construct);
    order(FIRST, ending == STOP_AND_LIMIT ? DESTRUCT_BRIEFLY : DESTRUCT);
    end_member(ending);
    if (ending == STOP) {
        order(OTHER, DESTRUCT);
        victim_goes_on();
        order(VICTIM, DESTRUCT);
        answered_all(PMIX_SUCCESS);
    } else if (ending == STOP_AND_LIMIT) {
        answered(FIRST, PMIX_ERR_TIMEOUT);
        victim_goes_on();
        finish_group(ending);
    } else if (want == PMIX_SUCCESS) {
        order(OTHER, DESTRUCT);
        answered_survivors(PMIX_SUCCESS);
    } else {
        answered(FIRST, want);
        order(OTHER, DESTRUCT); /* it is told the same */
        answered(OTHER, want);
        finish_group(ending);
    }
}

static void half_destructed(enum ending ending)
{
    half_destructed_after(CONSTRUCT, ending == LEAVES ? PMIX_SUCCESS : status_of(ending), ending);
}

static void half_destructed_and_notifying(enum ending ending)
{
    half_destructed_after(CONSTRUCT_NOTIFYING, PMIX_SUCCESS, ending);
}

/* It has called destruct, the others have not. */
static void destructing(enum ending ending)
{
    all_do(CONSTRUCT_NOTIFYING);
    order(VICTIM, DESTRUCT);
    if (ending != LEAVES) {
        end_member(ending);
    }
    survivors_do(DESTRUCT);
    if (!is_over(ending)) {
        victim_goes_on();
    }
    if (ending == LEAVES || !is_over(ending)) {
        answered(VICTIM, PMIX_SUCCESS);
    }
}

static void destructed(enum ending ending)
{
    all_do(CONSTRUCT_NOTIFYING);
    all_do(DESTRUCT);
    if (ending == LEAVES) {
        order(VICTIM, LEAVE_GROUP);
        answered(VICTIM, PMIX_ERR_NOT_FOUND);
        return;
    }
    end_member(ending);
    if (!is_over(ending)) {
        victim_goes_on();
    }
}

static const struct state {
    const char *name;
    void (*play)(enum ending ending);
    bool has_left;    /* the others hear of a leave, unless it came too late ... */
    bool is_notified; /* ... and of the end of a member */
} states[] = {
    { "idle", idle, true, false },
    { "idle, in a group that tells", idle_and_notifying, true, true },
    { "one in a fence", in_a_fence, true, false },
    { "one in a fence without the dead", in_a_fence_without_the_dead, true, true },
    { "one in a fence of a group that goes on", in_a_fence_of_a_group_that_goes_on, true, false },
    { "itself in a fence", fencing_itself, true, false },
    { "one in destruct", half_destructed, true, false },
    { "one in destruct, in a group that tells", half_destructed_and_notifying, true, true },
    { "itself in destruct", destructing, false, false },
    { "destructed", destructed, false, false },
};

static int case_of(void)
{
    const enum ending ending = (enum ending)fault_case->arg;

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        const bool leaves = ending == LEAVES;
        const bool notified = leaves ? states[i].has_left
                                     : states[i].is_notified && is_over(ending);

        fault_say("%s", states[i].name);
        obedient_begin();
        states[i].play(ending);
        obedient_finish(notified ? 1 : 0, leaves ? PMIX_GROUP_LEFT : PMIX_GROUP_MEMBER_FAILED);
    }
    return 0;
}

static const struct fault_case cases[] = {
    { "leave", case_of, LEAVES },
    { "kill", case_of, KILL },
    { "finalize", case_of, FINALIZES },
    { "stop", case_of, STOP },
    { "stop_and_limit", case_of, STOP_AND_LIMIT },
};

static const struct fault_role roles[] = { { "obedient", role_obedient } };

FAULT_MAIN(cases, roles)
