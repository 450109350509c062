/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* signature.h - the bodies of messages, written and opened by their signatures.
 *
 *   +----------+---------+---------+----
 *   | head     | part 0  | part 1  | ...
 *   +----------+---------+---------+----
 *
 * A head is a struct of fixed size, a multiple of 8.  The parts follow in the order of the
 * signature, each at a multiple of 8.  A part's length follows from its word, a number in the head.
 * Nothing follows the last part; its padding may be left out.
 *
 *   part    its word is         its bytes
 *   PROCS   number of elements  {u32 rank, u32 name_len, namespace without NUL, padded to 8} each
 *   ARRAY   number of elements  `unit` bytes each
 *   INFOS   bytes               a flat array of infos (flat.h); word 0: there are none
 *   TEXT    bytes               a text with its NUL; word 0: there is none
 *   NAME    bytes               a name without NUL
 *   VALUE   len of a cell       the body of that cell, which is the word's place in the head
 *   REST    none                all that is left: somebody else opens it
 *
 * An opener trusts no byte.  A reader of an opened body need not check its lengths again.  Any
 * thread may call. */
#ifndef SX_BASE_MESSAGE_SIGNATURE_H
#define SX_BASE_MESSAGE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/value/flat.h"

/* ---- signatures ---------------------------------------------------------------------------- */

#define SX_BODY_PARTS_MAX 4u
#define SX_BODY_NAMES_MAX 2u
#define SX_PROCS_MAX 16384u     /* processes in one list ... */
#define SX_PROCS_RUNS_MAX 4096u /* ... in which the name of the namespace changes less often */

enum sx_part_kind {
    SX_PART_NONE, /* ends the parts */
    SX_PART_PROCS,
    SX_PART_ARRAY,
    SX_PART_INFOS,
    SX_PART_TEXT,
    SX_PART_NAME,
    SX_PART_VALUE, /* from here on: there even when the word is 0 */
    SX_PART_REST,
};

struct sx_part {
    uint8_t kind;      /* enum sx_part_kind */
    uint8_t unit;      /* bytes of an element */
    uint8_t word_size; /* 2, 4 or 8 */
    bool decoded;      /* infos that a reader decodes at once: sx_body_infos judges them */
    bool ahead;        /* processes: a long list is read before its message is taken (channel.h) */
    uint16_t word_off; /* in the head */
    uint32_t min, max; /* of the word; max 0: what the body has room for */
    const char *thing; /* its name for a user that gives too much, and advice */
    const char *advice;
};

struct sx_signature {
    uint16_t head_size;
    struct {
        uint16_t off, size;     /* size 0: there is none */
    } names[SX_BODY_NAMES_MAX]; /* in the head, that must end */
    struct sx_part parts[SX_BODY_PARTS_MAX];
    uint64_t heap_max; /* what its infos may unfold to when they are decoded */
};

#define SX_NAME_IN(type, member)                                              \
    {                                                                         \
        .off = offsetof(type, member), .size = sizeof(((type *)NULL)->member) \
    }
#define SX_PART_WORD(type, member) \
    .word_off = offsetof(type, member), .word_size = sizeof(((type *)NULL)->member)
#define SX_PROCS_PART(type, word, least)                                                     \
    {                                                                                        \
        .kind = SX_PART_PROCS, .min = (least), .max = SX_PROCS_MAX, SX_PART_WORD(type, word) \
    }
#define SX_PROCS_AHEAD_PART(type, word, least)                                     \
    {                                                                              \
        .kind = SX_PART_PROCS, .ahead = true, .min = (least), .max = SX_PROCS_MAX, \
        SX_PART_WORD(type, word)                                                   \
    }
#define SX_ARRAY_PART(type, word, element, most)                                                \
    {                                                                                           \
        .kind = SX_PART_ARRAY, .unit = sizeof(element), .max = (most), SX_PART_WORD(type, word) \
    }
#define SX_INFOS_PART(type, word)                       \
    {                                                   \
        .kind = SX_PART_INFOS, SX_PART_WORD(type, word) \
    }
#define SX_TEXT_PART(type, word, most)                                \
    {                                                                 \
        .kind = SX_PART_TEXT, .max = (most), SX_PART_WORD(type, word) \
    }
#define SX_NAME_PART(type, word, least, most)                                         \
    {                                                                                 \
        .kind = SX_PART_NAME, .min = (least), .max = (most), SX_PART_WORD(type, word) \
    }
#define SX_VALUE_PART(type, cell)                                                                \
    {                                                                                            \
        .kind = SX_PART_VALUE, .word_off = offsetof(type, cell) + offsetof(struct sx_cell, len), \
        .word_size = sizeof(uint32_t)                                                            \
    }
#define SX_REST_PART         \
    {                        \
        .kind = SX_PART_REST \
    }

/* ---- opening ------------------------------------------------------------------------------- */

struct sx_opened_part {
    const uint8_t *at;
    size_t size;    /* without padding */
    uint32_t count; /* its word */
};

