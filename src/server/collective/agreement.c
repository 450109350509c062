/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* agreement.c - the host is asked first, then the servers agree. */
#include "server/collective/agreement.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"
#include "server/collective/connect_nodes.h"
#include "server/collective/operation.h"
#include "server/job/job.h"

bool sx_agree_reaches(const struct sx_server *server)
{
    return server->module.fence_nb != NULL;
}

bool sx_agree_is_elsewhere(const struct sx_collective *collective)
{
    return sx_members_absent(&collective->members).elsewhere;
}

pmix_proc_t *sx_agree_members_here(const struct sx_members *members, size_t *ret_count)
{
    pmix_proc_t *const here = malloc((members->count + 1) * sizeof(*here));

    *ret_count = 0;
    for (size_t i = 0; here != NULL && i < members->count; i++) {
        const struct sx_client *const client = members->all[i].client;

        if (client->nspace != NULL) {
            here[(*ret_count)++] = sx_nspace_proc(client->nspace, client->rank);
        }
    }
    return here;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Return: the processes by which the host identifies the operation.  The end of a list is asked
 * with the processes with which the list was made. */
static const struct sx_alias_list *procs_of(const struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;
    const struct sx_connect_nodes *const span =
        collective->kind->known_by_list
            ? sx_connect_nodes_find(members->server, members->procs[0].nspace)
            : NULL;

    return span != NULL ? sx_connect_nodes_procs(span) : &members->real;
}

/* Let the servers agree. */
static pmix_status_t agree(struct sx_collective *collective)
{
    return sx_rounds_join(collective, procs_of(collective), collective->part.answered);
}

pmix_status_t sx_agree_ask(struct sx_collective *collective, const struct sx_agree_entry *entry,
                           sx_answered_fn answered)
{
    const struct sx_alias_list *const procs = procs_of(collective);
    struct sx_joint joint = { .answered = answered,
                              .asker = &collective->asker,
                              .procs = procs->all,
                              .proc_count = procs->count,
                              .made = procs->made,
                              .name = entry->name,
                              .operation = entry->operation,
                              .wishes = &collective->wishes,
                              .is_partial = collective->members.incomplete,
                              .failed = sx_collective_failure(collective) };

    collective->part.answered = answered;
    if (!entry->is_asked) {
        return agree(collective);
    }
    if (entry->kind == SX_UPCALL_GROUP) {
        joint.here = sx_agree_members_here(&collective->members, &joint.here_count);
    }
    const pmix_status_t rc = sx_joint_upcall(collective->members.server, entry->kind, &joint);

    free(joint.here);
    return rc;
}

/* The entry's answer has no bytes, so an answer with bytes is that of the rounds. */
bool sx_agree_goes_on(struct sx_collective *collective, const struct sx_host_answer *answer,
                      pmix_status_t *ret_status)
{
    *ret_status = answer->status;
    if (answer->status != PMIX_SUCCESS || answer->size > 0 ||
        (collective->is_over && !collective->is_failed) || !sx_agree_is_elsewhere(collective)) {
        return false;
    }
    if (!sx_agree_reaches(collective->members.server)) {
        *ret_status = SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                               "the host has no fence_nb: the servers of several nodes cannot "
                               "agree on a %s",
                               sx_collective_name(collective->kind->number));
        return false;
    }
    *ret_status = agree(collective);
    return *ret_status == PMIX_SUCCESS;
}

/* ---- what a server contributes --------------------------------------------------------------- */

/* Append the data that this server has of @nspace. */
static pmix_status_t contribute_nspace(const struct sx_nspace *nspace, struct sx_blob *blob)
{
    const struct sx_agreement_nspace head = { .job_size = nspace->job_size };
    pmix_info_t *info;
    size_t ninfo;
    pmix_status_t rc = sx_jobinfo_collect(nspace, &info, &ninfo);

    if (rc == PMIX_SUCCESS) {
        struct sx_draft draft = {
            .signature = &sx_agreement_nspace_body,
            .head = &head,
            .nspace = "",
            .parts = { [SX_AGREEMENT_NSPACE_NAME] = { nspace->name, strlen(nspace->name) },
                       [SX_AGREEMENT_NSPACE_INFOS] = { info, ninfo } },
        };

        rc = sx_agreement_add(blob, &draft);
        PMIX_INFO_FREE(info, ninfo);
    }
    return rc;
}

/* If there is only one namespace, all servers have it already. */
static bool has_several_nspaces(const struct sx_alias_list *procs)
{
    return procs->count > 0 &&
           strcmp(procs->all[0].nspace, procs->all[procs->count - 1].nspace) != 0;
}

