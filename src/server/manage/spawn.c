/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn.c - pass the infos of the job on unchanged, followed by the asker's identity from the
 * kernel.  So no client can name another parent.  A job whose parent is gone before the host
 * answers belongs to the host, which learns of the parent's end by its other entries. */
#include "server/manage/spawn.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/util.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

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
    const uint32_t uid = client->uid, gid = client->gid;
    const bool yes = true;

    own_remove(*info, ninfo);
    pmix_info_t *const grown = realloc(*info, (*ninfo + ADDED) * sizeof(*grown));
    pmix_info_t *const added = grown == NULL ? NULL : grown + *ninfo;

    if (grown == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *info = grown;
    PMIx_Info_load(&added[0], PMIX_SPAWNED, &yes, PMIX_BOOL);
    PMIx_Info_load(&added[1], PMIX_USERID, &uid, PMIX_UINT32);
    PMIx_Info_load(&added[2], PMIX_GRPID, &gid, PMIX_UINT32);
    PMIx_Info_load(&added[3], client->is_tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT,
                   &yes, PMIX_BOOL);
    *ninfo += ADDED - 1;
    const pmix_status_t rc = PMIx_Info_load(&added[4], PMIX_PARENT_ID, &parent, PMIX_PROC);

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
