/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* question.c - open questions to the host: numbered, asked at the end of the turn, answered.
 *
 * Numbers are found through a table.  The row of the entry bounds the number of its open questions,
 * unless the askers are bounded themselves.  Each client has a share of that bound.
 *
 * A host may answer a question after the server's end, and reads what it was given until then.  So
 * such questions stay with their contents, and so do notices, which need no answer.  There are
 * FORGOTTEN_BYTES_MAX for all: beyond it the oldest are freed, with a warning.  The answer is for
 * nobody, but its release function is called: once, in a thread of its own, since the loop has
 * ended. */
#include "server/port/question.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/status.h"
#include "base/system/pages.h"
#include "base/system/process.h"
#include "base/value/value.h"
#include "server/model/membership.h"
#include "server/model/quota.h"

struct sx_question {
    struct sx_table_node node; /* open ones, until answered; the hash is the number */
    struct sx_list link;       /* the same, in their order; or forgotten.questions */
    struct sx_list asker_link; /* asker.questions, until answered */
    struct sx_host_call call;  /* to the entry, until it is made */
    bool is_made;
    uint32_t removals; /* of its client, when it was asked */
    struct sx_loop_post post;
    struct sx_server *server; /* NULL: none waits for the answer */
    const struct sx_upcall_row *row;
    struct sx_owed *owed;      /* its account ... */
    size_t bytes;              /* ... as so many */
    struct sx_quota_row quota; /* owed.clients */
    struct sx_host_answer answer;
    struct sx_pages aligned;          /* a copy of the bytes of the answer ... */
    size_t aligned_bytes;             /* ... so far */
    uint64_t names;                   /* as of sx_nspace_names, while its bytes are copied */
    unsigned keeps;                   /* of the answer: the callback, and sx_answer_keep */
    pmix_release_cbfunc_t release_fn; /* the host's, or of a copy: for what it answers */
    void *release_cbdata;
    _Alignas(max_align_t) struct sx_upcall up; /* what it points at lies behind it */
};

static void question_ask(struct sx_host_call *call);

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_table open_table; /* under the lock, as the list and the number */
static struct sx_list open_list = SX_LIST_INIT(open_list);
static uintptr_t last_number;

#define FORGOTTEN_BYTES_MAX (UINT64_C(256) << 20) /* more than a host may owe of events */

/* Under the lock: notices, and questions that a server's end has forgotten, which the host has not
 * answered, the oldest first.  They stay in the table. */
static struct {
    struct sx_list questions;
    uint64_t bytes;
} forgotten = { .questions = SX_LIST_INIT(forgotten.questions) };

static void contents_destruct(const struct sx_upcall *up)
{
    for (size_t i = 0; i < up->ninfo; i++) {
        PMIX_INFO_DESTRUCT(&up->info[i]);
    }
    sx_elements_destruct(up->queries, up->nqueries, PMIX_QUERY);
    sx_elements_destruct(up->apps, up->napps, PMIX_APP);
}

/* Free the accounts once the server has no question left. */
static void owed_close_unless_used(struct sx_owed *owed)
{
    if (owed->count == 0 && owed->clients.what != NULL) {
        sx_quota_deinit(&owed->clients);
    }
}

/* The question counts for the server and its clients no longer.  Loop thread. */
static void question_uncount(struct sx_question *question)
{
    question->owed->count--;
    question->owed->bytes -= question->bytes;
    sx_quota_give_back(&question->owed->clients, &question->quota);
    if (question->server->port.host.forgotten) {
        owed_close_unless_used(question->owed);
    }
    sx_list_remove(&question->asker_link);
    sx_list_remove(&question->call.link);
    if (question->up.client != NULL) {
        sx_client_release(question->up.client);
    }
}

/* Nothing of the question is there any more, for the host either. */
static void question_contents_free(struct sx_question *question)
{
    contents_destruct(&question->up);
    if (!question->is_made) {
        free(question->up.bytes);
    }
    sx_alias_made_release(question->up.made);
    free(question);
}

/* Loop thread. */
static void question_free(struct sx_question *question)
{
    question_uncount(question);
    question_contents_free(question);
}

/* Put @size bytes at *@used of @block, which moves on; without a block only count them. */
static void *part_lay(char *block, size_t *used, const void *from, size_t size)
{
    char *const to = block == NULL ? NULL : block + *used;

    if (from == NULL || size == 0) {
        return NULL;
    }
    *used += sx_align_up(size, _Alignof(max_align_t));
    return to == NULL ? (void *)(uintptr_t)from : memcpy(to, from, size);
}

