/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* server_events.c - fill in the infos that the Standard lists for each event, and publish it. */
#include "server/event/event.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/message/payloads.h"
#include "base/status.h"

static void load(pmix_info_t *info, const char *key, pmix_data_type_t type)
{
    memset(info, 0, sizeof(*info));
    memcpy(info->key, key, strlen(key));
    info->value.type = type;
}

/* @array must live as long as @info. */
static void load_procs(pmix_info_t *info, const char *key, const pmix_proc_t procs[], size_t count,
                       pmix_data_array_t *array)
{
    *array = (pmix_data_array_t){ .type = PMIX_PROC,
                                  .size = count,
                                  .array = (void *)(uintptr_t)procs };
    load(info, key, PMIX_DATA_ARRAY);
    info->value.data.darray = array;
}

/* @array must live as long as @info. */
static void load_note(pmix_info_t *info, const struct sx_event_note *note, pmix_data_array_t *array)
{
    if (note->text != NULL) {
        load(info, note->key, PMIX_STRING);
        info->value.data.string = (char *)(uintptr_t)note->text;
    } else if (note->procs != NULL && note->is_one) {
        load(info, note->key, PMIX_PROC);
        info->value.data.proc = (pmix_proc_t *)(uintptr_t)note->procs;
    } else if (note->procs != NULL) {
        load_procs(info, note->key, note->procs, note->count, array);
    } else if (note->status != PMIX_SUCCESS) {
        load(info, note->key, PMIX_STATUS);
        info->value.data.status = note->status;
    } else {
        load(info, note->key, PMIX_SIZE);
        info->value.data.size = note->number;
    }
}

static_assert(SX_EVENT_BYTES_MAX == UINT64_C(4) << 20, "what is said below");

static bool is_too_long(pmix_status_t code, const pmix_proc_t *source,
                        const struct sx_notify_options *options, const pmix_info_t info[],
                        size_t ninfo)
{
    struct sx_event event;
    struct sx_draft draft;
    size_t size;

    sx_event_draft(&draft, &event, code, source, options, info, ninfo);
    return sx_body_measure(&draft, &size) == PMIX_SUCCESS && size > SX_EVENT_BYTES_MAX;
}

/* The event reaches nobody. */
static void lost_log(pmix_status_t code, const pmix_proc_t *source, const char *why)
{
    sx_log(SX_LOG_ERROR, "event %d of %s.%u reaches nobody: %s", code, source->nspace, source->rank,
           why);
}

static void too_long_log(pmix_status_t code, const pmix_proc_t *source)
{
    lost_log(code, source, "it would take more than 4 MiB");
}

/* The event has no room for @note, and goes without. */
static void shorter_log(pmix_status_t code, const pmix_proc_t *source,
                        const struct sx_event_note *note)
{
    sx_log(SX_LOG_WARN,
           "event %d of %s.%u goes without %s, with which it would take more than 4 MiB: its "
           "receivers have to ask for it",
           code, source->nspace, source->rank,
           note->infos != NULL ? "the data of the members" : note->key);
}

/* So many processes always fit: each takes a name and less than as many bytes in each of two
 * lists. */
#define PROCS_SURE SX_PROCS_RUNS_MAX
static_assert(PROCS_SURE * UINT64_C(4) * PMIX_MAX_NSLEN < SX_EVENT_BYTES_MAX, "and room is left");

static void load_non_default(pmix_info_t *info)
{
    load(info, PMIX_EVENT_NON_DEFAULT, PMIX_BOOL);
    info->value.data.flag = true;
}

enum begun {
    BEGUN,
    TOO_LONG,
    LOST /* and the log says why */
};

/* @info has room for one more.  @options: the range and the targets of @info, unless it sets them
 * itself. */
static enum begun begin(struct sx_event_building *building, pmix_status_t code,
                        const pmix_proc_t *source, struct sx_notify_options options,
                        pmix_info_t info[], size_t ninfo)
{
    const struct sx_some_procs targets = options.targets;
    pmix_status_t rc;

    load_non_default(&info[ninfo]);
    rc = sx_options_read(SX_OF_NOTIFY, info, ninfo + 1, &options);
    if (targets.count > 0) {
        options.targets = targets;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_block_begin(building, code, source, &options, info, ninfo + 1);
    }
    if (rc == PMIX_SUCCESS) {
        return BEGUN;
    }
    if (rc == PMIX_ERR_OUT_OF_RESOURCE && is_too_long(code, source, &options, info, ninfo + 1)) {
        return TOO_LONG;
    }
    lost_log(code, source,
             rc == PMIX_ERR_OUT_OF_RESOURCE ? "memory is short" : PMIx_Error_string(rc));
    return LOST;
}

