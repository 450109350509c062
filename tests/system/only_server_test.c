/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* only_server_test.c - every call of a client in a process that is a server alone, whose host has
 * no entries: what needs no client is done, all else is refused at once. */
#include <string.h>

#include <pmix_tool.h>

#include "job.h"

#define JOB "only.job"

static pmix_proc_t job = { .nspace = JOB, .rank = PMIX_RANK_WILDCARD };
static pmix_proc_t rank0 = { .nspace = JOB, .rank = 0 };
static pmix_info_t text; /* a key of nobody in particular, with a string */
static unsigned called;

/* ---- callbacks: what answers inside the process may call them -------------------------------- */

static void on_op(pmix_status_t status, void *cbdata)
{
    __atomic_add_fetch(&called, 1, __ATOMIC_RELAXED);
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    on_op(status, cbdata);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_spawn(pmix_status_t status, char *nspace, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t *info,
                          size_t ninfo, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_lookup(pmix_status_t status, pmix_pdata_t *data, size_t ndata, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_pulled(pmix_status_t status, size_t id, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t *info, size_t ninfo)
{
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* ---- calls: each returns what the call does -------------------------------------------------- */

#define CALL(name, ...)             \
    static pmix_status_t name(void) \
    {                               \
        __VA_ARGS__                 \
    }

CALL(do_put, pmix_value_t value = { .type = PMIX_UINT32 };
     return PMIx_Put(PMIX_GLOBAL, "key", &value);)
CALL(do_commit, return PMIx_Commit();)
CALL(do_fence, return PMIx_Fence(&job, 1, NULL, 0);)
CALL(do_fence_nb, return PMIx_Fence_nb(&job, 1, NULL, 0, on_op, NULL);)
CALL(do_abort, return PMIx_Abort(1, "text", &job, 1);)
CALL(do_finalize, return PMIx_Finalize(NULL, 0);)
CALL(do_connect, return PMIx_Connect(&job, 1, NULL, 0);)
CALL(do_connect_nb, return PMIx_Connect_nb(&job, 1, NULL, 0, on_op, NULL);)
CALL(do_disconnect, return PMIx_Disconnect(&job, 1, NULL, 0);)
CALL(do_disconnect_nb, return PMIx_Disconnect_nb(&job, 1, NULL, 0, on_op, NULL);)
CALL(do_construct, return PMIx_Group_construct("tea", &job, 1, NULL, 0, NULL, NULL);)
CALL(do_construct_nb, return PMIx_Group_construct_nb("tea", &job, 1, NULL, 0, on_info, NULL);)
CALL(do_invite, return PMIx_Group_invite("tea", &job, 1, NULL, 0, NULL, NULL);)
CALL(do_invite_nb, return PMIx_Group_invite_nb("tea", &job, 1, NULL, 0, on_info, NULL);)
CALL(do_join, return PMIx_Group_join("tea", &rank0, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL);)
CALL(do_join_nb,
     return PMIx_Group_join_nb("tea", &rank0, PMIX_GROUP_ACCEPT, NULL, 0, on_info, NULL);)
CALL(do_leave, return PMIx_Group_leave("tea", NULL, 0);)
CALL(do_leave_nb, return PMIx_Group_leave_nb("tea", NULL, 0, on_op, NULL);)
CALL(do_destruct, return PMIx_Group_destruct("tea", NULL, 0);)
CALL(do_destruct_nb, return PMIx_Group_destruct_nb("tea", NULL, 0, on_op, NULL);)

static pmix_app_t app;

CALL(do_spawn, pmix_nspace_t nspace; return PMIx_Spawn(NULL, 0, &app, 1, nspace);)
CALL(do_spawn_nb, return PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawn, NULL);)

CALL(
    do_get, pmix_value_t *value = NULL;
    const pmix_status_t rc = PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value);
    CHECK(rc != PMIX_SUCCESS || value->data.uint32 == 2);
    if (rc == PMIX_SUCCESS) { PMIx_Value_free(value, 1); } return rc;)
CALL(do_get_nb, return PMIx_Get_nb(&job, PMIX_JOB_SIZE, NULL, 0, on_value, NULL);)
CALL(do_store, pmix_value_t value = { .type = PMIX_UINT32 };
     return PMIx_Store_internal(&rank0, "mine", &value);)
CALL(do_peers, pmix_proc_t *procs = NULL; size_t count = 0;
     const pmix_status_t rc = PMIx_Resolve_peers(NULL, JOB, &procs, &count); free(procs);
     return rc;)
CALL(do_nodes, char *nodes = NULL; const pmix_status_t rc = PMIx_Resolve_nodes(JOB, &nodes);
     free(nodes); return rc;)

CALL(do_publish, return PMIx_Publish(&text, 1);)
CALL(do_publish_nb, return PMIx_Publish_nb(&text, 1, on_op, NULL);)
CALL(do_lookup, pmix_pdata_t data; PMIx_Pdata_construct(&data);
     PMIx_Load_key(data.key, "test.text"); const pmix_status_t rc = PMIx_Lookup(&data, 1, NULL, 0);
     CHECK(rc != PMIX_SUCCESS || strcmp(data.value.data.string, "text") == 0);
     PMIx_Pdata_destruct(&data); return rc;)
static char published[] = "test.text";
static char *keys[] = { published, NULL };
CALL(do_lookup_nb, return PMIx_Lookup_nb(keys, NULL, 0, on_lookup, NULL);)
CALL(do_unpublish, return PMIx_Unpublish(keys, NULL, 0);)
CALL(do_unpublish_nb, return PMIx_Unpublish_nb(keys, NULL, 0, on_op, NULL);)

static char asked[] = PMIX_QUERY_NAMESPACES, asked_node[] = PMIX_QUERY_NODE_RESOURCE_USAGE,
            asked_queue[] = PMIX_QUERY_QUEUE_LIST;

static pmix_status_t query(char *key)
{
    char *these[] = { key, NULL };
    pmix_query_t it = { .keys = these };
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    const pmix_status_t rc = PMIx_Query_info(&it, 1, &info, &ninfo);

    CHECK((rc == PMIX_SUCCESS) == (ninfo == 1));
    PMIx_Info_free(info, ninfo);
    return rc;
}

CALL(do_query, return query(asked);)
CALL(do_query_node, return query(asked_node);)
CALL(do_query_queue, return query(asked_queue);)
CALL(do_query_nb, static char *these[] = { asked, NULL };
     static pmix_query_t it = { .keys = these }; return PMIx_Query_info_nb(&it, 1, on_info, NULL);)

static pmix_status_t log_to(const char *channel, bool waits)
{
    pmix_info_t info;

    info = info_text(channel, "");
    const pmix_status_t rc = waits ? PMIx_Log(&info, 1, NULL, 0)
                                   : PMIx_Log_nb(&info, 1, NULL, 0, on_op, NULL);

    PMIx_Info_destruct(&info);
    return rc;
}

CALL(do_log, return log_to(PMIX_LOG_STDERR, true);)
CALL(do_log_nb, return log_to(PMIX_LOG_STDERR, false);)
CALL(do_log_mail, return log_to(PMIX_LOG_JOB_RECORD, true);)

static pmix_info_t yes_to(const char *key)
{
    pmix_info_t info = { .value = { .type = PMIX_BOOL, .data.flag = true } };

    PMIx_Load_key(info.key, key);
    return info;
}

CALL(do_control, const pmix_info_t info = yes_to(PMIX_JOB_CTRL_PAUSE);
     return PMIx_Job_control(&job, 1, &info, 1, NULL, NULL);)
CALL(do_control_nb, const pmix_info_t info = yes_to(PMIX_JOB_CTRL_PAUSE);
     return PMIx_Job_control_nb(&job, 1, &info, 1, on_info, NULL);)
CALL(do_session, const pmix_info_t info = yes_to(PMIX_SESSION_PAUSE);
     return PMIx_Session_control(UINT32_MAX, &info, 1, NULL, NULL);)
CALL(do_session_nb, const pmix_info_t info = yes_to(PMIX_SESSION_PAUSE);
     return PMIx_Session_control(UINT32_MAX, &info, 1, on_info, NULL);)
CALL(do_beat, const pmix_info_t info = yes_to(PMIX_MONITOR_HEARTBEAT); pmix_info_t every;
     const uint32_t seconds = 1;
     CHECK_STATUS(PMIx_Info_load(&every, PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32),
                  PMIX_SUCCESS);
     return PMIx_Process_monitor(&info, PMIX_SUCCESS, &every, 1, NULL, NULL);)
CALL(do_usage, pmix_info_t *results = NULL; size_t nresults = 0;
     const pmix_info_t info = yes_to(PMIX_MONITOR_NODE_RESOURCE_USAGE);
     const pmix_status_t rc = PMIx_Process_monitor(&info, PMIX_SUCCESS, NULL, 0, &results,
                                                   &nresults);
     PMIx_Info_free(results, nresults); return rc;)
CALL(do_beat_nb, const pmix_info_t info = yes_to(PMIX_MONITOR_HEARTBEAT);
     return PMIx_Process_monitor_nb(&info, PMIX_SUCCESS, NULL, 0, on_info, NULL);)
CALL(do_allocate, return PMIx_Allocation_request(PMIX_ALLOC_NEW, &text, 1, NULL, NULL);)
CALL(do_allocate_nb, return PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &text, 1, on_info, NULL);)

static pmix_byte_object_t credential;

CALL(do_credential, return PMIx_Get_credential(NULL, 0, &credential);)
CALL(do_credential_nb, return PMIx_Get_credential_nb(NULL, 0, on_credential, NULL);)
CALL(do_validate, pmix_info_t *results = NULL; size_t nresults = 0;
     const pmix_status_t rc = PMIx_Validate_credential(&credential, NULL, 0, &results, &nresults);
     PMIx_Info_free(results, nresults); return rc;)
static pmix_byte_object_t garbage = { .bytes = published, .size = sizeof(published) };
CALL(do_validate_nb,
     return PMIx_Validate_credential_nb(&garbage, NULL, 0, (pmix_validation_cbfunc_t)NULL, NULL);)

static pmix_fabric_t fabric;

CALL(do_fabric, return PMIx_Fabric_register(&fabric, NULL, 0);)
CALL(do_fabric_nb, return PMIx_Fabric_register_nb(&fabric, NULL, 0, on_op, NULL);)
CALL(do_fabric_update, return PMIx_Fabric_update(&fabric);)
CALL(do_fabric_deregister, return PMIx_Fabric_deregister(&fabric);)

CALL(do_topology, pmix_topology_t topology = { .source = NULL };
     const pmix_status_t rc = PMIx_Load_topology(&topology); PMIx_Topology_destruct(&topology);
     return rc;)
CALL(do_cpuset, pmix_cpuset_t cpuset = { .source = NULL };
     const pmix_status_t rc = PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS);
     PMIx_Cpuset_destruct(&cpuset); return rc;)

