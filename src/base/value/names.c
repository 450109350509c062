/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* names.c - the tables of names, one per enumerated data type and one of the attributes. */
#include "base/value/names.h"

#include <string.h>
#include <strings.h>

#include <pmix_deprecated.h>
#include <shmix.h>

#include "base/util.h"
#include "base/value/type.h"

#define NAME(constant) { (int64_t)(constant), #constant },

static const struct sx_name status_names[] = {
#include "base/value/names_status.inc"
};

static const struct sx_name scope_names[] = { NAME(PMIX_SCOPE_UNDEF) NAME(PMIX_LOCAL) NAME(
    PMIX_REMOTE) NAME(PMIX_GLOBAL) NAME(PMIX_INTERNAL) NAME(PMIX_DEL_LOCAL) NAME(PMIX_DEL_REMOTE)
                                                  NAME(PMIX_DEL_GLOBAL) NAME(PMIX_DEL_INTERNAL) };

static const struct sx_name range_names[] = {
    NAME(PMIX_RANGE_UNDEF) NAME(PMIX_RANGE_RM) NAME(PMIX_RANGE_LOCAL) NAME(PMIX_RANGE_NAMESPACE)
        NAME(PMIX_RANGE_SESSION) NAME(PMIX_RANGE_GLOBAL) NAME(PMIX_RANGE_CUSTOM)
            NAME(PMIX_RANGE_PROC_LOCAL) NAME(PMIX_RANGE_INVALID)
};

static const struct sx_name persistence_names[] = {
    NAME(PMIX_PERSIST_INDEF) NAME(PMIX_PERSIST_FIRST_READ) NAME(PMIX_PERSIST_PROC)
        NAME(PMIX_PERSIST_APP) NAME(PMIX_PERSIST_SESSION) NAME(PMIX_PERSIST_INVALID)
};

static const struct sx_name proc_state_names[] = {
    NAME(PMIX_PROC_STATE_UNDEF) NAME(PMIX_PROC_STATE_PREPPED) NAME(PMIX_PROC_STATE_LAUNCH_UNDERWAY)
        NAME(PMIX_PROC_STATE_RESTART) NAME(PMIX_PROC_STATE_TERMINATE) NAME(PMIX_PROC_STATE_RUNNING)
            NAME(PMIX_PROC_STATE_CONNECTED) NAME(PMIX_PROC_STATE_UNTERMINATED)
                NAME(PMIX_PROC_STATE_TERMINATED) NAME(PMIX_PROC_STATE_ERROR)
                    NAME(PMIX_PROC_STATE_KILLED_BY_CMD) NAME(PMIX_PROC_STATE_ABORTED)
                        NAME(PMIX_PROC_STATE_FAILED_TO_START) NAME(PMIX_PROC_STATE_ABORTED_BY_SIG)
                            NAME(PMIX_PROC_STATE_TERM_WO_SYNC) NAME(PMIX_PROC_STATE_COMM_FAILED)
                                NAME(PMIX_PROC_STATE_SENSOR_BOUND_EXCEEDED)
                                    NAME(PMIX_PROC_STATE_CALLED_ABORT)
                                        NAME(PMIX_PROC_STATE_HEARTBEAT_FAILED)
                                            NAME(PMIX_PROC_STATE_MIGRATING)
                                                NAME(PMIX_PROC_STATE_CANNOT_RESTART)
                                                    NAME(PMIX_PROC_STATE_TERM_NON_ZERO)
                                                        NAME(PMIX_PROC_STATE_FAILED_TO_LAUNCH)
};

static const struct sx_name job_state_names[] = {
    NAME(PMIX_JOB_STATE_UNDEF) NAME(PMIX_JOB_STATE_AWAITING_ALLOC)
        NAME(PMIX_JOB_STATE_LAUNCH_UNDERWAY) NAME(PMIX_JOB_STATE_RUNNING)
            NAME(PMIX_JOB_STATE_SUSPENDED) NAME(PMIX_JOB_STATE_CONNECTED)
                NAME(PMIX_JOB_STATE_UNTERMINATED) NAME(PMIX_JOB_STATE_TERMINATED)
                    NAME(PMIX_JOB_STATE_TERMINATED_WITH_ERROR)
};

static const struct sx_name link_state_names[] = { NAME(PMIX_LINK_STATE_UNKNOWN)
                                                       NAME(PMIX_LINK_DOWN) NAME(PMIX_LINK_UP) };

static const struct sx_name alloc_names[] = { NAME(PMIX_ALLOC_NEW) NAME(PMIX_ALLOC_EXTEND)
                                                  NAME(PMIX_ALLOC_RELEASE) NAME(PMIX_ALLOC_REAQUIRE)
                                                      NAME(PMIX_ALLOC_REQ_CANCEL)
                                                          NAME(PMIX_ALLOC_EXTERNAL) };

static const struct sx_name inheritance_names[] = { NAME(PMIX_ALLOC_INHERIT_NONE) NAME(
    PMIX_ALLOC_INHERIT_CHILD) NAME(PMIX_ALLOC_INHERIT_DEFAULT)
                                                        NAME(PMIX_ALLOC_INHERIT_CHILD_DEFAULT) };

static const struct sx_name device_names[] = {
    NAME(PMIX_DEVTYPE_UNKNOWN) NAME(PMIX_DEVTYPE_BLOCK) NAME(PMIX_DEVTYPE_GPU)
        NAME(PMIX_DEVTYPE_NETWORK) NAME(PMIX_DEVTYPE_OPENFABRICS) NAME(PMIX_DEVTYPE_DMA)
            NAME(PMIX_DEVTYPE_COPROC) NAME(PMIX_DEVTYPE_MEMORY) NAME(PMIX_DEVTYPE_CORE)
                NAME(PMIX_DEVTYPE_HWT) NAME(PMIX_DEVTYPE_CPU) NAME(PMIX_DEVTYPE_NODE)
};

