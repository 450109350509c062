/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unanswered.c - run a command with a file system that takes requests and does not answer them:
 *                unanswered FOLDER FILE COMMAND [WORDS]...
 *
 * A process that looks for a name in FOLDER stays in the kernel, and SIGKILL does not end it.  FILE
 * is made when the first one does.  The mount is seen by the command and its children alone, and
 * goes with this process, which ends with the command's status.  Status 77: such a mount is not
 * possible here. */
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 77
#define REQUEST_BYTES (1 << 18)

static int mount_make(const char *folder)
{
    const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];

    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd,
             (unsigned)getuid(), (unsigned)getgid());
    if (fd < 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("unanswered", folder, "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
        return -1;
    }
    return fd;
}

/* The first request is the one to begin, and is the only one with an answer. */
static void request_take(int fd, const char *file)
{
    static char request[REQUEST_BYTES];
    const struct fuse_in_header *const head = (const struct fuse_in_header *)request;
    struct {
        struct fuse_out_header head;
        struct fuse_init_out init;
    } answer = { .init = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096 } };

    if (read(fd, request, sizeof(request)) < (ssize_t)sizeof(*head)) {
        return;
    }
    if (head->opcode != FUSE_INIT) {
        close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        return;
    }
    answer.head.len = sizeof(answer);
    answer.head.unique = head->unique;
    (void)!write(fd, &answer, sizeof(answer));
}

int main(int argc, char **argv)
{
    const int fd = argc > 3 ? mount_make(argv[1]) : -1;
    int status;

    if (fd < 0) {
        return CANNOT;
    }
    const pid_t pid = fork();

    if (pid == 0) {
        execvp(argv[3], &argv[3]);
        _exit(127);
    }
    for (;;) {
        struct pollfd news = { .fd = fd, .events = POLLIN };

        if (waitpid(pid, &status, WNOHANG) == pid) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        if (poll(&news, 1, 20) > 0) {
            request_take(fd, argv[2]);
        }
    }
}
