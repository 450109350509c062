/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* push.c - a queue for each rank that has an input; a push in several queues is counted. */
#include "launch/stdio/push.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "launch/common/say.h"

struct sx_run_push {
    uint64_t number;
    unsigned open; /* places that have not ended, and one while the push is handed out */
    bool known;    /* one target is a process with an input */
    bool had;      /* one target has received all of it */
    bool complete; /* it is the end of the input */
    pmix_proc_t *targets;
    size_t target_count;
    pmix_op_cbfunc_t fn;
    void *arg;
    size_t size;
    char bytes[];
};

struct place {
    struct place *next;
    struct sx_run_push *push;
    size_t at; /* bytes that have been written */
};

struct sx_run_feed {
    struct sx_run_loop *loop;
    struct sx_run_watch watch; /* added while there is no room */
    int fd;                    /* -1: closed */
    bool waits;
    struct place *first, **last;
    uint64_t given; /* the last push that it has received: a push may name a process twice */
};

/* ---- some input ------------------------------------------------------------------------------ */

pmix_status_t sx_run_push_new(struct sx_run_push **ret_push, const pmix_proc_t targets[],
                              size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                              const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    static uint64_t pushes; /* only one thread pushes */
    const size_t size = bo == NULL ? 0 : bo->size;
    struct sx_iof_options options = { 0 };
    const pmix_status_t rc = sx_options_read(SX_OF_IOF_PUSH, directives, ndirs, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_run_push *const push = sx_cli_calloc(1, sizeof(*push) + size);

    *push = (struct sx_run_push){ .number = ++pushes,
                                  .complete = options.complete,
                                  .targets = sx_cli_calloc(ntargets, sizeof(*targets)),
                                  .target_count = ntargets,
                                  .fn = cbfunc,
                                  .arg = cbdata,
                                  .size = size };
    memcpy(push->targets, targets, ntargets * sizeof(*targets));
    if (size > 0) {
        memcpy(push->bytes, bo->bytes, size);
    }
    *ret_push = push;
    return PMIX_SUCCESS;
}

void sx_run_push_end(struct sx_run_push *push, pmix_status_t status, bool answer)
{
    if (push == NULL) {
        return;
    }
    if (answer && push->fn != NULL) {
        push->fn(status, push->arg);
    }
    free(push->targets);
    free(push);
}

static void push_release(struct sx_run_push *push)
{
    if (--push->open == 0) {
        sx_run_push_end(push,
                        push->had     ? PMIX_SUCCESS
                        : push->known ? PMIX_ERR_IOF_COMPLETE
                                      : PMIX_ERR_NOT_FOUND,
                        true);
    }
}

/* ---- the input of a rank --------------------------------------------------------------------- */

static void place_end(struct sx_run_feed *feed)
{
    struct place *const place = feed->first;

    feed->first = place->next;
    if (feed->first == NULL) {
        feed->last = &feed->first;
    }
    push_release(place->push);
    free(place);
}

static void feed_wait(struct sx_run_feed *feed, bool on)
{
    if (on == feed->waits) {
        return;
    }
    feed->waits = on;
    if (on) {
        feed->watch.fd = feed->fd;
        (void)sx_run_loop_add(feed->loop, &feed->watch, EPOLLOUT);
    } else {
        sx_run_loop_remove(feed->loop, &feed->watch);
    }
}

/* End the rank's input. */
static void feed_close(struct sx_run_feed *feed)
{
    feed_wait(feed, false);
    if (feed->fd >= 0) {
        close(feed->fd);
        feed->fd = -1;
    }
    while (feed->first != NULL) {
        place_end(feed);
    }
}

/* Return: 0 or errno. */
static int place_write(const struct sx_run_feed *feed, struct place *place)
{
    const struct sx_run_push *const push = place->push;

    while (place->at < push->size) {
        const ssize_t wrote = write(feed->fd, push->bytes + place->at, push->size - place->at);

        if (wrote >= 0) {
            place->at += (size_t)wrote;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static void feed_write(struct sx_run_feed *feed)
{
    while (feed->fd >= 0 && feed->first != NULL) {
        struct sx_run_push *const push = feed->first->push;
        const int why = place_write(feed, feed->first);

        if (why == EAGAIN) {
            feed_wait(feed, true);
            return;
        }
        push->had = push->had || why == 0;
        if (why != 0 || push->complete) {
            feed_close(feed); /* nobody reads it any more, or its input has ended */
        } else {
            place_end(feed);
        }
    }
    feed_wait(feed, false);
}

static void feed_ready(void *arg, uint32_t events)
{
    (void)events;
    feed_write(arg);
}

static void feed_put(struct sx_run_feed *feed, struct sx_run_push *push)
{
    push->known = true;
    if (feed->fd < 0 || feed->given == push->number) {
        return;
    }
    feed->given = push->number;
    struct place *const place = sx_cli_calloc(1, sizeof(*place));

    *place = (struct place){ .push = push };
    push->open++;
    *feed->last = place;
    feed->last = &place->next;
    feed_write(feed);
}

struct sx_run_feed *sx_run_feed_new(struct sx_run_loop *loop, int fd)
{
    struct sx_run_feed *const feed = sx_cli_calloc(1, sizeof(*feed));

    *feed = (struct sx_run_feed){ .loop = loop, .fd = fd, .last = &feed->first };
    feed->watch = (struct sx_run_watch){ .fd = -1, .fn = feed_ready, .arg = feed };
    return feed;
}

struct sx_run_feed *sx_run_feed_free(struct sx_run_feed *feed)
{
    if (feed != NULL) {
        feed_close(feed);
    }
    free(feed);
    return NULL;
}

/* ---- the targets ----------------------------------------------------------------------------- */

static void deal_to(const struct sx_run_job *job, pmix_rank_t rank, struct sx_run_push *push)
{
    const bool all = rank == PMIX_RANK_WILDCARD;

    for (uint32_t i = all ? 0 : rank; i < job->spawned && (all || i == rank); i++) {
        if (job->ranks[i].feed != NULL) {
            feed_put(job->ranks[i].feed, push);
        }
    }
}

void sx_run_push_deal(const struct sx_run_jobs *jobs, struct sx_run_push *push)
{
    push->open = 1;
    for (size_t i = 0; i < push->target_count; i++) {
        for (uint32_t at = 0; at < jobs->count; at++) {
            if (strcmp(jobs->at[at]->nspace, push->targets[i].nspace) == 0) {
                deal_to(jobs->at[at], push->targets[i].rank, push);
            }
        }
    }
    push_release(push);
}
