/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* view.c - the list of namespaces that this process reads, and the generation shown of each store.
 *     a shared store: NONE --fetch--> SHOWN --superseded: fetch--> the newer one SHOWN
 *                                        \--its namespace has ended: fetch--> NONE
 *
 * The list grows at its end and never shrinks before PMIx_Finalize; its length is bounded by
 * SX_VIEW_COUNT_MAX.  Writers hold data_lock (private stores) or view_lock (list, shared ones). */
#include "client/data/view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "client/link/link.h"
#include "client/link/op.h"

/* The view of the own namespace; the others follow in the list. */
static _Atomic(struct sx_view *) view_first;

/* The namespace, or the node's content, whose store is meant. */
struct meant {
    struct sx_link *link; /* its server is asked */
    const char *nspace;   /* "": no namespace's: `wanted` alone says which */
    uint32_t wanted;      /* enum sx_segment_wanted */
};

static struct sx_view *view_new(struct sx_link *link, const char *nspace)
{
    struct sx_view *const view = calloc(1, sizeof(*view));

    if (view != NULL) {
        view->link = link;
        view->nspace_len = strlen(nspace);
        memcpy(view->nspace, nspace, view->nspace_len + 1);
    }
    return view;
}

/* Show @edition, NULL for none, and retire the one that was shown; under view_lock. */
static void edition_show(struct sx_view *view, struct sx_mapped_store *edition)
{
    struct sx_mapped_store *const old = sx_view_shared(view);

    /* R-shared -> A-shared (view.h): the store is mapped before it is named. */
    atomic_store_explicit(&view->shared, edition, memory_order_release);
    if (old != NULL) {
        sx_mapped_store_retire(old);
        sx_grace_collect();
    }
}

struct sx_view *sx_view_open(const char *nspace, struct sx_store *shared)
{
    struct sx_view *const view = view_new(&sx_process.first, nspace);
    struct sx_mapped_store *edition = NULL;

    if (view != NULL && shared != NULL) {
        edition = sx_mapped_store_new(shared, true);
    }
    if (view == NULL || (shared != NULL && edition == NULL)) {
        free(view);
        return NULL;
    }
    edition_show(view, edition);
    atomic_store(&view_first, view);
    return view;
}

