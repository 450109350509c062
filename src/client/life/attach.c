/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attach.c - PMIx_Init and PMIx_Finalize: the beginning and the end of a client or tool.
 *
 *     environment --connect, HELLO--> WELCOME with five descriptors --map, close--> READY
 *         \--no server named or reachable--> READY as a singleton (PMIX_ERR_UNREACH)
 *     a singleton --PMIx_Init with PMIX_SERVER_URI: connect, HELLO, WELCOME--> READY
 *     a tool (tool.c), a command --HELLO, WELCOME with five descriptors and its name--> READY
 *
 * No thread is started and no file read.  Init and Finalize are counted; they may race, since all
 * but the last Finalize's tear-down happens under life_lock, and that is announced as ENDING. */
#include "client/life/life.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/system/process.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "client/data/data.h"
#include "client/data/view.h"
#include "client/event/event.h"
#include "client/event/event_state.h"
#include "client/iof/iof.h"
#include "client/link/op.h"
#include "client/link/wait.h"
#include "client/manage/manage.h"
#include "client/native/native.h"
#include "control/contact.h"
#include "control/rendezvous.h"

#define SX_HELLO_TIMEOUT_NS (30 * SX_NS_PER_SEC)
#define SX_FINALIZE_TIMEOUT_NS (5 * SX_NS_PER_SEC)

static const struct sx_intake *const intakes[] = {
    &sx_gate_intake,
    &sx_event_intake,
    &sx_native_intake,
    NULL,
};

/* ---- fork --------------------------------------------------------------------------------- */

/* A child must find private stores and handlers in a consistent state; other locks guard state that
 * the child drops. */
static void fork_prepare(void)
{
    pthread_mutex_lock(&sx_process.data_lock);
    pthread_mutex_lock(&sx_events.lock);
    pthread_mutex_lock(&sx_handlers_lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&sx_handlers_lock);
    pthread_mutex_unlock(&sx_events.lock);
    pthread_mutex_unlock(&sx_process.data_lock);
}

/* The child keeps the mappings and reads them.  Lane and socket belong to the parent: for the
 * server they are of one process. */
static void link_forked(struct sx_link *link)
{
    pthread_mutex_init(&link->lane_lock, NULL);
    pthread_cond_init(&link->commit_over, NULL);
    sx_list_init(&link->requests);
    sx_list_init(&link->collectives);
    atomic_store(&link->committing, false);
    link->commit_waiters = 0;
    link->collective_count = 0;
    if (sx_link_is_live(link)) {
        atomic_store(&link->state, SX_LINK_DETACHED);
    }
}

static void fork_child(void)
{
    struct sx_process *const p = &sx_process;
    pthread_mutex_t *const locks[] = { &p->life_lock, &p->view_lock, &p->lock };

    fork_parent(); /* this thread releases the locks of fork_prepare here as well */
    sx_grace_forked();
    for (size_t i = 0; i < SX_COUNT(locks); i++) {
        pthread_mutex_init(locks[i], NULL);
    }
    pthread_cond_init(&p->life_cond, NULL);
    pthread_cond_init(&p->quiet, NULL);
    pthread_cond_init(&p->linked, NULL);
    sx_wakefd_forget();
    for (unsigned i = 0; i < p->link_count; i++) {
        link_forked(p->links[i]);
    }
    sx_list_init(&p->tasks);
    sx_pulls_forked();
    sx_input_forked();
    sx_event_forked();
    sx_periodics_forked();
    sx_launcher_forked();
    sx_forkexec_forked();
    sx_keepalive_forked();
    p->waiter_count = 0;
    p->thread_running = p->progressing = false;
    p->progress_watchers = 0;
    p->thread_generation++;
    if (atomic_load(&p->state) == SX_PROCESS_ENDING) {
        atomic_store(&p->state, SX_PROCESS_NONE); /* its ending thread is not here */
    }
}

static void fork_handlers_add(void)
{
    static bool added; /* under life_lock; fork handlers cannot be removed */

    if (!added) {
        added = pthread_atfork(fork_prepare, fork_parent, fork_child) == 0;
    }
}

/* ---- attach ------------------------------------------------------------------------------- */