/* Lay out all that @up points at.  Return: the bytes that it takes. */
static size_t parts_lay(char *block, struct sx_upcall *up)
{
    size_t used = 0;

    up->info = part_lay(block, &used, up->info, up->ninfo * sizeof(*up->info));
    up->queries = part_lay(block, &used, up->queries, up->nqueries * sizeof(*up->queries));
    up->apps = part_lay(block, &used, up->apps, up->napps * sizeof(*up->apps));
    up->proc = part_lay(block, &used, up->proc, sizeof(*up->proc));
    if (up->made == NULL) {
        up->procs = part_lay(block, &used, up->procs, up->nprocs * sizeof(*up->procs));
    }
    up->keys = part_lay(block, &used, up->keys,
                        up->keys == NULL ? 0 : (up->ndata + 1) * sizeof(*up->keys));
    up->codes = part_lay(block, &used, up->codes, up->ncodes * sizeof(*up->codes));
    up->text = part_lay(block, &used, up->text, up->text == NULL ? 0 : strlen(up->text) + 1);
    return used;
}

size_t sx_question_size(const struct sx_upcall *up)
{
    struct sx_upcall counted = *up;

    return sizeof(struct sx_question) + parts_lay(NULL, &counted);
}

static bool question_open(struct sx_question *question)
{
    pthread_mutex_lock(&open_lock);
    const bool is_open = sx_table_add(&open_table, &question->node, last_number + 1);

    if (is_open) {
        last_number++;
        sx_list_append(&open_list, &question->link);
    }
    pthread_mutex_unlock(&open_lock);
    return is_open;
}

/* Count @question for its asker, if its entry has a bound.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE, logged, when the asker has its share already. */
static pmix_status_t question_count(struct sx_question *question)
{
    const struct sx_upcall_row *const row = question->row;
    struct sx_server *const server = question->server;
    struct sx_owed *const owed = question->owed;

    if (row->max == 0 || (question->up.owner == NULL && question->up.client == NULL)) {
        return PMIX_SUCCESS;
    }
    if (owed->clients.what == NULL) {
        sx_quota_init(&owed->clients, row->name, row->max, row->bytes_max, server->seed);
    }
    const struct sx_quota_owner owner = question->up.owner != NULL
                                            ? *question->up.owner
                                            : sx_quota_owner_of(question->up.client);

    return sx_quota_take(&owed->clients, &owner, false, question->bytes, &question->quota);
}

struct sx_question *sx_question_new(struct sx_server *server, const struct sx_upcall_row *row,
                                    struct sx_owed *owed, struct sx_upcall *up, size_t size)
{
    struct sx_question *const question = sx_pages_malloc(size);

    if (question == NULL) {
        return NULL;
    }
    *question = (struct sx_question){
        .server = server, .row = row, .owed = owed, .up = *up, .bytes = size + up->info_bytes
    };
    question->bytes += up->made != NULL ? up->nprocs * sizeof(*up->procs) : 0;
    if (question_count(question) != PMIX_SUCCESS) {
        free(question);
        return NULL;
    }
    if (!question_open(question)) {
        sx_quota_give_back(&question->owed->clients, &question->quota);
        free(question);
        return NULL;
    }
    (void)parts_lay((char *)(question + 1), &question->up);
    if (up->made != NULL) {
        (void)sx_alias_made_retain(up->made);
    }
    question->up.owner = NULL; /* the caller's */
    sx_list_init(&question->asker_link);
    sx_host_call_append(server, &question->call, question_ask);
    if (up->asker != NULL) {
        sx_list_append(&up->asker->questions, &question->asker_link);
    }
    if (up->client != NULL) {
        question->removals = sx_client_retain(up->client)->removals;
    }
    question->owed->count++;
    question->owed->bytes += question->bytes;
    return question;
}

/* Under the lock.  Return: NULL when @number has been taken before. */
static struct sx_question *question_take_locked(uintptr_t number)
{
    struct sx_table_node *const node = sx_table_first(&open_table, number);
    struct sx_question *const question = node == NULL
                                             ? NULL
                                             : SX_CONTAINER(node, struct sx_question, node);

    if (question != NULL) {
        sx_table_remove(&open_table, node);
        sx_list_remove(&question->link);
        forgotten.bytes -= question->server == NULL ? question->bytes : 0;
    }
    return question;
}

static struct sx_question *question_take(uintptr_t number)
{
    pthread_mutex_lock(&open_lock);
    struct sx_question *const question = question_take_locked(number);

    pthread_mutex_unlock(&open_lock);
    return question;
}

