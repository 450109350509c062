/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lifecycle.c - the engines that are called when namespaces and clients begin and end.
 *
 * The order matters when a client ends.  First the collectives that it ends are answered, then its
 * events are published, and the host is called last. */
#include "server/model/family.h"

#include <stddef.h>

#include "server/cleanup/cleanup.h"
#include "server/collective/collective.h"
#include "server/data/data.h"
#include "server/entry/entry.h"
#include "server/event/event.h"
#include "server/group/group.h"
#include "server/iof/iof.h"
#include "server/job/job.h"
#include "server/log/logging.h"
#include "server/manage/manage.h"
#include "server/model/setup_env.h"
#include "server/port/port.h"
#include "server/publish/publish.h"
#include "server/query/query.h"

const struct sx_family sx_families[] = {
    {
        .name = "journal", /* the cause stands above its consequences */
        .nspace_gone = sx_journal_nspace_gone,
        .client_connected = sx_journal_client_connected,
        .client_left = sx_journal_client_left,
        .client_departed = sx_journal_client_departed,
        .client_lost = sx_journal_client_lost,
    },
    {
        .name = "reaper",
        .client_expected = sx_reaper_await_nobody,
        .client_connected = sx_reaper_watch,
        .client_closed = sx_reaper_unwatch,
        .client_removed = sx_reaper_await_nobody,
        .name_claimed = sx_reaper_name_claimed,
    },
    {
        .name = "derive",
        .client_connected = sx_derive_process,
    },
    {
        .name = "modex",
        .nspace_registered = sx_modex_nspace_registered,
        .client_expected = sx_modex_client_expected,
        .client_closed = sx_modex_client_gone,
        .client_gone = sx_modex_client_gone,
        .client_removed = sx_modex_client_removed,
    },
    {
        .name = "connect", /* it gives collectives the consequence of a member's end */
        .nspace_gone = sx_connect_nspace_gone,
        .client_left = sx_connect_client_gone,
        .client_gone = sx_connect_client_lost,
        .end = sx_connects_deinit,
    },
    {
        .name = "group", /* as well */
        .name_claimed = sx_group_name_claimed,
        .client_left = sx_group_client_gone,
        .client_gone = sx_group_client_gone,
        .events_missed = sx_group_construct_missed,
        .event_relayed = sx_group_event_relayed,
    },
    {
        .name = "collective",
        .nspace_registered = sx_collective_nspace_registered,
        .nspace_gone = sx_collective_nspace_gone,
        .client_added = sx_collective_client_added,
        .client_expected = sx_collective_client_added,
        .client_connected = sx_collective_client_connected,
        .client_left = sx_collective_client_gone,
        .client_departed = sx_collective_client_gone,
        .client_gone = sx_collective_client_gone,
        .client_removed = sx_collective_client_looks,
        .stop = sx_collective_end_all,
    },
    {
        .name = "invite", /* waiters for the end of an invitation are answered, not dropped */
        .nspace_gone = sx_invite_nspace_gone,
        .name_claimed = sx_invite_name_claimed,
        .client_added = sx_invite_client_added,
        .client_left = sx_invite_client_gone,
        .client_gone = sx_invite_client_gone,
        .client_removed = sx_invite_client_removed,
        .events_missed = sx_invite_missed,
        .group_aborted = sx_invite_aborted,
        .stop = sx_invites_stop,
        .end = sx_invites_deinit,
    },
    {
        .name = "pset",
        .nspace_gone = sx_pset_nspace_gone,
        .client_added = sx_pset_client_added,
        .client_expected = sx_pset_client_added,
        .client_left = sx_pset_client_gone,
        .client_gone = sx_pset_client_gone,
    },
    {
        .name = "monitor",
        .client_left = sx_monitor_client_gone,
        .client_closed = sx_monitor_client_gone,
        .client_gone = sx_monitor_client_gone,
    },
    {
        .name = "credential",
        .client_left = sx_credential_client_gone,
        .client_closed = sx_credential_client_gone,
        .client_gone = sx_credential_client_gone,
    },
    {
        .name = "span",
        .stop = sx_connect_nodess_deinit,
    },
    {
        .name = "group values",
        .nspace_gone = sx_group_values_nspace_gone,
    },
    {
        .name = "answer", /* what is being written stays until it is done */
        .stop = sx_answers_stop,
    },
    {
        .name = "pending",
        .client_left = sx_pending_client_left,
        .client_closed = sx_pending_client_gone,
        .client_gone = sx_pending_client_gone,
        .end = sx_pendings_deinit,
    },
    {
        .name = "publish", /* no process waits for it any more */
        .nspace_gone = sx_publish_nspace_gone,
        .client_left = sx_publish_client_gone,
        .client_closed = sx_publish_client_gone,
        .client_departed = sx_publish_client_over,
        .client_gone = sx_publish_client_over,
        .end = sx_publish_deinit,
    },
    {
        .name = "dmodex",
        .client_committed = sx_dmodex_committed,
        .client_left = sx_dmodex_client_gone,
        .client_gone = sx_dmodex_client_gone,
        .client_removed = sx_dmodex_client_gone,
        .stop = sx_dmodex_deinit,
        .end = sx_dmodex_deinit,
    },
    {
        .name = "gets",
        .nspace_gone = sx_gets_nspace_gone,
        .client_added = sx_gets_client_added,
        .client_connected = sx_gets_client_connected,
        .client_committed = sx_gets_committed,
        .client_left = sx_gets_client_gone,
        .client_departed = sx_gets_client_gone,
        .client_gone = sx_gets_client_gone,
        .end = sx_gets_deinit,
    },
    {
        .name = "event handled",
        .nspace_gone = sx_eventhandled_nspace_gone,
    },
    {
        .name = "event",
        .nspace_added = sx_event_nspace_added,
        .nspace_opened = sx_event_nspace_opened,
        .nspace_gone = sx_event_nspace_gone,
        .client_expected = sx_event_client_connected, /* events wait for it from now on */
        .client_connected = sx_event_client_connected,
        .client_left = sx_event_client_left,
        .client_gone = sx_event_client_left,
        .client_lost = sx_event_client_lost,
        .client_removed = sx_event_codes_client_left,
        .stop = sx_events_stop,
        .end = sx_events_deinit,
    },
    {
        .name = "cleanup",
        .nspace_gone = sx_cleanup_nspace_gone,
        .client_ended = sx_cleanup_client_gone,
        .client_departed = sx_cleanup_client_gone,
        .client_lost = sx_cleanup_client_gone,
        .client_removed = sx_cleanup_client_removed,
    },
    {
        .name = "query",
        .nspace_gone = sx_query_kept_nspace_gone,
        .end = sx_query_kept_clear,
    },
    {
        .name = "attributes",
        .end = sx_attributes_clear,
    },
    {
        .name = "logging",
        .stop = sx_logging_stop,
    },
    {
        .name = "own_ask",
        .stop = sx_own_asks_stop,
    },
    {
        .name = "input",
        .client_left = sx_input_client_gone,
        .client_closed = sx_input_client_gone,
        .client_gone = sx_input_client_gone,
        .stop = sx_input_clear,
    },
    {
        .name = "iof",
        .nspace_added = sx_iof_nspace_added,
        .client_left = sx_iof_client_gone,
        .client_closed = sx_iof_client_gone,
        .client_gone = sx_iof_client_gone,
        .finish = sx_iof_finish,
        .stop = sx_iof_stop,
    },
    {
        .name = "resource",
        .end = sx_resource_clear,
    },
    {
        .name = "carried",
        .nspace_gone = sx_setup_env_nspace_gone,
        .end = sx_setup_env_end,
    },
    {
        .name = "host",
        .client_left = sx_host_client_finalized,
        .client_lost = sx_host_client_lost,
    },
    { .name = NULL },
};
