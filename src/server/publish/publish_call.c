/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish_call.c - what the calls of this chapter have in common: the caller, the keys, and the
 * host's entry. */
#include "server/publish/lookup.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/value/value.h"
#include "server/job/job.h"
#include "server/manage/manage.h"
#include "server/port/port.h"

/* ---- the caller, and the keys of a call ------------------------------------------------------ */

struct sx_party sx_publish_party(const struct sx_client *client)
{
    return (struct sx_party){ .who = { .proc = sx_nspace_proc(client->nspace, client->rank),
                                       .session = client->nspace->session },
                              .uid = client->uid,
                              .gid = client->gid,
                              .is_tool = client->is_tool,
                              .app = client->nspace->has_store
                                         ? sx_apps_of(client->nspace, client->rank)
                                         : SX_PARTY_APP_UNKNOWN };
}

bool sx_publish_has_host(struct sx_server *server, enum sx_upcall_kind kind)
{
    return sx_upcall_judge(server, kind, 0) != PMIX_ERR_NOT_SUPPORTED;
}

static int named_order(const void *left, const void *right)
{
    const struct sx_publish_key *const one = left, *const other = right;
    const int order = strcmp(one->key, other->key);

    return order != 0 ? order : one->number < other->number ? -1 : one->number > other->number;
}

/* Sort the keys.  Return: malloc'ed; NULL when memory is out. */
struct sx_publish_key *sx_publish_keys_sort(const pmix_info_t keys[], size_t count)
{
    struct sx_publish_key *const named = malloc((count + 1) * sizeof(*named));

    for (size_t i = 0; named != NULL && i < count; i++) {
        named[i] = (struct sx_publish_key){ .key = keys[i].key, .number = (uint32_t)i };
    }
    if (named != NULL) {
        qsort(named, count, sizeof(*named), named_order);
    }
    return named;
}

bool sx_publish_key_is_again(const struct sx_publish_key named[], size_t at)
{
    return at > 0 && strcmp(named[at - 1].key, named[at].key) == 0;
}

/* ---- LOOKUP and UNPUBLISH ------------------------------------------------------------------- */

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for fewer than @least keys, and for an invalid key;
 * PMIX_ERR_OUT_OF_RESOURCE.  On an error nothing has to be freed. */
pmix_status_t sx_publish_call_read(const struct sx_frame *frame, size_t least,
                                   struct sx_publish_call *ret)
{
    *ret = (struct sx_publish_call){ .keys = NULL };
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_LOOKUP_KEYS, &ret->keys, &ret->key_count);

    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(&frame->opened, SX_LOOKUP_INFOS, &ret->info, &ret->ninfo);
    }
    if (rc == PMIX_SUCCESS && (ret->key_count < least || ret->key_count > SX_LOOKUP_KEYS_MAX)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < ret->key_count && rc == PMIX_SUCCESS; i++) {
        rc = ret->keys[i].key[0] != '\0' ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    if (rc != PMIX_SUCCESS) {
        PMIX_INFO_FREE(ret->keys, ret->key_count);
        PMIX_INFO_FREE(ret->info, ret->ninfo);
    }
    return rc;
}

/* @from may be NULL or empty. */
static void infos_move(pmix_info_t *to, pmix_info_t *from, size_t count)
{
    if (count > 0) {
        memcpy(to, from, count * sizeof(*to));
    }
    free(from);
}

/* Ask the host, which takes over @call's parts. */
void sx_publish_call_host(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, enum sx_upcall_kind kind,
                          struct sx_publish_call *call)
{
    const size_t ninfo = call->key_count + call->ninfo;
    struct sx_upcall up = { .info_bytes = frame->opened.size,
                            .ndata = call->key_count,
                            .ninfo = ninfo };
    char *keys[SX_LOOKUP_KEYS_MAX + 1] = { NULL };

    up.keys = call->key_count > 0 ? keys : NULL;
    up.info = calloc(ninfo + 1, sizeof(*up.info));
    if (up.info != NULL) {
        infos_move(up.info, call->keys, call->key_count);
        infos_move(up.info + call->key_count, call->info, call->ninfo);
    }
    if (up.info == NULL || sx_ask_asker_add(client, &up.info, &up.ninfo) != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        if (up.info != NULL) {
            PMIX_INFO_FREE(up.info, up.ninfo);
        } else {
            PMIX_INFO_FREE(call->keys, call->key_count);
            PMIX_INFO_FREE(call->info, call->ninfo);
        }
        return;
    }
    sx_reply_read(server, client, frame);
    sx_pending_ask_host(server, client, frame->header.id, kind, &up);
    free(up.info);
}
