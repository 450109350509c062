/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* args_test.c - every function of the interface with every wrong argument, in every state.
 *
 * usage: args_test STATE [FUNCTION]     STATE: before, singleton, client, server
 *
 * A case is one call with one argument that is not good (or with all of them NULL), made in a
 * process of its own which enters the state, calls, leaves the state and judges:
 *    - it ends by itself: no signal, and no alarm after CASE_SECONDS
 *    - a status function refuses an argument that is wrong whatever one does with it
 *    - nobody calls back after a refusal, and nobody twice
 *    - a call that gave PMIX_SUCCESS is answered: its callback has come when the library has ended
 *    - before PMIx_Init nothing succeeds but what needs no library state
 * A function whose good call is not supported gets the short list: what is wrong for
 * everybody.
 *
 * As a client, the cases run below `shmix run -n 2`, half of them in each rank; the cases of a
 * rank connect one after the other.  A case that kills its job is run again alone, to name it. */
#include "args.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args_table.h"
#include "support/sanitized.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CASE_SECONDS 120
#define RANKS 2
#define FAILURES_MAX 200
#define LEAVES_MAX 4096 /* every call may have been one more PMIx_Init */

/* Far more than the library maps, far less than 2^40 of anything. */
#define ADDRESS_SPACE_MAX ((rlim_t)1 << 38)

enum state { STATE_BEFORE, STATE_SINGLETON, STATE_CLIENT, STATE_SERVER, STATES };

static const char *const state_names[STATES] = { "before", "singleton", "client", "server" };

/* Which argument of a case is not good. */
enum { ALL_GOOD = -1, ALL_NULL = -2, ALL_NULL_HUGE = -3 };

struct test {
    const struct function *function;
    int parameter; /* or one of the above */
    const struct variant *variant;
    /* Instead of a variant: one call for each known key, in an info of this kind. */
    bool all_keys;
    size_t which;
};

/* What a case tells its parent, in shared memory. */
struct report {
    bool returned;
    long long status;  /* of the last call */
    unsigned accepted; /* calls after which one callback may come */
    unsigned promised; /* those among them after which one has to come */
    unsigned key;      /* of known_keys, when all are tried */
    unsigned callbacks, handler_calls;
};

/* How far the ranks of a job are, and what a case alone in its job reports: in a file. */
struct progress {
    long begun[RANKS], ended[RANKS]; /* cases */
    bool finished[RANKS];
    bool supported[COUNT(functions)];
    long failed;
    struct report alone;
};

static enum state state;
static struct report *report;
static struct progress *progress;
static bool *supported; /* by index into functions */
static const char *only_function;
static char self_path[PATH_MAX];

static void args_quit(const char *what)
{
    fprintf(stderr, "args_test: %s: %s\n", what, strerror(errno));
    exit(99);
}

void args_called(bool handler)
{
    __atomic_add_fetch(handler ? &report->handler_calls : &report->callbacks, 1, __ATOMIC_RELAXED);
}

/* ---- what may succeed although it looks wrong --------------------------------------------- */

struct exception {
    const char *function;
    int parameter;
    const char *variant; /* NULL: all but a NULL pointer */
    const char *why;
};

