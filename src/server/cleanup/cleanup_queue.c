/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_queue.c - the server's side of the cleanup processes: queue, send, receive, reap.
 *
 * The process counts the paths done in memory that it shares with the server.  If it is killed,
 * paths that were sent and not counted are sent to the next process.  This happens as hosts kill
 * all children of a job, although they mean the ranks.
 *
 *     killed --at most LOST_MAX times without a path done--> another one at once
 *         --then--> after SX_CLEANUP_QUEUE_RETRY_NS, at the next path, or at the server's end
 *         --LOST_LAST times--> the path that it died of is left
 *
 * A process that makes no step is in a file system that does not answer, or is slow.  It keeps the
 * path that it is at, and may begin no further one.  Other paths of the same file system are held
 * until it ends.  All else is another process's. */
#include "server/cleanup/cleanup_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "server/cleanup/cleanup.h"

#define SX_CLEANUP_QUEUE_KILL_NS SX_NS_PER_SEC /* wait for a process that was killed */
#define LOST_MAX 3u
#define LOST_LAST (2 * LOST_MAX)

struct stalled {
    struct sx_list link; /* broom.stalled */
    struct sx_cleanup_queue *broom;
    struct sx_cleanup_queue_path *path; /* that it is at; NULL: it has just done it */
    char *realm;                        /* what lies here is held */
    struct sx_list held;
    struct sx_cleanup_process_done *done;
    uint64_t done_known;
    pid_t pid;
    int fd;
    struct sx_poll poll;
};

struct sx_cleanup_queue {
    struct sx_list link; /* brooms.list */
    struct sx_server *server;
    uid_t uid;
    gid_t gid;
    size_t registered;    /* paths that are not removed yet */
    struct sx_list queue; /* to be sent */
    size_t queue_bytes;   /* with those that are held */
    struct sx_list stalled;
    size_t stalled_count;
    struct sx_list sent; /* but not done as far as counted; bounded by the socket */
    struct sx_cleanup_process_done *done; /* the process's; NULL: no process */
    uint64_t done_known;                  /* the count in it when last read */
    uint64_t steps_known;                 /* of all kinds, likewise */
    struct sx_timer pace;                 /* while something is sent */
    unsigned lost;                        /* processes killed in a row with nothing done */
    size_t dropped_count;                 /* paths dropped from the queue since it was full */
    pid_t pid;                            /* 0: no process */
    int fd;
    bool ending; /* its socket was shut down: nothing more is sent */
    bool full;   /* it does not read; the poll reports when it does */
    bool logged; /* the log has a line that something of this user was left */
    struct sx_poll poll;
    struct sx_timer linger;
};

static void broom_flush(struct sx_cleanup_queue *broom);
static void pace_begin(struct sx_cleanup_queue *broom);

void sx_cleanup_queues_init(struct sx_cleanup_queues *brooms)
{
    sx_list_init(&brooms->list);
}

/* ---- paths --------------------------------------------------------------------------------- */

static struct sx_cleanup_queue *broom_obtain(struct sx_server *server, uid_t uid, gid_t gid)
{
    SX_LIST_EACH(it, &server->brooms.list) {
        struct sx_cleanup_queue *broom = SX_LIST_ENTRY(it, struct sx_cleanup_queue, link);

        if (broom->uid == uid && broom->gid == gid) {
            return broom;
        }
    }
    struct sx_cleanup_queue *broom = calloc(1, sizeof(*broom));

    if (broom != NULL) {
        broom->server = server;
        broom->uid = uid;
        broom->gid = gid;
        broom->fd = -1;
        sx_list_init(&broom->queue);
        sx_list_init(&broom->sent);
        sx_list_init(&broom->stalled);
        sx_list_append(&server->brooms.list, &broom->link);
    }
    return broom;
}

static void done_free(struct sx_cleanup_process_done *done)
{
    if (done != NULL) {
        munmap(done, sizeof(*done));
    }
}

