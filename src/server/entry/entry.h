/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* entry.h - where processes and the host enter the server; for the files of this folder alone.
 *
 *     a peer connects: STRANGER --HELLO--> client, or tool --good-bye, or death--> ended
 *                         hello.c        connection.c  tool.c       reaper.c
 *     its frames and messages: turn.c serves each client its share --dispatch.c--> a chapter
 *     the host's calls: server.c, register.c, ending.c, setup.c, host_get.c
 *
 * lifecycle.c has a row per chapter, which is called at each of these steps.  All of it happens on
 * the loop thread, except the host's calls, which send their work there. */
#ifndef SX_SERVER_ENTRY_ENTRY_H
#define SX_SERVER_ENTRY_ENTRY_H

#include "base/call/role.h"
#include "control/message.h"
#include "server/model/state.h"

struct sx_server_options;

/* ---- connection: the descriptors that a client receives, its frames, its end ----------------- */

/* An accepted socket: first a stranger's (hello.c), then its client's.  The loop frees the
 * connection later, because a connection may end inside one of its own callbacks. */
struct sx_connection {
    struct sx_list link; /* strangers.silent or turn.strangers */
    struct sx_server *server;
    struct sx_channel channel;
    struct sx_loop_post burial;
    uint32_t pid, library; /* of its HELLO (control/message.h): for reports, and for the watch */
};

/* Close the connection, which has no owner any more. */
void sx_connection_end(struct sx_connection *connection);

/* Make @connection @client's, and answer its HELLO, which has @flags and number @id.  Return:
 * PMIX_SUCCESS; an error when the client could not be equipped, or the host refuses it. */
pmix_status_t sx_connection_welcome(struct sx_server *server, struct sx_client *client,
                                    struct sx_connection *connection, uint32_t flags, uint32_t id);

/* The server ends.  Each client notices the end by its closed socket. */
void sx_connection_end_all(struct sx_server *server);

/* Close what a connected client holds from this server: slot, lane, doorbell, socket.  The client
 * becomes REGISTERED (it may connect again), unless it is already DEAD. */
void sx_connection_close(struct sx_server *server, struct sx_client *client);

/* Take the frames that wait in the client's socket. */
void sx_connection_take(struct sx_client *client, uint64_t now_ns);

/* ---- gateway: ranks with another PMIx library ----------------------------------------------- */

void sx_gateway_init(struct sx_server *server);
/* Open the port, if the host or the environment wants it; behind the rendezvous.  Return:
 * PMIX_SUCCESS, or as SHMIX_SERVER_GATEWAY says. */
pmix_status_t sx_gateway_open(struct sx_server *server, uint8_t said);
void sx_gateway_close(struct sx_server *server); /* safe twice; the gateways end */

/* ---- connection: notices about clients to the host ------------------------------------------- */

void sx_host_client_finalized(struct sx_server *server, struct sx_client *client);
/* @client has ended without a good-bye.  For a tool, whose parent is not the host, this is the
 * host's only notice. */
void sx_host_client_lost(struct sx_server *server, struct sx_client *client);

/* ---- hello: peers that have connected, until their identity is established ------------------- */

/* The largest number of strangers; also at most a quarter of this process's descriptors. */
#define SX_STRANGERS_MAX 4096u
#define SX_STRANGERS_MIN 8u

/* Start to accept on the rendezvous. */
pmix_status_t sx_strangers_listen(struct sx_server *server);
/* Accept no peer any more, and close the strangers that are connected. */
void sx_strangers_end(struct sx_server *server);

/* Take what is in the socket of the first one that has sent something. */
void sx_stranger_take(struct sx_server *server, uint64_t now_ns);

/* ---- tool ------------------------------------------------------------------------------------ */

/* Tools: clients that the host has not registered.
 *
 *     HELLO, and it may --> a client of its own, as any other --its connection ends--> forgotten
 *
 * There are two kinds.  A command of this library is admitted when its user is the server's or
 * root.  The host receives no notice of it, and the command may read the ring and the store of a
 * job, its home.  About any other tool the host is asked first (below), and may give it a
 * name.
 *
 * A namespace of tools belongs to one user.  Each user has one for tools without a name, in which
 * each tool takes the lowest free rank.  The namespace ends with its last tool; when the host
 * registers a namespace of that name, all of its tools are removed (model/claim.c).
 *
 * A user has at most SX_TOOLS_MAX tools, including those about which the host is still asked.  A
 * tool is refused when others would miss its descriptors: see sx_tool_judge_room. */

#define SX_TOOLS_MAX 64u         /* of one user, at once */
#define SX_CLIENT_DESCRIPTORS 4u /* of one that is connected: socket, process, lane, bell */

/* strangers.asked: a tool about which the host is asked. */
struct sx_tool_asked {
    struct sx_list link;
    uid_t uid;
};

/* Whether one more tool of @uid can connect.  Descriptors for processes that the host has
 * announced, and that have not connected yet, are not for tools.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE with *ret_why. */
