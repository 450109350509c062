/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.c - one process of gdb or eu-stack for each process that is looked at, a few at a time.
 *
 *     RUNS --its end (pidfd)--> the output is parsed
 *       \--the time, or the bytes, are over--> SIGTERM: it lets the process go --> SIGKILL
 *
 * A tool that is killed while it stops a process may leave it stopped: then it is continued, unless
 * it was stopped before. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/stack/stack.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"

#define AT_ONCE_MAX 8u
#define GRACE_NS SX_NS_PER_SEC /* between SIGTERM and SIGKILL */

enum step { FREE, RUNS, ASKED, KILLED };

struct look {
    struct sx_stack_process *process;
    enum step step;
    pid_t child;
    int pidfd, out; /* of the child: its end, and its output */
    uint64_t deadline_ns;
    char *text;
    size_t used;
    bool was_stopped, too_long, too_much;
};

/* ---- finding --------------------------------------------------------------------------------- */

/* Return: malloc'ed; NULL when no folder of PATH has @name. */
static char *path_find(const char *name)
{
    const char *folders = getenv("PATH");

    for (size_t len; folders != NULL && *folders != '\0'; folders += len + (folders[len] == ':')) {
        len = strcspn(folders, ":");
        char *const path = sx_cli_printf("%.*s/%s", (int)len, folders, name);

        if (len > 0 && access(path, X_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}

bool sx_stack_tool_find(const char *name, struct sx_stack_tool *ret)
{
    ret->path = name == NULL || strcmp(name, "gdb") != 0 ? path_find("eu-stack") : NULL;
    if (ret->path == NULL && (name == NULL || strcmp(name, "gdb") == 0)) {
        ret->path = path_find("gdb");
        ret->is_gdb = true;
    }
    if (ret->path == NULL) {
        sx_say("no stack traces: %s in PATH; install %s",
               name == NULL               ? "neither eu-stack nor gdb is"
               : strcmp(name, "gdb") == 0 ? "gdb is not"
                                          : "eu-stack is not",
               name == NULL               ? "elfutils (it has eu-stack) or gdb"
               : strcmp(name, "gdb") == 0 ? "gdb"
                                          : "elfutils");
    }
    return ret->path != NULL;
}

/* ---- the child ------------------------------------------------------------------------------- */

/* The program's own scripts are not run, and nothing is fetched from a server of symbols. */
static void words_execute(const struct sx_stack_tool *tool, pid_t pid)
{
    char number[16], frames[16], command[48];

    snprintf(number, sizeof(number), "%d", (int)pid);
    snprintf(frames, sizeof(frames), "%u", tool->frames_max + 1);
    snprintf(command, sizeof(command), "thread apply all bt %u", tool->frames_max + 1);
    if (tool->is_gdb) {
        execl(tool->path, "gdb", "-nx", "-batch", "-iex", "set auto-load no", "-iex",
              "set print frame-arguments none", "-p", number, "-ex", command, (char *)NULL);
    } else {
        execl(tool->path, "eu-stack", "-p", number, "-m", "-s", "-n", frames, (char *)NULL);
    }
    fprintf(stderr, "%s: %s\n", tool->path, strerror(errno));
    _exit(127);
}

static void child_be(const struct sx_stack_tool *tool, pid_t pid, int out, pid_t parent)
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0) {
        _exit(127);
    }
    unsetenv("DEBUGINFOD_URLS");
    words_execute(tool, pid);
}

/* Another user of such a tool may hold the process for a moment.  Return: false, with a problem,
 * when it is held for longer. */
static bool tracer_await(const struct sx_stack_tool *tool, struct sx_stack_process *process)
{
    const struct timespec pause = { .tv_nsec = 5 * SX_NS_PER_MS };
    pid_t tracer;

    while ((tracer = sx_proc_tracer(process->pid)) != 0 && sx_now_ns() < tool->patience_ns) {
        nanosleep(&pause, NULL);
    }
    if (tracer != 0) {
        process->problem = sx_cli_printf("process %d, a debugger or the like, holds it",
                                         (int)tracer);
    }
    return tracer == 0;
}

static void look_begin(struct look *look, const struct sx_stack_tool *tool,
                       struct sx_stack_process *process)
{
    const pid_t parent = getpid();
    int ends[2];

    *look = (struct look){ .process = process, .pidfd = -1, .out = -1 };
    if (!tracer_await(tool, process)) {
        return;
    }
    look->was_stopped = sx_proc_state(process->pid) == 'T';
    if (pipe2(ends, O_CLOEXEC) != 0 || (look->child = fork()) < 0) {
        process->problem = sx_cli_printf("%s cannot be started (%s)", tool->path, strerror(errno));
        return;
    }
    if (look->child == 0) {
        child_be(tool, process->pid, ends[1], parent);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    look->out = ends[0];
    look->pidfd = (int)syscall(SYS_pidfd_open, look->child, 0);
    look->text = sx_cli_calloc(1, SX_STACK_OUTPUT_MAX + 1);
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), tool->limit_ns);

    look->deadline_ns = deadline_ns < tool->deadline_ns ? deadline_ns : tool->deadline_ns;
    look->step = RUNS;
}

