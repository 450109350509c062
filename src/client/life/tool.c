/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.c - PMIx_tool_*: a process outside of any job, and the server that it finds.
 *
 *     PMIx_tool_init --finds a server, which accepts it--> CONNECTED --disconnect--> LEFT
 *        |   \--none is wanted, or needed--> ALONE --attach_to_server--> CONNECTED
 *        \--none is found, or it refuses: the error, and nothing has happened
 *
 * A process that a server has started keeps its role.  It may attach to further servers: its
 * requests are sent to the primary one, events arrive from all.  Each server has its own name for
 * the process, unless the process has chosen one; PMIx calls return the first. */
#include <pmix_tool.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/util.h"
#include "client/data/data.h"
#include "client/event/event.h"
#include "client/life/life.h"
#include "control/rendezvous.h"

#define ANSWER_NS (30 * SX_NS_PER_SEC) /* for a host that takes its time */

static const struct sx_introduction as_tool = { .role = SX_PEER_TOOL };

static bool named; /* this process was named by itself, not by its server; under life_lock */

static uint64_t answer_deadline_ns(const struct sx_tool_options *options)
{
    return sx_deadline_ns(sx_now_ns(), options->timeout_ns != 0 ? options->timeout_ns : ANSWER_NS);
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_set(const char *name)
{
    const char *const value = getenv(name);

    return value != NULL && *value != '\0';
}

/* A server has started the process as one of a job, and its infos name no other role. */
static bool is_started(const struct sx_tool_options *options)
{
    const bool is_directed = options->attachment_file != NULL || options->uri != NULL ||
                             options->tcp_uri != NULL || options->pid.given ||
                             options->server_nspace != NULL || options->to_system ||
                             options->to_scheduler || options->to_controller ||
                             options->order != NULL;

    return !is_directed && options->nspace == NULL && is_set("PMIX_NAMESPACE") &&
           (is_set(SX_ENV_SERVER_URI) || is_set(SX_ENV_SERVER_FD));
}

struct opening {
    const struct sx_tool_options *options;
    char *why; /* SX_TOOL_WHY_MAX */
};

static pmix_status_t tool_open(struct sx_process *p, void *arg)
{
    const struct opening *const opening = arg;
    const struct sx_tool_options *const options = opening->options;
    pmix_proc_t name = { .rank = options->rank.number };
    size_t handlers;

    p->is_tool = true;
    named = options->nspace != NULL;
    if (named) {
        PMIX_LOAD_NSPACE(name.nspace, options->nspace);
    }
    if (options->no_server) {
        return sx_singleton_open(p, &name);
    }
    if (is_started(options)) {
        return sx_life_attach_rank(p);
    }
    p->self = name;
    const pmix_status_t rc = sx_tool_search(options, &p->first.socket_fd, opening->why);

    if (rc == PMIX_SUCCESS) {
        opening->why[0] = '\0';
        return sx_life_introduce(p, &p->first, &as_tool, answer_deadline_ns(options), &handlers);
    }
    if (rc == PMIX_ERR_UNREACH && options->server_optional) {
        sx_log(SX_LOG_INFO, "this tool is on its own: %s", opening->why);
        opening->why[0] = '\0';
        return sx_singleton_open(p, &name);
    }
    return rc;
}

pmix_status_t sx_tool_begin(const struct sx_tool_options *options, pmix_proc_t *ret_self,
                            char ret_why[SX_TOOL_WHY_MAX])
{
    struct opening opening = { .options = options, .why = ret_why };

    ret_why[0] = '\0';
    return sx_life_begin(&options->init, tool_open, &opening, ret_self);
}

pmix_status_t PMIx_tool_init(pmix_proc_t *proc, pmix_info_t *info, size_t ninfo)
{
    struct sx_tool_options options = { .nspace = NULL };
    char why[SX_TOOL_WHY_MAX] = "";
    pmix_proc_t self;
    pmix_status_t rc = sx_options_read(SX_OF_TOOL_INIT, info, ninfo, &options);

    if (rc == PMIX_SUCCESS && options.rank.given && options.nspace == NULL) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIX_TOOL_RANK without PMIX_TOOL_NSPACE names nobody");
    }
    if (rc == PMIX_SUCCESS && options.launcher_file != NULL && !options.launches) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM,
                      "PMIX_LAUNCHER_RENDEZVOUS_FILE is for a tool with PMIX_LAUNCHER");
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_tool_begin(&options, &self, why);
    }
    if (rc == PMIX_SUCCESS && options.launches) {
        rc = sx_launcher_begin(&options, &self);
        if (rc != PMIX_SUCCESS) {
            (void)PMIx_Finalize(NULL, 0);
        }
    }
    if (why[0] != '\0') {
        return SX_RAISE(rc, "%s", why);
    }
    if (rc == PMIX_SUCCESS) {
        sx_keepalive_begin();
    }
    if (rc != PMIX_SUCCESS || proc == NULL) {
        return rc;
    }
    *proc = self;
    return rc;
}

