/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* abort.c - read the request, ask the host, and return its answer. */
#include "server/manage/abort.h"

#include <stdlib.h>

#include "server/event/server_events.h"
#include "server/model/alias.h"
#include "server/model/nspace_access.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

bool sx_abort_on_abort(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    const struct sx_abort *request = frame->opened.head;
    struct sx_alias_list real;
    pmix_proc_t *procs;
    pmix_status_t rc = sx_part_procs(&frame->opened.parts[SX_ABORT_PROCS], &procs);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_list(server, client, procs, request->proc_count, &real);
    }
    if (rc == PMIX_SUCCESS && sx_procs_are_foreign(server, client, real.all, real.count)) {
        sx_alias_list_clear(&real);
        rc = PMIX_ERR_NO_PERMISSIONS;
    }
    if (rc != PMIX_SUCCESS) {
        free(procs);
        sx_reply(server, client, frame->header.id, rc, -1);
        return true;
    }
    sx_event_client_aborts(server, client, real.all, real.count);
    sx_pending_ask_host(server, client, frame->header.id, SX_UPCALL_ABORT,
                        &(struct sx_upcall){
                            .status = request->status,
                            .text = sx_part_text(&frame->opened.parts[SX_ABORT_TEXT]),
                            .procs = real.all,
                            .nprocs = real.count,
                        });
    sx_alias_list_clear(&real);
    free(procs);
    return true;
}