/* The name of this process, from the launcher.  Return: PMIX_ERR_UNREACH without a launcher. */
static pmix_status_t identity_read(pmix_proc_t *ret_self)
{
    const char *const nspace = getenv("PMIX_NAMESPACE");
    const char *const rank = getenv("PMIX_RANK");
    unsigned long number;
    char *end;

    if (nspace == NULL) {
        return PMIX_ERR_UNREACH;
    }
    const size_t len = strlen(nspace);
    if (len == 0 || len > PMIX_MAX_NSLEN) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "PMIX_NAMESPACE has %zu bytes; 1 to %d are allowed. Start this program "
                        "with its launcher, or unset the variable",
                        len, PMIX_MAX_NSLEN);
    }
    errno = 0;
    number = rank != NULL && rank[0] >= '0' && rank[0] <= '9' ? strtoul(rank, &end, 10) : 0;
    if (rank == NULL || rank[0] < '0' || rank[0] > '9' || *end != '\0' || errno != 0 ||
        number >= PMIX_RANK_VALID) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "PMIX_RANK is \"%.32s\", not a rank below %u. Start this program with its "
                        "launcher, or unset PMIX_NAMESPACE",
                        rank != NULL ? rank : "", PMIX_RANK_VALID);
    }
    memset(ret_self, 0, sizeof(*ret_self));
    memcpy(ret_self->nspace, nspace, len);
    ret_self->rank = (pmix_rank_t)number;
    return PMIX_SUCCESS;
}

static pmix_status_t hello_send(const struct sx_link *link, const struct sx_introduction *as,
                                uint64_t deadline_ns)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION,
                              .role = as->role,
                              .rank = link->self.rank,
                              .pid = as->pid,
                              .library = as->library,
                              .flags = sx_link_sleeps_by_any(link) ? SX_HELLO_NO_WAITV : 0 };
    const struct iovec iov = { &hello, sizeof(hello) };

    memcpy(hello.nspace, link->self.nspace, sizeof(hello.nspace));
    if (as->home != NULL) {
        memcpy(hello.home, as->home, strnlen(as->home, sizeof(hello.home) - 1));
    }
    return sx_frame_send(link->socket_fd, SX_MSG_HELLO, 1, &iov, 1, deadline_ns);
}

/* Map the descriptors of the server.  The frame keeps those that are not taken over. */
static pmix_status_t welcome_map(struct sx_link *link, struct sx_frame *frame,
                                 struct sx_store *ret_store)
{
    const struct sx_welcome *const welcome = frame->body;

    pmix_status_t rc = sx_board_attach(&link->board, frame->fds[SX_WELCOME_BOARD]);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (welcome->slot >= link->board.slot_count) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "slot %" PRIu32 " of a board with %" PRIu32,
                        welcome->slot, link->board.slot_count);
    }
    link->slot_index = welcome->slot;
    link->collectives_max = welcome->collectives_max;
    link->slot = &link->board.slots[welcome->slot];
    /* relaxed: stored before the welcome was sent. */
    link->slot_claims = atomic_load_explicit(&link->slot->claims, memory_order_relaxed);
    rc = sx_lane_attach(&link->lane, frame->fds[SX_WELCOME_LANE], &link->board, welcome->slot,
                        frame->fds[SX_WELCOME_DOORBELL]);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    frame->fds[SX_WELCOME_DOORBELL] = -1; /* the lane has it now */
    link->committed = false;
    rc = sx_lane_live(&link->lane);
    if (rc == PMIX_SUCCESS) {
        rc = sx_ring_attach(&link->ring, frame->fds[SX_WELCOME_RING]);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_attach(ret_store, frame->fds[SX_WELCOME_STORE]);
    }
    return rc;
}

static const char *name_of(const struct sx_link *link)
{
    return link->self.nspace[0] != '\0' ? link->self.nspace : "its tools";
}

/* Set the rank as this process's name in log lines, unless a server in this process has set its
 * own. */
static void speaker_name(const pmix_proc_t *self)
{
    char name[32];

    snprintf(name, sizeof(name), "rank %" PRIu32, self->rank);
    if (sx_role_server_get() == NULL) {
        sx_log_set_name(name);
    }
}

/* The server has given this process a name.  The first server's name is used, unless the process
 * has one already, which threads may be reading. */
static void names_take(struct sx_process *p, struct sx_link *link, const struct sx_welcome *welcome)
{
    link->self.rank = welcome->rank;
    memcpy(link->self.nspace, welcome->nspace, sizeof(link->self.nspace));
    link->server.rank = welcome->server_rank;
    memcpy(link->server.nspace, welcome->server_nspace, sizeof(link->server.nspace));
    if (p->own == NULL) {
        p->self = link->self;
        speaker_name(&p->self);
    }
}

