/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* remote_gets.c - ask the host once for all Gets that wait for data of one rank.  Ask again while
 * the answer lacks the data and the Gets have time.
 *
 *     IDLE --a Get--> ASKED --answer, a Get still waits---> PAUSED --a while, a Get--> ASKED
 *                      |  ^--no answer for long, a Get waits-----/
 *                      \--answer, or none for long, and no Get waits---> IDLE
 *
 * Hosts drop the key, and the rank's server answers with all data after the rank's first commit.
 * Data that the rank commits later need another question.  An answer may be older than a Get that
 * arrived while it was under way, so that Get waits for another answer.  An answer may be lost:
 * after LOST_NS the host is asked once more, and any answer counts.  A new Get makes this happen
 * sooner.  An answer that a fence with values of the rank has overtaken may have older ones: it is
 * not stored, and the host is asked again.  Bounded by one record per rank; the pauses grow.
 *
 * A Get of a namespace that is not registered here is a question of its own, within a time limit.
 * The host may register the namespace before it answers.  If it does not, it is not asked for that
 * namespace again. */
#include "server/data/get_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "server/data/data.h"
#include "server/model/blob.h"
#include "server/model/nspace.h"
#include "server/model/state.h"

#define PAUSE_NS (20 * SX_NS_PER_SEC / 1000)
#define PAUSE_MAX_NS (SX_NS_PER_SEC / 2)
#define LOST_NS (10 * SX_NS_PER_SEC)
#define LOST_MAX_NS (320 * SX_NS_PER_SEC)
#define LOST_FOR_LATE_NS SX_NS_PER_SEC

bool sx_remote_is_there(const struct sx_server *server, const struct sx_nspace *nspace,
                        uint32_t rank)
{
    return server->module.direct_modex != NULL && rank < nspace->job_size &&
           nspace->job_size > nspace->local_count;
}

void sx_remote_missing_log(struct sx_server *server, const struct sx_nspace *nspace, uint32_t rank)
{
    struct sx_host *const host = &server->port.host;

    if (server->module.direct_modex != NULL || host->unreadable_logged ||
        rank >= nspace->job_size || nspace->job_size <= nspace->local_count ||
        sx_client_may_come(nspace, rank)) {
        return;
    }
    host->unreadable_logged = true;
    sx_log(SX_LOG_WARN,
           "the data of %s.%u, a process of another node, cannot be asked for: the host has no "
           "direct_modex; a fence that collects data brings them",
           nspace->name, rank);
}

static void host_has_answered(struct sx_asker *asker, const struct sx_host_answer *answer);
static void time_is_over(void *arg, uint64_t now_ns);

static void wake_at(struct sx_awaited *awaited, uint64_t at_ns)
{
    struct sx_remote *remote = &awaited->remote;

    sx_timer_remove(&remote->timer);
    remote->timer.fn = time_is_over;
    remote->timer.arg = awaited;
    remote->timer_ns = at_ns;
    sx_timer_add(awaited->server->loop, &remote->timer, at_ns);
}

/* Ask the host, for the newest key.  If it cannot be asked, all waits end and @awaited may be
 * freed. */
static void ask(struct sx_awaited *awaited, uint64_t now_ns)
{
    struct sx_server *server = awaited->server;
    struct sx_remote *remote = &awaited->remote;
    /* Hosts do not understand names of qualified values; an answer brings all data of the rank
     * anyway. */
    const char *key = "";
    pmix_info_t info[2];
    const pmix_proc_t proc = sx_nspace_proc(awaited->nspace, awaited->rank);
    bool anew = false;

    SX_LIST_EACH(it, &awaited->keys) {
        const struct sx_awaited_key *wanted = SX_LIST_ENTRY(it, struct sx_awaited_key, link);

        key = wanted->realm == SX_REALM_JOB ? wanted->key : "";
        anew |= wanted->anew;
    }
    PMIX_INFO_LOAD(&info[0], PMIX_REQUIRED_KEY, key, PMIX_STRING);
    if (anew) { /* PRRTE answers from its own cache otherwise */
        PMIX_INFO_LOAD(&info[1], PMIX_GET_REFRESH_CACHE, &anew, PMIX_BOOL);
    }
    remote->is_overtaken = remote->is_overtaken && remote->is_asked; /* which may be answered yet */
    remote->is_asked = true;
    remote->asked_ns = now_ns;
    wake_at(awaited, sx_deadline_ns(now_ns, remote->lost_ns));
    const pmix_status_t rc = sx_upcall(server, SX_UPCALL_DIRECT_MODEX,
                                       &(struct sx_upcall){ .answered = host_has_answered,
                                                            .asker = &remote->asker,
                                                            .proc = &proc,
                                                            .info = info,
                                                            .ninfo = anew ? 2 : 1 });
    if (rc != PMIX_SUCCESS) {
        sx_awaited_end(awaited, rc);
    }
}

