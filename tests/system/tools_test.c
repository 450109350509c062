/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tools_test.c - tools and the servers that they find.  The host is this process; tools are others,
 * which are this program again.  All files lie in a directory of the test's own.
 * TQ7 TQ11 TQ12 TQ13 TQ14 TQ15 TQ16 TQ17 TQ39 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "job.h"

#define INFOS_MAX 8

static char dir[256], host[256];

/* ---- infos ----------------------------------------------------------------------------------- */

struct infos {
    pmix_info_t all[INFOS_MAX];
    size_t count;
};

static void say(struct infos *infos, const char *key, const void *value, pmix_data_type_t type)
{
    CHECK(infos->count < INFOS_MAX);
    CHECK_STATUS(PMIx_Info_load(&infos->all[infos->count++], key, value, type), PMIX_SUCCESS);
}

static void say_true(struct infos *infos, const char *key)
{
    const bool yes = true;

    say(infos, key, &yes, PMIX_BOOL);
}

static void infos_end(struct infos *infos)
{
    for (size_t i = 0; i < infos->count; i++) {
        PMIx_Info_destruct(&infos->all[i]);
    }
    infos->count = 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *path_of(const char *format, ...)
{
    static char path[1024];
    va_list args;
    int used = snprintf(path, sizeof(path), "%s/", dir);

    va_start(args, format);
    vsnprintf(path + used, sizeof(path) - (size_t)used, format, args);
    va_end(args);
    return path;
}

/* Return: its mode, 0 when there is no such file. */
static mode_t mode_of(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()
               ? st.st_mode & 07777
               : 0;
}

static int file_count(void)
{
    DIR *const all = opendir(dir);
    const struct dirent *entry;
    int count = 0;

    CHECK(all != NULL);
    while ((entry = readdir(all)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    closedir(all);
    return count;
}

/* ---- servers --------------------------------------------------------------------------------- */

static pmix_server_module_t module;

static pmix_status_t server_start(struct infos *infos, const char *nspace)
{
    say(infos, PMIX_SERVER_NSPACE, nspace, PMIX_STRING);
    const pmix_status_t rc = PMIx_server_init(&module, infos->all, infos->count);

    infos_end(infos);
    return rc;
}

/* Another server, in a process that stays until it is killed.  Return: its process; it has started,
 * or could not (*ret_status). */
static pid_t server_elsewhere(struct infos *infos, const char *nspace, pmix_status_t *ret_status)
{
    int pipe_fds[2];

    CHECK(pipe(pipe_fds) == 0);
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const pmix_status_t rc = server_start(infos, nspace);

        CHECK(write(pipe_fds[1], &rc, sizeof(rc)) == sizeof(rc));
        for (;;) {
            pause();
        }
    }
    infos_end(infos);
    CHECK(read(pipe_fds[0], ret_status, sizeof(*ret_status)) == sizeof(*ret_status));
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    return pid;
}

static void server_kill(pid_t pid)
{
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
}

/* ---- the host's answer
 * ------------------------------------------------------------------------ */

enum answer { AS_ASKED, NAMED, UNNAMED, REFUSED, NEVER, TWICE, LATE };

/* Between the host and this process. */
static struct shared {
    enum answer answer;
    unsigned asked;
    uint32_t uid, gid;
    pmix_proc_t proc; /* as the tool wants to be called */
    bool has_version, has_credential;
    sem_t go, gone;
} * shared;

struct call {
    pmix_tool_connection_cbfunc_t cbfunc;
    void *cbdata;
    pmix_proc_t proc;
};

static void *answer_late(void *arg)
{
    struct call *const call = arg;

    job_sem_wait(&shared->go);
    call->cbfunc(PMIX_SUCCESS, &call->proc, call->cbdata);
    free(call);
    sem_post(&shared->gone);
    return NULL;
}

static void answer_later(pmix_tool_connection_cbfunc_t cbfunc, void *cbdata,
                         const pmix_proc_t *proc)
{
    struct call *const call = malloc(sizeof(*call));
    pthread_t thread;

    CHECK(call != NULL);
    *call = (struct call){ .cbfunc = cbfunc, .cbdata = cbdata, .proc = *proc };
    CHECK(pthread_create(&thread, NULL, answer_late, call) == 0);
    pthread_detach(thread);
}

static void note(const pmix_info_t *info, size_t ninfo)
{
    shared->asked++;
    shared->has_version = shared->has_credential = false;
    shared->proc = (pmix_proc_t){ .rank = PMIX_RANK_UNDEF };
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_USERID)) {
            shared->uid = info[i].value.data.uint32;
        } else if (PMIx_Check_key(info[i].key, PMIX_GRPID)) {
            shared->gid = info[i].value.data.uint32;
        } else if (PMIx_Check_key(info[i].key, PMIX_NSPACE)) {
            PMIx_Load_nspace(shared->proc.nspace, info[i].value.data.string);
        } else if (PMIx_Check_key(info[i].key, PMIX_RANK)) {
            shared->proc.rank = info[i].value.data.rank;
        }
        shared->has_version |= PMIx_Check_key(info[i].key, PMIX_VERSION_INFO);
        shared->has_credential |= PMIx_Check_key(info[i].key, PMIX_CREDENTIAL);
    }
}

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    pmix_proc_t named;

    note(info, ninfo);
    PMIx_Load_procid(&named, "the.tools", 17);
    switch (shared->answer) {
    case AS_ASKED:
        cbfunc(PMIX_SUCCESS, &shared->proc, cbdata);
        break;
    case NAMED:
        cbfunc(PMIX_SUCCESS, &named, cbdata);
        break;
    case UNNAMED:
        cbfunc(PMIX_SUCCESS, NULL, cbdata);
        break;
    case REFUSED:
        cbfunc(PMIX_ERR_NO_PERMISSIONS, NULL, cbdata);
        break;
    case TWICE:
        cbfunc(PMIX_SUCCESS, &shared->proc, cbdata);
        cbfunc(PMIX_ERR_NO_PERMISSIONS, &shared->proc, cbdata);
        break;
    case LATE:
        answer_later(cbfunc, cbdata, &shared->proc);
        break;
    case NEVER:
        break;
    }
}