/* The reason for a server that gives none: it is of another version. */
static const char *refusal_remedy(pmix_status_t status)
{
    switch (status) {
    case PMIX_ERR_OUT_OF_RESOURCE:
        return ": it has no descriptor or memory left for it; raise the server's limits "
               "(ulimit -n)";
    case PMIX_ERR_NOT_SUPPORTED:
        return ": it has another version of shmix (give both the same libpmix.so.2), or its host "
               "takes no tools";
    default:
        return "";
    }
}

static pmix_status_t refusal_raise(const struct sx_link *link, const struct sx_welcome *welcome)
{
    const bool has_reason = welcome->nspace[0] != '\0';

    return SX_RAISE(welcome->status, "the server refuses rank %" PRIu32 " of %s%s%.255s",
                    link->self.rank, name_of(link), has_reason ? ": it " : "",
                    has_reason ? welcome->nspace : refusal_remedy(welcome->status));
}

static pmix_status_t welcome_receive(struct sx_process *p, struct sx_link *link,
                                     uint64_t deadline_ns, struct sx_store *ret_store)
{
    _Alignas(8) uint8_t bytes[SX_FRAME_MAX]; /* the process's may be in use */
    struct sx_frame frame;

    pmix_status_t rc = sx_frame_receive(link->socket_fd, bytes, &frame, deadline_ns);
    if (rc != PMIX_SUCCESS) {
        return SX_RAISE(rc, "the server did not welcome rank %" PRIu32 " of %s", link->self.rank,
                        name_of(link));
    }
    const struct sx_welcome *const welcome = frame.body;
    if (frame.header.kind != SX_MSG_WELCOME) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "message %u instead of a welcome", frame.header.kind);
    } else if (welcome->status != PMIX_SUCCESS) {
        rc = refusal_raise(link, welcome);
    } else if (frame.fd_count != SX_WELCOME_FDS) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "a welcome with %d descriptors", frame.fd_count);
    } else if (p->own != NULL && link == &p->first &&
               (p->self.rank != welcome->rank || strcmp(p->self.nspace, welcome->nspace) != 0)) {
        rc = SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                      "the server's host calls this process %.255s.%" PRIu32
                      ", and it has the name "
                      "%s.%" PRIu32 " already: attach first",
                      welcome->nspace, welcome->rank, p->self.nspace, p->self.rank);
    } else {
        pthread_mutex_lock(&p->lock); /* a singleton may have threads that read it */
        rc = welcome_map(link, &frame, ret_store);
        names_take(p, link, welcome);
        pthread_mutex_unlock(&p->lock);
    }
    sx_frame_release(&frame);
    return rc;
}

/* From here on all threads may use the link.  A process that was a singleton until now queues its
 * earlier puts for the next commit.  *ret_before: handlers that were registered before it have
 * smaller ids. */
