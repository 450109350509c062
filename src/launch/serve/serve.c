/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* serve.c - the server's own life: one lock, one socket, and a list of children. */
#include "launch/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system/process.h"
#include "base/util.h"
#include "control/socket.h"
#include "launch/common/say.h"
#include "launch/serve/carry.h"
#include "launch/serve/hand.h"

#define SPARES_MIN 2
#define SPARES_MAX 16
#define FILES_MIN (2 * SX_HAND_NUMBERS)
#define QUEUE 1024                   /* connections that no spare has accepted */
#define SOON_NS (100 * SX_NS_PER_MS) /* a spare that dies so young ... */
#define PAUSE_NS SX_NS_PER_SEC       /* ... is not replaced before */
#define STOP_NS (5 * SX_NS_PER_SEC)  /* for the end of a server */

/* ---- options --------------------------------------------------------------------------------- */

struct wish {
    uint64_t idle_ns; /* 0: no limit */
    bool background, stop, any_session;
};

static bool set_idle(void *at, const char *value)
{
    return sx_cli_seconds(at, value) && *(uint64_t *)at > 0;
}

static const struct sx_option rows[] = {
    { .help = "options:" },
    { "--background", "-d", NULL, NULL, NULL,
      "go on in the background; return when jobs can be handed over", sx_option_flag,
      offsetof(struct wish, background), false },
    { "--idle", NULL, "SECONDS", "--background --idle 1", "seconds, above 0 to 100000000",
      "end after so much time without a job (default: do not)", set_idle,
      offsetof(struct wish, idle_ns), false },
    { "--any-session", NULL, NULL, NULL, NULL,
      "take jobs of other logins of the user too; they run in the server's control group, and with "
      "its keyring",
      sx_option_flag, offsetof(struct wish, any_session), false },
    { "--stop", NULL, NULL, NULL, NULL, "end the server that there is; its jobs go on to their end",
      sx_option_flag, offsetof(struct wish, stop), false },
};

