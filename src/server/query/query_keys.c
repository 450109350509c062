/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_keys.c - one row per key. */
#include "server/query/query_keys.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/system/usage.h"
#include "base/util.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"
#include "server/model/share.h"
#include "server/port/port.h"
#include "shmem/membership.h"
#include "shmem/nspace_read.h"

/* The maximum cost of one call, exceeded by one key at most: a call may name a key many times. */
#define UNITS_MAX 65536u
#define BYTES_PER_UNIT 256u /* of the answer */
#define UNITS_PER_READ 20u  /* of a file of /proc */
#define ROWS_PER_UNIT 8u    /* of namespaces, groups, sets */
#define ROWS_AT_ONCE 64u
#define PROCS_AT_ONCE 32u /* of a job: about a unit each */

/* A question: its subject and its asker. */
struct question {
    struct sx_server *server;
    struct sx_client *client; /* NULL: the host */
    struct sx_question asked;
    struct sx_query_progress *progress;
    uint64_t units; /* the cost of this step */
    uint64_t mark;  /* of the namespaces that the client is connected with; 0: not computed yet */
};

/* Whether this step may continue. */
static bool may_go_on(const struct question *question)
{
    return question->client == NULL || question->units < SX_SHARE_STEP_UNITS;
}

static void cost(struct question *question, uint64_t units)
{
    question->units += units;
    question->progress->units += units;
}

/* Root may query all, as it may inspect all memory of a server. */
static bool sees_all(const struct question *question)
{
    return question->client == NULL || question->client->uid == 0;
}

static bool may_see(struct question *question, const struct sx_nspace *nspace)
{
    if (sees_all(question)) {
        return true;
    }
    if (question->mark == 0) {
        question->mark = sx_memberships_mark(question->server, question->client);
    }
    return sx_nspace_visible_marked(nspace, question->client, question->mark);
}

/* ---- namespaces ----------------------------------------------------------------------------- */

/* The namespaces that a host has registered, comma-separated. */
static pmix_status_t namespaces_answer(struct question *question, pmix_value_t *ret)
{
    size_t size = 1, rows = 0;

    SX_LIST_EACH(it, &question->server->registry.nspaces) {
        size += strlen(SX_LIST_ENTRY(it, struct sx_nspace, link)->name) + 1;
        rows++;
    }
    cost(question, rows / ROWS_PER_UNIT);
    char *const text = malloc(size), *at = text;

    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *at = '\0';
    SX_LIST_EACH(it, &question->server->registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (nspace->registered && may_see(question, nspace)) {
            at = stpcpy(stpcpy(at, at == text ? "" : ","), nspace->name);
        }
    }
    *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    return PMIX_SUCCESS;
}

/* @ret becomes an array of @count infos, which is returned.  Return: NULL when memory is out. */
static pmix_info_t *infos_make(size_t count, pmix_value_t *ret)
{
    pmix_data_array_t *const array = PMIx_Data_array_create(count, PMIX_INFO);

    *ret = (pmix_value_t){ .type = PMIX_UNDEF };
    if (array == NULL) {
        return NULL;
    }
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return array->array;
}

/* Return: the namespace that the qualifiers name, NULL when there is none that the asker may
 * see. */
static const struct sx_nspace *nspace_meant(struct question *question)
{
    const struct sx_query_options *const options = question->asked.options;
    const char *const name = options->procs.count != 0 ? options->procs.all[0].nspace
                                                       : options->nspace;
    const struct sx_nspace *const nspace = name != NULL ? sx_nspace_find(question->server, name)
                                                        : NULL;

    return nspace != NULL && nspace->registered && may_see(question, nspace) ? nspace : NULL;
}

