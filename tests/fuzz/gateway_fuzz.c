/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway_fuzz.c - any bytes as what a rank with another PMIx library sends.
 *
 * Input: a byte for the form (bit 0 the encoding of 3.x, bit 1 described, bit 2 a pack of one type
 * instead of a request, bits 3 and 4 the release), a byte for the command or the type, then the
 * body.  The process has no server, so a request that is read is refused.  Promised: each request
 * is answered once, with packs, or breaks the form; an element that was read can be written, and
 * reads the same again. */
#include "fuzz.h"

#include <string.h>

#include "base/util.h"
#include "base/value/type.h"
#include "base/value/value.h"
#include "gateway/request.h"
#include "gateway/session.h"

#define TAG 101
#define COMMAND_DEREGEVENTS 14

static unsigned answers;

/* Takes the link's place. */
pmix_status_t sx_gateway_link_send(struct sx_gateway_link *link, uint32_t tag, const void *body,
                                   size_t size)
{
    struct sx_wire_reader r = { .at = body, .end = (const uint8_t *)body + size };

    memcpy(&r.form, link, sizeof(r.form));
    (void)sx_codec_get_status(&r);
    FUZZ_PROMISE(tag == TAG && r.failed == PMIX_SUCCESS);
    answers++;
    return PMIX_SUCCESS;
}

void sx_gateway_link_make_room(struct sx_gateway_link *link, size_t size)
{
    (void)link, (void)size;
}

/* ---- A request ------------------------------------------------------------------------------- */

static void session_init(struct sx_session *session, struct sx_wire_form *form, unsigned release)
{
    static const uint32_t numbers[] = { SX_FOREIGN_NUMBER(4, 2, 2), SX_FOREIGN_NUMBER(4, 2, 9),
                                        SX_FOREIGN_NUMBER(6, 0, 0), SX_FOREIGN_NUMBER(6, 1, 0) };

    memset(session, 0, sizeof(*session));
    session->link = (struct sx_gateway_link *)form; /* for the function above */
    session->fd = -1;
    session->foreign.form = *form;
    session->foreign.number = numbers[release % SX_COUNT(numbers)];
    PMIX_LOAD_PROCID(&session->foreign.proc, "job", 1);
    sx_list_init(&session->requests);
    sx_list_init(&session->deferred);
    sx_list_init(&session->handlers);
    sx_list_init(&session->pulls);
}

static void try_request(struct sx_wire_form form, unsigned release, uint8_t command,
                        const uint8_t *data, size_t size)
{
    struct sx_wire_writer w = { .form = form };
    struct sx_session session;
    pmix_status_t rc;
    uint8_t *exact;

    session_init(&session, &form, release);
    sx_codec_put_u8(&w, SX_CODEC_COMMAND, command);
    /* Without a byte to spare, so that a sanitizer sees the first one too many. */
    exact = malloc(w.size + size);
    memcpy(exact, w.bytes, w.size);
    memcpy(exact + w.size, data, size);
    answers = 0;
    rc = sx_session_on_message(&session, TAG, exact, w.size + size);
    FUZZ_PROMISE(session.request_count == 0 && sx_list_empty(&session.requests));
    FUZZ_PROMISE(rc != PMIX_SUCCESS || command == COMMAND_DEREGEVENTS || answers == 1);
    FUZZ_PROMISE(rc == PMIX_SUCCESS || answers == 0);
    sx_gateway_event_deinit(&session);
    sx_gateway_data_deinit(&session);
    free(exact);
    sx_wire_writer_deinit(&w);
}

/* ---- A pack ---------------------------------------------------------------------------------- */

static void try_pack(struct sx_wire_form form, pmix_data_type_t type, const uint8_t *data,
                     size_t size)
{
    uint8_t *const exact = malloc(size + 1);
    struct sx_wire_reader r = { .at = exact, .end = exact + size, .form = form };
    struct sx_wire_writer first = { .form = form }, second = { .form = form };
    union {
        max_align_t align;
        char bytes[2048];
    } element, again;

    memcpy(exact, data, size);
    if (sx_codec_carries(type, form.encoding) && sx_codec_unpack(&r, type, &element, 1)) {
        sx_codec_pack(&first, type, &element, 1);
        FUZZ_PROMISE(first.failed == PMIX_SUCCESS || first.failed == PMIX_ERR_UNKNOWN_DATA_TYPE);
        if (first.failed != PMIX_SUCCESS) { /* an array that only this side can keep */
            sx_elements_destruct(&element, 1, type);
            sx_wire_writer_deinit(&first);
            free(exact);
            return;
        }
        r = (struct sx_wire_reader){ .at = first.bytes,
                                     .end = first.bytes + first.size,
                                     .form = form };
        FUZZ_PROMISE(sx_codec_unpack(&r, type, &again, 1) && sx_wire_rest(&r) == 0);
        sx_codec_pack(&second, type, &again, 1);
        FUZZ_PROMISE(second.size == first.size &&
                     memcmp(second.bytes, first.bytes, first.size) == 0);
        sx_elements_destruct(&element, 1, type);
        sx_elements_destruct(&again, 1, type);
    }
    sx_wire_writer_deinit(&first);
    sx_wire_writer_deinit(&second);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sx_wire_form form;

    if (size < 2) {
        return 0;
    }
    form = (struct sx_wire_form){ .encoding = (data[0] & 1) != 0 ? SX_WIRE_V3 : SX_WIRE_V41,
                                  .described = (data[0] & 2) != 0 };
    if ((data[0] & 4) != 0) {
        try_pack(form, data[1], data + 2, size - 2);
    } else {
        try_request(form, data[0] >> 3, data[1], data + 2, size - 2);
    }
    return 0;
}
