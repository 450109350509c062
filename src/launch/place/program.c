/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* program.c - the search of execvp, done once for all ranks of a program, with reasons for
 * failures. */
#include "launch/place/program.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "launch/common/say.h"
#include "launch/job/record.h"

#define NOT_A_FILE (-1) /* beside errno: a pipe, a socket or a device */

static const char *text_of(int why)
{
    return why == NOT_A_FILE ? "it is a pipe, socket or device" : strerror(why);
}

static bool is_python(const char *path)
{
    const size_t len = strlen(path);

    return len > 3 && strcmp(path + len - 3, ".py") == 0;
}

/* Advice for the user, which begins with "; " unless it is empty. */
static const char *advice_of(int why, const char *path)
{
    return why == EACCES && is_python(path) ? "; put 'python3' before it"
           : why == EACCES                  ? "; try 'chmod +x'"
           : why == ENOTCONN ? "; the server of its file system has ended: mount it again"
                             : sx_refused_advice(why);
}

/* Return: 0, or why @path cannot be executed: errno or NOT_A_FILE. */
static int check(int wdir_fd, const char *path)
{
    struct stat st;

    if (fstatat(wdir_fd, path, &st, 0) != 0) {
        return errno;
    }
    if (S_ISDIR(st.st_mode)) {
        return EISDIR;
    }
    if (!S_ISREG(st.st_mode)) {
        return NOT_A_FILE;
    }
    /* As root, access() accepts any execute bit, as execve does. */
    return faccessat(wdir_fd, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* A file that is read for what it names.  A rank that spawns may have put another one in its place
 * since check(): a pipe without a writer must not block, and no file but a regular one is read.
 * Return: -1 if it cannot be read. */
static int file_open(int wdir_fd, const char *path)
{
    const int fd = openat(wdir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* ---- the loader of a program ----------------------------------------------------------------- */

#define SEGMENTS_MAX 128 /* of an ELF file; linkers make about a dozen */

/* Files for a machine that this one is or can run.  Other files may run through an emulator. */
static bool is_for_us(uint16_t machine)
{
#if defined(__x86_64__)
    return machine == EM_X86_64 || machine == EM_386;
#elif defined(__aarch64__)
    return machine == EM_AARCH64 || machine == EM_ARM;
#else
    (void)machine;
    return false;
#endif
}

/* The members that both classes of ELF files have. */
struct segment {
    uint32_t type;
    uint64_t off, size;
};

/* The place of the segments.  Return: how many there are; 0 for any other file. */
static unsigned segments_of(int fd, uint64_t *ret_off, bool *ret_wide)
{
    union {
        unsigned char ident[EI_NIDENT];
        Elf64_Ehdr wide;
        Elf32_Ehdr narrow;
    } head;
    const ssize_t got = pread(fd, &head, sizeof(head), 0);
    unsigned count;

    if (got < (ssize_t)sizeof(head.narrow) || memcmp(head.ident, ELFMAG, SELFMAG) != 0) {
        return 0;
    }
    *ret_wide = head.ident[EI_CLASS] == ELFCLASS64;
    if (*ret_wide && got == (ssize_t)sizeof(head) && is_for_us(head.wide.e_machine) &&
        head.wide.e_phentsize == sizeof(Elf64_Phdr)) {
        *ret_off = head.wide.e_phoff;
        count = head.wide.e_phnum;
    } else if (!*ret_wide && is_for_us(head.narrow.e_machine) &&
               head.narrow.e_phentsize == sizeof(Elf32_Phdr)) {
        *ret_off = head.narrow.e_phoff;
        count = head.narrow.e_phnum;
    } else {
        return 0;
    }
    return count > SEGMENTS_MAX ? 0 : count;
}

static bool segment_read(int fd, uint64_t off, unsigned index, bool wide, struct segment *ret)
{
    union {
        Elf64_Phdr wide;
        Elf32_Phdr narrow;
    } head;
    const size_t size = wide ? sizeof(head.wide) : sizeof(head.narrow);

    if (off > INT64_MAX / 2 ||
        pread(fd, &head, size, (off_t)(off + index * size)) != (ssize_t)size) {
        return false;
    }
    *ret = wide ? (struct segment){ .type = head.wide.p_type,
                                    .off = head.wide.p_offset,
                                    .size = head.wide.p_filesz }
                : (struct segment){ .type = head.narrow.p_type,
                                    .off = head.narrow.p_offset,
                                    .size = head.narrow.p_filesz };
    return true;
}

/* The loader that the program @fd names.  Return: false if it names no loader. */
static bool loader_read(int fd, char name[PATH_MAX])
{
    struct segment segment;
    uint64_t off = 0;
    bool wide = false;
    const unsigned count = segments_of(fd, &off, &wide);

    for (unsigned i = 0; i < count && segment_read(fd, off, i, wide, &segment); i++) {
        if (segment.type == PT_INTERP && segment.size > 1 && segment.size <= PATH_MAX &&
            segment.off <= INT64_MAX) {
            return pread(fd, name, segment.size, (off_t)segment.off) == (ssize_t)segment.size &&
                   name[segment.size - 1] == '\0';
        }
    }
    return false;
}

/* If its loader is missing, a program exists and execve fails with ENOENT.  Return: as check, with
 * one line in @message. */
static int check_loader(int wdir_fd, const char *path, char *message)
{
    const int fd = file_open(wdir_fd, path);
    char name[PATH_MAX];
    bool names;
    int why;

    if (fd < 0) { /* it may be executable without being readable */
        return 0;
    }
    names = loader_read(fd, name);
    close(fd);
    why = names ? check(wdir_fd, name) : 0;
    const char *const refused = sx_refused_advice(why);

    if (why != 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "'%.180s' wants to be loaded by '%.180s': %s%s", path,
                 name, text_of(why),
                 refused[0] != '\0' ? refused
                                    : "; it was built for another system, or a package of the C "
                                      "library is missing");
    }
    return why;
}

/* ---- the interpreter of a script ------------------------------------------------------------- */

#define LINE_MAX_BYTES 256 /* the kernel reads no more of a line */
#define SCRIPTS_MAX 5      /* the kernel's limit for scripts that interpret one another */

/* The interpreter that the first line of the file @path names, in @line.  Return: NULL if it names
 * none. */
static const char *interpreter_of(int wdir_fd, const char *path, char line[LINE_MAX_BYTES])
{
    const int fd = file_open(wdir_fd, path);
    ssize_t got = -1;
    char *name;

    if (fd >= 0) { /* else it may be executable without being readable, and the kernel decides */
        got = read(fd, line, LINE_MAX_BYTES - 1);
        close(fd);
    }
    if (got < 2 || line[0] != '#' || line[1] != '!') {
        return NULL;
    }
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, " \t")] = '\0';
    return name[0] == '\0' ? NULL : name;
}

/* sh would execute a script without an interpreter, also if it is Python's.  Return: as check, with
 * one line in @message. */
static int check_python(int wdir_fd, const char *path, char *message)
{
    const int fd = is_python(path) ? file_open(wdir_fd, path) : -1;
    char begin[2] = "#!";

    if (fd >= 0) {
        (void)!read(fd, begin, sizeof(begin));
        close(fd);
    }
    if ((begin[0] == '#' && begin[1] == '!') || begin[0] == ELFMAG0) {
        return 0;
    }
    snprintf(message, SX_RUN_MESSAGE_MAX,
             "'%.200s' has no first line that begins with #!, which names its interpreter: write "
             "'python3 %.200s'",
             path, path);
    return ENOEXEC;
}

/* Otherwise the kernel would refuse the script only when it is executed.  Return: as check, with
 * one line in @message. */
static int check_interpreters(int wdir_fd, const char *path, char *message)
{
    char line[LINE_MAX_BYTES], script[PATH_MAX];
    const int bare = check_python(wdir_fd, path, message);

    if (bare != 0) {
        return bare;
    }
    snprintf(script, sizeof(script), "%s", path);
    for (int i = 0; i < SCRIPTS_MAX; i++) {
        const char *const name = interpreter_of(wdir_fd, script, line);
        const int why = name == NULL ? 0 : check(wdir_fd, name);
        const size_t len = name == NULL ? 0 : strlen(name);

        if (name == NULL) {
            return check_loader(wdir_fd, script, message);
        }
        if (why != 0) {
            const bool returns = name[len - 1] == '\r';

            snprintf(message, SX_RUN_MESSAGE_MAX,
                     "the first line of '%.200s' names the interpreter '%.*s': %s%s", script,
                     (int)(len - returns), name, text_of(why),
                     returns ? "; the line ends with a carriage return, which belongs to the name: "
                               "'dos2unix' removes it"
                             : sx_refused_advice(why));
            return why;
        }
        memcpy(script, name, len + 1);
    }
    return 0;
}

/* ---- programs of other machines -------------------------------------------------------------- */

static_assert(sizeof(struct sx_run_image) == offsetof(Elf32_Ehdr, e_version) &&
                  offsetof(struct sx_run_image, machine) == offsetof(Elf32_Ehdr, e_machine),
              "the image is the begin of both classes");

/* Read the image of the file that the ranks execute, unless it is not an ELF file. */
static void image_read(struct sx_run_program *program)
{
    const bool relative = program->wdir != NULL && program->path[0] != '/';
    char *const path = sx_cli_printf("%s%s%s", relative ? program->wdir : "", relative ? "/" : "",
                                     program->path);
    const int fd = file_open(AT_FDCWD, path);
    Elf32_Ehdr head;
    const ssize_t got = fd < 0 ? -1 : pread(fd, &head, sizeof(head), 0);

    if (fd >= 0) {
        close(fd);
    }
    free(path);
    if (got == (ssize_t)sizeof(head) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0) {
        memcpy(&program->image, &head, sizeof(program->image));
    }
}

static bool is_elf(const struct sx_run_image *image)
{
    return image->ident[0] != '\0';
}

/* The names of uname(1).  The word is at the same place in both classes of ELF files. */
static const char *machine_of(const struct sx_run_image *image)
{
    static const struct {
        uint16_t number;
        unsigned char data; /* 0: either byte order */
        const char *name;
    } rows[] = {
        { EM_X86_64, 0, "x86_64" },
        { EM_386, 0, "i686" },
        { EM_AARCH64, 0, "aarch64" },
        { EM_ARM, 0, "arm" },
        { EM_PPC64, ELFDATA2LSB, "ppc64le" },
        { EM_PPC64, ELFDATA2MSB, "ppc64" },
        { EM_S390, 0, "s390x" },
        { EM_RISCV, 0, "riscv64" },
        { EM_MIPS, 0, "mips" },
        { EM_SPARCV9, 0, "sparc64" },
        { 258, 0, "loongarch64" }, /* EM_LOONGARCH, which older headers do not have */
    };
    const unsigned char *const bytes = (const unsigned char *)&image->machine;
    const bool big = image->ident[EI_DATA] == ELFDATA2MSB;
    const unsigned number = bytes[big] + 256u * bytes[!big];

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (rows[i].number == number &&
            (rows[i].data == 0 || rows[i].data == image->ident[EI_DATA])) {
            return rows[i].name;
        }
    }
    return NULL;
}

