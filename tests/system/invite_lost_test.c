/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_lost_test.c - an inviter that has lost what it was asked is asked again: its invitation
 * ends.  GR64 */
#include <shmix.h>

#include "job.h"
#include "received.h"

#define FLOOD (PMIX_EXTERNAL_ERR_BASE - 7)
#define FLOOD_COUNT 600
#define FLOOD_BYTES 3000 /* together more than the ring has, and much more than is kept beside it */
#define KEPT_BYTES "65536"

enum { DEAF, FLOODED }; /* tokens */

static pmix_proc_t me;

/* From the first answer on the inviter reads no events until everything has been published. */
static void on_accepted(size_t id, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    job_token_put(DEAF);
    job_token_get(FLOODED);
    received_note(id, code, source, info, ninfo, nresults);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void on_end(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                   pmix_release_cbfunc_t release, void *release_cbdata)
{
    received_note(0, status, &me, info, ninfo, 0);
    if (release != NULL) {
        release(release_cbdata);
    }
}

static void invites(void)
{
    pmix_status_t accepted = PMIX_GROUP_INVITE_ACCEPTED;
    pmix_status_t codes[] = { PMIX_GROUP_INVITE_DECLINED, SHMIX_ERR_EVENTS_LOST };
    pmix_proc_t guests[2];

    CHECK(PMIx_Register_event_handler(&accepted, 1, NULL, 0, on_accepted, NULL, NULL) >= 0);
    (void)receive_codes(codes, 2, NULL);
    for (pmix_rank_t i = 0; i < 2; i++) {
        PMIx_Load_procid(&guests[i], JOB_NSPACE, i + 1);
    }
    CHECK_STATUS(PMIx_Group_invite_nb("tea", guests, 2, NULL, 0, on_end, NULL), PMIX_SUCCESS);
    received_wait(PMIX_SUCCESS, 1); /* without a call that would take in events */
    CHECK(received_of(SHMIX_ERR_EVENTS_LOST) > 0);
    CHECK(received_of(PMIX_GROUP_INVITE_DECLINED) == 1);
}

static void flood(void)
{
    static char bytes[FLOOD_BYTES];
    pmix_byte_object_t object = { .bytes = bytes, .size = sizeof(bytes) };
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, "bytes", &object, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
    for (int i = 0; i < FLOOD_COUNT; i++) {
        CHECK_STATUS(PMIx_Notify_event(FLOOD, &me, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
                     PMIX_SUCCESS);
    }
    PMIX_INFO_DESTRUCT(&info);
    server_has_it();
}

static int rank_of_lost(int rank)
{
    pmix_status_t invited = PMIX_GROUP_INVITED;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        invites();
    } else {
        (void)receive_codes(&invited, 1, NULL);
        received_wait(PMIX_GROUP_INVITED, 1);
    }
    if (rank == 1) {
        CHECK_STATUS(PMIx_Group_join("tea", NULL, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    } else if (rank == 2) {
        job_token_get(DEAF);
        CHECK_STATUS(PMIx_Group_join("tea", NULL, PMIX_GROUP_DECLINE, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
        flood();
        job_token_put(FLOODED);
    }
    return rank_end();
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { .name = "lost", .size = 3, .rank = rank_of_lost },
    };

    setenv("SHMIX_SERVER_CACHE_BYTES", KEPT_BYTES, 1);
    return job_main(argc, argv, cases, 1);
}
