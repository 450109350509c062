/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_request.c - a spawn's applications and directives become the options of a job. */
#include "launch/ask/spawn_request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/pack.h"
#include "base/value/value.h"
#include "launch/ask/sources.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/place/place.h"
#include "launch/place/program.h"
#include "launch/stdio/output.h"
#include "launch/stdio/pty.h"

#define HOSTFILE_BYTES_MAX (1 << 20)

/* ---- life ------------------------------------------------------------------------------------ */

static pmix_status_t copy_of(const void *from, size_t count, size_t size_bytes,
                             pmix_data_type_t type, void **ret)
{
    void *const to = sx_cli_calloc(count == 0 ? 1 : count, size_bytes);
    const pmix_status_t rc = sx_elements_copy(to, from, count, type);

    if (rc != PMIX_SUCCESS) {
        free(to);
        return rc;
    }
    *ret = to;
    return PMIX_SUCCESS;
}

/* Add the infos of PMIX_RUNTIME_OPTIONS, as if the spawn had given them directly. */
static pmix_status_t runtime_add(struct sx_run_request *request)
{
    const pmix_info_t *const info = sx_info_find(request->info, request->ninfo,
                                                 PMIX_RUNTIME_OPTIONS);
    pmix_info_t *more = NULL;
    size_t count = 0;

    if (info == NULL || info->value.type != PMIX_STRING || info->value.data.string == NULL) {
        return PMIX_SUCCESS; /* the directive's row has checked the value */
    }
    const pmix_status_t rc = sx_run_runtime_read(info->value.data.string, &more, &count);

    if (rc == PMIX_SUCCESS) {
        request->info = sx_cli_realloc(request->info, request->ninfo + count + 1, sizeof(*more));
        memcpy(&request->info[request->ninfo], more, count * sizeof(*more));
        request->ninfo += count;
        free(more);
    }
    return rc;
}

static pmix_status_t request_copy(struct sx_run_request *request, const pmix_info_t *info,
                                  size_t ninfo, const pmix_app_t *apps, size_t napps)
{
    void *at = NULL;
    pmix_status_t rc = copy_of(info, ninfo, sizeof(*info), PMIX_INFO, &at);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    request->info = at;
    request->ninfo = ninfo;
    rc = runtime_add(request);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = copy_of(apps, napps, sizeof(*apps), PMIX_APP, &at);
    if (rc == PMIX_SUCCESS) {
        request->apps = at;
        request->napps = napps;
    }
    return rc;
}

/* true means all ranks; other values name one rank, or several. */
bool sx_run_request_stops(const pmix_info_t *info, uint32_t rank)
{
    const pmix_value_t *const value = info == NULL ? NULL : &info->value;
    const pmix_rank_t *ranks;
    size_t count;

    if (value == NULL) {
        return false;
    }
    if (value->type == PMIX_BOOL || value->type == PMIX_UNDEF) {
        return value->type == PMIX_UNDEF || value->data.flag;
    }
    ranks = value->type == PMIX_PROC_RANK ? &value->data.rank : value->data.darray->array;
    count = value->type == PMIX_PROC_RANK ? 1 : value->data.darray->size;
    for (size_t i = 0; i < count; i++) {
        if (ranks[i] == rank || ranks[i] == PMIX_RANK_WILDCARD) {
            return true;
        }
    }
    return false;
}

static bool can_stop(const pmix_info_t *info)
{
    const pmix_value_t *const value = info == NULL ? NULL : &info->value;

    return value == NULL || value->type == PMIX_BOOL || value->type == PMIX_UNDEF ||
           value->type == PMIX_PROC_RANK ||
           (value->type == PMIX_DATA_ARRAY && value->data.darray != NULL &&
            value->data.darray->type == PMIX_PROC_RANK);
}

void sx_run_request_look_at(struct sx_run_request *request, const char *nspace)
{
    if (request->said.target.count == 0) {
        PMIx_Load_procid(&request->target, nspace, PMIX_RANK_WILDCARD);
        request->said.target = (struct sx_some_procs){ .all = &request->target, .count = 1 };
    }
}

