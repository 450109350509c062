/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* program_test.c - programs found and refused as a shell would, with reasons. */
#include "launch/place/program.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

/* What a rank does between the check of a file and its opening. */
static const char *swapped; /* NULL: nothing */

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    const int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0;
    va_end(args);
    if (swapped != NULL && strcmp(path, swapped) == 0) {
        swapped = NULL;
        cr_assert_eq(unlink(path), 0);
        cr_assert_eq(mkfifo(path, 0700), 0);
    }
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* A filter that comes later refuses to look at this file. */
static const char *refused; /* NULL: none */

int faccessat(int folder, const char *path, int mode, int flags)
{
    if (refused != NULL && strcmp(path, refused) == 0) {
        errno = ENOSYS;
        return -1;
    }
    int (*real)(int, const char *, int, int);

    *(void **)&real = dlsym(RTLD_NEXT, "faccessat");
    return real(folder, path, mode, flags);
}

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

/* A program of 64 bits, or of 32, that names @loader, whose segments begin at @off. */
static void make_program(const char *file, bool wide, const char *loader, uint64_t off)
{
    Elf64_Ehdr head64 = { .e_machine = EM_X86_64, .e_phoff = off, .e_phnum = 1 };
    Elf64_Phdr part64 = { .p_type = PT_INTERP, .p_filesz = strlen(loader) + 1 };
    Elf32_Ehdr head32 = { .e_machine = EM_386, .e_phoff = (uint32_t)off, .e_phnum = 1 };
    Elf32_Phdr part32 = { .p_type = PT_INTERP, .p_filesz = (uint32_t)strlen(loader) + 1 };
    FILE *const out = (make(file, 0700), fopen(file, "w"));

    cr_assert_not_null(out);
    memcpy(head64.e_ident, ELFMAG, SELFMAG);
    memcpy(head32.e_ident, ELFMAG, SELFMAG);
    head64.e_ident[EI_CLASS] = ELFCLASS64;
    head32.e_ident[EI_CLASS] = ELFCLASS32;
    head64.e_phentsize = sizeof(part64);
    head32.e_phentsize = sizeof(part32);
    part64.p_offset = sizeof(head64) + sizeof(part64);
    part32.p_offset = sizeof(head32) + sizeof(part32);
#if defined(__aarch64__)
    head64.e_machine = EM_AARCH64;
    head32.e_machine = EM_ARM;
#endif
    if (wide) {
        fwrite(&head64, sizeof(head64), 1, out);
        fwrite(&part64, sizeof(part64), 1, out);
    } else {
        fwrite(&head32, sizeof(head32), 1, out);
        fwrite(&part32, sizeof(part32), 1, out);
    }
    fwrite(loader, strlen(loader) + 1, 1, out);
    fwrite(&head64, sizeof(head64), 1, out); /* a program has more than a name */
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
    make_program("alien", true, "/lib/ld-nonexistent.so.1", sizeof(Elf64_Ehdr));
    make_program("small", false, "/lib/ld-nonexistent.so.2", sizeof(Elf32_Ehdr));
    make_program("loads", true, "./here", sizeof(Elf64_Ehdr));
    make_program("cut", true, "/lib/ld-nonexistent.so.1", UINT64_MAX - 8);
    make_script("third", "#!./alien\n");
    make_script("piped", "#!./pipe\n");
    make_script("python.py", "import os\n");
    make_script("begins.py", "#!/bin/sh\n");
    make_program("linked.py", true, "./here", sizeof(Elf64_Ehdr));
    make("data.py", 0600);
    cr_assert_eq(mkfifo("pipe", 0755), 0);
    cr_assert_eq(symlink("loop", "loop"), 0);
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
    { "./pipe", NULL, "", SX_EXIT_NOT_EXECUTABLE, "it is a pipe, socket or device" },
    { "pipe", NULL, "a:.", SX_EXIT_NOT_EXECUTABLE, "it is a pipe, socket or device" },
    { "./piped", NULL, "", SX_EXIT_NOT_EXECUTABLE, "the interpreter './pipe': it is a pipe" },
    { "./loop", NULL, "", SX_EXIT_NOT_EXECUTABLE, "not executable: Too many levels" },
    { "./here", "nodir", "", 1, "--wdir nodir" },
    { "./here", "here", "", 1, "--wdir here: Not a directory" },
    { "./good", NULL, "", 0, "./good" },
    { "./bare", NULL, "", 0, "./bare" }, /* which sh reads */
    { "./second", "b", "", 0, "./second" },
    { "./itself", NULL, "", 0, "./itself" }, /* and the kernel's word counts */
    { "./python.py", NULL, "", SX_EXIT_NOT_EXECUTABLE, "write 'python3 ./python.py'" },
    { "./begins.py", NULL, "", 0, "./begins.py" },
    { "./linked.py", NULL, "", 0, "./linked.py" },
    { "./data.py", NULL, "", SX_EXIT_NOT_EXECUTABLE, "denied; put 'python3' before it" },
    { "./lost", NULL, "", SX_EXIT_NOT_FOUND,
      "'./lost' names the interpreter '/nonexistent/shell'" },
    { "lost", NULL, ".", SX_EXIT_NOT_FOUND, "'/nonexistent/shell': No such file" },
    { "./second", NULL, "", SX_EXIT_NOT_FOUND, "'./lost' names the interpreter" },
    { "./folder", NULL, "", SX_EXIT_NOT_EXECUTABLE, "the interpreter '/etc': Is a directory" },
    { "./text", NULL, "", SX_EXIT_NOT_EXECUTABLE, "the interpreter 'a/data': Permission denied" },
    { "./alien", NULL, "", SX_EXIT_NOT_FOUND,
      "'./alien' wants to be loaded by '/lib/ld-nonexistent.so.1': No such file" },
    { "./small", NULL, "", SX_EXIT_NOT_FOUND, "'/lib/ld-nonexistent.so.2': No such file" },
    { "./third", NULL, "", SX_EXIT_NOT_FOUND, "'./alien' wants to be loaded by" },
    { "./loads", NULL, "", 0, "./loads" },
    { "./cut", NULL, "", 0, "./cut" }, /* whose segments are nowhere: the kernel judges */
    { "./dos", NULL, "", SX_EXIT_NOT_FOUND, "'/bin/sh': No such file or directory; the line ends" },
};

