/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign_test.c - what a client of OpenPMIx says is read, and anything else is not. */
#include "launch/pmi/foreign.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/util.h"

#define SAID(text) (const uint8_t *)(text), sizeof(text) - 1

static const struct {
    const char *why;
    const uint8_t *bytes;
    size_t size;
    const char *version; /* NULL: not read */
    uint32_t rank;
} rows[] = {
    { "as 4.2 says it",
      SAID(
          "\xff\xff\xff\xff\xff\xff\xff\xff\x33\0\0\0\0\0\0\0native\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0"
          "the.job\0\0\0\1\2"
          "4.2.2rc2\0v41\0\1hash\0\0"),
      "4.2.2rc2", 258 },
    { "nothing", SAID(""), NULL, 0 },
    { "another job", SAID("native\0other.job\0\0\0\0\0004.2.2\0"), NULL, 0 },
    { "a job whose name begins so", SAID("native\0the.job.2\0\0\0\0\0004.2.2\0"), NULL, 0 },
    { "no rank", SAID("the.job\0\0\0\0"), NULL, 0 },
    { "no version", SAID("the.job\0\0\0\0\0"), NULL, 0 },
    { "an empty one", SAID("the.job\0\0\0\0\0\0"), NULL, 0 },
    { "one without an end", SAID("the.job\0\0\0\0\0004.2.2"), NULL, 0 },
    { "one that moves the cursor", SAID("the.job\0\0\0\0\0\0334.2.2\0"), NULL, 0 },
    { "one that is too long",
      SAID("the.job\0\0\0\0\000"
           "12345678901234567890123456789012345678901234567890123456789012345\0"),
      NULL, 0 },
};

Test(run_foreign, reads_rank_and_version_of_this_job_alone)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const char *version = NULL;
        uint32_t rank = 0;
        const bool read = sx_run_foreign_parse(rows[i].bytes, rows[i].size, "the.job", &rank,
                                               &version);

        cr_expect_eq(read, rows[i].version != NULL, "%s", rows[i].why);
        if (read && rows[i].version != NULL) {
            cr_expect_str_eq(version, rows[i].version);
            cr_expect_eq(rank, rows[i].rank);
        }
    }
}
