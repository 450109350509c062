/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor.c - PMIx_Process_monitor, blocking or not, and the heartbeats that it watches.  This
 * process's own part of a monitor of files is here.  The host's monitors may have results, which
 * are passed on. */
#include "client/manage/manage.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/status.h"
#include "base/util.h"
#include "client/link/link.h"
#include "client/link/op.h"

/* ---- files ----------------------------------------------------------------------------------- */

/* Files are checked with stat(2), by a path that a chdir of the program does not change. */

struct file_monitor {
    struct sx_periodic periodic;
    struct sx_file_signs signs;
    struct sx_file_look seen;
    char id[PMIX_MAX_KEYLEN + 1];
    char path[];
};

/* ---- checks ---------------------------------------------------------------------------------- */

static bool moment_differs(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

bool sx_file_lives(const struct sx_file_signs *signs, const struct sx_file_look *before,
                   const struct sx_file_look *now)
{
    return before->device != now->device || before->inode != now->inode ||
           (signs->grows && now->size_bytes > before->size_bytes) ||
           (signs->accessed && moment_differs(&now->accessed, &before->accessed)) ||
           (signs->modified && moment_differs(&now->modified, &before->modified));
}

/* Return: 0, or errno's value. */
static int file_look(const char *path, struct sx_file_look *ret)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return errno;
    }
    *ret = (struct sx_file_look){ .device = st.st_dev,
                                  .inode = st.st_ino,
                                  .size_bytes = (uint64_t)st.st_size,
                                  .accessed = st.st_atim,
                                  .modified = st.st_mtim };
    return 0;
}

static void sign_count(unsigned sign)
{
    struct sx_link *const link = sx_primary();

    pthread_mutex_lock(&link->lane_lock);
    if (sx_link_is_live(link)) {
        sx_lane_sign(&link->lane, sign);
    }
    pthread_mutex_unlock(&link->lane_lock);
}

