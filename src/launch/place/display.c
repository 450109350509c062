/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* display.c - the machine and a rank's place, as text or JSON.  An unbound rank may use all CPUs of
 * the launcher. */
#include "launch/place/display.h"

#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/common/file.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/place/program.h"
#include "launch/stdio/output.h"

/* ---- dry run --------------------------------------------------------------------------------- */

extern char **environ;

static const struct sx_run_program *program_of(const struct sx_run_job *job, uint32_t rank)
{
    return &job->programs[sx_run_job_app(job, rank) - job->apps];
}

/* ---- variables ------------------------------------------------------------------------------- */

static char **env_of(const struct sx_run_job *job, uint32_t rank)
{
    char **env = sx_run_env_copy(program_of(job, rank)->env);

    sx_run_env_put_rank(&env, rank, job->first + rank);
    return env;
}

static const char *value_of(char *const *env, const char *word)
{
    char *const name = sx_cli_printf("%.*s", (int)strcspn(word, "="), word);
    const char *const value = sx_run_env_get(env, name);

    free(name);
    return value;
}

/* Whether the variable of @word is set here, and not in @env. */
static bool goes(char *const *env, const char *word)
{
    return value_of(env, word) == NULL;
}

/* Whether a rank's variable is not set here, or has another value.  Return: its value, or NULL. */
static const char *differs(const char *word)
{
    const char *const value = strchr(word, '='), *const here = value_of(environ, word);

    return value != NULL && (here == NULL || strcmp(here, value + 1) != 0) ? value + 1 : NULL;
}

/* ---- for a shell ----------------------------------------------------------------------------- */

static void word_write(const char *word, FILE *to)
{
    bool plain = word[0] != '\0';

    for (const char *at = word; *at != '\0' && plain; at++) {
        plain = isalnum((unsigned char)*at) || strchr("_-+./:=,@%^", *at) != NULL;
    }
    if (plain) {
        fputs(word, to);
        return;
    }
    putc('\'', to);
    for (const char *at = word; *at != '\0'; at++) {
        fputs(*at == '\'' ? "'\\''" : (const char[]){ *at, '\0' }, to);
    }
    putc('\'', to);
}

static void env_write(char *const *env, FILE *to)
{
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (goes(env, environ[i])) {
            fprintf(to, "  unset %.*s\n", (int)strcspn(environ[i], "="), environ[i]);
        }
    }
    for (size_t i = 0; env[i] != NULL; i++) {
        const char *const value = differs(env[i]);

        if (value != NULL) {
            fprintf(to, "  export %.*s", (int)(value - env[i]), env[i]);
            word_write(value, to);
            putc('\n', to);
        }
    }
}

static void program_write(const struct sx_run_program *program, FILE *to)
{
    if (program->wdir != NULL) {
        fputs("  cd ", to);
        word_write(program->wdir, to);
        putc('\n', to);
    }
    fputs("  exec ", to);
    word_write(program->path, to);
    for (size_t i = 1; program->argv[i] != NULL; i++) {
        putc(' ', to);
        word_write(program->argv[i], to);
    }
    putc('\n', to);
}

/* Write, for a shell, the variables of @rank of @job that differ from those of this process, and
 * the rank's directory and command.  "unset NAME" stands for a variable that ranks do not
 * inherit. */
static void dry_write(const struct sx_run_job *job, uint32_t rank, FILE *to)
{
    char **const env = env_of(job, rank);

    env_write(env, to);
    program_write(program_of(job, rank), to);
    sx_run_env_free(env);
}

/* ---- for a program --------------------------------------------------------------------------- */

/* Add an element to an array or an object. */
static void element_json(bool *first, const char *text, size_t len, FILE *to)
{
    if (!*first) {
        putc(',', to);
    }
    *first = false;
    sx_json_string_to(to, text, len);
}