static void time_is_over(void *arg, uint64_t now_ns)
{
    struct sx_awaited *awaited = arg;
    struct sx_remote *remote = &awaited->remote;

    if (sx_awaited_is_idle(awaited)) {
        sx_awaited_unasked(awaited);
        return;
    }
    if (remote->incoming != NULL) { /* it has answered, and its values are being stored */
        wake_at(awaited, sx_deadline_ns(now_ns, remote->lost_ns));
        return;
    }
    if (remote->is_asked) {
        sx_log(SX_LOG_INFO, "the host has not answered for %s.%u: it is asked again",
               awaited->nspace->name, awaited->rank);
        remote->lost_ns = remote->lost_ns < LOST_MAX_NS ? 2 * remote->lost_ns : LOST_MAX_NS;
    }
    ask(awaited, now_ns);
}

struct verdict {
    bool not_yet;      /* by the host's status, the value may still be committed */
    bool is_overtaken; /* the answer does not count */
    bool any_late;
};

/* The answer is final for a Get without time to wait that arrived before the question. */
static bool is_hasty(struct sx_wait *wait, void *arg)
{
    struct verdict *verdict = arg;

    if (wait->is_late || verdict->is_overtaken) {
        wait->is_late = false;
        verdict->any_late = true;
        return false;
    }
    return !wait->patient || !verdict->not_yet;
}

/* The values of an answer of @size bytes have been stored with @status. */
static void values_stored(struct sx_awaited *awaited, pmix_status_t status, size_t size)
{
    const uint64_t now_ns = sx_now_ns();

    if (status == PMIX_ERR_UNPACK_FAILURE && size > 0) {
        (void)sx_blob_refuse(size, "a Get", awaited->nspace->name);
    }
    const bool has_data = status == PMIX_SUCCESS && size > 0;
    struct verdict verdict = { .not_yet = status == PMIX_SUCCESS || status == PMIX_ERR_NOT_FOUND ||
                                          status == PMIX_ERR_TIMEOUT,
                               .is_overtaken = has_data && awaited->remote.is_overtaken };

    awaited->remote.is_asked = false;
    awaited->remote.lost_ns = LOST_NS;
    sx_awaited_look(awaited); /* all data from the rank's node are in the store */
    if (has_data && !verdict.is_overtaken) {
        sx_awaited_renewed(awaited, size / 1024);
    }
    sx_awaited_commit(awaited);
    sx_awaited_end_some(awaited, is_hasty, &verdict,
                        status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : status);
    if (sx_awaited_is_idle(awaited)) {
        sx_awaited_unasked(awaited);
    } else if (verdict.any_late) {
        ask(awaited, now_ns);
    } else {
        wake_at(awaited, sx_deadline_ns(now_ns, awaited->remote.pause_ns));
        awaited->remote.pause_ns *= awaited->remote.pause_ns < PAUSE_MAX_NS ? 2 : 1;
    }
}

static void stored_later(struct sx_incoming *incoming, pmix_status_t status)
{
    struct sx_awaited *const awaited = incoming->owner;

    if (awaited != NULL) {
        awaited->remote.incoming = NULL;
        values_stored(awaited, status, incoming->pieces[0].size);
    }
}

/* Without @awaited no Get waits any more; a later one finds the values in the store.  An earlier
 * answer may be stored yet: then the Gets have that one. */
static pmix_status_t values_take(struct sx_awaited *awaited, const struct sx_host_answer *answer)
{
    const struct sx_blob_piece whole = { answer->bytes, answer->size };
    struct sx_incoming incoming = { .server = answer->server,
                                    .answer = answer,
                                    .pieces = &whole,
                                    .piece_count = 1,
                                    .procs = answer->subject,
                                    .proc_count = 1,
                                    .far = { .is_answer = true },
                                    .stored = stored_later };
    struct sx_incoming *nobody = NULL;

    if (awaited != NULL && awaited->remote.incoming == NULL) {
        incoming.owner = awaited;
        return sx_incoming_store(&incoming, &awaited->remote.incoming);
    }
    return sx_incoming_store(&incoming, &nobody);
}