/* Return: NULL when it is lost, and the log says why. */
static struct sx_event_block *finish(struct sx_event_building *building, const pmix_proc_t *source)
{
    struct sx_event_block *block = NULL;
    const pmix_status_t rc = sx_event_block_finish(building, &block);

    if (rc != PMIX_SUCCESS) {
        lost_log(building->event.code, source, PMIx_Error_string(rc));
    }
    return block;
}

/* @client: the client that caused the event; NULL: the library.  @user: only this user's processes
 * receive it; NULL: all.  The rest: as in begin.  Return: false when it would be too long. */
static bool make_of(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                    const uid_t *user, const pmix_proc_t *source, struct sx_notify_options options,
                    pmix_info_t info[], size_t ninfo)
{
    struct sx_event_building building;
    const enum begun begun = begin(&building, code, source, options, info, ninfo);
    struct sx_event_block *const block = begun == BEGUN ? finish(&building, source) : NULL;

    if (block == NULL) {
        return begun != TOO_LONG;
    }
    if (user != NULL) {
        block->has_user = true;
        block->user = *user;
    }
    (void)sx_event_publish(server, block,
                           client != NULL ? SX_EVENT_FROM_CLIENT : SX_EVENT_FROM_LIBRARY, client);
    sx_event_block_release(block);
    return true;
}

/* ---- ends of processes --------------------------------------------------------------------- */

/* Take memory for an event about the next @count processes. */
static enum begun part_begin(struct sx_event_end *end, pmix_status_t code, size_t count)
{
    const struct sx_notify_options options = { .range = PMIX_RANGE_NAMESPACE };
    const pmix_proc_t *const part = end->affected + end->published;

    if (count > 1) {
        load_procs(&end->info[0], PMIX_EVENT_AFFECTED_PROCS, part, count, &end->array);
    } else {
        load(&end->info[0], PMIX_EVENT_AFFECTED_PROC, PMIX_PROC);
        end->info[0].value.data.proc = (pmix_proc_t *)(uintptr_t)part;
    }
    end->part_count = count;
    return begin(&end->building, code, &end->source, options, end->info, 1);
}

/* The same, with as many of the processes as fit. */
static void end_continue(struct sx_event_end *end, pmix_status_t code)
{
    const size_t rest = end->count - end->published;
    enum begun begun = end->published == 0 && rest <= SX_PROCS_MAX ? part_begin(end, code, rest)
                                                                   : TOO_LONG;

    if (begun == TOO_LONG) {
        begun = part_begin(end, code, rest < PROCS_SURE ? rest : PROCS_SURE);
    }
    sx_assert(begun != TOO_LONG);
    end->is_begun = begun == BEGUN;
}

/* @affected: the processes that are affected; if empty, the whole namespace. */
static void end_begin(struct sx_event_end *end, const struct sx_client *client, pmix_status_t code,
                      const pmix_proc_t affected[], size_t count)
{
    end->source = sx_nspace_proc(client->nspace, client->rank);
    end->everyone = sx_nspace_proc(client->nspace, PMIX_RANK_WILDCARD);
    end->affected = count == 0 ? &end->everyone : affected;
    end->count = count == 0 ? 1 : count;
    end->published = 0;
    end_continue(end, code);
}

static void end_publish(struct sx_server *server, struct sx_event_end *end)
{
    struct sx_event_block *block = NULL;

    if (end->is_begun) {
        block = finish(&end->building, &end->source);
        end->is_begun = false;
    }
    end->published += end->part_count;
    if (block != NULL) {
        (void)sx_event_publish(server, block, SX_EVENT_FROM_LIBRARY, NULL);
        sx_event_block_release(block);
    }
}

