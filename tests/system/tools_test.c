/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tools_test.c - tools and the servers that they find.  The host is this process; tools are others,
 * which are this program again.  All files lie in a directory of the test's own.
 * TQ7 TQ11 TQ12 TQ13 TQ14 TQ15 TQ16 TQ17 TQ39 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
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
};

static void case_run(void (*run)(void), const char *name)
{
    int status;
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        run();
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("%s %s\n", status == 0 ? "ok" : "FAILED", name);
    CHECK(status == 0);
}

int main(void)
{
    const char *const tmp = getenv("TMPDIR");

    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(JOB_SECONDS);
    snprintf(dir, sizeof(dir), "%s/sxtools-XXXXXX", tmp != NULL ? tmp : "/tmp");
    CHECK(mkdtemp(dir) != NULL && gethostname(host, sizeof(host) - 1) == 0);
    setenv("TMPDIR", dir, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        case_run(cases[i].run, cases[i].name);
    }
    CHECK(rmdir(dir) == 0);
    return 0;
}