static pmix_status_t link_begin(struct sx_process *p, struct sx_link *link, size_t *ret_before)
{
    const bool joins = sx_process_ready(); /* else there are no other threads here yet */

    pthread_mutex_lock(&p->lock);
    sx_ring_seek_now(&link->cursor, &link->ring);
    /* No request is sent yet, so the bell did not ring for an answer. */
    link->bell_seen = sx_door_epoch(&link->slot->bell);
    *ret_before = joins ? sx_handlers_next(sx_event_handlers()) : 0;
    pthread_mutex_lock(&p->data_lock);
    const pmix_status_t rc = link == &p->first ? sx_puts_gather_locked(p) : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS) {
        if (link != &p->first) {
            p->links[p->link_count++] = link;
        }
        /* release: a thread that sees the link sees its content. */
        atomic_store_explicit(&link->state, SX_LINK_LIVE, memory_order_release);
        pthread_cond_broadcast(&p->linked);
    }
    pthread_mutex_unlock(&p->data_lock);
    if (joins) {
        sx_local_ring_locked(); /* sleeping threads have more words to watch now */
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

static void connected_log(const struct sx_link *link)
{
    struct ucred server = { .pid = 0 };
    socklen_t size = sizeof(server);

    if (sx_log_wants(SX_LOG_INFO)) {
        (void)getsockopt(link->socket_fd, SOL_SOCKET, SO_PEERCRED, &server, &size);
        sx_log(SX_LOG_INFO, "rank %" PRIu32 " of %s is connected to server %s.%" PRIu32 ", pid %d",
               link->self.rank, link->self.nspace, link->server.nspace, link->server.rank,
               (int)server.pid);
    }
}

pmix_status_t sx_life_introduce(struct sx_process *p, struct sx_link *link,
                                const struct sx_introduction *as, uint64_t deadline_ns,
                                size_t *ret_before)
{
    const bool is_first = link == &p->first;
    struct sx_store store = SX_STORE_NULL;

    if (is_first) {
        link->self = p->self;
    }
    pmix_status_t rc = hello_send(link, as, deadline_ns);

    if (rc == PMIX_SUCCESS) {
        rc = welcome_receive(p, link, deadline_ns, &store);
    }
    if (rc == PMIX_SUCCESS && is_first && p->own != NULL) {
        rc = sx_view_adopt(p->own, &store);
    } else if (rc == PMIX_SUCCESS && is_first) {
        /* A process that does not belong to the job fetches its store like any other. */
        p->own = sx_view_open(p->self.nspace, as->home == NULL ? &store : NULL);
        rc = p->own != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS || as->home != NULL || !is_first) {
        sx_store_detach(&store);
    }
    rc = rc == PMIX_SUCCESS ? link_begin(p, link, ret_before) : rc;
    if (rc == PMIX_SUCCESS) {
        connected_log(link);
    }
    return rc;
}

static struct sx_introduction as_client = { .role = SX_PEER_CLIENT }; /* with life_lock */

/* @uri: NULL: the URI of the server that the environment names.  Return: PMIX_ERR_UNREACH when no
 * server listens there. */
static pmix_status_t attach(struct sx_process *p, const char *uri, size_t *ret_before)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_HELLO_TIMEOUT_NS);
    const pmix_status_t rc = uri != NULL ? sx_rendezvous_connect_uri(PMIX_SERVER_URI, uri,
                                                                     &p->first.socket_fd)
                                         : sx_rendezvous_connect(&p->first.socket_fd);

    return rc == PMIX_SUCCESS ? sx_life_introduce(p, &p->first, &as_client, deadline_ns, ret_before)
                              : rc;
}

/* A thread that gets lane_lock from here on finds that there is no link.  A commit that waited for
 * the server has returned from its wait, and releases its resources. */
static void lane_close(struct sx_link *link)
{
    pthread_mutex_lock(&link->lane_lock);
    link->commit_waiters++;
    while (atomic_load(&link->committing)) {
        pthread_cond_wait(&link->commit_over, &link->lane_lock);
    }
    link->commit_waiters--;
    sx_lane_detach(&link->lane);
    pthread_mutex_unlock(&link->lane_lock);
}

/* Unmap and close the parts of the link. */
static void link_discard(struct sx_link *link)
{
    sx_ring_deinit(&link->ring);
    sx_board_deinit(&link->board);
    link->slot = NULL;
    sx_window_deinit(&link->window);
    if (link->socket_fd >= 0) {
        close(link->socket_fd);
        link->socket_fd = -1;
    }
}

static void link_free(struct sx_link *link)
{
    pthread_mutex_destroy(&link->lane_lock);
    pthread_cond_destroy(&link->commit_over);
    free(link);
}

/* From here on no thread uses any link but the first, which stays. */
static void links_forget(struct sx_process *p)
{
    for (unsigned i = 0; i < p->link_count; i++) {
        link_discard(p->links[i]);
        if (i > 0) {
            link_free(p->links[i]);
        }
    }
    p->link_count = 1;
}

static void process_close(struct sx_process *p)
{
    atomic_store(&p->primary, &p->first);
    atomic_store(&p->first.state, SX_LINK_SINGLETON);
    for (unsigned i = 0; i < p->link_count; i++) {
        lane_close(p->links[i]);
    }
    sx_native_deinit();
    sx_native_groups_deinit();
    sx_native_events_deinit();
    sx_wakefd_deinit();
    sx_view_close_all();
    p->own = NULL;
    p->is_tool = false;
    sx_keep_deinit();
    sx_box_deinit();
    sx_puts_deinit(&p->puts);
    links_forget(p);
}

