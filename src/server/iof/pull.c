/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull.c - the entries of a queue, and how they are sent to the socket. */
#include "server/iof/pull.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/value/value.h"
#include "control/socket.h"

#define MESSAGES_A_TURN 64u /* then other pulls have their turn */

struct entry {
    struct sx_list link;
    struct sx_output *output;
    size_t at, end; /* the part that is not sent or dropped yet */
    bool holds;     /* it did not fit: the host's callback waits for it */
};

static struct entry *first_of(struct sx_pull *pull)
{
    return SX_LIST_ENTRY(pull->queue.next, struct entry, link);
}

/* ---- the reader's time limit -----------------------------------------------------------------
 *
 * A period is SX_PULL_PATIENCE_NS during which something is held, in one part or several. */

static void period_begin(struct sx_pull *pull)
{
    pull->took = 0;
    pull->held_ns = 0;
}

/* From now on an entry is held.  Return: false when there is no memory for a timer. */
static bool hold_begin(struct sx_pull *pull)
{
    pull->hold_begin_ns = sx_now_ns();
    return sx_timer_add(pull->loop, &pull->patience,
                        sx_deadline_ns(pull->hold_begin_ns, SX_PULL_PATIENCE_NS - pull->held_ns)) ==
           PMIX_SUCCESS;
}

/* No entry is held any more. */
static void hold_end(struct sx_pull *pull)
{
    sx_timer_remove(&pull->patience);
    pull->held_ns += sx_now_ns() - pull->hold_begin_ns;
    if (pull->held_ns >= SX_PULL_PATIENCE_NS) {
        period_begin(pull);
    }
}

/* ---- the queue ----------------------------------------------------------------------------- */

static void entry_let_go(struct sx_pull *pull, struct entry *entry)
{
    if (!entry->holds) {
        return;
    }
    entry->holds = false;
    if (--pull->holds == 0) {
        hold_end(pull);
    }
    entry->output->hold_count--;
    sx_output_settle(entry->output);
}

static void all_let_go(struct sx_pull *pull)
{
    SX_LIST_EACH(it, &pull->queue) {
        entry_let_go(pull, SX_LIST_ENTRY(it, struct entry, link));
    }
}

static void entry_free(struct sx_pull *pull, struct entry *entry)
{
    sx_list_remove(&entry->link);
    pull->queue_bytes -= entry->end - entry->at;
    entry_let_go(pull, entry);
    sx_output_release(entry->output);
    free(entry);
}

/* The queue has room again: release the held outputs. */
static void queue_let_go(struct sx_pull *pull)
{
    if (pull->queue_bytes <= pull->queue_max / 2) {
        all_let_go(pull);
    }
}

bool sx_pull_is_open(const struct sx_pull *pull)
{
    return pull->socket.fd >= 0 && !pull->ending;
}

static bool names(const struct sx_pull *pull, const pmix_proc_t *proc)
{
    return bsearch(proc, pull->procs, pull->proc_count, sizeof(*proc), sx_proc_order) != NULL;
}

bool sx_pull_is_about(const struct sx_pull *pull, const struct sx_output *output)
{
    pmix_proc_t all;

    if ((pull->channels & output->channel) == 0 || pull->proc_count == 0) {
        return false;
    }
    PMIx_Load_procid(&all, output->source.nspace, PMIX_RANK_WILDCARD);
    return names(pull, &all) || names(pull, &output->source);
}

/* Drop the oldest @excess bytes that are not sent yet: whole entries, or the beginning of one. */
static void oldest_drop(struct sx_pull *pull, size_t excess)
{
    SX_LIST_EACH(it, &pull->queue) {
        struct entry *const entry = SX_LIST_ENTRY(it, struct entry, link);
        const size_t left = entry->end - entry->at;
        const size_t size = left < excess ? left : excess;

        excess -= size;
        pull->lost += size;
        pull->queue_bytes -= size;
        entry->at += size;
        if (size > 0 && entry->at == entry->end) {
            entry_free(pull, entry);
        }
        if (excess == 0) {
            return;
        }
    }
}

