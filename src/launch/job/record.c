/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.c - one field on each line; times are UTC, in the form of ISO 8601. */
#include "launch/job/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pmix.h>
#include <poll.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/util.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/file.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/pmi/host.h"
#include "launch/pmi/pmi1.h"
#include "launch/pmi/upcall.h"

#define FORMAT 1       /* raised when a field changes its meaning */
#define WAIT_SECONDS 5 /* for a reader of the record that takes nothing */
#define NOT_TAKEN (-1) /* in place of errno: it took nothing */

void sx_run_record_init(struct sx_run_record *record, char *const *words)
{
    size_t count = 0;

    while (words[count] != NULL) {
        count++;
    }
    *record = (struct sx_run_record){ .begun_ns = sx_now_ns() };
    record->command = sx_cli_calloc(count + 1, sizeof(*record->command));
    memcpy(record->command, words, count * sizeof(*words));
}

void sx_run_record_deinit(struct sx_run_record *record)
{
    if (record->past != NULL) {
        fclose(record->past);
    }
    free(record->past_text);
    free(record->command);
    free(record->reason);
    *record = (struct sx_run_record){ .path = NULL };
}

int sx_run_record_judge(const char *path)
{
    struct sx_file_at at;
    int why = strcmp(path, "-") == 0 ? 0 : sx_file_find(path, false, &at);

    if (strcmp(path, "-") == 0 || why != 0) {
        return why;
    }
    const bool is_replaced = !at.is_magic && (!at.is_there || S_ISREG(at.st.st_mode));

    if (at.is_there && S_ISDIR(at.st.st_mode)) {
        why = EISDIR;
    } else if (is_replaced && faccessat(at.dir_fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        why = errno;
    }
    close(at.dir_fd);
    return why;
}

void sx_run_record_reason(struct sx_run_record *record)
{
    record->reason_due = record->reason == NULL;
}

void sx_run_record_said(struct sx_run_record *record, const char *line)
{
    if (record->reason_due) {
        const char *const text = strstr(line, ": "); /* the text that follows the command's name */

        record->reason_due = false;
        record->reason = sx_cli_strdup(text == NULL ? line : text + 2);
        record->reason[strcspn(record->reason, "\n")] = '\0';
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

void sx_run_record_started(struct sx_run_rank *rank)
{
    if (rank->past.begun_ns == 0) {
        rank->past.begun_ns = sx_now_ns();
    }
}

static uint64_t us_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

void sx_run_record_ended(struct sx_run_rank *rank, const siginfo_t *info,
                         const struct rusage *usage)
{
    struct sx_run_past_life *const past = &rank->past;

    past->ended_ns = sx_now_ns();
    past->signal = info->si_code == CLD_EXITED ? 0 : info->si_status;
    past->core_dumped = info->si_code == CLD_DUMPED;
    past->user_us += us_of(&usage->ru_utime);
    past->system_us += us_of(&usage->ru_stime);
    if ((uint64_t)usage->ru_maxrss > past->rss_max_kib) {
        past->rss_max_kib = (uint64_t)usage->ru_maxrss;
    }
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void string_print(FILE *out, const char *text)
{
    if (text == NULL) {
        fprintf(out, "null");
    } else {
        sx_json_string_to(out, text, strlen(text));
    }
}

/* @ns is a time of the monotonic clock; 0: it was not reached. */
static void time_print(FILE *out, uint64_t at_ns)
{
    struct timespec wall;
    struct tm utc;
    char text[32];

    if (at_ns == 0) {
        fprintf(out, "null");
        return;
    }
    clock_gettime(CLOCK_REALTIME, &wall);
    const uint64_t wall_ns = (uint64_t)wall.tv_sec * SX_NS_PER_SEC + (uint64_t)wall.tv_nsec -
                             (sx_now_ns() - at_ns);
    const time_t seconds = (time_t)(wall_ns / SX_NS_PER_SEC);

    gmtime_r(&seconds, &utc);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(out, "\"%s.%03uZ\"", text, (unsigned)(wall_ns % SX_NS_PER_SEC / SX_NS_PER_MS));
}

static void times_print(FILE *out, uint64_t begun_ns, uint64_t ended_ns)
{
    fprintf(out, "\"start\":");
    time_print(out, begun_ns);
    fprintf(out, ",\"end\":");
    time_print(out, ended_ns);
    fprintf(out, ",\"elapsed_s\":%.3f",
            ended_ns > begun_ns ? (double)(ended_ns - begun_ns) / (double)SX_NS_PER_SEC : 0.0);
}

static void words_print(FILE *out, char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        fputs(i == 0 ? "" : ",", out);
        string_print(out, words[i]);
    }
}

static const char *state_of(const struct sx_run_rank *rank)
{
    return rank->past.begun_ns == 0 ? "not started"
           : !rank->past.has_come   ? "never connected"
           : rank->past.has_left    ? "finalized"
                                    : "lost";
}

static void rank_print(FILE *out, const struct sx_run_job *job, uint32_t number)
{
    const struct sx_run_rank *const rank = &job->ranks[number];
    const struct sx_run_past_life *const past = &rank->past;

    fprintf(out, "%s\n   {\"rank\":%" PRIu32 ",\"pid\":%ld,\"state\":\"%s\",",
            number == 0 ? "" : ",", number, (long)rank->pid, state_of(rank));
    times_print(out, past->begun_ns, past->ended_ns);
    if (past->ended_ns == 0 || past->signal != 0) {
        fprintf(out, ",\"exit_code\":null");
    } else {
        fprintf(out, ",\"exit_code\":%d", rank->exit_code);
    }
    if (past->signal == 0) {
        fprintf(out, ",\"signal\":null");
    } else {
        fprintf(out, ",\"signal\":%d", past->signal);
    }
    fprintf(out,
            ",\"core_dumped\":%s,\"restarts\":%" PRIu32 ",\"max_rss_kib\":%" PRIu64
            ",\"user_s\":%.6f,\"system_s\":%.6f}",
            past->core_dumped ? "true" : "false", rank->restarts, past->rss_max_kib,
            (double)past->user_us / 1e6, (double)past->system_us / 1e6);
}

static void job_print(FILE *out, const struct sx_run_job *job)
{
    fprintf(out, "\n  {\"namespace\":");
    string_print(out, job->nspace);
    fprintf(out, ",\"spawned_by\":");
    if (job->request == NULL) {
        fprintf(out, "null,");
    } else {
        fprintf(out, "{\"namespace\":");
        string_print(out, job->request->parent.nspace);
        fprintf(out, ",\"rank\":%" PRIu32 "},", job->request->parent.rank);
    }
    times_print(out, job->begun_ns, job->ended_ns);
    fprintf(out, ",\"status\":");
    string_print(out, job->ended_ns == 0 ? NULL : PMIx_Error_string(job->fate));
    fprintf(out, ",\"failed_rank\":");
    if (job->failed_rank == UINT32_MAX) {
        fprintf(out, "null,\"programs\":[");
    } else {
        fprintf(out, "%" PRIu32 ",\"programs\":[", job->failed_rank);
    }
    for (uint32_t i = 0; i < job->app_count; i++) {
        fprintf(out, "%s\n   {\"ranks\":%" PRIu32 ",\"command\":[", i == 0 ? "" : ",",
                job->apps[i].rank_count);
        words_print(out, job->apps[i].program);
        fprintf(out, "]}");
    }
    fprintf(out, "],\"ranks\":[");
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        rank_print(out, job, rank);
    }
    fprintf(out, "]}");
}

static void head_print(FILE *out, const struct sx_run_record *record, int code)
{
    const struct passwd *const user = getpwuid(getuid());
    char *const dir = getcwd(NULL, 0);
    struct utsname machine;

    fprintf(out, "{\"format\":%d,\"version\":\"" SHMIX_VERSION "\",\"launcher_pid\":%ld", FORMAT,
            (long)getpid());
    fprintf(out, ",\"user\":{\"id\":%lu,\"name\":", (unsigned long)getuid());
    string_print(out, user == NULL ? NULL : user->pw_name);
    fprintf(out, "},\n \"host\":");
    string_print(out, uname(&machine) == 0 ? machine.nodename : NULL);
    fprintf(out, ",\"directory\":");
    string_print(out, dir);
    fprintf(out, ",\"command\":[\"shmix\",\"run\",");
    words_print(out, record->command);
    fprintf(out, "],\n ");
    times_print(out, record->begun_ns, sx_now_ns());
    fprintf(out, ",\"exit_code\":%d,\"reason\":", code);
    string_print(out, code == 0                ? NULL
                      : record->reason != NULL ? record->reason
                                               : "the job could not be started");
    free(dir);
}

static void record_print(FILE *out, struct sx_run_record *record, const struct sx_run_jobs *jobs,
                         int code)
{
    bool any = false;

    head_print(out, record, code);
    fprintf(out, ",\n \"jobs_left_out\":%" PRIu32 ",\"jobs\":[", record->left_out);
    for (uint32_t i = 0; i < jobs->count; i++) {
        fputs(any ? "," : "", out);
        job_print(out, jobs->at[i]);
        any = true;
    }
    if (record->past != NULL && fflush(record->past) == 0 && record->past_size > 0) {
        fputs(any ? "," : "", out);
        fwrite(record->past_text, 1, record->past_size, out);
    }
    fprintf(out, "]}\n");
}

void sx_run_record_past(struct sx_run_record *record, const struct sx_run_job *job)
{
    if (record->path == NULL) {
        return;
    }
    if (record->past == NULL) {
        record->past = open_memstream(&record->past_text, &record->past_size);
        if (record->past == NULL) {
            sx_cli_no_memory();
        }
    }
    if (record->past_size > SX_RUN_RECORD_BYTES_MAX) {
        record->left_out++;
        return;
    }
    fputs(record->past_size > 0 ? "," : "", record->past);
    job_print(record->past, job);
    fflush(record->past);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Write the whole record to @fd, which may block: a pipe that is ready has room for PIPE_BUF bytes.
 * A reader may take its time, but at most WAIT_SECONDS without taking a byte.  Return: 0, errno or
 * NOT_TAKEN. */
static int text_write(int fd, const char *text, size_t size)
{
    for (size_t done = 0; done < size;) {
        struct pollfd room = { .fd = fd, .events = POLLOUT };
        const int ready = poll(&room, 1, WAIT_SECONDS * 1000);

        if (ready == 0) {
            return NOT_TAKEN;
        }
        const size_t left = size - done;
        const ssize_t count = ready < 0 ? -1
                                        : write(fd, text + done, left < PIPE_BUF ? left : PIPE_BUF);

        if (count >= 0) {
            done += (size_t)count;
        } else if (errno != EINTR && errno != EAGAIN) {
            return errno;
        }
    }
    return 0;
}

/* Return: as text_write. */
static int record_write(int fd, struct sx_run_record *record, const struct sx_run_jobs *jobs,
                        int code)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL) {
        sx_cli_no_memory();
    }
    record_print(out, record, jobs, code);
    const int why = fclose(out) != 0 ? errno : text_write(fd, text, size);

    free(text);
    return why;
}

/* Write into @name of the folder of @at, which is a new file, or one that is not a regular file.
 * The launcher does not wait for a pipe without a reader, and not for ever for a reader that takes
 * nothing.  Return: as text_write. */
static int file_write(const struct sx_file_at *at, const char *name, int flags,
                      struct sx_run_record *record, const struct sx_run_jobs *jobs, int code)
{
    const int fd = openat(at->dir_fd, name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags,
                          0666);

    if (fd < 0) {
        return errno;
    }
    int why = record_write(fd, record, jobs, code);

    if (close(fd) != 0 && why == 0) {
        why = errno;
    }
    return why;
}

/* Write beside the file, and rename the new one when it is whole. */
static int file_replace(const struct sx_file_at *at, struct sx_run_record *record,
                        const struct sx_run_jobs *jobs, int code)
{
    char *const fresh = sx_cli_printf("%s.%ld.tmp", at->name, (long)getpid());
    int why = file_write(at, fresh, O_CREAT | O_EXCL | O_NOFOLLOW, record, jobs, code);

    if (why == 0 && renameat(at->dir_fd, fresh, at->dir_fd, at->name) != 0) {
        why = errno;
    }
    if (why != 0 && why != EEXIST) {
        unlinkat(at->dir_fd, fresh, 0);
    }
    free(fresh);
    return why;
}

static int named_write(const char *path, struct sx_run_record *record,
                       const struct sx_run_jobs *jobs, int code)
{
    struct sx_file_at at;
    int why = sx_file_find(path, false, &at);

    if (why == 0) {
        why = at.is_magic || (at.is_there && !S_ISREG(at.st.st_mode))
                  ? file_write(&at, at.name, O_APPEND | (at.is_magic ? 0 : O_NOFOLLOW), record,
                               jobs, code)
                  : file_replace(&at, record, jobs, code);
        close(at.dir_fd);
    }
    return why;
}

void sx_run_record_write(struct sx_run_record *record, const struct sx_run_jobs *jobs, int code)
{
    const char *const path = record->path;
    int why;

    if (path == NULL) {
        return;
    }
    if (strcmp(path, "-") == 0) {
        why = fflush(stdout) != 0 ? EIO : record_write(STDOUT_FILENO, record, jobs, code);
    } else {
        why = named_write(path, record, jobs, code);
    }
    if (why == NOT_TAKEN) {
        sx_say("cannot write '%.300s' (--report): its reader has taken nothing for %d seconds",
               path, WAIT_SECONDS);
    } else if (why != 0) {
        sx_say("cannot write '%.300s' (--report): %s", path, sx_file_cause(why));
    }
}

/* ---- lines to the user ----------------------------------------------------------------------- */

void sx_run_say_list(struct sx_run_state *run, const char *fmt, va_list args)
{
    char *line = sx_say_line(fmt, args);

    sx_run_record_said(run->setup->record, line);
    sx_run_sink_put(run->sink_of[1], run, line, strlen(line));
    free(line);
}

void sx_run_say(struct sx_run_state *run, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    sx_run_say_list(run, fmt, args);
    va_end(args);
}

/* ---- lines that ranks cause ------------------------------------------------------------------ */

#define CAUSED_LINES 64u /* without SHMIX_LOG_LINES */
#define CAUSED_LINES_MAX 1000000000u
#define CAUSED_SECONDS 60u

/* The lines of a minute, read once. */
static uint64_t caused_max(void)
{
    static uint64_t max; /* the launcher's thread alone */

    if (max == 0 &&
        sx_switch_number("SHMIX_LOG_LINES", 1, CAUSED_LINES_MAX, &max) != PMIX_SUCCESS) {
        max = 0;
    }
    max = max == 0 ? CAUSED_LINES : max;
    return max;
}

void sx_run_caused_end(struct sx_run_state *run)
{
    const uint64_t left_out = run->caused.left_out;

    run->caused = (struct sx_run_caused){ .until_ns = 0 };
    if (left_out > 0) {
        sx_run_say(run, "%llu lines that ranks caused were left out", (unsigned long long)left_out);
    }
}

/* Whether a line may be written that a rank has caused. */
static bool caused_take(struct sx_run_state *run)
{
    struct sx_run_caused *const caused = &run->caused;
    const uint64_t now_ns = sx_now_ns();

    if (caused->until_ns <= now_ns) {
        sx_run_caused_end(run);
        caused->until_ns = now_ns + CAUSED_SECONDS * SX_NS_PER_SEC;
    }
    if (caused->lines < caused_max()) {
        caused->lines++;
        return true;
    }
    if (caused->left_out++ == 0) {
        sx_run_say(run, "ranks have caused %llu lines in %u s: more are counted (SHMIX_LOG_LINES)",
                   (unsigned long long)caused->lines, CAUSED_SECONDS);
    }
    return false;
}

void sx_run_say_caused(struct sx_run_state *run, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (caused_take(run)) {
        sx_run_say_list(run, fmt, args);
    }
    va_end(args);
}

void sx_run_say_of_list(const struct sx_run_job *job, const char *fmt, va_list args)
{
    if (job->request == NULL || caused_take(job->run)) {
        sx_run_say_list(job->run, fmt, args);
    }
}

void sx_run_say_of(const struct sx_run_job *job, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    sx_run_say_of_list(job, fmt, args);
    va_end(args);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* One clock for each launcher, read when a step has ended. */

static uint64_t steps_begin_ns; /* 0: steps are not wanted */

void sx_run_steps_begin(bool notified)
{
    steps_begin_ns = notified ? sx_now_ns() : 0;
}

void sx_run_step(struct sx_run_state *run, const char *fmt, ...)
{
    va_list args;
    char *what;

    if (steps_begin_ns == 0) {
        return;
    }
    va_start(args, fmt);
    what = sx_cli_vprintf(fmt, args);
    va_end(args);
    sx_say_plain(what);
    const double ms = (double)(sx_now_ns() - steps_begin_ns) / 1e6;

    if (run != NULL) {
        sx_run_say(run, "%.3f ms: %s", ms, what);
    } else {
        sx_say("%.3f ms: %s", ms, what);
    }
    free(what);
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Counts are compared each turn of the loop; a line is written when they differ. */

#define PATIENCE_NS SX_NS_PER_SEC     /* a launch that ends sooner shows nothing */
#define PAUSE_NS (100 * SX_NS_PER_MS) /* between two lines */

void sx_run_progress_init(struct sx_run_progress *progress, bool wanted, uint64_t begin_ns)
{
    *progress = (struct sx_run_progress){ .on = wanted && isatty(STDERR_FILENO) == 1,
                                          .next_ns = sx_deadline_ns(begin_ns, PATIENCE_NS) };
}

/* Count the ranks of the command line that have been started.  Return: false when the launch is
 * over. */
static bool ranks_count(const struct sx_run_state *run, uint32_t *ret_up)
{
    uint32_t left = run->setup->options->rank_count;

    *ret_up = 0;
    for (uint32_t i = 0; i < run->jobs->count && left > 0; i++) {
        const struct sx_run_job *const job = run->jobs->at[i];

        if (job->caused || job->alive < job->spawned) {
            return false;
        }
        *ret_up += job->spawned;
        left -= job->rank_count;
    }
    return true;
}

static void line_show(struct sx_run_state *run, uint32_t up, uint32_t connected)
{
    char *const line = sx_cli_printf("shmix run: %u of %u ranks are up, %u connected", up,
                                     run->setup->options->rank_count, connected);

    sx_run_sink_show(run->sink_of[1], line, strlen(line));
    free(line);
}

/* The turn of the loop that this makes compares them. */
static void look_due(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
}

void sx_run_progress_look(struct sx_run_state *run, uint32_t connected, uint64_t now_ns)
{
    struct sx_run_progress *const progress = &run->progress;
    const uint32_t all = run->setup->options->rank_count;
    uint32_t up;

    if (!progress->on) {
        return;
    }
    sx_timer_remove(&progress->look);
    if (!ranks_count(run, &up) || connected >= all) {
        sx_run_sink_show(run->sink_of[1], "", 0);
        progress->on = false;
    } else if (up == all && connected == 0) {
        sx_run_sink_show(run->sink_of[1], "", 0);
    } else if (up == progress->up && connected == progress->connected) {
        return;
    } else if (now_ns < progress->next_ns) {
        sx_run_after(&run->loop, &progress->look, progress->next_ns - now_ns, look_due, NULL);
    } else {
        line_show(run, up, connected);
        progress->up = up;
        progress->connected = connected;
        progress->next_ns = sx_deadline_ns(now_ns, PAUSE_NS);
    }
}
