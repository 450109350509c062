/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wanted.c - the question of a Get, and the order of the places where its value may lie. */
#include "shmem/wanted.h"

#include <assert.h>
#include <string.h>

#include "base/status.h"
#include "base/value/value.h"
#include "shmem/nspace_read.h"

#define SX_ID_END (UINT64_C(1) << 32) /* of nodes, apps and sessions */

static_assert((int)SX_GET_JOB == (int)SX_REALM_JOB + 1 &&
                  (int)SX_GET_SESSION == (int)SX_REALM_SESSION + 1,
              "a realm that is asked for is a realm and 1");

/* ---- the question --------------------------------------------------------------------------- */

/* A key with qualifiers is looked up by the name that stands for both. */
static pmix_status_t qualify(struct sx_wanted *wanted, const pmix_info_t *info, size_t ninfo)
{
    if (wanted->key == NULL || wanted->realm != SX_REALM_JOB) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "a PMIx_Get with qualifiers needs a key, and a process or job");
    }
    const pmix_status_t rc = sx_qualified_name(wanted->key, wanted->key_len, info, ninfo,
                                               wanted->name);

    wanted->realm = SX_REALM_QUALIFIED;
    wanted->key = wanted->name;
    wanted->key_len = SX_QUALIFIED_NAME_LEN;
    return rc;
}

