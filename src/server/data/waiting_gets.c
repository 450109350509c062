/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* waiting_gets.c - the conditions for which a Get without a stored value waits, and how long.
 *
 *     WAITING --value stored, commit ends--> answered PMIX_SUCCESS ("look again")
 *        |\--its time limit--> PMIX_ERR_TIMEOUT
 *        |\--no limit: the rank has committed, without the key, or has finalized before the Get;
 *        |   then the server's patience-->
 *        |                                                                  PMIX_ERR_TIMEOUT
 *        |\--no limit, qualified: the rank has committed, without the key--> PMIX_ERR_NOT_FOUND
 *        |\--the value is stored, but for other nodes--> PMIX_ERR_NOT_FOUND
 *        |\--the rank has left or died, or its node had no such value--> PMIX_ERR_NOT_FOUND
 *        |\--the host had announced the value, and reports that none follows--> PMIX_SUCCESS
 *        |\--a host's key of a rank of another node: the host has not answered for a while-->
 *        |                                                                  PMIX_ERR_TIMEOUT
 *         \--the asker is gone, or cancels--> dropped
 *
 * A Get waits without end for a rank that has not committed anything: it may be slow.
 * remote_gets.c handles ranks of other nodes.  A Get that names no rank searches after all data
 * that the local ranks had sent are stored, and does not wait for more. */
#include "server/data/data.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <shmix.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/system/topology.h"
#include "base/value/value.h"
#include "server/data/get_index.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"
#include "server/port/port.h"

/* ---- patience ------------------------------------------------------------------------------ */

/* "2", "0.25": seconds.  Return: false for text that is not a number, or more than a year. */
static bool seconds_read(const char *text, uint64_t *ret_ns)
{
    const uint64_t max_ns = 366 * 24 * 3600 * SX_NS_PER_SEC;
    uint64_t ns = 0, unit_ns = SX_NS_PER_SEC;
    bool any = false, fraction = false;

    for (; *text != '\0'; text++) {
        if (*text == '.' && !fraction) {
            fraction = true;
        } else if (isdigit((unsigned char)*text)) {
            const uint64_t digit = (uint64_t)(*text - '0');

            any = true;
            unit_ns = fraction ? unit_ns / 10 : unit_ns;
            ns = fraction ? ns + digit * unit_ns : ns * 10 + digit * SX_NS_PER_SEC;
        } else {
            return false;
        }
        if (ns > max_ns) {
            return false;
        }
    }
    *ret_ns = ns;
    return any;
}

pmix_status_t sx_gets_init(struct sx_server *server, const struct sx_server_options *options)
{
    const char *text = getenv("SHMIX_GET_TIMEOUT");

    sx_waiting_init(server);
    server->data.get_patience_ns = SX_GETS_PATIENCE_NS;
    if (options->get_timeout.given) {
        server->data.get_patience_ns = options->get_timeout.number * SX_NS_PER_SEC;
        return PMIX_SUCCESS;
    }
    if (text != NULL && text[0] != '\0' && !seconds_read(text, &server->data.get_patience_ns)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "SHMIX_GET_TIMEOUT=%s is no number of seconds, as \"2\" or \"0.5\" is",
                        text);
    }
    return PMIX_SUCCESS;
}

static void get_timed_out(void *arg, uint64_t now_ns)
{
    const struct sx_wait *wait = SX_CONTAINER(arg, struct sx_wait, pending);

    (void)now_ns;
    sx_pending_answer(arg, sx_wait_status(wait, PMIX_ERR_TIMEOUT));
}

static void wait_limit(struct sx_wait *wait, uint64_t timeout_ns, uint64_t now_ns)
{
    sx_pending_limit(&wait->pending, get_timed_out, sx_deadline_ns(now_ns, timeout_ns));
}

/* The rank has committed, without the wanted key: limit the wait. */
static void wait_lose_patience(struct sx_wait *wait, uint64_t now_ns)
{
    const uint64_t patience_ns = wait->awaited->server->data.get_patience_ns;

    if (wait->pending.deadline.fn == NULL && patience_ns != 0) {
        wait_limit(wait, patience_ns, now_ns);
    }
}

static bool has_no_limit(struct sx_wait *wait, void *arg)
{
    (void)arg;
    return wait->pending.deadline.fn == NULL;
}

static void awaited_timed_out(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_awaited_end_some(arg, has_no_limit, NULL, PMIX_ERR_TIMEOUT);
}

/* The same for all Gets that wait for a rank with its first commit.  Gets that arrive later have
 * time limits of their own. */
