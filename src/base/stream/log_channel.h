/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_channel.h - the destinations of PMIx_Log: one table of channels.
 *
 * An info of a call whose key is in the table names a channel, and its value is the text for it.
 * Any other info is matter: it goes with the records of the call, or to the host.  Any thread. */
#ifndef SX_BASE_STREAM_LOG_CHANNEL_H
#define SX_BASE_STREAM_LOG_CHANNEL_H

#include <stdint.h>

#include <pmix_common.h>

/* The writer of a channel. */
enum sx_log_way {
    SX_LOG_NOBODY,
    SX_LOG_STDOUT, /* of the server's process */
    SX_LOG_STDERR,
    SX_LOG_SYSLOG, /* of this node */
    SX_LOG_HOST,   /* its `log` entry */
};

/* The channels that the `log` entry of `shmix run` takes.  A host with such an entry declares it,
 * receives no others, and has no other node. */
#define SX_LOGS_STREAMS 0x01u
#define SX_LOGS_RECORDS 0x02u

struct sx_log_channel {
    const char *key;
    const char *name;      /* of a stream or a record, as output names it */
    uint8_t way;           /* enum sx_log_way */
    uint8_t way_of_run;    /* the same under `shmix run`, which does not take it */
    uint8_t run;           /* SX_LOGS_*: it may take it */
    pmix_data_type_t type; /* of the value */
};

/* Return: NULL when @key names no channel. */
const struct sx_log_channel *sx_log_channel_find(const char *key);

/* The writer of a channel (NULL: the taker of matter) under a host that has declared @logs. */
enum sx_log_way sx_log_channel_way(const struct sx_log_channel *channel, uint8_t logs);

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for nothing at all, a key that is empty or does not end,
 * or a value that is not of the channel's type, with a line that names it. */
pmix_status_t sx_log_data_judge(const pmix_info_t data[], size_t ndata);

#endif
