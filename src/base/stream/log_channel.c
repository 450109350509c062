/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_channel.c - a channel is a row.
 *
 * A record is a text of its own, or (a bool) all that the call says. */
#include "base/stream/log_channel.h"

#include <string.h>

#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"

static const struct sx_log_channel channels[] = {
    { PMIX_LOG_STDERR, "stderr", SX_LOG_STDERR, SX_LOG_STDERR, SX_LOGS_STREAMS, PMIX_STRING },
    { PMIX_LOG_STDOUT, "stdout", SX_LOG_STDOUT, SX_LOG_STDOUT, SX_LOGS_STREAMS, PMIX_STRING },
    { PMIX_LOG_SYSLOG, "syslog", SX_LOG_SYSLOG, SX_LOG_SYSLOG, 0, PMIX_STRING },
    { PMIX_LOG_LOCAL_SYSLOG, "syslog", SX_LOG_SYSLOG, SX_LOG_SYSLOG, 0, PMIX_STRING },
    { PMIX_LOG_GLOBAL_SYSLOG, "syslog", SX_LOG_HOST, SX_LOG_SYSLOG, 0, PMIX_STRING },
    { PMIX_LOG_JOB_RECORD, "job-record", SX_LOG_HOST, SX_LOG_NOBODY, SX_LOGS_RECORDS, PMIX_BOOL },
    { PMIX_LOG_GLOBAL_DATASTORE, "global-datastore", SX_LOG_HOST, SX_LOG_NOBODY, SX_LOGS_RECORDS,
      PMIX_BOOL },
    { PMIX_LOG_EMAIL, "email", SX_LOG_HOST, SX_LOG_NOBODY, 0, PMIX_DATA_ARRAY },
};

const struct sx_log_channel *sx_log_channel_find(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(channels); i++) {
        if (strncmp(key, channels[i].key, PMIX_MAX_KEYLEN) == 0) {
            return &channels[i];
        }
    }
    return NULL;
}

enum sx_log_way sx_log_channel_way(const struct sx_log_channel *channel, uint8_t logs)
{
    if (channel == NULL) {
        return logs == 0 ? SX_LOG_HOST : SX_LOG_NOBODY;
    }
    if (logs == 0) {
        return channel->way;
    }
    return (channel->run & logs) != 0 ? SX_LOG_HOST : channel->way_of_run;
}

static bool fits(const struct sx_log_channel *channel, const pmix_value_t *value)
{
    switch (channel->type) {
    case PMIX_STRING:
        return value->type == PMIX_STRING && value->data.string != NULL;
    case PMIX_BOOL: /* or a text */
        return value->type == PMIX_BOOL || value->type == PMIX_UNDEF ||
               (value->type == PMIX_STRING && value->data.string != NULL);
    default: /* of infos */
        return value->type == PMIX_DATA_ARRAY && value->data.darray != NULL &&
               value->data.darray->type == PMIX_INFO;
    }
}

pmix_status_t sx_log_data_judge(const pmix_info_t data[], size_t ndata)
{
    if (data == NULL || ndata == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < ndata; i++) {
        const size_t len = sx_name_len(data[i].key, sizeof(data[i].key));

        if (len == 0 || len > PMIX_MAX_KEYLEN) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "info %zu of PMIx_Log has a key that is %s", i,
                            len == 0 ? "empty" : "without an end");
        }
        const struct sx_log_channel *const channel = sx_log_channel_find(data[i].key);

        if (channel != NULL && !fits(channel, &data[i].value)) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" of PMIx_Log wants %s", data[i].key,
                            channel->type == PMIX_STRING ? "a string"
                            : channel->type == PMIX_BOOL ? "a bool or a string"
                                                         : "an array of infos");
        }
    }
    return PMIX_SUCCESS;
}
