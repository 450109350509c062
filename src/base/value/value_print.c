/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value_print.c - a value as one line of text, for people.
 *
 *   numbers 7 -7 0.5 true; named numbers PMIX_ERR_TIMEOUT; strings "with \n escaped"; processes
 *   job:3; bytes <12 bytes 00 01 ...>; infos pmix.job.size=7; arrays PMIX_INT[2]{1, 2}; structs
 *   {member, member}; absent things NULL.
 * Byte objects show SX_PRINT_BYTES_MAX bytes, nesting ends at SX_VALUE_DEPTH_MAX with "...". */
#include "base/value/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/util.h"
#include "base/value/names.h"
#include "base/value/opaque.h"
#include "base/value/type.h"

#define SX_PRINT_BYTES_MAX 32
#define CFIELD(type, base, off) (*(type const *)(const void *)((const char *)(base) + (off)))

static void print_element(FILE *to, const void *element, pmix_data_type_t type, unsigned depth);
static void print_value(FILE *to, const pmix_value_t *value, unsigned depth);

static void print_string(FILE *to, const char *text, size_t max)
{
    if (text == NULL) {
        fputs("NULL", to);
        return;
    }
    fputc('"', to);
    for (size_t i = 0; i < max && text[i] != '\0'; i++) {
        const unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\') {
            fprintf(to, "\\%c", c);
        } else if (c == '\n') {
            fputs("\\n", to);
        } else if (c == '\t') {
            fputs("\\t", to);
        } else if (c < ' ' || c == 0x7f) {
            fprintf(to, "\\x%02x", c);
        } else {
            fputc(c, to);
        }
    }
    fputc('"', to);
}

static void print_bytes(FILE *to, const char *bytes, size_t size)
{
    if (bytes == NULL) {
        fputs("<0 bytes>", to);
        return;
    }
    fprintf(to, "<%zu bytes", size);
    for (size_t i = 0; i < size && i < SX_PRINT_BYTES_MAX; i++) {
        fprintf(to, " %02x", (unsigned char)bytes[i]);
    }
    fputs(size > SX_PRINT_BYTES_MAX ? " ...>" : ">", to);
}

static void print_number(FILE *to, const void *at, pmix_data_type_t type, const struct sx_type *row)
{
    const unsigned shift = 64 - 8 * row->size_bytes;
    uint64_t bits = 0;
    int64_t number;
    const char *name;
    float narrow;
    double wide;

    if (row->number == SX_NUMBER_FLOAT) {
        if (row->size_bytes == sizeof(float)) {
            memcpy(&narrow, at, sizeof(narrow));
            fprintf(to, "%.7g", (double)narrow);
        } else {
            memcpy(&wide, at, sizeof(wide));
            fprintf(to, "%.15g", wide);
        }
        return;
    }
    memcpy(&bits, at, row->size_bytes);
    number = row->number == SX_NUMBER_INT ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
    name = sx_name_find(type, number);
    if (row->number == SX_NUMBER_BOOL) {
        fputs(bits != 0 ? "true" : "false", to);
    } else if (name != NULL) {
        fputs(name, to);
    } else if (row->number == SX_NUMBER_INT) {
        fprintf(to, "%" PRId64, number);
    } else {
        fprintf(to, "%" PRIu64, bits);
    }
}

static void print_array(FILE *to, const void *elements, size_t count, pmix_data_type_t type,
                        unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);

    fprintf(to, "%s[%zu]{", row == NULL ? "PMIX_UNDEF" : row->name, count);
    if (depth >= SX_VALUE_DEPTH_MAX) {
        fputs("...", to);
        count = 0;
    }
    for (size_t i = 0; row != NULL && elements != NULL && i < count; i++) {
        fputs(i == 0 ? "" : ", ", to);
        print_element(to, (const char *)elements + i * row->size_bytes, type, depth + 1);
    }
    fputc('}', to);
}

static void print_argv(FILE *to, char *const *argv)
{
    fputc('{', to);
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        fputs(i == 0 ? "" : ", ", to);
        print_string(to, argv[i], SIZE_MAX);
    }
    fputc('}', to);
}

