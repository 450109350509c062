/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directives.c - find the row of each info, and write its field. */
#include "base/call/directives.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/value/names.h"
#include "base/value/value.h"

/* ---- values -------------------------------------------------------------------------------- */

static bool number_read(const pmix_value_t *value, uint64_t max, struct sx_some_number *ret)
{
    uint64_t number;

    if (sx_value_get_uint(value, &number) != PMIX_SUCCESS || number > max) {
        return false;
    }
    *ret = (struct sx_some_number){ .given = true, .number = (uint32_t)number };
    return true;
}

/* More seconds than the type holds are a time that is never reached. */
static bool seconds_read(const pmix_value_t *value, uint64_t *ret_ns)
{
    uint64_t seconds;

    if (sx_value_get_uint(value, &seconds) != PMIX_SUCCESS) {
        return false;
    }
    *ret_ns = seconds > SX_DEADLINE_NEVER / SX_NS_PER_SEC ? SX_DEADLINE_NEVER
                                                          : seconds * SX_NS_PER_SEC;
    return true;
}

static bool procs_read(const pmix_value_t *value, struct sx_some_procs *ret)
{
    const pmix_data_array_t *const array = value->data.darray;
    struct sx_some_procs procs = { .all = NULL };

    if (value->type == PMIX_PROC) {
        procs = (struct sx_some_procs){ .all = value->data.proc, .count = 1 };
    } else if (value->type == PMIX_DATA_ARRAY && array != NULL && array->type == PMIX_PROC) {
        procs = (struct sx_some_procs){ .all = array->array, .count = array->size };
    }
    for (size_t i = 0; procs.all != NULL && i < procs.count; i++) {
        if (sx_name_len(procs.all[i].nspace, PMIX_MAX_NSLEN + 1) > PMIX_MAX_NSLEN) {
            return false;
        }
    }
    *ret = procs;
    return procs.all != NULL && procs.count != 0;
}

static bool infos_read(const pmix_value_t *value, struct sx_some_infos *ret)
{
    const pmix_data_array_t *const array = value->data.darray;

    if (value->type != PMIX_DATA_ARRAY || array == NULL || array->type != PMIX_INFO) {
        return false;
    }
    *ret = (struct sx_some_infos){ .all = array->array, .count = array->size };
    for (size_t i = 0; ret->all != NULL && i < ret->count; i++) {
        const size_t len = sx_name_len(ret->all[i].key, sizeof(ret->all[i].key));

        if (len == 0 || len > PMIX_MAX_KEYLEN) {
            return false;
        }
    }
    return ret->all != NULL && ret->count != 0;
}

static bool string_read(const pmix_value_t *value, uint32_t len_max, const char **ret)
{
    *ret = value->type == PMIX_STRING ? value->data.string : NULL;
    return *ret != NULL && (len_max == 0 || strnlen(*ret, (size_t)len_max + 1) <= len_max);
}

static bool devices_read(const pmix_value_t *value, pmix_device_type_t *ret)
{
    if (value->type == PMIX_DEVTYPE) {
        *ret = value->data.devtype;
        return true;
    }
    return sx_value_get_uint(value, ret) == PMIX_SUCCESS;
}

/* ---- fields -------------------------------------------------------------------------------- */

/* Return: false when the value does not match the row. */
static bool field_write(const struct sx_directive *row, const pmix_info_t *info, void *field)
{
    const pmix_value_t *const value = &info->value;

    switch ((enum sx_directive_kind)row->kind) {
    case SX_DIRECTIVE_NOTHING:
        return true;
    case SX_DIRECTIVE_BOOL:
        *(bool *)field = sx_value_is_true(value);
        return true;
    case SX_DIRECTIVE_SAID:
        *(uint8_t *)field = sx_value_is_true(value) ? SX_SAID_YES : SX_SAID_NO;
        return true;
    case SX_DIRECTIVE_FLAG:
        *(uint8_t *)field |= sx_value_is_true(value) ? (uint8_t)row->arg : 0;
        return true;
    case SX_DIRECTIVE_CHOICE:
        *(uint8_t *)field = sx_value_is_true(value) ? (uint8_t)row->arg : *(uint8_t *)field;
        return true;
    case SX_DIRECTIVE_NUMBER:
        return number_read(value, row->arg, field);
    case SX_DIRECTIVE_SECONDS:
        return seconds_read(value, field);
    case SX_DIRECTIVE_STRING:
        return string_read(value, row->arg, field);
    case SX_DIRECTIVE_STRINGS:
        ++*(uint32_t *)field;
        return value->type == PMIX_STRING && value->data.string != NULL;
    case SX_DIRECTIVE_PROCS:
        return procs_read(value, field);
    case SX_DIRECTIVE_INFOS:
        return infos_read(value, field);
    case SX_DIRECTIVE_SCOPE:
        *(pmix_scope_t *)field = value->data.scope;
        return value->type == PMIX_SCOPE && value->data.scope <= PMIX_INTERNAL;
    case SX_DIRECTIVE_RANGE:
        *(pmix_data_range_t *)field = value->data.range;
        return value->type == PMIX_DATA_RANGE;
    case SX_DIRECTIVE_PERSISTENCE:
        *(pmix_persistence_t *)field = value->data.persist;
        return value->type == PMIX_PERSIST && value->data.persist <= PMIX_PERSIST_SESSION;
    case SX_DIRECTIVE_DEVICES:
        return devices_read(value, field);
    case SX_DIRECTIVE_INFO:
        *(const pmix_info_t **)field = info;
        return true;
    }
    return false;
}

