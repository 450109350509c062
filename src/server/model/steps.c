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
