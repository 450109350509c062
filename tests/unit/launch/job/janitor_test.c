/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* janitor_test.c - a launcher that is killed is cleaned up after; one that says goodbye is not. */
#include "launch/job/janitor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/contact.h"
#include "control/rendezvous.h"
#include "launch/ask/options.h"

#define DIRECTORY_NAME "janitor"
#include "../../cli/directory.h"

#define WAIT_MS 60000 /* a bound, not an expectation */

static void setup(void)
{
    directory_make();
    cr_assert_eq(mkdirat(dir_fd, "job", 0700), 0);
    cr_assert_eq(mkdirat(dir_fd, "job/inner", 0700), 0);
}

/* What the processes of a test tell it: who they are, once they are ready. */
struct note {
    enum { NOTE_JANITOR, NOTE_RANK } kind;
    pid_t pid;
};

static void note_send(int fd, int kind, pid_t pid)
{
    const struct note note = { .kind = kind, .pid = pid };

    (void)!write(fd, &note, sizeof(note));
}

/* A rank with a child of its own; both hold the life pipe until they die. */
static void start_rank(const struct sx_janitor *janitor, int notified_fd, bool take_back)
{
    if (fork() == 0) {
        setpgid(0, 0);
        sx_janitor_group_add(janitor, getpid());
        if (take_back) {
            sx_janitor_group_remove(janitor, getpid());
        }
        close(janitor->fd);
        if (fork() > 0) {
            note_send(notified_fd, NOTE_RANK, getpid());
        }
        for (;;) {
            pause();
        }
    }
}

#define RANKS 2

struct launcher {
    pid_t pid, janitor, ranks[RANKS];
    int janitor_pidfd; /* -1 before Linux 5.3 */
    int life_fd;       /* ends when no rank lives */
    int go_fd;         /* close it: the launcher goes on */
};

__attribute__((noreturn)) static void launcher_main(int notified_fd, int life_fd, int go_fd,
                                                    bool take_back)
{
    struct sx_janitor janitor;
    char byte;

    if (sx_janitor_init(&janitor) != 0) {
        _exit(1);
    }
    sx_janitor_tree_add(&janitor, dir, "job");
    for (unsigned i = 1; i < SX_JANITOR_FILES_A_JOB * SX_RUN_JOBS_MAX;
         i++) { /* of the jobs before this one */
        sx_janitor_files_add(&janitor, dir, "vader_segment.", ".no.");
    }
    for (unsigned i = 0; i < 5 * SX_RUN_JOBS_MAX; i++) { /* and of those that are past */
        char part[16];

        snprintf(part, sizeof(part), ".%x.", i);
        sx_janitor_files_add(&janitor, dir, "osc_sm.", part);
        sx_janitor_files_forget(&janitor, dir, "osc_sm.", part);
    }
    sx_janitor_files_add(&janitor, dir, "vader_segment.", ".1ab2.");
    for (int i = 0; i < RANKS; i++) {
        start_rank(&janitor, notified_fd, take_back);
    }
    close(life_fd);
    note_send(notified_fd, NOTE_JANITOR, janitor.pid);
    (void)!read(go_fd, &byte, 1);
    sx_janitor_deinit(&janitor);
    _exit(0);
}

/* A process that sets a job up as shmix run does, and waits to be killed or to be let go. */
static void launcher_start(struct launcher *launcher, bool take_back)
{
    int notified[2], life[2], go[2], ranks = 0;

    cr_assert(pipe2(notified, O_CLOEXEC) == 0 && pipe2(life, O_CLOEXEC) == 0 &&
              pipe2(go, O_CLOEXEC) == 0);
    launcher->pid = fork();
    if (launcher->pid == 0) {
        close(go[1]);
        launcher_main(notified[1], life[1], go[0], take_back);
    }
    close(life[1]);
    close(notified[1]);
    for (int i = 0; i < RANKS + 1; i++) {
        struct note note;

        cr_assert_eq(read(notified[0], &note, sizeof(note)), sizeof(note));
        if (note.kind == NOTE_JANITOR) {
            launcher->janitor = note.pid;
        } else {
            launcher->ranks[ranks++] = note.pid;
        }
    }
    launcher->janitor_pidfd = (int)syscall(SYS_pidfd_open, launcher->janitor, 0);
    launcher->life_fd = life[0];
    launcher->go_fd = go[1];
}

static bool ends(int fd, short events)
{
    struct pollfd wait = { .fd = fd, .events = events };

    return poll(&wait, 1, WAIT_MS) == 1;
}

