/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix.h - what a process of a job calls.
 *
 * Every function that returns pmix_status_t returns PMIX_SUCCESS or a negative code. Unless its
 * comment says otherwise it gives PMIX_ERR_INIT before PMIx_Init and PMIX_ERR_BAD_PARAM for a
 * NULL where a value is needed; it may be called from any thread. A function that this library
 * does not support gives PMIX_ERR_NOT_SUPPORTED (see docs/support.md).
 *
 * A name ending in _nb returns at once: PMIX_SUCCESS means that the callback will be called
 * exactly once, with the result, on the library's progress thread; any other status means that
 * it will not be called. Arguments must stay valid until then.
 *
 * A callback or an event handler may call any function, blocking ones too: a call takes in by
 * itself what it waits for. Other callbacks wait until it returns. One that would wait for itself
 * gives PMIX_ERR_NOT_SUPPORTED (see docs/support.md). */
#ifndef PMIX_H
#define PMIX_H

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Life ------------------------------------------------------------------------------------ */

/* Connect the process to the server that started it and fill @proc with its identity (NULL: not
 * wanted). Counted: a second call reports the same identity; each may declare a programming model
 * in @info. A process on its own may join a server later, in a call with its PMIX_SERVER_URI: it
 * keeps its identity, which the server's host has to register, what it has put, and its handlers;
 * what it put for others goes with the next PMIx_Commit. Return: PMIX_SUCCESS; PMIX_ERR_UNREACH when no server is there, in which case @proc
 * is a namespace of this one process and calls that need no server go on working. From:
 * Standard, Initialization; RFC0003. */
PMIX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t *info, size_t ninfo);

/* Take back one PMIx_Init; the last one disconnects, ends the progress thread and invalidates
 * pointers got with PMIX_GET_POINTER_VALUES. With PMIX_EMBED_BARRIER a fence of the job comes
 * first. Return: PMIX_ERR_INIT when there is nothing to take back; PMIX_ERR_NOT_SUPPORTED in a
 * callback that another thread's PMIx_Finalize waits for. */
PMIX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t *info, size_t ninfo);

/* Return: non-zero between PMIx_Init and the last PMIx_Finalize, also for servers and tools. Any
 * thread, any time. */
PMIX_EXPORT int PMIx_Initialized(void);

/* Ask the host to end @procs (NULL: the whole job) with exit code @status and to print @msg
 * (NULL: none). May return before they have ended. Return: PMIX_ERR_NOT_SUPPORTED when the host
 * can end only the whole job and @procs names fewer. */
PMIX_EXPORT pmix_status_t PMIx_Abort(int status, const char *msg, pmix_proc_t *procs,
    size_t nprocs);

/* Return: the library's name, version and ABI level, a constant string. Any thread, any time;
 * the first character is a letter or a digit from 3 up, since loaders compare it. */
PMIX_EXPORT const char *PMIx_Get_version(void);

/* Take in what has arrived, without waiting: for a process that has no progress thread. */
PMIX_EXPORT void PMIx_Progress(void);

/* Stop the progress thread that @info names (since 6.1); not in a callback, which runs on it. */
PMIX_EXPORT void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo);

/* ---- Putting and getting data ---------------------------------------------------------------- */

/* Store @val under @key for the processes that @scope names; nobody sees it before PMIx_Commit.
 * The value is copied. Keys beginning with "pmix" are the host's to give. From: Standard, Data
 * Access.
 *
 * A @scope of PMIX_DEL_LOCAL, _REMOTE, _GLOBAL or _INTERNAL takes the key away from those whom
 * the scope without DEL names (since 7.0). @val is not looked at and may be NULL; a key that is
 * not there is no error. This process sees it at once, others after PMIx_Commit: those of other
 * nodes with the next fence that collects data. PMIX_ERR_NOT_SUPPORTED: @key is
 * PMIX_QUALIFIED_VALUE, or begins with "pmix" and @scope is not PMIX_DEL_INTERNAL. */
PMIX_EXPORT pmix_status_t PMIx_Put(pmix_scope_t scope, const char *key, pmix_value_t *val);

/* Hand everything put since the last commit to the server. Never waits for other processes. */
PMIX_EXPORT pmix_status_t PMIx_Commit(void);

