/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* opened.h - bodies as a channel or a lane hands them to the one they are for: opened. */
#ifndef SX_TEST_OPENED_H
#define SX_TEST_OPENED_H

#include <criterion/criterion.h>

#include "control/channel.h"

/* The body in @bytes, which is one; until the next one is opened. */
static inline const struct sx_opened *opened(const struct sx_signature *signature,
                                             const void *bytes, size_t size)
{
    static struct sx_opened body;
    const char *const why = sx_body_open(&body, signature, bytes, size);

    cr_assert_null(why, "%s", why);
    return &body;
}

/* A frame that has it. */
static inline struct sx_frame opened_frame(uint16_t kind, uint32_t id, const void *bytes,
                                           size_t size)
{
    struct sx_frame frame = { .header = { .kind = kind, .id = id, .body_size = size },
                              .body = bytes,
                              .body_size = size };

    frame.opened = *opened(sx_message_spec(kind)->body, bytes, size);
    return frame;
}

#endif
