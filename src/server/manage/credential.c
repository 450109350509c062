/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* credential.c - write one for each process, and compare those that are presented with it. */
#include "server/manage/manage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/util.h"
#include "server/port/port.h"

#define KIND "sx"
#define SECRET_BYTES 32u
#define TEXT_MAX (sizeof(KIND "::::4294967295") + 32 + 2 * SECRET_BYTES + PMIX_MAX_NSLEN)

/* The offset at which the namespace begins. */
#define PARTS_BEFORE 4u

/* Return: whether @types, a comma-separated list, names ours; NULL: any type will do. */
static bool is_wanted(const char *types)
{
    const size_t len = strlen(KIND);

    for (const char *at = types; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, KIND, len) == 0 && (at[len] == ',' || at[len] == '\0')) {
            return true;
        }
    }
    return types == NULL;
}

static pmix_status_t directives_judge(const pmix_info_t info[], size_t ninfo)
{
    struct sx_credential_options options = { 0 };
    const pmix_status_t rc = sx_options_read(SX_OF_OWN_CREDENTIAL, info, ninfo, &options);

    return rc != PMIX_SUCCESS || is_wanted(options.types) ? rc : PMIX_ERR_NOT_SUPPORTED;
}

static void infos_reply(struct sx_server *server, struct sx_client *client, uint32_t id,
                        pmix_info_t info[], size_t ninfo)
{
    size_t size;
    pmix_status_t rc = sx_flat_infos_size(info, ninfo, &size);
    void *const body = rc == PMIX_SUCCESS ? malloc(size) : NULL;

    if (rc == PMIX_SUCCESS) {
        rc = body != NULL ? sx_flat_infos_encode(info, ninfo, body, size)
                          : PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_reply_body(server, client, id, rc, body, rc == PMIX_SUCCESS ? size : 0);
    free(body);
    for (size_t i = 0; i < ninfo; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
}

/* ---- giving --------------------------------------------------------------------------------- */

static pmix_status_t credential_make(const struct sx_server *server, struct sx_client *client)
{
    uint8_t secret[SECRET_BYTES];
    char hex[2 * SECRET_BYTES + 1], text[TEXT_MAX];

    if (client->credential != NULL) {
        return PMIX_SUCCESS;
    }
    if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret)) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no random numbers for a credential yet");
    }
    for (size_t i = 0; i < sizeof(secret); i++) {
        snprintf(hex + 2 * i, 3, "%02x", secret[i]);
    }
    snprintf(text, sizeof(text), KIND ":%s:%s:%u:%s", server->relay_origin, hex, client->rank,
             client->nspace->name);
    client->credential = strdup(text);
    return client->credential != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

void sx_credential_give(struct sx_server *server, struct sx_client *client, uint32_t id,
                        const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = directives_judge(info, ninfo);
    pmix_info_t results[2];

    if (rc == PMIX_SUCCESS) {
        rc = credential_make(server, client);
    }
    if (rc != PMIX_SUCCESS) {
        sx_reply(server, client, id, rc, -1);
        return;
    }
    const pmix_byte_object_t object = { .bytes = client->credential,
                                        .size = strlen(client->credential) };

    PMIx_Info_load(&results[0], PMIX_CREDENTIAL, &object, PMIX_BYTE_OBJECT);
    PMIx_Info_load(&results[1], PMIX_CRED_TYPE, KIND, PMIX_STRING);
    infos_reply(server, client, id, results, SX_COUNT(results));
}

/* ---- validating ----------------------------------------------------------------------------- */

/* Constant-time comparison: its duration does not reveal how many bytes match. */
static bool is_same(const char *one, const char *other, size_t size)
{
    uint8_t difference = 0;

    for (size_t i = 0; i < size; i++) {
        difference |= (uint8_t)(one[i] ^ other[i]);
    }
    return difference == 0;
}

/* Read the process that @text claims to be of.  Return: false when it does not have our format. */
static bool name_read(char *text, const char **ret_server, uint32_t *ret_rank,
                      const char **ret_nspace)
{
    char *parts[PARTS_BEFORE + 1] = { text };
    char *end;

    for (size_t i = 1; i < SX_COUNT(parts); i++) {
        parts[i] = strchr(parts[i - 1], ':');
        if (parts[i] == NULL) {
            return false;
        }
        *parts[i]++ = '\0';
    }
    const unsigned long rank = strtoul(parts[3], &end, 10);

    *ret_server = parts[1];
    *ret_rank = (uint32_t)rank;
    *ret_nspace = parts[4];
    return strcmp(parts[0], KIND) == 0 && *end == '\0' && rank <= UINT32_MAX;
}

