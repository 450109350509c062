/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* core_test.c - a core is named by where the kernel puts it, if it is there. */
#include "launch/job/diagnose.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define DIRECTORY_NAME "core"
#include "../../cli/directory.h"

static const struct {
    const char *why, *pattern, *file, *want; /* want: of @file's folder where it begins with "/" */
    bool adds_pid;
} rows[] = {
    { "a plain name", "core", "core", "/core", false },
    { "with the process", "core.%p", "core.4711", "/core.4711", false },
    { "which is added", "core", "core.4711", "/core.4711", true },
    { "and not twice", "core-%p", "core-4711", "/core-4711", true },
    { "signal, percent", "c%%%s", "c%11", "/c%11", false },
    { "what is not known", "core.%e.%p.%t", "core.solver.4711.1700000000",
      "/core.solver.4711.1700000000", false },
    { "of another process", "core.%p", "core.4712", NULL, false },
    { "signs of a pattern", "co[r]e*", "co[r]e*", "/co[r]e*", false },
    { "are none", "co[r]e*", "core1", NULL, false },
    { "systemd", "|/usr/lib/systemd/systemd-coredump %P %u", "core", "coredumpctl info 4711",
      false },
    { "another program", "|/usr/share/apport/apport -p%p", "core",
      "given to /usr/share/apport/apport", false },
    { "nobody", "", "core", NULL, false },
};

Test(run_core, names_what_is_there_and_who_has_it, .init = directory_make, .fini = directory_remove)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char want[512] = "";

        touch(rows[i].file);
        const struct sx_run_core core = { .pattern = rows[i].pattern,
                                          .adds_pid = rows[i].adds_pid,
                                          .dir = dir,
                                          .pid = 4711,
                                          .signal = 11,
                                          .since = time(NULL) - 60 };
        struct sx_run_core later = core;
        char *const found = sx_run_core_find(&core), *none;

        later.since = time(NULL) + 60;
        none = sx_run_core_find(&later);
        if (rows[i].want == NULL) {
            cr_expect_null(found, "%s: %s", rows[i].why, found);
        } else {
            snprintf(want, sizeof(want), "%s%s", rows[i].want[0] == '/' ? dir : "", rows[i].want);
            cr_expect(found != NULL && strcmp(found, want) == 0, "%s: %s", rows[i].why, found);
        }
        cr_expect(none == NULL || rows[i].want[0] != '/', "%s: an older one is %s", rows[i].why,
                  none);
        free(none);
        free(found);
        unlinkat(dir_fd, rows[i].file, 0);
    }
}