pmix_status_t PMIx_tool_finalize(void)
{
    return PMIx_Finalize(NULL, 0);
}

bool PMIx_tool_is_connected(void)
{
    return sx_process_ready() && sx_link_is_live(sx_primary());
}

/* ---- its servers ----------------------------------------------------------------------------- */

/* Return: the process that listens at the other end of @fd; 0: the process is in another
 * container. */
static pid_t listener_of(int fd)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 ? cred.pid : 0;
}

/* The live link to the server at the other end of @fd: a process has one server.  With life_lock,
 * under which links are added. */
static struct sx_link *link_same(struct sx_process *p, int fd)
{
    const pid_t pid = listener_of(fd);

    for (unsigned i = 0; i < p->link_count; i++) {
        struct sx_link *const link = p->links[i];

        if (pid != 0 && sx_link_is_live(link) && listener_of(link->socket_fd) == pid) {
            return link;
        }
    }
    return NULL;
}

/* Attach over @fd, which is taken over.  With life_lock. */
static pmix_status_t attach_over(struct sx_process *p, int fd,
                                 const struct sx_tool_options *options, struct sx_link **ret_link,
                                 size_t *ret_before)
{
    struct sx_introduction as = as_tool;

    if (!sx_process_ready()) { /* another thread has finalized meanwhile */
        close(fd);
        return PMIX_ERR_INIT;
    }
    *ret_link = link_same(p, fd);
    if (*ret_link != NULL) {
        close(fd);
        return PMIX_SUCCESS;
    }
    if (sx_link_is_singleton(&p->first)) {
        *ret_link = &p->first;
        return sx_life_join(p, fd, &as, answer_deadline_ns(options), ret_before);
    }
    as.name = named ? p->self : (pmix_proc_t){ .rank = PMIX_RANK_UNDEF };
    return sx_life_add(p, fd, &as, answer_deadline_ns(options), ret_link, ret_before);
}

/* @connects: the server becomes the primary one in any case. */
static pmix_status_t attach(pmix_proc_t *proc, pmix_proc_t *server, pmix_info_t *info, size_t ninfo,
                            bool connects)
{
    struct sx_process *const p = &sx_process;
    struct sx_tool_options options = { .nspace = NULL };
    struct sx_link *link = NULL;
    char why[SX_TOOL_WHY_MAX];
    size_t before = 0;
    int fd;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_options_read(SX_OF_TOOL_ATTACH, info, ninfo, &options);

    if (rc == PMIX_SUCCESS) {
        rc = sx_role_may_wait();
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_tool_search(&options, &fd, why);
    if (rc != PMIX_SUCCESS) {
        return SX_RAISE(rc, "%s", why);
    }
    pthread_mutex_lock(&p->life_lock);
    rc = attach_over(p, fd, &options, &link, &before);
    if (rc == PMIX_SUCCESS && (connects || options.primary || !sx_link_is_live(sx_primary()))) {
        atomic_store(&p->primary, link);
    }
    if (rc == PMIX_SUCCESS && proc != NULL) {
        *proc = p->self;
    }
    if (rc == PMIX_SUCCESS && server != NULL) {
        *server = link->server;
    }
    pthread_mutex_unlock(&p->life_lock);
    if (rc == PMIX_SUCCESS) {
        sx_event_register_again(link, before);
    }
    return rc;
}

pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t *proc, pmix_proc_t *server, pmix_info_t *info,
                                         size_t ninfo)
{
    return attach(proc, server, info, ninfo, false);
}

pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t *proc, pmix_info_t *info, size_t ninfo)
{
    return attach(proc, NULL, info, ninfo, true);
}

/* Return: the live link to @server, NULL when there is none.  Under lock. */
static struct sx_link *link_to_locked(struct sx_process *p, const pmix_proc_t *server)
{
    for (unsigned i = 0; i < p->link_count; i++) {
        if (sx_link_is_live(p->links[i]) && PMIx_Check_procid(server, &p->links[i]->server)) {
            return p->links[i];
        }
    }
    return NULL;
}