static void host_has_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    struct sx_awaited *const awaited = asker == NULL
                                           ? NULL
                                           : SX_CONTAINER(asker, struct sx_awaited, remote.asker);
    pmix_status_t status = answer->status;

    if (status == PMIX_SUCCESS && answer->size > 0) {
        status = values_take(awaited, answer);
    }
    if (awaited == NULL || status == PMIX_ERR_WOULD_BLOCK) {
        return;
    }
    if (answer->refused) {
        awaited->remote.is_asked = false;
        awaited->remote.lost_ns = LOST_NS;
        sx_awaited_end(awaited, status);
        return;
    }
    values_stored(awaited, status, answer->size);
}

void sx_remote_wait(struct sx_wait *wait, uint64_t now_ns)
{
    struct sx_awaited *awaited = wait->awaited;
    struct sx_remote *remote = &awaited->remote;

    remote->pause_ns = PAUSE_NS;
    if (!remote->is_active) {
        remote->is_active = true;
        remote->is_asked = false;
        remote->lost_ns = LOST_NS;
    }
    if (!remote->is_asked) {
        ask(awaited, now_ns);
        return;
    }
    const uint64_t soon_ns = sx_deadline_ns(remote->asked_ns, LOST_FOR_LATE_NS);

    wait->is_late = true;
    if (soon_ns < remote->timer_ns) {
        wake_at(awaited, soon_ns > now_ns ? soon_ns : now_ns);
    }
}

/* ---- namespaces that are not registered ----------------------------------------------------- */

/* One Get. */
struct unknown {
    struct sx_pending pending; /* first */
    char nspace[PMIX_MAX_NSLEN + 1];
};

/* Whichever status the host returns: it has either registered the namespace by now, or does not
 * have it. */
static void unknown_answer(struct unknown *unknown)
{
    struct sx_server *const server = unknown->pending.server;
    const struct sx_nspace *const nspace = sx_nspace_find(server, unknown->nspace);

    if (nspace == NULL) {
        sx_waiting_was_vain(server, unknown->nspace);
    }
    sx_pending_answer(&unknown->pending,
                      nspace != NULL && sx_nspace_visible(server, nspace, unknown->pending.client)
                          ? PMIX_SUCCESS
                          : PMIX_ERR_NOT_FOUND);
}

static void unknown_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker == NULL) { /* it has timed out, or its client has gone */
        sx_pending_uncount(answer->client, SX_PENDING_HOST, 0);
        return;
    }
    struct sx_pending *const pending = SX_CONTAINER(asker, struct sx_pending, asker);

    pending->with_host = false;
    unknown_answer(SX_CONTAINER(pending, struct unknown, pending));
}

static void unknown_timed_out(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    unknown_answer(arg);
}

/* The client is charged for the open question until the host answers, which may be never. */
bool sx_remote_ask_unknown(struct sx_server *server, struct sx_client *client, uint32_t id,
                           const pmix_proc_t *proc, const char *key, uint64_t deadline_ns)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST };
    pmix_info_t info;

    if (server->module.direct_modex == NULL || !sx_name_may_come(server, proc->nspace) ||
        sx_waiting_is_vain(server, proc->nspace)) {
        return false;
    }
    struct unknown *const unknown = calloc(1, sizeof(*unknown));
    if (unknown == NULL ||
        sx_pending_begin(server, client, id, &kind, &unknown->pending) != PMIX_SUCCESS) {
        free(unknown);
        return false;
    }
    memcpy(unknown->nspace, proc->nspace, sizeof(unknown->nspace));
    sx_pending_limit(&unknown->pending, unknown_timed_out, deadline_ns);
    PMIX_INFO_LOAD(&info, PMIX_REQUIRED_KEY, key, PMIX_STRING);
    const pmix_status_t rc = sx_upcall(server, SX_UPCALL_DIRECT_MODEX,
                                       &(struct sx_upcall){ .answered = unknown_answered,
                                                            .asker = &unknown->pending.asker,
                                                            .client = client,
                                                            .proc = proc,
                                                            .info = &info,
                                                            .ninfo = 1 });
    unknown->pending.with_host = rc == PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS) {
        unknown_answer(unknown);
    }
    return true;
}
