/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wrap.c - start a program of an image with this library.
 *
 *     libpmix.so.2 beside this command --> what the loader of this host finds for it --> files
 *     files, environment, the user's command --> a command --> print it, or become it
 *
 * The C library and its loader stay the image's own. */
#include "cli/wrap/wrap.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/place/program.h"

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126
#define LIBRARY_NAME "libpmix.so.2"

/* ---- options --------------------------------------------------------------------------------- */

struct wish {
    bool print, json, no_check;
};

#define OF(member) offsetof(struct wish, member), false

static const struct sx_option rows[] = {
    { .help = "options:" },
    { "--print", NULL, NULL, NULL, NULL, "print the command for a shell, and do not run it",
      sx_option_flag, OF(print) },
    { "--json", NULL, NULL, NULL, NULL,
      "print the command, its variables and its files as one JSON object, and do not run it",
      sx_option_flag, OF(json) },
    { "--no-check", NULL, NULL, NULL, NULL,
      "do not try in the image whether the library can be loaded: for images without a shell",
      sx_option_flag, OF(no_check) },
};

static const char about[] =
    "usage: shmix wrap [options] [--] TOOL [ITS OPTIONS] IMAGE PROGRAM [ARGUMENTS]\n"
    "\n"
    "Run PROGRAM of an image with this library in place of the image's own. TOOL is apptainer,\n"
    "chroot, docker, podman, singularity or unshare. Options are added to its own: they mount the\n"
    "library and the folders that a rank needs, and pass the rank's environment on. The image\n"
    "needs a glibc that is new enough for the library; a message says so when it is older.\n"
    "\n";

static const char more[] =
    "\n"
    "An option of TOOL that wrap does not know is taken to have a value: write --flag=true for a\n"
    "flag. What you choose yourself (--network, --ipc, --pid) stays.\n"
    "\n"
    "examples:\n"
    "  shmix run -n 4 shmix wrap -- podman run --rm image ./program\n"
    "  srun --mpi=pmix shmix wrap -- apptainer exec image.sif ./program\n"
    "  shmix run -n 4 shmix wrap -- chroot /srv/debian ./program\n"
    "  shmix wrap --print -- podman run --rm image ./program\n"
    "\n"
    "Exit code: the tool's; 1 when the image cannot load the library; 2 for a wrong option or an\n"
    "unknown tool; 127 and 126 when the tool is not there, or cannot be started.\n";

