/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value.c - a second reader of the flat format, written only from its specification.
 *
 * The table below is that of docs/layout.md in a small language: an element is a list of name:form,
 * where a form is u1..u8, i1..i8, f4, f8, bool, tv (two i8), proc, nspace or cell.  It deliberately
 * shares nothing with base/value/type.c: two readers that agree show that the page is right.
 * Bounded by the bytes of the body and SX_MEM_DEPTH_MAX. */
#include "cli/mem/mem.h"

#include <inttypes.h>
#include <stdio.h>

#define SX_MEM_DEPTH_MAX 80u
#define SX_MEM_CELL_NULL 1u
#define SX_MEM_STRING 3u
#define SX_MEM_DATA_ARRAY 39u

struct sx_mem_type {
    uint16_t number;
    const char *name, *form;
};

static const struct sx_mem_type types[] = {
    { 1, "BOOL", "bool" },
    { 2, "BYTE", "u1" },
    { SX_MEM_STRING, "STRING", "text" },
    { 4, "SIZE", "u8" },
    { 5, "PID", "i4" },
    { 6, "INT", "i4" },
    { 7, "INT8", "i1" },
    { 8, "INT16", "i2" },
    { 9, "INT32", "i4" },
    { 10, "INT64", "i8" },
    { 11, "UINT", "u4" },
    { 12, "UINT8", "u1" },
    { 13, "UINT16", "u2" },
    { 14, "UINT32", "u4" },
    { 15, "UINT64", "u8" },
    { 16, "FLOAT", "f4" },
    { 17, "DOUBLE", "f8" },
    { 18, "TIMEVAL", ":tv" },
    { 19, "TIME", "i8" },
    { 20, "STATUS", "i4" },
    { 21, "VALUE", ":cell" },
    { 22, "PROC", ":proc" },
    { 23, "APP", "cmd:cell argv:cell env:cell cwd:cell maxprocs:i4 info:cell" },
    { 24, "INFO", "key:cell flags:u4 value:cell" },
    { 25, "PDATA", "nspace:cell rank:u4 key:cell value:cell" },
    { 27, "BYTE_OBJECT", "bytes" },
    { 30, "PERSIST", "u1" },
    { 32, "SCOPE", "u1" },
    { 33, "DATA_RANGE", "u1" },
    { 35, "INFO_DIRECTIVES", "u4" },
    { 36, "DATA_TYPE", "u2" },
    { 37, "PROC_STATE", "u1" },
    { 38, "PROC_INFO",
      "nspace:cell rank:u4 hostname:cell executable:cell pid:i4 exit_code:i4 "
      "state:u1" },
    { SX_MEM_DATA_ARRAY, "DATA_ARRAY", ":cell" },
    { 40, "PROC_RANK", "u4" },
    { 41, "QUERY", "keys:cell qualifiers:cell" },
    { 42, "COMPRESSED_STRING", "bytes" },
    { 43, "ALLOC_DIRECTIVE", "u1" },
    { 45, "IOF_CHANNEL", "u2" },
    { 46, "ENVAR", "envar:cell value:cell separator:u1" },
    { 47, "COORD", "view:u1 coord:cell" },
    { 48, "REGATTR", "name:cell string:cell type:u2 description:cell" },
    { 49, "REGEX", "bytes" },
    { 50, "JOB_STATE", "u1" },
    { 51, "LINK_STATE", "u1" },
    { 53, "GEOMETRY", "fabric:u8 uuid:cell osname:cell coordinates:cell" },
    { 54, "DEVICE_DIST", "uuid:cell osname:cell type:u8 mindist:u2 maxdist:u2" },
    { 55, "ENDPOINT", "uuid:cell osname:cell endpt:cell" },
    { 57, "DEVTYPE", "u8" },
    { 58, "LOCTYPE", "u2" },
    { 59, "COMPRESSED_BYTE_OBJECT", "bytes" },
    { 60, "PROC_NSPACE", ":nspace" },
    { 61, "PROC_STATS",
      "node:cell nspace:cell rank:u4 pid:i4 cmd:cell state:u1 time:tv percent_cpu:f4 priority:i4 "
      "num_threads:u2 pss:f4 vsize:f4 rss:f4 peak_vsize:f4 processor:u2 sample_time:tv" },
    { 62, "DISK_STATS",
      "disk:cell reads:u8 reads_merged:u8 sectors_read:u8 ms_reading:u8 writes:u8 "
      "writes_merged:u8 sectors_written:u8 ms_writing:u8 ios:u8 ms_io:u8 weighted_ms_io:u8" },
    { 63, "NET_STATS",
      "interface:cell bytes_in:u8 packets_in:u8 errors_in:u8 bytes_out:u8 "
      "packets_out:u8 errors_out:u8" },
    { 64, "NODE_STATS",
      "node:cell la:f4 la5:f4 la15:f4 total:f4 free:f4 buffers:f4 cached:f4 swap_cached:f4 "
      "swap_total:f4 swap_free:f4 mapped:f4 sample_time:tv disks:cell nets:cell" },
    { 65, "DATA_BUFFER", ":cell" },
    { 66, "STOR_MEDIUM", "u8" },
    { 67, "STOR_ACCESS", "u8" },
    { 68, "STOR_PERSIST", "u8" },
    { 69, "STOR_ACCESS_TYPE", "u2" },
    { 70, "DEVICE", "uuid:cell osname:cell type:u8" },
    { 71, "RESBLOCK_DIRECTIVE", "u1" },
    { 72, "RESOURCE_UNIT", "type:u8 count:u8" },
    { 73, "NODE_PID", "hostname:cell nodeid:u4 pid:i4" },
    { 74, "REGEX2", "type:cell bytes:cell" },
    { 75, "ALLOC_INHERIT", "u1" },
};