pmix_status_t sx_view_adopt(struct sx_view *view, struct sx_store *shared)
{
    struct sx_mapped_store *const edition = sx_mapped_store_new(shared, true);

    if (edition == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pthread_mutex_lock(&sx_process.view_lock);
    view->link = &sx_process.first;
    edition_show(view, edition);
    pthread_mutex_unlock(&sx_process.view_lock);
    return PMIX_SUCCESS;
}

static void privates_free(struct sx_private *priv)
{
    while (priv != NULL) {
        struct sx_private *const older = priv->older;

        free(priv);
        priv = older;
    }
}

void sx_view_close_all(void)
{
    struct sx_view *view = atomic_exchange(&view_first, NULL);

    while (view != NULL) {
        struct sx_view *const next = atomic_load(&view->next);

        sx_mapped_store_release(atomic_load(&view->shared));
        privates_free(atomic_load(&view->priv));
        if (view->has_writer) {
            sx_store_destroy(&view->writer);
        }
        free(view);
        view = next;
    }
    sx_grace_deinit();
    sx_mapped_stores_deinit();
}

struct sx_view *sx_view_find(const char *nspace, size_t nspace_len)
{
    /* A-view <- R-view (view_add): a view is whole before it is linked. */
    struct sx_view *view = atomic_load_explicit(&view_first, memory_order_acquire);

    while (view != NULL &&
           (view->nspace_len != nspace_len || memcmp(view->nspace, nspace, nspace_len) != 0)) {
        view = atomic_load_explicit(&view->next, memory_order_acquire);
    }
    return view;
}

struct sx_view *sx_view_next(const struct sx_view *view)
{
    /* A-view <- R-view (view_add) */
    return atomic_load_explicit(view != NULL ? &view->next : &view_first, memory_order_acquire);
}

struct sx_view *sx_view_of(const struct sx_link *link, uint32_t wanted)
{
    struct sx_view *view = sx_view_next(NULL);

    while (view != NULL &&
           (view->nspace_len != 0 || view->link != link || view->wanted != wanted)) {
        view = sx_view_next(view);
    }
    return view;
}

static struct sx_view *view_find(const struct meant *meant)
{
    return meant->nspace[0] != '\0' ? sx_view_find(meant->nspace, strlen(meant->nspace))
                                    : sx_view_of(meant->link, meant->wanted);
}

/* Under view_lock. */
static pmix_status_t view_add(const struct meant *meant, struct sx_view **ret_view)
{
    _Atomic(struct sx_view *) *last = &view_first;
    struct sx_view *view = view_find(meant);
    unsigned count = 0;

    if (view != NULL) {
        *ret_view = view;
        return PMIX_SUCCESS;
    }
    while ((view = atomic_load(last)) != NULL) {
        last = &view->next;
        count++;
    }
    if (count >= SX_VIEW_COUNT_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "data of more than %u namespaces in one process",
                        SX_VIEW_COUNT_MAX);
    }
    view = view_new(meant->link, meant->nspace);
    if (view == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    view->wanted = meant->wanted;
    /* R-view -> A-view (sx_view_find): filled before it is linked. */
    atomic_store_explicit(last, view, memory_order_release);
    *ret_view = view;
    return PMIX_SUCCESS;
}

pmix_status_t sx_view_obtain(const char *nspace, struct sx_view **ret_view)
{
    struct sx_view *const view = sx_view_find(nspace, strlen(nspace));

    if (view != NULL) {
        *ret_view = view;
        return PMIX_SUCCESS;
    }
    pthread_mutex_lock(&sx_process.view_lock);
    const struct meant meant = { sx_primary(), nspace, SX_WANT_STORE };
    const pmix_status_t rc = view_add(&meant, ret_view);
    pthread_mutex_unlock(&sx_process.view_lock);
    return rc;
}

/* Map the newest store that the server has; view_lock is held. */
static pmix_status_t download(const struct meant *meant, struct sx_store *ret_store)
{
    struct sx_op op = SX_OP_INIT(&sx_op_plain, meant->link);
    struct sx_segment_get get = { .wanted = meant->wanted };

    memcpy(get.nspace, meant->nspace, strlen(meant->nspace));
    const struct iovec iov = { &get, sizeof(get) };
    pmix_status_t rc = sx_request(&op, SX_MSG_SEGMENT_GET, &iov, 1,
                                  sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
    if (rc == PMIX_SUCCESS && op.fd < 0) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "no descriptor came with the store of %s", meant->nspace);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_attach(ret_store, op.fd);
    }
    if (op.fd >= 0) {
        close(op.fd);
    }
    return rc;
}

