/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_test.c - who may be a tool, and that nothing is left of one, however it ends.  TQ34 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "attack.h"
#include "base/value/flat.h"
#include "client/event/event.h"

#define NOBODY 65534
#define CODE (PMIX_EXTERNAL_ERR_BASE - 12)
#define AT_ONCE 64 /* SX_TOOLS_MAX */
#define MANY 1000

static struct sx_hello tool_hello(const char *home)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION, .role = SX_PEER_COMMAND };

    snprintf(hello.home, sizeof(hello.home), "%s", home);
    return hello;
}

/* It reads what the attacked job has. */
static void tool_attach(struct attacker *attacker)
{
    const struct sx_hello hello = tool_hello(ATTACK_JOB);

    CHECK_STATUS(attack_attach_hello(attacker, &hello), PMIX_SUCCESS);
    CHECK(strncmp(attacker->self.nspace, "shmix-tool-", 11) == 0, "%s", attacker->self.nspace);
}

static void tool_leave(struct attacker *attacker)
{
    attack_request(attacker->socket_fd, SX_MSG_FINALIZE, 9, NULL, 0);
    (void)attack_expect_reply(attacker->socket_fd, 9, PMIX_SUCCESS);
    attack_detach(attacker);
}

static void tool_publish(const struct attacker *attacker)
{
    const struct sx_event event = { .code = CODE, .range = PMIX_RANGE_LOCAL };

    attack_request(attacker->socket_fd, SX_MSG_EVENT_BULK, 5, &event, sizeof(event));
}

static int judged(void)
{
    attack_judge(fault_case->name);
    CHECK(atomic_load(&fault_shared->lost) == 0, "the host has heard of a tool's end");
    return 0;
}

/* ---- HELLO ----------------------------------------------------------------------------------- */

static int role_hello(const char *arg)
{
    struct sx_hello hello = tool_hello(ATTACK_JOB);
    struct attacker tool;

    hello.role = SX_PEER_ROLE_MAX;
    attack_hello_refused("HELLO in a role that there is not", &hello, PMIX_ERR_BAD_PARAM);
    hello = tool_hello("no.such.job");
    attack_hello_refused("a tool of an unknown job", &hello, PMIX_ERR_NOT_FOUND);
    hello = tool_hello(ATTACK_JOB);
    snprintf(hello.nspace, sizeof(hello.nspace), ATTACK_JOB);
    attack_hello_refused("a tool that wants to be a rank", &hello, PMIX_ERR_NOT_SUPPORTED);

    attack_begin(1, "a tool of a job whose name does not end");
    const int fd = attack_connect();
    memset(hello.home, 'x', sizeof(hello.home));
    attack_request(fd, SX_MSG_HELLO, 1, &hello, sizeof(hello));
    attack_expect_end(fd);
    attack_end();

    attack_begin(1, "a client that wants to be a tool");
    tool_attach(&tool);
    attack_hello(&hello, tool.self.rank);
    memcpy(hello.nspace, tool.self.nspace, sizeof(hello.nspace));
    struct attacker client;
    CHECK_STATUS(attack_attach_hello(&client, &hello), PMIX_ERR_NOT_FOUND);
    attack_expect_end(client.socket_fd);
    tool_leave(&tool);
    attack_end();

    attack_begin(0, "a tool that reads its own namespace");
    hello = tool_hello("");
    CHECK_STATUS(attack_attach_hello(&tool, &hello), PMIX_SUCCESS);
    tool_leave(&tool);
    attack_end();
    return 0;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static int role_garbage(const char *arg)
{
    struct sx_event_number *const answer = NULL;
    struct {
        struct sx_lane_put put;
        char key[8];
    } put = { .put = { .key_len = 3, .scope = PMIX_GLOBAL }, .key = "key" };
    const struct iovec iov = { .iov_base = &put, .iov_len = sizeof(put) };
    const uint64_t half = 0;
    struct attacker tool;

    attack_begin(0, "a tool's event");
    tool_attach(&tool);
    tool_publish(&tool);
    CHECK(attack_expect_reply(tool.socket_fd, 5, PMIX_SUCCESS) == sizeof(answer->number),
          "no number");
    attack_detach(&tool);
    attack_end();

    attack_begin(1, "half of a tool's event");
    tool_attach(&tool);
    attack_request(tool.socket_fd, SX_MSG_EVENT_BULK, 5, &half, sizeof(half));
    attack_expect_end(tool.socket_fd);
    tool.socket_fd = -1;
    attack_detach(&tool);
    attack_end();

    attack_begin(1, "a put of a tool, for which no place was made");
    tool_attach(&tool);
    put.put.cell.type = PMIX_BOOL;
    CHECK_STATUS(sx_lane_append(&tool.lane, SX_LANE_PUT, &iov, 1), PMIX_SUCCESS);
    sx_lane_doorbell(&tool.lane);
    attack_expect_end(tool.socket_fd);
    tool.socket_fd = -1;
    attack_detach(&tool);
    attack_end();
    return 0;
}

/* ---- how many -------------------------------------------------------------------------------- */

static void all_at_once(void)
{
    static struct attacker tools[AT_ONCE];
    const struct sx_hello hello = tool_hello(ATTACK_JOB);
    struct attacker more;

    attack_begin(1, "a tool too many");
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        tool_attach(&tools[i]);
        CHECK(tools[i].self.rank == i, "rank %u", tools[i].self.rank);
    }
    CHECK_STATUS(attack_attach_hello(&more, &hello), PMIX_ERR_OUT_OF_RESOURCE);
    CHECK(strstr(more.refusal, "64 of one user") != NULL, "it is told: %.256s", more.refusal);
    attack_expect_end(more.socket_fd);
    for (int i = 0; i < AT_ONCE; i++) {
        attack_detach(&tools[i]);
    }
    attack_end();
}

