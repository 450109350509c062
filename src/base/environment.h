/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* environment.h - variables of the environment: switches that are read from it, and the directives
 * that change one (PMIX_SET_ENVAR and its kin).
 *
 *   SET     the variable has this value          ADD      ... unless it is set
 *   UNSET   there is no such variable            PREPEND  the value, a separator, what it was
 *   APPEND  what it was, a separator, the value  FIRST    as PREPEND, and it stands nowhere else
 *
 * An empty variable is one that is not set for the last three.  An environment is a vector as
 * PMIx_Argv_append_nosize makes one, or NULL.  Any thread may call. */
#ifndef SX_BASE_ENVIRONMENT_H
#define SX_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

/* ---- switches -------------------------------------------------------------------------------- */

/* Switches in the environment: NAME=0 turns a feature off, NAME=N sets a bound. */

/* Whether the variable @name is 0.  Unset, empty and 1 are on; so is any other word, which is
 * warned of each time: callers keep the answer. */
bool sx_switch_is_off(const char *name);

/* Read the number that the variable @name is, from @min to @max; *ret stays as it is where the
 * variable is unset or empty.  Return: PMIX_SUCCESS, or PMIX_ERR_BAD_PARAM with a line that says
 * what is possible. */
pmix_status_t sx_switch_number(const char *name, uint64_t min, uint64_t max, uint64_t *ret);

/* ---- directives ------------------------------------------------------------------------------ */

/* Return: whether @key is one of these directives. */
bool sx_envar_is_directive(const char *key);

/* Apply @directive to *@env.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when it is not one of these
 * directives; PMIX_ERR_BAD_PARAM (logged) for a value of another type, an invalid name of a
 * variable, and no separator where one is needed; PMIX_ERR_OUT_OF_RESOURCE.  On an error *@env is
 * as it was. */
pmix_status_t sx_envar_apply(const pmix_info_t *directive, char ***env);

#endif