static const struct exception exceptions[] = {
    { "PMIx_Init", 0, "NULL", "the identity may be unwanted" },
    { "PMIx_Init", 0, NULL, "is written to" },
    { "PMIx_tool_init", 0, "NULL", "the identity may be unwanted" },
    { "PMIx_tool_init", 0, NULL, "is written to" },
    { "PMIx_tool_attach_to_server", 0, "NULL", "the identity may be unwanted" },
    { "PMIx_tool_attach_to_server", 0, NULL, "is written to" },
    { "PMIx_tool_attach_to_server", 1, "NULL", "the server may be unwanted" },
    { "PMIx_tool_attach_to_server", 1, NULL, "is written to" },
    { "PMIx_tool_connect_to_server", 0, "NULL", "the identity may be unwanted" },
    { "PMIx_tool_connect_to_server", 0, NULL, "is written to" },
    { "PMIx_server_init", 0, "NULL", "a host may have nothing to say" },
    { "PMIx_Get", 1, "NULL", "means everything" },
    { "PMIx_Get_nb", 2, "required and unknown", "as a server: nothing is waited for" },
    { "PMIx_Get_nb", 0, "NULL", "means the caller's job" },
    { "PMIx_Get_nb", 1, "NULL", "means everything" },
    { "PMIx_Register_event_handler", 5, "NULL", "makes it block" },
    { "PMIx_Deregister_event_handler", 1, "NULL", "makes it block" },
    { "PMIx_Notify_event", 1, "NULL", "stands for the caller" },
    { "PMIx_Notify_event", 3, "required and unknown", "is data, not a directive" },
    { "PMIx_Notify_event", 5, "NULL", "makes it block" },
    { "PMIx_Compute_distances", 0, "NULL", "stands for the caller's own" },
    { "PMIx_Compute_distances", 1, "NULL", "stands for the caller's own" },
    { "PMIx_Compute_distances_nb", 0, "NULL", "stands for the caller's own" },
    { "PMIx_Compute_distances_nb", 1, "NULL", "stands for the caller's own" },
    { "PMIx_Data_pack", 0, "NULL", "stands for the server" },
    { "PMIx_Data_pack", 0, NULL, "there is one format for all" },
    { "PMIx_Data_unpack", 0, "NULL", "stands for the server" },
    { "PMIx_Data_unpack", 0, NULL, "there is one format for all" },
    { "PMIx_Data_print", 1, "NULL", "is no prefix" },
    { "PMIx_Data_print", 2, "NULL", "is printed as such" },
    { "PMIx_Data_load", 0, NULL, "is written to" },
    { "PMIx_Data_embed", 0, NULL, "is written to" },
    { "PMIx_Data_unload", 1, NULL, "is written to" },
    { "PMIx_Info_list_add", 2, "NULL", "means zero" },
    { "PMIx_Info_list_add_unique", 2, "NULL", "means zero" },
    { "PMIx_Info_list_prepend", 2, "NULL", "means zero" },
    { "PMIx_Info_list_insert", 1, NULL, "is linked, not copied" },
    { "PMIx_Info_load", 0, NULL, "is written to" },
    { "PMIx_Info_load", 2, "NULL", "means zero" },
    { "PMIx_Info_xfer", 0, NULL, "is written to" },
    { "PMIx_Value_load", 0, NULL, "is written to" },
    { "PMIx_Value_load", 1, "NULL", "means zero" },
    { "PMIx_Value_xfer", 0, NULL, "is written to" },
    { "PMIx_Value_unload", 0, "SIZE_MAX bytes at NULL", "what it holds is handed out as it is" },
    { "PMIx_Value_get_size", 0, NULL, "tells what the value claims" },
    { "PMIx_Fence_nb", 2, "required and unknown", "the callback tells" },
    { "PMIx_Get_credential", 2, NULL, "is written to" },
    { "PMIx_Job_control_nb", 2, "required and unknown", "the callback tells" },
    { "PMIx_Spawn_nb", 0, "required and unknown", "the callback tells" },
    { "PMIx_Job_control_nb", 4, "NULL", "nobody wants to know" },
    { "PMIx_Process_monitor_nb", 4, "NULL", "nobody wants to know" },
    { "PMIx_Log", 0, "required and unknown", "is data, not a directive" },
    { "PMIx_Log_nb", 0, "required and unknown", "is data, not a directive" },
    { "PMIx_Log_nb", 4, "NULL", "nobody wants to know" },
    { "PMIx_Abort", 1, "NULL", "there is nothing to say" },
    { "PMIx_Notify_event", 1, "NULL", "means the caller" },
    { "PMIx_Notify_event", 3, "required and unknown", "is for the handlers" },
    { "PMIx_Notify_event", 5, "NULL", "nobody wants to know" },
    { "PMIx_Resolve_peers", 0, "NULL", "means this node" },
    { "PMIx_Resolve_peers", 1, "NULL", "means every namespace" },
    { "PMIx_Publish", 0, "required and unknown", "is data, not a directive" },
    { "PMIx_Publish_nb", 0, "required and unknown", "is data, not a directive" },
    { "PMIx_Unpublish", 0, "NULL", "means everything" },
    { "PMIx_Unpublish_nb", 0, "NULL", "means everything" },
    { "PMIx_Resolve_peers", 0, "NULL", "means this node" },
    { "PMIx_Resolve_peers", 1, "NULL", "means all" },
    { "PMIx_Resolve_nodes", 0, "NULL", "means all" },
    { "PMIx_Group_construct", 5, "NULL", "the results may be unwanted" },
    { "PMIx_Group_construct", 6, "NULL", "the results may be unwanted" },
    { "PMIx_Group_join_nb", 1, "NULL", "means whoever has invited" },
    { "PMIx_Group_join_nb", 5, "NULL", "an event tells the end" },
    { "PMIx_Group_invite_nb", 5, "NULL", "an event tells the end" },
    { "PMIx_Setenv", 1, "NULL", "means an empty value" },
    { "PMIx_server_register_client", 3, "NULL", "is the host's object" },
    { "PMIx_server_register_client", 4, "NULL", "makes it block" },
    { "PMIx_server_register_resources", 0, "required and unknown", "is data, not a directive" },
    { "PMIx_server_deregister_resources", 0, "required and unknown", "is data, not a directive" },
    { "PMIx_server_register_resources", 2, "NULL", "makes it block" },
    { "PMIx_server_deregister_resources", 2, "NULL", "makes it block" },
    { "PMIx_server_setup_local_support", 3, "NULL", "makes it block" },
    { "PMIx_server_deliver_inventory", 0, "required and unknown", "is data, not a directive" },
    { "PMIx_server_deliver_inventory", 4, "NULL", "makes it block" },
    { "PMIx_server_IOF_flow_control", 0, "NULL", "means all processes" },
    { "PMIx_server_IOF_flow_control", 5, "NULL", "is not called: it is done at once" },
    { "PMIx_server_IOF_flow_control", 6, "NULL", "is for what is not called" },
    { "PMIx_server_register_nspace", 2, "required and unknown", "is data, not a directive" },
    { "PMIx_server_register_nspace", 4, "NULL", "makes it block" },
    { "PMIx_Register_event_handler", 2, "required and unknown", "the callback tells" },
};

