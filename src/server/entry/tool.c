/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.c - which process may be a tool, and under which name; the question to the host. */
#include "server/collective/collective.h"
#include "server/entry/entry.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/log.h"
#include "base/system/process.h"
#include "base/util.h"
#include "server/model/family.h"
#include "server/model/nspace.h"
#include "server/port/port.h"

#define CLIENTS_PER_UNIT 64u /* clients visited for one unit: share.h */

/* ---- room ------------------------------------------------------------------------------------ */

/* The number of tools of @uid, and of processes that may still connect to the host's jobs. */
struct census {
    uid_t uid;
    size_t tools, awaited;
};

static void census_add(const struct sx_nspace *nspace, struct census *census)
{
    if (!sx_claim_is_hosts(nspace)) {
        census->tools += nspace->uid == census->uid ? nspace->client_count : 0;
        return;
    }
    for (size_t i = 0; i < nspace->client_count; i++) {
        const struct sx_client *const client = nspace->by_rank[i];

        census->awaited += client->state == SX_CLIENT_REGISTERED && !client->left &&
                           !client->departed;
    }
    if (nspace->local_count > nspace->client_count) {
        census->awaited += nspace->local_count - nspace->client_count;
    }
}

/* Each census is charged to all peers that are not welcomed yet. */
static struct census census_take(struct sx_server *server, uid_t uid)
{
    struct census census = { .uid = uid };
    size_t seen = 0;

    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        census_add(nspace, &census);
        seen += 1 + nspace->client_count;
    }
    sx_share_charge_strangers(server, seen / CLIENTS_PER_UNIT);
    return census;
}

/* Tools of @uid about which the host has not answered. */
static size_t asked_count(const struct sx_server *server, uid_t uid)
{
    size_t count = 0;

    SX_LIST_EACH(it, &server->entry.strangers.asked) {
        count += SX_LIST_ENTRY(it, struct sx_tool_asked, link)->uid == uid;
    }
    return count;
}

