/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* engine.c - depth-first over all states; see engine.h for what a state is.
 *
 * Two kinds of steps are made at once and without alternatives, since their order against other
 * threads' steps changes nothing: stores (a store forbids no load to return an older message) and
 * a thread's loads of its own locations.  Bounds are checked; a model that needs more says so. */
#define MODEL_ENGINE
#include "engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define LOCATIONS_MAX 48
#define MESSAGES_MAX 48
#define LOG_MAX 64
#define QUEUE_MAX 16
#define LOCKS_MAX 10
#define DEPTH_MAX 4096
#define SYS_WAITV 449

struct view {
    uint8_t at[LOCATIONS_MAX]; /* the oldest message that may still be returned */
};

struct message {
    uint64_t value;
    struct view view; /* handed over by an acquire load */
};

enum step_kind {
    STEP_NONE,
    STEP_LOAD,
    STEP_STORE,
    STEP_QUEUE,
    STEP_SLEEP,
    STEP_WAKE,
    STEP_STOP,
    STEP_FENCE,
    STEP_SEND,
    STEP_TAKE,
    STEP_POLL,
    STEP_BARRIER, /* in all threads */
};

static const char *const step_names[] = { "-",    "load",  "store", "queue", "sleep", "wake",
                                          "stop", "fence", "send",  "take",  "poll",  "barrier" };

struct step {
    enum step_kind kind;
    int location;
    uint64_t value; /* to store; to compare with; how many to wake */
    uint32_t mask;
    memory_order order;
};

struct thread {
    bool finished, stopped, woken;
    uint8_t log_count;
    struct view view;
    uint64_t log[LOG_MAX]; /* the answers of this turn */
    uint64_t locals[MODEL_LOCALS_MAX / 8];
};

struct sleeper {
    uint8_t thread, location;
    uint16_t unused;
    uint32_t mask;
};

struct state {
    uint8_t message_count[LOCATIONS_MAX];
    uint64_t memory_hash;
    uint32_t sleeper_count;
    uint16_t socket_bytes, refused_count;
    struct sleeper queue[QUEUE_MAX];
    struct view lock[LOCKS_MAX]; /* of a word's queue */
    struct view fences, socket;
    struct thread threads[MODEL_THREADS_MAX];
};

struct location {
    const volatile void *word;
    const char *name;
    unsigned owner;
    int lock; /* index, -1: nobody has slept on it */
};

struct trace {
    unsigned thread;
    struct step step;
    uint64_t answer;
};

static struct location locations[LOCATIONS_MAX];
static int location_count, lock_count;
static struct message messages[LOCATIONS_MAX][MESSAGES_MAX];
static const struct model_options *model;
static struct trace trace[DEPTH_MAX];
static unsigned depth;
static uint64_t *visited;
static size_t visited_count, visited_room;

/* The turn that is being run. */
static struct thread *running;
static unsigned replayed;
static struct step pending;
static jmp_buf out_of_turn, out_of_model;
static const char *violated;
static int violated_line;

static _Noreturn void too_small(const char *what)
{
    fprintf(stderr, "model %s: %s is too small\n", model != NULL ? model->name : "?", what);
    exit(2);
}

/* ---- locations ----------------------------------------------------------------------------- */

static int location_of(const volatile void *word)
{
    for (int i = 0; i < location_count; i++) {
        if (locations[i].word == word) {
            return i;
        }
    }
    return -1;
}

static uint64_t plain_load(const volatile void *word, unsigned size)
{
    return size == 1   ? *(const volatile uint8_t *)word
           : size == 4 ? *(const volatile uint32_t *)word
                       : *(const volatile uint64_t *)word;
}

void model_reset(void)
{
    location_count = lock_count = 0;
}

void model_location(const volatile void *word, unsigned size, const char *name, unsigned owner)
{
    if (location_count == LOCATIONS_MAX) {
        too_small("LOCATIONS_MAX");
    }
    locations[location_count] = (struct location){
        .word = word, .name = name, .owner = owner, .lock = -1
    };
    messages[location_count][0] = (struct message){ .value = plain_load(word, size) };
    location_count++;
}

static const struct state *judged;

uint64_t model_newest(const volatile void *word)
{
    const int location = location_of(word);

    return messages[location][judged->message_count[location] - 1].value;
}

static int lock_of(int location)
{
    if (locations[location].lock < 0) {
        if (lock_count == LOCKS_MAX) {
            too_small("LOCKS_MAX");
        }
        locations[location].lock = lock_count++;
    }
    return locations[location].lock;
}

