/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.h - what of `shmix query` is tested alone: "KEY=VALUE" as an info of the type that
 * PMIx_Query_info requires for the key. */
#ifndef SX_CLI_QUERY_QUERY_H
#define SX_CLI_QUERY_QUERY_H

#include <stdbool.h>

#include <pmix_common.h>

/* The string of a key that is given directly, or by its name.  Return: NULL when it is not a
 * key. */
const char *sx_query_key(const char *word);

/* @value NULL: as "true".  Return: false when @key or @value is not valid; else *ret is to be
 * destructed. */
bool sx_query_qualifier(pmix_info_t *ret, const char *key, const char *value);

#endif