/* Return: PMIX_SUCCESS when @server may name a server. */
static pmix_status_t server_judge(const pmix_proc_t *server)
{
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    return server == NULL || !sx_proc_is_valid(server) ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
}

pmix_status_t PMIx_tool_disconnect(const pmix_proc_t *server)
{
    struct sx_process *const p = &sx_process;
    const pmix_status_t rc = server_judge(server);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->lock);
    struct sx_link *const link = link_to_locked(p, server);
    pthread_mutex_unlock(&p->lock);
    if (link == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    sx_life_good_bye(link);
    pthread_mutex_lock(&p->lock);
    if (sx_link_end_locked(link)) {
        atomic_store(&link->state, SX_LINK_LEFT);
        shutdown(link->socket_fd, SHUT_RDWR); /* the server forgets this tool */
    }
    pthread_mutex_unlock(&p->lock);
    return PMIX_SUCCESS;
}

/* List the servers: the primary one first, the others in the order of attaching.  Under lock. */
static size_t servers_list_locked(const struct sx_process *p, pmix_proc_t servers[SX_LINKS_MAX])
{
    const struct sx_link *const primary = sx_primary();
    size_t count = 0;

    if (sx_link_is_live(primary)) {
        servers[count++] = primary->server;
    }
    for (unsigned i = 0; i < p->link_count; i++) {
        if (p->links[i] != primary && sx_link_is_live(p->links[i])) {
            servers[count++] = p->links[i]->server;
        }
    }
    return count;
}

pmix_status_t PMIx_tool_get_servers(pmix_proc_t **servers, size_t *nservers)
{
    struct sx_process *const p = &sx_process;
    pmix_proc_t found[SX_LINKS_MAX];

    sx_results_none(servers, nservers);
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (servers == NULL || nservers == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pthread_mutex_lock(&p->lock);
    const size_t count = servers_list_locked(p, found);
    pthread_mutex_unlock(&p->lock);
    if (count == 0) {
        return PMIX_ERR_UNREACH;
    }
    *servers = PMIx_Proc_create(count);
    if (*servers == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(*servers, found, count * sizeof(found[0]));
    *nservers = count;
    return PMIX_SUCCESS;
}

/* Wait under lock until another thread has attached to @server.  Return: PMIX_SUCCESS;
 * PMIX_ERR_TIMEOUT; PMIX_ERR_INIT at the end of this process. */
static pmix_status_t server_wait_locked(struct sx_process *p, const pmix_proc_t *server,
                                        uint64_t deadline_ns)
{
    const struct timespec until = { .tv_sec = (time_t)(deadline_ns / SX_NS_PER_SEC),
                                    .tv_nsec = (long)(deadline_ns % SX_NS_PER_SEC) };
    int err = 0;

    p->waiter_count++;
    while (link_to_locked(p, server) == NULL && sx_process_ready() && err == 0) {
        err = deadline_ns == SX_DEADLINE_NEVER
                  ? pthread_cond_wait(&p->linked, &p->lock)
                  : pthread_cond_clockwait(&p->linked, &p->lock, CLOCK_MONOTONIC, &until);
    }
    if (--p->waiter_count == 0) {
        pthread_cond_broadcast(&p->quiet);
    }
    return !sx_process_ready() ? PMIX_ERR_INIT : err != 0 ? PMIX_ERR_TIMEOUT : PMIX_SUCCESS;
}

pmix_status_t PMIx_tool_set_server(const pmix_proc_t *server, pmix_info_t *info, size_t ninfo)
{
    struct sx_process *const p = &sx_process;
    struct sx_set_server_options options = { .waits = false };
    pmix_status_t rc = server_judge(server);

    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_TOOL_SET_SERVER, info, ninfo, &options);
    }
    if (rc == PMIX_SUCCESS && options.waits) {
        rc = sx_role_may_wait();
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const uint64_t deadline_ns = options.timeout_ns != 0
                                     ? sx_deadline_ns(sx_now_ns(), options.timeout_ns)
                                     : SX_DEADLINE_NEVER;
    pthread_mutex_lock(&p->lock);
    if (options.waits) {
        rc = server_wait_locked(p, server, deadline_ns);
    }
    struct sx_link *const link = rc == PMIX_SUCCESS ? link_to_locked(p, server) : NULL;
    if (link != NULL) {
        atomic_store(&p->primary, link);
    }
    pthread_mutex_unlock(&p->lock);
    return rc == PMIX_SUCCESS && link == NULL ? PMIX_ERR_UNREACH : rc;
}
