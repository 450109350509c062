/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.c - the data of a job, as the answer to REQ: read in shared memory, written as KVALs.
 *
 *   job keys one by one; pmix.ssn.arr; pmix.node.arr for each node; pmix.app.arr for each
 *   application; pmix.pblob for each rank
 *
 * The other side files a KVAL by its key.  One of an application goes into that application's array
 * alone: outside of it, a job with two applications would not start. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/names.h"
#include "base/value/value.h"
#include "gateway/request.h"

/* Names of the wire; the Standard gives the first three. */
#define SESSION_ARRAY PMIX_SESSION_INFO_ARRAY
#define NODE_ARRAY PMIX_NODE_INFO_ARRAY
#define APP_ARRAY PMIX_APP_INFO_ARRAY
#define PROC_BLOB "pmix.pblob"
#define RESERVED "pmix"

/* Keys of the job that are not sent outside of an array: those of applications, and a topology in
 * shared memory, whose file and address are not the other library's. */
static const char *const withheld[] = {
    PMIX_APP_SIZE,     PMIX_APPLDR,       PMIX_APP_ARGV,      PMIX_WDIR,        PMIX_PSET_NAME,
    PMIX_PSET_MEMBERS, PMIX_APP_MAP_TYPE, PMIX_APP_MAP_REGEX, SESSION_ARRAY,    NODE_ARRAY,
    APP_ARRAY,         "pmix.hwlocaddr",  "pmix.hwlocsize",   "pmix.hwlocfile",
};