static void monitor_run(struct sx_periodic *periodic)
{
    struct file_monitor *const monitor = SX_CONTAINER(periodic, struct file_monitor, periodic);
    struct sx_file_look now;

    if (file_look(monitor->path, &now) == 0) {
        if (sx_file_lives(&monitor->signs, &monitor->seen, &now)) {
            sign_count(periodic->place);
        }
        monitor->seen = now;
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

static void monitor_free(struct sx_periodic *periodic)
{
    struct file_monitor *const monitor = SX_CONTAINER(periodic, struct file_monitor, periodic);

    free(monitor);
}

static bool is_said(const pmix_info_t *info)
{
    return info != NULL && (info->value.type != PMIX_BOOL || info->value.data.flag);
}

/* Return: the monitor with its path and no sign yet; NULL when memory is out. */
static struct file_monitor *monitor_new(const char *path)
{
    const bool is_relative = path[0] != '/' && path[0] != '\0';
    char *const here = is_relative ? getcwd(NULL, 0) : NULL; /* without it the file is not found */
    const size_t size = strlen(path) + 2 + (here != NULL ? strlen(here) : 0);
    struct file_monitor *const monitor = calloc(1, sizeof(*monitor) + size);

    if (monitor != NULL) {
        snprintf(monitor->path, size, "%s%s%s", here != NULL ? here : "", here != NULL ? "/" : "",
                 path);
    }
    free(here);
    return monitor;
}

static pmix_status_t monitor_begin(struct file_monitor *monitor, uint32_t *ret_place,
                                   uint64_t *ret_number)
{
    const int err = file_look(monitor->path, &monitor->seen);

    if (err != 0) {
        return SX_RAISE(err == ENOENT || err == ENOTDIR ? PMIX_ERR_NOT_FOUND
                                                        : sx_status_from_errno(err),
                        "the file \"%s\" cannot be monitored: %s", monitor->path, strerror(err));
    }
    return sx_periodic_prepare(&monitor->periodic, ret_place, ret_number);
}
static_assert(SX_PERIODICS_MAX <= SX_LANE_SIGNS, "a place has its sign");

/* Prepare to check the file of @options.  Return: PMIX_SUCCESS, and as sx_periodic_prepare its
 * number and its place, which is that of its sign in the lane.  Or with a line that says why:
 * PMIX_ERR_BAD_PARAM when no property of the file is to be checked, PMIX_ERR_NOT_FOUND,
 * PMIX_ERR_NO_PERMISSIONS or as sx_status_from_errno when the file cannot be read;
 * PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t file_monitor_prepare(const struct sx_monitor_options *options,
                                          uint32_t *ret_place, uint64_t *ret_number)
{
    const struct sx_file_signs signs = { .grows = options->file_grows,
                                         .accessed = is_said(options->file_accessed),
                                         .modified = is_said(options->file_modified) };

    if (!signs.grows && !signs.accessed && !signs.modified) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "what is life in the file \"%s\"?  Say \"%s\", \"%s\" or \"%s\"",
                        options->file, PMIX_MONITOR_FILE_SIZE, PMIX_MONITOR_FILE_ACCESS,
                        PMIX_MONITOR_FILE_MODIFY);
    }
    struct file_monitor *const monitor = monitor_new(options->file);

    if (monitor == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    monitor->signs = signs;
    monitor->periodic = (struct sx_periodic){ .period_ns = options->period_s.number * SX_NS_PER_SEC,
                                              .id = monitor->id,
                                              .run = monitor_run,
                                              .free = monitor_free };
    snprintf(monitor->id, sizeof(monitor->id), "%s", options->id != NULL ? options->id : "");
    const pmix_status_t rc = monitor_begin(monitor, ret_place, ret_number);

    if (rc != PMIX_SUCCESS) {
        free(monitor);
    }
    return rc;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The header has a macro of this name for older libraries. */
#undef PMIx_Heartbeat

void PMIx_Heartbeat(void)
{
    struct sx_link *const link = sx_primary();

    pthread_mutex_lock(&link->lane_lock);
    if (sx_link_is_live(link)) {
        sx_lane_beat(&link->lane);
    }
    pthread_mutex_unlock(&link->lane_lock);
}

/* A cancel of all monitors. */
static char no_id[] = "";

static bool is_about(const pmix_info_t *monitor, const char *key)
{
    return strncmp(monitor->key, key, sizeof(monitor->key)) == 0;
}

/* The monitored thing is placed before the directives.  Its value may be anything if none is
 * needed.  Return: NULL when memory is out; else the array is the caller's to free. */
static pmix_info_t *infos_with(const pmix_info_t *monitor, const pmix_info_t directives[],
                               size_t ndirs)
{
    pmix_info_t *const infos = calloc(ndirs + 1, sizeof(*infos));

    if (infos == NULL) {
        return NULL;
    }
    infos[0] = *monitor;
    if (is_about(monitor, PMIX_MONITOR_HEARTBEAT)) {
        infos[0].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    } else if (is_about(monitor, PMIX_MONITOR_CANCEL) &&
               (monitor->value.type != PMIX_STRING || monitor->value.data.string == NULL)) {
        infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = no_id };
    }
    for (size_t i = 0; i < ndirs; i++) {
        infos[i + 1] = directives[i];
    }
    return infos;
}

/* ---- the call -------------------------------------------------------------------------------- */

struct monitor {
    struct sx_results_op results;
    uint64_t periodic; /* the task of this process for it; 0: none */
    bool ended;        /* of a cancel: a task of this process has ended */
};

/* A prepared task starts with the server's success, or ends. */
static bool monitor_finish(struct sx_op *op)
{
    struct monitor *const monitor = SX_CONTAINER(op, struct monitor, results.op);

    (void)sx_results_finish(op);
    if (monitor->ended) { /* the server and the host need not have it */
        op->status = PMIX_SUCCESS;
    }
    if (op->status == PMIX_SUCCESS) {
        sx_periodic_go(monitor->periodic);
    } else {
        sx_periodic_end(monitor->periodic);
    }
    return true;
}

static const struct sx_op_kind monitor_kind = { .size = sizeof(struct monitor),
                                                .request = SX_MSG_MONITOR,
                                                .answered = sx_results_answered,
                                                .finish = monitor_finish,
                                                .release = sx_results_release };

#define MONITOR_INIT(...)                                                        \
    {                                                                            \
        .results = {.op = SX_OP_INIT(&monitor_kind, sx_primary(), __VA_ARGS__) } \
    }

static pmix_status_t period_judge(const struct sx_monitor_options *options)
{
    const enum sx_function kind = sx_monitor_kind(options);

    if (kind == SX_OF_MONITOR || kind == SX_OF_USAGE || options->period_s.number > 0) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s with \"%s\", 1 second or more",
                    options->heartbeats ? "heartbeats are monitored" : "a file is monitored",
                    options->heartbeats ? PMIX_MONITOR_HEARTBEAT_TIME
                                        : PMIX_MONITOR_FILE_CHECK_TIME);
}

