/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* serve.c - one connection: handshake, session, end. */
#include "gateway/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pmix.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/spin.h"
#include "base/util.h"
#include "control/gateway.h"
#include "gateway/hello.h"
#include "gateway/link.h"
#include "gateway/session.h"

enum { EXIT_GOOD = 0, EXIT_LOST = 1, EXIT_REFUSED = 2 };

/* ---- handshake ------------------------------------------------------------------------------- */

static int milliseconds_until(uint64_t deadline_ns)
{
    const uint64_t now_ns = sx_now_ns();

    return deadline_ns <= now_ns ? 0 : (int)((deadline_ns - now_ns) / SX_NS_PER_MS) + 1;
}

/* Return: false at the deadline, at the connection's end, and at the starter's. */
static bool receive(const struct sx_serve *serve, void *bytes, size_t size, uint64_t deadline_ns)
{
    struct pollfd fds[] = { { .fd = serve->fd, .events = POLLIN },
                            { .fd = serve->life_fd, .events = POLLIN } };
    size_t got = 0;

    while (got < size) {
        const int left_ms = milliseconds_until(deadline_ns);

        if (left_ms == 0 || (poll(fds, SX_COUNT(fds), left_ms) < 0 && errno != EINTR) ||
            fds[1].revents != 0) {
            return false;
        }
        if (fds[0].revents == 0) {
            continue;
        }
        const ssize_t more = recv(serve->fd, (uint8_t *)bytes + got, size - got, MSG_DONTWAIT);

        if (more == 0 || (more < 0 && errno != EAGAIN && errno != EINTR)) {
            return false;
        }
        got += more > 0 ? (size_t)more : 0;
    }
    return true;
}

/* Return: PMIX_SUCCESS; else *ret_why. */
static pmix_status_t hello_receive(const struct sx_serve *serve, struct sx_foreign *ret,
                                   const char **ret_why)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_SERVE_HELLO_SEC * SX_NS_PER_SEC);
    uint8_t header[SX_FOREIGN_HEADER_BYTES], *body = NULL;
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;
    size_t size = 0;

    *ret_why = "does not send a handshake";
    if (receive(serve, header, sizeof(header), deadline_ns)) {
        size = sx_foreign_body_size(header);
        *ret_why = size == 0 ? "sends something other than a handshake"
                             : "does not send its handshake to the end";
    }
    body = size > 0 ? malloc(size) : NULL;
    if (body != NULL && receive(serve, body, size, deadline_ns)) {
        rc = sx_foreign_parse(body, size, ret, ret_why);
    }
    free(body);
    return rc;
}

/* Welcome the rank: a status, and its index in a server of that library.  The socket is new, so it
 * takes these few bytes at once.  A rank that is refused gets no status, but the end: release 4.2
 * may wait for ever behind a status of failure. */