static int role_many(const char *arg)
{
    struct attacker tool;

    if (!fault_files_raise(8 * AT_ONCE)) {
        return FAULT_SKIP;
    }
    all_at_once();
    attack_begin(0, "tools that come and go");
    for (int i = 0; i < MANY; i++) {
        tool_attach(&tool);
        tool_publish(&tool);
        if (i % 2 == 0) {
            (void)attack_expect_reply(tool.socket_fd, 5, PMIX_SUCCESS);
            tool_leave(&tool);
        } else {
            attack_detach(&tool);
        }
    }
    attack_end();
    attack_begin(0, "one behind them");
    tool_attach(&tool);
    CHECK(tool.self.rank == 0, "rank %u is not free again", tool.self.rank);
    CHECK(tool.slot < 2 * AT_ONCE, "slot %u: the others have not come back", tool.slot);
    attack_detach(&tool);
    attack_end();
    return 0;
}

static int case_many(void)
{
    if (!fault_files_raise(8 * AT_ONCE)) {
        return fault_skip("no %d descriptors can be had", 8 * AT_ONCE);
    }
    return judged();
}

/* ---- how many, and of how many names ---------------------------------------------------------- */

#define RANKS 16
#define FILES 256

/* Each tool is called what it wants to be. */
static void on_named_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                          void *cbdata)
{
    pmix_proc_t proc = { .rank = 0 };

    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_NSPACE)) {
            PMIx_Load_nspace(proc.nspace, info[i].value.data.string);
        }
    }
    cbfunc(PMIX_SUCCESS, &proc, cbdata);
}

static pmix_status_t named_attach(struct attacker *attacker, unsigned number)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION, .role = SX_PEER_TOOL };

    snprintf(hello.nspace, sizeof(hello.nspace), "tool-%u", number);
    return attack_attach_hello(attacker, &hello);
}

/* As many as are taken, which stay.  Return: how many. */
static unsigned named_attach_all(struct attacker tools[AT_ONCE])
{
    struct attacker more;
    unsigned count = 0;
    pmix_status_t status = PMIX_SUCCESS;

    while (status == PMIX_SUCCESS && count <= AT_ONCE) {
        status = named_attach(count < AT_ONCE ? &tools[count] : &more, count);
        count += status == PMIX_SUCCESS;
    }
    CHECK_STATUS(status, PMIX_ERR_OUT_OF_RESOURCE);
    return count;
}

static void named_detach_all(struct attacker tools[AT_ONCE], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        attack_detach(&tools[i]);
    }
}