void sx_run_program_fault(const struct sx_run_program *program, int error,
                          char text[SX_RUN_FAULT_MAX])
{
    const char *const machine = machine_of(&program->image);
    struct utsname system;

    text[0] = '\0';
    if (error == ENOENT) {
        snprintf(text, SX_RUN_FAULT_MAX,
                 " (is the interpreter that its first line names installed?)");
    } else if (error == ENOEXEC && is_elf(&program->image) && machine != NULL &&
               uname(&system) == 0 && strcmp(machine, system.machine) != 0) {
        snprintf(text, SX_RUN_FAULT_MAX, ": it is for %s, and this machine is %s: build it here",
                 machine, system.machine);
    }
}

static int code_of(int why)
{
    return why == ENOENT || why == ENOTDIR ? SX_EXIT_NOT_FOUND : SX_EXIT_NOT_EXECUTABLE;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* @path can be executed, if its interpreter can.  Return: as sx_run_program_find. */
static int found(char *path, int wdir_fd, char **ret_path, char *message)
{
    const int why = check_interpreters(wdir_fd, path, message);

    if (why != 0) {
        free(path);
        return code_of(why);
    }
    *ret_path = path;
    return 0;
}

static int find_path(const char *name, const char *wdir, int wdir_fd, char **ret_path,
                     char *message)
{
    const int why = check(wdir_fd, name);

    if (why == 0) {
        return found(sx_cli_strdup(name), wdir_fd, ret_path, message);
    }
    if (why == EISDIR) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "'%.300s' is a directory, not a program", name);
        return SX_EXIT_NOT_EXECUTABLE;
    }
    if (why == ENOENT || why == ENOTDIR) {
        const bool is_inside = wdir != NULL && name[0] != '/';

        snprintf(message, SX_RUN_MESSAGE_MAX, "there is no program '%.300s'%s%.300s%s", name,
                 is_inside ? " in '" : "", is_inside ? wdir : "",
                 is_inside ? "', the working directory of the ranks" : "");
        return SX_EXIT_NOT_FOUND;
    }
    snprintf(message, SX_RUN_MESSAGE_MAX, "'%.300s' is not executable: %s%s", name, text_of(why),
             advice_of(why, name));
    return SX_EXIT_NOT_EXECUTABLE;
}

