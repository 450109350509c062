/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* failure.c - one place decides whether a job continues. */
#include "launch/job/state.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/diagnose.h"
#include "launch/pmi/pmi1.h"
#include "launch/stdio/forward.h"
#include "launch/stdio/input.h"

#define LOST_GRACE_NS (250 * SX_NS_PER_MS) /* time in which a wrapper can end after its program */

static bool goes_on(const struct sx_run_job *job)
{
    return job->options->on_failure == SX_RUN_ON_FAILURE_NOTIFY;
}

void sx_run_failure_deinit(struct sx_run_job *job)
{
    while (job->aborts != NULL) {
        struct sx_run_news *news = job->aborts;

        job->aborts = news->next;
        sx_run_news_answer(news);
    }
}

struct words {
    char text[128];
};

/* "job 1, rank 3 (pid 4711) on box" */
static struct words who(const struct sx_run_job *job, uint32_t rank)
{
    const long pid = rank < job->spawned ? (long)job->ranks[rank].pid : 0L;
    struct words words;

    snprintf(words.text, sizeof(words.text), "%srank %u (pid %ld) on %s", job->prefix, rank, pid,
             job->run->host);
    return words;
}

/* ---- ranks that end -------------------------------------------------------------------------- */

struct verdict {
    int code;            /* as a shell would have it */
    pmix_status_t event; /* the event that the job receives */
    pmix_status_t fate;  /* of the job */
    pmix_proc_state_t state;
    char text[1024];
};

static struct verdict judge(const siginfo_t *info)
{
    struct verdict verdict = { .code = SX_EXIT_FAILURE,
                               .event = PMIX_ERR_PROC_TERM_WO_SYNC,
                               .fate = PMIX_ERR_JOB_TERM_WO_SYNC,
                               .state = PMIX_PROC_STATE_TERM_WO_SYNC };

    if (info->si_code != CLD_EXITED) {
        verdict.code = SX_RUN_EXIT_SIGNAL + info->si_status;
        verdict.event = PMIX_ERR_PROC_ABORTED_BY_SIG;
        verdict.fate = PMIX_ERR_JOB_ABORTED_BY_SIG;
        verdict.state = PMIX_PROC_STATE_ABORTED_BY_SIG;
        snprintf(verdict.text, sizeof(verdict.text), "was killed by signal %d (%s%s)",
                 info->si_status, strsignal(info->si_status),
                 info->si_code == CLD_DUMPED ? ", core dumped" : "");
    } else if (info->si_status != 0) {
        verdict.code = info->si_status;
        verdict.event = PMIX_ERR_EXIT_NONZERO_TERM;
        verdict.fate = PMIX_ERR_JOB_NON_ZERO_TERM;
        verdict.state = PMIX_PROC_STATE_TERM_NON_ZERO;
        snprintf(verdict.text, sizeof(verdict.text), "exited with status %d", info->si_status);
    } else {
        snprintf(verdict.text, sizeof(verdict.text),
                 "exited without PMIx_Finalize "
                 "(MPI_Finalize)");
    }
    return verdict;
}

/* The file that holds the core, if there is one and it is known. */
static void core_add(const struct sx_run_job *job, uint32_t rank, const siginfo_t *info,
                     struct verdict *verdict)
{
    const struct sx_run_app *const app = sx_run_job_app(job, rank);
    const time_t age = (time_t)((sx_now_ns() - job->run->setup->begin_ns) / SX_NS_PER_SEC);
    const size_t used = strlen(verdict->text);
    const struct sx_run_program *const program = info->si_code != CLD_DUMPED
                                                     ? NULL
                                                     : &job->programs[app - job->apps];
    /* The folder that a spawn named may be on a file system that hangs: it is not searched. */
    char *const where = program == NULL || (job->request != NULL && program->wdir != NULL)
                            ? NULL
                            : sx_run_core_of(job->ranks[rank].pid, info->si_status, program->wdir,
                                             time(NULL) - age - 1);

    if (where != NULL) { /* replaces the ')' */
        snprintf(verdict->text + used - 1, sizeof(verdict->text) - used + 1, ": %s)", where);
    }
    free(where);
}

