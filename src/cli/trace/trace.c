/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* trace.c - the verb: a launcher in a child, and then the files of its ranks.
 *
 *     FILE can be written? --> the folder --> `shmix run` in a child --its end--> FILE, summary
 *        \-- --from DIR: an earlier folder ------------------------------------^
 *
 * If FILE cannot be written at the end, the folder stays, and a line says how to try again. */
#include "cli/trace/trace.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/verbs.h"
#include "launch/common/file.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/launch.h"
#include "launch/place/program.h"

struct wish {
    const char *output, *from; /* from NULL: run a job */
    int64_t records, longest;
};

static bool records_set(void *at, const char *value)
{
    return sx_cli_number(value, 1, SX_TRACE_RECORDS_MAX, at);
}

static bool longest_set(void *at, const char *value)
{
    return sx_cli_number(value, 0, 1000000, at);
}

#define OF(member) offsetof(struct wish, member), false

static const struct sx_option rows[] = {
    { "--output", "-o", "FILE", "job.json", "the name of a file",
      "the timeline, which ui.perfetto.dev opens (shmix-trace.json)", sx_option_text, OF(output) },
    { "--records", NULL, "N", "1000000", "a number from 1 to 16777216",
      "keep the first N calls of each process, 192 bytes each (65536); further ones are counted",
      records_set, OF(records) },
    { "--longest", NULL, "N", "10", "a number from 0 on", "list the N longest calls (10)",
      longest_set, OF(longest) },
    { "--from", NULL, "DIR", "/tmp/shmix-trace-a1b2c3", "a folder of records",
      "start no job, but use the records in DIR", sx_option_text, OF(from) },
    { .name = "[RUN OPTIONS] PROGRAM [ARGS]...", .help = "as of 'shmix run'" },
};

static const char about[] =
    "usage: shmix trace [-o FILE] [--records N] [options of shmix run] PROGRAM [ARGS]...\n"
    "\n"
    "Run a job as 'shmix run' does, and record each call of PMIx that its ranks make: when, for\n"
    "how long, about which key and process, with which result. The records become a timeline, in\n"
    "the format of Chrome's trace events, and a summary on stderr: figures of each function, the\n"
    "longest waits, and for whom.\n"
    "\n";

static const char more[] = "\n"
                           "examples:\n"
                           "  shmix trace -n 4 ./solver\n"
                           "  shmix trace -o job.json --longest 20 -n 2 ./server : -n 4 ./client\n"
                           "  shmix trace --from /tmp/shmix-trace-a1b2c3 -o job.json\n"
                           "\n"
                           "Exit code: that of the job; 1 when the timeline was not written.\n";

static const struct sx_habit habits[] = {
    { "--summary", "is not needed: the summary is always on stderr", false },
    { NULL, NULL, false },
};

const struct sx_verb sx_trace_verb = {
    .name = "shmix trace",
    .try_begin = "shmix trace",
    .try_end = " ./solver",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
    .habits = habits,
};

/* ---- the folder ------------------------------------------------------------------------------ */

