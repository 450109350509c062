/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* garbled.c - parts from the values of the unit tests' samples, and one row for each change. */
#include "garbled.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/value/flat.h"
#include "control/message.h"
#include "fault.h"
#include "unit/base/samples.h"

#define HEAD_BYTES_MAX 2048u
#define INFOS_MAX 4u
#define PROCS_MAX 8u
#define TEXT_BYTES_MAX 64u

static uint64_t below(uint64_t *seed, uint64_t end)
{
    return fault_random(seed) % end;
}

static uint8_t no_slash(uint8_t byte)
{
    return byte == '/' ? ' ' : byte;
}

/* What a number or a size is rarely, and what is just beside that. */
static uint64_t extreme(uint64_t *seed)
{
    static const uint64_t numbers[] = { 0,         1,          INT16_MAX,        UINT16_MAX,
                                        INT32_MAX, UINT32_MAX, INT64_MAX,        UINT64_MAX,
                                        1u << 10,  1u << 20,   UINT64_C(1) << 32 };

    return numbers[below(seed, SX_COUNT(numbers))] + below(seed, 3) - 1;
}

/* ---- infos ----------------------------------------------------------------------------------- */

#define NAME(constant) constant,
static const char *const attributes[] = {
#include "base/value/names_attribute.inc"
};

/* What a request is about comes first, and without it the rest is not looked at. */
static const struct {
    const char *key;
    pmix_data_type_t type;
} first_infos[] = {
    { SX_PUSH_BYTES, PMIX_BYTE_OBJECT },
    { PMIX_CREDENTIAL, PMIX_BYTE_OBJECT },
};

/* The arrays that requests are made of. */
static const pmix_data_type_t lists[] = { PMIX_APP, PMIX_QUERY, PMIX_INFO };

static void value_any(pmix_value_t *value, uint64_t *seed)
{
    const pmix_data_type_t type = (pmix_data_type_t)below(seed, SAMPLE_TYPES);

    if (sample_is_element_type(type) && below(seed, 2) == 0) {
        sample_array_value(value, type, below(seed, 4), (unsigned)fault_random(seed));
    } else {
        sample_value(value, type, (unsigned)fault_random(seed), SAMPLE_DEPTH);
    }
}

/* The samples have a key now and then, which is no attribute. */
static void queries_name(pmix_value_t *value, uint64_t *seed)
{
    pmix_query_t *const queries = value->data.darray->array;

    for (size_t i = 0; i < value->data.darray->size; i++) {
        for (uint64_t left = 1 + below(seed, 2); left > 0; left--) {
            CHECK_STATUS(PMIx_Argv_append_nosize(&queries[i].keys,
                                                 attributes[below(seed, SX_COUNT(attributes))]),
                         PMIX_SUCCESS);
        }
    }
}

/* Some requests are one info with an array in it. */
static void list_make(pmix_info_t *info, uint64_t *seed)
{
    const pmix_data_type_t type = lists[below(seed, SX_COUNT(lists))];

    memset(info, 0, sizeof(*info));
    sample_array_value(&info->value, type, 1 + below(seed, 2), (unsigned)fault_random(seed));
    if (type == PMIX_QUERY) {
        queries_name(&info->value, seed);
    }
}

static void procs_value(pmix_value_t *value, const char *nspace, uint64_t *seed)
{
    const size_t count = 1 + below(seed, 3);
    pmix_proc_t *procs;

    PMIX_PROC_CREATE(procs, count);
    for (size_t i = 0; i < count; i++) {
        PMIx_Load_procid(&procs[i], nspace, (pmix_rank_t)below(seed, 3));
    }
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = PMIx_Data_array_create(0, PMIX_PROC);
    CHECK(value->data.darray != NULL, "no memory");
    *value->data.darray = (pmix_data_array_t){ .type = PMIX_PROC, .size = count, .array = procs };
}

