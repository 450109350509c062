/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directive_rows.h - the rows of a table of directives (base/call/directives.h).
 *
 * The tables of the library's functions are in base/call/directive_tables.c.  The launcher has
 * those of a spawn, as it obeys it, in launch/ask/spawn_directives.c. */
#ifndef SX_BASE_CALL_DIRECTIVE_ROWS_H
#define SX_BASE_CALL_DIRECTIVE_ROWS_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call/directives.h"

/* A directive that goes into a field; a field of another type than its kind's does not compile. */
#define ROW(text, as, options, field, ...)                                                       \
    {                                                                                            \
        .name = #text, .key = (text), .key_size = sizeof(text), .kind = SX_DIRECTIVE_##as,       \
        .off = (uint16_t)(offsetof(struct sx_##options##_options, field) +                       \
                          SAME_TYPE(((struct sx_##options##_options *)NULL)->field, TYPE_##as)), \
        __VA_ARGS__                                                                              \
    }
#define SAME_TYPE(field, type) \
    (0 * sizeof(char[__builtin_types_compatible_p(__typeof__(field), type) ? 1 : -1]))
#define TYPE_BOOL bool
#define TYPE_SECONDS uint64_t
#define TYPE_INFO const pmix_info_t *
#define TYPE_SAID uint8_t
#define TYPE_FLAG uint8_t
#define TYPE_CHOICE uint8_t
#define TYPE_SCOPE pmix_scope_t
#define TYPE_NUMBER struct sx_some_number
#define TYPE_STRING const char *
#define TYPE_STRINGS uint32_t
#define TYPE_DEVICES pmix_device_type_t
#define TYPE_PROCS struct sx_some_procs
#define TYPE_INFOS struct sx_some_infos
#define TYPE_RANGE pmix_data_range_t
#define TYPE_PERSISTENCE pmix_persistence_t

/* Directives without a field. */
#define CARRIED(text)                                                                          \
    {                                                                                          \
        .name = #text, .key = (text), .key_size = sizeof(text), .effect = SX_DIRECTIVE_CARRIED \
    }
#define IDLE(text)                                                                          \
    {                                                                                       \
        .name = #text, .key = (text), .key_size = sizeof(text), .effect = SX_DIRECTIVE_IDLE \
    }

/* The marks of output, in the options' field @marks. */
#define MARKS(options, marks)                                        \
    ROW(PMIX_IOF_TAG_OUTPUT, BOOL, options, marks.tag),              \
        ROW(PMIX_IOF_TAG_FULLNAME_OUTPUT, BOOL, options, marks.tag), \
        ROW(PMIX_IOF_RANK_OUTPUT, BOOL, options, marks.rank),        \
        ROW(PMIX_IOF_TIMESTAMP_OUTPUT, BOOL, options, marks.stamp),  \
        ROW(PMIX_IOF_XML_OUTPUT, BOOL, options, marks.xml)

#endif