Test(janitor, cleans_up_after_a_killed_launcher, .init = setup, .fini = directory_remove,
     .timeout = 120)
{
    struct launcher launcher;

    touch("job/inner/file");
    touch("vader_segment.box.0.1ab2.0");
    touch("vader_segment.box.0.1ab.0");
    touch("other.1ab2.0");
    launcher_start(&launcher, false);
    cr_assert_eq(kill(launcher.pid, SIGKILL), 0);
    waitpid(launcher.pid, NULL, 0);
    cr_expect(ends(launcher.life_fd, POLLIN), "ranks or their children live on");
    if (launcher.janitor_pidfd >= 0) { /* Linux 5.3 */
        cr_expect(ends(launcher.janitor_pidfd, POLLIN), "the janitor does not end");
        cr_expect_not(there("job"));
        cr_expect_not(there("vader_segment.box.0.1ab2.0"));
    }
    cr_expect(there("vader_segment.box.0.1ab.0"), "another job's file");
    cr_expect(there("other.1ab2.0"), "another program's file");
}

static void expect_alive_and_end(const struct launcher *launcher)
{
    for (int i = 0; i < RANKS; i++) {
        cr_expect_eq(kill(-launcher->ranks[i], SIGKILL), 0, "rank %d was killed", i);
    }
    cr_expect(ends(launcher->life_fd, POLLIN));
}

Test(janitor, a_goodbye_leaves_everything, .init = setup, .fini = directory_remove, .timeout = 120)
{
    struct launcher launcher;
    int status = -1;

    launcher_start(&launcher, false);
    close(launcher.go_fd);
    cr_expect_eq(waitpid(launcher.pid, &status, 0), launcher.pid);
    cr_expect_eq(status, 0);
    cr_expect(kill(launcher.janitor, 0) != 0 && errno == ESRCH, "waited for and gone");
    cr_expect(there("job/inner"));
    expect_alive_and_end(&launcher);
}

Test(janitor, that_is_stopped_does_not_hold_its_launcher, .init = setup, .fini = directory_remove,
     .timeout = 60)
{
    struct launcher launcher;
    int status = -1;

    launcher_start(&launcher, false);
    cr_assert_eq(kill(launcher.janitor, SIGSTOP), 0);
    close(launcher.go_fd);
    cr_expect_eq(waitpid(launcher.pid, &status, 0), launcher.pid);
    cr_expect_eq(status, 0);
    cr_expect(kill(launcher.janitor, 0) != 0 && errno == ESRCH, "killed and reaped");
    expect_alive_and_end(&launcher);
}

Test(janitor, forgets_a_group_that_is_taken_back, .init = setup, .fini = directory_remove,
     .timeout = 120)
{
    struct launcher launcher;

    launcher_start(&launcher, true);
    cr_assert_eq(kill(launcher.pid, SIGKILL), 0);
    waitpid(launcher.pid, NULL, 0);
    if (launcher.janitor_pidfd >= 0) {
        cr_expect(ends(launcher.janitor_pidfd, POLLIN));
        cr_expect_not(there("job"));
    }
    expect_alive_and_end(&launcher);
}

#define END_MS 100 /* longer than a janitor that waits for nothing takes */

/* It ends slowly: its socket first, and then itself. */
__attribute__((noreturn)) static void slow_launcher_main(int notified_fd)
{
    const struct sx_rendezvous_options options = { .dir = dir, .uid = geteuid(), .gid = getegid() };
    struct sx_rendezvous server = { .listen_fd = -1 };
    struct sx_contact_file file = SX_CONTACT_FILE_NULL;
    struct sx_contact contact = { .pid = getpid(), .uid = geteuid(), .gid = getegid() };
    struct sx_janitor janitor;
    const char *why;

    if (sx_rendezvous_open(&server, &options) != PMIX_SUCCESS) {
        _exit(1);
    }
    PMIx_Load_procid(&contact.server, "a.name", 0);
    snprintf(contact.uri, sizeof(contact.uri), "a.name.0;%s", server.uri);
    const struct sx_contact_place place = { .dir = dir, .name = "pmix.sys.box", .mode = 0644 };

    if (sx_contact_file_open(&file, &place, &contact, NULL, &why) != 0 ||
        sx_janitor_init(&janitor) != 0) {
        _exit(1);
    }
    sx_janitor_contact_add(&janitor, dir, "pmix.sys.box");
    note_send(notified_fd, NOTE_JANITOR, janitor.pid);
    close(janitor.fd);
    poll(NULL, 0, END_MS);
    _exit(0);
}

Test(janitor, waits_until_the_launcher_itself_has_ended, .init = setup, .fini = directory_remove,
     .timeout = 120)
{
    struct note note;
    int notified[2];

    cr_assert_eq(pipe2(notified, O_CLOEXEC), 0);
    const pid_t pid = fork();

    if (pid == 0) {
        slow_launcher_main(notified[1]);
    }
    close(notified[1]);
    cr_assert_eq(read(notified[0], &note, sizeof(note)), sizeof(note));
    const int janitor_pidfd = (int)syscall(SYS_pidfd_open, note.pid, 0);

    waitpid(pid, NULL, 0);
    if (janitor_pidfd >= 0) {
        cr_expect(ends(janitor_pidfd, POLLIN));
        cr_expect_not(there("pmix.sys.box"), "it was taken for a live server's");
    }
}
