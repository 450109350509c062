/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact_file.c - a name is taken by link(2), which never replaces a file; root alone exchanges
 * another user's file. */
#include "control/contact_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/status.h"
#include "base/system/process.h"
#include "control/contact_scan.h"

#define TRIES_MAX 16
#define SIDE_NAME "pmix.new." /* and the process that has it, and a random number */
#define SIDE_NAME_MAX 64

/* ---- what killed servers left -------------------------------------------------------------- */

static bool is_same(int dir_fd, const char *name, const struct stat *judged)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == judged->st_dev &&
           st.st_ino == judged->st_ino;
}

static void side_name(char ret[SIDE_NAME_MAX])
{
    unsigned random = 0;

    (void)!getrandom(&random, sizeof(random), 0); /* a taken random name is tried again */
    snprintf(ret, SIDE_NAME_MAX, SIDE_NAME "%d.%08x", (int)getpid(), random);
}

/* Remove @name if it is what has been judged.  Another process may have put another file in its
 * place meanwhile: that file is put back.  Return: whether the name may be free. */
static bool remove_judged(int dir_fd, const char *name, const struct stat *judged)
{
    char aside[SIDE_NAME_MAX];

    side_name(aside);
    if (renameat(dir_fd, name, dir_fd, aside) != 0) {
        return errno == ENOENT;
    }
    if (!is_same(dir_fd, aside, judged)) {
        (void)!linkat(dir_fd, aside, dir_fd, name, 0); /* else a third file has appeared */
    }
    unlinkat(dir_fd, aside, 0);
    return true;
}

/* Remove @name if its server has ended.  Return: PMIX_SUCCESS when the name may be free;
 * PMIX_ERR_EXISTS when the server lives, *ret is its contact; as sx_contact_read. */
static pmix_status_t remove_if_stale(int dir_fd, const char *name, struct sx_contact *ret,
                                     const char **ret_why)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return PMIX_SUCCESS; /* its server has removed it: there is no contact to judge */
    }
    const pmix_status_t rc = sx_contact_read(dir_fd, name, ret, ret_why);

    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    }
    *ret_why = "is of a server that runs";
    if (!sx_contact_is_stale(ret)) {
        return PMIX_ERR_EXISTS;
    }
    *ret_why = "is of a server that has ended, and cannot be removed";
    return remove_judged(dir_fd, name, &st) ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS;
}

/* Remove a file that a killed server was about to publish or remove. */
static void remove_side(int dir_fd, const char *name)
{
    unsigned random;
    int pid, end = 0;
    struct stat st;

    if (sscanf(name, SIDE_NAME "%d.%8x%n", &pid, &random, &end) == 2 && name[end] == '\0' &&
        pid > 0 && sx_process_has_ended(pid) &&
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid()) {
        unlinkat(dir_fd, name, 0);
    }
}

/* Files of other users are skipped. */
static void sweep_one(void *arg, int dir_fd, const char *name)
{
    struct sx_contact contact;
    const char *why;
    struct stat st;

    (void)arg;
    if (strncmp(name, SIDE_NAME, strlen(SIDE_NAME)) == 0) {
        remove_side(dir_fd, name);
    } else if (strncmp(name, "pmix.", 5) == 0 &&
               fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
               st.st_uid == geteuid() &&
               remove_if_stale(dir_fd, name, &contact, &why) == PMIX_SUCCESS) {
        sx_log(SX_LOG_INFO, "removed '%s', left by a server that was killed", name);
    }
}

void sx_contact_sweep(const char *dir)
{
    const int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        sx_contact_names_each(fd, sweep_one, NULL);
        close(fd);
    }
}

void sx_contact_remove_stale(const char *dir, const char *name)
{
    const int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sx_contact contact;
    const char *why;

    if (fd >= 0) {
        (void)remove_if_stale(fd, name, &contact, &why);
        close(fd);
    }
}

/* ---- what other users have put in root's way ------------------------------------------------- */

/* Whether the calling root does not own @name. */
static bool is_in_roots_way(int dir_fd, const char *name, uid_t *ret_owner)
{
    struct stat st;

    if (geteuid() != 0 || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
    }
    *ret_owner = st.st_uid;
    return st.st_uid != 0;
}

/* A folder, too, when it is empty. */
static bool remove_any(int dir_fd, const char *name)
{
    return unlinkat(dir_fd, name, 0) == 0 || unlinkat(dir_fd, name, AT_REMOVEDIR) == 0;
}

/* Exchange the own file @aside and any other file at its name in one step: no process can put
 * another file there meanwhile.  Return: 0 or an errno value. */
