/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_said.c - whose answer it is, and what all hear of it. */
#include "server/engine/group_said.h"

#include <pmix.h>

#include "server/engine/collective.h"
#include "server/engine/collective_kind.h"
#include "server/engine/event_made.h"
#include "server/engine/group.h"
#include "server/engine/group_lead.h"

/* The host may end the job inside an event: last. */
static void tell(struct sx_server *server, const char *name, const struct sx_group_verdict *verdict,
                 const struct sx_proc_list *to)
{
    const bool is_led = verdict->leader.rank != PMIX_RANK_INVALID;
    const struct sx_event_note choice[] = {
        { .key = PMIX_GROUP_ID, .text = name },
        { .key = PMIX_GROUP_LEADER, .procs = &verdict->leader, .count = 1 },
    };
    const struct sx_event_note update[] = {
        { .key = PMIX_GROUP_ID, .text = name },
        { .key = PMIX_GROUP_MEMBERSHIP, .procs = to->all, .count = to->count },
    };

    if (verdict->is_choice) {
        sx_event_of_proc(server, PMIX_GROUP_LEADER_SELECTED,
                         is_led ? &verdict->leader : &verdict->proc, to, choice, is_led ? 2 : 1);
    }
    if (verdict->lost != NULL) {
        sx_event_of_proc(server, PMIX_GROUP_MEMBERSHIP_UPDATE, &verdict->proc, to, update, 2);
    }
}

static void construct_hears(struct sx_server *server, struct sx_collective *collective,
                            struct sx_client *client, const struct sx_group_said *said)
{
    const struct sx_group_verdict verdict = sx_group_lead_hear(collective, client, said);
    struct sx_proc_list to = { .all = NULL };

    if (!verdict.is_over && verdict.lost == NULL) {
        return;
    }
    sx_group_lead_hearers(collective, PMIX_GROUP_MEMBERSHIP_UPDATE, verdict.lost, &to);
    if (verdict.is_over) {
        sx_collective_stop(collective, verdict.status);
    } else {
        sx_collective_go_on(collective, verdict.lost);
    }
    tell(server, said->group, &verdict, &to);
    sx_proc_list_clear(&to);
}

bool sx_group_on_said(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns)
{
    const struct sx_group_said *const said = frame->opened.head;
    struct sx_collective *const building = sx_group_being_built(server, said->group);

    (void)now_ns;
    if (said->word > SX_GROUP_ABORTS) {
        return false;
    }
    if (building != NULL && building->plan != NULL) {
        construct_hears(server, building, client, said);
    }
    return true;
}