/* The body that is read: all offsets in its cells count from the start of @outer. */
struct sx_mem_place {
    struct sx_bytes *outer;
    uint64_t off;
    unsigned depth;
};

static void cell_print(const struct sx_mem_cell *cell, struct sx_mem_place place, bool typed);

static const struct sx_mem_type *type_find(uint16_t number)
{
    for (size_t i = 0; i < SX_COUNT(types); i++) {
        if (types[i].number == number) {
            return &types[i];
        }
    }
    return NULL;
}

struct sx_mem_cell sx_mem_cell_at(struct sx_bytes *bytes, uint64_t off)
{
    const uint64_t word0 = sx_bytes_u64(bytes, off);

    return (struct sx_mem_cell){ .type = (uint16_t)word0,
                                 .flags = (uint16_t)(word0 >> 16),
                                 .len = (uint32_t)(word0 >> 32),
                                 .bits = sx_bytes_u64(bytes, off + 8) };
}

const char *sx_mem_scope_name(unsigned scope)
{
    static const char *const names[] = { "-",        "local",     "remote",     "global",
                                         "internal", "del-local", "del-remote", "del-global" };

    return scope < SX_COUNT(names) ? names[scope] : "?";
}

void sx_mem_text_print(const uint8_t *text, uint64_t len)
{
    putchar('"');
    for (uint64_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\') {
            printf("\\%c", text[i]);
        } else if (text[i] >= 0x20 && text[i] < 0x7f) {
            putchar(text[i]);
        } else {
            printf("\\x%02x", text[i]);
        }
    }
    putchar('"');
}

/* ---- numbers: the first letter of a form is the kind, the digit its bytes ------------------ */

static unsigned form_width(const char *form)
{
    return strcmp(form, "bool") == 0 ? 1 : (unsigned)(form[1] - '0');
}

static bool form_is_number(const char *form)
{
    return strcmp(form, "bool") == 0 ||
           (strchr("uif", form[0]) != NULL && form[1] >= '1' && form[1] <= '8' && form[2] == '\0');
}

static void number_print(const char *form, uint64_t bits)
{
    const unsigned unused = 64 - 8 * form_width(form);

    if (form[0] == 'b') {
        printf("%s", bits == 0 ? "false" : bits == 1 ? "true" : "(no bool)");
    } else if (form[0] == 'u') {
        printf("%" PRIu64, bits);
    } else if (form[0] == 'i') {
        printf("%" PRId64, (int64_t)(bits << unused) >> unused);
    } else if (form_width(form) == 4) {
        const uint32_t half = (uint32_t)bits;
        float number;
        memcpy(&number, &half, sizeof(number));
        printf("%g", (double)number);
    } else {
        double number;
        memcpy(&number, &bits, sizeof(number));
        printf("%g", number);
    }
}

static uint64_t number_at(struct sx_bytes *bytes, uint64_t off, unsigned width)
{
    switch (width) {
    case 1:
        return sx_bytes_u8(bytes, off);
    case 2:
        return sx_bytes_u16(bytes, off);
    case 4:
        return sx_bytes_u32(bytes, off);
    default:
        return sx_bytes_u64(bytes, off);
    }
}

static void rank_print(uint32_t rank)
{
    static const char *const names[] = { "UNDEF", "*", "LOCAL_NODE", "INVALID", "LOCAL_PEERS" };

    const uint64_t from_top = UINT64_C(0xffffffff) - rank;

    if (from_top < SX_COUNT(names)) {
        printf("%s", names[from_top]);
    } else {
        printf("%" PRIu32, rank);
    }
}

/* A name of at most @size bytes, which has to end within them. */
static void name_print(struct sx_bytes *bytes, uint64_t off, uint64_t size)
{
    const uint8_t *const name = sx_bytes_at(bytes, off, size);

    if (name == NULL || memchr(name, '\0', size) == NULL) {
        bytes->bad = true;
        return;
    }
    sx_mem_text_print(name, strlen((const char *)name));
}

/* ---- elements ------------------------------------------------------------------------------- */