static bool is_excepted(const struct test *test)
{
    for (size_t i = 0; i < COUNT(exceptions); i++) {
        const struct exception *const it = &exceptions[i];

        if (strcmp(it->function, test->function->name) == 0 && it->parameter == test->parameter &&
            (it->variant == NULL ? strcmp(test->variant->name, "NULL") != 0
                                 : strcmp(it->variant, test->variant->name) == 0)) {
            return true;
        }
    }
    return false;
}

/* C itself leaves these undefined, a count that promises more elements than there are; or they wait
 * for others, rightly. */
static const struct exception left_out[] = {
    { "PMIx_Data_pack", 3, "127", "elements" },
    { "PMIx_Data_pack", 3, "255", "elements" },
    { "PMIx_Data_pack", 3, "9999", "elements" },
    { "PMIx_Data_pack", 3, "INT32_MAX", "elements" },
    { "PMIx_Group_construct", 1, "NULL, count 0", "joins those whom leaders bring together" },
};

static bool is_left_out(const struct test *test)
{
    for (size_t i = 0; i < COUNT(left_out) && test->variant != NULL; i++) {
        if (strcmp(left_out[i].function, test->function->name) == 0 &&
            left_out[i].parameter == test->parameter &&
            strcmp(left_out[i].variant, test->variant->name) == 0) {
            return true;
        }
    }
    return false;
}

/* These bring a process into a state, or need none. */
static const char *const anytime[] = {
    "PMIx_Init",
    "PMIx_server_init",
    "PMIx_tool_init",
    "PMIx_Get_cpuset",
    "PMIx_server_generate_cpuset",
    "PMIx_Parse_cpuset_string",
    "PMIx_Get_relative_locality",
};

static bool is_for_anytime(const struct function *function)
{
    for (size_t i = 0; i < COUNT(anytime); i++) {
        if (strcmp(function->name, anytime[i]) == 0) {
            return true;
        }
    }
    return function->stateless;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "args_test: %s gave %d, %s\n", what, rc, PMIx_Error_string(rc));
        _exit(97);
    }
}

