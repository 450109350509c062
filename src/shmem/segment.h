/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segment.h - one piece of sealed, anonymous shared memory (memfd) with one kind of content.
 *
 *   0            64              128            384
 *   +------------+---------------+--------------+---------------------------
 *   | constant   | living        | nspace       | header of the kind, content
 *   | identity   | used, successor              |
 *   +------------+---------------+--------------+---------------------------
 *
 * The creator maps it writable once, seals it (SHRINK, GROW, FUTURE_WRITE, SEAL) and hands out
 * O_RDONLY reopens; no other process can ever map it writable.  A lane is the exception: its one
 * client may write, hence SHRINK, GROW and SEAL only.  Nothing in here is a pointer.  Recovery
 * after a kill: the kernel frees it with the last mapping. */
#ifndef SX_SHMEM_SEGMENT_H
#define SX_SHMEM_SEGMENT_H

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "base/util.h"

/* ---- placement -------------------------------------------------------------------------------
 *
 * Where memory lies on a machine with several NUMA nodes.
 *
 * A placement belongs to a memfd: it is set through one map, before there are pages, and holds for
 * every page that any process makes there afterwards.  The placement is a hint.  A node that is
 * full, or a kernel that refuses, gives memory from elsewhere, never an error. */

#define SX_NODE_MAX 1024u /* the largest CONFIG_NODES_SHIFT of any architecture is 10 */
#define SX_NODE_WORD_BITS (sizeof(unsigned long) * CHAR_BIT)
#define SX_NODE_WORDS (SX_NODE_MAX / SX_NODE_WORD_BITS)

struct sx_node_set {
    unsigned long words[SX_NODE_WORDS];
};

static inline void sx_node_set_add(struct sx_node_set *set, unsigned node)
{
    set->words[node / SX_NODE_WORD_BITS] |= 1ul << node % SX_NODE_WORD_BITS;
}

static inline bool sx_node_set_has(const struct sx_node_set *set, unsigned node)
{
    return (set->words[node / SX_NODE_WORD_BITS] >> node % SX_NODE_WORD_BITS & 1) != 0;
}

unsigned sx_node_set_count(const struct sx_node_set *set);

enum sx_placement_kind {
    SX_PLACE_ANYWHERE = 0, /* near the first toucher of a page */
    SX_PLACE_NEAR,         /* on the one node of the set, while it has memory */
    SX_PLACE_SPREAD,       /* over all nodes of the set in turn */
};

struct sx_placement {
    enum sx_placement_kind kind;
    struct sx_node_set nodes;
};

/* Request the placement for [at, at + size), a whole map.  NULL: anywhere. */
void sx_placement_apply(const struct sx_placement *placement, void *at, size_t size);

/* Nodes with memory that this process may use: at least 1, and none in *ret where the kernel does
 * not report them. */
unsigned sx_placement_nodes(struct sx_node_set *ret);

/* ---- a segment ------------------------------------------------------------------------------ */

#define SX_SEGMENT_MAGIC UINT64_C(0x5358534547000002) /* "SXSEG", 0, layout 2: bump on change */
#define SX_SEGMENT_LAYOUT_BITS 24u                    /* the layout's, of the magic */
#define SX_SEGMENT_BODY_OFF 384
#define SX_SEGMENT_NSPACE_BYTES 256
#define SX_SEGMENT_ENDED UINT64_MAX /* as a successor: the subject of the segment is gone */

enum sx_segment_kind {
    SX_SEGMENT_STORE = 1, /* state: "shmix:store:NSPACE" */
    SX_SEGMENT_RING = 2,  /* history: "shmix:ring:NSPACE" */
    SX_SEGMENT_BOARD = 3, /* the server's own words: "shmix:board:NAME" */
    SX_SEGMENT_LANE = 4,  /* one client's submissions: "shmix:lane:NSPACE.RANK" */
    SX_SEGMENT_OPS = 5,   /* the server's open operations: "shmix:ops:NAME" */
};

/* Feature bits; a reader refuses a segment with an unknown one. */
#define SX_SEGMENT_FEATURES_KNOWN UINT64_C(0)

/* Return: the layout that a segment with @magic has; 0: it is not a segment of shmix. */
static inline uint32_t sx_segment_layout(uint64_t magic)
{
    const bool is_ours = magic >> SX_SEGMENT_LAYOUT_BITS ==
                         SX_SEGMENT_MAGIC >> SX_SEGMENT_LAYOUT_BITS;

    return is_ours ? (uint32_t)(magic & ((1u << SX_SEGMENT_LAYOUT_BITS) - 1)) : 0;
}

struct sx_segment_header {
    _Atomic uint64_t magic;       /* 0 while being formatted; stored last with release */
    uint64_t size_bytes;          /* whole segment, header included */
    uint64_t creator_start_ticks; /* with creator_pid: names one process for ever */
    uint32_t creator_pid;
    uint32_t kind;       /* enum sx_segment_kind */
    uint64_t generation; /* counts from 1 for one kind and nspace */
    uint64_t features;
    uint8_t reserved0[16]; /* zero */
    /* line 1: the owner writes it while the segment lives */
    _Atomic uint64_t used_bytes;    /* readers stay below; only grows */
    _Atomic uint64_t successor;     /* generation that replaces this one; 0 none; ENDED */
    _Atomic uint64_t garbage_bytes; /* superseded records, for reports */
    uint8_t reserved1[40];          /* zero */
    char nspace[SX_SEGMENT_NSPACE_BYTES];
};
static_assert(sizeof(struct sx_segment_header) == SX_SEGMENT_BODY_OFF, "fixed by layout 1");
static_assert(offsetof(struct sx_segment_header, used_bytes) == 64, "fixed by layout 1");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock cannot be shared between processes");

