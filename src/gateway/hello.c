/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello.c - parse the handshake.  Every length is checked against the bytes that are left. */
#include "gateway/hello.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "gateway/codec.h"

enum flag { FLAG_CLIENT = 0 }; /* the others are tools, launchers, singletons, schedulers */
enum described { NOT_DESCRIBED = 1, DESCRIBED = 2 };

static const struct {
    const char *name;
    enum sx_encoding encoding;
} encodings[] = {
    { "v41", SX_WIRE_V41 },
    { "v4", SX_WIRE_V41 },
    { "v3", SX_WIRE_V3 },
};

struct cursor {
    const uint8_t *at, *end;
    bool failed;
};

static const void *take(struct cursor *cursor, size_t size)
{
    const void *const at = cursor->at;

    if (cursor->failed || (size_t)(cursor->end - cursor->at) < size) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += size;
    return at;
}

static uint8_t take_byte(struct cursor *cursor)
{
    const uint8_t *const at = take(cursor, 1);

    return at == NULL ? 0 : *at;
}

static uint32_t take_u32(struct cursor *cursor)
{
    const void *const at = take(cursor, sizeof(uint32_t));
    uint32_t number = 0;

    if (at != NULL) {
        memcpy(&number, at, sizeof(number));
    }
    return ntohl(number);
}

/* A printable text that fits into @room bytes with its NUL. */
static const char *take_text(struct cursor *cursor, size_t room)
{
    const uint8_t *const zero = cursor->failed
                                    ? NULL
                                    : memchr(cursor->at, '\0', (size_t)(cursor->end - cursor->at));
    const char *const text = (const char *)cursor->at;

    if (zero == NULL || (size_t)(zero - cursor->at) >= room) {
        cursor->failed = true;
        return "";
    }
    for (const uint8_t *c = cursor->at; c < zero; c++) {
        if (*c < ' ' || *c > '~') { /* it is written to logs */
            cursor->failed = true;
            return "";
        }
    }
    cursor->at = zero + 1;
    return text;
}

/* "4.2.2rc1" is 4.2.2. */
static uint32_t number_of(const char *version)
{
    unsigned major, minor = 0, release = 0;

    if (sscanf(version, "%3u.%3u.%3u", &major, &minor, &release) < 1 || major > 255 ||
        minor > 255 || release > 255) {
        return 0;
    }
    return SX_FOREIGN_NUMBER(major, minor, release);
}

static bool encoding_find(const char *name, enum sx_encoding *ret)
{
    for (size_t i = 0; i < SX_COUNT(encodings); i++) {
        if (strcmp(encodings[i].name, name) == 0) {
            *ret = encodings[i].encoding;
            return true;
        }
    }
    return false;
}

size_t sx_foreign_body_size(const uint8_t header[SX_FOREIGN_HEADER_BYTES])
{
    static const uint8_t begin[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    uint32_t size;

    memcpy(&size, header + sizeof(begin), sizeof(size));
    return memcmp(header, begin, sizeof(begin)) != 0 || size > SX_FOREIGN_BODY_MAX ? 0 : size;
}

/* The process that the infos at the end name.  They may be missing, and are no reason to refuse. */
static pid_t pid_of(const struct cursor *cursor, struct sx_wire_form form)
{
    struct sx_wire_reader reader = { .at = cursor->at, .end = cursor->end, .form = form };
    struct sx_codec_infos infos = { .count = 0 };
    pid_t pid = 0;

    if (cursor->at < cursor->end) {
        infos = sx_codec_get_infos(&reader);
    }
    for (size_t i = 0; reader.failed == PMIX_SUCCESS && i < infos.count; i++) {
        if (PMIX_CHECK_KEY(&infos.at[i], PMIX_PROC_PID) && infos.at[i].value.type == PMIX_PID &&
            infos.at[i].value.data.pid > 0) {
            pid = infos.at[i].value.data.pid;
        }
    }
    sx_codec_infos_free(&infos);
    return pid;
}

static pmix_status_t refuse(pmix_status_t status, const char *why, const char **ret_why)
{
    *ret_why = why;
    return status;
}

pmix_status_t sx_foreign_parse(const void *body, size_t size, struct sx_foreign *ret,
                               const char **ret_why)
{
    struct cursor cursor = { .at = body, .end = (const uint8_t *)body + size };
    struct sx_foreign foreign = { .pid = 0 };

    take_text(&cursor, SX_FOREIGN_TEXT_MAX); /* the security module, and ... */
    take(&cursor, take_u32(&cursor));        /* ... its word for who this is: not used */
    if (take_byte(&cursor) != FLAG_CLIENT && !cursor.failed) {
        return refuse(PMIX_ERR_NOT_SUPPORTED,
                      "is a tool, a launcher or a scheduler of another PMIx library, not a rank",
                      ret_why);
    }
    PMIx_Load_procid(&foreign.proc, take_text(&cursor, sizeof(foreign.proc.nspace)), 0);
    foreign.proc.rank = take_u32(&cursor);
    snprintf(foreign.version, sizeof(foreign.version), "%s",
             take_text(&cursor, sizeof(foreign.version)));
    foreign.number = number_of(foreign.version);
    const char *const encoding = take_text(&cursor, SX_FOREIGN_TEXT_MAX);
    const uint8_t described = take_byte(&cursor);

    snprintf(foreign.gds, sizeof(foreign.gds), "%s", take_text(&cursor, sizeof(foreign.gds)));
    if (cursor.failed || foreign.proc.nspace[0] == '\0' || foreign.proc.rank > PMIX_RANK_VALID ||
        (described != NOT_DESCRIBED && described != DESCRIBED)) {
        return refuse(PMIX_ERR_BAD_PARAM, "sends a handshake that cannot be read", ret_why);
    }
    if (!encoding_find(encoding, &foreign.form.encoding)) {
        return refuse(PMIX_ERR_NOT_SUPPORTED,
                      "has an encoding that this gateway does not have: PMIX_SERVER_URI41, URI4 or "
                      "URI3 has to name the server",
                      ret_why);
    }
    foreign.form.described = described == DESCRIBED;
    foreign.pid = pid_of(&cursor, foreign.form);
    *ret = foreign;
    return PMIX_SUCCESS;
}