/* As the row wants it. */
static void value_fit(pmix_value_t *value, const struct sx_directive *row, const char *nspace,
                      uint64_t *seed)
{
    static const pmix_data_type_t types[] = {
        [SX_DIRECTIVE_BOOL] = PMIX_BOOL,           [SX_DIRECTIVE_SAID] = PMIX_BOOL,
        [SX_DIRECTIVE_FLAG] = PMIX_BOOL,           [SX_DIRECTIVE_CHOICE] = PMIX_BOOL,
        [SX_DIRECTIVE_NUMBER] = PMIX_UINT32,       [SX_DIRECTIVE_SECONDS] = PMIX_UINT32,
        [SX_DIRECTIVE_STRING] = PMIX_STRING,       [SX_DIRECTIVE_STRINGS] = PMIX_STRING,
        [SX_DIRECTIVE_SCOPE] = PMIX_SCOPE,         [SX_DIRECTIVE_RANGE] = PMIX_DATA_RANGE,
        [SX_DIRECTIVE_PERSISTENCE] = PMIX_PERSIST, [SX_DIRECTIVE_DEVICES] = PMIX_DEVTYPE,
    };
    const pmix_data_type_t type = row->kind < SX_COUNT(types) ? types[row->kind] : PMIX_UNDEF;

    *value = (pmix_value_t){ .type = type };
    if (row->kind == SX_DIRECTIVE_PROCS) {
        procs_value(value, nspace, seed);
    } else if (row->kind == SX_DIRECTIVE_INFOS) {
        sample_array_value(value, PMIX_INFO, 1 + below(seed, 3), (unsigned)fault_random(seed));
    } else if (type == PMIX_UNDEF) {
        value_any(value, seed);
    } else if (type == PMIX_STRING) {
        sample_value(value, type, (unsigned)fault_random(seed), 1);
    } else if (type == PMIX_BOOL) {
        value->data.flag = below(seed, 2) == 0;
    } else if (type == PMIX_UINT32) {
        value->data.uint32 = (uint32_t)below(seed, 4);
    } else {
        value->data.uint8 = (uint8_t)below(seed, 8); /* the widest of them is one of PMIX_DEVTYPE */
    }
}

static const struct sx_directive *directive_any(uint64_t *seed)
{
    for (;;) {
        const struct sx_directives *const table = &sx_directives_of[below(seed, SX_FUNCTION_COUNT)];

        if (table->count > 0) {
            return &table->rows[below(seed, table->count)];
        }
    }
}

static void info_make(pmix_info_t *info, bool first, const char *nspace, uint64_t *seed)
{
    const struct sx_directive *const row = directive_any(seed);
    const uint64_t way = below(seed, 8);
    const size_t which = below(seed, SX_COUNT(first_infos));

    memset(info, 0, sizeof(*info));
    info->flags = below(seed, 16) == 0 ? PMIX_INFO_REQD : 0;
    if (first && way < 4) {
        PMIx_Load_key(info->key, first_infos[which].key);
        sample_value(&info->value, first_infos[which].type, (unsigned)fault_random(seed), 1);
    } else if (way < 6) {
        PMIx_Load_key(info->key, row->key);
        if (below(seed, 2) == 0) {
            value_fit(&info->value, row, nspace, seed);
        } else {
            value_any(&info->value, seed);
        }
    } else {
        snprintf(info->key, sizeof(info->key), "garbled.%u", (unsigned)below(seed, 8));
        if (way == 6) {
            PMIx_Load_key(info->key, attributes[below(seed, SX_COUNT(attributes))]);
        }
        value_any(&info->value, seed);
    }
}

/* Return: how many there are. */
static size_t infos_make(pmix_info_t infos[INFOS_MAX], const char *nspace, uint64_t *seed)
{
    const size_t count = below(seed, 8) == 0 ? 0 : 1 + below(seed, INFOS_MAX);

    if (below(seed, 6) == 0) {
        list_make(&infos[0], seed);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        info_make(&infos[i], i == 0, nspace, seed);
    }
    return count;
}

/* ---- a whole body ---------------------------------------------------------------------------- */

/* What its parts are made of. */
struct stuff {
    pmix_info_t infos[SX_BODY_PARTS_MAX][INFOS_MAX];
    size_t info_counts[SX_BODY_PARTS_MAX];
    pmix_proc_t procs[PROCS_MAX];
    char text[TEXT_BYTES_MAX];
    uint8_t elements[TEXT_BYTES_MAX];
    _Alignas(8) uint8_t value[4096];
    _Alignas(8) uint8_t head[HEAD_BYTES_MAX];
};