/* Wait until every process in @procs (NULL: all of the caller's job; PMIX_RANK_WILDCARD: all of
 * a namespace) has called it with the same set. With PMIX_COLLECT_DATA, data committed before
 * are then readable by all. Return: PMIX_ERR_TIMEOUT after PMIX_TIMEOUT seconds; an error when a
 * process of the set has died; PMIX_ERR_NOT_A_MEMBER. From: Standard, Synchronization. */
PMIX_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo);

/* As PMIx_Fence; the result comes to @cbfunc. */
PMIX_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Read @key of process @proc into a new value, which the caller releases with
 * PMIX_VALUE_RELEASE. A NULL @proc is the caller's job with PMIX_RANK_UNDEF, which looks at the
 * job, at the caller and then at every process; PMIX_RANK_WILDCARD means data of the job. A NULL
 * @key gives all that is known of @proc, as a PMIX_DATA_ARRAY. A key that is not there is waited
 * for, unless PMIX_OPTIONAL or PMIX_IMMEDIATE is given or the key is reserved. Return:
 * PMIX_ERR_NOT_FOUND; PMIX_ERR_TIMEOUT; PMIX_ERR_BAD_PARAM. From: Standard, Data Access. */
PMIX_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key,
    const pmix_info_t *info, size_t ninfo, pmix_value_t **val);

/* As PMIx_Get; the value comes to @cbfunc and stays the library's. */
PMIX_EXPORT pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char *key,
    const pmix_info_t *info, size_t ninfo, pmix_value_cbfunc_t cbfunc, void *cbdata);

/* Store @val (copied) under @key of @proc for later PMIx_Get calls of this process alone. */
PMIX_EXPORT pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key,
    pmix_value_t *val);

/* The processes of @nspace (NULL or empty: of every namespace) on node @nodename (NULL: this
 * one), as a new array. */
PMIX_EXPORT pmix_status_t PMIx_Resolve_peers(const char *nodename, const char *nspace,
    pmix_proc_t **procs, size_t *nprocs);

/* The nodes that run processes of @nspace, as a new comma-separated string. */
PMIX_EXPORT pmix_status_t PMIx_Resolve_nodes(const char *nspace, char **nodelist);

/* ---- Events ---------------------------------------------------------------------------------- */

/* Call @evhdlr for events with one of @codes (NULL: a default handler, for all that no other
 * handler asked for). Handlers run one after the other on the progress thread; each must call
 * the completion function it is given. With a @cbfunc the call returns at once and the handler's
 * number comes there; without, it blocks and returns the number (0 or greater) or an error.
 * Return: PMIX_ERR_EVENT_REGISTRATION when the place asked for is taken. From: RFC0002, RFC0018;
 * Standard, Event Notification. */
PMIX_EXPORT pmix_status_t PMIx_Register_event_handler(pmix_status_t *codes, size_t ncodes,
    pmix_info_t *info, size_t ninfo, pmix_notification_fn_t evhdlr, pmix_hdlr_reg_cbfunc_t cbfunc,
    void *cbdata);

/* Remove a handler; it is not called after the callback, or after the return when @cbfunc is
 * NULL. Return: PMIX_ERR_BAD_PARAM when no handler has the number. */
PMIX_EXPORT pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* Tell the processes that @range names of event @status from @source (NULL: the caller). The
 * callback tells that it was handed on, not that anybody has seen it. From: RFC0002. */
PMIX_EXPORT pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
    pmix_data_range_t range, const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* ---- Publishing ------------------------------------------------------------------------------ */

/* Make the values of @info available to PMIx_Lookup, for the range and time that directives
 * among them name. Return: PMIX_ERR_DUPLICATE_KEY when one is published in that range already.
 * From: Standard, Publish/Lookup. */
PMIX_EXPORT pmix_status_t PMIx_Publish(const pmix_info_t *info, size_t ninfo);

/* As PMIx_Publish. */
PMIX_EXPORT pmix_status_t PMIx_Publish_nb(const pmix_info_t *info, size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Find what was published under the keys of @data; value and publisher are filled in. With
 * PMIX_WAIT it waits for them. Return: PMIX_ERR_PARTIAL_SUCCESS when some were found,
 * PMIX_ERR_NOT_FOUND when none. */
PMIX_EXPORT pmix_status_t PMIx_Lookup(pmix_pdata_t *data, size_t ndata, const pmix_info_t *info,
    size_t ninfo);

/* As PMIx_Lookup, for a NULL-ended vector of keys. */
PMIX_EXPORT pmix_status_t PMIx_Lookup_nb(char **keys, const pmix_info_t *info, size_t ninfo,
    pmix_lookup_cbfunc_t cbfunc, void *cbdata);

/* Withdraw what the caller published under @keys (NULL: everything). */
PMIX_EXPORT pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t *info, size_t ninfo);

