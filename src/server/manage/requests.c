/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* requests.c - what clients and the host request of the host: one row per request, or a function
 * of its own where the server has to read more of it (abort, spawn). */
#include "server/manage/manage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/value.h"
#include "server/event/event.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"
#include "server/port/port.h"

/* ---- rows of clients -------------------------------------------------------------------------
 *
 * One row per request: the entry of the host's module that answers it, and what this server can do
 * without that entry. */

/* The function by which this server answers itself when its host has no such entry. */
typedef void (*own_fn)(struct sx_server *server, struct sx_client *client, uint32_t id,
                       const pmix_info_t info[], size_t ninfo);

static const struct {
    enum sx_upcall_kind upcall;
    const char *argument; /* NULL, or the key of the first info: bytes */
    own_fn own;           /* NULL: this server cannot answer */
} client_rows[SX_ASK_KINDS] = {
    [SX_ASK_ALLOCATION] = { SX_UPCALL_ALLOCATE, NULL, NULL },
    [SX_ASK_FABRIC] = { SX_UPCALL_FABRIC, NULL, NULL },
    [SX_ASK_CREDENTIAL] = { SX_UPCALL_GET_CREDENTIAL, NULL, sx_credential_give },
    [SX_ASK_VALIDATION] = { SX_UPCALL_VALIDATE_CREDENTIAL, PMIX_CREDENTIAL,
                            sx_credential_validate },
};

pmix_status_t sx_ask_asker_add(const struct sx_client *client, pmix_info_t **info, size_t *ninfo)
{
    pmix_info_t *const grown = realloc(*info, (*ninfo + 2) * sizeof(*grown));

    if (grown == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *info = grown;
    sx_infos_user_add(grown, ninfo, client->uid, client->gid);
    return PMIX_SUCCESS;
}

static pmix_status_t argument_judge(const char *key, const pmix_info_t info[], size_t ninfo)
{
    return key == NULL ||
                   (ninfo > 0 && PMIx_Check_key(info[0].key, key) &&
                    info[0].value.type == PMIX_BYTE_OBJECT && info[0].value.data.bo.bytes != NULL)
               ? PMIX_SUCCESS
               : PMIX_ERR_BAD_PARAM;
}

bool sx_ask_on_ask_host(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    const struct sx_ask *const ask = frame->opened.head;
    const uint32_t id = frame->header.id;
    struct sx_upcall up = { .status = (int)ask->detail, .info_bytes = frame->opened.size };

    (void)now_ns;
    if (ask->kind >= SX_COUNT(client_rows)) {
        sx_reply(server, client, id, PMIX_ERR_NOT_SUPPORTED, -1);
        return true;
    }
    const enum sx_upcall_kind upcall = client_rows[ask->kind].upcall;
    const own_fn own = sx_upcall_judge(server, upcall, 0) == PMIX_ERR_NOT_SUPPORTED
                           ? client_rows[ask->kind].own
                           : NULL;
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_ASK_INFOS, &up.info, &up.ninfo);

    if (rc == PMIX_SUCCESS) {
        rc = argument_judge(client_rows[ask->kind].argument, up.info, up.ninfo);
    }
    if (rc == PMIX_SUCCESS && own == NULL) {
        rc = sx_ask_asker_add(client, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS && own == NULL) {
        sx_reply_read(server, client, frame);
        sx_pending_ask_host(server, client, id, upcall, &up);
        free(up.info);
        return true;
    }
    if (rc == PMIX_SUCCESS) {
        own(server, client, id, up.info, up.ninfo);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    PMIX_INFO_FREE(up.info, up.ninfo);
    return true;
}

/* ---- abort -----------------------------------------------------------------------------------
 *
 * Read the request, publish the event, ask the host, and return its answer.
 *
 *     READ --few processes--> TOLD and ASKED
 *         \--many--> BEGUN, the event has its memory --> TOLD --> ASKED
 *                      ^--more than an event holds--/
 *
 * Each of the last three has one of the client's turns. */

#define BEGUN_PROCS_PER_UNIT 5u /* share.h */
#define NOTIFIED_PROCS_PER_UNIT 8u
#define ASKED_PROCS_PER_UNIT 5u

struct abort {
    struct sx_pending pending;
    struct sx_share_work work; /* while there are steps left, in the client's turns */
    struct sx_pages pages;     /* of a long one, with the text */
    char *text;                /* of a short one with the name of many */
    pmix_proc_t *procs;
    struct sx_alias_list real;
    struct sx_upcall up;
    struct sx_event_end event;
    enum { ABORT_READ, ABORT_NAMED, ABORT_BEGUN, ABORT_NOTIFIED } state;
};

static void abort_free(struct abort *abort)
{
    sx_event_abort_clear(&abort->event);
    sx_alias_list_clear(&abort->real);
    free(abort->procs);
    sx_pages_free(&abort->pages);
    free(abort->text);
    free(abort);
}

static void abort_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct abort, pending)->work);
}