static void broom_free(struct sx_cleanup_queue *broom)
{
    done_free(broom->done);
    sx_timer_remove(&broom->linger);
    sx_timer_remove(&broom->pace);
    sx_list_remove(&broom->link);
    free(broom);
}

static void broom_free_unused(struct sx_cleanup_queue *broom)
{
    if (broom->pid == 0 && broom->registered == 0 && sx_list_empty(&broom->queue) &&
        sx_list_empty(&broom->stalled)) {
        broom_free(broom);
    }
}

struct sx_cleanup_queue_path *sx_cleanup_queue_path_new(struct sx_server *server, uid_t uid,
                                                        gid_t gid, const char *path, size_t len,
                                                        uint32_t flags)
{
    const size_t size_bytes = sx_align_up(sizeof(struct sx_cleanup_unlink) + len + 1, 8);
    struct sx_cleanup_queue *broom = broom_obtain(server, uid, gid);
    struct sx_cleanup_queue_path *made = NULL;

    if (broom == NULL) {
        return NULL;
    }
    made = calloc(1, offsetof(struct sx_cleanup_queue_path, sweep) + size_bytes);
    if (made == NULL) {
        broom_free_unused(broom);
        return NULL;
    }
    sx_list_init(&made->given);
    made->broom = broom;
    made->gid = gid;
    made->len = len;
    made->sweep.size_bytes = (uint32_t)size_bytes;
    made->sweep.flags = flags;
    memcpy(made->sweep.path, path, len);
    sx_list_init(&made->link);
    broom->registered++;
    if (broom->pid != 0) {
        sx_timer_remove(&broom->linger);
    }
    return made;
}

/* ---- the life of the process --------------------------------------------------------------- */

static void notified_end(struct sx_server *server)
{
    struct sx_cleanup_queues *brooms = &server->brooms;

    if (brooms->ending && sx_list_empty(&brooms->list) && brooms->ended != NULL) {
        void (*const ended)(struct sx_server *) = brooms->ended;

        brooms->ended = NULL;
        sx_timer_remove(&brooms->deadline);
        ended(server);
    }
}

static size_t paths_free(struct sx_list *paths)
{
    struct sx_list *it;
    size_t count = 0;

    while ((it = sx_list_pop(paths)) != NULL) {
        free(SX_LIST_ENTRY(it, struct sx_cleanup_queue_path, link));
        count++;
    }
    return count;
}

/* Free the paths that the process has removed. */
static void sent_settle(struct sx_cleanup_queue *broom)
{
    /* A0 <- R0 (cleanup_process.c): what is counted has been removed. */
    const uint64_t done = broom->done == NULL
                              ? 0
                              : atomic_load_explicit(&broom->done->count, memory_order_acquire);

    for (; broom->done_known < done && !sx_list_empty(&broom->sent); broom->done_known++) {
        free(SX_LIST_ENTRY(sx_list_pop(&broom->sent), struct sx_cleanup_queue_path, link));
        broom->lost = 0;
    }
}

/* The process was killed: put the rest of what it was sent at the front of the queue again. */
static void sent_return(struct sx_cleanup_queue *broom)
{
    broom->lost += !sx_list_empty(&broom->sent);
    while (!sx_list_empty(&broom->sent)) {
        struct sx_cleanup_queue_path *const path = SX_LIST_ENTRY(broom->sent.prev,
                                                                 struct sx_cleanup_queue_path,
                                                                 link);

        sx_list_remove(&path->link);
        sx_list_append(broom->queue.next, &path->link);
        broom->queue_bytes += path->sweep.size_bytes;
    }
}

/* Drop the queue, and what was sent and is not done: none of it will be removed. */
static void queue_drop(struct sx_cleanup_queue *broom, const char *why)
{
    sent_settle(broom);
    const size_t count = paths_free(&broom->sent) + paths_free(&broom->queue);

    broom->queue_bytes = 0;
    if (count > 0) {
        sx_log(SX_LOG_WARN, "cleanup for uid %u: %zu paths are left: %s", (unsigned)broom->uid,
               count, why);
    }
}

