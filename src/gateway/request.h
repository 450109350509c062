/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.h - one request of the rank: what the chapters (job.c, data.c, event.c ...) share.
 *
 *   a frame --dispatch--> parsed by its command's function --> a call of the public API
 *      --callback--> answered at once, or deferred until PMIx_Progress has returned --> freed
 *
 * A request keeps its tag and what the call borrows.  Each is answered exactly once, and freed with
 * its answer.  After the link's end the answer goes nowhere. */
#ifndef SX_GATEWAY_REQUEST_H
#define SX_GATEWAY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix.h>
#include <shmix.h>

#include "base/list.h"
#include "base/table.h"
#include "gateway/codec.h"
#include "gateway/hello.h"
#include "gateway/link.h"

struct sx_request;

/* Parse @body, whose command is read, and begin.  Return: PMIX_SUCCESS when the request is answered
 * or will be; else its answer is that status.  If @body has failed, the form was broken, and the
 * request must not have begun. */
typedef pmix_status_t (*sx_command_fn_t)(struct sx_request *request, struct sx_wire_reader *body);

struct sx_session {
    struct sx_gateway_link *link; /* NULL: gone */
    struct sx_foreign foreign;
    int fd;                   /* a duplicate of shmix_fd's, which PMIx_Finalize closes */
    struct sx_list requests;  /* not answered */
    struct sx_list deferred;  /* of those: to go on with, by their node */
    size_t request_count;     /* of @requests */
    bool is_finalized;        /* PMIx_Finalize was called */
    bool is_lost;             /* our server is gone, or an answer could not be given */
    shmix_job_t *job;         /* of the rank's own namespace; NULL: not opened */
    struct sx_table puts;     /* data.c: what the rank has put, by key */
    uint32_t commit_count;    /* data.c */
    struct sx_list *handlers; /* event.c */
};

struct sx_request {
    struct sx_list node;     /* of @session->requests */
    struct sx_list deferred; /* of @session->deferred */
    struct sx_session *session;
    uint32_t tag;
    const char *name; /* of its command, for the log */

    /* Things that calls borrow and callbacks leave; the request owns them. */
    struct sx_codec_infos infos;
    struct sx_codec_procs procs;
    pmix_proc_t proc;
    char *text;
    pmix_status_t status;
    struct sx_wire_writer out; /* a part of the answer */
    void *rest;                /* the command's own, with its release */
    void (*release)(void *rest);
    void (*resume)(struct sx_request *request);
};

/* The form in which the rank writes and reads. */
static inline struct sx_wire_writer sx_request_writer(const struct sx_request *request)
{
    return (struct sx_wire_writer){ .form = request->session->foreign.form };
}

/* Answer with a body, which is freed, and free the request.  A body that could not be written whole
 * becomes a STATUS. */
void sx_request_answer_body(struct sx_request *request, struct sx_wire_writer *body);

/* Answer with a STATUS alone, and free the request.  PMIX_OPERATION_SUCCEEDED is PMIX_SUCCESS. */
void sx_request_answer(struct sx_request *request, pmix_status_t status);

/* A writer that begins with that STATUS. */
struct sx_wire_writer sx_request_body(const struct sx_request *request, pmix_status_t status);

/* @rc is from a call of the public API: the request waits for its callback, or is answered. */
pmix_status_t sx_request_called(struct sx_request *request, pmix_status_t rc);

/* A pmix_op_cbfunc_t whose data is the request: answers with the status. */
void sx_request_on_status(pmix_status_t status, void *cbdata);

/* From a callback: call @resume when PMIx_Progress has returned, where calls may wait. */
void sx_request_defer(struct sx_request *request, void (*resume)(struct sx_request *request));

/* ---- The commands ---------------------------------------------------------------------------- */

/* job.c */
pmix_status_t sx_gateway_req(struct sx_request *request, struct sx_wire_reader *body);
/* Write the data of @job as KVALs.  Return: PMIX_SUCCESS, or a status of shmix_job_keys. */
pmix_status_t sx_gateway_job_write(struct sx_wire_writer *w, shmix_job_t *job, const char *nspace);
/* Keys that begin like the Standard's. */
bool sx_gateway_is_reserved(const char *key);

/* data.c */
pmix_status_t sx_gateway_commit(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_fence(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_get(struct sx_request *request, struct sx_wire_reader *body);
void sx_gateway_data_deinit(struct sx_session *session);

/* manage.c */
pmix_status_t sx_gateway_abort(struct sx_request *request, struct sx_wire_reader *body);

#endif
