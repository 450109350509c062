/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof.c - pulls, for which the host is asked, and output, which is passed to all pulls that match
 * it. */
#include "server/iof/iof.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/system/process.h"
#include "base/value/value.h"
#include "server/iof/output.h"
#include "server/iof/pull.h"
#include "server/manage/manage.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"
#include "server/model/proc_list.h"
#include "server/model/share.h"
#include "server/port/port.h"

#define NAMES_PER_UNIT 4u   /* names of processes, sorted and searched */
#define COPIES_PER_UNIT 2u  /* names copied out of a message */
#define MESSAGES_A_STEP 64u /* SX_TURN_ANSWER_UNITS each */

/* A pull, from the call until the host has confirmed its end. */
struct pull {
    struct sx_pull pull; /* its link: server.iof.pulls */
    struct sx_server *server;
    struct sx_asker asker;
    struct asking *asking;     /* the answer that is due; NULL: none */
    struct sx_share_work work; /* queued: there is output, and the socket has room */
    size_t bytes;              /* that its processes take, for its client's quota */
    bool agreed;               /* the host has agreed, and will be called at its end */
    bool redirects;
};

/* The call that opens a pull. */
struct asking {
    struct sx_pending pending;
    struct pull *pull; /* NULL: answered already, or to be answered without a pull */
    int fd;            /* of the answer */
};

/* ---- pulls ----------------------------------------------------------------------------------- */

static struct pull *pull_of(struct sx_list *it)
{
    return SX_CONTAINER(SX_LIST_ENTRY(it, struct sx_pull, link), struct pull, pull);
}

static void pull_free(struct pull *pull)
{
    sx_list_remove(&pull->pull.link);
    sx_share_work_remove(&pull->work);
    sx_pull_index_remove(pull->server, &pull->pull);
    sx_asker_deinit(&pull->asker);
    sx_pending_uncount(pull->pull.client, SX_PENDING_PULL, pull->bytes);
    sx_client_release(pull->pull.client);
    free(pull->pull.procs);
    free(pull);
}

static void host_stopped(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    (void)answer;
    pull_free(SX_CONTAINER(asker, struct pull, asker));
}

/* Ask the host to stop the pull, as it was asked to start it.  Return: whether it will answer. */
static bool host_stop(struct pull *pull)
{
    struct sx_client *const client = pull->pull.client;
    struct sx_upcall up = { .answered = host_stopped,
                            .asker = &pull->asker,
                            .client = client,
                            .proc = pull->pull.procs, /* the client's job may be gone */
                            .procs = pull->pull.procs,
                            .nprocs = pull->pull.proc_count,
                            .status = pull->pull.channels,
                            .info = calloc(2, sizeof(*up.info)),
                            .ninfo = pull->redirects ? 2 : 1 };

    if (up.info == NULL) {
        return false; /* the host continues in vain */
    }
    PMIx_Info_load(&up.info[0], PMIX_IOF_STOP, NULL, PMIX_BOOL);
    PMIx_Info_load(&up.info[1], PMIX_IOF_REDIRECT, NULL, PMIX_BOOL);
    const bool answers = sx_ask_asker_add(client, &up.info, &up.ninfo) == PMIX_SUCCESS &&
                         sx_upcall(pull->server, SX_UPCALL_IOF_PULL, &up) == PMIX_SUCCESS;

    free(up.info);
    return answers;
}

/* The process wants no more of this pull.  Output that the host delivers before it confirms the end
 * is dropped with the pull.  Until then it counts as a pull of its process, so a host that never
 * answers does not lift that bound. */
static void pull_end(struct pull *pull)
{
    if (pull->asking != NULL) {
        pull->asking->pull = NULL;
        pull->asking = NULL;
    }
    sx_share_work_remove(&pull->work);
    sx_pull_deinit(&pull->pull);
    if (!pull->agreed || !host_stop(pull)) {
        pull_free(pull);
    }
}

static void pull_ended(struct sx_pull *pull)
{
    pull_end(SX_CONTAINER(pull, struct pull, pull));
}

