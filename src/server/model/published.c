/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published.c - rows, their readers, and the end of rows. */
#include "server/model/published.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/value/flat.h"
#include "base/value/value.h"

/* Costs, in rows visited: */
#define TERM_COST 8u    /* a target, or a user, that is copied and sorted */
#define CHANGE_COST 64u /* a row that comes or goes, which is shown */

/* To find the publisher of a key that is unpublished: */
#define JUDGED_OWN_MAX 1024u /* rows of the user's other processes */
#define JUDGED_OPEN_MAX 256u /* open rows of other users */

void sx_published_init(struct sx_published *all, uint64_t seed)
{
    *all = (struct sx_published){ .seed = seed };
    sx_quota_init(&all->quota, "published values", SX_PUBLISHED_ROWS_MAX, SX_PUBLISHED_BYTES_MAX,
                  seed);
    sx_list_init(&all->publishers);
    sx_list_init(&all->ending);
    sx_list_init(&all->users);
}

void sx_published_deinit(struct sx_published *all)
{
    SX_LIST_EACH(it, &all->publishers) {
        const struct sx_publisher *const publisher = SX_LIST_ENTRY(it, struct sx_publisher, link);

        (void)sx_published_withdraw_all(all, &publisher->party, PMIX_RANGE_UNDEF, UINT64_MAX);
    }
    sx_table_deinit(&all->keys);
    sx_table_deinit(&all->serials);
    sx_table_deinit(&all->names);
    sx_quota_deinit(&all->quota);
}

/* Call the store that shows the row. */
static void row_changed(struct sx_published *all, const struct sx_published_row *row)
{
    if (all->changed != NULL) {
        all->changed(all, row);
    }
}

static bool is_same(const struct sx_party *one, const struct sx_party *other)
{
    return one->uid == other->uid && one->who.proc.rank == other->who.proc.rank &&
           strcmp(one->who.proc.nspace, other->who.proc.nspace) == 0;
}

/* ---- finding --------------------------------------------------------------------------------- */

static uint64_t key_hash(const struct sx_published *all, const char *key)
{
    return XXH3_64bits_withSeed(key, strlen(key), all->seed);
}

/* Whether the process, application, job or session with which @row ends has ended. */
static bool is_over(const struct sx_published_row *row)
{
    return row->serial <= row->publisher->over[row->persistence];
}

/* The row behind @row (NULL: the first) that has @key, and is not over. */
static struct sx_published_row *row_next(struct sx_published *all, const char *key, uint64_t hash,
                                         const struct sx_published_row *row)
{
    struct sx_table_node *node = row == NULL ? sx_table_first(&all->keys, hash)
                                             : sx_table_next(&all->keys, &row->node);

    for (; node != NULL; node = sx_table_next(&all->keys, node)) {
        struct sx_published_row *const next = SX_CONTAINER(node, struct sx_published_row, node);

        all->walked++;
        if (strcmp(next->info.key, key) == 0 && !is_over(next)) {
            return next;
        }
    }
    return NULL;
}

struct sx_published_row *sx_published_next(struct sx_published *all, const char *key,
                                           const struct sx_published_row *row)
{
    return row_next(all, key, key_hash(all, key), row);
}

struct sx_published_row *sx_published_of(const struct sx_published *all, uint64_t serial)
{
    struct sx_table_node *const node = sx_table_first(&all->serials, serial);
    struct sx_published_row *const row = node != NULL ? SX_CONTAINER(node, struct sx_published_row,
                                                                     by_serial)
                                                      : NULL;

    return row != NULL && !is_over(row) ? row : NULL;
}

struct sx_published_row *sx_published_find(struct sx_published *all, const char *key,
                                           const struct sx_party *asker,
                                           const struct sx_lookup_options *options)
{
    const uint64_t hash = key_hash(all, key);
    struct sx_published_row *row = NULL, *found = NULL;

    while ((row = row_next(all, key, hash, row)) != NULL) {
        if ((found == NULL || row->serial < found->serial) &&
            sx_published_sees(all, row, asker, options)) {
            found = row;
        }
    }
    return found;
}