/* Whether the other ranks continue.  A spawn may say so for exit codes other than 0. */
static bool goes_on_after(const struct sx_run_job *job, const struct verdict *verdict)
{
    const uint8_t said = job->request == NULL ? SX_SAID_NOTHING : job->request->said.ends_nonzero;

    return verdict->event != PMIX_ERR_EXIT_NONZERO_TERM || said == SX_SAID_NOTHING
               ? goes_on(job)
               : said == SX_SAID_NO;
}

/* Report the failure to the ranks that continue. */
static void notify_failure(const struct sx_run_job *job, uint32_t rank,
                           const struct verdict *verdict)
{
    sx_run_host_rank_failed(job, rank, verdict->event, verdict->code);
    if (sx_run_host_is_client(job, rank) && verdict->event == PMIX_ERR_EXIT_NONZERO_TERM) {
        /* Both events are true of this rank.  Programs that recover, as Open MPI does, ask for this
         * one. */
        sx_run_host_rank_failed(job, rank, PMIX_ERR_PROC_TERM_WO_SYNC, verdict->code);
    }
}

static void restart_say(struct sx_run_job *job, uint32_t rank, const char *why, uint32_t max)
{
    char more[64] = "";
    uint32_t unnotified;

    if (sx_run_again_has_line(job, &unnotified)) {
        if (unnotified > 0) {
            snprintf(more, sizeof(more), "; %u restarts before it have no line", unnotified);
        }
        sx_run_say_of(job, "%s %s; it is started again (restart %u of %u)%s", who(job, rank).text,
                      why, job->ranks[rank].restarts + 1, max, more);
    }
}

/* Return: false when the rank has been restarted as often as it may be. */
static bool comes_again(struct sx_run_job *job, uint32_t rank, struct verdict *verdict)
{
    const uint32_t restarts = job->ranks[rank].restarts;
    const uint32_t restarts_max = sx_run_job_app(job, rank)->restarts_max;

    if (sx_run_again_note(job, rank)) {
        restart_say(job, rank, verdict->text, restarts_max);
        notify_failure(job, rank, verdict);
        return true;
    }
    if (restarts_max > 0) {
        const size_t used = strlen(verdict->text);

        snprintf(verdict->text + used, sizeof(verdict->text) - used,
                 ", and was started again %u %s, which is the limit (%s)", restarts,
                 restarts == 1 ? "time" : "times",
                 job->request == NULL ? "--max-restarts" : "PMIX_MAX_RESTARTS");
    }
    return false;
}

static void rank_failed(struct sx_run_job *job, uint32_t rank, const siginfo_t *info)
{
    struct verdict verdict = judge(info);

    core_add(job, rank, info, &verdict);
    if (comes_again(job, rank, &verdict)) {
        return;
    }
    const bool others = job->alive > 0 || sx_run_job_is_starting(job) || sx_run_again_any(job);

    if (job->failed_rank == UINT32_MAX) {
        job->failed_rank = rank;
        job->failed_code = verdict.code;
    }
    sx_run_end_fate(job, verdict.fate);
    if (!goes_on_after(job, &verdict)) {
        sx_run_host_rank_failed(job, rank, verdict.event, verdict.code);
        sx_run_end_notified(job, verdict.code, rank, "%s %s%s%s%s", who(job, rank).text,
                            verdict.text,
                            others && verdict.event == PMIX_ERR_PROC_TERM_WO_SYNC
                                ? "; the others cannot do without it"
                                : "",
                            others ? "; ending " : "", others ? job->name : "");
        return;
    }
    sx_run_code(job, verdict.code);
    sx_run_say_of(job, "%s %s%s%s%s", who(job, rank).text, verdict.text, others ? "; " : "",
                  others ? job->name : "", others ? " goes on without it" : "");
    sx_run_host_rank_gone(job, rank);
    notify_failure(job, rank, &verdict);
}

