/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.c - where a value lies: which namespace, realm and row, private store before shared.
 *
 *     rank given        that process's cell, then for reserved keys the job's
 *     WILDCARD          the job's cell, then for reserved keys the own node's, app's, session's
 *     UNDEF (or NULL)   the job's, our own, then any process's
 *     node/app/session  the row that was named, else our own
 *
 * Everything here reads mapped memory only; what has to be asked of the server is get.c's. */
#include "client/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/value.h"
#include "shmem/collect.h"

/* ---- parsing ------------------------------------------------------------------------------ */

static pmix_status_t row_of(struct sx_lookup *lookup, const pmix_value_t *value)
{
    uint64_t row;
    const pmix_status_t rc = sx_value_get_uint(value, &row);

    if (rc != PMIX_SUCCESS || row >= UINT32_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    lookup->row = (uint32_t)row;
    lookup->has_row = true;
    return PMIX_SUCCESS;
}

static pmix_status_t timeout_of(struct sx_lookup *lookup, const pmix_value_t *value)
{
    uint64_t seconds;
    const pmix_status_t rc = sx_value_get_uint(value, &seconds);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    lookup->timeout_ns = seconds > SX_DEADLINE_NEVER / SX_NS_PER_SEC ? SX_DEADLINE_NEVER
                                                                     : seconds * SX_NS_PER_SEC;
    return PMIX_SUCCESS;
}

/* How many values to wait for: a key has one, and 0 means all.  More cannot come. */
static pmix_status_t parse_wait(struct sx_lookup *lookup, const pmix_value_t *value)
{
    uint64_t count;
    const pmix_status_t rc = sx_value_get_uint(value, &count);

    lookup->waits = rc == PMIX_SUCCESS && count <= 1;
    return lookup->waits ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t parse_string(const pmix_value_t *value, const char **ret)
{
    if (value->type != PMIX_STRING || value->data.string == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret = value->data.string;
    return PMIX_SUCCESS;
}

static pmix_status_t parse_scope(const pmix_value_t *value, pmix_scope_t *ret)
{
    if (value->type != PMIX_SCOPE || value->data.scope > PMIX_INTERNAL) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret = value->data.scope;
    return PMIX_SUCCESS;
}

static void parse_realm(struct sx_lookup *lookup, const pmix_value_t *value, enum sx_realm realm)
{
    if (sx_value_is_true(value)) {
        lookup->realm = realm;
    }
}

static pmix_status_t parse_info(struct sx_lookup *lookup, const pmix_info_t *info)
{
    const pmix_value_t *const value = &info->value;
    const char *const key = info->key;

    if ((info->flags & PMIX_INFO_QUALIFIER) != 0) {
        return PMIX_SUCCESS; /* part of what is asked for, no directive */
    }
    if (strcmp(key, PMIX_OPTIONAL) == 0) {
        lookup->optional = sx_value_is_true(value);
    } else if (strcmp(key, PMIX_IMMEDIATE) == 0) {
        lookup->immediate = sx_value_is_true(value);
    } else if (strcmp(key, PMIX_WAIT) == 0) {
        return parse_wait(lookup, value);
    } else if (strcmp(key, PMIX_TIMEOUT) == 0) {
        return timeout_of(lookup, value);
    } else if (strcmp(key, PMIX_DATA_SCOPE) == 0) {
        return parse_scope(value, &lookup->scope);
    } else if (strcmp(key, PMIX_GET_STATIC_VALUES) == 0) {
        lookup->is_static = sx_value_is_true(value);
    } else if (strcmp(key, PMIX_GET_POINTER_VALUES) == 0) {
        lookup->is_pointers = sx_value_is_true(value);
    } else if (strcmp(key, PMIX_JOB_INFO) == 0) {
        lookup->job_only = sx_value_is_true(value);
        parse_realm(lookup, value, SX_REALM_JOB);
    } else if (strcmp(key, PMIX_NODE_INFO) == 0) {
        parse_realm(lookup, value, SX_REALM_NODE);
    } else if (strcmp(key, PMIX_APP_INFO) == 0) {
        parse_realm(lookup, value, SX_REALM_APP);
    } else if (strcmp(key, PMIX_SESSION_INFO) == 0) {
        parse_realm(lookup, value, SX_REALM_SESSION);
    } else if (strcmp(key, PMIX_NODEID) == 0 || strcmp(key, PMIX_APPNUM) == 0 ||
               strcmp(key, PMIX_SESSION_ID) == 0) {
        return row_of(lookup, value);
    } else if (strcmp(key, PMIX_HOSTNAME) == 0) {
        return parse_string(value, &lookup->hostname);
    } else if (strcmp(key, PMIX_GET_REFRESH_CACHE) != 0 && /* what is mapped is always fresh */
               (info->flags & PMIX_INFO_REQD) != 0) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t parse_proc(struct sx_lookup *lookup, const pmix_proc_t *proc)
{
    const struct sx_process *const p = &sx_process;

    lookup->view = p->own;
    lookup->nspace = p->self.nspace;
    lookup->rank = proc != NULL ? proc->rank : PMIX_RANK_UNDEF;
    /* Most questions are about our own job. */
    if (proc == NULL || memcmp(proc->nspace, p->self.nspace, p->nspace_len + 1) == 0 ||
        proc->nspace[0] == '\0') {
        return PMIX_SUCCESS;
    }
    const size_t len = sx_name_len(proc->nspace, sizeof(proc->nspace));
    if (len >= sizeof(proc->nspace)) {
        return PMIX_ERR_BAD_PARAM;
    }
    lookup->view = sx_view_find(proc->nspace, len);
    lookup->nspace = proc->nspace;
    return PMIX_SUCCESS;
}

/* A key with qualifiers is looked up by the name that stands for both. */
static pmix_status_t qualify(struct sx_lookup *lookup, const pmix_info_t *info, size_t ninfo)
{
    if (lookup->key == NULL || lookup->realm != SX_REALM_JOB) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "a PMIx_Get with qualifiers needs a key, and a process or job");
    }
    const pmix_status_t rc = sx_qualified_name(lookup->key, lookup->key_len, info, ninfo,
                                               lookup->name);

    lookup->realm = SX_REALM_QUALIFIED;
    lookup->key = lookup->name;
    lookup->key_len = SX_QUALIFIED_NAME_LEN;
    return rc;
}

pmix_status_t sx_lookup_init(struct sx_lookup *lookup, const pmix_proc_t *proc, const char *key,
                             const pmix_info_t *info, size_t ninfo)
{
    *lookup = (struct sx_lookup){ .key = key };
    if (info == NULL && ninfo != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (key != NULL) {
        if (!sx_key_is_valid(key, &lookup->key_len)) {
            return PMIX_ERR_BAD_PARAM;
        }
        lookup->reserved = strncmp(key, "pmix", 4) == 0;
    }
    pmix_status_t rc = parse_proc(lookup, proc);
    if (rc == PMIX_SUCCESS && lookup->rank >= PMIX_RANK_VALID &&
        lookup->rank != PMIX_RANK_WILDCARD && lookup->rank != PMIX_RANK_UNDEF) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (sx_name_len(info[i].key, sizeof(info[i].key)) >= sizeof(info[i].key)) {
            return PMIX_ERR_BAD_PARAM;
        }
        rc = parse_info(lookup, &info[i]);
    }
    if (rc == PMIX_SUCCESS && sx_qualified_asked(info, ninfo)) {
        rc = qualify(lookup, info, ninfo);
    }
    return rc;
}

/* ---- finding ------------------------------------------------------------------------------ */

/* One key in the two stores of a view. */
struct columns {
    const struct sx_store *priv, *shared;
    sx_column priv_column, shared_column;
};

static void columns_init(struct columns *columns, const struct sx_view *view, enum sx_realm realm,
                         const char *key, size_t key_len)
{
    const uint64_t hash = sx_store_hash(realm, key, key_len);

    columns->priv = sx_view_private(view);
    columns->shared = sx_view_shared(view);
    columns->priv_column = 0;
    columns->shared_column = 0;
    if (columns->priv != NULL) {
        columns->priv_column = sx_store_column_hashed(columns->priv, hash, realm, key, key_len);
    }
    if (columns->shared != NULL) {
        columns->shared_column = sx_store_column_hashed(columns->shared, hash, realm, key, key_len);
    }
}

static pmix_status_t columns_read(const struct columns *columns, uint32_t row, struct sx_item *ret)
{
    if (columns->priv_column != 0) {
        const pmix_status_t rc = sx_store_read(columns->priv, columns->priv_column, row, ret);

        if (rc == PMIX_SUCCESS) {
            sx_box_peek(ret);
        }
        if (rc != PMIX_ERR_NOT_FOUND) {
            return rc;
        }
    }
    if (columns->shared_column == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = sx_store_read(columns->shared, columns->shared_column, row, ret);
    /* Nobody else's box is taken for one of ours. */
    return rc == PMIX_SUCCESS && sx_box_of(ret) != NULL ? PMIX_ERR_UNPACK_FAILURE : rc;
}

/* A number of our own: this process's cell, else the job's. */
static bool own_number(const char *key, uint32_t *ret)
{
    struct columns columns;
    struct sx_item item;

    columns_init(&columns, sx_process.own, SX_REALM_JOB, key, strlen(key));
    pmix_status_t rc = columns_read(&columns, sx_process.self.rank, &item);
    if (rc == PMIX_ERR_NOT_FOUND) {
        rc = columns_read(&columns, SX_ROW_JOB, &item);
    }
    if (rc != PMIX_SUCCESS || item.cell.len != 0 || item.cell.bits >= UINT32_MAX) {
        return false;
    }
    *ret = (uint32_t)item.cell.bits;
    return true;
}

/* The job's number of @key, 0 when unknown. */
static uint32_t job_number(const struct sx_view *view, const char *key)
{
    struct columns columns;
    struct sx_item item;

    columns_init(&columns, view, SX_REALM_JOB, key, strlen(key));
    if (columns_read(&columns, SX_ROW_JOB, &item) != PMIX_SUCCESS || item.cell.len != 0 ||
        item.cell.bits > SX_STORE_ROW_MAX) {
        return 0;
    }
    return (uint32_t)item.cell.bits;
}

static bool node_row_by_name(const struct sx_lookup *lookup, uint32_t *ret)
{
    const uint32_t node_count = job_number(lookup->view, PMIX_NUM_NODES);
    const size_t size = strlen(lookup->hostname) + 1;
    struct columns columns;
    struct sx_item item;

    columns_init(&columns, lookup->view, SX_REALM_NODE, PMIX_HOSTNAME, strlen(PMIX_HOSTNAME));
    for (uint32_t row = 0; row < node_count; row++) {
        if (columns_read(&columns, row, &item) == PMIX_SUCCESS && item.cell.len == size &&
            memcmp(item.body, lookup->hostname, size) == 0) {
            *ret = row;
            return true;
        }
    }
    return false;
}

/* The row of a node, an app or a session. */
static bool realm_row(const struct sx_lookup *lookup, enum sx_realm realm, uint32_t *ret)
{
    if (lookup->has_row) {
        *ret = lookup->row;
        return true;
    }
    switch (realm) {
    case SX_REALM_NODE:
        if (lookup->hostname != NULL) {
            return node_row_by_name(lookup, ret);
        }
        return own_number(PMIX_NODEID, ret);
    case SX_REALM_APP:
        return own_number(PMIX_APPNUM, ret);
    case SX_REALM_SESSION:
        *ret = 0;
        (void)own_number(PMIX_SESSION_ID, ret);
        return true;
    default:
        return false;
    }
}

static pmix_status_t find_in_realm(const struct sx_lookup *lookup, enum sx_realm realm,
                                   struct sx_item *ret)
{
    struct columns columns;
    uint32_t row;

    columns_init(&columns, lookup->view, realm, lookup->key, lookup->key_len);
    if ((columns.priv_column == 0 && columns.shared_column == 0) ||
        !realm_row(lookup, realm, &row)) {
        return PMIX_ERR_NOT_FOUND;
    }
    return columns_read(&columns, row, ret);
}

/* A key that some process of the job has, whichever. */
static pmix_status_t find_anywhere(const struct sx_lookup *lookup, const struct columns *columns,
                                   struct sx_item *ret)
{
    pmix_status_t rc = columns_read(columns, sx_process.self.rank, ret);

    if (rc == PMIX_ERR_NOT_FOUND && (columns->priv_column != 0 || columns->shared_column != 0)) {
        const uint32_t rank_count = job_number(lookup->view, PMIX_JOB_SIZE);

        for (uint32_t rank = 0; rank < rank_count && rc == PMIX_ERR_NOT_FOUND; rank++) {
            rc = columns_read(columns, rank, ret);
        }
    }
    return rc;
}

static pmix_status_t find_in_job(const struct sx_lookup *lookup, struct sx_item *ret)
{
    struct columns columns;

    columns_init(&columns, lookup->view, lookup->realm, lookup->key, lookup->key_len);
    if (lookup->rank < PMIX_RANK_VALID) {
        const pmix_status_t rc = columns_read(&columns, lookup->rank, ret);

        if (rc != PMIX_ERR_NOT_FOUND || !lookup->reserved) {
            return rc;
        }
    }
    pmix_status_t rc = columns_read(&columns, SX_ROW_JOB, ret);
    if (rc == PMIX_ERR_NOT_FOUND && lookup->rank == PMIX_RANK_UNDEF) {
        rc = find_anywhere(lookup, &columns, ret);
    }
    /* Keys of the node, app and session are known by their names, without a directive. */
    if (rc == PMIX_ERR_NOT_FOUND && lookup->reserved && !lookup->job_only &&
        lookup->realm == SX_REALM_JOB) {
        for (enum sx_realm realm = SX_REALM_NODE;
             realm <= SX_REALM_SESSION && rc == PMIX_ERR_NOT_FOUND; realm++) {
            rc = find_in_realm(lookup, realm, ret);
        }
    }
    return rc;
}

static bool scope_holds(pmix_scope_t asked, pmix_scope_t has)
{
    if (asked == PMIX_SCOPE_UNDEF || has == PMIX_SCOPE_UNDEF || asked == has) {
        return true;
    }
    return asked == PMIX_GLOBAL ? has != PMIX_INTERNAL
                                : asked != PMIX_INTERNAL && has == PMIX_GLOBAL;
}

pmix_status_t sx_lookup_find(const struct sx_lookup *lookup, struct sx_item *ret)
{
    if (lookup->view == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    const bool in_job = lookup->realm == SX_REALM_JOB || lookup->realm == SX_REALM_QUALIFIED;
    const pmix_status_t rc = in_job ? find_in_job(lookup, ret)
                                    : find_in_realm(lookup, lookup->realm, ret);
    if (rc == PMIX_SUCCESS && lookup->scope != PMIX_SCOPE_UNDEF &&
        !scope_holds(lookup->scope, sx_item_scope(ret))) {
        return PMIX_ERR_EXISTS_OUTSIDE_SCOPE;
    }
    return rc;
}

/* ---- everything of one row ---------------------------------------------------------------- */

static bool is_wanted(void *arg, struct sx_item *item)
{
    const struct sx_lookup *const lookup = arg;

    return scope_holds(lookup->scope, sx_item_scope(item));
}

/* In a private store; data_lock is held. */
static bool is_wanted_open(void *arg, struct sx_item *item)
{
    sx_box_open(item, false);
    return is_wanted(arg, item);
}

pmix_status_t sx_lookup_collect(struct sx_lookup *lookup, pmix_value_t *ret)
{
    struct sx_collect all = { .realm = lookup->realm,
                              .arg = lookup,
                              .row = lookup->rank == PMIX_RANK_UNDEF ? SX_ROW_JOB : lookup->rank };

    if (lookup->view == NULL ||
        (lookup->realm != SX_REALM_JOB && !realm_row(lookup, lookup->realm, &all.row))) {
        return PMIX_ERR_NOT_FOUND;
    }
    const struct sx_store *const priv = sx_view_private(lookup->view);
    const struct sx_store *const shared = sx_view_shared(lookup->view);
    if (priv != NULL) {
        pthread_mutex_lock(&sx_process.data_lock);
        all.wants = is_wanted_open;
        sx_collect_add(&all, priv);
        pthread_mutex_unlock(&sx_process.data_lock);
    }
    if (shared != NULL) {
        all.wants = is_wanted;
        sx_collect_add(&all, shared);
    }
    return sx_collect_take(&all, ret);
}