void sx_event_client_lost(struct sx_server *server, struct sx_client *client)
{
    const pmix_proc_t proc = sx_nspace_proc(client->nspace, client->rank);
    struct sx_event_end end;

    if (client->is_tool) {
        return; /* no process is concerned, and some hosts end a job for this event */
    }
    end_begin(&end, client, PMIX_ERR_LOST_CONNECTION, &proc, 1);
    end_publish(server, &end);
    /* Peers may abort when they receive this event.  Before that the host must have learned which
     * death was the cause; it is informed in this turn or the next. */
    sx_event_wake_behind_host(server);
}

void sx_event_abort_begin(struct sx_event_end *end, const struct sx_client *client,
                          const pmix_proc_t procs[], size_t nprocs)
{
    end_begin(end, client, PMIX_ERR_PROC_REQUESTED_ABORT, procs, nprocs);
}

bool sx_event_abort_publish(struct sx_server *server, struct sx_event_end *end)
{
    end_publish(server, end);
    sx_event_wake(server); /* before the host ends them */
    if (end->published == end->count) {
        return false;
    }
    end_continue(end, PMIX_ERR_PROC_REQUESTED_ABORT);
    return true;
}

void sx_event_abort_clear(struct sx_event_end *end)
{
    if (end->is_begun) {
        sx_event_block_release(end->building.block);
    }
    end->is_begun = false;
}

/* ---- processes of one operation -------------------------------------------------------------- */

struct crowd {
    const pmix_proc_t *all;
    size_t count;
    const char *list; /* NULL: no list; else the event names {list, WILDCARD} as the affected
                       * processes */
};

/* The number of infos for @notes. */
static size_t infos_count(const struct sx_event_note notes[], size_t note_count)
{
    size_t count = 0;

    for (size_t i = 0; i < note_count; i++) {
        count += notes[i].infos != NULL ? notes[i].info_count : 1;
    }
    return count;
}

/* The arrays live as long as @info, which has room. */
static void notes_load(pmix_info_t info[], const struct sx_event_note notes[], size_t note_count,
                       pmix_data_array_t arrays[])
{
    size_t count = 0;

    for (size_t i = 0; i < note_count; i++) {
        if (notes[i].infos != NULL) {
            memcpy(&info[count], notes[i].infos, notes[i].info_count * sizeof(*info));
            count += notes[i].info_count;
        } else {
            load_note(&info[count++], &notes[i], &arrays[i]);
        }
    }
}

/* @client: as in make_of.  @info: its first is set here, the next @ninfo - 1 are.  Return: false
 * when it would be too long. */
static bool make_part(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                      const pmix_proc_t *source, const struct crowd *to, pmix_info_t info[],
                      size_t ninfo)
{
    const struct sx_notify_options options = { .range = PMIX_RANGE_CUSTOM,
                                               .targets = { to->all, to->count } };
    pmix_data_array_t array;
    pmix_proc_t all;

    if (to->list != NULL) {
        PMIx_Load_procid(&all, to->list, PMIX_RANK_WILDCARD);
        load(&info[0], PMIX_EVENT_CUSTOM_RANGE, PMIX_PROC);
        info[0].value.data.proc = &all;
    } else {
        load_procs(&info[0], PMIX_EVENT_CUSTOM_RANGE, to->all, to->count, &array);
    }
    return make_of(server, code, client, NULL, source, options, info, ninfo);
}

/* The same to PROCS_SURE receivers at a time.  Return: false when it would be too long for what it
 * has beside its receivers, and reaches nobody. */
static bool make_parts(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                       const pmix_proc_t *source, const struct crowd *to, pmix_info_t info[],
                       size_t ninfo)
{
    struct crowd part = { .list = to->list };

    for (size_t done = 0; done < to->count; done += part.count) {
        const size_t rest = to->count - done;

        part.all = to->all + done;
        part.count = rest < PROCS_SURE ? rest : PROCS_SURE;
        if (!make_part(server, code, client, source, &part, info, ninfo)) {
            if (done == 0) {
                return false;
            }
            too_long_log(code, source); /* others have received it: the rest does not */
            return true;
        }
    }
    return true;
}

/* Return: how many of @notes an event needs: the last ones may be data of the members and their
 * list, which receivers can ask for. */
static size_t notes_needed(const struct sx_event_note notes[], size_t note_count)
{
    while (note_count > 0 &&
           (notes[note_count - 1].infos != NULL || notes[note_count - 1].count > 1)) {
        note_count--;
    }
    return note_count;
}

