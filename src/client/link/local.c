/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* local.c - the door that rings for events of this process alone. */
#include "client/link/local.h"

#include "client/link/process.h"
#include "client/link/wakefd.h"
#include "ring/bell.h"
#include "ring/life.h"

void sx_local_ring_locked(void)
{
    struct sx_process *const p = &sx_process;

    sx_door_ring(&p->local, SX_BELL_ALL, 0);
    sx_wakefd_tell_locked();
    /* Without waitv our threads sleep on the ring's word.  A thread that is about to sleep there
     * may miss this, but it polls again within a second. */
    for (unsigned i = 0; i < p->link_count && !sx_bell_has_waitv(); i++) {
        const struct sx_ring_header *const ring = p->links[i]->ring.header;

        if (ring != NULL) {
            sx_life_tell(sx_door_watch(&ring->any).word);
        }
    }
}