static pmix_status_t contribute_nspaces(const struct sx_collective *collective,
                                        struct sx_blob *blob)
{
    const struct sx_alias_list *const real = &collective->members.real;
    struct sx_alias_walk walk = { .list = real };
    const struct sx_nspace *nspace = NULL; /* that was walked last ... */
    uint32_t first = 0;                    /* ... and its first process */
    bool more = has_several_nspaces(real);
    pmix_status_t rc = PMIX_SUCCESS;

    while (more && rc == PMIX_SUCCESS) {
        more = sx_alias_next(&walk);
        if ((!more || walk.is_new) && nspace != NULL &&
            sx_connect_nodes_brings(collective, nspace, first)) {
            rc = contribute_nspace(nspace, blob);
        }
        if (more && walk.is_new) {
            nspace = sx_nspace_find(collective->members.server, walk.nspace);
            first = walk.rank;
        }
        first = walk.rank == PMIX_RANK_WILDCARD ? 0 : first; /* it is the last of its namespace */
    }
    return rc;
}

pmix_status_t sx_agree_contribute(const struct sx_collective *collective, const char *name,
                                  const struct sx_blob *said, struct sx_blob *blob)
{
    const struct sx_members *const members = &collective->members;
    const struct sx_agreement head = {
        .is_partial = members->incomplete || (collective->pardons & SX_PARDON_BEFORE) != 0
    };
    const struct sx_blob nothing = { 0 };
    size_t here_count;
    pmix_proc_t *const here = sx_agree_members_here(members, &here_count);
    struct sx_blob nspaces = { 0 };
    pmix_status_t rc = here == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                    : contribute_nspaces(collective, &nspaces);

    said = said != NULL ? said : &nothing;
    if (rc == PMIX_SUCCESS) {
        struct sx_draft draft = {
            .signature = &sx_agreement_body,
            .head = &head,
            .nspace = "",
            .parts = { [SX_AGREEMENT_MEMBERS] = { here, here_count },
                       [SX_AGREEMENT_NAME] = { name, strlen(name) },
                       [SX_AGREEMENT_NSPACES] = { nspaces.bytes, nspaces.size },
                       [SX_AGREEMENT_SAID] = { said->bytes, said->size } },
        };

        rc = sx_agreement_add(blob, &draft);
    }
    sx_blob_clear(&nspaces);
    free(here);
    return rc;
}

/* ---- what all servers contribute ------------------------------------------------------------- */

struct reading {
    struct sx_collective *collective;
    struct sx_brought brought;
    pmix_status_t (*on_said)(const struct sx_opened_part *said, void *arg);
};

static pmix_status_t read_nspace(const struct sx_opened *nspace, void *arg)
{
    struct reading *const reading = arg;

    return sx_connect_nodes_bring(reading->collective->members.server, nspace, &reading->brought);
}

static pmix_status_t read_said(const struct sx_opened_part *said, void *arg)
{
    const struct reading *const reading = arg;

    return reading->on_said != NULL ? reading->on_said(said, reading->collective) : PMIX_SUCCESS;
}

/* Return: the number of processes in @procs; a job that is not registered counts as one.  The
 * wildcard of a job is its last entry, and includes its ranks that are named besides. */
static size_t meant_count(struct sx_server *server, const struct sx_alias_list *procs)
{
    struct sx_alias_walk walk = { .list = procs };
    const struct sx_nspace *nspace = NULL;
    size_t count = 0, of_job = 0;

    while (sx_alias_next(&walk)) {
        nspace = walk.is_new ? sx_nspace_find(server, walk.nspace) : nspace;
        of_job = walk.is_new ? 0 : of_job;
        if (walk.rank == PMIX_RANK_WILDCARD && nspace != NULL && nspace->job_size > of_job) {
            count += nspace->job_size - of_job;
        } else {
            count++;
            of_job++;
        }
    }
    return count;
}

/* Return: PMIX_ERR_WOULD_BLOCK when a namespace is missing that the host may register yet.
 *
 * Some hosts complete a fence on each node without the others (Slurm, for some sets of ranks). */
static pmix_status_t have_all_called(const struct sx_collective *collective)
{
    const struct sx_agreed *const agreed = &collective->agreed;
    const size_t meant = meant_count(collective->members.server, &collective->members.real);

    if (agreed->is_partial || agreed->members.count >= meant) {
        return PMIX_SUCCESS;
    }
    if (collective->members.has_unknown) {
        sx_log(SX_LOG_INFO, "a %s waits until the host has registered all its namespaces",
               sx_collective_name(collective->kind->number));
        return PMIX_ERR_WOULD_BLOCK;
    }
    return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                    "the host has completed a fence of %zu processes when %zu had called: it "
                    "has no fences of them, and so no %s",
                    meant, agreed->members.count, sx_collective_name(collective->kind->number));
}