/* The state that the table of processes shows. */
static void end_note(struct sx_run_job *job, struct sx_run_rank *rank, const siginfo_t *info,
                     bool good)
{
    const struct verdict verdict = judge(info);

    rank->exit_code = info->si_code == CLD_EXITED ? info->si_status : verdict.code;
    rank->state = rank->aborts                                    ? PMIX_PROC_STATE_CALLED_ABORT
                  : good                                          ? PMIX_PROC_STATE_TERMINATED
                  : rank->unwanted && info->si_code != CLD_EXITED ? PMIX_PROC_STATE_KILLED_BY_CMD
                                                                  : verdict.state;
    sx_log(SX_LOG_DEBUG, "rank %u of %s has ended: pid %ld, %s, code %d",
           (uint32_t)(rank - job->ranks), job->nspace, (long)rank->pid,
           PMIx_Proc_state_string(rank->state), rank->exit_code);
    rank->unnotified = true;
    job->unnotified++;
}

/* ---- aborts ---------------------------------------------------------------------------------- */

static int code_of(const struct sx_run_abort *abort)
{
    const int code = abort->status & 255;

    return code == 0 ? SX_EXIT_FAILURE : code;
}

struct status_words {
    char text[SX_RUN_ABORT_TEXT_MAX + 128];
};

/* "42: no convergence"; "300 (the shell sees 44)"; @whom precedes the text.  Without a text Open
 * MPI's is "N/A". */
static struct status_words status_of(const struct sx_run_abort *abort, const char *whom)
{
    const bool none = abort->text[0] == '\0' || strcmp(abort->text, "N/A") == 0;
    struct status_words words;
    char shell[32] = "";

    if (code_of(abort) != abort->status) {
        snprintf(shell, sizeof(shell), " (the shell sees %d)", code_of(abort));
    }
    snprintf(words.text, sizeof(words.text), "%d%s%s%s%s", abort->status, shell, whom,
             none ? "" : ": ", none ? "" : abort->text);
    return words;
}

static void abort_all(struct sx_run_job *job, const struct sx_run_abort *abort)
{
    if (!job->caused && job->failed_rank == UINT32_MAX && abort->job == job) {
        job->failed_rank = abort->rank;
        job->failed_code = code_of(abort);
    }
    sx_run_end_fate(job, PMIX_ERR_JOB_ABORTED);
    sx_run_end_notified(job, code_of(abort), UINT32_MAX,
                        "%s called abort with status %s; ending %s",
                        who(abort->job, abort->rank).text, status_of(abort, "").text, job->name);
}

static bool is_gone(const struct sx_run_job *job, uint32_t rank)
{
    return rank < job->spawned ? !job->ranks[rank].alive && !sx_run_again_is_pending(job, rank)
                               : job->ranks[rank].unwanted || job->caused;
}

static bool all_gone(const struct sx_run_job *job, const struct sx_run_news *news)
{
    for (size_t i = 0; i < news->rank_count && !news->whole; i++) {
        if (!is_gone(job, news->ranks[i])) {
            return false;
        }
    }
    return !news->whole ||
           (job->alive == 0 && !sx_run_job_is_starting(job) && !sx_run_again_any(job));
}

/* Release the callers of aborts that are done. */
static void answer_aborts(struct sx_run_job *job)
{
    struct sx_run_news **at = &job->aborts;

    while (*at != NULL) {
        struct sx_run_news *news = *at;

        if (all_gone(job, news)) {
            *at = news->next;
            if (job->reaction_to == news) {
                job->reaction_to = NULL;
                sx_timer_remove(&job->reaction);
            }
            sx_run_news_answer(news);
        } else {
            at = &news->next;
        }
    }
}

/* Send @number to the ranks that aborts have named. */
static void signal_unwanted(struct sx_run_job *job, int number)
{
    for (uint32_t i = 0; i < job->spawned; i++) {
        if (job->ranks[i].alive && job->ranks[i].unwanted) {
            job->run->acts->kill(-job->ranks[i].pid, number);
        }
    }
}

static bool any_stays(const struct sx_run_job *job)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (!job->ranks[i].unwanted && !is_gone(job, i)) {
            return true;
        }
    }
    return false;
}

