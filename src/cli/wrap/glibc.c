/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* glibc.c - the version of glibc that an ELF file needs, by the versions of its symbols; and the
 * version that an image has, by the text that its libc.so.6 prints when it is run.
 *
 *     ELF header -> program headers -> dynamic section -> needed versions -> their names
 *
 * The file may be of any image, so each offset is checked against its size, and each list is
 * bounded.  Files of another class or byte order are not read. */
#include "cli/wrap/wrap.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define FILE_SIZE_MAX (64 << 20)
#define SEGMENTS_MAX 128u
#define DYNAMIC_MAX 1024u  /* entries of the dynamic section */
#define VERSIONS_MAX 4096u /* in one file; glibc has about 40 */

/* Symbols with this version need the loader of glibc 2.36, though its name has no number. */
#define RELR_NAME "GLIBC_ABI_DT_RELR"
#define RELR_VERSION "2.36"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DATA_OF_US ELFDATA2LSB
#else
#define DATA_OF_US ELFDATA2MSB
#endif

struct image {
    const unsigned char *bytes;
    uint64_t size;
};

/* The dynamic section's members that count here; offsets in the file. */
struct dynamic {
    uint64_t names_off, names_size; /* the string table */
    uint64_t list_off, list_count;  /* of versions */
};

/* Copy @size bytes at @off.  Return: false when the file has not so many. */
static bool take(const struct image *image, uint64_t off, void *ret, size_t size)
{
    if (off > image->size || size > image->size - off) {
        return false;
    }
    memcpy(ret, image->bytes + off, size);
    return true;
}

/* ---- the dynamic section --------------------------------------------------------------------- */

static bool head_take(const struct image *image, Elf64_Ehdr *ret)
{
    return take(image, 0, ret, sizeof(*ret)) && memcmp(ret->e_ident, ELFMAG, SELFMAG) == 0 &&
           ret->e_ident[EI_CLASS] == ELFCLASS64 && ret->e_ident[EI_DATA] == DATA_OF_US &&
           ret->e_phentsize == sizeof(Elf64_Phdr) && ret->e_phnum <= SEGMENTS_MAX;
}

static bool segment_take(const struct image *image, const Elf64_Ehdr *head, unsigned index,
                         Elf64_Phdr *ret)
{
    const uint64_t step = (uint64_t)index * sizeof(*ret);

    return head->e_phoff <= image->size && take(image, head->e_phoff + step, ret, sizeof(*ret));
}

/* Where the file has what is loaded at @address.  Return: UINT64_MAX when it has no such part. */
static uint64_t offset_of(const struct image *image, const Elf64_Ehdr *head, uint64_t address)
{
    Elf64_Phdr segment;

    for (unsigned i = 0; i < head->e_phnum && segment_take(image, head, i, &segment); i++) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz && segment.p_offset <= image->size) {
            return segment.p_offset + (address - segment.p_vaddr);
        }
    }
    return UINT64_MAX;
}

static void entry_note(struct dynamic *dynamic, const Elf64_Dyn *entry)
{
    switch (entry->d_tag) {
    case DT_STRTAB:
        dynamic->names_off = entry->d_un.d_ptr;
        break;
    case DT_STRSZ:
        dynamic->names_size = entry->d_un.d_val;
        break;
    case DT_VERNEED:
        dynamic->list_off = entry->d_un.d_ptr;
        break;
    case DT_VERNEEDNUM:
        dynamic->list_count = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

static bool dynamic_take(const struct image *image, struct dynamic *ret)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment = { .p_type = PT_NULL };
    Elf64_Dyn entry;

    *ret = (struct dynamic){ .names_off = 0 };
    if (!head_take(image, &head)) {
        return false;
    }
    for (unsigned i = 0; i < head.e_phnum && segment.p_type != PT_DYNAMIC; i++) {
        if (!segment_take(image, &head, i, &segment)) {
            return false;
        }
    }
    if (segment.p_type != PT_DYNAMIC || segment.p_offset > image->size) {
        return false;
    }
    for (uint64_t i = 0; i < DYNAMIC_MAX; i++) {
        if (!take(image, segment.p_offset + i * sizeof(entry), &entry, sizeof(entry)) ||
            entry.d_tag == DT_NULL) {
            break;
        }
        entry_note(ret, &entry);
    }
    ret->names_off = offset_of(image, &head, ret->names_off);
    ret->list_off = offset_of(image, &head, ret->list_off);
    return ret->names_off != UINT64_MAX && ret->list_off != UINT64_MAX;
}

/* ---- versions -------------------------------------------------------------------------------- */

/* Keep the version that the name at @at has, if it is a higher one. */
static void name_note(const struct image *image, const struct dynamic *dynamic, uint64_t at,
                      char highest[SX_WRAP_GLIBC_MAX])
{
    static const char prefix[] = "GLIBC_";
    char name[sizeof(prefix) + SX_WRAP_GLIBC_MAX - 1] = "";
    const uint64_t off = dynamic->names_off + at;
    const char *version = name + sizeof(prefix) - 1;

    if (at >= dynamic->names_size || off >= image->size) {
        return;
    }
    const uint64_t rest = image->size - off;

    memcpy(name, image->bytes + off, rest < sizeof(name) - 1 ? rest : sizeof(name) - 1);
    if (strcmp(name, RELR_NAME) == 0) {
        version = RELR_VERSION;
    } else if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
               version[strspn(version, "0123456789.")] != '\0' || version[0] == '\0') {
        return; /* GLIBC_PRIVATE, or another library's */
    }
    if (highest[0] == '\0' || sx_wrap_glibc_is_older(highest, version)) {
        snprintf(highest, SX_WRAP_GLIBC_MAX, "%s", version);
    }
}

