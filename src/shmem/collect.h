/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collect.h - all values of one row, as one array of infos. */
#ifndef SX_SHMEM_COLLECT_H
#define SX_SHMEM_COLLECT_H

#include "shmem/nspace_read.h"

/* Deep copies of the values of the row that @scope may see, as a DATA_ARRAY of infos in @ret
 * (uninitialised); of a process or job the qualified ones too, under PMIX_QUALIFIED_VALUE.  A value
 * that @site->open puts in place has to stay until this returns.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is no value; else the first error. */
pmix_status_t sx_collect(const struct sx_site *site, enum sx_realm realm, uint32_t row,
                         pmix_scope_t scope, pmix_value_t *ret);

#endif