pmix_status_t sx_tool_judge_room(struct sx_server *server, uid_t uid, const char **ret_why);

/* Admit a command of this library.  Return: the client that the peer is from now on, or NULL with
 * *ret_status and *ret_why. */
struct sx_client *sx_tool_admit(struct sx_server *server, const struct sx_hello *hello,
                                const struct sx_peer *peer, pmix_status_t *ret_status,
                                const char **ret_why);

/* The same for a tool that the host calls @proc; without a namespace, or a rank, it it is given
 * one. */
struct sx_client *sx_tool_take(struct sx_server *server, const pmix_proc_t *proc,
                               const struct sx_peer *peer, pmix_status_t *ret_status,
                               const char **ret_why);

/* @client, which need not be a tool, has no connection any more. */
void sx_tool_forget(struct sx_server *server, struct sx_client *client);

/* Return: a tool that is in @nspace, or reads what it has; NULL: there is none. */
struct sx_client *sx_tool_of(const struct sx_server *server, const struct sx_nspace *nspace);

/* ---- tool: the host is asked ----------------------------------------------------------------- */

/* A tool that wants in, while the host is asked whether it may.
 *
 *     HELLO --the host is asked--> ASKED --its answer--> decided
 *        \--it takes no tools: its status   \--the tool goes, says something, or the server ends-->
 *                                                                                        closed
 *
 * The host receives the tool's identity from the kernel, and the name that the tool wants.  An
 * answer that arrives after the tool has gone is dropped. port/upcall.c bounds how many answers a
 * host may owe. */

/* The decision about the tool behind @connection, whose HELLO had @flags and number @id.  The tool
 * is @client from now on.  When @client is NULL, the tool is refused with @status because it
 * @why.  When @connection is NULL, @client has gone after the host had welcomed it. */
typedef void (*sx_tool_decided_fn)(struct sx_connection *connection, struct sx_client *client,
                                   uint32_t flags, uint32_t id, pmix_status_t status,
                                   const char *why);

/* Return: PMIX_SUCCESS when @decided will be called, unless the tool disconnects; until then this
 * file owns the connection.  Else the tool is refused now, with this status and *ret_why. */
pmix_status_t sx_tool_ask(struct sx_connection *connection, const struct sx_hello *hello,
                          uint32_t id, sx_tool_decided_fn decided, const char **ret_why);

/* Ask the host whether @client may connect: its client_connected[2], whose return value is the
 * answer.  Return: PMIX_SUCCESS when @decided will be called, as above; PMIX_ERR_NOT_SUPPORTED when
 * the host has no such entry, and the rank may connect; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_client_ask(struct sx_connection *connection, const struct sx_hello *hello,
                            uint32_t id, struct sx_client *client, sx_tool_decided_fn decided);

/* The server ends. */
void sx_tool_ask_end_all(struct sx_server *server);

/* ---- turn: one round over all clients, once per turn of the loop ----------------------------- */

/* Let the loop serve clients once per turn and before it sleeps.  Before the loop runs. */
void sx_turn_hook(struct sx_server *server);

/* ---- dispatch: which handler answers which control frame and which lane message -------------- */

extern const struct sx_consumer sx_dispatch_consumer;

/* ---- reaper: a good-bye, or a death that one of three signals reports ------------------------ */

/* Watch for the death of a client that has connected: pidfd (the authority) and life word (a hint).
 * The end of the process before it is no longer watched. */
void sx_reaper_watch(struct sx_server *server, struct sx_client *client);
void sx_reaper_unwatch(struct sx_server *server, struct sx_client *client);

/* Watch the life word too, once the client holds it (at its first lane message). */
void sx_reaper_watch_hint(struct sx_server *server, struct sx_client *client);

/* The client's socket has ended.  After FINALIZE this is in order; otherwise the client is lost. */
void sx_reaper_socket_ended(struct sx_server *server, struct sx_client *client, const char *why);

/* A client that has finalized may connect again.  So may another process in its place, as a wrapper
 * may run two programs.  If its process was the host's own child and has exited, no process
 * connects again.  The client has departed, and operations that wait for it continue without it.
 * The host may also report the departure itself. */
void sx_reaper_client_departed(struct sx_server *server, struct sx_client *client);
/* A process takes the client's place, or the client is removed: stop waiting for its departure. */
void sx_reaper_await_nobody(struct sx_server *server, struct sx_client *client);

/* The client has sent FINALIZE.  Answer it, notify the host, and keep the socket until it ends. */
void sx_reaper_client_finalized(struct sx_server *server, struct sx_client *client, uint32_t id);

/* Another process claims to be this client.  Return: true when the process before it has died; the
 * client is then lost, and may be connected again.  The host may notice a death before this server
 * does, and start the rank again. */
bool sx_reaper_client_replaced(struct sx_server *server, struct sx_client *client);

