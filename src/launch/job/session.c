/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session.c - the session directory, reached through descriptors once it is made. */
#include "launch/job/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "launch/common/say.h"

#define DEPTH_MAX 128  /* one descriptor for each level */
#define SWEEP_MAX 1024 /* at most so many names of TMPDIR are read */

bool sx_session_init(struct sx_session *session, const char *tmpdir,
                     char message[SX_RUN_MESSAGE_MAX])
{
    const char *wanted = tmpdir == NULL || tmpdir[0] == '\0' ? "/tmp" : tmpdir;
    unsigned random = 0;

    *session = (struct sx_session){ .lock_fd = -1 };
    session->parent = realpath(wanted, NULL);
    if (session->parent == NULL) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "no place for temporary files: '%.330s'%s: %s; set "
                 "TMPDIR to a directory you may write",
                 wanted, wanted == tmpdir ? " (from TMPDIR)" : "", strerror(errno));
        return false;
    }
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
        random = (unsigned)time(NULL); /* early boot; the process id differs for each job too */
    }
    random &= 0xffffffu;
    session->name = sx_cli_printf("shmix-%u-%ld-%06x", (unsigned)geteuid(), (long)getpid(), random);
    session->nspace = sx_cli_printf("shmix-%ld-%06x", (long)getpid(), random);
    session->dir = sx_cli_printf("%s/%s", session->parent, session->name);
    return true;
}

static int open_dir(int parent_fd, const char *name)
{
    return openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Return: the process id of the launcher of @uid whose session has the name; 0: it is not a
 * session.  (A rendezvous has eight digits at its end.) */
static pid_t launcher_of(const char *name, uid_t uid)
{
    unsigned name_uid, random;
    long pid;
    int begin = 0, end = 0;
    const bool is_one = sscanf(name, "shmix-%u-%ld-%n%6x%n", &name_uid, &pid, &begin, &random,
                               &end) == 3 &&
                        end == begin + 6 && name[end] == '\0' && name_uid == uid;

    return is_one && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* Call the session's function for each job whose directory is in the directory @name. */
static void jobs_notify(const struct sx_session *session, int parent_fd, const char *name)
{
    const int fd = session->job_deserted == NULL ? -1 : open_dir(parent_fd, name);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);
    const char *const random = strrchr(name, '-'); /* not NULL: launcher_of has checked the name */
    const struct dirent *entry;

    if (dir == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (int i = 0; i < SWEEP_MAX && (entry = readdir(dir)) != NULL; i++) {
        const char *const dash = strrchr(entry->d_name, '-');

        if (dash != NULL && strncmp(dash, random, strlen(random)) == 0) {
            session->job_deserted(entry->d_name);
        }
    }
    closedir(dir);
}

/* Remove the session if its launcher, in any container, no longer holds its lock. */
static bool remove_if_deserted(void *arg, int parent_fd, const char *name, pid_t launcher)
{
    const int fd = open_dir(parent_fd, name);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        jobs_notify(arg, parent_fd, name);
        sx_session_remove_tree(parent_fd, name, geteuid());
    }
    if (fd >= 0) {
        close(fd);
    }
    (void)launcher;
    return true;
}

/* Call @each for the sessions among the first names of @parent_fd. */
static void sessions_each(int parent_fd,
                          bool (*each)(void *arg, int parent_fd, const char *name, pid_t launcher),
                          void *arg)
{
    const int fd = open_dir(parent_fd, ".");
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    bool goes_on = true;

    if (dir == NULL && fd >= 0) {
        close(fd);
    }
    for (int i = 0; dir != NULL && goes_on && i < SWEEP_MAX && (entry = readdir(dir)) != NULL;
         i++) {
        const pid_t launcher = launcher_of(entry->d_name, geteuid());

        goes_on = launcher == 0 || each(arg, parent_fd, entry->d_name, launcher);
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

/* Make the directory and lock it.  Another launcher may take it for deserted between these two
 * steps, and remove it before it releases the lock.  Then it is made again. */
static bool make_locked(struct sx_session *session, int parent_fd)
{
    struct stat st = { .st_nlink = 0 };

    while (st.st_nlink == 0) {
        if (session->lock_fd >= 0) {
            close(session->lock_fd);
        }
        session->made = mkdirat(parent_fd, session->name, 0700) == 0;
        session->lock_fd = session->made ? open_dir(parent_fd, session->name) : -1;
        if (session->lock_fd >= 0) {
            (void)flock(session->lock_fd, LOCK_EX); /* without locks, no directory is deserted */
            (void)fstat(session->lock_fd, &st);
        } else if (!session->made || errno != ENOENT) {
            return false;
        }
    }
    return true;
}

/* Return: the bits of the umask that take the owner's access away.  Call it before there are
 * threads. */
static mode_t mask_of_owner(void)
{
    const mode_t mask = umask(077);

    (void)umask(mask);
    return mask & 0700;
}

bool sx_session_make(struct sx_session *session, char message[SX_RUN_MESSAGE_MAX])
{
    const mode_t taken = mask_of_owner();

    if (taken != 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "cannot make a directory for this job in '%.330s': "
                 "the umask takes its owner's access away (0%03o); set one that does not, such as "
                 "'umask 077'",
                 session->parent, (unsigned)taken);
        return false;
    }
    const int parent_fd = open(session->parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool made = false;

    if (parent_fd >= 0) {
        sessions_each(parent_fd, remove_if_deserted, session);
        made = make_locked(session, parent_fd);
    }
    const int why = errno;

    if (parent_fd >= 0) {
        close(parent_fd);
    }
    if (!made) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "cannot make a directory for this job in '%.330s': "
                 "%s; set TMPDIR to a directory you may write%s",
                 session->parent, strerror(why), sx_refused_advice(why));
        return false;
    }
    return true;
}

bool sx_session_make_inner(const char *dir, char message[SX_RUN_MESSAGE_MAX])
{
    if (mkdir(dir, 0700) != 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "cannot make the directory '%.330s': %s; set TMPDIR "
                 "to a directory with room",
                 dir, strerror(errno));
        return false;
    }
    return true;
}