static void answers(enum answer answer)
{
    shared->answer = answer;
    shared->asked = 0;
    module.tool_connected = on_tool;
}

/* ---- contact files --------------------------------------------------------------------------- */

static void without_support(void)
{
    struct infos infos = { .count = 0 };

    CHECK_STATUS(server_start(&infos, "silent"), PMIX_SUCCESS);
    CHECK(file_count() == 0);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
}

static void names(void)
{
    struct infos infos = { .count = 0 };
    pmix_proc_t proc = { .nspace = "some.job" };
    char launcher[1024], **env = calloc(3, sizeof(*env));

    snprintf(launcher, sizeof(launcher), "%s", path_of("launcher"));
    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    say(&infos, PMIX_LAUNCHER_RENDEZVOUS_FILE, launcher, PMIX_STRING);
    CHECK_STATUS(server_start(&infos, "a.server"), PMIX_SUCCESS);
    CHECK(mode_of(path_of("pmix.%s.tool.a.server", host)) == 0600);
    CHECK(mode_of(path_of("pmix.%s.tool.%d", host, (int)getpid())) == 0600);
    CHECK(mode_of(path_of("pmix.%s.tool", host)) == 0600);
    CHECK(mode_of(launcher) == 0600);
    CHECK(file_count() == 4);
    env[0] = strdup("PMIX_LAUNCHER_RNDZ_FILE=x");
    env[1] = strdup("PMIX_LAUNCHER_RNDZ_URI=y");
    CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    for (char **at = env; *at != NULL; at++) {
        CHECK(strncmp(*at, "PMIX_LAUNCHER_", 14) != 0);
        free(*at);
    }
    free(env);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(file_count() == 0);
}

/* The first has the short name; of two with one name the second has none. */
static void several(void)
{
    struct infos infos = { .count = 0 };
    pmix_status_t rc;
    struct stat first, second;

    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    const pid_t pid = server_elsewhere(&infos, "one.name", &rc);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(file_count() == 3);
    CHECK(stat(path_of("pmix.%s.tool.one.name", host), &first) == 0);
    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    CHECK_STATUS(server_start(&infos, "one.name"), PMIX_SUCCESS);
    CHECK(file_count() == 4);
    CHECK(stat(path_of("pmix.%s.tool.one.name", host), &second) == 0);
    CHECK(first.st_ino == second.st_ino);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(file_count() == 3);
    server_kill(pid);
    CHECK(file_count() == 3);
    say_true(&infos, PMIX_SERVER_SESSION_SUPPORT);
    CHECK_STATUS(server_start(&infos, "next"), PMIX_SUCCESS);
    CHECK(file_count() == 3);
    CHECK(mode_of(path_of("pmix.%s.tool.next", host)) == 0600);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(file_count() == 0);
}

static void system_infos(struct infos *infos)
{
    say_true(infos, PMIX_SERVER_SYSTEM_SUPPORT);
    say(infos, PMIX_SYSTEM_TMPDIR, dir, PMIX_STRING);
}

static void system_server(void)
{
    struct infos infos = { .count = 0 };
    pmix_status_t rc;

    system_infos(&infos);
    const pid_t pid = server_elsewhere(&infos, "system.one", &rc);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(mode_of(path_of("pmix.sys.%s", host)) == 0644);
    system_infos(&infos);
    CHECK_STATUS(server_start(&infos, "system.two"), PMIX_ERR_EXISTS);
    CHECK(file_count() == 4);
    server_kill(pid);
    system_infos(&infos);
    CHECK_STATUS(server_start(&infos, "system.three"), PMIX_SUCCESS);
    CHECK(file_count() == 4);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(file_count() == 0);
}

/* What is no contact file is left alone, and the server goes on without the name, or says so. */
static void in_the_way(void)
{
    struct infos infos = { .count = 0 };

    CHECK(symlink("/etc/passwd", path_of("pmix.%s.tool", host)) == 0);
    CHECK(mkfifo(path_of("pmix.%s.tool.a.server", host), 0600) == 0);
    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    CHECK_STATUS(server_start(&infos, "a.server"), PMIX_SUCCESS);
    CHECK(file_count() == 3);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(file_count() == 2);
    CHECK(unlink(path_of("pmix.%s.tool", host)) == 0);
    CHECK(unlink(path_of("pmix.%s.tool.a.server", host)) == 0);
    CHECK(mkdir(path_of("pmix.sys.%s", host), 0700) == 0);
    system_infos(&infos);
    CHECK_STATUS(server_start(&infos, "system.one"), PMIX_ERR_NO_PERMISSIONS);
    CHECK(rmdir(path_of("pmix.sys.%s", host)) == 0);
    CHECK(file_count() == 0);
}

/* A folder of somebody else's, under the name that it was given. */
static void remains_remove(void)
{
    DIR *const all = opendir(dir);
    const struct dirent *entry;
    char inside[1024];

    CHECK(all != NULL);
    while ((entry = readdir(all)) != NULL) {
        if (strncmp(entry->d_name, "pmix.new.", 9) == 0) {
            snprintf(inside, sizeof(inside), "%s", path_of("%s/inside", entry->d_name));
            CHECK(rmdir(inside) == 0 && rmdir(path_of("%s", entry->d_name)) == 0);
        }
    }
    closedir(all);
}

static void in_the_way_of(uid_t uid, const char *path, size_t kind)
{
    const char *const inside = path_of("pmix.sys.%s/inside", host);

    switch (kind) {
    case 0:
        CHECK(close(open(path, O_CREAT | O_WRONLY | O_EXCL, 0644)) == 0);
        break;
    case 1:
        CHECK(symlink("/etc/passwd", path) == 0);
        break;
    case 2:
        CHECK(mkfifo(path, 0666) == 0);
        break;
    default:
        CHECK(mkdir(path, 0777) == 0 && (kind == 3 || mkdir(inside, 0777) == 0));
        break;
    }
    CHECK(lchown(path, uid, uid) == 0);
}

