/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* claim.h - the owner of a name: each function that names processes asks here first.
 *
 *     FREE --a tool has it--> one user's tools --the last one goes--> FREE
 *        |--a connect, a group, an invitation--> that list's --its end--> FREE
 *        \--the host registers a namespace--> the host's --its end--> FREE
 *     one user's tools, or a list's --the host registers a namespace--> the host's
 *
 * The host is never refused a name.  Others lose it by the family stage name_claimed: tools are
 * disconnected, lists end.  The host also has the names that its next jobs may get
 * (sx_claim_is_kept), before it registers one.
 *
 * Process sets have names of their own, which stand for no process: these names are not checked
 * here. */
#ifndef SX_SERVER_MODEL_CLAIM_H
#define SX_SERVER_MODEL_CLAIM_H

#include <pmix_common.h>

#include <stdbool.h>
#include <sys/types.h>

struct sx_nspace;
struct sx_server;

/* Of names that this server gives to tools. */
#define SX_CLAIM_TOOLS_PREFIX "shmix-tool-"

/* Whether the host has @nspace, or a connect has brought it: it has processes other than tools. */
bool sx_claim_is_hosts(const struct sx_nspace *nspace);

/* Whether the host or this server keeps @name for itself, used or not: the server's own name; STEM,
 * STEM.N and STEM@N, where the host has a namespace STEM, STEM.M or STEM@M, or the server is called
 * STEM.server, STEM.M or STEM@M (N and M are decimal); NAME.N and NAME@N, where NAME is kept; names
 * that begin with SX_CLAIM_TOOLS_PREFIX. */
bool sx_claim_is_kept(const struct sx_server *server, const char *name);

/* A group under construction wants @name.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS, logged, when the
 * name has an owner or is kept; as sx_memberships_name_judge. */
pmix_status_t sx_claim_by_group(struct sx_server *server, const char *name);

/* A tool of user @uid wants @name.  Return: PMIX_SUCCESS; PMIX_EXISTS when it is the host's or a
 * list's, or kept; PMIX_ERR_NO_PERMISSIONS when tools of another user have it;
 * PMIX_ERR_NOT_AVAILABLE while it ends; then *ret_why says so. */
pmix_status_t sx_claim_by_tool(struct sx_server *server, const char *name, uid_t uid,
                               const char **ret_why);

/* The host takes @name.  On return the name has no other owner. */
void sx_claim_by_host(struct sx_server *server, const char *name);

#endif