/* Reset the process before anything is mapped. */
static void link_reset(struct sx_link *link)
{
    link->socket_fd = -1;
    link->window = SX_WINDOW_NULL;
    link->board = SX_BOARD_NULL;
    link->lane = SX_LANE_NULL;
    link->ring = SX_RING_NULL;
    link->slot = NULL;
    link->results_asked = link->results_again = false;
    atomic_store(&link->published, SX_PUBLISHED_UNUSED);
}

static void process_begin(struct sx_process *p)
{
    sx_log_begin();
    link_reset(&p->first);
    p->thread_stop = false;
    p->intakes = intakes;
    (void)sx_spin_init(&p->wait_spin); /* an error is logged once */
    p->event_spin = p->wait_spin;
    fork_handlers_add();
    sx_grace_init();
}

static void process_show(struct sx_process *p)
{
    p->nspace_len = strlen(p->self.nspace);
    /* R-ready -> A-ready (sx_process_ready): everything above is in place. */
    atomic_store_explicit(&p->state, SX_PROCESS_READY, memory_order_release);
}

pmix_status_t sx_life_attach_rank(struct sx_process *p)
{
    size_t handlers; /* there are no handlers yet */
    pmix_status_t rc = identity_read(&p->self);

    if (rc == PMIX_SUCCESS) {
        rc = attach(p, NULL, &handlers);
        if (rc == PMIX_ERR_UNREACH) {
            sx_foreign_server_notify(&p->self);
        }
    }
    return rc;
}

/* Return: PMIX_SUCCESS or PMIX_ERR_UNREACH, and READY; else nothing has been opened. */
static pmix_status_t process_open(struct sx_process *p)
{
    process_begin(p);
    const bool is_named = getenv("PMIX_NAMESPACE") != NULL;
    pmix_status_t rc = sx_life_attach_rank(p);
    if (rc == PMIX_ERR_UNREACH) {
        if (!is_named) {
            sx_foreign_parent_notify();
        }
        process_close(p);
        const pmix_status_t alone = sx_singleton_open(p, &(pmix_proc_t){ .nspace = "" });
        rc = alone == PMIX_SUCCESS ? PMIX_ERR_UNREACH : alone;
    }
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_UNREACH) {
        process_close(p);
        return rc;
    }
    process_show(p);
    return rc;
}

pmix_status_t sx_tool_attach(int fd, const char *home, uint64_t deadline_ns)
{
    struct sx_process *const p = &sx_process;
    const struct sx_introduction as = { .role = SX_PEER_COMMAND, .home = home };
    size_t handlers;

    pthread_mutex_lock(&p->life_lock);
    process_begin(p);
    p->first.socket_fd = fd;
    p->self = (pmix_proc_t){ .nspace = "" };
    const pmix_status_t rc = sx_life_introduce(p, &p->first, &as, deadline_ns,
                                               &handlers); /* no handlers yet */
    if (rc == PMIX_SUCCESS) {
        p->init_count = 1;
        process_show(p);
    } else {
        process_close(p);
    }
    pthread_mutex_unlock(&p->life_lock);
    return rc;
}

/* Wait, with life_lock, while another thread tears down.  Return: PMIX_ERR_NOT_SUPPORTED from a
 * callback, which that thread waits for. */
static pmix_status_t ending_wait(struct sx_process *p)
{
    while (atomic_load(&p->state) == SX_PROCESS_ENDING) {
        if (sx_progress_is_own_thread()) {
            return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                            "another thread is in PMIx_Finalize and waits for this callback, which "
                            "cannot wait for it");
        }
        pthread_cond_wait(&p->life_cond, &p->life_lock);
    }
    return PMIX_SUCCESS;
}

/* The first call decides whether there will be a thread.  Return: PMIX_ERR_NOT_SUPPORTED for a
 * later one that insists on something else. */
static pmix_status_t progress_choose(struct sx_process *p, const struct sx_init_options *options)
{
    const pmix_info_t *const found = options->external;
    const bool external = found != NULL && sx_value_is_true(&found->value);

    if (p->init_count == 0) {
        p->external = external;
        return sx_thread_choose(options);
    }
    if (found != NULL && p->external != external && (found->flags & PMIX_INFO_REQD) != 0) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "\"%s\" is for the first PMIx_Init of a process, this is a later one",
                        PMIX_EXTERNAL_PROGRESS);
    }
    return PMIX_SUCCESS;
}

