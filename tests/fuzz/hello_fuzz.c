/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello_fuzz.c - any bytes as the body of a handshake.
 *
 * Promised: a refusal has a reason; a claim that is taken has a name, a rank that a job can have,
 * and texts that end and can be written to a terminal. */
#include "fuzz.h"

#include <string.h>

#include "base/util.h"
#include "gateway/hello.h"

static void text_judge(const char *text, size_t room)
{
    const size_t len = strnlen(text, room);

    FUZZ_PROMISE(len < room);
    for (size_t i = 0; i < len; i++) {
        FUZZ_PROMISE(text[i] >= ' ' && text[i] <= '~');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sx_foreign foreign;
    const char *why = NULL;

    if (sx_foreign_parse(data, size, &foreign, &why) != PMIX_SUCCESS) {
        FUZZ_PROMISE(why != NULL);
        return 0;
    }
    text_judge(foreign.proc.nspace, sizeof(foreign.proc.nspace));
    text_judge(foreign.version, sizeof(foreign.version));
    text_judge(foreign.gds, sizeof(foreign.gds));
    FUZZ_PROMISE(foreign.proc.nspace[0] != '\0' && foreign.proc.rank <= PMIX_RANK_VALID &&
                 foreign.pid >= 0 && foreign.number <= 0xffffff);
    return 0;
}
