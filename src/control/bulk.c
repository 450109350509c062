/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bulk.c - sealed memfds out, windows in.
 *
 *     NONE --WINDOW_GET--> EMPTY --a piece, more to come--> BEGUN --the last piece--> EMPTY
 *
 * A window is read, not mapped: a hole in it then costs no memory, and its client cannot make it
 * shorter.  The bytes copied of a body are bounded by its kind (message.c). */
#include "control/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif
#define SEALS_OF_SIZE (F_SEAL_SHRINK | F_SEAL_GROW)
#define SEALS_NEEDED (F_SEAL_WRITE | SEALS_OF_SIZE)

static int create_memfd(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

    if (fd < 0 && errno == EINVAL) {
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
    return fd;
}

/* Checked beforehand, since writing past the limit would kill the process (SIGXFSZ). */
static pmix_status_t file_size_judge(uint64_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur
               ? SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "a message of %" PRIu64 " bytes is over the limit of file size (raise "
                          "it: ulimit -f)",
                          size)
               : PMIX_SUCCESS;
}

/* ---- server to client ---------------------------------------------------------------------- */

static int write_all(int fd, const struct iovec *iov, int iov_count)
{
    for (int i = 0; i < iov_count; i++) {
        const uint8_t *at = iov[i].iov_base;
        size_t left = iov[i].iov_len;

        while (left > 0) {
            const ssize_t n = write(fd, at, left);

            if (n < 0 && errno == EINTR) {
                continue;
            }
            if (n <= 0) {
                return n < 0 ? errno : ENOSPC;
            }
            at += n;
            left -= (size_t)n;
        }
    }
    return 0;
}

pmix_status_t sx_bulk_make(const struct iovec *iov, int iov_count, uint64_t size, int *ret_fd)
{
    const pmix_status_t rc = file_size_judge(size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const int fd = create_memfd("shmix-bulk");

    if (fd < 0) {
        return SX_RAISE(sx_status_from_errno(errno), "memfd for a message of %" PRIu64 " bytes: %s",
                        size, strerror(errno));
    }
    int err = write_all(fd, iov, iov_count);

    if (err == 0 && fcntl(fd, F_ADD_SEALS, SEALS_NEEDED | F_SEAL_SEAL) != 0) {
        err = errno;
    }
    if (err != 0) {
        close(fd);
        return SX_RAISE(sx_status_from_errno(err), "memfd for a message of %" PRIu64 " bytes: %s",
                        size, strerror(err));
    }
    *ret_fd = fd;
    return PMIX_SUCCESS;
}

const char *sx_bulk_map(int fd, uint64_t size, void **ret_map)
{
    struct stat st;
    const int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0) {
        return "bulk descriptor is not a memfd";
    }
    if ((seals & SEALS_NEEDED) != SEALS_NEEDED) {
        return "bulk memfd is not sealed against change";
    }
    if (fstat(fd, &st) != 0 || st.st_size < 0 || (uint64_t)st.st_size != size) {
        return "bulk memfd is not as long as its frame says";
    }
    /* The number of blocks is no proof: there may be some behind the end. */
    if (lseek(fd, 0, SEEK_HOLE) != st.st_size) {
        return "bulk memfd has holes";
    }
    void *const map = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);

    if (map == MAP_FAILED) {
        return "bulk memfd cannot be mapped";
    }
    *ret_map = map;
    return NULL;
}

/* ---- client to server ---------------------------------------------------------------------- */

void sx_bulk_clear(struct sx_bulk_in *in)
{
    if (in->window_fd >= 0) {
        close(in->window_fd);
    }
    sx_pages_free(&in->pages);
    *in = SX_BULK_IN_NULL;
}

static void forget_body(struct sx_bulk_in *in)
{
    sx_pages_free(&in->pages);
    *in = (struct sx_bulk_in){ .window_fd = in->window_fd };
}

pmix_status_t sx_bulk_window(struct sx_bulk_in *in)
{
    const pmix_status_t rc = file_size_judge(SX_WINDOW_BYTES);

    sx_bulk_clear(in);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const int fd = create_memfd("shmix-window");

    if (fd < 0 || ftruncate(fd, SX_WINDOW_BYTES) != 0 ||
        fcntl(fd, F_ADD_SEALS, SEALS_OF_SIZE | F_SEAL_SEAL) != 0) {
        const int err = errno;

        if (fd >= 0) {
            close(fd);
        }
        return SX_RAISE(sx_status_from_errno(err), "memfd for large messages of a client: %s%s",
                        strerror(err), err == EMFILE || err == ENFILE ? " (raise ulimit -n)" : "");
    }
    in->window_fd = fd;
    return PMIX_SUCCESS;
}

/* Room for @more bytes: as many as there are now and half of them again. */
static bool reserve(struct sx_bulk_in *in, size_t more)
{
    const size_t needed = in->size + more;

    return needed <= in->pages.size ||
           sx_pages_grow(&in->pages, in->size, in->size == 0 ? more : needed + in->size / 2);
}

static bool read_window(int fd, uint8_t *to, size_t size)
{
    size_t got = 0;

    while (got < size) {
        const ssize_t n = pread(fd, to + got, size - got, (off_t)got);

        if (n > 0) {
            got += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

const char *sx_bulk_take(struct sx_bulk_in *in, const struct sx_frame_header *header,
                         pmix_status_t *ret_status)
{
    const struct sx_message_spec *const spec = sx_message_spec(header->kind);
    const size_t size = (size_t)header->body_size; /* sx_frame_check: fits in a window */

    if (in->window_fd < 0) {
        return "a bulk body without a window";
    }
    if (in->kind != 0 && (in->kind != header->kind || in->id != header->id)) {
        return "a bulk body in the middle of another";
    }
    if (size > spec->bulk_max - in->size) {
        return "bulk body too long for its kind";
    }
    in->kind = header->kind;
    in->id = header->id;
    sx_pages_make_room(size);
    *ret_status = reserve(in, size) ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    if (*ret_status != PMIX_SUCCESS) {
        forget_body(in);
        return NULL;
    }
    if (!read_window(in->window_fd, in->pages.at + in->size, size)) {
        return "a window that cannot be read";
    }
    in->size += size;
    return NULL;
}

struct sx_pages sx_bulk_give(struct sx_bulk_in *in, size_t *ret_size)
{
    const struct sx_pages pages = in->pages;

    *ret_size = in->size;
    in->pages = (struct sx_pages){ .at = NULL };
    forget_body(in);
    return pages;
}
