/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall_test.c - each entry of the host's module, and each way in which a host may answer it: who
 * asked is told once, what the host was given is there until then, and nothing is left. */
#include "server/port/port.h"

#include <stdlib.h>

#include "../bare.h"
#include "base/call/role.h"

#define ID UINT64_C(77)
#define CODES 3u

/* What a host says, by when. */
#define OK PMIX_SUCCESS
#define DONE PMIX_OPERATION_SUCCEEDED
#define REFUSED PMIX_ERR_BAD_PARAM
#define INSIDE PMIX_ERR_TIMEOUT
#define LATER PMIX_ERR_NOT_FOUND

/* ---- the host
 * --------------------------------------------------------------------------------- */

static struct {
    pmix_status_t returns;
    bool inside;       /* it answers before it returns */
    unsigned released; /* bytes of its answers */
    unsigned called;
    pmix_op_cbfunc_t op;
    pmix_modex_cbfunc_t modex;
    void *cbdata;
    /* what it has been given, and looks at until it answers */
    const pmix_proc_t *proc, *procs;
    const pmix_status_t *codes;
    const pmix_info_t *info;
    const char *text;
} host;

static char bytes[] = "bytes";

static void release(void *cbdata)
{
    cr_expect_eq(cbdata, bytes);
    host.released++;
}

static void look(void)
{
    cr_expect(host.proc == NULL || strcmp(host.proc->nspace, "job") == 0);
    cr_expect(host.procs == NULL || host.procs[1].rank == 1);
    cr_expect(host.codes == NULL || host.codes[CODES - 1] == -4002);
    cr_expect(host.info == NULL || strcmp(host.info[0].value.data.string, "value") == 0);
    cr_expect(host.text == NULL || strcmp(host.text, "why") == 0);
}

static void host_answers(pmix_status_t status)
{
    if (host.modex != NULL) {
        host.modex(status, bytes, sizeof(bytes), host.cbdata, release, bytes);
    } else {
        host.op(status, host.cbdata);
    }
}

static pmix_status_t received(pmix_op_cbfunc_t op, pmix_modex_cbfunc_t modex, void *cbdata)
{
    host.called++;
    host.op = op;
    host.modex = modex;
    host.cbdata = cbdata;
    look();
    if (host.inside) {
        host_answers(INSIDE);
    }
    return host.returns;
}

static pmix_status_t on_client(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                               void *cbdata)
{
    cr_expect_eq(object, &host);
    host.proc = proc;
    return received(cbfunc, NULL, cbdata);
}

static pmix_status_t on_client2(const pmix_proc_t *proc, void *object, pmix_info_t *info,
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    host.info = ninfo > 0 ? info : NULL;
    return on_client(proc, object, cbfunc, cbdata);
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *msg,
                              pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    cr_expect_eq(object, &host);
    cr_expect_eq(status, -4000);
    cr_expect_eq(nprocs, 2);
    host.proc = proc;
    host.text = msg;
    host.procs = procs;
    return received(cbfunc, NULL, cbdata);
}

static pmix_status_t on_fence(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    cr_expect_eq(nprocs, 2);
    cr_expect_eq(ninfo, 1);
    cr_expect_eq(ndata, 4);
    free(data);
    host.procs = procs;
    host.info = info;
    return received(NULL, cbfunc, cbdata);
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                              pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(ninfo, 1);
    host.proc = proc;
    host.info = info;
    return received(NULL, cbfunc, cbdata);
}

static pmix_status_t on_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    cr_expect_eq(ncodes, CODES);
    host.codes = codes;
    return received(cbfunc, NULL, cbdata);
}

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t *info,
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(ninfo, 1);
    host.info = info;
    return on_deregister(codes, ncodes, cbfunc, cbdata);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(code, -4000);
    cr_expect_eq(range, PMIX_RANGE_GLOBAL);
    cr_expect_eq(ninfo, 1);
    host.proc = source;
    host.info = info;
    return received(cbfunc, NULL, cbdata);
}

