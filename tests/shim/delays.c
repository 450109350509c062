/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* delays.c - short sleeps at random around calls where processes and threads meet, for LD_PRELOAD:
 * what only happens in one order by chance happens in the other one too.
 *
 *   SHMIX_DELAYS_PERMILLE  of the calls, before and after; of locks a tenth of that (40)
 *   SHMIX_DELAYS_MS        the longest sleep; every other one is a thirtieth (20)
 *
 * It calls nothing but nanosleep, so tests that count system calls fail with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHORT_PART 30u
#define LOCK_PART 10u
#define THREAD_PERMILLE 300u /* of a thread's beginning, on both sides */

static unsigned calls_permille = 40, max_ms = 20;

__attribute__((constructor)) static void begin(void)
{
    const char *const permille = getenv("SHMIX_DELAYS_PERMILLE");
    const char *const ms = getenv("SHMIX_DELAYS_MS");

    calls_permille = permille != NULL ? (unsigned)strtoul(permille, NULL, 10) : calls_permille;
    max_ms = ms != NULL ? (unsigned)strtoul(ms, NULL, 10) : max_ms;
}

/* Different in each thread and each process. */
static uint64_t random_next(void)
{
    static __thread uint64_t state;
    struct timespec now;

    if (state == 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        state = ((uint64_t)now.tv_nsec << 20 ^ (uint64_t)(uintptr_t)&state ^ (uint64_t)getpid()) |
                1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void delay(unsigned permille)
{
    const uint64_t chance = random_next();
    const int before = errno;

    if (chance % 1000 < permille) {
        const unsigned any_us = (unsigned)(chance >> 20) % (max_ms * 1000 + 1);
        const unsigned us = (chance >> 60 & 1) != 0 ? any_us / SHORT_PART : any_us;
        const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L };

        (void)nanosleep(&time, NULL);
    }
    errno = before;
}

/* Define NAME with TYPE, PARAMETERS and ARGUMENTS as the C library's, but late. */
#define DELAYED(type, name, parameters, arguments)     \
    type name parameters                               \
    {                                                  \
        static __typeof__(&name) real;                 \
                                                       \
        if (real == NULL) {                            \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        }                                              \
        delay(calls_permille);                         \
        const type result = real arguments;            \
                                                       \
        delay(calls_permille);                         \
        return result;                                 \
    }

DELAYED(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags))
DELAYED(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags))
DELAYED(ssize_t, send, (int fd, const void *at, size_t size, int flags), (fd, at, size, flags))
DELAYED(ssize_t, recv, (int fd, void *at, size_t size, int flags), (fd, at, size, flags))
DELAYED(int, poll, (struct pollfd * all, nfds_t count, int timeout), (all, count, timeout))
DELAYED(int, epoll_wait, (int fd, struct epoll_event *all, int max, int timeout),
        (fd, all, max, timeout))
DELAYED(int, sem_wait, (sem_t * sem), (sem))
DELAYED(int, sem_post, (sem_t * sem), (sem))

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    }
    delay(calls_permille / LOCK_PART);
    return real(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    }
    const int result = real(mutex);

    delay(calls_permille / LOCK_PART);
    return result;
}

struct beginning {
    void *(*fn)(void *arg);
    void *arg;
};

static void *begin_late(void *arg)
{
    const struct beginning beginning = *(struct beginning *)arg;

    free(arg);
    delay(THREAD_PERMILLE);
    return beginning.fn(beginning.arg);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *),
                   void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    struct beginning *const beginning = malloc(sizeof(*beginning));

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    }
    if (beginning == NULL) {
        return EAGAIN;
    }
    *beginning = (struct beginning){ .fn = fn, .arg = arg };
    const int result = real(thread, attributes, begin_late, beginning);

    if (result != 0) {
        free(beginning);
    } else {
        delay(THREAD_PERMILLE);
    }
    return result;
}

/* Futexes, above all.  What is not given is passed on as it lies there: the kernel ignores it. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long arguments[6];
    va_list list;

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    delay(calls_permille);
    const long result = real(number, arguments[0], arguments[1], arguments[2], arguments[3],
                             arguments[4], arguments[5]);

    delay(calls_permille);
    return result;
}
