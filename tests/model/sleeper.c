/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper.c - who sleeps in poll(2), and who writes to it: every interleaving (see model.c).
 *
 * The client does what shmix_fd's users do: look for news; when there are none, go to sleep; look
 * once more if it sleeps only now; poll.  What has to hold: it is woken for what it has not seen, and
 * poll returns at most once for each news, and once at the start. */
#include "engine.h"

#include <string.h>

#include "ring/sleeper.c"
#include "sleeper.h"

#define CLASS_FIRST 1u
#define CLASS_SECOND 2u

static struct sx_lane_line line;
static struct sx_board_slot slot;
static struct {
    _Atomic uint32_t count;
} news;
static uint32_t news_count, news_class;

struct publisher {
    uint32_t published;
    bool owes; /* a byte that was refused */
};

static bool publisher_turn(void *locals)
{
    struct publisher *const publisher = locals;

    if (!publisher->owes) {
        atomic_store_explicit(&news.count, ++publisher->published, memory_order_release);
    }
    publisher->owes = !sx_sleeper_ring(&line, &slot, news_class, 0);
    return !publisher->owes && publisher->published == news_count;
}

struct poller {
    uint32_t seen, polls;
    bool wants_first, wants_both; /* it has said so */
    bool begins_early;            /* it sleeps for the first class before it wants the second */
};

/* Return: true when the turn is over. */
static bool classes_choose(struct poller *poller)
{
    if (poller->begins_early && !poller->wants_first) {
        sx_sleeper_classes(&line, CLASS_FIRST);
        (void)sx_sleeper_sleep(&line, &slot, 1);
        poller->wants_first = true;
        return true;
    }
    if (!poller->wants_both) {
        sx_sleeper_classes(&line, CLASS_FIRST | CLASS_SECOND);
        poller->wants_both = true;
    }
    return false;
}

static bool poller_turn(void *locals)
{
    struct poller *const poller = locals;

    if (classes_choose(poller)) {
        return false;
    }
    const uint32_t now = atomic_load_explicit(&news.count, memory_order_acquire);

    if (now != poller->seen) {
        model_need(now > poller->seen && now <= news_count);
        poller->seen = now;
        return now == news_count;
    }
    const enum sx_sleep sleep = sx_sleeper_sleep(&line, &slot, 1);

#ifdef MODEL_LOOK_ONCE
    if (true) {
        (void)sleep;
#else
    if (sleep == SX_SLEEP_NOTHING_NEW) {
#endif
        model_poll();
        poller->polls++;
        model_need(poller->polls <= 1 + model_newest(&news.count));
    }
    return false;
}

static bool sleeping(const char *name, uint32_t count, uint32_t class_bits, bool begins_early,
                     uint16_t refusals)
{
    const struct publisher publisher = { .published = 0 };
    const struct poller poller = { .begins_early = begins_early };

    memset(&line, 0, sizeof(line));
    memset(&slot, 0, sizeof(slot));
    memset(&news, 0, sizeof(news));
    news_count = count;
    news_class = class_bits;
    model_reset();
    model_location(&news.count, 4, "news", 0);
    model_location(&slot.wake_rung, 4, "wake_rung", 0);
    model_location(&line.wake_wanted, 4, "wake_wanted", 1);
    model_location(&line.wake_classes, 4, "wake_classes", 1);
    return model_explore(&(struct model_options){
        .name = name,
        .thread_count = 2,
        .turn = { publisher_turn, poller_turn },
        .locals = { &publisher, &poller },
        .locals_size = { sizeof(publisher), sizeof(poller) },
        .socket_bytes = 1, /* sx_sleeper_open */
        .refusals = refusals,
    });
}

bool model_sleeping(void)
{
    return sleeping("one news for who polls", 1, CLASS_FIRST, false, 0) &&
           sleeping("three news for who polls", 3, CLASS_SECOND, false, 0) &&
           sleeping("news for who wants one class first", 2, CLASS_SECOND, true, 0) &&
           sleeping("news whose byte may be refused", 2, CLASS_FIRST, false, 2);
}
