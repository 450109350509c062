/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.c - upcalls and their answers. */
#include "server/port/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "server/port/event_relay.h"

static pmix_proc_t proc_of(const struct sx_client *client)
{
    pmix_proc_t proc;

    memset(&proc, 0, sizeof(proc));
    memcpy(proc.nspace, client->nspace->name, sizeof(proc.nspace));
    proc.rank = client->rank;
    return proc;
}

/* ---- questions ----------------------------------------------------------------------------- */

/* One question to the host.  The host gets a number, not a pointer: an answer that comes twice, or
 * after the server has forgotten the question, finds nothing and is dropped. */
struct question {
    struct sx_list link; /* questions, until answered */
    uintptr_t number;
    struct sx_loop_post post;
    struct sx_server *server;
    sx_host_answer_fn answer_fn;
    uint64_t id;
    struct sx_client *client; /* retained, or NULL */
    pmix_proc_t *procs;       /* kept for the host until it answers, as the two below */
    pmix_info_t *info;
    size_t ninfo;
    char *msg;
    uint64_t event_bytes; /* it is one about events, of this size; 0: it is not */
    pmix_status_t code;
    pmix_status_t *codes; /* several of them; NULL: none */
    struct sx_host_answer answer;
    pmix_release_cbfunc_t release_fn; /* the host's, for the bytes of its answer */
    void *release_cbdata;
};

static pthread_mutex_t questions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_list questions = SX_LIST_INIT(questions); /* under the lock, as the number */
static uintptr_t question_number;

/* Loop thread. */
static struct question *question_free(struct question *question)
{
    if (question->event_bytes > 0) {
        question->server->host_event_count--;
        question->server->host_event_bytes -= question->event_bytes;
    }
    if (question->client != NULL) {
        sx_client_release(question->client);
    }
    if (question->info != NULL) {
        PMIX_INFO_FREE(question->info, question->ninfo);
    }
    free(question->procs);
    free(question->codes);
    free(question->msg);
    free(question);
    return NULL;
}

/* Return: a question in the list, NULL when memory is out, or the server ends. */
static struct question *question_new(struct sx_server *server, uint64_t id,
                                     sx_host_answer_fn answer_fn, const pmix_proc_t procs[],
                                     size_t nprocs)
{
    struct question *question = server->host_forgotten ? NULL : calloc(1, sizeof(*question));

    if (question == NULL) {
        return NULL;
    }
    question->server = server;
    question->id = id;
    question->answer_fn = answer_fn;
    sx_list_init(&question->link);
    if (nprocs > 0) {
        question->procs = malloc(nprocs * sizeof(*procs));
        if (question->procs == NULL) {
            return question_free(question);
        }
        memcpy(question->procs, procs, nprocs * sizeof(*procs));
    }
    pthread_mutex_lock(&questions_lock);
    question->number = ++question_number;
    sx_list_append(&questions, &question->link);
    pthread_mutex_unlock(&questions_lock);
    return question;
}

/* Under the lock: take question @number out of the list.  Return: NULL when it has been taken
 * before. */
static struct question *question_take_locked(uintptr_t number)
{
    SX_LIST_EACH(it, &questions) {
        struct question *question = SX_LIST_ENTRY(it, struct question, link);

        if (question->number == number) {
            sx_list_remove(it);
            return question;
        }
    }
    return NULL;
}

static struct question *question_take(uintptr_t number)
{
    pthread_mutex_lock(&questions_lock);
    struct question *question = question_take_locked(number);

    pthread_mutex_unlock(&questions_lock);
    return question;
}

static void question_answered(void *arg, uint64_t now_ns)
{
    struct question *question = arg;

    (void)now_ns;
    question->answer_fn(question->server, question->id, question->client, &question->answer);
    if (question->release_fn != NULL) { /* here, never inside the host's own callback */
        question->release_fn(question->release_cbdata);
    }
    question_free(question);
}