const struct sx_verb sx_wrap_verb = {
    .name = "shmix wrap",
    .try_begin = "shmix wrap",
    .try_end = " -- chroot /srv/debian ./program",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* ---- files ----------------------------------------------------------------------------------- */

/* The C library's own files, which belong to the image's loader. */
static bool is_of_glibc(const char *name)
{
    static const char *const stems[] = { "ld-linux",   "libc.so",      "libm.so",
                                         "libmvec.so", "libdl.so",     "libpthread.so",
                                         "librt.so",   "libresolv.so", "libutil.so",
                                         "libanl.so",  "libnss_",      "ld64.so",
                                         "ld.so",      "libnsl.so.1",  "libBrokenLocale.so" };

    for (size_t i = 0; i < SX_COUNT(stems); i++) {
        if (strncmp(name, stems[i], strlen(stems[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_file(const struct sx_wrap_cargo *cargo, const char *name)
{
    for (size_t i = 0; i < cargo->file_count; i++) {
        if (strcmp(cargo->files[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool file_add(struct sx_wrap_cargo *cargo, const char *path, const char *name)
{
    char *const real = realpath(path, NULL);

    if (real == NULL || cargo->file_count == SX_WRAP_FILES_MAX) {
        sx_say("'%.300s': %s", path,
               real == NULL ? strerror(errno) : "libpmix.so.2 needs too many other libraries");
        free(real);
        return false;
    }
    cargo->files[cargo->file_count++] = (struct sx_wrap_file){ real, sx_cli_strdup(name) };
    return true;
}

/* The address of an entry of the dynamic section; some loaders leave it relative. */
static const char *names_of(const struct link_map *map)
{
    ElfW(Addr) at = 0;

    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) {
            at = entry->d_un.d_ptr;
        }
    }
    return (const char *)(at < map->l_addr ? at + map->l_addr : at);
}

/* Add what @library needs, and what that needs.  Return: false with a message. */
static bool needed_add(struct sx_wrap_cargo *cargo, void *library)
{
    struct link_map *map = NULL;

    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        sx_say("%s", dlerror());
        return false;
    }
    const char *const names = names_of(map);

    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const char *const name = entry->d_tag == DT_NEEDED ? names + entry->d_un.d_val : NULL;
        struct link_map *other = NULL;
        void *needed;
        bool good;

        if (name == NULL || is_of_glibc(name) || is_file(cargo, name)) {
            continue;
        }
        needed = dlopen(name, RTLD_LAZY | RTLD_NOLOAD); /* the library above has loaded it */
        if (needed == NULL || dlinfo(needed, RTLD_DI_LINKMAP, &other) != 0) {
            sx_say("%s", dlerror());
            return false;
        }
        good = file_add(cargo, other->l_name, name) && needed_add(cargo, needed);
        dlclose(needed);
        if (!good) {
            return false;
        }
    }
    return true;
}

/* Return: false with a message. */
static bool files_find(struct sx_wrap_cargo *cargo)
{
    char message[SX_RUN_MESSAGE_MAX] = "";
    char *const exe = sx_proc_exe();
    char *const folder = exe == NULL ? NULL : sx_run_env_lib_dir(exe, message);
    char *const path = folder == NULL ? NULL : sx_cli_printf("%s/" LIBRARY_NAME, folder);
    void *const library = path == NULL ? NULL : dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    const bool good = library != NULL && file_add(cargo, path, LIBRARY_NAME) &&
                      needed_add(cargo, library);

    if (folder == NULL && exe != NULL) {
        sx_say("%s", message);
    } else if (library == NULL && path != NULL) {
        sx_say("%s", dlerror());
    }
    if (library != NULL) {
        dlclose(library);
    }
    free(path);
    free(folder);
    free(exe);
    return good;
}

static void files_free(struct sx_wrap_cargo *cargo)
{
    for (size_t i = 0; i < cargo->file_count; i++) {
        free(cargo->files[i].path);
        free(cargo->files[i].name);
    }
    cargo->file_count = 0;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Return: false with a message, when the image is a folder, and its glibc is too old. */
static bool root_is_fit(const struct sx_wrap_command *command, const char *need)
{
    char have[SX_WRAP_GLIBC_MAX];

    if (command->root == NULL || !sx_wrap_glibc_in(command->root, have) ||
        !sx_wrap_glibc_is_older(have, need)) {
        return true;
    }
    sx_say("the image '%.300s' has glibc %s, and this host's " LIBRARY_NAME
           " needs glibc %s: " SX_WRAP_ADVICE,
           command->root, have, need);
    return false;
}

static void json_words(const char *name, char *const *words)
{
    printf("\"%s\":[", name);
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        fputs(i > 0 ? "," : "", stdout);
        sx_json_string(words[i], strlen(words[i]));
    }
    fputs("]", stdout);
}

static void json_print(const struct sx_wrap_command *command, const struct sx_wrap_cargo *cargo)
{
    fputs("{", stdout);
    json_words("command", command->words);
    fputs(",", stdout);
    json_words("settings", command->settings);
    fputs(",\"files\":[", stdout);
    for (size_t i = 0; i < cargo->file_count; i++) {
        fputs(i > 0 ? "," : "", stdout);
        sx_json_string(cargo->files[i].path, strlen(cargo->files[i].path));
    }
    fputs("],\"glibc\":", stdout);
    sx_json_string(cargo->glibc, strlen(cargo->glibc));
    fputs("}\n", stdout);
}

static int printed(void)
{
    if (fflush(stdout) != 0) {
        sx_say("cannot write: %s", strerror(errno));
        return SX_EXIT_FAILURE;
    }
    return 0;
}

/* Return: the exit code; it does not return when the tool has been started. */
static int command_use(const struct sx_wrap_command *command, const struct sx_wrap_cargo *cargo,
                       const struct wish *wish)
{
    if (wish->json) {
        json_print(command, cargo);
        return printed();
    }
    if (wish->print) {
        char *const text = sx_wrap_command_quote(command);

        puts(text);
        free(text);
        return printed();
    }
    if (cargo->check && !root_is_fit(command, cargo->glibc)) {
        return SX_EXIT_FAILURE;
    }
    for (size_t i = 0; command->settings != NULL && command->settings[i] != NULL; i++) {
        putenv(command->settings[i]);
    }
    execvp(command->words[0], command->words);
    const int why = errno;

    sx_say("cannot execute '%.300s': %s", command->words[0], strerror(why));
    return why == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

int sx_cli_wrap(char **words)
{
    struct wish wish = { .print = false };
    struct sx_wrap_cargo cargo = { .env = environ };
    struct sx_wrap_command command = { .words = NULL };
    char glibc[SX_WRAP_GLIBC_MAX] = "", message[SX_WRAP_MESSAGE_MAX] = "";
    int code = sx_options_take(&sx_wrap_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (words[0] == NULL) {
        sx_say("which command?");
        sx_options_help(&sx_wrap_verb);
        return SX_EXIT_USAGE;
    }
    if (!files_find(&cargo)) {
        files_free(&cargo);
        return SX_EXIT_FAILURE;
    }
    if (!sx_wrap_glibc_needed(cargo.files[0].path, glibc)) {
        strcpy(glibc, "2"); /* it is not known: the image's loader decides */
    }
    cargo.glibc = glibc;
    cargo.check = !wish.no_check;
    if (sx_wrap_command_init(&command, &cargo, words, message)) {
        code = command_use(&command, &cargo, &wish);
    } else {
        code = sx_options_refuse(&sx_wrap_verb, NULL, "%s", message);
    }
    sx_wrap_command_deinit(&command);
    files_free(&cargo);
    return code;
}
