/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* core.c - the kernel's pattern becomes one of glob(7): '*' stands for each unknown part. */
#include "launch/job/core.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/common/say.h"

#define WHERE_MAX 512 /* bytes: a longer name is not shown */

static void literal_put(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("*?[\\", *text) != NULL) {
            putc('\\', out);
        }
        putc(*text, out);
    }
}

/* Write what @word, the letter behind a '%' of the pattern, stands for. */
static void word_put(FILE *out, char word, const struct sx_run_core *core)
{
    char host[65] = "";

    switch (word) {
    case '%':
        putc('%', out);
        break;
    case 'p':
    case 'i':
        fprintf(out, "%ld", (long)core->pid);
        break;
    case 's':
        fprintf(out, "%d", core->signal);
        break;
    case 'u':
        fprintf(out, "%ld", (long)getuid());
        break;
    case 'g':
        fprintf(out, "%ld", (long)getgid());
        break;
    case 'h':
        (void)gethostname(host, sizeof(host) - 1);
        literal_put(out, host);
        break;
    default:
        putc('*', out);
        break;
    }
}

/* Malloc'ed. */
static char *glob_make(const struct sx_run_core *core)
{
    char *made = NULL;
    size_t size;
    FILE *const out = open_memstream(&made, &size);

    if (out == NULL) {
        sx_cli_no_memory();
    }
    if (core->pattern[0] != '/') {
        literal_put(out, core->dir);
        putc('/', out);
    }
    for (const char *at = core->pattern; *at != '\0'; at++) {
        const char one[2] = { *at, '\0' };

        if (*at != '%') {
            literal_put(out, one);
        } else if (at[1] != '\0') {
            word_put(out, *++at, core);
        }
    }
    if (core->adds_pid && strstr(core->pattern, "%p") == NULL) {
        fprintf(out, ".%ld", (long)core->pid);
    }
    if (fclose(out) != 0 || made == NULL) {
        sx_cli_no_memory();
    }
    return made;
}

static char *file_find(const struct sx_run_core *core)
{
    char *const pattern = glob_make(core), *found = NULL;
    glob_t names = { 0 };
    struct stat st;

    if (glob(pattern, GLOB_NOSORT, NULL, &names) == 0 && names.gl_pathc == 1 &&
        lstat(names.gl_pathv[0], &st) == 0 && S_ISREG(st.st_mode) && st.st_mtime >= core->since &&
        strlen(names.gl_pathv[0]) < WHERE_MAX) {
        found = sx_cli_strdup(names.gl_pathv[0]);
    }
    globfree(&names);
    free(pattern);
    return found;
}

char *sx_run_core_find(const struct sx_run_core *core)
{
    const size_t len = strcspn(core->pattern, " ");

    if (strstr(core->pattern, "systemd-coredump") != NULL ||
        strstr(core->pattern, "systemd/coredump") != NULL) {
        return sx_cli_printf("coredumpctl info %ld", (long)core->pid);
    }
    if (core->pattern[0] == '|' || core->pattern[0] == '@') {
        return len < WHERE_MAX ? sx_cli_printf("given to %.*s", (int)len - 1, core->pattern + 1)
                               : NULL;
    }
    return core->pattern[0] == '\0' ? NULL : file_find(core);
}

/* The first line of @path. */
static void line_read(const char *path, char line[WHERE_MAX])
{
    FILE *const file = fopen(path, "re");

    line[0] = '\0';
    if (file != NULL && fgets(line, WHERE_MAX, file) == NULL) {
        line[0] = '\0';
    }
    line[strcspn(line, "\n")] = '\0';
    if (file != NULL) {
        fclose(file);
    }
}

char *sx_run_core_of(pid_t pid, int signal, const char *dir, time_t since)
{
    char pattern[WHERE_MAX], adds_pid[WHERE_MAX];
    char *const whole = realpath(dir == NULL ? "." : dir, NULL);

    line_read("/proc/sys/kernel/core_pattern", pattern);
    line_read("/proc/sys/kernel/core_uses_pid", adds_pid);
    const struct sx_run_core core = { .pattern = pattern,
                                      .adds_pid = adds_pid[0] == '1',
                                      .dir = whole == NULL ? "" : whole,
                                      .pid = pid,
                                      .signal = signal,
                                      .since = since };
    char *const found = whole == NULL ? NULL : sx_run_core_find(&core);

    free(whole);
    return found;
}
