/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segment.c - create, seal, hand out and map segments.
 *     created --publish--> readable by others --deinit--> gone with the last mapping
 *
 * The creator's order matters: map writable, place, take memory, and only then seal: after
 * FUTURE_WRITE there is no second writable map, not even for the creator.  An attacher trusts the
 * kernel (size, seals) and checks everything else.  Bounded by the size at creation. */
#include "shmem/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/system/pages.h"
#include "base/system/process.h"
#include "base/util.h"

/* Numbers of the kernel that older headers lack. */
#define SX_MADV_POPULATE_READ 22 /* 5.14 */
#define SX_MADV_POPULATE_WRITE 23
/* From so many bytes on, one call for all pages is cheaper than a fault for each. */
#define SX_SEGMENT_POPULATE_MIN_BYTES (UINT64_C(128) << 10)
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define SX_SEGMENT_STEP_BYTES (UINT64_C(64) << 10)
#define SX_SEGMENT_STEP_MAX_BYTES (UINT64_C(256) << 10)
#define SX_SEGMENT_PREFAULT_MAX_BYTES (UINT64_C(1) << 20)
#define SX_SEGMENT_RELEASE_MIN_BYTES (UINT64_C(2) << 20) /* by a thread; less takes no time */
#define SX_SEGMENT_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static const char *const kind_names[] = {
    [SX_SEGMENT_STORE] = "store", [SX_SEGMENT_RING] = "ring", [SX_SEGMENT_BOARD] = "board",
    [SX_SEGMENT_LANE] = "lane",   [SX_SEGMENT_OPS] = "ops",
};

static int sx_segment_memfd(const struct sx_segment_options *options)
{
    char name[200]; /* the kernel refuses more than 249 bytes; the header has the whole name */

    snprintf(name, sizeof(name), "shmix:%s:%s", kind_names[options->kind], options->nspace);
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd >= 0 || errno != EINVAL) {
        return fd;
    }
    return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); /* before 6.3 */
}