/* One process's view.  @base is const in spirit for attached ones: the kernel enforces it. */
struct sx_segment {
    uint8_t *base;         /* NULL: no segment */
    uint64_t size_bytes;   /* mapped */
    uint64_t backed_bytes; /* owner: memory taken from the kernel so far */
    int fd;                /* owner: the memfd, -1 for private memory; reader: -1 */
    bool owner;
};

#define SX_SEGMENT_NULL ((struct sx_segment){ .fd = -1 })

struct sx_segment_options {
    enum sx_segment_kind kind;
    const char *nspace;      /* copied into the header; at most 255 bytes */
    uint64_t size_bytes;     /* wanted reserve (sparse) */
    uint64_t size_min_bytes; /* the least reserve; it is halved down to this */
    uint64_t generation;
    bool client_writable;                 /* a lane */
    bool private_memory;                  /* anonymous, never shared: a process's own store */
    const struct sx_placement *placement; /* on NUMA nodes; NULL: anywhere */
};

/* Create, map, back the first page(s) and seal.  The header is filled but not published.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, PMIX_ERR_NO_PERMISSIONS ... with a line that
 * names the limit (RLIMIT_FSIZE, memory, descriptors); PMIX_ERR_BAD_PARAM. */
pmix_status_t sx_segment_create(struct sx_segment *seg, const struct sx_segment_options *options);

/* The kind's own header is complete: store the magic (release). */
void sx_segment_publish(struct sx_segment *seg);

/* A descriptor for others: O_RDONLY reopen (O_RDWR for a lane), close-on-exec; the caller closes.
 * Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for private memory; errno's status. */
pmix_status_t sx_segment_share(const struct sx_segment *seg, int *ret_fd);

/* Take memory for [0, end) ahead of use, in steps of at least 64 KiB, so that a shortage is a
 * status here and never a SIGBUS in a reader.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_segment_back(struct sx_segment *seg, uint64_t end);

/* Map a received @fd (not consumed) read-only (or read-write for a lane), trusting nothing: the
 * kernel's size, seals present, magic, kind, features, used_bytes <= size.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED (other layout or feature). */
pmix_status_t sx_segment_attach(struct sx_segment *seg, int fd, enum sx_segment_kind kind);

/* For a reader: enter the used part behind @from into its page tables now, in one call, rather than
 * fault by fault, and the part that its owner has backed already.  More than 1 MiB is left to
 * faults: the kernel enters 16 pages with each, which costs as much, and not all may be read.  A
 * kernel without the call (before 5.14) does nothing.  Return: the end of what was entered, or left
 * to faults; the next call is due when more is used. */
uint64_t sx_segment_prefault(const struct sx_segment *seg, uint64_t from);

/* Safe on SX_SEGMENT_NULL and twice. */
void sx_segment_deinit(struct sx_segment *seg);

/* The same for a segment whose memory is freed by this process.  For a large one a thread does
 * that, because it takes time; no other thread waits for it. */
void sx_segment_release(struct sx_segment *seg);

static inline struct sx_segment_header *sx_segment_header(const struct sx_segment *seg)
{
    return (struct sx_segment_header *)(void *)seg->base;
}

/* ---- heap: heap.c ----------------------------------------------------------------------------
 *
 * The append-only allocator inside a segment; nothing is ever freed or moved.
 *
 * One writer.  Memory from sx_heap_alloc is invisible to readers until a reference to it is stored
 * with release, or the end is published. */

struct sx_heap {
    struct sx_segment *seg; /* borrowed */
    uint64_t next_off;
};

void sx_heap_init(struct sx_heap *heap, struct sx_segment *seg, uint64_t start_off);

/* @size bytes at an 8-aligned (or @align, a power of two >= 8) offset, zeroed, memory taken from
 * the kernel, used_bytes advanced (release).  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE when
 * the reserve or the memory is out (nothing changed). */
pmix_status_t sx_heap_alloc(struct sx_heap *heap, uint64_t size, uint64_t align, uint64_t *ret_off);

/* Take the memory for allocations of @size bytes in total, alignment included, without making
 * them: they cannot fail afterwards, so a change of several parts happens whole or not at all.
 * Return: as sx_heap_alloc. */
pmix_status_t sx_heap_reserve(struct sx_heap *heap, uint64_t size);

/* The same in steps, of @most bytes each: a long allocation costs its caller no long time.  Return:
 * true when all is there, or cannot be had: then sx_heap_reserve returns the error. */
bool sx_heap_prepare(struct sx_heap *heap, uint64_t size, uint64_t most);

/* ---- segments of other processes: segment_scan.c ---------------------------------------------
 *
 * Segments of servers, found without their help.
 *
 * The segments are found through /proc, by the names of the memfds that processes hold open, and
 * opened read-only.  The kernel decides which processes the caller may inspect: its user's, or all
 * for root.  The cost is a visit of every descriptor of these. */

#define SX_OUTSIDE_LEFT_MAX 16

/* The processes whose segments this library cannot read, each once for a layout. */
struct sx_outside_left {
    struct {
        pid_t pid;
        uint32_t layout; /* 0: another program's, with a name of this form */
    } at[SX_OUTSIDE_LEFT_MAX];
    unsigned count; /* further ones are not listed */
};

/* Call @each with a descriptor for each memfd of the process @pid (0: of every process) whose name
 * begins with "shmix:" and @kind, as "ring:", but for those that are still being made; once,
 * however many descriptors of it the process has.  The descriptor is closed afterwards; @each
 * returns false to stop.  Those of another layout, or another program, are added to @left (or
 * NULL).  Return: false when some process could not be inspected. */
bool sx_outside_each(pid_t pid, const char *kind, bool (*each)(void *arg, pid_t pid, int fd),
                     void *arg, struct sx_outside_left *left);

#endif
