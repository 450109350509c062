/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* server.c - the server's life: PMIx_server_init to PMIx_server_finalize. */
#include "server/model/state.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/log.h"
#include "base/status.h"
#include "base/waiter.h"
#include "server/cleanup/cleanup.h"
#include "server/collective/collective.h"
#include "server/data/data.h"
#include "server/data/get_index.h"
#include "server/entry/entry.h"
#include "server/event/event.h"
#include "server/group/group.h"
#include "server/iof/iof.h"
#include "server/job/job.h"
#include "server/log/logging.h"
#include "server/model/family.h"
#include "server/port/port.h"
#include "server/publish/publish.h"

static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER; /* init and finalize only */
static unsigned init_count;                                   /* under life_lock */

/* A forked child of the host: life_lock may be held there by a thread that it does not have. */
static bool is_forked(void)
{
    return sx_server_get() == NULL && sx_server_or_parents() != NULL;
}

/* ---- start --------------------------------------------------------------------------------- */

/* The name that the host uses for this node in its maps, or else the machine's own name. */
static pmix_status_t hostname_read(struct sx_server *server, const char *name)
{
    if (name == NULL) {
        gethostname(server->hostname, sizeof(server->hostname) - 1);
        return PMIX_SUCCESS;
    }
    const size_t len = strlen(name);

    if (len == 0 || len >= sizeof(server->hostname)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "\"%s\" given to PMIx_server_init is no text of 1 to %zu characters",
                        PMIX_HOSTNAME, sizeof(server->hostname) - 1);
    }
    memcpy(server->hostname, name, len + 1);
    return PMIX_SUCCESS;
}

/* Whether the rendezvous has a directory, by the host's option, or else by the environment. */
static pmix_status_t rendezvous_read(uint8_t said, bool *ret_keep_dir)
{
    const char *text = getenv("SHMIX_RENDEZVOUS");

    *ret_keep_dir = text != NULL && strcmp(text, "directory") == 0;
    if (text != NULL && *text != '\0' && !*ret_keep_dir && strcmp(text, "abstract") != 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "SHMIX_RENDEZVOUS is '%.64s': set it to abstract or directory, or unset it",
                        text);
    }
    if (said != SX_SAID_NOTHING) {
        *ret_keep_dir = said == SX_SAID_YES;
    }
    return PMIX_SUCCESS;
}

/* A name that was cut would be another one to the ranks. */
static pmix_status_t name_take(struct sx_server *server, const char *name)
{
    const size_t len = name == NULL ? 0 : strlen(name);

    if (name == NULL) {
        snprintf(server->self.nspace, sizeof(server->self.nspace), "shmix-server.%d",
                 (int)server->pid);
        return PMIX_SUCCESS;
    }
    if (len == 0 || len > PMIX_MAX_NSLEN) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIX_SERVER_NSPACE has %zu bytes: give 1 to %d", len,
                        PMIX_MAX_NSLEN);
    }
    memcpy(server->self.nspace, name, len + 1);
    return PMIX_SUCCESS;
}

/* The host's options about itself: its identity, the place of the rendezvous, the user of its
 * clients. */
static pmix_status_t options_take(struct sx_server *server, const struct sx_server_options *options,
                                  struct sx_rendezvous_options *ret_rendezvous)
{
    const char *from_env = getenv("TMPDIR");