const struct sx_verb sx_serve_verb = {
    .name = "shmix serve",
    .try_begin = "shmix serve",
    .try_end = "",
    .about = "usage: shmix serve [options]\n"
             "\n"
             "Keep launchers ready, so that 'shmix run' of the same user hands its job to one of\n"
             "them, and the job starts sooner. Nothing else changes: output, signals, exit codes,\n"
             "limits, environment and folder are the caller's.\n"
             "\n"
             "examples:\n"
             "  shmix serve --background --idle 600\n"
             "  for i in $(seq 1000); do shmix run -n 2 ./short $i </dev/null; done\n"
             "  shmix serve --stop\n",
    .more = "\n"
            "exit codes:\n"
            "  0   the server has ended; with --background: it is ready\n"
            "  1   it could not start; with --stop: there is none, or it does not end\n"
            "  2   a wrong option\n"
            "  3   the user has one already\n"
            "\n"
            "environment:\n"
            "  TMPDIR       where the server's folder is (default /tmp): shmix-UID-serve\n"
            "\n"
            "More in the manual: man shmix-serve\n",
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* ---- the server ------------------------------------------------------------------------------ */

struct child {
    pid_t pid;
    int fd; /* of a spare; -1: it has a job */
    uint64_t born_ns;
};

struct server {
    struct wish wish;
    char *path; /* of its folder */
    int folder, lock, listener, signals, watch;
    ino_t socket;
    struct sx_launch *launch;
    char **carried;
    struct child *children;
    size_t count, room, spares, wanted;
    uint64_t pause_ns; /* no child is forked before */
    uint64_t idle_ns;  /* since then it has had no job */
    bool ends;
};

/* Take the folder and its lock.  Return: SX_OPTIONS_TAKEN, or the exit code. */
static int lock_take(struct server *server)
{
    struct stat ours, there = { .st_ino = 0 };

    server->folder = sx_hand_folder(true, &server->path);
    if (server->folder < 0) {
        sx_say("cannot use the folder '%.300s': %s; set TMPDIR to a folder of your own",
               server->path,
               errno == EPERM    ? "it belongs to others, or they may look into it"
               : errno == ENOENT ? "its parent is not there, or TMPDIR is not absolute"
                                 : strerror(errno));
        return SX_EXIT_FAILURE;
    }
    server->lock = openat(server->folder, SX_HAND_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                          0600);
    if (server->lock < 0) {
        sx_say("cannot use '%.300s/" SX_HAND_LOCK "': %s", server->path, strerror(errno));
        return SX_EXIT_FAILURE;
    }
    /* One that ends just now removes the file that we have locked. */
    if (flock(server->lock, LOCK_EX | LOCK_NB) != 0 || fstat(server->lock, &ours) != 0 ||
        fstatat(server->folder, SX_HAND_LOCK, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
        ours.st_ino != there.st_ino) {
        char text[24] = "";

        (void)!pread(server->lock, text, sizeof(text) - 1, 0);
        sx_say("there is a server already (pid %d); 'shmix serve --stop' ends it", atoi(text));
        return SX_SERVE_EXIT_THERE;
    }
    return SX_OPTIONS_TAKEN;
}

static int listener_open(struct server *server)
{
    struct sx_address address;
    int why = 0;

    (void)unlinkat(server->folder, SX_HAND_SOCKET, 0); /* of a server that was killed */
    server->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listener < 0) {
        why = errno;
    } else if (!sx_address_of_fd(&address, server->folder, SX_HAND_SOCKET)) {
        why = ENAMETOOLONG;
    } else if ((why = sx_address_bind(server->listener, &address)) == 0 &&
               listen(server->listener, QUEUE) != 0) {
        why = errno;
    }
    if (why != 0) {
        sx_say("cannot listen in '%.300s': %s", server->path, strerror(why));
        return SX_EXIT_FAILURE;
    }
    return SX_OPTIONS_TAKEN;
}

/* Return: whether the file @name of the folder is this server's. */
static bool is_ours(const struct server *server, const char *name, ino_t file)
{
    struct stat there;

    return fstatat(server->folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_ino == file;
}

static ino_t file_of(int fd)
{
    struct stat st = { .st_ino = 0 };

    (void)fstat(fd, &st);
    return st.st_ino;
}

/* Return: whether commands find it: cleaners of /tmp remove what is old. */
static bool is_reachable(const struct server *server)
{
    struct stat there;

    return lstat(server->path, &there) == 0 && there.st_ino == file_of(server->folder) &&
           is_ours(server, SX_HAND_LOCK, file_of(server->lock)) &&
           is_ours(server, SX_HAND_SOCKET, server->socket);
}

/* Where inotify is refused, a server whose files are removed stays. */
static void watch_open(struct server *server)
{
    struct stat st = { .st_ino = 0 };

    (void)fstatat(server->folder, SX_HAND_SOCKET, &st, AT_SYMLINK_NOFOLLOW);
    server->socket = st.st_ino;
    server->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (server->watch >= 0) {
        (void)inotify_add_watch(server->watch, server->path,
                                IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF);
    }
}

static void watch_read(struct server *server)
{
    char events[4096];

    while (read(server->watch, events, sizeof(events)) > 0) {
    }
    if (!is_reachable(server)) {
        sx_say("somebody has removed files in '%.300s': the server ends, and its jobs go on",
               server->path);
        server->ends = true;
    }
}

static bool signals_open(struct server *server)
{
    static const int numbers[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT };
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        sigaddset(&set, numbers[i]);
    }
    (void)signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &set, NULL);
    server->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return server->signals >= 0;
}

/* ---- children -------------------------------------------------------------------------------- */

static void descriptors_null(int last)
{
    const int null_fd = open("/dev/null", O_RDWR);

    for (int i = 0; i <= last && null_fd >= 0; i++) {
        dup2(null_fd, i);
    }
    if (null_fd > STDERR_FILENO) {
        close(null_fd);
    }
}

