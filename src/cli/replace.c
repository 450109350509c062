/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* replace.c - the new text is beside the file, since a rename crosses no file system. */
#include "cli/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/common/say.h"

bool sx_replace_open(struct sx_replace *replace, const char *path)
{
    char *const real = realpath(path, NULL);
    struct stat st;
    const bool is_there = real != NULL && stat(real, &st) == 0;
    const bool is_file = !is_there || S_ISREG(st.st_mode);

    *replace = (struct sx_replace){ .path = real != NULL ? real : sx_cli_strdup(path) };
    if (is_file) {
        replace->before = sx_cli_printf("%s.%d", replace->path, (int)getpid());
    }
    const int fd = open(is_file ? replace->before : replace->path,
                        O_WRONLY | O_CLOEXEC | (is_file ? O_CREAT | O_EXCL : 0), 0666);

    if (fd >= 0 && is_there && is_file) {
        (void)fchmod(fd, st.st_mode & 0777);
    }
    signal(SIGXFSZ, SIG_IGN);
    replace->out = fd < 0 ? NULL : fdopen(fd, "w");
    if (replace->out == NULL) {
        const int why = errno;

        free(replace->before);
        free(replace->path);
        *replace = (struct sx_replace){ .out = NULL };
        errno = why;
        return false;
    }
    return true;
}

bool sx_replace_end(struct sx_replace *replace)
{
    const bool flushed = fflush(replace->out) == 0 && !ferror(replace->out);
    int why = errno;
    const bool closed = fclose(replace->out) == 0;
    const bool good = flushed && closed &&
                      (replace->before == NULL || rename(replace->before, replace->path) == 0);

    why = flushed ? errno : why;
    replace->out = NULL;
    if (good) {
        free(replace->before);
        replace->before = NULL;
    }
    sx_replace_abandon(replace);
    errno = why;
    return good;
}

void sx_replace_abandon(struct sx_replace *replace)
{
    if (replace->out != NULL) {
        fclose(replace->out);
    }
    if (replace->before != NULL) {
        (void)unlink(replace->before);
    }
    free(replace->before);
    free(replace->path);
    *replace = (struct sx_replace){ .out = NULL };
}