static void view_join(struct view *to, const struct view *from)
{
    for (int i = 0; i < location_count; i++) {
        to->at[i] = from->at[i] > to->at[i] ? from->at[i] : to->at[i];
    }
}

/* ---- inside a turn ------------------------------------------------------------------------- */

/* The answer that this step got already; or leave the turn, since it has to be made first. */
static uint64_t step_answer(struct step step)
{
    if (replayed < running->log_count) {
        return running->log[replayed++];
    }
    pending = step;
    longjmp(out_of_turn, 1);
}

void model_violated(const char *fact, int line)
{
    violated = fact;
    violated_line = line;
    longjmp(out_of_model, 1);
}

uint64_t model_load(const volatile void *word, unsigned size, memory_order order)
{
    const int location = location_of(word);

    if (location < 0) {
        return plain_load(word, size);
    }
    return step_answer((struct step){ .kind = STEP_LOAD, .location = location, .order = order });
}

void model_store(volatile void *word, unsigned size, uint64_t value, memory_order order)
{
    const int location = location_of(word);

    if (location >= 0) {
        (void)step_answer((struct step){ .kind = STEP_STORE,
                                         .location = location,
                                         .order = order,
                                         .value = size == 4 ? (uint32_t)value : value });
    } else if (size == 1) {
        *(volatile uint8_t *)word = (uint8_t)value;
    } else if (size == 4) {
        *(volatile uint32_t *)word = (uint32_t)value;
    } else {
        *(volatile uint64_t *)word = value;
    }
}

void model_may_stop_here(void)
{
    (void)step_answer((struct step){ .kind = STEP_STOP });
}

void model_fence(memory_order order)
{
    if (order != memory_order_seq_cst) {
        too_small("the choice of fences");
    }
    (void)step_answer((struct step){ .kind = STEP_FENCE });
}

void *model_copy(void *to, const void *from, size_t size)
{
    uint8_t *const out = to;
    const uint8_t *const in = from;

    for (size_t i = 0; i < size; i += 8) {
        const size_t part = size - i < 8 ? size - i : 8;
        uint64_t word = 0;

        if (location_of(in + i) >= 0) {
            word = model_load(in + i, 8, memory_order_relaxed);
        } else {
            memcpy(&word, in + i, part);
        }
        if (location_of(out + i) >= 0) {
            model_store(out + i, 8, word, memory_order_relaxed);
        } else {
            memcpy(out + i, &word, part);
        }
    }
    return to;
}

int model_compare(const void *one, const void *other, size_t size)
{
    uint8_t copies[2][64];

    if (size > sizeof(copies[0])) {
        too_small("model_compare");
    }
    model_copy(copies[0], one, size);
    model_copy(copies[1], other, size);
    return memcmp(copies[0], copies[1], size);
}

void model_poll(void)
{
    (void)step_answer((struct step){ .kind = STEP_POLL });
}

ssize_t model_send(int fd, const void *bytes, size_t size, int flags)
{
    (void)fd, (void)bytes, (void)flags;
    if (step_answer((struct step){ .kind = STEP_SEND }) != 0) {
        return (ssize_t)size;
    }
    errno = ENOBUFS;
    return -1;
}

ssize_t model_recv(int fd, void *bytes, size_t size, int flags)
{
    (void)fd, (void)bytes, (void)size, (void)flags;
    const uint64_t taken = step_answer((struct step){ .kind = STEP_TAKE });

    errno = EAGAIN;
    return taken != 0 ? (ssize_t)taken : -1;
}

static bool queue_on(const volatile void *word, uint32_t seen, uint32_t mask)
{
    return step_answer((struct step){
               .kind = STEP_QUEUE, .location = location_of(word), .value = seen, .mask = mask }) !=
           0;
}

static long sleep_now(bool all_queued)
{
    /* Not all queued: leave the queues, whether woken meanwhile or not. */
    (void)step_answer((struct step){ .kind = STEP_SLEEP, .value = all_queued });
    errno = EAGAIN;
    return all_queued ? 0 : -1;
}

