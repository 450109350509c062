/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* command_test.c - the command that starts a program in an image with this library, by tool. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "cli/wrap/wrap.h"

#define WORDS_MAX 64

TestSuite(wrap_command, .timeout = 60);

static char *const no_rank[] = { "HOME=/root", NULL };
static char *const rank[] = { "PMIX_NAMESPACE=job",
                              "HOME=/root",
                              "PMIX_RANK=0",
                              "SHMIX_SERVER_URI=unix:@shmix-0-1-2-x",
                              "OMPI_MCA_btl=self,tcp",
                              "TMPDIR=/scratch/tmp",
                              NULL };
static char *const rank_of_directory[] = { "PMIX_NAMESPACE=job",
                                           "SHMIX_SERVER_URI=unix:/run/shmix-0-1/s", NULL };

/* The cargo has one file and a dependency of it. */
static struct sx_wrap_cargo cargo_of(char *const *env, bool check)
{
    return (struct sx_wrap_cargo){ .files = { { "/opt/lib/libpmix.so.2.0", "libpmix.so.2" },
                                              { "/lib/libx.so.1", "libx.so.1" } },
                                   .file_count = 2,
                                   .glibc = "2.34",
                                   .env = env,
                                   .check = check };
}

/* Cut @text, which is changed, at its blanks. */
static void cut(char *text, char *words[WORDS_MAX])
{
    size_t count = 0;

    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        cr_assert_lt(count, WORDS_MAX - 1);
        words[count++] = word;
    }
    words[count] = NULL;
}

/* Words with blanks between; a script is SCRIPT, and no word ''. */
static void join(char *const *words, char *ret, size_t size)
{
    size_t used = strlen(ret);

    for (; words != NULL && *words != NULL; words++) {
        used += (size_t)snprintf(ret + used, size - used, "%s%s", used > 0 ? " " : "",
                                 strchr(*words, '\n') != NULL ? "SCRIPT"
                                 : **words == '\0'            ? "''"
                                                              : *words);
        cr_assert_lt(used, size);
    }
}

static bool made(const char *from, char *const *env, bool check, char *ret, size_t size,
                 char message[SX_WRAP_MESSAGE_MAX])
{
    const struct sx_wrap_cargo cargo = cargo_of(env, check);
    struct sx_wrap_command command;
    char text[1024], *words[WORDS_MAX];
    bool good;

    snprintf(text, sizeof(text), "%s", from);
    cut(text, words);
    ret[0] = '\0';
    good = sx_wrap_command_init(&command, &cargo, words, message);
    if (good) {
        join(command.settings, ret, size);
        join(command.words, ret, size);
    }
    sx_wrap_command_deinit(&command);
    return good;
}

/* What every container gets. */
#define VOLUMES                                                 \
    "--volume /opt/lib/libpmix.so.2.0:/.shmix/libpmix.so.2:ro " \
    "--volume /lib/libx.so.1:/.shmix/libx.so.1:ro"
#define BINDS                                                 \
    "--bind /opt/lib/libpmix.so.2.0:/.shmix/libpmix.so.2:ro " \
    "--bind /lib/libx.so.1:/.shmix/libx.so.1:ro"
#define PRELOAD "/.shmix/libpmix.so.2:/.shmix/libx.so.1"
#define CHECKED "sh -c SCRIPT shmix-wrap 2.34 " PRELOAD " ."
#define NAMESPACES "--network host --ipc host --pid host"
#define VARIABLES                                                                     \
    "--env PMIX_NAMESPACE --env PMIX_RANK --env SHMIX_SERVER_URI --env OMPI_MCA_btl " \
    "--env TMPDIR"
#define MOUNTS                                                                 \
    "/opt/lib/libpmix.so.2.0 /mnt/libpmix.so.2 /lib/libx.so.1 /mnt/libx.so.1 " \
    "/dev/shm /dev/shm"
#define ROOT_PRELOAD "/mnt/libpmix.so.2:/mnt/libx.so.1"