static pmix_status_t request_read(struct sx_run_request *request)
{
    struct sx_launch_options *const said = &request->said;
    pmix_status_t rc = sx_directives_read(&sx_spawn_job_directives, request->info, request->ninfo,
                                          said);

    if (rc == PMIX_SUCCESS && said->target_job != NULL) {
        sx_run_request_look_at(request, said->target_job);
    }
    if (rc == PMIX_SUCCESS && (!can_stop(said->stop_on_exec) || !can_stop(said->stop_in_init) ||
                               !can_stop(said->stop_in_app))) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "where ranks of a spawn are to stop is said by a bool, a rank or an array "
                        "of ranks");
    }

    if (rc == PMIX_SUCCESS &&
        (!sx_run_pty_termio_fits(said->pty_termio) || !sx_run_pty_size_fits(said->pty_size))) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "PMIX_PTY_TERMIO is the bytes of a struct termios, PMIX_PTY_WSIZE those of "
                        "a struct winsize");
    }
    request->of_apps = sx_cli_calloc(request->napps, sizeof(*request->of_apps));
    for (size_t i = 0; i < request->napps && rc == PMIX_SUCCESS; i++) {
        const pmix_app_t *const app = &request->apps[i];

        request->of_apps[i] = request->said;
        if (app->cwd != NULL && app->cwd[0] != '\0') {
            request->of_apps[i].wdir = app->cwd;
        }
        rc = sx_directives_read(&sx_spawn_app_directives, app->info, app->ninfo,
                                &request->of_apps[i]);
    }
    return rc;
}

static bool is_sound(const pmix_proc_t *parent, const pmix_info_t *info, size_t ninfo,
                     const pmix_app_t *apps, size_t napps)
{
    return parent != NULL && apps != NULL && napps != 0 && napps <= SX_RUN_RANKS_MAX &&
           (info != NULL || ninfo == 0);
}

pmix_status_t sx_run_request_new(struct sx_run_request **ret_request, const pmix_proc_t *parent,
                                 const pmix_info_t *info, size_t ninfo, const pmix_app_t *apps,
                                 size_t napps)
{
    struct sx_run_request *request;
    pmix_status_t rc;

    if (!is_sound(parent, info, ninfo, apps, napps)) {
        return PMIX_ERR_BAD_PARAM;
    }
    request = sx_cli_calloc(1, sizeof(*request));
    request->parent = *parent;
    request->started_ns = sx_now_ns();
    rc = request_copy(request, info, ninfo, apps, napps);
    if (rc == PMIX_SUCCESS) {
        rc = request_read(request);
    }
    if (rc != PMIX_SUCCESS) {
        sx_run_request_free(request);
        return rc;
    }
    *ret_request = request;
    return PMIX_SUCCESS;
}

static struct sx_run_request *request_without(const pmix_proc_t *parent, const pmix_app_t *apps)
{
    struct sx_run_request *const request = sx_cli_calloc(1, sizeof(*request));

    request->parent = *parent;
    request->over_share = true;
    request->apps = sx_cli_calloc(1, sizeof(*request->apps));
    request->napps = 1;
    request->apps[0].cmd = sx_cli_printf("%.100s", apps[0].cmd == NULL ? "" : apps[0].cmd);
    return request;
}

