/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_group.c - handles of groups and other lists: read in place, moved on request.
 *
 *     OPEN in generation g --refresh, wait--> OPEN in g'
 *       |                        \--the list is gone--> still in g, and both return so
 *       \--PMIx_Finalize--> DEAD (returns PMIX_ERR_INIT) --close--> gone
 *
 *   group --newest--> hold --edition--> the store
 *                       \--spot--> the record in it, which never changes
 *
 * A read loads the hold and its spot, and has one record, complete even if members join or leave
 * meanwhile.  A move within a store is one release store of the spot.  A store that was replaced
 * takes another hold; the old one is freed when no reader is inside any more.  Writers hold
 * view_lock.  Memory is bounded by the open handles: each keeps one store. */
#include <stdlib.h>
#include <string.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/status.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "client/link/wait.h"
#include "client/native/native.h"
#include "ring/bell.h"

#define SPOT_UNIT UINT64_C(8) /* records are aligned to it */

/* The open groups, under view_lock. */
static struct sx_list groups = SX_LIST_INIT(groups);

/* The state of a group in one store. */
struct group_hold {
    struct sx_mapped_store *edition; /* a reference */
    sx_column column;                /* of the list's name; 0: not found by the last search */
    _Atomic uint64_t spot; /* of the record: its offset in units, and in the low half its bytes */
    struct sx_retired retired;
};

struct shmix_group {
    _Atomic(struct group_hold *) newest; /* NULL: after PMIx_Finalize */
    struct sx_link *link;                /* its server has the list */
    struct sx_list node;                 /* in `groups`; in no list after PMIx_Finalize */
    uint64_t subject;
    enum sx_realm realm; /* in which its name is found */
    size_t name_len;
    char name[SX_MEMBERSHIP_NAME_MAX + 1];
};

static struct group_hold *newest_of(const shmix_group_t *group)
{
    /* A-hold <- R-hold (group_move): the hold is filled before it is named. */
    return atomic_load_explicit(&group->newest, memory_order_acquire);
}

/* ---- one record ----------------------------------------------------------------------------- */

static uint64_t spot_of(const struct group_hold *hold, const struct sx_item *item)
{
    const uint64_t off = (uint64_t)((const uint8_t *)item->body - hold->edition->store.seg.base);

    return off / SPOT_UNIT << 32 | item->cell.len;
}

static inline pmix_status_t spot_open(const struct group_hold *hold, uint64_t spot,
                                      struct sx_membership *ret)
{
    return sx_membership_open(hold->edition->store.seg.base + (spot >> 32) * SPOT_UNIT,
                              (uint32_t)spot, ret);
}

/* Find the place of the record.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when no record has that
 * name, or @subject, if it is not 0, has ended; PMIX_ERR_UNPACK_FAILURE. */
static pmix_status_t spot_find(const struct group_hold *hold, uint64_t subject, uint64_t *ret,
                               struct sx_membership *ret_record)
{
    struct sx_item item;
    pmix_status_t rc = sx_store_read(&hold->edition->store, hold->column, SX_ROW_JOB, &item);

    if (rc == PMIX_SUCCESS) {
        rc = sx_membership_open(item.body, item.cell.len, ret_record);
    }
    if (rc == PMIX_SUCCESS && subject != 0 && ret_record->head.subject != subject) {
        rc = PMIX_ERR_NOT_FOUND;
    }
    if (rc == PMIX_SUCCESS) {
        *ret = spot_of(hold, &item);
    }
    return rc;
}

/* ---- holds ---------------------------------------------------------------------------------- */

static struct group_hold *hold_free(struct group_hold *hold)
{
    if (hold != NULL) {
        sx_mapped_store_release(hold->edition);
        free(hold);
    }
    return NULL;
}

static void hold_over(struct sx_retired *retired)
{
    hold_free(SX_CONTAINER(retired, struct group_hold, retired));
}