static const char *const nouns[] = {
    [SX_DIRECTIVE_NUMBER] = "a number that is possible",
    [SX_DIRECTIVE_SECONDS] = "a number of seconds",
    [SX_DIRECTIVE_STRING] = "a string",
    [SX_DIRECTIVE_STRINGS] = "a string",
    [SX_DIRECTIVE_PROCS] = "a process or an array of processes",
    [SX_DIRECTIVE_INFOS] = "an array of infos, each with a key",
    [SX_DIRECTIVE_SCOPE] = "a scope",
    [SX_DIRECTIVE_RANGE] = "a range",
    [SX_DIRECTIVE_PERSISTENCE] = "a persistence",
    [SX_DIRECTIVE_DEVICES] = "a type of devices",
};

/* Refuse a value that does not match @row. */
static pmix_status_t refuse(const struct sx_directives *table, const struct sx_directive *row)
{
    if (row->kind == SX_DIRECTIVE_STRING && row->arg != 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s of %s wants a string of at most %" PRIu32 " bytes",
                        row->name, table->function, row->arg);
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s of %s wants %s", row->name, table->function,
                    nouns[row->kind]);
}

/* ---- infos --------------------------------------------------------------------------------- */

static const struct sx_directive *row_find(const struct sx_directives *table, const char *key,
                                           size_t key_size)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].key_size == key_size && memcmp(key, table->rows[i].key, key_size) == 0) {
            return &table->rows[i];
        }
    }
    /* Most other keys are the caller's own: they are searched in the short list. */
    const char *const meant = sx_attribute_meant(key);

    return meant != NULL ? row_find(table, meant, strlen(meant) + 1) : NULL;
}

pmix_status_t sx_directives_read(const struct sx_directives *table, const pmix_info_t *info,
                                 size_t ninfo, void *options)
{
    if (info == NULL && ninfo != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (ninfo == 0) { /* the end of no list is no address */
        return PMIX_SUCCESS;
    }
    for (const pmix_info_t *at = info; at < info + ninfo; at++) {
        const size_t key_size = strnlen(at->key, sizeof(at->key)) + 1;

        if (key_size > sizeof(at->key)) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "info %zu of %s has a key without an end",
                            (size_t)(at - info), table->function);
        }
        if ((at->flags & table->no_directives) != 0) {
            continue;
        }
        const struct sx_directive *const row = row_find(table, at->key, key_size);

        if (row == NULL && !table->others_are_data && (at->flags & PMIX_INFO_REQD) != 0) {
            return SX_RAISE(
                PMIX_ERR_NOT_SUPPORTED,
                "\"%s\" is required and not acted upon by %s: see docs/support/attributes.md",
                at->key, table->function);
        }
        /* A table without options only names what is taken. */
        void *const field = row == NULL || options == NULL ? NULL : (char *)options + row->off;

        if (row != NULL && !field_write(row, at, field)) {
            return refuse(table, row);
        }
    }
    return PMIX_SUCCESS;
}

/* ---- lists of paths -------------------------------------------------------------------------- */

/* Split at commas, judge each path by its letters alone. */

bool sx_pathlist_next(const char **at, struct sx_path *ret_path)
{
    const char *text = *at + strspn(*at, ",");
    size_t len = strcspn(text, ",");
    size_t name_off;

    *at = text + len;
    if (len == 0) {
        return false;
    }
    while (len > 1 && text[len - 1] == '/') {
        len--;
    }
    name_off = len;
    while (name_off > 0 && text[name_off - 1] != '/') {
        name_off--;
    }
    *ret_path = (struct sx_path){ .text = text, .len = len, .name_off = name_off };
    return true;
}

static bool names_nothing(const char *name, size_t len)
{
    return len == 0 || (len == 1 && name[0] == '.') || (len == 2 && memcmp(name, "..", 2) == 0);
}

bool sx_path_is_name(const struct sx_path *path)
{
    return path->name_off == 0 && path->len <= NAME_MAX && !names_nothing(path->text, path->len);
}

const char *sx_path_fault(const struct sx_path *path)
{
    const char *name = path->text + path->name_off;
    const size_t name_len = path->len - path->name_off;

    if (path->text[0] != '/') {
        return "it is relative: begin it with '/'";
    }
    if (path->len >= PATH_MAX) {
        return "it is longer than a path can be";
    }
    if (names_nothing(name, name_len)) {
        return "it ends in no name: '/', '.' and '..' cannot be removed";
    }
    return NULL;
}
