/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.h - one question for a value: parsed from the arguments of a Get, answered from memory. */
#ifndef SX_CLIENT_LOOKUP_H
#define SX_CLIENT_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"

/* What a Get asks.  Strings are borrowed from the caller. */
struct sx_lookup {
    struct sx_view *view; /* NULL: a namespace this process has not met */
    const char *nspace;
    uint32_t rank;
    const char *key; /* NULL: everything of @rank */
    size_t key_len;
    bool reserved; /* the key is one of the library's: complete at connect */
    bool optional, immediate;
    bool waits;       /* for a reserved key too, as somebody may put it yet */
    bool job_only;    /* not of the node, app or session */
    bool is_static;   /* fill the caller's pmix_value_t */
    bool is_pointers; /* point into the store instead of copying */
    bool has_row;
    enum sx_realm realm; /* JOB: the job and its processes, row is not used; QUALIFIED likewise,
                          * and the key is the name of what was asked for */
    uint32_t row;
    const char *hostname; /* names the row of a node */
    pmix_scope_t scope;   /* PMIX_SCOPE_UNDEF: any */
    uint64_t timeout_ns;  /* 0: none */
    char name[SX_QUALIFIED_NAME_LEN + 1];
};

/* Judge and parse.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED for an
 * unknown directive that is required. */
pmix_status_t sx_lookup_init(struct sx_lookup *lookup, const pmix_proc_t *proc, const char *key,
                             const pmix_info_t *info, size_t ninfo);

/* Look into what is mapped, without a lock.  The item may stand for a box (box.h), if its value
 * has a body.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND;
 * PMIX_ERR_EXISTS_OUTSIDE_SCOPE; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_lookup_find(const struct sx_lookup *lookup, struct sx_item *ret);

/* Everything of the rank or row as one DATA_ARRAY of infos in @ret (uninitialised), the private
 * store's word first.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is nothing. */
pmix_status_t sx_lookup_collect(struct sx_lookup *lookup, pmix_value_t *ret);

#endif