/* Open MPI, in all versions, checks for this status alone when a name is published twice. */
static void library_note(const pmix_info_t *info)
{
    if (strcmp(info->key, PMIX_MODEL_LIBRARY_NAME) == 0 && info->value.type == PMIX_STRING &&
        info->value.data.string != NULL && strcmp(info->value.data.string, "OpenMPI") == 0) {
        atomic_store(&sx_process.says_exists, true);
    }
}

/* Any Init may declare a programming model: libraries of this process with handlers for such
 * events, now or later, receive all its infos that can be copied.  Default handlers do not receive
 * this event. */
static void model_declare(const struct sx_init_options *options, const pmix_info_t *info,
                          size_t ninfo)
{
    pmix_info_t *const notified = options->model != NULL ? malloc((ninfo + 1) * sizeof(*notified))
                                                         : NULL;
    size_t count = 0, size;

    if (notified == NULL) {
        return;
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (sx_flat_size(&info[i].value, &size) == PMIX_SUCCESS) {
            library_note(&info[i]);
            notified[count++] = info[i];
        }
    }
    memset(&notified[count], 0, sizeof(*notified));
    memcpy(notified[count].key, PMIX_EVENT_NON_DEFAULT, sizeof(PMIX_EVENT_NON_DEFAULT));
    notified[count].value.type = PMIX_BOOL;
    notified[count++].value.data.flag = true;
    (void)sx_event_declare(PMIX_MODEL_DECLARED, notified, count); /* else no handler receives it */
    free(notified);
}

/* May the process, which is a singleton, join a server? */
static pmix_status_t join_judge(const struct sx_process *p)
{
    return sx_wakefd_is_used() || p->own->is_plain
               ? SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                          "a process that has used shmix_fd or shmix_job_open on its own cannot "
                          "join a server: join first")
               : PMIX_SUCCESS;
}

static void join_undo(struct sx_process *p)
{
    lane_close(&p->first);
    pthread_mutex_lock(&p->lock);
    link_discard(&p->first);
    pthread_mutex_unlock(&p->lock);
}

/* Is there a place for one more link? */
static pmix_status_t place_judge(struct sx_process *p)
{
    unsigned live = 0;

    pthread_mutex_lock(&p->lock);
    const unsigned count = p->link_count;
    for (unsigned i = 0; i < count; i++) {
        live += sx_link_is_live(p->links[i]);
    }
    pthread_mutex_unlock(&p->lock);
    if (sx_wakefd_is_used()) {
        return SX_RAISE(
            PMIX_ERR_NOT_SUPPORTED,
            "a process that has used shmix_fd cannot attach to a further server: attach "
            "first");
    }
    if (live >= SX_LINKS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "this process has %u servers, as many as there can be at a time: "
                        "PMIx_tool_disconnect from one first",
                        live);
    }
    return count < SX_LINKS_EVER_MAX
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "this process has been attached to %u servers, as many as there can be "
                          "between PMIx_tool_init and the last PMIx_tool_finalize",
                          count);
}

pmix_status_t sx_life_add(struct sx_process *p, int fd, const struct sx_introduction *as,
                          uint64_t deadline_ns, struct sx_link **ret_link, size_t *ret_before)
{
    pmix_status_t rc = place_judge(p);
    struct sx_link *const link = rc == PMIX_SUCCESS ? calloc(1, sizeof(*link)) : NULL;

    if (link == NULL) {
        close(fd);
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
    }
    pthread_mutex_init(&link->lane_lock, NULL);
    pthread_cond_init(&link->commit_over, NULL);
    sx_list_init(&link->requests);
    sx_list_init(&link->collectives);
    link_reset(link);
    link->place = p->link_count;
    link->socket_fd = fd;
    link->self = as->name;
    rc = sx_life_introduce(p, link, as, deadline_ns, ret_before);
    if (rc != PMIX_SUCCESS) {
        lane_close(link);
        link_discard(link);
        link_free(link);
        return rc;
    }
    *ret_link = link;
    return PMIX_SUCCESS;
}

pmix_status_t sx_life_join(struct sx_process *p, int fd, const struct sx_introduction *as,
                           uint64_t deadline_ns, size_t *ret_before)
{
    pmix_status_t rc = join_judge(p);

    if (rc != PMIX_SUCCESS) {
        close(fd);
        return rc;
    }
    p->first.socket_fd = fd;
    rc = sx_life_introduce(p, &p->first, as, deadline_ns, ret_before);
    if (rc != PMIX_SUCCESS) {
        join_undo(p);
    }
    return rc;
}