/* The host's word, on any thread.  It is with the loop before the lock is given back: the server,
 * which ends behind sx_host_forget_all, cannot end in between. */
static void host_answers(uintptr_t number, pmix_status_t status, const char *bytes, size_t size,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    pthread_mutex_lock(&questions_lock);
    struct question *question = question_take_locked(number);

    if (question != NULL) {
        question->answer = (struct sx_host_answer){ status, bytes, bytes == NULL ? 0 : size };
        question->release_fn = release_fn;
        question->release_cbdata = release_cbdata;
        question->post = (struct sx_loop_post){ .fn = question_answered, .arg = question };
        (void)sx_loop_post(question->server->loop, &question->post); /* it runs: see above */
    }
    pthread_mutex_unlock(&questions_lock);
    if (question == NULL) {
        sx_log(SX_LOG_INFO, "the host answered a question twice, or too late");
    }
}

static void host_answers_op(pmix_status_t status, void *cbdata)
{
    host_answers((uintptr_t)cbdata, status, NULL, 0, NULL, NULL);
}

static void host_answers_modex(pmix_status_t status, const char *data, size_t ndata, void *cbdata,
                               pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    host_answers((uintptr_t)cbdata, status, data, ndata, release_fn, release_cbdata);
}

/* What the entry returned.  Anything but PMIX_SUCCESS is the answer, unless the host has called
 * back as well: then that one counts. */
static pmix_status_t question_asked(uintptr_t number, pmix_status_t rc)
{
    struct question *question = rc == PMIX_SUCCESS ? NULL : question_take(number);

    if (question == NULL) {
        return PMIX_SUCCESS;
    }
    if (rc == PMIX_OPERATION_SUCCEEDED) {
        question->post = (struct sx_loop_post){ .fn = question_answered, .arg = question };
        sx_loop_post(question->server->loop, &question->post);
        return PMIX_SUCCESS;
    }
    question_free(question);
    return rc;
}

void sx_host_forget_all(struct sx_server *server)
{
    struct sx_list *it;

    server->host_forgotten = true;
    do {
        pthread_mutex_lock(&questions_lock);
        it = sx_list_pop(&questions);
        pthread_mutex_unlock(&questions_lock);
        if (it != NULL) {
            question_free(SX_LIST_ENTRY(it, struct question, link));
        }
    } while (it != NULL);
}

/* ---- the entries --------------------------------------------------------------------------- */