/* Another user's, while the first has as many as it may have. */
static void named_by_another(void)
{
    int status;
    const pid_t pid = geteuid() == 0 ? fork() : -1;

    if (pid == 0) {
        struct attacker tool;

        CHECK(setresuid(NOBODY, NOBODY, NOBODY) == 0, "setresuid");
        CHECK_STATUS(named_attach(&tool, AT_ONCE + 1), PMIX_SUCCESS);
        _exit(0);
    }
    CHECK(pid < 0 || (waitpid(pid, &status, 0) == pid && status == 0), "another user's tool");
}

static int role_names(const char *arg)
{
    static struct attacker tools[AT_ONCE];

    if (!fault_files_raise(8 * AT_ONCE)) {
        return FAULT_SKIP;
    }
    attack_begin(1, "tools of one user, each with a namespace of its own");
    const unsigned count = named_attach_all(tools);
    CHECK(count == AT_ONCE, "%u tools", count);
    named_by_another();
    named_detach_all(tools, count);
    attack_end();
    return 0;
}

static int case_names(void)
{
    if (!fault_files_raise(8 * AT_ONCE)) {
        return fault_skip("no %d descriptors can be had", 8 * AT_ONCE);
    }
    CHECK(setenv("SHMIX_RENDEZVOUS", "abstract", 1) == 0, "setenv");
    fault_module.tool_connected = on_named_tool;
    fault_takes_foreign = true;
    return judged();
}

/* It has as many tools as it gets, until the ranks are through. */
static int role_hoards(const char *arg)
{
    static struct attacker tools[AT_ONCE];

    CHECK(fault_files_raise(8 * AT_ONCE), "no descriptors");
    const unsigned count = named_attach_all(tools);

    CHECK(count > 0 && count < AT_ONCE, "%u tools", count);
    atomic_store(&fault_shared->state[0], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the ranks to end");
    named_detach_all(tools, count);
    return 0;
}

static int role_comes(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Ranks that are announced find descriptors, however many tools want them. */
static int case_descriptors(void)
{
    pid_t pids[RANKS];

    if (!fault_files_raise(8 * AT_ONCE)) {
        return fault_skip("no %d descriptors can be had", 8 * AT_ONCE);
    }
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_module.tool_connected = on_named_tool;
    fault_server_start();
    fault_good_start();
    fault_job_start("stays.job", 1);
    fault_job_start("ranks.job", RANKS);
    fault_files_limit(FILES);
    const pid_t tools = fault_start("stays.job", 0, "hoards", "");

    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1, "the tools");
    CHECK(fault_log_lines(FAULT_SELF, "no descriptor to spare") == 1, "no line");
    for (int rank = 0; rank < RANKS; rank++) {
        pids[rank] = fault_start("ranks.job", rank, "comes", "");
    }
    for (int rank = 0; rank < RANKS; rank++) {
        fault_wait_ok(pids[rank], "a rank");
    }
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(tools, "the tools");
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 1, "%u lines", fault_log_lines(FAULT_SELF, NULL));
    fault_good_wait(2);
    fault_job_end("ranks.job");
    fault_job_end("stays.job");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

/* ---- as a program has it --------------------------------------------------------------------- */

#define WORKERS 4

static _Atomic unsigned tools_asked;

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    atomic_fetch_add(&tools_asked, 1);
    cbfunc(PMIX_SUCCESS, NULL, cbdata);
}

