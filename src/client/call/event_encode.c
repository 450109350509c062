/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_encode.c - an event as it travels: struct sx_event and what follows it. */
#include <stdlib.h>
#include <string.h>

#include "base/flat.h"
#include "base/status.h"
#include "base/value.h"
#include "client/call/event.h"
#include "client/link/procs.h"
#include "ring/record.h"

/* What the infos say of the event itself. */
struct directives {
    const pmix_proc_t *targets, *affected;
    size_t target_count, affected_count;
    uint8_t flags;
};

/* A process or an array of them, in place.  Return: false for anything else. */
static bool procs_of(const pmix_value_t *value, const pmix_proc_t **ret, size_t *ret_count)
{
    if (value->type == PMIX_PROC && value->data.proc != NULL) {
        *ret = value->data.proc;
        *ret_count = 1;
        return true;
    }
    if (value->type == PMIX_DATA_ARRAY && value->data.darray != NULL &&
        value->data.darray->type == PMIX_PROC && value->data.darray->array != NULL) {
        *ret = value->data.darray->array;
        *ret_count = value->data.darray->size;
        return *ret_count > 0;
    }
    return false;
}

static pmix_status_t directives_read(struct directives *d, const pmix_info_t info[], size_t ninfo)
{
    memset(d, 0, sizeof(*d));
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *const value = &info[i].value;
        bool good = true;

        if (sx_name_len(info[i].key, sizeof(info[i].key)) >= sizeof(info[i].key)) {
            return PMIX_ERR_BAD_PARAM;
        }
        if (strcmp(info[i].key, PMIX_EVENT_CUSTOM_RANGE) == 0) {
            good = procs_of(value, &d->targets, &d->target_count);
        } else if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 ||
                   strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROCS) == 0) {
            good = procs_of(value, &d->affected, &d->affected_count);
        } else if (strcmp(info[i].key, PMIX_EVENT_NON_DEFAULT) == 0) {
            d->flags |= sx_value_is_true(value) ? SX_EVENT_NON_DEFAULT : 0;
        } else if (strcmp(info[i].key, PMIX_EVENT_DO_NOT_CACHE) == 0) {
            d->flags |= sx_value_is_true(value) ? SX_EVENT_DO_NOT_CACHE : 0;
        } else if (strcmp(info[i].key, PMIX_EVENT_STAYS_LOCAL) == 0) {
            d->flags |= sx_value_is_true(value) ? SX_EVENT_STAYS_LOCAL : 0;
        }
        if (!good) {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    return PMIX_SUCCESS;
}

/* A list that may be empty. */
static pmix_status_t procs_size(const pmix_proc_t *procs, size_t count, size_t *ret_size)
{
    *ret_size = 0;
    return count == 0 ? PMIX_SUCCESS : sx_wire_procs_size(procs, count, ret_size);
}

pmix_status_t sx_event_encode(pmix_status_t code, const pmix_proc_t *source,
                              pmix_data_range_t range, const pmix_info_t info[], size_t ninfo,
                              void **ret_bytes, size_t *ret_size)
{
    const size_t name_len = sx_name_len(source->nspace, PMIX_MAX_NSLEN);
    size_t targets_size = 0, affected_size = 0, info_size = 0;
    struct directives d;
    pmix_status_t rc = directives_read(&d, info, ninfo);

    if (rc == PMIX_SUCCESS && range == PMIX_RANGE_CUSTOM && d.target_count == 0) {
        rc = PMIX_ERR_BAD_PARAM; /* for whom? */
    }
    if (rc == PMIX_SUCCESS) {
        rc = procs_size(d.targets, d.target_count, &targets_size);
    }
    if (rc == PMIX_SUCCESS) {
        rc = procs_size(d.affected, d.affected_count, &affected_size);
    }
    if (rc == PMIX_SUCCESS && ninfo > 0) {
        rc = sx_flat_infos_size(info, ninfo, &info_size);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const struct sx_event event = {
        .code = code,
        .source_rank = source->rank,
        .range = range,
        .flags = d.flags,
        .source_len = (uint16_t)name_len,
        .target_count = (uint32_t)d.target_count,
        .affected_count = (uint32_t)d.affected_count,
        .info_size = (uint32_t)info_size,
    };
    const size_t size = sizeof(event) + sx_align_up(name_len, 8) + targets_size + affected_size +
                        info_size;
    uint8_t *const bytes = info_size > UINT32_MAX - 8 ? NULL : malloc(size);

    if (bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    uint8_t *at = bytes + sizeof(event);

    memset(at, 0, size - sizeof(event) - info_size); /* the padding; infos write their own */
    memcpy(bytes, &event, sizeof(event));
    memcpy(at, source->nspace, name_len);
    at += sx_align_up(name_len, 8);
    at = d.target_count > 0 ? sx_wire_procs_write(at, d.targets, d.target_count) : at;
    at = d.affected_count > 0 ? sx_wire_procs_write(at, d.affected, d.affected_count) : at;
    if (info_size > 0) {
        rc = sx_flat_infos_encode(info, ninfo, at, info_size);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_wire_infos_judge(at, info_size, SX_EVENT_HEAP_MAX);
    }
    if (rc != PMIX_SUCCESS) {
        free(bytes);
        return rc;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return PMIX_SUCCESS;
}