/* Send nothing more to the process: it removes what it was sent and ends. */
static void broom_dismiss(struct sx_cleanup_queue *broom)
{
    sx_timer_remove(&broom->linger);
    shutdown(broom->fd, SHUT_WR);
    broom->ending = true;
}

static void linger_over(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    broom_dismiss(arg);
}

/* It has no process any more. */
static void broom_reset(struct sx_cleanup_queue *broom)
{
    sx_timer_remove(&broom->linger);
    sx_timer_remove(&broom->pace);
    broom->done = NULL;
    broom->fd = -1;
    broom->pid = 0;
    broom->ending = broom->full = broom->logged = false;
}

/* The process has closed its end, so it is about to exit. */
static void broom_reap(struct sx_cleanup_queue *broom)
{
    int status = 0;

    sx_poll_remove(&broom->poll);
    close(broom->fd);
    while (waitpid(broom->pid, &status, __WALL) < 0 && errno == EINTR) {
    }
    sent_settle(broom);
    if (status != 0 && !broom->server->brooms.killed) {
        sx_log(SX_LOG_INFO,
               "cleanup for uid %u: its process was ended by %s %d; what is left is another's",
               (unsigned)broom->uid, WIFSIGNALED(status) ? "signal" : "code",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        sent_return(broom);
    }
    sx_assert(sx_list_empty(&broom->sent));
    done_free(broom->done);
    broom_reset(broom);
}

static void report_notify(struct sx_cleanup_queue *broom,
                          const struct sx_cleanup_unlink_report *report)
{
    /* Log once per process, so that many paths left behind do not fill the log. */
    sx_log(broom->logged ? SX_LOG_INFO : SX_LOG_WARN,
           "cleanup for uid %u: %" PRIu64 " things are left, the first in '%s': %s",
           (unsigned)broom->uid, report->left_count, report->path,
           sx_cleanup_unlink_reason(report->error));
    broom->logged = true;
}

static void rest_over(void *arg, uint64_t now_ns)
{
    struct sx_cleanup_queue *const broom = arg;

    (void)now_ns;
    broom_flush(broom);
    broom_free_unused(broom);
}

static void broom_woken(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_cleanup_queue *broom = arg;
    struct sx_cleanup_unlink_report report;
    ssize_t size;

    while ((size = recv(broom->fd, &report, sizeof(report), MSG_DONTWAIT)) > 0) {
        if (size == (ssize_t)sizeof(report)) {
            report_notify(broom, &report);
        }
    }
    if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        struct sx_server *server = broom->server;

        broom_reap(broom);
        if (broom->lost < LOST_MAX || server->brooms.ending) {
            broom_flush(broom); /* paths queued meanwhile, and those not done */
        } else if (!sx_list_empty(&broom->queue)) {
            broom->linger.fn = rest_over;
            broom->linger.arg = broom;
            sx_timer_add(server->loop, &broom->linger, now_ns + SX_CLEANUP_QUEUE_RETRY_NS);
        }
        broom_free_unused(broom);
        notified_end(server);
    } else if ((revents & POLLOUT) != 0) {
        broom_flush(broom);
    }
}

