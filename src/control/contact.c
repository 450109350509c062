/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact.c - the text of a contact file, both ways. */
#include "control/contact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/status.h"
#include "base/system/process.h"
#include "base/util.h"
#include "control/rendezvous.h"

#define FORMAT "shmix 1"

static const struct {
    const char *text, *prefix;
} roles[SX_CONTACT_ROLES] = {
    [SX_CONTACT_ROLE_SYSTEM] = { "the system server", "pmix.sys." },
    [SX_CONTACT_ROLE_SCHEDULER] = { "the scheduler's server", "pmix.sched." },
    [SX_CONTACT_ROLE_CONTROLLER] = { "the system controller's server", "pmix.sysctrlr." },
};

const char *sx_contact_role_text(enum sx_contact_role role)
{
    return roles[role].text;
}

void sx_contact_role_name(char ret[SX_CONTACT_NAME_MAX], enum sx_contact_role role,
                          const char *host)
{
    snprintf(ret, SX_CONTACT_NAME_MAX, "%s%s", roles[role].prefix, host);
}

void sx_contact_system_name(char ret[SX_CONTACT_NAME_MAX], const char *host)
{
    sx_contact_role_name(ret, SX_CONTACT_ROLE_SYSTEM, host);
}

void sx_contact_tool_name(char ret[SX_CONTACT_NAME_MAX], const char *host, const char *of)
{
    snprintf(ret, SX_CONTACT_NAME_MAX, "pmix.%s.tool%s%s", host, of != NULL ? "." : "",
             of != NULL ? of : "");
}

const char *sx_contact_address(const char *uri, pmix_proc_t *ret)
{
    const char *const name_end = strrchr(uri, ';');
    const char *const address = name_end != NULL ? name_end + 1 : uri;
    pmix_proc_t server = { .rank = PMIX_RANK_UNDEF };

    if (strncmp(address, SX_RENDEZVOUS_SCHEME, strlen(SX_RENDEZVOUS_SCHEME)) != 0) {
        return NULL;
    }
    if (ret != NULL && name_end != NULL) {
        const char *const dot = memrchr(uri, '.', (size_t)(name_end - uri));

        if (dot != NULL && dot != uri && (size_t)(dot - uri) < sizeof(server.nspace)) {
            memcpy(server.nspace, uri, (size_t)(dot - uri));
            server.rank = (pmix_rank_t)strtoul(dot + 1, NULL, 10);
        }
    }
    if (ret != NULL) {
        *ret = server;
    }
    return address;
}

size_t sx_contact_print(const struct sx_contact *contact, char *ret, size_t size)
{
    const int n = snprintf(ret, size, "%s\n" FORMAT "\n%d\n%u:%u\n", contact->uri,
                           (int)contact->pid, (unsigned)contact->uid, (unsigned)contact->gid);

    return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Check the file behind @fd.  Return: NULL when it is trusted, else the reason. */
static const char *file_fault(const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) {
        return "is no regular file";
    }
    if (st->st_uid != 0 && st->st_uid != geteuid()) {
        return "belongs to another user, who is not root: it is not believed";
    }
    if ((st->st_mode & 022) != 0) {
        return "can be written by other users: it is not believed";
    }
    return NULL;
}

/* All of the file, and a NUL.  Return: its bytes, 0 for a file that is empty or too large. */
static size_t read_all(int fd, char text[SX_CONTACT_BYTES_MAX + 1])
{
    size_t used = 0;
    ssize_t n;

    do {
        n = read(fd, text + used, SX_CONTACT_BYTES_MAX + 1 - used);
        used += n > 0 ? (size_t)n : 0;
    } while (used <= SX_CONTACT_BYTES_MAX && (n > 0 || (n < 0 && errno == EINTR)));
    if (n < 0 || used > SX_CONTACT_BYTES_MAX) {
        return 0;
    }
    text[used] = '\0';
    return used;
}