CALL(do_pull,
     return PMIx_IOF_pull(&job, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, on_pulled, NULL);)
CALL(do_unpull, return PMIx_IOF_deregister(0, NULL, 0, NULL, NULL);)
CALL(do_push, pmix_byte_object_t bytes = { .bytes = published, .size = 1 };
     return PMIx_IOF_push(&job, 1, &bytes, NULL, 0, NULL, NULL);)

CALL(do_notify, return PMIx_Notify_event(-3000, &rank0, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL);)
CALL(do_register,
     const pmix_status_t rc = PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL);
     return rc < 0 ? rc : PMIx_Deregister_event_handler((size_t)rc, NULL, NULL);)

CALL(do_attach, return PMIx_tool_attach_to_server(NULL, NULL, NULL, 0);)
CALL(do_detach, return PMIx_tool_disconnect(&rank0);)
CALL(do_set_server, return PMIx_tool_set_server(&rank0, NULL, 0);)
CALL(do_get_servers, pmix_proc_t *servers = NULL; size_t count = 0;
     const pmix_status_t rc = PMIx_tool_get_servers(&servers, &count); free(servers); return rc;)
CALL(do_tool_finalize, return PMIx_tool_finalize();)

#define ROW(call, want)   \
    {                     \
#call, call, want \
    }