static void env_json(char *const *env, FILE *to)
{
    bool first = true;

    fputs(",\"unset\":[", to);
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (goes(env, environ[i])) {
            element_json(&first, environ[i], strcspn(environ[i], "="), to);
        }
    }
    fputs("],\"env\":{", to);
    first = true;
    for (size_t i = 0; env[i] != NULL; i++) {
        const char *const value = differs(env[i]);

        if (value != NULL) {
            element_json(&first, env[i], (size_t)(value - 1 - env[i]), to);
            putc(':', to);
            sx_json_string_to(to, value, strlen(value));
        }
    }
    putc('}', to);
}

/* The same as members of a JSON object that is open: "unset", "env", "wdir", "path", "argv". */
static void dry_json(const struct sx_run_job *job, uint32_t rank, FILE *to)
{
    const struct sx_run_program *const program = program_of(job, rank);
    char **const env = env_of(job, rank);
    bool first = true;

    env_json(env, to);
    if (program->wdir != NULL) {
        fputs(",\"wdir\":", to);
        sx_json_string_to(to, program->wdir, strlen(program->wdir));
    }
    fputs(",\"path\":", to);
    sx_json_string_to(to, program->path, strlen(program->path));
    fputs(",\"argv\":[", to);
    for (size_t i = 0; program->argv[i] != NULL; i++) {
        element_json(&first, program->argv[i], strlen(program->argv[i]), to);
    }
    putc(']', to);
    sx_run_env_free(env);
}

/* ---- texts ----------------------------------------------------------------------------------- */

struct text {
    FILE *to;
    char *all;
    size_t len;
};

static void text_begin(struct text *text)
{
    text->to = open_memstream(&text->all, &text->len);
    if (text->to == NULL) {
        sx_cli_no_memory();
    }
}

static char *text_end(struct text *text)
{
    if (fclose(text->to) != 0) {
        sx_cli_no_memory();
    }
    return text->all;
}

/* ,"name":"value" */
static void json_member(FILE *to, const char *name, const char *value)
{
    fprintf(to, ",\"%s\":", name);
    sx_json_string_to(to, value, strlen(value));
}

static void json_begin(const struct sx_run_display *display, FILE *to, const char *what)
{
    fprintf(to, "{\"display\":\"%s\"", what);
    json_member(to, "node", display->host);
}

/* ---- the node -------------------------------------------------------------------------------- */

static void allocation_write(const struct sx_run_display *display, FILE *to)
{
    const struct sx_run_machine *const machine = display->machine;

    if (display->options->display.parseable) {
        json_begin(display, to, "allocation");
        json_member(to, "cpus", machine->cpuset);
        fprintf(to, ",\"slots\":%u,\"memory_bytes\":%" PRIu64 "}\n", machine->cpu_count,
                machine->memory_bytes);
    } else {
        fprintf(to, "allocation: node %s, %u slot%s, CPUs %s, %" PRIu64 " MiB\n", display->host,
                machine->cpu_count, machine->cpu_count == 1 ? "" : "s", machine->cpuset,
                machine->memory_bytes >> 20);
    }
}

static void processors_write(const struct sx_run_display *display, FILE *to)
{
    const struct sx_run_machine *const machine = display->machine;

    if (display->options->display.parseable) {
        json_begin(display, to, "processors");
        json_member(to, "cpus", machine->cpuset);
        fprintf(to, ",\"count\":%u,\"packages\":%u}\n", machine->cpu_count, machine->package_count);
    } else {
        fprintf(to, "processors: node %s, CPUs %s (%u), %u package%s\n", display->host,
                machine->cpuset, machine->cpu_count, machine->package_count,
                machine->package_count == 1 ? "" : "s");
    }
}

static void object_write(const struct sx_run_display *display, FILE *to, hwloc_obj_t object,
                         int depth)
{
    const char *const type = hwloc_obj_type_string(object->type);
    char *cpus = NULL;

    if (hwloc_bitmap_list_asprintf(&cpus, object->cpuset) < 0) {
        sx_cli_no_memory();
    }
    if (display->options->display.parseable) {
        json_begin(display, to, "topology");
        json_member(to, "type", type);
        json_member(to, "cpus", cpus);
        fprintf(to, ",\"depth\":%d,\"number\":%u}\n", depth, object->logical_index);
    } else {
        fprintf(to, "topology: %*s%s %u, CPUs %s\n", 2 * depth, "", type, object->logical_index,
                cpus);
    }
    free(cpus);
}

