/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_names.c - PMIx_*_string: the names of codes, and values as texts.
 *
 * A code's text is the name of its constant; combinations of bits are joined with "|". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/util.h"
#include "base/value/names.h"
#include "base/value/value.h"

static const char *name_or(const char *name, const char *otherwise)
{
    return name == NULL ? otherwise : name;
}

const char *PMIx_Error_string(pmix_status_t status)
{
    return name_or(sx_name_find(PMIX_STATUS, status), "UNKNOWN STATUS");
}

pmix_status_t PMIx_Error_code(const char *errname)
{
    int64_t code;

    /* No status has this number, so an unknown name equals none. */
    return errname != NULL && sx_name_value(PMIX_STATUS, errname, &code) ? (pmix_status_t)code
                                                                         : INT32_MIN;
}

const char *PMIx_Proc_state_string(pmix_proc_state_t state)
{
    return name_or(sx_name_find(PMIX_PROC_STATE, state), "UNKNOWN PROC STATE");
}

const char *PMIx_Scope_string(pmix_scope_t scope)
{
    return name_or(sx_name_find(PMIX_SCOPE, scope), "UNKNOWN SCOPE");
}

const char *PMIx_Persistence_string(pmix_persistence_t persist)
{
    return name_or(sx_name_find(PMIX_PERSIST, persist), "UNKNOWN PERSISTENCE");
}

const char *PMIx_Data_range_string(pmix_data_range_t range)
{
    return name_or(sx_name_find(PMIX_DATA_RANGE, range), "UNKNOWN RANGE");
}

const char *PMIx_Data_type_string(pmix_data_type_t type)
{
    return name_or(sx_name_find(PMIX_DATA_TYPE, type), "UNKNOWN DATA TYPE");
}

const char *PMIx_Alloc_directive_string(pmix_alloc_directive_t directive)
{
    return name_or(sx_name_find(PMIX_ALLOC_DIRECTIVE, directive), "UNKNOWN DIRECTIVE");
}

const char *PMIx_Alloc_inheritance_string(pmix_alloc_inheritance_t inheritance)
{
    /* As the manual page of OpenPMIx 7.0 lists them. */
    static const struct sx_name names[] = {
        { PMIX_ALLOC_INHERIT_NONE, "NONE" },
        { PMIX_ALLOC_INHERIT_CHILD, "CHILD" },
        { PMIX_ALLOC_INHERIT_DEFAULT, "DEFAULT" },
        { PMIX_ALLOC_INHERIT_CHILD_DEFAULT, "CHILD_DEFAULT" },
    };

    return name_or(sx_name_in(names, SX_COUNT(names), inheritance), "UNKNOWN INHERITANCE");
}

const char *PMIx_Job_state_string(pmix_job_state_t state)
{
    return name_or(sx_name_find(PMIX_JOB_STATE, state), "UNKNOWN JOB STATE");
}

const char *PMIx_Link_state_string(pmix_link_state_t state)
{
    return name_or(sx_name_find(PMIX_LINK_STATE, state), "UNKNOWN LINK STATE");
}

const char *PMIx_Device_type_string(pmix_device_type_t type)
{
    return name_or(type > INT64_MAX ? NULL : sx_name_find(PMIX_DEVTYPE, (int64_t)type),
                   "UNKNOWN DEVICE TYPE");
}

const char *PMIx_Resource_block_directive_string(pmix_resource_block_directive_t directive)
{
    return name_or(sx_name_find(PMIX_RESBLOCK_DIRECTIVE, directive), "UNKNOWN DIRECTIVE");
}

#define NAME(constant) { (int64_t)(constant), #constant },

const char *PMIx_Value_comparison_string(pmix_value_cmp_t cmp)
{
    static const struct sx_name names[] = {
        NAME(PMIX_EQUAL) NAME(PMIX_VALUE1_GREATER) NAME(PMIX_VALUE2_GREATER)
            NAME(PMIX_VALUE_TYPE_DIFFERENT) NAME(PMIX_VALUE_INCOMPATIBLE_OBJECTS)
                NAME(PMIX_VALUE_COMPARISON_NOT_AVAIL)
    };

    return name_or(sx_name_in(names, SX_COUNT(names), (int64_t)cmp), "UNKNOWN COMPARISON");
}