/* Prepare the part of this process.  Return: PMIX_SUCCESS; as file_monitor_prepare. */
static pmix_status_t begin_here(struct monitor *monitor, const struct sx_monitor_options *options,
                                uint32_t *ret_sign)
{
    pmix_status_t rc = PMIX_SUCCESS;
    uint32_t place;

    if (sx_monitor_kind(options) == SX_OF_FILE_MONITOR) {
        rc = file_monitor_prepare(options, &place, &monitor->periodic);
        *ret_sign = rc == PMIX_SUCCESS ? place + 1 : 0;
    } else if (options->cancel != NULL) {
        monitor->ended = sx_periodics_end_called(options->cancel);
    }
    return rc;
}

static pmix_status_t monitor_ask(struct monitor *monitor, pmix_status_t error,
                                 const pmix_info_t *infos, size_t ninfos)
{
    struct sx_monitor_options options = { 0 };
    struct sx_monitor_request head = { .code = error };
    struct sx_draft draft = { .head = &head, .parts = { [SX_MONITOR_INFOS] = { infos, ninfos } } };
    pmix_status_t rc = sx_monitor_options_read(infos, ninfos, &options);

    if (rc == PMIX_SUCCESS) {
        rc = period_judge(&options);
    }
    if (rc == PMIX_SUCCESS && options.usage != NULL &&
        (options.elsewhere == NULL || options.local_only) &&
        (sx_process_ready() || options.period_s.number == 0)) {
        return sx_usage_start(&monitor->results.op, &options, error, PMIx_Query_info);
    }
    if (rc == PMIX_SUCCESS && !sx_process_ready()) {
        rc = SX_RAISE(PMIX_ERR_INIT, "a server that is no client can be told once what is used, "
                                     "and monitors nothing: call PMIx_Init first");
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(monitor->results.op.link);
    }
    if (rc == PMIX_SUCCESS) {
        rc = begin_here(monitor, &options, &head.sign);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_op_ask(&monitor->results.op, &draft);
    }
    if (rc != PMIX_SUCCESS) {
        sx_periodic_end(monitor->periodic);
    }
    return rc;
}

/* No request is needed. */
static pmix_status_t beat(struct sx_op *op)
{
    const pmix_status_t rc = sx_op_open(&op);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    PMIx_Heartbeat();
    return sx_op_answer(op, PMIX_SUCCESS);
}

static pmix_status_t monitor_start(struct monitor *monitor, const pmix_info_t *monitored,
                                   pmix_status_t error, const pmix_info_t directives[],
                                   size_t ndirs)
{
    const bool waits = !sx_callback_is_given(&monitor->results.op.callback);

    /* A process that is only a server reads /proc in the caller's thread, as it has no other one
     * for it. */
    if (!sx_process_ready() && (sx_role_server_get() == NULL || !waits)) {
        return PMIX_ERR_INIT;
    }
    if (monitored == NULL || (directives == NULL && ndirs != 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (is_about(monitored, PMIX_SEND_HEARTBEAT) && sx_process_ready()) {
        return beat(&monitor->results.op);
    }
    pmix_info_t *const infos = infos_with(monitored, directives, ndirs);
    const pmix_status_t rc = infos != NULL ? monitor_ask(monitor, error, infos, ndirs + 1)
                                           : PMIX_ERR_OUT_OF_RESOURCE;

    free(infos);
    return rc;
}

pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor, pmix_status_t error,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t **results, size_t *nresults)
{
    sx_results_none(results, nresults);
    struct monitor asked = MONITOR_INIT();
    const pmix_status_t rc = monitor_start(&asked, monitor, error, directives, ndirs);

    sx_results_give(&asked.results, results, nresults);
    return rc;
}

/* The answer is needed even if the caller wants no result: the prepared task waits for it. */
pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor, pmix_status_t error,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_INFO, info,
                                                    cbfunc != NULL ? cbfunc : sx_results_ignored,
                                                    cbdata);
    struct monitor asked = MONITOR_INIT(.callback = callback);

    return monitor_start(&asked, monitor, error, directives, ndirs);
}