static bool broom_start(struct sx_cleanup_queue *broom)
{
    sx_timer_remove(&broom->linger);
    void *const at = mmap(NULL, sizeof(*broom->done), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    broom->done = at == MAP_FAILED ? NULL : at;
    const pid_t pid = broom->done == NULL ? -1
                                          : sx_cleanup_process_start(broom->uid, broom->gid,
                                                                     broom->done, &broom->fd);

    broom->done_known = broom->steps_known = 0;
    if (pid < 0) {
        queue_drop(broom, strerror(errno));
        done_free(broom->done);
        broom->done = NULL;
        return false;
    }
    broom->pid = pid;
    broom->poll = (struct sx_poll){
        .fd = broom->fd, .events = POLLIN, .fn = broom_woken, .arg = broom
    };
    if (sx_poll_add(broom->server->loop, &broom->poll) != PMIX_SUCCESS) {
        queue_drop(broom, "the process that would remove them cannot be watched");
        kill(pid, SIGKILL);
        broom_reap(broom);
        return false;
    }
    return true;
}

/* ---- processes that stall ------------------------------------------------------------------ */

static void stalled_free(struct stalled *stalled)
{
    sx_poll_remove(&stalled->poll);
    close(stalled->fd);
    done_free(stalled->done);
    sx_list_remove(&stalled->link);
    stalled->broom->stalled_count--;
    free(stalled->path);
    free(stalled->realm);
    free(stalled);
}

/* It has ended: what it held goes on, and its path if it was killed. */
static void stalled_end(struct stalled *stalled)
{
    struct sx_cleanup_queue *const broom = stalled->broom;
    int status = 0;

    while (waitpid(stalled->pid, &status, __WALL) < 0 && errno == EINTR) {
    }
    /* A0 <- R0 (cleanup_process.c) */
    if (stalled->path != NULL && !broom->server->brooms.killed &&
        atomic_load_explicit(&stalled->done->count, memory_order_acquire) == stalled->done_known) {
        broom->queue_bytes += stalled->path->sweep.size_bytes;
        sx_list_append(&broom->queue, &stalled->path->link);
        stalled->path = NULL;
    }
    while (!sx_list_empty(&stalled->held)) {
        sx_list_append(&broom->queue, sx_list_pop(&stalled->held));
    }
    stalled_free(stalled);
}

static void stalled_woken(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct stalled *const stalled = arg;
    struct sx_cleanup_queue *const broom = stalled->broom;
    struct sx_server *const server = broom->server;
    struct sx_cleanup_unlink_report report;
    ssize_t size;

    (void)revents;
    (void)now_ns;
    while ((size = recv(stalled->fd, &report, sizeof(report), MSG_DONTWAIT)) > 0) {
        if (size == (ssize_t)sizeof(report)) {
            report_notify(broom, &report);
        }
    }
    if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        stalled_end(stalled);
        broom_flush(broom);
        broom_free_unused(broom);
        notified_end(server);
    }
}

/* Take what lies in the same file system out of the queue. */
static void queue_hold(struct sx_cleanup_queue *broom, struct stalled *stalled)
{
    SX_LIST_EACH(it, &broom->queue) {
        struct sx_cleanup_queue_path *const path = SX_LIST_ENTRY(it, struct sx_cleanup_queue_path,
                                                                 link);

        if (sx_cleanup_unlink_is_below(path->sweep.path, stalled->realm)) {
            sx_list_remove(&path->link);
            sx_list_append(&stalled->held, &path->link);
        }
    }
}

/* The list that @path waits in. */
static struct sx_list *list_of(struct sx_cleanup_queue *broom,
                               const struct sx_cleanup_queue_path *path)
{
    SX_LIST_EACH(it, &broom->stalled) {
        struct stalled *const stalled = SX_LIST_ENTRY(it, struct stalled, link);

        if (sx_cleanup_unlink_is_below(path->sweep.path, stalled->realm)) {
            return &stalled->held;
        }
    }
    return &broom->queue;
}

/* Return: NULL when memory is out, or it cannot be watched. */
static struct stalled *stalled_new(struct sx_cleanup_queue *broom)
{
    const struct sx_cleanup_queue_path *const at = SX_LIST_ENTRY(broom->sent.next,
                                                                 struct sx_cleanup_queue_path,
                                                                 link);
    struct stalled *const made = calloc(1, sizeof(*made));

