/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* life.h - a word in shared memory that shows the death of its holder.
 *
 *   0 --hold--> tid | WAITERS --release--> 0
 *                     \-----holder dies (thread exit, execve, any signal)----> OWNER_DIED
 *
 * It is a robust, process-shared mutex that its holder keeps for ever.  The kernel walks the robust
 * list of a dying thread before it frees any memory.  So the mark appears before a large process is
 * torn down.
 *
 * The holder sets the WAITERS bit itself, because sleepers may map the word read-only.  The bit
 * makes the kernel wake one sleeper, and that one has to wake the others.  A forked child holds
 * nothing: the word names the parent's thread. */
#ifndef SX_RING_LIFE_H
#define SX_RING_LIFE_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#define SX_LIFE_WAITERS UINT32_C(0x80000000)
#define SX_LIFE_OWNER_DIED UINT32_C(0x40000000)
#define SX_LIFE_TID_MASK UINT32_C(0x3fffffff)

static_assert(sizeof(pthread_mutex_t) == 40, "part of layout 1");

/* While a thread holds the mutex, the C library keeps addresses of that thread in it.  They lie
 * after its first SX_LIFE_SHOWN_BYTES, which are the word, counts and flags.  If others may read
 * the mutex, only these first bytes lie in shared memory, at the end of a page
 * (sx_life_links_hide). */
#define SX_LIFE_SHOWN_BYTES 24u
#ifdef __GLIBC__
static_assert(offsetof(pthread_mutex_t, __data.__list) == SX_LIFE_SHOWN_BYTES, "nothing shows");
#endif

/* The word is the mutex's first: the kernel and the C library agreed on that long ago. */
static inline _Atomic uint32_t *sx_life_word(pthread_mutex_t *life)
{
    return (_Atomic uint32_t *)(void *)life;
}

static inline bool sx_life_word_lives(uint32_t word)
{
    return (word & SX_LIFE_TID_MASK) != 0 && (word & SX_LIFE_OWNER_DIED) == 0;
}

/* Lay private memory of this process over the page at @page.  If a mutex begins SX_LIFE_SHOWN_BYTES
 * before that page, no other process can see the rest of it. */
pmix_status_t sx_life_links_hide(void *page, size_t page_bytes);

/* Format the word at @life (zeroed memory that is not in use yet). */
pmix_status_t sx_life_init(pthread_mutex_t *life);

/* The calling thread holds the word from now on.  Never waits.  Return: PMIX_SUCCESS;
 * PMIX_ERR_RESOURCE_BUSY when another thread holds it; errno's status. */
pmix_status_t sx_life_hold(pthread_mutex_t *life);

/* Give the word back and wake all its sleepers.  Return: false when another thread holds it:
 * nothing has changed, and the memory has to stay mapped. */
bool sx_life_release(pthread_mutex_t *life);

/* Wake all who sleep on a life word; possible through a read-only mapping. */
void sx_life_notify(const _Atomic uint32_t *word);

#endif
