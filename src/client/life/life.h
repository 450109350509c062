/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* life.h - PMIx_Init, PMIx_tool_init and PMIx_Finalize.
 *
 *     NONE --PMIx_Init, PMIx_tool_init, sx_tool_attach--> READY --the last finalize--> NONE
 *        with a server: HELLO --> WELCOME with descriptors --map--> its link is LIVE
 *        without one:   a singleton, which may join a server later
 *
 * attach.c makes links and ends the process; tool.c and tool_search.c find servers for tools.  The
 * command (src/cli) enters by sx_tool_begin and sx_tool_attach; the rest serves this folder
 * alone. */
#ifndef SX_CLIENT_LIFE_LIFE_H
#define SX_CLIENT_LIFE_LIFE_H

#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "client/link/link.h"

/* ---- steps of a beginning -------------------------------------------------------------------- */

/* The steps that PMIx_Init shares with other ways to begin: tool.c. */

/* The role and name that a process sends to a server. */
struct sx_introduction {
    uint32_t role;         /* enum sx_peer_role */
    const char *home;      /* the job of a command; NULL: none */
    pmix_proc_t name;      /* for a further server; empty: it may choose one */
    uint32_t pid, library; /* of a gateway: control/message.h */
};

/* Make the process READY: connect it, or leave it a singleton.  With life_lock. */
typedef pmix_status_t (*sx_life_open_fn)(struct sx_process *p, void *arg);

/* Call @open the first time; each call needs one finalize more.  Return: PMIX_SUCCESS and the name
 * of this process; as @open; PMIX_ERR_NOT_SUPPORTED where a call may not wait. */
pmix_status_t sx_life_begin(const struct sx_init_options *options, sx_life_open_fn open, void *arg,
                            pmix_proc_t *ret_self);

/* Over the socket of @link, which is connected: send HELLO, with the name in p->self (the first
 * link) or @link's, and receive WELCOME.  *ret_before: handlers that were registered before it have
 * smaller ids.  With life_lock. */
pmix_status_t sx_life_introduce(struct sx_process *p, struct sx_link *link,
                                const struct sx_introduction *as, uint64_t deadline_ns,
                                size_t *ret_before);
/* The same for a READY singleton, over the socket @fd, which is taken over. */
pmix_status_t sx_life_join(struct sx_process *p, int fd, const struct sx_introduction *as,
                           uint64_t deadline_ns, size_t *ret_before);

/* The same for a process that has or had a server, with one server more.  Return: *ret_link;
 * PMIX_ERR_OUT_OF_RESOURCE when the process has or had too many; PMIX_ERR_NOT_SUPPORTED behind
 * shmix_fd. */
pmix_status_t sx_life_add(struct sx_process *p, int fd, const struct sx_introduction *as,
                          uint64_t deadline_ns, struct sx_link **ret_link, size_t *ret_before);

/* Open the process that the environment names, with the server that it names.  With life_lock.
 * Return: PMIX_ERR_UNREACH when it names no server, or none listens there. */
pmix_status_t sx_life_attach_rank(struct sx_process *p);

/* Send the server of @link that this process leaves in an orderly way. */
void sx_life_good_bye(struct sx_link *link);

/* ---- the server that a tool means ------------------------------------------------------------ */

/* Which server a tool means, and how to connect to it.
 *
 *   named (the first of these that is given; if it fails, so does the search):
 *     attachment file, URI, process, namespace, the server of a role, the first of several roles
 *   not named:
 *     the system server, else the one server of this user's sessions
 *
 * Sessions are searched for in the temporary directory, and in the directories of this user's
 * launchers in it. */

#define SX_TOOL_WHY_MAX 2048
#define SX_TOOL_WHY_SEVERAL "name one of yours" /* part of @ret_why, if that is the whole remedy */

/* Connect to the server that is meant; retried as the options say while there is no such server.
 * Return: PMIX_SUCCESS with a socket; PMIX_ERR_UNREACH when there is none, or several and none is
 * named; PMIX_ERR_BAD_PARAM for directions that contradict each other, and for a file that is not a
 * contact file; PMIX_ERR_NOT_SUPPORTED for a server of another PMIx library;
 * PMIX_ERR_NO_PERMISSIONS for one of another user, and for any named process of that user.
 * @ret_why says what was searched for, and where. */
pmix_status_t sx_tool_search(const struct sx_tool_options *options, int *ret_fd,
                             char ret_why[SX_TOOL_WHY_MAX]);

/* ---- tools ----------------------------------------------------------------------------------- */

/* Become a tool from inside of this library; or a command, which is not reported to any host. */

/* PMIx_tool_init; PMIx_tool_finalize ends it.  Return: as PMIx_tool_init.  The reason why no server
 * was found is in @ret_why instead of the log; otherwise @ret_why is empty. */
pmix_status_t sx_tool_begin(const struct sx_tool_options *options, pmix_proc_t *ret_self,
                            char ret_why[SX_TOOL_WHY_MAX]);

/* Attach this process, which has not called PMIx_Init, to the server at the other end of @fd, which
 * is taken over, and read the ring of job @home.  PMIx_Finalize ends it.  Return: PMIX_SUCCESS; the
 * status of the server's refusal; PMIX_ERR_TIMEOUT; PMIX_ERR_LOST_CONNECTION; any other error on
 * the way. */
pmix_status_t sx_tool_attach(int fd, const char *home, uint64_t deadline_ns);

/* ---- tools that are servers ------------------------------------------------------------------ */

/* A tool that is a server as well: PMIX_LAUNCHER. */

/* Start the server of this tool, which has the tool's name: @self.  If the tool has one already,
 * nothing happens.  Return: as PMIx_server_init; PMIX_ERR_EXISTS when this process is a server of
 * its own. */
pmix_status_t sx_launcher_begin(const struct sx_tool_options *options, const pmix_proc_t *self);

/* End the server of this tool, if there is one. */
void sx_launcher_end(void);

/* In the child of a fork: the server is the parent's. */
void sx_launcher_forked(void);

/* ---- the process that has started this tool -------------------------------------------------- */

/* A pipe whose other end lives as long as the process that has started this tool. */

/* Watch the pipe that the variable PMIX_KEEPALIVE_PIPE names, if there is one, until it is closed:
 * that is PMIX_EVENT_JOB_END for the handlers of this process.  The variable is taken out of the
 * environment, and programs that this one starts do not inherit the pipe. */
void sx_keepalive_begin(void);
/* Stop watching. */
void sx_keepalive_end(void);
/* In the child of a fork: the thread does not exist there. */
void sx_keepalive_forked(void);

/* ---- debuggers ------------------------------------------------------------------------------- */

/* A rank that is to stop in PMIx_Init.
 *
 *   its data have PMIX_DEBUG_STOP_IN_INIT --PMIX_READY_FOR_DEBUG--> it waits
 *       --PMIX_DEBUGGER_RELEASE--> it continues
 *       \--the server is lost--> PMIx_Init fails */

/* Stop @self, which has just become a client, if its data say so; costs a read of memory if not.
 * Return: PMIX_SUCCESS; PMIX_ERR_LOST_CONNECTION when no server can release it any more. */
pmix_status_t sx_debug_stop(const pmix_proc_t *self);

/* ---- servers of other libraries -------------------------------------------------------------- */

/* Why a process is a singleton although it was launched. */

/* For a process with a name but without a server of this library in its environment.  Log which two
 * libraries are in use and what to set, or which function the host must call. */
void sx_foreign_server_notify(const pmix_proc_t *self);

/* For a process without a name: the same if its parent has a server. */
void sx_foreign_parent_notify(void);

#endif