Test(wrap_command, each_tool_gets_its_own_options)
{
    static const struct {
        const char *from;
        char *const *env;
        bool check;
        const char *want;
    } rows[] = {
        /* podman and docker */
        { "podman run img prog a", no_rank, true, "podman run " VOLUMES " img " CHECKED " prog a" },
        { "podman run --rm -it -e A=1 --name n img prog", rank, true,
          "podman run " VOLUMES " --volume /scratch/tmp:/scratch/tmp " NAMESPACES " " VARIABLES
          " --rm -it -e A=1 --name n img " CHECKED " prog" },
        { "podman run img prog", rank_of_directory, true,
          "podman run " VOLUMES
          " --volume /tmp:/tmp --volume /run/shmix-0-1:/run/shmix-0-1 " NAMESPACES
          " --env PMIX_NAMESPACE --env SHMIX_SERVER_URI img " CHECKED " prog" },
        { "docker run --network=host --shm-size 1g --pid=private img prog", rank, true,
          "docker run " VOLUMES " --volume /scratch/tmp:/scratch/tmp " VARIABLES
          " --network=host --shm-size 1g --pid=private img " CHECKED " prog" },
        { "podman run --net none img prog", rank_of_directory, true,
          "podman run " VOLUMES " --volume /tmp:/tmp --volume /run/shmix-0-1:/run/shmix-0-1 --ipc "
          "host --pid host --env PMIX_NAMESPACE --env SHMIX_SERVER_URI --net none img " CHECKED
          " prog" },
        { "/usr/bin/podman --log-level debug --storage-driver=vfs run -- img prog -x", no_rank,
          true,
          "/usr/bin/podman --log-level debug --storage-driver=vfs run " VOLUMES " -- img " CHECKED
          " prog -x" },
        { "docker run img", no_rank, true,
          "docker run " VOLUMES " --env LD_PRELOAD=" PRELOAD " img" },
        { "docker run --entrypoint x img a", no_rank, true,
          "docker run " VOLUMES " --env LD_PRELOAD=" PRELOAD " --entrypoint x img a" },
        { "podman run img prog", no_rank, false,
          "podman run " VOLUMES " --env LD_PRELOAD=" PRELOAD " img prog" },
        /* apptainer and singularity */
        { "apptainer exec img.sif prog", no_rank, true,
          "apptainer exec " BINDS " img.sif " CHECKED " prog" },
        { "apptainer -q exec --nv --bind /data img.sif prog -n 1", rank, true,
          "apptainer -q exec " BINDS " --bind /scratch/tmp --nv --bind /data img.sif " CHECKED
          " prog -n 1" },
        { "apptainer exec -C img.sif prog", rank_of_directory, true,
          "APPTAINERENV_PMIX_NAMESPACE=job APPTAINERENV_SHMIX_SERVER_URI=unix:/run/shmix-0-1/s "
          "apptainer exec " BINDS
          " --bind /tmp --bind /run/shmix-0-1 --bind /dev/shm -C img.sif " CHECKED " prog" },
        { "singularity exec --cleanenv img.sif prog", rank_of_directory, true,
          "SINGULARITYENV_PMIX_NAMESPACE=job "
          "SINGULARITYENV_SHMIX_SERVER_URI=unix:/run/shmix-0-1/s singularity exec " BINDS
          " --bind /run/shmix-0-1 --cleanenv img.sif " CHECKED " prog" },
        { "singularity run img.sif a", no_rank, true,
          "SINGULARITYENV_LD_PRELOAD=" PRELOAD " singularity run " BINDS " img.sif a" },
        { "apptainer exec img.sif prog", no_rank, false,
          "APPTAINERENV_LD_PRELOAD=" PRELOAD " apptainer exec " BINDS " img.sif prog" },
        /* chroot and unshare */
        { "chroot --userspec=1:1 /srv prog a", no_rank, true,
          "unshare --mount sh -c SCRIPT shmix-wrap /srv " MOUNTS " -- chroot --userspec=1:1 /srv "
          "sh -c SCRIPT shmix-wrap 2.34 " ROOT_PRELOAD " / prog a" },
        { "chroot --groups 5 /srv prog", rank, false,
          "unshare --mount sh -c SCRIPT shmix-wrap /srv " MOUNTS " /scratch/tmp /scratch/tmp -- "
          "chroot --groups 5 /srv sh -c SCRIPT shmix-wrap '' " ROOT_PRELOAD " / prog" },
        { "unshare -Ur --root=/srv prog", rank_of_directory, true,
          "unshare -Ur --mount sh -c SCRIPT shmix-wrap /srv " MOUNTS " /tmp /tmp /run/shmix-0-1 "
          "/run/shmix-0-1 -- chroot /srv sh -c SCRIPT shmix-wrap 2.34 " ROOT_PRELOAD " / prog" },
        { "unshare --fork -R /srv --wd /home --map-user 7 -- prog", no_rank, true,
          "unshare --fork --map-user 7 --mount sh -c SCRIPT shmix-wrap /srv " MOUNTS
          " -- chroot /srv sh -c SCRIPT shmix-wrap 2.34 " ROOT_PRELOAD " /home prog" },
        { "unshare -R/srv -w/home prog", no_rank, true,
          "unshare --mount sh -c SCRIPT shmix-wrap /srv " MOUNTS
          " -- chroot /srv sh -c SCRIPT shmix-wrap 2.34 " ROOT_PRELOAD " /home prog" },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char got[4096], message[SX_WRAP_MESSAGE_MAX] = "";

        cr_assert(made(rows[i].from, rows[i].env, rows[i].check, got, sizeof(got), message),
                  "%s: %s", rows[i].from, message);
        cr_expect_str_eq(got, rows[i].want, "%s:\n got %s\nwant %s", rows[i].from, got,
                         rows[i].want);
    }
}

