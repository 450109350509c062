/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.c - PMIx_Publish, PMIx_Lookup and PMIx_Unpublish, blocking or not.
 *
 * Mistakes are found here, so that they are in the caller's own log.  A lookup searches memory
 * first, and sends a request if a value is missing.  The server times a lookup that waits. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/publish.h"
#include "base/log.h"
#include "base/status.h"
#include "base/value/value.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/manage/manage.h"
#include "control/message.h"
#include "shmem/published.h"

/* ---- plain reads ----------------------------------------------------------------------------- */

/* Read published values without a message.
 *
 *     UNUSED --a lookup was answered with a value--> WORTH_IT --a store is there--> plain reads
 *                                                       \--there is none--> NEVER
 *
 * The store of the values that this user's processes may see is mapped at the second lookup:
 * many processes look a value up once, and never again.  Several keys must be read as of one
 * moment: they are read twice, and the values of the first time must still be there. */

#define KEYS_MAX 16u /* of one call; for more, a message is cheaper */

/* A lookup at @link's server was answered with a value. */
static void memory_pays(struct sx_link *link)
{
    uint32_t unused = SX_PUBLISHED_UNUSED;

    atomic_compare_exchange_strong(&link->published, &unused, SX_PUBLISHED_WORTH_IT);
}

/* Whether it is worth trying to read from memory. */
static bool memory_is_used(const struct sx_link *link)
{
    /* relaxed: only this process uses the mark. */
    return atomic_load_explicit(&link->published, memory_order_relaxed) == SX_PUBLISHED_WORTH_IT &&
           sx_link_is_live(link);
}

/* Return: PMIX_SUCCESS; as sx_published_see. */
static pmix_status_t see_all(const struct sx_store *store, const pmix_pdata_t data[], size_t ndata,
                             const struct sx_publish_who *self,
                             const struct sx_lookup_options *options,
                             struct sx_published_seen seen[])
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ndata && rc == PMIX_SUCCESS; i++) {
        const size_t len = sx_name_len(data[i].key, sizeof(data[i].key));

        rc = len == 0 || len > PMIX_MAX_KEYLEN
                 ? PMIX_ERR_BAD_PARAM
                 : sx_published_see(store, data[i].key, len, self, options, &seen[i]);
    }
    return rc;
}

static pmix_status_t see_at_once(const struct sx_store *store, const pmix_pdata_t data[],
                                 size_t ndata, const struct sx_lookup_options *options,
                                 struct sx_published_seen seen[])
{
    struct sx_publish_who self = { .proc = sx_process.self };
    struct sx_published_seen again[KEYS_MAX];
    pmix_status_t rc = sx_published_session(store, &self);

    if (rc == PMIX_SUCCESS) {
        rc = see_all(store, data, ndata, &self, options, seen);
    }
    if (rc == PMIX_SUCCESS && ndata > 1) {
        rc = see_all(store, data, ndata, &self, options, again);
        for (size_t i = 0; i < ndata && rc == PMIX_SUCCESS; i++) {
            rc = again[i].serial == seen[i].serial ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
        }
    }
    return rc;
}

/* Return: PMIX_SUCCESS; as sx_flat_decode, and then there is nothing to free. */
static pmix_status_t data_read(pmix_pdata_t data[], size_t ndata,
                               const struct sx_published_seen seen[])
{
    for (size_t i = 0; i < ndata; i++) {
        const pmix_status_t rc = sx_flat_decode(&data[i].value, &seen[i].cell, seen[i].body,
                                                seen[i].cell.len);

        if (rc != PMIX_SUCCESS) {
            while (i-- > 0) {
                PMIx_Value_destruct(&data[i].value);
                data[i].value = (pmix_value_t){ .type = PMIX_UNDEF };
            }
            return rc;
        }
        data[i].proc = seen[i].by.proc;
    }
    return PMIX_SUCCESS;
}

/* Look up all of @data, as @options say, if no message is needed.  Return: PMIX_SUCCESS, and @data
 * is filled; PMIX_ERR_NOT_FOUND, without a log line, when the server has to be asked. */