/* ftruncate without the signal that a file size limit adds to the error.  Return: 0 or errno. */
static int sx_segment_truncate(int fd, uint64_t size_bytes)
{
    sigset_t block, before, pending;
    int err = 0;

    sigemptyset(&block);
    sigaddset(&block, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    sigemptyset(&pending);
    sigpending(&pending);
    while (ftruncate(fd, (off_t)size_bytes) != 0) {
        err = errno;
        if (err != EINTR) {
            break;
        }
        err = 0;
    }
    if (err == EFBIG && !sigismember(&pending, SIGXFSZ)) {
        const struct timespec now = { 0 };
        sigtimedwait(&block, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

/* Size @fd (-1: private memory) and map it.  Return: 0 or errno. */
static int sx_segment_map_at_size(struct sx_segment *seg, uint64_t size_bytes)
{
    if (seg->fd >= 0) {
        const int err = sx_segment_truncate(seg->fd, size_bytes);
        if (err != 0) {
            return err;
        }
    }
    const int flags = seg->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *const base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags, seg->fd, 0);
    if (base == MAP_FAILED) {
        return errno;
    }
    seg->base = base;
    seg->size_bytes = size_bytes;
    return 0;
}

static const char *sx_segment_advice(int err)
{
    switch (err) {
    case EFBIG:
        return "; raise the file size limit (ulimit -f)";
    case ENOMEM:
    case ENOSPC:
        return "; memory is out, the address space limit (ulimit -v) or vm.max_map_count is "
               "reached";
    case EMFILE:
    case ENFILE:
        return "; raise the limit of open files (ulimit -n)";
    default:
        return sx_refused_advice(err);
    }
}

static pmix_status_t sx_segment_status(int err)
{
    return err == EFBIG ? PMIX_ERR_OUT_OF_RESOURCE : sx_status_from_errno(err);
}

/* Map as much of the reserve as the limits of this process allow. */
static pmix_status_t sx_segment_map(struct sx_segment *seg,
                                    const struct sx_segment_options *options)
{
    const uint64_t size_min = sx_align_up(options->size_min_bytes > SX_SEGMENT_BODY_OFF
                                              ? options->size_min_bytes
                                              : SX_SEGMENT_BODY_OFF,
                                          SX_PAGE_BYTES);
    uint64_t size = sx_align_up(options->size_bytes, SX_PAGE_BYTES);

    if (size < size_min) {
        size = size_min;
    }
    for (;;) { /* at most 63 halvings */
        const int err = sx_segment_map_at_size(seg, size);
        if (err == 0) {
            return PMIX_SUCCESS;
        }
        if ((err != EFBIG && err != ENOMEM && err != ENOSPC && err != EINVAL) || size == size_min) {
            return SX_RAISE(sx_segment_status(err),
                            "segment shmix:%s:%s: cannot map %" PRIu64 " bytes: %s%s",
                            kind_names[options->kind], options->nspace, size, strerror(err),
                            sx_segment_advice(err));
        }
        size = sx_align_up(size / 2, SX_PAGE_BYTES);
        if (size < size_min) {
            size = size_min;
        }
    }
}

/* From here on no process can resize the memfd or, unless it is a lane, map it writable. */
static pmix_status_t sx_segment_seal(const struct sx_segment *seg, bool client_writable)
{
    const int seals = SX_SEGMENT_SEALS | F_SEAL_SEAL;

    if (!client_writable) {
        if (fcntl(seg->fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) == 0) {
            return PMIX_SUCCESS;
        }
        static atomic_bool notified;
        /* relaxed: only one of several threads is to log it. */
        if (!atomic_exchange_explicit(&notified, true, memory_order_relaxed)) {
            sx_log(SX_LOG_INFO, "this kernel (before 5.1) cannot seal memory against writing: "
                                "segments are protected by their file mode only");
        }
        if (fchmod(seg->fd, 0400) != 0) {
            return SX_RAISE(sx_status_from_errno(errno), "fchmod of a segment: %s",
                            strerror(errno));
        }
    }
    if (fcntl(seg->fd, F_ADD_SEALS, seals) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "sealing a segment (fcntl): %s%s",
                        strerror(errno), sx_refused_advice(errno));
    }
    return PMIX_SUCCESS;
}

static void sx_segment_format(struct sx_segment *seg, const struct sx_segment_options *options)
{
    struct sx_segment_header *const header = sx_segment_header(seg);

    header->size_bytes = seg->size_bytes;
    header->creator_start_ticks = sx_process_start_ticks();
    header->creator_pid = (uint32_t)getpid();
    header->kind = options->kind;
    header->generation = options->generation;
    header->features = 0;
    /* relaxed: no process reads it before the magic is there. */
    atomic_store_explicit(&header->used_bytes, SX_SEGMENT_BODY_OFF, memory_order_relaxed);
    memcpy(header->nspace, options->nspace, strlen(options->nspace) + 1);
}

static pmix_status_t sx_segment_options_check(const struct sx_segment_options *options)
{
    if ((unsigned)options->kind >= SX_COUNT(kind_names) || kind_names[options->kind] == NULL) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "segment kind %d", (int)options->kind);
    }
    if (options->nspace == NULL ||
        strnlen(options->nspace, SX_SEGMENT_NSPACE_BYTES) >= SX_SEGMENT_NSPACE_BYTES) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "the name of a segment has at most %d bytes",
                        SX_SEGMENT_NSPACE_BYTES - 1);
    }
    if (options->size_bytes > INT64_MAX / 2 || options->size_min_bytes > INT64_MAX / 2) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "segment of %" PRIu64 " bytes", options->size_bytes);
    }
    return PMIX_SUCCESS;
}

