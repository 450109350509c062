/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* engine.h - run real code in every order that C11 and the kernel allow.
 *
 * The code under test is compiled with this file in front, which puts the explorer in the place of
 * the atomic operations, of futex system calls and of a socket's.  A model has a few threads.  Each
 * is a function, called turn after turn on its own locals; it says when it has finished.  A thread
 * is not stopped in the middle: to make its next step, its turn is run again from the beginning with
 * the answers that it got so far, so a turn must depend on nothing else (it may look at shared
 * memory only through the operations below).
 *
 * Memory is the release/acquire fragment of C11, as a set of messages per location and a view per
 * thread: a load may return any message that is not older than what the thread has seen; an
 * acquire load of a release store hands over what its storer had seen.  So a load may be as late
 * or as early as hardware could make it.  A seq_cst fence hands over what all threads had seen that
 * made such a fence before.  membarrier(2) is as if each other thread had made one between two of its
 * steps, and the caller one before and one after.  Each location has one thread that stores to it.
 * Plain bytes that one thread writes and another reads later are words like others, accessed
 * relaxed.  What is left out: loads that move behind later stores of their own thread (no code here
 * has such a pair without a fence, a release or a system call between), and read-modify-writes
 * (there are none).
 *
 * Futexes: waiting takes the queue's lock, compares, queues; waking takes the lock and wakes the
 * first of matching mask.  The lock hands over views, and so does being woken (the kernel's
 * memory-barriers.txt, "Sleep and wake-up functions").
 *
 * One socket: bytes go in at one end and come out at the other; poll waits until there is one.  Its
 * lock hands over views, too.  A byte may be refused for want of memory, as often as the model says.
 *
 * Every state is visited once (64-bit hashes are compared, so two of some million states could be
 * taken for one with a chance of 1 in a million).  A state in which nobody can go on although some
 * thread has not finished is a lost wake-up. */
#ifndef SX_TESTS_MODEL_ENGINE_H
#define SX_TESTS_MODEL_ENGINE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define MODEL_THREADS_MAX 5
#define MODEL_LOCALS_MAX 64

/* One turn.  Return: true when the thread has finished. */
typedef bool (*model_turn_fn)(void *locals);

struct model_options {
    const char *name;
    unsigned thread_count;
    model_turn_fn turn[MODEL_THREADS_MAX];
    const void *locals[MODEL_THREADS_MAX]; /* to begin with */
    size_t locals_size[MODEL_THREADS_MAX];
    uint16_t socket_bytes; /* in the socket to begin with */
    uint16_t refusals;     /* of send() */
};

/* Forget all locations. */
void model_reset(void);
/* @word of @size bytes (4 or 8), stored to by thread @owner alone; it begins as it is now. */
void model_location(const volatile void *word, unsigned size, const char *name, unsigned owner);
/* The newest value of a location, whoever may see it: for judging, not for the code under test. */
uint64_t model_newest(const volatile void *word);
/* Explore.  Return: true when nothing was violated; else the steps that led there are printed. */
bool model_explore(const struct model_options *options);

/* For turns. */
#define model_need(fact) ((fact) ? (void)0 : model_violated(#fact, __LINE__))
_Noreturn void model_violated(const char *fact, int line);
/* Either goes on, or this thread never makes another step (killed, or stopped for ever). */
void model_may_stop_here(void);
/* Until there is a byte in the socket. */
void model_poll(void);

/* ---- what the code under test gets --------------------------------------------------------- */

uint64_t model_load(const volatile void *word, unsigned size, memory_order order);
void model_store(volatile void *word, unsigned size, uint64_t value, memory_order order);
void model_fence(memory_order order);
long model_syscall(long number, ...);
ssize_t model_send(int fd, const void *bytes, size_t size, int flags);
ssize_t model_recv(int fd, void *bytes, size_t size, int flags);
/* As memcpy and, up to 64 bytes, memcmp: word by word, as far as words are locations. */
void *model_copy(void *to, const void *from, size_t size);
int model_compare(const void *one, const void *other, size_t size);

#ifndef MODEL_ENGINE
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_thread_fence
#define atomic_thread_fence(order) model_fence(order)
#define send model_send
#define recv model_recv
#define atomic_load_explicit(at, order) \
    ((__typeof__(*(at) + 0))(uintptr_t)model_load((at), sizeof(*(at)), (order)))
#define atomic_store_explicit(at, value, order) \
    model_store((at), sizeof(*(at)), (uint64_t)(value), (order))
#define syscall model_syscall
#endif

#endif