/* A breach of protocol: one log line with the reason, then as lost. */
void sx_reaper_client_breaks(struct sx_server *server, struct sx_client *client, const char *why);
/* The client is gone without a good-bye.  Its collectives end, its waiters are answered, and the
 * host is notified. */
void sx_reaper_client_lost(struct sx_server *server, struct sx_client *client);

/* The host takes @name: tools that have it are disconnected. */
void sx_reaper_name_claimed(struct sx_server *server, const char *name);

/* ---- host_get: Get and Store_internal of the host itself ------------------------------------- */

extern const struct sx_role_server sx_hostget_role;

/* The server has ended: forget what the host stored. */
void sx_hostget_clear(void);

/* ---- ending: what the host takes away -------------------------------------------------------- */

void sx_endings_init(struct sx_server *server);
/* The host has deregistered @client, which need not be connected. */
void sx_client_take_away(struct sx_server *server, struct sx_client *client);
/* The host has deregistered @nspace, which is not ending yet: it goes in steps, of which some may
 * be done on return, or all. */
void sx_ending_begin(struct sx_server *server, struct sx_nspace *nspace);
/* A call of the host names @name.  Return: true when the namespace of that name is just ending, and
 * the call will be made again; false when there is none, or none any more. */
bool sx_ending_is_awaited(struct sx_server *server, const char *name);
/* The server ends: nothing is left for later. */
void sx_endings_finish(struct sx_server *server);

/* ---- contact: files for tools ---------------------------------------------------------------- */

/* Which contact files (control/contact.h) this server has.
 *
 * Only with tool support: pmix.HOST.tool.NSPACE and pmix.HOST.tool.PID, and pmix.HOST.tool for the
 * first one; of the system server pmix.sys.HOST, which all users may read; and the file that the
 * host or the environment names for a launcher. */

/* Before anything else. */
void sx_contacts_init(struct sx_server *server);
/* Once the rendezvous accepts connections.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS when there is a
 * system server, or another server has the launcher's file; what else fails of these two.  All with
 * a line. */
pmix_status_t sx_contacts_open(struct sx_server *server, const struct sx_server_options *options);
/* Calling it twice is safe. */
void sx_contacts_close(struct sx_server *server);

/* ---- journal: lines of a successful run ------------------------------------------------------ */

/* The log lines of a successful run, for SHMIX_LOG=info and debug.
 *
 * info has the lives of the server, its namespaces and its clients; debug has each request of a
 * client, too.  The end of a collective is logged where it ends (collective/collective.c), and so
 * are events (event/event.c) and calls of the host (port/question.c). */

void sx_journal_server_started(const struct sx_server *server);

/* As struct sx_family has them. */
void sx_journal_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_journal_client_connected(struct sx_server *server, struct sx_client *client);
void sx_journal_client_left(struct sx_server *server, struct sx_client *client);
void sx_journal_client_departed(struct sx_server *server, struct sx_client *client);
void sx_journal_client_lost(struct sx_server *server, struct sx_client *client);

/* @nspace has been registered for the first time. */
void sx_journal_nspace_registered(const struct sx_nspace *nspace);
/* @client has sent @frame, which is judged. */
void sx_journal_frame(const struct sx_client *client, const struct sx_frame *frame);

/* ---- log_bound: lines that a user may cause -------------------------------------------------- */

/* How many lines one user can make the server write in a time.
 *
 *     FREE --a line--> OPEN --SHMIX_LOG_LINES lines--> FULL, lines are counted
 *      ^                \--the period ends--> FREE      |
 *      \--the period ends: one line says how many-------/
 *
 * Refusals are logged, and a client can have the same request refused for ever, or connect again
 * under other names.  So the lines that come about while the server serves a process count against
 * that process's user.  Lines of the loop that belong to no user have a share of their own; so do,
 * together, the users for whom there is no more room.  Errors and warnings have SHMIX_LOG_LINES in
 * each period, lines of the other levels SX_LOG_BOUND_DETAILS times as many.  Clients receive each
 * status in any case. */

#define SX_LOG_BOUND_LINES 64u    /* without SHMIX_LOG_LINES */
#define SX_LOG_BOUND_DETAILS 256u /* a thousand ranks that come, go, and have some fences */
#define SX_LOG_BOUND_OTHERS 8u    /* shares of the lines of no user */
#define SX_LOG_BOUND_NS UINT64_C(60000000000)

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM when SHMIX_LOG_LINES is not such a number. */
pmix_status_t sx_log_bound_init(struct sx_server *server);

/* For this process, and for good: without a server nothing is held back. */
void sx_log_bound_begin(void);

/* Lines logged from now on count for a process of @uid, until a second call with the value that the
 * first returned.  Loop thread. */
struct sx_log_cause sx_log_bound_serve(struct sx_server *server, uint32_t uid);
void sx_log_bound_served(struct sx_server *server, struct sx_log_cause before);

/* The server ends: log how many lines have been left out.  No other thread uses @server any
 * more. */
void sx_log_bound_end(struct sx_server *server);

#endif