/* Return: malloc'ed; NULL with a message. */
static char *folder_make(void)
{
    const char *const tmp = getenv("TMPDIR");
    char *const dir = sx_cli_printf("%s/shmix-trace-XXXXXX",
                                    tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");

    if (mkdtemp(dir) == NULL) {
        sx_say("cannot make a folder for the records, '%.255s' (%s); TMPDIR names another place",
               dir, strerror(errno));
        free(dir);
        return NULL;
    }
    return dir;
}

static void folder_remove(const char *dir)
{
    DIR *const folder = opendir(dir);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    (void)rmdir(dir);
}

/* ---- the job --------------------------------------------------------------------------------- */

/* The library that is preloaded.  Return: malloc'ed; NULL with a message. */
static char *recorder_find(void)
{
    char message[SX_RUN_MESSAGE_MAX] = "";
    char *const exe = sx_proc_exe();
    char *const folder = exe == NULL ? NULL : sx_run_env_lib_dir(exe, message);
    char *path = folder == NULL ? NULL : sx_cli_printf("%s/shmix/" SX_TRACE_LIBRARY, folder);

    if (exe != NULL && folder == NULL) {
        sx_say("%s", message);
    } else if (path != NULL && access(path, R_OK) != 0) {
        sx_say("'%.300s' is not installed (%s): install the command again", path, strerror(errno));
        free(path);
        path = NULL;
    }
    free(folder);
    free(exe);
    return path;
}

static void environment_set(const char *recorder, const char *dir, int64_t records)
{
    const char *const others = getenv("LD_PRELOAD");
    char *const preload = sx_cli_printf("%s%s%s", recorder, others != NULL ? ":" : "",
                                        others != NULL ? others : "");
    char *const count = sx_cli_printf("%lld", (long long)records);

    setenv("LD_PRELOAD", preload, 1);
    setenv(SX_TRACE_DIR_VARIABLE, dir, 1);
    setenv(SX_TRACE_RECORDS_VARIABLE, count, 1);
    free(preload);
    free(count);
}

/* A terminal gives its signals to the launcher as well; those of other processes are passed on. */
static void signal_pass(const siginfo_t *info, pid_t child)
{
    const bool of_terminal = info->si_code == SI_KERNEL;

    if (info->si_signo != SIGCHLD && info->si_signo != SIGWINCH && !of_terminal) {
        kill(child, info->si_signo);
    }
}

/* Return: the exit code of the launcher. */
static int child_await(pid_t child, const sigset_t *signals)
{
    int status = 0;

    while (waitpid(child, &status, WNOHANG) != child) {
        siginfo_t info;

        if (sigwaitinfo(signals, &info) > 0) {
            signal_pass(&info, child);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Return: the exit code of the launcher; -1 with a message. */
static int job_run(char **words)
{
    static const int passed[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
    const pid_t parent = getpid();
    sigset_t signals, before;

    sigemptyset(&signals);
    for (size_t i = 0; i < SX_COUNT(passed); i++) {
        sigaddset(&signals, passed[i]);
    }
    sigprocmask(SIG_BLOCK, &signals, &before);
    const pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigprocmask(SIG_SETMASK, &before, NULL);
        exit(getppid() == parent ? sx_launch(words, sx_now_ns()) : SX_EXIT_FAILURE);
    }
    const int code = child < 0 ? -1 : child_await(child, &signals);

    if (child < 0) {
        sx_say("cannot fork (%s)", strerror(errno));
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int none_say(const struct wish *wish, bool said)
{
    if (!said) {
        sx_say("no process has called PMIx, so '%.255s' is not written: is the program linked "
               "statically or set-uid, or no program of PMIx?",
               wish->output);
    }
    return SX_EXIT_FAILURE;
}

/* Write the timeline of @set, which is not empty.  Return: the exit code; -1: the records in @dir
 * have to stay. */
static int timeline_write(const struct wish *wish, const struct sx_trace_set *set, const char *dir,
                          struct sx_replace *file)
{
    sx_trace_timeline(set, file->out);
    if (sx_replace_end(file)) {
        return 0;
    }
    sx_say("cannot write '%.255s' (%s); the records stay: shmix trace --from %.255s -o FILE",
           wish->output, sx_file_cause(errno), dir);
    return -1;
}

/* @failed: the job has reported an error.  Return: as above. */
static int records_use(const struct wish *wish, const char *dir, struct sx_replace *file,
                       bool failed)
{
    struct sx_trace_set set = { .items = NULL };
    int code = SX_EXIT_FAILURE;

    if (!sx_trace_read(dir, &set)) {
        code = -1;
    } else if (set.item_count == 0) {
        code = none_say(wish, failed);
    } else {
        sx_trace_waits(&set);
        code = timeline_write(wish, &set, dir, file);
        sx_trace_summary(&set, (size_t)wish->longest, stderr);
    }
    sx_trace_free(&set);
    return code;
}

static int run(const struct wish *wish, char **words, struct sx_replace *file)
{
    char *const recorder = recorder_find();
    char *const dir = recorder == NULL ? NULL : folder_make();
    int code = SX_EXIT_FAILURE, made;

    if (dir != NULL) {
        environment_set(recorder, dir, wish->records);
        code = job_run(words);
        made = records_use(wish, dir, file, code != 0);
        if (made >= 0) {
            folder_remove(dir);
        }
        code = code == 0 && made != 0 ? SX_EXIT_FAILURE : code;
    }
    free(dir);
    free(recorder);
    return code < 0 ? SX_EXIT_FAILURE : code;
}

/* The number of words at the begin of @words that are options of this verb, with their values. */
static size_t own_count(char *const *words)
{
    static const char *const own[] = { "--output", "-o", "--records", "--longest", "--from" };
    size_t count = 0;

    for (const char *word; (word = words[count]) != NULL;) {
        const size_t len = strcspn(word, "=");
        bool is_own = false;

        for (size_t i = 0; i < SX_COUNT(own); i++) {
            is_own = is_own || (strlen(own[i]) == len && strncmp(own[i], word, len) == 0);
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
            strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
            strcmp(word, "--summary") == 0) {
            return count + 1;
        }
        if (!is_own) {
            break;
        }
        count += 1 + (word[len] == '\0' && words[count + 1] != NULL);
    }
    return count;
}

/* The options of this verb end where those of `shmix run` begin. */
static int options_take(struct wish *wish, char **words, size_t count)
{
    char *const rest = words[count];
    char **own = words;

    words[count] = NULL;
    const int code = sx_options_take(&sx_trace_verb, wish, NULL, &own);

    words[count] = rest;
    return code;
}

int sx_cli_trace(char **words)
{
    struct wish wish = { .output = "shmix-trace.json", .records = SX_TRACE_RECORDS, .longest = 10 };
    const size_t own = own_count(words);
    int code = options_take(&wish, words, own);
    struct sx_replace file = { .out = NULL };

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (wish.from == NULL && words[own] == NULL) {
        return sx_options_refuse(&sx_trace_verb, NULL, "which program?");
    }
    if (wish.from != NULL && words[own] != NULL) {
        return sx_options_refuse(&sx_trace_verb, NULL,
                                 "'%.80s' is one word too many: --from starts no program",
                                 words[own]);
    }
    if (!sx_replace_open(&file, wish.output)) {
        sx_say("cannot write '%.255s' (%s); -o names another file", wish.output,
               sx_file_cause(errno));
        return SX_EXIT_FAILURE;
    }
    code = wish.from != NULL ? records_use(&wish, wish.from, &file, false) != 0
                             : run(&wish, words + own, &file);
    sx_replace_abandon(&file);
    return code;
}
