/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* array.h - an array that grows: its room doubles each time, so that an addition costs the same on
 * average.  It is a pointer from malloc, a count and a capacity, where its owner has them.  Zeroed
 * it is empty, and free ends it. */
#ifndef SX_BASE_ARRAY_H
#define SX_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* @array: where the pointer is.  It has room for *@capacity elements; @first: the least room. */
static inline bool sx_array_grow(void *array, size_t *capacity, size_t element_bytes, size_t first)
{
    const size_t larger = *capacity == 0 ? first : 2 * *capacity;
    void *at;

    memcpy(&at, array, sizeof(at)); /* a pointer to any type */
    at = realloc(at, larger * element_bytes);
    if (at == NULL) {
        return false;
    }
    memcpy(array, &at, sizeof(at));
    *capacity = larger;
    return true;
}

/* Reserve room for one more element in @array, a pointer to elements, of which there are @count.
 * It has room for @capacity, a size_t variable; @first: the room that an empty one gets.  Return:
 * false when memory is out; then the array is as it was. */
#define SX_ARRAY_RESERVE(array, count, capacity, first) \
    ((count) < (capacity) || sx_array_grow(&(array), &(capacity), sizeof(*(array)), (first)))

#endif