pmix_status_t sx_run_request_ask(struct sx_run_request **ret_request, const char *asker,
                                 const pmix_proc_t *parent, const pmix_info_t *info, size_t ninfo,
                                 const pmix_app_t *apps, size_t napps)
{
    struct sx_spawn_share share = { .process = NULL };

    if (!is_sound(parent, info, ninfo, apps, napps)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!sx_spawn_share_take(asker, parent, sx_spawn_bytes(info, ninfo, apps, napps), &share)) {
        *ret_request = request_without(parent, apps);
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_run_request_new(ret_request, parent, info, ninfo, apps, napps);

    if (rc == PMIX_SUCCESS) {
        (*ret_request)->share = share;
    } else {
        sx_spawn_share_give_back(&share);
    }
    return rc;
}

struct sx_run_request *sx_run_request_free(struct sx_run_request *request)
{
    if (request == NULL) {
        return NULL;
    }
    sx_spawn_share_give_back(&request->share);
    for (size_t i = 0; request->words != NULL && i < request->napps; i++) {
        sx_run_env_free(request->words[i]);
    }
    free(request->words);
    sx_run_pmi1_words_deinit(&request->preputs);
    sx_run_options_deinit(&request->options);
    sx_elements_destruct(request->info, request->ninfo, PMIX_INFO);
    sx_elements_destruct(request->apps, request->napps, PMIX_APP);
    free(request->info);
    free(request->apps);
    free(request->of_apps);
    free(request);
    return NULL;
}

/* ---- to another process ---------------------------------------------------------------------- */

pmix_status_t sx_run_request_pack(const struct sx_run_request *request, pmix_data_buffer_t *buffer)
{
    const pmix_proc_t procs[] = { request->parent, request->target };
    const size_t counts[] = { request->ninfo, request->napps };
    pmix_status_t rc = sx_pack(buffer, procs, SX_COUNT(procs), PMIX_PROC);

    if (rc == PMIX_SUCCESS) {
        rc = sx_pack(buffer, counts, SX_COUNT(counts), PMIX_SIZE);
    }
    return rc == PMIX_SUCCESS && request->ninfo > 0
               ? sx_pack(buffer, request->info, request->ninfo, PMIX_INFO)
               : rc;
}

pmix_status_t sx_run_request_unpack(struct sx_run_request **ret_request, pmix_data_buffer_t *buffer)
{
    struct sx_run_request *const request = sx_cli_calloc(1, sizeof(*request));
    size_t counts[2] = { 0, 0 }, got;
    pmix_proc_t procs[2];
    pmix_status_t rc = sx_unpack(buffer, procs, SX_COUNT(procs), &got, PMIX_PROC);

    if (rc == PMIX_SUCCESS) {
        rc = sx_unpack(buffer, counts, SX_COUNT(counts), &got, PMIX_SIZE);
    }
    request->info = sx_cli_calloc(counts[0] + 1, sizeof(*request->info));
    request->apps = sx_cli_calloc(counts[1] + 1, sizeof(*request->apps));
    if (rc == PMIX_SUCCESS && counts[0] > 0) {
        rc = sx_unpack(buffer, request->info, counts[0], &request->ninfo, PMIX_INFO);
    }
    while (rc == PMIX_SUCCESS && request->napps < counts[1]) {
        rc = sx_unpack(buffer, &request->apps[request->napps], 1, &got, PMIX_APP);
        request->napps += rc == PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        request->parent = procs[0];
        rc = request_read(request);
    }
    if (rc != PMIX_SUCCESS) {
        sx_run_request_free(request);
        return rc;
    }
    if (procs[1].nspace[0] != '\0') {
        sx_run_request_look_at(request, procs[1].nspace);
    }
    *ret_request = request;
    return PMIX_SUCCESS;
}

/* ---- two requests of one spawn --------------------------------------------------------------- */

/* The callback of the other request: the spawn's caller gets one answer only. */
static void nobody_receives(pmix_status_t status, pmix_nspace_t nspace, void *arg)
{
    (void)status;
    (void)nspace;
    (void)arg;
}

/* Move the applications that stay to the front.  Return: how many stay. */
static size_t apps_sort(struct sx_run_request *request)
{
    const size_t all = request->napps;
    pmix_app_t *const apps = sx_cli_calloc(all, sizeof(*apps));
    struct sx_launch_options *const of_apps = sx_cli_calloc(all, sizeof(*of_apps));
    size_t stay = 0, at = 0;

    for (size_t i = 0; i < all; i++) {
        stay += !request->of_apps[i].apart;
    }
    for (size_t i = 0, behind = stay; i < all; i++) {
        size_t *const to = request->of_apps[i].apart ? &behind : &at;

        apps[*to] = request->apps[i];
        of_apps[(*to)++] = request->of_apps[i];
    }
    free(request->apps);
    free(request->of_apps);
    request->apps = apps;
    request->of_apps = of_apps;
    return stay;
}

struct sx_run_request *sx_run_request_part(struct sx_run_request *request)
{
    const size_t all = request->napps, stay = apps_sort(request);
    struct sx_run_request *apart = NULL;

    if (stay == 0 || stay == all ||
        sx_run_request_new(&apart, &request->parent, request->info, request->ninfo,
                           &request->apps[stay], all - stay) != PMIX_SUCCESS) {
        return NULL;
    }
    apart->fn = nobody_receives;
    sx_spawn_share_part(&request->share,
                        sx_spawn_bytes(apart->info, apart->ninfo, apart->apps, apart->napps),
                        &apart->share);
    for (size_t i = stay; i < all; i++) {
        PMIx_App_destruct(&request->apps[i]);
    }
    request->napps = stay;
    return apart;
}

void sx_run_request_answer(struct sx_run_request *request, pmix_status_t status, const char *nspace)
{
    const pmix_spawn_cbfunc_t fn = request->fn;
    pmix_nspace_t name = "";

    request->fn = NULL;
    request->has_started = request->has_started || (fn != NULL && status == PMIX_SUCCESS);
    if (fn != NULL) {
        PMIx_Load_nspace(name, nspace == NULL ? "" : nspace);
        fn(status, name, request->arg);
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Whether the first @len bytes of @name, before any slots, name this node. */
static bool is_here(const char *name, size_t len, const char *host)
{
    char *const word = sx_cli_printf("%.*s", (int)len, name);
    const char *slots;
    const bool here = sx_run_nodes_word(word, host, &slots);

    free(word);
    return here;
}

static pmix_status_t refuse_node(const char *name, size_t len, const char *host, char *message)
{
    snprintf(message, SX_RUN_MESSAGE_MAX,
             "it is to run on node '%.*s', and shmix run has this one alone, '%.100s'",
             len > 100 ? 100 : (int)len, name, host);
    return PMIX_ERR_JOB_ALLOC_FAILED;
}

static pmix_status_t judge_hosts(const char *hosts, const char *host, char *message)
{
    for (const char *at = hosts; at != NULL && *at != '\0';) {
        const size_t len = strcspn(at, ",");

        if (!is_here(at, len, host)) {
            return refuse_node(at, len, host, message);
        }
        at += len + (at[len] == ',');
    }
    return PMIX_SUCCESS;
}

/* Any client that spawns can name the file, so opening the file must not block, nor reading it last
 * for ever: it may be a pipe without a writer, or endless.  Return: NULL with errno. */
static FILE *hostfile_open(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    FILE *file = NULL;

    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        errno = ENOTSUP;
    } else if (st.st_size > HOSTFILE_BYTES_MAX) {
        errno = EFBIG;
    } else {
        file = fdopen(fd, "r");
    }
    if (file == NULL) {
        const int why = errno;

        close(fd);
        errno = why;
    }
    return file;
}

/* One node on each line; the text behind its name is for other launchers. */
static pmix_status_t judge_hostfile(const char *path, const char *host, char *message)
{
    pmix_status_t rc = PMIX_SUCCESS;
    char line[1024];
    FILE *in;

    if (path == NULL) {
        return PMIX_SUCCESS;
    }
    in = hostfile_open(path);
    if (in == NULL) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "its hostfile '%.300s': %s", path,
                 errno == ENOTSUP ? "it is no regular file" : strerror(errno));
        return PMIX_ERR_JOB_ALLOC_FAILED;
    }
    while (rc == PMIX_SUCCESS && fgets(line, sizeof(line), in) != NULL) {
        const char *const name = line + strspn(line, " \t");
        const size_t len = strcspn(name, " \t\r\n#");

        if (len > 0 && !is_here(name, len, host)) {
            rc = refuse_node(name, len, host, message);
        }
    }
    fclose(in);
    return rc;
}