/* The reader has taken too little: release the outputs that are held. */
static void reader_stuck(struct sx_pull *pull)
{
    pull->stuck = true;
    all_let_go(pull);
    period_begin(pull);
    if (pull->queue_bytes > pull->queue_max) {
        oldest_drop(pull, pull->queue_bytes - pull->queue_max);
    }
    sx_log(SX_LOG_WARN,
           "client %s.%u pulls output and has taken less than %u KiB of it in %u s: whoever writes "
           "it waits no longer, and the client loses the oldest until it has read what is left",
           pull->client->nspace == NULL ? "?" : pull->client->nspace->name, pull->client->rank,
           SX_PULL_PATIENCE_BYTES >> 10, (unsigned)(SX_PULL_PATIENCE_NS / SX_NS_PER_SEC));
}

/* There is no room for @entry: the host's callback has to wait. */
static void entry_hold(struct sx_pull *pull, struct entry *entry)
{
    entry->holds = true;
    entry->output->hold_count++;
    if (pull->holds++ > 0) {
        return;
    }
    if (pull->held_ns == 0) {
        period_begin(pull);
    }
    if (!hold_begin(pull)) {
        reader_stuck(pull);
    }
}

/* The queue is too long.  The newest entry is @entry, which may be freed. */
static void queue_bound(struct sx_pull *pull, struct entry *entry)
{
    const size_t excess = pull->queue_bytes - pull->queue_max;
    const size_t size = entry->end - entry->at;

    if (pull->drops == SX_PULL_DROPS_OLDEST || pull->stuck) {
        oldest_drop(pull, excess);
    } else if (pull->drops == SX_PULL_DROPS_NEWEST) {
        const size_t dropped = excess < size ? excess : size;

        pull->lost += dropped;
        pull->queue_bytes -= dropped;
        entry->end -= dropped;
        if (dropped > 0 && dropped == size) {
            entry_free(pull, entry);
        }
    } else {
        entry_hold(pull, entry);
    }
}

void sx_pull_put(struct sx_pull *pull, struct sx_output *output)
{
    struct entry *const entry = malloc(sizeof(*entry));

    if (entry == NULL) {
        pull->lost += output->size;
        return;
    }
    *entry = (struct entry){ .output = output, .end = output->size };
    output->reference_count++;
    sx_list_append(&pull->queue, &entry->link);
    pull->queue_bytes += output->size;
    if (pull->queue_bytes > pull->queue_max) {
        queue_bound(pull, entry);
    }
}

/* ---- the socket ---------------------------------------------------------------------------- */

/* Return: 0, or errno. */
static int message_send(struct sx_pull *pull, struct entry *entry)
{
    const struct sx_output *const output = entry->output;
    const size_t left = entry->end - entry->at;
    const size_t size = left < SX_IOF_BYTES_MAX ? left : SX_IOF_BYTES_MAX;
    struct sx_iof_piece head = { .rank = output->source.rank,
                                 .channel = output->channel,
                                 .when = (uint64_t)output->when,
                                 .lost = pull->lost,
                                 .pid = output->pid };
    const struct iovec iov[] = { { .iov_base = &head, .iov_len = sizeof(head) },
                                 { .iov_base = (void *)(uintptr_t)(output->bytes + entry->at),
                                   .iov_len = size } };

    memcpy(head.nspace, output->source.nspace, sizeof(output->source.nspace));
    memcpy(head.host, output->host, sizeof(output->host));
    const int why = sx_oneway_send(pull->socket.fd, iov, SX_COUNT(iov));

    if (why == 0) {
        entry->at += size;
        pull->queue_bytes -= size;
        pull->took += size;
    }
    return why;
}

static void pull_end(struct sx_pull *pull)
{
    sx_pull_deinit(pull);
    pull->ended(pull);
}

/* Send what the socket takes, @max messages at the most.  Return: 0, or errno. */
static int queue_send(struct sx_pull *pull, unsigned max, unsigned *ret_sent)
{
    int why = 0;

    for (*ret_sent = 0; *ret_sent < max && why == 0 && !sx_list_empty(&pull->queue);) {
        struct entry *const entry = first_of(pull);

        why = message_send(pull, entry);
        *ret_sent += why == 0;
        if (why == 0 && entry->at == entry->end) {
            entry_free(pull, entry);
        }
    }
    return why;
}