static void needed_note(const struct image *image, const struct dynamic *dynamic,
                        char highest[SX_WRAP_GLIBC_MAX])
{
    uint64_t off = dynamic->list_off, budget = VERSIONS_MAX;
    Elf64_Verneed need;
    Elf64_Vernaux aux;

    for (uint64_t i = 0; i < dynamic->list_count && take(image, off, &need, sizeof(need)); i++) {
        uint64_t at = off + need.vn_aux;

        for (unsigned j = 0; j < need.vn_cnt && budget > 0 && take(image, at, &aux, sizeof(aux));
             j++, budget--) {
            name_note(image, dynamic, aux.vna_name, highest);
            at += aux.vna_next;
        }
        if (need.vn_next == 0 || budget == 0) {
            break;
        }
        off += need.vn_next;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Map the file @fd, and close it. */
static bool image_init(struct image *image, int fd)
{
    struct stat st;
    void *at = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        st.st_size <= FILE_SIZE_MAX) {
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (at == MAP_FAILED) {
        return false;
    }
    *image = (struct image){ .bytes = at, .size = (uint64_t)st.st_size };
    return true;
}

static void image_deinit(struct image *image)
{
    munmap((void *)(uintptr_t)image->bytes, image->size);
}

/* "GNU C Library (Debian GLIBC 2.31-13) stable release version 2.31." */
static bool banner_take(const struct image *image, char ret[SX_WRAP_GLIBC_MAX])
{
    static const char words[] = "release version ";
    const unsigned char *const at = memmem(image->bytes, image->size, words, strlen(words));
    char text[SX_WRAP_GLIBC_MAX] = "";
    size_t len;

    if (at == NULL) {
        return false;
    }
    const size_t rest = image->size - (size_t)(at - image->bytes) - strlen(words);

    memcpy(text, at + strlen(words), rest < sizeof(text) - 1 ? rest : sizeof(text) - 1);
    len = strspn(text, "0123456789.");
    while (len > 0 && text[len - 1] == '.') {
        len--; /* the end of the sentence */
    }
    snprintf(ret, SX_WRAP_GLIBC_MAX, "%.*s", (int)len, text);
    return len > 0;
}

/* ---- for the verb ---------------------------------------------------------------------------- */

bool sx_wrap_glibc_needed(const char *path, char ret[SX_WRAP_GLIBC_MAX])
{
    struct image image;
    struct dynamic dynamic;

    ret[0] = '\0';
    if (!image_init(&image, open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK))) {
        return false;
    }
    if (dynamic_take(&image, &dynamic)) {
        needed_note(&image, &dynamic, ret);
    }
    image_deinit(&image);
    return ret[0] != '\0';
}

/* Links in the folder lead to files of the folder.  Linux 5.6 follows them so; older kernels do not
 * open the file, and the check in the image decides. */
static int open_in(int root_fd, const char *path)
{
    const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                                  .resolve = RESOLVE_IN_ROOT };

    return (int)syscall(__NR_openat2, root_fd, path, &how, sizeof(how));
}

bool sx_wrap_glibc_in(const char *root, char ret[SX_WRAP_GLIBC_MAX])
{
    static const char *const places[] = {
#if defined(__x86_64__)
        "lib/x86_64-linux-gnu/libc.so.6",
        "usr/lib/x86_64-linux-gnu/libc.so.6",
#elif defined(__aarch64__)
        "lib/aarch64-linux-gnu/libc.so.6",
        "usr/lib/aarch64-linux-gnu/libc.so.6",
#endif
        "lib64/libc.so.6",
        "usr/lib64/libc.so.6",
        "lib/libc.so.6",
        "usr/lib/libc.so.6",
    };
    const int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool found = false;

    for (size_t i = 0; root_fd >= 0 && i < SX_COUNT(places) && !found; i++) {
        struct image image;

        if (image_init(&image, open_in(root_fd, places[i]))) {
            found = banner_take(&image, ret);
            image_deinit(&image);
        }
    }
    if (root_fd >= 0) {
        close(root_fd);
    }
    return found;
}

bool sx_wrap_glibc_is_older(const char *have, const char *need)
{
    while (*have != '\0' || *need != '\0') {
        char *have_end, *need_end;
        const unsigned long of_have = strtoul(have, &have_end, 10);
        const unsigned long of_need = strtoul(need, &need_end, 10);

        if (of_have != of_need) {
            return of_have < of_need;
        }
        if ((have_end == have && need_end == need) || (*have_end == '\0' && *need_end == '\0')) {
            return false; /* equal, or not numbers */
        }
        have = have_end + (*have_end == '.');
        need = need_end + (*need_end == '.');
    }
    return false;
}
