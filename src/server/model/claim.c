/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* claim.c - the owner of a name, and its next owner. */
#include "server/model/nspace.h"

#include <string.h>

#include "base/status.h"
#include "server/model/family.h"
#include "server/model/state.h"

#define SERVER_SUFFIX ".server"

/* ---- names that are kept --------------------------------------------------------------------- */

/* Return: the length of STEM in STEM.N or STEM@N; 0: @name is neither. */
static size_t stem_len(const char *name)
{
    size_t at = strlen(name);
    const size_t end = at;

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    return at > 1 && at < end && (name[at - 1] == '.' || name[at - 1] == '@') ? at - 1 : 0;
}

/* The same for the name of a server: of a launcher, usually. */
static size_t server_stem_len(const char *name)
{
    const size_t len = strlen(name), suffix_len = strlen(SERVER_SUFFIX);

    return len > suffix_len && strcmp(name + len - suffix_len, SERVER_SUFFIX) == 0
               ? len - suffix_len
               : stem_len(name);
}

bool sx_claim_is_hosts(const struct sx_nspace *nspace)
{
    bool has_ranks = nspace->registered || nspace->brought_count > 0;

    for (size_t i = 0; i < nspace->client_count && !has_ranks; i++) {
        has_ranks = !nspace->by_rank[i]->is_tool;
    }
    return has_ranks;
}

/* @name itself, whatever it lies below. */
static bool is_kept(const struct sx_server *server, const char *name)
{
    const char *const self = server->self.nspace;
    const size_t self_len = server_stem_len(self), len = stem_len(name);

    if (strcmp(name, self) == 0 ||
        strncmp(name, SX_CLAIM_TOOLS_PREFIX, strlen(SX_CLAIM_TOOLS_PREFIX)) == 0) {
        return true;
    }
    if (self_len > 0 && strncmp(name, self, self_len) == 0 &&
        (name[self_len] == '\0' || len == self_len)) {
        return true;
    }
    if (len == 0) {
        return false;
    }
    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (strncmp(nspace->name, name, len) == 0 &&
            (nspace->name[len] == '\0' || stem_len(nspace->name) == len) &&
            sx_claim_is_hosts(nspace)) {
            return true;
        }
    }
    return false;
}

bool sx_claim_is_kept(const struct sx_server *server, const char *name)
{
    char at[PMIX_MAX_NSLEN + 1];
    size_t len = strnlen(name, sizeof(at) - 1);

    memcpy(at, name, len);
    while (len > 0) {
        at[len] = '\0';
        if (is_kept(server, at)) {
            return true;
        }
        len = stem_len(at); /* a name below one that is kept is kept as well */
    }
    return false;
}

/* ---- the askers ------------------------------------------------------------------------------ */

/* "connected-N.ORIGIN", as collective/connect.c gives it. */
static bool is_connecteds(const struct sx_server *server, const char *name)
{
    const size_t len = strlen(name), origin_len = strlen(server->relay_origin);

    return strncmp(name, "connected-", 10) == 0 && origin_len > 0 && len > origin_len &&
           strcmp(name + len - origin_len, server->relay_origin) == 0;
}

pmix_status_t sx_claim_by_group(struct sx_server *server, uid_t uid, const char *name)
{
    const pmix_status_t rc = sx_memberships_name_judge(server, uid, name);

    if (rc == PMIX_SUCCESS && (sx_claim_is_kept(server, name) || is_connecteds(server, name))) {
        return SX_RAISE(PMIX_ERR_EXISTS,
                        "the name %s is kept for jobs of the host, and for this server: take "
                        "another one",
                        name);
    }
    return rc;
}

pmix_status_t sx_claim_by_tool(struct sx_server *server, const char *name, uid_t uid,
                               const char **ret_why)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, name);
    const bool is_tools = nspace != NULL && !sx_claim_is_hosts(nspace);

    if (nspace != NULL && !is_tools) {
        *ret_why = "is a tool to which the host gives the name of a job";
        return PMIX_EXISTS;
    }
    if (is_tools && nspace->is_ending) {
        *ret_why = "is a tool to which the host gives a name that is just being deregistered";
        return PMIX_ERR_NOT_AVAILABLE;
    }
    if (is_tools && nspace->uid != uid) {
        *ret_why = "is a tool to which the host gives the name of another user's tools";
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (!is_tools && sx_claim_is_kept(server, name)) {
        *ret_why = "is a tool that wants a name that is kept for jobs and for this server";
        return PMIX_EXISTS;
    }
    if (!is_tools && sx_memberships_named(server, name, NULL) != NULL) {
        *ret_why = "is a tool that wants the name of a group, or of connected processes";
        return PMIX_EXISTS;
    }
    return PMIX_SUCCESS;
}

void sx_claim_by_host(struct sx_server *server, const char *name)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, name);

    if (nspace == NULL || !sx_claim_is_hosts(nspace)) {
        SX_FAMILIES_NOTIFY(server, name_claimed, server, name);
    }
}