/* A singleton joins the server at @uri, under the name that it has given itself: the host of that
 * server has registered that name. */
static pmix_status_t server_join(struct sx_process *p, const pmix_info_t *uri, size_t *ret_before)
{
    const char *const address = uri->value.type == PMIX_STRING && uri->value.data.string != NULL
                                    ? sx_contact_address(uri->value.data.string, NULL)
                                    : NULL;

    if (address == NULL) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "\"%s\" names no server of this library: \"NSPACE.RANK;unix:...\" is "
                        "wanted",
                        PMIX_SERVER_URI);
    }
    pmix_status_t rc = join_judge(p);

    if (rc == PMIX_SUCCESS) {
        rc = attach(p, address, ret_before);
        if (rc != PMIX_SUCCESS) {
            join_undo(p);
        }
    }
    return rc;
}

/* Follow the infos of an Init that name a server.  *ret_before: as attach, when one was joined.
 * Return: @rc, the result so far, when no info names one. */
static pmix_status_t server_choose(struct sx_process *p, const pmix_info_t *uri, pmix_status_t rc,
                                   size_t *ret_before)
{
    const char *const text = uri != NULL && uri->value.type == PMIX_STRING ? uri->value.data.string
                                                                           : NULL;
    char name[PMIX_MAX_NSLEN + 16];

    if (uri == NULL || (rc != PMIX_SUCCESS && rc != PMIX_ERR_UNREACH)) {
        return rc;
    }
    if (sx_link_is_singleton(&p->first)) {
        const pmix_status_t joined = server_join(p, uri, ret_before);

        return joined != PMIX_SUCCESS && p->init_count == 0 ? PMIX_ERR_UNREACH : joined;
    }
    snprintf(name, sizeof(name), "%s.%" PRIu32 ";", sx_primary()->server.nspace,
             sx_primary()->server.rank);
    if ((uri->flags & PMIX_INFO_REQD) != 0 &&
        (text == NULL || strncmp(text, name, strlen(name)) != 0)) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED, "this process has another server than \"%s\" says",
                        PMIX_SERVER_URI);
    }
    return rc;
}

pmix_status_t sx_life_begin(const struct sx_init_options *options, sx_life_open_fn open, void *arg,
                            pmix_proc_t *ret_self)
{
    struct sx_process *const p = &sx_process;
    pmix_status_t rc = sx_role_may_wait();

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->life_lock);
    rc = ending_wait(p);
    if (rc == PMIX_SUCCESS) {
        rc = progress_choose(p, options);
    }
    if (rc == PMIX_SUCCESS && p->init_count == 0) {
        process_begin(p);
        rc = open(p, arg);
        if (rc == PMIX_SUCCESS) {
            process_show(p);
        } else {
            process_close(p);
        }
    }
    if (rc == PMIX_SUCCESS) {
        p->init_count++;
        *ret_self = p->self;
    }
    pthread_mutex_unlock(&p->life_lock);
    return rc;
}

pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    struct sx_process *const p = &sx_process;
    struct sx_init_options options = { 0 };
    size_t before = 0;

    bool first = false;

    pmix_status_t rc = sx_options_read(SX_OF_INIT, info, ninfo, &options);
    if (rc == PMIX_SUCCESS) {
        rc = sx_role_may_wait();
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->life_lock);
    rc = ending_wait(p);
    if (rc == PMIX_SUCCESS) {
        rc = progress_choose(p, &options);
    }
    if (rc == PMIX_SUCCESS && p->init_count == 0) {
        as_client.pid = (uint32_t)options.stands_for.number;
        as_client.library = (uint32_t)options.library.number;
        p->is_gateway = options.stands_for.given;
        p->stands_for = (pid_t)options.stands_for.number;
        rc = process_open(p);
    }
    rc = server_choose(p, options.server_uri, rc, &before);
    if (rc == PMIX_SUCCESS || (rc == PMIX_ERR_UNREACH && p->init_count == 0)) {
        p->init_count++;
        first = p->init_count == 1 && !sx_link_is_singleton(&p->first);
        if (proc != NULL) {
            *proc = p->self;
        }
        model_declare(&options, info, ninfo);
    }
    pthread_mutex_unlock(&p->life_lock);
    if (rc == PMIX_SUCCESS) {
        sx_event_register_again(&p->first, before);
    }
    if (rc == PMIX_SUCCESS && first) {
        rc = sx_debug_stop(&p->self);
        if (rc != PMIX_SUCCESS) {
            (void)PMIx_Finalize(NULL, 0);
        }
    }
    return rc;
}

