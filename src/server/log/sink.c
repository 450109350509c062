/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sink.c - a queue of texts, written a piece at a time.
 *
 * SIGPIPE is blocked on the server's thread, as all signals are, so a reader that is gone is an
 * error of the write. */
#include "server/log/logging.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"

#define SYSLOG_PATH "/dev/log"
#define PIECES_A_TURN 64u /* then other outlets have their turn */

static const char *const names[SX_SINKS] = { "stdout", "stderr", "the system log" };

/* ---- the system log -------------------------------------------------------------------------- */

/* Return: errno. */
static int syslog_connect(struct sx_sink *outlet)
{
    const char *const path = getenv("SHMIX_SYSLOG");
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    strncpy(address.sun_path, path == NULL || *path == '\0' ? SYSLOG_PATH : path,
            sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) {
        return errno;
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        const int why = errno;

        close(fd);
        return why;
    }
    outlet->out = (struct sx_out){ .fd = fd, .own = true, .socket = true };
    return 0;
}

/* The system log has ended, and another may have taken its place.  Return: false when there is
 * none. */
static bool syslog_again(struct sx_sink *outlet)
{
    sx_poll_remove(&outlet->room);
    sx_out_close(&outlet->out);
    outlet->is_open = syslog_connect(outlet) == 0;
    return outlet->is_open;
}

/* ---- one outlet ------------------------------------------------------------------------------ */

static void outlet_progress(void *arg, uint32_t revents, uint64_t now_ns);

static bool outlet_open(struct sx_sink *outlet, enum sx_sink_number number)
{
    if (outlet->is_open) {
        return true;
    }
    if (outlet->piece == NULL) {
        outlet->piece = malloc(SX_LOG_PIECE_MAX);
    }
    outlet->is_syslog = number == SX_SINK_SYSLOG;
    if (outlet->piece == NULL || (outlet->is_syslog && syslog_connect(outlet) != 0)) {
        return false;
    }
    if (!outlet->is_syslog) {
        sx_out_open(&outlet->out, number == SX_SINK_STDOUT ? STDOUT_FILENO : STDERR_FILENO);
    }
    outlet->is_open = true;
    return true;
}

static void job_end(struct sx_sink *outlet, pmix_status_t status)
{
    struct sx_sink_job *const job = SX_LIST_ENTRY(sx_list_pop(&outlet->jobs), struct sx_sink_job,
                                                  link);

    outlet->begun = false;
    outlet->piece_at = outlet->piece_size = 0;
    job->done(job, status);
}

/* Load the next piece of the first job into the outlet.  Return: false when there is none. */
static bool piece_ready(struct sx_sink *outlet)
{
    struct sx_sink_job *const job = SX_LIST_ENTRY(outlet->jobs.next, struct sx_sink_job, link);

    if (!outlet->begun) {
        job->begin(job, &outlet->text);
        outlet->begun = true;
    }
    if (outlet->piece_at == outlet->piece_size) {
        outlet->piece_at = 0;
        outlet->piece_size = sx_log_text_next(&outlet->text, outlet->piece);
    }
    return outlet->piece_size != 0;
}

/* Return: 0; EAGAIN when there is no room; errno for a text that will not be written. */
static int piece_write(struct sx_sink *outlet)
{
    const size_t left = outlet->piece_size - outlet->piece_at;
    ssize_t wrote = sx_out_write(&outlet->out, outlet->piece + outlet->piece_at, left);

    if (wrote < 0 && outlet->is_syslog && errno != EAGAIN && errno != EINTR && errno != EMSGSIZE &&
        syslog_again(outlet)) {
        wrote = sx_out_write(&outlet->out, outlet->piece, left);
    }
    if (wrote >= 0) {
        outlet->piece_at += (size_t)wrote;
    }
    return wrote >= 0 || errno == EINTR ? 0 : errno;
}

/* Return: false when there is no room. */
static bool first_write(struct sx_sink *outlet)
{
    if (!piece_ready(outlet)) {
        job_end(outlet, PMIX_SUCCESS);
        return true;
    }
    const int why = piece_write(outlet);

    if (why != 0 && why != EAGAIN) {
        sx_log(SX_LOG_WARN, "what a process logs cannot be written to %s: %s",
               outlet->is_syslog ? names[SX_SINK_SYSLOG] : "a standard stream", strerror(why));
        job_end(outlet, sx_status_from_errno(why));
    }
    return why != EAGAIN;
}

