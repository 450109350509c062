/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published.h - read published values without a message.
 *
 *     UNUSED --a lookup was answered with a value--> WORTH_IT --a store is there--> plain reads
 *                                                       \--there is none--> NEVER
 *
 * The store of the values that this user's processes may see is mapped at the second lookup: many
 * processes look a value up once, and never again. */
#ifndef SX_CLIENT_PUBLISH_PUBLISHED_H
#define SX_CLIENT_PUBLISH_PUBLISHED_H

#include "base/call/publish.h"

struct sx_link;

enum sx_published_use {
    SX_PUBLISHED_UNUSED = 0,
    SX_PUBLISHED_WORTH_IT,
    SX_PUBLISHED_NEVER,
};

/* A lookup at @link's server was answered with a value. */
void sx_published_was_found(struct sx_link *link);

/* Whether it is worth trying to read from memory. */
bool sx_published_is_used(const struct sx_link *link);

/* Look up all of @data, as @options say, if no message is needed.  Return: PMIX_SUCCESS, and @data
 * is filled; PMIX_ERR_NOT_FOUND, without a log line, when the server has to be asked. */
pmix_status_t sx_published_read(struct sx_link *link, pmix_pdata_t data[], size_t ndata,
                                const struct sx_lookup_options *options);

#endif