/* In the newest store, at the list's record; @ret_record is that record.  Under view_lock. */
static pmix_status_t hold_new(const shmix_group_t *group, struct group_hold **ret,
                              struct sx_membership *ret_record)
{
    struct group_hold *hold = calloc(1, sizeof(*hold));
    uint64_t spot = 0;

    if (hold == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_status_t rc = sx_members_retain_locked(group->link, &hold->edition);

    if (rc == PMIX_SUCCESS) {
        hold->column = sx_store_column(&hold->edition->store, group->realm, group->name,
                                       group->name_len);
        rc = spot_find(hold, group->subject, &spot, ret_record);
    }
    if (rc != PMIX_SUCCESS) {
        hold_free(hold);
        return rc;
    }
    atomic_init(&hold->spot, spot);
    *ret = hold;
    return PMIX_SUCCESS;
}

/* Move the group to @hold, NULL for none. */
static void group_move(shmix_group_t *group, struct group_hold *hold)
{
    struct group_hold *const older = newest_of(group);

    /* R-hold -> A-hold (newest_of) */
    atomic_store_explicit(&group->newest, hold, memory_order_release);
    if (older != NULL) {
        sx_grace_retire(&older->retired, hold_over);
        sx_grace_collect();
    }
}

/* ---- open and close ------------------------------------------------------------------------- */

/* Under view_lock. */
static pmix_status_t group_open_locked(shmix_group_t *group)
{
    struct sx_membership record;
    struct group_hold *hold;

    /* Checked under the lock: sx_native_groups_deinit either finds this group or was called
     * before. */
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = hold_new(group, &hold, &record);

    if (rc == PMIX_SUCCESS) {
        group->subject = record.head.subject;
        group_move(group, hold);
        sx_list_append(&groups, &group->node);
    }
    return rc;
}

static pmix_status_t list_open(enum sx_realm realm, size_t name_max, const char *name,
                               shmix_group_t **ret_group)
{
    const size_t len = name != NULL ? strnlen(name, name_max + 1) : 0;

    if (ret_group == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret_group = NULL;
    if (len == 0 || len > name_max) {
        return PMIX_ERR_BAD_PARAM;
    }
    shmix_group_t *const group = calloc(1, sizeof(*group));

    if (group == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    group->link = sx_primary();
    group->realm = realm;
    group->name_len = len;
    memcpy(group->name, name, len);
    sx_list_init(&group->node);
    pthread_mutex_lock(&sx_process.view_lock);
    const pmix_status_t rc = group_open_locked(group);
    pthread_mutex_unlock(&sx_process.view_lock);
    if (rc != PMIX_SUCCESS) {
        free(group);
        return rc;
    }
    *ret_group = group;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_group_open(const char *name, shmix_group_t **ret_group)
{
    return list_open(SX_REALM_MEMBERS, PMIX_MAX_NSLEN, name, ret_group);
}

pmix_status_t shmix_set_open(const char *name, shmix_group_t **ret_group)
{
    return list_open(SX_REALM_SETS, SX_MEMBERSHIP_NAME_MAX, name, ret_group);
}

pmix_status_t shmix_group_close(shmix_group_t *group)
{
    if (group != NULL) {
        pthread_mutex_lock(&sx_process.view_lock);
        sx_list_remove(&group->node);
        hold_free(newest_of(group));
        pthread_mutex_unlock(&sx_process.view_lock);
        free(group);
    }
    return PMIX_SUCCESS;
}

void sx_native_groups_deinit(void)
{
    struct sx_list *node;

    pthread_mutex_lock(&sx_process.view_lock);
    while ((node = sx_list_pop(&groups)) != NULL) {
        group_move(SX_LIST_ENTRY(node, shmix_group_t, node), NULL);
    }
    pthread_mutex_unlock(&sx_process.view_lock);
}

/* ---- moving --------------------------------------------------------------------------------- */

/* Return: PMIX_SUCCESS when @hold is at the newest record; PMIX_ERR_NOT_FOUND when the record has
 * ended; PMIX_EXISTS when there is a newer one, at *ret_spot, or (0) in another store. */
static pmix_status_t news_look(const struct group_hold *hold, uint64_t subject, uint64_t *ret_spot)
{
    struct sx_membership record;

    *ret_spot = 0;
    if (sx_mapped_store_is_stale(hold->edition)) {
        return PMIX_EXISTS;
    }
    const pmix_status_t rc = spot_find(hold, subject, ret_spot, &record);

    /* relaxed: writers hold view_lock, and an old value is checked again under it. */
    return rc == PMIX_SUCCESS &&
                   atomic_load_explicit(&hold->spot, memory_order_relaxed) != *ret_spot
               ? PMIX_EXISTS
               : rc;
}

/* Under view_lock. */
static pmix_status_t refresh_locked(shmix_group_t *group)
{
    struct group_hold *hold = newest_of(group);
    struct sx_membership record;
    uint64_t spot;

    if (hold == NULL) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = news_look(hold, group->subject, &spot);

    if (rc == PMIX_EXISTS && spot != 0) {
        /* R-spot -> A-spot (record_enter): other threads see of the record what this one has
         * seen. */
        atomic_store_explicit(&hold->spot, spot, memory_order_release);
        rc = PMIX_SUCCESS;
    } else if (rc == PMIX_EXISTS) {
        rc = hold_new(group, &hold, &record);
        if (rc == PMIX_SUCCESS) {
            group_move(group, hold);
        }
    }
    return rc;
}

pmix_status_t shmix_group_refresh(shmix_group_t *group)
{
    uint64_t spot;

    if (group == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const struct sx_grace grace = sx_grace_enter();
    const struct group_hold *const hold = newest_of(group);
    pmix_status_t rc = hold != NULL ? news_look(hold, group->subject, &spot) : PMIX_ERR_INIT;

    sx_grace_exit(&grace);
    if (rc == PMIX_EXISTS) {
        pthread_mutex_lock(&sx_process.view_lock);
        rc = refresh_locked(group);
        pthread_mutex_unlock(&sx_process.view_lock);
    }
    return rc;
}

/* ---- waiting -------------------------------------------------------------------------------- */

enum { WATCH_LISTS, WATCH_BELL, WATCH_LIFE, WATCH_COUNT };

/* Read the words that change with news; the caller polls for news afterwards. */
static void sleep_prepare(const struct sx_link *link, struct sx_bell_watch watch[WATCH_COUNT])
{
    watch[WATCH_LISTS] = sx_door_watch(&link->board.header->lists);
    watch[WATCH_BELL] = sx_door_watch(&link->slot->bell); /* rung when the server drops us */
    watch[WATCH_LIFE] = (struct sx_bell_watch){ .word = link->board.life_word,
                                                .seen = sx_board_life_seen(&link->board) };
}

static pmix_status_t sleep_until(const struct sx_link *link,
                                 const struct sx_bell_watch watch[WATCH_COUNT],
                                 uint64_t deadline_ns)
{
    const pmix_status_t rc = sx_bell_wait(watch, WATCH_COUNT, SX_BELL_ALL, deadline_ns);

    sx_door_pass_on(&link->board.header->lists, &watch[WATCH_LISTS], SX_BELL_ALL);
    return rc;
}

/* Move to the newest record.  Return: PMIX_SUCCESS when the group is behind @generation;
 * PMIX_ERR_TIMEOUT when there is nothing newer; as shmix_group_refresh. */
static pmix_status_t pass(shmix_group_t *group, uint64_t generation)
{
    shmix_group_facts_t info;
    pmix_status_t rc = shmix_group_refresh(group);

    if (rc == PMIX_SUCCESS) {
        rc = shmix_group_info(group, &info);
    }
    return rc == PMIX_SUCCESS && info.generation <= generation ? PMIX_ERR_TIMEOUT : rc;
}

pmix_status_t shmix_group_wait(shmix_group_t *group, uint64_t generation, uint64_t timeout_ns)
{
    const struct sx_link *const link = group != NULL ? group->link : NULL;
    struct sx_bell_watch watch[WATCH_COUNT];
    pmix_status_t rc = pass(group, generation), live, slept = PMIX_SUCCESS;
    const uint64_t deadline_ns = timeout_ns == SHMIX_FOREVER
                                     ? SX_DEADLINE_NEVER
                                     : sx_deadline_ns(sx_now_ns(), timeout_ns);

    while (rc == PMIX_ERR_TIMEOUT && slept != PMIX_ERR_TIMEOUT) {
        live = sx_role_may_wait();
        live = live == PMIX_SUCCESS ? sx_link_status(link) : live;
        if (live != PMIX_SUCCESS) {
            return live;
        }
        sleep_prepare(link, watch);
        rc = pass(group, generation);
        if (rc == PMIX_ERR_TIMEOUT && !(sx_board_server_lives(&link->board) &&
                                        sx_board_slot_lives(link->slot, link->slot_claims))) {
            sx_pump(); /* logs the loss and ends the link for all threads */
        } else if (rc == PMIX_ERR_TIMEOUT) {
            slept = sleep_until(link, watch, deadline_ns);
        }
    }
    return rc == PMIX_ERR_TIMEOUT ? pass(group, generation) : rc;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Nothing from here on allocates, locks or enters the kernel, or changes a shared word by more than
 * a plain store, but for a thread's first read (sx_grace_join).  A test disassembles the machine
 * code to ensure that.
 *
 * Return: PMIX_SUCCESS, and the caller calls sx_grace_exit; PMIX_ERR_INIT;
 * PMIX_ERR_UNPACK_FAILURE. */
static inline pmix_status_t record_enter(const shmix_group_t *group, struct sx_grace *grace,
                                         struct sx_membership *ret)
{
    *grace = sx_grace_enter();
    const struct group_hold *const hold = newest_of(group);
    const pmix_status_t rc =
        hold == NULL
            ? PMIX_ERR_INIT
            /* A-spot <- R-spot (refresh_locked) */
            : spot_open(hold, atomic_load_explicit(&hold->spot, memory_order_acquire), ret);

    if (rc != PMIX_SUCCESS) {
        sx_grace_exit(grace);
    }
    return rc;
}

pmix_status_t shmix_group_info(const shmix_group_t *group, shmix_group_facts_t *ret_info)
{
    struct sx_membership record;
    struct sx_grace grace;

    if (group == NULL || ret_info == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = record_enter(group, &grace, &record);

    if (rc == PMIX_SUCCESS) {
        sx_grace_exit(&grace); /* the head is a copy */
        *ret_info = (shmix_group_facts_t){
            .kind = (shmix_group_kind_t)record.head.kind,
            .size = record.head.member_count,
            .member_count = record.head.index_count,
            .has_context_id = (record.head.flags & SX_MEMBERSHIP_CONTEXT) != 0,
            .generation = record.head.generation,
            .context_id = record.head.context_id,
        };
    }
    return rc;
}

pmix_status_t shmix_group_member(const shmix_group_t *group, pmix_rank_t rank,
                                 pmix_proc_t *ret_proc)
{
    struct sx_membership record;
    struct sx_grace grace;

    if (group == NULL || ret_proc == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = record_enter(group, &grace, &record);

    if (rc == PMIX_SUCCESS) {
        rc = sx_membership_member(&record, rank, ret_proc);
        sx_grace_exit(&grace);
    }
    return rc;
}

pmix_status_t shmix_group_rank(const shmix_group_t *group, const pmix_proc_t *proc,
                               pmix_rank_t *ret_rank)
{
    const pmix_proc_t *const wanted = proc != NULL ? proc : &sx_process.self;
    struct sx_membership record;
    struct sx_grace grace;

    if (group == NULL || ret_rank == NULL || !sx_proc_is_valid(wanted)) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = record_enter(group, &grace, &record);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const uint32_t rank = sx_membership_rank(&record, wanted->nspace, wanted->rank);

    sx_grace_exit(&grace);
    if (rank == PMIX_RANK_INVALID) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret_rank = rank;
    return PMIX_SUCCESS;
}