static const struct {
    const char *name;
    pmix_status_t (*call)(void);
    pmix_status_t want;
} rows[] = {
    ROW(do_put, PMIX_ERR_INIT),
    ROW(do_commit, PMIX_ERR_INIT),
    ROW(do_fence, PMIX_ERR_INIT),
    ROW(do_fence_nb, PMIX_ERR_INIT),
    ROW(do_abort, PMIX_ERR_INIT),
    ROW(do_finalize, PMIX_ERR_INIT),
    ROW(do_connect, PMIX_ERR_INIT),
    ROW(do_connect_nb, PMIX_ERR_INIT),
    ROW(do_disconnect, PMIX_ERR_INIT),
    ROW(do_disconnect_nb, PMIX_ERR_INIT),
    ROW(do_construct, PMIX_ERR_INIT),
    ROW(do_construct_nb, PMIX_ERR_INIT),
    ROW(do_invite, PMIX_ERR_INIT),
    ROW(do_invite_nb, PMIX_ERR_INIT),
    ROW(do_join, PMIX_ERR_INIT),
    ROW(do_join_nb, PMIX_ERR_INIT),
    ROW(do_leave, PMIX_ERR_INIT),
    ROW(do_leave_nb, PMIX_ERR_INIT),
    ROW(do_destruct, PMIX_ERR_INIT),
    ROW(do_destruct_nb, PMIX_ERR_INIT),
    ROW(do_spawn, PMIX_ERR_INIT),
    ROW(do_spawn_nb, PMIX_ERR_INIT),
    ROW(do_get, PMIX_SUCCESS),
    ROW(do_get_nb, PMIX_SUCCESS),
    ROW(do_store, PMIX_SUCCESS),
    ROW(do_peers, PMIX_SUCCESS),
    ROW(do_nodes, PMIX_SUCCESS),
    ROW(do_publish, PMIX_SUCCESS),
    ROW(do_publish_nb, PMIX_ERR_DUPLICATE_KEY),
    ROW(do_lookup, PMIX_SUCCESS),
    ROW(do_lookup_nb, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_unpublish, PMIX_SUCCESS),
    ROW(do_unpublish_nb, PMIX_ERR_NOT_FOUND),
    ROW(do_query, PMIX_SUCCESS),
    ROW(do_query_node, PMIX_SUCCESS),
    ROW(do_query_queue, PMIX_ERR_NOT_FOUND),
    ROW(do_query_nb, PMIX_SUCCESS),
    ROW(do_log, PMIX_SUCCESS),
    ROW(do_log_nb, PMIX_SUCCESS),
    ROW(do_log_mail, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_control, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_control_nb, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_session, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_session_nb, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_beat, PMIX_ERR_INIT),
    ROW(do_usage, PMIX_SUCCESS),
    ROW(do_beat_nb, PMIX_ERR_INIT),
    ROW(do_allocate, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_allocate_nb, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_credential, PMIX_ERR_INIT),
    ROW(do_credential_nb, PMIX_ERR_INIT),
    ROW(do_validate, PMIX_ERR_BAD_PARAM),
    ROW(do_validate_nb, PMIX_ERR_BAD_PARAM),
    ROW(do_fabric, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_fabric_nb, PMIX_ERR_NOT_SUPPORTED),
    ROW(do_fabric_update, PMIX_ERR_BAD_PARAM),
    ROW(do_fabric_deregister, PMIX_ERR_BAD_PARAM),
    ROW(do_topology, PMIX_SUCCESS),
    ROW(do_cpuset, PMIX_SUCCESS),
    ROW(do_pull, PMIX_ERR_INIT),
    ROW(do_unpull, PMIX_ERR_INIT),
    ROW(do_push, PMIX_ERR_INIT),
    ROW(do_notify, PMIX_SUCCESS),
    ROW(do_register, PMIX_SUCCESS),
    ROW(do_attach, PMIX_ERR_INIT),
    ROW(do_detach, PMIX_ERR_INIT),
    ROW(do_set_server, PMIX_ERR_INIT),
    ROW(do_get_servers, PMIX_ERR_INIT),
    ROW(do_tool_finalize, PMIX_ERR_INIT),
};

int main(void)
{
    pmix_server_module_t module = { .client_connected = NULL };
    const uint32_t size = 2;
    pmix_info_t info[2];
    int failures = 0;

    CHECK_STATUS(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
    text = info_text("test.text", "text");
    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    const pmix_status_t rc = PMIx_server_register_nspace(JOB, 2, info, 1, NULL, NULL);

    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    app.cmd = published;
    app.maxprocs = 1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const pmix_status_t got = rows[i].call();

        if (got != rows[i].want) {
            fprintf(stderr, "%s is %d (%s), not %d\n", rows[i].name, got, PMIx_Error_string(got),
                    rows[i].want);
            failures++;
        }
    }
    PMIx_Byte_object_destruct(&credential);
    PMIx_Info_destruct(&text);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    return failures == 0 ? 0 : 1;
}