static void print_member(FILE *to, const void *element, const struct sx_member *m, unsigned depth)
{
    pmix_data_type_t type = m->type;

    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_PLAIN:
        print_element(to, &CFIELD(char, element, m->off), m->type, depth);
        break;
    case SX_MEMBER_NAME:
        print_string(to, &CFIELD(char, element, m->off), m->size);
        break;
    case SX_MEMBER_STRING:
        print_string(to, CFIELD(char *, element, m->off), SIZE_MAX);
        break;
    case SX_MEMBER_ARGV:
        print_argv(to, CFIELD(char **, element, m->off));
        break;
    case SX_MEMBER_BYTES:
        print_element(to, &CFIELD(char, element, m->off), PMIX_BYTE_OBJECT, depth);
        break;
    case SX_MEMBER_BUFFER: {
        const pmix_data_buffer_t *buffer = &CFIELD(pmix_data_buffer_t, element, m->off);

        print_bytes(to, buffer->base_ptr, buffer->bytes_used);
        break;
    }
    case SX_MEMBER_VALUE:
        print_value(to, &CFIELD(pmix_value_t, element, m->off), depth);
        break;
    case SX_MEMBER_TYPED:
        type = CFIELD(pmix_data_type_t, element, m->type_off);
        /* fall through */
    case SX_MEMBER_ARRAY:
        print_array(to, CFIELD(void *, element, m->off), CFIELD(size_t, element, m->count_off),
                    type, depth);
        break;
    case SX_MEMBER_OPAQUE:
        fprintf(to, "%p", CFIELD(void *, element, m->off));
        break;
    }
}

static void print_proc(FILE *to, const pmix_proc_t *proc)
{
    fprintf(to, "%.*s:", (int)sizeof(proc->nspace), proc->nspace);
    print_element(to, &proc->rank, PMIX_PROC_RANK, 0);
}

/* The types that read better in a form of their own.  Return: false for all others. */
static bool print_special(FILE *to, const void *element, pmix_data_type_t type, unsigned depth)
{
    if (type == PMIX_PROC) {
        print_proc(to, element);
    } else if (type == PMIX_TIMEVAL) {
        const struct timeval *tv = element;

        fprintf(to, "%lld.%06lld", (long long)tv->tv_sec, (long long)tv->tv_usec);
    } else if (type == PMIX_INFO) {
        const pmix_info_t *info = element;

        fprintf(to, "%.*s=", (int)sizeof(info->key), info->key);
        print_value(to, &info->value, depth);
    } else if (type == PMIX_PROC_NSPACE) {
        print_string(to, element, sizeof(pmix_nspace_t));
    } else if (type == PMIX_VALUE) {
        print_value(to, element, depth);
    } else if (type == PMIX_TOPO && ((const pmix_topology_t *)element)->topology != NULL &&
               sx_opaque_is_hwloc(((const pmix_topology_t *)element)->source)) {
        sx_opaque_print(to, element);
    } else if (type == PMIX_DATA_ARRAY) {
        print_member(to, element, sx_type_find(type)->members, depth);
    } else {
        return false;
    }
    return true;
}

static void print_element(FILE *to, const void *element, pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);

    if (row == NULL) {
        fprintf(to, "<type %u>", type);
        return;
    }
    if (row->number != SX_NUMBER_NONE) {
        print_number(to, element, type, row);
    } else if (row->kind == SX_TYPE_STRING) {
        print_string(to, *(char *const *)element, SIZE_MAX);
    } else if (row->kind == SX_TYPE_BYTES) {
        const pmix_byte_object_t *bytes = element;

        print_bytes(to, bytes->bytes, bytes->size);
    } else if (row->kind == SX_TYPE_POINTER) {
        fprintf(to, "%p", *(void *const *)element);
    } else if (!print_special(to, element, type, depth)) {
        fputc('{', to);
        for (size_t i = 0; i < row->member_count; i++) {
            fputs(i == 0 ? "" : ", ", to);
            print_member(to, element, &row->members[i], depth);
        }
        fputc('}', to);
    }
}

static void print_value(FILE *to, const pmix_value_t *value, unsigned depth)
{
    const struct sx_type *row = sx_type_find(value->type);

    if (value->type == PMIX_UNDEF) {
        fputs("PMIX_UNDEF", to);
    } else if (row == NULL || row->in_value == SX_WHERE_NOWHERE) {
        fprintf(to, "<type %u>", value->type);
    } else if (row->in_value == SX_WHERE_UNION) {
        print_element(to, &value->data, value->type, depth);
    } else if (value->data.ptr == NULL) {
        fputs("NULL", to);
    } else {
        print_element(to, value->data.ptr, value->type, depth);
    }
}

char *sx_value_print(const pmix_value_t *value)
{
    return sx_element_print(value, PMIX_VALUE);
}

char *sx_element_print(const void *element, pmix_data_type_t type)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    if (to == NULL) {
        return NULL;
    }
    print_element(to, element, type, 0);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