static void head_fill(uint8_t *head, const struct sx_signature *signature, const char *nspace,
                      uint64_t *seed)
{
    const char *const names[] = { nspace, "", "garbled", "nobody" };

    CHECK(signature->head_size <= HEAD_BYTES_MAX, "a head of %u bytes", signature->head_size);
    for (size_t at = 0; at < signature->head_size; at += sizeof(uint32_t)) {
        const uint64_t way = below(seed, 16);
        uint32_t word = way < 4 ? 0 : (uint32_t)below(seed, 4);

        if (way == 15) {
            word = (uint32_t)extreme(seed);
        } else if (way >= 12) { /* four small ones */
            word = (uint32_t)fault_random(seed) & 0x03030303u;
        }
        memcpy(head + at, &word, sizeof(word));
    }
    for (unsigned i = 0; i < SX_BODY_NAMES_MAX && signature->names[i].size != 0; i++) {
        char *const name = (char *)head + signature->names[i].off;

        memset(name, 0, signature->names[i].size);
        snprintf(name, signature->names[i].size, "%s", names[below(seed, SX_COUNT(names))]);
    }
}

/* Some of these, in their order, which collectives insist on, or in any.  Return: how many. */
static size_t procs_make(pmix_proc_t procs[PROCS_MAX], const char *nspace, uint64_t *seed)
{
    const pmix_proc_t all[] = { { .rank = 0 },
                                { .rank = 1 },
                                { .rank = PMIX_RANK_WILDCARD },
                                { .rank = 7 },
                                { .nspace = "zero", .rank = 0 } };
    const bool any_order = below(seed, 4) == 0;
    size_t count = 0;

    for (size_t i = 0; i < SX_COUNT(all); i++) {
        const pmix_proc_t *const proc = &all[any_order ? below(seed, SX_COUNT(all)) : i];

        if (below(seed, 3) == 0) {
            PMIx_Load_procid(&procs[count++], proc->nspace[0] != '\0' ? proc->nspace : nspace,
                             proc->rank);
        }
    }
    if (count == 0) {
        PMIx_Load_procid(&procs[count++], nspace, 1);
    }
    return count;
}

static size_t text_make(char text[TEXT_BYTES_MAX], uint64_t *seed)
{
    if (below(seed, 2) == 0) {
        const char *const attribute = attributes[below(seed, SX_COUNT(attributes))];

        return (size_t)snprintf(text, TEXT_BYTES_MAX, "%.*s", (int)TEXT_BYTES_MAX - 1, attribute);
    }
    return (size_t)snprintf(text, TEXT_BYTES_MAX, "garbled.%u", (unsigned)below(seed, 8));
}

/* Its cell is in the head.  Return: the bytes of its body. */
static size_t value_make(struct stuff *stuff, const struct sx_part *part, uint64_t *seed)
{
    struct sx_cell *const cell = (void *)(stuff->head + part->word_off -
                                          offsetof(struct sx_cell, len));
    pmix_value_t value;
    size_t size;

    value_any(&value, seed);
    if (sx_flat_size(&value, &size) != PMIX_SUCCESS || size > sizeof(stuff->value) ||
        sx_flat_encode(&value, cell, stuff->value, size) != PMIX_SUCCESS) {
        *cell = (struct sx_cell){ .type = PMIX_BOOL };
    }
    PMIx_Value_destruct(&value);
    return cell->len;
}

static struct sx_part_source part_make(struct stuff *stuff, unsigned index,
                                       const struct sx_part *part, const char *nspace,
                                       uint64_t *seed)
{
    switch (part->kind) {
    case SX_PART_PROCS:
        return (struct sx_part_source){ stuff->procs, procs_make(stuff->procs, nspace, seed) };
    case SX_PART_ARRAY:
        for (size_t i = 0; i < sizeof(stuff->elements); i++) {
            stuff->elements[i] = no_slash((uint8_t)fault_random(seed));
        }
        return (struct sx_part_source){ stuff->elements,
                                        below(seed, sizeof(stuff->elements) / part->unit) };
    case SX_PART_INFOS:
        stuff->info_counts[index] = infos_make(stuff->infos[index], nspace, seed);
        return (struct sx_part_source){ stuff->infos[index], stuff->info_counts[index] };
    case SX_PART_TEXT:
        return (struct sx_part_source){ stuff->text, text_make(stuff->text, seed) + 1 };
    case SX_PART_NAME:
        return (struct sx_part_source){ stuff->text, text_make(stuff->text, seed) };
    case SX_PART_VALUE:
        return (struct sx_part_source){ stuff->value, value_make(stuff, part, seed) };
    default:
        return (struct sx_part_source){ NULL, 0 };
    }
}

