/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value.c - a value is never trusted to be printable. */
#include "cli/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_common.h>

#include "base/value/names.h"
#include "base/value/type.h"
#include "base/value/value.h"
#include "launch/common/say.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* A terminal obeys control characters, and a name may have some. */

void sx_names_text_print(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char byte = (unsigned char)text[i];

        if (byte >= 0x20 && byte < 0x7f && byte != '\\') { /* which would begin one of these */
            putchar(byte);
        } else {
            printf("\\x%02x", byte);
        }
    }
}

static void rank_print(uint32_t rank, bool json)
{
    if (rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF) {
        const char *const word = rank == PMIX_RANK_UNDEF ? "undef" : "*";

        printf(json ? "\"%s\"" : "%s", word);
    } else {
        printf("%" PRIu32, rank);
    }
}

void sx_names_proc_print(const char *nspace, size_t len, uint32_t rank, bool json)
{
    if (json) {
        printf("{\"nspace\":");
        sx_json_string(nspace, len);
        printf(",\"rank\":");
        rank_print(rank, true);
        putchar('}');
    } else {
        sx_names_text_print(nspace, len);
        putchar('.');
        rank_print(rank, false);
    }
}

/* ---- value ----------------------------------------------------------------------------------- */

static void text_print(const pmix_value_t *value, bool json)
{
    char *const printed = sx_value_print(value);
    const char *const text = printed != NULL ? printed : "";

    (json ? sx_json_string : sx_names_text_print)(text, strlen(text));
    free(printed);
}

static bool number_print(const pmix_value_t *value)
{
    uint64_t number;
    int64_t signed_number;

    if (value->type == PMIX_BOOL) {
        printf(value->data.flag ? "true" : "false");
    } else if (sx_value_get_int(value, &signed_number) == PMIX_SUCCESS) {
        printf("%" PRId64, signed_number);
    } else if (sx_value_get_uint(value, &number) == PMIX_SUCCESS) {
        printf("%" PRIu64, number);
    } else {
        return false;
    }
    return true;
}

static void json_print(const pmix_value_t *value);

static void text_field_print(const char *name, const char *text)
{
    if (text != NULL) {
        printf(",\"%s\":", name);
        sx_json_string(text, strlen(text));
    }
}

static void proc_info_print(const pmix_proc_info_t *info)
{
    printf("{\"proc\":");
    sx_names_proc_print(info->proc.nspace, strnlen(info->proc.nspace, PMIX_MAX_NSLEN),
                        info->proc.rank, true);
    text_field_print("hostname", info->hostname);
    text_field_print("executable", info->executable_name);
    text_field_print("state", sx_name_find(PMIX_PROC_STATE, info->state));
    printf(",\"pid\":%d,\"exit_code\":%d}", (int)info->pid, info->exit_code);
}

/* Print one element as a value of its own.  A process and an info are not stored inside a value. */
static void element_print(pmix_data_type_t type, const void *element, size_t size_bytes)
{
    pmix_value_t value = { .type = type };

    if (type == PMIX_PROC_INFO) {
        proc_info_print(element);
        return;
    }
    if (type == PMIX_PROC) {
        value.data.proc = (pmix_proc_t *)(uintptr_t)element;
    } else if (size_bytes <= sizeof(value.data)) {
        memcpy(&value.data, element, size_bytes);
    } else {
        pmix_data_array_t one = { .type = type, .size = 1, .array = (void *)(uintptr_t)element };

        value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &one };
        text_print(&value, true);
        return;
    }
    json_print(&value);
}

static void infos_print(const pmix_info_t *info, size_t ninfo)
{
    putchar('{');
    for (size_t i = 0; i < ninfo; i++) {
        printf(i == 0 ? "" : ",");
        sx_cli_key_print(info[i].key, true);
        putchar(':');
        json_print(&info[i].value);
    }
    putchar('}');
}

static void array_print(const pmix_data_array_t *array)
{
    const struct sx_type *const type = sx_type_find(array->type);
    const size_t size_bytes = type != NULL ? type->size_bytes : 0;

    if (array->type == PMIX_INFO) {
        infos_print(array->array, array->size);
        return;
    }
    putchar('[');
    for (size_t i = 0; i < array->size && size_bytes > 0; i++) {
        printf(i == 0 ? "" : ",");
        element_print(array->type, (const char *)array->array + i * size_bytes, size_bytes);
    }
    putchar(']');
}

static void json_print(const pmix_value_t *value)
{
    if (number_print(value)) {
        return;
    }
    if (value->type == PMIX_STRING && value->data.string != NULL) {
        sx_json_string(value->data.string, strlen(value->data.string));
    } else if (value->type == PMIX_PROC && value->data.proc != NULL) {
        const pmix_proc_t *const proc = value->data.proc;

        sx_names_proc_print(proc->nspace, strnlen(proc->nspace, PMIX_MAX_NSLEN), proc->rank, true);
    } else if (value->type == PMIX_DATA_ARRAY && value->data.darray != NULL) {
        array_print(value->data.darray);
    } else {
        text_print(value, true);
    }
}

void sx_cli_value_print(const pmix_value_t *value, bool json)
{
    if (json) {
        json_print(value);
    } else {
        text_print(value, false);
    }
}

void sx_cli_item_print(const char *key, const pmix_value_t *value)
{
    const char *const type = sx_name_find(PMIX_DATA_TYPE, value->type);

    printf("\"key\":");
    sx_json_string(key, strnlen(key, PMIX_MAX_KEYLEN));
    printf(",\"name\":");
    sx_cli_key_print(key, true);
    if (type != NULL) {
        printf(",\"type\":\"%s\"", type);
    }
    printf(",\"value\":");
    json_print(value);
}

void sx_cli_key_print(const char *key, bool json)
{
    const char *const known = sx_attribute_name(key);
    const char *const name = known != NULL ? known : key;

    (json ? sx_json_string : sx_names_text_print)(name, strnlen(name, PMIX_MAX_KEYLEN));
}
