/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* data.c - COMMIT, FENCENB and GETNB: what ranks put, and how others get it.
 *
 * A commit of the other library has everything that the rank ever put, in a bucket of local values
 * and a bucket of remote ones; a global value is in both.  A key may have another value in each.
 * Unchanged values are not put again: a table has a digest of each.
 *
 * A Get asks our server for one key, with the directives as they come.  The answer has more of what
 * the asked rank has put (prefetch.c): the other library keeps it, and asks no more for that. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/log.h"
#include "base/util.h"
#include "base/value/value.h"
#include "gateway/request.h"

/* ---- COMMIT ---------------------------------------------------------------------------------- */

enum { IN_LOCAL = 1, IN_REMOTE = 2, IN_BOTH = IN_LOCAL | IN_REMOTE };

struct put {
    struct sx_table_node node; /* of session->puts, by its key */
    struct sx_list news;       /* of those that this commit changes */
    char *key;
    uint64_t digests[2];   /* in the local bucket, and in the remote one */
    uint32_t commit_count; /* the last commit that had it */
    uint8_t buckets;       /* of that commit */
    uint8_t put_buckets;   /* as it was put; 0: not yet */
    bool is_changed;
    pmix_value_t values[2]; /* of a change, until it is put; one that is in both is there once */
};

static pmix_scope_t scope_of(uint8_t buckets)
{
    return buckets == IN_LOCAL ? PMIX_LOCAL : buckets == IN_REMOTE ? PMIX_REMOTE : PMIX_GLOBAL;
}

/* Values with qualifiers all have one key: there each value is an entry of its own. */
static struct put *put_find(struct sx_session *session, const char *key, uint64_t digest)
{
    const bool is_qualified = strcmp(key, PMIX_QUALIFIED_VALUE) == 0;
    const uint64_t hash = XXH3_64bits_withSeed(key, strlen(key), is_qualified ? digest : 0);
    struct put *put;

    for (struct sx_table_node *node = sx_table_first(&session->puts, hash); node != NULL;
         node = sx_table_next(&session->puts, node)) {
        put = SX_CONTAINER(node, struct put, node);
        if (strcmp(put->key, key) == 0 &&
            (!is_qualified || put->digests[0] == digest || put->digests[1] == digest)) {
            return put;
        }
    }
    put = calloc(1, sizeof(*put));
    if (put != NULL) {
        put->key = strdup(key);
        sx_list_init(&put->news);
    }
    if (put == NULL || put->key == NULL || !sx_table_add(&session->puts, &put->node, hash)) {
        free(put != NULL ? put->key : NULL);
        free(put);
        return NULL;
    }
    sx_gateway_prefetch_know(session, key);
    return put;
}

