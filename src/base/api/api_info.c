/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_info.c - PMIx_Info_*: one key with its directives and its value. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/list.h"
#include "base/value/value.h"

pmix_status_t PMIx_Info_load(pmix_info_t *info, const char *key, const void *data,
                             pmix_data_type_t type)
{
    if (info == NULL || key == NULL || sx_name_len(key, sizeof(info->key)) == sizeof(info->key)) {
        return PMIX_ERR_BAD_PARAM;
    }
    memset(info, 0, sizeof(*info));
    strcpy(info->key, key);
    return sx_value_load(&info->value, data, type);
}

pmix_status_t PMIx_Info_xfer(pmix_info_t *dest, const pmix_info_t *src)
{
    if (dest == NULL || src == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    return sx_elements_copy(dest, src, 1, PMIX_INFO);
}

#define SX_INFO_SET(name, flag)    \
    void name(pmix_info_t *info)   \
    {                              \
        if (info != NULL) {        \
            info->flags |= (flag); \
        }                          \
    }

#define SX_INFO_IS(name, flag)                              \
    bool name(const pmix_info_t *info)                      \
    {                                                       \
        return info != NULL && (info->flags & (flag)) != 0; \
    }

SX_INFO_SET(PMIx_Info_required, PMIX_INFO_REQD)
SX_INFO_SET(PMIx_Info_processed, PMIX_INFO_REQD_PROCESSED)
SX_INFO_SET(PMIx_Info_set_end, PMIX_INFO_ARRAY_END)
SX_INFO_SET(PMIx_Info_qualifier, PMIX_INFO_QUALIFIER)
SX_INFO_SET(PMIx_Info_persistent, PMIX_INFO_PERSISTENT)
SX_INFO_IS(PMIx_Info_is_required, PMIX_INFO_REQD)
SX_INFO_IS(PMIx_Info_was_processed, PMIX_INFO_REQD_PROCESSED)
SX_INFO_IS(PMIx_Info_is_end, PMIX_INFO_ARRAY_END)
SX_INFO_IS(PMIx_Info_is_qualifier, PMIX_INFO_QUALIFIER)
SX_INFO_IS(PMIx_Info_is_persistent, PMIX_INFO_PERSISTENT)

void PMIx_Info_optional(pmix_info_t *info)
{
    if (info != NULL) {
        info->flags &= ~(pmix_info_directives_t)PMIX_INFO_REQD;
    }
}

bool PMIx_Info_is_optional(const pmix_info_t *info)
{
    return info != NULL && (info->flags & PMIX_INFO_REQD) == 0;
}

pmix_boolean_t PMIx_Info_true(const pmix_info_t *p)
{
    return PMIx_Value_true(p == NULL ? NULL : &p->value);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* PMIx_Info_list_*: infos that are gathered before their number is known.
 *
 * Each info is a node of its own, so that a pointer handed out stays valid while the list grows.
 * An info that was inserted borrows its value: it is persistent, and only a copy of it owns one. */

struct info_node {
    struct sx_list link;
    pmix_info_t info;
};

struct info_list {
    struct sx_list nodes;
    size_t count;
};

static struct info_node *node_of(struct sx_list *link)
{
    return SX_LIST_ENTRY(link, struct info_node, link);
}

static void node_free(struct info_node *node)
{
    sx_elements_destruct(&node->info, 1, PMIX_INFO);
    free(node);
}

void *PMIx_Info_list_start(void)
{
    struct info_list *list = calloc(1, sizeof(*list));

    if (list != NULL) {
        sx_list_init(&list->nodes);
    }
    return list;
}

void PMIx_Info_list_release(void *ptr)
{
    struct info_list *list = ptr;
    struct sx_list *link;

    while (list != NULL && (link = sx_list_pop(&list->nodes)) != NULL) {
        node_free(node_of(link));
    }
    free(list);
}

/* Where a new info goes. */
enum place {
    PLACE_BACK,
    PLACE_FRONT,
    PLACE_REPLACE, /* of an info with the same key, else at the back */
    PLACE_KEEP,    /* at the back unless an info has the same key */
};

/* Take @node over, which has to be there (NULL: memory is out) and complete (@rc). */
static pmix_status_t list_place(struct info_list *list, struct info_node *node, pmix_status_t rc,
                                enum place place)
{
    if (node == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        free(node);
        return rc;
    }
    if (place == PLACE_REPLACE || place == PLACE_KEEP) {
        SX_LIST_EACH(it, &list->nodes) {
            struct info_node *old = node_of(it);

            if (strncmp(old->info.key, node->info.key, PMIX_MAX_KEYLEN) != 0) {
                continue;
            }
            if (place == PLACE_REPLACE) {
                const pmix_info_t info = old->info;

                old->info = node->info; /* in place, for those who walk the list */
                node->info = info;
            }
            node_free(node);
            return PMIX_SUCCESS;
        }
    }
    /* In front of the head is the end of the list, in front of the first node its beginning. */
    sx_list_append(place == PLACE_FRONT ? list->nodes.next : &list->nodes, &node->link);
    list->count++;
    return PMIX_SUCCESS;
}

static pmix_status_t list_load(void *ptr, const char *key, const void *value, pmix_data_type_t type,
                               enum place place)
{
    struct info_node *node;

    if (ptr == NULL || key == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    node = calloc(1, sizeof(*node));
    return list_place(ptr, node,
                      node == NULL ? PMIX_SUCCESS : PMIx_Info_load(&node->info, key, value, type),
                      place);
}

static pmix_status_t list_xfer(void *ptr, const pmix_info_t *src, enum place place)
{
    struct info_node *node;

    if (ptr == NULL || src == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    node = calloc(1, sizeof(*node));
    return list_place(ptr, node, node == NULL ? PMIX_SUCCESS : PMIx_Info_xfer(&node->info, src),
                      place);
}

static pmix_status_t list_value(void *ptr, const char *key, const pmix_value_t *value,
                                enum place place)
{
    struct info_node *node;
    pmix_status_t rc = PMIX_SUCCESS;

    if (ptr == NULL || key == NULL || value == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    node = calloc(1, sizeof(*node));
    if (node != NULL) {
        rc = PMIx_Info_load(&node->info, key, NULL, PMIX_UNDEF);
        if (rc == PMIX_SUCCESS) {
            rc = sx_value_copy(&node->info.value, value);
        }
    }
    return list_place(ptr, node, rc, place);
}

pmix_status_t PMIx_Info_list_add(void *ptr, const char *key, const void *value,
                                 pmix_data_type_t type)
{
    return list_load(ptr, key, value, type, PLACE_BACK);
}

pmix_status_t PMIx_Info_list_prepend(void *ptr, const char *key, const void *value,
                                     pmix_data_type_t type)
{
    return list_load(ptr, key, value, type, PLACE_FRONT);
}

pmix_status_t PMIx_Info_list_add_unique(void *ptr, const char *key, const void *value,
                                        pmix_data_type_t type, bool overwrite)
{
    return list_load(ptr, key, value, type, overwrite ? PLACE_REPLACE : PLACE_KEEP);
}

pmix_status_t PMIx_Info_list_add_value(void *ptr, const char *key, const pmix_value_t *value)
{
    return list_value(ptr, key, value, PLACE_BACK);
}

pmix_status_t PMIx_Info_list_add_value_unique(void *ptr, const char *key, const pmix_value_t *value,
                                              bool overwrite)
{
    return list_value(ptr, key, value, overwrite ? PLACE_REPLACE : PLACE_KEEP);
}

pmix_status_t PMIx_Info_list_xfer(void *ptr, const pmix_info_t *src)
{
    return list_xfer(ptr, src, PLACE_BACK);
}

pmix_status_t PMIx_Info_list_xfer_unique(void *ptr, const pmix_info_t *src, bool overwrite)
{
    return list_xfer(ptr, src, overwrite ? PLACE_REPLACE : PLACE_KEEP);
}

pmix_status_t PMIx_Info_list_insert(void *ptr, pmix_info_t *info)
{
    struct info_node *node;

    if (ptr == NULL || info == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    node = calloc(1, sizeof(*node));
    if (node != NULL) {
        node->info = *info;
        node->info.flags |= PMIX_INFO_PERSISTENT;
    }
    return list_place(ptr, node, PMIX_SUCCESS, PLACE_BACK);
}

pmix_status_t PMIx_Info_list_convert(void *ptr, pmix_data_array_t *par)
{
    struct info_list *list = ptr;
    pmix_info_t *infos;
    size_t count = 0;

    if (list == NULL || par == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    *par = (pmix_data_array_t){ .type = PMIX_INFO };
    if (list->count == 0) {
        return PMIX_ERR_EMPTY;
    }
    infos = calloc(list->count, sizeof(*infos));
    if (infos == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    SX_LIST_EACH(it, &list->nodes) {
        const pmix_status_t rc = PMIx_Info_xfer(&infos[count], &node_of(it)->info);

        if (rc != PMIX_SUCCESS) {
            sx_elements_destruct(infos, count, PMIX_INFO);
            free(infos);
            return rc;
        }
        count++;
    }
    par->array = infos;
    par->size = count;
    return PMIX_SUCCESS;
}

pmix_info_t *PMIx_Info_list_get_info(void *ptr, void *curr, void **next)
{
    struct info_list *list = ptr;
    struct sx_list *link;

    if (next != NULL) {
        *next = NULL;
    }
    if (list == NULL || next == NULL) {
        return NULL;
    }
    link = curr == NULL ? list->nodes.next : curr;
    if (link == &list->nodes) {
        return NULL;
    }
    *next = link->next == &list->nodes ? NULL : link->next;
    return &node_of(link)->info;
}

size_t PMIx_Info_list_get_size(void *ptr)
{
    return ptr == NULL ? 0 : ((struct info_list *)ptr)->count;
}