static pmix_status_t on_notify_unread(pmix_status_t code, const pmix_proc_t *source,
                                      pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)code, (void)source, (void)range, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    return PMIX_SUCCESS;
}

static pmix_status_t on_connect(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(nprocs, 2);
    cr_expect_eq(ninfo, 1);
    host.procs = procs;
    host.info = info;
    return received(cbfunc, NULL, cbdata);
}

static pmix_info_cbfunc_t answer_info;

/* What it brings is looked at in group_host_test.c. */
static void info_answers(pmix_status_t status, void *cbdata)
{
    answer_info(status, NULL, 0, cbdata, NULL, NULL);
}

static pmix_status_t on_group(pmix_group_operation_t operation, char *name,
                              const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq((int)operation, -4000);
    answer_info = cbfunc;
    host.text = name;
    return on_connect(procs, nprocs, info, ninfo, info_answers, cbdata);
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(nqueries, 1);
    cr_expect_str_eq(queries[0].keys[0], "key");
    answer_info = cbfunc;
    host.proc = proc;
    return received(info_answers, NULL, cbdata);
}

static pmix_status_t on_monitor(const pmix_proc_t *proc, const pmix_info_t *monitor,
                                pmix_status_t error, const pmix_info_t directives[], size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    (void)monitor, (void)error, (void)directives, (void)ndirs;
    answer_info = cbfunc;
    host.proc = proc;
    return received(info_answers, NULL, cbdata);
}

static pmix_status_t on_allocate(const pmix_proc_t *proc, pmix_alloc_directive_t directive,
                                 const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    cr_expect_eq(directive, (pmix_alloc_directive_t)-4000);
    cr_expect_eq(ninfo, 1);
    answer_info = cbfunc;
    host.proc = proc;
    host.info = info;
    return received(info_answers, NULL, cbdata);
}

static pmix_status_t on_fabric(const pmix_proc_t *proc, pmix_fabric_operation_t operation,
                               const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                               void *cbdata)
{
    cr_expect_eq((int)operation, -4000);
    cr_expect_eq(ninfo, 1);
    answer_info = cbfunc;
    host.proc = proc;
    host.info = info;
    return received(info_answers, NULL, cbdata);
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(ninfo, 1);
    host.proc = proc;
    host.info = info;
    return received(cbfunc, NULL, cbdata);
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_null(keys);
    return on_publish(proc, info, ninfo, cbfunc, cbdata);
}

static pmix_lookup_cbfunc_t answer_lookup;

static void lookup_answers(pmix_status_t status, void *cbdata)
{
    answer_lookup(status, NULL, 0, cbdata);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    answer_lookup = cbfunc;
    return on_unpublish(proc, keys, info, ninfo, lookup_answers, cbdata);
}

static pmix_spawn_cbfunc_t answer_spawn;

static void spawn_answers(pmix_status_t status, void *cbdata)
{
    pmix_nspace_t nspace = "job";

    answer_spawn(status, nspace, cbdata);
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t cbfunc,
                              void *cbdata)
{
    (void)apps;
    cr_expect_eq(ninfo, 1);
    cr_expect_eq(napps, 0);
    answer_spawn = cbfunc;
    host.proc = proc;
    host.info = info;
    return received(spawn_answers, NULL, cbdata);
}

static pmix_status_t on_pull(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                             size_t ninfo, pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    cr_expect_eq(channels, (pmix_iof_channel_t)-4000);
    cr_expect_eq(nprocs, 2);
    cr_expect_eq(ninfo, 1);
    host.procs = procs;
    host.info = info;
    return received(cbfunc, NULL, cbdata);
}

static pmix_status_t on_push(const pmix_proc_t *proc, const pmix_proc_t *procs, size_t nprocs,
                             const pmix_info_t *info, size_t ninfo, const pmix_byte_object_t *bytes,
                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(nprocs, 2);
    cr_expect_eq(ninfo, 0);
    cr_expect_not_null(bytes);
    host.proc = proc;
    host.procs = procs;
    host.info = info - 1;
    return received(cbfunc, NULL, cbdata);
}