/* As PMIx_Unpublish. */
PMIX_EXPORT pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t *info, size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Starting and connecting processes ------------------------------------------------------- */

/* Start a job of @napps applications; @nspace receives its name. Returns when it has started or
 * failed to. From: Standard, Process Management; RFC0010. */
PMIX_EXPORT pmix_status_t PMIx_Spawn(const pmix_info_t *job_info, size_t ninfo,
    const pmix_app_t *apps, size_t napps, pmix_nspace_t nspace);

/* As PMIx_Spawn; @job_info and @apps must stay valid until the callback. */
PMIX_EXPORT pmix_status_t PMIx_Spawn_nb(const pmix_info_t *job_info, size_t ninfo,
    const pmix_app_t *apps, size_t napps, pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/* Connect all of @procs: they get a new namespace with a rank for each (shmix_connect in <shmix.h>
 * returns them, PMIx_Get of SHMIX_CONNECTED as well), see the job data of one another and hear of
 * their ends. Collective. Return: as PMIx_Fence, once all have called. From: RFC0003. */
PMIX_EXPORT pmix_status_t PMIx_Connect(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo);

/* As PMIx_Connect. */
PMIX_EXPORT pmix_status_t PMIx_Connect_nb(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Take a connection back: collective, with the processes of PMIx_Connect (and its
 * PMIX_CONNECT_ID), or with the new namespace and PMIX_RANK_WILDCARD. */
PMIX_EXPORT pmix_status_t PMIx_Disconnect(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo);

/* As PMIx_Disconnect. */
PMIX_EXPORT pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t *procs, size_t nprocs,
    const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Make the group @grp of @procs; collective. @results is a new array: PMIX_GROUP_CONTEXT_ID if it was
 * asked for, PMIX_GROUP_MEMBERSHIP, PMIX_GROUP_ID. Return: PMIX_ERR_NOT_A_MEMBER when the caller is
 * not among @procs. From: RFC0033; Standard, Process Sets and Groups. */
PMIX_EXPORT pmix_status_t PMIx_Group_construct(const char *grp, const pmix_proc_t *procs,
    size_t nprocs, const pmix_info_t *directives, size_t ndirs, pmix_info_t **results,
    size_t *nresults);

/* As PMIx_Group_construct. */
PMIX_EXPORT pmix_status_t PMIx_Group_construct_nb(const char *grp, const pmix_proc_t *procs,
    size_t nprocs, const pmix_info_t *directives, size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/* Invite @procs to a group that the caller leads; they answer with PMIx_Group_join.  Returns when
 * all have answered, with the group of those who have accepted. */
PMIX_EXPORT pmix_status_t PMIx_Group_invite(const char *grp, const pmix_proc_t *procs,
    size_t nprocs, const pmix_info_t *directives, size_t ndirs, pmix_info_t **results,
    size_t *nresult);

/* As PMIx_Group_invite. @cbfunc may be NULL: PMIX_GROUP_CONSTRUCT_COMPLETE tells the end. */
PMIX_EXPORT pmix_status_t PMIx_Group_invite_nb(const char *grp, const pmix_proc_t *procs,
    size_t nprocs, const pmix_info_t *directives, size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/* Accept or decline the invitation of @leader (NULL: of whoever has sent it).  Who accepts waits
 * until the group stands, or will not. */
PMIX_EXPORT pmix_status_t PMIx_Group_join(const char *grp, const pmix_proc_t *leader,
    pmix_group_opt_t opt, const pmix_info_t *directives, size_t ndirs, pmix_info_t **results,
    size_t *nresult);

/* As PMIx_Group_join. @cbfunc may be NULL: PMIX_GROUP_CONSTRUCT_COMPLETE tells the end. */
PMIX_EXPORT pmix_status_t PMIx_Group_join_nb(const char *grp, const pmix_proc_t *leader,
    pmix_group_opt_t opt, const pmix_info_t *directives, size_t ndirs, pmix_info_cbfunc_t cbfunc,
    void *cbdata);

/* Leave the group; the others hear of it by an event. */
PMIX_EXPORT pmix_status_t PMIx_Group_leave(const char *grp, const pmix_info_t *directives,
    size_t ndirs);

/* As PMIx_Group_leave. */
PMIX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char *grp, const pmix_info_t *directives,
    size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Undo the group; collective. */
PMIX_EXPORT pmix_status_t PMIx_Group_destruct(const char *grp, const pmix_info_t *directives,
    size_t ndirs);

/* As PMIx_Group_destruct. */
PMIX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char *grp, const pmix_info_t *directives,
    size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Queries, logs and control --------------------------------------------------------------- */

/* Ask the library and the host; @info is a new array with one element for each key that was
 * answered; several queries: one PMIX_QUERY_RESULTS each. Return: PMIX_ERR_PARTIAL_SUCCESS when some
 * were; PMIX_ERR_NOT_FOUND when none was. From: RFC0010. */
PMIX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t *queries, size_t nqueries,
    pmix_info_t **info, size_t *ninfo);

/* As PMIx_Query_info; @queries must stay valid until the callback. */
PMIX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t *queries, size_t nqueries,
    pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Hand messages to the channels that the keys of @data name. */
PMIX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t *data, size_t ndata,
    const pmix_info_t *directives, size_t ndirs);

/* As PMIx_Log. */
PMIX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t *data, size_t ndata,
    const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Ask the host to do to @targets (NULL: the caller's job) what @directives say. @results may
 * become NULL. */
PMIX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t *targets, size_t ntargets,
    const pmix_info_t *directives, size_t ndirs, pmix_info_t **results, size_t *nresults);

/* As PMIx_Job_control; a NULL @cbfunc is allowed. */
PMIX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t *targets, size_t ntargets,
    const pmix_info_t *directives, size_t ndirs, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Watch the caller as @monitor says and raise event @error when it seems stuck. */
PMIX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor, pmix_status_t error,
    const pmix_info_t *directives, size_t ndirs, pmix_info_t **results, size_t *nresults);

/* As PMIx_Process_monitor. */
PMIX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor, pmix_status_t error,
    const pmix_info_t *directives, size_t ndirs, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Send one heartbeat. Before 6.1 this was a macro over PMIx_Process_monitor_nb. It still is one, so that
 * a program runs on an older library; (PMIx_Heartbeat)() calls the function. */
PMIX_EXPORT void PMIx_Heartbeat(void);

static inline void pmix_heartbeat_(void)
{
    pmix_info_t beat = PMIX_INFO_STATIC_INIT;

    pmix_load_key_(beat.key, PMIX_SEND_HEARTBEAT);
    (void)PMIx_Process_monitor_nb(&beat, PMIX_SUCCESS, NULL, 0, NULL, NULL);
}
#define PMIx_Heartbeat() pmix_heartbeat_()

/* Ask the host for more resources, or give some back. */
PMIX_EXPORT pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
    pmix_info_t *info, size_t ninfo, pmix_info_t **results, size_t *nresults);