static pmix_status_t text_parse(char *text, size_t size, struct sx_contact *ret,
                                const char **ret_why)
{
    char *const line_end = memchr(text, '\n', size);
    int pid, end = 0;

    *ret_why = "is no contact file of a server";
    if (line_end == NULL || strlen(text) != size || line_end - text >= SX_CONTACT_URI_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    *line_end = '\0';
    *ret = (struct sx_contact){ .pid = 0 };
    if (sx_contact_address(text, &ret->server) == NULL) {
        const bool is_other = strstr(text, ";tcp") != NULL;

        *ret_why = is_other ? "is of a server of another PMIx library, which this one cannot talk "
                              "to: the tool and the server need the same library"
                            : *ret_why;
        return is_other ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
    }
    memcpy(ret->uri, text, (size_t)(line_end - text));
    if (sscanf(line_end + 1, FORMAT "\n%d\n%u:%u\n%n", &pid, &ret->uid, &ret->gid, &end) != 3 ||
        line_end[1 + end] != '\0' || end == 0 || pid <= 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    ret->pid = pid;
    return PMIX_SUCCESS;
}

pmix_status_t sx_contact_read(int dir_fd, const char *name, struct sx_contact *ret,
                              const char **ret_why)
{
    char text[SX_CONTACT_BYTES_MAX + 1];
    struct stat st;
    /* A FIFO must not block, a terminal not become ours. */
    const int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0) {
        *ret_why = errno == ENOENT   ? "is not there"
                   : errno == ELOOP  ? "is a link, which is not followed"
                   : errno == EACCES ? "may not be read by this user"
                                     : "cannot be opened";
        return errno == ENOENT ? PMIX_ERR_NOT_FOUND : PMIX_ERR_NO_PERMISSIONS;
    }
    const char *const fault = fstat(fd, &st) != 0 ? "cannot be looked at" : file_fault(&st);
    const size_t size = fault == NULL ? read_all(fd, text) : 0;

    close(fd);
    if (fault != NULL) {
        *ret_why = fault;
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (size == 0) {
        *ret_why = "is empty, or too large for a contact file";
        return PMIX_ERR_BAD_PARAM;
    }
    return text_parse(text, size, ret, ret_why);
}

bool sx_contact_is_stale(const struct sx_contact *contact)
{
    return sx_rendezvous_is_deserted(sx_contact_address(contact->uri, NULL), contact->pid);
}

/* ---- contact scan ---------------------------------------------------------------------------- */

/* Directories, and the names in them. */

const char *sx_contact_dir(const char *given, const char *name)
{
    const char *const all[] = { given, getenv(name), getenv("TMPDIR"), "/tmp" };
    size_t i = 0;

    while (all[i] == NULL || all[i][0] == '\0') {
        i++;
    }
    return all[i];
}

struct dirs {
    char prefix[32];
    void (*look)(void *arg, int dir_fd);
    void *arg;
};

static void launcher_look(void *arg, int dir_fd, const char *name)
{
    const struct dirs *const dirs = arg;
    const int fd = strncmp(name, dirs->prefix, strlen(dirs->prefix)) == 0
                       ? openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                       : -1;

    if (fd >= 0) {
        dirs->look(dirs->arg, fd);
        close(fd);
    }
}

int sx_contact_dirs_each(const char *path, void (*look)(void *arg, int dir_fd), void *arg)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct dirs dirs = { .look = look, .arg = arg };

    if (fd < 0) {
        return errno;
    }
    snprintf(dirs.prefix, sizeof(dirs.prefix), "shmix-%u-", (unsigned)geteuid());
    look(arg, fd);
    sx_contact_names_each(fd, launcher_look, &dirs);
    close(fd);
    return 0;
}

void sx_contact_names_each(int dir_fd, void (*look)(void *arg, int dir_fd, const char *name),
                           void *arg)
{
    const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* an own offset */
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    for (int i = 0; dir != NULL && i < SX_CONTACT_SCAN_MAX && (entry = readdir(dir)) != NULL; i++) {
        look(arg, dir_fd, entry->d_name);
    }
    if (dir != NULL) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}

/* ---- contact file ---------------------------------------------------------------------------- */

/* A name is taken by link(2), which never replaces a file; root alone exchanges another user's
 * file. */

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