    if (options->tmpdir != NULL) {
        server->tmpdir = strdup(options->tmpdir);
    } else {
        server->tmpdir = strdup(from_env != NULL && from_env[0] != '\0' ? from_env : "/tmp");
    }
    if (server->tmpdir == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t named = name_take(server, options->nspace);

    if (named != PMIX_SUCCESS) {
        return named;
    }
    server->self.rank = options->rank.number; /* 0: not given */
    const bool has_role = options->system_tools || options->scheduler || options->controller;

    server->takes_tools = options->tools || options->session_tools || has_role;
    server->takes_foreign_tools = options->foreign_tools || has_role;
    server->client_uid = options->uid.given ? (uid_t)options->uid.number : geteuid();
    server->client_gid = options->gid.given ? (gid_t)options->gid.number : getegid();
    *ret_rendezvous = (struct sx_rendezvous_options){
        .dir = server->tmpdir,
        .uid = server->client_uid,
        .gid = server->client_gid,
        .inherit = options->inherit_fd,
    };
    const pmix_status_t rc = rendezvous_read(options->directory, &ret_rendezvous->keep_dir);

    return rc == PMIX_SUCCESS ? hostname_read(server, options->hostname) : rc;
}

/* The NUMA policy of the host's option, or else of the environment. */
static pmix_status_t numa_begin(struct sx_server *server, const struct sx_server_options *options)
{
    const char *const said = options->numa;
    struct sx_cpus cpus;
    bool some;
    enum sx_numa_policy policy;
    pmix_status_t rc = said != NULL
                           ? sx_numa_policy_read(SHMIX_SERVER_NUMA, said, &policy)
                           : sx_numa_policy_read("SHMIX_NUMA", getenv("SHMIX_NUMA"), &policy);

    if (rc == PMIX_SUCCESS) {
        rc = sx_cpus_choose(options->thread_cpus, options->thread_bound, &cpus, &some);
    }
    if (rc == PMIX_SUCCESS) {
        sx_numa_init(&server->numa, policy, some ? &cpus : NULL);
    }
    return rc;
}

struct start {
    struct sx_server *server;
    struct sx_waiter waiter;
};

static void *server_thread(void *arg)
{
    struct start *start = arg;
    struct sx_server *server = start->server;
    const pmix_status_t status = sx_board_live(&server->board);

    sx_role_thread_enter();
    sx_numa_thread_settle(&server->numa);
    sx_waiter_wake(&start->waiter, status);
    if (status == PMIX_SUCCESS) {
        sx_loop_run(server->loop);
        sx_board_end(&server->board);
    }
    return NULL;
}

/* The life word belongs to the loop thread, so that thread reports that it has started. */
static pmix_status_t thread_start(struct sx_server *server)
{
    struct start start = { .server = server, .waiter = SX_WAITER_INIT };
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the host's signals are the host's */
    const int err = pthread_create(&server->thread, NULL, server_thread, &start);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err != 0) {
        return SX_RAISE(sx_status_from_errno(err),
                        "cannot start the server's thread (clone3): %s%s", strerror(err),
                        sx_refused_advice(err));
    }
    const pmix_status_t status = sx_waiter_wait(&start.waiter);

    if (status != PMIX_SUCCESS) {
        pthread_join(server->thread, NULL);
    }
    return status;
}

static struct sx_server *server_free(struct sx_server *server)
{
    sx_contacts_close(server);
    sx_gateway_close(server);
    sx_rendezvous_close(&server->rendezvous);
    sx_server_topology_close();
    server->loop = sx_loop_free(server->loop);
    sx_shown_deinit(server);
    sx_board_deinit(&server->board);
    sx_numa_deinit(&server->numa);
    free(server->tmpdir);
    free(server->live);
    free(server->port.lane_buffer);
    free(server);
    return NULL;
}

/* The part that cannot fail: from here on server_free can free @server. */
static void server_clear(struct sx_server *server, const pmix_server_module_t *module)
{
    if (module != NULL) {
        server->module = *module;
    }
    server->families = sx_families;
    server->kinds = sx_kinds;
    server->consumer = &sx_dispatch_consumer;
    server->pid = getpid();
    server->board = SX_BOARD_NULL;
    server->rendezvous = SX_RENDEZVOUS_NULL;
    sx_gateway_init(server);
    sx_contacts_init(server);
    sx_list_init(&server->collective.all);
    sx_list_init(&server->collective.marked);
    sx_collective_ends_init(server);
    sx_list_init(&server->collective.unread);
    sx_list_init(&server->collective.leavers);
    sx_list_init(&server->group.invite_early);
    sx_invites_init(server);
    sx_list_init(&server->collective.spans);
    sx_list_init(&server->own_asks);
    server->collective.shown.table = SX_OPEN_OPS_NULL;
    server->seed = sx_table_seed();
    sx_memberships_init(&server->memberships, server->seed);
    sx_psets_init(server);
    sx_publish_init(server);
    sx_list_init(&server->job.resources);
    sx_list_init(&server->entry.strangers.silent);
    sx_list_init(&server->entry.strangers.asked);
    sx_list_init(&server->entry.strangers.joining);
    sx_list_init(&server->port.host.calls);
    sx_registry_init(&server->registry);
    sx_cleanup_queues_init(&server->brooms);
    sx_turn_init(&server->turn);
    sx_endings_init(server);
}

