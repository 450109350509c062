/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_ask.c - the question to the host whether a tool may connect, and what follows from the
 * answer. */
#include "server/entry/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/log.h"
#include "base/util.h"
#include "server/port/port.h"

#define INFOS_MAX 8

struct asked {
    struct sx_tool_asked node;
    struct sx_asker asker;
    struct sx_connection *connection;
    struct sx_hello hello;
    uint32_t id;
    sx_tool_decided_fn decided;
};

static void asked_free(struct asked *asked)
{
    sx_asker_deinit(&asked->asker);
    sx_list_remove(&asked->node.link);
    free(asked);
}

/* The tool has gone, or sent a frame before its welcome. */
static void asked_on_frame(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    struct asked *const asked = arg;
    struct sx_connection *const connection = asked->connection;

    (void)why, (void)now_ns;
    if (frame != NULL) {
        sx_log(SX_LOG_WARN,
               "connection of pid %d uid %u closed: a tool that does not wait until "
               "it is welcomed",
               (int)connection->channel.peer.pid, (unsigned)connection->channel.peer.uid);
    }
    asked_free(asked);
    sx_connection_end(connection);
}

static void host_told(struct sx_asker *asker, const struct sx_host_answer *answer)
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
    const uint32_t uid = peer->uid, gid = peer->gid;
    char text[64];
    pmix_byte_object_t credential = { .bytes = text };
    size_t count = 0;

    credential.size = (size_t)snprintf(text, sizeof(text), "sx:%d:%u:%u", (int)peer->pid,
                                       (unsigned)uid, (unsigned)gid);
    PMIx_Info_load(&infos[count++], PMIX_USERID, &uid, PMIX_UINT32);
    PMIx_Info_load(&infos[count++], PMIX_GRPID, &gid, PMIX_UINT32);
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
    struct sx_upcall up = { .told = host_told, .owner = &owner, .info = infos };

    pmix_status_t rc = judge(server, hello, peer, ret_why);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct asked *const asked = calloc(1, sizeof(*asked));

    *ret_why = "is a tool for which memory is short";
    if (asked == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    asked->connection = connection;
    asked->hello = *hello;
    asked->id = id;
    asked->decided = decided;
    sx_asker_init(&asked->asker);
    asked->node.uid = peer->uid;
    sx_list_append(&server->strangers.asked, &asked->node.link);
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
    connection->channel.on_frame = asked_on_frame;
    connection->channel.on_ready = NULL;
    connection->channel.arg = asked;
    return PMIX_SUCCESS;
}

void sx_tool_ask_end_all(struct sx_server *server)
{
    while (!sx_list_empty(&server->strangers.asked)) {
        struct asked *const asked = SX_LIST_ENTRY(server->strangers.asked.next, struct asked,
                                                  node.link);
        struct sx_connection *const connection = asked->connection;

        asked_free(asked);
        sx_connection_end(connection);
    }
}
