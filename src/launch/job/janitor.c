/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* janitor.c - listen, wait for the launcher's end, clean.
 *
 *   LISTENING --goodbye--> gone
 *       \------the socket's end or the launcher's pidfd--> CLEANING --> gone
 *
 * A message is one SEQPACKET datagram: a fixed head and up to three strings behind it.  Process
 * groups, of which each rank is one, are not sent as messages, which would wake the janitor twice
 * for each rank.  They are kept in shared memory, and the janitor reads them when the launcher has
 * ended.  The janitor's memory is bounded: ITEMS_MAX things, and GROUPS_ROOM groups. */
#include "launch/job/janitor.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system/process.h"
#include "base/util.h"
#include "control/contact.h"
#include "launch/ask/options.h"
#include "launch/common/proc.h"
#include "launch/job/session.h"

#define CONTACTS_MAX 2 /* of the system server, and the one in a place that the user names */
#define ITEMS_MAX (3 + CONTACTS_MAX + SX_JANITOR_FILES_A_JOB * SX_RUN_JOBS_MAX)
#define GROUPS_ROOM 32768u
#define GROUPS_BYTES (GROUPS_ROOM * sizeof(_Atomic pid_t))
#define GROUPS_END_NS (2 * SX_NS_PER_SEC)
#define GROUPS_LOOK_NS (5 * SX_NS_PER_MS)
#define LAUNCHER_END_MS 10000
#define GOODBYE_NS (2 * SX_NS_PER_SEC)

static_assert(GROUPS_ROOM >= 2 * SX_RUN_RANKS_MAX, "a place is near");
static_assert(ATOMIC_INT_LOCK_FREE == 2, "a lock cannot be shared between processes");

enum kind {
    KIND_GOODBYE = 1,
    KIND_TREE,    /* text: parent, name */
    KIND_FILES,   /* text: directory, prefix, part */
    KIND_CONTACT, /* text: directory, name */
    KIND_FORGET,  /* text: as of KIND_FILES */
    KIND_NSPACE,  /* text: namespace */
};

struct message {
    uint32_t kind;
    uint32_t text_size_bytes;
    char text[SX_JANITOR_TEXT_MAX];
};

struct item {
    enum kind kind;
    char *words[3];
};

struct work {
    struct item items[ITEMS_MAX];
    size_t item_count;
    const _Atomic pid_t *shared;
    pid_t groups[GROUPS_ROOM]; /* copied from shared memory when the launcher has ended */
    size_t group_count;
    uid_t uid;
    bool goodbye, orphan;
};

/* ---- the launcher's side --------------------------------------------------------------------- */

/* An item that was sent: a message as long as its text. */
struct said {
    struct sx_list link;
    struct message message;
};

static size_t size_of(const struct message *message)
{
    return offsetof(struct message, text) + message->text_size_bytes;
}

