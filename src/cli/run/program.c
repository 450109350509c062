/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* program.c - the search of execvp, done once for all ranks of a program and with reasons. */
#include "cli/run/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/env.h"
#include "cli/say.h"

/* Return: 0, or why @path cannot be executed. */
static int check(int wdir_fd, const char *path)
{
    struct stat st;

    if (fstatat(wdir_fd, path, &st, 0) != 0) {
        return errno;
    }
    if (S_ISDIR(st.st_mode)) {
        return EISDIR;
    }
    if (!S_ISREG(st.st_mode)) {
        return EACCES;
    }
    /* As root, access() is content with any execute bit, as is execve. */
    return faccessat(wdir_fd, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static int find_path(const char *name, int wdir_fd, char **ret_path, char *message)
{
    const int why = check(wdir_fd, name);

    if (why == 0) {
        *ret_path = sx_cli_strdup(name);
        return 0;
    }
    if (why == EISDIR) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "'%.300s' is a directory, not a program", name);
        return SX_EXIT_NOT_EXECUTABLE;
    }
    if (why == ENOENT || why == ENOTDIR) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "there is no program '%.300s'", name);
        return SX_EXIT_NOT_FOUND;
    }
    snprintf(message, SX_RUN_MESSAGE_MAX, "'%.300s' is not executable: %s; try 'chmod +x'", name,
             strerror(why));
    return SX_EXIT_NOT_EXECUTABLE;
}

static int search(const char *name, int wdir_fd, const char *path, char **ret_path, char *message)
{
    char *refused = NULL;
    int code = SX_EXIT_NOT_FOUND;

    for (const char *at = path; at != NULL;) {
        const char *colon = strchr(at, ':');
        const int len = colon == NULL ? (int)strlen(at) : (int)(colon - at);
        /* An empty part of PATH is the working directory. */
        char *full = sx_cli_printf("%.*s%s%s", len, at, len == 0 ? "./" : "/", name);
        const int why = check(wdir_fd, full);

        if (why == 0) {
            free(refused);
            *ret_path = full;
            return 0;
        }
        if (why == EACCES && refused == NULL) {
            refused = full;
            full = NULL;
        }
        free(full);
        at = colon == NULL ? NULL : colon + 1;
    }
    if (refused != NULL) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "'%.300s' is not executable; try 'chmod +x'",
                 refused);
        code = SX_EXIT_NOT_EXECUTABLE;
    } else if (check(wdir_fd, name) == 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "there is no program '%.100s' in PATH, but one in the working directory: "
                 "write './%.100s'",
                 name, name);
    } else {
        snprintf(message, SX_RUN_MESSAGE_MAX, "there is no program '%.100s' in PATH (%.300s)", name,
                 path);
    }
    free(refused);
    return code;
}

int sx_run_program_find(const char *name, const char *wdir, const char *path, char **ret_path,
                        char message[SX_RUN_MESSAGE_MAX])
{
    int wdir_fd = AT_FDCWD, code;

    if (wdir != NULL) {
        wdir_fd = open(wdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (wdir_fd < 0) {
            snprintf(message, SX_RUN_MESSAGE_MAX, "--wdir %.300s: %s", wdir, strerror(errno));
            return SX_EXIT_FAILURE;
        }
    }
    if (strchr(name, '/') != NULL) {
        code = find_path(name, wdir_fd, ret_path, message);
    } else {
        code = search(name, wdir_fd, path == NULL ? "/usr/local/bin:/usr/bin:/bin" : path, ret_path,
                      message);
    }
    if (wdir_fd >= 0) {
        close(wdir_fd);
    }
    return code;
}

/* sh PATH ARGS: what execvp does with a script that does not name its interpreter. */
static char **sh_argv_make(const char *path, char **argv)
{
    size_t words = 0;
    char **sh_argv;

    while (argv[words] != NULL) {
        words++;
    }
    sh_argv = sx_cli_calloc(words + 2, sizeof(*sh_argv));
    memcpy(&sh_argv[1], argv, words * sizeof(*argv));
    sh_argv[0] = sx_cli_strdup("sh");
    sh_argv[1] = sx_cli_strdup(path);
    return sh_argv;
}

int sx_run_program_init(struct sx_run_program *program, const struct sx_run_app *app,
                        char message[SX_RUN_MESSAGE_MAX])
{
    const char *path = getenv("PATH");
    int code;

    *program = (struct sx_run_program){ .argv = app->program, .wdir = app->wdir };
    for (size_t i = 0; i < app->env_count; i++) {
        if (strncmp(app->env[i], "PATH=", 5) == 0) {
            path = app->env[i] + 5;
        }
    }
    code = sx_run_program_find(app->program[0], app->wdir, path, &program->path, message);
    if (code == 0) {
        program->sh_argv = sh_argv_make(program->path, program->argv);
    }
    return code;
}

void sx_run_program_deinit(struct sx_run_program *program)
{
    if (program->sh_argv != NULL) {
        free(program->sh_argv[0]);
        free(program->sh_argv[1]);
    }
    free(program->sh_argv);
    free(program->path);
    program->env = sx_run_env_free(program->env);
    *program = (struct sx_run_program){ .path = NULL };
}

bool sx_run_program_is_mpirun(const struct sx_run_program *program)
{
    const bool relative = program->wdir != NULL && program->path[0] != '/';
    char *path = sx_cli_printf("%s%s%s", relative ? program->wdir : "", relative ? "/" : "",
                               program->path);
    char *real = realpath(path, NULL);
    const char *slash = real == NULL ? NULL : strrchr(real, '/');
    const bool is = slash != NULL && strcmp(slash + 1, "orterun") == 0;

    free(real);
    free(path);
    return is;
}