/* Whatever other users put at the name of root's system server, it has that name.  A folder in which
 * something is has another one then. */
static void in_roots_way(void)
{
    struct infos infos = { .count = 0 };
    char path[1024];

    if (geteuid() != 0) {
        printf("skipped: only root can give a file to another user\n");
        return;
    }
    snprintf(path, sizeof(path), "%s", path_of("pmix.sys.%s", host));
    for (size_t kind = 0; kind < 5; kind++) {
        in_the_way_of(65534, path, kind);
        system_infos(&infos);
        CHECK_STATUS(server_start(&infos, "system.one"), PMIX_SUCCESS);
        CHECK(mode_of(path) == 0644);
        CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
        CHECK(file_count() == (kind == 4));
    }
    snprintf(path, sizeof(path), "%s", path_of("chosen"));
    in_the_way_of(65534, path, 0); /* a path of the host's own choice is left alone */
    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    say(&infos, PMIX_LAUNCHER_RENDEZVOUS_FILE, path, PMIX_STRING);
    CHECK_STATUS(server_start(&infos, "a.server"), PMIX_ERR_NO_PERMISSIONS);
    CHECK(unlink(path) == 0 && file_count() == 1);
    remains_remove();
    CHECK(file_count() == 0);
}

/* ---- tools ----------------------------------------------------------------------------------- */

/* A server that takes tools.  Return: its process. */
static pid_t server_of_tools(const char *nspace)
{
    struct infos infos = { .count = 0 };
    pmix_status_t rc;

    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    const pid_t pid = server_elsewhere(&infos, nspace, &rc);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    return pid;
}

static pmix_status_t tool_init(struct infos *infos, pmix_proc_t *ret_self)
{
    const pmix_status_t rc = PMIx_tool_init(ret_self, infos->all, infos->count);

    CHECK(rc == PMIX_SUCCESS || !PMIx_Initialized());
    infos_end(infos);
    return rc;
}

static void tool_end(void)
{
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    CHECK(!PMIx_Initialized());
}

static void expect_name(const pmix_proc_t *proc, const char *nspace, pmix_rank_t rank)
{
    CHECK(PMIx_Check_nspace(proc->nspace, nspace) && proc->rank == rank);
}