static void enter_server(void)
{
    static pmix_server_module_t module; /* a host that has nothing to say */
    uint32_t size = 2;
    pmix_info_t infos[2];

    must(PMIx_server_init(&module, NULL, 0), "PMIx_server_init");
    must(PMIx_Info_load(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32), "PMIx_Info_load");
    /* A text of the host's keeps thousands of servers from looking at the hardware. */
    must(PMIx_Info_load(&infos[1], PMIX_LOCAL_TOPO, "none", PMIX_STRING), "PMIx_Info_load");
    must(PMIx_server_register_nspace(args_self.nspace, 2, infos, 2, NULL, NULL),
         "PMIx_server_register_nspace");
    must(PMIx_server_register_client(&args_self, geteuid(), getegid(), NULL, NULL, NULL),
         "PMIx_server_register_client");
}

static void enter(void)
{
    PMIx_Load_procid(&args_self, ARGS_NSPACE, 0);
    if (state == STATE_CLIENT) {
        must(PMIx_Init(&args_self, NULL, 0), "PMIx_Init");
    } else if (state == STATE_SINGLETON) {
        const pmix_status_t rc = PMIx_Init(&args_self, NULL, 0);

        must(rc == PMIX_ERR_UNREACH ? PMIX_SUCCESS : rc, "PMIx_Init without a server");
    } else if (state == STATE_SERVER) {
        enter_server();
    }
}

/* After this nobody may call back.  The call under test may have begun or ended something. */
static void leave(void)
{
    for (int i = 0; i < LEAVES_MAX && PMIx_Initialized(); i++) {
        (void)PMIx_server_finalize();
        (void)PMIx_Finalize(NULL, 0);
        (void)PMIx_tool_finalize();
    }
}

/* ---- one case -------------------------------------------------------------------------------- */

static struct arg *count_of(struct arg *args, const struct function *function, int i)
{
    return function->parameters[i].counted ? &args[i + 1] : NULL;
}

static void make_all_null(struct arg *args, const struct function *function, bool huge)
{
    for (int i = 0; i < function->parameter_count; i++) {
        args[i] = (struct arg){ .number = 0 };
        if (function->parameters[i].kind == KIND_COUNT) {
            args[i].number = huge ? SIZE_MAX : 0;
        }
    }
}

static void make_args(struct arg *args, const struct test *test)
{
    const struct function *const function = test->function;
    const int at = test->parameter;

    for (int i = 0; i < function->parameter_count; i++) {
        if (function->parameters[i].kind != KIND_COUNT) {
            args_good(&function->parameters[i], &args[i], count_of(args, function, i));
        }
    }
    if (at == ALL_NULL || at == ALL_NULL_HUGE) {
        make_all_null(args, function, at == ALL_NULL_HUGE);
    } else if (test->all_keys) {
        const char *name;
        args[at].pointer = args_info_make(known_keys[report->key], test->which, &name);
    } else if (at >= 0) {
        test->variant->make(&args[at], count_of(args, function, at), test->variant->detail);
    }
}

static void limit_memory(void)
{
#if !SANITIZED /* they map terabytes */
    const struct rlimit limit = { ADDRESS_SPACE_MAX, ADDRESS_SPACE_MAX };
    (void)setrlimit(RLIMIT_AS, &limit);
#endif
    const struct rlimit no_core = { 0, 0 };
    (void)setrlimit(RLIMIT_CORE, &no_core);
}

/* A required directive is one for calls; elsewhere it is an element like any other. */
static bool is_wrong(const struct test *test)
{
    return test->parameter >= 0 && !test->all_keys && test->variant->wrong && !is_excepted(test) &&
           !(test->function->stateless && strcmp(test->variant->name, "required and unknown") == 0);
}

static bool is_success(const struct function *function)
{
    return function->result == RETURNS_STATUS &&
           (report->status >= 0 || report->status == PMIX_OPERATION_SUCCEEDED);
}

/* A callback that answers the call, and is not called at other times. */
static bool has_answer(const struct test *test, const struct arg *args)
{
    for (int i = 0; i < test->function->parameter_count; i++) {
        if (test->function->parameters[i].kind == KIND_CALLBACK && args[i].function != NULL &&
            strcmp(test->function->parameters[i].type, "pmix_notification_fn_t") != 0) {
            return true;
        }
    }
    return false;
}