/* @rank will not be started.  To all who ask it has ended as signal @number would have ended it. */
static void rank_spared(struct sx_run_job *job, uint32_t rank, int number)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    its->state = PMIX_PROC_STATE_KILLED_BY_CMD;
    its->exit_code = SX_RUN_EXIT_SIGNAL + number;
    its->unnotified = true;
    job->unnotified++;
    sx_log(SX_LOG_DEBUG, "rank %u of %s will not be started: its end was asked for before", rank,
           job->nspace);
    sx_run_child_rank_ended(job, rank);
    sx_run_host_rank_gone(job, rank);
}

/* Mark the ranks that @news names as unwanted, for signal @number.  Return: false when no rank
 * would be left. */
static bool ranks_part(struct sx_run_job *job, const struct sx_run_news *news, int number)
{
    for (size_t i = 0; i < news->rank_count; i++) {
        struct sx_run_rank *rank = &job->ranks[news->ranks[i]];

        if (news->ranks[i] >= job->spawned && !rank->unwanted) {
            rank_spared(job, news->ranks[i], number);
        }
        rank->unwanted = true;
    }
    return any_stays(job);
}

static void unwanted_kill(struct sx_run_job *job)
{
    signal_unwanted(job, SIGKILL);
    sx_run_stuck_await(job, true);
}

static void unwanted_due(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    unwanted_kill(arg);
}

/* Grant a grace period, unless @number is SIGKILL. */
static void ranks_end(struct sx_run_job *job, int number)
{
    if (number == SIGKILL) {
        unwanted_kill(job);
        return;
    }
    if (!sx_run_is_awaited(&job->unwanted)) {
        sx_run_after(&job->run->loop, &job->unwanted,
                     sx_run_end_grace_ns(job->run, SX_RUN_GRACE_NS), unwanted_due, job);
    }
    signal_unwanted(job, number);
    signal_unwanted(job, SIGCONT);
}

static void abort_part(struct sx_run_job *job, const struct sx_run_news *news)
{
    const struct sx_run_abort *const abort = news->abort;

    if (!ranks_part(job, news, SIGTERM)) {
        abort_all(job, abort);
        return;
    }
    char whom[64];

    sx_run_code(job, code_of(abort));
    snprintf(whom, sizeof(whom), " for %s%s %u%s", job == abort->job ? "" : job->prefix,
             news->rank_count == 1 ? "rank" : "ranks", news->ranks[0],
             news->rank_count == 1 ? "" : " and others");
    sx_run_say_caused(job->run, "%s called abort with status %s; the others go on",
                      who(abort->job, abort->rank).text, status_of(abort, whom).text);
    ranks_end(job, SIGTERM);
}

static void reaction_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;

    (void)now_ns;
    if (!job->caused) {
        abort_all(job, job->reaction_to->abort);
    }
}

/* An abort that follows a loss is a peer's reaction to it.  The cause is the lost rank's end, which
 * the kernel reports once it has freed the rank's memory.  So that end gets the message and the
 * exit code. */
static void abort_taken(struct sx_run_job *job, struct sx_run_news *news)
{
    const struct sx_run_abort *const abort = news->abort;

    if (abort->job != NULL) {
        abort->job->ranks[abort->rank].aborts = true;
    }
    news->next = job->aborts;
    job->aborts = news;
    if (job->caused || job->state == SX_RUN_OVER || job->reaction_to != NULL) {
        return;
    }
    if (!news->whole) {
        abort_part(job, news);
    } else if (news->after_loss && !goes_on(job)) {
        job->reaction_to = news;
        sx_run_after(&job->run->loop, &job->reaction, SX_RUN_GRACE_NS, reaction_due, job);
    } else {
        abort_all(job, news->abort);
    }
}

/* ---- job control ----------------------------------------------------------------------------- */

static struct words asker(const struct sx_run_abort *control)
{
    return control->job == NULL ? (struct words){ .text = "a tool" }
                                : who(control->job, control->rank);
}