static pmix_credential_cbfunc_t answer_credential;

static void credential_answers(pmix_status_t status, void *cbdata)
{
    pmix_byte_object_t credential = { .bytes = bytes, .size = sizeof(bytes) };

    answer_credential(status, &credential, NULL, 0, cbdata);
}

static pmix_status_t on_get_credential(const pmix_proc_t *proc, const pmix_info_t info[],
                                       size_t ninfo, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(ninfo, 1);
    answer_credential = cbfunc;
    host.proc = proc;
    host.info = info;
    return received(credential_answers, NULL, cbdata);
}

static pmix_validation_cbfunc_t answer_validation;

static void validation_answers(pmix_status_t status, void *cbdata)
{
    answer_validation(status, NULL, 0, cbdata);
}

static pmix_status_t on_validate(const pmix_proc_t *proc, const pmix_byte_object_t *credential,
                                 const pmix_info_t info[], size_t ninfo,
                                 pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    (void)credential, (void)info;
    cr_expect_eq(ninfo, 0, "the first of them is the credential");
    answer_validation = cbfunc;
    host.proc = proc;
    return received(validation_answers, NULL, cbdata);
}

static pmix_info_cbfunc_t answer_control;

static void control_answers(pmix_status_t status, void *cbdata)
{
    answer_control(status, NULL, 0, cbdata, NULL, NULL);
}

static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t info[], size_t ninfo,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    host.proc = proc;
    answer_control = cbfunc;
    return on_connect(targets, ntargets, info, ninfo, control_answers, cbdata);
}

/* What it is asked for comes before how. */
static void on_log(const pmix_proc_t *proc, const pmix_info_t data[], size_t ndata,
                   const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                   void *cbdata)
{
    cr_expect_eq(ndata, 0);
    cr_expect_eq(ndirs, 1);
    cr_expect_eq(data, directives);
    host.proc = proc;
    host.info = directives;
    (void)received(cbfunc, NULL, cbdata);
}

static pmix_tool_connection_cbfunc_t answer_tool;

/* Whom it names is looked at in tool_ask_test.c. */
static void tool_answers(pmix_status_t status, void *cbdata)
{
    answer_tool(status, NULL, cbdata);
}

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    cr_expect_eq(ninfo, 1);
    answer_tool = cbfunc;
    host.info = info;
    (void)received(tool_answers, NULL, cbdata);
}

static const pmix_server_module_t all_entries = {
    .client_connected = on_client,
    .client_connected2 = on_client2,
    .client_finalized = on_client,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_modex,
    .register_events = on_register,
    .deregister_events = on_deregister,
    .notify_event = on_notify,
    .connect = on_connect,
    .disconnect = on_connect,
    .log = on_log,
    .job_control = on_control,
    .group = on_group,
    .monitor = on_monitor,
    .allocate = on_allocate,
    .fabric = on_fabric,
    .spawn = on_spawn,
    .publish = on_publish,
    .lookup = on_lookup,
    .unpublish = on_unpublish,
    .iof_pull = on_pull,
    .push_stdin = on_push,
    .get_credential = on_get_credential,
    .validate_credential = on_validate,
    .query = on_query,
    .tool_connected = on_tool,
};

/* ---- the server
 * ------------------------------------------------------------------------------- */

static struct sx_server server;
static struct sx_client *client;
static struct sx_asker asker;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
    client->server_object = &host;
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(upcall, .init = begin, .fini = end);

/* ---- the asker
 * -------------------------------------------------------------------------------- */

static struct {
    unsigned count;
    pmix_status_t status;
    bool refused, with_asker;
} notified;