    if (made == NULL || (made->realm = sx_cleanup_unlink_realm(at->sweep.path)) == NULL) {
        free(made);
        return NULL;
    }
    sx_list_init(&made->held);
    made->broom = broom;
    made->done = broom->done;
    made->pid = broom->pid;
    made->fd = broom->fd;
    made->poll = (struct sx_poll){
        .fd = broom->fd, .events = POLLIN, .fn = stalled_woken, .arg = made
    };
    return made;
}

/* Let the process do no more than the path that it is at, and give the rest to another one. */
static void broom_split(struct sx_cleanup_queue *broom)
{
    struct stalled *const stalled = stalled_new(broom);

    if (stalled == NULL) {
        return;
    }
    sx_poll_remove(&broom->poll);
    if (sx_poll_add(broom->server->loop, &stalled->poll) != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "cleanup for uid %u: its process is not watched", (unsigned)broom->uid);
    }
    /* relaxed: as in the process. */
    const uint64_t begun = atomic_fetch_or_explicit(&stalled->done->begun,
                                                    SX_CLEANUP_PROCESS_REVOKED,
                                                    memory_order_relaxed);

    sent_settle(broom);
    shutdown(stalled->fd, SHUT_WR);
    stalled->done_known = broom->done_known;
    if (begun > broom->done_known && !sx_list_empty(&broom->sent)) {
        stalled->path = SX_LIST_ENTRY(sx_list_pop(&broom->sent), struct sx_cleanup_queue_path,
                                      link);
        sx_log(SX_LOG_INFO, "cleanup for uid %u: '%.255s' does not answer; other paths go on",
               (unsigned)broom->uid, stalled->path->sweep.path);
    }
    sent_return(broom);
    broom->lost = 0;
    sx_list_append(&broom->stalled, &stalled->link);
    broom->stalled_count++;
    broom_reset(broom);
    queue_hold(broom, stalled);
    broom_flush(broom);
}

static void pace_look(void *arg, uint64_t now_ns)
{
    struct sx_cleanup_queue *const broom = arg;
    const struct sx_cleanup_process_done *const done = broom->done;

    (void)now_ns;
    sent_settle(broom);
    /* relaxed: whether they change is all that matters. */
    const uint64_t begun = atomic_load_explicit(&done->begun, memory_order_relaxed);
    const uint64_t steps = begun + atomic_load_explicit(&done->steps, memory_order_relaxed);
    const bool stalls = steps == broom->steps_known && begun > broom->done_known;

    broom->steps_known = steps;
    if (sx_list_empty(&broom->sent)) {
        return;
    }
    if (stalls && broom->stalled_count < SX_CLEANUP_QUEUE_STALLED_MAX) {
        broom_split(broom);
    }
    if (broom->pid > 0) {
        pace_begin(broom);
    }
}

/* Look at the process from time to time, until it has done what it was sent. */
static void pace_begin(struct sx_cleanup_queue *broom)
{
    if (broom->pace.source.loop == NULL && !sx_list_empty(&broom->sent)) {
        broom->pace.fn = pace_look;
        broom->pace.arg = broom;
        sx_timer_add(broom->server->loop, &broom->pace, sx_now_ns() + SX_CLEANUP_QUEUE_STALL_NS);
    }
}

/* ---- work ---------------------------------------------------------------------------------- */

/* As many paths of the queue as go into one packet.  Return: how many. */
static size_t packet_make(const struct sx_cleanup_queue *broom, char *packet, size_t *ret_size)
{
    size_t count = 0, size = 0;

    SX_LIST_EACH(it, &broom->queue) {
        const struct sx_cleanup_queue_path *path = SX_LIST_ENTRY(it, struct sx_cleanup_queue_path,
                                                                 link);

        if (path->sweep.size_bytes > SX_CLEANUP_UNLINK_PACKET_MAX - size) {
            break;
        }
        memcpy(packet + size, &path->sweep, path->sweep.size_bytes);
        size += path->sweep.size_bytes;
        count++;
    }
    *ret_size = size;
    return count;
}

