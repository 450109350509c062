/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish_as.h - published data for a host whose ranks also use another protocol than ours.
 *
 * A rank that uses another protocol with its host publishes in the same table as one that calls
 * PMIx_Publish (publish/publish.h).  It publishes under its own name, and finds what others have
 * published there.  Its values are texts.  Any thread. */
#ifndef SX_SERVER_PUBLISH_PUBLISH_AS_H
#define SX_SERVER_PUBLISH_PUBLISH_AS_H

#include <pmix_common.h>
#include <stddef.h>

/* Publish @text as @proc under @key, in range and lifetime of the session.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM for a key that is reserved or empty; as sx_published_add; PMIX_ERR_NOT_FOUND
 * when there is no such namespace; PMIX_ERR_INIT without a server. */
pmix_status_t sx_publish_as(const pmix_proc_t *proc, const char *key, const char *text);

/* Read the value that @proc finds under @key.  Return: PMIX_SUCCESS, and the value in @ret_text;
 * PMIX_ERR_NOT_FOUND, also for a value that is not a text or does not fit in @size bytes;
 * PMIX_ERR_INIT. */
pmix_status_t sx_lookup_as(const pmix_proc_t *proc, const char *key, char *ret_text, size_t size);

/* Remove the value that @proc has published under @key for all of the session.  Return: as
 * sx_published_withdraw; PMIX_ERR_INIT. */
pmix_status_t sx_unpublish_as(const pmix_proc_t *proc, const char *key);

#endif
