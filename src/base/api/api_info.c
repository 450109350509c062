/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_info.c - PMIx_Info_*: one key with its directives and its value. */
#include <string.h>

#include <pmix.h>

#include "base/value/value.h"

pmix_status_t PMIx_Info_load(pmix_info_t *info, const char *key, const void *data,
                             pmix_data_type_t type)
{
    if (info == NULL || key == NULL || sx_name_len(key, sizeof(info->key)) == sizeof(info->key)) {
        return PMIX_ERR_BAD_PARAM;
    }
    memset(info, 0, sizeof(*info));
    strcpy(info->key, key);
    return sx_value_load(&info->value, data, type);
}

pmix_status_t PMIx_Info_xfer(pmix_info_t *dest, const pmix_info_t *src)
{
    if (dest == NULL || src == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    return sx_elements_copy(dest, src, 1, PMIX_INFO);
}

#define SX_INFO_SET(name, flag)    \
    void name(pmix_info_t *info)   \
    {                              \
        if (info != NULL) {        \
            info->flags |= (flag); \
        }                          \
    }

#define SX_INFO_IS(name, flag)                              \
    bool name(const pmix_info_t *info)                      \
    {                                                       \
        return info != NULL && (info->flags & (flag)) != 0; \
    }

SX_INFO_SET(PMIx_Info_required, PMIX_INFO_REQD)
SX_INFO_SET(PMIx_Info_processed, PMIX_INFO_REQD_PROCESSED)
SX_INFO_SET(PMIx_Info_set_end, PMIX_INFO_ARRAY_END)
SX_INFO_SET(PMIx_Info_qualifier, PMIX_INFO_QUALIFIER)
SX_INFO_SET(PMIx_Info_persistent, PMIX_INFO_PERSISTENT)
SX_INFO_IS(PMIx_Info_is_required, PMIX_INFO_REQD)
SX_INFO_IS(PMIx_Info_was_processed, PMIX_INFO_REQD_PROCESSED)
SX_INFO_IS(PMIx_Info_is_end, PMIX_INFO_ARRAY_END)
SX_INFO_IS(PMIx_Info_is_qualifier, PMIX_INFO_QUALIFIER)
SX_INFO_IS(PMIx_Info_is_persistent, PMIX_INFO_PERSISTENT)

void PMIx_Info_optional(pmix_info_t *info)
{
    if (info != NULL) {
        info->flags &= ~(pmix_info_directives_t)PMIX_INFO_REQD;
    }
}

bool PMIx_Info_is_optional(const pmix_info_t *info)
{
    return info != NULL && (info->flags & PMIX_INFO_REQD) == 0;
}

pmix_boolean_t PMIx_Info_true(const pmix_info_t *p)
{
    return PMIx_Value_true(p == NULL ? NULL : &p->value);
}