/* As PMIx_Allocation_request. */
PMIX_EXPORT pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
    pmix_info_t *info, size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Ask the host to do to a session what @directives say (since 5.0); a NULL @cbfunc makes it
 * block. */
PMIX_EXPORT pmix_status_t PMIx_Session_control(uint32_t session_id, const pmix_info_t *directives,
    size_t ndirs, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Define or change a named block of resources (since 6.1). */
PMIX_EXPORT pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
    char *block, const pmix_resource_unit_t *units, size_t nunits, const pmix_info_t *info,
    size_t ninfo);

/* As PMIx_Resource_block. */
PMIX_EXPORT pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive,
    char *block, const pmix_resource_unit_t *units, size_t nunits, const pmix_info_t *info,
    size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Credentials ----------------------------------------------------------------------------- */

/* Ask for a credential of the caller; its bytes become the caller's. */
PMIX_EXPORT pmix_status_t PMIx_Get_credential(const pmix_info_t *info, size_t ninfo,
    pmix_byte_object_t *credential);

/* As PMIx_Get_credential. */
PMIX_EXPORT pmix_status_t PMIx_Get_credential_nb(const pmix_info_t *info, size_t ninfo,
    pmix_credential_cbfunc_t cbfunc, void *cbdata);

/* Ask whether @cred is genuine; @results tells what it says about its owner. */
PMIX_EXPORT pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred,
    const pmix_info_t *info, size_t ninfo, pmix_info_t **results, size_t *nresults);