static void case_call(const struct test *test)
{
    struct arg args[ARGS_PARAMETERS_MAX] = { { .number = 0 } };

    make_args(args, test);
    report->status = test->function->call(args);
    if (report->status >= 0 || test->function->result != RETURNS_STATUS) {
        report->accepted++;
    }
    if (report->status == PMIX_SUCCESS && test->function->result == RETURNS_STATUS) {
        report->promised += has_answer(test, args);
    }
}

/* Whether the call would do what it says to the job that it is made in. */
static bool acts_on_us(const struct test *test, const char *key)
{
    static const char *const acting[] = { PMIX_JOB_CTRL_KILL, PMIX_JOB_CTRL_TERMINATE,
                                          PMIX_JOB_CTRL_SIGNAL, PMIX_JOB_CTRL_PAUSE };
    bool acts = false;

    for (size_t i = 0; i < COUNT(acting); i++) {
        acts = acts || strcmp(key, acting[i]) == 0;
    }
    return acts && state == STATE_CLIENT &&
           strncmp(test->function->name, "PMIx_Job_control", strlen("PMIx_Job_control")) == 0;
}

/* Whether the call would wait for somebody who does something else. */
static bool waits_for_others(const struct test *test, const char *key)
{
    return (state == STATE_CLIENT && strcmp(key, PMIX_EMBED_BARRIER) == 0) ||
           (strcmp(test->function->name, "PMIx_tool_set_server") == 0 &&
            strcmp(key, PMIX_WAIT_FOR_CONNECTION) == 0);
}

/* A case that dies once in a thousand runs leaves the calls that were open in its thread. */
static void calls_print(int signal)
{
    void *calls[64];

    backtrace_symbols_fd(calls, backtrace(calls, (int)COUNT(calls)), STDERR_FILENO);
    raise(signal); /* once more, without this handler */
}

static void calls_print_at_crash(void)
{
    static char stack[64 * 1024]; /* the crash may be that of a full stack */
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
    const struct sigaction action = { .sa_handler = calls_print,
                                      .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK) };
    void *first[1];

    (void)backtrace(first, 1); /* the first one loads a library */
    if (!SANITIZED && (sigaltstack(&other, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0 ||
                       sigaction(SIGBUS, &action, NULL) != 0)) {
        args_quit("sigaction");
    }
}

static void case_run(const struct test *test)
{
    calls_print_at_crash();
    alarm(CASE_SECONDS);
    limit_memory();
    enter();
    if (test->all_keys) {
        for (; report->key < COUNT(known_keys); report->key++) {
            if (acts_on_us(test, known_keys[report->key]) ||
                waits_for_others(test, known_keys[report->key])) {
                continue;
            }
            if (!PMIx_Initialized()) {
                enter(); /* the last call left */
            }
            case_call(test);
        }
    } else {
        case_call(test);
    }
    report->returned = true;
    leave();
    _exit(0);
}

static void case_print(const struct test *test)
{
    const char *kind = "";

    fprintf(stderr, "%s: %s, ", state_names[state], test->function->name);
    if (test->parameter == ALL_GOOD) {
        fprintf(stderr, "all good: ");
    } else if (test->parameter < 0) {
        fprintf(stderr, "all NULL%s: ", test->parameter == ALL_NULL ? "" : ", counts SIZE_MAX");
    } else if (test->all_keys) {
        (void)args_info_make("", test->which, &kind);
        fprintf(stderr, "argument %d %s = %s: ", test->parameter,
                report->returned ? "every key" : known_keys[report->key], kind);
    } else {
        fprintf(stderr, "argument %d %s: ", test->parameter, test->variant->name);
    }
}

/* A call of what needs the library says that it is not there, whatever else is wrong with it; what
 * does nothing anywhere says that. */
static bool says_init(const struct test *test)
{
    return test->function->result != RETURNS_STATUS || is_for_anytime(test->function) ||
           report->status == PMIX_ERR_INIT || report->status == PMIX_ERR_NOT_SUPPORTED;
}