/* Print one part of an element.  Return: the bytes it takes, not padded. */
static uint64_t part_print(const char *form, struct sx_mem_place place)
{
    struct sx_bytes *const bytes = place.outer;

    if (form_is_number(form)) {
        number_print(form, number_at(bytes, place.off, form_width(form)));
        return form_width(form);
    }
    if (strcmp(form, "tv") == 0) {
        printf("%" PRId64 ".%06" PRId64 "s", (int64_t)sx_bytes_u64(bytes, place.off),
               (int64_t)sx_bytes_u64(bytes, place.off + 8));
        return 16;
    }
    if (strcmp(form, "proc") == 0) {
        name_print(bytes, place.off, 256);
        putchar('.');
        rank_print(sx_bytes_u32(bytes, place.off + 256));
        return 260;
    }
    if (strcmp(form, "nspace") == 0) {
        name_print(bytes, place.off, 256);
        return 256;
    }
    const struct sx_mem_cell cell = sx_mem_cell_at(bytes, place.off);
    cell_print(&cell, (struct sx_mem_place){ bytes, cell.bits, place.depth + 1 }, true);
    return 16;
}

/* Print the members of a struct.  Return: the bytes they take. */
static uint64_t struct_print(const char *form, struct sx_mem_place place)
{
    const uint64_t begin = place.off;
    char name[24], part[8];
    int len;

    putchar('{');
    while (sscanf(form, "%23[^:]:%7[^ ] %n", name, part, &len) == 2 && !place.outer->bad) {
        printf("%s%s: ", place.off == begin ? "" : ", ", name);
        place.off += sx_align_up(part_print(part, place), 8);
        form += len;
    }
    putchar('}');
    return place.off - begin;
}

/* Print one element of an array.  Return: the bytes it takes in the record. */
static uint64_t element_print(const struct sx_mem_type *type, struct sx_mem_place place)
{
    const char *const colon = strchr(type->form, ':');

    if (colon == type->form) {
        return part_print(type->form + 1, place);
    }
    if (colon != NULL) {
        return struct_print(type->form, place);
    }
    return part_print(form_is_number(type->form) ? type->form : "cell", place);
}

/* Print an array record; @one: of a single struct, whose type the cell has given already. */
static void record_print(struct sx_mem_place place, bool one)
{
    const uint16_t number = sx_bytes_u16(place.outer, place.off);
    const uint64_t count = sx_bytes_u64(place.outer, place.off + 8);
    const struct sx_mem_type *const type = type_find(number);

    if (place.outer->bad || (type == NULL && count != 0) || (one && count != 1)) {
        place.outer->bad = true;
        return;
    }
    place.off += 16;
    if (!one) {
        printf("%s[%" PRIu64 "] [", type != NULL ? type->name : "UNDEF", count);
    }
    for (uint64_t i = 0; i < count && !place.outer->bad; i++) {
        printf("%s", i == 0 ? "" : ", ");
        place.off += element_print(type, place);
    }
    if (!one) {
        putchar(']');
    }
}

/* ---- cells ---------------------------------------------------------------------------------- */

static void body_print(const struct sx_mem_type *type, const struct sx_mem_cell *cell,
                       struct sx_mem_place place)
{
    const uint8_t *const at = sx_bytes_at(place.outer, place.off, cell->len);

    if (at == NULL || place.depth > SX_MEM_DEPTH_MAX) {
        place.outer->bad = true;
    } else if (strcmp(type->form, "text") == 0) {
        if (cell->len == 0 || at[cell->len - 1] != '\0') {
            place.outer->bad = true;
            return;
        }
        sx_mem_text_print(at, cell->len - 1);
    } else if (strcmp(type->form, "bytes") == 0) {
        printf("%" PRIu32 " bytes ", cell->len);
        for (uint32_t i = 0; i < cell->len; i++) {
            printf("%02x", at[i]);
        }
    } else {
        record_print(place, type->number != SX_MEM_DATA_ARRAY);
    }
}

static void cell_print(const struct sx_mem_cell *cell, struct sx_mem_place place, bool typed)
{
    const struct sx_mem_type *const type = type_find(cell->type);

    if (type == NULL) {
        if (cell->type == 0 && cell->len == 0) {
            printf("UNDEF");
        } else {
            printf("(type %u)", cell->type);
            place.outer->bad = true;
        }
        return;
    }
    /* The quotes show that a string inside a value is a string. */
    if (!typed || type->number != SX_MEM_STRING) {
        printf("%s ", type->name);
    }
    if ((cell->flags & SX_MEM_CELL_NULL) != 0) {
        printf("NULL");
    } else if (form_is_number(type->form)) {
        number_print(type->form, cell->bits);
    } else {
        body_print(type, cell, place);
    }
}

void sx_mem_value_print(const struct sx_mem_cell *cell, struct sx_bytes body)
{
    cell_print(cell, (struct sx_mem_place){ &body, 0, 0 }, false);
    if (body.bad) {
        printf(" (not a flat value)");
    }
}