/* Return: whether the process took a packet.  False: it is full, or gone, and its poll reports
 * which. */
static bool packet_send(struct sx_cleanup_queue *broom)
{
    _Alignas(8) char packet[SX_CLEANUP_UNLINK_PACKET_MAX];
    size_t size;
    size_t count = packet_make(broom, packet, &size);
    ssize_t sent;

    do {
        sent = send(broom->fd, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        return false;
    }
    while (count-- > 0) {
        sx_list_append(&broom->sent, sx_list_pop(&broom->queue));
    }
    sent_settle(broom);
    broom->queue_bytes -= size;
    pace_begin(broom);
    return true;
}

static void broom_set_full(struct sx_cleanup_queue *broom, bool full)
{
    if (broom->full != full) {
        broom->full = full;
        sx_poll_modify(&broom->poll, full ? POLLIN | POLLOUT : POLLIN);
    }
}

/* All is sent: decide whether the process is still needed. */
static void broom_rest(struct sx_cleanup_queue *broom)
{
    broom->dropped_count = 0;
    if (broom->server->brooms.ending) {
        broom_dismiss(broom);
    } else if (broom->registered == 0 && broom->linger.source.loop == NULL) {
        broom->linger.fn = linger_over;
        broom->linger.arg = broom;
        sx_timer_add(broom->server->loop, &broom->linger, sx_now_ns() + SX_CLEANUP_QUEUE_LINGER_NS);
    }
}

/* So many processes were killed at the first path of the queue that it is left. */
static void fatal_drop(struct sx_cleanup_queue *broom)
{
    struct sx_cleanup_queue_path *const path = SX_LIST_ENTRY(sx_list_pop(&broom->queue),
                                                             struct sx_cleanup_queue_path, link);

    sx_log(SX_LOG_WARN, "cleanup for uid %u: '%.255s' is left: %u processes were killed over it",
           (unsigned)broom->uid, path->sweep.path, broom->lost);
    broom->queue_bytes -= path->sweep.size_bytes;
    broom->lost = 0;
    free(path);
}

/* Send what the process takes. */
static void broom_flush(struct sx_cleanup_queue *broom)
{
    if (broom->pid == 0 && broom->lost >= LOST_LAST && !sx_list_empty(&broom->queue)) {
        fatal_drop(broom);
    }
    if (broom->ending || (broom->pid == 0 && sx_list_empty(&broom->queue))) {
        return;
    }
    if (broom->pid == 0 && !broom_start(broom)) {
        return;
    }
    while (!sx_list_empty(&broom->queue)) {
        if (!packet_send(broom)) {
            broom_set_full(broom, true);
            return;
        }
    }
    broom_set_full(broom, false);
    broom_rest(broom);
}

void sx_cleanup_queue_sweep(struct sx_cleanup_queue_path *path)
{
    struct sx_cleanup_queue *broom = path->broom;

    broom->registered--;
    if (broom->queue_bytes + path->sweep.size_bytes > SX_CLEANUP_QUEUE_QUEUE_MAX) {
        if (broom->dropped_count++ == 0) {
            sx_log(SX_LOG_WARN,
                   "cleanup for uid %u hangs in a file system: what exceeds %u bytes of paths is "
                   "left",
                   (unsigned)broom->uid, SX_CLEANUP_QUEUE_QUEUE_MAX);
        }
        free(path);
        return;
    }
    broom->queue_bytes += path->sweep.size_bytes;
    sx_list_append(list_of(broom, path), &path->link);
}

struct sx_cleanup_queue_path *sx_cleanup_queue_path_free(struct sx_cleanup_queue_path *path)
{
    struct sx_cleanup_queue *broom = path->broom;

    sx_list_remove(&path->link);
    sx_list_remove(&path->given);
    free(path);
    broom->registered--;
    broom_flush(broom); /* this path may have been the last one that kept the process */
    broom_free_unused(broom);
    return NULL;
}

void sx_cleanup_queues_go(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->brooms.list) {
        struct sx_cleanup_queue *broom = SX_LIST_ENTRY(it, struct sx_cleanup_queue, link);

        broom_flush(broom);
        broom_free_unused(broom);
    }
}