static pmix_status_t memory_read(struct sx_link *link, pmix_pdata_t data[], size_t ndata,
                                 const struct sx_lookup_options *options)
{
    struct sx_published_seen seen[KEYS_MAX];
    const struct sx_store *store;
    struct sx_grace grace;

    if (ndata > KEYS_MAX) {
        return PMIX_ERR_NOT_FOUND;
    }
    pmix_status_t rc = sx_view_enter(link, SX_WANT_PUBLISHED, &grace, &store);

    if (rc != PMIX_SUCCESS) {
        atomic_store_explicit(&link->published, SX_PUBLISHED_NEVER, memory_order_relaxed);
        return PMIX_ERR_NOT_FOUND;
    }
    rc = see_at_once(store, data, ndata, options, seen);
    if (rc == PMIX_SUCCESS) {
        rc = data_read(data, ndata, seen);
    }
    sx_grace_exit(&grace);
    return rc == PMIX_SUCCESS ? rc : PMIX_ERR_NOT_FOUND;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Keys to be sent, as infos without values.  A zeroed struct has none. */
struct keys {
    pmix_info_t *all;
    size_t count;
};

/* ---- a host that is not a client ------------------------------------------------------------- */

/* These calls never wait, so a non-blocking call is over when it returns. */
static pmix_status_t own_call(enum sx_role_publish_kind kind, const struct keys *keys,
                              const pmix_info_t info[], size_t ninfo, pmix_info_t **ret_info,
                              size_t *ret_ninfo)
{
    const struct sx_role_publish call = { .kind = kind,
                                          .keys = keys != NULL ? keys->all : NULL,
                                          .key_count = keys != NULL ? keys->count : 0,
                                          .info = info,
                                          .ninfo = ninfo };
    const struct sx_role_server *const server = sx_role_server_get();

    return server == NULL ? PMIX_ERR_INIT : server->publish(&call, ret_info, ret_ninfo);
}

/* Report the result @rc of a call with @callback. */
static pmix_status_t own_end(pmix_status_t rc, const struct sx_callback *callback)
{
    return rc == PMIX_SUCCESS && sx_callback_is_given(callback) ? PMIX_OPERATION_SUCCEEDED : rc;
}

/* ---- publishing ------------------------------------------------------------------------------ */

/* The Standard has one status for a key that is already published, Open MPI another. */
static bool publish_finish(struct sx_op *op)
{
    if (op->status == PMIX_ERR_DUPLICATE_KEY && atomic_load(&sx_process.says_exists)) {
        op->status = PMIX_ERR_EXISTS;
    }
    return true;
}

static pmix_status_t publish(const pmix_info_t info[], size_t ninfo, struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .request = SX_MSG_PUBLISH,
                                            .finish = publish_finish };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    struct sx_draft draft = { .head = &(struct sx_publish){ 0 },
                              .parts = { [SX_PUBLISH_INFOS] = { info, ninfo } } };
    struct sx_publish_options options;

    if (!sx_process_ready() && !sx_ask_is_own()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = sx_publish_read(info, ninfo, &options);

    if (rc == PMIX_SUCCESS && sx_ask_is_own()) {
        return own_end(own_call(SX_ROLE_PUBLISH, NULL, info, ninfo, NULL, NULL), &callback);
    }
    return rc == PMIX_SUCCESS ? sx_op_ask(&op, &draft) : rc;
}

pmix_status_t PMIx_Publish(const pmix_info_t *info, size_t ninfo)
{
    return publish(info, ninfo, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Publish_nb(const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    return cbfunc != NULL ? publish(info, ninfo, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

/* ---- keys ------------------------------------------------------------------------------------ */

static pmix_status_t keys_new(struct keys *ret, size_t count)
{
    if (count > SX_LOOKUP_KEYS_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "%zu keys are more than the %u of one call: make several", count,
                        SX_LOOKUP_KEYS_MAX);
    }
    *ret = (struct keys){ .all = calloc(count + 1, sizeof(pmix_info_t)), .count = count };
    return ret->all != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* @key has at most @size bytes. */
static pmix_status_t key_set(struct keys *keys, size_t i, const char *key, size_t size)
{
    const size_t len = sx_name_len(key, size);

    if (len == 0 || len > PMIX_MAX_KEYLEN) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "key %zu is empty, or longer than %u bytes", i,
                        PMIX_MAX_KEYLEN);
    }
    memcpy(keys->all[i].key, key, len);
    keys->all[i].value.type = PMIX_UNDEF;
    return PMIX_SUCCESS;
}

/* Return: PMIX_SUCCESS, and the caller frees keys->all. */
static pmix_status_t keys_of_argv(struct keys *ret, char **argv)
{
    size_t count = 0;

    while (argv != NULL && argv[count] != NULL) {
        count++;
    }
    pmix_status_t rc = keys_new(ret, count);

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = key_set(ret, i, argv[i], PMIX_MAX_KEYLEN + 1);
    }
    if (rc != PMIX_SUCCESS) {
        free(ret->all);
    }
    return rc;
}

static pmix_status_t keys_of_data(struct keys *ret, const pmix_pdata_t data[], size_t ndata)
{
    pmix_status_t rc = keys_new(ret, ndata);

    for (size_t i = 0; i < ndata && rc == PMIX_SUCCESS; i++) {
        rc = key_set(ret, i, data[i].key, sizeof(data[i].key));
    }
    if (rc != PMIX_SUCCESS) {
        free(ret->all);
    }
    return rc;
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* A pair whose first info is a number refers to the pair with that number, which is an earlier one
 * and not a reference.  Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t pair_fill(pmix_info_t info[], size_t at, bool copies)
{
    pmix_value_t *const whose = &info[at].value;

    if (whose->type == PMIX_PROC && whose->data.proc != NULL) {
        return PMIX_SUCCESS;
    }
    const size_t number = whose->type == PMIX_SIZE ? whose->data.size : SIZE_MAX;

    if (number >= at / 2) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const pmix_info_t *const first = &info[2 * number];

    if (first->value.type != PMIX_PROC && copies) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    pmix_status_t rc = copies ? sx_value_copy(whose, &first->value) : PMIX_SUCCESS;

    if (rc == PMIX_SUCCESS && copies) {
        rc = sx_value_copy(&info[at + 1].value, &first[1].value);
    }
    return rc;
}

/* Each value follows its publisher; a host may have given none.  A key that is named again is
 * copied for a callback; other calls find the first one by its key. */
static bool lookup_finish(struct sx_op *op)
{
    const bool copies = sx_callback_is_given(&op->callback);

    (void)sx_results_finish(op);
    for (size_t i = 0; i < op->ninfo; i += 2) {
        const pmix_status_t rc = op->ninfo % 2 != 0 ? PMIX_ERR_UNPACK_FAILURE
                                                    : pair_fill(op->info, i, copies);

        if (rc != PMIX_SUCCESS) {
            op->status = rc;
            PMIX_INFO_FREE(op->info, op->ninfo);
        }
    }
    if (op->status == PMIX_SUCCESS && op->ninfo == 0) {
        op->status = PMIX_ERR_NOT_FOUND;
    }
    return true;
}

static const struct sx_op_kind lookup_kind = { .size = sizeof(struct sx_results_op),
                                               .request = SX_MSG_LOOKUP,
                                               .answered = sx_results_answered,
                                               .finish = lookup_finish,
                                               .release = sx_results_release };

static void say_unknown_range(const struct sx_lookup_options *options)
{
    if (options->range_unknown != 0) {
        sx_log(SX_LOG_INFO,
               "PMIx_Lookup is given %u as PMIX_RANGE, which is no range: the session's is taken",
               options->range_unknown);
    }
}

static pmix_status_t lookup(struct sx_results_op *results, const struct keys *keys,
                            const pmix_info_t info[], size_t ninfo)
{
    struct sx_draft draft = { .head = &(struct sx_publish_keys){ 0 },
                              .parts = { [SX_LOOKUP_KEYS] = { keys->all, keys->count },
                                         [SX_LOOKUP_INFOS] = { info, ninfo } } };
    struct sx_lookup_options options;
    size_t wanted;
    const pmix_status_t rc = sx_lookup_read(info, ninfo, keys->count, &options, &wanted);

    say_unknown_range(&options);
    if (rc == PMIX_SUCCESS && sx_ask_is_own()) {
        return sx_callback_is_given(&results->op.callback)
                   ? SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                              "a host that is no client looks up with PMIx_Lookup")
                   : own_call(SX_ROLE_LOOKUP, keys, info, ninfo, &results->op.info,
                              &results->op.ninfo);
    }
    return rc == PMIX_SUCCESS ? sx_op_ask(&results->op, &draft) : rc;
}

static pmix_status_t data_fill(pmix_pdata_t data[], size_t ndata, const struct sx_op *op)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ndata; i++) {
        data[i].value = (pmix_value_t){ .type = PMIX_UNDEF };
        for (size_t k = 1; k < op->ninfo && rc == PMIX_SUCCESS; k += 2) {
            if (strcmp(op->info[k].key, data[i].key) == 0) {
                data[i].proc = *op->info[k - 1].value.data.proc;
                rc = sx_value_copy(&data[i].value, &op->info[k].value);
                break;
            }
        }
    }
    return rc;
}

