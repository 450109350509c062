/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish_as.c - the requests of publish/publish.c without a client. */
#include "server/publish/publish_as.h"

#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/names.h"
#include "base/value/value.h"
#include "server/publish/publish.h"

struct request {
    const pmix_proc_t *proc;
    const char *key, *text;
    char *ret_text;
    size_t size;
};

/* The ranks belong to the host, and have its user.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND. */
static pmix_status_t party_read(struct sx_server *server, const struct request *request,
                                struct sx_party *ret)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, request->proc->nspace);

    if (nspace == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = (struct sx_party){ .who = { .proc = *request->proc, .session = nspace->session },
                              .uid = geteuid(),
                              .gid = getegid() };
    return PMIX_SUCCESS;
}

static pmix_status_t publish(struct sx_server *server, void *arg)
{
    const struct request *const request = arg;
    const pmix_persistence_t persistence = PMIX_PERSIST_SESSION;
    struct sx_publish_options options;
    struct sx_party party;
    pmix_info_t info[2];
    pmix_status_t rc = party_read(server, request, &party);

    memset(info, 0, sizeof(info));
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(&info[0], request->key, request->text, PMIX_STRING);
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(&info[1], PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_publish_read(info, SX_COUNT(info), &options);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_published_add(&server->published, &party, &options, info, SX_COUNT(info));
    }
    if (rc == PMIX_SUCCESS) {
        sx_publish_wake(server, NULL, info, SX_COUNT(info));
    }
    sx_elements_destruct(info, SX_COUNT(info), PMIX_INFO);
    return rc;
}

static pmix_status_t lookup(struct sx_server *server, void *arg)
{
    const struct request *const request = arg;
    struct sx_lookup_options options;
    struct sx_published_row *row;
    struct sx_party party;
    size_t wanted;
    pmix_status_t rc = party_read(server, request, &party);

    if (rc == PMIX_SUCCESS) {
        rc = sx_lookup_read(NULL, 0, 1, &options, &wanted);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    row = sx_published_find(&server->published, request->key, &party, &options);
    if (row == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    const char *const text = row->info.value.type == PMIX_STRING ? row->info.value.data.string
                                                                 : NULL;

    if (text == NULL || strlen(text) >= request->size) {
        return PMIX_ERR_NOT_FOUND;
    }
    memcpy(request->ret_text, text, strlen(text) + 1);
    if (row->persistence == PMIX_PERSIST_FIRST_READ) {
        sx_published_remove(&server->published, row);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t unpublish(struct sx_server *server, void *arg)
{
    const struct request *const request = arg;
    struct sx_party party;
    const pmix_status_t rc = party_read(server, request, &party);

    return rc != PMIX_SUCCESS ? rc
                              : sx_published_withdraw(&server->published, &party, request->key,
                                                      PMIX_RANGE_SESSION);
}

static pmix_status_t call(sx_server_fn fn, struct request *request)
{
    struct sx_server *const server = sx_server_get();

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, fn, request);
}

pmix_status_t sx_publish_as(const pmix_proc_t *proc, const char *key, const char *text)
{
    return call(publish, &(struct request){ .proc = proc, .key = key, .text = text });
}

pmix_status_t sx_lookup_as(const pmix_proc_t *proc, const char *key, char *ret_text, size_t size)
{
    return call(lookup,
                &(struct request){ .proc = proc, .key = key, .ret_text = ret_text, .size = size });
}

pmix_status_t sx_unpublish_as(const pmix_proc_t *proc, const char *key)
{
    return call(unpublish, &(struct request){ .proc = proc, .key = key });
}