const char *sx_session_system_dir(const struct sx_session *session)
{
    const char *const dir = getenv("PMIX_SYSTEM_TMPDIR");

    return dir != NULL && *dir != '\0' ? dir : session->parent;
}

struct others {
    const struct sx_session *session;
    bool (*each)(void *arg, pid_t launcher);
    void *arg;
};

static bool other_take(void *arg, int parent_fd, const char *name, pid_t launcher)
{
    const struct others *const others = arg;

    (void)parent_fd;
    return strcmp(name, others->session->name) == 0 || others->each(others->arg, launcher);
}

void sx_session_each_other(const struct sx_session *session,
                           bool (*each)(void *arg, pid_t launcher), void *arg)
{
    struct others others = { .session = session, .each = each, .arg = arg };
    const int parent_fd = open(session->parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (parent_fd >= 0) {
        sessions_each(parent_fd, other_take, &others);
        close(parent_fd);
    }
}

void sx_session_deinit(struct sx_session *session)
{
    if (session->made) {
        const int parent_fd = open(session->parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (parent_fd >= 0) {
            sx_session_remove_tree(parent_fd, session->name, geteuid());
            close(parent_fd);
        }
        if (session->lock_fd >= 0) {
            close(session->lock_fd);
        }
    }
    free(session->parent);
    free(session->name);
    free(session->dir);
    free(session->nspace);
    *session = (struct sx_session){ 0 };
}

void sx_session_remove_inner(const char *dir)
{
    const char *const slash = strrchr(dir, '/');
    char *const parent = sx_cli_printf("%.*s/", slash == NULL ? 0 : (int)(slash - dir), dir);
    const int parent_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (parent_fd >= 0 && slash != NULL) {
        sx_session_remove_tree(parent_fd, slash + 1, geteuid());
    }
    if (parent_fd >= 0) {
        close(parent_fd);
    }
    free(parent);
}

static bool empty_dir(int fd, dev_t dev, uid_t uid, unsigned depth);

/* @name may be anything.  A file that is not a directory of ours is unlinked or left. */
static bool remove_entry(int parent_fd, const char *name, dev_t dev, uid_t uid, unsigned depth)
{
    struct stat st;
    int fd;

    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT;
    }
    if (st.st_uid != uid || st.st_dev != dev) {
        return false;
    }
    if (!S_ISDIR(st.st_mode)) {
        return unlinkat(parent_fd, name, 0) == 0 || errno == ENOENT;
    }
    fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(parent_fd, name, 0700, AT_SYMLINK_NOFOLLOW) == 0) {
        /* A rank had taken its own permissions away from the directory. */
        fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0 || depth == 0) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    fchmod(fd, 0700);
    empty_dir(fd, dev, uid, depth - 1);
    return unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* Take @fd over. */
static bool empty_dir(int fd, dev_t dev, uid_t uid, unsigned depth)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    bool all = true;

    if (dir == NULL) {
        close(fd);
        return false;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            all = remove_entry(dirfd(dir), entry->d_name, dev, uid, depth) && all;
        }
    }
    closedir(dir);
    return all;
}

bool sx_session_remove_tree(int parent_fd, const char *name, uid_t uid)
{
    struct stat st;

    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT;
    }
    return S_ISDIR(st.st_mode) && remove_entry(parent_fd, name, st.st_dev, uid, DEPTH_MAX);
}