/* One KVAL of a bucket.  @value is taken over. */
static pmix_status_t put_note(struct sx_session *session, const char *key, uint64_t digest,
                              pmix_value_t *value, uint8_t bucket, struct sx_list *news)
{
    struct put *const put = put_find(session, key, digest);
    const unsigned at = bucket == IN_LOCAL ? 0 : 1;

    if (put == NULL) {
        sx_value_destruct(value);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (put->commit_count != session->commit_count) {
        /* A commit has all values, so one that the last commit did not have is put again: another
         * with the same qualifiers had taken its place. */
        put->is_changed = put->commit_count + 1 != session->commit_count;
        put->commit_count = session->commit_count;
        put->buckets = 0;
    }
    put->is_changed = put->is_changed || put->put_buckets == 0 || put->digests[at] != digest;
    put->digests[at] = digest;
    if (put->buckets == (IN_BOTH & ~bucket) && put->digests[1 - at] == digest) {
        sx_value_destruct(value);
    } else {
        sx_value_destruct(&put->values[at]);
        put->values[at] = *value;
    }
    put->buckets |= bucket;
    sx_list_remove(&put->news);
    sx_list_append(news, &put->news);
    return PMIX_SUCCESS;
}

static pmix_status_t bucket_note(struct sx_session *session, struct sx_wire_reader *bucket,
                                 uint8_t bit, struct sx_list *news)
{
    while (sx_wire_rest(bucket) > 0) {
        const uint8_t *const begin = bucket->at;
        pmix_status_t rc;
        pmix_value_t value;
        const char *key;

        if (!sx_codec_get_kval(bucket, &key, &value)) {
            return bucket->failed;
        }
        rc = put_note(session, key, XXH3_64bits(begin, (size_t)(bucket->at - begin)), &value, bit,
                      news);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    return bucket->failed;
}

static pmix_status_t put_do(struct put *put)
{
    pmix_value_t *const values = put->values;
    pmix_status_t rc;

    if (put->buckets == IN_BOTH && put->digests[0] != put->digests[1]) {
        rc = PMIx_Put(PMIX_REMOTE, put->key, &values[1]);
        return rc == PMIX_SUCCESS ? PMIx_Put(PMIX_LOCAL, put->key, &values[0]) : rc;
    }
    return PMIx_Put(scope_of(put->buckets), put->key,
                    values[0].type != PMIX_UNDEF ? &values[0] : &values[1]);
}

/* A rank of OpenPMIx may put what cannot be stored here.  Its other values are stored. */
static void refusal_log(const struct sx_session *session, const struct put *put, pmix_status_t rc)
{
    sx_log(SX_LOG_WARN, "rank %u has put a value under %s%s%s that cannot be stored (%s)%s",
           session->foreign.proc.rank, put->key[0] == '\0' ? "the empty key" : "\"", put->key,
           put->key[0] == '\0' ? "" : "\"", PMIx_Error_string(rc),
           put->key[0] == '\0' ? "; give it a name" : "");
}

/* Put what is new or changed, and let go of the values.  Return: the first status that is not
 * PMIX_SUCCESS; @rc: then nothing is put, and the next commit puts all. */
static pmix_status_t news_put(struct sx_session *session, struct sx_list *news, pmix_status_t rc)
{
    const bool is_read = rc == PMIX_SUCCESS;
    struct sx_list *node;

    while ((node = sx_list_pop(news)) != NULL) {
        struct put *const put = SX_LIST_ENTRY(node, struct put, news);

        if (!is_read) {
            put->put_buckets = 0;
        } else if (put->is_changed || put->buckets != put->put_buckets) {
            const pmix_status_t done = put_do(put);

            put->put_buckets = done == PMIX_SUCCESS ? put->buckets : 0;
            if (done != PMIX_SUCCESS) {
                refusal_log(session, put, done);
                rc = rc == PMIX_SUCCESS ? done : rc;
            }
        }
        sx_value_destruct(&put->values[0]);
        sx_value_destruct(&put->values[1]);
    }
    return rc;
}

/* Pairs to the end: SCOPE, BUFFER. */
pmix_status_t sx_gateway_commit(struct sx_request *request, struct sx_wire_reader *body)
{
    struct sx_session *const session = request->session;
    struct sx_list news = SX_LIST_INIT(news);
    pmix_status_t rc = PMIX_SUCCESS;

    session->commit_count++;
    while (sx_wire_rest(body) > 0 && rc == PMIX_SUCCESS) {
        const uint8_t scope = sx_codec_get_u8(body, PMIX_SCOPE);
        struct sx_wire_reader bucket = sx_codec_get_bytes(body, SX_CODEC_BUFFER);

        bucket.memory = body->memory; /* all buckets are one message's */
        rc = bucket_note(session, &bucket, scope == PMIX_LOCAL ? IN_LOCAL : IN_REMOTE, &news);
        body->memory = bucket.memory;
        if (bucket.failed != PMIX_SUCCESS) {
            sx_wire_fail(body, bucket.failed);
        }
    }
    const pmix_status_t read = rc == PMIX_SUCCESS ? body->failed : rc;

    rc = news_put(session, &news, read);
    if (read == PMIX_SUCCESS) {
        const pmix_status_t committed = PMIx_Commit();

        rc = rc == PMIX_SUCCESS ? committed : rc;
    }
    if (rc == PMIX_SUCCESS) {
        sx_request_answer(request, PMIX_SUCCESS);
    }
    return rc;
}

void sx_gateway_data_deinit(struct sx_session *session)
{
    struct sx_table_node *node;
    size_t bucket = 0;

    while ((node = sx_table_any(&session->puts, &bucket)) != NULL) {
        struct put *const put = SX_CONTAINER(node, struct put, node);

        sx_table_remove(&session->puts, node);
        sx_value_destruct(&put->values[0]);
        sx_value_destruct(&put->values[1]);
        free(put->key);
        free(put);
    }
    sx_table_deinit(&session->puts);
}

/* ---- FENCENB --------------------------------------------------------------------------------- */

/* procs, infos.  No data go with the answer: the other side asks for keys when it needs them. */
pmix_status_t sx_gateway_fence(struct sx_request *request, struct sx_wire_reader *body)
{
    request->procs = sx_codec_get_procs(body);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Fence_nb(request->procs.at, request->procs.count,
                                                    request->infos.at, request->infos.count,
                                                    sx_request_on_status, request));
}

/* ---- GETNB ----------------------------------------------------------------------------------- */

static bool is_true(const struct sx_request *request, const char *key)
{
    const pmix_info_t *const info = sx_info_find(request->infos.at, request->infos.count, key);

    return info != NULL && sx_value_is_true(&info->value);
}

/* The array that a value of a node, an application or a session comes in, with the infos that name
 * it; NULL: it comes alone. */
static const char *array_of(const struct sx_request *request, const pmix_info_t *ret_ids[2])
{
    static const struct {
        const char *directive, *array, *ids[2];
    } realms[] = {
        { PMIX_NODE_INFO, PMIX_NODE_INFO_ARRAY, { PMIX_HOSTNAME, PMIX_NODEID } },
        { PMIX_APP_INFO, PMIX_APP_INFO_ARRAY, { PMIX_APPNUM, NULL } },
        { PMIX_SESSION_INFO, PMIX_SESSION_INFO_ARRAY, { PMIX_SESSION_ID, NULL } },
    };

    for (size_t i = 0; i < SX_COUNT(realms); i++) {
        if (!is_true(request, realms[i].directive)) {
            continue;
        }
        for (size_t j = 0; j < SX_COUNT(realms[i].ids); j++) {
            ret_ids[j] = realms[i].ids[j] == NULL
                             ? NULL
                             : sx_info_find(request->infos.at, request->infos.count,
                                            realms[i].ids[j]);
        }
        return ret_ids[0] != NULL || ret_ids[1] != NULL ? realms[i].array : NULL;
    }
    return NULL;
}

/* A value with qualifiers comes in an array with them, under the key of such values. */
static bool qualified_put(const struct sx_request *request, struct sx_wire_writer *w,
                          const pmix_value_t *value)
{
    struct sx_codec_group group = { .elements.form = w->form };

    sx_codec_group_add(&group, request->text, value);
    for (size_t i = 0; i < request->infos.count; i++) {
        if ((request->infos.at[i].flags & PMIX_INFO_QUALIFIER) != 0) {
            sx_codec_group_add_info(&group, &request->infos.at[i]);
        }
    }
    if (group.count < 2) {
        sx_wire_writer_deinit(&group.elements);
        return false;
    }
    sx_codec_group_put(w, PMIX_QUALIFIED_VALUE, &group);
    return true;
}

/* The asked value alone, into @w. */
static void value_put(const struct sx_request *request, struct sx_wire_writer *w,
                      const pmix_value_t *value)
{
    struct sx_codec_group group = { .elements.form = w->form };
    const pmix_info_t *ids[2] = { NULL, NULL };
    const char *const array = array_of(request, ids);

    if (qualified_put(request, w, value)) {
        return;
    }
    if (array == NULL) {
        sx_codec_put_kval(w, request->text, value);
        return;
    }
    for (size_t i = 0; i < SX_COUNT(ids); i++) {
        if (ids[i] != NULL) {
            sx_codec_group_add(&group, ids[i]->key, &ids[i]->value);
        }
    }
    sx_codec_group_add(&group, request->text, value);
    sx_codec_group_put(w, array, &group);
}

/* A value that the rank's library could not store is not found. */
static bool is_for_nothing(const struct sx_request *request)
{
    const pmix_info_t *ids[2];

    return request->text != NULL && !sx_gateway_is_storable(request->text) &&
           array_of(request, ids) == NULL;
}

/* All of the rank but @asked, and but the reserved keys if a key was asked for. */
static void others_put(struct sx_wire_writer *w, const pmix_value_t *all, const char *asked)
{
    const pmix_data_array_t *const array = all->type == PMIX_DATA_ARRAY ? all->data.darray : NULL;

    for (size_t i = 0; array != NULL && array->type == PMIX_INFO && i < array->size; i++) {
        const pmix_info_t *const info = (const pmix_info_t *)array->array + i;

        if (asked == NULL ? sx_gateway_is_storable(info->key)
                          : !sx_gateway_is_reserved(info->key) && strcmp(info->key, asked) != 0) {
            sx_codec_put_kval(w, info->key, &info->value);
        }
    }
}

/* The data of another namespace, as an object of their own before the rank's. */
static void job_put(struct sx_wire_writer *answer, const char *nspace)
{
    struct sx_wire_writer object = { .form = answer->form };
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, nspace, PMIX_RANK_WILDCARD);
    sx_codec_pack(&object, PMIX_PROC, &proc, 1);
    if (sx_gateway_nspace_write(&object, nspace) == PMIX_SUCCESS) {
        sx_codec_put_bytes(answer, &object);
    }
    sx_wire_writer_deinit(&object);
}

