/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix_server.h - what the host of a server calls, and the upcalls it provides.
 *
 * The host is the launcher or the daemon of a resource manager that runs the processes of a
 * node. Host functions may be called from any thread, also from inside an upcall, unless a
 * comment says otherwise. A function with a callback that returns PMIX_SUCCESS calls it exactly
 * once; PMIX_OPERATION_SUCCEEDED says that the work is done and the callback will not be called;
 * with a NULL callback the function blocks.
 *
 * An upcall runs on the server's loop thread, at the end of a turn, and must not block. Upcalls come
 * in the order of their causes: client_connected before a process's first request,
 * client_finalized after its last, an event after its publication here. An upcall returns
 * PMIX_SUCCESS and calls its callback later, from any thread and exactly once, or returns another
 * status and never calls it; PMIX_OPERATION_SUCCEEDED means that it has done its work. Its arguments
 * stay the library's, and valid until the callback is called; only @data of fence_nb is the host's to
 * free. In an upcall or an event handler of the host,
 * PMIx_server_init and PMIx_server_finalize give PMIX_ERR_NOT_SUPPORTED, since the end of the
 * server waits for its thread; so does what waits for a server, if the host is a client, too. */
#ifndef PMIX_SERVER_H
#define PMIX_SERVER_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Upcalls --------------------------------------------------------------------------------- */

/* A client has called PMIx_Init; @server_object is what it was registered with. @cbfunc is NULL: the
 * return value is the answer, and the client waits for it. PMIX_SUCCESS, PMIX_OPERATION_SUCCEEDED and
 * PMIX_ERR_NOT_SUPPORTED welcome it; any other status is that of its PMIx_Init. Older than
 * client_connected2, which comes first when both are there. */
