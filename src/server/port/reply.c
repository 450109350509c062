/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reply.c - answers to clients: one frame, and a ring of the bell; large ones by a thread. */
#include "server/port/port.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/process.h"
#include "base/value/flat.h"
#include "server/model/state.h"

const struct sx_peer *sx_client_peer(const struct sx_client *client)
{
    static const struct sx_peer nobody = {
        .pid = -1, .uid = (uid_t)-1, .gid = (gid_t)-1, .pidfd = -1
    };

    return client->channel == NULL ? &nobody : &client->channel->peer;
}

/* @rc: the status of the send.  When the answer is too large for the memory left, a few bytes may
 * still be sent. */
static void reply_sent(struct sx_server *server, struct sx_client *client, uint32_t id,
                       pmix_status_t rc)
{
    const struct sx_reply reply = { .status = rc };
    const struct iovec instead = { .iov_base = (void *)(uintptr_t)&reply,
                                   .iov_len = sizeof(reply) };

    if (rc != PMIX_SUCCESS) {
        (void)sx_channel_send(client->channel, SX_MSG_REPLY, id, &instead, 1, NULL, 0);
    }
    sx_wake_client(server, client);
}

static void reply_send(struct sx_server *server, struct sx_client *client, uint32_t id,
                       const struct iovec *iov, int iov_count, int fd)
{
    if (id == 0 || client->channel == NULL) {
        return;
    }
    const pmix_status_t rc = sx_channel_send(client->channel, SX_MSG_REPLY, id, iov, iov_count, &fd,
                                             fd >= 0 ? 1 : 0);

    reply_sent(server, client, id, rc);
}

void sx_reply(struct sx_server *server, struct sx_client *client, uint32_t id, pmix_status_t status,
              int fd)
{
    struct sx_reply reply = { .status = status };
    const struct iovec iov = { .iov_base = &reply, .iov_len = sizeof(reply) };

    reply_send(server, client, id, &iov, 1, fd);
}

void sx_reply_pieces(struct sx_server *server, struct sx_client *client, uint32_t id,
                     pmix_status_t status, const struct iovec pieces[], size_t count)
{
    struct sx_reply reply = { .status = status };
    struct iovec iov[1 + SX_REPLY_PIECES_MAX] = {
        { .iov_base = &reply, .iov_len = sizeof(reply) },
    };

    sx_assert(count <= SX_REPLY_PIECES_MAX);
    for (size_t i = 0; i < count; i++) {
        iov[1 + i] = pieces[i];
    }
    reply_send(server, client, id, iov, 1 + (int)count, -1);
}

void sx_reply_body(struct sx_server *server, struct sx_client *client, uint32_t id,
                   pmix_status_t status, const void *body, size_t size)
{
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)body, .iov_len = size };

    sx_reply_pieces(server, client, id, status, &iov, 1);
}

void sx_reply_made(struct sx_server *server, struct sx_client *client, uint32_t id, int body_fd,
                   size_t size)
{
    if (id != 0 && client->channel != NULL) {
        reply_sent(server, client, id,
                   sx_channel_send_made(client->channel, SX_MSG_REPLY, id, body_fd, size));
    }
}

bool sx_reply_part(struct sx_client *client, uint32_t id, const void *body, size_t size)
{
    struct sx_reply reply = { .status = PMIX_SUCCESS };
    const struct iovec iov[2] = {
        { .iov_base = &reply, .iov_len = sizeof(reply) },
        { .iov_base = (void *)(uintptr_t)body, .iov_len = size },
    };
    return id != 0 && client->channel != NULL &&
           sx_channel_send_part(client->channel, SX_MSG_REPLY, id, iov, 2);
}

void sx_reply_read(struct sx_server *server, struct sx_client *client, const struct sx_frame *frame)
{
    if ((frame->header.flags & SX_FRAME_BULK) != 0 &&
        sx_reply_part(client, frame->header.id, NULL, 0)) {
        sx_wake_client(server, client);
    }
}

/* ---- large answers --------------------------------------------------------------------------- */

/* There is a list of answers to write, and a thread that empties it. */

