/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* names.h - the constants of the standard by name: one table, for texts and for reading texts.
 *
 * The text of a code is the name of its constant, so that what a log shows can be searched for in
 * the standard.  All tables are constant; any thread may call. */
#ifndef SX_BASE_VALUE_NAMES_H
#define SX_BASE_VALUE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_name {
    int64_t value;
    const char *name;
};

/* The name of @value among the @count of @names, the first one if it has several.
 * Return: NULL when there is none. */
const char *sx_name_in(const struct sx_name *names, size_t count, int64_t value);

/* The name of a number of the enumerated type @type: "PMIX_ERR_TIMEOUT" for PMIX_STATUS and -24.
 * Return: NULL when the type has no named numbers or none of that value. */
const char *sx_name_find(pmix_data_type_t type, int64_t value);

/* The number of a name, for instance of "PMIX_ERR_TIMEOUT" in PMIX_STATUS.  Letter case counts.
 * Return: false when @name is unknown. */
bool sx_name_value(pmix_data_type_t type, const char *name, int64_t *ret_value);

/* "PMIX_JOB_SIZE" for "pmix.job.size", and back.  Return: NULL when unknown. */
const char *sx_attribute_name(const char *string);
const char *sx_attribute_string(const char *name);

/* How a later release spells the key that is @string in the headers.  Return: NULL when that has
 * not changed. */
const char *sx_attribute_also(const char *string);
/* The other way round.  Return: NULL when @also is not such a spelling. */
const char *sx_attribute_meant(const char *also);

#endif
