/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_invite.c - rank 0 invites all other ranks to a group; they join with what the event has told
 * them, and leave it one by one, of which rank 0 hears.
 *
 * Build and run:   cc group_invite.c $(pkg-config --cflags --libs shmix) -lpthread -o group_invite
 *                  shmix run -n 4 ./group_invite */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define GROUP "example.party"

static pmix_proc_t me;

/* What the handlers have heard and the callback was told; under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static size_t left, members;

static void must(pmix_status_t status, const char *what)
{
    if (status < 0) { /* a registration returns the number of its handler */
        fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(status));
        exit(1);
    }
}

static void publish(size_t *count, size_t value)
{
    pthread_mutex_lock(&lock);
    *count = value;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&lock);
}

static void wait_for(const size_t *count, size_t value)
{
    pthread_mutex_lock(&lock);
    while (*count < value) {
        pthread_cond_wait(&news, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static const pmix_value_t *find(const pmix_info_t info[], size_t ninfo, const char *key)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, key) == 0) {
            return &info[i].value;
        }
    }
    fprintf(stderr, "rank %u: nobody has said %s\n", me.rank, key);
    exit(1);
}

/* The group is complete. */
static void on_joined(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release, void *release_cbdata)
{
    (void)cbdata;
    must(status, "PMIx_Group_join_nb");
    const size_t count = find(info, ninfo, PMIX_GROUP_MEMBERSHIP)->data.darray->size;

    if (release != NULL) {
        release(release_cbdata);
    }
    publish(&members, count);
}

/* Somebody invites this process.  It says yes and does not wait here: others have to answer first. */
static void on_invited(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                       size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *const group = find(info, ninfo, PMIX_GROUP_ID)->data.string;

    (void)id, (void)code, (void)results, (void)nresults;
    printf("rank %u is invited to %s by rank %u\n", me.rank, group, source->rank);
    must(PMIx_Group_join_nb(group, source, PMIX_GROUP_ACCEPT, NULL, 0, on_joined, NULL),
         "PMIx_Group_join_nb");
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_left(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)code, (void)source, (void)results, (void)nresults;
    if (me.rank == 0) {
        printf("rank %u has left\n", find(info, ninfo, PMIX_EVENT_AFFECTED_PROC)->data.proc->rank);
    }
    publish(&left, left + 1); /* handlers of a process run one after the other */
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void receive(pmix_status_t code, pmix_notification_fn_t handler)
{
    must(PMIx_Register_event_handler(&code, 1, NULL, 0, handler, NULL, NULL),
         "PMIx_Register_event_handler");
}

int main(void)
{
    pmix_info_t *results;
    pmix_proc_t all;
    size_t count;

    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    receive(PMIX_GROUP_INVITED, on_invited);
    receive(PMIX_GROUP_LEFT, on_left);

    if (me.rank == 0) {
        PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
        must(PMIx_Group_invite(GROUP, &all, 1, NULL, 0, &results, &count), "PMIx_Group_invite");
        members = find(results, count, PMIX_GROUP_MEMBERSHIP)->data.darray->size;
        PMIX_INFO_FREE(results, count);
        printf("%s has %zu members\n", GROUP, members);
    } else {
        wait_for(&members, 1);
    }

    /* All of them meet under the group's name, before the first one leaves. */
    PMIX_LOAD_PROCID(&all, GROUP, PMIX_RANK_WILDCARD);
    must(PMIx_Fence(&all, 1, NULL, 0), "PMIx_Fence");
    if (me.rank == 0) {
        wait_for(&left, members - 1);
    }
    must(PMIx_Group_leave(GROUP, NULL, 0), "PMIx_Group_leave");

    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