static void on_notified(struct sx_asker *of, const struct sx_host_answer *answer)
{
    cr_expect_eq(answer->server, &server);
    cr_expect_eq(answer->id, ID);
    cr_expect_eq(answer->client, client);
    cr_expect(of == NULL || of == &asker);
    cr_expect_eq(host.released, 0, "not before it has been looked at");
    cr_expect(answer->size == 0 || strcmp(answer->bytes, "bytes") == 0);
    notified.count++;
    notified.status = answer->status;
    notified.refused = answer->refused;
    notified.with_asker = of != NULL;
}

static enum sx_upcall_kind kind;
static sx_answered_fn notify;
static bool by_return;
static pmix_status_t asked;

/* Every part that an upcall may have; its entry gets those of its shape. */
static void ask_now(void *arg, uint64_t now_ns)
{
    pmix_proc_t procs[2];
    pmix_status_t codes[CODES] = { -4000, -4001, -4002 };
    char text[] = "why";
    pmix_info_t info;
    pmix_query_t query;
    struct sx_upcall up = {
        .answered = notify,
        .by_return = by_return,
        .asker = &asker,
        .id = ID,
        .client = client,
        .status = -4000,
        .range = PMIX_RANGE_GLOBAL,
        .text = text,
        .procs = procs,
        .nprocs = 2,
        .codes = codes,
        .ncodes = CODES,
        .info = &info,
        .ninfo = 1,
        .queries = &query,
        .nqueries = 1,
    };

    (void)arg, (void)now_ns;
    PMIx_Load_procid(&procs[0], "job", 0);
    PMIx_Load_procid(&procs[1], "job", 1);
    PMIx_Info_load(&info, "key", "value", PMIX_STRING);
    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, "key");
    if (kind == SX_UPCALL_FENCE_NB) {
        up.bytes = calloc(1, 4);
        up.size = 4;
    }
    asked = sx_upcall(&server, kind, &up);
    memset(text, 'x', sizeof(text) - 1); /* nobody may look at the caller's any more */
    memset(procs, 'x', sizeof(procs));
    cr_expect_eq(notified.count, 0, "never inside");
}

/* ---- ways to answer
 * --------------------------------------------------------------------------- */

static void answer_now(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    look();
    host_answers(LATER);
}

static void answer_done(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    host_answers(DONE);
}

static void answer_again(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    host_answers(LATER);
}

static void answer_and_end(void *arg, uint64_t now_ns)
{
    answer_now(arg, now_ns);
    sx_upcall_forget_all(&server);
}

static void end_now(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    look();
    sx_upcall_forget_all(&server);
}

static void asker_goes(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    sx_asker_deinit(&asker);
}

static void client_dies(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    client->state = SX_CLIENT_DEAD;
}

/* What the entry returns, whether it calls back inside, what happens then, one after the other, and
 * what becomes of it. */
static const struct {
    const char *why;
    pmix_status_t returns;
    bool inside;
    sx_loop_fn then[3];
    bool refused;
    unsigned notified, released;
    pmix_status_t status;
} ways[] = {
    { "later", OK, false, { answer_now }, false, 1, 1, LATER },
    { "twice", OK, false, { answer_now, answer_again }, false, 1, 1, LATER },
    { "inside", OK, true, { NULL }, false, 1, 1, INSIDE },
    { "inside and later", OK, true, { answer_again }, false, 1, 1, INSIDE },
    { "done", DONE, false, { answer_again }, false, 1, 0, OK },
    { "done, and says so later", OK, false, { answer_done }, false, 1, 1, OK },
    { "inside and done", DONE, true, { NULL }, false, 1, 1, INSIDE },
    { "refused", REFUSED, false, { answer_again }, true, 1, 0, REFUSED },
    { "inside and refused", REFUSED, true, { NULL }, false, 1, 1, INSIDE },
    { "never", OK, false, { end_now }, false, 0, 0, OK },
    { "behind the end", OK, false, { end_now, answer_now }, false, 0, 1, OK },
    { "behind the end, twice", OK, false, { end_now, answer_now, answer_again }, false, 0, 1, OK },
    { "at the end", OK, false, { answer_and_end }, false, 0, 1, OK },
    { "behind the asker's end", OK, false, { asker_goes, answer_now }, false, 1, 1, LATER },
    { "behind the client's death", OK, false, { client_dies, answer_now }, false, 1, 1, LATER },
};