/* Of another namespace everything that the rank has put goes with the value: it is asked once. */
static void foreign_put(struct sx_request *request)
{
    const bool yes = true;
    pmix_value_t *all;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (PMIx_Get(&request->proc, NULL, &info, 1, &all) == PMIX_SUCCESS) {
        others_put(&request->out, all, request->text);
        PMIX_VALUE_RELEASE(all);
    }
}

/* The value is there, in @request->out: others that the rank has put go with it. */
static void get_resume(struct sx_request *request)
{
    struct sx_session *const session = request->session;
    const bool is_own = strcmp(request->proc.nspace, session->foreign.proc.nspace) == 0;
    const bool is_put = request->text != NULL && !sx_gateway_is_reserved(request->text) &&
                        request->proc.rank < PMIX_RANK_VALID;
    struct sx_wire_writer answer = sx_request_body(request, request->status);

    if (!is_own) {
        job_put(&answer, request->proc.nspace);
    }
    if (is_put && is_own) {
        sx_gateway_prefetch_put(session, &request->out, request->proc.rank, request->text);
    } else if (is_put) {
        foreign_put(request);
    }
    sx_codec_put_bytes(&answer, &request->out);
    sx_request_answer_body(request, &answer);
}

/* Leave the value in @request->out. */
static void value_keep(struct sx_request *request, const pmix_value_t *value)
{
    sx_codec_pack(&request->out, PMIX_PROC, &request->proc, 1);
    if (request->text == NULL) {
        others_put(&request->out, value, NULL);
    } else {
        value_put(request, &request->out, value);
    }
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    struct sx_request *const request = cbdata;

    if (status != PMIX_SUCCESS || value == NULL) {
        sx_request_answer(request, status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : status);
        return;
    }
    value_keep(request, value);
    sx_request_defer(request, get_resume);
}