__attribute__((noreturn)) static void spare_main(const struct server *server, int fd)
{
    struct sx_spare spare = { .launch = server->launch,
                              .listener = server->listener,
                              .server = fd,
                              .carried = server->carried,
                              .any_session = server->wish.any_session };
    const int others[] = { server->folder, server->lock, server->signals, server->watch };
    sigset_t none;

    setsid();
    descriptors_null(STDERR_FILENO);
    for (size_t i = 0; i < SX_COUNT(others); i++) {
        close(others[i]);
    }
    for (size_t i = 0; i < server->count; i++) {
        if (server->children[i].fd >= 0) {
            close(server->children[i].fd);
        }
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    sx_spare_run(&spare);
}

static void spare_fork(struct server *server)
{
    int pair[2];

    if (server->count == server->room) {
        server->room = 2 * server->room + 8;
        server->children = sx_cli_realloc(server->children, server->room,
                                          sizeof(*server->children));
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        server->pause_ns = sx_now_ns() + PAUSE_NS;
        return;
    }
    const pid_t pid = fork();

    if (pid == 0) {
        close(pair[0]);
        spare_main(server, pair[1]);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        server->pause_ns = sx_now_ns() + PAUSE_NS;
        return;
    }
    server->children[server->count++] = (struct child){ pid, pair[0], sx_now_ns() };
    server->spares++;
}

static void spare_leave(struct server *server, struct child *child)
{
    if (child->fd >= 0) {
        close(child->fd);
        child->fd = -1;
        server->spares--;
    }
}

/* A spare says that it has a job, or it ends. */
static void spare_receive(struct server *server, struct child *child)
{
    char said;

    if (recv(child->fd, &said, 1, 0) >= 0) {
        spare_leave(server, child);
    }
}

static void children_reap(struct server *server)
{
    const uint64_t now_ns = sx_now_ns();
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        for (size_t i = 0; i < server->count; i++) {
            struct child *const child = &server->children[i];

            if (child->pid != pid) {
                continue;
            }
            if (child->fd >= 0) {
                spare_receive(server, child); /* it may have had a job */
            }
            if (child->fd >= 0 && now_ns - child->born_ns < SOON_NS) {
                server->pause_ns = now_ns + PAUSE_NS;
            }
            spare_leave(server, child);
            *child = server->children[--server->count];
            break;
        }
        server->idle_ns = now_ns;
    }
}

static void signals_read(struct server *server)
{
    struct signalfd_siginfo info;

    while (read(server->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD) {
            children_reap(server);
        } else {
            server->ends = true;
        }
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Fork what is missing, and see whether it is idle.  Return: how long the loop may wait, in ms; -1:
 * for ever. */
static int step(struct server *server)
{
    uint64_t now_ns = sx_now_ns(), next_ns = UINT64_MAX;

    while (server->spares < server->wanted && now_ns >= server->pause_ns) {
        spare_fork(server);
    }
    if (server->spares < server->wanted) {
        next_ns = server->pause_ns;
    }
    if (server->count > server->spares) {
        server->idle_ns = now_ns;
    } else if (server->wish.idle_ns != 0) {
        const uint64_t end_ns = sx_deadline_ns(server->idle_ns, server->wish.idle_ns);

        server->ends = server->ends || now_ns >= end_ns;
        next_ns = end_ns < next_ns ? end_ns : next_ns;
    }
    if (next_ns == UINT64_MAX) {
        return -1;
    }
    now_ns = sx_now_ns();

    const uint64_t left_ms = next_ns <= now_ns ? 0 : (next_ns - now_ns) / SX_NS_PER_MS + 1;

    return left_ms > 3600000 ? 3600000 : (int)left_ms;
}

static void loop(struct server *server)
{
    struct pollfd *fds = NULL;

    server->idle_ns = sx_now_ns();
    while (!server->ends) {
        const int limit_ms = step(server);
        const size_t count = server->count;

        fds = sx_cli_realloc(fds, 2 + count, sizeof(*fds));
        fds[0] = (struct pollfd){ .fd = server->signals, .events = POLLIN };
        fds[1] = (struct pollfd){ .fd = server->watch, .events = POLLIN };
        for (size_t i = 0; i < count; i++) {
            fds[2 + i] = (struct pollfd){ .fd = server->children[i].fd, .events = POLLIN };
        }
        if (poll(fds, 2 + count, server->ends ? 0 : limit_ms) <= 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            if (fds[2 + i].revents != 0) {
                spare_receive(server, &server->children[i]);
            }
        }
        if (fds[0].revents != 0) {
            signals_read(server);
        }
        if (fds[1].revents != 0) {
            watch_read(server);
        }
    }
    free(fds);
}

/* The spares end with their sockets. */
static void server_end(struct server *server)
{
    if (is_ours(server, SX_HAND_SOCKET, server->socket)) {
        (void)unlinkat(server->folder, SX_HAND_SOCKET, 0);
    }
    if (is_ours(server, SX_HAND_LOCK, file_of(server->lock))) {
        (void)unlinkat(server->folder, SX_HAND_LOCK, 0);
    }
    (void)rmdir(server->path);
    close(server->listener);
    for (size_t i = 0; i < server->count; i++) {
        spare_leave(server, &server->children[i]);
    }
}

static void server_deinit(struct server *server)
{
    sx_launch_free(server->launch);
    sx_carry_free(server->carried);
    free(server->children);
    free(server->path);
}

/* ---- the verb -------------------------------------------------------------------------------- */

/* The parent ends with the child's byte, an exit code.  Return: the descriptor for it. */
static int background(void)
{
    char code = SX_EXIT_FAILURE;
    int pair[2];

    if (pipe2(pair, O_CLOEXEC) != 0) {
        return -1;
    }
    const pid_t pid = fork();

    if (pid > 0) {
        close(pair[1]);
        (void)!read(pair[0], &code, 1);
        _exit(code);
    }
    close(pair[0]);
    if (pid < 0) {
        close(pair[1]);
        return -1;
    }
    setsid();
    return pair[1];
}

static size_t spares_wanted(void)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus < SPARES_MIN ? SPARES_MIN : cpus > SPARES_MAX ? SPARES_MAX : (size_t)cpus;
}

/* For the message of another server, and for people.  A limit of files' sizes (ulimit -f) leaves it
 * out. */
static void pid_write(int lock)
{
    const struct sigaction ignored = { .sa_handler = SIG_IGN };
    struct sigaction before;
    char line[24];

    snprintf(line, sizeof(line), "%ld\n", (long)getpid());
    (void)sigaction(SIGXFSZ, &ignored, &before);
    (void)!ftruncate(lock, 0);
    (void)!pwrite(lock, line, strlen(line), 0);
    (void)sigaction(SIGXFSZ, &before, NULL);
}

static int server_begin(struct server *server)
{
    char message[SX_RUN_MESSAGE_MAX];
    struct rlimit files = { 0, 0 };

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur < FILES_MIN) {
        sx_say("the limit of open files is %llu, and %d are needed (ulimit -n)",
               (unsigned long long)files.rlim_cur, FILES_MIN);
        return SX_EXIT_FAILURE;
    }
    umask(077); /* for the folder and the socket; jobs have their own */

    int code = lock_take(server);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    pid_write(server->lock);
    server->carried = sx_carry_read();
    server->launch = sx_launch_new(message);
    if (server->launch == NULL) {
        sx_say("%s", message);
        return SX_EXIT_FAILURE;
    }
    if (!signals_open(server)) {
        sx_say("signalfd4: %s", strerror(errno));
        return SX_EXIT_FAILURE;
    }
    (void)!chdir("/");
    code = listener_open(server);
    if (code == SX_OPTIONS_TAKEN) {
        watch_open(server);
    }
    return code;
}