const char *PMIx_Group_operation_string(pmix_group_operation_t op)
{
    static const struct sx_name names[] = {
        NAME(PMIX_GROUP_CONSTRUCT) NAME(PMIX_GROUP_DESTRUCT) NAME(PMIX_GROUP_NONE)
            NAME(PMIX_GROUP_CANCEL)
    };

    return name_or(sx_name_in(names, SX_COUNT(names), (int64_t)op), "UNKNOWN GROUP OPERATION");
}

const char *PMIx_IOF_channel_string(pmix_iof_channel_t channel)
{
    /* Indexed by the four bits, since a constant text is returned. */
    static const char *const names[] = {
        "NONE",
        "STDIN",
        "STDOUT",
        "STDIN|STDOUT",
        "STDERR",
        "STDIN|STDERR",
        "STDOUT|STDERR",
        "STDIN|STDOUT|STDERR",
        "STDDIAG",
        "STDIN|STDDIAG",
        "STDOUT|STDDIAG",
        "STDIN|STDOUT|STDDIAG",
        "STDERR|STDDIAG",
        "STDIN|STDERR|STDDIAG",
        "STDOUT|STDERR|STDDIAG",
        "STDIN|STDOUT|STDERR|STDDIAG",
    };

    if (channel == PMIX_FWD_ALL_CHANNELS) {
        return "ALL";
    }
    return channel < SX_COUNT(names) ? names[channel] : "UNKNOWN CHANNEL";
}

/* An unknown name or string is returned unchanged. */
const char *PMIx_Get_attribute_string(const char *attributename)
{
    return attributename == NULL ? "UNKNOWN ATTRIBUTE"
                                 : name_or(sx_attribute_string(attributename), attributename);
}

const char *PMIx_Get_attribute_name(const char *attributestring)
{
    return attributestring == NULL ? "UNKNOWN ATTRIBUTE"
                                   : name_or(sx_attribute_name(attributestring), attributestring);
}

char *PMIx_Info_directives_string(pmix_info_directives_t directives)
{
    char *text;

    if (asprintf(&text, "%s%s%s%s%s", directives & PMIX_INFO_REQD ? "REQUIRED" : "OPTIONAL",
                 directives & PMIX_INFO_REQD_PROCESSED ? "|PROCESSED" : "",
                 directives & PMIX_INFO_ARRAY_END ? "|END" : "",
                 directives & PMIX_INFO_QUALIFIER ? "|QUALIFIER" : "",
                 directives & PMIX_INFO_PERSISTENT ? "|PERSISTENT" : "") < 0) {
        return NULL;
    }
    return text;
}

/* "PMIX_UINT32: 7". */
char *PMIx_Value_string(const pmix_value_t *value)
{
    char *printed, *text;

    if (value == NULL) {
        return strdup("NULL");
    }
    printed = sx_value_print(value);
    if (printed == NULL ||
        asprintf(&text, "%s: %s", PMIx_Data_type_string(value->type), printed) < 0) {
        text = NULL;
    }
    free(printed);
    return text;
}

/* "pmix.job.size (REQUIRED) PMIX_UINT32: 7". */
char *PMIx_Info_string(const pmix_info_t *info)
{
    char *directives, *value, *text = NULL;

    if (info == NULL) {
        return strdup("NULL");
    }
    directives = PMIx_Info_directives_string(info->flags);
    value = PMIx_Value_string(&info->value);
    if (directives == NULL || value == NULL ||
        asprintf(&text, "%.*s (%s) %s", (int)sizeof(info->key), info->key, directives, value) < 0) {
        text = NULL;
    }
    free(directives);
    free(value);
    return text;
}

static char *struct_string(const void *element, pmix_data_type_t type)
{
    return element == NULL ? strdup("NULL") : sx_element_print(element, type);
}

char *PMIx_App_string(const pmix_app_t *app)
{
    return struct_string(app, PMIX_APP);
}

char *PMIx_Proc_string(const pmix_proc_t *proc)
{
    return struct_string(proc, PMIX_PROC);
}

char *PMIx_Resource_unit_string(const pmix_resource_unit_t *unit)
{
    return struct_string(unit, PMIX_RESOURCE_UNIT);
}