static int sx_segment_fallocate(int fd, uint64_t begin, uint64_t end)
{
    while (fallocate(fd, 0, (off_t)begin, (off_t)(end - begin)) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* Take the pages of a long range into our page table, memory that is about to be filled.  Where
 * the kernel cannot (before 5.14), or has none left for private memory, the first touch decides. */
static void sx_segment_populate(const struct sx_segment *seg, uint64_t begin, uint64_t end)
{
    begin &= ~(uint64_t)(SX_PAGE_BYTES - 1);
    if (end > begin && end - begin >= SX_SEGMENT_POPULATE_MIN_BYTES) {
        (void)madvise(seg->base + begin, end - begin, SX_MADV_POPULATE_WRITE);
    }
}

/* sx_segment_back of a segment whose header may be empty: @nspace is for the log. */
static pmix_status_t sx_segment_back_as(struct sx_segment *seg, uint64_t end, const char *nspace)
{
    sx_assert(seg->owner);
    if (end > seg->size_bytes) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (end <= seg->backed_bytes) {
        return PMIX_SUCCESS;
    }
    if (seg->fd < 0) { /* private memory is backed at the first touch */
        sx_segment_populate(seg, seg->backed_bytes, end);
        seg->backed_bytes = end;
        return PMIX_SUCCESS;
    }
    /* Steps grow with the segment, so that a large one takes few calls; when a large step is
     * refused, the smallest may still be there. */
    uint64_t step = seg->backed_bytes / 8;
    step = step > SX_SEGMENT_STEP_MAX_BYTES ? SX_SEGMENT_STEP_MAX_BYTES : step;
    uint64_t want = sx_align_up(seg->backed_bytes + step, SX_SEGMENT_STEP_BYTES);
    want = want < end ? sx_align_up(end, SX_SEGMENT_STEP_BYTES) : want;
    want = want > seg->size_bytes ? seg->size_bytes : want;
    int err = sx_segment_fallocate(seg->fd, seg->backed_bytes, want);
    if (err != 0 && want > end) {
        want = sx_align_up(end, SX_PAGE_BYTES); /* sizes are whole pages: still inside */
        err = sx_segment_fallocate(seg->fd, seg->backed_bytes, want);
    }
    if (err == EOPNOTSUPP || err == ENOSYS) {
        sx_log(SX_LOG_INFO, "no fallocate here: memory is taken at the first touch");
        want = seg->size_bytes;
    } else if (err != 0) {
        return SX_RAISE(sx_segment_status(err),
                        "fallocate: %s: no memory for a segment of %s up to %" PRIu64 " bytes%s",
                        strerror(err), nspace, want, sx_segment_advice(err));
    }
    sx_segment_populate(seg, seg->backed_bytes, want < seg->size_bytes ? want : end);
    seg->backed_bytes = want;
    return PMIX_SUCCESS;
}

static pmix_status_t sx_segment_build(struct sx_segment *seg,
                                      const struct sx_segment_options *options)
{
    pmix_status_t rc;

    if (!options->private_memory) {
        seg->fd = sx_segment_memfd(options);
        if (seg->fd < 0) {
            return SX_RAISE(sx_status_from_errno(errno), "memfd_create for shmix:%s:%s: %s%s",
                            kind_names[options->kind], options->nspace, strerror(errno),
                            sx_segment_advice(errno));
        }
    }
    rc = sx_segment_map(seg, options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    /* Hosts fork; a child must not inherit a map through which it could write. */
    if (seg->fd >= 0 && madvise(seg->base, seg->size_bytes, MADV_DONTFORK) != 0) {
        return SX_RAISE(sx_status_from_errno(errno),
                        "madvise: %s: children of this process would inherit shmix:%s:%s%s",
                        strerror(errno), kind_names[options->kind], options->nspace,
                        sx_refused_advice(errno));
    }
    sx_placement_apply(options->placement, seg->base, seg->size_bytes);
    rc = sx_segment_back_as(seg, SX_SEGMENT_BODY_OFF, options->nspace);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (seg->fd >= 0) {
        rc = sx_segment_seal(seg, options->client_writable);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    sx_segment_format(seg, options);
    return PMIX_SUCCESS;
}

pmix_status_t sx_segment_create(struct sx_segment *seg, const struct sx_segment_options *options)
{
    *seg = SX_SEGMENT_NULL; /* from here deinit is always safe */
    pmix_status_t rc = sx_segment_options_check(options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    seg->owner = true;
    rc = sx_segment_build(seg, options);
    if (rc != PMIX_SUCCESS) {
        sx_segment_deinit(seg);
    }
    return rc;
}

void sx_segment_publish(struct sx_segment *seg)
{
    sx_assert(seg->owner);
    /* R-magic -> A-magic (sx_segment_check): a reader that sees the magic sees all earlier
     * stores. */
    atomic_store_explicit(&sx_segment_header(seg)->magic, SX_SEGMENT_MAGIC, memory_order_release);
}

pmix_status_t sx_segment_share(const struct sx_segment *seg, int *ret_fd)
{
    char path[64];

    sx_assert(seg->owner);
    if (seg->fd < 0) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    const int seals = fcntl(seg->fd, F_GET_SEALS);
    const bool lane = sx_segment_header(seg)->kind == SX_SEGMENT_LANE;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", seg->fd);
    int fd = open(path, (lane ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd < 0 && errno != EMFILE && errno != ENFILE &&
        (lane || (seals >= 0 && (seals & F_SEAL_FUTURE_WRITE) != 0))) {
        /* No /proc here, or the process has changed its uid: the seal protects a dup as well. */
        fd = fcntl(seg->fd, F_DUPFD_CLOEXEC, 0);
    }
    if (fd < 0) {
        return SX_RAISE(sx_status_from_errno(errno), "a descriptor of %s to hand out: %s%s",
                        sx_segment_header(seg)->nspace, strerror(errno), sx_segment_advice(errno));
    }
    *ret_fd = fd;
    return PMIX_SUCCESS;
}

pmix_status_t sx_segment_back(struct sx_segment *seg, uint64_t end)
{
    return sx_segment_back_as(seg, end, sx_segment_header(seg)->nspace);
}

static pmix_status_t sx_segment_check(const struct sx_segment *seg, enum sx_segment_kind kind)
{
    const struct sx_segment_header *const header = sx_segment_header(seg);
    /* A-magic <- R-magic (sx_segment_publish) */
    const uint64_t magic = atomic_load_explicit(&header->magic, memory_order_acquire);
    const uint64_t size_bytes = header->size_bytes;
    const uint64_t features = header->features;
    /* relaxed: only judged here; readers load it again. */
    const uint64_t used_bytes = atomic_load_explicit(&header->used_bytes, memory_order_relaxed);

    if (magic != SX_SEGMENT_MAGIC && sx_segment_layout(magic) != 0) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "shared memory of layout %" PRIu32
                        ", and this library reads layout %" PRIu32
                        ": the server has another version of shmix; give both the same "
                        "libpmix.so.2",
                        sx_segment_layout(magic), sx_segment_layout(SX_SEGMENT_MAGIC));
    }
    if (magic != SX_SEGMENT_MAGIC) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a segment of another program: its magic is %#" PRIx64,
                        magic);
    }
    if (header->kind != kind) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "segment of kind %" PRIu32 ", not %d", header->kind,
                        (int)kind);
    }
    if ((features & ~SX_SEGMENT_FEATURES_KNOWN) != 0) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED, "segment features %#" PRIx64, features);
    }
    if (size_bytes != seg->size_bytes || used_bytes > size_bytes ||
        used_bytes < SX_SEGMENT_BODY_OFF) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "segment of %" PRIu64 " bytes claims %" PRIu64 ", %" PRIu64 " used",
                        seg->size_bytes, size_bytes, used_bytes);
    }
    if (memchr(header->nspace, '\0', sizeof(header->nspace)) == NULL) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "segment whose name does not end");
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_segment_attach(struct sx_segment *seg, int fd, enum sx_segment_kind kind)
{
    struct stat st;

    *seg = SX_SEGMENT_NULL;
    /* Without these seals the creator could cut the file and every read here would be SIGBUS. */
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & SX_SEGMENT_SEALS) != SX_SEGMENT_SEALS) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "fd %d is not a memfd sealed against resizing", fd);
    }
    if (fstat(fd, &st) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "fstat of segment fd %d: %s", fd,
                        strerror(errno));
    }
    if (st.st_size < SX_SEGMENT_BODY_OFF) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "segment of %jd bytes", (intmax_t)st.st_size);
    }
    const uint64_t size_bytes = (uint64_t)st.st_size; /* from the kernel, not the peer */
    const int prot = kind == SX_SEGMENT_LANE ? PROT_READ | PROT_WRITE : PROT_READ;
    void *const base = mmap(NULL, size_bytes, prot, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        return SX_RAISE(sx_segment_status(errno), "mapping a segment of %" PRIu64 " bytes: %s%s",
                        size_bytes, strerror(errno), sx_segment_advice(errno));
    }
    seg->base = base;
    seg->size_bytes = size_bytes;

    const pmix_status_t rc = sx_segment_check(seg, kind);
    if (rc != PMIX_SUCCESS) {
        sx_segment_deinit(seg);
    }
    return rc;
}