/* The host may replace its streams, so the outlet keeps none open while there is nothing to
 * write. */
static void outlet_rest(struct sx_sink *outlet)
{
    sx_poll_remove(&outlet->room);
    if (!outlet->is_syslog) {
        sx_out_close(&outlet->out);
        outlet->is_open = false;
    }
}

/* Write until there is no room, for a turn at most.  Return: false when all is written. */
static bool outlet_write(struct sx_sink *outlet)
{
    bool goes_on = true;

    outlet->is_busy = true;
    for (unsigned i = 0; i < PIECES_A_TURN && goes_on && !sx_list_empty(&outlet->jobs); i++) {
        goes_on = first_write(outlet);
    }
    outlet->is_busy = false;
    if (sx_list_empty(&outlet->jobs)) {
        outlet_rest(outlet);
        return false;
    }
    return true;
}

static void outlet_wait(struct sx_server *server, struct sx_sink *outlet)
{
    outlet->room.fd = outlet->out.fd;
    outlet->room.events = POLLOUT;
    outlet->room.fn = outlet_progress;
    outlet->room.arg = server;
    /* A descriptor that cannot be polled, such as a file, never returns EAGAIN. */
    while (sx_poll_add(server->loop, &outlet->room) != PMIX_SUCCESS) {
        if (!outlet_write(outlet)) {
            return;
        }
    }
}

void sx_sink_go(struct sx_server *server, enum sx_sink_number number)
{
    struct sx_sink *const outlet = &server->log.outlets[number];

    if (outlet->is_busy || outlet->room.source.loop != NULL || sx_list_empty(&outlet->jobs)) {
        return;
    }
    (void)outlet_open(outlet, number); /* else the first write returns the error */
    if (outlet_write(outlet)) {
        outlet_wait(server, outlet);
    }
}

static void outlet_progress(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_server *const server = arg;

    (void)revents;
    (void)now_ns;
    for (size_t i = 0; i < SX_SINKS; i++) {
        struct sx_sink *const outlet = &server->log.outlets[i];

        if (outlet->room.source.loop != NULL) {
            (void)outlet_write(outlet);
        }
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

void sx_sinks_init(struct sx_server *server)
{
    for (size_t i = 0; i < SX_SINKS; i++) {
        sx_list_init(&server->log.outlets[i].jobs);
        server->log.outlets[i].out = SX_OUT_NULL;
    }
}

bool sx_sink_can(struct sx_server *server, enum sx_sink_number number)
{
    return outlet_open(&server->log.outlets[number], number);
}

void sx_sink_put(struct sx_server *server, enum sx_sink_number number, struct sx_sink_job *job)
{
    sx_list_append(&server->log.outlets[number].jobs, &job->link);
}

/* Return: the number of jobs that were not written. */
static unsigned outlet_drain(struct sx_sink *outlet, uint64_t deadline_ns)
{
    unsigned lost = 0;

    sx_poll_remove(&outlet->room);
    while (outlet_write(outlet)) {
        struct pollfd ready = { .fd = outlet->out.fd, .events = POLLOUT };
        const uint64_t now_ns = sx_now_ns();

        if (now_ns >= deadline_ns) {
            break;
        }
        (void)poll(&ready, 1, (int)((deadline_ns - now_ns) / SX_NS_PER_MS) + 1);
    }
    while (!sx_list_empty(&outlet->jobs)) {
        job_end(outlet, PMIX_ERR_NOT_AVAILABLE);
        lost++;
    }
    return lost;
}

void sx_sinks_end(struct sx_server *server)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_SINK_END_NS);

    for (size_t i = 0; i < SX_SINKS; i++) {
        struct sx_sink *const outlet = &server->log.outlets[i];
        const unsigned lost = outlet->jobs.next == NULL ? 0 : outlet_drain(outlet, deadline_ns);

        if (lost > 0) {
            sx_log(SX_LOG_WARN,
                   "%u messages of PMIx_Log are lost: nobody has taken them from %s within %" PRIu64
                   " s",
                   lost, names[i], (uint64_t)(SX_SINK_END_NS / SX_NS_PER_SEC));
        }
        sx_out_close(&outlet->out);
        free(outlet->piece);
        outlet->piece = NULL;
        outlet->is_open = false;
    }
}