/* Whether any process could see both rows of one key, one of @party with @options, and @party may
 * learn of the other. */
static bool is_duplicate(struct sx_published *all, const struct sx_published_row *row,
                         const struct sx_party *party, const struct sx_publish_options *options)
{
    if (row->range != options->range || !sx_published_has_access(row, party)) {
        return false;
    }
    return row->range == PMIX_RANGE_CUSTOM
               ? is_same(&row->publisher->party, party)
               : sx_published_range_holds(all, row->range, NULL, party, &row->publisher->party);
}

/* ---- publishers ------------------------------------------------------------------------------ */

static uint64_t proc_hash(const struct sx_published *all, const pmix_proc_t *proc)
{
    return XXH3_64bits_withSeed(proc->nspace, strlen(proc->nspace), all->seed ^ proc->rank);
}

static struct sx_publisher *publisher_find(const struct sx_published *all,
                                           const struct sx_party *party)
{
    struct sx_table_node *node = sx_table_first(&all->names, proc_hash(all, &party->who.proc));

    for (; node != NULL; node = sx_table_next(&all->names, node)) {
        struct sx_publisher *const publisher = SX_CONTAINER(node, struct sx_publisher, node);

        if (is_same(&publisher->party, party)) {
            return publisher;
        }
    }
    return NULL;
}

/* It may have another session than when it published before. */
static void party_take(struct sx_published *all, struct sx_publisher *publisher,
                       const struct sx_party *party)
{
    const bool is_other = publisher->party.who.session != party->who.session;

    publisher->party = *party;
    if (is_other) {
        SX_LIST_EACH(it, &publisher->rows) {
            row_changed(all, SX_LIST_ENTRY(it, struct sx_published_row, link));
        }
    }
}

static struct sx_publisher *publisher_obtain(struct sx_published *all, const struct sx_party *party)
{
    struct sx_publisher *publisher = publisher_find(all, party);

    if (publisher != NULL) {
        party_take(all, publisher, party);
        return publisher;
    }
    publisher = calloc(1, sizeof(*publisher));
    if (publisher == NULL ||
        !sx_table_add(&all->names, &publisher->node, proc_hash(all, &party->who.proc))) {
        free(publisher);
        return NULL;
    }
    publisher->party = *party;
    sx_list_init(&publisher->rows);
    sx_list_init(&publisher->ending);
    sx_list_append(&all->publishers, &publisher->link);
    return publisher;
}