/* ---- its output and its end ------------------------------------------------------------------ */

static void look_stop(struct look *look)
{
    kill(look->child, look->step == RUNS ? SIGTERM : SIGKILL);
    look->deadline_ns = look->step == RUNS ? sx_deadline_ns(sx_now_ns(), GRACE_NS)
                                           : SX_DEADLINE_NEVER;
    look->step = look->step == RUNS ? ASKED : KILLED;
}

static void output_take(struct look *look)
{
    char rest[4096];
    ssize_t got;

    do {
        const size_t room = SX_STACK_OUTPUT_MAX - look->used;

        got = read(look->out, room > 0 ? look->text + look->used : rest,
                   room > 0 ? room : sizeof(rest));
        look->used += got > 0 && room > 0 ? (size_t)got : 0;
        if (got > 0 && room == 0 && look->step == RUNS) {
            look->too_much = true;
            look_stop(look);
        }
    } while (got > 0);
    if (got == 0) {
        close(look->out);
        look->out = -1;
    }
}

static void threads_name(struct sx_stack_process *process)
{
    for (size_t i = 0; i < process->threads.count; i++) {
        struct sx_stack_thread *const thread = &process->threads.at[i];
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)process->pid, (int)thread->tid);
        FILE *const file = fopen(path, "re");

        if (file != NULL && fgets(thread->name, sizeof(thread->name), file) != NULL) {
            thread->name[strcspn(thread->name, "\n")] = '\0';
        }
        if (file != NULL) {
            fclose(file);
        }
    }
}

/* The place in the kernel of a process that no tool could stop. */
static char *hang_text(pid_t pid)
{
    struct sx_proc_hang hang;

    if (sx_proc_works(pid, &hang)) {
        return sx_cli_strdup("");
    }
    return sx_cli_printf("; its state is '%c', and it waits in the kernel%s%s", hang.state,
                         hang.where[0] != '\0' ? ", in " : "", hang.where);
}

static char *complaint_text(const struct sx_stack_process *process)
{
    const char *const said = process->threads.complaint;
    const int len = (int)strlen(said) - (said[0] != '\0' && said[strlen(said) - 1] == '.');

    if (sx_proc_has_ended(process->pid) || sx_proc_state(process->pid) == 'Z') {
        return sx_cli_strdup("it has ended");
    }
    return sx_cli_printf("%.*s%s", len > 0 ? len : 28, len > 0 ? said : "the tool shows no thread",
                         strstr(said, "ermi") != NULL
                             ? ": may it be traced here? See ptrace_scope in "
                               "/proc/sys/kernel/yama, and a container's rights (SYS_PTRACE)"
                             : "");
}

static void problem_find(const struct look *look, const struct sx_stack_tool *tool)
{
    struct sx_stack_process *const process = look->process;

    if (look->too_long) {
        char *const hang = hang_text(process->pid);

        process->problem = sx_cli_printf("%s has not shown it in time%s", tool->path, hang);
        free(hang);
        sx_stack_threads_free(&process->threads);
    } else if (process->threads.count == 0) {
        process->problem = complaint_text(process);
    } else if (look->too_much) {
        sx_say("process %d: only the first %u MiB of its stacks are shown", (int)process->pid,
               SX_STACK_OUTPUT_MAX >> 20);
    }
}

