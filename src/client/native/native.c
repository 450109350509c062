/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native.c - job and key handles: open, move, release; and shmix_fd.
 *
 *     job: OPEN in generation g --refresh--> OPEN in g', g retired --no reader inside--> released
 *           \                                                \--pointers given out--> HELD
 *            \                                                    --unpin--> released
 *             \--PMIx_Finalize--> DEAD (returns PMIX_ERR_INIT) --close--> gone
 *
 * A process maps a generation once, for PMIx_Get and for all jobs (client/data/view.h).  Everything
 * that changes a handle happens here and under view_lock; reads are native_read.c's and take no
 * lock. Memory is bounded by the keys asked for and the generations not yet unpinned. */
#include "client/native/native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shmix.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"
#include "client/data/data.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/link/wait.h"
#include "shmem/segment.h"

/* ---- jobs of other servers ------------------------------------------------------------------- */

/* Find a namespace's store among all memfds that are open on the node.
 *
 * Any process can give a memfd any name.  A memfd of this user can do no more harm than its maker
 * could do anyway.  Memfds of other users are skipped, even by root, which could see them. */

struct search {
    const char *nspace;
    struct sx_store store;
    bool found;
};

static bool store_take(void *arg, pid_t pid, int fd)
{
    struct search *const search = arg;
    struct stat st;

    (void)pid;
    if (fstat(fd, &st) != 0 || st.st_uid != geteuid() ||
        sx_store_attach(&search->store, fd) != PMIX_SUCCESS) {
        return true;
    }
    search->found = strncmp(sx_segment_header(&search->store.seg)->nspace, search->nspace,
                            SX_SEGMENT_NSPACE_BYTES) == 0 &&
                    sx_store_successor(&search->store) == 0;
    if (!search->found) {
        sx_store_detach(&search->store);
    }
    return !search->found;
}

/* Map the newest generation of @nspace, of any server of this process's user on the node.
 * Return: false when there is none, or its namespace has ended. */
static bool foreign_store_find(const char *nspace, struct sx_store *ret_store)
{
    struct search search = { .nspace = nspace, .store = SX_STORE_NULL };

    (void)sx_outside_each(0, "store:", store_take, &search, NULL);
    if (search.found) {
        *ret_store = search.store;
    }
    return search.found;
}

/* The open jobs, under view_lock. */
static struct sx_list jobs = SX_LIST_INIT(jobs);

static_assert((int)SHMIX_JOB == (int)SX_REALM_JOB && (int)SHMIX_NODE == (int)SX_REALM_NODE &&
                  (int)SHMIX_APP == (int)SX_REALM_APP &&
                  (int)SHMIX_SESSION == (int)SX_REALM_SESSION,
              "one numbering");

static struct sx_hold *newest_of(const shmix_job_t *job)
{
    /* A-hold <- R-hold (job_move): the hold is filled before it is named. */
    return atomic_load_explicit(&job->newest, memory_order_acquire);
}

/* ---- generations ---------------------------------------------------------------------------- */

static bool is_current(const struct sx_hold *hold)
{
    return sx_store_successor(&hold->store) == 0;
}

/* A singleton has only its own values. */
static pmix_status_t private_obtain(const shmix_job_t *job, struct sx_hold *hold)
{
    struct sx_view *const view = sx_view_find(job->nspace, strlen(job->nspace));
    const pmix_status_t rc = view != NULL ? sx_view_unbox(view) : PMIX_ERR_NOT_FOUND;
    const struct sx_store *const store = rc == PMIX_SUCCESS ? sx_view_private(view) : NULL;

    if (store == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_NOT_FOUND;
    }
    hold->store = *store;
    return PMIX_SUCCESS;
}

static bool is_own(const shmix_job_t *job)
{
    return strcmp(job->nspace, sx_process.self.nspace) == 0;
}