struct answer {
    struct sx_list link; /* waiting, or taken */
    struct sx_loop_post post;
    struct sx_server *server;
    pmix_status_t reply;
    const pmix_info_t *info;
    size_t ninfo, size_max;
    sx_answer_fn done; /* NULL: it has been called */
    void *arg;
    pmix_status_t status;
    int fd; /* -1: none */
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static struct sx_list waiting = SX_LIST_INIT(waiting); /* under lock, as all below */
static struct sx_list taken = SX_LIST_INIT(taken);     /* until the loop has received its post */
static bool is_running;

static void answer_free(struct answer *answer)
{
    sx_list_remove(&answer->link);
    if (answer->fd >= 0) {
        close(answer->fd);
    }
    free(answer);
}

static void answer_done(struct answer *answer, pmix_status_t status)
{
    const sx_answer_fn done = answer->done;
    const int fd = answer->fd;

    answer->done = NULL;
    answer->fd = -1;
    if (done != NULL) {
        done(answer->arg, status, fd, answer->size);
    } else if (fd >= 0) {
        close(fd);
    }
}

static void answer_post(void *arg, uint64_t now_ns)
{
    struct answer *const answer = arg;

    (void)now_ns;
    answer_done(answer, answer->status);
    pthread_mutex_lock(&lock);
    answer_free(answer);
    pthread_mutex_unlock(&lock);
}

/* The body of a reply.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE; what sx_flat_infos_size
 * says. */
static pmix_status_t body_write(struct answer *answer)
{
    const struct sx_reply reply = { .status = answer->reply };
    size_t size;
    pmix_status_t rc = sx_flat_infos_size(answer->info, answer->ninfo, &size);

    if (rc == PMIX_SUCCESS && size > answer->size_max) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    uint8_t *const body = rc == PMIX_SUCCESS ? calloc(1, sizeof(reply) + size) : NULL;

    if (body == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(body, &reply, sizeof(reply));
    rc = sx_flat_infos_encode(answer->info, answer->ninfo, body + sizeof(reply), size);
    if (rc == PMIX_SUCCESS) {
        answer->size = sizeof(reply) + size;
        rc = sx_channel_body_make(SX_MSG_REPLY, body, answer->size, &answer->fd);
    }
    free(body);
    return rc;
}

static void *answers_run(void *arg)
{
    struct sx_list *it;

    (void)arg;
    pthread_mutex_lock(&lock);
    while ((it = sx_list_pop(&waiting)) != NULL) {
        struct answer *const answer = SX_LIST_ENTRY(it, struct answer, link);

        sx_list_append(&taken, &answer->link);
        pthread_mutex_unlock(&lock);
        answer->status = body_write(answer);
        answer->post = (struct sx_loop_post){ .fn = answer_post, .arg = answer };
        pthread_mutex_lock(&lock);
        if (sx_loop_post(answer->server->loop, &answer->post) != PMIX_SUCCESS) {
            answer_free(answer); /* the loop has stopped, behind sx_answers_stop */
        }
    }
    is_running = false;
    pthread_cond_broadcast(&idle);
    pthread_mutex_unlock(&lock);
    return NULL;
}

bool sx_answer_write(struct sx_server *server, pmix_status_t reply, const pmix_info_t info[],
                     size_t ninfo, size_t size_max, sx_answer_fn done, void *arg)
{
    struct answer *const answer = calloc(1, sizeof(*answer));

    if (answer == NULL) {
        return false;
    }
    *answer = (struct answer){ .server = server,
                               .reply = reply,
                               .info = info,
                               .ninfo = ninfo,
                               .size_max = size_max,
                               .done = done,
                               .arg = arg,
                               .fd = -1 };
    pthread_mutex_lock(&lock);
    sx_list_append(&waiting, &answer->link);
    is_running = is_running || sx_thread_detached(answers_run, NULL);
    const bool is_taken = is_running;

    if (!is_taken) {
        answer_free(answer);
    }
    pthread_mutex_unlock(&lock);
    return is_taken;
}

/* Written answers have a post each, which frees them. */
void sx_answers_stop(struct sx_server *server)
{
    struct sx_list *it;

    (void)server;
    pthread_mutex_lock(&lock);
    struct sx_list left = SX_LIST_INIT(left);

    sx_list_splice(&left, &waiting);
    while (is_running) {
        pthread_cond_wait(&idle, &lock);
    }
    pthread_mutex_unlock(&lock);
    SX_LIST_EACH(next, &taken) { /* only this thread removes answers from it now */
        answer_done(SX_LIST_ENTRY(next, struct answer, link), PMIX_ERR_NOT_AVAILABLE);
    }
    while ((it = sx_list_pop(&left)) != NULL) {
        struct answer *const answer = SX_LIST_ENTRY(it, struct answer, link);

        answer_done(answer, PMIX_ERR_NOT_AVAILABLE);
        answer_free(answer);
    }
}
