/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* private_value.c - values that are replaced in place; old ones are reference-counted.
 *
 * Bounded by one box a key and the values that were handed out. */
#include "client/data/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/pages.h"
#include "base/util.h"
#include "client/link/link.h"

/* Under data_lock. */
static struct sx_box *boxes;
static struct sx_body *handed_out;

struct sx_body *sx_body_new(uint64_t size)
{
    const size_t room = sx_align_up(size, 8);
    struct sx_body *const body = sx_pages_malloc(sizeof(*body) + room);

    if (body != NULL) {
        *body = (struct sx_body){ .references = 1 };
        memset(body->bytes + size, 0, room - size);
    }
    return body;
}

void sx_body_drop(struct sx_body *body)
{
    if (body != NULL && --body->references == 0) {
        free(body);
    }
}

struct sx_box *sx_box_new(struct sx_view *view, enum sx_realm realm, uint32_t row, const char *key,
                          size_t key_len)
{
    struct sx_box *const box = calloc(1, sizeof(*box) + sx_align_up(key_len + 1, 8));

    if (box != NULL) {
        *box = (struct sx_box){
            .next = boxes, .view = view, .realm = realm, .row = row, .key_len = key_len
        };
        memcpy(box->key, key, key_len);
        boxes = box;
    }
    return box;
}

void sx_box_take_back(struct sx_box *box)
{
    boxes = box->next;
    sx_body_drop(box->body);
    free(box);
}

struct sx_box *sx_box_first(void)
{
    return boxes;
}

void sx_box_set(struct sx_box *box, const struct sx_cell *cell, struct sx_body *body)
{
    sx_body_drop(box->body);
    box->cell = *cell;
    box->body = body;
}

void sx_box_rescope(struct sx_box *box, pmix_scope_t scope)
{
    const unsigned flags = box->cell.flags & ~SX_CELL_SCOPE_MASK;

    box->cell.flags = (uint16_t)(flags | (unsigned)scope << SX_CELL_SCOPE_SHIFT);
}

struct sx_cell sx_box_marker(const struct sx_box *box)
{
    return (struct sx_cell){ .type = PMIX_POINTER, .bits = (uintptr_t)box };
}

void sx_box_open(struct sx_item *item, bool hand_out)
{
    const struct sx_box *const box = sx_box_of(item);

    if (box == NULL) {
        return;
    }
    struct sx_body *const body = box->body;
    if (hand_out && body != NULL && !body->handed_out) {
        body->handed_out = true;
        body->references++;
        body->next = handed_out;
        handed_out = body;
    }
    item->cell = box->cell;
    item->body = body != NULL ? body->bytes : NULL;
}

void sx_box_peek(struct sx_item *item)
{
    const struct sx_box *const box = sx_box_of(item);

    if (box == NULL) {
        return;
    }
    pthread_mutex_lock(&sx_process.data_lock);
    if (box->body == NULL) {
        sx_box_open(item, false);
    } else {
        item->cell.flags = box->cell.flags;
    }
    pthread_mutex_unlock(&sx_process.data_lock);
}

void sx_box_hand_out(struct sx_item *item)
{
    if (sx_box_of(item) != NULL) {
        pthread_mutex_lock(&sx_process.data_lock);
        sx_box_open(item, true);
        pthread_mutex_unlock(&sx_process.data_lock);
    }
}

void sx_box_deinit(void)
{
    while (boxes != NULL) {
        struct sx_box *const next = boxes->next;

        sx_body_drop(boxes->body);
        free(boxes);
        boxes = next;
    }
    while (handed_out != NULL) {
        struct sx_body *const next = handed_out->next;

        sx_body_drop(handed_out);
        handed_out = next;
    }
}