/* One step, in a turn of its client.  Sending may end the pull. */
static void pull_step(struct sx_share_work *work)
{
    struct pull *const pull = SX_CONTAINER(work, struct pull, work);
    struct sx_server *const server = pull->server;
    struct sx_client *const client = pull->pull.client;
    unsigned sent;

    sx_share_work_remove(work);
    if (sx_pull_send_part(&pull->pull, MESSAGES_A_STEP, &sent)) {
        sx_share_work_add(client, work);
    }
    sx_share_charge(server, client, 1 + (uint64_t)sent * SX_TURN_ANSWER_UNITS);
}

/* Let the client's next turns send what is queued. */
static void pull_go_on(struct sx_pull *of)
{
    struct pull *const pull = SX_CONTAINER(of, struct pull, pull);

    sx_share_work_remove(&pull->work);
    sx_share_work_add(of->client, &pull->work);
}

static struct pull *pull_new(struct sx_server *server, struct sx_client *client)
{
    struct pull *const pull = calloc(1, sizeof(*pull));

    if (pull == NULL) {
        return NULL;
    }
    pull->server = server;
    pull->pull.client = sx_client_retain(client);
    pull->work.step = pull_step;
    sx_pull_init(&pull->pull);
    pull->pull.writable = pull_go_on;
    sx_asker_init(&pull->asker);
    sx_list_append(&server->iof.pulls, &pull->pull.link);
    sx_pending_count(client, SX_PENDING_PULL, 0);
    return pull;
}

/* Its processes are there: names of groups may stand for many. */
static void pull_count(struct pull *pull)
{
    struct sx_client *const client = pull->pull.client;

    sx_pending_uncount(client, SX_PENDING_PULL, pull->bytes);
    pull->bytes = sx_pull_bytes(&pull->pull);
    sx_pending_count(client, SX_PENDING_PULL, pull->bytes);
}

/* ---- the call -------------------------------------------------------------------------------- */

static void asking_send(struct sx_pending *pending)
{
    const struct asking *const asking = SX_CONTAINER(pending, struct asking, pending);

    sx_reply(pending->server, pending->client, pending->id, pending->status, asking->fd);
}

static void asking_free(struct sx_pending *pending)
{
    struct asking *const asking = SX_CONTAINER(pending, struct asking, pending);

    if (asking->pull != NULL) {
        asking->pull->asking = NULL;
    }
    if (asking->fd >= 0) {
        close(asking->fd);
    }
    free(asking);
}

/* The call ends with @status; the pull is opened, or is freed. */
static void call_end(struct pull *pull, pmix_status_t status, int fd)
{
    struct asking *const asking = pull->asking;

    if (asking != NULL) {
        asking->fd = fd;
        asking->pull = NULL;
        pull->asking = NULL;
    } else if (fd >= 0) {
        close(fd);
    }
    if (asking != NULL) { /* first: the host, asked to end the pull, may end its process */
        sx_pending_answer(&asking->pending, status);
    }
    if (status != PMIX_SUCCESS) {
        pull_end(pull);
    }
}

static void host_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    struct pull *const pull = SX_CONTAINER(asker, struct pull, asker);
    pmix_status_t rc = answer->status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : answer->status;
    int fd = -1;

    pull->agreed = rc == PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS && !sx_pull_index_add(pull->server, &pull->pull)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_share_charge(pull->server, pull->pull.client, pull->pull.proc_count / NAMES_PER_UNIT);
    if (rc == PMIX_SUCCESS && pull->asking == NULL) {
        rc = PMIX_ERR_LOST_CONNECTION; /* no request waits for it any more */
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_pull_open(&pull->pull, pull->server->loop, pull_ended, &fd);
    }
    sx_kept_give(pull->server, &pull->pull, pull->agreed);
    call_end(pull, rc, fd);
}

/* Whether all are processes of the client's user, or of jobs that are not registered here.  They
 * are sorted: each job is checked once. */