uint64_t sx_segment_prefault(const struct sx_segment *seg, uint64_t from)
{
    /* A-used <- R-used (heap.c): all bytes below have been written. */
    const uint64_t used_bytes = atomic_load_explicit(&sx_segment_header(seg)->used_bytes,
                                                     memory_order_acquire);
    const uint64_t used = used_bytes < seg->size_bytes ? used_bytes : seg->size_bytes;
    const uint64_t step_end = sx_align_up(used, SX_SEGMENT_STEP_BYTES);
    const uint64_t end = step_end < seg->size_bytes ? step_end : seg->size_bytes;

    if (from >= used) {
        return from;
    }
    from &= ~(uint64_t)(SX_PAGE_BYTES - 1);
    if (end - from <= SX_SEGMENT_PREFAULT_MAX_BYTES) {
        madvise(seg->base + from, end - from, SX_MADV_POPULATE_READ);
    }
    return end;
}

void sx_segment_deinit(struct sx_segment *seg)
{
    if (seg->base != NULL) {
        munmap(seg->base, seg->size_bytes);
    }
    if (seg->fd >= 0) {
        close(seg->fd);
    }
    *seg = SX_SEGMENT_NULL;
}

void sx_segment_release(struct sx_segment *seg)
{
    if (seg->base != NULL) {
        sx_pages_unmap(seg->base, seg->size_bytes, seg->fd,
                       seg->backed_bytes >= SX_SEGMENT_RELEASE_MIN_BYTES);
        *seg = SX_SEGMENT_NULL;
    }
    sx_segment_deinit(seg);
}