static void publisher_free_unless_used(struct sx_published *all, struct sx_publisher *publisher)
{
    if (sx_list_empty(&publisher->rows)) {
        sx_table_remove(&all->names, &publisher->node);
        sx_list_remove(&publisher->link);
        sx_list_remove(&publisher->ending);
        free(publisher);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void terms_release(struct sx_published *all, struct sx_published_terms *terms)
{
    if (terms == NULL || --terms->reference_count > 0) {
        return;
    }
    if (terms->quota.is_taken) {
        terms->publisher->bytes -= terms->bytes;
        all->bytes -= terms->bytes;
        sx_quota_give_back(&all->quota, &terms->quota);
    }
    PMIX_INFO_FREE(terms->info, terms->ninfo);
    free(terms);
}

static void row_free(struct sx_published *all, struct sx_published_row *row)
{
    terms_release(all, row->terms);
    row->terms = NULL;
    row->is_gone = true;
    if (row->reader_count == 0) {
        PMIX_INFO_DESTRUCT(&row->info);
        free(row);
    }
}

void sx_published_retain(struct sx_published_row *row)
{
    row->reader_count++;
}

void sx_published_release(struct sx_published_row *row)
{
    if (--row->reader_count == 0 && row->is_gone) {
        PMIX_INFO_DESTRUCT(&row->info);
        free(row);
    }
}

static void row_unlink(struct sx_published *all, struct sx_published_row *row)
{
    all->walked += CHANGE_COST;
    sx_table_remove(&all->keys, &row->node);
    sx_table_remove(&all->serials, &row->by_serial);
    sx_list_remove(&row->link);
    row->publisher->row_count--;
    row->publisher->bytes -= row->bytes;
    all->bytes -= row->bytes;
    sx_quota_give_back(&all->quota, &row->quota);
    row_changed(all, row);
}

void sx_published_remove(struct sx_published *all, struct sx_published_row *row)
{
    struct sx_publisher *const publisher = row->publisher;

    row_unlink(all, row);
    row_free(all, row);
    publisher_free_unless_used(all, publisher);
}

/* ---- publishing ------------------------------------------------------------------------------ */

static enum sx_log_level loud_once(bool *logged)
{
    const enum sx_log_level level = *logged ? SX_LOG_INFO : SX_LOG_WARN;

    *logged = true;
    return level;
}

static bool has_room(struct sx_publisher *publisher, uint64_t bytes)
{
    if (publisher->row_count >= SX_PUBLISHER_ROWS_MAX ||
        publisher->bytes + bytes > SX_PUBLISHER_BYTES_MAX) {
        sx_log(loud_once(&publisher->logged),
               "%s.%u has published %zu values of %llu bytes, and may publish no more: let it take "
               "some back",
               publisher->party.who.proc.nspace, publisher->party.who.proc.rank,
               publisher->row_count, (unsigned long long)publisher->bytes);
        return false;
    }
    return true;
}

/* Whether it may be there when its job has ended. */
static bool is_lasting(pmix_persistence_t persistence)
{
    return persistence != PMIX_PERSIST_PROC && persistence != PMIX_PERSIST_APP;
}

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, logged. */
static pmix_status_t room_take(struct sx_published *all, struct sx_publisher *publisher, bool lasts,
                               uint64_t bytes, struct sx_quota_row *ret)
{
    const struct sx_party *const party = &publisher->party;
    const struct sx_quota_owner owner = { .uid = party->uid, .proc = party->who.proc };

    return has_room(publisher, bytes)
               ? sx_quota_take(&all->quota, party->is_host ? NULL : &owner, lasts, bytes, ret)
               : PMIX_ERR_OUT_OF_RESOURCE;
}

/* ---- the directives of a call ---------------------------------------------------------------- */

/* Whether @options has more than numbers. */
static bool has_terms(const struct sx_publish_options *options)
{
    return options->access.count != 0 || options->range == PMIX_RANGE_CUSTOM;
}

/* Copy the directives among @info.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t terms_copy(struct sx_published_terms *terms, const pmix_info_t info[],
                                size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo; i++) {
        terms->ninfo += !sx_publish_is_data(info[i].key);
    }
    terms->info = PMIx_Info_create(terms->ninfo);
    if (terms->info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0, at = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (!sx_publish_is_data(info[i].key)) {
            rc = PMIx_Info_xfer(&terms->info[at++], &info[i]);
        }
    }
    return rc;
}

/* Find the arrays to which the terms point. */
static pmix_status_t terms_read(struct sx_published_terms *terms)
{
    struct sx_publish_options own = { .targets = { .count = 0 } };
    struct sx_publish_access_options access = { .uids = NULL };
    pmix_status_t rc = sx_options_read(SX_OF_PUBLISH, terms->info, terms->ninfo, &own);

    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_PUBLISH_ACCESS, own.access.all, own.access.count, &access);
    }
    terms->targets = own.targets;
    terms->uids = access.uids != NULL ? access.uids->value.data.darray : NULL;
    terms->gids = access.gids != NULL ? access.gids->value.data.darray : NULL;
    sx_published_ids_sort(terms->uids);
    sx_published_ids_sort(terms->gids);
    return rc;
}

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, logged. */
static pmix_status_t terms_count(struct sx_published *all, struct sx_published_terms *terms,
                                 pmix_persistence_t persistence)
{
    struct sx_publisher *const publisher = terms->publisher;
    const size_t elements = terms->targets.count + (terms->uids != NULL ? terms->uids->size : 0) +
                            (terms->gids != NULL ? terms->gids->size : 0);

    all->walked += elements * TERM_COST;
    terms->bytes = sizeof(*terms) + terms->ninfo * sizeof(*terms->info) +
                   elements * sizeof(uint32_t) + terms->targets.count * sizeof(pmix_proc_t);
    const pmix_status_t rc = room_take(all, publisher, is_lasting(persistence), terms->bytes,
                                       &terms->quota);

    if (rc == PMIX_SUCCESS) {
        publisher->bytes += terms->bytes;
        all->bytes += terms->bytes;
    }
    return rc;
}