pmix_status_t sx_host_abort(struct sx_server *server, struct sx_client *client, uint64_t id,
                            int status, const char *msg, const pmix_proc_t procs[], size_t nprocs,
                            sx_host_answer_fn answer)
{
    const pmix_proc_t source = proc_of(client);
    struct question *question;

    if (server->module.abort == NULL) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    question = question_new(server, id, answer, procs, nprocs);
    if (question == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const uintptr_t number = question->number;

    question->client = sx_client_retain(client);
    question->msg = msg == NULL ? NULL : strdup(msg);
    return question_asked(number, server->module.abort(&source, client->server_object, status,
                                                       question->msg, question->procs, nprocs,
                                                       host_answers_op, (void *)number));
}

pmix_status_t sx_host_fence(struct sx_server *server, uint64_t id,
                            const struct sx_host_fence *fence, sx_host_answer_fn answer)
{
    const bool collect = true, sorted = true; /* members are kept in order */
    struct question *question = NULL;

    if (server->module.fence_nb == NULL) {
        free(fence->bytes);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    question = question_new(server, id, answer, fence->procs, fence->nprocs);
    if (question != NULL) {
        question->info = sx_wishes_take(fence->wishes, 3, &question->ninfo);
    }
    if (question == NULL || question->info == NULL) {
        free(fence->bytes);
        if (question != NULL) {
            question_free(question_take(question->number));
        }
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const uintptr_t number = question->number;

    /* Always there, with at least a header of data: some hosts make no barrier without.  It stands
     * first because others look at nothing else. */
    PMIX_INFO_LOAD(&question->info[0], PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    PMIX_INFO_LOAD(&question->info[1], PMIX_LOCAL_COLLECTIVE_STATUS, &fence->local, PMIX_STATUS);
    PMIX_INFO_LOAD(&question->info[2], PMIX_SORTED_PROC_ARRAY, &sorted, PMIX_BOOL);
    return question_asked(number,
                          server->module.fence_nb(question->procs, fence->nprocs, question->info,
                                                  question->ninfo, fence->bytes, fence->size,
                                                  host_answers_modex, (void *)number));
}

pmix_status_t sx_host_direct_modex(struct sx_server *server, uint64_t id, const pmix_proc_t *proc,
                                   const char *key, bool anew, sx_host_answer_fn answer)
{
    struct question *question = NULL;

    if (server->module.direct_modex == NULL) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    question = question_new(server, id, answer, proc, 1);
    if (question != NULL) {
        question->ninfo = anew ? 2 : 1;
        PMIX_INFO_CREATE(question->info, question->ninfo);
    }
    if (question == NULL || question->info == NULL) {
        if (question != NULL) {
            question_free(question_take(question->number));
        }
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const uintptr_t number = question->number;

    PMIX_INFO_LOAD(&question->info[0], PMIX_REQUIRED_KEY, key, PMIX_STRING);
    if (anew) { /* PRRTE answers out of what it has itself, else */
        PMIX_INFO_LOAD(&question->info[1], PMIX_GET_REFRESH_CACHE, &anew, PMIX_BOOL);
    }
    return question_asked(number, server->module.direct_modex(question->procs, question->info,
                                                              question->ninfo, host_answers_modex,
                                                              (void *)number));
}

/* ---- notices ------------------------------------------------------------------------------- */

pmix_status_t sx_host_client_connected(struct sx_server *server, struct sx_client *client)
{
    const pmix_proc_t proc = proc_of(client);
    pmix_status_t rc = PMIX_SUCCESS;

    if (server->module.client_connected2 != NULL) {
        rc = server->module.client_connected2(&proc, client->server_object, NULL, 0, NULL, NULL);
    } else if (server->module.client_connected != NULL) {
        rc = server->module.client_connected(&proc, client->server_object, NULL, NULL);
    }
    /* A host without use for the notice says NOT_SUPPORTED; that is no refusal. */
    return rc == PMIX_OPERATION_SUCCEEDED || rc == PMIX_ERR_NOT_SUPPORTED ? PMIX_SUCCESS : rc;
}

static void nothing_follows(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
}

void sx_host_client_finalized(struct sx_server *server, struct sx_client *client)
{
    const pmix_proc_t proc = proc_of(client);

    if (server->module.client_finalized != NULL) {
        server->module.client_finalized(&proc, client->server_object, nothing_follows, NULL);
    }
}

/* ---- events -------------------------------------------------------------------------------- */

#define EVENT_BYTES(size) (sizeof(struct question) + (size))

static void event_answered(struct sx_server *server, uint64_t id, struct sx_client *client,
                           const struct sx_host_answer *answer)
{
    (void)server;
    (void)id;
    (void)client;
    if (answer->status != PMIX_SUCCESS && answer->status != PMIX_OPERATION_SUCCEEDED) {
        sx_log(SX_LOG_INFO, "the host does not drop a code: status %d", answer->status);
    }
}

/* The host may never answer: what it is asked is bounded. */
static bool events_are_full(struct sx_server *server, uint64_t bytes)
{
    const bool full = server->host_event_count >= SX_HOST_EVENTS_MAX ||
                      server->host_event_bytes + bytes > SX_HOST_EVENT_BYTES_MAX;

    if (full && !server->host_events_full) {
        sx_log(SX_LOG_WARN,
               "the host has not answered %u questions about events (%llu bytes); it is asked no "
               "more before it does, and events that it would carry to other nodes are lost there",
               server->host_event_count, (unsigned long long)server->host_event_bytes);
    }
    server->host_events_full = full || (server->host_events_full && server->host_event_count > 0);
    return full;
}

/* A question about @code, to count as @bytes, with room for @ninfo infos.  Return: NULL when memory
 * is out, or the host answers nothing. */
static struct question *event_question(struct sx_server *server, pmix_status_t code,
                                       const pmix_proc_t *source, size_t ninfo, uint64_t bytes)
{
    struct question *question = events_are_full(server, bytes)
                                    ? NULL
                                    : question_new(server, 0, event_answered, source,
                                                   source == NULL ? 0 : 1);

    if (question == NULL) {
        return NULL;
    }
    question->code = code;
    question->event_bytes = bytes;
    server->host_event_count++;
    server->host_event_bytes += bytes;
    if (ninfo > 0) {
        PMIX_INFO_CREATE(question->info, ninfo);
        if (question->info == NULL) {
            return question_free(question_take(question->number));
        }
        question->ninfo = ninfo;
    }
    return question;
}

pmix_status_t sx_host_register_events(struct sx_server *server, const pmix_status_t codes[],
                                      size_t count, uid_t uid, gid_t gid, uint64_t id,
                                      sx_host_answer_fn answer)
{
    const uint32_t user = uid;
    const uint32_t group = gid;

    if (server->module.register_events == NULL) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    struct question *question = event_question(server, codes[0], NULL, 2,
                                               EVENT_BYTES(count * sizeof(*codes)));

    if (question == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const uintptr_t number = question->number;

    question->id = id;
    question->answer_fn = answer;
    question->codes = malloc(count * sizeof(*codes));
    if (question->codes == NULL) {
        question_free(question_take(number));
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(question->codes, codes, count * sizeof(*codes));
    PMIX_INFO_LOAD(&question->info[0], PMIX_USERID, &user, PMIX_UINT32);
    PMIX_INFO_LOAD(&question->info[1], PMIX_GRPID, &group, PMIX_UINT32);
    return question_asked(number,
                          server->module.register_events(question->codes, count, question->info, 2,
                                                         host_answers_op, (void *)number));
}

void sx_host_deregister_event(struct sx_server *server, pmix_status_t code)
{
    struct question *question = NULL;

    if (server->module.deregister_events != NULL) {
        question = event_question(server, code, NULL, 0, EVENT_BYTES(sizeof(code)));
    }
    if (question != NULL) {
        const uintptr_t number = question->number;
        const pmix_status_t rc = question_asked(number,
                                                server->module.deregister_events(&question->code, 1,
                                                                                 host_answers_op,
                                                                                 (void *)number));

        if (rc != PMIX_SUCCESS) {
            sx_log(SX_LOG_INFO, "the host does not drop code %d: status %d", code, rc);
        }
    }
}

pmix_status_t sx_host_notify(struct sx_server *server, struct sx_client *client, uint64_t id,
                             const struct sx_event_block *block, sx_host_answer_fn answer)
{
    const struct sx_event *event = (const struct sx_event *)(const void *)block->bytes;
    struct question *question = NULL;
    pmix_proc_t source;

    if (server->module.notify_event == NULL) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    sx_event_block_source(block, &source);
    question = event_question(server, event->code, &source, 0, EVENT_BYTES(block->size));
    if (question == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const uintptr_t number = question->number;
    const pmix_status_t rc = sx_event_relay_infos(server, block, &question->info, &question->ninfo);

    if (rc != PMIX_SUCCESS) {
        question_free(question_take(number));
        return rc;
    }
    question->id = id;
    question->answer_fn = answer;
    question->client = client == NULL ? NULL : sx_client_retain(client);
    return question_asked(number,
                          server->module.notify_event(event->code, question->procs, event->range,
                                                      question->info, question->ninfo,
                                                      host_answers_op, (void *)number));
}
