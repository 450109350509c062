/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - a host whose entries all lead to one function of the test.
 *
 * The function receives each call as a question: which entry it is, which process asks, and the
 * callback.  It returns what the entry returns.  It may answer the question by then, keep it for
 * later, or call the library.  It runs on the server's thread.  A question that is kept is answered
 * by host_answer, on any thread. */
#ifndef SX_TESTS_FAULT_HOST_H
#define SX_TESTS_FAULT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix.h>
#include <pmix_server.h>

enum host_entry {
    HOST_CONNECTED,
    HOST_FINALIZED,
    HOST_ABORT,
    HOST_FENCE,
    HOST_MODEX,
    HOST_CONNECT,
    HOST_DISCONNECT,
    HOST_GROUP,
    HOST_PUBLISH,
    HOST_LOOKUP,
    HOST_UNPUBLISH,
    HOST_SPAWN,
    HOST_REGISTER_EVENTS,
    HOST_DEREGISTER_EVENTS,
    HOST_NOTIFY_EVENT,
    HOST_QUERY,
    HOST_TOOL,
    HOST_LOG,
    HOST_ALLOCATE,
    HOST_JOB_CONTROL,
    HOST_MONITOR,
    HOST_GET_CREDENTIAL,
    HOST_VALIDATE_CREDENTIAL,
    HOST_IOF_PULL,
    HOST_PUSH_STDIN,
    HOST_FABRIC,
    HOST_ENTRIES,
};
#define HOST_BIT(entry) (UINT32_C(1) << (entry))
extern const char *const host_entry_names[HOST_ENTRIES];

struct host_question {
    enum host_entry entry;
    const pmix_proc_t *asker; /* during the call; NULL: not known */
    pmix_status_t code;       /* of an event, or the first of several */
    bool is_stop;             /* of a pull: it ends */
    /* The callback: one of these. */
    pmix_op_cbfunc_t op;
    pmix_modex_cbfunc_t modex;
    pmix_info_cbfunc_t info;
    pmix_lookup_cbfunc_t lookup;
    pmix_spawn_cbfunc_t spawn;
    pmix_credential_cbfunc_t credential;
    pmix_validation_cbfunc_t validation;
    pmix_tool_connection_cbfunc_t tool;
    void *cbdata;
    char *bytes; /* of a fence, malloc'ed: all nodes contribute what this one contributes */
    size_t size;
};
typedef pmix_status_t (*host_fn)(const struct host_question *question);

/* Fill in the @entries of fault_module (HOST_BIT), before the server starts. */
void host_begin(uint32_t entries, host_fn fn);

/* Call the question's callback with @status and made-up results. */
void host_answer(const struct host_question *question, pmix_status_t status);
/* Return @status for a question that is not answered. */
pmix_status_t host_refuse(const struct host_question *question, pmix_status_t status);

/* Keep a question for later.  Return: PMIX_SUCCESS. */
pmix_status_t host_keep(const struct host_question *question);
/* Return: false when none is kept. */
bool host_take(struct host_question *ret);

#endif