static void control_all(struct sx_run_job *job, const struct sx_run_abort *control)
{
    sx_run_end_fate(job, PMIX_ERR_JOB_KILLED_BY_CMD);
    if (control->apart) {
        sx_run_child_part(job);
    }
    sx_run_end(job, SX_RUN_EXIT_SIGNAL + control->status, "%s asked for the end of %s",
               asker(control).text, job->name);
    if (control->status == SIGKILL) {
        sx_run_end_hurry(job);
    }
}

static void control_part(struct sx_run_job *job, const struct sx_run_news *news)
{
    const struct sx_run_abort *const control = news->abort;

    if (!ranks_part(job, news, control->status)) {
        control_all(job, control);
        return;
    }
    sx_run_code(job, SX_RUN_EXIT_SIGNAL + control->status);
    sx_run_say_caused(job->run, "%s asked for the end of %s%s %u%s; the others go on",
                      asker(control).text, job == control->job ? "" : job->prefix,
                      news->rank_count == 1 ? "rank" : "ranks", news->ranks[0],
                      news->rank_count == 1 ? "" : " and others");
    ranks_end(job, control->status);
}

/* Send a signal to the process groups of the ranks that @news names. */
static void control_signal(const struct sx_run_job *job, const struct sx_run_news *news)
{
    const size_t count = news->whole ? job->spawned : news->rank_count;

    for (size_t i = 0; i < count; i++) {
        const size_t rank = news->whole ? i : news->ranks[i];

        if (rank < job->spawned && job->ranks[rank].alive) {
            job->run->acts->kill(-job->ranks[rank].pid, news->abort->status);
        }
    }
}

static void control_taken(struct sx_run_job *job, struct sx_run_news *news)
{
    if (!news->abort->ends) {
        control_signal(job, news);
    } else if (!job->caused && job->state != SX_RUN_OVER && news->whole) {
        control_all(job, news->abort);
    } else if (!job->caused && job->state != SX_RUN_OVER) {
        control_part(job, news);
    }
    sx_run_news_answer(news);
}

/* ---- lost clients ---------------------------------------------------------------------------- */

/* The client was not the process that we have started, or this process lives on. */
static void lost_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;

    (void)now_ns;
    for (uint32_t i = 0; i < job->spawned && !job->caused; i++) {
        const struct sx_run_rank *rank = &job->ranks[i];

        if (!rank->lost || !rank->alive) {
            continue;
        }
        if (sx_proc_is_exiting(rank->pid)) { /* its end will give the reason */
            sx_run_after(&job->run->loop, &job->lost, LOST_GRACE_NS, lost_due, job);
            continue;
        }
        sx_run_end_notified(
            job, SX_EXIT_FAILURE, UINT32_MAX,
            "%srank %u on %s has lost its PMIx client, which ended or closed the "
            "connection without PMIx_Finalize (MPI_Finalize), while pid %ld, which was "
            "started for it, lives on; ending %s",
            job->prefix, i, job->run->host, (long)rank->pid, job->name);
    }
}

static void rank_lost(struct sx_run_job *job, uint32_t number)
{
    struct sx_run_rank *rank = &job->ranks[number];

    if (rank->alive && !rank->unwanted && !goes_on(job) && !job->caused) {
        rank->lost = true;
        if (!sx_run_is_awaited(&job->lost)) {
            sx_run_after(&job->run->loop, &job->lost, LOST_GRACE_NS, lost_due, job);
        }
    }
}

/* The rank waits for a debugger, as the user wants it to. */
static void rank_ready(struct sx_run_job *job, uint32_t rank)
{
    const long pid = (long)sx_run_host_pid(job, rank);

    sx_run_say_of(job,
                  "%srank %u (pid %ld) waits for a debugger: attach with 'gdb -p %ld', and let all "
                  "ranks go on with 'shmix events inject PMIX_DEBUGGER_RELEASE %s'",
                  job->prefix, rank, pid, pid, job->nspace);
    if (sx_run_debugger_is_wanted(job, rank)) {
        sx_run_debugger_start(job, rank);
    }
}