static int search(const char *name, int wdir_fd, const char *path, char **ret_path, char *message)
{
    char *refused = NULL;
    int code = SX_EXIT_NOT_FOUND, refused_why = 0;

    for (const char *at = path; at != NULL;) {
        const char *colon = strchr(at, ':');
        const int len = colon == NULL ? (int)strlen(at) : (int)(colon - at);
        /* An empty part of PATH is the working directory. */
        char *full = sx_cli_printf("%.*s%s%s", len, at, len == 0 ? "./" : "/", name);
        const int why = check(wdir_fd, full);

        if (why == 0) {
            free(refused);
            return found(full, wdir_fd, ret_path, message);
        }
        if ((why == EACCES || why == EPERM || why == NOT_A_FILE) && refused == NULL) {
            refused = full;
            refused_why = why;
            full = NULL;
        }
        free(full);
        at = colon == NULL ? NULL : colon + 1;
    }
    if (refused != NULL) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "'%.300s' is not executable%s%s%s", refused,
                 refused_why == EACCES ? "" : ": ",
                 refused_why == EACCES ? "" : text_of(refused_why),
                 advice_of(refused_why, refused));
        code = SX_EXIT_NOT_EXECUTABLE;
    } else if (check(wdir_fd, name) == 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "there is no program '%.100s' in PATH, but one in the working directory: "
                 "write './%.100s'",
                 name, name);
    } else if (strchr(name, '=') != NULL) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "there is no program '%.100s'; a variable of the ranks is --env %.100s", name,
                 name);
    } else if (name[strspn(name, "0123456789")] == '\0') {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "there is no program '%.100s'; a number of processes is -n %.100s", name, name);
    } else {
        snprintf(message, SX_RUN_MESSAGE_MAX, "there is no program '%.100s' in PATH (%.300s)", name,
                 path);
    }
    free(refused);
    return code;
}