static void awaited_lose_patience(struct sx_awaited *awaited, uint64_t now_ns)
{
    const uint64_t patience_ns = awaited->server->data.get_patience_ns;

    if (awaited->patience.fn == NULL && patience_ns != 0) {
        awaited->patience.fn = awaited_timed_out;
        awaited->patience.arg = awaited;
        sx_timer_add(awaited->server->loop, &awaited->patience,
                     sx_deadline_ns(now_ns, patience_ns));
    }
}

/* Most ranks put all values of a key before they commit, so a Get does not wait for other
 * qualifiers. */
static bool is_qualified(struct sx_wait *wait, void *arg)
{
    (void)arg;
    return wait->key != NULL && wait->key->realm == SX_REALM_QUALIFIED &&
           wait->pending.deadline.fn == NULL;
}

void sx_gets_committed(struct sx_server *server, struct sx_client *client, bool first)
{
    struct sx_awaited *awaited = NULL;

    if (client->waiter_count > 0) {
        awaited = sx_awaited_find(server, client->nspace, client->rank);
    }
    if (awaited == NULL) {
        return;
    }
    if (!first) {
        sx_awaited_commit(awaited);
        return;
    }
    awaited_lose_patience(awaited, sx_now_ns());
    sx_awaited_commit(awaited);
    awaited = sx_awaited_find(server, client->nspace, client->rank); /* NULL: freed meanwhile */
    if (awaited != NULL && awaited->qualified_count > 0) {
        sx_awaited_end_some(awaited, is_qualified, NULL, PMIX_ERR_NOT_FOUND);
    }
}

/* ---- one rank of this node ----------------------------------------------------------------- */

/* Put for other nodes alone. */
static bool is_for_others(const struct sx_wait_what *what)
{
    struct sx_item item;

    return what->nspace->has_remote && what->key[0] != '\0' &&
           sx_store_find(&what->nspace->remote.view, what->realm, what->rank, what->key, &item) ==
               PMIX_SUCCESS;
}

/* One message of a lane may be the last that many Gets wait for.  Return: whether @mark is left to
 * a later turn, in which it is reached once more. */
static bool is_left(struct sx_server *server, struct sx_lane_mark *mark)
{
    struct sx_waiting *const waiting = &server->data.waiting;

    if (sx_steps_take(&waiting->answers)) {
        return false;
    }
    sx_list_append(&waiting->passed, &mark->link);
    sx_steps_go(&waiting->answers);
    return true;
}

/* All data that the rank had sent before the Get have been stored. */
static void get_caught_up(struct sx_lane_mark *mark)
{
    struct sx_wait *wait = SX_CONTAINER(mark, struct sx_wait, mark);
    const struct sx_awaited *awaited = wait->awaited;

    if (is_left(awaited->server, mark)) {
        return;
    }

    if (sx_wait_is_due(wait)) {
        sx_pending_answer(&wait->pending, sx_wait_status(wait, PMIX_SUCCESS));
        return;
    }
    const struct sx_client *target = sx_client_find(awaited->nspace, awaited->rank);
    const struct sx_wait_what what = { .nspace = awaited->nspace,
                                       .rank = awaited->rank,
                                       .realm = wait->key->realm,
                                       .key = wait->key->key };
    if (sx_wait_is_there(&what)) {
        sx_pending_answer(&wait->pending, PMIX_SUCCESS);
    } else if (!wait->patient) {
        sx_pending_answer(&wait->pending, PMIX_ERR_NOT_FOUND);
    } else if (target != NULL && target->has_committed) {
        wait_lose_patience(wait, sx_now_ns());
    }
}

/* ---- any rank of this node ----------------------------------------------------------------- */

#define RANKS_A_UNIT 128u /* ranks that are searched */

static bool is_anybody(uint32_t rank)
{
    return rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF;
}

/* Whether any rank has the key of @wait.  The asking client is charged for each rank searched. */
static bool anybody_has(const struct sx_wait *wait)
{
    const struct sx_awaited_key *key = wait->key;
    const struct sx_nspace *nspace = wait->awaited->nspace;
    const struct sx_store *store = &nspace->store.view;
    const sx_column column = nspace->has_store
                                 ? sx_store_column(store, key->realm, key->key, strlen(key->key))
                                 : 0;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    struct sx_item item;
    uint32_t rank = 0;

    for (; column != 0 && rank < nspace->job_size && rc != PMIX_SUCCESS; rank++) {
        rc = sx_store_read(store, column, rank, &item);
    }
    sx_share_charge(wait->pending.server, wait->pending.client, rank / RANKS_A_UNIT);
    return rc == PMIX_SUCCESS;
}

