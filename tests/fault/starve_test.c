/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* starve_test.c - no directory, no room, no descriptors: what cannot work says so in one line that
 * names the cause and what to do, and leaves nothing behind. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define NOBODY 65534

/* ---- roles ---------------------------------------------------------------------------------- */

/* Start a server and end it; with an argument, under that limit of open files. */
static int role_try(const char *arg)
{
    static pmix_server_module_t module;
    const unsigned fds = fault_fd_count(FAULT_SELF);

    if (arg[0] != '\0') {
        fault_files_limit((unsigned)atoi(arg));
    }
    const pmix_status_t rc = PMIx_server_init(&module, NULL, 0);

    if (rc == PMIX_SUCCESS) {
        CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    }
    CHECK(fault_files_raise(1000), "the limit cannot be raised again");
    CHECK(fault_fd_count(FAULT_SELF) == fds, "%u descriptors, %u before",
          fault_fd_count(FAULT_SELF), fds);
    atomic_store(&fault_shared->status[0], rc);
    return 0;
}

/* The same in a directory without room: a file system of so many inodes. */
static int role_try_full(const char *arg)
{
    char options[64];

    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        return FAULT_SKIP;
    }
    snprintf(options, sizeof(options), "size=64k,nr_inodes=%s", arg);
    if (mount("fault", getenv("TMPDIR"), "tmpfs", 0, options) != 0) {
        return FAULT_SKIP;
    }
    return role_try("");
}

/* A host and its ranks under a limit; like every host it ends the job with the first failure. */
static int role_tiny_host(const char *arg)
{
    int status;

    fault_fail_quietly();
    fault_files_limit((unsigned)atoi(arg));
    fault_server_start();
    fault_job_start("tiny.job", 2);
    for (int rank = 0; rank < 2; rank++) {
        (void)fault_start("tiny.job", rank, "whole", "3");
    }
    for (int ended = 0; ended < 2;) {
        if (waitpid(-1, &status, WNOHANG) > 0) {
            CHECK(status == 0, "a rank: %#x", (unsigned)status);
            ended++;
        }
        /* Nobody will give any back here, so the ranks need not wait for their timeout. */
        CHECK(fault_log_lines(FAULT_SELF, "cannot accept") == 0, "the ranks cannot get in");
        fault_pause();
    }
    fault_job_end("tiny.job");
    fault_server_stop();
    return 0;
}