static void go_one_way(size_t i)
{
    memset(&host, 0, sizeof(host));
    memset(&notified, 0, sizeof(notified));
    server.port.host.forgotten = false;
    client->state = SX_CLIENT_CONNECTED;
    sx_asker_init(&asker);
    notify = on_notified;
    host.returns = ways[i].returns;
    host.inside = ways[i].inside;
    bare_call(&server, ask_now, NULL);
    cr_expect_eq(asked, OK, "kind %d %s: %d", kind, ways[i].why, asked);
    for (size_t step = 0; step < SX_COUNT(ways[i].then) && ways[i].then[step] != NULL; step++) {
        cr_expect(step > 0 || ways[i].inside || ways[i].returns != PMIX_SUCCESS ||
                      client->reference_count == 2,
                  "kind %d %s: the client is kept", kind, ways[i].why);
        bare_call(&server, ways[i].then[step], NULL);
    }
    sx_callbacks_wait(); /* for what a late answer releases */
    cr_expect_eq(host.called, 1, "kind %d %s", kind, ways[i].why);
    cr_expect_eq(notified.count, ways[i].notified, "kind %d %s: %u", kind, ways[i].why,
                 notified.count);
    cr_expect_eq(notified.status, ways[i].status, "kind %d %s: %d", kind, ways[i].why,
                 notified.status);
    cr_expect_eq(notified.refused, ways[i].refused, "kind %d %s", kind, ways[i].why);
    cr_expect_eq(notified.with_asker, notified.count > 0 && ways[i].then[0] != asker_goes,
                 "kind %d %s", kind, ways[i].why);
    cr_expect_eq(host.released, host.modex == NULL ? 0 : ways[i].released, "kind %d %s", kind,
                 ways[i].why);
    cr_expect_eq(client->reference_count, 1, "kind %d %s", kind, ways[i].why);
    cr_expect_eq(server.port.host.owed[kind].count, 0, "kind %d %s", kind, ways[i].why);
    cr_expect_eq(server.port.host.owed[kind].bytes, 0, "kind %d %s", kind, ways[i].why);
    cr_expect(sx_list_empty(&asker.questions), "kind %d %s", kind, ways[i].why);
}

Test(upcall, of_each_kind_is_answered_once_in_each_way)
{
    server.module = all_entries;
    for (kind = 0; kind < SX_UPCALL_KINDS; kind++) {
        for (size_t i = 0; i < SX_COUNT(ways); i++) {
            if ((kind != SX_UPCALL_LOG && kind != SX_UPCALL_TOOL_CONNECTED) ||
                ways[i].returns == OK) { /* their entries return nothing */
                go_one_way(i);
            }
        }
    }
}

Test(upcall, without_an_entry_cannot)
{
    sx_asker_init(&asker);
    notify = on_notified;
    for (kind = 0; kind < SX_UPCALL_KINDS; kind++) {
        bare_call(&server, ask_now, NULL);
        cr_expect_eq(asked, PMIX_ERR_NOT_SUPPORTED, "kind %d", kind);
    }
    cr_expect_eq(notified.count, 0);
}

Test(upcall, is_not_made_when_the_server_ends)
{
    server.module = all_entries;
    sx_asker_init(&asker);
    sx_upcall_forget_all(&server);
    notify = on_notified;
    for (kind = 0; kind < SX_UPCALL_KINDS; kind++) {
        bare_call(&server, ask_now, NULL);
        cr_expect_eq(asked, PMIX_ERR_OUT_OF_RESOURCE, "kind %d", kind);
    }
    cr_expect_eq(host.called, 0);
}

/* ---- infos that the host keeps no longer than it calls
 * ----------------------------------------- */

