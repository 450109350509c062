/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_servers.c - the servers of all contact files (control/contact.h) that are valid.
 *
 * A server has several files with the same content.  Servers are searched for where a tool
 * searches: in the directories of this process's server, of sessions, of temporary files, and of
 * the system. */
#include "client/query/query.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/util.h"
#include "base/value/value.h"
#include "control/contact.h"

#define SERVERS_MAX 1024u

struct server {
    struct sx_contact contact;
    bool is_system;
};

struct servers {
    struct server *all;
    size_t count;
    char system_prefix[SX_CONTACT_NAME_MAX];
    bool out_of_memory;
};

/* Return: NULL when the server was not seen yet. */
static struct server *server_find(const struct servers *servers, const char *uri)
{
    for (size_t i = 0; i < servers->count; i++) {
        if (strcmp(servers->all[i].contact.uri, uri) == 0) {
            return &servers->all[i];
        }
    }
    return NULL;
}

/* Return: NULL when memory is out. */
static struct server *server_add(struct servers *servers, const struct sx_contact *contact)
{
    struct server *const all = realloc(servers->all, (servers->count + 1) * sizeof(*all));

    if (all == NULL) {
        servers->out_of_memory = true;
        return NULL;
    }
    servers->all = all;
    all[servers->count] = (struct server){ .contact = *contact };
    return &all[servers->count++];
}

static void file_take(void *arg, int dir_fd, const char *name)
{
    struct servers *const servers = arg;
    struct sx_contact contact;
    const char *why;

    if (strncmp(name, "pmix.", 5) != 0 || servers->count == SERVERS_MAX ||
        sx_contact_read(dir_fd, name, &contact, &why) != PMIX_SUCCESS) {
        return;
    }
    struct server *server = server_find(servers, contact.uri);

    if (server == NULL && !sx_contact_is_stale(&contact)) {
        server = server_add(servers, &contact);
    }
    if (server != NULL) {
        server->is_system |= strncmp(name, servers->system_prefix,
                                     strlen(servers->system_prefix)) == 0;
    }
}

static void directory_take(void *arg, int dir_fd)
{
    sx_contact_names_each(dir_fd, file_take, arg);
}

static void directories_take(struct servers *servers)
{
    const struct sx_role_server *const own = sx_role_server_get();
    char own_dir[PATH_MAX] = "";

    if (own != NULL) {
        own->tmpdir(own_dir, sizeof(own_dir));
    }
    const char *const paths[] = { sx_contact_dir(own_dir, SX_ENV_SESSION_DIR),
                                  sx_contact_dir(NULL, SX_ENV_SESSION_DIR),
                                  sx_contact_dir(NULL, "TMPDIR"),
                                  sx_contact_dir(NULL, SX_ENV_SYSTEM_DIR) };

    for (size_t i = 0; i < SX_COUNT(paths); i++) {
        size_t first = 0;

        while (strcmp(paths[first], paths[i]) != 0) {
            first++;
        }
        if (first == i) {
            (void)sx_contact_dirs_each(paths[i], directory_take, servers);
        }
    }
}

/* The parts of an answer are infos that PMIx_tool_init accepts. */
static pmix_status_t server_report(const struct server *server, pmix_info_t *ret)
{
    const struct sx_contact *const contact = &server->contact;
    const uint32_t uid = contact->uid, gid = contact->gid;
    const struct {
        const char *key;
        const void *data;
        pmix_data_type_t type;
    } parts[] = {
        { PMIX_NSPACE, contact->server.nspace, PMIX_STRING },
        { PMIX_SERVER_NSPACE, contact->server.nspace, PMIX_STRING },
        { PMIX_SERVER_RANK, &contact->server.rank, PMIX_PROC_RANK },
        { PMIX_SERVER_URI, contact->uri, PMIX_STRING },
        { PMIX_SERVER_PIDINFO, &contact->pid, PMIX_PID },
        { PMIX_USERID, &uid, PMIX_UINT32 },
        { PMIX_GRPID, &gid, PMIX_UINT32 },
        { PMIX_SERVER_SYSTEM_SUPPORT, &server->is_system, PMIX_BOOL },
    };
    pmix_data_array_t *const array = PMIx_Data_array_create(SX_COUNT(parts), PMIX_INFO);
    pmix_status_t rc = array != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

    PMIx_Load_key(ret->key, PMIX_SERVER_INFO_ARRAY);
    ret->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    for (size_t i = 0; i < SX_COUNT(parts) && rc == PMIX_SUCCESS; i++) {
        rc = PMIx_Info_load((pmix_info_t *)array->array + i, parts[i].key, parts[i].data,
                            parts[i].type);
    }
    return rc;
}

static pmix_status_t servers_report(const struct servers *servers, pmix_value_t *ret)
{
    pmix_data_array_t *const array = PMIx_Data_array_create(servers->count, PMIX_INFO);
    pmix_status_t rc = array != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    for (size_t i = 0; i < servers->count && rc == PMIX_SUCCESS; i++) {
        rc = server_report(&servers->all[i], (pmix_info_t *)array->array + i);
    }
    if (rc != PMIX_SUCCESS && array != NULL) {
        sx_value_destruct(ret);
    }
    return rc;
}

pmix_status_t sx_query_servers(pmix_value_t *ret)
{
    struct servers servers = { .all = NULL };
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    sx_contact_system_name(servers.system_prefix, "");
    directories_take(&servers);
    if (servers.out_of_memory) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    } else if (servers.count > 0) {
        rc = servers_report(&servers, ret);
    }
    free(servers.all);
    return rc;
}