static pmix_status_t judge_nodes(const struct sx_launch_options *said, const char *host,
                                 char *message)
{
    pmix_status_t rc;

    if (said->not_here) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "PMIX_NO_PROCS_ON_HEAD keeps its ranks off the launcher's node, and there is no "
                 "other one than '%.100s'",
                 host);
        return PMIX_ERR_JOB_ALLOC_FAILED;
    }
    rc = judge_hosts(said->hosts, host, message);
    if (rc == PMIX_SUCCESS) {
        rc = judge_hosts(said->more_hosts, host, message);
    }
    if (rc == PMIX_SUCCESS) {
        rc = judge_hosts(said->display.topology, host, message);
    }
    if (rc == PMIX_SUCCESS) {
        rc = judge_hosts(said->display.processors, host, message);
    }
    if (rc == PMIX_SUCCESS) {
        rc = judge_hostfile(said->hostfile, host, message);
    }
    return rc == PMIX_SUCCESS ? judge_hostfile(said->more_file, host, message) : rc;
}

/* ---- policies -------------------------------------------------------------------------------- */

static pmix_status_t refuse_policy(const char *name, const char *value, char *message)
{
    snprintf(message, SX_RUN_MESSAGE_MAX,
             "%s '%.100s' is none that shmix run knows ('shmix run --help' has them)", name, value);
    return PMIX_ERR_JOB_FAILED_TO_MAP;
}