/* ---- entry points ---------------------------------------------------------------------------- */

static void take_abort(struct sx_run_state *run, struct sx_run_news *news)
{
    struct sx_run_job *const job = news->job;

    (void)run;
    abort_taken(job, news);
    answer_aborts(job);
}

static void take_control(struct sx_run_state *run, struct sx_run_news *news)
{
    (void)run;
    control_taken(news->job, news);
}

static void take_lost(struct sx_run_state *run, struct sx_run_news *news)
{
    (void)run;
    rank_lost(news->job, news->rank);
    sx_run_end_loss_received(news->job, news->rank);
}

static void take_ready(struct sx_run_state *run, struct sx_run_news *news)
{
    (void)run;
    rank_ready(news->job, news->rank);
}

static void take_spawn(struct sx_run_state *run, struct sx_run_news *news)
{
    sx_run_lookup_spawn(run, news->request, news->job);
    news->request = NULL;
}

static void take_push(struct sx_run_state *run, struct sx_run_news *news)
{
    sx_run_push_deal(run->jobs, news->push);
    news->push = NULL;
}

static void take_handled(struct sx_run_state *run, struct sx_run_news *news)
{
    (void)run;
    sx_run_end_handled(news->job);
}

static void take_gone(struct sx_run_state *run, struct sx_run_news *news)
{
    sx_run_lookups_tool_gone(run, news->tool);
}

static void take_bereft(struct sx_run_state *run, struct sx_run_news *news)
{
    (void)run;
    sx_run_end_bereft(news->job, news->by);
}

void sx_run_failure_news(struct sx_run_state *run)
{
    static const struct sx_mailbox_row rows[SX_RUN_NEWS_KINDS] = {
        [SX_RUN_NEWS_ABORT] = { take_abort, .keeps = true },
        [SX_RUN_NEWS_CONTROL] = { take_control, .keeps = true },
        [SX_RUN_NEWS_LOST] = { .take = take_lost },
        [SX_RUN_NEWS_READY] = { .take = take_ready },
        [SX_RUN_NEWS_SPAWN] = { .take = take_spawn },
        [SX_RUN_NEWS_PUSH] = { .take = take_push },
        [SX_RUN_NEWS_HANDLED] = { .take = take_handled },
        [SX_RUN_NEWS_GONE] = { .take = take_gone },
        [SX_RUN_NEWS_BEREFT] = { .take = take_bereft },
    };

    sx_mailbox_deal(run, rows);
    sx_run_forward_check(); /* it wakes the mailbox too */
}

void sx_run_failure_abort(struct sx_run_job *job, uint32_t rank, int status, const char *text)
{
    struct sx_run_abort *const abort = sx_cli_calloc(1, sizeof(*abort));
    struct sx_run_news *const news = sx_cli_calloc(1, sizeof(*news));

    *abort = (struct sx_run_abort){ .job = job, .rank = rank, .status = status, .open = 1 };
    snprintf(abort->text, sizeof(abort->text), "%s", text);
    sx_run_job_hold(job); /* the number of holders: the abort, and the news */
    sx_run_job_hold(job);
    *news = (struct sx_run_news){ .kind = SX_RUN_NEWS_ABORT,
                                  .job = job,
                                  .abort = abort,
                                  .after_loss = sx_run_is_awaited(&job->lost),
                                  .whole = true };
    abort_taken(job, news);
    answer_aborts(job);
}

void sx_run_failure_lost(struct sx_run_job *job, uint32_t rank)
{
    rank_lost(job, rank);
}

void sx_run_failure_rank_ended(struct sx_run_job *job, uint32_t rank, const siginfo_t *info,
                               bool good)
{
    end_note(job, &job->ranks[rank], info, good);
    sx_run_child_rank_ended(job, rank);
    if (!job->caused && !good && !job->ranks[rank].unwanted) {
        rank_failed(job, rank, info);
    } else if (!job->caused) {
        sx_run_host_rank_gone(job, rank);
    }
    if (!job->caused) {
        sx_run_pmi1_rank_gone(job, rank);
    }
    answer_aborts(job);
}
