/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rounds.c - what a server sends in a round, and what follows from the answers of all.
 *
 * A round begins in the loop, never within the call that causes it.  So all operations that become
 * complete in one turn go in one round, and an operation may join while another is released. */
#include "server/collective/rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message/payloads.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"
#include "server/collective/collective.h"
#include "server/collective/operation.h"
#include "server/model/proc_list.h"

struct sx_rounds {
    struct sx_table_node node; /* server.rounds */
    struct sx_server *server;
    struct sx_alias_list procs;
    struct sx_list parts; /* in the order in which they joined */
    struct sx_asker asker;
    struct sx_timer next; /* added, unless the host has a round */
    uint64_t pause_ns;
    struct sx_blob blob;          /* of the next round, while it is being packed; else empty */
    struct sx_round_part *packed; /* the part that is being packed in steps; NULL: none is */
    bool is_asked;                /* the host has a round */
    bool is_busy;                 /* must not be freed */
    bool has_news;                /* a part has joined since the last round began */
};

static struct sx_collective *collective_of(struct sx_round_part *part)
{
    return SX_CONTAINER(part, struct sx_collective, part);
}

/* The kind of an entry that is not of any operation. */
#define NO_KIND UINT32_MAX

static struct sx_round_part *part_of(struct sx_list *link)
{
    return SX_LIST_ENTRY(link, struct sx_round_part, link);
}

/* Return: the id that distinguishes it from others of its kind over the same processes; NULL:
 * none. */
static const char *id_of(const struct sx_collective *collective)
{
    return collective->kind->known_by_list ? collective->members.procs[0].nspace : collective->id;
}

/* ---- sets of processes ---------------------------------------------------------------------- */

static struct sx_rounds *rounds_find(const struct sx_server *server,
                                     const struct sx_alias_list *procs)
{
    struct sx_table_node *node = server->collective.rounds.count == 0
                                     ? NULL
                                     : sx_table_first(&server->collective.rounds,
                                                      sx_alias_list_hash(procs, server->seed));

    while (node != NULL) {
        struct sx_rounds *const rounds = SX_CONTAINER(node, struct sx_rounds, node);

        if (sx_alias_lists_are_equal(&rounds->procs, procs)) {
            return rounds;
        }
        node = sx_table_next(&server->collective.rounds, node);
    }
    return NULL;
}

bool sx_rounds_are_over(const struct sx_server *server, const struct sx_alias_list *procs)
{
    return rounds_find(server, procs) != NULL;
}

static void round_begin(void *arg, uint64_t now_ns);

static struct sx_rounds *rounds_new(struct sx_server *server, const struct sx_alias_list *procs)
{
    struct sx_rounds *const rounds = calloc(1, sizeof(*rounds));

    if (rounds == NULL) {
        return NULL;
    }
    if (!sx_alias_list_copy(&rounds->procs, procs) ||
        !sx_table_add(&server->collective.rounds, &rounds->node,
                      sx_alias_list_hash(procs, server->seed))) {
        sx_alias_list_free(&rounds->procs);
        free(rounds);
        return NULL;
    }
    rounds->server = server;
    rounds->pause_ns = SX_ROUNDS_PAUSE_MIN_NS;
    rounds->next = (struct sx_timer){ .fn = round_begin, .arg = rounds };
    sx_list_init(&rounds->parts);
    sx_asker_init(&rounds->asker);
    return rounds;
}

/* Free @rounds if it has no parts. */
static void rounds_look(struct sx_rounds *rounds)
{
    if (rounds->is_busy || !sx_list_empty(&rounds->parts)) {
        return;
    }
    sx_timer_remove(&rounds->next);
    sx_asker_deinit(&rounds->asker);
    sx_blob_clear(&rounds->blob);
    sx_table_remove(&rounds->server->collective.rounds, &rounds->node);
    sx_alias_list_free(&rounds->procs);
    free(rounds);
}