Test(wrap_command, what_cannot_be_wrapped_is_refused_with_the_reason)
{
    static const struct {
        const char *from;
        char *const *env;
        const char *want; /* a part of the message */
    } rows[] = {
        { "mpirun prog", no_rank, "apptainer, chroot, docker, podman, singularity, unshare" },
        { "/podman/run img prog", no_rank, "'/podman/run' is not a tool" },
        { "podman build .", no_rank, "'podman build' starts no program in an image" },
        { "podman", no_rank, "with one of: run" },
        { "apptainer shell img", no_rank, "with one of: exec run" },
        { "podman run --rm", no_rank, "names no image" },
        { "apptainer exec", no_rank, "names no image" },
        { "chroot /srv", no_rank, "wants a directory and a program" },
        { "unshare --root /srv", no_rank, "wants a program" },
        { "unshare --mount prog", no_rank, "without --root=DIRECTORY" },
        { "podman run --network none img prog", rank, "set SHMIX_RENDEZVOUS=directory" },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char got[4096], message[SX_WRAP_MESSAGE_MAX] = "";

        cr_expect_not(made(rows[i].from, rows[i].env, true, got, sizeof(got), message), "%s: %s",
                      rows[i].from, got);
        cr_expect_not_null(strstr(message, rows[i].want), "%s: %s", rows[i].from, message);
    }
}

Test(wrap_command, a_path_that_tools_would_cut_is_refused)
{
    struct sx_wrap_cargo cargo = cargo_of(no_rank, true);
    struct sx_wrap_command command;
    char *const words[] = { "podman", "run", "img", "prog", NULL };
    char message[SX_WRAP_MESSAGE_MAX] = "";

    cargo.files[1].path = "/opt/a:b/libx.so.1";
    cr_expect_not(sx_wrap_command_init(&command, &cargo, words, message));
    cr_expect_not_null(strstr(message, "has a colon or a comma"), "%s", message);
    sx_wrap_command_deinit(&command);
}

Test(wrap_command, the_folder_of_an_image_is_found)
{
    static const struct {
        const char *from, *want;
    } rows[] = {
        { "chroot / prog", "/" },
        { "unshare --root=/usr prog", "/usr" },
        { "apptainer exec /usr prog", "/usr" },
        { "apptainer exec /no/such.sif prog", NULL },
        { "podman run --rootfs /usr prog", "/usr" },
        { "podman run usr prog", NULL },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_wrap_cargo cargo = cargo_of(no_rank, true);
        struct sx_wrap_command command;
        char text[256], *words[WORDS_MAX], message[SX_WRAP_MESSAGE_MAX] = "";

        snprintf(text, sizeof(text), "%s", rows[i].from);
        cut(text, words);
        cr_assert(sx_wrap_command_init(&command, &cargo, words, message), "%s", message);
        if (rows[i].want == NULL) {
            cr_expect_null(command.root, "%s: %s", rows[i].from, command.root);
        } else {
            cr_expect_str_eq(command.root, rows[i].want, "%s", rows[i].from);
        }
        sx_wrap_command_deinit(&command);
    }
}

Test(wrap_command, a_shell_reads_the_printed_words_as_they_are)
{
    char *words[] = { "a", "b c", "", "it's", "x\ny", "$HOME", "-v=/a:/b", NULL };
    char *settings[] = { "N=1 2", NULL };
    const struct sx_wrap_command command = { .words = words, .settings = settings };
    char *const text = sx_wrap_command_quote(&command);

    cr_expect_str_eq(text, "env 'N=1 2' a 'b c' '' 'it'\\''s' 'x\ny' '$HOME' -v=/a:/b");
    free(text);
}