/* The answer is not read any more.  Not inside a callback of the host. */
static void question_release(struct sx_question *question)
{
    if (question->release_fn != NULL) {
        question->release_fn(question->release_cbdata);
    }
    sx_pages_free(&question->aligned);
    question_free(question);
}

/* Hand the answer on. */
static void question_pass(struct sx_question *question)
{
    struct sx_asker *const asker = sx_list_empty(&question->asker_link) ? NULL : question->up.asker;

    sx_list_remove(&question->asker_link); /* the callback may free its owner */
    question->keeps = 1;
    if (!question->server->port.host.forgotten) {
        question->up.answered(asker, &question->answer);
    }
    if (--question->keeps == 0) {
        question_release(question);
    }
}

static void kept_release(struct sx_host_call *call)
{
    question_release(SX_CONTAINER(call, struct sx_question, call));
}

struct sx_question *sx_answer_keep(const struct sx_host_answer *answer)
{
    if (answer->question != NULL) {
        answer->question->keeps++;
    }
    return answer->question;
}

void sx_answer_release(struct sx_question *kept)
{
    if (kept != NULL && --kept->keeps == 0) { /* the caller may be inside a callback of the host */
        sx_host_call_append(kept->server, &kept->call, kept_release);
    }
}

/* ---- bytes at any address ---------------------------------------------------------------------
 * Their readers want them at a multiple of 8: some in each turn are copied there. */

#define ALIGN_STEP_BYTES ((size_t)512 << 10)

static bool is_aligned(const struct sx_question *question)
{
    return ((uintptr_t)question->answer.bytes & 7) == 0 || question->answer.size == 0 ||
           question->server->port.host.forgotten;
}

/* Return: whether the answer can be handed on. */
static bool align_step(struct sx_question *question, size_t *left)
{
    struct sx_host_answer *const answer = &question->answer;
    struct sx_pages *const aligned = &question->aligned;

    if (is_aligned(question)) {
        return true;
    }
    if (aligned->at == NULL && !sx_pages_grow(aligned, 0, answer->size)) {
        answer->status = PMIX_ERR_OUT_OF_RESOURCE;
        answer->bytes = NULL;
        answer->size = 0;
        return true;
    }
    const size_t rest = answer->size - question->aligned_bytes, some = rest < *left ? rest : *left;

    memcpy(aligned->at + question->aligned_bytes, answer->bytes + question->aligned_bytes, some);
    question->aligned_bytes += some;
    *left -= some;
    if (some == rest) {
        answer->bytes = (const char *)aligned->at;
    }
    return some == rest;
}

static bool aligns_step(struct sx_server *server, size_t *left)
{
    struct sx_list *const all = &server->port.host.unaligned;

    while (*left > 0 && !sx_list_empty(all)) {
        struct sx_question *const question = SX_LIST_ENTRY(all->next, struct sx_question, link);

        if (!align_step(question, left)) {
            break;
        }
        sx_list_remove(&question->link);
        question_pass(question);
    }
    return sx_list_empty(all);
}

/* Return: the namespaces of answers whose bytes are copied and that @question asks for, too: of
 * these, answers keep their order. */
static uint64_t names_before(struct sx_question *question)
{
    const struct sx_upcall *const up = &question->up;
    const struct sx_list *const all = &question->server->port.host.unaligned;
    uint64_t names = 0;

    SX_LIST_EACH(it, all) {
        names |= SX_LIST_ENTRY(it, struct sx_question, link)->names;
    }
    question->names = sx_nspace_names(question->server, up->procs, up->nprocs);
    if (up->proc != NULL) {
        question->names |= sx_nspace_names(question->server, up->proc, 1);
    }
    return names & question->names;
}

/* Return: whether the answer is handed on in a later turn. */
static bool is_put_off(struct sx_question *question)
{
    struct sx_host *const host = &question->server->port.host;

    if (host->aligning.server == NULL) {
        sx_list_init(&host->unaligned);
        sx_steps_init(&host->aligning, question->server, aligns_step, ALIGN_STEP_BYTES);
    }
    if ((sx_list_empty(&host->unaligned) || names_before(question) == 0) &&
        align_step(question, sx_steps_left(&host->aligning))) {
        return false;
    }
    (void)names_before(question);
    sx_list_append(&host->unaligned, &question->link);
    sx_steps_later(&host->aligning);
    return true;
}

static void question_answered(void *arg, uint64_t now_ns)
{
    struct sx_question *const question = arg;

    (void)now_ns;
    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "the host has answered %s: %s", question->row->name,
               PMIx_Error_string(question->answer.status));
    }
    if (question->answer.size == 0 || !is_put_off(question)) {
        question_pass(question);
    }
}