/* "round_robin" or "ppr", in small or large letters. */
static bool is_mapper(const char *name)
{
    return strcasecmp(name, "round_robin") == 0 || strcasecmp(name, "ppr") == 0;
}

static pmix_status_t judge_policies(struct sx_run_request *request, char *message)
{
    const struct sx_launch_options *const said = &request->said;
    struct sx_run_options *const options = &request->options;
    char *const ppr = said->ppr == NULL ? NULL : sx_cli_printf("ppr:%s", said->ppr);
    const struct {
        const char *name, *value;
        bool (*take)(struct sx_run_options *options, const char *text, char *message);
    } rows[] = {
        { "PMIX_MAPBY", said->map, sx_run_policy_map },
        { "PMIX_PPR", ppr, sx_run_policy_map },
        { "PMIX_BINDTO", said->bind, sx_run_policy_bind },
    };
    pmix_status_t rc = PMIX_SUCCESS;

    options->bind = SX_RUN_BIND_NOT_GIVEN;
    if (said->mapper != NULL && !is_mapper(said->mapper)) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "PMIX_MAPPER '%.100s' is none that shmix run has; it has round_robin and ppr",
                 said->mapper);
        rc = PMIX_ERR_JOB_FAILED_TO_MAP;
    }
    for (size_t i = 0; i < SX_COUNT(rows) && rc == PMIX_SUCCESS; i++) {
        if (rows[i].value != NULL && !rows[i].take(options, rows[i].value, message)) {
            rc = refuse_policy(rows[i].name, rows[i].value, message);
        }
    }
    free(ppr);
    if (rc == PMIX_SUCCESS && said->rank != NULL &&
        !sx_run_policy_rank(options, said->rank, message)) {
        rc = refuse_policy("PMIX_RANKBY", said->rank, message);
    }
    if (said->cpus_each.given) {
        options->cpus_each = said->cpus_each.number;
    }
    if (rc == PMIX_SUCCESS && !sx_run_bind_default(options)) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "PMIX_CPUS_PER_PROC counts cores or hardware threads, and PMIX_BINDTO '%.100s' "
                 "binds to neither",
                 said->bind);
        rc = PMIX_ERR_JOB_FAILED_TO_MAP;
    }
    return rc;
}

/* ---- applications ---------------------------------------------------------------------------- */

/* The words of @app: first @agent's, which executes it, then its command, unless its argv begins
 * with that. */
static char **words_of(const pmix_app_t *app, const char *agent)
{
    const char *const slash = strrchr(app->cmd, '/');
    const char *const first = app->argv == NULL ? NULL : app->argv[0];
    const bool has_it = first != NULL && (strcmp(first, app->cmd) == 0 ||
                                          (slash != NULL && strcmp(first, slash + 1) == 0));
    char **const before = agent == NULL ? NULL : PMIx_Argv_split(agent, ' ');
    char **words = sx_cli_calloc((size_t)PMIx_Argv_count(before) +
                                     (size_t)PMIx_Argv_count(app->argv) + 2,
                                 sizeof(*words));
    size_t count = 0;

    for (; before != NULL && before[count] != NULL; count++) {
        words[count] = sx_cli_strdup(before[count]);
    }
    words[count++] = sx_cli_strdup(app->cmd);
    for (size_t i = has_it; app->argv != NULL && app->argv[i] != NULL; i++) {
        words[count++] = sx_cli_strdup(app->argv[i]);
    }
    PMIx_Argv_free(before);
    return words;
}

static pmix_status_t judge_count(const pmix_app_t *app, uint32_t ppr, uint32_t *ret_count,
                                 char *message)
{
    const uint32_t wanted = app->maxprocs > 0 ? (uint32_t)app->maxprocs : ppr;

    if (app->maxprocs < 0 || wanted == 0 || wanted > SX_RUN_RANKS_MAX) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "%d ranks are wanted; possible are 1 to %u",
                 app->maxprocs, SX_RUN_RANKS_MAX);
        return PMIX_ERR_BAD_PARAM;
    }
    if (ppr != 0 && wanted > ppr) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "%u ranks are wanted, with at most %u on a node, and there is one node", wanted,
                 ppr);
        return PMIX_ERR_JOB_FAILED_TO_MAP;
    }
    *ret_count = wanted;
    return PMIX_SUCCESS;
}