static bool is_withheld(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(withheld); i++) {
        if (strcmp(key, withheld[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool sx_gateway_is_reserved(const char *key)
{
    return strncmp(key, RESERVED, sizeof(RESERVED) - 1) == 0;
}

/* Keys of the Standard that came after release 4.2.2, by the first release that has them. */
/* clang-format off */
static const char *const since_4_2_9[] = {
    PMIX_ALLOC_PREEMPTIBLE, PMIX_DISPLAY_PARSEABLE_OUTPUT, PMIX_DISPLAY_PROCESSORS,
    PMIX_EXTERNAL_AUX_EVENT_BASE, PMIX_JOB_CTRL_DEFINE_PSET, PMIX_VERSION_NUMERIC,
    PMIX_CONNECT_TO_SCHEDULER,
};
static const char *const since_5_0[] = {
    PMIX_ALLOC_BEGIN, PMIX_ALLOC_CHILD_SEP, PMIX_ALLOC_DEPENDENCY, PMIX_ALLOC_EXCLUDE,
    PMIX_ALLOC_IMAGE, PMIX_ALLOC_LEND, PMIX_ALLOC_NOSHELL, PMIX_ALLOC_SHARE,
    PMIX_ALLOC_WAIT_ALL_NODES, PMIX_SPAWN_CHILD_SEP, PMIX_JOB_CTRL_SEP, PMIX_TOPOLOGY_INDEX,
    PMIX_QUERY_ALLOCATION, PMIX_QUERY_AVAILABLE_SLOTS, PMIX_QUERY_RESOLVE_NODE,
    PMIX_QUERY_RESOLVE_PEERS, PMIX_SERVER_ALLOW_FOREIGN_TOOLS, PMIX_SERVER_SYS_CONTROLLER,
    PMIX_REALGID, PMIX_REALUID, PMIX_SESSION_APP, PMIX_SESSION_COMPLETE, PMIX_SESSION_CTRL_ID,
    PMIX_SESSION_PAUSE, PMIX_SESSION_PREEMPT, PMIX_SESSION_PROVISION,
    PMIX_SESSION_PROVISION_IMAGE, PMIX_SESSION_PROVISION_NODES, PMIX_SESSION_RESTORE,
    PMIX_SESSION_RESUME, PMIX_SESSION_SIGNAL, PMIX_SESSION_TERMINATE, PMIX_CONNECTION_ORDER,
    PMIX_CONNECT_TO_SYS_CONTROLLER,
};
static const char *const since_6_1[] = {
    PMIX_ALLOC_MAU, PMIX_ALLOC_NOT_WAITING, PMIX_ALLOC_NUM_BLOCKS, PMIX_ALLOC_RES_BLOCK,
    PMIX_FWD_ENVIRONMENT, PMIX_GPU_SUPPORT, PMIX_MEM_ALLOC_KIND, PMIX_PTY_TERMIO,
    PMIX_PTY_WSIZE, PMIX_REPORT_PHYSICAL_CPUS, PMIX_SPAWN_PTY, PMIX_EVENT_STAYS_LOCAL,
    PMIX_GROUP_BOOTSTRAP, PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, PMIX_GROUP_INFO_ARRAY,
    PMIX_GROUP_JOB_INFO, PMIX_PROGRESS_THREAD_FLUSH, PMIX_MONITOR_DISK_RESOURCE_USAGE,
    PMIX_MONITOR_LOCAL_ONLY, PMIX_MONITOR_NET_RESOURCE_USAGE, PMIX_MONITOR_NODE_RESOURCE_USAGE,
    PMIX_MONITOR_PROC_RESOURCE_USAGE, PMIX_MONITOR_PROXY, PMIX_MONITOR_RESOURCE_RATE,
    PMIX_MONITOR_TARGET_DISKS, PMIX_MONITOR_TARGET_NETS, PMIX_MONITOR_TARGET_NODEIDS,
    PMIX_MONITOR_TARGET_NODES, PMIX_MONITOR_TARGET_PIDS, PMIX_MONITOR_TARGET_PROCS,
    PMIX_DISK_ID, PMIX_DISK_IO_IN_PROGRESS, PMIX_DISK_IO_MILLISEC, PMIX_DISK_IO_WEIGHTED,
    PMIX_DISK_READ_COMPLETED, PMIX_DISK_READ_MERGED, PMIX_DISK_READ_MILLISEC,
    PMIX_DISK_READ_SECTORS, PMIX_DISK_RESOURCE_USAGE, PMIX_DISK_SAMPLE_TIME,
    PMIX_DISK_WRITE_COMPLETED, PMIX_DISK_WRITE_MERGED, PMIX_DISK_WRITE_MILLISEC,
    PMIX_DISK_WRITE_SECTORS, PMIX_NETWORK_ID, PMIX_NETWORK_RESOURCE_USAGE, PMIX_NET_RECVD_BYTES,
    PMIX_NET_RECVD_ERRS, PMIX_NET_RECVD_PCKTS, PMIX_NET_SAMPLE_TIME, PMIX_NET_SENT_BYTES,
    PMIX_NET_SENT_ERRS, PMIX_NET_SENT_PCKTS, PMIX_NODE_LOAD_AVG, PMIX_NODE_LOAD_AVG15,
    PMIX_NODE_LOAD_AVG5, PMIX_NODE_MEM_BUFFERS, PMIX_NODE_MEM_CACHED, PMIX_NODE_MEM_FREE,
    PMIX_NODE_MEM_MAPPED, PMIX_NODE_MEM_SWAP_CACHED, PMIX_NODE_MEM_SWAP_FREE,
    PMIX_NODE_MEM_TOTAL, PMIX_NODE_RESOURCE_USAGE, PMIX_NODE_SAMPLE_TIME, PMIX_NODE_SWAP_TOTAL,
    PMIX_PROC_CPU, PMIX_PROC_NUM_THREADS, PMIX_PROC_OS_STATE, PMIX_PROC_PEAK_VSIZE,
    PMIX_PROC_PERCENT_CPU, PMIX_PROC_PRIORITY, PMIX_PROC_PSS, PMIX_PROC_RESOURCE_USAGE,
    PMIX_PROC_RSS, PMIX_PROC_SAMPLE_TIME, PMIX_PROC_TIME, PMIX_PROC_VSIZE, PMIX_QUERY_DEVICES,
    PMIX_QUERY_MIN_ALLOC_UNIT, PMIX_QUERY_NODE_RESOURCE_USAGE, PMIX_QUERY_PROC_RESOURCE_USAGE,
    PMIX_QUERY_RES_BLOCKS, PMIX_QUERY_RES_BLOCK_DEF, PMIX_RESOURCE_BLOCK_NAME,
    PMIX_ALLOW_CLIENT_CLONES, PMIX_REQUESTOR, PMIX_SESSION_EXTEND, PMIX_SESSION_INSTANTIATE,
    PMIX_SESSION_JOB, PMIX_SESSION_RESOURCES, PMIX_SESSION_SEP,
};
static const char *const since_7_0[] = {
    PMIX_SPAWN_TREE_ROOT, PMIX_SPAWN_TREE_ACTIVE, PMIX_SPAWN_TARGET, PMIX_LOCAL_PARTICIPANTS,
    PMIX_QUERY_ALLOC_IDS, PMIX_QUERY_ALLOC_PROPERTIES, PMIX_ALLOC_PROPERTY,
    PMIX_ALLOC_RELEASABLE, PMIX_ALLOC_WARN_TIMEOUT, PMIX_ALLOC_STATUS, PMIX_ALLOC_TARGET,
    PMIX_ALLOC_INHERITANCE, PMIX_IOF_INHERIT,
};
/* clang-format on */

static const struct {
    uint32_t release;
    const char *const *keys;
    size_t count;
} later[] = {
    { SX_FOREIGN_NUMBER(4, 2, 9), since_4_2_9, SX_COUNT(since_4_2_9) },
    { SX_FOREIGN_NUMBER(5, 0, 0), since_5_0, SX_COUNT(since_5_0) },
    { SX_FOREIGN_NUMBER(6, 1, 0), since_6_1, SX_COUNT(since_6_1) },
    { SX_FOREIGN_NUMBER(7, 0, 0), since_7_0, SX_COUNT(since_7_0) },
};

bool sx_gateway_is_known(const char *key, uint32_t release)
{
    bool is_later = false;

    for (size_t i = 0; i < SX_COUNT(later) && !is_later; i++) {
        for (size_t k = 0; release < later[i].release && k < later[i].count && !is_later; k++) {
            is_later = strcmp(key, later[i].keys[k]) == 0;
        }
    }
    return !is_later && sx_attribute_name(key) != NULL;
}

bool sx_gateway_is_storable(const char *key)
{
    const struct sx_session *const session = sx_session_current();
    const uint32_t release = session != NULL ? session->foreign.number : 0;

    return release < SX_FOREIGN_NUMBER(4, 2, 0) || release >= SX_FOREIGN_NUMBER(5, 0, 0) ||
           !sx_gateway_is_reserved(key) || sx_gateway_is_known(key, release);
}

/* ---- One value ------------------------------------------------------------------------------- */

/* A value that borrows from a view. */
struct viewed {
    pmix_value_t value;
    pmix_data_array_t array;
};

/* The interface has no const for what a value points at; nothing writes there. */
static void *borrowed(const void *data)
{
    return (void *)(uintptr_t)data;
}

static void view_init(struct viewed *ret, const shmix_value_t *view)
{
    ret->value = (pmix_value_t){ .type = view->type };
    if (view->type == PMIX_DATA_ARRAY) {
        ret->array = (pmix_data_array_t){ .type = view->element_type,
                                          .size = view->count,
                                          .array = borrowed(view->data) };
        ret->value.data.darray = &ret->array;
    } else if (view->type == PMIX_STRING) {
        ret->value.data.string = borrowed(view->data);
    } else if (view->type == PMIX_TIMEVAL) {
        memcpy(&ret->value.data.tv, view->data, sizeof(ret->value.data.tv));
    } else if (view->type == PMIX_PROC || view->type == PMIX_PROC_NSPACE) {
        ret->value.data.ptr = borrowed(view->data);
    } else if (view->element_type != PMIX_UNDEF) {
        ret->value.data.bo = (pmix_byte_object_t){ .bytes = borrowed(view->data),
                                                   .size = view->count };
    } else if (view->type == PMIX_FLOAT) {
        ret->value.data.fval = (float)view->number.f64;
    } else {
        ret->value.data.uint64 = view->number.u64; /* little-endian, of whatever width */
    }
}

void sx_gateway_view_put(struct sx_wire_writer *w, const char *key, const shmix_value_t *view)
{
    struct viewed viewed;

    view_init(&viewed, view);
    sx_codec_put_kval(w, key, &viewed.value);
}

/* The process, node, application or session that a value is about. */
struct place {
    const char *nspace;
    shmix_realm_t realm;
    pmix_rank_t rank;
};

/* A value without a view: a copy. */
static pmix_status_t get_copy(const struct place *place, const char *key, pmix_value_t **ret)
{
    static const struct {
        const char *realm, *id;
    } directives[] = {
        [SHMIX_NODE] = { PMIX_NODE_INFO, PMIX_NODEID },
        [SHMIX_APP] = { PMIX_APP_INFO, PMIX_APPNUM },
        [SHMIX_SESSION] = { PMIX_SESSION_INFO, NULL },
    };
    pmix_info_t infos[3];
    pmix_proc_t proc;
    const bool yes = true;
    size_t count = 0;

    PMIX_LOAD_PROCID(&proc, place->nspace,
                     place->realm == SHMIX_JOB ? place->rank : PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&infos[count++], PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (place->realm != SHMIX_JOB) {
        PMIX_INFO_LOAD(&infos[count++], directives[place->realm].realm, &yes, PMIX_BOOL);
    }
    if (place->realm != SHMIX_JOB && directives[place->realm].id != NULL) {
        PMIX_INFO_LOAD(&infos[count++], directives[place->realm].id, &place->rank, PMIX_UINT32);
    }
    return PMIx_Get(&proc, key, infos, count, ret);
}

/* Takes a value: a KVAL, or an info of an array. */
typedef void (*sink_t)(void *to, const char *key, const pmix_value_t *value);

static void to_kvals(void *to, const char *key, const pmix_value_t *value)
{
    sx_codec_put_kval(to, key, value);
}

static void to_group(void *to, const char *key, const pmix_value_t *value)
{
    sx_codec_group_add(to, key, value);
}

static void value_write(const struct place *place, const char *name, const shmix_key_t *key,
                        sink_t sink, void *to)
{
    shmix_value_t view;
    struct viewed viewed;
    pmix_value_t *copy;
    const pmix_status_t rc = shmix_read_value(key, place->rank, &view);

    if (rc == PMIX_SUCCESS) {
        view_init(&viewed, &view);
        sink(to, name, &viewed.value);
    } else if (rc == PMIX_ERR_NOT_SUPPORTED && get_copy(place, name, &copy) == PMIX_SUCCESS) {
        sink(to, name, copy);
        PMIX_VALUE_RELEASE(copy);
    }
}

/* ---- A realm --------------------------------------------------------------------------------- */

struct keys {
    char **names;
    const shmix_key_t **handles;
    size_t count;
};

static void keys_deinit(struct keys *keys)
{
    PMIx_Argv_free(keys->names);
    free(keys->handles);
}

static pmix_status_t keys_init(struct keys *keys, shmix_job_t *job, shmix_realm_t realm)
{
    pmix_status_t rc;

    *keys = (struct keys){ .names = NULL };
    rc = shmix_job_keys(job, realm, &keys->names, &keys->count);
    if (rc == PMIX_SUCCESS) {
        keys->handles = calloc(keys->count + 1, sizeof(*keys->handles));
        rc = keys->handles == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    for (size_t i = 0; i < keys->count && rc == PMIX_SUCCESS; i++) {
        rc = shmix_key_find(job, realm, keys->names[i], &keys->handles[i]);
    }
    if (rc != PMIX_SUCCESS) {
        keys_deinit(keys);
        *keys = (struct keys){ .names = NULL };
    }
    return rc;
}

/* The first place of a realm, from @from on, that has a value of any key. */
static bool place_next(const struct keys *keys, pmix_rank_t from, pmix_rank_t *ret)
{
    pmix_rank_t least = PMIX_RANK_VALID, rank;

    for (size_t i = 0; i < keys->count; i++) {
        if (shmix_key_next(keys->handles[i], from, &rank) == PMIX_SUCCESS && rank < least) {
            least = rank;
        }
    }
    *ret = least;
    return least != PMIX_RANK_VALID;
}

static const shmix_key_t *key_of(const struct keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->names[i], name) == 0) {
            return keys->handles[i];
        }
    }
    return NULL;
}

/* The number of a node or an application stands in its array, first. */
static void add_number(struct sx_codec_group *group, const struct keys *keys, const char *key,
                       pmix_rank_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };
    const shmix_key_t *const stored = key_of(keys, key);
    shmix_value_t view;

    if (stored == NULL || shmix_read_value(stored, number, &view) != PMIX_SUCCESS) {
        sx_codec_group_add(group, key, &value);
    }
}

/* An array for each place of a realm. */
static pmix_status_t arrays_write(struct sx_wire_writer *w, shmix_job_t *job, const char *nspace,
                                  shmix_realm_t realm, const char *array_key, const char *id_key)
{
    struct place place = { .nspace = nspace, .realm = realm };
    struct keys keys;
    const pmix_status_t rc = keys_init(&keys, job, realm);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    for (place.rank = 0; place_next(&keys, place.rank, &place.rank); place.rank++) {
        struct sx_codec_group group = { .elements.form = w->form };

        if (id_key != NULL) {
            add_number(&group, &keys, id_key, place.rank);
        }
        for (size_t i = 0; i < keys.count; i++) {
            value_write(&place, keys.names[i], keys.handles[i], to_group, &group);
        }
        sx_codec_group_put(w, array_key, &group);
    }
    keys_deinit(&keys);
    return PMIX_SUCCESS;
}

/* ---- The job and its ranks ------------------------------------------------------------------- */

/* One that cannot be stored would cost the rank what comes after it, too. */
static void keys_drop_unstorable(struct keys *keys)
{
    size_t kept = 0;

    for (size_t i = 0; i < keys->count; i++) {
        if (sx_gateway_is_storable(keys->names[i])) {
            keys->names[kept] = keys->names[i];
            keys->handles[kept++] = keys->handles[i];
        } else {
            free(keys->names[i]);
        }
    }
    if (keys->names != NULL) {
        keys->names[kept] = NULL;
    }
    keys->count = kept;
}

static void job_values_write(struct sx_wire_writer *w, const struct keys *keys, const char *nspace)
{
    const struct place place = { .nspace = nspace, .rank = PMIX_RANK_WILDCARD };

    for (size_t i = 0; i < keys->count; i++) {
        if (!is_withheld(keys->names[i])) {
            value_write(&place, keys->names[i], keys->handles[i], to_kvals, w);
        }
    }
}

/* Values of the host about each rank.  Those that it has put itself are sent when asked for. */
static void ranks_write(struct sx_wire_writer *w, const struct keys *keys, const char *nspace)
{
    struct place place = { .nspace = nspace };

    for (place.rank = 0; place_next(keys, place.rank, &place.rank); place.rank++) {
        struct sx_wire_writer blob = { .form = w->form };
        size_t head;

        sx_codec_put_u32(&blob, PMIX_PROC_RANK, place.rank);
        head = blob.size;
        for (size_t i = 0; i < keys->count; i++) {
            if (sx_gateway_is_reserved(keys->names[i])) {
                value_write(&place, keys->names[i], keys->handles[i], to_kvals, &blob);
            }
        }
        if (blob.size > head) {
            sx_codec_put_kval_bytes(w, PROC_BLOB, &blob);
        }
        sx_wire_writer_deinit(&blob);
    }
}

pmix_status_t sx_gateway_job_write(struct sx_wire_writer *w, shmix_job_t *job, const char *nspace)
{
    struct keys keys;
    pmix_status_t rc = keys_init(&keys, job, SHMIX_JOB);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    keys_drop_unstorable(&keys);
    job_values_write(w, &keys, nspace);
    rc = arrays_write(w, job, nspace, SHMIX_SESSION, SESSION_ARRAY, NULL);
    if (rc == PMIX_SUCCESS) {
        rc = arrays_write(w, job, nspace, SHMIX_NODE, NODE_ARRAY, PMIX_NODEID);
    }
    if (rc == PMIX_SUCCESS) {
        rc = arrays_write(w, job, nspace, SHMIX_APP, APP_ARRAY, PMIX_APPNUM);
    }
    if (rc == PMIX_SUCCESS) {
        ranks_write(w, &keys, nspace);
    }
    keys_deinit(&keys);
    return rc;
}

/* Whether this process has a value of @key at hand that is about all of @nspace; NULL: any. */
static bool is_at_hand(const char *nspace, const char *key)
{
    const struct place place = { .nspace = nspace, .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *copy;

    if (get_copy(&place, key, &copy) != PMIX_SUCCESS) {
        return false;
    }
    PMIX_VALUE_RELEASE(copy);
    return true;
}

/* Whether @nspace is the name of a list of processes, as of a group: what is known of it follows
 * from the list, and nothing is stored under that name. */
static bool is_list(const char *nspace)
{
    return is_at_hand(nspace, PMIX_JOBID) && !is_at_hand(nspace, NULL);
}

pmix_status_t sx_gateway_nspace_write(struct sx_wire_writer *w, const char *nspace)
{
    shmix_job_t *job;
    pmix_status_t rc = is_list(nspace) ? PMIX_ERR_NOT_FOUND : shmix_job_open(nspace, &job);

    if (rc == PMIX_SUCCESS) {
        rc = sx_gateway_job_write(w, job, nspace);
        shmix_job_close(job);
    }
    return rc;
}

pmix_status_t sx_gateway_job_open(struct sx_session *session)
{
    pmix_status_t rc = session->job == NULL ? shmix_job_open(NULL, &session->job) : PMIX_SUCCESS;

    if (rc == PMIX_SUCCESS) {
        rc = shmix_job_refresh(session->job);
    }
    /* Nothing here points into an older generation. */
    return rc == PMIX_SUCCESS ? shmix_job_unpin(session->job) : rc;
}

/* The only answer without a STATUS. */
pmix_status_t sx_gateway_req(struct sx_request *request, struct sx_wire_reader *body)
{
    struct sx_session *const session = request->session;
    struct sx_wire_writer answer = sx_request_writer(request);
    pmix_status_t rc = sx_gateway_job_open(session);

    (void)body;
    sx_codec_put_text(&answer, session->foreign.proc.nspace);
    if (rc == PMIX_SUCCESS) {
        rc = sx_gateway_job_write(&answer, session->job, session->foreign.proc.nspace);
    }
    if (rc != PMIX_SUCCESS) {
        sx_wire_writer_deinit(&answer);
        return rc;
    }
    sx_request_answer_body(request, &answer);
    return PMIX_SUCCESS;
}