/* Return: PMIX_SUCCESS with *ret, NULL when there is nothing to keep; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t terms_new(struct sx_published *all, struct sx_publisher *publisher,
                               const struct sx_publish_options *options, const pmix_info_t info[],
                               size_t ninfo, struct sx_published_terms **ret)
{
    struct sx_published_terms *terms;

    *ret = NULL;
    if (!has_terms(options)) {
        return PMIX_SUCCESS;
    }
    terms = calloc(1, sizeof(*terms));
    if (terms == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    terms->reference_count = 1;
    terms->publisher = publisher;
    pmix_status_t rc = terms_copy(terms, info, ninfo);

    if (rc == PMIX_SUCCESS) {
        rc = terms_read(terms);
    }
    if (rc == PMIX_SUCCESS) {
        rc = terms_count(all, terms, options->persistence);
    }
    if (rc != PMIX_SUCCESS) {
        terms_release(all, terms);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret = terms;
    return PMIX_SUCCESS;
}

/* Return: a row for @data, whose value is not moved yet; NULL when memory is out. */
static struct sx_published_row *row_new(const struct sx_publish_options *options,
                                        struct sx_published_terms *terms, const pmix_info_t *data)
{
    struct sx_published_row *const row = calloc(1, sizeof(*row));
    size_t size = 0;

    if (row == NULL || sx_flat_size(&data->value, &size) != PMIX_SUCCESS) {
        free(row);
        return NULL;
    }
    row->range = options->range;
    row->persistence = options->persistence;
    PMIx_Load_key(row->info.key, data->key);
    row->bytes = sizeof(*row) + size;
    row->terms = terms;
    if (terms != NULL) {
        terms->reference_count++;
    }
    return row;
}

/* ---- rows of a call -------------------------------------------------------------------------- */

/* Whether @publisher may have a row more under @key.  Return: PMIX_SUCCESS;
 * PMIX_ERR_DUPLICATE_KEY; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t key_judge(struct sx_published *all, struct sx_publisher *publisher,
                               const struct sx_publish_options *options, const char *key,
                               uint64_t hash)
{
    struct sx_published_row *row = NULL;
    size_t count = 0;

    while ((row = row_next(all, key, hash, row)) != NULL) {
        if (is_duplicate(all, row, &publisher->party, options)) {
            return PMIX_ERR_DUPLICATE_KEY;
        }
        count += row->publisher->party.uid == publisher->party.uid;
    }
    if (count >= SX_PUBLISHED_KEY_ROWS_MAX) {
        sx_log(loud_once(&publisher->logged),
               "user %u has published %zu values as \"%.64s\", and may publish no more under this "
               "key: let it take some back",
               (unsigned)publisher->party.uid, count, key);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    return PMIX_SUCCESS;
}

/* Find @row by its key, whose hash this is, and by its serial.  Return: false when memory is out.
 */
static bool row_enter(struct sx_published *all, struct sx_published_row *row, uint64_t hash)
{
    row->serial = all->last_serial + 1;
    if (!sx_table_add(&all->keys, &row->node, hash)) {
        return false;
    }
    if (!sx_table_add(&all->serials, &row->by_serial, row->serial)) {
        sx_table_remove(&all->keys, &row->node);
        return false;
    }
    all->last_serial++;
    return true;
}

static pmix_status_t row_add(struct sx_published *all, struct sx_publisher *publisher,
                             const struct sx_publish_options *options,
                             struct sx_published_terms *terms, const pmix_info_t *data)
{
    const uint64_t hash = key_hash(all, data->key);
    const pmix_status_t rc = key_judge(all, publisher, options, data->key, hash);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_published_row *const row = row_new(options, terms, data);

