/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* info.c - pmix_info: the version and settings of this library, and its directories. */
#include "cli/verbs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <pmix.h>

#include "base/util.h"
#include "launch/common/say.h"

struct info {
    const char *path, *param;
    bool parsable;
};

#define OF(member) offsetof(struct info, member), false

static const struct sx_option rows[] = {
    { "--all", "-a", NULL, NULL, NULL, "all of it, as is done in any case", NULL, 0, false },
    { "--config", "-c", NULL, NULL, NULL, "the same", NULL, 0, false },
    { "--path", NULL, "WHICH", "libdir", "prefix, bindir, libdir or incdir",
      "where this is: prefix, bindir, libdir or incdir", sx_option_text, OF(path) },
    { "--param", NULL, "NAME", "all", "a name", "there are no MCA parameters, and it says so",
      sx_option_text, OF(param) },
    { "--parsable", "--parseable", NULL, NULL, NULL, "lines of NAME:VALUE", sx_option_flag,
      OF(parsable) },
};

static const struct sx_verb verb = {
    .name = "pmix_info",
    .try_begin = "pmix_info",
    .try_end = "",
    .about =
        "usage: pmix_info [options]\n\nPrint what this PMIx library is, and where it lies.\n\n",
    .more = "\nexamples:\n  pmix_info --path libdir\n",
    .options = rows,
    .option_count = SX_COUNT(rows),
};

static void line_print(const struct info *wish, const char *name, const char *value)
{
    if (wish->parsable) {
        printf("%s:%s\n", name, value);
    } else {
        printf("%16s: %s\n", name, value);
    }
}

/* The directory above the directory of this command.  Return: false when /proc does not have it. */
static bool prefix_find(char ret[PATH_MAX])
{
    const ssize_t size = readlink("/proc/self/exe", ret, PATH_MAX - 1);

    ret[size > 0 ? size : 0] = '\0';
    for (int i = 0; i < 2; i++) {
        char *const slash = strrchr(ret, '/');

        if (slash != NULL) {
            *slash = '\0';
        }
    }
    return size > 0;
}

static int paths_print(const struct info *wish)
{
    static const char *const names[][2] = {
        { "prefix", "" }, { "bindir", "/bin" }, { "libdir", "/lib" }, { "incdir", "/include" }
    };
    char prefix[PATH_MAX];
    bool found = false;

    if (!prefix_find(prefix)) {
        sx_say("/proc does not say where this command lies");
        return SX_EXIT_FAILURE;
    }
    for (size_t i = 0; i < SX_COUNT(names); i++) {
        if (wish->path == NULL || strcmp(wish->path, names[i][0]) == 0) {
            char *const path = sx_cli_printf("%s%s", prefix, names[i][1]);

            line_print(wish, names[i][0], path);
            free(path);
            found = true;
        }
    }
    return found ? 0
                 : sx_options_refuse(&verb, "--path", "--path wants %s, not '%.80s'",
                                     "prefix, bindir, libdir or incdir", wish->path);
}

int sx_field_info(char **words)
{
    struct info wish = { .path = NULL };
    struct utsname kernel;
    const int code = sx_options_take(&verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (wish.param != NULL) {
        sx_say("there are no MCA parameters; shmix(1) has the variables that this library reads");
        return 0;
    }
    if (wish.path == NULL) {
        line_print(&wish, "library", PMIx_Get_version());
        line_print(&wish, "abi", "libpmix.so.2, PMIx 4.2");
        line_print(&wish, "license", "BSD-3-Clause");
        if (uname(&kernel) == 0) {
            line_print(&wish, "arch", kernel.machine);
            line_print(&wish, "hostname", kernel.nodename);
            line_print(&wish, "kernel", kernel.release);
        }
    }
    return paths_print(&wish);
}