static pmix_status_t procs_judge(struct sx_server *server, struct sx_client *client,
                                 const struct sx_proc_list *procs)
{
    for (size_t i = 0; i < procs->count; i++) {
        const char *const name = procs->all[i].nspace;
        const bool again = i > 0 && strcmp(name, procs->all[i - 1].nspace) == 0;
        const struct sx_nspace *const nspace = again ? NULL : sx_nspace_find(server, name);

        if (nspace != NULL && !sx_nspace_reachable(server, nspace, client)) {
            return PMIX_ERR_NO_PERMISSIONS;
        }
    }
    return PMIX_SUCCESS;
}

/* Make the processes of @list, which has an alias, and so is in order. */
static pmix_status_t meant_make(const struct sx_alias_list *list, struct sx_proc_list *ret)
{
    struct sx_alias_walk walk = { .list = list };

    if (list->count > SX_IOF_MEANT_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "groups that stand for %zu processes: output is pulled from, and input "
                        "pushed to, at most %u in one call, of which a whole namespace is one",
                        list->count, SX_IOF_MEANT_MAX);
    }
    if (!sx_proc_list_reserve(ret, list->count)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    while (sx_alias_next(&walk)) {
        PMIx_Load_procid(&ret->all[ret->count++], walk.nspace, walk.rank);
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_iof_procs_take(struct sx_server *server, struct sx_client *client,
                                const struct sx_opened_part *part, pmix_proc_t **ret_procs,
                                size_t *ret_count)
{
    struct sx_proc_list made = { .all = NULL };
    struct sx_alias_list list;
    pmix_proc_t *named = NULL;
    pmix_status_t rc = part->count <= SX_IOF_PROCS_MAX ? sx_part_procs(part, &named)
                                                       : PMIX_ERR_OUT_OF_RESOURCE;

    if (rc == PMIX_SUCCESS) {
        sx_share_charge(server, client, part->count / COPIES_PER_UNIT);
        rc = sx_alias_list(server, client, client->uid, named, part->count, &list);
    }
    if (rc != PMIX_SUCCESS) {
        free(named);
        return rc;
    }
    if (list.made != NULL) {
        rc = meant_make(&list, &made);
        sx_share_charge(server, client, made.count / COPIES_PER_UNIT);
    } else if (sx_proc_list_append(&made, list.all, list.count)) {
        sx_proc_list_sort(&made);
    } else {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        rc = procs_judge(server, client, &made);
    }
    *ret_procs = made.all;
    *ret_count = made.count;
    sx_alias_list_clear(&list);
    free(named);
    return rc;
}

static void policy_set(struct sx_pull *pull, const struct sx_iof_options *options)
{
    pull->drops = options->drop_oldest   ? SX_PULL_DROPS_OLDEST
                  : options->drop_newest ? SX_PULL_DROPS_NEWEST
                                         : SX_PULL_DROPS_NOTHING;
    pull->queue_max = SX_PULL_QUEUE_BYTES;
    if (options->cache_bytes.given) {
        pull->queue_max = options->cache_bytes.number < SX_PULL_QUEUE_BYTES_MAX
                              ? options->cache_bytes.number
                              : SX_PULL_QUEUE_BYTES_MAX;
    }
}

static pmix_status_t call_judge(struct pull *pull, const struct sx_opened *body,
                                struct sx_upcall *up)
{
    const struct sx_iof_pull *const head = body->head;
    struct sx_iof_options options = { 0 };
    pmix_status_t rc = sx_iof_procs_take(pull->server, pull->pull.client,
                                         &body->parts[SX_PULL_PROCS], &pull->pull.procs,
                                         &pull->pull.proc_count);

    pull->pull.channels = (pmix_iof_channel_t)(head->channels & SX_OUTPUT_CHANNELS);
    if (rc == PMIX_SUCCESS && pull->pull.channels == 0) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(body, SX_PULL_INFOS, &up->info, &up->ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_IOF_PULL, up->info, up->ninfo, &options);
    }
    if (rc == PMIX_SUCCESS && options.stop) {
        rc = PMIX_ERR_NOT_SUPPORTED;
    }
    pull->redirects = options.redirect;
    policy_set(&pull->pull, &options);
    return rc == PMIX_SUCCESS ? sx_ask_asker_add(pull->pull.client, &up->info, &up->ninfo) : rc;
}

static pmix_status_t asking_begin(struct pull *pull, uint32_t id)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST,
                                                 .send = asking_send,
                                                 .free = asking_free };
    struct asking *const asking = calloc(1, sizeof(*asking));

    if (asking == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    asking->fd = -1;
    const pmix_status_t rc = sx_pending_begin(pull->server, pull->pull.client, id, &kind,
                                              &asking->pending);

    if (rc != PMIX_SUCCESS) {
        free(asking);
        return rc;
    }
    asking->pull = pull;
    pull->asking = asking;
    return PMIX_SUCCESS;
}

