/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.c - directives with their defaults: the session's range, and the application's life. */
#include "base/call/publish.h"

#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "base/value/names.h"
#include "base/value/value.h"

bool sx_publish_is_data(const char *key)
{
    return !PMIx_Check_reserved_key(key) && sx_attribute_meant(key) == NULL;
}

/* A process without a known session matches each session. */
static bool is_same_session(uint64_t one, uint64_t other)
{
    return one == other || one == SX_SESSION_UNKNOWN || other == SX_SESSION_UNKNOWN;
}

bool sx_publish_range_holds(pmix_data_range_t range, const struct sx_some_procs *targets,
                            const struct sx_publish_who *who, const struct sx_publish_who *other)
{
    switch (range) {
    case PMIX_RANGE_LOCAL:
    case PMIX_RANGE_GLOBAL:
        return true;
    case PMIX_RANGE_SESSION:
        return is_same_session(who->session, other->session);
    case PMIX_RANGE_NAMESPACE:
        return strcmp(who->proc.nspace, other->proc.nspace) == 0;
    case PMIX_RANGE_PROC_LOCAL:
        return who->proc.rank == other->proc.rank &&
               strcmp(who->proc.nspace, other->proc.nspace) == 0;
    case PMIX_RANGE_CUSTOM:
        for (size_t i = 0; i < targets->count; i++) {
            if (PMIx_Check_procid(&targets->all[i], &other->proc)) {
                return true;
            }
        }
        return false;
    default: /* the resource manager is not a process of this node */
        return false;
    }
}

#define RANGE_LAST PMIX_RANGE_PROC_LOCAL /* greater numbers are not ranges */

/* PMIX_RANGE_UNDEF means the default. */
static pmix_status_t range_judge(pmix_data_range_t *range, const struct sx_some_procs *targets)
{
    if (*range == PMIX_RANGE_UNDEF) {
        *range = PMIX_RANGE_SESSION;
    }
    if (*range > RANGE_LAST) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "%u is no range of published data", *range);
    }
    if (*range == PMIX_RANGE_CUSTOM && targets != NULL && targets->count == 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a custom range of published data needs PMIX_EVENT_CUSTOM_RANGE");
    }
    return PMIX_SUCCESS;
}

/* Return: PMIX_SUCCESS, or PMIX_ERR_BAD_PARAM when @info is not an array of user or group ids. */
static pmix_status_t ids_judge(const pmix_info_t *info)
{
    const pmix_data_array_t *const array = info == NULL ? NULL : info->value.data.darray;

    if (info == NULL ||
        (info->value.type == PMIX_DATA_ARRAY && array != NULL && array->type == PMIX_UINT32 &&
         (array->array != NULL || array->size == 0))) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s wants an array of PMIX_UINT32", info->key);
}

static pmix_status_t access_judge(const struct sx_some_infos *access)
{
    struct sx_publish_access_options options = { .uids = NULL };
    pmix_status_t rc = sx_options_read(SX_OF_PUBLISH_ACCESS, access->all, access->count, &options);

    if (rc == PMIX_SUCCESS) {
        rc = ids_judge(options.uids);
    }
    return rc == PMIX_SUCCESS ? ids_judge(options.gids) : rc;
}

static pmix_status_t data_count_judge(size_t count)
{
    if (count == 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIx_Publish is given nothing to publish");
    }
    return count > SX_PUBLISH_VALUES_MAX
               ? SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "a call of PMIx_Publish may publish %u values, and this one has %zu: "
                          "publish them in parts",
                          SX_PUBLISH_VALUES_MAX, count)
               : PMIX_SUCCESS;
}

pmix_status_t sx_publish_read(const pmix_info_t info[], size_t ninfo,
                              struct sx_publish_options *ret)
{
    pmix_status_t rc = info == NULL ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
    size_t data = 0;

    *ret = (struct sx_publish_options){ .persistence = PMIX_PERSIST_APP };
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        const size_t len = sx_name_len(info[i].key, sizeof(info[i].key));

        if (len == 0 || len > PMIX_MAX_KEYLEN) {
            rc = SX_RAISE(PMIX_ERR_BAD_PARAM,
                          "info %zu of PMIx_Publish has no key, or one without "
                          "an end",
                          i);
        } else if (sx_publish_is_data(info[i].key)) {
            data++;
        } else {
            rc = sx_options_read(SX_OF_PUBLISH, &info[i], 1, ret);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = data_count_judge(data);
    }
    if (rc == PMIX_SUCCESS) {
        rc = range_judge(&ret->range, &ret->targets);
    }
    return rc == PMIX_SUCCESS ? access_judge(&ret->access) : rc;
}

/* How many values PMIX_WAIT wants: 0, true and no value mean all of them. */
static pmix_status_t wait_read(const pmix_info_t *wait, size_t key_count, size_t *ret_wanted)
{
    uint64_t number = 0;

    *ret_wanted = 0;
    if (wait == NULL || (wait->value.type == PMIX_BOOL && !wait->value.data.flag)) {
        return PMIX_SUCCESS;
    }
    if (wait->value.type != PMIX_BOOL && wait->value.type != PMIX_UNDEF &&
        (sx_value_get_uint(&wait->value, &number) != PMIX_SUCCESS || number > key_count)) {
        return SX_RAISE(
            PMIX_ERR_BAD_PARAM,
            "PMIX_WAIT of PMIx_Lookup of %zu keys wants a number of values, at most as many",
            key_count);
    }
    *ret_wanted = number == 0 ? key_count : (size_t)number;
    return PMIX_SUCCESS;
}

pmix_status_t sx_lookup_read(const pmix_info_t info[], size_t ninfo, size_t key_count,
                             struct sx_lookup_options *ret, size_t *ret_wanted)
{
    *ret = (struct sx_lookup_options){ .range = PMIX_RANGE_UNDEF };
    pmix_status_t rc = sx_options_read(SX_OF_LOOKUP, info, ninfo, ret);

    if (rc == PMIX_SUCCESS && ret->range > RANGE_LAST) {
        ret->range_unknown = ret->range; /* Open MPI 5.0 before 5.0.11 never sets it */
        ret->range = PMIX_RANGE_UNDEF;
    }
    if (rc == PMIX_SUCCESS) {
        rc = range_judge(&ret->range, &ret->targets);
    }
    return rc == PMIX_SUCCESS ? wait_read(ret->wait, key_count, ret_wanted) : rc;
}

void sx_lookup_range_mend(pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (info[i].value.type == PMIX_DATA_RANGE && info[i].value.data.range > RANGE_LAST &&
            PMIx_Check_key(info[i].key, PMIX_RANGE)) {
            info[i].value.data.range = PMIX_RANGE_SESSION;
        }
    }
}

pmix_status_t sx_unpublish_read(const pmix_info_t info[], size_t ninfo,
                                struct sx_unpublish_options *ret)
{
    *ret = (struct sx_unpublish_options){ .range = PMIX_RANGE_UNDEF };
    const pmix_status_t rc = sx_options_read(SX_OF_UNPUBLISH, info, ninfo, ret);

    if (rc != PMIX_SUCCESS || ret->range == PMIX_RANGE_UNDEF) {
        return rc;
    }
    return range_judge(&ret->range, NULL);
}