/* Return: false when all is sent, or the reader is gone. */
static bool some_send(struct sx_pull *pull, unsigned max, unsigned *ret_sent)
{
    const int why = queue_send(pull, max, ret_sent);

    if ((why != 0 && why != EAGAIN) || (pull->ending && sx_list_empty(&pull->queue))) {
        return false;
    }
    queue_let_go(pull);
    pull->stuck = pull->stuck && !sx_list_empty(&pull->queue);
    (void)sx_poll_modify(&pull->socket,
                         (pull->ending ? 0 : POLLIN) | (sx_list_empty(&pull->queue) ? 0 : POLLOUT));
    return true;
}

static void go_on(struct sx_pull *pull)
{
    unsigned sent;

    if (!some_send(pull, MESSAGES_A_TURN, &sent)) {
        pull_end(pull);
    }
}

void sx_pull_send(struct sx_pull *pull)
{
    unsigned sent;

    if (!some_send(pull, MESSAGES_A_TURN, &sent)) {
        sx_pull_send_soon(pull);
    }
}

/* No callback is called when there is room. */
static void writable_forget(struct sx_pull *pull)
{
    (void)sx_poll_modify(&pull->socket, pull->ending ? 0 : POLLIN);
}

bool sx_pull_send_part(struct sx_pull *pull, unsigned max, unsigned *ret_sent)
{
    if (!some_send(pull, max, ret_sent)) {
        pull_end(pull);
        return false;
    }
    const bool more = *ret_sent == max && !sx_list_empty(&pull->queue);

    if (more) {
        writable_forget(pull);
    }
    return more;
}

bool sx_pull_flush(struct sx_pull *pull)
{
    unsigned sent;
    const int why = pull->socket.fd >= 0 ? queue_send(pull, UINT_MAX, &sent) : EBADF;

    return why == EAGAIN && (pull->took > 0 || !pull->stuck);
}

/* Whether the reader has taken enough in this period.  The socket reports room only when most of it
 * is empty, so this first sends what fits.  A reader that has read everything was waiting for the
 * server. */
static bool took_enough(struct sx_pull *pull)
{
    unsigned sent;
    int unread = 0;

    if (ioctl(pull->socket.fd, SIOCOUTQ, &unread) == 0 && unread == 0) {
        return true;
    }
    (void)queue_send(pull, UINT_MAX, &sent); /* an error recurs at the next send */
    queue_let_go(pull);
    return pull->took >= SX_PULL_PATIENCE_BYTES;
}

static void patience_over(void *arg, uint64_t now_ns)
{
    struct sx_pull *const pull = arg;
    const bool enough = took_enough(pull);

    (void)now_ns;
    if (pull->holds == 0) {
        return;
    }
    period_begin(pull);
    if (!enough || !hold_begin(pull)) {
        reader_stuck(pull);
    }
}

void sx_pull_send_soon(struct sx_pull *pull)
{
    (void)sx_poll_modify(&pull->socket, POLLIN | POLLOUT);
}

static void pull_received(struct sx_pull *pull)
{
    switch (sx_oneway_receive(pull->socket.fd)) {
    case SX_ONEWAY_NOTHING:
        go_on(pull);
        break;
    case SX_ONEWAY_ENOUGH:
        pull->ending = true;
        go_on(pull);
        break;
    case SX_ONEWAY_BREACH:
        sx_log(SX_LOG_WARN,
               "client %s.%u has written to a socket that it is to read from: its pull of output "
               "ends",
               pull->client->nspace->name, pull->client->rank);
        pull_end(pull);
        break;
    }
}