pmix_status_t sx_tool_judge_room(struct sx_server *server, uid_t uid, const char **ret_why)
{
    const struct census census = census_take(server, uid);
    const struct sx_descriptors all = sx_descriptors_look();
    const size_t kept = (census.awaited + 2) * SX_CLIENT_DESCRIPTORS; /* its own, and a welcome's */

    if (census.tools + asked_count(server, uid) >= SX_TOOLS_MAX) {
        static_assert(SX_TOOLS_MAX == 64, "what is said here");
        *ret_why = "is a tool too many: 64 of one user can be there at once, with commands of "
                   "shmix; let one of them end (shmix ls clients lists them)";
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (all.used + kept > all.limit) {
        *ret_why = "is a tool for which there is no descriptor to spare: those left are kept for "
                   "processes of jobs (raise ulimit -n of the server)";
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    return PMIX_SUCCESS;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Of tools of @uid that have no name; those of the server's own user have the short one. */
static struct sx_nspace *tools_nspace(struct sx_server *server, uid_t uid)
{
    char name[sizeof(((struct sx_nspace *)NULL)->name)];
    const int len = snprintf(name, sizeof(name), SX_CLAIM_TOOLS_PREFIX "%d", (int)server->pid);

    if (uid != geteuid()) {
        snprintf(name + len, sizeof(name) - (size_t)len, "-%u", (unsigned)uid);
    }
    return sx_nspace_obtain(server, name);
}

static uint32_t rank_free(const struct sx_nspace *nspace)
{
    uint32_t rank = 0;

    while (rank < nspace->client_count && nspace->by_rank[rank]->rank == rank) {
        rank++;
    }
    return rank;
}

/* A namespace of tools is removed with its last tool. */
static void nspace_forget(struct sx_server *server, struct sx_nspace *nspace)
{
    if (nspace->client_count == 0 && !nspace->is_ending && !sx_claim_is_hosts(nspace)) {
        sx_nspace_end(server, nspace);
    }
}

/* The peer is @rank of @nspace (NULL: there is no memory) from now on, and reads what @home (NULL:
 * @nspace) has. */
static struct sx_client *tool_add(struct sx_server *server, struct sx_nspace *nspace, uint32_t rank,
                                  struct sx_nspace *home, const struct sx_peer *peer,
                                  pmix_status_t *ret_status, const char **ret_why)
{
    const bool is_ending = nspace != NULL && nspace->is_ending;
    struct sx_client *const client = nspace == NULL || is_ending ? NULL
                                                                 : sx_client_add(nspace, rank);

    *ret_status = PMIX_ERR_OUT_OF_RESOURCE;
    *ret_why = is_ending ? "is a tool, and the host deregisters the namespace of tools just now"
                         : "is a tool for which memory is short";
    if (client == NULL && nspace != NULL) {
        nspace_forget(server, nspace);
    }
    if (client != NULL) {
        nspace->uid = peer->uid;
        client->is_tool = true;
        client->uid = peer->uid;
        client->gid = peer->gid;
        client->home = home == NULL ? nspace : home;
        SX_FAMILIES_NOTIFY_OF(server, client_added, client);
        sx_log(SX_LOG_DEBUG, "pid %d uid %u is tool %s.%u", (int)peer->pid, (unsigned)peer->uid,
               nspace->name, client->rank);
    }
    return client;
}

struct sx_client *sx_tool_admit(struct sx_server *server, const struct sx_hello *hello,
                                const struct sx_peer *peer, pmix_status_t *ret_status,
                                const char **ret_why)
{
    struct sx_nspace *const home = sx_nspace_find(server, hello->home);

    /* Root and the server's own user can do anything to the server in any case. */
    *ret_status = PMIX_ERR_NO_PERMISSIONS;
    *ret_why = "may be no tool: it is neither of this server's user nor root";
    if (peer->uid != 0 && peer->uid != geteuid()) {
        return NULL;
    }
    *ret_status = PMIX_ERR_NOT_SUPPORTED;
    *ret_why = "is a command that wants a name of its own choice";
    if (hello->nspace[0] != '\0') {
        return NULL;
    }
    *ret_status = PMIX_ERR_NOT_FOUND;
    *ret_why = "is a tool that wants to read what a job has that is not here";
    if (hello->home[0] != '\0' && (home == NULL || home->is_ending || !sx_nspace_has_ring(home))) {
        return NULL;
    }
    *ret_status = sx_tool_judge_room(server, peer->uid, ret_why);
    if (*ret_status != PMIX_SUCCESS) {
        return NULL;
    }
    struct sx_nspace *const nspace = tools_nspace(server, peer->uid);

    return tool_add(server, nspace, nspace != NULL ? rank_free(nspace) : 0, home, peer, ret_status,
                    ret_why);
}

struct sx_client *sx_tool_take(struct sx_server *server, const pmix_proc_t *proc,
                               const struct sx_peer *peer, pmix_status_t *ret_status,
                               const char **ret_why)
{
    const bool is_named = proc->nspace[0] != '\0';

    *ret_status = PMIX_ERR_BAD_PARAM;
    *ret_why = "is a tool to which the host gives a name that does not end";
    if (strnlen(proc->nspace, sizeof(proc->nspace)) == sizeof(proc->nspace)) {
        return NULL;
    }
    *ret_status = sx_tool_judge_room(server, peer->uid, ret_why);
    if (*ret_status == PMIX_SUCCESS && is_named) {
        *ret_status = sx_claim_by_tool(server, proc->nspace, peer->uid, ret_why);
    }
    if (*ret_status != PMIX_SUCCESS) {
        return NULL;
    }
    struct sx_nspace *const nspace = is_named ? sx_nspace_obtain(server, proc->nspace)
                                              : tools_nspace(server, peer->uid);
    const uint32_t rank = nspace != NULL && (!is_named || proc->rank >= PMIX_RANK_VALID)
                              ? rank_free(nspace)
                              : proc->rank;

    *ret_status = PMIX_EXISTS;
    *ret_why = "is a tool to which the host gives the rank of another one";
    if (nspace != NULL && sx_client_find(nspace, rank) != NULL) {
        return NULL;
    }
    struct sx_client *const client = tool_add(server, nspace, rank, NULL, peer, ret_status,
                                              ret_why);

    if (client != NULL) {
        client->is_hosts_tool = true;
    }
    return client;
}

void sx_tool_forget(struct sx_server *server, struct sx_client *client)
{
    struct sx_nspace *const nspace = client->nspace;

    if (!client->is_tool || nspace == NULL) {
        return;
    }
    sx_collective_client_looks(server, client);
    sx_client_remove(server, client);
    nspace_forget(server, nspace);
}

struct sx_client *sx_tool_of(const struct sx_server *server, const struct sx_nspace *nspace)
{
    for (size_t i = 0; i < server->live_count; i++) {
        struct sx_client *const client = server->live[i];

        if (client->is_tool && (client->home == nspace || client->nspace == nspace)) {
            return client;
        }
    }
    return NULL;
}

/* ---- the host is asked ----------------------------------------------------------------------- */

#define INFOS_MAX 8

struct asked {
    struct sx_tool_asked node;
    struct sx_asker asker;
    struct sx_connection *connection;
    struct sx_client *client; /* retained: the rank that it wants to be; NULL: a tool */
    bool died;                /* it has gone, as a rank that the host may start again */
    struct sx_hello hello;
    uint32_t id;
    sx_tool_decided_fn decided;
};

static struct asked *asked_new(struct sx_connection *connection, const struct sx_hello *hello,
                               uint32_t id, sx_tool_decided_fn decided)
{
    struct asked *const asked = calloc(1, sizeof(*asked));

    if (asked != NULL) {
        *asked = (struct asked){
            .connection = connection, .hello = *hello, .id = id, .decided = decided
        };
        asked->node.uid = connection->channel.peer.uid;
        sx_list_init(&asked->node.link);
        sx_asker_init(&asked->asker);
    }
    return asked;
}

static void asked_free(struct asked *asked)
{
    sx_asker_deinit(&asked->asker);
    sx_list_remove(&asked->node.link);
    if (asked->client != NULL) {
        asked->client->is_asked = false;
        sx_client_release(asked->client);
    }
    free(asked);
}

/* The process has gone, or sent a frame before its welcome. */
static void asked_on_frame(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    struct asked *const asked = arg;
    struct sx_connection *const connection = asked->connection;

    (void)why, (void)now_ns;
    if (frame != NULL) {
        sx_log(SX_LOG_WARN,
               "connection of pid %d uid %u closed: a process that does not wait until "
               "it is welcomed",
               (int)connection->channel.peer.pid, (unsigned)connection->channel.peer.uid);
    }
    if (asked->client != NULL) { /* its end follows the answer, as a loss */
        asked->died = frame == NULL &&
                      sx_process_end(connection->channel.peer.pidfd) != SX_PROCESS_LIVES;
        asked->connection = NULL;
    } else {
        asked_free(asked);
    }
    sx_connection_end(connection);
}

static void asked_wait(struct asked *asked, struct sx_list *list)
{
    struct sx_connection *const connection = asked->connection;

    sx_list_append(list, &asked->node.link);
    connection->channel.on_frame = asked_on_frame;
    connection->channel.on_ready = NULL;
    connection->channel.arg = asked;
}

static void host_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    struct asked *const asked = asker == NULL ? NULL : SX_CONTAINER(asker, struct asked, asker);
    struct sx_client *client = NULL;
    const char *why = "is a tool that the host does not want";
    pmix_status_t status = answer->status;

    if (asked == NULL) {
        return;
    }
    struct sx_connection *const connection = asked->connection;
    const struct sx_log_cause before = sx_log_bound_serve(answer->server,
                                                          connection->channel.peer.uid);
    struct sx_server *const server = connection->server;
    const uint32_t flags = asked->hello.flags, id = asked->id;
    const sx_tool_decided_fn decided = asked->decided;

    asked_free(asked); /* it is counted as a tool from here on */
    if (status == PMIX_SUCCESS) {
        client = sx_tool_take(answer->server, &answer->proc, &connection->channel.peer, &status,
                              &why);
    }
    decided(connection, client, flags, id, status, why);
    sx_log_bound_served(server, before);
}

/* The infos by which the host judges the tool. */
static size_t infos_load(pmix_info_t infos[INFOS_MAX], const struct sx_hello *hello,
                         const struct sx_peer *peer)
{
    char text[64];
    pmix_byte_object_t credential = { .bytes = text };
    size_t count = 0;

    credential.size = (size_t)snprintf(text, sizeof(text), "sx:%d:%u:%u", (int)peer->pid,
                                       (unsigned)peer->uid, (unsigned)peer->gid);
    sx_infos_user_add(infos, &count, peer->uid, peer->gid);
    PMIx_Info_load(&infos[count++], PMIX_PROC_PID, &peer->pid, PMIX_PID);
    PMIx_Info_load(&infos[count++], PMIX_CREDENTIAL, &credential, PMIX_BYTE_OBJECT);
    PMIx_Info_load(&infos[count++], PMIX_VERSION_INFO, PMIx_Get_version(), PMIX_STRING);
    if (hello->nspace[0] != '\0') {
        PMIx_Info_load(&infos[count++], PMIX_NSPACE, hello->nspace, PMIX_STRING);
        PMIx_Info_load(&infos[count++], PMIX_RANK, &hello->rank, PMIX_PROC_RANK);
    }
    return count;
}

static pmix_status_t judge(struct sx_server *server, const struct sx_hello *hello,
                           const struct sx_peer *peer, const char **ret_why)
{
    if (!server->takes_tools) {
        *ret_why = "is a tool, and this server takes none (PMIX_SERVER_TOOL_SUPPORT)";
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (peer->uid != 0 && peer->uid != geteuid() && !server->takes_foreign_tools) {
        *ret_why = "is a tool of another user (PMIX_SERVER_ALLOW_FOREIGN_TOOLS)";
        return PMIX_ERR_NO_PERMISSIONS;
    }
    *ret_why = "is a tool that wants a home: only commands of the server's user have one";
    return hello->home[0] == '\0' ? sx_tool_judge_room(server, peer->uid, ret_why)
                                  : PMIX_ERR_BAD_PARAM;
}

pmix_status_t sx_tool_ask(struct sx_connection *connection, const struct sx_hello *hello,
                          uint32_t id, sx_tool_decided_fn decided, const char **ret_why)
{
    struct sx_server *const server = connection->server;
    pmix_info_t infos[INFOS_MAX];
    const struct sx_peer *const peer = &connection->channel.peer;
    const struct sx_quota_owner owner = { .uid = peer->uid, .proc.rank = (pmix_rank_t)peer->pid };
    struct sx_upcall up = { .answered = host_answered, .owner = &owner, .info = infos };

    pmix_status_t rc = judge(server, hello, peer, ret_why);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct asked *const asked = asked_new(connection, hello, id, decided);

    *ret_why = "is a tool for which memory is short";
    if (asked == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    up.asker = &asked->asker;
    up.ninfo = infos_load(infos, hello, peer);
    rc = sx_upcall(server, SX_UPCALL_TOOL_CONNECTED, &up);
    if (rc != PMIX_SUCCESS) {
        *ret_why = rc == PMIX_ERR_NOT_SUPPORTED
                       ? "is a tool, and the host does not say who may be one (it has no "
                         "tool_connected)"
                       : "is a tool that the host cannot be asked about: it owes too many answers";
        asked_free(asked);
        return rc;
    }
    asked_wait(asked, &server->entry.strangers.asked);
    return PMIX_SUCCESS;
}

/* ---- ranks -------------------------------------------------------------------------------- */

/* A host without use for the notice returns NOT_SUPPORTED; that is not a refusal. */
static void rank_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    struct asked *const asked = asker == NULL ? NULL : SX_CONTAINER(asker, struct asked, asker);

    if (asked == NULL) {
        return;
    }
    struct sx_connection *const connection = asked->connection;
    struct sx_server *const server = answer->server;
    struct sx_client *const client = answer->client; /* the question holds it */
    const bool died = asked->died;
    const char *why = "is refused by the host";
    const uint32_t flags = asked->hello.flags, id = asked->id;
    const sx_tool_decided_fn decided = asked->decided;
    const bool is_over = client->nspace == NULL || client->nspace->is_ending;
    pmix_status_t status = answer->status == PMIX_ERR_NOT_SUPPORTED ? PMIX_SUCCESS : answer->status;

    asked_free(asked);
    if (connection == NULL) {
        if (status == PMIX_SUCCESS && !is_over && client->state == SX_CLIENT_REGISTERED) {
            client->died = died;
            decided(NULL, client, flags, id, PMIX_ERR_LOST_CONNECTION, NULL);
        }
        return;
    }
    if (status == PMIX_SUCCESS && (is_over || (client->state == SX_CLIENT_DEAD && !client->died))) {
        status = PMIX_ERR_NOT_FOUND;
        why = "wants to be a rank that the host has removed meanwhile";
    } else if (status == PMIX_SUCCESS && connection->channel.peer.uid != client->uid) {
        status = PMIX_ERR_NO_PERMISSIONS;
        why = "wants to be a rank that the host has given to another user meanwhile";
    }
    const struct sx_log_cause before = sx_log_bound_serve(server, connection->channel.peer.uid);

    decided(connection, status == PMIX_SUCCESS ? client : NULL, flags, id, status, why);
    sx_log_bound_served(server, before);
}

pmix_status_t sx_client_ask(struct sx_connection *connection, const struct sx_hello *hello,
                            uint32_t id, struct sx_client *client, sx_tool_decided_fn decided)
{
    struct sx_server *const server = connection->server;
    struct asked *const asked = asked_new(connection, hello, id, decided);

    if (asked == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = sx_upcall(server,
                                       server->module.client_connected2 != NULL
                                           ? SX_UPCALL_CLIENT_CONNECTED2
                                           : SX_UPCALL_CLIENT_CONNECTED,
                                       &(struct sx_upcall){ .answered = rank_answered,
                                                            .asker = &asked->asker,
                                                            .client = client,
                                                            .by_return = true });

    if (rc != PMIX_SUCCESS) {
        asked_free(asked);
        return rc;
    }
    asked->client = sx_client_retain(client);
    client->is_asked = true;
    asked_wait(asked, &server->entry.strangers.joining);
    return PMIX_SUCCESS;
}

static void end_all(struct sx_list *list)
{
    while (!sx_list_empty(list)) {
        struct asked *const asked = SX_LIST_ENTRY(list->next, struct asked, node.link);
        struct sx_connection *const connection = asked->connection;

        asked_free(asked);
        if (connection != NULL) {
            sx_connection_end(connection);
        }
    }
}

void sx_tool_ask_end_all(struct sx_server *server)
{
    end_all(&server->entry.strangers.asked);
    end_all(&server->entry.strangers.joining);
}