/* Return: what is wrong with the case, NULL: nothing. */
static const char *case_judge(const struct test *test, int wait_status)
{
    static char text[128];

    if (WIFSIGNALED(wait_status)) {
        snprintf(text, sizeof(text), "%s %s", report->returned ? "afterwards" : "the call",
                 WTERMSIG(wait_status) == SIGALRM ? "does not return"
                                                  : strsignal(WTERMSIG(wait_status)));
        return text;
    }
    if (WEXITSTATUS(wait_status) != 0) {
        snprintf(text, sizeof(text), "the process exits with %d", WEXITSTATUS(wait_status));
        return text;
    }
    if (report->callbacks > report->accepted ||
        (report->accepted == 0 && report->handler_calls != 0)) {
        snprintf(text, sizeof(text), "%u callbacks after %u calls that were accepted, last %lld",
                 report->callbacks + report->handler_calls, report->accepted, report->status);
        return text;
    }
    if (report->callbacks < report->promised) {
        snprintf(text, sizeof(text), "%u callbacks after %u calls that gave PMIX_SUCCESS",
                 report->callbacks, report->promised);
        return text;
    }
    if (state == STATE_BEFORE && !says_init(test)) {
        snprintf(text, sizeof(text), "says %lld before PMIx_Init", report->status);
        return text;
    }
    if (!is_success(test->function)) {
        return NULL;
    }
    if (state == STATE_BEFORE && !is_for_anytime(test->function)) {
        return "succeeds before PMIx_Init";
    }
    if (is_wrong(test)) {
        return "is taken";
    }
    return NULL;
}

static bool case_report(const struct test *test, int wait_status)
{
    const char *const wrong = case_judge(test, wait_status);

    if (wrong != NULL) {
        case_print(test);
        fprintf(stderr, "%s\n", wrong);
    }
    return wrong == NULL;
}

/* Return: whether the case is as it should be. */
static bool case_do(const struct test *test)
{
    int wait_status = 0;

    memset(report, 0, sizeof(*report));
    fflush(NULL);
    const pid_t pid = fork();

    if (pid == 0) {
        case_run(test);
    }
    if (pid < 0 || waitpid(pid, &wait_status, 0) != pid) {
        args_quit("fork");
    }
    return case_report(test, wait_status);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Run this program below `shmix run` with RANKS ranks, or with one for case @alone.
 * Return: the exit code of the job. */
static int job_run(long alone)
{
    const char *const command = getenv("SHMIX_COMMAND");
    char number[32];
    int wait_status = 0;

    snprintf(number, sizeof(number), "%ld", alone);
    fflush(NULL);
    const pid_t pid = fork();

    if (pid == 0) {
        setenv("ARGS_ALONE", number, 1);
        execl(command, command, "run", "-n", alone >= 0 ? "1" : "2", self_path, "client",
              only_function, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &wait_status, 0) != pid) {
        args_quit("fork");
    }
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/* In a job of its own.  PMIx_Abort may give the job any exit code that tells of no crash. */
static bool case_alone(const struct test *test, long number)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGILL, SIGFPE };

    report = &progress->alone;
    memset(report, 0, sizeof(*report));
    const int code = job_run(number);

    for (size_t i = 0; i < COUNT(crashes); i++) {
        if (code == 128 + crashes[i]) {
            return case_report(test, crashes[i]);
        }
    }
    return case_report(test, 0);
}

/* ---- all cases ------------------------------------------------------------------------------- */

enum mode {
    MODE_FORK,  /* each case in a child */
    MODE_ALONE, /* this process is one case */
    MODE_JOB,   /* each case in a job */
};

/* The cases have numbers, counted up by the walk; a walk does those that are its own. */
struct walk {
    enum mode mode;
    long next;        /* number */
    long first, last; /* to do */
    int rank;         /* -1: all of them; else every other one */
    bool own_jobs;    /* do those that have a job of their own, and only those */
    long done, failed;
};

/* Each of its cases has a job of one rank: the call ends its job, or waits for all of it. */
static bool has_own_job(const struct function *function)
{
    return state == STATE_CLIENT &&
           (strcmp(function->name, "PMIx_Abort") == 0 || strcmp(function->name, "PMIx_Fence") == 0);
}