/* Return: false when something in it cannot leave a process, or is too much. */
static bool body_try(struct garbled *ret, const struct sx_signature *signature, const char *nspace,
                     uint64_t *seed)
{
    static struct stuff stuff;
    struct sx_draft draft = { .signature = signature, .head = stuff.head, .nspace = "" };

    memset(stuff.info_counts, 0, sizeof(stuff.info_counts));
    head_fill(stuff.head, signature, nspace, seed);
    for (unsigned i = 0; i < SX_BODY_PARTS_MAX && signature->parts[i].kind != SX_PART_NONE; i++) {
        draft.parts[i] = part_make(&stuff, i, &signature->parts[i], nspace, seed);
    }
    const bool fits = sx_body_measure(&draft, &ret->size) == PMIX_SUCCESS &&
                      ret->size <= sizeof(ret->bytes) &&
                      sx_body_write(&draft, ret->bytes) == PMIX_SUCCESS;

    for (unsigned i = 0; i < SX_BODY_PARTS_MAX; i++) {
        for (size_t k = 0; k < stuff.info_counts[i]; k++) {
            PMIx_Info_destruct(&stuff.infos[i][k]);
        }
    }
    return fits;
}

void garbled_write(struct garbled *ret, const struct sx_signature *signature, const char *nspace,
                   uint64_t *seed)
{
    while (!body_try(ret, signature, nspace, seed)) {
        continue;
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

typedef void (*change_fn)(struct garbled *body, const struct sx_signature *signature,
                          uint64_t *seed);

static void bytes_flip(struct garbled *body, const struct sx_signature *signature, uint64_t *seed)
{
    for (uint64_t left = 1 + below(seed, 3); left > 0 && body->size > 0; left--) {
        body->bytes[below(seed, body->size)] = no_slash((uint8_t)fault_random(seed));
    }
}

static void number_set(struct garbled *body, size_t at, size_t size, uint64_t *seed)
{
    const uint64_t number = extreme(seed);

    if (at + size <= body->size) {
        memcpy(body->bytes + at, &number, size);
    }
}

/* How long a part is. */
static void word_set(struct garbled *body, const struct sx_signature *signature, uint64_t *seed)
{
    const struct sx_part *const part = &signature->parts[below(seed, SX_BODY_PARTS_MAX)];

    if (part->word_size != 0) {
        number_set(body, part->word_off, part->word_size, seed);
    }
}

/* Counts, lengths and types wherever they are. */
static void any_number_set(struct garbled *body, const struct sx_signature *signature,
                           uint64_t *seed)
{
    const size_t size = (size_t)1 << below(seed, 4);

    number_set(body, below(seed, body->size / size + 1) * size, size, seed);
}

/* Longer than a name, now and then. */
static void ends_remove(struct garbled *body, const struct sx_signature *signature, uint64_t *seed)
{
    const size_t at = below(seed, body->size + 1);
    const size_t size = below(seed, 2) == 0 ? 600 : 16;

    memset(body->bytes + at, 'n', size < body->size - at ? size : body->size - at);
}

static void name_ends_remove(struct garbled *body, const struct sx_signature *signature,
                             uint64_t *seed)
{
    const unsigned i = (unsigned)below(seed, SX_BODY_NAMES_MAX);

    if (signature->names[i].size != 0) {
        memset(body->bytes + signature->names[i].off, 'n', signature->names[i].size);
    } else {
        ends_remove(body, signature, seed);
    }
}

static void cut(struct garbled *body, const struct sx_signature *signature, uint64_t *seed)
{
    body->size = below(seed, body->size + 1);
}

static void stretch(struct garbled *body, const struct sx_signature *signature, uint64_t *seed)
{
    for (uint64_t left = 1 + below(seed, 64); left > 0 && body->size < sizeof(body->bytes);
         left--) {
        body->bytes[body->size++] = no_slash((uint8_t)fault_random(seed));
    }
}

void garbled_mutate(struct garbled *body, const struct sx_signature *signature, uint64_t *seed)
{
    static const change_fn changes[] = { bytes_flip,  word_set,         any_number_set,
                                         ends_remove, name_ends_remove, cut,
                                         stretch,     any_number_set,   bytes_flip };

    changes[below(seed, SX_COUNT(changes))](body, signature, seed);
}