pmix_status_t sx_agree_read(struct sx_collective *collective, const struct sx_host_answer *answer,
                            pmix_status_t (*on_said)(const struct sx_opened_part *said, void *arg))
{
    const struct sx_alias_list *const real = &collective->members.real;
    struct sx_server *const server = collective->members.server;
    struct sx_agreed *const ret = &collective->agreed;
    struct reading reading = { .collective = collective, .on_said = on_said };
    const struct sx_agreement_reader reader = { read_nspace, read_said, &reading };

    if (answer->status != PMIX_SUCCESS || answer->size == 0 || collective->is_over) {
        return answer->status;
    }
    pmix_status_t rc = sx_agreements_read(answer->bytes, answer->size, &reader, ret);

    if (rc == PMIX_SUCCESS) {
        rc = have_all_called(collective);
    }
    if (rc == PMIX_SUCCESS && (collective->connect & SX_CONNECT_EXCHANGES) != 0) {
        sx_connect_nodes_leave(&reading.brought);
    } else if (rc == PMIX_SUCCESS) {
        rc = sx_connect_nodes_add(server, ret->name, real, &reading.brought);
    }
    if (rc != PMIX_SUCCESS) {
        sx_connect_nodes_take_back(server, &reading.brought);
    }
    return rc;
}

/* ---- as bytes -------------------------------------------------------------------------------- */

/* The same members, in the same order, and the same name at each server. */

const struct sx_signature sx_agreement_body = {
    .head_size = sizeof(struct sx_agreement),
    .parts = { [SX_AGREEMENT_MEMBERS] = SX_PROCS_PART(struct sx_agreement, member_count, 1),
               [SX_AGREEMENT_NAME] = SX_NAME_PART(struct sx_agreement, name_len, 0, PMIX_MAX_NSLEN),
               [SX_AGREEMENT_NSPACES] = SX_ARRAY_PART(struct sx_agreement, nspaces_size, char, 0),
               [SX_AGREEMENT_SAID] = SX_ARRAY_PART(struct sx_agreement, said_size, char,
                                                   UINT32_MAX) },
};

const struct sx_signature sx_agreement_nspace_body = {
    .head_size = sizeof(struct sx_agreement_nspace),
    .parts = { [SX_AGREEMENT_NSPACE_NAME] = SX_NAME_PART(struct sx_agreement_nspace, name_len, 1,
                                                         PMIX_MAX_NSLEN),
               [SX_AGREEMENT_NSPACE_INFOS] = SX_INFOS_PART(struct sx_agreement_nspace, info_size) },
    .heap_max = SX_AGREEMENT_HEAP_MAX,
};