    if (row == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (room_take(all, publisher, is_lasting(row->persistence), row->bytes, &row->quota) !=
            PMIX_SUCCESS ||
        !row_enter(all, row, hash)) {
        sx_quota_give_back(&all->quota, &row->quota);
        row_free(all, row);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    row->publisher = publisher;
    sx_list_append(&publisher->rows, &row->link);
    publisher->row_count++;
    publisher->bytes += row->bytes;
    all->bytes += row->bytes;
    all->walked += CHANGE_COST;
    return PMIX_SUCCESS;
}

pmix_status_t sx_published_add(struct sx_published *all, const struct sx_party *by,
                               const struct sx_publish_options *options, pmix_info_t info[],
                               size_t ninfo)
{
    struct sx_publisher *const publisher = publisher_obtain(all, by);
    struct sx_published_terms *terms = NULL;
    pmix_status_t rc = publisher == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                         : terms_new(all, publisher, options, info, ninfo, &terms);
    size_t count = 0;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (sx_publish_is_data(info[i].key)) {
            rc = row_add(all, publisher, options, terms, &info[i]);
            count += rc == PMIX_SUCCESS;
        }
    }
    if (publisher == NULL) {
        return rc;
    }
    /* The newest are the last of its list: fill them, or take them out again. */
    struct sx_list *it = publisher->rows.prev;

    for (size_t i = ninfo; i-- > 0 && count > 0;) {
        struct sx_published_row *const row = SX_LIST_ENTRY(it, struct sx_published_row, link);

        if (!sx_publish_is_data(info[i].key) || strcmp(row->info.key, info[i].key) != 0) {
            continue; /* data behind the refused one has no row */
        }
        it = it->prev;
        count--;
        if (rc == PMIX_SUCCESS) {
            row->info.value = info[i].value;
            info[i].value = (pmix_value_t){ .type = PMIX_UNDEF };
            row_changed(all, row);
        } else {
            row_unlink(all, row);
            row_free(all, row);
        }
    }
    terms_release(all, terms);
    publisher_free_unless_used(all, publisher);
    return rc;
}

/* ---- taking back ----------------------------------------------------------------------------- */

/* How many more rows of other processes are judged. */
struct judged {
    unsigned own, open;
};

/* Whether @row, another process's, is: rows to which @by has no access do not count. */
static bool is_to_be_judged(const struct sx_published_row *row, const struct sx_party *by,
                            struct judged *left)
{
    const bool is_own = row->publisher->party.uid == by->uid;
    unsigned *const count = is_own ? &left->own : &left->open;

