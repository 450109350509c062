/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bare_events.h - a bare server (bare.h) whose jobs keep and publish events. */
#ifndef SX_TEST_BARE_EVENTS_H
#define SX_TEST_BARE_EVENTS_H

#include "bare.h"
#include "server/event/event.h"

/* Before its first job. */
static inline void bare_events_init(struct sx_server *server)
{
    static const struct sx_family families[] = { { .name = "event",
                                                   .nspace_added = sx_event_nspace_added,
                                                   .nspace_opened = sx_event_nspace_opened,
                                                   .nspace_gone = sx_event_nspace_gone },
                                                 { .name = NULL } };

    bare_init(server);
    bare_loop(server);
    server->families = families;
    cr_assert_eq(sx_events_init(server, &(struct sx_server_options){ 0 }), PMIX_SUCCESS);
}

static inline void bare_events_deinit(struct sx_server *server)
{
    bare_deinit(server);
    sx_events_deinit(server);
}

#endif