/* Begin the next round, when the host has none: at once, or after a pause. */
static void rounds_schedule(struct sx_rounds *rounds, bool at_once)
{
    if (rounds->is_asked || rounds->packed != NULL) {
        return;
    }
    if (at_once) {
        sx_timer_add(rounds->server->loop, &rounds->next, 0);
        return;
    }
    sx_timer_add(rounds->server->loop, &rounds->next, sx_now_ns() + rounds->pause_ns);
    if (rounds->pause_ns < SX_ROUNDS_PAUSE_MAX_NS) {
        rounds->pause_ns *= 2;
    }
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void part_add(struct sx_rounds *rounds, struct sx_collective *collective,
                     sx_answered_fn answered)
{
    collective->part = (struct sx_round_part){ .rounds = rounds,
                                               .answered = answered,
                                               .step = SX_ROUND_READY };
    sx_list_append(&rounds->parts, &collective->part.link);
}

/* The fence that the host has counts as a round. */
static void part_add_fence(struct sx_rounds *rounds, struct sx_collective *fence)
{
    part_add(rounds, fence, fence->part.answered);
    fence->part.is_named = fence->part.is_alone = true;
    rounds->is_asked = true;
}

static void part_remove(struct sx_round_part *part)
{
    sx_list_remove(&part->link);
    part->rounds = NULL;
}

/* End @part here with @answer; this may free it. */
static void part_answer(struct sx_round_part *part, const struct sx_host_answer *answer)
{
    part_remove(part);
    part->answered(&collective_of(part)->asker, answer);
}

static void part_end(struct sx_rounds *rounds, struct sx_round_part *part, pmix_status_t status)
{
    part_answer(part, &(struct sx_host_answer){ .server = rounds->server, .status = status });
}

/* Return: the first part for which @is holds; NULL: none.  The walk restarts each time, since
 * ending one part may end others. */
static struct sx_round_part *part_first(const struct sx_rounds *rounds,
                                        bool (*is)(struct sx_round_part *part))
{
    SX_LIST_EACH(it, &rounds->parts) {
        if (is(part_of(it))) {
            return part_of(it);
        }
    }
    return NULL;
}

static bool is_named(struct sx_round_part *part)
{
    return part->is_named;
}

static void parts_end_named(struct sx_rounds *rounds, pmix_status_t status)
{
    struct sx_round_part *part;

    while ((part = part_first(rounds, is_named)) != NULL) {
        part_end(rounds, part, status);
    }
}

/* End all parts; those that join meanwhile get a round of their own. */
static void parts_end(struct sx_rounds *rounds, pmix_status_t status)
{
    SX_LIST_EACH(it, &rounds->parts) {
        part_of(it)->is_named = true;
    }
    parts_end_named(rounds, status);
}

/* @part has failed: for its members at once, and for other servers once all have named it. */
static void part_fail(struct sx_round_part *part, pmix_status_t status)
{
    struct sx_collective *const collective = collective_of(part);

    part->is_named = false;
    collective->engine->stop(collective, status);
    collective->is_failed = true;
}

/* Return: whether the servers that could read the answer to the last round go on with @part. */
static bool is_refused_here(struct sx_round_part *part)
{
    return part->is_named && !part->is_notified && part->step == SX_ROUND_READY &&
           collective_of(part)->kind->commits;
}

/* The bytes of this round are broken. */
static void parts_refuse(struct sx_rounds *rounds, pmix_status_t status)
{
    struct sx_round_part *part;

    while ((part = part_first(rounds, is_refused_here)) != NULL) {
        part_fail(part, status);
    }
    parts_end_named(rounds, status);
}

/* ---- one round ------------------------------------------------------------------------------ */

/* Return: what this server sends of @part. */
static struct sx_round_entry entry_of(struct sx_round_part *part)
{
    const struct sx_collective *const collective = collective_of(part);
    struct sx_round_entry entry = { .kind = collective->kind->number,
                                    .step = part->step,
                                    .status = sx_collective_failure(collective) };

    part->is_notified = entry.status != PMIX_SUCCESS;
    if (!part->is_notified && !collective->kind->commits && collective->members.incomplete &&
        (collective->pardons & SX_PARDON_BEFORE) == 0) {
        entry.status = PMIX_ERR_PARTIAL_SUCCESS;
    }
    return entry;
}

/* Append the entry of a part that is not packed in steps, or has no contribution. */
static pmix_status_t part_name(struct sx_round_part *part, struct sx_blob *blob)
{
    struct sx_collective *const collective = collective_of(part);
    struct sx_round_entry entry = entry_of(part);
    struct sx_blob contribution = { 0 };

    if (!part->is_notified && part->step == SX_ROUND_COMMIT) {
        entry.status = collective->kind->contribute(collective, &contribution);
        part->is_notified = entry.status != PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_round_blob_add(blob, &entry, id_of(collective), &contribution);

    sx_blob_clear(&contribution);
    return rc;
}

/* Return: the entry of @part, in the blob that is being packed. */
static struct sx_round_entry *entry_at(const struct sx_rounds *rounds,
                                       const struct sx_round_part *part)
{
    return (void *)(rounds->blob.bytes + part->entry);
}

/* The contribution of @part is in the blob, and counts in its entry; or there is none: @rc. */
static void part_packed(struct sx_rounds *rounds, struct sx_round_part *part, pmix_status_t rc)
{
    struct sx_round_entry *const entry = entry_at(rounds, part);
    const size_t head = part->entry + sizeof(*entry) + sx_align_up(entry->id_len, 8);

    if (rc == PMIX_SUCCESS) {
        entry->size = rounds->blob.size - head;
    } else {
        entry->status = rc;
        rounds->blob.size = head;
    }
    rounds->packed = NULL;
    rounds->blob.header = 0;
    sx_blob_seal(&rounds->blob);
}

static void round_go_on(struct sx_rounds *rounds);

static void part_is_packed(struct sx_collective *collective, pmix_status_t rc)
{
    struct sx_rounds *const rounds = collective->part.rounds;

    part_packed(rounds, &collective->part, rc);
    round_go_on(rounds);
}

/* Append the entry of @part, whose kind packs in steps.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_WOULD_BLOCK: round_go_on is called. */
static pmix_status_t part_pack(struct sx_rounds *rounds, struct sx_round_part *part)
{
    struct sx_collective *const collective = collective_of(part);
    const size_t at = rounds->blob.size;
    pmix_status_t rc = part_name(part, &rounds->blob);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    part->entry = at;
    if (!part->is_notified) {
        rounds->packed = part;
        rc = collective->kind->pack(collective, &rounds->blob, part_is_packed);
        if (rc == PMIX_ERR_WOULD_BLOCK) {
            return rc;
        }
        part_packed(rounds, part, rc);
    }
    return PMIX_SUCCESS;
}

/* @part leaves while its round is being packed: its entry is of no kind then, which all skip. */
static void part_unpack(struct sx_rounds *rounds, struct sx_round_part *part)
{
    if (rounds->packed == part) {
        sx_fence_pack_drop(collective_of(part));
        part_packed(rounds, part, PMIX_ERR_LOST_CONNECTION);
    }
    if (part->entry != 0) {
        entry_at(rounds, part)->kind = NO_KIND;
        part->entry = 0;
    }
}

static void round_answered(struct sx_asker *asker, const struct sx_host_answer *answer);

static bool is_error(pmix_status_t status)
{
    return status != PMIX_SUCCESS && status != PMIX_ERR_PARTIAL_SUCCESS;
}

/* A part that is packed may have failed since. */
static void part_name_again(struct sx_rounds *rounds, struct sx_round_part *part)
{
    struct sx_round_entry *const entry = entry_at(rounds, part);
    const struct sx_round_entry now = entry_of(part);

    entry->status = is_error(entry->status) ? entry->status : now.status;
    part->is_notified = is_error(entry->status);
}

/* All parts that are packed in steps have their entries: name the others, and ask the host. */
static pmix_status_t round_ask(struct sx_rounds *rounds)
{
    struct sx_joint fence = { .answered = round_answered,
                              .asker = &rounds->asker,
                              .procs = rounds->procs.all,
                              .proc_count = rounds->procs.count,
                              .made = rounds->procs.made };
    pmix_status_t rc = PMIX_SUCCESS;
    bool have_all_failed = true;

    SX_LIST_EACH(it, &rounds->parts) {
        struct sx_round_part *const part = part_of(it);
        struct sx_collective *const collective = collective_of(part);

        if (part->entry != 0) {
            part_name_again(rounds, part);
        } else if (rc == PMIX_SUCCESS) {
            rc = part_name(part, &rounds->blob);
        }
        part->is_named = rc == PMIX_SUCCESS;
        part->entry = 0;
        fence.is_partial |= collective->members.incomplete && !collective->is_failed;
        fence.failed = fence.failed == PMIX_SUCCESS ? sx_collective_failure(collective)
                                                    : fence.failed;
        have_all_failed &= collective->is_failed;
        if (!collective->kind->commits) {
            fence.wishes = &collective->wishes;
        }
    }
    if (!have_all_failed) { /* the host may end for all what fails: not the others of this round */
        fence.failed = PMIX_SUCCESS;
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rounds->has_news = false;
    fence.blob = rounds->blob;
    rounds->blob = (struct sx_blob){ .size = 0 };
    rounds->is_asked = true;
    sx_timer_remove(&rounds->next); /* a part has joined while another was released */
    return sx_joint_upcall(rounds->server, SX_UPCALL_FENCE_NB, &fence);
}

/* Return: whether @part has ended here, and is named no more.  A fence is named until all have
 * named it: all servers count the same fences. */
static bool is_done(struct sx_round_part *part)
{
    const struct sx_collective *const collective = collective_of(part);

    return collective->is_over && collective->kind->commits && !collective->is_failed;
}

static bool is_unpacked(struct sx_round_part *part)
{
    return part->entry == 0 && collective_of(part)->kind->pack != NULL;
}

static bool is_unlooked(struct sx_round_part *part)
{
    return collective_of(part)->unlooked > 0;
}

/* The round cannot be made. */
static void round_fail(struct sx_rounds *rounds, pmix_status_t rc)
{
    const bool was_busy = rounds->is_busy;

    rounds->is_busy = true;
    rounds->is_asked = false;
    sx_blob_clear(&rounds->blob);
    SX_LIST_EACH(it, &rounds->parts) {
        part_of(it)->entry = 0;
    }
    parts_end(rounds, rc);
    rounds_schedule(rounds, true);
    rounds->is_busy = was_busy;
    rounds_look(rounds);
}

/* Pack what is left to be packed in this round, and then ask the host.  This may free @rounds. */
static void round_go_on(struct sx_rounds *rounds)
{
    const bool was_busy = rounds->is_busy;
    struct sx_round_part *part;
    pmix_status_t rc = PMIX_SUCCESS;

    rounds->is_busy = true;
    while (rc == PMIX_SUCCESS && (part = part_first(rounds, is_unpacked)) != NULL) {
        rc = part_pack(rounds, part);
    }
    if (rc == PMIX_SUCCESS && part_first(rounds, is_unlooked) != NULL) {
        rounds_schedule(rounds, true); /* a member has gone while a part was packed */
    } else if (rc == PMIX_SUCCESS) {
        rc = round_ask(rounds);
    }
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_WOULD_BLOCK) {
        round_fail(rounds, rc);
    }
    rounds->is_busy = was_busy;
    rounds_look(rounds);
}

static void round_begin(void *arg, uint64_t now_ns)
{
    struct sx_rounds *const rounds = arg;
    struct sx_round_part *part, *done;
    pmix_status_t rc = PMIX_SUCCESS;

    (void)now_ns;
    rounds->is_busy = true;
    while ((part = part_first(rounds, is_unlooked)) != NULL) { /* before they are in COMMIT */
        (void)collective_of(part)->engine->look(collective_of(part));
    }
    while ((done = part_first(rounds, is_done)) != NULL) {
        part_end(rounds, done, collective_of(done)->ended);
    }
    rounds->has_news = false;
    if (!sx_list_empty(&rounds->parts)) {
        rc = rounds->blob.bytes == NULL ? sx_blob_begin_as(&rounds->blob, SX_BLOB_ROUND)
                                        : PMIX_SUCCESS; /* one has left while it was packed */
        if (rc == PMIX_SUCCESS) {
            round_go_on(rounds);
        } else {
            round_fail(rounds, rc);
        }
    }
    rounds->is_busy = false;
    rounds_look(rounds);
}

/* ---- the answers of all servers ------------------------------------------------------------- */

/* Called for each entry that a server has sent. */
typedef pmix_status_t (*said_fn)(struct sx_rounds *rounds, uint32_t server,
                                 const struct sx_round_entry *entry, const char *id,
                                 const char *contribution, void *arg);

static pmix_status_t entries_each(struct sx_rounds *rounds, uint32_t server,
                                  const struct sx_blob_view *blob, said_fn fn, void *arg)
{
    const uint8_t *at = blob->body;
    size_t left = blob->body_size;
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_opened entry;

    while (rc == PMIX_SUCCESS && left > 0) {
        if (sx_body_next(&entry, &sx_round_entry_body, &at, &left) != NULL) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        rc = fn(rounds, server, entry.head, sx_part_text(&entry.parts[SX_ROUND_ID]),
                (const char *)entry.parts[SX_ROUND_CONTRIBUTION].at, arg);
    }
    return rc;
}

/* Call @fn for each entry in these bytes (at a multiple of 8), with servers numbered 1 to
 * *ret_count. */
static pmix_status_t said_each(struct sx_rounds *rounds, const char *bytes, size_t size, said_fn fn,
                               void *arg, uint32_t *ret_count)
{
    struct sx_blob_view blob;
    pmix_status_t rc = PMIX_SUCCESS;

    *ret_count = 0;
    while (rc == PMIX_SUCCESS && size > 0) {
        if (!sx_blob_next(&bytes, &size, &blob)) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        ++*ret_count;
        if (blob.magic == SX_BLOB_ROUND) {
            rc = entries_each(rounds, *ret_count, &blob, fn, arg);
        } else {
            const struct sx_round_entry fence = { .kind = SX_COLLECTIVE_FENCE,
                                                  .step = SX_ROUND_READY,
                                                  .size = blob.size };

            rc = fn(rounds, *ret_count, &fence, NULL, blob.bytes, arg);
        }
    }
    return rc;
}

static bool is_of(struct sx_round_part *part, const struct sx_round_entry *entry, const char *id)
{
    const struct sx_collective *const collective = collective_of(part);
    const char *const own = id_of(collective);

    return collective->kind->number == entry->kind && (own == NULL) == (id == NULL) &&
           (id == NULL || strcmp(own, id) == 0);
}

/* A server names each kind and id once only. */
static pmix_status_t count_said(struct sx_rounds *rounds, uint32_t server,
                                const struct sx_round_entry *entry, const char *id,
                                const char *contribution, void *arg)
{
    (void)contribution, (void)arg;
    if (entry->size % 8 != 0) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    SX_LIST_EACH(it, &rounds->parts) {
        struct sx_round_part *const part = part_of(it);

        if (!part->is_named || !is_of(part, entry, id)) {
            continue;
        }
        if (part->named_last == server) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        part->named_last = server;
        part->named_count++;
        part->commit_count += entry->step == SX_ROUND_COMMIT;
        if (entry->status == PMIX_ERR_PARTIAL_SUCCESS) {
            collective_of(part)->members.incomplete = true;
        } else if (entry->status < part->status) { /* of several, all servers choose the same one */
            part->status = entry->status;
        }
    }
    return PMIX_SUCCESS;
}

/* The contributions of all servers to @part: a piece each, or (of kinds that commit) one after the
 * other. */
struct gathering {
    struct sx_round_part *part;
    struct sx_blob_piece *pieces;
    size_t piece_count;
    struct sx_blob blob;
};

static pmix_status_t gather_said(struct sx_rounds *rounds, uint32_t server,
                                 const struct sx_round_entry *entry, const char *id,
                                 const char *contribution, void *arg)
{
    struct gathering *const gathering = arg;
    char *at;

    (void)rounds, (void)server;
    if (!is_of(gathering->part, entry, id) || entry->size == 0) {
        return PMIX_SUCCESS;
    }
    if (gathering->pieces != NULL) { /* a server names it once */
        gathering->pieces[gathering->piece_count++] = (struct sx_blob_piece){ contribution,
                                                                              entry->size };
        return PMIX_SUCCESS;
    }
    at = sx_blob_extend(&gathering->blob, entry->size);
    if (at == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(at, contribution, entry->size);
    return PMIX_SUCCESS;
}

/* End @part, as all servers do: a fence with what lies in the host's bytes. */
static void part_conclude(struct sx_rounds *rounds, struct sx_round_part *part,
                          const struct sx_host_answer *said)
{
    const bool is_fence = !collective_of(part)->kind->commits;
    struct gathering gathering = { .part = part };
    pmix_status_t rc = PMIX_SUCCESS;
    uint32_t count;

    if (is_fence) {
        gathering.pieces = calloc(part->named_count, sizeof(*gathering.pieces));
        rc = gathering.pieces == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = said_each(rounds, said->bytes, said->size, gather_said, &gathering, &count);
    }
    part_answer(part, &(struct sx_host_answer){ .server = rounds->server,
                                                .status = rc,
                                                .bytes = gathering.blob.bytes,
                                                .size = gathering.blob.size,
                                                .pieces = gathering.pieces,
                                                .piece_count = gathering.piece_count,
                                                .question = said->question });
    sx_blob_clear(&gathering.blob);
    free(gathering.pieces);
}

/* Act on the entries of @server_count servers.  Return: whether the next round begins at once. */
static bool part_judge(struct sx_rounds *rounds, struct sx_round_part *part, uint32_t server_count,
                       const struct sx_host_answer *said)
{
    struct sx_collective *const collective = collective_of(part);
    const bool by_all = part->named_count == server_count;

    if (by_all && part->status != PMIX_SUCCESS) {
        part_end(rounds, part, part->status);
        return true;
    }
    if (by_all && (!collective->kind->commits || part->commit_count == server_count)) {
        part_conclude(rounds, part, said);
        return true;
    }
    const bool has_committed = sx_round_part_commits(part);

    part->is_named = false;
    if (part->status != PMIX_SUCCESS) {
        part_fail(part, part->status);
    } else if (has_committed) {
        if (!collective->engine->resume(collective)) {
            return by_all;
        }
    } else if (by_all && !collective->is_over) {
        part->step = SX_ROUND_COMMIT;
    }
    return by_all || (collective->is_failed && !part->is_notified);
}

/* Return: PMIX_ERR_UNPACK_FAILURE, logged. */
static pmix_status_t bytes_refuse(struct sx_rounds *rounds, size_t size)
{
    struct sx_round_part *const named = part_first(rounds, is_named);
    char what[32] = "a fence";

    if (named != NULL) {
        snprintf(what, sizeof(what), "a %s",
                 sx_collective_name(collective_of(named)->kind->number));
    }
    return sx_blob_refuse(size, what, rounds->procs.all[0].nspace);
}

/* The host has answered, and has no round any more. */
static void rounds_answered(struct sx_rounds *rounds, const struct sx_host_answer *answer)
{
    pmix_status_t rc = answer->status;
    struct sx_round_part *named;
    uint32_t server_count = 0;
    bool at_once = false;

    rounds->is_asked = false;
    rounds->is_busy = true;
    SX_LIST_EACH(it, &rounds->parts) {
        struct sx_round_part *const part = part_of(it);

        part->named_count = part->commit_count = part->named_last = 0;
        part->status = part->is_notified ? collective_of(part)->ended : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = said_each(rounds, answer->bytes, answer->size, count_said, NULL, &server_count);
        if (rc == PMIX_ERR_UNPACK_FAILURE || server_count == 0) {
            rc = bytes_refuse(rounds, answer->size);
            parts_refuse(rounds, rc);
        }
    }
    if (rc != PMIX_SUCCESS) {
        parts_end_named(rounds, rc);
        at_once = true;
    }
    while ((named = part_first(rounds, is_named)) != NULL) {
        at_once |= part_judge(rounds, named, server_count, answer);
    }
    rounds->pause_ns = at_once ? SX_ROUNDS_PAUSE_MIN_NS : rounds->pause_ns;
    rounds_schedule(rounds, at_once || rounds->has_news);
    rounds->is_busy = false;
    rounds_look(rounds);
}

static void round_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker != NULL) { /* else no operation takes part any more */
        rounds_answered(SX_CONTAINER(asker, struct sx_rounds, asker), answer);
    }
}

/* ---- operations that take part -------------------------------------------------------------- */

/* If the host has a fence over these processes, add it as a part. */
static void fence_adopt(struct sx_rounds *rounds)
{
    SX_LIST_EACH(it, &rounds->server->collective.all) {
        struct sx_collective *const fence = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (fence->part.is_alone &&
            sx_alias_lists_are_equal(&rounds->procs, &fence->members.real)) {
            part_add_fence(rounds, fence);
        }
    }
}

pmix_status_t sx_rounds_join(struct sx_collective *collective, const struct sx_alias_list *procs,
                             sx_answered_fn answered)
{
    struct sx_server *const server = collective->members.server;
    struct sx_rounds *rounds = rounds_find(server, procs);

    if (rounds == NULL) {
        rounds = rounds_new(server, procs);
        if (rounds == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        fence_adopt(rounds);
    }
    part_add(rounds, collective, answered);
    rounds->has_news = true;
    rounds_schedule(rounds, true);
    return PMIX_SUCCESS;
}

/* Return: whether a server has sent more than the bytes of its fence. */
static bool is_said_more(const struct sx_host_answer *answer)
{
    const char *at = answer->bytes;
    size_t left = answer->status == PMIX_SUCCESS ? answer->size : 0;
    struct sx_blob_view blob;

    while (left > 0 && sx_blob_next(&at, &left, &blob)) {
        if (blob.magic == SX_BLOB_ROUND) {
            return true;
        }
    }
    return false;
}

bool sx_rounds_fence_was_alone(struct sx_collective *fence, const struct sx_host_answer *answer)
{
    struct sx_rounds *rounds = fence->part.rounds;

    if (!is_said_more(answer)) {
        sx_rounds_leave(fence);
        return true;
    }
    if (rounds == NULL) {
        rounds = rounds_new(fence->members.server, &fence->members.real);
        if (rounds == NULL) {
            return true; /* the fence's reader will refuse the bytes */
        }
        part_add_fence(rounds, fence);
    }
    fence->part.is_alone = false;
    rounds_answered(rounds, answer);
    return false;
}

void sx_rounds_leave(struct sx_collective *collective)
{
    struct sx_round_part *const part = &collective->part;
    struct sx_rounds *const rounds = part->rounds;
    const bool was_alone = part->is_alone;

    part->is_alone = false;
    if (rounds == NULL) {
        return;
    }
    if (rounds->blob.bytes != NULL) {
        part_unpack(rounds, part);
        rounds_schedule(rounds, true);
    }
    part_remove(part);
    if (was_alone) { /* the host has no round any more */
        rounds->is_asked = false;
        rounds_schedule(rounds, true);
    }
    rounds_look(rounds);
}

/* ---- the blob of a round --------------------------------------------------------------------- */

/* Entries into bytes; the signature of the body opens them. */

const struct sx_signature sx_round_entry_body = {
    .head_size = sizeof(struct sx_round_entry),
    .parts = { [SX_ROUND_ID] = SX_TEXT_PART(struct sx_round_entry, id_len, SX_ARRIVE_INFOS_MAX),
               [SX_ROUND_CONTRIBUTION] = SX_ARRAY_PART(struct sx_round_entry, size, char, 0) },
};

pmix_status_t sx_round_blob_add(struct sx_blob *blob, const struct sx_round_entry *head,
                                const char *id, const struct sx_blob *contribution)
{
    struct sx_draft draft = {
        .signature = &sx_round_entry_body,
        .head = head,
        .nspace = "",
        .parts = { [SX_ROUND_ID] = { id, id == NULL ? 0 : strlen(id) + 1 },
                   [SX_ROUND_CONTRIBUTION] = { contribution->bytes, contribution->size } },
    };
    size_t size;
    pmix_status_t rc = sx_body_measure(&draft, &size);
    char *const at = rc == PMIX_SUCCESS ? sx_blob_extend(blob, sx_align_up(size, 8)) : NULL;

    if (at == NULL) {
        return rc == PMIX_SUCCESS ? PMIX_ERR_OUT_OF_RESOURCE : rc;
    }
    rc = sx_body_write(&draft, at);
    sx_blob_seal(blob);
    return rc;
}