/* One tool's life: it asks, hears events or says one, and goes. */
static void tool_live(int number)
{
    char *keys[] = { (char *)(uintptr_t)PMIX_QUERY_NAMESPACES, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_status_t code = CODE;
    pmix_info_t *info;
    pmix_proc_t self;
    size_t ninfo;

    CHECK_STATUS(PMIx_tool_init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Query_info(&query, 1, &info, &ninfo), PMIX_SUCCESS);
    CHECK(strstr(info[0].value.data.string, "good.job") != NULL, "no good.job");
    PMIX_INFO_FREE(info, ninfo);
    if (number % 3 == 0) {
        CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, fault_event_ignored, NULL, NULL) >= 0,
              "none");
    } else if (number % 3 == 1) {
        CHECK_STATUS(PMIx_Notify_event(CODE, &self, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
}

static int role_lives(const char *arg)
{
    const int count = atoi(arg);

    for (int i = 0; i < count; i++) {
        tool_live(i);
    }
    return 0;
}

/* Several programs at once, each of them @count tools, one after the other. */
static void tools_run(int count)
{
    pid_t pids[WORKERS];
    char text[16];

    snprintf(text, sizeof(text), "%d", count);
    for (int i = 0; i < WORKERS; i++) {
        pids[i] = fault_start(NULL, 0, "lives", text);
    }
    for (int i = 0; i < WORKERS; i++) {
        fault_wait_ok(pids[i], "a program that is many tools");
    }
}

/* Each is taken, the job goes on, and nothing of them stays. */
static int case_programs(void)
{
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_module.tool_connected = on_tool;
    fault_server_start();
    fault_good_start();
    fault_good_wait(2);
    const unsigned fds = fault_fd_count(FAULT_SELF), maps = fault_map_count(FAULT_SELF);

    tools_run(MANY / WORKERS / 5);
    const uint64_t kib = fault_memory_kib(FAULT_SELF);

    tools_run(MANY / WORKERS);
    CHECK(atomic_load(&tools_asked) == MANY + MANY / 5, "%u tools", atomic_load(&tools_asked));
    WAIT_FOR(fault_fd_count(FAULT_SELF) <= fds && fault_map_count(FAULT_SELF) <= maps,
             "all to come back");
    CHECK(fault_memory_kib(FAULT_SELF) <= kib + fault_memory_slack_kib(), "from %llu to %llu KiB",
          (unsigned long long)kib, (unsigned long long)fault_memory_kib(FAULT_SELF));
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 0, "the server has something to say");
    CHECK(atomic_load(&fault_shared->lost) == 0, "the host has heard of a tool's end");
    fault_good_wait(2);
    fault_good_stop();
    fault_server_stop();
    return 0;
}

/* ---- kill -9 --------------------------------------------------------------------------------- */

static const char *const states[] = { "connected", "said HELLO", "welcomed", "published",
                                      "asked to leave" };

static void live_until(size_t state)
{
    const struct sx_hello hello = tool_hello(ATTACK_JOB);
    struct attacker tool;

    if (state < 2) {
        const int fd = attack_connect();

        if (state == 1) {
            attack_request(fd, SX_MSG_HELLO, 1, &hello, sizeof(hello));
        }
        raise(SIGKILL);
    }
    tool_attach(&tool);
    if (state >= 3) {
        tool_publish(&tool);
    }
    if (state >= 4) {
        attack_request(tool.socket_fd, SX_MSG_FINALIZE, 9, NULL, 0);
    }
    raise(SIGKILL);
}

static int role_killed(const char *arg)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        attack_begin(0, "a tool that is killed when it has %s", states[i]);
        const pid_t pid = fork();
        int status;

        CHECK(pid >= 0, "no child");
        if (pid == 0) {
            live_until(i);
        }
        CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
              "status %#x", (unsigned)status);
        attack_end();
    }
    return 0;
}

/* ---- the end of what it reads ---------------------------------------------------------------- */

/* A tool that stays until the server ends it. */
static int role_stays(const char *arg)
{
    const struct sx_hello hello = tool_hello(arg);
    struct attacker tool;

    CHECK_STATUS(attack_attach_hello(&tool, &hello), PMIX_SUCCESS);
    snprintf(fault_shared->text, sizeof(fault_shared->text), "%s", tool.self.nspace);
    atomic_store(&fault_shared->state[0], 1);
    attack_expect_end(tool.socket_fd);
    tool.socket_fd = -1;
    CHECK(atomic_load(&tool.board.slots[tool.slot].state) != SX_SLOT_LIVE, "its slot lives");
    attack_detach(&tool);
    return 0;
}

