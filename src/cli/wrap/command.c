/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* command.c - a tool is a row: its subcommands, its options without a value, and the function that
 * adds words to its command.
 *
 *     words --> the tool, its options, the image, the program --> options added, program checked
 *
 * podman and docker close descriptors and drop the environment: they also get the host's
 * namespaces, in which the rank finds its server and its peers.  chroot and unshare mount nothing,
 * so a shell does it before, in a mount namespace that ends with the program. */
#include "cli/wrap/wrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "control/rendezvous.h"
#include "launch/common/say.h"

/* ---- what runs in the image ------------------------------------------------------------------ */

/* The folders in which images find the files.  A container gets the first, and loses it when it
 * ends.  A root directory has to have the second already.  A tmpfs covers it for the program
 * alone, so nothing is made in that directory. */
#define CONTAINER_FOLDER "/.shmix"
#define ROOT_FOLDER "/mnt"

/* $1: the version of glibc that is needed; empty: do not try.  $2: the value of LD_PRELOAD.  $3:
 * the working directory.  The image's loader decides: it is asked to preload the library into a
 * shell.  If it refuses, that shell does not start, or the loader prints a line and goes on. */
#define CHECK                                                                                 \
    "need=$1 preload=$2\n"                                                                    \
    "cd \"$3\" || exit 1\n"                                                                   \
    "shift 3\n"                                                                               \
    "if [ -n \"$need\" ]; then\n"                                                             \
    "    said=$(LD_BIND_NOW=1 LD_PRELOAD=$preload sh -c : 2>&1) && [ -z \"$said\" ] || {\n"   \
    "        have=$(getconf GNU_LIBC_VERSION 2>/dev/null) || have='no glibc'\n"               \
    "        echo \"shmix wrap: this image cannot load this host's libpmix.so.2, which needs" \
    " glibc $need; the image has $have. Its loader: ${said:-no message}\" >&2\n"              \
    "        echo \"shmix wrap: " SX_WRAP_ADVICE "\" >&2\n"                                   \
    "        exit 1\n"                                                                        \
    "    }\n"                                                                                 \
    "fi\n"                                                                                    \
    "[ -d \"${TMPDIR:-/tmp}\" ] || unset TMPDIR\n"                                            \
    "export LD_PRELOAD=\"$preload${LD_PRELOAD:+:$LD_PRELOAD}\"\n"                             \
    "exec \"$@\""

/* $1: the root directory.  Pairs follow: a file or folder of the host, and its place in the root
 * directory; then "--" and the command.  A place that is not there is left out. */
#define MOUNT                                                                 \
    "set -e\n"                                                                \
    "root=$(cd \"$1\" && pwd -P)\n"                                           \
    "shift\n"                                                                 \
    "mount -t tmpfs -o mode=755 shmix \"$root" ROOT_FOLDER "\"\n"             \
    "[ -e \"$root/proc/self\" ] || mount --rbind /proc \"$root/proc\"\n"      \
    "[ -e \"$root/sys/kernel\" ] || mount --rbind /sys \"$root/sys\"\n"       \
    "[ -c \"$root/dev/null\" ] || mount --rbind /dev \"$root/dev\"\n"         \
    "while [ \"$1\" != -- ]; do\n"                                            \
    "    how=bind\n"                                                          \
    "    case $2 in " ROOT_FOLDER "/*) how=bind,ro; : >\"$root$2\" ;; esac\n" \
    "    if [ -e \"$root$2\" ]; then mount -o $how \"$1\" \"$root$2\"; fi\n"  \
    "    shift 2\n"                                                           \
    "done\n"                                                                  \
    "shift\n"                                                                 \
    "exec \"$@\""

/* ---- the rank -------------------------------------------------------------------------------- */

static const char *variable(const struct sx_wrap_reading *reading, const char *name)
{
    const size_t len = strlen(name);

    for (char *const *entry = reading->cargo->env; *entry != NULL; entry++) {
        if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=') {
            return (*entry)[len + 1] == '\0' ? NULL : *entry + len + 1;
        }
    }
    return NULL;
}

/* Whether a rank needs the variable @entry: what launchers give it, and what users set for its MPI
 * library. */