/* No store has the asker's identity; its rank may be left open or, as it is unknown, be INVALID. */
static pmix_status_t rank_read(struct sx_wanted *wanted, pmix_rank_t rank)
{
    wanted->rank = rank;
    if (rank < PMIX_RANK_VALID || rank == PMIX_RANK_WILDCARD) {
        return PMIX_SUCCESS;
    }
    if ((rank == PMIX_RANK_UNDEF || rank == PMIX_RANK_INVALID) && wanted->reserved &&
        (strcmp(wanted->key, PMIX_RANK) == 0 || strcmp(wanted->key, PMIX_PROCID) == 0)) {
        wanted->rank = PMIX_RANK_INVALID;
        return PMIX_SUCCESS;
    }
    return rank == PMIX_RANK_UNDEF ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* Which node, app or session is meant. */
static bool is_named(const struct sx_get_options *options, enum sx_realm realm)
{
    return options->id[realm - SX_REALM_NODE].given ||
           (realm == SX_REALM_NODE && options->hostname != NULL);
}

static pmix_status_t directives_read(struct sx_wanted *wanted, enum sx_function function,
                                     const pmix_info_t *info, size_t ninfo)
{
    const pmix_status_t rc = sx_options_read(function, info, ninfo, &wanted->options);

    if (rc == PMIX_SUCCESS && wanted->options.realm != SX_GET_ANY) {
        wanted->realm = (enum sx_realm)(wanted->options.realm - 1);
    } else if (wanted->reserved) {
        for (enum sx_realm realm = SX_REALM_NODE; realm <= SX_REALM_SESSION; realm++) {
            wanted->names_row |= is_named(&wanted->options, realm);
        }
    }
    return rc == PMIX_SUCCESS && sx_qualified_asked(info, ninfo) ? qualify(wanted, info, ninfo)
                                                                 : rc;
}

pmix_status_t sx_wanted_read(struct sx_wanted *wanted, enum sx_function function, pmix_rank_t rank,
                             const char *key, const pmix_info_t *info, size_t ninfo)
{
    /* Only some fields are cleared: those set below, and the name, are not.  For clearing all,
     * compilers use a string instruction, whose start alone costs as much as a probe. */
    const size_t from = offsetof(struct sx_wanted, reserved);

    memset((char *)wanted + from, 0, offsetof(struct sx_wanted, name) - from);
    wanted->key = key;
    wanted->key_len = 0;
    if (key != NULL) {
        wanted->key_len = strnlen(key, PMIX_MAX_KEYLEN + 1);
        if (wanted->key_len == 0 || wanted->key_len > PMIX_MAX_KEYLEN) {
            return PMIX_ERR_BAD_PARAM;
        }
        wanted->reserved = wanted->key_len >= 4 && memcmp(key, "pmix", 4) == 0;
    }
    const pmix_status_t rc = rank_read(wanted, rank);

    return rc != PMIX_SUCCESS || ninfo == 0 ? rc : directives_read(wanted, function, info, ninfo);
}

bool sx_wanted_is_static(const pmix_info_t *info, size_t ninfo)
{
    const pmix_info_t *const asked = sx_info_find(info, ninfo, PMIX_GET_STATIC_VALUES);

    return asked != NULL && sx_value_is_true(&asked->value);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* A number of the asker's: its own cell's, else the job's. */
static bool own_number(const struct sx_site *site, const char *key, uint32_t *ret)
{
    return (site->self != PMIX_RANK_INVALID &&
            sx_site_number(site, SX_REALM_JOB, site->self, key, SX_STORE_ROW_MAX, ret)) ||
           sx_site_number(site, SX_REALM_JOB, SX_ROW_JOB, key, SX_STORE_ROW_MAX, ret);
}

static bool node_row(const struct sx_site *site, const char *name, uint32_t *ret)
{
    const uint32_t count = sx_site_count(site, PMIX_NUM_NODES);

    *ret = name != NULL ? sx_site_node(site, count, name) : count;
    return *ret < count;
}

bool sx_session_row(const struct sx_site *site, uint32_t id, uint32_t *ret_row)
{
    uint32_t free_row = SX_SESSION_COUNT_MAX, has;
    uint32_t job_has = 0;
    const bool notified = sx_site_number(site, SX_REALM_JOB, SX_ROW_JOB, PMIX_SESSION_ID, SX_ID_END,
                                         &job_has);

    for (uint32_t row = 0; row < SX_SESSION_COUNT_MAX; row++) {
        bool known = sx_site_number(site, SX_REALM_SESSION, row, PMIX_SESSION_ID, SX_ID_END, &has);

        if (!known && row == 0 && notified) { /* the job's own value names its session */
            known = true;
            has = job_has;
        }
        if (known && has == id) {
            *ret_row = row;
            return true;
        }
        if (!known && free_row == SX_SESSION_COUNT_MAX) {
            free_row = row;
        }
    }
    *ret_row = free_row;
    return false;
}

/* A job whose session has no number has but one, under any number. */
static bool session_row(const struct sx_site *site, uint32_t id, uint32_t *ret)
{
    return sx_session_row(site, id, ret) || *ret == 0;
}

/* The own row: of this process, or of the host whose job this is. */
static bool own_row(const struct sx_site *site, enum sx_realm realm, uint32_t *ret)
{
    switch (realm) {
    case SX_REALM_NODE:
        return own_number(site, PMIX_NODEID, ret) ||
               node_row(site, sx_site_text(site, SX_REALM_JOB, SX_ROW_JOB, PMIX_HOSTNAME), ret);
    case SX_REALM_APP:
        if (!own_number(site, PMIX_APPNUM, ret)) {
            *ret = 0;
        }
        return true;
    default:
        *ret = 0;
        return realm == SX_REALM_SESSION;
    }
}

/* The row of a node, an app or a session. */
static bool realm_row(const struct sx_wanted *wanted, const struct sx_site *site,
                      enum sx_realm realm, uint32_t *ret)
{
    if (wanted->options.id[realm - SX_REALM_NODE].given) {
        *ret = wanted->options.id[realm - SX_REALM_NODE].number;
        return realm != SX_REALM_SESSION ||
               session_row(site, wanted->options.id[realm - SX_REALM_NODE].number, ret);
    }
    if (realm == SX_REALM_NODE && wanted->options.hostname != NULL) {
        return node_row(site, wanted->options.hostname, ret);
    }
    if (realm == SX_REALM_APP && wanted->realm == SX_REALM_JOB && wanted->rank < PMIX_RANK_VALID &&
        sx_site_number(site, SX_REALM_JOB, wanted->rank, PMIX_APPNUM, SX_STORE_ROW_MAX, ret)) {
        return true; /* the key alone implies the realm, and the rank names one of its rows */
    }
    return own_row(site, realm, ret);
}

/* Whether a store has any value in the row of a node or an app: a host may count its nodes from any
 * number, and register few of them. */
static bool row_exists(const struct sx_site *site, enum sx_realm realm, uint32_t row)
{
    static const char *const keys[][3] = {
        [SX_REALM_NODE] = { PMIX_NUM_NODES, PMIX_HOSTNAME, PMIX_NODEID },
        [SX_REALM_APP] = { PMIX_JOB_NUM_APPS, PMIX_APP_SIZE, PMIX_APPNUM },
    };
    struct sx_item item;
    uint32_t own;
    bool exists = row < sx_site_count(site, keys[realm][0]) ||
                  (own_row(site, realm, &own) && row == own);

    for (size_t i = 1; i < SX_COUNT(keys[realm]) && !exists; i++) {
        const struct sx_columns columns = sx_columns_of(site, realm, keys[realm][i],
                                                        strlen(keys[realm][i]));

        exists = sx_columns_read(&columns, row, &item) == PMIX_SUCCESS;
    }
    return exists;
}

/* ---- finding ------------------------------------------------------------------------------ */

static pmix_status_t find_in_realm(const struct sx_wanted *wanted, const struct sx_site *site,
                                   enum sx_realm realm, struct sx_item *ret)
{
    const struct sx_columns columns = sx_columns_of(site, realm, wanted->key, wanted->key_len);
    uint32_t row;

    return sx_columns_exist(&columns) && realm_row(wanted, site, realm, &row)
               ? sx_columns_read(&columns, row, ret)
               : PMIX_ERR_NOT_FOUND;
}

/* A node, an app or a session that was asked for.  For the own one the job's value counts as
 * well. */
static pmix_status_t find_in_named(const struct sx_wanted *wanted, const struct sx_site *site,
                                   struct sx_item *ret)
{
    pmix_status_t rc = find_in_realm(wanted, site, wanted->realm, ret);
    uint32_t row, own;

    if (rc == PMIX_ERR_NOT_FOUND && realm_row(wanted, site, wanted->realm, &row) &&
        own_row(site, wanted->realm, &own) && row == own) {
        const struct sx_columns columns = sx_columns_of(site, SX_REALM_JOB, wanted->key,
                                                        wanted->key_len);

        rc = sx_columns_read(&columns, SX_ROW_JOB, ret);
    }
    return rc;
}

/* A key that any process of the job has. */
static pmix_status_t find_anywhere(const struct sx_columns *columns, struct sx_item *ret)
{
    const struct sx_site *const site = columns->site;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (site->self != PMIX_RANK_INVALID) {
        rc = sx_columns_read(columns, site->self, ret);
    }
    if (rc == PMIX_ERR_NOT_FOUND && sx_columns_exist(columns)) {
        const uint32_t rank_count = sx_site_count(site, PMIX_JOB_SIZE);

        for (uint32_t rank = 0; rank < rank_count && rc == PMIX_ERR_NOT_FOUND; rank++) {
            rc = sx_columns_read(columns, rank, ret);
        }
    }
    return rc;
}

static pmix_status_t find_in_job(const struct sx_wanted *wanted, const struct sx_site *site,
                                 struct sx_item *ret)
{
    const struct sx_columns columns = sx_columns_of(site, wanted->realm, wanted->key,
                                                    wanted->key_len);

    if (wanted->rank < PMIX_RANK_VALID) {
        const pmix_status_t rc = sx_columns_read(&columns, wanted->rank, ret);

        if (rc != PMIX_ERR_NOT_FOUND || !wanted->reserved) {
            return rc;
        }
    }
    pmix_status_t rc = sx_columns_read(&columns, SX_ROW_JOB, ret);
    if (rc == PMIX_ERR_NOT_FOUND && (wanted->rank == PMIX_RANK_UNDEF ||
                                     (wanted->rank == PMIX_RANK_WILDCARD && !wanted->reserved))) {
        rc = find_anywhere(&columns, ret);
    }
    /* Keys of the node, app and session are known by their names, without a directive. */
    if (rc == PMIX_ERR_NOT_FOUND && wanted->reserved && wanted->options.realm != SX_GET_JOB &&
        wanted->realm == SX_REALM_JOB) {
        for (enum sx_realm realm = SX_REALM_NODE;
             realm <= SX_REALM_SESSION && rc == PMIX_ERR_NOT_FOUND; realm++) {
            rc = find_in_realm(wanted, site, realm, ret);
        }
    }
    return rc;
}

/* In the row that is named.  Return: PMIX_ERR_NOT_FOUND, and *ret_go_on false, if it does not
 * exist, or lacks a key that others of its realm have: the own row is not an answer then. */
static pmix_status_t find_in_row(const struct sx_wanted *wanted, const struct sx_site *site,
                                 enum sx_realm realm, struct sx_item *ret, bool *ret_go_on)
{
    const struct sx_columns columns = sx_columns_of(site, realm, wanted->key, wanted->key_len);
    uint32_t row, own;

    if (!realm_row(wanted, site, realm, &row) ||
        (realm != SX_REALM_SESSION && !row_exists(site, realm, row))) {
        *ret_go_on = false;
        return PMIX_ERR_NOT_FOUND;
    }
    *ret_go_on = !sx_columns_exist(&columns) || (own_row(site, realm, &own) && row == own);
    return sx_columns_read(&columns, row, ret);
}

static bool is_in_job(const struct sx_wanted *wanted)
{
    return wanted->realm == SX_REALM_JOB || wanted->realm == SX_REALM_QUALIFIED;
}

static inline pmix_status_t find_unnamed(const struct sx_wanted *wanted, const struct sx_site *site,
                                         struct sx_item *ret)
{
    return is_in_job(wanted) ? find_in_job(wanted, site, ret) : find_in_named(wanted, site, ret);
}

/* A node, an app or a session is named, and the key alone implies its realm.  Rare, and so kept out
 * of the path of all other Gets. */
__attribute__((cold)) static pmix_status_t
find_by_names(const struct sx_wanted *wanted, const struct sx_site *site, struct sx_item *ret)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    bool go_on = true;

    for (enum sx_realm realm = SX_REALM_NODE;
         realm <= SX_REALM_SESSION && rc == PMIX_ERR_NOT_FOUND && go_on; realm++) {
        if (is_named(&wanted->options, realm)) {
            rc = find_in_row(wanted, site, realm, ret, &go_on);
        }
    }
    return rc == PMIX_ERR_NOT_FOUND && go_on ? find_unnamed(wanted, site, ret) : rc;
}

pmix_status_t sx_wanted_find(const struct sx_wanted *wanted, const struct sx_site *site,
                             struct sx_item *ret)
{
    if (wanted->rank == PMIX_RANK_INVALID) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = __builtin_expect(wanted->names_row, 0)
                                 ? find_by_names(wanted, site, ret)
                                 : find_unnamed(wanted, site, ret);

    if (rc == PMIX_SUCCESS && wanted->options.scope != PMIX_SCOPE_UNDEF &&
        !sx_item_has_scope(ret, wanted->options.scope)) {
        return PMIX_ERR_EXISTS_OUTSIDE_SCOPE;
    }
    return rc;
}

pmix_status_t sx_wanted_collect(const struct sx_wanted *wanted, const struct sx_site *site,
                                pmix_value_t *ret)
{
    uint32_t row = wanted->rank == PMIX_RANK_UNDEF ? SX_ROW_JOB : wanted->rank;
    const bool known = is_in_job(wanted) ? row != PMIX_RANK_INVALID
                                         : realm_row(wanted, site, wanted->realm, &row);

    return known ? sx_collect(site, wanted->realm, row, wanted->options.scope, ret)
                 : PMIX_ERR_NOT_FOUND;
}

/* ---- names -------------------------------------------------------------------------------- */

bool sx_wanted_rank(const struct sx_wanted *wanted, const struct sx_site *site, uint32_t *ret_rank)
{
    const bool is_asker = wanted->rank == PMIX_RANK_UNDEF || wanted->rank == PMIX_RANK_INVALID;
    const uint32_t size = sx_site_count(site, PMIX_JOB_SIZE);

    *ret_rank = is_asker ? site->self : wanted->rank;
    return *ret_rank < PMIX_RANK_VALID && (size == 0 || *ret_rank < size);
}

pmix_status_t sx_wanted_name(const struct sx_wanted *wanted, const struct sx_site *site,
                             const char *nspace, pmix_value_t *ret)
{
    pmix_proc_t proc;

    if (wanted->realm != SX_REALM_JOB || wanted->key == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (strcmp(wanted->key, PMIX_NSPACE) == 0) {
        return sx_value_load(ret, nspace, PMIX_STRING);
    }
    const bool is_rank = strcmp(wanted->key, PMIX_RANK) == 0;
    if ((!is_rank && strcmp(wanted->key, PMIX_PROCID) != 0) ||
        !sx_wanted_rank(wanted, site, &proc.rank)) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (is_rank) {
        return sx_value_load(ret, &proc.rank, PMIX_PROC_RANK);
    }
    memset(proc.nspace, 0, sizeof(proc.nspace));
    memcpy(proc.nspace, nspace, strnlen(nspace, PMIX_MAX_NSLEN));
    return sx_value_load(ret, &proc, PMIX_PROC);
}
