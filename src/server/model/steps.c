/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* steps.c - one post for all that is left. */
#include "server/model/steps.h"

#include <pmix_common.h>

#include "server/model/state.h"

/* All pieces of one turn of the loop have one bound, be they posted or not. */
static void turn_look(struct sx_steps *steps)
{
    const struct sx_loop *const loop = steps->server->loop;
    const uint64_t turn = loop != NULL ? sx_loop_stats(loop).turns : 0;

    if (steps->turn != turn) {
        steps->turn = turn;
        steps->left = steps->max;
    }
}

static bool step(struct sx_steps *steps)
{
    steps->is_busy = true;
    const bool is_done = steps->fn(steps->server, &steps->left);

    steps->is_busy = false;
    return is_done;
}

static void rest_post(struct sx_steps *steps)
{
    steps->is_posted = sx_loop_post(steps->server->loop, &steps->post) == PMIX_SUCCESS;
    if (!steps->is_posted) { /* the loop has stopped */
        steps->left = SIZE_MAX;
        (void)step(steps);
        steps->left = 0;
    }
}

static void some_do(struct sx_steps *steps)
{
    if (steps->left == 0 || !step(steps)) {
        rest_post(steps);
    }
}

static void posted(void *arg, uint64_t now_ns)
{
    struct sx_steps *const steps = arg;

    (void)now_ns;
    steps->is_posted = false;
    turn_look(steps);
    some_do(steps);
}

void sx_steps_init(struct sx_steps *steps, struct sx_server *server, sx_steps_fn fn, size_t max)
{
    *steps = (struct sx_steps){ .server = server, .fn = fn, .max = max, .left = max };
    steps->post = (struct sx_loop_post){ .fn = posted, .arg = steps };
}

bool sx_steps_take(struct sx_steps *steps)
{
    if (steps->is_busy) {
        return true;
    }
    turn_look(steps);
    if (steps->is_posted || steps->left == 0) {
        return false;
    }
    steps->left--;
    return true;
}

size_t *sx_steps_left(struct sx_steps *steps)
{
    turn_look(steps);
    return &steps->left;
}

void sx_steps_go(struct sx_steps *steps)
{
    if (steps->is_posted || steps->is_busy) {
        return;
    }
    turn_look(steps);
    some_do(steps);
}

void sx_steps_later(struct sx_steps *steps)
{
    if (!steps->is_posted && !steps->is_busy) {
        rest_post(steps);
    }
}

/* ---- a queue --------------------------------------------------------------------------------- */

void sx_steps_queue_init(struct sx_steps_queue *queue)
{
    sx_list_init(&queue->shorts);
    sx_list_init(&queue->longs);
}

void sx_steps_queue_add(struct sx_steps_queue *queue, struct sx_steps_entry *entry)
{
    sx_list_append(entry->is_long ? &queue->longs : &queue->shorts, &entry->link);
}

static struct sx_steps_entry *first_of(const struct sx_list *list)
{
    return sx_list_empty(list) ? NULL : SX_LIST_ENTRY(list->next, struct sx_steps_entry, link);
}

struct sx_steps_entry *sx_steps_queue_first(const struct sx_steps_queue *queue)
{
    struct sx_steps_entry *const entry = first_of(&queue->longs);

    return entry != NULL ? entry : first_of(&queue->shorts);
}

/* The others of its kind come first. */
static void last_make(struct sx_steps_queue *queue, struct sx_steps_entry *entry)
{
    entry->is_anew = false;
    sx_list_remove(&entry->link);
    sx_steps_queue_add(queue, entry);
}

/* Do up to @some pieces of the first short entry, which is behind the others then.  Its end may
 * begin other work, which counts *@left down, too. */
static void short_do(const struct sx_steps *steps, struct sx_steps_queue *queue,
                     sx_steps_entry_fn fn, size_t some, size_t *left)
{
    struct sx_steps_entry *const entry = first_of(&queue->shorts);
    size_t rest = some;

    *left -= some;
    if (!fn(entry, &rest)) {
        entry->done += some;
        entry->is_long = entry->is_long || entry->is_anew ||
                         entry->done >= SX_STEPS_SHORT_TURNS * steps->max;
        last_make(queue, entry);
    }
    *left += rest;
}

/* Until @keep are left. */
static void shorts_do(const struct sx_steps *steps, struct sx_steps_queue *queue,
                      sx_steps_entry_fn fn, size_t keep, size_t *left)
{
    const size_t round = steps->max / SX_STEPS_ROUND_PARTS + 1;

    while (*left > keep && !sx_list_empty(&queue->shorts)) {
        short_do(steps, queue, fn, round < *left - keep ? round : *left - keep, left);
    }
}

bool sx_steps_queue_do(const struct sx_steps *steps, struct sx_steps_queue *queue,
                       sx_steps_entry_fn fn, size_t *left)
{
    bool is_done = true;

    shorts_do(steps, queue, fn, sx_list_empty(&queue->longs) ? 0 : *left / 4 * 3, left);
    while (is_done && *left > 0 && !sx_list_empty(&queue->longs)) {
        struct sx_steps_entry *const entry = first_of(&queue->longs);

        is_done = fn(entry, left);
        if (!is_done && entry->is_anew) {
            last_make(queue, entry);
        }
    }
    shorts_do(steps, queue, fn, 0, left);
    return sx_list_empty(&queue->shorts) && sx_list_empty(&queue->longs);
}