/* The answer may free the pull. */
static void host_ask(struct pull *pull, struct sx_upcall *up)
{
    up->answered = host_answered;
    up->asker = &pull->asker;
    up->client = pull->pull.client;
    up->procs = pull->pull.procs;
    up->nprocs = pull->pull.proc_count;
    up->status = pull->pull.channels;
    pmix_info_t *const info = up->info; /* this server keeps the array */
    const pmix_status_t rc = sx_upcall(pull->server, SX_UPCALL_IOF_PULL, up);

    free(info);
    if (rc != PMIX_SUCCESS) {
        call_end(pull, rc, -1);
    }
}

/* A pull takes a descriptor here, and one more until its reader has it.  The last tenth of them, as
 * far as a host needs them to start some processes, is for processes. */
#define PULL_DESCRIPTORS 2u
#define KEPT_MAX 64u

static pmix_status_t descriptors_judge(const struct sx_client *client)
{
    const struct sx_descriptors all = sx_descriptors_look();
    const size_t kept = all.limit / 10 < KEPT_MAX ? all.limit / 10 : KEPT_MAX;

    if (all.used + PULL_DESCRIPTORS + kept <= all.limit) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                    "%s.%u pulls output, and %zu of %zu descriptors are used: the others are kept "
                    "for processes (raise ulimit -n of the server)",
                    client->nspace->name, client->rank, all.used, all.limit);
}

bool sx_iof_on_pull(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns)
{
    struct sx_upcall up = { .info_bytes = frame->opened.size };
    struct pull *pull = NULL;
    pmix_status_t rc = sx_pending_judge(server, client, SX_PENDING_PULL);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = descriptors_judge(client);
    }
    if (rc == PMIX_SUCCESS) {
        pull = pull_new(server, client);
        rc = pull == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = call_judge(pull, &frame->opened, &up);
    }
    if (rc == PMIX_SUCCESS) {
        pull_count(pull);
        rc = asking_begin(pull, frame->header.id);
    }
    if (rc == PMIX_SUCCESS) {
        sx_reply_read(server, client, frame);
        host_ask(pull, &up);
        return true;
    }
    PMIX_INFO_FREE(up.info, up.ninfo);
    if (pull != NULL) {
        pull_end(pull);
    }
    sx_reply(server, client, frame->header.id, rc, -1);
    return true;
}

/* ---- output that is handed on ---------------------------------------------------------------- */

/* Return: the user of the process at @source.  The output of a job of several users that was
 * removed is root's alone. */
static uid_t user_of(struct sx_server *server, const pmix_proc_t *source)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, source->nspace);

    if (nspace == NULL) {
        return server->client_uid;
    }
    const uid_t user = nspace->client_count > 0 ? nspace->by_rank[0]->uid : nspace->uid;

    return sx_nspace_is_of(nspace, user) ? user : 0;
}

struct handing {
    const struct sx_nspace *nspace; /* NULL: not registered */
    bool is_wanted;
};

/* Whether the client of @pull may have @output; each client is checked once for all of its
 * pulls. */
static bool may_have_it(const struct handing *handing, const struct pull *pull,
                        const struct sx_output *output)
{
    const uint64_t number = pull->server->iof.output_last;
    struct sx_client *const client = pull->pull.client;

    if (!sx_pull_is_open(&pull->pull)) {
        return true;
    }
    if (client->output_judged != number) {
        client->output_judged = number;
        client->output_may = sx_pull_may_have(pull->server, &pull->pull, handing->nspace, output);
    }
    return client->output_may;
}