/* Post the answer to the loop; @question is not in the table any more. */
static void question_post(struct sx_question *question, const struct sx_host_answer *said)
{
    question->answer = *said;
    if (said->status == PMIX_OPERATION_SUCCEEDED) { /* some hosts call back with it */
        question->answer.status = PMIX_SUCCESS;
    }
    question->answer.server = question->server;
    question->answer.id = question->up.id;
    question->answer.client = question->up.client;
    question->answer.subject = question->up.proc;
    question->answer.size = said->bytes == NULL ? 0 : said->size;
    question->answer.ninfo = said->info == NULL ? 0 : said->ninfo;
    question->answer.question = question;
    question->post = (struct sx_loop_post){ .fn = question_answered, .arg = question };
    (void)sx_loop_post(question->server->loop, &question->post); /* it runs: see below */
}

/* Infos that the host keeps only during its call: a release function of the host is not called for
 * them. */
struct copied {
    size_t count;
    pmix_info_t info[];
};

static void copied_free(void *arg)
{
    struct copied *const copied = arg;

    sx_elements_destruct(copied->info, copied->count, PMIX_INFO);
    free(copied);
}

static void infos_copy(struct sx_question *question, struct sx_host_answer *said)
{
    struct copied *const copied = malloc(sizeof(*copied) + said->ninfo * sizeof(*said->info));
    pmix_status_t rc = copied == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    if (rc == PMIX_SUCCESS) {
        rc = sx_elements_copy(copied->info, said->info, said->ninfo, PMIX_INFO);
    }
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "what the host answers cannot be kept: %s", PMIx_Error_string(rc));
        free(copied);
        *said = (struct sx_host_answer){ .status = rc };
        return;
    }
    copied->count = said->ninfo;
    said->info = copied->info;
    question->release_fn = copied_free;
    question->release_cbdata = copied;
}

/* Under the lock: the server of @question, which the host has not answered, has ended, or it is a
 * notice.  Loop thread. */
static void question_forget_locked(struct sx_question *question)
{
    question_uncount(question);
    question->server = NULL;
    question->owed = NULL;
    question->up.client = NULL;
    sx_list_append(&forgotten.questions, &question->link);
    forgotten.bytes += question->bytes;
}

/* Under the lock. */
static void forgotten_bound_locked(void)
{
    unsigned count = 0;

    while (forgotten.bytes > FORGOTTEN_BYTES_MAX) {
        struct sx_question *const oldest = SX_LIST_ENTRY(forgotten.questions.next,
                                                         struct sx_question, link);

        question_contents_free(question_take_locked(oldest->node.hash));
        count++;
    }
    if (count > 0) {
        sx_log(SX_LOG_WARN,
               "the host owes the answers to notices, or to calls of servers that have ended: what "
               "it was given in the oldest %u is freed, since all of it exceeds %llu bytes: let it "
               "call back",
               count, (unsigned long long)FORGOTTEN_BYTES_MAX);
    }
}

struct late_release {
    pmix_release_cbfunc_t fn;
    void *cbdata;
    struct sx_question *question; /* freed behind it: its answer may lie in what it was given */
};

static void *late_release_run(void *arg)
{
    struct late_release *const late = arg;

    sx_callbacks_enter();
    late->fn(late->cbdata);
    question_contents_free(late->question);
    free(late);
    sx_callbacks_done();
    return NULL;
}

/* The host has answered @question, which was forgotten.  It may hold a lock in its callback that
 * its release function wants. */
static void late_release(struct sx_question *question, pmix_release_cbfunc_t fn, void *cbdata)
{
    struct late_release *const late = fn == NULL ? NULL : malloc(sizeof(*late));
    bool is_started = false;

    if (late != NULL) {
        *late = (struct late_release){ .fn = fn, .cbdata = cbdata, .question = question };
        sx_callbacks_add();
        is_started = sx_thread_detached_for_others(late_release_run, late);
    }
    if (is_started) {
        return;
    }
    if (late != NULL) {
        sx_callbacks_done();
        free(late);
    }
    question_contents_free(question);
    if (fn != NULL) {
        sx_log(SX_LOG_WARN, "a late answer of the host is not released: memory is short");
    }
}

/* The answer is posted to the loop before the lock is released.  So the server, which ends after
 * sx_upcall_forget_all, cannot end in between. */