/* As PMIx_Validate_credential. */
PMIX_EXPORT pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred,
    const pmix_info_t *info, size_t ninfo, pmix_validation_cbfunc_t cbfunc, void *cbdata);

/* ---- Topology and fabrics -------------------------------------------------------------------- */

/* Give @topo the node's topology, shared where possible; released with PMIx_Topology_destruct. */
PMIX_EXPORT pmix_status_t PMIx_Load_topology(pmix_topology_t *topo);

/* Give @cpuset the binding of the process or of the calling thread. */
PMIX_EXPORT pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref);

/* Make a cpuset of the text that PMIx_server_generate_cpuset_string wrote. */
PMIX_EXPORT pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string,
    pmix_cpuset_t *cpuset);

/* What two processes share, from the texts stored under PMIX_LOCALITY_STRING. */
PMIX_EXPORT pmix_status_t PMIx_Get_relative_locality(const char *locality1, const char *locality2,
    pmix_locality_t *locality);

/* Distances from @cpuset to the devices of @topo, as a new array; NULL stands for the caller's
 * own. */
PMIX_EXPORT pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
    pmix_info_t *info, size_t ninfo, pmix_device_distance_t **distances, size_t *ndist);

/* As PMIx_Compute_distances. */
PMIX_EXPORT pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
    pmix_info_t *info, size_t ninfo, pmix_device_dist_cbfunc_t cbfunc, void *cbdata);

/* Find a fabric and describe it in @fabric. */
PMIX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric, const pmix_info_t *directives,
    size_t ndirs);

/* As PMIx_Fabric_register. */
PMIX_EXPORT pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric,
    const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Bring the description up to date. */
PMIX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric);

/* As PMIx_Fabric_update. */
PMIX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* Release the description. */
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric);

/* As PMIx_Fabric_deregister. */
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
    void *cbdata);

/* ---- Packing data ---------------------------------------------------------------------------- */

/* Append @num_vals elements of @type at @src to @buffer; a failure leaves it as it was. There is
 * one format, so @target and the @source of unpacking make no difference. */
PMIX_EXPORT pmix_status_t PMIx_Data_pack(const pmix_proc_t *target, pmix_data_buffer_t *buffer,
    void *src, int32_t num_vals, pmix_data_type_t type);

/* Take up to *max_num_values elements of @type off @buffer; *max_num_values becomes their
 * number. Return: PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER at the end;
 * PMIX_ERR_UNPACK_INADEQUATE_SPACE when there are more; PMIX_ERR_PACK_MISMATCH when something else
 * comes next; PMIX_ERR_UNPACK_FAILURE for bytes that nobody packed. None of them moves @buffer. */
PMIX_EXPORT pmix_status_t PMIx_Data_unpack(const pmix_proc_t *source, pmix_data_buffer_t *buffer,
    void *dest, int32_t *max_num_values, pmix_data_type_t type);

/* Make a copy of the element at @src, of a string of @src itself; @dest receives it. */
PMIX_EXPORT pmix_status_t PMIx_Data_copy(void **dest, void *src, pmix_data_type_t type);

/* Describe the element at @src, or the string @src, in a new string that begins with @prefix. */
PMIX_EXPORT pmix_status_t PMIx_Data_print(char **output, char *prefix, void *src,
    pmix_data_type_t type);

/* Append what is left in @src to @dest; @src stays as it is. */
PMIX_EXPORT pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t *dest, pmix_data_buffer_t *src);

/* Let @dest take over the bytes of @src, which becomes empty. */
PMIX_EXPORT pmix_status_t PMIx_Data_load(pmix_data_buffer_t *dest, pmix_byte_object_t *src);

/* Hand what is left in @src to @dest; @src becomes empty. */
PMIX_EXPORT pmix_status_t PMIx_Data_unload(pmix_data_buffer_t *src, pmix_byte_object_t *dest);

/* Make a copy of @payload the contents of @buffer. */
PMIX_EXPORT pmix_status_t PMIx_Data_embed(pmix_data_buffer_t *buffer,
    const pmix_byte_object_t *payload);