/* Wait for one lane after the other. */
static void anybody_caught_up(struct sx_lane_mark *mark)
{
    struct sx_wait *wait = SX_CONTAINER(mark, struct sx_wait, mark);
    const struct sx_nspace *nspace = wait->awaited->nspace;

    if (is_left(wait->awaited->server, mark)) {
        return;
    }
    while (!sx_wait_is_due(wait) && wait->lanes_seen < nspace->client_count) {
        struct sx_client *client = nspace->by_rank[wait->lanes_seen++];

        if (client->state == SX_CLIENT_CONNECTED && sx_lane_pending(&client->lane)) {
            sx_lane_mark(wait->awaited->server, client, mark);
            return;
        }
    }
    pmix_status_t status = sx_wait_status(wait, PMIX_ERR_NOT_FOUND);

    if (!sx_wait_is_due(wait) && anybody_has(wait)) {
        status = PMIX_SUCCESS;
    }
    sx_pending_answer(&wait->pending, status);
}

/* ---- what the host has announced ----------------------------------------------------------- */

static bool is_coming(const struct sx_wait_what *what)
{
    return what->nspace->is_coming && what->realm == SX_REALM_JOB && sx_topology_is_key(what->key);
}

/* Wait for a value of the job, whichever process was named.  Each end of the wait returns
 * PMIX_SUCCESS ("look again"), except the namespace's removal and the time limit. */