static void answer_and_forget(void *arg, uint64_t now_ns)
{
    pmix_info_t result;

    (void)arg, (void)now_ns;
    PMIx_Info_load(&result, "key", "result", PMIX_STRING);
    answer_info(PMIX_SUCCESS, &result, 1, host.cbdata, NULL, NULL);
    memset(result.value.data.string, 'x', strlen("result"));
    memset(result.key, 'x', 3);
    PMIx_Info_destruct(&result);
    answer_info(PMIX_SUCCESS, &result, 1, host.cbdata, NULL, NULL); /* dropped, and not looked at */
}

static void on_notified_infos(struct sx_asker *of, const struct sx_host_answer *answer)
{
    cr_expect_eq(of, &asker);
    cr_assert_eq(answer->ninfo, 1);
    cr_expect_str_eq(answer->info[0].key, "key");
    cr_expect_str_eq(answer->info[0].value.data.string, "result");
    notified.count++;
}

Test(upcall, keeps_the_infos_that_a_host_answers_with_and_forgets)
{
    server.module = all_entries;
    sx_asker_init(&asker);
    notify = on_notified_infos;
    kind = SX_UPCALL_QUERY;
    bare_call(&server, ask_now, NULL);
    bare_call(&server, answer_and_forget, NULL);
    cr_expect_eq(notified.count, 1);
}

/* ---- notices
 * ---------------------------------------------------------------------------------- */

static const pmix_status_t notice_returns[] = { PMIX_SUCCESS, PMIX_OPERATION_SUCCEEDED,
                                                PMIX_ERR_NO_PERMISSIONS };

Test(upcall, that_nobody_waits_for_leaves_nothing)
{
    server.module = all_entries;
    notify = NULL;
    sx_asker_init(&asker);
    for (kind = SX_UPCALL_CLIENT_CONNECTED; kind <= SX_UPCALL_CLIENT_FINALIZED; kind++) {
        for (size_t i = 0; i < SX_COUNT(notice_returns); i++) {
            memset(&host, 0, sizeof(host));
            host.returns = notice_returns[i];
            bare_call(&server, ask_now, NULL);
            cr_expect_eq(asked, PMIX_SUCCESS, "kind %d row %zu", kind, i);
            cr_expect_eq(host.called, 1, "kind %d row %zu", kind, i);
            cr_expect_eq(server.port.host.owed[kind].count, 0);
            cr_expect_eq(client->reference_count, 1);
            cr_assert_not_null(host.op, "some hosts call it without a look");
            bare_call(&server, host.returns == PMIX_SUCCESS ? answer_now : answer_again, NULL);
        }
        memset(&host, 0, sizeof(host));
        host.inside = true;
        bare_call(&server, ask_now, NULL);
        cr_expect_eq(host.called, 1);
        cr_expect_eq(client->reference_count, 1);
    }
    cr_expect_eq(notified.count, 0);
}

/* ---- entries whose return value is the answer
 * --------------------------------------------------- */

static const struct {
    pmix_status_t returns, status;
    bool refused;
} by_returns[] = { { PMIX_SUCCESS, PMIX_SUCCESS, false },
                   { PMIX_OPERATION_SUCCEEDED, PMIX_SUCCESS, false },
                   { PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED, true },
                   { PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS, true } };

Test(upcall, may_have_no_callback_but_what_the_entry_returns)
{
    server.module = all_entries;
    by_return = true;
    notify = on_notified;
    for (kind = SX_UPCALL_CLIENT_CONNECTED; kind <= SX_UPCALL_CLIENT_CONNECTED2; kind++) {
        for (size_t i = 0; i < SX_COUNT(by_returns); i++) {
            memset(&host, 0, sizeof(host));
            memset(&notified, 0, sizeof(notified));
            sx_asker_init(&asker);
            host.returns = by_returns[i].returns;
            bare_call(&server, ask_now, NULL);
            cr_expect_eq(host.called, 1, "kind %d row %zu", kind, i);
            cr_expect_null(host.op, "kind %d row %zu", kind, i);
            cr_expect_eq(notified.count, 1, "kind %d row %zu", kind, i);
            cr_expect_eq(notified.status, by_returns[i].status, "kind %d row %zu", kind, i);
            cr_expect_eq(notified.refused, by_returns[i].refused, "kind %d row %zu", kind, i);
            cr_expect_eq(server.port.host.owed[kind].count, 0);
            cr_expect_eq(client->reference_count, 1);
        }
    }
}

