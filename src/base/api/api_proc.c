/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_proc.c - names and process identifiers: fill, compare, judge.
 *
 * Names live in fixed arrays.  A longer name is cut, the array always ends in NUL, and bytes behind
 * the name are zero, so that identifiers can be compared and stored as bytes. */
#include <string.h>

#include <pmix.h>

#include "base/value/value.h"

static void name_load(char *name, size_t size, const char *src)
{
    const size_t len = src == NULL ? 0 : strnlen(src, size - 1);

    if (name == NULL) {
        return;
    }
    memmove(name, len == 0 ? "" : src, len); /* @src may be @name itself */
    memset(name + len, 0, size - len);
}

void PMIx_Load_key(pmix_key_t key, const char *src)
{
    name_load(key, sizeof(pmix_key_t), src);
}

void PMIx_Load_nspace(pmix_nspace_t nspace, const char *str)
{
    name_load(nspace, sizeof(pmix_nspace_t), str);
}

void PMIx_Proc_load(pmix_proc_t *p, const char *nspace, pmix_rank_t rank)
{
    if (p != NULL) {
        PMIx_Load_nspace(p->nspace, nspace);
        p->rank = rank;
    }
}

void PMIx_Load_procid(pmix_proc_t *p, const char *nspace, pmix_rank_t rank)
{
    PMIx_Proc_load(p, nspace, rank);
}

void PMIx_Xfer_procid(pmix_proc_t *a, const pmix_proc_t *b)
{
    if (a != NULL && b != NULL && a != b) {
        PMIx_Proc_load(a, b->nspace, b->rank);
    }
}

bool PMIx_Check_key(const char *key, const char *str)
{
    return key != NULL && str != NULL && strncmp(key, str, PMIX_MAX_KEYLEN) == 0;
}

bool PMIx_Nspace_invalid(const char *nspace)
{
    return nspace == NULL || nspace[0] == '\0';
}

bool PMIx_Check_nspace(const char *a, const char *b)
{
    return PMIx_Nspace_invalid(a) || PMIx_Nspace_invalid(b) || strncmp(a, b, PMIX_MAX_NSLEN) == 0;
}

bool PMIx_Check_rank(pmix_rank_t a, pmix_rank_t b)
{
    return a == b || a == PMIX_RANK_WILDCARD || b == PMIX_RANK_WILDCARD;
}

bool PMIx_Check_procid(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return a != NULL && b != NULL && PMIx_Check_nspace(a->nspace, b->nspace) &&
           PMIx_Check_rank(a->rank, b->rank);
}

bool PMIx_Check_reserved_key(const char *key)
{
    return key != NULL && strncmp(key, "pmix", 4) == 0;
}

bool PMIx_Procid_invalid(const pmix_proc_t *p)
{
    return p == NULL || PMIx_Nspace_invalid(p->nspace) || p->rank == PMIX_RANK_INVALID;
}

bool PMIx_Rank_valid(pmix_rank_t a)
{
    return a < PMIX_RANK_VALID;
}

void PMIx_Multicluster_nspace_construct(pmix_nspace_t m, pmix_nspace_t a, pmix_nspace_t b)
{
    size_t a_len, b_len;

    if (m == NULL) {
        return;
    }
    memset(m, 0, sizeof(pmix_nspace_t));
    if (a == NULL || b == NULL) {
        return;
    }
    a_len = sx_name_len(a, sizeof(pmix_nspace_t));
    b_len = sx_name_len(b, sizeof(pmix_nspace_t));
    if (a_len + 1 + b_len < PMIX_MAX_NSLEN) {
        memcpy(m, a, a_len);
        m[a_len] = ':';
        memcpy(m + a_len + 1, b, b_len);
    }
}

void PMIx_Multicluster_nspace_parse(pmix_nspace_t m, pmix_nspace_t a, pmix_nspace_t b)
{
    const size_t len = m == NULL ? 0 : sx_name_len(m, sizeof(pmix_nspace_t));
    const char *colon = len == 0 ? NULL : memchr(m, ':', len);
    const size_t a_len = colon == NULL ? len : (size_t)(colon - m);

    if (m == NULL || a == NULL || b == NULL) {
        return;
    }
    memset(a, 0, sizeof(pmix_nspace_t));
    memset(b, 0, sizeof(pmix_nspace_t));
    memcpy(a, m, a_len < sizeof(pmix_nspace_t) ? a_len : sizeof(pmix_nspace_t) - 1);
    if (colon != NULL) {
        memcpy(b, colon + 1, len - a_len - 1);
    }
}
