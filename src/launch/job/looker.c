/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* looker.c - orders go through a socket of messages, each with its two descriptors. */
#include "launch/job/looker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pmix.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/status.h"
#include "base/system/process.h"
#include "base/util.h"
#include "base/value/pack.h"
#include "base/value/value.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"

#define FD (STDERR_FILENO + 1)        /* of the looker's end of the socket, and of an answer */
#define END_NS SX_NS_PER_SEC          /* for a looker that has been killed */
#define APPS_BYTES ((size_t)64 << 10) /* of applications, in one step */

extern char **environ;

/* ---- messages -------------------------------------------------------------------------------- */

/* With two descriptors: look up.  With none: end that look-up. */
struct message {
    uint64_t number;
};

/* Room for two descriptors, aligned as a message of control. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(2 * sizeof(int))];
};

/* Return: 0 or errno. */
static int message_send(int socket_fd, uint64_t number, const int *fds, size_t count)
{
    struct message message = { .number = number };
    struct iovec part = { .iov_base = &message, .iov_len = sizeof(message) };
    union control control = { .bytes = { 0 } };
    struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };

    if (count > 0) {
        head.msg_control = control.bytes;
        head.msg_controllen = CMSG_SPACE(count * sizeof(int));

        struct cmsghdr *const first = CMSG_FIRSTHDR(&head);

        *first = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                                   .cmsg_type = SCM_RIGHTS,
                                   .cmsg_len = CMSG_LEN(count * sizeof(int)) };
        memcpy(CMSG_DATA(first), fds, count * sizeof(int));
    }
    while (sendmsg(socket_fd, &head, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* Return: the size of a message, 0 at the socket's end, or -1 and errno.  @ret_fds: -1 if it has
 * none. */
static ssize_t message_take(int socket_fd, struct message *ret, int ret_fds[2])
{
    struct iovec part = { .iov_base = ret, .iov_len = sizeof(*ret) };
    union control control = { .bytes = { 0 } };
    struct msghdr head = { .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof(control.bytes) };
    const ssize_t got = recvmsg(socket_fd, &head, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *const first = got > 0 ? CMSG_FIRSTHDR(&head) : NULL;

    ret_fds[0] = ret_fds[1] = -1;
    if (first != NULL && first->cmsg_type == SCM_RIGHTS &&
        first->cmsg_len == CMSG_LEN(2 * sizeof(int))) {
        memcpy(ret_fds, CMSG_DATA(first), 2 * sizeof(int));
    }
    return got;
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Return: 0 or errno; the buffer is empty then. */
static int buffer_write(int fd, pmix_data_buffer_t *buffer)
{
    const char *at = buffer->base_ptr;
    size_t left = buffer->bytes_used;
    int why = 0;

    while (left > 0 && why == 0) {
        const ssize_t wrote = write(fd, at, left);

        why = wrote < 0 && errno != EINTR ? errno : 0;
        at += wrote > 0 ? wrote : 0;
        left -= wrote > 0 ? (size_t)wrote : 0;
    }
    PMIx_Data_buffer_destruct(buffer);
    PMIx_Data_buffer_construct(buffer);
    return why;
}

/* Pack @count elements with their number before them.  Return: as sx_pack. */
static pmix_status_t list_pack(pmix_data_buffer_t *buffer, const void *list, size_t count,
                               pmix_data_type_t type)
{
    const pmix_status_t rc = sx_pack(buffer, &count, 1, PMIX_SIZE);

    return rc == PMIX_SUCCESS && count > 0 ? sx_pack(buffer, list, count, type) : rc;
}

static pmix_status_t head_pack(pmix_data_buffer_t *buffer, const struct sx_look_scene *scene,
                               const struct sx_run_request *request)
{
    const char *const folders[] = { scene->lib_dir, scene->dir };
    pmix_status_t rc = list_pack(buffer, folders, SX_COUNT(folders), PMIX_STRING);

    if (rc == PMIX_SUCCESS) {
        rc = list_pack(buffer, scene->env, (size_t)PMIx_Argv_count(scene->env), PMIX_STRING);
    }
    if (rc == PMIX_SUCCESS) {
        rc = list_pack(buffer, scene->jobs, scene->job_count, PMIX_PROC);
    }
    return rc == PMIX_SUCCESS ? sx_run_request_pack(request, buffer) : rc;
}

int sx_look_order_begin(struct sx_look_order *order, const struct sx_look_scene *scene,
                        const struct sx_run_request *request)
{
    pmix_data_buffer_t buffer;

    order->apps = 0;
    order->fd = memfd_create("shmix-spawn", MFD_CLOEXEC);
    if (order->fd < 0) {
        return errno;
    }
    PMIx_Data_buffer_construct(&buffer);
    const pmix_status_t rc = head_pack(&buffer, scene, request);
    const int why = rc == PMIX_SUCCESS ? buffer_write(order->fd, &buffer) : EINVAL;

    PMIx_Data_buffer_destruct(&buffer);
    return why;
}

int sx_look_order_step(struct sx_look_order *order, const struct sx_run_request *request)
{
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_data_buffer_t buffer;

    PMIx_Data_buffer_construct(&buffer);
    while (rc == PMIX_SUCCESS && order->apps < request->napps && buffer.bytes_used < APPS_BYTES) {
        rc = sx_pack(&buffer, &request->apps[order->apps++], 1, PMIX_APP);
    }
    const int why = rc == PMIX_SUCCESS ? buffer_write(order->fd, &buffer) : EINVAL;

    PMIx_Data_buffer_destruct(&buffer);
    return why;
}

void sx_look_order_drop(struct sx_look_order *order)
{
    if (order->fd >= 0) {
        close(order->fd);
    }
    order->fd = -1;
}

/* ---- the launcher's side --------------------------------------------------------------------- */

/* Return: 0 or errno. */
static int looker_make(struct sx_looker *looker)
{
    char name[] = SX_LOOKER_NAME, launcher[24], *words[] = { name, launcher, NULL };
    posix_spawn_file_actions_t actions;
    int pair[2], why;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    snprintf(launcher, sizeof(launcher), "%ld", (long)getpid());
    why = posix_spawn_file_actions_init(&actions);
    if (why == 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
        /* A look-up that the kernel does not let die must not keep our stderr open. */
        posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
        why = posix_spawn_file_actions_adddup2(&actions, pair[1], FD);
        why = why == 0 ? posix_spawn(&looker->pid, "/proc/self/exe", &actions, NULL, words, environ)
                       : why;
        posix_spawn_file_actions_destroy(&actions);
    }
    close(pair[1]);
    if (why != 0) {
        close(pair[0]);
        looker->pid = 0;
        return why;
    }
    looker->fd = pair[0];
    return 0;
}

void sx_looker_fault(int why, char message[SX_RUN_MESSAGE_MAX])
{
    snprintf(message, SX_RUN_MESSAGE_MAX, "no process for looking for its programs: %s%s",
             strerror(why),
             why == EAGAIN ? "; the limit of processes is reached (see ulimit -u)" : "");
}

static void looker_close(struct sx_looker *looker)
{
    if (looker->fd >= 0) {
        close(looker->fd);
    }
    looker->fd = -1;
}

int sx_looker_give(struct sx_looker *looker, const struct sx_look_order *order, int *ret_fd)
{
    int why = looker->fd < 0 ? looker_make(looker) : 0, pair[2];

    if (why != 0 || pipe2(pair, O_CLOEXEC) != 0) {
        return why != 0 ? why : errno;
    }
    const int fds[] = { order->fd, pair[1] };

    why = message_send(looker->fd, order->number, fds, SX_COUNT(fds));
    if (why == EPIPE || why == ECONNRESET) { /* it was killed, and has not been reaped yet */
        looker_close(looker);
        why = looker_make(looker);
        why = why == 0 ? message_send(looker->fd, order->number, fds, SX_COUNT(fds)) : why;
    }
    close(pair[1]);
    if (why != 0) {
        close(pair[0]);
        return why;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *ret_fd = pair[0];
    return 0;
}

void sx_looker_end(struct sx_looker *looker, uint64_t number)
{
    if (looker->fd >= 0) {
        (void)message_send(looker->fd, number, NULL, 0);
    }
}

static void looker_kill(struct sx_looker *looker)
{
    if (looker->pid > 0) {
        kill(looker->pid, SIGKILL);
    }
    looker_close(looker);
}

bool sx_looker_check(struct sx_looker *looker)
{
    const char state = looker->pid > 0 ? sx_proc_state(looker->pid) : '\0';

    if (state != 'T' && state != 't') {
        return false;
    }
    looker_kill(looker);
    return true;
}

void sx_looker_ended(struct sx_looker *looker, pid_t pid)
{
    if (looker->pid == pid) {
        looker->pid = 0;
        looker_close(looker);
    }
}

void sx_looker_deinit(struct sx_looker *looker)
{
    looker_kill(looker);
    if (looker->pid > 0) {
        (void)sx_proc_reap(looker->pid, END_NS);
    }
    looker->pid = 0;
}

/* ---- the look-up ----------------------------------------------------------------------------- */

/* Unpack a list that list_pack has packed.  Return: as sx_unpack; *ret_list is malloc'ed. */
static pmix_status_t list_unpack(pmix_data_buffer_t *buffer, pmix_data_type_t type,
                                 size_t size_bytes, void **ret_list, size_t *ret_count)
{
    size_t one = 0;
    pmix_status_t rc = sx_unpack(buffer, ret_count, 1, &one, PMIX_SIZE);

    if (rc == PMIX_SUCCESS) {
        *ret_list = sx_cli_calloc(*ret_count + 1, size_bytes);
        rc = *ret_count == 0 ? PMIX_SUCCESS
                             : sx_unpack(buffer, *ret_list, *ret_count, ret_count, type);
    }
    return rc;
}

static pmix_status_t order_unpack(pmix_data_buffer_t *buffer, struct sx_look_scene *ret_scene,
                                  struct sx_run_request **ret_request)
{
    void *folders = NULL, *env = NULL, *jobs = NULL;
    size_t count;
    pmix_status_t rc = list_unpack(buffer, PMIX_STRING, sizeof(char *), &folders, &count);

    if (rc == PMIX_SUCCESS) {
        rc = list_unpack(buffer, PMIX_STRING, sizeof(char *), &env, &count);
    }
    if (rc == PMIX_SUCCESS) {
        rc = list_unpack(buffer, PMIX_PROC, sizeof(pmix_proc_t), &jobs, &ret_scene->job_count);
    }
    if (rc == PMIX_SUCCESS) {
        ret_scene->lib_dir = ((char **)folders)[0];
        ret_scene->dir = ((char **)folders)[1];
        ret_scene->env = env;
        ret_scene->jobs = jobs;
        rc = sx_run_request_unpack(ret_request, buffer);
    }
    return rc;
}

/* Return: the bytes of the order, mapped, in *ret_buffer; or false. */
static bool order_map(int fd, pmix_data_buffer_t *ret_buffer)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || st.st_size == 0) {
        return false;
    }
    const size_t size = (size_t)st.st_size;
    char *const bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

    if (bytes == MAP_FAILED) {
        return false;
    }
    *ret_buffer = (pmix_data_buffer_t){ .base_ptr = bytes,
                                        .pack_ptr = bytes + size,
                                        .unpack_ptr = bytes,
                                        .bytes_allocated = size,
                                        .bytes_used = size };
    return true;
}

static bool send_all(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        const ssize_t sent = write(fd, at, size);

        if (sent < 0 && errno != EINTR) {
            return false;
        }
        at += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool send_app(int fd, const struct sx_run_program *program)
{
    const struct sx_look_app app = { .path_bytes = (uint32_t)strlen(program->path) + 1,
                                     .searched = program->is_searched,
                                     .image = program->image };

    return send_all(fd, &app, sizeof(app)) && send_all(fd, program->path, app.path_bytes);
}

static bool nothing(enum sx_log_level level)
{
    (void)level;
    return false;
}

/* The process ends, so it frees nothing. */
static bool look(int order_fd, int fd)
{
    struct sx_look_answer answer = { .status = PMIX_SUCCESS };
    struct sx_run_program *programs = NULL;
    struct sx_run_request *request = NULL;
    struct sx_look_scene scene = { .env = NULL };
    pmix_data_buffer_t buffer;

    if (!order_map(order_fd, &buffer)) {
        return false;
    }
    answer.status = order_unpack(&buffer, &scene, &request);
    if (answer.status != PMIX_SUCCESS) {
        snprintf(answer.message, sizeof(answer.message), "it cannot be passed on: %s",
                 PMIx_Error_string(answer.status));
        return send_all(fd, &answer, sizeof(answer));
    }
    answer.status = sx_look_all(&scene, request, &programs, answer.message);
    answer.target_count = request->target_count;
    answer.beside_count = request->beside_count;
    bool good = send_all(fd, &answer, sizeof(answer));

    for (uint32_t i = 0; good && answer.status == PMIX_SUCCESS && i < request->options.app_count;
         i++) {
        good = send_app(fd, &programs[i]);
    }
    return good;
}

__attribute__((noreturn)) static void look_main(const int fds[2], pid_t looker)
{
    const struct rlimit cpu = { SX_LOOKER_CPU_SECONDS, SX_LOOKER_CPU_SECONDS }, core = { 0, 0 };

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != looker) {
        _exit(1);
    }
    close(FD); /* the looker's socket */
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    sx_log_set_judge(nothing); /* the launcher has a line for each refusal */
    _exit(look(fds[0], fds[1]) ? 0 : 1);
}

/* ---- the looker ------------------------------------------------------------------------------ */

/* The look-ups that run: one for each asker. */
struct running {
    uint64_t number;
    pid_t pid;
};

static struct running *running;
static size_t running_count;

static void reap(void)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        for (size_t i = 0; i < running_count; i++) {
            if (running[i].pid == pid) {
                running[i] = running[--running_count];
                break;
            }
        }
    }
}

static void order_take(uint64_t number, const int fds[2])
{
    const pid_t looker = getpid(), pid = fork();

    if (pid == 0) {
        look_main(fds, looker);
    }
    if (pid < 0) {
        struct sx_look_answer answer = { .status = PMIX_ERR_JOB_SYS_OP_FAILED };

        sx_looker_fault(errno, answer.message);
        (void)send_all(fds[1], &answer, sizeof(answer)); /* the pipe is empty: it has room */
    } else {
        running = sx_cli_realloc(running, running_count + 1, sizeof(*running));
        running[running_count++] = (struct running){ .number = number, .pid = pid };
    }
}

/* It is not reaped, so its number is nobody else's. */
static void order_end(uint64_t number)
{
    for (size_t i = 0; i < running_count; i++) {
        if (running[i].number == number) {
            kill(running[i].pid, SIGKILL);
        }
    }
}

/* It ends a wait for messages. */
static void child_ended(int number)
{
    (void)number;
}

static void signals_open(void)
{
    const struct sigaction action = { .sa_handler = child_ended };
    sigset_t child;

    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &child, NULL);
}

bool sx_looker_is(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[0], SX_LOOKER_NAME) == 0;
}

int sx_looker_main(char **argv)
{
    struct message message;
    int fds[2];

    prctl(PR_SET_NAME, SX_LOOKER_NAME, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)strtol(argv[1], NULL, 10)) {
        return SX_EXIT_FAILURE; /* the launcher died before PR_SET_PDEATHSIG */
    }
    sx_descriptors_close_from(FD + 1);
    signals_open();
    for (;;) {
        const ssize_t got = message_take(FD, &message, fds);

        if (got == 0 || (got < 0 && errno != EINTR)) {
            return 0;
        }
        reap();
        if (got == (ssize_t)sizeof(message) && fds[0] >= 0) {
            order_take(message.number, fds);
            close(fds[0]);
            close(fds[1]);
        } else if (got == (ssize_t)sizeof(message)) {
            order_end(message.number);
        }
    }
}