    if (*count == 0 || (!is_own && !sx_published_is_open(row))) {
        return false;
    }
    --*count;
    return sx_published_has_access(row, by);
}

pmix_status_t sx_published_withdraw(struct sx_published *all, const struct sx_party *by,
                                    const char *key, pmix_data_range_t range)
{
    const uint64_t hash = key_hash(all, key);
    const struct sx_publisher *const publisher = publisher_find(all, by);
    struct sx_published_row *row = NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    struct judged left = { .own = JUDGED_OWN_MAX, .open = JUDGED_OPEN_MAX };

    while ((row = row_next(all, key, hash, row)) != NULL) {
        if (row->range != range) {
            continue;
        }
        if (row->publisher == publisher) {
            sx_published_remove(all, row);
            return PMIX_SUCCESS;
        }
        if (rc == PMIX_ERR_NOT_FOUND && is_to_be_judged(row, by, &left) &&
            sx_published_range_holds(all, row->range, sx_published_targets(row),
                                     &row->publisher->party, by)) {
            rc = PMIX_ERR_NO_PERMISSIONS;
        }
    }
    return rc;
}

typedef bool (*fits_fn)(const struct sx_published_row *row, uint64_t arg);

/* Remove those of @publisher for which @fits holds, one at least, until @walk_max rows have been
 * walked; it may go with them.  Return: whether none is left. */
static bool rows_remove_some(struct sx_published *all, struct sx_publisher *publisher, fits_fn fits,
                             uint64_t arg, uint64_t walk_max)
{
    const uint64_t before = all->walked;
    bool is_over = true;
    size_t count = 0;

    SX_LIST_EACH(it, &publisher->rows) {
        struct sx_published_row *const row = SX_LIST_ENTRY(it, struct sx_published_row, link);

        all->walked++;
        if (!fits(row, arg)) {
            continue;
        }
        is_over = count++ == 0 || all->walked - before < walk_max;
        if (!is_over) {
            break;
        }
        row_unlink(all, row);
        row_free(all, row);
    }
    publisher_free_unless_used(all, publisher);
    return is_over;
}

static bool is_in_range(const struct sx_published_row *row, uint64_t range)
{
    return range == PMIX_RANGE_UNDEF || row->range == range;
}

bool sx_published_withdraw_all(struct sx_published *all, const struct sx_party *by,
                               pmix_data_range_t range, uint64_t walk_max)
{
    struct sx_publisher *const publisher = publisher_find(all, by);

    return publisher == NULL || rows_remove_some(all, publisher, is_in_range, range, walk_max);
}

/* ---- the end of processes and jobs ----------------------------------------------------------- */

/* All rows that @publisher has now with @persistence are over. */
static void rows_end(struct sx_published *all, struct sx_publisher *publisher,
                     pmix_persistence_t persistence)
{
    publisher->over[persistence] = all->last_serial;
    sx_list_remove(&publisher->ending);
    sx_list_append(&all->ending, &publisher->ending);
}

void sx_published_proc_gone(struct sx_published *all, const pmix_proc_t *proc, uid_t uid)
{
    const struct sx_party party = { .who.proc = *proc, .uid = uid };
    struct sx_publisher *const publisher = publisher_find(all, &party);

    if (publisher == NULL) {
        return;
    }
    rows_end(all, publisher, PMIX_PERSIST_PROC);
    if (publisher->party.is_tool) {
        rows_end(all, publisher, PMIX_PERSIST_APP);
    }
}

void sx_published_app_gone(struct sx_published *all, const char *nspace, uint32_t app)
{
    SX_LIST_EACH(it, &all->publishers) {
        struct sx_publisher *const publisher = SX_LIST_ENTRY(it, struct sx_publisher, link);

        if (publisher->party.app == app && strcmp(publisher->party.who.proc.nspace, nspace) == 0) {
            rows_end(all, publisher, PMIX_PERSIST_APP);
        }
    }
}

void sx_published_nspace_gone(struct sx_published *all, const char *nspace, uint64_t session,
                              bool session_ended)
{
    SX_LIST_EACH(it, &all->publishers) {
        struct sx_publisher *const publisher = SX_LIST_ENTRY(it, struct sx_publisher, link);

        if (session_ended && publisher->party.who.session == session) {
            rows_end(all, publisher, PMIX_PERSIST_SESSION);
        }
        if (strcmp(publisher->party.who.proc.nspace, nspace) == 0) {
            rows_end(all, publisher, PMIX_PERSIST_PROC);
            rows_end(all, publisher, PMIX_PERSIST_APP);
        }
    }
}

static bool is_over_now(const struct sx_published_row *row, uint64_t unused)
{
    (void)unused;
    return is_over(row);
}

bool sx_published_over_step(struct sx_published *all, uint64_t walk_max)
{
    const uint64_t before = all->walked;

    while (!sx_list_empty(&all->ending) && all->walked - before < walk_max) {
        struct sx_publisher *const publisher = SX_LIST_ENTRY(sx_list_pop(&all->ending),
                                                             struct sx_publisher, ending);

        if (!rows_remove_some(all, publisher, is_over_now, 0, walk_max - (all->walked - before))) {
            sx_list_append(&all->ending, &publisher->ending); /* else it may have gone */
            break;
        }
    }
    return sx_list_empty(&all->ending);
}