/* ---- the server's end ---------------------------------------------------------------------- */

/* The process was killed and has not exited, as the kernel holds it in a file system.  Abandon
 * it. */
static void broom_abandon(struct sx_cleanup_queue *broom)
{
    SX_LIST_EACH(it, &broom->stalled) {
        struct stalled *const stalled = SX_LIST_ENTRY(it, struct stalled, link);

        (void)waitpid(stalled->pid, NULL, __WALL | WNOHANG);
        stalled_free(stalled);
    }
    if (broom->pid > 0) {
        sx_poll_remove(&broom->poll);
        close(broom->fd);
        (void)waitpid(broom->pid, NULL, __WALL | WNOHANG);
    }
    broom_free(broom);
}

/* Its path is left, with what is held behind it. */
static void stalled_leave(struct stalled *stalled)
{
    const size_t held = paths_free(&stalled->held);

    if (stalled->path != NULL) {
        sx_log(SX_LOG_WARN,
               "cleanup for uid %u: '%.255s' is left, with %zu more in '%.255s': the file system "
               "does not answer",
               (unsigned)stalled->broom->uid, stalled->path->sweep.path, held, stalled->realm);
    }
    kill(stalled->pid, SIGKILL);
}

/* Its path is left, with all that was to follow. */
static void process_leave(struct sx_cleanup_queue *broom)
{
    sent_settle(broom);
    const char *const path =
        sx_list_empty(&broom->sent)
            ? NULL
            : SX_LIST_ENTRY(broom->sent.next, struct sx_cleanup_queue_path, link)->sweep.path;

    sx_log(SX_LOG_WARN,
           "cleanup for uid %u has not ended %u s after the server%s%.255s%s: the rest is left",
           (unsigned)broom->uid, (unsigned)(SX_CLEANUP_QUEUE_END_NS / SX_NS_PER_SEC),
           path == NULL ? "" : ", and is at '", path == NULL ? "" : path, path == NULL ? "" : "'");
    queue_drop(broom, "the server ends");
    kill(broom->pid, SIGKILL);
}

/* The time of the server's end is over. */
static void broom_leave(struct sx_cleanup_queue *broom)
{
    SX_LIST_EACH(it, &broom->stalled) {
        stalled_leave(SX_LIST_ENTRY(it, struct stalled, link));
    }
    if (broom->pid > 0) {
        process_leave(broom);
    }
}

static void deadline_over(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;
    struct sx_cleanup_queues *brooms = &server->brooms;

    SX_LIST_EACH(it, &brooms->list) {
        struct sx_cleanup_queue *broom = SX_LIST_ENTRY(it, struct sx_cleanup_queue, link);

        if (brooms->killed) {
            broom_abandon(broom);
        } else {
            broom_leave(broom);
        }
    }
    if (!brooms->killed) {
        brooms->killed = true;
        sx_timer_add(server->loop, &brooms->deadline, now_ns + SX_CLEANUP_QUEUE_KILL_NS);
    }
    notified_end(server);
}

void sx_cleanup_queues_end(struct sx_server *server, void (*ended)(struct sx_server *server))
{
    struct sx_cleanup_queues *brooms = &server->brooms;

    brooms->ending = true;
    brooms->ended = ended;
    brooms->deadline.fn = deadline_over;
    brooms->deadline.arg = server;
    sx_timer_add(server->loop, &brooms->deadline, sx_now_ns() + SX_CLEANUP_QUEUE_END_NS);
    sx_cleanup_queues_go(server);
    notified_end(server);
}