/* Find the owner of the credential @shown.  Return: PMIX_SUCCESS; PMIX_ERR_INVALID_CRED;
 * PMIX_ERR_UNREACH when another server has to be asked. */
static pmix_status_t owner_find(struct sx_server *server, const pmix_byte_object_t *shown,
                                const struct sx_client **ret_owner)
{
    char text[TEXT_MAX];
    const char *issuer, *nspace_name;
    uint32_t rank;

    if (shown->size >= sizeof(text) || memchr(shown->bytes, '\0', shown->size) != NULL) {
        return PMIX_ERR_INVALID_CRED;
    }
    memcpy(text, shown->bytes, shown->size);
    text[shown->size] = '\0';
    if (!name_read(text, &issuer, &rank, &nspace_name)) {
        return PMIX_ERR_INVALID_CRED;
    }
    if (strcmp(issuer, server->relay_origin) != 0) {
        return strlen(issuer) == strlen(server->relay_origin) ? PMIX_ERR_UNREACH
                                                              : PMIX_ERR_INVALID_CRED;
    }
    const struct sx_nspace *const nspace = sx_nspace_find(server, nspace_name);
    const struct sx_client *const owner = nspace != NULL ? sx_client_find(nspace, rank) : NULL;

    if (owner == NULL || owner->credential == NULL || strlen(owner->credential) != shown->size ||
        !is_same(owner->credential, shown->bytes, shown->size)) {
        return PMIX_ERR_INVALID_CRED;
    }
    *ret_owner = owner;
    return PMIX_SUCCESS;
}

#define RESULTS 6u

/* Return: PMIX_SUCCESS and @results; as owner_find. */
static pmix_status_t validate(struct sx_server *server, const pmix_info_t info[], size_t ninfo,
                              pmix_info_t results[RESULTS])
{
    const struct sx_client *owner;
    pmix_status_t rc = directives_judge(info + 1, ninfo - 1);

    if (rc == PMIX_SUCCESS) {
        rc = owner_find(server, &info[0].value.data.bo, &owner);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    size_t count = 0;

    sx_infos_user_add(results, &count, owner->uid, owner->gid);
    PMIx_Info_load(&results[count++], PMIX_PROC_PID, &sx_client_peer(owner)->pid, PMIX_PID);
    PMIx_Info_load(&results[count++], PMIX_NSPACE, owner->nspace->name, PMIX_STRING);
    PMIx_Info_load(&results[count++], PMIX_RANK, &owner->rank, PMIX_PROC_RANK);
    PMIx_Info_load(&results[count], PMIX_CRED_TYPE, KIND, PMIX_STRING);
    return PMIX_SUCCESS;
}

void sx_credential_validate(struct sx_server *server, struct sx_client *client, uint32_t id,
                            const pmix_info_t info[], size_t ninfo)
{
    pmix_info_t results[RESULTS];
    const pmix_status_t rc = validate(server, info, ninfo, results);

    if (rc == PMIX_SUCCESS) {
        infos_reply(server, client, id, results, SX_COUNT(results));
    } else {
        sx_reply(server, client, id, rc, -1);
    }
}

struct by_host {
    const pmix_info_t *info;
    size_t ninfo;
    pmix_info_t *results;
};

static pmix_status_t host_validates(struct sx_server *server, void *arg)
{
    const struct by_host *const by_host = arg;

    return validate(server, by_host->info, by_host->ninfo, by_host->results);
}

pmix_status_t sx_credential_by_host(const pmix_info_t info[], size_t ninfo, pmix_info_t **ret_info,
                                    size_t *ret_ninfo)
{
    struct sx_server *const server = sx_server_get();
    struct by_host by_host = { .info = info, .ninfo = ninfo, .results = PMIx_Info_create(RESULTS) };

    if (by_host.results == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = server == NULL ? PMIX_ERR_INIT
                                            : sx_server_call(server, host_validates, &by_host);

    if (rc != PMIX_SUCCESS) {
        PMIx_Info_free(by_host.results, RESULTS);
        return rc;
    }
    *ret_info = by_host.results;
    *ret_ninfo = RESULTS;
    return PMIX_SUCCESS;
}

void sx_credential_client_gone(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    if (client->credential != NULL) {
        explicit_bzero(client->credential, strlen(client->credential));
        free(client->credential);
        client->credential = NULL;
    }
}