static int name_seize(const struct sx_contact_file *file, const char *aside)
{
    uid_t owner;

    if (renameat2(file->dir_fd, aside, file->dir_fd, file->name, RENAME_EXCHANGE) != 0) {
        if (errno != EINVAL) {
            return errno;
        }
        /* The file system cannot: the name is free for a moment. */
        return remove_any(file->dir_fd, file->name) ? EAGAIN : errno;
    }
    if (!is_in_roots_way(file->dir_fd, aside, &owner)) { /* another server of root has it by now */
        return renameat2(file->dir_fd, aside, file->dir_fd, file->name, RENAME_EXCHANGE) != 0
                   ? errno
                   : EAGAIN;
    }
    const bool is_gone = remove_any(file->dir_fd, aside);

    sx_log(SX_LOG_WARN, "what user %u had put in the way of the contact file '%s' is %s%s",
           (unsigned)owner, file->name, is_gone ? "removed" : "called ", is_gone ? "" : aside);
    return 0;
}

/* ---- our own ------------------------------------------------------------------------------- */

static void file_forget(struct sx_contact_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
    }
    if (file->dir_fd >= 0) {
        close(file->dir_fd);
    }
    *file = SX_CONTACT_FILE_NULL;
}

/* Return: 0 or an errno value; then nothing is there. */
static int write_aside(struct sx_contact_file *file, const char *aside, mode_t mode,
                       const struct sx_contact *contact)
{
    char text[SX_CONTACT_BYTES_MAX];
    const size_t size = sx_contact_print(contact, text, sizeof(text));

    file->fd = openat(file->dir_fd, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600);
    if (file->fd < 0) {
        return errno;
    }
    errno = ENOSPC; /* for a short write, which sets no errno */
    if (size > 0 && write(file->fd, text, size) == (ssize_t)size && fchmod(file->fd, mode) == 0) {
        return 0;
    }
    const int err = errno;

    unlinkat(file->dir_fd, aside, 0);
    return err;
}

/* Give the file @aside its name, as soon as the name is free. */
static pmix_status_t name_take(struct sx_contact_file *file, const char *aside, bool is_foreseen,
                               struct sx_contact *other, const char **ret_why)
{
    pmix_status_t rc = PMIX_SUCCESS;
    uid_t owner;

    for (int i = 0; i < TRIES_MAX && rc == PMIX_SUCCESS; i++) {
        int err = linkat(file->dir_fd, aside, file->dir_fd, file->name, 0) == 0 ? 0 : errno;

        if (err == EEXIST && is_foreseen && is_in_roots_way(file->dir_fd, file->name, &owner)) {
            err = name_seize(file, aside);
        }
        if (err == 0) {
            return PMIX_SUCCESS;
        }
        if (err == EAGAIN || err == ENOENT) {
            continue; /* it has changed meanwhile */
        }
        if (err != EEXIST) {
            *ret_why = strerror(err);
            return sx_status_from_errno(err);
        }
        rc = remove_if_stale(file->dir_fd, file->name, other, ret_why);
    }
    return rc != PMIX_SUCCESS ? rc : PMIX_ERR_EXISTS; /* other servers are always quicker */
}

pmix_status_t sx_contact_file_open(struct sx_contact_file *file,
                                   const struct sx_contact_place *place,
                                   const struct sx_contact *contact, struct sx_contact *ret_other,
                                   const char **ret_why)
{
    const char *const name = place->name;
    char aside[SIDE_NAME_MAX];
    struct sx_contact other = { .pid = 0 };

    *file = SX_CONTACT_FILE_NULL;
    *ret_why = "cannot be the name of a file";
    if (name[0] == '\0' || strchr(name, '/') != NULL || strlen(name) > NAME_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    snprintf(file->name, sizeof(file->name), "%s", name);
    file->creator_pid = getpid();
    file->dir_fd = open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    side_name(aside);
    const int err = file->dir_fd < 0 ? errno : write_aside(file, aside, place->mode, contact);
    pmix_status_t rc = sx_status_from_errno(err);

    *ret_why = strerror(err);
    if (err == 0) {
        rc = name_take(file, aside, place->is_foreseen, &other, ret_why);
        unlinkat(file->dir_fd, aside, 0);
    }
    if (rc != PMIX_SUCCESS) {
        file_forget(file);
        if (ret_other != NULL) {
            *ret_other = other;
        }
    }
    return rc;
}

void sx_contact_file_close(struct sx_contact_file *file)
{
    struct stat st;

    if (file->creator_pid == getpid() && file->fd >= 0 && fstat(file->fd, &st) == 0 &&
        is_same(file->dir_fd, file->name, &st)) {
        (void)remove_judged(file->dir_fd, file->name, &st);
    }
    file_forget(file);
}
