/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* list.h - an intrusive doubly linked list; a node that is in no list points at itself. */
#ifndef SX_BASE_LIST_H
#define SX_BASE_LIST_H

#include <stdbool.h>

#include "base/util.h"

struct sx_list {
    struct sx_list *next, *prev;
};

#define SX_LIST_INIT(name) \
    {                      \
        &(name), &(name)   \
    }

static inline void sx_list_init(struct sx_list *node)
{
    node->next = node->prev = node;
}

static inline bool sx_list_empty(const struct sx_list *head)
{
    return head->next == head;
}

static inline void sx_list_append(struct sx_list *head, struct sx_list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/* Safe on a node that is in no list. */
static inline void sx_list_remove(struct sx_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    sx_list_init(node);
}

/* Move all nodes of @from behind those of @to. */
static inline void sx_list_splice(struct sx_list *to, struct sx_list *from)
{
    if (sx_list_empty(from)) {
        return;
    }
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    sx_list_init(from);
}

/* Take the first node out.  Return: NULL when the list is empty. */
static inline struct sx_list *sx_list_pop(struct sx_list *head)
{
    struct sx_list *node = head->next;

    if (node == head) {
        return NULL;
    }
    sx_list_remove(node);
    return node;
}

#define SX_LIST_ENTRY(node, type, member) SX_CONTAINER(node, type, member)

/* The body may remove @it, nothing else. */
#define SX_LIST_EACH(it, head)                                                   \
    for (struct sx_list *it = (head)->next, *it##_next = it->next; it != (head); \
         it = it##_next, it##_next = it->next)

#endif
