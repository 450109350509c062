/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_program_test.c - programs found and refused as a shell would, with reasons. */
#include "cli/run/program.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

static char dir[] = "/tmp/shmix-test-program-XXXXXX";

static void make(const char *name, mode_t mode)
{
    const int fd = open(name, O_CREAT | O_WRONLY, 0600);

    cr_assert(fd >= 0);
    cr_assert_eq(fchmod(fd, mode), 0);
    close(fd);
}

static void make_script(const char *name, const char *text)
{
    make(name, 0700);
    FILE *const out = fopen(name, "w");

    cr_assert_not_null(out);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
}

static void setup(void)
{
    cr_assert_not_null(mkdtemp(dir));
    cr_assert_eq(chdir(dir), 0);
    cr_assert_eq(mkdir("a", 0700), 0);
    cr_assert_eq(mkdir("b", 0700), 0);
    make("here", 0700);
    make("a/plain", 0600);
    make("b/plain", 0700);
    make("a/data", 0600);
    make_script("good", "#! /bin/sh -e\nexit 0\n");
    make_script("bare", "#!\n");
    make_script("lost", "#!/nonexistent/shell\n");
    make_script("folder", "#!/etc\n");
    make_script("text", "#!a/data x\n");
    make_script("dos", "#!/bin/sh\r\nexit 0\r\n");
    make_script("second", "#!./lost\n");
    make_script("b/second", "#!./plain\n");
    make_script("itself", "#!./itself\n");
}

static void teardown(void)
{
    cr_assert_eq(chdir("/"), 0);
    char command[sizeof(dir) + 8] = "rm -r ";
    cr_expect_eq(system(strcat(command, dir)), 0);
}

static const struct {
    const char *name, *wdir, *path;
    int code;
    const char *want; /* the path found, or a part of the message */
} rows[] = {
    { "./here", NULL, "", 0, "./here" },
    { "plain", NULL, "a:b", 0, "b/plain" }, /* one that cannot be executed is passed over */
    { "here", NULL, "a::b", 0, "./here" },  /* an empty part is the working directory */
    { "./plain", "b", "", 0, "./plain" },   /* relative to --wdir */
    { "plain", "b", ".", 0, "./plain" },
    { "nosuch", NULL, "a:b", SX_EXIT_NOT_FOUND, "'nosuch' in PATH (a:b)" },
    { "here", NULL, "a:b", SX_EXIT_NOT_FOUND, "write './here'" },
    { "./nosuch", NULL, "", SX_EXIT_NOT_FOUND, "'./nosuch'" },
    { "./here/x", NULL, "", SX_EXIT_NOT_FOUND, "'./here/x'" },
    { "data", NULL, "a:b", SX_EXIT_NOT_EXECUTABLE, "chmod +x" },
    { "a/data", NULL, "", SX_EXIT_NOT_EXECUTABLE, "chmod +x" },
    { "./a", NULL, "", SX_EXIT_NOT_EXECUTABLE, "is a directory" },
    { "./here", "nodir", "", 1, "--wdir nodir" },
    { "./here", "here", "", 1, "--wdir here: Not a directory" },
    { "./good", NULL, "", 0, "./good" },
    { "./bare", NULL, "", 0, "./bare" }, /* which sh reads */
    { "./second", "b", "", 0, "./second" },
    { "./itself", NULL, "", 0, "./itself" }, /* and the kernel's word counts */
    { "./lost", NULL, "", SX_EXIT_NOT_FOUND,
      "'./lost' names the interpreter '/nonexistent/shell'" },
    { "lost", NULL, ".", SX_EXIT_NOT_FOUND, "'/nonexistent/shell': No such file" },
    { "./second", NULL, "", SX_EXIT_NOT_FOUND, "'./lost' names the interpreter" },
    { "./folder", NULL, "", SX_EXIT_NOT_EXECUTABLE, "the interpreter '/etc': Is a directory" },
    { "./text", NULL, "", SX_EXIT_NOT_EXECUTABLE, "the interpreter 'a/data': Permission denied" },
    { "./dos", NULL, "", SX_EXIT_NOT_FOUND, "'/bin/sh': No such file or directory; the line ends" },
};

Test(run_program, finds_or_says_why_not, .init = setup, .fini = teardown)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char message[SX_RUN_MESSAGE_MAX] = "", *found = NULL;
        const int code = sx_run_program_find(rows[i].name, rows[i].wdir, rows[i].path, &found,
                                             message);

        cr_expect_eq(code, rows[i].code, "row %zu: %d, %s", i, code, message);
        if (code == 0) {
            cr_expect_str_eq(found, rows[i].want);
        } else {
            cr_expect_not_null(strstr(message, rows[i].want), "row %zu: %s", i, message);
        }
        free(found);
    }
}
