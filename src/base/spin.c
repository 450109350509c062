/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spin.c - polls, yields, and the outcomes that adapt them. */
#include "base/spin.h"

#include <sched.h>

#include "base/clock.h"
#include "base/environment.h"

#define SX_SPIN_LOOKS 8u                     /* between two yields */
#define SX_SPIN_CROWDED_NS UINT64_C(1000000) /* peers are through sooner, a time slice is longer */

enum outcome { PAID, IN_VAIN, CROWDED };

pmix_status_t sx_spin_init(struct sx_spin *spin)
{
    uint64_t us = SX_SPIN_US;
    const pmix_status_t rc = sx_switch_number("SHMIX_SPIN", 0, SX_SPIN_US_MAX, &us);

    *spin = (struct sx_spin){ .ns = us * 1000 };
    return rc;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* relaxed, as everywhere here: only the next spin depends on these. */
static uint32_t get(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void set(_Atomic uint32_t *count, uint32_t value)
{
    atomic_store_explicit(count, value, memory_order_relaxed);
}

/* The next pause, the first of @first, each @times the one before. */
static uint32_t longer(uint32_t pause, uint32_t first, uint32_t times, uint32_t max)
{
    return pause == 0 ? first : pause < max ? pause * times : max;
}

static void learn(struct sx_spin *spin, enum outcome outcome)
{
    const uint32_t pause = outcome != IN_VAIN ? 0
                                              : longer(get(&spin->pause), 1, 2, SX_SPIN_PAUSE_MAX);
    const uint32_t was = get(&spin->crowded);
    /* Slowly less: a computing thread may be on another CPU of this process for a moment. */
    const uint32_t crowded = outcome == CROWDED ? longer(was, SX_SPIN_CROWDED_MIN,
                                                         SX_SPIN_CROWDED_MIN, SX_SPIN_CROWDED_MAX)
                                                : was / SX_SPIN_CROWDED_MIN;

    set(&spin->pause, pause);
    set(&spin->crowded, crowded);
    set(&spin->left, outcome == CROWDED ? crowded : pause);
}

static void end(struct sx_spin *spin, struct sx_spin_try *try, enum outcome outcome)
{
    try->begin_ns = 0;
    learn(spin, outcome);
}

bool sx_spin_is_crowded(const struct sx_spin *spin)
{
    return get(&spin->left) > 0 && get(&spin->crowded) > 0 && get(&spin->pause) == 0;
}

/* Return: whether other threads have kept the CPU. */
static bool yield_is_long(void)
{
    const uint64_t begin_ns = sx_now_ns();

    sched_yield();
    return sx_now_ns() - begin_ns > SX_SPIN_CROWDED_NS;
}

void sx_spin_yield(struct sx_spin *spin)
{
    if (!sx_spin_is_crowded(spin) && yield_is_long()) {
        learn(spin, CROWDED);
    }
}

/* Whether the sleep that is due begins at once. */
static bool is_paused(struct sx_spin *spin)
{
    const uint32_t left = get(&spin->left);

    if (left > 0) {
        set(&spin->left, left - 1);
    }
    return left > 0 || spin->ns == 0;
}

bool sx_spin_again(struct sx_spin *spin, struct sx_spin_try *try)
{
    if (try->begin_ns == 0) {
        if (is_paused(spin)) {
            return false;
        }
        try->begin_ns = sx_now_ns();
    } else if (sx_now_ns() - try->begin_ns >= spin->ns) {
        end(spin, try, IN_VAIN);
        return false;
    }
    if (yield_is_long()) {
        end(spin, try, CROWDED);
    }
    return true;
}

void sx_spin_paid(struct sx_spin *spin, struct sx_spin_try *try)
{
    if (try->begin_ns != 0) {
        end(spin, try, PAID);
    }
}

static bool look(bool (*news)(void *arg), void *arg)
{
    for (unsigned i = 0; i < SX_SPIN_LOOKS; i++) {
        if (news(arg)) {
            return true;
        }
        relax();
    }
    return false;
}

bool sx_spin(struct sx_spin *spin, bool (*news)(void *arg), void *arg)
{
    struct sx_spin_try try = { .begin_ns = 0 };

    while (!look(news, arg)) {
        if (!sx_spin_again(spin, &try)) {
            return false;
        }
    }
    sx_spin_paid(spin, &try);
    return true;
}