/* What was left by the servers of a case that were killed. */
static void files_remove(void)
{
    struct infos infos = { .count = 0 };

    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    system_infos(&infos);
    CHECK_STATUS(server_start(&infos, "the.last"), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(file_count() == 0);
}

/* TQ1 TQ2 TQ9 TQ10 TQ27 TQ28 TQ31 TQ33 */
static void identity(void)
{
    struct infos infos = { .count = 0 };
    pmix_proc_t self, *servers;
    const pmix_rank_t rank = 5;
    size_t count;

    answers(AS_ASKED);
    const pid_t pid = server_of_tools("a.server");
    say(&infos, PMIX_TOOL_NSPACE, "my.name", PMIX_STRING);
    say(&infos, PMIX_TOOL_RANK, &rank, PMIX_PROC_RANK);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    expect_name(&self, "my.name", 5);
    expect_name(&shared->proc, "my.name", 5);
    CHECK(shared->uid == geteuid() && shared->gid == getegid());
    CHECK(shared->has_version && shared->has_credential);
    CHECK(PMIx_tool_is_connected());
    CHECK_STATUS(PMIx_tool_init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    CHECK(PMIx_tool_is_connected() && shared->asked == 1);
    CHECK_STATUS(PMIx_tool_get_servers(&servers, &count), PMIX_SUCCESS);
    CHECK(count == 1);
    expect_name(servers, "a.server", 0);
    CHECK_STATUS(PMIx_tool_set_server(servers, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_tool_set_server(&self, NULL, 0), PMIX_ERR_UNREACH);
    CHECK_STATUS(PMIx_tool_attach_to_server(&self, servers, NULL, 0), PMIX_SUCCESS);
    expect_name(&self, "my.name", 5);
    CHECK_STATUS(PMIx_tool_disconnect(&self), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_tool_disconnect(servers), PMIX_SUCCESS);
    CHECK(!PMIx_tool_is_connected());
    say(&infos, PMIX_REGISTER_CLEANUP, path_of("litter"), PMIX_STRING);
    CHECK_STATUS(PMIx_Job_control(NULL, 0, infos.all, 1, NULL, NULL), PMIX_ERR_UNREACH);
    infos_end(&infos);
    CHECK_STATUS(PMIx_tool_attach_to_server(NULL, NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_tool_is_connected());
    free(servers);
    tool_end();
    say(&infos, PMIX_TOOL_NSPACE, "my.name", PMIX_STRING);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    expect_name(&self, "my.name", 0);
    tool_end();
    answers(NAMED);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    expect_name(&self, "the.tools", 17);
    tool_end();
    answers(UNNAMED);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    CHECK(strncmp(self.nspace, "shmix-tool-", 11) == 0 && self.rank == 0);
    tool_end();
    answers(REFUSED);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_NO_PERMISSIONS);
    say(&infos, PMIX_TOOL_RANK, &rank, PMIX_PROC_RANK);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_BAD_PARAM);
    server_kill(pid);
    files_remove();
}

/* TQ8 */
static void host_without_entry(void)
{
    struct infos infos = { .count = 0 };
    pmix_proc_t self;

    module.tool_connected = NULL;
    const pid_t pid = server_of_tools("a.server");
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_NOT_SUPPORTED);
    server_kill(pid);
    files_remove();
}

static void on_setup(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                     pmix_op_cbfunc_t release, void *release_cbdata)
{
    bool found = false;

    CHECK_STATUS(status, PMIX_SUCCESS);
    for (size_t i = 0; i < ninfo; i++) {
        found = found || strcmp(info[i].value.data.envar.envar, "OMPI_MCA_of_the_test") == 0;
    }
    CHECK(found);
    *(bool *)cbdata = true;
    release(PMIX_SUCCESS, release_cbdata);
}

/* A tool without a server prepares a job of its own name. */
static void setup_check(const char *nspace)
{
    bool done = false;
    pmix_info_t info;
    pmix_nspace_t name;

    PMIX_LOAD_NSPACE(name, nspace);
    setenv("OMPI_MCA_of_the_test", "1", 1);
    info = info_flag(PMIX_SETUP_APP_ENVARS);
    CHECK_STATUS(PMIx_server_setup_application(name, &info, 1, on_setup, &done), PMIX_SUCCESS);
    CHECK(done);
    unsetenv("OMPI_MCA_of_the_test");
}

/* TQ3 TQ4 TQ5 TQ6 TQ30 */
static void alone(void)
{
    struct infos infos = { .count = 0 };
    pmix_proc_t self, server;
    char host_part[300];

    answers(AS_ASKED);
    CHECK_STATUS(PMIx_tool_attach_to_server(NULL, NULL, NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_UNREACH);
    say_true(&infos, PMIX_TOOL_CONNECT_OPTIONAL);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    snprintf(host_part, sizeof(host_part), ".%d", (int)getpid());
    CHECK(strstr(self.nspace, host_part) != NULL && self.rank == 0);
    CHECK(!PMIx_tool_is_connected());
    tool_end();
    say_true(&infos, PMIX_TOOL_DO_NOT_CONNECT);
    say(&infos, PMIX_TOOL_NSPACE, "my.name", PMIX_STRING);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    expect_name(&self, "my.name", 0);
    tool_end();
    say_true(&infos, PMIX_TOOL_DO_NOT_CONNECT);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    CHECK(strstr(self.nspace, host_part) != NULL && self.rank == 0); /* a name of its own */
    setup_check(self.nspace);
    CHECK_STATUS(PMIx_tool_attach_to_server(NULL, NULL, NULL, 0), PMIX_ERR_UNREACH);
    const pid_t pid = server_of_tools("a.server");
    CHECK_STATUS(PMIx_tool_attach_to_server(&self, &server, NULL, 0), PMIX_SUCCESS);
    expect_name(&server, "a.server", 0);
    CHECK(strstr(self.nspace, host_part) != NULL && PMIx_tool_is_connected());
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    tool_end();
    server_kill(pid);
    files_remove();
}

/* ---- search ---------------------------------------------------------------------------------- */

static pmix_status_t find(const char *key, const void *value, pmix_data_type_t type,
                          const char *expected)
{
    struct infos infos = { .count = 0 };
    pmix_proc_t self, *servers;
    size_t count;

    if (key != NULL) {
        say(&infos, key, value, type);
    }
    const pmix_status_t rc = tool_init(&infos, &self);
    if (rc == PMIX_SUCCESS) {
        CHECK_STATUS(PMIx_tool_get_servers(&servers, &count), PMIX_SUCCESS);
        expect_name(servers, expected, 0);
        free(servers);
        tool_end();
    }
    return rc;
}

static pmix_status_t find_text(const char *key, const char *text, const char *expected)
{
    return find(key, text, PMIX_STRING, expected);
}

static pmix_status_t find_process(pid_t pid, const char *expected)
{
    return find(PMIX_SERVER_PIDINFO, &pid, PMIX_PID, expected);
}

static void garbage_write(const char *path, const char *text)
{
    FILE *const file = fopen(path, "wx");

    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(chmod(path, 0600) == 0);
}

/* TQ18 TQ19 TQ20 TQ21 TQ22 TQ23 TQ24 TQ25 */
static void search(void)
{
    struct infos infos = { .count = 0 };
    const bool yes = true;
    char uri[512], path[1024];
    pmix_status_t rc;
    pmix_proc_t self;

    answers(AS_ASKED);
    setenv("PMIX_SYSTEM_TMPDIR", dir, 1);
    const pid_t one = server_of_tools("one");
    CHECK_STATUS(find_text(NULL, NULL, "one"), PMIX_SUCCESS);
    CHECK_STATUS(find(PMIX_CONNECT_SYSTEM_FIRST, &yes, PMIX_BOOL, "one"), PMIX_SUCCESS);
    CHECK_STATUS(find(PMIX_CONNECT_TO_SYSTEM, &yes, PMIX_BOOL, NULL), PMIX_ERR_UNREACH);
    const pid_t two = server_of_tools("two");
    CHECK_STATUS(find_text(NULL, NULL, NULL), PMIX_ERR_UNREACH);
    CHECK_STATUS(find_process(two, "two"), PMIX_SUCCESS);
    CHECK_STATUS(find_process(getpid(), NULL), PMIX_ERR_UNREACH);
    CHECK_STATUS(find_text(PMIX_SERVER_NSPACE, "one", "one"), PMIX_SUCCESS);
    CHECK_STATUS(find_text(PMIX_SERVER_NSPACE, "three", NULL), PMIX_ERR_UNREACH);
    CHECK_STATUS(find_text(PMIX_TOOL_ATTACHMENT_FILE, path_of("pmix.%s.tool.two", host), "two"),
                 PMIX_SUCCESS);
    CHECK_STATUS(find_text(PMIX_TOOL_ATTACHMENT_FILE, "/no/such/file", NULL), PMIX_ERR_UNREACH);

    FILE *const file = fopen(path_of("pmix.%s.tool.one", host), "r");
    CHECK(file != NULL && fgets(uri, sizeof(uri), file) != NULL);
    fclose(file);
    uri[strcspn(uri, "\n")] = '\0';
    CHECK_STATUS(find_text(PMIX_SERVER_URI, uri, "one"), PMIX_SUCCESS);
    snprintf(path, sizeof(path), "file:%s", path_of("pmix.%s.tool.one", host));
    CHECK_STATUS(find_text(PMIX_SERVER_URI, path, "one"), PMIX_SUCCESS);
    CHECK_STATUS(find_text(PMIX_SERVER_URI, "a.0;tcp4://127.0.0.1:1", NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(find_text(PMIX_TCP_URI, "a.0;tcp4://127.0.0.1:1", NULL), PMIX_ERR_NOT_SUPPORTED);
    say(&infos, PMIX_SERVER_URI, uri, PMIX_STRING);
    say(&infos, PMIX_TCP_URI, uri, PMIX_STRING);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_BAD_PARAM);

    /* What is named first counts, and nothing else when it fails. */
    say(&infos, PMIX_SERVER_NSPACE, "one", PMIX_STRING);
    say(&infos, PMIX_SERVER_PIDINFO, &two, PMIX_PID);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    expect_name(&self, self.nspace, 0);
    tool_end();
    say(&infos, PMIX_SERVER_NSPACE, "one", PMIX_STRING);
    say(&infos, PMIX_TOOL_ATTACHMENT_FILE, "/no/such/file", PMIX_STRING);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_UNREACH);

    system_infos(&infos);
    const pid_t all = server_elsewhere(&infos, "system.one", &rc);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK_STATUS(find_text(NULL, NULL, "system.one"), PMIX_SUCCESS);
    CHECK_STATUS(find(PMIX_CONNECT_TO_SYSTEM, &yes, PMIX_BOOL, "system.one"), PMIX_SUCCESS);
    server_kill(all);
    server_kill(two);
    CHECK_STATUS(find_text(NULL, NULL, "one"), PMIX_SUCCESS); /* the stale ones are passed over */
    CHECK_STATUS(find_process(two, NULL), PMIX_ERR_UNREACH);
    garbage_write(path_of("garbage"), "prte.0;tcp4://10.0.0.1:1\nv5.0\n");
    CHECK_STATUS(find_text(PMIX_TOOL_ATTACHMENT_FILE, path_of("garbage"), NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    CHECK(unlink(path_of("garbage")) == 0 && mkfifo(path_of("garbage"), 0600) == 0);
    CHECK_STATUS(find_text(PMIX_TOOL_ATTACHMENT_FILE, path_of("garbage"), NULL),
                 PMIX_ERR_NO_PERMISSIONS);
    CHECK(unlink(path_of("garbage")) == 0);
    server_kill(one);
    files_remove();
}

/* The servers of this node that have a role, and the order in which they are tried. */
static void roles(void)
{
    static const struct {
        const char *order, *want; /* NULL: nobody */
        pmix_status_t status;
    } rows[] = {
        { PMIX_CONNECT_TO_SCHEDULER, "sched", PMIX_SUCCESS },
        { PMIX_CONNECT_TO_SYSTEM "," PMIX_CONNECT_TO_SYS_CONTROLLER, "ctrlr", PMIX_SUCCESS },
        { PMIX_CONNECT_TO_SYS_CONTROLLER "," PMIX_CONNECT_TO_SCHEDULER, "ctrlr", PMIX_SUCCESS },
        { PMIX_CONNECT_TO_SYSTEM, NULL, PMIX_ERR_UNREACH },
        { PMIX_CONNECT_TO_SYSTEM ",somebody," PMIX_CONNECT_TO_SCHEDULER, NULL, PMIX_ERR_BAD_PARAM },
        { "", NULL, PMIX_ERR_UNREACH },
    };
    struct infos infos = { .count = 0 };
    const bool yes = true;
    pmix_status_t rc;

    answers(AS_ASKED);
    setenv("PMIX_SYSTEM_TMPDIR", dir, 1);
    say_true(&infos, PMIX_SERVER_SCHEDULER);
    const pid_t scheduler = server_elsewhere(&infos, "sched", &rc);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    say_true(&infos, PMIX_SERVER_SYS_CONTROLLER);
    const pid_t controller = server_elsewhere(&infos, "ctrlr", &rc);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(mode_of(path_of("pmix.sched.%s", host)) == 0644);
    CHECK(mode_of(path_of("pmix.sysctrlr.%s", host)) == 0644);
    say_true(&infos, PMIX_SERVER_SCHEDULER);
    CHECK_STATUS(server_start(&infos, "second"), PMIX_ERR_EXISTS);
    CHECK_STATUS(find(PMIX_CONNECT_TO_SCHEDULER, &yes, PMIX_BOOL, "sched"), PMIX_SUCCESS);
    CHECK_STATUS(find(PMIX_CONNECT_TO_SYS_CONTROLLER, &yes, PMIX_BOOL, "ctrlr"), PMIX_SUCCESS);
    CHECK_STATUS(find(PMIX_CONNECT_TO_SYSTEM, &yes, PMIX_BOOL, NULL), PMIX_ERR_UNREACH);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_STATUS(find_text(PMIX_CONNECTION_ORDER, rows[i].order, rows[i].want), rows[i].status);
    }
    server_kill(scheduler);
    CHECK_STATUS(find(PMIX_CONNECT_TO_SCHEDULER, &yes, PMIX_BOOL, NULL), PMIX_ERR_UNREACH);
    server_kill(controller);
    unsetenv("PMIX_SYSTEM_TMPDIR");
    files_remove();
}

/* TQ26: the server comes up while the tool tries again. */
static void retries(void)
{
    struct infos infos = { .count = 0 };
    const uint32_t many = 60, delay = 1;
    pmix_proc_t self;

    answers(AS_ASKED);
    const pid_t pid = fork();
    if (pid == 0) {
        say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
        CHECK_STATUS(server_start(&infos, "late"), PMIX_SUCCESS);
        for (;;) {
            pause();
        }
    }
    say(&infos, PMIX_CONNECT_MAX_RETRIES, &many, PMIX_UINT32);
    say(&infos, PMIX_CONNECT_RETRY_DELAY, &delay, PMIX_UINT32);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    tool_end();
    server_kill(pid);
    files_remove();
}

/* ---- the list of servers
 * ---------------------------------------------------------------------- */

/* What a process is told when it asks which servers there are; 0: nothing was found. */
static size_t servers_ask(pmix_info_t **ret)
{
    char *keys[] = { (char *)(uintptr_t)PMIX_QUERY_AVAIL_SERVERS, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *info;
    size_t ninfo;
    const pmix_status_t rc = PMIx_Query_info(&query, 1, &info, &ninfo);

    if (rc == PMIX_ERR_NOT_FOUND) {
        return 0;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(ninfo == 1 && strcmp(info->key, PMIX_QUERY_AVAIL_SERVERS) == 0);
    CHECK(info->value.type == PMIX_DATA_ARRAY && info->value.data.darray->type == PMIX_INFO);
    *ret = info;
    return info->value.data.darray->size;
}

/* The server of process @pid in the list, which must be there once. */
static const pmix_data_array_t *server_in(const pmix_info_t *list, pid_t pid)
{
    const pmix_data_array_t *const all = list->value.data.darray, *found = NULL;

    for (size_t i = 0; i < all->size; i++) {
        const pmix_info_t *const its = (const pmix_info_t *)all->array + i;
        const pmix_data_array_t *const parts = its->value.data.darray;
        const pmix_info_t *const part = parts->array;

        CHECK(strcmp(its->key, PMIX_SERVER_INFO_ARRAY) == 0 && parts->type == PMIX_INFO);
        for (size_t k = 0; k < parts->size; k++) {
            if (strcmp(part[k].key, PMIX_SERVER_PIDINFO) == 0 && part[k].value.data.pid == pid) {
                CHECK(found == NULL);
                found = parts;
            }
        }
    }
    CHECK(found != NULL);
    return found;
}

static void expect_server(const pmix_info_t *list, pid_t pid, const char *nspace, bool is_system)
{
    static const char *const keys[] = { PMIX_NSPACE,         PMIX_SERVER_NSPACE,
                                        PMIX_SERVER_RANK,    PMIX_SERVER_URI,
                                        PMIX_SERVER_PIDINFO, PMIX_USERID,
                                        PMIX_GRPID,          PMIX_SERVER_SYSTEM_SUPPORT };
    const pmix_data_array_t *const parts = server_in(list, pid);
    const pmix_info_t *const part = parts->array;

    CHECK(parts->size == sizeof(keys) / sizeof(keys[0]));
    for (size_t i = 0; i < parts->size; i++) {
        CHECK(strcmp(part[i].key, keys[i]) == 0);
    }
    CHECK(strcmp(part[0].value.data.string, nspace) == 0);
    CHECK(strcmp(part[1].value.data.string, nspace) == 0);
    CHECK(part[2].value.data.rank == 0 && part[4].value.data.pid == pid);
    CHECK(strstr(part[3].value.data.string, ";unix:") != NULL);
    CHECK(part[5].value.data.uint32 == geteuid() && part[6].value.data.uint32 == getegid());
    CHECK(part[7].value.type == PMIX_BOOL && part[7].value.data.flag == is_system);
}

/* TQ79: to a tool and to a host; what is listed leads there, and what is no server is not. */
static void listed(void)
{
    struct infos infos = { .count = 0 };
    pmix_info_t *list;
    pmix_proc_t self;
    pmix_status_t rc;

    answers(AS_ASKED);
    setenv("PMIX_SYSTEM_TMPDIR", dir, 1);
    const pid_t one = server_of_tools("one"), two = server_of_tools("two");
    const pid_t dead = server_of_tools("dead");
    system_infos(&infos);
    const pid_t all = server_elsewhere(&infos, "system.one", &rc);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    server_kill(dead);
    garbage_write(path_of("pmix.%s.tool.1", host), "prte.0;tcp4://10.0.0.1:1\nv5.0\n");
    CHECK(mkfifo(path_of("pmix.%s.tool.2", host), 0600) == 0);

    say(&infos, PMIX_SERVER_NSPACE, "one", PMIX_STRING);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    CHECK(servers_ask(&list) == 3);
    expect_server(list, one, "one", false);
    expect_server(list, two, "two", false);
    expect_server(list, all, "system.one", true);
    tool_end();
    const pmix_data_array_t *const way = server_in(list, two);
    CHECK_STATUS(PMIx_tool_init(&self, way->array, way->size), PMIX_SUCCESS);
    CHECK(PMIx_tool_is_connected());
    tool_end();
    PMIX_INFO_FREE(list, 1);
    for (size_t i = 0; i < 3; i++) {
        server_kill((const pid_t[]){ one, two, all }[i]);
    }

    CHECK(unlink(path_of("pmix.%s.tool.1", host)) == 0);
    CHECK(unlink(path_of("pmix.%s.tool.2", host)) == 0);
    say_true(&infos, PMIX_SERVER_TOOL_SUPPORT);
    CHECK_STATUS(server_start(&infos, "myself"), PMIX_SUCCESS);
    CHECK(servers_ask(&list) == 1);
    expect_server(list, getpid(), "myself", false);
    PMIX_INFO_FREE(list, 1);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK_STATUS(server_start(&infos, "silent"), PMIX_SUCCESS);
    CHECK(servers_ask(&list) == 0);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    files_remove();
}

/* ---- hosts that answer late, twice, never
 * ----------------------------------------------------- */

static void hosts(void)
{
    struct infos infos = { .count = 0 };
    const int second = 1;
    pmix_proc_t self;

    answers(TWICE);
    const pid_t pid = server_of_tools("a.server");
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    tool_end();
    answers(NEVER);
    say(&infos, PMIX_TIMEOUT, &second, PMIX_INT);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_TIMEOUT);
    answers(LATE); /* when the tool has gone */
    say(&infos, PMIX_TIMEOUT, &second, PMIX_INT);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_TIMEOUT);
    sem_post(&shared->go);
    CHECK(sem_wait(&shared->gone) == 0);
    answers(LATE);
    sem_post(&shared->go);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    CHECK(sem_wait(&shared->gone) == 0);
    tool_end();
    server_kill(pid);
    files_remove();
}

/* ---- what a tool may do
 * ----------------------------------------------------------------------- */

#define CODE (PMIX_EXTERNAL_ERR_BASE - 31)
#define MANY 100

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK(strncmp(source->nspace, "shmix-tool-", 11) == 0);
    sem_post(&shared->gone);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Another tool, which publishes an event and leaves, or is killed.  Return: its rank. */
static pmix_rank_t tool_elsewhere(bool is_killed)
{
    int status;
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        pmix_proc_t self;

        CHECK_STATUS(PMIx_tool_init(&self, NULL, 0), PMIX_SUCCESS);
        shared->proc = self;
        CHECK_STATUS(PMIx_Notify_event(CODE, &self, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
        if (is_killed) {
            raise(SIGKILL);
        }
        tool_end();
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && (is_killed || status == 0));
    return shared->proc.rank;
}

/* One that hears, puts and gets, until it is told to go.  Return: its process; it is there. */
static pid_t tool_that_receives(void)
{
    const pid_t pid = fork();
    pmix_status_t code = CODE;
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 42 }, *got;
    pmix_proc_t self;

    CHECK(pid >= 0);
    if (pid > 0) {
        CHECK(sem_wait(&shared->gone) == 0);
        return pid;
    }
    CHECK_STATUS(PMIx_tool_init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "key", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&self, "key", NULL, 0, &got), PMIX_SUCCESS);
    CHECK(got->data.uint32 == 42);
    PMIx_Value_free(got, 1);
    sem_post(&shared->gone);
    CHECK(sem_wait(&shared->go) == 0);
    tool_end();
    exit(0);
}

/* TQ34 TQ35 TQ36: each event is heard once, and nobody's place is kept. */
static void as_clients(void)
{
    int status;

    answers(UNNAMED);
    const pid_t pid = server_of_tools("a.server");
    const pid_t receives = tool_that_receives();
    CHECK(tool_elsewhere(false) == 1 && sem_wait(&shared->gone) == 0);
    for (int i = 0; i < MANY; i++) {
        (void)tool_elsewhere(i % 2 == 0);
        CHECK(sem_wait(&shared->gone) == 0);
    }
    while (tool_elsewhere(false) != 1) { /* a killed one may still be on its way out */
        CHECK(sem_wait(&shared->gone) == 0);
    }
    CHECK(sem_wait(&shared->gone) == 0 && sem_trywait(&shared->gone) != 0);
    sem_post(&shared->go);
    CHECK(waitpid(receives, &status, 0) == receives && status == 0);
    server_kill(pid);
    files_remove();
}

/* ---- a tool that is a server, too
 * -------------------------------------------------------------- */

/* A rank of the launcher's job. */
static int rank_run(void)
{
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    expect_name(&self, "my.job", 0);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

static void job_run(void)
{
    char *const argv[] = { (char[]){ "tools_test" }, (char[]){ "rank" }, NULL };
    char **env = NULL;
    pmix_info_t size;
    pmix_proc_t rank;
    const uint32_t one = 1;
    int status;

    PMIx_Load_procid(&rank, "my.job", 0);
    CHECK_STATUS(PMIx_Info_load(&size, PMIX_JOB_SIZE, &one, PMIX_UINT32), PMIX_SUCCESS);
    CHECK(PMIx_server_register_nspace("my.job", 1, &size, 1, NULL, NULL) ==
          PMIX_OPERATION_SUCCEEDED);
    CHECK(PMIx_server_register_client(&rank, geteuid(), getegid(), NULL, NULL, NULL) ==
          PMIX_OPERATION_SUCCEEDED);
    CHECK_STATUS(PMIx_server_setup_fork(&rank, &env), PMIX_SUCCESS);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execve("/proc/self/exe", argv, env);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    PMIx_Argv_free(env);
    PMIx_server_deregister_nspace("my.job", NULL, NULL);
}

/* What a tool is told that looks for the launcher. */
static pmix_status_t tool_of_launcher(void)
{
    int status;
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "tools_test", "tool", NULL);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static int tool_run(void)
{
    struct infos infos = { .count = 0 };
    pmix_proc_t self;

    say(&infos, PMIX_SERVER_NSPACE, "my.launcher", PMIX_STRING);
    const pmix_status_t rc = tool_init(&infos, &self);

    if (rc == PMIX_SUCCESS) {
        tool_end();
    }
    return -rc;
}

static void on_tool_of_launcher(pmix_info_t *info, size_t ninfo,
                                pmix_tool_connection_cbfunc_t cbfunc, void *cbdata)
{
    cbfunc(PMIX_SUCCESS, NULL, cbdata);
}

/* TQ35 TQ37 */
static void launcher(void)
{
    struct infos infos = { .count = 0 };
    pmix_server_module_t own = { .tool_connected = on_tool_of_launcher };
    pmix_proc_t self;
    char file[300];

    answers(AS_ASKED);
    const pid_t pid = server_of_tools("a.server");
    snprintf(file, sizeof(file), "%s/launcher", dir);
    say(&infos, PMIX_LAUNCHER_RENDEZVOUS_FILE, file, PMIX_STRING);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_ERR_BAD_PARAM); /* of which launcher? */
    CHECK_STATUS(PMIx_tool_set_server_module(&own), PMIX_ERR_INIT);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_tool_set_server_module(&own), PMIX_ERR_INIT); /* a tool and nothing else */
    CHECK(PMIx_server_register_nspace("my.job", 1, NULL, 0, NULL, NULL) == PMIX_ERR_INIT);
    tool_end();

    say_true(&infos, PMIX_LAUNCHER);
    say(&infos, PMIX_TOOL_NSPACE, "my.launcher", PMIX_STRING);
    say(&infos, PMIX_LAUNCHER_RENDEZVOUS_FILE, file, PMIX_STRING);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    expect_name(&self, "my.launcher", 0);
    CHECK(PMIx_tool_is_connected());
    CHECK(mode_of(file) == 0600 && mode_of(path_of("pmix.%s.tool.my.launcher", host)) == 0600);
    CHECK(mode_of(path_of("pmix.%s.tool.%d", host, (int)getpid())) == 0600);
    CHECK_STATUS(tool_of_launcher(), PMIX_ERR_NOT_SUPPORTED); /* nobody says that it may come */
    CHECK_STATUS(PMIx_tool_set_server_module(NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_tool_set_server_module(&own), PMIX_SUCCESS);
    CHECK_STATUS(tool_of_launcher(), PMIX_SUCCESS);
    job_run();
    say_true(&infos, PMIX_LAUNCHER); /* again: it is counted, and one is enough */
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    CHECK(mode_of(file) == 0600);
    tool_end();
    CHECK(mode_of(file) == 0 && mode_of(path_of("pmix.%s.tool.my.launcher", host)) == 0);

    say_true(&infos, PMIX_LAUNCHER);
    say_true(&infos, PMIX_TOOL_DO_NOT_CONNECT);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS); /* without a server of its own */
    CHECK(!PMIx_tool_is_connected());
    job_run();
    tool_end();

    CHECK_STATUS(server_start(&infos, "itself"), PMIX_SUCCESS);
    say_true(&infos, PMIX_LAUNCHER);
    CHECK_STATUS(PMIx_tool_init(&self, infos.all, infos.count), PMIX_ERR_EXISTS);
    infos_end(&infos);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(!PMIx_Initialized());
    server_kill(pid);
    files_remove();
}

/* ---- who has started a tool
 * --------------------------------------------------------------------- */

static sem_t ended;

static void on_end(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    bool is_pipe = false;

    for (size_t i = 0; i < ninfo; i++) {
        is_pipe |= PMIx_Check_key(info[i].key, PMIX_EVENT_AFFECTED_PROC) &&
                   PMIx_Check_nspace(info[i].value.data.proc->nspace, PMIX_KEEPALIVE_PIPE);
    }
    CHECK(status == PMIX_EVENT_JOB_END && is_pipe);
    sem_post(&ended);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_any(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK(status != PMIX_EVENT_JOB_END); /* none of a default handler's business */
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

/* The pipe's other end, which the tool's parent holds.  Its number stands in the environment. */
static int keepalive_pipe(int *ret_read)
{
    char number[16];
    int fds[2];

    CHECK(pipe(fds) == 0);
    snprintf(number, sizeof(number), "%d", fds[0]);
    setenv(PMIX_KEEPALIVE_PIPE, number, 1);
    *ret_read = fds[0];
    return fds[1];
}

static void keepalive_of(bool launches)
{
    struct infos infos = { .count = 0 };
    pmix_status_t code = PMIX_EVENT_JOB_END;
    pmix_proc_t self;
    int watched;
    const int held = keepalive_pipe(&watched);

    say_true(&infos, PMIX_TOOL_DO_NOT_CONNECT);
    if (launches) {
        say_true(&infos, PMIX_LAUNCHER);
    }
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    CHECK(getenv(PMIX_KEEPALIVE_PIPE) == NULL && fcntl(watched, F_GETFD) == FD_CLOEXEC);
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_any, NULL, NULL) >= 0);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL) >= 0);
    CHECK(write(held, "x", 1) == 1); /* no end */
    CHECK(sem_trywait(&ended) != 0);
    close(held);
    job_sem_wait(&ended);
    tool_end();
    CHECK(sem_trywait(&ended) != 0 && fcntl(watched, F_GETFD) == -1);
}