static bool walk_does(const struct walk *walk, long number, const struct function *function)
{
    if (number < walk->first || number > walk->last) {
        return false;
    }
    return walk->mode == MODE_ALONE || (has_own_job(function) == walk->own_jobs &&
                                        (walk->rank < 0 || number % RANKS == walk->rank));
}

static void walk_case(struct walk *walk, const struct test *test)
{
    const long number = walk->next++;

    if (!walk_does(walk, number, test->function)) {
        return;
    }
    if (walk->mode == MODE_ALONE) {
        case_run(test);
    }
    if (walk->rank >= 0) {
        progress->begun[walk->rank] = number;
    }
    if (!(walk->mode == MODE_JOB ? case_alone(test, number) : case_do(test))) {
        walk->failed++;
        if (progress != NULL) {
            __atomic_add_fetch(&progress->failed, 1, __ATOMIC_RELAXED);
        }
    }
    walk->done++;
    if (walk->rank >= 0) {
        progress->ended[walk->rank] = number;
        if (!report->returned) {
            exit(1); /* to the server this rank is dead: the next job goes on */
        }
    }
    if (walk->failed > FAILURES_MAX) {
        fprintf(stderr, "args_test: too many failures\n");
        exit(1);
    }
}

/* Directives of a meaning of their own, with values that do not suit them. */
static void walk_keys(struct walk *walk, const struct function *function, int parameter)
{
    struct test test = { .function = function, .parameter = parameter, .all_keys = true };
    const char *name;

    for (; args_info_make("", test.which, &name) != NULL; test.which++) {
        walk_case(walk, &test);
    }
}

static bool takes_keys(const struct function *function, int parameter)
{
    const struct parameter *const it = &function->parameters[parameter];

    /* Only a client gets the hardware's description for nothing. */
    if (state != STATE_CLIENT && strstr(function->name, "distances") != NULL) {
        return false;
    }
    return it->counted && strcmp(it->type, "pmix_info_t") == 0 &&
           (state != STATE_BEFORE || is_for_anytime(function));
}

/* What is not supported says so in every state, also in one that costs nothing to enter. */
static bool is_supported(const struct function *function)
{
    const struct test test = { .function = function, .parameter = ALL_GOOD };
    const enum state here = state;

    if (function->result != RETURNS_STATUS || is_for_anytime(function)) {
        return true;
    }
    state = STATE_BEFORE;
    (void)case_do(&test);
    state = here;
    return report->status != PMIX_ERR_NOT_SUPPORTED;
}

static void supported_find(bool *table)
{
    supported = table;
    for (size_t i = 0; i < COUNT(functions); i++) {
        supported[i] = is_supported(&functions[i]);
    }
}

static void walk_function(struct walk *walk, const struct function *function)
{
    struct test test = { .function = function, .parameter = ALL_GOOD };
    const bool deep = supported[function - functions];

    walk_case(walk, &test);
    test.parameter = ALL_NULL_HUGE;
    walk_case(walk, &test);
    if (function->stateless && state != STATE_BEFORE) {
        return;
    }
    test.parameter = ALL_NULL;
    walk_case(walk, &test);
    for (int i = 0; i < function->parameter_count; i++) {
        const size_t count = args_variants(&function->parameters[i], &test.variant);

        test.parameter = i;
        for (size_t v = 0; v < count; v++, test.variant++) {
            if ((deep || test.variant->wrong) && !is_left_out(&test)) {
                walk_case(walk, &test);
            }
        }
        if (deep && takes_keys(function, i)) {
            walk_keys(walk, function, i);
        }
    }
}

static void walk_all(struct walk *walk)
{
    for (size_t i = 0; i < COUNT(functions); i++) {
        if (only_function == NULL || strcmp(only_function, functions[i].name) == 0) {
            walk_function(walk, &functions[i]);
        }
    }
}

/* ---- the four states ------------------------------------------------------------------------- */

static void *shared(int fd, size_t size)
{
    void *const at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

    if (at == MAP_FAILED) {
        args_quit("mmap");
    }
    return at;
}