/* ---- between asking and the call
 * ---------------------------------------------------------------- */

static void ask_and_asker_goes(void *arg, uint64_t now_ns)
{
    ask_now(arg, now_ns);
    asker_goes(arg, now_ns);
}

Test(upcall, is_made_for_an_asker_that_went_before_it)
{
    server.module = all_entries;
    notify = on_notified;
    for (kind = 0; kind < SX_UPCALL_KINDS; kind++) {
        memset(&host, 0, sizeof(host));
        memset(&notified, 0, sizeof(notified));
        sx_asker_init(&asker);
        bare_call(&server, ask_and_asker_goes, NULL);
        cr_expect_eq(host.called, 1, "kind %d", kind);
        bare_call(&server, answer_now, NULL);
        cr_expect_eq(notified.count, 1, "kind %d", kind);
        cr_expect_not(notified.with_asker, "kind %d", kind);
        cr_expect_eq(client->reference_count, 1, "kind %d", kind);
    }
}

static void ask_and_end(void *arg, uint64_t now_ns)
{
    ask_now(arg, now_ns);
    cr_expect_eq(host.called, 0, "not in place");
    sx_upcall_forget_all(&server);
    cr_expect(sx_list_empty(&server.port.host.calls));
}

Test(upcall, is_not_made_when_the_server_ends_before_it)
{
    server.module = all_entries;
    notify = on_notified;
    for (kind = 0; kind < SX_UPCALL_KINDS; kind++) {
        memset(&host, 0, sizeof(host));
        sx_asker_init(&asker);
        server.port.host.forgotten = false;
        bare_call(&server, ask_and_end, NULL);
        cr_expect_eq(asked, PMIX_SUCCESS, "kind %d", kind);
        cr_expect_eq(host.called, 0, "kind %d", kind);
        cr_expect_eq(notified.count, 0, "kind %d", kind);
        cr_expect(sx_list_empty(&asker.questions), "kind %d", kind);
        cr_expect_eq(server.port.host.owed[kind].count, 0, "kind %d", kind);
        cr_expect_eq(client->reference_count, 1, "kind %d", kind);
    }
}

/* ---- what a host may owe
 * ---------------------------------------------------------------------- */

/* Return: how many questions a host that never answers is asked. */
static unsigned count_until_full(void)
{
    pmix_status_t codes[CODES] = { -4000, -4001, -4002 };
    const struct sx_upcall up = { .answered = on_notified, .codes = codes, .ncodes = CODES };
    unsigned count = 0;

    while (count < 10000 && sx_upcall(&server, SX_UPCALL_DEREGISTER_EVENTS, &up) == PMIX_SUCCESS) {
        count++;
    }
    return count;
}

Test(upcall, is_not_made_while_the_host_owes_too_many_answers)
{
    server.module = all_entries;
    cr_expect_eq(count_until_full(), 4096);
    cr_expect(server.port.host.owed[SX_UPCALL_DEREGISTER_EVENTS].full_logged, "with a warning");
    cr_expect_eq(sx_upcall_judge(&server, SX_UPCALL_NOTIFY_EVENT, 100), PMIX_SUCCESS,
                 "each by itself");
    sx_upcall_forget_all(&server);
    server.port.host.forgotten = false;
    cr_expect_eq(count_until_full(), 4096);
    sx_upcall_forget_all(&server);
}

