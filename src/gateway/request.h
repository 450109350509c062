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

/* prefetch.c: which values of its own namespace the rank's library has been sent. */
struct sx_prefetch {
    struct sx_known_key **keys; /* the known keys, in the order in which they were seen */
    size_t count, room;
    struct sx_table by_name; /* the same */
    struct sx_table sent;    /* what was sent, by rank */
    size_t sent_bytes;       /* that it takes */
    unsigned width_begin;    /* values in a first answer, once that was learned; else 0 */
};

struct sx_session {
    struct sx_gateway_link *link; /* NULL: gone */
    struct sx_foreign foreign;
    int fd;                  /* a duplicate of shmix_fd's, which PMIx_Finalize closes */
    struct sx_list requests; /* not answered */
    struct sx_list deferred; /* of those: to go on with, by their node */
    size_t request_count;    /* of @requests */
    bool is_finalized;       /* PMIx_Finalize was called */
    bool is_lost;            /* our server is gone, or an answer could not be given */
    shmix_job_t *job;        /* of the rank's own namespace; NULL: not opened */
    struct sx_table puts;    /* data.c: what the rank has put, by key */
    uint32_t commit_count;   /* data.c */
    struct sx_prefetch prefetch;
    struct sx_list handlers; /* event.c: one for each code that the rank waits for */
    struct sx_list pulls;    /* iof.c: of output, for the rank */
    pmix_fabric_t fabric;    /* manage.c: one that was registered, without its infos */
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
    struct {
        void *at; /* malloc's: keys, APPs, QUERYs ... */
        size_t count;
        pmix_data_type_t type;
    } array;
    size_t waiting; /* for so many callbacks */
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

/* Read a SIZE and so many elements of @type into @request->array. */
void sx_request_get_array(struct sx_request *request, struct sx_wire_reader *body,
                          pmix_data_type_t type);

/* For a call whose end nobody waits for. */
void sx_gateway_ignore_status(pmix_status_t status, void *cbdata);

/* The session of this process; NULL: none. */
struct sx_session *sx_session_current(void);

/* Free a request that gets no answer. */
void sx_request_drop(struct sx_request *request);

/* A pmix_op_cbfunc_t whose data is the request: answers with the status. */
void sx_request_on_status(pmix_status_t status, void *cbdata);
/* A pmix_info_cbfunc_t whose data is the request: answers with the status and the infos. */
void sx_request_on_infos(pmix_status_t status, pmix_info_t *infos, size_t count, void *cbdata,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata);

/* From a callback: call @resume when PMIx_Progress has returned, where calls may wait. */
void sx_request_defer(struct sx_request *request, void (*resume)(struct sx_request *request));

/* ---- The commands ---------------------------------------------------------------------------- */

/* job.c */
pmix_status_t sx_gateway_req(struct sx_request *request, struct sx_wire_reader *body);
/* The same of a namespace by its name, which may take a message to our server.  Return:
 * PMIX_ERR_NOT_FOUND for a list of processes that has such a name; or why it cannot be opened. */
pmix_status_t sx_gateway_nspace_write(struct sx_wire_writer *w, const char *nspace);
/* Write the data of @job as KVALs.  Return: PMIX_SUCCESS, or a status of shmix_job_keys. */
pmix_status_t sx_gateway_job_write(struct sx_wire_writer *w, shmix_job_t *job, const char *nspace);
/* Keys that begin like the Standard's. */
bool sx_gateway_is_reserved(const char *key);
/* Whether @release of the other library, from 4.2 on (hello.h), has the key in its table. */
bool sx_gateway_is_known(const char *key, uint32_t release);
/* Whether the rank's library can store a value of @key outside of an array.  Release 4.2 has a
 * table of reserved keys, and stores no others; later ones add to theirs. */
bool sx_gateway_is_storable(const char *key);
/* Open the rank's own job, or move it to the newest data. */
pmix_status_t sx_gateway_job_open(struct sx_session *session);
/* A KVAL of a value in shared memory. */
void sx_gateway_view_put(struct sx_wire_writer *w, const char *key, const shmix_value_t *view);

/* data.c */
pmix_status_t sx_gateway_commit(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_fence(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_refresh(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_get(struct sx_request *request, struct sx_wire_reader *body);
void sx_gateway_data_deinit(struct sx_session *session);

/* prefetch.c: the own namespace has this key. */
void sx_gateway_prefetch_know(struct sx_session *session, const char *name);
/* Further KVALs that go with @asked, which @rank of the own namespace has put. */
void sx_gateway_prefetch_put(struct sx_session *session, struct sx_wire_writer *w, pmix_rank_t rank,
                             const char *asked);
void sx_gateway_prefetch_deinit(struct sx_session *session);

/* event.c */
pmix_status_t sx_gateway_event_register(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_event_deregister(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_event_notify(struct sx_request *request, struct sx_wire_reader *body);
void sx_gateway_event_deinit(struct sx_session *session);

/* iof.c */
pmix_status_t sx_gateway_iof_pull(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_iof_deregister(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_iof_push(struct sx_request *request, struct sx_wire_reader *body);
void sx_gateway_iof_deinit(struct sx_session *session);

/* publish.c */
pmix_status_t sx_gateway_publish(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_lookup(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_unpublish(struct sx_request *request, struct sx_wire_reader *body);

/* collective.c: connections and groups */
pmix_status_t sx_gateway_connect(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_disconnect(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_group_construct(struct sx_request *request, struct sx_wire_reader *body);
/* Write the results of a group construction as the rank's release expects them. */
void sx_gateway_group_put(const struct sx_request *request, struct sx_wire_writer *w,
                          const pmix_info_t *infos, size_t count);
pmix_status_t sx_gateway_group_destruct(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_group_leave(struct sx_request *request, struct sx_wire_reader *body);

/* manage.c */
pmix_status_t sx_gateway_abort(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_spawn(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_allocate(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_job_control(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_monitor(struct sx_request *request, struct sx_wire_reader *body);
void sx_gateway_heartbeat(void);
pmix_status_t sx_gateway_get_credential(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_validate_credential(struct sx_request *request,
                                             struct sx_wire_reader *body);
pmix_status_t sx_gateway_fabric_register(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_fabric_update(struct sx_request *request, struct sx_wire_reader *body);

/* query.c */
pmix_status_t sx_gateway_query(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_log(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_resolve_peers(struct sx_request *request, struct sx_wire_reader *body);
pmix_status_t sx_gateway_resolve_nodes(struct sx_request *request, struct sx_wire_reader *body);

#endif