/* TQ38 */
static void keepalive(void)
{
    struct infos infos = { .count = 0 };
    pmix_proc_t self;
    int watched;

    CHECK(sem_init(&ended, 0, 0) == 0);
    keepalive_of(false);
    keepalive_of(true);
    const int held = keepalive_pipe(&watched);
    say_true(&infos, PMIX_TOOL_DO_NOT_CONNECT);
    CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS);
    tool_end(); /* before it is closed */
    close(held);
    const char *const bad[] = { "", "x", "-1", "99999", "3x", "99999999999999999999" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv(PMIX_KEEPALIVE_PIPE, bad[i], 1);
        say_true(&infos, PMIX_TOOL_DO_NOT_CONNECT);
        CHECK_STATUS(tool_init(&infos, &self), PMIX_SUCCESS); /* it goes on without */
        CHECK(getenv(PMIX_KEEPALIVE_PIPE) == NULL);
        tool_end();
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    { "without support", without_support },
    { "names", names },
    { "several", several },
    { "system server", system_server },
    { "in the way", in_the_way },
    { "in root's way", in_roots_way },
    { "identity", identity },
    { "host without entry", host_without_entry },
    { "alone", alone },
    { "search", search },
    { "listed", listed },
    { "roles", roles },
    { "retries", retries },
    { "hosts", hosts },
    { "as clients", as_clients },
    { "launcher", launcher },
    { "keepalive", keepalive },
};

static void case_run(void (*run)(void), const char *name)
{
    int status;
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(JOB_SECONDS);
        run();
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("%s %s\n", status == 0 ? "ok" : "FAILED", name);
    CHECK(status == 0);
}

int main(int argc, char **argv)
{
    const char *const tmp = getenv("TMPDIR");

    if (argc > 1) {
        return strcmp(argv[1], "rank") == 0 ? rank_run() : tool_run();
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(JOB_SECONDS);
    snprintf(dir, sizeof(dir), "%s/sxtools-XXXXXX", tmp != NULL ? tmp : "/tmp");
    CHECK(mkdtemp(dir) != NULL && gethostname(host, sizeof(host) - 1) == 0);
    setenv("TMPDIR", dir, 1);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED && sem_init(&shared->go, 1, 0) == 0 &&
          sem_init(&shared->gone, 1, 0) == 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        case_run(cases[i].run, cases[i].name);
    }
    CHECK(rmdir(dir) == 0);
    return 0;
}