/* Directives that are not for our call.  A host without a name is the rank's own node, which is
 * meant anyway; where the value is stored is a matter of the rank's process. */
static bool is_not_ours(const pmix_info_t *info)
{
    return (strcmp(info->key, PMIX_HOSTNAME) == 0 && info->value.type == PMIX_STRING &&
            info->value.data.string == NULL) ||
           strcmp(info->key, PMIX_GET_STATIC_VALUES) == 0 ||
           strcmp(info->key, PMIX_GET_POINTER_VALUES) == 0;
}

static void drop_directives(struct sx_codec_infos *infos)
{
    size_t kept = 0;

    for (size_t i = 0; i < infos->count; i++) {
        if (is_not_ours(&infos->at[i])) {
            PMIX_INFO_DESTRUCT(&infos->at[i]);
        } else {
            infos->at[kept++] = infos->at[i];
        }
    }
    infos->count = kept;
}

/* Most values are in shared memory already, and are answered at once.  Return: false when it is not
 * such a value. */
static bool get_at_once(struct sx_request *request)
{
    const bool yes = true;
    pmix_info_t optional;
    pmix_value_t *value;

    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (request->infos.count > 0 || request->text == NULL ||
        sx_gateway_is_reserved(request->text) ||
        PMIx_Get(&request->proc, request->text, &optional, 1, &value) != PMIX_SUCCESS) {
        return false;
    }
    value_keep(request, value);
    PMIX_VALUE_RELEASE(value);
    get_resume(request);
    return true;
}

/* A name that is NULL or empty is that of the rank's own namespace. */
static void get_proc_nspace(struct sx_request *request, const char *nspace)
{
    PMIX_LOAD_NSPACE(request->proc.nspace, nspace == NULL || nspace[0] == '\0'
                                               ? request->session->foreign.proc.nspace
                                               : nspace);
}

/* STRING nspace, PROC_RANK, infos, [STRING key]. */
pmix_status_t sx_gateway_get(struct sx_request *request, struct sx_wire_reader *body)
{
    const char *const nspace = sx_codec_get_text(body);
    const char *key = NULL;

    request->proc.rank = sx_codec_get_u32(body, PMIX_PROC_RANK);
    request->infos = sx_codec_get_infos(body);
    if (sx_wire_rest(body) > 0) {
        key = sx_codec_get_text(body);
    }
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    drop_directives(&request->infos);
    get_proc_nspace(request, nspace);
    if (key != NULL && (request->text = strdup(key)) == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (is_for_nothing(request)) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (get_at_once(request)) {
        return PMIX_SUCCESS;
    }
    return PMIx_Get_nb(&request->proc, request->text, request->infos.at, request->infos.count,
                       on_value, request);
}

/* ---- REFRESH_CACHE --------------------------------------------------------------------------- */

static void on_all(pmix_status_t status, pmix_value_t *all, void *cbdata)
{
    struct sx_request *const request = cbdata;
    struct sx_wire_writer answer = sx_request_body(request, status);

    if (status == PMIX_SUCCESS && all != NULL) {
        others_put(&answer, all, NULL);
    }
    sx_request_answer_body(request, &answer);
}

/* STRING nspace, PROC_RANK.  The answer is everything of that process, as KVALs. */
pmix_status_t sx_gateway_refresh(struct sx_request *request, struct sx_wire_reader *body)
{
    get_proc_nspace(request, sx_codec_get_text(body));
    request->proc.rank = sx_codec_get_u32(body, PMIX_PROC_RANK);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return PMIx_Get_nb(&request->proc, NULL, NULL, 0, on_all, request);
}