pmix_status_t sx_agreement_add(struct sx_blob *blob, struct sx_draft *draft)
{
    size_t size;
    const pmix_status_t rc = sx_body_measure(draft, &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    char *const at = sx_blob_extend(blob, sx_align_up(size, 8));

    return at == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_body_write(draft, at);
}

void sx_agreed_clear(struct sx_agreed *agreed)
{
    sx_alias_list_clear(&agreed->members);
    *agreed = (struct sx_agreed){ .is_partial = false };
}

static pmix_status_t nspaces_read(const struct sx_opened_part *nspaces,
                                  const struct sx_agreement_reader *reader)
{
    const uint8_t *at = nspaces->at;
    size_t left = nspaces->size;
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_opened nspace;

    while (rc == PMIX_SUCCESS && left > 0) {
        rc = sx_body_next(&nspace, &sx_agreement_nspace_body, &at, &left) != NULL
                 ? PMIX_ERR_UNPACK_FAILURE
                 : reader->nspace(&nspace, reader->arg);
    }
    return rc;
}

/* The members of all servers as they are read: as ranks, since a process by its name takes 260
 * bytes. */
struct gathering {
    uint32_t *ranks;
    size_t rank_count, rank_capacity;
    struct run {
        size_t name; /* in @names */
        size_t first, count;
    } * runs; /* neighbours of one namespace */
    size_t run_count, run_capacity;
    struct sx_blob names;
    struct sx_proc_ref first; /* of all; no name: none */
};

#define RUNS_FIRST 16u
#define RANKS_FIRST 64u

static bool is_before(const struct sx_proc_ref *left, const struct sx_proc_ref *right)
{
    const bool is_shorter = left->name_len < right->name_len;
    const int order = memcmp(left->name, right->name,
                             is_shorter ? left->name_len : right->name_len);

    return order != 0                          ? order < 0
           : left->name_len != right->name_len ? is_shorter
                                               : left->rank < right->rank;
}

static bool run_begin(struct gathering *all, const struct sx_proc_ref *proc)
{
    char *const name = sx_blob_extend(&all->names, proc->name_len + 1);

    if (name == NULL ||
        !SX_ARRAY_RESERVE(all->runs, all->run_count, all->run_capacity, RUNS_FIRST)) {
        return false;
    }
    memcpy(name, proc->name, proc->name_len);
    all->runs[all->run_count++] = (struct run){ .name = (size_t)(name - all->names.bytes),
                                                .first = all->rank_count };
    return true;
}

static bool begins_run(const struct sx_proc_ref *proc, const struct sx_proc_ref *before)
{
    return before->name_len != proc->name_len ||
           memcmp(before->name, proc->name, proc->name_len) != 0;
}

/* Of a run, the first process is known by its rank alone. */
static void first_note(struct sx_proc_ref *first, const struct sx_proc_ref *of_run)
{
    if (of_run->name_len != 0 && (first->name_len == 0 || is_before(of_run, first))) {
        *first = *of_run;
    }
}

/* Add the processes of @rest.  Return: false when memory is out. */
static bool procs_add(struct gathering *all, struct sx_opened_part *rest, struct sx_proc_ref *first)
{
    struct sx_proc_ref proc, of_run = { .name_len = 0 };

    while (sx_part_proc_next(rest, &proc)) {
        const bool is_new = begins_run(&proc, &of_run);

        if ((is_new && !run_begin(all, &proc)) ||
            !SX_ARRAY_RESERVE(all->ranks, all->rank_count, all->rank_capacity, RANKS_FIRST)) {
            return false;
        }
        all->ranks[all->rank_count++] = proc.rank;
        all->runs[all->run_count - 1].count++;
        if (is_new) {
            first_note(first, &of_run);
        }
        of_run = is_new || proc.rank < of_run.rank ? proc : of_run;
    }
    first_note(first, &of_run);
    return true;
}

/* Add the members of one more server.  The name is that of the server with the first of all. */
static pmix_status_t members_add(struct gathering *all, const struct sx_opened *agreement,
                                 struct sx_agreed *agreed)
{
    const struct sx_agreement *const head = agreement->head;
    const struct sx_opened_part *const name = &agreement->parts[SX_AGREEMENT_NAME];
    struct sx_opened_part rest = agreement->parts[SX_AGREEMENT_MEMBERS];
    struct sx_proc_ref first = { .name_len = 0 };

    if (!procs_add(all, &rest, &first)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (all->first.name_len == 0 || is_before(&first, &all->first)) {
        all->first = first;
        memset(agreed->name, 0, sizeof(agreed->name));
        memcpy(agreed->name, name->at, name->size);
    }
    agreed->is_partial |= head->is_partial != 0;
    return PMIX_SUCCESS;
}

/* Return: PMIX_SUCCESS, and *ret is in order; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t members_order(const struct gathering *all, struct sx_alias_list *ret)
{
    struct sx_alias_run *const runs = malloc((all->run_count + 1) * sizeof(*runs));

    for (size_t i = 0; runs != NULL && i < all->run_count; i++) {
        runs[i] = (struct sx_alias_run){ .nspace = all->names.bytes + all->runs[i].name,
                                         .ranks = &all->ranks[all->runs[i].first],
                                         .count = (uint32_t)all->runs[i].count };
    }
    const bool is_made = runs != NULL && sx_alias_list_of(runs, all->run_count, ret);

    free(runs);
    return is_made ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static void gathering_clear(struct gathering *all)
{
    free(all->ranks);
    free(all->runs);
    sx_blob_clear(&all->names);
}

pmix_status_t sx_agreements_read(const char *bytes, size_t size,
                                 const struct sx_agreement_reader *reader, struct sx_agreed *ret)
{
    const uint8_t *at = (const uint8_t *)bytes;
    pmix_status_t rc = PMIX_SUCCESS;
    struct gathering all = { .ranks = NULL };
    struct sx_opened agreement;

    *ret = (struct sx_agreed){ .is_partial = false };
    while (rc == PMIX_SUCCESS && size > 0) {
        rc = sx_body_next(&agreement, &sx_agreement_body, &at, &size) != NULL
                 ? PMIX_ERR_UNPACK_FAILURE
                 : members_add(&all, &agreement, ret);
        if (rc == PMIX_SUCCESS) {
            rc = nspaces_read(&agreement.parts[SX_AGREEMENT_NSPACES], reader);
        }
        if (rc == PMIX_SUCCESS) {
            rc = reader->said(&agreement.parts[SX_AGREEMENT_SAID], reader->arg);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = members_order(&all, &ret->members);
    }
    if (rc != PMIX_SUCCESS) {
        sx_agreed_clear(ret);
    }
    gathering_clear(&all);
    return rc;
}