static void hello_answer(int fd)
{
    const uint32_t answer[2] = { htonl(PMIX_SUCCESS), htonl(0) };

    (void)!send(fd, answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void become(const struct sx_foreign *foreign)
{
    char rank[16], name[sizeof("gateway of rank ") + sizeof(rank)];

    snprintf(rank, sizeof(rank), "%u", foreign->proc.rank);
    setenv("PMIX_NAMESPACE", foreign->proc.nspace, 1);
    setenv("PMIX_RANK", rank, 1);
    snprintf(name, sizeof(name), "gateway of rank %s", rank);
    sx_log_set_name(name);
}

static void news_send(const struct sx_serve *serve, const struct sx_foreign *foreign)
{
    struct sx_gateway_news news = { .rank = foreign->proc.rank, .number = foreign->number };

    memcpy(news.nspace, foreign->proc.nspace, sizeof(news.nspace));
    snprintf(news.version, sizeof(news.version), "%s", foreign->version);
    if (serve->news_fd >= 0) {
        (void)!send(serve->news_fd, &news, sizeof(news), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

/* ---- session --------------------------------------------------------------------------------- */

enum source { LINK, SESSION, LIFE, PROCESS, SOURCES };

struct served {
    struct sx_gateway_link link;
    struct sx_session *session;
    struct sx_spin spin;
    struct pollfd fds[SOURCES];
};

/* Return: false when the server is lost. */
static bool turn(struct served *served)
{
    do {
        sx_gateway_link_resume(&served->link, served->session);
        if (sx_session_progress(served->session) != PMIX_SUCCESS) {
            return false;
        }
    } while (sx_gateway_link_has_frame(&served->link, served->session));
    return true;
}

/* Poll for a moment before the sleep, as both sides often answer at once: base/spin.h. */
static void poll_briefly(struct served *served)
{
    struct sx_spin_try try = { .begin_ns = 0 };

    while (poll(served->fds, SOURCES, 0) == 0) {
        if (!sx_spin_again(&served->spin, &try)) {
            (void)poll(served->fds, SOURCES, -1);
            return;
        }
    }
    sx_spin_paid(&served->spin, &try);
}

static void wait_for_news(struct served *served)
{
    struct pollfd *const fds = served->fds;

    fds[LINK].events = 0;
    if (sx_gateway_link_reads(&served->link, served->session)) {
        fds[LINK].events |= POLLIN;
    }
    if (sx_gateway_link_writes(&served->link)) {
        fds[LINK].events |= POLLOUT;
    }
    for (int i = 0; i < SOURCES; i++) {
        fds[i].revents = 0;
    }
    if (sx_session_is_finalized(served->session)) {
        fds[SESSION].fd = -1; /* it would be readable for ever */
    }
    poll_briefly(served);
    if ((fds[LINK].revents & POLLOUT) != 0) {
        sx_gateway_link_write(&served->link);
    }
    /* A connection that was reset has no reader any more, whatever is queued. */
    if ((fds[LINK].revents & (POLLERR | POLLHUP)) != 0 &&
        !sx_gateway_link_reads(&served->link, served->session)) {
        served->link.state = SX_LINK_ENDED;
    } else if ((fds[LINK].revents & (POLLIN | POLLERR | POLLHUP)) != 0 ||
               fds[PROCESS].revents != 0) {
        sx_gateway_link_read(&served->link, served->session);
    }
}

/* The rank has ended, or its starter has: that the server has dropped it is no news to anybody. */
static bool has_ended(const struct served *served)
{
    struct pollfd fds[] = { { .fd = served->link.fd, .events = POLLRDHUP },
                            { .fd = served->fds[LIFE].fd, .events = POLLIN },
                            { .fd = served->fds[PROCESS].fd, .events = POLLIN } };

    return poll(fds, SX_COUNT(fds), 0) > 0;
}

static struct served *the_served; /* for the judge of log lines, which has no argument */

static bool may_log(enum sx_log_level level)
{
    return level != SX_LOG_WARN || the_served == NULL || !has_ended(the_served);
}

/* Until one side ends.  Return: the exit status. */
static int session_run(struct served *served, const struct sx_foreign *foreign)
{
    while (served->link.state == SX_LINK_OPEN) {
        if (!turn(served)) {
            sx_log(SX_LOG_INFO, "the server of rank %u of %s has gone", foreign->proc.rank,
                   foreign->proc.nspace);
            return EXIT_LOST;
        }
        if (served->link.state != SX_LINK_OPEN) {
            break;
        }
        wait_for_news(served);
        if (served->fds[LIFE].revents != 0) {
            return EXIT_LOST;
        }
        if (served->fds[PROCESS].revents != 0) {
            served->link.state = SX_LINK_ENDED;
        }
    }
    if (served->link.state == SX_LINK_BROKEN) {
        sx_log(SX_LOG_WARN, "rank %u of %s, with OpenPMIx %s, %s: its connection is closed",
               foreign->proc.rank, foreign->proc.nspace, foreign->version, served->link.why);
    }
    return sx_session_is_finalized(served->session) ? EXIT_GOOD : EXIT_LOST;
}

static int rank_serve(const struct sx_serve *serve, const struct sx_foreign *foreign)
{
    struct served served = { .session = NULL };
    pmix_status_t rc;
    int code;

    (void)sx_spin_init(&served.spin);
    sx_gateway_link_init(&served.link, serve->fd);
    rc = sx_session_open(&served.link, foreign, &served.session);
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN,
               "pid %d with OpenPMIx %s, which wants to be rank %u of %s, is refused: "
               "%s",
               (int)foreign->pid, foreign->version, foreign->proc.rank, foreign->proc.nspace,
               PMIx_Error_string(rc));
        sx_gateway_link_deinit(&served.link);
        return EXIT_REFUSED;
    }
    hello_answer(serve->fd);
    news_send(serve, foreign);
    sx_log(SX_LOG_INFO, "serves rank %u of %s: pid %d with OpenPMIx %s", foreign->proc.rank,
           foreign->proc.nspace, (int)foreign->pid, foreign->version);
    sx_gateway_link_release(&served.link);
    const int pidfd = foreign->pid > 0 ? (int)syscall(SYS_pidfd_open, foreign->pid, 0) : -1;

    served.fds[LINK] = (struct pollfd){ .fd = serve->fd };
    served.fds[SESSION] = (struct pollfd){ .fd = sx_session_fd(served.session), .events = POLLIN };
    served.fds[LIFE] = (struct pollfd){ .fd = serve->life_fd, .events = POLLIN };
    served.fds[PROCESS] = (struct pollfd){ .fd = pidfd, .events = POLLIN };
    served.link.end_fds[0] = serve->life_fd;
    served.link.end_fds[1] = pidfd;
    the_served = &served;
    sx_log_set_judge(may_log);
    code = session_run(&served, foreign);
    the_served = NULL;
    served.session = sx_session_close(served.session, code != EXIT_GOOD);
    sx_gateway_link_deinit(&served.link);
    return code;
}

int sx_serve(const struct sx_serve *serve)
{
    const char *why = "";
    struct sx_foreign foreign;

    if (hello_receive(serve, &foreign, &why) != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "a connection of uid %u is closed: it %s", (unsigned)serve->peer.uid,
               why);
        return EXIT_REFUSED;
    }
    if (!sx_stranger_becomes(serve->state, SX_STRANGER_GREETED)) {
        return EXIT_REFUSED;
    }
    const pid_t pid = sx_gateway_peer_process(&serve->peer, serve->starter, foreign.proc.nspace,
                                              foreign.proc.rank);

    foreign.pid = pid != 0 ? pid : foreign.pid;
    become(&foreign);
    return rank_serve(serve, &foreign);
}