/* ---- placement -------------------------------------------------------------------------------
 *
 * Two system calls, made directly: libnuma's wrappers of them would map the library,
 * and read /sys, also on the many machines that have one node. */

/* Numbers of the kernel's interface (man 2 mbind, man 2 get_mempolicy). */
#define SX_MPOL_PREFERRED 1
#define SX_MPOL_INTERLEAVE 3
#define SX_MPOL_F_MEMS_ALLOWED 4ul

unsigned sx_node_set_count(const struct sx_node_set *set)
{
    unsigned count = 0;

    for (size_t i = 0; i < SX_NODE_WORDS; i++) {
        count += (unsigned)__builtin_popcountl(set->words[i]);
    }
    return count;
}

unsigned sx_placement_nodes(struct sx_node_set *ret)
{
    memset(ret, 0, sizeof(*ret));
    if (syscall(SYS_get_mempolicy, NULL, ret->words, (unsigned long)SX_NODE_MAX, NULL,
                SX_MPOL_F_MEMS_ALLOWED) != 0) {
        return 1;
    }
    const unsigned count = sx_node_set_count(ret);

    return count > 0 ? count : 1;
}

void sx_placement_apply(const struct sx_placement *placement, void *at, size_t size)
{
    if (placement == NULL || placement->kind == SX_PLACE_ANYWHERE) {
        return;
    }
    const unsigned long mode = placement->kind == SX_PLACE_NEAR ? SX_MPOL_PREFERRED
                                                                : SX_MPOL_INTERLEAVE;
    /* The kernel uses one bit less than the given count. */
    if (syscall(SYS_mbind, at, size, mode, placement->nodes.words, (unsigned long)SX_NODE_MAX + 1,
                0ul) != 0) {
        /* Containers often deny the call, and nodes can be taken away from a running process. */
        sx_log(SX_LOG_INFO, "memory lies where it is touched first: mbind of %zu bytes: %s", size,
               strerror(errno));
    }
}
