/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_links_test.c - a tool with several servers.  Each case is a process of its own: it starts
 * its servers, in processes that do what a pipe says, and is the tool. TQ29 TQ31 TQ32 TQ33 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "job.h"

#define SERVERS_AT_A_TIME 8
#define SERVERS_EVER 32
#define CODE (PMIX_EXTERNAL_ERR_BASE - 7)

/* ---- servers --------------------------------------------------------------------------------- */

struct server {
    pid_t pid;
    int to, from; /* a byte each way: publish one event, and it is done */
    pmix_proc_t name;
};

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    cbfunc(PMIX_SUCCESS, NULL, cbdata);
}

/* A server whose one set has the server's own name. */
static void server_run(const char *nspace, int in, int out)
{
    static pmix_server_module_t module = { .tool_connected = on_tool };
    pmix_info_t info[2];
    pmix_proc_t self;
    bool yes = true;
    char byte = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    PMIx_Info_load(&info[0], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_SERVER_NSPACE, nspace, PMIX_STRING);
    CHECK_STATUS(PMIx_server_init(&module, info, 2), PMIX_SUCCESS);
    PMIx_Load_procid(&self, nspace, 0);
    CHECK_STATUS(PMIx_server_define_process_set(&self, 1, nspace), PMIX_SUCCESS);
    while (write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1) {
        CHECK_STATUS(PMIx_Notify_event(CODE, &self, PMIX_RANGE_SESSION, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    _exit(0);
}

static pid_t started[2 * SERVERS_AT_A_TIME];
static size_t started_count;

/* The next case has servers of the same names. */
static void servers_end(void)
{
    for (size_t i = 0; i < started_count; i++) {
        (void)kill(started[i], SIGKILL); /* one may have been killed */
        (void)waitpid(started[i], NULL, 0);
    }
}

static void answer_await(const struct server *server)
{
    char byte;

    CHECK(read(server->from, &byte, 1) == 1);
}

static struct server server_start(const char *nspace)
{
    struct server server;
    int in[2], out[2];

    CHECK(pipe(in) == 0 && pipe(out) == 0);
    server.pid = fork();
    CHECK(server.pid >= 0);
    if (server.pid == 0) {
        close(in[1]); /* the end of the tool is the server's */
        server_run(nspace, in[0], out[1]);
    }
    CHECK(started_count < sizeof(started) / sizeof(started[0]));
    started[started_count++] = server.pid;
    close(in[0]);
    close(out[1]);
    server.to = in[1];
    server.from = out[0];
    PMIx_Load_procid(&server.name, nspace, 0);
    answer_await(&server);
    return server;
}

static void server_publish(const struct server *server)
{
    CHECK(write(server->to, "", 1) == 1);
    answer_await(server);
}

/* ---- the tool
 * --------------------------------------------------------------------------------- */

static pmix_status_t attach(const struct server *server, bool primary, pmix_proc_t *ret_server)
{
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_SERVER_NSPACE, server->name.nspace, PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_PRIMARY_SERVER, &primary, PMIX_BOOL);
    const pmix_status_t rc = PMIx_tool_attach_to_server(NULL, ret_server, info, 2);

    PMIx_Info_destruct(&info[0]);
    return rc;
}

static void begin(const struct server *server)
{
    pmix_info_t info;
    pmix_proc_t self;

    PMIx_Info_load(&info, PMIX_SERVER_NSPACE, server->name.nspace, PMIX_STRING);
    CHECK_STATUS(PMIx_tool_init(&self, &info, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
}

static void attach_both(const struct server *a, const struct server *b)
{
    pmix_proc_t name;

    begin(a);
    CHECK_STATUS(attach(b, false, &name), PMIX_SUCCESS);
    CHECK(PMIx_Check_procid(&name, &b->name));
}

static void expect_servers(const struct server *first, const struct server *second)
{
    pmix_proc_t *all;
    size_t count;

    CHECK_STATUS(PMIx_tool_get_servers(&all, &count), PMIX_SUCCESS);
    CHECK(count == (second != NULL ? 2 : 1) && PMIx_Check_procid(&all[0], &first->name));
    CHECK(second == NULL || PMIx_Check_procid(&all[1], &second->name));
    free(all);
}

/* Whose sets a query finds: those of the primary server. */
static void expect_asked(const struct server *server)
{
    char *keys[] = { (char *)(uintptr_t)PMIX_QUERY_PSET_NAMES, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *info;
    size_t ninfo;

    CHECK_STATUS(PMIx_Query_info(&query, 1, &info, &ninfo), PMIX_SUCCESS);
    CHECK(ninfo == 1 && strcmp(info->value.data.string, server->name.nspace) == 0);
    PMIx_Info_free(info, ninfo);
}

/* ---- events
 * ------------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t received_one = PTHREAD_COND_INITIALIZER;
static struct {
    unsigned of_a, of_b, lost_of_b, others;
} received[2];

static void receive(unsigned handler, pmix_status_t code, const pmix_proc_t *source)
{
    const bool of_b = strcmp(source->nspace, "server.b") == 0;

    pthread_mutex_lock(&lock);
    if (code == CODE && strcmp(source->nspace, "server.a") == 0) {
        received[handler].of_a++;
    } else if (code == CODE && of_b) {
        received[handler].of_b++;
    } else if (code == PMIX_ERR_LOST_CONNECTION_TO_SERVER && of_b) {
        received[handler].lost_of_b++;
    } else {
        received[handler].others++;
    }
    pthread_cond_broadcast(&received_one);
    pthread_mutex_unlock(&lock);
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    receive(0, code, source);
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_event_too(size_t id, pmix_status_t code, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                         pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    receive(1, code, source);
    cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t listen_with(pmix_notification_fn_t fn)
{
    pmix_status_t codes[] = { CODE, PMIX_ERR_LOST_CONNECTION_TO_SERVER };

    return PMIx_Register_event_handler(codes, 2, NULL, 0, fn, NULL, NULL);
}

/* Wait until @handler has heard so many of both. */
static void expect_received(unsigned handler, unsigned of_a, unsigned of_b)
{
    pthread_mutex_lock(&lock);
    while (received[handler].of_a < of_a || received[handler].of_b < of_b) {
        pthread_cond_wait(&received_one, &lock);
    }
    CHECK(received[handler].of_a == of_a && received[handler].of_b == of_b &&
          received[handler].others == 0);
    pthread_mutex_unlock(&lock);
}

/* ---- cases
 * ------------------------------------------------------------------------------------ */

/* TQ29 TQ31 TQ32 TQ33 */
static void primary(void)
{
    const struct server a = server_start("server.a"), b = server_start("server.b");
    pmix_info_t value;
    pmix_proc_t name;

    attach_both(&a, &b);
    expect_servers(&a, &b);
    expect_asked(&a);
    CHECK_STATUS(PMIx_tool_set_server(&b.name, NULL, 0), PMIX_SUCCESS);
    expect_servers(&b, &a);
    expect_asked(&b);
    CHECK_STATUS(attach(&a, true, &name), PMIX_SUCCESS); /* it is attached to */
    CHECK(PMIx_Check_procid(&name, &a.name));
    expect_servers(&a, &b);
    expect_asked(&a);
    CHECK_STATUS(PMIx_tool_disconnect(&a.name), PMIX_SUCCESS);
    CHECK(!PMIx_tool_is_connected());
    expect_servers(&b, NULL);
    PMIx_Info_load(&value, PMIX_REGISTER_CLEANUP, "/tmp/none", PMIX_STRING);
    CHECK_STATUS(PMIx_Job_control(NULL, 0, &value, 1, NULL, NULL), PMIX_ERR_UNREACH);
    PMIx_Info_destruct(&value);
    CHECK_STATUS(PMIx_tool_set_server(&a.name, NULL, 0), PMIX_ERR_UNREACH);
    CHECK_STATUS(PMIx_tool_set_server(&b.name, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_tool_is_connected());
    expect_asked(&b);
    CHECK_STATUS(attach(&a, false, NULL), PMIX_SUCCESS);
    expect_servers(&b, &a);
    expect_asked(&b);
    PMIx_Info_load(&value, PMIX_SERVER_NSPACE, "server.a", PMIX_STRING);
    CHECK_STATUS(PMIx_tool_connect_to_server(&name, &value, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&value);
    expect_servers(&a, &b);
    CHECK_STATUS(PMIx_tool_disconnect(&b.name), PMIX_SUCCESS);
    expect_asked(&a);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    begin(&b); /* nothing is left of what was */
    expect_servers(&b, NULL);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

/* Whoever has no server left gets one by attaching. */
static void one_after_the_other(void)
{
    const struct server a = server_start("server.a"), b = server_start("server.b");

    begin(&a);
    CHECK_STATUS(PMIx_tool_disconnect(&a.name), PMIX_SUCCESS);
    CHECK_STATUS(attach(&b, false, NULL), PMIX_SUCCESS);
    expect_servers(&b, NULL);
    expect_asked(&b);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static void events(void)
{
    const struct server a = server_start("server.a"), b = server_start("server.b");

    server_publish(&b); /* kept for whoever comes */
    begin(&a);
    CHECK(listen_with(on_event) > 0);
    server_publish(&a);
    expect_received(0, 1, 0);
    CHECK_STATUS(attach(&b, false, NULL), PMIX_SUCCESS);
    expect_received(0, 1, 1);
    for (unsigned i = 0; i < 20; i++) {
        server_publish(&b);
        server_publish(&a);
        server_publish(&b);
    }
    expect_received(0, 21, 41);
    const pmix_status_t late = listen_with(on_event_too);
    CHECK(late > 0);
    expect_received(1, 21, 41);
    CHECK_STATUS(PMIx_Deregister_event_handler((size_t)late, NULL, NULL), PMIX_SUCCESS);
    server_publish(&a);
    server_publish(&b);
    expect_received(0, 22, 42);
    expect_received(1, 21, 41);
    CHECK_STATUS(PMIx_tool_disconnect(&a.name), PMIX_SUCCESS);
    server_publish(&a);
    server_publish(&b);
    expect_received(0, 22, 43);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static void loss(void)
{
    const struct server a = server_start("server.a"), b = server_start("server.b");

    attach_both(&a, &b);
    CHECK(listen_with(on_event) > 0);
    server_publish(&b);
    expect_received(0, 0, 1);
    CHECK(kill(b.pid, SIGKILL) == 0 && waitpid(b.pid, NULL, 0) == b.pid);
    pthread_mutex_lock(&lock);
    while (received[0].lost_of_b == 0) {
        pthread_cond_wait(&received_one, &lock);
    }
    pthread_mutex_unlock(&lock);
    expect_servers(&a, NULL);
    server_publish(&a);
    expect_received(0, 1, 1);
    expect_asked(&a);
    CHECK_STATUS(PMIx_tool_set_server(&b.name, NULL, 0), PMIX_ERR_UNREACH);
    CHECK_STATUS(PMIx_tool_disconnect(&b.name), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static void limits(void)
{
    struct server all[SERVERS_AT_A_TIME + 1];
    char name[32];

    for (unsigned i = 0; i <= SERVERS_AT_A_TIME; i++) {
        snprintf(name, sizeof(name), "server.%u", i);
        all[i] = server_start(name);
    }
    begin(&all[0]);
    for (unsigned i = 1; i < SERVERS_AT_A_TIME; i++) {
        CHECK_STATUS(attach(&all[i], false, NULL), PMIX_SUCCESS);
    }
    CHECK_STATUS(attach(&all[SERVERS_AT_A_TIME], false, NULL), PMIX_ERR_OUT_OF_RESOURCE);
    for (unsigned ever = SERVERS_AT_A_TIME; ever < SERVERS_EVER; ever++) {
        CHECK_STATUS(PMIx_tool_disconnect(&all[1].name), PMIX_SUCCESS);
        CHECK_STATUS(attach(&all[1], false, NULL), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_tool_disconnect(&all[1].name), PMIX_SUCCESS);
    CHECK_STATUS(attach(&all[1], false, NULL), PMIX_ERR_OUT_OF_RESOURCE);
    expect_asked(&all[0]);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    begin(&all[1]);
    CHECK_STATUS(attach(&all[2], false, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static void *set_server(void *arg)
{
    const struct server *const server = arg;
    const int seconds = JOB_SECONDS;
    const bool yes = true;
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_WAIT_FOR_CONNECTION, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    CHECK_STATUS(PMIx_tool_set_server(&server->name, info, 2), PMIX_SUCCESS);
    return NULL;
}

/* TQ32 */
static void waits(void)
{
    struct server a = server_start("server.a"), b = server_start("server.b");
    const int second = 1;
    const bool yes = true;
    pmix_info_t info[2];
    pthread_t thread;

    begin(&a);
    PMIx_Info_load(&info[0], PMIX_WAIT_FOR_CONNECTION, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_TIMEOUT, &second, PMIX_INT);
    CHECK_STATUS(PMIx_tool_set_server(&b.name, info, 2), PMIX_ERR_TIMEOUT);
    CHECK_STATUS(PMIx_tool_set_server(&b.name, NULL, 0), PMIX_ERR_UNREACH);
    CHECK_STATUS(PMIx_tool_set_server(&a.name, info, 2), PMIX_SUCCESS);
    CHECK(pthread_create(&thread, NULL, set_server, &b) == 0);
    CHECK_STATUS(attach(&b, false, NULL), PMIX_SUCCESS);
    CHECK(pthread_join(thread, NULL) == 0);
    expect_servers(&b, &a);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static void forked(void)
{
    const struct server a = server_start("server.a"), b = server_start("server.b");
    int status;

    attach_both(&a, &b);
    CHECK(listen_with(on_event) > 0);
    const pid_t pid = fork();

    if (pid == 0) { /* both are the parent's */
        pmix_proc_t *all;
        size_t count;

        _exit(PMIx_tool_is_connected() || PMIx_tool_get_servers(&all, &count) != PMIX_ERR_UNREACH);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    expect_servers(&a, &b);
    server_publish(&b);
    expect_received(0, 0, 1);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    { "primary", primary }, { "one_after_the_other", one_after_the_other },
    { "events", events },   { "loss", loss },
    { "limits", limits },   { "waits", waits },
    { "forked", forked },
};

/* What servers that were killed have left is for the next server of the directory. */
static void sweep(void)
{
    static pmix_server_module_t module;
    pmix_info_t info;
    bool yes = true;

    PMIx_Info_load(&info, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    CHECK_STATUS(PMIx_server_init(&module, &info, 1), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
}

static void in_a_child(void (*run)(void), const char *name)
{
    int status;
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(JOB_SECONDS);
        run();
        servers_end();
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    if (status != 0) {
        fprintf(stderr, "case %s: status %d\n", name, status);
        exit(1);
    }
}

int main(void)
{
    const char *const tmp = getenv("TMPDIR");
    char dir[256];

    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(dir, sizeof(dir), "%s/sxlinks-XXXXXX", tmp != NULL ? tmp : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    setenv("TMPDIR", dir, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        in_a_child(cases[i].run, cases[i].name);
        printf("PASS %s\n", cases[i].name);
    }
    in_a_child(sweep, "sweep");
    CHECK(rmdir(dir) == 0);
    return 0;
}