static void abort_pending_free(struct sx_pending *pending)
{
    abort_free(SX_CONTAINER(pending, struct abort, pending));
}

static pmix_status_t abort_read(struct sx_server *server, struct sx_client *client,
                                struct sx_frame *frame, struct abort *abort)
{
    const struct sx_abort *const request = frame->opened.head;
    struct sx_alias_list *const real = &abort->real;
    pmix_status_t rc = sx_frame_procs(frame, SX_ABORT_PROCS, &abort->procs);

    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_list(server, client, client->uid, abort->procs, request->proc_count, real);
    }
    if (rc == PMIX_SUCCESS && sx_procs_are_foreign(server, client, real)) {
        rc = PMIX_ERR_NO_PERMISSIONS;
    }
    abort->up = (struct sx_upcall){ .status = request->status,
                                    .text = sx_part_text(&frame->opened.parts[SX_ABORT_TEXT]),
                                    .nprocs = real->count,
                                    .made = real->made };
    return rc;
}

/* A step. */
static void abort_name(struct abort *abort)
{
    size_t left = SX_ALIAS_NAMED_PER_TURN;
    const pmix_status_t rc = sx_alias_name(&abort->real, &left);

    if (rc == PMIX_SUCCESS) {
        abort->up.procs = abort->real.all;
        abort->state = ABORT_NAMED;
    } else if (rc != PMIX_ERR_WOULD_BLOCK) {
        sx_pending_answer(&abort->pending, rc);
    }
}

static void abort_step(struct sx_share_work *work)
{
    struct abort *const abort = SX_CONTAINER(work, struct abort, work);
    struct sx_pending *const pending = &abort->pending;
    struct sx_server *const server = pending->server;
    const struct sx_upcall *const up = &abort->up;

    switch (abort->state) {
    case ABORT_READ:
        sx_share_charge(server, pending->client, SX_ALIAS_NAMED_UNITS);
        abort_name(abort);
        return;
    case ABORT_NAMED:
        sx_share_charge(server, pending->client, up->nprocs / BEGUN_PROCS_PER_UNIT);
        sx_event_abort_begin(&abort->event, pending->client, up->procs, up->nprocs);
        abort->state = ABORT_BEGUN;
        return;
    case ABORT_BEGUN:
        sx_share_charge(server, pending->client, abort->event.part_count / NOTIFIED_PROCS_PER_UNIT);
        if (!sx_event_abort_publish(server, &abort->event)) {
            abort->state = ABORT_NOTIFIED;
        }
        return;
    case ABORT_NOTIFIED:
        sx_share_charge(server, pending->client, up->nprocs / ASKED_PROCS_PER_UNIT);
        sx_pending_pass_to_host(pending, SX_UPCALL_ABORT, up);
        return;
    }
}

/* The bytes of a short message are overwritten by the next one.  Return: false when memory is
 * out. */
static bool text_keep(const struct sx_frame *frame, struct abort *abort)
{
    if (frame->bulk_pages.at != NULL || abort->up.text == NULL) {
        return true;
    }
    abort->text = strdup(abort->up.text);
    abort->up.text = abort->text;
    return abort->text != NULL;
}

