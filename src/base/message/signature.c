/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* signature.c - walk the parts of a signature: to open a body, to measure it, to write it. */
#include "base/message/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/message/payloads.h"
#include "base/status.h"
#include "base/system/pages.h"
#include "base/util.h"
#include "base/value/value.h"

#define SX_PARTS_EACH(i, signature) \
    for (unsigned i = 0; i < SX_BODY_PARTS_MAX && (signature)->parts[i].kind != SX_PART_NONE; i++)

/* ---- words --------------------------------------------------------------------------------- */

static inline uint64_t word_read(const uint8_t *head, const struct sx_part *part)
{
    uint16_t narrow = 0;
    uint32_t word = 0;
    uint64_t wide = 0;

    switch (part->word_size) {
    case sizeof(narrow):
        memcpy(&narrow, head + part->word_off, sizeof(narrow));
        return narrow;
    case sizeof(word):
        memcpy(&word, head + part->word_off, sizeof(word));
        return word;
    case sizeof(wide):
        memcpy(&wide, head + part->word_off, sizeof(wide));
        return wide;
    default:
        return 0;
    }
}

/* Numbers are little-endian. */
static void word_write(uint8_t *head, const struct sx_part *part, uint64_t word)
{
    memcpy(head + part->word_off, &word, part->word_size);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Read all but whether the name holds a NUL.  Return: as sx_proc_ref_read. */
static inline size_t ref_read(const void *at, size_t left, struct sx_proc_ref *ret)
{
    uint32_t head[2];

    if (left < sizeof(head)) {
        return 0;
    }
    memcpy(head, at, sizeof(head));
    const size_t padded = sx_align_up(head[1], 8);

    if (head[1] == 0 || head[1] > PMIX_MAX_NSLEN || padded > left - sizeof(head)) {
        return 0;
    }
    *ret = (struct sx_proc_ref){ .rank = head[0],
                                 .name_len = head[1],
                                 .name = (const char *)at + sizeof(head) };
    return sizeof(head) + padded;
}

static inline bool is_name(const struct sx_proc_ref *proc)
{
    return memchr(proc->name, '\0', proc->name_len) == NULL;
}

size_t sx_proc_ref_read(const void *at, size_t left, struct sx_proc_ref *ret)
{
    struct sx_proc_ref proc;
    const size_t size = ref_read(at, left, &proc);

    if (size == 0 || !is_name(&proc)) {
        return 0;
    }
    *ret = proc;
    return size;
}

static inline bool begins_run(const struct sx_proc_ref *proc, const struct sx_proc_ref *before)
{
    return proc->name_len != before->name_len ||
           memcmp(proc->name, before->name, proc->name_len) != 0;
}

/* Return: the bytes of @count processes; SIZE_MAX when there are not so many, or when they have too
 * many runs, which no client of this library writes.  A name is checked once for its run. */
static size_t procs_span(const uint8_t *at, size_t left, uint64_t count)
{
    const size_t whole = left;
    struct sx_proc_ref proc, before = { .name_len = 0 };
    unsigned runs = 0;

    for (uint64_t i = 0; i < count; i++) {
        const size_t size = ref_read(at, left, &proc);
        const bool is_new = size != 0 && begins_run(&proc, &before);

        runs += is_new;
        if (size == 0 || (is_new && !is_name(&proc)) || runs > SX_PROCS_RUNS_MAX) {
            return SIZE_MAX;
        }
        before = proc;
        at += size;
        left -= size;
    }
    return whole - left;
}

/* Infos are one flat array and nothing behind it. */
static bool is_infos(const uint8_t *at, size_t size)
{
    struct sx_cell cell;

    if (size < sizeof(cell)) {
        return false;
    }
    memcpy(&cell, at, sizeof(cell));
    return cell.type == PMIX_DATA_ARRAY && sx_align_up(cell.len, 8) == size - sizeof(cell);
}

/* Check the infos at @at, written here or received. */
static pmix_status_t infos_judge(const uint8_t *at, size_t size, uint64_t heap_max)
{
    struct sx_cell cell;
    uint16_t type = PMIX_INFO;

    memcpy(&cell, at, sizeof(cell));
    at += sizeof(cell);
    const pmix_status_t rc = sx_flat_check_within(&cell, at, size - sizeof(cell), heap_max);

    if (rc == PMIX_SUCCESS && (cell.flags & SX_CELL_NULL) == 0) {
        memcpy(&type, at, sizeof(type));
    }
    return type == PMIX_INFO ? rc : PMIX_ERR_UNPACK_FAILURE;
}

/* How many bytes a part whose word is @word takes; more than @left: invalid. */
static inline size_t part_span(const struct sx_part *part, const uint8_t *at, size_t left,
                               uint64_t word)
{
    if (part->kind == SX_PART_PROCS) {
        return procs_span(at, left, word);
    }
    if (part->kind == SX_PART_REST) {
        return left;
    }
    return part->kind == SX_PART_ARRAY && word <= left ? (size_t)word * part->unit : (size_t)word;
}

/* Judge the @span bytes of a part, except for its flat contents.  Return: NULL, or the reason why
 * they are not such a part. */
static inline const char *part_judge(const struct sx_part *part, const uint8_t *at, size_t span)
{
    switch (part->kind) {
    case SX_PART_INFOS:
        return is_infos(at, span) ? NULL : "infos that are none";
    case SX_PART_TEXT:
        return at[span - 1] == '\0' ? NULL : "a text without an end";
    case SX_PART_NAME:
        return memchr(at, '\0', span) == NULL ? NULL : "a name with an end in it";
    default:
        return NULL;
    }
}

/* Lay out part @index of the body that @ret is about, which starts at *at, and move *at behind it.
 * Return: NULL, or the reason why it is invalid. */
__attribute__((always_inline)) static inline const char *
part_lay(struct sx_opened *ret, unsigned index, const uint8_t **at, const uint8_t *end)
{
    const struct sx_part *const part = &ret->signature->parts[index];
    const uint64_t word = word_read(ret->head, part);

    if (word < part->min || (part->max != 0 && word > part->max)) {
        return word < part->min ? "a part too short" : "a part too long";
    }
    ret->parts[index] = (struct sx_opened_part){ .at = *at, .count = (uint32_t)word };
    if (word == 0 && part->kind < SX_PART_VALUE) {
        return NULL; /* there is none */
    }
    const size_t left = (size_t)(end - *at);
    const size_t span = part_span(part, *at, left, word);

    if (span > left) {
        return "a part that ends past the body";
    }
    const char *const why = part_judge(part, *at, span);

    if (why != NULL) {
        return why;
    }
    ret->parts[index].size = span;
    /* The padding may be missing at the end. */
    const size_t padded = (size_t)sx_align_up(span, 8);

    *at += padded < left ? padded : left;
    return NULL;
}

/* Lay out what is in the first ret->size of @size bytes; flat contents are not judged.  @known: the
 * signature is a constant here.  Each caller gets its own, for which @known is a constant. */
__attribute__((always_inline)) static inline const char *
body_lay(struct sx_opened *ret, const struct sx_signature *signature, const uint8_t *head,
         size_t size, bool known)
{
    if (size < signature->head_size) {
        return "body too short";
    }
    const uint8_t *at = head + signature->head_size;
    const uint8_t *const end = head + size;
    const char *why = NULL;

    for (unsigned i = 0; i < SX_BODY_NAMES_MAX && signature->names[i].size != 0; i++) {
        if (memchr(head + signature->names[i].off, '\0', signature->names[i].size) == NULL) {
            return "a name without an end";
        }
    }
    ret->signature = signature;
    ret->head = head;
    ret->status = PMIX_SUCCESS;
    if (known) {
        _Pragma("GCC unroll 4") /* nothing is left of the loop */
            for (unsigned i = 0; i < SX_BODY_PARTS_MAX; i++)
        {
            if (signature->parts[i].kind != SX_PART_NONE && why == NULL) {
                why = part_lay(ret, i, &at, end);
            }
        }
    } else {
        SX_PARTS_EACH(i, signature) {
            why = part_lay(ret, i, &at, end);
            if (why != NULL) {
                break;
            }
        }
    }
    ret->size = (size_t)(at - head);
    return why;
}

const char *sx_body_next(struct sx_opened *ret, const struct sx_signature *signature,
                         const uint8_t **at, size_t *left)
{
    const char *const why = body_lay(ret, signature, *at, *left, false);

    if (why == NULL) {
        *at += ret->size;
        *left -= ret->size;
    }
    return why;
}

const char *sx_event_lay(struct sx_opened *ret, const void *bytes, size_t size)
{
    static const struct sx_signature signature = SX_EVENT_SIGNATURE;
    const char *const why = body_lay(ret, &signature, bytes, size, true);

    return why == NULL && ret->size != size ? "bytes behind the last part" : why;
}

/* ---- flat contents -------------------------------------------------------------------------- */

struct flat_part {
    struct sx_cell cell;
    const uint8_t *body;
    size_t size;
    uint64_t heap_max;
};

/* Find the flat contents of part @index of a laid out body.  Return: false when there are none, or
 * when the reader of the part judges them. */
static bool flat_part_of(const struct sx_opened *opened, unsigned index, struct flat_part *ret)
{
    const struct sx_part *const part = &opened->signature->parts[index];
    const struct sx_opened_part *const laid = &opened->parts[index];

    if (part->kind == SX_PART_VALUE) {
        memcpy(&ret->cell,
               (const uint8_t *)opened->head + part->word_off - offsetof(struct sx_cell, len),
               sizeof(ret->cell));
        ret->body = laid->at;
        ret->size = laid->size;
        ret->heap_max = UINT64_MAX;
        return true;
    }
    if (part->kind != SX_PART_INFOS || part->decoded || laid->size == 0) {
        return false;
    }
    memcpy(&ret->cell, laid->at, sizeof(ret->cell));
    ret->body = laid->at + sizeof(ret->cell);
    ret->size = laid->size - sizeof(ret->cell);
    ret->heap_max = opened->signature->heap_max;
    return true;
}

/* It has been checked: @rc.  Return: NULL, or the reason to refuse the body. */
static const char *flat_part_judge(struct sx_opened *opened, unsigned index,
                                   const struct flat_part *flat, pmix_status_t rc)
{
    uint16_t type = PMIX_INFO;

    if (opened->signature->parts[index].kind == SX_PART_VALUE) {
        return rc == PMIX_SUCCESS ? NULL : "a value that is none";
    }
    if (rc == PMIX_SUCCESS && (flat->cell.flags & SX_CELL_NULL) == 0) {
        memcpy(&type, flat->body, sizeof(type)); /* of the elements */
    }
    if (rc == PMIX_ERR_UNPACK_FAILURE || type != PMIX_INFO) {
        return "infos that contradict themselves";
    }
    opened->status = rc == PMIX_SUCCESS ? opened->status : rc;
    return NULL;
}

const char *sx_body_open(struct sx_opened *ret, const struct sx_signature *signature,
                         const void *bytes, size_t size)
{
    const char *why = sx_body_lay(ret, signature, bytes, size);

    for (unsigned i = 0; i < SX_BODY_PARTS_MAX && why == NULL; i++) {
        struct flat_part flat;

        if (flat_part_of(ret, i, &flat)) {
            why = flat_part_judge(ret, i, &flat,
                                  sx_flat_check_within(&flat.cell, flat.body, flat.size,
                                                       flat.heap_max));
        }
    }
    return why;
}

const char *sx_body_lay(struct sx_opened *ret, const struct sx_signature *signature,
                        const void *bytes, size_t size)
{
    const char *const why = body_lay(ret, signature, bytes, size, false);

    return why == NULL && ret->size != size ? "bytes behind the last part" : why;
}

bool sx_judging_step(struct sx_judging *judging, struct sx_opened *opened, uint64_t *looks,
                     const char **ret_why)
{
    for (; judging->part < SX_BODY_PARTS_MAX; judging->part++) {
        struct flat_part flat;

        if (!flat_part_of(opened, judging->part, &flat)) {
            continue;
        }
        if (judging->checker == NULL) {
            judging->checker = sx_flat_checker_new(&flat.cell, flat.body, flat.size, flat.heap_max);
        }
        const pmix_status_t rc = judging->checker != NULL
                                     ? sx_flat_checker_step(judging->checker, looks)
                                     : sx_flat_check_within(&flat.cell, flat.body, flat.size,
                                                            flat.heap_max);

        if (rc == PMIX_ERR_WOULD_BLOCK) {
            return true;
        }
        judging->checker = sx_flat_checker_free(judging->checker);
        *ret_why = flat_part_judge(opened, judging->part, &flat, rc);
        if (*ret_why != NULL) {
            return false;
        }
    }
    *ret_why = NULL;
    return false;
}

void sx_judging_end(struct sx_judging *judging)
{
    judging->checker = sx_flat_checker_free(judging->checker);
}

bool sx_part_proc_next(struct sx_opened_part *rest, struct sx_proc_ref *ret)
{
    const size_t size = rest->count == 0 ? 0 : sx_proc_ref_read(rest->at, rest->size, ret);

    rest->at += size;
    rest->size -= size;
    rest->count -= size != 0;
    return size != 0;
}

pmix_status_t sx_part_procs(const struct sx_opened_part *part, pmix_proc_t **ret_procs)
{
    struct sx_opened_part rest = *part;
    struct sx_proc_ref ref;

    *ret_procs = NULL;
    if (part->count == 0) {
        return PMIX_SUCCESS;
    }
    /* Once per arrival: glibc's calloc never takes what a thread has just freed. */
    pmix_proc_t *const procs = sx_pages_malloc(part->count * sizeof(*procs));

    if (procs == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (pmix_proc_t *proc = procs; sx_part_proc_next(&rest, &ref); proc++) {
        *proc = (pmix_proc_t){ .rank = ref.rank };
        memcpy(proc->nspace, ref.name, ref.name_len);
    }
    *ret_procs = procs;
    return PMIX_SUCCESS;
}

pmix_status_t sx_body_infos(const struct sx_opened *body, unsigned index, pmix_info_t **ret_info,
                            size_t *ret_ninfo)
{
    const struct sx_opened_part *const part = &body->parts[index];

    *ret_info = NULL;
    *ret_ninfo = 0;
    return part->size == 0 || body->status != PMIX_SUCCESS
               ? body->status
               : sx_flat_infos_decode_within(part->at, part->size, body->signature->heap_max,
                                             ret_info, ret_ninfo);
}

/* ---- writing ------------------------------------------------------------------------------- */

static const char *nspace_of(const pmix_proc_t *proc, const char *nspace)
{
    return proc->nspace[0] != '\0' ? proc->nspace : nspace;
}

pmix_status_t sx_procs_judge(size_t count, size_t runs)
{
    if (count > SX_PROCS_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a list of %zu processes: at most %u can be named; name a whole namespace "
                        "with PMIX_RANK_WILDCARD",
                        count, SX_PROCS_MAX);
    }
    if (runs > SX_PROCS_RUNS_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a list of processes that changes from one namespace to another %zu times: "
                        "at most %u changes can be named; name the processes of each namespace one "
                        "behind the other, or a group of them",
                        runs, SX_PROCS_RUNS_MAX);
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_procs_measure(const pmix_proc_t procs[], size_t count, const char *nspace,
                               size_t *ret_size)
{
    size_t size = 0, runs = 0;

    if (procs == NULL && count != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_procs_judge(count, 0);

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        const char *const name = nspace_of(&procs[i], nspace);
        const size_t len = sx_name_len(name, sizeof(procs[i].nspace));

        if (len == 0 || len >= sizeof(procs[i].nspace)) {
            return PMIX_ERR_BAD_PARAM;
        }
        runs += i == 0 || strcmp(nspace_of(&procs[i - 1], nspace), name) != 0;
        size += 2 * sizeof(uint32_t) + (size_t)sx_align_up(len, 8);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_procs_judge(count, runs);
    }
    if (rc == PMIX_SUCCESS) {
        *ret_size = size;
    }
    return rc;
}

static void procs_write(uint8_t *at, const pmix_proc_t procs[], size_t count, const char *nspace)
{
    for (size_t i = 0; i < count; i++) {
        const char *const name = nspace_of(&procs[i], nspace);
        const size_t len = sx_name_len(name, sizeof(procs[i].nspace));
        const uint32_t head[2] = { procs[i].rank, (uint32_t)len };
        const size_t padded = (size_t)sx_align_up(len, 8);

        memcpy(at, head, sizeof(head));
        at += sizeof(head);
        memset(at, 0, padded);
        memcpy(at, name, len);
        at += padded;
    }
}

static pmix_status_t part_measure(const struct sx_draft *draft, unsigned i, size_t *ret_size)
{
    const struct sx_part *const part = &draft->signature->parts[i];
    const struct sx_part_source *const from = &draft->parts[i];
    pmix_status_t rc = PMIX_SUCCESS;

    if (part->kind == SX_PART_PROCS) {
        return sx_procs_measure(from->at, from->count, draft->nspace, ret_size);
    }
    *ret_size = 0;
    if (from->count == 0) {
        return PMIX_SUCCESS;
    }
    if (from->at == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (part->kind == SX_PART_INFOS) {
        rc = sx_flat_infos_size(from->at, from->count, ret_size);
    } else {
        *ret_size = part->kind == SX_PART_ARRAY ? from->count * part->unit : from->count;
    }
    if (part->word_size < sizeof(uint64_t) && *ret_size >> part->word_size * 8 != 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    return rc == PMIX_SUCCESS && part->thing != NULL && *ret_size > part->max
               ? sx_body_too_large(part->thing, *ret_size, part->max, part->advice)
               : rc;
}

pmix_status_t sx_body_measure(struct sx_draft *draft, size_t *ret_size)
{
    size_t size = draft->signature->head_size;

    SX_PARTS_EACH(i, draft->signature) {
        const pmix_status_t rc = part_measure(draft, i, &draft->sizes[i]);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        size += (size_t)sx_align_up(draft->sizes[i], 8);
    }
    *ret_size = size;
    return PMIX_SUCCESS;
}

/* So few bytes can never unfold to more than a receiver takes. */
#define ALWAYS_FAIR_BYTES 4096u

static pmix_status_t infos_write(const struct sx_draft *draft, const struct sx_part_source *from,
                                 uint8_t *at, size_t size)
{
    pmix_status_t rc = sx_flat_infos_encode(from->at, from->count, at, size);

    if (rc == PMIX_SUCCESS && size > ALWAYS_FAIR_BYTES) {
        rc = infos_judge(at, size, draft->signature->heap_max);
    }
    return rc == PMIX_ERR_OUT_OF_RESOURCE
               ? SX_RAISE(rc,
                          "infos of %zu bytes, which unfold to more than %" PRIu64
                          ": give fewer of them, or one array of numbers instead of many small "
                          "values",
                          size, draft->signature->heap_max)
               : rc;
}

static pmix_status_t part_write(const struct sx_draft *draft, unsigned i, uint8_t *at)
{
    const uint8_t kind = draft->signature->parts[i].kind;
    const struct sx_part_source *const from = &draft->parts[i];
    const size_t size = draft->sizes[i];

    if (size == 0) {
        return PMIX_SUCCESS;
    }
    if (kind == SX_PART_PROCS) {
        procs_write(at, from->at, from->count, draft->nspace);
        return PMIX_SUCCESS;
    }
    if (kind == SX_PART_INFOS) {
        return infos_write(draft, from, at, size);
    }
    memset(at + size / 8 * 8, 0, (size_t)sx_align_up(size, 8) - size / 8 * 8);
    memcpy(at, from->at, kind == SX_PART_TEXT ? size - 1 : size);
    if (kind == SX_PART_TEXT) {
        at[size - 1] = '\0'; /* a text that was cut ends too */
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_body_write(const struct sx_draft *draft, void *at)
{
    const struct sx_signature *const signature = draft->signature;
    uint8_t *const head = at;
    size_t off = signature->head_size;

    if (signature->head_size > 0) { /* else there may be no head to copy */
        memcpy(head, draft->head, signature->head_size);
    }
    SX_PARTS_EACH(i, signature) {
        const struct sx_part *const part = &signature->parts[i];
        const bool counts = part->kind == SX_PART_PROCS || part->kind == SX_PART_ARRAY;

        word_write(head, part, counts ? draft->parts[i].count : draft->sizes[i]);
        const pmix_status_t rc = part_write(draft, i, head + off);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        off += (size_t)sx_align_up(draft->sizes[i], 8);
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_body_too_large(const char *thing, uint64_t size, uint64_t max, const char *advice)
{
    return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                    "%s would take %" PRIu64 " bytes; at most %" PRIu64 " go in one message: %s",
                    thing, size, max, advice);
}