void sx_question_answer(uintptr_t number, const struct sx_host_answer *answer,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct sx_host_answer said = *answer;

    pthread_mutex_lock(&open_lock);
    struct sx_question *const question = question_take_locked(number);
    const bool is_late = question != NULL && question->server == NULL;
    const bool is_notice = question != NULL && question->up.answered == NULL;

    if (question != NULL && !is_late && !is_notice) {
        question->release_fn = release_fn;
        question->release_cbdata = release_cbdata;
        if (release_fn == NULL && said.info != NULL && said.ninfo > 0) {
            infos_copy(question, &said);
        }
        question_post(question, &said);
    }
    pthread_mutex_unlock(&open_lock);
    if (is_late) {
        late_release(question, release_fn, release_cbdata);
    }
    if (question == NULL || (is_late && !is_notice)) {
        sx_log(SX_LOG_INFO, "the host answered a question twice, or too late");
    }
}

/* The answer is @rc, which the entry returned, unless the host has called back as well: then the
 * callback's answer counts. */
static void entry_returned(uintptr_t number, pmix_status_t rc)
{
    struct sx_question *const question = question_take(number);

    if (question != NULL) {
        question_post(question,
                      &(struct sx_host_answer){ .status = rc,
                                                .refused = rc != PMIX_SUCCESS &&
                                                           rc != PMIX_OPERATION_SUCCEEDED });
    }
}

/* Whether the host has removed the client in an earlier call: its server object may be gone, and it
 * pushes no input any more. */
static bool is_removed(const struct sx_question *question)
{
    const struct sx_client *const client = question->up.client;

    return question->row->ends_with_client && client != NULL &&
           client->removals != question->removals;
}

static void called_log(const struct sx_upcall_row *row, const struct sx_upcall *up)
{
    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "the host is called: %s for %s.%u, %zu processes, %zu bytes",
               row->name, up->proc == NULL ? "all" : up->proc->nspace,
               up->proc == NULL ? 0 : up->proc->rank, up->nprocs, up->size);
    }
}

/* The entry has returned @rc for a notice, whose answer is ignored.  The arguments stay
 * until it answers, as at the server's end. */
static void notice_returned(struct sx_question *question, uintptr_t number, pmix_status_t rc)
{
    pthread_mutex_lock(&open_lock);
    const bool is_open = rc == PMIX_SUCCESS && sx_table_first(&open_table, number) != NULL;

    if (is_open) {
        sx_list_remove(&question->link);
        question_forget_locked(question);
        forgotten_bound_locked();
    } else {
        (void)question_take_locked(number); /* unless it was answered inside */
    }
    pthread_mutex_unlock(&open_lock);
    if (!is_open) {
        question_free(question);
    }
}

/* The question may have its answer, on any thread, before its entry returns.  It is freed on this
 * thread, so it lasts until then. */
static void question_ask(struct sx_host_call *call)
{
    struct sx_question *const question = SX_CONTAINER(call, struct sx_question, call);
    const struct sx_upcall_row *const row = question->row;
    const uintptr_t number = question->node.hash;
    const bool is_notice = question->up.answered == NULL, by_return = question->up.by_return;
    pmix_status_t rc;

    if (is_removed(question)) {
        rc = PMIX_ERR_NOT_FOUND;
    } else {
        called_log(row, &question->up);
        question->is_made = true;
        rc = row->call(&question->server->module, &question->up, (void *)number);
    }
    if (is_notice) {
        notice_returned(question, number, rc);
    } else if (rc != PMIX_SUCCESS || by_return) {
        entry_returned(number, rc);
    }
}

/* ---- askers --------------------------------------------------------------------------------- */

void sx_asker_init(struct sx_asker *asker)
{
    sx_list_init(&asker->questions);
}

void sx_asker_deinit(struct sx_asker *asker)
{
    while (asker->questions.next != NULL && sx_list_pop(&asker->questions) != NULL) {
    }
}

void sx_upcall_drop(const struct sx_upcall *upcall)
{
    free(upcall->bytes);
    contents_destruct(upcall);
}

void sx_upcall_forget_all(struct sx_server *server)
{
    struct sx_list *it;

    server->port.host.forgotten = true;
    pthread_mutex_lock(&open_lock);
    while ((it = sx_list_pop(&open_list)) != NULL) {
        struct sx_question *const question = SX_LIST_ENTRY(it, struct sx_question, link);

        if (question->is_made) {
            question_forget_locked(question);
        } else {
            sx_table_remove(&open_table, &question->node);
            question_free(question);
        }
    }
    forgotten_bound_locked();
    if (open_table.count == 0) {
        sx_table_deinit(&open_table);
    }
    pthread_mutex_unlock(&open_lock);
    for (size_t i = 0; i < SX_COUNT(server->port.host.owed); i++) {
        owed_close_unless_used(&server->port.host.owed[i]);
    }
}