long model_syscall(long number, ...)
{
    /* As the kernel's interface has it. */
    const struct waitv {
        uint64_t seen, address;
        uint32_t flags, reserved;
    } * words;
    va_list args;
    long rc;

    if (number == SYS_membarrier) {
        (void)step_answer((struct step){ .kind = STEP_BARRIER });
        return 0;
    }
    va_start(args, number);
    if (number == SYS_WAITV) {
        words = va_arg(args, const void *);
        const unsigned count = va_arg(args, unsigned);
        bool all = true;

        for (unsigned i = 0; i < count && all; i++) {
            all = queue_on((const void *)(uintptr_t)words[i].address, (uint32_t)words[i].seen,
                           FUTEX_BITSET_MATCH_ANY);
        }
        rc = sleep_now(all);
    } else {
        const void *const word = va_arg(args, const void *);
        const int op = va_arg(args, int);
        const uint32_t value = va_arg(args, uint32_t);

        (void)va_arg(args, const void *);
        (void)va_arg(args, const void *);
        const uint32_t mask = va_arg(args, uint32_t);

        if (op == FUTEX_WAKE_BITSET) {
            rc = (long)step_answer((struct step){
                .kind = STEP_WAKE, .mask = mask, .location = location_of(word), .value = value });
        } else {
            rc = sleep_now(queue_on(word, value, mask));
        }
    }
    va_end(args);
    return rc;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Run @thread up to its next step.  Return: false when it has finished. */
static bool thread_advance(const struct state *state, struct thread *thread, unsigned index,
                           struct step *ret)
{
    static uint64_t locals[MODEL_LOCALS_MAX / 8];

    if (thread->finished || thread->stopped) {
        return false;
    }
    running = thread;
    judged = state;
    for (;;) {
        replayed = 0;
        memcpy(locals, thread->locals, sizeof(locals));
        if (setjmp(out_of_turn) != 0) {
            *ret = pending;
            return true;
        }
        thread->finished = model->turn[index](locals);
        memcpy(thread->locals, locals, sizeof(locals));
        memset(thread->log, 0, thread->log_count * sizeof(thread->log[0]));
        thread->log_count = 0;
        if (thread->finished) {
            return false;
        }
    }
}

static void thread_log(struct state *state, unsigned index, const struct step *step,
                       uint64_t answer)
{
    struct thread *const thread = &state->threads[index];

    if (thread->log_count == LOG_MAX) {
        too_small("LOG_MAX");
    }
    if (depth == DEPTH_MAX) {
        too_small("DEPTH_MAX");
    }
    thread->log[thread->log_count++] = answer;
    trace[depth++] = (struct trace){ .thread = index, .step = *step, .answer = answer };
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void make_store(struct state *state, unsigned index, const struct step *step)
{
    struct thread *const thread = &state->threads[index];
    const int at = step->location;
    const uint8_t count = state->message_count[at];
    struct message *const message = &messages[at][count];

    if (count == MESSAGES_MAX) {
        too_small("MESSAGES_MAX");
    }
    if (locations[at].owner != index) {
        model_violated("a location has one thread that stores to it", __LINE__);
    }
    *message = (struct message){ .value = step->value };
    thread->view.at[at] = count;
    message->view.at[at] = count;
    if (step->order != memory_order_relaxed) {
        message->view = thread->view;
    }
    state->message_count[at] = (uint8_t)(count + 1);
    state->memory_hash = mix(state->memory_hash, step->value + (uint64_t)at);
    for (int i = 0; i < location_count; i++) {
        state->memory_hash = mix(state->memory_hash, message->view.at[i]);
    }
    thread_log(state, index, step, 0);
}

static void make_load(struct state *state, unsigned index, const struct step *step, uint8_t which)
{
    struct thread *const thread = &state->threads[index];
    const struct message *const message = &messages[step->location][which];

    thread->view.at[step->location] = which;
    if (step->order != memory_order_relaxed) {
        view_join(&thread->view, &message->view);
    }
    thread_log(state, index, step, message->value);
}

/* The queue's lock has been held by others before: their views are ours from here. */
static void make_queue(struct state *state, unsigned index, const struct step *step, uint8_t which)
{
    struct thread *const thread = &state->threads[index];
    const bool equal = messages[step->location][which].value == step->value;

    thread->view.at[step->location] = which;
    view_join(&state->lock[lock_of(step->location)], &thread->view);
    if (equal) {
        if (state->sleeper_count == QUEUE_MAX) {
            too_small("QUEUE_MAX");
        }
        state->queue[state->sleeper_count++] = (struct sleeper){
            .thread = (uint8_t)index,
            .location = (uint8_t)step->location,
            .mask = step->mask,
        };
    }
    thread_log(state, index, step, equal);
}

static void queue_remove(struct state *state, uint32_t at)
{
    state->sleeper_count--;
    memmove(&state->queue[at], &state->queue[at + 1],
            (state->sleeper_count - at) * sizeof(state->queue[0]));
    memset(&state->queue[state->sleeper_count], 0, sizeof(state->queue[0]));
}

static void make_sleep(struct state *state, unsigned index, const struct step *step)
{
    for (uint32_t i = state->sleeper_count; i-- > 0;) {
        if (state->queue[i].thread == index) {
            queue_remove(state, i);
        }
    }
    state->threads[index].woken = false;
    thread_log(state, index, step, 0);
}

static void make_wake(struct state *state, unsigned index, const struct step *step)
{
    struct view *const lock = &state->lock[lock_of(step->location)];
    struct thread *const thread = &state->threads[index];
    uint64_t woken = 0;

    view_join(&thread->view, lock);
    view_join(lock, &thread->view);
    for (uint32_t i = 0; i < state->sleeper_count && woken < (uint32_t)step->value;) {
        const struct sleeper *const sleeper = &state->queue[i];

        if (sleeper->location == step->location && (sleeper->mask & step->mask) != 0) {
            state->threads[sleeper->thread].woken = true;
            view_join(&state->threads[sleeper->thread].view, &thread->view);
            queue_remove(state, i);
            woken++;
        } else {
            i++;
        }
    }
    thread_log(state, index, step, woken);
}

/* @shared is what all threads see that come by here. */
static void view_meet(struct view *shared, struct view *mine)
{
    view_join(mine, shared);
    view_join(shared, mine);
}

static void make_fence(struct state *state, unsigned index, const struct step *step)
{
    view_meet(&state->fences, &state->threads[index].view);
    thread_log(state, index, step, 0);
}

/* What a thread saw before its barrier the caller sees afterwards, and the other way around. */
static void make_barrier(struct state *state, unsigned index, const struct step *step)
{
    const struct view before = state->threads[index].view;

    for (unsigned i = 0; i < model->thread_count; i++) {
        view_join(&state->threads[index].view, &state->threads[i].view);
        view_join(&state->threads[i].view, &before);
    }
    thread_log(state, index, step, 0);
}

/* The socket's steps; @refused: a byte that is not sent. */
static void make_socket(struct state *state, unsigned index, const struct step *step, bool refused)
{
    const uint16_t bytes = state->socket_bytes;

    view_meet(&state->socket, &state->threads[index].view);
    if (step->kind == STEP_SEND && !refused) {
        state->socket_bytes++;
    } else if (step->kind == STEP_SEND) {
        state->refused_count++;
    } else if (step->kind == STEP_TAKE) {
        state->socket_bytes = 0;
    }
    thread_log(state, index, step, step->kind == STEP_SEND ? !refused : bytes);
}

/* ---- exploring ----------------------------------------------------------------------------- */

static uint64_t state_hash(const struct state *state)
{
    const size_t bytes = offsetof(struct state, threads) +
                         model->thread_count * sizeof(struct thread);
    const uint64_t *const words = (const void *)state;
    uint64_t hash = 1;

    for (size_t i = 0; i < bytes / 8; i++) {
        if (words[i] != 0) {
            hash = mix(hash, words[i] + i * UINT64_C(0x100000001b3));
        }
    }
    return hash == 0 ? 1 : hash;
}

/* Return: false when it was there before. */
static bool visit(uint64_t hash)
{
    if (visited_count * 2 >= visited_room) {
        const size_t room = visited_room == 0 ? 1u << 16 : visited_room * 4;
        uint64_t *const grown = calloc(room, sizeof(*grown));

        if (grown == NULL) {
            too_small("memory");
        }
        for (size_t i = 0; i < visited_room; i++) {
            if (visited[i] != 0) {
                size_t at = visited[i] & (room - 1);

                while (grown[at] != 0) {
                    at = (at + 1) & (room - 1);
                }
                grown[at] = visited[i];
            }
        }
        free(visited);
        visited = grown;
        visited_room = room;
    }
    size_t at = hash & (visited_room - 1);

    while (visited[at] != 0 && visited[at] != hash) {
        at = (at + 1) & (visited_room - 1);
    }
    if (visited[at] == hash) {
        return false;
    }
    visited[at] = hash;
    visited_count++;
    return true;
}

static bool is_immediate(const struct step *step, unsigned index)
{
    return step->kind == STEP_STORE ||
           (step->kind == STEP_LOAD && locations[step->location].owner == index);
}

/* All threads up to their next steps, immediate ones made.  Return: how many have a step. */
static unsigned settle(struct state *state, struct step *steps)
{
    unsigned alive = 0;

    for (unsigned i = 0; i < model->thread_count; i++) {
        steps[i].kind = STEP_NONE;
        while (thread_advance(state, &state->threads[i], i, &steps[i])) {
            if (!is_immediate(&steps[i], i)) {
                alive++;
                break;
            }
            if (steps[i].kind == STEP_STORE) {
                make_store(state, i, &steps[i]);
            } else {
                make_load(state, i, &steps[i],
                          (uint8_t)(state->message_count[steps[i].location] - 1));
            }
            steps[i].kind = STEP_NONE;
        }
    }
    return alive;
}

static void explore(struct state *state);

static void explore_thread(const struct state *state, unsigned index, const struct step *step)
{
    const struct thread *const thread = &state->threads[index];
    const unsigned depth_before = depth;
    uint8_t first = 0, end = 1;
    struct view view = thread->view;

    if (step->kind == STEP_QUEUE) {
        view_join(&view, &state->lock[lock_of(step->location)]);
    }
    if (step->kind == STEP_LOAD || step->kind == STEP_QUEUE) {
        first = view.at[step->location];
        end = state->message_count[step->location];
    } else if (step->kind == STEP_STOP ||
               (step->kind == STEP_SEND && state->refused_count < model->refusals)) {
        end = 2;
    }
    /* The newest first: what goes wrong is mostly found soon. */
    for (uint8_t which = end; which-- > first;) {
        struct state next = *state;

        switch (step->kind) {
        case STEP_LOAD:
            make_load(&next, index, step, which);
            break;
        case STEP_QUEUE:
            next.threads[index].view = view;
            make_queue(&next, index, step, which);
            break;
        case STEP_SLEEP:
            make_sleep(&next, index, step);
            break;
        case STEP_WAKE:
            make_wake(&next, index, step);
            break;
        case STEP_FENCE:
            make_fence(&next, index, step);
            break;
        case STEP_BARRIER:
            make_barrier(&next, index, step);
            break;
        case STEP_SEND:
        case STEP_TAKE:
        case STEP_POLL:
            make_socket(&next, index, step, which == 1);
            break;
        default:
            thread_log(&next, index, step, which);
            next.threads[index].stopped = which == 1;
            break;
        }
        explore(&next);
        depth = depth_before;
    }
}

static void explore(struct state *state)
{
    struct step steps[MODEL_THREADS_MAX];
    const unsigned alive = settle(state, steps);
    bool moved = alive == 0;

    if (!visit(state_hash(state))) {
        return;
    }
    for (unsigned i = 0; i < model->thread_count; i++) {
        const bool asleep = steps[i].kind == STEP_POLL
                                ? state->socket_bytes == 0
                                : steps[i].kind == STEP_SLEEP && steps[i].value != 0 &&
                                      !state->threads[i].woken;

        if (steps[i].kind != STEP_NONE && !asleep) {
            moved = true;
            explore_thread(state, i, &steps[i]);
        }
    }
    if (!moved) {
        model_violated("everybody sleeps and somebody has not got what there is", __LINE__);
    }
}

static void trace_print(void)
{
    for (unsigned i = 0; i < depth; i++) {
        const struct trace *const t = &trace[i];
        const bool has_place = t->step.kind != STEP_SLEEP && t->step.kind < STEP_STOP;

        printf("  thread %u: %-5s %-12s %llu -> %llu\n", t->thread, step_names[t->step.kind],
               has_place ? locations[t->step.location].name : "", (unsigned long long)t->step.value,
               (unsigned long long)t->answer);
    }
}

bool model_explore(const struct model_options *options)
{
    static struct state start;

    memset(&start, 0, sizeof(start));
    model = options;
    depth = 0;
    visited_count = visited_room = 0;
    start.socket_bytes = options->socket_bytes;
    for (int i = 0; i < location_count; i++) {
        start.message_count[i] = 1;
    }
    for (unsigned i = 0; i < options->thread_count; i++) {
        if (options->locals_size[i] > MODEL_LOCALS_MAX) {
            too_small("MODEL_LOCALS_MAX");
        }
        memcpy(start.threads[i].locals, options->locals[i], options->locals_size[i]);
    }
    violated = NULL;
    if (setjmp(out_of_model) == 0) {
        explore(&start);
    }
    free(visited);
    visited = NULL;
    if (violated != NULL) {
        printf("%s: VIOLATED (line %d): %s, after %zu states\n", options->name, violated_line,
               violated, visited_count);
        trace_print();
        return false;
    }
    printf("%s: holds in all %zu states\n", options->name, visited_count);
    return true;
}
