/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* glibc_test.c - the version that a file needs and an image has, read of files that are made here. */
#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "cli/wrap/wrap.h"

#define NAMES_MAX 256
#define BASE 0x10000u /* where the file is loaded */

/* An ELF file with one dynamic section, which needs versions of one library. */
struct made {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    Elf64_Dyn dynamic[5];
    Elf64_Verneed need;
    Elf64_Vernaux aux[8];
    char names[NAMES_MAX];
};

static char folder[] = "/tmp/shmix-glibc-test-XXXXXX";

static void begin(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void end(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_expect_eq(system(command), 0);
}

TestSuite(wrap_glibc, .timeout = 60, .init = begin, .fini = end);

static void file_write(const char *path, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

/* @names: with blanks between, at most 8. */
static struct made made_of(const char *names)
{
    struct made made = {
        .head = { .e_phoff = offsetof(struct made, segments),
                  .e_phentsize = sizeof(Elf64_Phdr),
                  .e_phnum = 2 },
        .segments = { { .p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(made) },
                      { .p_type = PT_DYNAMIC, .p_offset = offsetof(struct made, dynamic) } },
        .dynamic = { { DT_STRTAB, { BASE + offsetof(struct made, names) } },
                     { DT_STRSZ, { NAMES_MAX } },
                     { DT_VERNEED, { BASE + offsetof(struct made, need) } },
                     { DT_VERNEEDNUM, { 1 } },
                     { DT_NULL, { 0 } } },
        .need = { .vn_aux = sizeof(Elf64_Verneed) },
    };
    const unsigned one = 1;

    memcpy(made.head.e_ident, ELFMAG, SELFMAG);
    made.head.e_ident[EI_CLASS] = ELFCLASS64;
    made.head.e_ident[EI_DATA] = *(const char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    snprintf(made.names + 1, NAMES_MAX - 1, "%s", names);
    for (char *name = strtok(made.names + 1, " "); name != NULL; name = strtok(NULL, " ")) {
        made.aux[made.need.vn_cnt].vna_name = (Elf64_Word)(name - made.names);
        made.aux[made.need.vn_cnt].vna_next = sizeof(Elf64_Vernaux);
        made.need.vn_cnt++;
    }
    return made;
}

Test(wrap_glibc, the_highest_version_counts)
{
    static const struct {
        const char *names, *want; /* NULL: no version is found */
    } rows[] = {
        { "GLIBC_2.2.5", "2.2.5" },
        { "GLIBC_2.9 GLIBC_2.34 GLIBC_2.4", "2.34" },
        { "GLIBC_2.34 GLIBC_PRIVATE GLIBCXX_3.4.30", "2.34" },
        { "GLIBC_2.17 GLIBC_ABI_DT_RELR", "2.36" },
        { "GLIBC_2.39 GLIBC_ABI_DT_RELR", "2.39" },
        { "GCC_3.0", NULL },
        { "GLIBC_", NULL },
        { "", NULL },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct made made = made_of(rows[i].names);
        char got[SX_WRAP_GLIBC_MAX];

        file_write("library", &made, sizeof(made));
        cr_expect_eq(sx_wrap_glibc_needed("library", got), rows[i].want != NULL, "%s: %s",
                     rows[i].names, got);
        cr_expect_str_eq(got, rows[i].want == NULL ? "" : rows[i].want, "%s", rows[i].names);
    }
}

/* Every length of the file, and every byte of it changed: no read beyond the file, no endless
 * walk. */
Test(wrap_glibc, a_broken_file_is_survived)
{
    const struct made good = made_of("GLIBC_2.9 GLIBC_2.34");
    char got[SX_WRAP_GLIBC_MAX];

    for (size_t size = 0; size < sizeof(good); size++) {
        file_write("library", &good, size);
        sx_wrap_glibc_needed("library", got);
    }
    for (size_t at = 0; at < offsetof(struct made, names); at++) {
        struct made bad = good;

        memset((char *)&bad + at, 0xff, 1);
        file_write("library", &bad, sizeof(bad));
        sx_wrap_glibc_needed("library", got);
        memset((char *)&bad + at, 0xff, sizeof(uint64_t));
        file_write("library", &bad, sizeof(bad));
        sx_wrap_glibc_needed("library", got);
    }
    cr_expect_not(sx_wrap_glibc_needed("no-such-file", got));
    cr_expect_not(sx_wrap_glibc_needed(".", got));
}

Test(wrap_glibc, the_library_of_an_image_says_its_version)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "GNU C Library (Debian GLIBC 2.31-13) stable release version 2.31.\n", "2.31" },
        { "GNU C Library (GNU libc) development release version 2.40.9000.\n", "2.40.9000" },
        { "GNU C Library (GNU libc) stable release version \n..............................",
          NULL },
        { "release version 2.3", "2.3" }, /* the file ends here */
        { "release version ", NULL },
        { "musl libc", NULL },
    };

    cr_assert_eq(mkdir("usr", 0700), 0);
    cr_assert_eq(mkdir("usr/lib64", 0700), 0);
    cr_assert_eq(symlink("/usr/lib64", "lib64"), 0); /* of the image, not of this machine */
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char got[SX_WRAP_GLIBC_MAX] = "";
        const size_t size = strlen(rows[i].text);
        bool found;

        file_write("usr/lib64/libc.so.6", rows[i].text, size);
        found = sx_wrap_glibc_in(".", got);
        cr_expect_eq(found, rows[i].want != NULL, "%s: %s", rows[i].text, got);
        if (rows[i].want != NULL) {
            cr_expect_str_eq(got, rows[i].want);
        }
    }
    char got[SX_WRAP_GLIBC_MAX];

    cr_expect_not(sx_wrap_glibc_in("no-such-folder", got));
}

Test(wrap_glibc, versions_compare_by_number)
{
    static const struct {
        const char *have, *need;
        bool older;
    } rows[] = {
        { "2.31", "2.34", true },      { "2.34", "2.34", false },   { "2.36", "2.34", false },
        { "2.9", "2.10", true },       { "2.10", "2.9", false },    { "2.34", "2.34.1", true },
        { "2.40.9000", "2.41", true }, { "2.34.0", "2.34", false }, { "3", "2.34", false },
        { "2", "2.34", true },         { "x", "2.34", true },       { "x", "y", false },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_wrap_glibc_is_older(rows[i].have, rows[i].need), rows[i].older, "%s and %s",
                     rows[i].have, rows[i].need);
    }
}