/* The pull's client is charged, and its turns send the output. */
static void output_put(void *arg, struct sx_pull *of, struct sx_output *output)
{
    struct handing *const handing = arg;
    struct pull *const pull = SX_CONTAINER(of, struct pull, pull);

    if (!pull->agreed || !may_have_it(handing, pull, output)) {
        return;
    }
    handing->is_wanted = true; /* also for an ended pull whose end the host has not confirmed */
    if (sx_pull_is_open(of)) {
        sx_pull_put(of, output);
        sx_share_charge(pull->server, of->client, 1);
        pull_go_on(of);
    }
}

void sx_iof_hand_on(void *arg, uint64_t now_ns)
{
    struct sx_output *const output = arg;
    struct sx_server *const server = output->server;
    struct handing handing = { .nspace = sx_nspace_find(server, output->source.nspace) };

    (void)now_ns;
    output->user = server->client_uid; /* for a job that is not registered yet */
    if (handing.nspace != NULL) {
        sx_output_user_set(output, user_of(server, &output->source));
    }
    if (!output->again) {
        sx_pull_index_each(server, output, output_put, &handing);
    }
    if (!handing.is_wanted) {
        output->user = user_of(server, &output->source);
        sx_kept_add(server, output);
    }
    sx_output_settle(output);
    sx_output_release(output);
}

/* ---- life ------------------------------------------------------------------------------------ */

void sx_iof_init(struct sx_server *server)
{
    sx_list_init(&server->iof.pulls);
    sx_kept_init(server);
}

void sx_iof_nspace_added(struct sx_server *server, struct sx_nspace *nspace)
{
    sx_kept_forget(server, nspace->name); /* kept output is of an older job of that name */
}

/* A pull with an open question to the host is freed when the host has answered. */
void sx_iof_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_list own;

    sx_list_init(&own);
    SX_LIST_EACH(it, &server->iof.pulls) {
        struct pull *const pull = pull_of(it);

        if (pull->pull.client == client && pull->pull.socket.fd >= 0) {
            sx_list_remove(&pull->pull.link);
            sx_list_append(&own, &pull->pull.link);
        }
    }
    while (!sx_list_empty(&own)) { /* the host's call may come back here, and end other pulls */
        struct pull *const pull = pull_of(own.next);

        sx_list_remove(&pull->pull.link);
        sx_list_append(&server->iof.pulls, &pull->pull.link);
        pull_end(pull);
    }
}

static size_t pulls_count(const struct sx_server *server)
{
    size_t count = 0;

    SX_LIST_EACH(it, &server->iof.pulls) {
        count++;
    }
    return count;
}

/* Return: how many pulls of @ready must be waited for. */
static size_t all_flush(struct sx_server *server, struct pollfd *ready)
{
    size_t count = 0;

    SX_LIST_EACH(it, &server->iof.pulls) {
        struct sx_pull *const pull = &pull_of(it)->pull;

        if (sx_pull_flush(pull)) {
            ready[count++] = (struct pollfd){ .fd = pull->socket.fd, .events = POLLOUT };
        }
    }
    return count;
}

void sx_iof_finish(struct sx_server *server)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_IOF_END_NS);
    const size_t pulls = pulls_count(server);
    struct pollfd *const ready = calloc(pulls + 1, sizeof(*ready));
    uint64_t now_ns = 0;
    size_t count;

    while (ready != NULL && (count = all_flush(server, ready)) > 0 &&
           (now_ns = sx_now_ns()) < deadline_ns) {
        (void)poll(ready, (nfds_t)count, (int)((deadline_ns - now_ns) / SX_NS_PER_MS) + 1);
    }
    free(ready);
}

void sx_iof_stop(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->iof.pulls) {
        struct pull *const pull = pull_of(it);
        const bool has_ended = pull->agreed && pull->pull.socket.fd < 0;

        (has_ended ? pull_free : pull_end)(pull); /* the host is not called any more */
    }
    sx_table_deinit(&server->iof.pull_names);
    sx_kept_clear(server);
}
