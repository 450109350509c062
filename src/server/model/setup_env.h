/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* setup_env.h - variables for the processes of a namespace, which its launcher has sent from its
 * own node (PMIx_server_setup_application, PMIx_server_setup_local_support).
 *
 *   slot: hash of the namespace --> the newest list of directives --> the one before it --> ...
 *
 * The loop thread writes.  PMIx_server_setup_fork reads, on any thread and in forked children: so
 * there is no lock, a list never changes, and a list is freed only after its namespace has ended,
 * when the host starts no process of it any more. */
#ifndef SX_SERVER_MODEL_SETUP_ENV_H
#define SX_SERVER_MODEL_SETUP_ENV_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#define SX_SETUP_ENV_MAX 256 /* namespaces */

struct sx_nspace;
struct sx_server;
struct sx_setup_env_list;

/* Zeroed is empty. */
struct sx_setup_env {
    struct {
        _Atomic uint64_t hash; /* 0: free */
        _Atomic(struct sx_setup_env_list *) newest;
    } slots[SX_SETUP_ENV_MAX];
};

/* Keep copies of the infos in @info that change an environment (base/environment.h), for @nspace.
 * Loop thread.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an invalid variable;
 * PMIX_ERR_OUT_OF_RESOURCE, logged, when there are too many namespaces or no memory. */
pmix_status_t sx_setup_env_add(struct sx_setup_env *carried, const char *nspace,
                               const pmix_info_t info[], size_t ninfo);

/* Apply the directives to *@env, the oldest first.  Return: as sx_envar_apply. */
pmix_status_t sx_setup_env_apply(struct sx_setup_env *carried, const char *nspace, char ***env);

/* As a row of lifecycle.c. */
void sx_setup_env_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_setup_env_end(struct sx_server *server);

#endif