static int serve(const struct wish *wish)
{
    struct server server = { .wish = *wish,
                             .folder = -1,
                             .lock = -1,
                             .listener = -1,
                             .signals = -1,
                             .watch = -1,
                             .wanted = spares_wanted() };
    int ready_fd = -1;

    sx_descriptors_close_from(STDERR_FILENO + 1);
    if (wish->background && (ready_fd = background()) < 0) {
        sx_say("cannot start a process for it: %s", strerror(errno));
        return SX_EXIT_FAILURE;
    }
    int code = server_begin(&server);
    const char byte = (char)(code == SX_OPTIONS_TAKEN ? 0 : code);

    if (ready_fd >= 0) {
        descriptors_null(STDERR_FILENO);
        (void)!write(ready_fd, &byte, 1);
        close(ready_fd);
    }
    if (code == SX_OPTIONS_TAKEN) {
        loop(&server);
        server_end(&server);
        code = 0;
    }
    server_deinit(&server);
    return code;
}

static int stop(void)
{
    pid_t server;
    const int fd = sx_hand_connect(&server);
    const int pidfd = fd < 0 ? -1 : (int)syscall(SYS_pidfd_open, server, 0);

    if (fd < 0 || kill(server, SIGTERM) != 0) {
        const bool none = errno == ENOENT || errno == ECONNREFUSED;

        sx_say("there is no server to end%s%s", none ? "" : ": ", none ? "" : strerror(errno));
        return SX_EXIT_FAILURE;
    }
    if (pidfd >= 0 && !sx_hand_await(pidfd, sx_now_ns() + STOP_NS)) {
        sx_say("the server, process %d, does not end; 'kill -9 %d' ends it", (int)server,
               (int)server);
        return SX_EXIT_FAILURE;
    }
    return 0;
}

int sx_serve(char **words)
{
    struct wish wish = { .idle_ns = 0 };
    const int code = sx_options_take(&sx_serve_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (words[0] != NULL) {
        return sx_options_refuse(&sx_serve_verb, NULL, "'%.80s' is one word too many", words[0]);
    }
    if (wish.stop && (wish.background || wish.idle_ns != 0 || wish.any_session)) {
        return sx_options_refuse(&sx_serve_verb, NULL,
                                 "--stop ends a server, and starts none: "
                                 "leave the other options out");
    }
    return wish.stop ? stop() : serve(&wish);
}