/* A job of another server of this user. */
static pmix_status_t outside_obtain(const shmix_job_t *job, struct sx_hold *hold)
{
    struct sx_store store;

    if (!foreign_store_find(job->nspace, &store)) {
        return PMIX_ERR_NOT_FOUND;
    }
    hold->edition = sx_mapped_store_new(&store, true);
    if (hold->edition == NULL) {
        sx_store_detach(&store);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    hold->store = hold->edition->store;
    return PMIX_SUCCESS;
}

/* Fetch the newest store for @job. */
static pmix_status_t store_obtain(const shmix_job_t *job, struct sx_hold *hold)
{
    struct sx_view *view;
    pmix_status_t rc = sx_view_fetch_locked(job->nspace, &view);

    if (rc == PMIX_SUCCESS) {
        hold->edition = sx_mapped_store_retain(sx_view_shared(view));
        hold->store = hold->edition->store;
    } else if (rc == PMIX_ERR_UNREACH) {
        rc = private_obtain(job, hold);
    }
    return rc == PMIX_ERR_NOT_FOUND && !is_own(job) ? outside_obtain(job, hold) : rc;
}

static struct sx_hold *hold_free(struct sx_hold *hold)
{
    sx_mapped_store_release(hold->edition);
    free(hold);
    return NULL;
}

/* No reader uses any of them. */
static void holds_free(struct sx_hold *hold)
{
    while (hold != NULL) {
        struct sx_hold *const older = hold->older;

        (void)sx_grace_cancel(&hold->retired);
        hold_free(hold);
        hold = older;
    }
}

/* The job has left it and no reader is inside. */
static void hold_over(struct sx_retired *retired)
{
    struct sx_hold *const hold = SX_CONTAINER(retired, struct sx_hold, retired);
    struct sx_hold *newer = newest_of(hold->job);

    /* relaxed: the thread that set it has left (A-inside in epoch.c). */
    if (atomic_load_explicit(&hold->handed_out, memory_order_relaxed)) {
        return;
    }
    while (newer->older != hold) {
        newer = newer->older;
    }
    newer->older = hold->older;
    hold_free(hold);
}

static pmix_status_t hold_new(shmix_job_t *job, struct sx_hold **ret_hold)
{
    struct sx_hold *const hold = calloc(1,
                                        sizeof(*hold) + job->key_count * sizeof(hold->bindings[0]));

    if (hold == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    hold->job = job;
    const pmix_status_t rc = store_obtain(job, hold);
    if (rc != PMIX_SUCCESS) {
        free(hold);
        return rc;
    }
    *ret_hold = hold;
    return PMIX_SUCCESS;
}

static void binding_init(struct sx_binding *binding, struct sx_hold *hold, const shmix_key_t *key)
{
    binding->store = hold->store;
    binding->hold = hold;
    atomic_init(&binding->column, sx_store_column_hashed(&hold->store, key->hash, key->realm,
                                                         key->text, key->text_len));
}

/* Move the job to @hold, which has room for the bindings of all keys. */
static void job_move(shmix_job_t *job, struct sx_hold *hold)
{
    struct sx_hold *const older = newest_of(job);
    size_t index = 0;

    hold->older = older;
    for (shmix_key_t *key = job->keys; key != NULL; key = key->next) {
        struct sx_binding *const binding = &hold->bindings[index++];

        binding_init(binding, hold, key);
        /* R-bind -> A-bind (native_read.c): store and column are in place. */
        atomic_store_explicit(&key->binding, binding, memory_order_release);
    }
    /* R-hold -> A-hold (newest_of) */
    atomic_store_explicit(&job->newest, hold, memory_order_release);
    if (older != NULL) {
        sx_grace_retire(&older->retired, hold_over);
        sx_grace_collect();
    }
}

/* ---- jobs ----------------------------------------------------------------------------------- */

/* Under view_lock. */
static pmix_status_t job_open_locked(shmix_job_t *job)
{
    struct sx_hold *hold;

    /* Checked under the lock: sx_native_deinit either finds this job or was called before. */
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (job->nspace[0] == '\0') {
        memcpy(job->nspace, sx_process.self.nspace, sizeof(job->nspace));
    }
    const pmix_status_t rc = hold_new(job, &hold);
    if (rc == PMIX_SUCCESS) {
        job_move(job, hold);
        sx_list_append(&jobs, &job->node);
    }
    return rc;
}

pmix_status_t shmix_job_open(const char *nspace, shmix_job_t **ret_job)
{
    const size_t len = nspace != NULL ? strnlen(nspace, PMIX_MAX_NSLEN + 1) : 0;

    if (ret_job == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret_job = NULL;
    if (len > PMIX_MAX_NSLEN) {
        return PMIX_ERR_BAD_PARAM;
    }
    shmix_job_t *const job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (len != 0) {
        memcpy(job->nspace, nspace, len);
    }
    sx_list_init(&job->node);
    pthread_mutex_lock(&sx_process.view_lock);
    const pmix_status_t rc = job_open_locked(job);
    pthread_mutex_unlock(&sx_process.view_lock);
    if (rc != PMIX_SUCCESS) {
        const bool is_list = rc == PMIX_ERR_NOT_FOUND && sx_alias_size(job->nspace) != 0;

        free(job);
        return is_list ? SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                                  "\"%s\" is a connected namespace, whose members' data lie in the "
                                  "stores of their own: open those",
                                  nspace)
                       : rc;
    }
    *ret_job = job;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_job_close(shmix_job_t *job)
{
    if (job == NULL) {
        return PMIX_SUCCESS;
    }
    pthread_mutex_lock(&sx_process.view_lock);
    sx_list_remove(&job->node);
    holds_free(newest_of(job));
    pthread_mutex_unlock(&sx_process.view_lock);
    sx_table_deinit(&job->by_name);
    while (job->keys != NULL) {
        shmix_key_t *const next = job->keys->next;

        free(job->keys);
        job->keys = next;
    }
    free(job);
    return PMIX_SUCCESS;
}

/* Under view_lock. */
static pmix_status_t job_refresh_locked(shmix_job_t *job)
{
    const struct sx_hold *const newest = newest_of(job);
    struct sx_hold *hold;

    if (newest == NULL) {
        return PMIX_ERR_INIT;
    }
    if (is_current(newest)) {
        return PMIX_SUCCESS; /* another thread was faster */
    }
    const pmix_status_t rc = hold_new(job, &hold);
    if (rc == PMIX_SUCCESS) {
        job_move(job, hold);
    }
    return rc;
}

pmix_status_t shmix_job_refresh(shmix_job_t *job)
{
    if (job == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const struct sx_grace grace = sx_grace_enter();
    const struct sx_hold *const newest = newest_of(job);
    const bool current = newest != NULL && is_current(newest);

    sx_grace_exit(&grace);
    if (current) {
        return PMIX_SUCCESS;
    }
    pthread_mutex_lock(&sx_process.view_lock);
    const pmix_status_t rc = job_refresh_locked(job);
    pthread_mutex_unlock(&sx_process.view_lock);
    return rc;
}

pmix_status_t shmix_job_unpin(shmix_job_t *job)
{
    if (job == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pthread_mutex_lock(&sx_process.view_lock);
    struct sx_hold *const newest = newest_of(job);
    if (newest != NULL) {
        holds_free(newest->older);
        newest->older = NULL;
        sx_grace_collect();
    }
    pthread_mutex_unlock(&sx_process.view_lock);
    return newest != NULL ? PMIX_SUCCESS : PMIX_ERR_INIT;
}

pmix_status_t shmix_job_generation(const shmix_job_t *job, uint64_t *ret_generation)
{
    if (job == NULL || ret_generation == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const struct sx_grace grace = sx_grace_enter();
    const struct sx_hold *const newest = newest_of(job);

    if (newest != NULL) {
        *ret_generation = sx_segment_header(&newest->store.seg)->generation;
    }
    sx_grace_exit(&grace);
    return newest != NULL ? PMIX_SUCCESS : PMIX_ERR_INIT;
}

void sx_native_deinit(void)
{
    struct sx_list *node;

    pthread_mutex_lock(&sx_process.view_lock);
    while ((node = sx_list_pop(&jobs)) != NULL) {
        shmix_job_t *const job = SX_LIST_ENTRY(node, shmix_job_t, node);
        struct sx_hold *const hold = newest_of(job);

        for (shmix_key_t *key = job->keys; key != NULL; key = key->next) {
            atomic_store_explicit(&key->binding, NULL, memory_order_release);
        }
        atomic_store_explicit(&job->newest, NULL, memory_order_release);
        holds_free(hold);
    }
    pthread_mutex_unlock(&sx_process.view_lock);
}

/* ---- keys ----------------------------------------------------------------------------------- */

static shmix_key_t *key_known(const shmix_job_t *job, const shmix_key_t *like, const char *text)
{
    struct sx_table_node *node = sx_table_first(&job->by_name, like->hash);

    for (; node != NULL; node = sx_table_next(&job->by_name, node)) {
        shmix_key_t *const key = SX_CONTAINER(node, shmix_key_t, by_name);

        if (key->realm == like->realm && key->text_len == like->text_len &&
            memcmp(key->text, text, like->text_len) == 0) {
            return key;
        }
    }
    return NULL;
}

/* Under view_lock.  @like has the properties that are wanted. */
static pmix_status_t key_find_locked(shmix_job_t *job, const shmix_key_t *like, const char *text,
                                     const shmix_key_t **ret_key)
{
    struct sx_hold *const newest = newest_of(job);

    if (newest == NULL) {
        return PMIX_ERR_INIT;
    }
    shmix_key_t *key = key_known(job, like, text);
    if (key == NULL) {
        key = calloc(1, sizeof(*key) + like->text_len + 1);
        if (key == NULL || !sx_table_add(&job->by_name, &key->by_name, like->hash)) {
            free(key);
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        key->hash = like->hash;
        key->realm = like->realm;
        key->text_len = like->text_len;
        memcpy(key->text, text, like->text_len);
        binding_init(&key->first, newest, key);
        atomic_init(&key->binding, &key->first);
        key->next = job->keys;
        job->keys = key;
        job->key_count++;
    }
    *ret_key = key;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_key_find(shmix_job_t *job, shmix_realm_t realm, const char *key,
                             const shmix_key_t **ret_key)
{
    shmix_key_t like = { .realm = (enum sx_realm)realm };

    if (job == NULL || ret_key == NULL || (unsigned)realm > SHMIX_SESSION || key == NULL ||
        !sx_key_is_valid(key, &like.text_len)) {
        return PMIX_ERR_BAD_PARAM;
    }
    like.hash = sx_store_hash(like.realm, key, like.text_len);
    pthread_mutex_lock(&sx_process.view_lock);
    const pmix_status_t rc = key_find_locked(job, &like, key, ret_key);
    pthread_mutex_unlock(&sx_process.view_lock);
    return rc;
}

/* ---- stored keys ---------------------------------------------------------------------------- */

struct names {
    const struct sx_store *store;
    char **list; /* NULL behind the last, as there is room for one more */
    size_t count, room;
    bool short_of_memory;
};

/* A key with a stored value. */
static bool name_add(void *arg, const char *key, sx_column column)
{
    struct names *const names = arg;
    struct sx_item item;
    uint32_t row;

    if (sx_store_read(names->store, column, SX_ROW_JOB, &item) == PMIX_SUCCESS ||
        sx_store_row_next(names->store, column, 0, &row) == PMIX_SUCCESS) {
        char *const name = strdup(key);

        if (name == NULL || !SX_ARRAY_RESERVE(names->list, names->count + 1, names->room, 16)) {
            free(name);
            names->short_of_memory = true;
            return false;
        }
        names->list[names->count++] = name;
        names->list[names->count] = NULL;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

pmix_status_t shmix_job_keys(shmix_job_t *job, shmix_realm_t realm, char ***ret_keys,
                             size_t *ret_count)
{
    struct names names = { .list = NULL };

    if (job == NULL || (unsigned)realm > SHMIX_SESSION || ret_keys == NULL || ret_count == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pthread_mutex_lock(&sx_process.view_lock);
    const struct sx_hold *const newest = newest_of(job);

    if (newest != NULL) {
        names.store = &newest->store;
        sx_store_each_key(names.store, (enum sx_realm)realm, name_add, &names);
    }
    pthread_mutex_unlock(&sx_process.view_lock);
    if (newest == NULL || names.short_of_memory) {
        PMIx_Argv_free(names.list);
        return newest == NULL ? PMIX_ERR_INIT : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (names.count > 0) {
        qsort(names.list, names.count, sizeof(*names.list), by_text);
    }
    *ret_keys = names.list;
    *ret_count = names.count;
    return PMIX_SUCCESS;
}

/* ---- the descriptor to poll ------------------------------------------------------------------ */

/* The first call of shmix_fd opens it. */
static pmix_status_t open_once(void)
{
    struct sx_process *const p = &sx_process;
    struct sx_link *const link = sx_primary();
    struct sx_op op = SX_OP_INIT(&sx_op_plain, link);
    pmix_status_t rc = sx_link_status(link);

    if (rc == PMIX_ERR_UNREACH) {
        rc = PMIX_SUCCESS; /* a singleton: only its own callbacks arrive */
    } else if (rc == PMIX_SUCCESS) {
        rc = sx_request(&op, SX_MSG_WAKE_GET, NULL, 0,
                        sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
    }
    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&p->lock);
        rc = sx_wakefd_open_locked(link, op.fd);
        pthread_mutex_unlock(&p->lock);
    }
    return rc;
}

pmix_status_t shmix_fd(int *ret_fd)
{
    struct sx_process *const p = &sx_process;
    pmix_status_t rc;

    if (ret_fd == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    rc = sx_wait_until(sx_primary(), sx_wakefd_begin, NULL, 0, SX_DEADLINE_NEVER);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_wakefd_is_used() ? PMIX_SUCCESS : open_once();
    pthread_mutex_lock(&p->lock);
    const int fd = sx_wakefd_end_locked();
    if (rc == PMIX_SUCCESS) {
        *ret_fd = fd;
    }
    sx_local_ring_locked();
    pthread_mutex_unlock(&p->lock);
    return rc;
}
