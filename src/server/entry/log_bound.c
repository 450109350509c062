/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_bound.c - a row for each user that has caused a line lately, and a timer while lines are left
 * out. */
#include "server/entry/entry.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/util.h"

#define LINES_MAX 1000000000u
#define PERIOD_SECONDS (SX_LOG_BOUND_NS / UINT64_C(1000000000))

static struct sx_log_user *others_of(struct sx_log_bound *bound)
{
    return &bound->users[SX_LOG_USERS_MAX];
}

/* One line for what @user has caused beyond its bound; its row is free then. */
static void user_close(struct sx_log_bound *bound, struct sx_log_user *user)
{
    const uint64_t left_out = user->left_out;
    const bool is_others = user == others_of(bound);
    const uint32_t uid = user->uid;

    *user = (struct sx_log_user){ .until_ns = 0 };
    if (left_out == 0) {
        return;
    }
    bound->is_notifying = true;
    if (is_others) {
        sx_log(SX_LOG_WARN, "%llu lines about no user in particular were left out",
               (unsigned long long)left_out);
    } else {
        sx_log(SX_LOG_WARN, "%llu lines that user %u caused were left out",
               (unsigned long long)left_out, (unsigned)uid);
    }
    bound->is_notifying = false;
}

/* Return: the row of the user who is served, new if need be. */
static struct sx_log_user *user_find(struct sx_log_bound *bound)
{
    struct sx_log_user *room = NULL;

    for (size_t i = 0; bound->cause.is_user && i < SX_LOG_USERS_MAX; i++) {
        struct sx_log_user *const user = &bound->users[i];

        if (user->until_ns != 0 && user->uid == bound->cause.uid) {
            return user;
        }
        if (room == NULL && user->until_ns == 0) {
            room = user;
        }
    }
    return room != NULL ? room : others_of(bound);
}

/* Close the rows whose period is over.  Return: when the first of the others ends. */
static uint64_t users_close(struct sx_log_bound *bound, uint64_t now_ns)
{
    uint64_t next_ns = SX_DEADLINE_NEVER;

    for (size_t i = 0; i < SX_COUNT(bound->users); i++) {
        struct sx_log_user *const user = &bound->users[i];

        if (user->until_ns != 0 && user->until_ns <= now_ns) {
            user_close(bound, user);
        } else if (user->until_ns != 0 && user->left_out != 0 && user->until_ns < next_ns) {
            next_ns = user->until_ns;
        }
    }
    return next_ns;
}

static void period_ends(void *arg, uint64_t now_ns)
{
    struct sx_server *const server = arg;
    const uint64_t next_ns = users_close(&server->entry.log_bound, now_ns);

    if (next_ns != SX_DEADLINE_NEVER) {
        (void)sx_timer_add(server->loop, &server->entry.log_bound.timer, next_ns);
    }
}

/* Without the timer the next line of any user, or the end of the server, reports them. */
static void timer_start(struct sx_server *server, uint64_t at_ns)
{
    struct sx_timer *const timer = &server->entry.log_bound.timer;

    if (timer->source.loop == NULL) {
        timer->fn = period_ends;
        timer->arg = server;
        (void)sx_timer_add(server->loop, timer, at_ns);
    }
}

/* The first line of @user that is left out: @max have been written. */
static void bound_log(struct sx_log_bound *bound, const struct sx_log_user *user, uint64_t max)
{
    bound->is_notifying = true;
    if (user == others_of(bound)) {
        sx_log(SX_LOG_WARN, "too many lines in %u s about no user in particular: more are counted",
               (unsigned)PERIOD_SECONDS);
    } else {
        sx_log(SX_LOG_WARN,
               "user %u has caused %llu lines in %u s: more are counted (SHMIX_LOG_LINES)",
               (unsigned)user->uid, (unsigned long long)max, (unsigned)PERIOD_SECONDS);
    }
    bound->is_notifying = false;
}

static bool line_take(struct sx_server *server, enum sx_log_level level)
{
    struct sx_log_bound *const bound = &server->entry.log_bound;
    const uint64_t now_ns = sx_now_ns();

    (void)users_close(bound, now_ns);
    struct sx_log_user *const user = user_find(bound);
    const bool is_detail = level > SX_LOG_WARN;
    const uint64_t max = bound->lines_max * (is_detail ? SX_LOG_BOUND_DETAILS : 1) *
                         (user == others_of(bound) ? SX_LOG_BOUND_OTHERS : 1);
    uint64_t *const lines = is_detail ? &user->details : &user->lines;

    if (user->until_ns == 0) {
        user->until_ns = now_ns + SX_LOG_BOUND_NS;
        user->uid = bound->cause.uid;
    }
    if (*lines < max) {
        (*lines)++;
        return true;
    }
    if (user->left_out++ == 0) {
        timer_start(server, user->until_ns);
        bound_log(bound, user, max);
    }
    return false;
}

static bool may_write(enum sx_log_level level)
{
    struct sx_server *const server = sx_server_or_parents();

    if (server == NULL || !sx_loop_is_own_thread(server->loop) ||
        server->entry.log_bound.is_notifying) {
        return true;
    }
    return line_take(server, level);
}

pmix_status_t sx_log_bound_init(struct sx_server *server)
{
    server->entry.log_bound.lines_max = SX_LOG_BOUND_LINES;
    return sx_switch_number("SHMIX_LOG_LINES", 1, LINES_MAX, &server->entry.log_bound.lines_max);
}

void sx_log_bound_begin(void)
{
    sx_log_set_judge(may_write);
}

struct sx_log_cause sx_log_bound_serve(struct sx_server *server, uint32_t uid)
{
    const struct sx_log_cause before = server->entry.log_bound.cause;

    server->entry.log_bound.cause = (struct sx_log_cause){ .uid = uid, .is_user = true };
    return before;
}

void sx_log_bound_served(struct sx_server *server, struct sx_log_cause before)
{
    server->entry.log_bound.cause = before;
}

void sx_log_bound_end(struct sx_server *server)
{
    sx_timer_remove(&server->entry.log_bound.timer);
    (void)users_close(&server->entry.log_bound, SX_DEADLINE_NEVER);
}
