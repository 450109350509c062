/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix_tool.h - what a tool calls: a program that no job started, such as a debugger or a
 * launcher.
 *
 * A tool attaches to one server or several and then uses the functions of pmix.h. The rules of
 * pmix.h on status codes, threads and callbacks hold here too. */
#ifndef PMIX_TOOL_H
#define PMIX_TOOL_H

#include <pmix.h>
#include <pmix_server.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Life and servers ------------------------------------------------------------------------ */

/* Start a tool and connect it as @info says; @proc receives its identity. Return:
 * PMIX_ERR_UNREACH when there is no server and one is needed. From: RFC0010. */
PMIX_EXPORT pmix_status_t PMIx_tool_init(pmix_proc_t *proc, pmix_info_t *info, size_t ninfo);

/* Disconnect the tool from all servers. */
PMIX_EXPORT pmix_status_t PMIx_tool_finalize(void);

/* Connect to a further server; @server (NULL: not wanted) receives its identity, @proc the
 * tool's there. */
PMIX_EXPORT pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t *proc, pmix_proc_t *server,
    pmix_info_t *info, size_t ninfo);

/* Leave one server. */
PMIX_EXPORT pmix_status_t PMIx_tool_disconnect(const pmix_proc_t *server);

/* Return: whether the tool has a server. */
PMIX_EXPORT bool PMIx_tool_is_connected(void);

/* Identities of the servers the tool is connected to, as a new array. */
PMIX_EXPORT pmix_status_t PMIx_tool_get_servers(pmix_proc_t **servers, size_t *nservers);

/* Send requests to this server from now on. */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server(const pmix_proc_t *server, pmix_info_t *info,
    size_t ninfo);

/* Give a tool upcalls of a host, so that it can act as a server. */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t *module);

/* ---- Standard streams ------------------------------------------------------------------------ */

/* Some output of @source has arrived. An empty @payload means that the stream has ended. */
typedef void (*pmix_iof_cbfunc_t)(size_t iofhdlr, pmix_iof_channel_t channel, pmix_proc_t *source,
    pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo);

/* Ask for output of @procs; each piece comes to @cbfunc. Without @regcbfunc the call blocks and
 * returns the number of the request or an error. */
PMIX_EXPORT pmix_status_t PMIx_IOF_pull(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *directives, size_t ndirs, pmix_iof_channel_t channel,
    pmix_iof_cbfunc_t cbfunc, pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata);

/* Stop such a request. */
PMIX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t *directives,
    size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Send input to @targets; a NULL @bo with PMIX_IOF_PUSH_STDIN sends the caller's own standard
 * input. */
PMIX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t *targets, size_t ntargets,
    pmix_byte_object_t *bo, const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

#ifdef __cplusplus
}
#endif

#endif /* PMIX_TOOL_H */
