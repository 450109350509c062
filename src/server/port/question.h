/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* question.h - a question to the host: from the end of its turn until it is answered.
 *
 * The host gets a number, not a pointer.  An answer that arrives twice, or after the server has
 * forgotten the question, matches no question and is dropped.  A question that a host never answers
 * stays until the server ends.  This header is for the files of this chapter. */
#ifndef SX_SERVER_PORT_QUESTION_H
#define SX_SERVER_PORT_QUESTION_H

#include <pmix_server.h>

#include "server/port/port.h"

/* How an entry is called: with which parts of the question, and which callback it gets. */
typedef pmix_status_t (*sx_upcall_fn)(const pmix_server_module_t *module,
                                      const struct sx_upcall *up, void *cbdata);

/* One entry of the host's module. */
struct sx_upcall_row {
    const char *name;
    size_t entry; /* in the module */
    sx_upcall_fn call;
    unsigned max; /* unanswered ones, 0: only the askers' limit ... */
    uint64_t bytes_max;
    bool ends_with_client; /* not called any more for a client that the host has removed */
};

struct sx_question;

/* Return: the bytes that a question of @up takes, but for the contents of its infos. */
size_t sx_question_size(const struct sx_upcall *up);
/* Make one block of @size bytes with all that the host may look at until it answers.  The entry is
 * called at the end of the turn.  The question counts in @owed.  Return: NULL when memory is
 * out, or the client has its share; then the infos are still the caller's. */
struct sx_question *sx_question_new(struct sx_server *server, const struct sx_upcall_row *row,
                                    struct sx_owed *owed, struct sx_upcall *up, size_t size);
/* The host answers the question of this number.  Any thread. */
void sx_question_answer(uintptr_t number, const struct sx_host_answer *answer,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata);

#endif