int PMIx_Initialized(void)
{
    return sx_process_ready() || sx_role_server_get() != NULL ? 1 : 0;
}

/* ---- finalize ----------------------------------------------------------------------------- */

/* Sent with FINALIZE: has the server's process started this one itself, or the one that this one
 * stands for?  Then there is no wrapper that may start another one in its place. */
static void say_parent(struct sx_link *link)
{
    const pid_t parent = as_client.pid == 0 ? getppid() : sx_process_parent((pid_t)as_client.pid);
    struct ucred cred;
    socklen_t size = sizeof(cred);

    /* 0 stands for any process outside of our pid namespace: two zeros need not mean the same
     * process. */
    if (getsockopt(link->socket_fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.pid > 0 &&
        cred.pid == parent) {
        /* relaxed: FINALIZE is sent behind it. */
        atomic_store_explicit(&link->lane.line->no_wrapper, 1, memory_order_relaxed);
    }
}

void sx_life_good_bye(struct sx_link *link)
{
    struct sx_op op = SX_OP_INIT(&sx_op_plain, link);

    if (sx_link_is_live(link)) {
        say_parent(link);
        /* The answer does not matter: the server detects our end by the socket, too. */
        (void)sx_request(&op, SX_MSG_FINALIZE, NULL, 0,
                         sx_deadline_ns(sx_now_ns(), SX_FINALIZE_TIMEOUT_NS));
    }
}

/* Without life_lock, since callbacks that still run may ask for it. */
static void tear_down(struct sx_process *p)
{
    sx_keepalive_end();
    sx_forkexec_end();
    sx_launcher_end();
    sx_input_stop();
    sx_pulls_stop();                               /* while the server may still send */
    for (unsigned i = 0; i < p->link_count; i++) { /* none is added while this process is ENDING */
        sx_life_good_bye(p->links[i]);
    }
    sx_links_close();
    sx_periodics_stop();
    sx_progress_stop();
    sx_pulls_allow(); /* nothing is left that would begin one */
    sx_event_deinit();
    process_close(p);
}

/* May this call of PMIx_Finalize proceed?  With life_lock, which is released at times. */
static pmix_status_t finalize_judge(struct sx_process *p)
{
    pmix_status_t rc = sx_role_may_wait();

    if (rc == PMIX_SUCCESS) {
        rc = ending_wait(p);
    }
    return rc == PMIX_SUCCESS && p->init_count == 0 ? PMIX_ERR_INIT : rc;
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    struct sx_process *const p = &sx_process;
    struct sx_finalize_options options = { 0 };
    pmix_status_t fenced = PMIX_SUCCESS;

    if (info == NULL && ninfo != 0) {
        return sx_process_misused();
    }
    pthread_mutex_lock(&p->life_lock);
    pmix_status_t rc = finalize_judge(p);
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_FINALIZE, info, ninfo, &options);
    }
    if (rc == PMIX_SUCCESS && p->init_count == 1) {
        pthread_mutex_unlock(&p->life_lock); /* other threads and handlers may take any time */
        fenced = options.barrier ? PMIx_Fence(NULL, 0, NULL, 0) : PMIX_SUCCESS;
        sx_event_locals_wait();
        pthread_mutex_lock(&p->life_lock);
        rc = finalize_judge(p);
    }
    if (rc != PMIX_SUCCESS || p->init_count > 1) {
        p->init_count -= rc == PMIX_SUCCESS;
        pthread_mutex_unlock(&p->life_lock);
        return rc != PMIX_SUCCESS ? rc : fenced;
    }
    /* First of all: calls from now on are refused, and calls that read mappings to be unmapped have
     * the time of a round trip to finish. */
    atomic_store(&p->state, SX_PROCESS_ENDING);
    p->init_count = 0;
    pthread_mutex_unlock(&p->life_lock);

    tear_down(p);

    pthread_mutex_lock(&p->life_lock);
    atomic_store(&p->state, SX_PROCESS_NONE);
    pthread_cond_broadcast(&p->life_cond);
    pthread_mutex_unlock(&p->life_lock);
    return fenced;
}