static const struct {
    const char *name, *wdir;
    int code;
    const char *want;
} beside_rows[] = {
    { "here", NULL, 0, "./here" },
    { "second", "b", 0, "./second" },
    { "good", NULL, 0, "./good" },
    { "plain", NULL, 0, "a/plain" }, /* PATH is first */
    { "a", NULL, SX_EXIT_NOT_FOUND, "'a' in PATH (a)" },
    { "nosuch", NULL, SX_EXIT_NOT_FOUND, "'nosuch' in PATH (a)" },
    { "second", NULL, SX_EXIT_NOT_FOUND, "'./lost' names the interpreter" },
    { "here", "b", SX_EXIT_NOT_FOUND, "'here' in PATH (a)" },
    { "data", "a", SX_EXIT_NOT_EXECUTABLE, "'./data' is not executable" },
};

Test(run_program, what_PATH_has_not_is_in_the_working_directory, .init = setup, .fini = teardown)
{
    cr_assert_eq(chmod("a/plain", 0700), 0);
    for (size_t i = 0; i < SX_COUNT(beside_rows); i++) {
        char path[] = "PATH=a", *env[] = { path }, *argv[] = { (char *)beside_rows[i].name, NULL };
        const struct sx_run_app app = {
            .program = argv, .wdir = beside_rows[i].wdir, .env = env, .env_count = 1
        };
        char message[SX_RUN_MESSAGE_MAX] = "";
        struct sx_run_program program;
        const int code = sx_run_program_init(&program, &app, message);

        cr_expect_eq(code, beside_rows[i].code, "row %zu: %d, %s", i, code, message);
        if (code == 0) {
            cr_expect_str_eq(program.path, beside_rows[i].want);
        } else {
            cr_expect_not_null(strstr(message, beside_rows[i].want), "row %zu: %s", i, message);
        }
        sx_run_program_deinit(&program);
    }
}

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

Test(run_program, whose_loader_may_not_be_looked_at_is_not_of_another_system, .init = setup,
     .fini = teardown)
{
    char message[SX_RUN_MESSAGE_MAX] = "", *path = NULL;

    make_script("shell", "#!./here\n");
    refused = "./here";
    cr_expect_eq(sx_run_program_find("./loads", NULL, NULL, &path, message),
                 SX_EXIT_NOT_EXECUTABLE);
    cr_expect_str_eq(message,
                     "'./loads' wants to be loaded by './here': Function not implemented; a filter "
                     "of system calls (seccomp) has to allow it");
    cr_expect_eq(sx_run_program_find("./shell", NULL, NULL, &path, message),
                 SX_EXIT_NOT_EXECUTABLE);
    cr_expect_not_null(strstr(message, "'./here': Function not implemented; a filter"), "%s",
                       message);
    refused = NULL;
}

/* A pipe has no writer: an open that waits for one would wait for ever. */
Test(run_program, a_file_that_a_pipe_replaces_after_its_check_is_not_waited_for, .init = setup,
     .fini = teardown, .timeout = 60)
{
    char message[SX_RUN_MESSAGE_MAX], *path = NULL;

    make_script("swapped", "#!/bin/sh\n");
    swapped = "./swapped";
    cr_expect_eq(sx_run_program_find("./swapped", NULL, NULL, &path, message), 0,
                 "the kernel decides: %s", message);
    cr_expect_null(swapped, "the file was opened");
    free(path);
}