/* The host takes back a job, and then the tools' own namespace. */
static int case_home_ends(void)
{
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start("stays.job", 1);
    const unsigned fds = fault_fd_count(FAULT_SELF);

    for (int i = 0; i < 2; i++) {
        fault_job_start("home.job", 1);
        atomic_store(&fault_shared->state[0], 0);
        const pid_t pid = fault_start("stays.job", 0, "stays", i == 0 ? "home.job" : "");

        WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1, "the tool to attach");
        if (i == 1) {
            PMIx_server_deregister_nspace(fault_shared->text, NULL, NULL);
        }
        fault_job_end("home.job");
        fault_wait_ok(pid, "a tool");
        WAIT_FOR(fault_fd_count(FAULT_SELF) <= fds, "all to come back");
    }
    CHECK(atomic_load(&fault_shared->lost) == 0, "the host has heard of a tool's end");
    fault_good_wait(2);
    fault_job_end("stays.job");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

/* ---- what it asked to have removed ----------------------------------------------------------- */

static const char *litter_path(void)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/litter", fault_shared->tmpdir);
    return path;
}

/* A directory waits for the last process of a job, but not for other tools. */
static int role_litters(const char *arg)
{
    const struct sx_hello hello = tool_hello("stays.job");
    _Alignas(8) char body[1024] = { 0 };
    struct sx_job_control *const head = (void *)body;
    struct attacker tool, other;
    pmix_info_t info;
    size_t size;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_REGISTER_CLEANUP_DIR, litter_path(), PMIX_STRING),
                 PMIX_SUCCESS);
    CHECK_STATUS(sx_flat_infos_size(&info, 1, &size), PMIX_SUCCESS);
    CHECK_STATUS(sx_flat_infos_encode(&info, 1, head + 1, size), PMIX_SUCCESS);
    PMIX_INFO_DESTRUCT(&info);
    head->info_size = size;
    CHECK_STATUS(attack_attach_hello(&other, &hello), PMIX_SUCCESS);
    CHECK_STATUS(attack_attach_hello(&tool, &hello), PMIX_SUCCESS);
    attack_request(tool.socket_fd, SX_MSG_JOB_CONTROL, 6, body, sizeof(*head) + size);
    (void)attack_expect_reply(tool.socket_fd, 6, PMIX_SUCCESS);
    attack_detach(&tool);
    WAIT_FOR(access(litter_path(), F_OK) != 0, "the directory to go");
    attack_detach(&other);
    return 0;
}

static int case_litter(void)
{
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start("stays.job", 1);
    CHECK(mkdir(litter_path(), 0700) == 0, "%s", strerror(errno));
    fault_wait_ok(fault_start("stays.job", 0, "litters", ""), "two tools");
    fault_good_wait(2);
    fault_job_end("stays.job");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

/* ---- who sends it ---------------------------------------------------------------------------- */

/* Anybody reaches the rendezvous; the server stops him. */
static int role_another_uid(const char *arg)
{
    const struct sx_hello hello = tool_hello("mine.job");
    struct attacker tool;

    CHECK(setresuid(NOBODY, NOBODY, NOBODY) == 0, "setresuid");
    CHECK_STATUS(attack_attach_hello(&tool, &hello), PMIX_ERR_NO_PERMISSIONS);
    attack_expect_end(tool.socket_fd);
    return 0;
}

static int case_another_uid(void)
{
    if (geteuid() != 0) {
        return fault_skip("only root can become another user");
    }
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start("mine.job", 1);
    fault_wait_ok(fault_start("mine.job", 0, "another_uid", ""), "another user");
    WAIT_FOR(fault_log_lines(FAULT_SELF, "neither of this server's user nor root") == 1,
             "the server's line");
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 1, "%u lines", fault_log_lines(FAULT_SELF, NULL));
    fault_good_wait(2);
    fault_job_end("mine.job");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "hello", judged },       { "garbage", judged },
    { "many", case_many },     { "programs", case_programs },
    { "killed", judged },      { "home_ends", case_home_ends },
    { "litter", case_litter }, { "another_uid", case_another_uid },
    { "names", case_names },   { "descriptors", case_descriptors },
};

static const struct fault_role roles[] = {
    { "hello", role_hello },     { "garbage", role_garbage },
    { "many", role_many },       { "lives", role_lives },
    { "killed", role_killed },   { "stays", role_stays },
    { "litters", role_litters }, { "another_uid", role_another_uid },
    { "names", role_names },     { "hoards", role_hoards },
    { "comes", role_comes },
};

FAULT_MAIN(cases, roles)