/* Ranks inherit the file under this number. */
#define PROGRESS_FD 150

static void progress_open(void)
{
    const int fd = memfd_create("args-progress", 0);

    if (fd < 0 || ftruncate(fd, sizeof(*progress)) != 0 || dup2(fd, PROGRESS_FD) < 0) {
        args_quit("progress file");
    }
    close(fd);
    progress = shared(PROGRESS_FD, sizeof(*progress));
    for (int rank = 0; rank < RANKS; rank++) {
        progress->begun[rank] = progress->ended[rank] = -1;
    }
    supported_find(progress->supported);
}

/* One of the processes that `shmix run` starts. */
static int rank_main(int rank)
{
    const long alone = atol(getenv("ARGS_ALONE"));

    progress = shared(PROGRESS_FD, sizeof(*progress));
    supported = progress->supported;
    if (alone >= 0) {
        struct walk walk = { .mode = MODE_ALONE, .first = alone, .last = alone, .rank = -1 };
        report = &progress->alone;
        walk_all(&walk);
        return 96; /* there is no such case */
    }
    /* Go on where an earlier job was ended. */
    struct walk walk = { .first = progress->ended[rank] + 1, .last = LONG_MAX, .rank = rank };
    walk_all(&walk);
    progress->finished[rank] = true;
    return 0;
}

/* A job ended before its time: try alone what its ranks were doing. */
static void suspects(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        const long number = progress->begun[rank];

        if (number > progress->ended[rank]) {
            struct walk walk = { .mode = MODE_JOB, .first = number, .last = number, .rank = -1 };
            walk_all(&walk);
            progress->ended[rank] = number;
        }
    }
}

static int client_main(void)
{
    struct walk alone = { .mode = MODE_JOB, .last = LONG_MAX, .rank = -1, .own_jobs = true };
    long before = -3;

    if (getenv("SHMIX_COMMAND") == NULL) {
        fprintf(stderr, "args_test: SHMIX_COMMAND must name the built shmix\n");
        return 2;
    }
    progress_open();
    while (!(progress->finished[0] && progress->finished[1])) {
        if (progress->ended[0] + progress->ended[1] == before || progress->failed > FAILURES_MAX) {
            fprintf(stderr, "args_test: the job gets nowhere\n");
            return 1;
        }
        before = progress->ended[0] + progress->ended[1];
        (void)job_run(-1);
        suspects();
    }
    walk_all(&alone);
    printf("client: %ld cases of rank 0, %ld alone, %ld failures\n", progress->ended[0] / RANKS + 1,
           alone.done, progress->failed);
    return progress->failed != 0;
}

/* A process that inherited another server's address would be a client of that. */
static void environment_clear(void)
{
    static const char *const names[] = { "PMIX_NAMESPACE", "PMIX_RANK", "SHMIX_SERVER_FD",
                                         "SHMIX_SERVER_URI" };

    for (size_t i = 0; i < COUNT(names); i++) {
        unsetenv(names[i]);
    }
}

int main(int argc, char **argv)
{
    static bool table[COUNT(functions)];
    struct walk walk = { .last = LONG_MAX, .rank = -1 };
    int found = STATES;

    for (int i = 0; i < STATES && argc > 1; i++) {
        found = strcmp(argv[1], state_names[i]) == 0 ? i : found;
    }
    if (found == STATES) {
        fprintf(stderr, "usage: args_test before|singleton|client|server [FUNCTION]\n");
        return 2;
    }
    state = (enum state)found;
    only_function = argc > 2 ? argv[2] : NULL;
    if (readlink("/proc/self/exe", self_path, sizeof(self_path) - 1) < 0) {
        args_quit("/proc/self/exe");
    }
    report = shared(-1, sizeof(*report));
    if (state == STATE_CLIENT && getenv("ARGS_ALONE") != NULL) {
        return rank_main(atoi(getenv("PMIX_RANK")));
    }
    environment_clear();
    if (state == STATE_CLIENT) {
        return client_main();
    }
    supported_find(table);
    walk_all(&walk);
    printf("%s: %ld cases, %ld failures\n", state_names[state], walk.done, walk.failed);
    return walk.failed != 0 || walk.done == 0;
}