static void notify(const struct sx_janitor *janitor, const struct message *message)
{
    const size_t size = size_of(message);

    if (janitor->fd < 0) {
        return;
    }
    /* A janitor that was killed is replaced when the launcher reaps it. */
    while (send(janitor->fd, message, size, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

static void said_remove(struct said *said)
{
    sx_list_remove(&said->link);
    free(said);
}

/* Keep an item for the next janitor, or drop one that is done. */
static void keep(struct sx_janitor *janitor, const struct message *message)
{
    if (message->kind == KIND_FORGET) {
        SX_LIST_EACH(it, &janitor->said) {
            struct said *const said = SX_LIST_ENTRY(it, struct said, link);

            if (said->message.kind == KIND_FILES &&
                said->message.text_size_bytes == message->text_size_bytes &&
                memcmp(said->message.text, message->text, message->text_size_bytes) == 0) {
                said_remove(said);
                break;
            }
        }
    } else if (message->kind != KIND_GOODBYE) {
        struct said *const said = malloc(offsetof(struct said, message) + size_of(message));

        if (said != NULL) {
            memcpy(&said->message, message, size_of(message));
            sx_list_append(&janitor->said, &said->link);
        }
    }
}

static void notify_words(struct sx_janitor *janitor, enum kind kind, const char *const *words,
                         size_t count)
{
    struct message message = { .kind = kind };

    for (size_t i = 0; i < count; i++) {
        const size_t len = strlen(words[i]) + 1;

        if (len > sizeof(message.text) - message.text_size_bytes) {
            return; /* longer than two paths can be */
        }
        memcpy(message.text + message.text_size_bytes, words[i], len);
        message.text_size_bytes += (uint32_t)len;
    }
    if (janitor->said.next != NULL) {
        keep(janitor, &message);
    }
    notify(janitor, &message);
}

/* The place of a group is the first free one, counted from the group's number on. */
static _Atomic pid_t *place(const struct sx_janitor *janitor, pid_t group, uint32_t index)
{
    return &janitor->groups[((uint32_t)group + index) % GROUPS_ROOM];
}

/* relaxed, here and below: the number is the only datum, and the janitor reads it when this process
 * has ended. */
void sx_janitor_group_add(const struct sx_janitor *janitor, pid_t group)
{
    for (uint32_t i = 0; janitor->groups != NULL && i < GROUPS_ROOM; i++) {
        pid_t none = 0;

        if (atomic_compare_exchange_strong_explicit(place(janitor, group, i), &none, group,
                                                    memory_order_relaxed, memory_order_relaxed)) {
            return;
        }
    }
}

void sx_janitor_group_remove(const struct sx_janitor *janitor, pid_t group)
{
    for (uint32_t i = 0; janitor->groups != NULL && i < GROUPS_ROOM; i++) {
        _Atomic pid_t *const at = place(janitor, group, i);

        if (atomic_load_explicit(at, memory_order_relaxed) == group) {
            atomic_store_explicit(at, 0, memory_order_relaxed);
            return;
        }
    }
}

void sx_janitor_nspace_add(struct sx_janitor *janitor, const char *nspace)
{
    notify_words(janitor, KIND_NSPACE, &nspace, 1);
}

void sx_janitor_tree_add(struct sx_janitor *janitor, const char *parent, const char *name)
{
    const char *const words[] = { parent, name };

    notify_words(janitor, KIND_TREE, words, SX_COUNT(words));
}

void sx_janitor_contact_add(struct sx_janitor *janitor, const char *dir, const char *name)
{
    const char *const words[] = { dir, name };

    notify_words(janitor, KIND_CONTACT, words, SX_COUNT(words));
}

void sx_janitor_files_add(struct sx_janitor *janitor, const char *dir, const char *prefix,
                          const char *part)
{
    const char *const words[] = { dir, prefix, part };

    notify_words(janitor, KIND_FILES, words, SX_COUNT(words));
}

void sx_janitor_files_forget(struct sx_janitor *janitor, const char *dir, const char *prefix,
                             const char *part)
{
    const char *const words[] = { dir, prefix, part };

    notify_words(janitor, KIND_FORGET, words, SX_COUNT(words));
}

void sx_janitor_deinit(struct sx_janitor *janitor)
{
    if (janitor->pid > 0) {
        notify_words(janitor, KIND_GOODBYE, NULL, 0);
        close(janitor->fd);
        if (!sx_proc_reap(janitor->pid, GOODBYE_NS)) { /* stopped, say */
            (void)sx_proc_kill(janitor->pid, GOODBYE_NS);
        }
    }
    if (janitor->groups != NULL) {
        munmap(janitor->groups, GROUPS_BYTES);
    }
    while (janitor->said.next != NULL && !sx_list_empty(&janitor->said)) {
        said_remove(SX_LIST_ENTRY(janitor->said.next, struct said, link));
    }
    *janitor = SX_JANITOR_NULL;
}

/* ---- the janitor's side ---------------------------------------------------------------------- */

static int pid_compare(const void *a, const void *b)
{
    const pid_t first = *(const pid_t *)a, second = *(const pid_t *)b;

    return first < second ? -1 : first > second;
}

static void groups_take(struct work *work)
{
    work->group_count = 0;
    for (size_t i = 0; i < GROUPS_ROOM; i++) {
        /* relaxed: the process that wrote the group has ended. */
        const pid_t group = atomic_load_explicit(&work->shared[i], memory_order_relaxed);

        if (group > 1) {
            work->groups[work->group_count++] = group;
        }
    }
    qsort(work->groups, work->group_count, sizeof(work->groups[0]), pid_compare);
}

static void item_free(struct item *item)
{
    for (size_t i = 0; i < SX_COUNT(item->words); i++) {
        free(item->words[i]);
    }
    *item = (struct item){ .words = { NULL } };
}

static void item_add(struct work *work, const struct message *message, size_t word_count)
{
    const char *at = message->text, *end = at + message->text_size_bytes;
    struct item item = { .kind = (enum kind)message->kind };

    for (size_t i = 0; i < word_count && work->item_count < ITEMS_MAX; i++) {
        const char *zero = memchr(at, '\0', (size_t)(end - at));

        item.words[i] = zero == NULL ? NULL : strdup(at);
        if (item.words[i] == NULL) {
            item_free(&item);
            return;
        }
        at = zero + 1;
    }
    if (work->item_count < ITEMS_MAX) {
        work->items[work->item_count++] = item;
    }
}

static bool is_same(const struct item *a, const struct item *b)
{
    for (size_t i = 0; i < SX_COUNT(a->words); i++) {
        if (a->words[i] == NULL || b->words[i] == NULL || strcmp(a->words[i], b->words[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* The message is added as an item of its own meanwhile, to compare it with the others. */
static void item_forget(struct work *work, const struct message *message)
{
    const size_t before = work->item_count;

    item_add(work, message, SX_COUNT(work->items[0].words));
    if (work->item_count == before) {
        return;
    }
    for (size_t i = 0; i < before; i++) {
        if (work->items[i].kind == KIND_FILES && is_same(&work->items[i], &work->items[before])) {
            item_free(&work->items[i]);
            work->items[i] = work->items[before - 1];
            work->items[before - 1] = (struct item){ .words = { NULL } };
            work->item_count--;
            break;
        }
    }
    item_free(&work->items[before]);
    work->item_count--;
}

/* Return: false when there is no message now, or the socket has ended (work->orphan). */
static bool listen_once(struct work *work, int fd)
{
    static struct message message;
    const size_t head = offsetof(struct message, text);
    const ssize_t got = recv(fd, &message, sizeof(message), MSG_DONTWAIT);

    if (got <= 0) {
        work->orphan = work->orphan || got == 0 ||
                       (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
        return false;
    }
    if ((size_t)got < head || (size_t)got != head + message.text_size_bytes) {
        return true;
    }
    switch (message.kind) {
    case KIND_GOODBYE:
        work->goodbye = true;
        return false;
    case KIND_TREE:
    case KIND_CONTACT:
        item_add(work, &message, 2);
        break;
    case KIND_FILES:
        item_add(work, &message, 3);
        break;
    case KIND_NSPACE:
        item_add(work, &message, 1);
        break;
    case KIND_FORGET:
        item_forget(work, &message);
        break;
    default:
        break;
    }
    return true;
}

/* Whether the process @name of /proc is in one of the groups, and not just a zombie. */
static bool lives_in_groups(int proc_fd, const char *name, const struct work *work)
{
    char path[32], text[512], *at;
    ssize_t got = -1;
    int fd, group;
    char state;

    snprintf(path, sizeof(path), "%.16s/stat", name);
    fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    at = strrchr(text, ')'); /* the command's name may hold anything, but ends at the last one */
    return at != NULL && sscanf(at + 1, " %c %*d %d", &state, &group) == 2 && state != 'Z' &&
           state != 'X' &&
           bsearch(&group, work->groups, work->group_count, sizeof(pid_t), pid_compare) != NULL;
}

/* kill() cannot show this: it finds zombies too, which an idle init may not reap for long. */
static bool groups_live(const struct work *work)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    bool live = false;

    if (proc == NULL) {
        return true;
    }
    while (!live && (entry = readdir(proc)) != NULL) {
        live = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
               lives_in_groups(dirfd(proc), entry->d_name, work);
    }
    closedir(proc);
    return live;
}

/* The ranks die with the launcher by themselves (PR_SET_PDEATHSIG); their children do not. */
static void clean_groups(const struct work *work)
{
    const uint64_t deadline_ns = sx_now_ns() + GROUPS_END_NS;
    const struct timespec look = sx_timespec(GROUPS_LOOK_NS);

    for (;;) {
        size_t left = 0;

        for (size_t i = 0; i < work->group_count; i++) {
            left += kill(-work->groups[i], SIGKILL) == 0;
        }
        /* A process that hangs in the kernel must not keep the rest from being cleaned. */
        if (left == 0 || !groups_live(work) || sx_now_ns() > deadline_ns) {
            return;
        }
        nanosleep(&look, NULL);
    }
}

/* Return: how many processes there were. */
static unsigned strays_kill(const char *nspace)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    unsigned count = 0;
    bool known;

    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid > 1 && pid != getpid() && !sx_proc_is_janitor(pid) &&
            sx_proc_has_variable(pid, "PMIX_NAMESPACE", nspace, true, &known)) {
            count++;
            kill(pid, SIGKILL);
        }
    }
    if (proc != NULL) {
        closedir(proc);
    }
    return count;
}

/* Kill processes that have left their group. */
static void clean_strays(const struct work *work)
{
    const uint64_t deadline_ns = sx_now_ns() + GROUPS_END_NS;
    const struct timespec look = sx_timespec(GROUPS_LOOK_NS);

    for (size_t i = 0; i < work->item_count; i++) {
        while (work->items[i].kind == KIND_NSPACE && strays_kill(work->items[i].words[0]) > 0 &&
               sx_now_ns() < deadline_ns) {
            nanosleep(&look, NULL);
        }
    }
}

void sx_janitor_files_remove(const char *dir, const char *prefix, const char *part, uid_t uid)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *handle = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    struct stat st;

    if (handle == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    while ((entry = readdir(handle)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            strstr(entry->d_name, part) != NULL &&
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == uid &&
            !S_ISDIR(st.st_mode)) {
            unlinkat(fd, entry->d_name, 0);
        }
    }
    closedir(handle);
}

/* The end of the launcher's socket comes before the launcher's own end.  Until then its contact
 * files belong to a server that lives. */
static void launcher_wait(int pidfd)
{
    struct pollfd end = { .fd = pidfd, .events = POLLIN };

    while (pidfd >= 0 && poll(&end, 1, LAUNCHER_END_MS) < 0 && errno == EINTR) {
    }
}

static void clean(struct work *work, int launcher_pidfd)
{
    groups_take(work);
    clean_groups(work);
    clean_strays(work);
    launcher_wait(launcher_pidfd);
    for (size_t i = 0; i < work->item_count; i++) {
        const struct item *item = &work->items[i];
        int parent_fd;

        if (item->kind == KIND_NSPACE) {
            continue;
        }
        if (item->kind == KIND_FILES) {
            sx_janitor_files_remove(item->words[0], item->words[1], item->words[2], work->uid);
            continue;
        }
        if (item->kind == KIND_CONTACT) {
            sx_contact_remove_stale(item->words[0], item->words[1]);
            continue;
        }
        parent_fd = open(item->words[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (parent_fd >= 0) {
            sx_session_remove_tree(parent_fd, item->words[1], work->uid);
            close(parent_fd);
        }
    }
}

/* Keep two descriptors, as 3 and 4; the standard ones lead to /dev/null. */
static void keep_only(int *fd, int *pidfd)
{
    const int null_fd = open("/dev/null", O_RDWR);
    /* Move both out of the way first: either may be 3 or 4 already. */
    const int high_fd = fcntl(*fd, F_DUPFD, 16);
    const int high_pidfd = *pidfd < 0 ? -1 : fcntl(*pidfd, F_DUPFD, 16);

    for (int i = 0; i < 3 && null_fd >= 0; i++) {
        dup2(null_fd, i);
    }
    *fd = dup2(high_fd, 3);
    *pidfd = high_pidfd < 0 ? -1 : dup2(high_pidfd, 4);
    if (*fd < 0) {
        _exit(1); /* a filter of system calls refuses fcntl: no end would be noticed */
    }
    sx_descriptors_close_from(*pidfd < 0 ? 4 : 5);
}

__attribute__((noreturn)) static void janitor_main(int fd, int pidfd, const _Atomic pid_t *groups)
{
    static struct work work;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, SX_PROC_JANITOR);
    keep_only(&fd, &pidfd);
    (void)!chdir("/");
    work.uid = geteuid();
    work.shared = groups;
    while (!work.goodbye && !work.orphan) {
        struct pollfd fds[2] = { { .fd = fd, .events = POLLIN },
                                 { .fd = pidfd, .events = POLLIN } };

        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            work.orphan = true;
        }
        /* Messages that were sent before the end are still in the socket, and are received
         * first. */
        while (listen_once(&work, fd)) {
        }
        work.orphan = work.orphan || fds[1].revents != 0;
    }
    if (!work.goodbye) {
        clean(&work, pidfd);
    }
    _exit(0);
}

/* Return: NULL and errno. */
static _Atomic pid_t *groups_map(void)
{
    void *const at = mmap(NULL, GROUPS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                          -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* Return: 0 or errno. */
static int janitor_fork(struct sx_janitor *janitor)
{
    const pid_t launcher = getpid();
    int pair[2], why;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    pid = fork();
    if (pid == 0) {
        /* While we have the socket, our parent cannot have been reaped and replaced.  If it died
         * already, the socket has ended. */
        const int pidfd = (int)syscall(SYS_pidfd_open, launcher, 0);

        close(pair[1]);
        janitor_main(pair[0], pidfd, janitor->groups);
    }
    why = errno;
    close(pair[0]);
    if (pid < 0) {
        close(pair[1]);
        return why;
    }
    janitor->pid = pid;
    janitor->fd = pair[1];
    return 0;
}

int sx_janitor_init(struct sx_janitor *janitor)
{
    int why;

    *janitor = SX_JANITOR_NULL;
    sx_list_init(&janitor->said);
    janitor->groups = groups_map();
    why = janitor->groups == NULL ? errno : janitor_fork(janitor);
    if (why != 0) {
        sx_janitor_deinit(janitor);
    }
    return why;
}

int sx_janitor_replace(struct sx_janitor *janitor)
{
    if (janitor->fd >= 0) {
        close(janitor->fd);
    }
    janitor->fd = -1;
    janitor->pid = 0;
    if (janitor->lives++ >= SX_JANITOR_LIVES_MAX) {
        return SX_JANITOR_WORN;
    }
    const int why = janitor_fork(janitor);

    if (why == 0) {
        SX_LIST_EACH(it, &janitor->said) {
            notify(janitor, &SX_LIST_ENTRY(it, struct said, link)->message);
        }
    }
    return why;
}
