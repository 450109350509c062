/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* chain.h - one event on its way through the handlers that want it.
 *
 *     READY --post, step--> a handler runs --completes inside--> the next runs ... --> ended
 *       ^---------- completes later, in any thread -----'
 *
 * Each handler is called only after the one before has called its completion function, from any
 * thread; one that never does holds up this event alone.  PMIX_EVENT_ACTION_COMPLETE ends the
 * chain.  Each handler receives the results of those before it. */
#ifndef SX_BASE_CALL_CHAIN_H
#define SX_BASE_CALL_CHAIN_H

#include "base/call/handlers.h"

struct sx_chain;

struct sx_chain_options {
    struct sx_handlers *handlers; /* outlives the chain */
    struct sx_event_facts facts;  /* copied; affected only has to last for the call */
    /* The infos of the event.  Either infos: malloc'ed, the chain's from here on in any case.  Or
     * an encoded array (flat.h) whose bytes are the chain's until it has ended: values there need
     * not be copied for the handlers. */
    pmix_info_t *info;
    size_t ninfo;
    const void *bytes;
    size_t bytes_size;
    bool here; /* the caller is the thread that runs handlers: the first step needs no post */
    /* Have sx_chain_step called soon, on the thread that runs handlers; any thread calls it.
     * Return: false when that thread is gone: the chain then ends itself. */
    bool (*post)(struct sx_chain *chain, void *arg);
    /* Receives the answer of a handler; NULL: not wanted. */
    void (*said)(void *arg, pmix_status_t status, const pmix_info_t results[], size_t nresults);
    void (*ended)(void *arg); /* the chain has ended; may be NULL */
    void *arg;
};

/* Match the event now and post, or make, the first step.  Return: PMIX_SUCCESS (also without a
 * matching handler: ended is called inside); PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_UNPACK_FAILURE
 * (bytes). */
pmix_status_t sx_chain_start(const struct sx_chain_options *options);

/* Call the next handler, and those behind it as long as each completes before it returns. */
void sx_chain_step(struct sx_chain *chain);

/* Free the chains of @handlers whose handlers have not completed; their late completions match
 * nothing.  Before the table is forgotten; no thread starts or steps chains of it meanwhile.  The
 * caller may be a handler itself: its own chain is freed when it returns. */
void sx_chain_forget(struct sx_handlers *handlers);

/* Storage for the poster: a list node and an intrusive post, unused by the chain itself. */
union sx_chain_post {
    struct sx_list node;
    void *words[6];
};
union sx_chain_post *sx_chain_post(struct sx_chain *chain);

#endif
