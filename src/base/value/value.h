/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value.h - the operations on values of any type: copy, free, compare, print.
 *
 * "Elements" are the things an array of a type holds (char * for PMIX_STRING, pmix_info_t for
 * PMIX_INFO); "values" are pmix_value_t.  All memory is the C library's (malloc/free), an array
 * is one block.  No function here keeps state; any thread may call. */
#ifndef SX_BASE_VALUE_VALUE_H
#define SX_BASE_VALUE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_common.h>

/* Nesting (arrays of infos that hold arrays ...) is followed this deep and no deeper. */
#define SX_VALUE_DEPTH_MAX 64

/* Copy @count elements of @type at @src to storage at @dst (uninitialised, caller's).
 * Return: PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_OUT_OF_RESOURCE;
 * PMIX_ERR_NOT_SUPPORTED (opaque objects of a foreign source).  On failure nothing is left
 * allocated. */
pmix_status_t sx_elements_copy(void *dst, const void *src, size_t count, pmix_data_type_t type);

/* Free what @count elements of @type own, not the array itself, and zero them. */
void sx_elements_destruct(void *elements, size_t count, pmix_data_type_t type);

/* A deep copy into @dst (uninitialised).  Return: as sx_elements_copy. */
pmix_status_t sx_value_copy(pmix_value_t *dst, const pmix_value_t *src);

/* Free what @value owns and make it PMIX_UNDEF.  Safe on a zeroed value and twice. */
void sx_value_destruct(pmix_value_t *value);

/* Set @value (uninitialised) from @data as PMIx_Value_load does: a C value or struct of @type. */
pmix_status_t sx_value_load(pmix_value_t *value, const void *data, pmix_data_type_t type);

/* Total order within a type: <0, 0, >0; different types order by type number. */
int sx_value_compare(const pmix_value_t *a, const pmix_value_t *b);

/* A malloc'ed one-line text of @value, NULL when memory is out. */
char *sx_value_print(const pmix_value_t *value);

/* The same for one element of @type (pmix_proc_t for PMIX_PROC ...). */
char *sx_element_print(const void *element, pmix_data_type_t type);

/* Read any integer type of @value as an unsigned or signed number.  Return: PMIX_ERR_BAD_PARAM for
 * a type that is not an integer or a number that does not fit. */
pmix_status_t sx_value_get_uint(const pmix_value_t *value, uint64_t *ret);
pmix_status_t sx_value_get_int(const pmix_value_t *value, int64_t *ret);

/* The truth of a directive: PMIX_UNDEF means present, hence true; bools as they are, integers
 * when not 0, strings by "true/t/yes/y/1" and "false/f/no/n/0", else false. */
bool sx_value_is_true(const pmix_value_t *value);

/* The info of @key in @info, or NULL.  Keys are compared whole, bounded by PMIX_MAX_KEYLEN; a
 * later spelling of the key counts as well. */
const pmix_info_t *sx_info_find(const pmix_info_t *info, size_t ninfo, const char *key);

/* A name inside a fixed array is usable only when it ends there.
 * Return: its length, or @size when it is unterminated. */
size_t sx_name_len(const char *name, size_t size);

/* The order of processes, for qsort and bsearch: by namespace, then by rank. */
int sx_proc_order(const void *left, const void *right);

#endif