int sx_run_program_find(const char *name, const char *wdir, const char *path, char **ret_path,
                        char message[SX_RUN_MESSAGE_MAX])
{
    int wdir_fd = AT_FDCWD, code;

    if (wdir != NULL) {
        wdir_fd = open(wdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (wdir_fd < 0 || faccessat(wdir_fd, ".", X_OK, AT_EACCESS) != 0) {
            snprintf(message, SX_RUN_MESSAGE_MAX, "--wdir %.300s: %s", wdir, strerror(errno));
            if (wdir_fd >= 0) {
                close(wdir_fd);
            }
            return SX_EXIT_FAILURE;
        }
    }
    if (strchr(name, '/') != NULL) {
        code = find_path(name, wdir, wdir_fd, ret_path, message);
    } else {
        code = search(name, wdir_fd, path == NULL ? "/usr/local/bin:/usr/bin:/bin" : path, ret_path,
                      message);
    }
    if (wdir_fd >= 0) {
        close(wdir_fd);
    }
    return code;
}

/* sh PATH ARGS: how execvp runs a script that does not name its interpreter. */
static char **sh_argv_make(const char *path, char **argv)
{
    size_t words = 0;
    char **sh_argv;

    while (argv[words] != NULL) {
        words++;
    }
    sh_argv = sx_cli_calloc(words + 2, sizeof(*sh_argv));
    memcpy(&sh_argv[1], argv, words * sizeof(*argv));
    sh_argv[0] = sx_cli_strdup("sh");
    sh_argv[1] = sx_cli_strdup(path);
    return sh_argv;
}

static bool is_beside(const char *name, const char *wdir)
{
    char *const path = sx_cli_printf("%s/%s", wdir == NULL ? "." : wdir, name);
    struct stat st;
    const bool is = stat(path, &st) == 0 && S_ISREG(st.st_mode);

    free(path);
    return is;
}

/* As sx_run_program_find.  If PATH does not have the file, the working directory is searched, as
 * mpirun does. */
static int find_anywhere(const char *name, const char *wdir, const char *path, char **ret_path,
                         char *message)
{
    int code = sx_run_program_find(name, wdir, path, ret_path, message);

    if (code == SX_EXIT_NOT_FOUND && strchr(name, '/') == NULL && is_beside(name, wdir)) {
        char *const beside = sx_cli_printf("./%s", name);

        code = sx_run_program_find(beside, wdir, path, ret_path, message);
        if (code == 0) {
            sx_run_step(NULL, "'%s' is not in PATH; it is '%s', in the working directory", name,
                        beside);
        }
        free(beside);
    }
    return code;
}

int sx_run_program_init(struct sx_run_program *program, const struct sx_run_app *app,
                        char message[SX_RUN_MESSAGE_MAX])
{
    char *const path = sx_run_env_value(app, "PATH");
    int code;

    *program = (struct sx_run_program){ .argv = app->program, .wdir = app->wdir };
    program->is_searched = app->search != NULL && strchr(app->program[0], '/') == NULL &&
                           sx_run_program_find(app->program[0], app->wdir, app->search,
                                               &program->path, message) == 0;
    code = program->is_searched
               ? 0
               : find_anywhere(app->program[0], app->wdir, path, &program->path, message);
    free(path);
    if (code == 0) {
        image_read(program);
    }
    if (code == 0 && !is_elf(&program->image)) {
        program->sh_argv = sh_argv_make(program->path, program->argv);
    }
    return code;
}

void sx_run_program_set(struct sx_run_program *program, const struct sx_run_app *app,
                        const char *path, const struct sx_run_image *image, bool searched)
{
    if (searched) {
        free(app->program[0]);
        app->program[0] = sx_cli_strdup(path);
    }
    *program = (struct sx_run_program){ .path = sx_cli_strdup(path),
                                        .argv = app->program,
                                        .wdir = app->wdir,
                                        .image = *image,
                                        .is_searched = searched };
    if (!is_elf(image)) {
        program->sh_argv = sh_argv_make(program->path, program->argv);
    }
}

/* ---- limits of the kernel -------------------------------------------------------------------- */

#define WORD_PAGES 32                     /* the kernel's limit for one word */
#define WORDS_STACK_PART 4                /* part of the stack's limit, for all words */
#define WORDS_BYTES_MAX ((size_t)6 << 20) /* the limit for any stack */
#define WORDS_BYTES_MIN ((size_t)128 << 10)
#define WORDS_LEFT ((size_t)SX_RUN_MESSAGE_MAX + 65536) /* for variables that are added later */

static size_t words_max(void)
{
    struct rlimit stack;
    size_t max = WORDS_BYTES_MAX;

    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur / WORDS_STACK_PART < max) {
        max = (size_t)stack.rlim_cur / WORDS_STACK_PART;
    }
    return max < WORDS_BYTES_MIN ? WORDS_BYTES_MIN : max;
}

