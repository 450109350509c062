/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello.h - the handshake of a client of the other library: its claim, parsed and bounded.
 *
 *   0            4            8             12          16
 *   | -1         | ffffffff   | body bytes  | padding   | body ...
 *
 *   body:  security module (text), credential (u32 big-endian and that many bytes), flag (u8),
 *          namespace (text), rank (u32 big-endian), library version (text), encoding (text),
 *          described (u8), store module (text), infos (may be missing)
 *
 * The body's size is in the client's own byte order, which is ours.  A text ends with a NUL.
 * Nothing of it is an identity: the kernel has named the peer's user before (gateway/serve.h), and
 * the server decides whether that user may be the rank. */
#ifndef SX_GATEWAY_HELLO_H
#define SX_GATEWAY_HELLO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "gateway/wire.h"

#define SX_FOREIGN_HEADER_BYTES ((size_t)16)
#define SX_FOREIGN_BODY_MAX ((size_t)131072)
#define SX_FOREIGN_TEXT_MAX 64 /* of a version or a module, with its NUL */

struct sx_foreign {
    pmix_proc_t proc;
    char version[SX_FOREIGN_TEXT_MAX]; /* "4.2.2"; printable */
    uint32_t number;                   /* of the version: 0x040202; 0 when it cannot be parsed */
    char gds[SX_FOREIGN_TEXT_MAX];     /* the store module that it has chosen; may be empty */
    struct sx_wire_form form;
    pid_t pid; /* the process: by the kernel, else by its own infos; 0: not known */
};

/* The number of version @major.@minor.@release, for comparisons with sx_foreign.number. */
#define SX_FOREIGN_NUMBER(major, minor, release) \
    ((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(release))

/* Return: the bytes of the body that follows @header; 0: this is not such a handshake. */
size_t sx_foreign_body_size(const uint8_t header[SX_FOREIGN_HEADER_BYTES]);

/* Parse a body.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM when it breaks the form;
 * PMIX_ERR_NOT_SUPPORTED when this gateway does not serve such a client.  *ret_why is then a
 * reason for the log, whose subject is the peer, and *ret is not to be used. */
pmix_status_t sx_foreign_parse(const void *body, size_t size, struct sx_foreign *ret,
                               const char **ret_why);

#endif