typedef pmix_status_t (*pmix_server_client_connected_fn_t)(const pmix_proc_t *proc,
    void *server_object, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* As client_connected, with facts about the client. */
typedef pmix_status_t (*pmix_server_client_connected2_fn_t)(const pmix_proc_t *proc,
    void *server_object, pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A client has called PMIx_Finalize. Its call returns when this entry has returned, and does not wait
 * for the callback: a host that never answers holds no rank. */
typedef pmix_status_t (*pmix_server_client_finalized_fn_t)(const pmix_proc_t *proc,
    void *server_object, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A client asks for the end of @procs (NULL: of its job). */
typedef pmix_status_t (*pmix_server_abort_fn_t)(const pmix_proc_t *proc, void *server_object,
    int status, const char *msg, pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* All local processes of a fence have joined; @data, of @ndata bytes, is what this node adds. It is
 * the host's from the call on, whatever the entry returns: free() it once it is sent. All other
 * arguments stay the library's until the callback is called. The callback brings the data of all
 * nodes, one behind the other: in any order, also twice, with this node's or without.
 * Nodes are matched by @procs, which are the same on each, and fences of the same @procs by their
 * order. PMIX_COLLECT_DATA is always given, and true: @data is needed for a plain barrier, too. */
typedef pmix_status_t (*pmix_server_fencenb_fn_t)(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
    void *cbdata);

/* Somebody wants the data of a process on another node. */
typedef pmix_status_t (*pmix_server_dmodex_req_fn_t)(const pmix_proc_t *proc,
    const pmix_info_t *info, size_t ninfo, pmix_modex_cbfunc_t cbfunc, void *cbdata);

/* A client publishes; @info holds data and directives. */
typedef pmix_status_t (*pmix_server_publish_fn_t)(const pmix_proc_t *proc, const pmix_info_t *info,
    size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A client looks up @keys. */
typedef pmix_status_t (*pmix_server_lookup_fn_t)(const pmix_proc_t *proc, char **keys,
    const pmix_info_t *info, size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata);

/* A client withdraws @keys (NULL: all). */
typedef pmix_status_t (*pmix_server_unpublish_fn_t)(const pmix_proc_t *proc, char **keys,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A client starts a job. The host registers the namespace of that job (PMIx_server_register_nspace,
 * with PMIX_PARENT_ID: @proc, and PMIX_SPAWNED: true) and its clients, and starts them as any others.
 * Then it calls @cbfunc with PMIX_SUCCESS and the name of the namespace: from that call on the caller
 * of PMIx_Spawn reads the job's data. If the job cannot start, it calls @cbfunc with another status and
 * NULL. @job_info and @apps stay the library's until then. */
typedef pmix_status_t (*pmix_server_spawn_fn_t)(const pmix_proc_t *proc,
    const pmix_info_t *job_info, size_t ninfo, const pmix_app_t *apps, size_t napps,
    pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/* All local processes of a connect have joined. */
typedef pmix_status_t (*pmix_server_connect_fn_t)(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* All local processes of a disconnect have joined. */
typedef pmix_status_t (*pmix_server_disconnect_fn_t)(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Somebody on this node wants to hear of events with @codes (NULL: of all). */
typedef pmix_status_t (*pmix_server_register_events_fn_t)(pmix_status_t *codes, size_t ncodes,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Nobody on this node wants to hear of them any more. */
typedef pmix_status_t (*pmix_server_deregister_events_fn_t)(pmix_status_t *codes, size_t ncodes,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A client raises an event that others shall hear of. */
typedef pmix_status_t (*pmix_server_notify_event_fn_t)(pmix_status_t code,
    const pmix_proc_t *source, pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The host hands over a connection it has accepted. */
typedef void (*pmix_connection_cbfunc_t)(int incoming_sd, void *cbdata);

/* Lets the host accept connections on the library's behalf. */
typedef pmix_status_t (*pmix_server_listener_fn_t)(int listening_sd,
    pmix_connection_cbfunc_t cbfunc, void *cbdata);

/* A client asks what the library cannot answer by itself. */
typedef pmix_status_t (*pmix_server_query_fn_t)(pmix_proc_t *proct, pmix_query_t *queries,
    size_t nqueries, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* The host accepts a tool and says who it is. */
typedef void (*pmix_tool_connection_cbfunc_t)(pmix_status_t status, pmix_proc_t *proc,
    void *cbdata);

/* A tool wants to connect. @proc of the answer is its name, with an empty namespace the server gives
 * one. A namespace of tools belongs to one user: a tool of another one is refused
 * (PMIX_ERR_NO_PERMISSIONS), and so is one with a name that is a job's, that of connected processes
 * or a group, or kept for jobs to come (PMIX_EXISTS; see PMIx_server_register_nspace). */
typedef void (*pmix_server_tool_connection_fn_t)(pmix_info_t *info, size_t ninfo,
    pmix_tool_connection_cbfunc_t cbfunc, void *cbdata);

/* A client logs. */
typedef void (*pmix_server_log_fn_t)(const pmix_proc_t *client, const pmix_info_t *data,
    size_t ndata, const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* A client asks for resources or gives some back. */
typedef pmix_status_t (*pmix_server_alloc_fn_t)(const pmix_proc_t *client,
    pmix_alloc_directive_t directive, const pmix_info_t *data, size_t ndata,
    pmix_info_cbfunc_t cbfunc, void *cbdata);

/* A client asks for something to be done to @targets (NULL: its job). */
typedef pmix_status_t (*pmix_server_job_control_fn_t)(const pmix_proc_t *requestor,
    const pmix_proc_t *targets, size_t ntargets, const pmix_info_t *directives, size_t ndirs,
    pmix_info_cbfunc_t cbfunc, void *cbdata);

/* A client wants to be watched. */
typedef pmix_status_t (*pmix_server_monitor_fn_t)(const pmix_proc_t *requestor,
    const pmix_info_t *monitor, pmix_status_t error, const pmix_info_t *directives, size_t ndirs,
    pmix_info_cbfunc_t cbfunc, void *cbdata);

/* A client asks for a credential. */
typedef pmix_status_t (*pmix_server_get_cred_fn_t)(const pmix_proc_t *proc,
    const pmix_info_t *directives, size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata);

/* A client asks whether a credential is genuine. */
typedef pmix_status_t (*pmix_server_validate_cred_fn_t)(const pmix_proc_t *proc,
    const pmix_byte_object_t *cred, const pmix_info_t *directives, size_t ndirs,
    pmix_validation_cbfunc_t cbfunc, void *cbdata);

/* A tool wants output of @procs. */
typedef pmix_status_t (*pmix_server_iof_fn_t)(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *directives, size_t ndirs, pmix_iof_channel_t channels,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A tool sends input to @targets. */
typedef pmix_status_t (*pmix_server_stdin_fn_t)(const pmix_proc_t *source,
    const pmix_proc_t *targets, size_t ntargets, const pmix_info_t *directives, size_t ndirs,
    const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* All local members of a group operation have joined. */
typedef pmix_status_t (*pmix_server_grp_fn_t)(pmix_group_operation_t op, char *grp,
    const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *directives, size_t ndirs,
    pmix_info_cbfunc_t cbfunc, void *cbdata);

/* A client asks about a fabric. */
typedef pmix_status_t (*pmix_server_fabric_fn_t)(const pmix_proc_t *requestor,
    pmix_fabric_operation_t op, const pmix_info_t *directives, size_t ndirs,
    pmix_info_cbfunc_t cbfunc, void *cbdata);

/* A client asks for something to be done to a session (member of the module from 5.0 on). */
typedef pmix_status_t (*pmix_server_session_control_fn_t)(const pmix_proc_t *requestor,
    uint32_t session_id, const pmix_info_t *directives, size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/* As pmix_server_tool_connection_fn_t, with a status (6.1). */
typedef pmix_status_t (*pmix_server_tool_connection2_fn_t)(pmix_info_t *info, size_t ninfo,
    pmix_tool_connection_cbfunc_t cbfunc, void *cbdata);

/* As pmix_server_log_fn_t, with a status (6.1). */
typedef pmix_status_t (*pmix_server_log2_fn_t)(const pmix_proc_t *client, const pmix_info_t *data,
    size_t ndata, const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* A client defines or changes a block of resources (6.1). */
typedef pmix_status_t (*pmix_server_resource_block_fn_t)(const pmix_proc_t *requestor,
    pmix_resource_block_directive_t directive, const char *block, const pmix_resource_unit_t *units,
    size_t nunits, const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* The upcalls a host provides, in the order of the ABI. Each may be NULL: then the operation is
 * not supported beyond this node. 28 members, 224 bytes: later releases append further ones at
 * offsets on which they do not agree, so this library reads no more than these. */
typedef struct pmix_server_module_4_0_0_t {
    pmix_server_client_connected_fn_t client_connected;
    pmix_server_client_finalized_fn_t client_finalized;
    pmix_server_abort_fn_t abort;
    pmix_server_fencenb_fn_t fence_nb;
    pmix_server_dmodex_req_fn_t direct_modex;
    pmix_server_publish_fn_t publish;
    pmix_server_lookup_fn_t lookup;
    pmix_server_unpublish_fn_t unpublish;
    pmix_server_spawn_fn_t spawn;
    pmix_server_connect_fn_t connect;
    pmix_server_disconnect_fn_t disconnect;
    pmix_server_register_events_fn_t register_events;
    pmix_server_deregister_events_fn_t deregister_events;
    pmix_server_listener_fn_t listener;
    pmix_server_notify_event_fn_t notify_event;
    pmix_server_query_fn_t query;
    pmix_server_tool_connection_fn_t tool_connected;
    pmix_server_log_fn_t log;
    pmix_server_alloc_fn_t allocate;
    pmix_server_job_control_fn_t job_control;
    pmix_server_monitor_fn_t monitor;
    pmix_server_get_cred_fn_t get_credential;
    pmix_server_validate_cred_fn_t validate_credential;
    pmix_server_iof_fn_t iof_pull;
    pmix_server_stdin_fn_t push_stdin;
    pmix_server_grp_fn_t group;
    pmix_server_fabric_fn_t fabric;
    pmix_server_client_connected2_fn_t client_connected2;
} pmix_server_module_t;

/* ---- Life ------------------------------------------------------------------------------------ */

/* Start the server of this process with the host's upcalls (@module may be NULL; it is copied,
 * 224 bytes of it). Counted. Return: PMIX_ERR_UNREACH or PMIX_ERR_NO_PERMISSIONS when the
 * rendezvous cannot be made. From: Standard, Server APIs. */
PMIX_EXPORT pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t *info,
    size_t ninfo);

/* Stop the server: clients lose their connection, the rendezvous is removed. Not from an upcall. */
PMIX_EXPORT pmix_status_t PMIx_server_finalize(void);

/* ---- Namespaces and clients ------------------------------------------------------------------ */

/* Tell the server of a job: @nlocalprocs processes of it run on this node, @info is its data.
 * Must be done before its clients start. A further call adds data, replaces values that it gives
 * again, such as a rank's state, and keeps the rest: 0 for @nlocalprocs keeps the number. @info stays
 * the caller's, and must last until the callback is called. PMIX_ERR_TYPE_MISMATCH: a size, rank or id
 * is no integer, or a host name or map no text; PMIX_ERR_BAD_PARAM: a map, array or value that cannot
 * be stored. The log names the key. A call that is refused registers and changes nothing.
 * The name is the host's, whoever has it: tools of that name are disconnected, and connected
 * processes, groups and invitations of that name end. So it is with the first
 * PMIx_server_register_client. A host that registers STEM, STEM.N or STEM@N (N is decimal), or whose
 * server is called STEM.server, STEM.N or STEM@N, has all names of these forms: from then on no tool
 * and no group is given one. */
PMIX_EXPORT pmix_status_t PMIx_server_register_nspace(const char *nspace, int nlocalprocs,
    pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Forget a job and its clients. Inside the upcalls that this causes the job is gone already, and its
 * name can be registered again. */
PMIX_EXPORT void PMIx_server_deregister_nspace(const char *nspace, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* Announce a process that may connect as @proc with the given user and group; @server_object
 * comes back in upcalls about it. Must be done before it starts. When the process has died, the host
 * may start another in its place without announcing it again; not when it was cut off for a breach
 * of protocol, or deregistered. */
PMIX_EXPORT pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
    void *server_object, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Forget a process; when it is connected, the connection ends. */
PMIX_EXPORT void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* Add to *env what process @proc needs to find this server. Takes no lock and starts nothing: it
 * may be called in a forked child of the host. Calls that need the server return PMIX_ERR_INIT
 * there, and PMIx_server_init PMIX_ERR_NOT_SUPPORTED. */
PMIX_EXPORT pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env);

/* Add data that do not belong to a job, such as those of a session. @info must last until the
 * callback is called. */
PMIX_EXPORT pmix_status_t PMIx_server_register_resources(pmix_info_t *info, size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Take such data back. */
PMIX_EXPORT pmix_status_t PMIx_server_deregister_resources(pmix_info_t *info, size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Data of clients ------------------------------------------------------------------------- */

/* Result of PMIx_server_dmodex_request: everything the process has put for others; @data stays
 * the library's. */
typedef void (*pmix_dmodex_response_fn_t)(pmix_status_t status, char *data, size_t sz,
    void *cbdata);

/* Ask for what a process of this node has put for others; waits until it has committed. */
PMIX_EXPORT pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
    pmix_dmodex_response_fn_t cbfunc, void *cbdata);

/* Pack the job data of the namespaces of @procs (since 6.1). */
PMIX_EXPORT pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
    pmix_data_buffer_t *buffer);

/* ---- Preparing an application ---------------------------------------------------------------- */

/* Result of PMIx_server_setup_application; the host calls @cbfunc when it has used @info. */
typedef void (*pmix_setup_application_cbfunc_t)(pmix_status_t status, pmix_info_t *info,
    size_t ninfo, void *provided_cbdata, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Collect what a new job needs on all of its nodes, to be handed to
 * PMIx_server_setup_local_support there. */
PMIX_EXPORT pmix_status_t PMIx_server_setup_application(const char *nspace,
    pmix_info_t *info, size_t ninfo, pmix_setup_application_cbfunc_t cbfunc, void *cbdata);

/* Prepare this node for a job with what PMIx_server_setup_application collected. */
PMIX_EXPORT pmix_status_t PMIx_server_setup_local_support(const char *nspace,
    pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Write a comma-separated list of nodes as a value for PMIX_NODE_MAP. The new string has no
 * inner NUL; the caller frees it by free(). */
PMIX_EXPORT pmix_status_t PMIx_generate_regex(const char *input, char **output);

/* Write lists of ranks, separated by semicolons, as a value for PMIX_PROC_MAP. The new string
 * has no inner NUL; the caller frees it by free(). */
PMIX_EXPORT pmix_status_t PMIx_generate_ppn(const char *input, char **ppn);

/* Write a list, its elements parted by commas or semicolons, as a value for PMIX_NODE_MAP or
 * PMIX_PROC_MAP (since 7.0). The caller destructs @regex. */
PMIX_EXPORT pmix_status_t PMIx_generate_regex2(const char *input, pmix_info_t info[], size_t ninfo,
    pmix_regex2_t *regex);

/* Read it back, in the order in which it was given (since 7.0). The caller frees *@output.
 * PMIX_ERR_NOT_SUPPORTED: another library's method. */
PMIX_EXPORT pmix_status_t PMIx_parse_regex2(const pmix_regex2_t *regex, pmix_info_t info[],
    size_t ninfo, char **output);

/* Write where @cpuset sits as a value for PMIX_LOCALITY_STRING. */
PMIX_EXPORT pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t *cpuset,
    char **locality);

/* Write @cpuset as text. */
PMIX_EXPORT pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t *cpuset,
    char **cpuset_string);

/* Make a cpuset of a list of processors (since 6.1). */
PMIX_EXPORT pmix_status_t PMIx_server_generate_cpuset(const char *cpuset_string,
    pmix_cpuset_t *cpuset);

/* ---- Output, inventory, sets and attributes -------------------------------------------------- */

/* Hand output of @source to the tools and clients that pull it. */
PMIX_EXPORT pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source,
    pmix_iof_channel_t channel, const pmix_byte_object_t *bo, const pmix_info_t *info, size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Let the processes that feed @channel of this server stop (@xoff) or go on (since 7.0). */
PMIX_EXPORT pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t *source,
    pmix_iof_channel_t channel, bool xoff, const pmix_info_t directives[], size_t ndirs,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Describe the devices of this node. */
PMIX_EXPORT pmix_status_t PMIx_server_collect_inventory(pmix_info_t *directives, size_t ndirs,
    pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Hand over what other nodes described. */
PMIX_EXPORT pmix_status_t PMIx_server_deliver_inventory(pmix_info_t *info, size_t ninfo,
    pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Name a set of processes; its members hear of it by an event. */
PMIX_EXPORT pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members,
    size_t nmembers, const char *pset_name);

/* Forget a set. */
PMIX_EXPORT pmix_status_t PMIx_server_delete_process_set(char *pset_name);

/* Tell which attributes a function of the host supports; @attrs is NULL-ended. */
PMIX_EXPORT pmix_status_t PMIx_Register_attributes(char *function, char **attrs);

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SERVER_H */