/* PMIx_Init with so many descriptors to spare. */
static int role_spare(const char *arg)
{
    const unsigned spare = (unsigned)atoi(arg);
    unsigned fds = fault_fd_count(FAULT_SELF), low = 0;
    int probe;

    /* The lowest free numbers count, whatever is open above. */
    while (low < 200 && (probe = fcntl(STDIN_FILENO, F_DUPFD, 0)) >= 0) {
        low = (unsigned)probe;
        close(probe);
        break;
    }
    fault_files_limit(low + spare);
    const pmix_status_t rc = PMIx_Init(NULL, NULL, 0);

    fault_files_limit(1000);
    if (rc == PMIX_SUCCESS) {
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
    CHECK(fault_fd_count(FAULT_SELF) == fds, "%u descriptors, %u before",
          fault_fd_count(FAULT_SELF), fds);
    CHECK(fault_map_count(FAULT_SELF) == 0, "maps are left");
    atomic_store(&fault_shared->status[0], rc);
    return 0;
}

/* ---- what is expected ----------------------------------------------------------------------- */

/* The role's server could not start: one line names @cause and @advice. */
static void refused_with(pid_t pid, pmix_status_t status, const char *cause, const char *advice)
{
    CHECK_STATUS(atomic_load(&fault_shared->status[0]), status);
    CHECK(fault_log_lines(pid, NULL) == 1, "%u lines", fault_log_lines(pid, NULL));
    CHECK(fault_log_lines(pid, cause) == 1, "the line does not name the cause: %s", cause);
    CHECK(fault_log_lines(pid, advice) == 1, "the line does not say what to do: %s", advice);
}

/* Run `shmix run true` and expect it to fail with one line that has both words. */
static void command_refused(const char *cause, const char *advice, unsigned files)
{
    const char *const command = getenv("SHMIX_COMMAND");
    char text[4096];
    int pipes[2], status;
    size_t size = 0;
    ssize_t got;

    if (command == NULL || access(command, X_OK) != 0) {
        fault_say("no shmix command to try");
        return;
    }
    CHECK(pipe(pipes) == 0, "%s", strerror(errno));
    const pid_t pid = fork();

    if (pid == 0) {
        if (files != 0) {
            fault_files_limit(files);
        }
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execl(command, command, "run", "-n", "1", "true", (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    while ((got = read(pipes[0], text + size, sizeof(text) - 1 - size)) > 0) {
        size += (size_t)got;
    }
    text[size] = '\0';
    close(pipes[0]);
    CHECK(waitpid(pid, &status, 0) == pid, "%s", strerror(errno));
    CHECK(WIFEXITED(status), "shmix run was killed by signal %d", WTERMSIG(status));
    if (files != 0 && WEXITSTATUS(status) == 0) {
        return; /* it has managed */
    }
    CHECK(WEXITSTATUS(status) != 0, "shmix run has succeeded");
    CHECK(strstr(text, cause) != NULL && strstr(text, advice) != NULL,
          "shmix run with %u files says: %s", files, text);
    CHECK(strchr(text, '\n') == text + size - 1, "not one line: %s", text);
}

/* ---- TMPDIR --------------------------------------------------------------------------------- */

static int case_tmpdir_missing(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/no-such-directory", fault_tmpdir_make());
    setenv("TMPDIR", path, 1);
    fault_log_begin();
    const pid_t pid = fault_start(NULL, 0, "try", "");

    fault_wait_ok(pid, "the host");
    refused_with(pid, PMIX_ERR_NOT_FOUND, path, "TMPDIR");
    command_refused(path, "TMPDIR", 0);
    return 0;
}

static int case_tmpdir_unwritable(void)
{
    const char *const tmpdir = fault_tmpdir_make();
    const bool root = geteuid() == 0;

    fault_log_begin();
    CHECK(chmod(tmpdir, 0555) == 0, "%s", strerror(errno));
    const pid_t pid = root ? fault_start_as(NOBODY, NULL, 0, "try", "")
                           : fault_start(NULL, 0, "try", "");

    fault_wait_ok(pid, "the host");
    refused_with(pid, PMIX_ERR_NO_PERMISSIONS, tmpdir, "TMPDIR");
    if (!root) {
        command_refused(tmpdir, "TMPDIR", 0);
    }
    CHECK(chmod(tmpdir, 0700) == 0, "%s", strerror(errno));
    return 0;
}

/* A file where the directory should be. */
static int case_tmpdir_a_file(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/file", fault_tmpdir_make());
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    setenv("TMPDIR", path, 1);
    fault_log_begin();
    const pid_t pid = fault_start(NULL, 0, "try", "");

    fault_wait_ok(pid, "the host");
    refused_with(pid, PMIX_ERR_NOT_FOUND, path, "TMPDIR");
    command_refused(path, "TMPDIR", 0);
    return 0;
}

static int case_tmpdir_full(void)
{
    const char *const tmpdir = fault_tmpdir_make();

    if (geteuid() != 0) {
        return fault_skip("only root can mount a small file system");
    }
    fault_log_begin();
    for (int inodes = 1; inodes <= 2; inodes++) { /* none for the directory; none for the socket */
        char arg[16];

        snprintf(arg, sizeof(arg), "%d", inodes);
        const pid_t pid = fault_start(NULL, 0, "try_full", arg);
        const int status = fault_wait(pid);

        if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP) {
            return fault_skip("this root may not mount");
        }
        CHECK(status == 0, "the host: %#x", (unsigned)status);
        refused_with(pid, PMIX_ERR_OUT_OF_RESOURCE, tmpdir, "free some space");
    }
    return 0;
}

static int case_tmpdir_long(void)
{
    const char *const tmpdir = fault_tmpdir_make();
    char path[320];

    snprintf(path, sizeof(path), "%s", tmpdir);
    while (strlen(path) < 300) {
        const size_t len = strlen(path), more = 300 - len > 60 ? 40 : 300 - len;

        memset(path + len, 'd', more);
        path[len] = '/';
        path[len + more] = '\0';
        CHECK(mkdir(path, 0700) == 0, "%s: %s", path, strerror(errno));
    }
    CHECK(strlen(path) == 300, "%zu", strlen(path));
    setenv("TMPDIR", path, 1);
    setenv("SHMIX_RENDEZVOUS", "directory", 1);
    fault_log_begin();
    fault_server_start();
    CHECK(fault_dir_count(path, "shmix-") == 1, "the server is somewhere else");
    fault_job_whole("long.job", 2, 3);
    fault_server_stop();
    CHECK(fault_dir_count(path, NULL) == 0, "something is left");
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 0, "%u lines", fault_log_lines(FAULT_SELF, NULL));
    return 0;
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static int case_few_files_for_a_server(void)
{
    unsigned refused = 0, served = 0;
    char arg[16];

    (void)fault_tmpdir_make();
    fault_log_begin();
    for (unsigned files = 3; files <= 32; files++) {
        snprintf(arg, sizeof(arg), "%u", files);
        const pid_t pid = fault_start(NULL, 0, "try", arg);
        const int status = fault_wait(pid);

        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "with %u files: %#x", files,
              (unsigned)status);
        const pmix_status_t rc = atomic_load(&fault_shared->status[0]);

        if (rc == PMIX_SUCCESS) {
            served++;
            continue;
        }
        refused++;
        CHECK(fault_log_lines(pid, NULL) == 1, "with %u files: %u lines", files,
              fault_log_lines(pid, NULL));
        CHECK(fault_log_lines(pid, "Too many open files") == 1 &&
                  fault_log_lines(pid, "ulimit -n") == 1,
              "with %u files the line names neither cause nor cure", files);
        CHECK(rc == PMIX_ERR_OUT_OF_RESOURCE, "with %u files: %d", files, rc);
    }
    fault_say("%u limits refused, %u served", refused, served);
    CHECK(refused > 0 && served > 0, "no mixture");
    CHECK(fault_dir_count(getenv("TMPDIR"), NULL) == 0, "something is left");
    return 0;
}

/* 16 descriptors and a job: it works, or one says why it does not. */
static int case_few_files_for_a_job(void)
{
    unsigned refused = 0, works = 0;
    char arg[16];

    (void)fault_tmpdir_make();
    fault_log_begin();
    for (unsigned files = 12; files <= 40; files += 2) {
        snprintf(arg, sizeof(arg), "%u", files);
        const pid_t pid = fault_start(NULL, 0, "tiny_host", arg);
        const int status = fault_wait(pid);

        CHECK(WIFEXITED(status), "with %u files: %#x", files, (unsigned)status);
        works += WEXITSTATUS(status) == 0;
        refused += WEXITSTATUS(status) != 0;
        CHECK(WEXITSTATUS(status) == 0 || fault_log_lines(pid, "ulimit -n") > 0,
              "with %u files it fails and does not say why", files);
        command_refused("open files", "ulimit -n", files);
    }
    fault_say("%u limits refused, %u served", refused, works);
    CHECK(refused > 0 && works > 0, "no mixture");
    return 0;
}

static int case_few_files_for_a_client(void)
{
    unsigned refused = 0, served = 0;
    char nspace[32], arg[16];

    fault_log_begin();
    fault_server_start();
    const unsigned fds = fault_fd_count(FAULT_SELF), maps = fault_map_count(FAULT_SELF);

    for (unsigned spare = 0; spare <= 10; spare++) {
        snprintf(arg, sizeof(arg), "%u", spare);
        snprintf(nspace, sizeof(nspace), "spare.%u", spare);
        fault_job_start(nspace, 1);
        const pid_t pid = fault_start(nspace, 0, "spare", arg);

        fault_wait_ok(pid, nspace);
        const pmix_status_t rc = atomic_load(&fault_shared->status[0]);

        served += rc == PMIX_SUCCESS;
        refused += rc == PMIX_ERR_OUT_OF_RESOURCE;
        CHECK(rc == PMIX_SUCCESS || rc == PMIX_ERR_OUT_OF_RESOURCE, "%u to spare: %d (%s)", spare,
              rc, PMIx_Error_string(rc));
        CHECK(rc == PMIX_SUCCESS || fault_log_lines(pid, "ulimit -n") > 0,
              "%u to spare: it does not say what to do", spare);
        fault_job_end(nspace);
        WAIT_FOR(fault_fd_count(FAULT_SELF) <= fds && fault_map_count(FAULT_SELF) <= maps,
                 "what the server held for a client that failed");
    }
    fault_say("%u refused, %u served", refused, served);
    CHECK(refused > 0 && served > 0, "no mixture");
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "tmpdir_missing", case_tmpdir_missing },
    { "tmpdir_unwritable", case_tmpdir_unwritable },
    { "tmpdir_a_file", case_tmpdir_a_file },
    { "tmpdir_full", case_tmpdir_full },
    { "tmpdir_long", case_tmpdir_long },
    { "few_files_for_a_server", case_few_files_for_a_server },
    { "few_files_for_a_job", case_few_files_for_a_job },
    { "few_files_for_a_client", case_few_files_for_a_client },
};

static const struct fault_role roles[] = {
    { "try", role_try },
    { "try_full", role_try_full },
    { "tiny_host", role_tiny_host },
    { "spare", role_spare },
};

FAULT_MAIN(cases, roles)