/* Write the objects with CPUs, each before the objects in it, over all levels of the machine. */
static void topology_write(const struct sx_run_display *display, FILE *to, hwloc_obj_t object,
                           int depth)
{
    if (object->cpuset == NULL) {
        return;
    }
    object_write(display, to, object, depth);
    for (hwloc_obj_t in = object->memory_first_child; in != NULL; in = in->next_sibling) {
        topology_write(display, to, in, depth + 1);
    }
    for (hwloc_obj_t in = object->first_child; in != NULL; in = in->next_sibling) {
        topology_write(display, to, in, depth + 1);
    }
}

char *sx_run_display_node(const struct sx_run_display *display)
{
    const struct sx_display_options *const wanted = &display->options->display;
    struct text text;

    text_begin(&text);
    if (wanted->allocation) {
        allocation_write(display, text.to);
    }
    if (wanted->processors != NULL) {
        processors_write(display, text.to);
    }
    if (wanted->topology != NULL) {
        topology_write(display, text.to, hwloc_get_root_obj(display->machine->topology), 0);
    }
    return text_end(&text);
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static const char *cpus(const struct sx_run_display *display, const struct sx_run_place *place)
{
    return place->cpuset == NULL ? display->machine->cpuset : place->cpuset;
}

static const char *part_of(const struct sx_run_options *options)
{
    return options->map == SX_RUN_LEVEL_NONE ? "slot" : sx_run_level_noun(options->map);
}

/* "map: rank 3, app 1 (./ice)" */
static void who_write(const struct sx_run_job *job, uint32_t rank, const char *what, FILE *to)
{
    const struct sx_run_app *const app = sx_run_job_app(job, rank);
    char *const name = sx_cli_strdup(app->program[0]);

    sx_say_plain(name);
    fprintf(to, "%s: %srank %u, app %u (%s)", what, job->prefix, rank, (unsigned)(app - job->apps),
            name);
    free(name);
}

/* "bound to core 5, CPUs 10-11" */
static void bound_write(const struct sx_run_display *display, const struct sx_run_place *place,
                        const char *before, FILE *to)
{
    if (place->cpuset == NULL) {
        fputs("not bound", to);
    } else {
        fprintf(to, "%s%s %u", before, sx_run_level_noun(display->options->bind),
                place->bind_number);
    }
    fprintf(to, ", CPUs %s", cpus(display, place));
}

/* The caller closes the object. */
static void rank_json(const struct sx_run_display *display, const struct sx_run_job *job,
                      uint32_t rank, const char *what, FILE *to)
{
    const struct sx_run_app *const app = sx_run_job_app(job, rank);
    const struct sx_run_place *const place = &job->places[rank];

    json_begin(display, to, what);
    json_member(to, "nspace", job->nspace);
    fprintf(to, ",\"rank\":%u,\"app\":%u", rank, (unsigned)(app - job->apps));
    json_member(to, "program", app->program[0]);
    json_member(to, "mapped_to", part_of(display->options));
    fprintf(to, ",\"map_number\":%u", place->map_number);
    if (place->cpuset != NULL) {
        json_member(to, "bound_to", sx_run_level_noun(display->options->bind));
        fprintf(to, ",\"bind_number\":%u", place->bind_number);
    }
    json_member(to, "cpus", cpus(display, place));
}

char *sx_run_display_map(const struct sx_run_display *display, const struct sx_run_job *job,
                         uint32_t rank)
{
    const struct sx_run_place *const place = &job->places[rank];
    const bool detailed = display->options->display.detailed;
    struct text text;

    text_begin(&text);
    if (display->options->display.parseable) {
        rank_json(display, job, rank, "map", text.to);
        if (detailed) {
            dry_json(job, rank, text.to);
        }
        fputs("}\n", text.to);
        return text_end(&text);
    }
    who_write(job, rank, "map", text.to);
    fprintf(text.to, ", %s %u, ", part_of(display->options), place->map_number);
    bound_write(display, place, "bound to ", text.to);
    putc('\n', text.to);
    if (detailed) {
        dry_write(job, rank, text.to);
    }
    return text_end(&text);
}

char *sx_run_display_binding(const struct sx_run_display *display, const struct sx_run_job *job,
                             uint32_t rank, pid_t pid)
{
    struct text text;

    text_begin(&text);
    if (display->options->display.parseable) {
        rank_json(display, job, rank, "bindings", text.to);
        fprintf(text.to, ",\"pid\":%ld}", (long)pid);
    } else {
        who_write(job, rank, "bindings", text.to);
        fprintf(text.to, ", pid %ld, ", (long)pid);
        bound_write(display, &job->places[rank], "", text.to);
    }
    putc('\n', text.to);
    return text_end(&text);
}

/* ---- showing --------------------------------------------------------------------------------- */

static void line_say(struct sx_run_state *run, bool parseable, const char *line, int len)
{
    if (parseable && run != NULL) {
        sx_run_sink_put(run->sink_of[1], run, line, (size_t)len + 1);
    } else if (parseable) {
        fprintf(stderr, "%.*s\n", len, line);
    } else if (run != NULL) {
        sx_run_say(run, "%.*s", len, line);
    } else {
        sx_say("%.*s", len, line);
    }
}

void sx_run_display_say(const struct sx_run_display *display, struct sx_run_state *run, char *text)
{
    for (const char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        line_say(run, display->options->display.parseable, at, (int)(end - at));
    }
    free(text);
}

void sx_run_display_job(const struct sx_run_display *display, struct sx_run_state *run,
                        const struct sx_run_job *job)
{
    const struct sx_display_options *const wanted = &display->options->display;

    for (uint32_t rank = 0; rank < job->rank_count && (wanted->map || wanted->detailed); rank++) {
        sx_run_display_say(display, run, sx_run_display_map(display, job, rank));
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Return: 0 or errno. */
static int file_write(const char *path, const char *text, size_t len)
{
    const int fd = sx_run_file_descriptor(path, false, false);
    int why = fd < 0 ? errno : 0;

    while (why == 0 && len > 0) {
        const ssize_t done = write(fd, text, len);

        if (done >= 0) {
            text += done;
            len -= (size_t)done;
        } else if (errno != EINTR) {
            why = errno;
        }
    }
    if (fd >= 0 && close(fd) != 0 && why == 0) {
        why = errno;
    }
    return why;
}

void sx_run_display_processes(struct sx_run_state *run, const struct sx_run_job *job,
                              const char *to)
{
    struct text text;
    int why = 0;

    text_begin(&text);
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        if (job->ranks[rank].pid > 0) {
            char *const path = sx_cli_strdup(
                job->programs[sx_run_job_app(job, rank) - job->apps].path);

            sx_say_plain(path);
            fprintf(text.to, "(rank, host, exe, pid) = (%u, %s, %s, %ld)\n", rank, run->host, path,
                    (long)job->ranks[rank].pid);
            free(path);
        }
    }
    char *const all = text_end(&text);
    const bool is_err = strcmp(to, "+") == 0;

    if (is_err || strcmp(to, "-") == 0) {
        sx_run_sink_put(run->sink_of[is_err ? 1 : 0], run, all, text.len);
    } else {
        why = file_write(to, all, text.len);
    }
    if (why != 0) {
        sx_run_say_of(job, "the processes of %s cannot be written to '%.300s': %s", job->name, to,
                      why == ENOTSUP || why == ENXIO ? "that is no file" : sx_file_cause(why));
    }
    free(all);
}