/* @client: as in make_of. */
static void make_to(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                    pmix_proc_t source, const struct crowd *to, const struct sx_event_note notes[],
                    size_t note_count)
{
    const size_t more = infos_count(notes, note_count);
    pmix_data_array_t arrays[SX_EVENT_NOTES_MAX];
    pmix_info_t here[3 + SX_EVENT_NOTES_MAX], *info = here;

    if (to->count == 0) {
        return;
    }
    sx_assert(note_count <= SX_EVENT_NOTES_MAX);
    if (more > SX_EVENT_NOTES_MAX) {
        info = calloc(3 + more, sizeof(*info));
    }
    if (info == NULL) {
        lost_log(code, &source, "memory is short");
        return;
    }
    load(&info[1], PMIX_EVENT_AFFECTED_PROC, PMIX_PROC);
    info[1].value.data.proc = &source;
    notes_load(&info[2], notes, note_count, arrays);
    size_t ninfo = 2 + more;
    bool is_made = to->count <= SX_PROCS_MAX &&
                   make_part(server, code, client, &source, to, info, ninfo);

    while (!is_made && !(is_made = make_parts(server, code, client, &source, to, info, ninfo)) &&
           note_count > notes_needed(notes, note_count)) {
        note_count--;
        ninfo -= infos_count(&notes[note_count], 1);
        shorter_log(code, &source, &notes[note_count]);
    }
    if (!is_made) {
        too_long_log(code, &source);
    }
    if (info != here) {
        free(info);
    }
}

void sx_event_to(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                 const pmix_proc_t to[], size_t count, const struct sx_event_note notes[],
                 size_t note_count)
{
    make_to(server, code, client, sx_nspace_proc(client->nspace, client->rank),
            &(struct crowd){ .all = to, .count = count }, notes, note_count);
}

void sx_event_to_list(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                      const pmix_proc_t *source, const char *list, const struct sx_proc_list *to,
                      const struct sx_event_note *note)
{
    make_to(server, code, client, *source,
            &(struct crowd){ .all = to->all, .count = to->count, .list = list }, note, 1);
}

void sx_event_to_servers(struct sx_server *server, pmix_status_t code, struct sx_client *client,
                         const pmix_proc_t *source, const struct sx_event_note *note)
{
    const struct sx_notify_options options = { .range = PMIX_RANGE_RM };
    pmix_info_t info[3];

    load(&info[0], PMIX_EVENT_AFFECTED_PROC, PMIX_PROC);
    info[0].value.data.proc = (pmix_proc_t *)(uintptr_t)source;
    load(&info[1], note->key, PMIX_STRING);
    info[1].value.data.string = (char *)(uintptr_t)note->text;
    if (!make_of(server, code, client, NULL, source, options, info, 2)) {
        too_long_log(code, source);
    }
}

void sx_event_of_proc(struct sx_server *server, pmix_status_t code, const pmix_proc_t *proc,
                      const struct sx_proc_list *to, const struct sx_event_note notes[],
                      size_t note_count)
{
    make_to(server, code, NULL, *proc, &(struct crowd){ .all = to->all, .count = to->count }, notes,
            note_count);
}

/* ---- process sets -------------------------------------------------------------------------- */

/* An event that would be too long has no members: a receiver asks for those of the set's name. */
void sx_event_pset(struct sx_server *server, bool defined, const char *name, const uid_t *owner,
                   const pmix_proc_t members[], size_t count)
{
    const pmix_status_t code = defined ? PMIX_PROCESS_SET_DEFINE : PMIX_PROCESS_SET_DELETE;
    const struct sx_notify_options options = { .range = PMIX_RANGE_LOCAL };
    const pmix_proc_t manager = { .rank = PMIX_RANK_UNDEF };
    pmix_data_array_t array;
    pmix_info_t info[3];

    load(&info[0], PMIX_PSET_NAME, PMIX_STRING);
    info[0].value.data.string = (char *)(uintptr_t)name;
    load_procs(&info[1], PMIX_PSET_MEMBERS, members, count, &array);
    if (!make_of(server, code, NULL, owner, &manager, options, info, 2)) {
        (void)make_of(server, code, NULL, owner, &manager, options, info, 1);
    }
}