static bool is_for_ranks(const char *entry)
{
    static const char *const prefixes[] = { "PMIX_", "SHMIX_",     "OMPI_",  "PMI_",
                                            "PRTE_", "MPIR_CVAR_", "SLURM_", "TMPDIR=" };

    for (size_t i = 0; i < SX_COUNT(prefixes); i++) {
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_rank(const struct sx_wrap_reading *reading)
{
    return variable(reading, "PMIX_NAMESPACE") != NULL;
}

static const char *tmpdir_of(const struct sx_wrap_reading *reading)
{
    const char *const dir = variable(reading, "TMPDIR");

    return dir != NULL && dir[0] == '/' ? dir : "/tmp";
}

/* The folder of the server's socket when it is a file: malloc'ed; else NULL. */
static char *socket_folder(const struct sx_wrap_reading *reading)
{
    const char *const uri = variable(reading, SX_ENV_SERVER_URI);
    const size_t len = strlen(SX_RENDEZVOUS_SCHEME);

    if (uri == NULL || strncmp(uri, SX_RENDEZVOUS_SCHEME "/", len + 1) != 0) {
        return NULL;
    }
    return sx_cli_printf("%.*s", (int)(strrchr(uri, '/') - uri - (ptrdiff_t)len), uri + len);
}

static bool has_abstract_socket(const struct sx_wrap_reading *reading)
{
    const char *const uri = variable(reading, SX_ENV_SERVER_URI);

    return uri != NULL && strncmp(uri, SX_RENDEZVOUS_SCHEME SX_RENDEZVOUS_ABSTRACT,
                                  strlen(SX_RENDEZVOUS_SCHEME SX_RENDEZVOUS_ABSTRACT)) == 0;
}

static bool is_inside(const char *path, const char *folder)
{
    const size_t len = strlen(folder);

    return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* The folders that a rank shares with its server and its peers.  @add appends one of them. */
static void folders_add(const struct sx_wrap_reading *reading, struct sx_wrap_list *out,
                        void (*add)(struct sx_wrap_list *out, const char *folder))
{
    char *const folder = socket_folder(reading);

    add(out, tmpdir_of(reading));
    if (folder != NULL && !is_inside(folder, tmpdir_of(reading))) {
        add(out, folder);
    }
    free(folder);
}

/* The value of LD_PRELOAD, with the files in @folder.  Return: malloc'ed. */
static char *preload_in(const struct sx_wrap_reading *reading, const char *folder)
{
    char *text = sx_cli_strdup("");

    for (size_t i = 0; i < reading->cargo->file_count; i++) {
        char *const longer = sx_cli_printf("%s%s%s/%s", text, i > 0 ? ":" : "", folder,
                                           reading->cargo->files[i].name);

        free(text);
        text = longer;
    }
    return text;
}

/* The program from word @at on, behind the shell that checks the image. */
static void program_add(const struct sx_wrap_reading *reading, struct sx_wrap_list *out,
                        const char *folder, const char *wdir)
{
    char *const preload = preload_in(reading, folder);

    sx_wrap_list_add(out, "sh");
    sx_wrap_list_add(out, "-c");
    sx_wrap_list_add(out, "%s", CHECK);
    sx_wrap_list_add(out, "shmix-wrap");
    sx_wrap_list_add(out, "%s", reading->cargo->check ? reading->cargo->glibc : "");
    sx_wrap_list_take(out, preload);
    sx_wrap_list_add(out, "%s", wdir);
    sx_wrap_list_copy(out, reading->words + reading->program, reading->count - reading->program);
}

/* ---- podman, docker -------------------------------------------------------------------------- */

static void volume_add(struct sx_wrap_list *out, const char *folder)
{
    sx_wrap_list_add(out, "--volume");
    sx_wrap_list_add(out, "%s:%s", folder, folder);
}

/* Namespaces of the host, unless the user has chosen others. */
static bool namespaces_add(struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    const char *const network = sx_wrap_option_value(reading, "--network --net");

    if (network != NULL && strcmp(network, "host") != 0 && has_abstract_socket(reading)) {
        return sx_wrap_refuse(reading,
                              "in the network '%.80s' a rank does not find its server, whose "
                              "socket belongs to the host's network: leave the option out, or "
                              "set SHMIX_RENDEZVOUS=directory for the launcher",
                              network);
    }
    if (network == NULL) {
        sx_wrap_list_add(out, "--network");
        sx_wrap_list_add(out, "host");
    }
    if (sx_wrap_option_value(reading, "--ipc --shm-size") == NULL) {
        sx_wrap_list_add(out, "--ipc");
        sx_wrap_list_add(out, "host");
    }
    if (sx_wrap_option_value(reading, "--pid") == NULL) {
        sx_wrap_list_add(out, "--pid");
        sx_wrap_list_add(out, "host");
    }
    return true;
}

static void environment_add(const struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    for (char *const *entry = reading->cargo->env; *entry != NULL; entry++) {
        if (is_for_ranks(*entry)) {
            sx_wrap_list_add(out, "--env");
            sx_wrap_list_add(out, "%.*s", (int)strcspn(*entry, "="),
                             *entry); /* the tool has the value */
        }
    }
}

/* podman --rootfs FOLDER[:OPTION]: the image is a folder. */
static void rootfs_note(struct sx_wrap_reading *reading)
{
    if (sx_wrap_option_value(reading, "--rootfs") != NULL && reading->image < reading->count) {
        reading->root = reading->words[reading->image];
    }
}

static bool compose_podman(struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    char *preload;

    if (reading->image == reading->count) {
        return sx_wrap_refuse(reading, "'%s' names no image", reading->tool->name);
    }
    if (sx_wrap_option_value(reading, "--entrypoint") != NULL) {
        reading->checkable = false;
    }
    rootfs_note(reading);
    sx_wrap_list_copy(out, reading->words, reading->options);
    for (size_t i = 0; i < reading->cargo->file_count; i++) {
        sx_wrap_list_add(out, "--volume");
        sx_wrap_list_add(out, "%s:" CONTAINER_FOLDER "/%s:ro", reading->cargo->files[i].path,
                         reading->cargo->files[i].name);
    }
    if (is_rank(reading)) {
        folders_add(reading, out, volume_add);
        if (!namespaces_add(reading, out)) {
            return false;
        }
        environment_add(reading, out);
    }
    if (!reading->checkable) {
        preload = preload_in(reading, CONTAINER_FOLDER);
        sx_wrap_list_add(out, "--env");
        sx_wrap_list_add(out, "LD_PRELOAD=%s", preload);
        free(preload);
    }
    sx_wrap_list_copy(out, reading->words + reading->options, reading->program - reading->options);
    if (reading->checkable) {
        program_add(reading, out, CONTAINER_FOLDER, ".");
    } else {
        sx_wrap_list_copy(out, reading->words + reading->program,
                          reading->count - reading->program);
    }
    return true;
}

/* ---- apptainer, singularity ------------------------------------------------------------------ */

static void bind_add(struct sx_wrap_list *out, const char *folder)
{
    sx_wrap_list_add(out, "--bind");
    sx_wrap_list_add(out, "%s", folder);
}

/* Apptainer passes the environment on, and mounts /tmp and /dev, unless an option forbids it. */
static void apptainer_rank_add(struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    const bool apart = sx_wrap_option_value(reading, "--containall -C --compat --contain -c") !=
                       NULL;
    const bool clean = sx_wrap_option_value(reading, "--containall -C --compat --cleanenv -e") !=
                       NULL;
    char *const folder = socket_folder(reading);
    const char *const tmpdir = tmpdir_of(reading);

    if (apart || !is_inside(tmpdir, "/tmp")) {
        bind_add(out, tmpdir);
    }
    if (folder != NULL && !is_inside(folder, tmpdir) && (apart || !is_inside(folder, "/tmp"))) {
        bind_add(out, folder);
    }
    free(folder);
    if (apart) {
        bind_add(out, "/dev/shm");
    }
    for (char *const *entry = reading->cargo->env; clean && *entry != NULL; entry++) {
        if (is_for_ranks(*entry)) {
            sx_wrap_list_add(&reading->settings, "%s%s", reading->tool->prefix, *entry);
        }
    }
}

static bool compose_apptainer(struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    struct stat st;
    char *preload;

    if (reading->image == reading->count) {
        return sx_wrap_refuse(reading, "'%s' names no image", reading->tool->name);
    }
    if (stat(reading->words[reading->image], &st) == 0 && S_ISDIR(st.st_mode)) {
        reading->root = reading->words[reading->image];
    }
    sx_wrap_list_copy(out, reading->words, reading->options);
    for (size_t i = 0; i < reading->cargo->file_count; i++) {
        sx_wrap_list_add(out, "--bind");
        sx_wrap_list_add(out, "%s:" CONTAINER_FOLDER "/%s:ro", reading->cargo->files[i].path,
                         reading->cargo->files[i].name);
    }
    if (is_rank(reading)) {
        apptainer_rank_add(reading, out);
    }
    sx_wrap_list_copy(out, reading->words + reading->options, reading->program - reading->options);
    if (reading->checkable) {
        program_add(reading, out, CONTAINER_FOLDER, ".");
        return true;
    }
    preload = preload_in(reading, CONTAINER_FOLDER);
    sx_wrap_list_add(&reading->settings, "%sLD_PRELOAD=%s", reading->tool->prefix, preload);
    free(preload);
    sx_wrap_list_copy(out, reading->words + reading->program, reading->count - reading->program);
    return true;
}

/* ---- chroot, unshare --root ------------------------------------------------------------------ */

static void pair_add(struct sx_wrap_list *out, const char *folder)
{
    sx_wrap_list_add(out, "%s", folder);
    sx_wrap_list_add(out, "%s", folder);
}

/* The shell that mounts files into @root.  The command that enters it follows. */
static void mounts_add(const struct sx_wrap_reading *reading, struct sx_wrap_list *out,
                       const char *root)
{
    sx_wrap_list_add(out, "sh");
    sx_wrap_list_add(out, "-c");
    sx_wrap_list_add(out, "%s", MOUNT);
    sx_wrap_list_add(out, "shmix-wrap");
    sx_wrap_list_add(out, "%s", root);
    for (size_t i = 0; i < reading->cargo->file_count; i++) {
        sx_wrap_list_add(out, "%s", reading->cargo->files[i].path);
        sx_wrap_list_add(out, ROOT_FOLDER "/%s", reading->cargo->files[i].name);
    }
    pair_add(out, "/dev/shm");
    if (is_rank(reading)) {
        folders_add(reading, out, pair_add);
    }
    sx_wrap_list_add(out, "--");
}

static bool compose_chroot(struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    if (reading->program == reading->count) {
        return sx_wrap_refuse(reading, "'chroot' wants a directory and a program");
    }
    reading->root = reading->words[reading->image];
    sx_wrap_list_add(out, "unshare");
    sx_wrap_list_add(out, "--mount");
    mounts_add(reading, out, reading->root);
    sx_wrap_list_copy(out, reading->words, reading->program);
    program_add(reading, out, ROOT_FOLDER, "/");
    return true;
}

/* Its options, but those of root and working directory, which chroot and the shell serve. */
static void unshare_options_add(const struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    for (size_t i = 1; i < reading->image;) {
        const char *const word = reading->words[i];
        const size_t size = sx_wrap_option_words(reading->tool, word);
        const bool is_long = word[1] == '-';
        const size_t len = is_long ? strcspn(word, "=") : 2;

        if (strcmp(word, "--") != 0 && !sx_wrap_is_among("--root -R --wd -w", word, len)) {
            sx_wrap_list_copy(out, reading->words + i,
                              size < reading->image - i ? size : reading->image - i);
        }
        i += strcmp(word, "--") == 0 ? 1 : size;
    }
}

static bool compose_unshare(struct sx_wrap_reading *reading, struct sx_wrap_list *out)
{
    const char *const wdir = sx_wrap_option_value(reading, "--wd -w");

    reading->root = sx_wrap_option_value(reading, "--root -R");
    if (reading->root == NULL || reading->root[0] == '\0') {
        return sx_wrap_refuse(reading,
                              "without --root=DIRECTORY the program of 'unshare' has the files "
                              "of this host: it needs no wrap");
    }
    reading->program = reading->image; /* the root directory is an option */
    if (reading->program == reading->count) {
        return sx_wrap_refuse(reading, "'unshare' wants a program");
    }
    sx_wrap_list_copy(out, reading->words, 1);
    unshare_options_add(reading, out);
    sx_wrap_list_add(out, "--mount");
    mounts_add(reading, out, reading->root);
    sx_wrap_list_add(out, "chroot");
    sx_wrap_list_add(out, "%s", reading->root);
    program_add(reading, out, ROOT_FOLDER, wdir != NULL ? wdir : "/");
    return true;
}

/* ---- the tools ------------------------------------------------------------------------------- */

#define APPTAINER_FLAGS                                                                         \
    "-d --debug --nocolor -q --quiet -s --silent -v --verbose --build-config "                  \
    "--allow-setuid -e --cleanenv --compat -c --contain -C --containall --disable-cache "       \
    "--docker-login -f --fakeroot -i --ipc --keep-privs -n --net --no-compat --no-eval "        \
    "--no-home --no-https --nohttps --no-init --no-pid --no-privs --no-tmp-sandbox --no-umask " \
    "--nv --nvccli --oci --no-oci --oom-kill-disable --passphrase -p --pid --rocm --sharens "   \
    "--underlay --unsquash -u --userns --uts --vm -w --writable --writable-tmpfs"

#define PODMAN_FLAGS                                                                         \
    "-D --debug --noout -r --remote --syslog --tls --tlsverify --transient-store "           \
    "-d --detach --disable-content-trust --env-host --http-proxy --init -i --interactive "   \
    "--no-healthcheck --no-hostname --no-hosts --oom-kill-disable --passwd --privileged -P " \
    "--publish-all -q --quiet --read-only --read-only-tmpfs --replace --rm --rmi --rootfs "  \
    "--sig-proxy --tls-verify -t --tty --unsetenv-all"

#define UNSHARE_FLAGS                                                                           \
    "-m --mount -u --uts -i --ipc -n --net -p --pid -U --user -C --cgroup -T --time -f --fork " \
    "-r --map-root-user -c --map-current-user --map-auto --kill-child --mount-proc "            \
    "--keep-caps"

static const struct sx_wrap_tool tools[] = {
    { "apptainer", "exec run", "run", APPTAINER_FLAGS, "APPTAINERENV_", compose_apptainer },
    { "chroot", NULL, NULL, "--skip-chdir", NULL, compose_chroot },
    { "docker", "run", NULL, PODMAN_FLAGS, NULL, compose_podman },
    { "podman", "run", NULL, PODMAN_FLAGS, NULL, compose_podman },
    { "singularity", "exec run", "run", APPTAINER_FLAGS, "SINGULARITYENV_", compose_apptainer },
    { "unshare", NULL, NULL, UNSHARE_FLAGS, NULL, compose_unshare },
};

static const struct sx_wrap_tool *tool_find(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < SX_COUNT(tools); i++) {
        if (strcmp(name, tools[i].name) == 0) {
            return &tools[i];
        }
    }
    return NULL;
}

/* Tools cut their options at these characters. */
static bool paths_are_fit(struct sx_wrap_reading *reading)
{
    for (size_t i = 0; i < reading->cargo->file_count; i++) {
        if (strpbrk(reading->cargo->files[i].path, ":,") != NULL) {
            return sx_wrap_refuse(reading,
                                  "'%.200s' has a colon or a comma, which '%s' takes for the end "
                                  "of a path: install shmix elsewhere",
                                  reading->cargo->files[i].path, reading->tool->name);
        }
    }
    return true;
}

bool sx_wrap_command_init(struct sx_wrap_command *command, const struct sx_wrap_cargo *cargo,
                          char *const *words, char message[SX_WRAP_MESSAGE_MAX])
{
    struct sx_wrap_reading reading = {
        .tool = tool_find(words[0]), .cargo = cargo, .words = words, .message = message
    };
    struct sx_wrap_list out = { .words = NULL };
    bool good;

    while (words[reading.count] != NULL) {
        reading.count++;
    }
    if (reading.tool == NULL) {
        *command = (struct sx_wrap_command){ .words = NULL };
        return sx_wrap_refuse(&reading,
                              "'%.200s' is not a tool that wrap knows: apptainer, chroot, docker, "
                              "podman, singularity, unshare",
                              words[0]);
    }
    good = paths_are_fit(&reading) && sx_wrap_words_read(&reading) &&
           reading.tool->compose(&reading, &out);
    *command = (struct sx_wrap_command){ .words = out.words,
                                         .settings = reading.settings.words,
                                         .root = reading.root };
    return good;
}

void sx_wrap_command_deinit(struct sx_wrap_command *command)
{
    sx_wrap_words_free(command->words);
    sx_wrap_words_free(command->settings);
    *command = (struct sx_wrap_command){ .words = NULL };
}

/* ---- for a shell ----------------------------------------------------------------------------- */

static void word_quote(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,@%+";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        fputs(*word == '\'' ? "'\\''" : (const char[]){ *word, '\0' }, out);
    }
    fputc('\'', out);
}

char *sx_wrap_command_quote(const struct sx_wrap_command *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL) {
        sx_cli_no_memory();
    }
    for (size_t i = 0; command->settings != NULL && command->settings[i] != NULL; i++) {
        fputs(i == 0 ? "env " : "", out);
        word_quote(out, command->settings[i]);
        fputc(' ', out);
    }
    for (size_t i = 0; command->words[i] != NULL; i++) {
        fputs(i > 0 ? " " : "", out);
        word_quote(out, command->words[i]);
    }
    if (fclose(out) != 0) {
        sx_cli_no_memory();
    }
    return text;
}