/* Files for the nodes exist here, or the spawn is refused. */
static pmix_status_t judge_files(const char *files, const char *wdir, char *message)
{
    char **const names = files == NULL ? NULL : PMIx_Argv_split(files, ',');
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; names != NULL && names[i] != NULL && rc == PMIX_SUCCESS; i++) {
        char *const path = sx_cli_printf("%s%s%s", names[i][0] == '/' ? "" : wdir,
                                         names[i][0] == '/' ? "" : "/", names[i]);

        if (access(path, F_OK) != 0) {
            snprintf(message, SX_RUN_MESSAGE_MAX, "its file '%.300s' (PMIX_PRELOAD_FILES): %s",
                     path, strerror(errno));
            rc = PMIX_ERR_NOT_FOUND;
        }
        free(path);
    }
    PMIx_Argv_free(names);
    return rc;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether @index names the nodes that the one before it names: their files are read once. */
static bool nodes_are_judged(const struct sx_run_request *request, size_t index)
{
    const struct sx_launch_options *const said = &request->of_apps[index];

    return request->is_found || (index > 0 && is_same(said->hosts, said[-1].hosts) &&
                                 is_same(said->more_hosts, said[-1].more_hosts) &&
                                 is_same(said->hostfile, said[-1].hostfile) &&
                                 is_same(said->more_file, said[-1].more_file));
}

static pmix_status_t judge_app(struct sx_run_request *request, size_t index, uint32_t ppr,
                               const char *host, char *message)
{
    const pmix_app_t *const app = &request->apps[index];
    const struct sx_launch_options *const said = &request->of_apps[index];
    struct sx_run_app *const to = &request->options.apps[index];
    pmix_status_t rc;

    if (app->cmd == NULL || app->cmd[0] == '\0') {
        snprintf(message, SX_RUN_MESSAGE_MAX, "application %zu has no program", index);
        return PMIX_ERR_JOB_NO_EXE_SPECIFIED;
    }
    rc = nodes_are_judged(request, index) ? PMIX_SUCCESS : judge_nodes(said, host, message);
    if (rc == PMIX_SUCCESS) {
        rc = judge_count(app, ppr, &to->rank_count, message);
    }
    to->wdir = said->wdir == NULL || said->wdir[0] == '\0' ? NULL : said->wdir;
    to->search = said->search;
    if (rc == PMIX_SUCCESS && !request->is_found) {
        rc = judge_files(said->files, to->wdir == NULL ? "." : to->wdir, message);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    request->options.rank_count += to->rank_count;
    to->pset = said->pset;
    to->index_argv = said->index_argv;
    to->restarts_max = (uint32_t)said->restarts_max.number;
    to->program = request->words[index] = words_of(app, said->agent);
    for (size_t i = 0; app->env != NULL && app->env[i] != NULL; i++) {
        to->env = sx_cli_realloc(to->env, to->env_count + 1, sizeof(*to->env));
        to->env[to->env_count++] = sx_cli_strdup(app->env[i]);
    }
    return PMIX_SUCCESS;
}

/* Which ranks have an input that others may push to.  A bool means all of them, or none. */
static pmix_status_t judge_input(const struct sx_launch_options *said,
                                 struct sx_run_options *options, char *message)
{
    const pmix_info_t *const info = said->input_to != NULL ? said->input_to : said->input_for;
    const pmix_value_t *const value = info == NULL ? NULL : &info->value;
    uint64_t rank = 0;

    if (value == NULL || value->type == PMIX_BOOL || value->type == PMIX_UNDEF) {
        rank = value != NULL && sx_value_is_true(value) ? PMIX_RANK_WILDCARD : PMIX_RANK_INVALID;
    } else if (value->type == PMIX_PROC && value->data.proc != NULL) {
        rank = value->data.proc->rank;
    } else if (sx_value_get_uint(value, &rank) != PMIX_SUCCESS) {
        rank = PMIX_RANK_VALID;
    }
    options->stdin_mode = rank == PMIX_RANK_WILDCARD ? SX_RUN_STDIN_ALL
                          : rank == PMIX_RANK_INVALID || rank == PMIX_RANK_UNDEF
                              ? SX_RUN_STDIN_NONE
                              : SX_RUN_STDIN_RANK;
    options->stdin_rank = (uint32_t)rank;
    if (options->stdin_mode == SX_RUN_STDIN_RANK && rank >= options->rank_count) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "%s says which rank has an input: one of 0 to %u, or all (PMIX_RANK_WILDCARD)",
                 info == said->input_to ? "PMIX_STDIN_TGT" : "PMIX_FWD_STDIN",
                 options->rank_count - 1);
        return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

/* The number of ranks of an application that has no number: those of a debugger, or ranks beside
 * others. */
static uint64_t ranks_beside(const struct sx_run_request *request)
{
    const struct sx_launch_options *const said = &request->said;

    return said->per_node.given      ? said->per_node.number
           : said->per_proc.given    ? (uint64_t)said->per_proc.number * request->target_count
           : said->beside.count == 0 ? 0
           : said->beside_node.given ? said->beside_node.number
                                     : (uint64_t)said->beside_proc.number * request->beside_count;
}

pmix_status_t sx_run_request_judge(struct sx_run_request *request, const char *host,
                                   char message[SX_RUN_MESSAGE_MAX])
{
    const struct sx_launch_options *const said = &request->said;
    struct sx_run_options *const options = &request->options;
    uint64_t daemons;
    uint32_t ppr = 0;
    pmix_status_t rc;

    *options = (struct sx_run_options){
        .apps = sx_cli_calloc(request->napps, sizeof(*options->apps)),
        .app_count = (uint32_t)request->napps,
        .stdin_mode = SX_RUN_STDIN_NONE,
        .output = said->output,
        .display = said->display,
        .on_failure = said->goes_on ? SX_RUN_ON_FAILURE_NOTIFY : SX_RUN_ON_FAILURE_ABORT,
    };
    request->words = sx_cli_calloc(request->napps, sizeof(*request->words));
    if (!sx_run_files_judge(&options->output, message, SX_RUN_MESSAGE_MAX)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (said->output.here == SX_SAID_NO) {
        options->output.file_only = true; /* or nowhere, without a file */
    }
    rc = judge_policies(request, message);
    ppr = options->per_node;
    daemons = ppr == 0 ? ranks_beside(request) : 0;
    for (size_t i = 0; i < request->napps && rc == PMIX_SUCCESS; i++) {
        if (request->apps[i].maxprocs == 0 && daemons > 0) {
            request->apps[i].maxprocs = daemons > INT_MAX ? INT_MAX : (int)daemons;
        }
        rc = judge_app(request, i, ppr, host, message);
    }
    if (rc == PMIX_SUCCESS && options->rank_count > SX_RUN_RANKS_MAX) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "%u ranks are wanted; possible are at most %u",
                 options->rank_count, SX_RUN_RANKS_MAX);
        rc = PMIX_ERR_JOB_INSUFFICIENT_RESOURCES;
    }
    return rc == PMIX_SUCCESS ? judge_input(said, options, message) : rc;
}