/* Compress into a new block. Return: false when it would not get smaller, or cannot be done. */
PMIX_EXPORT bool PMIx_Data_compress(const uint8_t *inbytes, size_t size, uint8_t **outbytes,
    size_t *nbytes);

/* Undo PMIx_Data_compress into a new block. Return: false when the bytes make no sense. */
PMIX_EXPORT bool PMIx_Data_decompress(const uint8_t *inbytes, size_t size, uint8_t **outbytes,
    size_t *nbytes);

/* ---- Names ----------------------------------------------------------------------------------- */

/* Names of codes and texts of values. A function that returns a constant string never returns
 * NULL: an unknown code gives a text that says so. One that returns char * gives a new string
 * for the caller to free, or NULL when memory runs out. PMIx_Error_code finds the code of a
 * name, in upper or lower case. Any thread, any time. */
PMIX_EXPORT const char *PMIx_Alloc_directive_string(pmix_alloc_directive_t directive);
PMIX_EXPORT const char *PMIx_Alloc_inheritance_string(pmix_alloc_inheritance_t inheritance);
PMIX_EXPORT const char *PMIx_Data_range_string(pmix_data_range_t range);
PMIX_EXPORT const char *PMIx_Data_type_string(pmix_data_type_t type);
PMIX_EXPORT const char *PMIx_Device_type_string(pmix_device_type_t type);
PMIX_EXPORT const char *PMIx_Error_string(pmix_status_t status);
PMIX_EXPORT const char *PMIx_Get_attribute_name(const char *attributestring);
PMIX_EXPORT const char *PMIx_Get_attribute_string(const char *attributename);
PMIX_EXPORT const char *PMIx_IOF_channel_string(pmix_iof_channel_t channel);
PMIX_EXPORT const char *PMIx_Job_state_string(pmix_job_state_t state);
PMIX_EXPORT const char *PMIx_Link_state_string(pmix_link_state_t state);
PMIX_EXPORT const char *PMIx_Persistence_string(pmix_persistence_t persist);
PMIX_EXPORT const char *PMIx_Proc_state_string(pmix_proc_state_t state);
PMIX_EXPORT const char *PMIx_Scope_string(pmix_scope_t scope);
PMIX_EXPORT const char *PMIx_Value_comparison_string(pmix_value_cmp_t cmp);
PMIX_EXPORT const char *PMIx_Group_operation_string(pmix_group_operation_t op);
PMIX_EXPORT const char *PMIx_Resource_block_directive_string(
    pmix_resource_block_directive_t directive);

PMIX_EXPORT char *PMIx_Info_directives_string(pmix_info_directives_t directives);
PMIX_EXPORT char *PMIx_Info_string(const pmix_info_t *info);
PMIX_EXPORT char *PMIx_Value_string(const pmix_value_t *value);
PMIX_EXPORT char *PMIx_App_string(const pmix_app_t *app);
PMIX_EXPORT pmix_status_t PMIx_Error_code(const char *errname);
PMIX_EXPORT char *PMIx_Proc_string(const pmix_proc_t *proc);
PMIX_EXPORT char *PMIx_Resource_unit_string(const pmix_resource_unit_t *unit);

#ifdef __cplusplus
}
#endif

/* The names of RFC0003 for the forms of <shmix.h>, which return the new namespace. */
#ifdef PMIX_RFC0003
#include <shmix.h>

/* The RFC declares the rank as an int here, and as a pmix_rank_t elsewhere. */
typedef void (*pmix_connect_cbfunc_t)(pmix_status_t status, char nspace[], int rank, void *cbdata);

static inline pmix_status_t shmix_connect_nb_of_rfc0003(const pmix_proc_t procs[], size_t nprocs,
    const pmix_info_t info[], size_t ninfo, pmix_connect_cbfunc_t cbfunc, void *cbdata)
{
    /* Both are passed in the same way, and have the same bits. */
    return shmix_connect_nb(procs, nprocs, info, ninfo, (shmix_connect_cbfunc_t)cbfunc, cbdata);
}

#define PMIx_Connect shmix_connect
#define PMIx_Connect_nb shmix_connect_nb_of_rfc0003
#define PMIx_Disconnect shmix_disconnect
#define PMIx_Disconnect_nb shmix_disconnect_nb
#endif

#endif /* PMIX_H */