static void socket_ready(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_pull *const pull = arg;

    (void)now_ns;
    if ((revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !pull->ending) {
        pull_received(pull);
    } else if (pull->writable != NULL) {
        writable_forget(pull);
        pull->writable(pull);
    } else {
        go_on(pull);
    }
}

/* ---- life ---------------------------------------------------------------------------------- */

void sx_pull_init(struct sx_pull *pull)
{
    pull->socket.fd = -1;
    sx_list_init(&pull->queue);
}

pmix_status_t sx_pull_open(struct sx_pull *pull, struct sx_loop *loop,
                           void (*ended)(struct sx_pull *pull), int *ret_fd)
{
    int ours, theirs;
    pmix_status_t rc = sx_oneway_open(&ours, &theirs);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pull->ended = ended;
    pull->loop = loop;
    pull->patience = (struct sx_timer){ .fn = patience_over, .arg = pull };
    pull->socket = (struct sx_poll){
        .fd = ours, .events = POLLIN, .fn = socket_ready, .arg = pull
    };
    rc = sx_poll_add(loop, &pull->socket);

    if (rc != PMIX_SUCCESS) {
        sx_oneway_close(theirs);
        sx_pull_deinit(pull);
        return rc;
    }
    *ret_fd = theirs;
    return PMIX_SUCCESS;
}

void sx_pull_deinit(struct sx_pull *pull)
{
    sx_timer_remove(&pull->patience);
    sx_poll_remove(&pull->socket);
    if (pull->socket.fd >= 0) {
        sx_oneway_close(pull->socket.fd);
        pull->socket.fd = -1;
    }
    while (!sx_list_empty(&pull->queue)) {
        entry_free(pull, first_of(pull));
    }
}

/* ---- the index -------------------------------------------------------------------------------
 *
 * A node in the table for each process that a pull names. */

struct sx_pull_name {
    struct sx_table_node node; /* server.iof.pull_names */
    struct sx_pull *pull;      /* the name's index in pull->names is that of its process in
                                * pull->procs */
};

static uint64_t hash_of(const struct sx_server *server, const pmix_proc_t *proc)
{
    return XXH3_64bits_withSeed(proc->nspace, strlen(proc->nspace), server->seed + proc->rank);
}

bool sx_pull_index_add(struct sx_server *server, struct sx_pull *pull)
{
    pull->names = calloc(pull->proc_count + 1, sizeof(*pull->names));
    if (pull->names == NULL) {
        return false;
    }
    while (pull->name_count < pull->proc_count) {
        struct sx_pull_name *const name = &pull->names[pull->name_count];

        name->pull = pull;
        if (!sx_table_add(&server->iof.pull_names, &name->node,
                          hash_of(server, &pull->procs[pull->name_count]))) {
            sx_pull_index_remove(server, pull);
            return false;
        }
        pull->name_count++;
    }
    return true;
}

size_t sx_pull_bytes(const struct sx_pull *pull)
{
    return pull->proc_count * (sizeof(*pull->procs) + sizeof(*pull->names));
}

void sx_pull_index_remove(struct sx_server *server, struct sx_pull *pull)
{
    while (pull->name_count > 0) {
        sx_table_remove(&server->iof.pull_names, &pull->names[--pull->name_count].node);
    }
    free(pull->names);
    pull->names = NULL;
}

/* Whether this is the name of @proc, and not another one with the same hash. */
static bool is_name(const struct sx_pull_name *name, const pmix_proc_t *proc)
{
    const struct sx_pull *const pull = name->pull;

    return sx_proc_order(&pull->procs[name - pull->names], proc) == 0;
}

void sx_pull_index_each(struct sx_server *server, struct sx_output *output,
                        void (*fn)(void *arg, struct sx_pull *pull, struct sx_output *output),
                        void *arg)
{
    const uint64_t serial = ++server->iof.output_last;
    pmix_proc_t procs[2] = { output->source, output->source };

    procs[1].rank = PMIX_RANK_WILDCARD;
    for (size_t i = 0; i < SX_COUNT(procs); i++) {
        struct sx_table_node *it = sx_table_first(&server->iof.pull_names,
                                                  hash_of(server, &procs[i]));

        for (; it != NULL; it = sx_table_next(&server->iof.pull_names, it)) {
            const struct sx_pull_name *const name = SX_CONTAINER(it, struct sx_pull_name, node);
            struct sx_pull *const pull = name->pull;

            if (pull->output_last != serial && (pull->channels & output->channel) != 0 &&
                is_name(name, &procs[i])) {
                pull->output_last = serial; /* a pull may name both */
                fn(arg, pull, output);
            }
        }
    }
}