static const struct sx_name resource_block_names[] = { NAME(PMIX_RESOURCE_BLOCK_DEFINE) NAME(
    PMIX_RESOURCE_BLOCK_EXTEND) NAME(PMIX_RESOURCE_BLOCK_REMOVE) NAME(PMIX_RESOURCE_BLOCK_DELETE)
                                                           NAME(PMIX_RESOURCE_BLOCK_EXTERNAL) };

static const struct sx_name rank_names[] = { NAME(PMIX_RANK_LOCAL_PEERS) NAME(
    PMIX_RANK_INVALID) NAME(PMIX_RANK_LOCAL_NODE) NAME(PMIX_RANK_WILDCARD) NAME(PMIX_RANK_UNDEF) };

/* The types without a row in the type table, which still have a number. */
static const struct sx_name bare_type_names[] = { NAME(PMIX_UNDEF) NAME(PMIX_BUFFER) NAME(PMIX_KVAL)
                                                      NAME(PMIX_COMMAND) };

static const struct {
    pmix_data_type_t type;
    const struct sx_name *names;
    size_t count;
} sets[] = {
    { PMIX_STATUS, status_names, SX_COUNT(status_names) },
    { PMIX_SCOPE, scope_names, SX_COUNT(scope_names) },
    { PMIX_DATA_RANGE, range_names, SX_COUNT(range_names) },
    { PMIX_PERSIST, persistence_names, SX_COUNT(persistence_names) },
    { PMIX_PROC_STATE, proc_state_names, SX_COUNT(proc_state_names) },
    { PMIX_JOB_STATE, job_state_names, SX_COUNT(job_state_names) },
    { PMIX_LINK_STATE, link_state_names, SX_COUNT(link_state_names) },
    { PMIX_ALLOC_DIRECTIVE, alloc_names, SX_COUNT(alloc_names) },
    { PMIX_ALLOC_INHERIT, inheritance_names, SX_COUNT(inheritance_names) },
    { PMIX_DEVTYPE, device_names, SX_COUNT(device_names) },
    { PMIX_RESBLOCK_DIRECTIVE, resource_block_names, SX_COUNT(resource_block_names) },
    { PMIX_PROC_RANK, rank_names, SX_COUNT(rank_names) },
    { PMIX_DATA_TYPE, bare_type_names, SX_COUNT(bare_type_names) },
};

#undef NAME
#define NAME(constant) { constant, #constant },

static const struct {
    const char *string, *name;
} attributes[] = {
#include "base/value/names_attribute.inc"
};

/* Keys whose strings OpenPMIx changes in its next release (7.0), so that no two share one. */
static const struct {
    const char *name, *string, *also;
} respelt[] = {
    { "PMIX_FABRIC_DEVICE_COORDINATES", "pmix.fab.coord", "pmix.fabdev.coord" },
    { "PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT", "pmix.jctrl.ckptsig", "pmix.jctrl.ckpttime" },
    { "PMIX_PROGRESS_THREAD_NAME", "pmix.evname", "pmix.pthrdnm" },
    { "PMIX_QUERY_SUPPORTED_QUALIFIERS", "pmix.qry.quals", "pmix.qry.supqual" },
};

const char *sx_name_in(const struct sx_name *names, size_t count, int64_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i].value == value) {
            return names[i].name;
        }
    }
    return NULL;
}

const char *sx_name_find(pmix_data_type_t type, int64_t value)
{
    const struct sx_type *row = NULL;

    if (type == PMIX_DATA_TYPE && value >= 0 && value <= UINT16_MAX) {
        row = sx_type_find((pmix_data_type_t)value);
    }
    if (row != NULL) {
        return row->name;
    }
    for (size_t i = 0; i < SX_COUNT(sets); i++) {
        if (sets[i].type == type) {
            return sx_name_in(sets[i].names, sets[i].count, value);
        }
    }
    return NULL;
}

bool sx_name_value(pmix_data_type_t type, const char *name, int64_t *ret_value)
{
    for (size_t i = 0; i < SX_COUNT(sets); i++) {
        for (size_t j = 0; sets[i].type == type && j < sets[i].count; j++) {
            if (strcasecmp(sets[i].names[j].name, name) == 0) {
                *ret_value = sets[i].names[j].value;
                return true;
            }
        }
    }
    return false;
}

const char *sx_attribute_name(const char *string)
{
    for (size_t i = 0; i < SX_COUNT(attributes); i++) {
        if (strcmp(attributes[i].string, string) == 0) {
            return attributes[i].name;
        }
    }
    for (size_t i = 0; i < SX_COUNT(respelt); i++) {
        if (strcmp(respelt[i].also, string) == 0) {
            return respelt[i].name;
        }
    }
    return NULL;
}

const char *sx_attribute_also(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(respelt); i++) {
        if (strcmp(respelt[i].string, key) == 0) {
            return respelt[i].also;
        }
    }
    return NULL;
}

const char *sx_attribute_meant(const char *also)
{
    for (size_t i = 0; i < SX_COUNT(respelt); i++) {
        if (strcmp(respelt[i].also, also) == 0) {
            return respelt[i].string;
        }
    }
    return NULL;
}

const char *sx_attribute_string(const char *name)
{
    for (size_t i = 0; i < SX_COUNT(attributes); i++) {
        if (strcmp(attributes[i].name, name) == 0) {
            return attributes[i].string;
        }
    }
    return NULL;
}