/* Whether @data could be filled from memory; else the server has to be asked. */
static bool lookup_plain(struct sx_link *link, pmix_pdata_t data[], size_t ndata,
                         const pmix_info_t info[], size_t ninfo)
{
    struct sx_lookup_options options;
    size_t wanted;

    if (!memory_is_used(link) ||
        sx_lookup_read(info, ninfo, ndata, &options, &wanted) != PMIX_SUCCESS ||
        memory_read(link, data, ndata, &options) != PMIX_SUCCESS) {
        return false;
    }
    say_unknown_range(&options);
    return true;
}

pmix_status_t PMIx_Lookup(pmix_pdata_t *data, size_t ndata, const pmix_info_t *info, size_t ninfo)
{
    struct sx_results_op results = { .op = SX_OP_INIT(&lookup_kind, sx_primary()) };
    struct keys keys = { .all = NULL };

    if (!sx_process_ready() && !sx_ask_is_own()) {
        return PMIX_ERR_INIT;
    }
    if (data == NULL || ndata == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (lookup_plain(results.op.link, data, ndata, info, ninfo)) {
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = keys_of_data(&keys, data, ndata);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = lookup(&results, &keys, info, ninfo);
    free(keys.all);
    if (rc == PMIX_SUCCESS || rc == PMIX_ERR_PARTIAL_SUCCESS) {
        const pmix_status_t filled = data_fill(data, ndata, &results.op);

        rc = filled == PMIX_SUCCESS ? rc : filled;
        memory_pays(results.op.link);
    }
    sx_results_release(&results.op);
    return rc;
}

pmix_status_t PMIx_Lookup_nb(char **argv, const pmix_info_t *info, size_t ninfo,
                             pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_LOOKUP, lookup, cbfunc, cbdata);
    struct sx_results_op results = { .op = SX_OP_INIT(&lookup_kind, sx_primary(),
                                                      .callback = callback) };
    struct keys keys = { .all = NULL };

    if (!sx_process_ready() && !sx_ask_is_own()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = argv == NULL || argv[0] == NULL || cbfunc == NULL
                           ? PMIX_ERR_BAD_PARAM
                           : keys_of_argv(&keys, argv);

    if (rc == PMIX_SUCCESS) {
        rc = lookup(&results, &keys, info, ninfo);
        free(keys.all);
    }
    return rc;
}

/* ---- taking back ----------------------------------------------------------------------------- */

static pmix_status_t unpublish(char **argv, const pmix_info_t info[], size_t ninfo,
                               struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .request = SX_MSG_UNPUBLISH };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    struct sx_unpublish_options options;
    struct keys keys = { .all = NULL };

    if (!sx_process_ready() && !sx_ask_is_own()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_unpublish_read(info, ninfo, &options);

    if (rc == PMIX_SUCCESS && argv != NULL && argv[0] == NULL) {
        rc = PMIX_ERR_BAD_PARAM; /* a call without keys does not mean all keys */
    }
    if (rc == PMIX_SUCCESS) {
        rc = keys_of_argv(&keys, argv);
    }
    if (rc == PMIX_SUCCESS) {
        struct sx_draft draft = { .head = &(struct sx_publish_keys){ 0 },
                                  .parts = { [SX_LOOKUP_KEYS] = { keys.all, keys.count },
                                             [SX_LOOKUP_INFOS] = { info, ninfo } } };

        rc = sx_ask_is_own()
                 ? own_end(own_call(SX_ROLE_UNPUBLISH, &keys, info, ninfo, NULL, NULL), &callback)
                 : sx_op_ask(&op, &draft);
        free(keys.all);
    }
    return rc;
}

pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t *info, size_t ninfo)
{
    return unpublish(keys, info, ninfo, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t *info, size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? unpublish(keys, info, ninfo, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
               : sx_process_misused();
}