/* The name of the namespace, and the command that started it if that is set. */
static bool nspace_report(const struct sx_nspace *nspace, pmix_info_t *ret)
{
    const struct sx_site site = { .shared = nspace->has_store ? &nspace->store.view : NULL };
    const char *const command = sx_site_text(&site, SX_REALM_JOB, SX_ROW_JOB, PMIX_CMD_LINE);
    pmix_info_t *const infos = infos_make(command != NULL ? 2 : 1, &ret->value);

    PMIx_Load_key(ret->key, PMIX_QUERY_NAMESPACE_INFO);
    return infos != NULL &&
           PMIx_Info_load(&infos[0], PMIX_NSPACE, nspace->name, PMIX_STRING) == PMIX_SUCCESS &&
           (command == NULL ||
            PMIx_Info_load(&infos[1], PMIX_CMD_LINE, command, PMIX_STRING) == PMIX_SUCCESS);
}

static bool is_notified(struct question *question, const struct sx_nspace *nspace)
{
    const char *const only = question->asked.options->nspace;

    return nspace->registered && may_see(question, nspace) &&
           (only == NULL || strcmp(only, nspace->name) == 0);
}

/* For the namespace that the query names, else for all. */
static pmix_status_t namespace_info_answer(struct question *question, pmix_value_t *ret)
{
    const struct sx_list *const nspaces = &question->server->registry.nspaces;
    size_t count = 0, rows = 0;

    SX_LIST_EACH(it, nspaces) {
        count += is_notified(question, SX_LIST_ENTRY(it, struct sx_nspace, link));
        rows++;
    }
    cost(question, rows / ROWS_PER_UNIT);
    if (count == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    pmix_info_t *info = infos_make(count, ret);
    bool notified = info != NULL;

    SX_LIST_EACH(it, nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (notified && is_notified(question, nspace)) {
            notified = nspace_report(nspace, info++);
        }
    }
    if (!notified) {
        sx_value_destruct(ret);
    }
    return notified ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* As this server sees it, from this node. */
static pmix_status_t job_status_answer(struct question *question, pmix_value_t *ret)
{
    const struct sx_nspace *const nspace = nspace_meant(question);

    if (nspace == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = (pmix_value_t){ .type = PMIX_STATUS,
                           .data.status = sx_query_procs_have_ended(nspace)
                                              ? PMIX_EVENT_JOB_END
                                              : PMIX_EVENT_JOB_START };
    return PMIX_SUCCESS;
}

static void table_begin(struct sx_query_progress *progress, size_t count)
{
    PMIx_Data_array_free(progress->table);
    progress->table = PMIx_Data_array_create(count, PMIX_PROC_INFO);
    progress->walked = 0;
}

static pmix_status_t procs_answer(struct question *question, pmix_value_t *ret)
{
    const bool here = strcmp(question->asked.key, PMIX_QUERY_LOCAL_PROC_TABLE) == 0;
    const struct sx_nspace *const nspace = nspace_meant(question);

    struct sx_query_progress *const progress = question->progress;

    if (nspace == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (progress->table == NULL ||
        progress->table->size !=
            sx_query_procs_count(nspace, here)) { /* also when some were added meanwhile */
        table_begin(progress, sx_query_procs_count(nspace, here));
    }
    while (progress->table != NULL && progress->walked < progress->table->size) {
        if (!may_go_on(question)) {
            return PMIX_ERR_WOULD_BLOCK;
        }
        if (sx_query_procs_fill(nspace, here, progress->table, progress->walked, PROCS_AT_ONCE) !=
            PMIX_SUCCESS) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        progress->walked += PROCS_AT_ONCE;
        cost(question, PROCS_AT_ONCE);
    }
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = progress->table };
    progress->table = NULL; /* its ownership has moved */
    return ret->data.darray != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* ---- this server ---------------------------------------------------------------------------- */

static pmix_status_t uri_answer(struct question *question, pmix_value_t *ret)
{
    char *const uri = sx_server_uri(question->server);

    *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = uri };
    return uri != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* The attributes that the host has registered for its `spawn` and that begin with @prefix,
 * comma-separated. */
static pmix_status_t spawn_names(struct question *question, const char *prefix, pmix_value_t *ret)
{
    const struct sx_support_host *const host = &question->server->query.support;
    char **names = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < host->count; i++) {
        char *const *const all = host->all[i].attributes;

        for (size_t j = 0; strcmp(host->all[i].function, "spawn") == 0 && all[j] != NULL; j++) {
            if (rc == PMIX_SUCCESS && strncmp(all[j], prefix, strlen(prefix)) == 0) {
                rc = PMIx_Argv_append_nosize(&names, all[j]);
            }
        }
    }
    char *const text = rc == PMIX_SUCCESS ? PMIx_Argv_join(names, ',') : NULL;

    PMIx_Argv_free(names);
    *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    return text == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

static pmix_status_t spawn_answer(struct question *question, pmix_value_t *ret)
{
    return spawn_names(question, "", ret);
}

static pmix_status_t debug_answer(struct question *question, pmix_value_t *ret)
{
    return spawn_names(question, "PMIX_DEBUG", ret);
}

static pmix_status_t support_answer(struct question *question, pmix_value_t *ret)
{
    return sx_support_find(question->asked.query, &question->server->query.support, ret);
}

/* The resources that this server uses.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND. */
static pmix_status_t daemon_memory_answer(struct question *question, pmix_value_t *ret)
{
    struct sx_query_progress *const progress = question->progress;

    if (!progress->has_memory) {
        progress->has_memory = sx_usage_resident(0, &progress->memory_mib);
        cost(question, UNITS_PER_READ);
    }
    *ret = (pmix_value_t){ .type = PMIX_FLOAT, .data.fval = progress->memory_mib };
    return progress->has_memory ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Whether the query asks for the memory of @client, and the asker has the same user or is root. */
static bool is_meant(struct question *question, const struct sx_client *client)
{
    const struct sx_query_options *const options = question->asked.options;
    const pmix_proc_t of = sx_query_proc(options, &question->server->self);
    const bool named = options->procs.count != 0 || options->nspace != NULL;

    return !client->is_tool && (sees_all(question) || client->uid == question->client->uid) &&
           (!named || (strcmp(client->nspace->name, of.nspace) == 0 &&
                       (of.rank == PMIX_RANK_WILDCARD || of.rank == client->rank)));
}

/* The processes whose memory the asker reads itself (client/query/query.h). */
static pmix_status_t client_memory_answer(struct question *question, pmix_value_t *ret)
{
    const struct sx_server *const server = question->server;
    pmix_data_array_t *const array = PMIx_Data_array_create(server->live_count, PMIX_PID);
    size_t count = 0;

    cost(question, server->live_count / ROWS_PER_UNIT);

    if (array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < server->live_count; i++) {
        if (is_meant(question, server->live[i])) {
            ((pid_t *)array->array)[count++] = sx_client_peer(server->live[i])->pid;
        }
    }
    array->size = count;
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    if (count == 0) {
        sx_value_destruct(ret);
        return PMIX_ERR_NOT_FOUND;
    }
    return PMIX_SUCCESS;
}

/* With room for the limits, if the query asks for them. */
static pmix_status_t memory_answer(struct question *question, pmix_value_t *ret)
{
    const bool minmax = question->asked.options->minmax;
    pmix_value_t server, clients;
    pmix_status_t rc = daemon_memory_answer(question, &server);

    if (rc == PMIX_SUCCESS) {
        rc = client_memory_answer(question, &clients);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pmix_info_t *const infos = infos_make(minmax ? 3 : 2, ret);

    if (infos == NULL) {
        sx_value_destruct(&clients);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PMIx_Load_key(infos[0].key, PMIX_DAEMON_MEMORY);
    infos[0].value = server;
    PMIx_Load_key(infos[1].key, PMIX_CLIENT_AVG_MEMORY);
    infos[1].value = clients;
    if (minmax) {
        PMIx_Load_key(infos[2].key, PMIX_QUERY_REPORT_MINMAX);
    }
    return PMIX_SUCCESS;
}

/* ---- sets and groups ------------------------------------------------------------------------ */

static uint32_t kind_of(const struct question *question)
{
    return strcmp(question->asked.key, PMIX_QUERY_NUM_PSETS) == 0 ||
                   strcmp(question->asked.key, PMIX_QUERY_PSET_NAMES) == 0
               ? SX_MEMBERSHIP_PSET
               : SX_MEMBERSHIP_GROUP;
}

/* Return: false when memory is out, or for more than one call may return. */
static bool name_add(struct sx_query_progress *progress, const char *name)
{
    const size_t size = strlen(name) + 1;

    if (progress->text_capacity - progress->text_size < size) {
        const size_t capacity = 2 * progress->text_capacity + 4096;
        char *const grown = capacity > (size_t)UNITS_MAX * BYTES_PER_UNIT
                                ? NULL
                                : realloc(progress->text, capacity);

        if (grown == NULL) {
            return false;
        }
        progress->text = grown;
        progress->text_capacity = capacity;
    }
    memcpy(progress->text + progress->text_size, name, size);
    progress->text_size += size;
    progress->text_count++;
    return true;
}

static uid_t asker_of(const struct question *question)
{
    return question->client != NULL ? question->client->uid : 0;
}

/* Return: PMIX_ERR_WOULD_BLOCK while the lists that the asker may see are still being searched. */
static pmix_status_t lists_find(struct question *question)
{
    uint64_t units;
    const bool is_there = sx_memberships_fill(question->server, asker_of(question),
                                              SX_SHARE_STEP_UNITS, &units);

    cost(question, units);
    return is_there ? PMIX_SUCCESS : PMIX_ERR_WOULD_BLOCK;
}

static pmix_status_t lists_count_answer(struct question *question, pmix_value_t *ret)
{
    const pmix_status_t rc = lists_find(question);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *ret = (pmix_value_t){ .type = PMIX_SIZE };
    ret->data.size = sx_memberships_count(question->server, asker_of(question), kind_of(question));
    return PMIX_SUCCESS;
}

/* The names of all lists of the kind that the asker may see, in the order of their rows. */
static pmix_status_t names_walk(struct question *question)
{
    const struct sx_memberships *const lists = &question->server->memberships;
    struct sx_query_progress *const progress = question->progress;
    const uint32_t kind = kind_of(question);

    while (progress->walked < lists->slot_count) {
        const size_t at = progress->walked++;
        const struct sx_membership_entry *const entry = lists->slots[at].entry;

        if (entry != NULL && entry->published.head.kind == kind &&
            sx_memberships_show(question->server, entry, asker_of(question)) &&
            !name_add(progress, sx_membership_name(&entry->published))) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        if (at % ROWS_AT_ONCE == 0) {
            cost(question, ROWS_AT_ONCE / ROWS_PER_UNIT);
            if (!may_go_on(question)) {
                return PMIX_ERR_WOULD_BLOCK;
            }
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t pset_names_answer(struct question *question, pmix_value_t *ret)
{
    struct sx_query_progress *const progress = question->progress;
    const pmix_status_t rc = names_walk(question);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    for (size_t i = 0; i + 1 < progress->text_size; i++) {
        if (progress->text[i] == '\0') {
            progress->text[i] = ',';
        }
    }
    *ret = (pmix_value_t){ .type = PMIX_STRING,
                           .data.string = progress->text != NULL ? progress->text : strdup("") };
    progress->text = NULL; /* its ownership has moved */
    return ret->data.string != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t group_names_answer(struct question *question, pmix_value_t *ret)
{
    struct sx_query_progress *const progress = question->progress;
    const pmix_status_t rc = names_walk(question);
    const char *at = progress->text;

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pmix_data_array_t *const array = PMIx_Data_array_create(progress->text_count, PMIX_STRING);

    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    for (size_t i = 0; array != NULL && i < progress->text_count; i++, at += strlen(at) + 1) {
        ((char **)array->array)[i] = strdup(at);
        if (((char **)array->array)[i] == NULL) {
            sx_value_destruct(ret);
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return array != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t members_answer(struct question *question, pmix_value_t *ret)
{
    const bool of_sets = strcmp(question->asked.key, PMIX_QUERY_PSET_MEMBERSHIP) == 0;
    const pmix_status_t rc = lists_find(question);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return sx_lists_find(sx_memberships_store(question->server, asker_of(question)),
                         question->asked.key,
                         of_sets ? question->asked.options->pset : question->asked.options->group,
                         ret);
}

/* ---- keys ----------------------------------------------------------------------------------- */

static pmix_status_t keys_answer(struct question *question, pmix_value_t *ret);

static const struct row {
    const char *key;
    pmix_status_t (*answer)(struct question *question, pmix_value_t *ret);
} rows[] = {
    { PMIX_QUERY_SUPPORTED_KEYS, keys_answer },
    { PMIX_QUERY_NAMESPACES, namespaces_answer },
    { PMIX_QUERY_NAMESPACE_INFO, namespace_info_answer },
    { PMIX_QUERY_JOB_STATUS, job_status_answer },
    { PMIX_QUERY_PROC_TABLE, procs_answer },
    { PMIX_QUERY_LOCAL_PROC_TABLE, procs_answer },
    { PMIX_SERVER_URI, uri_answer },
    { PMIX_QUERY_ATTRIBUTE_SUPPORT, support_answer },
    { PMIX_QUERY_SPAWN_SUPPORT, spawn_answer },
    { PMIX_QUERY_DEBUG_SUPPORT, debug_answer },
    { PMIX_QUERY_MEMORY_USAGE, memory_answer },
    { PMIX_DAEMON_MEMORY, daemon_memory_answer },
    { PMIX_CLIENT_AVG_MEMORY, client_memory_answer },
    { PMIX_QUERY_NUM_PSETS, lists_count_answer },
    { PMIX_QUERY_PSET_NAMES, pset_names_answer },
    { PMIX_QUERY_PSET_MEMBERSHIP, members_answer },
    { PMIX_QUERY_NUM_GROUPS, lists_count_answer },
    { PMIX_QUERY_GROUP_NAMES, group_names_answer },
    { PMIX_QUERY_GROUP_MEMBERSHIP, members_answer },
    /* Only a host can answer these keys. */
    { PMIX_QUERY_QUEUE_LIST, NULL },
    { PMIX_QUERY_QUEUE_STATUS, NULL },
    { PMIX_QUERY_AUTHORIZATIONS, NULL },
    { PMIX_QUERY_ALLOC_STATUS, NULL },
    { PMIX_QUERY_ALLOCATION, NULL },
    { PMIX_QUERY_ALLOC_IDS, NULL },
    { PMIX_QUERY_ALLOC_PROPERTIES, NULL },
    { PMIX_QUERY_AVAILABLE_SLOTS, NULL },
    { PMIX_QUERY_MIN_ALLOC_UNIT, NULL },
    { PMIX_QUERY_RES_BLOCKS, NULL },
    { PMIX_QUERY_RES_BLOCK_DEF, NULL },
    { PMIX_TIME_REMAINING, NULL },
};

/* Includes keys that a client answers itself. */
static pmix_status_t keys_answer(struct question *question, pmix_value_t *ret)
{
    static const char of_clients[] = PMIX_QUERY_STABLE_ABI_VERSION
        "," PMIX_QUERY_PROVISIONAL_ABI_VERSION "," PMIX_QUERY_RESOLVE_PEERS
        "," PMIX_QUERY_RESOLVE_NODE "," PMIX_QUERY_AVAIL_SERVERS "," PMIX_QUERY_DEVICES
        "," PMIX_QUERY_NODE_RESOURCE_USAGE "," PMIX_QUERY_PROC_RESOURCE_USAGE
        "," PMIX_QUERY_STORAGE_LIST "," PMIX_STORAGE_ID "," PMIX_STORAGE_PATH "," PMIX_STORAGE_TYPE
        "," PMIX_STORAGE_MEDIUM "," PMIX_STORAGE_ACCESS_TYPE "," PMIX_STORAGE_CAPACITY_LIMIT
        "," PMIX_STORAGE_CAPACITY_USED "," PMIX_STORAGE_OBJECT_LIMIT "," PMIX_STORAGE_OBJECTS_USED
        "," PMIX_STORAGE_MINIMAL_XFER_SIZE "," PMIX_STORAGE_SUGGESTED_XFER_SIZE;
    size_t size = sizeof(of_clients);

    (void)question;
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        size += strlen(rows[i].key) + 1;
    }
    char *const text = malloc(size), *at = text;

    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    at = stpcpy(at, of_clients);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (rows[i].answer != NULL) {
            at = stpcpy(stpcpy(at, ","), rows[i].key);
        }
    }
    *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    return PMIX_SUCCESS;
}

static const struct row *row_find(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strcmp(key, rows[i].key) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

bool sx_query_is_hosts(const char *key)
{
    const struct row *const row = row_find(key);

    return row != NULL && row->answer == NULL;
}

void sx_query_progress_clear(struct sx_query_progress *progress)
{
    PMIx_Data_array_free(progress->table);
    free(progress->text);
    progress->table = NULL;
    progress->text = NULL;
    progress->text_size = progress->text_capacity = progress->text_count = progress->walked = 0;
}

/* A client takes the answer to a repeated key from the first answer, so none is sent again.  Its
 * size is counted nevertheless, as the total answer of one call is bounded. */
static pmix_status_t again_answer(const struct question *question, const struct sx_queries *queries,
                                  const struct sx_asked *asked, pmix_value_t *ret)
{
    const struct sx_asked *const first = &queries->asked[asked->first];

    if (question->client == NULL) {
        return sx_queries_again(queries, asked, ret);
    }
    question->progress->units += first->bytes / BYTES_PER_UNIT;
    *ret = (pmix_value_t){ .type = PMIX_UNDEF };
    return first->answered ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Return: PMIX_SUCCESS with *ret; PMIX_ERR_NOT_FOUND; PMIX_ERR_WOULD_BLOCK; the reason why no more
 * is answered. */
static pmix_status_t key_answer(struct question *question, const struct sx_queries *queries,
                                struct sx_asked *asked, pmix_value_t *ret)
{
    const struct row *const row = row_find(asked->key);

    question->asked = (struct sx_question){ .key = asked->key,
                                            .query = &queries->all[asked->query],
                                            .options = &queries->options[asked->query] };
    if (row == NULL || row->answer == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (question->client != NULL && question->progress->units > UNITS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = sx_asked_again(queries, asked)
                                 ? again_answer(question, queries, asked, ret)
                                 : row->answer(question, ret);

    if (rc == PMIX_SUCCESS && question->client != NULL &&
        sx_flat_size(ret, &asked->bytes) == PMIX_SUCCESS) {
        cost(question, asked->bytes / BYTES_PER_UNIT);
    }
    return rc;
}

pmix_status_t sx_query_known(struct sx_server *server, struct sx_client *client,
                             struct sx_queries *queries, struct sx_query_progress *progress)
{
    struct question question = { .server = server, .client = client, .progress = progress };
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && progress->at < queries->asked_count && may_go_on(&question)) {
        struct sx_asked *const asked = &queries->asked[progress->at];
        pmix_value_t value;

        rc = key_answer(&question, queries, asked, &value);
        cost(&question, 1);
        if (rc == PMIX_SUCCESS) {
            sx_queries_answer(queries, asked, &value);
        }
        rc = rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
        if (rc != PMIX_ERR_WOULD_BLOCK) {
            sx_query_progress_clear(progress);
            progress->at++;
        }
    }
    if (client != NULL) {
        sx_share_charge(server, client, question.units);
    }
    return rc == PMIX_SUCCESS && progress->at < queries->asked_count ? PMIX_ERR_WOULD_BLOCK : rc;
}
