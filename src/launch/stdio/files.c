/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* files.c - names as the Standard defines them, and writes that are repeated until all is
 * written. */
#include "launch/stdio/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/common/file.h"
#include "launch/common/say.h"

/* ---- names ----------------------------------------------------------------------------------- */

bool sx_run_files_wanted(const struct sx_output_options *output)
{
    return output->file != NULL || output->rank_file != NULL || output->dir != NULL;
}

bool sx_run_files_judge(const struct sx_output_options *output, char *message, size_t room)
{
    const int named = (output->file != NULL) + (output->rank_file != NULL) + (output->dir != NULL);
    const char *why = NULL;

    if (named > 1) {
        why = "output goes to a file for each rank or to a directory, not to both";
    } else if (named == 0 && output->file_only) {
        why = "output is to go to files alone (nocopy), and no file is named";
    } else if (output->file == NULL && output->pattern) {
        why = "the file's name is to be a pattern, and no file is named";
    }
    for (const char *at = output->file; at != NULL && output->pattern && why == NULL;) {
        at = strchr(at, '%');
        if (at != NULL && (at[1] == '\0' || strchr("nrh%", at[1]) == NULL)) {
            why = "behind a '%' of the pattern for output files stands n (the namespace), r (the "
                  "rank), h (the node) or another %";
        }
        at = at == NULL ? NULL : at + 2;
    }
    if (why != NULL) {
        snprintf(message, room, "%s", why);
    }
    return why == NULL;
}

/* Whether all ranks of a job have the same name. */
static bool is_one_name(const struct sx_output_options *output)
{
    return output->pattern && strstr(output->file, "%r") == NULL;
}

bool sx_run_files_shared(const struct sx_output_options *output)
{
    return output->merge || output->rank_file != NULL || is_one_name(output);
}

static char *pattern_expand(const char *pattern, const struct sx_run_file_of *of)
{
    char *name = NULL;
    size_t size;
    FILE *const out = open_memstream(&name, &size);

    if (out == NULL) {
        sx_cli_no_memory();
    }
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at != '%') {
            putc(*at, out);
            continue;
        }
        switch (*++at) {
        case 'n':
            fputs(of->nspace, out);
            break;
        case 'r':
            fprintf(out, "%u", of->rank);
            break;
        case 'h':
            fputs(of->host, out);
            break;
        default:
            putc('%', out);
            break;
        }
    }
    fprintf(out, ".%s", of->stream);
    if (fclose(out) != 0 || name == NULL) {
        sx_cli_no_memory();
    }
    return name;
}

static char *name_make(const struct sx_output_options *output, const struct sx_run_file_of *of)
{
    if (output->dir != NULL && of->job > 0) {
        return sx_cli_printf("%s/%u/rank.%u/%s", output->dir, of->job, of->rank, of->stream);
    }
    if (output->dir != NULL) {
        return sx_cli_printf("%s/%s/rank.%u/%s", output->dir, of->nspace, of->rank, of->stream);
    }
    if (output->rank_file != NULL) {
        return sx_cli_printf("%s.%u", output->rank_file, of->rank);
    }
    return output->pattern
               ? pattern_expand(output->file, of)
               : sx_cli_printf("%s.%s.%u.%s", output->file, of->nspace, of->rank, of->stream);
}

/* ---- life ------------------------------------------------------------------------------------ */

int sx_run_file_descriptor(const char *path, bool goes_on, bool makes_folders)
{
    const int fd = sx_file_open(path,
                                O_WRONLY | O_CREAT | (goes_on ? O_APPEND : O_TRUNC) | O_NONBLOCK,
                                makes_folders);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)) {
        close(fd);
        errno = ENOTSUP;
        return -1;
    }
    return fd;
}

/* The files whose name is the same for all ranks; only the launcher's thread uses them. */
static struct sx_run_file *common;

static struct sx_run_file *common_find(const char *path)
{
    struct sx_run_file *file = common;

    while (file != NULL && strcmp(file->path, path) != 0) {
        file = file->next;
    }
    return file;
}

static void common_remove(const struct sx_run_file *file)
{
    for (struct sx_run_file **at = &common; *at != NULL; at = &(*at)->next) {
        if (*at == file) {
            *at = file->next;
            return;
        }
    }
}

struct sx_run_file *sx_run_file_open(const struct sx_output_options *output,
                                     const struct sx_run_file_of *of, char *message, size_t room)
{
    char *const path = name_make(output, of);
    struct sx_run_file *file = is_one_name(output) ? common_find(path) : NULL;

    if (file != NULL) {
        free(path);
        file->reference_count++;
        return file;
    }
    const int fd = sx_run_file_descriptor(path, of->goes_on, true);

    if (fd < 0) {
        const int why = errno;

        snprintf(message, room, "its output cannot go to '%.300s': %s", path,
                 why == ENOTSUP || why == ENXIO ? "that is no file" : sx_file_cause(why));
        free(path);
        return NULL;
    }
    file = sx_cli_calloc(1, sizeof(*file));
    *file = (struct sx_run_file){ .reference_count = 1, .fd = fd, .path = path };
    if (is_one_name(output)) {
        file->next = common;
        common = file;
    }
    return file;
}

struct sx_run_file *sx_run_file_release(struct sx_run_file *file)
{
    if (file != NULL && --file->reference_count == 0) {
        common_remove(file);
        close(file->fd);
        free(file->path);
        free(file);
    }
    return NULL;
}

void sx_run_file_write(struct sx_run_file *file, const char *bytes, size_t size)
{
    while (size > 0 && file->error == 0) {
        const ssize_t wrote = write(file->fd, bytes, size);

        if (wrote >= 0) {
            bytes += wrote;
            size -= (size_t)wrote;
        } else if (errno != EINTR) {
            file->error = errno;
            file->failed(file->arg, file);
        }
    }
}

void sx_run_file_write_line(struct sx_run_file *file, const void *owner, const char *bytes,
                            size_t size)
{
    if (size == 0) {
        return;
    }
    if (file->line_owner != NULL && file->line_owner != owner) {
        sx_run_file_write(file, "\n", 1);
    }
    sx_run_file_write(file, bytes, size);
    file->line_owner = bytes[size - 1] == '\n' ? NULL : owner;
}
