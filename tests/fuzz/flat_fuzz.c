/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_fuzz.c - any bytes as a flat value.
 *
 * Input: the 16 bytes of the cell, then the body.  Promised: check and decode agree; what is
 * decoded can be copied, compared, printed and freed, and has the encoding it came from. */
#include "fuzz.h"

#include <string.h>

#include "base/value/flat.h"
#include "base/value/value.h"

/* Padding and the flag of persistent infos are read leniently and written strictly, so it is the
 * second encoding that has to be the same as the first. */
static void judge_encoding(const pmix_value_t *value)
{
    struct sx_cell cell, again_cell;
    pmix_value_t back;
    size_t size, again_size;
    char *body, *again;

    FUZZ_PROMISE(sx_flat_size(value, &size) == PMIX_SUCCESS);
    body = malloc(size + 8);
    FUZZ_PROMISE(sx_flat_encode(value, &cell, body, size) == PMIX_SUCCESS);
    FUZZ_PROMISE(sx_flat_decode(&back, &cell, body, size) == PMIX_SUCCESS);
    FUZZ_PROMISE(sx_value_compare(value, &back) == 0);
    FUZZ_PROMISE(sx_flat_size(&back, &again_size) == PMIX_SUCCESS && again_size == size);
    again = malloc(size + 8);
    FUZZ_PROMISE(sx_flat_encode(&back, &again_cell, again, size) == PMIX_SUCCESS);
    FUZZ_PROMISE(memcmp(&cell, &again_cell, sizeof(cell)) == 0);
    FUZZ_PROMISE(memcmp(body, again, size) == 0);
    sx_value_destruct(&back);
    free(body);
    free(again);
}

static void judge(const pmix_value_t *value, const struct sx_cell *cell, size_t size)
{
    char *text = sx_value_print(value);
    pmix_value_t copy;
    size_t flat_size;

    FUZZ_PROMISE(text != NULL);
    free(text);
    FUZZ_PROMISE(sx_value_copy(&copy, value) == PMIX_SUCCESS);
    FUZZ_PROMISE(sx_value_compare(value, &copy) == 0);
    sx_value_destruct(&copy);
    FUZZ_PROMISE(sx_flat_size(value, &flat_size) == PMIX_SUCCESS);
    FUZZ_PROMISE(flat_size >= cell->len && flat_size < (size_t)cell->len + 8 && cell->len <= size);
    judge_encoding(value);
}

static pmix_status_t check_in_steps(const struct sx_cell *cell, const void *body, size_t size)
{
    struct sx_flat_checker *checker = sx_flat_checker_new(cell, body, size, UINT64_MAX);
    pmix_status_t rc;

    do {
        uint64_t looks = 2;

        rc = sx_flat_checker_step(checker, &looks);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    sx_flat_checker_free(checker);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sx_cell cell;
    pmix_value_t value;
    pmix_status_t rc;
    uint8_t *body;

    if (size < sizeof(cell)) {
        return 0;
    }
    memcpy(&cell, data, sizeof(cell));
    size -= sizeof(cell);
    /* Without a byte to spare, so that a sanitizer sees the first one too many. */
    body = malloc(size > 0 ? size : 1);
    memcpy(body, data + sizeof(cell), size);
    rc = sx_flat_decode(&value, &cell, body, size);
    FUZZ_PROMISE(rc == sx_flat_check(&cell, body, size));
    FUZZ_PROMISE(rc == check_in_steps(&cell, body, size));
    if (rc == PMIX_SUCCESS) {
        judge(&value, &cell, size);
        sx_value_destruct(&value);
    } else {
        FUZZ_PROMISE(rc == PMIX_ERR_UNPACK_FAILURE && value.type == PMIX_UNDEF);
    }
    free(body);
    return 0;
}
