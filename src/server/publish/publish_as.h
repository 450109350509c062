/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish_as.h - published data for a host whose ranks also ask it in another way than ours.
 *
 * A rank that speaks to its host in the words of another protocol publishes in the same table as
 * one that calls PMIx_Publish (publish/publish.h), under its own name, and finds what others have
 * published there.  Its words are texts.  Any thread. */
#ifndef SX_SERVER_PUBLISH_PUBLISH_AS_H
#define SX_SERVER_PUBLISH_PUBLISH_AS_H

#include <pmix_common.h>
#include <stddef.h>

/* Publish @text under @key for all of the session, and until it ends, as @proc.  Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a key that is reserved or none; as sx_published_add;
 * PMIX_ERR_NOT_FOUND when there is no such namespace; PMIX_ERR_INIT without a server. */
pmix_status_t sx_publish_as(const pmix_proc_t *proc, const char *key, const char *text);

/* What @proc sees under @key.  Return: PMIX_SUCCESS, and it is in @ret_text; PMIX_ERR_NOT_FOUND,
 * also for what is no text or has not room in @size bytes; PMIX_ERR_INIT. */
pmix_status_t sx_lookup_as(const pmix_proc_t *proc, const char *key, char *ret_text, size_t size);

/* Take back what @proc has published under @key for all of the session.  Return: as
 * sx_published_withdraw; PMIX_ERR_INIT. */
pmix_status_t sx_unpublish_as(const pmix_proc_t *proc, const char *key);

#endif