/* Under view_lock. */
static pmix_status_t download_and_show(const struct meant *meant, struct sx_view **ret_view)
{
    struct sx_store store;

    pmix_status_t rc = download(meant, &store);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = view_add(meant, ret_view);
    struct sx_mapped_store *const edition =
        rc == PMIX_SUCCESS ? sx_mapped_store_new(&store, sx_view_shared(*ret_view) == NULL) : NULL;
    if (edition == NULL) {
        sx_store_detach(&store);
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if ((*ret_view)->link != meant->link) { /* others are found by their link */
        (*ret_view)->link = meant->link;
    }
    edition_show(*ret_view, edition);
    return PMIX_SUCCESS;
}

/* Under view_lock. */
static pmix_status_t fetch(const struct meant *meant, struct sx_view **ret_view)
{
    struct sx_view *const view = view_find(meant);

    if (view != NULL && sx_view_shared(view) != NULL && !sx_view_is_stale(view)) {
        *ret_view = view; /* another thread was faster */
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = sx_link_status(meant->link);
    if (rc == PMIX_SUCCESS) {
        rc = download_and_show(meant, ret_view);
    }
    if (rc == PMIX_ERR_NOT_FOUND && view != NULL) {
        edition_show(view, NULL);
    }
    return rc;
}

pmix_status_t sx_view_fetch_locked(const char *nspace, struct sx_view **ret_view)
{
    struct sx_view *const view = sx_view_find(nspace, strlen(nspace));
    const bool goes_on = view != NULL && sx_view_shared(view) != NULL &&
                         sx_link_is_live(view->link);

    const struct meant meant = { goes_on ? view->link : sx_primary(), nspace, SX_WANT_STORE };

    return fetch(&meant, ret_view);
}

pmix_status_t sx_view_fetch_of_locked(struct sx_link *link, uint32_t wanted,
                                      struct sx_view **ret_view)
{
    const struct meant meant = { link, "", wanted };

    return fetch(&meant, ret_view);
}

pmix_status_t sx_view_enter(struct sx_link *link, uint32_t wanted, struct sx_grace *ret_grace,
                            const struct sx_store **ret_store)
{
    for (;;) {
        struct sx_view *view = sx_view_of(link, wanted);
        const struct sx_grace grace = sx_grace_enter();
        struct sx_mapped_store *const edition = view != NULL ? sx_view_shared(view) : NULL;

        if (edition != NULL && !sx_mapped_store_is_stale(edition)) {
            *ret_grace = grace;
            *ret_store = sx_mapped_store_store(edition);
            return PMIX_SUCCESS;
        }
        sx_grace_exit(&grace);
        pthread_mutex_lock(&sx_process.view_lock);
        const pmix_status_t rc = sx_view_fetch_of_locked(link, wanted, &view);

        pthread_mutex_unlock(&sx_process.view_lock);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

pmix_status_t sx_view_fetch(const char *nspace, struct sx_view **ret_view)
{
    pthread_mutex_lock(&sx_process.view_lock);
    const pmix_status_t rc = sx_view_fetch_locked(nspace, ret_view);
    pthread_mutex_unlock(&sx_process.view_lock);
    return rc;
}

bool sx_view_hide(struct sx_view *view, const struct sx_link *link)
{
    pthread_mutex_lock(&sx_process.view_lock);
    const bool is_shown = view->link == link && sx_view_shared(view) != NULL;

    if (is_shown) {
        edition_show(view, NULL);
    }
    pthread_mutex_unlock(&sx_process.view_lock);
    return is_shown;
}

/* Make the writer if there is none; data_lock is held. */
static pmix_status_t writer_obtain(struct sx_view *view)
{
    const struct sx_store_options options = { .nspace = view->nspace, .private_memory = true };

    if (view->has_writer) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_store_create(&view->writer, &options);
    view->has_writer = rc == PMIX_SUCCESS;
    return rc;
}

/* The writer may have moved to a new segment; the old one stays mapped until it is destroyed. */
static pmix_status_t writer_show(struct sx_view *view)
{
    const struct sx_store *const shown = sx_view_private(view);

    if (shown != NULL && shown->seg.base == view->writer.view.seg.base) {
        return PMIX_SUCCESS;
    }
    struct sx_private *const priv = malloc(sizeof(*priv));

    if (priv == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    priv->store = view->writer.view;
    /* relaxed: data_lock makes us the only writer. */
    priv->older = atomic_load_explicit(&view->priv, memory_order_relaxed);
    /* R-priv -> A-priv (view.h): the store is readable before it is named. */
    atomic_store_explicit(&view->priv, priv, memory_order_release);
    return PMIX_SUCCESS;
}

/* True when the private store itself has exactly this value. */
static bool is_stored(const struct sx_item *item, const struct sx_view_put *put)
{
    const struct sx_cell *const cell = &put->cell;

    return item->cell.type == cell->type && item->cell.len == cell->len &&
           ((item->cell.flags ^ cell->flags) & SX_CELL_NULL) == 0 &&
           sx_item_scope(item) == put->scope &&
           (cell->len != 0 ? memcmp(item->body, put->body, cell->len) == 0
                           : item->cell.bits == cell->bits);
}

/* Put the value into @box, which is new if @is_new. */
static pmix_status_t box_fill(struct sx_view *view, struct sx_view_put *put, struct sx_box *box,
                              bool is_new)
{
    const struct sx_cell cell = put->cell, marker = sx_box_marker(box);

    if (cell.len != 0 && put->owned == NULL) {
        put->owned = sx_body_new(cell.len);
        if (put->owned == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        memcpy(put->owned->bytes, put->body, cell.len);
    }
    sx_box_set(box, &cell, put->owned);
    sx_box_rescope(box, put->scope);
    box->taken &= (pmix_scope_t)~put->scope;
    put->owned = NULL;
    return !is_new ? PMIX_SUCCESS
                   : sx_store_put_flat(&view->writer, put->realm, put->row, put->key, put->scope,
                                       &marker, NULL);
}

pmix_status_t sx_view_put_locked(struct sx_view *view, struct sx_view_put *put,
                                 struct sx_box **ret_box)
{
    struct sx_item item = { .body = NULL };
    struct sx_box *box = NULL;
    bool is_new = false;
    pmix_status_t rc = writer_obtain(view);

    if (put->owned != NULL) {
        put->body = put->owned->bytes;
    }
    if (rc == PMIX_SUCCESS && !view->is_plain) {
        const bool found = sx_store_find(&view->writer.view, put->realm, put->row, put->key,
                                         &item) == PMIX_SUCCESS;

        box = found ? sx_box_of(&item) : NULL;
        is_new = box == NULL && (found ? !is_stored(&item, put) : put->owned != NULL);
        if (is_new) {
            box = sx_box_new(view, put->realm, put->row, put->key, put->key_len);
            rc = box != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    if (rc == PMIX_SUCCESS && box != NULL) {
        rc = box_fill(view, put, box, is_new);
        if (rc != PMIX_SUCCESS && is_new) {
            sx_box_take_back(box);
        }
    } else if (rc == PMIX_SUCCESS) {
        rc = sx_store_put_flat(&view->writer, put->realm, put->row, put->key, put->scope,
                               &put->cell, put->body);
    }
    if (rc == PMIX_SUCCESS) {
        rc = writer_show(view);
        *ret_box = box;
    }
    sx_body_drop(put->owned);
    put->owned = NULL;
    return rc;
}

/* The rest of the value, perhaps nothing, lies in a box; the next value replaces it there. */
static pmix_status_t box_withdraw(struct sx_view *view, struct sx_view_put *put, pmix_scope_t taken,
                                  struct sx_box **ret_box)
{
    struct sx_item item = { .body = NULL };
    struct sx_box *box = NULL;

    if (sx_store_find(&view->writer.view, put->realm, put->row, put->key, &item) == PMIX_SUCCESS) {
        box = sx_box_of(&item);
        sx_box_open(&item, false);
    }
    const bool has_value = item.cell.type != PMIX_UNDEF, is_new = box == NULL;
    const pmix_scope_t has = has_value ? sx_item_scope(&item) : PMIX_SCOPE_UNDEF;
    if (has == PMIX_SCOPE_UNDEF && (has_value || taken == PMIX_INTERNAL)) {
        return PMIX_SUCCESS; /* not put by this process */
    }
    put->scope = has & (pmix_scope_t)~taken;
    if (put->scope != PMIX_SCOPE_UNDEF) {
        put->cell = item.cell;
        put->body = item.body;
    }
    if (is_new) {
        box = sx_box_new(view, put->realm, put->row, put->key, put->key_len);
    }
    const pmix_status_t rc = box != NULL ? box_fill(view, put, box, is_new)
                                         : PMIX_ERR_OUT_OF_RESOURCE;
    if (rc != PMIX_SUCCESS) {
        if (is_new && box != NULL) {
            sx_box_take_back(box);
        }
        return rc;
    }
    box->taken |= taken & PMIX_GLOBAL;
    if (put->scope == PMIX_SCOPE_UNDEF) {
        sx_box_rescope(box, box->taken & PMIX_LOCAL); /* peers may still see it so */
    }
    *ret_box = box;
    return PMIX_SUCCESS;
}

pmix_status_t sx_view_withdraw_locked(struct sx_view *view, struct sx_view_put *put,
                                      struct sx_box **ret_box)
{
    const pmix_scope_t taken = put->scope;
    pmix_status_t rc = writer_obtain(view);

    *ret_box = NULL;
    if (rc == PMIX_SUCCESS) {
        rc = view->is_plain
                 ? sx_store_withdraw(&view->writer, put->realm, put->row, put->key, taken)
                 : box_withdraw(view, put, taken, ret_box);
    }
    return rc == PMIX_SUCCESS ? writer_show(view) : rc;
}

/* Flatten and put. */
static pmix_status_t value_put_locked(struct sx_view *view, struct sx_view_put *put,
                                      const pmix_value_t *value)
{
    struct sx_box *box;
    size_t size;
    pmix_status_t rc = sx_flat_size(value, &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_body *const body = sx_body_new(size);
    if (body == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = sx_flat_encode(value, &put->cell, body->bytes, size);
    if (rc == PMIX_SUCCESS) {
        put->body = body->bytes;
        if (size >= SX_BOX_LARGE_BYTES) {
            body->references++;
            put->owned = body;
        }
        rc = sx_view_put_locked(view, put, &box);
    }
    sx_body_drop(body);
    return rc;
}

pmix_status_t sx_view_put_qualified_locked(struct sx_view *view, uint32_t row, pmix_scope_t scope,
                                           const struct sx_qualified *qualified)
{
    char key[SX_QUALIFIED_LEGEND_LEN + 1];
    struct sx_view_put put = { .realm = SX_REALM_QUALIFIED,
                               .row = row,
                               .key = qualified->name,
                               .key_len = SX_QUALIFIED_NAME_LEN,
                               .scope = scope };
    struct sx_view_put legend = { .realm = SX_REALM_QUALIFIED,
                                  .row = SX_ROW_JOB,
                                  .key = key,
                                  .key_len = SX_QUALIFIED_LEGEND_LEN };
    pmix_value_t text;

    sx_qualified_legend_key(qualified->name, key);
    pmix_status_t rc = sx_qualified_legend(qualified, &text);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = value_put_locked(view, &legend, &text);
    free(text.data.darray->array);
    free(text.data.darray);
    return rc == PMIX_SUCCESS ? value_put_locked(view, &put, qualified->value) : rc;
}

pmix_status_t sx_view_store(struct sx_view *view, uint32_t row, const char *key, pmix_scope_t scope,
                            const pmix_value_t *value)
{
    struct sx_view_put put = {
        .realm = SX_REALM_JOB, .row = row, .key = key, .key_len = strlen(key), .scope = scope
    };
    const bool is_qualified = strcmp(key, PMIX_QUALIFIED_VALUE) == 0;
    struct sx_qualified qualified;
    pmix_status_t rc = is_qualified ? sx_qualified_read(&qualified, value) : PMIX_SUCCESS;

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&sx_process.data_lock);
    rc = is_qualified ? sx_view_put_qualified_locked(view, row, scope, &qualified)
                      : value_put_locked(view, &put, value);
    pthread_mutex_unlock(&sx_process.data_lock);
    return rc;
}

pmix_status_t sx_view_unbox(struct sx_view *view)
{
    pmix_status_t rc = PMIX_SUCCESS;

    pthread_mutex_lock(&sx_process.data_lock);
    view->is_plain = true;
    for (struct sx_box *box = sx_box_first(); box != NULL && rc == PMIX_SUCCESS; box = box->next) {
        if (box->view == view && box->cell.type == PMIX_UNDEF) {
            (void)sx_store_unset(&view->writer, box->realm, box->row, box->key);
        } else if (box->view == view) {
            rc = sx_store_put_flat(&view->writer, box->realm, box->row, box->key,
                                   (pmix_scope_t)((box->cell.flags & SX_CELL_SCOPE_MASK) >>
                                                  SX_CELL_SCOPE_SHIFT),
                                   &box->cell, box->body != NULL ? box->body->bytes : NULL);
        }
    }
    if (rc == PMIX_SUCCESS && view->has_writer) {
        rc = writer_show(view);
    }
    pthread_mutex_unlock(&sx_process.data_lock);
    return rc;
}

void sx_view_warm(struct sx_view *view)
{
    const struct sx_grace grace = sx_grace_enter();
    struct sx_mapped_store *const edition = sx_view_shared(view);

    if (edition != NULL) {
        sx_mapped_store_warm(edition);
    }
    sx_grace_exit(&grace);
}