static pmix_status_t coming_wait(struct sx_server *server, struct sx_client *asker,
                                 const struct sx_wait_what *what, const struct sx_frame *frame,
                                 uint64_t now_ns)
{
    const struct sx_wait_what text = {
        .nspace = what->nspace, .rank = SX_ROW_JOB, .realm = SX_REALM_JOB, .key = what->key
    };
    const struct sx_get *request = frame->opened.head;
    struct sx_wait *wait = sx_wait_add(server, asker, frame->header.id, &text);

    if (wait == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    wait->is_announced = true;
    if (request->timeout_ns != 0) {
        wait_limit(wait, request->timeout_ns, now_ns);
    }
    return PMIX_SUCCESS;
}

static bool is_announced(struct sx_wait *wait, void *arg)
{
    (void)arg;
    return wait->is_announced;
}

void sx_gets_nspace_coming(struct sx_server *server, struct sx_nspace *nspace, uint8_t said)
{
    struct sx_awaited *const awaited = sx_awaited_find(server, nspace, SX_ROW_JOB);

    if (said == SX_SAID_NOTHING) {
        return;
    }
    nspace->is_coming = said == SX_SAID_YES;
    if (!nspace->is_coming) {
        (void)sx_store_unset(&nspace->store, SX_REALM_JOB, SX_ROW_JOB, SX_NSPACE_COMING);
    }
    if (!nspace->is_coming && awaited != NULL) {
        sx_awaited_end_some(awaited, is_announced, NULL, PMIX_SUCCESS);
    }
}

/* ---- requests ------------------------------------------------------------------------------ */

static enum sx_realm realm_of(const struct sx_get *request)
{
    return (request->flags & SX_GET_QUALIFIED) != 0 ? SX_REALM_QUALIFIED : SX_REALM_JOB;
}

/* The time that the host has for a key that only it may have. */
static uint64_t hosts_limit_ns(const struct sx_get *request)
{
    return request->timeout_ns != 0 && request->timeout_ns < SX_GETS_PATIENCE_NS
               ? request->timeout_ns
               : SX_GETS_PATIENCE_NS;
}

/* Return: PMIX_SUCCESS when the request will be answered, or has been. */
static pmix_status_t get_wait(struct sx_server *server, struct sx_client *asker,
                              const struct sx_wait_what *what, struct sx_client *target,
                              const struct sx_frame *frame, bool patient, uint64_t now_ns)
{
    const struct sx_get *request = frame->opened.head;
    struct sx_wait *wait;

    wait = sx_wait_add(server, asker, frame->header.id, what);
    if (wait == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    wait->patient = patient;
    if (request->timeout_ns != 0 && (request->flags & SX_GET_HOSTS) == 0) {
        wait_limit(wait, request->timeout_ns, now_ns);
    }
    if (is_anybody(what->rank)) {
        wait->mark.reached = anybody_caught_up;
        anybody_caught_up(&wait->mark);
    } else if (target == NULL && sx_remote_is_there(server, what->nspace, what->rank)) {
        const bool is_hosts = (request->flags & SX_GET_HOSTS) != 0;

        wait->patient = request->timeout_ns != 0 && !is_hosts &&
                        (request->flags & SX_GET_IMMEDIATE) == 0;
        if (is_hosts) {
            wait_limit(wait, hosts_limit_ns(request), now_ns);
        }
        sx_remote_wait(wait, now_ns);
    } else if (target != NULL && target->state == SX_CLIENT_CONNECTED) {
        /* A commit made before its client could see data_wanted is in the lane now. */
        wait->mark.reached = get_caught_up;
        sx_lane_mark(server, target, &wait->mark);
    } else if (target != NULL && target->left) {
        wait_lose_patience(wait, now_ns); /* another process may come in its place, or none */
    }
    return PMIX_SUCCESS;
}

/* Whether the value may still be put, so that waiting can help. */
static bool may_come(const struct sx_server *server, const struct sx_wait_what *what,
                     const struct sx_client *target, bool immediate)
{
    if (is_anybody(what->rank)) {
        return what->key[0] != '\0';
    }
    if (target == NULL) {
        return sx_remote_is_there(server, what->nspace, what->rank) ||
               (!immediate && sx_client_may_come(what->nspace, what->rank));
    }
    return !immediate && !is_for_others(what) && !target->departed &&
           (target->state == SX_CLIENT_CONNECTED || target->state == SX_CLIENT_REGISTERED);
}

/* Whether the host may have the key, which hosts provide, of a rank of another node.  True if it
 * has not been asked, or has not answered yet: a key that it did not have is not asked for
 * again. */
static bool host_may_know(struct sx_server *server, const struct sx_wait_what *what,
                          const struct sx_client *target)
{
    if (target != NULL || is_anybody(what->rank) || what->key[0] == '\0' ||
        !sx_remote_is_there(server, what->nspace, what->rank)) {
        return false;
    }
    const struct sx_awaited *const awaited = sx_awaited_find(server, what->nspace, what->rank);

    return sx_wait_is_first(server, what) || (awaited != NULL && awaited->remote.is_asked);
}

/* Whether the Get does not wait for a missing value.  So it is with qualifiers that the rank has
 * not committed. */
static bool is_immediate(const struct sx_get *request, const struct sx_client *target)
{
    return (request->flags & SX_GET_IMMEDIATE) != 0 ||
           ((request->flags & SX_GET_QUALIFIED) != 0 && request->timeout_ns == 0 &&
            target != NULL && target->has_committed);
}

/* A Get of @proc, whose namespace is not registered here.  Return: true when it is answered
 * later. */
static bool unknown_ask(struct sx_server *server, struct sx_client *asker, const pmix_proc_t *proc,
                        const struct sx_wait_what *what, const struct sx_frame *frame,
                        uint64_t now_ns)
{
    const struct sx_get *const request = frame->opened.head;

    return (request->flags & SX_GET_HOSTS) != 0 && what->key[0] != '\0' &&
           proc->nspace[0] != '\0' &&
           sx_remote_ask_unknown(server, asker, frame->header.id, proc, what->key,
                                 sx_deadline_ns(now_ns, hosts_limit_ns(request)));
}

/* Return: what the Get of user @uid asks for, and in @ret_proc the process that it is about.  The
 * namespace is NULL if it is not registered.  @ret_proc has no namespace either if a group or
 * connected namespace does not have the member that the Get names. */
static struct sx_wait_what what_of(struct sx_server *server, uid_t uid,
                                   const struct sx_frame *frame, pmix_proc_t *ret_proc)
{
    const struct sx_get *request = frame->opened.head;
    const char *key = sx_part_text(&frame->opened.parts[SX_GET_KEY]);
    struct sx_wait_what what = { .rank = request->rank,
                                 .realm = realm_of(request),
                                 .key = key != NULL ? key : "" };
    pmix_proc_t named = { .rank = request->rank };

    memcpy(named.nspace, request->nspace, sizeof(named.nspace));
    *ret_proc = (pmix_proc_t){ .rank = request->rank };
    if (sx_alias_one(server, uid, &named, ret_proc) == PMIX_SUCCESS) {
        what.nspace = sx_nspace_find(server, ret_proc->nspace);
        what.rank = ret_proc->rank;
    }
    return what;
}

bool sx_gets_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns)
{
    const struct sx_get *request = frame->opened.head;
    pmix_proc_t proc;
    struct sx_wait_what what = what_of(server, client->uid, frame, &proc);
    struct sx_client *target = NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (what.nspace != NULL && sx_nspace_visible(server, what.nspace, client)) {
        target = sx_client_find(what.nspace, what.rank);
        /* Data that the rank has already sent are stored first: they may contain this value, or a
         * newer one. */
        const bool is_behind = target != NULL && target->state == SX_CLIENT_CONNECTED &&
                               sx_lane_pending(&target->lane);
        const bool patient = (request->flags & SX_GET_HOSTS) != 0
                                 ? host_may_know(server, &what, target)
                                 : may_come(server, &what, target, is_immediate(request, target));

        what.anew = (request->flags & SX_GET_REFRESH) != 0 && target == NULL &&
                    sx_remote_is_there(server, what.nspace, what.rank);
        if (is_coming(&what)) {
            rc = coming_wait(server, client, &what, frame, now_ns);
            if (rc == PMIX_SUCCESS) {
                return true;
            }
        } else if (!is_behind && !what.anew && sx_wait_is_there(&what)) {
            rc = PMIX_SUCCESS;
        } else if (is_behind || patient) {
            rc = get_wait(server, client, &what, target, frame, patient, now_ns);
            if (rc == PMIX_SUCCESS) {
                return true; /* answered later */
            }
        } else if (target == NULL && (request->flags & SX_GET_HOSTS) == 0) {
            sx_remote_missing_log(server, what.nspace, what.rank);
        }
    } else if (what.nspace == NULL && unknown_ask(server, client, &proc, &what, frame, now_ns)) {
        return true;
    }
    sx_reply(server, client, frame->header.id, rc, -1);
    return true;
}

/* ---- clients and namespaces ---------------------------------------------------------------- */

void sx_gets_client_added(struct sx_server *server, struct sx_client *client)
{
    const struct sx_awaited *awaited = sx_awaited_find(server, client->nspace, client->rank);

    if (awaited != NULL) {
        sx_waiting_want(server, client, (int)awaited->wait_count);
    }
}

void sx_gets_client_connected(struct sx_server *server, struct sx_client *client)
{
    if (client->waiter_count > 0) {
        sx_board_slot_want_data(&server->board, client->slot, true);
    }
}

/* Gets that check all lanes continue with the next lane, in steps: taking data from that lane may
 * end some of them.  Those that wait for the client itself have ended. */
static void marks_leave(struct sx_server *server, struct sx_client *client)
{
    struct sx_list ended = SX_LIST_INIT(ended);

    SX_LIST_EACH(it, &client->share.marks) {
        const struct sx_lane_mark *mark = SX_LIST_ENTRY(it, struct sx_lane_mark, link);

        if (mark->reached == anybody_caught_up) {
            sx_list_remove(it);
            sx_list_append(&server->data.waiting.passed, it);
        } else if (mark->reached == get_caught_up) {
            sx_list_remove(it);
            sx_list_append(&ended, it);
        }
    }
    sx_list_remove(&ended); /* the marks are linked with each other until their Gets are answered */
}

void sx_gets_client_gone(struct sx_server *server, struct sx_client *client)
{
    marks_leave(server, client);
    if (client->waiter_count > 0 && client->nspace != NULL) {
        struct sx_awaited *awaited = sx_awaited_find(server, client->nspace, client->rank);

        if (awaited != NULL) {
            sx_awaited_end(awaited, PMIX_ERR_NOT_FOUND);
        }
    }
    sx_steps_go(&server->data.waiting.answers);
}

void sx_gets_nspace_filled(struct sx_nspace *nspace)
{
    struct sx_list rest = SX_LIST_INIT(rest); /* an answer may end the wait for others of them */
    struct sx_list *node;

    sx_list_splice(&rest, &nspace->awaited);
    while ((node = sx_list_pop(&rest)) != NULL) {
        struct sx_awaited *awaited = SX_LIST_ENTRY(node, struct sx_awaited, link);

        sx_list_append(&nspace->awaited, node);
        sx_awaited_look(awaited);
        sx_awaited_commit(awaited);
    }
}

void sx_gets_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    sx_waiting_forget(server);
    while (!sx_list_empty(&nspace->awaited)) {
        sx_awaited_end(SX_LIST_ENTRY(nspace->awaited.next, struct sx_awaited, link),
                       PMIX_ERR_NOT_FOUND);
    }
}

void sx_gets_deinit(struct sx_server *server)
{
    sx_incomings_deinit(server);
    sx_waiting_deinit(&server->data.waiting);
}