/* All of it is borrowed. */
struct sx_opened {
    const struct sx_signature *signature;
    const void *head; /* as the bytes are: at a multiple of 8, a pointer to its struct */
    size_t size;      /* of all of it */
    /* Of one that sx_body_open has opened: PMIX_ERR_OUT_OF_RESOURCE when its infos unfold to more
     * than the signature allows. */
    pmix_status_t status;
    struct sx_opened_part parts[SX_BODY_PARTS_MAX];
};

/* Find head and parts in @size bytes at @bytes (at a multiple of 8), and check all of them.
 * Return: NULL, or the reason why these bytes are not such a body (static text). */
const char *sx_body_open(struct sx_opened *ret, const struct sx_signature *signature,
                         const void *bytes, size_t size);

/* The same in steps, for a long body.  sx_body_lay does not check the contents of infos and of a
 * value; then the steps do, with no more than *looks each (flat.h), and leave in it what they have
 * not used.  Without memory for its state, a step checks all of a part.  The bytes stay where they
 * are from the first step to the last. */
struct sx_judging {
    unsigned part; /* zeroed before the first step */
    struct sx_flat_checker *checker;
};
const char *sx_body_lay(struct sx_opened *ret, const struct sx_signature *signature,
                        const void *bytes, size_t size);
/* Return: true while another step is needed; false, and *ret_why is NULL, or the reason why these
 * bytes are not such a body. */
bool sx_judging_step(struct sx_judging *judging, struct sx_opened *opened, uint64_t *looks,
                     const char **ret_why);
/* Behind the last step, or instead of the next one; safe twice. */
void sx_judging_end(struct sx_judging *judging);

/* As sx_body_lay, for the next one
 * of several that lie back to back, each padded: the *left bytes at *at, which are moved on. */
const char *sx_body_next(struct sx_opened *ret, const struct sx_signature *signature,
                         const uint8_t **at, size_t *left);

/* The processes of a PROCS part, malloc'ed, NULL for none.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_part_procs(const struct sx_opened_part *part, pmix_proc_t **ret_procs);

/* The infos of part @index of an opened body, for PMIX_INFO_FREE, NULL and 0 when there are none.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, also when they unfold to more than the signature
 * allows; PMIX_ERR_UNPACK_FAILURE, only of a part that is `decoded`: they are none. */
pmix_status_t sx_body_infos(const struct sx_opened *body, unsigned index, pmix_info_t **ret_info,
                            size_t *ret_ninfo);

/* Return: the text of a TEXT part, NULL when there is none. */
static inline const char *sx_part_text(const struct sx_opened_part *part)
{
    return part->count != 0 ? (const char *)part->at : NULL;
}

/* ---- a list of processes, one at a time ----------------------------------------------------- */

struct sx_proc_ref {
    uint32_t rank, name_len; /* 1 to PMIX_MAX_NSLEN */
    const char *name;        /* without NUL, borrowed */
};

/* Read the process at the start of the @left bytes at @at, trusting none of them.  Return: how
 * many bytes it takes; 0 when they hold no process. */
size_t sx_proc_ref_read(const void *at, size_t left, struct sx_proc_ref *ret);

/* The next process of an opened list: @at is its part's, moved on.  Return: false behind the
 * last. */
bool sx_part_proc_next(struct sx_opened_part *rest, struct sx_proc_ref *ret);

/* ---- writing ------------------------------------------------------------------------------- */

/* The source of a part. */
struct sx_part_source {
    const void *at; /* pmix_proc_t, elements, pmix_info_t, or characters */
    size_t count;   /* of them; of a TEXT with its NUL, which is always written */
};

struct sx_draft {
    const struct sx_signature *signature;
    const void *head;   /* its words need not be set */
    const char *nspace; /* used for an empty namespace in PROCS; "": it is refused */
    struct sx_part_source parts[SX_BODY_PARTS_MAX];
    size_t sizes[SX_BODY_PARTS_MAX]; /* sx_body_measure's */
};

/* Judge a list of @count processes in @runs of one namespace.  Return: as sx_body_measure. */
pmix_status_t sx_procs_judge(size_t count, size_t runs);
/* Judge a list of processes; an empty namespace means @nspace.  Return: as sx_body_measure. */
pmix_status_t sx_procs_measure(const pmix_proc_t procs[], size_t count, const char *nspace,
                               size_t *ret_size);

/* Check the sources of the body, and compute its size.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 * for NULL with a count, for names without an end, and for more than SX_PROCS_MAX processes or
 * SX_PROCS_RUNS_MAX runs of one namespace (logged); PMIX_ERR_OUT_OF_RESOURCE (logged) for a part
 * that is too large; as sx_flat_infos_size. */
pmix_status_t sx_body_measure(struct sx_draft *draft, size_t *ret_size);

/* Write the body to @at (at a multiple of 8): exactly as many bytes as sx_body_measure returned.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE (logged) when infos unfold to more than the
 * signature allows; as sx_flat_infos_encode. */
pmix_status_t sx_body_write(const struct sx_draft *draft, void *at);

/* Say that @thing of @size bytes is more than the @max that go into one message, and @advice.
 * Return: PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_body_too_large(const char *thing, uint64_t size, uint64_t max, const char *advice);

#endif