static pmix_status_t server_build(struct sx_server *server, const pmix_server_module_t *module,
                                  const struct sx_server_options *options)
{
    struct sx_rendezvous_options rendezvous;
    pmix_status_t rc;

    sx_log_begin();
    sx_log_set_name("server");
    server_clear(server, module);
    rc = sx_log_bound_init(server);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_logging_init(server, options);
    sx_iof_init(server);
    sx_input_init(server);
    rc = sx_spin_init(&server->spin);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_pendings_init(server);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_group_values_init(server);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_events_init(server, options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_gets_init(server, options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    server->port.lane_buffer = aligned_alloc(8, SX_LANE_MESSAGE_MAX);
    if (server->port.lane_buffer == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = options_take(server, options, &rendezvous);
    if (rc == PMIX_SUCCESS) {
        rc = numa_begin(server, options);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_server_topology_open(options);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_loop_new(&server->loop);
    }
    if (rc == PMIX_SUCCESS) {
        const struct sx_placement placement = sx_numa_place(&server->numa, SX_SEGMENT_BOARD, 0);

        rc = sx_board_create(&server->board, server->self.nspace, &placement);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_shown_init(server);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_rendezvous_open(&server->rendezvous, &rendezvous);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_strangers_listen(server);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_gateway_open(server, options->gateway);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_contacts_open(server, options);
    }
    return rc;
}

pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[], size_t ninfo)
{
    struct sx_server_options options = { 0 };

    if (is_forked()) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    pmix_status_t rc = sx_options_read(SX_OF_SERVER_INIT, info, ninfo, &options);

    if (rc == PMIX_SUCCESS) {
        rc = sx_role_may_wait(); /* for a server that is just ending */
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&life_lock);
    if (init_count > 0) {
        init_count++;
        pthread_mutex_unlock(&life_lock);
        return PMIX_SUCCESS;
    }
    struct sx_server *server = calloc(1, sizeof(*server));

    if (server == NULL) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    } else {
        rc = server_build(server, module, &options);
        if (rc == PMIX_SUCCESS) {
            sx_turn_hook(server);
            sx_hostevent_serve(server);
            sx_log_bound_begin();
            sx_server_set(server); /* a tool may connect before this thread continues */
            rc = thread_start(server);
        }
        if (rc == PMIX_SUCCESS) {
            init_count = 1;
            sx_journal_server_started(server);
            sx_role_server_set(&sx_hostget_role);
        } else {
            sx_server_set(NULL);
            server_free(server);
        }
    }
    pthread_mutex_unlock(&life_lock);
    return rc;
}

/* ---- end ----------------------------------------------------------------------------------- */

static void loop_stop(struct sx_server *server)
{
    sx_loop_stop(server->loop);
}

/* The steps of the end are done in between: the host may call any function of the server. */
static void calls_make(struct sx_server *server)
{
    sx_engine_leave(server);
    sx_host_calls_make(server);
    sx_engine_enter(server);
}

static pmix_status_t server_empty(struct sx_server *server, void *arg)
{
    (void)arg;
    sx_endings_finish(server);
    calls_make(server); /* those that waited for that */
    server->port.host.ending = true;
    SX_FAMILIES_NOTIFY(server, finish, server);
    sx_strangers_end(server);
    sx_connection_end_all(server);
    calls_make(server); /* clients that have gone */
    sx_upcall_forget_all(server);
    SX_FAMILIES_NOTIFY(server, stop, server);
    calls_make(server); /* the host's own requests */
    sx_registry_deinit(server);
    sx_memberships_deinit(server);
    SX_FAMILIES_NOTIFY(server, end, server);
    calls_make(server);
    sx_cleanup_queues_end(server, loop_stop);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_server_finalize(void)
{
    if (is_forked()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = sx_role_may_wait();

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&life_lock);
    struct sx_server *server = sx_server_get();

    if (server == NULL) {
        pthread_mutex_unlock(&life_lock);
        return PMIX_ERR_INIT;
    }
    if (--init_count > 0) {
        pthread_mutex_unlock(&life_lock);
        return PMIX_SUCCESS;
    }
    sx_role_server_set(NULL);
    sx_contacts_close(server);
    sx_server_call(server, server_empty, NULL); /* which ends the loop */
    pthread_join(server->thread, NULL);
    sx_server_set(NULL);
    sx_hostget_clear();
    sx_log_bound_end(server);
    sx_log(SX_LOG_INFO, "server %s.%u has ended", server->self.nspace, server->self.rank);
    sx_log_set_name(NULL);
    server_free(server);
    pthread_mutex_unlock(&life_lock);
    sx_callbacks_wait(); /* they may call functions that want the lock */
    return PMIX_SUCCESS;
}