/* Add the words to @sum.  Return: the first word that is too long, or NULL. */
static const char *words_count(char *const *words, size_t *sum)
{
    const size_t max = WORD_PAGES * (size_t)sysconf(_SC_PAGESIZE);

    for (; *words != NULL; words++) {
        const size_t size = strlen(*words) + 1;

        if (size > max) {
            return *words;
        }
        *sum += size + sizeof(*words);
    }
    return NULL;
}

bool sx_run_program_fits(const struct sx_run_program *program, char message[SX_RUN_MESSAGE_MAX])
{
    const size_t max = words_max();
    size_t sum = WORDS_LEFT;
    const char *word = words_count(program->argv, &sum);
    const bool is_argument = word != NULL;

    if (word == NULL) {
        word = words_count(program->env, &sum);
    }
    if (word != NULL) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "the %s '%.*s...' has %zu bytes, and the kernel takes %zu of one",
                 is_argument ? "argument" : "variable", is_argument ? 40 : (int)strcspn(word, "="),
                 word, strlen(word), WORD_PAGES * (size_t)sysconf(_SC_PAGESIZE) - 1);
        return false;
    }
    if (sum > max) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "its arguments and its environment have %zu bytes, and the kernel takes %zu (a "
                 "quarter of the stack's limit, 6 MiB at most: ulimit -s)",
                 sum, max);
    }
    return sum <= max;
}

void sx_run_program_deinit(struct sx_run_program *program)
{
    if (program->sh_argv != NULL) {
        free(program->sh_argv[0]);
        free(program->sh_argv[1]);
    }
    free(program->sh_argv);
    free(program->path);
    program->env = sx_run_env_free(program->env);
    *program = (struct sx_run_program){ .path = NULL };
}

bool sx_run_program_is_mpirun(const struct sx_run_program *program)
{
    const bool relative = program->wdir != NULL && program->path[0] != '/';
    char *path = sx_cli_printf("%s%s%s", relative ? program->wdir : "", relative ? "/" : "",
                               program->path);
    char *real = realpath(path, NULL);
    const char *slash = real == NULL ? NULL : strrchr(real, '/');
    const bool is = slash != NULL && strcmp(slash + 1, "orterun") == 0;

    free(real);
    free(path);
    return is;
}