void sx_run_request_set_cwd(struct sx_run_request *request, const char *dir)
{
    for (uint32_t i = 0; request->said.session_cwd && i < request->options.app_count; i++) {
        request->options.apps[i].wdir = dir;
    }
}

/* ---- environments ---------------------------------------------------------------------------- */

static void put_before(char ***env, const char *name, const char *prefix, const char *folder)
{
    const char *const former = sx_run_env_get(*env, name);
    const bool none = former == NULL || former[0] == '\0';
    char *const path = sx_cli_printf("%s/%s%s%s", prefix, folder, none ? "" : ":",
                                     none ? "" : former);

    sx_run_env_put(env, name, path);
    free(path);
}

static pmix_status_t apply_all(const pmix_info_t *info, size_t ninfo, char ***env)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        rc = sx_envar_is_directive(info[i].key) ? sx_envar_apply(&info[i], env) : PMIX_SUCCESS;
    }
    return rc;
}

pmix_status_t sx_run_request_env(const struct sx_run_request *request, uint32_t index, char ***env)
{
    const char *const prefix = request->of_apps[index].prefix;
    pmix_status_t rc;

    if (prefix != NULL && prefix[0] != '\0') {
        put_before(env, "PATH", prefix, "bin");
        put_before(env, "LD_LIBRARY_PATH", prefix, "lib");
    }
    rc = apply_all(request->info, request->ninfo, env);
    return rc == PMIX_SUCCESS
               ? apply_all(request->apps[index].info, request->apps[index].ninfo, env)
               : rc;
}