static void look_end(struct look *look, const struct sx_stack_tool *tool)
{
    struct sx_stack_process *const process = look->process;

    if (look->out >= 0) {
        output_take(look);
    }
    while (waitpid(look->child, NULL, 0) < 0 && errno == EINTR) {
    }
    sx_stack_parse(look->text, tool->frames_max, &process->threads);
    threads_name(process);
    problem_find(look, tool);
    if (look->step != RUNS && !look->was_stopped && sx_proc_state(process->pid) == 'T') {
        kill(process->pid, SIGCONT);
    }
    if (look->out >= 0) {
        close(look->out);
    }
    close(look->pidfd);
    free(look->text);
    look->step = FREE;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static unsigned at_once(void)
{
    cpu_set_t mine;
    const int count = sched_getaffinity(0, sizeof(mine), &mine) == 0 ? CPU_COUNT(&mine) : 1;

    return (unsigned)count < AT_ONCE_MAX ? (unsigned)count : AT_ONCE_MAX;
}

static int wait_ms(const struct look *looks, unsigned count)
{
    uint64_t next_ns = SX_DEADLINE_NEVER;
    const uint64_t now_ns = sx_now_ns();

    for (unsigned i = 0; i < count; i++) {
        if (looks[i].step != FREE && looks[i].deadline_ns < next_ns) {
            next_ns = looks[i].deadline_ns;
        }
    }
    return next_ns == SX_DEADLINE_NEVER ? -1
           : next_ns <= now_ns          ? 0
                                        : (int)((next_ns - now_ns) / SX_NS_PER_MS + 1);
}

static void wait_once(struct look *looks, unsigned count, const struct sx_stack_tool *tool)
{
    struct pollfd polls[2 * AT_ONCE_MAX];

    for (unsigned i = 0; i < count; i++) {
        const bool runs = looks[i].step != FREE;

        polls[2 * i] = (struct pollfd){ .fd = runs ? looks[i].out : -1, .events = POLLIN };
        polls[2 * i + 1] = (struct pollfd){ .fd = runs ? looks[i].pidfd : -1, .events = POLLIN };
    }
    if (poll(polls, 2 * count, wait_ms(looks, count)) < 0) {
        return;
    }
    const uint64_t now_ns = sx_now_ns();

    for (unsigned i = 0; i < count; i++) {
        if (looks[i].step != FREE && polls[2 * i].revents != 0) {
            output_take(&looks[i]);
        }
        if (looks[i].step != FREE && polls[2 * i + 1].revents != 0) {
            look_end(&looks[i], tool);
        } else if (looks[i].step != FREE && looks[i].deadline_ns <= now_ns) {
            looks[i].too_long = looks[i].too_long || !looks[i].too_much;
            look_stop(&looks[i]);
        }
    }
}

/* The time of all is over: the processes that have not begun are left out. */
static void rest_skip(struct sx_stack_list *list, size_t next)
{
    for (; next < list->count; next++) {
        if (list->at[next].problem == NULL) {
            list->at[next].problem = sx_cli_strdup("the time was over before its turn");
        }
    }
}

/* Begin the next process that has no problem yet.  Return: false when all have begun. */
static bool next_begin(struct look *look, const struct sx_stack_tool *tool,
                       struct sx_stack_list *list, size_t *next)
{
    if (sx_now_ns() >= tool->deadline_ns) {
        rest_skip(list, *next);
    }
    while (*next < list->count && list->at[*next].problem != NULL) {
        (*next)++;
    }
    if (*next == list->count) {
        return false;
    }
    look_begin(look, tool, &list->at[(*next)++]);
    return true;
}

void sx_stack_tool_run(const struct sx_stack_tool *tool, struct sx_stack_list *list)
{
    struct look looks[AT_ONCE_MAX] = { { .step = FREE } };
    const unsigned count = at_once();
    size_t next = 0;
    bool busy = true;

    while (busy) {
        busy = false;
        for (unsigned i = 0; i < count; i++) {
            while (looks[i].step == FREE && next_begin(&looks[i], tool, list, &next)) {
            }
            busy = busy || looks[i].step != FREE;
        }
        if (busy) {
            wait_once(looks, count, tool);
        }
    }
}