static pmix_status_t abort_begin(struct sx_server *server, struct sx_client *client,
                                 struct sx_frame *frame, struct abort *abort)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST,
                                                 .closed = abort_closed,
                                                 .free = abort_pending_free };

    abort->pending.bytes = frame->opened.size;
    const pmix_status_t rc = text_keep(frame, abort)
                                 ? sx_pending_begin(server, client, frame->header.id, &kind,
                                                    &abort->pending)
                                 : PMIX_ERR_OUT_OF_RESOURCE;

    if (rc == PMIX_SUCCESS) {
        abort->pages = frame->bulk_pages;
        frame->bulk_pages = (struct sx_pages){ .at = NULL };
        abort->work.step = abort_step;
        abort->up.procs = abort->real.all;
        abort->state = abort->up.procs == NULL ? ABORT_READ : ABORT_NAMED;
        sx_share_work_add(client, &abort->work);
    }
    return rc;
}

bool sx_abort_on_abort(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    struct abort *const abort = calloc(1, sizeof(*abort));
    const uint32_t id = frame->header.id;
    size_t left = SX_ALIAS_NAMED_PER_TURN;
    pmix_status_t rc = abort != NULL ? abort_read(server, client, frame, abort)
                                     : PMIX_ERR_OUT_OF_RESOURCE;

    (void)now_ns;
    if (rc == PMIX_SUCCESS && abort->up.nprocs > SX_FRAME_PROCS_AT_ONCE_MAX) {
        rc = abort_begin(server, client, frame, abort);
        if (rc == PMIX_SUCCESS) {
            return true;
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_name(&abort->real, &left);
    }
    if (rc == PMIX_SUCCESS) {
        abort->up.procs = abort->real.all;
        sx_event_abort_begin(&abort->event, client, abort->up.procs, abort->up.nprocs);
        (void)sx_event_abort_publish(server, &abort->event); /* so few are one part */
        sx_pending_ask_host(server, client, id, SX_UPCALL_ABORT, &abort->up);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    if (abort != NULL) {
        abort_free(abort);
    }
    return true;
}

/* ---- spawn -----------------------------------------------------------------------------------
 *
 * Pass the infos of the job on unchanged, followed by the asker's identity from the kernel.  So no
 * client can name another parent.  A job whose parent is gone before the host answers belongs to
 * the host, which learns of the parent's end by its other entries. */

/* Keys that only this server may set. */
static const char *const own_keys[] = { PMIX_SPAWNED,          PMIX_PARENT_ID,
                                        PMIX_USERID,           PMIX_GRPID,
                                        PMIX_REQUESTOR,        PMIX_REQUESTOR_IS_CLIENT,
                                        PMIX_REQUESTOR_IS_TOOL };
#define ADDED 5u

static bool is_own(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(own_keys); i++) {
        if (PMIx_Check_key(key, own_keys[i])) {
            return true;
        }
    }
    return false;
}

static void own_remove(pmix_info_t *info, size_t *ninfo)
{
    size_t kept = 0;

    for (size_t i = 0; i < *ninfo; i++) {
        if (is_own(info[i].key)) {
            PMIx_Info_destruct(&info[i]);
        } else {
            info[kept++] = info[i];
        }
    }
    *ninfo = kept;
}

/* Append the asker's identity.  *info is another array then.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t parent_add(const struct sx_client *client, pmix_info_t **info, size_t *ninfo)
{
    const pmix_proc_t parent = sx_nspace_proc(client->nspace, client->rank);
    const bool yes = true;

    own_remove(*info, ninfo);
    pmix_info_t *const grown = realloc(*info, (*ninfo + ADDED) * sizeof(*grown));

    if (grown == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *info = grown;
    PMIx_Info_load(&grown[(*ninfo)++], PMIX_SPAWNED, &yes, PMIX_BOOL);
    sx_infos_user_add(grown, ninfo, client->uid, client->gid);
    PMIx_Info_load(&grown[(*ninfo)++],
                   client->is_tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT, &yes,
                   PMIX_BOOL);
    const pmix_status_t rc = PMIx_Info_load(&grown[*ninfo], PMIX_PARENT_ID, &parent, PMIX_PROC);

    *ninfo += rc == PMIX_SUCCESS;
    return rc;
}

/* Move the applications out of the one info that has them.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM: there are none, too many, or one without a command. */
static pmix_status_t apps_take(pmix_info_t *info, size_t ninfo, struct sx_upcall *up)
{
    pmix_data_array_t *const array = ninfo == 1 && info->value.type == PMIX_DATA_ARRAY
                                         ? info->value.data.darray
                                         : NULL;

    if (array == NULL || array->type != PMIX_APP || array->size == 0 ||
        array->size > SX_SPAWN_APPS_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_app_t *const apps = array->array;

    for (size_t i = 0; i < array->size; i++) {
        if (apps[i].cmd == NULL || apps[i].cmd[0] == '\0') {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    up->apps = array->array;
    up->napps = array->size;
    array->array = NULL;
    array->size = 0;
    return PMIX_SUCCESS;
}

static pmix_status_t spawn_open(const struct sx_client *client, const struct sx_opened *opened,
                                struct sx_upcall *up)
{
    pmix_info_t *all = NULL;
    size_t count = 0;
    pmix_status_t rc = sx_body_infos(opened, SX_SPAWN_JOB, &up->info, &up->ninfo);

    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(opened, SX_SPAWN_APPS, &all, &count);
    }
    if (rc == PMIX_SUCCESS) {
        rc = parent_add(client, &up->info, &up->ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        rc = apps_take(all, count, up);
    }
    PMIX_INFO_FREE(all, count);
    return rc;
}

bool sx_spawn_on_spawn(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    const uint32_t id = frame->header.id;
    struct sx_upcall up = { .info_bytes = frame->opened.size };
    pmix_status_t rc = sx_upcall_judge(server, SX_UPCALL_SPAWN, 0);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = spawn_open(client, &frame->opened, &up);
    }
    pmix_info_t *const info = up.info;
    pmix_app_t *const apps = up.apps;

    if (rc == PMIX_SUCCESS) {
        sx_reply_read(server, client, frame);
        sx_pending_ask_host(server, client, id, SX_UPCALL_SPAWN, &up);
    } else {
        sx_upcall_drop(&up);
        sx_reply(server, client, id, rc, -1);
    }
    free(info);
    free(apps);
    return true;
}

/* ---- rows of the host ------------------------------------------------------------------------
 *
 * One row per request: the host's entry, and the part that this server does itself. */

struct own {
    struct sx_list link; /* server.own_asks, while the host is asked */
    struct sx_asker asker;
    const struct sx_role_ask *ask; /* the caller's: until sx_own_ask returns */
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
    struct sx_host_call call; /* when the server ends before the host has answered */
};

static const struct {
    enum sx_upcall_kind upcall;
    pmix_status_t (*part)(const struct sx_role_ask *ask); /* the part that is done here; NULL:
                                                           * none */
    bool (*is_ours)(const char *key);                     /* keys that the host does not receive */
} host_rows[SX_ROLE_ASKS] = {
    [SX_ROLE_ASK_CONTROL] = { SX_UPCALL_JOB_CONTROL, sx_control_by_host, sx_control_is_ours },
    [SX_ROLE_ASK_ALLOCATION] = { SX_UPCALL_ALLOCATE, NULL, NULL },
};

static void own_end(struct own *own, pmix_status_t status, const pmix_info_t *info, size_t ninfo)
{
    sx_asker_deinit(&own->asker);
    sx_list_remove(&own->link);
    own->cbfunc(status, (pmix_info_t *)(uintptr_t)info, ninfo, own->cbdata, NULL, NULL);
    free(own);
}

static void host_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker != NULL) {
        own_end(SX_CONTAINER(asker, struct own, asker), answer->status, answer->info,
                answer->ninfo);
    }
}

/* Copy the infos for the host, and append the asker's identity, as for a client.  Return:
 * PMIX_SUCCESS; PMIX_OPERATION_SUCCEEDED when nothing is left for the host;
 * PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t infos_copy(const struct sx_role_ask *ask, struct sx_upcall *up)
{
    pmix_status_t rc = PMIX_SUCCESS;

    up->info = calloc(ask->ninfo + 2, sizeof(*up->info));
    if (up->info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < ask->ninfo && rc == PMIX_SUCCESS; i++) {
        if (host_rows[ask->kind].is_ours == NULL ||
            !host_rows[ask->kind].is_ours(ask->info[i].key)) {
            rc = sx_elements_copy(&up->info[up->ninfo++], &ask->info[i], 1, PMIX_INFO);
        }
    }
    if (rc == PMIX_SUCCESS && up->ninfo == 0 && ask->ninfo > 0) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (rc == PMIX_SUCCESS) {
        sx_infos_user_add(up->info, &up->ninfo, geteuid(), getegid());
    }
    return rc;
}

/* @up is filled; the ownership of its contents moves in any case. */
static pmix_status_t host_ask(struct sx_server *server, struct own *own, const struct sx_upcall *up)
{
    sx_asker_init(&own->asker);
    sx_list_append(&server->own_asks, &own->link);
    const pmix_status_t rc = sx_upcall(server, host_rows[own->ask->kind].upcall, up);

    if (rc != PMIX_SUCCESS) {
        sx_asker_deinit(&own->asker);
        sx_list_remove(&own->link);
    }
    return rc;
}

static pmix_status_t begin(struct sx_server *server, void *arg)
{
    struct own *const own = arg;
    const struct sx_role_ask *const ask = own->ask;
    struct sx_alias_list targets;
    size_t left = SIZE_MAX;
    struct sx_upcall up = { .answered = host_answered,
                            .asker = &own->asker,
                            .proc = &server->self,
                            .status = ask->detail };
    pmix_status_t rc = sx_alias_list(server, NULL, SX_NAMES_OF_HOST,
                                     (pmix_proc_t *)(uintptr_t)ask->procs, ask->nprocs, &targets);

    if (rc == PMIX_SUCCESS) {
        rc = host_rows[ask->kind].part != NULL ? host_rows[ask->kind].part(ask) : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_name(&targets, &left); /* the host's own thread asks for it */
    }
    if (rc == PMIX_SUCCESS) {
        rc = infos_copy(ask, &up);
        up.procs = targets.all;
        up.made = targets.made;
        up.nprocs = targets.count;
        if (rc == PMIX_SUCCESS) {
            rc = host_ask(server, own, &up);
        } else {
            sx_upcall_drop(&up);
        }
    }
    free(up.info);
    sx_alias_list_clear(&targets);
    return rc;
}

pmix_status_t sx_own_ask(const struct sx_role_ask *ask, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_server *const server = sx_server_get();
    struct own *const own = server == NULL ? NULL : calloc(1, sizeof(*own));

    if (own == NULL) {
        return server == NULL ? PMIX_ERR_INIT : PMIX_ERR_OUT_OF_RESOURCE;
    }
    *own = (struct own){ .ask = ask, .cbfunc = cbfunc, .cbdata = cbdata };
    const pmix_status_t rc = sx_server_call(server, begin, own);

    if (rc != PMIX_SUCCESS) {
        free(own);
    }
    return rc;
}

static void own_stop(struct sx_host_call *call)
{
    own_end(SX_CONTAINER(call, struct own, call), PMIX_ERR_NOT_AVAILABLE, NULL, 0);
}

void sx_own_asks_stop(struct sx_server *server)
{
    while (!sx_list_empty(&server->own_asks)) {
        struct own *const own = SX_LIST_ENTRY(sx_list_pop(&server->own_asks), struct own, link);

        sx_host_call_append(server, &own->call, own_stop);
    }
}