Test(upcall, is_not_made_while_the_host_keeps_too_much)
{
    const struct sx_upcall up = { .answered = on_notified, .info_bytes = (size_t)20 << 20 };
    unsigned count = 0;

    server.module = all_entries;
    server.module.notify_event = on_notify_unread;
    while (sx_upcall(&server, SX_UPCALL_NOTIFY_EVENT, &up) == PMIX_SUCCESS) {
        count++;
    }
    cr_expect_eq(count, 3, "of 64 MiB");
    sx_upcall_forget_all(&server);
}

/* ---- what a server that has ended leaves
 * ------------------------------------------------------- */

static void ask_large(void *arg, uint64_t now_ns)
{
    const struct sx_upcall up = { .answered = on_notified,
                                  .client = client,
                                  .procs = &(pmix_proc_t){ "job", 1 },
                                  .nprocs = 1,
                                  .info_bytes = (size_t)100 << 20 };

    (void)arg, (void)now_ns;
    cr_assert_eq(sx_upcall(&server, SX_UPCALL_FENCE_NB, &up), PMIX_SUCCESS);
}

static void *modex_cbdata[3];
static unsigned modex_count;

static pmix_status_t on_fence_kept(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                                   size_t ninfo, char *data, size_t ndata,
                                   pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo, (void)data, (void)ndata;
    host.modex = cbfunc;
    modex_cbdata[modex_count++] = cbdata;
    return PMIX_SUCCESS;
}

static void end_plainly(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    sx_upcall_forget_all(&server);
    server.port.host.forgotten = false;
}

/* 100 MiB each, of 256: the oldest of three is gone, whichever server was asked. */
Test(upcall, leaves_a_bounded_number_of_bytes_at_the_end)
{
    server.module = all_entries;
    server.module.fence_nb = on_fence_kept;
    for (unsigned i = 0; i < 3; i++) {
        bare_call(&server, ask_large, NULL);
        if (i > 0) {
            bare_call(&server, end_plainly, NULL);
        }
    }
    cr_assert_eq(modex_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        host.modex(PMIX_SUCCESS, bytes, sizeof(bytes), modex_cbdata[i], release, bytes);
        sx_callbacks_wait();
        cr_expect_eq(host.released, i, "%u", i);
    }
    cr_expect_eq(client->reference_count, 1);
}

/* Ask for @by until it may not.  Return: how often it was asked. */
static unsigned flood(struct sx_client *by, size_t bytes)
{
    const struct sx_upcall up = { .answered = on_notified, .client = by, .info_bytes = bytes };
    unsigned count = 0;

    while (count < 10000 && sx_upcall(&server, SX_UPCALL_NOTIFY_EVENT, &up) == PMIX_SUCCESS) {
        count++;
    }
    return count;
}

/* Whoever floods a host that does not answer leaves something: its process for its user's others,
 * its user for other users. */
Test(upcall, leaves_other_clients_a_share_of_what_the_host_may_owe)
{
    static const size_t sizes[] = { 0, 1000000 }; /* so many questions, then so many bytes */

    server.module = all_entries;
    server.module.notify_event = on_notify_unread;
    struct sx_client *const same = bare_connect(&server, bare_job(&server, "same", 1, 1), 0);
    struct sx_client *const other = bare_connect(&server, bare_job(&server, "other", 1, 1), 0);

    client->uid = same->uid = 7;
    other->uid = 8;
    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        const unsigned first = flood(client, sizes[i]), second = flood(same, sizes[i]);
        const unsigned third = flood(other, sizes[i]);

        cr_expect_gt(first, 5 * second, "%u %u", first, second);
        cr_expect_geq(second, 1);
        cr_expect_geq(third, 1);
        cr_expect_lt(server.port.host.owed[SX_UPCALL_NOTIFY_EVENT].count, 4096, "some is left");
        cr_expect_not(server.port.host.owed[SX_UPCALL_NOTIFY_EVENT].full_logged);
        sx_upcall_forget_all(&server);
        server.port.host.forgotten = false;
    }
}
